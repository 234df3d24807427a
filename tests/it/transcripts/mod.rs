//! Session files: fixtures of every format with their outlines, hostile and malformed sources, memory use, and (if `ADAGE_DATA`
//! names the folder) real sessions, which are not part of the repository.

mod arbitrary;
mod limits;
mod measured;
#[cfg(target_os = "linux")]
mod memory;

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use adage::transcript::{
    BrokenReason, Error, Format, Owner, ReadLimits, Reading, Status, ToolCall, TranscriptReader, Turn, error_line,
};
use flate2::read::GzDecoder;
use serde_json::{Value, json};

pub(crate) fn read(source: &[u8], format: Format) -> Reading {
    TranscriptReader::new().read(source, format).unwrap()
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts")
}

/// One line per turn, and the report.
fn outline(reading: &Reading) -> String {
    let Reading { transcript, report, .. } = reading;
    let mut out = format!(
        "{} {:?} session={} project={} started={}\n",
        report.format,
        report.owner,
        transcript.session,
        transcript.project,
        transcript.started.map_or_else(|| "-".to_owned(), |time| time.to_rfc3339())
    );
    for turn in &transcript.turns {
        let _ = match turn {
            Turn::User(text) => writeln!(out, "user {text:?}"),
            Turn::Assistant(text) => writeln!(out, "assistant {text:?}"),
            Turn::ToolCall(ToolCall { tool, input, result, status }) => {
                writeln!(out, "call {tool} {input} {status:?} {result:?}")
            }
            Turn::System(text) => writeln!(out, "system {text:?}"),
        };
    }
    let _ = writeln!(out, "records {} unanswered {} cut {}", report.n_records, report.n_unanswered, report.n_cut);
    let _ = writeln!(out, "skipped {:?}", report.skipped);
    let _ = writeln!(out, "broken {:?}", report.broken);
    out
}

/// `UPDATE_GOLDEN=1` rewrites the outlines.
#[test]
fn every_format_is_read_as_outlined() {
    for (name, format) in [
        ("claude_code.jsonl", Format::ClaudeCode),
        ("codex.jsonl", Format::Codex),
        ("codex_bare.jsonl", Format::Codex),
        ("gemini.json", Format::Gemini),
        ("gemini.jsonl", Format::Gemini),
        ("openai.json", Format::OpenAi),
        ("openai.jsonl", Format::OpenAi),
        ("anthropic.json", Format::Anthropic),
    ] {
        let source = fs::read(fixtures().join(name)).unwrap();
        let reading = read(&source, Format::Auto);
        assert_eq!(reading.report.format, format, "{name}");
        assert_eq!(reading, read(&source, format), "{name}");
        assert_eq!(reading.report.n_bytes, source.len() as u64, "{name}");
        let golden = fixtures().join(format!("{name}.outline"));
        let found = outline(&reading);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&golden, &found).unwrap();
        }
        assert_eq!(found, fs::read_to_string(&golden).unwrap(), "{name}");
    }
}

#[test]
fn a_document_and_its_lines_are_the_same_session() {
    let [document, lines] = ["openai.json", "openai.jsonl"].map(|name| fs::read(fixtures().join(name)).unwrap());
    let whole = read(&document, Format::Auto).transcript;
    assert_eq!(whole, read(&lines, Format::Auto).transcript);
    let compact: Value = serde_json::from_slice(&document).unwrap();
    for source in [compact.to_string(), json!({ "messages": compact }).to_string()] {
        assert_eq!(read(source.as_bytes(), Format::Auto).transcript, whole);
    }
}

#[test]
fn a_format_has_a_name_and_an_unknown_source_none() {
    for format in Format::ALL {
        assert_eq!(format.to_string().parse::<Format>().unwrap(), format);
    }
    assert!(matches!("chatgpt".parse::<Format>(), Err(Error::NoSuchFormat { name }) if name == "chatgpt"));
    for source in ["", "  \n", "hello", "{\"a\": 1}\n{\"b\": 2}", "[1, 2]", "{}"] {
        let error = TranscriptReader::new().read(source.as_bytes(), Format::Auto).unwrap_err();
        assert!(matches!(error, Error::UnknownFormat { .. }), "{source:?}: {error}");
        assert!(read(source.as_bytes(), Format::Codex).transcript.turns.is_empty());
    }
}

#[test]
fn a_malformed_line_is_skipped() {
    let long = json!({"role": "user", "content": "x".repeat(5_000)}).to_string();
    let source = format!(
        "not json\n{{\"role\": \"user\", \"content\": \"one\"}}\n7\n{long}\n\u{feff}\n{{\"role\": \"user\", \"content\": \"cut \\ud83d\"}}\n{{\"role\""
    );
    let limits = ReadLimits { max_record_bytes: 1_000, ..ReadLimits::default() };
    let reading = TranscriptReader::new().with_limits(limits).read(source.as_bytes(), Format::OpenAi).unwrap();
    assert_eq!(reading.transcript.turns, [Turn::User("one".into()), Turn::User("cut \u{fffd}".into())]);
    let lines: Vec<u64> = reading.report.broken.iter().map(|broken| broken.line).collect();
    assert_eq!(lines, [1, 3, 4, 7]);
    assert_eq!(reading.report.broken[2].reason, BrokenReason::TooLong { max: 1_000 });
    let broken = read("nope\n".repeat(100).as_bytes(), Format::Gemini).report;
    assert_eq!((broken.n_broken, broken.broken.len()), (100, 20));
}

#[test]
fn a_truncated_document_keeps_the_messages_before_the_cut() {
    let message = |text: &str| json!({"role": "user", "content": text}).to_string();
    let source = format!("[{},\n{},\n{{\"role\": \"us", message("one"), message("two"));
    let reading = read(source.as_bytes(), Format::Auto);
    assert_eq!(reading.transcript.turns.len(), 2);
    assert!(matches!(&reading.report.broken[..], [only] if only.line == 3), "{:?}", reading.report.broken);
    let source = format!("[{},{}]", message("one"), message(&"x".repeat(10_000)));
    let limits = ReadLimits { max_record_bytes: 1_000, ..ReadLimits::default() };
    let reading = TranscriptReader::new().with_limits(limits).read(source.as_bytes(), Format::OpenAi).unwrap();
    assert_eq!(reading.transcript.turns, [Turn::User("one".into())]);
    assert_eq!(reading.report.broken[0].reason, BrokenReason::TooLong { max: 1_000 });
    let limits = ReadLimits { max_source_bytes: 60, ..ReadLimits::default() };
    let lines = format!("{}\n{}\n", message("one"), message("two"));
    let reading = TranscriptReader::new().with_limits(limits).read(lines.as_bytes(), Format::OpenAi).unwrap();
    assert_eq!(reading.transcript.turns.len(), 1);
    assert_eq!(reading.report.broken.last().unwrap().reason, BrokenReason::SourceTooLong { max: 60 });
}

#[test]
fn a_long_result_keeps_its_head_its_tail_and_its_error() {
    let output = format!("start\n{}error: in the middle\n{}end", "ok line\n".repeat(5_000), "more é\n".repeat(5_000));
    let source = json!([
        {"role": "user", "content": "é".repeat(100_000)},
        {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "bash", "arguments": "{\"command\": \"make\"}"}}]},
        {"role": "tool", "tool_call_id": "a", "content": output},
        {"role": "assistant", "content": "y ".repeat(50_000)},
    ]);
    let reading = read(source.to_string().as_bytes(), Format::Auto);
    let [Turn::User(user), Turn::ToolCall(call), Turn::Assistant(said)] = &reading.transcript.turns[..] else {
        panic!()
    };
    assert_eq!(user.len(), 200_000);
    assert!(said.len() < 9_000);
    let result = call.result.as_deref().unwrap();
    assert!(result.len() < 9_000 && result.starts_with("start\n") && result.ends_with("end"));
    assert_eq!((call.status, error_line(result)), (Status::Failed, Some("error: in the middle")));
    assert_eq!(reading.report.n_cut, 2);
}

#[test]
fn a_sub_agents_session_has_no_user_turns() {
    let source = fs::read_to_string(fixtures().join("claude_code.jsonl")).unwrap();
    let side: Vec<&str> = source.lines().filter(|line| line.contains("isSidechain")).collect();
    let reading = read(side.join("\n").as_bytes(), Format::Auto);
    assert_eq!(reading.report.owner, Owner::Agent);
    let expected = [Turn::System("look around".into()), Turn::Assistant("side".into())];
    assert_eq!(reading.transcript.turns, expected);
    for head in [
        json!({"sessionId": "s", "projectHash": "p", "kind": "subagent"}),
        json!({"type": "session_meta", "payload": {"id": "s", "source": {"subagent": "review"}}}),
    ] {
        let asked =
            json!([{"type": "user", "content": "look"}, {"type": "message", "role": "user", "content": "look"}]);
        let source = format!("{head}\n{asked}");
        let reading = read(source.as_bytes(), Format::Auto);
        assert_eq!(
            (reading.report.owner, &reading.transcript.turns[..]),
            (Owner::Agent, &[Turn::System("look".into())][..])
        );
    }
}

#[test]
fn a_source_that_fails_is_an_error() {
    struct Failing(usize);
    impl Read for Failing {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(1).ok_or_else(|| io::Error::other("gone"))?;
            into.fill(b'\n');
            Ok(into.len())
        }
    }
    for n_good in [0, 3, 40] {
        let error = TranscriptReader::new().read(Failing(n_good), Format::OpenAi).unwrap_err();
        assert!(matches!(error, Error::Source { .. }), "{error}");
    }
}

/// Straight to standard error: the test runner keeps the output of tests that pass to itself.
pub(crate) fn say(text: &str) {
    io::stderr().write_all(format!("{text}\n").as_bytes()).unwrap();
}

/// The folder of real data; without it, a message that something was not measured.
pub(crate) fn data(what: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("ADAGE_DATA").map(PathBuf::from);
    if folder.is_none() {
        let text = format!("NOT MEASURED: {what}; set ADAGE_DATA to the folder that has it");
        say(&text);
    }
    folder
}

pub(crate) fn gunzipped(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(fs::File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes
}

/// Histories of `SpecStory` as Anthropic messages.
pub(crate) fn specstory(session: &Value) -> String {
    let turns = session["turns"].as_array().unwrap().iter().enumerate().filter(|(_, turn)| turn["side"] != true);
    let messages: Vec<Value> = turns
        .flat_map(|(n, turn)| match turn["role"].as_str().unwrap() {
            "tool" => vec![
                json!({"role": "assistant", "content": [{"type": "tool_use", "id": n.to_string(), "name": turn["name"],
                    "input": if turn["type"] == "shell" { json!({"command": turn["command"]}) } else { json!({}) }}]}),
                json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": n.to_string(),
                    "content": turn.get("output").or(turn.get("text"))}]}),
            ],
            "user" => vec![json!({"role": "user", "content": turn["text"]})],
            _ => vec![json!({"role": "assistant", "content": turn["text"]})],
        })
        .collect();
    Value::from(messages).to_string()
}
