//! Checks a recovery that a model proposes against the record of the session (docs/spec/capture.md, 3.8).
//!
//! Nothing of it is believed. The cited turns have to exist and to be in order, the quotes to be in them, the failure to have
//! failed and the success to have passed by the status of the calls, and the values of the lesson to be in the session.

mod citation;
mod refusal;
mod values;

use adage_transcript::{Status, Transcript, Turn};

use super::reply::{Citation, RecoveryProposal};
use crate::heuristics::{Outcomes, has_word, names_in};
use adage::lesson::{Passage, RecoveryEvidence};
pub use refusal::{RecoveryPart, RecoveryRefusal};

/// The maximum number of cited remedies: more are the story of a session, not what helped.
const MAX_REMEDIES: usize = 5;
/// The maximum length of a trigger, in characters; the model is asked for less.
const MAX_TRIGGER_CHARS: usize = 300;
/// The maximum length of any other text of the lesson, in characters.
const MAX_TEXT_CHARS: usize = 1_000;
/// The minimum number of words of a solution that are neither in its trigger nor in the failure.
const MIN_NEW_WORDS: usize = 2;

/// A session with the outcomes of its turns, for any number of proposals.
pub(super) struct Record<'t> {
    transcript: &'t Transcript,
    outcomes: Outcomes<'t>,
}

/// A recovery that the record proves.
pub(super) struct Proven {
    pub(super) evidence: RecoveryEvidence,
    /// The patterns of command lines for which the lesson is of use.
    pub(super) commands: Vec<String>,
    /// The program that failed. None if no command failed.
    pub(super) topic: Option<String>,
}

impl<'t> Record<'t> {
    pub(super) fn of(transcript: &'t Transcript) -> Self {
        Self { transcript, outcomes: Outcomes::of(transcript) }
    }

    /// How a call ended, as the checks read it.
    pub(super) fn status(&self, turn: usize) -> Status {
        self.outcomes.status(turn)
    }

    /// True if a call of the session failed.
    pub(super) fn has_failures(&self) -> bool {
        (0..self.transcript.turns.len()).any(|turn| self.outcomes.status(turn) == Status::Failed)
    }

    /// The evidence of a proposal. `found` are the turns of the failures on which there is a lesson, or was one.
    pub(super) fn check(&self, proposal: &RecoveryProposal, found: &[usize]) -> Result<Proven, RecoveryRefusal> {
        check_texts(proposal)?;
        let failure = &proposal.failure;
        self.check_order(proposal)?;
        let is_same = |turn: &&usize| self.outcomes.is_same_failure(failure.turn, **turn);
        if let Some(turn) = found.iter().find(is_same) {
            return Err(RecoveryRefusal::AlreadyFound { turn: *turn });
        }
        let evidence = RecoveryEvidence {
            failure: self.failure(failure)?,
            remedies: self.remedies(proposal)?,
            success: self.success(proposal)?,
        };
        self.check_done(&evidence)?;
        self.check_values(proposal)?;
        check_solution(proposal, &evidence)?;
        Ok(Proven {
            commands: self.outcomes.patterns(failure.turn, &failure.quote),
            topic: self.outcomes.topic(failure.turn),
            evidence,
        })
    }

    /// Failure before each remedy before success. A remedy may be the success itself: a command that was rewritten.
    fn check_order(&self, proposal: &RecoveryProposal) -> Result<(), RecoveryRefusal> {
        let RecoveryProposal { failure, remedies, success, .. } = proposal;
        let parts = remedies.iter().map(|remedy| (RecoveryPart::Remedy, remedy.turn));
        let n_turns = self.transcript.turns.len();
        let all = parts.clone().chain([(RecoveryPart::Failure, failure.turn), (RecoveryPart::Success, success.turn)]);
        for (part, turn) in all {
            if turn >= n_turns {
                return Err(RecoveryRefusal::NoSuchTurn { part, turn, n_turns });
            }
        }
        for (part, turn) in parts {
            if turn <= failure.turn {
                return Err(RecoveryRefusal::OutOfOrder { part, turn, after: failure.turn });
            }
            let is_rewritten = turn == success.turn && self.is_rewritten(failure.turn, success.turn);
            if turn >= success.turn && !is_rewritten {
                return Err(RecoveryRefusal::OutOfOrder {
                    part: RecoveryPart::Success,
                    turn: success.turn,
                    after: turn,
                });
            }
        }
        Ok(())
    }

    fn failure(&self, cited: &Citation) -> Result<Passage, RecoveryRefusal> {
        let passage = self.passage(RecoveryPart::Failure, cited)?;
        let turn = cited.turn;
        if !self.is_call(turn) {
            let is_reported = self.outcomes.reports_failure(turn, &passage.quote);
            return if is_reported { Ok(passage) } else { Err(RecoveryRefusal::NoReport { turn }) };
        }
        let status = self.outcomes.status(turn);
        if status == Status::Failed || self.outcomes.prints_error(turn, &passage.quote) {
            Ok(passage)
        } else {
            Err(RecoveryRefusal::DidNotFail { turn, status })
        }
    }

    fn remedies(&self, proposal: &RecoveryProposal) -> Result<Vec<Passage>, RecoveryRefusal> {
        let mut passages = Vec::new();
        for cited in &proposal.remedies {
            passages.push(self.passage(RecoveryPart::Remedy, cited)?);
            if self.outcomes.status(cited.turn) == Status::Failed {
                return Err(RecoveryRefusal::RemedyFailed { turn: cited.turn });
            }
        }
        passages.sort_by_key(|passage| passage.turn);
        Ok(passages)
    }

    fn success(&self, proposal: &RecoveryProposal) -> Result<Passage, RecoveryRefusal> {
        let RecoveryProposal { failure, remedies, success, .. } = proposal;
        let passage = self.passage(RecoveryPart::Success, success)?;
        let turn = success.turn;
        if !self.is_call(turn) {
            let is_told = self.outcomes.reports_success(turn, &passage.quote);
            return if is_told { Ok(passage) } else { Err(RecoveryRefusal::NotConfirmed { turn }) };
        }
        let status = self.outcomes.status(turn);
        if status != Status::Succeeded {
            return Err(RecoveryRefusal::DidNotSucceed { turn, status });
        }
        let is_named = || {
            let shown = format!("{} {}", passage.source, passage.quote);
            values::values(&failure.quote).iter().any(|value| is_name(value) && has_word(&shown, value))
        };
        // Another call that did what the failed one was for.
        let is_remedy = || remedies.iter().any(|remedy| remedy.turn == turn);
        if !self.outcomes.bears_on(failure.turn, &failure.quote, turn) && !is_named() && !is_remedy() {
            return Err(RecoveryRefusal::Unrelated { failure: failure.turn, success: turn });
        }
        if self.outcomes.is_intended(failure.turn, turn) {
            return Err(RecoveryRefusal::MeantToFail { turn: failure.turn });
        }
        Ok(passage)
    }

    /// Something was changed in between, and the failure did not come again after it.
    fn check_done(&self, evidence: &RecoveryEvidence) -> Result<(), RecoveryRefusal> {
        let (failure, success) = (evidence.failure.turn, evidence.success.turn);
        let is_of_user = |passage: &Passage| matches!(self.turn(passage.turn), Some(Turn::User(_)));
        let is_rewritten = self.is_rewritten(failure, success);
        if !is_rewritten && !self.outcomes.has_acts(failure + 1, success) && !evidence.remedies.iter().any(is_of_user) {
            return Err(RecoveryRefusal::NothingDone { failure, success });
        }
        let remedy = evidence.remedies.last().map_or(failure, |last| last.turn);
        match self.outcomes.failed_again(failure, &evidence.failure.quote, remedy + 1, success) {
            Some(turn) => Err(RecoveryRefusal::FailedAgain { remedy, turn }),
            None => Ok(()),
        }
    }

    fn check_values(&self, proposal: &RecoveryProposal) -> Result<(), RecoveryRefusal> {
        for (part, text) in texts(proposal) {
            let invented =
                values::values(text).into_iter().find(|value| !values::is_in_session(self.transcript, value));
            if let Some(value) = invented {
                return Err(RecoveryRefusal::Invented { part, value: super::reply::excerpt(value) });
            }
        }
        Ok(())
    }

    /// True for a success that is another call than the failed one, and no edit: that it was written otherwise may be all that helped.
    fn is_rewritten(&self, failure: usize, success: usize) -> bool {
        let call = self.turn(success).and_then(Turn::as_call);
        call.is_some_and(|call| !call.changes_files()) && !self.outcomes.is_rerun(failure, success)
    }

    fn turn(&self, turn: usize) -> Option<&'t Turn> {
        self.transcript.turns.get(turn)
    }

    fn is_call(&self, turn: usize) -> bool {
        matches!(self.turn(turn), Some(Turn::ToolCall(_)))
    }
}

/// The solution says more than the failure, and something of what was done.
fn check_solution(proposal: &RecoveryProposal, evidence: &RecoveryEvidence) -> Result<(), RecoveryRefusal> {
    let known = names_in(&format!("{} {}", evidence.failure.quote, proposal.trigger));
    let said = names_in(&proposal.solution);
    let code = values::values(&proposal.solution);
    let of_failure = |value: &&str| evidence.failure.quote.contains(*value) || proposal.trigger.contains(*value);
    let n_new = said.difference(&known).count() + code.iter().filter(|value| !of_failure(value)).count();
    if n_new < MIN_NEW_WORDS {
        return Err(RecoveryRefusal::OnlyRepeats { n_new, min: MIN_NEW_WORDS });
    }
    let mut done = String::new();
    for passage in evidence.remedies.iter().chain([&evidence.success]) {
        done.extend([passage.source.as_str(), "\n", passage.quote.as_str(), "\n"]);
    }
    let is_named = !said.is_disjoint(&names_in(&done)) || code.iter().any(|value| done.contains(value));
    if is_named { Ok(()) } else { Err(RecoveryRefusal::OtherSolution) }
}

/// True for a value that failure and success do not share by chance: no number, no time.
fn is_name(value: &str) -> bool {
    const MIN_LETTERS: usize = 3;
    value.chars().filter(|c| c.is_alphabetic()).count() >= MIN_LETTERS
}

/// The texts of the lesson.
fn texts(proposal: &RecoveryProposal) -> [(RecoveryPart, &str); 3] {
    [
        (RecoveryPart::Trigger, proposal.trigger.as_str()),
        (RecoveryPart::Mistake, proposal.mistake.as_str()),
        (RecoveryPart::Solution, proposal.solution.as_str()),
    ]
}

/// All that needs no session: what is there, and how long it is.
fn check_texts(proposal: &RecoveryProposal) -> Result<(), RecoveryRefusal> {
    for (part, text) in texts(proposal) {
        let max = if part == RecoveryPart::Trigger { MAX_TRIGGER_CHARS } else { MAX_TEXT_CHARS };
        let n_chars = text.chars().count();
        if text.trim().is_empty() && part != RecoveryPart::Mistake {
            return Err(RecoveryRefusal::Missing { part });
        }
        if n_chars > max {
            return Err(RecoveryRefusal::TooLong { part, n_chars, max });
        }
    }
    let n = proposal.remedies.len();
    if n == 0 {
        return Err(RecoveryRefusal::Missing { part: RecoveryPart::Remedy });
    }
    if n > MAX_REMEDIES {
        return Err(RecoveryRefusal::ManyRemedies { n, max: MAX_REMEDIES });
    }
    Ok(())
}
