//! Words that say what the value next to them is: a password, a digest, a public key, a user name.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;
use std::sync::LazyLock;

use crate::rules::{spelled, touches};
use crate::word_finder::WordFinder;

const TABLE: &str = include_str!("words.tsv");

/// What a word says of the value next to it, in the order of the trait's levels.
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

    /// True if the word announces a secret.
    pub(super) fn promises(self) -> bool {
        matches!(self, Self::Password | Self::Strong | Self::Weak)
    }

    fn parse(name: &str) -> Option<Self> {
        let names = ["password", "strong", "weak", "user", "digest", "public", "meta"];
        names.iter().position(|it| *it == name).and_then(|at| Self::ALL.get(at)).copied()
    }
}

/// A word in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) says: Says,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The words of a text in order. Queries mostly come in the order of the text, so each search starts where the last one ended.
#[derive(Debug, Default)]
pub(super) struct SaidWords {
    pub(super) words: Vec<Said>,
    read: [Cell<usize>; 3],
}

impl SaidWords {
    pub(super) fn of(words: Vec<Said>) -> Self {
        Self { words, read: Default::default() }
    }

    /// The words that end at or before a place, and the others.
    pub(super) fn split_at(&self, place: usize) -> (&[Said], &[Said]) {
        self.words.split_at(self.read_until(0, |said| said.end <= place))
    }

    /// The words that begin in a range.
    pub(super) fn within(&self, range: Range<usize>) -> &[Said] {
        let from = self.read_until(1, |said| said.start < range.start);
        let to = self.read_until(2, |said| said.start < range.end);
        self.words.get(from..to).unwrap_or_default()
    }

    /// The number of words for which `is_before` is true, searched from where the last search of this kind ended.
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

/// A word of the table.
struct Word {
    says: Says,
    word: Cow<'static, str>,
}

impl AsRef<str> for Word {
    fn as_ref(&self) -> &str {
        &self.word
    }
}

static WORDS: LazyLock<WordFinder<Word>> = LazyLock::new(|| WordFinder::new(listed().collect()));

fn listed() -> impl Iterator<Item = Word> {
    let lines = TABLE.lines().filter_map(|line| line.split_once('\t'));
    let classes = lines.filter_map(|(class, words)| Some((Says::parse(class)?, words)));
    classes.flat_map(|(says, words)| spelled(words).map(move |word| Word { says, word }))
}

/// The words that announce a secret, without flags of one letter, which say too little.
pub(crate) fn openers() -> Vec<Cow<'static, str>> {
    listed().filter(|it| it.says.promises() && !it.word.starts_with(' ')).map(|it| it.word).collect()
}

/// True if a word of the text names a password, in any of the languages of the table.
pub(crate) fn names_a_password(text: &str) -> bool {
    said(text, 0).iter().any(|said| said.says == Says::Password)
}

/// True if the last word of the table in a line announces a secret, and the word joined to it does not say that it is another thing, as
/// in `csrf_token`.
pub(crate) fn announces_value(line: &str) -> bool {
    match said(line, 0).as_slice() {
        [.., kind, last] if last.start <= kind.end + 1 => {
            last.says.promises() && !matches!(kind.says, Says::Digest | Says::Public)
        }
        [.., last] => last.says.promises(),
        [] => false,
    }
}

/// The words of a text in order, of overlapping ones the longest. `offset` is added to each place.
pub(super) fn said(text: &str, offset: usize) -> Vec<Said> {
    let mut out: Vec<Said> = Vec::new();
    WORDS.find(text, |at, Word { says, .. }| {
        let (start, end) = (offset + at.start, offset + at.end);
        if !is_whole(text, at.start, at.end) || out.last().is_some_and(|last| end <= last.end) {
            return;
        }
        out.pop_if(|last| last.start == start);
        out.push(Said { says: *says, start, end });
    });
    out
}

/// True if the match is a whole word, or a part of a name in camel case; a plural `s` may follow.
fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let at = |place: Option<usize>| place.and_then(|place| text.as_bytes().get(place)).copied().unwrap_or(b' ');
    let first = at(Some(start));
    if !first.is_ascii() {
        return true;
    }
    let (previous, next) = (at(start.checked_sub(1)), at(Some(end)));
    let hump = previous.is_ascii_lowercase() && first.is_ascii_uppercase();
    // A long word counts also at the end of a longer one, as in `mypassword`.
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
    fn the_word_nearest_to_a_value_announces_it() {
        for (line, expected) in [
            ("cherry-picked commit; the deploy key is ", true),
            ("md5 7 checked, apikey: ", true),
            ("token of commit ", false),
            ("<meta name=\"csrf-token\" content=\"", false),
            ("next_page_token=", false),
            ("publicKey: ", false),
            ("", false),
        ] {
            assert_eq!(announces_value(line), expected, "{line}");
        }
    }

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
