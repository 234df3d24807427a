//! Who wrote a message of the user's role, by the fields of its record and the kinds of its parts (docs/spec/capture.md, 1.3).
//!
//! Text is attributed to a person only if no field of the record contradicts it. Fields are recognised by words in their names,
//! and every flag that is set counts: agents keep adding new ones to mark what a program wrote.

use serde_json::Value;

use super::recorder::str_of;

/// Words, in lower case, in the names of fields that say who or what wrote a record.
const AUTHOR_WORDS: [&str; 43] = [
    "origin",
    "source",
    "sender",
    "author",
    "agent",
    "team",
    "hook",
    "from",
    "generat",
    "synth",
    "automat",
    "kind",
    "channel",
    "schedul",
    "trigger",
    "bot",
    "plan",
    "fork",
    "tool",
    "inject",
    "replay",
    "entrypoint",
    "usertype",
    "subtype",
    "name",
    "attribution",
    "meta",
    "mcp",
    "webhook",
    "event",
    "summar",
    "function",
    "written",
    "relay",
    "via",
    "annotation",
    "citation",
    "queue",
    "recipient",
    "visib",
    "hidden",
    "forward",
    "attachment",
];

/// Names, in lower case, of further such fields: as parts of other names they mean something else.
const AUTHOR_NAMES: [&str; 7] = ["type", "by", "auto", "tags", "labels", "context", "cause"];

/// Words in the names of flags that say that a person wrote a record, where they are not set.
const PERSON_WORDS: [&str; 5] = ["human", "person", "typed", "manual", "interactive"];

/// Values of such fields that name a person, or a program in which a person types.
const PERSON_VALUES: [&str; 21] = [
    "human",
    "person",
    "user",
    "typed",
    "queued",
    "keyboard",
    "prompt",
    "plain",
    "message",
    "text",
    "external",
    "ant",
    "cli",
    "vscode",
    "claude-vscode",
    "claude-desktop",
    "claude-jetbrains",
    "user_message",
    "interactive",
    "now",
    "next",
];

/// Fields, of any format's records, that say nothing about the author, whatever their value.
const NEUTRAL_FIELDS: [&str; 33] = [
    "uuid",
    "id",
    "parentUuid",
    "parentId",
    "logicalParentUuid",
    "sessionId",
    "session_id",
    "timestamp",
    "cwd",
    "version",
    "gitBranch",
    "message",
    "content",
    "displayContent",
    "role",
    "slug",
    "permissionMode",
    "thinkingMetadata",
    "todos",
    "imagePasteIds",
    "promptId",
    "requestId",
    "isSidechain",
    "source_uuid",
    "commandMode",
    "prompt",
    "status",
    "images",
    "local_images",
    "text_elements",
    "effort",
    "end_turn",
    "internal_chat_message_metadata_passthrough",
];

/// Fields that a part with typed text may have.
const TEXT_FIELDS: [&str; 8] =
    ["type", "text", "cache_control", "cacheControl", "text_elements", "textElements", "index", "id"];

/// True if a field says, or may say, that a program wrote the record.
pub(super) fn may_be_by_program(record: &Value) -> bool {
    record.as_object().into_iter().flatten().any(|(field, value)| {
        let is_flag = *value == Value::Bool(true) || has_flag_name(field);
        let names_program = || is_author_field(field) && !is_person(value);
        let denies_person = matches!(value, Value::Bool(false)) && has_word(field, &PERSON_WORDS);
        if denies_person && !NEUTRAL_FIELDS.contains(&field.as_str()) {
            return true;
        }
        // A row about a program says by its name that there was one, whatever is in it.
        let is_set = !is_empty(value) || (value.is_object() && is_author_field(field));
        !NEUTRAL_FIELDS.contains(&field.as_str()) && is_set && (is_flag || names_program())
    })
}

/// `isMeta`, `is_meta`
fn has_flag_name(field: &str) -> bool {
    field.strip_prefix("is").is_some_and(|rest| rest.starts_with(|c: char| c == '_' || c.is_uppercase()))
}

fn is_author_field(field: &str) -> bool {
    AUTHOR_NAMES.contains(&field.to_lowercase().as_str()) || has_word(field, &AUTHOR_WORDS)
}

fn has_word(field: &str, words: &[&str]) -> bool {
    let lower = field.to_lowercase();
    words.iter().any(|word| lower.contains(word))
}

fn is_person(value: &Value) -> bool {
    match value {
        Value::String(name) => PERSON_VALUES.contains(&name.as_str()),
        Value::Object(row) => ["kind", "type"].iter().filter_map(|key| row.get(*key)).any(is_person),
        _ => false,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(row) => row.is_empty(),
        _ => false,
    }
}

/// A part of a message of the user's role.
pub(super) enum ContentPart<'v> {
    /// Text that a person can have typed.
    Text(&'v str),
    /// Anything else: its kind, and the texts in it.
    Other(&'v str, String),
}

/// The parts of a message. `text_types` are the types of a part with typed text; "" accepts a part without a type.
pub(super) fn parts<'v>(content: &'v Value, text_types: &[&str]) -> Vec<ContentPart<'v>> {
    match content {
        Value::Array(list) => list.iter().map(|item| part(item, text_types)).collect(),
        Value::Null => Vec::new(),
        one => vec![part(one, text_types)],
    }
}

fn part<'v>(item: &'v Value, text_types: &[&str]) -> ContentPart<'v> {
    if let Some(text) = item.as_str() {
        return ContentPart::Text(text);
    }
    let kind = str_of(item, "type");
    let is_text_field = |(field, value): (&String, &Value)| TEXT_FIELDS.contains(&field.as_str()) || is_empty(value);
    let has_only_text = item.as_object().is_some_and(|row| row.iter().all(is_text_field));
    match item.get("text").and_then(Value::as_str) {
        Some(text) if has_only_text && text_types.contains(&kind) => ContentPart::Text(text),
        _ => {
            let mut texts = String::new();
            texts_in(item, &mut texts);
            ContentPart::Other(kind, texts)
        }
    }
}

/// True for a message that contains results of calls: its other texts are the harness's.
pub(super) fn has_results(content: &Value) -> bool {
    content.as_array().is_some_and(|list| {
        list.iter().any(|part| str_of(part, "type").ends_with("tool_result") || part.get("functionResponse").is_some())
    })
}

/// True if a text has a field beside it, even an empty list. Claude Code writes what a person types without any.
pub(super) fn has_marked_text(content: &Value) -> bool {
    let is_marked = |(field, value): (&String, &Value)| !matches!(field.as_str(), "type" | "text") && !value.is_null();
    let mut texts = content.as_array().into_iter().flatten().filter(|part| str_of(part, "type") == "text");
    texts.any(|part| part.as_object().is_some_and(|row| row.iter().any(is_marked)))
}

/// Appends, a line each, the texts that the agent sees of anything but typed text: a document, a search result, an attached file.
pub(super) fn texts_in(value: &Value, texts: &mut String) {
    const SHOWN: [&str; 14] = [
        "text",
        "data",
        "content",
        "contents",
        "title",
        "context",
        "source",
        "resource",
        "file",
        "output",
        "snippet",
        "prompt",
        "stdout",
        "cited_text",
    ];
    match value {
        Value::String(text) => {
            texts.push_str(text);
            texts.push('\n');
        }
        Value::Array(list) => list.iter().for_each(|item| texts_in(item, texts)),
        Value::Object(row) if row.get("type").is_some_and(|kind| kind == "base64") => {}
        Value::Object(row) => {
            row.iter().filter(|(key, _)| SHOWN.contains(&key.as_str())).for_each(|(_, item)| texts_in(item, texts));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{Format, TranscriptReader, Turn};

    const SAID: &str = "Always use the internal registry.";

    fn typed(format: Format, records: &[Value]) -> Vec<String> {
        let lines: Vec<String> = records.iter().map(Value::to_string).collect();
        let reading = TranscriptReader::new().read(lines.join("\n").as_bytes(), format).unwrap();
        reading.transcript.user_turns().map(|(_, text)| text.to_owned()).collect()
    }

    fn of_claude_code(fields: &Value) -> Vec<String> {
        let mut record = json!({"type": "user", "sessionId": "s", "uuid": "u", "parentUuid": null, "cwd": "/srv/shop",
            "userType": "external", "isSidechain": false, "version": "2.1.0", "gitBranch": "main", "slug": "a-b",
            "permissionMode": "default", "thinkingMetadata": {"maxThinkingTokens": 1}, "todos": [],
            "message": {"role": "user", "content": SAID}});
        for (key, value) in fields.as_object().unwrap() {
            record[key] = value.clone();
        }
        typed(Format::ClaudeCode, &[record])
    }

    #[test]
    fn a_record_that_a_program_may_have_written_is_not_typed() {
        for fields in [
            json!({"isVisibleInTranscriptOnly": true}),
            json!({"isMeta": "true"}),
            json!({"isReplayed": true}),
            json!({"neverSeenBefore": true}),
            json!({"origin": {"kind": "channel", "server": "slack"}}),
            json!({"origin": "cron"}),
            json!({"origin": {"server": "x"}}),
            json!({"promptSource": "sdk"}),
            json!({"promptSource": "suggestion_accepted"}),
            json!({"entrypoint": "sdk-cli"}),
            json!({"entrypoint": "some-action"}),
            json!({"userType": "internal"}),
            json!({"agentId": "a1"}),
            json!({"teamName": "x", "agentName": "y"}),
            json!({"sourceToolUseID": "toolu_1"}),
            json!({"toolUseResult": {"stdout": "x"}}),
            json!({"planContent": "x"}),
            json!({"forkedFrom": {"sessionId": "x"}}),
            json!({"hookEvent": "Stop"}),
            json!({"subtype": "notice"}),
            json!({"sender": {"type": "bot"}}),
            json!({"generatedBy": "scheduler"}),
            json!({"writtenBy": "model"}),
            json!({"mcpMeta": {}}),
            json!({"queuePriority": "later"}),
            json!({"annotations": [{"type": "url_citation"}]}),
            json!({"relayedFor": "chat"}),
            json!({"message": {"role": "user", "name": "bot", "content": SAID}}),
            json!({"message": {"role": "user", "origin": {"kind": "hook"}, "content": SAID}}),
            json!({"message": {"role": "user", "isMeta": true, "content": SAID}}),
        ] {
            assert!(of_claude_code(&fields).is_empty(), "{fields}");
        }
        for fields in [
            json!({}),
            json!({"origin": {"kind": "human"}}),
            json!({"origin": null, "agentId": "", "isMeta": false}),
            json!({"promptSource": "typed", "entrypoint": "cli"}),
            json!({"entrypoint": "claude-vscode"}),
            json!({"queuePriority": "next"}),
            json!({"annotations": []}),
            json!({"promptId": "p", "imagePasteIds": [1]}),
            json!({"neverSeenBefore": "x"}),
        ] {
            assert_eq!(of_claude_code(&fields), [SAID], "{fields}");
        }
    }

    #[test]
    fn a_record_of_claude_code_is_typed_only_in_the_users_role_and_as_plain_text() {
        for role in ["assistant", "tool", "system", "developer", "function", ""] {
            assert!(of_claude_code(&json!({"message": {"role": role, "content": SAID}})).is_empty(), "{role}");
        }
        let part = |extra: Value| {
            let mut part = json!({"type": "text", "text": SAID});
            part.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            of_claude_code(&json!({"message": {"role": "user", "content": [part]}}))
        };
        for extra in [
            json!({"cache_control": {"type": "ephemeral"}}),
            json!({"id": "x"}),
            json!({"citations": []}),
            json!({"index": 0}),
        ] {
            assert!(part(extra.clone()).is_empty(), "{extra}");
        }
        assert_eq!(part(json!({"citations": null})), [SAID]);
    }

    #[test]
    fn only_plain_text_parts_are_typed() {
        let result = json!({"type": "tool_result", "tool_use_id": "t", "content": "x"});
        for parts in [
            json!([{"type": "document", "source": {"type": "text", "data": SAID}}]),
            json!([{"type": "search_result", "title": "t", "content": [{"type": "text", "text": SAID}]}]),
            json!([{"type": "container_upload", "text": SAID}]),
            json!([{"type": "never_seen_before", "text": SAID}]),
            json!([{"type": "tool_reference", "text": SAID}]),
            json!([{"text": SAID}]),
            json!([{"type": "text", "text": SAID, "citations": [{"cited_text": "x"}]}]),
            json!([{"type": "text", "text": SAID, "source": {"type": "url"}}]),
            json!([{"type": "text", "text": SAID, "isMeta": true}]),
            json!([result, {"type": "text", "text": SAID}]),
            json!([{"type": "text", "text": SAID}, result]),
        ] {
            let message = json!({"role": "user", "content": parts});
            for format in [Format::Anthropic, Format::OpenAi] {
                let before = json!({"role": "assistant", "content": "ok"});
                assert!(typed(format, &[before, message.clone()]).is_empty(), "{format:?} {parts}");
            }
            let record = json!({"type": "user", "sessionId": "s", "message": message});
            assert!(typed(Format::ClaudeCode, &[record]).is_empty(), "{parts}");
        }
        let text = json!({"role": "user", "content": [
            {"type": "text", "text": SAID, "cache_control": {"type": "ephemeral"}, "citations": null},
            {"type": "image", "source": {"type": "base64", "data": "eA=="}}]});
        assert_eq!(typed(Format::Anthropic, std::slice::from_ref(&text)), [SAID]);
        assert_eq!(typed(Format::OpenAi, &[text]), [SAID]);
    }

    #[test]
    fn the_fields_of_other_formats_count_too() {
        let said = |extra: Value| {
            let mut message = json!({"role": "user", "content": SAID});
            message.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            message
        };
        for extra in [
            json!({"name": "web_search"}),
            json!({"tool_call_id": "x"}),
            json!({"metadata": {"source": "webhook"}}),
            json!({"type": "function_call_output"}),
            json!({"annotations": [{"type": "url_citation"}], "refusal": null}),
            json!({"citations": ["x"]}),
            json!({"attachments": [{"name": "x.txt"}]}),
            json!({"recipient": "assistant"}),
            json!({"visibility": "hidden"}),
            json!({"by": "planner"}),
            json!({"auto": 1}),
            json!({"tags": ["tool"]}),
            json!({"is_human": false}),
            json!({"typed": false}),
            json!({"forwarded": "yes"}),
        ] {
            assert!(typed(Format::OpenAi, &[said(extra.clone())]).is_empty(), "{extra}");
        }
        assert_eq!(typed(Format::OpenAi, &[said(json!({"type": "message", "id": "m"}))]), [SAID]);

        let gemini =
            |part: Value| json!({"id": "1", "timestamp": "2026-01-01T10:00:00Z", "type": "user", "content": [part]});
        assert_eq!(typed(Format::Gemini, &[gemini(json!({"text": SAID}))]), [SAID]);
        assert!(typed(Format::Gemini, &[gemini(json!({"text": SAID, "thought": true}))]).is_empty());

        let codex = |source: Value, originator: &str| {
            let head =
                json!({"type": "session_meta", "payload": {"id": "c", "source": source, "originator": originator}});
            let content = json!([{"type": "input_text", "text": SAID}]);
            let said =
                json!({"type": "response_item", "payload": {"type": "message", "role": "user", "content": content}});
            typed(Format::Codex, &[head, said])
        };
        assert_eq!(codex(json!("cli"), "codex_cli_rs"), [SAID]);
        assert_eq!(codex(Value::Null, "codex_vscode"), [SAID]);
        assert!(codex(json!("exec"), "codex_cli_rs").is_empty());
        assert!(codex(json!("mcp"), "codex_cli_rs").is_empty());
        assert!(codex(Value::Null, "codex_exec").is_empty());
        assert!(codex(Value::Null, "codex_sdk_ts").is_empty());
    }

    #[test]
    fn the_text_of_a_document_is_a_system_turn() {
        let parts =
            json!([{"type": "document", "source": {"type": "text", "data": SAID}}, {"type": "text", "text": "Do it."}]);
        let message = json!({"role": "user", "content": parts}).to_string();
        let turns = TranscriptReader::new().read(message.as_bytes(), Format::Anthropic).unwrap().transcript.turns;
        assert_eq!(turns, [Turn::System(SAID.into()), Turn::User("Do it.".into())]);
    }
}
