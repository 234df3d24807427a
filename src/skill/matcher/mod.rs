//! Matching of skills to a turn's text (docs/spec/skills.md, 2). A pure stage.
//!
//! By words, a skill's score is the sum of the points of each word of the query; each word counts once, for its strongest
//! reason ([`PointReason`]). A single topic or action is enough. By vectors, the score is the cosine of two vectors. The two
//! scores are never compared.

mod explain;
mod index;
mod render;
mod semantic;
mod synonyms;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use serde::Serialize;

use crate::config::MatchConfig;
use crate::skill::SkillName;
use index::{Asked, Posting};

pub use explain::{Point, PointReason};
pub use index::{IndexedSkill, SkillIndex};
pub use render::{LeftOutSkill, RenderedSkills, render_skills};
pub use semantic::match_skills_by_meaning;

/// The skills that match a text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Matches {
    /// The tier that answered.
    pub tier: MatchTier,
    /// The skills, best first; ties by name.
    pub matches: Vec<SkillMatch>,
    /// Why no skill matches; none if one does.
    pub none_because: Option<NoMatch>,
    /// Why words were used although vectors come first.
    pub fallback: Option<Fallback>,
}

/// How skills were compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchTier {
    /// By vectors of an embedder.
    Meaning,
    /// By words.
    Words,
}

/// A skill that matches a text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SkillMatch {
    /// Its name.
    pub name: SkillName,
    /// The evidence for it.
    pub by: MatchedBy,
}

/// The evidence for a skill.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchedBy {
    /// Words of the query.
    Words {
        /// The sum of the points.
        score: u32,
        /// The points of each word, in the order of the query; their sum is the score.
        points: Vec<Point>,
    },
    /// Vectors.
    Meaning {
        /// Cosine similarity, at most 1.
        cosine: f32,
    },
}

/// Why no skill was matched.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NoMatch {
    /// There are no skills.
    #[error("there are no skills")]
    NoSkills,
    /// All skills await review or are always loaded.
    #[error("none of the {n_listed} skills can match: they await review, or are always loaded")]
    NoneMatchable {
        /// The number of skills.
        n_listed: usize,
    },
    /// The limit of skills is 0.
    #[error("the maximum of matched skills is 0")]
    NoSlots,
    /// The text has no word to match.
    #[error("the text has no word that can be matched")]
    NothingAsked,
    /// By words, no skill has enough points.
    #[error("the best skill has {best} points, it needs {threshold}")]
    BelowThreshold {
        /// The points of the best skill.
        best: u32,
        /// The points that it needs.
        threshold: u32,
    },
    /// By vectors, no skill is near enough.
    #[error("no skill has a cosine similarity of at least {floor:.2}; the largest is {}", similarity(*best))]
    NothingNear {
        /// The cosine similarity of the nearest skill that has a vector.
        best: Option<f32>,
        /// The similarity that it needs.
        floor: f32,
    },
}

/// Why words were used although vectors come first.
#[derive(Clone, Debug, PartialEq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fallback {
    /// There is no embedder.
    #[error("there is no embedder")]
    NoEmbedder,
    /// No skill was near enough.
    #[error("no skill is near enough; the largest cosine similarity is {}", similarity(*best))]
    NothingNear {
        /// The cosine similarity of the nearest skill.
        best: Option<f32>,
    },
    /// The embedder took too long.
    #[error("the embedder took longer than {limit:?}")]
    TimedOut {
        /// The time limit.
        #[serde(serialize_with = "crate::config::seconds::serialize")]
        limit: std::time::Duration,
    },
    /// The embedder failed.
    #[error("the embedder failed: {reason}")]
    Failed {
        /// The error message.
        reason: String,
    },
}

/// Matches skills to a text by words.
///
/// At most `config.max_slots` skills, highest score first, ties by name.
///
/// ```
/// use adage::skills;
/// use adage::config::MatchConfig;
/// use adage::skills::{MatchedBy, Skill, match_skills};
///
/// let skill = Skill::new("docker-build".parse()?, "Builds images without a network.").with_triggers(["docker"], ["build"]);
/// let index = skills::Index::new([skills::Indexed { skill: &skill, is_matchable: true }]);
/// let found = match_skills("Compile the Docker images", &index, &MatchConfig::default());
/// // +3 topic "docker", +2 "compile" as "build", +1 "images" in the description.
/// assert!(matches!(&found.matches[..], [one] if matches!(&one.by, MatchedBy::Words { score: 6, .. })));
/// assert!(match_skills("What is the capital of France?", &index, &MatchConfig::default()).matches.is_empty());
/// # Ok::<(), adage::skills::BadName>(())
/// ```
#[must_use]
pub fn match_skills(query: &str, index: &SkillIndex, config: &MatchConfig) -> Matches {
    if let Some(reason) = nothing_to_match(index, config) {
        return Matches::none(MatchTier::Words, reason);
    }
    let asked = index::query_words(query);
    if asked.words.is_empty() && asked.compounds.is_empty() {
        return Matches::none(MatchTier::Words, NoMatch::NothingAsked);
    }
    let (scores, hits) = hits(&asked, index);
    let mut ranked: Vec<(u32, usize)> = scores.into_iter().enumerate().map(|(skill, score)| (score, skill)).collect();
    // Skills are in the order of their names.
    ranked.sort_by_key(|(score, skill)| (std::cmp::Reverse(*score), *skill));
    let best = ranked.first().map_or(0, |(score, _)| *score);
    ranked.retain(|(score, _)| *score >= config.threshold);
    ranked.truncate(config.max_slots);
    if ranked.is_empty() {
        return Matches::none(MatchTier::Words, NoMatch::BelowThreshold { best, threshold: config.threshold });
    }
    let matches = ranked.into_iter().filter_map(|(score, skill)| {
        let mut of_skill: Vec<&Hit> = hits.iter().filter(|hit| hit.posting.skill == skill).collect();
        of_skill.sort_by_key(|hit| hit.place);
        let points = of_skill.into_iter().map(|hit| Point {
            query_word: hit.word.to_owned(),
            skill_word: index.word(hit.posting).to_owned(),
            reason: hit.posting.reason,
            points: hit.posting.reason.points(),
        });
        let name = index.skills.get(skill)?.name.clone();
        Some(SkillMatch { name, by: MatchedBy::Words { score, points: points.collect() } })
    });
    Matches { tier: MatchTier::Words, matches: matches.collect(), none_because: None, fallback: None }
}

/// A word of the query that counts for a skill.
struct Hit<'a> {
    place: usize,
    word: &'a str,
    posting: Posting,
}

/// The score of each skill, and the hits that it consists of.
fn hits<'a>(asked: &'a Asked, index: &SkillIndex) -> (Vec<u32>, Vec<Hit<'a>>) {
    let (mut scores, mut hits) = (vec![0_u32; index.len()], Vec::new());
    let mut count = |place: usize, word: &'a str, posting: Posting| {
        if let Some(score) = scores.get_mut(posting.skill) {
            *score = score.saturating_add(posting.reason.points());
            hits.push(Hit { place, word, posting });
        }
    };
    // A compound word that counts as a whole for a skill does not count by its parts again.
    let mut spent: HashSet<(usize, &str)> = HashSet::new();
    let mut last = vec![usize::MAX; index.len()];
    for (number, (place, whole, parts)) in asked.compounds.iter().enumerate() {
        for posting in index.is_exactly(whole) {
            if last.get_mut(posting.skill).is_some_and(|last| std::mem::replace(last, number) != number) {
                spent.extend(parts.iter().map(|part| (posting.skill, part.as_str())));
                count(*place, whole, posting);
            }
        }
    }
    last.fill(usize::MAX);
    for (number, (place, word)) in asked.words.iter().enumerate() {
        for posting in index.meets(word) {
            // The strongest reason comes first and is the only one that counts.
            let is_first = last.get_mut(posting.skill).is_some_and(|last| std::mem::replace(last, number) != number);
            if is_first && (spent.is_empty() || !spent.contains(&(posting.skill, word.as_str()))) {
                count(*place, word, posting);
            }
        }
    }
    (scores, hits)
}

fn similarity(best: Option<f32>) -> String {
    best.map_or_else(|| "unknown, as none has a vector".to_owned(), |best| format!("{best:.2}"))
}

fn nothing_to_match(index: &SkillIndex, config: &MatchConfig) -> Option<NoMatch> {
    match () {
        () if index.n_listed == 0 => Some(NoMatch::NoSkills),
        () if index.is_empty() => Some(NoMatch::NoneMatchable { n_listed: index.n_listed }),
        () if config.max_slots == 0 => Some(NoMatch::NoSlots),
        () => None,
    }
}

impl Matches {
    /// The same result, marked as a fallback from vectors.
    #[must_use]
    pub fn after(self, fallback: Fallback) -> Self {
        Self { fallback: Some(fallback), ..self }
    }

    fn none(tier: MatchTier, reason: NoMatch) -> Self {
        Self { tier, matches: Vec::new(), none_because: Some(reason), fallback: None }
    }
}
