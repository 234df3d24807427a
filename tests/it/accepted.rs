//! Accepted drafts can be read back: drafts of every form, each looked up by a process that starts afterwards.

use adage::{LearnOutcome, LessonDraft};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::bench::{Bench, lessons};

const KEYS: [&str; 28] = [
    "id",
    "task",
    "mistake",
    "trigger",
    "correct_pattern",
    "anti_pattern",
    "solution",
    "code_example",
    "domains",
    "paths",
    "commands",
    "confidence",
    "source",
    "source_challenge_hash",
    "project",
    "role",
    "provenance",
    "verified",
    "verification_attempted",
    "created_at",
    "last_retrieved_at",
    "retrievals",
    "helpful_retrievals",
    "near",
    "graduated",
    "utility",
    "schema_version",
    "x-of-a-host",
];

/// Common and unusual texts.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{1,8}( [a-z]{1,8}){0,6}",
        2 => "\\PC{0,40}",
        2 => any::<String>(),
        1 => prop::sample::select(vec![
            "", " ", "\0", "\u{feff}", "\u{202e}evil", "\r\n\r\n", "\u{2028}", "\"}],\n", "\\u0000", "\u{fffd}", "null", "{}", "1e999",
            "019ac61f-0000-7000-8000-000000000000", "2026-02-30T25:61:61Z", "9999-12-31T23:59:59Z", "src/**", "*", "<<<<<<< HEAD",
        ]).prop_map(str::to_owned),
        1 => "[a-zä ]{2,5}".prop_map(|text| text.repeat(4_000)),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        6 => text().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        1 => any::<f64>().prop_map(|number| json!(number)),
        1 => prop::sample::select(vec![0.0, -0.0, 0.5, 1.0, 5e-324, 1e308]).prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::hash_map(text(), inner, 0..5).prop_map(Value::from_iter),
        ]
    })
}

/// Most drafts have the two required texts.
fn draft() -> impl Strategy<Value = LessonDraft> {
    let odd = (prop::sample::select(KEYS.to_vec()), value()).prop_map(|(key, value)| (key.to_owned(), value));
    let own = (text(), value());
    let fields = prop::collection::vec(prop_oneof![4 => odd, 1 => own], 0..6);
    let build = |((trigger, pattern), fields, origin): ((String, String), Vec<(String, Value)>, u8)| {
        let needed = [("trigger".to_owned(), trigger.into()), ("correct_pattern".to_owned(), pattern.into())];
        let row: Map<String, Value> = needed.into_iter().chain(fields).collect();
        match origin {
            0 => LessonDraft::from_program(row),
            1 => LessonDraft::from_row(row),
            _ => LessonDraft::from_json(row),
        }
    };
    ((text(), text()), fields, 0..4_u8).prop_map(build)
}

/// The number of drafts; the environment can raise it.
fn n_drafts() -> u32 {
    std::env::var("ADAGE_DRAFTS").ok().and_then(|n| n.parse().ok()).unwrap_or(320)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: n_drafts().div_ceil(16), ..ProptestConfig::default() })]
    #[test]
    fn whatever_is_accepted_is_read_as_it_was_by_the_next_process(drafts in prop::collection::vec(draft(), 16)) {
        let bench = Bench::new();
        let playbook = bench.open();
        for draft in drafts {
            let outcome = playbook.learn_lesson(draft.clone());
            prop_assert!(outcome.is_ok(), "{outcome:?}: {draft:?}");
            let outcome = outcome.unwrap();
            let fresh = bench.open();
            let (read, waiting) = (lessons(&fresh), fresh.waiting_lessons().unwrap());
            prop_assert_eq!(&read, &lessons(&playbook), "{:?}: {:?}", outcome, draft);
            prop_assert_eq!(&waiting, &playbook.waiting_lessons().unwrap(), "{:?}: {:?}", outcome, draft);
            let is_there = match outcome {
                LearnOutcome::Review { id, .. } => waiting.iter().any(|waiting| waiting.lesson.id == id),
                LearnOutcome::Refused { .. } => true,
                _ => outcome.id().is_some_and(|id| read.iter().any(|lesson| lesson.id == id)),
            };
            prop_assert!(is_there, "{outcome:?}: {draft:?}");
            let findings = fresh.check().unwrap().findings;
            prop_assert!(findings.is_empty(), "{findings:?}: {draft:?}");
        }
    }
}
