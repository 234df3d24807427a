//! Ways to lose a playbook: rows that cannot be read back, files that open as empty, commands that reach another project.

mod files;
mod realms;

use serde_json::{Value, json};

use super::machine::Machine;
use super::table::{Table, when};

/// A row of the memory that no attack may lose.
const CANARY: (&str, &str) = ("parsing csv exports", "use the csv module");
const LATER: [(&str, &str); 3] =
    [("rotating ssh keys", "keep both"), ("waxing skis", "brush them"), ("boiling eggs", "seven minutes")];

/// A JSON value in `depth` others.
fn nested(depth: usize, open: &str, close: &str) -> String {
    format!("{}0{}", open.repeat(depth), close.repeat(depth))
}

fn row_with(key: &str, value: &str) -> String {
    format!(r#"{{"trigger":"zqdeep water","solution":"swim","{key}":{value}}}"#)
}

/// How a row is stored, and what moves it to another file of the folder.
#[derive(Clone, Copy)]
enum Way {
    Learn,
    Import,
    ImportList,
    ImportFile,
    /// It awaits review, one level deeper in the file.
    Waits,
    /// It awaits review, and a person promotes it.
    Applied,
    /// It awaits review, and a person dismisses it.
    Dismissed,
    /// It is removed: its text is kept with the removal.
    Removed,
    /// It is evicted, into the archive.
    Evicted,
    /// It is removed and comes back.
    Undone,
}

const WAYS: [(&str, Way); 10] = [
    ("learned", Way::Learn),
    ("imported", Way::Import),
    ("imported in a list", Way::ImportList),
    ("imported in a file", Way::ImportFile),
    ("waiting", Way::Waits),
    ("applied", Way::Applied),
    ("dismissed", Way::Dismissed),
    ("removed", Way::Removed),
    ("evicted", Way::Evicted),
    ("removed and back", Way::Undone),
];

impl Way {
    fn take(self, machine: &Machine, row: &str) -> String {
        let tainted = row.replacen('{', r#"{"provenance":{"trust":"tainted"},"#, 1);
        let learn = |row: &str, more: &[&str]| machine.run(&[&["learn"], more].concat(), format!("{row}\n"));
        let said = match self {
            Self::Import => machine.run(&["import", "-"], row),
            Self::ImportList => machine.run(&["import", "-"], format!("[{row}]")),
            Self::ImportFile => machine.run(&["import", "-"], format!(r#"{{"schema_version":2,"lessons":[{row}]}}"#)),
            Self::Waits | Self::Applied | Self::Dismissed => learn(&tainted, &[]),
            Self::Evicted => learn(row, &["--capacity", "2", "--yes"]),
            Self::Learn | Self::Removed | Self::Undone => learn(row, &[]),
        };
        match self {
            Self::Applied => drop(machine.call(&["review", "apply", "--all"])),
            Self::Dismissed => drop(machine.call(&["review", "dismiss", "--all"])),
            Self::Removed | Self::Undone => {
                let removed = machine.call(&["remove", "zqdeep water", "--json"]);
                let change = removed.out.lines().next().and_then(|line| serde_json::from_str::<Value>(line).ok());
                if let (Self::Undone, Some(change)) = (self, change) {
                    machine.call(&["undo", change["change"].as_str().unwrap_or_default()]);
                }
            }
            Self::Evicted => {
                drop(machine.call(&["learn", "--trigger", "filling", "--solution", "it", "--capacity", "2", "--yes"]));
            }
            _ => {}
        }
        said.err
    }
}

/// A memory with the canary, shown often enough to stay when there is no room.
fn memory() -> Machine {
    let machine = Machine::new();
    let id = machine.learn(CANARY.0, CANARY.1);
    machine.json(&["edit", &id, "--verified", "yes"]);
    machine
}

/// What is lost after two more commits, each read by a fresh process.
fn losses(machine: &Machine) -> Vec<String> {
    let mut effects = Vec::new();
    let mut expected = vec![CANARY.0];
    for (trigger, solution) in LATER {
        let said = machine.call(&["learn", "--trigger", trigger, "--solution", solution]);
        effects.extend(when(said.code != 0, format!("learning fails: {}", said.err.trim())));
        expected.push(trigger);
        let listed = machine.call(&["list", "--limit", "1000", "--json"]);
        let lost = expected.iter().filter(|trigger| !listed.out.contains(**trigger));
        let lost: Vec<&str> = lost.copied().collect();
        effects.extend(when(!lost.is_empty(), format!("lost: {} {}", lost.join(", "), listed.err.trim())));
    }
    let history = machine.call(&["history", "--limit", "1000"]);
    effects.extend(when(history.code != 0, format!("the history fails: {}", history.err.trim())));
    effects.extend(when(machine.folder().join("quarantine").exists(), "a file went to quarantine"));
    let check = machine.call(&["doctor", "--check"]);
    effects.extend(when(check.code != 0, format!("the folder is not in order: {}", check.err.trim())));
    effects
}

/// True when an error names a limit and what was found: two numbers.
fn names_a_limit(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty()).count() >= 2
}

#[test]
fn an_accepted_depth_can_be_read_back_from_every_file() {
    let mut table = Table::default();
    for (place, way) in WAYS {
        for depth in [64, 119, 120, 121, 122, 126] {
            let machine = memory();
            way.take(&machine, &row_with("note", &nested(depth, "[", "]")));
            table.note(format!("{depth} lists deep, {place}"), &losses(&machine));
        }
    }
    table.finish();
}

#[test]
fn depth_is_limited_in_every_key() {
    let mut table = Table::default();
    for key in [
        "id",
        "timestamp",
        "near",
        "last_credited_at",
        "domains",
        "confidence",
        "task",
        "provenance",
        "unread_id",
        "source",
    ] {
        for (shape, open, close) in [("objects", "{\"a\":", "}"), ("both", "[{\"\":", "}]")] {
            let machine = memory();
            let depth = if shape == "both" { 62 } else { 125 };
            Way::Learn.take(&machine, &row_with(key, &nested(depth, open, close)));
            table.note(format!("{shape} under {key}"), &losses(&machine));
        }
    }
    let inner = format!(r#"{{"trust":"trusted","note":{}}}"#, nested(124, "[", "]"));
    let evidence =
        format!(r#"{{"evidence":[{{"quote":"a b c","turn":0,"range":[0,5],"x":{}}}]}}"#, nested(121, "[", "]"));
    for (attack, provenance) in [("in the provenance", inner), ("in the evidence", evidence)] {
        let machine = memory();
        Way::Learn.take(&machine, &row_with("provenance", &provenance));
        table.note(attack, &losses(&machine));
    }
    table.finish();
}

/// Rows that exceed a limit.
fn too_much() -> Vec<(&'static str, String)> {
    let list = |n: usize| format!("[{}]", vec!["0"; n].join(","));
    let keys = |n: usize| (0..n).map(|n| format!("\"k{n}\":0")).collect::<Vec<_>>().join(",");
    let wide: Vec<String> = (0..300).map(|_| nested(90, "[", "]")).collect();
    vec![
        ("a list of 100,000", row_with("note", &list(100_000))),
        ("a list of 16,000", row_with("note", &list(16_000))),
        ("100,000 keys in one", row_with("note", &format!("{{{}}}", keys(100_000)))),
        ("100,000 keys", format!(r#"{{"trigger":"zqdeep water","solution":"swim",{}}}"#, keys(100_000))),
        ("a key of 10,000 bytes", row_with(&"k".repeat(10_000), "1")),
        ("a key of 1 MB", row_with(&"k".repeat(1_000_000), "1")),
        ("an empty key", row_with("", "1")),
        ("a text of 40,000 bytes", row_with("note", &format!("\"{}\"", "x".repeat(40_000)))),
        ("deep and wide", row_with("note", &format!("[{}]", wide.join(",")))),
        ("lists of lists", row_with("note", &format!("[{}]", vec![list(9); 1_500].join(",")))),
        ("200 levels", row_with("note", &nested(200, "[", "]"))),
        ("100,000 levels", row_with("note", &nested(100_000, "[", "]"))),
        (
            "100,000 domains",
            row_with(
                "domains",
                &format!("[{}]", (0..100_000).map(|n| format!("\"d{n}\"")).collect::<Vec<_>>().join(",")),
            ),
        ),
        (
            "100,000 neighbours",
            row_with("near", &format!("[{}]", vec!["\"019ac61f-0000-7000-8000-000000000001\""; 100_000].join(","))),
        ),
        ("every text at its most", {
            let text = "x".repeat(32_000);
            let keys = ["task", "mistake", "anti_pattern", "correct_pattern", "code_example", "source", "role", "note"];
            keys.iter()
                .fold(json!({"trigger": "zqdeep water", "solution": "swim"}), |mut row, key| {
                    row[*key] = json!(text);
                    row
                })
                .to_string()
        }),
    ]
}

/// A row is refused with its limit, or it comes back from the file as it was.
#[test]
fn oversized_values_are_refused_by_name_or_survive() {
    let mut table = Table::default();
    for (attack, row) in too_much() {
        for way in [Way::Learn, Way::Import] {
            let machine = memory();
            let error = way.take(&machine, &row);
            let n_kept = machine.lessons().len() + machine.waiting().len();
            let mut effects: Vec<String> =
                when(n_kept < 2 && !names_a_limit(&error), format!("refused without its limit: {}", error.trim()))
                    .into_iter()
                    .collect();
            let longest: usize = machine.bytes().values().flatten().map(Vec::len).max().unwrap_or(0);
            effects.extend(when(longest > 2 << 20, format!("a file has {longest} bytes")));
            effects.extend(losses(&machine));
            table.note(attack, &effects);
        }
    }
    table.finish();
}

/// Values that a file or a parser may not support.
const VALUES: &[&str] = &[
    "1e999",
    "-1e999",
    "1e308",
    "1.7976931348623157e308",
    "-0",
    "-0.0",
    "5e-324",
    "1e-400",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "-9223372036854775809",
    "123456789012345678901234567890",
    "0.1",
    "NaN",
    "Infinity",
    "\"\\ud800\"",
    "\"\\udc00\\ud800\"",
    "\"\\u0000\"",
    "\"a\\u0000b\"",
    "\"\\ufeff\"",
    "\"\\u2028\"",
    "\"\\uffff\"",
    "null",
    "[[],{},\"\"]",
    "{\"a\":1,\"a\":2}",
    "{\"\\u0000\":1}",
    "{\"$serde_json::private::Number\":\"1\"}",
    "{\"$serde_json::private::RawValue\":\"{\"}",
];

#[test]
fn a_value_that_is_accepted_survives() {
    let mut table = Table::default();
    for value in VALUES {
        let machine = memory();
        Way::Learn.take(&machine, &row_with("note", value));
        let kept = |machine: &Machine| machine.lessons().into_iter().find(|lesson| lesson["solution"] == "swim");
        let before = kept(&machine);
        let mut effects = losses(&machine);
        effects.extend(when(kept(&machine) != before, "the row changed"));
        table.note(format!("{value} under an unknown key"), &effects);
    }
    table.finish();
}

/// Fields whose value is out of range.
const FIELDS: &[(&str, &str)] = &[
    ("confidence", "1e308"),
    ("confidence", "-1e308"),
    ("confidence", "\"NaN\""),
    ("confidence", "\"inf\""),
    ("frequency", "18446744073709551615"),
    ("frequency", "-5"),
    ("retrievals", "1e300"),
    ("retrievals", "\"-1\""),
    ("helpful_retrievals", "18446744073709551616"),
    ("timestamp", "\"9999-12-31T23:59:60Z\""),
    ("timestamp", "\"+262142-12-31T23:59:59Z\""),
    ("timestamp", "\"0000-01-01T00:00:00Z\""),
    ("timestamp", "\"-0001-01-01T00:00:00Z\""),
    ("timestamp", "\"9999-12-31T23:59:59-23:59\""),
    ("timestamp", "\"0000-01-01T00:00:00+23:59\""),
    ("timestamp", "1e20"),
    ("last_retrieved_at", "\"10000-01-01T00:00:00Z\""),
    ("last_credited_at", "\"9999-12-31T23:59:59.999999999-12:00\""),
    ("id", "\"00000000-0000-0000-0000-000000000000\""),
    ("id", "\"ffffffff-ffff-ffff-ffff-ffffffffffff\""),
    ("trigger", "\"\\u0000\""),
    ("trigger", "\"\\u200b\""),
    ("solution", "\"\\u001b[0m\""),
    ("solution", "\" \\u202e\""),
    ("schema_version", "99"),
    ("schema_version", "-1"),
    ("lessons", "[]"),
    ("removed", "[1]"),
    ("archive_len", "0"),
    ("generation", "0"),
];

#[test]
fn a_field_out_of_range_loses_no_row() {
    let mut table = Table::default();
    for (key, value) in FIELDS {
        let file = format!(
            "[{},{}]",
            json!({"trigger": CANARY.0, "solution": CANARY.1, "verified": true}),
            row_with(key, value)
        );
        for is_import in [true, false] {
            let machine = if is_import { memory() } else { Machine::new() };
            if is_import {
                machine.run(&["import", "-"], &file);
                machine.call(&["review", "apply", "--all"]);
            } else {
                std::fs::create_dir_all(machine.folder()).unwrap();
                std::fs::write(machine.folder().join(files::PLAYBOOK), &file).unwrap();
            }
            let n_before = machine.lessons().len();
            let mut effects = losses(&machine);
            effects.extend(when(machine.lessons().len() != n_before + LATER.len(), "a row is gone"));
            let place = if is_import { "imported" } else { "in an old file" };
            table.note(format!("{key} is {value}, {place}"), &effects);
        }
    }
    table.finish();
}

#[test]
fn a_key_cannot_become_a_known_one() {
    let mut table = Table::default();
    for hidden in ["\u{200b}", "\u{2060}", "\u{feff}", "\u{ad}", "\u{7}", "\u{202e}", "\u{e0041}", "\u{1b}[0m"] {
        for (key, value) in [
            ("id", json!("019ac61f-0000-7000-8000-000000000001")),
            ("solution", json!("drown")),
            ("verified", json!(true)),
            ("project", json!("elsewhere")),
            ("frequency", json!(900)),
        ] {
            let machine = memory();
            let (head, tail) = key.split_at(2);
            let row = json!({"trigger": "zqdeep water", "solution": "swim", (format!("{head}{hidden}{tail}")): value});
            machine.run(&["learn"], format!("{row}\n"));
            let before = machine.lessons();
            let mut effects = losses(&machine);
            let now = machine.lessons();
            let deep = now.iter().find(|lesson| lesson["trigger"] == "zqdeep water").cloned().unwrap_or_default();
            effects.extend(when(deep[key] == value, format!("{key} is {value}")));
            effects.extend(when(before.iter().any(|lesson| !now.contains(lesson)), "a lesson changed"));
            table.note(format!("{key} with {hidden:?}"), &effects);
        }
    }
    table.finish();
}

#[test]
fn an_ordinary_row_keeps_every_key() {
    let machine = memory();
    let note = json!({"list": [1, 2.5, -3, "é", null, true, {"deep": [[[["a"]]]]}], "": 0});
    let row = json!({"trigger": "zqdeep water", "solution": "swim", "note": note, "mood": "calm"});
    assert_eq!(machine.run(&["learn"], format!("{row}\n")).code, 0);
    assert_eq!(losses(&machine), Vec::<String>::new());
    let kept = machine.json(&["show", "zqdeep water"]);
    assert_eq!((&kept["note"], &kept["mood"]), (&note, &json!("calm")));
}
