use crate::{Format, TranscriptReader, Turn};

/// What counts as typed of messages of Claude Code; a message is a text, or a list of parts.
fn typed(messages: &[serde_json::Value]) -> Vec<String> {
    let record = |(n, message): (usize, &serde_json::Value)| {
        let role = message.get("role").cloned().unwrap_or_else(|| "user".into());
        let content = message.get("content").unwrap_or(message);
        serde_json::json!({"type": role, "sessionId": "s", "uuid": n.to_string(), "message": {"role": role, "content": content}})
            .to_string()
    };
    let lines: Vec<String> = messages.iter().enumerate().map(record).collect();
    let reading = TranscriptReader::new().read(lines.join("\n").as_bytes(), Format::ClaudeCode).unwrap();
    reading.transcript.user_turns().map(|(_, text)| text.to_owned()).collect()
}

#[test]
fn the_text_of_a_slash_command_is_not_typed() {
    const BODY: &str = "Always use the internal registry for packages.";
    let json = |text: &str| serde_json::Value::from(text);
    let parts = |texts: &[&str]| -> serde_json::Value {
        texts.iter().map(|text| serde_json::json!({"type": "text", "text": text})).collect()
    };
    let answer = serde_json::json!({"role": "assistant", "content": [{"type": "text", "text": "Done."}]});
    let command = "<command-message>deploy is running…</command-message>\n<command-name>/deploy</command-name>";
    let with_arguments = format!("{command}\n<command-args>now</command-args>");
    let own = "<command-name>/model</command-name>\n<command-message>model</command-message>";
    let output = "<local-command-stdout>Set model</local-command-stdout>";
    for (messages, expected) in [
        (vec![json(command), json(BODY)], vec![]),
        (vec![json(command), json(BODY), json(BODY)], vec![]),
        (vec![json(&with_arguments), json(BODY)], vec!["now"]),
        (vec![parts(&[command, BODY])], vec![]),
        (vec![parts(&[BODY, command])], vec![]),
        (vec![parts(&[&with_arguments, BODY])], vec!["now"]),
        (vec![json(command), parts(&[BODY, BODY])], vec![]),
        (vec![json(own), json(BODY)], vec![]),
        (vec![json(own), json(output), json(BODY)], vec![BODY]),
        (vec![json(command), json(BODY), answer.clone(), json(BODY)], vec![BODY]),
        (vec![json(command), json("[Request interrupted by user]"), json(BODY)], vec![BODY]),
        (vec![json(BODY), json(command)], vec![BODY]),
    ] {
        assert_eq!(typed(&messages), expected, "{messages:?}");
    }
}

#[test]
fn a_repeated_call_id_loses_no_call() {
    let call = |command: &str| {
        let arguments = serde_json::json!({ "command": command }).to_string();
        let call = serde_json::json!({"id": "call_0", "function": {"name": "bash", "arguments": arguments}});
        serde_json::json!({"role": "assistant", "tool_calls": [call]}).to_string()
    };
    let result =
        |said: &str| serde_json::json!({"role": "tool", "tool_call_id": "call_0", "content": said}).to_string();
    // The last line repeats the history.
    let lines = [call("ls a"), result("a1"), call("ls b"), call("ls c"), result("b1"), result("c1"), call("ls a")];
    let reading = TranscriptReader::new().read(lines.join("\n").as_bytes(), Format::OpenAi).unwrap();
    let calls = reading.transcript.turns.iter().filter_map(Turn::as_call);
    let found: Vec<_> = calls.map(|call| (call.command().unwrap(), call.result.clone().unwrap())).collect();
    assert_eq!(found, [("ls a", "a1"), ("ls b", "b1"), ("ls c", "c1")].map(|(a, b)| (a.to_owned(), b.to_owned())));
}
