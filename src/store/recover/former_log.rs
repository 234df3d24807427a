//! The log of commits that earlier versions kept beside the playbook file, `playbook.log`: the file of a large playbook may be behind it.
//! It is read, applied to the file, and removed by the next commit.
//!
//! The first line names the generation that the log starts from, and may contain that state; each other line is the change of one commit.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::error::folder::Result;
use crate::store::checksum::{self, Seal};
use crate::store::playbook_file::{LESSONS, in_range};
use crate::store::{FolderStore, PlaybookFile, marks, playbook_file};

/// The name of the log.
pub(in crate::store) const LOG: &str = "playbook.log";

const GENERATION: &str = "generation";
/// Keys of a line that are not keys of the playbook file.
const GONE: &str = "gone";
const NEW: &str = "new";
const EMPTIED: &str = "emptied";
const FILE: &str = "file";

type Keys = Map<String, Value>;

/// The content of a log; empty if there is none that can be read.
#[derive(Clone, Debug, Default)]
pub(in crate::store) struct FormerLog {
    /// The generation that it starts from.
    base: u64,
    /// The playbook file of that generation, if the log has it.
    state: Option<Keys>,
    commits: Vec<(u64, Keys)>,
}

impl FormerLog {
    /// Reads the whole lines; one that does not follow the line before it, or is damaged, does not count.
    pub(in crate::store) fn parse(bytes: &[u8]) -> Self {
        let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').map(whole);
        let mut log = Self::default();
        let Some(Some(mut first)) = lines.next().filter(|_| !marks::has_marks(bytes)) else { return log };
        log.base = first.get("base").and_then(in_range).unwrap_or_default();
        if let Some(Value::Object(state)) = first.remove("state") {
            log.state = Some(state);
        }
        for keys in lines.flatten() {
            let generation = generation_of(&keys);
            if generation > log.generation() {
                log.commits.push((generation, keys));
            }
        }
        log
    }

    /// The generation of the newest state; 0 if there is none.
    pub(in crate::store) fn generation(&self) -> u64 {
        self.commits.last().map_or(self.base, |(generation, _)| *generation)
    }

    /// Applies the commits after a playbook file to it. Rows that a person edited are kept, and rows that a person removed do not come back.
    pub(in crate::store) fn advance(&self, keys: &mut Keys) {
        let generation = generation_of(keys);
        let is_later = |(later, _): &&(u64, Keys)| generation >= self.base && *later > generation;
        let mut later = self.commits.iter().filter(is_later).peekable();
        if later.peek().is_none() {
            return;
        }
        let Some(Value::Array(rows)) = keys.remove(LESSONS) else { return };
        let mut rows = Rows::new(rows);
        for (_, commit) in later {
            rows.apply(commit);
            for key in list(commit, EMPTIED).filter_map(Value::as_str) {
                keys.remove(key);
            }
            let is_own = |key: &str| ![LESSONS, NEW, GONE, EMPTIED, FILE].contains(&key);
            keys.extend(commit.iter().filter(|(key, _)| is_own(key)).map(|(key, value)| (key.clone(), value.clone())));
        }
        keys.insert(LESSONS.to_owned(), rows.present.into_iter().flatten().collect());
    }
}

/// The lessons of a playbook file, to which commits are applied.
struct Rows {
    /// The rows in their order; none for one that was removed.
    present: Vec<Option<Value>>,
    places: BTreeMap<String, usize>,
}

impl Rows {
    fn new(rows: Vec<Value>) -> Self {
        let places = rows.iter().enumerate().filter_map(|(place, row)| Some((id_of(row)?, place))).collect();
        Self { present: rows.into_iter().map(Some).collect(), places }
    }

    fn apply(&mut self, commit: &Keys) {
        let new: BTreeSet<&str> = list(commit, NEW).filter_map(Value::as_str).collect();
        for row in list(commit, LESSONS) {
            let Some(id) = id_of(row) else { continue };
            match self.places.get(&id).and_then(|place| self.present.get_mut(*place)) {
                Some(present) if is_edited(present.as_ref()) => {}
                Some(present) => *present = Some(row.clone()),
                None if new.contains(id.as_str()) => {
                    self.places.insert(id, self.present.len());
                    self.present.push(Some(row.clone()));
                }
                None => {}
            }
        }
        for id in list(commit, GONE).filter_map(Value::as_str) {
            if let Some(row) = self.places.remove(id).and_then(|place| self.present.get_mut(place)) {
                *row = None;
            }
        }
    }
}

fn is_edited(row: Option<&Value>) -> bool {
    row.is_some_and(|row| checksum::take(LESSONS, &mut row.clone()) != Seal::Whole)
}

fn list<'k>(keys: &'k Keys, key: &str) -> impl Iterator<Item = &'k Value> {
    keys.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn generation_of(keys: &Keys) -> u64 {
    keys.get(GENERATION).and_then(in_range).unwrap_or_default()
}

fn id_of(row: &Value) -> Option<String> {
    Some(row.get("id")?.as_str()?.to_owned())
}

/// A line, if its checksum is right.
fn whole(line: &[u8]) -> Option<Keys> {
    let text = line.strip_suffix(b"\n")?;
    let keys: Option<Keys> = serde_json::from_slice(text).ok();
    let mut keys = keys.filter(|_| checksum::check_line(text) == Seal::Whole)?;
    keys.remove(checksum::KEY);
    Some(keys)
}

impl FolderStore {
    /// The log of an earlier version, if there is one.
    pub(in crate::store) fn former_log(&self) -> Result<FormerLog> {
        let is_there = self.files().stamp(LOG)?.is_some();
        Ok(if is_there { FormerLog::parse(&self.files().read_or_empty(LOG, 0)?) } else { FormerLog::default() })
    }

    /// The playbook file that such a log leads to, if the log contains all of it.
    pub(in crate::store) fn logged(&self, log: &FormerLog) -> Option<PlaybookFile> {
        let admits = |lesson: &_| self.admits(lesson);
        let advance = |keys: &mut Keys| log.advance(keys);
        let mut parsed = playbook_file::parse_keys(log.state.clone()?, self.clock.as_ref(), &admits, advance).ok()?;
        self.hold_removed(&mut parsed.file);
        parsed.newer.is_none().then_some(parsed.file)
    }
}
