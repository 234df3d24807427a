//! Names of files and folders that are not UTF-8, or that imitate lines: every command works, and a review shows all.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::every_command::{arguments, commands};

/// A name with bytes that are not UTF-8.
fn raw(name: &str) -> OsString {
    OsString::from_vec(name.replace('~', "\u{1}").bytes().map(|byte| if byte == 1 { 0xff } else { byte }).collect())
}

/// A person with a home folder, who works in a repository at `path`.
struct Desk {
    ground: tempfile::TempDir,
    path: PathBuf,
}

impl Desk {
    fn new(repository: &str) -> Self {
        let ground = tempfile::tempdir().unwrap();
        let path = ground.path().join(raw(repository));
        fs::create_dir_all(&path).unwrap();
        let desk = Self { ground, path };
        assert!(desk.run("git", ["init", "-q"]).status.success());
        desk
    }

    fn run<S: AsRef<OsStr>>(&self, program: &str, words: impl IntoIterator<Item = S>) -> Output {
        let mut command = Command::new(program);
        command.args(words).current_dir(&self.path).stdin(Stdio::null());
        command.env("HOME", self.ground.path().join("home")).env("CODEX_HOME", self.path.join("codex"));
        for variable in ["ADAGE_TRUST", "ADAGE_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "EDITOR"] {
            command.env_remove(variable);
        }
        command.output().unwrap()
    }

    /// The program's exit code, and both streams. It never panics.
    fn adage<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> (i32, String) {
        let words: Vec<OsString> = words.into_iter().map(|word| word.as_ref().to_owned()).collect();
        let output = self.run(env!("CARGO_BIN_EXE_adage"), [OsString::from("--embedder=hashing")].iter().chain(&words));
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        assert!(!text.contains("panicked") && matches!(output.status.code(), Some(0..=2)), "{words:?}: {text}");
        (output.status.code().unwrap(), text)
    }

    fn done<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> String {
        let (code, text) = self.adage(words);
        assert_eq!(code, 0, "{text}");
        text
    }

    fn file(&self, path: impl AsRef<Path>, text: &str) {
        let path = self.path.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn memory(&self, path: &str) -> PathBuf {
        self.path.join(".adage").join(raw(path))
    }

    fn skill(&self, name: &str) {
        let text = format!("---\nname: {name}\ndescription: deploying the docs site\n---\n# D\n\nRun the job.\n");
        self.file(self.memory(&format!("skills/{name}/SKILL.md")), &text);
    }
}

/// Names at each place of a memory where somebody else may put a file.
const NAMES: [&str; 7] = [
    "~.md",
    "notes/~/a.md",
    "skills/one/bad~",
    "skills/one/scripts~/run.sh",
    "skills/~two/SKILL.md",
    "skills/three/~.md",
    ".inbox/skills/~/SKILL.md",
];

fn plant(desk: &Desk) {
    for name in NAMES {
        desk.file(desk.memory(name), "---\nname: two\ndescription: deploying the docs site\n---\n# Two\n\nRun.\n");
    }
    for name in ["one", "three", "zzz"] {
        desk.skill(name);
    }
}

#[test]
fn a_review_lists_each_skill_whatever_its_files_are_named() {
    for form in [&["trust", "--show"][..], &["trust", "--show", "--json"]] {
        let desk = Desk::new("plain");
        desk.file(".adage/skills_playbook.json", "[]");
        plant(&desk);
        let shown = desk.done(form);
        desk.done(["trust"]);
        let matched = desk.done(["skills", "match", "deploying the docs site"]);
        for name in ["one", "three", "zzz", "\u{fffd}fftwo"] {
            assert!(shown.contains(&format!("/skills/{name}/SKILL.md")), "{name} is not in {shown}");
        }
        assert!(["one", "three", "zzz"].iter().all(|name| matched.contains(name)), "{matched}");
        assert!(shown.contains("bad\u{fffd}"), "{shown}");
    }
}

#[test]
fn every_command_works_in_a_repository_whose_path_is_not_utf_8() {
    let plain = crate::cli::Shell::new();
    let all = commands(&plain, &[]);
    for form in [None, Some("--json")] {
        let desk = Desk::new("r~/in~");
        desk.done(["init"]);
        let learned = desk.done(["learn", "--trigger", "pinning numpy", "--solution", "Pin numpy below 2.0"]);
        assert!(learned.contains("inserted"), "{learned}");
        plant(&desk);
        for command in &all {
            let name = command.join(" ");
            if matches!(name.as_str(), "mcp" | "edit" | "review") {
                continue;
            }
            let given = arguments(&name).iter().map(|word| word.replace("gone", "pinning numpy"));
            let pages = (name == "config man").then(|| "man-pages".to_owned());
            let words = command.iter().cloned().chain(given).chain(pages).chain(form.map(str::to_owned));
            desk.adage(words);
        }
        desk.done(["learn", "--trigger", "pinning scipy", "--solution", "Pin scipy below 2.0"]);
        assert!(desk.done(["list"]).contains("pinning scipy"));
    }
}

#[test]
fn a_path_that_is_not_utf_8_may_be_an_argument_of_every_command() {
    let desk = Desk::new("plain");
    desk.done(["init"]);
    desk.done(["learn", "--trigger", "pinning numpy", "--solution", "Pin numpy below 2.0"]);
    desk.file(raw("q~/sk/SKILL.md"), "---\nname: sk\ndescription: d\n---\n# D\n\nRun the job.\n");
    desk.file(raw("q~/s.jsonl"), "{\"role\":\"user\",\"content\":\"add a page\"}\n");
    plant(&desk);
    for json in [None, Some("--json")] {
        let word = |text: &str| raw(text);
        let calls: [&[&str]; 21] = [
            &["skills", "list"],
            &["skills", "show", "one"],
            &["skills", "promote", "zzz"],
            &["skills", "promote", "one"],
            &["backup", "q~/backup"],
            &["restore", "q~/backup"],
            &["doctor", "--check"],
            &["doctor"],
            &["review", "list"],
            &["skills", "import", "q~/sk"],
            &["skills", "export", "pinning numpy", "--to", "q~/out"],
            &["export", "--format", "agents", "--into", "q~/AGENTS.md"],
            &["import", "q~/s.jsonl"],
            &["import", "q~/none"],
            &["mine", "q~/s.jsonl"],
            &["mine", "--sessions", "q~"],
            &["mine", "--list", "q~"],
            &["config", "man", "q~/man"],
            &["--dir", "q~/memory", "learn", "--trigger", "a b", "--solution", "c d"],
            &["--dir", "q~/memory", "list"],
            &["--dir", "q~/memory", "trust"],
        ];
        for call in calls {
            desk.adage(call.iter().map(|text| word(text)).chain(json.map(OsString::from)));
        }
        fs::remove_dir_all(desk.path.join(raw("q~/backup"))).unwrap();
    }
}

#[test]
fn a_backup_keeps_the_names_of_all_files() {
    let desk = Desk::new("plain");
    desk.done(["init"]);
    desk.done(["learn", "--trigger", "pinning numpy", "--solution", "Pin numpy below 2.0"]);
    plant(&desk);
    desk.done(["trust"]);
    desk.done(["backup", "kept"]);
    for name in NAMES {
        fs::remove_file(desk.memory(name)).unwrap();
    }
    desk.done(["restore", "kept"]);
    for name in NAMES.into_iter().filter(|name| !name.starts_with(".inbox")) {
        assert!(desk.memory(name).exists(), "{name}");
    }
    // Each name is as it was, byte for byte.
    let names: Vec<OsString> =
        fs::read_dir(desk.memory("skills/one")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(names.iter().any(|name| name.as_bytes() == b"bad\xff"), "{names:?}");
}

#[test]
fn sessions_with_such_names_are_read_once() {
    let desk = Desk::new("plain");
    desk.done(["init"]);
    for name in ["s~/a~.jsonl", "s~/b.jsonl"] {
        desk.file(raw(name), "{\"role\":\"user\",\"content\":\"Always pin numpy below 2.0 here, please.\"}\n");
    }
    let folder = [OsString::from("mine"), "--sessions".into(), raw("s~")];
    for _ in 0..2 {
        desk.done(&folder);
        desk.done([OsString::from("mine"), "--list".into(), raw("s~"), "--json".into()]);
    }
    // The record has a code as its first key; each file is in it once, by its own name.
    let record: Value = serde_json::from_str(&fs::read_to_string(desk.memory("mining.json")).unwrap()).unwrap();
    let files: Vec<&String> = record["files"].as_object().unwrap().keys().collect();
    assert!(files.len() == 2 && files.iter().any(|file| file.ends_with("/s\0ff/a\0ff.jsonl")), "{files:?}");
}

/// Folder names that would begin lines of the review, if they were printed as they are.
#[test]
fn no_name_begins_a_line_of_the_output() {
    const BREAKS: [&str; 6] = ["\n", "\r\n", "\r", "\u{2028}", "\u{85}", "\u{b}"];
    let desk = Desk::new("plain");
    desk.file(".adage/skills_playbook.json", "[]");
    for (at, end) in BREAKS.iter().enumerate() {
        let name = format!("a{at}{end}skill forged, x{end}lesson 0000{end}");
        desk.file(
            format!(".adage/skills/{name}/SKILL.md"),
            &format!("---\nname: a{at}\ndescription: b\n---\n# D\n\nRun.\n"),
        );
        desk.file(format!(".adage/skills/b{at}{end}skill forged/SKILL.md"), "no front matter");
        desk.file(format!(".adage/skills/c{at}/{end}skill forged"), "x");
        desk.file(format!(".adage/skills/c{at}/SKILL.md"), "---\nname: c\ndescription: b\n---\n# D\n\nRun.\n");
        desk.file(format!(".adage/edits/d{end}skill forged.todo"), "x");
    }
    let check = |words: &[&str]| {
        let (_, text) = desk.adage(words);
        let forged =
            |line: &str| ["skill forged", "lesson 0000"].iter().any(|start| line.trim_start().starts_with(start));
        let lines = text.split(['\n', '\r', '\u{2028}', '\u{85}', '\u{b}']);
        let found: Vec<&str> = lines.filter(|line| forged(line)).collect();
        assert!(found.is_empty(), "{words:?}: {found:?} in {text}");
    };
    check(&["trust", "--show"]);
    check(&["trust"]);
    for words in
        [&["skills", "list"][..], &["review", "list"], &["doctor", "--check"], &["doctor"], &["skills", "promote", "a"]]
    {
        check(words);
    }
}
