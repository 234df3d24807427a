//! Evidence (docs/spec/capture.md, 3.4, 5.1): the user's own words that a lesson stands on, found again in the
//! transcript or refused.
//!
//! A quote counts when it is a span of whole words of one turn that a person typed, character by character; runs of blanks
//! and newlines are equal, composed and decomposed letters are, nothing else is. Both sides are compared as they are
//! stored: without invisible characters and with secrets redacted.

mod quotable;

use super::pasted::Typed;
use crate::lesson::Evidence;
use adage_transcript::{Transcript, Turn};
use quotable::{Found, Key, Quotable};
use serde::Serialize;

/// A quote of fewer words proves nothing: "yes", "do it" and "no" stand in nearly every session, beside any lesson.
pub const MIN_QUOTE_WORDS: usize = 3;

/// A whole turn may be shorter by a word: "use pnpm".
const MIN_TURN_WORDS: usize = 2;

/// Who said something in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Speaker {
    /// The person.
    #[error("the user")]
    User,
    /// The assistant.
    #[error("the assistant")]
    Assistant,
    /// A tool: what it was called with, or what came back.
    #[error("a tool")]
    Tool,
    /// What runs the assistant: reminders, hooks, summaries.
    #[error("the harness")]
    Harness,
}

/// Why a quote is no evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NoEvidence {
    /// There is no quote.
    #[error("no quote")]
    Empty,
    /// So few words stand in nearly every session.
    #[error("a quote of {n_words} words proves nothing; it takes {needed}, or a whole turn of {MIN_TURN_WORDS}")]
    TooShort {
        /// Words of the quote.
        n_words: usize,
        /// Words it takes.
        needed: usize,
    },
    /// The user said something that the quote cuts short within a word, a number or a path.
    #[error("the quote cuts a word of the user's turn {turn} in two")]
    CutsAWord {
        /// Which turn, from 0.
        turn: usize,
    },
    /// The words stand in the turn, and not where they are said to.
    #[error("the words stand elsewhere in turn {turn}")]
    Elsewhere {
        /// Which turn, from 0.
        turn: usize,
    },
    /// Somebody else said it.
    #[error("not the user's words: {speaker} said it in turn {turn}")]
    NotTheUser {
        /// Who.
        speaker: Speaker,
        /// Which turn, from 0.
        turn: usize,
    },
    /// The user pasted it: an earlier turn says it, or it has the shape of somebody else's text.
    #[error("the words of turn {turn} are pasted, not typed")]
    Pasted {
        /// The turn, from 0.
        turn: usize,
    },
    /// Nobody said it in this session.
    #[error("nobody said it in this session")]
    Nowhere,
}

/// Finds a quote in what the user typed; of several places the first.
///
/// The evidence carries the words as they stand in the turn, secrets redacted, and their character range in the turn as it
/// is in the transcript.
///
/// ```
/// use adage::transcript::{Transcript, Turn};
/// use adage::extract::{NoEvidence, find_evidence};
///
/// let transcript = Transcript {
///     turns: vec![Turn::Assistant("I run npm install.".into()), Turn::User("No. Use pnpm\nhere, always.".into())],
///     ..Transcript::default()
/// };
/// let evidence = find_evidence(&transcript, "Use pnpm here")?;
/// assert_eq!((evidence.quote.as_str(), evidence.turn, evidence.range), ("Use pnpm\nhere", 1, (4, 17)));
/// assert_eq!(find_evidence(&transcript, "Use yarn here"), Err(NoEvidence::Nowhere));
/// # Ok::<(), NoEvidence>(())
/// ```
///
/// # Errors
/// [`NoEvidence`] says why the quote does not count.
pub fn find_evidence(transcript: &Transcript, quote: &str) -> Result<Evidence, NoEvidence> {
    UserTurns::of(transcript).find(quote)
}

/// Checks evidence that comes with its place: the gate's look at what a heuristic, a model or another program found.
///
/// The quote may be short here: the place says which words are meant.
///
/// # Errors
/// [`NoEvidence`] says why it does not hold.
pub fn check_evidence(transcript: &Transcript, evidence: &Evidence) -> Result<(), NoEvidence> {
    let Evidence { quote, turn, range } = evidence;
    let key = Key::of_untrusted(quote);
    if key.is_empty() {
        return Err(NoEvidence::Empty);
    }
    let said = transcript.turns.get(*turn).ok_or(NoEvidence::Nowhere)?;
    let Turn::User(text) = said else {
        return Err(
            says(said, &key).map_or(NoEvidence::Nowhere, |by| NoEvidence::NotTheUser { speaker: by, turn: *turn })
        );
    };
    let mut otherwise = NoEvidence::Nowhere;
    for place in Quotable::new(text).places(&key) {
        match place {
            Found::Whole { range: found, .. } if found == *range => return Ok(()),
            Found::Whole { .. } => otherwise = NoEvidence::Elsewhere { turn: *turn },
            Found::CutsAWord if otherwise == NoEvidence::Nowhere => otherwise = NoEvidence::CutsAWord { turn: *turn },
            Found::CutsAWord => {}
        }
    }
    Err(otherwise)
}

/// Who says it in a turn that no person typed.
fn says(turn: &Turn, quote: &Key) -> Option<Speaker> {
    let has = |text: &str| quote.is_in(&Key::of_untrusted(text));
    let (speaker, is_said) = match turn {
        Turn::User(_) => return None,
        Turn::Assistant(text) => (Speaker::Assistant, has(text)),
        Turn::System(text) => (Speaker::Harness, has(text)),
        Turn::ToolCall(call) => {
            (Speaker::Tool, call.result.as_deref().is_some_and(has) || has(&call.input.to_string()))
        }
    };
    is_said.then_some(speaker)
}

/// What the user typed in a session, prepared once for any number of quotes.
#[derive(Debug)]
pub(crate) struct UserTurns<'t> {
    transcript: &'t Transcript,
    turns: Vec<(usize, Quotable)>,
    /// What of them is the person's own.
    typed: Typed,
}

impl<'t> UserTurns<'t> {
    pub(crate) fn of(transcript: &'t Transcript) -> Self {
        let typed = transcript.user_turns().map(|(number, text)| (number, Quotable::new(text)));
        Self { transcript, turns: typed.collect(), typed: Typed::of(transcript) }
    }

    /// The turns, redacted, with their numbers.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (usize, &str)> {
        self.turns.iter().map(|(number, turn)| (*number, turn.text()))
    }

    /// See [`find_evidence`].
    pub(crate) fn find(&self, quote: &str) -> Result<Evidence, NoEvidence> {
        let key = Key::of_untrusted(quote);
        if key.is_empty() {
            return Err(NoEvidence::Empty);
        }
        let n_words = key.n_words();
        let is_turn = |(_, turn): &(usize, Quotable)| n_words >= MIN_TURN_WORDS && turn.is_all(&key);
        if n_words < MIN_QUOTE_WORDS && !self.turns.iter().any(is_turn) {
            return Err(NoEvidence::TooShort { n_words, needed: MIN_QUOTE_WORDS });
        }
        let mut cut: Option<NoEvidence> = None;
        for candidate @ (number, turn) in &self.turns {
            if n_words < MIN_QUOTE_WORDS && !is_turn(candidate) {
                continue;
            }
            for place in turn.places(&key) {
                match place {
                    Found::Whole { range, .. } if !self.is_own(*number, range) => {
                        cut = cut.or(Some(NoEvidence::Pasted { turn: *number }));
                    }
                    Found::Whole { quote, range } => return Ok(Evidence { quote, turn: *number, range }),
                    Found::CutsAWord => cut = cut.or(Some(NoEvidence::CutsAWord { turn: *number })),
                }
            }
        }
        Err(cut.or_else(|| self.said_by_another(&key)).unwrap_or(NoEvidence::Nowhere))
    }

    /// True when a person typed the characters of a range.
    fn is_own(&self, turn: usize, (start, end): (usize, usize)) -> bool {
        let text = self.transcript.turns.get(turn).and_then(Turn::as_user).unwrap_or_default();
        let mut places = text.char_indices().map(|(place, _)| place).chain([text.len()]);
        let Some(from) = places.nth(start) else { return false };
        let to = end.checked_sub(start + 1).and_then(|n| places.nth(n)).unwrap_or(from);
        self.typed.is_own(turn, text, from..to)
    }

    fn said_by_another(&self, quote: &Key) -> Option<NoEvidence> {
        let mut turns = self.transcript.turns.iter().enumerate();
        turns.find_map(|(turn, said)| says(said, quote).map(|speaker| NoEvidence::NotTheUser { speaker, turn }))
    }
}

#[cfg(test)]
mod tests;
