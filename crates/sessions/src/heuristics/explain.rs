//! Why a rule fired, or did not.

use adage_transcript::Relation;
use serde::Serialize;

use super::Heuristic;

/// What a rule made of one place in a transcript.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The rule.
    pub heuristic: Heuristic,
    /// The turn it looked at, from 0: where a run begins, a command fails, a user speaks.
    pub turn: usize,
    /// Why it fired or did not.
    pub because: Because,
}

/// Why a rule fired or did not.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Because {
    /// It did.
    Fired(FiredBecause),
    /// It did not.
    Refused(RejectedBecause),
}

/// Why a rule fired.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FiredBecause {
    /// Commands succeeded in a row.
    Run {
        /// How many.
        n_calls: usize,
        /// How many different things they did.
        n_actions: usize,
    },
    /// A failure was followed by a related success.
    Recovered {
        /// How they are related.
        relation: Relation,
        /// Terminal calls from the failure to the success.
        distance: usize,
        /// Files edited between the two.
        n_edited: usize,
    },
    /// The user corrected the agent, or stated a rule, a fact or a preference.
    Told {
        /// The probability that somebody who was not there could act on it.
        probability: f64,
    },
    /// A command was repeated.
    Repeated {
        /// How often it succeeded.
        times: usize,
    },
    /// The user asked for it.
    Instructed {
        /// What the request refers to.
        kind: Instruction,
        /// The number of commands that it is based on.
        n_commands: usize,
    },
}

/// What a request to remember something refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Instruction {
    /// A rule in the user's words: "remember: use tabs".
    Rule,
    /// What was just done: "save this as a skill".
    Pointer,
}

/// Why a rule did not fire.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RejectedBecause {
    /// The run is too short.
    ShortRun {
        /// How many commands succeeded in a row.
        n_calls: usize,
        /// How many it takes.
        min: usize,
    },
    /// The run does fewer than two different things; the rest only looks.
    FewActions {
        /// How many different things it does.
        n_actions: usize,
    },
    /// The run does more different things than a procedure has.
    ManyActions {
        /// How many different things it does.
        n_actions: usize,
        /// The limit.
        max: usize,
    },
    /// Most of the run looks, or is written for this one occasion, and what it does comes once.
    MostlyLooked {
        /// How many commands succeeded in a row.
        n_calls: usize,
        /// How many of them do something that can be done again.
        n_acting: usize,
        /// How many different things they do.
        n_actions: usize,
    },
    /// It ran between edits and came once: how the code was written, not how something is done.
    OnlyOnce {
        /// Edits from its first command to its last.
        n_edits: usize,
    },
    /// One of its commands passed only after a formatter that it lacks.
    StepLeftOut {
        /// Where the command failed.
        turn: usize,
    },
    /// No related command succeeded in time.
    NothingRelated {
        /// How many terminal calls followed within the window.
        n_looked_at: usize,
        /// The window.
        window: usize,
    },
    /// The output does not say what went wrong.
    NoError,
    /// Somebody wanted to see it fail, or what was broken was only put back.
    MeantToFail,
    /// Only files were edited that the session had written itself: how they were written, not what went wrong with them.
    OwnFiles {
        /// How many edits came between.
        n_edited: usize,
    },
    /// The user said something between the failure and the success.
    SaidBetween {
        /// In which turn.
        turn: usize,
    },
    /// The remedy is unknown: nothing changed, too much did, or the record does not say what the edits changed.
    NothingTold {
        /// Edits and commands between the failure and the success that may have mended it.
        n_between: usize,
        /// Words that differ between the two commands.
        n_changes: usize,
    },
    /// The command is a script for one occasion, which has several lines or is too long to be shown.
    Script {
        /// Its length in characters.
        n_chars: usize,
        /// The limit.
        max: usize,
    },
    /// The words tell the agent nothing, most likely.
    NotHeard {
        /// How likely they do.
        probability: f64,
    },
    /// An earlier turn says the same.
    SaidBefore,
    /// Nothing that the session says holds beyond the moment.
    OfTheMoment,
    /// A secret was typed: the redacted rest is not useful.
    HasSecret,
    /// The session is too short.
    FewCalls {
        /// How many terminal calls it has.
        n_calls: usize,
        /// How many it takes.
        min: usize,
    },
    /// The command was not repeated often enough.
    NotRepeated {
        /// How often it succeeded.
        times: usize,
        /// How often it takes.
        min: usize,
    },
    /// The program was used often, for something else each time.
    NeverTheSame {
        /// How often it succeeded.
        times: usize,
    },
    /// It only builds, lints, formats and tests: that is one lesson of the project, with its other checks.
    OnlyChecks,
    /// Another candidate of the same rule is better.
    Outdone {
        /// Its score.
        score: f64,
        /// The better one's.
        best: f64,
    },
    /// There are candidates enough.
    TooMany {
        /// The limit.
        max: usize,
    },
}
