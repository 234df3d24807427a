//! A memory folder, a second folder outside it that no one named, and entries of the first that lead to the second.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::memory::{Facts, fill};
use super::run::{Run, command, finish};

/// In every text of the memory.
pub(super) const OWN: &str = "ownword";
/// In every text outside it.
pub(super) const FOREIGN: &str = "foreignword";
/// The program's files, where a link of the same name leads to the same file of the other memory.
pub(super) const MEMORY: &str = "project/.adage";

/// What is put in place of a file or folder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Plant {
    /// A link to the same file or folder of the other memory.
    Twin,
    RelativeTwin,
    /// A link to a link to a link to it.
    Chain,
    /// Another name of that file.
    HardLink,
    /// A link to a file that programs run.
    Profile,
    HardLinkedProfile,
    /// A link to a missing file in an existing folder.
    Dangling,
    /// A link to a folder outside.
    OutsideFolder,
    /// A link to another file of the memory.
    Inside(&'static str),
    Loop,
    Fifo,
    Socket,
    /// A link to a file without an end.
    Zero,
    /// A folder that is not empty.
    Folder,
    /// The original is kept.
    Nothing,
}

pub(super) struct Ground {
    home: tempfile::TempDir,
    pub(super) facts: Facts,
}

impl Ground {
    pub(super) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let facts = fill(&home.path().join(MEMORY), OWN);
        fill(&home.path().join("outside/twin"), FOREIGN);
        fs::create_dir(home.path().join("outside/empty")).unwrap();
        fs::write(home.path().join("outside/profile"), format!("# {FOREIGN}\n")).unwrap();
        fs::create_dir(home.path().join("project/sessions")).unwrap();
        fs::write(home.path().join("project/sessions/short.jsonl"), "{}\n").unwrap();
        Self { home, facts }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.home.path().canonicalize().unwrap().join(name)
    }

    pub(super) fn in_memory(&self, name: &str) -> PathBuf {
        self.path(MEMORY).join(name)
    }

    /// Puts something in the place of a file of the memory, which is kept elsewhere.
    pub(super) fn plant(&self, place: &str, plant: Plant) {
        let (at, kept) = (self.in_memory(place), self.path("kept"));
        if plant == Plant::Nothing {
            return;
        }
        if fs::symlink_metadata(&at).is_ok() {
            fs::rename(&at, kept).unwrap();
        } else {
            fs::create_dir_all(at.parent().unwrap()).unwrap();
        }
        self.put(&at, &self.path("outside/twin").join(place), plant);
    }

    /// Puts something at a path; `twin` is what it leads to where it leads to something of its kind.
    pub(super) fn put(&self, at: &Path, twin: &Path, plant: Plant) {
        let profile = self.path("outside/profile");
        match plant {
            Plant::Twin => symlink(twin, at).unwrap(),
            Plant::RelativeTwin => {
                let above = at.parent().unwrap().strip_prefix(self.path("")).unwrap().components().count();
                symlink("../".repeat(above) + twin.strip_prefix(self.path("")).unwrap().to_str().unwrap(), at).unwrap();
            }
            Plant::Chain => {
                symlink(twin, self.path("outside/second")).unwrap();
                symlink(self.path("outside/second"), self.path("first")).unwrap();
                symlink(self.path("first"), at).unwrap();
            }
            Plant::HardLink => fs::hard_link(twin, at).unwrap(),
            Plant::Profile => symlink(profile, at).unwrap(),
            Plant::HardLinkedProfile => fs::hard_link(profile, at).unwrap(),
            Plant::Dangling => symlink(self.path("outside/empty/new"), at).unwrap(),
            Plant::OutsideFolder => symlink(self.path("outside/empty"), at).unwrap(),
            Plant::Inside(name) => symlink(self.in_memory(name), at).unwrap(),
            Plant::Loop => symlink(at.file_name().unwrap(), at).unwrap(),
            Plant::Fifo => assert!(Command::new("mkfifo").arg(at).status().unwrap().success()),
            Plant::Socket => drop(UnixListener::bind(at).unwrap()),
            Plant::Zero => symlink("/dev/zero", at).unwrap(),
            Plant::Nothing => {}
            Plant::Folder => fs::create_dir_all(at.join("within")).unwrap(),
        }
    }

    /// Restores the file that was replaced.
    pub(super) fn restore(&self, place: &str) {
        let at = self.in_memory(place);
        let is_kept = self.path("kept").exists();
        match fs::symlink_metadata(&at) {
            Ok(found) if found.is_symlink() || found.is_file() && found.nlink() > 1 => fs::remove_file(&at).unwrap(),
            Ok(found) if is_kept && found.is_dir() => fs::remove_dir_all(&at).unwrap(),
            Ok(_) if is_kept => fs::remove_file(&at).unwrap(),
            _ => {}
        }
        if is_kept {
            fs::rename(self.path("kept"), at).unwrap();
        }
    }

    /// Runs the program in the project, on its folder `.adage`. Words in braces are what the facts say.
    pub(super) fn run(&self, arguments: &[&str]) -> Run {
        self.run_after("", arguments)
    }

    pub(super) fn run_after(&self, prelude: &str, arguments: &[&str]) -> Run {
        let Facts { receipt, change, edit } = &self.facts;
        let fill_in = |word: &&str| {
            let word = word.replace("{receipt}", &receipt.to_string()).replace("{change}", &change.to_string());
            word.replace("{edit}", &edit.to_string()).replace("{home}", self.path("").to_str().unwrap())
        };
        let words: Vec<String> = arguments.iter().map(fill_in).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        finish(command(&self.path("project"), prelude, &words))
    }

    /// Everything outside the memory, to the byte, the mode and the time of its last change.
    pub(super) fn outside(&self) -> String {
        listing(&self.path("outside"))
    }

    /// What of the other memory is now in files of this one; what was planted excluded.
    pub(super) fn stolen(&self, place: &str) -> Vec<String> {
        let planted = [self.in_memory(place), self.path(place)];
        let is_stolen = |path: &PathBuf| {
            let found = fs::symlink_metadata(path).unwrap();
            found.is_file() && !planted.contains(path) && contains(&fs::read(path).unwrap(), FOREIGN)
        };
        let files = walk(&self.path("project")).into_iter().filter(is_stolen);
        files.map(|path| path.display().to_string()).collect()
    }

    /// Violations after a call that met the link, for any call.
    pub(super) fn faults(&self, run: &Run, outside: &str, place: &str) -> Vec<String> {
        let mut faults = Vec::new();
        let now = self.outside();
        if now != outside {
            let changed = now.lines().filter(|line| !outside.contains(line));
            let changed: Vec<&str> = changed.map(|line| line.split(' ').next().unwrap_or(line)).collect();
            faults.push(format!("outside changed: {changed:?}"));
        }
        if run.has_hung {
            faults.push("it hangs".to_owned());
        } else if !matches!(run.code, Some(0 | 1)) {
            let end: String = run.err.chars().take(300).collect();
            faults.push(format!("it ended with {:?}: {end}", run.code));
        }
        if run.says(FOREIGN) {
            faults.push("it printed a text from outside".to_owned());
        }
        let stolen = self.stolen(place);
        if !stolen.is_empty() {
            faults.push(format!("a text from outside is in {stolen:?}"));
        }
        let named = Path::new(place).file_name().unwrap().to_str().unwrap();
        if run.code == Some(1) && !run.says(named) {
            faults.push(format!("the error does not name {named}: {}", run.err));
        }
        faults
    }

    /// Whether the memory's own lessons are all there, once the plant is gone.
    pub(super) fn lost(&self, place: &str) -> Option<String> {
        self.restore(place);
        let run = self.run(&["list", "--json"]);
        let is_whole = run.is_done() && [" parse a csv export", " rebase a branch"].iter().all(|own| run.says(own));
        (!is_whole).then(|| format!("lessons are lost: {:?}, {}", run.code, run.err))
    }
}

fn contains(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|window| window == word.as_bytes())
}

/// Everything below a folder, links not followed.
pub(super) fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten() {
            let path = entry.unwrap().path();
            if fs::symlink_metadata(&path).unwrap().is_dir() {
                folders.push(path.clone());
            }
            found.push(path);
        }
    }
    found.sort();
    found
}

/// One line for each file and folder.
pub(super) fn listing(folder: &Path) -> String {
    let mut text = String::new();
    for path in [folder.to_owned()].into_iter().chain(walk(folder)) {
        let found = fs::symlink_metadata(&path).unwrap();
        let is_plain = found.is_file() && !found.file_type().is_fifo();
        let content =
            if is_plain { String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned() } else { String::new() };
        let (mode, seconds, nanos) = (found.mode(), found.mtime(), found.mtime_nsec());
        writeln!(text, "{} {mode:o} {seconds}.{nanos} {content:?}", path.display()).unwrap();
    }
    text
}
