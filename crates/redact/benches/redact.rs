//! The throughput of redaction in bytes of text: ordinary text, text full of keywords, and worst cases.
//!
//! Run `cargo bench -p adage-redact`.

#![allow(missing_docs, reason = "a benchmark")]

use std::hint::black_box;

use adage_redact::Redactor;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// A text repeated up to one mebibyte.
fn repeated(unit: &str) -> String {
    unit.repeat((1 << 20) / unit.len())
}

fn redacting(criterion: &mut Criterion) {
    let prose = "The build failed in src/store/log.rs:42 because the lock was held; run `cargo test -p store` again.\n";
    let code = "let token = self.tokens.next_token(config.api_key.as_deref())?; // see auth/session_store.rs\n";
    let random = ["q7RtZ2mWx9LkB4v", "Ns8Yd1HcJ6pGf3TaE5uQi"].concat();
    let mut group = criterion.benchmark_group("redact 1 MiB");
    for (name, unit) in [
        ("prose", prose.to_owned()),
        ("code", code.to_owned()),
        ("one repeated letter", "a".to_owned()),
        ("one repeated mark", "=".to_owned()),
        ("one long random run", random.clone()),
        ("random words", format!("{random} ")),
        ("keywords", "password=token key: ".to_owned()),
    ] {
        let text = repeated(&unit);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |bencher| bencher.iter(|| Redactor::shared().find(black_box(&text)).len()));
    }
}

criterion_group!(benches, redacting);
criterion_main!(benches);
