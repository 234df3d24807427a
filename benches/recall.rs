//! Time of a recall and of a learn, excluding the embedding, in playbooks of 50, 1,000 and 10,000 lessons.
//!
//! `cargo bench --bench recall`

#![allow(missing_docs, clippy::unwrap_used, clippy::disallowed_methods, reason = "a benchmark")]

use std::hint::black_box;
use std::sync::Arc;

use adage::config::DedupPolicy;
use adage::embed::Role;
use adage::retrieve::TierChoice;
use adage::{Config, Embedder, HashingEmbedder, Playbook, Request, build_lesson};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};

const SIZES: [usize; 3] = [50, 1_000, 10_000];

fn words(number: usize) -> String {
    const TOPICS: [&str; 10] =
        ["dates", "locks", "csv", "ports", "caches", "threads", "paths", "tokens", "migrations", "retries"];
    let topic = |shift: usize| TOPICS.get((number / shift) % TOPICS.len()).copied().unwrap_or_default();
    format!("handle {} with {} under {} case {number}", topic(1), topic(10), topic(100))
}

/// A playbook of this many lessons. Vectors come from hashing, which excludes the time of the model.
fn playbook(folder: &std::path::Path, n_lessons: usize) -> Playbook {
    let mut config = Config::default();
    config.retention.capacity = n_lessons + 1_000_000;
    config.learn.dedup = DedupPolicy::Off;
    let embedder = Arc::new(HashingEmbedder);
    let playbook = Playbook::builder(folder).with_embedder(embedder).with_config(config).open().unwrap();
    playbook.learn_lessons((0..n_lessons).map(|number| build_lesson(words(number), "do it right"))).unwrap();
    playbook
}

fn recall(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("recall without embedding");
    for n_lessons in SIZES {
        let folder = tempfile::tempdir().unwrap();
        let playbook = playbook(folder.path(), n_lessons);
        let vector: Vec<f32> = HashingEmbedder.embed(&[&words(7)], Role::Query).unwrap().into_iter().collect();
        let about = || Request::about(words(7)).with_vector(vector.clone());
        group.bench_function(format!("vector, {n_lessons} lessons, counted"), |bencher| {
            bencher.iter(|| black_box(playbook.get_playbook_context(about()).unwrap()));
        });
        group.bench_function(format!("vector, {n_lessons} lessons, peek"), |bencher| {
            bencher.iter(|| black_box(playbook.get_playbook_context(about().peek()).unwrap()));
        });
        group.bench_function(format!("lexical, {n_lessons} lessons, peek"), |bencher| {
            let request = Request::about(words(7)).tier(TierChoice::Lexical).peek();
            bencher.iter(|| black_box(playbook.get_playbook_context(request.clone()).unwrap()));
        });
    }
    group.finish();
}

fn learn(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("learn without embedding");
    group.sample_size(20);
    for n_lessons in [50, 1_000] {
        let folder = tempfile::tempdir().unwrap();
        let playbook = playbook(folder.path(), n_lessons);
        let mut number = n_lessons;
        group.bench_function(format!("{n_lessons} lessons, durable"), |bencher| {
            bencher.iter_batched(
                || {
                    number += 1;
                    build_lesson(words(number), "do it right")
                },
                |draft| playbook.learn_lesson(draft).unwrap(),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, recall, learn);
criterion_main!(benches);
