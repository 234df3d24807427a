//! The folder is the same in every spelling, from every working directory, and after a move.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use adage_review::{Inbox, PatchKind};

use super::ground::{listing, walk};
use super::memory::open;
use super::run::{Run, command, finish};

/// Enough large notes that an apply takes long enough to be killed.
const N_NOTES: usize = 24;
const N_LINES: usize = 12_000;

/// Where the program is called from, and what it is called with. `{home}` is the folder that holds everything.
#[derive(Clone, Copy)]
struct Way {
    directory: &'static str,
    /// The option for the folder; the default without.
    dir: Option<&'static str>,
    prelude: &'static str,
}

const fn way(directory: &'static str, dir: &'static str) -> Way {
    Way { directory, dir: Some(dir), prelude: "" }
}

const DEFAULT: Way = Way { directory: "project", dir: None, prelude: "" };
const ABSOLUTE: Way = way("elsewhere", "{home}/project/.adage");

/// Every one leads to `project/.adage`.
const WAYS: [(&str, Way); 20] = [
    ("the default", DEFAULT),
    ("a plain name", way("project", ".adage")),
    ("a dot before the name", way("project", "./.adage")),
    ("many dots before the name", way("project", "././/./.adage")),
    ("a slash after the name", way("project", ".adage/")),
    ("slashes and a dot after the name", way("project", ".adage//.")),
    ("up and down again", way("project", "../project/.adage")),
    ("down and up again", way("project", "deep/../.adage")),
    ("through the folder itself", way("project", ".adage/../.adage")),
    ("from below", way("project/deep/er", "../../.adage")),
    ("from beside", way("elsewhere", "../project/.adage")),
    ("from above", way("", "project/.adage")),
    ("from within", way("project/.adage", ".")),
    ("from within, and out again", way("project/.adage", "../.adage")),
    ("an absolute path", ABSOLUTE),
    ("an absolute path with dots", way("elsewhere", "{home}/elsewhere/../project/./.adage/")),
    ("an absolute path through a link above the folder", way("elsewhere", "{home}/way-in/.adage")),
    ("a relative path through a link above the folder", way("elsewhere", "../way-in/.adage")),
    ("a working directory that is a link", Way { directory: "way-in", ..DEFAULT }),
    ("another home", Way { prelude: "export HOME=/nonexistent; unset PWD", ..DEFAULT }),
];

struct Ground {
    home: tempfile::TempDir,
}

impl Ground {
    /// A memory with notes and a patch of all of them.
    fn new(n_notes: usize, n_lines: usize) -> Self {
        let home = tempfile::tempdir().unwrap();
        for folder in ["project/deep/er", "elsewhere"] {
            fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        symlink("project", home.path().join("way-in")).unwrap();
        let ground = Self { home };
        let memory = ground.path("project/.adage");
        let playbook = open(&memory);
        playbook.learn_lesson(adage::build_lesson("parse dates", "use dateutil")).unwrap();
        let diff = |n: usize| {
            let note = note(&memory, n);
            fs::write(&note, format!("old\n{}", "line\n".repeat(n_lines))).unwrap();
            let after = if n_lines > 0 { " line\n" } else { "" };
            let (from, n_after) = (note.display(), 1 + usize::from(n_lines > 0));
            format!("--- {from}\n+++ {from}\n@@ -1,{n_after} +1,{n_after} @@\n-old\n+new\n{after}")
        };
        let patch = (0..n_notes).map(diff).collect::<Vec<_>>().concat();
        Inbox::of(&playbook).propose(&PatchKind::Private, patch.as_bytes()).unwrap();
        ground
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().canonicalize().unwrap().join(name)
    }

    fn command(&self, way: Way, arguments: &[&str]) -> std::process::Command {
        let home = self.path("").to_str().unwrap().trim_end_matches('/').to_owned();
        let dir = way.dir.map(|dir| dir.replace("{home}", &home));
        let mut words: Vec<&str> = arguments.to_vec();
        words.extend(dir.iter().flat_map(|dir| ["--dir", dir.as_str()]));
        // The link is in the way as it is spelled.
        command(&self.home.path().join(way.directory), way.prelude, &words)
    }

    fn run(&self, way: Way, arguments: &[&str]) -> Run {
        finish(self.command(way, arguments))
    }
}

fn note(memory: &Path, n: usize) -> PathBuf {
    memory.join(format!("note-{n:02}.md"))
}

/// How many of the notes begin with a word.
fn n_notes(memory: &Path, word: &str) -> usize {
    let begins = |n: &usize| fs::read_to_string(note(memory, *n)).unwrap_or_default().starts_with(word);
    (0..N_NOTES).filter(begins).count()
}

fn report(succeeded: &[String], n_all: usize) {
    assert!(succeeded.is_empty(), "{} of {n_all} attacks succeed:\n{}", succeeded.len(), succeeded.join("\n"));
}

fn apply_and_undo(applied: Way, undone: Way) -> Result<(), String> {
    let ground = Ground::new(2, 0);
    let memory = ground.path("project/.adage");
    let run = ground.run(applied, &["review", "apply", "private", "--json"]);
    if !run.is_done() || n_notes(&memory, "new") != 2 {
        return Err(format!("not applied: {run:?}"));
    }
    let change = run.field("change");
    let listed = ground.run(undone, &["review", "history", "--json"]);
    if !listed.says(&change) {
        return Err(format!("not in the history: {listed:?}"));
    }
    let run = ground.run(undone, &["review", "undo", &change]);
    if !run.is_done() || n_notes(&memory, "old") != 2 {
        return Err(format!("not undone: {run:?}"));
    }
    let lessons = ground.run(undone, &["list"]);
    if lessons.says("parse dates") { Ok(()) } else { Err(format!("the lesson is lost: {lessons:?}")) }
}

#[test]
fn a_change_is_undone_with_the_same_spelling_of_the_folder() {
    let mut succeeded = Vec::new();
    for (name, way) in WAYS {
        succeeded.extend(apply_and_undo(way, way).err().map(|fault| format!("- {name}: {fault}")));
    }
    report(&succeeded, WAYS.len());
}

#[test]
fn a_change_is_undone_with_another_spelling_of_the_folder() {
    let mut succeeded = Vec::new();
    for (n, (name, applied)) in WAYS.iter().enumerate() {
        let (other, undone) = WAYS[(n + 7) % WAYS.len()];
        let fault = apply_and_undo(*applied, undone).err();
        succeeded.extend(fault.map(|fault| format!("- {name}, then {other}: {fault}")));
    }
    report(&succeeded, WAYS.len());
}

/// The folder can be opened on another machine: what a journal is about is named from the roots that the host names.
#[test]
fn a_journal_contains_no_absolute_path_of_the_folder() {
    let mut succeeded = Vec::new();
    for (name, way) in WAYS {
        let ground = Ground::new(2, 0);
        let run = ground.run(way, &["review", "apply", "private"]);
        assert!(run.is_done(), "{name}: {run:?}");
        for path in walk(&ground.path("project/.adage/edits")) {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            // Behind the header are contents; the one of the patch names absolute paths, as it has to.
            let header = text.lines().next().unwrap_or_default();
            let is_of_machine = header.contains(ground.path("").to_str().unwrap()) || header.contains("../");
            if is_of_machine || header.contains(".adage/") {
                succeeded.push(format!("- {name}: {header:.200}"));
            }
        }
    }
    report(&succeeded, WAYS.len());
}

#[test]
fn an_export_is_undone_from_any_working_directory() {
    let mut succeeded = Vec::new();
    let (plain, above) = ("AGENTS.md", "../project/AGENTS.md");
    for (name, into, way, file) in [
        ("the same spelling", plain, DEFAULT, plain),
        ("a dot", plain, DEFAULT, "./AGENTS.md"),
        ("from beside", plain, way("elsewhere", "../project/.adage"), above),
        ("from beside first", "deep/../AGENTS.md", DEFAULT, plain),
        ("from below", plain, way("project/deep/er", "../../.adage"), "../../AGENTS.md"),
        ("from a working directory that is a link", plain, Way { directory: "way-in", ..DEFAULT }, plain),
    ] {
        let ground = Ground::new(2, 0);
        let file_at = ground.path("project/AGENTS.md");
        fs::write(&file_at, "# Mine\n").unwrap();
        let exported = ground.run(DEFAULT, &["export", "--format", "agents", "--into", into, "--json"]);
        let change = if exported.is_done() { exported.field("change") } else { "none".to_owned() };
        let undone = ground.run(way, &["export", "--undo", &change, "--into", file]);
        if fs::read_to_string(&file_at).unwrap() != "# Mine\n" || !undone.is_done() {
            succeeded.push(format!("- {name}: {exported:?} {undone:?}"));
        }
    }
    report(&succeeded, 6);
}

#[test]
fn a_deleted_working_directory_is_an_error_only_when_needed() {
    let prelude = "mkdir ../gone; cd ../gone; rmdir ../gone";
    let ground = Ground::new(2, 0);
    let run = ground.run(Way { prelude, ..ABSOLUTE }, &["review", "apply", "private"]);
    assert!(run.is_done() && n_notes(&ground.path("project/.adage"), "new") == 2, "{run:?}");
    for arguments in [&["list"][..], &["learn", "--trigger", "a b", "--solution", "c"], &["review", "apply", "private"]]
    {
        let run = ground.run(Way { prelude, ..DEFAULT }, arguments);
        assert!(matches!(run.code, Some(0 | 1)) && !run.says("panicked"), "{run:?}");
        assert!(arguments[0] != "learn" || run.code == Some(1), "{run:?}");
    }
}

/// A folder whose apply was killed when some of its notes were changed and some were not.
fn killed(way: Way) -> Ground {
    for _ in 0..40 {
        let ground = Ground::new(N_NOTES, N_LINES);
        let memory = ground.path("project/.adage");
        let begins = |n| fs::read(note(&memory, n)).is_ok_and(|bytes: Vec<u8>| bytes.starts_with(b"new"));
        let mut child = ground.command(way, &["review", "apply", "private"]).spawn().unwrap();
        while child.try_wait().unwrap().is_none() && !begins(2) {
            std::thread::yield_now();
        }
        let _ = child.kill();
        child.wait().unwrap();
        if (1..N_NOTES).contains(&n_notes(&memory, "new")) {
            return ground;
        }
    }
    panic!("no process was killed between the first and the last note");
}

/// What is done to the folder after the process was killed, and how it is opened then.
struct Recovery {
    name: &'static str,
    killed: Way,
    /// Moves folders, by a shell in the home folder.
    meanwhile: &'static str,
    opened: Way,
    /// Where the folder is then.
    memory: &'static str,
}

const MEMORY: &str = "project/.adage";

fn recovery(name: &'static str, killed: Way, opened: Way) -> Recovery {
    Recovery { name, killed, meanwhile: "true", opened, memory: MEMORY }
}

impl Recovery {
    fn moved(self, meanwhile: &'static str, memory: &'static str) -> Self {
        Self { meanwhile, memory, ..self }
    }

    fn faults(&self) -> Vec<String> {
        let ground = killed(self.killed);
        let run = std::process::Command::new("sh").args(["-ec", self.meanwhile]).current_dir(ground.path("")).status();
        assert!(run.unwrap().success(), "{}", self.meanwhile);
        let decoy = ground.path("decoy-of").exists().then(|| listing(&ground.path(MEMORY)));
        let run = ground.run(self.opened, &["review", "check"]);
        let memory = ground.path(self.memory);
        let (n_old, n_new) = (n_notes(&memory, "old"), n_notes(&memory, "new"));
        let mut faults = Vec::new();
        if n_old != N_NOTES && n_new != N_NOTES {
            faults.push(format!("{n_new} of {N_NOTES} notes are changed: {:?} {}", run.code, run.err));
        }
        // In another place, the paths of its notes are not those of the memory: it is kept aside.
        let is_kept = walk(&memory.join(".inbox")).iter().any(|path| path.to_string_lossy().contains("extraction"));
        if is_kept == (n_new == N_NOTES) {
            faults.push(format!("with {n_new} notes changed, the proposal is wrong"));
        }
        let is_left = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(".adage-edit-");
        let left = walk(&memory).into_iter().filter(is_left).count();
        if left > 0 {
            faults.push(format!("{left} temporary files are left"));
        }
        if decoy.is_some_and(|decoy| decoy != listing(&ground.path(MEMORY))) {
            faults.push("what is now in the former place was changed".to_owned());
        }
        if !ground.run(self.opened, &["list"]).says("parse dates") {
            faults.push("the lesson is lost".to_owned());
        }
        faults
    }
}

fn check(recoveries: &[Recovery]) {
    let mut succeeded = Vec::new();
    for recovery in recoveries {
        let faults = recovery.faults();
        if !faults.is_empty() {
            succeeded.push(format!("- {}: {}", recovery.name, faults.join("; ")));
        }
    }
    report(&succeeded, recoveries.len());
}

#[test]
fn recovery_after_a_kill_works_with_any_spelling_of_the_folder() {
    let beside = way("elsewhere", "../project/.adage");
    check(&[
        recovery("the default, then the same", DEFAULT, DEFAULT),
        recovery("the default, then an absolute path", DEFAULT, ABSOLUTE),
        recovery("an absolute path, then the default", ABSOLUTE, DEFAULT),
        recovery("from beside, then from above", beside, way("", "project/.adage")),
        recovery("the default, then from below", DEFAULT, way("project/deep/er", "../../.adage")),
        recovery("the default, then from within", DEFAULT, way("project/.adage", ".")),
        recovery("from within, then the default", way("project/.adage", "."), DEFAULT),
        recovery("through a link above, then without", way("elsewhere", "{home}/way-in/.adage"), DEFAULT),
        recovery(
            "the default, then a working directory that is a link",
            DEFAULT,
            Way { directory: "way-in", ..DEFAULT },
        ),
        recovery("the default, then another home", DEFAULT, WAYS[19].1),
        recovery("through a link that is gone by then", way("elsewhere", "../way-in/.adage"), DEFAULT)
            .moved("rm way-in", MEMORY),
        recovery("through a link that leads elsewhere by then", way("elsewhere", "{home}/way-in/.adage"), DEFAULT)
            .moved("rm way-in; ln -s elsewhere way-in", MEMORY),
    ]);
}

#[test]
fn recovery_after_a_kill_works_in_a_moved_folder() {
    const COPY: &str = "cp -a project copy; touch decoy-of";
    let (moved, inner) = (way("elsewhere", "{home}/moved/.adage"), way("elsewhere", ".adage"));
    let copy = way("copy", ".adage");
    check(&[
        recovery("the project is moved", ABSOLUTE, moved).moved("mv project moved", "moved/.adage"),
        recovery("the project of a relative folder is moved", DEFAULT, moved).moved("mv project moved", "moved/.adage"),
        recovery("the folder is moved into another project", ABSOLUTE, inner)
            .moved("mv project/.adage elsewhere/.adage", "elsewhere/.adage"),
        recovery("the folder is called otherwise", DEFAULT, way("project", "memory"))
            .moved("mv project/.adage project/memory", "project/memory"),
        recovery("the folder is copied, and the copy opened first", ABSOLUTE, copy).moved(COPY, "copy/.adage"),
        recovery("a relative folder is copied, and the copy opened first", DEFAULT, copy).moved(COPY, "copy/.adage"),
        recovery("the folder is copied, and the original opened", ABSOLUTE, DEFAULT)
            .moved("cp -a project copy", MEMORY),
        recovery("somebody else has the former place", ABSOLUTE, moved)
            .moved("cp -a project moved; rm -r project/.adage/edits; touch decoy-of", "moved/.adage"),
        recovery("a link is in the former place", ABSOLUTE, moved)
            .moved("mv project moved; ln -s moved project", "moved/.adage"),
        recovery("the folder is moved and moved back", ABSOLUTE, DEFAULT)
            .moved("mv project moved; mv moved project", MEMORY),
    ]);
}

/// A process goes on while its project is moved: nothing that it acknowledged is lost.
#[test]
fn moving_a_project_under_a_process_loses_nothing() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;
    for way in [DEFAULT, way("project/deep/er", "../../.adage"), ABSOLUTE] {
        let ground = Ground::new(2, 0);
        let mut child = ground.command(way, &["learn", "--json"]).stdin(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut acknowledged = Vec::new();
        for n in 0..6 {
            let trigger = format!("task{n} topic{n} subject{n}");
            if writeln!(input, r#"{{"trigger": "{trigger}", "solution": "rule{n} rule{n}x"}}"#).is_err() {
                break;
            }
            match output.next() {
                Some(line) if line.as_ref().is_ok_and(|line| line.contains("\"id\"")) => acknowledged.push(trigger),
                _ => break,
            }
            if n == 2 {
                fs::rename(ground.path("project"), ground.path("moved")).unwrap();
            }
        }
        drop(input);
        child.wait().unwrap();
        let places =
            [MEMORY, "moved/.adage"].map(|place| fs::read_to_string(ground.path(place).join("skills_playbook.json")));
        for trigger in &acknowledged {
            let is_kept = places.iter().flatten().any(|text| text.contains(trigger));
            assert!(is_kept, "{:?} from {}: {trigger} is lost", way.dir, way.directory);
        }
        assert!(acknowledged.len() >= 3, "{acknowledged:?}");
        assert!(!ground.path(MEMORY).exists(), "{:?}: a folder appears in the former place", way.dir);
    }
}
