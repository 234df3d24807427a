//! Payloads of hooks, as `hook --explain` reads them.

use std::io::Write;
use std::process::Stdio;

use data_encoding::BASE64;
use serde_json::Value;

use super::{cases, check, text};
use crate::home::Home;

/// What the hook prints on both streams.
fn explained(home: &Home, event: &str, case: &Value, payload: &[u8]) -> (Value, String) {
    let folder = home.path("");
    let mut arguments = vec!["hook", event, "--explain"];
    if !text(case, "agent").is_empty() {
        arguments.extend(["--agent", text(case, "agent")]);
    }
    let mut command = home.command(&folder, &arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    (serde_json::from_slice(&output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// The agent's name of the event, or adage's.
fn event<'a>(case: &'a Value, otherwise: &'a str) -> &'a str {
    let payload = &case["payload"];
    ["hook_event_name", "hookEventName", "agent_action_name", "event"]
        .iter()
        .find_map(|key| payload[key].as_str())
        .unwrap_or(otherwise)
}

fn differs(what: &str, found: &Value, expected: &Value) -> Option<String> {
    // What is not judged.
    if expected.is_null() {
        return None;
    }
    let sorted = |value: &Value| {
        let mut texts: Vec<&str> = value.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        texts.sort_unstable();
        texts.iter().map(|text| text.trim().to_owned()).collect::<Vec<_>>()
    };
    (sorted(found) != sorted(expected)).then(|| format!("{what} are {found}, not {expected}"))
}

#[test]
fn the_result_of_a_call_is_passed_failed_or_unknown() {
    let home = Home::new();
    check("outcomes", &cases("outcomes"), |case| {
        let (found, said) = explained(&home, event(case, "after-tool"), case, case["payload"].to_string().as_bytes());
        (found["result"] != case["expected"])
            .then(|| format!("{} is not {}; {said}", found["result"], case["expected"]))
    });
}

#[test]
fn the_commands_and_files_of_a_call_are_read() {
    let home = Home::new();
    check("calls", &cases("calls"), |case| {
        let (found, _) = explained(&home, event(case, "before-tool"), case, case["payload"].to_string().as_bytes());
        let commands = differs("commands", &found["commands"], &case["commands"]);
        commands.or_else(|| differs("paths", &found["paths"], &case["paths"]))
    });
}

#[test]
fn a_text_of_the_harness_is_no_task() {
    let home = Home::new();
    check("prompts", &cases("prompts"), |case| {
        let (found, _) = explained(&home, event(case, "prompt"), case, case["payload"].to_string().as_bytes());
        (found["task"].is_string() != case["is_task"].as_bool().unwrap())
            .then(|| format!("the task is {}", found["task"]))
    });
}

#[test]
fn a_payload_with_a_flaw_is_read_as_far_as_its_meaning_is_plain() {
    let home = Home::new();
    check("bytes", &cases("bytes"), |case| {
        let payload = BASE64.decode(text(case, "payload_base64").as_bytes()).unwrap();
        let (found, said) = explained(&home, "prompt", case, &payload);
        let is_read = found.as_object().is_some_and(|fields| !fields.is_empty());
        let wanted = Value::String(text(case, "event_text").to_owned()).to_string();
        let is_clean = serde_json::from_slice::<Value>(&payload).is_ok();
        let is_told = is_clean || !said.is_empty();
        let has_text = found.to_string().contains(wanted.trim_matches('"'));
        match text(case, "expected") {
            "read" => (!is_read || !has_text || !is_told).then(|| format!("{found} {said:?}, not {wanted}")),
            _ => (is_read || said.is_empty()).then(|| format!("it is read: {found}; {said}")),
        }
    });
}
