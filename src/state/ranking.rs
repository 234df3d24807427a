//! The lessons of each realm by utility, kept in order from state to state (docs/spec/playbook.md, 3.6, 4).
//!
//! The stored order depends on the lesson alone: its rank changes only when the lesson does. Utilities that age with recalls
//! change by themselves. Under that policy all lessons of a kind have the same utility here, and a trim computes the actual
//! values.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::utility::{self, Counts};
use crate::config::UtilityPolicy;
use crate::lesson::{Backing, Lesson, LessonId, Realm};

/// All realms. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Ranking {
    policy: UtilityPolicy,
    realms: Arc<BTreeMap<Realm, Ranks>>,
}

/// The lessons of a realm, in the order in which they are evicted.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ranks {
    by_hand: BTreeSet<Rank>,
    checked: BTreeSet<Rank>,
    /// The lessons without backing.
    others: BTreeSet<Rank>,
}

/// Unverified before verified, then lower utility first, then earlier id first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rank {
    pub(crate) verified: bool,
    utility: f64,
    pub(crate) id: LessonId,
    uses: Uses,
}

/// The inputs of a utility that ages with recalls. They do not affect the order.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Uses {
    retrievals: u64,
    helpful: u64,
    harmful: u64,
    learned_at_recall: u64,
    shown_at_recall: u64,
}

impl Rank {
    /// Its utility after this many recalls of its realm, under [`UtilityPolicy::Aging`].
    pub(crate) fn aged(&self, recalls: u64) -> f64 {
        let Uses { retrievals, helpful, harmful, learned_at_recall, shown_at_recall } = self.uses;
        let since_learned = recalls.saturating_sub(learned_at_recall);
        let since_shown = recalls.saturating_sub(shown_at_recall);
        utility::aging(&Counts { retrievals, helpful, harmful, since_learned, since_shown, ..Counts::default() })
    }
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

    /// The ranking of this realm alone.
    pub(crate) fn of_realm(&self, realm: &Realm) -> Self {
        let ranks = self.of(realm).map(|ranks| (realm.clone(), ranks.clone()));
        Self { policy: self.policy, realms: Arc::new(ranks.into_iter().collect()) }
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
        let utility = if self.ages() { 0.0 } else { utility::under(self.policy, lesson, 0) };
        let uses = Uses {
            retrievals: lesson.retrievals,
            helpful: lesson.helpful_retrievals,
            harmful: lesson.harmful_retrievals,
            learned_at_recall: lesson.learned_at_recall,
            shown_at_recall: lesson.shown_at_recall,
        };
        Rank { verified: lesson.verified, utility, id: lesson.id, uses }
    }

    /// Whether the order has to be computed on demand.
    pub(crate) fn ages(&self) -> bool {
        matches!(self.policy, UtilityPolicy::Aging)
    }

    /// The realms, and the inputs of each lesson's utility.
    #[cfg(test)]
    pub(crate) fn contents(&self) -> (&BTreeMap<Realm, Ranks>, Vec<String>) {
        let ranks = self.realms.values().flat_map(|ranks| ranks.in_any_order(Backing::ByHand));
        (&self.realms, ranks.map(|(_, rank)| format!("{rank:?}")).collect())
    }
}

impl Ranks {
    pub(crate) fn len(&self) -> usize {
        self.by_hand.len() + self.checked.len() + self.others.len()
    }

    pub(crate) fn has(&self, rank: &Rank, lesson: &Lesson) -> bool {
        self.with(lesson.backing()).contains(rank)
    }

    /// Lessons with at most this backing, each with its own.
    pub(crate) fn in_any_order(&self, backing: Backing) -> impl Iterator<Item = (Backing, &Rank)> {
        Self::kinds(backing).flat_map(move |kind| self.with(kind).iter().map(move |rank| (kind, rank)))
    }

    fn kinds(backing: Backing) -> impl Iterator<Item = Backing> {
        [Backing::Nobody, Backing::Checked, Backing::ByHand].into_iter().filter(move |kind| *kind <= backing)
    }

    /// Lessons with at most this backing, in the order in which they are evicted: what a person wrote last.
    pub(crate) fn up_to(&self, backing: Backing) -> impl Iterator<Item = &Rank> {
        let automatic = Self::kinds(backing.min(Backing::Checked));
        let mut sorted: Vec<_> = automatic.map(|kind| self.with(kind).iter().peekable()).collect();
        let by_hand = (backing == Backing::ByHand).then(|| self.by_hand.iter());
        let automatic = std::iter::from_fn(move || {
            let least =
                sorted.iter_mut().filter_map(|ranks| Some((*ranks.peek()?, ranks))).min_by_key(|(rank, _)| *rank);
            least.and_then(|(_, ranks)| ranks.next())
        });
        automatic.chain(by_hand.into_iter().flatten())
    }

    fn with(&self, backing: Backing) -> &BTreeSet<Rank> {
        match backing {
            Backing::Nobody => &self.others,
            Backing::Checked => &self.checked,
            Backing::ByHand => &self.by_hand,
        }
    }

    fn side(&mut self, lesson: &Lesson) -> &mut BTreeSet<Rank> {
        match lesson.backing() {
            Backing::Nobody => &mut self.others,
            Backing::Checked => &mut self.checked,
            Backing::ByHand => &mut self.by_hand,
        }
    }
}
