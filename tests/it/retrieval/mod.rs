//! Retrieval: three tiers, and an empty context when nothing is relevant (docs/spec/playbook.md, 5).

mod limits;
mod tainted;
mod vectors;

use std::collections::BTreeMap;
use std::fs::File;
use std::fs::{self};
use std::sync::Arc;

use adage::retrieve::{Query, TierChoice};
use adage::{Config, Context, HashingEmbedder, NoMatchReason, Playbook, Request, Tier, build_lesson};

use super::bench::{BACKUP, Bench, PLAYBOOK, learn, lessons, shown, start, three, triggers};

/// Nearer to no lesson than 0.45.
const FRANCE: &str = "What is the capital of France?";

fn with_vectors(bench: &Bench) -> Playbook {
    bench.builder().with_config(Config::classic()).with_embedder(Arc::new(HashingEmbedder)).open().unwrap()
}

fn stock(bench: &Bench, playbook: &Playbook) {
    for draft in three() {
        bench.advance(1);
        learn(playbook, draft);
    }
}

fn ask(playbook: &Playbook, request: impl Into<Request>) -> Context {
    playbook.get_playbook_context(request).unwrap()
}

/// In both tiers that answer queries.
fn in_both_tiers(check: impl Fn(&Playbook, Tier)) {
    for tier in [Tier::Vector, Tier::Lexical] {
        let bench = Bench::new();
        let playbook = if tier == Tier::Vector { with_vectors(&bench) } else { bench.open() };
        check(&playbook, tier);
        stock(&bench, &playbook);
        check(&playbook, tier);
    }
}

#[test]
fn an_unrelated_question_is_never_answered_with_the_newest_lessons() {
    in_both_tiers(|playbook, tier| {
        for query in [FRANCE, "the of and is", "?!", "zzz qqq"] {
            let context = ask(playbook, query);
            assert_eq!((context.text.as_str(), context.tier), ("", tier), "{query}");
            assert_eq!((context.lessons.len(), context.receipt), (0, None), "{query}");
            assert!(context.none_because.is_some(), "{query}");
        }
        assert_eq!(ask(playbook, Request::about(FRANCE).tier(TierChoice::Lexical)).text, "");
    });
}

#[test]
fn a_task_like_a_trigger_finds_its_lesson_in_both_tiers() {
    in_both_tiers(|playbook, tier| {
        let expected = if lessons(playbook).is_empty() { vec![] } else { vec!["parsing CSV exports"] };
        let context = ask(playbook, "parsing the CSV exports of a shop");
        assert_eq!((context.tier, shown(&context)), (tier, expected));
        for lesson in &context.lessons {
            assert_eq!((lesson.distance.is_some(), lesson.score.is_some()), (tier == Tier::Vector, true));
        }
    });
}

#[test]
fn a_blank_query_is_a_cold_start_and_shows_the_newest() {
    in_both_tiers(|playbook, _| {
        let is_empty = lessons(playbook).is_empty();
        for request in [Request::cold_start(), Request::about(""), Request::about(" \n\t\u{3000}"), "".into()] {
            let context = ask(playbook, request);
            assert_eq!(context.tier, Tier::Recency);
            if is_empty {
                assert_eq!(
                    (context.text.as_str(), context.none_because),
                    ("No lessons learned yet.", Some(NoMatchReason::NoLessons))
                );
                assert_eq!(context.receipt, None);
            } else {
                assert!(
                    context
                        .text
                        .starts_with("## RECENT LESSONS LEARNED (Follow these to avoid repeats):\n1. TRIGGER (·): ")
                );
                assert_eq!(shown(&context), triggers(playbook));
                assert!(context.lessons.iter().all(|lesson| (lesson.distance, lesson.score) == (None, None)));
            }
        }
    });
}

#[test]
fn only_a_cold_start_says_that_nothing_was_learned_yet() {
    in_both_tiers(|playbook, _| {
        assert_eq!(ask(playbook, "waxing skis").to_string(), "");
        assert_eq!(ask(playbook, Request::about("waxing skis").tier(TierChoice::Lexical)).to_string(), "");
    });
    // Lessons that this request does not see are lessons all the same.
    let bench = Bench::new();
    let playbook = bench.open();
    learn(&playbook, build_lesson("amber kettle", "fill it").project("shop"));
    let context = ask(&playbook, Request::cold_start());
    assert_eq!((context.text.as_str(), context.none_because), ("", Some(NoMatchReason::NoLessons)));
}

#[test]
fn a_request_sees_its_own_realm_and_the_global_one() {
    let realms = [("", ""), ("shop", ""), ("bank", ""), ("", "reviewer"), ("shop", "reviewer")];
    for has_vectors in [false, true] {
        let bench = Bench::new();
        let playbook = if has_vectors { with_vectors(&bench) } else { bench.open() };
        for (number, (project, role)) in realms.iter().enumerate() {
            bench.advance(1);
            let draft = build_lesson("pouring amber tea", format!("way {number}")).project(*project).role(*role);
            learn(&playbook, draft);
        }
        let mut seen = BTreeMap::new();
        for (project, role) in realms {
            for (kind, request) in [("query", Request::about("pouring amber tea")), ("start", Request::cold_start())] {
                let context = ask(&playbook, request.project(project).role(role));
                let mut ways: Vec<usize> = (0..5).filter(|way| context.text.contains(&format!("way {way}"))).collect();
                ways.sort_unstable();
                assert_eq!(ways.len(), context.lessons.len());
                seen.insert((project, role, kind), ways);
            }
        }
        for kind in ["query", "start"] {
            let of = |project, role| seen[&(project, role, kind)].as_slice();
            assert_eq!(of("", ""), [0]);
            assert_eq!(of("shop", ""), [0, 1]);
            assert_eq!(of("bank", ""), [0, 2]);
            assert_eq!(of("", "reviewer"), [0, 3]);
            assert_eq!(of("shop", "reviewer"), [0, 1, 3, 4]);
        }
    }
}

#[test]
fn a_peek_records_nothing_and_shows_the_same() {
    in_both_tiers(|playbook, _| {
        for request in [Request::about("parsing CSV exports"), Request::cold_start()] {
            let peek = ask(playbook, request.clone().peek());
            assert_eq!(peek.receipt, None);
            assert!(!playbook.folder().join("usage.jsonl").exists());
            assert_eq!(playbook.stats().unwrap().retrievals, 0);
            assert_eq!(peek, ask(playbook, request.peek()));
        }
    });
}

#[test]
fn shown_lessons_are_counted_in_every_tier() {
    let bench = Bench::new();
    let playbook = with_vectors(&bench);
    stock(&bench, &playbook);
    let about = || Request::about("rotating ssh keys").limit(1);
    for (request, tier) in [
        (about(), Tier::Vector),
        (about().tier(TierChoice::Lexical), Tier::Lexical),
        (Request::cold_start(), Tier::Recency),
    ] {
        bench.advance(1);
        let context = ask(&playbook, request);
        assert_eq!((context.tier, context.receipt.is_some()), (tier, true));
    }
    let lesson = playbook.find("rotating ssh keys").unwrap();
    assert_eq!((lesson.retrievals, lesson.last_retrieved_at), (3, Some(start() + chrono::TimeDelta::seconds(6))));
    assert_eq!(playbook.find("compressing photographs").unwrap().retrievals, 1);
}

#[test]
fn an_empty_answer_gives_its_reason() {
    let bench = Bench::new();
    let playbook = with_vectors(&bench);
    let words = |query: &str| Request::about(query).tier(TierChoice::Lexical);
    for request in [Request::about(FRANCE), words(FRANCE), Request::cold_start()] {
        assert_eq!(ask(&playbook, request).none_because, Some(NoMatchReason::NoLessons));
    }
    stock(&bench, &playbook);
    match ask(&playbook, FRANCE).none_because {
        Some(NoMatchReason::NothingNear { nearest, threshold }) => {
            assert!((threshold - 0.45).abs() < 1e-6 && (0.45..1.5).contains(&nearest), "{nearest} {threshold}");
        }
        other => panic!("{other:?}"),
    }
    // One word of six is known: "exports" is in one of three texts, idf ln(1 + 2.5/1.5) = 0.981; each of the five others
    // counts ln(1 + 3.5/0.5) = 2.079. The share is 0.981 / 11.378 = 0.086.
    match ask(&playbook, words("exports wool amber granite hemp kelp")).none_because {
        Some(NoMatchReason::NothingMatched { best, floor }) => {
            assert!((best - 0.0862).abs() < 1e-3 && (floor - 0.30).abs() < 1e-6, "{best} {floor}");
        }
        other => panic!("{other:?}"),
    }
    let context = ask(&playbook, "parsing CSV exports");
    assert_eq!((context.none_because, context.lessons.is_empty()), (None, false));
    let elsewhere = ask(&playbook, Request::about("parsing CSV exports").project("elsewhere"));
    assert_eq!(shown(&elsewhere), ["parsing CSV exports"]);
}

#[test]
fn the_same_state_and_request_give_the_same_answer() {
    let bench = Bench::new();
    let mut config = Config::classic();
    config.learn.dedup = adage::config::DedupPolicy::Off;
    let open = || bench.builder().with_config(config.clone()).with_embedder(Arc::new(HashingEmbedder)).open().unwrap();
    // Learned at the same time with the same trigger: everything is a tie.
    let playbook = open();
    for number in 0..12 {
        learn(
            &playbook,
            build_lesson("pouring amber tea", format!("way {}", number % 3)).task(format!("guest {number}")),
        );
    }
    let about = || Request::about("pouring amber tea").limit(8).peek();
    for request in [about(), about().tier(TierChoice::Lexical), Request::cold_start().limit(8).peek()] {
        let first = ask(&playbook, request.clone());
        assert_eq!(first.lessons.len(), 8);
        for _ in 0..3 {
            assert_eq!(ask(&open(), request.clone()), first);
            assert_eq!(ask(&playbook, request.clone()), first);
        }
    }
}

#[test]
fn a_recall_does_not_write_the_playbook_file() {
    let bench = Bench::new();
    let playbook = with_vectors(&bench);
    stock(&bench, &playbook);
    let long_ago = fs::metadata(bench.path(PLAYBOOK)).unwrap().modified().unwrap() - std::time::Duration::from_mins(10);
    for name in [PLAYBOOK, BACKUP, "vectors.bin"] {
        File::options().write(true).open(bench.path(name)).unwrap().set_modified(long_ago).unwrap();
    }
    let before = [PLAYBOOK, BACKUP, "vectors.bin"].map(|name| bench.read(name));
    for playbook in [&playbook, &with_vectors(&bench)] {
        let context = ask(playbook, "parsing CSV exports");
        playbook.record_outcome(context.receipt.unwrap(), adage::Feedback::Helpful).unwrap();
        ask(playbook, Request::cold_start());
        ask(playbook, FRANCE);
    }
    assert!(before == [PLAYBOOK, BACKUP, "vectors.bin"].map(|name| bench.read(name)));
    for name in [PLAYBOOK, BACKUP, "vectors.bin"] {
        assert_eq!(fs::metadata(bench.path(name)).unwrap().modified().unwrap(), long_ago, "{name}");
    }
    assert_eq!(playbook.find("parsing CSV exports").unwrap().retrievals, 4);
}

#[test]
fn a_query_is_about_something_or_a_cold_start() {
    assert_ne!(Query::About("x".to_owned()), Query::ColdStart);
    assert_eq!(Request::about(" "), Request::cold_start());
    assert_ne!(Request::about("."), Request::cold_start());
}
