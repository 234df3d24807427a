//! Words that turn a sentence round, for the merge guard.

use super::token::Token;
use crate::lexical::stem;

/// Words of which each says the opposite of the other. Synonyms share a side.
const OPPOSITES: [(&[&str], &[&str]); 44] = [
    (&["always"], &["never"]),
    (&["before", "prior", "ahead"], &["after", "afterwards", "following"]),
    (&["enable", "enabled", "enabling"], &["disable", "disabled", "disabling"]),
    (&["below", "under", "beneath"], &["above", "over"]),
    (&["allow", "permit", "allowed"], &["deny", "forbid", "disallow", "prohibit", "denied", "reject"]),
    (&["ascending", "asc"], &["descending", "desc"]),
    (&["increase", "raise", "increasing"], &["decrease", "lower", "reduce", "decreasing"]),
    (&["first"], &["last"]),
    (&["minimum", "min", "least"], &["maximum", "max", "most"]),
    (&["smaller", "fewer", "less"], &["larger", "greater", "more", "bigger"]),
    (&["include", "including"], &["exclude", "excluding"]),
    (&["synchronous", "sync", "synchronously"], &["asynchronous", "async", "asynchronously"]),
    (&["left"], &["right"]),
    (&["start", "begin"], &["stop", "end"]),
    (&["older", "oldest", "old"], &["newer", "newest", "new", "latest"]),
    (&["public"], &["private"]),
    (&["add", "append", "insert"], &["remove", "delete", "drop"]),
    (&["push", "upload"], &["pull", "download"]),
    (&["read", "reading"], &["write", "writing"]),
    (&["uppercase", "upper"], &["lowercase", "lower"]),
    (&["local", "locally"], &["remote", "remotely", "global", "globally"]),
    (&["client"], &["server"]),
    (&["encode", "encoding"], &["decode", "decoding"]),
    (&["encrypt"], &["decrypt"]),
    (&["serialize", "serialise"], &["deserialize", "deserialise"]),
    (&["true"], &["false"]),
    (&["open"], &["close"]),
    (&["lock"], &["unlock"]),
    (&["mutable"], &["immutable"]),
    (&["install"], &["uninstall"]),
    (&["mount"], &["unmount"]),
    (&["import"], &["export"]),
    (&["input"], &["output"]),
    (&["accept"], &["reject", "refuse"]),
    (&["success", "succeed", "succeeds", "pass", "passes"], &["failure", "fail", "fails"]),
    (&["outside"], &["inside", "within"]),
    (&["forward", "forwards"], &["backward", "backwards"]),
    (&["horizontal", "horizontally"], &["vertical", "vertically"]),
    (&["row", "rows"], &["column", "columns"]),
    (&["upgrade"], &["downgrade"]),
    (&["production"], &["development", "staging"]),
    (&["eager", "eagerly"], &["lazy", "lazily"]),
    (&["required", "mandatory"], &["optional"]),
    (&["with"], &["without"]),
];

/// Words that negate what follows.
const NEGATIONS: [&str; 26] = [
    "not", "no", "never", "don't", "dont", "doesn't", "cannot", "can't", "won't", "shouldn't", "mustn't", "isn't", "aren't",
    "without", "avoid", "avoids", "neither", "nor", "none", "nothing", "stop", "refuse", "disallow", "forbid", "nicht", "nie",
];

/// What a stretch of text has of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Polarity {
    pub(crate) n_negations: usize,
    /// The first negation, as it stands.
    pub(crate) negation: Option<String>,
}

/// The negations of a stretch.
pub(crate) fn of(tokens: &[Token]) -> Polarity {
    let mut found = tokens.iter().filter(|token| is_negation(token));
    let negation = found.next().map(|token| token.text.clone());
    Polarity { n_negations: usize::from(negation.is_some()) + found.count(), negation }
}

fn is_negation(token: &Token) -> bool {
    let lower = token.text.to_lowercase().replace('’', "'");
    NEGATIONS.contains(&lower.as_str())
}

/// A word of one side whose opposite stands on the other, where neither side says both.
pub(crate) fn opposites(a: &[Token], b: &[Token]) -> Option<(String, String)> {
    let said = |tokens: &[Token], words: &[&str]| -> Option<String> {
        let stems: Vec<String> = words.iter().map(|word| stem(word)).collect();
        tokens.iter().find(|token| stems.contains(&token.normal)).map(|token| token.text.clone())
    };
    OPPOSITES.iter().find_map(|(left, right)| {
        let of_a = (said(a, left), said(a, right));
        let of_b = (said(b, left), said(b, right));
        match (of_a, of_b) {
            ((Some(ours), None), (None, Some(theirs))) | ((None, Some(ours)), (Some(theirs), None)) => Some((ours, theirs)),
            _ => None,
        }
    })
}
