//! Why a recovery that a model proposed is refused.

use adage_transcript::Status;
use serde::Serialize;

/// A part of a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecoveryPart {
    /// What failed.
    #[error("failure")]
    Failure,
    /// What was done or found out.
    #[error("remedy")]
    Remedy,
    /// What passed.
    #[error("success")]
    Success,
    /// When the lesson holds.
    #[error("trigger")]
    Trigger,
    /// What was done wrong.
    #[error("mistake")]
    Mistake,
    /// What to do.
    #[error("solution")]
    Solution,
}

/// Why the record does not prove a recovery. Turns are counted from 0, as the model was shown them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecoveryRefusal {
    /// A part is missing or empty.
    #[error("it has no {part}")]
    Missing {
        /// Which part.
        part: RecoveryPart,
    },
    /// A part is too long.
    #[error("its {part} has {n_chars} characters, at most {max} are taken")]
    TooLong {
        /// Which part.
        part: RecoveryPart,
        /// Its length.
        n_chars: usize,
        /// The limit.
        max: usize,
    },
    /// It cites more remedies than a lesson can show.
    #[error("it cites {n} remedies, at most {max} are taken")]
    ManyRemedies {
        /// How many.
        n: usize,
        /// The limit.
        max: usize,
    },
    /// A turn that is cited does not exist.
    #[error("its {part} is turn {turn}, and the session has {n_turns} turns")]
    NoSuchTurn {
        /// Which part.
        part: RecoveryPart,
        /// The cited turn.
        turn: usize,
        /// How many turns there are.
        n_turns: usize,
    },
    /// A turn that is cited is of a kind that cannot show this.
    #[error("its {part} is turn {turn}, which is of {speaker}")]
    WrongTurn {
        /// Which part.
        part: RecoveryPart,
        /// The cited turn.
        turn: usize,
        /// Who speaks there.
        speaker: crate::evidence::Speaker,
    },
    /// The turns are not in the order failure, remedy, success.
    #[error("its {part} is turn {turn}, which does not come after turn {after}")]
    OutOfOrder {
        /// The part that is too early.
        part: RecoveryPart,
        /// Its turn.
        turn: usize,
        /// The turn of the part before it.
        after: usize,
    },
    /// A quote is too short to say anything.
    #[error("the quote {quote:?} of its {part} has {n_chars} characters; it takes {min}")]
    ShortQuote {
        /// Which part.
        part: RecoveryPart,
        /// The quote.
        quote: String,
        /// Its length.
        n_chars: usize,
        /// The minimum length.
        min: usize,
    },
    /// A quote is not in the cited turn.
    #[error("the quote {quote:?} of its {part} is not in turn {turn}")]
    NotInTurn {
        /// Which part.
        part: RecoveryPart,
        /// The cited turn.
        turn: usize,
        /// The beginning of the quote.
        quote: String,
    },
    /// A quote begins or ends within a word of the cited turn.
    #[error("the quote {quote:?} of its {part} cuts a word of turn {turn} in two")]
    CutsAWord {
        /// Which part.
        part: RecoveryPart,
        /// The cited turn.
        turn: usize,
        /// The beginning of the quote.
        quote: String,
    },
    /// The cited failure did not fail.
    #[error("turn {turn} is not a failure: it ended as {status:?}, and the quote has no error")]
    DidNotFail {
        /// The cited turn.
        turn: usize,
        /// How it ended.
        status: Status,
    },
    /// The cited turn of the user reports no failure.
    #[error("in turn {turn} the user reports no failure")]
    NoReport {
        /// The cited turn.
        turn: usize,
    },
    /// Somebody wanted to see it fail.
    #[error("turn {turn} was meant to fail")]
    MeantToFail {
        /// The cited turn.
        turn: usize,
    },
    /// The cited success did not succeed.
    #[error("turn {turn} is not a success: it ended as {status:?}")]
    DidNotSucceed {
        /// The cited turn.
        turn: usize,
        /// How it ended.
        status: Status,
    },
    /// The user does not say in the cited turn that it works.
    #[error("in turn {turn} the user does not say that it works")]
    NotConfirmed {
        /// The cited turn.
        turn: usize,
    },
    /// The success is about something else than the failure.
    #[error("the success of turn {success} says nothing about the failure of turn {failure}")]
    Unrelated {
        /// The turn of the failure.
        failure: usize,
        /// The turn of the success.
        success: usize,
    },
    /// A cited remedy failed itself.
    #[error("the remedy of turn {turn} failed itself")]
    RemedyFailed {
        /// Its turn.
        turn: usize,
    },
    /// The remedies are words only, and nothing was changed.
    #[error("nothing was changed between the failure of turn {failure} and the success of turn {success}")]
    NothingDone {
        /// The turn of the failure.
        failure: usize,
        /// The turn of the success.
        success: usize,
    },
    /// After the last cited remedy the same failure came again.
    #[error("after the remedy of turn {remedy} it failed again in turn {turn}")]
    FailedAgain {
        /// The turn of the last remedy.
        remedy: usize,
        /// Where it failed again.
        turn: usize,
    },
    /// A flag, a path, a number or a name that the session does not have.
    #[error("its {part} has {value:?}, which is not in the session")]
    Invented {
        /// Which part.
        part: RecoveryPart,
        /// The value.
        value: String,
    },
    /// The solution says nothing but what failed.
    #[error("its solution only repeats the failure: {n_new} words are new, it takes {min}")]
    OnlyRepeats {
        /// Words of the solution that are not in the failure or the trigger.
        n_new: usize,
        /// The minimum number.
        min: usize,
    },
    /// The solution names nothing of the remedy.
    #[error("its solution names nothing of the remedy")]
    OtherSolution,
    /// There is a lesson on this failure, in use or proposed before, or a person skipped or removed it.
    #[error("there is or was a lesson on the failure of turn {turn}")]
    AlreadyFound {
        /// The turn of the failure, by that lesson.
        turn: usize,
    },
}
