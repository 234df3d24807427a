//! Ways to lose a playbook through the library: drafts that cannot be stored, and files that change under an open handle.

use std::fs;
use std::sync::Arc;

use adage::chrono::{DateTime, FixedOffset};
use adage::lesson::{Evidence, Provenance};
use adage::{LearnOutcome, LessonDraft, ManualClock, Playbook, build_lesson};
use serde_json::{Value, json};

use super::table::{Table, when};
use crate::bench::{BACKUP, Bench, PLAYBOOK, learn, lessons, triggers};

const CANARY: &str = "parsing CSV exports";

fn memory() -> Bench {
    let bench = Bench::new();
    learn(&bench.open(), build_lesson(CANARY, "Use the csv module.").verified());
    bench
}

/// The lessons that a new handle does not find, during two more commits.
fn losses(bench: &Bench) -> Vec<String> {
    let mut effects = Vec::new();
    let mut expected = vec![CANARY];
    for trigger in ["rotating ssh keys", "waxing skis", "boiling eggs"] {
        let playbook = match bench.builder().open() {
            Ok(playbook) => playbook,
            Err(error) => return vec![format!("it cannot be opened: {error}")],
        };
        if let Err(error) = playbook.learn_lesson(build_lesson(trigger, "do it")) {
            effects.push(format!("nothing can be learned: {error}"));
        }
        expected.push(trigger);
        effects.extend(when(playbook.recovery().is_some(), format!("it had to recover: {:?}", playbook.recovery())));
        let now = triggers(&bench.open());
        let lost: Vec<&str> =
            expected.iter().filter(|trigger| !now.iter().any(|known| known == **trigger)).copied().collect();
        effects.extend(when(!lost.is_empty(), format!("lost: {}", lost.join(", "))));
    }
    effects
}

fn nested(depth: usize, wrap: fn(Value) -> Value) -> Value {
    (0..depth).fold(json!(0), |value, _| wrap(value))
}

fn deep(key: &str, value: &Value) -> LessonDraft {
    let row = json!({"trigger": "zqdeep water", "solution": "swim", (key): value});
    LessonDraft::from_json(row.as_object().unwrap().clone())
}

#[test]
fn a_draft_that_is_accepted_can_be_read_again() {
    let mut table = Table::default();
    let list: fn(Value) -> Value = |value| json!([value]);
    let object: fn(Value) -> Value = |value| json!({ "a": value });
    for depth in [100, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 300] {
        for (shape, wrap) in [("lists", list), ("objects", object)] {
            for key in ["note", "near", "timestamp"] {
                let bench = memory();
                let learned = bench.open().learn_lesson(deep(key, &nested(depth, wrap))).unwrap();
                let mut effects = losses(&bench);
                let is_there = bench.open().find("zqdeep water").is_ok();
                let is_refused = matches!(learned, LearnOutcome::Refused { .. });
                effects.extend(when(
                    is_there == is_refused,
                    format!("it was accepted: {learned}, it is there: {is_there}"),
                ));
                table.note(format!("{depth} {shape} under {key}"), &effects);
            }
        }
    }
    table.finish();
}

/// Drafts of which a part may not survive being written and read.
fn odd_drafts() -> Vec<(&'static str, LessonDraft)> {
    let quote = |quote: &str, turn, range| Provenance {
        evidence: vec![Evidence { quote: quote.into(), turn, range }],
        session: "s".into(),
        ..Provenance::default()
    };
    let base = || build_lesson("zqdeep water", "swim");
    vec![
        ("certainty that is no number", base().confidence(f64::NAN)),
        ("endless certainty", base().confidence(f64::INFINITY)),
        ("certainty of minus zero", base().confidence(-0.0)),
        ("the least certainty", base().confidence(5e-324)),
        ("a zero byte", build_lesson("zqdeep\u{0} water", "swim\u{0}")),
        ("a trigger that nobody sees", build_lesson("\u{200b}", "swim")),
        ("a solution that nobody sees", build_lesson("zqdeep water", "\u{1b}[0m\u{2060}")),
        ("line ends", build_lesson("zqdeep\r\nwater\u{2028}", "swim\u{85}\u{b}")),
        ("blanks around", build_lesson("  zqdeep water\n", "\tswim ")),
        ("code that is code of another kind", build_lesson("zqdeep water", "```\n```\n```").code_example("")),
        ("a task alone that is a blank", build_lesson("zqdeep water", "swim").task(" ")),
        ("blank topics", base().domains(["", " ", "a,b", "a b", "\u{200b}"])),
        ("the last turn", base().provenance(&quote("a b c", usize::MAX, (usize::MAX, 0)))),
        ("a project that is blank", base().project(" ").role("\n")),
        ("a source that is blank", base().source(" ")),
        ("keys of the file", deep("lessons", &json!([]))),
        ("keys that were not read", deep("unread_id", &json!([[]]))),
        (
            "the greatest number",
            deep("note", &json!([u64::MAX, i64::MIN, f64::MAX, f64::MIN_POSITIVE, -0.0, 0.1 + 0.2])),
        ),
        ("every character", deep("note", &json!((0..0x800).filter_map(char::from_u32).collect::<String>()))),
        ("a key of every kind", deep("\u{1f600}\u{0}\n\"\\", &json!({"": [null]}))),
        ("a schema of the future", deep("schema_version", &json!(99))),
        (
            "a provenance with keys",
            base().provenance(&Provenance {
                extra: json!({"note": {"a": [1]}}).as_object().unwrap().clone(),
                ..Provenance::default()
            }),
        ),
        (
            "a provenance with known keys",
            base().provenance(&Provenance {
                extra: json!({"tru\u{200b}st": "tainted", "ori\u{ad}gin": "mined"}).as_object().unwrap().clone(),
                ..Provenance::default()
            }),
        ),
        ("a known key", deep("trig\u{200b}ger", &json!("other"))),
        ("a known key of the realm", deep("pro\u{2060}ject", &json!("other"))),
        ("a known flag", deep("grad\u{feff}uated", &json!(true))),
        ("a known list", deep("dom\u{202e}ains", &json!(["other"]))),
    ]
}

/// A lesson that is accepted is the same lesson for a fresh handle.
#[test]
fn an_accepted_lesson_is_read_back_as_it_is() {
    let mut table = Table::default();
    for (attack, draft) in odd_drafts() {
        let bench = memory();
        let playbook = bench.open();
        playbook.learn_lesson(draft).unwrap();
        let before = lessons(&playbook);
        let mut effects = Vec::new();
        if lessons(&bench.open()) != before {
            effects.push("a fresh handle reads another lesson".to_owned());
        }
        learn(&bench.open(), build_lesson("filling", "it"));
        let now = lessons(&bench.open());
        effects.extend(when(before.iter().any(|row| !now.contains(row)), "another commit changed the lesson"));
        effects.extend(losses(&bench));
        table.note(attack, &effects);
    }
    table.finish();
}

#[test]
fn no_clock_writes_a_time_that_cannot_be_read() {
    let mut table = Table::default();
    let utc = FixedOffset::east_opt(0).unwrap();
    let far = DateTime::<adage::chrono::Utc>::MAX_UTC.with_timezone(&utc);
    let past = DateTime::<adage::chrono::Utc>::MIN_UTC.with_timezone(&utc);
    let seconds = |seconds: i64| DateTime::from_timestamp(seconds, 0).unwrap().with_timezone(&utc);
    for (attack, time) in [
        ("the last instant", far),
        ("the first instant", past),
        ("year 10000", seconds(253_402_300_800)),
        ("the last second of year 9999", seconds(253_402_300_799)),
        ("year 0", seconds(-62_167_219_200)),
        ("before year 0", seconds(-62_167_219_201)),
        ("before the epoch", seconds(-1)),
        ("the epoch", seconds(0)),
        ("year 100000", seconds(3_093_527_980_800)),
    ] {
        let bench = memory();
        let open = || Playbook::builder(bench.folder()).without_embedder().with_clock(Arc::new(ManualClock::new(time)));
        let playbook = open().open().unwrap();
        let learned = playbook.learn_lesson(build_lesson("zqdeep water", "swim"));
        let mut effects = Vec::new();
        if learned.is_ok_and(|learned| learned.id().is_some()) {
            drop(playbook.get_playbook_context("zqdeep water"));
            drop(playbook.record_helpful_retrieval("zqdeep water"));
            let mine = playbook.find("zqdeep water").map(|lesson| json!(*lesson)).unwrap_or_default();
            let fresh = bench.open().find("zqdeep water").map(|lesson| json!(*lesson)).unwrap_or_default();
            for key in ["id", "timestamp", "unread_timestamp"] {
                effects.extend(when(
                    mine[key] != fresh[key],
                    format!("{key} is {}, and {} when read again", mine[key], fresh[key]),
                ));
            }
            if let Ok(removed) = playbook.remove("zqdeep water") {
                let undone = bench.open().undo(removed.change);
                effects.extend(undone.err().map(|error| format!("a removal cannot be undone: {error}")));
            }
        }
        effects.extend(losses(&bench));
        table.note(attack, &effects);
    }
    table.finish();
}

/// The new content of the file under an open handle; none if it is deleted.
const BROKEN: [(&str, Option<&[u8]>); 14] = [
    ("missing", None),
    ("empty", Some(b"")),
    ("a blank", Some(b" ")),
    ("a line end", Some(b"\n")),
    ("zero bytes", Some(&[0; 512])),
    ("null", Some(b"null")),
    ("an empty list", Some(b"[]")),
    ("an empty object", Some(b"{}")),
    ("a list of null", Some(b"[null]")),
    ("a number", Some(b"7")),
    ("a start", Some(b"{\n  \"schema_version\": 2,\n  \"generation\"")),
    ("no lessons", Some(b"{\"schema_version\":2,\"generation\":9,\"lessons\":null}")),
    ("bytes", Some(&[0xff, 0xfe, 0x5b, 0x00])),
    ("another program's", Some(b"{\"name\":\"x\"}")),
];

/// The file under an open handle breaks; neither it nor another handle may lose the lessons.
#[test]
fn a_file_that_breaks_under_an_open_handle_loses_nothing() {
    let mut table = Table::default();
    for (attack, bytes) in BROKEN {
        let bench = memory();
        let playbook = bench.open();
        for trigger in ["folding maps", "picking locks"] {
            learn(&playbook, build_lesson(trigger, "do it"));
        }
        match bytes {
            Some(bytes) => bench.write(PLAYBOOK, bytes),
            None => bench.delete(PLAYBOOK),
        }
        for trigger in ["rotating ssh keys", "waxing skis", "boiling eggs"] {
            drop(playbook.learn_lesson(build_lesson(trigger, "do it")));
            drop(playbook.get_playbook_context("folding maps"));
        }
        drop(playbook);
        let now = triggers(&bench.open());
        let lost: Vec<&str> =
            [CANARY, "folding maps"].into_iter().filter(|trigger| !now.iter().any(|known| known == trigger)).collect();
        let mut effects: Vec<String> =
            when(!lost.is_empty(), format!("lost: {}", lost.join(", "))).into_iter().collect();
        effects.extend(when(
            bench.open().learn_lesson(build_lesson("tying knots", "twice")).is_err(),
            "nothing can be learned any more",
        ));
        table.note(attack, &effects);
    }
    table.finish();
}

/// A handle for reading beside a broken file finds the backup's lessons and changes no byte.
#[test]
fn a_reader_of_a_broken_file_finds_the_backup_and_changes_nothing() {
    let mut table = Table::default();
    for (attack, bytes) in [
        ("missing", None),
        ("empty", Some("")),
        ("blank", Some(" \n")),
        ("null", Some("null")),
        ("a list", Some("[]")),
        ("an object", Some("{}")),
        ("half", Some("{\"lessons\":[")),
    ] {
        let bench = memory();
        learn(&bench.open(), build_lesson("folding maps", "do it"));
        match bytes {
            Some(bytes) => bench.write(PLAYBOOK, bytes),
            None => bench.delete(PLAYBOOK),
        }
        let backup = bench.read(BACKUP);
        let names = bench.names();
        let found = bench.builder().read_only().open().map(|playbook| triggers(&playbook)).unwrap_or_default();
        let mut effects: Vec<String> =
            when(!found.iter().any(|trigger| trigger == CANARY), "it finds nothing").into_iter().collect();
        effects.extend(when(bench.read(BACKUP) != backup || bench.names() != names, "it changed the folder"));
        let now = fs::read(bench.path(PLAYBOOK)).ok();
        effects.extend(when(now.as_deref() != bytes.map(str::as_bytes), "it changed the file"));
        table.note(attack, &effects);
    }
    table.finish();
}

#[test]
fn ordinary_writes_succeed_with_another_open_handle() {
    let bench = memory();
    let (one, other) = (bench.open(), bench.open());
    learn(&one, build_lesson("folding maps", "twice"));
    learn(&other, build_lesson("picking locks", "slowly"));
    assert_eq!(triggers(&one).len(), 3);
    assert_eq!(losses(&bench), Vec::<String>::new());
    assert!(!bench.has("quarantine"));
}
