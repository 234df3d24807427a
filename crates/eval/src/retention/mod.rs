//! Which lessons to keep: a playbook of fixed size under a stream of tasks, against one that knows the future.
//!
//! Each task has a topic. If the playbook has the topic's lesson it is shown, and helps if it is useful: a quarter of all lessons
//! are. Otherwise the task fails and its lesson is learned, again if it is there. Feedback on a showing is clean, noisy, confounded
//! or mostly absent. A hit is a task at which a useful lesson was shown, after the first sixth of the stream; a policy's figure is
//! its hits as a share of the clairvoyant's. The lesson that is learned always stays, as in the playbook.

mod policies;
mod streams;

use std::collections::HashMap;

use adage::utility::Counts;
use serde::Serialize;

use crate::Random;
use crate::ranking::round;
pub use policies::Policy;
use policies::{Slot, State};
pub use streams::Stream;

/// What becomes known of a showing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcomes {
    /// Every outcome, and it is right.
    Clean,
    /// Every outcome; a useful lesson seems to help in 70%, a useless one in 15%.
    Noisy,
    /// As noisy, and three in ten topics succeed in 60% whatever is shown.
    Confounded,
    /// One outcome in four.
    Sparse,
}

impl Outcomes {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Clean, Self::Noisy, Self::Confounded, Self::Sparse];

    /// In a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Noisy => "noisy",
            Self::Confounded => "confounded",
            Self::Sparse => "a quarter observed",
        }
    }

    /// The probability that a showing seems to have helped: of a useful lesson, of a useless one; and the share that is observed.
    fn rates(self) -> [f64; 3] {
        match self {
            Self::Clean => [1.0, 0.0, 1.0],
            Self::Noisy => [0.7, 0.15, 1.0],
            Self::Confounded => [0.7, 0.1, 1.0],
            Self::Sparse => [0.8, 0.1, 0.25],
        }
    }
}

/// Share of lessons that are useful.
const USEFUL: f64 = 0.25;
/// Share of topics whose tasks succeed anyway, where outcomes are confounded, and how often.
const EASY: (f64, f64) = (0.3, 0.6);
/// Evicted lessons whose counts are remembered, as a multiple of the capacity: as the playbook has it.
const REMEMBERED: usize = 8;

/// Whether a topic's lesson is the same each time it is learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wording {
    /// The same text: useful each time or never, and recognised when it comes back.
    Same,
    /// Another text each time, which is useful or not by itself.
    New,
}

impl Wording {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Same, Self::New];

    /// In a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::New => "new",
        }
    }
}

/// What is simulated.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Lessons that the playbook holds.
    pub capacity: usize,
    /// How topics follow each other.
    pub stream: Stream,
    /// What becomes known.
    pub outcomes: Outcomes,
    /// Whether a lesson comes back as it was.
    pub wording: Wording,
}

impl Setting {
    /// Capacities of 20, 50 and 200, each with every stream, all feedback and both wordings.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let settings = [20, 50, 200].into_iter().flat_map(|capacity| Stream::ALL.map(|stream| (capacity, stream)));
        let settings = settings.flat_map(|(capacity, stream)| Outcomes::ALL.map(|known| (capacity, stream, known)));
        let setting =
            |(capacity, stream, outcomes)| Wording::ALL.map(|wording| Self { capacity, stream, outcomes, wording });
        settings.flat_map(setting).collect()
    }
}

/// A policy's figure in a setting.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct RetentionRow {
    /// The policy.
    pub policy: &'static str,
    /// Lessons that the playbook holds.
    pub capacity: usize,
    /// How topics follow each other.
    pub stream: &'static str,
    /// What becomes known.
    pub outcomes: &'static str,
    /// Whether a lesson comes back as it was.
    pub wording: &'static str,
    /// Hits as a share of the clairvoyant's: the mean over the seeds.
    pub mean: f64,
    /// Half the width of its 95% interval (Student's t); 0 for one seed.
    pub half_width: f64,
}

/// Every policy in these settings, each with the same streams.
#[must_use]
pub fn simulate(settings: &[Setting], seeds: &[u64], n_tasks: usize, step: &mut dyn FnMut()) -> Vec<RetentionRow> {
    let mut rows = Vec::new();
    for setting in settings {
        let mut shares: Vec<Vec<f64>> = vec![Vec::new(); Policy::ALL.len()];
        for seed in seeds {
            let world = World::new(*setting, *seed, n_tasks);
            let best = world.run(Policy::Clairvoyant, *seed).max(1) as f64;
            for (policy, shares) in Policy::ALL.iter().zip(&mut shares) {
                shares.push(world.run(*policy, *seed) as f64 / best);
            }
            step();
        }
        rows.extend(Policy::ALL.iter().zip(&shares).map(|(policy, shares)| row(*policy, *setting, shares)));
    }
    rows
}

fn row(policy: Policy, setting: Setting, shares: &[f64]) -> RetentionRow {
    let n = shares.len().max(1) as f64;
    let mean = shares.iter().sum::<f64>() / n;
    let variance = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    RetentionRow {
        policy: policy.name(),
        capacity: setting.capacity,
        stream: setting.stream.name(),
        outcomes: setting.outcomes.name(),
        wording: setting.wording.name(),
        mean: round(mean),
        half_width: round(student(shares.len()) * (variance / n).sqrt()),
    }
}

/// The 97.5% point of Student's t for so many values.
fn student(n: usize) -> f64 {
    const POINTS: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    let freedom = n.saturating_sub(1);
    if freedom == 0 { 0.0 } else { POINTS.get(freedom - 1).copied().unwrap_or(2.1) }
}

/// A stream, and what is true of its topics.
struct World {
    setting: Setting,
    topics: Vec<usize>,
    /// The task at which the topic of a task comes next.
    next: Vec<usize>,
    is_useful: Vec<bool>,
    /// Whether a text that is written at a task would be useful.
    draws: Vec<bool>,
    is_easy: Vec<bool>,
    confidence: Vec<f64>,
}

impl World {
    fn new(setting: Setting, seed: u64, n_tasks: usize) -> Self {
        let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let topics = setting.stream.topics(n_tasks, &mut random);
        let mut next = vec![usize::MAX; n_tasks];
        let mut later: HashMap<usize, usize> = HashMap::new();
        for (at, (topic, next)) in topics.iter().zip(&mut next).enumerate().rev() {
            *next = later.insert(*topic, at).unwrap_or(usize::MAX);
        }
        let n_topics = topics.iter().max().map_or(0, |topic| topic + 1);
        let is_useful = (0..n_topics).map(|_| random.share() < USEFUL).collect();
        let easy = if setting.outcomes == Outcomes::Confounded { EASY.0 } else { 0.0 };
        let is_easy = (0..n_topics).map(|_| random.share() < easy).collect();
        let confidence = (0..n_topics).map(|_| 0.5 + 0.1 * random.below(5) as f64).collect();
        let draws = topics.iter().map(|_| random.share() < USEFUL).collect();
        Self { setting, topics, next, is_useful, draws, is_easy, confidence }
    }

    /// Hits under a policy.
    fn run(&self, policy: Policy, seed: u64) -> usize {
        let mut random = Random(seed.wrapping_add(77));
        let (mut slots, mut place_of): (Vec<Slot>, HashMap<usize, usize>) = (Vec::new(), HashMap::new());
        let (mut state, mut ghosts, mut hits) = (State::default(), Ghosts::default(), 0);
        let (first, mut recalls) = (self.topics.len() / 6, 0);
        for (now, (topic, next)) in self.topics.iter().zip(&self.next).enumerate() {
            if let Some(slot) = place_of.get(topic).and_then(|place| slots.get_mut(*place)) {
                hits += usize::from(slot.is_useful && now >= first);
                recalls += 1;
                slot.shown_at_recall = recalls;
                self.show(slot, now, *next, &mut random);
                if policy == Policy::Gdsf {
                    slot.rank = state.gdsf(&slot.counts);
                }
                continue;
            }
            let mut slot = self.learned(*topic, now, *next);
            if self.setting.wording == Wording::New {
                slot.is_useful = self.draws.get(now).copied().unwrap_or_default();
            }
            (slot.learned_at_recall, slot.shown_at_recall) = (recalls, recalls);
            ghosts.recall(policy, &mut slot, self.setting, now);
            slot.rank = if policy == Policy::Gdsf { state.gdsf(&slot.counts) } else { state.behind() };
            let place = if slots.len() < self.setting.capacity {
                slots.push(slot);
                slots.len() - 1
            } else {
                let place = state.victim(policy, &mut slots, recalls);
                if let Some(victim) = slots.get_mut(place) {
                    place_of.remove(&victim.topic);
                    ghosts.remember(victim, now, self.setting.capacity);
                    *victim = slot;
                }
                place
            };
            place_of.insert(*topic, place);
        }
        hits
    }

    fn learned(&self, topic: usize, now: usize, next: usize) -> Slot {
        let confidence = self.confidence.get(topic).copied().unwrap_or(0.5);
        Slot {
            topic,
            is_useful: self.is_useful.get(topic).copied().unwrap_or_default(),
            counts: Counts { confidence, ..Counts::default() },
            learned_at_recall: 0,
            shown_at_recall: 0,
            learned: now,
            used: now,
            next,
            visits: 0,
            is_small: true,
            rank: 0.0,
        }
    }

    /// A lesson is shown; if it does not help, it is learned again.
    fn show(&self, slot: &mut Slot, now: usize, next: usize, random: &mut Random) {
        let [useful, useless, observed] = self.setting.outcomes.rates();
        let is_easy = self.is_easy.get(slot.topic).copied().unwrap_or_default();
        let rate = if slot.is_useful { useful } else { useless };
        let rate = if is_easy && !slot.is_useful { EASY.1 } else { rate };
        slot.counts.retrievals += 1;
        (slot.used, slot.next, slot.visits) = (now, next, (slot.visits + 1).min(3));
        if random.share() < observed {
            if random.share() < rate {
                slot.counts.helpful += 1;
                slot.counts.confidence = (slot.counts.confidence + 0.05).min(1.0);
            } else {
                slot.counts.harmful += 1;
            }
        }
        slot.counts.frequency += u64::from(!slot.is_useful);
    }
}

/// What evicted lessons had earned, the latest last.
#[derive(Default)]
struct Ghosts {
    counts: HashMap<usize, (Counts, u64, usize)>,
    order: std::collections::VecDeque<(usize, usize)>,
}

impl Ghosts {
    fn remember(&mut self, slot: &Slot, now: usize, capacity: usize) {
        self.counts.insert(slot.topic, (slot.counts, slot.learned_at_recall, now));
        self.order.push_back((slot.topic, now));
        while self.order.len() > capacity * REMEMBERED {
            let Some((topic, at)) = self.order.pop_front() else { break };
            if self.counts.get(&topic).is_some_and(|ghost| ghost.2 == at) {
                self.counts.remove(&topic);
            }
        }
    }

    fn recall(&mut self, policy: Policy, slot: &mut Slot, Setting { capacity, wording, .. }: Setting, now: usize) {
        if policy.remembers()
            && wording == Wording::Same
            && let Some((counts, learned, _)) = self.counts.remove(&slot.topic)
        {
            let Counts { retrievals, helpful, harmful, .. } = counts;
            slot.counts = Counts { retrievals, helpful, harmful, ..slot.counts };
            slot.learned_at_recall = learned;
        }
        if policy == Policy::S3Fifo
            && let Some((_, _, evicted)) = self.counts.remove(&slot.topic)
        {
            slot.is_small = now - evicted >= capacity * 4;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clairvoyant_is_best_and_the_default_beats_the_classic_formula() {
        let setting = |outcomes| Setting { capacity: 20, stream: Stream::Drift, outcomes, wording: Wording::Same };
        let rows = simulate(&[setting(Outcomes::Clean), setting(Outcomes::Noisy)], &[1, 2], 4_000, &mut || {});
        assert_eq!(rows.len(), 16);
        for row in &rows {
            assert!(row.mean <= 1.0 && row.mean > 0.0, "{row:?}");
        }
        let of = |name: &str| rows.iter().filter(|row| row.policy == name).map(|row| row.mean).sum::<f64>();
        assert!((of("clairvoyant") - 2.0).abs() < 1e-9);
        assert!(of("adage") > of("classic") && of("adage") > of("LRU"), "{rows:#?}");
    }

    #[test]
    fn the_same_seed_gives_the_same_figures() {
        let setting =
            Setting { capacity: 5, stream: Stream::Bursts, outcomes: Outcomes::Sparse, wording: Wording::New };
        let run = || simulate(&[setting], &[9], 1_000, &mut || {}).iter().map(|row| row.mean).collect::<Vec<_>>();
        assert_eq!(run(), run());
    }
}
