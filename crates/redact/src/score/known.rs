//! The frequent words of ordinary technical texts: names consist of them, chosen passwords seldom do.

use std::sync::LazyLock;

use data_encoding::BASE64;

use crate::shape::words;

const TABLE: &str = include_str!("known.tsv");
/// Shorter pieces are ignored, in letters.
const MIN_LEN: usize = 3;

/// A Bloom filter with two hashes.
static BITS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let line = TABLE.lines().find(|line| !line.starts_with('#')).unwrap_or_default();
    BASE64.decode(line.as_bytes()).unwrap_or_default()
});

fn is_known(word: &str) -> bool {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in word.bytes() {
        hash = (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0000_01b3);
    }
    hash ^= hash >> 29;
    let n_bits = BITS.len() as u64 * 8;
    [hash, hash >> 32].into_iter().all(|hash| {
        let bit = (hash & 0xffff_ffff).checked_rem(n_bits).unwrap_or_default();
        BITS.get((bit / 8) as usize).is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
    })
}

/// The levels of [`share`].
pub(super) const N_SHARES: u16 = 5;

/// The level of the share of known words in a value: 0 without words, 1 none known, 2 less than half, 3 half or more, 4 all.
pub(super) fn share(value: &str) -> u16 {
    let (mut known, mut all) = (0, 0);
    for word in words(value).filter(|word| word.len() >= MIN_LEN && !word.starts_with(|c: char| c.is_ascii_digit())) {
        all += word.len();
        known += if is_known(word) { word.len() } else { 0 };
    }
    match (known, all) {
        (_, 0) => 0,
        (0, _) => 1,
        (known, all) if known * 2 < all => 2,
        (known, all) if known < all => 3,
        _ => 4,
    }
}

/// True if less than half of the words of a value, by their letters, are frequent in technical texts.
pub(crate) fn has_rare_words(value: &str) -> bool {
    matches!(share(value), 1 | 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_known_words_is_high_in_names_and_low_in_passwords() {
        for (value, expected) in [
            ("4711-0", 0),
            ("Zwiebelturm", 1),
            ("configKranichNebel", 2),
            ("passwordQuitten", 3),
            ("session_store_path2", 4),
        ] {
            assert_eq!(share(value), expected, "{value}");
            assert_eq!(has_rare_words(value), matches!(expected, 1 | 2), "{value}");
        }
    }
}
