//! Limits on what is kept of a session.

use adage::transcript::{BrokenReason, Format, ReadLimits, TranscriptReader, Turn};
use serde_json::{Value, json};

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
