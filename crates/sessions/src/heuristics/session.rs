//! A transcript as the heuristics look at it: its terminal calls in order, what was acted on, what was asked for.

use std::collections::HashSet;

use adage_transcript::command::{ChangedFiles, Effect, Purpose, Step};
use adage_transcript::{CommandLine, Status, ToolCall, Transcript, outcome};

use super::error_line::{absent_program, blames_the_command, has_place, is_complaint, never_ran};
use super::request;

/// A longer command is a script for one occasion; so is one of several lines.
pub(super) const MAX_COMMAND_CHARS: usize = 160;

/// True for a command that cannot be shown whole on one line, or that the record cut.
pub(super) fn is_script(command: &str) -> bool {
    command.chars().count() > MAX_COMMAND_CHARS || command.contains(['\n', '…'])
}

/// One call of a terminal.
pub(super) struct TerminalCall<'t> {
    /// Which turn, from 0.
    pub(super) turn: usize,
    pub(super) line: CommandLine,
    pub(super) call: &'t ToolCall,
    /// The part that can be run again unchanged, with a placeholder for the files that the session edited.
    pub(super) steps: Vec<Step>,
    ended: Status,
}

impl<'t> TerminalCall<'t> {
    fn new(turn: usize, call: &'t ToolCall, files: &ChangedFiles) -> Option<Self> {
        let line = CommandLine::parse(&call.command()?);
        let steps = line.steps(files);
        let ended = ended(call, &line, &steps);
        Some(Self { turn, line, call, steps, ended })
    }

    pub(super) fn succeeded(&self) -> bool {
        self.ended == Status::Succeeded
    }

    /// It ran, and failed.
    pub(super) fn failed(&self) -> bool {
        self.ended == Status::Failed
    }

    /// True for a command that is a script for one occasion: nobody runs it again as it is.
    pub(super) fn is_script(&self) -> bool {
        is_script(self.line.text())
    }

    pub(super) fn acts(&self) -> bool {
        self.line.effect() == Effect::Acts
    }

    pub(super) fn output(&self) -> &str {
        self.call.result.as_deref().unwrap_or_default()
    }
}

/// How a command ended, even if the recorded status is that of something else.
fn ended(call: &ToolCall, line: &CommandLine, steps: &[Step]) -> Status {
    let output = call.result.as_deref().unwrap_or_default();
    if never_ran(output) || call.status != Status::Succeeded {
        return if never_ran(output) { Status::Unknown } else { call.status };
    }
    // The status of `go build | head` is that of `head`. What only looks prints errors of others, and fails with its own.
    let has_failed = || match line.effect() {
        Effect::Acts => outcome::reads_as_failed(output),
        Effect::Looks => opens_with_own_error(line, output),
    };
    if line.hides_status() && has_failed() {
        return Status::Failed;
    }
    // A place in a file is what a build complains about.
    let is_check = steps.iter().any(|step| step.purpose == Purpose::Checks) && line.hides_status();
    if is_check && output.lines().any(is_complaint) {
        return Status::Failed;
    }
    let is_hidden = is_check && output.lines().any(has_place);
    if is_hidden || outcome::tells_of_failure(output) { Status::Unknown } else { Status::Succeeded }
}

/// True for an output that begins with what a program of the line, or the shell, says of how it was written.
fn opens_with_own_error(line: &CommandLine, output: &str) -> bool {
    const SHELLS: [&str; 4] = ["(eval)", "zsh", "bash", "sh"];
    let first = output.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let name = first.split(':').next().unwrap_or_default();
    let is_own = match absent_program(first) {
        Some(absent) => line.programs().any(|program| program == absent),
        None => SHELLS.contains(&name) || line.programs().any(|program| program == name),
    };
    is_own && blames_the_command(first)
}

/// A call that changed something: a command that acts, or an edit.
#[derive(Clone, Copy)]
pub(super) struct Act<'s, 't> {
    pub(super) turn: usize,
    pub(super) call: &'t ToolCall,
    /// None for an edit.
    pub(super) command: Option<&'s TerminalCall<'t>>,
}

impl Act<'_, '_> {
    /// The file that was edited with its folder, where the call names it.
    pub(super) fn place(&self) -> Option<String> {
        if self.command.is_none() { self.call.changed_place() } else { None }
    }

    /// The file that was edited, where the call names it.
    pub(super) fn file(&self) -> Option<String> {
        if self.command.is_none() { self.call.changed_file() } else { None }
    }
}

pub(super) struct Session<'t> {
    pub(super) transcript: &'t Transcript,
    pub(super) calls: Vec<TerminalCall<'t>>,
    /// The turns that a person typed, rising.
    user_turns: Vec<usize>,
    /// The calls that change files, by turn, rising.
    changes: Vec<(usize, &'t ToolCall)>,
}

impl<'t> Session<'t> {
    pub(super) fn new(transcript: &'t Transcript) -> Self {
        let calls = transcript.turns.iter().enumerate().filter_map(|(turn, said)| Some((turn, said.as_call()?)));
        let mut session = Self {
            transcript,
            calls: Vec::new(),
            user_turns: transcript.user_turns().map(|(turn, _)| turn).collect(),
            changes: calls.filter(|(_, call)| call.changes_files()).collect(),
        };
        let edits = session.edits(0, transcript.turns.len());
        let files: ChangedFiles = edits.into_iter().filter_map(ToolCall::changed_path).collect();
        let calls = transcript.turns.iter().enumerate().filter_map(|(turn, said)| Some((turn, said.as_call()?)));
        session.calls = calls.filter_map(|(turn, call)| TerminalCall::new(turn, call, &files)).collect();
        // A program that the session itself built is on trial.
        let built: HashSet<String> =
            session.calls.iter().flat_map(|call| &call.steps).filter_map(Step::built).collect();
        for call in &mut session.calls {
            call.steps.retain(|step| !built.contains(step.program()));
        }
        session
    }

    /// The turns that a person typed, with their numbers.
    pub(super) fn user_turns(&self) -> impl DoubleEndedIterator<Item = (usize, &'t str)> {
        self.transcript.user_turns()
    }

    /// The last user turn before a turn.
    pub(super) fn user_turn_before(&self, turn: usize) -> Option<usize> {
        let n_before = self.user_turns.partition_point(|number| *number < turn);
        self.user_turns.get(n_before.checked_sub(1)?).copied()
    }

    /// The first user turn after a turn; the end of the transcript when there is none.
    pub(super) fn user_turn_after(&self, turn: usize) -> usize {
        let n_before = self.user_turns.partition_point(|number| *number <= turn);
        self.user_turns.get(n_before).copied().unwrap_or(self.transcript.turns.len())
    }

    /// What changed something in turns `from..to`, in order.
    pub(super) fn acts(&self, from: usize, to: usize) -> Vec<Act<'_, 't>> {
        let first = self.calls.partition_point(|call| call.turn < from);
        let calls = self.calls.iter().skip(first).take_while(|call| call.turn < to);
        let commands =
            calls.filter(|call| call.acts()).map(|call| Act { turn: call.turn, call: call.call, command: Some(call) });
        let edits = self.changes_in(from, to).map(|(turn, call)| Act { turn, call, command: None });
        let mut acts: Vec<Act<'_, 't>> = commands.chain(edits).collect();
        acts.sort_by_key(|act| act.turn);
        acts
    }

    /// The calls that change files in turns `from..to`.
    fn changes_in(&self, from: usize, to: usize) -> impl Iterator<Item = (usize, &'t ToolCall)> {
        let first = self.changes.partition_point(|(turn, _)| *turn < from);
        self.changes.iter().skip(first).take_while(move |(turn, _)| *turn < to).copied()
    }

    /// The edits in turns `from..to` that did not fail.
    pub(super) fn edits(&self, from: usize, to: usize) -> Vec<&'t ToolCall> {
        self.edits_in(from, to).map(|(_, call)| call).collect()
    }

    /// The same, each with its turn.
    pub(super) fn edits_in(&self, from: usize, to: usize) -> impl Iterator<Item = (usize, &'t ToolCall)> {
        self.changes_in(from, to).filter(|(_, call)| call.status != Status::Failed)
    }

    /// True if the session wrote the file of an edit as a whole before a turn.
    pub(super) fn wrote(&self, edit: &ToolCall, turn: usize) -> bool {
        let path = edit.changed_path();
        let is_whole = |call: &ToolCall| call.replaced().is_none() && call.input.get("content").is_some();
        path.is_some() && self.edits_in(0, turn).any(|(_, call)| is_whole(call) && call.changed_path() == path)
    }

    /// The names of the files edited in turns `from..to`, each once, in order, where the calls name them.
    pub(super) fn edited_files(&self, from: usize, to: usize) -> Vec<String> {
        let mut files = Vec::new();
        for name in self.edits(from, to).into_iter().filter_map(ToolCall::changed_file) {
            if !files.contains(&name) {
                files.push(name);
            }
        }
        files
    }

    /// What the user wanted when a turn came: the last request before it that means something outside the session. One from
    /// further back than two of the user's turns is about something else. Empty when there is none.
    pub(super) fn intent(&self, turn: usize) -> String {
        const MAX_CHARS: usize = 160;
        const MAX_BACK: usize = 2;
        let n_before = self.user_turns.partition_point(|number| *number < turn);
        let before = self.user_turns.get(n_before.saturating_sub(MAX_BACK)..n_before).unwrap_or_default();
        let texts = before.iter().rev().filter_map(|number| self.transcript.turns.get(*number)?.as_user());
        // One that does not fit whole says as little as a command that does not.
        let mut requests = texts.filter_map(request::lasting);
        requests.find(|text| text.chars().count() <= MAX_CHARS).unwrap_or_default().to_owned()
    }
}
