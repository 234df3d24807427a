//! An embedder without a model: words and their letter triples hashed into buckets.

use ndarray::Array2;
use unicode_segmentation::UnicodeSegmentation;

use super::{Embedder, Role};
use crate::error::EmbedError;
use crate::lesson::TextHash;

const DIMENSION: usize = 256;

/// Letter triples tell less than words: a word and its plural share most of them.
const TRIPLE_WEIGHT: f32 = 0.4;

/// Hashes words and letter triples into 256 buckets (the hashing trick; Weinberger et al., ICML 2009).
///
/// It knows spelling, not meaning: for tests, and for hosts that want duplicates found without a model. It is used only
/// when it is named; without an embedder the playbook retrieves by words.
#[derive(Clone, Copy, Debug, Default)]
pub struct HashingEmbedder;

impl Embedder for HashingEmbedder {
    fn embed(&self, texts: &[&str], _: Role) -> Result<Array2<f32>, EmbedError> {
        let mut rows = Array2::zeros((texts.len(), DIMENSION));
        for (mut row, text) in rows.outer_iter_mut().zip(texts) {
            // A text without words gets a direction too.
            add(row.as_slice_mut(), "", 1e-3);
            for word in text.unicode_words() {
                let word = word.to_lowercase();
                add(row.as_slice_mut(), &word, 1.0);
                let letters: Vec<char> = format!(" {word} ").chars().collect();
                for triple in letters.windows(3) {
                    add(row.as_slice_mut(), &triple.iter().collect::<String>(), TRIPLE_WEIGHT);
                }
            }
        }
        Ok(rows)
    }

    fn fingerprint(&self) -> TextHash {
        TextHash::of(&["hashing embedder, words and triples, 256 buckets, version 1"])
    }

    fn dimension(&self) -> Result<usize, EmbedError> {
        Ok(DIMENSION)
    }
}

fn add(row: Option<&mut [f32]>, feature: &str, weight: f32) {
    let hash = fnv1a(feature.as_bytes());
    // The low bits choose the bucket, a high one the sign, so that collisions cancel out on average.
    let bucket = usize::try_from(hash % DIMENSION as u64).unwrap_or(0);
    let sign = if hash >> 63 == 0 { 1.0 } else { -1.0 };
    if let Some(cell) = row.and_then(|row| row.get_mut(bucket)) {
        *cell += sign * weight;
    }
}

/// FNV-1a, 64 bits (draft-eastlake-fnv): the same on every platform and in every version.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::embed_units;

    #[test]
    fn fnv1a_matches_the_published_vectors() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn shared_words_are_near_and_others_far() {
        let texts = ["parse the csv export", "parse csv exports", "rotate the ssh keys", ""];
        let units = embed_units(&HashingEmbedder, &texts, Role::Document).unwrap();
        let cosine = |a: usize, b: usize| -> f32 {
            units[a].as_slice().iter().zip(units[b].as_slice()).map(|(a, b)| a * b).sum()
        };
        assert!(cosine(0, 1) > 0.6, "{}", cosine(0, 1));
        assert!(cosine(0, 2) < 0.5, "{}", cosine(0, 2));
    }
}
