//! Codex's rollout files: one `{"timestamp", "type", "payload"}` a line, after
//! [the protocol's types](https://github.com/openai/codex/blob/main/codex-rs/protocol/src/models.rs) (`ResponseItem`) and
//! [`RolloutItem`](https://github.com/openai/codex/blob/main/codex-rs/protocol/src/protocol.rs). Files from before
//! the envelope have the items bare, below a line with `id` and `timestamp`; they are read too.
//!
//! | record | becomes |
//! |---|---|
//! | `session_meta`, `turn_context` | session, project, start |
//! | `response_item` `message` | a user, assistant or (developer, system) system turn |
//! | `function_call`, `custom_tool_call`, `local_shell_call`, `web_search_call` | a call |
//! | `function_call_output`, `custom_tool_call_output` | its result, by `call_id` |
//! | `event_msg` `exec_command_end` | the exit code of its call |
//! | `compacted` | a system turn with the summary |
//! | other `event_msg`, `reasoning`, … | skipped and counted: events mirror the items |
//!
//! Status: `success`, the `metadata.exit_code` of a JSON output, an exit code in an event or above the output
//! (`Exit code: N`, `Process exited with code N`); else the output.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::Owner;
use super::anthropic::ended;
use super::recorder::{Recorder, arguments, str_of, text_of};
use crate::Status;

/// Exit codes from events for calls whose results follow later.
#[derive(Default)]
pub(super) struct Codex {
    told: HashMap<String, Status>,
}

impl Codex {
    pub(super) fn read(&mut self, record: &Value, recorder: &mut Recorder) {
        let kind = str_of(record, "type");
        let Some(payload) = record.get("payload") else {
            self.bare(kind, record, recorder);
            return;
        };
        match kind {
            "session_meta" => {
                if is_sub_agents(payload) {
                    recorder.report.owner = Owner::Agent;
                }
                recorder.has_person &= recorder.report.owner == Owner::Person && is_attended(payload);
                recorder.header(payload.get("id"), payload.get("cwd"), record.get("timestamp"));
            }
            "turn_context" => recorder.header(None, payload.get("cwd"), record.get("timestamp")),
            "response_item" => self.item(payload, recorder),
            "event_msg" => self.event(payload, recorder),
            "compacted" => recorder.system(str_of(payload, "message")),
            other => recorder.skip(other),
        }
    }

    fn bare(&mut self, kind: &str, record: &Value, recorder: &mut Recorder) {
        if kind.is_empty() && record.get("id").is_some() {
            recorder.header(record.get("id"), record.get("cwd"), record.get("timestamp"));
        } else {
            self.item(record, recorder);
        }
    }

    fn event(&mut self, event: &Value, recorder: &mut Recorder) {
        let kind = str_of(event, "type");
        if let ("exec_command_end", Some(code)) = (kind, event.get("exit_code").and_then(Value::as_i64)) {
            self.told.insert(str_of(event, "call_id").to_owned(), ended(code != 0));
        }
        recorder.skip(&format!("event {kind}"));
    }

    fn item(&mut self, item: &Value, recorder: &mut Recorder) {
        let id = match str_of(item, "call_id") {
            "" => str_of(item, "id"),
            id => id,
        };
        match str_of(item, "type") {
            "message" => message(item, recorder),
            "function_call" => recorder.call(id, str_of(item, "name"), arguments(item.get("arguments"))),
            "custom_tool_call" => recorder.call(id, str_of(item, "name"), json!({"input": item.get("input")})),
            "local_shell_call" => {
                recorder.call(id, "local_shell", item.get("action").cloned().unwrap_or_default());
            }
            "web_search_call" => recorder.call(id, "web_search", item.get("action").cloned().unwrap_or_default()),
            "function_call_output" | "custom_tool_call_output" => {
                let (text, told) = output(item.get("output").unwrap_or(&Value::Null), recorder);
                let told = self.told.remove(id).or(told);
                recorder.result(id, &text, told);
            }
            "" => recorder.skip("no type"),
            other => recorder.skip(other),
        }
    }
}

/// True for the head of a session that another agent began.
fn is_sub_agents(head: &Value) -> bool {
    let is_named = |field: &str| head.get(field).is_some_and(|name| !name.is_null() && name != "");
    head.pointer("/source/subagent").is_some() || ["parent_thread_id", "agent_role"].into_iter().any(is_named)
}

/// True unless the head names a program that runs without a person: `codex exec`, a server.
fn is_attended(head: &Value) -> bool {
    !matches!(str_of(head, "source"), "exec" | "mcp")
}

fn message(item: &Value, recorder: &mut Recorder) {
    let content = item.get("content").unwrap_or(&Value::Null);
    match str_of(item, "role") {
        "user" => recorder.user(content, &["input_text", "text"]),
        "assistant" => recorder.say(content, Recorder::assistant),
        _ => recorder.say(content, Recorder::system),
    }
}

/// The text of an output and its status. The output is a string (which may be JSON with `output` and `metadata`), `{"content",
/// "success"}`, or a list of parts.
fn output(value: &Value, recorder: &mut Recorder) -> (String, Option<Status>) {
    let success = value.get("success").and_then(Value::as_bool).map(|success| ended(!success));
    match value {
        Value::String(text) => structured(text).unwrap_or_else(|| (text.clone(), None)),
        Value::Object(_) => {
            let inner = text_of(value.get("content").unwrap_or(&Value::Null), recorder);
            let (text, told) = structured(&inner).unwrap_or((inner, None));
            (text, told.or(success))
        }
        parts => (text_of(parts, recorder), None),
    }
}

fn structured(text: &str) -> Option<(String, Option<Status>)> {
    let value = text.starts_with('{').then(|| super::record::parse(text).ok()).flatten()?.0;
    let output = value.get("output")?.as_str()?.to_owned();
    let code = value.pointer("/metadata/exit_code").and_then(Value::as_i64);
    Some((output, code.map(|code| ended(code != 0))))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{Format, Owner, TranscriptReader};

    #[track_caller]
    fn check(head: &Value, n_typed: usize, owner: Owner) {
        let mut payload = json!({"id": "c", "cwd": "/srv/shop", "source": "cli", "originator": "codex_cli_rs"});
        payload.as_object_mut().unwrap().extend(head.as_object().unwrap().clone());
        let content = json!([{"type": "input_text", "text": "Always use the internal registry."}]);
        let records = [
            json!({"type": "session_meta", "payload": payload}),
            json!({"type": "response_item", "payload": {"type": "message", "role": "user", "content": content}}),
        ];
        let lines = records.map(|record| record.to_string()).join("\n");
        let reading = TranscriptReader::new().read(lines.as_bytes(), Format::Codex).unwrap();
        assert_eq!((reading.transcript.user_turns().count(), reading.report.owner), (n_typed, owner), "{head}");
    }

    #[test]
    fn the_head_says_whether_a_person_types() {
        for head in [json!({}), json!({"source": "vscode"}), json!({"source": null, "forked_from_id": "x"})] {
            check(&head, 1, Owner::Person);
        }
        for head in [json!({"source": "exec"}), json!({"source": "mcp"})] {
            check(&head, 0, Owner::Person);
        }
        for head in [
            json!({"source": {"subagent": "review"}}),
            json!({"agent_role": "worker"}),
            json!({"parent_thread_id": "x"}),
        ] {
            check(&head, 0, Owner::Agent);
        }
    }
}
