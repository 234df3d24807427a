//! Messages of MCP clients, line by line, until the input ends.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use super::{cases, check};
use crate::home::Home;

/// All that the server writes when a client sends these lines and closes the input.
fn answers(lines: &[&str], end: &str) -> (Vec<Value>, String) {
    let home = Home::new();
    let root = home.repository("shop");
    let mut command = home.command(&root, &["mcp", "--embedder", "none"]);
    let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A server that ends early is seen by its answers.
    let _ = server.stdin.take().unwrap().write_all((lines.join("\n") + end).as_bytes());
    let output = server.wait_with_output().unwrap();
    let written = String::from_utf8(output.stdout).unwrap();
    let answers = written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (answers, String::from_utf8(output.stderr).unwrap())
}

fn fault(case: &Value) -> Option<String> {
    let lines: Vec<&str> = case["messages"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    let end = if case["final_newline"] == false { "" } else { "\n" };
    let (answers, said) = answers(&lines, end);
    let asked = lines.iter().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let id = asked.filter(|message| message.get("method").is_some()).find_map(|message| message.get("id").cloned());
    let of_last = |answer: &&Value| {
        id.as_ref().is_some_and(|id| answer["id"] == *id || answer["id"].as_f64() == id.as_f64() && id.is_number())
    };
    let Some(answer) = answers.iter().rev().find(of_last).or(answers.last()) else {
        return Some(format!("no answer; {said}"));
    };
    let is_error = answer.get("error").is_some() || answer["result"]["isError"] == true;
    let words = case["expected"]["error_names"].as_array().or(case["error_names"].as_array());
    let Some(words) = words else {
        return (is_error || answer.get("result").is_none()).then(|| format!("it is refused: {answer}"));
    };
    let lower = answer.to_string().to_lowercase();
    let is_there = |word: &&Value| word.as_str().unwrap().to_lowercase().split('|').any(|word| lower.contains(word));
    let missing: Vec<&Value> = words.iter().filter(|word| !is_there(word)).collect();
    (!is_error || !missing.is_empty()).then(|| format!("{missing:?} are not in {answer}"))
}

#[test]
fn what_a_client_means_is_accepted_and_a_refusal_names_what_was_found() {
    check("mcp", &cases("mcp"), fault);
}
