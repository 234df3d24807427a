//! Lazy matching: which skills a turn's text asks for (docs/spec/skills.md, 2). A pure stage.
//!
//! By words, a skill's score is the sum of what each word of the query counts for it, each once, for its best reason
//! ([`PointReason`]). A topic alone or an action alone is enough. By meaning, it is the cosine of two vectors. The two
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
pub use render::{RenderedSkills, render_skills};
pub use semantic::match_skills_by_meaning;

/// The skills that a text asks for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Matches {
    /// Which way of looking answered.
    pub tier: MatchTier,
    /// The skills, best first, equal ones by name.
    pub matches: Vec<SkillMatch>,
    /// Why there is none, when there is none.
    pub none_because: Option<NoMatch>,
    /// Why words decided although meaning goes first.
    pub fallback: Option<Fallback>,
}

/// Which way of looking answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchTier {
    /// Vectors of an embedder.
    Meaning,
    /// Words.
    Words,
}

/// A skill that a text asks for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SkillMatch {
    /// Its name.
    pub name: SkillName,
    /// What speaks for it.
    pub by: MatchedBy,
}

/// What speaks for a skill.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchedBy {
    /// Words of the query.
    Words {
        /// The sum of the points.
        score: u32,
        /// What each word counts, in the order of the query; they add up to the score.
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
    /// There is no skill.
    #[error("there are no skills")]
    NoSkills,
    /// All skills wait for a person or are loaded anyway.
    #[error("none of the {n_listed} skills can match: they await review, or are always loaded")]
    NoneMatchable {
        /// How many there are.
        n_listed: usize,
    },
    /// No slot is left for a skill.
    #[error("no slot is left for a skill")]
    NoSlots,
    /// The text has no word that could tell.
    #[error("the text has no word that says what it is about")]
    NothingAsked,
    /// Words ran, and no skill has enough points.
    #[error("the best skill has {best} points, it needs {threshold}")]
    BelowThreshold {
        /// The points of the best skill.
        best: u32,
        /// What it would have to reach.
        threshold: u32,
    },
    /// Vectors ran, and no skill is near enough.
    #[error("no skill is as near as {floor:.2}; the nearest: {best:?}")]
    NothingNear {
        /// Cosine similarity of the nearest skill that has a vector.
        best: Option<f32>,
        /// What it would have to reach.
        floor: f32,
    },
}

/// Why words decided although meaning goes first.
#[derive(Clone, Debug, PartialEq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fallback {
    /// There is no embedder.
    #[error("there is no embedder")]
    NoEmbedder,
    /// No skill lay near enough.
    #[error("no skill is near enough; the nearest: {best:?}")]
    NothingNear {
        /// Cosine similarity of the nearest skill.
        best: Option<f32>,
    },
    /// The embedder took too long.
    #[error("the embedder took longer than {limit:?}")]
    TimedOut {
        /// How long it may take.
        #[serde(serialize_with = "crate::config::seconds::serialize")]
        limit: std::time::Duration,
    },
    /// The embedder failed.
    #[error("the embedder failed: {reason}")]
    Failed {
        /// What it said.
        reason: String,
    },
}

/// The skills that a text asks for, by words.
///
/// At most `config.max_slots` of them, the highest score first, equal scores by name.
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
    let asked = index::asked(query);
    if asked.words.is_empty() && asked.compounds.is_empty() {
        return Matches::none(MatchTier::Words, NoMatch::NothingAsked);
    }
    let (scores, hits) = hits(&asked, index);
    let mut ranked: Vec<(u32, usize)> = scores.into_iter().enumerate().map(|(skill, score)| (score, skill)).collect();
    // Skills stand in the order of their names.
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

/// The score of each skill, and what it is made of.
fn hits<'a>(asked: &'a Asked, index: &SkillIndex) -> (Vec<u32>, Vec<Hit<'a>>) {
    let (mut scores, mut hits) = (vec![0_u32; index.len()], Vec::new());
    let mut count = |place: usize, word: &'a str, posting: Posting| {
        if let Some(score) = scores.get_mut(posting.skill) {
            *score = score.saturating_add(posting.reason.points());
            hits.push(Hit { place, word, posting });
        }
    };
    // A word that counts whole for a skill does not count by its parts again.
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

fn nothing_to_match(index: &SkillIndex, config: &MatchConfig) -> Option<NoMatch> {
    match () {
        () if index.n_listed == 0 => Some(NoMatch::NoSkills),
        () if index.is_empty() => Some(NoMatch::NoneMatchable { n_listed: index.n_listed }),
        () if config.max_slots == 0 => Some(NoMatch::NoSlots),
        () => None,
    }
}

impl Matches {
    /// The same, marked as what words say because meaning did not answer.
    #[must_use]
    pub fn after(self, fallback: Fallback) -> Self {
        Self { fallback: Some(fallback), ..self }
    }

    fn none(tier: MatchTier, reason: NoMatch) -> Self {
        Self { tier, matches: Vec::new(), none_because: Some(reason), fallback: None }
    }
}
