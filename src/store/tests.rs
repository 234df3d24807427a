//! Disk failures: every operation fails in turn, once and permanently.

#![allow(clippy::disallowed_methods, reason = "the tests break files by themselves")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::embed::HashingEmbedder;
use crate::folder::disk::{Disk, RealDisk};
use crate::testing::at;
use crate::testing::faults::{CountingDisk, Fault, FaultyDisk, UnsyncedDisk};
use crate::{
    Config, Credited, Error, Feedback, FolderError, LearnOutcome, Listing, ManualClock, Playbook, ReceiptId, Request,
    Result, build_lesson,
};

const FIRST: &str = "parse a csv export with quoted commas";
const SECOND: &str = "rotate the ssh host keys of a server";
const THIRD: &str = "compare aware and naive datetimes";
const FOURTH: &str = "bind a docker volume on a laptop";

/// The acknowledged results.
#[derive(Debug, Default)]
struct Acknowledged {
    learned: Vec<&'static str>,
    removed: Vec<&'static str>,
    helpful: u64,
    /// The call that failed, if one did: it may have had its effect or not.
    failed: Option<&'static str>,
}

fn open(folder: &Path, disk: Box<dyn Disk>) -> Result<Playbook> {
    let mut config = Config::default();
    config.retention.capacity = 3;
    config.credit.log_receipts = true;
    let clock = Arc::new(ManualClock::new(at(0)));
    Playbook::builder(folder)
        .with_disk(disk)
        .with_clock(clock)
        .with_embedder(Arc::new(HashingEmbedder))
        .with_config(config)
        .open()
}

/// Learn, recall, outcome, merge, remove, trim, recover: every use of the store. Errors are recorded, not returned.
fn scenario(folder: &Path, disk: Box<dyn Disk>) -> Acknowledged {
    let mut done = Acknowledged::default();
    let Ok(playbook) = open(folder, disk) else {
        done.failed = Some("open");
        return done;
    };
    let solution = |trigger: &str| format!("the right way to {trigger}");
    let learn = |trigger: &'static str, done: &mut Acknowledged| match playbook
        .learn_lesson(build_lesson(trigger, solution(trigger)))
    {
        Ok(LearnOutcome::Refused { reason }) => panic!("{reason}"),
        Ok(_) => done.learned.push(trigger),
        Err(error) => {
            check_error(&error);
            done.failed = Some(trigger);
        }
    };
    learn(FIRST, &mut done);
    learn(SECOND, &mut done);
    let receipt = playbook.get_playbook_context(Request::about(FIRST)).ok().and_then(|context| context.receipt);
    match receipt.map(|receipt| playbook.record_outcome(receipt, Feedback::Helpful)) {
        Some(Ok(_)) => done.helpful += 1,
        Some(Err(error)) => check_error(&error),
        None => {}
    }
    learn(THIRD, &mut done);
    match playbook.remove(SECOND) {
        Ok(_) => done.removed.push(SECOND),
        Err(Error::NoSuchLesson { .. }) => {}
        Err(error) => check_error(&error),
    }
    learn(FOURTH, &mut done);
    learn("format dates for a report", &mut done);
    // A failed call left nothing in memory.
    playbook.check_indexes();
    done
}

/// An error has the type of its cause.
fn check_error(error: &Error) {
    assert!(
        matches!(
            error,
            Error::Folder(FolderError::Io { .. } | FolderError::WritesStopped { .. })
                | Error::Contended { .. }
                | Error::NoSuchReceipt { .. }
                | Error::NoSuchLesson { .. }
        ),
        "{error}"
    );
}

/// What must hold for the next open of the folder.
fn check_survivors(folder: &Path, done: &Acknowledged, context: &str) {
    let playbook = open(folder, Box::new(RealDisk)).unwrap_or_else(|error| panic!("{context}: {error}"));
    assert!(playbook.recovery().is_none(), "{context}: {:?}", playbook.recovery());
    let listing = Listing { limit: 100, ..Listing::default() };
    let lessons = playbook.list_lessons(&listing).unwrap();
    let archive = std::fs::read_to_string(folder.join("archive.jsonl")).unwrap_or_default();
    for trigger in &done.learned {
        let is_present = lessons.iter().any(|lesson| lesson.trigger == *trigger);
        let is_archived = archive.contains(trigger);
        let is_removed =
            done.removed.contains(trigger) || playbook.stats().unwrap().n_removed > 0 && *trigger == SECOND;
        assert!(is_present || is_archived || is_removed, "{context}: {trigger:?} is lost, of {done:?}");
    }
    for trigger in &done.removed {
        assert!(lessons.iter().all(|lesson| lesson.trigger != *trigger), "{context}: {trigger:?} came back");
    }
    let helpful: u64 = lessons.iter().map(|lesson| lesson.helpful_retrievals).sum();
    let has_first = lessons.iter().any(|lesson| lesson.trigger == FIRST);
    if has_first {
        assert!(helpful >= done.helpful, "{context}: an outcome is lost");
    }
    assert!(lessons.len() <= 3, "{context}: {} lessons", lessons.len());
    // The folder remains usable.
    playbook
        .learn_lesson(build_lesson("after the fault", "go on"))
        .unwrap_or_else(|error| panic!("{context}: {error}"));
    let leftovers = std::fs::read_dir(folder)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(crate::folder::TEMPORARY));
    assert_eq!(leftovers.count(), 0, "{context}: temporary files are left");
}

/// Runs the scenario with a fault at operation 1, 2, … until it passes without reaching it.
fn every_operation(fault: Fault, prepare: impl Fn(&Path)) -> usize {
    for number in 1.. {
        let folder = tempfile::tempdir().unwrap();
        prepare(folder.path());
        let done = Arc::new(AtomicUsize::new(0));
        let disk = FaultyDisk { fault, at: number, done: Arc::clone(&done) };
        let acknowledged = scenario(folder.path(), Box::new(disk));
        check_survivors(folder.path(), &acknowledged, &format!("{fault:?} at operation {number}"));
        if done.load(Ordering::SeqCst) < number {
            assert_eq!(acknowledged.learned.len(), 5);
            assert_eq!((acknowledged.removed.len(), acknowledged.helpful), (1, 1));
            return number;
        }
    }
    unreachable!()
}

#[test]
fn any_single_failure_loses_nothing_acknowledged() {
    let n_operations = every_operation(Fault::Once, |_| {});
    assert!(n_operations > 100, "only {n_operations} operations");
}

#[test]
fn a_crash_at_any_operation_loses_nothing_acknowledged() {
    every_operation(Fault::Freeze, |_| {});
}

/// A broken file with a good backup: recovery itself may be interrupted anywhere.
#[test]
fn recovery_survives_failures_too() {
    let prepare = |folder: &Path| {
        let done = scenario(folder, Box::new(RealDisk));
        assert!(done.failed.is_none());
        std::fs::write(folder.join("skills_playbook.json"), b"{\"lessons\": [").unwrap();
    };
    for fault in [Fault::Once, Fault::Freeze] {
        for number in 1.. {
            let folder = tempfile::tempdir().unwrap();
            prepare(folder.path());
            let done = Arc::new(AtomicUsize::new(0));
            let disk = FaultyDisk { fault, at: number, done: Arc::clone(&done) };
            let first = open(folder.path(), Box::new(disk));
            let has_run = done.load(Ordering::SeqCst) < number;
            drop(first);
            let playbook = open(folder.path(), Box::new(RealDisk)).unwrap();
            let lessons = playbook.list_lessons(&Listing::default()).unwrap();
            // The backup is one commit behind: three lessons, and removed ones stay removed.
            assert_eq!(lessons.len(), 3, "{fault:?} at operation {number}");
            assert!(lessons.iter().all(|lesson| lesson.trigger != SECOND));
            let quarantined = std::fs::read_dir(folder.path().join("quarantine")).unwrap().count();
            assert_eq!(quarantined, 1, "{fault:?} at operation {number}");
            if has_run {
                assert!(number > 10);
                break;
            }
        }
    }
}

#[test]
fn after_a_failed_sync_the_handle_writes_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let playbook = open(folder.path(), Box::new(UnsyncedDisk)).unwrap();
    let learn = || playbook.learn_lesson(build_lesson("t", "s"));
    assert!(matches!(learn(), Err(Error::Folder(FolderError::Io { action: "sync", .. }))));
    assert!(matches!(learn(), Err(Error::Folder(FolderError::WritesStopped { .. }))));
    assert!(open(folder.path(), Box::new(RealDisk)).unwrap().learn_lesson(build_lesson("t", "s")).is_ok());
}

/// A handle with counted operations.
fn open_counted(folder: &Path) -> (Playbook, CountingDisk) {
    let disk = CountingDisk::default();
    (open(folder, Box::new(disk.clone())).unwrap(), disk)
}

/// The number of reads of the first usage file since the last call.
fn n_reads_of_first_usage(disk: &CountingDisk) -> usize {
    let is_read = |(operation, path): &&(&str, std::path::PathBuf)| {
        operation.starts_with("read") && path.ends_with("usage.0.jsonl")
    };
    disk.take().iter().filter(is_read).count()
}

/// Records retrievals until one usage file is full and another begins. Returns the first receipt.
fn fill_first_usage(playbook: &Playbook) -> ReceiptId {
    playbook.learn_lesson(build_lesson(FIRST, "with the csv crate")).unwrap();
    let receipt = playbook.get_playbook_context(FIRST).unwrap().receipt.unwrap();
    while !playbook.folder().join("usage.1.jsonl").exists() {
        for _ in 0..100 {
            playbook.get_playbook_context(FIRST).unwrap();
        }
        // A commit begins another file if one is full.
        playbook.learn_lesson(build_lesson(FIRST, "with the csv crate")).unwrap();
    }
    playbook.get_playbook_context(FIRST).unwrap();
    receipt
}

fn most_counts(playbook: &Playbook) -> (u64, u64) {
    let lessons = playbook.list_lessons(&Listing::everything()).unwrap();
    lessons.iter().map(|lesson| (lesson.retrievals, lesson.helpful_retrievals)).max().unwrap()
}

#[test]
fn usage_is_not_read_again_after_a_commit_of_another_handle() {
    let folder = tempfile::tempdir().unwrap();
    let (one, disk) = open_counted(folder.path());
    let other = open(folder.path(), Box::new(RealDisk)).unwrap();
    fill_first_usage(&other);
    let shown = most_counts(&one);
    assert!(shown.0 >= 100 && n_reads_of_first_usage(&disk) > 0);
    for number in 1..4 {
        other.learn_lesson(build_lesson(SECOND, format!("in {number} steps"))).unwrap();
        assert_eq!(most_counts(&one), shown);
        assert_eq!(n_reads_of_first_usage(&disk), 0, "after commit {number}");
    }
}

#[test]
fn a_recall_reads_no_receipts_that_a_commit_has_counted_unless_one_is_settled() {
    let folder = tempfile::tempdir().unwrap();
    let receipt = fill_first_usage(&open(folder.path(), Box::new(RealDisk)).unwrap());
    let (playbook, disk) = open_counted(folder.path());
    let known = most_counts(&open(folder.path(), Box::new(RealDisk)).unwrap());
    playbook.get_playbook_context(Request::about(FIRST).peek()).unwrap();
    assert_eq!(n_reads_of_first_usage(&disk), 0);
    assert!(matches!(playbook.record_outcome(receipt, Feedback::Helpful).unwrap(), Credited::Recorded { .. }));
    assert_eq!(most_counts(&playbook), (known.0, known.1 + 1));
    let (again, disk) = open_counted(folder.path());
    assert!(n_reads_of_first_usage(&disk) > 0, "it is not known what the outcome is about");
    assert_eq!(most_counts(&again), (known.0, known.1 + 1));
    assert!(matches!(again.record_outcome(receipt, Feedback::Harmful).unwrap(), Credited::AlreadyRecorded { .. }));
}
