//! The usage of earlier versions: files `usage.<n>.jsonl`, of which the playbook file names a place, and `spilled-*`. Where there is no
//! usage file yet, their lines are its content; the first writer moves them there.

use serde::{Deserialize, Serialize};

use super::event::Event;
use super::file::{LOCK, USAGE};
use crate::error::folder::Result;
use crate::folder::{Directory, Name};
use crate::store::checksum::{self, Seal};
use crate::store::{FolderStore, is_missing};

/// How far the usage is folded into the lessons of a playbook file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Folded {
    /// Up to the line of this number.
    Line(u64),
    /// Up to a place in the files of earlier versions.
    Former { segment: u64, offset: u64 },
}

impl Default for Folded {
    fn default() -> Self {
        Self::Line(0)
    }
}

impl Folded {
    /// The number of the line.
    pub(crate) fn line(self) -> u64 {
        if let Self::Line(n) = self { n } else { 0 }
    }
}

/// True for a file of usage, also of an earlier version.
pub(crate) fn is_usage(name: &str) -> bool {
    name.starts_with("usage.") || name.starts_with("spilled-")
}

/// The files of earlier versions.
fn names(files: &Directory) -> Result<Vec<String>> {
    let names = files.list(Name::TOP)?.into_iter().filter_map(|name| name.into_string().ok());
    Ok(names.filter(|name| is_usage(name) && ![USAGE, LOCK].contains(&name.as_str())).collect())
}

/// True if there are files of earlier versions that are not moved yet.
pub(super) fn is_present(files: &Directory, folded: Folded) -> Result<bool> {
    Ok(matches!(folded, Folded::Former { .. }) && !names(files)?.is_empty())
}

/// Their lines as those of a usage file. Lines that are folded in have the number 0.
pub(super) fn lines(files: &Directory, segment: u64, offset: u64) -> Result<Vec<u8>> {
    let number_of = |name: &String| match name.strip_prefix("usage.") {
        Some(name) => name.strip_suffix(".jsonl")?.parse().ok(),
        // No commit has seen these lines.
        None => name.strip_suffix(".usage").map(|_| u64::MAX),
    };
    let mut names: Vec<(u64, String)> =
        names(files)?.into_iter().filter_map(|name| Some((number_of(&name)?, name))).collect();
    names.sort_unstable();
    let (mut n, mut lines) = (0, Vec::new());
    for (number, name) in names {
        let (bytes, mut at) = (files.read_in_place(Name::from(name), 0)?, 0);
        for line in bytes.split(|byte| *byte == b'\n') {
            let event: Option<Event> = serde_json::from_slice(line).ok();
            lines.extend(match event.filter(|_| checksum::check_line(line) != Seal::Broken) {
                Some(event) if (number, at) < (segment, offset) => event.line(0),
                Some(event) => {
                    n += 1;
                    event.line(n)
                }
                // A check reports it.
                None => [line, b"\n"].concat(),
            });
            at += line.len() as u64 + 1;
        }
    }
    Ok(lines)
}

impl FolderStore {
    /// Moves the usage of earlier versions to the usage file. The caller holds the lock of usage.
    pub(in crate::store) fn move_former_usage(&self, folded: Folded) -> Result<()> {
        let (files, Folded::Former { segment, offset }) = (self.files(), folded) else { return Ok(()) };
        let names = names(files)?;
        if !names.is_empty() && is_missing(files, USAGE)? {
            let temporary = self.folder.write_temporary("usage", &lines(files, segment, offset)?)?;
            files.rename(temporary, USAGE)?;
            files.sync_directory(Name::TOP)?;
        }
        for name in names.into_iter().map(Name::from) {
            if name.as_path().extension().is_some_and(|extension| extension == "receipts") {
                self.receipt_file().append(&files.read_in_place(&name, 0)?)?;
            }
            files.remove_if_exists(&name)?;
        }
        Ok(())
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
        format!("\n{}\n", checksum::seal_line(&serde_json::json!(shown(seconds)).to_string())).into_bytes()
    }

    #[test]
    fn lines_of_all_files_are_numbered_in_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let files = Directory::real(folder.path());
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
        let found = lines(&files, 9, line(3).len() as u64).unwrap();
        let found: Vec<_> = super::super::file::lines(&found).map(super::super::file::read_line).collect();
        let of = |n, seconds| Some((n, shown(seconds)));
        assert_eq!(found, [of(0, 1), of(0, 2), of(0, 3), None, of(1, 4), None, of(2, 5), of(3, 6)]);
    }
}
