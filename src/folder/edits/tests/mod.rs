//! Transactions over files: failures and crashes at every operation, forged journals, undo.

#![allow(clippy::disallowed_methods, reason = "the tests break files by themselves")]

mod failures;
mod forged;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use super::*;
use crate::folder::Access;
use crate::folder::disk::{Disk, RealDisk};
use crate::store::undo::undo_within;
use crate::testing::at;
use crate::testing::faults::CountingDisk;

/// A memory folder, and another folder outside it.
struct TestFolders {
    folder: tempfile::TempDir,
}

impl TestFolders {
    fn new() -> Self {
        let folders = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(folders.path("memory")).unwrap();
        fs::create_dir_all(folders.path("outside")).unwrap();
        for (name, content) in [("memory/a.md", "a"), ("memory/gone.md", "gone"), ("outside/b.md", "b")] {
            fs::write(folders.path(name), content).unwrap();
        }
        set_mode(&folders.path("memory/a.md"), 0o640);
        folders
    }

    fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.folder.path()).unwrap().join(name)
    }

    fn folder(&self, disk: Box<dyn Disk>) -> Folder {
        Folder::open(&self.path("memory"), disk, Access::ReadWrite).unwrap()
    }

    fn edit(&self, name: &str, before: Option<&str>, after: Option<&str>) -> FileEdit {
        let hash = before.map(|before| content_hash(before.as_bytes()));
        FileEdit::new(self.path(name), hash, after.map(|after| after.as_bytes().to_vec()))
    }

    /// Edits that change, remove and create files: inside, outside and in a new folder.
    fn edits(&self) -> Vec<FileEdit> {
        vec![
            self.edit("memory/a.md", Some("a"), Some("A")),
            self.edit("memory/gone.md", Some("gone"), None),
            self.edit("outside/b.md", Some("b"), Some("B")),
            self.edit("memory/new/c.md", None, Some("C")),
        ]
    }

    /// The memory folder, and the one file outside.
    fn reach(&self) -> Reach {
        Reach { own: vec![self.path("memory")], files: vec![self.path("outside/b.md")], ..Reach::default() }
    }

    fn apply(&self, folder: &Folder) -> Result<ChangeId, Error> {
        let transaction = Transaction { what: "a test".to_owned(), record: Undoable::Yes, edits: self.edits() };
        folder.edits().change(at(0), || Ok((Some(transaction), ()))).map(|(id, ())| id.unwrap())
    }

    /// Contents and modes of all files except journals and the lock.
    fn state(&self) -> BTreeMap<String, String> {
        let mut state = BTreeMap::new();
        let mut folders = vec![self.path("")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(self.path("")).unwrap().to_str().unwrap().to_owned();
                if path.is_dir() {
                    if name != "memory/edits" {
                        folders.push(path);
                    }
                } else if name != "memory/lock" {
                    let mode = mode_of(&path);
                    state.insert(name, format!("{} {mode:o}", fs::read_to_string(&path).unwrap()));
                }
            }
        }
        state
    }

    fn journals(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("memory/edits")).into_iter().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().path().extension().unwrap().to_str().unwrap().to_owned()).collect();
        names.sort();
        names
    }
}

fn set_mode(path: &Path, mode: u32) {
    let file = Directory::real(path.parent().unwrap());
    file.run("set the mode of", path.file_name().unwrap(), |disk, at| disk.set_mode(at, mode)).unwrap();
}

fn mode_of(path: &Path) -> u32 {
    let file = Directory::real(path.parent().unwrap());
    file.mode(path.file_name().unwrap()).unwrap().unwrap_or_default()
}

/// The contents of the files, without modes.
fn contents(state: &BTreeMap<String, String>) -> Vec<(&str, &str)> {
    state.iter().map(|(name, text)| (name.as_str(), text.split(' ').next().unwrap())).collect()
}

#[test]
fn all_files_change_together_and_are_undone_together() {
    let folders = TestFolders::new();
    let folder = folders.folder(Box::new(RealDisk));
    let before = folders.state();
    let id = folders.apply(&folder).unwrap();
    let after = folders.state();
    assert_eq!(contents(&after), [("memory/a.md", "A"), ("memory/new/c.md", "C"), ("outside/b.md", "B")]);
    if cfg!(unix) {
        assert_eq!(after["memory/a.md"], "A 640");
        assert_eq!(after["memory/new/c.md"], "C 600");
    }
    assert_eq!(folders.journals(), ["done"]);
    let (undone, journal) = undo_within(&folder, id, at(1), |_| Ok(folders.reach())).unwrap();
    assert_eq!((folders.state(), journal.files.len()), (before, 4));
    let (_, journal) = undo_within(&folder, undone, at(2), |_| Ok(folders.reach())).unwrap();
    assert_eq!(folders.state(), after);
    assert_eq!(journal.what, "undo of a test");
    assert!(matches!(
        undo_within(&folder, ChangeId::at(at(9), content_hash(b"")), at(3), |_| Ok(folders.reach())),
        Err(Error::NoSuchChange { .. })
    ));
}

#[test]
fn if_one_file_has_changed_no_file_is_edited() {
    let folders = TestFolders::new();
    let folder = folders.folder(Box::new(RealDisk));
    fs::write(folders.path("outside/b.md"), "mine").unwrap();
    let before = folders.state();
    let refused = folders.apply(&folder).unwrap_err();
    let expected = format!("the edit is for content {}, it is content {}", content_hash(b"b"), content_hash(b"mine"));
    assert!(refused.to_string().ends_with(&expected), "{refused}");
    assert_eq!(folders.state(), before);
    fs::write(folders.path("outside/b.md"), "b").unwrap();
    let id = folders.apply(&folder).unwrap();
    fs::write(folders.path("memory/gone.md"), "again").unwrap();
    let after = folders.state();
    let refused = undo_within(&folder, id, at(1), |_| Ok(folders.reach())).unwrap_err();
    assert!(refused.to_string().contains("the edit is for no file, it is content"), "{refused}");
    assert_eq!(folders.state(), after);
}

/// Changes `n_files` files together. Returns the number of disk operations.
fn operations_to_change(n_files: usize) -> usize {
    let (folders, disk) = (TestFolders::new(), CountingDisk::default());
    let folder = folders.folder(Box::new(disk.clone()));
    let edits = (0..n_files).map(|n| folders.edit(&format!("memory/new/{n}.md"), None, Some("x"))).collect();
    let transaction = Transaction { what: "many".to_owned(), record: Undoable::Yes, edits };
    disk.take();
    folder.edits().change(at(0), || Ok::<_, Error>((Some(transaction), ()))).unwrap();
    disk.take().len()
}

#[test]
fn disk_operations_grow_linearly_with_the_number_of_files() {
    let (few, many) = (operations_to_change(50), operations_to_change(200));
    assert!(few >= 50 && many <= 4 * few, "{few} operations for 50 files, {many} for 200");
}

#[test]
fn only_the_newest_transactions_can_be_undone() {
    let folders = TestFolders::new();
    let folder = folders.folder(Box::new(RealDisk));
    let mut ids = Vec::new();
    for n in 0..40 {
        let edit = folders.edit(&format!("memory/{n}.md"), None, Some("x"));
        let transaction = Transaction { what: n.to_string(), record: Undoable::Yes, edits: vec![edit] };
        ids.extend(folder.edits().change(at(n), || Ok::<_, crate::Error>((Some(transaction), ()))).unwrap().0);
    }
    let known: Vec<ChangeId> = folder.edits().done().unwrap().into_iter().map(|journal| journal.id).collect();
    assert_eq!(known, ids[8..]);
    assert!(matches!(undo_within(&folder, ids[0], at(50), |_| Ok(folders.reach())), Err(Error::NoSuchChange { .. })));
    undo_within(&folder, ids[39], at(50), |_| Ok(folders.reach())).unwrap();
}

/// A text that a person removed does not stay in journals for ever.
#[test]
fn journals_are_removed_after_thirty_days() {
    const DAY: i64 = 24 * 60 * 60;
    let folders = TestFolders::new();
    let folder = folders.folder(Box::new(RealDisk));
    let edit = |n: i64| {
        let edit = folders.edit(&format!("memory/{n}.md"), None, Some("x"));
        let transaction = Transaction { what: n.to_string(), record: Undoable::Yes, edits: vec![edit] };
        folder.edits().change(at(n * DAY), || Ok::<_, crate::Error>((Some(transaction), ()))).unwrap();
    };
    let days = || -> Vec<String> { folder.edits().done().unwrap().into_iter().map(|journal| journal.what).collect() };
    (0..3).for_each(edit);
    let broken = format!("memory/edits/{}.broken", ChangeId::at(at(0), content_hash(b"forged")));
    fs::write(folders.path(&broken), "not a journal").unwrap();
    folder.edits().remove_outdated(at(30 * DAY)).unwrap();
    assert_eq!(days(), ["0", "1", "2"]);
    folder.edits().remove_outdated(at(30 * DAY + 1)).unwrap();
    assert_eq!((days(), folders.path(&broken).exists()), (vec!["1".to_owned(), "2".to_owned()], false));
    // The next edit removes them too.
    edit(32);
    assert_eq!(days(), ["2", "32"]);
    let clock = Arc::new(crate::ManualClock::new(at(80 * DAY)));
    drop(crate::Playbook::builder(folders.path("memory")).without_embedder().with_clock(clock).open().unwrap());
    assert_eq!(days(), Vec::<String>::new());
}
