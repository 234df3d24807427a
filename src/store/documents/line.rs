//! The format of the document log: one change per line, with a checksum.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::document::Document;

/// The schema that this program writes.
pub(crate) const SCHEMA: u64 = 1;

/// The first bytes of the file, enough for the complete first line.
pub(super) const HEADER_BYTES: usize = 160;

const PREFIX: &[u8] = b"{\"crc\":\"";
const SEPARATOR: &[u8] = b"\",";

/// The content of a line besides its checksum: exactly one of the three fields, and the number of lines of its batch that
/// follow.
#[derive(Serialize, Deserialize)]
struct Payload<D> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    header: Option<Header>,
    #[serde(default, skip_serializing_if = "is_zero")]
    more: usize,
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    put: Option<D>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    remove: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
fn is_zero(more: &usize) -> bool {
    *more == 0
}

/// The first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) schema_version: u64,
    /// An id of the log; a log that replaces it gets another one.
    pub(super) log: Uuid,
}

/// One change of the documents.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    /// Adds a document, or replaces the one with the same id.
    Put(Arc<Document>),
    Remove(String),
}

/// A change and the length of its line in bytes, with its newline.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Logged {
    pub(crate) change: Change,
    pub(crate) n_bytes: usize,
}

fn seal<D: Serialize>(payload: &Payload<D>, bytes: &mut Vec<u8>) -> serde_json::Result<usize> {
    let payload = serde_json::to_vec(payload)?;
    let rest = payload.get(1..).unwrap_or_default();
    let before = bytes.len();
    bytes.extend_from_slice(PREFIX);
    bytes.extend_from_slice(format!("{:08x}", crc32fast::hash(rest)).as_bytes());
    bytes.extend_from_slice(SEPARATOR);
    bytes.extend_from_slice(rest);
    bytes.push(b'\n');
    Ok(bytes.len() - before)
}

/// The first line of a new log.
pub(super) fn header(log: Uuid) -> serde_json::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let header = Some(Header { schema_version: SCHEMA, log });
    seal(&Payload::<&Document> { header, more: 0, put: None, remove: None }, &mut bytes)?;
    Ok(bytes)
}

/// The lines of a batch, and the length of each.
pub(super) fn batch(changes: &[Change]) -> serde_json::Result<(Vec<u8>, Vec<usize>)> {
    let mut bytes = Vec::new();
    let lines = changes.iter().enumerate().map(|(place, change)| {
        let more = changes.len() - 1 - place;
        let payload = match change {
            Change::Put(document) => Payload { header: None, more, put: Some(document.as_ref()), remove: None },
            Change::Remove(id) => Payload { header: None, more, put: None, remove: Some(id.clone()) },
        };
        seal(&payload, &mut bytes)
    });
    let lengths = lines.collect::<serde_json::Result<Vec<usize>>>()?;
    Ok((bytes, lengths))
}

/// Lines of documents for a new log, each a batch of its own.
pub(super) fn singly<'d>(
    documents: impl Iterator<Item = &'d Document>,
    bytes: &mut Vec<u8>,
) -> serde_json::Result<Vec<usize>> {
    documents.map(|put| seal(&Payload { header: None, more: 0, put: Some(put), remove: None }, bytes)).collect()
}

/// The parsed lines of a log, or of a part of one.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) header: Option<Header>,
    pub(super) changes: Vec<Logged>,
    /// The ranges of complete lines that cannot be read, and of one with a damaged newline.
    pub(super) broken: Vec<Range<usize>>,
    /// The length of the complete batches. What follows was torn or is being written.
    pub(super) whole: usize,
}

/// True for the zeros that a power loss leaves of a write. A flipped bit leaves one zero byte at most.
fn is_zeroed(line: &[u8]) -> bool {
    line.iter().filter(|byte| **byte == 0).nth(1).is_some()
}

/// Parses lines. An incomplete batch at the end is left out, whether it was torn
/// or is being written. A batch with zeroed parts is left out as well.
pub(super) fn read(bytes: &[u8]) -> Lines {
    let mut lines = Lines::default();
    let mut batch = Batch::default();
    let mut at = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let here = at..at + line.len();
        let text = match line {
            [text @ .., b'\n'] => text,
            // No write ends like this: a bit of the newline was flipped.
            [text @ .., 1..=u8::MAX] if parse(text).is_some() => {
                lines.broken.push(here.clone());
                text
            }
            _ => break,
        };
        at = here.end;
        let payload = parse(text);
        let state = match &payload {
            Some(payload) => LineState::Whole { more: payload.more },
            None if is_zeroed(text) => LineState::Zeroed,
            None => LineState::Damaged,
        };
        batch.take_line(state, here.start, lines.changes.len());
        let n_bytes = line.len();
        match payload {
            Some(Payload { header: Some(header), .. }) if here.start == 0 => lines.header = Some(header),
            Some(Payload { put: Some(document), header: None, remove: None, .. }) => {
                lines.changes.push(Logged { change: Change::Put(Arc::new(document)), n_bytes });
            }
            Some(Payload { remove: Some(id), header: None, put: None, .. }) => {
                lines.changes.push(Logged { change: Change::Remove(id), n_bytes });
            }
            _ => lines.broken.push(here),
        }
    }
    lines.whole = at;
    if !batch.is_complete() {
        lines.changes.truncate(batch.n_before);
        lines.broken.retain(|broken| broken.start < batch.start);
        lines.whole = batch.start;
    }
    lines
}

/// The batch of the line that was read last.
#[derive(Default)]
struct Batch {
    /// The offset of its first line.
    start: usize,
    /// The number of changes before it.
    n_before: usize,
    /// The number of its lines that should follow.
    n_expected: usize,
    /// True if parts of it never reached the disk.
    is_torn: bool,
    /// True if the last line was zeroed.
    was_zeroed: bool,
}

/// What a line of a batch says about the batch.
#[derive(Clone, Copy)]
enum LineState {
    /// It can be read, and says how many lines follow in its batch.
    Whole {
        more: usize,
    },
    Damaged,
    /// It never reached the disk.
    Zeroed,
}

impl Batch {
    /// Takes the next line.
    ///
    /// A line whose count does not decrease begins a batch of its own; a damaged one counts as the expected line. Zeros may
    /// replace any number of lines: a line after them belongs to the same batch if its count is lower, or if it comes right
    /// after them.
    fn take_line(&mut self, state: LineState, start: usize, n_changes: usize) {
        let more = match state {
            LineState::Whole { more } => Some(more),
            LineState::Damaged | LineState::Zeroed => None,
        };
        let n_expected = self.n_expected;
        let follows = |more: usize| if n_expected == 0 { self.was_zeroed } else { more < n_expected };
        let begins = n_expected == 0 || more.is_some_and(|more| more + 1 != n_expected);
        if self.is_torn && more.is_some_and(follows) {
            self.n_expected = more.map_or(1, |more| more + 1);
        } else if begins {
            *self = Self { start, n_before: n_changes, n_expected: more.map_or(1, |more| more + 1), ..Self::default() };
        }
        self.was_zeroed = matches!(state, LineState::Zeroed);
        self.is_torn |= self.was_zeroed;
        self.n_expected -= 1;
    }

    fn is_complete(&self) -> bool {
        self.n_expected == 0 && !self.is_torn
    }
}

fn parse(text: &[u8]) -> Option<Payload<Document>> {
    let (checksum, rest) = text.strip_prefix(PREFIX)?.split_first_chunk::<8>()?;
    let payload = rest.strip_prefix(SEPARATOR)?;
    let checksum = u32::from_str_radix(std::str::from_utf8(checksum).ok()?, 16).ok()?;
    if crc32fast::hash(payload) != checksum {
        return None;
    }
    let mut object = Vec::with_capacity(payload.len() + 1);
    object.push(b'{');
    object.extend_from_slice(payload);
    serde_json::from_slice(&object).ok()
}

/// Parsed lines are encoded to the same bytes, and all bytes before `whole` are accounted for.
#[cfg(test)]
pub(in crate::store) fn fuzz_documents(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let sealed = text.lines().flat_map(|line| {
        let rest = line.get(PREFIX.len() + 8 + SEPARATOR.len()..).unwrap_or(line).as_bytes();
        let crc = format!("{:08x}", crc32fast::hash(rest));
        [PREFIX, crc.as_bytes(), SEPARATOR, rest, b"\n"].concat()
    });
    for bytes in [bytes, &sealed.collect::<Vec<u8>>()] {
        let lines = read(bytes);
        assert!(lines.whole <= bytes.len());
        assert!(lines.changes.starts_with(&read(bytes.get(..lines.whole).unwrap()).changes));
        let changes: Vec<Change> = lines.changes.into_iter().map(|logged| logged.change).collect();
        let (written, lengths) = batch(&changes).unwrap();
        let again = read(&written);
        assert_eq!(again.changes.iter().map(|logged| logged.n_bytes).collect::<Vec<_>>(), lengths);
        assert_eq!(again.changes.into_iter().map(|logged| logged.change).collect::<Vec<_>>(), changes);
        assert!(again.broken.is_empty() && again.whole == written.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(id: &str) -> Change {
        Change::Put(Arc::new(Document::new(id, format!("the text of {id}")).with("type", "note")))
    }

    fn log(batches: &[&[Change]]) -> Vec<u8> {
        let mut bytes = header(Uuid::from_u128(7)).unwrap();
        for changes in batches {
            bytes.extend(batch(changes).unwrap().0);
        }
        bytes
    }

    fn ids(lines: &Lines) -> Vec<String> {
        let id = |logged: &Logged| match &logged.change {
            Change::Put(document) => format!("+{}", document.id),
            Change::Remove(id) => format!("-{id}"),
        };
        lines.changes.iter().map(id).collect()
    }

    #[test]
    fn written_lines_are_read_back() {
        let bytes = log(&[&[put("a")], &[put("b\n\"\u{1}ü"), Change::Remove("a".to_owned()), put("c")]]);
        let lines = read(&bytes);
        assert_eq!(lines.header, Some(Header { schema_version: 1, log: Uuid::from_u128(7) }));
        assert_eq!(ids(&lines), ["+a", "+b\n\"\u{1}ü", "-a", "+c"]);
        assert!(lines.broken.is_empty());
        assert_eq!(lines.whole, bytes.len());
        let header_length = header(Uuid::nil()).unwrap().len();
        assert!(header_length <= HEADER_BYTES);
        assert_eq!(lines.changes.iter().map(|logged| logged.n_bytes).sum::<usize>(), bytes.len() - header_length);
        let text = String::from_utf8(bytes).unwrap();
        let line = text.lines().nth(1).unwrap();
        assert!(line.ends_with(r#""put":{"id":"a","text":"the text of a","metadata":{"type":"note"}}}"#), "{line}");
    }

    #[test]
    fn a_batch_is_read_completely_or_not_at_all() {
        let first = log(&[&[put("a")]]).len();
        let bytes = log(&[&[put("a")], &[put("b"), put("c"), Change::Remove("a".to_owned())]]);
        for cut in first..bytes.len() {
            let lines = read(&bytes[..cut]);
            assert_eq!((ids(&lines), lines.whole), (vec!["+a".to_owned()], first), "cut at {cut}");
            assert!(lines.broken.is_empty());
        }
        assert_eq!(read(&bytes).changes.len(), 4);
    }

    #[test]
    fn a_batch_with_zeroed_parts_is_dropped_completely() {
        let known: &[&[Change]] = &[&[put("a")], &[put("b"), put("c")]];
        let batch = [put("d"), put("e"), Change::Remove("a".to_owned()), put("f"), put("g")];
        let first = log(known).len();
        let bytes = log(&[known[0], known[1], &batch]);
        let n_before = ids(&read(&bytes[..first])).len();
        for from in first..bytes.len() - 2 {
            for to in [from + 2, from + 40, from + 130, from + 260, bytes.len()] {
                let mut zeroed = bytes.clone();
                let to = to.min(bytes.len());
                zeroed[from..to].fill(0);
                let lines = read(&zeroed);
                assert_eq!((lines.changes.len(), lines.whole), (n_before, first), "{from}..{to}: {:?}", ids(&lines));
                // The lines written after it count.
                zeroed.extend(super::batch(&[put("h")]).unwrap().0);
                assert!(ids(&read(&zeroed)).contains(&"+h".to_owned()) || zeroed[to - 1] == 0, "{from}..{to}");
            }
        }
    }

    #[test]
    fn a_flipped_bit_loses_its_line_only_and_is_reported() {
        let bytes = log(&[&[put("a")], &[put("b"), put("c")], &[put("d")]]);
        let whole = ids(&read(&bytes));
        for place in 0..bytes.len() {
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[place] ^= 1 << bit;
                let lines = read(&flipped);
                let found = ids(&lines);
                // A lost newline joins two lines, and a spurious one splits a line.
                assert!(
                    found.len() + 2 >= whole.len() - usize::from(lines.header.is_some()),
                    "byte {place}: {found:?}"
                );
                assert!(found.iter().all(|id| whole.contains(id)), "byte {place}: {found:?}");
                let is_all_told = found == whole && lines.header.is_some();
                assert!(is_all_told || !lines.broken.is_empty() || lines.whole < flipped.len(), "byte {place}");
            }
        }
    }
}
