//! What was shown before a sentence was typed, as one sequence of words.

use std::collections::HashMap;

use super::sentence::{Sentence, Word, Work, shown_words};

/// The most words in one generation. There are two, the older of which is dropped.
const MAX_WORDS: usize = 1 << 17;
/// Of how many words of a sentence the places are tried, the rarest first, and how many places, the latest first.
const MAX_ANCHORS: usize = 3;
const MAX_PLACES: usize = 256;

/// What was shown, as words in their order: the last 131,072 to 262,144 of them. A sentence is found in it whatever stands between its
/// words: tags, targets of links, times.
///
/// ```
/// let mut shown = adage_transcript::ShownWords::default();
/// shown.push("Always [call](https://example.com/a) the **billing team** first.");
/// assert!(shown.has("Always call the billing team first."));
/// assert!(!shown.has("Always call the sales team first."));
/// ```
#[derive(Debug, Default)]
pub struct ShownWords {
    recent: Generation,
    older: Generation,
    work: Work,
}

impl ShownWords {
    /// Adds a text.
    pub fn push(&mut self, text: &str) {
        shown_words(text, &mut |word| {
            if self.recent.words.len() >= MAX_WORDS {
                self.older = std::mem::take(&mut self.recent);
            }
            self.recent.push(word);
        });
    }

    /// True for a sentence of at least five words that was shown. It has to come in one text.
    #[must_use]
    pub fn has(&self, sentence: &str) -> bool {
        let Some(sentence) = Sentence::of(sentence) else { return false };
        self.work.is_too_much() || self.recent.has(&sentence, &self.work) || self.older.has(&sentence, &self.work)
    }
}

/// A part of what was shown.
#[derive(Debug, Default)]
struct Generation {
    words: Vec<Word>,
    /// For each word, where it was before; its own place if it is the first.
    before: Vec<u32>,
    places: HashMap<Word, Places>,
}

/// Of a word, where it is last and how often it is there.
#[derive(Clone, Copy, Debug)]
struct Places {
    last: u32,
    n: u32,
}

impl Generation {
    fn push(&mut self, word: Word) {
        let at = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
        let places = self.places.entry(word).or_insert(Places { last: at, n: 0 });
        self.before.push(std::mem::replace(&mut places.last, at));
        places.n = places.n.saturating_add(1);
        self.words.push(word);
    }

    fn has(&self, sentence: &Sentence, work: &Work) -> bool {
        let places = sentence.words().iter().enumerate();
        let places =
            places.filter_map(|(index, word)| self.places.get(word).map(|places| (places.n, index, places.last)));
        let mut places: Vec<(u32, usize, u32)> = places.collect();
        if sentence.words().len() - places.len() > sentence.max_missing() {
            return false;
        }
        places.sort_unstable();
        places.into_iter().take(MAX_ANCHORS).any(|(_, index, last)| {
            self.places_from(last).take(MAX_PLACES).any(|at| sentence.is_around(index, &self.words, at, work))
        })
    }

    /// The places of a word, the latest first.
    fn places_from(&self, last: u32) -> impl Iterator<Item = usize> {
        let before = |at: &u32| self.before.get(*at as usize).copied().filter(|before| before != at);
        std::iter::successors(Some(last), before).map(|at| at as usize)
    }
}

#[cfg(test)]
mod tests;
