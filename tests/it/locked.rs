//! Another process holds the folder's lock: writers time out, readers do not wait.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use adage::config::StoreConfig;
use adage::{Config, Error, Feedback, Filter, FolderError, Listing, Playbook, VectorMemory, build_lesson};

const TIMEOUT: Duration = Duration::from_millis(150);

fn hold(folder: &Path) -> File {
    hold_file(folder, "lock")
}

fn hold_file(folder: &Path, name: &str) -> File {
    let lock = File::options().create(true).append(true).open(folder.join(name)).unwrap();
    lock.lock().unwrap();
    lock
}

fn open(folder: &Path) -> Playbook {
    let store = StoreConfig { lock_timeout: TIMEOUT, ..StoreConfig::default() };
    Playbook::builder(folder).with_config(Config { store, ..Config::default() }).without_embedder().open().unwrap()
}

fn assert_locked(error: &Error) {
    let Error::Folder(FolderError::Locked { path, holder, waited }) = error else { panic!("{error}") };
    assert_eq!((path.file_name().unwrap().to_str(), *waited), (Some("lock"), TIMEOUT));
    if cfg!(target_os = "linux") {
        let pid = std::process::id();
        assert_eq!(holder.as_ref().map(|holder| holder.pid), Some(pid));
        assert!(error.to_string().contains(&format!("is locked by process {pid} (")), "{error}");
    }
}

#[test]
fn a_writer_times_out_names_the_holder_and_succeeds_once_the_lock_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let playbook = open(folder.path());
    let lesson = || build_lesson("parsing CSV exports", "Use the csv module.");
    playbook.learn_lesson(lesson()).unwrap();
    let receipt = playbook.get_playbook_context("parsing CSV exports").unwrap().receipt.unwrap();
    let held = hold(folder.path());
    let begun = Instant::now();
    assert_locked(&playbook.learn_lesson(build_lesson("other", "Another.")).unwrap_err());
    assert_locked(&playbook.record_outcome(receipt, Feedback::Helpful).unwrap_err());
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    drop(held);
    playbook.learn_lesson(build_lesson("other", "Another.")).unwrap();
    playbook.record_outcome(receipt, Feedback::Helpful).unwrap();
    assert_eq!(playbook.stats().unwrap().helpful_retrievals, 1);
}

#[test]
fn threads_waiting_for_a_stuck_writer_time_out_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let playbook = open(folder.path());
    playbook.learn_lesson(build_lesson("first", "First.")).unwrap();
    let _held = hold(folder.path());
    std::thread::scope(|scope| {
        for number in 0..16 {
            let playbook = playbook.clone();
            scope.spawn(move || {
                let begun = Instant::now();
                assert_locked(&playbook.learn_lesson(build_lesson(format!("t{number}"), "s")).unwrap_err());
                assert!(begun.elapsed() < TIMEOUT * 4, "{:?}", begun.elapsed());
            });
        }
    });
}

#[test]
fn a_reader_does_not_wait_and_its_retrievals_are_counted_at_once() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).learn_lesson(build_lesson("parsing CSV exports", "Use the csv module.")).unwrap();
    let held = hold(folder.path());
    let playbook = open(folder.path());
    let begun = Instant::now();
    for _ in 0..3 {
        assert!(playbook.get_playbook_context("parsing CSV exports").unwrap().text.contains("csv module"));
        assert_eq!(playbook.list_lessons(&Listing::everything()).unwrap().len(), 1);
        assert!(matches!(playbook.check_writable(), Err(Error::Folder(FolderError::Locked { .. }))));
        assert!(playbook.check().unwrap().findings.is_empty());
    }
    assert!(begun.elapsed() < Duration::from_millis(300), "{:?}", begun.elapsed());
    assert_eq!(open(folder.path()).stats().unwrap().retrievals, 3);
    drop(held);
}

#[test]
fn a_dropped_handle_waits_a_moment_for_the_lock_of_usage() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).learn_lesson(build_lesson("parsing CSV exports", "Use the csv module.")).unwrap();
    let recalled = || {
        let held = hold_file(folder.path(), "usage.lock");
        let playbook = open(folder.path());
        playbook.get_playbook_context("parsing CSV exports").unwrap();
        (held, playbook)
    };
    let (held, playbook) = recalled();
    std::thread::scope(|scope| {
        scope.spawn(move || drop(playbook));
        drop(held);
    });
    assert_eq!(open(folder.path()).stats().unwrap().retrievals, 1);
    let (_held, playbook) = recalled();
    let begun = Instant::now();
    drop(playbook);
    let waits = Duration::from_secs(1)..Duration::from_secs(3);
    assert!(waits.contains(&begun.elapsed()), "{:?}", begun.elapsed());
}

#[test]
fn a_broken_file_under_a_held_lock_is_answered_from_the_backup_and_repaired_later() {
    let folder = tempfile::tempdir().unwrap();
    for task in ["parsing CSV exports", "reading a config file"] {
        open(folder.path()).learn_lesson(build_lesson(task, "Use the module for it.")).unwrap();
    }
    let held = hold(folder.path());
    std::fs::write(folder.path().join("skills_playbook.json"), "").unwrap();
    let begun = Instant::now();
    let playbook = open(folder.path());
    assert!(playbook.recovery().is_some() && begun.elapsed() < Duration::from_millis(100), "{:?}", begun.elapsed());
    assert_eq!(playbook.list_lessons(&Listing::everything()).unwrap().len(), 2);
    assert_eq!(std::fs::read(folder.path().join("skills_playbook.json")).unwrap(), b"");
    drop(playbook);
    drop(held);
    assert_eq!(open(folder.path()).list_lessons(&Listing::everything()).unwrap().len(), 2);
    assert!(!std::fs::read(folder.path().join("skills_playbook.json")).unwrap().is_empty());
}

#[test]
fn a_vector_memory_times_out_too() {
    let folder = tempfile::tempdir().unwrap();
    let open = || VectorMemory::builder(folder.path()).without_embedder().lock_timeout(TIMEOUT).open().unwrap();
    let document = |id: &str| adage::Document::new(id, "text");
    open().add(document("a")).unwrap();
    let held = hold(folder.path());
    let memory = open();
    assert_eq!(memory.count(&Filter::all()).unwrap(), 1);
    let error = memory.add(document("b")).unwrap_err();
    assert!(error.to_string().contains("lock"), "{error}");
    drop(held);
    memory.add(document("b")).unwrap();
}
