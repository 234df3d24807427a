//! Turns a model's proposals into drafts: locates evidence, detects repetitions, maps fields (docs/spec/capture.md, 3.4, 3.5).

use std::collections::BTreeSet;

use adage_redact::Redactor;
use chrono::{DateTime, FixedOffset};

use super::reply::{Malformed, Proposal, excerpt};
use super::{Existing, Extracted, Refused, RefusedBecause};
use crate::capture::evidence::UserTurns;
use crate::clock::ManualClock;
use crate::config::ExtractConfig;
use crate::difference::difference;
use crate::lesson::{Evidence, Lesson, LessonDraft, LessonId, Origin, Provenance, Realm, Trust, build_lesson};

/// The share of the new one's words above which two lessons of one answer may be the same; the guard decides.
const MIN_OVERLAP: f64 = 0.6;

/// The maximum number of topics of a proposal; further ones are dropped.
const MAX_TAGS: usize = 8;

/// The inputs for checking proposals.
pub(super) struct Bench<'a> {
    pub(super) said: &'a UserTurns<'a>,
    pub(super) session: &'a str,
    pub(super) realm: &'a Realm,
    pub(super) existing: &'a [Existing],
    pub(super) config: &'a ExtractConfig,
}

impl Bench<'_> {
    /// The accepted lessons, and why the others were refused.
    pub(super) fn judge(&self, proposals: Vec<Result<Proposal, Malformed>>) -> (Vec<Extracted>, Vec<Refused>) {
        let mut lessons: Vec<Extracted> = Vec::new();
        let mut compared: Vec<Lesson> = Vec::new();
        let mut refused = Vec::new();
        for (position, proposal) in proposals.into_iter().enumerate() {
            let judged = match proposal {
                Err(Malformed { excerpt, reason }) => Err((excerpt, RefusedBecause::Malformed { reason })),
                Ok(proposal) => {
                    let rule = excerpt(&proposal.rule);
                    self.admit(proposal, position, &compared).map_err(|because| (rule, because))
                }
            };
            match judged {
                Ok((extracted, lesson)) => {
                    lessons.push(extracted);
                    compared.push(lesson);
                }
                Err((rule, because)) => {
                    refused.push(Refused { rule: Redactor::shared().redact(&rule).into_owned(), because });
                }
            }
        }
        (lessons, refused)
    }

    fn admit(
        &self,
        proposal: Proposal,
        position: usize,
        earlier: &[Lesson],
    ) -> Result<(Extracted, Lesson), RefusedBecause> {
        let max = self.config.max_lessons;
        if position >= max {
            return Err(RefusedBecause::TooMany { max });
        }
        if proposal.rule.is_empty() {
            return Err(RefusedBecause::NoRule);
        }
        if proposal.trigger.is_empty() {
            return Err(RefusedBecause::NoTrigger);
        }
        let evidence = self.said.find(&proposal.evidence).map_err(RefusedBecause::NoEvidence)?;
        let supersedes = proposal.supersedes.and_then(|number| self.existing.get(number.checked_sub(1)?));
        let supersedes = supersedes.map(|lesson| lesson.id);
        let draft = self.draft(proposal, evidence.clone(), supersedes);
        // The time does not affect the comparison of two lessons.
        let clock = ManualClock::new(DateTime::<FixedOffset>::default());
        let lesson =
            draft.clone().into_lesson(&clock).map_err(|why| RefusedBecause::Malformed { reason: why.to_string() })?;
        if let Some(same) = earlier.iter().position(|earlier| repeats(&lesson, earlier)) {
            return Err(RefusedBecause::Repeats { lesson: same });
        }
        Ok((Extracted { draft, evidence, supersedes }, lesson))
    }

    fn draft(&self, proposal: Proposal, evidence: Evidence, supersedes: Option<LessonId>) -> LessonDraft {
        let provenance = Provenance {
            origin: Origin::Mined,
            session: self.session.to_owned(),
            trust: Trust::default(),
            evidence: vec![evidence],
            supersedes,
            ..Provenance::default()
        };
        let tags = proposal.tags.iter().map(|tag| tag.trim().to_lowercase()).filter(|tag| !tag.is_empty());
        let draft = build_lesson(proposal.trigger, proposal.rule)
            .domains(tags.take(MAX_TAGS))
            .confidence(proposal.confidence.value())
            .project(self.realm.project.as_str())
            .role(self.realm.role.as_str())
            .source("mined")
            .provenance(&provenance);
        if proposal.mistake.is_empty() { draft } else { draft.mistake(proposal.mistake) }
    }
}

/// True if most words of the new lesson are in the earlier one, and the merge guard finds no difference.
fn repeats(new: &Lesson, earlier: &Lesson) -> bool {
    overlap(&new.correct_pattern, &earlier.correct_pattern) > MIN_OVERLAP && difference(new, earlier).is_none()
}

/// The share of the first text's distinct words that the second one has too.
fn overlap(new: &str, other: &str) -> f64 {
    let words = |text: &str| text.split_whitespace().map(str::to_lowercase).collect::<BTreeSet<_>>();
    let (new, other) = (words(new), words(other));
    if new.is_empty() { 0.0 } else { new.intersection(&other).count() as f64 / new.len() as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_is_of_the_new_ones_words() {
        // 3 of 4 against 3 of 6.
        assert!((overlap("use the lock File", "always use the lock down there") - 0.75).abs() < 1e-9);
        assert!((overlap("always use the lock down there", "use the lock file") - 0.5).abs() < 1e-9);
        assert!(overlap("", "a").abs() < 1e-9);
    }
}
