//! Feedback on retrievals: receipts, credits, and the files that contain them (docs/spec/playbook.md, 6).

use std::time::Duration;

use adage::{Credited, Error, Feedback, Lesson, LessonId, Playbook, ReceiptId, Request, Verification, build_lesson};

use super::bench::{Bench, PLAYBOOK, learn, three};

const WINDOW: Duration = Duration::from_mins(5);

/// Retrievals, helpful, harmful, confidence in hundredths.
fn counts(playbook: &Playbook, id: LessonId) -> (u64, u64, u64, i64) {
    let lesson = playbook.find(id).unwrap();
    #[allow(clippy::cast_possible_truncation, reason = "a share in hundredths")]
    let confidence = (lesson.confidence * 100.0).round() as i64;
    (lesson.retrievals, lesson.helpful_retrievals, lesson.harmful_retrievals, confidence)
}

fn recall(playbook: &Playbook, about: &str) -> ReceiptId {
    playbook.get_playbook_context(about).unwrap().receipt.unwrap()
}

fn now_for(lessons: &[LessonId]) -> Credited {
    Credited::Recorded { lessons: lessons.to_vec() }
}

/// A playbook with the three lessons, oldest first.
fn stocked(bench: &Bench) -> (Playbook, [LessonId; 3]) {
    let playbook = bench.open();
    let ids = three().map(|draft| {
        bench.advance(1);
        learn(&playbook, draft)
    });
    (playbook, ids)
}

#[test]
fn an_outcome_counts_for_exactly_what_its_receipt_showed() {
    for (outcome, expected) in
        [(Feedback::Helpful, (1, 1, 0, 55)), (Feedback::Neutral, (1, 0, 0, 50)), (Feedback::Harmful, (1, 0, 1, 40))]
    {
        let bench = Bench::new();
        let (playbook, [csv, keys, _]) = stocked(&bench);
        let receipt = recall(&playbook, "parsing CSV exports");
        assert_eq!(playbook.record_outcome(receipt, outcome).unwrap(), now_for(&[csv]));
        assert_eq!(counts(&playbook, csv), expected);
        assert_eq!(counts(&playbook, keys), (0, 0, 0, 50));
    }
}

#[test]
fn the_first_outcome_of_a_receipt_is_the_one_that_counts() {
    let bench = Bench::new();
    let (playbook, [csv, ..]) = stocked(&bench);
    let receipt = recall(&playbook, "parsing CSV exports");
    playbook.record_outcome(receipt, Feedback::Harmful).unwrap();
    for outcome in [Feedback::Harmful, Feedback::Helpful, Feedback::Neutral] {
        let settled = bench.open().record_outcome(receipt, outcome).unwrap();
        assert_eq!(settled, Credited::AlreadyRecorded { outcome: Feedback::Harmful });
    }
    assert_eq!(counts(&playbook, csv), (1, 0, 1, 40));
    assert_eq!(playbook.credit_recent_retrievals(WINDOW).unwrap(), 0);
}

#[test]
fn each_retrieval_has_an_outcome_of_its_own() {
    let bench = Bench::new();
    let (playbook, [csv, ..]) = stocked(&bench);
    let receipts = [(); 3].map(|()| recall(&playbook, "parsing CSV exports"));
    playbook.record_outcome(receipts[2], Feedback::Helpful).unwrap();
    playbook.record_outcome(receipts[0], Feedback::Harmful).unwrap();
    playbook.record_outcome(receipts[1], Feedback::Helpful).unwrap();
    assert_eq!(counts(&playbook, csv), (3, 2, 1, 50));
}

#[test]
fn a_changed_text_gets_no_credit() {
    let bench = Bench::new();
    let (playbook, [csv, ..]) = stocked(&bench);
    let by_receipt = recall(&playbook, "parsing CSV exports");
    let longer =
        build_lesson("parsing CSV exports", "Use the csv module with a dialect.").mistake("split cut quoted commas");
    assert_eq!(playbook.learn_lesson(longer).unwrap().id(), Some(csv));
    assert_eq!(playbook.credit_recent_retrievals(WINDOW).unwrap(), 0);
    assert_eq!(playbook.record_outcome(by_receipt, Feedback::Helpful).unwrap(), now_for(&[]));
    assert_eq!(counts(&playbook, csv), (1, 0, 0, 50));
    // The new text gets credit of its own.
    let receipt = recall(&playbook, "parsing CSV exports");
    assert_eq!(playbook.record_outcome(receipt, Feedback::Helpful).unwrap(), now_for(&[csv]));
}

#[test]
fn removed_lessons_get_no_credit_and_others_of_the_receipt_do() {
    let bench = Bench::new();
    let (playbook, [csv, keys, photographs]) = stocked(&bench);
    let receipt = playbook.get_playbook_context(Request::cold_start()).unwrap().receipt.unwrap();
    playbook.remove(keys).unwrap();
    assert_eq!(playbook.record_outcome(receipt, Feedback::Helpful).unwrap(), now_for(&[photographs, csv]));
}

#[test]
fn unknown_receipts_are_an_error() {
    let bench = Bench::new();
    let (playbook, [csv, ..]) = stocked(&bench);
    let receipt: ReceiptId = "018f0000-0000-7000-8000-000000000001".parse().unwrap();
    match playbook.record_outcome(receipt, Feedback::Helpful) {
        Err(Error::NoSuchReceipt { receipt: unknown }) => assert_eq!(unknown, receipt),
        other => panic!("{other:?}"),
    }
    assert_eq!(counts(&playbook, csv), (0, 0, 0, 50));
}

#[test]
fn a_receipt_is_valid_for_seven_days() {
    const DAY: i64 = 24 * 60 * 60;
    for (seconds, is_known) in [(7 * DAY, true), (7 * DAY + 1, false)] {
        let bench = Bench::new();
        let (playbook, [csv, ..]) = stocked(&bench);
        let receipt = recall(&playbook, "parsing CSV exports");
        bench.advance(seconds);
        match playbook.record_outcome(receipt, Feedback::Helpful) {
            Ok(settled) => assert!(is_known && settled == now_for(&[csv]), "after {seconds} s: {settled:?}"),
            Err(Error::NoSuchReceipt { .. }) => assert!(!is_known, "unknown after {seconds} s"),
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn the_window_credits_every_open_retrieval_within_it_once() {
    for (seconds, expected) in [(0, 1), (299, 1), (300, 1), (301, 0)] {
        let bench = Bench::new();
        let (playbook, [csv, ..]) = stocked(&bench);
        recall(&playbook, "parsing CSV exports");
        bench.advance(seconds);
        assert_eq!(playbook.credit_recent_retrievals(WINDOW).unwrap(), expected, "after {seconds} s");
        assert_eq!(playbook.credit_recent_retrievals(WINDOW).unwrap(), 0, "again after {seconds} s");
        assert_eq!(counts(&playbook, csv).1, expected as u64);
    }
}

#[test]
fn the_window_skips_retrievals_with_feedback() {
    let bench = Bench::new();
    let (playbook, [csv, keys, photographs]) = stocked(&bench);
    recall(&playbook, "parsing CSV exports");
    recall(&playbook, "parsing CSV exports");
    recall(&playbook, "rotating ssh keys");
    let settled = recall(&playbook, "compressing photographs");
    playbook.record_outcome(settled, Feedback::Neutral).unwrap();
    assert_eq!(playbook.credit_recent_retrievals(WINDOW).unwrap(), 2);
    assert_eq!((counts(&playbook, csv).1, counts(&playbook, keys).1, counts(&playbook, photographs).1), (1, 1, 0));
    // A later retrieval is another one.
    recall(&playbook, "compressing photographs");
    assert_eq!(playbook.credit_recent_retrievals(WINDOW).unwrap(), 1);
    assert_eq!(counts(&playbook, photographs), (2, 1, 0, 55));
}

#[test]
fn an_outcome_overrides_a_window_credit() {
    let bench = Bench::new();
    let (playbook, [csv, ..]) = stocked(&bench);
    let receipt = recall(&playbook, "parsing CSV exports");
    assert_eq!(playbook.credit_recent_retrievals(WINDOW).unwrap(), 1);
    assert_eq!(counts(&playbook, csv), (1, 1, 0, 55));
    assert_eq!(playbook.record_outcome(receipt, Feedback::Harmful).unwrap(), now_for(&[csv]));
    assert_eq!(counts(&playbook, csv), (1, 0, 1, 40));
    assert_eq!(playbook.credit_recent_retrievals(WINDOW).unwrap(), 0);
}

/// docs/spec/playbook.md, 6.4, is about the retrievals in the window; by 6.3, the lessons of a receipt are credited once.
#[test]
fn a_retrieval_before_the_window_keeps_its_receipt() {
    let bench = Bench::new();
    let (playbook, [csv, ..]) = stocked(&bench);
    let early = recall(&playbook, "parsing CSV exports");
    bench.advance(1_000);
    recall(&playbook, "parsing CSV exports");
    assert_eq!(playbook.credit_recent_retrievals(WINDOW).unwrap(), 1);
    assert_eq!(playbook.record_outcome(early, Feedback::Harmful).unwrap(), now_for(&[csv]));
    assert_eq!(counts(&playbook, csv), (2, 1, 1, 45));
}

#[test]
fn an_empty_window_credits_nothing() {
    let bench = Bench::new();
    let (playbook, [csv, ..]) = stocked(&bench);
    recall(&playbook, "parsing CSV exports");
    let before = bench.read("usage.jsonl");
    assert_eq!(playbook.credit_recent_retrievals(Duration::ZERO).unwrap(), 0);
    assert_eq!(bench.read("usage.jsonl"), before);
    assert_eq!(playbook.credit_recent_retrievals(Duration::MAX).unwrap(), 1);
    assert_eq!(counts(&playbook, csv).1, 1);
}

#[test]
fn lessons_are_credited_by_trigger_in_any_case_and_by_id() {
    let bench = Bench::new();
    let (playbook, [csv, ..]) = stocked(&bench);
    assert_eq!(playbook.record_helpful_retrieval("Parsing csv EXPORTS").unwrap(), csv);
    assert_eq!(playbook.record_helpful_retrieval(csv).unwrap(), csv);
    assert_eq!(playbook.record_harmful_retrieval(csv.to_string()).unwrap(), csv);
    assert_eq!(counts(&playbook, csv), (0, 2, 1, 50));
    let receipt = playbook.record_retrieval("parsing CSV exports").unwrap();
    assert_eq!(counts(&playbook, csv).0, 1);
    assert_eq!(playbook.record_outcome(receipt, Feedback::Helpful).unwrap(), now_for(&[csv]));
}

#[test]
fn confidence_stays_between_zero_and_one() {
    let bench = Bench::new();
    let playbook = bench.open();
    let sure = learn(&playbook, build_lesson("amber kettle", "polish it").confidence(0.98));
    let unsure = learn(&playbook, build_lesson("brass lantern", "polish it").confidence(0.05));
    playbook.record_helpful_retrieval(sure).unwrap();
    playbook.record_harmful_retrieval(unsure).unwrap();
    assert_eq!((counts(&playbook, sure), counts(&playbook, unsure)), ((0, 1, 0, 100), (0, 0, 1, 0)));
    playbook.mark_verified(sure, Verification::Passed).unwrap();
    assert_eq!(counts(&playbook, sure).3, 100);
}

/// Every call by an ambiguous name is refused with the ids, and nothing is written.
fn check_ambiguous<T: std::fmt::Debug>(bench: &Bench, ids: &[LessonId], result: Result<T, Error>) {
    match result {
        Err(Error::Ambiguous { trigger, ids: mut named }) => {
            named.sort_unstable();
            assert_eq!((trigger.as_str(), named.as_slice()), ("Same Trigger", ids));
        }
        other => panic!("{other:?}"),
    }
    assert!(!bench.has("usage.jsonl"));
}

#[test]
fn an_ambiguous_trigger_changes_no_lesson() {
    let bench = Bench::new();
    let playbook = bench.open();
    let mut ids =
        ["one", "two"].map(|project| learn(&playbook, build_lesson("same trigger", "do it").project(project)));
    ids.sort_unstable();
    let before = bench.read(PLAYBOOK);
    check_ambiguous(&bench, &ids, playbook.record_helpful_retrieval("Same Trigger"));
    check_ambiguous(&bench, &ids, playbook.record_harmful_retrieval("Same Trigger"));
    check_ambiguous(&bench, &ids, playbook.record_retrieval("Same Trigger"));
    check_ambiguous(&bench, &ids, playbook.mark_verified("Same Trigger", Verification::Passed));
    check_ambiguous(&bench, &ids, playbook.remove_by_trigger("Same Trigger"));
    check_ambiguous(&bench, &ids, playbook.find_by_trigger("Same Trigger"));
    check_ambiguous(&bench, &ids, playbook.undo_merge("Same Trigger"));
    assert_eq!(bench.read(PLAYBOOK), before);
    assert_eq!(ids.map(|id| counts(&playbook, id)), [(0, 0, 0, 50); 2]);
}

#[test]
fn an_unknown_lesson_is_an_error() {
    let bench = Bench::new();
    let (playbook, _) = stocked(&bench);
    for result in [
        playbook.record_helpful_retrieval("no such thing"),
        playbook.mark_verified("no such thing", Verification::Failed),
    ] {
        match result {
            Err(Error::NoSuchLesson { lesson }) => assert_eq!(lesson.to_string(), "trigger \"no such thing\""),
            other => panic!("{other:?}"),
        }
    }
    assert!(!bench.has("usage.jsonl"));
}

#[test]
fn a_failed_check_removes_the_mark_and_keeps_the_confidence() {
    let bench = Bench::new();
    let (playbook, [csv, ..]) = stocked(&bench);
    let marks = |lesson: &Lesson| (lesson.verified, lesson.verification_attempted);
    playbook.mark_verified(csv, Verification::Failed).unwrap();
    assert_eq!((marks(&playbook.find(csv).unwrap()), counts(&playbook, csv).3), ((false, true), 50));
    playbook.mark_verified(csv, Verification::Passed).unwrap();
    assert_eq!((marks(&playbook.find(csv).unwrap()), counts(&playbook, csv).3), ((true, true), 70));
    playbook.mark_verified(csv, Verification::Failed).unwrap();
    assert_eq!((marks(&bench.open().find(csv).unwrap()), counts(&playbook, csv).3), ((false, true), 70));
}

#[test]
fn counts_and_receipts_reach_other_handles_and_outlive_this_one() {
    let bench = Bench::new();
    let (playbook, [csv, ..]) = stocked(&bench);
    let other = bench.open();
    let before = bench.read(PLAYBOOK);
    let receipt = recall(&playbook, "parsing CSV exports");
    assert_eq!(counts(&other, csv).0, 1);
    other.record_outcome(receipt, Feedback::Helpful).unwrap();
    assert_eq!(counts(&playbook, csv), (1, 1, 0, 55));
    let settled = recall(&other, "parsing CSV exports");
    drop((playbook, other));
    assert_eq!(bench.read(PLAYBOOK), before, "counting wrote the playbook file");
    let reopened = bench.open();
    assert_eq!(counts(&reopened, csv), (2, 1, 0, 55));
    // A commit folds the counts in, and the receipts stay valid.
    learn(&reopened, build_lesson("amber kettle", "polish it"));
    assert_eq!(reopened.record_outcome(settled, Feedback::Harmful).unwrap(), now_for(&[csv]));
    assert_eq!(counts(&bench.open(), csv), (2, 1, 1, 45));
}

#[test]
fn a_busy_folder_neither_delays_a_recall_nor_costs_its_count() {
    let bench = Bench::new();
    let (playbook, [csv, ..]) = stocked(&bench);
    let lock = std::fs::File::options().read(true).write(true).open(bench.path("lock")).unwrap();
    lock.lock().unwrap();
    let receipt = recall(&playbook, "parsing CSV exports");
    assert_eq!(counts(&bench.open(), csv).0, 1);
    lock.unlock().unwrap();
    assert_eq!(playbook.record_outcome(receipt, Feedback::Helpful).unwrap(), now_for(&[csv]));
    assert_eq!(counts(&bench.open(), csv), (1, 1, 0, 55));
}

/// The writer starts while another process holds the lock, and gets it afterwards.
#[test]
fn an_outcome_that_waits_for_the_lock_finds_its_receipt() {
    let bench = Bench::new();
    let (playbook, [csv, ..]) = stocked(&bench);
    let lock = std::fs::File::options().read(true).write(true).open(bench.path("lock")).unwrap();
    lock.lock().unwrap();
    let receipt = recall(&playbook, "parsing CSV exports");
    let settled = std::thread::scope(|scope| {
        let outcome = scope.spawn(|| playbook.record_outcome(receipt, Feedback::Helpful));
        // Long enough for the outcome to begin to wait; it succeeds if it begins later too.
        std::thread::sleep(std::time::Duration::from_millis(50));
        lock.unlock().unwrap();
        outcome.join().unwrap()
    });
    assert_eq!(settled.unwrap(), now_for(&[csv]));
    assert_eq!(counts(&playbook, csv), (1, 1, 0, 55));
}

#[test]
fn a_lost_usage_file_loses_only_counts_since_the_last_commit() {
    let bench = Bench::new();
    let (playbook, [csv, ..]) = stocked(&bench);
    let folded = recall(&playbook, "parsing CSV exports");
    learn(&playbook, build_lesson("amber kettle", "polish it"));
    let lost = recall(&playbook, "parsing CSV exports");
    drop(playbook);
    bench.delete("usage.jsonl");
    let playbook = bench.open();
    assert_eq!(counts(&playbook, csv), (1, 0, 0, 50));
    for receipt in [folded, lost] {
        let outcome = playbook.record_outcome(receipt, Feedback::Helpful);
        assert!(matches!(outcome, Err(Error::NoSuchReceipt { .. })), "{outcome:?}");
    }
    assert_eq!(playbook.list_lessons(&adage::Listing::default()).unwrap().len(), 4);
}

#[test]
fn counting_continues_after_a_loss_of_the_usage_file() {
    let bench = Bench::new();
    let (playbook, [csv, ..]) = stocked(&bench);
    recall(&playbook, "parsing CSV exports");
    recall(&playbook, "parsing CSV exports");
    learn(&playbook, build_lesson("amber kettle", "polish it"));
    drop(playbook);
    bench.delete("usage.jsonl");
    let playbook = bench.open();
    let receipt = recall(&playbook, "parsing CSV exports");
    assert_eq!(playbook.record_outcome(receipt, Feedback::Helpful).unwrap(), now_for(&[csv]));
    assert_eq!(counts(&playbook, csv), (3, 1, 0, 55));
    assert_eq!(counts(&bench.open(), csv), (3, 1, 0, 55));
}

#[test]
fn counting_continues_when_the_usage_file_disappears_under_an_open_handle() {
    let bench = Bench::new();
    let (playbook, [csv, ..]) = stocked(&bench);
    recall(&playbook, "parsing CSV exports");
    recall(&playbook, "parsing CSV exports");
    learn(&playbook, build_lesson("amber kettle", "polish it"));
    bench.delete("usage.jsonl");
    let receipt = recall(&playbook, "parsing CSV exports");
    assert_eq!(playbook.record_outcome(receipt, Feedback::Helpful).unwrap(), now_for(&[csv]));
    assert_eq!(counts(&playbook, csv), (3, 1, 0, 55));
}

#[test]
fn a_long_usage_file_is_shortened_and_counts_and_newer_receipts_are_kept() {
    const DAY: i64 = 24 * 60 * 60;
    const LONG: usize = 256 * 1024;
    let bench = Bench::new();
    let (playbook, [csv, ..]) = stocked(&bench);
    let other = bench.open();
    let first = recall(&playbook, "parsing CSV exports");
    let mut n_recalls = 1;
    while bench.read("usage.jsonl").len() <= LONG {
        playbook.get_playbook_context(Request::cold_start()).unwrap();
        n_recalls += 1;
    }
    learn(&playbook, build_lesson("amber kettle", "polish it").project("elsewhere"));
    assert!(bench.read("usage.jsonl").len() > LONG, "the receipts are not over");
    bench.advance(7 * DAY + 1);
    let recent = recall(&other, "parsing CSV exports");
    // Counts that are in memory while the file is shortened are written after it.
    let lock = std::fs::File::options().read(true).write(true).open(bench.path("usage.lock")).unwrap();
    lock.lock().unwrap();
    let late = recall(&other, "parsing CSV exports");
    lock.unlock().unwrap();
    learn(&playbook, build_lesson("brass lantern", "polish it").project("elsewhere"));
    assert_eq!(bench.read("usage.jsonl").split_inclusive(|byte| *byte == b'\n').count(), 1);
    for receipt in [recent, late] {
        assert_eq!(other.record_outcome(receipt, Feedback::Helpful).unwrap(), now_for(&[csv]));
    }
    assert!(matches!(other.record_outcome(first, Feedback::Helpful), Err(Error::NoSuchReceipt { .. })));
    let expected = (n_recalls + 2, 2, 0, 60);
    for handle in [&playbook, &other, &bench.open()] {
        assert_eq!(counts(handle, csv), expected);
        assert_eq!(handle.check().unwrap().findings, []);
    }
}
