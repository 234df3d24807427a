//! The embedder on each engine, against vectors of the unquantised model and against the other engine.
//!
//! ONNX Runtime takes part where `ADAGE_ONNXRUNTIME` names its library. A process loads one, so that the refusals of others
//! are tested in processes of their own: this binary again, with one test.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use adage::embed::{EmbedError, Engine, Model, Role};
use adage::{Embedder, OnnxEmbedder};
use ndarray::Array2;
use serde_json::Value;

/// Thirty varied sentences with the vectors of the f32 weights, computed by `minilm_fp32.py` in the same folder.
const FIXTURE: &str = include_str!("../fixtures/minilm_fp32.json");

/// The bundled model, packed or as its file.
fn on(engine: Engine) -> OnnxEmbedder {
    let model = match engine {
        Engine::BuiltIn => Model::bundled(),
        _ => Model::from_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/models")).unwrap(),
    };
    OnnxEmbedder::new(model, engine)
}

fn library() -> Option<PathBuf> {
    let library = std::env::var_os("ADAGE_ONNXRUNTIME").map(PathBuf::from);
    if library.is_none() {
        // Straight to standard error: the test runner keeps the output of tests that pass to itself.
        let text =
            "NOT RUN: the ONNX Runtime engine; set ADAGE_ONNXRUNTIME to libonnxruntime.so.* (adage doctor finds one)\n";
        std::io::stderr().write_all(text.as_bytes()).unwrap();
    }
    library
}

/// Every engine available here.
fn engines() -> Vec<Engine> {
    let other = library().map(Engine::OnnxRuntime);
    #[cfg(feature = "rten")]
    let rten = Some(Engine::Rten);
    #[cfg(not(feature = "rten"))]
    let rten = None;
    [Some(Engine::BuiltIn), rten, other].into_iter().flatten().collect()
}

fn cosine(a: impl Iterator<Item = f64>, b: &[f64]) -> f64 {
    let a: Vec<f64> = a.collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    dot(&a, b) / (dot(&a, &a).sqrt() * dot(b, b).sqrt())
}

fn furthest(a: &Array2<f32>, b: &Array2<f32>) -> f32 {
    (a - b).iter().map(|difference| difference.abs()).fold(0.0, f32::max)
}

#[test]
fn vectors_are_near_those_of_the_unquantised_model_on_every_engine() {
    let fixture: Value = serde_json::from_str(FIXTURE).unwrap();
    let rows = fixture["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 30);
    let texts: Vec<&str> = rows.iter().map(|row| row["text"].as_str().unwrap()).collect();
    let (mut built_in, mut of_a_graph) = (None, None);
    for engine in engines() {
        let vectors = on(engine.clone()).embed(&texts, Role::Document).unwrap();
        assert_eq!(vectors.dim(), (30, 384));
        for (row, vector) in rows.iter().zip(vectors.outer_iter()) {
            let expected: Vec<f64> =
                row["vector"].as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect();
            let cosine = cosine(vector.iter().map(|component| f64::from(*component)), &expected);
            assert!(cosine >= 0.995, "{cosine:.5} on {engine:?} for {}", row["text"]);
        }
        let first = built_in.get_or_insert_with(|| vectors.clone());
        for (one, other) in first.outer_iter().zip(vectors.outer_iter()) {
            let other: Vec<f64> = other.iter().map(|component| f64::from(*component)).collect();
            let cosine = cosine(one.iter().map(|component| f64::from(*component)), &other);
            assert!(cosine >= 0.99999, "{cosine:.7} between the built-in engine and {engine:?}");
        }
        if engine != Engine::BuiltIn {
            let first = of_a_graph.get_or_insert_with(|| vectors.clone());
            let furthest = furthest(first, &vectors);
            assert!(furthest < 1e-5, "a component differs by {furthest} between the engines that run the graph");
        }
    }
}

#[test]
fn a_text_has_the_same_vector_alone_and_in_a_batch() {
    let texts = ["short", "a somewhat longer text about parsing dates in logs", "", "🦀"];
    for engine in engines() {
        let embedder = on(engine.clone());
        let batch = embedder.embed(&texts, Role::Document).unwrap();
        for (text, vector) in texts.iter().zip(batch.outer_iter()) {
            let alone = embedder.embed(&[text], Role::Query).unwrap();
            let furthest = alone.row(0).iter().zip(vector).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            let most = if engine == Engine::BuiltIn { 0.0 } else { 1e-5 };
            assert!(furthest <= most, "{furthest} for {text:?} on {engine:?}");
        }
    }
}

#[test]
fn every_engine_warms_up() {
    for engine in engines() {
        let embedder = on(engine);
        embedder.warm_up().unwrap();
        assert_eq!(embedder.dimension().unwrap(), 384);
    }
}

#[test]
fn special_tokens_in_a_text_are_text() {
    let vectors = on(Engine::BuiltIn).embed(&["[SEP] [CLS] [PAD]", "sep cls pad"], Role::Document).unwrap();
    let [a, b] = [vectors.row(0), vectors.row(1)];
    assert!(a.dot(&b) > 0.5, "{}", a.dot(&b));
}

#[test]
fn a_broken_model_is_an_error_that_names_the_reason() {
    let tokenizer = include_bytes!("../../models/tokenizer.json");
    for engine in engines() {
        for tokenizer in [b"{}".as_slice(), tokenizer] {
            let model = Model::from_bytes(b"no graph".to_vec(), tokenizer.to_vec());
            let error = OnnxEmbedder::new(model, engine.clone()).embed(&["text"], Role::Query).unwrap_err().to_string();
            assert!(error.starts_with("the embedding model could not be loaded: "), "{error}");
        }
    }
    assert!(Model::from_dir("/nowhere/at/all").is_err());
    let other = OnnxEmbedder::new(Model::bundled(), Engine::OnnxRuntime("none.so".into())).warm_up().unwrap_err();
    assert!(other.to_string().contains("Engine::BuiltIn only"), "{other}");
}

/// Runs one test of this file alone in a process, and its body only there.
fn alone(test: &str, body: impl FnOnce()) {
    if std::env::var_os("ADAGE_ALONE").is_some() {
        return body();
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([&format!("parity::{test}"), "--exact", "--nocapture"]).env("ADAGE_ALONE", "1");
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success() && said.contains("1 passed"), "{}: {said}", output.status);
    assert!(!said.contains("panicked"), "{said}");
}

fn load(library: &Path) -> Result<(), EmbedError> {
    on(Engine::OnnxRuntime(library.to_owned())).warm_up()
}

fn refusal(library: &Path) -> String {
    match load(library).unwrap_err() {
        EmbedError::Runtime { path, reason } => {
            assert_eq!(path.file_name(), library.file_name());
            reason
        }
        error => panic!("{}: {error}", library.display()),
    }
}

#[test]
fn a_library_that_is_not_onnx_runtime_is_reported() {
    alone("a_library_that_is_not_onnx_runtime_is_reported", || {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        assert!(refusal(&path("absent.so")).starts_with("No such file"));
        assert_eq!(refusal(folder.path()), "it is not a file");
        for (name, bytes) in [("text.so", "not a library"), ("empty.so", "")] {
            std::fs::write(path(name), bytes).unwrap();
            assert_eq!(refusal(&path(name)), "it is not a shared library of this system");
        }
        let Some(library) = library() else { return };
        let bytes = std::fs::read(&library).unwrap();
        for n_bytes in [4, 64, 4096, 1 << 20, bytes.len() - 1] {
            std::fs::write(path("cut.so"), &bytes[..n_bytes]).unwrap();
            assert!(!refusal(&path("cut.so")).is_empty(), "{n_bytes}");
        }
        // Other libraries of the Python package: the Python extension, which needs Python, and the shared code of providers.
        let neighbours = std::fs::read_dir(library.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
        let is_other = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let is_library = path.extension().is_some_and(|extension| extension == "so");
            is_library && (name.contains("pybind") || name.contains("providers_shared"))
        };
        let reasons: Vec<String> = neighbours.filter(is_other).map(|neighbour| refusal(&neighbour)).collect();
        assert_eq!(reasons.len(), if library.parent().unwrap().ends_with("onnxruntime/capi") { 2 } else { 0 });
        for reason in reasons {
            assert!(reason.contains("OrtGetApiBase") || reason.contains("undefined symbol"), "{reason}");
        }
        // None of them prevents loading the right one, and a process loads only one.
        load(&library).unwrap();
        load(&library.parent().unwrap().join(".").join(library.file_name().unwrap())).unwrap();
        std::fs::copy(&library, path("other.so")).unwrap();
        match load(&path("other.so")) {
            Err(EmbedError::RuntimeTaken { loaded: Some(loaded), asked }) => {
                assert_eq!(
                    (loaded, asked),
                    (library.canonicalize().unwrap(), path("other.so").canonicalize().unwrap())
                );
            }
            other => panic!("{other:?}"),
        }
        assert!(refusal(&path("absent.so")).starts_with("No such file"));
        load(&library).unwrap();
    });
}

#[test]
fn a_host_that_has_loaded_onnx_runtime_gets_an_error() {
    alone("a_host_that_has_loaded_onnx_runtime_gets_an_error", || {
        let Some(library) = library() else { return };
        let environment = ort::init_from(&library).unwrap().build().unwrap();
        match load(&library) {
            Err(EmbedError::RuntimeTaken { loaded: None, asked }) => assert_eq!(asked, library.canonicalize().unwrap()),
            other => panic!("{other:?}"),
        }
        drop(environment);
    });
}

#[test]
fn several_threads_get_the_same_vectors_as_one() {
    for engine in engines() {
        let embedder = on(engine);
        let texts: Vec<String> = (0..8).map(|number| format!("text number {number}")).collect();
        let embed = |text: &String| embedder.embed(&[text], Role::Document).unwrap();
        let expected: Vec<Array2<f32>> = texts.iter().map(embed).collect();
        let found: Vec<Array2<f32>> = std::thread::scope(|scope| {
            let threads: Vec<_> = texts.iter().map(|text| scope.spawn(|| embed(text))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(found, expected);
    }
}
