//! The hashes of a text: of its terms, and of its words' n-grams.

use std::collections::HashMap;

use super::code_terms::{token_terms, tokens};
use super::grams::{Gram, word_grams};
use super::hashed;
use super::words::{folded, runs};

/// The hashes of each word are computed once: most words of a memory are repeated.
#[derive(Debug, Default)]
pub(crate) struct WordHashes {
    terms: HashMap<Box<str>, Box<[u32]>>,
    grams: HashMap<Box<str>, Box<[Gram]>>,
}

impl WordHashes {
    /// Adds the hash of each occurrence of a term.
    pub(super) fn terms(&mut self, text: &str, found: &mut Vec<u32>) {
        for token in tokens(&folded(text)) {
            add_hashes(&mut self.terms, token, found, |each| token_terms(token, |term| each.push(hashed(term))));
        }
    }

    /// Adds each occurrence of an n-gram of the words that are not stop words.
    pub(super) fn grams(&mut self, text: &str, found: &mut Vec<Gram>) {
        for run in runs(&folded(text)) {
            add_hashes(&mut self.grams, run, found, |each| word_grams(run, |gram| each.push(gram)));
        }
    }
}

fn add_hashes(
    known: &mut HashMap<Box<str>, Box<[u32]>>,
    word: &str,
    found: &mut Vec<u32>,
    work_out: impl FnOnce(&mut Vec<u32>),
) {
    if let Some(hashes) = known.get(word) {
        found.extend_from_slice(hashes);
        return;
    }
    let mut hashes = Vec::new();
    work_out(&mut hashes);
    found.extend_from_slice(&hashes);
    known.insert(word.into(), hashes.into());
}
