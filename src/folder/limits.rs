//! The longest file that is read, by its name (docs/spec/folder-format.md, 1): a file of a folder may be of any length, also
//! one that takes no space on the disk.

use std::path::Path;

use super::QUARANTINE;
use super::edits::JOURNALS;

/// What the files of a memory of documents may have at most, each: such a folder has no settings.
pub(crate) const MAX_OF_DOCUMENTS: u64 = 64 << 30;
/// States of the program, each with a limited number of rows, and the files of skills.
const MAX_OF_STATE: u64 = 64 << 20;
/// Files of a line or two.
const MAX_OF_SMALL: u64 = 1 << 20;

/// The bytes that are read of a file at most, if a playbook file may have `max_file`.
pub(super) fn max_bytes(path: &Path, max_file: u64) -> u64 {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_below = |folder: &str| path.parent().is_some_and(|parent| parent.ends_with(folder));
    match name.as_ref() {
        "id" | ".gitignore" | ".gitattributes" | "config.toml" | "config.json" => MAX_OF_SMALL.min(max_file),
        // The journals of changes, and what could not be read, contain whole files.
        _ if is_below(QUARANTINE) || is_below(JOURNALS) => max_file.saturating_mul(4),
        // Longer than the playbook by what they hold: earlier texts, and numbers for each word and vector.
        "archive.jsonl" | "receipts.jsonl" | "vectors.bin" => max_file.saturating_mul(4),
        "mining.json" | "skills.json" => MAX_OF_STATE.min(max_file),
        name if name.starts_with("usage.") || has_ending(path, &["md", "patch", "usage"]) => MAX_OF_STATE.min(max_file),
        _ => max_file,
    }
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    path.extension().is_some_and(|ending| endings.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests make and remove files by themselves")]
mod tests {
    use super::*;
    use crate::error::folder::FolderError;
    use crate::folder::Directory;

    /// Files that take no space on the disk: each is refused, and names both sides.
    #[test]
    fn a_file_longer_than_its_limit_is_neither_read_nor_mapped() {
        let folder = tempfile::tempdir().unwrap();
        let files = Directory::real(folder.path());
        let names = [
            "skills_playbook.json",
            "skills_playbook.json.bak",
            "playbook.log",
            "archive.jsonl",
            "receipts.jsonl",
            "vectors.bin",
            "mining.json",
            "skills.json",
            "usage.jsonl",
            "usage.0.jsonl",
            "spilled-x.usage",
            "id",
            ".gitignore",
            "config.toml",
            "NOTES.md",
            "extraction.patch",
            "unknown",
            "edits/x.done",
            "quarantine/x.json",
        ];
        for sub in ["edits", "quarantine"] {
            std::fs::create_dir(folder.path().join(sub)).unwrap();
        }
        for name in names {
            let path = folder.path().join(name);
            let limit = max_bytes(&path, crate::config::MAX_FILE);
            assert!(limit <= 2 << 30, "{name}: {limit}");
            std::fs::File::create(&path).unwrap().set_len(limit + 7).unwrap();
            let refused: [(&str, Option<FolderError>); 4] = [
                ("read", files.read_or_empty(name, 0).err()),
                ("read a part", files.read_or_empty(name, 6).err()),
                ("content", files.content(name).err()),
                ("map", files.map(name).err()),
            ];
            for (how, error) in refused {
                let Some(FolderError::TooLarge { path: in_error, size, limit: limit_in_error }) = error else {
                    panic!("{name}: {how}: {error:?}")
                };
                let from = if how == "read a part" { 6 } else { 0 };
                assert_eq!((in_error, size, limit_in_error), (path.clone(), limit + 7 - from, limit), "{how}");
            }
            assert_eq!(
                files.read_or_empty(name, limit).unwrap(),
                [0; 7],
                "{name}: what follows a known part counts alone"
            );
            std::fs::remove_file(path).unwrap();
        }
    }
}
