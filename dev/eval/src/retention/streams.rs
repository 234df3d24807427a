//! Streams of tasks: the topic of each task.

use crate::Random;

/// Topics at the beginning of a stream.
const N_TOPICS: usize = 2_000;

/// The order of topics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Drawn by Zipf's law from 2,000 topics, which never change.
    Still,
    /// Drawn by Zipf's law; every 1,000 tasks a fifth of the topics is replaced by new ones.
    Drift,
    /// Sessions of 40 tasks, three quarters of them from 12 topics of one of 60 projects.
    Bursts,
    /// Drawn by Zipf's law, except that half of the tasks have a topic that never comes again.
    OneOff,
}

impl Stream {
    /// All variants.
    pub const ALL: [Self; 4] = [Self::Still, Self::Drift, Self::Bursts, Self::OneOff];

    /// The name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Still => "still",
            Self::Drift => "drift",
            Self::Bursts => "bursts",
            Self::OneOff => "one-off",
        }
    }

    /// The topics of `n_tasks` tasks, numbered from 0.
    pub(crate) fn topics(self, n_tasks: usize, random: &mut Random) -> Vec<usize> {
        let zipf = Zipf::new(N_TOPICS);
        let mut topic_of_rank: Vec<usize> = random.sample(&(0..N_TOPICS).collect::<Vec<_>>(), N_TOPICS);
        let mut n_topics = N_TOPICS;
        let mut next = || {
            n_topics += 1;
            n_topics - 1
        };
        match self {
            Self::Still => (0..n_tasks).filter_map(|_| topic_of_rank.get(zipf.draw(random)).copied()).collect(),
            Self::OneOff => (0..n_tasks)
                .filter_map(|_| {
                    let again = topic_of_rank.get(zipf.draw(random)).copied();
                    if random.unit() < 0.5 { Some(next()) } else { again }
                })
                .collect(),
            Self::Drift => {
                let mut topics = Vec::with_capacity(n_tasks);
                for at in 0..n_tasks {
                    if at > 0 && at % 1_000 == 0 {
                        replace_a_fifth(&mut topic_of_rank, random, &mut next);
                    }
                    topics.extend(topic_of_rank.get(zipf.draw(random)));
                }
                topics
            }
            Self::Bursts => bursts(n_tasks, &zipf, random),
        }
    }
}

fn replace_a_fifth(topic_of_rank: &mut [usize], random: &mut Random, mut next: impl FnMut() -> usize) {
    for rank in random.sample(&(0..N_TOPICS).collect::<Vec<_>>(), N_TOPICS / 5) {
        if let Some(topic) = topic_of_rank.get_mut(rank) {
            *topic = next();
        }
    }
}

fn bursts(n_tasks: usize, zipf: &Zipf, random: &mut Random) -> Vec<usize> {
    let projects = Zipf::new(60);
    let set = |random: &mut Random| {
        let mut set = std::collections::BTreeSet::new();
        while set.len() < 60 {
            set.insert(zipf.draw(random));
        }
        set.into_iter().collect::<Vec<usize>>()
    };
    let sets: Vec<Vec<usize>> = (0..60).map(|_| set(random)).collect();
    let mut topics = Vec::with_capacity(n_tasks);
    while topics.len() < n_tasks {
        let project = projects.draw(random);
        let own = random.sample(sets.get(project).map(Vec::as_slice).unwrap_or_default(), 12);
        for _ in 0..40.min(n_tasks - topics.len()) {
            let is_own = random.unit() < 0.75;
            let of_project = own.get(random.below(own.len())).copied();
            topics.push(of_project.filter(|_| is_own).unwrap_or_else(|| zipf.draw(random)));
        }
    }
    topics
}

/// Zipf's law: rank `r`, counted from 0, has a probability in proportion to 1 / (r + 1).
struct Zipf {
    cumulative: Vec<f64>,
}

impl Zipf {
    fn new(n: usize) -> Self {
        let mut sum = 0.0;
        let mut cumulative: Vec<f64> = (1..=n)
            .map(|rank| {
                sum += 1.0 / rank as f64;
                sum
            })
            .collect();
        for value in &mut cumulative {
            *value /= sum;
        }
        Self { cumulative }
    }

    fn draw(&self, random: &mut Random) -> usize {
        let share = random.unit();
        self.cumulative.partition_point(|value| *value < share).min(self.cumulative.len().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn streams_of_12_000_tasks_have_the_documented_frequencies() {
        let count = |stream: Stream| {
            let topics = stream.topics(12_000, &mut Random(1));
            assert_eq!(topics.len(), 12_000);
            let mut n_of: BTreeMap<usize, usize> = BTreeMap::new();
            for topic in &topics {
                *n_of.entry(*topic).or_default() += 1;
            }
            let n_new = topics.iter().filter(|topic| **topic >= N_TOPICS).collect::<BTreeSet<_>>().len();
            (n_of.values().max().copied().unwrap(), n_new)
        };
        // The first rank has 1 in 8.18 of all tasks.
        let (largest, n_new) = count(Stream::Still);
        assert!((1_300..1_650).contains(&largest) && n_new == 0, "{largest}");
        assert!(count(Stream::Drift).1 > 400);
        assert!((5_700..6_300).contains(&count(Stream::OneOff).1));
        assert_eq!(count(Stream::Bursts).1, 0);
    }
}
