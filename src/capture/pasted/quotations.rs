//! Sentences in quotation marks of any script.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// The number of words from which a quotation is a sentence of somebody.
const QUOTED_WORDS: usize = 4;

/// Marks by family: a quotation reaches from one to the next of its family, since which of them opens depends on the language. The last
/// family is what else Unicode lists as opening or closing punctuation, without the brackets of prose and code.
const FAMILIES: [&str; 6] = [
    r"[“”„‟❝❞❠〝〞〟″‶ʺˮ˝＂⹂\x{1F676}-\x{1F678}]|``|''|,,",
    "[«»⟪⟫《》≪≫]|<<|>>",
    "[‹›〈〉⟨⟩\u{2329}\u{232a}❮❯❬❭❰❱]",
    "[「」『』｢｣﹁﹂﹃﹄⸢⸣⸤⸥]",
    "[‘’‚‛❛❜❟′‵＇՚ʼ]",
    r"[\p{Pi}\p{Pf}\p{Ps}\p{Pe}&&[^()\[\]{}（）［］｛｝“”„‟〝〞〟⹂«»⟪⟫《》‹›〈〉⟨⟩\x{2329}\x{232a}❮❯❬❭❰❱「」『』｢｣﹁﹂﹃﹄⸢⸣⸤⸥‘’‚‛]]|\(\(|\)\)|\[\[|\]\]",
];

/// Where a sentence or more is in quotation marks.
pub(super) fn quotations(text: &str) -> Vec<Range<usize>> {
    static MARKS: LazyLock<Option<Vec<Regex>>> =
        LazyLock::new(|| FAMILIES.iter().map(|family| Regex::new(family).ok()).collect());
    // A list that does not compile would let everything through.
    let Some(marks) = MARKS.as_ref() else { return std::iter::once(0..text.len()).collect() };
    let mut found: Vec<Range<usize>> = ['"', '\'', '`'].into_iter().flat_map(|mark| of_ascii(text, mark)).collect();
    found.extend(marks.iter().flat_map(|family| of_family(text, family)));
    found
}

/// Quotations in marks that open and close alike, and are apostrophes and code as well.
fn of_ascii(text: &str, mark: char) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut open, mut previous) = (None, ' ');
    let mut is_line_empty = true;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map_or(' ', |(_, next)| *next);
        match open {
            None if c == mark && !previous.is_alphanumeric() && !next.is_whitespace() => {
                open = Some((at, is_line_empty));
            }
            Some((start, is_alone)) if c == mark && !next.is_alphanumeric() => {
                // In backticks is a command, unless they hold the whole line.
                let is_quote = mark != '`' || is_alone;
                found.extend((is_quote && is_long(text, start..at)).then_some(start..at + 1));
                open = None;
            }
            // A quote does not reach over an empty line.
            Some(_) if c == '\n' && next == '\n' => open = None,
            _ => {}
        }
        is_line_empty = c == '\n' || (is_line_empty && !c.is_alphanumeric());
        previous = c;
    }
    found
}

fn of_family(text: &str, family: &Regex) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Option<usize> = None;
    for mark in family.find_iter(text) {
        let before = text.get(..mark.start()).and_then(|before| before.chars().next_back()).unwrap_or(' ');
        let after = text.get(mark.end()..).and_then(|after| after.chars().next()).unwrap_or(' ');
        // An apostrophe, or inches, beside which there is no blank in scripts that have blanks.
        let is_within_word = is_spaced_letter(before) && is_spaced_letter(after);
        match open {
            _ if is_within_word => {}
            None if !is_spaced_letter(before) && (!after.is_whitespace() || is_spaced(mark.as_str(), after)) => {
                open = Some(mark.start());
            }
            Some(start) => {
                found.extend(is_long(text, start..mark.start()).then_some(start..mark.end()));
                open = None;
            }
            None => {}
        }
    }
    found
}

/// True for a mark that opens with a blank after it, as in French: `« … »`.
fn is_spaced(mark: &str, after: char) -> bool {
    matches!(mark, "«" | "‹") && matches!(after, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}')
}

/// True for a letter or digit of a script that has blanks between words.
fn is_spaced_letter(c: char) -> bool {
    c.is_alphanumeric() && !is_word_alone(c)
}

/// True for a character of a script without blanks: each one counts as a word.
fn is_word_alone(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// True for a quotation of a sentence; a script without blanks has no words to count.
fn is_long(text: &str, range: Range<usize>) -> bool {
    let inner = text.get(range).unwrap_or_default();
    let n_alone = inner.chars().filter(|c| is_word_alone(*c)).count();
    let words = inner.split_whitespace().filter(|word| word.contains(char::is_alphanumeric));
    words.count() + n_alone >= QUOTED_WORDS
}
