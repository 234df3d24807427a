//! The bytes of a playbook file before they are written, with what a reader finds out from them.

use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;

use super::written_rows::{Layout, WrittenRows};
use super::{PlaybookFile, render_again};
use crate::lesson::TextHash;

#[expect(clippy::disallowed_methods, reason = "compared with the file system's times, which are the machine's")]
fn now() -> SystemTime {
    SystemTime::now()
}

/// Encodes playbook files. The rows of one are kept for the next.
#[derive(Debug, Default)]
pub(crate) struct FileEncoder {
    known: Mutex<WrittenRows>,
}

/// The bytes of a state's playbook file.
#[derive(Debug)]
pub(crate) struct EncodedFile {
    pub(crate) bytes: Vec<u8>,
    pub(crate) hash: TextHash,
    /// The time that the bytes state, which must be the file's modification time: otherwise damage is taken for an edit.
    pub(crate) modified: SystemTime,
}

impl FileEncoder {
    /// The file of a state, as of now.
    ///
    /// # Errors
    /// As [`render`](super::render).
    pub(crate) fn encode(&self, file: &PlaybookFile, layout: Layout) -> serde_json::Result<EncodedFile> {
        let modified = now();
        let nanos = modified.duration_since(UNIX_EPOCH).ok().and_then(|since| u64::try_from(since.as_nanos()).ok());
        let mut known = self.known.lock();
        known.lay_out(layout);
        let bytes = render_again(file, nanos.unwrap_or_default(), &mut known)?;
        Ok(EncodedFile { hash: TextHash::of(&[&bytes]), bytes, modified })
    }
}
