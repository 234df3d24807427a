//! Backup, restore and repair of a memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use crate::error::{Error, Result, skills};
use crate::learn::LearnOutcome;
use crate::lesson::{LessonDraft, LessonId, Refusal};
use crate::playbook::skills::exchange::{ImportedSkill, SavedSkill};
use crate::playbook::{Playbook, Recovery};
use crate::state::{Plan, Planned};
use crate::store::export::check_folder;
use crate::store::skills::files::{FILE, OWN_SKILLS};
use crate::store::{BackupRecord, Restored};

/// The result of a repair, or of its preview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Repair {
    /// What the open did about a broken playbook file. For a read-only handle: what a writing open would do.
    pub recovery: Option<Recovery>,
    /// Lessons that are found only in quarantined files, or in the log and the backup after a pull or an editor wrote a file without them.
    pub from_quarantine: Vec<FromQuarantine>,
    /// True if the archive had the marks of a merge: it has the lines of both branches, without the marks.
    pub is_archive_merged: bool,
}

/// A lesson found in a file that is not in use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FromQuarantine {
    /// Its id.
    pub lesson: LessonId,
    /// Its trigger.
    pub trigger: String,
    /// That file.
    #[serde(serialize_with = "crate::path_text::shown")]
    pub path: PathBuf,
}

impl Playbook {
    /// Copies the memory to `folder`, which must be empty or missing. Other handles may write meanwhile. Caches, quarantined
    /// files and journals of edits are not copied. The copy is complete when it contains `backup.json`, which lists the hash of
    /// every file.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io) for a folder that is not empty or cannot be written;
    /// [`FolderError::Locked`](crate::FolderError::Locked) when files change in every round of copying and the lock is not
    /// free.
    pub fn back_up(&self, folder: impl AsRef<Path>) -> Result<BackupRecord> {
        check_folder(folder.as_ref(), Some(self.shared.store.folder.path()))?;
        self.shared.flush()?;
        Ok(self.shared.store.back_up_to(folder.as_ref(), self.shared.export_key.as_ref())?)
    }

    /// Replaces the playbook with that of a backup; the present playbook file goes to quarantine. Lessons that were removed
    /// since the backup stay removed. Other files of the backup are copied only where they are missing.
    ///
    /// A backup that is not sealed with the key of [`with_export_key`](crate::PlaybookBuilder::with_export_key) may be anybody's:
    /// its lessons and skills await review, as if they were imported, and nothing else is taken from it. The same holds without a
    /// key where there is a [trust store](crate::trust::TrustStore).
    ///
    /// # Errors
    /// [`FolderError::Unreadable`](crate::FolderError::Unreadable) for a folder that is not a complete backup; the errors of a
    /// commit.
    pub fn restore(&self, folder: impl AsRef<Path>) -> Result<Restored> {
        let shared = &self.shared;
        let record = shared.store.backup_record(folder.as_ref())?;
        let is_own = match &shared.export_key {
            Some(key) => record.is_sealed_by(key),
            None => !shared.store.guard.has_store(),
        };
        if !is_own {
            return self.restore_foreign(folder.as_ref(), &record);
        }
        let turn = shared.store.folder.turn(&shared.writer)?;
        let known = Arc::clone(&shared.view.read());
        let (snapshot, restored) = shared.store.restore(&known.snapshot, &turn, folder.as_ref())?;
        shared.publish(snapshot);
        Ok(restored)
    }

    /// Imports the lessons and skills of a backup that somebody else may have made.
    fn restore_foreign(&self, folder: &Path, record: &BackupRecord) -> Result<Restored> {
        let lessons = self.shared.store.lessons_of_backup(folder)?;
        let outcomes = self.import(lessons.iter().map(|lesson| LessonDraft::from_lesson(lesson)))?.outcomes;
        let count = |is_counted: fn(&LearnOutcome) -> bool| outcomes.iter().filter(|one| is_counted(one)).count();
        let mut restored = Restored {
            n_lessons: self.shared.view()?.snapshot.book().lessons.len(),
            n_kept_removed: count(|one| matches!(one, LearnOutcome::Refused { reason: Refusal::Removed })),
            n_files: 0,
            n_files_kept: 0,
            previous: None,
            is_own: false,
            n_waiting: count(|one| matches!(one, LearnOutcome::Review { .. })),
        };
        let is_skill = |path: &&Path| path.starts_with(OWN_SKILLS) && path.file_name().is_some_and(|name| name == FILE);
        for path in record.files.iter().map(|file| file.path.as_path()).filter(is_skill) {
            match self.skills().import(&folder.join(path.parent().unwrap_or(path))) {
                Ok(ImportedSkill::Saved { saved: SavedSkill::Written { .. }, .. }) => restored.n_waiting += 1,
                Ok(_) | Err(Error::Skill(skills::Error::Exists { .. } | skills::Error::NotCovered { .. })) => {
                    restored.n_files_kept += 1;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(restored)
    }

    /// What [`Playbook::repair`] would do now. Nothing is changed.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn preview_repair(&self) -> Result<Repair> {
        let view = self.shared.view()?;
        let lessons = self.shared.store.quarantined_lessons(&view.snapshot)?;
        let from_quarantine = lessons.into_iter().map(|(path, lesson)| FromQuarantine {
            lesson: lesson.id,
            trigger: lesson.trigger,
            path,
        });
        Ok(Repair {
            recovery: self.recovery().cloned(),
            from_quarantine: from_quarantine.collect(),
            is_archive_merged: self.shared.store.archive().is_split()?,
        })
    }

    /// Takes back the lessons that are found only in quarantined files, or in the log and the backup after a pull or an editor wrote a file
    /// without them, as they were, and the marks of a merge out of the archive. A
    /// broken playbook file was repaired when the folder was opened; the result names that too.
    ///
    /// # Errors
    /// The errors of a commit.
    pub fn repair(&self) -> Result<Repair> {
        let shared = &self.shared;
        shared.commit(|attempt| {
            let lessons = shared.store.quarantined_lessons(attempt.snapshot)?;
            let mut from_quarantine = Vec::with_capacity(lessons.len());
            let mut plan: Plan = shared.plan(attempt);
            for (path, lesson) in lessons {
                from_quarantine.push(FromQuarantine { lesson: lesson.id, trigger: lesson.trigger.clone(), path });
                plan.book.put(lesson);
            }
            let is_archive_merged = shared.store.archive().is_split()?;
            let repair = Repair { recovery: self.recovery().cloned(), from_quarantine, is_archive_merged };
            let is_needed = is_archive_merged || !repair.from_quarantine.is_empty();
            Ok(if is_needed { Planned::Commit(plan, repair) } else { Planned::Nothing(repair) })
        })
    }
}
