//! Session files: fixtures of every format with their outlines, hostile and malformed sources, memory use, and (if `ADAGE_DATA`
//! names the folder) real sessions, which are not part of the repository.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use adage::transcript::{
    BrokenReason, Error, Format, Owner, ReadLimits, Reading, Status, ToolCall, Transcript, TranscriptReader, Turn,
    error_line,
};
use flate2::read::GzDecoder;
use proptest::prelude::*;
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

fn arb_json() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        Just("type"),
        Just("role"),
        Just("content"),
        Just("message"),
        Just("payload"),
        Just("messages"),
        Just("$set"),
        Just("$rewindTo"),
        Just("id"),
        Just("call_id"),
        Just("toolCalls"),
        Just("tool_calls"),
        Just("function"),
        Just("output"),
        Just("uuid"),
        Just("isSidechain"),
        Just("text"),
        Just("tool_use_id"),
        Just("result"),
    ];
    let word = prop_oneof![
        Just("user"),
        Just("assistant"),
        Just("tool"),
        Just("gemini"),
        Just("response_item"),
        Just("message"),
        Just("function_call"),
        Just("function_call_output"),
        Just("tool_use"),
        Just("tool_result"),
        Just("text"),
        Just("attachment"),
        Just("<system-reminder>x"),
        Just("{\"output\": \"x\"}"),
        Just("1"),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        word.prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|row| Value::Object(row.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())),
        ]
    })
}

fn named() -> impl Iterator<Item = Format> {
    Format::ALL.into_iter().filter(|format| *format != Format::Auto)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for format in named() {
            let report = read(&bytes, format).report;
            let text = String::from_utf8_lossy(&bytes);
            let has_content = text.lines().any(|line| !line.trim_start_matches('\u{feff}').trim().is_empty());
            prop_assert!(!has_content || report.n_broken + report.n_records > 0 || text.trim_start().starts_with('['));
        }
        let _ = TranscriptReader::new().read(&bytes[..], Format::Auto);
    }

    #[test]
    fn json_never_panics(values in prop::collection::vec(arb_json(), 0..8)) {
        let lines = values.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
        for source in [lines, Value::from(values).to_string()] {
            for format in named() {
                prop_assert_eq!(read(source.as_bytes(), format), read(source.as_bytes(), format));
            }
        }
    }

    #[test]
    fn cuts_and_chunks_never_panic(cut in 0..1_000_usize, chunk in 1..700_usize, which in 0..8_usize) {
        let mut names: Vec<PathBuf> = fs::read_dir(fixtures()).unwrap().map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension != "outline")).collect();
        names.sort();
        let whole = fs::read(&names[which]).unwrap();
        let chunked = |source: &[u8]| TranscriptReader::new().read(Chunked(source, chunk), Format::Auto);
        prop_assert_eq!(chunked(&whole).unwrap(), read(&whole, Format::Auto));
        let _ = chunked(&whole[..whole.len() * cut / 1_000]);
    }
}

/// Returns at most this many bytes per read.
struct Chunked<'s>(&'s [u8], usize);

impl Read for Chunked<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let room = into.len().min(self.1);
        self.0.read(&mut into[..room])
    }
}

/// A session of this many bytes, generated as it is read: calls with results of 40 KB, texts, an occasional user turn.
struct Synthetic {
    n_left: usize,
    n_made: usize,
    line: io::Cursor<Vec<u8>>,
}

impl Read for Synthetic {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.line.position() as usize >= self.line.get_ref().len() {
            if self.n_left == 0 {
                return Ok(0);
            }
            self.n_made += 1;
            let n = self.n_made;
            let (role, content) = match n % 20 {
                0 => ("user", json!(format!("no, use the other one in case {n}"))),
                odd if odd % 2 == 1 => (
                    "assistant",
                    json!([{"type": "tool_use", "id": format!("t{n}"), "name": "Bash", "input": {"command": "make"}}]),
                ),
                _ => (
                    "user",
                    json!([{"type": "tool_result", "tool_use_id": format!("t{}", n - 1), "content": "a line of output\n".repeat(2_400)}]),
                ),
            };
            let record =
                json!({"type": role, "uuid": n.to_string(), "sessionId": "s", "message": {"content": content}});
            let line = format!("{record}\n");
            self.n_left = self.n_left.saturating_sub(line.len());
            self.line = io::Cursor::new(line.into_bytes());
        }
        self.line.read(into)
    }
}

const CHILD: &str = "ADAGE_TEST_SYNTHETIC_MIB";

/// The peak of the process's memory, in KiB, as the kernel tells it.
#[cfg(target_os = "linux")]
fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// In a process of its own, so that the peak is this reading's. `ADAGE_BIG=1` reads 200 MiB instead of 24.
#[test]
#[cfg(target_os = "linux")]
fn a_long_session_needs_little_memory() {
    if let Some(n_mib) = std::env::var(CHILD).ok().and_then(|text| text.parse::<usize>().ok()) {
        let before = peak_kib();
        let source = Synthetic { n_left: n_mib << 20, n_made: 0, line: io::Cursor::default() };
        let reading = TranscriptReader::new().read(source, Format::Auto).unwrap();
        assert!(reading.report.n_bytes >= (n_mib << 20) as u64 && reading.report.n_broken == 0);
        assert!(reading.transcript.turns.len() > n_mib * 20);
        writeln!(io::stdout(), "\npeak {}", peak_kib() - before).unwrap();
        return;
    }
    let n_mib: u64 = if std::env::var_os("ADAGE_BIG").is_some() { 200 } else { 24 };
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["transcripts::a_long_session_needs_little_memory", "--exact", "--nocapture"])
        .env(CHILD, n_mib.to_string())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let peak = text.lines().find_map(|line| line.strip_prefix("peak ")).unwrap_or_else(|| panic!("{text}"));
    let peak: u64 = peak.parse().unwrap();
    // A fifth of the source is kept; the rules, the buffers and one line at a time come on top of it: 6 MiB, give or take half a
    // MiB from build to build and run to run.
    let max = n_mib * 1_024 * 3 / 10 + 7 * 1_024;
    assert!(peak < max, "{n_mib} MiB were read in {peak} KiB, more than {max}");
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

fn calls(transcript: &Transcript) -> impl Iterator<Item = &ToolCall> {
    transcript.turns.iter().filter_map(|turn| match turn {
        Turn::ToolCall(call) => Some(call),
        _ => None,
    })
}

#[test]
fn real_claude_code_sessions_are_read_whole() {
    let Some(folder) = data("real Claude Code sessions") else { return };
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder.join("transcripts/claude-code")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "gz"));
    paths.sort();
    let (mut n_calls, mut n_failed, mut n_user, mut n_false, mut n_missed, mut n_right) = (0, 0, 0, 0, 0, 0);
    for path in &paths {
        let bytes = gunzipped(path);
        let reading = read(&bytes, Format::Auto);
        let Reading { transcript, report, .. } = &reading;
        assert_eq!(report.format, Format::ClaudeCode);
        assert_eq!((report.n_broken, report.n_unanswered), (0, 0), "{}", path.display());
        assert_eq!(
            report.n_records as usize,
            bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count()
        );
        assert_eq!(report.owner == Owner::Agent, path.to_string_lossy().contains("__agent-"));
        assert_eq!(&TranscriptReader::new().read(Chunked(&bytes, 777), Format::Auto).unwrap(), &reading);
        for cut in [bytes.len() / 7, bytes.len() / 3, bytes.len() - 10] {
            assert!(read(&bytes[..cut], Format::ClaudeCode).report.n_broken <= 1);
        }
        for turn in &transcript.turns {
            if let Turn::User(text) = turn {
                n_user += 1;
                assert!(!text.contains("This session is being continued") && !text.starts_with('<'), "{text}");
            }
        }
        for call in calls(transcript) {
            n_calls += 1;
            n_failed += usize::from(call.status == Status::Failed);
            // Without the exit code that the harness wrote above it.
            let output = call.result.as_deref().unwrap_or_default();
            let output = if output.starts_with("Exit code ") {
                output.split_once('\n').map_or("", |(_, rest)| rest)
            } else {
                output
            };
            let says = error_line(output).is_some();
            match (call.tool == "Bash", call.status, says) {
                (true, Status::Succeeded, true) => n_false += 1,
                (true, Status::Failed, false) => n_missed += 1,
                (true, Status::Succeeded | Status::Failed, _) => n_right += 1,
                _ => {}
            }
        }
    }
    let text = format!(
        "{} files, {n_user} user turns, {n_calls} calls, {n_failed} failed; of the commands the output alone tells {n_right} \
         right, {n_false} false failures, {n_missed} missed",
        paths.len()
    );
    say(&text);
    assert_eq!((n_calls, n_user), (728, 6), "{text}");
    assert!(n_false * 50 < n_right && n_missed * 25 < n_right, "{text}");
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

#[test]
fn typed_and_injected_texts_of_real_histories_are_separated() {
    let Some(folder) = data("typed and injected turns of SpecStory histories") else { return };
    let text = gunzipped(&folder.join("transcripts/specstory/sessions.jsonl.gz"));
    let (mut n_raw, mut n_user, mut n_calls, mut n_failed) = (0, 0, 0, 0);
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let session: Value = serde_json::from_slice(line).unwrap();
        n_raw += session["turns"].as_array().unwrap().iter().filter(|turn| turn["role"] == "user").count();
        let reading = read(specstory(&session).as_bytes(), Format::Anthropic);
        assert_eq!(reading.report.n_broken, 0);
        for turn in &reading.transcript.turns {
            if let Turn::User(text) = turn {
                n_user += 1;
                assert!(!text.starts_with("<local-command") && !text.starts_with("[Request interrupted"), "{text}");
            }
        }
        n_calls += calls(&reading.transcript).filter(|call| call.input.get("command").is_some()).count();
        n_failed += calls(&reading.transcript)
            .filter(|call| call.input.get("command").is_some() && call.status == Status::Failed)
            .count();
    }
    let text =
        format!("{n_raw} user records, {n_user} typed; {n_calls} shell calls, {n_failed} failed by their output");
    say(&text);
    assert!(n_user < n_raw * 3 / 4 && n_user > n_raw / 3, "{text}");
}

#[test]
fn failing_commands_are_detected_by_their_output() {
    let Some(folder) = data("recognised failures of recorded commands") else { return };
    let text = fs::read_to_string(folder.join("commands/failures.jsonl")).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let outputs: Vec<String> = rows.map(|row| row["output"].as_str().unwrap().to_owned()).collect();
    let with_text = outputs.iter().filter(|output| !output.trim().is_empty()).count();
    let found = outputs.iter().filter(|output| error_line(output).is_some()).count();
    let text = format!("{found} of {with_text} failing outputs are recognised");
    say(&text);
    assert!(found * 100 >= with_text * 84, "{found} of {with_text}");
}

/// In every format: sessions of more turns than are kept end there, and say so.
#[test]
fn a_session_of_too_many_turns_is_read_up_to_the_limit() {
    let text = |n: usize| format!("please go on with step {n}");
    let claude = |n: usize| json!({"type": "user", "uuid": n.to_string(), "sessionId": "s", "message": {"role": "user", "content": text(n)}});
    let gemini = |n: usize| json!({"id": n.to_string(), "type": "user", "content": text(n)});
    let openai = |n: usize| json!({"role": "user", "content": text(n)});
    let rows = |row: &dyn Fn(usize) -> Value| (0..50).map(|n| row(n).to_string()).collect::<Vec<_>>();
    let lines = |row: &dyn Fn(usize) -> Value| rows(row).join("\n");
    let document = |row: &dyn Fn(usize) -> Value| format!("[{}]", rows(row).join(","));
    for (format, source) in [
        (Format::ClaudeCode, lines(&claude)),
        (Format::Gemini, lines(&gemini)),
        (Format::OpenAi, lines(&openai)),
        (Format::OpenAi, document(&openai)),
    ] {
        for (max_turns, max_transcript_bytes, expected) in [(20, 1 << 20, 20), (100, 240, 10), (50, 1 << 20, 50)] {
            let limits = ReadLimits { max_turns, max_transcript_bytes, ..ReadLimits::default() };
            let reading = TranscriptReader::new().with_limits(limits).read(source.as_bytes(), format).unwrap();
            assert_eq!(reading.transcript.turns.len(), expected, "{format:?}");
            assert_eq!(reading.transcript.turns[0], Turn::User(text(0)));
            let told =
                reading.report.broken.iter().filter(|broken| matches!(broken.reason, BrokenReason::TooMuchKept { .. }));
            assert_eq!(told.count(), usize::from(expected < 50), "{format:?}: {:?}", reading.report);
        }
    }
    // A message that is written again takes the place of the earlier one.
    let again = (0..500).map(|_| gemini(1).to_string()).collect::<Vec<_>>().join("\n");
    let limits = ReadLimits { max_turns: 20, ..ReadLimits::default() };
    let reading = TranscriptReader::new().with_limits(limits).read(again.as_bytes(), Format::Gemini).unwrap();
    assert_eq!((reading.transcript.turns.len(), reading.report.n_broken), (1, 0));
}
