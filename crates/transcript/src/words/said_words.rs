//! What a person typed, compared with what results of calls bring after it.

use std::collections::HashMap;

use super::hash;
use super::sentence::{Sentence, Word, Work, shown_words};

/// The most sentences that are compared; a session has some hundreds.
const MAX_SENTENCES: usize = 1 << 14;

/// What a person typed, compared with what comes later, as [`ShownWords`](super::ShownWords) does with what came before. What the agent
/// writes down of a person's words comes back in results and stays theirs.
///
/// ```
/// let mut said = adage_transcript::SaidWords::default();
/// said.push("Always call the billing team first.");
/// said.push("Always ask the sales team first.");
/// said.written("# Notes\n- Always ask the sales team first.");
/// said.brought("Always [call](https://example.com/a) the **billing team** first.\n# Notes\n- Always ask the sales team first.");
/// assert!(said.was_brought("Always call the billing team first."));
/// assert!(!said.was_brought("Always ask the sales team first."));
/// ```
#[derive(Debug, Default)]
pub struct SaidWords {
    sentences: Vec<Said>,
    /// The index of each sentence by its text.
    known: HashMap<u64, usize>,
    /// The sentences that have a word as one of their longest, with the word's index in them.
    by_word: HashMap<Word, Vec<(usize, usize)>>,
    work: Work,
}

#[derive(Debug)]
struct Said {
    sentence: Sentence,
    state: State,
}

/// Who had a sentence first after the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Nobody,
    Agent,
    Result,
}

impl SaidWords {
    /// Adds a sentence that a person typed.
    pub fn push(&mut self, text: &str) {
        let key = hash(text.trim());
        if self.sentences.len() >= MAX_SENTENCES || self.known.contains_key(&key) {
            return;
        }
        let Some(sentence) = Sentence::of(text) else { return };
        let number = self.sentences.len();
        for index in &sentence.longest {
            let word = sentence.words().get(*index).copied().unwrap_or(Word::END);
            self.by_word.entry(word).or_default().push((number, *index));
        }
        self.known.insert(key, number);
        self.sentences.push(Said { sentence, state: State::Nobody });
    }

    /// Notes what the agent wrote.
    pub fn written(&mut self, text: &str) {
        self.note(text, State::Agent);
    }

    /// Notes what the result of a call brought.
    pub fn brought(&mut self, text: &str) {
        self.note(text, State::Result);
    }

    /// True for a sentence that a result brought after the person typed it and before the agent wrote it.
    #[must_use]
    pub fn was_brought(&self, text: &str) -> bool {
        let said = self.known.get(&hash(text.trim())).and_then(|number| self.sentences.get(*number));
        said.is_some_and(|said| said.state == State::Result)
    }

    fn note(&mut self, text: &str, by: State) {
        if self.sentences.is_empty() {
            return;
        }
        let mut words = Vec::new();
        shown_words(text, &mut |word| words.push(word));
        for (at, word) in words.iter().enumerate() {
            for (number, index) in self.by_word.get(word).into_iter().flatten() {
                let Some(said) = self.sentences.get_mut(*number) else { continue };
                let is_open = said.state == State::Nobody;
                if is_open && (self.work.is_too_much() || said.sentence.is_around(*index, &words, at, &self.work)) {
                    said.state = by;
                }
            }
        }
    }
}
