//! Terms of texts about code: stems of words, identifiers in parts and joined, compounds as written.

use unicode_segmentation::UnicodeSegmentation;

use super::words::{folded, is_stop_word, stem};

const ELLIPSIS: &str = "...";

/// Calls `found` with each term of a text.
///
/// `useState` gives `use`, `state`, `usestate` and, as a compound, `#usestate`; `a.b::c` its parts and `#a.b::c`; `--flag` gives
/// `flag` and `#--flag`; operators such as `===` give `§===`. Stop words give nothing.
pub(crate) fn code_terms(text: &str, mut found: impl FnMut(&str)) {
    tokens(&folded(text)).for_each(|token| token_terms(token, &mut found));
}

/// Words, compounds, flags, numbers and operators, as written.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || next_token(&mut rest))
}

/// Calls `found` with each term of a token.
pub(super) fn token_terms(token: &str, mut found: impl FnMut(&str)) {
    if token.starts_with(is_operator) || token == ELLIPSIS {
        found(&format!("§{token}"));
    } else {
        terms_of(token, &mut found);
    }
}

/// Terms of a word, a compound, a flag or a number.
fn terms_of(token: &str, found: &mut impl FnMut(&str)) {
    let mut n_parts = 0;
    let runs = || token.split(|c: char| !is_word(c)).filter(|run| !run.is_empty());
    for piece in runs().flat_map(|run| run.split('_')) {
        parts(piece, |part| {
            n_parts += 1;
            let lower = part.to_lowercase();
            if !is_stop_word(&lower) {
                found(&stem(&lower));
            }
        });
    }
    if n_parts > 1 || token.starts_with('-') {
        found(&format!("#{}", token.to_lowercase().trim_matches('.')));
    }
    let is_compound = runs().nth(1).is_some();
    for run in runs() {
        let mut joined = String::new();
        let mut n_of_run = 0;
        for piece in run.split('_') {
            parts(piece, |part| {
                n_of_run += 1;
                joined.push_str(&part.to_lowercase());
            });
        }
        if n_of_run > 1 {
            if is_compound {
                found(&format!("#{}", run.to_lowercase()));
            }
            found(&joined);
        }
    }
}

/// Calls `found` with the parts of an identifier without underscores: `parseHTTPHeader2` gives parse, HTTP, Header, 2.
fn parts(piece: &str, mut found: impl FnMut(&str)) {
    // Split by Unicode word boundaries, so that texts without spaces (Chinese, Japanese) are split too.
    if !piece.is_ascii() {
        piece.unicode_words().for_each(found);
        return;
    }
    let bytes = piece.as_bytes();
    let class = |at: usize| bytes.get(at).map(|byte| (byte.is_ascii_digit(), byte.is_ascii_uppercase()));
    let mut start = 0;
    for at in 1..=bytes.len() {
        let (Some(before), Some(here)) = (class(at - 1), class(at)) else { break };
        let begins_word = !here.0 && here.1 && (!before.1 || class(at + 1).is_some_and(|next| next == (false, false)));
        if before.0 != here.0 || begins_word {
            found(piece.get(start..at).unwrap_or_default());
            start = at;
        }
    }
    if start < bytes.len() {
        found(piece.get(start..).unwrap_or_default());
    }
}

/// Takes the next word, compound, flag, number or operator off a text.
fn next_token<'a>(rest: &mut &'a str) -> Option<&'a str> {
    loop {
        let text = *rest;
        let first = text.chars().next()?;
        let len =
            if is_word(first) || is_flag(text) || is_mention(text) { compound_len(text) } else { operator_len(text) };
        let (token, after) = text.split_at(if len == 0 { first.len_utf8() } else { len });
        *rest = after;
        if len > 0 {
            return Some(token);
        }
    }
}

/// The length in bytes of words joined by single separators: `a.b::c-d/e`, after the marks of a flag or a mention.
fn compound_len(text: &str) -> usize {
    let run = |from: usize| {
        let text = text.get(from..).unwrap_or_default();
        text.find(|c: char| !is_word(c)).unwrap_or(text.len())
    };
    let marks = text.len() - text.trim_start_matches(['-', '@']).len();
    let is_flag = is_flag(text);
    let mut len = marks + run(marks);
    loop {
        let after = text.get(len..).unwrap_or_default();
        let joints: &[&str] = if is_flag { &["-"] } else { &["::", ".", "/", "-"] };
        let joint = joints.iter().find(|joint| after.starts_with(**joint)).map_or(0, |joint| joint.len());
        let next = run(len + joint);
        if joint == 0 || next == 0 {
            return len;
        }
        len += joint + next;
    }
}

/// The length in bytes of an operator of two or three characters; none for other characters.
fn operator_len(text: &str) -> usize {
    if text.starts_with(ELLIPSIS) {
        return ELLIPSIS.len();
    }
    match text.bytes().take(3).take_while(|byte| is_operator(char::from(*byte))).count() {
        1 => 0,
        marks => marks,
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_operator(c: char) -> bool {
    "=!<>+*/&|^%~?:".contains(c)
}

fn is_flag(text: &str) -> bool {
    let name = text.strip_prefix("--").or_else(|| text.strip_prefix('-'));
    name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()))
}

fn is_mention(text: &str) -> bool {
    text.strip_prefix('@').is_some_and(|name| name.starts_with(|c: char| c.is_alphabetic() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let mut found = Vec::new();
        code_terms(text, |term| found.push(term.to_owned()));
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn words_are_stems_without_stop_words() {
        check("The parsers were parsing dates.", &["parser", "pars", "date"]);
        check("", &[]);
        check("Größe, größe! 数据", &["größe", "größe", "数", "据", "#数据", "数据"]);
    }

    #[test]
    fn identifiers_are_found_in_parts_joined_and_as_they_are() {
        check("useState", &["use", "state", "#usestate", "usestate"]);
        check("parse_HTTPHeader2", &["pars", "http", "header", "2", "#parse_httpheader2", "parsehttpheader2"]);
        check("E0382", &["e", "0382", "#e0382", "e0382"]);
        check("std::io::ErrorKind", &["std", "io", "error", "kind", "#std::io::errorkind", "#errorkind", "errorkind"]);
    }

    #[test]
    fn flags_operators_and_versions_are_terms() {
        check("git push --force-with-lease", &["git", "push", "forc", "leas", "#--force-with-lease"]);
        check("a === b, x... -n", &["§===", "b", "x", "§...", "n", "#-n"]);
        check("3.10", &["3", "10", "#3.10"]);
        check("a - b = c; d --", &["b", "c", "d"]);
    }
}
