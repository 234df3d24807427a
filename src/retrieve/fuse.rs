//! Joining rankings.

use std::collections::HashMap;
use std::hash::Hash;

/// Joins rankings by the sum of `1 / (k + rank)`, ranks from 1 (reciprocal rank fusion; Cormack, Clarke and Büttcher,
/// SIGIR 2009, who use k = 60). Best first; ties keep the order of first appearance.
///
/// ```
/// let fused = adage::retrieve::reciprocal_rank_fusion(&[vec!["a", "b"], vec!["b", "c"]], 60.0);
/// assert_eq!(fused, ["b", "a", "c"]);
/// ```
#[must_use]
pub fn reciprocal_rank_fusion<T: Clone + Eq + Hash>(rankings: &[Vec<T>], k: f64) -> Vec<T> {
    let mut scores: HashMap<&T, (f64, usize)> = HashMap::new();
    for ranking in rankings {
        for (place, item) in ranking.iter().enumerate() {
            let seen = scores.len();
            scores.entry(item).or_insert((0.0, seen)).0 += 1.0 / (k + place as f64 + 1.0);
        }
    }
    let mut fused: Vec<(&T, (f64, usize))> = scores.into_iter().collect();
    fused.sort_by(|(_, a), (_, b)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    fused.into_iter().map(|(item, _)| item.clone()).collect()
}
