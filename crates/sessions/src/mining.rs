//! Mining sessions by rules, admission of the candidates, and skipped suggestions (docs/spec/capture.md, 2 and 5).

use adage_transcript::{Source, Transcript};
use serde::Serialize;
use std::cell::OnceCell;

use adage::config::{Admission, CaptureConfig};
use adage::extend::{Extension, KnownLessons};
use adage::lesson::{Evidence, LessonDraft, Trust};
use adage::{LearnOutcome, Result};

use crate::cleaned::clean_transcript;
use crate::evidence::Shown;
use crate::foreign::reads_foreign;
use crate::heuristics::{Candidate, Explanation, Heuristic, split_by_failure, suggest};
use crate::known_lessons::KnownLesson;
use crate::sessions::Sessions;

/// The suggestions found in a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Mined {
    /// The lessons, for [`Sessions::admit`]. Their texts are redacted. Of a session that read what others wrote, they are tainted.
    pub candidates: Vec<Candidate>,
    /// For each rule, why it fired or did not.
    pub explanations: Vec<Explanation>,
    /// Names of suggestions that were left out because a person skipped them.
    pub skipped: Vec<String>,
    /// Names of procedures and recoveries that were left out because another session taught the project the same. Their lessons
    /// are in use, in review or removed.
    pub known: Vec<String>,
    /// The left-out candidates whose lesson was not removed. They are not learned again, but count as evidence for the lesson
    /// and for its draft skill.
    pub recurring: Vec<Candidate>,
    /// Names of recoveries that were left out because a model proposed one on the same failure, and the session proves it.
    pub replaced: Vec<String>,
    /// The turns of failures on which a lesson is in use, or was skipped or removed, or that a model proposed one on.
    #[serde(skip)]
    pub(super) settled: Vec<usize>,
}

impl Sessions {
    /// The suggestions of the rules for a session, except those that a person skipped, and except procedures, recoveries and
    /// checks that the playbook already has or a person removed. Nothing is learned. The same transcript, skips and lessons give
    /// the same candidates.
    ///
    /// # Errors
    /// [`FolderError::Io`](adage::FolderError::Io).
    pub fn mine(&self, transcript: &Transcript) -> Result<Mined> {
        let transcript = clean_transcript(transcript);
        self.mine_clean(&transcript)
    }

    /// As [`mine`](Self::mine), for a session that is already redacted.
    pub(super) fn mine_clean(&self, transcript: &Transcript) -> Result<Mined> {
        let extension = self.extension();
        let (config, now) = (&self.playbook.config().capture, extension.now());
        let (lessons, skips) = (extension.lessons()?, self.playbook.skips()?);
        let is_skipped = |name: &str| skips.iter().any(|skip| skip.name == name && skip.is_in_force(now, config));
        let found = suggest(transcript, config);
        let mut mined = Mined { explanations: found.explanations, ..Mined::default() };
        mined.settled = failures_of_model(&transcript.session, &lessons);
        let (candidates, replaced) = split_by_failure(transcript, found.candidates, &mined.settled);
        mined.replaced = replaced.into_iter().map(|candidate| candidate.name).collect();
        let admitting = Admitting::of(transcript, config);
        for candidate in candidates {
            if is_skipped(&candidate.name) {
                mined.settled.extend(candidate.failures());
                mined.skipped.push(candidate.name);
                continue;
            }
            let draft = match candidate.heuristic {
                Heuristic::ExplicitInstruction => {
                    let quotes = candidate.draft.evidence();
                    admitting.quoted(candidate.draft, &quotes)
                }
                _ => admitting.labelled(candidate.draft),
            };
            let candidate = Candidate { draft, ..candidate };
            match KnownLesson::of(&candidate, transcript, &lessons) {
                None => mined.candidates.push(candidate),
                Some(known) => {
                    mined.known.push(candidate.name.clone());
                    if known != KnownLesson::Waiting {
                        mined.settled.extend(candidate.failures());
                    }
                    mined.recurring.extend((known != KnownLesson::Removed).then_some(candidate));
                }
            }
        }
        let (session, candidates, skipped) = (transcript.session.as_str(), mined.candidates.len(), mined.skipped.len());
        tracing::info!(session, candidates, skipped, "mined");
        Ok(mined)
    }

    /// Hands candidates to the gate in one commit. They wait for a person, unless the settings admit what quotes the user
    /// ([`Admission`]). A candidate is refused if the session taught the same before, or if ten of the session wait already. The outcomes
    /// have the order of the candidates.
    ///
    /// # Errors
    /// As [`Playbook::learn_lesson`](adage::Playbook::learn_lesson).
    pub fn admit(&self, candidates: impl IntoIterator<Item = Candidate>) -> Result<Vec<LearnOutcome>> {
        self.playbook.learn_lessons(candidates.into_iter().map(|candidate| candidate.draft))
    }
}

/// The turns of the failures of a session on which a model proposed a lesson, also one that a person removed.
fn failures_of_model(session: &str, known: &KnownLessons) -> Vec<usize> {
    let lessons = known.in_use().chain(known.waiting()).chain(known.removed());
    let own = lessons.map(|lesson| &lesson.provenance).filter(|known| !session.is_empty() && known.session == session);
    own.filter_map(|known| Some(known.recovery.as_ref()?.failure.turn)).collect()
}

/// What a session taught, as it is learned: its label, and whether a quote admits it without review.
pub(super) struct Admitting<'t> {
    transcript: &'t Transcript,
    admission: Admission,
    reads_foreign: bool,
    shown: OnceCell<Shown>,
}

impl<'t> Admitting<'t> {
    pub(super) fn of(transcript: &'t Transcript, config: &CaptureConfig) -> Self {
        Self { transcript, admission: config.admit, reads_foreign: reads_foreign(transcript), shown: OnceCell::new() }
    }

    /// The draft of something that a model proposed or the user asked to remember, with its quotes.
    pub(super) fn quoted(&self, draft: LessonDraft, quotes: &[Evidence]) -> LessonDraft {
        let is_own = || {
            let shown = self.shown.get_or_init(|| Shown::of(self.transcript));
            quotes.iter().all(|quote| shown.leaves_to_user(quote))
        };
        let is_admitted = self.admission == Admission::Quoted
            && self.transcript.source == Source::Agent
            && !quotes.is_empty()
            && is_own();
        if is_admitted { Extension::admitted_by_quote(draft) } else { self.labelled(draft) }
    }

    /// The draft of anything else: it waits for a person.
    pub(super) fn labelled(&self, draft: LessonDraft) -> LessonDraft {
        if self.reads_foreign { draft.trust(Trust::Tainted) } else { draft }
    }
}
