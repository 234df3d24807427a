//! The supporting files of a skill: scripts, references, assets. An agent runs and reads them, so a promotion of the skill
//! covers their names and bytes.

use std::path::{Path, PathBuf};

use adage_redact::path_line;
use serde::Serialize;

use crate::error::folder::{FolderError, Result};
use crate::folder::{Directory, Entry, Name};
use crate::hash::TextHash;

/// The maximum number of supporting files of a skill.
const MAX_FILES: usize = 1_000;
/// The maximum of their total size in bytes.
const MAX_BYTES: u64 = 16 << 20;
/// The maximum depth of folders.
const MAX_DEPTH: usize = 16;

/// A supporting file of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SkillFile {
    /// Its path relative to the skill's folder.
    #[serde(serialize_with = "crate::path_text::shown")]
    pub path: PathBuf,
    /// Its length in bytes.
    pub n_bytes: u64,
    /// The hash of its bytes.
    pub hash: TextHash,
}

/// Why the supporting files of a skill cannot be promoted or imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NotCovered {
    /// One is neither a regular file nor a folder. The target of a link can change unnoticed.
    #[error("{} is a link or not a plain file", path_line(path))]
    NotAFile {
        /// The path relative to the skill's folder.
        #[serde(serialize_with = "crate::path_text::shown")]
        path: PathBuf,
    },
    /// There are too many files.
    #[error("more than {max} files")]
    TooMany {
        /// The maximum number.
        max: usize,
    },
    /// The files are too large.
    #[error("more than {max} bytes in all files")]
    TooLarge {
        /// The maximum total size in bytes.
        max: u64,
    },
    /// The folders are nested too deeply.
    #[error("{} is below more than {max} folders", path_line(path))]
    TooDeep {
        /// The path relative to the skill's folder.
        #[serde(serialize_with = "crate::path_text::shown")]
        path: PathBuf,
        /// The maximum depth of folders.
        max: usize,
    },
    /// One could not be read.
    #[error("{0}")]
    Unreadable(String),
}

/// The supporting files of a skill.
#[derive(Debug, Default)]
pub(crate) struct SupportingFiles {
    /// In the order of their paths, as far as they could be read.
    pub(crate) files: Vec<SkillFile>,
    pub(crate) not_covered: Option<NotCovered>,
}

impl SupportingFiles {
    /// Everything in a skill's folder except the skill's own file.
    pub(crate) fn scan(folder: &Directory, skill_file: &Name) -> Self {
        let mut scan = Scan { folder, skill_file, files: Vec::new(), n_bytes: 0 };
        let not_covered = scan.folder(&Name::TOP, 0).err();
        let mut files = scan.files;
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Self { files, not_covered }
    }

    /// The hash of a skill with these files; without files, that of the skill alone.
    pub(crate) fn hash_with(&self, skill: TextHash) -> TextHash {
        if self.files.is_empty() && self.not_covered.is_none() {
            return skill;
        }
        let mut parts = vec![skill.to_string().into_bytes()];
        for file in &self.files {
            parts.push(file.path.as_os_str().as_encoded_bytes().to_vec());
            parts.push(file.hash.as_bytes().to_vec());
        }
        parts.extend(self.not_covered.iter().map(|reason| reason.to_string().into_bytes()));
        TextHash::of(&parts)
    }

    /// The bytes of each file.
    ///
    /// # Errors
    /// `Io`, also when a file no longer has its hash.
    pub(crate) fn contents(&self, folder: &Directory) -> Result<Vec<(Name, Vec<u8>)>> {
        let read = |file: &SkillFile| {
            let name = Name::TOP.join(&file.path);
            let bytes = folder.content(&name)?.unwrap_or_default();
            if TextHash::of(&[&bytes]) == file.hash {
                return Ok((name, bytes));
            }
            let changed = std::io::Error::other("it changed while it was read");
            Err(FolderError::io("read", &folder.path_of(&name))(changed))
        };
        self.files.iter().map(read).collect()
    }
}

struct Scan<'a> {
    folder: &'a Directory,
    skill_file: &'a Name,
    files: Vec<SkillFile>,
    n_bytes: u64,
}

impl Scan<'_> {
    fn folder(&mut self, folder: &Name, depth: usize) -> Result<(), NotCovered> {
        if depth > MAX_DEPTH {
            return Err(NotCovered::TooDeep { path: folder.as_path().to_owned(), max: MAX_DEPTH });
        }
        for name in self.folder.list(folder)? {
            let name = folder.join(name);
            if name == *self.skill_file {
                continue;
            }
            match self.folder.entry(&name)? {
                Entry::Folder => self.folder(&name, depth + 1)?,
                Entry::File { .. } => self.file(&name)?,
                Entry::Missing => {}
                Entry::Link | Entry::Other => {
                    return Err(NotCovered::NotAFile { path: name.as_path().to_owned() });
                }
            }
        }
        Ok(())
    }

    fn file(&mut self, name: &Name) -> Result<(), NotCovered> {
        if self.files.len() == MAX_FILES {
            return Err(NotCovered::TooMany { max: MAX_FILES });
        }
        let stamp = self.folder.own_stamp(name)?;
        self.n_bytes = self.n_bytes.saturating_add(stamp.map_or(0, |stamp| stamp.length));
        if self.n_bytes > MAX_BYTES {
            return Err(NotCovered::TooLarge { max: MAX_BYTES });
        }
        let bytes = self.folder.content(name)?.unwrap_or_default();
        let path: &Path = name.as_path();
        self.files.push(SkillFile {
            path: path.to_owned(),
            n_bytes: bytes.len() as u64,
            hash: TextHash::of(&[&bytes]),
        });
        Ok(())
    }
}

impl From<FolderError> for NotCovered {
    fn from(error: FolderError) -> Self {
        Self::Unreadable(crate::error::with_causes(&error))
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests write files by themselves")]
mod tests {
    use std::fs;

    use super::*;

    fn scan(folder: &Path) -> SupportingFiles {
        SupportingFiles::scan(&Directory::real(folder), &"SKILL.md".into())
    }

    #[test]
    fn every_name_and_every_byte_is_in_the_hash() {
        let temp = tempfile::tempdir().unwrap();
        let skill = TextHash::of(&["skill"]);
        fs::write(temp.path().join("SKILL.md"), "text").unwrap();
        assert_eq!(scan(temp.path()).hash_with(skill), skill);
        let mut hashes = vec![skill];
        fs::create_dir_all(temp.path().join("scripts")).unwrap();
        for (path, text) in [("scripts/run.sh", ""), ("scripts/run.sh", "a"), ("scripts/.env", ""), ("a", "a")] {
            fs::write(temp.path().join(path), text).unwrap();
            let found = scan(temp.path()).hash_with(skill);
            assert!(!hashes.contains(&found), "{path}");
            hashes.push(found);
        }
        let paths: Vec<PathBuf> = scan(temp.path()).files.into_iter().map(|file| file.path).collect();
        assert_eq!(paths, ["a", "scripts/.env", "scripts/run.sh"].map(PathBuf::from));
    }

    #[test]
    fn files_that_cannot_be_covered_are_named() {
        let temp = tempfile::tempdir().unwrap();
        let deep = (0..=MAX_DEPTH).map(|n| n.to_string()).collect::<PathBuf>();
        fs::create_dir_all(temp.path().join("deep").join(&deep)).unwrap();
        assert!(matches!(scan(&temp.path().join("deep")).not_covered, Some(NotCovered::TooDeep { max: 16, .. })));
        fs::create_dir_all(temp.path().join("many")).unwrap();
        for n in 0..=MAX_FILES {
            fs::write(temp.path().join("many").join(n.to_string()), "").unwrap();
        }
        assert_eq!(scan(&temp.path().join("many")).not_covered, Some(NotCovered::TooMany { max: MAX_FILES }));
        fs::create_dir_all(temp.path().join("large")).unwrap();
        fs::File::create(temp.path().join("large/file")).unwrap().set_len(MAX_BYTES + 1).unwrap();
        assert_eq!(scan(&temp.path().join("large")).not_covered, Some(NotCovered::TooLarge { max: MAX_BYTES }));
    }
}
