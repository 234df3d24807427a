//! The number of lessons shown: limit, budget, threshold and exclusions.

use std::sync::Arc;

use adage::retrieve::TierChoice;
use adage::{Config, Context, Error, HashingEmbedder, NoMatchReason, Playbook, Request, build_lesson, config};

use super::super::bench::{Bench, learn, lessons, shown};
use super::{ask, stock, with_vectors};

/// Seven lessons about the same thing.
fn seven(bench: &Bench, playbook: &Playbook) {
    for number in 0..7 {
        bench.advance(1);
        let draft = build_lesson("pouring amber tea", format!("way {number}")).task(format!("guest {number}"));
        learn(playbook, draft);
    }
}

#[test]
fn at_most_the_limit_is_shown_five_unless_said() {
    let bench = Bench::new();
    let mut config = Config::classic();
    config.learn.dedup = adage::config::DedupPolicy::Off;
    let playbook = bench.builder().with_config(config).with_embedder(Arc::new(HashingEmbedder)).open().unwrap();
    seven(&bench, &playbook);
    let about = || Request::about("pouring amber tea");
    for request in [about(), about().tier(TierChoice::Lexical), Request::cold_start()] {
        for (limit, expected) in [(1, 1), (6, 6), (7, 7), (100, 7), (usize::MAX, 7)] {
            assert_eq!(ask(&playbook, request.clone().limit(limit)).lessons.len(), expected, "{request:?}");
        }
        assert_eq!(ask(&playbook, request).lessons.len(), 5);
    }
}

#[test]
fn a_limit_of_zero_shows_none_and_says_why() {
    let bench = Bench::new();
    let playbook = with_vectors(&bench);
    stock(&bench, &playbook);
    let about = || Request::about("parsing CSV exports");
    for request in [about(), about().tier(TierChoice::Lexical), Request::cold_start()] {
        let context = ask(&playbook, request.limit(0));
        assert_eq!((context.text.as_str(), context.lessons.len(), context.receipt), ("", 0, None), "{context:?}");
        assert_eq!(context.none_because, Some(NoMatchReason::LimitZero), "{:?}", context.tier);
    }
}

#[test]
fn lessons_over_the_budget_are_left_out_and_not_counted() {
    let bench = Bench::new();
    let playbook = bench.open();
    learn(&playbook, build_lesson("pouring amber tea", "short"));
    bench.advance(1);
    learn(&playbook, build_lesson("pouring amber tea", "long ".repeat(200)).task("another"));
    let about = || Request::about("pouring amber tea");
    let whole = ask(&playbook, about().peek());
    assert_eq!(whole.lessons.len(), 2);
    for budget in [100, 1_200] {
        let context = ask(&playbook, Request::cold_start().max_tokens(budget));
        assert!(context.text.chars().count().div_ceil(4) <= budget, "{}", context.text);
        assert_eq!(context.lessons.len(), if budget == 100 { 1 } else { 2 });
    }
    assert_eq!(lessons(&playbook).iter().map(|lesson| lesson.retrievals).collect::<Vec<_>>(), [1, 2]);
    for request in [about().peek(), Request::cold_start().peek()] {
        let context = ask(&playbook, request.clone().max_tokens(20));
        assert_eq!((context.text.as_str(), context.receipt), ("", None));
        match context.none_because {
            Some(NoMatchReason::OverBudget { needed, max_tokens: 20 }) => {
                // With exactly this budget it fits.
                let enough = ask(&playbook, request.clone().max_tokens(needed));
                assert_eq!(enough.lessons.len(), 1);
                assert_eq!(ask(&playbook, request.max_tokens(needed - 1)).lessons.len(), 0);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_threshold_that_is_not_a_distance_is_an_error() {
    let bench = Bench::new();
    let playbook = with_vectors(&bench);
    stock(&bench, &playbook);
    for threshold in [f32::NAN, 3.0, -0.1, f32::INFINITY] {
        match playbook.get_playbook_context(Request::about("parsing CSV exports").distance_threshold(threshold)) {
            Err(Error::Config(config::Error::Invalid { setting, .. })) => assert_eq!(setting, "distance_threshold"),
            other => panic!("{other:?}"),
        }
    }
    for (threshold, n_shown) in [(0.0, 0), (1e-4, 1), (2.0, 3)] {
        let context = ask(&playbook, Request::about("parsing CSV exports").distance_threshold(threshold).peek());
        assert_eq!(context.lessons.len(), n_shown, "below {threshold}: {context:?}");
    }
}

#[test]
fn excluded_lessons_are_replaced_by_others() {
    let bench = Bench::new();
    let playbook = bench.open();
    for trigger in ["rotating SSH keys", "parsing CSV exports", "compressing photographs", "deploying the docs"] {
        let draft = build_lesson(trigger, format!("Ask before {trigger}.")).commands([trigger.replace(' ', "-")]);
        playbook.learn_lesson(draft).unwrap();
    }
    let ask = |request: Request| playbook.get_playbook_context(request.limit(2).peek()).unwrap();
    let ids = |context: &Context| context.lessons.iter().map(|lesson| lesson.id).collect::<Vec<_>>();
    let first = ask(Request::cold_start());
    let second = ask(Request::cold_start().except(ids(&first)));
    let all = [ids(&first), ids(&second)].concat();
    assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), 4);
    let nothing = ask(Request::cold_start().except(all.clone()));
    assert_eq!((nothing.text.as_str(), nothing.none_because), ("", Some(NoMatchReason::LeftOut)));
    let keys = Request::about("rotating SSH keys").running("rotating-SSH-keys");
    assert_eq!(shown(&ask(keys.clone())), ["rotating SSH keys"]);
    assert_eq!(ask(keys.except(all)).none_because, Some(NoMatchReason::LeftOut));
}
