//! Lessons extracted from a session by a language model (docs/spec/capture.md, 3), each with evidence: a quote of the user, or
//! the failure, the remedy and the success of a recovery.
//!
//! The model only proposes; none of its statements is trusted. A proposal becomes a draft only if its evidence is found in a
//! person's turn or in the record of the calls, and the gate checks the draft again when it is learned.

mod clip;
mod json;
mod judge;
mod prompt;
mod record;
mod recovery;
mod reply;
mod tags;

use std::time::Duration;

use crate::evidence::UserTurns;
use adage::config::ExtractConfig;
use adage::lesson::{Evidence, Lesson, LessonDraft, LessonId, Realm, RecoveryEvidence};
use adage::model::{CancelToken, Completion, LanguageModel, MAX_REPLY_BYTES, ModelError};
use adage_transcript::Transcript;
use judge::Bench;
use prompt::Prompt;
use recovery::Record;
use reply::Reply;
use serde::Serialize;

pub use crate::evidence::{MIN_QUOTE_WORDS, NoEvidence, Speaker, find_evidence};
pub use recovery::{RecoveryPart, RecoveryRefusal};
pub use reply::Unreadable;

/// Maximum number of known lessons in the prompt; specified.
pub(crate) const MAX_EXISTING: usize = 20;
/// Maximum number of proposals per answer that are examined; specified.
const MAX_LESSONS: usize = 3;
/// Maximum number of recoveries per answer that are examined; chosen.
const MAX_RECOVERIES: usize = 5;
/// Delay before the second attempt, unless the server gives one; chosen.
const RETRY_DELAY: Duration = Duration::from_secs(2);
/// Maximum delay: if the server asks for more, there is no second attempt; chosen.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(30);

/// A known lesson in the prompt, so that the model can state that a new one replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Existing {
    /// Which one.
    pub id: LessonId,
    /// When it holds.
    pub trigger: String,
    /// What to do.
    pub solution: String,
}

impl From<&Lesson> for Existing {
    fn from(lesson: &Lesson) -> Self {
        Self { id: lesson.id, trigger: lesson.trigger.clone(), solution: lesson.correct_pattern.clone() }
    }
}

/// A request for an extraction.
#[derive(Clone, Debug)]
pub struct ExtractRequest<'a> {
    /// The session.
    pub transcript: &'a Transcript,
    /// The realm of the lessons.
    pub realm: Realm,
    /// The known lessons of the realm that are nearest to the session, nearest first; at most 20
    /// of them are shown.
    pub existing: Vec<Existing>,
    /// The turns of the failures on which there is a lesson, or was one: the model's recoveries from these are refused.
    pub found: Vec<usize>,
    /// Ends the call early.
    pub cancel: CancelToken,
}

impl<'a> ExtractRequest<'a> {
    /// A request for a session in the realm of its project, without known lessons.
    #[must_use]
    pub fn new(transcript: &'a Transcript) -> Self {
        let realm = Realm { project: transcript.project.clone(), ..Realm::default() };
        Self { transcript, realm, existing: Vec::new(), found: Vec::new(), cancel: CancelToken::default() }
    }
}

/// The result of an extraction. It distinguishes a model that failed, an answer that cannot be parsed, and a session that
/// teaches nothing.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Extraction {
    /// The model proposed lessons. Every proposal is in one of the two lists, in order.
    Proposed {
        /// Proposals with valid evidence, ready to be learned.
        lessons: Vec<Extracted>,
        /// Proposals without valid evidence, or not usable.
        refused: Vec<Refused>,
    },
    /// The model decided that the session teaches nothing.
    NothingToLearn,
    /// The session has no user turns, and no call of it failed; the model was not called.
    NobodyTyped,
    /// The model's answer does not have the requested form. None of it was used.
    Unreadable {
        /// What is wrong with the answer.
        reason: Unreadable,
    },
    /// The model gave no answer.
    ModelFailed {
        /// The last error.
        error: ModelError,
        /// The number of attempts, at least one.
        n_attempts: usize,
    },
}

impl Extraction {
    /// Why there is no answer that can be used; none if the model answered, or was not called.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        match self {
            Self::ModelFailed { error, .. } => Some(format!("the model failed: {error}")),
            Self::Unreadable { reason } => Some(format!("the model's answer cannot be parsed: {reason}")),
            Self::Proposed { .. } | Self::NothingToLearn | Self::NobodyTyped => None,
        }
    }
}

/// A lesson that a model proposed, with evidence that was found in the session.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Extracted {
    /// What to learn: origin mined, with session, evidence and realm. Whether the session had read untrusted content by
    /// then is for the gate to say.
    pub draft: LessonDraft,
    /// What proves it.
    pub evidence: ProposalEvidence,
    /// The known lesson that the model says it replaces; the draft's provenance says so too. It goes when this one is learned
    /// if it was mined itself, is of the same realm and not verified; otherwise this one awaits review.
    pub supersedes: Option<LessonId>,
}

/// What proves a lesson that a model proposed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProposalEvidence {
    /// The user's words, and their position.
    Said(Evidence),
    /// A failure, what was done, and a success. Such a lesson always awaits review.
    Recovered(RecoveryEvidence),
}

/// A proposal that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Refused {
    /// The beginning of its rule, with secrets redacted.
    pub rule: String,
    /// Why.
    pub because: RefusedBecause,
}

/// Why a proposal was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RefusedBecause {
    /// Its quote is not valid evidence.
    #[error("no evidence: {0}")]
    NoEvidence(NoEvidence),
    /// The record does not prove the recovery.
    #[error("not proven: {0}")]
    NotProven(RecoveryRefusal),
    /// It does not say what to do.
    #[error("it has no rule")]
    NoRule,
    /// It does not say when it applies.
    #[error("it has no trigger")]
    NoTrigger,
    /// It repeats an earlier proposal of the same answer.
    #[error("it repeats lesson {lesson} of the same answer")]
    Repeats {
        /// The index of that one among the accepted lessons.
        lesson: usize,
    },
    /// The answer has more proposals than the limit.
    #[error("only the first {max} proposals of an answer are looked at")]
    TooMany {
        /// How many are taken.
        max: usize,
    },
    /// It does not have the requested form.
    #[error("it is not in the shape that was asked for: {reason}")]
    Malformed {
        /// What is wrong with it.
        reason: String,
    },
}

/// Asks a model for the lessons of a session, and checks its answer.
///
/// The session is redacted before the model sees it. A call that failed for a temporary reason is tried once more.
///
/// ```
/// use adage::transcript::{Transcript, Turn};
/// use adage::config::ExtractConfig;
/// use adage_sessions::extract::{ExtractRequest, Extraction, ProposalEvidence, extract_lessons};
/// use adage::model::ScriptedModel;
///
/// let transcript = Transcript {
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
/// let extraction = extract_lessons(&model, &ExtractRequest::new(&transcript), &ExtractConfig::default());
/// let Extraction::Proposed { lessons, .. } = extraction else { panic!("{extraction:?}") };
/// assert!(matches!(&lessons[0].evidence, ProposalEvidence::Said(evidence) if evidence.turn == 1));
/// assert_eq!(lessons[0].draft.to_json()["confidence"], 0.9);
/// ```
#[must_use]
pub fn extract_lessons(model: &dyn LanguageModel, request: &ExtractRequest<'_>, config: &ExtractConfig) -> Extraction {
    let ExtractRequest { transcript, realm, existing, found, cancel } = request;
    let said = UserTurns::of(transcript);
    let record = Record::of(transcript);
    if said.texts().all(|(_, text)| text.trim().is_empty()) && !record.has_failures() {
        return Extraction::NobodyTyped;
    }
    let existing = existing.get(..MAX_EXISTING).unwrap_or(existing);
    let Prompt { system, user } = prompt::prompt(&record::record(transcript, &said, &record, config), existing);
    let completion = Completion {
        system,
        user,
        max_tokens: config.max_tokens,
        temperature: config.temperature,
        time_limit: config.time_limit,
        cancel: cancel.clone(),
    };
    let reply = match ask(model, &completion) {
        Ok(reply) => reply,
        Err((error, n_attempts)) => return Extraction::ModelFailed { error, n_attempts },
    };
    let (n_bytes, max) = (reply.len(), MAX_REPLY_BYTES);
    if n_bytes > max {
        return Extraction::Unreadable { reason: Unreadable::TooLong { n_bytes, max } };
    }
    match reply::read(&reply) {
        Err(reason) => Extraction::Unreadable { reason },
        Ok(Reply::Nothing) => Extraction::NothingToLearn,
        Ok(Reply::Learn(proposals)) if proposals.is_empty() => Extraction::NothingToLearn,
        Ok(Reply::Learn(proposals)) => {
            let session = &transcript.session;
            let bench = Bench { said: &said, record: &record, found, session, realm, existing };
            let (lessons, refused) = bench.judge(proposals);
            Extraction::Proposed { lessons, refused }
        }
    }
}

/// A session in the form for a model: redacted, one JSON object per line, within the limits of the settings.
pub(crate) fn redacted_record(transcript: &Transcript, config: &ExtractConfig) -> String {
    record::record(transcript, &UserTurns::of(transcript), &Record::of(transcript), config)
}

/// Calls the model, a second time after a temporary error. The error comes with the number of attempts.
fn ask(model: &dyn LanguageModel, completion: &Completion) -> Result<String, (ModelError, usize)> {
    let error = match model.complete(completion) {
        Ok(reply) => return Ok(reply),
        Err(error) => error,
    };
    let delay = error.retry_after().unwrap_or(RETRY_DELAY);
    if !error.is_passing() || delay > MAX_RETRY_DELAY {
        return Err((error, 1));
    }
    if completion.cancel.wait(delay) {
        return Err((ModelError::Cancelled, 1));
    }
    model.complete(completion).map_err(|error| (error, 2))
}
