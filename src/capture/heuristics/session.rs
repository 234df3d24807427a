//! A transcript as the heuristics look at it: its terminal calls in order, what was acted on, what was asked for.

use super::error_line::never_ran;
use super::wording::{first_request, shorten};
use crate::capture::command::{CommandLine, Effect};
use crate::capture::{Status, ToolCall, Transcript, Turn, terminal};

/// A longer command is a script for one occasion.
pub(super) const MAX_COMMAND_CHARS: usize = 400;

/// One call of a terminal.
pub(super) struct TerminalCall<'t> {
    /// Which turn, from 0.
    pub(super) turn: usize,
    pub(super) line: CommandLine,
    pub(super) call: &'t ToolCall,
}

impl TerminalCall<'_> {
    pub(super) fn succeeded(&self) -> bool {
        self.call.status == Status::Succeeded && !never_ran(self.output())
    }

    /// It ran, and failed.
    pub(super) fn failed(&self) -> bool {
        self.call.status == Status::Failed && !never_ran(self.output())
    }

    /// True for a command that is a script for one occasion: nobody runs it again as it is.
    pub(super) fn is_script(&self) -> bool {
        self.line.text().chars().count() > MAX_COMMAND_CHARS
    }

    pub(super) fn acts(&self) -> bool {
        self.line.effect() == Effect::Acts
    }

    pub(super) fn output(&self) -> &str {
        self.call.result.as_deref().unwrap_or_default()
    }
}

/// A call that changed something: a command that acts, or an edit.
pub(super) enum Act<'s, 't> {
    Command(&'s TerminalCall<'t>),
    Edit { turn: usize, call: &'t ToolCall },
}

impl Act<'_, '_> {
    pub(super) fn turn(&self) -> usize {
        match self {
            Self::Command(call) => call.turn,
            Self::Edit { turn, .. } => *turn,
        }
    }

    pub(super) fn status(&self) -> Status {
        match self {
            Self::Command(call) => call.call.status,
            Self::Edit { call, .. } => call.status,
        }
    }

    /// The program, or the name of the file.
    pub(super) fn topic(&self) -> String {
        match self {
            Self::Command(call) => call.line.topic(),
            Self::Edit { call, .. } => terminal::changed_file(call).unwrap_or_else(|| "files".to_owned()),
        }
    }
}

pub(super) struct Session<'t> {
    pub(super) transcript: &'t Transcript,
    pub(super) calls: Vec<TerminalCall<'t>>,
}

impl<'t> Session<'t> {
    pub(super) fn new(transcript: &'t Transcript) -> Self {
        let calls = transcript.turns.iter().enumerate().filter_map(|(turn, said)| {
            let Turn::ToolCall(call) = said else { return None };
            Some(TerminalCall { turn, line: CommandLine::parse(&terminal::command(call)?), call })
        });
        Self { transcript, calls: calls.collect() }
    }

    /// The turns that a person typed, with their numbers.
    pub(super) fn user_turns(&self) -> impl DoubleEndedIterator<Item = (usize, &'t str)> {
        self.transcript.turns.iter().enumerate().filter_map(|(turn, said)| match said {
            Turn::User(text) => Some((turn, text.as_str())),
            _ => None,
        })
    }

    /// The last user turn before a turn.
    pub(super) fn user_turn_before(&self, turn: usize) -> Option<usize> {
        self.user_turns().map(|(number, _)| number).take_while(|number| *number < turn).last()
    }

    /// The first user turn after a turn; the end of the transcript when there is none.
    pub(super) fn user_turn_after(&self, turn: usize) -> usize {
        let after = self.user_turns().map(|(number, _)| number).find(|number| *number > turn);
        after.unwrap_or(self.transcript.turns.len())
    }

    /// What changed something in turns `from..to`, in order.
    pub(super) fn acts(&self, from: usize, to: usize) -> Vec<Act<'_, 't>> {
        let commands = self.calls.iter().filter(|call| call.acts()).map(Act::Command);
        let edits = self.transcript.turns.iter().enumerate().filter_map(|(turn, said)| match said {
            Turn::ToolCall(call) if terminal::changes_files(call) => Some(Act::Edit { turn, call }),
            _ => None,
        });
        let mut acts: Vec<Act<'_, 't>> = commands.chain(edits).filter(|act| (from..to).contains(&act.turn())).collect();
        acts.sort_by_key(Act::turn);
        acts
    }

    /// The names of the files edited in turns `from..to`, each once, in order.
    pub(super) fn edited_files(&self, from: usize, to: usize) -> Vec<String> {
        let mut files = Vec::new();
        for act in self.acts(from, to) {
            if let Act::Edit { call, .. } = act {
                let name = terminal::changed_file(call).unwrap_or_else(|| "a file".to_owned());
                if call.status != Status::Failed && !files.contains(&name) {
                    files.push(name);
                }
            }
        }
        files
    }

    /// What the user wanted when a turn came: the first sentence of the last user turn before it that is a request and not
    /// just "yes, go on". Empty when there is none.
    pub(super) fn intent(&self, turn: usize) -> String {
        const MAX_CHARS: usize = 120;
        let turns: Vec<(usize, &str)> = self.user_turns().take_while(|(number, _)| *number < turn).collect();
        let request = turns.iter().rev().find_map(|(_, text)| first_request(text));
        request.map(|text| shorten(text, MAX_CHARS)).unwrap_or_default()
    }
}
