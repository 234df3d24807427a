//! The results of calls as JSON.

use adage::config::AutoSaveConfig;
use adage::embed::HashingEmbedder;
use adage::skills::{self, Skill};
use adage::vector_memory::{Document, Lookup};
use adage::{Config, Request, VectorMemory, build_lesson};
use adage_review::Inbox;
use adage_sessions::Sessions;
use serde::Serialize;
use serde_json::{Value, json};

use super::bench::Bench;

fn value(result: impl Serialize) -> Value {
    serde_json::to_value(result).unwrap()
}

#[test]
fn a_playbooks_results_are_json() {
    let bench = Bench::new();
    let playbook = bench.builder().without_embedder().open().unwrap();
    let learned = playbook.learn_lesson(build_lesson("parsing CSV exports", "Use the csv module.")).unwrap();
    let id = value(learned.id().unwrap());
    assert_eq!(value(&learned), json!({ "inserted": { "id": id, "near": [], "evicted": [], "change": null } }));

    let context = value(playbook.get_playbook_context(Request::about("parsing CSV exports")).unwrap());
    assert_eq!((&context["tier"], &context["lessons"][0]["id"]), (&json!("lexical"), &id), "{context}");
    assert!(context["receipt"].is_string() && context["none_because"].is_null(), "{context}");

    let removed = playbook.remove("parsing CSV exports").unwrap();
    assert_eq!(value(removed)["id"], id);
    assert_eq!(value(playbook.undo(removed.change).unwrap())["restored"], json!([id]));
    let check = value(Inbox::of(&playbook).check_written().unwrap());
    assert_eq!(check, json!({ "aside": [], "n_folded": 0, "n_left": 0 }));
}

#[test]
fn skills_and_sessions_are_json() {
    let bench = Bench::new();
    let playbook = bench.builder().without_embedder().open().unwrap();
    let mut skill = adage::skills::Skill::new("docker-build".parse().unwrap(), "Builds images.");
    skill.body = "1. Use the cache.".to_owned();
    let saved = value(playbook.skills().save(&skill).unwrap());
    assert_eq!(saved["written"]["name"], "docker-build", "{saved}");
    let listing = value(playbook.skills().list().unwrap());
    assert_eq!(listing["skills"][0]["skill"]["name"], "docker-build", "{listing}");

    let scan = value(Sessions::of(&playbook).scan(bench.folder()).unwrap());
    assert_eq!(scan, json!({ "entries": [], "left_out": [] }));
}

#[test]
fn json_keeps_its_names_and_pairs() {
    let bench = Bench::new();
    let playbook = bench.open();
    playbook.learn_lesson(build_lesson("parsing CSV exports", "Use the csv module.")).unwrap();
    let context = value(playbook.get_playbook_context(Request::about("parsing CSV exports").explain()).unwrap());
    assert_eq!(context["considered"][0]["evidence"]["is_title"], true, "{context}");
    let config = value(Config::default());
    assert_eq!(config["retrieval"]["rule"], "evidence", "{config}");

    let session = r#"{"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hi"}]}"#;
    std::fs::create_dir_all(bench.path("sessions")).unwrap();
    bench.write("sessions/one.json", session);
    let scan = value(Sessions::of(&playbook).scan(&bench.path("sessions")).unwrap());
    assert_eq!(scan["entries"][0]["standing"], json!({ "new": { "n_attempts": 0 } }), "{scan}");
    assert_eq!(scan["entries"][0]["hurdle"]["few_turns"]["n_user_turns"], 1, "{scan}");

    std::fs::create_dir_all(bench.path("skills/bad")).unwrap();
    bench.write("skills/bad/SKILL.md", "---\nname: x\n");
    let refused = value(playbook.skills().list().unwrap())["refused"][0].clone();
    assert_eq!(refused[0], json!(bench.path("skills/bad/SKILL.md").canonicalize().unwrap()), "{refused}");
    assert_eq!(refused[1], json!({ "refused": "unclosed" }), "{refused}");

    let long = Skill { body: "word ".repeat(100), ..Skill::new("long".parse().unwrap(), "Long.") };
    assert_eq!(value(skills::render_skills([&long], 50))["left_out"], json!([["long", 117]]));
    let off = AutoSaveConfig { enabled: false, ..AutoSaveConfig::default() };
    assert_eq!(value(skills::auto_save([long], &[], &off))["declined"], json!([["long", "off"]]));
}

#[test]
fn a_waiting_time_is_in_seconds() {
    let idle = std::time::Duration::from_millis(1_500);
    let active = adage_sessions::Ineligible::Active { idle, min: std::time::Duration::from_hours(3) };
    assert_eq!(value(active), json!({ "active": { "idle": 1.5, "min": 10_800 } }));
}

#[test]
fn the_hits_of_a_vector_memory_are_json() {
    let folder = tempfile::tempdir().unwrap();
    let memory = VectorMemory::builder(folder.path()).with_embedder(std::sync::Arc::new(HashingEmbedder)).open();
    let memory = memory.unwrap();
    memory.add(Document::new("n1", "read-only on Sundays").with("type", "note")).unwrap();
    let found = value(memory.query(&Lookup::text("read-only on Sundays")).unwrap());
    assert_eq!(found["hits"][0]["document"]["id"], "n1", "{found}");
    assert_eq!(found["by"], "exact");
}
