//! The lessons of each realm by utility, kept in order from state to state (docs/spec/playbook.md, 3.6, 4).
//!
//! A utility depends on the lesson alone, never on the time: a lesson's rank changes only when the lesson does.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::utility;
use crate::config::UtilityPolicy;
use crate::lesson::{Lesson, LessonId, Realm};
use crate::sorted_blocks::SortedBlocks;

/// All realms. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Ranking {
    policy: UtilityPolicy,
    realms: Arc<BTreeMap<Realm, Ranks>>,
}

/// The lessons of a realm, in the order in which they are evicted.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ranks {
    /// Written by hand, verified or promoted.
    trusted: SortedBlocks<Rank>,
    /// The others: for an automatic lesson only these make room.
    expendable: SortedBlocks<Rank>,
}

/// Unverified before verified, then lower utility first, then earlier id first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rank {
    verified: bool,
    utility: f64,
    pub(crate) id: LessonId,
}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_worth = self.verified.cmp(&other.verified).then(self.utility.total_cmp(&other.utility));
        by_worth.then(self.id.cmp(&other.id))
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Rank {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Rank {}

impl Ranking {
    pub(crate) fn new(policy: UtilityPolicy) -> Self {
        Self { policy, realms: Arc::default() }
    }

    pub(crate) fn of(&self, realm: &Realm) -> Option<&Ranks> {
        self.realms.get(realm)
    }

    pub(crate) fn enter(&mut self, lesson: &Lesson) {
        let rank = self.rank(lesson);
        let ranks = Arc::make_mut(&mut self.realms).entry(lesson.realm.clone()).or_default();
        ranks.side(lesson).insert(rank);
    }

    pub(crate) fn leave(&mut self, lesson: &Lesson) {
        let rank = self.rank(lesson);
        let realms = Arc::make_mut(&mut self.realms);
        let Some(ranks) = realms.get_mut(&lesson.realm) else { return };
        let rows = ranks.side(lesson);
        if !rows.remove(&rank) {
            // The host's policy returned another utility for the same lesson before.
            let stale = rows.iter().find(|other| other.id == lesson.id).copied();
            stale.map(|stale| rows.remove(&stale));
        }
        if ranks.len() == 0 {
            realms.remove(&lesson.realm);
        }
    }

    pub(crate) fn rank(&self, lesson: &Lesson) -> Rank {
        Rank { verified: lesson.verified, utility: utility::under(self.policy, lesson), id: lesson.id }
    }

    #[cfg(test)]
    pub(crate) fn realms(&self) -> &BTreeMap<Realm, Ranks> {
        &self.realms
    }
}

impl Ranks {
    pub(crate) fn len(&self) -> usize {
        self.trusted.len() + self.expendable.len()
    }

    pub(crate) fn has(&self, rank: &Rank, lesson: &Lesson) -> bool {
        let side = if lesson.is_expendable() { &self.expendable } else { &self.trusted };
        side.find(|other| other.cmp(rank)).is_some()
    }

    /// Only automatic, unverified, unpromoted ones, least useful first.
    pub(crate) fn expendable(&self) -> impl Iterator<Item = &Rank> {
        self.expendable.iter()
    }

    /// All, least useful first.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Rank> {
        let (mut ours, mut theirs) = (self.trusted.iter().peekable(), self.expendable.iter().peekable());
        std::iter::from_fn(move || match (ours.peek(), theirs.peek()) {
            (Some(one), Some(other)) if other < one => theirs.next(),
            (Some(_), _) => ours.next(),
            (None, _) => theirs.next(),
        })
    }

    fn side(&mut self, lesson: &Lesson) -> &mut SortedBlocks<Rank> {
        if lesson.is_expendable() { &mut self.expendable } else { &mut self.trusted }
    }
}
