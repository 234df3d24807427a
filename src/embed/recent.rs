//! The vectors of recent queries.

use std::collections::BTreeMap;

use ndarray::Array2;

use crate::lesson::TextHash;

/// Chosen: more than an agent asks in one task, and half a megabyte at 384 dimensions.
const CAPACITY: usize = 256;

/// An LRU cache of 256 texts with their vectors. Texts are kept as hashes, so that a long one takes no more memory than a short
/// one.
#[derive(Default)]
pub(super) struct Recent {
    rows: BTreeMap<TextHash, Used>,
    n_uses: u64,
}

struct Used {
    at: u64,
    row: Array2<f32>,
}

impl Recent {
    pub(super) fn get(&mut self, text: TextHash) -> Option<Array2<f32>> {
        self.n_uses += 1;
        let used = self.rows.get_mut(&text)?;
        used.at = self.n_uses;
        Some(used.row.clone())
    }

    pub(super) fn put(&mut self, text: TextHash, row: Array2<f32>) {
        self.n_uses += 1;
        self.rows.insert(text, Used { at: self.n_uses, row });
        if self.rows.len() > CAPACITY
            && let Some(oldest) = self.rows.iter().min_by_key(|(_, used)| used.at).map(|(text, _)| *text)
        {
            self.rows.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_that_was_not_used_for_the_longest_time_goes() {
        let key = |number: usize| TextHash::of(&[number.to_string()]);
        let mut recent = Recent::default();
        let row = |number: usize| Array2::from_elem((1, 1), number as f32);
        for number in 0..CAPACITY {
            recent.put(key(number), row(number));
        }
        assert_eq!(recent.get(key(0)), Some(row(0)));
        recent.put(key(CAPACITY), row(CAPACITY));
        assert_eq!(recent.rows.len(), CAPACITY);
        let kept = [0, 1, 2, CAPACITY].map(|number| recent.get(key(number)).is_some());
        assert_eq!(kept, [true, false, true, true]);
    }
}
