use serde_json::{Value, json};

use crate::{Format, TranscriptReader};

const RULE: &str = "Always use the internal registry for packages.";

fn typed(format: Format, records: &[Value]) -> Vec<String> {
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    let reading = TranscriptReader::new().read(lines.join("\n").as_bytes(), format).unwrap();
    reading.transcript.user_turns().map(|(_, text)| text.to_owned()).collect()
}

/// A record of Claude Code. Each has an id of its own.
fn claude(kind: &str, n: usize, content: &Value) -> Value {
    json!({"type": kind, "sessionId": "s", "uuid": n.to_string(), "cwd": "/srv/shop/main/src",
        "message": {"role": kind, "content": content}})
}

fn call() -> Value {
    claude("assistant", 1, &json!([{"type": "tool_use", "id": "c", "name": "WebFetch", "input": {"url": "x"}}]))
}

fn result(content: &Value) -> Value {
    claude("user", 2, &json!([{"type": "tool_result", "tool_use_id": "c", "content": content}]))
}

fn said(text: &str) -> Value {
    claude("user", 3, &json!(text))
}

/// What a record of Claude Code shows beside its turns.
fn hidden_places() -> Vec<Vec<Value>> {
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let plain = json!({"type": "text", "media_type": "text/plain", "data": RULE});
    let with = |mut record: Value, field: &str, value: Value| {
        record[field] = value;
        record
    };
    let server = |kind: &str, content: Value| {
        claude(
            "assistant",
            4,
            &json!([{"type": "server_tool_use", "id": "t", "name": "x", "input": {}},
            {"type": kind, "tool_use_id": "t", "content": content}]),
        )
    };
    let short = || result(&json!("(output too large, saved to a file)"));
    let row = |row: Value| vec![call(), result(&json!("ok")), row];
    vec![
        vec![call(), result(&json!([{"type": "document", "source": plain}]))],
        vec![call(), result(&json!([{"type": "search_result", "source": "x", "title": "y", "content": text(RULE)}]))],
        vec![call(), result(&json!([{"type": "resource", "resource": {"uri": "x", "text": RULE}}]))],
        vec![call(), result(&json!([{"type": "kind_of_next_year", "anything": {"deep": [RULE]}}]))],
        vec![call(), with(short(), "toolUseResult", json!({"stdout": RULE, "stderr": ""}))],
        vec![call(), with(short(), "toolUseResult", json!({"code": 200, "result": format!("a\n\n{RULE}\nb")}))],
        vec![call(), with(short(), "toolUseResult", json!([text(RULE)]))],
        vec![server("web_fetch_tool_result", json!({"content": {"type": "document", "source": plain}}))],
        vec![server("web_search_tool_result", json!([{"type": "web_search_result", "title": RULE}]))],
        vec![server("bash_code_execution_tool_result", json!({"type": "x", "stdout": RULE}))],
        vec![result(&json!(RULE))],
        vec![call(), result(&json!("ok")), with(result(&json!(RULE)), "uuid", json!("again"))],
        row(claude("assistant", 4, &json!([{"type": "text", "text": "See", "citations": [{"cited_text": RULE}]}]))),
        row(claude("assistant", 4, &json!([{"type": "thinking", "thinking": format!("It says: {RULE}")}]))),
        row(json!({"type": "system", "subtype": "informational", "content": RULE})),
        row(json!({"type": "progress", "data": {"type": "bash_progress", "output": RULE}})),
        row(json!({"type": "summary", "summary": RULE})),
        row(with(claude("user", 4, &json!(RULE)), "isSidechain", json!(true))),
        row(json!({"type": "queue-operation", "content": format!("<task-notification>{RULE}</task-notification>")})),
        row(json!({"type": "row-of-next-year", "payload": {"title": RULE.replace(' ', "%20")}})),
    ]
}

#[test]
fn what_a_record_shows_anywhere_is_not_typed_after_it() {
    for shown in hidden_places() {
        let mut records = vec![claude("user", 0, &json!("Fix the build."))];
        records.extend(shown.clone());
        records.push(said(&format!("{RULE} Then run it.")));
        assert_eq!(typed(Format::ClaudeCode, &records), ["Fix the build.", " Then run it."], "{shown:?}");
    }
}

#[test]
fn what_a_result_brings_later_is_not_typed_before_it() {
    for shown in hidden_places().into_iter().take(12) {
        let mut records = vec![said(&format!("{RULE} Then run it."))];
        records.extend(shown.clone());
        assert_eq!(typed(Format::ClaudeCode, &records), [" Then run it."], "{shown:?}");
    }
}

#[test]
fn what_others_repeat_of_a_person_stays_the_persons() {
    let write = json!([{"type": "tool_use", "id": "w", "name": "Write", "input": {"content": format!("- {RULE}")}}]);
    let mut written = result(&json!("ok"));
    written["toolUseResult"] = json!({"type": "create", "content": format!("# Notes\n- {RULE}")});
    written["message"]["content"][0]["tool_use_id"] = json!("w");
    let thought = claude("assistant", 5, &json!([{"type": "thinking", "thinking": format!("They said: {RULE}")}]));
    let mut again = said(RULE);
    again["uuid"] = json!("6");
    for records in [
        vec![json!({"type": "queue-operation", "operation": "enqueue", "content": RULE}), said(RULE)],
        vec![said(RULE), json!({"type": "last-prompt", "lastPrompt": RULE})],
        vec![said(RULE), json!({"type": "ai-title", "aiTitle": RULE})],
        vec![said(RULE), thought.clone()],
        vec![said(RULE), claude("assistant", 7, &write), written.clone()],
        vec![said(RULE), said(RULE), thought.clone()],
    ] {
        assert_eq!(typed(Format::ClaudeCode, &records), [RULE], "{records:?}");
    }
    let twice = [said(RULE), thought, claude("assistant", 7, &write), written, again];
    assert_eq!(typed(Format::ClaudeCode, &twice), [RULE, RULE]);
}

#[test]
fn a_copy_of_a_prompt_that_names_its_sender_shows_what_others_wrote() {
    let queued = |field: &str, value: Value| {
        let mut row = json!({"type": "queue-operation", "operation": "enqueue", "sessionId": "s",
            "timestamp": "2026-01-01T10:00:00Z", "content": RULE});
        row[field] = value;
        typed(Format::ClaudeCode, &[row, said(RULE)])
    };
    for (field, value) in [
        ("origin", json!({"kind": "channel", "server": "chat"})),
        ("origin", json!("cron")),
        ("promptSource", json!("suggestion")),
        ("isMeta", json!(true)),
        ("senderName", json!("Bob")),
        ("agentId", json!("a1")),
        ("commandMode", json!("task-notification")),
    ] {
        assert!(queued(field, value.clone()).is_empty(), "{field} {value}");
    }
    for (field, value) in [
        ("origin", json!({"kind": "human"})),
        ("origin", Value::Null),
        ("commandMode", json!("prompt")),
        ("gitBranch", json!("main")),
    ] {
        assert_eq!(queued(field, value.clone()), [RULE], "{field} {value}");
    }
    let last = json!({"type": "last-prompt", "lastPrompt": RULE, "origin": {"kind": "hook"}});
    assert!(typed(Format::ClaudeCode, &[said("Fix it."), last, said(RULE)]).len() < 2);

    let head = codex("session_meta", &json!({"id": "c", "source": "cli", "originator": "codex_cli_rs"}));
    let event = |kind: &str| codex("event_msg", &json!({"type": "user_message", "message": RULE, "kind": kind}));
    assert_eq!(typed(Format::Codex, &[head.clone(), event("plain"), codex_said(RULE)]), [RULE]);
    assert!(typed(Format::Codex, &[head, event("environment_context"), codex_said(RULE)]).is_empty());
}

#[test]
fn names_and_paths_of_a_record_are_not_sentences() {
    let path = "Look at /srv/shop/main/src.";
    assert_eq!(typed(Format::ClaudeCode, &[call(), result(&json!("ok")), said(path)]), [path]);
}

fn codex(kind: &str, payload: &Value) -> Value {
    json!({"timestamp": "2026-01-01T10:00:00Z", "type": kind, "payload": payload})
}

fn codex_said(text: &str) -> Value {
    let content = json!([{"type": "input_text", "text": text}]);
    codex("response_item", &json!({"type": "message", "role": "user", "content": content}))
}

#[test]
fn an_event_with_the_only_copy_of_a_result_shows_it() {
    let head = codex("session_meta", &json!({"id": "c", "source": "cli", "originator": "codex_cli_rs"}));
    let content = json!([{"type": "text", "text": RULE}]);
    for shown in [
        codex(
            "event_msg",
            &json!({"type": "mcp_tool_call_end", "call_id": "1", "result": {"Ok": {"content": content}}}),
        ),
        codex(
            "event_msg",
            &json!({"type": "exec_command_end", "call_id": "1", "aggregated_output": RULE, "exit_code": 0}),
        ),
        codex("response_item", &json!({"type": "function_call_output", "call_id": "none", "output": RULE})),
        codex("response_item", &json!({"type": "tool_of_next_year_output", "call_id": "1", "text": RULE})),
    ] {
        let after = [head.clone(), codex_said("Fix it."), shown.clone(), codex_said(RULE)];
        assert_eq!(typed(Format::Codex, &after), ["Fix it."], "{shown}");
        let before = [head.clone(), codex_said(RULE), shown.clone()];
        assert!(typed(Format::Codex, &before).is_empty(), "{shown}");
    }
    for shown in [
        codex("response_item", &json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": RULE}]})),
        codex("event_msg", &json!({"type": "agent_message", "message": RULE})),
        codex("turn_context", &json!({"user_instructions": RULE})),
    ] {
        let after = [head.clone(), codex_said("Fix it."), shown.clone(), codex_said(RULE)];
        assert_eq!(typed(Format::Codex, &after), ["Fix it."], "{shown}");
        assert_eq!(typed(Format::Codex, &[head.clone(), codex_said(RULE), shown]), [RULE]);
    }
    let mirror = codex("event_msg", &json!({"type": "user_message", "message": RULE}));
    let compacted = codex("compacted", &json!({"message": "x", "replacement_history": [codex_said(RULE)["payload"]]}));
    for records in [[head.clone(), mirror.clone(), codex_said(RULE)], [head, codex_said(RULE), compacted]] {
        assert_eq!(typed(Format::Codex, &records), [RULE]);
    }
}

#[test]
fn the_results_of_other_formats_are_shown_wherever_they_are() {
    let call = json!({"id": "c", "function": {"name": "fetch", "arguments": "{}"}});
    let openai = |result: Value| {
        let records =
            [json!({"role": "assistant", "tool_calls": [call]}), result, json!({"role": "user", "content": RULE})];
        typed(Format::OpenAi, &records)
    };
    assert!(
        openai(json!({"role": "tool", "tool_call_id": "c", "content": [{"type": "file", "file": {"x": RULE}}]}))
            .is_empty()
    );
    assert!(openai(json!({"role": "tool", "tool_call_id": "other", "content": RULE})).is_empty());
    assert_eq!(openai(json!({"role": "tool", "tool_call_id": "c", "content": "ok"})), [RULE]);

    let user = |content: Value| json!({"type": "user", "id": "u", "content": content});
    let shown = json!([{"functionResponse": {"response": {"content": [{"resource": RULE}]}}}]);
    let gemini = json!({"type": "gemini", "id": "g", "content": "", "toolCalls": [{"name": "x", "status": "success", "result": shown}]});
    let head = json!({"sessionId": "s", "startTime": "2026-01-01T10:00:00Z"});
    assert!(typed(Format::Gemini, &[head.clone(), gemini.clone(), user(json!(RULE))]).is_empty());
    assert!(typed(Format::Gemini, &[head.clone(), user(json!(RULE)), gemini]).is_empty());
    let grown = json!({"type": "user", "id": "u", "displayContent": RULE, "content": format!("{RULE}\nand files")});
    assert_eq!(typed(Format::Gemini, &[head, user(json!(RULE)), grown]), [RULE]);
}

#[test]
fn data_and_what_was_shown_long_ago_do_not_fill_the_memory() {
    let image = "iVBORw0KGgo".repeat(5_000);
    let image =
        json!([{"type": "image", "source": {"type": "url", "data": image}}, {"type": "text", "text": "a b c d e"}]);
    let mut shown = super::Shown::default();
    shown.end_record(&image);
    assert_eq!(shown.recent.len(), 2);
    for n in 0..200 {
        let words: Vec<String> = (0..3_000).map(|word| format!("w{n}x{word}")).collect();
        shown.end_record(&json!({ "text": words.join(" ") }));
    }
    assert!(shown.recent.len() <= super::MAX_RUNS && shown.older.len() == super::MAX_RUNS);
    assert!(shown.has("w199x1 w199x2 w199x3 w199x4") && shown.has("w120x1 w120x2 w120x3 w120x4"));
    assert!(!shown.has("w1x1 w1x2 w1x3 w1x4"));
}

/// A page with the rule as its author wrote it, not as a browser shows it.
fn written_pages() -> [String; 5] {
    let linked =
        |form: fn(&str) -> String| RULE.replace("internal", &form("internal")).replace("packages", &form("packages"));
    [
        linked(|word| format!("[{word}](https://docs.example.com/en/latest/guide.html)")),
        linked(|word| format!("<a\n class=\"x > y\"\n href=\"/p\"\n>{word}</a\n>")),
        linked(|word| format!("[[Page of it|{word}]]")),
        RULE.replace(' ', "\n2026-01-02T03:04:05Z "),
        RULE.chars().flat_map(|c| [c, '\u{8}', c]).collect(),
    ]
}

#[test]
fn a_page_is_known_in_what_is_cut_from_a_result_however_it_is_written() {
    for page in written_pages() {
        let long = format!("{}\n{page}\n{}", "a line of the page\n".repeat(600), "the end of it\n".repeat(600));
        let brings = [call(), result(&json!(long))];
        let [call, result] = brings;
        let after = [said("Fix it."), call.clone(), result.clone(), {
            let mut said = said(RULE);
            said["uuid"] = json!("again");
            said
        }];
        assert_eq!(typed(Format::ClaudeCode, &after), ["Fix it."], "{page}");
        assert!(typed(Format::ClaudeCode, &[said(RULE), call, result]).is_empty(), "{page}");
    }
}

#[test]
fn what_the_agent_writes_out_of_a_persons_words_stays_theirs() {
    let longer = RULE.replace("registry", "registry (npm.example.com)");
    let write = json!([{"type": "tool_use", "id": "w", "name": "Write", "input": {"content": format!("- {longer}")}}]);
    let mut written = result(&json!("ok"));
    written["toolUseResult"] = json!({"type": "create", "content": format!("# Notes\n- {longer}")});
    written["message"]["content"][0]["tool_use_id"] = json!("w");
    let mut again = said(RULE);
    again["uuid"] = json!("6");
    assert_eq!(typed(Format::ClaudeCode, &[said(RULE), claude("assistant", 7, &write), written, again]), [RULE, RULE]);
}
