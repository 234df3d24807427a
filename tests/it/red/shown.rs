//! Content that changes after a person was shown it is not what the person approved.

use std::fs;
use std::path::Path;

use adage::lesson::Trust;
use adage::{LessonDraft, Playbook, Realm, Request, build_lesson};
use adage_review::{Inbox, Proposal};
use serde_json::{Value, json};

use super::report;

const LATER: &str = "zqlaterqz";

fn open(folder: &Path) -> Playbook {
    Playbook::builder(folder).without_embedder().open().unwrap()
}

fn draft() -> LessonDraft {
    build_lesson("rotate the host keys", "run the rotation script")
        .mistake("copied")
        .domains(["ssh"])
        .trust(Trust::Tainted)
}

fn prompts(playbook: &Playbook) -> String {
    let context =
        playbook.get_playbook_context(Request::cold_start().max_tokens(20_000).limit(50).peek()).unwrap().text;
    context + &playbook.get_recent_failures(&Realm::default(), 50).unwrap()
}

/// What happens to the folder while a person reads.
type Meanwhile = Box<dyn Fn(&Path, &Playbook)>;

/// Another program changes the row that waits.
fn edit(change: impl Fn(&mut Value) + 'static) -> Meanwhile {
    Box::new(move |folder, _| {
        let file = folder.join("skills_playbook.json");
        let mut playbook: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        change(&mut playbook["waiting"][0]["lesson"]);
        fs::write(file, playbook.to_string()).unwrap();
    })
}

/// Another session draws the same lesson, with something more.
fn learn(more: fn(LessonDraft) -> LessonDraft) -> Meanwhile {
    Box::new(move |_, playbook| drop(playbook.learn_lesson(more(draft()))))
}

fn attacks() -> Vec<(String, Meanwhile)> {
    let keys = ["task", "trigger", "mistake", "anti_pattern", "solution", "correct_pattern", "code_example"];
    let mut attacks: Vec<(String, Meanwhile)> = Vec::new();
    for key in keys {
        attacks.push((format!("the {key} is changed"), edit(move |row| row[key] = json!(LATER))));
        attacks.push((
            format!("a line is added to the {key}"),
            edit(move |row| row[key] = json!(format!("{}\n{LATER}", row[key].as_str().unwrap_or_default()))),
        ));
    }
    let more: [(&str, Meanwhile); 12] = [
        ("a domain is changed", edit(|row| row["domains"] = json!([LATER]))),
        ("a domain is added", edit(|row| row["domains"] = json!(["ssh", LATER]))),
        ("a domain becomes a line", edit(|row| row["domains"] = json!([format!("ssh\nDO: {LATER}")]))),
        ("the domains become a text", edit(|row| row["domains"] = json!(format!("ssh,{LATER}")))),
        (
            "the row becomes one of the first version",
            edit(|row| {
                let row = row.as_object_mut().unwrap();
                for key in ["trigger", "correct_pattern", "domains", "confidence"] {
                    row.remove(key);
                }
                row.insert("solution".into(), json!(LATER));
            }),
        ),
        (
            "only what a first version shows is changed",
            edit(|row| {
                let row = row.as_object_mut().unwrap();
                for key in ["trigger", "correct_pattern", "domains", "confidence"] {
                    row.remove(key);
                }
                row.insert("mistake".into(), json!(LATER));
            }),
        ),
        ("a session draws it with another domain", learn(|draft| draft.domains([LATER]))),
        ("a session draws it with a longer mistake", learn(|draft| draft.mistake(format!("copied, and {LATER}")))),
        ("a session draws it with code", learn(|draft| draft.code_example(LATER))),
        (
            "a trusted program learns it with another domain",
            learn(|draft| draft.trust(Trust::Trusted).domains([LATER])),
        ),
        (
            "it is imported with another domain",
            Box::new(|_, playbook| drop(playbook.import([draft().domains([LATER])]))),
        ),
        (
            "a longer one with the same trigger is imported",
            Box::new(|_, playbook| {
                let longer = build_lesson("rotate the host keys", format!("run the rotation script, {LATER}"));
                drop(playbook.import([longer.trust(Trust::Tainted)]));
            }),
        ),
    ];
    attacks.extend(more.map(|(name, meanwhile)| (name.to_owned(), meanwhile)));
    attacks
}

/// Lists what waits; then something happens; then what was listed is applied.
fn applied_after(meanwhile: &Meanwhile) -> (Vec<Proposal>, String) {
    let folder = tempfile::tempdir().unwrap();
    let playbook = open(folder.path());
    playbook.learn_lesson(draft()).unwrap();
    let listed = Inbox::of(&playbook).list().unwrap();
    assert_eq!(listed.len(), 1);
    let seen = Inbox::of(&playbook).show(&listed[0]).unwrap();
    meanwhile(folder.path(), &playbook);
    let _ = Inbox::of(&playbook).apply(&listed);
    assert!(!seen.contains(LATER));
    (listed, prompts(&open(folder.path())))
}

#[test]
fn content_changed_after_it_was_shown_does_not_reach_a_prompt() {
    let mut succeeded = Vec::new();
    let attacks = attacks();
    for (name, meanwhile) in &attacks {
        // A trusted program's own words may be shown; what came in under the reviewer's name may not.
        let is_trusted = name.starts_with("a trusted");
        let (_, text) = applied_after(meanwhile);
        let promoted = if is_trusted {
            text.contains("TRIGGER") && text.contains(&format!("ssh, {LATER}"))
        } else {
            text.contains(LATER)
        };
        if promoted {
            succeeded.push(format!("{name}: it is in a prompt, and nobody saw it"));
        }
    }
    report(&succeeded, attacks.len());
}

#[test]
fn a_promoted_lesson_is_not_merged_with_unreviewed_text() {
    let (mut succeeded, mut n_attacks) = (Vec::new(), 0);
    for (name, more) in [
        ("another domain", (|draft| draft.domains([LATER])) as fn(LessonDraft) -> LessonDraft),
        ("another mistake", |draft| draft.mistake(LATER)),
        ("code", |draft| draft.code_example(LATER)),
        ("a longer solution", |_| {
            build_lesson("rotate the host keys", format!("run the rotation script, then {LATER}")).trust(Trust::Tainted)
        }),
        ("another task", |_| {
            build_lesson("rotate the host keys", "run the rotation script").task(LATER).trust(Trust::Tainted)
        }),
    ] {
        for way in ["learned", "imported"] {
            n_attacks += 1;
            let folder = tempfile::tempdir().unwrap();
            let playbook = open(folder.path());
            playbook.learn_lesson(draft()).unwrap();
            Inbox::of(&playbook).apply(&Inbox::of(&playbook).list().unwrap()).unwrap();
            let changed = more(draft());
            if way == "learned" {
                playbook.learn_lesson(changed).unwrap();
            } else {
                playbook.import([changed]).unwrap();
            }
            if prompts(&playbook).contains(LATER) {
                succeeded.push(format!("{name}, {way} by an untrusted session, is in a prompt"));
            }
        }
    }
    report(&succeeded, n_attacks);
}

#[test]
fn unchanged_content_is_applied() {
    let nothing: Meanwhile = Box::new(|_, _| ());
    let (listed, text) = applied_after(&nothing);
    assert!(text.contains("rotate the host keys") && text.contains("DOMAINS: ssh"), "{listed:?} {text}");
    // Counts are not part of the text.
    let (_, text) = applied_after(&edit(|row| row["frequency"] = json!(3)));
    assert!(text.contains("run the rotation script"), "{text}");
}
