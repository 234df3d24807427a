//! Sorted rows in a file: a table of blocks, and rows that are decoded by block.
//!
//! The bytes begin with the number of blocks. For each block follow its number of rows, the offset of its last row, and its
//! end; then follow the rows. Numbers are little-endian. The owner of the bytes checks them for damage.

use std::sync::Arc;

use super::SortedBlocks;
use super::block::{Block, Encoded, StoredBlock};

/// Bytes of a file, valid while this value is held.
pub(crate) type StoredBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Rows that can be stored in a file, each in at least one byte.
pub(crate) trait StoredRow: Clone + Send + Sync + 'static {
    /// The number of rows that are decoded together.
    const ROWS_PER_BLOCK: usize = 256;

    fn encode(&self, bytes: &mut Vec<u8>);

    /// The row at the start of the bytes, and the rest; none if they are invalid.
    fn decode(bytes: &[u8]) -> Option<(Self, &[u8])>;
}

/// The maximum length of a row or value, so that an invalid length allocates no memory.
const MAX_BYTES: usize = 1 << 26;

/// How rows are encoded.
pub(crate) fn codec() -> impl bincode::config::Config {
    bincode::config::standard().with_little_endian().with_fixed_int_encoding().with_limit::<MAX_BYTES>()
}

/// Adds the fields of a row.
pub(crate) fn encode_fields(fields: impl bincode::Encode, bytes: &mut Vec<u8>) {
    // Encoding into memory does not fail.
    bytes.extend(bincode::encode_to_vec(fields, codec()).unwrap_or_default());
}

/// Decodes what [`encode_fields`] added. Returns the rest of the bytes, too.
pub(crate) fn decode_fields<F: bincode::Decode<()>>(bytes: &[u8]) -> Option<(F, &[u8])> {
    let (fields, length) = bincode::decode_from_slice(bytes, codec()).ok()?;
    Some((fields, bytes.get(length..)?))
}

/// The position of a block in the bytes of the rows.
#[derive(Clone, Copy, Debug)]
struct Extent {
    n_rows: usize,
    start: usize,
    last: usize,
    end: usize,
}

fn number(bytes: &[u8], place: usize) -> Option<usize> {
    let bytes = bytes.get(place.checked_mul(8)?..)?.first_chunk::<8>()?;
    usize::try_from(u64::from_le_bytes(*bytes)).ok()
}

/// The positions of the blocks.
fn extents(bytes: &[u8]) -> Option<Vec<Extent>> {
    let n_blocks = number(bytes, 0)?;
    let rows = n_blocks.checked_mul(3)?.checked_add(1)?.checked_mul(8)?;
    let mut start = rows;
    let mut extents = Vec::with_capacity(n_blocks.min(bytes.len() / 24));
    for block in 0..n_blocks {
        let field = |nth: usize| number(bytes, 1 + block * 3 + nth);
        let (n_rows, last, end) = (field(0)?, rows.checked_add(field(1)?)?, rows.checked_add(field(2)?)?);
        // A row takes at least one byte.
        if n_rows == 0 || !(start <= last && last < end && end <= bytes.len() && n_rows - 1 <= last - start) {
            return None;
        }
        extents.push(Extent { n_rows, start, last, end });
        start = end;
    }
    Some(extents)
}

impl<T: StoredRow> SortedBlocks<T> {
    /// The rows as bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let (mut table, mut rows, mut n_blocks) = (Vec::new(), Vec::new(), 0_u64);
        let mut all = self.iter().peekable();
        while all.peek().is_some() {
            let (mut n_rows, mut last) = (0_u64, rows.len());
            for row in all.by_ref().take(T::ROWS_PER_BLOCK) {
                last = rows.len();
                row.encode(&mut rows);
                n_rows += 1;
            }
            for field in [n_rows, last as u64, rows.len() as u64] {
                table.extend_from_slice(&field.to_le_bytes());
            }
            n_blocks += 1;
        }
        [&n_blocks.to_le_bytes()[..], &table, &rows].concat()
    }

    /// Reads the result of [`SortedBlocks::to_bytes`]. Nothing is decoded yet. None if the table is invalid. In a block, rows
    /// from the first invalid one on are left out, except the last row.
    pub(crate) fn from_bytes(bytes: &StoredBytes) -> Option<Self> {
        let mut sorted = Self::default();
        for extent in extents(bytes.as_ref().as_ref())? {
            let encoded = EncodedBlock { bytes: Arc::clone(bytes), extent };
            sorted.blocks.push(Block::Stored(Arc::new(StoredBlock::new(extent.n_rows, Box::new(encoded)))));
            sorted.len += extent.n_rows;
        }
        Some(sorted)
    }
}

/// A block of a file.
struct EncodedBlock {
    bytes: StoredBytes,
    extent: Extent,
}

impl<T: StoredRow> Encoded<T> for EncodedBlock {
    fn last(&self) -> Option<T> {
        let bytes = self.bytes.as_ref().as_ref().get(self.extent.last..self.extent.end)?;
        T::decode(bytes).map(|(row, _)| row)
    }

    fn rows(&self, last: Option<&T>) -> Vec<T> {
        let Extent { n_rows, start, last: end, .. } = self.extent;
        let mut bytes = self.bytes.as_ref().as_ref().get(start..end).unwrap_or_default();
        let mut rows = Vec::with_capacity(n_rows.min(bytes.len() + 1));
        while let Some((row, rest)) = T::decode(bytes).filter(|_| rows.len() + 1 < n_rows) {
            rows.push(row);
            bytes = rest;
        }
        rows.extend(last.cloned());
        if rows.len() < n_rows {
            tracing::error!(missing = n_rows - rows.len(), "stored rows cannot be decoded");
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl StoredRow for (u32, u32) {
        const ROWS_PER_BLOCK: usize = 100;

        fn encode(&self, bytes: &mut Vec<u8>) {
            encode_fields((self.0, vec![7_u8; self.1 as usize % 5]), bytes);
        }

        fn decode(bytes: &[u8]) -> Option<(Self, &[u8])> {
            let ((key, sevens), rest) = decode_fields::<(u32, Vec<u8>)>(bytes)?;
            Some(((key, u32::try_from(sevens.len()).ok()?), rest))
        }
    }

    fn sorted(keys: std::ops::Range<u32>) -> SortedBlocks<(u32, u32)> {
        SortedBlocks::of(keys.map(|key| (key * 2, key % 5)).collect())
    }

    fn load(bytes: Vec<u8>) -> Option<SortedBlocks<(u32, u32)>> {
        SortedBlocks::from_bytes(&(Arc::new(bytes) as StoredBytes))
    }

    #[test]
    fn rows_are_read_back_and_changed_as_others() {
        for n in [0, 1, 99, 100, 101, 1_000] {
            let (mut rows, mut loaded) = (sorted(0..n), load(sorted(0..n).to_bytes()).unwrap());
            let before = loaded.clone();
            assert_eq!((loaded.len(), loaded.iter().next_back()), (rows.len(), rows.iter().next_back()));
            for key in [0, 1, 150, 199, 200, 3_000] {
                for rows in [&mut rows, &mut loaded] {
                    rows.take(|row| row.0.cmp(&key));
                    rows.put((key + 1, 9), |row| row.0.cmp(&(key + 1)));
                }
                assert_eq!(loaded.find(|row| row.0.cmp(&40)), rows.find(|row| row.0.cmp(&40)));
            }
            assert_eq!(loaded, rows);
            assert_eq!(before, sorted(0..n));
        }
    }

    #[test]
    fn a_block_is_decoded_when_it_is_asked_for() {
        let loaded = load(sorted(0..1_000).to_bytes()).unwrap();
        assert_eq!(loaded.find(|row| row.0.cmp(&900)), Some(&(900, 0)));
        let mut changed = loaded.clone();
        changed.insert((901, 0));
        assert_eq!(loaded.differing(&changed, Ord::cmp, |a, b| a == b), [(None, Some(&(901, 0)))]);
        let is_decoded = |block: &&Block<(u32, u32)>| matches!(block, Block::Stored(stored) if stored.is_decoded());
        assert_eq!(loaded.blocks.iter().filter(is_decoded).count(), 1);
    }

    #[test]
    fn a_table_of_more_rows_than_bytes_is_not_believed() {
        let whole = sorted(0..300).to_bytes();
        for n_rows in [0, 100_000, u64::MAX] {
            let mut forged = whole.clone();
            forged[8..16].copy_from_slice(&n_rows.to_le_bytes());
            assert!(load(forged).is_none(), "{n_rows}");
        }
    }

    #[test]
    fn a_block_ends_with_its_last_row_whatever_is_before_it() {
        let whole = sorted(0..300);
        let first_row = 8 + 3 * 24;
        let mut damaged = whole.to_bytes();
        damaged[first_row + 4..first_row + 12].fill(0xff);
        let loaded = load(damaged).unwrap();
        let keys: Vec<u32> = loaded.iter().map(|row| row.0).collect();
        assert_eq!(keys, (99..300).map(|key| key * 2).collect::<Vec<_>>());
        assert_eq!((loaded.iter().next_back(), loaded.len()), (whole.iter().next_back(), 300));
    }

    proptest! {
        #[test]
        fn senseless_bytes_lead_nowhere(place in 0..3_000_usize, byte: u8, is_cut: bool) {
            let mut bytes = sorted(0..300).to_bytes();
            let place = place % bytes.len();
            if is_cut { bytes.truncate(place) } else { bytes[place] = byte }
            if let Some(loaded) = load(bytes) {
                prop_assert!(loaded.iter().count() <= 300 * 20);
            }
        }
    }
}
