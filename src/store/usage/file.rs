//! The usage file: a numbered line for each event, appended to and shortened under a lock of its own, so that a recall never waits
//! for a commit.

use chrono::{DateTime, FixedOffset};

use super::event::Event;
use super::is_over;
use crate::error::folder::Result;
use crate::folder::{Directory, Folder};
use crate::store::archive::whole_length;
use crate::store::checksum::{self, Seal};
use crate::store::playbook_file::MAX_NUMBER;

/// The name of the file.
pub(crate) const USAGE: &str = "usage.jsonl";
/// The file whose lock is held while the usage file and the log of receipts are written.
pub(crate) const LOCK: &str = "usage.lock";
/// The last number is looked for in this many bytes at the end; if no line there has one, in all of them.
const TAIL_BYTES: u64 = 16 << 10;
/// A file of at most this many bytes is not shortened.
const MIN_SHORTENED: u64 = 256 << 10;

/// The usage file of a folder.
#[derive(Clone, Copy)]
pub(crate) struct UsageFile<'a>(pub(crate) &'a Directory);

/// What is wrong with a usage file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UsageCheck {
    /// Lines between others, or before the last one that was counted.
    pub(crate) n_missing: u64,
    pub(crate) n_unreadable: u64,
    /// True if the last line has no end.
    pub(crate) is_torn: bool,
}

impl UsageFile<'_> {
    /// The number of the last line; 0 if there is none.
    pub(crate) fn last(self) -> Result<u64> {
        Ok(self.end(self.length()?)?.0)
    }

    /// Appends events with the numbers after the last line and after `known`. The caller holds the lock of usage. A part of an append
    /// that failed is cut off again.
    pub(crate) fn append(self, known: u64, events: &[Event]) -> Result<()> {
        let length = self.length()?;
        let (last, whole) = self.end(length)?;
        if whole < length {
            self.0.truncate(USAGE, whole)?;
        }
        let lines: Vec<u8> = (last.max(known) + 1..).zip(events).flat_map(|(n, event)| event.line(n)).collect();
        let appended = self.0.append(USAGE, &lines).map(drop);
        appended.inspect_err(|_| drop(self.0.truncate(USAGE, whole)))
    }

    /// True for a file that may be shortened.
    pub(crate) fn is_long(self) -> Result<bool> {
        Ok(self.length()? > MIN_SHORTENED)
    }

    /// Removes the first lines, if their events are over and up to `folded`, and they are half of a long file. The caller holds the lock of
    /// usage.
    pub(crate) fn shorten(self, folded: u64, now: DateTime<FixedOffset>) -> Result<()> {
        let bytes = self.0.read_in_place(USAGE, 0)?;
        let n_whole = usize::try_from(whole_length(&bytes)).unwrap_or_default();
        let (mut end, mut n_spent) = (0, 0);
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            end += line.len();
            match read_line(line.strip_suffix(b"\n").unwrap_or_default()) {
                // The last line stays: the next one goes on from its number.
                Some((n, event)) if n <= folded && is_over(event.at(), now) && end < n_whole => n_spent = end,
                Some(_) => break,
                None => {}
            }
        }
        let Some(rest) = bytes.get(n_spent..n_whole).filter(|rest| rest.len() <= n_whole / 2) else { return Ok(()) };
        let temporary = Folder::temporary("usage");
        self.0.create(&temporary, rest)?;
        self.0.sync(&temporary)?;
        self.0.rename(temporary, USAGE)
    }

    /// What is wrong with the file, if its lines up to `folded` were counted.
    pub(crate) fn check(self, folded: u64) -> Result<UsageCheck> {
        let bytes = self.0.read_in_place(USAGE, 0)?;
        let is_torn = bytes.last().is_some_and(|byte| *byte != b'\n');
        let (mut check, mut last) = (UsageCheck { is_torn, ..UsageCheck::default() }, None);
        for line in lines(&bytes) {
            let next = next_number(last, line);
            check.n_unreadable += u64::from(read_line(line).is_none());
            check.n_missing += last.zip(next).map_or(0, |(last, next)| next.saturating_sub(last).saturating_sub(1));
            last = next;
        }
        check.n_missing += folded.saturating_sub(last.unwrap_or_default());
        Ok(check)
    }

    fn length(self) -> Result<u64> {
        Ok(self.0.stamp(USAGE)?.map_or(0, |stamp| stamp.length))
    }

    /// The number of the last line, and the length of the whole lines.
    fn end(self, length: u64) -> Result<(u64, u64)> {
        let (mut from, mut bytes) = (length.saturating_sub(TAIL_BYTES), Vec::new());
        let mut last = None;
        for start in [from, 0] {
            if last.is_none() {
                (from, bytes) = (start, self.0.read_in_place(USAGE, start)?);
                last = lines(&bytes).fold(None, next_number);
            }
        }
        Ok((last.unwrap_or_default(), from + whole_length(&bytes)))
    }
}

/// The whole lines of these bytes, without their ends.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').filter_map(|line| line.strip_suffix(b"\n"));
    lines.filter(|line| !line.is_empty())
}

/// The number and the event of a line.
pub(super) fn read_line(line: &[u8]) -> Option<(u64, Event)> {
    Some((number_of(line)?, serde_json::from_slice(line).ok()?))
}

/// The number of a line; none if the line is damaged.
fn number_of(line: &[u8]) -> Option<u64> {
    stated_number(line).filter(|_| checksum::check_line(line) == Seal::Whole)
}

/// The number of a line that may be damaged.
pub(super) fn stated_number(line: &[u8]) -> Option<u64> {
    let digits = line.strip_prefix(br#"{"n":"#)?.split(|byte| *byte == b',').next()?;
    std::str::from_utf8(digits).ok()?.parse().ok().filter(|n| *n < MAX_NUMBER)
}

/// The number of a line after the one with the number `last`: a damaged line had the next one.
fn next_number(last: Option<u64>, line: &[u8]) -> Option<u64> {
    match number_of(line) {
        Some(0) => last,
        Some(n) => Some(n),
        None => last.map(|last| last + 1),
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::lesson::{ReceiptId, TextHash};
    use crate::testing::at;

    /// A folder with these lines and bytes after them.
    fn folder(lines: &[u64], rest: &[u8]) -> (tempfile::TempDir, Directory) {
        let folder = tempfile::tempdir().unwrap();
        let files = Directory::real(folder.path());
        let lines: Vec<u8> = lines.iter().flat_map(|n| shown(0).line(*n)).chain(rest.iter().copied()).collect();
        files.create(USAGE, &lines).unwrap();
        (folder, files)
    }

    fn shown(seconds: i64) -> Event {
        let receipt = ReceiptId::at(at(seconds), TextHash::of(&["receipt"]));
        Event::Shown { receipt, shown: Vec::new(), at: at(seconds) }
    }

    fn numbers(files: &Directory) -> Vec<Option<u64>> {
        lines(&files.read_or_empty(USAGE, 0).unwrap()).map(number_of).collect()
    }

    #[test]
    fn lines_that_are_missing_are_counted() {
        let check = |present: &[u64], folded, expected| {
            let (_folder, files) = folder(present, b"");
            let expected = UsageCheck { n_missing: expected, ..UsageCheck::default() };
            assert_eq!(UsageFile(&files).check(folded).unwrap(), expected, "{present:?}, {folded} counted");
        };
        check(&[], 0, 0);
        check(&[1, 2, 3], 2, 0);
        check(&[1, 2, 5], 5, 2);
        check(&[1, 2], 5, 3);
        check(&[], 5, 5);
        // The first lines were removed when their receipts were over.
        check(&[7, 8], 8, 0);
        // Those of an earlier version have no number of their own.
        check(&[0, 0, 1, 3], 0, 1);
    }

    #[test]
    fn a_damaged_line_is_unreadable_and_not_missing_and_a_torn_one_is_reported() {
        let mut damaged = shown(1).line(2);
        damaged[12] ^= 1;
        let (_folder, files) = folder(&[1], &[damaged, shown(1).line(3), b"{\"n\":4".to_vec()].concat());
        let expected = UsageCheck { n_missing: 0, n_unreadable: 1, is_torn: true };
        assert_eq!(UsageFile(&files).check(3).unwrap(), expected);
    }

    #[test]
    fn an_append_goes_on_from_the_last_line_and_from_what_was_counted() {
        let check = |present: &[u64], rest: &[u8], known, expected: &[Option<u64>]| {
            let (_folder, files) = folder(present, rest);
            UsageFile(&files).append(known, &[shown(2), shown(3)]).unwrap();
            assert_eq!(numbers(&files), expected, "{present:?}");
        };
        check(&[], b"", 0, &[Some(1), Some(2)]);
        check(&[0, 1, 2], b"", 1, &[Some(0), Some(1), Some(2), Some(3), Some(4)]);
        check(&[1], b"{\"n\":2,\"receipt", 0, &[Some(1), Some(2), Some(3)]);
        check(&[1], b"\0\0\0\0", 0, &[Some(1), Some(2), Some(3)]);
        check(&[1], b"damaged\n", 0, &[Some(1), None, Some(3), Some(4)]);
        check(&[1], b"", 8, &[Some(1), Some(9), Some(10)]);
        // Longer than the part at the end that is read first.
        let long = [vec![b'x'; 20_000], b"\n".to_vec()].concat();
        check(&[1], &long, 0, &[Some(1), None, Some(3), Some(4)]);
    }

    #[test]
    fn a_long_file_loses_its_first_half_once_it_is_counted_and_over() {
        const N_LINES: u64 = 4_000;
        let now = at(N_LINES.cast_signed() / 2) + TimeDelta::days(super::super::RECEIPT_DAYS);
        let check = |folded, now, expected: u64| {
            let (_folder, files) = folder(&[], b"");
            let lines: Vec<u8> = (1..=N_LINES).flat_map(|n| shown(n.cast_signed()).line(n)).collect();
            files.create(USAGE, &[&lines[..], b"{\"n\":"].concat()).unwrap();
            UsageFile(&files).shorten(folded, now).unwrap();
            assert_eq!((numbers(&files)[0], UsageFile(&files).last().unwrap()), (Some(expected), N_LINES));
        };
        let later = now + TimeDelta::seconds(100);
        check(N_LINES, now - TimeDelta::seconds(100), 1);
        check(N_LINES, later, N_LINES / 2 + 100);
        check(N_LINES / 2 - 100, later, 1);
        check(N_LINES / 2 + 50, later, N_LINES / 2 + 51);
        check(N_LINES, now + TimeDelta::days(1), N_LINES);
    }
}
