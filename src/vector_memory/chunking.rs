//! Cuts a text into chunks.

use std::ops::Range;

use crate::retrieve::estimated_tokens;

/// The maximum size of a chunk, in estimated tokens (docs/spec/playbook.md, 5.4).
const MAX_TOKENS: usize = 200;

/// How much of a chunk the next one repeats at most, in estimated tokens.
const MAX_OVERLAP: usize = 40;

/// A longer word is cut; its parts count one token per byte, which is an upper bound.
const MAX_WORD_BYTES: usize = 64;

/// The byte ranges of a text's chunks, in order; they cover the text. A text of at most 200 estimated tokens is one chunk.
/// Chunks end between words.
pub(super) fn chunks(text: &str) -> Vec<Range<usize>> {
    // No text has more tokens than bytes.
    if text.len() <= MAX_TOKENS {
        return std::iter::once(0..text.len()).collect();
    }
    let words = words(text);
    let start = |word: usize| words.get(word).map_or(text.len(), |word| word.start);
    let (mut found, mut first, mut n_tokens) = (Vec::new(), 0, 0);
    for (place, word) in words.iter().enumerate() {
        if n_tokens + word.n_tokens > MAX_TOKENS {
            found.push(start(first)..word.start);
            let repeated = words.get(first + 1..place).unwrap_or_default().iter().rev();
            (first, n_tokens) = (place, 0);
            for word in repeated {
                if n_tokens + word.n_tokens > MAX_OVERLAP {
                    break;
                }
                (first, n_tokens) = (first - 1, n_tokens + word.n_tokens);
            }
        }
        n_tokens += word.n_tokens;
    }
    found.push(start(first)..text.len());
    found
}

/// A word with the white space behind it, or a part of one.
struct Word {
    start: usize,
    n_tokens: usize,
}

fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let gap = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (_, after) = rest.split_at(gap);
        let end = gap + after.find(|c: char| !c.is_whitespace()).unwrap_or(after.len());
        let (word, next) = rest.split_at(end);
        let start = text.len() - rest.len();
        if word.len() <= MAX_WORD_BYTES {
            words.push(Word { start, n_tokens: estimated_tokens(word) });
        } else {
            words.extend(parts(word).map(|part| Word { start: start + part.start, n_tokens: part.len() }));
        }
        rest = next;
    }
    words
}

/// Ranges of at most [`MAX_WORD_BYTES`] that cover a long word.
fn parts(word: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let end = word.floor_char_boundary(start + MAX_WORD_BYTES);
        let part = std::mem::replace(&mut start, end)..end;
        (!part.is_empty()).then_some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_short_text_is_one_chunk_and_a_long_one_repeats_the_end_of_each() {
        assert_eq!(chunks("a note"), std::iter::once(0..6).collect::<Vec<_>>());
        let long = "word ".repeat(500);
        let found = chunks(&long);
        // 200 words of 5 bytes; the next begins 40 words before the end.
        assert_eq!(found, [0..1_000, 800..1_800, 1_600..2_500]);
    }

    proptest! {
        #[test]
        fn chunks_cover_the_text_overlap_and_are_small(
            words in prop::collection::vec("[a-z]{0,9}|[A-Za-z0-9]{0,150}|[ü先🚀]{1,60}|[ \n]{1,90}", 0..120),
        ) {
            let text = words.join(" ");
            let found = chunks(&text);
            prop_assert_eq!((found[0].start, found[found.len() - 1].end), (0, text.len()));
            for chunk in &found {
                prop_assert!(estimated_tokens(&text[chunk.clone()]) <= MAX_TOKENS || found.len() == 1);
            }
            for pair in found.windows(2) {
                prop_assert!(pair[0].start < pair[1].start && pair[1].start <= pair[0].end && pair[0].end < pair[1].end);
                prop_assert!(estimated_tokens(&text[pair[1].start..pair[0].end]) <= MAX_OVERLAP);
            }
        }
    }
}
