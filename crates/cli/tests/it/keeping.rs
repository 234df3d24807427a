//! Backup, restore, repair and forget; calls with a stuck process or a full disk.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::schemas::object;

const SECRET: &str = "the words that nobody may read again";

fn adage(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_adage"));
    command.args(["--json", "--embedder", "hashing", "--dir"]).arg(folder);
    command.env("ADAGE_TRUST", "all").stdin(Stdio::null());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn run(folder: &Path, arguments: &[&str]) -> Vec<Value> {
    let output = adage(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout).lines().map(object).collect()
}

fn learn(folder: &Path, trigger: &str, solution: &str) -> String {
    run(folder, &["learn", "--trigger", trigger, "--solution", solution])[0]["id"].as_str().unwrap().to_owned()
}

fn triggers(folder: &Path) -> Vec<String> {
    let rows = run(folder, &["list"]);
    let mut triggers: Vec<String> = rows.iter().map(|row| row["trigger"].as_str().unwrap().to_owned()).collect();
    triggers.sort();
    triggers
}

/// Copies the files of a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file()) {
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// Every file below a folder that these words are in.
fn files_with(folder: &Path, words: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            found.extend(files_with(&entry.path(), words));
        } else if text(&fs::read(entry.path()).unwrap()).contains(words) {
            found.push(entry.path().display().to_string());
        }
    }
    found
}

#[test]
fn a_forgotten_lesson_is_in_no_file_and_does_not_come_back() {
    let (home, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = &home.path().join("memory");
    learn(folder, "compressing photographs", "Keep the originals until the copies were looked at.");
    let id = learn(folder, "parsing CSV exports", SECRET);
    run(folder, &["learn", "--trigger", "parsing CSV exports", "--solution", &format!("{SECRET}, merged")]);
    let backup = copy.path().join("backup");
    run(folder, &["backup", backup.to_str().unwrap()]);
    // A broken file with the words in it goes to quarantine.
    fs::write(folder.join("skills_playbook.json"), format!("{{\"lessons\": [{{\"solution\": \"{SECRET}\"")).unwrap();
    run(folder, &["list", "--stats"]);
    assert!(!files_with(folder, SECRET).is_empty());
    run(folder, &["remove", "--everywhere", &id]);
    assert_eq!(files_with(folder, SECRET), Vec::<String>::new());
    let restored = &run(folder, &["restore", backup.to_str().unwrap()])[0];
    assert_eq!(restored["n_kept_removed"], 1);
    assert_eq!(triggers(folder), ["compressing photographs"]);
    assert!(run(folder, &["doctor", "--check"])[0]["findings"].as_array().unwrap().is_empty());
}

/// A session in which the user states a rule.
fn session(rule: &str) -> String {
    let turns = ["Please deploy the widget server", "I will deploy it.", rule, "You're right, I will."];
    let line = |(number, text): (usize, &&str)| {
        let author = if number % 2 == 0 { "user" } else { "assistant" };
        let message = json!({"role": author, "content": text});
        let at = format!("2026-02-28T10:0{number}:00Z");
        json!({"type": author, "sessionId": "s", "uuid": format!("u{number}"), "timestamp": at, "message": message})
            .to_string()
            + "\n"
    };
    turns.iter().enumerate().map(line).collect()
}

#[test]
fn a_forgotten_rule_of_a_session_is_in_no_file() {
    let home = tempfile::tempdir().unwrap();
    let (folder, file) = (&home.path().join("memory"), home.path().join("session.jsonl"));
    fs::write(&file, session("Remember: from now on always run quagga before you deploy the widget server.")).unwrap();
    run(folder, &["mine", file.to_str().unwrap()]);
    run(folder, &["review", "apply", "sessions/s"]);
    let lesson = run(folder, &["list"]).into_iter().find(|row| row["id"].is_string()).unwrap();
    assert!(!files_with(folder, "quagga").is_empty() && !folder.join("skills").exists(), "a rule makes no draft");
    let forgotten = &run(folder, &["remove", "--everywhere", lesson["id"].as_str().unwrap()])[0];
    assert_eq!(files_with(folder, "quagga"), Vec::<String>::new());
    assert_eq!(forgotten["kept_in"], json!([]));
}

#[test]
fn a_forgotten_lesson_leaves_no_skipped_suggestion_and_no_request() {
    let temp = tempfile::tempdir().unwrap();
    let (folder, sessions) = (temp.path().join("memory"), temp.path().join("sessions"));
    let id = learn(&folder, SECRET, "never say it");
    run(&folder, &["skills", "skip", SECRET]);
    run(&folder, &["skills", "skip", "error-pip"]);
    fs::create_dir_all(&sessions).unwrap();
    let asked = session("no, not that").replace("deploy the widget server", SECRET);
    fs::write(sessions.join("s.jsonl"), asked).unwrap();
    run(&folder, &["mine", "--sessions", sessions.to_str().unwrap()]);
    assert!(text(&fs::read(folder.join("mining.json")).unwrap()).contains(SECRET), "no request is recorded");
    run(&folder, &["remove", "--everywhere", &id]);
    assert_eq!(files_with(&folder, "nobody may read again"), Vec::<String>::new());
    assert!(!files_with(&folder, "error-pip").is_empty(), "another skip is deleted");
}

#[test]
fn files_that_a_person_keeps_are_named_when_a_lesson_is_forgotten() {
    let home = tempfile::tempdir().unwrap();
    let folder = &home.path().join("memory");
    let id = learn(folder, "parsing CSV exports", SECRET);
    learn(folder, "parsing CSV imports", "Use a reader that knows quotes.");
    run(folder, &["skills", "export", &id, "--to", folder.join("skills").to_str().unwrap()]);
    fs::write(folder.join("notes.md"), SECRET.replacen(' ', "\n", 1)).unwrap();
    let kept = files_with(&folder.join("skills"), SECRET);
    assert_eq!(kept.len(), 1, "{kept:?}");
    let forgotten = &run(folder, &["remove", "--everywhere", &id])[0];
    let mut expected = [kept[0].clone(), folder.join("notes.md").display().to_string()];
    expected.sort();
    let mut named: Vec<&str> = forgotten["kept_in"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    named.sort_unstable();
    assert_eq!(named, expected);
}

#[test]
fn every_earlier_text_is_forgotten_with_a_lesson() {
    type Change<'a> = &'a dyn Fn(&Path, &str, &str) -> String;
    type Story = fn(&Path, &str, Change<'_>, Change<'_>) -> String;
    const EARLIER: &str = "zebra";
    let edit = |folder: &Path, lesson: &str, solution: &str| {
        run(folder, &["edit", lesson, "--solution", solution])[0]["change"].as_str().unwrap().to_owned()
    };
    let supersede = |folder: &Path, old: &str, solution: &str| {
        let learn = ["learn", "--trigger", "washing the tram", "--solution", solution, "--supersedes", old];
        run(folder, &learn)[0]["id"].as_str().unwrap().to_owned()
    };
    let stories: [(&str, Story); 5] = [
        ("edited twice", |folder, id, edit, _| {
            edit(folder, id, "the zebra way of brushing, second edition");
            edit(folder, "rinsing the tram", "cold water and a sponge");
            "rinsing the tram".to_owned()
        }),
        ("superseded, then edited", |folder, id, edit, supersede| {
            let id = supersede(folder, id, "a zebra mop and nothing else");
            edit(folder, &id, "cold water and a sponge");
            "washing the tram".to_owned()
        }),
        ("merged, then superseded", |folder, id, _, supersede| {
            let merged = "the zebra brush for trams, held flat, twice";
            run(folder, &["learn", "--trigger", "rinsing the tram", "--solution", merged]);
            supersede(folder, id, "cold water and a sponge")
        }),
        ("superseded, and removed since", |folder, id, _, supersede| {
            let id = supersede(folder, id, "cold water and a sponge");
            run(folder, &["remove", &id]);
            id
        }),
        ("edited, and the edit undone", |folder, id, edit, _| {
            run(folder, &["undo", &edit(folder, id, "two zebra mops and a bucket")]);
            id.to_owned()
        }),
    ];
    for (name, story) in stories {
        let home = tempfile::tempdir().unwrap();
        let (folder, copy) = (&home.path().join("memory"), home.path().join("copy"));
        learn(folder, "amber kettle", "Fill it first.");
        let id = learn(folder, "rinsing the tram", "the zebra brush for trams, held flat");
        run(folder, &["backup", copy.to_str().unwrap()]);
        let newest = story(folder, &id, &edit, &supersede);
        run(folder, &["remove", "--everywhere", &newest]);
        assert_eq!(files_with(folder, EARLIER), Vec::<String>::new(), "{name}");
        for record in run(folder, &["history"]) {
            let _ = adage(folder).args(["undo", record["id"].as_str().unwrap()]).output().unwrap();
        }
        run(folder, &["restore", copy.to_str().unwrap()]);
        assert_eq!(triggers(folder), ["amber kettle"], "{name}");
    }
}

#[test]
fn an_older_playbook_file_brings_back_nothing_that_was_removed() {
    type Put = fn(&Path, &str);
    let without_others = |folder: &Path| {
        let _ = fs::remove_file(folder.join("skills_playbook.json.bak"));
    };
    let puts: [(&str, Put); 4] = [
        ("with its own log and backup", |folder, old| {
            let kept = folder.with_file_name("kept");
            for entry in fs::read_dir(kept).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file()) {
                if entry.file_name() != "archive.jsonl" {
                    fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
                }
            }
            assert_eq!(fs::read_to_string(folder.join("skills_playbook.json")).unwrap(), old);
        }),
        ("as it was", |folder, old| fs::write(folder.join("skills_playbook.json"), old).unwrap()),
        ("with a later generation", |folder, old| {
            let later = old.replace("\"generation\": ", "\"generation\": 90");
            assert_ne!(later, old);
            fs::write(folder.join("skills_playbook.json"), later).unwrap();
        }),
        ("without its checksum", |folder, old| {
            let mut file: Value = serde_json::from_str(old).unwrap();
            file.as_object_mut().unwrap().remove("crc");
            fs::write(folder.join("skills_playbook.json"), file.to_string()).unwrap();
        }),
    ];
    for (verb, flags) in [("remove", &[][..]), ("forget", &["--everywhere"])] {
        for (name, put) in puts {
            for (is_alone, has_later) in [(true, false), (false, false), (true, true), (false, true)] {
                let home = tempfile::tempdir().unwrap();
                let folder = &home.path().join("memory");
                learn(folder, "amber kettle", "Fill it first.");
                let id = learn(folder, "parsing CSV exports", "Use the csv module.");
                let old = fs::read_to_string(folder.join("skills_playbook.json")).unwrap();
                copy(folder, &home.path().join("kept"));
                run(folder, &[&["remove", id.as_str()], flags].concat());
                if has_later {
                    learn(folder, "brass lantern", "Trim the wick.");
                }
                if is_alone {
                    without_others(folder);
                }
                put(folder, &old);
                for when in ["at once", "after a commit"] {
                    let triggers = triggers(folder);
                    assert!(
                        !triggers.contains(&"parsing CSV exports".to_owned()),
                        "{verb}, {name}, {when}: {triggers:?}"
                    );
                    learn(folder, when, "Nothing of it.");
                }
                let left = triggers(folder);
                for trigger in ["amber kettle", "at once", "after a commit"] {
                    assert!(left.iter().any(|one| one == trigger), "{verb}, {name}, {is_alone}: {left:?}");
                }
            }
        }
    }
}

#[test]
fn a_removal_that_was_undone_or_taken_out_or_never_committed_is_not_applied() {
    for case in ["undone", "not committed", "taken out by hand"] {
        let home = tempfile::tempdir().unwrap();
        let folder = &home.path().join("memory");
        let id = learn(folder, "parsing CSV exports", "Use the csv module.");
        let old = fs::read_to_string(folder.join("skills_playbook.json")).unwrap();
        let change = run(folder, &["remove", &id])[0]["change"].as_str().unwrap().to_owned();
        let archive = folder.join("archive.jsonl");
        let lines = fs::read_to_string(&archive).unwrap();
        if case == "undone" {
            run(folder, &["undo", &change]);
        } else if case == "not committed" {
            // As after a power loss between the archive's sync and the commit.
            let (removal, mark) = lines.trim_end().rsplit_once('\n').unwrap();
            assert!(mark.contains("committed"), "{mark}");
            fs::write(&archive, format!("{removal}\n")).unwrap();
        }
        let playbook = folder.join("skills_playbook.json");
        if case == "taken out by hand" {
            let mut file: Value = serde_json::from_str(&fs::read_to_string(&playbook).unwrap()).unwrap();
            let lesson = file["removed"][0]["lesson"].take();
            (file["lessons"], file["removed"]) = (Value::Array(vec![lesson]), Value::Array(Vec::new()));
            fs::write(&playbook, file.to_string()).unwrap();
        } else {
            fs::remove_file(folder.join("skills_playbook.json.bak")).unwrap();
            fs::write(&playbook, old).unwrap();
        }
        assert_eq!(triggers(folder), ["parsing CSV exports"], "{case}");
        learn(folder, "amber kettle", "Fill it first.");
        assert_eq!(triggers(folder).len(), 2, "{case}");
    }
}

#[test]
fn a_backup_is_restored_in_place_and_elsewhere_and_a_damaged_one_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let (folder, other) = (&home.path().join("memory"), &home.path().join("other"));
    learn(folder, "parsing CSV exports", "Use the csv module.");
    run(folder, &["context", "parsing CSV exports"]);
    let backup = home.path().join("backup");
    let backup = backup.to_str().unwrap();
    run(folder, &["backup", backup]);
    assert!(!adage(folder).args(["backup", backup]).output().unwrap().status.success(), "it is not empty");
    learn(folder, "rotating ssh keys", "Keep both until every host took the new one.");
    for place in [folder, other] {
        run(place, &["restore", backup]);
        assert_eq!(triggers(place), ["parsing CSV exports"]);
        assert_eq!(run(place, &["list", "--stats"])[0]["retrievals"], 1);
        learn(place, "amber kettle", "Fill it first.");
        assert_eq!(triggers(place).len(), 2);
    }
    let copy = Path::new(backup).join("skills_playbook.json");
    let whole = fs::read(&copy).unwrap();
    fs::write(&copy, &whole[..whole.len() - 9]).unwrap();
    let refused = adage(folder).args(["restore", backup]).output().unwrap();
    assert!(
        !refused.status.success() && text(&refused.stderr).contains("not a whole backup"),
        "{}",
        text(&refused.stderr)
    );
}

#[test]
fn an_edit_is_listed_until_it_is_accepted_and_a_repair_lists_its_sources() {
    let home = tempfile::tempdir().unwrap();
    let folder = &home.path().join("memory");
    learn(folder, "parsing CSV exports", "Use the csv module.");
    let file = folder.join("skills_playbook.json");
    let whole = fs::read_to_string(&file).unwrap();
    fs::write(&file, whole.replace("Use the csv module.", "Use the CSV module!")).unwrap();
    let checked = adage(folder).args(["doctor", "--check"]).output().unwrap();
    assert!(text(&checked.stdout).contains("was edited in the file"), "{}", text(&checked.stdout));
    learn(folder, "rotating ssh keys", "Keep both until every host took the new one.");
    assert_eq!(adage(folder).args(["doctor", "--check"]).status().unwrap().code(), Some(1));
    run(folder, &["doctor", "--accept"]);
    run(folder, &["doctor", "--check"]);
    // Half of the file is missing: the first rows come from the file, the others from the backup.
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let before = fs::read(&file).unwrap();
    let would = &run(folder, &["doctor", "--repair", "--dry-run"])[0];
    assert_eq!(fs::read(&file).unwrap(), before);
    let did = &run(folder, &["doctor", "--repair"])[0];
    let taken = |repair: &Value| ["n_from_file", "n_from_backup"].map(|key| repair["recovery"][key].as_u64().unwrap());
    assert_eq!((taken(would), taken(would).iter().sum::<u64>()), (taken(did), 2));
    assert_eq!(triggers(folder), ["parsing CSV exports", "rotating ssh keys"]);
}

#[test]
fn a_stuck_holder_is_named_to_writers_and_readers_answer_at_once() {
    let home = tempfile::tempdir().unwrap();
    let folder = &home.path().join("memory");
    learn(folder, "parsing CSV exports", "Use the csv module.");
    let lock = File::options().append(true).open(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    let timed = |arguments: &[&str]| -> (Output, Duration) {
        let begun = Instant::now();
        let output = adage(folder).args(arguments).output().unwrap();
        (output, begun.elapsed())
    };
    let (learned, waited) = timed(&["learn", "--trigger", "amber kettle", "--solution", "Fill it first."]);
    let said = text(&learned.stderr);
    assert!(!learned.status.success() && said.contains("waiting for the lock"), "{said}");
    assert!(said.contains(&format!("is locked by process {}", std::process::id())), "{said}");
    assert!(waited < Duration::from_secs(4), "{waited:?}");
    for arguments in [vec!["context", "parsing CSV exports"], vec!["list"], vec!["doctor", "--check"], vec!["doctor"]] {
        let (answer, waited) = timed(&arguments);
        assert!(arguments == ["doctor"] || answer.status.success(), "{arguments:?}: {}", text(&answer.stderr));
        assert!(waited < Duration::from_secs(1), "{arguments:?}: {waited:?}");
        assert!(!text(&answer.stderr).contains("counted"), "{}", text(&answer.stderr));
    }
    drop(lock);
    assert_eq!(run(folder, &["list", "--stats"])[0]["n_lessons"], 1);
    learn(folder, "amber kettle", "Fill it first.");
    assert_eq!(run(folder, &["list", "--stats"])[0]["retrievals"], 1);
}

/// A full disk: every write of the process fails.
#[cfg(unix)]
#[test]
fn on_a_full_disk_a_context_is_given_and_a_learn_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let folder = &home.path().join("memory");
    learn(folder, "parsing CSV exports", "Use the csv module.");
    let full = |arguments: &[&str]| {
        let mut command = Command::new("bash");
        command.args(["-c", "set -o pipefail; trap '' XFSZ; ulimit -f 0; \"$@\" 2>&1 | cat", "-"]);
        command.arg(env!("CARGO_BIN_EXE_adage")).args(["--embedder", "hashing", "--dir"]).arg(folder);
        let output = command.args(arguments).env("ADAGE_TRUST", "all").output().unwrap();
        (output.status.success(), text(&output.stdout))
    };
    let context = full(&["context", "parsing CSV exports"]);
    assert!(context.0 && context.1.contains("Use the csv module."), "{context:?}");
    assert!(context.1.contains("may not be counted"), "{context:?}");
    let listed = full(&["list"]);
    assert!(listed.0 && listed.1.contains("parsing CSV exports"), "{listed:?}");
    let learned = full(&["learn", "--trigger", "amber kettle", "--solution", "Fill it first."]);
    assert!(!learned.0 && learned.1.contains("could not"), "{learned:?}");
    assert_eq!(triggers(folder), ["parsing CSV exports"]);
    learn(folder, "amber kettle", "Fill it first.");
}
