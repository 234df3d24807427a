//! Eviction policies: which lesson leaves a full playbook.

use adage::utility::{self, Counts};

/// A lesson in the simulated playbook.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) topic: usize,
    pub(crate) is_useful: bool,
    pub(crate) counts: Counts,
    /// Recalls of the whole playbook before the lesson was first learned, and before it was last shown or learned.
    pub(crate) learned_at_recall: u64,
    pub(crate) shown_at_recall: u64,
    /// Tasks: at which it was learned, was last used, and at which its topic comes next.
    pub(crate) learned: usize,
    pub(crate) used: usize,
    pub(crate) next: usize,
    /// Uses since SIEVE or S3-FIFO last reset them, at most 3.
    pub(crate) visits: u32,
    /// Whether it is in the small queue of S3-FIFO.
    pub(crate) is_small: bool,
    /// The position in a queue of S3-FIFO, or the priority of GDSF; the least is evicted first.
    pub(crate) rank: f64,
}

/// A rule by which a full playbook evicts a lesson.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Evicts the lesson that was learned first.
    Fifo,
    /// Evicts the least recently used.
    Lru,
    /// Greedy-Dual-Size-Frequency (Cherkasova, 1998): uses times the rate of success, plus the priority of the last
    /// lesson that was evicted.
    Gdsf,
    /// SIEVE (Zhang et al., NSDI 2024): a hand moves from old to new and evicts the first that was not used since
    /// it passed.
    Sieve,
    /// S3-FIFO (Yang et al., SOSP 2023): a small queue for new lessons, a main queue for those that were used, and
    /// a record of evicted ones.
    S3Fifo,
    /// The earlier system's formula, [`utility::standard`].
    Classic,
    /// The default, [`utility::aging`].
    Adage,
    /// Knows the future and what is useful: evicts useless lessons first, then the one that is needed last.
    Clairvoyant,
}

impl Policy {
    /// All variants.
    pub const ALL: [Self; 8] =
        [Self::Fifo, Self::Lru, Self::Gdsf, Self::Sieve, Self::S3Fifo, Self::Classic, Self::Adage, Self::Clairvoyant];

    /// The name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fifo => "FIFO",
            Self::Lru => "LRU",
            Self::Gdsf => "GDSF",
            Self::Sieve => "SIEVE",
            Self::S3Fifo => "S3-FIFO",
            Self::Classic => "classic",
            Self::Adage => "adage",
            Self::Clairvoyant => "clairvoyant",
        }
    }

    /// Whether a lesson that is learned again gets its counts back.
    pub(crate) fn restores_counts(self) -> bool {
        self == Self::Adage
    }
}

/// The state of a policy, in addition to the lessons.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// GDSF: the priority of the last lesson that was evicted.
    floor: f64,
    /// SIEVE: lessons learned before this task have been passed by the hand.
    hand: usize,
    /// S3-FIFO: the last position in the queues.
    last_position: f64,
}

impl State {
    /// A position behind all others.
    pub(crate) fn next_position(&mut self) -> f64 {
        self.last_position += 1.0;
        self.last_position
    }

    /// The priority of a lesson by GDSF.
    pub(crate) fn gdsf(&self, counts: &Counts) -> f64 {
        let uses = (counts.retrievals + counts.frequency) as f64;
        let judged = (counts.helpful + counts.harmful) as f64;
        self.floor + uses * (counts.helpful as f64 + 0.5) / (judged + 1.5)
    }

    /// The index of the lesson to evict.
    pub(crate) fn victim(&mut self, policy: Policy, slots: &mut [Slot], recalls: u64) -> usize {
        match policy {
            Policy::Sieve => self.sieve(slots),
            Policy::S3Fifo => self.s3_fifo(slots),
            Policy::Gdsf => {
                let place = least(slots, |slot| slot.rank);
                self.floor = slots.get(place).map_or(self.floor, |slot| slot.rank.max(self.floor));
                place
            }
            _ => least(slots, |slot| value(policy, slot, recalls)),
        }
    }

    fn sieve(&mut self, slots: &mut [Slot]) -> usize {
        for _ in 0..2 * slots.len() {
            let ahead = |slot: &Slot| slot.learned >= self.hand;
            let oldest = |is_ahead: bool| {
                let of = |(_, slot): &(usize, &Slot)| !is_ahead || ahead(slot);
                slots.iter().enumerate().filter(of).min_by_key(|(_, slot)| slot.learned).map(|(place, _)| place)
            };
            let Some(place) = oldest(true).or_else(|| oldest(false)) else { return 0 };
            let Some(slot) = slots.get_mut(place) else { return 0 };
            self.hand = slot.learned + 1;
            if slot.visits == 0 {
                return place;
            }
            slot.visits = 0;
        }
        0
    }

    fn s3_fifo(&mut self, slots: &mut [Slot]) -> usize {
        loop {
            let n_small = slots.iter().filter(|slot| slot.is_small).count();
            let from_small = n_small >= (slots.len() / 10).max(1);
            let front = |is_small: Option<bool>| {
                let of = |(_, slot): &(usize, &Slot)| is_small.is_none_or(|is_small| slot.is_small == is_small);
                slots.iter().enumerate().filter(of).min_by(|a, b| a.1.rank.total_cmp(&b.1.rank)).map(|(place, _)| place)
            };
            let Some(place) = front(Some(from_small)).or_else(|| front(None)) else { return 0 };
            let position = self.next_position();
            let Some(slot) = slots.get_mut(place) else { return 0 };
            if slot.visits == 0 {
                return place;
            }
            slot.visits = if slot.is_small { 0 } else { slot.visits - 1 };
            (slot.is_small, slot.rank) = (false, position);
        }
    }
}

fn least(slots: &[Slot], value: impl Fn(&Slot) -> f64) -> usize {
    let least = slots.iter().enumerate().min_by(|a, b| value(a.1).total_cmp(&value(b.1)));
    least.map_or(0, |(place, _)| place)
}

fn value(policy: Policy, slot: &Slot, recalls: u64) -> f64 {
    match policy {
        Policy::Fifo => slot.learned as f64,
        Policy::Lru => slot.used as f64,
        // Of equal ones the older is evicted.
        Policy::Classic => utility::standard(&slot.counts) + slot.learned as f64 * 1e-12,
        Policy::Adage => {
            let (since_shown, since_learned) = (recalls - slot.shown_at_recall, recalls - slot.learned_at_recall);
            utility::aging(&Counts { since_shown, since_learned, ..slot.counts })
        }
        Policy::Clairvoyant => {
            // Of useless ones, the one whose topic comes next: a new text may be useful.
            let next = slot.next as f64;
            if slot.is_useful { -next } else { next - 1e25 }
        }
        Policy::Gdsf | Policy::Sieve | Policy::S3Fifo => slot.rank,
    }
}
