//! The file of the archive, `archive.jsonl`: appended to by a commit, cut back to what is committed, and shortened.

use std::collections::BTreeSet;

use chrono::{DateTime, FixedOffset, TimeDelta};

use crate::clock::Clock;
use crate::config::StoreConfig;
use crate::error::folder::Result;
use crate::folder::{Directory, Folder, Name};
use crate::lesson::LessonId;
use crate::state::{Action, Change};
use crate::store::{ARCHIVE, START_BYTES, archive};

/// The age of the archive is checked at every 64th commit.
const AGE_EVERY: u64 = 64;

/// The archive of a folder.
#[derive(Clone, Copy)]
pub(crate) struct ArchiveFile<'a> {
    pub(in crate::store) folder: &'a Folder,
    pub(in crate::store) config: &'a StoreConfig,
    pub(in crate::store) clock: &'a dyn Clock,
}

impl ArchiveFile<'_> {
    fn files(&self) -> &Directory {
        self.folder.files()
    }

    /// Its bytes, without the marks of a merge; empty if there is none.
    pub(crate) fn read(self) -> Result<Vec<u8>> {
        let bytes = self.files().read_or_empty(ARCHIVE, 0)?;
        Ok(archive::merged(&bytes).unwrap_or(bytes))
    }

    /// Its first bytes, of this number, without the marks of a merge.
    pub(in crate::store) fn read_until(self, length: u64) -> Result<Vec<u8>> {
        let mut bytes = self.read()?;
        bytes.truncate(usize::try_from(length).unwrap_or(usize::MAX));
        Ok(bytes)
    }

    /// Every change in it, those too that nobody here has admitted.
    pub(crate) fn changes(self) -> Result<Vec<Change>> {
        Ok(archive::parse(&self.read()?, self.clock))
    }

    /// Truncates what a dead writer appended, appends the changes of the commit of this generation, and returns the new length.
    /// An archive that is larger or older than allowed is shortened: the playbook file must be committed next then, because until
    /// then it states a larger length, which readers limit to the actual one.
    pub(in crate::store) fn append(self, length: u64, changes: &[Change], generation: u64) -> Result<u64> {
        let length = self.append_after(length, changes, generation)?;
        self.shorten(length, generation)
    }

    fn append_after(self, length: u64, changes: &[Change], generation: u64) -> Result<u64> {
        if changes.is_empty() && self.ends_at(length)? {
            return Ok(length);
        }
        let files = self.files();
        let stamp = files.stamp(ARCHIVE)?;
        let present = stamp.map_or(0, |stamp| stamp.length);
        let merged = if present == length { None } else { self.write_merged()? };
        if merged.is_none() && present > length {
            files.truncate(ARCHIVE, length)?;
        }
        let mut length = merged.unwrap_or(length.min(present));
        if !changes.is_empty() {
            let lines = archive::render(changes, generation);
            files.append(ARCHIVE, &lines)?;
            files.sync(ARCHIVE)?;
            if stamp.is_none() {
                files.sync_directory(Name::TOP)?;
            }
            length += lines.len() as u64;
        }
        Ok(length)
    }

    /// As [`append`](Self::append), without the lines of forgotten lessons: the first `length` bytes are written again, with
    /// the changes after them.
    pub(in crate::store) fn rewrite(
        self,
        length: u64,
        changes: &[Change],
        generation: u64,
        forgotten: &BTreeSet<LessonId>,
    ) -> Result<u64> {
        let mut kept = archive::without(&self.read_until(length)?, forgotten);
        for change in changes {
            let is_of_these = change.edits.iter().any(|edit| forgotten.contains(&edit.id));
            let render = if is_of_these { archive::render_forgotten } else { archive::render };
            kept.extend(render(std::slice::from_ref(change), generation));
        }
        self.replace(&kept)
    }

    fn shorten(self, length: u64, generation: u64) -> Result<u64> {
        let StoreConfig { archive_max_bytes, archive_max_age, .. } = *self.config;
        let max_age = TimeDelta::from_std(archive_max_age).unwrap_or(TimeDelta::MAX);
        let now = self.clock.now();
        let oldest = now.checked_sub_signed(max_age).unwrap_or(DateTime::<FixedOffset>::MIN_UTC.into());
        // Old removals stay at the beginning, so this is not checked at every commit.
        let is_old = || -> Result<bool> {
            if !generation.is_multiple_of(AGE_EVERY) {
                return Ok(false);
            }
            let first = archive::first_at(&self.files().read_start(ARCHIVE, START_BYTES)?);
            Ok(first.is_some_and(|first| first < oldest))
        };
        if length <= archive_max_bytes && !is_old()? {
            return Ok(length);
        }
        let bytes = self.read_until(length)?;
        let max_bytes = if length > archive_max_bytes { archive_max_bytes / 2 } else { archive_max_bytes };
        let kept = archive::shortened(&bytes, max_bytes, oldest);
        // If removals alone exceed the limit, nothing is gained.
        if kept.len() > bytes.len() / 4 * 3 { Ok(length) } else { self.replace(&kept) }
    }

    /// Replaces an archive that has the marks of a merge by one with the lines of both versions. Returns its new length, if it had
    /// marks.
    pub(in crate::store) fn write_merged(self) -> Result<Option<u64>> {
        let merged = archive::merged(&self.files().read_or_empty(ARCHIVE, 0)?);
        merged.map(|bytes| self.replace(&bytes)).transpose()
    }

    fn replace(self, bytes: &[u8]) -> Result<u64> {
        let temporary = self.folder.write_temporary("archive", bytes)?;
        self.files().rename(temporary, ARCHIVE)?;
        self.files().sync_directory(Name::TOP)?;
        Ok(bytes.len() as u64)
    }

    /// Says in the archive that a removal, or its undo, was committed. The next commit with lines of its own cuts this one off: they say
    /// so then.
    pub(in crate::store) fn mark_committed(self, changes: &[Change], generation: u64) {
        let decides = |change: &Change| matches!(change.action, Action::Remove | Action::Undo);
        if changes.iter().any(decides)
            && let Err(error) = self.files().append(ARCHIVE, &archive::committed(generation))
        {
            tracing::warn!(%error, "the archive does not say that its last changes were committed");
        }
    }

    /// True if the archive has this length, apart from the line that says that its last changes were committed.
    pub(crate) fn ends_at(self, length: u64) -> Result<bool> {
        let present = self.files().stamp(ARCHIVE)?.map_or(0, |stamp| stamp.length);
        if present <= length {
            return Ok(present == length);
        }
        let rest = self.files().read_or_empty(ARCHIVE, length)?;
        Ok(rest.strip_suffix(b"\n").is_some_and(archive::is_mark))
    }

    /// True if it has the marks of a merge.
    pub(crate) fn is_split(self) -> Result<bool> {
        Ok(archive::merged(&self.files().read_or_empty(ARCHIVE, 0)?).is_some())
    }

    /// The number of its lines that cannot be read.
    pub(crate) fn n_broken(self) -> Result<usize> {
        Ok(archive::count_broken(&self.read()?))
    }
}
