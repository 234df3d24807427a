//! Secrets that no rule describes, by the score of their form and their place.

use std::ops::Range;

use crate::rules::touches;
use crate::score;
use crate::shape::{claims_nothing, encodes_a_name, entropy, is_digest, is_pin, repeats_a_group, word_before, words};

use super::Redactor;
use super::beside::{is_in_resource, line_before, name_at_end};

/// A value so long is data, and its name may say of what.
const DATA: usize = 20;

impl Redactor {
    /// What no rule has found and looks like a secret in its place.
    pub(super) fn scored(
        &self,
        text: &str,
        places: &[Range<usize>],
        found: &[(usize, Range<usize>)],
    ) -> Vec<(usize, Range<usize>)> {
        let Some(index) = self.scored else { return Vec::new() };
        let mut known: Vec<Range<usize>> = found.iter().map(|(_, range)| range.clone()).collect();
        known.sort_unstable_by_key(|range| (range.start, range.end));
        // Each ends no earlier than those before it, so that they can be searched by their ends.
        let mut end = 0;
        for range in &mut known {
            end = end.max(range.end);
            range.end = end;
        }
        let is_new = |range: &Range<usize>| {
            let next = known.partition_point(|it| it.end <= range.start);
            known.get(next).is_none_or(|it| it.start >= range.end)
        };
        let secrets = score::find(text, places, |at| self.is_other(text, at));
        secrets.into_iter().filter(is_new).map(|range| (index, range)).collect()
    }

    /// The value is a placeholder, or its name says that it is something else.
    fn is_other(&self, text: &str, at: &Range<usize>) -> bool {
        let value = text.get(at.clone()).unwrap_or_default();
        // A number may be a code.
        if value.bytes().all(|b| b.is_ascii_digit()) {
            return !is_pin(value);
        }
        if self.skips.is_sample(value) || self.skips.stands_in(value) || self.skips.is_made_up(value) {
            return true;
        }
        // A call or an index is code that yields the value.
        let is_code = touches(text, Some(at.end), |b| b"([".contains(b));
        if is_code || is_key_or_target(value) || self.is_identifier(value) || is_of_no_use(value) {
            return true;
        }
        let line = line_before(text, at.start);
        if is_in_resource(line) {
            return true;
        }
        let (end, name) = name_at_end(line);
        let is_hex = value.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        if value.len() >= DATA || is_hex {
            let before = word_before(end.get(..end.len() - name.len()).unwrap_or_default());
            let is_of_a_thing =
                self.skips.before.contains(before.as_str()) || (is_hex && self.skips.between.contains(before.as_str()));
            // A file, and the commit that it is of.
            let is_of_a_file = is_digest(value) && line.ends_with([' ', '(']) && name_ends_as_file(end);
            return is_of_a_thing || is_of_a_file || self.is_named_otherwise(line);
        }
        words(name).last().is_some_and(|last| self.skips.after.contains(last.as_str()))
    }

    /// What is measured in a text, by its place, with the level of each of its traits: what `scripts/fit_secrets.py` reads.
    #[doc(hidden)]
    #[must_use]
    pub fn measured(&self, text: &str) -> Vec<(Range<usize>, Vec<u16>)> {
        let mut places = Vec::new();
        self.scan(text, &mut places);
        let candidates = score::candidates(text, &places, |at| self.is_other(text, at)).into_iter();
        candidates.map(|one| (one.range, one.levels)).collect()
    }

    /// The names of the traits that are measured, and how many levels each has.
    #[doc(hidden)]
    #[must_use]
    pub fn traits() -> &'static [(&'static str, u16)] {
        score::traits()
    }
}

/// The last word ends like a file's name.
fn name_ends_as_file(line: &str) -> bool {
    let word = line.rsplit([' ', '\t']).next().unwrap_or_default();
    word.rsplit_once('.')
        .is_some_and(|(_, end)| (1..=5).contains(&end.len()) && end.bytes().all(|b| b.is_ascii_lowercase()))
}

/// One character again and again, or what says that it stands for nobody.
fn is_of_no_use(value: &str) -> bool {
    let is_flat = value.len() >= 16 && entropy(value) < 2.5;
    is_flat || repeats_a_group(value) || encodes_a_name(value) || claims_nothing(value)
}

/// A colour as style sheets write it, a combination of keys, or what a compiler compiles for.
fn is_key_or_target(value: &str) -> bool {
    let colour = value.strip_prefix('#');
    colour.is_some_and(|rest| rest.len() <= 8 && rest.bytes().all(|b| b.is_ascii_hexdigit()))
        || ["Ctrl+", "Cmd+", "Alt+", "Shift+", "ctrl+", "cmd+", "alt+", "shift+"]
            .iter()
            .any(|key| value.starts_with(key))
        || ["x86_64", "aarch64", "arm64"].iter().any(|target| value.contains(target))
}
