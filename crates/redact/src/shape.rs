//! The form of a value: distinguishes random values from words, names, paths and digests.

use std::sync::LazyLock;

use data_encoding::{BASE64_NOPAD, Encoding};
use serde_json::Value;

use crate::byte_set::ByteSet;
use crate::rules::built;

/// Shannon entropy of the text's bytes, in bits per byte: at most 8; 0 for an empty text and for one repeated byte.
pub(crate) fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    let mut present = [0_u64; 4];
    for byte in text.bytes() {
        if let (Some(count), Some(part)) = (counts.get_mut(usize::from(byte)), present.get_mut(usize::from(byte / 64)))
        {
            *count += 1;
            *part |= 1 << (byte % 64);
        }
    }
    let total = text.len() as f64;
    // Most bytes have the same count as the previous one, so its logarithm is reused.
    let (mut last, mut bits, mut sum) = (0, 0.0, 0.0);
    for (part, first) in present.into_iter().zip([0, 64, 128, 192]) {
        let mut rest = part;
        while rest != 0 {
            let count = counts.get(first + rest.trailing_zeros() as usize).copied().unwrap_or(0);
            if count != last {
                let share = f64::from(count) / total;
                (last, bits) = (count, -share * share.log2());
            }
            sum += bits;
            rest &= rest - 1;
        }
    }
    sum
}

/// The last word of a text, ignoring `_`, `-`, `.` and blanks at its end; empty if anything else is at its end.
pub(crate) fn word_before(text: &str) -> &str {
    let text = text.trim_end_matches(['_', '-', '.', ' ']);
    let run = text.bytes().rev().take(40).take_while(u8::is_ascii_alphanumeric);
    let run = text.get(text.len() - run.count()..).unwrap_or_default();
    words(run).last().unwrap_or_default()
}

/// True for hexadecimal digits of the length of a digest, MD5 to SHA-512, with or without a prefix (`v2-…`).
pub(crate) fn is_digest(value: &str) -> bool {
    let hex = value.rsplit(['-', ':', '_']).next().unwrap_or_default();
    matches!(hex.len(), 32 | 40 | 56 | 64 | 96 | 128) && hex.bytes().all(|b| b.is_ascii_hexdigit())
}

/// False for a value made of words and small numbers, such as a path or an identifier. A value without letters is
/// random from 16 digits on; an empty one is not.
pub(crate) fn looks_random(value: &str) -> bool {
    let (mut letters, mut digits, mut wordy, mut longest, mut runs) = (0, 0, 0, 0, 0_usize);
    for piece in words(value) {
        if piece.starts_with(|c: char| c.is_ascii_digit()) {
            digits += piece.len();
            continue;
        }
        runs += 1;
        letters += piece.len();
        longest = longest.max(piece.len());
        if is_wordy(piece) {
            wordy += piece.len();
        }
    }
    // Many short words: letters in random case.
    let jagged = letters >= 18 && letters * 10 < runs * 36;
    match letters {
        0 => digits >= 16,
        _ if longest >= 20 || jagged || mixed_in_one_run(value) => true,
        _ => wordy * 10 < (letters + digits) * 6,
    }
}

/// True for the form of a constant's name: upper-case words and numbers. Punctuation at the end is ignored; true for an
/// empty value.
pub(crate) fn is_constant(value: &str) -> bool {
    let value = value.trim_end_matches(['.', ',', '!', '?']);
    value.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b"-_".contains(&b)) && !looks_random(value)
}

/// True for a value that meets the usual requirements on passwords: a letter, a digit, and a capital or a symbol. False
/// for constants.
pub(crate) fn is_strong(value: &str) -> bool {
    let has = |class: fn(&u8) -> bool| value.as_bytes().iter().any(class);
    let symbol = |b: &u8| b.is_ascii_uppercase() || b"!#$%&*+?@^~".contains(b);
    has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit) && has(symbol) && !is_constant(value)
}

/// True for eight or more bytes with letters and digits that also have a symbol, a capital and two digits, random
/// characters, or the form of a generated passphrase. False for constants and references.
pub(crate) fn is_likely_password(value: &str) -> bool {
    let count = |class: fn(&u8) -> bool| value.as_bytes().iter().filter(|b| class(b)).count();
    let n_symbols = count(|b| b"!#$%&*+?@^~".contains(b));
    let n_digits = count(u8::is_ascii_digit);
    let both = n_digits > 0 && count(u8::is_ascii_alphabetic) > 0;
    let spiced = n_symbols > 0 || (count(u8::is_ascii_uppercase) > 0 && n_digits >= 2);
    let class = |b: &u8| (b.is_ascii_digit(), b.is_ascii_uppercase());
    let n_changes = value.as_bytes().chunk_by(|a, b| class(a) == class(b)).count();
    let jumbled = n_changes >= 7 && n_changes * 20 >= value.len() * 9;
    let unlike_a_name = spiced || jumbled || looks_random(value) || is_phrase(value);
    value.len() >= 8 && both && unlike_a_name && !is_constant(value) && !is_reference(value)
}

/// True for digits that neither count up or down nor repeat one digit.
pub(crate) fn is_pin(value: &str) -> bool {
    let ordered = |row: &str| row.contains(value);
    !ordered("01234567890") && !ordered("09876543210") && entropy(value) >= 1.0
}

/// True for 24 to 512 characters of base64 (RFC 4648) that contain `+` or `/`, a digit, and frequent changes between
/// lower case, upper case and digits, which distinguish a key from a path.
pub(crate) fn is_base64_key(value: &str) -> bool {
    let body = value.trim_end_matches('=');
    let plain = body.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/".contains(&b));
    let class = |b: &u8| (b.is_ascii_digit(), b.is_ascii_uppercase());
    let n_changes = body.as_bytes().chunk_by(|a, b| class(a) == class(b)).count();
    let fits = (24..=512).contains(&value.len())
        && body.len() % 4 != 1
        && (body.len() == value.len() || value.len().is_multiple_of(4));
    plain
        && fits
        && body.contains(['+', '/'])
        && body.bytes().any(|b| b.is_ascii_digit())
        && n_changes * 10 >= body.len() * 4
}

/// True for a list of recovery codes: at least two of three entries have a digit, and not all are years. Entries of
/// fewer than four bytes are ignored.
pub(crate) fn are_codes(list: &str) -> bool {
    let words = || list.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').filter(|word| word.len() >= 4);
    let n_odd = words().filter(|word| word.bytes().any(|b| b.is_ascii_digit())).count();
    let is_year = |word: &str| word.len() == 4 && (word.starts_with("19") || word.starts_with("20"));
    list.len() >= 8 && n_odd * 3 >= words().count() * 2 && words().any(|word| !is_year(word))
}

/// True for a lower-case word and a number, as in `order-4821`.
pub(crate) fn is_word_and_number(value: &str) -> bool {
    value.split_once(['-', '_', ':']).is_some_and(|(word, number)| {
        word.len() >= 3 && word.bytes().all(|b| b.is_ascii_lowercase()) && number.bytes().all(|b| b.is_ascii_digit())
    })
}

/// True for two or more slashes and a part that is a lower-case word of four letters or more.
pub(crate) fn is_path_like(value: &str) -> bool {
    let is_word = |part: &str| part.len() >= 4 && part.bytes().all(|b| b.is_ascii_lowercase());
    value.matches('/').count() >= 2 && value.split('/').any(is_word)
}

/// True for five groups of the lengths of a UUID (RFC 9562), of any characters.
pub(crate) fn is_uuid(value: &str) -> bool {
    value.split('-').map(str::len).eq([8, 4, 4, 4, 12])
}

/// True for what refers to a value instead of being one: an address, a path, a call, a template variable, or a UUID.
pub(crate) fn is_reference(word: &str) -> bool {
    const MARKS: [&str; 19] = [
        "://", "::", "()", "->", "=>", "${", "$(", "{{", "&&", "**", "##", "./", "..", "==", "++", "&amp", "%s", "%2",
        "%3C",
    ];
    // The common case: a plain name contains none of these marks.
    if word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-') {
        return is_uuid(word);
    }
    let host_byte = |b: u8| b.is_ascii_alphanumeric() || b".-:_".contains(&b);
    let is_host = |host: &str| host.contains('.') && host.bytes().all(host_byte);
    // `me@host`, or a package `name@v3`.
    let name_byte = |b: u8| b.is_ascii_alphanumeric() || b"._+/-".contains(&b);
    let is_name = |(user, host): (&str, &str)| {
        host.starts_with(|c: char| c.is_ascii_alphabetic()) && user.bytes().chain(host.bytes()).all(name_byte)
    };
    let is_address = word.rsplit_once('@').is_some_and(|(user, host)| is_host(host) || is_name((user, host)));
    let base64_byte = |b: u8| b.is_ascii_alphanumeric() || b"+/=".contains(&b);
    let is_base64 = word.len() >= 24 && word.bytes().all(base64_byte) && looks_random(word);
    let is_path = word.starts_with(['/', '~', '<', '{', '[', '(']) || (word.matches('/').count() >= 2 && !is_base64);
    is_address || is_uuid(word) || is_path || MARKS.iter().any(|mark| word.contains(mark))
}

/// True for the form of a generated passphrase: three or more lower-case words and a number, joined by `-`, `_` or `.`.
pub(crate) fn is_phrase(value: &str) -> bool {
    let mut parts: Vec<&str> = value.split(['-', '_', '.']).collect();
    let is_number = |part: &str| (1..=4).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    let number = parts.pop().is_some_and(is_number);
    let is_word =
        |part: &&str| part.len() >= 4 && part.bytes().all(|b| b.is_ascii_lowercase()) && !part.contains("pass");
    number && parts.len() >= 3 && parts.iter().all(is_word)
}

/// True for a value that is a password if its place says so: letters with digits or marks, joined words, or random
/// letters. False for constants, references and code.
pub(crate) fn is_weak_password(value: &str) -> bool {
    let count = |class: fn(&u8) -> bool| value.as_bytes().iter().filter(|b| class(b)).count();
    let (n_letters, n_digits) = (count(u8::is_ascii_alphabetic), count(u8::is_ascii_digit));
    // Without a digit, `#` may be a reference to a method, as in `Array#reduce`.
    let n_marks = count(|b| b"!$%&*+?^~@".contains(b)) + if n_digits > 0 { count(|b| *b == b'#') } else { 0 };
    let stem = value.trim_end_matches(|c: char| c.is_ascii_digit());
    // A name of a format or algorithm, as `base64`, `sha256`, `utf8`.
    let is_kind = stem.bytes().all(|b| b.is_ascii_lowercase() || b == b'-') && value.len() - stem.len() <= 3;
    let mixed = n_letters >= 3 && n_digits + n_marks > 0 && !(n_marks == 0 && is_kind);
    value.len() >= 6
        && (mixed || is_word_list(value) || looks_random(value))
        && !is_constant(value)
        && !is_reference(value)
        && !value.contains(['(', '[', '{', '<', '>', '$', '='])
}

/// True for the form of a chosen passphrase: three or more joined lower-case words, or two and a number.
pub(crate) fn is_word_list(value: &str) -> bool {
    let parts: Vec<&str> =
        value.split(['-', '_', '.', ' ', '+', '*', '#', '!']).filter(|part| !part.is_empty()).collect();
    let is_word = |part: &&&str| part.len() >= 4 && part.bytes().all(|b| b.is_ascii_lowercase());
    let is_number = |part: &&&str| (1..=4).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    let n_words = parts.iter().filter(is_word).count();
    let has_number = parts.iter().any(|part| part.len() >= 2 && is_number(&part));
    n_words >= 3 - usize::from(has_number) && parts.iter().all(|part| is_word(&part) || is_number(&part))
}

/// True for a name in base64 (RFC 4648, either alphabet), such as a host's. A text with a colon may be a user with a
/// password, one with blanks a passphrase, so neither is a name.
pub(crate) fn encodes_a_name(value: &str) -> bool {
    let text = decode(value).and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"._/-".contains(&b);
    text.len() >= 9 && text.bytes().all(plain) && !looks_random(&text)
}

/// True for base64 of UTF-16, or of UTF-8 words with blanks and without a colon.
pub(crate) fn encodes_text(value: &str) -> bool {
    let bytes = if value.len() >= 12 { decode(value) } else { None }.unwrap_or_default();
    let wide = bytes.len() >= 8 && bytes.iter().skip(1).step_by(2).all(|b| *b == 0);
    let text = String::from_utf8(bytes).unwrap_or_default();
    let is_text =
        text.len() >= 8 && text.chars().all(|c| c.is_alphanumeric() || c.is_ascii_graphic() || c.is_whitespace());
    wide || (is_text && !text.contains(':') && text.trim().contains(' '))
}

/// True for the prefix of an issuer and words in place of random characters, as in `hf_generatedByHomeApp` and
/// `ghp_your-token-here`: sixteen or more letters and joints without a digit, which are not random.
pub(crate) fn is_prefix_and_words(value: &str) -> bool {
    let prefix = value.bytes().take(9).position(|b| b == b'_' || b == b'-').map_or(0, |at| at + 1);
    let body = value.get(prefix..).unwrap_or_default();
    body.len() >= 16 && body.bytes().all(|b| b.is_ascii_alphabetic() || b"_-.".contains(&b)) && !looks_random(body)
}

/// True for three equal groups in a row, as in `1234-1234-1234`, which no generator produces. False for a UUID.
pub(crate) fn repeats_a_group(value: &str) -> bool {
    let groups: Vec<&str> = value.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let is_uuid = groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12]);
    let same = |three: &[&str]| three.first().is_some_and(|one| one.len() >= 3 && three.iter().all(|it| it == one));
    !is_uuid && groups.windows(3).any(same)
}

/// True for a JSON Web Token (RFC 7519) whose payload is readable and has no claim that identifies a person, a time or
/// a right: only nulls, fractions and empty strings. False for a payload that cannot be decoded.
pub(crate) fn claims_nothing(token: &str) -> bool {
    let payload = token.split('.').nth(1).and_then(decode);
    let payload = payload.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let empty = |value: &Value| match value {
        Value::Null => true,
        Value::Number(number) => number.is_f64(),
        Value::String(text) => text.is_empty(),
        _ => false,
    };
    payload.is_some_and(|payload: Value| payload.as_object().is_some_and(|claims| claims.values().all(empty)))
}

/// Decodes base64 of either alphabet, with or without padding. An incomplete group at the end is decoded as far as
/// possible; `None` for characters of neither alphabet.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    static EITHER: LazyLock<Encoding> = LazyLock::new(|| {
        let mut specification = BASE64_NOPAD.specification();
        specification.check_trailing_bits = false;
        specification.translate.from.push_str("-_");
        specification.translate.to.push_str("+/");
        built(specification.encoding())
    });
    let text = text.trim_end_matches('=').as_bytes();
    let whole = text.len() - usize::from(text.len() % 4 == 1);
    EITHER.decode(text.get(..whole)?).ok()
}

/// True for letters that can be pronounced: at least one vowel in six letters, and at most four consonants in a row. Of
/// a piece of up to four letters only the length counts: three letters or more.
fn is_wordy(piece: &str) -> bool {
    static VOWELS: ByteSet = ByteSet::of(b"aeiouyAEIOUY");
    if piece.len() <= 4 {
        return piece.len() >= 3;
    }
    let (mut n_vowels, mut row, mut longest_row) = (0, 0, 0);
    for byte in piece.bytes() {
        let is_vowel = VOWELS.has(byte);
        n_vowels += usize::from(is_vowel);
        row = if is_vowel { 0 } else { row + 1 };
        longest_row = longest_row.max(row);
    }
    n_vowels * 6 >= piece.len() && longest_row <= 4
}

/// True for a run of letters and digits that alternate often, or that contains both letters and a number of five or
/// more digits.
fn mixed_in_one_run(value: &str) -> bool {
    value.split(|c: char| !c.is_ascii_alphanumeric()).any(|run| {
        let parts = run.as_bytes().chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit());
        let number = |part: &[u8]| part.len() >= 5 && part.first().is_some_and(u8::is_ascii_digit);
        let long = parts.clone().any(number);
        let count = parts.count();
        count >= 5 || (count >= 4 && run.len() >= 16) || (count >= 2 && long)
    })
}

/// The class of a byte: 1 for a lower-case letter, 2 for an upper-case one, 3 for a digit, 0 otherwise.
fn class(byte: u8) -> u8 {
    #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
    static CLASSES: [u8; 256] = {
        let mut classes = [0; 256];
        let mut byte = 0;
        while byte < 128 {
            classes[byte as usize] = match byte {
                b'a'..=b'z' => 1,
                b'A'..=b'Z' => 2,
                b'0'..=b'9' => 3,
                _ => 0,
            };
            byte += 1;
        }
        classes
    };
    CLASSES.get(usize::from(byte)).copied().unwrap_or_default()
}

/// The words and numbers of an identifier in snake, kebab or camel case: `myAPIKey2` gives `my`, `API`, `Key`, `2`.
/// Other characters, those beyond ASCII included, separate words.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    let class = |at: usize| text.as_bytes().get(at).map_or(0, |byte| class(*byte));
    let (mut start, mut at, mut here) = (0, 0, class(0));
    std::iter::from_fn(move || {
        while at < text.len() {
            let next = class(at + 1);
            let piece = match (here, next) {
                // The last of several capitals begins the next word.
                (2, 1) => std::mem::replace(&mut start, at)..at,
                (here, next) if here == next => start..start,
                (0, _) => {
                    start = at + 1;
                    start..start
                }
                _ => std::mem::replace(&mut start, at + 1)..at + 1,
            };
            (at, here) = (at + 1, next);
            if !piece.is_empty() {
                return text.get(piece);
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_zero_for_one_byte_and_two_bits_for_four_different_ones() {
        assert!(entropy("") < 0.001 && entropy("aaaa") < 0.001);
        assert!((entropy("abcd") - 2.0).abs() < 0.001);
        assert!((entropy("aab\u{e9}") - 1.921_928).abs() < 0.001);
    }

    #[test]
    fn identifiers_are_split_into_words() {
        for (name, expected) in [
            ("myAPIKey_2.x-Ray", &["my", "API", "Key", "2", "x", "Ray"][..]),
            ("é key", &["key"]),
            ("HTTPServer2B--x9Y_", &["HTTP", "Server", "2", "B", "x", "9", "Y"]),
        ] {
            assert_eq!(words(name).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn base64_is_decoded_in_either_alphabet_and_when_cut() {
        for (text, expected) in [
            ("", Some(&b""[..])),
            ("aG9zdA==", Some(b"host")),
            ("aG9zdA", Some(b"host")),
            ("-_-_", Some(b"\xfb\xff\xbf")),
            ("+/+/", Some(b"\xfb\xff\xbf")),
            // An incomplete group, and one with trailing bits.
            ("aG9zd", Some(b"hos")),
            ("aG9zdB", Some(b"host")),
            ("aG9 dA", None),
            ("aG9=dA", None),
        ] {
            assert_eq!(decode(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn base64_of_words_is_text_and_of_credentials_is_not() {
        for (text, expected) in [
            ("aGVsbG8gdGhlcmUsIHdvcmxk", true),
            ("RwBlAHQALQBEAGEAdABlAA", true),
            ("dXNlcjpwYXNzIHdvcmQgMQ==", false),
            ("q7RtZ2mWx9LkB4vNs8Yd1HcJ", false),
            ("", false),
        ] {
            assert_eq!(encodes_text(text), expected, "{text}");
        }
    }

    #[test]
    fn codes_and_pins_are_distinguished_from_words_years_and_counts() {
        for list in ["4f2k-9x7q, 8m3t-z6wb", "83920174\n10938475", "abcd-12ef"] {
            assert!(are_codes(list), "{list}");
        }
        for list in ["these codes will open the door", "2024 2025", "abc1", "code one 12345"] {
            assert!(!are_codes(list), "{list}");
        }
        assert!(is_pin("4821") && is_pin("975778"));
        assert!(!is_pin("1234") && !is_pin("987654") && !is_pin("0000"));
    }

    #[test]
    fn names_and_paths_do_not_look_random() {
        for name in ["src/auth/token.rs", "generate_token_v2", "accessTokenForUser", "4096"] {
            assert!(!looks_random(name), "{name}");
        }
        for value in ["5f4dcc3b5aa765d61d8327deb882cf99", "abcd1234", "kQzWvRtYpLmNbXcDfGhJ"] {
            assert!(looks_random(value), "{value}");
        }
    }
}
