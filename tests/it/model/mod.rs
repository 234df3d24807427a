//! A model-based test: every operation on a playbook, in random order, compared with a naive list.

mod coverage;
mod feedback;
mod learning;
mod naive;
mod operations;
mod undoing;

use std::collections::BTreeSet;

use adage::lesson::{Origin, Provenance};
use adage::{Config, Error, Feedback, LessonDraft, LessonId, Playbook, Request, Tier, Verification, build_lesson};
use chrono::TimeDelta;
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use super::bench::{Bench, lessons};
use coverage::{Seen, Tally};
use naive::Model;
use operations::{Op, Style, op};

/// The capacity of a realm.
const CAPACITY: usize = 5;
/// No two of them share a word, so that a word query finds exactly one lesson.
const TRIGGERS: [&str; 12] = [
    "amber kettle",
    "brass lantern",
    "copper anvil",
    "denim apron",
    "ebony flute",
    "felt slipper",
    "granite mortar",
    "hemp rope",
    "ivory comb",
    "jade buckle",
    "kelp basket",
    "linen sail",
];
/// The first is the global realm.
const PROJECTS: [&str; 3] = ["", "shop", "bank"];

type Checked<T = ()> = Result<T, TestCaseError>;

/// Tasks are compared without case, punctuation and white space (docs/spec/playbook.md, 3.2).
fn plain(text: &str) -> String {
    let letters: String = text.to_lowercase().chars().filter(|c| c.is_alphanumeric() || *c == ' ').collect();
    letters.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn loud(trigger: &str) -> String {
    let mut letters = trigger.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}!", letters.as_str())
}

fn solution(trigger: &str, length: usize) -> String {
    let words = plain(trigger);
    let first = words.split(' ').next().unwrap_or_default().to_owned();
    [
        format!("polish the {first}"),
        format!("polish the {first} gently"),
        format!("polish the {first} gently with wool"),
    ][length]
        .clone()
}

fn draft(trigger: &str, solution: &str, project: usize, style: Style) -> LessonDraft {
    let draft = build_lesson(trigger, solution).project(PROJECTS[project]);
    // A verified draft with confidence 0: only its mark adds to the confidence of the lesson.
    let draft = if style.is_verified { draft.verified().confidence(0.0) } else { draft };
    let origin = if style.is_imported { Origin::Imported } else { Origin::Hand };
    draft.provenance(&Provenance { origin, ..Provenance::default() })
}

/// The value, unless several lessons have the name: then the error must list them.
fn unless_ambiguous<T>(result: Result<T, Error>, named: &[LessonId]) -> Checked<Option<T>> {
    match result {
        Ok(value) if named.len() == 1 => Ok(Some(value)),
        Err(Error::Ambiguous { ids, .. }) if named.len() > 1 => {
            prop_assert_eq!(ids.into_iter().collect::<BTreeSet<_>>(), named.iter().copied().collect::<BTreeSet<_>>());
            Ok(None)
        }
        Ok(_) => Err(TestCaseError::fail(format!("one of {named:?} was taken"))),
        Err(error) => Err(TestCaseError::fail(format!("{error}, named are {named:?}"))),
    }
}

fn recall(model: &mut Model, playbook: &Playbook, about: Option<usize>, project: usize) -> Checked {
    let request = about.map_or_else(Request::cold_start, |slot| Request::about(TRIGGERS[slot]));
    let context = playbook.get_playbook_context(request.project(PROJECTS[project])).unwrap();
    let shown: Vec<LessonId> = context.lessons.iter().map(|shown| shown.id).collect();
    match about {
        None => {
            let newest: Vec<LessonId> = model.visible(project).iter().take(5).map(|row| row.id).collect();
            prop_assert_eq!((context.tier, &shown), (Tier::Recency, &newest));
        }
        Some(slot) => {
            let named = model.visible(project).into_iter().filter(|row| plain(&row.trigger) == TRIGGERS[slot]);
            let named: BTreeSet<LessonId> = named.map(|row| row.id).collect();
            let is_all = shown.len() == named.len().min(5) && shown.iter().all(|id| named.contains(id));
            prop_assert!(context.tier == Tier::Lexical && is_all, "{:?}, expected {:?}", context, named);
        }
    }
    prop_assert_eq!(context.receipt.is_some(), !shown.is_empty());
    if let Some(receipt) = context.receipt {
        model.show(receipt, &shown);
    }
    Ok(())
}

fn learn(model: &mut Model, playbook: &Playbook, text: (&str, &str), project: usize, style: Style) -> Checked {
    let learned = playbook.learn_lesson(draft(text.0, text.1, project, style)).unwrap();
    model.learn(text, project, style, &learned)
}

/// Applies the operation to both.
fn step(model: &mut Model, playbook: &Playbook, bench: &Bench, op: &Op) -> Checked {
    match op {
        Op::Learn { slot, project, style } => {
            let trigger = if style.is_loud { loud(TRIGGERS[*slot]) } else { TRIGGERS[*slot].to_owned() };
            learn(model, playbook, (&trigger, &solution(&trigger, style.length)), *project, *style)?;
        }
        Op::LearnTwin { pick, style } => {
            let Some(row) = model.pick(*pick).cloned() else { return Ok(()) };
            let trigger = if style.is_loud { loud(&plain(&row.trigger)) } else { plain(&row.trigger) };
            learn(model, playbook, (&trigger, &solution(&trigger, style.length)), row.project, *style)?;
        }
        Op::LearnRemoved { pick, is_imported } => {
            let n_removed = model.removed.len().max(1);
            let Some(row) = model.removed.get(pick % n_removed).map(|removed| removed.row.clone()) else {
                return Ok(());
            };
            let style = Style { length: 0, is_loud: false, is_verified: false, is_imported: *is_imported };
            learn(model, playbook, (&row.trigger, &row.solution), row.project, style)?;
        }
        Op::Recall { about, project, times } => {
            for _ in 0..*times {
                recall(model, playbook, *about, *project)?;
            }
        }
        Op::Peek { project } => {
            let request = Request::cold_start().project(PROJECTS[*project]).peek();
            prop_assert_eq!(playbook.get_playbook_context(request).unwrap().receipt, None);
        }
        Op::Outcome { pick, outcome } => {
            // Mostly of the last ones, now and then of one that has an outcome already.
            let n_receipts = model.receipts.len();
            let Some(place) = n_receipts.checked_sub(1 + pick % n_receipts.clamp(1, 8)) else { return Ok(()) };
            let credited = playbook.record_outcome(model.receipts[place].id, *outcome).unwrap();
            prop_assert_eq!(credited, model.record_outcome(place, *outcome));
        }
        Op::CreditWindow => {
            let window = playbook.config().feedback.credit_window;
            prop_assert_eq!(playbook.credit_recent_retrievals(window).unwrap(), model.credit_window());
        }
        Op::Credit { pick, by_name, helped } => {
            let Some((reference, id, named)) = model.refer(*pick, *by_name) else { return Ok(()) };
            let (result, outcome) = if *helped {
                (playbook.record_helpful_retrieval(reference), Feedback::Helpful)
            } else {
                (playbook.record_harmful_retrieval(reference), Feedback::Harmful)
            };
            if unless_ambiguous(result, &named)?.is_some() {
                model.credit_by_name(id, outcome);
            }
        }
        Op::Verify { pick, by_name, passed } => {
            let Some((reference, id, named)) = model.refer(*pick, *by_name) else { return Ok(()) };
            let verification = if *passed { Verification::Passed } else { Verification::Failed };
            if unless_ambiguous(playbook.mark_verified(reference, verification), &named)?.is_some() {
                let row = model.row(id).unwrap();
                row.is_verified = *passed;
                row.was_checked = true;
                row.confidence = (row.confidence + if *passed { 0.2 } else { 0.0 }).min(1.0);
            }
        }
        Op::Prune => {
            let due = playbook.prunable().unwrap();
            let pruned = playbook.prune_low_utility().unwrap();
            prop_assert_eq!(&due, &pruned.lessons);
            model.prune(&pruned)?;
        }
        Op::Remove { pick, by_name } => {
            let Some((reference, id, named)) = model.refer(*pick, *by_name) else { return Ok(()) };
            if let Some(removal) = unless_ambiguous(playbook.remove(reference), &named)? {
                prop_assert_eq!(removal.id, id);
                model.remove(id, removal.change);
            }
        }
        Op::Undo { pick } => {
            let n_changes = model.changes.len();
            let Some(place) = n_changes.checked_sub(1 + pick % n_changes.clamp(1, 6)) else { return Ok(()) };
            let result = playbook.undo(model.changes[place].id);
            model.undo(place, &result)?;
        }
        Op::Reopen => {}
        Op::Advance { seconds } => {
            bench.advance(*seconds);
            model.now += TimeDelta::seconds(*seconds);
        }
    }
    Ok(())
}

fn compare(model: &Model, playbook: &Playbook) -> Checked {
    let (ours, theirs) = (model.sorted(), lessons(playbook));
    prop_assert_eq!(
        theirs.iter().map(|lesson| (lesson.id, lesson.trigger.as_str())).collect::<Vec<_>>(),
        ours.iter().map(|row| (row.id, row.trigger.as_str())).collect::<Vec<_>>()
    );
    for (row, lesson) in ours.iter().zip(&theirs) {
        prop_assert_eq!(&lesson.solution, &row.solution);
        prop_assert_eq!(&lesson.correct_pattern, &row.solution);
        prop_assert_eq!(&lesson.realm.project, PROJECTS[row.project]);
        prop_assert_eq!(
            (lesson.verified, lesson.verification_attempted),
            (row.is_verified, row.was_checked),
            "{:?}",
            row
        );
        let counts = (lesson.frequency, lesson.retrievals, lesson.helpful_retrievals, lesson.harmful_retrievals);
        prop_assert_eq!(counts, (row.frequency, row.retrievals, row.helpful, row.harmful), "{:?}", row);
        prop_assert_eq!((lesson.timestamp, lesson.last_retrieved_at), (row.timestamp, row.retrieved_at), "{:?}", row);
        prop_assert!((lesson.confidence - row.confidence).abs() < 1e-9, "{} of {:?}", lesson.confidence, row);
        prop_assert!(
            (playbook.utility(lesson) - row.utility()).abs() < 1e-9,
            "{} of {:?}",
            playbook.utility(lesson),
            row
        );
    }
    prop_assert_eq!(playbook.stats().unwrap().n_removed, model.removed.len());
    Ok(())
}

/// Two handles take turns, and each step is checked through the other one.
fn run(ops: &[Op]) -> Checked<Tally> {
    let bench = Bench::new();
    let mut config = Config::classic();
    config.retention.capacity = CAPACITY;
    let open = || bench.builder().with_config(config.clone()).open().unwrap();
    let mut handles = [open(), open()];
    let mut model = Model::new();
    let style = Style { length: 1, is_loud: false, is_verified: false, is_imported: false };
    // Enough of them that a prune looks at all; some triggers in two projects.
    let first: Vec<(&str, usize)> = (0..13)
        .map(|place| (TRIGGERS[place % TRIGGERS.len()], (place + place / TRIGGERS.len()) % PROJECTS.len()))
        .collect();
    let drafts = first.iter().map(|(trigger, project)| draft(trigger, &solution(trigger, 1), *project, style));
    for ((trigger, project), learned) in first.iter().zip(handles[0].learn_lessons(drafts).unwrap()) {
        model.learn((trigger, &solution(trigger, 1)), *project, style, &learned)?;
    }
    for (number, op) in ops.iter().enumerate() {
        if matches!(op, Op::Reopen) {
            handles = [open(), open()];
        }
        step(&mut model, &handles[number % 2], &bench, op)?;
        // A process that another test starts holds every open lock until it is another program: counts may have to wait.
        while !handles[number % 2].flush().unwrap() {
            std::thread::yield_now();
        }
        compare(&model, &handles[(number + 1) % 2])?;
    }
    Ok(model.tally)
}

#[test]
fn the_playbook_agrees_with_a_naive_model_after_any_operations() {
    let config =
        ProptestConfig { cases: 64, failure_persistence: None, max_shrink_iters: 400, ..ProptestConfig::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let total = std::cell::RefCell::new(Tally::default());
    let result = runner.run(&proptest::collection::vec(op(), 40), |ops| {
        let tally = run(&ops)?;
        let mut total = total.borrow_mut();
        for what in Seen::ALL {
            total.count(what, tally.0[what as usize]);
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let Tally(seen) = total.into_inner();
    assert!(Seen::ALL.iter().all(|what| seen[*what as usize] >= 5), "hardly ever happened: {seen:?}");
}
