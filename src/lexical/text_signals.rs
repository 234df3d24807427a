//! How well one text matches a query, as one score.

use super::fields::WordScore;

/// The scores at which words and n-grams saturate to one half.
pub(crate) const HALF_WORDS: f32 = 10.0;
pub(crate) const HALF_GRAMS: f32 = 80.0;

/// The cosine that counts for a text without a vector among texts that have one. Chosen: what a text that shares some words with
/// a query usually has.
const USUAL_COSINE: f32 = 0.3;

/// How well a text matches a query, by each measure. Larger values are better matches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TextSignals {
    /// The cosine of query and text; none if the text has no vector.
    pub(crate) cosine: Option<f32>,
    pub(crate) words: WordScore,
    /// BM25F over character n-grams.
    pub(crate) grams: f32,
}

impl TextSignals {
    /// `7·x + 4·c·F' + 2·G'`: the ranking of lessons with one cosine for its three (docs/spec/playbook.md, 5.1). The weights of
    /// words and n-grams are fitted (docs/benchmarks.md).
    pub(crate) fn by_all(&self) -> f32 {
        7.0 * self.cosine.unwrap_or(USUAL_COSINE)
            + 4.0 * self.words.mass * saturated(self.words.words, HALF_WORDS)
            + 2.0 * saturated(self.grams, HALF_GRAMS)
    }

    /// `3·F' + G'`, where there are no vectors.
    pub(crate) fn by_words(&self) -> f32 {
        3.0 * saturated(self.words.words, HALF_WORDS) + saturated(self.grams, HALF_GRAMS)
    }
}

/// A score without an upper bound, in [0, 1): one half at `half`.
pub(crate) fn saturated(score: f32, half: f32) -> f32 {
    score / (score + half)
}
