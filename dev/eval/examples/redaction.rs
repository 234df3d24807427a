//! Measures redaction: recall on labelled secrets, and false alarms on other texts.
//!
//! ```text
//! cargo run --release --example redaction -- CASES [TRANSCRIPTS]... [--json]
//! ```
//!
//! CASES has one JSON object per line: `rule` or `family`; `label` (1: the text has a secret, 0: it has none); `b64` or `text`, the text
//! in base64; and optionally `secret`, in base64. If `secret` is given, it counts as found when neither half of it remains; otherwise
//! when anything is found. TRANSCRIPTS are files or folders of sessions: every format of `TranscriptReader`, and lines with `turns` of
//! `role` and `text`, as exported from `SpecStory`. `.gz` files are unpacked.
//!
//! Prints recall by rule, missed rules and false alarms by name, and how many of 1,000 distinct texts of the sessions are flagged. A
//! person has to judge these, because a session may hold a real secret. Of a secret only the rule, the length and the first two
//! characters are printed.

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods, reason = "a program, not a library")]

#[path = "session_files/mod.rs"]
mod session_files;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::Path;

use adage::redact::{Redactor, Secret};
use adage::transcript::{Format, TranscriptReader, Turn};
use data_encoding::BASE64;
use serde_json::{Value, json};
use session_files::{files, unpacked};

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let (flags, files): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|one| one.starts_with("--"));
    if let Some(flag) = flags.iter().find(|flag| *flag != "--json") {
        return Err(format!("unknown option {flag}").into());
    }
    let (cases, sessions) = files.split_first().ok_or("name a file of cases")?;
    let cases = Cases::measure(Path::new(cases))?;
    let sessions = Sessions::measure(sessions)?;
    if flags.is_empty() {
        cases.print();
        sessions.print();
    } else {
        println!("{}", json!({ "cases": cases.json(), "transcripts": sessions.json() }));
    }
    Ok(())
}

/// Results on the labelled cases.
#[derive(Default)]
struct Cases {
    /// Secrets found and all secrets, by rule.
    found: BTreeMap<String, (usize, usize)>,
    n_negatives: usize,
    alarms: Vec<String>,
}

impl Cases {
    fn measure(file: &Path) -> Result<Self, Failure> {
        let mut cases = Self::default();
        let bytes = unpacked(file).map_err(|error| format!("{}: {error}", file.display()))?;
        for line in String::from_utf8(bytes)?.lines() {
            let row: Value = serde_json::from_str(line)?;
            let field =
                |keys: &[&str]| keys.iter().find_map(|key| row.get(*key)?.as_str()).unwrap_or_default().to_owned();
            let decoded = |keys: &[&str]| -> Result<String, Failure> {
                Ok(String::from_utf8_lossy(&BASE64.decode(field(keys).as_bytes())?).into_owned())
            };
            let (rule, text, secret) = (field(&["rule", "family"]), decoded(&["b64", "text"])?, decoded(&["secret"])?);
            let found = Redactor::shared().find(&text);
            if row.get("label").and_then(Value::as_i64) == Some(1) {
                let (n_found, n_all) = cases.found.entry(rule).or_default();
                *n_found += usize::from(!found.is_empty() && is_gone(&secret, &Redactor::shared().redact(&text)));
                *n_all += 1;
            } else {
                cases.n_negatives += 1;
                if let Some(first) = found.first() {
                    cases.alarms.push(format!("{rule}: {}", masked(&text, first)));
                }
            }
        }
        Ok(cases)
    }

    fn totals(&self) -> (usize, usize) {
        self.found.values().fold((0, 0), |(found, all), one| (found + one.0, all + one.1))
    }

    fn print(&self) {
        let (n_found, n_all) = self.totals();
        println!("found {n_found} of {n_all} secrets ({:.1}%)", percent(n_found, n_all));
        let whole = self.found.values().filter(|(found, all)| found == all).count();
        println!("  {whole} of {} rules whole; the others, found of all:", self.found.len());
        for (rule, (found, all)) in self.found.iter().filter(|(_, (found, all))| found < all) {
            println!("    {rule} {found}/{all}");
        }
        let (n_alarms, n_negatives) = (self.alarms.len(), self.n_negatives);
        println!("false alarms {n_alarms} of {n_negatives} negatives ({:.1}%)", percent(n_alarms, n_negatives));
        self.alarms.iter().for_each(|alarm| println!("    {alarm}"));
    }

    fn json(&self) -> Value {
        let (n_found, n_secrets) = self.totals();
        let rules: BTreeMap<&String, Value> =
            self.found.iter().map(|(rule, (found, all))| (rule, json!({ "found": found, "all": all }))).collect();
        json!({
            "n_secrets": n_secrets, "n_found": n_found, "recall": percent(n_found, n_secrets) / 100.0,
            "n_negatives": self.n_negatives, "n_alarms": self.alarms.len(),
            "false_alarms": percent(self.alarms.len(), self.n_negatives) / 100.0,
            "alarms": self.alarms, "rules": rules,
        })
    }
}

/// Results on the texts of sessions.
#[derive(Default)]
struct Sessions {
    texts: BTreeSet<String>,
    /// The first secret of each flagged text, masked.
    flagged: Vec<String>,
}

impl Sessions {
    fn measure(paths: &[String]) -> Result<Self, Failure> {
        let mut sessions = Self::default();
        for file in paths.iter().map(|path| files(Path::new(path))).collect::<Result<Vec<_>, _>>()?.concat() {
            sessions.read(&unpacked(&file)?).map_err(|error| format!("{}: {error}", file.display()))?;
        }
        for text in &sessions.texts {
            if let Some(first) = Redactor::shared().find(text).first() {
                sessions.flagged.push(format!("{} in a text of {} bytes", masked(text, first), text.len()));
            }
        }
        Ok(sessions)
    }

    fn read(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let rows = String::from_utf8_lossy(bytes);
        let mut rows = rows.lines().map_while(|line| serde_json::from_str::<Value>(line).ok()).peekable();
        if rows.peek().is_some_and(|row| row.get("turns").is_some()) {
            for turn in rows.flat_map(|row| row.get("turns").and_then(Value::as_array).cloned().unwrap_or_default()) {
                self.strings(&turn);
            }
            return Ok(());
        }
        for turn in TranscriptReader::new().read(bytes, Format::Auto)?.transcript.turns {
            match turn {
                Turn::User(text) | Turn::Assistant(text) => self.text(text),
                Turn::ToolCall(call) => {
                    self.strings(&call.input);
                    self.text(call.result.unwrap_or_default());
                }
                Turn::System(_) => {}
            }
        }
        Ok(())
    }

    fn text(&mut self, text: String) {
        if !text.trim().is_empty() {
            self.texts.insert(text);
        }
    }

    /// Adds each string of a value as a text.
    fn strings(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.text(text.clone()),
            Value::Array(list) => list.iter().for_each(|value| self.strings(value)),
            Value::Object(row) => row.values().for_each(|value| self.strings(value)),
            _ => {}
        }
    }

    fn print(&self) {
        if self.texts.is_empty() {
            return;
        }
        let (n_flagged, n_texts) = (self.flagged.len(), self.texts.len());
        let per_thousand = percent(n_flagged, n_texts) * 10.0;
        println!(
            "flagged {n_flagged} of {n_texts} distinct texts of sessions ({per_thousand:.2} of 1,000), for a person to judge"
        );
        self.flagged.iter().for_each(|one| println!("    {one}"));
    }

    fn json(&self) -> Value {
        let (n_flagged, n_texts) = (self.flagged.len(), self.texts.len());
        json!({
            "n_texts": n_texts, "n_flagged": n_flagged,
            "flagged_of_1000": percent(n_flagged, n_texts) * 10.0, "flagged": self.flagged,
        })
    }
}

/// Whether neither half of the secret remains; true if it is empty.
fn is_gone(secret: &str, redacted: &str) -> bool {
    let Some((middle, _)) = secret.char_indices().nth(secret.chars().count() / 2) else { return true };
    let (head, tail) = secret.split_at(middle);
    !redacted.contains(head) && !redacted.contains(tail)
}

/// The rule, the length and the first two characters.
fn masked(text: &str, found: &Secret<'_>) -> String {
    let secret = text.get(found.range.clone()).unwrap_or_default();
    let head: String = secret.chars().take(2).collect();
    format!("{} took {} characters, {head:?}…", found.rule, secret.chars().count())
}

#[expect(clippy::cast_precision_loss, reason = "a percentage to print")]
fn percent(part: usize, all: usize) -> f64 {
    if all == 0 { 0.0 } else { part as f64 * 100.0 / all as f64 }
}
