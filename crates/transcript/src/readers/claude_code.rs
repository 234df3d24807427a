//! Claude Code's session files: one JSON object per line.
//!
//! | record | becomes |
//! |---|---|
//! | `user` with typed text | a user turn |
//! | `user` whose record says that a program wrote it, or injected text | a system turn |
//! | `user` with `tool_result` blocks | the results of calls, found by `tool_use_id` |
//! | `assistant` | assistant turns and calls; one message may be spread over several records with one `message.id` |
//! | `attachment` of type `queued_command`, mode `prompt` | a user turn: typed while the agent worked, in no other record |
//! | anything else (`progress`, `file-history-snapshot`, `summary`, `system`, …) | skipped and counted |
//!
//! Status: `is_error` where it is given; without it the harness reports success (reading and editing tools), but for
//! `interrupted`, which is neither. A call that a person refused, or that fell with a sibling, was never made: unknown;
//! what they said instead is a user turn.
//!
//! Sidechains are another agent's conversation: skipped in a person's session; a file of nothing else is a sub-agent's and
//! is read as [`Owner::Agent`]. Records with a `uuid` seen before, calls with an id seen before and texts repeated within a
//! message id are one record written again by a resumed session. Branches that a person rewound are kept: they happened.

use serde_json::Value;

use super::anthropic::{blocks, ended};
use super::content::{has_results, is_of_program};
use super::recorder::{Recorder, is_set, str_of};
use super::{Owner, ReadLimits, ReadReport};
use crate::Status;

/// The two conversations that a file can contain, until its owner is known.
pub(super) struct ClaudeCode {
    /// The sidechain, as long as the file has no other records.
    side: Option<Box<Recorder>>,
    n_side: u64,
}

impl ClaudeCode {
    pub(super) fn new(limits: ReadLimits, report: &ReadReport) -> Self {
        let report = ReadReport { owner: Owner::Agent, ..report.clone() };
        Self { side: Some(Box::new(Recorder::new(report, limits))), n_side: 0 }
    }

    pub(super) fn read(&mut self, record: &Value, main: &mut Recorder) {
        let kind = str_of(record, "type");
        if !matches!(kind, "user" | "assistant" | "attachment") {
            main.skip(if kind.is_empty() { "no type" } else { kind });
            return;
        }
        let recorder = match &mut self.side {
            Some(side) if is_set(record, "isSidechain") => {
                self.n_side += 1;
                side.as_mut()
            }
            None if is_set(record, "isSidechain") => {
                main.skip("sidechain");
                return;
            }
            _ => &mut *main,
        };
        if let Some(uuid) = record.get("uuid").and_then(Value::as_str)
            && !recorder.is_new(("record", uuid))
        {
            recorder.skip("repeated record");
            return;
        }
        recorder.header(record.get("sessionId"), record.get("cwd"), record.get("timestamp"));
        turn(kind, record, recorder);
        if !is_set(record, "isSidechain") && !main.transcript.turns.is_empty() && self.side.take().is_some() {
            (0..self.n_side).for_each(|_| main.skip("sidechain"));
        }
    }

    /// The person's session; if there is none, the sub-agent's.
    pub(super) fn finish(self, main: Recorder) -> Recorder {
        match self.side {
            Some(mut side) if main.transcript.turns.is_empty() && self.n_side > 0 => {
                side.report.n_records = main.report.n_records;
                side.report.n_bytes = main.report.n_bytes;
                side.report.last_record = main.report.last_record;
                side.report.n_broken = main.report.n_broken;
                side.report.broken.clone_from(&main.report.broken);
                for (kind, n) in main.report.skipped {
                    *side.report.skipped.entry(kind).or_default() += n;
                }
                *side
            }
            _ => main,
        }
    }
}

fn turn(kind: &str, record: &Value, recorder: &mut Recorder) {
    let missing = Value::Null;
    if kind == "attachment" {
        return attachment(record, recorder);
    }
    let message = record.get("message").unwrap_or(&missing);
    let content = message.get("content").unwrap_or(&missing);
    if kind == "user" && !has_results(content) && is_of_program(record) {
        return recorder.harness(content);
    }
    let id = str_of(message, "id");
    if kind == "assistant" && !id.is_empty() && is_repeated(id, content, recorder) {
        recorder.skip("repeated text");
        return;
    }
    let was_interrupted = record.get("toolUseResult").is_some_and(|result| is_set(result, "interrupted"));
    blocks(kind, content, recorder, |block| match block.get("is_error").and_then(Value::as_bool) {
        _ if was_interrupted => Some(Status::Unknown),
        told => Some(ended(told.unwrap_or_default())),
    });
}

/// What a person typed while the agent worked.
fn attachment(record: &Value, recorder: &mut Recorder) {
    let missing = Value::Null;
    let attachment = record.get("attachment").unwrap_or(&missing);
    let is_prompt = str_of(attachment, "type") == "queued_command" && str_of(attachment, "commandMode") == "prompt";
    if is_prompt && !is_of_program(attachment) && !is_of_program(record) {
        return recorder.user(attachment.get("prompt").unwrap_or(&missing), &["text"]);
    }
    recorder.skip(&format!("attachment {}", str_of(attachment, "type")));
}

/// True if the content is only text that this message contained before.
fn is_repeated(id: &str, content: &Value, recorder: &mut Recorder) -> bool {
    let Value::Array(list) = content else { return false };
    let mut n_new = list.len();
    for block in list.iter().filter(|block| str_of(block, "type") == "text") {
        n_new -= usize::from(!recorder.is_new(("text", id, str_of(block, "text"))));
    }
    n_new == 0 && !list.is_empty()
}
