//! Permanent deletion: a lesson's texts are removed from every file of the folder, not only from the playbook.

use std::collections::BTreeSet;
use std::path::PathBuf;

use chrono::{DateTime, FixedOffset, TimeDelta};

use super::commit_log::LOG;
use super::curation::ARCHIVE as SKILLS_ARCHIVE;
use super::{ARCHIVE, BACKUP, PLAYBOOK, Store, archive};
use crate::config::StoreConfig;
use crate::error::folder::Result;
use crate::folder::edits::JOURNALS;
use crate::folder::{Entry, Name, QUARANTINE};
use crate::lesson::LessonId;
use crate::state::{Change, Forgotten};

/// What must be removed from every file.
#[derive(Clone, Debug)]
pub(super) struct Words {
    ids: BTreeSet<LessonId>,
    /// What other files are searched for.
    sought: Vec<Sought>,
}

/// A text in the forms in which a file may contain it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Sought {
    /// As JSON escapes it.
    escaped: String,
    /// With one space for all white space.
    flat: String,
}

/// The age of the archive is checked at every 64th commit.
const AGE_EVERY: u64 = 64;

/// A text shorter than this, in bytes, is too common to search for.
const MIN_WORDS: usize = 16;

impl Words {
    pub(super) fn of(forgotten: &Forgotten) -> Self {
        let fields = forgotten.texts.iter().flat_map(|lesson| {
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
        let fields = fields.filter(|text| text.len() >= MIN_WORDS).map(|text| Sought::of(text));
        let ids = forgotten.ids.iter().map(|id| Sought::of(&id.to_string()));
        let mut sought: Vec<Sought> = fields.chain(ids).collect();
        sought.sort_unstable();
        sought.dedup();
        Self { ids: forgotten.ids.clone(), sought }
    }

    /// The texts only. Ids remain: in the record of what was removed, in usage.
    fn without_ids(mut self) -> Self {
        let ids: BTreeSet<String> = self.ids.iter().map(LessonId::to_string).collect();
        self.sought.retain(|sought| !ids.contains(&sought.flat));
        self
    }

    /// True if one of the texts is in these bytes: verbatim, with other line breaks, or as escaped by JSON.
    fn is_in(&self, bytes: &[u8]) -> bool {
        let text = String::from_utf8_lossy(bytes);
        let flat = flattened(&text);
        self.sought.iter().any(|sought| text.contains(&sought.escaped) || flat.contains(&sought.flat))
    }
}

impl Sought {
    fn of(text: &str) -> Self {
        let json = serde_json::json!(text).to_string();
        Self { escaped: json.trim_matches('"').to_owned(), flat: flattened(text) }
    }
}

/// The text with one space in place of all white space: a skill breaks lines where a lesson does not.
fn flattened(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Files whose lessons are known: another lesson may have the same text.
fn is_known(name: &Name) -> bool {
    [PLAYBOOK, BACKUP, LOG, ARCHIVE].iter().any(|known| *name == Name::from(*known))
}

/// The depth to which folders are searched for texts.
const MAX_DEPTH: usize = 6;

impl Store {
    /// Rewrites the first `length` bytes of the archive without the forgotten lesson and with `changes` appended. Returns the
    /// new length. The playbook file must be committed next: until then it states a larger length, which readers limit to the
    /// actual one.
    pub(super) fn rewrite_archive(
        &self,
        length: u64,
        changes: &[Change],
        generation: u64,
        forgotten: &Words,
    ) -> Result<u64> {
        let mut bytes = self.read_archive()?;
        bytes.truncate(usize::try_from(length).unwrap_or(usize::MAX));
        let mut kept = archive::without(&bytes, &forgotten.ids);
        kept.extend(archive::render_forgotten(changes, generation));
        self.replace_archive(&kept)
    }

    /// Rewrites the archive if it is larger or older than allowed. Returns the new length. As for [`Store::rewrite_archive`],
    /// the playbook file is committed next.
    pub(super) fn shorten_archive(&self, length: u64, generation: u64) -> Result<u64> {
        let StoreConfig { archive_max_bytes, archive_max_age, .. } = self.config;
        let max_age = TimeDelta::from_std(archive_max_age).unwrap_or(TimeDelta::MAX);
        let now = self.clock.now();
        let oldest = now.checked_sub_signed(max_age).unwrap_or(DateTime::<FixedOffset>::MIN_UTC.into());
        // Old removals stay at the beginning, so this is not checked at every commit.
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
        // If removals alone exceed the limit, nothing is gained.
        if kept.len() > bytes.len() / 4 * 3 { Ok(length) } else { self.replace_archive(&kept) }
    }

    pub(super) fn replace_archive(&self, bytes: &[u8]) -> Result<u64> {
        let temporary = self.folder.write_temporary("archive", bytes)?;
        self.files().rename(temporary, super::ARCHIVE)?;
        self.files().sync_directory(Name::TOP)?;
        Ok(bytes.len() as u64)
    }

    /// Removes every file of adage's own that contains the texts: quarantined files, journals of edits, archived skills. The
    /// caller holds the lock and has committed.
    pub(super) fn purge(&self, forgotten: &Words) -> Result<()> {
        for folder in [QUARANTINE, JOURNALS, SKILLS_ARCHIVE] {
            for name in self.files_with(forgotten, &folder.into(), 0)? {
                self.files().remove_if_exists(&name)?;
            }
        }
        Ok(())
    }

    /// Removes these files again, after skills of the lesson were archived, and returns the files of the folder that still contain
    /// the texts: skills that a person keeps, notes and proposals.
    pub(crate) fn purge_again(&self, forgotten: &Forgotten) -> Result<Vec<PathBuf>> {
        let words = Words::of(forgotten);
        let _lock = self.folder.lock()?;
        self.purge(&words)?;
        let kept = self.files_with(&words.without_ids(), &Name::TOP, 0)?;
        Ok(kept.into_iter().map(|name| self.files().path_of(name)).collect())
    }

    /// The files in a folder, and below it, that contain the texts, without those whose lessons are known. Links are not followed.
    fn files_with(&self, words: &Words, folder: &Name, depth: usize) -> Result<Vec<Name>> {
        let mut found = Vec::new();
        for name in self.files().list(folder)? {
            let name = folder.clone().join(name);
            match self.files().entry(&name)? {
                Entry::Folder if depth < MAX_DEPTH => found.extend(self.files_with(words, &name, depth + 1)?),
                Entry::File { .. } if is_known(&name) => {}
                Entry::File { .. } if words.is_in(&self.files().read_or_empty(&name, 0)?) => found.push(name),
                _ => {}
            }
        }
        Ok(found)
    }
}
