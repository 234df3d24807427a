//! The tokens of one of two lessons that are compared.

use std::collections::BTreeSet;

use super::Field;
use super::token::{Kind, Token, tokens};
use crate::lesson::Lesson;
use crate::lexical::{is_telling, stem};

/// The tokens of one lesson.
pub(super) struct Side {
    pub(super) fields: Vec<(Field, Vec<Token>)>,
    /// All values of the lesson: a value that the other lesson has in another position is not a conflict.
    said: BTreeSet<String>,
    /// The names among these.
    names: BTreeSet<String>,
}

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
        Self { fields, said, names }
    }

    /// The content words of a field.
    pub(super) fn stems(&self, wanted: Field) -> BTreeSet<String> {
        let tokens = self.fields.iter().filter(|(field, _)| *field == wanted).flat_map(|(_, tokens)| tokens);
        tokens.filter(|token| is_telling(&token.normal)).map(Token::key).collect()
    }

    /// True if a field has a word that hardly any other language has.
    pub(super) fn is_english(&self) -> bool {
        const ENGLISH: [&str; 8] = ["the", "and", "with", "that", "this", "from", "to", "it"];
        let mut tokens = self.fields.iter().flat_map(|(_, tokens)| tokens);
        tokens.any(|token| ENGLISH.contains(&token.text.to_lowercase().as_str()))
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
