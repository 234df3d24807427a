//! What a recall needs of a larger memory, in a file that is mapped, `recall.bin`: its lessons, decoded when they are asked for, and the
//! indexes of their words and vectors. A cache: what does not fit the playbook file is not used, or brought up to date.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use adage_index::IndexConfig;

use super::commit_log::{self, CommitLog, LOG, LogEnd, SMALL_FILE};
use super::sections::{Label, SectionWriter, Sections, UncheckedSection};
use super::{FileVersion, PLAYBOOK, PlaybookFile, Snapshot, Store, UsageFrom, playbook_file};
use crate::error::folder::Result;
use crate::folder::{Folder, Stamp};
use crate::hash::TextHash;
use crate::lesson::LessonId;
use crate::sorted_blocks::StoredBytes;
use crate::state::{Book, LessonsByTime, Piece, Pieces, RecallIndex, StoredPieces, StoredRecall};
use crate::trust::Standing;

/// The file.
pub(super) const RECALL: &str = "recall.bin";

/// The kind of its sections. It is raised whenever a lesson, a word or a vector is encoded in another way.
pub(super) const FORMAT: u32 = 0x7265_0002;

/// The kind of sections whose rows are compared with checksums of their own when they are read.
const CHECKED_BY_ROW: u32 = FORMAT | 0x8000;

/// A memory of fewer lessons is read about as fast from its playbook file.
pub(crate) const MIN_STORED_LESSONS: usize = 200;

/// A log that grew by more bytes since is worth another file.
const MAX_LOG_BYTES: u64 = 1 << 18;

/// What the file was written for.
#[derive(Debug)]
pub(super) struct Head {
    /// The model of the vectors.
    model: Option<TextHash>,
    playbook: Place,
    content: TextHash,
    /// The first bytes of the playbook file.
    start: Vec<u8>,
    /// True when the place of the playbook file is proof of its content.
    is_settled: bool,
    /// True when this program wrote the playbook file.
    is_ours: bool,
    log_inode: u64,
    log_length: u64,
    generation: u64,
    /// True when the log leads to the state.
    is_logged: bool,
}

/// A file as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    inode: u64,
    length: u64,
    /// The system's time of the last change: seconds and nanoseconds since 1970.
    changed: (i64, i64),
    /// The time that programs may set, since 1970.
    modified: Duration,
}

/// A head as it is encoded: the model; the playbook file's place, content, start and flags; the log.
pub(super) type HeadFields = (Option<[u8; 16]>, (PlaceFields, [u8; 16], Vec<u8>, bool, bool), (u64, u64, u64, bool));

/// Inode, length, the system's time, and the other one.
type PlaceFields = (u64, u64, (i64, i64), (u64, u32));

impl Head {
    fn to_fields(&self) -> HeadFields {
        let Place { inode, length, changed, modified } = self.playbook;
        let place = (inode, length, changed, (modified.as_secs(), modified.subsec_nanos()));
        let playbook = (place, *self.content.as_bytes(), self.start.clone(), self.is_settled, self.is_ours);
        let log = (self.log_inode, self.log_length, self.generation, self.is_logged);
        (self.model.map(|model| *model.as_bytes()), playbook, log)
    }

    pub(super) fn from_fields((model, playbook, log): HeadFields) -> Self {
        let ((inode, length, changed, (seconds, nanos)), content, start, is_settled, is_ours) = playbook;
        let (log_inode, log_length, generation, is_logged) = log;
        let modified = Duration::from_secs(seconds).saturating_add(Duration::from_nanos(nanos.into()));
        Self {
            model: model.map(TextHash::from_bytes),
            playbook: Place { inode, length, changed, modified },
            content: TextHash::from_bytes(content),
            start,
            is_settled,
            is_ours,
            log_inode,
            log_length,
            generation,
            is_logged,
        }
    }

    /// True when it takes no reading of a large playbook file to see that it is the same.
    fn is_quick(&self) -> bool {
        self.is_settled || self.playbook.length <= SMALL_FILE
    }
}

impl Place {
    /// None where the system does not keep its times.
    fn of(stamp: &Stamp) -> Option<Self> {
        let modified = stamp.modified?.duration_since(UNIX_EPOCH).ok()?;
        Some(Self { inode: stamp.inode, length: stamp.length, changed: stamp.changed?, modified })
    }
}

/// The file as far as it was read.
pub(crate) struct RecallFile {
    /// True where the folder's state was made of it.
    pub(crate) is_used: bool,
    /// True where that was quick, and little came after it.
    pub(crate) is_up_to_date: bool,
    head: Head,
    others: StoredBytes,
    lessons: LessonsByTime,
    rest: std::vec::IntoIter<UncheckedSection>,
}

/// A state made of the file.
struct StoredState {
    snapshot: Snapshot,
    /// Bytes of the log that came after it.
    n_later: u64,
}

pub(super) fn checked(sections: &mut std::vec::IntoIter<UncheckedSection>) -> Option<StoredBytes> {
    let section = sections.next()?;
    let view = match section.label().kind {
        FORMAT => section.checked()?,
        CHECKED_BY_ROW => section.unchecked(),
        _ => return None,
    };
    Some(Arc::new(view))
}

impl RecallFile {
    /// None where there is none that can be read.
    fn open(store: &Store) -> Result<Option<Self>> {
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
        let mut pieces = std::iter::from_fn(|| checked(sections));
        let mut pieces = StoredPieces(&mut pieces);
        let head = Head::from_fields(pieces.value()?);
        Some((head, pieces.next()?, LessonsByTime::read(&mut pieces)?))
    }

    /// True where its vectors are of this model.
    pub(crate) fn is_of(&self, model: Option<TextHash>) -> bool {
        self.head.model == model
    }

    /// The indexes of the lessons in the file; vectors only of this model.
    pub(crate) fn indexes(mut self, model: Option<TextHash>, config: &IndexConfig) -> Option<RecallIndex> {
        let has_model = model.is_some() && self.is_of(model);
        let mut pieces = std::iter::from_fn(|| checked(&mut self.rest));
        RecallIndex::read(&self.lessons, config, has_model, &mut StoredPieces(&mut pieces))
    }

    /// The state of the folder, if this file holds it or a state that the log continues. Only in a folder that the user trusts as a whole,
    /// and only with the playbook file and the log that it was written for: no program can set the system's time of a file's last
    /// change, so a file that somebody else put here does not match.
    fn state(&self, store: &Store) -> Result<Option<StoredState>> {
        let Head {
            playbook, content, start, is_settled, is_ours, log_inode, log_length, generation, is_logged, ..
        } = &self.head;
        let (Some(stamp), Some(log)) = (store.files().stamp(PLAYBOOK)?, store.files().stamp(LOG)?) else {
            return Ok(None);
        };
        let is_same = store.guard.standing() == Standing::Trusted
            && Place::of(&stamp).as_ref() == Some(playbook)
            && (*log_inode, true) == (log.inode, *log_length <= log.length);
        if !is_same {
            return Ok(None);
        }
        let n_later = log.length - log_length;
        let is_small = stamp.length <= SMALL_FILE;
        // A commit writes a small file too.
        if ((is_small || !is_logged) && n_later > 0)
            || ((is_small || !is_settled) && TextHash::of(&[store.files().read_or_empty(PLAYBOOK, 0)?]) != *content)
        {
            return Ok(None);
        }
        let later = if n_later > 0 { store.files().read_or_empty(LOG, *log_length)? } else { Vec::new() };
        let log = LogEnd { stamp: Some(log), length: *log_length, generation: Some(*generation) };
        let Some((file, commits)) = self.file(store, &log, &later) else { return Ok(None) };
        let (stamp, content, start, is_ours) = (Some(stamp), *content, start.clone(), *is_ours);
        let version = FileVersion { stamp, content, start, is_settled: Arc::default(), is_ours };
        let snapshot = Snapshot { commits, is_logged: *is_logged, ..Snapshot::new(file, version, None) };
        Ok(Some(StoredState { snapshot: store.with_usage(snapshot, UsageFrom::Open)?, n_later }))
    }

    /// The playbook file after the commits that the log has since.
    fn file(&self, store: &Store, end: &LogEnd, later: &[u8]) -> Option<(PlaybookFile, LogEnd)> {
        let log = CommitLog::after(end.generation?, end.length, later);
        if log.n_broken > 0 || log.end.length != end.length + later.len() as u64 {
            return None;
        }
        let mut keys = serde_json::from_slice(self.others.as_ref().as_ref()).ok()?;
        let is_advanced = later.is_empty() || log.advance(&mut keys, false);
        let changed: BTreeSet<LessonId> = ids(&keys);
        let parsed = playbook_file::parse_keys(keys, store.clock.as_ref(), &|_| true, |_| {}).ok()?;
        let mut file = parsed.file;
        if !is_advanced || parsed.newer.is_some() || !file.book.foreign.is_empty() {
            return None;
        }
        let mut lessons = self.lessons.clone();
        for id in log.gone().into_iter().chain(changed) {
            lessons.take(id);
        }
        for lesson in file.book.lessons.iter() {
            lessons.put(Arc::clone(lesson));
        }
        Arc::make_mut(&mut file.book).lessons = lessons;
        Some((file, LogEnd { stamp: end.stamp, ..log.end }))
    }
}

/// The ids of the lessons in the keys of a playbook file.
fn ids(keys: &serde_json::Map<String, serde_json::Value>) -> BTreeSet<LessonId> {
    let rows = keys.get(playbook_file::LESSONS).and_then(serde_json::Value::as_array);
    rows.into_iter().flatten().filter_map(|row| commit_log::id_of(row)?.parse().ok()).collect()
}

/// The file as bytes.
pub(super) fn to_bytes(head: &Head, others: Vec<u8>, lessons: &LessonsByTime, recall: &StoredRecall) -> Vec<u8> {
    let mut pieces = Pieces::default();
    pieces.push_value(head.to_fields());
    pieces.push(others);
    lessons.write(&mut pieces);
    recall.write(&mut pieces);
    let mut writer = SectionWriter::behind(0);
    for (row, Piece { parts, is_checked_by_row }) in (0..).zip(&pieces.0) {
        let kind = if *is_checked_by_row { CHECKED_BY_ROW } else { FORMAT };
        let label = Label { kind, model: TextHash::from_bytes([0; 16]), n_columns: 0, n_rows: row };
        writer.push(label, &parts.iter().map(AsRef::as_ref).collect::<Vec<_>>());
    }
    writer.into_bytes()
}

impl Store {
    /// The file, and the state of the folder where it can be made of it. Damage costs time and nothing else.
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
            tracing::debug!(%error, "the playbook file is read instead of what is stored of it");
            (None, None)
        })
    }

    /// Writes the state with its indexes, where it is the newest, the handle may write and nobody else does.
    pub(crate) fn save_recall(
        &self,
        snapshot: &Snapshot,
        recall: &StoredRecall,
        model: Option<TextHash>,
    ) -> Result<()> {
        let Snapshot { committed, commits, version, is_logged, is_provisional, .. } = snapshot;
        if !self.may_append(snapshot) || *is_provisional {
            return Ok(());
        }
        let Some(_lock) = self.folder.try_lock()? else { return Ok(()) };
        let (stamp, log) = (self.files().stamp(PLAYBOOK)?, self.files().stamp(LOG)?);
        let is_newest =
            stamp.zip(version.stamp).is_some_and(|(now, known)| known.is_alike(&now)) && commits.is_alike(log.as_ref());
        let (Some(stamp), Some(log), true) = (stamp, log, is_newest) else { return Ok(()) };
        let Some(playbook) = Place::of(&stamp) else { return Ok(()) };
        let others = PlaybookFile {
            book: Arc::new(Book { lessons: LessonsByTime::default(), ..Book::clone(&committed.book) }),
            ..PlaybookFile::clone(committed)
        };
        let head = Head {
            model,
            playbook,
            content: version.content,
            start: version.start.clone(),
            is_settled: !stamp.is_racy && version.stamp.is_some_and(|known| !known.is_racy),
            is_ours: version.is_ours,
            log_inode: log.inode,
            log_length: commits.length,
            generation: committed.generation,
            is_logged: *is_logged,
        };
        let others = self.written(playbook_file::render(&others, 0))?;
        let temporary = Folder::temporary("recall");
        self.files().create(&temporary, &to_bytes(&head, others, &committed.book.lessons, recall))?;
        self.files().rename(temporary, RECALL)
    }

    /// Removes it where its vectors are damaged, so that the next process makes them again.
    pub(crate) fn drop_damaged_recall(&self, snapshot: &Snapshot) {
        tracing::warn!(path = %self.files().path_of(RECALL).display(), "stored vectors are damaged");
        if self.may_append(snapshot) {
            // It is removed by a later process then.
            drop(self.drop_recall());
        }
    }

    /// Removes it, and what an earlier version kept the words in: they may have texts of a lesson that was removed.
    pub(super) fn drop_recall(&self) -> Result<()> {
        self.files().remove_if_exists(RECALL)?;
        self.files().remove_if_exists("words.bin")
    }
}
