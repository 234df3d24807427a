//! A state of the playbook: its content, and what the folder's files held of it when it was read or committed.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::playbook_file::EncodedFile;
use super::recover::salvage;
use super::{Event, PlaybookFile, START_BYTES, UsageLog};
use crate::config::FeedbackConfig;
use crate::folder::Stamp;
use crate::lesson::TextHash;
use crate::state::Book;

/// The state of the folder at one moment: the playbook file with later usage folded in.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) file: Arc<PlaybookFile>,
    /// The same state without the later usage.
    pub(super) committed: Arc<PlaybookFile>,
    pub(crate) log: UsageLog,
    pub(super) on_disk: OnDisk,
    /// The schema of the file, if it is newer than this program's.
    pub(super) newer: Option<u64>,
    /// True if the state may be read but not committed on: it was recovered from a broken folder without the
    /// lock. A commit loads the folder again.
    pub(super) is_provisional: bool,
}

/// What the folder's files hold of a state.
#[derive(Clone, Debug)]
pub(super) struct OnDisk {
    pub(super) version: FileVersion,
    /// The second copy; none if there was none.
    pub(super) backup: Option<Stamp>,
}

/// How a change of the playbook file is detected.
#[derive(Clone, Debug)]
pub(super) struct FileVersion {
    /// None if there was no file.
    pub(super) stamp: Option<Stamp>,
    pub(super) content: TextHash,
    /// The first bytes of the file, which contain its generation.
    pub(super) start: Vec<u8>,
    /// True if the stamp alone detects any later change.
    pub(super) is_proved_by_stamp: Arc<AtomicBool>,
    /// False for a file that another program, a person or an older version wrote.
    pub(super) is_ours: bool,
}

impl FileVersion {
    pub(super) fn new(stamp: Option<Stamp>, bytes: &[u8]) -> Self {
        Self::with_hash(stamp, bytes, TextHash::of(&[bytes]))
    }

    /// The version that this program wrote.
    pub(super) fn of(file: &EncodedFile, stamp: Option<Stamp>) -> Self {
        Self::with_hash(stamp, &file.bytes, file.hash)
    }

    fn with_hash(stamp: Option<Stamp>, bytes: &[u8], content: TextHash) -> Self {
        let start = bytes.get(..START_BYTES).unwrap_or(bytes).to_vec();
        Self { stamp, content, start, is_proved_by_stamp: Arc::default(), is_ours: true }
    }
}

impl OnDisk {
    /// A folder without a playbook file.
    pub(super) fn no_file(backup: Option<Stamp>) -> Self {
        Self { version: FileVersion::new(None, b""), backup }
    }
}

impl Snapshot {
    /// A state without later usage.
    pub(super) fn new(file: PlaybookFile, on_disk: OnDisk) -> Self {
        let file = Arc::new(file);
        Self {
            committed: Arc::clone(&file),
            file,
            log: UsageLog::default(),
            on_disk,
            newer: None,
            is_provisional: false,
        }
    }

    /// A state of a store of rows: committed, and with the usage of a log.
    pub(super) fn of_rows(committed: Arc<PlaybookFile>, file: Arc<PlaybookFile>, log: UsageLog) -> Self {
        Self { committed, file, log, on_disk: OnDisk::no_file(None), newer: None, is_provisional: false }
    }

    /// Counts an event that was appended after those that were read.
    pub(super) fn count(&mut self, event: Event, config: &FeedbackConfig) {
        let book = Arc::make_mut(&mut Arc::make_mut(&mut self.file).book);
        self.log.add(event, None, book, config);
    }

    /// The state after a commit. All usage that was read is folded into it.
    pub(super) fn committed_as(mut self, file: PlaybookFile, on_disk: OnDisk) -> Self {
        self.log.end = file.usage.line();
        let file = Arc::new(file);
        Self { committed: Arc::clone(&file), file, on_disk, ..self }
    }

    /// True if the playbook file is older than its second copy.
    pub(super) fn is_ahead(&self) -> bool {
        let written = salvage::number(&String::from_utf8_lossy(&self.on_disk.version.start), "generation");
        written.is_some_and(|written| written < self.committed.generation)
    }

    pub(crate) fn book(&self) -> &Arc<Book> {
        &self.file.book
    }
}
