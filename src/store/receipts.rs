//! The log of receipts, `receipts.jsonl`: optional, bounded, appended to like the usage files (docs/spec/folder-format.md,
//! 3.1).

use std::collections::BTreeSet;

use parking_lot::Mutex;

use super::is_missing;
use crate::config::CreditConfig;
use crate::credit::ReceiptLog;
use crate::error::folder::Result;
use crate::folder::{Folder, Stamp};
use crate::lesson::LessonId;
use crate::state::Book;

const RECEIPTS: &str = "receipts.jsonl";

/// The prefix of a receipt's line.
const RECEIPT: &[u8] = b"{\"receipt\"";

/// The maximum size of the log in bytes per receipt that it may hold: a log that is never shortened stops growing there.
const MAX_BYTES: u64 = 2 * 1024;

/// How many lines of the log were counted.
#[derive(Debug, Default)]
pub(super) struct ReceiptCount(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    /// The file, and how far its lines were counted.
    inode: u64,
    end: u64,
    n_receipts: usize,
    n_lines: usize,
}

/// The log of a folder.
#[derive(Clone, Copy)]
pub(super) struct ReceiptFile<'a> {
    pub(super) folder: &'a Folder,
    pub(super) config: &'a CreditConfig,
    pub(super) count: &'a ReceiptCount,
}

impl ReceiptFile<'_> {
    /// Appends lines. A log at its maximum size is not appended to until it is shortened.
    pub(super) fn append(self, lines: &[u8]) -> Result<()> {
        if self.length()? > self.max_bytes() {
            return Ok(());
        }
        self.folder.files().append(RECEIPTS, lines).map(drop)
    }

    /// The log without removed lessons; empty if there is none.
    pub(super) fn read(self, book: &Book) -> Result<ReceiptLog> {
        let mut log = ReceiptLog::parse(&self.folder.files().read_in_place(RECEIPTS, 0)?);
        let removed: BTreeSet<LessonId> = book.removed.iter().map(|removed| removed.id).collect();
        log.forget(|id| removed.contains(&id));
        Ok(log)
    }

    /// Rewrites the log without removed lessons; the caller holds the lock of usage.
    pub(super) fn forget_removed(self, book: &Book) -> Result<()> {
        if is_missing(self.folder.files(), RECEIPTS)? {
            return Ok(());
        }
        self.replace(&self.read(book)?)
    }

    /// Keeps the newest half of a log; the caller holds the lock of usage.
    pub(super) fn shorten(self, book: &Book) -> Result<()> {
        let mut log = self.read(book)?;
        log.keep_newest(log.receipts().len().min(self.config.max_receipts) / 2);
        self.replace(&log)
    }

    fn replace(self, log: &ReceiptLog) -> Result<()> {
        let files = self.folder.files();
        let temporary = self.folder.write_temporary("receipts", &log.render())?;
        files.rename(temporary, RECEIPTS)?;
        *self.count.0.lock() = Counted::default();
        Ok(())
    }

    /// True if the log exceeds its bound. Counts the lines appended since the last call.
    pub(super) fn is_over(self) -> Result<bool> {
        let Some(Stamp { inode, length, .. }) = self.folder.files().stamp(RECEIPTS)? else { return Ok(false) };
        let mut counted = self.count.0.lock();
        if inode != counted.inode || length < counted.end {
            *counted = Counted { inode, ..Counted::default() };
        }
        let new = self.folder.files().read_in_place(RECEIPTS, counted.end)?;
        let lines = || new.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        counted.n_lines += lines().count();
        counted.n_receipts += lines().filter(|line| line.starts_with(RECEIPT)).count();
        counted.end += new.len() as u64;
        let max = self.config.max_receipts;
        Ok(counted.n_receipts > max || counted.n_lines > max.saturating_mul(2) || length > self.max_bytes())
    }

    fn length(self) -> Result<u64> {
        Ok(self.folder.files().stamp(RECEIPTS)?.map_or(0, |stamp| stamp.length))
    }

    fn max_bytes(self) -> u64 {
        MAX_BYTES.saturating_mul(self.config.max_receipts as u64)
    }
}
