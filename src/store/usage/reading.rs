//! Adding to a state the usage that its playbook file does not have.

use std::sync::Arc;

use super::file::{self, USAGE};
use super::former::Former;
use super::{UsageFile, UsageLog};
use crate::config::FeedbackConfig;
use crate::error::folder::Result;
use crate::folder::Directory;
use crate::store::{PlaybookFile, Snapshot, Store};

/// Which receipts are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Receipts {
    /// Those of retrievals that are not counted yet, or that such an event refers to.
    Needed,
    All,
}

impl UsageLog {
    /// Reads the usage of a folder, and counts what its playbook file does not have.
    pub(in crate::store) fn of(
        files: &Directory,
        counted: &mut Arc<PlaybookFile>,
        receipts: Receipts,
        config: &FeedbackConfig,
    ) -> Result<Self> {
        let inode = files.stamp(USAGE)?.map(|stamp| stamp.inode);
        let bytes = files.read_in_place(USAGE, 0)?;
        let (mut next, folded) = (Arc::clone(counted), counted.usage.line());
        let n_passed = if receipts == Receipts::All || folded == 0 { 0 } else { length_up_to(folded, &bytes) };
        let (n_bytes, is_partial) = (n_passed as u64, n_passed > 0);
        let mut log = Self { end: folded, inode, n_bytes, is_partial, ..Self::default() };
        log.count(bytes.get(n_passed..).unwrap_or_default(), &mut next, config);
        if log.needs_earlier {
            return Self::of(files, counted, Receipts::All, config);
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

    /// Counts the usage of earlier versions, which is in other files. True if there is some.
    pub(in crate::store) fn count_former(
        &mut self,
        former: Option<Former>,
        file: &mut Arc<PlaybookFile>,
        config: &FeedbackConfig,
    ) -> bool {
        let Some(Former { counted, events, .. }) = former else { return false };
        counted.into_iter().for_each(|event| self.apply(event, None, config));
        let book = Arc::make_mut(&mut Arc::make_mut(file).book);
        events.into_iter().for_each(|event| self.apply(event, Some(book), config));
        true
    }
}

/// The length of the whole lines up to a number.
fn length_up_to(folded: u64, bytes: &[u8]) -> usize {
    let mut length = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if !line.ends_with(b"\n") || file::stated_number(line).is_some_and(|n| n > folded) {
            break;
        }
        length += line.len();
    }
    length
}

impl Store {
    /// A state with the usage after it.
    pub(in crate::store) fn with_usage(&self, snapshot: Snapshot) -> Result<Snapshot> {
        self.with_receipts(snapshot, Receipts::Needed)
    }

    fn with_receipts(&self, snapshot: Snapshot, receipts: Receipts) -> Result<Snapshot> {
        let mut file = Arc::clone(&snapshot.committed);
        let mut log = UsageLog::of(self.files(), &mut file, receipts, &self.feedback)?;
        let former = Former::read(self.files(), file.usage, self.clock.now())?;
        let has_former = log.count_former(former, &mut file, &self.feedback);
        Ok(Snapshot { file, log, is_provisional: snapshot.is_provisional || has_former, ..snapshot })
    }

    /// Reads the lines after the last one that was read.
    pub(in crate::store) fn read_usage(&self, snapshot: &mut Snapshot) -> Result<()> {
        let known = &snapshot.log;
        let stamp = self.files().stamp(USAGE)?;
        let (inode, length) = (stamp.map(|stamp| stamp.inode), stamp.map_or(0, |stamp| stamp.length));
        if !snapshot.is_provisional && inode == known.inode && length >= known.n_bytes {
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
        let receipts = if snapshot.log.is_partial { Receipts::Needed } else { Receipts::All };
        *snapshot = self.with_receipts(snapshot.clone(), receipts)?;
        Ok(())
    }

    /// As [`read_usage`](Self::read_usage), with all receipts that are kept.
    pub(in crate::store) fn read_receipts(&self, snapshot: &mut Snapshot) -> Result<()> {
        if !snapshot.log.is_partial {
            return self.read_usage(snapshot);
        }
        *snapshot = self.with_receipts(snapshot.clone(), Receipts::All)?;
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
    use crate::store::usage::{Event, Folded};
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
            UsageFile(&files).append(0, &[], &[recall(1), recall(2), recall(3), last]).unwrap();
            let mut file = PlaybookFile { usage: Folded::Line(2), ..PlaybookFile::default() };
            Arc::make_mut(&mut file.book).put(Lesson { retrievals: 2, ..shown.clone() });
            let mut file = Arc::new(file);
            let log = UsageLog::of(&files, &mut file, Receipts::Needed, &FeedbackConfig::default()).unwrap();
            let lesson = file.book.get(shown.id).unwrap();
            assert_eq!((lesson.retrievals, lesson.helpful_retrievals, log.end), (expected.0, expected.1, 4));
            assert_eq!((log.receipt(receipt(1)).is_some(), log.receipt(receipt(3)).is_some()), (knows_first, true));
        };
        check(recall(4), (4, 0), false);
        check(outcome(3), (3, 1), false);
        check(outcome(1), (3, 1), true);
    }
}
