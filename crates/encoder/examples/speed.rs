//! Processor time of a text of 12, 40 and 128 tokens and of a batch, for each kernel: `cargo run --release -p adage-encoder
//! --example speed`.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    reason = "a program that prints times"
)]

use std::time::Instant;

use adage_encoder::{Encoder, Kernel};

const ROUNDS: usize = 15;

fn main() {
    let text =
        |n_tokens: usize| (0..n_tokens).map(|at| 2_000 + 37 * u32::try_from(at).unwrap_or(0)).collect::<Vec<u32>>();
    let cases: Vec<(String, Vec<Vec<u32>>)> = [12, 40, 128]
        .map(|n_tokens| (format!("{n_tokens} tokens"), vec![text(n_tokens)]))
        .into_iter()
        .chain([("32 texts of 12 to 43, each".to_owned(), (12..44).map(text).collect())])
        .collect();
    for (name, texts) in &cases {
        let slices: Vec<&[u32]> = texts.iter().map(Vec::as_slice).collect();
        let mut times = vec![Vec::new(); Kernel::available().len()];
        // The kernels take turns, so that other load affects all of them equally.
        for _ in 0..ROUNDS {
            for (kernel, times) in Kernel::available().iter().zip(&mut times) {
                let encoder = Encoder::with_kernel(*kernel).unwrap_or_default();
                let start = Instant::now();
                std::hint::black_box(encoder.encode(&slices));
                times.push(start.elapsed().as_secs_f64() * 1_000.0 / texts.len() as f64);
            }
        }
        for (kernel, times) in Kernel::available().iter().zip(&mut times) {
            times.sort_by(f64::total_cmp);
            println!(
                "{name:28} {:12} {:7.2} ms, the fastest {:.2}",
                format!("{kernel:?}"),
                times[ROUNDS / 2],
                times[0]
            );
        }
    }
}
