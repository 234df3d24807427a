//! The crate as a whole: real files, real processes, and the real model if it is included.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::cast_possible_truncation,
    reason = "a test that panics is a test that fails"
)]

mod accepted;
mod bench;
#[cfg(feature = "bundled-model")]
mod calibrating;
mod contention;
mod credit;
mod curation;
mod damage;
mod doc_links;
mod events;
#[cfg(feature = "bundled-model")]
mod evidence;
mod exchange;
mod feedback;
mod formats;
mod former_recoveries;
mod hand_edits;
mod harness_tags;
#[cfg(feature = "http-llm")]
mod http_model;
mod inbox;
mod inbox_agents;
mod large;
mod layers;
mod locked;
#[cfg(feature = "bundled-model")]
mod measured;
#[cfg(feature = "bundled-model")]
mod merging;
mod migration;
mod model;
#[cfg(all(feature = "ort", feature = "bundled-model"))]
mod parity;
mod patches;
mod paths_in_text;
mod playbooks;
mod red;
mod redaction;
mod related;
mod results;
mod retrieval;
mod second_copy;
#[cfg(feature = "http-llm")]
mod server;
mod skill_files;
mod skill_matching;
mod skills;
mod surfaces;
mod transcripts;
mod vector_memory;
