//! The table of secret rules and of what is no secret.

use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::AhoCorasick;
use regex::{Regex, RegexBuilder};

use crate::check_cache::Check;
use crate::first_bytes::FirstBytes;
use crate::score;
use crate::shape::words;
use crate::word_set::WordSet;

const TABLE: &str = include_str!("rules.tsv");
/// A keyword's regex sees at most this many bytes, which keeps the whole linear.
const WINDOW: usize = 4096;
/// A value this long is read once; keywords inside a shorter one may have their own values.
const LONG: usize = 256;

/// What a rule has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The form of a secret or of its place, whoever issued it.
    Shape,
    /// The secrets of a provider, by its name or its prefix.
    Provider,
}

/// How a rule looks for what it finds; the table's head explains each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Prefix,
    After,
    Word,
    Near,
    Around,
    Find,
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
            "around" => Self::Around,
            "find" => Self::Find,
            "scored" => Self::Scored,
            "token" => Self::Token,
            _ => return None,
        })
    }
}

/// One line of the table; the file's head explains the columns.
pub(crate) struct Rule {
    pub(crate) scope: Scope,
    pub(crate) kind: Kind,
    pub(crate) id: &'static str,
    keywords: &'static str,
    pub(crate) group: usize,
    pub(crate) entropy: f64,
    pub(crate) check: Check,
    pub(crate) check_name: &'static str,
    /// What the rule finds has a digit, behind the keyword.
    pub(crate) needs_digit: bool,
    /// Where the form is described.
    #[cfg(test)]
    source: &'static str,
    pattern: &'static str,
    /// Compiled at the first hit, as most processes never need most rules.
    regex: OnceLock<Option<Regex>>,
    /// The first bytes of a match; derived at the first hit.
    first_bytes: OnceLock<Option<FirstBytes>>,
}

/// What is known not to be a secret.
#[derive(Default)]
pub(crate) struct Skips {
    parts: Option<AhoCorasick>,
    whole: Option<Regex>,
    samples: Vec<&'static str>,
    made_up: Vec<&'static str>,
    stems: Vec<&'static str>,
    pub(crate) before: WordSet,
    pub(crate) between: WordSet,
    pub(crate) after: WordSet,
    pub(crate) names: WordSet,
    pub(crate) lines: WordSet,
    pub(crate) things: WordSet,
    pub(crate) promises: WordSet,
}

impl Rule {
    /// The rules in the table's order, which is their priority.
    pub(crate) fn all() -> Vec<Self> {
        TABLE.lines().filter_map(Self::parse).collect()
    }

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

    /// Its form says enough: nothing else is written so. What other rules find has to pass the score too.
    pub(crate) fn is_sure(&self) -> bool {
        // The site's key looks the same and may be seen.
        if self.id == "recaptcha-key" {
            return false;
        }
        // A sentence that says what the value is.
        let is_said = self.kind == Kind::Find && self.check == Check::PasswordOrPhrase;
        let is_of_known_form = matches!(
            self.check,
            Check::Any | Check::Base32Seed | Check::RecoveryCodes | Check::Pin | Check::WebTokenClaims
        );
        self.scope == Scope::Provider || self.kind == Kind::Prefix || is_said || is_of_known_form
    }

    pub(crate) fn keywords(&self) -> Vec<String> {
        let mut words = self.keywords;
        if words == "{openers}" {
            return score::openers();
        }
        if words == "{vendors}" {
            let line = TABLE.lines().find_map(|line| line.strip_prefix("vendors	"));
            words = line.unwrap_or_default();
        }
        let words = words.split_whitespace();
        words.map(|word| word.replace('␣', " ")).collect()
    }

    pub(crate) fn regex(&self) -> Option<&Regex> {
        let start = if self.kind == Kind::Find { "" } else { "^" };
        let build = || RegexBuilder::new(&format!("{start}(?:{})", expand(self.pattern))).unicode(false).build().ok();
        self.regex.get_or_init(build).as_ref()
    }

    /// False where the regex, which is to match right there, does not: a look at a few bytes.
    pub(crate) fn may_match(&self, text: &[u8]) -> bool {
        self.first_bytes
            .get_or_init(|| FirstBytes::of(&expand(self.pattern)))
            .as_ref()
            .is_none_or(|first| first.may_match(text))
    }

    /// The pattern of what has to be right behind the keyword.
    #[cfg(test)]
    pub(crate) fn anchored(&self) -> Option<String> {
        let is_anchored = matches!(self.kind, Kind::Prefix | Kind::After | Kind::Word | Kind::Near);
        is_anchored.then(|| expand(self.pattern))
    }

    /// All secrets of the text, looked for once only.
    pub(crate) fn search(&self, text: &str, read: &mut usize) -> Vec<Range<usize>> {
        *read = text.len();
        let all = self.regex().map(|regex| regex.captures_iter(text));
        let secrets = all.into_iter().flatten();
        let secrets = secrets.filter_map(|caught| Some(caught.get(self.group)?.range()));
        secrets.collect()
    }

    /// Keyword and tail as one token that touches no other word.
    pub(crate) fn tail(&self, text: &str, at: Range<usize>, word: &str, read: &mut usize) -> Option<Range<usize>> {
        let free = |at| !touches(text, at, u8::is_ascii_alphanumeric);
        if text.get(at.clone()) != Some(word) || !free(at.start.checked_sub(1)) {
            return None;
        }
        let window = window(text, at.end);
        if !self.may_match(window.as_bytes()) {
            return None;
        }
        let tail = self.regex()?.find(window)?;
        let end = run_on(text, at.end, tail.end());
        mark_read(&(at.start..end), read);
        free(Some(end)).then_some(at.start..end)
    }
}

impl Skips {
    pub(crate) fn parse() -> Self {
        let mut skips = Self::default();
        for line in TABLE.lines().filter_map(|line| line.strip_prefix("skip\t")) {
            let (what, list) = line.split_once('\t').unwrap_or_default();
            let list = list.split_whitespace();
            match what {
                "part" => skips.parts = AhoCorasick::new(list).ok(),
                "sample" => skips.samples.extend(list),
                "stem" => skips.stems.extend(list),
                "made-up" => skips.made_up.extend(list),
                "before" => skips.before.extend(list),
                "between" => skips.between.extend(list),
                "after" => skips.after.extend(list),
                "name" => skips.names.extend(list),
                "line" => skips.lines.extend(list),
                "thing" => skips.things.extend(list),
                "promise" => skips.promises.extend(list),
                _ => {
                    let any = list.collect::<Vec<_>>().join("|");
                    skips.whole = Regex::new(&format!("^(?:{any})$")).ok();
                }
            }
        }
        skips
    }

    pub(crate) fn is_sample(&self, value: &str) -> bool {
        self.samples.iter().any(|end| value.ends_with(end))
    }

    pub(crate) fn stands_in(&self, value: &str) -> bool {
        let value = value.trim_matches(['"', '\'']).to_ascii_lowercase();
        let part = self.parts.as_ref().is_some_and(|parts| parts.is_match(&value));
        part || self.whole.as_ref().is_some_and(|whole| whole.is_match(&value))
    }
}

impl Skips {
    /// Only words that people take for examples, and a count from one (`mySecret123`).
    pub(crate) fn is_made_up(&self, value: &str) -> bool {
        let value = value.to_ascii_lowercase();
        let mut parts = value.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
        parts.all(|part| {
            let name = part.trim_end_matches(|c: char| c.is_ascii_digit());
            let number = part.get(name.len()..).unwrap_or_default();
            ("1234567890".starts_with(number) || number.len() == 1) && self.is_words(name)
        })
    }

    /// A word of the line says that a random value on it is no secret (`sha256`, `commit`).
    pub(crate) fn says_digest(&self, line: &str) -> bool {
        let mut runs = line.split(|c: char| !c.is_ascii_alphanumeric());
        runs.any(|run| self.lines.has(run) || words(run).any(|word| self.lines.has(word)))
    }

    /// The name is one of a form's guard or of a public value.
    pub(crate) fn has_stem(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase().replace(['_', '-'], "");
        self.stems.iter().any(|stem| name.contains(stem))
    }

    fn is_words(&self, name: &str) -> bool {
        let mut rest = name;
        while !rest.is_empty() {
            let Some(next) =
                self.made_up.iter().filter_map(|word| rest.strip_prefix(word)).min_by_key(|rest| rest.len())
            else {
                return false;
            };
            rest = next;
        }
        true
    }
}

/// A pattern with the named parts of the table (`let` lines) in the places of their names.
fn expand(pattern: &str) -> String {
    let parts = TABLE.lines().filter_map(|line| line.strip_prefix("let\t")?.split_once('\t'));
    parts.fold(pattern.to_owned(), |pattern, (name, part)| pattern.replace(&format!("{{{name}}}"), part))
}

pub(crate) fn window(text: &str, start: usize) -> &str {
    text.get(start..text.floor_char_boundary(start + WINDOW)).unwrap_or_default()
}

/// A rule does not look again into a long value.
pub(crate) fn mark_read(value: &Range<usize>, read: &mut usize) {
    if value.len() >= LONG {
        *read = value.end;
    }
}

/// The end of a value found in the window at `start`; past the window where it was cut.
pub(crate) fn run_on(text: &str, start: usize, length: usize) -> usize {
    let end = start + length;
    if length < window(text, start).len() {
        return end;
    }
    let token = |b: &u8| b.is_ascii_alphanumeric() || b"+/=_-".contains(b);
    let rest = text.as_bytes().get(end..).unwrap_or_default();
    end + rest.iter().take_while(|b| token(b)).count()
}

pub(crate) fn touches(text: &str, at: Option<usize>, class: impl Fn(&u8) -> bool) -> bool {
    at.and_then(|at| text.as_bytes().get(at)).is_some_and(class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_read() {
        let rules = Rule::all();
        assert_eq!(
            rules.len(),
            TABLE.lines().filter(|line| line.starts_with("shape\t") || line.starts_with("provider\t")).count()
        );
        for rule in &rules {
            assert_eq!(rule.keywords().is_empty(), (rule.kind == Kind::Token), "{}", rule.id);
            let groups = rule.regex().map_or(0, Regex::captures_len);
            assert!(
                groups > rule.group || matches!(rule.kind, Kind::Around | Kind::Scored),
                "{} {}",
                rule.id,
                rule.pattern
            );
            assert!(!rule.source.is_empty(), "{}", rule.id);
        }
        let skips = Skips::parse();
        assert!(skips.whole.is_some() && skips.parts.is_some() && !skips.samples.is_empty());
        assert!(
            !skips.before.is_empty() && !skips.between.is_empty() && !skips.after.is_empty() && !skips.stems.is_empty()
        );
        assert!(
            !skips.names.is_empty()
                && !skips.lines.is_empty()
                && !skips.things.is_empty()
                && !skips.promises.is_empty()
        );
    }
}
