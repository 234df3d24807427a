//! The usage files: `usage.N.jsonl`, appended to one after the other, and beside each `usage.N.extents`, which says what was appended
//! where. A file that is cut at the end of a line still looks whole; the extents reveal the cut.

use serde::{Deserialize, Serialize};

use super::checksum::{self, Seal};
use super::playbook_file::Mark;
use super::usage::UsageLog;
use super::{archive, is_missing};
use crate::error::folder::Result;
use crate::folder::{Directory, Name};
use crate::hash::TextHash;

/// The segments of the usage log in a folder.
#[derive(Clone, Copy)]
pub(super) struct UsageFiles<'a>(pub(super) &'a Directory);

const LINES: &str = ".jsonl";
const EXTENTS: &str = ".extents";

/// Where in its segment something was appended. No two overlap while nobody cuts the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Extent {
    from: u64,
    to: u64,
}

impl UsageFiles<'_> {
    fn name(segment: u64) -> Name {
        format!("usage.{segment}{LINES}").into()
    }

    fn name_of_extents(segment: u64) -> Name {
        format!("usage.{segment}{EXTENTS}").into()
    }

    /// The numbers of the segments, in order.
    pub(super) fn segments(self) -> Result<Vec<u64>> {
        self.numbers(LINES)
    }

    fn numbers(self, suffix: &str) -> Result<Vec<u64>> {
        let number = |name: &std::ffi::OsString| {
            name.to_str()?.strip_prefix("usage.")?.strip_suffix(suffix)?.parse::<u64>().ok()
        };
        let mut segments: Vec<u64> = self.0.list(Name::TOP)?.iter().filter_map(number).collect();
        segments.sort_unstable();
        Ok(segments)
    }

    pub(super) fn exists(self, segment: u64) -> Result<bool> {
        Ok(!is_missing(self.0, Self::name(segment))?)
    }

    /// The segment from a mark on, nothing when there is none.
    pub(super) fn read(self, from: Mark) -> Result<Vec<u8>> {
        self.0.read_in_place(Self::name(from.segment), from.offset)
    }

    /// Whether these segments are the ones whose events are in the log, as far as they are there.
    pub(super) fn goes_on_from(self, log: &UsageLog) -> Result<bool> {
        let Some((at, hash)) = &log.last_line else { return Ok(false) };
        let bytes = self.read(*at)?;
        Ok(bytes.split(|byte| *byte == b'\n').next().is_some_and(|line| TextHash::of(&[line]) == *hash))
    }

    /// The end of the last segment's whole lines; none without a segment.
    pub(super) fn end(self) -> Result<Option<Mark>> {
        let Some(segment) = self.segments()?.last().copied() else { return Ok(None) };
        let offset = archive::whole_length(&self.read(Mark { segment, offset: 0 })?);
        Ok(Some(Mark { segment, offset }))
    }

    /// Begins a segment, which closes the one before it.
    pub(super) fn begin(self, segment: u64) -> Result<()> {
        self.0.create(Self::name(segment), b"")
    }

    /// Appends to the segment that is open. A closed one has a successor; one that lost some of what was read up to `end`
    /// gets one.
    pub(super) fn append(self, end: Mark, lines: &[u8]) -> Result<()> {
        let Mark { mut segment, offset } = end;
        if self.length(segment)? < offset {
            segment += 1;
        }
        while self.exists(segment + 1)? {
            segment += 1;
        }
        let to = self.0.append(Self::name(segment), lines)?;
        let extent = Extent { from: to.saturating_sub(lines.len() as u64), to };
        // The counts are written. Without a record a later loss of them goes unnoticed, but writing them again would count them twice.
        if let Err(error) = self.0.append(Self::name_of_extents(segment), &extent.line()) {
            tracing::warn!(%error, "what is appended to a usage file is not on record");
        }
        Ok(())
    }

    /// How many bytes were appended, to whichever segment, and are not there any more.
    pub(super) fn n_missing_bytes(self) -> Result<u64> {
        let mut n_bytes = 0;
        for segment in self.numbers(EXTENTS)? {
            let extents = read_extents(&self.0.read_in_place(Self::name_of_extents(segment), 0)?);
            n_bytes += missing_of(&extents, self.length(segment)?);
        }
        Ok(n_bytes)
    }

    /// Removes what is on record of segments before `oldest` that are not there.
    pub(super) fn remove_strays(self, oldest: u64) -> Result<()> {
        for segment in self.numbers(EXTENTS)?.into_iter().filter(|segment| *segment < oldest) {
            if !self.exists(segment)? {
                self.0.remove_if_exists(Self::name_of_extents(segment))?;
            }
        }
        Ok(())
    }

    fn length(self, segment: u64) -> Result<u64> {
        Ok(self.0.stamp(Self::name(segment))?.map_or(0, |stamp| stamp.length))
    }

    pub(super) fn remove(self, segment: u64) -> Result<()> {
        // A segment without extents is as an earlier version left it; extents without a segment would be a loss.
        self.0.remove_if_exists(Self::name_of_extents(segment))?;
        self.0.remove_if_exists(Self::name(segment))
    }
}

impl Extent {
    fn line(self) -> Vec<u8> {
        format!("{}\n", checksum::seal_line(&serde_json::json!(self).to_string())).into_bytes()
    }
}

/// What was appended, by its place. Lines that are damaged or torn are passed over.
fn read_extents(bytes: &[u8]) -> Vec<Extent> {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| checksum::check_line(line) == Seal::Whole);
    let mut extents: Vec<Extent> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    extents.sort_unstable();
    extents
}

/// How many bytes of a segment others took the place of, or are behind its end. The extents are in order.
fn missing_of(extents: &[Extent], length: u64) -> u64 {
    let (mut end, mut n_bytes) = (0, 0);
    for Extent { from, to } in extents {
        n_bytes += end.min(*to).saturating_sub(*from);
        end = end.max(*to);
    }
    n_bytes + end.saturating_sub(length)
}

/// Whatever the record says, what is missing is of what was appended.
#[cfg(test)]
pub(super) fn fuzz_extents(bytes: &[u8]) {
    let extents = read_extents(bytes);
    let written: Vec<u8> = extents.iter().flat_map(|extent| extent.line()).collect();
    assert_eq!(read_extents(&written), extents);
    let most = extents.iter().map(|extent| extent.to).max().unwrap_or_default();
    assert!(missing_of(&extents, 0) >= missing_of(&extents, most));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_behind_the_end_or_was_written_over_is_missing() {
        let check = |extents: &[(u64, u64)], length, expected| {
            let mut bytes = b"{\"from\":0,\"to\":999,\"crc\":\"00000000\"}\n".to_vec();
            bytes.extend(extents.iter().flat_map(|(from, to)| Extent { from: *from, to: *to }.line()));
            bytes.extend(b"{\"from\":0,\"t");
            assert_eq!(missing_of(&read_extents(&bytes), length), expected, "{extents:?} of {length}");
        };
        check(&[], 0, 0);
        check(&[(0, 10), (10, 20)], 20, 0);
        check(&[(10, 20), (0, 10)], 25, 0);
        check(&[(0, 10), (10, 20)], 10, 10);
        check(&[(0, 10), (10, 20)], 0, 20);
        check(&[(0, 10), (10, 20), (10, 25)], 25, 10);
        check(&[(0, 10), (10, 20), (12, 15)], 20, 3);
        // What a torn write left is nobody's.
        check(&[(0, 10), (14, 20)], 20, 0);
    }
}
