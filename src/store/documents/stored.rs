//! A cache of each document's position in the log, so that an open need not read the documents.
//!
//! It covers the beginning of a log. It contains the log's id, and the length and checksum of the covered bytes; if these do
//! not match, the open reads the log instead. Lines after the covered bytes are read from the log. The cache contains hashes of
//! ids, texts and metadata, never the texts themselves; a document is read from the log on demand. The cache is never wrong; it
//! may be missing.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use adage_redact::path_line;
use bytemuck::AnyBitPattern;

use super::line::{self, LineSpan};
use super::{DOCUMENTS, DocumentLog, LogMark, Logged};
use crate::document::Document;
use crate::error::folder::{FolderError, Result};
use crate::folder::{Directory, Entry, Folder, HeldFile, Lock};
use crate::hash::TextHash;
use crate::store::sections::{Label, SectionView, SectionWriter, Sections};

/// The name of the cache.
const PLACES: &str = "documents.bin";

const HASH: usize = 16;

/// The content of a section.
#[derive(Clone, Copy)]
enum Part {
    /// The covered length of the log, its checksum, and the number of documents.
    Head = 1,
    /// The offset and length of each document's line.
    Starts,
    Lengths,
    /// The hashes of each document's id and text.
    Ids,
    Texts,
    /// The documents, ordered by the hashes of their ids.
    Order,
    /// The sorted hashes of metadata entries; for each, the start of its posting list, and these lists of documents.
    Names,
    NameStarts,
    NameDocuments,
    /// For each document, the start of its list of metadata entries, and these lists, as indexes into the sorted hashes.
    DocumentStarts,
    DocumentNames,
}

/// A section as an array of numbers or hashes.
#[derive(Clone, Debug)]
struct Column<T>(SectionView, PhantomData<T>);

impl<T: AnyBitPattern> Deref for Column<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        bytemuck::try_cast_slice(&self.0).unwrap_or_default()
    }
}

impl<T: AnyBitPattern> Column<T> {
    fn among(sections: &Sections, part: Part) -> Option<Self> {
        Some(Self(sections.get(part as u32).next()?.clone(), PhantomData))
    }

    fn at(&self, place: u32) -> Option<&T> {
        self.get(place as usize)
    }
}

/// The stored description of a document.
pub(crate) struct Described {
    pub(crate) id: TextHash,
    pub(crate) text: TextHash,
    pub(crate) span: LineSpan,
    /// The hashes of its metadata entries.
    pub(crate) names: Vec<TextHash>,
}

/// The documents at the beginning of a log, which are read on demand. Their keys are 0, 1, 2, …
#[derive(Debug)]
pub(crate) struct StoredDocuments {
    log: HeldFile,
    path: PathBuf,
    read_to: u64,
    starts: Column<u64>,
    lengths: Column<u32>,
    ids: Column<[u8; HASH]>,
    texts: Column<[u8; HASH]>,
    order: Column<u32>,
    names: Column<[u8; HASH]>,
    name_starts: Column<u32>,
    name_documents: Column<u32>,
    document_starts: Column<u32>,
    document_names: Column<u32>,
    is_damaged: AtomicBool,
}

impl StoredDocuments {
    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.starts.len()).unwrap_or(0)
    }

    /// The total length of all documents' lines in the log, in bytes.
    pub(crate) fn n_bytes(&self) -> u64 {
        self.lengths.iter().map(|length| u64::from(*length)).sum()
    }

    pub(crate) fn span(&self, key: u32) -> Option<LineSpan> {
        let span = LineSpan { at: *self.starts.at(key)?, n_bytes: *self.lengths.at(key)? as usize };
        Some(span).filter(|span| span.at.saturating_add(span.n_bytes as u64) <= self.read_to)
    }

    pub(crate) fn text(&self, key: u32) -> Option<TextHash> {
        self.texts.at(key).copied().map(TextHash::from_bytes)
    }

    /// The key of the document whose id has this hash.
    pub(crate) fn find(&self, id: &TextHash) -> Option<u32> {
        let id_of = |key: &u32| self.ids.at(*key).copied().unwrap_or_default();
        let place = self.order.binary_search_by_key(id.as_bytes(), id_of).ok()?;
        self.order.get(place).copied().filter(|key| *key < self.len())
    }

    /// The documents with this metadata entry, ascending.
    pub(crate) fn with_name(&self, name: &TextHash) -> Option<impl Iterator<Item = u32>> {
        let place = self.names.binary_search(name.as_bytes()).ok()?;
        let keys = part(&self.name_starts, &self.name_documents, place)?;
        Some(keys.iter().copied().filter(|key| *key < self.len()))
    }

    /// The hashes of a document's metadata entries.
    pub(crate) fn names(&self, key: u32) -> impl Iterator<Item = TextHash> {
        let names = part(&self.document_starts, &self.document_names, key as usize).unwrap_or_default();
        names.iter().filter_map(|name| self.names.at(*name).copied().map(TextHash::from_bytes))
    }

    pub(crate) fn describe(&self, key: u32) -> Option<Described> {
        let id = TextHash::from_bytes(*self.ids.at(key)?);
        Some(Described { id, text: self.text(key)?, span: self.span(key)?, names: self.names(key).collect() })
    }

    /// Reads a document from the log. None if its line is damaged; [`is_damaged`](Self::is_damaged) is true from then on.
    pub(crate) fn document(&self, key: u32) -> Result<Option<Arc<Document>>> {
        let Some(LineSpan { at, n_bytes }) = self.span(key) else { return Ok(None) };
        let read = match self.log.read(at, n_bytes) {
            Ok(line) => line::document(&line).filter(|document| self.is_under(key, &document.id)),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => None,
            Err(error) => return Err(FolderError::io("read", &self.path)(error)),
        };
        if read.is_none() {
            tracing::warn!(path = %path_line(&self.path), at, "a line of the log is damaged");
            self.is_damaged.store(true, Ordering::Release);
        }
        Ok(read.map(Arc::new))
    }

    fn is_under(&self, key: u32, id: &str) -> bool {
        self.ids.at(key) == Some(TextHash::of(&[id]).as_bytes())
    }

    /// True if a line that was readable at the open no longer is. The log must be read again.
    pub(crate) fn is_damaged(&self) -> bool {
        self.is_damaged.load(Ordering::Acquire)
    }

    /// None if the sections do not match each other.
    fn among(sections: &Sections, log: HeldFile, (path, read_to): (PathBuf, u64)) -> Option<Self> {
        let stored = Self {
            log,
            path,
            read_to,
            starts: Column::among(sections, Part::Starts)?,
            lengths: Column::among(sections, Part::Lengths)?,
            ids: Column::among(sections, Part::Ids)?,
            texts: Column::among(sections, Part::Texts)?,
            order: Column::among(sections, Part::Order)?,
            names: Column::among(sections, Part::Names)?,
            name_starts: Column::among(sections, Part::NameStarts)?,
            name_documents: Column::among(sections, Part::NameDocuments)?,
            document_starts: Column::among(sections, Part::DocumentStarts)?,
            document_names: Column::among(sections, Part::DocumentNames)?,
            is_damaged: AtomicBool::new(false),
        };
        let n = stored.starts.len();
        let lengths = [stored.lengths.len(), stored.ids.len(), stored.texts.len(), stored.order.len()];
        let is_whole = lengths.iter().all(|length| *length == n)
            && stored.document_starts.len() == n + 1
            && stored.name_starts.len() == stored.names.len() + 1;
        is_whole.then_some(stored)
    }
}

/// The slice from the `nth` start to the next one.
fn part<'a>(starts: &[u32], all: &'a [u32], nth: usize) -> Option<&'a [u32]> {
    let [start, end] = starts.get(nth..nth + 2)? else { return None };
    all.get(*start as usize..*end as usize)
}

/// The result of an open with the cache.
pub(crate) struct Opened {
    pub(crate) documents: StoredDocuments,
    /// The covered length of the log in bytes.
    pub(crate) stored_to: u64,
    /// The changes after the covered bytes.
    pub(crate) changes: Vec<Logged>,
    pub(crate) mark: LogMark,
}

impl DocumentLog {
    /// The stored documents, if the cache matches the present beginning of the log in every byte and no later line is damaged.
    pub(crate) fn open_stored(&self) -> Option<Opened> {
        self.try_open_stored().unwrap_or_else(|error| {
            tracing::warn!(%error, "the cache of document positions could not be read; the log is read instead");
            None
        })
    }

    fn try_open_stored(&self) -> Result<Option<Opened>> {
        let files = self.folder.files();
        // A log with several hard links is refused when the whole of it is read.
        let Entry::File { n_links: 0..=1, .. } = files.entry(DOCUMENTS)? else { return Ok(None) };
        let Some(stamp) = files.stamp(DOCUMENTS)? else { return Ok(None) };
        let Some((head, sections)) = read(files)? else { return Ok(None) };
        let [read_to, checksum, n_documents] = head.numbers;
        let Some(log) = files.hold(DOCUMENTS)?.filter(|_| read_to <= stamp.length) else { return Ok(None) };
        let is_same = is_named(&log, head.log) && log.checksum(read_to).is_ok_and(|found| u64::from(found) == checksum);
        let Some(documents) = StoredDocuments::among(&sections, log, (files.path_of(DOCUMENTS), read_to))
            .filter(|stored| is_same && u64::from(stored.len()) == n_documents)
        else {
            return Ok(None);
        };
        let bytes = files.read_or_empty(DOCUMENTS, read_to)?;
        let lines = line::read(&bytes, read_to);
        // Another file may have taken the name since the stamp was read.
        let is_still =
            files.stamp(DOCUMENTS)?.is_some_and(|now| now.inode == stamp.inode && now.length >= stamp.length);
        if !lines.broken.is_empty() || !is_still {
            return Ok(None);
        }
        let Ok(checksum) = u32::try_from(checksum) else { return Ok(None) };
        let mut mark = LogMark { stamp: Some(stamp), log: Some(head.log), read_to, checksum, ..LogMark::default() };
        mark.advance(bytes.get(..lines.whole).unwrap_or_default());
        Ok(Some(Opened { documents, stored_to: read_to, changes: lines.changes, mark }))
    }

    /// Stores the positions of the documents up to the mark. Returns the covered length of the log in bytes. The cache is not
    /// synced: without it, an open reads the log.
    pub(crate) fn store(
        &self,
        known: &LogMark,
        documents: impl Iterator<Item = Described>,
        _lock: &Lock,
    ) -> Result<u64> {
        let Some(log) = known.log.filter(|_| known.n_broken == 0 && known.newer.is_none()) else { return Ok(0) };
        let bytes = Columns::of(documents).write(known, TextHash::from_bytes(log.into_bytes()));
        let (files, temporary) = (self.folder.files(), Folder::temporary("places"));
        files.create(&temporary, &bytes)?;
        files.rename(temporary, PLACES)?;
        Ok(known.read_to)
    }

    /// Removes the cache.
    pub(crate) fn drop_stored(&self, _lock: &Lock) -> Result<()> {
        self.folder.files().remove_if_exists(PLACES)
    }
}

/// True if the file begins as a log with this id that this program can write.
fn is_named(file: &HeldFile, name: uuid::Uuid) -> bool {
    let start = file.read_start(line::HEADER_BYTES).unwrap_or_default();
    let header = line::read(&start, 0).header;
    header.is_some_and(|header| header.log == name && header.schema_version <= line::SCHEMA)
}

struct Head {
    log: uuid::Uuid,
    numbers: [u64; 3],
}

fn read(files: &Directory) -> Result<Option<(Head, Sections)>> {
    let (sections, flaws) = Sections::open(files, PLACES, 0, |_| false)?;
    if let Some(flaw) = flaws.first() {
        tracing::warn!(offset = flaw.offset, kind = ?flaw.kind, "the cache of document positions could not be read; the log is read instead");
    }
    let head = Column::<u64>::among(&sections, Part::Head).filter(|_| flaws.is_empty());
    let Some(head) = head.as_deref().and_then(<[u64]>::first_chunk) else { return Ok(None) };
    let model = sections.get(Part::Head as u32).next().map(|section| *section.label.model.as_bytes());
    let log = uuid::Uuid::from_bytes(model.unwrap_or_default());
    Ok(Some((Head { log, numbers: *head }, sections)))
}

/// The sections under construction.
#[derive(Default)]
struct Columns {
    starts: Vec<u64>,
    lengths: Vec<u32>,
    ids: Vec<[u8; HASH]>,
    texts: Vec<[u8; HASH]>,
    /// For each metadata entry, a number in order of first occurrence, and its documents.
    names: BTreeMap<TextHash, (u32, Vec<u32>)>,
    document_starts: Vec<u32>,
    document_names: Vec<u32>,
}

impl Columns {
    fn of(documents: impl Iterator<Item = Described>) -> Self {
        let mut columns = Self::default();
        for (key, described) in (0..).zip(documents) {
            columns.starts.push(described.span.at);
            columns.lengths.push(u32::try_from(described.span.n_bytes).unwrap_or(u32::MAX));
            columns.ids.push(*described.id.as_bytes());
            columns.texts.push(*described.text.as_bytes());
            columns.document_starts.push(number(columns.document_names.len()));
            for name in described.names {
                let n_names = number(columns.names.len());
                let (nth, keys) = columns.names.entry(name).or_insert_with(|| (n_names, Vec::new()));
                keys.push(key);
                columns.document_names.push(*nth);
            }
        }
        columns.document_starts.push(number(columns.document_names.len()));
        columns
    }

    fn write(mut self, known: &LogMark, log: TextHash) -> Vec<u8> {
        let mut order: Vec<u32> = (0..number(self.ids.len())).collect();
        order.sort_unstable_by_key(|key| self.ids.get(*key as usize));
        // From here on, metadata entries are numbered in the order of their hashes.
        let mut sorted = vec![0_u32; self.names.len()];
        let (mut names, mut name_starts, mut name_documents) = (Vec::new(), Vec::new(), Vec::new());
        for (name, (nth, keys)) in &self.names {
            if let Some(place) = sorted.get_mut(*nth as usize) {
                *place = number(names.len());
            }
            names.push(*name.as_bytes());
            name_starts.push(number(name_documents.len()));
            name_documents.extend_from_slice(keys);
        }
        name_starts.push(number(name_documents.len()));
        for name in &mut self.document_names {
            *name = sorted.get(*name as usize).copied().unwrap_or_default();
        }
        let head = [known.read_to, u64::from(known.checksum), self.ids.len() as u64];
        let mut writer = SectionWriter::behind(0);
        let mut push = |part: Part, bytes: &[u8]| {
            writer.push(Label { kind: part as u32, model: log, n_columns: 0, n_rows: 0 }, &[bytes]);
        };
        push(Part::Head, bytemuck::cast_slice(&head));
        push(Part::Starts, bytemuck::cast_slice(&self.starts));
        push(Part::Lengths, bytemuck::cast_slice(&self.lengths));
        push(Part::Ids, bytemuck::cast_slice(&self.ids));
        push(Part::Texts, bytemuck::cast_slice(&self.texts));
        push(Part::Order, bytemuck::cast_slice(&order));
        push(Part::Names, bytemuck::cast_slice(&names));
        push(Part::NameStarts, bytemuck::cast_slice(&name_starts));
        push(Part::NameDocuments, bytemuck::cast_slice(&name_documents));
        push(Part::DocumentStarts, bytemuck::cast_slice(&self.document_starts));
        push(Part::DocumentNames, bytemuck::cast_slice(&self.document_names));
        writer.into_bytes()
    }
}

/// Counts in a cache are below 2³²: keys are u32, and a metadata entry takes at least two bytes in the log.
#[expect(clippy::cast_possible_truncation, reason = "lengths beyond do not fit into memory")]
fn number(length: usize) -> u32 {
    length as u32
}

#[cfg(test)]
mod tests;
