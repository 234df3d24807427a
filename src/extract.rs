//! Lessons that the host's language model finds in a session, each with evidence that is checked: a quote of the user, or the
//! failure, the remedy and the success of a recovery.
//!
//! ```
//! use adage::transcript::{Transcript, Turn};
//! use adage::config::ExtractConfig;
//! use adage::extract::{ExtractRequest, Extraction, ProposalEvidence, extract_lessons};
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
//! assert!(matches!(&lessons[0].evidence, ProposalEvidence::Said(evidence) if evidence.turn == 1));
//! assert!(refused.is_empty());
//! ```
//!
//! The session is redacted before the model sees it. A quote that the user did not type, and a recovery that the calls do not
//! prove, are refused with the reason.

pub use crate::capture::{
    Existing, ExtractRequest, Extracted, Extraction, MIN_QUOTE_WORDS, NoEvidence, ProposalEvidence, RecoveryPart,
    RecoveryRefusal, Refused, RefusedBecause, Speaker, Unreadable, extract_lessons, find_evidence,
};
