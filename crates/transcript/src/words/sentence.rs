//! A sentence as words, found whatever stands between them.
//!
//! An agent reads the source of a page and a person copies what a browser shows: between the words of the copy, the source has
//! tags, targets of links, marks, scripts, roles, times. No list of their forms is kept. A sentence was shown if all of its words
//! come in order, with few other words between them (docs/spec/capture.md, 5.2).

use std::cell::Cell;
use std::cmp::Reverse;

use super::{hash, is_inline, is_word_alone, lines, tag_at, words_of};
use crate::decode::decoded;

/// Shorter sentences are too common. A character of a script without blanks is half a word.
const MIN_WEIGHT: u32 = 5 * WORD;
/// The most that may stand between two words of a sentence, and per word of it altogether.
const MAX_GAP: u32 = 64 * WORD;
const MAX_FOREIGN_PER_WORD: u32 = 8 * WORD;
/// The most words that are looked at for the next one: numbers cost nothing, but do not go on for ever.
const MAX_AHEAD: usize = 400;
/// Of this many words of a sentence, one may be missing where at least two words are in its place: one that markup parts.
const WORDS_PER_MISS: usize = 8;
/// How many words are compared in one session, a second's worth or two. What is left then counts as shown.
const MAX_COMPARED: u64 = 1 << 30;

/// What a word costs that is not of the sentence. What has digits (times, references, hashes) costs nothing, and a character of a
/// script without blanks more than a word: few of them are rare.
const WORD: u32 = 2;
const CHARACTER: u32 = 8;

/// A word by its hash, with what it is in the two highest bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Word(u32);

impl Word {
    /// Between two texts.
    pub(super) const END: Self = Self(0);
    const HAS_DIGIT: u32 = 1 << 31;
    const IS_CHARACTER: u32 = 1 << 30;

    fn of(text: &str) -> Self {
        let hashed = u32::try_from(hash(text) >> 34).unwrap_or_default().max(1);
        let is_character = text.chars().next().is_some_and(is_word_alone);
        let has_digit = text.chars().any(|c| c.is_ascii_digit());
        Self(hashed | if is_character { Self::IS_CHARACTER } else { 0 } | if has_digit { Self::HAS_DIGIT } else { 0 })
    }

    fn cost(self) -> u32 {
        match self {
            Self(bits) if bits & Self::HAS_DIGIT != 0 => 0,
            Self(bits) if bits & Self::IS_CHARACTER != 0 => CHARACTER,
            Self(_) => WORD,
        }
    }

    /// How much it adds to the length of a sentence.
    fn weight(self) -> u32 {
        if self.0 & Self::IS_CHARACTER != 0 { WORD / 2 } else { WORD }
    }
}

/// Gives the words of a text that was shown: of its source, where a tag is words as any other, and, if it has tags or words that the
/// end of a line parts, as a reader sees it.
pub(super) fn shown_words(text: &str, take: &mut impl FnMut(Word)) {
    let plain = decoded(text);
    let mut add = |text: &str, tag_at: fn(&str) -> Option<&str>| {
        let mut last = "";
        for line in text.split_inclusive('\n') {
            // Progress and the like: the same line over and over.
            if std::mem::replace(&mut last, line) != line {
                words_of(line, tag_at, is_inline, &mut |word| take(Word::of(word)));
            }
        }
        take(Word::END);
    };
    add(&plain, |_| None);
    let whole = lines::unparted(&plain);
    if plain.contains('<') || *whole != *plain {
        add(&whole, tag_at);
    }
}

/// The words of a sentence.
#[derive(Debug)]
pub(super) struct Sentence {
    words: Vec<Word>,
    /// The indexes of the two longest words.
    pub(super) longest: Vec<usize>,
}

impl Sentence {
    /// None for a sentence that is too short.
    pub(super) fn of(text: &str) -> Option<Self> {
        let (mut words, mut lengths) = (Vec::new(), Vec::new());
        words_of(&decoded(text), tag_at, is_inline, &mut |word| {
            lengths.push((Reverse(word.len()), words.len()));
            words.push(Word::of(word));
        });
        lengths.sort_unstable();
        let longest = lengths.into_iter().map(|(_, index)| index).take(2).collect();
        let is_long = words.iter().map(|word| word.weight()).sum::<u32>() >= MIN_WEIGHT;
        is_long.then_some(Self { words, longest })
    }

    pub(super) fn words(&self) -> &[Word] {
        &self.words
    }

    /// How many words may be missing.
    pub(super) fn max_missing(&self) -> usize {
        self.words.len() / WORDS_PER_MISS
    }

    /// True if the other words are in order before and after the one with this index, which is at this place of `shown`.
    pub(super) fn is_around(&self, index: usize, shown: &[Word], at: usize, work: &Work) -> bool {
        let (Some((before, after)), Some((shown_before, shown_after))) =
            (self.words.split_at_checked(index), shown.split_at_checked(at))
        else {
            return false;
        };
        let n_words = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
        let foreign = n_words.saturating_mul(MAX_FOREIGN_PER_WORD);
        let mut allowed = Allowed { foreign, n_missing: self.max_missing() };
        allowed.follow(after.iter().skip(1), shown_after.iter().skip(1), work)
            && allowed.follow(before.iter().rev(), shown_before.iter().rev(), work)
    }
}

/// How many words were compared.
#[derive(Debug, Default)]
pub(super) struct Work(Cell<u64>);

impl Work {
    pub(super) fn is_too_much(&self) -> bool {
        self.0.get() > MAX_COMPARED
    }

    #[cfg(test)]
    pub(super) fn n_compared(&self) -> u64 {
        self.0.get()
    }

    #[cfg(test)]
    pub(super) fn exhaust(&self) {
        self.0.set(u64::MAX);
    }

    fn add(&self) {
        self.0.set(self.0.get() + 1);
    }
}

/// What may still differ between a sentence and what was shown.
struct Allowed {
    foreign: u32,
    n_missing: usize,
}

impl Allowed {
    /// Follows the words of a sentence through what was shown. False if one is not there.
    fn follow<'w, S: Iterator<Item = &'w Word> + Clone>(
        &mut self,
        sentence: impl Iterator<Item = &'w Word>,
        mut shown: S,
        work: &Work,
    ) -> bool {
        let mut is_after_missing = false;
        for word in sentence {
            let mut ahead = shown.clone();
            match gap(*word, &mut ahead, work) {
                // In the place of a word that markup parts are its parts; one other word is another statement.
                Some(gap) if is_after_missing && gap.n_words < 2 => return false,
                Some(gap) if gap.cost <= self.foreign => {
                    self.foreign -= gap.cost;
                    shown = ahead;
                    is_after_missing = false;
                }
                _ if self.n_missing > 0 && !is_after_missing => {
                    self.n_missing -= 1;
                    is_after_missing = true;
                }
                _ => return false,
            }
        }
        !is_after_missing
    }
}

/// What is before the next place of a word.
struct Gap {
    n_words: usize,
    cost: u32,
}

fn gap<'w>(wanted: Word, shown: &mut impl Iterator<Item = &'w Word>, work: &Work) -> Option<Gap> {
    let mut cost = 0;
    for (n_words, other) in shown.take(MAX_AHEAD).enumerate() {
        work.add();
        if *other == wanted {
            return Some(Gap { n_words, cost });
        }
        cost += other.cost();
        if cost > MAX_GAP || *other == Word::END {
            return None;
        }
    }
    None
}
