//! Lessons of programs against lessons by hand: none by hand is evicted, overwritten or restored.

mod quarantined;

use adage_sessions::Sessions;
use std::collections::BTreeMap;
use std::sync::Arc;

use adage::config::DedupPolicy;
use adage::lesson::TextHash;
use adage::model::CancelToken;
use adage::transcript::{Transcript, Turn};
use adage::{Config, Lesson, LessonDraft, LessonId, Playbook, Verification, build_lesson};
use serde_json::{Value, json};

use super::table::{Table, when};
use crate::bench::{Bench, learn, lessons};

const CAPACITY: usize = 50;

/// Sources that are not a person's: only an empty one and `user` are.
const WORDS: &[&str] = &[
    "agent",
    "Agent",
    "AGENT",
    "USER",
    "User",
    "uSER",
    "user ",
    " user",
    "user\n",
    "\tuser",
    "users",
    "user2",
    "user:me",
    "the user",
    "user,agent",
    "[user]",
    "\"user\"",
    "human",
    "Human",
    "hand",
    "Hand",
    "by hand",
    "person",
    "me",
    "root",
    "owner",
    "operator",
    "admin",
    "verified",
    "trusted",
    "u\u{17f}er",
    "us\u{200b}er",
    "\u{feff}user",
    "user\u{ad}",
    "u\u{2060}ser",
    "user\u{0}",
    "\u{202e}resu",
    "\u{ff55}\u{ff53}\u{ff45}\u{ff52}",
    "us\u{435}r",
    "u\u{1b}[0mser",
    "use\u{301}r",
    "mined",
    "Mined",
    "mined ",
    "self_play",
    "Self_Play",
    "self-play",
    "imported",
    "claude",
    "codex",
    "unknown",
    "none",
    "null",
    "?",
    " ",
    "\u{200b}",
];

fn words() -> Vec<Value> {
    let mut words: Vec<Value> = WORDS.iter().map(|word| json!(word)).collect();
    words.extend([
        json!(null),
        json!(0),
        json!(1),
        json!(true),
        json!(false),
        json!(["user"]),
        json!({"user": true}),
        json!([]),
    ]);
    words
}

fn config(dedup: DedupPolicy) -> Config {
    let mut config = Config::default();
    config.retention.capacity = CAPACITY;
    config.learn.dedup = dedup;
    config
}

fn open(bench: &Bench) -> Playbook {
    bench.builder().with_config(config(DedupPolicy::Guarded)).open().unwrap()
}

/// Fifty lessons by hand with the least utility, which fill the capacity.
fn full(bench: &Bench) -> Playbook {
    let playbook = open(bench);
    let draft = |n: usize| {
        let draft = build_lesson(format!("subject{n} matter{n}"), format!("do{n} it{n}")).confidence(0.0);
        if n.is_multiple_of(2) { draft.source("user") } else { draft }
    };
    playbook.learn_lessons((0..CAPACITY).map(draft)).unwrap();
    assert_eq!(lessons(&playbook).len(), CAPACITY);
    playbook
}

/// What a person wrote of a lesson.
#[derive(PartialEq)]
struct Written {
    texts: [String; 7],
    is_verified: bool,
    origin: Value,
}

fn wording_of(lesson: &Lesson) -> Written {
    let texts = [
        &lesson.task,
        &lesson.trigger,
        &lesson.mistake,
        &lesson.anti_pattern,
        &lesson.solution,
        &lesson.correct_pattern,
        &lesson.source,
    ];
    Written { texts: texts.map(Clone::clone), is_verified: lesson.verified, origin: json!(lesson.provenance.origin) }
}

fn by_hand(playbook: &Playbook) -> BTreeMap<LessonId, Written> {
    lessons(playbook).iter().map(|lesson| (lesson.id, wording_of(lesson))).collect()
}

/// The state of the lessons by hand.
fn effects(before: &BTreeMap<LessonId, Written>, playbook: &Playbook) -> Vec<String> {
    let now = by_hand(playbook);
    let n_lost = before.keys().filter(|id| !now.contains_key(id)).count();
    let n_changed = before.iter().filter(|(id, text)| now.get(id).is_some_and(|now| now != *text)).count();
    let lost = when(n_lost > 0, format!("{n_lost} of {} lessons by hand are gone", before.len()));
    lost.into_iter().chain(when(n_changed > 0, format!("{n_changed} lessons by hand were changed"))).collect()
}

fn draft(row: &Value) -> LessonDraft {
    LessonDraft::from_json(row.as_object().unwrap().clone())
}

fn with(mut row: Value, more: &Value) -> Value {
    row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    row
}

/// A lesson with more utility than any by hand.
fn useful(n: usize) -> Value {
    json!({"trigger": format!("topic{n} theme{n}"), "solution": format!("run{n} that{n}"), "confidence": 1})
}

fn hash_of(row: &Value) -> TextHash {
    let bench = Bench::new();
    let id = learn(&bench.open(), draft(row));
    bench.open().find(id).unwrap().text_hash()
}

/// Sixty lessons with these claims are learned, at once and one by one, and as rows of another playbook.
fn flood(claims: impl Fn(usize) -> Value) -> Vec<String> {
    let bench = Bench::new();
    let playbook = full(&bench);
    let before = by_hand(&playbook);
    let rows: Vec<Value> = (0..60).map(|n| with(useful(n), &claims(n))).collect();
    playbook.learn_lessons(rows.iter().take(50).map(draft)).unwrap();
    for row in rows.iter().skip(50) {
        playbook.learn_lesson(draft(row)).unwrap();
    }
    let earned = json!({"retrievals": 99, "helpful_retrievals": 99, "frequency": 99});
    let moved = rows.iter().map(|row| LessonDraft::from_row(with(row.clone(), &earned).as_object().unwrap().clone()));
    playbook.import(moved).unwrap();
    effects(&before, &playbook)
}

#[test]
fn no_source_evicts_a_persons_lesson() {
    let mut table = Table::default();
    for word in words() {
        table.note(format!("source {word}"), &flood(|_| json!({ "source": word })));
        table.note(format!("source {word}, verified"), &flood(|_| json!({"source": word, "verified": true})));
    }
    table.finish();
}

#[test]
fn no_claim_evicts_a_persons_lesson() {
    let hashes: Vec<TextHash> = (0..60).map(|n| hash_of(&useful(n))).collect();
    let mut table = Table::default();
    for word in ["agent", "USER", "mined", "self_play", "human"] {
        let claims = |n: usize| json!({"source": word, "verified": true, "provenance": {"promoted": hashes[n]}});
        table.note(format!("{word}, promoted by itself"), &flood(claims));
        let claims = |_| json!({"source": word, "provenance": {"origin": "hand", "trust": "trusted"}});
        table.note(format!("{word}, says hand"), &flood(claims));
    }
    for origin in [
        json!("agent"),
        json!("Hand"),
        json!("hand "),
        json!("human"),
        json!("user"),
        json!(""),
        json!("auto"),
        json!("MINED"),
        json!(5),
        json!(["hand"]),
    ] {
        table.note(format!("origin {origin}"), &flood(|_| json!({"provenance": {"origin": origin}})));
    }
    table.finish();
}

/// A program learns what a person wrote, at more length, with a check that passed.
#[test]
fn no_source_overwrites_a_persons_lesson() {
    let mut table = Table::default();
    for word in words() {
        for dedup in [DedupPolicy::Guarded, DedupPolicy::Plain] {
            for verified in [false, true] {
                let bench = Bench::new();
                let playbook = bench.builder().with_config(config(dedup)).open().unwrap();
                learn(&playbook, build_lesson("parsing CSV exports", "Use the csv module."));
                let before = by_hand(&playbook);
                let longer = "Use the csv module. It is in the standard library, and it knows about quoted commas.";
                let row = json!({"trigger": "parsing CSV exports", "solution": longer, "mistake": "guessed", "verified": verified});
                playbook.learn_lesson(draft(&with(row, &json!({ "source": word })))).unwrap();
                let kind = if verified { "verified" } else { "unverified" };
                table.note(format!("source {word}, {kind}, {dedup:?}"), &effects(&before, &playbook));
            }
        }
    }
    table.finish();
}

#[test]
fn no_source_restores_a_lesson_that_a_person_removed() {
    let mut table = Table::default();
    for word in words() {
        let bench = Bench::new();
        let playbook = bench.open();
        let id = learn(&playbook, build_lesson("parsing CSV exports", "Use the csv module."));
        playbook.remove(id).unwrap();
        let row = json!({"trigger": "parsing CSV exports", "solution": "Use the csv module.", "source": word});
        let claims = [
            json!({}),
            json!({"verified": true}),
            json!({"provenance": {"trust": "tainted"}}),
            json!({"frequency": 9, "project": "shop"}),
        ];
        for claims in claims {
            playbook.learn_lesson(draft(&with(row.clone(), &claims))).unwrap();
        }
        playbook.import([LessonDraft::from_row(row.as_object().unwrap().clone())]).unwrap();
        let n_waiting = playbook.waiting_lessons().unwrap().len();
        let effects =
            [when(!lessons(&playbook).is_empty(), "it is back"), when(n_waiting > 0, "it is back, for review")];
        table.note(format!("source {word}"), &effects.into_iter().flatten().collect::<Vec<_>>());
    }
    table.finish();
}

/// The lessons by hand are shown often and never help, so that every policy ranks them last.
fn unhelpful(bench: &Bench) -> Playbook {
    drop(full(bench));
    let mut file = bench.json();
    for row in file["lessons"].as_array_mut().unwrap() {
        row["retrievals"] = json!(99);
        row["harmful_retrievals"] = json!(9);
    }
    bench.write(crate::bench::PLAYBOOK, file.to_string());
    open(bench)
}

/// What a program does to an open playbook.
type Call = fn(&Playbook);

/// Calls that maintain or extend a playbook.
fn calls() -> Vec<(&'static str, Call)> {
    fn admit_all(playbook: &Playbook) {
        for waiting in playbook.waiting_lessons().unwrap() {
            drop(playbook.promote(waiting.lesson.id, waiting.lesson.text_hash()));
        }
    }
    vec![
        ("prune", |playbook| drop(playbook.prune_low_utility().unwrap())),
        ("prune again and again", |playbook| (0..20).for_each(|_| drop(playbook.prune_low_utility().unwrap()))),
        ("curate", |playbook| drop(playbook.skills().curate().unwrap())),
        ("review of a mined lesson", |playbook| {
            playbook.learn_lesson(draft(&with(useful(0), &json!({"source": "mined"})))).unwrap();
            admit_all(playbook);
        }),
        ("review of a tainted lesson", |playbook| {
            playbook
                .learn_lesson(draft(&with(useful(0), &json!({"source": "agent", "provenance": {"trust": "tainted"}}))))
                .unwrap();
            admit_all(playbook);
        }),
        ("review of an import", |playbook| {
            let row = with(useful(0), &json!({"provenance": {"origin": "imported", "trust": "tainted"}}));
            playbook.import([LessonDraft::from_row(row.as_object().unwrap().clone())]).unwrap();
            admit_all(playbook);
        }),
        ("a session", |playbook| {
            let said = "Remember this: always run the linter before you push to the main branch.";
            let turns = vec![Turn::User(said.into()), Turn::Assistant("Done.".into())];
            let transcript = Transcript { session: "s".into(), turns, ..Transcript::default() };
            Sessions::of(playbook).learn_from(&transcript, None, &CancelToken::default()).unwrap();
        }),
        ("a lesson that is checked later", |playbook| {
            let id = playbook.learn_lesson(draft(&with(useful(0), &json!({"source": "agent"})))).unwrap().id();
            let check = |id| playbook.mark_verified(id, Verification::Passed);
            drop(id.map(check));
            playbook.learn_lesson(draft(&with(useful(1), &json!({"source": "agent", "verified": true})))).unwrap();
        }),
        ("lessons in a row, each undone", |playbook| {
            for n in 0..5 {
                let learned = playbook.learn_lesson(draft(&with(useful(n), &json!({"source": "agent"})))).unwrap();
                learned.change().into_iter().for_each(|change| drop(playbook.undo(change).unwrap()));
            }
        }),
        ("a lesson that supersedes", |playbook| {
            let old = lessons(playbook)[0].id;
            let provenance = json!({"origin": "mined", "supersedes": old, "session": "s",
                "evidence": [{"quote": "we always use pnpm", "turn": 0, "range": [0, 18]}]});
            playbook
                .learn_lesson(draft(&with(useful(0), &json!({"provenance": provenance, "verified": true}))))
                .unwrap();
        }),
        ("a lesson that is near one by hand", |playbook| {
            playbook
                .learn_lesson(draft(&with(useful(0), &json!({"source": "agent", "near": [lessons(playbook)[0].id]}))))
                .unwrap();
            playbook.flush().unwrap();
        }),
        ("a smaller room", |playbook| {
            let mut config = config(DedupPolicy::Off);
            config.retention.capacity = 10;
            let small = Playbook::builder(playbook.folder()).without_embedder().with_config(config).open().unwrap();
            small
                .learn_lessons((0..20).map(|n| draft(&with(useful(n), &json!({"source": "agent", "verified": true})))))
                .unwrap();
        }),
    ]
}

#[test]
fn no_call_evicts_a_persons_lesson() {
    let mut table = Table::default();
    for (attack, call) in calls() {
        for (kind, make) in [("worth nothing", full as fn(&Bench) -> Playbook), ("unhelpful", unhelpful)] {
            let bench = Bench::new();
            let playbook = make(&bench);
            let before = by_hand(&playbook);
            call(&playbook);
            table.note(format!("{attack}, lessons {kind}"), &effects(&before, &open(&bench)));
        }
    }
    table.finish();
}

#[test]
fn a_person_evicts_programs_lessons_and_restores_removed_ones() {
    for source in ["", "user"] {
        let bench = Bench::new();
        let playbook = open(&bench);
        playbook
            .learn_lessons((0..CAPACITY).map(|n| draft(&with(useful(n), &json!({"source": "self_play"})))))
            .unwrap();
        let learned = playbook.learn_lesson(build_lesson("waxing skis", "brush").source(source)).unwrap();
        assert_eq!((learned.evicted().len(), lessons(&playbook).len()), (1, CAPACITY), "{source:?}");
        playbook.learn_lessons((50..60).map(|n| draft(&with(useful(n), &json!({"source": "self_play"}))))).unwrap();
        let now = lessons(&playbook);
        assert_eq!(now.len(), CAPACITY, "programs evict programs");
        let has = |trigger: &str| now.iter().any(|lesson: &Arc<Lesson>| lesson.trigger == trigger);
        assert!(has("waxing skis") && has("topic59 theme59"));

        let id = playbook.find("waxing skis").unwrap().id;
        playbook.remove(id).unwrap();
        playbook.learn_lesson(build_lesson("waxing skis", "brush").source(source)).unwrap();
        assert!(playbook.find("waxing skis").is_ok(), "{source:?}");
        let longer = LessonDraft::default().correct_pattern("brush along the whole base").source(source);
        playbook.edit("waxing skis", longer).unwrap();
        assert_eq!(playbook.find("waxing skis").unwrap().correct_pattern, "brush along the whole base");
    }
}

#[test]
fn a_prune_archives_unhelpful_lessons_of_programs() {
    let bench = Bench::new();
    let playbook = open(&bench);
    playbook.learn_lessons((0..20).map(|n| draft(&with(useful(n), &json!({"source": "self_play"}))))).unwrap();
    drop(playbook);
    let mut file = bench.json();
    for row in file["lessons"].as_array_mut().unwrap() {
        row["retrievals"] = json!(99);
        row["harmful_retrievals"] = json!(9);
    }
    bench.write(crate::bench::PLAYBOOK, file.to_string());
    assert_eq!(open(&bench).prune_low_utility().unwrap().lessons.len(), 5);
}
