//! Learning from sessions with the host's language model (docs/spec/capture.md, 3).

use adage::model::{CancelToken, LanguageModel};
use adage::skills::{AutoSaved, Suggested};
use adage::{LearnOutcome, Result};
use adage_transcript::Transcript;
use serde::Serialize;

use crate::cleaned::clean_transcript;
use crate::extract::{
    Existing, ExtractRequest, Extracted, Extraction, MAX_EXISTING, ProposalEvidence, extract_lessons,
};
use crate::mining::{Admitting, Mined};
use crate::sessions::Sessions;

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

impl Sessions {
    /// Asks a model which lessons a session teaches. The model gets the redacted session and those known lessons of the
    /// session's project that are nearest to it (20 by default). Nothing is learned: pass the result to
    /// [`admit_extracted`](Self::admit_extracted).
    ///
    /// Of a session that read what others wrote, what the model proposes is labelled as tainted.
    ///
    /// # Errors
    /// [`FolderError::Io`](adage::FolderError::Io). A model that fails, or whose answer cannot be parsed, is reported in the
    /// [`Extraction`].
    pub fn extract(
        &self,
        model: &dyn LanguageModel,
        transcript: &Transcript,
        cancel: &CancelToken,
    ) -> Result<Extraction> {
        let transcript = clean_transcript(transcript);
        let settled = self.mine_clean(&transcript)?.settled;
        self.extract_clean(model, &transcript, settled, cancel)
    }

    /// As [`extract`](Self::extract), for a session that is already redacted. `found` are the turns of the failures on which
    /// there is a lesson, or was one.
    fn extract_clean(
        &self,
        model: &dyn LanguageModel,
        transcript: &Transcript,
        found: Vec<usize>,
        cancel: &CancelToken,
    ) -> Result<Extraction> {
        let extension = self.extension();
        let request = ExtractRequest::new(transcript);
        let said: Vec<&str> = transcript.user_turns().rev().take(MAX_COMPARED_TURNS).map(|(_, text)| text).collect();
        let existing = extension.nearest(&said, &request.realm, MAX_EXISTING)?;
        let existing = existing.iter().map(|lesson| Existing::from(lesson.as_ref())).collect();
        let request = ExtractRequest { existing, found, cancel: cancel.clone(), ..request };
        let mut extraction = extract_lessons(model, &request, &self.playbook.config().extract);
        if let Extraction::Proposed { lessons, .. } = &mut extraction {
            let admitting = Admitting::of(transcript, &self.playbook.config().capture);
            for lesson in lessons {
                let draft = std::mem::take(&mut lesson.draft);
                lesson.draft = match &lesson.evidence {
                    ProposalEvidence::Said(quote) => admitting.quoted(draft, std::slice::from_ref(quote)),
                    ProposalEvidence::Recovered(_) => admitting.labelled(draft),
                };
            }
        }
        Ok(extraction)
    }

    /// Learns the lessons of an [`Extraction`] in one commit. A lesson that supersedes a known one replaces it if the known
    /// lesson was mined, is not verified and has the same realm. This is one change that can be undone. Otherwise the new
    /// lesson awaits review.
    ///
    /// # Errors
    /// As [`Playbook::learn_lesson`](adage::Playbook::learn_lesson).
    pub fn admit_extracted(&self, lessons: impl IntoIterator<Item = Extracted>) -> Result<Vec<LearnOutcome>> {
        self.playbook.learn_lessons(lessons.into_iter().map(|lesson| lesson.draft))
    }

    /// Learns from a session: the lessons that the model proposes if there is one, and the candidates of the rules. A recovery that
    /// the model proposes and the record proves replaces what the rules suggest on the same failure. Procedures also become draft
    /// skills if the settings allow it ([`Skills::save_suggested`](adage::skills::Skills::save_suggested)).
    /// Learning from the same session again adds nothing.
    ///
    /// ```
    /// use adage::transcript::{Transcript, Turn};
    /// use adage::Playbook;
    /// use adage::model::{CancelToken, ScriptedModel};
    /// use adage_sessions::Sessions;
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
    /// let learned = Sessions::of(&playbook).learn_from(&transcript, Some(&model), &CancelToken::default())?;
    /// assert_eq!(learned.extracted.len(), 1);
    /// // It waits for a person, with what else was found in the session.
    /// assert!(playbook.get_playbook_context("installing packages")?.text.is_empty());
    /// assert_eq!(adage_review::Inbox::of(&playbook).list()?.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Playbook::learn_lesson`](adage::Playbook::learn_lesson).
    pub fn learn_from(
        &self,
        transcript: &Transcript,
        model: Option<&dyn LanguageModel>,
        cancel: &CancelToken,
    ) -> Result<SessionLessons> {
        // Redacted once only: a long session takes a while.
        let transcript = clean_transcript(transcript);
        let mut suggested = self.mine_clean(&transcript)?;
        let settled = std::mem::take(&mut suggested.settled);
        let extraction = model.map(|model| self.extract_clean(model, &transcript, settled, cancel)).transpose()?;
        let (recoveries, said) = proposed(extraction.as_ref());
        let mut extracted = self.admit_extracted(said)?;
        let recovered = self.admit_extracted(recoveries.iter().cloned())?;
        self.leave_to_model(&mut suggested, &transcript, &failures_learned(&recoveries, &recovered))?;
        let mined = self.admit(suggested.candidates.iter().cloned())?;
        self.count_again(&suggested.recurring, &transcript)?;
        let candidates = suggested.candidates.iter().chain(&suggested.recurring);
        let procedures = candidates.filter(|candidate| candidate.is_procedure());
        // A failure here must not lose what the model proposed in the user's words.
        let skills = self.playbook.skills().save_worded(procedures.map(Suggested::from), model, cancel);
        let skills = skills.unwrap_or_else(|error| AutoSaved::failed(&error));
        extracted.extend(recovered);
        Ok(SessionLessons { suggested, mined, extraction, extracted, skills })
    }
}

/// The lessons that a model proposed: the recoveries, and those with words of the user.
fn proposed(extraction: Option<&Extraction>) -> (Vec<Extracted>, Vec<Extracted>) {
    let Some(Extraction::Proposed { lessons, .. }) = extraction else { return Default::default() };
    lessons.iter().cloned().partition(|lesson| matches!(lesson.evidence, ProposalEvidence::Recovered(_)))
}

/// The turns of the failures on which a proposed recovery was learned or awaits review.
fn failures_learned(recoveries: &[Extracted], outcomes: &[LearnOutcome]) -> Vec<usize> {
    let learned = recoveries.iter().zip(outcomes);
    let learned = learned.filter(|(_, outcome)| !matches!(outcome, LearnOutcome::Refused { .. }));
    let failure = |(lesson, _): (&Extracted, _)| match &lesson.evidence {
        ProposalEvidence::Recovered(evidence) => Some(evidence.failure.turn),
        ProposalEvidence::Said(_) => None,
    };
    learned.filter_map(failure).collect()
}

#[cfg(test)]
mod tests {
    use adage_transcript::{Status, ToolCall, Turn};
    use serde_json::{Value, json};

    use super::*;
    use adage::Playbook;
    use adage::model::ScriptedModel;

    /// A failure on which the rules suggest a lesson.
    fn session(name: &str) -> Transcript {
        let run = |command: &str, result: &str, status| {
            let input = json!({ "command": command });
            Turn::ToolCall(ToolCall { tool: "Bash".into(), input, result: Some(result.into()), status })
        };
        let turns = vec![
            Turn::User("Build the pages of the manual.".into()),
            run("make dcos", "error: No rule to make target 'dcos'.  Stop.", Status::Failed),
            run("make docs", "3 pages written", Status::Succeeded),
        ];
        Transcript { session: name.into(), project: "/srv/shop".into(), turns, ..Transcript::default() }
    }

    fn reply(failure: &str) -> String {
        let recovery = json!({
            "trigger": "building the manual: No rule to make target", "mistake": "the name of the target was misspelled",
            "solution": "The manual is built by the target `docs`.", "tags": ["make"],
            "failure": {"turn": 1, "quote": failure}, "remedy": [{"turn": 2, "quote": "make docs"}],
            "success": {"turn": 2, "quote": "3 pages written"},
        });
        json!({"decision": "LEARN", "recoveries": [recovery]}).to_string()
    }

    const PROVEN: &str = "No rule to make target 'dcos'";

    struct Desk {
        _folder: tempfile::TempDir,
        playbook: Playbook,
    }

    impl Desk {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let playbook = Playbook::builder(folder.path()).without_embedder().open().unwrap();
            Self { _folder: folder, playbook }
        }

        fn read(&self, name: &str, failure: Option<&str>) -> SessionLessons {
            let model = failure.map(|quote| ScriptedModel::new([Ok(reply(quote))]));
            let model = model.as_ref().map(|model| model as &dyn LanguageModel);
            Sessions::of(&self.playbook).learn_from(&session(name), model, &CancelToken::default()).unwrap()
        }

        /// For each lesson that awaits review, whether a model proposed it.
        fn waiting(&self) -> Vec<bool> {
            let waiting = self.playbook.waiting_lessons().unwrap();
            waiting.iter().map(|waiting| waiting.lesson.provenance.recovery.is_some()).collect()
        }
    }

    #[test]
    fn a_proven_proposal_replaces_the_suggestion_of_the_rules_on_the_same_failure() {
        let desk = Desk::new();
        let learned = desk.read("monday", Some(PROVEN));
        assert!(matches!(learned.extracted[..], [LearnOutcome::Review { .. }]), "{learned:?}");
        assert_eq!((learned.mined.len(), learned.suggested.replaced.as_slice()), (0, &["error-make".to_owned()][..]));
        assert_eq!(desk.waiting(), [true]);
        // Neither the rules nor a model add a second lesson on it later.
        for quote in [None, Some(PROVEN), Some("No rule to make target")] {
            desk.read("monday", quote);
            assert_eq!(desk.waiting(), [true], "{quote:?}");
        }
    }

    #[test]
    fn a_refused_proposal_leaves_the_suggestion_of_the_rules() {
        let desk = Desk::new();
        let learned = desk.read("monday", Some("No such target"));
        assert!(matches!(learned.mined[..], [LearnOutcome::Review { .. }]), "{learned:?}");
        assert_eq!((learned.extracted.len(), desk.waiting()), (0, vec![false]));
    }

    #[test]
    fn what_awaits_review_from_an_earlier_reading_by_the_rules_is_replaced() {
        for earlier in ["monday", "sunday"] {
            let desk = Desk::new();
            desk.read(earlier, None);
            assert_eq!(desk.waiting(), [false]);
            desk.read("monday", Some(PROVEN));
            assert_eq!(desk.waiting(), [true], "{earlier}");
        }
    }

    #[test]
    fn a_lesson_that_a_person_decided_on_is_not_replaced() {
        let desk = Desk::new();
        desk.read("sunday", None);
        let inbox = adage_review::Inbox::of(&desk.playbook);
        inbox.apply(&inbox.list().unwrap()).unwrap();
        let learned = desk.read("monday", Some(PROVEN));
        let because: Value = json!(learned.extraction).pointer("/proposed/refused/0/because").cloned().unwrap();
        assert_eq!(because, json!({"not_proven": {"already_found": {"turn": 1}}}));
        assert!(desk.waiting().is_empty());
    }
}
