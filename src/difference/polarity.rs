//! Opposites and negations, for the merge guard.

use super::forms::normal_word;
use super::token::Token;
use crate::lexical::is_telling;

/// Pairs of opposites. Synonyms share a side.
const OPPOSITES: [(&[&str], &[&str]); 59] = [
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
    (&["up"], &["down"]),
    (&["inclusive", "inclusively"], &["exclusive", "exclusively"]),
    (&["on"], &["off"]),
    (&["with", "mit"], &["without", "ohne"]),
    (&["immer"], &["nie", "niemals"]),
    (&["vor", "vorher", "bevor", "zuvor"], &["nach", "nachher", "nachdem", "danach"]),
    (&["erlauben", "erlaubt", "zulassen"], &["verbieten", "verboten", "untersagt"]),
    (&["einschalten", "aktivieren", "aktiviert"], &["ausschalten", "deaktivieren", "deaktiviert"]),
    (&["siempre"], &["nunca", "jamás"]),
    (&["antes"], &["después", "despues", "tras"]),
    (&["con"], &["sin"]),
    (&["activar", "habilitar", "activa", "habilita"], &["desactivar", "deshabilitar", "desactiva", "deshabilita"]),
    (&["toujours"], &["jamais"]),
    (&["avant"], &["après", "apres"]),
    (&["avec"], &["sans"]),
    (&["activer", "active"], &["désactiver", "désactive"]),
];

/// Words that negate what follows.
const NEGATIONS: [&str; 26] = [
    "not",
    "no",
    "never",
    "don't",
    "dont",
    "doesn't",
    "cannot",
    "can't",
    "won't",
    "shouldn't",
    "mustn't",
    "isn't",
    "aren't",
    "without",
    "neither",
    "nor",
    "none",
    "nothing",
    "forgot",
    "nicht",
    "nie",
    "kein",
    "keine",
    "keinen",
    "ohne",
    "didn't",
];

/// Stems of verbs that negate.
const NEGATIVE_STEMS: [&str; 8] = ["avoid", "stop", "refus", "disallow", "forbid", "forget", "miss", "lack"];

/// The size of the context around a word, in words.
const COMPANY: usize = 4;

/// A word whose opposite is on the other side in the same context, if neither side has both and no negation inverts one of
/// them.
pub(crate) fn opposites(a: &[Token], b: &[Token]) -> Option<(String, String)> {
    let (ours, theirs) = opposed(a, b, |ours, theirs| is_negated(a, ours) == is_negated(b, theirs))?;
    Some((a.get(ours)?.text.clone(), b.get(theirs)?.text.clone()))
}

/// True if one side negates the opposite of the other side's word: "not inside" for "outside".
pub(super) fn is_double_negation(a: &[Token], b: &[Token]) -> bool {
    opposed(a, b, |ours, theirs| is_negated(a, ours) != is_negated(b, theirs)).is_some()
}

/// The positions of two opposites in the same context, if neither side has both.
fn opposed(a: &[Token], b: &[Token], is_meant: impl Fn(usize, usize) -> bool) -> Option<(usize, usize)> {
    let places = |tokens: &[Token], words: &[&str]| -> Vec<usize> {
        let stems: Vec<String> = words.iter().map(|word| normal_word(word)).collect();
        let said = tokens.iter().enumerate().filter(|(_, token)| stems.contains(&token.normal));
        said.map(|(place, _)| place).collect()
    };
    OPPOSITES.iter().find_map(|(left, right)| {
        let (a_left, a_right) = (places(a, left), places(a, right));
        let (b_left, b_right) = (places(b, left), places(b, right));
        let (ours, theirs) = match (a_left.is_empty(), a_right.is_empty(), b_left.is_empty(), b_right.is_empty()) {
            (false, true, true, false) => (a_left, b_right),
            (true, false, false, true) => (a_right, b_left),
            _ => return None,
        };
        let mut pairs = ours.iter().flat_map(|ours| theirs.iter().map(move |theirs| (*ours, *theirs)));
        pairs.find(|(ours, theirs)| is_in_company(a, *ours, b, *theirs) && is_meant(*ours, *theirs))
    })
}

/// True if both positions have a content word in common around them.
fn is_in_company(a: &[Token], ours: usize, b: &[Token], theirs: usize) -> bool {
    let around = |tokens: &[Token], place: usize| -> Vec<String> {
        let start = place.saturating_sub(COMPANY);
        let company = tokens.iter().enumerate().skip(start).take(2 * COMPANY + 1).filter(|(other, _)| *other != place);
        company.filter(|(_, token)| is_telling(&token.normal)).map(|(_, token)| token.normal.clone()).collect()
    };
    let theirs = around(b, theirs);
    around(a, ours).iter().any(|word| theirs.iter().any(|other| is_same_word(word, other)))
}

/// The same stem, or the same beginning in a language without a stemmer.
fn is_same_word(a: &str, b: &str) -> bool {
    const SHARED: usize = 6;
    a == b || (a.chars().count() > SHARED && a.chars().take(SHARED).eq(b.chars().take(SHARED)))
}

fn is_negated(tokens: &[Token], place: usize) -> bool {
    let before = tokens.get(place.saturating_sub(COMPANY)..place).unwrap_or_default();
    before.iter().filter(|token| is_negation(token)).count() % 2 == 1
}

/// A negation on one side only.
pub(crate) fn negation(a: &[Token], b: &[Token]) -> Option<(String, String)> {
    let first = |tokens: &[Token]| tokens.iter().find(|token| is_negation(token)).map(|token| token.text.clone());
    match (first(a), first(b)) {
        (Some(_), Some(_)) | (None, None) => None,
        (ours, theirs) => Some((ours.unwrap_or_default(), theirs.unwrap_or_default())),
    }
}

fn is_negation(token: &Token) -> bool {
    let lower = token.text.to_lowercase().replace('’', "'");
    token.normal == "not" || NEGATIONS.contains(&lower.as_str()) || NEGATIVE_STEMS.contains(&token.normal.as_str())
}
