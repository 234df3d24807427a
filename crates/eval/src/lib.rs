//! Measures the lesson memory [adage] on folders of data, through the calls that a host makes: what retrieval shows and withholds,
//! how far its probabilities can be believed, and what learning makes of pairs of lessons.
//!
//! ```
//! use std::sync::Arc;
//! use adage::HashingEmbedder;
//! use adage_eval::{CachedEmbedder, Data, DefaultTally, Sampling};
//!
//! # let folder = tempfile::tempdir()?;
//! # let lesson = |n: u32, subject| format!("{{\"id\": \"l{n}\", \"trigger\": \"{subject}\", \"mistake\": \"m\", \"solution\": \"Do {subject} right.\", \"plain\": \"{subject} for me\"}}\n");
//! # std::fs::write(folder.path().join("lessons.jsonl"), lesson(1, "pinning numpy") + &lesson(2, "pushing a branch"))?;
//! # std::fs::write(folder.path().join("none.jsonl"), r#"{"id": "n1", "kind": "far", "text": "What is the capital of France?"}"#)?;
//! let data = Data::read(folder.path())?; // lessons.jsonl and none.jsonl
//! let embedder = Arc::new(CachedEmbedder::new(Arc::new(HashingEmbedder), None)?);
//! let sampling = Sampling { n_lessons: Some(2), n_draws: 3, seed: 1 };
//!
//! let mut tally = DefaultTally::default();
//! for book in sampling.books(&data, &embedder) {
//!     tally.add(&book?)?;
//! }
//! let report = tally.report(2, 3);
//! assert_eq!((report.queries, report.recall5), (6.0, 1.0));
//! assert_eq!(report.answered["far"], 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod books;
mod classic;
mod data;
mod error;
mod features;
mod merging;
mod page;
mod random;
mod ranking;
mod report;
pub mod retention;
mod standard;
mod vectors;

pub use books::{Book, Sampling};
pub use classic::{ClassicReport, ClassicTally};
pub use data::{Data, Lesson, Question, rows};
pub use error::Error;
pub use features::write_features;
pub use merging::{DuplicatesReport, PairOutcome, PairsReport, measure_duplicates, measure_pairs};
pub use random::Random;
pub use report::{DataReport, DuplicateFileReport, PairFileReport, Report, Settings, SizeReport, Sources};
pub use standard::{DefaultReport, DefaultTally, Loss, ReliabilityClass, RiskPoint};
pub use vectors::CachedEmbedder;
