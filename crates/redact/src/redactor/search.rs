//! Runs the rules on a text.

use std::ops::Range;

use super::checking::Check;
use super::columns;
use super::public::line_before;
use super::{Find, Keyword, Redactor};
use crate::rules::{Kind, Rule, mark_read, run_on, touches, window};
use crate::seed_phrase;
use crate::text_words;
use crate::tokens::{self, Evidence};

/// Bytes after a keyword in which a rule that needs a digit searches for one; no such rule reaches farther.
const DIGIT_WITHIN: usize = 320;
/// Bytes after a keyword in which a passphrase of words begins.
const PHRASE_WITHIN: usize = 128;

/// What rules found in a text.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) finds: Vec<Find>,
    /// The places of words that announce a secret.
    pub(super) announcing: Vec<Range<usize>>,
}

/// How far a rule has read a text.
#[derive(Clone, Copy, Default)]
struct Progress {
    /// The rule skips keywords that begin before this place.
    read_until: usize,
    /// The regex does not match at this place, where several keywords can end.
    no_match_at: Option<usize>,
}

/// A search of one text.
pub(super) struct Search<'r, 't> {
    redactor: &'r Redactor,
    text: &'t str,
    /// By the index of the rule.
    progress: Vec<Progress>,
    found: Findings,
}

impl<'r, 't> Search<'r, 't> {
    /// What the rules and the search for random tokens find in a text.
    pub(super) fn run(redactor: &'r Redactor, text: &'t str) -> Findings {
        let progress = vec![Progress::default(); redactor.rules.len()];
        let mut search = Self { redactor, text, progress, found: Findings::default() };
        search.run_keywords();
        search.run_tokens();
        search.found
    }

    /// Runs the rules of each keyword of the text.
    fn run_keywords(&mut self) {
        let (redactor, text) = (self.redactor, self.text);
        let mut next_digit = 0;
        redactor.finder.find(text, |at, keyword| {
            let Some(rule) = redactor.rules.get(keyword.rule) else { return };
            if rule.kind == Kind::Scored {
                self.found.announcing.push(at);
                return;
            }
            if rule.needs_digit {
                if next_digit < at.end {
                    next_digit = digit_from(text, at.end);
                }
                if next_digit - at.end >= DIGIT_WITHIN {
                    return;
                }
            }
            self.run_rule(rule, keyword, at);
        });
    }

    /// Runs one rule at a keyword, unless the rule has already read past the keyword.
    fn run_rule(&mut self, rule: &Rule, keyword: &Keyword, at: Range<usize>) {
        let index = keyword.rule;
        let Some(mut progress) = self.progress.get(index).copied() else { return };
        if at.start < progress.read_until {
            return;
        }
        match rule.kind {
            Kind::Find => self.add(index, rule.search(self.text, &mut progress.read_until)),
            Kind::Prefix => {
                self.add(index, rule.tail(self.text, at, &keyword.word, &mut progress.read_until));
            }
            Kind::Column => self.add(index, columns::cells_below(self.text, &at)),
            Kind::SeedPhrase => {
                progress.read_until = self.text.len();
                self.add(index, seed_phrase::find(self.text));
            }
            Kind::Near => self.add(index, self.first_secret_after(rule, at)),
            Kind::After | Kind::Word => self.add(index, self.value_after(rule, at, &mut progress)),
            Kind::Scored | Kind::Token => {}
        }
        if let Some(it) = self.progress.get_mut(index) {
            *it = progress;
        }
    }

    /// Adds the places whose values pass the check of the rule.
    fn add(&mut self, index: usize, places: impl IntoIterator<Item = Range<usize>>) {
        let Some(rule) = self.redactor.rules.get(index) else { return };
        for range in places {
            if self.text.get(range.clone()).is_some_and(|value| self.redactor.is_secret(rule, value)) {
                self.found.finds.push(Find { rule: index, range });
            }
        }
    }

    /// Adds random tokens that are secrets by their form and their surroundings.
    fn run_tokens(&mut self) {
        let redactor = self.redactor;
        let index = |id| redactor.rules.iter().position(|rule| rule.kind == Kind::Token && rule.id == id);
        let [prefixed, named] = ["prefixed-token", "named-token"].map(index);
        for (evidence, range) in tokens::find(self.text, &redactor.exceptions) {
            let index = match evidence {
                Evidence::Prefix => prefixed,
                Evidence::Name => named,
            };
            if let Some(index) = index {
                self.add(index, [range]);
            }
        }
    }

    /// The first word after a keyword that passes the check of a rule of kind `near`.
    fn first_secret_after(&self, rule: &Rule, keyword: Range<usize>) -> Option<Range<usize>> {
        let text = self.text;
        let joined = |b: &u8| b.is_ascii_alphanumeric() || b"_-".contains(b);
        let is_word = touches(text, Some(keyword.start), u8::is_ascii_alphanumeric);
        let inside = is_word && touches(text, keyword.start.checked_sub(1), u8::is_ascii_alphanumeric);
        if inside || touches(text, Some(keyword.end), joined) {
            return None;
        }
        let window = window(text, keyword.end);
        if !rule.may_match(window.as_bytes()) {
            return None;
        }
        let regex = rule.regex();
        let piece = if rule.group == 0 { regex.find(window) } else { regex.captures(window)?.get(rule.group) }?;
        let start = keyword.end + piece.start();
        let mut words = text_words::password_candidates(piece.as_str());
        let secret = words
            .find(|at| piece.as_str().get(at.clone()).is_some_and(|value| self.redactor.is_secret(rule, value)))?;
        let at = start + secret.start..start + secret.end;
        let is_public = || self.redactor.exceptions.says_public(line_before(text, at.start));
        (rule.id != "generic-secret" || !is_public()).then_some(at)
    }

    /// The value after a keyword; none after the name of a public value.
    fn value_after(&self, rule: &Rule, keyword: Range<usize>, progress: &mut Progress) -> Option<Range<usize>> {
        let text = self.text;
        if rule.kind == Kind::Word && !begins_a_word(text, keyword.start) {
            return None;
        }
        let window = window(text, keyword.end);
        if !rule.may_match(window.as_bytes()) || (rule.check == Check::RareWords && !has_joints(window)) {
            return None;
        }
        let regex = rule.regex();
        if progress.no_match_at == Some(keyword.end) {
            return None;
        }
        // Matches are rare, and a match without its groups is cheaper.
        if !regex.is_match(window) {
            progress.no_match_at = Some(keyword.end);
            return None;
        }
        let captures = regex.captures(window)?;
        let value = captures.get(rule.group)?;
        let at = value.start() + keyword.end..run_on(text, keyword.end, value.end());
        mark_read(&at, &mut progress.read_until);
        let (before, name) = (text.get(..keyword.start)?, text.get(keyword)?);
        let rest_of_name = captures.name("tail").map_or("", |rest| rest.as_str());
        let exceptions = &self.redactor.exceptions;
        let is_public = || {
            exceptions.has_stem(line_before(text, at.start)) || exceptions.is_public_name(before, name, rest_of_name)
        };
        // Most values fail here, and their names need not be read.
        let is_secret = self.redactor.is_secret(rule, text.get(at.clone())?);
        (is_secret && !is_public()).then_some(at)
    }
}

/// True if a passphrase of three joined words can begin in the first [`PHRASE_WITHIN`] bytes.
fn has_joints(window: &str) -> bool {
    let near = window.as_bytes().iter().take(PHRASE_WITHIN);
    near.filter(|byte| b"-_.".contains(byte)).nth(1).is_some()
}

/// True if a word begins at the place: no letter precedes it, or it is a capital after a lower-case letter, as in
/// `dbPass`.
fn begins_a_word(text: &str, at: usize) -> bool {
    let previous = at.checked_sub(1);
    let is_camel_case =
        touches(text, previous, u8::is_ascii_lowercase) && touches(text, Some(at), u8::is_ascii_uppercase);
    is_camel_case || !touches(text, previous, u8::is_ascii_alphabetic)
}

/// The place of the first digit at or after a place; `usize::MAX` if there is none.
pub(super) fn digit_from(text: &str, at: usize) -> usize {
    let ahead = text.as_bytes().get(at..).unwrap_or_default();
    ahead.iter().position(u8::is_ascii_digit).map_or(usize::MAX, |gap| at + gap)
}
