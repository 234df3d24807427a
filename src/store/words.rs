//! The cache of lessons' words, `words.bin`: an index by words is built of it without reading the texts again. Never wrong, at
//! most missing: each lesson's words are under the hash of its texts, and a file with another checksum is not read.

use std::collections::HashMap;

use super::Store;
use crate::error::folder::Result;
use crate::folder::Folder;
use crate::hash::TextHash;
use crate::lexical::DocumentWords;
use crate::state::{KnownWords, texts_hash};
use crate::store::Snapshot;

/// The file.
pub(super) const WORDS: &str = "words.bin";

/// What it begins with. The last byte is raised whenever the same text gets other terms, grams or weights.
const MAGIC: &[u8; 8] = b"adagew\0\x01";

/// A memory of fewer lessons is indexed about as fast as the file is read.
pub(crate) const MIN_CACHED_LESSONS: usize = 200;

/// So many new lessons are worth another file.
const MIN_NEW: usize = 20;

/// By text: terms with their weights, and grams with theirs.
type Row = ([u8; 16], Vec<(u32, u16)>, Vec<u32>);

/// A row that says it is longer is of somebody who wants the memory: nothing is reserved for it.
const MAX_ROW: usize = 16 << 20;

fn codec() -> impl bincode::config::Config {
    bincode::config::standard().with_fixed_int_encoding()
}

/// Rows as one list, which [`format`] writes, each of them read for itself.
fn read_rows(bytes: &[u8]) -> Option<Vec<Row>> {
    let codec = bincode::config::standard().with_fixed_int_encoding().with_limit::<MAX_ROW>();
    let (n_rows, mut rest) = bytes.split_first_chunk::<8>()?;
    let mut rows = Vec::new();
    for _ in 0..u64::from_le_bytes(*n_rows) {
        let (row, length) = bincode::decode_from_slice(rest, codec).ok()?;
        rows.push(row);
        rest = rest.get(length..)?;
    }
    Some(rows)
}

/// The words in a file; none where it is not whole.
fn parse(bytes: &[u8]) -> HashMap<TextHash, DocumentWords> {
    let rows = || {
        let (sum, rows) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<4>()?;
        let is_whole = crc32fast::hash(rows) == u32::from_le_bytes(*sum);
        let rows = is_whole.then(|| read_rows(rows)).flatten()?;
        let row = |(text, terms, grams)| Some((TextHash::from_bytes(text), DocumentWords::from_rows(terms, grams)?));
        Some(rows.into_iter().filter_map(row).collect())
    };
    rows().unwrap_or_default()
}

fn format<'w>(words: impl Iterator<Item = (TextHash, &'w DocumentWords)>) -> Option<Vec<u8>> {
    let row = |(text, words): (TextHash, &DocumentWords)| {
        let (terms, grams) = words.to_rows();
        (*text.as_bytes(), terms, grams)
    };
    let rows: Vec<Row> = words.map(row).collect();
    let rows = bincode::encode_to_vec(rows, codec()).ok()?;
    Some([&MAGIC[..], &crc32fast::hash(&rows).to_le_bytes(), &rows].concat())
}

impl Store {
    /// Takes in the words that are cached.
    pub(crate) fn read_words(&self, known: &mut KnownWords) -> Result<()> {
        known.by_text.extend(parse(&self.files().read_or_empty(WORDS, 0)?));
        Ok(())
    }

    /// Writes the words of this folder's lessons, where many are new, the handle may write and nobody else does.
    pub(crate) fn save_words(&self, snapshot: &Snapshot, known: &KnownWords) -> Result<()> {
        let lessons = &snapshot.book().lessons;
        if known.n_new < MIN_NEW || lessons.len() < MIN_CACHED_LESSONS || !self.may_append(snapshot) {
            return Ok(());
        }
        let Some(_lock) = self.folder.try_lock()? else { return Ok(()) };
        let words = lessons.iter().map(|lesson| texts_hash(lesson));
        let Some(bytes) = format(words.filter_map(|text| Some((text, known.by_text.get(&text)?)))) else {
            return Ok(());
        };
        let temporary = Folder::temporary("words");
        self.files().create(&temporary, &bytes)?;
        self.files().rename(temporary, WORDS)
    }

    /// Removes the cache: it may have words of a lesson that was removed.
    pub(super) fn drop_words(&self) -> Result<()> {
        self.files().remove_if_exists(WORDS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::{Field, WordHashes};

    fn words(text: &str) -> DocumentWords {
        DocumentWords::of(&[Field { text, weight: 3.0, usual_terms: 10.0 }], &mut WordHashes::default())
    }

    #[test]
    fn a_file_gives_back_its_words_or_none() {
        let (one, other) = (TextHash::of(&["one"]), TextHash::of(&["other"]));
        let (apple, plum) = (words("an apple a day"), words("plums in `Vec::new()`"));
        let bytes = format([(one, &apple), (other, &plum)].into_iter()).unwrap();
        let found = parse(&bytes);
        assert_eq!((found.len(), &found[&one], &found[&other]), (2, &apple, &plum));
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 4;
            assert!(parse(&flipped).is_empty(), "byte {at}");
            assert!(parse(&bytes[..at]).is_empty(), "cut at {at}");
        }
    }

    /// The checksum is no proof of who wrote it.
    #[test]
    fn a_length_that_cannot_be_reserves_nothing() {
        let row = [&[0; 16][..], &u64::MAX.to_le_bytes()].concat();
        for rows in [vec![0xff; 64], [&1_u64.to_le_bytes()[..], &row].concat()] {
            let sealed = [&MAGIC[..], &crc32fast::hash(&rows).to_le_bytes(), &rows].concat();
            assert!(parse(&sealed).is_empty());
        }
    }

    /// Whoever changes what a text's words are raises the last byte of `MAGIC`, and this.
    #[test]
    fn the_same_text_has_the_words_of_this_version() {
        let bytes =
            format([(TextHash::of(&[""]), &words("Pin numpy==1.26 in requirements.txt, don't upgrade"))].into_iter());
        assert_eq!((MAGIC[7], crc32fast::hash(&bytes.unwrap())), (1, 2_475_653_856));
    }
}
