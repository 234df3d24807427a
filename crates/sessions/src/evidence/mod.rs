//! Evidence (docs/spec/capture.md, 3.4, 5.1): quotes of the user that confirm a lesson, located in the transcript or rejected.
//!
//! A quote is valid if it equals a span of whole words in one turn that a person typed. Runs of white space are equivalent, and
//! so are composed and decomposed letters; all other characters must be equal. Both sides are compared in stored form: without
//! invisible characters and with secrets redacted.

mod quotable;

use adage::lesson::Evidence;
use adage_transcript::{Transcript, Turn};
use quotable::{Key, Quotable, QuoteMatch};
use serde::Serialize;

/// The minimum number of words of a quote: "yes", "do it" and "no" are in nearly every session and fit any lesson.
pub const MIN_QUOTE_WORDS: usize = 3;

/// The minimum number of words of a quote that is a whole turn: "use pnpm".
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
    /// A tool: its input or its output.
    #[error("a tool")]
    Tool,
    /// The program that runs the assistant: reminders, hooks, summaries.
    #[error("the harness")]
    Harness,
}

/// Why a quote is not valid evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NoEvidence {
    /// There is no quote.
    #[error("no quote")]
    Empty,
    /// It is too short: so few words occur in nearly every session.
    #[error("a quote of {n_words} words proves nothing; it takes {needed}, or a whole turn of {MIN_TURN_WORDS}")]
    TooShort {
        /// The number of words of the quote.
        n_words: usize,
        /// The minimum number of words.
        needed: usize,
    },
    /// The quote begins or ends within a word, a number or a path of the user's turn.
    #[error("the quote cuts a word of the user's turn {turn} in two")]
    CutsAWord {
        /// The turn, counted from 0.
        turn: usize,
    },
    /// Another speaker said it.
    #[error("not the user's words: {speaker} said it in turn {turn}")]
    NotTheUser {
        /// The speaker.
        speaker: Speaker,
        /// The turn, counted from 0.
        turn: usize,
    },
    /// It is not in this session.
    #[error("nobody said it in this session")]
    Nowhere,
}

/// Finds a quote in the user's turns; if there are several matches, the first.
///
/// The evidence contains the words of the turn, with secrets redacted, and their character range in the turn of the transcript.
///
/// ```
/// use adage::transcript::{Transcript, Turn};
/// use adage_sessions::extract::{NoEvidence, find_evidence};
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
/// [`NoEvidence`] with the reason why the quote is not valid.
pub fn find_evidence(transcript: &Transcript, quote: &str) -> Result<Evidence, NoEvidence> {
    UserTurns::of(transcript).find(quote)
}

/// What the assistant wrote and tools printed in a session, prepared once for any number of quotes.
pub(crate) struct Shown(Vec<(usize, String)>);

impl Shown {
    pub(crate) fn of(transcript: &Transcript) -> Self {
        let shown = |(number, turn): (usize, &Turn)| {
            let text = match turn {
                Turn::Assistant(text) => Some(text.as_str()),
                Turn::ToolCall(call) => call.result.as_deref(),
                Turn::User(_) | Turn::System(_) => None,
            };
            text.map(|text| (number, Key::of_untrusted(text).into_text()))
        };
        Self(transcript.turns.iter().enumerate().filter_map(shown).collect())
    }

    /// True if a quote has at least [`MIN_QUOTE_WORDS`] words, and nothing that was shown before it has them.
    pub(crate) fn leaves_to_user(&self, Evidence { quote, turn, .. }: &Evidence) -> bool {
        let key = Key::of_untrusted(quote);
        let mut earlier = self.0.iter().take_while(|(number, _)| number < turn);
        key.n_words() >= MIN_QUOTE_WORDS && !earlier.any(|(_, text)| key.is_in(text))
    }
}

/// A quote in a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Located {
    /// As whole words; as the text has them, redacted.
    Whole(String),
    /// Only as a part of a word.
    CutsAWord,
    /// It is not there.
    Nowhere,
}

/// Finds a quote in any text of a session, by the same comparison as in the user's turns.
pub(crate) fn locate(text: &str, quote: &str) -> Located {
    let key = Key::of_untrusted(quote);
    let mut located = Located::Nowhere;
    for place in Quotable::new(text).places(&key) {
        match place {
            QuoteMatch::Whole { quote, .. } => return Located::Whole(quote),
            QuoteMatch::CutsAWord => located = Located::CutsAWord,
        }
    }
    located
}

/// The speaker of a quote in a turn that no person typed.
fn says(turn: &Turn, quote: &Key) -> Option<Speaker> {
    let has = |text: &str| quote.is_in(&Key::of_untrusted(text).into_text());
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

/// The user's turns of a session, prepared once for any number of quotes.
#[derive(Debug)]
pub(crate) struct UserTurns<'t> {
    transcript: &'t Transcript,
    turns: Vec<(usize, Quotable)>,
}

impl<'t> UserTurns<'t> {
    pub(crate) fn of(transcript: &'t Transcript) -> Self {
        let typed = transcript.user_turns().map(|(number, text)| (number, Quotable::new(text)));
        Self { transcript, turns: typed.collect() }
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
                    QuoteMatch::Whole { quote, range } => return Ok(Evidence { quote, turn: *number, range }),
                    QuoteMatch::CutsAWord => cut = cut.or(Some(NoEvidence::CutsAWord { turn: *number })),
                }
            }
        }
        Err(cut.or_else(|| self.said_by_another(&key)).unwrap_or(NoEvidence::Nowhere))
    }

    fn said_by_another(&self, quote: &Key) -> Option<NoEvidence> {
        let mut turns = self.transcript.turns.iter().enumerate();
        turns.find_map(|(turn, said)| says(said, quote).map(|speaker| NoEvidence::NotTheUser { speaker, turn }))
    }
}

#[cfg(test)]
mod tests;
