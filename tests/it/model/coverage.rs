//! Which cases the runs have covered.

/// The operations that a run must cover.
#[derive(Clone, Copy, Debug)]
pub(super) enum Seen {
    Merged,
    Evicted,
    NoRoom,
    Pruned,
    Refused,
    LearnedAgain,
    Restored,
    NotUndone,
    Credited,
    RecordedBefore,
    TextChanged,
    Ambiguous,
}

impl Seen {
    pub(super) const ALL: [Self; 12] = [
        Self::Merged,
        Self::Evicted,
        Self::NoRoom,
        Self::Pruned,
        Self::Refused,
        Self::LearnedAgain,
        Self::Restored,
        Self::NotUndone,
        Self::Credited,
        Self::RecordedBefore,
        Self::TextChanged,
        Self::Ambiguous,
    ];
}

/// How often each of these happened.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Tally(pub(super) [usize; Seen::ALL.len()]);

impl Tally {
    pub(super) fn count(&mut self, what: Seen, times: usize) {
        self.0[what as usize] += times;
    }
}
