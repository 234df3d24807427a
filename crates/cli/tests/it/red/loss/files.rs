//! An impossible playbook file with a backup: it is replaced by the backup, and no byte is overwritten.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::red::machine::Machine;
use crate::red::table::{Table, when};

pub(super) const PLAYBOOK: &str = "skills_playbook.json";
const BACKUP: &str = "skills_playbook.json.bak";

/// What is put in the place of a file.
#[derive(Clone)]
enum State {
    Missing,
    Folder,
    Bytes(Vec<u8>),
    /// A part of what the file had, from its start.
    Part(usize),
    /// What the file had, changed.
    Edited(fn(&str) -> String),
}

fn broken() -> Vec<(&'static str, State)> {
    let text = |text: &str| State::Bytes(text.as_bytes().to_vec());
    vec![
        ("missing", State::Missing),
        ("a folder", State::Folder),
        ("empty", text("")),
        ("a blank", text(" ")),
        ("line ends", text("\n\r\n\t")),
        ("zero bytes", State::Bytes(vec![0; 4096])),
        ("a mark of the byte order", text("\u{feff}")),
        ("null", text("null\n")),
        ("an empty list", text("[]\n")),
        ("an empty object", text("{}\n")),
        ("an empty text", text("\"\"")),
        ("a number", text("0")),
        ("a list of what are not lessons", text("[null, 1, {}, []]")),
        ("a list in a list", text("[[]]")),
        ("a half", State::Part(2)),
        ("all but the last bytes", State::Part(1)),
        ("only a start", State::Bytes(b"{\n  \"schema_version\": 2,\n".to_vec())),
        ("lessons is an object", text("{\"schema_version\":2,\"lessons\":{}}")),
        ("lessons is null", text("{\"schema_version\":2,\"lessons\":null}")),
        ("lessons is a text", text("{\"schema_version\":2,\"lessons\":\"\"}")),
        ("lessons has another name", State::Edited(|text| text.replace("\"lessons\"", "\"Lessons\""))),
        (
            "every row is broken",
            State::Edited(|text| text.replace("\"solution\"", "\"x\"").replace("\"correct_pattern\"", "\"y\"")),
        ),
        ("a text behind it", State::Edited(|text| format!("{text}x"))),
        ("twice", State::Edited(|text| format!("{text}{text}"))),
        (
            "lessons twice",
            State::Edited(|text| {
                text.replacen('{', "{\"zq\":1,", 1).trim_end().trim_end_matches('}').to_owned() + ",\"lessons\":[]}"
            }),
        ),
        ("a conflict of a merge", State::Edited(|text| format!("<<<<<<< ours\n{text}=======\n[]\n>>>>>>> theirs\n"))),
        ("bytes that are not text", State::Edited(|text| text.replace("waxing", "\u{1}\u{1}\u{1}"))),
        ("the bytes of another encoding", State::Bytes("[]".encode_utf16().flat_map(u16::to_le_bytes).collect())),
        ("200 levels", State::Bytes(format!("{}{}", "[".repeat(200), "]".repeat(200)).into_bytes())),
        (
            "a schema that is a word",
            State::Edited(|text| {
                text.replacen("\"schema_version\": 2", "\"schema_version\": \"two\"", 1)
                    .replace("\"lessons\": [", "\"lessons\": {\"a\": [")
                    .replacen("]\n}", "]}\n}", 1)
            }),
        ),
        ("another program's", text("{\"name\":\"x\",\"version\":\"1.0.0\",\"dependencies\":{}}")),
        ("an old list, cut", text("[{\"task\":\"a\",\"solution\":\"b\"},")),
    ]
}

fn put(folder: &Path, name: &str, state: &State) {
    let path = folder.join(name);
    let known = fs::read_to_string(&path).unwrap_or_default();
    fs::remove_file(&path).unwrap();
    let bytes = match state {
        State::Missing => return,
        State::Folder => {
            fs::create_dir(&path).unwrap();
            return fs::write(path.join("kept"), "zqkept").unwrap();
        }
        State::Bytes(bytes) => bytes.clone(),
        State::Part(1) => known.trim_end()[..known.trim_end().len() - 1].into(),
        State::Part(share) => known[..known.len() / share].into(),
        State::Edited(edit) => edit(&known).into_bytes(),
    };
    fs::write(path, bytes).unwrap();
}

const OLD: [(&str, &str); 4] = [
    ("parsing csv exports", "use it"),
    ("rotating ssh keys", "keep both"),
    ("folding maps", "twice"),
    ("waxing skis", "brush"),
];

/// Four lessons; the backup has three of them.
fn memory() -> Machine {
    let machine = Machine::new();
    for (trigger, solution) in OLD {
        machine.learn(trigger, solution);
    }
    machine
}

fn lost(machine: &Machine, expected: &[&str]) -> Option<String> {
    let listed = machine.call(&["list", "--limit", "1000", "--json"]);
    let lost: Vec<&str> = expected.iter().filter(|trigger| !listed.out.contains(**trigger)).copied().collect();
    when(!lost.is_empty(), format!("lost: {}", lost.join(", ")))
}

/// True when some file of the folder has exactly these bytes.
fn keeps(machine: &Machine, bytes: &[u8]) -> bool {
    machine.bytes().values().flatten().any(|kept| kept == bytes)
}

#[test]
fn an_impossible_file_is_replaced_by_its_backup() {
    let mut table = Table::default();
    let base = memory();
    for (attack, state) in broken() {
        let machine = base.copy();
        put(&machine.folder(), PLAYBOOK, &state);
        let bytes = fs::read(machine.folder().join(PLAYBOOK)).ok();
        let backup = fs::read(machine.folder().join(BACKUP)).unwrap();
        let mut expected = vec![OLD[0].0, OLD[1].0, OLD[2].0];
        let mut effects: Vec<String> =
            lost(&machine, &expected).map(|lost| format!("a reader {lost}")).into_iter().collect();
        let context = machine.call(&["context", OLD[0].0, "--peek"]);
        effects.extend(when(!context.out.contains(OLD[0].1), "a context has lost them"));
        for trigger in ["boiling eggs", "tying knots", "picking locks"] {
            let said = machine.call(&["learn", "--trigger", trigger, "--solution", "do it"]);
            effects.extend(when(said.code != 0, format!("learning fails: {}", said.err.trim())));
            expected.push(trigger);
            effects.extend(lost(&machine, &expected).map(|lost| format!("a writer {lost}")));
        }
        let is_worth =
            |bytes: &Vec<u8>| bytes.iter().any(|byte| !byte.is_ascii_whitespace() && *byte != 0) && bytes.len() > 8;
        let is_kept = bytes.filter(is_worth).is_none_or(|bytes| keeps(&machine, &bytes));
        effects.extend(when(!is_kept, "the bytes of the broken file are gone"));
        let is_folder = matches!(state, State::Folder);
        effects.extend(when(is_folder && !keeps(&machine, b"zqkept"), "what was in the folder is gone"));
        effects.extend(when(backup.is_empty(), "there was no backup"));
        effects.dedup();
        table.note(attack, &effects);
    }
    table.finish();
}

#[test]
fn no_byte_of_two_broken_files_is_overwritten() {
    let mut table = Table::default();
    let base = memory();
    let backups = [
        ("a half", State::Part(2)),
        ("a text behind it", State::Edited(|text| format!("{text}x"))),
        (
            "of a later version",
            State::Edited(|text| text.replacen("\"schema_version\": 2", "\"schema_version\": 99", 1)),
        ),
        ("a folder", State::Folder),
    ];
    for (attack, state) in broken() {
        for (name, backup) in &backups {
            let machine = base.copy();
            put(&machine.folder(), PLAYBOOK, &state);
            put(&machine.folder(), BACKUP, backup);
            let before: Vec<Vec<u8>> = [PLAYBOOK, BACKUP]
                .iter()
                .filter_map(|file| fs::read(machine.folder().join(file)).ok())
                .filter(|bytes| bytes.len() > 64)
                .collect();
            for trigger in ["boiling eggs", "tying knots", "picking locks"] {
                machine.call(&["list"]);
                machine.call(&["learn", "--trigger", trigger, "--solution", "do it"]);
            }
            let n_lost = before.iter().filter(|bytes| !keeps(&machine, bytes)).count();
            let mut effects: Vec<String> = when(n_lost > 0, format!("{n_lost} files are gone")).into_iter().collect();
            effects.extend(when(
                matches!(backup, State::Folder) && !keeps(&machine, b"zqkept"),
                "the folder's content is gone",
            ));
            table.note(format!("{attack}, the backup is {name}"), &effects);
        }
    }
    table.finish();
}

#[test]
fn a_valid_folder_is_read_unchanged_and_a_new_one_is_empty() {
    let machine = memory();
    let before = machine.bytes();
    assert_eq!(machine.lessons().len(), 4);
    assert_eq!(machine.bytes(), before, "reading changes nothing");
    let fresh = Machine::new();
    assert_eq!(fresh.lessons().len(), 0);
    fresh.learn("waxing skis", "brush");
    fs::remove_file(machine.folder().join(BACKUP)).unwrap();
    assert_eq!((machine.lessons().len(), fresh.lessons().len()), (4, 1), "a backup is not needed");
    // A person removes a lesson with an editor.
    let path = machine.folder().join(PLAYBOOK);
    let mut file: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    file["lessons"].as_array_mut().unwrap().remove(0);
    fs::write(&path, file.to_string()).unwrap();
    machine.learn("boiling eggs", "seven minutes");
    assert_eq!(machine.lessons().len(), 4);
}
