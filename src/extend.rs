//! The seam for crates that are built on the library, such as `adage-sessions`: what they find somewhere becomes lessons, and they keep
//! records of their own in the memory's folder. A host does not need it.
//!
//! ```
//! use adage::extend::{Extension, Record};
//! use adage::{Playbook, build_lesson};
//! use serde::{Deserialize, Serialize};
//!
//! /// Which notes were read: `notes.json` in the folder.
//! #[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
//! struct Notes {
//!     schema: u64,
//!     read: Vec<String>,
//! }
//!
//! impl Record for Notes {
//!     const NAME: &'static str = "notes";
//!     const SCHEMA: u64 = 1;
//!     const LOST: &'static str = "the notes are read once more";
//!
//!     fn schema(&self) -> u64 {
//!         self.schema
//!     }
//! }
//!
//! # let folder = tempfile::tempdir()?;
//! let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
//! let extension = Extension::of(&playbook);
//! let found = build_lesson("deploying on a Friday", "Wait until Monday.");
//! // The gate says what it would be, with secrets redacted.
//! assert_eq!(extension.admit(found.clone())?.trigger, "deploying on a Friday");
//! playbook.learn_lesson(found)?;
//! extension.change(|notes: &mut Notes| {
//!     notes.schema = 1;
//!     notes.read.push("friday.md".to_owned());
//! })?;
//! assert_eq!((extension.lessons()?.in_use().count(), extension.read::<Notes>()?.read.len()), (1, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use crate::folder::{JsonRecord as Record, Lock, forget_oldest, open_plain};
pub use crate::gate::{clean, clean_value};
pub use crate::playbook::extension::{Extension, FoundAgain, KnownLessons};

/// Durations in JSON, as numbers of seconds.
pub mod seconds {
    pub use crate::config::seconds::serialize;
}

/// Paths in JSON: a path need not be UTF-8, and serde refuses such a path.
pub mod path_text {
    pub use crate::path_text::*;
}
