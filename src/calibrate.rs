//! Fitting the gate of retrieval to your own queries: the input and output of
//! [`Playbook::calibrate`](crate::Playbook::calibrate).
//!
//! ```
//! use adage::calibrate::LabelledPair;
//! use adage::{Playbook, Realm, build_lesson};
//!
//! # let folder = tempfile::tempdir()?;
//! let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
//! playbook.learn_lesson(build_lesson("parsing CSV exports", "Use the csv module."))?;
//! let lines = r#"{"query": "read the exported CSV of the shop", "lesson": "parsing CSV exports"}
//! {"query": "rename the branch", "lesson": null}"#;
//!
//! let error = playbook.calibrate(&LabelledPair::read_lines(lines)?, &Realm::default()).unwrap_err();
//! assert!(error.to_string().contains("38 are missing"), "{error}");
//!
//! let mut pairs: Vec<LabelledPair> =
//!     (0..20).map(|number| LabelledPair::answered_by(format!("parse CSV export {number}"), "parsing CSV exports")).collect();
//! pairs.extend((0..20).map(|number| LabelledPair::unanswered(format!("merge pull request {number}"))));
//! let report = playbook.calibrate(&pairs, &Realm::default())?;
//! assert_eq!((report.embedder.as_str(), report.fit.n_pairs), ("words", 40));
//!
//! let mut config = playbook.config().clone();
//! config.retrieval.calibration.insert(report.embedder, report.fit);
//! let playbook = Playbook::builder(folder.path()).without_embedder().with_config(config).open()?;
//! # assert_eq!(playbook.config().retrieval.calibration.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use crate::config::CalibrationFit;
pub use crate::error::calibrate::Error;
pub use crate::retrieve::{CalibrationFigures, CalibrationReport, LabelledPair};
