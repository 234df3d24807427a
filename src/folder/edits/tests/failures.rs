//! Failing disks, crashes and unreadable files.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::*;
use super::{TestFolders, contents};
use crate::folder::disk::RealDisk;
use crate::store::undo::undo_within;
use crate::testing::at;
use crate::testing::faults::{Fault, FaultyDisk};

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
            let next = Transaction { what: "next".to_owned(), record: Undoable::Yes, edits: vec![edit] };
            folder.edits().change(at(1), || Ok::<_, crate::Error>((Some(next), ()))).unwrap();
        }
        assert!(n_met > 3, "{what}: {n_met}");
    }
}
