//! Unified diffs of several files: parsed strictly, applied at exactly the stated lines.
//!
//! A diff library parses, applies, creates and merges hunks. It is called only after every byte was accounted for and every
//! hunk was found at its stated lines: by itself, it skips text between hunks and searches for another position.

mod recount;
mod scan;

use adage_redact::Redactor;
use diffy::Line;

use crate::patch_error::{Limit, PatchError};

pub(crate) use recount::recounted;

/// The maximum size of a patch in bytes.
pub(crate) const MAX_BYTES: usize = 1 << 20;
/// The maximum number of files in a patch.
const MAX_FILES: usize = 64;
/// The maximum number of hunks in a patch.
const MAX_HUNKS: usize = 1_000;
/// The maximum line number.
const MAX_LINE: usize = 10_000_000;
/// The maximum size of a file before and after a patch, in bytes.
pub(crate) const MAX_FILE_BYTES: usize = 1 << 20;

/// A unified diff of one or several files.
///
/// ```
/// use adage_review::Patch;
///
/// let patch = Patch::parse(b"--- /m/a.md\n+++ /m/a.md\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n")?;
/// assert_eq!(patch.files()[0].apply(Some(b"one\ntwo\n"))?, b"one\n2\n");
/// // One line further down the same lines do not count.
/// assert!(patch.files()[0].apply(Some(b"zero\none\ntwo\n")).is_err());
/// # Ok::<(), adage_review::PatchError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    files: Vec<FilePatch>,
}

/// The diff of one file. Whether the file may be changed is not decided here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePatch {
    /// The name after `---`; none for a new file.
    old: Option<String>,
    /// The name after `+++`.
    new: String,
    /// The line of the patch where the diff begins, counted from 1.
    line: usize,
    /// The line where its first hunk begins.
    first_hunk: usize,
    /// The text from its first hunk to its last.
    hunks: Vec<u8>,
}

impl Patch {
    /// Parses a patch of at most 1 MiB, 64 files and 1,000 hunks. It may contain only diffs with names and exact counts, and
    /// may only create and change files. Line ends are kept.
    ///
    /// # Errors
    /// Every [`PatchError`] that can be detected without the files.
    pub fn parse(text: &[u8]) -> Result<Self, PatchError> {
        let files = scan::files(text)?;
        for file in &files {
            file.diff()?;
        }
        Ok(Self { files })
    }

    /// The diffs, in order. A file may have several: each applies to the result of the one before.
    #[must_use]
    pub fn files(&self) -> &[FilePatch] {
        &self.files
    }

    pub(crate) fn of(files: Vec<FilePatch>) -> Self {
        Self { files }
    }

    /// The total numbers of added and removed lines.
    pub(crate) fn line_counts(&self) -> (usize, usize) {
        let counts = self.files.iter().map(FilePatch::line_counts);
        counts.fold((0, 0), |(added, removed), (n_added, n_removed)| (added + n_added, removed + n_removed))
    }

    /// The patch as text, without the header lines that git adds.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.files.iter().flat_map(FilePatch::to_bytes).collect()
    }
}

impl FilePatch {
    /// The name after `---`; none for a new file.
    #[must_use]
    pub fn old_name(&self) -> Option<&str> {
        self.old.as_deref()
    }

    /// The name after `+++`.
    #[must_use]
    pub fn new_name(&self) -> &str {
        &self.new
    }

    /// The line of the patch where the diff begins, counted from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// The content of the file after the diff; A base of `None` is a missing file. Every hunk must match at its
    /// stated line, and must show at least one line of context if the file keeps any lines.
    ///
    /// # Errors
    /// [`PatchError::Mismatch`] with both lines, [`PatchError::NoContext`], [`PatchError::NoNewlineInside`],
    /// [`PatchError::Exists`], [`PatchError::Missing`], [`PatchError::TooLarge`].
    pub fn apply(&self, base: Option<&[u8]>) -> Result<Vec<u8>, PatchError> {
        let base = match (&self.old, base) {
            (Some(_), Some(base)) => base,
            (None, None) => b"",
            (Some(_), None) => return Err(PatchError::Missing),
            (None, Some(base)) => return Err(PatchError::Exists { n_bytes: base.len() }),
        };
        check_size(base)?;
        let diff = self.diff()?;
        self.check_place(&diff, base)?;
        let after =
            diffy::apply_bytes(base, &diff).map_err(|error| PatchError::Engine { reason: error.to_string() })?;
        check_size(&after)?;
        Ok(after)
    }

    /// The diff from `before` to `after`; none if they are equal.
    pub(crate) fn between(name: &str, before: Option<&[u8]>, after: &[u8]) -> Option<Self> {
        if before == Some(after) || (before.is_none() && after.is_empty()) {
            return None;
        }
        let diff = diffy::create_patch_bytes(before.unwrap_or_default(), after).to_bytes();
        // The library's own header contains no file name.
        let header =
            diff.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).map_or(0, |(place, _)| place + 1);
        let hunks = diff.get(header..).unwrap_or_default().to_vec();
        let old = before.is_some().then(|| name.to_owned());
        Some(Self { old, new: name.to_owned(), line: 1, first_hunk: 3, hunks })
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let old = self.old.as_deref().unwrap_or("/dev/null");
        [format!("--- {old}\n+++ {}\n", self.new).as_bytes(), &self.hunks].concat()
    }

    /// The numbers of added and removed lines.
    fn line_counts(&self) -> (usize, usize) {
        let diff = self.diff();
        let lines = diff.iter().flat_map(|diff| diff.hunks()).flat_map(diffy::Hunk::lines);
        lines.fold((0, 0), |(added, removed), line| match line {
            Line::Insert(_) => (added + 1, removed),
            Line::Delete(_) => (added, removed + 1),
            Line::Context(_) => (added, removed),
        })
    }

    /// The same diff under another name of the file.
    pub(crate) fn named(mut self, name: &str) -> Self {
        self.old = self.old.map(|_| name.to_owned());
        name.clone_into(&mut self.new);
        self
    }

    fn diff(&self) -> Result<diffy::Patch<'_, [u8]>, PatchError> {
        diffy::Patch::from_bytes(&self.hunks).map_err(|error| PatchError::Engine { reason: error.to_string() })
    }

    /// Checks that every hunk matches the file at its stated line.
    fn check_place(&self, diff: &diffy::Patch<'_, [u8]>, base: &[u8]) -> Result<(), PatchError> {
        let lines: Vec<&[u8]> = base.split_inclusive(|byte| *byte == b'\n').collect();
        let n_gone: usize =
            diff.hunks().iter().flat_map(diffy::Hunk::lines).map(|line| usize::from(is_gone(line))).sum();
        let keeps_any = lines.len() > n_gone;
        let mut at = self.first_hunk;
        for hunk in diff.hunks() {
            let header = at;
            let has_context = hunk.lines().iter().any(|line| matches!(line, Line::Context(_)));
            at = check_hunk(hunk, &lines, header)?;
            if keeps_any && !has_context {
                return Err(PatchError::NoContext { line: header });
            }
        }
        Ok(())
    }
}

/// Checks that a hunk matches the lines of a file. `header` is the line of the patch with its header; returns the line after the
/// hunk.
fn check_hunk(hunk: &diffy::Hunk<'_, [u8]>, lines: &[&[u8]], header: usize) -> Result<usize, PatchError> {
    let range = hunk.old_range();
    let mut place = if range.is_empty() { range.start() } else { range.start().saturating_sub(1) };
    let (mut at, mut ends_bare) = (header + 1, None);
    for line in hunk.lines() {
        let (text, is_old) = match line {
            Line::Context(text) | Line::Delete(text) => (*text, true),
            Line::Insert(text) => (*text, false),
        };
        if is_old {
            let found = lines.get(place).copied();
            if found != Some(text) {
                let (expected, found) = (shown(text), found.map(shown));
                return Err(PatchError::Mismatch { line: at, file_line: place + 1, expected, found });
            }
            place += 1;
        }
        let is_bare = !text.ends_with(b"\n");
        if is_bare && !is_gone(line) {
            ends_bare = Some(at);
        }
        // The marker that the line has no newline is a line of the patch too.
        at += 1 + usize::from(is_bare);
    }
    if let Some(line) = ends_bare.filter(|_| place < lines.len()) {
        return Err(PatchError::NoNewlineInside { line });
    }
    if range.is_empty() && place > lines.len() {
        return Err(PatchError::Start { line: header, side: "old", stated: place, expected: lines.len() });
    }
    Ok(at)
}

/// Merges two changes of one file.
///
/// # Errors
/// [`PatchError::Conflict`] if both change the same lines differently.
pub(crate) fn merge(base: &[u8], one: &[u8], other: &[u8]) -> Result<Vec<u8>, PatchError> {
    diffy::merge_bytes(base, one, other).map_err(|_| PatchError::Conflict)
}

fn is_gone(line: &Line<'_, [u8]>) -> bool {
    matches!(line, Line::Delete(_))
}

fn check_size(file: &[u8]) -> Result<(), PatchError> {
    if file.len() > MAX_FILE_BYTES {
        return Err(PatchError::TooLarge { what: Limit::FileBytes, found: file.len(), limit: MAX_FILE_BYTES });
    }
    Ok(())
}

/// The maximum characters of a line in an error.
const MAX_SHOWN: usize = 80;

/// A line for an error: without its end and secrets, and shortened.
fn shown(line: &[u8]) -> String {
    // Looking for secrets in a line of a megabyte for the sake of its first 80 characters would be slow.
    let line = line.get(..line.len().min(16 * MAX_SHOWN)).unwrap_or(line);
    let text = String::from_utf8_lossy(line);
    let text = Redactor::shared().redact(text.trim_end_matches(['\n', '\r'])).into_owned();
    if text.chars().count() <= MAX_SHOWN {
        return text;
    }
    text.chars().take(MAX_SHOWN - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests;
