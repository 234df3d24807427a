//! Rows that the earlier system quarantined: they are kept and never shown.

use std::sync::Arc;

use adage::exchange::read_lessons;
use adage::{
    Feedback, HashingEmbedder, LessonDraft, Listing, Playbook, Realm, Request, Verification, build_lesson, exchange,
};
use serde_json::{Value, json};

use crate::bench::{Bench, PLAYBOOK};
use crate::red::table::{Table, when};

const MARKER: &str = "zqquarantine";

fn row(flag: &Value) -> Value {
    json!({
        "trigger": "mounting network shares", "correct_pattern": format!("mount with {MARKER}"),
        "anti_pattern": format!("never without {MARKER}"), "timestamp": "2026-02-01T08:00:00Z", "confidence": 0.9,
        "quarantined": flag, "quarantine_reason": "misleading", "quarantined_at": "2026-02-02T08:00:00Z",
    })
}

fn other() -> Value {
    json!({"trigger": "waxing skis", "correct_pattern": "brush along the base", "timestamp": "2026-02-01T08:00:00Z"})
}

fn old_list(flag: &Value) -> Bench {
    Bench::with_playbook_file(json!([row(flag), other()]).to_string())
}

fn rows(playbook: &Playbook) -> Vec<Arc<adage::Lesson>> {
    playbook.list_lessons(&Listing::everything()).unwrap()
}

/// Where its text is shown.
fn shown(playbook: &Playbook) -> Vec<String> {
    let mut found = Vec::new();
    for (name, request) in [
        ("a query", Request::about("mounting network shares")),
        ("another query", Request::about("network shares that do not mount").limit(50)),
        ("a cold start", Request::cold_start().limit(50)),
        ("a query by words", Request::about("mounting network shares").tier(adage::retrieve::TierChoice::Lexical)),
    ] {
        let context = playbook.get_playbook_context(request.peek()).unwrap();
        let is_shown =
            context.text.contains(MARKER) || context.lessons.iter().any(|lesson| lesson.trigger.contains("mounting"));
        found.extend(when(is_shown, format!("{name} shows it")));
    }
    let failures = playbook.get_recent_failures(&Realm::default(), 50).unwrap();
    found.extend(when(failures.contains(MARKER), "the failures show it"));
    for format in [exchange::Format::Memory, exchange::Format::Agents, exchange::Format::Ace] {
        let text = playbook.export_text(format, &Listing::everything()).unwrap();
        found.extend(when(text.contains(MARKER), format!("the {format} file shows it")));
    }
    found
}

/// What was lost: the row itself, or its mark, anywhere in the file.
fn lost(bench: &Bench) -> Option<String> {
    let text = String::from_utf8(bench.read(PLAYBOOK)).unwrap();
    let is_kept = text.contains(MARKER) && text.contains("quarantined") && text.contains("misleading");
    when(!is_kept, "the row or its mark is gone")
}

fn commit(playbook: &Playbook) {
    playbook.learn_lesson(build_lesson("boiling eggs", "seven minutes")).unwrap();
}

fn id_of(bench: &Bench) -> Option<adage::LessonId> {
    bench.open().find("mounting network shares").ok().map(|lesson| lesson.id)
}

fn relearn(playbook: &Playbook, source: &str, verified: bool) {
    let longer = format!("mount with {MARKER}, and then once more with {MARKER}");
    for pattern in [format!("mount with {MARKER}"), longer] {
        let draft =
            build_lesson("mounting network shares", pattern).mistake(format!("never without {MARKER}")).source(source);
        playbook.learn_lesson(if verified { draft.verified() } else { draft }).unwrap();
    }
}

type Way = fn(&Bench, &Playbook);

/// What happens to the folder after it was opened.
fn ways() -> Vec<(&'static str, Way)> {
    vec![
        ("opened", |_, _| ()),
        ("committed", |_, playbook| commit(playbook)),
        ("learned again by a program", |_, playbook| relearn(playbook, "agent", false)),
        ("learned again by self-play, verified", |_, playbook| relearn(playbook, "self_play", true)),
        ("learned again by a program, undone", |_, playbook| {
            relearn(playbook, "agent", true);
            for change in playbook.changes().unwrap().iter().rev() {
                drop(playbook.undo(change.id));
            }
        }),
        ("removed and back", |bench, playbook| {
            if let Some(id) = id_of(bench) {
                let removed = playbook.remove(id).unwrap();
                playbook.undo(removed.change).unwrap();
            }
        }),
        ("evicted and back", |bench, _| {
            let mut config = adage::Config::default();
            config.retention.capacity = 1;
            let small = bench.builder().with_config(config).open().unwrap();
            let learned = small.learn_lesson(build_lesson("boiling eggs", "seven minutes")).unwrap();
            learned.change().into_iter().for_each(|change| drop(small.undo(change).unwrap()));
        }),
        ("verified and credited", |bench, playbook| {
            if let Some(id) = id_of(bench) {
                drop(playbook.mark_verified(id, Verification::Passed));
                drop(playbook.record_helpful_retrieval(id));
                let receipt = playbook.record_retrieval(id);
                drop(receipt.map(|receipt| playbook.record_outcome(receipt, Feedback::Helpful)));
            }
            commit(playbook);
        }),
        ("imported into itself", |_, playbook| {
            let text = playbook.export_text(exchange::Format::JsonLines, &Listing::everything()).unwrap();
            playbook.import(read_lessons(exchange::Format::JsonLines, &text).into_iter().flatten()).unwrap();
            playbook.import([LessonDraft::from_row(row(&json!(false)).as_object().unwrap().clone())]).unwrap();
        }),
        ("pruned", |_, playbook| drop(playbook.prune_low_utility().unwrap())),
        ("restored from the backup", |bench, playbook| {
            commit(playbook);
            playbook.learn_lesson(build_lesson("tying knots", "twice")).unwrap();
            bench.write(PLAYBOOK, "{");
        }),
    ]
}

#[test]
fn a_quarantined_row_is_kept_and_never_shown() {
    let mut table = Table::default();
    for flag in [json!(true), json!("true"), json!(1)] {
        for (way, go) in ways() {
            let bench = old_list(&flag);
            go(&bench, &bench.open());
            let mut effects = shown(&bench.open());
            effects.extend(
                shown(&bench.builder().with_embedder(Arc::new(HashingEmbedder)).open().unwrap())
                    .into_iter()
                    .map(|shown| shown + " by vectors"),
            );
            effects.extend(lost(&bench));
            table.note(format!("quarantined is {flag}, {way}"), &effects);
        }
    }
    table.finish();
}

#[test]
fn an_imported_row_stays_quarantined() {
    let mut table = Table::default();
    for claims in [
        json!({}),
        json!({"verified": true}),
        json!({"provenance": {"origin": "hand", "trust": "trusted"}}),
        json!({"source": "user"}),
    ] {
        let bench = Bench::new();
        let playbook = bench.open();
        let mut row = row(&json!(true));
        row.as_object_mut().unwrap().extend(claims.as_object().unwrap().clone());
        for text in
            [row.to_string(), json!([row]).to_string(), json!({"schema_version": 2, "lessons": [row]}).to_string()]
        {
            playbook.import(read_lessons(exchange::Format::JsonLines, &text).into_iter().flatten()).unwrap();
        }
        let mut effects = shown(&playbook);
        effects.extend(lost(&bench));
        table.note(format!("imported with {claims}"), &effects);
    }
    table.finish();
}

#[test]
fn a_row_that_is_not_in_quarantine_is_shown() {
    for flag in [json!(false), json!(null), json!(0)] {
        let bench = old_list(&flag);
        let playbook = bench.open();
        let context = playbook.get_playbook_context(Request::about("mounting network shares").peek()).unwrap();
        assert!(context.text.contains(MARKER), "{flag}");
        let context = playbook.get_playbook_context(Request::cold_start().peek()).unwrap();
        assert!(context.text.contains("brush along the base"), "{flag}");
        assert_eq!(rows(&playbook).len(), 2);
    }
}
