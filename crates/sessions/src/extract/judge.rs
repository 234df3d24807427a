//! Turns a model's proposals into drafts: locates evidence, detects repetitions, maps fields (docs/spec/capture.md, 3.4, 3.5).

use std::collections::BTreeSet;

use adage_redact::Redactor;
use chrono::{DateTime, FixedOffset};

use super::recovery::{Proven, Record};
use super::reply::{Malformed, Proposal, Proposals, RecoveryProposal, excerpt};
use super::{Existing, Extracted, MAX_LESSONS, MAX_RECOVERIES, ProposalEvidence, Refused, RefusedBecause};
use crate::evidence::UserTurns;
use adage::ManualClock;
use adage::lesson::{Evidence, Lesson, LessonDraft, LessonId, Origin, Provenance, Realm, WaysIn, build_lesson};

/// The share of the new one's words above which two lessons of one answer may be the same; the guard decides.
const MIN_OVERLAP: f64 = 0.6;

/// The confidence in a recovery that a model proposes; chosen. It always awaits review.
const RECOVERY_CONFIDENCE: f64 = 0.4;

/// The maximum number of topics of a proposal; further ones are dropped.
const MAX_TAGS: usize = 8;

/// The inputs for checking proposals.
pub(super) struct Bench<'a> {
    pub(super) said: &'a UserTurns<'a>,
    pub(super) record: &'a Record<'a>,
    /// The failures on which there is a lesson, or was one.
    pub(super) found: &'a [usize],
    pub(super) session: &'a str,
    pub(super) realm: &'a Realm,
    pub(super) existing: &'a [Existing],
}

impl Bench<'_> {
    /// The accepted lessons, and why the others were refused: first those with words of the user, then the recoveries.
    pub(super) fn judge(&self, proposals: Proposals) -> (Vec<Extracted>, Vec<Refused>) {
        let mut judged = Judged::default();
        for (position, proposal) in proposals.lessons.into_iter().enumerate() {
            judged.add(
                proposal,
                |proposal| &proposal.rule,
                |proposal, earlier| self.admit(proposal, position, earlier),
            );
        }
        for (position, proposal) in proposals.recoveries.into_iter().enumerate() {
            judged.add(
                proposal,
                |proposal| &proposal.solution,
                |proposal, earlier| self.admit_recovery(proposal, position, earlier),
            );
        }
        (judged.lessons, judged.refused)
    }

    fn admit(
        &self,
        proposal: Proposal,
        position: usize,
        earlier: &[Lesson],
    ) -> Result<(Extracted, Lesson), RefusedBecause> {
        if position >= MAX_LESSONS {
            return Err(RefusedBecause::TooMany { max: MAX_LESSONS });
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
        let lesson = unlike(&draft, earlier)?;
        Ok((Extracted { draft, evidence: ProposalEvidence::Said(evidence), supersedes }, lesson))
    }

    fn admit_recovery(
        &self,
        proposal: RecoveryProposal,
        position: usize,
        earlier: &[Lesson],
    ) -> Result<(Extracted, Lesson), RefusedBecause> {
        if position >= MAX_RECOVERIES {
            return Err(RefusedBecause::TooMany { max: MAX_RECOVERIES });
        }
        let Proven { evidence, commands, topic } =
            self.record.check(&proposal, self.found).map_err(RefusedBecause::NotProven)?;
        let provenance = Provenance { recovery: Some(evidence.clone()), ..self.provenance() };
        let tags = topic.into_iter().chain(proposal.tags);
        let draft = self.of_model(build_lesson(proposal.trigger, proposal.solution), tags, &provenance);
        let draft = with_ways_in(draft, proposal.ways_in).commands(commands).confidence(RECOVERY_CONFIDENCE);
        // A mined lesson without a mistake is a procedure.
        let mistake = if proposal.mistake.is_empty() { evidence.failure.source.clone() } else { proposal.mistake };
        let draft = draft.mistake(mistake);
        let lesson = unlike(&draft, earlier)?;
        Ok((Extracted { draft, evidence: ProposalEvidence::Recovered(evidence), supersedes: None }, lesson))
    }

    fn draft(&self, proposal: Proposal, evidence: Evidence, supersedes: Option<LessonId>) -> LessonDraft {
        let provenance = Provenance { evidence: vec![evidence], supersedes, ..self.provenance() };
        let draft = self.of_model(build_lesson(proposal.trigger, proposal.rule), proposal.tags, &provenance);
        let draft = with_ways_in(draft, proposal.ways_in).confidence(proposal.confidence.value());
        if proposal.mistake.is_empty() { draft } else { draft.mistake(proposal.mistake) }
    }

    fn provenance(&self) -> Provenance {
        Provenance { origin: Origin::Mined, session: self.session.to_owned(), ..Provenance::default() }
    }

    /// The marks of every lesson that a model proposes.
    fn of_model(
        &self,
        draft: LessonDraft,
        tags: impl IntoIterator<Item = String>,
        provenance: &Provenance,
    ) -> LessonDraft {
        let mut domains: Vec<String> = Vec::new();
        for tag in tags.into_iter().map(|tag| tag.trim().to_lowercase()).filter(|tag| !tag.is_empty()) {
            if !domains.contains(&tag) {
                domains.push(tag);
            }
        }
        domains.truncate(MAX_TAGS);
        draft
            .domains(domains)
            .project(self.realm.project.as_str())
            .role(self.realm.role.as_str())
            .source("mined")
            .provenance(provenance)
    }
}

fn with_ways_in(draft: LessonDraft, WaysIn { names, situations, signs }: WaysIn) -> LessonDraft {
    draft.names(names).situations(situations).signs(signs)
}

/// Proposals that were judged so far.
#[derive(Default)]
struct Judged {
    lessons: Vec<Extracted>,
    /// The same lessons, for comparing.
    compared: Vec<Lesson>,
    refused: Vec<Refused>,
}

impl Judged {
    fn add<P>(
        &mut self,
        proposal: Result<P, Malformed>,
        rule: impl Fn(&P) -> &str,
        admit: impl FnOnce(P, &[Lesson]) -> Result<(Extracted, Lesson), RefusedBecause>,
    ) {
        let judged = match proposal {
            Err(Malformed { excerpt, reason }) => Err((excerpt, RefusedBecause::Malformed { reason })),
            Ok(proposal) => {
                let rule = excerpt(rule(&proposal));
                admit(proposal, &self.compared).map_err(|because| (rule, because))
            }
        };
        match judged {
            Ok((extracted, lesson)) => {
                self.lessons.push(extracted);
                self.compared.push(lesson);
            }
            Err((rule, because)) => {
                self.refused.push(Refused { rule: Redactor::shared().redact(&rule).into_owned(), because });
            }
        }
    }
}

/// The draft as a lesson, if no earlier one of the answer says the same.
fn unlike(draft: &LessonDraft, earlier: &[Lesson]) -> Result<Lesson, RefusedBecause> {
    // The time does not affect the comparison of two lessons.
    let clock = ManualClock::new(DateTime::<FixedOffset>::default());
    let lesson =
        draft.clone().into_lesson(&clock).map_err(|why| RefusedBecause::Malformed { reason: why.to_string() })?;
    match earlier.iter().position(|earlier| repeats(&lesson, earlier)) {
        Some(same) => Err(RefusedBecause::Repeats { lesson: same }),
        None => Ok(lesson),
    }
}

/// True if most words of the new lesson are in the earlier one, and the merge guard finds no difference.
fn repeats(new: &Lesson, earlier: &Lesson) -> bool {
    overlap(&new.correct_pattern, &earlier.correct_pattern) > MIN_OVERLAP && new.difference(earlier).is_none()
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
