//! The files of a folder that can be sessions, and one of them read.

use std::fs::{self, File, Metadata};
use std::path::{Path, PathBuf};

use adage_transcript::{Format, ReadLimits, Reading, TranscriptReader};
use chrono::{DateTime, FixedOffset, Utc};

use crate::config::SessionsConfig;
use crate::error::{Error, Result};

/// Entries of a folder and those below it that are looked at.
const MAX_ENTRIES: usize = 200_000;

/// A file that is in no index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Which.
    pub path: PathBuf,
    /// Why.
    pub reason: LeftOutReason,
}

/// Why a file is in no index.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LeftOutReason {
    /// Links are not followed: they could lead anywhere.
    #[error("a symbolic link")]
    Link,
    /// The folder is too far down.
    #[error("more than {max} folders down")]
    TooDeep {
        /// How far down is looked.
        max: usize,
    },
    /// The file is too large.
    #[error("{n_bytes} bytes, at most {max} are read")]
    TooLarge {
        /// Its length.
        n_bytes: u64,
        /// The largest that is read.
        max: u64,
    },
    /// There are too many files; this folder and others were not looked into.
    #[error("past the first {max} entries")]
    TooMany {
        /// How many are looked at.
        max: usize,
    },
    /// It could not be read.
    #[error("{0}")]
    Unreadable(String),
    /// It is no session.
    #[error("no session: {0}")]
    NoSession(String),
}

/// A file that can be a session.
pub(super) struct SessionFile {
    pub(super) path: PathBuf,
    pub(super) n_bytes: u64,
    pub(super) modified: DateTime<FixedOffset>,
}

impl SessionFile {
    /// A file by its name; an error where it is not there, or is no plain file.
    pub(super) fn look(path: &Path) -> std::io::Result<Self> {
        let metadata = fs::symlink_metadata(path)?;
        if metadata.is_file() { Self::of(path, &metadata) } else { Err(std::io::Error::other("not a plain file")) }
    }

    fn of(path: &Path, metadata: &Metadata) -> std::io::Result<Self> {
        let modified = DateTime::<Utc>::from(metadata.modified()?).fixed_offset();
        Ok(Self { path: path.to_owned(), n_bytes: metadata.len(), modified })
    }

    /// The session in it.
    pub(super) fn read(&self, config: &SessionsConfig) -> Result<Reading> {
        let file = File::open(&self.path).map_err(Error::io("read", &self.path))?;
        let limits = ReadLimits { max_source_bytes: config.max_file_bytes, ..ReadLimits::default() };
        Ok(TranscriptReader::new().with_limits(limits).read(file, Format::Auto)?)
    }
}

/// The `*.jsonl` and `*.json` files of a folder and those below it, by path; and what was left out. Links are not followed.
pub(super) fn files(folder: &Path, config: &SessionsConfig) -> Result<(Vec<SessionFile>, Vec<LeftOut>)> {
    let (mut files, mut left_out) = (Vec::new(), Vec::new());
    let mut leave = |path: &Path, reason| left_out.push(LeftOut { path: path.to_owned(), reason });
    let mut open = vec![(folder.to_owned(), 0)];
    let mut n_entries = 0;
    while let Some((path, depth)) = open.pop() {
        if n_entries >= MAX_ENTRIES {
            leave(&path, LeftOutReason::TooMany { max: MAX_ENTRIES });
            continue;
        }
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            // The folder that was named has to be there; one below it may be somebody else's.
            Err(error) if depth == 0 => return Err(Error::io("look into", &path)(error)),
            Err(error) => {
                leave(&path, LeftOutReason::Unreadable(error.to_string()));
                continue;
            }
        };
        for entry in entries.flatten() {
            n_entries += 1;
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            let is_named = path.extension().is_some_and(|end| end == "jsonl" || end == "json");
            if kind.is_dir() && depth < config.max_depth {
                open.push((path, depth + 1));
            } else if kind.is_dir() {
                leave(&path, LeftOutReason::TooDeep { max: config.max_depth });
            } else if kind.is_symlink() {
                leave(&path, LeftOutReason::Link);
            } else if kind.is_file() && is_named {
                match SessionFile::look(&path) {
                    Ok(file) if file.n_bytes > config.max_file_bytes => {
                        let (n_bytes, max) = (file.n_bytes, config.max_file_bytes);
                        leave(&path, LeftOutReason::TooLarge { n_bytes, max });
                    }
                    Ok(file) => files.push(file),
                    Err(error) => leave(&path, LeftOutReason::Unreadable(error.to_string())),
                }
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    left_out.sort_by(|a, b| a.path.cmp(&b.path));
    Ok((files, left_out))
}
