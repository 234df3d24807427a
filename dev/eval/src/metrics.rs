//! Metrics of a ranking: nDCG@10, recall@5, MRR@10.

use std::collections::BTreeSet;

use adage::LessonId;

/// Ranks that nDCG and MRR consider.
const DEPTH: usize = 10;
/// Ranks that recall considers.
pub(crate) const RECALL_DEPTH: usize = 5;

/// Sums over questions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scores {
    pub(crate) ndcg: f64,
    pub(crate) recall: f64,
    pub(crate) mrr: f64,
    pub(crate) n: f64,
}

impl Scores {
    /// Adds a ranking, best first, and the relevant lessons: at least one. nDCG is that of Järvelin and Kekäläinen (2002) with gains
    /// of 0 and 1.
    pub(crate) fn add(&mut self, ranking: &[LessonId], relevant: &BTreeSet<LessonId>) {
        let gain = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
        let hits: Vec<usize> = (ranking.iter().take(DEPTH).enumerate())
            .filter(|(_, id)| relevant.contains(id))
            .map(|(rank, _)| rank)
            .collect();
        let ideal: f64 = (0..relevant.len().min(DEPTH)).map(gain).sum();
        self.ndcg += hits.iter().map(|rank| gain(*rank)).sum::<f64>() / ideal;
        self.recall += hits.iter().filter(|rank| **rank < RECALL_DEPTH).count() as f64 / relevant.len() as f64;
        self.mrr += hits.first().map_or(0.0, |rank| 1.0 / (*rank as f64 + 1.0));
        self.n += 1.0;
    }

    /// The means: nDCG@10, recall@5, MRR@10; 0 without questions.
    pub(crate) fn means(&self) -> [f64; 3] {
        [self.ndcg, self.recall, self.mrr].map(|sum| round(sum / self.n.max(1.0)))
    }
}

/// Rounds to four decimal places.
pub(crate) fn round(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// The value at a share in [0, 1] of the sorted values (nearest rank); 0 if there are none.
pub(crate) fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
    let place = (sorted.len().saturating_sub(1) as f64 * share).round() as usize;
    sorted.get(place).copied().unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "rounded figures")]
mod tests {
    use adage::LessonId;

    use super::*;

    /// Of two relevant lessons one has rank 2 and one rank 6.
    #[test]
    fn metrics_of_two_relevant_lessons_equal_the_hand_computed_ones() {
        let ids: Vec<LessonId> = (0..8).map(|n| format!("{n:032}").parse().unwrap()).collect();
        let mut scores = Scores::default();
        scores.add(&ids, &BTreeSet::from([ids[1], ids[5]]));
        let ideal = 1.0 + 1.0 / 3_f64.log2();
        let ndcg = (1.0 / 3_f64.log2() + 1.0 / 7_f64.log2()) / ideal;
        assert_eq!(scores.means(), [round(ndcg), 0.5, 0.5]);
        assert_eq!(Scores::default().means(), [0.0; 3]);
    }

    #[test]
    fn percentile_of_three_values_is_one_of_them_and_of_none_is_zero() {
        assert_eq!(percentile(&[3.0, 1.0, 2.0], 0.5), 2.0);
        assert_eq!(percentile(&[], 0.5), 0.0);
    }
}
