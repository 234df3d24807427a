//! Flipped bits and truncated files: damage is detected and never taken for another text.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use adage::playbook::ChangeAction;
use adage::{Document, Feedback, Filter, HashingEmbedder, Listing, Lookup, Playbook, VectorMemory};
use serde_json::{Value, json};

use super::bench::{BACKUP, Bench, PLAYBOOK, learn, three};
use super::transcripts::say;

/// A folder with lessons, counts, a removal and usage that is not folded in yet.
fn stocked() -> Bench {
    let bench = Bench::new();
    let playbook = bench.open();
    for draft in three() {
        bench.advance(1);
        learn(&playbook, draft);
    }
    let receipt = playbook.get_playbook_context("parsing CSV exports").unwrap().receipt.unwrap();
    playbook.record_outcome(receipt, Feedback::Helpful).unwrap();
    playbook.remove("compressing photographs").unwrap();
    playbook.get_playbook_context("rotating ssh keys").unwrap();
    drop(playbook);
    bench
}

/// The state that a user can see.
fn state(playbook: &Playbook) -> Value {
    let lessons = playbook.list_lessons(&Listing::everything()).unwrap();
    let stats = playbook.stats().unwrap();
    let history: Vec<String> = playbook.changes().unwrap().iter().map(|change| json!(change).to_string()).collect();
    json!({"lessons": lessons, "removed": stats.n_removed, "waiting": stats.n_waiting, "history": history})
}

/// Changes a file and keeps its times.
fn damage(path: &Path, bytes: &[u8]) {
    let modified = fs::metadata(path).unwrap().modified().unwrap();
    let mut file = File::options().write(true).truncate(true).open(path).unwrap();
    std::io::Write::write_all(&mut file, bytes).unwrap();
    file.set_modified(modified).unwrap();
}

/// A damage to a file.
#[derive(Clone, Copy, Debug)]
enum Damage {
    Flip { byte: usize, bit: usize },
    Cut { at: usize },
}

impl Damage {
    fn of(self, whole: &[u8]) -> Vec<u8> {
        let mut bytes = whole.to_vec();
        match self {
            Self::Flip { byte, bit } => bytes[byte] ^= 1 << bit,
            Self::Cut { at } => bytes.truncate(at),
        }
        bytes
    }
}

/// True for the extended tests, with every bit of a file and a cut at every byte.
fn is_thorough() -> bool {
    std::env::var_os("ADAGE_DAMAGE").is_some_and(|value| value == "all")
}

/// One bit of every byte, a different one each time; in the extended tests, every bit.
fn flips(length: usize) -> Vec<Damage> {
    let bits = |byte: usize| if is_thorough() { 0..8 } else { byte * 5 % 8..byte * 5 % 8 + 1 };
    (0..length).flat_map(|byte| bits(byte).map(move |bit| Damage::Flip { byte, bit })).collect()
}

fn cuts(length: usize) -> Vec<Damage> {
    (0..length).step_by(if is_thorough() { 1 } else { 3 }).map(|at| Damage::Cut { at }).collect()
}

/// After each of these damages the state is the same, or a check reports the damage.
fn check_each(name: &str, damages: impl Fn(usize) -> Vec<Damage>) {
    let bench = stocked();
    let path = bench.path(name);
    let whole = fs::read(&path).unwrap();
    let known = state(&bench.builder().read_only().open().unwrap());
    let (mut n_healed, mut n_told) = (0, 0);
    let all = damages(whole.len());
    assert!(!all.is_empty());
    for what in &all {
        damage(&path, &what.of(&whole));
        let playbook = bench.builder().read_only().open().unwrap_or_else(|error| panic!("{name}, {what:?}: {error}"));
        let is_told = playbook.recovery().is_some() || !playbook.check().unwrap().findings.is_empty();
        let now = state(&playbook);
        if now == known {
            n_healed += 1;
        } else {
            assert!(is_told, "{name}, {what:?}: {now:#} instead of {known:#}");
            n_told += 1;
        }
        if [PLAYBOOK, BACKUP].contains(&name) {
            assert_eq!(now, known, "{name}, {what:?}");
        }
    }
    say(&format!("{name}: {n_healed} the same, {n_told} told"));
    // The next writer continues from the same state.
    damage(&path, &all[all.len() / 2].of(&whole));
    let before = state(&bench.open());
    let ids = |state: &Value| {
        let lessons = state["lessons"].as_array().unwrap().iter();
        lessons.map(|lesson| lesson["id"].to_string()).collect::<BTreeSet<_>>()
    };
    assert_eq!(ids(&before), ids(&known));
}

#[test]
fn a_flipped_bit_of_the_playbook_or_its_backup_changes_nothing() {
    check_each(PLAYBOOK, flips);
    check_each(BACKUP, flips);
}

#[test]
fn a_truncated_playbook_or_backup_loses_nothing() {
    check_each(PLAYBOOK, cuts);
    check_each(BACKUP, cuts);
}

#[test]
fn a_flipped_bit_of_the_archive_or_of_usage_is_detected() {
    check_each("archive.jsonl", flips);
    check_each("usage.jsonl", flips);
}

/// A cut after a whole line that no commit counted cannot be distinguished from a line that was never written.
#[test]
fn truncated_usage_is_reported() {
    let usage = stocked().read("usage.jsonl");
    let last = usage.strip_suffix(b"\n").unwrap().iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    let is_known = |damage: &Damage| !matches!(damage, Damage::Cut { at } if *at == last);
    check_each("usage.jsonl", |length| cuts(length).into_iter().filter(is_known).collect());
}

/// Later counts do not hide it.
#[test]
fn missing_usage_is_reported_until_the_lines_before_it_are_removed() {
    let bench = stocked();
    let is_told = || {
        let findings = bench.builder().read_only().open().unwrap().check().unwrap().findings;
        findings.iter().any(|finding| finding.problem == "1 lines of usage are missing")
    };
    learn(&bench.open(), adage::build_lesson("amber kettle", "fill it first"));
    assert!(!is_told());
    let whole = bench.read("usage.jsonl");
    let last = whole.strip_suffix(b"\n").unwrap().iter().rposition(|byte| *byte == b'\n').unwrap();
    bench.write("usage.jsonl", &whole[..=last]);
    assert!(is_told());
    while bench.read("usage.jsonl").len() <= 256 * 1024 {
        for _ in 0..100 {
            bench.open().get_playbook_context("parsing CSV exports").unwrap();
        }
    }
    assert!(is_told());
    learn(&bench.open(), adage::build_lesson("brass anvil", "warm it first"));
    bench.advance(8 * 24 * 60 * 60);
    assert!(is_told());
    learn(&bench.open(), adage::build_lesson("copper lantern", "light it last"));
    assert!(!is_told() && bench.open().check().unwrap().findings.is_empty());
}

/// The log of a vector memory, and its vectors: the documents are the same, or the open reports the loss. A cut cannot be
/// distinguished from an unfinished write.
#[test]
fn a_damaged_vector_memory_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let open = |is_reader: bool| {
        let builder = VectorMemory::builder(folder.path()).with_embedder(Arc::new(HashingEmbedder));
        if is_reader { builder.read_only() } else { builder }.open().unwrap()
    };
    let document =
        |n: usize| Document::new(n.to_string(), format!("text {n} of the memory")).with("half", (n % 2).to_string());
    let state = |memory: &VectorMemory| {
        let documents = memory.documents(&Filter::all()).unwrap();
        let nearest = memory.query(&Lookup::text("text 1 of the memory")).unwrap();
        let nearest: Vec<String> = nearest.hits.iter().map(|hit| hit.document.id.clone()).collect();
        (documents.iter().map(|document| json!(**document).to_string()).collect::<Vec<_>>(), nearest)
    };
    let memory = open(false);
    let mut states = vec![state(&memory)];
    let mut done = || states.push(state(&memory));
    memory.add(document(0)).unwrap();
    done();
    memory.add_all((1..4).map(document)).unwrap();
    done();
    memory.update(Document::new("2", "another text")).unwrap();
    done();
    memory.remove("3").unwrap();
    done();
    memory.snapshot().unwrap();
    drop(memory);
    let known = states.last().cloned().unwrap();
    for name in ["documents.jsonl", "vectors.bin"] {
        let path = folder.path().join(name);
        let whole = fs::read(&path).unwrap();
        let (mut n_same, mut n_told) = (0, 0);
        for what in flips(whole.len()).into_iter().chain(cuts(whole.len())) {
            // Not changed in place: a handle may have mapped it.
            fs::remove_file(&path).unwrap();
            fs::write(&path, what.of(&whole)).unwrap();
            let memory = open(true);
            let now = state(&memory);
            n_same += usize::from(now == known);
            n_told += usize::from(now != known);
            // A truncated log looks like that of a dead writer: the state is the one after some batch.
            let is_earlier = matches!(what, Damage::Cut { .. }) && states.contains(&now);
            let is_told = memory.recovery().is_some() || is_earlier;
            assert!(now == known || is_told, "{name}, {what:?}: {now:#?} instead of {known:#?}");
        }
        say(&format!("{name}: {n_same} the same, {n_told} told"));
        fs::write(&path, &whole).unwrap();
    }
}

#[test]
fn the_backup_is_a_file_of_its_own_with_the_newest_state() {
    let bench = stocked();
    assert_eq!(bench.read(BACKUP), bench.read(PLAYBOOK));
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        assert_ne!(fs::metadata(bench.path(BACKUP)).unwrap().ino(), fs::metadata(bench.path(PLAYBOOK)).unwrap().ino());
    }
}

#[test]
fn the_record_of_changes_is_bounded_and_removals_are_kept() {
    let bench = Bench::new();
    let mut config = adage::Config::default();
    config.store.archive_max_bytes = 16 << 10;
    config.retention.capacity = 4;
    let open = || bench.builder().with_config(config.clone()).open().unwrap();
    let playbook = open();
    let first = learn(&playbook, adage::build_lesson("the first of all", "It is removed."));
    playbook.remove(first).unwrap();
    for number in 0..200 {
        bench.advance(1);
        learn(&playbook, adage::build_lesson(format!("w{number}x y{number}z"), format!("rule {number}")));
        assert!(bench.read("archive.jsonl").len() <= 18 << 10);
    }
    let changes = open().changes().unwrap();
    assert_eq!((changes[0].action, changes[0].lessons[0].id), (ChangeAction::Remove, first));
    assert!((10..190).contains(&changes.len()), "{}", changes.len());
    assert!(open().check().unwrap().findings.is_empty());
    // Of the changes older than two years, the removal is kept.
    bench.advance(3 * 365 * 24 * 60 * 60);
    for number in 0..64 {
        learn(&playbook, adage::build_lesson(format!("v{number}x u{number}z"), format!("rule {number}")));
    }
    let changes = open().changes().unwrap();
    assert_eq!(changes[0].lessons[0].id, first);
    assert!(changes[1].at.signed_duration_since(changes[0].at).num_days() > 1_000, "{:?}", changes[1].at);
}

/// An older copy of the file is restored, with or without its times.
#[test]
fn a_restored_older_copy_is_recognised_and_removals_hold() {
    for keeps_times in [true, false] {
        let bench = Bench::new();
        let playbook = bench.open();
        for draft in three() {
            bench.advance(1);
            learn(&playbook, draft);
        }
        let (old, modified) = (bench.read(PLAYBOOK), fs::metadata(bench.path(PLAYBOOK)).unwrap().modified().unwrap());
        playbook.remove("compressing photographs").unwrap();
        learn(&playbook, adage::build_lesson("amber kettle", "fill it first"));
        let known = state(&playbook);
        drop(playbook);
        bench.write(PLAYBOOK, &old);
        if keeps_times {
            File::options().write(true).open(bench.path(PLAYBOOK)).unwrap().set_modified(modified).unwrap();
        }
        let playbook = bench.open();
        let recovery = playbook.recovery().expect("it is told");
        assert!(recovery.reason.starts_with("it is an older copy: generation 3 after 5"), "{recovery:?}");
        assert_eq!(state(&playbook), known);
        assert_eq!(fs::read(&recovery.kept_at[0]).unwrap(), old);
    }
}

/// A person saved a version that was opened before other handles learned: the person's rows are used, and the others' are kept.
#[test]
fn an_edit_of_an_older_text_is_merged_row_by_row() {
    let bench = Bench::new();
    let playbook = bench.open();
    for draft in three() {
        bench.advance(1);
        learn(&playbook, draft);
    }
    let mut text: Value = serde_json::from_slice(&bench.read(PLAYBOOK)).unwrap();
    learn(&playbook, adage::build_lesson("amber kettle", "fill it first"));
    let rows = text["lessons"].as_array_mut().unwrap();
    let row = rows.iter_mut().find(|row| row["trigger"] == "parsing CSV exports").unwrap();
    row["correct_pattern"] = json!("Edited by hand.");
    row["solution"] = json!("Edited by hand.");
    rows.push(json!({"trigger": "new by hand", "solution": "Written by hand."}));
    bench.write(PLAYBOOK, format!("{text:#}"));
    let lessons = playbook.list_lessons(&Listing::everything()).unwrap();
    let find =
        |trigger: &str| lessons.iter().find(|lesson| lesson.trigger == trigger).map(|lesson| &lesson.correct_pattern);
    assert_eq!(lessons.len(), 5);
    assert_eq!(find("parsing CSV exports").unwrap(), "Edited by hand.");
    assert_eq!(find("amber kettle").unwrap(), "fill it first");
    assert_eq!(find("new by hand").unwrap(), "Written by hand.");
    let edited = playbook.check().unwrap().findings;
    assert_eq!(edited.iter().filter(|finding| finding.problem.ends_with("was edited in the file")).count(), 2);
}
