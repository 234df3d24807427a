//! Numbers of files at the limits of their types: no command panics, and the user can go on.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::checks::{attack, check};
use super::ground::{Ground, MEMORY};

const LARGEST: [u64; 3] = [u64::MAX, u64::MAX - 1, (1 << 53) - 1];

/// Every kind of command, as a user, an agent or a hook would call it.
const COMMANDS: [&[&str]; 15] = [
    &["context", "deploy the docs"],
    &["list"],
    &["doctor", "--check"],
    &["doctor", "--repair"],
    &["history"],
    &["list", "--stats"],
    &["trust", "--show"],
    &["hook", "prompt"],
    &["hook", "before-tool"],
    &["hook", "session-end"],
    &["mcp"],
    &["learn", "--trigger", "a new topic", "--solution", "call okapi twice"],
    &["edit", "deploy the docs", "--verified", "yes"],
    &["remove", "deploy the docs"],
    &["learn", "--trigger", "another topic", "--solution", "call okapi thrice"],
];

/// Sets a number of the playbook file, named by its keys.
fn set(memory: &Path, keys: &[&str], number: u64) {
    let path = memory.join("skills_playbook.json");
    let mut file: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let mut at = &mut file;
    for key in keys {
        at = match key.parse::<usize>() {
            Ok(place) => &mut at[place],
            Err(_) => &mut at[*key],
        };
    }
    *at = json!(number);
    fs::write(&path, serde_json::to_vec_pretty(&file).unwrap()).unwrap();
}

/// A line of the usage file with its number and its checksum (CRC-32).
pub(super) fn usage_line(number: u64, event: &Value) -> String {
    let open = format!(r#"{{"n":{number},{}"#, event.to_string().trim_start_matches('{').trim_end_matches('}'));
    let step = |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
    let crc = !open.bytes().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(byte), step));
    format!("{open},\"crc\":\"{crc:08x}\"}}\n")
}

fn every_command_goes_on(ground: &Ground, change: impl Fn(&Path)) {
    let project = ground.folder("project");
    for topic in ["deploy the docs", "publish the docs"] {
        ground.does(&ground.user, &project, &["learn", "--trigger", topic, "--solution", "call okapi first"]);
        ground.does(&ground.user, &project, &["context", topic]);
    }
    change(&project.join(MEMORY));
    for command in COMMANDS {
        let said = ground.user.adage(&project, command);
        // A check may have findings, and a server without a client ends with an error; a hook never fails.
        let is_hook = command.first() == Some(&"hook");
        let has_ended = said.code == Some(0) || (said.code == Some(1) && !is_hook);
        let is_well = has_ended && !said.err.contains("panicked");
        ground.claim(is_well, format!("{command:?}: {}", said.brief()));
    }
    let listed = ground.user.adage(&project, &["list"]);
    ground.claim(listed.says("another topic"), format!("what was learned is gone: {}", listed.brief()));
}

#[test]
fn numbers_of_the_playbook_file_at_their_limits_stop_no_command() {
    let keys: [&'static [&'static str]; 8] = [
        &["generation"],
        &["archive_len"],
        &["written"],
        &["usage"],
        &["lessons", "0", "frequency"],
        &["lessons", "0", "retrievals"],
        &["lessons", "0", "helpful_retrievals"],
        &["lessons", "0", "harmful_retrievals"],
    ];
    let all = LARGEST.into_iter().flat_map(|number| keys.into_iter().map(move |keys| (number, keys)));
    let attacks: Vec<_> = all
        .map(|(number, keys)| {
            let change = move |memory: &Path| set(memory, keys, number);
            attack(format!("{keys:?} is {number}"), move |ground| every_command_goes_on(ground, change))
        })
        .collect();
    check(&attacks);
}

/// A change of a memory's files by which a number gets into one.
type Put = fn(&Path, u64);

#[test]
fn numbers_of_other_files_at_their_limits_stop_no_command() {
    let changes: [(&'static str, Put); 4] = [
        ("the generation of both copies", |memory, number| {
            set(memory, &["generation"], number);
            fs::copy(memory.join("skills_playbook.json"), memory.join("skills_playbook.json.bak")).unwrap();
        }),
        ("the base of a log", |memory, number| {
            let log = json!({"base": number, "state": null, "file": null}).to_string();
            fs::write(memory.join("playbook.log"), log + "\n").unwrap();
        }),
        ("the number of a line of usage", |memory, number| {
            let credit = json!({"credit": [], "verdict": "helpful", "at": "2026-03-01T11:00:00Z"});
            fs::write(memory.join("usage.jsonl"), usage_line(number, &credit)).unwrap();
        }),
        ("the place in the usage of an earlier version, and the name of its file", |memory, number| {
            let path = memory.join("skills_playbook.json");
            let mut file: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            file["usage"] = json!({"segment": number, "offset": number});
            fs::write(&path, serde_json::to_vec_pretty(&file).unwrap()).unwrap();
            fs::write(memory.join(format!("usage.{number}.jsonl")), "{}\n").unwrap();
        }),
    ];
    let all = LARGEST.into_iter().flat_map(|number| changes.into_iter().map(move |change| (number, change)));
    let attacks: Vec<_> = all
        .map(|(number, (name, put))| {
            attack(format!("{name} is {number}"), move |ground| {
                every_command_goes_on(ground, |memory| put(memory, number));
            })
        })
        .collect();
    check(&attacks);
}
