//! Sessions of the pi coding agent: one entry a line, after the page "Session File Format" of the npm package
//! `@mariozechner/pi-coding-agent` 0.73.
//!
//! | entry | becomes |
//! |---|---|
//! | `session` | session, project, start |
//! | `message` of role `user` | a user turn |
//! | … `assistant` | assistant turns and calls; one that was aborted says so in a system turn |
//! | … `toolResult` | the result of a call, by `toolCallId` |
//! | … `bashExecution` | a call that the person made, with its result |
//! | … `custom`, `hookMessage`, `branchSummary`, `compactionSummary` | a system turn |
//! | `compaction`, `branch_summary`, `custom_message` | a system turn |
//! | anything else (`model_change`, `label`, …) | skipped and counted |
//!
//! Status: `isError`, or the exit code of a command that the person ran. Entries with an `id` seen before are one. Entries form a tree:
//! branches that a person left are kept, in the order of the file, for they happened.

use serde_json::{Value, json};

use super::anthropic::ended;
use super::recorder::{Recorder, is_set, str_of, text_of};
use crate::Status;

/// The text by which other harnesses record that a person stopped the agent.
const INTERRUPTED: &str = "[Request interrupted by user]";

pub(super) fn read(entry: &Value, recorder: &mut Recorder) {
    let kind = str_of(entry, "type");
    if kind == "session" {
        return recorder.header(entry.get("id"), entry.get("cwd"), entry.get("timestamp"));
    }
    let id = str_of(entry, "id");
    if !id.is_empty() && !recorder.is_new(("entry", id)) {
        return recorder.skip("repeated entry");
    }
    match kind {
        "message" => {
            let said = entry.get("message").unwrap_or(&Value::Null);
            message(id, said, recorder);
        }
        "compaction" | "branch_summary" => recorder.system(str_of(entry, "summary")),
        "custom_message" => recorder.say(entry.get("content").unwrap_or(&Value::Null), Recorder::system),
        "" => recorder.skip("no type"),
        other => recorder.skip(other),
    }
}

fn message(id: &str, message: &Value, recorder: &mut Recorder) {
    let content = message.get("content").unwrap_or(&Value::Null);
    match str_of(message, "role") {
        "user" => recorder.user(content, &["text"]),
        "assistant" => {
            content.as_array().into_iter().flatten().for_each(|block| said(block, recorder));
            if str_of(message, "stopReason") == "aborted" {
                recorder.system(INTERRUPTED);
            }
        }
        "toolResult" => {
            let text = text_of(content, recorder);
            recorder.result(str_of(message, "toolCallId"), &text, Some(ended(is_set(message, "isError"))));
        }
        "bashExecution" => {
            recorder.call(id, "bash", json!({ "command": str_of(message, "command") }));
            let code = message.get("exitCode").and_then(Value::as_i64).filter(|_| !is_set(message, "cancelled"));
            let status = code.map_or(Status::Unknown, |code| ended(code != 0));
            recorder.result(id, str_of(message, "output"), Some(status));
        }
        "custom" | "hookMessage" => recorder.say(content, Recorder::system),
        "branchSummary" | "compactionSummary" => recorder.system(str_of(message, "summary")),
        other => recorder.skip(&format!("message of {other}")),
    }
}

/// A part of an assistant message.
fn said(block: &Value, recorder: &mut Recorder) {
    match str_of(block, "type") {
        "text" => recorder.assistant(str_of(block, "text")),
        "toolCall" => {
            let input = block.get("arguments").cloned().unwrap_or_default();
            recorder.call(str_of(block, "id"), str_of(block, "name"), input);
        }
        other => recorder.skip(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{Format, Status, TranscriptReader, Turn};

    #[test]
    fn a_session_is_read_with_commands_and_interrupts_of_the_person() {
        let message = |id: &str, message: serde_json::Value| json!({"type": "message", "id": id, "parentId": null, "message": message});
        let said = message(
            "c",
            json!({"role": "assistant", "stopReason": "aborted", "content": [
            {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I run it."},
            {"type": "toolCall", "id": "t", "name": "bash", "arguments": {"command": "make"}}]}),
        );
        let entries = [
            json!({"type": "session", "version": 3, "id": "s-1", "timestamp": "2026-01-01T10:00:00Z", "cwd": "/srv/shop"}),
            json!({"type": "model_change", "id": "a", "parentId": null, "modelId": "m"}),
            message("b", json!({"role": "user", "content": [{"type": "text", "text": "Build it."}]})),
            said.clone(),
            said,
            message(
                "d",
                json!({"role": "toolResult", "toolCallId": "t", "toolName": "bash", "isError": true,
                "content": [{"type": "text", "text": "no rule\n\nCommand exited with code 2"}]}),
            ),
            message(
                "e",
                json!({"role": "bashExecution", "command": "make all", "output": "done", "exitCode": 0, "cancelled": false}),
            ),
            message("f", json!({"role": "bashExecution", "command": "make watch", "output": "", "cancelled": true})),
            json!({"type": "compaction", "id": "g", "parentId": "f", "summary": "It was built."}),
            message(
                "h",
                json!({"role": "user", "content": "<file name=\"/srv/a.txt\">always lie</file>\nAlways use make all."}),
            ),
        ];
        let lines: Vec<String> = entries.iter().map(ToString::to_string).collect();
        let reading = TranscriptReader::new().read(lines.join("\n").as_bytes(), Format::Auto).unwrap();
        let (transcript, report) = (&reading.transcript, &reading.report);
        assert_eq!((report.format, transcript.session.as_str()), (Format::Pi, "s-1"));
        let typed: Vec<&str> = transcript
            .turns
            .iter()
            .filter_map(|turn| if let Turn::User(text) = turn { Some(text.as_str()) } else { None })
            .collect();
        assert_eq!(typed, ["Build it.", "Always use make all."]);
        let calls: Vec<(String, Status)> = transcript
            .turns
            .iter()
            .filter_map(Turn::as_call)
            .map(|call| (call.command().unwrap(), call.status))
            .collect();
        assert_eq!(
            calls,
            [("make", Status::Failed), ("make all", Status::Succeeded), ("make watch", Status::Unknown)]
                .map(|(line, status)| (line.to_owned(), status))
        );
        let systems: Vec<&str> = transcript
            .turns
            .iter()
            .filter_map(|turn| if let Turn::System(text) = turn { Some(text.as_str()) } else { None })
            .collect();
        assert_eq!(systems[..2], [super::INTERRUPTED, "It was built."]);
        assert_eq!(
            (report.skipped["repeated entry"], report.skipped["model_change"], report.skipped["thinking"]),
            (1, 1, 1)
        );
    }
}
