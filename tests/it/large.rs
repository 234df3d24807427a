//! Playbooks that outgrow the exact scan.

use std::sync::Arc;

use adage::embed::{EmbedError, Role};
use adage::index::IndexKind;
use adage::{
    Config, Context, Embedder, Error, LearnOutcome, LessonDraft, Playbook, Request, TextHash, Tier, build_lesson,
    config,
};
use ndarray::Array2;

use super::bench::{Bench, shown};

const DIMENSION: usize = 32;

/// A text's vector has a random direction: no two texts are near each other, and each is nearest to itself.
struct Scattered;

impl Embedder for Scattered {
    fn embed(&self, texts: &[&str], _: Role) -> Result<Array2<f32>, EmbedError> {
        let component = |(row, column): (usize, usize)| {
            let hash = TextHash::of(&[texts[row], &column.to_string()]);
            f32::from(hash.as_bytes()[0]) - 127.5
        };
        Ok(Array2::from_shape_fn((texts.len(), DIMENSION), component))
    }

    fn fingerprint(&self) -> TextHash {
        TextHash::of(&["scattered"])
    }

    fn dimension(&self) -> Result<usize, EmbedError> {
        Ok(DIMENSION)
    }
}

fn draft(number: usize) -> LessonDraft {
    build_lesson(format!("case {number}"), format!("answer {number}"))
}

fn open(bench: &Bench, kind: Option<IndexKind>) -> Playbook {
    let mut config = Config::default();
    config.retention.capacity = 1_200;
    config.index.graph_from = 1_024;
    config.index.kind = kind;
    bench.builder().with_embedder(Arc::new(Scattered)).with_config(config).open().unwrap()
}

/// Whatever the distance.
fn ask(playbook: &Playbook, number: usize, project: &str) -> Context {
    let request = Request::about(format!("case {number}")).distance_threshold(2.0).project(project).peek();
    playbook.get_playbook_context(request).unwrap()
}

#[test]
fn a_playbook_that_crosses_the_threshold_says_that_a_graph_answers() {
    let bench = Bench::new();
    let playbook = open(&bench, None);
    playbook.learn_lessons((0..900).map(draft)).unwrap();
    let below = ask(&playbook, 7, "");
    assert_eq!((below.tier, below.index, shown(&below)[0]), (Tier::Vector, Some(IndexKind::Exact), "case 7"));

    bench.advance(1);
    playbook.learn_lessons((900..1_150).map(draft)).unwrap();
    assert_eq!(ask(&playbook, 7, "").index, Some(IndexKind::Graph));
    // Nearly the same answers as by looking at every lesson, also for what came last.
    let exact = open(&bench, Some(IndexKind::Exact));
    let mut n_same = 0;
    for number in (0..1_150).step_by(23) {
        let (by_graph, by_scan) = (ask(&playbook, number, ""), ask(&exact, number, ""));
        assert_eq!((by_graph.index, by_scan.index), (Some(IndexKind::Graph), Some(IndexKind::Exact)));
        assert_eq!(shown(&by_graph)[0], format!("case {number}"));
        n_same += by_graph.lessons.iter().filter(|lesson| by_scan.lessons.contains(lesson)).count();
    }
    assert!(n_same >= 50 * 5 * 99 / 100, "{n_same} of {}", 50 * 5);

    // Duplicates are found by the graph too, and the least useful lesson is evicted at capacity.
    let again = playbook.learn_lesson(build_lesson("case 11", "answer 11")).unwrap();
    assert!(matches!(again, LearnOutcome::Merged { distance: Some(distance), .. } if distance < 1e-3), "{again:?}");
    bench.advance(1);
    let learned = playbook.learn_lessons((1_150..1_250).map(draft)).unwrap();
    let evicted: Vec<_> = learned.iter().flat_map(LearnOutcome::evicted).collect();
    assert_eq!(evicted.len(), 50);
    assert!(evicted.iter().all(|id| playbook.find(**id).is_err()));
    assert_eq!(shown(&ask(&playbook, 1_249, ""))[0], "case 1249");

    // A small realm has an index of its own; together with a large realm, that of the large one is reported.
    playbook.learn_lesson(draft(5_000).project("shop")).unwrap();
    let both = ask(&playbook, 5_000, "shop");
    assert_eq!((both.index, shown(&both)[0]), (Some(IndexKind::Graph), "case 5000"));
    assert!(!shown(&ask(&playbook, 5_000, "")).contains(&"case 5000"));
}

#[test]
fn other_tiers_have_no_index_and_a_small_realm_is_scanned() {
    let bench = Bench::new();
    let playbook = open(&bench, None);
    assert_eq!(ask(&playbook, 1, "").index, Some(IndexKind::Exact));
    playbook.learn_lesson(draft(1).project("shop")).unwrap();
    assert_eq!(ask(&playbook, 1, "shop").index, Some(IndexKind::Exact));
    assert_eq!(playbook.get_playbook_context(Request::cold_start().peek()).unwrap().index, None);
    let words = bench.open().get_playbook_context("case 1").unwrap();
    assert_eq!((words.tier, words.index), (Tier::Lexical, None));
}

#[test]
fn an_impossible_index_configuration_is_refused_at_open() {
    let bench = Bench::new();
    let mut config = Config::default();
    config.index.links = 100;
    match bench.builder().with_config(config).open() {
        Err(Error::Config(config::Error::Invalid { setting, value, expected })) => {
            assert_eq!((setting, value.as_str(), expected), ("index.links", "100", "in 4..=64"));
        }
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("opened"),
    }
}
