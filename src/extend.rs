//! The seam for crates that are built on the library, such as `adage-sessions` and `adage-review`: what they find somewhere becomes
//! lessons, they decide on what awaits review, keep records of their own in the memory's folder, and edit [`files`] there and elsewhere. A
//! host does not need it.
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
pub use crate::learn::ReviewedLesson;
pub use crate::lesson::{hidden_in_prompts, lesson_as_text};
pub use crate::playbook::extension::{Extension, FoundAgain, KnownLessons};
pub use crate::store::rows::{Changes, Commit, Known, List, Row, Store, StoredEvent, StoredVector, UsageEvent};

/// Files of the memory's folder, by names relative to its handle, and edits of several files at once, there and where the host named
/// places: all of them or none, and undoable.
///
/// ```
/// use adage::extend::Extension;
/// use adage::extend::files::{Entry, FileEdit, Reach, Transaction, Undoable};
/// use adage::{Error, Playbook};
///
/// # let folder = tempfile::tempdir()?;
/// let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
/// let (extension, folder) = (Extension::of(&playbook), Extension::of(&playbook).folder());
/// let notes = folder.files().path_of("notes.md");
/// // Decided under the folder's lock: the file is created, and the edit refused if there is one by then.
/// let (change, ()) = folder.edits().change(extension.now(), || {
///     let edits = vec![FileEdit::new(notes.clone(), None, Some(b"Wait.\n".to_vec()))];
///     Ok::<_, Error>((Some(Transaction { what: "a note".to_owned(), record: Undoable::Yes, edits }), ()))
/// })?;
/// assert_eq!(folder.files().content("notes.md")?.as_deref(), Some(b"Wait.\n".as_slice()));
///
/// // An undo may write where its caller says, and nowhere else.
/// let change = change.ok_or("nothing changed")?;
/// let nowhere = extension.undo_files(change, |_| Ok(Reach::default()));
/// assert!(matches!(nowhere, Err(Error::OutOfReach { .. })));
/// extension.undo_files(change, |_| Ok(Reach { files: vec![notes], ..Reach::default() }))?;
/// assert_eq!(folder.files().entry("notes.md")?, Entry::Missing);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod files {
    pub use crate::folder::edits::{
        Edits, FileEdit, Journal, JournalFile, NamedBelow, Reach, Transaction, Undoable, content_hash,
    };
    pub use crate::folder::{Directory, Entry, Folder, Links, Name};
}

/// Durations in JSON, as numbers of seconds.
pub mod seconds {
    pub use crate::config::seconds::serialize;
}

/// Paths in JSON: a path need not be UTF-8, and serde refuses such a path.
pub mod path_text {
    pub use crate::path_text::*;
}
