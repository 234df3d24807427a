//! The hashes of a text: of its terms, and of its words' n-grams.

use std::collections::HashMap;

use super::code_terms::{token_terms, tokens};
use super::grams::{Gram, word_grams};
use super::hashed;
use super::words::runs;

/// The hashes of each word are computed once: most words of a memory are repeated.
#[derive(Debug, Default)]
pub(crate) struct WordHashes {
    terms: HashMap<Box<str>, Box<[u32]>>,
    grams: HashMap<Box<str>, Box<[Gram]>>,
}

impl WordHashes {
    /// Adds the hash of each occurrence of a term.
    pub(super) fn terms(&mut self, text: &str, found: &mut Vec<u32>) {
        for token in tokens(text) {
            let terms = |each: &mut Vec<u32>| token_terms(token, |term| each.push(hashed(term)));
            found.extend_from_slice(cached_hashes(&mut self.terms, token, terms));
        }
    }

    /// Adds each occurrence of an n-gram of the words that are not stop words.
    pub(super) fn grams(&mut self, text: &str, found: &mut Vec<Gram>) {
        for run in runs(text) {
            found
                .extend_from_slice(cached_hashes(&mut self.grams, run, |each| word_grams(run, |gram| each.push(gram))));
        }
    }
}

fn cached_hashes<'a>(
    hashes: &'a mut HashMap<Box<str>, Box<[u32]>>,
    word: &str,
    work_out: impl FnOnce(&mut Vec<u32>),
) -> &'a [u32] {
    if !hashes.contains_key(word) {
        let mut found = Vec::new();
        work_out(&mut found);
        hashes.insert(word.into(), found.into());
    }
    hashes.get(word).map_or(&[], |found| found)
}
