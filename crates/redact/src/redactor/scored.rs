//! Secrets that no rule describes, by the score of their form and their place.

use std::ops::Range;

use serde_json::{Value, json};

use crate::check_cache::CheckCache;
use crate::rules::{Rule, touches};
use crate::score::{self, Candidate, Hit, Other};
use crate::shape::{
    claims_nothing, encodes_a_name, encodes_text, entropy, is_digest, is_pin, repeats_a_group, word_before, words,
};

use super::Redactor;
use super::public::{is_alphabet, is_public, is_public_in_place};
use super::surroundings::{is_in_resource, line_before, name_at_end};

/// A value so long is data, and its name may say of what.
const DATA: usize = 20;

/// Places, each with the index of the rule that names it.
type Ruled = Vec<(usize, Range<usize>)>;

impl Redactor {
    /// Of what rules have found what is sure, and what looks like a secret in its place, whether a rule has found it or not.
    pub(super) fn scored(&self, text: &str, places: &[Range<usize>], found: Ruled) -> Ruled {
        let Some(index) = self.scored else { return found };
        let (mut sure, hits) = self.hits(found);
        let plain: Vec<Hit> = hits.iter().map(|(_, hit)| hit.clone()).collect();
        let (kept, secrets) = score::find(text, places, &plain, |at| self.other(text, at));
        let kept = kept.into_iter().filter_map(|at| hits.get(at));
        sure.extend(kept.map(|(rule, hit)| (*rule, hit.range.clone())));
        let known = Spans::of(&sure);
        let new = secrets.into_iter().filter(|range| !known.overlap(range));
        sure.extend(new.map(|range| (index, range)));
        sure
    }

    /// Of what rules have found what is sure, and for each other place the first of its rules and all of them.
    fn hits(&self, mut found: Ruled) -> (Ruled, Vec<(usize, Hit)>) {
        let mut sure = found.clone();
        sure.retain(|(rule, _)| self.rules.get(*rule).is_some_and(Rule::is_sure));
        let known = Spans::of(&sure);
        found.sort_unstable_by_key(|(rule, range)| (range.start, range.end, *rule));
        let mut hits: Vec<(usize, Hit)> = Vec::new();
        for (index, range) in found {
            let Some(rule) = self.rules.get(index).filter(|rule| !rule.is_sure()) else { continue };
            if known.overlap(&range) {
                sure.push((index, range));
                continue;
            }
            let name = [rule.id, rule.check_name];
            match hits.last_mut() {
                Some((_, hit)) if hit.range == range => hit.rules.push(name),
                _ => hits.push((index, Hit { range, rules: vec![name] })),
            }
        }
        (sure, hits)
    }

    /// Why a value may be something else: it is a placeholder, or its name says so.
    fn other(&self, text: &str, at: &Range<usize>) -> Other {
        let value = text.get(at.clone()).unwrap_or_default();
        // A number may be a code.
        if value.bytes().all(|b| b.is_ascii_digit()) {
            return if is_pin(value) { Other::None } else { Other::Sample };
        }
        // A call or an index is code that yields the value.
        let is_code = touches(text, Some(at.end), |b| b"([".contains(b));
        match () {
            () if self.exceptions.is_sample(value) || is_alphabet(value) => Other::Sample,
            () if self.exceptions.is_placeholder(value) => Other::StandsIn,
            () if self.exceptions.is_made_up(value) => Other::MadeUp,
            () if is_public(value) || is_public_in_place(text, at) => Other::Public,
            () if encodes_text(value) => Other::Text,
            () if is_code || is_key_or_target(value) || self.is_identifier(value) || is_of_no_use(value) => {
                Other::NoUse
            }
            () => self.other_by_line(value, line_before(text, at.start)),
        }
    }

    /// What is before a value on its line says that it is something else.
    fn other_by_line(&self, value: &str, line: &str) -> Other {
        let (end, name) = name_at_end(line);
        if is_in_resource(line) || self.exceptions.has_stem(name) {
            return Other::Named;
        }
        let is_hex = value.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        if value.len() < DATA && !is_hex {
            let is_other = words(name).last().is_some_and(|last| self.exceptions.suffixes.has(last));
            return if is_other { Other::NamedOnLine } else { Other::None };
        }
        let before = word_before(end.get(..end.len() - name.len()).unwrap_or_default());
        let is_of_a_thing =
            self.exceptions.qualifiers.has(before) || (is_hex && self.exceptions.digest_qualifiers.has(before));
        // A file, and the commit that it is of.
        let is_of_a_file = is_digest(value) && line.ends_with([' ', '(']) && name_ends_as_file(end);
        // A version, and its sum.
        let is_of_a_version = is_digest(value) && name.bytes().all(|b| b.is_ascii_digit()) && !name.is_empty();
        match () {
            () if is_of_a_thing || is_of_a_file || is_of_a_version || self.is_said_to_be_other(line) => Other::Named,
            () if self.is_named_as_other(line) => Other::NamedOnLine,
            () => Other::None,
        }
    }

    /// What is measured in a text, as JSON for `scripts/fit_secrets.py`: of each candidate its place, the level of each of its traits, its
    /// buckets, and whether a rule found it; and where rules are sure.
    #[doc(hidden)]
    #[must_use]
    pub fn measured(&self, text: &str) -> Value {
        let (mut places, cache) = (Vec::new(), CheckCache::default());
        let mut found = self.scan(text, &mut places, &cache);
        found.extend(self.tokens(text, &cache));
        let (sure, hits) = self.hits(found);
        let hits: Vec<Hit> = hits.into_iter().map(|(_, hit)| hit).collect();
        let candidates = score::candidates(text, &places, &hits, |at| self.other(text, at)).into_iter();
        let row = |one: Candidate| json!([one.range.start, one.range.end, one.levels, one.buckets, one.hit.is_some()]);
        let measured: Vec<Value> = candidates.map(row).collect();
        let sure: Vec<[usize; 2]> = sure.iter().map(|(_, range)| [range.start, range.end]).collect();
        json!({ "measured": measured, "sure": sure })
    }

    /// The names of the traits that are measured and how many levels each has, and how many buckets there are; as JSON.
    #[doc(hidden)]
    #[must_use]
    pub fn measures() -> Value {
        json!([score::traits(), score::n_buckets()])
    }
}

/// Places of a text, to ask whether another overlaps one of them.
struct Spans(Vec<Range<usize>>);

impl Spans {
    fn of(found: &[(usize, Range<usize>)]) -> Self {
        let mut spans: Vec<Range<usize>> = found.iter().map(|(_, range)| range.clone()).collect();
        spans.sort_unstable_by_key(|range| (range.start, range.end));
        // Each ends no earlier than those before it, so that they can be searched by their ends.
        let mut end = 0;
        for range in &mut spans {
            end = end.max(range.end);
            range.end = end;
        }
        Self(spans)
    }

    fn overlap(&self, range: &Range<usize>) -> bool {
        let next = self.0.partition_point(|it| it.end <= range.start);
        self.0.get(next).is_some_and(|it| it.start < range.end)
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
