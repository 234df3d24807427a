//! The settings: their ranges, and their form as JSON.

use std::time::Duration;

use serde_json::json;

use super::*;

type Spoil = fn(&mut Config);

const FIT: CalibrationFit = CalibrationFit { scale: 0.8, offset: -0.5, n_pairs: 40 };

fn fit(config: &mut Config, embedder: &str, fit: CalibrationFit) {
    config.retrieval.calibration.insert(embedder.to_owned(), fit);
}

#[test]
fn the_defaults_are_valid_and_each_bad_setting_is_named() {
    assert!(Config::default().validate().is_ok());
    let bad: [(&str, Spoil); 29] = [
        ("curation.staleness", |config| config.curation.staleness = Duration::from_hours(23)),
        ("credit.dropout", |config| config.credit.dropout = 0.95),
        ("credit.dropout", |config| config.credit.dropout = f64::NAN),
        ("credit.max_receipts", |config| config.credit.max_receipts = 1),
        ("matching.threshold", |config| config.matching.threshold = 0),
        ("matching.cosine_floor", |config| config.matching.cosine_floor = f32::NAN),
        ("sessions.max_per_run", |config| config.sessions.max_per_run = 0),
        ("capture.max_candidates", |config| config.capture.max_candidates = 0),
        ("learn.duplicate_distance", |config| config.learn.duplicate_distance = f32::NAN),
        ("retrieval.distance_threshold", |config| config.retrieval.distance_threshold = 2.5),
        ("retention.prune_max_fraction", |config| config.retention.prune_max_fraction = -0.1),
        ("retention.capacity", |config| config.retention.capacity = 0),
        ("index.coarse_from", |config| config.index.coarse_from = 0),
        ("index.graph_from", |config| config.index.graph_from = 0),
        ("index.links", |config| config.index.links = 3),
        ("index.links", |config| config.index.links = 65),
        ("index.ef_construction", |config| config.index.ef_construction = 7),
        ("index.build_threads", |config| config.index.build_threads = 0),
        ("index.ef", |config| config.index.ef = 0),
        ("extract.max_session_chars", |config| config.extract.max_session_chars = 7_999),
        ("extract.temperature", |config| config.extract.temperature = f64::NAN),
        ("retrieval.min_share", |config| config.retrieval.min_share = 1.5),
        ("retrieval.answer_from", |config| config.retrieval.answer_from = Some(-0.1)),
        ("retrieval.candidates", |config| config.retrieval.candidates = 0),
        ("retrieval.overlap_weight", |config| config.retrieval.overlap_weight = f32::INFINITY),
        ("retrieval.calibration is minilm", |config| fit(config, "minilm", CalibrationFit { ..FIT })),
        ("retrieval.calibration.scale", |config| fit(config, "words", CalibrationFit { scale: -1.0, ..FIT })),
        ("retrieval.calibration.offset", |config| fit(config, "words", CalibrationFit { offset: f32::NAN, ..FIT })),
        ("retrieval.calibration.n_pairs", |config| fit(config, "words", CalibrationFit { n_pairs: 0, ..FIT })),
    ];
    for (setting, spoil) in bad {
        let mut config = Config::default();
        spoil(&mut config);
        let error = config.validate().unwrap_err().to_string();
        assert!(error.starts_with(setting), "{error}");
    }
}

/// All settings as text.
fn shown(config: &Config) -> String {
    format!("{config:?}")
}

#[test]
fn settings_survive_json() {
    let mut changed = Config::default();
    changed.learn.dedup = DedupPolicy::Plain;
    changed.capture.admit = Admission::Quoted;
    changed.feedback.credit_window = Duration::from_millis(1_500);
    changed.extract.time_limit = Duration::MAX;
    changed.index.kind = Some(adage_index::IndexKind::Exact);
    fit(&mut changed, "words", FIT);
    fit(&mut changed, "7a1a506798ec9de44116b345cab36145", FIT);
    assert!(changed.validate().is_ok());
    for config in [Config::default(), changed] {
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(shown(&Config::from_json(&text).unwrap()), shown(&config), "{text}");
        assert_eq!(shown(&serde_json::from_str(&text).unwrap()), shown(&config), "{text}");
    }
    let value = serde_json::to_value(Config::default()).unwrap();
    assert_eq!(value["sessions"]["min_idle"], 10_800);
    assert_eq!(value["learn"]["dedup"], "guarded");
}

#[test]
fn what_json_leaves_out_keeps_its_default() {
    let mut expected = Config::default();
    expected.retention.capacity = 7;
    expected.index.ef = 64;
    expected.matching.time_limit = Duration::from_millis(500);
    let partial = json!({ "retention": { "capacity": 7 }, "index": { "ef": 64 }, "matching": { "time_limit": 0.5 } });
    assert_eq!(shown(&Config::from_json(&partial.to_string()).unwrap()), shown(&expected));
    assert_eq!(shown(&Config::from_json("{}").unwrap()), shown(&Config::default()));
}

#[test]
fn a_number_out_of_range_is_reported_as_it_was_given() {
    let error = Config::from_toml("retrieval.distance_threshold = 2.4").unwrap().validate().unwrap_err().to_string();
    assert_eq!(error, "retrieval.distance_threshold is 2.4, it must be a cosine distance in [0, 2]");
}

#[test]
fn a_setting_of_an_earlier_version_is_ignored_and_named() {
    let text = "[capture]\nmin_run = 3\nmax_candidates = 4\n[agent]\nmax_turns = 5\n[learn]\nmax_of_session = 2\n";
    let config = Config::from_toml(text).unwrap();
    assert_eq!(config.ignored, ["agent", "capture.min_run", "learn.max_of_session"]);
    assert_eq!(config.capture.max_candidates, 4);
    let folder = config.for_folder("[learn]\nmax_of_session = 3\nquality_gate = true\n").unwrap();
    assert!(folder.learn.quality_gate && folder.ignored.len() == 4);
}

#[test]
fn an_unknown_key_is_named() {
    let settings = [
        ("capacity", json!({ "capacity": 1 })),
        ("retention.size", json!({ "retention": { "capacity": 1, "size": 2 } })),
        ("index.m", json!({ "index": { "m": 16 } })),
    ];
    for (expected, value) in settings {
        match Config::from_json(&value.to_string()) {
            Err(Error::UnknownKey { key, known }) => assert!(key == expected && !known.is_empty(), "{key}"),
            other => panic!("{expected}: {other:?}"),
        }
        let error = serde_json::from_value::<Config>(value).unwrap_err().to_string();
        let key = expected.rsplit('.').next().unwrap();
        assert!(error.starts_with(&format!("unknown field `{key}`")), "{error}");
    }
}

#[test]
fn a_value_of_another_type_is_refused() {
    let bad = [
        (r#"{"learn": {"dedup": "some"}}"#, "learn.dedup is \"some\", it must be one of guarded, classic, plain, off"),
        (r#"{"learn": {"dedup": 3}}"#, "learn.dedup is 3, it must be one of guarded, classic, plain, off"),
        (
            r#"{"retention": {"capacity": "five"}}"#,
            "retention.capacity is \"five\", it must be a whole number, 0 or more",
        ),
        (r#"{"retention": {"capacity": -5}}"#, "retention.capacity is -5, it must be a whole number, 0 or more"),
        (r#"{"retrieval": {"answer_from": true}}"#, "retrieval.answer_from is true, it must be a number"),
        (
            r#"{"feedback": {"credit_window": -1}}"#,
            "feedback.credit_window is -1, it must be a number of seconds, 0 or more",
        ),
        (
            r#"{"feedback": {"credit_window": -0.5}}"#,
            "feedback.credit_window is -0.5, it must be a number of seconds, 0 or more",
        ),
        (r#"{"feedback": {"credit_window": "5 min"}}"#, "it must be a number of seconds, 0 or more"),
        (r#"{"auto_save": {"enabled": 1}}"#, "auto_save.enabled is 1, it must be true or false"),
        (
            r#"{"retention": {"utility": "custom"}}"#,
            "retention.utility is \"custom\", it must be one of aging, standard",
        ),
        (r#"{"retention": 3}"#, "retention is 3, it must be a section with settings"),
        (r#"{"retrieval": {"limit": 3, "calibration": {"words": {"scale": 1}}}}"#, "retrieval.calibration is "),
    ];
    for (text, expected) in bad {
        let Err(error @ Error::WrongType { .. }) = Config::from_json(text) else { panic!("{text} is read") };
        assert!(error.to_string().contains(expected), "{text}: {error}");
    }
    assert!(matches!(Config::from_json("not json"), Err(Error::Json(_))));
    let folder = Config::default().for_folder("retention.capacity = 'five'").unwrap_err().to_string();
    assert_eq!(folder, "retention.capacity is \"five\", it must be a whole number, 0 or more");
}

#[test]
fn a_utility_of_the_hosts_own_cannot_be_written() {
    let mut config = Config::default();
    config.retention.utility = UtilityPolicy::Custom(|_| 0.0);
    assert!(serde_json::to_string(&config).is_err());
}

#[test]
fn a_folder_sets_no_calibration_and_keeps_its_users() {
    let mut user = Config::default();
    fit(&mut user, "words", FIT);
    let own = "[retrieval]\nlimit = 3\ncalibration.words = { scale = 1, offset = 20, n_pairs = 40 }";
    let error = user.for_folder(own).unwrap_err();
    assert!(matches!(&error, Error::NotForFolder { key, .. } if key == "retrieval.calibration"), "{error}");
    let merged = user.for_folder("retrieval.limit = 3").unwrap();
    assert_eq!((merged.retrieval.limit, merged.retrieval.calibration.get("words")), (3, Some(&FIT)));
}
