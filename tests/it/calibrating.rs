//! The fit of the gate to labelled queries.

use std::sync::Arc;

use adage::calibrate::{self, CalibrationReport, LabelledPair};
use adage::embed::{Engine, Model};
use adage::{Config, Embedder, Error, OnnxEmbedder, Playbook, Realm, Request, build_lesson};

use crate::bench::{Bench, learn, three};

fn open(bench: &Bench, config: Config) -> Playbook {
    let embedder: Arc<dyn Embedder> = Arc::new(OnnxEmbedder::new(Model::bundled(), Engine::BuiltIn));
    bench.builder().with_config(config).with_embedder(embedder).open().unwrap()
}

/// This many queries of either kind.
fn pairs(n: usize) -> Vec<LabelledPair> {
    let places = ["the shop", "the bank", "a school", "the library", "a clinic", "the harbour", "a farm"];
    let some = (0..n).map(|number| {
        let place = places[number % places.len()];
        LabelledPair::answered_by(
            format!("rows of the CSV of {place} are wrong, table {number}"),
            "Parsing CSV exports",
        )
    });
    let none = (0..n).map(|number| {
        LabelledPair::unanswered(format!(
            "what does a ticket to {} cost on day {number}",
            places[number % places.len()]
        ))
    });
    some.chain(none).collect()
}

/// The probability that a query is answered.
fn any(playbook: &Playbook, query: &str) -> f64 {
    let context = playbook.get_playbook_context(Request::about(query).peek().explain()).unwrap();
    context.considered.iter().filter_map(|scored| scored.probability).map(f64::from).sum()
}

fn log_odds(probability: f64) -> f64 {
    (probability / (1.0 - probability)).ln()
}

#[test]
fn a_fit_predicts_unseen_queries_and_is_used_under_its_key() {
    let bench = Bench::new();
    let playbook = open(&bench, Config::default());
    for draft in three() {
        learn(&playbook, draft);
    }
    let report = playbook.calibrate(&pairs(25), &Realm::default()).unwrap();
    let CalibrationReport { before, after, fit, n_wanting, n_wanting_none, .. } = &report;
    assert_eq!((*n_wanting, *n_wanting_none, fit.n_pairs), (25, 25, 50));
    assert!(report.is_better() && after.log_loss < before.log_loss && after.right >= before.right, "{report:?}");
    assert!(after.answered == after.right + after.wrong && after.right + after.missed <= 25, "{report:?}");
    assert_eq!(report, playbook.calibrate(&pairs(25), &Realm::default()).unwrap());
    assert_eq!(playbook.find("parsing CSV exports").unwrap().retrievals, 0);

    let mut config = Config::default();
    config.retrieval.calibration.insert(report.embedder.clone(), *fit);
    let query = "a CSV of the shop has wrong rows";
    let (shipped, fitted) = (any(&playbook, query), any(&open(&bench, config.clone()), query));
    let expected = f64::from(fit.scale) * log_odds(shipped) + f64::from(fit.offset);
    assert!((log_odds(fitted) - expected).abs() < 1e-2, "{fitted}: {} is not {expected}", log_odds(fitted));
    // The fit is relative to the shipped numbers, whatever is configured.
    assert_eq!(open(&bench, config).calibrate(&pairs(25), &Realm::default()).unwrap(), report);
}

#[test]
fn a_missing_or_invisible_lesson_is_refused_with_its_line() {
    let bench = Bench::new();
    let playbook = bench.builder().without_embedder().open().unwrap();
    learn(&playbook, build_lesson("parsing CSV exports", "Use the csv module."));
    learn(&playbook, build_lesson("deploying", "Tag first.").project("bank"));
    let refused = |lesson: &str, project: &str| {
        let given = [pairs(20), vec![LabelledPair::answered_by("release it", lesson)]].concat();
        match playbook.calibrate(&given, &Realm::new(project, "")) {
            Err(Error::Calibrate(calibrate::Error::NoLesson { line: 41, query, lesson, .. })) => {
                Some(format!("{query}: {lesson}"))
            }
            Ok(_) => None,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refused("tagging", "bank").as_deref(), Some("release it: trigger \"tagging\""));
    assert_eq!(refused("deploying", "").as_deref(), Some("release it: trigger \"deploying\""));
    assert_eq!(refused("deploying", "bank"), None);
}

#[test]
fn thirty_nine_queries_are_too_few() {
    let bench = Bench::new();
    let playbook = bench.builder().without_embedder().open().unwrap();
    learn(&playbook, build_lesson("parsing CSV exports", "Use the csv module."));
    let mut few = pairs(20);
    few.truncate(39);
    let error = playbook.calibrate(&few, &Realm::default()).unwrap_err();
    assert!(error.to_string().contains("1 are missing, 0 that a lesson answers and 0 that none does"), "{error}");
}
