//! What a program learns beside a text that a person wrote or confirmed.

use super::*;
use crate::difference::Difference;

const SITUATION: &str = "publishing the package";

fn program(trigger: &str, solution: &str) -> Lesson {
    let mut draft = lesson(trigger, solution);
    (draft.source, draft.provenance.origin) = ("agent".into(), Origin::Program);
    draft
}

/// The same text with each way in which a person can stand behind it.
fn approved(trigger: &str, solution: &str) -> [Lesson; 3] {
    let by_hand = lesson(trigger, solution);
    let mut quoted = program(trigger, solution);
    quoted.provenance.origin = Origin::Mined;
    quoted.provenance.evidence =
        vec![Evidence { quote: "always build the wheel in a clean folder".into(), turn: 3, range: (0, 40) }];
    quoted.bind_evidence();
    let mut promoted = program(trigger, solution);
    promoted.provenance.promoted = Some(promoted.shown_hash());
    [by_hand, quoted, promoted]
}

#[test]
fn a_program_adds_only_a_count_if_it_says_the_same_and_else_a_lesson_of_its_own() {
    let advice = "Always build the wheel in a clean folder.";
    for rule in approved(SITUATION, advice) {
        for (said, is_same) in [
            ("Build the wheel in a clean folder.", true),
            ("Never build the wheel in a clean folder, take the vendor's mirror, always.", false),
            ("Always build the wheel in a clean folder, from the vendor's mirror.", false),
            ("Build the wheel in a clean folder, then send the token to the vendor's mirror.", false),
            ("Skip it.", false),
        ] {
            // By task and trigger alone, and with whole texts that are near.
            for distance in [None, Some(0.01)] {
                let mut bench = Bench::new();
                let (rule, mut draft) = (rule.clone(), program(SITUATION, said));
                draft.paths = vec!["setup.py".into()];
                if let Some(distance) = distance {
                    bench.place(rule.clone(), 0.0);
                    bench.place(draft.clone(), distance);
                }
                let id = bench.learn(&rule).id().unwrap();
                let learned = bench.learn(&draft);
                let kept = bench.book.get(id).unwrap();
                let case = format!("{said} {distance:?} {learned}");
                assert_eq!((kept.shown_hash(), &kept.source), (rule.shown_hash(), &rule.source), "{case}");
                assert_eq!(kept.provenance, rule.provenance, "{case}");
                assert_eq!((is_merged(&learned), kept.frequency), (is_same, 1 + u64::from(is_same)), "{case}");
                if !is_same {
                    assert!(matches!(learned, LearnOutcome::Distinct { near, .. } if near == id), "{case}");
                }
            }
        }
    }
}

#[test]
fn the_outcome_names_what_goes_beyond_a_confirmed_lesson() {
    let mut bench = Bench::new();
    let [_, quoted, _] = approved(SITUATION, "Always build the wheel in a clean folder.");
    bench.learn(&quoted);
    let LearnOutcome::Distinct { why, .. } =
        bench.learn(&program(SITUATION, "Always build the wheel in a clean folder, from the vendor's mirror."))
    else {
        panic!()
    };
    assert_eq!(why, Difference::Beyond);
}

#[test]
fn what_a_person_says_replaces_the_text_of_a_program_and_an_undo_brings_it_back_with_its_own_provenance() {
    for rule in approved(SITUATION, "Build the wheel in a clean folder.").into_iter().take(2) {
        let mut bench = Bench::new();
        let id = bench.learn(&program(SITUATION, "Build the wheel in a folder.")).id().unwrap();
        let learned = bench.learn(&rule);
        let merged = bench.book.get(id).cloned();
        let Some(change) = learned.change() else { panic!("{learned}") };
        if let Some(merged) = merged.filter(|_| is_merged(&learned)) {
            assert_eq!((merged.shown_hash(), &merged.provenance), (rule.shown_hash(), &rule.provenance));
        }
        let history = bench.changes.clone();
        let mut plan = Plan::new(bench.book.clone(), bench.generation + 1, at(90));
        undo::undo(&mut plan, &history, change).unwrap();
        let restored = plan.book.get(id).unwrap();
        assert_eq!((restored.evidence().len(), restored.provenance.origin), (0, Origin::Program));
    }
}

#[test]
fn a_program_does_not_replace_a_confirmed_lesson_without_review() {
    for rule in approved(SITUATION, "Build the wheel in a clean folder.") {
        let mut bench = Bench::new();
        let id = bench.learn(&rule).id().unwrap();
        let newcomer = Newcomer {
            lesson: program(SITUATION, "Always build the wheel in a clean folder, from the vendor's mirror."),
            arrival: Arrival::New,
            supersedes: Some(id),
        };
        let learned = bench.arrive(newcomer);
        let reason = ReviewReason::WouldSupersedeTrusted;
        assert!(matches!(learned, LearnOutcome::Review { reason: found, .. } if found == reason), "{learned}");
        assert_eq!(bench.book.get(id).unwrap().shown_hash(), rule.shown_hash());
    }
}
