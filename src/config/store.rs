//! Settings of the files of a memory.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::seconds;

/// The default time limit for the lock.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// The default limit of a file that is read.
pub(crate) const MAX_FILE: u64 = 256 << 20;

/// The files of the folder (docs/spec/folder-format.md). A folder's own settings cannot change it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StoreConfig {
    /// How long a writer waits for the folder's lock, in seconds; then the call fails with
    /// [`FolderError::Locked`](crate::FolderError::Locked). 2; 0 does not wait; chosen. Readers never wait.
    #[serde(with = "seconds")]
    pub lock_timeout: Duration,
    /// Maximum size of a playbook file that is read, in bytes; other files have limits in proportion
    /// (docs/spec/folder-format.md, 1). A longer one is refused with
    /// [`FolderError::TooLarge`](crate::FolderError::TooLarge). 256 MiB, some 250,000 lessons; chosen.
    pub max_file_bytes: u64,
    /// Maximum size of the archive of changes, in bytes; beyond it, the newer half is kept. 64 MiB; chosen. Dropped changes
    /// cannot be undone; removals are kept.
    pub archive_max_bytes: u64,
    /// How long changes are kept, in seconds. Two years; chosen. Removals are always kept.
    #[serde(with = "seconds")]
    pub archive_max_age: Duration,
}

impl Default for StoreConfig {
    fn default() -> Self {
        Self {
            lock_timeout: LOCK_TIMEOUT,
            max_file_bytes: MAX_FILE,
            archive_max_bytes: 64 << 20,
            archive_max_age: Duration::from_hours(2 * 365 * 24),
        }
    }
}
