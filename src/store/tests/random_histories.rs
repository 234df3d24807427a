//! Long random histories of one handle: on a disk that fails occasionally, and with attempts to bring removed texts back.

#![allow(clippy::disallowed_methods, reason = "the tests put older files back by themselves")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use crate::exchange::{ExportKey, Format, read_export};
use crate::folder::disk::{Disk, RealDisk};
use crate::store::PLAYBOOK;
use crate::testing::at;
use crate::testing::faults::{Verdict, Watch};
use crate::testing::random::{Random, n_cases};
use crate::{Config, Error, FolderError, Lesson, LessonId, Listing, ManualClock, Playbook, build_lesson};

/// The triggers and solutions of all lessons in use.
type Texts = BTreeMap<String, String>;

fn open(folder: &Path, disk: Box<dyn Disk>, key: &ExportKey) -> Playbook {
    let mut config = Config::default();
    config.retention.capacity = 10_000;
    let clock = Arc::new(ManualClock::new(at(0)));
    let builder = Playbook::builder(folder).with_disk(disk).with_clock(clock).with_config(config);
    builder.without_embedder().with_export_key(key.clone()).open().unwrap()
}

fn texts(playbook: &Playbook) -> Texts {
    let lessons = playbook.list_lessons(&Listing::everything()).unwrap();
    lessons.iter().map(|lesson| (lesson.trigger.clone(), lesson.solution.clone())).collect()
}

/// One operation in 30 fails while it is armed; half of the failing writes leave a part.
#[derive(Clone)]
struct FlakyDisk {
    is_armed: Arc<AtomicBool>,
    random: Arc<Mutex<Random>>,
}

impl Watch for FlakyDisk {
    fn decide(&self, _: &'static str, _: &Path) -> Verdict {
        const ONE_IN: usize = 30;
        let mut random = self.random.lock();
        match random.below(ONE_IN) {
            0 if self.is_armed.load(Ordering::SeqCst) => [Verdict::Fails, Verdict::Tears][random.below(2)],
            _ => Verdict::Happens,
        }
    }
}

/// A random call on a playbook, and its effect on the texts.
fn any_call(random: &mut Random, number: usize, known: &Texts) -> (String, Texts) {
    let mut after = known.clone();
    let triggers: Vec<&String> = known.keys().collect();
    let existing = random.of(&triggers).map(|trigger| (*trigger).clone());
    let kind = match (random.below(4), existing) {
        (0, Some(trigger)) if known.len() > 20 => {
            after.remove(&trigger);
            format!("remove {trigger}")
        }
        (1, Some(trigger)) => {
            after.insert(trigger.clone(), format!("edited by call {number}"));
            format!("edit {trigger}")
        }
        _ => {
            after.insert(format!("t{number}r"), format!("s{number}"));
            format!("learn t{number}r")
        }
    };
    (kind, after)
}

fn call(playbook: &Playbook, what: &str, after: &Texts) -> crate::Result<()> {
    let (kind, trigger) = what.split_once(' ').unwrap();
    let solution = || after[trigger].clone();
    match kind {
        "remove" => playbook.remove_by_trigger(trigger).map(|_| ()),
        "edit" => {
            let found = playbook.find_by_trigger(trigger)?;
            playbook.edit(found.id, build_lesson(trigger, solution())).map(|_| ())
        }
        _ => playbook.learn_lesson(build_lesson(trigger, solution())).map(|_| ()),
    }
}

/// `ADAGE_DISK_ERRORS` sets the number of calls.
#[test]
fn occasional_disk_failures_leave_the_state_before_or_after() {
    let n_calls = n_cases("ADAGE_DISK_ERRORS", 400);
    let folder = tempfile::tempdir().unwrap();
    let key = ExportKey::generate();
    let is_armed = Arc::new(AtomicBool::new(false));
    let disk = FlakyDisk { is_armed: Arc::clone(&is_armed), random: Arc::new(Mutex::new(Random(11))) };
    let (mut random, mut known, mut n_failed) = (Random(12), Texts::new(), 0);
    let mut playbook = open(folder.path(), Box::new(disk.clone()), &key);
    for number in 0..n_calls {
        let (what, after) = any_call(&mut random, number, &known);
        is_armed.store(true, Ordering::SeqCst);
        let done = call(&playbook, &what, &after);
        is_armed.store(false, Ordering::SeqCst);
        let on_disk = texts(&open(folder.path(), Box::new(RealDisk), &key));
        match &done {
            Ok(()) => known = after,
            Err(error) => {
                assert!(
                    matches!(error, Error::Folder(FolderError::Io { .. } | FolderError::WritesStopped { .. })),
                    "call {number}, {what}: {error}"
                );
                n_failed += 1;
                // A commit that was written, but could not be synced or acknowledged, may hold.
                if on_disk == after {
                    known = after;
                }
            }
        }
        assert!(on_disk == known, "call {number}, {what}, {done:?}: {on_disk:#?} instead of {known:#?}");
        if matches!(
            done,
            Err(Error::Folder(FolderError::WritesStopped { .. } | FolderError::Io { action: "sync", .. }))
        ) {
            playbook = open(folder.path(), Box::new(disk.clone()), &key);
        }
        assert!(texts(&playbook) == known, "call {number}, {what}, {done:?}: the handle sees something else");
    }
    assert!(n_failed * 20 > n_calls, "only {n_failed} of {n_calls} calls failed");
    // What the last call left behind, if it failed, is gone with the next commit.
    let playbook = open(folder.path(), Box::new(RealDisk), &key);
    playbook.learn_lesson(build_lesson("the end", "of all calls")).unwrap();
    assert_eq!(playbook.check().unwrap().findings, []);
}

/// Id, trigger and solution of a lesson.
type Row = (LessonId, String, String);

/// The lessons in use, and those that await review.
fn rows(playbook: &Playbook) -> [Vec<Row>; 2] {
    let row = |lesson: &Lesson| (lesson.id, lesson.trigger.clone(), lesson.solution.clone());
    let lessons = playbook.list_lessons(&Listing::everything()).unwrap();
    let waiting = playbook.waiting_lessons().unwrap();
    [lessons.iter().map(|lesson| row(lesson)).collect(), waiting.iter().map(|waiting| row(&waiting.lesson)).collect()]
}

/// `ADAGE_HISTORIES` sets the number of calls.
#[test]
fn a_removed_lesson_is_never_brought_back() {
    let n_calls = n_cases("ADAGE_HISTORIES", 400);
    let folder = tempfile::tempdir().unwrap();
    let aside = tempfile::tempdir().unwrap();
    let copy = |n: usize| aside.path().join(n.to_string());
    let key = ExportKey::generate();
    let mut playbook = open(folder.path(), Box::new(RealDisk), &key);
    let (mut random, mut exports, mut n_copies) = (Random(13), Vec::new(), 0);
    let (mut removed_ids, mut removed_texts) = (BTreeSet::new(), BTreeSet::new());
    for number in 0..n_calls {
        let kind = random.below(14);
        let [known, _] = rows(&playbook);
        match kind {
            0 => exports.push(playbook.export_text(Format::JsonLines, &Listing::everything()).unwrap()),
            1 if !exports.is_empty() => {
                // The user's own export is trusted; another one awaits review.
                let own = Some(&key).filter(|_| random.below(2) == 0);
                let read = read_export(Format::JsonLines, random.of(&exports).unwrap(), own);
                playbook.import(read.lessons.into_iter().flatten()).unwrap();
            }
            2 => {
                playbook.back_up(copy(n_copies)).unwrap();
                n_copies += 1;
            }
            3 if n_copies > 0 => drop(playbook.restore(copy(random.below(n_copies))).unwrap()),
            // An older file is restored by hand.
            4 if n_copies > 0 => {
                drop(playbook);
                fs::copy(copy(random.below(n_copies)).join(PLAYBOOK), folder.path().join(PLAYBOOK)).unwrap();
                playbook = open(folder.path(), Box::new(RealDisk), &key);
            }
            5 => {
                drop(playbook);
                playbook = open(folder.path(), Box::new(RealDisk), &key);
            }
            6 if !known.is_empty() => {
                let (id, trigger, _) = random.of(&known).unwrap();
                let edited = build_lesson(trigger.clone(), format!("edited by call {number}"));
                playbook.edit(*id, edited).unwrap();
            }
            7 | 8 if known.len() > 10 => {
                let (id, trigger, solution) = random.of(&known).unwrap();
                playbook.remove(*id).unwrap();
                removed_ids.insert(*id);
                removed_texts.insert((trigger.clone(), solution.clone()));
            }
            _ => {
                playbook.learn_lesson(build_lesson(format!("t{number}r"), format!("s{number}"))).unwrap();
            }
        }
        for (id, trigger, solution) in rows(&playbook).concat() {
            let is_back = removed_ids.contains(&id) || removed_texts.contains(&(trigger.clone(), solution.clone()));
            assert!(!is_back, "call {number}, of kind {kind}: {trigger:?}, {solution:?}, {id} came back");
        }
    }
    assert!(removed_ids.len() * 20 > n_calls, "only {} removals in {n_calls} calls", removed_ids.len());
}
