//! Transactions over files: failures and deaths at every operation, forged journals, undo.

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

/// A memory folder and another one.
struct AllowedRoot {
    folder: tempfile::TempDir,
}

impl AllowedRoot {
    fn new() -> Self {
        let ground = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(ground.path("memory")).unwrap();
        fs::create_dir_all(ground.path("outside")).unwrap();
        for (name, content) in [("memory/a.md", "a"), ("memory/gone.md", "gone"), ("outside/b.md", "b")] {
            fs::write(ground.path(name), content).unwrap();
        }
        set_mode(&ground.path("memory/a.md"), 0o640);
        ground
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

    /// Changed, removed, outside, new in a new folder.
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

    /// Contents and modes of all files but journals and the lock.
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

/// What the files hold, without modes.
fn contents(state: &BTreeMap<String, String>) -> Vec<(&str, &str)> {
    state.iter().map(|(name, text)| (name.as_str(), text.split(' ').next().unwrap())).collect()
}

#[test]
fn all_files_change_together_and_back() {
    let ground = AllowedRoot::new();
    let folder = ground.folder(Box::new(RealDisk));
    let before = ground.state();
    let id = ground.apply(&folder).unwrap();
    let after = ground.state();
    assert_eq!(contents(&after), [("memory/a.md", "A"), ("memory/new/c.md", "C"), ("outside/b.md", "B")]);
    if cfg!(unix) {
        assert_eq!(after["memory/a.md"], "A 640");
        assert_eq!(after["memory/new/c.md"], "C 600");
    }
    assert_eq!(ground.journals(), ["done"]);
    let (undone, journal) = undo_within(&folder, id, at(1), |_| Ok(ground.reach())).unwrap();
    assert_eq!((ground.state(), journal.files.len()), (before, 4));
    let (_, journal) = undo_within(&folder, undone, at(2), |_| Ok(ground.reach())).unwrap();
    assert_eq!(ground.state(), after);
    assert_eq!(journal.what, "undo of a test");
    assert!(matches!(
        undo_within(&folder, ChangeId::at(at(9), content_hash(b"")), at(3), |_| Ok(ground.reach())),
        Err(Error::NoSuchChange { .. })
    ));
}

#[test]
fn a_file_that_changed_is_left_and_so_are_the_others() {
    let ground = AllowedRoot::new();
    let folder = ground.folder(Box::new(RealDisk));
    fs::write(ground.path("outside/b.md"), "mine").unwrap();
    let before = ground.state();
    let refused = ground.apply(&folder).unwrap_err();
    let expected = format!("the edit is for content {}, it is content {}", content_hash(b"b"), content_hash(b"mine"));
    assert!(refused.to_string().ends_with(&expected), "{refused}");
    assert_eq!(ground.state(), before);
    fs::write(ground.path("outside/b.md"), "b").unwrap();
    let id = ground.apply(&folder).unwrap();
    fs::write(ground.path("memory/gone.md"), "again").unwrap();
    let after = ground.state();
    let refused = undo_within(&folder, id, at(1), |_| Ok(ground.reach())).unwrap_err();
    assert!(refused.to_string().contains("the edit is for no file, it is content"), "{refused}");
    assert_eq!(ground.state(), after);
}

/// With a fault at operation 1, 2, … of an edit and its undo, until they get through without one.
fn every_operation(fault: Fault) -> usize {
    for number in 1.. {
        let ground = AllowedRoot::new();
        let before = ground.state();
        let done = Arc::new(AtomicUsize::new(0));
        // Opening is not what is tried here.
        let mut folder = ground.folder(Box::new(RealDisk));
        folder = folder.with_disk(Box::new(FaultyDisk { fault, at: number, done: Arc::clone(&done) }));
        let applied = ground.apply(&folder);
        let undone = applied.as_ref().ok().map(|id| undo_within(&folder, *id, at(1), |_| Ok(ground.reach())));
        let context = format!("{fault:?} at operation {number}: {applied:?}, {undone:?}");
        drop(folder);
        ground.folder(Box::new(RealDisk)).edits().recover().unwrap();
        let state = ground.state();
        let has_changed = contents(&state) == [("memory/a.md", "A"), ("memory/new/c.md", "C"), ("outside/b.md", "B")];
        // What was acknowledged holds; what failed either happened or not, and with a single failure it did not.
        match (&applied, &undone, fault) {
            (Ok(_), Some(Ok(_)), _) | (Err(_), _, Fault::Once) => assert_eq!(state, before, "{context}"),
            (Ok(_), _, Fault::Once) => assert!(has_changed, "{context}: {state:?}"),
            _ => assert!(has_changed || state == before, "{context}: {state:?}"),
        }
        assert!(ground.journals().iter().all(|stage| stage == "done"), "{context}: {:?}", ground.journals());
        // And it goes on.
        if state == before {
            ground.apply(&ground.folder(Box::new(RealDisk))).unwrap_or_else(|error| panic!("{context}: {error}"));
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
fn a_death_at_any_operation_leaves_all_or_nothing() {
    every_operation(Fault::Freeze);
}

/// Recovery itself may be interrupted anywhere, and the next one goes on.
#[test]
fn recovery_survives_failures_too() {
    for died in (1..).step_by(5) {
        let mut is_through = false;
        for number in (1..).step_by(4) {
            let ground = AllowedRoot::new();
            let before = ground.state();
            let run = |at: usize, what: &dyn Fn(&Folder) -> Result<(), Error>| {
                let done = Arc::new(AtomicUsize::new(0));
                let mut folder = ground.folder(Box::new(RealDisk));
                folder = folder.with_disk(Box::new(FaultyDisk { fault: Fault::Freeze, at, done: Arc::clone(&done) }));
                let _ = what(&folder);
                done.load(Ordering::SeqCst) < at
            };
            is_through = run(died, &|folder| ground.apply(folder).map(drop));
            let is_recovered = run(number, &|folder: &Folder| Ok(folder.edits().recover()?));
            ground.folder(Box::new(RealDisk)).edits().recover().unwrap();
            let state = ground.state();
            let has_changed =
                contents(&state) == [("memory/a.md", "A"), ("memory/new/c.md", "C"), ("outside/b.md", "B")];
            assert!(has_changed || state == before, "died at {died}, again at {number}: {state:?}");
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

/// A death between two renames, then somebody edits a file that was not renamed yet: their text stays, the rest is taken back.
#[test]
fn what_somebody_edits_after_a_death_is_theirs() {
    for number in 1.. {
        let ground = AllowedRoot::new();
        let mut folder = ground.folder(Box::new(RealDisk));
        folder = folder.with_disk(Box::new(FaultyDisk { fault: Fault::Freeze, at: number, done: Arc::default() }));
        assert!(ground.apply(&folder).is_err());
        let is_between = fs::read_to_string(ground.path("memory/a.md")).unwrap() == "A"
            && fs::read_to_string(ground.path("outside/b.md")).unwrap() == "b";
        if !is_between {
            continue;
        }
        fs::write(ground.path("outside/b.md"), "mine").unwrap();
        ground.folder(Box::new(RealDisk)).edits().recover().unwrap();
        let state = ground.state();
        assert_eq!(contents(&state), [("memory/a.md", "a"), ("memory/gone.md", "gone"), ("outside/b.md", "mine")]);
        break;
    }
}

/// Somebody makes something of a target that no edit can be put into: that one journal is kept aside, and edits go on.
#[cfg(unix)]
#[test]
fn a_target_that_cannot_be_looked_at_holds_up_nothing() {
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
            let ground = AllowedRoot::new();
            let mut folder = ground.folder(Box::new(RealDisk));
            let done = Arc::new(AtomicUsize::new(0));
            folder =
                folder.with_disk(Box::new(FaultyDisk { fault: Fault::Freeze, at: number, done: Arc::clone(&done) }));
            let applied = ground.apply(&folder);
            if done.load(Ordering::SeqCst) < number {
                break;
            }
            let is_decided = ground.journals() == ["pending"];
            if applied.is_ok() || !is_decided || ground.path("memory/new/c.md").exists() {
                continue;
            }
            n_met += 1;
            for staged in fs::read_dir(ground.path("memory/new")).unwrap() {
                fs::remove_file(staged.unwrap().path()).unwrap();
            }
            spoil(&ground.path("memory/new/c.md"));
            let folder = ground.folder(Box::new(RealDisk));
            folder.edits().recover().unwrap_or_else(|error| panic!("{what}, died at {number}: {error}"));
            assert_eq!(ground.journals(), left, "{what}, died at {number}");
            let read = |name: &str| fs::read_to_string(ground.path(name)).unwrap();
            let others = ["memory/a.md", "memory/gone.md", "outside/b.md"].map(read);
            assert_eq!(others, ["a", "gone", "b"], "{what}, died at {number}: the others are taken back");
            let edit = ground.edit("memory/next.md", None, Some("x"));
            let next = Transaction { what: "next".to_owned(), record: Record::Kept, edits: vec![edit] };
            folder.edits().change(at(1), || Ok((Some(next), ()))).unwrap();
        }
        assert!(n_met > 3, "{what}: {n_met}");
    }
}

/// Whoever may write to the memory folder can put a journal there; it leads nowhere else.
#[test]
fn a_forged_journal_changes_nothing_outside() {
    let ground = AllowedRoot::new();
    let file = |name: &str, before: &str, after: &str| JournalFile {
        path: ground.path(name),
        before: Some(before.as_bytes().to_vec()),
        after: Some(after.as_bytes().to_vec()),
        mode: None,
    };
    fs::create_dir_all(ground.path("memory/edits")).unwrap();
    let before = ground.state();
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
                fs::write(ground.path(&name), render(&journal, &ground.path("memory")).unwrap()).unwrap();
                ground.folder(Box::new(RealDisk)).edits().recover().unwrap();
                assert_eq!(ground.state(), before, "{path} {stage}");
                n_forged += 1;
            }
        }
    }
    // What is followed no further is kept aside, also what cannot be looked at without leaving the folder; what asks for nothing
    // is over.
    assert!(ground.journals().iter().all(|stage| stage == "broken" || stage == "done"), "{:?}", ground.journals());
    assert_eq!(ground.journals().iter().filter(|stage| *stage == "broken").count(), 10);
    ground.apply(&ground.folder(Box::new(RealDisk))).unwrap();
}

/// What an undo may reach is not for the journal to say.
#[cfg(unix)]
#[test]
fn a_forged_record_is_not_undone_elsewhere() {
    let ground = AllowedRoot::new();
    let folder = ground.folder(Box::new(RealDisk));
    fs::create_dir_all(ground.path("memory/edits")).unwrap();
    fs::create_dir_all(ground.path("roots/x")).unwrap();
    fs::create_dir_all(ground.path("memory/skills")).unwrap();
    std::os::unix::fs::symlink(ground.path("outside"), ground.path("memory/link")).unwrap();
    let own = |name: &str| Reach { own: vec![ground.path(name)], ..Reach::default() };
    let file = |name: &str| Reach { files: vec![ground.path(name)], ..Reach::default() };
    let roots =
        || Reach { named: vec![NamedBelow { root: ground.path("roots"), name: "SKILL.md" }], ..Reach::default() };
    let check = |n: i64, path: &str, reach: Reach, is_reached: bool| {
        let (before, after) = if is_reached { (None, Some(b"b".to_vec())) } else { (Some(b"forged".to_vec()), None) };
        let written = ground.path(path);
        if is_reached {
            fs::write(&written, "b").unwrap();
        }
        let id = ChangeId::at(at(n), content_hash(b"forged"));
        let file = JournalFile { path: written.clone(), before, after, mode: None };
        let journal = Journal { id, at: at(0), what: "forged".to_owned(), record: Record::Kept, files: vec![file] };
        fs::write(ground.path(&format!("memory/edits/{id}.done")), render(&journal, &ground.path("memory")).unwrap())
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
        // A folder of ours that became a link is ours no more.
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

/// Whatever a record calls itself: a curation is undone among skills, an export in the one file that the caller names.
#[test]
fn a_forged_curation_or_export_is_not_undone_elsewhere() {
    let ground = AllowedRoot::new();
    let folder = ground.folder(Box::new(RealDisk));
    for folder in ["memory/edits", "memory/skills/x", "memory/skills-archive"] {
        fs::create_dir_all(ground.path(folder)).unwrap();
    }
    let forge = |n: i64, what: &str, paths: &[&str]| {
        let file =
            |path: &&str| JournalFile { path: ground.path(path), before: Some(b"x".to_vec()), after: None, mode: None };
        let id = ChangeId::at(at(n), content_hash(b"forged"));
        let files = paths.iter().map(file).collect();
        let journal = Journal { id, at: at(0), what: what.to_owned(), record: Record::Kept, files };
        fs::write(ground.path(&format!("memory/edits/{id}.done")), render(&journal, &ground.path("memory")).unwrap())
            .unwrap();
        id
    };
    let before = ground.state();
    for (n, path) in ["outside/x.md", "memory/skills/../../outside/x.md", "memory/x.md"].into_iter().enumerate() {
        let id = forge(i64::try_from(n).unwrap(), "curation: 2 files", &["memory/skills/x/SKILL.md", path]);
        let undone = CurationFiles::new(&folder).undo(id, at(9));
        assert!(matches!(undone, Err(Error::Inbox(inbox::Error::CannotApply { .. }))), "{path}: {undone:?}");
    }
    let file = ground.path("outside/x.md");
    let what = format!("export: {}", file.display());
    let id = forge(3, &what, &["outside/x.md", "outside/y.md"]);
    assert!(matches!(Exports::new(&folder).undo(id, &file, at(9)), Err(Error::NoSuchChange { .. })));
    let id = forge(4, &what, &["outside/y.md"]);
    assert!(matches!(Exports::new(&folder).undo(id, &file, at(9)), Err(Error::NoSuchChange { .. })));
    let id = forge(5, &what, &["outside/x.md"]);
    assert!(matches!(
        Exports::new(&folder).undo(id, &ground.path("outside/y.md"), at(9)),
        Err(Error::Inbox(inbox::Error::CannotApply { .. }))
    ));
    assert_eq!(ground.state(), before);
    Exports::new(&folder).undo(id, &file, at(9)).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "x");
    let id = forge(6, "curation: 2 files", &["memory/skills/x/SKILL.md", "memory/skills-archive/x.0.md"]);
    CurationFiles::new(&folder).undo(id, at(9)).unwrap();
    assert_eq!(fs::read_to_string(ground.path("memory/skills/x/SKILL.md")).unwrap(), "x");
}

#[test]
fn only_so_many_can_be_undone() {
    let ground = AllowedRoot::new();
    let folder = ground.folder(Box::new(RealDisk));
    let mut ids = Vec::new();
    for n in 0..40 {
        let edit = ground.edit(&format!("memory/{n}.md"), None, Some("x"));
        let transaction = Transaction { what: n.to_string(), record: Record::Kept, edits: vec![edit] };
        ids.extend(folder.edits().change(at(n), || Ok((Some(transaction), ()))).unwrap().0);
    }
    let known: Vec<ChangeId> = folder.edits().done().unwrap().into_iter().map(|journal| journal.id).collect();
    assert_eq!(known, ids[8..]);
    assert!(matches!(undo_within(&folder, ids[0], at(50), |_| Ok(ground.reach())), Err(Error::NoSuchChange { .. })));
    undo_within(&folder, ids[39], at(50), |_| Ok(ground.reach())).unwrap();
}

/// What a person removed does not stay in the records for ever.
#[test]
fn records_go_after_thirty_days() {
    const DAY: i64 = 24 * 60 * 60;
    let ground = AllowedRoot::new();
    let folder = ground.folder(Box::new(RealDisk));
    let edit = |n: i64| {
        let edit = ground.edit(&format!("memory/{n}.md"), None, Some("x"));
        let transaction = Transaction { what: n.to_string(), record: Record::Kept, edits: vec![edit] };
        folder.edits().change(at(n * DAY), || Ok((Some(transaction), ()))).unwrap();
    };
    let days = || -> Vec<String> { folder.edits().done().unwrap().into_iter().map(|journal| journal.what).collect() };
    (0..3).for_each(edit);
    let broken = format!("memory/edits/{}.broken", ChangeId::at(at(0), content_hash(b"forged")));
    fs::write(ground.path(&broken), "not a journal").unwrap();
    folder.edits().remove_outdated(at(30 * DAY)).unwrap();
    assert_eq!(days(), ["0", "1", "2"]);
    folder.edits().remove_outdated(at(30 * DAY + 1)).unwrap();
    assert_eq!((days(), ground.path(&broken).exists()), (vec!["1".to_owned(), "2".to_owned()], false));
    // Whoever edits next drops them too.
    edit(32);
    assert_eq!(days(), ["2", "32"]);
    let clock = Arc::new(crate::ManualClock::new(at(80 * DAY)));
    drop(crate::Playbook::builder(ground.path("memory")).without_embedder().with_clock(clock).open().unwrap());
    assert_eq!(days(), Vec::<String>::new());
}
