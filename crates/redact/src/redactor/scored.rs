//! Finds secrets by a score of their form and surroundings, and confirms the finds of rules by it.

use std::ops::Range;

use serde_json::{Value, json};

use super::public::{is_cut_short, is_public, line_before};
use super::search::{Findings, Search};
use super::{Find, Redactor};
use crate::rules::{Rule, touches};
use crate::score::{self, Candidate, Hit, Other};
use crate::shape::{encodes_a_name, encodes_text, is_pin, repeats_a_group};

/// A value of this length is data, in bytes: any word of its line can say what it is.
const DATA: usize = 20;

/// The secret of the examples of RFC 4226.
const RFC_4226_SECRET: &str = "12345678901234567890";

/// The finds of rules, by whether the score has to confirm them.
struct Sorted {
    sure: Vec<Find>,
    /// Other finds, one for each place, with the index of the first of its rules.
    unsure: Vec<(usize, Hit)>,
}

impl Redactor {
    /// The finds of rules that are sure or that the score confirms, and the secrets that the score alone finds.
    pub(super) fn score(&self, text: &str, found: Findings) -> Vec<Find> {
        let Findings { finds, announcing } = found;
        let Some(scored_rule) = self.scored else { return finds };
        let Sorted { mut sure, unsure } = self.sorted(finds);
        let hits: Vec<Hit> = unsure.iter().map(|(_, hit)| hit.clone()).collect();
        let (kept, secrets) = score::find(text, &announcing, &hits, |at| self.why_other(text, at));
        let kept = kept.into_iter().filter_map(|at| unsure.get(at));
        sure.extend(kept.map(|(rule, hit)| Find { rule: *rule, range: hit.range.clone() }));
        let known = Spans::of(&sure);
        let new = secrets.into_iter().filter(|range| !known.overlap(range));
        sure.extend(new.map(|range| Find { rule: scored_rule, range }));
        sure
    }

    /// Separates the finds of sure rules, and those that overlap one, from the others.
    fn sorted(&self, mut finds: Vec<Find>) -> Sorted {
        let mut sure = finds.clone();
        sure.retain(|find| self.rules.get(find.rule).is_some_and(Rule::is_sure));
        let known = Spans::of(&sure);
        finds.sort_unstable_by_key(|find| (find.range.start, find.range.end, find.rule));
        let mut unsure: Vec<(usize, Hit)> = Vec::new();
        for find in finds {
            let Some(rule) = self.rules.get(find.rule).filter(|rule| !rule.is_sure()) else { continue };
            if known.overlap(&find.range) {
                sure.push(find);
                continue;
            }
            let name = [rule.id, rule.check_name];
            match unsure.last_mut() {
                Some((_, hit)) if hit.range == find.range => hit.rules.push(name),
                _ => unsure.push((find.rule, Hit { range: find.range, rules: vec![name] })),
            }
        }
        Sorted { sure, unsure }
    }

    /// Why a value may not be a secret: its form is that of a placeholder or a public value.
    fn why_other(&self, text: &str, at: &Range<usize>) -> Other {
        let value = text.get(at.clone()).unwrap_or_default();
        // A number may be a code.
        if value.bytes().all(|b| b.is_ascii_digit()) {
            return match () {
                () if !is_pin(value) || value == RFC_4226_SECRET => Other::Sample,
                () => Other::None,
            };
        }
        let is_data = || value.len() >= DATA || value.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        // A call or an index is code that yields the value.
        let is_code = touches(text, Some(at.end), |b| b"([{".contains(b));
        match () {
            () if self.exceptions.is_sample(value) || is_cut_short(text, at) => Other::Sample,
            () if self.exceptions.is_placeholder(value) => Other::StandsIn,
            () if self.exceptions.is_made_up(value) => Other::MadeUp,
            () if is_public(value) => Other::Public,
            () if encodes_text(value) => Other::Text,
            () if is_code || self.is_identifier(value) || repeats_a_group(value) || encodes_a_name(value) => {
                Other::NoUse
            }
            () if is_data() && self.exceptions.says_public(line_before(text, at.start)) => Other::Named,
            () => Other::None,
        }
    }

    /// The measurements of a text as JSON, for `scripts/fit_secrets.py`: for each candidate its place, the level of
    /// each trait, its buckets, and whether a rule found it; and the places of sure finds.
    #[doc(hidden)]
    #[must_use]
    pub fn measured(&self, text: &str) -> Value {
        let Findings { finds, announcing } = Search::run(self, text);
        let Sorted { sure, unsure } = self.sorted(finds);
        let hits: Vec<Hit> = unsure.into_iter().map(|(_, hit)| hit).collect();
        let candidates = score::candidates(text, &announcing, &hits, |at| self.why_other(text, at));
        let row = |one: Candidate| json!([one.range.start, one.range.end, one.levels, one.buckets, one.hit.is_some()]);
        let measured: Vec<Value> = candidates.into_iter().map(row).collect();
        let sure: Vec<[usize; 2]> = sure.iter().map(|find| [find.range.start, find.range.end]).collect();
        json!({ "measured": measured, "sure": sure })
    }

    /// The name of each trait with the number of its levels, and the number of buckets, as JSON.
    #[doc(hidden)]
    #[must_use]
    pub fn measures() -> Value {
        json!([score::traits(), score::n_buckets()])
    }
}

/// Places in a text, searched for overlaps.
struct Spans(Vec<Range<usize>>);

impl Spans {
    fn of(finds: &[Find]) -> Self {
        let mut spans: Vec<Range<usize>> = finds.iter().map(|find| find.range.clone()).collect();
        spans.sort_unstable_by_key(|range| (range.start, range.end));
        // Each span is extended to the greatest end so far, so that the ends ascend and can be searched.
        let mut end = 0;
        for range in &mut spans {
            end = end.max(range.end);
            range.end = end;
        }
        Self(spans)
    }

    /// True if a range overlaps one of the places.
    fn overlap(&self, range: &Range<usize>) -> bool {
        let next = self.0.partition_point(|it| it.end <= range.start);
        self.0.get(next).is_some_and(|it| it.start < range.end)
    }
}
