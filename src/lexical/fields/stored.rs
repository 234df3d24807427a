//! The rows of a stored index, little-endian.

use std::sync::Arc;

use super::{Document, DocumentWords, GramCount, Posting};
use crate::lexical::grams::GramSet;
use crate::sorted_blocks::StoredRow;

impl StoredRow for Posting {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.term.to_le_bytes());
        bytes.extend_from_slice(&self.row.to_le_bytes());
        bytes.extend_from_slice(&self.weight.to_le_bytes());
    }

    fn decode(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (term, bytes) = bytes.split_first_chunk()?;
        let (row, bytes) = bytes.split_first_chunk()?;
        let (weight, bytes) = bytes.split_first_chunk()?;
        let [term, row] = [term, row].map(|number| u32::from_le_bytes(*number));
        Some((Self { term, row, weight: u16::from_le_bytes(*weight) }, bytes))
    }
}

impl StoredRow for GramCount {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.gram.to_le_bytes());
        bytes.extend_from_slice(&self.count.to_le_bytes());
    }

    fn decode(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (gram, bytes) = bytes.split_first_chunk()?;
        let (count, bytes) = bytes.split_first_chunk()?;
        Some((Self { gram: u32::from_le_bytes(*gram), count: u32::from_le_bytes(*count) }, bytes))
    }
}

/// The row's number, how many terms and grams it has, the terms with their weights, the grams with theirs.
impl StoredRow for Document {
    // A recall scores some dozens of them, all over the memory.
    const ROWS_PER_BLOCK: usize = 16;

    fn encode(&self, bytes: &mut Vec<u8>) {
        let DocumentWords { terms, grams } = &self.words;
        let length = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        for number in [self.row, length(terms.len()), length(grams.rows().len())] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        for (term, weight) in &**terms {
            bytes.extend_from_slice(&term.to_le_bytes());
            bytes.extend_from_slice(&weight.to_le_bytes());
        }
        for gram in grams.rows() {
            bytes.extend_from_slice(&gram.to_le_bytes());
        }
    }

    fn decode(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (head, bytes) = bytes.split_first_chunk::<12>()?;
        let (head, _) = head.as_chunks();
        let [row, n_terms, n_grams] =
            [head.first()?, head.get(1)?, head.get(2)?].map(|number| u32::from_le_bytes(*number));
        let (terms, bytes) = bytes.split_at_checked((n_terms as usize).checked_mul(6)?)?;
        let (grams, bytes) = bytes.split_at_checked((n_grams as usize).checked_mul(4)?)?;
        let (terms, _) = terms.as_chunks::<6>();
        let term = |[a, b, c, d, e, f]: &[u8; 6]| (u32::from_le_bytes([*a, *b, *c, *d]), u16::from_le_bytes([*e, *f]));
        let terms: Arc<[(u32, u16)]> = terms.iter().map(term).collect();
        let (grams, _) = grams.as_chunks();
        let grams = GramSet::from_rows(grams.iter().map(|gram| u32::from_le_bytes(*gram)))?;
        let is_in_order = terms.is_sorted_by(|one, other| one.0 < other.0);
        is_in_order.then_some((Self { row, words: DocumentWords { terms, grams } }, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::fields::Field;
    use crate::lexical::word_hashes::WordHashes;

    #[test]
    fn document_that_is_truncated_or_out_of_order_is_not_decoded() {
        let [head, body] = [("apple pear apple", 3.0), ("plum", 1.0)];
        let fields = [head, body].map(|(text, weight)| Field { text, weight, usual_terms: 2.0 });
        let document = Document { row: 7, words: DocumentWords::of(&fields, &mut WordHashes::default()) };
        let mut bytes = Vec::new();
        document.encode(&mut bytes);
        assert_eq!(Document::decode(&[&bytes[..], b"rest"].concat()), Some((document.clone(), &b"rest"[..])));
        for length in 0..bytes.len() {
            assert_eq!(Document::decode(&bytes[..length]), None, "{length}");
        }
        let n_terms = document.words.terms.len();
        assert_eq!(n_terms, 3);
        let [first_term, first_gram] = [12, 12 + 6 * n_terms];
        for place in [first_term, first_gram] {
            let mut disordered = bytes.clone();
            disordered[place..place + 4].fill(0xff);
            assert_eq!(Document::decode(&disordered), None, "{place}");
        }
    }
}
