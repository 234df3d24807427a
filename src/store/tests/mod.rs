//! Disk failures: every operation fails in turn, once and permanently.

#![allow(clippy::disallowed_methods, reason = "the tests break files by themselves")]

mod power_loss;
mod random_histories;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use chrono::{DateTime, FixedOffset, TimeDelta};

use super::usage::{self, Event};
use crate::embed::HashingEmbedder;
use crate::folder::Directory;
use crate::folder::disk::{Disk, RealDisk};
use crate::testing::at;
use crate::testing::faults::{Fault, FaultyDisk, UnsyncedDisk};
use crate::{
    Config, Error, Feedback, FolderError, LearnOutcome, Lesson, Listing, ManualClock, Playbook, ReceiptId, Request,
    Result, TextHash, build_lesson,
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

/// Opens with room for every lesson, at this time.
fn open_at(folder: &Path, disk: Box<dyn Disk>, now: DateTime<FixedOffset>) -> Result<Playbook> {
    Playbook::builder(folder).with_disk(disk).with_clock(Arc::new(ManualClock::new(now))).without_embedder().open()
}

/// Retrievals and helpful outcomes of all lessons.
fn counts(playbook: &Playbook) -> (u64, u64) {
    let lessons = playbook.list_lessons(&Listing::everything()).unwrap();
    let sum = |count: fn(&Lesson) -> u64| lessons.iter().map(|lesson| count(lesson)).sum();
    (sum(|lesson| lesson.retrievals), sum(|lesson| lesson.helpful_retrievals))
}

/// The commits on a copy of the folder keep its counts, whichever operation fails; without a failure, `is_done` holds after them.
fn check_commits(folder: &Path, now: DateTime<FixedOffset>, expected: (u64, u64), is_done: impl Fn(&Path) -> bool) {
    for fault in [Fault::Once, Fault::Freeze] {
        for number in 1.. {
            let copy = tempfile::tempdir().unwrap();
            for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
                std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
            }
            let done = Arc::new(AtomicUsize::new(0));
            let disk = FaultyDisk { fault, at: number, done: Arc::clone(&done) };
            if let Ok(playbook) = open_at(copy.path(), Box::new(disk), now) {
                let learned = playbook.learn_lesson(build_lesson(FIRST, "with the csv crate"));
                drop(learned.and_then(|_| playbook.learn_lesson(build_lesson(SECOND, "one by one"))));
            }
            let open = || open_at(copy.path(), Box::new(RealDisk), now).unwrap();
            assert_eq!(counts(&open()), expected, "{fault:?} at operation {number}");
            open().learn_lesson(build_lesson(THIRD, "after a conversion")).unwrap();
            assert_eq!(counts(&open()), expected, "{fault:?} at operation {number}, after the next commit");
            assert_eq!(open().check().unwrap().findings, [], "{fault:?} at operation {number}");
            assert!(is_done(copy.path()), "{fault:?} at operation {number}");
            if done.load(Ordering::SeqCst) < number {
                assert!(number > 40, "only {number} operations");
                break;
            }
        }
    }
}

#[test]
fn usage_of_an_earlier_version_is_moved_and_counts_once_whatever_fails() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/formats/usage_segments");
    let now = DateTime::parse_from_rfc3339("2026-01-08T00:00:00Z").unwrap();
    check_commits(&fixture, now, (4, 1), |folder| {
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        let usage: Vec<&String> = names.iter().filter(|name| usage::is_usage(name) && **name != "usage.lock").collect();
        usage == ["usage.jsonl"]
    });
}

#[test]
fn a_usage_file_is_shortened_and_its_counts_stay_whatever_fails() {
    const N_RECALLS: i64 = 2_000;
    let folder = tempfile::tempdir().unwrap();
    let playbook = open_at(folder.path(), Box::new(RealDisk), at(0)).unwrap();
    let id = playbook.learn_lesson(build_lesson(FOURTH, "give it the whole path")).unwrap().id().unwrap();
    let text = playbook.find(id).unwrap().text_hash();
    let recall = |seconds| {
        let receipt = ReceiptId::at(at(seconds), TextHash::of(&["a receipt"]));
        Event::Shown { receipt, shown: vec![(id, text)], at: at(seconds) }
    };
    let recalls: Vec<Event> = (0..N_RECALLS).map(recall).collect();
    usage::UsageFile(&Directory::real(folder.path())).append(0, &recalls).unwrap();
    // One commit counts them.
    playbook.learn_lesson(build_lesson("seal a letter", "with wax")).unwrap();
    drop(playbook);
    let length = |folder: &Path| std::fs::metadata(folder.join("usage.jsonl")).unwrap().len();
    assert!(length(folder.path()) > 256 << 10);
    let now = at(N_RECALLS) + TimeDelta::days(7);
    check_commits(folder.path(), now, (N_RECALLS as u64, 0), |folder| length(folder) < 1_000);
}
