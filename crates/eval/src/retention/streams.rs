//! Streams of tasks: which topic each task has.

use crate::Random;

/// Topics of a stream, before those that come later.
const TOPICS: usize = 2_000;

/// How topics follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// By Zipf's law, always the same.
    Still,
    /// By Zipf's law; every 1,000 tasks a fifth of the topics makes room for new ones.
    Drift,
    /// Sessions of 40 tasks, three quarters of them from 12 topics of one of 60 projects.
    Bursts,
    /// Half of the tasks never come again.
    OneOff,
}

impl Stream {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Still, Self::Drift, Self::Bursts, Self::OneOff];

    /// In a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Still => "still",
            Self::Drift => "drift",
            Self::Bursts => "bursts",
            Self::OneOff => "one-off",
        }
    }

    /// The topics of so many tasks.
    pub(crate) fn topics(self, n_tasks: usize, random: &mut Random) -> Vec<usize> {
        let zipf = Zipf::new(TOPICS);
        let mut topic_of_rank: Vec<usize> = random.some(&(0..TOPICS).collect::<Vec<_>>(), TOPICS);
        let mut n_topics = TOPICS;
        let mut next = || {
            n_topics += 1;
            n_topics - 1
        };
        match self {
            Self::Still => (0..n_tasks).filter_map(|_| topic_of_rank.get(zipf.draw(random)).copied()).collect(),
            Self::OneOff => (0..n_tasks)
                .filter_map(|_| {
                    let again = topic_of_rank.get(zipf.draw(random)).copied();
                    if random.share() < 0.5 { Some(next()) } else { again }
                })
                .collect(),
            Self::Drift => {
                let mut topics = Vec::with_capacity(n_tasks);
                for at in 0..n_tasks {
                    if at > 0 && at % 1_000 == 0 {
                        for rank in random.some(&(0..TOPICS).collect::<Vec<_>>(), TOPICS / 5) {
                            if let Some(topic) = topic_of_rank.get_mut(rank) {
                                *topic = next();
                            }
                        }
                    }
                    topics.extend(topic_of_rank.get(zipf.draw(random)));
                }
                topics
            }
            Self::Bursts => bursts(n_tasks, &zipf, random),
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
        let own = random.some(sets.get(project).map(Vec::as_slice).unwrap_or_default(), 12);
        for _ in 0..40.min(n_tasks - topics.len()) {
            let is_own = random.share() < 0.75;
            let of_project = own.get(random.below(own.len())).copied();
            topics.push(of_project.filter(|_| is_own).unwrap_or_else(|| zipf.draw(random)));
        }
    }
    topics
}

/// Ranks with probabilities in proportion to 1, 1/2, 1/3, …
struct Zipf {
    cumulated: Vec<f64>,
}

impl Zipf {
    fn new(n: usize) -> Self {
        let mut sum = 0.0;
        let mut cumulated: Vec<f64> = (1..=n)
            .map(|rank| {
                sum += 1.0 / rank as f64;
                sum
            })
            .collect();
        for value in &mut cumulated {
            *value /= sum;
        }
        Self { cumulated }
    }

    fn draw(&self, random: &mut Random) -> usize {
        let share = random.share();
        self.cumulated.partition_point(|value| *value < share).min(self.cumulated.len().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn streams_have_the_shape_that_they_say() {
        let count = |stream: Stream| {
            let topics = stream.topics(12_000, &mut Random(1));
            assert_eq!(topics.len(), 12_000);
            let mut n_of: BTreeMap<usize, usize> = BTreeMap::new();
            for topic in &topics {
                *n_of.entry(*topic).or_default() += 1;
            }
            let n_new = topics.iter().filter(|topic| **topic >= TOPICS).collect::<BTreeSet<_>>().len();
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
