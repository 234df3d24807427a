//! Time to match skills by words: 100, 1,000 and 10,000 skills, texts of 9 and of 200 words.
//!
//! `cargo bench --no-default-features --bench skills`

#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark")]

use std::hint::black_box;

use adage::config::MatchConfig;
use adage::skills;
use adage::skills::{Skill, match_skills};
use criterion::{Criterion, criterion_group, criterion_main};

const TOPICS: [&str; 16] = [
    "docker",
    "kubernetes",
    "rust",
    "python",
    "postgres",
    "redis",
    "terraform",
    "graphql",
    "react",
    "kafka",
    "nginx",
    "docker-compose",
    "csv",
    "oauth",
    "grpc",
    "wasm",
];
const ACTIONS: [&str; 8] = ["build", "deploy", "test", "debug", "configure", "migrate", "monitor", "format"];

fn word(words: &[&'static str], number: usize) -> &'static str {
    words.get(number % words.len()).copied().unwrap_or_default()
}

/// Every eighth skill shares a topic and an action with the query; all share words of the description with it.
fn skills(n_skills: usize) -> Vec<Skill> {
    let skill = |number: usize| {
        let (topic, action) = (word(&TOPICS, number), word(&ACTIONS, number / 16));
        let description = format!("Use when you {action} {topic} services in production, in case number {number}.");
        Skill::new(format!("{action}-{topic}-{number}").parse().unwrap(), description).with_triggers([topic], [action])
    };
    (0..n_skills).map(skill).collect()
}

fn matching(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("match skills by words");
    let short = "please compile the docker services for our production cluster";
    let long = format!("{short} {}", (0..190).map(|n| format!("word{n} ")).collect::<Vec<_>>().concat());
    for n_skills in [100, 1_000, 10_000] {
        let skills = skills(n_skills);
        let indexed = || skills.iter().map(|skill| skills::Indexed { skill, is_matchable: true });
        let (index, config) = (skills::Index::new(indexed()), MatchConfig::default());
        assert_eq!(match_skills(short, &index, &config).matches.len(), 5);
        group.bench_function(format!("{n_skills} skills, 9 words"), |bencher| {
            bencher.iter(|| black_box(match_skills(black_box(short), &index, &config)));
        });
        group.bench_function(format!("{n_skills} skills, 200 words"), |bencher| {
            bencher.iter(|| black_box(match_skills(black_box(&long), &index, &config)));
        });
        group.bench_function(format!("{n_skills} skills, index made"), |bencher| {
            bencher.iter(|| black_box(skills::Index::new(indexed())));
        });
    }
    group.finish();
}

criterion_group!(benches, matching);
criterion_main!(benches);
