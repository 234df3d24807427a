//! Repeated suggestions: a project gets one lesson for the same advice, with a count of the sessions that suggest it
//! (docs/spec/capture.md, 4.5).

use std::collections::BTreeSet;
use std::sync::Arc;

use adage_transcript::Transcript;
use adage_transcript::command::are_alike;
use serde_json::Value;

use adage::Result;
use adage::extend::{FoundAgain, KnownLessons};
use adage::lesson::{Lesson, Origin, TextHash, Trust};

use crate::heuristics::{Candidate, Heuristic, project_checks, split_by_failure};
use crate::index::commands_told;
use crate::mining::Mined;
use crate::sessions::Sessions;

/// The state of a lesson that another session has taught before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KnownLesson {
    /// It is in use.
    InUse,
    /// It awaits review.
    Waiting,
    /// A person removed it in the last 30 days.
    Removed,
}

impl KnownLesson {
    /// The known lesson for a candidate, if there is one. A project has one lesson per procedure, one per recovery and one for
    /// its checks, however many sessions suggest it.
    pub(super) fn of(candidate: &Candidate, transcript: &Transcript, known: &KnownLessons) -> Option<Self> {
        let advice = Advice::by(candidate, &transcript.project)?;
        // The same session suggests its checks once, however often it is read.
        let is_of_another = |lesson: &Lesson| {
            matches!(advice.what, AdviceKind::Checks) || lesson.provenance.session != transcript.session
        };
        let same_lesson = |lesson: &Arc<Lesson>| advice.is_given_by(lesson) && is_of_another(lesson);
        if known.in_use().any(same_lesson) {
            return Some(Self::InUse);
        }
        if known.waiting().any(same_lesson) {
            return Some(Self::Waiting);
        }
        known.removed().any(same_lesson).then_some(Self::Removed)
    }
}

/// The content of a candidate by which it is found among lessons.
struct Advice<'c> {
    what: AdviceKind,
    project: &'c str,
    domain: String,
}

enum AdviceKind {
    /// How the project is checked.
    Checks,
    /// A procedure with these commands.
    Procedure(BTreeSet<String>),
    /// The command that is needed after this error.
    Recovery { failed: BTreeSet<String>, error: String },
}

impl<'c> Advice<'c> {
    /// None for what a person said.
    fn by(candidate: &Candidate, project: &'c str) -> Option<Self> {
        let row = candidate.draft.to_json();
        let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default();
        let what = match candidate.heuristic {
            _ if candidate.name == project_checks::NAME => AdviceKind::Checks,
            Heuristic::MultiStep | Heuristic::RepeatedAction => {
                AdviceKind::Procedure(commands_told(text("correct_pattern")))
            }
            Heuristic::ErrorRecovery => {
                let error = row.pointer("/recovery/error").and_then(Value::as_str).unwrap_or_default();
                AdviceKind::Recovery { failed: commands_told(text("mistake")), error: without_numbers(error) }
            }
            Heuristic::UserCorrection | Heuristic::ExplicitInstruction => return None,
        };
        let domain = row.pointer("/domains/0").and_then(Value::as_str).unwrap_or_default().to_owned();
        Some(Self { what, project, domain })
    }

    fn is_given_by(&self, lesson: &Lesson) -> bool {
        let is_of_project = lesson.realm.project == self.project && lesson.provenance.origin == Origin::Mined;
        let is_of_domain = || lesson.domains.first().is_some_and(|first| *first == self.domain);
        is_of_project
            && match &self.what {
                AdviceKind::Checks => lesson.trigger == project_checks::TRIGGER,
                AdviceKind::Procedure(commands) => {
                    let is_procedure = lesson.provenance.evidence.is_empty() && lesson.mistake.is_empty();
                    is_procedure && is_of_domain() && are_alike(commands, &commands_told(&lesson.correct_pattern))
                }
                AdviceKind::Recovery { failed, error } => {
                    let known = lesson.recovery.as_ref().map(|known| without_numbers(&known.error)).unwrap_or_default();
                    is_of_domain() && *failed == commands_told(&lesson.mistake) && *error == known
                }
            }
    }
}

/// An error without numbers, which differ each time.
fn without_numbers(error: &str) -> String {
    error.chars().filter(|c| !c.is_ascii_digit()).collect()
}

impl Sessions {
    /// Counts sessions that suggest a lesson again: its frequency rises by one per session. Lessons with the most sessions are
    /// reviewed first.
    pub(super) fn count_again(&self, recurring: &[Candidate], transcript: &Transcript) -> Result<()> {
        let extension = self.extension();
        let counted = recurring.iter().filter_map(|candidate| {
            let lesson = extension.admit(candidate.draft.clone()).ok()?;
            // A suggestion that may come from untrusted content is not counted.
            let is_clean = lesson.provenance.trust == Trust::Trusted && !transcript.session.is_empty();
            let session = lesson.provenance.session.as_str();
            let finding = TextHash::of(&[session, &lesson.text_hash().to_string()]);
            let advice = Advice::by(candidate, &transcript.project).filter(|_| is_clean)?;
            Some((finding, move |lesson: &Lesson| advice.is_given_by(lesson)))
        });
        let counted: Vec<(TextHash, _)> = counted.collect();
        let found: Vec<FoundAgain<'_>> =
            counted.iter().map(|(finding, is_lesson)| FoundAgain { finding: *finding, is_lesson }).collect();
        extension.count_again(&found)
    }

    /// Leaves failures of a session to the lessons that a model proposed: what the rules suggest on them is neither learned nor
    /// awaits review, also if an earlier reading suggested it.
    pub(super) fn leave_to_model(
        &self,
        suggested: &mut Mined,
        transcript: &Transcript,
        failures: &[usize],
    ) -> Result<()> {
        let split = |candidates: &mut Vec<Candidate>| {
            let (kept, left) = split_by_failure(transcript, std::mem::take(candidates), failures);
            *candidates = kept;
            left
        };
        let mut left = split(&mut suggested.candidates);
        left.extend(split(&mut suggested.recurring));
        suggested.replaced.extend(left.iter().map(|candidate| candidate.name.clone()));
        let told: Vec<Advice<'_>> =
            left.iter().filter_map(|candidate| Advice::by(candidate, &transcript.project)).collect();
        if told.is_empty() {
            return Ok(());
        }
        self.extension().take_back(&|lesson| {
            lesson.provenance.recovery.is_none() && told.iter().any(|advice| advice.is_given_by(lesson))
        })
    }
}
