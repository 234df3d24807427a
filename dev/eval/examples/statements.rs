//! Prints what `heuristics::statements` finds in labelled sessions, one JSON object per labelled turn: the input of
//! `scripts/fit_statements.py`.
//!
//! - `cargo run --example statements -- SESSIONS.jsonl.gz LABELS.jsonl > turns.jsonl`. Sessions: `{"id", "turns": [{"role":
//!   "user" | "agent" | "tool", "text", "name", "command", "output"}]}`; labels: `{"line", "user_turn", "words", "label"}`.
//! - `cargo run --example statements -- TURNS.jsonl …`: turns with the acts around them, in the format of `tests/cases/README.md`.

#![allow(clippy::print_stdout, clippy::indexing_slicing, reason = "a program, not a library; labels are objects")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use adage::config::CaptureConfig;
use adage::transcript::{Status, ToolCall, Transcript, Turn};
use adage_sessions::heuristics::{Candidate, Heuristic, stated_lines, statements, suggest};
use flate2::read::MultiGzDecoder;
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    match paths.as_slice() {
        [sessions, labels] if Path::new(sessions).extension().is_some_and(|suffix| suffix == "gz") => {
            of_sessions(sessions, labels)
        }
        [] => Err("name sessions and labels, or turns".into()),
        turns => turns.iter().try_for_each(|path| of_turns(path)),
    }
}

fn of_sessions(sessions: &str, labels: &str) -> Result<(), Box<dyn Error>> {
    let sessions = rows(BufReader::new(MultiGzDecoder::new(File::open(sessions)?)))?;
    let mut by_session: BTreeMap<usize, Vec<Value>> = BTreeMap::new();
    for label in rows(BufReader::new(File::open(labels)?))? {
        let line =
            label["line"].as_u64().and_then(|line| usize::try_from(line).ok()).ok_or("a label without a line")?;
        by_session.entry(line).or_default().push(label);
    }
    for (line, labels) in by_session {
        let session = sessions.get(line).ok_or("a label of a session that is not there")?;
        let (transcript, labelled) = read(session, &labels);
        print_statements(&transcript, &labelled);
    }
    Ok(())
}

fn of_turns(path: &str) -> Result<(), Box<dyn Error>> {
    let mut by_session: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for turn in rows(BufReader::new(File::open(path)?))? {
        by_session.entry(turn["session"].as_str().unwrap_or_default().to_owned()).or_default().push(turn);
    }
    for (session, turns) in by_session {
        let mut transcript = Transcript { session, ..Transcript::default() };
        let mut labelled = BTreeMap::new();
        for turn in turns {
            if !turn["agent_before"].as_str().is_none_or(str::is_empty) {
                transcript.turns.push(Turn::Assistant(text(&turn, "agent_before")));
            }
            transcript.turns.extend(acts(&turn["did"]));
            labelled.insert(transcript.turns.len(), turn.clone());
            transcript.turns.push(Turn::User(text(&turn, "text")));
            transcript.turns.push(Turn::Assistant(text(&turn, "agent_next")));
            transcript.turns.extend(acts(&turn["did_next"]));
        }
        print_statements(&transcript, &labelled);
    }
    Ok(())
}

/// The acts of an agent, from their short form: "edit FILE", "run COMMAND (failed)", "refused by the person: edit FILE", ….
fn acts(list: &Value) -> Vec<Turn> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(act).collect()
}

fn act(act: &str) -> Turn {
    const REFUSED: &str = "The user doesn't want to proceed with this tool use.";
    if act.starts_with("interrupted") {
        return Turn::System("[Request interrupted by user]".to_owned());
    }
    let (act, is_refused) = act.strip_prefix("refused by the person:").map_or((act, false), |act| (act.trim(), true));
    let (act, is_failed) = act.strip_suffix("(failed)").map_or((act, false), |act| (act.trim(), true));
    let (verb, object) = act.split_once(' ').unwrap_or((act, ""));
    let (tool, input) = match verb {
        "edit" | "write" | "create" => ("Edit", json!({ "file_path": object })),
        "run" => ("Bash", json!({ "command": object })),
        "read" => ("Read", json!({ "file_path": object })),
        _ => ("Search", json!({ "query": object })),
    };
    let result = if is_refused { REFUSED } else { "" };
    let status = if is_failed || is_refused { Status::Failed } else { Status::Succeeded };
    Turn::ToolCall(ToolCall { tool: tool.to_owned(), input, result: Some(result.to_owned()), status })
}

/// A line per labelled turn: `suggested` is the candidate of a session that quotes it, among as many as capture suggests. A label is a string
/// or an object with a field `label`.
fn print_statements(transcript: &Transcript, labelled: &BTreeMap<usize, Value>) {
    let candidates = suggest(transcript, &CaptureConfig::default()).candidates;
    let lines: BTreeMap<usize, _> = stated_lines(transcript).into_iter().map(|line| (line.turn, line)).collect();
    for heard in statements(transcript) {
        let Some(label) = labelled.get(&heard.turn) else { continue };
        let is_on = |candidate: &&Candidate| {
            candidate.heuristic == Heuristic::UserCorrection && candidate.turns.contains(&heard.turn)
        };
        let suggested = candidates.iter().find(is_on).map(|candidate| candidate.draft.to_json());
        let said = transcript.turns.get(heard.turn).and_then(Turn::as_user).unwrap_or_default();
        let sentences: Vec<Value> = heard
            .sentences
            .iter()
            .map(|sentence| json!({ "text": said.get(sentence.range.clone()), "says": sentence.says, "cues": sentence.cues }))
            .collect();
        let row = json!({
            "suggested": suggested,
            "session": transcript.session, "turn": heard.turn, "label": label.get("label").unwrap_or(label),
            "quotes": label.get("quotes"), "alone": label.get("alone"), "cues": heard.cues, "words": heard.words,
            "probability": heard.probability, "durable": heard.durable, "sentences": sentences,
            "line": lines.get(&heard.turn),
        });
        println!("{row}");
    }
}

fn text(row: &Value, key: &str) -> String {
    row[key].as_str().unwrap_or_default().to_owned()
}

fn rows(lines: impl BufRead) -> Result<Vec<Value>, Box<dyn Error>> {
    lines.lines().map(|line| Ok(serde_json::from_str(&line?)?)).collect()
}

/// A session, and the label of each of its turns that has one. What has none was not typed.
fn read(session: &Value, labels: &[Value]) -> (Transcript, BTreeMap<usize, Value>) {
    let mut transcript = Transcript { session: text(session, "id"), ..Transcript::default() };
    let mut labelled = BTreeMap::new();
    let mut left: Vec<&Value> = labels.iter().collect();
    for turn in session["turns"].as_array().into_iter().flatten() {
        let said = text(turn, "text");
        match turn["role"].as_str() {
            Some("user") => {
                let is_of = |label: &&Value| said.split_whitespace().eq_start(&text(label, "words"));
                if let Some(place) = left.iter().position(is_of) {
                    labelled.insert(transcript.turns.len(), left.remove(place)["label"].clone());
                    transcript.turns.push(Turn::User(said));
                } else {
                    transcript.turns.push(Turn::System(said));
                }
            }
            Some("tool") => {
                let input = json!({ "command": turn["command"], "file_path": path_in(&said) });
                let result = turn["output"].as_str().map(str::to_owned).or(Some(said));
                let tool = if turn["command"].is_string() { "Bash".to_owned() } else { text(turn, "name") };
                transcript.turns.push(Turn::ToolCall(ToolCall { tool, input, result, status: Status::Unknown }));
            }
            _ if said.starts_with("<think>") => {}
            _ => transcript.turns.push(Turn::Assistant(said)),
        }
    }
    (transcript, labelled)
}

/// The first path between back-ticks.
fn path_in(said: &str) -> Option<&str> {
    said.split('`').nth(1).filter(|name| name.contains('/'))
}

trait StartsWithWords {
    /// True when these words begin with those of a text.
    fn eq_start(self, text: &str) -> bool;
}

impl<'a, I: Iterator<Item = &'a str>> StartsWithWords for I {
    fn eq_start(self, text: &str) -> bool {
        let wanted: Vec<&str> = text.split_whitespace().collect();
        let said: Vec<&str> = self.take(wanted.len()).collect();
        said.join(" ").starts_with(&wanted.join(" "))
    }
}
