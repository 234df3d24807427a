//! The log of commits: one line per commit, synced before the commit is acknowledged (docs/spec/folder-format.md, 2).
//!
//! The first line names the state that the log starts from, and contains it if it is small. Each other line is the change of
//! one commit. Each line has a checksum of its bytes. Reading stops at the first line that is damaged or does not follow the
//! one before it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::checksum::{self, Seal};
use super::conflict;
use super::playbook_file::{LESSONS, in_range};
use crate::error::folder::Result;
use crate::folder::{Directory, Folder, Name, Stamp};
use crate::hash::TextHash;
use crate::lesson::LessonId;

/// The name of the log.
pub(super) const LOG: &str = "playbook.log";
/// A log with more bytes is replaced at the next commit. For a larger playbook file, the limit is a quarter of its length.
const MAX_BYTES: u64 = 1 << 20;
/// A playbook file up to this length is written at every commit, and the log contains its starting state. For a larger file,
/// the log contains only changes until it is a quarter as long.
pub(super) const SMALL_FILE: u64 = 1 << 20;

const BASE: &str = "base";
const STATE: &str = "state";
const FILE: &str = "file";
const GENERATION: &str = "generation";
const GONE: &str = "gone";
const NEW: &str = "new";
const EMPTIED: &str = "emptied";

/// The content of the log.
#[derive(Clone, Debug, Default)]
pub(super) struct CommitLog {
    /// The generation that it starts from.
    pub(super) base: u64,
    /// The playbook file of that generation, if it is small.
    state: Option<Map<String, Value>>,
    pub(super) records: Vec<Record>,
    /// The hashes of playbook files, by the generation that each was written for.
    files: BTreeMap<u64, TextHash>,
    /// Complete lines with a wrong checksum.
    pub(super) n_broken: usize,
    pub(super) end: LogEnd,
}

/// How far the log was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LogEnd {
    /// None if there is no log.
    pub(super) stamp: Option<Stamp>,
    /// The length of the complete lines in bytes.
    pub(super) length: u64,
    /// The generation of the last of them; none if there is no readable log.
    pub(super) generation: Option<u64>,
}

impl LogEnd {
    /// False if the log was appended to or replaced.
    pub(super) fn is_alike(&self, now: Option<&Stamp>) -> bool {
        let place = |stamp: &Stamp| (stamp.inode, stamp.length);
        self.stamp.as_ref().map(place) == now.map(place)
    }

    /// Whether the next commit replaces the log.
    pub(super) fn is_full(&self, file_length: u64) -> bool {
        self.length > MAX_BYTES.max(file_length / 4)
    }
}

/// The change of one commit: keys of the playbook file, and rows of its list of lessons.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) generation: u64,
    keys: Map<String, Value>,
}

impl Record {
    /// The change that turns one file into another.
    pub(super) fn new(generation: u64, lessons: Vec<Value>, new: Vec<String>, gone: Vec<String>) -> Self {
        let mut keys = Map::new();
        let lists = [(LESSONS, lessons), (NEW, new.into_iter().map(Value::from).collect())];
        let gone = (GONE, gone.into_iter().map(Value::from).collect::<Vec<_>>());
        for (key, list) in lists.into_iter().chain([gone]).filter(|(_, list)| !list.is_empty()) {
            keys.insert(key.to_owned(), Value::Array(list));
        }
        Self { generation, keys }
    }

    /// The values of one of the record's lists.
    fn list(&self, key: &str) -> impl Iterator<Item = &Value> {
        self.keys.get(key).and_then(Value::as_array).into_iter().flatten()
    }

    /// Replaces a key of the file, or removes it if there is no value.
    pub(super) fn set(&mut self, key: &str, value: Option<Value>) {
        match value {
            Some(value) => drop(self.keys.insert(key.to_owned(), value)),
            None => {
                if let Value::Array(emptied) = self.keys.entry(EMPTIED).or_insert_with(|| json!([])) {
                    emptied.push(key.into());
                }
            }
        }
    }

    /// The line, with the hash of the playbook file that is written after it.
    pub(super) fn line(&self, file: Option<TextHash>) -> Vec<u8> {
        let mut keys = self.keys.clone();
        keys.insert(GENERATION.to_owned(), self.generation.into());
        keys.extend(file.map(|hash| (FILE.to_owned(), json!(hash))));
        sealed(&Value::Object(keys))
    }
}

fn sealed(line: &Value) -> Vec<u8> {
    let mut bytes = checksum::seal_line(&line.to_string()).into_bytes();
    bytes.push(b'\n');
    bytes
}

/// The first line of a log that starts from a state.
pub(super) fn first_line(generation: u64, state: Option<&[u8]>, file: Option<TextHash>) -> serde_json::Result<Vec<u8>> {
    let mut keys = Map::new();
    keys.insert(BASE.to_owned(), generation.into());
    if let Some(state) = state {
        keys.insert(STATE.to_owned(), serde_json::from_slice(state)?);
    }
    keys.extend(file.map(|hash| (FILE.to_owned(), json!(hash))));
    Ok(sealed(&Value::Object(keys)))
}

impl CommitLog {
    /// Reads the complete lines. A part of a line at the end was left by a dead writer. None if the first line is not complete
    /// and valid.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
        let line = lines.next()?;
        let mut first = whole(line)?;
        let mut log = Self { base: in_range(first.get(BASE)?)?, ..Self::default() };
        if let Some(Value::Object(state)) = first.remove(STATE) {
            log.state = Some(state);
        }
        log.note_file(log.base, &mut first);
        (log.end.length, log.end.generation) = (line.len() as u64, Some(log.base));
        log.read_lines(lines);
        Some(log)
    }

    /// The lines after the first `length` bytes, which lead to this generation.
    pub(super) fn after(generation: u64, length: u64, bytes: &[u8]) -> Self {
        let end = LogEnd { stamp: None, length, generation: Some(generation) };
        let mut log = Self { base: generation, end, ..Self::default() };
        log.read_lines(bytes.split_inclusive(|byte| *byte == b'\n'));
        log
    }

    fn read_lines<'l>(&mut self, lines: impl Iterator<Item = &'l [u8]>) {
        let log = self;
        let (mut read, mut n_skipped) = (log.end.length, 0);
        for line in lines {
            read += line.len() as u64;
            let generation = |keys: &mut Map<String, Value>| in_range(&keys.remove(GENERATION)?);
            let record = whole(line).and_then(|mut keys| Some((generation(&mut keys)?, keys)));
            let Some((generation, mut keys)) = record.filter(|(generation, _)| *generation > log.generation()) else {
                // A line without a newline was left by a dead writer.
                n_skipped += usize::from(line.ends_with(b"\n"));
                continue;
            };
            log.n_broken += std::mem::take(&mut n_skipped);
            log.note_file(generation, &mut keys);
            log.records.push(Record { generation, keys });
            (log.end.length, log.end.generation) = (read, Some(generation));
        }
        log.n_broken += n_skipped;
    }

    /// The ids of lessons that its commits removed, even if they came back.
    pub(super) fn gone(&self) -> BTreeSet<LessonId> {
        let gone = self.records.iter().flat_map(|record| record.list(GONE));
        gone.filter_map(|id| id.as_str()?.parse().ok()).collect()
    }

    /// The log that ends with this file's line, without the lines before it: they are not needed to read the file.
    fn ending_with(bytes: &[u8], file: TextHash) -> Option<Self> {
        let start = bytes.strip_suffix(b"\n")?.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
        let mut keys = whole(bytes.get(start..)?)?;
        let generation = in_range(keys.get(GENERATION).or_else(|| keys.get(BASE))?)?;
        let mut log = Self { base: generation, ..Self::default() };
        log.note_file(generation, &mut keys);
        (log.end.length, log.end.generation) = (bytes.len() as u64, Some(generation));
        log.has_written(generation, file).then_some(log)
    }

    fn note_file(&mut self, generation: u64, keys: &mut Map<String, Value>) {
        let hash = keys.remove(FILE).and_then(|hash| hash.as_str()?.parse().ok());
        self.files.extend(hash.map(|hash| (generation, hash)));
    }

    /// The generation of the newest state.
    pub(super) fn generation(&self) -> u64 {
        self.end.generation.unwrap_or_default()
    }

    /// True if the log contains the commit after this generation, or ends with it.
    pub(super) fn leads_to(&self, generation: u64) -> bool {
        self.end.generation == Some(generation) && self.n_broken == 0
    }

    /// True if exactly this playbook file was written for this generation.
    pub(super) fn has_written(&self, generation: u64, file: TextHash) -> bool {
        self.files.get(&generation) == Some(&file)
    }

    /// True if the log contains no starting state: it needs the playbook file that it starts from, or the backup.
    pub(super) fn needs_file(&self) -> bool {
        self.state.is_none()
    }

    /// The state that it starts from, as a playbook file, if the log contains it.
    pub(super) fn first_state(&self) -> Option<Map<String, Value>> {
        self.state.clone()
    }

    /// Applies the commits after a playbook file to it. In an edited file, edited rows are kept, and removed rows do not come
    /// back. Returns false if the log does not continue from the file.
    pub(super) fn advance(&self, keys: &mut Map<String, Value>, base: Base) -> bool {
        let generation = generation_of(keys);
        if generation < self.base {
            return false;
        }
        let after: Vec<&Record> = self.records.iter().filter(|record| record.generation > generation).collect();
        let Some(Value::Array(rows)) = keys.remove(LESSONS) else { return false };
        let mut rows = Rows::new(rows, base);
        for record in after {
            rows.apply(record);
            for key in record.list(EMPTIED).filter_map(Value::as_str) {
                keys.remove(key);
            }
            let is_own = |key: &str| ![LESSONS, NEW, GONE, EMPTIED].contains(&key);
            keys.extend(
                record.keys.iter().filter(|(key, _)| is_own(key)).map(|(key, value)| (key.clone(), value.clone())),
            );
            keys.insert(GENERATION.to_owned(), record.generation.into());
        }
        keys.insert(LESSONS.to_owned(), rows.present.into_iter().flatten().collect());
        true
    }
}

/// The playbook file to which commits are applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// The program wrote it.
    AsWritten,
    /// A person may have edited it.
    Edited,
}

/// The lessons of a playbook file, to which commits are applied.
struct Rows {
    /// The rows in their order; none for one that was removed.
    present: Vec<Option<Value>>,
    places: BTreeMap<String, usize>,
    base: Base,
}

impl Rows {
    fn new(rows: Vec<Value>, base: Base) -> Self {
        let places = rows.iter().enumerate().filter_map(|(place, row)| Some((id_of(row)?, place))).collect();
        Self { present: rows.into_iter().map(Some).collect(), places, base }
    }

    fn apply(&mut self, record: &Record) {
        let new: BTreeSet<&str> = record.list(NEW).filter_map(Value::as_str).collect();
        for row in record.list(LESSONS) {
            let Some(id) = id_of(row) else { continue };
            match self.places.get(&id).and_then(|place| self.present.get_mut(*place)) {
                Some(present) if self.base == Base::Edited && is_foreign(present.as_ref()) => {}
                Some(present) => *present = Some(row.clone()),
                None if self.base == Base::Edited && !new.contains(id.as_str()) => {}
                None => {
                    self.places.insert(id, self.present.len());
                    self.present.push(Some(row.clone()));
                }
            }
        }
        for id in record.list(GONE).filter_map(Value::as_str) {
            if let Some(row) = self.places.remove(id).and_then(|place| self.present.get_mut(place)) {
                *row = None;
            }
        }
    }
}

/// True for a row that a person wrote or edited: its checksum is wrong.
fn is_foreign(row: Option<&Value>) -> bool {
    row.is_some_and(|row| checksum::take(LESSONS, &mut row.clone()) != Seal::Whole)
}

/// The generation stated in a playbook file; 0 if there is none.
pub(super) fn generation_of(keys: &Map<String, Value>) -> u64 {
    keys.get(GENERATION).and_then(in_range).unwrap_or_default()
}

pub(super) fn id_of(row: &Value) -> Option<String> {
    Some(row.get("id")?.as_str()?.to_owned())
}

/// A line, if its checksum is right.
fn whole(line: &[u8]) -> Option<Map<String, Value>> {
    let text = line.strip_suffix(b"\n")?;
    if checksum::check_line(text) != Seal::Whole {
        return None;
    }
    let mut keys: Map<String, Value> = serde_json::from_slice(text).ok()?;
    keys.remove(checksum::KEY);
    Some(keys)
}

/// The bytes of a log, not parsed yet.
pub(super) struct LogBytes {
    stamp: Option<Stamp>,
    bytes: Vec<u8>,
}

impl LogBytes {
    /// Parses what is needed to continue from this file. A log with the marks of a merge leads nowhere: it has commits of two branches.
    pub(super) fn read(&self, file: Option<TextHash>) -> CommitLog {
        if conflict::has_marks(&self.bytes) {
            return CommitLog { end: LogEnd { stamp: self.stamp, ..LogEnd::default() }, ..CommitLog::default() };
        }
        let short = file.and_then(|file| CommitLog::ending_with(&self.bytes, file));
        let mut log = short.or_else(|| CommitLog::parse(&self.bytes)).unwrap_or_default();
        log.end.stamp = self.stamp;
        if log.n_broken > 0 {
            tracing::warn!(
                lines = log.n_broken,
                "the log of commits is damaged: what these lines changed is not in it"
            );
        }
        log
    }
}

/// The file of the log in a folder.
#[derive(Clone, Copy)]
pub(crate) struct LogFile<'a>(pub(super) &'a Folder);

impl LogFile<'_> {
    fn files(&self) -> &Directory {
        self.0.files()
    }

    /// The log; an empty one if there is none that can be read.
    pub(super) fn read(self) -> Result<CommitLog> {
        Ok(self.bytes()?.read(None))
    }

    /// The bytes of the log.
    pub(super) fn bytes(self) -> Result<LogBytes> {
        let stamp = self.files().stamp(LOG)?;
        let bytes = if stamp.is_some() { self.files().read_or_empty(LOG, 0)? } else { Vec::new() };
        Ok(LogBytes { stamp, bytes })
    }

    /// A problem of the log and its consequence; none if there is no problem.
    pub(crate) fn check(self) -> Result<Option<(String, &'static str)>> {
        let log = self.read()?;
        let Some(stamp) = log.end.stamp else { return Ok(None) };
        let follows = "the playbook file has what was committed; the next commit begins a new log";
        Ok(if log.end.generation.is_none() {
            Some(("it cannot be read".to_owned(), follows))
        } else if log.n_broken > 0 {
            let lost = "what these commits changed is lost if the playbook file is behind the log; the next commit begins a new one";
            Some((format!("{} lines are damaged", log.n_broken), if log.needs_file() { lost } else { follows }))
        } else if stamp.length > log.end.length {
            let problem = format!("{} bytes at its end are not a line", stamp.length - log.end.length);
            Some((problem, "what a dead writer left is cut off at the next commit"))
        } else {
            None
        })
    }

    /// Appends a line after the last complete one, and syncs it: this is the commit.
    pub(super) fn append(self, end: &LogEnd, line: &[u8], generation: u64) -> Result<LogEnd> {
        let files = self.files();
        if end.stamp.is_some_and(|stamp| stamp.length > end.length) {
            files.truncate(LOG, end.length)?;
        }
        if let Err(error) = files.append(LOG, line) {
            // A partial line may remain, which does not count. If it cannot be truncated here, the next writer does it.
            let _ = files.truncate(LOG, end.length);
            return Err(error);
        }
        files.sync(LOG)?;
        let length = end.length + line.len() as u64;
        Ok(LogEnd { stamp: files.stamp(LOG)?, length, generation: Some(generation) })
    }

    /// Replaces the log by one that starts from this state. If the log contains the state, the rename is the commit.
    pub(super) fn begin(self, generation: u64, state: Option<&[u8]>, file: Option<TextHash>) -> Result<LogEnd> {
        let line = first_line(generation, state, file).unwrap_or_default();
        let temporary = self.0.write_temporary("log", &line)?;
        self.files().rename(temporary, LOG)?;
        self.files().sync_directory(Name::TOP).inspect_err(|_| self.files().stop_writes())?;
        let length = line.len() as u64;
        Ok(LogEnd { stamp: self.files().stamp(LOG)?, length, generation: Some(generation) })
    }
}
