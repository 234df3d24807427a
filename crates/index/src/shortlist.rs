//! From products of codes to the nearest rows: the candidates that may be among them, decided by the floats.

use serde::Serialize;

use super::kernels::Kernel;

/// A neighbour: the key it was put under, and its cosine distance `1 − cos`, in [0, 2], smaller is nearer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Neighbour {
    /// The key.
    pub key: u32,
    /// The distance, of the floats, not of their codes.
    pub distance: f32,
}

/// A row, and how near it seems: larger is nearer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scored {
    pub(crate) score: f32,
    pub(crate) row: u32,
}

impl Scored {
    /// Best first, ties in the order of rows.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape that sorting asks for")]
    pub(crate) fn order(one: &Self, other: &Self) -> std::cmp::Ordering {
        other.score.total_cmp(&one.score).then(one.row.cmp(&other.row))
    }
}

/// What may be among the `k` nearest, given that each score is at most `slack` away from the truth.
#[derive(Debug)]
pub(crate) struct Shortlist {
    k: usize,
    slack: f32,
    floor: f32,
    room: usize,
    found: Vec<Scored>,
}

impl Shortlist {
    pub(crate) fn new(k: usize, slack: f32) -> Self {
        let room = 4 * k + 128;
        Self { k, slack, floor: f32::NEG_INFINITY, room, found: Vec::with_capacity(room) }
    }

    /// The number of rows asked for.
    pub(crate) fn k(&self) -> usize {
        self.k
    }

    /// How far each score may be from the truth.
    pub(crate) fn slack(&self) -> f32 {
        self.slack
    }

    /// What scores less cannot be among the nearest.
    #[inline]
    pub(crate) fn floor(&self) -> f32 {
        self.floor
    }

    #[inline]
    pub(crate) fn offer(&mut self, score: f32, row: u32) {
        if score >= self.floor {
            self.found.push(Scored { score, row });
            if self.found.len() >= self.room {
                self.shrink();
            }
        }
    }

    /// With the k-th best score s, the k-th nearest row's true product is at least s − slack, so that a row whose score is below
    /// s − 2 · slack is farther.
    fn shrink(&mut self) {
        if self.k == 0 || self.found.len() <= self.k {
            return;
        }
        let (_, kth, _) = self.found.select_nth_unstable_by(self.k - 1, Scored::order);
        self.floor = kth.score - 2.0 * self.slack;
        let floor = self.floor;
        self.found.retain(|scored| scored.score >= floor);
        self.room = self.room.max(2 * self.found.len());
    }

    /// The nearest rows by their floats, the nearest first, ties by key. `row` gives a row's key and floats, `fetch` asks for a
    /// row's floats ahead.
    pub(crate) fn decide<'r>(
        mut self,
        query: &[f32],
        kernel: Kernel,
        row: impl Fn(u32) -> (u32, &'r [f32]),
        fetch: impl Fn(u32),
    ) -> Vec<Neighbour> {
        const AHEAD: usize = 2;
        self.shrink();
        self.found.sort_unstable_by(Scored::order);
        let mut best: Vec<Neighbour> = Vec::with_capacity(self.k + 1);
        for (place, scored) in self.found.iter().enumerate() {
            if best.len() >= self.k && best.last().is_none_or(|worst| scored.score + self.slack < 1.0 - worst.distance)
            {
                break;
            }
            if let Some(next) = self.found.get(place + AHEAD) {
                fetch(next.row);
            }
            let (key, floats) = row(scored.row);
            // Products that differ may round to one distance: what the caller sees decides on ties.
            let distance = (1.0 - kernel.dot(query, floats)).clamp(0.0, 2.0);
            let at = best.partition_point(|other| (other.distance, other.key) < (distance, key));
            best.insert(at, Neighbour { key, distance });
            best.truncate(self.k);
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rounds_to_one_distance_is_a_tie() {
        // The later rows have the larger products, but 1 less any of them is 1.
        let rows: Vec<[f32; 2]> = (1..=4_u8).map(|nth| [f32::from(nth) * 1e-9, 1.0]).collect();
        let mut shortlist = Shortlist::new(3, 0.01);
        for row in 0..4 {
            shortlist.offer(0.0, row);
        }
        let best = shortlist.decide(&[1.0, 0.0], Kernel::Portable, |row| (row, &rows[row as usize]), |_| ());
        let expected: Vec<Neighbour> = (0..3).map(|key| Neighbour { key, distance: 1.0 }).collect();
        assert_eq!(best, expected);
    }
}
