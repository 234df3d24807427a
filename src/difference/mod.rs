//! The merge guard: differences that make near lessons distinct, such as conflicting values, opposite polarity or another order
//! (docs/spec/playbook.md, 3.3).
//!
//! ```
//! use adage::{LearnOutcome, Playbook, build_lesson};
//!
//! # let folder = tempfile::tempdir()?;
//! let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
//! playbook.learn_lesson(build_lesson("pinning numpy", "Pin numpy below 2.0."))?;
//! let outcome = playbook.learn_lesson(build_lesson("pinning numpy", "Pin numpy above 2.0."))?;
//! let LearnOutcome::Distinct { why, .. } = outcome else { panic!("{outcome}") };
//! println!("{why}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod agreement;
mod conflict;
mod direction;
mod exchange;
mod forms;
mod order;
mod polarity;
mod side;
mod token;

use std::collections::BTreeSet;

use serde::Serialize;

use crate::lesson::Lesson;
pub(crate) use agreement::{agreement, says_the_same};
pub(crate) use conflict::contradicts;
use exchange::Pair;
use side::{Said, Side};
pub use token::Kind as ValueKind;
use token::{Kind, Token};

/// A field of a lesson.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// The situation.
    #[error("trigger")]
    Trigger,
    /// What not to do.
    #[error("anti-pattern")]
    AntiPattern,
    /// What to do.
    #[error("correct pattern")]
    CorrectPattern,
    /// The task, if it differs from the situation.
    #[error("task")]
    Task,
    /// The mistake, if it differs from what not to do.
    #[error("mistake")]
    Mistake,
    /// The solution, if it differs from what to do.
    #[error("solution")]
    Solution,
    /// The code example.
    #[error("code")]
    Code,
}

impl Field {
    const ALL: [Self; 7] =
        [Self::Trigger, Self::AntiPattern, Self::CorrectPattern, Self::Task, Self::Mistake, Self::Solution, Self::Code];

    fn of(self, lesson: &Lesson) -> &str {
        match self {
            Self::Trigger => &lesson.trigger,
            Self::AntiPattern => &lesson.anti_pattern,
            Self::CorrectPattern => &lesson.correct_pattern,
            Self::Task => &lesson.task,
            Self::Mistake => &lesson.mistake,
            Self::Solution => &lesson.solution,
            Self::Code => &lesson.code_example,
        }
    }

    /// True if the field differs from the one that it is a copy of by default.
    fn adds_to(self, lesson: &Lesson) -> bool {
        let copied = match self {
            Self::Task => Self::Trigger,
            Self::Mistake => Self::AntiPattern,
            Self::Solution => Self::CorrectPattern,
            _ => return true,
        };
        self.of(lesson) != copied.of(lesson)
    }
}

/// How two lessons differ, with the content of each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "difference")]
pub enum Difference {
    /// Different values in the same position.
    #[error("another {kind} in the {field}: {ours} against {theirs}")]
    Value {
        /// Where.
        field: Field,
        /// The kind of value.
        kind: Kind,
        /// The content of this lesson.
        ours: String,
        /// The content of the other lesson.
        theirs: String,
    },
    /// Opposites: always and never, before and after, do and do not.
    #[error("the opposite in the {field}: {} against {}", said(ours, "no negation"), said(theirs, "no negation"))]
    Polarity {
        /// Where.
        field: Field,
        /// The content of this lesson; empty if only the other one has a negation.
        ours: String,
        /// The content of the other lesson; empty if only this one has a negation.
        theirs: String,
    },
    /// One or a few different words in texts that are otherwise equal.
    #[error("exchanged in the {field}: {} against {}", said(ours, "nothing"), said(theirs, "nothing"))]
    Exchange {
        /// Where.
        field: Field,
        /// The content of this lesson; empty if only the other one has content there.
        ours: String,
        /// The content of the other lesson; empty if only this one has content there.
        theirs: String,
    },
    /// Different mistakes, and different advice.
    #[error("another mistake, and other advice")]
    Mistake,
    /// The advice shares too little to be the same.
    #[error("other advice")]
    Advice,
    /// One lesson retracts the advice of the other in the same situation.
    #[error("it contradicts that one")]
    Contradiction,
    /// A program's advice that goes beyond what a person wrote or confirmed.
    #[error("it says more than that one, which a person wrote or confirmed")]
    Beyond,
    /// The same words in another order.
    #[error("the same words in another order in the {field}")]
    Order {
        /// Where.
        field: Field,
    },
}

/// A word, or a placeholder if a lesson has none.
fn said<'a>(word: &'a str, none: &'static str) -> &'a str {
    if word.is_empty() { none } else { word }
}

impl Lesson {
    /// The first difference to another lesson by which they would stay two; `None` if they may be merged.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<Difference> {
        difference(self, other)
    }
}

/// The first difference that makes two lessons distinct; `None` if they may be merged.
pub(crate) fn difference(ours: &Lesson, theirs: &Lesson) -> Option<Difference> {
    let is_alike = agreement(ours, theirs) >= SAME_AGREEMENT;
    let is_compared = |field: &Field| field.adds_to(ours) || field.adds_to(theirs);
    let fields: Vec<Field> = Field::ALL.into_iter().filter(is_compared).collect();
    let ours = Side::new(ours, &fields);
    let theirs = Side::new(theirs, &fields);
    let fields = ours.fields.iter().zip(&theirs.fields).map(|((field, a), (_, b))| (*field, a, b));
    let mut differences = fields
        .filter_map(|(field, a, b)| compare(field, Said { tokens: a, by: &ours }, Said { tokens: b, by: &theirs }));
    differences
        .next()
        .or_else(|| exchange_of(&ours, &theirs))
        .or_else(|| other_mistake(&ours, &theirs))
        .or_else(|| other_advice(&ours, &theirs, is_alike))
}

fn exchange_of(ours: &Side, theirs: &Side) -> Option<Difference> {
    let fields = ours.fields.iter().zip(&theirs.fields);
    let pairs: Vec<Pair<'_>> = fields.map(|((_, ours), (_, theirs))| Pair { ours, theirs }).collect();
    let found = exchange::exchanged(&pairs)?;
    let (field, _) = ours.fields.get(found.field)?;
    Some(Difference::Exchange { field: *field, ours: found.ours, theirs: found.theirs })
}

/// First sentences that agree by this much give the same advice, whatever follows them. Measured.
pub(crate) const SAME_AGREEMENT: f32 = 0.8;

/// Advice that is not the same: what it says is lost if the lessons become one. Measured.
///
/// In a text that is not clearly English, no word can be told from a negation: only the same words are the same advice.
fn other_advice(ours: &Side, theirs: &Side, is_alike: bool) -> Option<Difference> {
    const SAME_ADVICE: f32 = 0.6;
    let (a, b) = (ours.stems(Field::CorrectPattern), theirs.stems(Field::CorrectPattern));
    let n_shared = a.intersection(&b).count() as f32;
    let n_all = a.union(&b).count() as f32;
    let is_english = ours.is_english() || theirs.is_english();
    let is_same = a == b || (is_english && (is_alike || n_shared >= SAME_ADVICE * n_all));
    (!is_same).then_some(Difference::Advice)
}

/// Other mistakes: both name one, they share at most half of the shorter one's words, and the advice is worded differently.
fn other_mistake(ours: &Side, theirs: &Side) -> Option<Difference> {
    const SHARED: f32 = 0.5;
    const SHARED_OF_BOTH: f32 = 1.25;
    let mistake = shared(&ours.stems(Field::AntiPattern), &theirs.stems(Field::AntiPattern))?;
    let advice = shared(&ours.stems(Field::CorrectPattern), &theirs.stems(Field::CorrectPattern))?;
    (mistake <= SHARED && mistake + advice < SHARED_OF_BOTH).then_some(Difference::Mistake)
}

/// The fraction of the shorter one's words that the other one has; none if one has no words.
fn shared(ours: &BTreeSet<String>, theirs: &BTreeSet<String>) -> Option<f32> {
    let n_words = ours.len().min(theirs.len());
    (n_words > 0).then(|| ours.intersection(theirs).count() as f32 / n_words as f32)
}

fn compare(field: Field, ours: Said<'_>, theirs: Said<'_>) -> Option<Difference> {
    let (a, b) = (ours.tokens, theirs.tokens);
    let words = |tokens: &'_ [Token]| tokens.iter().map(|token| token.normal.clone()).collect::<Vec<_>>();
    let (a_words, b_words) = (words(a), words(b));
    if a_words == b_words {
        return respelled(a, b).map(|(kind, ours, theirs)| Difference::Value { field, kind, ours, theirs });
    }
    if order::is_reordered(a, b) || direction::is_turned(a, b) {
        return Some(Difference::Order { field });
    }
    if let Some((kind, ours, theirs)) = conflict(ours, theirs) {
        return Some(Difference::Value { field, kind, ours, theirs });
    }
    let is_advice = matches!(field, Field::CorrectPattern | Field::Solution);
    let negation = || is_advice.then(|| polarity::negation(a, b)).flatten();
    let opposite = polarity::opposites(a, b).or_else(negation);
    opposite.map(|(ours, theirs)| Difference::Polarity { field, ours, theirs })
}

/// The first value that differs in its case alone, in texts that are otherwise equal: `userId` against `userID`.
fn respelled(ours: &[Token], theirs: &[Token]) -> Option<(Kind, String, String)> {
    let name = |token: &Token| token.text.trim_end_matches("()").trim_end_matches('/').to_owned();
    let (ours, theirs) = ours.iter().zip(theirs).find(|(ours, theirs)| {
        let (one, other) = (name(ours), name(theirs));
        ours.kind == theirs.kind && ours.is_name() && one != other && one.eq_ignore_ascii_case(&other)
    })?;
    Some((ours.kind, ours.text.clone(), theirs.text.clone()))
}

/// Values of one kind in the same field, each on one side only.
fn conflict(ours: Said<'_>, theirs: Said<'_>) -> Option<(Kind, String, String)> {
    Kind::VALUES.into_iter().find_map(|kind| Some((kind, ours.only(kind, theirs.by)?, theirs.only(kind, ours.by)?)))
}

#[cfg(test)]
mod tests;
