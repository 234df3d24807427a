//! Builds the turns of a transcript; used by the reader of every format.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use chrono::DateTime;
use serde_json::Value;

use super::clip::clip;
use super::content::{ContentPart, has_results, parts};
use super::{Owner, ReadLimits, ReadReport};
use crate::injected::{ends_command, is_command, is_not_made, said_at_refusal, split};
use crate::outcome::{Recorded, error_span, status_of};
use crate::{Status, ToolCall, Transcript, Turn};

/// A transcript under construction, and its report.
pub(super) struct Recorder {
    pub(super) transcript: Transcript,
    pub(super) report: ReadReport,
    limits: ReadLimits,
    /// False if a program wrote what has the user's role.
    pub(super) has_person: bool,
    /// True after a slash command, until its output, the agent's answer or an interruption: the harness puts the command's text there.
    follows_command: bool,
    /// The folder that the newest record names.
    folder: String,
    /// Calls without a result yet: their indexes among the turns, oldest first. Some agents use an id several times.
    open: HashMap<String, VecDeque<usize>>,
    /// Every call and every text with a message id, so that a repeated history is recorded once.
    seen: HashSet<u64>,
    /// What is kept so far.
    pub(super) kept: Kept,
}

/// The size of the turns that are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) n_turns: usize,
    pub(super) n_bytes: usize,
}

impl Recorder {
    pub(super) fn new(report: ReadReport, limits: ReadLimits) -> Self {
        Self {
            transcript: Transcript::default(),
            has_person: report.owner == Owner::Person,
            report,
            limits,
            follows_command: false,
            folder: String::new(),
            open: HashMap::new(),
            seen: HashSet::new(),
            kept: Kept::default(),
        }
    }

    /// True if no more turns are kept.
    pub(super) fn is_full(&self) -> bool {
        self.kept.n_turns >= self.limits.max_turns || self.kept.n_bytes >= self.limits.max_transcript_bytes
    }

    /// Keeps a turn, unless there are too many.
    fn keep(&mut self, turn: Turn, n_bytes: usize) {
        if self.is_full() {
            self.skip("turn past the limit");
        } else {
            self.kept.n_turns += 1;
            self.kept.n_bytes += n_bytes;
            self.transcript.turns.push(turn);
        }
    }

    pub(super) fn skip(&mut self, kind: &str) {
        self.report.skip(kind);
    }

    /// True for the first occurrence.
    pub(super) fn is_new(&mut self, what: impl Hash) -> bool {
        let mut hasher = DefaultHasher::new();
        what.hash(&mut hasher);
        self.seen.insert(hasher.finish())
    }

    /// Sets session, project and start from the first record that gives each.
    pub(super) fn header(&mut self, session: Option<&Value>, project: Option<&Value>, time: Option<&Value>) {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(|text| text.chars().take(1_024).collect());
        if self.transcript.session.is_empty() {
            self.transcript.session = text(session).unwrap_or_default();
        }
        if let Some(folder) = text(project) {
            self.folder = folder;
        }
        if self.transcript.project.is_empty() {
            self.transcript.project.clone_from(&self.folder);
        }
        if self.transcript.started.is_none() {
            let time = time.and_then(Value::as_str);
            self.transcript.started = time.and_then(|time| DateTime::parse_from_rfc3339(time).ok());
        }
    }

    /// A message with the role user: text of a person becomes a user turn, all other text a system turn. `kinds` are the types
    /// of the parts that a person's text can be in.
    pub(super) fn user(&mut self, content: &Value, kinds: &[&str]) {
        let mut typed = Vec::new();
        let parts = parts(content, kinds);
        let begins =
            |test: fn(&str) -> bool| parts.iter().any(|part| matches!(part, ContentPart::Text(text) if test(text)));
        let (has_command, has_end) = (begins(is_command), begins(ends_command));
        let mut is_harness_s = !self.has_person || has_results(content) || (self.follows_command && !has_command);
        for part in parts {
            match part {
                // What is beside a command, and what follows it before the agent answers, is the command's own text.
                ContentPart::Text(text) if is_harness_s || (has_command && !is_command(text)) => self.system(text),
                ContentPart::Text(text) => {
                    let split = split(text);
                    split.injected.iter().for_each(|injected| self.system(injected));
                    // What the harness did not end in one part, it goes on with in the next.
                    is_harness_s = split.is_open;
                    typed.extend(Some(split.typed).filter(|typed| !typed.is_empty()));
                }
                ContentPart::Other(kind) if kind.ends_with("tool_result") => {}
                ContentPart::Other(kind) => self.skip(&format!("part {kind}")),
            }
        }
        self.follows_command = has_command || (self.follows_command && !has_end);
        self.typed(&typed.join("\n"));
    }

    /// A message that the record itself says is the harness's. After a slash command it is the command's text, and the next message
    /// is not.
    pub(super) fn harness(&mut self, content: &Value) {
        self.say(content, Self::system);
        self.follows_command = false;
    }

    /// Records the text of a content with one of the methods below.
    pub(super) fn say(&mut self, content: &Value, write: fn(&mut Self, &str)) {
        let text = text_of(content, self);
        write(self, &text);
    }

    /// Records what a person typed, clipped to [`ReadLimits::max_user_bytes`].
    fn typed(&mut self, text: &str) {
        if !text.trim().is_empty() {
            let text = self.clipped(text, self.limits.max_user_bytes);
            let n_bytes = text.len();
            self.keep(Turn::User(text), n_bytes);
        }
    }

    pub(super) fn assistant(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.follows_command = false;
            let text = self.clipped(text.trim(), self.limits.max_kept_bytes);
            let n_bytes = text.len();
            self.keep(Turn::Assistant(text), n_bytes);
        }
    }

    pub(super) fn system(&mut self, text: &str) {
        if !text.trim().is_empty() {
            let text = self.clipped(text.trim(), self.limits.max_kept_bytes);
            let n_bytes = text.len();
            self.keep(Turn::System(text), n_bytes);
        }
    }

    /// Records a call. Its result, found by the id, may follow later.
    pub(super) fn call(&mut self, id: &str, tool: &str, mut input: Value) {
        self.follows_command = false;
        // A repeated history contains the same call; a different call with the same id is another call.
        let is_new_id = id.is_empty() || self.is_new(("call", id));
        let is_new_call = id.is_empty() || self.is_new(("call", id, tool, input.to_string()));
        if !is_new_id && !is_new_call {
            self.skip("repeated call");
            return;
        }
        self.clip_strings(&mut input);
        // A call in a folder outside of the project says so: its paths are not the project's.
        if !Path::new(&self.folder).starts_with(&self.transcript.project)
            && let Some(row) = input.as_object_mut()
        {
            row.entry("cwd").or_insert_with(|| self.folder.clone().into());
        }
        let tool = tool.chars().take(256).collect();
        let (n_bytes, n_turns) = (input.to_string().len(), self.transcript.turns.len());
        self.keep(Turn::ToolCall(ToolCall { tool, input, result: None, status: Status::Unknown }), n_bytes);
        if !id.is_empty() && self.transcript.turns.len() > n_turns {
            let place = self.transcript.turns.len() - 1;
            self.open.entry(id.to_owned()).or_default().push_back(place);
        }
    }

    /// Allows an id to be used again, in formats without ids of their own.
    pub(super) fn forget(&mut self, id: &str) {
        let mut hasher = DefaultHasher::new();
        ("call", id).hash(&mut hasher);
        self.seen.remove(&hasher.finish());
        self.open.remove(id);
    }

    /// Records the result of a call. `told` is the status in the record; none if it has none.
    pub(super) fn result(&mut self, id: &str, output: &str, told: Option<Status>) {
        let place = self.open.get_mut(id).and_then(VecDeque::pop_front);
        let Some(place) = place else {
            let kind = if self.is_new(("call", id)) { "result without its call" } else { "repeated result" };
            self.skip(kind);
            return;
        };
        let keep = error_span(output);
        let max = self.limits.max_kept_bytes;
        let cut = clip(output, max, keep);
        self.report.n_cut += u64::from(cut.is_some());
        if let Some(Turn::ToolCall(call)) = self.transcript.turns.get_mut(place) {
            let recorded = match told {
                _ if is_not_made(output) => Recorded::Status(Status::Unknown),
                Some(status) => Recorded::Status(status),
                None if is_terminal(call) => Recorded::NoneOfCommand,
                None => Recorded::NoneOfOther,
            };
            call.status = status_of(output, recorded);
            let kept = cut.unwrap_or_else(|| output.to_owned());
            self.kept.n_bytes += kept.len();
            call.result = Some(kept);
        }
        if self.has_person && is_not_made(output) {
            self.typed(said_at_refusal(output).unwrap_or_default());
        }
    }

    pub(super) fn finish(mut self) -> (Transcript, ReadReport) {
        let calls = self.transcript.turns.iter().filter_map(Turn::as_call);
        self.report.n_unanswered = calls.filter(|call| call.result.is_none()).count() as u64;
        (self.transcript, self.report)
    }

    fn clipped(&mut self, text: &str, max: usize) -> String {
        let cut = clip(text, max, None);
        self.report.n_cut += u64::from(cut.is_some());
        cut.unwrap_or_else(|| text.to_owned())
    }

    fn clip_strings(&mut self, value: &mut Value) {
        match value {
            Value::String(text) if text.len() > self.limits.max_kept_bytes => {
                *text = self.clipped(text, self.limits.max_kept_bytes);
            }
            Value::Array(list) => list.iter_mut().for_each(|item| self.clip_strings(item)),
            Value::Object(row) => row.values_mut().for_each(|item| self.clip_strings(item)),
            _ => {}
        }
    }
}

/// True for a call that runs a command, by its input, otherwise by its name.
fn is_terminal(call: &ToolCall) -> bool {
    let has_command = ["command", "cmd"].iter().any(|key| call.input.get(key).is_some());
    let tool = call.tool.to_lowercase();
    has_command || ["shell", "bash", "terminal", "exec"].iter().any(|name| tool.contains(name))
}

/// The text of a content: a string, or the text parts of a list, joined by newlines. Other parts are counted as skipped.
pub(super) fn text_of(content: &Value, recorder: &mut Recorder) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let mut texts: Vec<&str> = Vec::new();
            for part in parts {
                match part.get("text").or(Some(part)).and_then(Value::as_str) {
                    Some(text) => texts.push(text),
                    None => recorder.skip(&format!("part {}", str_of(part, "type"))),
                }
            }
            texts.join("\n")
        }
        Value::Object(part) => part.get("text").and_then(Value::as_str).unwrap_or_default().to_owned(),
        _ => String::new(),
    }
}

/// A text field; empty if it is missing.
pub(super) fn str_of<'v>(record: &'v Value, key: &str) -> &'v str {
    record.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A boolean field; false if it is missing.
pub(super) fn is_set(record: &Value, key: &str) -> bool {
    record.get(key).and_then(Value::as_bool).unwrap_or_default()
}

/// Arguments that are JSON within a string, as providers send them.
pub(super) fn arguments(value: Option<&Value>) -> Value {
    match value {
        Some(Value::String(text)) => {
            super::record::parse(text).map_or_else(|_| Value::String(text.clone()), |(value, _)| value)
        }
        Some(value) => value.clone(),
        None => Value::Null,
    }
}

#[cfg(test)]
mod tests;
