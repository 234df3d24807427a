//! Finds secrets and replaces them by marks.
//!
//! The rules are data: `rules.tsv` describes the forms of secrets and of placeholders. One pass finds the keywords of
//! all rules, and the regex of a rule runs only where one of its keywords occurs.

mod checking;
mod columns;
mod public;
mod scored;
mod search;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

pub(crate) use self::checking::Check;
use self::search::Search;
use crate::exceptions::Exceptions;
use crate::rules::{Kind, Rule, Scope, built};
use crate::word_finder::WordFinder;

const MARK_START: &str = "[REDACTED:";
/// The greatest number of rounds of redaction, as removing one secret can reveal another. Real text needs two.
pub(crate) const MAX_ROUNDS: usize = 8;

/// A secret in a text, and the rule that found it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Secret<'r> {
    /// Id of the rule, such as `github-token`.
    pub rule: &'r str,
    /// Byte range of the secret alone, on character boundaries of the text.
    pub range: Range<usize>,
}

impl Secret<'_> {
    /// The length in bytes of the mark that replaces the secret.
    pub(crate) fn mark_len(&self) -> usize {
        MARK_START.len() + self.rule.len() + 1
    }
}

/// Finds secrets in text and replaces them by marks. Construction takes some milliseconds, so share one:
/// [`Redactor::shared`].
///
/// ```
/// use adage_redact::Redactor;
///
/// let text = "DATABASE_URL=postgres://app:hunter2xQ@db/app";
/// let found = Redactor::shared().find(text);
/// assert_eq!((found[0].rule, &text[found[0].range.clone()]), ("url-password", "hunter2xQ"));
/// assert_eq!(Redactor::shared().redact(text), "DATABASE_URL=postgres://app:[REDACTED:url-password]@db/app");
/// ```
pub struct Redactor {
    rules: Vec<Rule>,
    exceptions: Exceptions,
    /// The keywords of all rules; a word of several rules is there as often.
    finder: WordFinder<Keyword>,
    /// The index of the rule that names secrets found by their score alone; without it, nothing is scored.
    scored: Option<usize>,
}

/// A keyword and the index of its rule.
struct Keyword {
    word: Cow<'static, str>,
    rule: usize,
}

impl AsRef<str> for Keyword {
    fn as_ref(&self) -> &str {
        &self.word
    }
}

/// A place in a text that a rule found.
#[derive(Clone)]
struct Find {
    /// The index of the rule, which is its priority.
    rule: usize,
    range: Range<usize>,
}

impl Find {
    /// The same place in a text with `offset` more bytes before it.
    fn shifted(self, offset: usize) -> Self {
        Self { range: self.range.start + offset..self.range.end + offset, ..self }
    }
}

impl Default for Redactor {
    fn default() -> Self {
        Self::new()
    }
}

impl Redactor {
    /// A redactor with all built-in rules.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Rule::all())
    }

    /// A redactor without the rules of providers: it knows only the forms of secrets and of their surroundings. Its
    /// results are those of [`Redactor::new`] for the secrets of an unknown provider.
    #[must_use]
    pub fn shapes() -> Self {
        Self::with(Rule::all().into_iter().filter(|rule| rule.scope == Scope::Shape).collect())
    }

    fn with(rules: Vec<Rule>) -> Self {
        let keywords = rules.iter().enumerate();
        let keywords =
            keywords.flat_map(|(rule, it)| it.keywords().into_iter().map(move |word| Keyword { word, rule }));
        let finder = WordFinder::new(keywords.collect());
        let scored = rules.iter().position(|rule| rule.kind == Kind::Scored);
        Self { rules, exceptions: Exceptions::parse(), finder, scored }
    }

    /// The redactor of this process with all built-in rules, built at the first call.
    #[must_use]
    pub fn shared() -> &'static Self {
        static SHARED: LazyLock<Redactor> = LazyLock::new(Redactor::new);
        &SHARED
    }

    /// The text with `[REDACTED:rule-id]` in place of each secret; borrowed if it has none. Marks of an earlier
    /// redaction are kept. Time is linear in the length of the text.
    #[must_use]
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut out = Cow::Borrowed(text);
        for _ in 0..MAX_ROUNDS {
            let found = self.find(&out);
            if found.is_empty() {
                break;
            }
            out = Cow::Owned(replace(&out, &found));
        }
        out
    }

    /// The secrets of the text, in order and without overlaps; empty if it has none.
    ///
    /// [`Redactor::redact`] can replace more, where removing one secret reveals another.
    #[must_use]
    pub fn find(&self, text: &str) -> Vec<Secret<'_>> {
        let mut found = Vec::new();
        for (offset, part) in unmarked(text) {
            let finds = self.score(part, Search::run(self, part));
            found.extend(finds.into_iter().map(|find| find.shifted(offset)));
        }
        self.merge(found)
    }

    /// Joins overlapping finds into one secret, named by the rule that is first in the table.
    fn merge(&self, mut found: Vec<Find>) -> Vec<Secret<'_>> {
        found.sort_by_key(|find| find.range.start);
        let mut joined: Vec<Find> = Vec::new();
        for find in found {
            match joined.last_mut() {
                Some(last) if find.range.start < last.range.end => {
                    last.rule = find.rule.min(last.rule);
                    last.range.end = last.range.end.max(find.range.end);
                }
                _ => joined.push(find),
            }
        }
        let secret = |Find { rule, range }| Some(Secret { rule: self.rules.get(rule)?.id, range });
        joined.into_iter().filter_map(secret).collect()
    }
}

/// The parts of the text outside of redaction marks, each with its byte offset. Without marks, the whole text.
fn unmarked(text: &str) -> Vec<(usize, &str)> {
    static MARK: LazyLock<Regex> = LazyLock::new(|| built(Regex::new(r"\[REDACTED:[a-z0-9-]+\]")));
    let mut parts = Vec::new();
    let mut at = 0;
    if text.contains(MARK_START) {
        for mark in MARK.find_iter(text) {
            parts.extend(text.get(at..mark.start()).map(|part| (at, part)));
            at = mark.end();
        }
    }
    parts.extend(text.get(at..).map(|part| (at, part)));
    parts
}

/// The text with a mark in place of each secret. The secrets are in order and do not overlap.
pub(crate) fn replace(text: &str, found: &[Secret<'_>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for secret in found {
        out.push_str(text.get(at..secret.range.start).unwrap_or_default());
        out.extend([MARK_START, secret.rule, "]"]);
        at = secret.range.end;
    }
    out + text.get(at..).unwrap_or_default()
}
