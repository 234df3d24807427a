//! Simulates eviction policies: a playbook of fixed capacity under a stream of tasks, compared with a policy that knows the future.
//!
//! Each task has a topic. If the playbook has the lesson of the topic, it is shown, and feedback on it may follow. Otherwise the
//! lesson is learned and always stays, as in the playbook; if the playbook is full, the policy evicts another one. A quarter of all
//! lessons are useful. A *hit* is a task for which a useful lesson was shown, not counting the first sixth of the stream. The result
//! of a policy is its hits as a share of those of [`Policy::Clairvoyant`].

mod policies;
mod streams;

use std::collections::{HashMap, VecDeque};

use adage::utility::Counts;
use serde::Serialize;

use crate::Random;
use crate::metrics::round;
pub use policies::Policy;
use policies::{Slot, State};
pub use streams::Stream;

/// How feedback depends on whether a lesson that was shown is useful.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedbackModel {
    /// Feedback on every lesson shown, and always correct.
    Clean,
    /// Feedback on every lesson shown; a useful one is reported as helpful in 70% of cases, a useless one in 15%.
    Noisy,
    /// A useful lesson is reported as helpful in 70% of cases, a useless one in 10%, or in 60% if its topic is one of the 30% that
    /// are easy.
    Confounded,
    /// Feedback on one lesson in four; a useful one is reported as helpful in 80% of cases, a useless one in 10%.
    Sparse,
}

impl FeedbackModel {
    /// All variants.
    pub const ALL: [Self; 4] = [Self::Clean, Self::Noisy, Self::Confounded, Self::Sparse];

    /// The name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Noisy => "noisy",
            Self::Confounded => "confounded",
            Self::Sparse => "a quarter observed",
        }
    }

    fn rates(self) -> FeedbackRates {
        let [if_useful, if_useless, observed] = match self {
            Self::Clean => [1.0, 0.0, 1.0],
            Self::Noisy => [0.7, 0.15, 1.0],
            Self::Confounded => [0.7, 0.1, 1.0],
            Self::Sparse => [0.8, 0.1, 0.25],
        };
        FeedbackRates { if_useful, if_useless, observed }
    }
}

/// Probabilities of feedback.
struct FeedbackRates {
    /// That a useful lesson is reported as helpful.
    if_useful: f64,
    /// That a useless one is.
    if_useless: f64,
    /// That there is any feedback.
    observed: f64,
}

/// Share of lessons that are useful.
const USEFUL_SHARE: f64 = 0.25;
/// Share of topics that are easy, where feedback is confounded.
const EASY_SHARE: f64 = 0.3;
/// Probability that a useless lesson for an easy topic is reported as helpful.
const EASY_RATE: f64 = 0.6;
/// The counts of this many evicted lessons are kept, as a multiple of the capacity: as in the playbook.
const EVICTED_PER_CAPACITY: usize = 8;

/// Whether the lesson of a topic has the same text each time it is learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wording {
    /// The same text: always useful or never, and recognised when it is learned again.
    Same,
    /// Another text each time, useful or not independently of the others.
    New,
}

impl Wording {
    /// All variants.
    pub const ALL: [Self; 2] = [Self::Same, Self::New];

    /// The name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::New => "new",
        }
    }
}

/// The parameters of a simulation.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// Lessons that fit into the playbook.
    pub capacity: usize,
    /// The order of topics.
    pub stream: Stream,
    /// The feedback.
    pub feedback: FeedbackModel,
    /// Whether lessons come back with the same text.
    pub wording: Wording,
}

impl Scenario {
    /// Capacities of 20, 50 and 200, each with every stream, feedback model and wording.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let settings = [20, 50, 200].into_iter().flat_map(|capacity| Stream::ALL.map(|stream| (capacity, stream)));
        let settings =
            settings.flat_map(|(capacity, stream)| FeedbackModel::ALL.map(|feedback| (capacity, stream, feedback)));
        let setting =
            |(capacity, stream, feedback)| Wording::ALL.map(|wording| Self { capacity, stream, feedback, wording });
        settings.flat_map(setting).collect()
    }
}

/// The result of a policy in a scenario.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct RetentionRow {
    /// [`Policy::name`].
    pub policy: &'static str,
    /// Lessons that fit into the playbook.
    pub capacity: usize,
    /// [`Stream::name`].
    pub stream: &'static str,
    /// [`FeedbackModel::name`].
    pub outcomes: &'static str,
    /// [`Wording::name`].
    pub wording: &'static str,
    /// Hits as a share of the clairvoyant's, the mean over the seeds.
    pub mean: f64,
    /// Half the width of its 95% interval (Student's t); 0 for one seed.
    pub half_width: f64,
}

/// Simulates every policy in every scenario, on one stream per seed, which all policies share.
#[must_use]
pub fn simulate(scenarios: &[Scenario], seeds: &[u64], n_tasks: usize) -> Vec<RetentionRow> {
    let mut rows = Vec::new();
    for scenario in scenarios {
        let mut shares: Vec<Vec<f64>> = vec![Vec::new(); Policy::ALL.len()];
        for seed in seeds {
            let simulation = Simulation::new(*scenario, *seed, n_tasks);
            let best = simulation.run(Policy::Clairvoyant, *seed).max(1) as f64;
            for (policy, shares) in Policy::ALL.iter().zip(&mut shares) {
                shares.push(simulation.run(*policy, *seed) as f64 / best);
            }
        }
        rows.extend(Policy::ALL.iter().zip(&shares).map(|(policy, shares)| row(*policy, *scenario, shares)));
    }
    rows
}

fn row(policy: Policy, scenario: Scenario, shares: &[f64]) -> RetentionRow {
    let n = shares.len().max(1) as f64;
    let mean = shares.iter().sum::<f64>() / n;
    let variance = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    RetentionRow {
        policy: policy.name(),
        capacity: scenario.capacity,
        stream: scenario.stream.name(),
        outcomes: scenario.feedback.name(),
        wording: scenario.wording.name(),
        mean: round(mean),
        half_width: round(student_t(shares.len()) * (variance / n).sqrt()),
    }
}

/// The 97.5th percentile of Student's t for `n` values; 0 for fewer than two.
fn student_t(n: usize) -> f64 {
    const POINTS: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    let freedom = n.saturating_sub(1);
    if freedom == 0 { 0.0 } else { POINTS.get(freedom - 1).copied().unwrap_or(2.1) }
}

/// A stream of tasks, and the properties of its topics.
struct Simulation {
    scenario: Scenario,
    topics: Vec<usize>,
    /// For each task, the next task with the same topic.
    next: Vec<usize>,
    is_useful: Vec<bool>,
    /// For each task, whether a lesson with a new text would be useful.
    is_new_text_useful: Vec<bool>,
    is_easy: Vec<bool>,
    confidence: Vec<f64>,
}

impl Simulation {
    fn new(scenario: Scenario, seed: u64, n_tasks: usize) -> Self {
        let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let topics = scenario.stream.topics(n_tasks, &mut random);
        let mut next = vec![usize::MAX; n_tasks];
        let mut later: HashMap<usize, usize> = HashMap::new();
        for (at, (topic, next)) in topics.iter().zip(&mut next).enumerate().rev() {
            *next = later.insert(*topic, at).unwrap_or(usize::MAX);
        }
        let n_topics = topics.iter().max().map_or(0, |topic| topic + 1);
        let is_useful = (0..n_topics).map(|_| random.unit() < USEFUL_SHARE).collect();
        let easy_share = if scenario.feedback == FeedbackModel::Confounded { EASY_SHARE } else { 0.0 };
        let is_easy = (0..n_topics).map(|_| random.unit() < easy_share).collect();
        let confidence = (0..n_topics).map(|_| 0.5 + 0.1 * random.below(5) as f64).collect();
        let is_new_text_useful = topics.iter().map(|_| random.unit() < USEFUL_SHARE).collect();
        Self { scenario, topics, next, is_useful, is_new_text_useful, is_easy, confidence }
    }

    /// The hits of a policy.
    fn run(&self, policy: Policy, seed: u64) -> usize {
        let mut random = Random(seed.wrapping_add(77));
        let (mut slots, mut place_of): (Vec<Slot>, HashMap<usize, usize>) = (Vec::new(), HashMap::new());
        let (mut state, mut evicted, mut hits) = (State::default(), EvictedCounts::default(), 0);
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
            if self.scenario.wording == Wording::New {
                slot.is_useful = self.is_new_text_useful.get(now).copied().unwrap_or_default();
            }
            (slot.learned_at_recall, slot.shown_at_recall) = (recalls, recalls);
            evicted.restore(policy, &mut slot, self.scenario, now);
            slot.rank = if policy == Policy::Gdsf { state.gdsf(&slot.counts) } else { state.next_position() };
            let place = if slots.len() < self.scenario.capacity {
                slots.push(slot);
                slots.len() - 1
            } else {
                let place = state.victim(policy, &mut slots, recalls);
                if let Some(victim) = slots.get_mut(place) {
                    place_of.remove(&victim.topic);
                    evicted.record(victim, now, self.scenario.capacity);
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

    /// Shows a lesson and records the feedback; a useless one is learned again, which merges.
    fn show(&self, slot: &mut Slot, now: usize, next: usize, random: &mut Random) {
        let FeedbackRates { if_useful, if_useless, observed } = self.scenario.feedback.rates();
        let is_easy = self.is_easy.get(slot.topic).copied().unwrap_or_default();
        let rate = match (slot.is_useful, is_easy) {
            (true, _) => if_useful,
            (false, true) => EASY_RATE,
            (false, false) => if_useless,
        };
        slot.counts.retrievals += 1;
        (slot.used, slot.next, slot.visits) = (now, next, (slot.visits + 1).min(3));
        if random.unit() < observed {
            if random.unit() < rate {
                slot.counts.helpful += 1;
                slot.counts.confidence = (slot.counts.confidence + 0.05).min(1.0);
            } else {
                slot.counts.harmful += 1;
            }
        }
        slot.counts.frequency += u64::from(!slot.is_useful);
    }
}

/// The counts of evicted lessons, by topic.
#[derive(Default)]
struct EvictedCounts {
    by_topic: HashMap<usize, Evicted>,
    /// Topics and the tasks at which their lessons were evicted, the latest last.
    order: VecDeque<(usize, usize)>,
}

struct Evicted {
    counts: Counts,
    learned_at_recall: u64,
    /// The task at which it was evicted.
    at: usize,
}

impl EvictedCounts {
    fn record(&mut self, slot: &Slot, now: usize, capacity: usize) {
        let evicted = Evicted { counts: slot.counts, learned_at_recall: slot.learned_at_recall, at: now };
        self.by_topic.insert(slot.topic, evicted);
        self.order.push_back((slot.topic, now));
        while self.order.len() > capacity * EVICTED_PER_CAPACITY {
            let Some((topic, at)) = self.order.pop_front() else { break };
            if self.by_topic.get(&topic).is_some_and(|evicted| evicted.at == at) {
                self.by_topic.remove(&topic);
            }
        }
    }

    fn restore(&mut self, policy: Policy, slot: &mut Slot, Scenario { capacity, wording, .. }: Scenario, now: usize) {
        if policy.restores_counts()
            && wording == Wording::Same
            && let Some(Evicted { counts, learned_at_recall, .. }) = self.by_topic.remove(&slot.topic)
        {
            let Counts { retrievals, helpful, harmful, .. } = counts;
            slot.counts = Counts { retrievals, helpful, harmful, ..slot.counts };
            slot.learned_at_recall = learned_at_recall;
        }
        if policy == Policy::S3Fifo
            && let Some(evicted) = self.by_topic.remove(&slot.topic)
        {
            slot.is_small = now - evicted.at >= capacity * 4;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simulate_under_drift_ranks_clairvoyant_first_and_adage_above_classic_and_lru() {
        let scenario = |feedback| Scenario { capacity: 20, stream: Stream::Drift, feedback, wording: Wording::Same };
        let rows = simulate(&[scenario(FeedbackModel::Clean), scenario(FeedbackModel::Noisy)], &[1, 2], 4_000);
        assert_eq!(rows.len(), 16);
        for row in &rows {
            assert!(row.mean <= 1.0 && row.mean > 0.0, "{row:?}");
        }
        let of = |name: &str| rows.iter().filter(|row| row.policy == name).map(|row| row.mean).sum::<f64>();
        assert!((of("clairvoyant") - 2.0).abs() < 1e-9);
        assert!(of("adage") > of("classic") && of("adage") > of("LRU"), "{rows:#?}");
    }

    #[test]
    fn simulate_with_the_same_seed_gives_the_same_results() {
        let scenario =
            Scenario { capacity: 5, stream: Stream::Bursts, feedback: FeedbackModel::Sparse, wording: Wording::New };
        let run = || simulate(&[scenario], &[9], 1_000).iter().map(|row| row.mean).collect::<Vec<_>>();
        assert_eq!(run(), run());
    }
}
