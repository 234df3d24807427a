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
mod evidence;
mod labelled;
mod matched;
mod platt;
mod render;
mod report;
mod tiers;
mod tokens;
mod withheld;

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use adage_index::IndexKind;
use adage_redact::as_shown;
use serde::Serialize;

use crate::lesson::{LessonId, Realm, ReceiptId};
use crate::setters::setters;

pub(crate) use calibration::Calibration;
pub(crate) use conflicts::settle_conflicts;
pub use evidence::Evidence;
pub(crate) use evidence::QueryVectors;
pub use labelled::LabelledPair;
pub(crate) use labelled::{Asked, distinct};
pub use render::shown_tokens;
pub(crate) use render::{Rendered, recent_failures, render};
pub use report::{CalibrationFigures, CalibrationReport};
pub(crate) use report::{Gate, Showing, Trial};
pub(crate) use tiers::{Ranked, Search, VectorQuery};
pub(crate) use tokens::estimated_tokens;
pub(crate) use withheld::{passed_over, withhold};

/// What is asked. A query about something can never be answered by what happens to be new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// Lessons about this text. Never blank.
    About(String),
    /// The newest lessons, for a start without a task.
    ColdStart,
}

/// Which way of looking answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Nearest triggers by embedding.
    Vector,
    /// BM25 over trigger, mistake and solution.
    Lexical,
    /// The newest lessons; only for a cold start.
    Recency,
}

/// Which tier a request insists on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TierChoice {
    /// Vectors; an error where there is no embedder.
    Vector,
    /// Words, even where there is an embedder.
    Lexical,
}

/// What to retrieve, for whom, and how much of it.
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
    pub(crate) except: BTreeSet<LessonId>,
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
            except: BTreeSet::new(),
        }
    }

    /// The newest lessons.
    #[must_use]
    pub fn cold_start() -> Self {
        Self::about("")
    }

    /// A file is about to be touched: lessons whose `paths` match are shown first, two at most of those and of
    /// [`running`](Self::running) together. May be called for several files.
    #[must_use]
    pub fn touching(mut self, path: impl Into<String>) -> Self {
        self.touched.push(path.into());
        self
    }

    /// A command line is about to be run: lessons whose `commands` match are shown first.
    #[must_use]
    pub fn running(mut self, command: impl Into<String>) -> Self {
        self.run.push(command.into());
        self
    }

    /// Leaves these lessons out: the prompt has them already. Others take their places.
    #[must_use]
    pub fn except(mut self, lessons: impl IntoIterator<Item = LessonId>) -> Self {
        self.except.extend(lessons);
        self
    }

    setters! {
        /// Lessons of this project too, beside the global ones.
        project(project: impl Into<String>) => realm.project = as_shown(&project.into());
        /// Lessons of this role too, beside the global ones.
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
        /// Looks without counting: no receipt, no retrieval recorded.
        peek() => is_peek = true;
        /// Fills [`Context::considered`] with everything that was looked at.
        explain() => is_explained = true;
        /// Insists on a tier.
        tier(tier: TierChoice) => tier = Some(tier);
        /// Brings the query's vector along, so that nothing is embedded. It must come from the playbook's own model.
        with_vector(vector: Vec<f32>) => vector = Some(vector);
    }
}

impl<T: Into<String>> From<T> for Request {
    fn from(text: T) -> Self {
        Self::about(text)
    }
}

/// What goes into the prompt. `Display` is the block itself, empty when nothing is relevant.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Context {
    /// The block; empty when there is nothing to say.
    pub text: String,
    /// Which tier answered.
    pub tier: Tier,
    /// What searched the triggers' vectors, in the vector tier; of the realms that the request sees, the largest one's index.
    pub index: Option<IndexKind>,
    /// The lessons shown, in order.
    pub lessons: Vec<Shown>,
    /// The names of the skills shown below them: those that come with every context.
    pub skills: Vec<String>,
    /// Why nothing is shown, when nothing is.
    pub none_because: Option<NoMatchReason>,
    /// To be handed to `record_outcome`; none for a peek, and when nothing was found to be shown.
    pub receipt: Option<ReceiptId>,
    /// Everything that was looked at, best first; filled when the request asks for an explanation.
    pub considered: Vec<Scored>,
}

impl Context {
    /// Nothing, for this reason; no tier was asked.
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
    /// Its name.
    pub id: LessonId,
    /// The memory folder that it is in.
    pub folder: PathBuf,
    /// Its trigger.
    pub trigger: String,
    /// Cosine distance between query and trigger, in [0, 2], smaller is nearer; vector tier only.
    pub distance: Option<f32>,
    /// What it was ranked by, larger is better; none for recency.
    pub score: Option<f32>,
    /// How likely it is an answer, in [0, 1]; none for recency and under the classic rule.
    pub probability: Option<f32>,
    /// The pattern of the lesson that a path or a command of the request matched: it is shown first, whatever its score.
    pub matched: Option<String>,
    /// The lesson that says otherwise and counts more: the newer one, or a person's. It is shown before this one.
    pub contradicted_by: Option<LessonId>,
}

/// A lesson that was looked at.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Scored {
    /// Its name.
    pub id: LessonId,
    /// Its trigger.
    pub trigger: String,
    /// Cosine distance; vector tier only.
    pub distance: Option<f32>,
    /// Share of the query's idf mass that the lesson matches; under the classic rule, in the vector tier, share of the query's
    /// words that the trigger has.
    pub overlap: f32,
    /// What speaks for it; none under the classic rule.
    pub evidence: Option<Evidence>,
    /// What it is ranked by.
    pub score: f32,
    /// How likely it is an answer, in [0, 1]; none under the classic rule.
    pub probability: Option<f32>,
    /// Whether it passed the gate of its tier.
    pub passed: bool,
}

/// Why nothing is shown.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "reason")]
#[non_exhaustive]
pub enum NoMatchReason {
    /// Nobody here has made or trusted the folder.
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
        /// How likely any lesson is an answer, in [0, 1].
        probability: f32,
        /// What that would have to be above.
        answer_from: f32,
    },
    /// Vectors ran and nothing is near enough; classic rule.
    #[error("the nearest trigger is at distance {nearest:.3}, the threshold is {threshold:.3}")]
    NothingNear {
        /// Distance of the nearest visible trigger.
        nearest: f32,
        /// What it would have to be below.
        threshold: f32,
    },
    /// Words ran and no lesson matches enough of the query; classic rule.
    #[error("the best match covers {best:.2} of the query by trigger and text, the floor is {floor:.2}")]
    NothingMatched {
        /// Largest share of the query, by idf, that a visible lesson covers with its trigger and the whole of it.
        best: f32,
        /// What it would have to reach.
        floor: f32,
    },
    /// There are relevant lessons, but not even one fits.
    #[error("the smallest relevant lesson needs {needed} tokens, the budget is {max_tokens}")]
    OverBudget {
        /// Estimated tokens of the block with the smallest of them.
        needed: usize,
        /// The budget.
        max_tokens: usize,
    },
    /// There are relevant lessons, and chance withheld all of them; the receipt counts all the same.
    #[error("{n_lessons} relevant lessons are withheld at random, so that their effect can be measured")]
    Withheld {
        /// How many would have been shown.
        n_lessons: usize,
    },
    /// There are relevant lessons, and the request leaves all of them out.
    #[error("all relevant lessons are left out")]
    LeftOut,
    /// The request asks for no lessons at all.
    #[error("the limit is 0")]
    LimitZero,
}
