//! The log of receipts, random withholding, and the effect of lessons (docs/spec/playbook.md, 6.7 and 6.8).

use std::sync::Arc;

use adage::config::{CreditConfig, Error as ConfigError};
use adage::credit::{Claim, Effect, LoggedReceipt, Replay};
use adage::{
    Config, Context, Error, Feedback, HashingEmbedder, LessonId, NoMatchReason, Playbook, PlaybookBuilder, Request,
    Verification, build_lesson,
};

use super::bench::{Bench, learn, shown, three};

const LOG: &str = "receipts.jsonl";
const CSV: &str = "parsing CSV exports";

fn with(bench: &Bench, dropout: f64) -> PlaybookBuilder {
    let config = Config {
        credit: CreditConfig { log_receipts: true, dropout, seed: Some(3), ..CreditConfig::default() },
        ..Config::default()
    };
    bench.builder().with_config(config)
}

fn open(bench: &Bench, dropout: f64) -> Playbook {
    with(bench, dropout).open().unwrap()
}

fn stock(playbook: &Playbook) -> [LessonId; 3] {
    three().map(|draft| learn(playbook, draft))
}

fn ask(playbook: &Playbook, request: impl Into<Request>) -> Context {
    playbook.get_playbook_context(request).unwrap()
}

fn receipts(playbook: &Playbook) -> Vec<LoggedReceipt> {
    playbook.receipts().unwrap().receipts().to_vec()
}

/// The ids that a receipt showed, and those that it withheld.
fn sides(receipt: &LoggedReceipt) -> [Vec<LessonId>; 2] {
    [true, false].map(|is_shown| {
        receipt
            .lessons
            .iter()
            .filter(|lesson| lesson.propensity > 0.0 && lesson.shown == is_shown)
            .map(|lesson| lesson.id)
            .collect()
    })
}

#[test]
fn by_default_nothing_is_logged_or_withheld() {
    let bench = Bench::new();
    let mut config = Config::default();
    config.credit.dropout = 0.9;
    let playbook = bench.builder().with_config(config).open().unwrap();
    stock(&playbook);
    for _ in 0..40 {
        assert_eq!(shown(&ask(&playbook, CSV)), [CSV]);
    }
    assert!(!bench.has(LOG));
    assert!(receipts(&playbook).is_empty());
}

#[test]
fn a_logged_receipt_lists_the_shown_lessons_without_text() {
    let bench = Bench::new();
    let playbook = open(&bench, 0.0);
    let [csv, ..] = stock(&playbook);
    let request = Request::about("parsing CSV exports of quarterly figures").project("shop");
    let context = ask(&playbook, request.clone());
    ask(&playbook, request.peek());
    let receipt = context.receipt.unwrap();
    playbook.record_outcome(receipt, Feedback::Harmful).unwrap();
    playbook.record_outcome(receipt, Feedback::Helpful).unwrap();
    let [logged] = receipts(&playbook).try_into().unwrap();
    assert_eq!((logged.receipt, logged.realm.project.as_str()), (receipt, "shop"));
    assert_eq!(logged.outcome.unwrap().verdict, Feedback::Harmful);
    assert_eq!(sides(&logged), [vec![csv], vec![]]);
    assert_eq!(logged.lessons[0].probability, context.lessons[0].probability);
    assert!((logged.lessons[0].propensity - 1.0).abs() < 1e-12);
    assert!(logged.answer.unwrap() >= context.lessons[0].probability.unwrap());
    let text = String::from_utf8(bench.read(LOG)).unwrap().to_lowercase();
    for word in ["quarterly", "csv", "quoted", "module", "ssh"] {
        assert!(!text.contains(word), "{word} is in {text}");
    }
}

#[test]
fn withheld_lessons_are_not_rendered_or_counted_and_the_receipt_is_valid() {
    let bench = Bench::new();
    let playbook = open(&bench, 0.4);
    let [csv, ..] = stock(&playbook);
    let mut n_withheld = 0;
    for _ in 0..100 {
        let context = ask(&playbook, CSV);
        let receipt = context.receipt.unwrap();
        if context.lessons.is_empty() {
            n_withheld += 1;
            assert_eq!(
                (context.text.as_str(), context.none_because),
                ("", Some(NoMatchReason::Withheld { n_lessons: 1 }))
            );
        }
        playbook.record_outcome(receipt, Feedback::Neutral).unwrap();
    }
    // Four standard deviations of 100 at 0.4.
    assert!((20..=60).contains(&n_withheld), "{n_withheld}");
    assert_eq!(playbook.find(csv).unwrap().retrievals, 100 - n_withheld);
    let logged = receipts(&playbook);
    assert!(logged.iter().all(|receipt| receipt.outcome.is_some()));
    let of_log = logged.iter().filter(|receipt| sides(receipt) == [vec![], vec![csv]]).count();
    assert_eq!(of_log as u64, n_withheld);
    for receipt in &logged {
        // The one that was found; the gate rejected the other two.
        let propensities: Vec<f64> = receipt.lessons.iter().map(|lesson| lesson.propensity).collect();
        assert_eq!(propensities, [1.0 - 0.4, 0.0, 0.0]);
    }
}

#[test]
fn each_lesson_of_a_context_is_withheld_independently() {
    let bench = Bench::new();
    let playbook = open(&bench, 0.5);
    let all = stock(&playbook);
    let mut sets = std::collections::BTreeSet::new();
    for _ in 0..120 {
        let context = ask(&playbook, Request::cold_start());
        let logged = receipts(&playbook).pop().unwrap();
        let [of_log, withheld] = sides(&logged);
        assert_eq!(of_log, context.lessons.iter().map(|lesson| lesson.id).collect::<Vec<_>>());
        assert_eq!(of_log.len() + withheld.len(), all.len());
        sets.insert(of_log);
    }
    assert_eq!(sets.len(), 8);
}

#[test]
fn verified_and_pattern_matched_lessons_are_never_withheld() {
    let bench = Bench::new();
    let playbook = open(&bench, 0.9);
    let [csv, ..] = stock(&playbook);
    playbook.mark_verified(csv, Verification::Passed).unwrap();
    learn(&playbook, build_lesson("columns of exports", "Name them.").paths(["src/*.csv"]));
    for _ in 0..40 {
        let context = ask(&playbook, Request::about(CSV).touching("src/a.csv"));
        let mut both = shown(&context);
        both.sort_unstable();
        assert_eq!(both, ["columns of exports", CSV]);
    }
}

#[test]
fn a_lesson_that_prevails_is_not_withheld_without_the_other() {
    let bench = Bench::new();
    let playbook = with(&bench, 0.9).with_embedder(Arc::new(HashingEmbedder)).open().unwrap();
    let situation = "flaky download step in the workflow";
    let older = build_lesson(situation, "Wrap the step in a retry action with five attempts.");
    let old = learn(&playbook, older.mistake("the mirror was slow and the run failed once a day"));
    bench.advance(60);
    let newer = build_lesson(situation, "Do not retry; fetch from the package cache of the organisation.");
    let newer = newer.mistake("the retries hid that the mirror had been shut down");
    let new = playbook.learn_lesson(newer).unwrap().id().unwrap();
    let marked = ask(&playbook, Request::about(situation).peek()).lessons;
    assert_eq!(marked.last().and_then(|older| older.contradicted_by), Some(new), "{marked:?}");
    let mut n_both = 0;
    for _ in 0..60 {
        let context = ask(&playbook, situation);
        let ids: Vec<LessonId> = context.lessons.iter().map(|lesson| lesson.id).collect();
        assert_eq!(ids[0], new);
        n_both += usize::from(ids.contains(&old));
    }
    assert!((1..30).contains(&n_both), "{n_both}");
}

#[test]
fn beyond_the_limit_the_newest_half_of_the_receipts_is_kept() {
    let bench = Bench::new();
    let config = Config {
        credit: CreditConfig { log_receipts: true, max_receipts: 10, ..CreditConfig::default() },
        ..Config::default()
    };
    let playbook = bench.builder().with_config(config).open().unwrap();
    stock(&playbook);
    for round in 0..37 {
        bench.advance(1);
        let receipt = ask(&playbook, CSV).receipt.unwrap();
        if round % 3 == 0 {
            playbook.record_outcome(receipt, Feedback::Helpful).unwrap();
            let logged = receipts(&playbook);
            assert!(logged.len() <= 10, "{} after {round}", logged.len());
            assert!(logged.last().is_some_and(|last| last.receipt == receipt && last.outcome.is_some()));
        }
    }
    assert!(receipts(&playbook).len() >= 5);
}

#[test]
fn a_log_that_is_never_shortened_stops_growing() {
    let bench = Bench::new();
    let config = Config {
        credit: CreditConfig { log_receipts: true, max_receipts: 2, ..CreditConfig::default() },
        ..Config::default()
    };
    let playbook = bench.builder().with_config(config).open().unwrap();
    stock(&playbook);
    for _ in 0..60 {
        ask(&playbook, CSV).receipt.unwrap();
    }
    assert!(bench.read(LOG).len() < 6 * 1024, "{}", bench.read(LOG).len());
    let receipt = ask(&playbook, CSV).receipt.unwrap();
    playbook.record_outcome(receipt, Feedback::Helpful).unwrap();
    assert!(receipts(&playbook).len() <= 2);
}

#[test]
fn a_removed_lesson_is_deleted_from_the_log_and_others_are_kept() {
    let bench = Bench::new();
    let playbook = open(&bench, 0.5);
    let [csv, keys, photographs] = stock(&playbook);
    for _ in 0..10 {
        let receipt = ask(&playbook, Request::cold_start()).receipt.unwrap();
        playbook.record_outcome(receipt, Feedback::Helpful).unwrap();
        ask(&playbook, "rotating ssh keys");
    }
    playbook.remove(keys).unwrap();
    let text = String::from_utf8(bench.read(LOG)).unwrap();
    assert!(!text.contains(&keys.to_string()), "{text}");
    let logged = receipts(&playbook);
    assert_eq!(logged.len(), 10);
    for receipt in &logged {
        let mut ids: Vec<LessonId> = receipt.lessons.iter().map(|lesson| lesson.id).collect();
        ids.sort_unstable();
        let mut others = vec![csv, photographs];
        others.sort_unstable();
        assert_eq!((ids, receipt.outcome.is_some()), (others, true));
    }
}

#[test]
fn a_removed_lesson_is_deleted_from_the_log_even_when_logging_is_off() {
    let bench = Bench::new();
    let playbook = open(&bench, 0.5);
    let [csv, ..] = stock(&playbook);
    ask(&playbook, CSV);
    drop(playbook);
    bench.open().remove(csv).unwrap();
    assert!(bench.has(LOG) && bench.read(LOG).is_empty());
}

#[test]
fn an_untrusted_or_read_only_folder_gets_no_log() {
    let bench = Bench::new();
    stock(&bench.open());
    for (builder, n_shown) in [(with(&bench, 0.9).untrusted(), 0), (with(&bench, 0.9).read_only(), 1)] {
        let playbook = builder.open().unwrap();
        for _ in 0..20 {
            // Without a log, nothing is withheld.
            assert_eq!(ask(&playbook, CSV).lessons.len(), n_shown);
        }
    }
    assert!(!bench.has(LOG));
}

#[test]
fn an_unwritable_log_delays_and_fails_nothing() {
    let bench = Bench::new();
    let playbook = open(&bench, 0.0);
    let [csv, ..] = stock(&playbook);
    std::fs::create_dir(bench.path(LOG)).unwrap();
    let context = ask(&playbook, CSV);
    assert_eq!(shown(&context), [CSV]);
    playbook.record_outcome(context.receipt.unwrap(), Feedback::Helpful).unwrap();
    assert_eq!(playbook.find(csv).unwrap().helpful_retrievals, 1);
    assert!(playbook.receipts().is_err());
}

#[test]
fn a_folder_cannot_have_its_lessons_withheld() {
    for own in ["credit.dropout = 0.5", "[credit]\nlog_receipts = true"] {
        let refused = Config::default().for_folder(own);
        assert!(matches!(refused, Err(ConfigError::NotForFolder { ref key, .. }) if key == "credit"), "{refused:?}");
    }
}

/// Queries the three lessons in turn; `is_helpful` gives the outcome of each task, depending on whether the lesson was shown.
fn tasks(playbook: &Playbook, n_tasks: usize, is_helpful: impl Fn(usize, bool) -> bool) {
    for number in 0..n_tasks {
        let context = ask(playbook, CSV);
        let outcome =
            if is_helpful(number, !context.lessons.is_empty()) { Feedback::Helpful } else { Feedback::Harmful };
        playbook.record_outcome(context.receipt.unwrap(), outcome).unwrap();
    }
}

#[test]
fn an_effect_is_the_difference_that_showing_makes() {
    for (helps, expected) in [(true, Claim::Helps), (false, Claim::Harms)] {
        let bench = Bench::new();
        let playbook = open(&bench, 0.3);
        let [csv, keys, _] = stock(&playbook);
        tasks(&playbook, 150, |_, is_shown| is_shown == helps);
        let Effect::Measured { uplift, claim, shown, withheld } = playbook.effect(csv).unwrap() else {
            panic!("not enough data")
        };
        assert_eq!(claim, expected);
        assert!((uplift.value - if helps { 1.0 } else { -1.0 }).abs() < 1e-12);
        assert_eq!(shown.n_outcomes + withheld.n_outcomes, 150);
        assert!(matches!(playbook.effect(keys).unwrap(), Effect::NotEnoughData { .. }));
        // After an edit it is another lesson.
        playbook.learn_lesson(build_lesson(CSV, "Use the csv module with a dialect, always.")).unwrap();
        assert!(matches!(playbook.effect(CSV).unwrap(), Effect::NotEnoughData { .. }));
    }
}

#[test]
fn the_effect_of_a_missing_lesson_is_an_error() {
    let bench = Bench::new();
    assert!(matches!(open(&bench, 0.3).effect("nobody knows it"), Err(Error::NoSuchLesson { .. })));
}

#[test]
fn a_replay_estimates_the_outcome_without_lessons() {
    let bench = Bench::new();
    let playbook = open(&bench, 0.5);
    stock(&playbook);
    // Without the lesson a quarter of the tasks is helpful, with it a half.
    tasks(&playbook, 200, |number, is_shown| number % if is_shown { 2 } else { 4 } == 0);
    let log = playbook.receipts().unwrap();
    let rate = |gate: &str| match log.replay(&gate.parse().unwrap()) {
        Replay::Estimated { weighted, doubly_robust, n_receipts: 200, .. } => {
            assert!((weighted.value - doubly_robust.value).abs() < 0.05);
            weighted
        }
        other => panic!("{other:?}"),
    };
    assert!(rate("answer_from=1").covers(0.25));
    assert!(rate("limit=5").covers(0.5));
}
