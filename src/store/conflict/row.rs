//! One row in both versions of a playbook file: what it says, its marks and its counts are merged separately.

use chrono::DateTime;
use serde_json::{Map, Value};

use crate::clock::Clock;
use crate::lesson::{Lesson, LessonId, RemovedText, TextHash, Trust};
use crate::store::checksum::{self, Seal};

const COUNTS: [&str; 5] = ["frequency", "retrievals", "helpful_retrievals", "harmful_retrievals", "settled_retrievals"];
const RECALLS: [&str; 2] = ["learned_at_recall", "shown_at_recall"];
const TIMES: [&str; 3] = ["timestamp", "last_retrieved_at", "last_credited_at"];
const VERIFIED: &str = "verified";
const ATTEMPTED: &str = "verification_attempted";
const GRADUATED: &str = "graduated";

/// A row of a list of lessons.
pub(super) struct Row {
    pub(super) value: Value,
    /// None if it is not a lesson.
    pub(super) lesson: Option<Lesson>,
    seal: Seal,
}

impl Row {
    pub(super) fn read(list: &str, value: Value, clock: &dyn Clock) -> Self {
        // The checksum is not a part of what the row says.
        let mut keys = value.clone();
        let seal = checksum::take(list, &mut keys);
        let lesson = Lesson::from_row(keys.get("lesson").cloned().unwrap_or(keys), clock).ok();
        Self { value, lesson, seal }
    }

    /// True if this program wrote the row: nobody edited it in the file since.
    pub(super) fn is_whole(&self) -> bool {
        self.seal == Seal::Whole
    }

    pub(super) fn id(&self) -> Option<&str> {
        id_of(&self.value)
    }

    /// The hash of all that the row says: of what a person admits, without its counts and checks.
    pub(super) fn says(&self) -> TextHash {
        match &self.lesson {
            Some(lesson) => lesson.admission_hash(),
            None => TextHash::of(&[self.value.to_string()]),
        }
    }

    /// The hashes of its advice.
    pub(super) fn text(&self) -> Option<RemovedText> {
        self.lesson.as_ref().map(RemovedText::of)
    }

    /// The hash of its advice and realm.
    pub(super) fn place(&self) -> Option<TextHash> {
        let lesson = self.lesson.as_ref()?;
        Some(TextHash::of(&[&lesson.text_hash().to_string(), &lesson.realm.project, &lesson.realm.role]))
    }

    pub(super) fn is_shown_as(&self, other: &Self) -> bool {
        let shown = |row: &Self| row.lesson.as_ref().map(Lesson::shown_hash);
        shown(self) == shown(other)
    }

    /// How careful it is to keep this of two rows that are shown alike: a disabled one, then one that may come from untrusted
    /// content, then one that the user has admitted.
    pub(super) fn caution(&self, admits: &dyn Fn(&Lesson) -> bool) -> [bool; 3] {
        let Some(lesson) = &self.lesson else { return [false; 3] };
        let is_tainted = lesson.provenance.trust == Trust::Tainted;
        [lesson.is_disabled(), is_tainted, admits(lesson)]
    }

    /// The row under another id, which any clone gives it.
    pub(super) fn renamed(&self) -> Option<Value> {
        let lesson = self.lesson.as_ref()?;
        let seed = TextHash::of(&[lesson.id.to_string(), self.says().to_string()]);
        let mut row = self.value.get("lesson").unwrap_or(&self.value).clone();
        // A row without a time was read as one of now.
        let time = row.get("timestamp").and_then(Value::as_str);
        let time = time.and_then(|time| DateTime::parse_from_rfc3339(time).ok()).unwrap_or_default();
        let id = LessonId::at(time, seed);
        let keys = row.as_object_mut()?;
        keys.remove(checksum::KEY);
        keys.insert("id".to_owned(), id.to_string().into());
        Some(row)
    }

    fn lesson_keys(&self) -> Option<&Map<String, Value>> {
        self.value.get("lesson").unwrap_or(&self.value).as_object()
    }
}

/// The id of a row; the one of its lesson, if it awaits review.
pub(super) fn id_of(row: &Value) -> Option<&str> {
    row.get("id").or_else(|| row.pointer("/lesson/id")).and_then(Value::as_str)
}

/// The row of a list that says what `kept` says, with the marks and counts of both.
pub(super) fn united(list: &str, kept: &Row, other: &Row, ancestors: &[Row]) -> Value {
    let mut value = kept.value.clone();
    let (Some(own), Some(others)) = (kept.lesson_keys(), other.lesson_keys()) else { return value };
    let versions = Versions {
        own,
        others,
        ancestors: ancestors.iter().filter_map(Row::lesson_keys).collect(),
        is_one_text: kept.is_shown_as(other),
    };
    let is_waiting = value.get("lesson").is_some();
    let lesson = if is_waiting { value.get_mut("lesson") } else { Some(&mut value) };
    if let Some(keys) = lesson.and_then(Value::as_object_mut) {
        versions.unite(keys);
    }
    seal(list, &mut value, kept.is_whole());
    value
}

/// Writes the checksum of a row again, unless somebody edited it.
pub(super) fn seal(list: &str, row: &mut Value, is_whole: bool) {
    let Some(keys) = row.as_object_mut() else { return };
    keys.remove(checksum::KEY);
    if is_whole {
        let crc = checksum::of_row(list, keys);
        keys.insert(checksum::KEY.to_owned(), crc.into());
    }
}

/// The keys of a lesson in both versions, and in what is known of their common ancestors.
struct Versions<'v> {
    own: &'v Map<String, Value>,
    others: &'v Map<String, Value>,
    ancestors: Vec<&'v Map<String, Value>>,
    is_one_text: bool,
}

impl Versions<'_> {
    fn unite(&self, keys: &mut Map<String, Value>) {
        for key in COUNTS {
            put_number(keys, key, self.count(key));
        }
        for key in RECALLS {
            put_number(keys, key, number(self.own, key).max(number(self.others, key)));
        }
        // Without an ancestor, a use that helped and one that did harm may have been two.
        let judged = number(keys, "helpful_retrievals").saturating_add(number(keys, "harmful_retrievals"));
        let settled = number(keys, "settled_retrievals").max(judged);
        put_number(keys, "settled_retrievals", settled);
        put_number(keys, "retrievals", settled.max(number(keys, "retrievals")));
        for key in TIMES {
            keys.extend(self.later(key).map(|time| (key.to_owned(), time.clone())));
        }
        keys.insert(GRADUATED.to_owned(), self.is_graduated().into());
        if self.is_one_text {
            let [is_verified, is_attempted] = self.verification();
            keys.insert(VERIFIED.to_owned(), is_verified.into());
            keys.insert(ATTEMPTED.to_owned(), is_attempted.into());
        }
        keys.extend(self.confidence().map(|confidence| ("confidence".to_owned(), confidence.into())));
        self.add_near(keys);
    }

    /// With an ancestor, what either version counted since; otherwise the larger count.
    fn count(&self, key: &str) -> u64 {
        let (own, other) = (number(self.own, key), number(self.others, key));
        match self.ancestors.iter().map(|ancestor| number(ancestor, key)).max() {
            Some(before) => own.saturating_add(other).saturating_sub(before.min(own).min(other)),
            None => own.max(other),
        }
    }

    fn later(&self, key: &str) -> Option<&Value> {
        let time = |value: &&Value| DateTime::parse_from_rfc3339(value.as_str()?.trim()).ok();
        [self.own.get(key), self.others.get(key)]
            .into_iter()
            .flatten()
            .filter(|value| time(value).is_some())
            .max_by_key(time)
    }

    /// What all ancestors have of a mark; none without an ancestor, or if they differ.
    fn before(&self, key: &str) -> Option<bool> {
        let mut marks = self.ancestors.iter().map(|ancestor| flag(ancestor, key));
        let first = marks.next()?;
        marks.all(|mark| mark == first).then_some(first)
    }

    fn is_graduated(&self) -> bool {
        let (own, other) = (flag(self.own, GRADUATED), flag(self.others, GRADUATED));
        // If they differ, one of them changed it.
        if own == other { own } else { self.before(GRADUATED).is_none_or(|before| !before) }
    }

    /// Whether the lesson is verified, and whether that was attempted. Without an ancestor, a check that failed counts more than one that
    /// passed: the mark gives trust.
    fn verification(&self) -> [bool; 2] {
        let [own, other] = [self.own, self.others].map(|keys| [VERIFIED, ATTEMPTED].map(|key| flag(keys, key)));
        if own == other {
            return own;
        }
        let before =
            self.before(VERIFIED).zip(self.before(ATTEMPTED)).map(|(verified, attempted)| [verified, attempted]);
        if before == Some(own) {
            return other;
        }
        if before == Some(other) {
            return own;
        }
        let has_failed = [own, other].contains(&[false, true]);
        [!has_failed && (own[0] || other[0]), own[1] || other[1]]
    }

    /// With an ancestor, both changes; otherwise that of the version with more outcomes or a check that passed, or the lower one.
    fn confidence(&self) -> Option<f64> {
        let read = |keys: &Map<String, Value>| keys.get("confidence").and_then(Value::as_f64);
        let (own, other) = (read(self.own)?, read(self.others)?);
        if let [ancestor] = self.ancestors.as_slice()
            && let Some(before) = read(ancestor)
        {
            let is_same = |one: f64, two: f64| one.to_bits() == two.to_bits();
            return Some(match (is_same(own, before), is_same(other, before)) {
                (true, _) => other,
                (_, true) => own,
                _ => (own + other - before).clamp(0.0, 1.0),
            });
        }
        let known = |keys: &Map<String, Value>| (number(keys, "settled_retrievals"), flag(keys, VERIFIED));
        Some(match known(self.own).cmp(&known(self.others)) {
            std::cmp::Ordering::Less => other,
            std::cmp::Ordering::Greater => own,
            std::cmp::Ordering::Equal => own.min(other),
        })
    }

    fn add_near(&self, keys: &mut Map<String, Value>) {
        let Some(others) = self.others.get("near").and_then(Value::as_array) else { return };
        let Some(Value::Array(near)) = keys.get_mut("near") else { return };
        for id in others {
            if !near.contains(id) {
                near.push(id.clone());
            }
        }
    }
}

fn number(keys: &Map<String, Value>, key: &str) -> u64 {
    keys.get(key).and_then(Value::as_u64).unwrap_or_default()
}

/// A count that a row leaves out where it is 0 stays out.
fn put_number(keys: &mut Map<String, Value>, key: &str, number: u64) {
    if number > 0 || keys.contains_key(key) {
        keys.insert(key.to_owned(), number.into());
    }
}

fn flag(keys: &Map<String, Value>, key: &str) -> bool {
    keys.get(key).and_then(Value::as_bool).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::clock::ManualClock;
    use crate::testing::at;

    fn row(keys: &Value) -> Row {
        let mut row =
            json!({"id": "018f0000-0000-7000-8000-000000000001", "trigger": "t", "solution": "s", "confidence": 0.5});
        row.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
        seal("lessons", &mut row, true);
        Row::read("lessons", row, &ManualClock::new(at(0)))
    }

    /// Merges two rows with an ancestor, and without one.
    fn check([own, other, ancestor]: [&Value; 3], with: &Value, without: &Value) {
        for (ancestors, expected) in [(vec![row(ancestor)], with), (Vec::new(), without)] {
            let [one, two] = [row(own), row(other)];
            for (kept, other) in [(&one, &two), (&two, &one)] {
                let united = united("lessons", kept, other, &ancestors);
                for (key, value) in expected.as_object().unwrap() {
                    assert_eq!(united.get(key), Some(value), "{key}: {united}");
                }
                assert!(Row::read("lessons", united, &ManualClock::new(at(0))).is_whole());
            }
        }
    }

    #[test]
    fn counts_are_added_up_with_an_ancestor_and_the_larger_ones_otherwise() {
        let own = json!({"frequency": 2, "retrievals": 5, "harmful_retrievals": 2, "settled_retrievals": 2});
        let other = json!({"frequency": 4, "retrievals": 4, "helpful_retrievals": 3, "settled_retrievals": 3});
        let ancestor = json!({"frequency": 2, "retrievals": 3, "helpful_retrievals": 1, "settled_retrievals": 1});
        let with = json!({"frequency": 4, "retrievals": 6, "harmful_retrievals": 2, "helpful_retrievals": 3});
        let without = json!({"frequency": 4, "retrievals": 5, "harmful_retrievals": 2, "helpful_retrievals": 3, "settled_retrievals": 5});
        check([&own, &other, &ancestor], &with, &without);
    }

    #[test]
    fn times_are_the_later_ones() {
        let own = json!({"timestamp": "2026-01-01T00:00:00Z", "last_retrieved_at": null});
        let other = json!({"timestamp": "2026-01-01T00:30:00+01:00", "last_retrieved_at": "2026-01-02T00:00:00Z"});
        let expected = json!({"timestamp": "2026-01-01T00:00:00Z", "last_retrieved_at": "2026-01-02T00:00:00Z"});
        check([&own, &other, &json!({})], &expected, &expected);
    }

    #[test]
    fn a_mark_is_as_one_version_changed_it() {
        let marks = |verified: bool, attempted: bool, graduated: bool| json!({"verified": verified, "verification_attempted": attempted, "graduated": graduated});
        let (none, passed, failed) = (marks(false, false, false), marks(true, true, true), marks(false, true, false));
        check([&passed, &none, &none], &passed, &passed);
        check([&passed, &none, &passed], &none, &passed);
        check([&failed, &none, &none], &failed, &failed);
        // One of two checks failed: without an ancestor, nobody knows which was the later one.
        check([&failed, &passed, &failed], &passed, &marks(false, true, true));
        check([&marks(false, true, false), &passed, &passed], &marks(false, true, false), &marks(false, true, true));
    }

    #[test]
    fn a_check_of_another_text_is_not_taken_over() {
        let [kept, other] = [json!({"solution": "new"}), json!({"verified": true})].map(|keys| row(&keys));
        assert_eq!(united("lessons", &kept, &other, &[]).get("verified"), None);
    }

    #[test]
    fn confidence_follows_what_was_found_out_and_is_the_lower_one_otherwise() {
        let of = |confidence: f64, settled: u64| json!({"confidence": confidence, "settled_retrievals": settled});
        let confidence = |confidence: f64| json!({"confidence": confidence});
        check([&of(0.25, 2), &of(0.5, 0), &of(0.5, 0)], &confidence(0.25), &confidence(0.25));
        check([&of(0.75, 2), &of(0.5, 0), &of(0.5, 0)], &confidence(0.75), &confidence(0.75));
        check([&of(0.75, 1), &of(0.25, 1), &of(0.5, 0)], &confidence(0.5), &confidence(0.25));
    }

    #[test]
    fn the_second_text_has_the_same_id_in_every_clone() {
        let [one, two] = [json!({}), json!({"retrievals": 7})].map(|keys| row(&keys).renamed().unwrap());
        assert_eq!(one["id"], two["id"]);
        assert_ne!(id_of(&one), row(&json!({})).id());
        assert_ne!(row(&json!({"solution": "x"})).renamed().unwrap()["id"], one["id"]);
    }

    #[test]
    fn of_rows_that_are_shown_alike_the_more_careful_one_ranks_higher() {
        let plain = row(&json!({}));
        let tainted = row(&json!({"provenance": {"trust": "tainted"}}));
        let quarantined = row(&json!({"quarantined": true}));
        let ranks = |admits: bool| [&plain, &tainted, &quarantined].map(|row| row.caution(&|_| admits));
        assert!(ranks(true).is_sorted() && ranks(false).is_sorted());
        assert!(plain.caution(&|_| true) > plain.caution(&|_| false));
    }
}
