//! Embedded, offline lesson memory for AI agents.
//!
//! An agent calls [`learn_lesson`](Playbook::learn_lesson) after a mistake and
//! [`get_playbook_context`](Playbook::get_playbook_context) before a task. In between, the [`Playbook`], a folder of lessons, keeps
//! the few that earn their place: near lessons merge unless their values differ, unrelated questions get nothing, and what is
//! found in a session awaits a person's review. It needs no server, network or language model: only a local embedder, an
//! in-process index, and a folder that a person can read.
//!
//! ```
//! use adage::{Feedback, Playbook, Request, build_lesson};
//!
//! # let folder = tempfile::tempdir()?;
//! let playbook = Playbook::open(folder.path())?;
//! playbook.learn_lesson(
//!     build_lesson("pushing a rebased branch", "Use --force-with-lease, never --force.")
//!         .mistake("git push --force overwrote a colleague's commits"),
//! )?;
//!
//! let context = playbook.get_playbook_context(Request::about("push my branch after a rebase"))?;
//! assert!(context.text.contains("--force-with-lease"));
//!
//! let receipt = context.receipt.ok_or("nothing was shown")?;
//! playbook.record_outcome(receipt, Feedback::Helpful)?;
//! assert_eq!(playbook.find("pushing a rebased branch")?.retrievals, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A tour
//!
//! - **Learning.** [`build_lesson`] starts a [`LessonDraft`]; the outcome says whether the lesson was inserted, merged, kept
//!   distinct (and by which difference) or refused, or awaits review.
//! - **Retrieving.** A [`Request`] is about a task or a cold start, for a project and a role. The [`Context`] has the text for the prompt,
//!   each lesson with distance and score, the reason when nothing is shown, and a receipt.
//! - **Feedback.** `record_outcome` credits exactly what a receipt showed; utility decides which lessons stay. With [`credit`],
//!   `effect` estimates what showing a lesson changed.
//! - **Undoing.** `changes` lists what was replaced or removed, `undo` reverts one of them for 30 days. Nothing else brings a removed
//!   text back: neither mining nor an import.
//! - **Other memories.** A [`VectorMemory`] keeps your program's own documents, found by meaning under a metadata filter.
//! - **Sessions.** [`transcript`] reads what agents recorded; the crate `adage-sessions` finds lessons in it, by rules and by your
//!   language model. It is built on [`extend`].
//! - **Review.** The crate `adage-review` holds what awaits a person: lessons, and patches of notes and skills.
//! - **Skills.** [`skills`] matches and maintains `SKILL.md` files, [`exchange`] moves lessons to and from files of other programs.
//! - **Settings.** [`config`] has every default on one page, with unit, range and origin.
//!
//! All calls block, and handles are `Clone + Send + Sync`: in an async program, call them on a blocking thread.
//! `docs/recipes.md` of the repository answers first questions.
//!
//! # A dozen words
//!
//! | word | meaning |
//! |---|---|
//! | lesson | a situation (trigger), what not to do, what to do, and its history |
//! | playbook | the lessons of a folder and the rules by which they are kept |
//! | realm | the project and role that a lesson holds for; an empty value means all |
//! | context | the lessons that a request gets, as text for a prompt |
//! | tier | how they were found: by vectors, by words, or the newest ones |
//! | receipt | the id of one retrieval, so that feedback credits exactly its lessons |
//! | utility | what a lesson is worth; the least useful are evicted |
//! | evidence | a verbatim quote of the user that confirms a lesson |
//! | tainted | may come from untrusted content |
//! | review | where tainted lessons, and what is found in sessions, wait for a person |
//! | promotion | a person's decision that exactly this text may be shown |
//! | skill | instructions for a kind of task, a `SKILL.md` file |
//!
//! # Features
//!
//! `bundled-model` links all-MiniLM-L6-v2 and the engine that runs it, `ort` runs any ONNX model in an ONNX Runtime library that
//! the caller names (both are default), `rten` runs any ONNX model in pure Rust. `http-llm` adds a client of OpenAI-compatible
//! servers; `hnsw_rs` adds that crate's graph, for comparison. Without an engine the crate uses your own [`Embedder`] or retrieves
//! by words.

pub mod calibrate;
mod clock;
pub mod config;
pub mod credit;
pub mod difference;
mod document;
pub mod embed;
mod error;
pub mod exchange;
pub mod extend;
mod folder;
mod gate;
mod hash;
mod id;
pub mod index;
pub mod learn;
pub mod lesson;
mod lexical;
pub mod model;
mod path_text;
pub mod playbook;
pub mod redact;
pub mod retrieve;
mod setters;
mod skill;
pub mod skills;
mod state;
mod store;
#[cfg(test)]
mod testing;
pub mod transcript;
pub mod trust;
mod user_key;
pub mod vector_memory;

/// The crate of the times in the interface.
pub use chrono;
/// The crate of the arrays that an [`Embedder`] returns.
pub use ndarray;

pub use clock::{Clock, ManualClock, SystemClock, parse_time};
pub use config::Config;
pub use difference::Difference;
pub use document::Document;
#[cfg(any(feature = "rten", feature = "ort", feature = "bundled-model"))]
pub use embed::OnnxEmbedder;
pub use embed::{Embedder, HashingEmbedder};
pub use error::{Error, FolderError, FolderKind, Holder, Result, StoreError, Unusable};
pub use learn::{Feedback, LearnOutcome, Verification};
pub use lesson::{ChangeId, Lesson, LessonDraft, LessonId, LessonRef, Realm, ReceiptId, TextHash, build_lesson};
pub use model::LanguageModel;
pub use playbook::{Credited, Listing, Playbook, PlaybookBuilder, Playbooks};
pub use retrieve::{Context, NoMatchReason, Request, Scored, Shown, Tier};
pub use state::utility;
pub use vector_memory::{Filter, Hit, Lookup, VectorMemory};

/// The README's examples are tests, where the model that they use is there.
#[cfg(all(doctest, feature = "bundled-model"))]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(all(doctest, feature = "bundled-model"))]
#[doc = include_str!("../docs/guide.md")]
struct Guide;

#[cfg(doctest)]
#[doc = include_str!("../docs/recipes.md")]
struct Recipes;

#[cfg(doctest)]
#[doc = include_str!("../docs/spec/playbook.md")]
struct PlaybookSpecification;
