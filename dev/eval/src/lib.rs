//! Measures the lesson memory [adage] on data sets, through the calls that a host makes: how well retrieval ranks, when it answers,
//! how well its probabilities are calibrated, and which lessons merge. [`retention`] simulates a full playbook.
//!
//! A *question* is *related* if a lesson of the playbook answers it, and *unrelated* if none does. The *gate* is the decision whether
//! a question is answered at all; with the gate *open*, every question is.
//!
//! ```
//! use std::sync::Arc;
//! use adage::HashingEmbedder;
//! use adage_eval::{CachedEmbedder, Dataset, DefaultTally, Sampling};
//!
//! # let folder = tempfile::tempdir()?;
//! # let lesson = |n: u32, subject| format!("{{\"id\": \"l{n}\", \"trigger\": \"{subject}\", \"mistake\": \"m\", \"solution\": \"Do {subject} right.\", \"plain\": \"{subject} for me\"}}\n");
//! # std::fs::write(folder.path().join("lessons.jsonl"), lesson(1, "pinning numpy") + &lesson(2, "pushing a branch"))?;
//! # std::fs::write(folder.path().join("none.jsonl"), r#"{"id": "n1", "kind": "far", "text": "What is the capital of France?"}"#)?;
//! let data = Dataset::read(folder.path())?; // lessons.jsonl and none.jsonl
//! let embedder = Arc::new(CachedEmbedder::new(Arc::new(HashingEmbedder), None)?);
//! let sampling = Sampling { n_lessons: Some(2), n_draws: 3, seed: 1 };
//!
//! let mut tally = DefaultTally::default();
//! for playbook in sampling.playbooks(&data, &embedder) {
//!     tally.add(&playbook?)?;
//! }
//! let report = tally.report(2, 3);
//! assert_eq!((report.queries, report.recall5), (6.0, 1.0));
//! assert_eq!(report.answered["far"], 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cached_embedder;
mod classic_rule;
mod dataset;
mod default_rule;
mod error;
mod features;
mod html;
mod merging;
mod metrics;
mod random;
mod report;
pub mod retention;
mod sampling;
pub mod synthetic;
pub mod timing;

pub use cached_embedder::CachedEmbedder;
pub use classic_rule::{ClassicReport, ClassicTally};
pub use dataset::{Dataset, Lesson, Question, read_rows};
pub use default_rule::{DefaultReport, DefaultTally, Loss, ReliabilityClass, RiskPoint};
pub use error::Error;
pub use features::write_features;
pub use merging::{DuplicatesReport, PairOutcome, PairsReport, measure_duplicates, measure_pairs};
pub use random::Random;
pub use report::{DataReport, DuplicateFileReport, PairFileReport, Report, Settings, SizeReport, Sources};
pub use sampling::{SampledPlaybook, Sampling};
