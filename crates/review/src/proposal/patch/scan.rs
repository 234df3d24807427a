//! A strict parser of patches: every byte belongs to a diff, and every count is right.
//!
//! The diff library is lenient: it skips text around a diff, and hunks after such text. This parser skips nothing, so that
//! exactly what a person was shown is applied.

use std::borrow::Cow;

use super::{FilePatch, MAX_BYTES, MAX_FILES, MAX_HUNKS, MAX_LINE, shown};
use crate::patch_error::{Forbidden, Limit, PatchError};

/// The lines of a patch.
struct Lines<'a> {
    rest: &'a [u8],
    /// Lines that were taken.
    n_taken: usize,
}

impl<'a> Lines<'a> {
    fn peek(&self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|byte| *byte == b'\n').map_or(self.rest.len(), |place| place + 1);
        self.rest.get(..end)
    }

    fn take(&mut self) {
        let length = self.peek().map_or(0, <[u8]>::len);
        self.rest = self.rest.get(length..).unwrap_or_default();
        self.n_taken += 1;
    }

    /// The number of the line that `peek` gives, from 1.
    fn number(&self) -> usize {
        self.n_taken + 1
    }

    fn unexpected(&self, expected: &'static str) -> PatchError {
        PatchError::Unexpected { line: self.number(), found: self.peek().map(shown).unwrap_or_default(), expected }
    }
}

/// The diffs of a patch.
pub(super) fn files(text: &[u8]) -> Result<Vec<FilePatch>, PatchError> {
    if text.len() > MAX_BYTES {
        return Err(PatchError::TooLarge { what: Limit::Bytes, found: text.len(), limit: MAX_BYTES });
    }
    // Only the final newline may be missing.
    let whole: Cow<'_, [u8]> = if text.ends_with(b"\n") { text.into() } else { [text, b"\n"].concat().into() };
    let mut lines = Lines { rest: &whole, n_taken: 0 };
    let (mut files, mut n_hunks) = (Vec::new(), 0);
    loop {
        while lines.peek().is_some_and(is_blank) {
            lines.take();
        }
        if lines.peek().is_none() {
            break;
        }
        if files.len() == MAX_FILES {
            return Err(PatchError::TooLarge { what: Limit::Files, found: MAX_FILES + 1, limit: MAX_FILES });
        }
        files.push(file(&mut lines, &mut n_hunks)?);
    }
    if files.is_empty() { Err(PatchError::Empty) } else { Ok(files) }
}

fn is_blank(line: &[u8]) -> bool {
    line == b"\n" || line == b"\r\n"
}

/// One file's diff: git's header lines, the names, the hunks.
fn file(lines: &mut Lines<'_>, n_hunks: &mut usize) -> Result<FilePatch, PatchError> {
    let line = lines.number();
    git_header(lines)?;
    let old = name(lines, b"--- ", "`--- ` and the path of a file")?;
    let at_new = lines.number();
    let new = name(lines, b"+++ ", "`+++ ` and the path of a file")?;
    if new == NO_FILE {
        return Err(PatchError::Forbidden { line: at_new, what: Forbidden::Delete });
    }
    let old = (old != NO_FILE).then_some(old);
    let start = lines.rest;
    let first_hunk = lines.number();
    let mut section = Section { delta: 0, old_end: 0, is_ended: None };
    if !lines.peek().is_some_and(|line| line.starts_with(b"@@")) {
        return Err(lines.unexpected("a hunk, `@@ -line,count +line,count @@`,"));
    }
    while lines.peek().is_some_and(|line| line.starts_with(b"@@")) {
        *n_hunks += 1;
        if *n_hunks > MAX_HUNKS {
            return Err(PatchError::TooLarge { what: Limit::Hunks, found: *n_hunks, limit: MAX_HUNKS });
        }
        if old.is_none() && lines.number() != first_hunk {
            return Err(lines.unexpected("nothing more of a new file"));
        }
        hunk(lines, &mut section, old.is_none())?;
    }
    let hunks = start.get(..start.len() - lines.rest.len()).unwrap_or_default().to_vec();
    Ok(FilePatch { old, new, line, first_hunk, hunks })
}

/// Git's name for a missing file.
const NO_FILE: &str = "/dev/null";

/// The lines that git writes before the names. They must not say more than the diff.
fn git_header(lines: &mut Lines<'_>) -> Result<(), PatchError> {
    const FORBIDDEN: [(&[u8], Forbidden); 11] = [
        (b"deleted file mode", Forbidden::Delete),
        (b"rename from", Forbidden::Rename),
        (b"rename to", Forbidden::Rename),
        (b"similarity index", Forbidden::Rename),
        (b"dissimilarity index", Forbidden::Rename),
        (b"copy from", Forbidden::Copy),
        (b"copy to", Forbidden::Copy),
        (b"old mode", Forbidden::Mode),
        (b"new mode", Forbidden::Mode),
        (b"Binary files ", Forbidden::Binary),
        (b"GIT binary patch", Forbidden::Binary),
    ];
    if !lines.peek().is_some_and(|line| line.starts_with(b"diff --git ")) {
        return Ok(());
    }
    lines.take();
    while let Some(line) = lines.peek() {
        if let Some((_, what)) = FORBIDDEN.iter().find(|(start, _)| line.starts_with(start)) {
            return Err(PatchError::Forbidden { line: lines.number(), what: *what });
        }
        if line.starts_with(b"new file mode ") && line.trim_ascii_end() != b"new file mode 100644" {
            return Err(PatchError::Forbidden { line: lines.number(), what: Forbidden::Mode });
        }
        if !line.starts_with(b"index ") && !line.starts_with(b"new file mode ") {
            break;
        }
        lines.take();
    }
    Ok(())
}

fn name(lines: &mut Lines<'_>, start: &[u8], expected: &'static str) -> Result<String, PatchError> {
    let path = lines.peek().and_then(|line| line.strip_prefix(start));
    let path = path.map(|path| path.strip_suffix(b"\n").unwrap_or(path));
    let path = path.map(|path| path.strip_suffix(b"\r").unwrap_or(path));
    let path = path.and_then(|path| std::str::from_utf8(path).ok()).filter(|path| !path.is_empty());
    let path = path.ok_or_else(|| lines.unexpected(expected))?.to_owned();
    lines.take();
    Ok(path)
}

/// The state after the hunks of one file so far.
struct Section {
    /// New lines minus old ones.
    delta: i64,
    /// Old lines up to the end of the last hunk.
    old_end: usize,
    /// The line of the patch after which the new file must end.
    is_ended: Option<usize>,
}

fn hunk(lines: &mut Lines<'_>, section: &mut Section, is_new_file: bool) -> Result<(), PatchError> {
    let at = lines.number();
    let header = lines.peek().and_then(ranges).ok_or_else(|| lines.unexpected("`@@ -line,count +line,count @@`"))?;
    let ((old_start, n_old), (new_start, n_new)) = header;
    for number in [old_start, n_old, new_start, n_new] {
        if number > MAX_LINE {
            return Err(PatchError::TooLarge { what: Limit::LineNumber, found: number, limit: MAX_LINE });
        }
    }
    if n_old + n_new == 0 {
        return Err(lines.unexpected("a hunk with lines"));
    }
    // A side without lines states the line before it, one with lines its first line.
    let above = |start: usize, count: usize| if count == 0 { Some(start) } else { start.checked_sub(1) };
    let start = |side, stated, expected| PatchError::Start { line: at, side, stated, expected };
    let old_above = above(old_start, n_old).filter(|above| *above >= section.old_end);
    let old_above = old_above.ok_or_else(|| start("old", old_start, section.old_end + usize::from(n_old > 0)))?;
    let new_above = usize::try_from(i64::try_from(old_above).unwrap_or(i64::MAX) + section.delta).unwrap_or_default();
    if is_new_file && (old_start, n_old) != (0, 0) {
        return Err(start("old", old_start, 0));
    }
    if above(new_start, n_new) != Some(new_above) {
        return Err(start("new", new_start, new_above + usize::from(n_new > 0)));
    }
    lines.take();
    body(lines, section, at, (n_old, n_new))?;
    section.old_end = old_above + n_old;
    section.delta += i64::try_from(n_new).unwrap_or_default() - i64::try_from(n_old).unwrap_or_default();
    Ok(())
}

/// The lines of a hunk, as many as its header states.
fn body(lines: &mut Lines<'_>, section: &mut Section, at: usize, stated: (usize, usize)) -> Result<(), PatchError> {
    let mut found = (0, 0);
    // The last line of each side may be marked as having no newline.
    let (mut is_old_ended, mut last) = (false, None);
    while found != stated || is_marker(lines.peek()) {
        let counts = PatchError::Counts { line: at, stated, found };
        let line = lines.peek().ok_or_else(|| counts.clone())?;
        let (is_old, is_new) = match line.first() {
            Some(b' ' | b'\n') => (true, true),
            Some(b'-') => (true, false),
            Some(b'+') => (false, true),
            Some(b'\\') if is_marker(Some(line)) => {
                let (is_old, is_new) = last.take().ok_or_else(|| lines.unexpected("a line of the hunk"))?;
                is_old_ended |= is_old;
                if is_new {
                    section.is_ended = Some(lines.number() - 1);
                }
                lines.take();
                continue;
            }
            _ => return Err(counts),
        };
        if is_old && is_old_ended {
            return Err(PatchError::NoNewlineInside { line: lines.number() - 1 });
        }
        if let (true, Some(line)) = (is_new, section.is_ended) {
            return Err(PatchError::NoNewlineInside { line });
        }
        found = (found.0 + usize::from(is_old), found.1 + usize::from(is_new));
        if found.0 > stated.0 || found.1 > stated.1 {
            return Err(PatchError::Counts { line: at, stated, found });
        }
        last = Some((is_old, is_new));
        lines.take();
    }
    // An uncounted line could belong to the hunk.
    match lines.peek() {
        Some(line) if is_surplus(line) => {
            let (is_old, is_new) = (line.first() != Some(&b'+'), line.first() != Some(&b'-'));
            let found = (found.0 + usize::from(is_old), found.1 + usize::from(is_new));
            Err(PatchError::Counts { line: at, stated, found })
        }
        _ => Ok(()),
    }
}

/// True for a line of a hunk that is not a header of the next file.
fn is_surplus(line: &[u8]) -> bool {
    matches!(line.first(), Some(b' ' | b'+' | b'-')) && !line.starts_with(b"--- ")
}

fn is_marker(line: Option<&[u8]>) -> bool {
    line.is_some_and(|line| line.starts_with(b"\\ No newline at end of file"))
}

type Range = (usize, usize);

/// `@@ -start,count +start,count @@`; an omitted count is 1. Numbers that overflow become the maximum.
fn ranges(line: &[u8]) -> Option<(Range, Range)> {
    let line = std::str::from_utf8(line.get(..line.len().min(100))?)
        .or_else(|error| std::str::from_utf8(line.get(..error.valid_up_to()).unwrap_or_default()));
    let (ranges, _) = line.ok()?.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse().unwrap_or(usize::MAX))
    };
    let range = |text: &str| match text.split_once(',') {
        Some((start, count)) => Some((number(start)?, number(count)?)),
        None => Some((number(text)?, 1)),
    };
    Some((range(old)?, range(new)?))
}
