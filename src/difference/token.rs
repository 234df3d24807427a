//! Words and values of a lesson's text, for the merge guard.

use serde::Serialize;

use super::forms::{canonical, is_abbreviation, normal_number, normal_word};

/// The kind of a token. Every token except a word is a value: a different value in the same position makes a different lesson.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// A comparison: `<`, `>=`, `==`.
    #[error("comparison")]
    Comparison,
    /// A number or version, with its unit: `3`, `v2.1`, `10ms`, `50%`.
    #[error("number")]
    Number,
    /// A command-line flag: `--force`, `-x`.
    #[error("flag")]
    Flag,
    /// A path, URL or file name: `src/main.rs`, `~/.ssh`.
    #[error("path")]
    Path,
    /// A name from code: `snake_case`, `camelCase`, `a::b`, `HTTP`, `f()`, or text in backticks.
    #[error("identifier")]
    Identifier,
    /// An ordinary word.
    #[error("word")]
    Word,
}

impl Kind {
    /// The kinds that are compared, in the order in which they are reported.
    pub(crate) const VALUES: [Self; 5] = [Self::Comparison, Self::Number, Self::Flag, Self::Path, Self::Identifier];
}

/// A word or value of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    /// As written in the text.
    pub(crate) text: String,
    /// What is written between it and the token before it; none if that is white space.
    pub(crate) joint: Option<String>,
    /// Its normal form: the stem of a word; a value in lower case without quotes and call brackets.
    pub(crate) normal: String,
    /// True when a full stop, question or exclamation mark follows.
    pub(crate) ends_sentence: bool,
    /// True when any punctuation follows.
    pub(crate) ends_clause: bool,
}

impl Token {
    pub(super) fn new(kind: Kind, text: &str) -> Self {
        let lower = text.to_lowercase();
        let normal = match kind {
            Kind::Word => normal_word(&lower),
            Kind::Flag if !text.starts_with("--") => text.to_owned(),
            Kind::Number => normal_number(&lower),
            // `HTTP_PROXY` is not `http_proxy`.
            Kind::Identifier if is_constant(text) => text.to_owned(),
            Kind::Identifier => lower.trim_end_matches("()").to_owned(),
            _ => lower.trim_end_matches('/').to_owned(),
        };
        Self { kind, text: text.to_owned(), joint: None, normal, ends_sentence: false, ends_clause: false }
    }

    /// The key for aligning it: a name that is a word counts as a word.
    pub(crate) fn key(&self) -> String {
        let is_word = self.kind == Kind::Identifier && self.text.chars().all(char::is_lowercase);
        if is_word { normal_word(&self.normal) } else { self.normal.clone() }
    }

    pub(crate) fn is_name(&self) -> bool {
        matches!(self.kind, Kind::Identifier | Kind::Path)
    }

    /// True if one of the two names is the other with a prefix: `read_text` and `Path.read_text`.
    pub(crate) fn is_same_name(&self, name: &str) -> bool {
        let ends_with = |long: &str, short: &str| {
            long.strip_suffix(short).is_some_and(|before| before.ends_with(['.', ':', '/']) && !short.is_empty())
        };
        self.is_name() && (ends_with(&self.normal, name) || ends_with(name, &self.normal))
    }
}

/// Splits a text into words and values.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    for (position, span) in text.split('`').enumerate() {
        let is_code = position % 2 == 1;
        for chunk in span.split_whitespace() {
            let is_within = found.last().is_some_and(|last: &Token| !last.ends_clause);
            let n_before = found.len();
            split_chunk(chunk, is_code, &mut found);
            note_joints(chunk, found.get_mut(n_before..).unwrap_or_default());
            match found.get_mut(n_before..) {
                // "plan A": a name, not an article.
                Some([letter]) if is_within && is_letter(&letter.text) => letter.kind = Kind::Identifier,
                Some([]) if is_sign(chunk, is_code) => found.push(Token::new(Kind::Identifier, chunk)),
                _ => {}
            }
            if let Some(last) = found.last_mut() {
                last.ends_sentence |= chunk.ends_with(['.', '!', '?']);
                last.ends_clause |= chunk.ends_with(['.', '!', '?', ',', ';', ':', '–', '—', ')']);
            }
        }
    }
    canonical(found)
}

/// Records what is written between the tokens of a chunk, which has no white space: `==` and `2.0` of `==2.0` are joined by nothing.
fn note_joints(chunk: &str, tokens: &mut [Token]) {
    let mut rest = chunk;
    let mut is_first = true;
    for token in tokens {
        let Some((between, behind)) = rest.split_once(token.text.as_str()) else { return };
        token.joint = (!is_first).then(|| between.to_owned());
        (rest, is_first) = (behind, false);
    }
}

/// True for a name of several words in capitals, such as that of an environment variable.
fn is_constant(text: &str) -> bool {
    text.contains('_') && text.contains(char::is_alphabetic) && !text.contains(char::is_lowercase)
}

fn is_letter(text: &str) -> bool {
    text.len() == 1 && text != "I" && text.starts_with(|c: char| c.is_ascii_uppercase())
}

/// True for punctuation that is mentioned as a word: quoted, or on its own where none is expected.
fn is_sign(chunk: &str, is_code: bool) -> bool {
    // "0 3 * * *": the last field of a cron expression.
    let bare = chunk.trim_matches(['"', '\'', '.']);
    let is_quoted = chunk.len() > 2 && chunk.starts_with(['"', '\'']) && chunk.ends_with(['"', '\'']);
    is_code || is_quoted || matches!(bare, ";" | "," | "|" | "/" | "\\" | "*" | "^")
}

/// The tokens up to the first one that ends a sentence.
pub(crate) fn first_sentence(tokens: &[Token]) -> &[Token] {
    let end = tokens.iter().position(|token| token.ends_sentence).map_or(tokens.len(), |place| place + 1);
    tokens.get(..end).unwrap_or(tokens)
}

fn split_chunk(chunk: &str, is_code: bool, found: &mut Vec<Token>) {
    if !chunk.is_empty() && chunk.chars().all(|c| matches!(c, '<' | '>' | '=' | '!')) && chunk.contains(['<', '>', '='])
    {
        found.push(Token::new(Kind::Comparison, chunk));
        return;
    }
    let is_value = is_code || is_quoted(chunk);
    let chunk = trim(chunk);
    if chunk.is_empty() {
        return;
    }
    // "numpy<2", ">=1.5": the comparison is a value of its own.
    if let Some(start) = chunk.find(['<', '>', '=']).filter(|_| chunk.contains(['<', '>']) || chunk.contains("==")) {
        let (before, rest) = chunk.split_at(start);
        let end = rest.find(|c| !matches!(c, '<' | '>' | '=')).unwrap_or(rest.len());
        let (comparison, after) = rest.split_at(end);
        if !matches!(comparison, "=>") && !after.ends_with('>') {
            split_chunk(before, is_code, found);
            found.push(Token::new(Kind::Comparison, comparison));
            split_chunk(after, is_code, found);
            return;
        }
    }
    // "timeout=5": a name and its value.
    if let Some((name, value)) = chunk.split_once('=').filter(|(name, value)| !name.is_empty() && !value.is_empty()) {
        split_chunk(name, true, found);
        split_chunk(value, true, found);
        return;
    }
    let kind = if is_lettered(chunk) { Kind::Identifier } else { kind_of(chunk, is_value) };
    if kind == Kind::Word && chunk.contains(['-', '/', '\'', '’', ',', ';', '(', ')', '.']) {
        let parts = chunk.split(['-', '/', ',', ';', '(', ')', '.']).map(trim).filter(|part| !part.is_empty());
        found.extend(parts.map(|part| Token::new(Kind::Word, part)));
        return;
    }
    found.push(Token::new(kind, chunk));
}

/// True for a single word in double quotes: `set it to "off"`.
fn is_quoted(chunk: &str) -> bool {
    let chunk = chunk.trim_end_matches(['.', ',', ';', ':', ')']);
    chunk.len() > 2 && chunk.starts_with('"') && chunk.ends_with('"')
}

/// True for a name with a letter that distinguishes it from its siblings: "node-a", "plan-B".
fn is_lettered(chunk: &str) -> bool {
    let is_name = |name: &str| name.len() > 1 && name.chars().all(|c| c.is_alphanumeric() || c == '-');
    chunk.rsplit_once('-').is_some_and(|(name, letter)| {
        is_name(name) && letter.len() == 1 && letter.starts_with(|c: char| c.is_ascii_alphabetic())
    })
}

/// The token without surrounding punctuation, except punctuation that belongs to a value.
fn trim(chunk: &str) -> &str {
    let is_outer = |c: char| {
        matches!(c, '"' | '\'' | '“' | '”' | '‘' | '’' | '„' | '«' | '»' | ',' | ';' | '!' | '?' | '…' | '*' | ':')
    };
    let mut chunk = chunk.trim_matches(is_outer);
    chunk = chunk.trim_end_matches(['.', ':']).trim_matches(is_outer);
    // "<2.0" is a bound.
    let is_bound =
        chunk.starts_with('<') && chunk.trim_start_matches(['<', '=']).starts_with(|c: char| c.is_ascii_digit());
    let brackets = [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')];
    for (open, close) in brackets.into_iter().filter(|(open, _)| *open != '<' || !is_bound) {
        // An unpaired bracket belongs to the sentence; that of `f()` belongs to the name.
        let is_wrapped = chunk.starts_with(open) && chunk.ends_with(close);
        if is_wrapped || (chunk.starts_with(open) && !chunk.contains(close)) {
            chunk = chunk.trim_start_matches(open);
        }
        if is_wrapped || (chunk.ends_with(close) && !chunk.contains(open)) {
            chunk = chunk.trim_end_matches(close);
        }
    }
    chunk.trim_matches(is_outer).trim_end_matches(['.', ':'])
}

fn kind_of(chunk: &str, is_code: bool) -> Kind {
    let mut chars = chunk.chars();
    let (first, second) = (chars.next().unwrap_or(' '), chars.next().unwrap_or(' '));
    let is_number = first.is_ascii_digit()
        || (matches!(first, 'v' | 'V' | '-' | '+' | '.' | '$' | '~' | '^') && second.is_ascii_digit());
    if is_number {
        return Kind::Number;
    }
    if first == '-' && (second == '-' || second.is_alphabetic()) {
        return Kind::Flag;
    }
    let lower = chunk.to_lowercase();
    if normal_number(&lower).bytes().all(|byte| byte.is_ascii_digit()) || lower == "twice" {
        return Kind::Number;
    }
    let has_letter = chunk.chars().any(char::is_alphabetic);
    if !is_code && is_abbreviation(&chunk.to_lowercase()) {
        return Kind::Word;
    }
    if has_letter && is_path(chunk) {
        return Kind::Path;
    }
    if has_letter && (is_code || is_name_of_code(chunk)) { Kind::Identifier } else { Kind::Word }
}

fn is_path(chunk: &str) -> bool {
    chunk.contains("://")
        || chunk.starts_with(['/', '~', '.']) && chunk.contains('/')
        || chunk.matches('/').count() >= 2
        || (chunk.contains('/') && chunk.contains('.'))
        || chunk.rsplit_once('.').is_some_and(|(stem, extension)| {
            !stem.is_empty() && EXTENSIONS.contains(&extension.to_lowercase().as_str())
        })
}

/// Extensions that distinguish a file name from a name with a dot.
const EXTENSIONS: [&str; 34] = [
    "rs", "py", "js", "ts", "tsx", "jsx", "json", "toml", "yaml", "yml", "md", "txt", "sh", "lock", "cfg", "ini",
    "env", "sql", "html", "css", "xml", "csv", "go", "c", "h", "cpp", "java", "rb", "log", "zip", "gz", "conf", "tf",
    "tfplan",
];

fn is_name_of_code(chunk: &str) -> bool {
    let inner = chunk.get(1..chunk.len().saturating_sub(1)).unwrap_or_default();
    let has_inner_capital = chunk.chars().zip(chunk.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    let is_acronym = chunk.chars().filter(|c| c.is_uppercase()).count() >= 2 && !chunk.chars().any(char::is_lowercase);
    chunk.contains('_')
        || chunk.ends_with(['+', '#'])
        || chunk.starts_with('.')
        || chunk.contains("::")
        || chunk.contains("()")
        || chunk.contains('@')
        || (inner.contains('.') && !inner.contains(' '))
        || has_inner_capital
        || is_acronym
        || (chunk.chars().any(|c| c.is_ascii_digit()) && chunk.is_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(Kind, &str)]) {
        let found: Vec<(Kind, String)> = tokens(text).into_iter().map(|token| (token.kind, token.normal)).collect();
        let expected: Vec<(Kind, String)> =
            expected.iter().map(|(kind, normal)| (*kind, (*normal).to_owned())).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn values_are_told_from_words() {
        check(
            "Pin numpy<2.0.",
            &[(Kind::Word, "pin"), (Kind::Word, "numpi"), (Kind::Comparison, "<"), (Kind::Number, "2")],
        );
        check(
            "pass --no-verify (never -f)",
            &[(Kind::Word, "pass"), (Kind::Flag, "--no-verify"), (Kind::Word, "never"), (Kind::Flag, "-f")],
        );
        check(
            "edit src/main.rs, or Cargo.toml",
            &[(Kind::Word, "edit"), (Kind::Path, "src/main.rs"), (Kind::Word, "or"), (Kind::Path, "cargo.toml")],
        );
        check(
            "call `read_text()` on three paths",
            &[
                (Kind::Word, "call"),
                (Kind::Identifier, "read_text"),
                (Kind::Word, "on"),
                (Kind::Number, "3"),
                (Kind::Word, "path"),
            ],
        );
        check(
            "UTC, not os.path.join",
            &[(Kind::Identifier, "utc"), (Kind::Word, "not"), (Kind::Identifier, "os.path.join")],
        );
        check(
            "a 10ms wait; v1.4",
            &[(Kind::Word, "a"), (Kind::Number, "10ms"), (Kind::Word, "wait"), (Kind::Number, "1.4")],
        );
        check(
            "well-known, and/or",
            &[(Kind::Word, "well"), (Kind::Word, "know"), (Kind::Word, "and"), (Kind::Word, "or")],
        );
        check("— … !", &[(Kind::Word, "—")]);
    }
}
