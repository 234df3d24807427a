//! What an embedding costs, on each engine in the same run.
//!
//! `ADAGE_ONNXRUNTIME=/path/to/libonnxruntime.so.1.31.1 cargo bench --bench embed`; without the variable ONNX
//! Runtime takes no part. Texts are embedded as documents: of queries the last ones are kept, and nothing would be measured.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr, clippy::disallowed_methods, reason = "a benchmark")]

use std::hint::black_box;
use std::path::PathBuf;

use adage::embed::{Engine, Model, Role};
use adage::{Embedder, OnnxEmbedder};
use criterion::{Criterion, criterion_group, criterion_main};

/// A common English word is one token; the model adds two.
fn text(n_tokens: usize) -> String {
    vec!["time"; n_tokens - 2].join(" ")
}

fn embed(criterion: &mut Criterion) {
    let mut engines = vec![("built in", Engine::BuiltIn), ("rten", Engine::Rten)];
    match std::env::var_os("ADAGE_ONNXRUNTIME").map(PathBuf::from) {
        Some(library) => engines.push(("ONNX Runtime", Engine::OnnxRuntime(library))),
        None => eprintln!("NOT MEASURED: ONNX Runtime; set ADAGE_ONNXRUNTIME to libonnxruntime.so.*"),
    }
    let engines: Vec<(&str, OnnxEmbedder)> =
        engines.into_iter().map(|(name, engine)| (name, OnnxEmbedder::new(Model::bundled(), engine))).collect();
    let mut group = criterion.benchmark_group("embed, one thread");
    group.sample_size(20);
    for n_tokens in [12, 40, 128] {
        let text = text(n_tokens);
        for (name, embedder) in &engines {
            group.bench_function(format!("1 text of {n_tokens} tokens, {name}"), |bencher| {
                bencher.iter(|| black_box(embedder.embed(&[&text], Role::Document).unwrap()));
            });
        }
    }
    let texts: Vec<String> = (0..32).map(|number| text(12 + number)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for (name, embedder) in &engines {
        group.bench_function(format!("32 texts of 12 to 43 tokens, {name}"), |bencher| {
            bencher.iter(|| black_box(embedder.embed(&texts, Role::Document).unwrap()));
        });
        group.bench_function(format!("a query that was asked before, {name}"), |bencher| {
            bencher.iter(|| black_box(embedder.embed(&["pin a numpy version"], Role::Query).unwrap()));
        });
    }
    group.finish();
}

criterion_group!(benches, embed);
criterion_main!(benches);
