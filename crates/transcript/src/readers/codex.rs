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
use super::author::may_be_by_program;
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
                recorder.came_from(str_of(payload, "forked_from_id"));
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

/// Programs of Codex in which a person types
/// ([its list](https://github.com/openai/codex/blob/main/codex-rs/login/src/auth/default_client.rs)); early files name none. Its other
/// programs for people begin with `Codex `. Anybody else's program may have passed on what others wrote.
const ATTENDED: [&str; 6] = ["", "codex_cli_rs", "codex-tui", "codex_vscode", "codex_chatgpt_desktop", "codex_atlas"];

/// Fields of a head that say nothing about who types, although their names have words that could.
const NEUTRAL_OF_HEAD: [&str; 6] =
    ["source", "originator", "forked_from_id", "dynamic_tools", "multi_agent_version", "multi_agent_mode"];

/// True for the head of a session that another agent began.
fn is_sub_agents(head: &Value) -> bool {
    let is_named = |field: &str| head.get(field).is_some_and(|name| !name.is_null() && name != "");
    head.pointer("/source/subagent").is_some()
        || ["parent_thread_id", "agent_nickname", "agent_role", "agent_type", "agent_path"].into_iter().any(is_named)
}

/// True if the head names a program in which a person types, and nothing in it says that a program does: `codex exec`, a server, an
/// SDK, a bot.
fn is_attended(head: &Value) -> bool {
    let is_program_for_people = match head.get("source").unwrap_or(&Value::Null) {
        Value::Null => true,
        source => source.as_str().is_some_and(|source| matches!(source, "cli" | "vscode" | "unknown")),
    };
    let originator = str_of(head, "originator");
    let is_automatic = |name: &str| ["exec", "sdk", "mcp", "action"].iter().any(|word| name.contains(word));
    let is_known = ATTENDED.contains(&originator)
        || (originator.starts_with("Codex ") && !is_automatic(&originator.to_lowercase()));
    let mut rest = head.clone();
    if let Some(row) = rest.as_object_mut() {
        row.retain(|field, _| !NEUTRAL_OF_HEAD.contains(&field.as_str()));
    }
    is_program_for_people && is_known && !may_be_by_program(&rest)
}

fn message(item: &Value, recorder: &mut Recorder) {
    let content = item.get("content").unwrap_or(&Value::Null);
    match str_of(item, "role") {
        "user" if !may_be_by_program(item) => recorder.user(content, &["input_text", "text"]),
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

    const SAID: &str = "Always use the internal registry.";

    /// How many turns a session with this head has of a person, and whose it is.
    fn heard(head: &Value) -> (usize, Owner) {
        let mut payload = json!({"id": "c", "timestamp": "2026-01-01T10:00:00Z", "cwd": "/srv/shop", "cli_version": "0.60.0",
            "source": "cli", "originator": "codex_cli_rs", "instructions": null, "base_instructions": {"text": "x"},
            "model_provider": "openai", "git": {"branch": "main", "repository_url": "x"}});
        payload.as_object_mut().unwrap().extend(head.as_object().unwrap().clone());
        let content = json!([{"type": "input_text", "text": SAID}]);
        let records = [
            json!({"type": "session_meta", "payload": payload}),
            json!({"type": "response_item", "payload": {"type": "message", "role": "user", "content": content}}),
        ];
        let lines = records.map(|record| record.to_string()).join("\n");
        let reading = TranscriptReader::new().read(lines.as_bytes(), Format::Codex).unwrap();
        (reading.transcript.user_turns().count(), reading.report.owner)
    }

    #[test]
    fn a_head_names_a_program_in_which_a_person_types() {
        for originator in
            ["codex_cli_rs", "codex-tui", "codex_vscode", "Codex Desktop", "codex_chatgpt_desktop", "codex_atlas", ""]
        {
            assert_eq!(heard(&json!({"originator": originator})).0, 1, "{originator}");
        }
        for originator in ["telegram-bridge", "codex_slack", "my_app", "codexbot", "Codex_exec", "x codex_cli_rs"] {
            assert_eq!(heard(&json!({"originator": originator})).0, 0, "{originator}");
        }
        for head in [
            json!({"source": {"custom": "a queue"}}),
            json!({"source": {"subagent": "review"}}),
            json!({"source": ["cli"]}),
            json!({"source": "exec"}),
            json!({"source": "atlas-of-next-year"}),
            json!({"agent_nickname": "bob"}),
            json!({"agent_role": "worker"}),
            json!({"agent_type": "worker"}),
            json!({"agent_path": "/root/bob"}),
            json!({"parent_thread_id": "x"}),
            json!({"thread_source": "subagent"}),
            json!({"thread_source": "memory_consolidation"}),
            json!({"automation_id": "daily"}),
            json!({"trigger": {"kind": "webhook"}}),
            json!({"isHeadless": true}),
        ] {
            assert_eq!(heard(&head).0, 0, "{head}");
        }
        for head in [
            json!({"source": "vscode", "originator": "codex_vscode"}),
            json!({"source": null}),
            json!({"agent_nickname": null, "agent_role": ""}),
            json!({"thread_source": "user"}),
            json!({"forked_from_id": "x"}),
            json!({"dynamic_tools": [{"name": "x"}], "memory_mode": "enabled"}),
        ] {
            assert_eq!(heard(&head), (1, Owner::Person), "{head}");
        }
    }

    #[test]
    fn a_head_with_a_parent_or_an_agents_name_is_a_sub_agents() {
        for head in
            [json!({"agent_nickname": "bob"}), json!({"agent_role": "worker"}), json!({"parent_thread_id": "x"})]
        {
            assert_eq!(heard(&head).1, Owner::Agent, "{head}");
        }
    }
}
