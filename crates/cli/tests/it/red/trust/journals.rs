//! Journals of edits that somebody else left in a folder: their files are what the journal says, and nobody saw it.

use std::fs;
use std::path::{Path, PathBuf};

use adage::TextHash;
use serde_json::json;

use super::checks::{attack, check};
use super::ground::{Ground, HOSTILE, MEMORY, OWN, TASK, TEAM, write};
use super::rows::{hostile_row, playbook, put_skill};
use super::team::Team;

const ID: &str = "01a2134c-40c2-7bda-a234-586b81628c30";
const NOTE: &str = "# Notes\nokapi\n";

/// A journal as the program writes it, of one file of the memory.
fn journal(path: &str, before: Option<&[u8]>, after: &[u8]) -> Vec<u8> {
    let header = json!({
        "schema": 1, "id": ID, "at": "2026-02-28T12:00:00Z", "what": "apply private", "record": "kept",
        "files": [{"path": path, "before": before.map(<[u8]>::len), "after": after.len(), "mode": null}],
    });
    let mut bytes = [header.to_string().as_bytes(), b"\n"].concat();
    bytes.extend(before.unwrap_or_default());
    bytes.extend(after);
    let seal = format!("\n{}\n", TextHash::of(&[bytes.as_slice()]));
    [bytes, seal.into_bytes()].concat()
}

/// What a journal would change: a file of the memory, what it holds, and what it is to hold.
type Target = fn(&Path) -> (&'static str, Option<Vec<u8>>, Vec<u8>);

fn lessons(memory: &Path) -> (&'static str, Option<Vec<u8>>, Vec<u8>) {
    let name = "skills_playbook.json";
    (name, fs::read(memory.join(name)).ok(), playbook(&[hostile_row()]).to_string().into_bytes())
}

fn skill(memory: &Path) -> (&'static str, Option<Vec<u8>>, Vec<u8>) {
    let made = memory.join("made");
    put_skill(&made, "docs", HOSTILE);
    let after = fs::read(made.join("skills/docs/SKILL.md")).unwrap();
    fs::remove_dir_all(made).unwrap();
    ("skills/docs/SKILL.md", None, after)
}

fn note(memory: &Path) -> (&'static str, Option<Vec<u8>>, Vec<u8>) {
    write(&memory.join("notes.md"), NOTE);
    ("notes.md", Some(NOTE.into()), format!("{HOSTILE}\n").into_bytes())
}

fn leave(memory: &Path, stage: &str, target: Target) {
    let (path, before, after) = target(memory);
    let bytes = if stage == "undoing" || stage == "done" {
        // Rolled back, or undone, the file becomes what it was "before".
        if let Some(present) = &before {
            journal(path, Some(&after), present)
        } else {
            return leave(memory, stage, note);
        }
    } else {
        journal(path, before.as_deref(), &after)
    };
    write(&memory.join(format!("edits/{ID}.{stage}")), bytes);
}

fn all(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { all(&path) } else { vec![path] }).collect()
}

/// No file has the hostile text but the journal itself, and nothing says it.
fn is_not_followed(ground: &Ground, project: &Path) {
    ground.does(&ground.user, project, &["learn", "--trigger", "wash", "--solution", "okapi", "--mistake", "none"]);
    let _ = ground.user.adage(project, &["skills", "curate"]);
    let _ = ground.user.adage(project, &["review", "undo", ID]);
    let _ = ground.user.adage(project, &["export", "--undo", ID, "--into", ".adage/notes.md"]);
    for path in
        all(&project.join(MEMORY)).into_iter().filter(|path| !path.starts_with(project.join(MEMORY).join("edits")))
    {
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        ground.claim(!text.contains(HOSTILE), format!("{} was written", path.display()));
    }
    ground.is_silent(&ground.user, project, "after a write");
}

#[test]
fn a_journal_that_somebody_else_left_is_shown_and_never_followed() {
    let mut attacks = Vec::new();
    for (what, target) in [("lessons", lessons as Target), ("a skill", skill), ("a note", note)] {
        for stage in ["staging", "pending", "undoing", "done"] {
            attacks.push(attack(format!("a cloned journal of {what}, {stage}"), move |ground| {
                let project = ground.folder("cloned");
                let learn = ["learn", "--trigger", TASK, "--solution", "ask bongo", "--mistake", "none"];
                ground.does(&ground.other, &project, &learn);
                leave(&project.join(MEMORY), stage, target);
                let said = ground.user.adage(&project, &["trust", "--show"]);
                ground.claim(said.says(&format!("{ID}.{stage}")), format!("it is not shown: {}", said.brief()));
                let said = ground.does(&ground.user, &project, &["trust"]);
                ground.claim(said.says("1 journal"), format!("trust does not say so: {}", said.brief()));
                is_not_followed(ground, &project);
                ground.speaks(&ground.user, &project, TEAM, "the trusted lesson");
            }));
            attacks.push(attack(format!("a pulled journal of {what}, {stage}"), move |ground| {
                let team = Team::trusted(ground);
                leave(&team.our_memory(), stage, target);
                is_not_followed(ground, &team.ours);
            }));
        }
    }
    check(&attacks);
}

#[test]
fn the_users_own_journals_are_followed_and_undone() {
    check(&[attack("in a folder that git tracks", |ground| {
        let team = Team::trusted(ground);
        ground.learns(&team.ours);
        write(&team.ours.join("AGENTS.md"), "# Mine\n");
        let export = ["--json", "export", "--format", "agents", "--into", "AGENTS.md"];
        let said = ground.does(&ground.user, &team.ours, &export);
        let change =
            serde_json::from_str::<serde_json::Value>(&said.out).unwrap()["change"].as_str().unwrap().to_owned();
        let edits = team.our_memory().join("edits");
        let text = fs::read_to_string(team.ours.join("AGENTS.md")).unwrap();
        ground.claim(text.contains(OWN), "nothing was exported");
        ground.does(&ground.user, &team.ours, &["export", "--undo", &change, "--into", "AGENTS.md"]);
        ground.claim(
            fs::read_to_string(team.ours.join("AGENTS.md")).unwrap() == "# Mine\n",
            format!("not undone: {:?}", fs::read_dir(edits).unwrap().collect::<Vec<_>>()),
        );
    })]);
}
