use serde_json::{Value, json};

use crate::{Format, SessionMarks, TranscriptReader};

fn marks(format: Format, records: &[Value]) -> SessionMarks {
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    TranscriptReader::new().read(lines.join("\n").as_bytes(), format).unwrap().transcript.marks
}

#[track_caller]
fn check(format: Format, one: &[Value], other: &[Value], is_copy: bool) {
    let one: Vec<u64> = marks(format, one).iter().collect();
    let is_shared = marks(format, other).iter().any(|mark| one.contains(&mark));
    assert_eq!(is_shared, is_copy, "{format:?} {other:?}");
}

/// A time on a day of a month.
fn at(day: u32, second: usize) -> Value {
    json!(format!("2026-03-{day:02}T10:00:{second:02}.000Z"))
}

const IDS: [&str; 4] = [
    "1d0e7a52-0d0c-4f6c-9d5f-000000000001",
    "1d0e7a52-0d0c-4f6c-9d5f-000000000002",
    "toolu_01AbCdEfGhIjKlMnOp",
    "call_abcdefghijklmnop",
];

/// A session of Claude Code in which something was typed and run on a day. The ids of its records end with that of the session, if
/// they are its own.
fn claude(session: &str, day: u32, ids: &str) -> Vec<Value> {
    let record = |n: usize, kind: &str, content: Value| {
        json!({"type": kind, "sessionId": session, "uuid": format!("{}{ids}", IDS[n]), "cwd": "/srv/shop", "timestamp": at(day, n),
            "message": {"role": kind, "content": content}})
    };
    let call =
        json!([{"type": "tool_use", "id": format!("{}{ids}", IDS[2]), "name": "Bash", "input": {"command": "make"}}]);
    vec![record(0, "user", json!("Release the next version.")), record(1, "assistant", call)]
}

#[test]
fn copies_and_forks_of_claude_code_share_a_mark() {
    let source = claude("one", 1, "");
    let row = |fields: Value| {
        let mut row = json!({"sessionId": "two", "timestamp": at(9, 0)});
        row.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        row
    };
    let behind = |first: Value| [vec![first], claude("two", 1, "")].concat();
    let mut from = claude("two", 9, "-of-two");
    from[1]["forkedFrom"] = json!({"sessionId": "one", "messageUuid": "x"});
    let mut longer = claude("two", 1, "");
    longer.extend(claude("two", 9, "-of-two"));
    for copy in [
        claude("one", 9, "-of-two"),
        claude("two", 1, ""),
        claude("two", 9, ""),
        claude("two", 1, "-of-two"),
        from,
        longer,
        claude("two", 1, "").split_off(1),
        claude("two", 9, "").split_off(1),
        behind(row(json!({"type": "attachment", "attachment": {"type": "hook_success", "content": "x"}}))),
        behind(row(
            json!({"type": "user", "isCompactSummary": true, "message": {"role": "user", "content": "A summary."}}),
        )),
        behind(row(json!({"type": "user", "message": {"role": "user", "content": "Go on."}}))),
    ] {
        check(Format::ClaudeCode, &source, &copy, true);
    }
    let mut without_times = claude("two", 1, "-of-two");
    for record in &mut without_times {
        record["timestamp"] = Value::Null;
    }
    check(Format::ClaudeCode, &source, &claude("two", 9, "-of-two"), false);
    check(Format::ClaudeCode, &source, &without_times, false);
}

#[test]
fn copies_and_forks_of_codex_share_a_mark() {
    let items = |day: u32, call: &str| {
        let item =
            |n: usize, payload: Value| json!({"type": "response_item", "timestamp": at(day, n), "payload": payload});
        let content = json!([{"type": "input_text", "text": "Release the next version."}]);
        vec![
            item(1, json!({"type": "message", "role": "user", "content": content})),
            item(
                2,
                json!({"type": "function_call", "call_id": call, "name": "shell", "arguments": "{\"command\": \"make\"}"}),
            ),
        ]
    };
    let head = |id: &str, day: u32, from: Value| {
        vec![
            json!({"type": "session_meta", "timestamp": at(day, 0), "payload": {"id": id, "cwd": "/srv/shop", "forked_from_id": from}}),
        ]
    };
    let source = [head("one", 1, Value::Null), items(1, "call_1")].concat();
    for copy in [
        [head("two", 9, json!("one")), items(9, "call_1")].concat(),
        [head("two", 9, Value::Null), head("one", 9, Value::Null), items(9, "call_1")].concat(),
        [head("two", 9, Value::Null), items(1, "call_1")].concat(),
        [head("two", 9, Value::Null), items(1, "call_1").split_off(1)].concat(),
        [head("two", 9, json!("one")), items(1, "call_1"), items(9, "call_1")].concat(),
    ] {
        check(Format::Codex, &source, &copy, true);
    }
    check(Format::Codex, &source, &[head("two", 9, Value::Null), items(9, "call_1")].concat(), false);
    check(Format::Codex, &source, &[head("two", 9, json!("three")), items(9, "call_1")].concat(), false);
    let long = [head("one", 1, Value::Null), items(1, IDS[3])].concat();
    check(Format::Codex, &long, &[head("two", 9, Value::Null), items(9, IDS[3])].concat(), true);
}

#[test]
fn copies_and_forks_of_gemini_and_pi_share_a_mark() {
    let head = |id: &str, day: u32| json!({"sessionId": id, "startTime": at(day, 0), "kind": "main"});
    let message =
        |day: u32| json!({"type": "user", "id": "m1", "timestamp": at(day, 1), "content": "Release the next version."});
    let source = [head("one", 1), message(1)];
    check(Format::Gemini, &source, &[head("two", 9), message(1)], true);
    check(Format::Gemini, &source, &[head("two", 9), json!({"$set": {"messages": [message(1)]}})], true);
    check(Format::Gemini, &source, &[head("two", 9), message(9), message(1)], true);
    check(Format::Gemini, &source, &[head("two", 9), message(9)], false);

    let head = |id: &str, day: u32, from: &str| json!({"type": "session", "id": id, "timestamp": at(day, 0), "parentSession": from});
    let entry = |day: u32| json!({"type": "message", "id": "00000001", "timestamp": at(day, 1), "message": {"role": "user", "content": "Release the next version."}});
    let source = [head("one", 1, ""), entry(1)];
    let file = "/home/octo/.pi/agent/sessions/--shop--/2026-03-01T10-00-00-000Z_one.jsonl";
    check(Format::Pi, &source, &[head("two", 9, file), entry(9)], true);
    check(Format::Pi, &source, &[head("two", 9, "one"), entry(9)], true);
    check(Format::Pi, &source, &[head("two", 9, ""), entry(1)], true);
    check(Format::Pi, &source, &[head("two", 9, ""), entry(9)], false);
}

#[test]
fn a_long_session_has_few_marks_and_shares_one_with_any_large_part_of_it() {
    let long: Vec<Value> = (0..400).flat_map(|n| claude("one", 1, &format!("-{n}"))).collect();
    let all = marks(Format::ClaudeCode, &long);
    assert!(all.iter().count() <= 40);
    for part in [&long[200..], &long[..300], &long[100..600]] {
        let part: Vec<Value> = part
            .iter()
            .cloned()
            .map(|mut record| {
                record["sessionId"] = json!("two");
                record
            })
            .collect();
        assert!(marks(Format::ClaudeCode, &part).iter().any(|mark| all.iter().any(|other| other == mark)));
    }
    let time = chrono::DateTime::parse_from_rfc3339("2026-03-01T10:00:00.000Z").unwrap();
    let known: Vec<u64> = SessionMarks::new("one", Some(time)).iter().collect();
    assert_eq!(known.len(), 2);
    assert!(known.iter().all(|mark| all.iter().any(|other| other == *mark)));
    assert_eq!(SessionMarks::new(" ", None), SessionMarks::default());
}
