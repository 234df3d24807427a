//! The setting of an attack: two people, their folders, and the violations that were found.

use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::program::{Person, Said};

/// The marker of text that another user wrote and no one here admitted.
pub(super) const HOSTILE: &str = "quagga";
/// The marker of text that the user learned.
pub(super) const OWN: &str = "okapi";
/// The marker of text that a team mate wrote and the user admitted.
pub(super) const TEAM: &str = "bongo";
/// The subject of every lesson of the attacks.
pub(super) const TASK: &str = "deploy the docs";
/// The default folder of a project's memory.
pub(super) const MEMORY: &str = ".adage";

/// Commands that print content of a memory. None may print what was not admitted.
const READERS: [&[&str]; 11] = [
    &["context", TASK],
    &["context"],
    &["context", TASK, "--json", "--explain"],
    &["context", TASK, "--peek", "--tier", "lexical", "--limit", "50"],
    &["list", "--limit", "1000"],
    &["show", TASK, "--json"],
    &["list", "--mistakes", "--limit", "1000"],
    &["export"],
    &["export", "--format", "agents"],
    &["skills", "match", TASK, "--block"],
    &["history", "--json"],
];

pub(super) struct Ground {
    /// Removes everything at the end.
    _home: tempfile::TempDir,
    root: PathBuf,
    /// The user.
    pub(super) user: Person,
    /// The author of the folder: another account, or the same one on another machine.
    pub(super) other: Person,
    faults: RefCell<Vec<String>>,
}

impl Ground {
    pub(super) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        let (user, other) = (Person::new(root.join("home-of-user")), Person::new(root.join("home-of-other")));
        Self { _home: home, root, user, other, faults: RefCell::default() }
    }

    /// A path in the test folder, not created yet.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// A folder in the test folder.
    pub(super) fn folder(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    pub(super) fn faults(&self) -> Vec<String> {
        self.faults.borrow().clone()
    }

    pub(super) fn claim(&self, holds: bool, fault: impl Into<String>) {
        if !holds {
            self.faults.borrow_mut().push(fault.into());
        }
    }

    /// An ordinary call succeeds.
    pub(super) fn does(&self, person: &Person, directory: &Path, arguments: &[&str]) -> Said {
        let said = person.adage(directory, arguments);
        self.claim(said.is_done(), format!("the honest call {arguments:?} fails: {}", said.brief()));
        said
    }

    /// No command prints the hostile marker.
    pub(super) fn is_silent(&self, person: &Person, directory: &Path, case: &str) {
        self.is_silent_in(person, directory, &[], case);
    }

    /// The same, with options before each command.
    pub(super) fn is_silent_in(&self, person: &Person, directory: &Path, options: &[&str], case: &str) {
        for reader in READERS {
            let said = person.adage(directory, &[options, reader].concat());
            let has_ended = said.code.is_some_and(|code| (0..=2).contains(&code));
            self.claim(has_ended, format!("{case}: {reader:?} crashed or hung: {}", said.brief()));
            self.claim(!said.says(HOSTILE), format!("{case}: {reader:?} speaks: {}", said.brief()));
        }
    }

    /// The folder is unknown: a context is empty, and one line says what to do. No other command prints its content.
    pub(super) fn is_unknown(&self, person: &Person, directory: &Path, case: &str) {
        let said = person.adage(directory, &["context", TASK]);
        let is_asked = said.is_done() && said.out.is_empty() && said.err.contains("adage trust");
        self.claim(is_asked, format!("{case}: no empty context with one question: {}", said.brief()));
        let n_lines = said.err.lines().count();
        self.claim(n_lines == 1, format!("{case}: {n_lines} lines on standard error: {}", said.brief()));
        self.is_silent(person, directory, case);
    }

    /// The context of the task has this word.
    pub(super) fn speaks(&self, person: &Person, directory: &Path, word: &str, case: &str) {
        let said = person.adage(directory, &["context", TASK, "--limit", "50", "--max-tokens", "20000"]);
        self.claim(
            said.is_done() && said.out.to_lowercase().contains(word),
            format!("{case}: no {word}: {}", said.brief()),
        );
    }

    /// The user learns a lesson of their own.
    pub(super) fn learns(&self, directory: &Path) {
        let arguments =
            ["learn", "--trigger", TASK, "--solution", "call okapi first", "--mistake", "okapi was forgotten"];
        self.does(&self.user, directory, &arguments);
    }
}

/// Replaces the text of a file, and makes the folders above it.
pub(super) fn write(path: &Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Has the user's settings admit what quotes them, after these other settings.
pub(super) fn admit_quotes(ground: &Ground, other: &str) {
    use std::os::unix::fs::PermissionsExt;
    let folder = ground.user.home.join("config/adage");
    write(&folder.join("config.toml"), format!("{other}[capture]\nadmit = \"quoted\"\n"));
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
}

/// Copies a folder as `cp -r` does: links stay links.
pub(super) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            copy(&source, &target);
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&source).unwrap(), &target).unwrap();
        } else {
            fs::copy(&source, &target).unwrap();
        }
    }
}

/// Every file below a folder with its mode and bytes, one a line.
pub(super) fn contents(folder: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let about = path.symlink_metadata().unwrap();
            if about.is_dir() {
                folders.push(path);
            } else if about.is_file() {
                let bytes = fs::read(&path).unwrap();
                lines.push(format!(
                    "{} {:o} {:?} {:?}",
                    path.display(),
                    about.permissions().mode(),
                    about.modified(),
                    bytes
                ));
            }
        }
    }
    lines.sort();
    lines
}

/// A session of Claude Code in which the user types these turns, and the agent answers each.
pub(super) fn claude_code_session(id: &str, turns: impl IntoIterator<Item = String>) -> String {
    let turn = |(number, text): (usize, String)| {
        let at = |second: u32| format!("2026-02-28T10:{number:02}:{second:02}Z");
        let user = json!({"type": "user", "sessionId": id, "uuid": format!("u{number}"), "timestamp": at(0),
            "message": {"role": "user", "content": text}});
        let agent = json!({"type": "assistant", "sessionId": id, "uuid": format!("a{number}"), "timestamp": at(30),
            "message": {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}});
        format!("{user}\n{agent}\n")
    };
    turns.into_iter().enumerate().map(turn).collect()
}
