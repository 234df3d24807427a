//! The two copies of a playbook (docs/spec/folder-format.md, 2): the newer whole one is the state. And the log that earlier versions kept.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use adage::{Lesson, Playbook, build_lesson};

use super::bench::{BACKUP, Bench, LOG, PLAYBOOK, learn, lessons, three, triggers};

/// Restores a file with its time.
fn put_back(bench: &Bench, name: &str, bytes: &[u8], time: SystemTime) {
    bench.write(name, bytes);
    File::options().write(true).open(bench.path(name)).unwrap().set_modified(time).unwrap();
}

fn state(playbook: &Playbook) -> Vec<Lesson> {
    lessons(playbook).iter().map(|lesson| Lesson::clone(lesson)).collect()
}

#[test]
fn everything_is_restored_from_the_second_copy() {
    let bench = Bench::new();
    let playbook = bench.open();
    let ids: Vec<_> = three().into_iter().map(|draft| learn(&playbook, draft)).collect();
    playbook.get_playbook_context("parsing CSV exports").unwrap();
    playbook.remove(ids[1]).unwrap();
    learn(&playbook, build_lesson("waxing skis", "brush along the base"));
    let known = state(&playbook);
    drop(playbook);
    for file in ["", "{\"lessons\": [", "\0\0\0\0"] {
        bench.write(PLAYBOOK, file);
        let playbook = bench.open();
        let recovery = playbook.recovery().unwrap();
        assert!(recovery.from_backup && recovery.kept_at.len() == 1, "{recovery:?}");
        assert_eq!(state(&playbook), known);
        assert_eq!(playbook.stats().unwrap().n_removed, 1);
        assert!(bench.open().recovery().is_none());
    }
}

#[test]
fn a_commit_that_did_not_replace_the_file_holds_and_is_not_damage() {
    let bench = Bench::new();
    let playbook = bench.open();
    learn(&playbook, three()[0].clone());
    let (bytes, time) = (bench.read(PLAYBOOK), fs::metadata(bench.path(PLAYBOOK)).unwrap().modified().unwrap());
    learn(&playbook, three()[1].clone());
    let known = state(&playbook);
    let other = bench.open();
    put_back(&bench, PLAYBOOK, &bytes, time);
    for playbook in [&playbook, &other, &bench.open()] {
        assert!(playbook.recovery().is_none());
        assert_eq!(state(playbook), known);
    }
    learn(&other, three()[2].clone());
    assert_eq!(triggers(&bench.open()).len(), 3);
    assert_eq!(bench.json()["generation"], 3);
    // This holds for the first commit too.
    let bench = Bench::new();
    learn(&bench.open(), three()[0].clone());
    bench.delete(PLAYBOOK);
    assert_eq!((triggers(&bench.open()).len(), bench.open().recovery()), (1, None));
}

/// A memory of an earlier version whose file is behind its log.
fn logged(log: &str) -> Bench {
    let (bench, from) = (Bench::new(), Path::new("tests/fixtures/formats/logged"));
    for (name, source) in [(PLAYBOOK, PLAYBOOK), (BACKUP, BACKUP), ("archive.jsonl", "archive.jsonl"), (LOG, log)] {
        bench.write(name, fs::read(from.join(source)).unwrap());
    }
    let nanos = bench.json()["written"].as_u64().unwrap();
    let written = SystemTime::UNIX_EPOCH.checked_add(Duration::from_nanos(nanos)).unwrap();
    File::options().write(true).open(bench.path(PLAYBOOK)).unwrap().set_modified(written).unwrap();
    bench
}

#[test]
fn what_only_the_log_of_an_earlier_version_has_is_kept() {
    for log in [LOG, "large.log"] {
        let bench = logged(log);
        for playbook in [bench.builder().read_only().open().unwrap(), bench.open()] {
            assert_eq!(playbook.recovery(), None, "{log}");
            assert_eq!(triggers(&playbook), ["compressing photographs", "parsing CSV exports"], "{log}");
            assert!(playbook.find("parsing CSV exports").unwrap().verified);
            assert_eq!(playbook.find("compressing photographs").unwrap().correct_pattern, "Strip the position first.");
            assert_eq!(playbook.stats().unwrap().n_removed, 1);
        }
        learn(&bench.open(), build_lesson("waxing skis", "brush along the base"));
        assert!(!bench.has(LOG) && bench.json()["generation"] == 7, "{log}");
        assert_eq!(triggers(&bench.open()).len(), 3);
    }
}

#[test]
fn an_edit_of_a_file_that_is_behind_such_a_log_is_kept() {
    let bench = logged("large.log");
    let mut file = bench.json();
    let rows = file["lessons"].as_array_mut().unwrap();
    let row = rows.iter_mut().find(|row| row["trigger"] == "parsing CSV exports").unwrap();
    (row["solution"], row["correct_pattern"]) = ("By hand.".into(), "By hand.".into());
    bench.write(PLAYBOOK, format!("{file:#}"));
    let playbook = bench.open();
    assert_eq!(playbook.find("parsing CSV exports").unwrap().correct_pattern, "By hand.");
    assert_eq!(triggers(&playbook), ["compressing photographs", "parsing CSV exports"]);
}

#[test]
fn a_broken_file_with_such_a_log_is_restored_from_both() {
    for log in [LOG, "large.log"] {
        let bench = logged(log);
        bench.write(PLAYBOOK, "{");
        assert_eq!(triggers(&bench.open()), ["compressing photographs", "parsing CSV exports"], "{log}");
        assert!(bench.open().recovery().is_none() && !bench.has(LOG), "{log}");
    }
}

/// The second copy is synced before the file is replaced: it is the commit.
#[test]
fn a_hand_edit_wins_over_the_second_copy() {
    let bench = Bench::new();
    learn(&bench.open(), three()[0].clone());
    let mut file = bench.json();
    (file["lessons"][0]["solution"], file["lessons"][0]["correct_pattern"]) = ("By hand.".into(), "By hand.".into());
    bench.write(PLAYBOOK, format!("{file:#}"));
    let playbook = bench.open();
    assert_eq!(playbook.find("parsing CSV exports").unwrap().correct_pattern, "By hand.");
    learn(&playbook, three()[1].clone());
    assert_eq!(bench.read(PLAYBOOK), bench.read(BACKUP));
}
