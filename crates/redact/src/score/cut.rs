//! Splits a text into candidates: the parts that may be a secret value.

use std::ops::Range;

use super::form::is_spice;
use crate::byte_set::ByteSet;
use crate::rules::touches;
use crate::shape::is_base64_key;
use crate::text_words;

/// The least length of a candidate, in bytes.
const MIN_LEN: usize = 4;
/// The greatest length of a candidate, in bytes; a longer value is data.
const MAX_LEN: usize = 512;
/// The least number of words in a wallet's seed phrase (BIP 39).
const MIN_SEED_WORDS: usize = 12;
/// The least length of a mixed word, in bytes; see [`mixed_words`].
const MIN_MIXED_LEN: usize = 8;
// The kinds of bytes, as bits: letters, digits, marks of passwords (see `is_spice`), and what ends a word. Other bytes
// have no bit.
const LOWER: u8 = 1;
const UPPER: u8 = 2;
const DIGIT: u8 = 4;
const SPICE: u8 = 8;
const END: u8 = 16;

/// The candidates of a text: its words, the parts of words that contain marks of an assignment, a list or an address,
/// and phrases of several words. `offset` is added to each place.
pub(super) fn candidates(text: &str, offset: usize) -> Vec<Range<usize>> {
    let (mut found, mut cut) = (Vec::new(), Vec::new());
    for word in text_words::words_until(text, MAX_LEN, is_end) {
        let mut add = |at: Range<usize>| {
            let at = trimmed(text, at);
            if (MIN_LEN..=MAX_LEN).contains(&at.len()) && !is_flag_or_path(text, &at) {
                cut.push(at.start + offset..at.end + offset);
            }
        };
        let whole = text.get(word.clone()).unwrap_or_default();
        if is_plain(whole) {
            add(word);
        } else {
            of_word(text, &word, whole, &mut add);
            cut.sort_unstable_by_key(|at| (at.start, at.end));
            cut.dedup();
        }
        found.append(&mut cut);
    }
    let of_many = phrases(text).chain(rests(text)).chain(groups(text)).chain(seeds(text));
    found.extend(of_many.map(|at| at.start + offset..at.end + offset));
    found
}

/// True for a word without the marks that split a word or occur in a base64 key, as most words are.
fn is_plain(word: &str) -> bool {
    static MARKS: ByteSet = ByteSet::of(b"=:,;|&?/@()[]{}%+");
    !word.starts_with('-') && !MARKS.is_in(word)
}

/// Adds a word with marks, its parts, or both. A base64 key is added whole.
fn of_word(text: &str, word: &Range<usize>, whole: &str, add: &mut impl FnMut(Range<usize>)) {
    if whole.contains("base64,") {
        return;
    }
    let from = whole.find(['=', ':', ',']).map_or(0, |at| at + 1);
    let rest = whole.get(from..).unwrap_or_default();
    let is_key = whole.len() >= 24 && is_base64_key(whole);
    if !is_key && from > 0 && rest.len() >= 24 && is_base64_key(rest) {
        return add(word.start + from..word.end);
    }
    if is_key || !has_parts(whole) {
        add(word.clone());
    }
    if !is_key {
        parts(text, word, add);
    }
}

/// True for a flag, an absolute path, and anything that begins with a closing bracket.
fn is_flag_or_path(text: &str, at: &Range<usize>) -> bool {
    let Some(value) = text.get(at.clone()) else { return true };
    match value.as_bytes().first() {
        Some(b'-' | b')' | b']' | b'}') => true,
        Some(b'/') => value.len() < 16 || value.get(1..).unwrap_or_default().contains(['/', '.']),
        _ => false,
    }
}

/// A place without the letter of an escape sequence at its start, and without `=` at its end unless they are base64 padding.
fn trimmed(text: &str, at: Range<usize>) -> Range<usize> {
    let value = text.get(at.clone()).unwrap_or_default();
    let escaped = touches(text, at.start.checked_sub(1), |b| *b == b'\\') && value.starts_with(['n', 'r', 't']);
    let start = at.start + usize::from(escaped);
    let body = value.trim_end_matches('=').len() + at.start;
    let padded = at.end - body <= 2 && value.len() >= 12 && (at.end - start).is_multiple_of(4);
    start..if padded { at.end } else { body.max(start) }
}

/// True for a name with its value, a row of a table, and a URL.
fn has_parts(word: &str) -> bool {
    static NAME: ByteSet = ByteSet::alphanumeric_and(b"_-.");
    let body = word.trim_end_matches('=');
    let name = body.bytes().take_while(|b| NAME.has(*b)).count();
    let assigned = name > 0 && body.as_bytes().get(name).is_some_and(|b| b"=:".contains(b));
    assigned || body.contains([',', '|', ';']) || body.contains("://")
}

/// Adds the parts of a word between marks, and what follows the first `=` and the first `:`. Of a URL only the parts
/// before the host and the values of the query are added.
fn parts(text: &str, word: &Range<usize>, add: &mut impl FnMut(Range<usize>)) {
    static MARKS: ByteSet = ByteSet::of(b"=:,;|&?/@()[]{}");
    let whole = text.get(word.clone()).unwrap_or_default();
    let inner = text_words::prefix_len(whole);
    if inner > 0 {
        add(word.start + inner..word.end);
    }
    let is_mark = |c: char| u8::try_from(c).is_ok_and(|b| MARKS.has(b));
    if !MARKS.is_in(whole) {
        return;
    }
    let body = whole.trim_end_matches('=');
    let mut at = 0;
    let is_address = body.contains("://");
    let touches = |place: Option<usize>, marks: &[u8]| touches(whole, place, |b| marks.contains(b));
    for part in body.split(is_mark) {
        let (start, end) = (at, at + part.len());
        if !is_address || touches(Some(end), b"@") || touches(start.checked_sub(1), b"=:") {
            add(word.start + start..word.start + end);
        }
        at = end + 1;
    }
    for mark in ['=', ':'] {
        if let Some(at) = body.find(mark) {
            let value = whole.get(at + 1..).unwrap_or_default();
            add(word.start + at + 1..word.end);
            // A value of a query ends at the next one.
            let end = value.find(['&', ',', ';']).unwrap_or(value.len());
            add(word.start + at + 1..word.start + at + 1 + end);
        }
    }
}

/// True for a character that ends a word: blanks, quotes, and beyond ASCII everything but letters. Letters from U+2E80
/// on also end a word, as their languages are written without blanks.
fn is_end(c: char) -> bool {
    match c {
        '"' | '\'' | '`' | '<' | '>' | '\\' => true,
        '\0'..='\x7f' => c.is_whitespace(),
        _ => c >= '\u{2e80}' || !c.is_alphabetic(),
    }
}

/// The quoted passphrases of a text, without the quotes.
fn phrases(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    static BORDERS: ByteSet = ByteSet::of(b"\"'`\n");
    let bytes = text.as_bytes();
    let (mut at, mut is_open) = (0, false);
    std::iter::from_fn(move || {
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let length = rest.iter().position(|b| BORDERS.has(*b)).unwrap_or(rest.len());
            let piece = at..at + length;
            let is_closed = rest.get(length).is_some_and(|b| *b != b'\n');
            let is_quoted = std::mem::replace(&mut is_open, is_closed) && is_closed;
            at = piece.end + 1;
            if is_quoted && text.get(piece.clone()).is_some_and(is_phrase) {
                return Some(piece);
            }
        }
        None
    })
}

/// True for 2 to 24 words of letters and digits, separated by single blanks.
fn is_phrase(piece: &str) -> bool {
    let is_word = |word: &str| {
        let body = word.trim_end_matches([',', '.', '!', '?', ';']);
        (1..=14).contains(&body.chars().count()) && body.chars().all(|c| c.is_alphanumeric() || "-_'&+".contains(c))
    };
    (10..=160).contains(&piece.len())
        && (2..=24).contains(&piece.split(' ').count())
        && piece.split(' ').all(is_word)
        && piece.chars().any(char::is_alphabetic)
}

/// The passphrases after a colon or an equals sign, up to the end of the line.
fn rests(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    let lines = text.split('\n').map(move |line| {
        let start = at;
        at += line.len() + 1;
        (start, line)
    });
    lines.filter_map(|(start, line)| {
        let colon = line.as_bytes().array_windows().rposition(|pair| pair == b": ");
        let mark = colon.map(|at| at + 2).or_else(|| line.find('=').map(|at| at + 1))?;
        let rest = line.get(mark..)?;
        let value = rest.trim();
        let start = start + mark + (rest.len() - rest.trim_start().len());
        let is_short = line.get(..mark).is_some_and(|name| name.trim().split(' ').count() <= 4);
        (is_short && value.split(' ').count() <= 8 && is_phrase(value)).then(|| start..start + value.len())
    })
}

/// Seed phrases: twelve or more lower-case words, separated by blanks, commas or numbers, without the function words of
/// a sentence.
fn seeds(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    const STOPS: [&str; 40] = [
        "the", "and", "for", "with", "that", "this", "you", "your", "are", "was", "not", "from", "have", "has", "but",
        "can", "all", "will", "its", "when", "then", "than", "into", "they", "their", "what", "which", "der", "die",
        "das", "und", "ist", "les", "des", "une", "est", "que", "los", "las", "una",
    ];
    // Long rows are rare, so stop words are looked up only in them.
    rows_of_words(text).flat_map(move |row| {
        let is_stop = |word: &Range<usize>| text.get(word.clone()).is_some_and(|word| STOPS.contains(&word));
        let parts = row.split(is_stop).filter(|part| part.len() >= MIN_SEED_WORDS);
        parts.filter_map(|part| Some(part.first()?.start..part.last()?.end)).collect::<Vec<_>>()
    })
}

/// Rows of twelve or more words of three to eight lower-case letters, with at most eight bytes between two words.
fn rows_of_words(text: &str) -> impl Iterator<Item = Vec<Range<usize>>> + '_ {
    let is_gap = |c: char| c.is_whitespace() || c.is_ascii_digit() || matches!(c, ',' | '.' | ')');
    let is_of_row = |word: &Range<usize>| {
        let bytes = text.as_bytes().get(word.clone()).unwrap_or_default();
        (3..=8).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_lowercase)
    };
    let mut words = text_words::words_between(text, is_gap);
    let mut row: Vec<Range<usize>> = Vec::new();
    std::iter::from_fn(move || {
        loop {
            let word = words.next();
            let at = word.clone().filter(is_of_row);
            let is_next = |at: &Range<usize>| row.last().is_none_or(|last| at.start - last.end <= 8);
            if at.as_ref().is_some_and(is_next) {
                row.extend(at);
            } else if row.len() >= MIN_SEED_WORDS {
                return Some(std::mem::replace(&mut row, Vec::from_iter(at)));
            } else {
                row.clear();
                row.extend(at);
                word?;
            }
        }
    })
}

/// Rows of four or more groups of letters and digits, all of one length and separated by the same blank, colon or hyphen.
fn groups(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    static ALPHANUMERIC: ByteSet = ByteSet::alphanumeric_and(b"");
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            let start = at;
            let run = |from: usize, longest: usize| {
                let run = bytes.get(from..).unwrap_or_default().iter().take(longest);
                run.take_while(|b| ALPHANUMERIC.has(**b)).count()
            };
            let length = |from: usize| run(from, 9);
            let first = length(start);
            if first == 0 {
                at += 1;
                continue;
            }
            let (mut end, mut n_groups) = (start + first, 1);
            let mark = bytes.get(end).copied().unwrap_or(b'\n');
            if (2..=8).contains(&first) && matches!(mark, b' ' | b':' | b'-') {
                while bytes.get(end) == Some(&mark) && length(end + 1) == first {
                    end += 1 + first;
                    n_groups += 1;
                }
            }
            at = if n_groups > 1 { end } else { start + first + run(start + first, usize::MAX) };
            if n_groups >= 4 && end - start >= 15 {
                return Some(start..end);
            }
        }
        None
    })
}

/// Which kinds of bytes a value contains.
pub(super) struct Kinds {
    pub(super) letters: bool,
    /// Digits, or marks that occur in passwords but not in names.
    pub(super) others: bool,
}

/// The kinds of bytes in a value.
pub(super) fn kinds(value: &str) -> Kinds {
    let kinds = value.bytes().fold(0, |kinds, byte| kinds | if byte == b'=' { SPICE } else { kind(byte) });
    Kinds { letters: kinds & (LOWER | UPPER) != 0, others: kinds & (DIGIT | SPICE) != 0 }
}

/// True if the whole value is one of the words that [`mixed_words`] finds.
pub(super) fn is_mixed_word(value: &str) -> bool {
    let kinds = value.bytes().fold(0, |kinds, byte| kinds | kind(byte));
    let mixed = kinds & DIGIT != 0 && kinds & (LOWER | UPPER) != 0;
    mixed && kinds & END == 0 && (MIN_MIXED_LEN..=MAX_LEN).contains(&value.len()) && is_mixed(value.as_bytes(), kinds)
}

/// The words of a text that contain letters and digits, and also marks of passwords, letters of both cases, or three
/// changes between letters and digits. Hexadecimal numbers are left out. One pass over the bytes.
pub(super) fn mixed_words(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at;
            let rest = bytes.get(start..).filter(|rest| !rest.is_empty())?;
            let (mut kinds, mut length) = (0, 0);
            for byte in rest {
                let kind = kind(*byte);
                if kind & END != 0 {
                    break;
                }
                kinds |= kind;
                length += 1;
            }
            at = start + length + 1;
            let mixed = kinds & DIGIT != 0 && kinds & (LOWER | UPPER) != 0;
            if mixed && (MIN_MIXED_LEN..=MAX_LEN).contains(&length) && is_mixed(rest.get(..length)?, kinds) {
                return Some(start..start + length);
            }
        }
    })
}

/// True for a word with marks, letters of both cases, or three changes between letters and digits; false for hexadecimal digits.
fn is_mixed(word: &[u8], kinds: u8) -> bool {
    let both = kinds & LOWER != 0 && kinds & UPPER != 0;
    let n_switches = word.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()).count();
    let hex = word.iter().all(|b| b.is_ascii_hexdigit() || *b == b'-');
    !hex && (kinds & SPICE != 0 || both || n_switches >= 4)
}

/// The bit of a byte's kind, from a table; 0 for other bytes.
fn kind(byte: u8) -> u8 {
    #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
    static KINDS: [u8; 256] = {
        let mut kinds = [0; 256];
        let mut byte = 0_u8;
        loop {
            kinds[byte as usize] = kind_of(byte);
            match byte.checked_add(1) {
                Some(next) => byte = next,
                None => break kinds,
            }
        }
    };
    KINDS.get(usize::from(byte)).copied().unwrap_or_default()
}

const fn kind_of(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => LOWER,
        b'A'..=b'Z' => UPPER,
        b'0'..=b'9' => DIGIT,
        mark if is_spice(mark) => SPICE,
        0..=b' ' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' => END,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<&str> = candidates(text, 0).into_iter().filter_map(|at| text.get(at)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn words_are_split_at_marks_of_assignments_and_urls() {
        check("DB_PASS=a1b2-c3 --pw=(x9y8z7)", &["DB_PASS", "a1b2-c3", "(x9y8z7", "x9y8z7"]);
        check("smtp://me:s3cr3t@mail/", &["s3cr3t"]);
        check("say \"maple otter river\" now", &["maple", "otter", "river", "maple otter river"]);
        check("PW: Kröte77 \nist", &["Kröte77"]);
        check("PW: Kröte ist 7", &["Kröte", "Kröte ist 7"]);
    }

    #[test]
    fn groups_and_seed_phrases_are_found_as_a_whole() {
        let found = |spans: Vec<Range<usize>>, text: &str| -> Vec<String> {
            spans.into_iter().filter_map(|at| text.get(at)).map(str::to_owned).collect()
        };
        for (text, expected) in [
            ("key abcd efgh ijkl mnop.", &["abcd efgh ijkl mnop"][..]),
            ("57:DB:09:C4:13:F4 = ", &["57:DB:09:C4:13:F4"]),
            ("one two six nine", &[]),
            ("2024-05-06 10:11:12", &[]),
        ] {
            assert_eq!(found(groups(text).collect(), text), expected, "{text}");
        }
        let words = "otter maple river stone cloud ember quartz falcon birch meadow harbor violet";
        for (text, n) in
            [(format!("seed: {words}."), 1), (words.replace(' ', ", "), 1), (words.replace("river", "and"), 0)]
        {
            assert_eq!(seeds(&text).count(), n, "{text}");
        }
    }

    #[test]
    fn mixed_words_are_found_and_versions_and_digests_are_not() {
        let text = "the x86_64 build of v1.2.3 took abc, qT7vLm2Zx9 and 3f9a0c7be15d2468 é!Lantern77";
        let found: Vec<&str> = mixed_words(text).filter_map(|at| text.get(at)).collect();
        assert_eq!(found, ["qT7vLm2Zx9", "é!Lantern77"]);
    }
}
