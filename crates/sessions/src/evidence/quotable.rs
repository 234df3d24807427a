//! A text in which quotes are searched: without invisible characters and secrets, with the original position of each character.

use adage_redact::{Part, Redactor, Traced, visible_chars};
use unicode_normalization::char::decompose_canonical;
use unicode_segmentation::UnicodeSegmentation;

/// A user's turn in the form that quotes are compared with.
#[derive(Debug)]
pub(super) struct Quotable {
    /// The turn, redacted.
    text: String,
    chars: Vec<CharOrigin>,
    key: Key,
}

/// The origin of one character.
#[derive(Clone, Copy, Debug)]
struct CharOrigin {
    /// Byte offset in the redacted text.
    byte: usize,
    /// Character range in the original.
    original: (usize, usize),
    /// Whether a quote may start here or end before it: at the edge of a word, and not inside a redaction mark.
    is_edge: bool,
}

/// A text in the form that is compared: runs of white space folded, characters decomposed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Key {
    text: String,
    /// For each character: its byte offset in `text`, and which character of the source it was made from.
    from: Vec<(usize, usize)>,
}

/// A match of a quote in a turn.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum QuoteMatch {
    /// As whole words.
    Whole {
        /// The words in the redacted turn.
        quote: String,
        /// Character range in the original turn.
        range: (usize, usize),
    },
    /// Only as a part of a word, a number or a redaction mark.
    CutsAWord,
}

impl Quotable {
    pub(super) fn new(original: &str) -> Self {
        let (visible, places) = visible_with_places(original);
        let Traced { text, parts, .. } = Redactor::shared().trace(&visible);
        let chars = chars_of(&text, &parts, &places);
        let key = Key::new(&text);
        Self { text, chars, key }
    }

    /// The turn without invisible characters and secrets.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// True if the quote is the whole turn.
    pub(super) fn is_all(&self, quote: &Key) -> bool {
        self.key.text == quote.text
    }

    /// The matches of the quote, in order: of whole words, or of parts of words.
    pub(super) fn places<'a>(&'a self, quote: &'a Key) -> impl Iterator<Item = QuoteMatch> + 'a {
        let mut from = 0;
        std::iter::from_fn(move || {
            let at = self.key.text.get(from..)?.find(&quote.text).filter(|_| !quote.is_empty())? + from;
            from = self.key.text.ceil_char_boundary(at + 1);
            Some(self.whole(at, at + quote.text.len()).unwrap_or(QuoteMatch::CutsAWord))
        })
    }

    fn whole(&self, start: usize, end: usize) -> Option<QuoteMatch> {
        let first = self.key.position(start)?;
        let last = self.key.position(end)?.checked_sub(1)?;
        let made_from = |position: usize| self.key.from.get(position).map(|(_, source)| *source);
        let (first_char, last_char) = (made_from(first)?, made_from(last)?);
        // A match that splits a decomposed character does not count.
        let is_split =
            first.checked_sub(1).and_then(made_from) == Some(first_char) || made_from(last + 1) == Some(last_char);
        let after = self.chars.get(last_char + 1);
        let is_whole = self.chars.get(first_char)?.is_edge && after.is_none_or(|after| after.is_edge);
        if is_split || !is_whole {
            return None;
        }
        let from = self.chars.get(first_char)?;
        let bytes = from.byte..after.map_or(self.text.len(), |after| after.byte);
        let range = (from.original.0, self.chars.get(last_char)?.original.1);
        Some(QuoteMatch::Whole { quote: self.text.get(bytes)?.to_owned(), range })
    }
}

impl Key {
    /// White space at the ends is removed, runs of it become one space.
    pub(super) fn new(text: &str) -> Self {
        let mut key = Self::default();
        let mut push = |c: char, source: usize| {
            key.from.push((key.text.len(), source));
            key.text.push(c);
        };
        let mut blank = None;
        let mut is_first = true;
        for (source, c) in text.chars().enumerate() {
            if c.is_whitespace() {
                blank = blank.or(Some(source));
                continue;
            }
            if let Some(blank) = blank.take().filter(|_| !is_first) {
                push(' ', blank);
            }
            is_first = false;
            decompose_canonical(c, |part| push(part, source));
        }
        key
    }

    /// The key of a text from outside, without invisible characters and secrets.
    pub(super) fn of_untrusted(text: &str) -> Self {
        let (visible, _) = visible_with_places(text);
        Self::new(&Redactor::shared().redact(&visible))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn n_words(&self) -> usize {
        self.text.unicode_words().count()
    }

    /// The text that is compared.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    pub(super) fn is_in(&self, other: &str) -> bool {
        other.contains(&self.text)
    }

    /// Which character begins at a byte offset; the number of characters at the end.
    fn position(&self, byte: usize) -> Option<usize> {
        if byte == self.text.len() {
            return Some(self.from.len());
        }
        self.from.binary_search_by_key(&byte, |(at, _)| *at).ok()
    }
}

/// The text as [`tame`](adage_redact::strip_invisible) makes it; for each of its characters its byte offset and the original's
/// character.
fn visible_with_places(original: &str) -> (String, Vec<(usize, usize)>) {
    let mut text = String::with_capacity(original.len());
    let mut places = Vec::with_capacity(original.len());
    for (place, (_, _, seen)) in visible_chars(original).enumerate() {
        if let Some(c) = seen {
            places.push((text.len(), place));
            text.push(c);
        }
    }
    (text, places)
}

fn chars_of(text: &str, parts: &[Part], places: &[(usize, usize)]) -> Vec<CharOrigin> {
    // The visible character at or after a byte offset.
    let visible_at = |byte: usize| places.partition_point(|(at, _)| *at < byte);
    let original = |position: usize| places.get(position).map_or(0, |(_, place)| *place);
    let mut edges = text.split_word_bound_indices().map(|(at, _)| at).peekable();
    let mut chars = Vec::with_capacity(text.len());
    for part in parts {
        let (Part::Kept { at, source } | Part::Mark { at, source }) = part;
        let first = visible_at(source.start);
        let last = visible_at(source.end).saturating_sub(1);
        for (n, (byte, _)) in text.get(at.clone()).unwrap_or_default().char_indices().enumerate() {
            let byte = byte + at.start;
            while edges.next_if(|edge| *edge < byte).is_some() {}
            let is_word_edge = edges.peek() == Some(&byte);
            chars.push(match part {
                Part::Kept { .. } => {
                    let place = original(first + n);
                    CharOrigin { byte, original: (place, place + 1), is_edge: is_word_edge }
                }
                Part::Mark { .. } => {
                    CharOrigin { byte, original: (original(first), original(last) + 1), is_edge: n == 0 }
                }
            });
        }
    }
    // The text after a mark starts a new word.
    for part in parts {
        if let Part::Mark { at, .. } = part
            && let Ok(after) = chars.binary_search_by_key(&at.end, |origin| origin.byte)
            && let Some(origin) = chars.get_mut(after)
        {
            origin.is_edge = true;
        }
    }
    chars
}
