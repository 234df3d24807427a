//! Whether a folder is trusted: a memory folder that somebody else made is not used before a person has looked at it.
//!
//! A host that opens an explicit path trusts it by doing so. A host that opens what it finds, such as the folder of a repository
//! that was just cloned, passes a [`TrustStore`] to the builder. The store is outside the folders; it records which folders this
//! user made or trusted, and, for a folder into which version control brings texts, which texts.
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
mod guard;
mod identity;
mod memory_store;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::error::FolderError;
use crate::hash::TextHash;

pub use file_store::FileTrustStore;
pub use identity::{FolderId, FolderIdentity};
pub use memory_store::MemoryTrustStore;

pub(crate) use guard::{Decision, Guard, TrustRequest};

/// What a user has decided about memory folders. It is kept outside of them.
pub trait TrustStore: Send + Sync {
    /// What is recorded of a folder; none when the user neither made nor trusted exactly this id at exactly this path.
    ///
    /// # Errors
    /// [`FolderError`] when the record cannot be read: the folder counts as unknown then.
    fn find(&self, folder: &FolderIdentity) -> Result<Option<TrustRecord>, FolderError>;

    /// Admits texts of a folder, and the folder itself if it was unknown. A record whose reach is [`Reach::Texts`] stays so.
    ///
    /// # Errors
    /// [`FolderError`] when the record cannot be written: nothing is admitted then.
    fn admit(&self, folder: &FolderIdentity, reach: Reach, texts: &[TextHash]) -> Result<(), FolderError>;
}

/// What is recorded of a folder that a user made or trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustRecord {
    /// What the user's decision covers.
    pub reach: Reach,
    /// Hashes of what the user wrote or admitted: of lessons ([`Lesson::admission_hash`](crate::Lesson::admission_hash)), of skills
    /// with their files, of promotions and of settings.
    pub admitted: BTreeSet<TextHash>,
}

impl TrustRecord {
    /// Adds to the record what [`TrustStore::admit`] is given.
    pub fn admit(&mut self, reach: Reach, texts: &[TextHash]) {
        self.reach = self.reach.max(reach);
        self.admitted.extend(texts);
    }
}

/// What the decision about a folder covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reach {
    /// Whatever is in it: only its user writes there.
    Folder,
    /// The admitted texts: others write there too, by version control.
    #[default]
    Texts,
}

/// Whether version control brings files into a folder. The library runs no program to find out: the host says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tracking {
    /// Nobody but the user writes there.
    #[default]
    Untracked,
    /// A pull can change it. Once said of a folder, it stays so.
    Tracked,
}

impl Tracking {
    /// What trust in such a folder covers.
    pub(crate) fn reach(self) -> Reach {
        match self {
            Self::Untracked => Reach::Folder,
            Self::Tracked => Reach::Texts,
        }
    }
}

/// Who a new folder is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// Its user: a `.gitignore` keeps it out of a repository.
    #[default]
    Private,
    /// A team, by the repository that it is in.
    Shared,
}

/// What of a folder a handle uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Standing {
    /// Everything.
    Trusted,
    /// What the user wrote or admitted; the rest waits and counts for nothing.
    TextByText,
    /// Nothing: nobody here has trusted it.
    Unknown,
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests break files by themselves")]
mod tests;
