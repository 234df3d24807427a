//! Lenient reading of a row (docs/spec/playbook.md, 2): it may come from an older version, another program or an editor.

use std::collections::BTreeSet;

use chrono::{DateTime, FixedOffset, NaiveDateTime};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::former_recovery::recovery_told_by;
use super::provenance::Origin;
use super::{CommandRecovery, Lesson, LessonId, Provenance, Realm, Refusal, SCHEMA_VERSION, TextHash, WaysIn};
use crate::clock::{Clock, parse_time};

/// First words by which a multi-line text without a fence is recognised as code.
const CODE_STARTS: [&str; 16] = [
    "def ",
    "import ",
    "from ",
    "with ",
    "for ",
    "while ",
    "class ",
    "fn ",
    "let ",
    "use ",
    "const ",
    "function ",
    "async ",
    "#!/",
    "SELECT ",
    "$ ",
];

/// The known keys of a row; all others are kept unchanged.
pub(crate) const KEYS: [&str; 36] = [
    "schema_version",
    "id",
    "timestamp",
    "task",
    "trigger",
    "mistake",
    "anti_pattern",
    "solution",
    "correct_pattern",
    "code_example",
    "domains",
    "paths",
    "commands",
    "names",
    "situations",
    "signs",
    "recovery",
    "confidence",
    "source_challenge_hash",
    "source",
    "project",
    "role",
    "verified",
    "verification_attempted",
    "graduated",
    "retrievals",
    "helpful_retrievals",
    "harmful_retrievals",
    "settled_retrievals",
    "learned_at_recall",
    "shown_at_recall",
    "frequency",
    "last_retrieved_at",
    "last_credited_at",
    "near",
    "provenance",
];

/// The time formats of rows without an offset from UTC.
const NAIVE_FORMATS: [&str; 3] = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M"];

impl Lesson {
    /// Reads a row of schema v1 or v2, or a draft. Missing fields get their defaults, values of a wrong type are converted if
    /// possible, and unknown keys are kept in `extra`.
    ///
    /// A row without an id gets one derived from its time and text, so that every reader of an older file gives it the same id.
    pub(crate) fn from_row(row: Value, clock: &dyn Clock) -> Result<Self, Refusal> {
        let Value::Object(mut row) = row else { return Err(Refusal::NotAnObject) };
        let is_structured =
            ["trigger", "correct_pattern", "domains", "confidence"].iter().any(|key| row.contains_key(*key));
        let schema_version = if is_structured { SCHEMA_VERSION } else { 1 };
        row.remove("schema_version");

        let given_id = take_or_keep(&mut row, "id", |id| id.as_str()?.parse().ok());
        let time = take_time(&mut row, "timestamp", clock);
        let by_source = Origin::of_source(row.get("source"));
        let verified = take_bool(&mut row, "verified");
        let mut lesson = Self {
            schema_version,
            id: given_id.unwrap_or_else(|| LessonId::at(DateTime::default(), TextHash::of(&[""]))),
            timestamp: time.unwrap_or_else(|| clock.now()),
            task: take_text(&mut row, "task"),
            trigger: take_text(&mut row, "trigger"),
            mistake: take_text(&mut row, "mistake"),
            anti_pattern: take_text(&mut row, "anti_pattern"),
            solution: take_text(&mut row, "solution"),
            correct_pattern: take_text(&mut row, "correct_pattern"),
            code_example: take_text(&mut row, "code_example"),
            domains: read_domains(row.remove("domains")),
            paths: read_list(row.remove("paths")),
            commands: read_list(row.remove("commands")),
            ways_in: WaysIn {
                names: read_list(row.remove("names")),
                situations: read_list(row.remove("situations")),
                signs: read_list(row.remove("signs")),
            },
            recovery: take_or_keep(&mut row, "recovery", |value| CommandRecovery::deserialize(value).ok()),
            confidence: read_confidence(row.remove("confidence")),
            source_challenge_hash: take_text(&mut row, "source_challenge_hash"),
            realm: Realm { project: take_text(&mut row, "project"), role: take_text(&mut row, "role") },
            verified,
            verification_attempted: take_bool(&mut row, "verification_attempted") || verified,
            graduated: take_bool(&mut row, "graduated"),
            retrievals: take_count(&mut row, "retrievals"),
            // The later AgentGhost counts outcomes under other names; the larger number is the complete one.
            helpful_retrievals: take_count(&mut row, "helpful_retrievals")
                .max(take_count(&mut row, "succeeded_retrievals")),
            harmful_retrievals: take_count(&mut row, "harmful_retrievals")
                .max(take_count(&mut row, "failed_retrievals")),
            settled_retrievals: take_count(&mut row, "settled_retrievals"),
            learned_at_recall: take_count(&mut row, "learned_at_recall"),
            shown_at_recall: take_count(&mut row, "shown_at_recall"),
            frequency: take_count(&mut row, "frequency").max(1),
            last_retrieved_at: take_time(&mut row, "last_retrieved_at", clock),
            last_credited_at: take_time(&mut row, "last_credited_at", clock),
            near: take_or_keep(&mut row, "near", read_ids).unwrap_or_default(),
            provenance: take_provenance(&mut row, by_source),
            source: take_text(&mut row, "source"),
            extra: row,
        };
        // Rows of earlier versions lack this count: neutral outcomes are unknown.
        let judged = lesson.helpful_retrievals.saturating_add(lesson.harmful_retrievals);
        lesson.settled_retrievals = lesson.settled_retrievals.max(judged);
        lesson.complete()?;
        if given_id.is_none() {
            lesson.id = LessonId::at(time.unwrap_or_default(), lesson.text_hash());
        }
        Ok(lesson)
    }

    /// Fills in derived fields: the other text of each pair, and the code in the pattern. Removes blank and repeated topics.
    ///
    /// # Errors
    /// `NoTrigger`, `NoSolution`.
    pub(crate) fn complete(&mut self) -> Result<(), Refusal> {
        either(&mut self.task, &mut self.trigger);
        either(&mut self.mistake, &mut self.anti_pattern);
        either(&mut self.solution, &mut self.correct_pattern);
        if self.trigger.trim().is_empty() {
            return Err(Refusal::NoTrigger);
        }
        if self.correct_pattern.trim().is_empty() {
            return Err(Refusal::NoSolution);
        }
        if self.code_example.is_empty() {
            self.code_example = find_code(&self.correct_pattern);
        }
        self.keep_told_recovery();
        let mut seen = BTreeSet::new();
        let domains = self.domains.iter().map(|domain| domain.trim()).filter(|domain| !domain.is_empty());
        self.domains = domains.filter(|domain| seen.insert(*domain)).map(str::to_owned).collect();
        Ok(())
    }

    /// Drops a recovery that the texts do not tell. A mined lesson of an earlier release gets the one that they tell.
    pub(crate) fn keep_told_recovery(&mut self) {
        let known = self.recovery.take().filter(|recovery| recovery.is_told_by(self));
        self.recovery = known.or_else(|| recovery_told_by(self));
    }

    /// True if reading the written row gives this lesson: every value unchanged, none lost, none under another key.
    pub(crate) fn is_read_back(&self, clock: &dyn Clock) -> bool {
        let text = serde_json::to_string(self).unwrap_or_default();
        let row = serde_json::from_str(&text).unwrap_or_default();
        Self::from_row(row, clock).is_ok_and(|read| Self { schema_version: self.schema_version, ..read } == *self)
    }
}

/// Each of two texts defaults to the other.
fn either(first: &mut String, second: &mut String) {
    match (first.trim().is_empty(), second.trim().is_empty()) {
        (true, false) => first.clone_from(second),
        (false, true) => second.clone_from(first),
        _ => {}
    }
}

fn take_text(row: &mut Map<String, Value>, key: &str) -> String {
    match row.remove(key) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text,
        Some(other) => other.to_string(),
    }
}

fn take_bool(row: &mut Map<String, Value>, key: &str) -> bool {
    match row.remove(key) {
        Some(Value::Bool(flag)) => flag,
        Some(Value::String(text)) => text.eq_ignore_ascii_case("true"),
        Some(Value::Number(number)) => number.as_f64().is_some_and(|number| number != 0.0),
        _ => false,
    }
}

fn take_count(row: &mut Map<String, Value>, key: &str) -> u64 {
    // The conversion saturates: negative numbers and NaN become 0.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates, which is wanted")]
    let floor = |number: f64| number as u64;
    match row.remove(key) {
        Some(Value::Number(number)) => number.as_u64().unwrap_or_else(|| number.as_f64().map_or(0, floor)),
        Some(Value::String(text)) => {
            let text = text.trim();
            text.parse().unwrap_or_else(|_| text.parse().map_or(0, floor))
        }
        _ => 0,
    }
}

fn read_confidence(value: Option<Value>) -> f64 {
    let number = match value {
        Some(Value::Number(number)) => number.as_f64(),
        Some(Value::String(text)) => text.trim().parse().ok(),
        _ => None,
    };
    number.filter(|number| !number.is_nan()).unwrap_or(0.5).clamp(0.0, 1.0)
}

fn read_domains(value: Option<Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => text.split(|c: char| c == ',' || c.is_whitespace()).map(str::to_owned).collect(),
        Some(Value::Array(list)) => list.iter().filter_map(|entry| entry.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    }
}

/// A list of texts, or one text. Blank and repeated ones are removed.
fn read_list(value: Option<Value>) -> Vec<String> {
    let texts = match value {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(list)) => list.iter().filter_map(|entry| entry.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    };
    let mut seen = BTreeSet::new();
    let trimmed = texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty() && seen.insert(*text));
    trimmed.map(str::to_owned).collect()
}

/// Only an object is a valid provenance. Any other value is kept in the row and hides the lesson.
fn take_provenance(row: &mut Map<String, Value>, by_source: Origin) -> Provenance {
    let given = row.remove("provenance");
    let provenance = Provenance::from_row(given.as_ref(), by_source);
    if let Some(unread) = given.filter(|given| !given.is_object() && !given.is_null()) {
        row.insert("unread_provenance".to_owned(), unread);
    }
    provenance
}

/// All ids, or none if one of them is invalid.
fn read_ids(value: &Value) -> Option<Vec<LessonId>> {
    value.as_array()?.iter().map(|id| id.as_str()?.parse().ok()).collect()
}

/// Takes a value. A value that cannot be read is kept in the row under `unread_<key>`, so that nothing is lost.
fn take_or_keep<T>(row: &mut Map<String, Value>, key: &str, read: impl FnOnce(&Value) -> Option<T>) -> Option<T> {
    let value = row.remove(key).filter(|value| !value.is_null())?;
    let taken = read(&value);
    if taken.is_none() {
        row.insert(format!("unread_{key}"), value);
    }
    taken
}

/// When a row was learned, if it has a time.
pub(crate) fn time_of(row: &Value, clock: &dyn Clock) -> Option<DateTime<FixedOffset>> {
    time_in(row.get("timestamp")?, clock)
}

fn take_time(row: &mut Map<String, Value>, key: &str, clock: &dyn Clock) -> Option<DateTime<FixedOffset>> {
    if row.get(key).and_then(Value::as_str).is_some_and(|text| text.trim().is_empty()) {
        row.remove(key);
    }
    take_or_keep(row, key, |time| time_in(time, clock))
}

/// A time as programs write it, or a local time without an offset.
fn time_in(value: &Value, clock: &dyn Clock) -> Option<DateTime<FixedOffset>> {
    let text = value.as_str().map_or_else(|| value.to_string(), |text| text.trim().to_owned());
    let naive = || NAIVE_FORMATS.iter().find_map(|format| NaiveDateTime::parse_from_str(&text, format).ok());
    let time = parse_time(&text).or_else(|| Some(clock.resolve_local(naive()?)));
    // A year before 0 or after 9999 could be written, but not read again.
    time.filter(|time| DateTime::parse_from_rfc3339(&time.to_rfc3339()).is_ok_and(|read| read == *time))
}

/// The first fenced block, otherwise a multi-line text that starts like code, otherwise nothing.
fn find_code(text: &str) -> String {
    if let Some((_, after)) = text.split_once("```")
        && let Some((block, _)) = after.split_once("```")
    {
        let (info, body) = block.split_once('\n').unwrap_or(("", block));
        let is_info = !info.contains(char::is_whitespace);
        return if is_info { body } else { block }.trim().to_owned();
    }
    let trimmed = text.trim();
    let starts_like_code = CODE_STARTS.iter().any(|start| trimmed.starts_with(start));
    if trimmed.contains('\n') && starts_like_code { trimmed.to_owned() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;
    use serde_json::json;

    fn clock() -> ManualClock {
        ManualClock::new(DateTime::parse_from_rfc3339("2026-03-01T12:00:00+02:00").unwrap())
    }

    fn read(row: Value) -> Lesson {
        Lesson::from_row(row, &clock()).unwrap()
    }

    #[test]
    fn a_v1_row_fills_every_v2_field_and_keeps_its_unknown_keys() {
        let lesson = read(json!({
            "task": "parse dates", "mistake": "guessed", "solution": "ask", "frequency": "3",
            "timestamp": "2026-02-01T08:30:00.250000", "mood": {"calm": true}
        }));
        assert_eq!(lesson.schema_version, 1);
        assert_eq!((lesson.trigger.as_str(), lesson.anti_pattern.as_str()), ("parse dates", "guessed"));
        assert_eq!(lesson.correct_pattern, "ask");
        assert_eq!(lesson.frequency, 3);
        assert_eq!(lesson.timestamp.to_rfc3339(), "2026-02-01T08:30:00.250+02:00");
        assert_eq!(lesson.extra.get("mood"), Some(&json!({"calm": true})));
        assert_eq!(lesson.confidence.to_bits(), 0.5_f64.to_bits());
    }

    #[test]
    fn confidence_is_clamped_and_zero_stays_zero() {
        for (given, expected) in [
            (json!(7), 1.0),
            (json!(-1), 0.0),
            (json!(0), 0.0),
            (json!("0.25"), 0.25),
            (json!("high"), 0.5),
            (json!(null), 0.5),
            (json!("NaN"), 0.5),
        ] {
            let lesson = read(json!({"trigger": "t", "solution": "s", "confidence": given}));
            assert!((lesson.confidence - expected).abs() < 1e-12, "{given:?} read as {}", lesson.confidence);
        }
    }

    #[test]
    fn counts_are_read_from_any_json_value() {
        for (given, expected) in [(json!(4), 4), (json!("5"), 5), (json!(2.9), 2), (json!(null), 0), (json!(-3), 0)] {
            assert_eq!(read(json!({"trigger": "t", "solution": "s", "retrievals": given})).retrievals, expected);
        }
        assert_eq!(read(json!({"trigger": "t", "solution": "s", "frequency": 0})).frequency, 1);
    }

    #[test]
    fn outcomes_under_the_later_agentghosts_names_count() {
        let row = json!({"trigger": "t", "solution": "s", "helpful_retrievals": 1, "succeeded_retrievals": 3, "failed_retrievals": "2"});
        let lesson = read(row);
        assert_eq!((lesson.helpful_retrievals, lesson.harmful_retrievals, lesson.settled_retrievals), (3, 2, 5));
        assert!(lesson.extra.is_empty(), "they are read once");
    }

    #[test]
    fn domains_come_from_lists_and_from_text() {
        for (given, expected) in [
            (json!("a, b c"), vec!["a", "b", "c"]),
            (json!(["x", 1, null, "y z"]), vec!["x", "y z"]),
            (json!(["x", "x"]), vec!["x"]),
            (json!(5), vec![]),
        ] {
            assert_eq!(read(json!({"trigger": "t", "solution": "s", "domains": given})).domains, expected);
        }
    }

    #[test]
    fn globs_are_optional_and_come_from_lists_and_from_text() {
        let globs = |given| read(json!({"trigger": "t", "solution": "s", "paths": given})).paths;
        assert_eq!(globs(json!([" *.rs ", "", 1, "*.rs", "a b"])), ["*.rs", "a b"]);
        assert_eq!(globs(json!("src/**")), ["src/**"]);
        let without = read(json!({"trigger": "t", "solution": "s"}));
        let row = serde_json::to_value(&without).unwrap();
        assert!(row.get("paths").is_none() && row.get("commands").is_none(), "{row}");
    }

    #[test]
    fn code_is_found_in_fences_and_in_multi_line_texts() {
        for (text, expected) in [
            ("Use this:\n```python\nx = 1\n```\nthen go", "x = 1"),
            ("run ```ls``` now", "ls"),
            ("def f():\n    return 1", "def f():\n    return 1"),
            ("def f(): return 1", ""),
            ("first do\nthen do", ""),
            ("an open ```fence", ""),
        ] {
            assert_eq!(find_code(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_row_that_cannot_be_a_lesson_says_why() {
        for (row, why) in [
            (json!(3), Refusal::NotAnObject),
            (json!({"solution": "s", "task": "  "}), Refusal::NoTrigger),
            (json!({"task": "t", "solution": ""}), Refusal::NoSolution),
        ] {
            assert_eq!(Lesson::from_row(row, &clock()), Err(why));
        }
    }

    #[test]
    fn an_unreadable_time_is_kept_under_another_key() {
        for time in ["yesterday", "+10000-01-01T00:00:00", "-0001-01-01 00:00:00"] {
            let lesson = read(json!({"trigger": "t", "solution": "s", "timestamp": time}));
            assert_eq!(lesson.extra.get("unread_timestamp"), Some(&json!(time)));
            assert!(lesson.is_read_back(&clock()));
        }
    }

    #[test]
    fn the_known_keys_are_those_that_are_written() {
        let lesson = read(json!({
            "trigger": "`make` fails", "mistake": "`make`", "solution": "Run `ls`.", "project": "p", "role": "r",
            "paths": ["*.rs"], "commands": "git *", "recovery": {"failed": "make", "steps": [{"passed": "ls"}]},
            "names": ["n"], "situations": "how", "signs": ["sign"], "settled_retrievals": 1, "learned_at_recall": 2, "shown_at_recall": 3
        }));
        let Value::Object(row) = serde_json::to_value(&lesson).unwrap() else { panic!() };
        let written: BTreeSet<&str> = row.keys().map(String::as_str).collect();
        assert_eq!(written, BTreeSet::from(KEYS));
    }

    #[test]
    fn a_provenance_that_is_not_an_object_hides_the_lesson() {
        for (given, kept) in [(json!(null), None), (json!("hand"), Some(json!("hand"))), (json!([]), Some(json!([])))] {
            let lesson = read(json!({"trigger": "t", "solution": "s", "provenance": given}));
            assert!(!lesson.is_admitted() && !lesson.is_by_hand(), "{given}");
            assert_eq!(lesson.extra.get("unread_provenance"), kept.as_ref());
        }
    }

    #[test]
    fn rows_without_an_id_get_the_same_one_from_every_reader() {
        let row = json!({"task": "t", "solution": "s", "timestamp": "2026-02-01T08:30:00Z"});
        assert_eq!(read(row.clone()).id, read(row).id);
    }

    #[test]
    fn a_written_row_is_read_back_unchanged() {
        let lesson = read(json!({
            "trigger": "t", "anti_pattern": "a", "solution": "s", "domains": ["d"], "project": "/p", "role": "r",
            "near": ["018f0000-0000-7000-8000-000000000001"], "unknown": [1, 2],
            "provenance": {"origin": "mined", "trust": "tainted", "session": "x",
                           "evidence": [{"quote": "q", "turn": 2, "range": [0, 1]}]}
        }));
        assert_eq!(read(serde_json::to_value(&lesson).unwrap()), lesson);
    }
}
