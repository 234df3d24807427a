//! A refused lesson changes nothing: what a person removed stays removed, and no text counts as imported or mined.

use super::*;

fn hand(lesson: &Lesson) -> Newcomer {
    Newcomer { lesson: lesson.clone(), arrival: Arrival::New, supersedes: None }
}

fn row(lesson: &Lesson) -> Newcomer {
    Newcomer { arrival: Arrival::MovedIn, ..hand(lesson) }
}

fn mined(trigger: &str) -> Lesson {
    let mut lesson = lesson(trigger, "s");
    lesson.provenance.origin = Origin::Mined;
    lesson.provenance.session = "s1".to_owned();
    lesson.provenance.evidence.push(Evidence { quote: "do it".into(), turn: 3, range: (0, 5) });
    lesson
}

fn tainted(mut lesson: Lesson) -> Lesson {
    lesson.provenance.trust = Trust::Tainted;
    lesson
}

fn quarantined(mut lesson: Lesson) -> Lesson {
    lesson.extra.insert("quarantined".into(), true.into());
    lesson
}

fn no_lesson() -> LessonId {
    lesson("no such lesson", "s").id
}

/// A book from which a person removed the lesson `gone`.
fn bench_with_removal() -> (Bench, Lesson) {
    let (mut bench, gone) = (Bench::new(), lesson("gone", "s"));
    bench.book.removed.push(removal_of(&gone));
    (bench, gone)
}

#[test]
fn a_refused_lesson_changes_nothing() {
    let (mut bench, gone) = bench_with_removal();
    bench.config.retention.max_waiting = 2;
    bench.config.capture.max_candidates = 1;
    bench.learn(&tainted(lesson("waits", "s")));
    bench.learn(&quarantined(lesson("in quarantine", "s")));
    bench.learn(&mined("first of its session"));
    let nothing_to_supersede = |lesson: &Lesson| Newcomer { supersedes: Some(no_lesson()), ..hand(lesson) };
    let of_another_session = |trigger: &str| {
        let mut lesson = mined(trigger);
        lesson.provenance.session = "s2".to_owned();
        lesson
    };
    for (newcomer, expected) in [
        (nothing_to_supersede(&gone), Refusal::NothingToSupersede { id: no_lesson() }),
        (nothing_to_supersede(&of_another_session("t")), Refusal::NothingToSupersede { id: no_lesson() }),
        (hand(&mined("gone")), Refusal::Removed),
        (row(&gone), Refusal::Removed),
        (hand(&mined("first of its session")), Refusal::AlreadyMined { session: "s1".into() }),
        (hand(&mined("second")), Refusal::TooManyOfSession { session: "s1".into(), max: 1 }),
        (hand(&of_another_session("in quarantine")), Refusal::Quarantined { id: nth(&bench.book, 0).id }),
        (row(&lesson("in quarantine", "another")), Refusal::Quarantined { id: nth(&bench.book, 0).id }),
        (row(&tainted(lesson("t", "s"))), Refusal::ReviewIsFull { max: 2 }),
    ] {
        let (before, n_changes) = (bench.book.clone(), bench.changes.len());
        let drafts = [Ok(newcomer)];
        let refused = LearnOutcome::Refused { reason: expected };
        let dedup = dedup(&bench.book, &bench.config, &|_| None);
        let plan = Plan::new(bench.book.clone(), 9, at(99));
        let learner = Learner::new(plan, dedup, &bench.config, Comparison::Titles, &|_| None);
        match learner.learn_all(&drafts) {
            Planned::Nothing(outcomes) => assert_eq!(outcomes, std::slice::from_ref(&refused)),
            Planned::Commit(_, outcomes) => panic!("there was something to commit: {outcomes:?}"),
            Planned::NeedsVectors(texts) => panic!("{texts:?}"),
        }
        // Nor does it when another lesson of its batch is learned.
        let mut batch = drafts.to_vec();
        batch.push(Ok(hand(&lesson("accepted", "s"))));
        let mut with_another = Bench { book: before.clone(), ..Bench::new() };
        with_another.config = bench.config.clone();
        let outcomes = with_another.decide(|learner| learner.learn_all(&batch));
        assert_eq!(outcomes[0], refused);
        let accepted = outcomes[1].id().unwrap();
        with_another.book.take(accepted).unwrap();
        assert_eq!(with_another.book, before, "{refused}");
        assert_eq!(bench.changes.len(), n_changes);
    }
}

#[test]
fn a_removal_outlives_a_refused_lesson_by_hand_and_ends_with_an_accepted_one() {
    let (mut bench, gone) = bench_with_removal();
    let refused = bench.arrive(Newcomer { supersedes: Some(no_lesson()), ..hand(&gone) });
    assert!(matches!(refused, LearnOutcome::Refused { reason: Refusal::NothingToSupersede { .. } }), "{refused}");
    assert_eq!(bench.learn(&mined("gone")), LearnOutcome::Refused { reason: Refusal::Removed });
    assert!(matches!(bench.learn(&gone), LearnOutcome::Inserted { .. }));
    assert!(bench.book.removed.is_empty());
}

#[test]
fn a_merge_and_a_replacement_by_hand_end_the_removal_too() {
    let (mut bench, gone) = bench_with_removal();
    bench.learn(&lesson("gone", "another advice"));
    bench.config.learn.dedup = DedupPolicy::Plain;
    assert!(is_merged(&bench.learn(&gone)));
    assert!(bench.book.removed.is_empty());

    let (mut bench, gone) = bench_with_removal();
    let old = bench.learn(&lesson("old", "s")).id();
    let learned = bench.arrive(Newcomer { supersedes: old, ..hand(&gone) });
    assert!(matches!(learned, LearnOutcome::Superseded { .. }), "{learned}");
    assert!(bench.book.removed.is_empty());
}

fn promote(bench: &mut Bench, id: LessonId) -> LearnOutcome {
    let waiting = bench.book.waiting.iter().find(|waiting| waiting.lesson.id == id).unwrap();
    let shown = waiting.lesson.shown_hash();
    bench.decide(|learner| learner.promote_all(&[ReviewedLesson { id, shown }]).unwrap()).remove(0)
}

#[test]
fn a_removal_outlives_review_until_the_text_is_promoted() {
    let (mut bench, gone) = bench_with_removal();
    bench.config.retention.capacity = 1;
    bench.learn(&lesson("by hand", "s"));
    let waits = bench.learn(&tainted(gone.clone()));
    assert!(matches!(waits, LearnOutcome::Review { reason: ReviewReason::Tainted, .. }), "{waits}");
    assert_eq!(bench.learn(&mined("gone")), LearnOutcome::Refused { reason: Refusal::Removed });
    // There is no room for it, so it continues to wait.
    let waits = promote(&mut bench, waits.id().unwrap());
    assert!(matches!(waits, LearnOutcome::Review { reason: ReviewReason::WouldEvictTrusted, .. }), "{waits}");
    assert_eq!(bench.book.removed.len(), 1);
    bench.config.retention.capacity = 2;
    let promoted = promote(&mut bench, waits.id().unwrap());
    assert!(matches!(promoted, LearnOutcome::Inserted { .. }), "{promoted}");
    assert!(bench.book.removed.is_empty());
}

#[test]
fn a_removal_outlives_the_promotion_of_a_text_that_is_here() {
    let (mut bench, gone) = bench_with_removal();
    bench.book.put(gone.clone());
    let waits = bench.learn(&tainted(gone));
    let refused = promote(&mut bench, waits.id().unwrap());
    assert!(matches!(refused, LearnOutcome::Refused { reason: Refusal::AlreadyHere { .. } }), "{refused}");
    assert_eq!((bench.book.removed.len(), bench.book.waiting.len()), (1, 0));
}

#[test]
fn a_mined_text_that_was_refused_is_accepted_once_the_reason_is_gone() {
    let mut bench = Bench::new();
    let id = bench.learn(&quarantined(lesson("t", "s"))).id().unwrap();
    for _ in 0..2 {
        assert_eq!(bench.learn(&mined("t")), LearnOutcome::Refused { reason: Refusal::Quarantined { id } });
    }
    bench.book.take(id);
    assert!(matches!(bench.learn(&mined("t")), LearnOutcome::Review { .. }));
    assert!(matches!(bench.learn(&mined("t")), LearnOutcome::Refused { reason: Refusal::AlreadyMined { .. } }));
}

/// The outcomes of rows that are learned in one commit.
fn import(bench: &mut Bench, rows: &[Lesson]) -> Vec<LearnOutcome> {
    let rows: Vec<_> = rows.iter().map(|lesson| Ok(row(lesson))).collect();
    bench.decide(|learner| learner.import_all(&rows)).outcomes
}

fn already_here(id: LessonId) -> LearnOutcome {
    LearnOutcome::Refused { reason: Refusal::AlreadyHere { id } }
}

#[test]
fn an_equal_row_names_the_lesson_that_the_first_one_became() {
    let mut bench = Bench::new();
    let here = bench.learn(&lesson("here", "s")).id().unwrap();
    // Its id is taken, so it gets another.
    let row = Lesson { id: here, ..lesson("row", "s") };
    let outcomes = import(&mut bench, &[row.clone(), row]);
    let id = outcomes[0].id().unwrap();
    assert!(id != here && bench.book.get(id).is_some());
    assert_eq!(outcomes[1], already_here(id));
    // It is merged into another lesson.
    let same = lesson("here", "S!");
    let outcomes = import(&mut bench, &[same.clone(), same]);
    assert!(matches!(outcomes[0], LearnOutcome::Merged { into, .. } if into == here), "{}", outcomes[0]);
    assert_eq!(outcomes[1], already_here(here));
    // It awaits review.
    let waits = tainted(Lesson { id: here, ..lesson("waits", "s") });
    let outcomes = import(&mut bench, &[waits.clone(), waits]);
    assert_eq!(outcomes[1], already_here(bench.book.waiting[0].lesson.id));
}

#[test]
fn an_equal_row_is_refused_for_the_same_reason_as_the_first_one() {
    let mut bench = Bench::new();
    bench.config.retention.max_waiting = 0;
    let id = bench.learn(&quarantined(lesson("in quarantine", "s"))).id().unwrap();
    for (row, reason) in [
        (tainted(lesson("waits", "s")), Refusal::ReviewIsFull { max: 0 }),
        (lesson("in quarantine", "s, said otherwise"), Refusal::Quarantined { id }),
    ] {
        let refused = LearnOutcome::Refused { reason };
        assert_eq!(import(&mut bench, &[row.clone(), row]), [refused.clone(), refused]);
    }
}

#[test]
fn a_row_with_the_text_of_a_lesson_that_the_import_evicted_is_not_here() {
    let mut bench = Bench::new();
    bench.config.retention.capacity = 1;
    bench.learn(&lesson("old", "s"));
    let outcomes = import(&mut bench, &[lesson("new", "s"), lesson("old", "s")]);
    assert!(matches!(outcomes[0], LearnOutcome::Inserted { .. }), "{}", outcomes[0]);
    assert!(matches!(outcomes[1], LearnOutcome::Inserted { .. }), "{}", outcomes[1]);
    assert_eq!(bench.triggers(), ["old"]);
}

#[test]
fn a_row_that_would_evict_lessons_by_hand_displaces_none_that_awaits_review() {
    let mut bench = Bench::new();
    (bench.config.retention.capacity, bench.config.retention.max_waiting) = (1, 1);
    bench.learn(&lesson("by hand", "s"));
    let waits = bench.learn(&tainted(lesson("waits", "s"))).id();
    let refused = import(&mut bench, &[mined("row")]);
    assert_eq!(refused, [LearnOutcome::Refused { reason: Refusal::ReviewIsFull { max: 1 } }]);
    assert_eq!(bench.book.waiting.first().map(|waiting| waiting.lesson.id), waits);
}
