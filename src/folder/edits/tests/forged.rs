//! Journals and records that somebody else wrote.

use std::fs;

use super::super::*;
use super::TestFolders;
use crate::folder::disk::RealDisk;
use crate::store::export::Exports;
use crate::store::skills::curation::CurationFiles;
use crate::store::undo::undo_within;
use crate::testing::at;

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
                    record: Undoable::Yes,
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
    // A journal that is not followed is set aside, also one whose files cannot be read without leaving the folder. One whose files are as
    // they were before, or as they are to be, is at its end.
    assert!(folders.journals().iter().all(|stage| stage == "broken" || stage == "done"), "{:?}", folders.journals());
    assert_eq!(folders.journals().iter().filter(|stage| *stage == "broken").count(), 9);
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
        let journal = Journal { id, at: at(0), what: "forged".to_owned(), record: Undoable::Yes, files: vec![file] };
        fs::write(folders.path(&format!("memory/edits/{id}.done")), render(&journal, &folders.path("memory")).unwrap())
            .unwrap();
        let undone = undo_within(&folder, id, at(n), |_| Ok(reach));
        if is_reached {
            assert!(undone.is_ok() && !written.exists(), "{path}: {undone:?}");
        } else {
            assert!(matches!(undone, Err(Error::OutOfReach { .. })) && !written.exists(), "{path}: {undone:?}");
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
        let journal = Journal { id, at: at(0), what: what.to_owned(), record: Undoable::Yes, files };
        fs::write(folders.path(&format!("memory/edits/{id}.done")), render(&journal, &folders.path("memory")).unwrap())
            .unwrap();
        id
    };
    let before = folders.state();
    for (n, path) in ["outside/x.md", "memory/skills/../../outside/x.md", "memory/x.md"].into_iter().enumerate() {
        let id = forge(i64::try_from(n).unwrap(), "curation: 2 files", &["memory/skills/x/SKILL.md", path]);
        let undone = CurationFiles::new(&folder).undo(id, at(9));
        assert!(matches!(undone, Err(Error::OutOfReach { .. })), "{path}: {undone:?}");
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
        Err(Error::OutOfReach { .. })
    ));
    assert_eq!(folders.state(), before);
    Exports::new(&folder).undo(id, &file, at(9)).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "x");
    let id = forge(6, "curation: 2 files", &["memory/skills/x/SKILL.md", "memory/skills-archive/x.0.md"]);
    CurationFiles::new(&folder).undo(id, at(9)).unwrap();
    assert_eq!(fs::read_to_string(folders.path("memory/skills/x/SKILL.md")).unwrap(), "x");
}
