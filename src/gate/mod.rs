//! The gate: the checks and the cleaning of a draft before it can be learned (docs/spec/playbook.md, 3.1; docs/spec/capture.md,
//! 5).

mod claims;
mod quality;
pub(crate) mod specific;

use adage_redact::{Redactor, strip_invisible, strip_terminal};
use serde_json::{Map, Number, Value};
use unicode_normalization::UnicodeNormalization;

use crate::clock::Clock;
use crate::config::LearnConfig;
use crate::lesson::{
    CommandRecovery, DraftOrigin, GlobOf, KEYS, Lesson, LessonDraft, MAX_PATTERN_CHARS, MAX_PATTERNS, Origin,
    PROVENANCE_KEYS, PatternFault, RecoveryEvidence, Refusal,
};

/// The maximum nesting of a row, including the row itself. The file, the archive and a removal add a few levels, and a reader
/// accepts 127.
const MAX_DEPTH: usize = 32;

/// The length of an id as text.
const ID_BYTES: usize = 36;

/// How often a number that is not read back exactly is replaced by the value that is read.
const MAX_ROUNDINGS: usize = 8;

/// So many keys above a value are read as its name, and of values of at most so many bytes: a key or a password is no longer.
const MAX_NAMES: usize = 2;
const MAX_NAMED: usize = 1_024;

/// Cleans a draft: terminal sequences, control characters except newlines and tabs, and invisible characters are removed; the
/// text is normalised to Unicode form C; secrets are redacted. Otherwise it is unchanged. A draft is refused if it has no
/// solution, no task or trigger, exceeds a limit, or would not be read back from the file unchanged.
pub(crate) fn admit(draft: LessonDraft, config: &LearnConfig, clock: &dyn Clock) -> Result<Lesson, Refusal> {
    let (origin, file) = (draft.origin(), draft.file());
    check_depth(draft.row())?;
    check_keys(draft.row())?;
    let mut lesson = draft.into_lesson(clock)?;
    check_lengths(&lesson, config.max_field_bytes)?;
    for (_, text) in texts(&mut lesson) {
        *text = clean(text);
    }
    let lists = [&mut lesson.domains, &mut lesson.paths, &mut lesson.commands];
    lists.into_iter().flatten().chain(lesson.ways_in.texts_mut()).for_each(|text| *text = clean(text));
    lesson.recovery.iter_mut().flat_map(CommandRecovery::texts_mut).for_each(|text| *text = clean(text));
    check_patterns(&mut lesson)?;
    if lesson.provenance.origin == Origin::Mined {
        lesson.ways_in.keep_fit(specific::names_something);
    }
    specific::check_ways_in(&lesson.ways_in)?;
    lesson.provenance.session = clean(&lesson.provenance.session);
    lesson.extra = clean_row(std::mem::take(&mut lesson.extra));
    lesson.provenance.extra = clean_row(std::mem::take(&mut lesson.provenance.extra));
    lesson.provenance.evidence.iter_mut().for_each(|evidence| evidence.quote = clean(&evidence.quote));
    lesson.provenance.recovery.iter_mut().flat_map(RecoveryEvidence::texts).for_each(|text| *text = clean(text));
    lesson.complete()?;
    if config.quality_gate && !matches!(origin, DraftOrigin::Moved | DraftOrigin::OwnExport) {
        quality::check(&lesson)?;
    }
    match origin {
        DraftOrigin::File => claims::disown(&mut lesson, clean(&file), clock.now()),
        DraftOrigin::Program => claims::doubt(&mut lesson),
        DraftOrigin::Host | DraftOrigin::Quoted | DraftOrigin::Moved | DraftOrigin::OwnExport => {}
    }
    if matches!(origin, DraftOrigin::Host | DraftOrigin::Quoted | DraftOrigin::Program) {
        specific::check(&lesson)?;
    }
    if lesson.is_read_back(clock) { Ok(lesson) } else { Err(Refusal::NotReadBack) }
}

/// Refuses patterns that would match everything, or cost too much to compare. Those that a rule drew from a session are left out instead.
fn check_patterns(lesson: &mut Lesson) -> Result<(), Refusal> {
    if lesson.provenance.origin == Origin::Mined {
        lesson.paths.retain(|glob| GlobOf::Path.fault(glob).is_none());
        lesson.commands.retain(|glob| GlobOf::Command.fault(glob).is_none());
    }
    let n_patterns = lesson.paths.len() + lesson.commands.len();
    if n_patterns > MAX_PATTERNS {
        return Err(Refusal::TooManyPatterns { n_patterns, max: MAX_PATTERNS });
    }
    let paths = lesson.paths.iter().map(|glob| (GlobOf::Path, glob));
    for (of, glob) in paths.chain(lesson.commands.iter().map(|glob| (GlobOf::Command, glob))) {
        match of.fault(glob) {
            None => {}
            Some(PatternFault::MatchesEverything) => return Err(Refusal::MatchesEverything { glob: glob.clone() }),
            Some(PatternFault::TooLong { n_chars }) => {
                return Err(Refusal::PatternTooLong { n_chars, max: MAX_PATTERN_CHARS });
            }
        }
    }
    Ok(())
}

fn check_depth(row: &Map<String, Value>) -> Result<(), Refusal> {
    let mut depth = 1;
    let mut open: Vec<(usize, &Value)> = row.values().map(|value| (2, value)).collect();
    while let Some((level, value)) = open.pop() {
        match value {
            Value::Array(list) => open.extend(list.iter().map(|value| (level + 1, value))),
            Value::Object(row) => open.extend(row.values().map(|value| (level + 1, value))),
            _ => continue,
        }
        depth = depth.max(level);
    }
    if depth > MAX_DEPTH { Err(Refusal::TooDeep { depth, max: MAX_DEPTH }) } else { Ok(()) }
}

/// A key that cleaning turns into a known one would be in the row twice, and be used when the row is read again.
fn check_keys(row: &Map<String, Value>) -> Result<(), Refusal> {
    let disguised = |row: &Map<String, Value>, known: &[&'static str]| {
        row.keys().filter(|key| !known.contains(&key.as_str())).find_map(|key| {
            let read = clean(key);
            let known = known.iter().find(|known| **known == read)?;
            Some(Refusal::DisguisedKey { key: key.clone(), known })
        })
    };
    let provenance = row.get("provenance").and_then(Value::as_object);
    let found = disguised(row, &KEYS).or_else(|| disguised(provenance?, &PROVENANCE_KEYS));
    found.map_or(Ok(()), Err)
}

fn check_lengths(lesson: &Lesson, max: usize) -> Result<(), Refusal> {
    let mut lesson = lesson.clone();
    let total_provenance = serde_json::to_string(&lesson.provenance).map_or(0, |provenance| provenance.len());
    let total_extra = lesson.extra.iter().map(|(key, value)| key.len() + value.to_string().len()).sum();
    let total = |list: &[String]| list.iter().map(String::len).sum::<usize>();
    let lists = [("domains", &lesson.domains), ("paths", &lesson.paths), ("commands", &lesson.commands)];
    let lists = lists.map(|(field, list)| (field, total(list)));
    let mut lengths: Vec<(&'static str, usize)> =
        texts(&mut lesson).into_iter().map(|(field, text)| (field, text.len())).collect();
    lengths.extend(lists);
    lengths.push(("ways in", lesson.ways_in.texts().map(String::len).sum()));
    let total_recovery = lesson.recovery.as_ref().and_then(|recovery| serde_json::to_string(recovery).ok());
    lengths.push(("recovery", total_recovery.map_or(0, |text| text.len())));
    lengths.push(("unknown keys", total_extra));
    lengths.push(("provenance", total_provenance));
    lengths.push(("near", lesson.near.len() * ID_BYTES));
    match lengths.into_iter().find(|(_, length)| *length > max) {
        Some((field, length)) => Err(Refusal::TooLong { field, length, max }),
        None => Ok(()),
    }
}

fn texts(lesson: &mut Lesson) -> [(&'static str, &mut String); 11] {
    [
        ("task", &mut lesson.task),
        ("trigger", &mut lesson.trigger),
        ("mistake", &mut lesson.mistake),
        ("anti_pattern", &mut lesson.anti_pattern),
        ("solution", &mut lesson.solution),
        ("correct_pattern", &mut lesson.correct_pattern),
        ("code_example", &mut lesson.code_example),
        ("source", &mut lesson.source),
        ("source_challenge_hash", &mut lesson.source_challenge_hash),
        ("project", &mut lesson.realm.project),
        ("role", &mut lesson.realm.role),
    ]
}

/// Unknown keys and their values may contain secrets too.
fn clean_row(row: Map<String, Value>) -> Map<String, Value> {
    named_row(row, &[])
}

/// The row of a value that has these names: the keys above it.
fn named_row(row: Map<String, Value>, names: &[&str]) -> Map<String, Value> {
    let clean_entry = |(key, mut value): (String, Value)| {
        let names: Vec<&str> = names.iter().copied().chain([key.as_str()]).collect();
        clean_named_value(&mut value, &names);
        (clean(&key), value)
    };
    row.into_iter().map(clean_entry).collect()
}

fn clean_named_value(value: &mut Value, names: &[&str]) {
    match value {
        Value::String(text) => *text = clean_named(text, names),
        Value::Array(list) => list.iter_mut().for_each(|value| clean_named_value(value, names)),
        Value::Object(row) => *row = named_row(std::mem::take(row), names),
        Value::Number(number) if number.is_f64() => round_trip(number),
        _ => {}
    }
}

/// A value with the names that rules look for before a secret: in JSON, those are the keys above it.
fn clean_named(text: &str, names: &[&str]) -> String {
    let mut text = clean(text);
    let names = names.iter().rev().take(MAX_NAMES).filter(|_| text.len() <= MAX_NAMED);
    for name in names.collect::<Vec<_>>() {
        let before = format!("{name}: ");
        let with_name = clean(&format!("{before}{text}"));
        if let Some(cleaned) = with_name.strip_prefix(&before) {
            cleaned.clone_into(&mut text);
        }
    }
    text
}

/// The reader's last digit can differ from the writer's: the number is replaced by one that is read back exactly.
fn round_trip(number: &mut Number) {
    for _ in 0..MAX_ROUNDINGS {
        match serde_json::from_str::<Number>(&number.to_string()) {
            Ok(read) if read != *number => *number = read,
            _ => return,
        }
    }
}

/// Redacts the secrets of every text in a JSON value, keys too.
pub fn clean_value(value: &mut Value) {
    clean_named_value(value, &[]);
}

/// A text with its secrets redacted. Terminal sequences, control and invisible characters are removed first, since they can hide one.
#[must_use]
pub fn clean(text: &str) -> String {
    let visible: String = strip_invisible(&strip_terminal(text)).nfc().collect();
    Redactor::shared().redact(&visible).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;
    use crate::lesson::build_lesson;
    use crate::testing::at;

    fn admit(draft: LessonDraft) -> Result<Lesson, Refusal> {
        super::admit(draft, &LearnConfig::default(), &ManualClock::new(at(0)))
    }

    #[test]
    fn texts_are_normalised_and_otherwise_kept() {
        let lesson = admit(build_lesson("cafe\u{301}\u{7}", "a\r\n\tb  c\u{1b}[0m ")).unwrap();
        assert_eq!((lesson.trigger.as_str(), lesson.correct_pattern.as_str()), ("caf\u{e9}", "a\n\tb  c "));
    }

    #[test]
    fn a_pattern_that_matches_everything_is_refused() {
        for (paths, commands, refused) in [("**/*", "git *", "**/*"), ("*.rs", " * ", "*"), ("*\u{200b}*", "git", "**")]
        {
            let found = admit(build_lesson("t", "s").paths([paths]).commands([commands]));
            assert_eq!(found, Err(Refusal::MatchesEverything { glob: refused.to_owned() }));
        }
        let lesson = admit(build_lesson("t", "s").paths(["src/**"]).commands(["git push *"])).unwrap();
        assert_eq!((lesson.paths, lesson.commands), (vec!["src/**".to_owned()], vec!["git push *".to_owned()]));
    }

    #[test]
    fn patterns_that_cost_too_much_are_refused_and_mined_ones_left_out() {
        let many: Vec<String> = (0..=MAX_PATTERNS).map(|n| format!("program{n} *")).collect();
        let refused = admit(build_lesson("t", "s").commands(many.clone()));
        assert_eq!(refused, Err(Refusal::TooManyPatterns { n_patterns: 21, max: 20 }));
        assert!(admit(build_lesson("t", "s").paths(["a/*"]).commands(many[..19].to_vec())).is_ok());
        let long = admit(build_lesson("t", "s").commands(["git*".repeat(100)]));
        assert_eq!(long, Err(Refusal::PatternTooLong { n_chars: 400, max: 250 }));
        let commands = ["c*".to_owned(), "git*".repeat(100), "git push*".to_owned()];
        let row = serde_json::json!({
            "trigger": "t", "solution": "s", "commands": commands, "provenance": {"origin": "mined", "session": "one"},
        });
        let mined = admit(LessonDraft::from_json(row.as_object().unwrap().clone())).unwrap();
        assert_eq!(mined.commands, ["git push*"]);
    }

    #[test]
    fn secrets_are_redacted() {
        let secret = ["ghp_", "1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R"].concat();
        let lesson = admit(build_lesson("push fails", format!("use the token {secret} to push"))).unwrap();
        assert!(!lesson.correct_pattern.contains(&secret), "{}", lesson.correct_pattern);
        assert!(lesson.correct_pattern.starts_with("use the token "), "{}", lesson.correct_pattern);
        assert_eq!(lesson.solution, lesson.correct_pattern);
    }

    #[test]
    fn the_keys_above_a_value_are_its_name() {
        let secret = ["q7Rz1LmW9vXcT3bN5kPd", "8sYfHj2GaUe4oQi6ZtVx"].concat();
        for unknown in [
            serde_json::json!({"env": {"AWS_SECRET_ACCESS_KEY": secret}}),
            serde_json::json!({"api_key": secret}),
            serde_json::json!({"settings": {"client_secret": [secret]}}),
            serde_json::json!({"api_key": {"value": secret}}),
            serde_json::json!({"provenance": {"note": {"access_token": secret}}}),
        ] {
            let mut row = serde_json::json!({"trigger": "t", "solution": "s"}).as_object().unwrap().clone();
            row.extend(unknown.as_object().unwrap().clone());
            let lesson = admit(LessonDraft::from_json(row)).unwrap();
            assert!(!serde_json::to_string(&lesson).unwrap().contains(&secret), "{unknown}");
        }
        let row = serde_json::json!({"trigger": "t", "solution": "s", "mood": {"token": "calm", "key": "c minor"}});
        let lesson = admit(LessonDraft::from_json(row.as_object().unwrap().clone())).unwrap();
        assert_eq!(lesson.extra["mood"], row["mood"]);
    }

    #[test]
    fn characters_that_hide_a_secret_are_removed_first() {
        let secret = ["ghp_", "1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R"].concat();
        let (head, tail) = secret.split_at(9);
        for hidden in [
            format!("\u{1b}[32m{secret}\u{1b}[0m"),
            format!("{head}\u{0}{tail}"),
            format!("{head}\u{200b}{tail}"),
            format!("\u{1b}]8;;x\u{7}{secret}"),
        ] {
            let lesson = admit(build_lesson("t", format!("the token is {hidden}"))).unwrap();
            assert!(!lesson.correct_pattern.contains(tail), "{}", lesson.correct_pattern);
        }
        let row = serde_json::json!({
            "trigger": "t", "solution": "s", "provenance": {"session": secret, "note": {"x": secret}}, (secret.as_str()): 1,
        });
        let Value::Object(row) = row else { panic!() };
        let lesson = admit(LessonDraft::from_json(row)).unwrap();
        assert!(!serde_json::to_string(&lesson).unwrap().contains(tail));
        let session = "x".repeat(40_000);
        let Value::Object(row) =
            serde_json::json!({"trigger": "t", "solution": "s", "provenance": {"session": session}})
        else {
            panic!()
        };
        assert!(matches!(admit(LessonDraft::from_json(row)), Err(Refusal::TooLong { field: "provenance", .. })));
    }

    #[test]
    fn the_length_limit_is_inclusive() {
        assert!(admit(build_lesson("t", "x".repeat(32 * 1024))).is_ok());
        let refusal = admit(build_lesson("t", "s").mistake("x".repeat(32 * 1024 + 1))).unwrap_err();
        assert_eq!(refusal, Refusal::TooLong { field: "mistake", length: 32_769, max: 32_768 });
    }

    #[test]
    fn what_is_missing_is_named() {
        assert_eq!(admit(build_lesson(" ", "s")), Err(Refusal::NoTrigger));
        assert_eq!(admit(build_lesson("t", "\n")), Err(Refusal::NoSolution));
        // None of these has a visible character.
        assert_eq!(admit(build_lesson("\u{200b}", "s")), Err(Refusal::NoTrigger));
        assert_eq!(admit(build_lesson("t", "\u{1b}[0m \u{202e}")), Err(Refusal::NoSolution));
        assert_eq!(admit(build_lesson("\u{200b}", "s").task("t")).unwrap().trigger, "t");
    }

    fn row(key: &str, value: Value) -> LessonDraft {
        let Value::Object(mut row) = serde_json::json!({"trigger": "t", "solution": "s"}) else { panic!() };
        row.insert(key.to_owned(), value);
        LessonDraft::from_row(row)
    }

    fn nested(n_lists: usize) -> Value {
        (0..n_lists).fold(Value::from(0), |value, _| Value::Array(vec![value]))
    }

    #[test]
    fn depth_is_limited_in_every_key() {
        for key in ["note", "near", "timestamp", "id", "task"] {
            assert!(admit(row(key, nested(MAX_DEPTH - 1))).is_ok(), "{key}");
            let too_deep = Refusal::TooDeep { depth: MAX_DEPTH + 1, max: MAX_DEPTH };
            assert_eq!(admit(row(key, nested(MAX_DEPTH))), Err(too_deep), "{key}");
        }
        let provenance = serde_json::json!({ "note": nested(MAX_DEPTH - 1) });
        assert!(matches!(admit(row("provenance", provenance)), Err(Refusal::TooDeep { .. })));
    }

    #[test]
    fn linked_lessons_are_limited() {
        let ids = |n: usize| Value::from(vec!["019ac61f-0000-7000-8000-000000000001"; n]);
        assert!(admit(row("near", ids(910))).is_ok());
        let refusal = Refusal::TooLong { field: "near", length: 911 * 36, max: 32_768 };
        assert_eq!(admit(row("near", ids(911))), Err(refusal));
    }

    #[test]
    fn a_key_that_only_looks_unknown_is_refused() {
        let disguised = Refusal::DisguisedKey { key: "ver\u{200b}ified".into(), known: "verified" };
        assert_eq!(admit(row("ver\u{200b}ified", true.into())), Err(disguised));
        let provenance = serde_json::json!({"tru\u{ad}st": "trusted", "trust": "tainted"});
        let disguised = Refusal::DisguisedKey { key: "tru\u{ad}st".into(), known: "trust" };
        assert_eq!(admit(row("provenance", provenance)), Err(disguised));
        assert!(admit(row("mo\u{200b}od", true.into())).unwrap().extra.contains_key("mood"));
    }

    #[test]
    fn kept_numbers_are_read_back_exactly() {
        for number in [0.1 + 0.2, f64::MAX, f64::MIN_POSITIVE, 5e-324, -0.0, 1.0 / 3.0, 123_456_789_012_345_680.0] {
            let lesson = admit(row("note", number.into())).unwrap();
            assert!(lesson.is_read_back(&ManualClock::new(at(0))), "{number}");
        }
    }
}
