//! Runs the rules on a text.

use std::ops::Range;

use super::columns;
use super::promise::promises_value;
use super::surroundings::{begins_a_word, digit_from, identifier_before, is_in_resource, is_local, line_before};
use super::{Find, Redactor};
use crate::check_cache::{Check, CheckCache};
use crate::rules::{Kind, Rule, mark_read, run_on, touches, window};
use crate::seed_phrase;
use crate::shape::{is_digest, is_hash, is_uuid, word_before, words};
use crate::text_words;
use crate::tokens::{self, Evidence};

/// Bytes after a keyword in which a rule that needs a digit searches for one; no such rule reaches farther.
const DIGIT_WITHIN: usize = 320;
/// Bytes after a keyword in which a passphrase of words begins.
const PHRASE_WITHIN: usize = 128;
/// Bytes before a keyword that a rule of kind `around` reads.
const BEFORE: usize = 120;
/// Bytes after the keyword that it reads.
const AFTER: usize = 300;
/// A word at the end of these is read to its own end, up to this many bytes.
const BORDER: usize = 256;

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

/// A keyword in a text.
struct Occurrence<'k> {
    at: Range<usize>,
    keyword: &'k str,
}

/// A value that is assigned to a name: a keyword and the rest of the name after it.
struct Assigned<'t> {
    keyword: Range<usize>,
    rest_of_name: &'t str,
    value: &'t str,
    at: Range<usize>,
}

/// A search of one text.
pub(super) struct Search<'r, 't> {
    redactor: &'r Redactor,
    text: &'t str,
    cache: CheckCache<'t>,
    /// By the index of the rule.
    progress: Vec<Progress>,
    found: Findings,
}

impl<'r, 't> Search<'r, 't> {
    /// What the rules and the search for random tokens find in a text.
    pub(super) fn run(redactor: &'r Redactor, text: &'t str) -> Findings {
        let progress = vec![Progress::default(); redactor.rules.len()];
        let mut search = Self { redactor, text, cache: CheckCache::default(), progress, found: Findings::default() };
        search.run_keywords();
        search.run_tokens();
        search.found
    }

    /// Runs the rules of each keyword of the text.
    fn run_keywords(&mut self) {
        let (redactor, text) = (self.redactor, self.text);
        let mut next_digit = 0;
        for hit in redactor.finder.find_overlapping_iter(text) {
            let Some(keyword) = redactor.keywords.get(hit.pattern().as_usize()) else {
                continue;
            };
            if keyword.is_scored {
                self.found.announcing.push(hit.range());
            }
            let occurrence = Occurrence { at: hit.range(), keyword: &keyword.word };
            keyword.always.iter().for_each(|rule| self.run_rule(*rule, &occurrence));
            if keyword.with_digit.is_empty() {
                continue;
            }
            if next_digit < hit.end() {
                next_digit = digit_from(text, hit.end());
            }
            if next_digit - hit.end() < DIGIT_WITHIN {
                keyword.with_digit.iter().for_each(|rule| self.run_rule(*rule, &occurrence));
            }
        }
    }

    /// Runs one rule at a keyword, unless the rule has already read past the keyword.
    fn run_rule(&mut self, index: usize, occurrence: &Occurrence<'_>) {
        let Some(rule) = self.redactor.rules.get(index) else { return };
        let Some(mut progress) = self.progress.get(index).copied() else { return };
        let at = occurrence.at.clone();
        if at.start < progress.read_until {
            return;
        }
        match rule.kind {
            Kind::Find => self.add(index, rule.search(self.text, &mut progress.read_until)),
            Kind::Prefix => {
                self.add(index, rule.tail(self.text, at, occurrence.keyword, &mut progress.read_until));
            }
            Kind::Column => self.add(index, columns::cells_below(self.text, &at)),
            Kind::SeedPhrase => {
                progress.read_until = self.text.len();
                self.add(index, seed_phrase::find(self.text));
            }
            Kind::Near => self.add(index, self.first_secret_after(rule, at)),
            Kind::Around => self.add(index, self.secrets_around(rule, at, &mut progress.read_until)),
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
            if self.text.get(range.clone()).is_some_and(|value| self.is_secret(rule, value)) {
                self.found.finds.push(Find { rule: index, range });
            }
        }
    }

    fn is_secret(&self, rule: &Rule, value: &'t str) -> bool {
        self.redactor.is_secret(rule, value, &self.cache)
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
        let secret =
            words.find(|at| piece.as_str().get(at.clone()).is_some_and(|value| self.is_secret(rule, value)))?;
        if rule.id == "generic-secret" && self.redactor.is_public_name(text, &keyword) {
            return None;
        }
        Some(start + secret.start..start + secret.end)
    }

    /// All words around a keyword that pass the check of a rule of kind `around`: up to [`BEFORE`] bytes before it that
    /// the rule has not read yet, and up to [`AFTER`] bytes after it.
    fn secrets_around(&self, rule: &Rule, keyword: Range<usize>, read_until: &mut usize) -> Vec<Range<usize>> {
        let text = self.text;
        if !begins_a_word(text, keyword.start) || self.redactor.is_public_name(text, &keyword) {
            return Vec::new();
        }
        let around = words_around(text, &keyword, *read_until);
        let Some(piece) = text.get(around.clone()) else { return Vec::new() };
        *read_until = around.end;
        // Every secret of such a rule has a digit.
        if !piece.bytes().any(|b| b.is_ascii_digit()) || piece.contains("PUBLIC KEY") {
            return Vec::new();
        }
        let is_secret = |at: &Range<usize>| {
            piece.get(at.clone()).is_some_and(|value| self.is_secret(rule, value))
                && !self.redactor.line_says_public(line_before(text, around.start + at.start))
        };
        let secrets = text_words::password_candidates(piece).filter(is_secret);
        secrets.map(|at| around.start + at.start..around.start + at.end).collect()
    }

    /// The value after a keyword, unless its name or the words around it say that it is not a secret.
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
        let value = value.as_str();
        let is_excluded = if let Some(rest) = captures.name("tail") {
            let assigned = Assigned { keyword, rest_of_name: rest.as_str(), value, at: at.clone() };
            self.has_other_form(rule, &assigned) || self.has_public_name(&assigned)
        } else {
            let is_example = rule.check == Check::NotPlaceholder && self.redactor.exceptions.is_made_up(value);
            is_example && is_local(text.get(at.end..).unwrap_or_default())
        };
        (!is_excluded).then_some(at)
    }

    /// True if the form of an assigned value, in its surroundings, is that of a digest, an identifier, the name of a
    /// resource, or code.
    fn has_other_form(&self, rule: &Rule, it: &Assigned<'_>) -> bool {
        let text = self.text;
        let before = text.get(..it.keyword.start).unwrap_or_default();
        let is_unqualified = rule.check == Check::Qualified && word_before(before).is_empty();
        let name = text.get(it.keyword.clone()).unwrap_or_default();
        let is_upper_case = !name.bytes().any(|b| b.is_ascii_lowercase());
        let is_unhashed = rule.check == Check::Unhashed;
        let is_sum = is_unhashed && !is_upper_case && is_hash(it.value);
        let follows_blank = text.get(..it.at.start).is_some_and(|before| before.ends_with(' '));
        let is_id = is_unhashed && is_uuid(it.value) && follows_blank;
        let line = line_before(text, it.keyword.start);
        let is_known_digest = || {
            is_digest(it.value)
                && self.redactor.exceptions.mentions_digest(line)
                && !promises_value(text.get(..it.at.start).unwrap_or_default())
        };
        // A call or an index is code that yields the value; a mask ends in `#` or `*`.
        let is_code = touches(text, Some(it.at.end), |b| b"([{#*$".contains(b));
        is_unqualified || is_sum || is_id || is_known_digest() || is_in_resource(line) || is_code
    }

    /// True if the name of an assigned value, or a word before it, is that of a public value.
    fn has_public_name(&self, it: &Assigned<'_>) -> bool {
        let (text, exceptions) = (self.text, &self.redactor.exceptions);
        let before = word_before(text.get(..it.keyword.start).unwrap_or_default());
        let keyword = text.get(it.keyword.clone()).unwrap_or_default();
        let name_start = it.keyword.start - identifier_before(text, it.keyword.start);
        let name = text.get(name_start..it.keyword.end).unwrap_or_default();
        let is_hex = it.value.bytes().all(|b| b.is_ascii_hexdigit());
        let nearest = word_before(text.get(..it.at.start).unwrap_or_default().trim_end());
        // The word before the name of a password says whose password it is.
        let is_promised = promises_value(text.get(..it.at.start).unwrap_or_default());
        (!is_password_name(keyword) && !is_promised && exceptions.qualifiers.has(before))
            || (is_hex && exceptions.digest_qualifiers.has(before))
            || (is_hex && exceptions.public_names.has(nearest))
            || exceptions.has_stem(name)
            || words(it.rest_of_name).any(|word| exceptions.suffixes.has(word))
    }
}

/// True if a passphrase of three joined words can begin in the first [`PHRASE_WITHIN`] bytes.
fn has_joints(window: &str) -> bool {
    let near = window.as_bytes().iter().take(PHRASE_WITHIN);
    near.filter(|byte| b"-_.".contains(byte)).nth(1).is_some()
}

/// The whole words around a keyword, from `read_until` on.
fn words_around(text: &str, keyword: &Range<usize>, read_until: usize) -> Range<usize> {
    let start = text.floor_char_boundary(keyword.start.saturating_sub(BEFORE).max(read_until));
    let end = text.floor_char_boundary((keyword.end + AFTER).min(text.len()));
    let is_blank = |b: &u8| b.is_ascii_whitespace();
    let bytes = text.as_bytes();
    let lead = bytes.get(start..keyword.start).and_then(|before| before.iter().position(is_blank));
    let start = if start == 0 { 0 } else { lead.map_or(keyword.start, |lead| start + lead) };
    let rest = bytes.get(end..).and_then(|rest| rest.iter().take(BORDER).position(is_blank)).unwrap_or(0);
    start..end + rest
}

/// True for a keyword that names a password.
fn is_password_name(keyword: &str) -> bool {
    let keyword = keyword.to_ascii_lowercase();
    ["pass", "pwd"].iter().any(|part| keyword.contains(part))
}
