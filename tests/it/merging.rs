//! The merge guard on pairs of lessons with the real model: values keep apart, rewordings merge.

use adage::config::DedupPolicy;
use adage::{Config, LearnOutcome, LessonDraft, Playbook, build_lesson};
use serde_json::Value;

/// Written for this test, half of them conflicting in a value, half honest rewordings; all closer than the distance.
const PAIRS: &str = include_str!("../fixtures/merge_pairs.jsonl");

fn draft(pair: &Value, side: &str) -> LessonDraft {
    let text = |field: &str| pair[side][field].as_str().unwrap();
    build_lesson(text("trigger"), text("solution")).mistake(text("mistake")).project(pair["id"].as_str().unwrap())
}

/// What becomes of the second lesson of each pair, the pairs in projects of their own.
fn learn(policy: DedupPolicy) -> Vec<(Value, LearnOutcome)> {
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.learn.dedup = policy;
    let playbook = Playbook::builder(folder.path()).with_config(config).open().unwrap();
    let pairs: Vec<Value> = PAIRS.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let drafts = pairs.iter().flat_map(|pair| ["a", "b"].map(|side| draft(pair, side)));
    let learned = playbook.learn_lessons(drafts).unwrap();
    pairs.into_iter().zip(learned.chunks(2).map(|both| both[1].clone())).collect()
}

#[test]
fn the_guard_keeps_values_apart_and_lets_rewordings_merge() {
    let learned = learn(DedupPolicy::Guarded);
    let (conflicts, rewordings): (Vec<_>, Vec<_>) = learned.iter().partition(|(pair, _)| pair["kind"] == "conflict");
    assert_eq!((conflicts.len(), rewordings.len()), (30, 30));
    let apart: Vec<String> = rewordings
        .iter()
        .filter_map(|(pair, learned)| match learned {
            LearnOutcome::Distinct { why, .. } => Some(format!("{}: {why}", pair["id"])),
            _ => None,
        })
        .collect();
    let merged = conflicts.iter().filter(|(_, learned)| matches!(learned, LearnOutcome::Merged { .. }));
    let merged: Vec<String> = merged.map(|(pair, _)| format!("{}: {}", pair["id"], pair["why"])).collect();
    assert!(merged.is_empty(), "merged in spite of a conflict: {merged:#?}");
    assert!(apart.len() <= 6, "{} rewordings kept apart: {apart:#?}", apart.len());
    assert!(
        rewordings.iter().all(|(_, learned)| !matches!(learned, LearnOutcome::Inserted { .. })),
        "a rewording was not near"
    );
}

#[test]
fn the_plain_rule_merges_whatever_is_near() {
    let learned = learn(DedupPolicy::Plain);
    assert!(learned.iter().all(
        |(_, learned)| matches!(learned, LearnOutcome::Merged { distance: Some(distance), .. } if *distance < 0.15)
    ));
}
