//! Transactions over files: failures and crashes at every operation, forged journals, undo.

#![allow(clippy::disallowed_methods, reason = "the tests break files by themselves")]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::error::inbox;
use crate::folder::Access;
use crate::folder::disk::{Disk, RealDisk};
use crate::store::curation::CurationFiles;
use crate::store::export::Exports;
use crate::store::undo::undo_within;
use crate::testing::at;
use crate::testing::faults::{Fault, FaultyDisk};

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
        let transaction = Transaction { what: "a test".to_owned(), record: Record::Kept, edits: self.edits() };
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
    file.run("stat", path.file_name().unwrap(), |disk, at| disk.mode(at)).unwrap().unwrap_or_default()
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

/// Injects a fault at operation 1, 2, … of an edit and its undo, until both pass without reaching it. Returns the number of
/// operations.
fn every_operation(fault: Fault) -> usize {
    for number in 1.. {
        let folders = TestFolders::new();
        let before = folders.state();
        let done = Arc::new(AtomicUsize::new(0));
        // The open itself is not under test.
        let mut folder = folders.folder(Box::new(RealDisk));
        folder = folder.with_disk(Box::new(FaultyDisk { fault, at: number, done: Arc::clone(&done) }));
        let applied = folders.apply(&folder);
        let undone = applied.as_ref().ok().map(|id| undo_within(&folder, *id, at(1), |_| Ok(folders.reach())));
        let context = format!("{fault:?} at operation {number}: {applied:?}, {undone:?}");
        drop(folder);
        folders.folder(Box::new(RealDisk)).edits().recover().unwrap();
        let state = folders.state();
        let has_changed = contents(&state) == [("memory/a.md", "A"), ("memory/new/c.md", "C"), ("outside/b.md", "B")];
        // An acknowledged transaction holds. A failed one happened or not; after a single failure it did not.
        match (&applied, &undone, fault) {
            (Ok(_), Some(Ok(_)), _) | (Err(_), _, Fault::Once) => assert_eq!(state, before, "{context}"),
            (Ok(_), _, Fault::Once) => assert!(has_changed, "{context}: {state:?}"),
            _ => assert!(has_changed || state == before, "{context}: {state:?}"),
        }
        assert!(folders.journals().iter().all(|stage| stage == "done"), "{context}: {:?}", folders.journals());
        // The folder remains usable.
        if state == before {
            folders.apply(&folders.folder(Box::new(RealDisk))).unwrap_or_else(|error| panic!("{context}: {error}"));
        }
        if done.load(Ordering::SeqCst) < number {
            assert!(matches!(undone, Some(Ok(_))), "{context}");
            return number;
        }
    }
    unreachable!()
}

#[test]
fn any_single_failure_leaves_all_or_nothing() {
    let n_operations = every_operation(Fault::Once);
    assert!(n_operations > 100, "only {n_operations} operations");
}

#[test]
fn a_crash_at_any_operation_leaves_all_or_nothing() {
    every_operation(Fault::Freeze);
}

/// Recovery may be interrupted anywhere as well, and the next one continues.
#[test]
fn recovery_survives_failures_too() {
    for died in (1..).step_by(5) {
        let mut is_through = false;
        for number in (1..).step_by(4) {
            let folders = TestFolders::new();
            let before = folders.state();
            let run = |at: usize, what: &dyn Fn(&Folder) -> Result<(), Error>| {
                let done = Arc::new(AtomicUsize::new(0));
                let mut folder = folders.folder(Box::new(RealDisk));
                folder = folder.with_disk(Box::new(FaultyDisk { fault: Fault::Freeze, at, done: Arc::clone(&done) }));
                let _ = what(&folder);
                done.load(Ordering::SeqCst) < at
            };
            is_through = run(died, &|folder| folders.apply(folder).map(drop));
            let is_recovered = run(number, &|folder: &Folder| Ok(folder.edits().recover()?));
            folders.folder(Box::new(RealDisk)).edits().recover().unwrap();
            let state = folders.state();
            let has_changed =
                contents(&state) == [("memory/a.md", "A"), ("memory/new/c.md", "C"), ("outside/b.md", "B")];
            assert!(has_changed || state == before, "crash at {died}, again at {number}: {state:?}");
            if is_recovered {
                break;
            }
        }
        if is_through {
            assert!(died > 50);
            break;
        }
    }
}

/// After a crash between two renames, a person edits a file that was not renamed yet: their text is kept, the rest is rolled
/// back.
#[test]
fn an_edit_by_a_person_after_a_crash_is_kept() {
    for number in 1.. {
        let folders = TestFolders::new();
        let mut folder = folders.folder(Box::new(RealDisk));
        folder = folder.with_disk(Box::new(FaultyDisk { fault: Fault::Freeze, at: number, done: Arc::default() }));
        assert!(folders.apply(&folder).is_err());
        let is_between = fs::read_to_string(folders.path("memory/a.md")).unwrap() == "A"
            && fs::read_to_string(folders.path("outside/b.md")).unwrap() == "b";
        if !is_between {
            continue;
        }
        fs::write(folders.path("outside/b.md"), "mine").unwrap();
        folders.folder(Box::new(RealDisk)).edits().recover().unwrap();
        let state = folders.state();
        assert_eq!(contents(&state), [("memory/a.md", "a"), ("memory/gone.md", "gone"), ("outside/b.md", "mine")]);
        break;
    }
}

/// A target is replaced by something that cannot be edited: its journal is set aside, and other edits continue.
#[cfg(unix)]
#[test]
fn an_unreadable_target_does_not_block_other_edits() {
    use std::os::unix::fs::symlink;
    type Spoil = fn(&Path);
    let spoils: [(&str, Spoil, &[&str]); 4] = [
        ("a link", |path| symlink("nowhere", path).unwrap(), &["broken"]),
        ("a folder", |path| fs::create_dir(path).unwrap(), &["broken"]),
        ("a link in circles", |path| symlink(path.file_name().unwrap(), path).unwrap(), &["broken"]),
        ("no folder", |path| fs::remove_dir(path.parent().unwrap()).unwrap(), &[]),
    ];
    for (what, spoil, left) in spoils {
        let mut n_met = 0;
        for number in 1.. {
            let folders = TestFolders::new();
            let mut folder = folders.folder(Box::new(RealDisk));
            let done = Arc::new(AtomicUsize::new(0));
            folder =
                folder.with_disk(Box::new(FaultyDisk { fault: Fault::Freeze, at: number, done: Arc::clone(&done) }));
            let applied = folders.apply(&folder);
            if done.load(Ordering::SeqCst) < number {
                break;
            }
            let is_decided = folders.journals() == ["pending"];
            if applied.is_ok() || !is_decided || folders.path("memory/new/c.md").exists() {
                continue;
            }
            n_met += 1;
            for staged in fs::read_dir(folders.path("memory/new")).unwrap() {
                fs::remove_file(staged.unwrap().path()).unwrap();
            }
            spoil(&folders.path("memory/new/c.md"));
            let folder = folders.folder(Box::new(RealDisk));
            folder.edits().recover().unwrap_or_else(|error| panic!("{what}, died at {number}: {error}"));
            assert_eq!(folders.journals(), left, "{what}, crash at {number}");
            let read = |name: &str| fs::read_to_string(folders.path(name)).unwrap();
            let others = ["memory/a.md", "memory/gone.md", "outside/b.md"].map(read);
            assert_eq!(others, ["a", "gone", "b"], "{what}, crash at {number}: the others are rolled back");
            let edit = folders.edit("memory/next.md", None, Some("x"));
            let next = Transaction { what: "next".to_owned(), record: Record::Kept, edits: vec![edit] };
            folder.edits().change(at(1), || Ok((Some(next), ()))).unwrap();
        }
        assert!(n_met > 3, "{what}: {n_met}");
    }
}

/// Whoever can write to the memory folder can put a journal there; it must not reach other places.
#[test]
fn a_forged_journal_changes_nothing_outside() {
    let folders = TestFolders::new();
    let file = |name: &str, before: &str, after: &str| JournalFile {
        path: folders.path(name),
        before: Some(before.as_bytes().to_vec()),
        after: Some(after.as_bytes().to_vec()),
        mode: None,
    };
    fs::create_dir_all(folders.path("memory/edits")).unwrap();
    let before = folders.state();
    let mut n_forged = 0;
    for path in ["outside/b.md", "memory/../outside/b.md", "memory/x/../../outside/b.md"] {
        for stage in ["pending", "undoing"] {
            for (old, new) in [("b", "forged"), ("forged", "b")] {
                let journal = Journal {
                    id: ChangeId::at(at(n_forged), content_hash(b"forged")),
                    at: at(0),
                    what: "forged".to_owned(),
                    record: Record::Kept,
                    files: vec![file(path, old, new)],
                };
                let name = format!("memory/edits/{}.{stage}", journal.id);
                fs::write(folders.path(&name), render(&journal, &folders.path("memory")).unwrap()).unwrap();
                folders.folder(Box::new(RealDisk)).edits().recover().unwrap();
                assert_eq!(folders.state(), before, "{path} {stage}");
                n_forged += 1;
            }
        }
    }
    // A journal that is not followed is set aside, also one whose files cannot be read without leaving the folder. A journal
    // without edits is done.
    assert!(folders.journals().iter().all(|stage| stage == "broken" || stage == "done"), "{:?}", folders.journals());
    assert_eq!(folders.journals().iter().filter(|stage| *stage == "broken").count(), 10);
    folders.apply(&folders.folder(Box::new(RealDisk))).unwrap();
}

/// The caller, not the journal, says what an undo may write.
#[cfg(unix)]
#[test]
fn a_forged_record_is_not_undone_elsewhere() {
    let folders = TestFolders::new();
    let folder = folders.folder(Box::new(RealDisk));
    fs::create_dir_all(folders.path("memory/edits")).unwrap();
    fs::create_dir_all(folders.path("roots/x")).unwrap();
    fs::create_dir_all(folders.path("memory/skills")).unwrap();
    std::os::unix::fs::symlink(folders.path("outside"), folders.path("memory/link")).unwrap();
    let own = |name: &str| Reach { own: vec![folders.path(name)], ..Reach::default() };
    let file = |name: &str| Reach { files: vec![folders.path(name)], ..Reach::default() };
    let roots =
        || Reach { named: vec![NamedBelow { root: folders.path("roots"), name: "SKILL.md" }], ..Reach::default() };
    let check = |n: i64, path: &str, reach: Reach, is_reached: bool| {
        let (before, after) = if is_reached { (None, Some(b"b".to_vec())) } else { (Some(b"forged".to_vec()), None) };
        let written = folders.path(path);
        if is_reached {
            fs::write(&written, "b").unwrap();
        }
        let id = ChangeId::at(at(n), content_hash(b"forged"));
        let file = JournalFile { path: written.clone(), before, after, mode: None };
        let journal = Journal { id, at: at(0), what: "forged".to_owned(), record: Record::Kept, files: vec![file] };
        fs::write(folders.path(&format!("memory/edits/{id}.done")), render(&journal, &folders.path("memory")).unwrap())
            .unwrap();
        let undone = undo_within(&folder, id, at(n), |_| Ok(reach));
        if is_reached {
            assert!(undone.is_ok() && !written.exists(), "{path}: {undone:?}");
        } else {
            assert!(
                matches!(undone, Err(Error::Inbox(inbox::Error::CannotApply { .. }))) && !written.exists(),
                "{path}: {undone:?}"
            );
        }
    };
    for (n, (path, reach, is_reached)) in [
        ("outside/x.md", own("memory"), false),
        ("memory/../outside/x.md", own("memory"), false),
        ("memory/skills/../../outside/x.md", own("memory"), false),
        ("memory/link/x.md", own("memory"), false),
        // A directory of the folder that became a link no longer counts as inside.
        ("memory/link/x.md", own("memory/link"), false),
        ("memory/x.md", own("memory/skills"), false),
        ("memory/skills/x.md", own("memory/skills"), true),
        ("memory/x.md", own("memory"), true),
        ("outside/x.md", file("outside/y.md"), false),
        ("outside/x.md", file("memory/x.md"), false),
        ("outside/x.md", file("outside/x.md"), true),
        ("memory/../outside/x.md", file("outside/x.md"), false),
        ("roots/x/run.sh", roots(), false),
        ("roots/../SKILL.md", roots(), false),
        ("roots/x/SKILL.md", roots(), true),
    ]
    .into_iter()
    .enumerate()
    {
        check(i64::try_from(n).unwrap(), path, reach, is_reached);
    }
}

/// Whatever a journal says that it is, the undo of a curation is confined to skills, and that of an export to the file that the
/// caller names.
#[test]
fn a_forged_curation_or_export_is_not_undone_elsewhere() {
    let folders = TestFolders::new();
    let folder = folders.folder(Box::new(RealDisk));
    for folder in ["memory/edits", "memory/skills/x", "memory/skills-archive"] {
        fs::create_dir_all(folders.path(folder)).unwrap();
    }
    let forge = |n: i64, what: &str, paths: &[&str]| {
        let file = |path: &&str| JournalFile {
            path: folders.path(path),
            before: Some(b"x".to_vec()),
            after: None,
            mode: None,
        };
        let id = ChangeId::at(at(n), content_hash(b"forged"));
        let files = paths.iter().map(file).collect();
        let journal = Journal { id, at: at(0), what: what.to_owned(), record: Record::Kept, files };
        fs::write(folders.path(&format!("memory/edits/{id}.done")), render(&journal, &folders.path("memory")).unwrap())
            .unwrap();
        id
    };
    let before = folders.state();
    for (n, path) in ["outside/x.md", "memory/skills/../../outside/x.md", "memory/x.md"].into_iter().enumerate() {
        let id = forge(i64::try_from(n).unwrap(), "curation: 2 files", &["memory/skills/x/SKILL.md", path]);
        let undone = CurationFiles::new(&folder).undo(id, at(9));
        assert!(matches!(undone, Err(Error::Inbox(inbox::Error::CannotApply { .. }))), "{path}: {undone:?}");
    }
    let file = folders.path("outside/x.md");
    let what = format!("export: {}", file.display());
    let id = forge(3, &what, &["outside/x.md", "outside/y.md"]);
    assert!(matches!(Exports::new(&folder).undo(id, &file, at(9)), Err(Error::NoSuchChange { .. })));
    let id = forge(4, &what, &["outside/y.md"]);
    assert!(matches!(Exports::new(&folder).undo(id, &file, at(9)), Err(Error::NoSuchChange { .. })));
    let id = forge(5, &what, &["outside/x.md"]);
    assert!(matches!(
        Exports::new(&folder).undo(id, &folders.path("outside/y.md"), at(9)),
        Err(Error::Inbox(inbox::Error::CannotApply { .. }))
    ));
    assert_eq!(folders.state(), before);
    Exports::new(&folder).undo(id, &file, at(9)).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "x");
    let id = forge(6, "curation: 2 files", &["memory/skills/x/SKILL.md", "memory/skills-archive/x.0.md"]);
    CurationFiles::new(&folder).undo(id, at(9)).unwrap();
    assert_eq!(fs::read_to_string(folders.path("memory/skills/x/SKILL.md")).unwrap(), "x");
}

#[test]
fn only_the_newest_transactions_can_be_undone() {
    let folders = TestFolders::new();
    let folder = folders.folder(Box::new(RealDisk));
    let mut ids = Vec::new();
    for n in 0..40 {
        let edit = folders.edit(&format!("memory/{n}.md"), None, Some("x"));
        let transaction = Transaction { what: n.to_string(), record: Record::Kept, edits: vec![edit] };
        ids.extend(folder.edits().change(at(n), || Ok((Some(transaction), ()))).unwrap().0);
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
        let transaction = Transaction { what: n.to_string(), record: Record::Kept, edits: vec![edit] };
        folder.edits().change(at(n * DAY), || Ok((Some(transaction), ()))).unwrap();
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
