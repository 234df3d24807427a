//! Time of an embedding, for each engine and each kernel of the built-in one, in interleaved rounds.
//!
//! ```text
//! ADAGE_ONNXRUNTIME=/path/to/libonnxruntime.so.1.32.0 ADAGE_DATA=/path/to/corpus.jsonl cargo bench --features rten --bench embed
//! ```
//!
//! Without the first variable, ONNX Runtime is left out. With both, the least cosine between its vectors and those of the built-in
//! engine is printed, over the strings in the first 1,000 lines of the file. Texts are embedded as documents, because vectors of
//! recent queries are cached.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::disallowed_methods,
    reason = "a benchmark"
)]

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use adage::embed::{Engine, Model, Role};
use adage::{Embedder, OnnxEmbedder};
use adage_encoder::{Encoder, Kernel};

/// Rounds, each of which measures every subject once.
const N_ROUNDS: usize = 41;
/// The portable kernel is slow and takes part only in the first rounds.
const N_PORTABLE_ROUNDS: usize = 5;

/// A text of this many tokens: a common English word is one, and the tokenizer adds two.
fn text(n_tokens: usize) -> String {
    vec!["time"; n_tokens - 2].join(" ")
}

type Run = Box<dyn Fn(&[&str])>;

/// An engine or a kernel.
struct Subject {
    name: String,
    n_rounds: usize,
    run: Run,
}

/// The bundled model, packed or as its file.
fn on(engine: Engine) -> OnnxEmbedder {
    let model = match engine {
        Engine::BuiltIn => Model::bundled(),
        _ => Model::from_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/models")).unwrap(),
    };
    OnnxEmbedder::new(model, engine)
}

impl Subject {
    fn engine(name: &str, engine: Engine) -> Self {
        let embedder = on(engine);
        let run = Box::new(move |texts: &[&str]| drop(black_box(embedder.embed(texts, Role::Document).unwrap())));
        Self { name: name.to_owned(), n_rounds: N_ROUNDS, run }
    }

    fn kernel(kernel: Kernel) -> Self {
        let encoder = Encoder::with_kernel(kernel).unwrap();
        let run = Box::new(move |texts: &[&str]| {
            let tokens: Vec<Vec<u32>> = texts.iter().map(|text| adage_encoder::tokenize(text, 256)).collect();
            black_box(encoder.encode(&tokens.iter().map(Vec::as_slice).collect::<Vec<_>>()));
        });
        let n_rounds = if kernel == Kernel::Portable { N_PORTABLE_ROUNDS } else { N_ROUNDS };
        Self { name: format!("built in, {kernel:?}"), n_rounds, run }
    }
}

/// The median and its 95% interval, by ranks of the binomial distribution.
fn median(mut times: Vec<f64>) -> [f64; 3] {
    times.sort_by(f64::total_cmp);
    let middle = times.len() as f64 / 2.0;
    let apart = 0.98 * (times.len() as f64).sqrt();
    let rank = |at: f64| times[(at.max(0.0) as usize).min(times.len() - 1)];
    [rank(middle), rank((middle - apart).floor()), rank((middle + apart).ceil())]
}

fn measure(case: &str, texts: &[String], subjects: &[Subject]) {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut times = vec![Vec::new(); subjects.len()];
    for subject in subjects {
        (subject.run)(&texts);
    }
    for round in 0..N_ROUNDS {
        for (subject, times) in subjects.iter().zip(&mut times).filter(|(subject, _)| round < subject.n_rounds) {
            let start = Instant::now();
            (subject.run)(&texts);
            times.push(start.elapsed().as_secs_f64() * 1_000.0 / texts.len() as f64);
        }
    }
    // The last subject is the reference.
    let medians: Vec<[f64; 3]> = times.into_iter().map(median).collect();
    let reference = medians.last().unwrap()[0];
    for (subject, [median, low, high]) in subjects.iter().zip(medians) {
        let times_faster = reference / median;
        println!("{case:28} {:22} {median:8.2} ms per text [{low:.2}, {high:.2}] {times_faster:6.2}×", subject.name);
    }
}

/// The least cosine between two engines' vectors.
fn compare(texts: &[String], one: &OnnxEmbedder, other: &OnnxEmbedder) -> f64 {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let cosines = texts.chunks(1).map(|texts| {
        let [one, other] = [one, other].map(|engine| engine.embed(texts, Role::Document).unwrap());
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
        let (one, other) = (one.as_slice().unwrap(), other.as_slice().unwrap());
        dot(one, other) / (dot(one, one) * dot(other, other)).sqrt()
    });
    cosines.fold(1.0, f64::min)
}

fn corpus(path: PathBuf) -> Vec<String> {
    let lines = std::fs::read_to_string(path).unwrap();
    let lines = lines.lines().take(1_000).map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let strings = lines.flat_map(|line| line.as_object().unwrap().values().cloned().collect::<Vec<_>>());
    strings.filter_map(|value| value.as_str().map(str::to_owned)).filter(|text| text.len() > 30).collect()
}

fn main() {
    let path = |name| std::env::var_os(name).map(PathBuf::from);
    let mut subjects: Vec<Subject> = Kernel::available().iter().map(|kernel| Subject::kernel(*kernel)).collect();
    subjects.push(Subject::engine("built in", Engine::BuiltIn));
    subjects.push(Subject::engine("rten", Engine::Rten));
    match path("ADAGE_ONNXRUNTIME") {
        Some(library) => subjects.push(Subject::engine("ONNX Runtime", Engine::OnnxRuntime(library))),
        None => println!("NOT MEASURED: ONNX Runtime; set ADAGE_ONNXRUNTIME to libonnxruntime.so.*"),
    }
    for n_tokens in [12, 40, 128] {
        measure(&format!("{n_tokens} tokens"), &[text(n_tokens)], &subjects);
    }
    let texts: Vec<String> = (12..44).map(text).collect();
    measure("32 texts of 12 to 43 tokens", &texts, &subjects);
    match (path("ADAGE_ONNXRUNTIME"), path("ADAGE_DATA")) {
        (Some(library), Some(data)) => {
            let texts = corpus(data);
            let [one, other] = [Engine::BuiltIn, Engine::OnnxRuntime(library)].map(on);
            println!("least cosine to ONNX Runtime over {} texts: {:.7}", texts.len(), compare(&texts, &one, &other));
        }
        _ => println!("NOT COMPARED: set ADAGE_ONNXRUNTIME and ADAGE_DATA to a file of JSON lines"),
    }
}
