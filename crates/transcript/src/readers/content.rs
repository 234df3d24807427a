//! The parts of a message of the user's role, and what its record says of who wrote it (docs/spec/capture.md, 1.3).

use serde_json::Value;

use super::recorder::{is_set, str_of};

/// True if the record itself says that a program wrote it, although it has the user's role.
pub(super) fn is_of_program(record: &Value) -> bool {
    const FLAGS: [&str; 3] = ["isMeta", "isCompactSummary", "isVisibleInTranscriptOnly"];
    let origin = record.pointer("/origin/kind").and_then(Value::as_str);
    FLAGS.iter().any(|flag| is_set(record, flag)) || origin.is_some_and(|kind| kind != "human")
}

/// A part of a message of the user's role.
pub(super) enum ContentPart<'v> {
    /// Text that a person can have typed.
    Text(&'v str),
    /// Anything else, by its kind.
    Other(&'v str),
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
    let kind = str_of(item, "type");
    let text = item.get("text").and_then(Value::as_str).filter(|_| text_types.contains(&kind));
    item.as_str().or(text).map_or(ContentPart::Other(kind), ContentPart::Text)
}

/// True for a message that contains results of calls: its other texts are the harness's.
pub(super) fn has_results(content: &Value) -> bool {
    content.as_array().is_some_and(|list| {
        list.iter().any(|part| str_of(part, "type").ends_with("tool_result") || part.get("functionResponse").is_some())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{Format, TranscriptReader};

    const SAID: &str = "Always use the internal registry.";

    #[track_caller]
    fn check(format: Format, records: &[Value], expected: &[&str]) {
        let lines: Vec<String> = records.iter().map(Value::to_string).collect();
        let reading = TranscriptReader::new().read(lines.join("\n").as_bytes(), format).unwrap();
        let typed: Vec<&str> = reading.transcript.user_turns().map(|(_, text)| text).collect();
        assert_eq!(typed, expected, "{records:?}");
    }

    #[test]
    fn a_record_that_says_that_a_program_wrote_it_is_not_typed() {
        let record = |fields: Value| {
            let mut record = json!({"type": "user", "sessionId": "s", "message": {"role": "user", "content": SAID}});
            record.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            record
        };
        for fields in [
            json!({"isMeta": true}),
            json!({"isCompactSummary": true}),
            json!({"isVisibleInTranscriptOnly": true}),
            json!({"origin": {"kind": "channel", "server": "slack"}}),
        ] {
            check(Format::ClaudeCode, &[record(fields)], &[]);
        }
        for fields in [json!({}), json!({"origin": {"kind": "human"}, "isMeta": false}), json!({"neverSeen": true})] {
            check(Format::ClaudeCode, &[record(fields)], &[SAID]);
        }
    }

    #[test]
    fn only_text_parts_of_a_message_without_results_are_typed() {
        let text = json!({"type": "text", "text": SAID});
        let result = json!({"type": "tool_result", "tool_use_id": "t", "content": "x"});
        let document = json!({"type": "document", "source": {"type": "text", "data": SAID}});
        for (parts, expected) in [
            (json!([text]), &[SAID][..]),
            (json!([document]), &[]),
            (json!([document, text]), &[SAID]),
            (json!([result, text]), &[]),
        ] {
            let message = json!({"role": "user", "content": parts});
            let before = json!({"role": "assistant", "content": "ok"});
            check(Format::Anthropic, &[before, message], expected);
        }
    }
}
