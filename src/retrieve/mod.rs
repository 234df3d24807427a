//! Retrieval: from a request and the playbook to the text for a prompt (docs/spec/playbook.md, 5). A pure stage.
//!
//! ```
//! use adage::{NoMatchReason, Playbook, Request, Tier, build_lesson};
//!
//! # let folder = tempfile::tempdir()?;
//! let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
//! playbook.learn_lesson(build_lesson("parsing CSV exports", "Use the csv module."))?;
//!
//! let context = playbook.get_playbook_context(Request::about("parse a CSV export").limit(3))?;
//! assert_eq!((context.tier, context.lessons.len()), (Tier::Lexical, 1));
//! let nothing = playbook.get_playbook_context("What is the capital of France?")?;
//! assert_eq!(nothing.text, "");
//! println!("{}", nothing.none_because.ok_or("no reason")?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod calibration;
mod conflicts;
mod labelled;
mod match_signals;
mod matched;
mod platt;
mod remedy;
mod render;
mod report;
mod tiers;
mod tokens;
mod units;
mod withheld;

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use adage_index::IndexKind;
use adage_redact::as_shown;
use adage_transcript::CommandLine;
use serde::Serialize;

use crate::lesson::{LessonId, MAX_TEXT_CHARS, Realm, ReceiptId};
use crate::setters::setters;

pub(crate) use calibration::Calibration;
pub(crate) use conflicts::resolve_contradictions;
pub use labelled::LabelledPair;
pub(crate) use labelled::{Asked, distinct};
pub use match_signals::MatchSignals;
pub(crate) use match_signals::QueryVectors;
pub use render::shown_tokens;
pub(crate) use render::{Rendered, recent_failures, render};
pub use report::{CalibrationFigures, CalibrationReport};
pub(crate) use report::{Gate, ShownLessons, Trial};
pub(crate) use tiers::{Ranked, Search, VectorQuery};
pub(crate) use tokens::estimated_tokens;
pub(crate) use units::{Unit, units};
pub(crate) use withheld::{passed_over, withhold};

/// The query of a request. A query about a text is never answered with the newest lessons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// Lessons about this text. Never blank.
    About(String),
    /// The newest lessons, at a start without a task.
    ColdStart,
}

/// How the lessons of a context were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// By the vectors of all texts and by words.
    Vector,
    /// By words: BM25 over trigger, mistake and solution.
    Lexical,
    /// The newest lessons; only for a cold start.
    Recency,
}

/// The tier that a request requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TierChoice {
    /// Vectors; an error if there is no embedder.
    Vector,
    /// Words, even if there is an embedder.
    Lexical,
}

/// What to retrieve, for which realm, and how much.
///
/// ```
/// use adage::Request;
/// let request = Request::about("parse a CSV export").project("shop").limit(3);
/// assert_ne!(request, Request::cold_start());
/// assert_eq!(Request::about("  "), Request::cold_start());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub(crate) query: Query,
    pub(crate) realm: Realm,
    pub(crate) distance_threshold: Option<f32>,
    pub(crate) limit: Option<usize>,
    pub(crate) max_tokens: Option<usize>,
    pub(crate) is_peek: bool,
    pub(crate) is_explained: bool,
    pub(crate) tier: Option<TierChoice>,
    pub(crate) vector: Option<Vec<f32>>,
    pub(crate) touched: Vec<String>,
    pub(crate) run: Vec<String>,
    pub(crate) lines: Vec<CommandLine>,
    pub(crate) except: BTreeSet<LessonId>,
    pub(crate) leaves_recoveries: bool,
}

impl Request {
    /// Lessons about a task. A blank text is a cold start.
    pub fn about(text: impl Into<String>) -> Self {
        let text = text.into();
        let query = if text.trim().is_empty() { Query::ColdStart } else { Query::About(text) };
        Self {
            query,
            realm: Realm::default(),
            distance_threshold: None,
            limit: None,
            max_tokens: None,
            is_peek: false,
            is_explained: false,
            tier: None,
            vector: None,
            touched: Vec::new(),
            run: Vec::new(),
            lines: Vec::new(),
            except: BTreeSet::new(),
            leaves_recoveries: false,
        }
    }

    /// The newest lessons.
    #[must_use]
    pub fn cold_start() -> Self {
        Self::about("")
    }

    /// Adds a file that is about to be changed: lessons whose `paths` match it are shown first, at most two together with those
    /// of [`running`](Self::running). May be called for several files.
    #[must_use]
    pub fn touching(mut self, path: impl Into<String>) -> Self {
        self.touched.push(path.into());
        self
    }

    /// Adds a command line that is about to be run: lessons whose `commands` match it, or one of the commands in it, are shown
    /// first. A lesson is not shown if the line has what mended its failure ([`Lesson::recovery`](crate::Lesson)). A script's folder does not count: `python plot.py*` matches `python tools/plot.py`.
    #[must_use]
    pub fn running(mut self, command: impl Into<String>) -> Self {
        let mut command = command.into();
        if let Some((end, _)) = command.char_indices().nth(MAX_TEXT_CHARS) {
            command.truncate(end);
        }
        let line = CommandLine::parse(&command);
        self.run.extend(matched::forms_of(command, &line));
        self.lines.push(line);
        self
    }

    /// Excludes these lessons, for example because the prompt already contains them. Others are shown instead.
    #[must_use]
    pub fn except(mut self, lessons: impl IntoIterator<Item = LessonId>) -> Self {
        self.except.extend(lessons);
        self
    }

    setters! {
        /// Lessons of this project, in addition to the global ones.
        project(project: impl Into<String>) => realm.project = as_shown(&project.into());
        /// Lessons of this role, in addition to the global ones.
        role(role: impl Into<String>) => realm.role = as_shown(&role.into());
        /// Lessons that this realm sees: its own and the global ones.
        in_realm(realm: &Realm) => realm = realm.as_shown();
        /// Applies the classic rule to this call: triggers strictly below this cosine distance, in [0, 2]
        /// (docs/spec/playbook.md, 5.8).
        distance_threshold(distance: f32) => distance_threshold = Some(distance);
        /// At most this many lessons; 5 by default, 0 shows none.
        limit(limit: usize) => limit = Some(limit);
        /// At most this many estimated tokens; 1,200 by default.
        max_tokens(max_tokens: usize) => max_tokens = Some(max_tokens);
        /// Does not count the retrieval, and returns no receipt.
        peek() => is_peek = true;
        /// Fills [`Context::considered`] with every candidate.
        explain() => is_explained = true;
        /// Leaves out recoveries that come before their command ([`Lesson::recovery`](crate::Lesson)): for a host that asks again with
        /// [`running`](Self::running) before each command.
        without_recoveries() => leaves_recoveries = true;
        /// Requires a tier.
        tier(tier: TierChoice) => tier = Some(tier);
        /// Uses this vector for the query, so that nothing is embedded. It must come from the playbook's own model.
        with_vector(vector: Vec<f32>) => vector = Some(vector);
    }
}

impl<T: Into<String>> From<T> for Request {
    fn from(text: T) -> Self {
        Self::about(text)
    }
}

/// The lessons for a prompt. `Display` writes the text, which is empty when nothing is relevant.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Context {
    /// The text for the prompt; empty when nothing is relevant.
    pub text: String,
    /// The tier that answered.
    pub tier: Tier,
    /// The index that searched the triggers' vectors, in the vector tier. If the request sees several realms, that of the
    /// largest one.
    pub index: Option<IndexKind>,
    /// The lessons shown, in order.
    pub lessons: Vec<Shown>,
    /// The names of the skills shown below the lessons: the auto-loaded ones.
    pub skills: Vec<String>,
    /// Why nothing is shown; none if something is.
    pub none_because: Option<NoMatchReason>,
    /// The receipt for [`Playbook::record_outcome`](crate::Playbook::record_outcome); none for a peek, and if there was nothing
    /// to show.
    pub receipt: Option<ReceiptId>,
    /// Every candidate, best first; filled if the request asks for an explanation.
    pub considered: Vec<Scored>,
}

impl Context {
    /// An empty context with this reason; no tier was searched.
    pub(crate) fn nothing(reason: NoMatchReason) -> Self {
        Self {
            text: String::new(),
            tier: Tier::Recency,
            index: None,
            lessons: Vec::new(),
            skills: Vec::new(),
            none_because: Some(reason),
            receipt: None,
            considered: Vec::new(),
        }
    }
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A lesson that is shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Shown {
    /// Its id.
    pub id: LessonId,
    /// The memory folder that it is in.
    #[serde(serialize_with = "crate::path_text::shown")]
    pub folder: PathBuf,
    /// Its trigger.
    pub trigger: String,
    /// Cosine distance of query and trigger, in [0, 2], smaller is nearer; only in the vector tier.
    pub distance: Option<f32>,
    /// The ranking score, larger is better; none for recency.
    pub score: Option<f32>,
    /// The probability that it is an answer, in [0, 1]; none for recency and under the classic rule.
    pub probability: Option<f32>,
    /// The lesson's pattern that matched a path or a command of the request: it is shown first, regardless of its score.
    pub matched: Option<String>,
    /// A contradicting lesson that prevails, because it is newer or a person's. It is shown before this one.
    pub contradicted_by: Option<LessonId>,
}

/// A candidate.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Scored {
    /// Its id.
    pub id: LessonId,
    /// Its trigger.
    pub trigger: String,
    /// Cosine distance of query and trigger, in [0, 2]; only in the vector tier.
    pub distance: Option<f32>,
    /// Fraction of the query's idf mass that the lesson contains, in [0, 1]. Under the classic rule, in the vector tier:
    /// fraction of the query's words that the trigger contains.
    pub overlap: f32,
    /// The match signals; none under the classic rule.
    #[serde(rename = "evidence")]
    pub signals: Option<MatchSignals>,
    /// The ranking score, larger is better.
    pub score: f32,
    /// The probability that it is an answer, in [0, 1]; none under the classic rule.
    pub probability: Option<f32>,
    /// Whether it passed the gate of its tier.
    pub passed: bool,
}

/// Why nothing is shown.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "reason")]
#[non_exhaustive]
pub enum NoMatchReason {
    /// The folder is not trusted, so nothing in it is used.
    #[error("the folder is not trusted")]
    NotTrusted,
    /// No lesson is visible to this request.
    #[error("no lesson is visible here")]
    NoLessons,
    /// The best candidate is too unlikely to be an answer.
    #[error(
        "the best candidate, lesson {best}, is an answer with probability {probability:.2}; the threshold is {answer_from:.2}"
    )]
    Unlikely {
        /// The best candidate.
        best: LessonId,
        /// The probability that any lesson is an answer, in [0, 1].
        probability: f32,
        /// The threshold that it must exceed.
        answer_from: f32,
    },
    /// Classic rule, vectors: no trigger is near enough.
    #[error("the nearest trigger is at distance {nearest:.3}, the threshold is {threshold:.3}")]
    NothingNear {
        /// The distance of the nearest visible trigger.
        nearest: f32,
        /// The threshold that it must be below.
        threshold: f32,
    },
    /// Classic rule, words: no lesson matches enough of the query.
    #[error("the best match covers {best:.2} of the query by trigger and text, the floor is {floor:.2}")]
    NothingMatched {
        /// The largest fraction of the query's idf mass that a visible lesson covers, by its trigger and its whole text.
        best: f32,
        /// The threshold that it must reach.
        floor: f32,
    },
    /// A program's output: no line of it has a sign of a visible lesson.
    #[error("no line has a sign of a lesson")]
    NoSign,
    /// There are relevant lessons, but none fits the budget.
    #[error("the smallest relevant lesson needs {needed} tokens, the budget is {max_tokens}")]
    OverBudget {
        /// The estimated tokens of a block with only the smallest of them.
        needed: usize,
        /// The budget in estimated tokens.
        max_tokens: usize,
    },
    /// There are relevant lessons, but all were withheld at random; the receipt is valid all the same.
    #[error("{n_lessons} relevant lessons are withheld at random, so that their effect can be measured")]
    Withheld {
        /// The number of lessons that would have been shown.
        n_lessons: usize,
    },
    /// There are relevant lessons, but the request excludes all of them.
    #[error("all relevant lessons are left out")]
    LeftOut,
    /// The request's limit is 0.
    #[error("the limit is 0")]
    LimitZero,
}
