//! Readers of session files, which produce a [`Transcript`] (docs/spec/capture.md, 1.2 and 1.6).
//!
//! A source is read once, front to back, one line or message at a time. The texts that people typed and the heads and tails of
//! the rest are kept, so that the memory used depends on the conversation and not on printed output. A malformed line is
//! reported with its number, and reading continues with the next one. The formats are described in their modules.

mod anthropic;
mod claude_code;
mod clip;
mod codex;
mod content;
mod detect;
mod document;
mod format;
mod gemini;
mod lines;
mod openai;
mod pi;
mod record;
mod recorder;
mod report;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Cursor, Read};

use serde_json::Value;

use self::claude_code::ClaudeCode;
use self::codex::Codex;
use self::detect::{Layout, looked_at};
use self::gemini::Gemini;
use self::lines::{LineRead, next_line};
use self::recorder::Recorder;
use crate::error::Error;
use crate::mending::mended;

pub use format::Format;
pub use report::{Broken, BrokenReason, Owner, ReadReport, Reading};

/// Limits of how much of a source is read and kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// The maximum bytes of one line, or of one message of a document. A longer line is reported and skipped; a longer message
    /// ends the document. Default 16 MiB.
    pub max_record_bytes: usize,
    /// The maximum bytes read of a source; if it is longer, that is reported. Default 2 GiB.
    pub max_source_bytes: u64,
    /// The maximum bytes kept of one text typed by a person; a longer text keeps its head and tail. Default 1 MiB.
    pub max_user_bytes: usize,
    /// The maximum bytes kept of a tool result, of each text in a call's input, and of an assistant or system turn: half for
    /// the head, half for the tail, plus the line with the error. Default 8 KiB.
    pub max_kept_bytes: usize,
    /// The maximum turns kept of a session; reading ends there, and that is reported. A compressed file of a megabyte can
    /// hold millions. Default 100,000.
    pub max_turns: usize,
    /// The maximum bytes kept of a session, of all turns together; reading ends there, and that is reported. Default 128 MiB.
    pub max_transcript_bytes: usize,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self {
            max_record_bytes: 16 << 20,
            max_source_bytes: 2 << 30,
            max_user_bytes: 1 << 20,
            max_kept_bytes: 8 << 10,
            max_turns: 100_000,
            max_transcript_bytes: 128 << 20,
        }
    }
}

/// Reads session files of agents.
///
/// ```
/// use adage_transcript::{Format, TranscriptReader, Turn};
/// let source = r#"[{"role": "user", "content": "no, use pnpm"}, {"role": "assistant", "content": "Right."}]"#;
/// let reading = TranscriptReader::new().read(source.as_bytes(), Format::Auto)?;
/// assert_eq!(reading.report.format, Format::OpenAi);
/// assert_eq!(reading.transcript.turns[0], Turn::User("no, use pnpm".into()));
/// # Ok::<(), adage_transcript::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct TranscriptReader {
    limits: ReadLimits,
}

impl TranscriptReader {
    /// A reader with the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same reader with other limits.
    #[must_use]
    pub fn with_limits(self, limits: ReadLimits) -> Self {
        Self { limits }
    }

    /// Reads a session to its end. A source without turns gives an empty transcript; see the report for the cause.
    ///
    /// # Errors
    /// [`Error::UnknownFormat`] if the format is [`Format::Auto`] and the first records match no format, or there are no
    /// records; [`Error::Source`] if reading the source fails.
    pub fn read(&self, source: impl Read, format: Format) -> Result<Reading, Error> {
        let max = self.limits.max_source_bytes;
        let mut source = source.take(max);
        let session = self.session(&mut source, format);
        let n_bytes = max - source.limit();
        let failed = |source| Error::Source { n_bytes, source };
        let mut session = session.map_err(failed)??;
        let mut more = source.into_inner().take(u64::from(n_bytes == max));
        if more.read_to_end(&mut Vec::new()).map_err(failed)? > 0 {
            session.recorder.report.broken(0, BrokenReason::SourceTooLong { max });
        }
        session.recorder.report.n_bytes = n_bytes;
        Ok(session.finish())
    }

    /// The outer error is that of the source.
    fn session(&self, source: impl Read, format: Format) -> std::io::Result<Result<Session, Error>> {
        let mut source = BufReader::with_capacity(1 << 16, source);
        let (peeked, looks) = looked_at(&mut source, format, self.limits.max_record_bytes)?;
        let Some(format) = looks.format else { return Ok(Err(Error::UnknownFormat { n_bytes: peeked.len() })) };
        let mut session = Session::new(format, self.limits);
        let source = Cursor::new(peeked).chain(source);
        match looks.layout {
            Layout::Lines => session.lines(source, 1),
            Layout::Document => session.document(source),
        }?;
        Ok(Ok(session))
    }
}

/// A session that is being read: the state of its format, and the transcript so far.
struct Session {
    records: Records,
    recorder: Recorder,
    limits: ReadLimits,
    /// True once a record was left out because too much is kept.
    is_cut: bool,
}

enum Records {
    ClaudeCode(ClaudeCode),
    Codex(Codex),
    Gemini(Gemini),
    Pi,
    OpenAi,
    Anthropic,
}

impl Session {
    fn new(format: Format, limits: ReadLimits) -> Self {
        let report = ReadReport::new(format);
        let records = match format {
            Format::ClaudeCode => Records::ClaudeCode(ClaudeCode::new(limits, &report)),
            Format::Codex => Records::Codex(Codex::default()),
            Format::Gemini => Records::Gemini(Gemini::default()),
            Format::Pi => Records::Pi,
            Format::Anthropic => Records::Anthropic,
            Format::OpenAi | Format::Auto => Records::OpenAi,
        };
        Self { records, recorder: Recorder::new(report, limits), limits, is_cut: false }
    }

    fn lines(&mut self, mut source: impl BufRead, first: u64) -> std::io::Result<()> {
        let mut bytes = Vec::new();
        for number in first.. {
            match next_line(&mut source, &mut bytes, self.limits.max_record_bytes)? {
                LineRead::End => break,
                LineRead::TooLong => {
                    self.recorder.report.broken(number, BrokenReason::TooLong { max: self.limits.max_record_bytes });
                }
                LineRead::Whole => self.line(&String::from_utf8_lossy(&bytes), number),
            }
            if self.is_cut {
                break;
            }
        }
        Ok(())
    }

    fn line(&mut self, line: &str, number: u64) {
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() {
            return;
        }
        let mended = |error| {
            let mut repairs = BTreeSet::new();
            let text = mended(line, &mut repairs);
            if repairs.is_empty() { Err(error) } else { record::parse(&text) }
        };
        match record::parse(line).or_else(mended) {
            Ok((value, is_whole)) => self.value(value, is_whole, number),
            Err(error) => self.recorder.report.broken(number, BrokenReason::NotJson(adage_redact::json_error(&error))),
        }
    }

    /// Reads a source that is a single document.
    fn document(&mut self, source: impl BufRead) -> std::io::Result<()> {
        let max = self.limits.max_record_bytes;
        let end = document::read(source, max, &mut |value, is_whole, line| self.value(value, is_whole, line))?;
        if let Some((line, reason)) = end {
            self.recorder.report.broken(line, reason);
        }
        Ok(())
    }

    /// A record, or a list or document of records on one line.
    fn value(&mut self, value: Value, is_whole: bool, line: u64) {
        if !is_whole {
            self.recorder.skip("values past the 65536th of a record");
        }
        match value {
            Value::Array(list) => list.into_iter().for_each(|value| self.record(&value, line)),
            Value::Object(mut row) => {
                let messages = match row.remove("messages") {
                    Some(Value::Array(messages)) => messages,
                    Some(other) => {
                        row.insert("messages".to_owned(), other);
                        Vec::new()
                    }
                    None => Vec::new(),
                };
                if messages.is_empty() || !row.is_empty() {
                    self.record(&Value::Object(row), line);
                }
                for message in &messages {
                    self.record(message, line);
                }
            }
            other => self.record(&other, line),
        }
    }

    fn record(&mut self, record: &Value, line: u64) {
        if self.recorder.is_full() {
            if !std::mem::replace(&mut self.is_cut, true) {
                let ReadLimits { max_turns, max_transcript_bytes: max_bytes, .. } = self.limits;
                self.recorder.report.broken(line, BrokenReason::TooMuchKept { max_turns, max_bytes });
            }
            return;
        }
        if !record.is_object() {
            self.recorder.report.broken(line, BrokenReason::NotAnObject);
            return;
        }
        self.recorder.report.n_records += 1;
        for time in ["/timestamp", "/lastUpdated", "/$set/lastUpdated"] {
            self.recorder.report.at(record.pointer(time));
        }
        match &mut self.records {
            Records::ClaudeCode(claude) => claude.read(record, &mut self.recorder),
            Records::Codex(codex) => codex.read(record, &mut self.recorder),
            Records::Gemini(gemini) => gemini.read(record, &mut self.recorder),
            Records::Pi => pi::read(record, &mut self.recorder),
            Records::OpenAi => openai::read(record, &mut self.recorder),
            Records::Anthropic => anthropic::read(record, &mut self.recorder),
        }
    }

    fn finish(mut self) -> Reading {
        let recorder = match self.records {
            Records::ClaudeCode(claude) => claude.finish(self.recorder),
            Records::Gemini(gemini) => {
                gemini.finish(&mut self.recorder);
                self.recorder
            }
            Records::Codex(_) | Records::Pi | Records::OpenAi | Records::Anthropic => self.recorder,
        };
        let (transcript, report) = recorder.finish();
        Reading { transcript, report }
    }
}
