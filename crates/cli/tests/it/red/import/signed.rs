//! A user's own export is recognised by a code under a key that is kept outside the memory; no other file is.

use std::collections::BTreeSet;
use std::fs;
#[cfg(unix)]
use std::process::Command;

use serde_json::{Map, Value, json};

use super::{MARKER, PATTERN, TRIGGER};
use crate::red::machine::Machine;
use crate::red::table::{Table, when};

const OWN: [(&str, &str); 3] =
    [("parsing csv exports", "use the csv module"), ("rotating ssh keys", "keep both"), ("waxing skis", "brush them")];

/// A user with three lessons, one of them verified, and their export.
fn exporter() -> (Machine, String) {
    let machine = Machine::new();
    for (trigger, solution) in OWN {
        machine.learn(trigger, solution);
    }
    machine.json(&["edit", OWN[0].0, "--verified", "yes"]);
    let export = machine.call(&["export"]).out;
    assert!(rows_of(&export).len() == 3, "the export has a row a line: {export}");
    (machine, export)
}

/// Another user, with a key of their own and a hostile lesson.
fn attacker() -> (Machine, String) {
    let machine = Machine::new();
    machine.learn(TRIGGER, PATTERN);
    machine.json(&["edit", TRIGGER, "--verified", "yes"]);
    let export = machine.call(&["export"]).out;
    (machine, export)
}

/// The places of the lines that are lessons.
fn rows_of(export: &str) -> Vec<usize> {
    let is_row = |line: &str| line.contains("\"trigger\"");
    export.lines().enumerate().filter(|(_, line)| is_row(line)).map(|(place, _)| place).collect()
}

fn joined(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

fn lines(export: &str) -> Vec<String> {
    export.lines().map(str::to_owned).collect()
}

/// The export with one of its rows changed.
fn edited(export: &str, edit: impl Fn(&mut Map<String, Value>)) -> String {
    let (mut lines, rows) = (lines(export), rows_of(export));
    let mut row: Value = serde_json::from_str(&lines[rows[0]]).unwrap();
    edit(row.as_object_mut().unwrap());
    lines[rows[0]] = row.to_string();
    joined(&lines)
}

const KNOWN: [&str; 25] = [
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
    "confidence",
    "source",
    "source_challenge_hash",
    "project",
    "role",
    "verified",
    "verification_attempted",
    "graduated",
    "retrievals",
    "helpful_retrievals",
    "harmful_retrievals",
    "frequency",
    "near",
    "provenance",
];

/// The export with whatever is not a lesson's field replaced by `change`; none for taken out.
fn resigned(export: &str, change: impl Fn(&Value) -> Option<Value>) -> String {
    let lines = export.lines().filter_map(|line| {
        let Ok(Value::Object(row)) = serde_json::from_str(line) else { return None };
        let is_known = |key: &str| KNOWN.contains(&key) || key.starts_with("last_");
        let keep = |(key, value): (String, Value)| {
            let value = if is_known(&key) { Some(value) } else { change(&value) };
            value.map(|value| (key, value))
        };
        let row: Map<String, Value> = row.into_iter().filter_map(keep).collect();
        (!row.is_empty()).then(|| format!("{}\n", Value::Object(row)))
    });
    lines.collect()
}

/// How many of a text's lessons came in at once, and whether a hostile one did.
fn check(table: &mut Table, attack: &str, reader: &Machine, text: &str) {
    let said = reader.run(&["import", "-"], text);
    let active = reader.triggers();
    let places = rows_of(text).into_iter().filter_map(|place| text.lines().nth(place));
    let n_rows = places.collect::<BTreeSet<_>>().len();
    let mut effects: Vec<String> = when(said.code == -1, said.err).into_iter().collect();
    effects.extend(when(n_rows > 0 && active.len() >= n_rows, format!("all {n_rows} rows came in")));
    let shown = reader.call(&["export"]).out + &reader.call(&["context", TRIGGER, "--peek"]).out;
    effects.extend(when(shown.contains(MARKER), "the forged text is shown"));
    table.note(attack, &effects);
}

/// An empty memory of the same user.
fn reader(owner: &Machine) -> Machine {
    owner.copy().at_memory("other")
}

#[test]
fn an_own_export_is_imported_unchanged() {
    let (owner, export) = exporter();
    let other = reader(&owner);
    let said = other.run(&["import", "-", "--json"], &export);
    assert_eq!((said.code, said.object()["inserted"].clone()), (0, json!(3)), "{}", said.err);
    assert_eq!(other.lessons(), owner.lessons(), "with ids, counts and marks");
    assert_eq!(other.run(&["import", "-", "--json"], &export).object()["refused"], 3, "twice changes nothing");
    assert_eq!(other.lessons(), owner.lessons());
    assert!(owner.key().is_file(), "the key is at {}", owner.key().display());
    let is_short = fs::read(owner.key()).unwrap().len() < 16;
    assert!(!is_short, "the key can be guessed");
    let key = fs::read(owner.key()).unwrap();
    let holds = |bytes: &Option<Vec<u8>>| {
        bytes.as_ref().is_some_and(|bytes| bytes.windows(key.len()).any(|window| window == key))
    };
    assert!(!owner.bytes().values().any(holds), "the key is not in the memory's folder");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(owner.key()).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "only its owner reads the key");
    }
}

#[test]
fn removed_lessons_are_not_imported_from_the_own_export() {
    let (owner, export) = exporter();
    owner.json(&["remove", OWN[1].0]);
    owner.run(&["import", "-"], &export);
    assert_eq!((owner.lessons().len(), owner.waiting().len()), (2, 0), "{:?}", owner.triggers());
}

#[test]
fn one_undo_reverts_the_import_of_an_own_export() {
    let (owner, export) = exporter();
    let other = reader(&owner);
    other.learn("boiling eggs", "seven minutes");
    let before = other.lessons();
    let said = other.run(&["import", "-", "--json"], &export);
    assert_eq!(other.lessons().len(), 4, "{}", said.err);
    let object = said.object();
    let change = object["change"].as_str().unwrap_or_else(|| panic!("an import is a change: {object}"));
    other.json(&["undo", change]);
    assert_eq!((other.lessons(), other.waiting()), (before, Vec::new()));
}

#[test]
fn a_changed_export_is_not_trusted() {
    let (owner, export) = exporter();
    let mut table = Table::default();
    let mut attack = |attack: &str, text: String| check(&mut table, attack, &reader(&owner), &text);
    let set = |key: &'static str, value: Value| edited(&export, move |row| drop(row.insert(key.into(), value.clone())));
    attack("another solution", set("solution", json!(PATTERN)));
    attack("another pattern", set("correct_pattern", json!(PATTERN)));
    attack("another trigger", set("trigger", json!(TRIGGER)));
    attack("a code example", set("code_example", json!(PATTERN)));
    attack("a mistake", set("anti_pattern", json!(PATTERN)));
    attack("a key that is not known", set("note", json!("zq")));
    attack("more counts", set("helpful_retrievals", json!(99)));
    attack("a later time", set("timestamp", json!("2999-01-01T00:00:00Z")));
    attack(
        "verified",
        edited(&export, |row| {
            let now = row["verified"] == json!(true);
            row.insert("verified".into(), json!(!now));
        }),
    );
    attack("another project", set("project", json!("shop")));
    attack("another id", set("id", json!("019ac61f-0000-7000-8000-000000000001")));
    attack("a provenance", set("provenance", json!({"origin": "hand", "trust": "trusted", "note": "zq"})));
    table.finish();
}

#[test]
fn a_part_of_an_export_and_one_without_codes_are_not_trusted() {
    let (owner, export) = exporter();
    let mut table = Table::default();
    let mut attack = |attack: &str, text: String| check(&mut table, attack, &reader(&owner), &text);
    let (all, rows) = (lines(&export), rows_of(&export));
    let without = |place: usize| {
        joined(&all.iter().enumerate().filter(|(n, _)| *n != place).map(|(_, line)| line.clone()).collect::<Vec<_>>())
    };
    attack("cut at its end", without(rows[2]));
    attack("cut at its start", without(rows[0]));
    attack("cut in the middle", without(rows[1]));
    attack("cut within a line", export[..export.trim_end().len() - 9].to_owned());
    let mut turned = all.clone();
    turned.swap(rows[0], rows[2]);
    attack("in another order", joined(&turned));
    attack("a row twice", joined(&[&all[..=rows[0]], &all[rows[0]..]].concat()));
    attack("twice in one file", export.clone() + &export);
    attack("without anything that is not a lesson's", resigned(&export, |_| None));
    attack("with empty codes", resigned(&export, |_| Some(json!(""))));
    attack("with null for codes", resigned(&export, |_| Some(json!(null))));
    attack("with true for codes", resigned(&export, |_| Some(json!(true))));
    attack(
        "with codes of zeros",
        resigned(&export, |value| Some(json!("0".repeat(value.as_str().map_or(64, str::len))))),
    );
    attack(
        "with codes cut to one character",
        resigned(&export, |value| Some(json!(value.as_str().unwrap_or("").chars().take(1).collect::<String>()))),
    );
    table.finish();
}

#[test]
fn another_users_export_is_not_trusted() {
    let ((owner, export), (attacker, hostile)) = (exporter(), attacker());
    let mut table = Table::default();
    let mut attack = |attack: &str, text: String| check(&mut table, attack, &reader(&owner), &text);
    attack("with a key of their own", hostile.clone());
    attack("after the own export", export.clone() + &hostile);
    attack("before the own export", hostile.clone() + &export);
    let (mut own, rows) = (lines(&export), rows_of(&export));
    own[rows[1]].clone_from(&lines(&hostile)[rows_of(&hostile)[0]]);
    attack("with a row of theirs in it", joined(&own));
    let mut forged: Value = serde_json::from_str(&lines(&export)[rows[0]]).unwrap();
    let theirs: Value = serde_json::from_str(&lines(&hostile)[rows_of(&hostile)[0]]).unwrap();
    for key in ["trigger", "task", "solution", "correct_pattern"] {
        forged[key] = theirs[key].clone();
    }
    own[rows[1]] = forged.to_string();
    attack("with a row of theirs under an own code", joined(&own));
    let around =
        lines(&hostile).into_iter().map(|line| if line.contains("\"trigger\"") { forged.to_string() } else { line });
    attack("with their frame around it", around.map(|line| line + "\n").collect());
    attack("of a copy of the memory", {
        let thief = owner.copy().with_state(attacker.path("elsewhere"));
        thief.learn(TRIGGER, PATTERN);
        thief.call(&["export"]).out
    });
    table.finish();
}

/// Both sides have the same guessable key.
#[test]
fn an_invalid_key_verifies_nothing() {
    let mut table = Table::default();
    for (attack, key) in [("an empty key", ""), ("a key of one byte", "k"), ("a key of blanks", "   \n")] {
        let sides = [(); 2].map(|()| {
            let machine = Machine::new();
            fs::create_dir_all(machine.key().parent().unwrap()).unwrap();
            fs::write(machine.key(), key).unwrap();
            machine
        });
        sides[0].learn(TRIGGER, PATTERN);
        let hostile = sides[0].call(&["export"]).out;
        check(&mut table, attack, &sides[1], &hostile);
    }
    let (_, hostile) = attacker();
    let folder_for_key = Machine::new();
    fs::create_dir_all(folder_for_key.key()).unwrap();
    check(&mut table, "a folder in the place of the key", &folder_for_key, &hostile);
    let (in_memory, planted) = (Machine::new(), Machine::new());
    for key in [planted.key(), in_memory.folder().join("adage/key"), in_memory.folder().join("key")] {
        fs::create_dir_all(key.parent().unwrap()).unwrap();
        fs::write(key, "0123456789abcdef".repeat(4)).unwrap();
    }
    planted.learn(TRIGGER, PATTERN);
    let hostile = planted.call(&["export"]).out;
    check(&mut table, "a key in the memory's own folder", &in_memory, &hostile);
    #[cfg(unix)]
    {
        let piped = Machine::new();
        fs::create_dir_all(piped.key().parent().unwrap()).unwrap();
        assert!(Command::new("mkfifo").arg(piped.key()).status().unwrap().success());
        check(&mut table, "a pipe in the place of the key", &piped, &hostile);
        let linked = Machine::new();
        fs::create_dir_all(linked.key().parent().unwrap()).unwrap();
        std::os::unix::fs::symlink("/dev/zero", linked.key()).unwrap();
        check(&mut table, "an endless device in the place of the key", &linked, &hostile);
    }
    table.finish();
}

#[test]
fn without_a_state_folder_no_key_is_written_elsewhere() {
    let mut table = Table::default();
    for (attack, state) in [("an empty name", ""), ("a relative name", "here"), ("a name of dots", "../up")] {
        let machine = Machine::new().with_state(state);
        machine.learn("waxing skis", "brush them");
        let export = machine.call(&["export"]).out;
        let other = machine.at_memory("other");
        let said = other.run(&["import", "-"], &export);
        let mut effects: Vec<String> = when(said.code != 0, said.err).into_iter().collect();
        let beside = ["adage", "here", "memory/adage", "memory/here"];
        effects.extend(beside.iter().filter(|name| other.path(name).exists()).map(|name| format!("{name} was made")));
        effects.extend(when(other.path("../up").exists(), "a folder outside was made"));
        effects.extend(when(
            other.path(".local/state/adage/key").exists() && other.lessons().is_empty(),
            "the own export waits",
        ));
        table.note(attack, &effects);
    }
    table.finish();
}
