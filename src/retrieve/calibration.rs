//! One score out of all evidence, and the probability that it is right (docs/spec/playbook.md, 5.1).

use super::evidence::Evidence;
use crate::lesson::TextHash;

/// Numbers that were fitted for one embedder, or for words alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Calibration {
    /// What the cosine to the trigger counts.
    trigger: f32,
    /// What the cosine to the whole text counts.
    whole: f32,
    /// What covered words count: the covered share of the query times its saturated words.
    covered_words: f32,
    /// What the saturated words count, however little of the query they are.
    words: f32,
    /// What the saturated n-grams count.
    pub(super) grams: f32,
    /// What the covered share of the query counts.
    coverage: f32,
    /// Scores are multiplied by this: how much a point more means.
    scale: f32,
    /// The scaled score of "none of them" among 50 lessons.
    none: f32,
    /// What that grows by with the logarithm of the number of lessons in sight.
    none_growth: f32,
    /// The probability above which a query is answered.
    pub(super) answer_from: f32,
}

/// BM25F at which covered words count half, words count half, and n-grams do.
const HALF_COVERED_WORDS: f32 = 30.0;
const HALF_WORDS: f32 = 10.0;
const HALF_GRAMS: f32 = 40.0;

/// Lessons in sight of the book that `none` is given for.
const USUAL_LESSONS: f32 = 50.0;

impl Calibration {
    /// Words, without vectors.
    pub(crate) const WORDS: Self = Self {
        trigger: 0.0,
        whole: 0.0,
        covered_words: 0.0,
        words: 3.0,
        grams: 2.0,
        coverage: 1.0,
        scale: 3.75,
        none: 10.0,
        none_growth: 1.0,
        answer_from: 0.7,
    };

    /// all-MiniLM-L6-v2.
    const MINILM: Self = Self {
        trigger: 1.0,
        whole: 3.0,
        covered_words: 4.0,
        words: 0.0,
        grams: 0.0,
        coverage: 0.0,
        scale: 3.75,
        none: 15.37,
        none_growth: 1.24,
        answer_from: 0.7,
    };

    /// The numbers for an embedder.
    pub(crate) fn of(_fingerprint: TextHash) -> Self {
        Self::MINILM
    }

    /// What a lesson is ranked by; larger is better.
    pub(super) fn score(&self, evidence: &Evidence) -> f32 {
        let saturated = |score: f32, half: f32| score / (score + half);
        self.trigger * evidence.trigger.unwrap_or_default()
            + self.whole * evidence.whole.unwrap_or_default()
            + self.covered_words * evidence.coverage * saturated(evidence.words, HALF_COVERED_WORDS)
            + self.words * saturated(evidence.words, HALF_WORDS)
            + self.grams * saturated(evidence.grams, HALF_GRAMS)
            + self.coverage * evidence.coverage
    }

    /// The probabilities of lessons, given their scores, best first: that of the best to be an answer at all, against "none of
    /// them", shared out among all by `exp(scale·score)`.
    ///
    /// The sum is decided by the best alone: many lessons that say the same are no more likely to be an answer than one.
    pub(super) fn probabilities(&self, scores: &[f32], n_in_sight: usize) -> Vec<f32> {
        let Some(best) = scores.first() else { return Vec::new() };
        let none = self.none + self.none_growth * (n_in_sight as f32 / USUAL_LESSONS).ln();
        let is_any = 1.0 / (1.0 + (none - self.scale * best).exp());
        let shares: Vec<f32> = scores.iter().map(|score| (self.scale * (score - best)).exp()).collect();
        let all: f32 = shares.iter().sum();
        shares.into_iter().map(|share| is_any * share / all).collect()
    }
}
