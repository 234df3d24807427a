//! What users tell the agent.

use super::*;

fn all(lines: &[&str]) -> Vec<serde_json::Value> {
    let found = suggest(&sketch(lines), &CaptureConfig::default()).candidates.into_iter();
    let mut found: Vec<Candidate> = found.filter(|found| found.heuristic == Heuristic::UserCorrection).collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    found.into_iter().map(|candidate| with_name(&candidate)).collect()
}

fn with_name(candidate: &Candidate) -> serde_json::Value {
    let mut lesson = candidate.draft.to_json();
    lesson["name"] = json!(candidate.name);
    lesson
}

#[test]
fn a_rule_becomes_a_lesson_with_its_words_and_its_files() {
    let said = "no, never edit src/generated/api.rs by hand. Otherwise the next build throws it away.";
    let found =
        all(&["> Add a field to the answer.", "~ src/generated/api.rs", said_by(said).as_str(), "< You're right."]);
    let [lesson] = &found[..] else { panic!("{found:?}") };
    assert_eq!(lesson["name"], "user-correction-api-rs");
    assert_eq!(
        lesson["correct_pattern"],
        "Never edit src/generated/api.rs by hand. Otherwise the next build throws it away."
    );
    assert_eq!(lesson["paths"], json!(["**/src/generated/api.rs"]));
    assert_eq!(lesson["trigger"], "changing src/generated/api.rs; next build");
    assert_eq!(lesson["task"], "Add a field to the answer.");
    assert_eq!(lesson["provenance"]["evidence"][0]["quote"], said);
    assert!((0.3..0.5).contains(&lesson["confidence"].as_f64().unwrap()), "{lesson}");
}

fn said_by(words: &str) -> String {
    format!("> {words}")
}

#[test]
fn a_rule_is_about_what_its_words_name() {
    // What holds always is not about the file that happens to be changed next.
    let said = "> no, always use the backoff of the client library for uploads, never a loop of our own";
    let found = all(&["> go on", "~ src/net.rs", said, "< You're right, good catch.", "~ src/net.rs", "$ cargo test"]);
    assert_eq!(found[0]["trigger"], "work on backoff, client library, uploads and loop", "{found:?}");
    assert!(found[0]["paths"].is_null(), "{found:?}");
    let said = "> no, never commit without asking me first";
    let found = all(&["> go on", "~ src/net.rs", said, "< You're right, sorry.", "$ git status"]);
    assert_eq!(found[0]["commands"], json!(["git commit*"]), "{found:?}");
    let said = "> no, never run npm here, we always use pnpm in this repository";
    let found = all(&["> build it", "$ npm ci", said, "< My mistake, you're right.", "$ pnpm install"]);
    assert_eq!(found[0]["commands"], json!(["npm *", "pnpm *"]), "{found:?}");
}

#[test]
fn what_is_likelier_to_last_comes_first() {
    let lines = [
        "> Write the importer for the nightly feed.",
        "~ src/feed.rs",
        "> no, that's wrong, do it like the other one",
        "< You're right, sorry.",
        "~ src/feed.rs",
        "> the import tool doesn't know a second header, it reads the first one only",
        "< Good catch.",
        "~ src/feed.rs",
        "> no, we only ever write UTC in our feeds",
        "< You're right.",
        "~ src/feed.rs",
        "> thanks, commit it",
    ];
    let found = all(&lines);
    let said: Vec<&str> = found.iter().map(|lesson| lesson["correct_pattern"].as_str().unwrap()).collect();
    assert_eq!(said[0], "We only ever write UTC in our feeds", "{said:?}");
    assert_eq!(found[0]["trigger"], "changing src/feed.rs; UTC, feeds");
    assert_eq!(found[0]["paths"], json!(["**/src/feed.rs"]));
    assert_eq!(found[0]["provenance"]["evidence"][0]["quote"], "no, we only ever write UTC in our feeds");
    assert!(found.iter().all(|lesson| lesson["confidence"].as_f64().unwrap() < 0.5));
}

#[test]
fn what_is_said_again_is_suggested_once() {
    let lines = [
        "> Write the importer.",
        "~ src/feed.rs",
        "> dates in our feeds must be UTC in every file, not local time",
        "< ok",
        "~ src/feed.rs",
        "> again: dates in our feeds must be UTC in every file, not local time please",
        "< ok",
        "~ src/feed.rs",
    ];
    let found = all(&lines);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn work_and_questions_teach_nothing() {
    for said in [
        "> now add the footer",
        "> what does the second branch do?",
        "> I know, run another one",
        "> thanks, looks good",
        "> /review never use npm",
    ] {
        let found = all(&["> build it", "$ npm run build", said, "< Sure.", "$ make"]);
        assert!(found.is_empty(), "{said}: {found:?}");
    }
}
