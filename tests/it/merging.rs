//! Merging and contradictions on pairs of lessons with the real model: different values are distinct, rewordings merge,
//! corrections come first.

use std::collections::BTreeMap;
use std::sync::Arc;

use adage::config::DedupPolicy;
use adage::learn::ReviewReason;
use adage::lesson::Refusal;
use adage::{Config, Error, LearnOutcome, LessonDraft, ManualClock, Playbook, Request, build_lesson};
use chrono::{DateTime, TimeDelta};
use serde_json::{Value, json};

/// Pairs of lessons of which the second is learned later, by kind (`tests/cases/pairs`).
const CASES: &str = include_str!("../cases/pairs/fit.jsonl");

/// Written for this test: half of them conflict in a value, half are rewordings; all are nearer than the threshold.
const PAIRS: &str = include_str!("../fixtures/merge_pairs.jsonl");

fn draft(pair: &Value, side: &str) -> LessonDraft {
    let text = |field: &str| pair[side][field].as_str().unwrap();
    build_lesson(text("trigger"), text("solution")).mistake(text("mistake")).project(pair["id"].as_str().unwrap())
}

/// The outcome of the second lesson of each pair; each pair has its own project.
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
fn the_guard_separates_values_and_merges_rewordings() {
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
    // What only may say the same stays, and is named.
    assert!(apart.len() <= 21, "{} rewordings kept apart: {apart:#?}", apart.len());
    assert!(
        rewordings.iter().all(|(_, learned)| !matches!(learned, LearnOutcome::Inserted { .. })),
        "a rewording was not near"
    );
}

#[test]
fn without_the_guard_everything_near_is_merged() {
    let learned = learn(DedupPolicy::Plain);
    assert!(learned.iter().all(
        |(_, learned)| matches!(learned, LearnOutcome::Merged { distance: Some(distance), .. } if *distance < 0.15)
    ));
}

/// The outcomes of the pairs of a kind.
#[derive(Default)]
struct Tally {
    n_pairs: usize,
    merged: usize,
    merged_or_asked: usize,
    both_shown: usize,
    corrected: usize,
}

/// Learns the first lessons of all pairs, a month later the second ones, and asks for the second ones' triggers.
fn tallies() -> BTreeMap<String, Tally> {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::new(DateTime::parse_from_rfc3339("2026-03-01T09:00:00+00:00").unwrap()));
    let playbook = Playbook::builder(folder.path()).with_clock(Arc::<ManualClock>::clone(&clock)).open().unwrap();
    let pairs: Vec<Value> = CASES.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let learn = |side: &str| {
        let draft = |pair: &Value| {
            LessonDraft::from_json(pair[side].as_object().unwrap().clone()).project(pair["id"].as_str().unwrap())
        };
        playbook.learn_lessons(pairs.iter().map(draft)).unwrap()
    };
    let first = learn("a");
    clock.advance(TimeDelta::days(30));
    let second = learn("b");
    let mut tallies = BTreeMap::<String, Tally>::new();
    for ((pair, first), second) in pairs.iter().zip(first).zip(second) {
        let tally = tallies.entry(pair["kind"].as_str().unwrap().to_owned()).or_default();
        let request = Request::about(pair["b"]["trigger"].as_str().unwrap()).project(pair["id"].as_str().unwrap());
        let context = playbook.get_playbook_context(request.peek()).unwrap();
        let shown = |id| context.lessons.iter().position(|shown| Some(shown.id) == id);
        let (older, newer) = (shown(first.id()), shown(second.id()));
        let is_merged = matches!(second, LearnOutcome::Merged { .. });
        let is_asked = match &second {
            LearnOutcome::Distinct { .. } => true,
            LearnOutcome::Inserted { near, .. } => !near.is_empty(),
            _ => false,
        };
        let is_marked = older.is_some_and(|older| context.lessons[older].contradicted_by == second.id());
        tally.n_pairs += 1;
        tally.merged += usize::from(is_merged);
        tally.merged_or_asked += usize::from(is_merged || is_asked);
        tally.both_shown += usize::from(!is_merged && older.is_some() && newer.is_some());
        let is_told = is_marked && context.text.contains("CONTRADICTED: by the newer");
        tally.corrected += usize::from(newer == Some(0) && (older.is_none() || is_told));
    }
    tallies
}

#[test]
fn exchanged_words_are_distinct_rewordings_merge_and_corrections_come_first() {
    let tallies = tallies();
    let share = |kind: &str, count: fn(&Tally) -> usize| count(&tallies[kind]) as f64 / tallies[kind].n_pairs as f64;
    let merged = |kind| share(kind, |tally| tally.merged);
    assert!(merged("exchanged") <= 0.03, "{}", merged("exchanged"));
    assert!(merged("reworded") >= 0.75, "{}", merged("reworded"));
    let asked = share("reworded", |tally| tally.merged_or_asked);
    assert!(asked >= 0.95, "{asked}");
    let corrected = share("correction", |tally| tally.corrected);
    assert!(corrected >= 0.92, "{corrected}");
    let both_shown = share("adds", |tally| tally.both_shown);
    assert!(both_shown >= 0.97, "{both_shown}");
    assert!(merged("unrelated-near") == 0.0);
}

/// Other advice under one trigger, in four languages.
const LANGUAGES: &str = include_str!("../cases/pairs/languages.jsonl");

#[test]
fn a_second_rule_under_the_same_trigger_never_deletes_the_first() {
    for has_mistakes in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let playbook = Playbook::open(folder.path()).unwrap();
        let pairs = LANGUAGES.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let pairs: Vec<Value> = pairs.filter(|pair| pair["kind"] == "same-trigger").collect();
        assert_eq!(pairs.len(), 80);
        let side = |side: &'static str| {
            pairs.iter().map(move |pair| {
                let draft = draft(pair, side);
                if has_mistakes { draft } else { draft.mistake("") }
            })
        };
        let first = playbook.learn_lessons(side("a")).unwrap();
        let second = playbook.learn_lessons(side("b")).unwrap();
        for (pair, ids) in pairs.iter().zip(first.iter().zip(&second)) {
            let request = Request::about(pair["a"]["trigger"].as_str().unwrap()).project(pair["id"].as_str().unwrap());
            let shown = playbook.get_playbook_context(request.peek()).unwrap().lessons;
            let shown: Vec<_> = shown.iter().map(|shown| Some(shown.id)).collect();
            assert_eq!(shown, [ids.1.id(), ids.0.id()], "the newer first: {pair}");
        }
    }
}

fn offline() -> (tempfile::TempDir, Playbook) {
    let folder = tempfile::tempdir().unwrap();
    let playbook = Playbook::builder(folder.path()).without_embedder().open().unwrap();
    (folder, playbook)
}

#[test]
fn a_lesson_that_supersedes_another_replaces_it_until_it_is_undone() {
    let (_folder, playbook) = offline();
    let old = playbook.learn_lesson(build_lesson("adding a dependency", "Use yarn.")).unwrap().id().unwrap();
    let draft = build_lesson("adding a dependency", "Use pnpm.").supersedes(old);
    let learned = playbook.learn_lesson(draft.clone()).unwrap();
    let LearnOutcome::Superseded { id, old: replaced, change, .. } = learned else { panic!("{learned}") };
    assert_eq!((replaced, playbook.find("adding a dependency").unwrap().id), (old, id));
    playbook.undo(change).unwrap();
    assert_eq!(playbook.find("adding a dependency").unwrap().id, old);
    playbook.remove(old).unwrap();
    let refused = playbook.learn_lesson(draft).unwrap();
    assert_eq!(refused.to_string(), format!("refused: there is no lesson {old} to supersede"));
}

#[test]
fn a_refused_replacement_does_not_end_the_removal_of_its_text() {
    let (_folder, playbook) = offline();
    let draft = build_lesson("adding a dependency", "Use pnpm.");
    let gone = playbook.learn_lesson(draft.clone()).unwrap().id().unwrap();
    playbook.remove(gone).unwrap();
    let refused = playbook.learn_lesson(draft.clone().supersedes(gone)).unwrap();
    assert_eq!(refused, LearnOutcome::Refused { reason: Refusal::NothingToSupersede { id: gone } });
    assert_eq!(playbook.stats().unwrap().n_removed, 1);
    let refused = playbook.learn_lesson(draft.clone().source("agent")).unwrap();
    assert_eq!(refused, LearnOutcome::Refused { reason: Refusal::Removed });
    assert!(matches!(playbook.learn_lesson(draft).unwrap(), LearnOutcome::Inserted { .. }));
    assert_eq!(playbook.stats().unwrap().n_removed, 0);
}

#[test]
fn a_program_does_not_supersede_a_persons_lesson_automatically() {
    let (_folder, playbook) = offline();
    let old = playbook.learn_lesson(build_lesson("adding a dependency", "Use yarn.")).unwrap().id().unwrap();
    let draft = build_lesson("adding a dependency", "Use pnpm.").source("agent").supersedes(old);
    let learned = playbook.learn_lesson(draft).unwrap();
    let LearnOutcome::Review { id, reason: ReviewReason::WouldSupersedeTrusted, .. } = learned else {
        panic!("{learned}")
    };
    assert_eq!(playbook.find("adding a dependency").unwrap().id, old);
    let waiting = playbook.waiting_lessons().unwrap().remove(0).lesson;
    playbook.promote(id, waiting.shown_hash()).unwrap();
    assert_eq!(playbook.find("adding a dependency").unwrap().correct_pattern, "Use pnpm.");
}

#[test]
fn an_edit_changes_the_named_fields_and_their_copies() {
    let (_folder, playbook) = offline();
    let draft =
        build_lesson("adding a dependency", "Use yarn.").mistake("npm was used").domains(["node"]).confidence(0.8);
    let old = playbook.learn_lesson(draft).unwrap().id().unwrap();
    let edited = playbook.edit(old, LessonDraft::default().correct_pattern("Use pnpm.")).unwrap();
    let lesson = playbook.find("adding a dependency").unwrap();
    assert!(matches!(edited, LearnOutcome::Superseded { old: replaced, .. } if replaced == old), "{edited}");
    assert_eq!((lesson.solution.as_str(), lesson.correct_pattern.as_str()), ("Use pnpm.", "Use pnpm."));
    assert_eq!(
        (lesson.mistake.as_str(), lesson.domains.clone(), lesson.confidence),
        ("npm was used", vec!["node".to_owned()], 0.8)
    );
    let unchanged = playbook.edit(lesson.id, LessonDraft::default().correct_pattern("Use pnpm.")).unwrap();
    assert!(matches!(unchanged, LearnOutcome::Refused { .. }), "{unchanged}");
    assert!(matches!(playbook.edit(old, LessonDraft::default().task("x")), Err(Error::NoSuchLesson { .. })));
}

#[test]
fn an_edit_keeps_every_field_that_it_does_not_name() {
    let fields = [
        ("trigger", json!("adding a dependency")),
        ("task", json!("a task")),
        ("mistake", json!("npm was used")),
        ("anti_pattern", json!("npm install")),
        ("solution", json!("a way")),
        ("correct_pattern", json!("Use yarn.")),
        ("code_example", json!("yarn add left-pad")),
        ("domains", json!(["node"])),
        ("paths", json!(["web/**"])),
        ("commands", json!(["npm *"])),
        ("confidence", json!(0.8)),
        ("project", json!("web")),
        ("role", json!("coder")),
    ];
    for (name, _) in &fields {
        let (_folder, playbook) = offline();
        let row = fields.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        let id = playbook.learn_lesson(LessonDraft::from_json(row)).unwrap().id().unwrap();
        let given = match *name {
            "domains" | "paths" | "commands" => json!(["other"]),
            "confidence" => json!(0.5),
            _ => json!("other"),
        };
        let change = [((*name).to_owned(), given.clone())].into_iter().collect();
        let edited = playbook.edit(id, LessonDraft::from_json(change)).unwrap();
        let row = json!(playbook.find(edited.id().unwrap()).unwrap());
        for (key, value) in &fields {
            assert_eq!(&row[key], if key == name { &given } else { value }, "{key} after an edit of {name}: {edited}");
        }
    }
}
