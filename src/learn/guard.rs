//! The merge guard (playbook 3.3): two texts can lie close and still say different things.
//!
//! An embedding hardly sees values: "pin numpy below 2.0" and "pin numpy above 2.0" are nearly the same point. The guard
//! aligns the two texts field by field and looks at what stands in the same place. It is a pure function of the texts and
//! names what it found.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;
use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::polarity::{self, Polarity};
use super::token::{Kind, Token, tokens};
use crate::lesson::Lesson;
use crate::lexical::terms;

/// Which field of a lesson.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// The situation.
    Trigger,
    /// What not to do.
    AntiPattern,
    /// What to do.
    CorrectPattern,
}

/// Why two lessons are not the same, with what each of them says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "difference")]
pub enum Difference {
    /// Another value in the same place.
    Value {
        /// Where.
        field: Field,
        /// What sort of value.
        kind: Kind,
        /// What the lesson at hand says.
        ours: String,
        /// What the other one says.
        theirs: String,
    },
    /// The opposite: always and never, before and after, do and do not.
    Polarity {
        /// Where.
        field: Field,
        /// What the lesson at hand says; empty where only the other one negates.
        ours: String,
        /// What the other one says; empty where only the lesson at hand negates.
        theirs: String,
    },
    /// The same words in another order.
    Order {
        /// Where.
        field: Field,
    },
    /// A short text about something else: too few words for one of them to be exchanged.
    Subject {
        /// What only the lesson at hand speaks of.
        ours: String,
        /// What only the other one speaks of.
        theirs: String,
    },
    /// A short text with a condition that the other one lacks.
    Scope {
        /// The word that begins the condition.
        condition: String,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = |field: &Field| match field {
            Field::Trigger => "trigger",
            Field::AntiPattern => "anti-pattern",
            Field::CorrectPattern => "correct pattern",
        };
        match self {
            Self::Value { field, kind, ours, theirs } => {
                write!(f, "another {kind} in the {}: {ours} against {theirs}", place(field))
            }
            Self::Polarity { field, ours, theirs } => {
                let said = |word: &str| if word.is_empty() { "no negation".to_owned() } else { word.to_owned() };
                write!(f, "the opposite in the {}: {} against {}", place(field), said(ours), said(theirs))
            }
            Self::Order { field } => write!(f, "the same words in another order in the {}", place(field)),
            Self::Subject { ours, theirs } => write!(f, "another subject: {ours} against {theirs}"),
            Self::Scope { condition } => write!(f, "only one of them has the condition: {condition} …"),
        }
    }
}

/// The first difference that keeps two lessons apart, or `None` when they may be one.
pub(crate) fn difference(ours: &Lesson, theirs: &Lesson) -> Option<Difference> {
    let ours = Side::new(ours);
    let theirs = Side::new(theirs);
    let mut fields = ours.fields.iter().zip(&theirs.fields);
    fields.find_map(|((field, a), (_, b))| compare(*field, (a, &ours), (b, &theirs))).or_else(|| short(&ours, &theirs))
}

/// What short texts differ in. A lesson of a few words has none to spare: where each side has one that the other lacks, or
/// one side has a condition on top, they are two lessons. Longer texts say the same thing in other words.
fn short(ours: &Side, theirs: &Side) -> Option<Difference> {
    const MAX_SUBJECT_WORDS: usize = 5;
    const MAX_SCOPE_WORDS: usize = 6;
    let (a, b) = (&ours.content, &theirs.content);
    let n_words = a.len().min(b.len());
    match (a.difference(b).next(), b.difference(a).next()) {
        (Some(ours), Some(theirs)) if n_words <= MAX_SUBJECT_WORDS => {
            Some(Difference::Subject { ours: ours.clone(), theirs: theirs.clone() })
        }
        (Some(_), None) if n_words <= MAX_SCOPE_WORDS => ours.condition_beyond(theirs),
        (None, Some(_)) if n_words <= MAX_SCOPE_WORDS => theirs.condition_beyond(ours),
        _ => None,
    }
}

/// The tokens of one lesson.
struct Side {
    fields: [(Field, Vec<Token>); 3],
    /// Everything the lesson says anywhere: a value that the other one says in another place is no conflict.
    said: BTreeSet<String>,
    /// The stems that say what it is about.
    content: BTreeSet<String>,
}

/// Words that begin a condition.
const CONDITIONS: [&str; 6] = ["when", "if", "unless", "except", "while", "until"];

/// Words by which rules are phrased, whatever they are about; as stems.
const PHRASING: [&str; 17] = [
    "rule", "disallow", "enforc", "requir", "prevent", "ensur", "check", "avoid", "prefer", "aim", "use", "usag", "alway",
    "never", "make", "sure", "must",
];

impl Side {
    fn new(lesson: &Lesson) -> Self {
        let fields = [
            (Field::Trigger, tokens(&lesson.trigger)),
            (Field::AntiPattern, tokens(&lesson.anti_pattern)),
            (Field::CorrectPattern, tokens(&lesson.correct_pattern)),
        ];
        let mut said: BTreeSet<String> = BTreeSet::new();
        for token in fields.iter().flat_map(|(_, tokens)| tokens) {
            said.extend(token.parts().map(str::to_owned));
            said.insert(token.normal.clone());
        }
        let texts = [&lesson.trigger, &lesson.anti_pattern, &lesson.correct_pattern];
        let content = texts.into_iter().flat_map(|text| terms(text)).filter(|term| !PHRASING.contains(&term.as_str()));
        Self { content: content.collect(), fields, said }
    }

    /// The condition in the first sentence of a field, where the other side has none at all.
    fn condition_beyond(&self, other: &Self) -> Option<Difference> {
        let is_condition = |token: &&Token| CONDITIONS.contains(&token.text.to_lowercase().as_str());
        if other.fields.iter().flat_map(|(_, tokens)| tokens).any(|token| is_condition(&token)) {
            return None;
        }
        let first_sentences = self.fields.iter().flat_map(|(_, tokens)| first_sentence(tokens));
        let condition = first_sentences.into_iter().find(is_condition)?;
        Some(Difference::Scope { condition: condition.text.clone() })
    }

    fn says(&self, token: &Token) -> bool {
        self.said.contains(&token.normal) || token.is_abbreviation_within(&self.said)
    }
}

/// The tokens up to the first one that ends a sentence.
fn first_sentence(tokens: &[Token]) -> &[Token] {
    let end = tokens.iter().position(|token| token.ends_sentence).map_or(tokens.len(), |place| place + 1);
    tokens.get(..end).unwrap_or(tokens)
}

fn compare(field: Field, (a, ours): (&[Token], &Side), (b, theirs): (&[Token], &Side)) -> Option<Difference> {
    let (a_words, b_words): (Vec<&str>, Vec<&str>) =
        (a.iter().map(|token| token.normal.as_str()).collect(), b.iter().map(|token| token.normal.as_str()).collect());
    if a_words == b_words {
        return None;
    }
    if is_reordered(&a_words, &b_words) {
        return Some(Difference::Order { field });
    }
    if let Some((ours, theirs)) = polarity::opposites(a, b) {
        return Some(Difference::Polarity { field, ours, theirs });
    }
    let mut n_same = 0;
    let mut negations = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &a_words, &b_words) {
        let (Some(a), Some(b)) = (a.get(op.old_range()), b.get(op.new_range())) else { continue };
        if op.tag() == DiffTag::Equal {
            n_same += a.len();
            continue;
        }
        if let Some((kind, ours, theirs)) = conflict(a, ours, b, theirs) {
            return Some(Difference::Value { field, kind, ours, theirs });
        }
        negations.push((polarity::of(a), polarity::of(b)));
    }
    negation(field, &negations, n_same, a.len().max(b.len()))
}

/// The same words, as often, in another order.
fn is_reordered(a: &[&str], b: &[&str]) -> bool {
    let sorted = |words: &[&str]| {
        let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        words.sort_unstable();
        words
    };
    a.len() == b.len() && sorted(a) == sorted(b)
}

/// Values of one kind that stand in the same place, each said by one side only.
fn conflict(a: &[Token], ours: &Side, b: &[Token], theirs: &Side) -> Option<(Kind, String, String)> {
    Kind::VALUES.into_iter().find_map(|kind| {
        let only = |tokens: &'_ [Token], other: &Side| {
            tokens.iter().find(|token| token.kind == kind && !other.says(token)).map(|token| token.text.clone())
        };
        Some((kind, only(a, theirs)?, only(b, ours)?))
    })
}

/// One side negates what the other says in nearly the same words. Between texts that are worded differently a negation
/// tells nothing: "use A, not B" is "avoid B, use A".
fn negation(field: Field, places: &[(Polarity, Polarity)], n_same: usize, length: usize) -> Option<Difference> {
    const SAME_WORDING: f32 = 0.7;
    let count = |side: fn(&(Polarity, Polarity)) -> &Polarity| places.iter().map(|place| side(place).n_negations).sum::<usize>();
    let (ours, theirs) = (count(|place| &place.0), count(|place| &place.1));
    if (ours + theirs) % 2 == 0 || (n_same as f32) < SAME_WORDING * length as f32 {
        return None;
    }
    let word = |side: fn(&(Polarity, Polarity)) -> &Polarity| {
        places.iter().find_map(|place| side(place).negation.clone()).unwrap_or_default()
    };
    Some(Difference::Polarity { field, ours: word(|place| &place.0), theirs: word(|place| &place.1) })
}
