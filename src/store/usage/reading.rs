//! Adding to a state the usage that its playbook file does not have.

use std::sync::Arc;

use super::file::{self, USAGE};
use super::{Folded, UsageFile, UsageLog, former};
use crate::config::FeedbackConfig;
use crate::error::folder::Result;
use crate::folder::Directory;
use crate::store::{FolderStore, PlaybookFile, Snapshot};

impl UsageLog {
    /// Reads the usage of a folder after a line, earlier lines too if an event refers to them, and counts what the playbook file does not
    /// have.
    pub(in crate::store) fn of(
        files: &Directory,
        counted: &mut Arc<PlaybookFile>,
        after: u64,
        config: &FeedbackConfig,
    ) -> Result<Self> {
        let inode = files.stamp(USAGE)?.map(|stamp| stamp.inode);
        let bytes = match counted.usage {
            Folded::Former { segment, offset } if inode.is_none() => former::lines(files, segment, offset)?,
            _ => files.read_in_place(USAGE, 0)?,
        };
        let n_passed = if after == 0 { 0 } else { length_up_to(after, &bytes) };
        let (end, n_bytes, is_partial) = (counted.usage.line(), n_passed as u64, n_passed > 0);
        let mut log = Self { end, inode, n_bytes, is_partial, ..Self::default() };
        let mut next = Arc::clone(counted);
        log.count(bytes.get(n_passed..).unwrap_or_default(), &mut next, config);
        if log.needs_earlier {
            return Self::of(files, counted, 0, config);
        }
        *counted = next;
        Ok(log)
    }

    fn count(&mut self, bytes: &[u8], file: &mut Arc<PlaybookFile>, config: &FeedbackConfig) {
        if !bytes.is_empty() {
            let file = Arc::make_mut(file);
            self.read(bytes, file.usage.line(), Arc::make_mut(&mut file.book), config);
        }
    }
}

/// The length of the whole lines up to a number.
fn length_up_to(n: u64, bytes: &[u8]) -> usize {
    let is_passed = |line: &&[u8]| line.ends_with(b"\n") && file::stated_number(line).is_none_or(|own| own <= n);
    bytes.split_inclusive(|byte| *byte == b'\n').take_while(is_passed).map(<[u8]>::len).sum()
}

impl FolderStore {
    /// A state with the usage after it.
    pub(in crate::store) fn with_usage(&self, snapshot: Snapshot) -> Result<Snapshot> {
        self.with_usage_after(snapshot.committed.usage.line(), snapshot)
    }

    /// The same state with the usage up to now, in the usage file. The caller holds the folder's lock.
    pub(in crate::store) fn with_newest_usage(&self, mut snapshot: Snapshot) -> Result<Snapshot> {
        let folded = snapshot.committed.usage;
        if former::is_present(self.files(), folded)? {
            self.write_usage(|| self.move_former_usage(folded))?;
        }
        self.read_usage(&mut snapshot)?;
        Ok(snapshot)
    }

    fn with_usage_after(&self, n: u64, snapshot: Snapshot) -> Result<Snapshot> {
        let mut file = Arc::clone(&snapshot.committed);
        let log = UsageLog::of(self.files(), &mut file, n, &self.feedback)?;
        Ok(Snapshot { file, log, ..snapshot })
    }

    /// Reads the lines after the last one that was read; from the start on, if the file is another one or shorter.
    pub(in crate::store) fn read_usage(&self, snapshot: &mut Snapshot) -> Result<()> {
        let known = &snapshot.log;
        let stamp = self.files().stamp(USAGE)?;
        let (inode, length) = (stamp.map(|stamp| stamp.inode), stamp.map_or(0, |stamp| stamp.length));
        if inode == known.inode && length >= known.n_bytes {
            let bytes = self.files().read_in_place(USAGE, known.n_bytes)?;
            let first = file::lines(&bytes).next().and_then(file::stated_number);
            if first.is_none_or(|first| first == known.end + 1) {
                let mut next = snapshot.clone();
                next.log.count(&bytes, &mut next.file, &self.feedback);
                if !next.log.needs_earlier {
                    *snapshot = next;
                    return Ok(());
                }
            }
        }
        let after = if snapshot.log.is_partial { snapshot.committed.usage.line() } else { 0 };
        *snapshot = self.with_usage_after(after, snapshot.clone())?;
        Ok(())
    }

    /// As [`read_usage`](Self::read_usage), with all receipts that are kept.
    pub(in crate::store) fn read_receipts(&self, snapshot: &mut Snapshot) -> Result<()> {
        if !snapshot.log.is_partial {
            return self.read_usage(snapshot);
        }
        *snapshot = self.with_usage_after(0, snapshot.clone())?;
        Ok(())
    }

    pub(in crate::store) fn usage_file(&self) -> UsageFile<'_> {
        UsageFile(self.files())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::Feedback;
    use crate::lesson::{Lesson, ReceiptId, TextHash};
    use crate::store::usage::Event;
    use crate::testing::{at, lesson};

    fn receipt(number: i64) -> ReceiptId {
        ReceiptId::at(at(number), TextHash::of(&[number.to_string()]))
    }

    #[test]
    fn receipts_that_are_counted_are_read_only_if_an_event_refers_to_one() {
        let shown = lesson("t", "s");
        let recall = |number| {
            let shown = vec![(shown.id, shown.text_hash())];
            Event::Shown { receipt: receipt(number), shown, at: at(number) }
        };
        let outcome = |number| Event::Outcome { receipt: receipt(number), feedback: Feedback::Helpful, at: at(9) };
        let check = |last: Event, expected: (u64, u64), knows_first| {
            let folder = tempfile::tempdir().unwrap();
            let files = Directory::real(folder.path());
            UsageFile(&files).append(0, &[recall(1), recall(2), recall(3), last]).unwrap();
            let mut file = PlaybookFile { usage: Folded::Line(2), ..PlaybookFile::default() };
            Arc::make_mut(&mut file.book).put(Lesson { retrievals: 2, ..shown.clone() });
            let mut file = Arc::new(file);
            let log = UsageLog::of(&files, &mut file, 2, &FeedbackConfig::default()).unwrap();
            let lesson = file.book.get(shown.id).unwrap();
            assert_eq!((lesson.retrievals, lesson.helpful_retrievals, log.end), (expected.0, expected.1, 4));
            assert_eq!((log.receipt(receipt(1)).is_some(), log.receipt(receipt(3)).is_some()), (knows_first, true));
        };
        check(recall(4), (4, 0), false);
        check(outcome(3), (3, 1), false);
        check(outcome(1), (3, 1), true);
    }
}
