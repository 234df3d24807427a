//! The state that learning and recall read: the playbook as a value, and its indexes, which are updated from state to state.

pub(crate) mod book;
pub(crate) mod change;
pub(crate) mod dedup_index;
mod evicted;
mod id_map;
mod lazy;
pub(crate) mod lesson_vectors;
mod lessons_by_time;
mod plan;
mod ranking;
mod realm_vectors;
mod realm_words;
pub(crate) mod recall_index;
mod removals;
pub mod utility;

pub(crate) use book::Book;
pub use book::{ReviewReason, SkippedSuggestion, Waiting};
pub use change::{Action, Why};
pub(crate) use change::{Change, Edit};
pub(crate) use dedup_index::DedupIndex;
pub(crate) use evicted::Evicted;
pub(crate) use lazy::Lazy;
pub(crate) use lesson_vectors::{EmbeddedText, LessonVectors};
pub(crate) use lessons_by_time::Changed;
#[cfg(test)]
pub(crate) use lessons_by_time::LessonsByTime;
pub(crate) use plan::{Erasure, Forgotten, Plan, Planned};
pub(crate) use ranking::{Rank, Ranking};
pub(crate) use realm_vectors::{Near, VectorOf};
pub(crate) use recall_index::RecallIndex;
pub(crate) use removals::{Removals, Removed};
