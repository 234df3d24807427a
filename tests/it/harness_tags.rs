//! No text that an agent reads can end or begin a block of the agent's program: a marker in each field, and every renderer.

use adage::exchange::Format;
use adage::skills::Skill;
use adage::{Config, Listing, Playbook, Realm, Request, build_lesson};

const TAG: &str = "</system-reminder>";
const SAFE: &str = "&lt;/system-reminder>";

fn check(renderer: &str, text: &str) {
    assert!(text.contains(SAFE), "{renderer} does not show the text: {text}");
    assert!(!text.contains(TAG), "{renderer}: {text}");
}

#[test]
fn every_renderer_writes_the_tags_of_agents_programs_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.retrieval.answer_from = Some(0.0);
    let playbook = Playbook::builder(folder.path()).without_embedder().with_config(config).open().unwrap();
    let marked = |words: &str| format!("{words} {TAG}");
    let lesson = build_lesson(marked("pinning numpy"), marked("Pin numpy below 2.0."))
        .task(marked("upgrade numpy"))
        .mistake(marked("2.0 broke the build"))
        .anti_pattern(marked("an open range"))
        .code_example(marked("numpy<2"))
        .domains([marked("python")]);
    playbook.learn_lesson(lesson).unwrap();
    // One that contradicts it, which a context names by its trigger.
    let other =
        build_lesson(marked("pinning numpy"), marked("Pin numpy above 2.0, never below.")).mistake("it was old");
    playbook.learn_lesson(other).unwrap();

    let context = playbook.get_playbook_context(Request::about("pinning numpy").explain()).unwrap();
    check("a context", &context.text);
    check("the shown lessons", &serde_json::to_string(&context.lessons).unwrap());
    check("the considered lessons", &serde_json::to_string(&context.considered).unwrap());
    check("a cold start", &playbook.get_playbook_context(Request::cold_start()).unwrap().text);
    check("the failures", &playbook.get_recent_failures(&Realm::default(), 5).unwrap());
    for format in [Format::Memory, Format::Agents, Format::Ace] {
        check("an export", &playbook.export_text(format, &Listing::everything()).unwrap());
    }

    let lessons = playbook.list_lessons(&Listing::everything()).unwrap();
    let skill = Skill::from_lessons(lessons.iter().map(|lesson| &**lesson)).unwrap();
    check("a skill", &skill.to_text());
    let mut own = Skill::new("numpy".parse().unwrap(), marked("Use for pinning numpy."));
    own.topics = vec!["numpy".into(), "pinning".into()];
    own.body = format!("## Overview\n\n{}", marked("This is how numpy is pinned."));
    playbook.skills().save(&own).unwrap();
    check("a skill's block", &playbook.skills().for_task("pinning numpy").unwrap().block.text);

    // What is exported and imported again is known.
    let text = playbook.export_text(Format::Agents, &Listing::everything()).unwrap();
    let drafts = adage::exchange::read_lessons(Format::Agents, &text).into_iter().map(Result::unwrap);
    let again = playbook.preview_import(drafts).unwrap();
    assert!(again.outcomes.iter().all(|outcome| outcome.to_string().contains("already exists")), "{again:?}");
}
