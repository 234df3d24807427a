//! What is not a secret: placeholders, examples, published values, and values with a public name.

use std::sync::LazyLock;

use regex::Regex;

use crate::rules::{TABLE, built};
use crate::score::announces_value;
use crate::shape::{word_before, words};
use crate::word_finder::WordFinder;
use crate::word_set::WordSet;

/// The exceptions of the table (`skip` lines).
pub(crate) struct Exceptions {
    /// Parts of placeholders.
    placeholder_parts: WordFinder<&'static str>,
    /// The forms of values that are placeholders or references as a whole.
    placeholder_forms: LazyLock<Regex>,
    /// The ends of published sample keys.
    sample_ends: Vec<&'static str>,
    /// Words of which example passwords consist.
    example_words: Vec<&'static str>,
    /// Parts of names of public values.
    name_stems: Vec<&'static str>,
    /// Words before `key` that make its value public, as in `cache key`.
    qualifiers: WordSet,
    /// Words in the rest of a name that make its value public, as in `token_id`.
    suffixes: WordSet,
    /// Words of names and prefixes whose random values are public, as in `msg_…`.
    pub(crate) public_names: WordSet,
    /// Words that say that a random value on their line is a digest or the guard of a form.
    digest_words: WordSet,
}

impl Exceptions {
    pub(crate) fn parse() -> Self {
        Self {
            placeholder_parts: WordFinder::new(listed("part").collect()),
            placeholder_forms: LazyLock::new(|| {
                let forms = listed("whole").collect::<Vec<_>>().join("|");
                built(Regex::new(&format!("^(?:{forms})$")))
            }),
            sample_ends: listed("sample").collect(),
            example_words: listed("made-up").collect(),
            name_stems: listed("stem").collect(),
            qualifiers: WordSet::of(listed("before")),
            suffixes: WordSet::of(listed("after")),
            public_names: WordSet::of(listed("name")),
            digest_words: WordSet::of(listed("line")),
        }
    }

    /// True for a value that ends like a published sample key.
    pub(crate) fn is_sample(&self, value: &str) -> bool {
        self.sample_ends.iter().any(|end| value.ends_with(end))
    }

    /// True for a placeholder, a template variable or a reference, with or without quotes.
    pub(crate) fn is_placeholder(&self, value: &str) -> bool {
        let value = value.trim_matches(['"', '\'']);
        self.placeholder_parts.is_in(value) || self.placeholder_forms.is_match(&value.to_ascii_lowercase())
    }

    /// True for a value that consists of words of examples and digits that count up, as in `mySecret123`; also for an
    /// empty value.
    pub(crate) fn is_made_up(&self, value: &str) -> bool {
        let value = value.to_ascii_lowercase();
        let mut parts = value.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
        parts.all(|part| {
            let name = part.trim_end_matches(|c: char| c.is_ascii_digit());
            let number = part.get(name.len()..).unwrap_or_default();
            ("1234567890".starts_with(number) || number.len() == 1) && self.is_example_words(name)
        })
    }

    /// True if the name of a random value, at the end of the line before it, is that of a public value; also if a word of the line says
    /// that it is a digest, and no word nearer to the value announces a secret.
    pub(crate) fn says_public(&self, line: &str) -> bool {
        let mut runs = line.split(|c: char| !c.is_ascii_alphanumeric());
        let is_digest_word =
            |run: &str| self.digest_words.has(run) || words(run).any(|word| self.digest_words.has(word));
        self.has_stem(line) || (runs.any(is_digest_word) && !announces_value(line))
    }

    /// True if the name of a value is that of a public one. `before` is the text up to the keyword of the name, `rest` what follows the
    /// keyword in the name.
    pub(crate) fn is_public_name(&self, before: &str, keyword: &str, rest: &str) -> bool {
        let is_key = keyword.to_ascii_lowercase().ends_with("key");
        (is_key && self.qualifiers.has(word_before(before))) || words(rest).any(|word| self.suffixes.has(word))
    }

    /// True if a line ends with the name of a form's guard or of another public value, as `csrf_token`.
    pub(crate) fn has_stem(&self, line: &str) -> bool {
        let name = line.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let name = name.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-').next().unwrap_or_default();
        let name = name.to_ascii_lowercase().replace(['_', '-'], "");
        self.name_stems.iter().any(|stem| name.contains(stem))
    }

    /// True for words of examples in a row, the longest first at each place; also for an empty text.
    fn is_example_words(&self, text: &str) -> bool {
        let mut rest = text;
        while !rest.is_empty() {
            let after_word = self.example_words.iter().filter_map(|word| rest.strip_prefix(word));
            let Some(next) = after_word.min_by_key(|rest| rest.len()) else { return false };
            rest = next;
        }
        true
    }
}

/// The words of the `skip` lines of one kind.
fn listed(kind: &str) -> impl Iterator<Item = &'static str> {
    let lines =
        TABLE.lines().filter_map(move |line| line.strip_prefix("skip\t")?.strip_prefix(kind)?.strip_prefix('\t'));
    lines.flat_map(str::split_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_exception_is_in_the_table() {
        let it = Exceptions::parse();
        assert!(listed("part").count() > 0 && listed("whole").count() > 0);
        assert!(!it.sample_ends.is_empty() && !it.example_words.is_empty() && !it.public_names.is_empty());
        assert!(!it.qualifiers.is_empty() && !it.suffixes.is_empty());
        assert!(!it.digest_words.is_empty() && !it.name_stems.is_empty());
    }
}
