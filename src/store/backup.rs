//! Backup of a whole memory, and restore.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use adage_redact::path_line;
use serde::{Deserialize, Serialize};

use super::usage::{Folded, is_usage};
use super::{FolderStore, PLAYBOOK, PlaybookFile, Snapshot, UsageLog, archive, playbook_file};
use crate::error::folder::{FolderError, Result, Unusable};
use crate::exchange::{ExportKey, backup_code, is_backup_code};
use crate::folder::{Directory, Entry, Name, Turn};
use crate::hash::TextHash;
use crate::lesson::{Lesson, LessonId};
use crate::state::Book;

/// The list of a backup's files. It is written last: a backup without it is incomplete.
const MANIFEST: &str = "backup.json";
/// Files that are not copied: locks, caches, quarantine, and the identity of this folder.
const LEFT_OUT: [&str; 13] = [
    "lock",
    "mining.lock",
    "vectors.bin",
    "words.bin",
    "recall.bin",
    "recall-code.bin",
    "quarantine",
    "edits",
    "id",
    "skills_playbook.json.bak",
    "playbook.log",
    ".gitignore",
    ".gitattributes",
];
/// How often files that a commit replaced meanwhile are read again; after that, the folder is locked.
const MAX_ROUNDS: usize = 3;

/// The manifest of a backup, `backup.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BackupRecord {
    /// The generation of the playbook file.
    pub generation: u64,
    /// The number of lessons.
    pub n_lessons: usize,
    /// The files with their hashes.
    pub files: Vec<BackupFile>,
    /// What its user had admitted, where others wrote to the folder too: nothing else of it is believed when it is restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admitted: Option<Vec<TextHash>>,
    /// A code over all of the above under the key of the user who made it; none without a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
}

impl BackupRecord {
    fn sealed(self, key: Option<&ExportKey>) -> Self {
        let seal = key.map(|key| backup_code(key, &self.unsealed()));
        Self { seal, ..self }
    }

    /// True if the user with this key made the backup, and nobody changed it.
    pub(crate) fn is_sealed_by(&self, key: &ExportKey) -> bool {
        self.seal.as_ref().is_some_and(|seal| is_backup_code(key, &self.unsealed(), seal))
    }

    /// What is sealed.
    fn unsealed(&self) -> String {
        serde_json::json!(Self { seal: None, ..self.clone() }).to_string()
    }
}

/// A file of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BackupFile {
    /// Its path relative to the folder.
    #[serde(with = "crate::path_text::exact")]
    pub path: PathBuf,
    /// The hash of its bytes.
    pub hash: TextHash,
}

/// The result of a restore.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Restored {
    /// The number of lessons after it.
    pub n_lessons: usize,
    /// Lessons of the backup that were removed since, and stay removed.
    pub n_kept_removed: usize,
    /// Other files that were missing and were restored.
    pub n_files: usize,
    /// Other files that exist and were not changed.
    pub n_files_kept: usize,
    /// Where the previous playbook file is now.
    #[serde(serialize_with = "crate::path_text::shown")]
    pub previous: Option<PathBuf>,
    /// False for a backup that this user's key did not seal. Nothing of it counts or is shown before a person promotes it.
    pub is_own: bool,
    /// The number of lessons that wait: lessons and skills of such a backup, which await review, or lessons that nobody had admitted
    /// when the user's own backup was made.
    pub n_waiting: usize,
}

/// Files by name, with their bytes.
type Files = Vec<(Name, Vec<u8>)>;

impl FolderStore {
    /// Copies the memory to a folder that is empty or missing. Other handles may write meanwhile.
    pub(crate) fn back_up_to(&self, path: &Path, key: Option<&ExportKey>) -> Result<BackupRecord> {
        let target = self.folder.elsewhere(path);
        target.create_directory(Name::TOP)?;
        if !target.list(Name::TOP)?.is_empty() {
            let error = std::io::Error::new(std::io::ErrorKind::DirectoryNotEmpty, "it is not empty");
            return Err(FolderError::io("back up to", path)(error));
        }
        let (snapshot, files) = self.read_at_rest()?;
        let mut record = BackupRecord {
            generation: snapshot.file.generation,
            n_lessons: snapshot.book().lessons.len(),
            files: Vec::with_capacity(files.len()),
            admitted: self.guard.admitted(),
            seal: None,
        };
        for (name, mut bytes) in files {
            // The file may be one commit older than its second copy.
            if name.as_path() == Path::new(PLAYBOOK) && snapshot.is_ahead() {
                bytes = playbook_file::render(&snapshot.committed, 0).map_err(|error| self.cannot_write(error))?;
            }
            let path = name.as_path().to_owned();
            if let Some(folder) = path.parent() {
                target.create_directory(folder.as_os_str())?;
            }
            target.create(&name, &bytes)?;
            target.sync(&name)?;
            record.files.push(BackupFile { path, hash: TextHash::of(&[&bytes]) });
        }
        let record = record.sealed(key);
        let manifest = serde_json::json!(record).to_string();
        target.create(MANIFEST, manifest.as_bytes())?;
        target.sync(MANIFEST)?;
        target.sync_directory(Name::TOP)?;
        Ok(record)
    }

    /// A state and all files of it: read again while other handles write, in the end under the lock.
    fn read_at_rest(&self) -> Result<(Snapshot, Files)> {
        let mut round = 0;
        loop {
            round += 1;
            let _lock = if round > MAX_ROUNDS { Some(self.folder.lock()?) } else { None };
            let snapshot = self.load()?;
            let mut files = Vec::new();
            self.collect(&Name::TOP, &mut files)?;
            if self.refresh(&snapshot)?.is_none() || round > MAX_ROUNDS {
                return Ok((snapshot, files));
            }
        }
    }

    fn collect(&self, folder: &Name, files: &mut Files) -> Result<()> {
        for entry in self.files().list_own(folder)? {
            let name = folder.join(&entry);
            if folder == &Name::TOP && LEFT_OUT.iter().any(|left_out| entry == *left_out) {
                continue;
            }
            match self.files().entry(&name)? {
                Entry::Folder => self.collect(&name, files)?,
                Entry::File { .. } => files.push((name.clone(), self.files().read_or_empty(&name, 0)?)),
                _ => {}
            }
        }
        Ok(())
    }

    /// The list of a backup's files, which are all there as they were written.
    pub(crate) fn backup_record(&self, path: &Path) -> Result<BackupRecord> {
        read_record(&self.folder.elsewhere(path), path)
    }

    /// The lessons of a backup, those too that await review in it.
    pub(crate) fn lessons_of_backup(&self, path: &Path) -> Result<Vec<Arc<crate::Lesson>>> {
        let file = self.file_of(&self.folder.elsewhere(path))?;
        Ok(file.book.all().cloned().collect())
    }

    /// Replaces the playbook with that of a backup. Other files are restored only where they are missing. Lessons that were
    /// removed here stay removed.
    pub(crate) fn restore(
        &self,
        known: &Snapshot,
        turn: &Turn<'_>,
        path: &Path,
    ) -> Result<(Snapshot, Restored), crate::Error> {
        let source = self.folder.elsewhere(path);
        let record = read_record(&source, path)?;
        let lock = self.folder.lock_within(turn.patience)?;
        if let Some(admitted) = &record.admitted {
            self.guard.limit_to(admitted)?;
        }
        let snapshot = self.newest(known)?;
        self.refuse_newer(&snapshot)?;
        let mut file = self.file_of(&source)?;
        let n_rows = |file: &PlaybookFile| file.book.lessons.len() + file.book.foreign.len();
        let n_before = n_rows(&file);
        keep_removed(Arc::make_mut(&mut file.book), snapshot.book());
        self.admit_replaced(Arc::make_mut(&mut file.book), record.admitted.as_deref().unwrap_or_default())?;
        let (n_waiting, n_kept_removed) = (file.book.foreign.len(), n_before - n_rows(&file));
        let n_lessons = file.book.lessons.len();
        file.generation = file.generation.max(snapshot.file.generation).saturating_add(1);
        let bytes = self.files().read_or_empty(PLAYBOOK, 0)?;
        let previous =
            if bytes.is_empty() { None } else { Some(self.folder.quarantine(&bytes, "skills_playbook", "json")?) };
        let (n_files, n_files_kept) = self.restore_missing_files(&source, &record)?;
        file.archive_length = archive::whole_length(&self.archive().read()?);
        file.usage = Folded::Line(self.usage_file().last()?);
        let snapshot = self.make_newest(snapshot, file)?;
        drop(lock);
        let restored = Restored { n_lessons, n_kept_removed, n_files, n_files_kept, previous, is_own: true, n_waiting };
        Ok((snapshot, restored))
    }

    /// Admits again the rows of a restored backup whose text was replaced here since, but not removed: the user puts the earlier text back.
    fn admit_replaced(&self, book: &mut Book, admitted: &[TextHash]) -> Result<()> {
        let is_admitted = |lesson: &Arc<Lesson>| {
            admitted.contains(&lesson.admission_hash()) && !book.removed.matches_text_or_id(lesson)
        };
        let (back, foreign): (Vec<_>, Vec<_>) = std::mem::take(&mut book.foreign).into_iter().partition(is_admitted);
        book.foreign = foreign;
        self.guard.note(&back.iter().map(|lesson| lesson.admission_hash()).collect::<Vec<_>>())?;
        for lesson in back {
            book.put(Arc::unwrap_or_clone(lesson));
        }
        Ok(())
    }

    /// Copies the files of a backup that are missing here, except the playbook file and usage. Returns how many were copied, and how
    /// many were here.
    fn restore_missing_files(&self, source: &Directory, record: &BackupRecord) -> Result<(usize, usize)> {
        let (mut n_files, mut n_files_kept) = (0, 0);
        for BackupFile { path, .. } in &record.files {
            let name = Name::from(path.as_os_str());
            if name.as_path() == Path::new(PLAYBOOK) || is_usage(&path.to_string_lossy()) {
                continue;
            }
            if self.files().entry(&name)? != Entry::Missing {
                n_files_kept += 1;
                continue;
            }
            if let Some(folder) = path.parent() {
                self.files().create_directory(folder.as_os_str())?;
            }
            let temporary = self.folder.write_temporary("restored", &source.read_or_empty(&name, 0)?)?;
            self.files().rename(temporary, &name)?;
            n_files += 1;
        }
        Ok((n_files, n_files_kept))
    }

    /// The playbook of a backup with its usage folded in.
    fn file_of(&self, source: &Directory) -> Result<PlaybookFile> {
        let bytes = source.read_or_empty(PLAYBOOK, 0)?;
        let parsed =
            if bytes.is_empty() { Ok(PlaybookFile::default()) } else { self.parse(&bytes).map(|parsed| parsed.file) };
        let file = parsed.map_err(|reason| FolderError::Unreadable {
            path: source.path_of(PLAYBOOK),
            reason: Unusable::Invalid(reason),
        })?;
        let (folded, mut file) = (file.usage.line(), Arc::new(file));
        UsageLog::of(source, &mut file, folded, &self.feedback)?;
        Ok(Arc::unwrap_or_clone(file))
    }

    /// Complete lessons that are found nowhere but in quarantined playbook files, and in the states that a file from elsewhere replaced:
    /// neither in the playbook, nor removed by a recorded change.
    pub(crate) fn quarantined_lessons(&self, snapshot: &Snapshot) -> Result<Vec<(PathBuf, crate::Lesson)>> {
        let book = snapshot.book();
        let mut known: std::collections::BTreeSet<LessonId> = book.lessons.iter().map(|lesson| lesson.id).collect();
        known.extend(book.waiting.iter().map(|waiting| waiting.lesson.id));
        known.extend(book.removed.iter().map(|removed| removed.id));
        for change in self.archive().changes()? {
            known.extend(change.edits.iter().map(|edit| edit.id));
            known.extend(change.edits.iter().filter_map(|edit| Some(edit.incoming.as_ref()?.id)));
        }
        let mut texts: std::collections::BTreeSet<TextHash> =
            book.lessons.iter().chain(&book.foreign).map(|lesson| lesson.text_hash()).collect();
        let mut found = Vec::new();
        for (path, lesson) in self.lessons_elsewhere(snapshot)? {
            let is_usable = !book.removed.matches_text(&lesson);
            if is_usable && known.insert(lesson.id) && texts.insert(lesson.text_hash()) {
                found.push((path, crate::Lesson::clone(&lesson)));
            }
        }
        Ok(found)
    }

    /// The complete lessons of quarantined playbook files and of replaced states.
    fn lessons_elsewhere(&self, snapshot: &Snapshot) -> Result<Vec<(PathBuf, Arc<Lesson>)>> {
        let mut found = Vec::new();
        let mut add = |path: PathBuf, book: &Book, is_whole: &dyn Fn(&Lesson) -> bool| {
            let whole = book.lessons.iter().filter(|lesson| is_whole(lesson));
            found.extend(whole.map(|lesson| (path.clone(), Arc::clone(lesson))));
        };
        for name in self.files().list(crate::folder::QUARANTINE)? {
            if !name.to_string_lossy().starts_with("skills_playbook") {
                continue;
            }
            let name = Name::from(crate::folder::QUARANTINE).join(name);
            let bytes = self.files().read_or_empty(&name, 0)?;
            let Some(playbook_file::Parsed { file, seals, .. }) = self.parse_leniently(&bytes) else { continue };
            let is_whole = |lesson: &Lesson| seals.written.is_none() || !seals.foreign.contains(&lesson.id);
            add(self.files().path_of(&name), &file.book, &is_whole);
        }
        if let Some((path, file)) = self.replaced_state(snapshot)? {
            add(path, &file.book, &|_| true);
        }
        Ok(found)
    }
}

/// Takes out of a backup's playbook what was removed from the present one, and adds these removals to its own.
fn keep_removed(book: &mut Book, present: &Book) {
    let is_removed = |lesson: &Lesson| present.removed.matches_text_or_id(lesson);
    book.lessons = book.lessons.iter().filter(|lesson| !is_removed(lesson)).cloned().collect();
    book.foreign.retain(|lesson| !is_removed(lesson));
    book.waiting.retain(|waiting| !is_removed(&waiting.lesson));
    let more = present.removed.iter().filter(|removed| !book.removed.matches_id(removed.id));
    let more: Vec<_> = more.cloned().collect();
    for removed in book.removed.iter_mut() {
        // A lesson that was forgotten since must not get its text back.
        if let Some(now) = present.removed.find(removed.id) {
            removed.lesson.clone_from(&now.lesson);
        }
    }
    book.removed.extend(more);
}

/// Reads the manifest of a backup, and checks that every file has its hash.
fn read_record(source: &Directory, path: &Path) -> Result<BackupRecord> {
    let not_whole = |what: String| FolderError::Unreadable {
        path: path.to_owned(),
        reason: Unusable::Invalid(format!("it is not a whole backup: {what}")),
    };
    let manifest = source.content(MANIFEST)?.ok_or_else(|| not_whole(format!("{MANIFEST} is missing")))?;
    let record: BackupRecord = serde_json::from_slice(&manifest).map_err(|error| not_whole(error.to_string()))?;
    for file in &record.files {
        let bytes = source.content(file.path.as_os_str())?;
        if bytes.is_none_or(|bytes| TextHash::of(&[&bytes]) != file.hash) {
            return Err(not_whole(format!("{} is not as it was written", path_line(&file.path))));
        }
    }
    Ok(record)
}
