//! Finds a quote in the turn that a model cites for it.

use adage_redact::one_line;
use adage_transcript::{ToolCall, Turn};

use super::{MAX_TEXT_CHARS, Record, RecoveryPart, RecoveryRefusal};
use crate::evidence::Speaker;
use crate::evidence::{Located, locate};
use crate::extract::reply::{Citation, excerpt};
use adage::lesson::Passage;

/// The minimum length of a quote, in characters: `npm i`. A shorter one is in nearly every turn.
const MIN_QUOTE_CHARS: usize = 4;
/// The minimum length of what shows a success, which may be missing altogether: `ok`.
const MIN_SUCCESS_CHARS: usize = 2;
/// The maximum length of a command in the source of a passage, in characters.
const MAX_SOURCE_CHARS: usize = 160;

impl Record<'_> {
    /// The cited passage, as the turn has it. The quote of a success may be empty where a call printed nothing worth quoting.
    pub(super) fn passage(&self, part: RecoveryPart, cited: &Citation) -> Result<Passage, RecoveryRefusal> {
        let Citation { turn, quote } = cited;
        let turn = *turn;
        let n_turns = self.transcript.turns.len();
        let said = self.turn(turn).ok_or(RecoveryRefusal::NoSuchTurn { part, turn, n_turns })?;
        let texts = texts(said, part).map_err(|speaker| RecoveryRefusal::WrongTurn { part, turn, speaker })?;
        let source = source(said);
        if quote.trim().is_empty() && part == RecoveryPart::Success && said.as_call().is_some() {
            return Ok(Passage { turn, source, quote: String::new() });
        }
        check_length(part, quote)?;
        let mut is_cut = false;
        for text in texts {
            match locate(&text, quote) {
                Located::Whole(quote) => return Ok(Passage { turn, source, quote }),
                Located::CutsAWord => is_cut = true,
                Located::Nowhere => {}
            }
        }
        let quote = excerpt(quote);
        Err(if is_cut {
            RecoveryRefusal::CutsAWord { part, turn, quote }
        } else {
            RecoveryRefusal::NotInTurn { part, turn, quote }
        })
    }
}

fn check_length(part: RecoveryPart, quote: &str) -> Result<(), RecoveryRefusal> {
    let n_chars = quote.trim().chars().count();
    let min = if part == RecoveryPart::Success { MIN_SUCCESS_CHARS } else { MIN_QUOTE_CHARS };
    if n_chars == 0 {
        Err(RecoveryRefusal::Missing { part })
    } else if n_chars < min {
        Err(RecoveryRefusal::ShortQuote { part, quote: quote.to_owned(), n_chars, min })
    } else if n_chars > MAX_TEXT_CHARS {
        Err(RecoveryRefusal::TooLong { part, n_chars, max: MAX_TEXT_CHARS })
    } else {
        Ok(())
    }
}

/// The texts of a turn that can show a part of a recovery; who speaks, if it cannot.
fn texts(turn: &Turn, part: RecoveryPart) -> Result<Vec<String>, Speaker> {
    match (turn, part) {
        (Turn::ToolCall(call), RecoveryPart::Remedy) => Ok(done(call)),
        // A command that prints nothing is named by its line.
        (Turn::ToolCall(call), RecoveryPart::Success) => {
            Ok(call.result.iter().cloned().chain(call.command()).collect())
        }
        (Turn::ToolCall(call), _) => Ok(call.result.iter().cloned().collect()),
        (Turn::User(text), _) | (Turn::Assistant(text), RecoveryPart::Remedy) => Ok(vec![text.clone()]),
        (Turn::Assistant(_), _) => Err(Speaker::Assistant),
        (Turn::System(_), _) => Err(Speaker::Harness),
    }
}

/// What a call did: its command or the other texts of its input. The input of some records is missing, and the result of an
/// edit tells the file and the lines.
fn done(call: &ToolCall) -> Vec<String> {
    let mut texts: Vec<String> = call.command().into_iter().collect();
    texts.extend(call.input_texts().into_iter().map(str::to_owned));
    if call.changes_files() {
        texts.extend(call.result.clone());
    }
    texts
}

/// What a turn is, for a reviewer.
fn source(turn: &Turn) -> String {
    match turn {
        Turn::User(_) => "the user".to_owned(),
        Turn::Assistant(_) => "the assistant".to_owned(),
        Turn::System(_) => "the harness".to_owned(),
        Turn::ToolCall(call) => match (call.command(), call.changed_place().filter(|_| call.changes_files())) {
            (Some(command), _) => format!("`{}`", one_line(&command, MAX_SOURCE_CHARS)),
            (None, Some(place)) => format!("changed {place}"),
            (None, None) => call.tool.clone(),
        },
    }
}
