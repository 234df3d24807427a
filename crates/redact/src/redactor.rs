//! Finds secrets by rules, and takes them out.
//!
//! The rules are data: `rules.tsv` says what a secret looks like and which values are
//! only placeholders. One pass finds the rules' keywords, and a rule's regex runs only where
//! its keyword occurs, so text without keywords costs no more than that pass.

mod checking;
mod public;
mod scored;
mod surroundings;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::Regex;

use self::surroundings::{
    begins_a_word, digit_from, identifier_before, is_in_resource, is_local, line_before, name_at_end,
};
use crate::check_cache::{Check, CheckCache};
use crate::exceptions::Exceptions;
use crate::rules::{Kind, Rule, Scope, mark_read, run_on, touches, window};
use crate::shape::{is_digest, is_hash, is_uuid, word_before, words};
use crate::text_words;
use crate::tokens::{self, Evidence};

const MARK_START: &str = "[REDACTED:";
/// Where what has to have a digit is looked for behind a keyword, in bytes: farther than any such rule reaches.
const DIGIT_WITHIN: usize = 320;
/// So many bytes before a keyword are looked at for a secret.
const BEFORE: usize = 120;
/// And so many behind it.
const BEHIND: usize = 300;
/// Taking a secret out can bring another into view; real text needs two rounds.
pub(crate) const MAX_ROUNDS: usize = 8;

/// Where a secret is in a text, and which rule found it.
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

/// Finds secrets and takes them out. Building one takes some milliseconds; share it.
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
    finder: AhoCorasick,
    /// The keywords of `finder`.
    keywords: Vec<Keyword>,
    /// The rule under whose name values are redacted by their score.
    scored: Option<usize>,
}

/// What a rule has read of a text.
#[derive(Clone, Copy, Default)]
struct Read {
    /// It does not look at what is before.
    until: usize,
    /// Behind a keyword that ends here is nothing; other keywords may end here, too.
    in_vain: Option<usize>,
}

/// A keyword, and by their index the rules that wait for it.
#[derive(Default)]
struct Keyword {
    word: String,
    /// Those that may find something in any text.
    always: Vec<usize>,
    /// Those that need a digit behind the keyword.
    with_digit: Vec<usize>,
    /// What is near it is scored.
    is_scored: bool,
}

impl Default for Redactor {
    fn default() -> Self {
        Self::new()
    }
}

impl Redactor {
    /// The redactor with the built-in rules.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Rule::all())
    }

    /// The redactor that knows no provider: only forms of secrets and of their places. It finds less than [`Redactor::new`]; what
    /// it finds is what the built-in rules find of a provider that they do not know.
    #[must_use]
    pub fn shapes() -> Self {
        Self::with(Rule::all().into_iter().filter(|rule| rule.scope == Scope::Shape).collect())
    }

    #[expect(clippy::expect_used, reason = "fixed data, tested")]
    fn with(rules: Vec<Rule>) -> Self {
        let mut keywords: HashMap<String, Keyword> = HashMap::new();
        for (index, rule) in rules.iter().enumerate() {
            for word in rule.keywords() {
                let keyword = keywords.entry(word.clone()).or_insert_with(|| Keyword { word, ..Keyword::default() });
                match rule.kind {
                    Kind::Scored => keyword.is_scored = true,
                    _ if rule.needs_digit => keyword.with_digit.push(index),
                    _ => keyword.always.push(index),
                }
            }
        }
        let keywords: Vec<Keyword> = keywords.into_values().collect();
        let finder = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(keywords.iter().map(|keyword| &keyword.word))
            .expect("a fixed list of keywords");
        let scored = rules.iter().position(|rule| rule.kind == Kind::Scored);
        Self { rules, exceptions: Exceptions::parse(), finder, keywords, scored }
    }

    /// One redactor for the whole process, built at the first call.
    #[must_use]
    pub fn shared() -> &'static Self {
        static SHARED: LazyLock<Redactor> = LazyLock::new(Redactor::new);
        &SHARED
    }

    /// The text with `[REDACTED:rule-id]` for each secret; borrowed when there is none.
    /// What is redacted already is kept as it is. Time grows linearly with the text.
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

    /// The secrets of the text in order, none overlapping another.
    ///
    /// `redact` may replace more, where taking one secret out brings another into view.
    #[must_use]
    pub fn find(&self, text: &str) -> Vec<Secret<'_>> {
        let mut found = Vec::new();
        for (offset, part) in unmarked(text) {
            let shift = |(rule, at): (usize, Range<usize>)| (rule, at.start + offset..at.end + offset);
            let (mut places, cache) = (Vec::new(), CheckCache::default());
            let mut of_part = self.scan(part, &mut places, &cache);
            of_part.extend(self.tokens(part, &cache));
            found.extend(self.scored(part, &places, of_part).into_iter().map(shift));
        }
        self.merge(found)
    }

    /// What the rules find; where a word promises a secret goes to `places`.
    fn scan<'t>(
        &self,
        text: &'t str,
        places: &mut Vec<Range<usize>>,
        cache: &CheckCache<'t>,
    ) -> Vec<(usize, Range<usize>)> {
        let mut found = Vec::new();
        let mut read: Vec<Read> = self.rules.iter().map(|_| Read::default()).collect();
        let mut next_digit = 0;
        for hit in self.finder.find_overlapping_iter(text) {
            let Some(keyword) = self.keywords.get(hit.pattern().as_usize()) else {
                continue;
            };
            if keyword.is_scored {
                places.push(hit.range());
            }
            let mut run = |index: usize| {
                if let Some(read) = read.get_mut(index).filter(|read| hit.start() >= read.until) {
                    self.run(index, text, (hit.range(), &keyword.word), (read, cache), &mut found);
                }
            };
            keyword.always.iter().copied().for_each(&mut run);
            if keyword.with_digit.is_empty() {
                continue;
            }
            if next_digit < hit.end() {
                next_digit = digit_from(text, hit.end());
            }
            if next_digit - hit.end() < DIGIT_WITHIN {
                keyword.with_digit.iter().copied().for_each(&mut run);
            }
        }
        found
    }

    /// What one rule finds at a keyword.
    fn run<'t>(
        &self,
        index: usize,
        text: &'t str,
        (at, word): (Range<usize>, &str),
        (read, cache): (&mut Read, &CheckCache<'t>),
        found: &mut Vec<(usize, Range<usize>)>,
    ) {
        let Some(rule) = self.rules.get(index) else { return };
        let add = |span: Range<usize>| {
            if text.get(span.clone()).is_some_and(|value| self.is_secret(rule, value, cache)) {
                found.push((index, span));
            }
        };
        match rule.kind {
            Kind::Find => rule.search(text, &mut read.until).into_iter().for_each(add),
            Kind::Prefix => rule.tail(text, at, word, &mut read.until).into_iter().for_each(add),
            Kind::Near => self.near(rule, text, at, cache).into_iter().for_each(add),
            Kind::Around => self.around(rule, text, at, (&mut read.until, cache)).into_iter().for_each(add),
            Kind::After | Kind::Word => self.behind(rule, text, at, read).into_iter().for_each(add),
            Kind::Scored | Kind::Token => {}
        }
    }

    /// Random tokens that only their form and place tell.
    fn tokens<'s, 't: 's>(
        &'s self,
        text: &'t str,
        cache: &'s CheckCache<'t>,
    ) -> impl Iterator<Item = (usize, Range<usize>)> + 's {
        let index = |id| self.rules.iter().position(|rule| rule.kind == Kind::Token && rule.id == id);
        let [prefixed, named] = ["prefixed-token", "named-token"].map(index);
        tokens::find(text, &self.exceptions).filter_map(move |(evidence, range)| {
            let index = match evidence {
                Evidence::Prefix => prefixed?,
                Evidence::Name => named?,
            };
            let value = text.get(range.clone())?;
            (self.is_secret(self.rules.get(index)?, value, cache)).then_some((index, range))
        })
    }

    /// The first word behind a keyword that is a secret.
    fn near<'t>(&self, rule: &Rule, text: &'t str, word: Range<usize>, cache: &CheckCache<'t>) -> Option<Range<usize>> {
        let joined = |b: &u8| b.is_ascii_alphanumeric() || b"_-".contains(b);
        let is_word = touches(text, Some(word.start), u8::is_ascii_alphanumeric);
        let inside = is_word && touches(text, word.start.checked_sub(1), u8::is_ascii_alphanumeric);
        if inside || touches(text, Some(word.end), joined) {
            return None;
        }
        let window = window(text, word.end);
        if !rule.may_match(window.as_bytes()) {
            return None;
        }
        let regex = rule.regex()?;
        let piece = if rule.group == 0 { regex.find(window) } else { regex.captures(window)?.get(rule.group) }?;
        let start = word.end + piece.start();
        let mut words = text_words::password_candidates(piece.as_str());
        let secret =
            words.find(|at| piece.as_str().get(at.clone()).is_some_and(|value| self.is_secret(rule, value, cache)))?;
        let name = text.get(word.start - identifier_before(text, word.start)..word.end)?;
        if rule.id == "generic-secret" && (self.is_public(text, word.start) || self.exceptions.has_stem(name)) {
            return None;
        }
        Some(start + secret.start..start + secret.end)
    }

    /// Every word around a keyword that is a secret: of the lines before it as far as [`BEFORE`], of those behind it as far as
    /// [`BEHIND`].
    fn around<'t>(
        &self,
        rule: &Rule,
        text: &'t str,
        word: Range<usize>,
        (read, cache): (&mut usize, &CheckCache<'t>),
    ) -> Vec<Range<usize>> {
        if !begins_a_word(text, word.start) {
            return Vec::new();
        }
        let name = text.get(word.start - identifier_before(text, word.start)..word.end).unwrap_or_default();
        if self.is_public(text, word.start) || self.exceptions.has_stem(name) {
            return Vec::new();
        }
        let start = text.floor_char_boundary(word.start.saturating_sub(BEFORE).max(*read));
        let end = text.floor_char_boundary((word.end + BEHIND).min(text.len()));
        // Words at the borders are not cut.
        let is_blank = |b: &u8| b.is_ascii_whitespace();
        let bytes = text.as_bytes();
        let lead = bytes.get(start..word.start).and_then(|before| before.iter().position(is_blank));
        let start = if start == 0 { 0 } else { lead.map_or(word.start, |lead| start + lead) };
        let rest = bytes.get(end..).and_then(|rest| rest.iter().take(256).position(is_blank)).unwrap_or(0);
        let Some(piece) = text.get(start..end + rest) else { return Vec::new() };
        *read = end + rest;
        // What it finds has a digit.
        if !piece.bytes().any(|b| b.is_ascii_digit()) || piece.contains("PUBLIC KEY") {
            return Vec::new();
        }
        let is_secret = |at: &Range<usize>| {
            let value = piece.get(at.clone());
            value.is_some_and(|value| self.is_secret(rule, value, cache))
                && !self.is_named_otherwise(line_before(text, start + at.start))
        };
        let secrets = text_words::password_candidates(piece).filter(is_secret);
        secrets.map(|at| start + at.start..start + at.end).collect()
    }

    /// What is on the line before a value says that it is a digest, or its name that it is a number or may be seen.
    fn is_named_otherwise(&self, line: &str) -> bool {
        self.is_named_as_other(line) || self.is_said_to_be_other(line)
    }

    /// The last word of the name at the end of a line is that of a number or of something that may be seen.
    fn is_named_as_other(&self, line: &str) -> bool {
        let last = words(name_at_end(line).1).last();
        last.is_some_and(|last| self.exceptions.suffixes.has(last) || self.exceptions.public_names.has(last))
    }

    /// Another word of the line says so.
    fn is_said_to_be_other(&self, line: &str) -> bool {
        line.ends_with("base64,")
            || words(name_at_end(line).1).any(|word| self.exceptions.qualifiers.has(word))
            || self.exceptions.mentions_digest(line)
    }

    /// The words before a name say that its value may be seen.
    fn is_public(&self, text: &str, name: usize) -> bool {
        let before = word_before(text.get(..name).unwrap_or_default());
        self.exceptions.qualifiers.has(before) || self.exceptions.mentions_digest(line_before(text, name))
    }

    /// The value behind a keyword, unless the words around mean no secret.
    fn behind(&self, rule: &Rule, text: &str, word: Range<usize>, read: &mut Read) -> Option<Range<usize>> {
        if rule.kind == Kind::Word && !begins_a_word(text, word.start) {
            return None;
        }
        let window = window(text, word.end);
        if !rule.may_match(window.as_bytes()) {
            return None;
        }
        let regex = rule.regex()?;
        // Seldom, and cheaper than to ask for the groups.
        if read.in_vain == Some(word.end) {
            return None;
        }
        if !regex.is_match(window) {
            read.in_vain = Some(word.end);
            return None;
        }
        let caught = regex.captures(window)?;
        let value = caught.get(rule.group)?;
        let range = value.start() + word.end..run_on(text, word.end, value.end());
        mark_read(&range, &mut read.until);
        let Some(tail) = caught.name("tail") else {
            let example = rule.check == Check::NotPlaceholder && self.exceptions.is_made_up(value.as_str());
            let is_local = example && is_local(text.get(range.end..).unwrap_or_default());
            return (!is_local).then_some(range);
        };
        let before = word_before(text.get(..word.start)?);
        let nameless = rule.check == Check::Qualified && before.is_empty();
        let capitals = !text.get(word.clone())?.bytes().any(|b| b.is_ascii_lowercase());
        let sum = rule.check == Check::Unhashed && !capitals && is_hash(value.as_str());
        let is_id = rule.check == Check::Unhashed && is_uuid(value.as_str()) && text.get(..range.start)?.ends_with(' ');
        let line = line_before(text, word.start);
        let digest = is_digest(value.as_str()) && self.exceptions.mentions_digest(line);
        let resource = is_in_resource(line);
        // A call or an index is code that yields the value; a mask ends in `#` or `*`.
        let code = touches(text, Some(range.end), |b| b"([{#*$".contains(b));
        let name = text.get(word.start - identifier_before(text, word.start)..word.end)?;
        // What stands before a password's name says whose it is.
        let is_hex = value.as_str().bytes().all(|b| b.is_ascii_hexdigit());
        let other = (!is_password_name(text.get(word.clone())?) && self.exceptions.qualifiers.has(before))
            || (is_hex && self.exceptions.digest_qualifiers.has(before))
            || (is_hex && self.exceptions.public_names.has(word_before(text.get(..range.start)?.trim_end())))
            || self.exceptions.has_stem(name)
            || words(tail.as_str()).any(|word| self.exceptions.suffixes.has(word));
        (!(nameless || sum || is_id || digest || resource || code || other)).then_some(range)
    }

    /// Joins what overlaps; the rule that comes first in the table gives the name.
    fn merge(&self, mut found: Vec<(usize, Range<usize>)>) -> Vec<Secret<'_>> {
        found.sort_by_key(|(_, range)| range.start);
        let mut joined: Vec<(usize, Range<usize>)> = Vec::new();
        for (rule, range) in found {
            match joined.last_mut() {
                Some((first, last)) if range.start < last.end => {
                    *first = rule.min(*first);
                    last.end = last.end.max(range.end);
                }
                _ => joined.push((rule, range)),
            }
        }
        let named = joined.into_iter().filter_map(|(rule, range)| {
            let rule = self.rules.get(rule)?.id;
            Some(Secret { rule, range })
        });
        named.collect()
    }
}

fn is_password_name(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    ["pass", "pwd"].iter().any(|part| word.contains(part))
}

/// The parts of the text outside redaction marks, each with its byte offset.
fn unmarked(text: &str) -> Vec<(usize, &str)> {
    static MARK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\[REDACTED:[a-z0-9-]+\]").ok());
    let mut parts = Vec::new();
    let mut at = 0;
    if text.contains(MARK_START) {
        for mark in MARK.iter().flat_map(|mark| mark.find_iter(text)) {
            parts.extend(text.get(at..mark.start()).map(|part| (at, part)));
            at = mark.end();
        }
    }
    parts.extend(text.get(at..).map(|part| (at, part)));
    parts
}

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
