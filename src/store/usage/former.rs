//! The usage of earlier versions: files `usage.<n>.jsonl`, which the playbook file knew by a place in one of them, and `spilled-*`. The
//! first writer moves what they say to the usage file.

use std::collections::BTreeSet;

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use super::event::Event;
use super::file::{self, USAGE};
use super::is_over;
use crate::error::folder::Result;
use crate::folder::{Directory, Name};
use crate::store::checksum::{self, Seal};
use crate::store::playbook_file::MAX_NUMBER;
use crate::store::{Snapshot, Store};

/// How far the usage is folded into the lessons of a playbook file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Folded {
    /// Up to the line of this number.
    Line(u64),
    /// Up to a place in the files of earlier versions, and not in the usage file.
    Former { segment: u64, offset: u64 },
}

impl Default for Folded {
    fn default() -> Self {
        Self::Line(0)
    }
}

impl Folded {
    /// Nothing, in a folder that may be of an earlier version.
    pub(crate) const NOTHING: Self = Self::Former { segment: 0, offset: 0 };

    /// The number of the line.
    pub(crate) fn line(self) -> u64 {
        if let Self::Line(n) = self { n } else { 0 }
    }

    pub(crate) fn is_in_range(&self) -> bool {
        match self {
            Self::Line(n) => *n < MAX_NUMBER,
            Self::Former { segment, offset } => *segment < MAX_NUMBER && *offset < MAX_NUMBER,
        }
    }
}

/// The usage of earlier versions that is not in the usage file.
#[derive(Debug, Default)]
pub(in crate::store) struct Former {
    /// What the playbook file has already, for the receipts.
    pub(super) counted: Vec<Event>,
    pub(super) events: Vec<Event>,
    n_unreadable: usize,
    names: Vec<String>,
}

/// True for a file of usage, also of an earlier version.
pub(crate) fn is_usage(name: &str) -> bool {
    name.starts_with("usage.") || name.starts_with("spilled-")
}

/// The number of a file with lines; the largest one for lines that no commit had seen.
fn segment_of(name: &str) -> Option<u64> {
    let segment = name.strip_prefix("usage.").and_then(|name| name.strip_suffix(".jsonl"))?;
    segment.parse().ok().filter(|segment| *segment < MAX_NUMBER)
}

impl Former {
    /// None if the playbook file is not of an earlier version, or there is no such file.
    pub(in crate::store) fn read(
        files: &Directory,
        folded: Folded,
        now: DateTime<FixedOffset>,
    ) -> Result<Option<Self>> {
        let Folded::Former { segment, offset } = folded else { return Ok(None) };
        let names = files.list(Name::TOP)?.into_iter().filter_map(|name| name.into_string().ok());
        let names: Vec<String> = names.filter(|name| is_usage(name) && name != USAGE).collect();
        if names.is_empty() {
            return Ok(None);
        }
        let moved = files.read_in_place(USAGE, 0)?;
        let moved = file::lines(&moved).filter_map(file::read_line).map(|(_, event)| text(&event)).collect();
        let mut former = Self::default();
        let mut segments: Vec<(u64, &String)> =
            names.iter().filter_map(|name| Some((segment_of(name)?, name))).collect();
        segments.sort_unstable();
        for (number, name) in segments {
            let counted = if number == segment {
                offset
            } else if number < segment {
                u64::MAX
            } else {
                0
            };
            former.add(&files.read_in_place(Name::from(name.clone()), 0)?, counted, &moved);
        }
        for name in names.iter().filter(|name| name.ends_with(".usage")) {
            former.add(&files.read_in_place(Name::from(name.clone()), 0)?, 0, &moved);
        }
        former.counted.retain(|event| !is_over(event.at(), now));
        Ok(Some(Self { names, ..former }))
    }

    /// Adds the lines of a file; those before `counted` are in the playbook file.
    fn add(&mut self, bytes: &[u8], counted: u64, moved: &BTreeSet<String>) {
        let mut at = 0;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (begins, whole) = (at, line.strip_suffix(b"\n"));
            at += line.len() as u64;
            let Some(line) = whole.filter(|line| !line.is_empty()) else { continue };
            match serde_json::from_slice(line).ok().filter(|_| checksum::check_line(line) != Seal::Broken) {
                Some(event) if moved.contains(&text(&event)) => {}
                Some(event) if begins < counted => self.counted.push(event),
                Some(event) => self.events.push(event),
                None => self.n_unreadable += 1,
            }
        }
    }
}

fn text(event: &Event) -> String {
    serde_json::json!(event).to_string()
}

impl Store {
    /// Moves the usage of earlier versions to the usage file. The caller holds the lock. If the process dies, the next writer moves the
    /// rest.
    pub(in crate::store) fn adopt_former_usage(&self, snapshot: Snapshot) -> Result<Snapshot> {
        let Some(former) = Former::read(self.files(), snapshot.committed.usage, self.clock.now())? else {
            return Ok(snapshot);
        };
        self.usage_file().append(0, &former.counted, &former.events)?;
        self.files().sync(USAGE)?;
        self.files().sync_directory(Name::TOP)?;
        if former.n_unreadable > 0 {
            tracing::warn!(lines = former.n_unreadable, "usage of an earlier version could not be read and is lost");
        }
        for name in former.names.into_iter().map(Name::from) {
            if name.as_path().extension().is_some_and(|extension| extension == "receipts") {
                self.receipt_file().append(&self.files().read_in_place(&name, 0)?)?;
            }
            self.files().remove_if_exists(&name)?;
        }
        self.with_usage(Snapshot { is_provisional: false, ..snapshot })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::{ReceiptId, TextHash};
    use crate::testing::at;

    fn shown(seconds: i64) -> Event {
        let receipt = ReceiptId::at(at(seconds), TextHash::of(&["receipt"]));
        Event::Shown { receipt, shown: Vec::new(), at: at(seconds) }
    }

    /// A line with newlines on both sides, as earlier versions wrote it.
    fn line(seconds: i64) -> Vec<u8> {
        format!("\n{}\n", checksum::seal_line(&text(&shown(seconds)))).into_bytes()
    }

    #[test]
    fn lines_of_all_files_are_found_in_their_order_and_once() {
        let folder = tempfile::tempdir().unwrap();
        let files = Directory::real(folder.path());
        let read = |folded, now| Former::read(&files, folded, now).unwrap();
        let folded = Folded::Former { segment: 9, offset: line(3).len() as u64 };
        assert!(read(folded, at(9)).is_none());
        for (name, bytes) in [
            ("usage.0.jsonl", [line(1), line(2)].concat()),
            ("usage.9.jsonl", [line(3), b"damaged\n".to_vec(), line(4), b"{\"torn".to_vec()].concat()),
            ("usage.10.jsonl", line(5)),
            ("spilled-x.usage", line(6)),
            ("spilled-x.receipts", line(7)),
            ("usage.9.extents", line(8)),
        ] {
            files.create(Name::from(name.to_owned()), &bytes).unwrap();
        }
        let former = read(folded, at(9)).unwrap();
        assert_eq!((former.counted, former.events), ([1, 2, 3].map(shown).to_vec(), [4, 5, 6].map(shown).to_vec()));
        assert_eq!((former.n_unreadable, former.names.len()), (1, 6));
        assert!(read(Folded::Line(7), at(9)).is_none());
        // What a process moved before it died is not moved again; receipts that are over are dropped.
        files.create(USAGE, &[shown(1).line(0), shown(4).line(1)].concat()).unwrap();
        let former = read(folded, at(2) + chrono::TimeDelta::days(7)).unwrap();
        assert_eq!((former.counted, former.events), ([2, 3].map(shown).to_vec(), [5, 6].map(shown).to_vec()));
    }
}
