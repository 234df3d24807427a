//! Combines a broken or outdated playbook file with its backup, row by row, into the newest state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::lesson::{Lesson, LessonId};
use crate::state::{Book, Removals, Waiting};
use crate::store::PlaybookFile;
use crate::store::checksum::Seal;
use crate::store::playbook_file::Seals;

/// What could be read of a file, and the state of its checksums.
pub(in crate::store) struct ReadableFile {
    pub(in crate::store) file: PlaybookFile,
    pub(in crate::store) seals: Seals,
    /// True if only this program wrote the file: then every wrong checksum is damage.
    pub(in crate::store) is_damage: bool,
}

/// The number of rows taken from each file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::store) struct Taken {
    pub(in crate::store) from_file: usize,
    pub(in crate::store) from_backup: usize,
    /// Damaged rows that are not in the backup.
    pub(in crate::store) set_aside: usize,
}

/// The rows of both, the newest of each. A row of the file is used if its checksum is right or a person edited it. The backup's
/// row is used if the file's is damaged or missing, or the file is an older copy.
pub(in crate::store) fn combine(found: Option<ReadableFile>, backup: Option<PlaybookFile>) -> (PlaybookFile, Taken) {
    let has_backup = backup.is_some();
    let (found, backup) = match (found, backup) {
        (None, backup) => {
            let file = backup.unwrap_or_default();
            let taken = Taken { from_backup: file.book.lessons.len(), ..Taken::default() };
            return (file, taken);
        }
        (Some(found), None) => (found, PlaybookFile::default()),
        (Some(found), Some(backup)) => (found, backup),
    };
    let age = Age::of(&found, &backup);
    let mut rows = Rows {
        found: &found,
        backup: &backup.book,
        is_older: age.is_older,
        keeps_missing: age.keeps_missing(&found),
        edited: backup.edited.union(&found.file.edited).copied().collect(),
        aside: Vec::new(),
        taken: Taken::default(),
    };
    let lessons = rows.pick(&lessons_of(&found.file.book), &lessons_of(&backup.book), |lesson| &**lesson);
    let waiting = rows.pick(&waiting_of(&found.file.book), &waiting_of(&backup.book), |waiting| &*waiting.lesson);
    let Rows { edited, aside, taken, .. } = rows;
    let mut file = if age.is_head_whole { found.file.clone() } else { backup.clone() };
    // The header would say how much of the archive and usage belongs to rows of another generation.
    file.is_unmarked |= !age.is_head_whole && !age.is_older && !age.is_as_old;
    file.generation = found.file.generation.max(backup.generation);
    let book = Arc::make_mut(&mut file.book);
    book.removed = removals(&found, has_backup.then_some(&backup.book));
    let mut known_foreign = BTreeSet::new();
    let foreign = found.file.book.foreign.iter().chain(&backup.book.foreign);
    book.foreign = foreign.filter(|lesson| known_foreign.insert(lesson.id)).cloned().collect();
    set_lessons(book, lessons, waiting, &edited);
    book.unread.extend(aside);
    file.edited = edited;
    (file, taken)
}

/// The age of the file relative to the backup.
struct Age {
    is_older: bool,
    is_as_old: bool,
    /// True if the file's header is intact and not older.
    is_head_whole: bool,
}

impl Age {
    fn of(found: &ReadableFile, backup: &PlaybookFile) -> Self {
        let (generation, known) = (found.file.generation, backup.generation);
        let is_older = generation != 0 && generation < known;
        // If the file's generation cannot be read, its rows tell its age.
        let intact = found.file.book.lessons.iter().filter(|lesson| !found.seals.foreign.contains(&lesson.id));
        let has_same_rows = || intact.clone().all(|lesson| backup.book.get(lesson.id) == Some(lesson));
        Self {
            is_older,
            is_as_old: generation == known || (generation == 0 && has_same_rows()),
            is_head_whole: found.seals.head == Some(Seal::Whole) && !is_older,
        }
    }

    /// True if rows that are only in the backup may be damaged beyond recognition in the file. If the file is as old as the
    /// backup, none was removed since.
    fn keeps_missing(&self, found: &ReadableFile) -> bool {
        !self.is_head_whole || (self.is_as_old && found.seals.n_broken + found.seals.foreign.len() > 0)
    }
}

/// Sets the lessons, without those that were removed. A lesson that a person wrote again after its removal is kept; but in a
/// truncated file, the text of a removal looks like a row that a person wrote.
fn set_lessons(
    book: &mut Book,
    lessons: BTreeMap<LessonId, Arc<Lesson>>,
    waiting: BTreeMap<LessonId, Waiting>,
    edited: &BTreeSet<LessonId>,
) {
    let removed: BTreeSet<LessonId> = book.removed.iter().map(|removed| removed.id).collect();
    let is_kept = |lesson: &Lesson| {
        !removed.contains(&lesson.id) || (edited.contains(&lesson.id) && !book.removed.matches_text(lesson))
    };
    let lessons = lessons.into_values().filter(|lesson| is_kept(lesson)).collect();
    let waiting = waiting.into_values().filter(|waiting| is_kept(&waiting.lesson)).collect();
    (book.lessons, book.waiting) = (lessons, waiting);
}

/// The removals of both, each once. For a damaged one of the file, the backup's is used, if there is a backup.
fn removals(found: &ReadableFile, backup: Option<&Arc<Book>>) -> Removals {
    let mut known = BTreeSet::new();
    let is_replaced = |id: LessonId| backup.is_some() && found.is_damage && found.seals.broken_removals.contains(&id);
    let own = found.file.book.removed.iter().filter(|removed| !is_replaced(removed.id));
    own.chain(backup.into_iter().flat_map(|backup| backup.removed.iter()))
        .filter(|removed| known.insert(removed.id))
        .cloned()
        .collect()
}

/// Picks the rows of a list from the file and the backup.
struct Rows<'a> {
    found: &'a ReadableFile,
    backup: &'a Book,
    is_older: bool,
    /// True if rows that are only in the backup are used.
    keeps_missing: bool,
    edited: BTreeSet<LessonId>,
    aside: Vec<serde_json::Value>,
    taken: Taken,
}

impl Rows<'_> {
    fn pick<T: Clone>(
        &mut self,
        file: &BTreeMap<LessonId, T>,
        backup: &BTreeMap<LessonId, T>,
        lesson: fn(&T) -> &Lesson,
    ) -> BTreeMap<LessonId, T> {
        let mut picked = if self.keeps_missing { backup.clone() } else { BTreeMap::new() };
        let mut n_from_file = 0;
        for (id, row) in file {
            let is_foreign = self.found.seals.foreign.contains(id);
            match backup.get(id) {
                Some(kept) if is_foreign && self.is_garbled(lesson(row)) => drop(picked.insert(*id, kept.clone())),
                _ if is_foreign && !self.found.is_damage => {
                    self.edited.insert(*id);
                    picked.insert(*id, row.clone());
                    n_from_file += 1;
                }
                Some(kept) if is_foreign => drop(picked.insert(*id, kept.clone())),
                None if is_foreign && self.is_elsewhere(*id) => {}
                None if is_foreign => {
                    self.aside.push(serde_json::json!(lesson(row)));
                    self.taken.set_aside += 1;
                }
                _ if self.is_older => {}
                _ => {
                    picked.insert(*id, row.clone());
                    n_from_file += 1;
                }
            }
        }
        self.taken.from_file += n_from_file;
        self.taken.from_backup += picked.len() - n_from_file;
        picked
    }

    /// True for a row with bytes that are not valid UTF-8.
    fn is_garbled(&self, lesson: &Lesson) -> bool {
        self.found.seals.is_garbled && serde_json::json!(lesson).to_string().contains(char::REPLACEMENT_CHARACTER)
    }

    /// True for a row that damage made look like one of another list.
    fn is_elsewhere(&self, id: LessonId) -> bool {
        self.backup.in_use_or_review(id).is_some()
    }
}

fn lessons_of(book: &Book) -> BTreeMap<LessonId, Arc<Lesson>> {
    book.lessons.iter().map(|lesson| (lesson.id, Arc::clone(lesson))).collect()
}

fn waiting_of(book: &Book) -> BTreeMap<LessonId, Waiting> {
    book.waiting.iter().map(|waiting| (waiting.lesson.id, waiting.clone())).collect()
}
