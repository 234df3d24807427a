//! Matching by vectors: skills whose vectors are near the query's.

use std::collections::BTreeMap;

use adage_index::UnitVector;

use super::{MatchTier, MatchedBy, Matches, NoMatch, SkillIndex, SkillMatch};
use crate::config::MatchConfig;
use crate::skill::SkillName;

/// The skills whose vectors are near enough to the query's, nearest first, ties by name. The vectors are those of
/// [`SkillIndex::texts`]. A skill without a vector, or with one of another dimension, is skipped.
#[must_use]
pub fn match_skills_by_meaning(
    query: &UnitVector,
    index: &SkillIndex,
    vectors: &BTreeMap<SkillName, UnitVector>,
    config: &MatchConfig,
) -> Matches {
    if let Some(reason) = super::nothing_to_match(index, config) {
        return Matches::none(MatchTier::Meaning, reason);
    }
    let mut near: Vec<(f32, &SkillName)> =
        index.texts().filter_map(|(name, _)| Some((cosine(query, vectors.get(name)?)?, name))).collect();
    near.sort_by(|(one, first), (other, second)| other.total_cmp(one).then_with(|| first.cmp(second)));
    let best = near.first().map(|(cosine, _)| *cosine);
    near.retain(|(cosine, _)| *cosine >= config.cosine_floor);
    near.truncate(config.max_slots);
    if near.is_empty() {
        return Matches::none(MatchTier::Meaning, NoMatch::NothingNear { best, floor: config.cosine_floor });
    }
    let matches =
        near.into_iter().map(|(cosine, name)| SkillMatch { name: name.clone(), by: MatchedBy::Meaning { cosine } });
    Matches { tier: MatchTier::Meaning, matches: matches.collect(), none_because: None, fallback: None }
}

fn cosine(one: &UnitVector, other: &UnitVector) -> Option<f32> {
    let (one, other) = (one.as_slice(), other.as_slice());
    (one.len() == other.len()).then(|| one.iter().zip(other).map(|(a, b)| a * b).sum())
}
