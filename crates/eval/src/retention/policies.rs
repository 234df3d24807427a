//! Which lesson a full playbook gives up, by several rules.

use adage::utility::{self, Counts};

/// A lesson in the simulated playbook.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) topic: usize,
    pub(crate) is_useful: bool,
    pub(crate) counts: Counts,
    /// Showings in the whole playbook before it was first learned, and before it was last shown or learned.
    pub(crate) learned_at_recall: u64,
    pub(crate) shown_at_recall: u64,
    /// The task at which it was learned, last used, and at which its topic comes next.
    pub(crate) learned: usize,
    pub(crate) used: usize,
    pub(crate) next: usize,
    /// Marks of SIEVE and S3-FIFO.
    pub(crate) visits: u32,
    pub(crate) is_small: bool,
    /// The place in the queue of S3-FIFO; the priority of GDSF.
    pub(crate) rank: f64,
}

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The oldest goes.
    Fifo,
    /// The one that was not used for longest goes.
    Lru,
    /// Greedy-Dual-Size-Frequency (Cherkasova, 1998): uses times the rate of success, with a floor that rises with each eviction.
    Gdsf,
    /// SIEVE (Zhang et al., NSDI 2024): a hand walks from old to new and takes the first that was not used since it passed.
    Sieve,
    /// S3-FIFO (Yang et al., SOSP 2023): a small queue for what is new, a main one for what was used, ghosts.
    S3Fifo,
    /// The earlier system's formula, [`utility::standard`].
    Classic,
    /// The default, [`utility::aging`].
    Adage,
    /// The one whose next useful showing is farthest away: it knows the future and what is useful.
    Clairvoyant,
}

impl Policy {
    /// All of them.
    pub const ALL: [Self; 8] =
        [Self::Fifo, Self::Lru, Self::Gdsf, Self::Sieve, Self::S3Fifo, Self::Classic, Self::Adage, Self::Clairvoyant];

    /// In a word.
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

    /// Whether what a lesson had earned comes back with it.
    pub(crate) fn remembers(self) -> bool {
        self == Self::Adage
    }
}

/// What a policy keeps beside the lessons.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// GDSF's floor.
    floor: f64,
    /// SIEVE's hand: the time of learning that it has reached.
    hand: usize,
    /// The number of the next place in the queues of S3-FIFO.
    turn: f64,
}

impl State {
    /// A place behind all others.
    pub(crate) fn behind(&mut self) -> f64 {
        self.turn += 1.0;
        self.turn
    }

    pub(crate) fn gdsf(&self, counts: &Counts) -> f64 {
        let uses = (counts.retrievals + counts.frequency) as f64;
        let judged = (counts.helpful + counts.harmful) as f64;
        self.floor + uses * (counts.helpful as f64 + 0.5) / (judged + 1.5)
    }

    /// The place of the lesson that goes.
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
            let turn = self.behind();
            let Some(slot) = slots.get_mut(place) else { return 0 };
            if slot.visits == 0 {
                return place;
            }
            slot.visits = if slot.is_small { 0 } else { slot.visits - 1 };
            (slot.is_small, slot.rank) = (false, turn);
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
        // Of equal ones the older goes.
        Policy::Classic => utility::standard(&slot.counts) + slot.learned as f64 * 1e-12,
        Policy::Adage => {
            let (since_shown, since_learned) = (recalls - slot.shown_at_recall, recalls - slot.learned_at_recall);
            utility::aging(&Counts { since_shown, since_learned, ..slot.counts })
        }
        Policy::Clairvoyant => {
            // Useless ones first, and of these the one whose topic comes next: another text may be useful.
            let next = slot.next as f64;
            if slot.is_useful { -next } else { next - 1e25 }
        }
        Policy::Gdsf | Policy::Sieve | Policy::S3Fifo => slot.rank,
    }
}
