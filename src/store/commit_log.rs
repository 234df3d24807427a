//! The log of commits: a line each, synced before the commit is acknowledged (docs/spec/folder-format.md, 2).
//!
//! The first line says from which state the log goes on, and has that state where it is small; each other line is what one commit
//! changed. A line has the checksum of its bytes, and only whole lines that follow each other count.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::Store;
use super::checksum::{self, Seal};
use super::playbook_file::LESSONS;
use crate::error::folder::Result;
use crate::folder::{Name, Stamp};
use crate::hash::TextHash;
use crate::lesson::LessonId;

/// The log's name.
pub(super) const LOG: &str = "playbook.log";
/// A log of more bytes begins anew with the next commit. It may grow to a quarter of a larger playbook file.
const MAX_BYTES: u64 = 1 << 20;
/// A playbook file up to this length is written again at every commit, and the log has the state it begins with. Of a larger one the
/// log has the changes alone until it is a quarter as long.
pub(super) const SMALL_FILE: u64 = 1 << 20;

const BASE: &str = "base";
const STATE: &str = "state";
const FILE: &str = "file";
const GENERATION: &str = "generation";
const GONE: &str = "gone";
const NEW: &str = "new";
const EMPTIED: &str = "emptied";

/// What is in the log.
#[derive(Clone, Debug, Default)]
pub(super) struct CommitLog {
    /// The generation that it goes on from.
    pub(super) base: u64,
    /// The playbook file of that generation, where it is small.
    state: Option<Map<String, Value>>,
    pub(super) records: Vec<Record>,
    /// The hash of the playbook file, by the generation that it was written for.
    files: BTreeMap<u64, TextHash>,
    /// Lines with an end that are not as they were written.
    pub(super) n_broken: usize,
    pub(super) end: LogEnd,
}

/// Up to where the log is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LogEnd {
    /// None where there is no log.
    pub(super) stamp: Option<Stamp>,
    /// The bytes of whole lines.
    pub(super) length: u64,
    /// The generation of the last of them; none where there is no log that can be read.
    pub(super) generation: Option<u64>,
}

impl LogEnd {
    /// False when somebody wrote to the log, or began another one.
    pub(super) fn is_alike(&self, now: Option<&Stamp>) -> bool {
        let place = |stamp: &Stamp| (stamp.inode, stamp.length);
        self.stamp.as_ref().map(place) == now.map(place)
    }

    /// Whether the next commit begins the log anew.
    pub(super) fn is_full(&self, file_length: u64) -> bool {
        self.length > MAX_BYTES.max(file_length / 4)
    }
}

/// What one commit changed: keys of the playbook file, and rows of its list of lessons.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) generation: u64,
    keys: Map<String, Value>,
}

impl Record {
    /// What has to be done to a file to get another one.
    pub(super) fn new(generation: u64, lessons: Vec<Value>, new: Vec<String>, gone: Vec<String>) -> Self {
        let mut keys = Map::new();
        let lists = [(LESSONS, lessons), (NEW, new.into_iter().map(Value::from).collect())];
        let gone = (GONE, gone.into_iter().map(Value::from).collect::<Vec<_>>());
        for (key, list) in lists.into_iter().chain([gone]).filter(|(_, list)| !list.is_empty()) {
            keys.insert(key.to_owned(), Value::Array(list));
        }
        Self { generation, keys }
    }

    /// The values of one of its lists.
    fn list(&self, key: &str) -> impl Iterator<Item = &Value> {
        self.keys.get(key).and_then(Value::as_array).into_iter().flatten()
    }

    /// Replaces a key of the file; takes it out where there is no value.
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

/// The first line of a log that goes on from a state.
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
    /// Reads the whole lines. What follows the last of them is what a dead writer left; nothing counts where the first one is not whole.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
        let line = lines.next()?;
        let mut first = whole(line)?;
        let mut log = Self { base: first.get(BASE)?.as_u64()?, ..Self::default() };
        if let Some(Value::Object(state)) = first.remove(STATE) {
            log.state = Some(state);
        }
        log.note_file(log.base, &mut first);
        (log.end.length, log.end.generation) = (line.len() as u64, Some(log.base));
        log.read_lines(lines);
        Some(log)
    }

    /// The lines after a state that the log led to, which ended at this length.
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
            let generation = |keys: &mut Map<String, Value>| keys.remove(GENERATION)?.as_u64();
            let record = whole(line).and_then(|mut keys| Some((generation(&mut keys)?, keys)));
            let Some((generation, mut keys)) = record.filter(|(generation, _)| *generation > log.generation()) else {
                // A line without its end is what a dead writer left.
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

    /// The ids of lessons that its commits took out, whether or not they came back.
    pub(super) fn gone(&self) -> BTreeSet<LessonId> {
        let gone = self.records.iter().flat_map(|record| record.list(GONE));
        gone.filter_map(|id| id.as_str()?.parse().ok()).collect()
    }

    /// The log that ends with the line of this file, without what is before it: nothing of it is needed to read the file.
    fn ending_with(bytes: &[u8], file: TextHash) -> Option<Self> {
        let start = bytes.strip_suffix(b"\n")?.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
        let mut keys = whole(bytes.get(start..)?)?;
        let generation = keys.get(GENERATION).or_else(|| keys.get(BASE))?.as_u64()?;
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

    /// True where a commit after this state is a line of this log.
    pub(super) fn leads_to(&self, generation: u64) -> bool {
        self.end.generation == Some(generation) && self.n_broken == 0
    }

    /// True for a playbook file that was written for this generation, to the byte.
    pub(super) fn has_written(&self, generation: u64, file: TextHash) -> bool {
        self.files.get(&generation) == Some(&file)
    }

    /// True where the log has no state of its own: it needs the playbook file that it goes on from, or its backup.
    pub(super) fn needs_file(&self) -> bool {
        self.state.is_none()
    }

    /// The state that it goes on from, as a playbook file; none where it does not have it.
    pub(super) fn first_state(&self) -> Option<Map<String, Value>> {
        self.state.clone()
    }

    /// Does to a playbook file what commits did after it. Of one that a person edited, rows that are not as they were written stay, and
    /// rows that are not there any more do not come back. False where the log does not go on from it.
    pub(super) fn advance(&self, keys: &mut Map<String, Value>, is_edited: bool) -> bool {
        let generation = generation_of(keys);
        if generation < self.base {
            return false;
        }
        let after: Vec<&Record> = self.records.iter().filter(|record| record.generation > generation).collect();
        let Some(Value::Array(rows)) = keys.remove(LESSONS) else { return false };
        let mut rows: Vec<Option<Value>> = rows.into_iter().map(Some).collect();
        let mut places: BTreeMap<String, usize> =
            rows.iter().enumerate().filter_map(|(place, row)| Some((id_of(row.as_ref()?)?, place))).collect();
        let is_kept = |row: &Option<Value>| {
            is_edited && row.as_ref().is_some_and(|row| checksum::take(LESSONS, &mut row.clone()) != Seal::Whole)
        };
        for record in after {
            let new: BTreeSet<&str> = record.list(NEW).filter_map(Value::as_str).collect();
            for row in record.list(LESSONS) {
                let Some(id) = id_of(row) else { continue };
                match places.get(&id).and_then(|place| rows.get_mut(*place)) {
                    Some(present) if is_kept(present) => {}
                    Some(present) => *present = Some(row.clone()),
                    None if is_edited && !new.contains(id.as_str()) => {}
                    None => {
                        places.insert(id, rows.len());
                        rows.push(Some(row.clone()));
                    }
                }
            }
            for id in record.list(GONE).filter_map(Value::as_str) {
                if let Some(row) = places.remove(id).and_then(|place| rows.get_mut(place)) {
                    *row = None;
                }
            }
            for key in record.list(EMPTIED).filter_map(Value::as_str) {
                keys.remove(key);
            }
            let is_own = |key: &str| ![LESSONS, NEW, GONE, EMPTIED].contains(&key);
            keys.extend(
                record.keys.iter().filter(|(key, _)| is_own(key)).map(|(key, value)| (key.clone(), value.clone())),
            );
            keys.insert(GENERATION.to_owned(), record.generation.into());
        }
        keys.insert(LESSONS.to_owned(), rows.into_iter().flatten().collect());
        true
    }
}

/// The generation that a playbook file says it has; 0 where it does not say.
pub(super) fn generation_of(keys: &Map<String, Value>) -> u64 {
    keys.get(GENERATION).and_then(Value::as_u64).unwrap_or_default()
}

pub(super) fn id_of(row: &Value) -> Option<String> {
    Some(row.get("id")?.as_str()?.to_owned())
}

/// A line, if it is as it was written.
fn whole(line: &[u8]) -> Option<Map<String, Value>> {
    let text = line.strip_suffix(b"\n")?;
    if checksum::check_line(text) != Seal::Whole {
        return None;
    }
    let mut keys: Map<String, Value> = serde_json::from_slice(text).ok()?;
    keys.remove(checksum::KEY);
    Some(keys)
}

/// A log that was not looked at yet.
pub(super) struct LogBytes {
    stamp: Option<Stamp>,
    bytes: Vec<u8>,
}

impl LogBytes {
    /// What is in it, as far as it takes to go on from this file.
    pub(super) fn read(&self, file: Option<TextHash>) -> CommitLog {
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

impl Store {
    /// The log; an empty one where there is none that can be read.
    pub(super) fn read_log(&self) -> Result<CommitLog> {
        Ok(self.log_bytes()?.read(None))
    }

    /// The log as it is.
    pub(super) fn log_bytes(&self) -> Result<LogBytes> {
        let stamp = self.files().stamp(LOG)?;
        let bytes = if stamp.is_some() { self.files().read_or_empty(LOG, 0)? } else { Vec::new() };
        Ok(LogBytes { stamp, bytes })
    }

    /// What is the matter with the log, if anything is, and what that means.
    pub(crate) fn check_log(&self) -> Result<Option<(String, &'static str)>> {
        let log = self.read_log()?;
        let Some(stamp) = log.end.stamp else { return Ok(None) };
        let anew = "the playbook file has what was committed; the next commit begins the log anew";
        Ok(if log.end.generation.is_none() {
            Some(("it cannot be read".to_owned(), anew))
        } else if log.n_broken > 0 {
            let lost = "what these commits changed is lost if the playbook file is behind the log; the next commit begins it anew";
            Some((format!("{} lines are damaged", log.n_broken), if log.needs_file() { lost } else { anew }))
        } else if stamp.length > log.end.length {
            let problem = format!("{} bytes at its end are no line", stamp.length - log.end.length);
            Some((problem, "what a dead writer left is cut off at the next commit"))
        } else {
            None
        })
    }

    /// Appends a line after the last whole one, and syncs it: the commit itself.
    pub(super) fn append_commit(&self, end: &LogEnd, line: &[u8], generation: u64) -> Result<LogEnd> {
        let files = self.files();
        if end.stamp.is_some_and(|stamp| stamp.length > end.length) {
            files.truncate(LOG, end.length)?;
        }
        if let Err(error) = files.append(LOG, line) {
            // A part of it may be there, which does not count; the next writer cuts it off if this one cannot.
            let _ = files.truncate(LOG, end.length);
            return Err(error);
        }
        files.sync(LOG)?;
        let length = end.length + line.len() as u64;
        Ok(LogEnd { stamp: files.stamp(LOG)?, length, generation: Some(generation) })
    }

    /// Puts a log that goes on from this state in the place of the present one. Where it has the state itself, the rename is the commit.
    pub(super) fn begin_log(&self, generation: u64, state: Option<&[u8]>, file: Option<TextHash>) -> Result<LogEnd> {
        let line = first_line(generation, state, file).unwrap_or_default();
        let temporary = self.folder.write_temporary("log", &line)?;
        self.files().rename(temporary, LOG)?;
        self.files().sync_directory(Name::TOP).inspect_err(|_| self.files().stop_writes())?;
        let length = line.len() as u64;
        Ok(LogEnd { stamp: self.files().stamp(LOG)?, length, generation: Some(generation) })
    }
}
