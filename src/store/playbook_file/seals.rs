//! Checksums of a playbook file: whether it is damaged, or edited by a person.

use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};

use super::LISTS;
use crate::lesson::LessonId;
use crate::store::checksum::{self, Seal};

/// The result of checking the checksums of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seals {
    /// The modification time that the file was given when it was written, in nanoseconds since 1970.
    pub(crate) written: Option<u64>,
    /// The checksum of everything except the content of rows.
    pub(crate) head: Option<Seal>,
    /// Lessons, including waiting ones, with a wrong checksum or none.
    pub(crate) foreign: BTreeSet<LessonId>,
    /// Removals with a wrong checksum.
    pub(crate) broken_removals: BTreeSet<LessonId>,
    /// Rows other than lessons with a wrong checksum.
    pub(crate) n_broken: usize,
    /// True if the file has bytes that are not text; they were replaced by U+FFFD.
    pub(crate) is_garbled: bool,
}

impl Seals {
    /// True if all checksums are right.
    pub(crate) fn is_whole(&self) -> bool {
        self.head == Some(Seal::Whole) && self.foreign.is_empty() && self.n_broken == 0
    }

    /// True if the file was not modified since this program wrote it, so that wrong checksums are damage. File systems may
    /// round the time that they are given.
    pub(crate) fn is_untouched(&self, modified: Option<SystemTime>) -> bool {
        let modified = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let Some(modified) = modified.and_then(|since| u64::try_from(since.as_nanos()).ok()) else { return false };
        let steps = [1, 100, 1_000, 1_000_000, 1_000_000_000, 2_000_000_000];
        self.written.is_some_and(|written| steps.iter().any(|step| modified == written - written % step))
    }

    pub(super) fn note(&mut self, seal: Seal, lesson: LessonId) {
        if seal != Seal::Whole {
            self.foreign.insert(lesson);
        }
    }
}

/// The checksum of everything except the content of rows. Of the lists, in the order of [`LISTS`], only the rows' checksums are
/// included.
pub(super) fn head(lists: &[Value; 3], others: &Map<String, Value>) -> String {
    let rows = LISTS.into_iter().zip(lists);
    let others = others.iter().filter(|(key, _)| !LISTS.contains(&key.as_str()));
    let mut parts: Vec<(&str, &Value)> = rows.chain(others.map(|(key, value)| (key.as_str(), value))).collect();
    parts.sort_unstable_by_key(|(key, _)| *key);
    checksum::of_values(parts)
}

fn head_of(keys: &Map<String, Value>) -> String {
    let crc = |row: &Value| row.get(checksum::KEY).cloned().unwrap_or_default();
    head(&LISTS.map(|list| keys.get(list).and_then(Value::as_array).into_iter().flatten().map(crc).collect()), keys)
}

pub(super) fn take_head(keys: &mut Map<String, Value>) -> Seal {
    match keys.remove(checksum::KEY) {
        None => Seal::Missing,
        Some(crc) if crc == head_of(keys) => Seal::Whole,
        Some(_) => Seal::Broken,
    }
}
