//! The usage files: `usage.N.jsonl`, appended to one after the other.

use super::playbook_file::Mark;
use super::{archive, is_missing};
use crate::error::folder::Result;
use crate::folder::{Directory, Name};

/// The segments of the usage log in a folder.
#[derive(Clone, Copy)]
pub(super) struct UsageFiles<'a>(pub(super) &'a Directory);

impl UsageFiles<'_> {
    fn name(segment: u64) -> Name {
        format!("usage.{segment}.jsonl").into()
    }

    /// The numbers of the segments, in order.
    pub(super) fn segments(self) -> Result<Vec<u64>> {
        let number = |name: &std::ffi::OsString| {
            name.to_str()?.strip_prefix("usage.")?.strip_suffix(".jsonl")?.parse::<u64>().ok()
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
        if self.0.stamp(Self::name(segment))?.map_or(0, |stamp| stamp.length) < offset {
            segment += 1;
        }
        while self.exists(segment + 1)? {
            segment += 1;
        }
        self.0.append(Self::name(segment), lines)
    }

    pub(super) fn remove(self, segment: u64) -> Result<()> {
        self.0.remove_if_exists(Self::name(segment))
    }
}
