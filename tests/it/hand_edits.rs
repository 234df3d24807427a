//! A person edits the file while the playbook is open, and several handles write at once: no change is lost
//! (docs/spec/playbook.md, 1; docs/spec/folder-format.md, 2).

use std::fs::{self, File};
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use adage::{Config, Error, FolderError, HashingEmbedder, Listing, Playbook, Request, Unusable, build_lesson};
use serde_json::{Value, json};

use super::bench::{BACKUP, Bench, PLAYBOOK, learn, lessons, three, triggers};

/// A handle on the three lessons, and the file's text.
fn stocked() -> (Bench, Playbook, String) {
    let bench = Bench::new();
    let playbook = bench.open();
    for draft in three() {
        bench.advance(1);
        learn(&playbook, draft);
    }
    let text = String::from_utf8(bench.read(PLAYBOOK)).unwrap();
    (bench, playbook, text)
}

fn modified(bench: &Bench) -> SystemTime {
    fs::metadata(bench.path(PLAYBOOK)).unwrap().modified().unwrap()
}

/// Sets the modification time, as the file system's clock may not have ticked yet.
fn set_modified(bench: &Bench, time: SystemTime) {
    File::options().write(true).open(bench.path(PLAYBOOK)).unwrap().set_modified(time).unwrap();
}

/// Saves in place, with a new modification time.
fn save(bench: &Bench, text: &str) {
    let time = modified(bench) + Duration::from_millis(20);
    bench.write(PLAYBOOK, text);
    set_modified(bench, time);
}

/// Saves by a new file that is renamed over the old one, as some editors do.
fn save_by_rename(bench: &Bench, text: &str) {
    let temporary = bench.path("skills_playbook.json~");
    File::create(&temporary).unwrap().write_all(text.as_bytes()).unwrap();
    #[allow(clippy::disallowed_methods, reason = "what a person's editor does")]
    fs::rename(&temporary, bench.path(PLAYBOOK)).unwrap();
}

fn edited(text: &str, edit: impl FnOnce(&mut Vec<Value>)) -> String {
    let mut file: Value = serde_json::from_str(text).unwrap();
    edit(file["lessons"].as_array_mut().unwrap());
    format!("{file:#}\n")
}

/// After an edit: the next recall shows it, the next learn keeps it, for this handle and for others.
fn check(save: impl Fn(&Bench, &str), edit: impl Fn(&str) -> String, query: &str, expected: &[&str], pattern: &str) {
    let (bench, playbook, text) = stocked();
    let edited = edit(&text);
    assert_ne!(edited, text);
    save(&bench, &edited);
    let context = playbook.get_playbook_context(Request::about(query).peek()).unwrap();
    assert!(context.text.contains(pattern), "{context:?}");
    assert_eq!(triggers(&playbook), expected);
    learn(&playbook, build_lesson("amber kettle", "fill it first"));
    assert_eq!(bench.read(BACKUP), bench.read(PLAYBOOK));
    let expected = [&["amber kettle"], expected].concat();
    assert_eq!((triggers(&playbook), triggers(&bench.open())), (owned(&expected), owned(&expected)));
    let context = bench.open().get_playbook_context(Request::about(query).peek()).unwrap();
    assert!(context.text.contains(pattern), "{context:?}");
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

const ALL: [&str; 3] = ["compressing photographs", "rotating ssh keys", "parsing CSV exports"];

/// Only the lessons, as a person or another program writes them, without the marks of archive and usage.
#[test]
fn a_file_without_marks_keeps_archive_counts_and_removals() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = adage::Config::default();
    config.retention.capacity = 4;
    let open = || Playbook::builder(folder.path()).without_embedder().with_config(config.clone()).open().unwrap();
    let playbook = open();
    for trigger in ["alpha beaver", "gamma dolphin", "epsilon falcon", "iota jackal", "eta hamster"] {
        playbook.learn_lesson(adage::build_lesson(trigger, "do it")).unwrap();
    }
    playbook.get_playbook_context("eta hamster").unwrap();
    let gone = playbook.find("iota jackal").unwrap();
    playbook.remove(gone.id).unwrap();
    let n_changes = playbook.changes().unwrap().len();
    drop(playbook);
    let path = folder.path().join("skills_playbook.json");
    let file: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    std::fs::write(&path, file["lessons"].to_string()).unwrap();

    let playbook = open();
    assert_eq!(playbook.find("eta hamster").unwrap().retrievals, 1);
    playbook.learn_lesson(adage::build_lesson("theta ibis", "do it")).unwrap();
    assert_eq!(playbook.changes().unwrap().len(), n_changes);
    assert_eq!(playbook.find("eta hamster").unwrap().retrievals, 1);
    let back = playbook.learn_lesson(adage::LessonDraft::from_lesson(&gone)).unwrap();
    assert_eq!(back, adage::LearnOutcome::Refused { reason: adage::lesson::Refusal::Removed });
}

#[test]
fn a_corrected_typing_error_is_detected_and_kept() {
    let same_length = |text: &str| text.replace("Use the csv module.", "Use the CSV module!");
    check(save, same_length, "parsing CSV exports", &ALL, "Use the CSV module!");
    check(save_by_rename, same_length, "parsing CSV exports", &ALL, "Use the CSV module!");
    let longer = |text: &str| text.replace("Use the csv module.", "Use the csv module of the standard library.");
    check(save, longer, "parsing CSV exports", &ALL, "of the standard library");
    check(save_by_rename, longer, "parsing CSV exports", &ALL, "of the standard library");
}

#[test]
fn a_trigger_changed_by_hand_is_found_under_its_new_words() {
    let edit = |text: &str| text.replace("compressing photographs", "shrinking pictures");
    let expected = ["shrinking pictures", "rotating ssh keys", "parsing CSV exports"];
    check(save_by_rename, edit, "shrinking pictures", &expected, "TRIGGER (·): shrinking pictures");
}

#[test]
fn a_lesson_added_by_hand_is_a_lesson() {
    let row = json!({"trigger": "waxing skis", "solution": "brush along the base", "timestamp": "2026-02-01T08:00:00"});
    let edit = |text: &str| edited(text, |rows| rows.push(row.clone()));
    let expected = [&ALL[..], &["waxing skis"]].concat();
    for save in [save as fn(&Bench, &str), save_by_rename] {
        check(save, edit, "waxing skis", &expected, "brush along the base");
    }
}

#[test]
fn a_lesson_deleted_by_hand_is_gone_for_good() {
    let edit = |text: &str| edited(text, |rows| rows.retain(|row| row["trigger"] != "rotating ssh keys"));
    for save in [save as fn(&Bench, &str), save_by_rename] {
        let expected = ["compressing photographs", "parsing CSV exports"];
        check(save, edit, "parsing CSV exports", &expected, "Use the csv module.");
        let (bench, playbook, text) = stocked();
        save(&bench, &edit(&text));
        let context = playbook.get_playbook_context("rotating ssh keys").unwrap();
        assert_eq!((context.text.as_str(), context.receipt), ("", None));
    }
}

#[test]
fn keys_and_notes_added_by_a_person_survive_every_commit() {
    let (bench, playbook, text) = stocked();
    let mut file: Value = serde_json::from_str(&text).unwrap();
    file["note"] = json!("mine");
    file["lessons"][0]["seen_by"] = json!(["me"]);
    file["lessons"].as_array_mut().unwrap().push(json!("a row that is none"));
    save(&bench, &file.to_string());
    for trigger in ["amber kettle", "brass lantern"] {
        bench.advance(1);
        learn(&playbook, build_lesson(trigger, "polish it"));
    }
    let file = bench.json();
    assert_eq!((&file["note"], &file["lessons"][2]["seen_by"]), (&json!("mine"), &json!(["me"])));
    assert_eq!(file["unread"], json!(["a row that is none"]));
}

/// Length and inode are unchanged; an editor does not keep the time to the nanosecond.
#[test]
fn an_edit_within_the_same_tick_is_kept_and_one_that_forges_the_time_is_damage() {
    let (bench, playbook, text) = stocked();
    let time = modified(&bench);
    let edited = text.replace("Use the csv module.", "Use the CSV module!");
    bench.write(PLAYBOOK, &edited);
    set_modified(&bench, time + Duration::from_nanos(1));
    learn(&playbook, build_lesson("amber kettle", "fill it first"));
    assert_eq!(playbook.find("parsing CSV exports").unwrap().correct_pattern, "Use the CSV module!");
    assert_eq!(lessons(&bench.open()).len(), 4);

    let (bench, playbook, text) = stocked();
    let time = modified(&bench);
    bench.write(PLAYBOOK, text.replace("Use the csv module.", "Use the CSV module!"));
    set_modified(&bench, time);
    learn(&playbook, build_lesson("amber kettle", "fill it first"));
    assert_eq!(playbook.find("parsing CSV exports").unwrap().correct_pattern, "Use the csv module.");
    assert_eq!(lessons(&bench.open()).len(), 4);
}

#[test]
fn a_half_saved_file_is_an_error_and_is_not_changed() {
    let (bench, playbook, text) = stocked();
    let half = &text[..text.len() / 2];
    save(&bench, half);
    for _ in 0..2 {
        match playbook.learn_lesson(build_lesson("amber kettle", "fill it first")) {
            Err(Error::Folder(FolderError::Unreadable { path, reason })) => {
                assert_eq!(path, bench.path(PLAYBOOK));
                assert!(matches!(reason, Unusable::Invalid(_)), "{reason}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(bench.read(PLAYBOOK), half.as_bytes());
    }
    assert!(!bench.has("quarantine"));
    // The editor finishes, and writes are accepted again.
    save(&bench, &text.replace("Use the csv module.", "Use the CSV module!"));
    learn(&playbook, build_lesson("amber kettle", "fill it first"));
    assert_eq!(playbook.find("parsing CSV exports").unwrap().correct_pattern, "Use the CSV module!");
    assert_eq!((lessons(&playbook).len(), lessons(&bench.open()).len()), (4, 4));
}

#[test]
fn a_file_deleted_under_an_open_handle_is_restored_from_its_backup() {
    let (bench, playbook, _) = stocked();
    let backup = Bench::with_playbook_file(String::from_utf8(bench.read(BACKUP)).unwrap());
    let n_in_backup = lessons(&backup.open()).len();
    bench.delete(PLAYBOOK);
    assert_eq!(lessons(&playbook).len(), n_in_backup);
    bench.delete(PLAYBOOK);
    for n_more in 1..=5 {
        learn(&playbook, build_lesson(["amber", "brass", "copper", "denim", "ebony"][n_more - 1], "polish it"));
        let expected = n_in_backup + n_more;
        assert_eq!((lessons(&playbook).len(), lessons(&bench.open()).len()), (expected, expected));
    }
    for name in [PLAYBOOK, BACKUP] {
        bench.delete(name);
    }
    assert_eq!((lessons(&playbook).len(), lessons(&bench.open()).len()), (0, 0));
}

#[test]
fn two_handles_see_each_other_and_lose_nothing() {
    let bench = Bench::new();
    let (one, other) = (bench.open(), bench.open());
    let mut expected = Vec::new();
    for (number, trigger) in ["amber", "brass", "copper", "denim", "ebony", "felt"].iter().enumerate() {
        bench.advance(1);
        let (writer, reader) = if number % 2 == 0 { (&one, &other) } else { (&other, &one) };
        learn(writer, build_lesson(*trigger, "polish it"));
        expected.insert(0, (*trigger).to_owned());
        assert_eq!(triggers(reader), expected);
    }
    assert_eq!(one.stats().unwrap().generation, 6);
}

/// Four threads learn 25 lessons each over two handles, and recall in between.
fn crowd(open: impl Fn(&Bench) -> Playbook) {
    let bench = Bench::new();
    let handles = [open(&bench), open(&bench)];
    std::thread::scope(|scope| {
        for thread in 0..4_usize {
            let playbook = &handles[thread % 2];
            scope.spawn(move || {
                for number in 0..25 {
                    let (trigger, project) = (format!("t{thread}n{number}"), format!("project {thread}"));
                    learn(playbook, build_lesson(&trigger, format!("do {trigger}")).project(&project));
                    let context = playbook.get_playbook_context(Request::cold_start().project(project)).unwrap();
                    assert!(context.receipt.is_some(), "{context:?}");
                }
            });
        }
    });
    let mut expected: Vec<String> = (0..100).map(|number| format!("t{}n{}", number / 25, number % 25)).collect();
    expected.sort();
    // Counts that found the folder busy are in the memory of their handle.
    for handle in &handles {
        handle.flush().unwrap();
    }
    // Each recall of the n-th lesson of a thread showed the newest five.
    let n_shown = 4 * (1 + 2 + 3 + 4 + 21 * 5);
    for playbook in [&handles[0], &handles[1], &open(&bench)] {
        let mut found = triggers(playbook);
        found.sort();
        assert_eq!(found, expected);
        assert_eq!(playbook.stats().unwrap().retrievals, n_shown);
    }
    assert_eq!(bench.json()["generation"], json!(100));
}

#[test]
fn threads_over_two_handles_lose_nothing() {
    crowd(Bench::open);
}

#[test]
fn threads_over_two_handles_with_vectors_lose_nothing() {
    let mut config = Config::default();
    config.learn.dedup = adage::config::DedupPolicy::Off;
    crowd(|bench| bench.builder().with_config(config.clone()).with_embedder(Arc::new(HashingEmbedder)).open().unwrap());
}

/// An editor that saves in another encoding damages a character: the lesson is unchanged.
#[test]
fn an_invalid_character_is_not_taken_for_an_edit() {
    let bench = Bench::new();
    let playbook = bench.open();
    learn(&playbook, build_lesson("naming the café's tables", "By number."));
    learn(&playbook, build_lesson("waxing skis", "Brush along the base."));
    let known = playbook.list_lessons(&Listing::everything()).unwrap();
    drop(playbook);
    let text = String::from_utf8(bench.read(PLAYBOOK)).unwrap();
    bench.write(PLAYBOOK, text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect::<Vec<u8>>());
    let playbook = bench.open();
    assert!(playbook.recovery().is_some());
    assert_eq!(playbook.list_lessons(&Listing::everything()).unwrap(), known);
    // An intended change is accepted.
    drop(playbook);
    let text = String::from_utf8(bench.read(PLAYBOOK)).unwrap();
    bench.write(PLAYBOOK, text.replace("café", "caf\u{fffd}"));
    let lessons = bench.open().list_lessons(&Listing::everything()).unwrap();
    assert!(lessons.iter().any(|lesson| lesson.trigger == "naming the caf\u{fffd}'s tables"));
}

/// The bare list of lessons does not say what of the usage is counted; the last commit did.
#[test]
fn a_file_without_marks_keeps_what_was_counted_since_the_last_commit() {
    let bench = Bench::new();
    let playbook = bench.open();
    learn(&playbook, build_lesson("waxing skis", "Brush along the base."));
    playbook.get_playbook_context("waxing skis").unwrap();
    learn(&playbook, build_lesson("naming tables", "By number."));
    playbook.get_playbook_context("waxing skis").unwrap();
    playbook.skip("error-make").unwrap();
    playbook.get_playbook_context("waxing skis").unwrap();
    let known = playbook.list_lessons(&Listing::everything()).unwrap();
    assert_eq!(known[1].retrievals, 3);
    drop(playbook);
    let file: Value = serde_json::from_slice(&bench.read(PLAYBOOK)).unwrap();
    bench.write(PLAYBOOK, file["lessons"].to_string());
    let playbook = bench.open();
    assert_eq!(playbook.list_lessons(&Listing::everything()).unwrap(), known);
    assert_eq!(playbook.skips().unwrap().len(), 1);
}
