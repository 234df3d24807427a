//! The usage files: segments `usage.N.jsonl`, appended to one after another, each with a file `usage.N.extents` that records
//! the position of each append. A file that is truncated at the end of a line looks complete; the extents reveal it.

use serde::{Deserialize, Serialize};

use super::checksum::{self, Seal};
use super::playbook_file::{MAX_NUMBER, Mark};
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

/// The position of an append in its segment. Extents do not overlap unless the segment was truncated.
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
            name.to_str()?
                .strip_prefix("usage.")?
                .strip_suffix(suffix)?
                .parse::<u64>()
                .ok()
                .filter(|number| *number < MAX_NUMBER)
        };
        let mut segments: Vec<u64> = self.0.list(Name::TOP)?.iter().filter_map(number).collect();
        segments.sort_unstable();
        Ok(segments)
    }

    pub(super) fn exists(self, segment: u64) -> Result<bool> {
        Ok(!is_missing(self.0, Self::name(segment))?)
    }

    /// The bytes of a segment from a mark on; empty if it is missing.
    pub(super) fn read(self, from: Mark) -> Result<Vec<u8>> {
        self.0.read_in_place(Self::name(from.segment), from.offset)
    }

    /// Whether the existing segments are those whose events are in the log.
    pub(super) fn goes_on_from(self, log: &UsageLog) -> Result<bool> {
        let Some((at, hash)) = &log.last_line else { return Ok(false) };
        let bytes = self.read(*at)?;
        Ok(bytes.split(|byte| *byte == b'\n').next().is_some_and(|line| TextHash::of(&[line]) == *hash))
    }

    /// The end of the complete lines of the last segment; none if there is no segment.
    pub(super) fn end(self) -> Result<Option<Mark>> {
        let Some(segment) = self.segments()?.last().copied() else { return Ok(None) };
        let offset = archive::whole_length(&self.read(Mark { segment, offset: 0 })?);
        Ok(Some(Mark { segment, offset }))
    }

    /// Creates a segment, which closes the one before it.
    pub(super) fn begin(self, segment: u64) -> Result<()> {
        self.0.create(Self::name(segment), b"")
    }

    /// Appends to the last segment. If that segment has lost bytes that were read up to `end`, a new one is created.
    pub(super) fn append(self, end: Mark, lines: &[u8]) -> Result<()> {
        let Mark { mut segment, offset } = end;
        if self.length(segment)? < offset {
            segment = segment.saturating_add(1);
        }
        while segment < MAX_NUMBER && self.exists(segment.saturating_add(1))? {
            segment = segment.saturating_add(1);
        }
        let to = self.0.append(Self::name(segment), lines)?;
        let extent = Extent { from: to.saturating_sub(lines.len() as u64), to };
        // The counts are written. Without an extent, their later loss is not detected; an error here would make the caller
        // write them twice.
        if let Err(error) = self.0.append(Self::name_of_extents(segment), &extent.line()) {
            tracing::warn!(%error, "the extent of a usage line could not be recorded");
        }
        Ok(())
    }

    /// The number of bytes that were appended to any segment and are now missing.
    pub(super) fn n_missing_bytes(self) -> Result<u64> {
        let mut n_bytes = 0;
        for segment in self.numbers(EXTENTS)? {
            let extents = read_extents(&self.0.read_in_place(Self::name_of_extents(segment), 0)?);
            n_bytes = missing_of(&extents, self.length(segment)?).saturating_add(n_bytes);
        }
        Ok(n_bytes)
    }

    /// Removes extents of segments before `oldest` that no longer exist.
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
        // A segment without extents looks like one of an earlier version; extents without a segment would be reported as a
        // loss.
        self.0.remove_if_exists(Self::name_of_extents(segment))?;
        self.0.remove_if_exists(Self::name(segment))
    }
}

impl Extent {
    fn line(self) -> Vec<u8> {
        format!("{}\n", checksum::seal_line(&serde_json::json!(self).to_string())).into_bytes()
    }
}

/// The recorded appends, by position. Damaged or torn lines are skipped.
fn read_extents(bytes: &[u8]) -> Vec<Extent> {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| checksum::check_line(line) == Seal::Whole);
    let mut extents: Vec<Extent> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    extents.sort_unstable();
    extents
}

/// The number of recorded bytes of a segment that were overwritten or are past its end. The extents are in order.
fn missing_of(extents: &[Extent], length: u64) -> u64 {
    let (mut end, mut n_bytes) = (0_u64, 0_u64);
    for Extent { from, to } in extents {
        n_bytes = end.min(*to).saturating_sub(*from).saturating_add(n_bytes);
        end = end.max(*to);
    }
    end.saturating_sub(length).saturating_add(n_bytes)
}

/// Whatever the extents are, no more bytes are missing than were appended.
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
    fn bytes_past_the_end_or_overwritten_are_missing() {
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
        // The bytes of a torn write belong to no extent.
        check(&[(0, 10), (14, 20)], 20, 0);
    }
}
