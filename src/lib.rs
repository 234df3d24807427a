//! Embedded, offline lesson memory for AI agents.
//!
//! An agent calls [`learn_lesson`](Playbook::learn_lesson) after a mistake and
//! [`get_playbook_context`](Playbook::get_playbook_context) before a task; between the two, the [`Playbook`] keeps the few
//! lessons that earn their place. No server, no network, no language model needed: a local embedder, an in-process index, and a
//! folder that a person can read.
//!
//! # A tour
//!
//! - Learning: [`build_lesson`] makes a [`LessonDraft`]; [`LearnOutcome`] says what became of it. Near lessons merge unless
//!   their values differ: a [`Difference`] names them.
//! - Retrieving: a [`Request`] is about something or a cold start; the [`Context`] carries the text for the prompt, the
//!   [`Tier`] that answered, why nothing is shown when nothing is, and a receipt.
//! - Feedback: [`record_outcome`](Playbook::record_outcome) credits exactly what a receipt showed. [`utility`] decides who
//!   stays.
//! - Removing: [`remove`](Playbook::remove) is for good; [`undo`](Playbook::undo) takes changes back.
//! - Documents of the host's own: a [`VectorMemory`] in another folder, asked by [`Lookup`] under a [`Filter`].
//! - Sessions: a [`TranscriptReader`](transcript::TranscriptReader) reads what an agent wrote down of one into a
//!   [`Transcript`](transcript::Transcript), and reports what is not in it.
//! - Past sessions: [`Playbook::sessions`] lists those of a folder, says which are due and reads them, one run at a time.
//! - Extraction: [`extract_lessons`] asks the host's [`LanguageModel`] what a transcript teaches and takes only what it
//!   can show in the user's own words: [`find_evidence`].
//! - Skills: [`Playbook::skills`] lists, matches, exports and promotes `SKILL.md` files; [`Skills::for_task`] is the block for a
//!   prompt, [`Skills::curate`] keeps drafts in order.
//! - Review: [`Playbook::inbox`] holds what waits for a person: patches of notes and skills, new skills, lessons.
//! - The host's agent: [`Playbook::begin_agent`] gives it past sessions, instructions and a [`ToolPolicy`].
//! - Exchange: [`Playbook::export_into`] and [`read_lessons`] move lessons to and from files of other programs.
//! - Settings: [`Config`] has every default on one page.
//!
//! # Features
//!
//! `rten` runs the embedding model in pure Rust, `ort` in an ONNX Runtime library that the caller names, `bundled-model` links
//! all-MiniLM-L6-v2 (all default); `http-llm` adds a client of
//! OpenAI-compatible servers. Without an engine the crate takes the host's [`Embedder`] or
//! retrieves by words.

mod capture;
mod clock;
mod config;
mod difference;
mod document;
mod embed;
mod error;
mod exchange;
mod folder;
mod gate;
mod hash;
mod id;
mod inbox;
mod learn;
mod lesson;
mod lexical;
mod playbook;
mod retrieve;
mod skills;
mod sorted_blocks;
mod state;
mod store;
#[cfg(test)]
mod testing;
mod vector_memory;

/// Nearest neighbours among unit vectors, for a host that wants them without a memory; and how a memory searches.
pub mod index {
    pub use adage_index::{
        IndexConfig, IndexKind, InvalidSetting, KeySet, Keys, Neighbour, SearchResult, SearchScope, UnitVector,
        VectorError, VectorIndex,
    };
}

/// Removing secrets and invisible characters from text, as every lesson is before it is kept; and cutting it for display.
pub mod redact {
    pub use adage_redact::{Part, Redactor, Secret, Traced, one_line, shorten, strip_invisible, strip_terminal};
}

/// Sessions as agents write them down, read into one shape; and what a command line does.
pub mod transcript {
    pub use adage_transcript::{
        Broken, BrokenReason, CommandLine, Error, Format, Owner, ReadLimits, ReadReport, Reading, Relation, Status,
        ToolCall, Transcript, TranscriptReader, Turn, WordChange, error_line,
    };
}

/// The crate of the times in the interface.
pub use chrono;
/// The crate of the arrays that an [`Embedder`] returns.
pub use ndarray;

#[cfg(feature = "http-llm")]
pub use capture::HttpModel;
pub use capture::{
    AgentJob, AgentTool, Because, CancelHook, CancelToken, Candidate, Completion, Denied, Existing, Explanation,
    ExtractRequest, Extracted, Extraction, Ground, Heuristic, Hurdle, Ineligible, LanguageModel, MIN_QUOTE_WORDS,
    ModelError, NoEvidence, Recurrence, Refused, RefusedBecause, Ripeness, ScriptedModel, SessionEntry, SessionSummary,
    Speaker, Standing, Suggestions, ToolPolicy, Unreadable, check_evidence, extract_lessons, find_evidence,
    index as session_index, recurring, suggest,
};
pub use clock::{Clock, ManualClock, SystemClock};
pub use config::{
    AgentConfig, AutoSaveConfig, CaptureConfig, Config, CurationConfig, DedupPolicy, ExtractConfig, FeedbackConfig,
    LearnConfig, MatchConfig, PLAYBOOK_MAX, RetentionConfig, RetrievalConfig, Selection, SessionsConfig, SkillsConfig,
    UtilityPolicy,
};
pub use difference::{Difference, Field, ValueKind};
pub use document::Document;
pub use embed::{Embedder, HashingEmbedder, Role};
#[cfg(any(feature = "rten", feature = "ort"))]
pub use embed::{Engine, Model, OnnxEmbedder};
pub use error::{
    BadName, CannotApply, CannotUndo, DocumentError, EmbedError, Error, Forbidden, Limit, NotOurs, PatchError, Result,
    TargetError,
};
pub use exchange::{BadSection, ExchangeFormat, NotRead, NotReadReason, read_lessons, write_lessons};
pub use inbox::{BadProposalName, FilePatch, Patch, PatchKind, ProposalKind, ProposalName};
pub use learn::{Feedback, LearnOutcome, Pruned, RemovedLesson, Undone, Verification};
pub use lesson::{
    ChangeId, Evidence, Lesson, LessonDraft, LessonId, LessonRef, Origin, Provenance, Realm, ReceiptId, Refusal,
    SCHEMA_VERSION, TextHash, Trust, build_lesson,
};
pub use playbook::{
    AgentReport, AgentRun, Applied, AutoSaved, ChangeRecord, ChangedLesson, Check, CheckedInbox, Credited, Curated,
    Dismissed, Due, Exported, ExportedSkill, Finding, ImportedSkill, Inbox, InboxChange, LeftOut, LeftOutReason,
    ListedSkill, Listing, Mined, Notice, Playbook, PlaybookBuilder, Proposal, PutAside, Ran, SavedSkill,
    SessionLessons, SessionRun, SessionScan, SessionText, Sessions, SkillListing, SkillPlace, Skills, SkipSelection,
    Stats, TaskSkills, UndoneFiles, Unfit, Waiting, WaitingLesson, Window,
};
pub use retrieve::{Context, NoMatchReason, Query, Request, Scored, Shown, Tier, TierChoice, reciprocal_rank_fusion};
pub use skills::{
    AutoSave, BadSkillName, CurationPlan, CurationStep, Declined, Fallback, Hold, IndexedSkill, MatchTier, MatchedBy,
    Matches, NoMatch, NotWorded, Point, PointReason, Quality, RenderedSkills, SameBecause, Shortcoming, Skill,
    SkillIndex, SkillLife, SkillMatch, SkillName, SkillNote, SkillProvenance, SkillReading, SkillRefused, auto_save,
    curate, match_skills, match_skills_by_meaning, quality_gate, render_skills, word_skill,
};
pub use state::{ReviewReason, SkippedSuggestion, utility};
pub use store::Recovery;
pub use store::documents::MemoryRecovery;
pub use store::mining::{RunEnd, RunOwner, RunRecord, SessionOutcome};
pub use store::skill_files::NotListed;
pub use store::skill_state::SkillUse;
pub use vector_memory::{Filter, Found, Hit, Lookup, VectorMemory, VectorMemoryBuilder};

/// The README's examples are tests, where the model that they use is there.
#[cfg(all(doctest, feature = "rten", feature = "bundled-model"))]
#[doc = include_str!("../README.md")]
struct Readme;
