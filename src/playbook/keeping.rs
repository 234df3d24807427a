//! Copies of a memory, and what is left of broken files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::{Playbook, Recovery};
use crate::error::Result;
use crate::lesson::LessonId;
use crate::state::{Plan, Planned};
use crate::store::{BackupRecord, Restored};

/// What a repair did, or would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Repair {
    /// What the open did about a broken playbook file: of a handle that only reads, what it would do.
    pub recovery: Option<Recovery>,
    /// Lessons that are nowhere but in quarantine, and the file that each is in.
    pub from_quarantine: Vec<FromQuarantine>,
}

/// A lesson that was found in a quarantined file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FromQuarantine {
    /// Its id.
    pub lesson: LessonId,
    /// Its trigger.
    pub trigger: String,
    /// The file.
    pub path: PathBuf,
}

impl Playbook {
    /// Copies the memory to `folder`, which has to be empty or missing, while others go on writing. Not copied are caches,
    /// quarantine and records of edits. The copy is whole once its `backup.json` is there, with the hash of every file.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io) for a folder that is not empty or cannot be written;
    /// [`FolderError::Locked`](crate::FolderError::Locked) when others commit all the time and the lock cannot be had.
    pub fn back_up(&self, folder: impl AsRef<Path>) -> Result<BackupRecord> {
        self.0.flush()?;
        Ok(self.0.store.back_up_to(folder.as_ref())?)
    }

    /// Puts a copy's playbook in the place of the present one, which goes to quarantine. What was removed since stays removed. Other
    /// files of the copy are put back where there are none.
    ///
    /// # Errors
    /// [`FolderError::Unreadable`](crate::FolderError::Unreadable) for a folder that is not a whole copy; the errors of a commit.
    pub fn restore(&self, folder: impl AsRef<Path>) -> Result<Restored> {
        let inner = &self.0;
        let turn = inner.store.folder.turn(&inner.writer)?;
        let known = Arc::clone(&inner.view.read());
        let (snapshot, restored) = inner.store.restore(&known.snapshot, &turn, folder.as_ref())?;
        inner.show(snapshot);
        Ok(restored)
    }

    /// What a repair would do: nothing is changed.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn preview_repair(&self) -> Result<Repair> {
        let view = self.0.view()?;
        let lessons = self.0.store.quarantined_lessons(&view.snapshot)?;
        let from_quarantine = lessons.into_iter().map(|(path, lesson)| FromQuarantine {
            lesson: lesson.id,
            trigger: lesson.trigger,
            path,
        });
        Ok(Repair { recovery: self.recovery().cloned(), from_quarantine: from_quarantine.collect() })
    }

    /// Takes lessons back that are nowhere but in quarantine. A broken playbook file itself is repaired by the open.
    ///
    /// # Errors
    /// Those of a commit.
    pub fn repair(&self) -> Result<Repair> {
        let inner = &self.0;
        inner.commit(|attempt| {
            let lessons = inner.store.quarantined_lessons(attempt.snapshot)?;
            let mut from_quarantine = Vec::with_capacity(lessons.len());
            let mut plan: Plan = inner.plan(attempt);
            for (path, lesson) in lessons {
                from_quarantine.push(FromQuarantine { lesson: lesson.id, trigger: lesson.trigger.clone(), path });
                plan.book.put(lesson);
            }
            let repair = Repair { recovery: self.recovery().cloned(), from_quarantine };
            Ok(if repair.from_quarantine.is_empty() { Planned::Nothing(repair) } else { Planned::Commit(plan, repair) })
        })
    }
}
