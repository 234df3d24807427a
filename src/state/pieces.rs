//! The serialised indexes of a state: byte strings in a fixed order. Their owner checks them for damage, except those that are
//! checked by row.

use std::borrow::Cow;

use crate::sorted_blocks::{SortedBlocks, StoredBytes, StoredRow, codec};

/// Pieces to be stored.
#[derive(Default)]
pub(crate) struct Pieces<'a>(pub(crate) Vec<Piece<'a>>);

/// Who checks a stored piece for damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checked {
    /// The owner of the pieces, when they are opened.
    Whole,
    /// The reader of a row: each has a checksum of its own.
    ByRow,
}

/// A piece made of consecutive parts.
pub(crate) struct Piece<'a> {
    pub(crate) parts: Vec<Cow<'a, [u8]>>,
    pub(crate) checked: Checked,
}

impl<'a> Pieces<'a> {
    pub(crate) fn push(&mut self, bytes: Vec<u8>) {
        self.0.push(Piece { parts: vec![Cow::Owned(bytes)], checked: Checked::Whole });
    }

    pub(crate) fn push_parts(&mut self, parts: Vec<&'a [u8]>, checked: Checked) {
        self.0.push(Piece { parts: parts.into_iter().map(Cow::Borrowed).collect(), checked });
    }

    pub(crate) fn push_value(&mut self, value: impl bincode::Encode) {
        // Encoding into memory does not fail.
        self.push(bincode::encode_to_vec(value, codec()).unwrap_or_default());
    }

    /// The pieces as if they had been stored.
    #[cfg(test)]
    pub(crate) fn into_stored(self) -> impl Iterator<Item = StoredBytes> {
        self.0.into_iter().map(|piece| std::sync::Arc::new(piece.parts.concat()) as StoredBytes)
    }

    pub(crate) fn push_rows<T: StoredRow>(&mut self, rows: &SortedBlocks<T>) {
        self.push(rows.to_bytes());
    }
}

/// Stored pieces in their order. They end at a piece that is missing or damaged.
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
