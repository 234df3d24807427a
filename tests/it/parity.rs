//! The embedder against vectors of the unquantised model.

use adage::{Embedder, Engine, Model, OnnxEmbedder, Role};
use serde_json::Value;

/// Thirty varied sentences with the vectors that the f32 weights give; `minilm_fp32.py` beside it made them.
const FIXTURE: &str = include_str!("../fixtures/minilm_fp32.json");

fn embedder() -> OnnxEmbedder {
    OnnxEmbedder::new(Model::bundled(), Engine::Portable)
}

fn cosine(a: impl Iterator<Item = f64>, b: &[f64]) -> f64 {
    let a: Vec<f64> = a.collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    dot(&a, b) / (dot(&a, &a).sqrt() * dot(b, b).sqrt())
}

#[test]
fn vectors_are_those_of_the_unquantised_model() {
    let fixture: Value = serde_json::from_str(FIXTURE).unwrap();
    let rows = fixture["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 30);
    let texts: Vec<&str> = rows.iter().map(|row| row["text"].as_str().unwrap()).collect();
    let vectors = embedder().embed(&texts, Role::Document).unwrap();
    assert_eq!(vectors.dim(), (30, 384));
    for (row, vector) in rows.iter().zip(vectors.outer_iter()) {
        let expected: Vec<f64> =
            row["vector"].as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect();
        let cosine = cosine(vector.iter().map(|component| f64::from(*component)), &expected);
        assert!(cosine >= 0.995, "{cosine:.5} for {}", row["text"]);
    }
}

#[test]
fn a_text_has_the_same_vector_alone_and_in_a_batch() {
    let texts = ["short", "a somewhat longer text about parsing dates in logs", "", "🦀"];
    let embedder = embedder();
    let batch = embedder.embed(&texts, Role::Document).unwrap();
    for (text, vector) in texts.iter().zip(batch.outer_iter()) {
        let alone = embedder.embed(&[text], Role::Query).unwrap();
        let furthest = alone.row(0).iter().zip(vector).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(furthest < 1e-5, "{furthest} for {text:?}");
    }
}

#[test]
fn special_tokens_in_a_text_are_text() {
    let embedder = embedder();
    let vectors = embedder.embed(&["[SEP] [CLS] [PAD]", "sep cls pad"], Role::Document).unwrap();
    let [a, b] = [vectors.row(0), vectors.row(1)];
    assert!(a.dot(&b) > 0.5, "{}", a.dot(&b));
}

#[test]
fn a_broken_model_is_an_error_that_names_the_reason() {
    let broken = OnnxEmbedder::new(Model::from_bytes(b"no graph".to_vec(), b"{}".to_vec()), Engine::Portable);
    let error = broken.embed(&["text"], Role::Query).unwrap_err().to_string();
    assert!(error.starts_with("the embedding model could not be loaded: "), "{error}");
    assert!(Model::from_dir("/nowhere/at/all").is_err());
}
