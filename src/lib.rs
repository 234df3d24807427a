//! Embedded, offline lesson memory for AI agents.
//!
//! An agent calls [`learn_lesson`](Playbook::learn_lesson) after a mistake and
//! [`get_playbook_context`](Playbook::get_playbook_context) before a task; between the two, the [`Playbook`] keeps the few
//! lessons that earn their place. No server, no network, no language model needed: a local embedder, an in-process index, and a
//! folder that a person can read.
//!
//! # A tour
//!
//! - Learning: [`build_lesson`] makes a [`LessonDraft`]; [`Learned`] says what became of it. Near lessons merge unless
//!   their values differ: a [`Difference`] names them.
//! - Retrieving: a [`Request`] is about something or a cold start; the [`Context`] carries the text for the prompt, the
//!   [`Tier`] that answered, why nothing is shown when nothing is, and a receipt.
//! - Feedback: [`record_outcome`](Playbook::record_outcome) credits exactly what a receipt showed. [`utility`] decides who
//!   stays.
//! - Removing: [`remove`](Playbook::remove) is for good; [`undo`](Playbook::undo) takes changes back.
//! - Sessions: [`extract_lessons`] asks the host's [`LanguageModel`] what a [`Transcript`] teaches and takes only what it
//!   can show in the user's own words: [`find_evidence`].
//! - Settings: [`Config`] has every default on one page.
//!
//! # Features
//!
//! `rten` runs the embedding model in pure Rust, `bundled-model` links all-MiniLM-L6-v2 (both default); `cli` builds the
//! command line; `http-llm` adds a client of OpenAI-compatible servers, `HttpModel`. Without `rten` the crate takes the host's [`Embedder`] or retrieves by words.

mod capture;
mod clock;
mod config;
mod embed;
mod error;
mod gate;
mod index;
mod learn;
mod lesson;
mod lexical;
mod playbook;
mod retrieve;
mod store;

/// The crate of the times in the interface.
pub use chrono;
/// The crate of the arrays that an [`Embedder`] returns.
pub use ndarray;

#[cfg(feature = "http-llm")]
pub use capture::HttpModel;
pub use capture::{
    CancelHook, CancelToken, Completion, Existing, ExtractRequest, Extracted, Extraction, LanguageModel,
    MIN_QUOTE_WORDS, ModelError, NoEvidence, Refused, RefusedBecause, ScriptedModel, Speaker, Status, ToolCall,
    Transcript, Turn, Unreadable, check_evidence, extract_lessons, find_evidence,
};
pub use clock::{Clock, ManualClock, SystemClock};
pub use config::{
    Config, DedupPolicy, ExtractConfig, FeedbackConfig, LearnConfig, PLAYBOOK_MAX, RetentionConfig, RetrievalConfig,
    UtilityPolicy,
};
pub use embed::{Embedder, HashingEmbedder, Role, UnitVector};
#[cfg(feature = "rten")]
pub use embed::{Engine, Model, OnnxEmbedder};
pub use error::{CannotUndo, EmbedError, Error, Result, VectorError};
pub use gate::{Redactor, Secret};
pub use index::{Among, Answer, IndexConfig, IndexKind, IndexNeighbour, KeySet, VectorIndex};
pub use learn::{Difference, Field, Learned, Outcome, Refusal, ReviewReason, ValueKind, Verification, utility};
pub use lesson::{
    ChangeId, Evidence, Lesson, LessonDraft, LessonId, LessonRef, Origin, Provenance, Realm, ReceiptId, SCHEMA_VERSION,
    TextHash, Trust, build_lesson,
};
pub use playbook::{
    ChangeRecord, Check, Finding, Listing, Playbook, PlaybookBuilder, Pruned, Removal, Settled, Stats, Touched, Undone,
    WaitingLesson, Window,
};
pub use retrieve::{Considered, Context, NoneBecause, Query, Request, Shown, Tier, TierChoice, reciprocal_rank_fusion};
pub use store::Recovery;

/// The README's examples are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
