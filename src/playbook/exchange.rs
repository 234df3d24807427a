//! Export of lessons to files that other programs read, and import.

use std::path::Path;

use super::commit::Attempt;
use super::learning::all_refused;
use super::{Listing, OpenPlaybook, Playbook};
use crate::error::{Result, exchange};
use crate::exchange::{Exported, Format, into_file, says_the_same, sealed};
use crate::learn::{Admission, Imported, KnownTexts, Newcomer, ReviewCapacity};
use crate::lesson::{ChangeId, DraftOrigin, LessonDraft, LessonId, Refusal};
use crate::state::Book;
use crate::store::export::{Exports, check_folder};

impl Playbook {
    /// The listed lessons as text. For a Markdown format, this is the marked section. See
    /// [`write_lessons`](crate::exchange::write_lessons). JSON lines are sealed with the key of
    /// [`PlaybookBuilder::with_export_key`](crate::PlaybookBuilder::with_export_key), if there is one.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn export_text(&self, format: Format, listing: &Listing) -> Result<String> {
        Ok(sealed(format, &self.list_lessons(listing)?, self.shared.export_key.as_ref()))
    }

    /// Checks a folder that a host is about to write files into, as [`export_into`](Self::export_into) checks a file: a link that a
    /// repository may have brought, in a repository or below the working directory, is refused.
    ///
    /// # Errors
    /// [`exchange::Error::Refused`]; [`FolderError::Io`](crate::FolderError::Io).
    pub fn check_target(folder: &Path) -> Result<()> {
        check_folder(folder, None)
    }

    /// Writes the listed lessons into a file atomically: after a crash, the file is the old or the new one.
    ///
    /// In a Markdown file only the marked section is replaced; if there is none, it is added at the end. The rest is unchanged
    /// to the byte. The other formats replace the whole file, and only one that an export wrote. A file that has this content
    /// already is not written. An existing file keeps its permissions; a new one is readable by its owner only. A link to a file in
    /// the same folder is followed, such as `CLAUDE.md` to `AGENTS.md`; any other link is refused
    /// ([`ExportRefused::Link`](exchange::ExportRefused::Link)).
    ///
    /// # Errors
    /// [`exchange::Error::Refused`]; [`Error::FileChanged`](crate::Error::FileChanged) when another program wrote to the file
    /// during the export; [`FolderError::Io`](crate::FolderError::Io). Nothing is written in these cases.
    pub fn export_into(&self, format: Format, listing: &Listing, file: &Path) -> Result<Exported> {
        let lessons = self.list_lessons(listing)?;
        let text = sealed(format, &lessons, self.shared.export_key.as_ref());
        let n_lessons = match format {
            Format::JsonLines => lessons.len(),
            _ => lessons.iter().filter(|lesson| lesson.is_admitted()).count(),
        };
        let change = Exports::new(&self.shared.store.folder).rewrite(file, self.shared.clock.now(), |known| {
            let refused = |reason| exchange::Error::Refused { path: file.to_owned(), reason };
            Ok(into_file(format, known, &text).map_err(refused)?)
        })?;
        Ok(Exported { n_lessons, change })
    }

    /// Restores the content that a file had before an export into it. Returns the id of this change.
    ///
    /// # Errors
    /// [`Error::NoSuchChange`](crate::Error::NoSuchChange); [`Error::FileChanged`](crate::Error::FileChanged) when the file was
    /// changed after the export; [`Error::OutOfReach`](crate::Error::OutOfReach) when the export was into
    /// another file; [`FolderError::Io`](crate::FolderError::Io).
    pub fn undo_export(&self, change: ChangeId, file: &Path) -> Result<ChangeId> {
        Exports::new(&self.shared.store.folder).undo(change, file, self.shared.clock.now())
    }

    /// Imports the lessons that [`read_lessons`](crate::exchange::read_lessons) or
    /// [`read_export`](crate::exchange::read_export) found in a file, as one change that [`Playbook::undo`] reverts.
    ///
    /// Imported lessons await review, whatever the file states about their origin, trust, checks and counts. Until a person
    /// promotes them, they evict nothing, are merged into nothing and are not counted. The exception is the user's own export
    /// ([`Seal::Own`](crate::exchange::Seal)): its lessons are stored as they were exported. A lesson that is already here or
    /// that a person removed is refused, so that a second import changes nothing. A lesson is also refused if the list for
    /// review is full.
    ///
    /// ```
    /// use adage::{LearnOutcome, Listing, Playbook, build_lesson, exchange};
    /// use adage::exchange::read_lessons;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
    /// playbook.learn_lesson(build_lesson("parsing CSV exports", "Use the csv module."))?;
    /// let text = playbook.export_text(exchange::Format::Ace, &Listing::everything())?;
    /// let drafts = || read_lessons(exchange::Format::Ace, &text).into_iter().flatten();
    /// // The playbook already has this lesson.
    /// assert!(matches!(playbook.import(drafts())?.outcomes[..], [LearnOutcome::Refused { .. }]));
    /// # let other = tempfile::tempdir()?;
    /// let other = Playbook::builder(other.path()).without_embedder().open()?;
    /// let imported = other.import(drafts())?;
    /// assert!(matches!(imported.outcomes[..], [LearnOutcome::Review { .. }]));
    /// other.undo(imported.change.expect("a lesson came in"))?;
    /// assert!(other.waiting_lessons()?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Playbook::learn_lesson`].
    pub fn import(&self, drafts: impl IntoIterator<Item = LessonDraft>) -> Result<Imported> {
        self.import_as(ImportRun::Commit, drafts)
    }

    /// The result that [`Playbook::import`] would have now. Nothing is written. The ids of lessons and of the change may differ
    /// later.
    ///
    /// # Errors
    /// As [`Playbook::learn_lesson`].
    pub fn preview_import(&self, drafts: impl IntoIterator<Item = LessonDraft>) -> Result<Imported> {
        self.import_as(ImportRun::Preview, drafts)
    }

    fn import_as(&self, run: ImportRun, drafts: impl IntoIterator<Item = LessonDraft>) -> Result<Imported> {
        let view = self.shared.view()?;
        let rows = self.shared.admit_rows(view.snapshot.book(), drafts.into_iter().map(LessonDraft::imported));
        match all_refused(&rows) {
            Some(outcomes) => Ok(Imported { outcomes, change: None }),
            None => self.shared.import_rows(run, &rows),
        }
    }
}

/// Whether an import is written.
#[derive(Clone, Copy, Debug)]
enum ImportRun {
    Commit,
    Preview,
}

impl OpenPlaybook {
    /// The rows after the gate. Once the list for review is full, the rest of a file is neither cleaned nor embedded nor
    /// compared: that would take minutes for a long file, none of whose rows could be imported.
    fn admit_rows(&self, book: &Book, drafts: impl Iterator<Item = LessonDraft>) -> Vec<Admission> {
        let mut capacity = ReviewCapacity::of(book, self.config.retention.max_waiting);
        let mut texts = KnownTexts::of(book);
        let admit = |draft: LessonDraft| {
            // A format may hold fewer fields than the lesson: then the hashes of the texts differ although the advice is the
            // same.
            let is_here =
                |id: &LessonId| book.in_use_or_review(*id).is_some_and(|lesson| says_the_same(&draft, lesson));
            if let Some(id) = draft.id().filter(is_here) {
                return Err(Refusal::AlreadyHere { id });
            }
            if draft.origin() != DraftOrigin::File {
                return self.admit(draft);
            }
            capacity.check()?;
            let newcomer = self.admit(draft)?;
            // A text that is here or was removed takes no place.
            let Newcomer { lesson, .. } = &newcomer;
            if !book.removed.matches_text(lesson) && texts.insert(lesson, lesson.id) {
                capacity.take_place();
            }
            Ok(newcomer)
        };
        drafts.map(admit).collect()
    }

    fn import_rows(&self, run: ImportRun, rows: &[Admission]) -> Result<Imported> {
        let needs = self.needs_of(rows.iter().flatten());
        let realms = needs.realms().to_vec();
        let decide = |attempt: &Attempt<'_>| self.plan_learning(attempt, &realms, |learner| learner.import_all(rows));
        match run {
            ImportRun::Commit => self.commit_with(needs, decide),
            ImportRun::Preview => self.preview_with(needs, decide),
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the file is written by the test")]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::folder::disk::{Disk, RealDisk};
    use crate::testing::at;
    use crate::testing::faults::{Fault, FaultyDisk};
    use crate::{ManualClock, build_lesson};

    const NOTES: &str = "# Notes\n\nMine.\n";

    fn open(folder: &Path, disk: Box<dyn Disk>) -> Result<Playbook> {
        let clock = Arc::new(ManualClock::new(at(0)));
        Playbook::builder(folder).without_embedder().with_clock(clock).with_disk(disk).open()
    }

    #[test]
    fn after_any_disk_failure_the_file_is_the_old_or_the_new_one() {
        for fault in [Fault::Once, Fault::Freeze] {
            for number in 1.. {
                let folder = tempfile::tempdir().unwrap();
                let (memory, file) = (folder.path().join("memory"), folder.path().join("AGENTS.md"));
                let draft = build_lesson("parsing CSV exports", "Use the csv module.");
                open(&memory, Box::new(RealDisk)).unwrap().learn_lesson(draft).unwrap();
                std::fs::write(&file, NOTES).unwrap();
                let done = Arc::new(AtomicUsize::new(0));
                let disk = FaultyDisk { fault, at: number, done: Arc::clone(&done) };
                let exported = open(&memory, Box::new(disk))
                    .and_then(|playbook| playbook.export_into(Format::Agents, &Listing::everything(), &file));
                let is_over = done.load(Ordering::SeqCst) < number;
                assert!(!is_over || exported.is_ok(), "{fault:?} {number}: {exported:?}");

                // The next open finishes or rolls it back.
                let playbook = open(&memory, Box::new(RealDisk)).unwrap();
                let text = std::fs::read_to_string(&file).unwrap();
                let is_new =
                    text.starts_with(NOTES) && text.contains("Use the csv module.") && text.ends_with("end -->\n");
                assert!(is_new || text == NOTES && exported.is_err(), "{fault:?} {number}: {exported:?}\n{text}");
                let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
                assert_eq!(names.count(), 2, "{fault:?} {number}: something was left beside the file");
                let change = playbook.export_into(Format::Agents, &Listing::everything(), &file).unwrap().change;
                assert_eq!(change.is_none(), is_new);
                if is_over {
                    assert!(number > 10, "only {number} operations were made to fail");
                    break;
                }
            }
        }
    }
}
