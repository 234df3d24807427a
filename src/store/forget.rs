//! A hard delete: a lesson's words leave every file of the folder, not only the playbook.

use chrono::{DateTime, FixedOffset, TimeDelta};

use super::{Store, archive};
use crate::config::StoreConfig;
use crate::error::folder::Result;
use crate::folder::Name;
use crate::lesson::{Lesson, LessonId};
use crate::state::Change;

/// What has to leave every file.
#[derive(Clone, Debug)]
pub(crate) struct Forgotten {
    pub(crate) id: LessonId,
    /// Texts by which other files are searched.
    words: Vec<String>,
}

/// The age of the archive is looked at once in so many commits.
const AGE_EVERY: u64 = 64;

/// A text that is shorter than this, in bytes, could be anybody's.
const MIN_WORDS: usize = 16;

impl Forgotten {
    /// The words are those of the lesson, of what it was before, and of what was merged into it.
    pub(crate) fn new(lesson: &Lesson, history: &[Change]) -> Self {
        let edits = history.iter().flat_map(|change| &change.edits).filter(|edit| edit.id == lesson.id);
        let before = edits.flat_map(|edit| edit.before.iter().chain(&edit.incoming)).map(|lesson| &**lesson);
        let fields = before.chain([lesson]).flat_map(|lesson| {
            [
                &lesson.correct_pattern,
                &lesson.solution,
                &lesson.mistake,
                &lesson.anti_pattern,
                &lesson.code_example,
                &lesson.trigger,
                &lesson.task,
            ]
        });
        let fields = fields.filter(|text| text.len() >= MIN_WORDS).cloned();
        let mut words: Vec<String> = fields.chain([lesson.id.to_string()]).collect();
        words.sort_unstable();
        words.dedup();
        Self { id: lesson.id, words }
    }

    /// True for bytes in which one of the texts is, as it is or as JSON writes it.
    fn is_in(&self, bytes: &[u8]) -> bool {
        let text = String::from_utf8_lossy(bytes);
        self.words.iter().any(|words| {
            let escaped = serde_json::json!(words).to_string();
            text.contains(words.as_str()) || text.contains(escaped.trim_matches('"'))
        })
    }
}

impl Store {
    /// Writes the archive again up to `length`, without what is to be forgotten, and with `changes`; the new length. The playbook file
    /// has to be committed next: until then it names more of the archive than there is, which is cut to what there is.
    pub(super) fn rewrite_archive(&self, length: u64, changes: &[Change], forgotten: &Forgotten) -> Result<u64> {
        let mut bytes = self.read_archive()?;
        bytes.truncate(usize::try_from(length).unwrap_or(usize::MAX));
        let mut kept = archive::without(&bytes, forgotten.id);
        kept.extend(archive::render(changes));
        self.replace_archive(&kept)
    }

    /// Writes the archive again where it is larger or older than it may be; the new length. As for [`Store::rewrite_archive`], the
    /// playbook file is committed next.
    pub(super) fn shorten_archive(&self, length: u64, generation: u64) -> Result<u64> {
        let StoreConfig { archive_max_bytes, archive_max_age, .. } = self.config;
        let max_age = TimeDelta::from_std(archive_max_age).unwrap_or(TimeDelta::MAX);
        let now = self.clock.now();
        let oldest = now.checked_sub_signed(max_age).unwrap_or(DateTime::<FixedOffset>::MIN_UTC.into());
        // Old removals stay at the beginning, so this is not looked at by every commit.
        let is_old = || -> Result<bool> {
            if !generation.is_multiple_of(AGE_EVERY) {
                return Ok(false);
            }
            let first = archive::first_at(&self.files().read_start(super::ARCHIVE, super::START_BYTES)?);
            Ok(first.is_some_and(|first| first < oldest))
        };
        if length <= archive_max_bytes && !is_old()? {
            return Ok(length);
        }
        let mut bytes = self.read_archive()?;
        bytes.truncate(usize::try_from(length).unwrap_or(usize::MAX));
        let max_bytes = if length > archive_max_bytes { archive_max_bytes / 2 } else { archive_max_bytes };
        let kept = archive::shortened(&bytes, max_bytes, oldest);
        // Removals alone may be more than that: then there is nothing to gain.
        if kept.len() > bytes.len() / 4 * 3 { Ok(length) } else { self.replace_archive(&kept) }
    }

    pub(super) fn replace_archive(&self, bytes: &[u8]) -> Result<u64> {
        let temporary = self.folder.write_temporary("archive", bytes)?;
        self.files().rename(temporary, super::ARCHIVE)?;
        self.files().sync_directory(Name::TOP)?;
        Ok(bytes.len() as u64)
    }

    /// Removes every other file that the words are in: quarantined ones and records of edits. The caller holds the lock and has
    /// committed.
    pub(super) fn purge(&self, forgotten: &Forgotten) -> Result<()> {
        for folder in [crate::folder::QUARANTINE, crate::folder::edits::JOURNALS] {
            for name in self.files().list(folder)? {
                let name = Name::from(folder).join(name);
                if forgotten.is_in(&self.files().read_or_empty(&name, 0)?) {
                    self.files().remove_if_exists(&name)?;
                }
            }
        }
        Ok(())
    }
}
