//! Files that somebody else wrote: an earlier version, a newer one, a broken disk (docs/spec/playbook.md, 1, 2;
//! docs/spec/folder-format.md, 4).

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use adage::lesson::{Origin, Provenance, Refusal};
use adage::{
    Error, Feedback, FolderError, HashingEmbedder, LearnOutcome, LessonId, ManualClock, Playbook, Request, Tier,
    Verification, build_lesson,
};
use chrono::TimeDelta;
use serde_json::{Value, json};

use super::bench::{BACKUP, Bench, PLAYBOOK, learn, lessons, shown, start, three, triggers};

/// A bare list of an earlier version: v1 rows among v2 rows, oldest first, and rows that are not lessons.
fn old_rows() -> Value {
    json!([
        {"task": "amber kettle", "mistake": "boiled dry", "solution": "fill it first", "frequency": "3",
         "timestamp": "2026-02-01T08:30:00.250000", "mood": {"calm": true}},
        {"schema_version": 2, "trigger": "brass lantern", "correct_pattern": "trim the wick", "domains": "light, oil",
         "confidence": "0.75", "retrievals": "4", "helpful_retrievals": null, "verified": true,
         "timestamp": "2026-02-01T08:30:00+00:00", "tags": [1, null, "x"]},
        "a note between the lines",
        {"task": "copper anvil", "solution": "strike in the middle", "timestamp": "2026-02-02 07:00:00", "retrievals": 2.0},
        {"mood": "no lesson either"},
        {"trigger": "denim apron", "solution": "wash it inside out", "timestamp": "2026-02-02T06:00:00+02:00", "confidence": 7},
        null
    ])
}

fn old_file() -> String {
    format!("{:#}\n\n", old_rows())
}

/// At two hours east: 05:00Z, 04:00Z on the second; 08:30Z, 06:30:00.25Z on the first of February.
const NEWEST_FIRST: [&str; 4] = ["copper anvil", "denim apron", "brass lantern", "amber kettle"];

fn ids(playbook: &Playbook) -> Vec<LessonId> {
    lessons(playbook).iter().map(|lesson| lesson.id).collect()
}

fn is_refused<T: std::fmt::Debug>(result: Result<T, Error>, is_right: fn(&Error) -> bool) {
    match result {
        Err(error) => assert!(is_right(&error), "{error:?}"),
        Ok(value) => panic!("{value:?}"),
    }
}

#[test]
fn an_old_list_is_read_in_order_with_every_field() {
    let bench = Bench::with_playbook_file(old_file());
    let playbook = bench.open();
    assert_eq!(playbook.recovery(), None);
    assert_eq!(triggers(&playbook), NEWEST_FIRST);
    let [anvil, apron, lantern, kettle] = <[_; 4]>::try_from(lessons(&playbook)).unwrap();
    assert_eq!((kettle.schema_version, kettle.frequency, kettle.anti_pattern.as_str()), (1, 3, "boiled dry"));
    assert_eq!(kettle.timestamp.to_rfc3339(), "2026-02-01T08:30:00.250+02:00");
    assert_eq!((lantern.schema_version, lantern.retrievals, lantern.helpful_retrievals), (2, 4, 0));
    assert_eq!((lantern.domains.join("|"), lantern.verified), ("light|oil".to_owned(), true));
    assert!((lantern.confidence - 0.75).abs() < 1e-12 && (apron.confidence - 1.0).abs() < 1e-12);
    assert_eq!((anvil.retrievals, anvil.timestamp.to_rfc3339().as_str()), (2, "2026-02-02T07:00:00+02:00"));
    let parts: Vec<String> = playbook.check().unwrap().findings.into_iter().map(|finding| finding.problem).collect();
    assert_eq!(parts, ["3 rows are not lessons"]);
}

#[test]
fn an_old_list_retrieves_and_its_v1_rows_are_shown_as_such() {
    let bench = Bench::with_playbook_file(old_file());
    let playbook = bench.open();
    let context = playbook.get_playbook_context("amber kettle").unwrap();
    let expected = "## RELEVANT LESSONS LEARNED (Follow these to avoid repeats):\n\
        1. SITUATION: amber kettle\n   PREVIOUS MISTAKE: boiled dry\n   THE FIX: fill it first";
    assert_eq!(context.text, expected);
    let context = playbook.get_playbook_context("brass lantern").unwrap();
    let expected = "## RELEVANT LESSONS LEARNED (Follow these to avoid repeats):\n\
        1. TRIGGER (✓): brass lantern\n   DOMAINS: light, oil\n   CORRECT-PATTERN: trim the wick";
    assert_eq!(context.text, expected);
    assert_eq!(shown(&playbook.get_playbook_context(Request::cold_start()).unwrap()), NEWEST_FIRST);
}

#[test]
fn nothing_is_written_before_the_first_commit() {
    let bench = Bench::with_playbook_file(old_file());
    let playbook = bench.open();
    lessons(&playbook);
    playbook.check().unwrap();
    playbook.stats().unwrap();
    playbook.get_playbook_context(Request::about("amber kettle").peek()).unwrap();
    assert_eq!(bench.names(), BTreeSet::from([PLAYBOOK.to_owned()]));
    // A retrieval is counted in a usage file, not in the playbook file.
    let receipt = playbook.get_playbook_context("amber kettle").unwrap().receipt.unwrap();
    playbook.record_outcome(receipt, Feedback::Helpful).unwrap();
    drop(playbook);
    assert_eq!(bench.read(PLAYBOOK), old_file().as_bytes());
    assert!(!bench.has(BACKUP));
    let kettle = bench.open().find("amber kettle").unwrap();
    assert_eq!((kettle.retrievals, kettle.helpful_retrievals), (1, 1));
}

#[test]
fn the_first_commit_migrates_and_loses_nothing() {
    let bench = Bench::with_playbook_file(old_file());
    let playbook = bench.open();
    let receipt = playbook.get_playbook_context("amber kettle").unwrap().receipt.unwrap();
    let before = ids(&playbook);
    learn(&playbook, build_lesson("ebony flute", "keep it oiled"));
    assert_eq!(bench.read(BACKUP), bench.read(PLAYBOOK));

    let file = bench.json();
    assert_eq!((&file["schema_version"], &file["generation"]), (&json!(2), &json!(1)));
    let rows = file["lessons"].as_array().unwrap();
    let written: Vec<&str> = rows.iter().map(|row| row["trigger"].as_str().unwrap()).collect();
    assert_eq!(written, ["ebony flute", "copper anvil", "denim apron", "brass lantern", "amber kettle"]);
    assert!(rows.iter().all(|row| row["schema_version"] == json!(2)), "{rows:#?}");
    assert_eq!((&rows[4]["mood"], &rows[3]["tags"]), (&json!({"calm": true}), &json!([1, null, "x"])));
    assert_eq!(
        (&rows[4]["frequency"], &rows[4]["retrievals"], &rows[3]["retrievals"]),
        (&json!(3), &json!(1), &json!(4))
    );
    assert_eq!(file["unread"], json!(["a note between the lines", {"mood": "no lesson either"}, null]));

    // The ids, and their retrievals, are kept.
    assert_eq!(ids(&bench.open())[1..], before);
    let settled = bench.open().record_outcome(receipt, Feedback::Helpful).unwrap();
    assert_eq!(settled, adage::Credited::Recorded { lessons: vec![before[3]] });
    // All of it survives the following commits.
    learn(&bench.open(), build_lesson("felt slipper", "dry it slowly"));
    let file = bench.json();
    assert_eq!(
        (&file["lessons"][5]["mood"], &file["unread"][0]),
        (&json!({"calm": true}), &json!("a note between the lines"))
    );
}

/// Opens the same bytes as another process would, some time later.
fn names_at(bytes: &str, seconds: i64) -> BTreeSet<(LessonId, String)> {
    let bench = Bench::with_playbook_file(bytes);
    bench.advance(seconds);
    lessons(&bench.open()).iter().map(|lesson| (lesson.id, lesson.solution.clone())).collect()
}

fn check_names(bytes: &str, n_lessons: usize) {
    let names = names_at(bytes, 0);
    assert_eq!(names.iter().map(|(id, _)| id).collect::<BTreeSet<_>>().len(), n_lessons);
    assert_eq!(names, names_at(bytes, 3_600));
    let bench = Bench::with_playbook_file(bytes);
    let playbook = bench.open();
    playbook.mark_verified(names.first().unwrap().0, Verification::Failed).unwrap();
    bench.advance(7_200);
    let after = lessons(&bench.open()).iter().map(|lesson| (lesson.id, lesson.solution.clone())).collect();
    assert_eq!(names, after);
}

#[test]
fn rows_without_ids_get_the_same_ids_before_and_after_the_migration() {
    check_names(&old_file(), 4);
    let undated = json!([
        {"task": "amber kettle", "solution": "fill it first"},
        {"task": "brass lantern", "solution": "trim the wick"},
        {"task": "amber kettle", "solution": "fill it last", "timestamp": "2026-02-01T08:30:00"},
    ]);
    check_names(&undated.to_string(), 3);
}

#[test]
fn a_row_copied_by_hand_gets_the_same_id_from_every_reader() {
    let dated = json!({"task": "amber kettle", "solution": "fill it", "timestamp": "2026-02-01T08:30:00"});
    check_names(&json!([dated, dated]).to_string(), 2);
    let undated = json!({"task": "amber kettle", "solution": "fill it"});
    check_names(&json!([undated, undated]).to_string(), 2);
}

#[test]
fn rows_of_equal_times_keep_their_order_and_those_without_a_time_are_older_than_all_others() {
    let names = ["amber kettle", "brass lantern", "copper anvil", "denim apron", "elm mallet", "felt hat"];
    let row = |name: &str| match name {
        "amber kettle" | "elm mallet" => json!({"task": name, "solution": "fill it"}),
        "felt hat" => json!({"task": name, "solution": "brush it", "timestamp": "2026-02-03T08:30:00"}),
        _ => json!({"task": name, "solution": "oil it", "timestamp": "2026-02-01T08:30:00"}),
    };
    let in_time = ["felt hat", "brass lantern", "copper anvil", "denim apron", "amber kettle", "elm mallet"];
    let bench = Bench::with_playbook_file(json!(names.map(row)).to_string());
    let playbook = bench.open();
    assert_eq!(triggers(&playbook), in_time);
    let dated: Vec<bool> = lessons(&playbook).iter().map(|lesson| lesson.dated().is_some()).collect();
    assert_eq!(dated, [true, true, true, true, false, false]);
    learn(&playbook, build_lesson("gilt frame", "dust it"));
    assert_eq!(triggers(&bench.open()), [&["gilt frame"], &in_time[..]].concat());
    // Rows added before the others change no id.
    let longer = json!([&["denim apron two"], &names[..]].concat().into_iter().map(row).collect::<Vec<_>>());
    let known: BTreeSet<LessonId> = ids(&playbook).into_iter().collect();
    assert_eq!(
        ids(&Bench::with_playbook_file(longer.to_string()).open()).iter().filter(|id| known.contains(id)).count(),
        6
    );
}

#[test]
fn an_absent_file_is_an_empty_playbook() {
    let bench = Bench::new();
    let playbook = bench.open();
    assert_eq!((lessons(&playbook).len(), playbook.recovery()), (0, None));
    assert_eq!(bench.names(), BTreeSet::new());
    learn(&playbook, build_lesson("amber kettle", "fill it first"));
    assert_eq!(triggers(&bench.open()), ["amber kettle"]);
}

fn newer_file() -> String {
    json!({
        "schema_version": 3, "generation": 12, "shape": {"new": true},
        "lessons": [{"schema_version": 3, "trigger": "amber kettle", "correct_pattern": "fill it first", "weight": [1]}]
    })
    .to_string()
}

#[test]
fn a_newer_schema_is_read_and_not_changed() {
    let bench = Bench::with_playbook_file(newer_file());
    let playbook = bench.open();
    let id = ids(&playbook)[0];
    let context = playbook.get_playbook_context("amber kettle").unwrap();
    assert_eq!((shown(&context), context.receipt), (vec!["amber kettle"], None));
    let newer = |error: &Error| matches!(error, Error::Folder(FolderError::NewerSchema { found: 3, supported: 2, .. }));
    is_refused(playbook.learn_lesson(build_lesson("brass lantern", "trim the wick")), newer);
    is_refused(playbook.record_helpful_retrieval(id), newer);
    is_refused(playbook.mark_verified(id, Verification::Passed), newer);
    is_refused(playbook.remove(id), newer);
    is_refused(playbook.prune_low_utility(), newer);
    drop(playbook);
    assert_eq!(bench.read(PLAYBOOK), newer_file().as_bytes());
    let names = bench.names().into_iter().filter(|name| name != "lock").collect::<Vec<_>>();
    assert_eq!(names, [PLAYBOOK]);
}

#[test]
fn a_warm_up_does_not_change_the_folder_of_a_newer_version() {
    let bench = Bench::with_playbook_file(newer_file());
    let cache = b"the cache of a newer version";
    bench.write("vectors.bin", cache);
    let playbook = bench.builder().with_embedder(Arc::new(HashingEmbedder)).open().unwrap();
    playbook.warm_up().unwrap();
    let context = playbook.get_playbook_context("amber kettle").unwrap();
    assert_eq!((context.tier, shown(&context)), (Tier::Vector, vec!["amber kettle"]));
    drop(playbook);
    assert!(bench.read("vectors.bin") == cache, "the cache was written");
    assert_eq!(bench.read(PLAYBOOK), newer_file().as_bytes());
}

#[test]
fn a_newer_schema_that_appears_under_an_open_handle_stops_its_writes() {
    let bench = Bench::new();
    let playbook = bench.open();
    learn(&playbook, build_lesson("brass lantern", "trim the wick"));
    bench.write(PLAYBOOK, newer_file());
    let learned = playbook.learn_lesson(build_lesson("copper anvil", "strike in the middle"));
    is_refused(learned, |error| matches!(error, Error::Folder(FolderError::NewerSchema { found: 3, .. })));
    assert_eq!(bench.read(PLAYBOOK), newer_file().as_bytes());
    assert_eq!(triggers(&playbook), ["amber kettle"]);
}

#[test]
fn opening_for_reading_makes_and_changes_nothing() {
    let bench = Bench::new();
    let folder = bench.path("nowhere");
    let open = |folder: &std::path::Path| {
        let clock = Arc::new(ManualClock::new(start()));
        let builder = Playbook::builder(folder).with_embedder(Arc::new(HashingEmbedder)).with_clock(clock);
        builder.read_only().open().unwrap()
    };
    let playbook = open(&folder);
    let context = playbook.get_playbook_context(Request::cold_start()).unwrap();
    assert_eq!(context.text, "No lessons learned yet.");
    let read_only = |error: &Error| matches!(error, Error::Folder(FolderError::ReadOnly { .. }));
    is_refused(playbook.learn_lesson(build_lesson("amber kettle", "fill it first")), read_only);
    assert!(!folder.exists());

    bench.write(PLAYBOOK, old_file());
    let playbook = open(bench.folder());
    let id = ids(&playbook)[0];
    let context = playbook.get_playbook_context("amber kettle").unwrap();
    assert_eq!((shown(&context), context.receipt), (vec!["amber kettle"], None));
    is_refused(playbook.record_retrieval(id), read_only);
    is_refused(playbook.record_harmful_retrieval(id), read_only);
    is_refused(playbook.mark_verified(id, Verification::Passed), read_only);
    playbook.warm_up().unwrap();
    drop(playbook);
    assert_eq!(bench.names(), BTreeSet::from([PLAYBOOK.to_owned()]));
    assert_eq!(bench.read(PLAYBOOK), old_file().as_bytes());
}

/// Three lessons, of which the middle one was removed, and then the bytes of the file broken.
fn broken(bytes: &[u8]) -> (Bench, LessonId) {
    let bench = Bench::new();
    let playbook = bench.open();
    let [csv, keys, photographs] = three();
    learn(&playbook, csv);
    let removed = learn(&playbook, keys.clone());
    learn(&playbook, photographs);
    let before = bench.read(PLAYBOOK);
    playbook.remove(removed).unwrap();
    // The backup is the generation before the removal.
    bench.write(BACKUP, before);
    assert!(String::from_utf8(bench.read(BACKUP)).unwrap().contains("rotating ssh keys"));
    bench.write(PLAYBOOK, bytes);
    (bench, removed)
}

#[test]
fn an_unreadable_file_goes_to_quarantine_and_the_backup_takes_over() {
    for bytes in [&b""[..], b"{\"lessons\": [", b"\0\0\0\0\0\0\0\0", b"17", b"{\"lessons\": {}}", b"\xff\xfe[]"] {
        let (bench, removed) = broken(bytes);
        let playbook = bench.open();
        let recovery = playbook.recovery().unwrap().clone();
        assert!(recovery.from_backup && !recovery.reason.is_empty(), "{recovery:?}");
        assert_eq!((recovery.n_lessons, recovery.n_removed_again), (2, 1));
        let kept: Vec<Vec<u8>> = recovery.kept_at.iter().map(|path| fs::read(path).unwrap()).collect();
        assert_eq!(kept, [bytes]);
        assert!(recovery.kept_at.iter().all(|path| path.starts_with(bench.path("quarantine"))), "{recovery:?}");
        let mut left = triggers(&playbook);
        left.sort();
        assert_eq!(left, ["compressing photographs", "parsing CSV exports"]);
        assert!(playbook.find(removed).is_err());

        // A removal holds: an import does not bring the lesson back, learning it by hand does.
        let [_, keys, _] = three();
        let imported = keys.clone().provenance(&Provenance { origin: Origin::Imported, ..Provenance::default() });
        assert_eq!(playbook.learn_lesson(imported).unwrap(), LearnOutcome::Refused { reason: Refusal::Removed });
        learn(&playbook, keys);
        let reopened = bench.open();
        assert_eq!((lessons(&reopened).len(), reopened.recovery()), (3, None));
    }
}

#[test]
fn a_reader_of_a_broken_file_gets_the_backup_and_changes_nothing() {
    let (bench, removed) = broken(b"{");
    let before = bench.names();
    let playbook = bench.builder().read_only().open().unwrap();
    let recovery = playbook.recovery().unwrap();
    assert_eq!((recovery.from_backup, recovery.kept_at.as_slice()), (true, &[bench.path(PLAYBOOK)][..]));
    assert_eq!(lessons(&playbook).len(), 2);
    assert!(playbook.find(removed).is_err());
    assert_eq!((bench.names(), bench.read(PLAYBOOK)), (before, b"{".to_vec()));
}

#[test]
fn without_a_backup_the_playbook_is_empty_and_says_so() {
    let bench = Bench::with_playbook_file("{ broken");
    let playbook = bench.open();
    let recovery = playbook.recovery().unwrap();
    assert_eq!((recovery.from_backup, recovery.n_lessons, recovery.kept_at.len()), (false, 0, 1));
    assert_eq!(fs::read(&recovery.kept_at[0]).unwrap(), b"{ broken");
    assert_eq!(lessons(&playbook).len(), 0);
}

#[test]
fn a_broken_backup_is_quarantined_too() {
    let (bench, _) = broken(b"{");
    bench.write(BACKUP, b"[");
    let playbook = bench.open();
    let recovery = playbook.recovery().unwrap();
    let kept: Vec<Vec<u8>> = recovery.kept_at.iter().map(|path| fs::read(path).unwrap()).collect();
    assert_eq!((recovery.from_backup, kept), (false, vec![b"{".to_vec(), b"[".to_vec()]));
}

#[test]
fn counts_since_the_backup_survive_a_broken_file() {
    let bench = Bench::new();
    let playbook = bench.open();
    let [csv, keys, _] = three();
    let id = learn(&playbook, csv);
    for _ in 0..3 {
        playbook.get_playbook_context("parsing CSV exports").unwrap();
    }
    learn(&playbook, keys);
    let receipt = playbook.get_playbook_context("parsing CSV exports").unwrap().receipt.unwrap();
    drop(playbook);
    bench.write(PLAYBOOK, "{");
    let playbook = bench.open();
    assert_eq!(playbook.find(id).unwrap().retrievals, 4);
    playbook.record_outcome(receipt, Feedback::Helpful).unwrap();
    let lesson = playbook.find(id).unwrap();
    assert_eq!((lesson.retrievals, lesson.helpful_retrievals), (4, 1));
}

#[test]
fn removals_hold_without_file_and_backup_and_their_text_expires() {
    let bench = Bench::new();
    let playbook = bench.open();
    let [csv, keys, photographs] = three();
    learn(&playbook, csv.clone());
    let removal = playbook.remove(learn(&playbook, keys.clone())).unwrap();
    assert!(String::from_utf8(bench.read(PLAYBOOK)).unwrap().contains("rotating ssh keys"));
    bench.clock.advance(TimeDelta::days(31));
    learn(&playbook, photographs);
    let file = String::from_utf8(bench.read(PLAYBOOK)).unwrap();
    assert!(!file.contains("rotating ssh keys") && file.contains(&removal.id.to_string()), "{file}");
    is_refused(playbook.undo(removal.change), |error| matches!(error, Error::CannotUndo { .. }));
    drop(playbook);
    for name in [PLAYBOOK, BACKUP] {
        bench.delete(name);
    }
    let playbook = bench.open();
    let import = |draft: adage::LessonDraft| {
        let provenance = Provenance { origin: Origin::Imported, ..Provenance::default() };
        playbook.learn_lesson(draft.provenance(&provenance)).unwrap()
    };
    assert_eq!(import(keys), LearnOutcome::Refused { reason: Refusal::Removed });
    assert!(matches!(import(csv), LearnOutcome::Inserted { .. }), "what was not removed is welcome");
}

#[cfg(unix)]
#[test]
fn only_the_owner_reads_what_the_playbook_writes() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let bench = Bench::new();
    let folder = bench.path("deep/down");
    let open = || {
        let builder = Playbook::builder(&folder).with_embedder(Arc::new(HashingEmbedder));
        builder.with_clock(Arc::new(ManualClock::new(start()))).open().unwrap()
    };
    let playbook = open();
    learn(&playbook, build_lesson("amber kettle", "fill it first"));
    playbook.get_playbook_context("amber kettle").unwrap();
    playbook.learn_lesson(build_lesson("amber kettle", "fill it first, always")).unwrap();
    drop(playbook);
    fs::File::create(folder.join(PLAYBOOK)).unwrap();
    open();
    assert_eq!((mode(&folder), mode(&folder.join("quarantine"))), (0o700, 0o700));
    let (mut n_files, folders) = (0, [folder.clone(), folder.join("quarantine")]);
    for entry in folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap()) {
        let path = entry.unwrap().path();
        if path.is_file() {
            n_files += 1;
            assert_eq!(mode(&path), 0o600, "{}", path.display());
        }
    }
    // The playbook, its backup, usage, archive, vectors, two locks and the quarantined file.
    assert_eq!(n_files, 8);
}

#[test]
fn the_next_writer_removes_the_caches_of_earlier_versions() {
    let bench = Bench::with_playbook_file(old_file());
    let caches = ["recall.bin", "recall-code.bin", "words.bin"];
    for cache in caches {
        bench.write(cache, "the texts of lessons, some of them removed since");
    }
    let playbook = bench.open();
    assert_eq!(triggers(&playbook), NEWEST_FIRST);
    learn(&playbook, build_lesson("felt slipper", "dry it slowly"));
    assert!(caches.iter().all(|cache| !bench.has(cache)), "{:?}", bench.names());
}
