//! The words that say what a value beside them is.

use std::cell::Cell;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::rules::touches;

const TABLE: &str = include_str!("words.tsv");

/// What a word says of a value beside it. The order is that of the levels of the weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    Password,
    Strong,
    Weak,
    User,
    Digest,
    Public,
    Meta,
}

impl Says {
    pub(super) const ALL: [Self; 7] =
        [Self::Password, Self::Strong, Self::Weak, Self::User, Self::Digest, Self::Public, Self::Meta];

    /// A value near the word may be a secret.
    pub(super) fn promises(self) -> bool {
        matches!(self, Self::Password | Self::Strong | Self::Weak)
    }

    fn parse(name: &str) -> Option<Self> {
        let names = ["password", "strong", "weak", "user", "digest", "public", "meta"];
        names.iter().position(|it| *it == name).and_then(|at| Self::ALL.get(at)).copied()
    }
}

/// A word that was found, by its place in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) says: Says,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Words of a text in order, and how far they have been read: places that are asked for mostly come in order, too.
#[derive(Debug, Default)]
pub(super) struct SaidWords {
    pub(super) words: Vec<Said>,
    read: [Cell<usize>; 3],
}

impl SaidWords {
    pub(super) fn of(words: Vec<Said>) -> Self {
        Self { words, read: Default::default() }
    }

    /// Those that end before a place, or there, and the others.
    pub(super) fn split_at(&self, place: usize) -> (&[Said], &[Said]) {
        self.words.split_at(self.read_until(0, |said| said.end <= place))
    }

    /// Those that begin at a place of a range.
    pub(super) fn within(&self, range: Range<usize>) -> &[Said] {
        let from = self.read_until(1, |said| said.start < range.start);
        let to = self.read_until(2, |said| said.start < range.end);
        self.words.get(from..to).unwrap_or_default()
    }

    /// How many of the words are before a place, looked for from where the last such question ended.
    fn read_until(&self, question: usize, is_before: impl Fn(&Said) -> bool) -> usize {
        let Some(read) = self.read.get(question) else { return 0 };
        let mut n_before = read.get();
        while n_before > 0 && !self.words.get(n_before - 1).is_some_and(&is_before) {
            n_before -= 1;
        }
        while self.words.get(n_before).is_some_and(&is_before) {
            n_before += 1;
        }
        read.set(n_before);
        n_before
    }
}

struct Words {
    finder: AhoCorasick,
    says: Vec<Says>,
}

static WORDS: LazyLock<Option<Words>> = LazyLock::new(|| {
    let (mut words, mut says) = (Vec::new(), Vec::new());
    for (class, word) in listed() {
        words.push(word);
        says.push(class);
    }
    let finder = AhoCorasick::builder().ascii_case_insensitive(true).build(&words).ok()?;
    Some(Words { finder, says })
});

fn listed() -> impl Iterator<Item = (Says, String)> {
    let lines = TABLE.lines().filter_map(|line| line.split_once('\t'));
    let classes = lines.filter_map(|(class, words)| Some((Says::parse(class)?, words)));
    classes.flat_map(|(class, words)| words.split_whitespace().map(move |word| (class, word.replace('␣', " "))))
}

/// The words whose value often is a secret; a flag of one letter says too little.
pub(crate) fn openers() -> Vec<String> {
    listed().filter(|(says, word)| says.promises() && !word.starts_with(' ')).map(|(_, word)| word).collect()
}

/// The words of a text in order, of those that overlap the longest; `offset` is where the text begins.
pub(super) fn said(text: &str, offset: usize) -> Vec<Said> {
    let Some(words) = WORDS.as_ref() else { return Vec::new() };
    let mut out: Vec<Said> = Vec::new();
    // In the order of their ends, so a longer word comes after those that it begins with or holds.
    for found in words.finder.find_overlapping_iter(text) {
        let Some(&says) = words.says.get(found.pattern().as_usize()) else { continue };
        if !is_whole(text, found.start(), found.end()) {
            continue;
        }
        let (start, end) = (offset + found.start(), offset + found.end());
        if out.last().is_some_and(|last| last.start <= start && end <= last.end) {
            continue;
        }
        while out.last().is_some_and(|last| last.start >= start) {
            out.pop();
        }
        out.push(Said { says, start, end });
    }
    out
}

/// No letter of the same word is beside it, but for a hump and a plural.
fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let at = |place: Option<usize>| place.and_then(|place| text.as_bytes().get(place)).copied().unwrap_or(b' ');
    let first = at(Some(start));
    if !first.is_ascii() {
        return true;
    }
    let (previous, next) = (at(start.checked_sub(1)), at(Some(end)));
    let hump = previous.is_ascii_lowercase() && first.is_ascii_uppercase();
    // Names are run together with long words before them.
    let long = end - start >= 6 && (!first.is_ascii_uppercase() || previous.is_ascii_uppercase());
    let begins = hump || long || !first.is_ascii_alphanumeric() || !previous.is_ascii_alphabetic();
    let last = at(end.checked_sub(1));
    let plural = next.eq_ignore_ascii_case(&b's') && !touches(text, Some(end + 1), u8::is_ascii_alphabetic);
    let ends = plural
        || last == b' '
        || !next.is_ascii_alphabetic()
        || (last.is_ascii_lowercase() && next.is_ascii_uppercase());
    begins && ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_by_their_borders() {
        for (text, expected) in [
            ("dbPassword2", vec![Says::User, Says::Password]),
            ("tokenizer", vec![]),
            ("API_KEYS", vec![Says::Weak, Says::Weak]),
            ("monkey", vec![]),
            ("Mot de passe", vec![Says::Password]),
            ("数据库密码是", vec![Says::Password]),
            ("commit id", vec![Says::Digest, Says::Digest]),
            ("userPassword", vec![Says::User, Says::Password]),
            ("mypassword", vec![Says::Password]),
        ] {
            let found: Vec<Says> = said(text, 0).into_iter().map(|said| said.says).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
