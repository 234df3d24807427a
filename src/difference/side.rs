//! The tokens of one of two lessons that are compared.

use std::collections::BTreeSet;

use super::token::{Kind, Token, first_sentence, tokens};
use super::{Difference, Field, conflict};
use crate::lesson::Lesson;
use crate::lexical::{is_telling, stem, terms};

/// The tokens of one lesson.
pub(super) struct Side {
    pub(super) fields: Vec<(Field, Vec<Token>)>,
    /// All values of the lesson: a value that the other lesson has in another position is not a conflict.
    said: BTreeSet<String>,
    /// The names among these.
    names: BTreeSet<String>,
    /// The stems of its subject.
    pub(super) content: BTreeSet<String>,
}

/// Words that begin a condition.
const CONDITIONS: [&str; 6] = ["when", "if", "unless", "except", "while", "until"];

/// Stems of words that phrase a rule on any subject.
pub(super) const PHRASING: [&str; 20] = [
    "rule", "disallow", "enforc", "requir", "prevent", "ensur", "check", "avoid", "prefer", "aim", "use", "usag",
    "alway", "never", "make", "sure", "must", "warn", "report", "flag",
];

impl Side {
    pub(super) fn new(lesson: &Lesson, fields: &[Field]) -> Self {
        let fields: Vec<(Field, Vec<Token>)> = fields.iter().map(|field| (*field, tokens(field.of(lesson)))).collect();
        let tokens = || fields.iter().flat_map(|(_, tokens)| tokens);
        let said = tokens().map(|token| token.normal.clone()).collect();
        let names = tokens().filter(|token| token.is_name()).map(|token| token.normal.clone()).collect();
        let texts = [&lesson.trigger, &lesson.anti_pattern, &lesson.correct_pattern];
        let content = texts.into_iter().flat_map(|text| terms(text)).filter(|term| !PHRASING.contains(&term.as_str()));
        Self { content: content.collect(), said, names, fields }
    }

    pub(super) fn trigger(&self) -> Vec<&str> {
        let trigger = self.fields.first().map(|(_, tokens)| tokens.as_slice()).unwrap_or_default();
        trigger.iter().map(|token| token.normal.as_str()).collect()
    }

    /// True if its advice rejects something.
    pub(super) fn turns(&self) -> bool {
        let advice = self.fields.iter().filter(|(field, _)| *field == Field::CorrectPattern);
        advice.flat_map(|(_, tokens)| tokens).any(conflict::is_turn)
    }

    /// The content words of a field.
    pub(super) fn stems(&self, wanted: Field) -> BTreeSet<String> {
        let tokens = self.fields.iter().filter(|(field, _)| *field == wanted).flat_map(|(_, tokens)| tokens);
        tokens.filter(|token| is_telling(&token.normal)).map(Token::key).collect()
    }

    /// The condition in the first sentence of a field, if the other side has none.
    pub(super) fn condition_beyond(&self, other: &Self) -> Option<Difference> {
        let is_condition = |token: &&Token| CONDITIONS.contains(&token.text.to_lowercase().as_str());
        if other.fields.iter().flat_map(|(_, tokens)| tokens).any(|token| is_condition(&token)) {
            return None;
        }
        let first_sentences = self.fields.iter().flat_map(|(_, tokens)| first_sentence(tokens));
        let condition = first_sentences.into_iter().find(is_condition)?;
        Some(Difference::Scope { condition: condition.text.clone() })
    }

    pub(super) fn says(&self, token: &Token) -> bool {
        self.said.contains(&token.normal)
            || self.said.contains(&stem(&token.normal))
            || self.names.iter().any(|name| token.is_same_name(name))
    }
}

/// One field of one lesson.
#[derive(Clone, Copy)]
pub(super) struct Said<'a> {
    pub(super) tokens: &'a [Token],
    pub(super) by: &'a Side,
}

impl Said<'_> {
    /// A value of this kind that the other side lacks.
    pub(super) fn only(self, kind: Kind, other: &Side) -> Option<String> {
        let own = self.tokens.iter().find(|token| token.kind == kind && !other.says(token));
        own.map(|token| token.text.clone())
    }
}
