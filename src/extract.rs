//! Lessons that the host's language model finds in a session, each with a checked quote of the user.
//!
//! ```
//! use adage::transcript::{Transcript, Turn};
//! use adage::config::ExtractConfig;
//! use adage::extract::{ExtractRequest, Extraction, extract_lessons};
//! use adage::model::ScriptedModel;
//!
//! let transcript = Transcript {
//!     turns: vec![
//!         Turn::Assistant("I installed it with npm.".into()),
//!         Turn::User("No, this repository uses pnpm, never npm.".into()),
//!     ],
//!     ..Transcript::default()
//! };
//! // In place of a real model: an answer that is scripted.
//! let model = ScriptedModel::new([Ok(r#"{"decision": "LEARN", "lessons": [{
//!     "trigger": "installing packages here", "rule": "Use pnpm, not npm.", "confidence": "high",
//!     "tags": ["pnpm"], "evidence": "this repository uses pnpm"
//! }]}"#.into())]);
//! let extraction = extract_lessons(&model, &ExtractRequest::new(&transcript), &ExtractConfig::default());
//! let Extraction::Proposed { lessons, refused } = extraction else { panic!("{extraction:?}") };
//! assert_eq!((lessons[0].evidence.turn, refused.len()), (1, 0));
//! ```
//!
//! The session is redacted before the model sees it. A quote that the user did not type is refused with the reason.

pub use crate::capture::{
    Existing, ExtractRequest, Extracted, Extraction, MIN_QUOTE_WORDS, NoEvidence, Refused, RefusedBecause, Speaker,
    Unreadable, check_evidence, extract_lessons, find_evidence,
};
