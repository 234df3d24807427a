//! Sessions of real data.

use std::fs;
use std::path::PathBuf;

use adage::transcript::{Format, Owner, Reading, Status, ToolCall, Transcript, TranscriptReader, Turn, error_line};
use serde_json::Value;

use super::arbitrary::Chunked;
use super::{data, gunzipped, read, say, specstory};

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
