//! Five rules that find lessons in a transcript, without a model (docs/spec/capture.md, 2). Pure: the same transcript,
//! the same suggestions.

mod cues;
mod edits;
mod error_line;
mod error_recovery;
mod explain;
mod explicit_instruction;
mod failure;
mod intended_failure;
mod multi_step;
mod outcomes;
pub(crate) mod project_checks;
mod repeated_action;
mod request;
mod session;
mod statement;
mod user_correction;
mod user_words;
mod usual;
mod wording;

use adage::config::CaptureConfig;
use adage::lesson::{Evidence, LessonDraft, Origin, Provenance};
use adage::skills::Suggested;

pub(crate) use error_line::tells_error;
pub use explain::{Because, Explanation, FiredBecause, Instruction, RejectedBecause};
pub(crate) use outcomes::{Outcomes, has_word, names_in};
pub use statement::{StatedSentence, Statement, statements};
pub use user_correction::{StatedLine, stated_lines};
pub(crate) use wording::{Sentence, first_request, sentences};

use adage_transcript::Transcript;
use serde::Serialize;
use session::Session;

/// A rule that finds lessons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Heuristic {
    /// Several commands in a row, all successful: a procedure.
    MultiStep,
    /// A command failed and a related one succeeded soon after.
    ErrorRecovery,
    /// A user told the agent something: a correction, a rule, a fact, a preference.
    UserCorrection,
    /// The same command again and again.
    RepeatedAction,
    /// The user asked for it to be kept.
    ExplicitInstruction,
}

impl Heuristic {
    /// All of them, in the order of suggestions.
    pub const ALL: [Self; 5] =
        [Self::MultiStep, Self::ErrorRecovery, Self::UserCorrection, Self::RepeatedAction, Self::ExplicitInstruction];

    /// Its name for people: `multi-step`, `error-recovery` …
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::MultiStep => "multi-step",
            Self::ErrorRecovery => "error-recovery",
            Self::UserCorrection => "user-correction",
            Self::RepeatedAction => "repeated-action",
            Self::ExplicitInstruction => "explicit-instruction",
        }
    }

    /// True for a rule that finds how something is done, where the others find what went wrong: its lessons make skills.
    #[must_use]
    pub fn is_procedure(self) -> bool {
        matches!(self, Self::MultiStep | Self::RepeatedAction | Self::ExplicitInstruction)
    }
}

/// A lesson that a rule suggests. The gate has not seen it: nothing of it is redacted yet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// The rule that suggests it.
    pub heuristic: Heuristic,
    /// A name for it, fit for a file: `error-pip`.
    pub name: String,
    /// The lesson: of origin mined, with session, project and, if it is based on a user's words, these as evidence.
    pub draft: LessonDraft,
    /// The turns that it is based on, from 0, ascending.
    pub turns: Vec<usize>,
    /// Its weight, such as a run's length or the number of repetitions. Comparable within one rule only.
    pub score: f64,
    /// Whose words its text is made of.
    pub author: Author,
}

impl Candidate {
    /// The confidence of its lesson, by which candidates of different rules are compared.
    pub(crate) fn confidence(&self) -> f64 {
        self.draft.row().get("confidence").and_then(serde_json::Value::as_f64).unwrap_or_default()
    }

    /// True if it tells how something is done, step by step. When a session is read, only such a candidate makes a draft skill.
    #[must_use]
    pub fn is_procedure(&self) -> bool {
        self.heuristic.is_procedure() && !self.is_rule()
    }

    /// The turns of the failure that a recovery is on, from 0. Empty for other candidates.
    pub(crate) fn failures(&self) -> impl Iterator<Item = usize> + '_ {
        let is_recovery = self.heuristic == Heuristic::ErrorRecovery;
        let turns = self.turns.split_last().map_or(&[][..], |(_, before)| before);
        turns.iter().copied().filter(move |_| is_recovery)
    }

    /// True for a rule in a person's words ("from now on, always …"): it has no steps.
    fn is_rule(&self) -> bool {
        self.heuristic == Heuristic::ExplicitInstruction && self.author == Author::Person
    }
}

impl From<&Candidate> for Suggested {
    fn from(candidate: &Candidate) -> Self {
        let (name, draft) = (candidate.name.clone(), candidate.draft.clone());
        Self { name, draft, has_steps: !candidate.is_rule() }
    }
}

/// Whose words a text is made of: what decides whether it may come from untrusted content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// Only what a person typed.
    Person,
    /// Also what an agent wrote or a tool printed.
    Agent,
}

/// What was found, and why.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Suggestions {
    /// The lessons, those of highest confidence first; of equals in the order of [`Heuristic::ALL`], of one rule the best first.
    pub candidates: Vec<Candidate>,
    /// Why each rule fired or did not, including candidates that a better one of the same rule replaced.
    pub explanations: Vec<Explanation>,
}

/// Finds lessons in a transcript, at most [`max_candidates`](CaptureConfig::max_candidates) (docs/spec/capture.md, 2).
///
/// ```
/// use adage::transcript::{Status, ToolCall, Transcript, Turn};
/// use adage::config::CaptureConfig;
/// use adage_sessions::heuristics::suggest;
///
/// let run = |command: &str, result: &str, status| {
///     let input = serde_json::json!({ "command": command });
///     Turn::ToolCall(ToolCall { tool: "Bash".into(), input, result: Some(result.into()), status })
/// };
/// let transcript = Transcript {
///     turns: vec![
///         Turn::User("Install the HTTP library for the crawler.".into()),
///         run("pip install request", "ERROR: No matching distribution found for request", Status::Failed),
///         run("pip install requests", "Successfully installed requests-2.32.3", Status::Succeeded),
///     ],
///     ..Transcript::default()
/// };
/// let found = suggest(&transcript, &CaptureConfig::default());
/// assert_eq!(found.candidates[0].name, "error-pip");
/// ```
#[must_use]
pub fn suggest(transcript: &Transcript, config: &CaptureConfig) -> Suggestions {
    let session = Session::new(transcript);
    let mut suggestions = Suggestions::default();
    let mut fired: Vec<Fired> = Vec::new();
    for heuristic in Heuristic::ALL {
        let found = match heuristic {
            Heuristic::MultiStep => multi_step::find(&session),
            Heuristic::ErrorRecovery => error_recovery::find(&session),
            Heuristic::UserCorrection => user_correction::find(&session),
            Heuristic::RepeatedAction => {
                let mut found = repeated_action::find(&session);
                let procedures = fired.iter().filter(|fired| fired.candidate.heuristic == Heuristic::MultiStep);
                let told = procedures.take(max_of_rule(Heuristic::MultiStep)).map(|fired| &fired.candidate);
                project_checks::leave_to_procedures(&mut found, &told.collect::<Vec<_>>());
                found
            }
            Heuristic::ExplicitInstruction => explicit_instruction::find(&session),
        };
        fired.extend(suggestions.best_first(heuristic, found));
    }
    suggestions.take(fired, config.max_candidates);
    suggestions
}

/// Parts candidates: those that are not on one of these failures, and those that are.
pub(crate) fn split_by_failure(
    transcript: &Transcript,
    candidates: Vec<Candidate>,
    failures: &[usize],
) -> (Vec<Candidate>, Vec<Candidate>) {
    if failures.is_empty() {
        return (candidates, Vec::new());
    }
    let outcomes = Outcomes::of(transcript);
    let is_on = |candidate: &Candidate| {
        candidate.failures().any(|own| failures.iter().any(|failure| outcomes.is_same_failure(own, *failure)))
    };
    candidates.into_iter().partition(|candidate| !is_on(candidate))
}

/// What a rule made of one place in a transcript.
struct Trial {
    turn: usize,
    result: Result<(Candidate, FiredBecause), RejectedBecause>,
}

impl Trial {
    fn fired(turn: usize, candidate: Candidate, because: FiredBecause) -> Self {
        Self { turn, result: Ok((candidate, because)) }
    }

    fn refused(turn: usize, reason: RejectedBecause) -> Self {
        Self { turn, result: Err(reason) }
    }
}

/// A candidate with why it fired.
struct Fired {
    turn: usize,
    candidate: Candidate,
    because: FiredBecause,
    /// The number of better candidates of its rule.
    place: usize,
    /// The score of the best of its rule.
    best: f64,
}

/// The maximum number of candidates of one rule: a session has one procedure and one habit that are worth noting.
fn max_of_rule(heuristic: Heuristic) -> usize {
    match heuristic {
        Heuristic::MultiStep | Heuristic::RepeatedAction => 1,
        Heuristic::ErrorRecovery | Heuristic::UserCorrection | Heuristic::ExplicitInstruction => usize::MAX,
    }
}

impl Suggestions {
    fn explain(&mut self, heuristic: Heuristic, turn: usize, because: Because) {
        self.explanations.push(Explanation { heuristic, turn, because });
    }

    /// What one rule found, the best first; the rest is explained.
    fn best_first(&mut self, heuristic: Heuristic, trials: Vec<Trial>) -> Vec<Fired> {
        let mut fired = Vec::new();
        for Trial { turn, result } in trials {
            match result {
                Ok((candidate, because)) => fired.push(Fired { turn, candidate, because, place: 0, best: 0.0 }),
                Err(reason) => self.explain(heuristic, turn, Because::Refused(reason)),
            }
        }
        // The sort is stable: of equals the earliest stays first.
        fired.sort_by(|a, b| b.candidate.score.total_cmp(&a.candidate.score));
        let best = fired.first().map_or(0.0, |fired| fired.candidate.score);
        fired.into_iter().enumerate().map(|(place, fired)| Fired { place, best, ..fired }).collect()
    }

    /// Adds the candidates of highest confidence up to the limit.
    fn take(&mut self, mut fired: Vec<Fired>, max: usize) {
        // The sort is stable: of equals the rule that comes first, and of one rule the best.
        fired.sort_by(|a, b| b.candidate.confidence().total_cmp(&a.candidate.confidence()));
        for fired in fired {
            let heuristic = fired.candidate.heuristic;
            let because = if fired.place >= max_of_rule(heuristic) {
                Because::Refused(RejectedBecause::Outdone { score: fired.candidate.score, best: fired.best })
            } else if self.candidates.len() >= max {
                Because::Refused(RejectedBecause::TooMany { max })
            } else {
                self.candidates.push(fired.candidate);
                Because::Fired(fired.because)
            };
            self.explain(heuristic, fired.turn, because);
        }
    }
}

/// Adds the marks of a mined lesson.
fn mined(draft: LessonDraft, session: &Session<'_>, confidence: f64, evidence: Vec<Evidence>) -> LessonDraft {
    let transcript = session.transcript;
    let provenance =
        Provenance { origin: Origin::Mined, session: transcript.session.clone(), evidence, ..Provenance::default() };
    let draft = draft.source("mined").confidence(confidence).provenance(&provenance);
    if transcript.project.is_empty() { draft } else { draft.project(transcript.project.as_str()) }
}

#[cfg(test)]
mod tests;
