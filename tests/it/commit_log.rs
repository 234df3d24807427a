//! The log of commits (docs/spec/folder-format.md, 2): what it restores, and which of its lines count.

use std::fs::{self, File};
use std::time::SystemTime;

use adage::playbook::MemoryPart;
use adage::{Lesson, Playbook, build_lesson};

use super::bench::{BACKUP, Bench, LOG, PLAYBOOK, learn, lessons, three, triggers};

/// A playbook file over this length is not written at every commit.
const SMALL_FILE: u64 = 1 << 20;

fn modified(bench: &Bench, name: &str) -> SystemTime {
    fs::metadata(bench.path(name)).unwrap().modified().unwrap()
}

/// Restores a file with its time.
fn put_back(bench: &Bench, name: &str, bytes: &[u8], time: SystemTime) {
    bench.write(name, bytes);
    File::options().write(true).open(bench.path(name)).unwrap().set_modified(time).unwrap();
}

fn state(playbook: &Playbook) -> Vec<Lesson> {
    lessons(playbook).iter().map(|lesson| Lesson::clone(lesson)).collect()
}

#[test]
fn everything_is_restored_from_the_log_alone() {
    let bench = Bench::new();
    let playbook = bench.open();
    let ids: Vec<_> = three().into_iter().map(|draft| learn(&playbook, draft)).collect();
    playbook.get_playbook_context("parsing CSV exports").unwrap();
    playbook.remove(ids[1]).unwrap();
    learn(&playbook, build_lesson("waxing skis", "brush along the base"));
    let known = state(&playbook);
    drop(playbook);
    for (file, backup) in [("", ""), ("{\"lessons\": [", "["), ("\0\0\0\0", "\0\0")] {
        bench.write(PLAYBOOK, file);
        bench.write(BACKUP, backup);
        let playbook = bench.open();
        let recovery = playbook.recovery().unwrap();
        assert!(recovery.from_backup && recovery.kept_at.len() == 2, "{recovery:?}");
        assert_eq!(state(&playbook), known);
        assert_eq!(playbook.stats().unwrap().n_removed, 1);
        assert!(bench.open().recovery().is_none());
    }
}

#[test]
fn a_commit_whose_file_was_not_written_is_recovered_and_not_damage() {
    let bench = Bench::new();
    let playbook = bench.open();
    learn(&playbook, three()[0].clone());
    let (bytes, time) = (bench.read(PLAYBOOK), modified(&bench, PLAYBOOK));
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
    bench.delete(BACKUP);
    assert_eq!((triggers(&bench.open()).len(), bench.open().recovery()), (1, None));
}

/// A truncated log is a shorter log; whatever its state, a valid playbook file is used.
#[test]
fn a_truncated_or_damaged_log_changes_nothing_while_the_file_is_whole() {
    let bench = Bench::new();
    let playbook = bench.open();
    for draft in three() {
        learn(&playbook, draft);
    }
    let (known, whole) = (state(&playbook), bench.read(LOG));
    drop(playbook);
    let mut damaged: Vec<Vec<u8>> = (0..whole.len()).step_by(7).map(|length| whole[..length].to_vec()).collect();
    damaged.extend((0..whole.len() * 8).step_by(61).map(|bit| {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        bytes
    }));
    damaged.push([&whole[..], b"{\"generation\":9,\"lessons\":[]}\n"].concat());
    for bytes in damaged {
        bench.write(LOG, &bytes);
        let playbook = bench.builder().read_only().open().unwrap();
        assert_eq!((state(&playbook), playbook.recovery()), (known.clone(), None));
    }
    // The next commit truncates the bytes after the last complete line.
    bench.write(LOG, &whole[..whole.len() - 5]);
    learn(&bench.open(), build_lesson("waxing skis", "brush along the base"));
    bench.write(PLAYBOOK, "{");
    bench.write(BACKUP, "{");
    assert_eq!(triggers(&bench.open()).len(), 4);
}

fn open_large(bench: &Bench) -> Playbook {
    let mut config = adage::Config::default();
    config.retention.capacity = 10_000;
    bench.builder().with_config(config).open().unwrap()
}

/// A playbook whose file is too large to be written at every commit.
fn large(bench: &Bench) -> Playbook {
    let playbook = open_large(bench);
    let filler = "and so on and on ".repeat(60);
    playbook
        .learn_lessons((0..800).map(|n| build_lesson(format!("case {n} of v{n}x"), format!("Answer u{n}z {filler}"))))
        .unwrap();
    assert!(fs::metadata(bench.path(PLAYBOOK)).unwrap().len() > SMALL_FILE);
    playbook
}

#[test]
fn a_large_file_is_rewritten_when_its_log_is_a_quarter_as_long() {
    let bench = Bench::new();
    let playbook = large(&bench);
    let (file, n_before) = (bench.read(PLAYBOOK), lessons(&playbook).len());
    let removed = learn(&playbook, three()[0].clone());
    learn(&playbook, three()[1].clone());
    playbook.remove(removed).unwrap();
    playbook.remove("case 17 of v17x").unwrap();
    assert!(bench.read(PLAYBOOK) == file, "the file is left");
    let known = state(&playbook);
    assert_eq!(known.len(), n_before);
    let other = open_large(&bench);
    assert!(other.recovery().is_none() && state(&other) == known);
    learn(&other, three()[2].clone());
    assert_eq!(lessons(&playbook).len(), n_before + 1, "the other's commit is seen");
    let known = state(&playbook);
    // A checkpoint, and then a newer log again.
    playbook.checkpoint().unwrap();
    assert_eq!(bench.json()["lessons"].as_array().unwrap().len(), n_before + 1);
    assert!(bench.read(LOG).len() < 1_000 && bench.read(BACKUP) == bench.read(PLAYBOOK));
    assert!(state(&open_large(&bench)) == known);
    playbook.mark_verified("case 5 of v5x", adage::Verification::Passed).unwrap();
    // Without the file, the backup and the log contain everything.
    let known = state(&playbook);
    bench.delete(PLAYBOOK);
    let playbook = open_large(&bench);
    assert!(playbook.recovery().is_some() && state(&playbook) == known);
    assert_eq!(bench.json()["lessons"].as_array().unwrap().len(), n_before + 1);
}

#[test]
fn an_edit_of_a_large_file_older_than_its_log_is_kept() {
    let bench = Bench::new();
    let playbook = large(&bench);
    learn(&playbook, three()[0].clone());
    playbook.mark_verified("case 3 of v3x", adage::Verification::Passed).unwrap();
    playbook.mark_verified("case 4 of v4x", adage::Verification::Passed).unwrap();
    let mut file = bench.json();
    let rows = file["lessons"].as_array_mut().unwrap();
    rows.retain(|row| row["trigger"] != "case 4 of v4x");
    let row = rows.iter_mut().find(|row| row["trigger"] == "case 3 of v3x").unwrap();
    row["solution"] = "By hand.".into();
    row["correct_pattern"] = "By hand.".into();
    bench.write(PLAYBOOK, format!("{file:#}"));
    for playbook in [&playbook, &open_large(&bench)] {
        assert!(playbook.recovery().is_none());
        assert_eq!(playbook.find("case 3 of v3x").unwrap().correct_pattern, "By hand.");
        assert!(playbook.find("case 4 of v4x").is_err(), "it does not come back");
        assert_eq!(playbook.find("parsing CSV exports").unwrap().correct_pattern, "Use the csv module.");
    }
    learn(&playbook, three()[1].clone());
    let known = state(&open_large(&bench));
    assert_eq!(known.len(), 801);
    assert!(state(&playbook) == known);
}

/// Only the log of a large playbook has the last commits: a damaged one is reported, the others hold.
#[test]
fn a_damaged_line_of_a_large_playbooks_log_is_reported() {
    for place in [1, 2, 3] {
        let bench = Bench::new();
        let playbook = large(&bench);
        for draft in three() {
            learn(&playbook, draft);
        }
        drop(playbook);
        let log = String::from_utf8(bench.read(LOG)).unwrap();
        let mut lines: Vec<String> = log.lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), 4);
        lines[place] = lines[place].replacen("archive_len", "archive_lem", 1);
        bench.write(LOG, lines.join("\n") + "\n");
        let playbook = open_large(&bench);
        let findings = playbook.check().unwrap().findings;
        assert!(
            findings.iter().any(|finding| finding.part == MemoryPart::Log && finding.problem == "1 lines are damaged"),
            "{findings:?}"
        );
        assert_eq!(lessons(&playbook).len(), 802);
        learn(&playbook, build_lesson("waxing skis", "brush along the base"));
        assert!(open_large(&bench).check().unwrap().findings.is_empty());
        assert_eq!(lessons(&open_large(&bench)).len(), 803);
    }
}
