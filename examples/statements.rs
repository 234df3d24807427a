//! What `heuristics::statements` hears in labelled sessions, a JSON line per labelled turn: for `scripts/fit_statements.py`.
//!
//! `cargo run --example statements -- SESSIONS.jsonl.gz LABELS.jsonl > turns.jsonl`. Sessions: `{"id", "turns": [{"role":
//! "user" | "agent" | "tool", "text", "name", "command", "output"}]}`; labels: `{"line", "user_turn", "words", "label"}`.

#![allow(clippy::print_stdout, clippy::indexing_slicing, reason = "a program of its own; labels are objects")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};

use adage::config::{CaptureConfig, Selection};
use adage::heuristics::{Candidate, Heuristic, statements, suggest};
use adage::transcript::{Status, ToolCall, Transcript, Turn};
use flate2::read::MultiGzDecoder;
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let mut paths = std::env::args().skip(1);
    let (sessions, labels) = paths.next().zip(paths.next()).ok_or("name the sessions and the labels")?;
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
        let all = CaptureConfig { selection: Selection::All, ..CaptureConfig::default() };
        let told = suggest(&transcript, &all)
            .candidates
            .into_iter()
            .filter(|told| told.heuristic == Heuristic::UserCorrection);
        let (gathered, learned): (Vec<_>, Vec<_>) = told.partition(|told| told.name == "user-statements");
        for heard in statements(&transcript) {
            let Some(label) = labelled.get(&heard.turn) else { continue };
            let quote_in = |told: &[Candidate]| {
                told.iter().find(|told| told.turns.contains(&heard.turn)).map(|told| told.draft.to_json())
            };
            let row = json!({
                "learned": quote_in(&learned), "gathered": quote_in(&gathered).is_some(),
                "session": session["id"], "turn": heard.turn, "label": label, "cues": heard.cues, "words": heard.words,
                "probability": heard.probability, "durable": heard.durable,
            });
            println!("{row}");
        }
    }
    Ok(())
}

fn rows(lines: impl BufRead) -> Result<Vec<Value>, Box<dyn Error>> {
    lines.lines().map(|line| Ok(serde_json::from_str(&line?)?)).collect()
}

/// A session, and the label of each of its turns that has one. What has none was not typed.
fn read(session: &Value, labels: &[Value]) -> (Transcript, BTreeMap<usize, Value>) {
    let text = |turn: &Value, key: &str| turn[key].as_str().unwrap_or_default().to_owned();
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
