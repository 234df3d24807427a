//! The `WordPiece` tokenizer, exactly as specified by `tokenizer.json`.

use unicode_categories::UnicodeCategories;
use unicode_normalization::UnicodeNormalization;

/// For each token, in the order of its bytes: its end in the token text, and its id.
static TABLE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/vocabulary_table.bin"));
static TOKENS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/vocabulary_tokens.bin"));

/// The id of a word that the vocabulary cannot represent.
const UNKNOWN: u32 = 100;
/// The ids of the marks before and after a text.
const FIRST: u32 = 101;
const LAST: u32 = 102;
/// The maximum length of a word; a longer one is unknown.
const MAX_WORD: usize = 100;
/// The prefix of a piece that continues a word.
const GOES_ON: &str = "##";

/// The token ids of a text, with the marks of its beginning and end; at most `max_tokens` including these. A text that looks
/// like a mark is ordinary text.
///
/// Control characters and accents are removed, letters are lower-cased, Chinese characters and punctuation are words of their
/// own, and each word is split into the longest pieces in the vocabulary.
#[must_use]
pub fn tokenize(text: &str, max_tokens: usize) -> Vec<u32> {
    let most = max_tokens.saturating_sub(2);
    let mut tokens = vec![FIRST];
    let mut word = String::new();
    let end = |word: &mut String, tokens: &mut Vec<u32>| {
        if !word.is_empty() {
            pieces(word, tokens);
            word.clear();
        }
    };
    for c in cleaned(text) {
        if tokens.len() > most {
            break;
        }
        if c.is_whitespace() {
            end(&mut word, &mut tokens);
        } else if is_punctuation(c) {
            end(&mut word, &mut tokens);
            word.push(c);
            end(&mut word, &mut tokens);
        } else {
            word.push(c);
        }
    }
    end(&mut word, &mut tokens);
    tokens.truncate(most + 1);
    tokens.push(LAST);
    tokens
}

/// The normalised characters of a text.
fn cleaned(text: &str) -> impl Iterator<Item = char> {
    let kept = text.chars().filter(|c| !matches!(c, '\0' | '\u{fffd}') && !is_control(*c));
    let blank = |c: char| if matches!(c, '\t' | '\n' | '\r') || c.is_whitespace() { ' ' } else { c };
    let apart = kept.map(blank).flat_map(|c| {
        let blank = is_chinese(c).then_some(' ');
        blank.into_iter().chain([c]).chain(blank)
    });
    apart.nfd().filter(|c| !c.is_mark_nonspacing()).flat_map(char::to_lowercase)
}

fn is_control(c: char) -> bool {
    !matches!(c, '\t' | '\n' | '\r') && c.is_other()
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || c.is_punctuation()
}

/// The blocks of CJK ideographs. Japanese and Korean syllables are not included: they form words.
fn is_chinese(c: char) -> bool {
    matches!(u32::from(c),
        0x4e00..=0x9fff | 0x3400..=0x4dbf | 0x2_0000..=0x2_a6df | 0x2_a700..=0x2_b73f | 0x2_b740..=0x2_b81f
        | 0x2_b920..=0x2_ceaf | 0xf900..=0xfaff | 0x2_f800..=0x2_fa1f)
}

/// Adds the ids of a word's pieces, longest first; the id of unknown words if the vocabulary cannot represent it.
fn pieces(word: &str, tokens: &mut Vec<u32>) {
    if word.chars().nth(MAX_WORD).is_some() {
        tokens.push(UNKNOWN);
        return;
    }
    let known = tokens.len();
    let (mut rest, mut piece) = (word, String::new());
    while !rest.is_empty() {
        piece.clear();
        if rest.len() < word.len() {
            piece.push_str(GOES_ON);
        }
        let start = piece.len();
        piece.push_str(rest);
        let found = loop {
            if let Some(number) = number_of(piece.as_bytes()) {
                break number;
            }
            piece.pop();
            if piece.len() == start {
                tokens.truncate(known);
                tokens.push(UNKNOWN);
                return;
            }
        };
        tokens.push(found);
        rest = rest.get(piece.len() - start..).unwrap_or_default();
    }
}

/// The id of a token.
fn number_of(token: &[u8]) -> Option<u32> {
    let (rows, _) = TABLE.as_chunks::<8>();
    let of_row = |row: usize| {
        rows.get(row).map_or((0, 0), |[a, b, c, d, e, f, g, h]| {
            (u32::from_le_bytes([*a, *b, *c, *d]) as usize, u32::from_le_bytes([*e, *f, *g, *h]))
        })
    };
    let (mut low, mut high) = (0, rows.len());
    while low < high {
        let middle = usize::midpoint(low, high);
        let start = middle.checked_sub(1).map_or(0, |before| of_row(before).0);
        let (end, number) = of_row(middle);
        match TOKENS.get(start..end).unwrap_or_default().cmp(token) {
            std::cmp::Ordering::Equal => return Some(number),
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    None
}
