//! Sets of characters: the table of an encoding, a class of a regular expression.

use super::spot::Spot;

/// The least number of different characters of a table: of letters of one case and digits, and of others. So many random
/// characters differ once in 100,000 values.
const MIN_TABLE: [usize; 2] = [26, 48];

/// True for a table of characters of which each occurs once, and for a class with ranges, as in `[A-Za-z0-9_]{43}`.
pub(super) fn is_charset(spot: &Spot<'_>) -> bool {
    let value = spot.value();
    is_class(value) || (is_table(value) && !counts_up_or_down(value))
}

/// True for two or more ranges, and nothing else but marks and a count of repetitions: other letters and digits may be a secret.
fn is_class(value: &str) -> bool {
    let (class, count) = value.split_once('{').unwrap_or((value, ""));
    let mut rest = class.to_owned();
    let mut n_ranges = 0;
    for range in ["A-Z", "a-z", "0-9", "A-F", "a-f", "\\d", "\\w"] {
        n_ranges += usize::from(rest.contains(range));
        rest = rest.replace(range, "");
    }
    let is_mark = |c: char| !c.is_alphanumeric();
    n_ranges >= 2 && rest.chars().all(is_mark) && count.chars().all(|c| c.is_ascii_digit() || is_mark(c))
}

/// True for six characters in a row that follow each other in the alphabet: people write those in the place of a secret.
fn counts_up_or_down(value: &str) -> bool {
    let is_row = |step: i16| {
        let follows = |a: &u8, b: &u8| i16::from(*b) - i16::from(*a) == step;
        value.as_bytes().chunk_by(follows).any(|row| row.len() >= 6)
    };
    is_row(1) || is_row(-1)
}

/// True for many characters, all different.
fn is_table(value: &str) -> bool {
    let mut bytes: Vec<u8> = value.bytes().collect();
    bytes.sort_unstable();
    bytes.dedup();
    let has = |class: fn(&u8) -> bool| bytes.iter().any(class);
    let [of_one_case, of_both] = MIN_TABLE;
    let both = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    value.len() >= if both { of_both } else { of_one_case } && bytes.len() == value.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_classes_are_charsets_and_random_values_are_not() {
        for (value, expected) in [
            ("qpzry9x8gf2tvdw0s3jn54khce6mua7l", true),
            ("qpzry9x8gf2tvdw0s3jn54khce6mua7q", false),
            ("q7RtZ2mWx9LkB4vNs8Yd1HcJ6pGf3TaE", false),
            ("abcdefghijklmnopqrstuvwxyz123456", false),
            ("zyxwvutsrqponmlkjihgfedcba123456", false),
            ("^[A-Za-z0-9_-]{43}$", true),
            ("A-Za-z0-9!#$%&", true),
            ("Cedar-A-Z74!", false),
            ("A-Za-z9!Lamp74", false),
            ("0-9A-Zq7RtZ2mWx9LkB4vNs8", false),
            ("[A-Za-z0-9]{43}q7RtZ2mWx9", false),
        ] {
            assert_eq!(is_charset(&Spot::of(value, &(0..value.len()))), expected, "{value}");
        }
    }
}
