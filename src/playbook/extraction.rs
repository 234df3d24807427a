//! Learning from sessions with the host's language model (docs/spec/capture.md, 3).

use std::collections::BTreeMap;
use std::sync::Arc;

use adage_transcript::Transcript;
use serde::Serialize;

use super::mining::Mined;
use super::skill_saving::AutoSaved;
use super::{Inner, Playbook, View};
use crate::capture::{
    Because, Existing, Explanation, ExtractRequest, Extracted, Extraction, Heuristic, extract_lessons, suggest, taint,
};
use crate::embed::{Role, embed_units};
use crate::error::{Error, Result, with_causes};
use crate::gate;
use crate::learn::LearnOutcome;
use crate::lesson::{Lesson, LessonId, Realm, Trust};
use crate::model::{CancelToken, LanguageModel};
use crate::state::EmbeddedText;

/// The number of user turns, counted from the end of a session, that known lessons are compared with.
const MAX_COMPARED_TURNS: usize = 16;

/// What was learned from one session.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SessionLessons {
    /// The candidates that the rules found.
    pub suggested: Mined,
    /// The outcome of each of these candidates, in their order.
    pub mined: Vec<LearnOutcome>,
    /// The model's answer, if there is a model.
    pub extraction: Option<Extraction>,
    /// The outcomes of the lessons that the model proposed.
    pub extracted: Vec<LearnOutcome>,
    /// The draft skills made of the procedures that the rules found.
    pub skills: AutoSaved,
}

impl SessionLessons {
    /// The number of lessons that were handed to the gate.
    #[must_use]
    pub fn n_candidates(&self) -> usize {
        self.mined.len() + self.extracted.len()
    }
}

impl Playbook {
    /// Asks a model which lessons a session teaches. The model gets the redacted session and those known lessons of the
    /// session's project that are nearest to it (20 by default). Nothing is learned: pass the result to
    /// [`admit_extracted`](Self::admit_extracted).
    ///
    /// The model reads the whole session. If any part of it came from outside the project, all lessons that the model proposes
    /// are tainted and will await review.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io). A model that fails, or whose answer cannot be parsed, is reported in the
    /// [`Extraction`].
    pub fn extract(
        &self,
        model: &dyn LanguageModel,
        transcript: &Transcript,
        cancel: &CancelToken,
    ) -> Result<Extraction> {
        let transcript = gate::clean_transcript(transcript);
        let suggested = suggest(&transcript, &self.0.config.capture);
        self.extract_clean(model, &transcript, &suggested.explanations, cancel)
    }

    /// As [`extract`](Playbook::extract), for a session that is already redacted, with what the rules made of it.
    fn extract_clean(
        &self,
        model: &dyn LanguageModel,
        transcript: &Transcript,
        explanations: &[Explanation],
        cancel: &CancelToken,
    ) -> Result<Extraction> {
        let inner = &self.0;
        let view = inner.view()?;
        let request = ExtractRequest::new(transcript);
        let existing = inner.nearest_to(&view, transcript, &request.realm);
        let existing = existing.iter().map(|lesson| Existing::from(lesson.as_ref())).collect();
        let found = failures_of_rules(explanations);
        let request = ExtractRequest { existing, found, cancel: cancel.clone(), ..request };
        let mut extraction = extract_lessons(model, &request, &inner.config.extract);
        if let Extraction::Proposed { lessons, .. } = &mut extraction
            && taint::first_untrusted(transcript, &inner.config.capture).is_some()
        {
            for lesson in lessons {
                lesson.draft = std::mem::take(&mut lesson.draft).trust(Trust::Tainted);
            }
        }
        Ok(extraction)
    }

    /// Learns the lessons of an [`Extraction`] in one commit. A lesson that supersedes a known one replaces it if the known
    /// lesson was mined, is not verified and has the same realm. This is one change that can be undone. Otherwise the new
    /// lesson awaits review.
    ///
    /// # Errors
    /// As [`Playbook::learn_lesson`].
    pub fn admit_extracted(&self, lessons: impl IntoIterator<Item = Extracted>) -> Result<Vec<LearnOutcome>> {
        self.learn_lessons(lessons.into_iter().map(|lesson| lesson.draft))
    }

    /// Learns from a session: the candidates of the rules, and the lessons that the model proposes if there is one. Procedures
    /// also become draft skills if the settings allow it ([`Skills::save_suggested`](crate::skills::Skills::save_suggested)).
    /// Learning from the same session again adds nothing.
    ///
    /// ```
    /// use adage::transcript::{Transcript, Turn};
    /// use adage::Playbook;
    /// use adage::model::{CancelToken, ScriptedModel};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
    /// let transcript = Transcript {
    ///     session: "monday".into(),
    ///     turns: vec![
    ///         Turn::Assistant("I installed it with npm.".into()),
    ///         Turn::User("No, this repository uses pnpm, never npm.".into()),
    ///     ],
    ///     ..Transcript::default()
    /// };
    /// let model = ScriptedModel::new([Ok(r#"{"decision": "LEARN", "lessons": [{
    ///     "trigger": "installing packages in this repository", "rule": "Use pnpm, not npm.", "confidence": "high",
    ///     "tags": ["pnpm"], "evidence": "this repository uses pnpm, never npm"
    /// }]}"#.into())]);
    /// let learned = playbook.learn_from_session(&transcript, Some(&model), &CancelToken::default())?;
    /// assert_eq!(learned.extracted.len(), 1);
    /// assert!(playbook.get_playbook_context("installing packages")?.text.contains("Use pnpm, not npm."));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Playbook::learn_lesson`].
    pub fn learn_from_session(
        &self,
        transcript: &Transcript,
        model: Option<&dyn LanguageModel>,
        cancel: &CancelToken,
    ) -> Result<SessionLessons> {
        // Redacted once only: a long session takes a while.
        let transcript = gate::clean_transcript(transcript);
        let suggested = self.mine_clean(&transcript)?;
        let mined = self.admit(suggested.candidates.iter().cloned())?;
        self.count_again(&suggested.recurring, &transcript)?;
        let candidates = suggested.candidates.iter().chain(&suggested.recurring);
        let procedures = candidates.filter(|candidate| candidate.is_procedure());
        // The lessons are already committed; a failure here must not stop the model's extraction.
        let skills = self.skills().save_worded(procedures, model, cancel).unwrap_or_else(|error| {
            let failed = Some(error.to_string());
            AutoSaved { failed, ..AutoSaved::default() }
        });
        let lessons = SessionLessons { suggested, mined, skills, ..SessionLessons::default() };
        let Some(model) = model else { return Ok(lessons) };
        let extraction = self.extract_clean(model, &transcript, &lessons.suggested.explanations, cancel)?;
        let extracted = match &extraction {
            Extraction::Proposed { lessons, .. } => self.admit_extracted(lessons.iter().cloned())?,
            _ => Vec::new(),
        };
        Ok(SessionLessons { extraction: Some(extraction), extracted, ..lessons })
    }
}

/// The turns of the failures on which the rules suggest lessons, also those that a person skipped or removed.
fn failures_of_rules(explanations: &[Explanation]) -> Vec<usize> {
    let is_fired = |explanation: &&Explanation| {
        explanation.heuristic == Heuristic::ErrorRecovery && matches!(explanation.because, Because::Fired(_))
    };
    explanations.iter().filter(is_fired).map(|explanation| explanation.turn).collect()
}

impl Inner {
    /// The known lessons nearest to a session: all if there are few; otherwise those whose trigger is near to one of the last
    /// user turns. Compared by words if there are no vectors.
    fn nearest_to(&self, view: &View, transcript: &Transcript, realm: &Realm) -> Vec<Arc<Lesson>> {
        let max = self.config.extract.max_existing;
        let all: Vec<&Arc<Lesson>> = view.recall.visible(realm).take(max + 1).collect();
        if all.len() <= max {
            return all.into_iter().cloned().collect();
        }
        let said: Vec<&str> = transcript.user_turns().rev().take(MAX_COMPARED_TURNS).map(|(_, text)| text).collect();
        let near = self.near_triggers(view, &said, realm, max).unwrap_or_else(|error| {
            if !matches!(error, Error::NoEmbedder) {
                tracing::warn!(error = with_causes(&error), "known lessons are looked up by words: the vectors failed");
            }
            view.recall.sharing_words(&said.join("\n"), realm, max)
        });
        near.into_iter().filter_map(|id| view.snapshot.book().get(id).cloned()).collect()
    }

    fn near_triggers(&self, view: &View, said: &[&str], realm: &Realm, max: usize) -> Result<Vec<LessonId>> {
        let embedder = self.embedder.as_ref().ok_or(Error::NoEmbedder)?;
        let mut nearest: BTreeMap<LessonId, f32> = BTreeMap::new();
        let vectors = embed_units(embedder.as_ref(), said, Role::Query)?;
        if let Some(first) = vectors.first() {
            let triggers = self.lesson_vectors(view, EmbeddedText::Trigger, first.as_slice().len())?;
            for near in vectors.iter().flat_map(|vector| triggers.nearest(realm, vector, max).0) {
                nearest.entry(near.id).and_modify(|known| *known = known.min(near.distance)).or_insert(near.distance);
            }
        }
        let mut nearest: Vec<(LessonId, f32)> = nearest.into_iter().collect();
        nearest.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        Ok(nearest.into_iter().take(max).map(|(id, _)| id).collect())
    }
}
