//! Paths as text: the only place where a name that is not UTF-8 becomes one.

use std::path::Path;

use crate::terminal::printable_line;

/// A path as text, for JSON. A byte that is not UTF-8 is replaced by U+FFFD and its two hex digits, so that two such names
/// differ for a reader; the file cannot be opened by this text.
///
/// ```
/// use std::path::Path;
///
/// assert_eq!(adage_redact::path_text(Path::new("a/b\nc")), "a/b\nc");
/// ```
#[must_use]
pub fn path_text(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    path.to_str().map_or_else(|| with_hex_digits(path), str::to_owned)
}

#[cfg(unix)]
fn with_hex_digits(path: &Path) -> String {
    use std::fmt::Write as _;
    use std::os::unix::ffi::OsStrExt;

    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "\u{fffd}{byte:02x}");
        }
    }
    text
}

#[cfg(not(unix))]
fn with_hex_digits(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// A path for people, in a message or a list: as [`path_text`], and on one line without control characters or invisible
/// ones, as [`printable_line`].
///
/// ```
/// use std::path::Path;
///
/// assert_eq!(adage_redact::path_line(Path::new("a/b\nerror: none")), "a/b\u{fffd}error: none");
/// ```
#[must_use]
pub fn path_line(path: impl AsRef<Path>) -> String {
    let line = printable_line(&path_text(path));
    // Some terminals and readers of lines break here too.
    line.replace(['\u{2028}', '\u{2029}', '\u{85}', '\u{b}', '\u{c}'], "\u{fffd}")
}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn every_path_is_text_and_a_line() {
        for (bytes, text, line) in [
            (&b"/a/b.md"[..], "/a/b.md", "/a/b.md"),
            (b"", "", ""),
            (b"a\xffb/\xfe\xc3", "a\u{fffd}ffb/\u{fffd}fe\u{fffd}c3", "a\u{fffd}ffb/\u{fffd}fe\u{fffd}c3"),
            (b"a\nskill b", "a\nskill b", "a\u{fffd}skill b"),
            (b"a\r\nb\x1b[2Jc", "a\r\nb\x1b[2Jc", "a\u{fffd}b\u{fffd}[2Jc"),
            ("a\u{2028}b\u{202e}c".as_bytes(), "a\u{2028}b\u{202e}c", "a\u{fffd}b\u{fffd}c"),
        ] {
            let path = Path::new(OsStr::from_bytes(bytes));
            assert_eq!((path_text(path), path_line(path)), (text.to_owned(), line.to_owned()));
        }
    }
}
