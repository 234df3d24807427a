//! The inbox on the command line, and a process killed while it applies a proposal.

use adage_sessions::Sessions;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use adage::lesson::Trust;
use adage::model::CancelToken;
use adage::transcript::{Status, ToolCall, Transcript, Turn};
use adage::{Listing, Playbook, build_lesson};
use adage_review::{Inbox, PatchKind, ProposalName};
use serde_json::{Value, json};

use super::schemas::object;

fn adage(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_adage"));
    command.arg("--dir").arg(folder).args(["--embedder", "none", "--now", "2026-03-01T12:00:00Z"]).args(arguments);
    command
        .env_remove("ORT_DYLIB_PATH")
        .env("ADAGE_TRUST", "all")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = adage(folder, arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(object).collect()
}

fn open(folder: &Path) -> Playbook {
    Playbook::builder(folder).without_embedder().open().unwrap()
}

/// A memory folder with a patch of the notes, one of the global notes, a skill and a lesson in its inbox.
fn prepare(home: &Path) -> (PathBuf, PathBuf) {
    let home = home.canonicalize().unwrap();
    let (memory, global) = (home.join("memory"), home.join("GLOBAL.md"));
    fs::write(&global, "kind\n").unwrap();
    let playbook = Playbook::builder(&memory).without_embedder().with_global_notes(&global).open().unwrap();
    let new = memory.join("new.md");
    let patch = format!("--- /dev/null\n+++ {}\n@@ -0,0 +1 @@\n+first\n", new.display());
    Inbox::of(&playbook).propose(&PatchKind::Private, patch.as_bytes()).unwrap();
    let patch = format!("--- {0}\n+++ {0}\n@@ -1 +1,2 @@\n kind\n+brief\n", global.display());
    Inbox::of(&playbook).propose(&PatchKind::Global, patch.as_bytes()).unwrap();
    Inbox::of(&playbook).propose_skill(&"release".parse().unwrap(), "# Release\n").unwrap();
    playbook.learn_lesson(build_lesson("parse dates", "use dateutil").trust(Trust::Tainted)).unwrap();
    (memory, global)
}

#[test]
fn a_diff_has_colours_only_on_a_terminal_unless_they_are_asked_for() {
    let home = tempfile::tempdir().unwrap();
    let (memory, _) = prepare(home.path());
    let shown = |color: &[&str]| run(&memory, &[&["review", "show", "private"], color].concat()).1;
    assert!(shown(&[]).contains("+first") && !shown(&[]).contains('\u{1b}'));
    assert!(shown(&["--color", "always"]).contains("\u{1b}[32m+first"));
    assert!(!shown(&["--color", "never"]).contains('\u{1b}'));
}

#[test]
fn what_was_found_in_a_session_is_learned_by_number() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("memory");
    let playbook = open(&folder);
    let said = |text: &str| Turn::User(text.to_owned());
    let agreed = || Turn::Assistant("You're right, sorry.".to_owned());
    let edit = || {
        let input = json!({ "file_path": "src/feed.rs" });
        let (result, status) = (Some("done".to_owned()), Status::Succeeded);
        Turn::ToolCall(ToolCall { tool: "Edit".into(), input, result, status })
    };
    let turns = vec![
        said("Write the importer for the nightly feed."),
        edit(),
        said("no, that's wrong, do it like the other one"),
        agreed(),
        edit(),
        said("the import tool doesn't know a second header, it reads the first one only"),
        agreed(),
        edit(),
        said("no, we only ever write UTC in our feeds"),
        agreed(),
        edit(),
    ];
    let transcript = Transcript { session: "monday".into(), turns, ..Transcript::default() };
    Sessions::of(&playbook).learn_from(&transcript, None, &CancelToken::default()).unwrap();
    drop(playbook);
    let (_, out, _) = run(&folder, &["review", "list", "--json"]);
    let listed = objects(&out);
    let [item] = &listed[..] else { panic!("{listed:?}") };
    let (lines, lessons) = (item["lines"].as_array().unwrap(), item["lessons"].as_array().unwrap());
    assert_eq!((item["kind"].as_str(), lines.len(), lessons.len()), (Some("session"), 3, 3), "{item}");
    assert!(lines[0].as_str().unwrap().contains("We only ever write UTC in our feeds"), "{item}");
    let place = lines.iter().position(|line| line.as_str().unwrap().contains("the import tool")).unwrap() + 1;
    let name = "sessions/monday";
    let (_, shown, _) = run(&folder, &["review", "show", name]);
    assert!(shown.contains("a person said: the import tool doesn't know a second header"), "{shown}");
    for lines in ["0", "4"] {
        let (code, _, err) = run(&folder, &["review", "apply", name, "--lines", lines]);
        assert!(code == 1 && err.contains("it has no line"), "{err}");
    }
    let chosen = format!("1,{place}");
    let (code, out, err) = run(&folder, &["review", "apply", name, "--lines", &chosen, "--json"]);
    assert_eq!((code, objects(&out)[0]["lessons"].as_array().unwrap().len()), (0, 2), "{err}");
    let playbook = open(&folder);
    assert!(playbook.waiting_lessons().unwrap().is_empty());
    let lessons = playbook.list_lessons(&Listing::default()).unwrap();
    let picked = lessons.iter().find(|lesson| lesson.correct_pattern.starts_with("the import tool")).unwrap();
    assert_eq!(picked.paths, ["**/src/feed.rs"]);
    assert_eq!(
        picked.provenance.evidence[0].quote,
        "the import tool doesn't know a second header, it reads the first one only"
    );
}

#[test]
fn the_inbox_is_listed_shown_and_decided_on() {
    let home = tempfile::tempdir().unwrap();
    let (memory, global) = prepare(home.path());
    let with_global = |arguments: &[&str]| {
        run(&memory, &[&["review", "--global-notes", global.to_str().unwrap()], arguments].concat())
    };
    let (code, out, err) = with_global(&["list", "--json"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let listed = objects(&out);
    let names: Vec<&str> = listed[..3].iter().map(|object| object["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["private", "global", "skills/release"]);
    let lesson = listed[3]["name"].as_str().unwrap().to_owned();
    assert_eq!((&listed[3]["kind"], &listed[3]["lesson"]["trigger"]), (&json!("lesson"), &json!("parse dates")));
    assert_eq!(listed[3]["reason"], "may come from untrusted content");
    // Without the option for the file, its patch cannot be applied.
    let (code, out, err) = run(&memory, &["review", "list"]);
    assert!(
        code == 0 && !out.contains("global") && err.contains("global/extraction.patch cannot be applied"),
        "{out}{err}"
    );

    let (code, out, _) = with_global(&["show", "private"]);
    assert!(code == 0 && out.contains("\n+first\n") && out.contains("MEMORY.md") && !out.contains('\u{1b}'), "{out}");
    let (code, _, err) = with_global(&["show", "skills/absent"]);
    assert!(code == 1 && err.contains("no proposal skills/absent awaits review"), "{err}");
    let (code, _, err) = with_global(&["show", "../x"]);
    assert!(code == 2 && err.contains("names no proposal"), "{err}");
    assert_eq!(with_global(&["apply"]).0, 2);
    assert_eq!(with_global(&["apply", "private", "--all"]).0, 2);

    let (code, out, _) = with_global(&["apply", "--all", "--kind", "global", "--json"]);
    let applied = &objects(&out)[0];
    assert_eq!((code, &applied["applied"]), (0, &json!(["global"])));
    assert_eq!(fs::read_to_string(&global).unwrap(), "kind\nbrief\n");
    let (code, _, err) = with_global(&["undo", applied["change"].as_str().unwrap()]);
    assert_eq!((code, err.as_str(), fs::read_to_string(&global).unwrap().as_str()), (0, "", "kind\n"));

    assert_eq!(with_global(&["dismiss", "skills/release"]).0, 0);
    assert_eq!(with_global(&["apply", &lesson]).0, 0);
    let (_, out, _) = run(&memory, &["list", "--json"]);
    assert_eq!(objects(&out)[0]["trigger"], "parse dates");
    let (code, out, err) = with_global(&["apply", "--all"]);
    assert!(code == 0 && out.contains("applied private") && out.contains("applied global"), "{out}{err}");
    assert_eq!(with_global(&["list"]).1, "nothing awaits review\n");
}

#[test]
fn proposals_that_cannot_be_applied_are_quarantined_on_demand() {
    let home = tempfile::tempdir().unwrap();
    let (memory, _) = prepare(home.path());
    fs::write(memory.join(".inbox/private/extraction.patch"), "Here is the patch:\n").unwrap();
    let (code, _, err) = run(&memory, &["review", "apply", "private"]);
    assert!(code == 1 && err.contains("private/extraction.patch cannot be applied: it is not a patch"), "{err}");
    let (code, out, _) = run(&memory, &["review", "check", "--json"]);
    let aside = objects(&out);
    let names: Vec<&str> = aside.iter().map(|object| object["name"].as_str().unwrap()).collect();
    assert_eq!((code, names), (0, vec!["private/extraction.patch"]));
    assert_eq!(fs::read_to_string(aside[0]["kept_at"].as_str().unwrap()).unwrap(), "Here is the patch:\n");
    let (_, out, _) = run(&memory, &["review", "check"]);
    assert!(out.contains("1 skill and 1 lesson wait for review"), "{out}");
}

#[test]
fn review_asks_at_a_terminal_only() {
    let home = tempfile::tempdir().unwrap();
    let (memory, _) = prepare(home.path());
    let (code, out, err) = run(&memory, &["review"]);
    assert!(code == 1 && out.contains("skills/release") && err.contains("nothing was decided"), "{out}{err}");
    let empty = home.path().join("empty");
    run(&empty, &["init"]);
    let (code, out, _) = run(&empty, &["review"]);
    assert_eq!((code, out.as_str()), (0, "nothing awaits review\n"));
}

const N_FILES: usize = 12;

/// The content of the notes, and whether the proposal is pending.
fn state(memory: &Path) -> (Vec<Option<String>>, bool) {
    let read = |n| fs::read_to_string(memory.join(format!("note-{n}.md"))).ok();
    (((0..N_FILES).map(read)).collect(), memory.join(".inbox/private/extraction.patch").exists())
}

/// Kills the process at a different moment in each round: while it stages, after the commit, while it renames.
#[test]
fn a_killed_process_leaves_all_or_nothing() {
    let (mut n_unfinished, mut n_before, mut n_after) = (0, 0, 0);
    for round in 0..24 {
        let home = tempfile::tempdir().unwrap();
        let memory = home.path().canonicalize().unwrap().join("memory");
        let playbook = open(&memory);
        let diff = |n| {
            let note = memory.join(format!("note-{n}.md"));
            if n % 2 == 0 {
                fs::write(&note, "old\n").unwrap();
                format!("--- {0}\n+++ {0}\n@@ -1 +1 @@\n-old\n+new\n", note.display())
            } else {
                format!("--- /dev/null\n+++ {}\n@@ -0,0 +1 @@\n+new\n", note.display())
            }
        };
        let patch = (0..N_FILES).map(diff).collect::<Vec<_>>().concat();
        Inbox::of(&playbook).propose(&PatchKind::Private, patch.as_bytes()).unwrap();
        drop(playbook);
        let before = state(&memory);
        let mut child = adage(&memory, &["review", "apply", "private"]).spawn().unwrap();
        let stage = ["staging", "staging", "pending"][round % 3];
        let is_at = || {
            let journals = fs::read_dir(memory.join("edits")).into_iter().flatten();
            let mut endings = journals.filter_map(|entry| entry.ok()?.path().extension()?.to_str().map(str::to_owned));
            endings.any(|ending| ending == stage)
        };
        while child.try_wait().unwrap().is_none() && !is_at() {
            std::hint::spin_loop();
        }
        // A little later in each round: the renames take as long as several reads of the folder.
        for _ in 0..(round / 3) * 4 {
            is_at();
        }
        child.kill().unwrap();
        let was_killed = !child.wait().unwrap().success();
        let playbook = open(&memory);
        let (files, waits) = state(&memory);
        let has_changed = files.iter().all(|file| file.as_deref() == Some("new\n")) && !waits;
        assert!(has_changed || (files.clone(), waits) == before, "round {round}: {files:?}, waits: {waits}");
        n_unfinished += usize::from(was_killed);
        n_before += usize::from(!has_changed);
        n_after += usize::from(was_killed && has_changed);
        let leftovers: Vec<String> = fs::read_dir(&memory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .filter(|name| name.starts_with(".adage-edit-"))
            .collect();
        assert!(leftovers.is_empty(), "round {round}: {leftovers:?}");
        // The folder remains usable.
        let inbox = Inbox::of(&playbook);
        if waits {
            let proposal = inbox.find(&ProposalName::Patch(PatchKind::Private)).unwrap();
            inbox.apply(&[proposal]).unwrap();
        }
        assert!(state(&memory).0.iter().all(|file| file.as_deref() == Some("new\n")), "round {round}");
    }
    assert!(n_unfinished > 12 && n_before > 0, "{n_unfinished} killed, {n_before} undone, {n_after} finished");
}
