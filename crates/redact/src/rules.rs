//! The table of rules, and how a rule's regex runs.

use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::OnceLock;

use regex::{Regex, RegexBuilder};

use crate::first_bytes::FirstBytes;
use crate::redactor::Check;
use crate::score;

pub(crate) const TABLE: &str = include_str!("rules.tsv");
/// The number of bytes after a keyword that its regex reads, which keeps redaction linear in the text.
const WINDOW: usize = 4096;
/// From this length on, in bytes, a rule skips the keywords inside a value; in a shorter value they can have values of
/// their own.
const LONG: usize = 256;

/// What a rule describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The form of a secret or of its surroundings, for any issuer.
    Shape,
    /// The secrets of one provider, by its name or a prefix.
    Provider,
}

/// How a rule searches; the head of the table describes each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Prefix,
    After,
    Word,
    Near,
    Find,
    Column,
    SeedPhrase,
    Scored,
    Token,
}

impl Kind {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "prefix" => Self::Prefix,
            "after" => Self::After,
            "word" => Self::Word,
            "near" => Self::Near,
            "find" => Self::Find,
            "column" => Self::Column,
            "seed-phrase" => Self::SeedPhrase,
            "scored" => Self::Scored,
            "token" => Self::Token,
            _ => return None,
        })
    }
}

/// A line of the table. The head of the table describes the columns.
pub(crate) struct Rule {
    pub(crate) scope: Scope,
    pub(crate) kind: Kind,
    pub(crate) id: &'static str,
    keywords: &'static str,
    /// The capture group of the secret; 0 is the whole match.
    pub(crate) group: usize,
    /// The least entropy of a secret, in bits per byte.
    pub(crate) entropy: f64,
    pub(crate) check: Check,
    /// The name of the check in the table, which the score uses as a feature.
    pub(crate) check_name: &'static str,
    /// True if every secret has a digit after the keyword.
    pub(crate) needs_digit: bool,
    /// Where the form of the secret is described.
    #[cfg(test)]
    source: &'static str,
    pattern: &'static str,
    /// Compiled at the first hit, as most processes use few rules.
    regex: OnceLock<Regex>,
    /// The first bytes of a match; derived at the first hit.
    first_bytes: OnceLock<Option<FirstBytes>>,
}

impl Rule {
    /// The rules in the order of the table, which is their priority.
    pub(crate) fn all() -> Vec<Self> {
        TABLE.lines().filter_map(Self::parse).collect()
    }

    /// The rule of a line; `None` for comments, lines of other kinds, and malformed rules.
    fn parse(line: &'static str) -> Option<Self> {
        let mut columns = line.split('\t');
        let scope = match columns.next()? {
            "shape" => Scope::Shape,
            "provider" => Scope::Provider,
            _ => return None,
        };
        let (kind, id, keywords) = (Kind::parse(columns.next()?)?, columns.next()?, columns.next()?);
        let (group, entropy) = (columns.next()?.parse().ok()?, columns.next()?.parse().ok()?);
        let check_name = columns.next()?;
        let check = Check::parse(check_name)?;
        Some(Self {
            scope,
            kind,
            id,
            keywords,
            group,
            entropy,
            check,
            check_name,
            needs_digit: check.needs_digit() && matches!(kind, Kind::After | Kind::Word | Kind::Near),
            #[cfg(test)]
            source: columns.clone().next()?,
            pattern: columns.nth(1)?,
            regex: OnceLock::new(),
            first_bytes: OnceLock::new(),
        })
    }

    /// True if nothing but a secret has the rule's form. Finds of other rules also have to pass the score.
    pub(crate) fn is_sure(&self) -> bool {
        // A public site key has the same form.
        if self.id == "recaptcha-key" {
            return false;
        }
        // A sentence that says what the value is.
        let is_stated = self.kind == Kind::Find && matches!(self.check, Check::PasswordOrPhrase | Check::WeakPassword);
        let is_of_known_form = matches!(
            self.check,
            Check::Any
                | Check::RareWords
                | Check::Base32Seed
                | Check::RecoveryCodes
                | Check::Pin
                | Check::WebTokenClaims
        );
        let is_of_sure_kind = matches!(self.kind, Kind::Prefix | Kind::Column | Kind::SeedPhrase);
        self.scope == Scope::Provider || is_of_sure_kind || is_stated || is_of_known_form
    }

    /// The keywords, of which one has to occur for the rule to run; empty for rules of kind `token`.
    pub(crate) fn keywords(&self) -> Vec<Cow<'static, str>> {
        let mut words = self.keywords;
        if words == "{openers}" {
            return score::openers();
        }
        if words == "{vendors}" {
            let line = TABLE.lines().find_map(|line| line.strip_prefix("vendors	"));
            words = line.unwrap_or_default();
        }
        spelled(words).collect()
    }

    /// The compiled regex, anchored at its start except in rules of kind `find`.
    pub(crate) fn regex(&self) -> &Regex {
        let start = if self.kind == Kind::Find { "" } else { "^" };
        let pattern = || format!("{start}(?:{})", expand(self.pattern));
        self.regex.get_or_init(|| built(RegexBuilder::new(&pattern()).unicode(false).build()))
    }

    /// False if the regex cannot match at the start of the text, judged by a few bytes.
    pub(crate) fn may_match(&self, text: &[u8]) -> bool {
        self.first_bytes
            .get_or_init(|| FirstBytes::of(&expand(self.pattern)))
            .as_ref()
            .is_none_or(|first| first.may_match(text))
    }

    /// The pattern of a rule that is anchored at the end of its keyword; `None` for other rules.
    #[cfg(test)]
    pub(crate) fn anchored(&self) -> Option<String> {
        let is_anchored = matches!(self.kind, Kind::Prefix | Kind::After | Kind::Word | Kind::Near);
        is_anchored.then(|| expand(self.pattern))
    }

    /// The places of all matches in the text. Sets `read_until` to its end, so that the rule searches it only once.
    pub(crate) fn search(&self, text: &str, read_until: &mut usize) -> Vec<Range<usize>> {
        *read_until = text.len();
        let all = self.regex().captures_iter(text);
        all.filter_map(|caught| Some(caught.get(self.group)?.range())).collect()
    }

    /// The place of the keyword and the match after it as one token; `None` if the keyword differs in case or the token
    /// is part of a longer word.
    pub(crate) fn tail(
        &self,
        text: &str,
        at: Range<usize>,
        word: &str,
        read_until: &mut usize,
    ) -> Option<Range<usize>> {
        let free = |at| !touches(text, at, u8::is_ascii_alphanumeric);
        if text.get(at.clone()) != Some(word) || !free(at.start.checked_sub(1)) {
            return None;
        }
        let window = window(text, at.end);
        if !self.may_match(window.as_bytes()) {
            return None;
        }
        let tail = self.regex().find(window)?;
        let end = run_on(text, at.end, tail.end());
        mark_read(&(at.start..end), read_until);
        free(Some(end)).then_some(at.start..end)
    }
}

/// The words of a list in a table, where a blank inside a word is written as `␣`.
pub(crate) fn spelled(list: &'static str) -> impl Iterator<Item = Cow<'static, str>> {
    let has_blanks = list.contains('␣');
    let spell = move |word: &'static str| if has_blanks { word.replace('␣', " ").into() } else { word.into() };
    list.split_whitespace().map(spell)
}

/// What fixed data of the crate describes: a regex, a list of words. Tests build each, so the data is right in every build.
#[expect(clippy::expect_used, reason = "a pattern that does not compile has to fail a test, not to match nothing")]
pub(crate) fn built<T, E: Debug>(result: Result<T, E>) -> T {
    result.expect("fixed data of the crate")
}

/// A pattern in which the names of parts, as in `{quote}`, are replaced by the parts (`let` lines of the table).
fn expand(pattern: &str) -> String {
    let parts = TABLE.lines().filter_map(|line| line.strip_prefix("let\t")?.split_once('\t'));
    parts.fold(pattern.to_owned(), |pattern, (name, part)| pattern.replace(&format!("{{{name}}}"), part))
}

/// The text from a place on, at most [`WINDOW`] bytes.
pub(crate) fn window(text: &str, start: usize) -> &str {
    text.get(start..text.floor_char_boundary(start + WINDOW)).unwrap_or_default()
}

/// Sets `read_until` to the end of a long value, so that the rule skips the keywords inside it.
pub(crate) fn mark_read(value: &Range<usize>, read_until: &mut usize) {
    if value.len() >= LONG {
        *read_until = value.end;
    }
}

/// The end of a value of the given length in the window at `start`; where the window cuts a token, the end of the token.
pub(crate) fn run_on(text: &str, start: usize, length: usize) -> usize {
    let end = start + length;
    if length < window(text, start).len() {
        return end;
    }
    let token = |b: &u8| b.is_ascii_alphanumeric() || b"+/=_-".contains(b);
    let rest = text.as_bytes().get(end..).unwrap_or_default();
    end + rest.iter().take_while(|b| token(b)).count()
}

/// True if there is a byte at a place and it is of a class.
pub(crate) fn touches(text: &str, at: Option<usize>, class: impl Fn(&u8) -> bool) -> bool {
    at.and_then(|at| text.as_bytes().get(at)).is_some_and(class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_of_the_table_is_parsed_and_complete() {
        let rules = Rule::all();
        assert_eq!(
            rules.len(),
            TABLE.lines().filter(|line| line.starts_with("shape\t") || line.starts_with("provider\t")).count()
        );
        for rule in &rules {
            assert_eq!(rule.keywords().is_empty(), (rule.kind == Kind::Token), "{}", rule.id);
            let groups = rule.regex().captures_len();
            assert!(
                groups > rule.group || matches!(rule.kind, Kind::Column | Kind::SeedPhrase | Kind::Scored),
                "{} {}",
                rule.id,
                rule.pattern
            );
            assert!(!rule.source.is_empty(), "{}", rule.id);
        }
    }
}
