//! Detects texts that agree except in one or two positions. They are different lessons, unless the words there are forms of
//! each other.

use std::collections::BTreeSet;

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices};

use super::forms::{form, is_joined};
use super::polarity::is_double_negation;
use super::side::PHRASING;
use super::token::{Kind, Token};

/// Words that can be omitted without a change of meaning.
const FILLERS: [&str; 57] = [
    "a",
    "an",
    "the",
    "this",
    "these",
    "those",
    "it",
    "its",
    "they",
    "them",
    "their",
    "he",
    "she",
    "his",
    "her",
    "we",
    "you",
    "i",
    "our",
    "your",
    "my",
    "us",
    "is",
    "are",
    "was",
    "were",
    "be",
    "been",
    "being",
    "has",
    "have",
    "had",
    "do",
    "does",
    "did",
    "will",
    "would",
    "then",
    "also",
    "too",
    "just",
    "so",
    "actually",
    "really",
    "simply",
    "therefore",
    "thus",
    "hence",
    "please",
    "there",
    "get",
    "gets",
    "got",
    "—",
    "–",
    "-",
    "&",
];

/// Conjunctions that are interchangeable.
const WEAK: [&str; 8] = ["of", "for", "in", "inside", "within", "at", "on", "with"];

/// Function words. A side with only these has no content of its own.
const GRAMMAR: [&str; 14] =
    ["that", "which", "whose", "who", "where", "and", "than", "more", "as", "when", "because", "while", "to", "by"];

/// Function words that change the meaning.
const CONTRASTS: [&str; 18] = [
    "or", "unless", "except", "without", "but", "if", "until", "out", "off", "up", "down", "over", "under", "from",
    "into", "before", "after", "outside",
];

/// Words that restrict or invert a statement: on one side only, they make it a different lesson.
const LIMITING: [&str; 16] = [
    "not",
    "no",
    "never",
    "none",
    "nor",
    "without",
    "unless",
    "except",
    "only",
    "most",
    "some",
    "few",
    "may",
    "might",
    "sometimes",
    "neither",
];

/// Words that occur with one of these.
const MODAL: [&str; 5] = ["must", "can", "could", "should", "be"];

/// The maximum number of positions in which two lessons may differ to be compared word by word.
const MAX_PLACES: usize = 3;

/// The maximum number of positions in which a field may differ to be compared word by word, whatever the other fields are.
const MAX_PLACES_OF_FIELD: usize = 1;

/// The maximum number of words in an exchange; more words are a rewording.
const MAX_EXCHANGED: usize = 4;

/// The exchanged words; a side without content is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Exchanged {
    /// The number of the field.
    pub(super) field: usize,
    pub(super) ours: String,
    pub(super) theirs: String,
}

/// The same field of both lessons.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair<'a> {
    pub(super) ours: &'a [Token],
    pub(super) theirs: &'a [Token],
}

/// The first exchange in the fields of two lessons.
pub(super) fn exchanged<'a>(pairs: &[Pair<'a>]) -> Option<Exchanged> {
    let of_pair = |(field, pair): (usize, &Pair<'a>)| {
        (!is_double_negation(pair.ours, pair.theirs)).then(|| (field, Aligned::new(*pair)))
    };
    let aligned: Vec<(usize, Aligned<'a>)> = pairs.iter().enumerate().filter_map(of_pair).collect();
    // A word that is exchanged at every occurrence counts as one position.
    let places: BTreeSet<(String, String)> = aligned.iter().flat_map(|(_, aligned)| aligned.texts()).collect();
    let n_other: usize = aligned.iter().map(|(_, aligned)| aligned.n_other()).sum();
    let is_most = 2 * n_other <= aligned.iter().map(|(_, aligned)| aligned.n_words()).sum();
    let is_word_by_word = places.len() <= MAX_PLACES && is_most;
    let is_compared = |aligned: &Aligned<'_>| is_word_by_word || aligned.is_in_agreement();
    let compared = aligned.iter().filter(|(_, aligned)| is_compared(aligned));
    let mut found = compared.filter_map(|(field, aligned)| {
        let (ours, theirs) = aligned.word_by_word()?;
        Some(Exchanged { field: *field, ours, theirs })
    });
    found.next()
}

/// Two texts, word by word.
struct Aligned<'a> {
    ours: Vec<&'a Token>,
    theirs: Vec<&'a Token>,
    /// The positions where they differ.
    places: Vec<DiffOp>,
}

impl<'a> Aligned<'a> {
    fn new(pair: Pair<'a>) -> Self {
        let words = |tokens: &'a [Token]| tokens.iter().filter(|token| !is_filler(token)).collect::<Vec<_>>();
        let (ours, theirs) = (words(pair.ours), words(pair.theirs));
        let keys = |words: &[&Token]| words.iter().map(|word| form(word)).collect::<Vec<_>>();
        let ops = capture_diff_slices(Algorithm::Myers, &keys(&ours), &keys(&theirs));
        let places = ops.into_iter().filter(|op| op.tag() != DiffTag::Equal).collect();
        Self { ours, theirs, places }
    }

    /// True if nearly all of the field is equal.
    fn is_in_agreement(&self) -> bool {
        const AGREEING: f32 = 0.8;
        let n_same = self.n_words().saturating_sub(self.n_other());
        self.places.len() <= MAX_PLACES_OF_FIELD && n_same as f32 >= AGREEING * self.n_words() as f32
    }

    fn n_words(&self) -> usize {
        self.ours.len().max(self.theirs.len())
    }

    /// The words at the positions where they differ.
    fn n_other(&self) -> usize {
        self.places.iter().map(|place| place.old_range().len().max(place.new_range().len())).sum()
    }

    /// The content of each side at a position.
    fn sides(&self) -> impl Iterator<Item = [&[&'a Token]; 2]> {
        self.places.iter().map(|place| {
            let ours = self.ours.get(place.old_range()).unwrap_or_default();
            [ours, self.theirs.get(place.new_range()).unwrap_or_default()]
        })
    }

    fn texts(&self) -> impl Iterator<Item = (String, String)> {
        self.sides().map(|[ours, theirs]| (text(ours).to_lowercase(), text(theirs).to_lowercase()))
    }

    fn word_by_word(&self) -> Option<(String, String)> {
        let [ours, theirs] = self.sides().find(|[ours, theirs]| is_exchange(ours, theirs))?;
        Some((source_text(ours), source_text(theirs)))
    }
}

fn is_exchange(ours: &[&Token], theirs: &[&Token]) -> bool {
    let strong = |run: &[&Token]| -> usize {
        run.iter().filter(|token| !is_one_of(&WEAK, token) && !is_one_of(&GRAMMAR, token)).count()
    };
    let (n_ours, n_theirs) = (strong(ours), strong(theirs));
    if n_ours.min(n_theirs) > 0 {
        let is_one = is_same_name(ours, theirs)
            || is_joined(ours, theirs)
            || is_same_bag(ours, theirs)
            || is_rephrased(ours, theirs);
        return n_ours.max(n_theirs) <= MAX_EXCHANGED && !is_one;
    }
    let n_words = n_ours.max(n_theirs);
    let both_runs = || ours.iter().chain(theirs);
    let is_limit = both_runs().any(|token| is_limiting(token))
        && both_runs().all(|token| {
            is_limiting(token) || is_one_of(&WEAK, token) || is_one_of(&GRAMMAR, token) || is_one_of(&MODAL, token)
        });
    // In place of another word: "or" for "and".
    let both = !ours.is_empty() && !theirs.is_empty();
    is_limit || (both && n_words == 1 && both_runs().any(|token| is_one_of(&CONTRASTS, token)))
}

fn is_same_name(ours: &[&Token], theirs: &[&Token]) -> bool {
    matches!((ours, theirs), ([one], [other]) if one.is_name() && other.is_same_name(&one.normal))
}

/// "Prefer" for "Enforce the use of" is a rewording. One word for another may be a different rule.
fn is_rephrased(ours: &[&Token], theirs: &[&Token]) -> bool {
    let is_phrasing = |token: &&Token| is_one_of(&WEAK, token) || PHRASING.contains(&token.normal.as_str());
    ours.len() != theirs.len() && ours.iter().chain(theirs).all(is_phrasing)
}

fn is_same_bag(ours: &[&Token], theirs: &[&Token]) -> bool {
    let (ours, theirs) = unmatched(ours, theirs);
    ours.is_empty() && theirs.is_empty()
}

/// The words of each side that are in no form on the other side.
fn unmatched(ours: &[&Token], theirs: &[&Token]) -> (Vec<usize>, Vec<usize>) {
    let mut left: Vec<(usize, String)> = theirs.iter().map(|word| form(word)).enumerate().collect();
    let mut alone = Vec::new();
    for (place, word) in ours.iter().enumerate() {
        let form = form(word);
        match left.iter().position(|(_, other)| *other == form) {
            Some(matched) => drop(left.remove(matched)),
            None => alone.push(place),
        }
    }
    (alone, left.into_iter().map(|(place, _)| place).collect())
}

fn text(run: &[&Token]) -> String {
    run.iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// The words as the lesson has them: what was written without white space stays together.
fn source_text(run: &[&Token]) -> String {
    let mut text = String::new();
    for token in run {
        let joint = token.joint.as_deref().unwrap_or(" ");
        text.push_str(if text.is_empty() { "" } else { joint });
        text.push_str(&token.text);
    }
    text
}

pub(super) fn is_filler(token: &Token) -> bool {
    is_one_of(&FILLERS, token)
}

pub(super) fn is_limiting(token: &Token) -> bool {
    is_one_of(&LIMITING, token)
}

fn is_one_of(words: &[&str], token: &Token) -> bool {
    token.kind == Kind::Word && words.iter().any(|word| token.text.eq_ignore_ascii_case(word))
}
