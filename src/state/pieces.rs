//! The indexes of a state as pieces of bytes, one after the other. Whoever keeps them checks them for damage.

use std::borrow::Cow;

use crate::sorted_blocks::{SortedBlocks, StoredBytes, StoredRow, codec};

/// Pieces to be kept, each made of parts that follow each other.
#[derive(Default)]
pub(crate) struct Pieces<'a>(pub(crate) Vec<Vec<Cow<'a, [u8]>>>);

impl<'a> Pieces<'a> {
    pub(crate) fn push(&mut self, bytes: Vec<u8>) {
        self.0.push(vec![Cow::Owned(bytes)]);
    }

    pub(crate) fn push_parts(&mut self, parts: Vec<&'a [u8]>) {
        self.0.push(parts.into_iter().map(Cow::Borrowed).collect());
    }

    pub(crate) fn push_value(&mut self, value: impl bincode::Encode) {
        // Encoding into memory does not fail.
        self.push(bincode::encode_to_vec(value, codec()).unwrap_or_default());
    }

    pub(crate) fn push_rows<T: StoredRow>(&mut self, rows: &SortedBlocks<T>) {
        self.push(rows.to_bytes());
    }
}

/// Pieces that were kept, in their order. A piece that is missing or damaged ends them.
pub(crate) struct StoredPieces<'a>(pub(crate) &'a mut dyn Iterator<Item = StoredBytes>);

impl StoredPieces<'_> {
    pub(crate) fn next(&mut self) -> Option<StoredBytes> {
        self.0.next()
    }

    pub(crate) fn value<V: bincode::Decode<()>>(&mut self) -> Option<V> {
        let bytes = self.next()?;
        let (value, length) = bincode::decode_from_slice(bytes.as_ref().as_ref(), codec()).ok()?;
        (length == bytes.as_ref().as_ref().len()).then_some(value)
    }

    pub(crate) fn rows<T: StoredRow>(&mut self) -> Option<SortedBlocks<T>> {
        SortedBlocks::from_bytes(&self.next()?)
    }
}
