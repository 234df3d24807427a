//! Whether a folder is trusted: a memory folder made by someone else is not used before a person has looked at it.
//!
//! A host that opens an explicit path thereby trusts it. A host that opens folders that it finds, such as that of a freshly
//! cloned repository, passes a [`TrustStore`] to the builder. The store is kept outside the folders. It records which folders
//! this user created or trusted and, for a folder that version control writes to, which texts.
//!
//! ```
//! use std::sync::Arc;
//!
//! use adage::trust::{MemoryTrustStore, TrustStore};
//! use adage::{NoMatchReason, Playbook, build_lesson};
//!
//! # let temp = tempfile::tempdir()?;
//! # let (cloned, own) = (temp.path().join("cloned"), temp.path().join("own"));
//! // Made by another account: that store knows it, this one does not.
//! Playbook::builder(&cloned).without_embedder().open()?.learn_lesson(build_lesson("deploying", "Run it as root."))?;
//!
//! let store: Arc<dyn TrustStore> = Arc::new(MemoryTrustStore::default());
//! let open = |folder| Playbook::builder(folder).without_embedder().trust_store(Arc::clone(&store)).open();
//! let context = open(&cloned)?.get_playbook_context("deploying")?;
//! assert_eq!((context.text.as_str(), context.none_because), ("", Some(NoMatchReason::NotTrusted)));
//!
//! // A folder that is made with the store is known from then on.
//! open(&own)?.learn_lesson(build_lesson("deploying", "Tag first."))?;
//! assert!(open(&own)?.get_playbook_context("deploying")?.text.contains("Tag first."));
//!
//! // A person looked at the other one.
//! Playbook::builder(&cloned).without_embedder().trust_store(Arc::clone(&store)).trusted().open()?.trust()?;
//! assert!(open(&cloned)?.get_playbook_context("deploying")?.text.contains("Run it as root."));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod file_store;
pub(crate) mod for_git;
mod guard;
mod identity;
mod memory_store;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::error::FolderError;
use crate::hash::TextHash;
use crate::user_key::ExportKey;

pub use file_store::FileTrustStore;
pub use guard::is_on_record;
pub use identity::{FolderId, FolderIdentity};
pub use memory_store::MemoryTrustStore;

pub(crate) use guard::{AskTracking, Decision, Guard, TrustRequest};

/// The user's decisions about memory folders, kept outside the folders.
pub trait TrustStore: Send + Sync {
    /// The record of a folder; none if the user neither created nor trusted exactly this id at exactly this path.
    ///
    /// # Errors
    /// [`FolderError`] when the record cannot be read; the folder then counts as unknown.
    fn find(&self, folder: &FolderIdentity) -> Result<Option<TrustRecord>, FolderError>;

    /// Changes the record of a folder; one without a record gets a new one.
    ///
    /// # Errors
    /// [`FolderError`] when the record cannot be written; it stays as it was then.
    fn change(&self, folder: &FolderIdentity, change: &dyn Fn(&mut TrustRecord)) -> Result<(), FolderError>;

    /// The user's key, if there is one. By codes under it, a handle recognises caches and records in a folder as written by the
    /// user's own programs. What has no such code is not used: the queue of sessions to read, and vectors. Without a key, nothing
    /// is recognised.
    ///
    /// # Errors
    /// [`FolderError`] when the key cannot be read; then nothing is recognised.
    fn key(&self) -> Result<Option<ExportKey>, FolderError> {
        Ok(None)
    }

    /// As [`key`](Self::key), and creates a key if there is none. Called before something is written that needs a code.
    ///
    /// # Errors
    /// [`FolderError`] when the key can neither be read nor created; what is written then has no code.
    fn create_key(&self) -> Result<Option<ExportKey>, FolderError> {
        self.key()
    }
}

/// The record of a folder that a user created or trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrustRecord {
    /// What the user's decision covers.
    pub reach: Reach,
    /// The hashes of what the user wrote or admitted: lessons ([`Lesson::admission_hash`](crate::Lesson::admission_hash)), skills with
    /// their files, settings, promotions, and removals.
    pub admitted: BTreeSet<TextHash>,
}

/// The hash under which it is admitted that the user removed a text: only they can undo that.
pub(crate) fn removed(text: TextHash) -> TextHash {
    TextHash::of(&["removed", &text.to_string()])
}

/// The scope of the decision about a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reach {
    /// The whole folder: only its user writes there.
    Folder,
    /// Only the admitted texts: others write there too, by version control.
    #[default]
    Texts,
}

/// Whether version control writes to a folder. The host determines it; the library runs no program for that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tracking {
    /// Only the user writes there.
    #[default]
    Untracked,
    /// A pull can change it. Once set for a folder, it stays set.
    Tracked,
    /// Not known now: version control is writing, or was interrupted. As [`Tracked`](Self::Tracked), but not recorded.
    Unsettled,
}

impl Tracking {
    /// The reach of trust in such a folder.
    pub(crate) fn reach(self) -> Reach {
        if self == Self::Untracked { Reach::Folder } else { Reach::Texts }
    }
}

/// Who a new folder is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// Only its user: a `.gitignore` keeps it out of a repository.
    #[default]
    Private,
    /// A team that shares the repository: a `.gitignore` keeps out of it what concerns one clone only (locks, caches, counts, the log and
    /// the backup of the playbook file, the record of read sessions, broken files).
    Shared,
}

impl Sharing {
    /// The reach to record for a new folder, whatever version control says about it now.
    pub(crate) fn reach(self) -> Reach {
        match self {
            Self::Private => Reach::Folder,
            Self::Shared => Reach::Texts,
        }
    }

    /// The content of the folder's `.gitignore`.
    pub(crate) fn ignored(self) -> &'static str {
        match self {
            Self::Private => "*\n",
            Self::Shared => {
                "lock\nmining.lock\nmining.json\n*.bin\n.adage-tmp-*\nquarantine/\nplaybook.log\nskills_playbook.json.bak\nusage.*\n\
                 *.usage\n*.receipts\nreceipts.jsonl\n"
            }
        }
    }

    /// The content of the folder's `.gitattributes`; empty if it needs none. Branches only append to the archive: a merge keeps the
    /// lines of both.
    pub(crate) fn attributes(self) -> &'static str {
        match self {
            Self::Private => "",
            Self::Shared => "archive.jsonl merge=union\n",
        }
    }
}

/// Which parts of a folder a handle uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Standing {
    /// Everything.
    Trusted,
    /// Only what the user wrote or admitted; the rest awaits admission and is not used.
    TextByText,
    /// Nothing: the user has not trusted it.
    Unknown,
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests break files by themselves")]
mod tests;
