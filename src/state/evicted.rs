//! The counts of evicted and pruned lessons, which are restored when such a lesson is learned again (docs/spec/playbook.md,
//! 4.3).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Book;
use crate::lesson::{Lesson, TextHash};

/// The maximum number of records, as a multiple of a realm's capacity.
const PER_CAPACITY: usize = 8;

/// The maximum number of records, whatever the capacity.
const MAX: usize = 10_000;

/// The counts of one lesson. Written as a line of numbers, since there may be many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Evicted {
    /// The hash of its realm, trigger and solution, without case and punctuation.
    text: TextHash,
    retrievals: u64,
    helpful: u64,
    harmful: u64,
    settled: u64,
    learned_at: u64,
}

impl Evicted {
    fn of(lesson: &Lesson) -> Self {
        Self {
            text: text(lesson),
            retrievals: lesson.retrievals,
            helpful: lesson.helpful_retrievals,
            harmful: lesson.harmful_retrievals,
            settled: lesson.settled_retrievals,
            learned_at: lesson.learned_at_recall,
        }
    }
}

/// Lessons with the same words in the same fields and realm are the same.
fn text(lesson: &Lesson) -> TextHash {
    let is_mark = |c: char| ".,;:!?\"'`".contains(c);
    let plain = |text: &str| {
        let words = text.split_whitespace().map(|word| word.trim_matches(is_mark).to_lowercase());
        words.collect::<Vec<_>>().join(" ")
    };
    TextHash::of(&[
        lesson.realm.project.as_str(),
        lesson.realm.role.as_str(),
        &plain(&lesson.trigger),
        &plain(&lesson.correct_pattern),
    ])
}

impl Book {
    /// Records the counts of a lesson. Beyond eight times the capacity, the oldest records are dropped.
    pub(crate) fn remember_evicted(&mut self, lesson: &Lesson, capacity: usize) {
        let evicted = Evicted::of(lesson);
        self.evicted.retain(|other| other.text != evicted.text);
        self.evicted.push(evicted);
        let most = capacity.saturating_mul(PER_CAPACITY).min(MAX);
        let excess = self.evicted.len().saturating_sub(most);
        self.evicted.drain(..excess);
    }

    /// Sets the age of a lesson that is learned: it starts at zero, or continues if the same lesson was evicted. Only counts
    /// are restored, not marks or trust.
    pub(crate) fn begin(&mut self, lesson: &mut Lesson) {
        let recalls = self.recalls(&lesson.realm);
        (lesson.learned_at_recall, lesson.shown_at_recall) = (recalls, recalls);
        let text = text(lesson);
        let Some(place) = self.evicted.iter().position(|evicted| evicted.text == text) else { return };
        let earned = self.evicted.remove(place);
        lesson.retrievals = lesson.retrievals.saturating_add(earned.retrievals);
        lesson.helpful_retrievals = lesson.helpful_retrievals.saturating_add(earned.helpful);
        lesson.harmful_retrievals = lesson.harmful_retrievals.saturating_add(earned.harmful);
        lesson.settled_retrievals = lesson.settled_retrievals.saturating_add(earned.settled);
        lesson.learned_at_recall = earned.learned_at.min(recalls);
    }

    /// Drops the counts of a lesson, because a person removed it.
    pub(crate) fn forget_evicted(&mut self, lesson: &Lesson) {
        let text = text(lesson);
        self.evicted.retain(|evicted| evicted.text != text);
    }
}

impl fmt::Display for Evicted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, retrievals, helpful, harmful, settled, learned_at } = self;
        write!(f, "{text} {retrievals} {helpful} {harmful} {settled} {learned_at}")
    }
}

impl FromStr for Evicted {
    type Err = &'static str;

    fn from_str(line: &str) -> Result<Self, Self::Err> {
        let mut parts = line.split(' ');
        let text = parts.next().and_then(|text| text.parse().ok()).ok_or("no hash of a text")?;
        let mut number = || parts.next().and_then(|number| number.parse().ok()).ok_or("five counts are expected");
        Ok(Self {
            text,
            retrievals: number()?,
            helpful: number()?,
            harmful: number()?,
            settled: number()?,
            learned_at: number()?,
        })
    }
}

impl Serialize for Evicted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Evicted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::lesson;

    fn used() -> Lesson {
        Lesson {
            retrievals: 7,
            helpful_retrievals: 3,
            harmful_retrievals: 1,
            settled_retrievals: 5,
            learned_at_recall: 2,
            ..lesson("Pinning NumPy", "Pin it below 2.0.")
        }
    }

    #[test]
    fn a_lesson_that_is_learned_again_gets_its_counts_and_its_age_back_once() {
        let mut book = Book::default();
        book.recalls.insert(used().realm, 40);
        book.remember_evicted(&Lesson { verified: true, ..used() }, 50);
        let mut again = lesson("pinning numpy:", "pin it below 2.0");
        book.begin(&mut again);
        let Lesson { retrievals, helpful_retrievals, harmful_retrievals, settled_retrievals, .. } = again;
        assert_eq!((retrievals, helpful_retrievals, harmful_retrievals, settled_retrievals), (7, 3, 1, 5));
        assert_eq!((again.learned_at_recall, again.shown_at_recall, again.verified), (2, 40, false));
        let mut other = lesson("pinning numpy", "Pin it below 3.0.");
        book.begin(&mut other);
        assert_eq!((other.retrievals, other.learned_at_recall), (0, 40));
        assert!(book.evicted.is_empty());
    }

    #[test]
    fn only_so_many_are_remembered_and_a_removal_forgets() {
        let mut book = Book::default();
        for number in 0..20 {
            book.remember_evicted(&lesson(&format!("lesson {number}"), "s"), 2);
        }
        assert_eq!(book.evicted.len(), 16);
        book.forget_evicted(&lesson("lesson 19", "s"));
        assert_eq!(book.evicted.len(), 15);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let evicted = Evicted::of(&used());
        assert_eq!(evicted.to_string().parse(), Ok(evicted));
        assert!("nothing".parse::<Evicted>().is_err());
    }
}
