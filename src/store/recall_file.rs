//! The data of a larger memory that a recall needs, in a memory-mapped file, `recall.bin`: the lessons, decoded on demand, and
//! the indexes of their words and vectors. It is a cache: if it does not match the playbook file, it is updated or not used.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use adage_index::IndexConfig;
use adage_redact::path_line;

use super::sections::{Label, SectionWriter, Sections, UncheckedSection};
use super::{FileVersion, OnDisk, PLAYBOOK, PlaybookFile, Snapshot, Store, playbook_file};
use crate::error::folder::Result;
use crate::folder::{Folder, Stamp};
use crate::hash::TextHash;
use crate::sorted_blocks::StoredBytes;
use crate::state::{
    Book, Checked, LessonsByTime, Piece, Pieces, RecallIndex, StoredPieces, StoredRecall, StoredVectors,
};
use crate::trust::Standing;
use crate::user_key::Codes;

/// The name of the file.
pub(super) const RECALL: &str = "recall.bin";

/// The file with the code of [`RECALL`]: by it, the file is recognised as one that the user's own program wrote.
///
/// The file is not read for it. The code covers its inode, length and times: no program can set the time of the last change, so
/// a file that a pull, an archive or a patch put in its place has another.
const RECALL_CODE: &str = "recall-code.bin";

/// What the code is for.
const PURPOSE: &str = "recall";

/// The kind of its sections. It is raised whenever the encoding of lessons, words or vectors changes.
pub(super) const FORMAT: u32 = 0x7265_0006;

/// The kind of sections with a checksum per row, which is checked when the row is read.
const CHECKED_BY_ROW: u32 = FORMAT | 0x8000;

/// A memory with fewer lessons is read about as fast from its playbook file.
pub(crate) const MIN_STORED_LESSONS: usize = 200;

/// After this many more bytes of the log, the file is written again.
const MAX_LOG_BYTES: u64 = 1 << 18;

/// The state that the file was written for.
#[derive(Debug)]
pub(super) struct Head {
    /// The model of the vectors.
    model: Option<TextHash>,
    playbook: FileStamp,
    content: TextHash,
    /// The first bytes of the playbook file.
    start: Vec<u8>,
    /// True if the metadata of the playbook file prove its content.
    is_proved_by_stamp: bool,
    /// True if this program wrote the playbook file.
    is_ours: bool,
    generation: u64,
}

/// The metadata of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileStamp {
    inode: u64,
    length: u64,
    /// The time of the last change (ctime): seconds and nanoseconds since 1970.
    changed: (i64, i64),
    /// The modification time, which programs can set, since 1970.
    modified: Duration,
}

/// An encoded head: the model; the playbook file's metadata, hash, first bytes and flags; the log.
pub(super) type HeadFields = (Option<[u8; 16]>, (FileStampFields, [u8; 16], Vec<u8>, bool, bool), u64);

/// Inode, length, change time and modification time.
type FileStampFields = (u64, u64, (i64, i64), (u64, u32));

impl Head {
    fn to_fields(&self) -> HeadFields {
        let FileStamp { inode, length, changed, modified } = self.playbook;
        let file_stamp = (inode, length, changed, (modified.as_secs(), modified.subsec_nanos()));
        let playbook =
            (file_stamp, *self.content.as_bytes(), self.start.clone(), self.is_proved_by_stamp, self.is_ours);
        (self.model.map(|model| *model.as_bytes()), playbook, self.generation)
    }

    pub(super) fn from_fields((model, playbook, generation): HeadFields) -> Self {
        let ((inode, length, changed, (seconds, nanos)), content, start, is_proved_by_stamp, is_ours) = playbook;
        let modified = Duration::from_secs(seconds).saturating_add(Duration::from_nanos(nanos.into()));
        Self {
            model: model.map(TextHash::from_bytes),
            playbook: FileStamp { inode, length, changed, modified },
            content: TextHash::from_bytes(content),
            start,
            is_proved_by_stamp,
            is_ours,
            generation,
        }
    }

    /// True if a large playbook file need not be read to verify that it is unchanged.
    fn is_quick(&self) -> bool {
        self.is_proved_by_stamp
    }
}

impl FileStamp {
    /// None if the system has no change times.
    fn of(stamp: &Stamp) -> Option<Self> {
        let modified = stamp.modified?.duration_since(UNIX_EPOCH).ok()?;
        Some(Self { inode: stamp.inode, length: stamp.length, changed: stamp.changed?, modified })
    }

    fn to_bytes(self) -> Vec<u8> {
        let Self { inode, length, changed: (seconds, nanos), modified } = self;
        let numbers = [inode.to_le_bytes(), length.to_le_bytes(), seconds.to_le_bytes(), nanos.to_le_bytes()];
        [numbers.as_flattened(), &modified.as_nanos().to_le_bytes()].concat()
    }
}

/// An opened recall file.
pub(crate) struct RecallFile {
    /// True if the folder's state was made from it.
    pub(crate) is_used: bool,
    /// True if that was quick, and few changes came after it.
    pub(crate) is_up_to_date: bool,
    head: Head,
    others: StoredBytes,
    lessons: LessonsByTime,
    rest: std::vec::IntoIter<UncheckedSection>,
}

/// A state made from the file.
struct StoredState {
    snapshot: Snapshot,
    /// The number of log bytes after it.
    n_later: u64,
}

pub(super) fn next_section(sections: &mut std::vec::IntoIter<UncheckedSection>) -> Option<StoredBytes> {
    let section = sections.next()?;
    let view = match section.label().kind {
        FORMAT => section.verify()?,
        CHECKED_BY_ROW => section.unchecked(),
        _ => return None,
    };
    Some(Arc::new(view))
}

impl RecallFile {
    /// None if there is no readable file that the user's own program wrote.
    fn open(store: &Store) -> Result<Option<Self>> {
        if !store.is_own_recall()? {
            return Ok(None);
        }
        let mut rest = Sections::unchecked(store.files(), RECALL)?.into_iter();
        Ok(Self::read(&mut rest).map(|(head, others, lessons)| Self {
            is_used: false,
            is_up_to_date: false,
            head,
            others,
            lessons,
            rest,
        }))
    }

    pub(super) fn read(
        sections: &mut std::vec::IntoIter<UncheckedSection>,
    ) -> Option<(Head, StoredBytes, LessonsByTime)> {
        let mut pieces = std::iter::from_fn(|| next_section(sections));
        let mut pieces = StoredPieces(&mut pieces);
        let head = Head::from_fields(pieces.value()?);
        Some((head, pieces.next()?, LessonsByTime::read(&mut pieces)?))
    }

    /// True if its vectors belong to this model.
    pub(crate) fn is_of(&self, model: Option<TextHash>) -> bool {
        self.head.model == model
    }

    /// The indexes of the lessons in the file, with vectors only of this model.
    pub(crate) fn indexes(mut self, model: Option<TextHash>, config: &IndexConfig) -> Option<RecallIndex> {
        let vectors = if model.is_some() && self.is_of(model) { StoredVectors::Use } else { StoredVectors::Skip };
        let mut pieces = std::iter::from_fn(|| next_section(&mut self.rest));
        RecallIndex::read(&self.lessons, config, vectors, &mut StoredPieces(&mut pieces))
    }

    /// The state of the folder, if this file contains it. It is used only in a folder that is trusted as a whole, and only with the playbook
    /// file that it was written for: since programs cannot set a file's change time, a file copied here by others does not match.
    fn state(&self, store: &Store) -> Result<Option<StoredState>> {
        let Head { playbook, content, start, is_proved_by_stamp, is_ours, .. } = &self.head;
        let Some(stamp) = store.files().stamp(PLAYBOOK)? else { return Ok(None) };
        let is_same = store.guard.standing() == Standing::Trusted && FileStamp::of(&stamp).as_ref() == Some(playbook);
        let is_read = || Ok(TextHash::of(&[store.files().read_or_empty(PLAYBOOK, 0)?]) == *content);
        if !is_same || !(*is_proved_by_stamp || is_read()?) {
            return Ok(None);
        }
        let Some(file) = self.file(store) else { return Ok(None) };
        let (stamp, content, start, is_ours) = (Some(stamp), *content, start.clone(), *is_ours);
        let version = FileVersion { stamp, content, start, is_proved_by_stamp: Arc::default(), is_ours };
        let snapshot = Snapshot::new(file, OnDisk { version, backup: store.files().stamp(super::BACKUP)? });
        Ok(Some(StoredState { snapshot: store.with_usage(snapshot)?, n_later: 0 }))
    }

    fn file(&self, store: &Store) -> Option<PlaybookFile> {
        let keys = serde_json::from_slice(self.others.as_ref().as_ref()).ok()?;
        let parsed = playbook_file::parse_keys(keys, store.clock.as_ref(), &|_| true, |_| {}).ok()?;
        let mut file = parsed.file;
        if parsed.newer.is_some() || !file.book.foreign.is_empty() {
            return None;
        }
        Arc::make_mut(&mut file.book).lessons = self.lessons.clone();
        Some(file)
    }
}

/// The bytes of the file.
pub(super) fn to_bytes(head: &Head, others: Vec<u8>, lessons: &LessonsByTime, recall: &StoredRecall) -> Vec<u8> {
    let mut pieces = Pieces::default();
    pieces.push_value(head.to_fields());
    pieces.push(others);
    lessons.write(&mut pieces);
    recall.write(&mut pieces);
    let mut writer = SectionWriter::behind(0);
    for (row, Piece { parts, checked }) in (0..).zip(&pieces.0) {
        let kind = if *checked == Checked::ByRow { CHECKED_BY_ROW } else { FORMAT };
        let label = Label { kind, model: TextHash::from_bytes([0; 16]), n_columns: 0, n_rows: row };
        writer.push(label, &parts.iter().map(AsRef::as_ref).collect::<Vec<_>>());
    }
    writer.into_bytes()
}

impl Store {
    /// The file, and the state of the folder if it can be made from it. If the file is damaged, the playbook file is read
    /// instead.
    pub(super) fn stored_state(&self) -> (Option<RecallFile>, Option<Snapshot>) {
        let read = || -> Result<(Option<RecallFile>, Option<Snapshot>)> {
            let Some(mut file) = RecallFile::open(self)? else { return Ok((None, None)) };
            let state = file.state(self)?;
            file.is_used = state.is_some();
            file.is_up_to_date =
                state.as_ref().is_some_and(|state| file.head.is_quick() && state.n_later <= MAX_LOG_BYTES);
            Ok((Some(file), state.map(|state| state.snapshot)))
        };
        read().unwrap_or_else(|error| {
            tracing::debug!(%error, "the recall file could not be used; the playbook file is read instead");
            (None, None)
        })
    }

    /// Writes the newest state with its indexes, if the handle may write and the lock is free.
    pub(crate) fn save_recall(
        &self,
        snapshot: &Snapshot,
        recall: &StoredRecall,
        model: Option<TextHash>,
    ) -> Result<()> {
        let Snapshot { committed, on_disk: OnDisk { version, .. }, is_provisional, .. } = snapshot;
        if !self.may_append(snapshot) || *is_provisional {
            return Ok(());
        }
        let Some(_lock) = self.folder.try_lock()? else { return Ok(()) };
        let stamp = self.files().stamp(PLAYBOOK)?;
        let is_newest = stamp.zip(version.stamp).is_some_and(|(now, known)| known.is_alike(&now));
        let (Some(stamp), true) = (stamp, is_newest) else { return Ok(()) };
        let Some(playbook) = FileStamp::of(&stamp) else { return Ok(()) };
        let others = PlaybookFile {
            book: Arc::new(Book { lessons: LessonsByTime::default(), ..Book::clone(&committed.book) }),
            ..PlaybookFile::clone(committed)
        };
        let head = Head {
            model,
            playbook,
            content: version.content,
            start: version.start.clone(),
            is_proved_by_stamp: !stamp.is_racy && version.stamp.is_some_and(|known| !known.is_racy),
            is_ours: version.is_ours,
            generation: committed.generation,
        };
        let others = playbook_file::render(&others, 0).map_err(|error| self.cannot_write(error))?;
        let temporary = Folder::temporary("recall");
        self.files().create(&temporary, &to_bytes(&head, others, &committed.book.lessons, recall))?;
        self.files().rename(temporary, RECALL)?;
        self.seal_recall()
    }

    /// Whether the user's own program wrote the file, and nobody has since.
    fn is_own_recall(&self) -> Result<bool> {
        let Some(stamp) = self.files().stamp(RECALL)? else { return Ok(false) };
        let codes = self.guard.codes();
        if matches!(codes, Codes::Unneeded) {
            return Ok(true);
        }
        let Some(file_stamp) = FileStamp::of(&stamp) else { return Ok(false) };
        let code = self.files().content(RECALL_CODE)?.and_then(|bytes| bytes.try_into().ok());
        Ok(codes.believe(PURPOSE, &[&file_stamp.to_bytes()], code.as_ref()))
    }

    /// Writes the code of the file that is there. The caller holds the lock and has just written it.
    fn seal_recall(&self) -> Result<()> {
        let file_stamp = self.files().stamp(RECALL)?.as_ref().and_then(FileStamp::of);
        let code =
            file_stamp.and_then(|file_stamp| self.guard.codes_to_write().code(PURPOSE, &[&file_stamp.to_bytes()]));
        let Some(code) = code else { return Ok(()) };
        let temporary = Folder::temporary("recall-code");
        self.files().create(&temporary, &code)?;
        self.files().rename(temporary, RECALL_CODE)
    }

    /// Removes the file if its vectors are damaged, so that the next process writes it again.
    pub(crate) fn drop_damaged_recall(&self, snapshot: &Snapshot) {
        tracing::warn!(path = %path_line(self.files().path_of(RECALL)), "stored vectors are damaged");
        if self.may_append(snapshot) {
            // If it cannot be removed now, a later process does it.
            drop(self.drop_recall());
        }
    }

    /// Removes the file, and the file of words of an earlier version: they may contain texts of a removed lesson.
    pub(super) fn drop_recall(&self) -> Result<()> {
        self.files().remove_if_exists(RECALL)?;
        self.files().remove_if_exists(RECALL_CODE)?;
        self.files().remove_if_exists("words.bin")
    }
}
