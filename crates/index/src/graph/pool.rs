//! The rows that a search in the graph has found so far.

use crate::shortlist::Scored;

/// The best rows found so far, sorted, best first. The last one is the `ef`-th wanted row: a row that is not wanted is kept only as a
/// waypoint before it.
#[derive(Debug, Default)]
pub(super) struct Pool {
    entries: Vec<Entry>,
    n_wanted: usize,
    /// How many wanted rows are kept.
    ef: usize,
    /// No entry before this one is open.
    next: usize,
    /// The score that a row has to exceed; −∞ while there are fewer than `ef` wanted rows.
    worst: f32,
}

impl Pool {
    pub(super) fn begin(&mut self, ef: usize) {
        self.entries.clear();
        (self.n_wanted, self.ef, self.next, self.worst) = (0, ef, 0, f32::NEG_INFINITY);
    }

    /// The best row whose links were not followed yet; from now on they count as followed.
    #[inline]
    pub(super) fn take_open(&mut self) -> Option<u32> {
        while self.entries.get(self.next).is_some_and(|entry| !entry.is_open()) {
            self.next += 1;
        }
        let entry = self.entries.get_mut(self.next)?;
        entry.close();
        Some(entry.row())
    }

    /// The rows whose links are probably followed after those of the last one taken.
    #[inline]
    pub(super) fn upcoming(&self) -> impl Iterator<Item = u32> {
        self.entries.iter().skip(self.next + 1).take(2).map(|entry| entry.row())
    }

    /// True if a row of this score belongs in the pool.
    #[inline]
    pub(super) fn accepts(&self, score: f32) -> bool {
        score > self.worst
    }

    /// Adds a row of an [accepted](Self::accepts) score. Returns true if its links are probably followed next.
    #[inline]
    pub(super) fn insert(&mut self, scored: Scored, is_wanted: bool) -> bool {
        let new = Entry::new(scored, is_wanted);
        let at = self.entries.partition_point(|other| *other < new);
        self.entries.insert(at, new);
        let is_next = at <= self.next + 1;
        self.next = self.next.min(at);
        self.n_wanted += usize::from(is_wanted);
        if self.n_wanted > self.ef {
            while self.entries.pop().is_some_and(|entry| !entry.is_wanted()) {}
            self.n_wanted -= 1;
        }
        if self.n_wanted == self.ef {
            while self.entries.last().is_some_and(|entry| !entry.is_wanted()) {
                self.entries.pop();
            }
            self.worst = self.entries.last().map_or(self.worst, |entry| entry.score());
        }
        is_next
    }

    /// The wanted rows, best first.
    pub(super) fn found(&self) -> impl Iterator<Item = Scored> {
        self.entries.iter().filter(|entry| entry.is_wanted()).map(|entry| entry.scored())
    }

    /// The best row, wanted or not.
    pub(super) fn best(&self) -> Option<Scored> {
        self.entries.first().map(|entry| entry.scored())
    }
}

/// A row of a pool as one number, in the order of the pool: by score, the best first, then by row. The last two bits say whether it is
/// wanted, and whether its links are still to be followed. Rows are below 2³⁰, because more do not fit into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u64);

/// A score as a number: the larger the score, the smaller the number.
#[inline]
pub(super) fn falling(score: f32) -> u32 {
    let bits = score.to_bits();
    // Floats as numbers in the same order: all bits of a negative one are inverted, the others get the highest bit.
    let rising = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
    !rising
}

/// The inverse of [`falling`].
#[inline]
pub(super) fn score_of(falling: u32) -> f32 {
    let rising = !falling;
    f32::from_bits(if rising >> 31 == 1 { rising & !(1 << 31) } else { !rising })
}

impl Entry {
    const OPEN: u64 = 1;
    const WANTED: u64 = 2;

    #[inline]
    fn new(scored: Scored, is_wanted: bool) -> Self {
        let wanted = if is_wanted { Self::WANTED } else { 0 };
        Self(u64::from(falling(scored.score)) << 32 | u64::from(scored.row) << 2 | wanted | Self::OPEN)
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
    fn row(self) -> u32 {
        (self.0 as u32) >> 2
    }

    #[inline]
    fn score(self) -> f32 {
        score_of((self.0 >> 32) as u32)
    }

    #[inline]
    fn is_open(self) -> bool {
        self.0 & Self::OPEN != 0
    }

    #[inline]
    fn is_wanted(self) -> bool {
        self.0 & Self::WANTED != 0
    }

    #[inline]
    fn close(&mut self) {
        self.0 &= !Self::OPEN;
    }

    #[inline]
    fn scored(self) -> Scored {
        Scored { score: self.score(), row: self.row() }
    }
}
