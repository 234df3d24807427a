//! Lists the files of a folder that may be sessions, and reads one.

use std::fs::{self, File};
use std::io::{self, Read, Take};
use std::path::{Path, PathBuf};

use adage::extend::open_plain;
use adage::{FolderError, Result};
use adage_transcript::{Format, ReadLimits, Reading, TranscriptReader};
use chrono::{DateTime, FixedOffset, Utc};
use flate2::read::MultiGzDecoder;
use serde::Serialize;
use walkdir::{DirEntry, WalkDir};

use crate::place::{is_beside_sessions, source_of_found, source_of_named};

/// The maximum number of directory entries that are examined, in a folder and all folders below it.
const MAX_ENTRIES: usize = 200_000;

/// Maximum depth of folders below the named one; chosen.
const MAX_DEPTH: usize = 8;
/// Maximum size of a session file, in bytes; a larger one is reported as left out; chosen.
pub(super) const MAX_FILE_BYTES: u64 = 256 << 20;

/// A file that is not in the index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LeftOut {
    /// The path.
    #[serde(serialize_with = "adage::extend::path_text::shown")]
    pub path: PathBuf,
    /// The reason.
    pub reason: LeftOutReason,
}

/// Why a file is not in the index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LeftOutReason {
    /// Links are not followed: they could lead outside the folder.
    #[error("a symbolic link")]
    Link,
    /// An agent keeps the file beside its sessions: a result of a tool, a sub-agent's session, notes.
    #[error("kept beside the sessions, not one of them")]
    BesideSessions,
    /// The folder is nested too deeply.
    #[error("more than {max} folders down")]
    TooDeep {
        /// The maximum depth.
        max: usize,
    },
    /// The file is too large.
    #[error("{n_bytes} bytes, at most {max} are read")]
    TooLarge {
        /// Its length in bytes.
        n_bytes: u64,
        /// The maximum length in bytes.
        max: u64,
    },
    /// The file is compressed, and too large when decompressed.
    #[error("more than {max} bytes when decompressed")]
    TooLargeDecompressed {
        /// The maximum length in bytes.
        max: u64,
    },
    /// There are too many entries; this one and those after it were not examined.
    #[error("past the first {max} entries")]
    TooMany {
        /// The maximum number of entries.
        max: usize,
    },
    /// The file could not be read.
    #[error("{0}")]
    Unreadable(String),
    /// The file is not a session.
    #[error("not a session: {0}")]
    NoSession(String),
}

/// The session files of a folder, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SessionFiles {
    /// Files whose name and size may be those of a session.
    pub files: Vec<SessionFile>,
    /// Links, files that are too large, folders that are nested too deeply, and entries that cannot be read. Files with other
    /// names are not listed.
    pub left_out: Vec<LeftOut>,
}

/// A file that may be a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SessionFile {
    /// Its path.
    #[serde(serialize_with = "adage::extend::path_text::shown")]
    pub path: PathBuf,
    /// Its length on disk.
    pub n_bytes: u64,
    /// When it was last written to.
    pub modified: DateTime<FixedOffset>,
}

/// Lists the session files of a folder and of the folders below it. Their names end in `.jsonl`, `.json`, `.jsonl.gz` or
/// `.json.gz`, in any case. Links below the folder are not followed, and what agents keep beside their sessions is left out.
/// Folders deeper than 8 and files over 256 MiB are left out. The paths have no links.
///
/// # Errors
/// [`FolderError::Io`] when the folder cannot be read.
pub fn files(folder: &Path) -> Result<SessionFiles, FolderError> {
    let folder = &folder.canonicalize().map_err(FolderError::io("look into", folder))?;
    fs::read_dir(folder).map_err(FolderError::io("look into", folder))?;
    let mut found = SessionFiles::default();
    // One level more than is read, to report the folders that are not read.
    let walk = WalkDir::new(folder).min_depth(1).max_depth(MAX_DEPTH + 1).sort_by_file_name();
    for (n, entry) in walk.into_iter().enumerate() {
        match entry {
            Ok(entry) if n >= MAX_ENTRIES => {
                found.leave_out(entry.path(), LeftOutReason::TooMany { max: MAX_ENTRIES });
                break;
            }
            Ok(entry) => found.add_entry(&entry, folder),
            Err(error) => {
                let reason = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
                found.leave_out(error.path().unwrap_or(folder), LeftOutReason::Unreadable(reason));
            }
        }
    }
    found.files.sort_by(|a, b| a.path.cmp(&b.path));
    found.left_out.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Opens a session file; a file whose name ends in `.gz` is decompressed. Reading ends where the file ended when it was opened: some
/// files of the system have no length, and reading them waits for what comes. The decompressed text has no limit: set
/// [`ReadLimits::max_source_bytes`] against files that decompress to too much.
///
/// # Errors
/// Those of opening a file; [`InvalidInput`](io::ErrorKind::InvalidInput) for a pipe, a device or a folder, which may never end.
pub fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    // Before it is opened: that of a pipe waits for its other end.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok(decompressed(path, bounded(File::open(path)?)?))
}

/// The bytes that a file has now.
fn bounded(file: File) -> io::Result<Take<File>> {
    let n_bytes = file.metadata()?.len();
    Ok(file.take(n_bytes))
}

fn decompressed(path: &Path, file: Take<File>) -> Box<dyn Read> {
    let is_compressed = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
    if is_compressed {
        Box::new(ToleratesTruncation { source: MultiGzDecoder::new(file), has_begun: false })
    } else {
        Box::new(file)
    }
}

/// A compressed file that was truncated is read up to where it was cut. If nothing of it can be read, that is an error.
struct ToleratesTruncation<R> {
    source: R,
    has_begun: bool,
}

impl<R: Read> Read for ToleratesTruncation<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.source.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && self.has_begun => Ok(0),
            read => {
                self.has_begun |= matches!(read, Ok(1..));
                read
            }
        }
    }
}

impl SessionFiles {
    fn add_entry(&mut self, entry: &DirEntry, folder: &Path) {
        let (kind, path) = (entry.file_type(), entry.path());
        if kind.is_symlink() {
            self.leave_out(path, LeftOutReason::Link);
        } else if kind.is_dir() && entry.depth() > MAX_DEPTH {
            self.leave_out(path, LeftOutReason::TooDeep { max: MAX_DEPTH });
        } else if kind.is_file() && has_session_name(path) && is_beside_sessions(path, folder) {
            self.leave_out(path, LeftOutReason::BesideSessions);
        } else if kind.is_file() && has_session_name(path) {
            match SessionFile::look(path) {
                Ok(SessionFile { n_bytes, .. }) if n_bytes > MAX_FILE_BYTES => {
                    self.leave_out(path, LeftOutReason::TooLarge { n_bytes, max: MAX_FILE_BYTES });
                }
                Ok(file) => self.files.push(file),
                Err(error) => self.leave_out(path, LeftOutReason::Unreadable(error.to_string())),
            }
        }
    }

    fn leave_out(&mut self, path: &Path, reason: LeftOutReason) {
        self.left_out.push(LeftOut { path: path.to_owned(), reason });
    }
}

impl SessionFile {
    /// The file at a path, which has no links: one that [`files`] or an index named.
    ///
    /// # Errors
    /// Those of looking at it; an error if it is not a regular file.
    pub fn look(path: &Path) -> io::Result<Self> {
        let metadata = fs::symlink_metadata(path)?;
        if !metadata.is_file() {
            return Err(io::Error::other("not a plain file"));
        }
        let modified = DateTime::<Utc>::from(metadata.modified()?).fixed_offset();
        Ok(Self { path: path.to_owned(), n_bytes: metadata.len(), modified })
    }

    /// Reads the session in this format, or in the one that it has. The text in it is a person's only if it is an agent's own format
    /// in its own place; see [`Source`](adage_transcript::Source). A format that is named is the right one.
    ///
    /// # Errors
    /// [`FolderError::Io`] if the file cannot be read, or is behind a link by now; of the kind [`io::ErrorKind::FileTooLarge`] if
    /// it decompresses to more than 256 MiB.
    pub fn read(&self, format: Format) -> Result<Reading> {
        let max = MAX_FILE_BYTES;
        // One byte more than the limit shows that there is more.
        let limits = ReadLimits { max_source_bytes: max.saturating_add(1), ..ReadLimits::default() };
        let opened = open_plain(&self.path).and_then(bounded).map_err(FolderError::io("read", &self.path))?;
        let source = decompressed(&self.path, opened);
        let mut reading = TranscriptReader::new().with_limits(limits).read(source, format)?;
        let source_of = if format == Format::Auto { source_of_found } else { source_of_named };
        reading.transcript.source = source_of(&self.path, reading.report.format);
        if reading.report.n_bytes > max {
            let reason = LeftOutReason::TooLargeDecompressed { max };
            return Err(FolderError::io("read", &self.path)(io::Error::new(io::ErrorKind::FileTooLarge, reason)).into());
        }
        Ok(reading)
    }
}

fn has_session_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let ends = [".jsonl", ".json", ".jsonl.gz", ".json.gz"];
    ends.iter().any(|end| name.strip_suffix(end).is_some_and(|stem| !stem.is_empty()))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the sessions are written by the test")]
mod tests {
    use super::*;

    #[test]
    fn names_decide_which_files_can_be_sessions() {
        #[track_caller]
        fn check(name: &str, expected: bool) {
            assert_eq!(has_session_name(Path::new(name)), expected, "{name}");
        }
        for taken in
            ["a.jsonl", "a.json", "A.JSONL", "a.Json", "a.jsonl.gz", "a.json.GZ", "A.JSONL.GZ", "a.b.json", "d/é.json"]
        {
            check(taken, true);
        }
        for not_taken in [
            "a.gz",
            "a.md",
            "a.md.gz",
            "json",
            "gz",
            ".json",
            ".json.gz",
            "a.json.zst",
            "a.jsonl.gz.gz",
            "a.jsonl~",
            "a.json/b",
        ] {
            check(not_taken, false);
        }
    }

    #[test]
    fn a_folder_is_read_in_order_and_past_its_depth_reported() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let (last, deep) = ("1/2/3/4/5/6/7/8", "1/2/3/4/5/6/7/8/9");
        fs::create_dir_all(root.join(deep)).unwrap();
        for name in ["z.json", "1/b.JSONL", &format!("{last}/c.jsonl.gz"), "1/a.md", &format!("{deep}/d.json")] {
            fs::write(root.join(name), "{}").unwrap();
        }
        let found = files(root).unwrap();
        let names: Vec<&Path> = found.files.iter().map(|file| file.path.strip_prefix(root).unwrap()).collect();
        assert_eq!(names, ["1/2/3/4/5/6/7/8/c.jsonl.gz", "1/b.JSONL", "z.json"].map(Path::new));
        let deep = LeftOut { path: root.join(deep), reason: LeftOutReason::TooDeep { max: MAX_DEPTH } };
        assert_eq!(found.left_out, [deep]);
        assert!(matches!(files(&root.join("z.json")), Err(FolderError::Io { .. })), "a file is not a folder");
    }

    #[test]
    fn a_cut_file_is_read_as_far_as_it_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl.gz");
        let rows: Vec<String> = (0..2_000).map(|n| format!("{{\"row\": {}}}", n * 7_919 % 104_729)).collect();
        let lines = rows.join("\n");
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        io::Write::write_all(&mut encoder, lines.as_bytes()).unwrap();
        let whole = encoder.finish().unwrap();
        for n_bytes in [whole.len() / 2, whole.len() - 4] {
            fs::write(&path, &whole[..n_bytes]).unwrap();
            let mut read = String::new();
            open(&path).unwrap().read_to_string(&mut read).unwrap();
            assert!(lines.starts_with(&read) && read.len() > lines.len() / 4, "{} of {}", read.len(), lines.len());
        }
        fs::write(&path, "a file that nobody compressed, whatever its name").unwrap();
        assert!(open(&path).unwrap().read_to_string(&mut String::new()).is_err(), "what is not compressed is an error");
    }
}
