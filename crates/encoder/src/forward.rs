//! The forward pass: embeddings, six layers, mean pooling.
//!
//! Several texts pass through the matrices together, so that the weights are read from memory once for all. Each text attends
//! only to itself, and nothing is padded. Activations are 14-bit integers per token where they are multiplied by weights, and
//! 32-bit floats elsewhere.
#![expect(
    clippy::indexing_slicing,
    reason = "the shapes are the model's; each slice is of a length that was just made"
)]

use std::ops::Range;

use crate::kernels::Sums;
use crate::lanes::{LANES, Lanes, each, exp, gelu, groups, groups_mut, larger, max, rounded, sum};
use crate::layout::{INNER, LAYOUT, Matrix, Norm, PANEL, WIDTH};
use crate::weights::{embedding, token_type};

/// The number of attention heads, and the width of each.
const HEADS: usize = 12;
const HEAD: usize = WIDTH / HEADS;
const _: () = assert!(HEAD == PANEL, "a head is as wide as a panel");
/// The largest absolute value of a quantised activation.
const LARGEST: f32 = 8_191.0;
/// 1/√32: attention scores are divided by the square root of the head's width.
const SCORE: f32 = 0.176_776_7;
/// How many tokens pass through the rest of a layer together after attention, so that intermediate values and the weights of a
/// layer stay in the cache. A multiple of most kernels' rows.
const TILE: usize = 24;
/// How many rows of scores are computed together.
const QUERIES: usize = 4;

/// Texts to encode.
pub(crate) struct Job<'a> {
    /// The token ids of each text.
    pub(crate) texts: &'a [&'a [u32]],
    /// The unit vector of each text.
    pub(crate) vectors: &'a mut [[f32; WIDTH]],
}

/// What is done with a matrix product.
#[derive(Clone, Copy, PartialEq)]
enum Then {
    /// It is stored by panel: attention processes one head at a time, and a head is a panel wide.
    KeepByPanel,
    /// GELU is applied.
    Gelu,
    /// It is added to the present values.
    Add,
}

/// Quantised activations with one scale per row.
#[derive(Default)]
struct Quantised {
    codes: Vec<i16>,
    scales: Vec<f32>,
}

#[inline(always)]
pub(crate) fn forward<S: Sums>(job: &mut Job<'_>) {
    let n_tokens: usize = job.texts.iter().map(|text| text.len()).sum();
    let mut tokens = vec![0.0; n_tokens * WIDTH];
    let mut heads = vec![0.0; n_tokens * 3 * WIDTH];
    let mut attended = vec![0.0; n_tokens * WIDTH];
    // Tiles of nearly equal size, so that the last one does not have a single token.
    let n_of_tile = n_tokens.div_ceil(n_tokens.div_ceil(TILE).max(1)).max(1);
    let mut inner = vec![0.0; n_of_tile * INNER];
    let mut quantised = Quantised::default();
    let mut attention = Attention::default();
    embed(job.texts, &mut tokens);
    normalise(LAYOUT.norm, &mut tokens);
    for layer in &LAYOUT.layers {
        multiply::<S>(layer.attention, &tokens, &mut quantised, &mut heads, Then::KeepByPanel);
        let mut first = 0;
        for text in job.texts {
            let of_text = first..first + text.len();
            first = of_text.end;
            attention.run(&heads, of_text.clone(), &mut attended[of_text.start * WIDTH..of_text.end * WIDTH]);
        }
        let tiles = tokens.chunks_mut(n_of_tile * WIDTH).zip(attended.chunks(n_of_tile * WIDTH));
        for (tokens, attended) in tiles {
            multiply::<S>(layer.output, attended, &mut quantised, tokens, Then::Add);
            normalise(layer.output_norm, tokens);
            let inner = &mut inner[..tokens.len() / WIDTH * INNER];
            multiply::<S>(layer.up, tokens, &mut quantised, inner, Then::Gelu);
            multiply::<S>(layer.down, inner, &mut quantised, tokens, Then::Add);
            normalise(layer.down_norm, tokens);
        }
    }
    let mut first = 0;
    for (text, vector) in job.texts.iter().zip(job.vectors.iter_mut()) {
        pool(&tokens[first * WIDTH..(first + text.len()) * WIDTH], vector);
        first += text.len();
    }
}

#[inline(always)]
fn embed(texts: &[&[u32]], tokens: &mut [f32]) {
    let placed = texts.iter().flat_map(|text| text.iter().enumerate());
    for ((position, token), row) in placed.zip(tokens.chunks_exact_mut(WIDTH)) {
        let [(word, word_scale), (place, place_scale)] = embedding(*token, position);
        for (((number, word), place), kind) in row.iter_mut().zip(word).zip(place).zip(token_type()) {
            *number = f32::from(*word) * word_scale + f32::from(*place) * place_scale + kind;
        }
    }
}

/// Layer norm: rows of mean 0 and variance 1, times factors, plus summands.
#[inline(always)]
fn normalise(norm: Norm, rows: &mut [f32]) {
    for row in rows.chunks_exact_mut(WIDTH) {
        let total = groups(row).iter().fold([0.0; LANES], |total, group| each(|lane| total[lane] + group[lane]));
        let mean = sum(&total) / WIDTH as f32;
        let squares = groups(row)
            .iter()
            .fold([0.0; LANES], |total, group| each(|lane| total[lane] + (group[lane] - mean) * (group[lane] - mean)));
        let scale = 1.0 / (sum(&squares) / WIDTH as f32 + 1e-12).sqrt();
        // Element by element: compilers turn loops over groups into scattered stores.
        for ((number, factor), summand) in row.iter_mut().zip(norm.factors()).zip(norm.summands()) {
            *number = (*number - mean) * scale * factor + summand;
        }
    }
}

/// Quantises rows: the largest absolute value of each row becomes 8191.
#[inline(always)]
fn quantise(rows: &[f32], length: usize, quantised: &mut Quantised) {
    quantised.codes.resize(rows.len(), 0);
    quantised.scales.clear();
    for (row, codes) in rows.chunks_exact(length).zip(quantised.codes.chunks_exact_mut(length)) {
        let largest =
            groups(row).iter().fold([0.0; LANES], |most, group| each(|lane| larger(most[lane], group[lane].abs())));
        let largest = max(&largest);
        let factor = if largest > 0.0 { LARGEST / largest } else { 0.0 };
        quantised.scales.push(largest / LARGEST);
        for (code, number) in codes.iter_mut().zip(row) {
            *code = rounded(number * factor);
        }
    }
}

/// Multiplies rows by a matrix and adds the biases.
#[inline(always)]
fn multiply<S: Sums>(matrix: Matrix, rows: &[f32], quantised: &mut Quantised, products: &mut [f32], then: Then) {
    quantise(rows, matrix.n_rows, quantised);
    let n_rows = quantised.scales.len();
    // Blocks of nearly equal size, so that the last one does not have a single row.
    let n_blocks = n_rows.div_ceil(S::ROWS);
    let mut sums = [[0; PANEL]; 16];
    let panels = matrix.weights().chunks_exact(matrix.n_rows * PANEL);
    let (scales, biases) = (matrix.scales().chunks_exact(PANEL), matrix.biases().chunks_exact(PANEL));
    for (place, ((panel, scales), biases)) in panels.zip(scales).zip(biases).enumerate() {
        let mut first = 0;
        for block in 0..n_blocks {
            let n_of_block = (n_rows - first).div_ceil(n_blocks - block);
            let end = first + n_of_block;
            let codes = &quantised.codes[first * matrix.n_rows..end * matrix.n_rows];
            S::panel(codes, panel, &mut sums[..n_of_block]);
            for (row, sums) in (first..end).zip(&sums) {
                let at = match then {
                    Then::KeepByPanel => (place * n_rows + row) * PANEL,
                    Then::Gelu | Then::Add => row * matrix.n_columns + place * PANEL,
                };
                finish(sums, quantised.scales[row], scales, biases, &mut products[at..at + PANEL], then);
            }
            first = end;
        }
    }
}

/// Converts integer sums to floats.
#[inline(always)]
fn finish(sums: &[i32; PANEL], scale: f32, scales: &[f32], biases: &[f32], products: &mut [f32], then: Then) {
    let (scales, biases) = (groups(scales), groups(biases));
    for (half, group) in groups_mut(products).iter_mut().enumerate() {
        let sums = &sums.as_chunks::<LANES>().0[half];
        let values = each(|lane| sums[lane] as f32 * scale * scales[half][lane] + biases[half][lane]);
        *group = match then {
            Then::KeepByPanel => values,
            Then::Gelu => each(|lane| gelu(values[lane])),
            Then::Add => each(|lane| group[lane] + values[lane]),
        };
    }
}

/// Buffers for the attention of one text: groups of sixteen tokens, the last one padded with zeros.
#[derive(Default)]
struct Attention {
    /// The keys of one head; the lanes are the tokens.
    keys: Vec<[Lanes; HEAD]>,
    /// Separate for each query: compilers would vectorise across queries in one array, with gathers.
    scores: [Vec<Lanes>; QUERIES],
}

impl Attention {
    /// Attention: for each token of a text, the values of all its tokens, weighted by the scores of its query with their keys.
    #[inline(always)]
    fn run(&mut self, heads: &[f32], of_text: Range<usize>, attended: &mut [f32]) {
        let n_tokens = of_text.len();
        for scores in &mut self.scores {
            scores.resize(n_tokens.div_ceil(LANES), [0.0; LANES]);
        }
        // The queries of all heads, then the keys, then the values.
        let (by_panel, _) = heads.as_chunks::<HEAD>();
        let n_all = by_panel.len() / (3 * HEADS);
        for head in 0..HEADS {
            let [queries, keys, values] =
                [0, 1, 2].map(|part| &by_panel[(part * HEADS + head) * n_all..][of_text.clone()]);
            self.take_keys(keys);
            for first in (0..n_tokens).step_by(QUERIES) {
                // If fewer than four rows are left, the last rows are computed again.
                let mut tokens = [first; QUERIES];
                for (place, token) in tokens.iter_mut().enumerate() {
                    *token = (first + place).min(n_tokens - 1);
                }
                let queries = tokens.map(|token| queries[token]);
                self.score(&queries);
                let mut scales = [0.0; QUERIES];
                for (scale, scores) in scales.iter_mut().zip(&mut self.scores) {
                    *scale = soften(scores, n_tokens);
                }
                let sums = self.weigh(values);
                for ((token, scale), sum) in tokens.into_iter().zip(scales).zip(&sums) {
                    let row = &mut attended[token * WIDTH + head * HEAD..][..HEAD];
                    for (group, sum) in groups_mut(row).iter_mut().zip(sum) {
                        *group = each(|lane| sum[lane] * scale);
                    }
                }
            }
        }
    }

    /// Stores the keys of a head with the tokens in the lanes.
    #[inline(always)]
    fn take_keys(&mut self, keys: &[[f32; HEAD]]) {
        self.keys.clear();
        self.keys.resize(keys.len().div_ceil(LANES), [[0.0; LANES]; HEAD]);
        for (taken, keys) in self.keys.iter_mut().zip(keys.chunks(LANES)) {
            for (lane, key) in keys.iter().enumerate() {
                for (taken, number) in taken.iter_mut().zip(key) {
                    taken[lane] = *number;
                }
            }
        }
    }

    /// The scores of four queries with all keys.
    #[inline(always)]
    fn score(&mut self, queries: &[[f32; HEAD]; QUERIES]) {
        for (group, keys) in self.keys.iter().enumerate() {
            let mut sums = [[0.0; LANES]; QUERIES];
            for (number, keys) in keys.iter().enumerate() {
                for (sum, query) in sums.iter_mut().zip(queries) {
                    *sum = each(|lane| sum[lane] + query[number] * keys[lane]);
                }
            }
            for (scores, sum) in self.scores.iter_mut().zip(&sums) {
                scores[group] = each(|lane| sum[lane] * SCORE);
            }
        }
    }

    /// The values of all tokens, weighted by the scores of four queries.
    #[inline(always)]
    fn weigh(&self, values: &[[f32; HEAD]]) -> [[Lanes; HEAD / LANES]; QUERIES] {
        let mut sums = [[[0.0; LANES]; HEAD / LANES]; QUERIES];
        for (group, values) in values.chunks(LANES).enumerate() {
            let scores: [&Lanes; QUERIES] = std::array::from_fn(|query| &self.scores[query][group]);
            for (token, values) in values.iter().enumerate() {
                for (sums, scores) in sums.iter_mut().zip(scores) {
                    for (sum, values) in sums.iter_mut().zip(groups(values)) {
                        *sum = each(|lane| sum[lane] + scores[token] * values[lane]);
                    }
                }
            }
        }
        sums
    }
}

/// Softmax numerators: `e` to the power of each score minus the largest. Returns the factor that makes them sum to 1.
#[inline(always)]
fn soften(scores: &mut [Lanes], n_tokens: usize) -> f32 {
    pad(scores, n_tokens, f32::NEG_INFINITY);
    let mut most = [f32::NEG_INFINITY; LANES];
    for group in &*scores {
        most = each(|lane| larger(most[lane], group[lane]));
    }
    let most = max(&most);
    for group in &mut *scores {
        *group = each(|lane| exp(group[lane] - most));
    }
    pad(scores, n_tokens, 0.0);
    let mut total = [0.0; LANES];
    for group in &*scores {
        total = each(|lane| total[lane] + group[lane]);
    }
    1.0 / sum(&total)
}

/// Sets the scores after the last token to a value.
#[inline(always)]
fn pad(scores: &mut [Lanes], n_tokens: usize, value: f32) {
    if let (Some(last), from @ 1..) = (scores.last_mut(), n_tokens % LANES) {
        last[from..].fill(value);
    }
}

/// The mean of a text's tokens, scaled to unit length.
#[inline(always)]
fn pool(tokens: &[f32], vector: &mut [f32; WIDTH]) {
    *vector = [0.0; WIDTH];
    for token in tokens.chunks_exact(WIDTH) {
        for (total, group) in groups_mut(vector).iter_mut().zip(groups(token)) {
            *total = each(|lane| total[lane] + group[lane]);
        }
    }
    let squares =
        groups(vector).iter().fold([0.0; LANES], |total, group| each(|lane| total[lane] + group[lane] * group[lane]));
    let scale = 1.0 / sum(&squares).sqrt().max(f32::MIN_POSITIVE);
    for group in groups_mut(vector) {
        *group = each(|lane| group[lane] * scale);
    }
}
