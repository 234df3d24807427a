//! When two skills are merged, and the result.

use std::collections::BTreeSet;

use serde::Serialize;

use super::outline::{EVIDENCE, NO_PITFALL, PITFALLS, VERIFICATION, blocks, lines_of, list_item, sections, steps};
use super::{CurationStep, ProtectedBecause, SkillLife};
use crate::config::CurationConfig;
use crate::lesson::Trust;
use crate::skill::{Quality, Skill, SkillProvenance};

/// Why two skills are merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SameBecause {
    /// Their bodies are equal.
    #[error("their bodies are equal")]
    Body,
    /// They share these topics, and the steps of one are among the other's, in order.
    #[error("their steps agree, and both are on {}", topics.join(", "))]
    Steps {
        /// The topics, in order.
        topics: Vec<String>,
    },
}

pub(super) struct Merged {
    pub(super) step: CurationStep,
    pub(super) state: SkillLife,
}

/// The senior skill with the other merged into it; none if they are not merged.
pub(super) fn merge(kept: &SkillLife, gone: &SkillLife, config: &CurationConfig) -> Option<Merged> {
    if !gone.is_free() || kept.hold == ProtectedBecause::Apart {
        return None;
    }
    // A skill that is not shown yet neither changes nor replaces one that is shown.
    if kept.waits != gone.waits {
        return None;
    }
    let because = same_because(kept, gone, config)?;
    let becomes = if kept.is_free() {
        Some(united(&kept.skill, &gone.skill))
    } else if is_weaker(kept, gone) {
        return None;
    } else {
        // A skill that a person vouches for is not changed. An equal skill of another author is kept, too.
        None
    };
    let step = CurationStep::Merge {
        kept: kept.skill.name.clone(),
        gone: gone.skill.name.clone(),
        because,
        becomes: becomes.clone().filter(|becomes| *becomes != kept.skill).map(Box::new),
    };
    let saved = [kept.saved, gone.saved].into_iter().flatten().min();
    let skill = becomes.unwrap_or_else(|| kept.skill.clone());
    let state = SkillLife {
        waits: kept.waits && !skill.recurs(),
        skill,
        saved,
        last_used: kept.last_used.max(gone.last_used),
        ..kept.clone()
    };
    Some(Merged { step, state })
}

/// True if the skill that would be kept is tainted and not promoted, while the other one can be used.
fn is_weaker(kept: &SkillLife, gone: &SkillLife) -> bool {
    let is_tainted = |state: &SkillLife| state.skill.provenance.trust == Trust::Tainted;
    is_tainted(kept) && kept.hold == ProtectedBecause::None && !is_tainted(gone)
}

fn same_because(kept: &SkillLife, gone: &SkillLife, config: &CurationConfig) -> Option<SameBecause> {
    let (one, other) = (&kept.skill, &gone.skill);
    if one.body.trim() == other.body.trim() {
        return Some(SameBecause::Body);
    }
    let are_drafts = kept.is_free() && one.quality == Quality::Draft && other.quality == Quality::Draft;
    let folded = |skill: &Skill| skill.topics.iter().map(|topic| topic.to_lowercase()).collect::<BTreeSet<_>>();
    let topics: Vec<String> = folded(one).intersection(&folded(other)).cloned().collect();
    let agree = are_drafts && topics.len() >= config.min_shared_topics && steps_agree(&one.body, &other.body);
    agree.then_some(SameBecause::Steps { topics })
}

/// True if both have steps, and those of the shorter are among the longer's, in order.
fn steps_agree(one: &str, other: &str) -> bool {
    let (one, other) = (steps(one), steps(other));
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let mut rest = long.iter();
    !short.is_empty() && short.iter().all(|step| rest.any(|other| other == step))
}

/// The merged skill: name, version and description of the kept one, triggers and sources of both, the better quality, the worse
/// trust. The body is the one with more steps, with pitfalls, checks and evidence of the other added.
fn united(kept: &Skill, gone: &Skill) -> Skill {
    let is_shorter = steps(&kept.body).len() < steps(&gone.body).len();
    let (richer, other) = if is_shorter { (gone, kept) } else { (kept, gone) };
    let trust = if kept.provenance.trust == Trust::Tainted { Trust::Tainted } else { gone.provenance.trust };
    let description = if kept.description.trim().is_empty() { &gone.description } else { &kept.description };
    let mut metadata = gone.metadata.clone();
    metadata.extend(kept.metadata.clone());
    Skill {
        description: description.clone(),
        license: kept.license.clone().or_else(|| gone.license.clone()),
        compatibility: kept.compatibility.clone().or_else(|| gone.compatibility.clone()),
        topics: union(&kept.topics, &gone.topics),
        actions: union(&kept.actions, &gone.actions),
        auto_load: kept.auto_load || gone.auto_load,
        quality: kept.quality.max(gone.quality),
        provenance: SkillProvenance {
            trust,
            sources: union(&kept.provenance.sources, &gone.provenance.sources),
            lessons: union(&kept.provenance.lessons, &gone.provenance.lessons),
        },
        metadata,
        body: with_items(&richer.body, &other.body),
        ..kept.clone()
    }
}

/// The union without duplicates, in order.
fn union<T: Clone + PartialEq>(one: &[T], other: &[T]) -> Vec<T> {
    let mut all: Vec<T> = Vec::new();
    for item in one.iter().chain(other) {
        if !all.contains(item) {
            all.push(item.clone());
        }
    }
    all
}

/// The body with the items of another's pitfalls, verification and evidence that it lacks.
fn with_items(body: &str, other: &str) -> String {
    let mut body = body.to_owned();
    for title in [PITFALLS, VERIFICATION, EVIDENCE] {
        let items = |text: &str| -> Vec<String> {
            sections(text).iter().filter(|section| section.is(title)).flat_map(blocks).collect()
        };
        let known = items(&body);
        let mut added = union(&items(other), &[]);
        added.retain(|item| !known.contains(item) && item != NO_PITFALL);
        if !added.is_empty() {
            body = with_blocks(&body, title, &added);
        }
    }
    body
}

/// The body with parts added at the end of a section, which is created if it is missing.
fn with_blocks(body: &str, title: &str, added: &[String]) -> String {
    let lines: Vec<&str> = body.lines().collect();
    let Some(place) = lines_of(body, title) else {
        return format!("{}\n\n## {title}\n\n{}\n", body.trim_end(), added.join("\n\n"));
    };
    let (before, after) = lines.split_at(place.end.min(lines.len()));
    let mut whole: Vec<&str> = Vec::new();
    for (number, line) in before.iter().enumerate() {
        if !(place.contains(&number) && *line == NO_PITFALL) {
            whole.push(line);
        }
    }
    for block in added {
        let follows_item = whole.last().is_some_and(|line| list_item(line).is_some());
        let is_first = whole.last().is_none_or(|line| line.trim().is_empty());
        if !(is_first || follows_item && list_item(block).is_some()) {
            whole.push("");
        }
        whole.extend(block.lines());
    }
    whole.extend(after);
    let end = if body.ends_with('\n') { "\n" } else { "" };
    whole.join("\n") + end
}
