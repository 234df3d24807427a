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
    /// Short texts about different subjects: they have too few words for one to be a rewording.
    #[error("another subject: {ours} against {theirs}")]
    Subject {
        /// The subject of this lesson only.
        ours: String,
        /// The subject of the other lesson only.
        theirs: String,
    },
    /// A short text with a condition that the other text lacks.
    #[error("only one of them has the condition: {condition} …")]
    Scope {
        /// The word that begins the condition.
        condition: String,
    },
}

/// A word, or a placeholder if a lesson has none.
fn said<'a>(word: &'a str, none: &'static str) -> &'a str {
    if word.is_empty() { none } else { word }
}

/// The first difference that makes two lessons distinct; `None` if they may be merged.
pub(crate) fn difference(ours: &Lesson, theirs: &Lesson) -> Option<Difference> {
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
        .or_else(|| short(&ours, &theirs))
}

fn exchange_of(ours: &Side, theirs: &Side) -> Option<Difference> {
    let fields = ours.fields.iter().zip(&theirs.fields);
    let pairs: Vec<Pair<'_>> = fields.map(|((_, ours), (_, theirs))| Pair { ours, theirs }).collect();
    let found = exchange::exchanged(&pairs)?;
    let (field, _) = ours.fields.get(found.field)?;
    Some(Difference::Exchange { field: *field, ours: found.ours, theirs: found.theirs })
}

/// Different mistakes: both name one, in words that the other lacks, and the advice is not in the same words; if the situation
/// is worded differently too, one of them rejects something.
fn other_mistake(ours: &Side, theirs: &Side) -> Option<Difference> {
    const SHARED: f32 = 0.5;
    const SHARED_OF_BOTH: f32 = 1.25;
    let mistake = shared(&ours.stems(Field::AntiPattern), &theirs.stems(Field::AntiPattern))?;
    let advice = shared(&ours.stems(Field::CorrectPattern), &theirs.stems(Field::CorrectPattern))?;
    let is_turned = || ours.turns() != theirs.turns();
    let is_other = mistake <= SHARED && mistake + advice < SHARED_OF_BOTH;
    (is_other && (ours.trigger() == theirs.trigger() || is_turned())).then_some(Difference::Mistake)
}

/// The fraction of the shorter one's words that the other one has; none if one has no words.
fn shared(ours: &BTreeSet<String>, theirs: &BTreeSet<String>) -> Option<f32> {
    let n_words = ours.len().min(theirs.len());
    (n_words > 0).then(|| ours.intersection(theirs).count() as f32 / n_words as f32)
}

/// The difference of short texts, unless the trigger is the same. Short lessons are distinct if each side has a word that the
/// other lacks, or if one side has an additional condition. Longer texts may be rewordings.
fn short(ours: &Side, theirs: &Side) -> Option<Difference> {
    const MAX_SUBJECT_WORDS: usize = 6;
    const MAX_SCOPE_WORDS: usize = 6;
    let (a, b) = (&ours.content, &theirs.content);
    let n_words = a.len().min(b.len());
    if ours.trigger() == theirs.trigger() {
        return None;
    }
    match (a.difference(b).next(), b.difference(a).next()) {
        (Some(ours), Some(theirs)) if n_words <= MAX_SUBJECT_WORDS => {
            Some(Difference::Subject { ours: ours.clone(), theirs: theirs.clone() })
        }
        (Some(_), None) if n_words <= MAX_SCOPE_WORDS => ours.condition_beyond(theirs),
        (None, Some(_)) if n_words <= MAX_SCOPE_WORDS => theirs.condition_beyond(ours),
        _ => None,
    }
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
    let opposite = polarity::opposites(a, b).or_else(|| polarity::negation(a, b));
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
