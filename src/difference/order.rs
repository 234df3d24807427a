//! The same words in another order, for the merge guard: clauses may be exchanged, things and steps may not.

use super::exchange::{is_filler, is_limiting};
use super::forms::form;
use super::token::{Kind, Token};

/// Words that begin a clause that can be before or after the rest of the sentence.
const OPENERS: [&str; 28] = [
    "if",
    "when",
    "whenever",
    "while",
    "because",
    "since",
    "as",
    "before",
    "after",
    "until",
    "unless",
    "once",
    "without",
    "with",
    "in",
    "at",
    "for",
    "on",
    "by",
    "from",
    "during",
    "instead of",
    "rather than",
    "to",
    "although",
    "though",
    "due to",
    "owing to",
];

/// A word with its normal form.
struct Word<'a> {
    form: String,
    token: &'a Token,
    /// The number of its clause.
    clause: usize,
}

/// True if both texts have the same words, and the changed order changes the meaning: two things around a third, two steps, or
/// the scope of a negation.
pub(super) fn is_reordered(ours: &[Token], theirs: &[Token]) -> bool {
    let (our_words, their_words) = (words(ours), words(theirs));
    let forms = |words: &[Word<'_>]| words.iter().map(|word| word.form.clone()).collect::<Vec<_>>();
    let (our_forms, their_forms) = (forms(&our_words), forms(&their_words));
    let sorted = |forms: &[String]| {
        let mut forms = forms.to_vec();
        forms.sort_unstable();
        forms
    };
    if our_forms == their_forms || sorted(&our_forms) != sorted(&their_forms) {
        return false;
    }
    let lower = |tokens: &[Token]| {
        let mut texts: Vec<String> = tokens.iter().map(|token| token.text.to_lowercase()).collect();
        texts.sort_unstable();
        texts
    };
    let is_verbatim = lower(ours) == lower(theirs);
    let (start, end) = changed(&our_forms, &their_forms);
    let ours = our_words.get(start..end).unwrap_or_default();
    let theirs = their_words.get(start..end).unwrap_or_default();
    is_crossed(ours, theirs)
        || is_another_sequence(ours, theirs)
        || are_names_exchanged(ours, theirs)
        || is_limit_moved(&our_words, &their_words)
        || (ours.len() == 2 && is_verbatim && !ours.iter().any(is_movable))
}

fn words(tokens: &[Token]) -> Vec<Word<'_>> {
    let mut clause = 0;
    let mut words: Vec<Word<'_>> = Vec::new();
    for token in tokens {
        let is_ended = words.last().is_some_and(|word| word.token.ends_clause) || opens(token);
        clause += usize::from(is_ended);
        if !is_filler(token) {
            words.push(Word { form: form(token), token, clause });
        }
    }
    words
}

fn opens(token: &Token) -> bool {
    OPENERS.contains(&token.text.to_lowercase().as_str())
}

fn is_movable(word: &Word<'_>) -> bool {
    opens(word.token) || word.token.text.ends_with("ly") || word.token.text.eq_ignore_ascii_case("first")
}

/// The range in which two lists of equal length differ.
fn changed(ours: &[String], theirs: &[String]) -> (usize, usize) {
    let start = ours.iter().zip(theirs).take_while(|(one, other)| one == other).count();
    let n_behind = ours.iter().rev().zip(theirs.iter().rev()).take_while(|(one, other)| one == other).count();
    (start, ours.len() - n_behind.min(ours.len() - start))
}

/// Within a clause, two words are exchanged around a third: "staging onto production".
fn is_crossed(ours: &[Word<'_>], theirs: &[Word<'_>]) -> bool {
    let sides = |words: &[Word<'_>], middle: &str| -> Option<[Vec<String>; 2]> {
        let place = words.iter().position(|word| word.form == middle)?;
        let clause = words.get(place)?.clause;
        let forms = |words: &[Word<'_>]| {
            words.iter().filter(|word| word.clause == clause).map(|word| word.form.clone()).collect()
        };
        Some([forms(words.get(..place)?), forms(words.get(place + 1..)?)])
    };
    ours.iter().any(|middle| {
        let (Some([before, behind]), Some([before_there, behind_there])) =
            (sides(ours, &middle.form), sides(theirs, &middle.form))
        else {
            return false;
        };
        before.iter().any(|word| behind_there.contains(word)) && behind.iter().any(|word| before_there.contains(word))
    })
}

/// Two names are in each other's place, and something other than "and" is between them: "use `HashMap`, not `BTreeMap`".
fn are_names_exchanged(ours: &[Word<'_>], theirs: &[Word<'_>]) -> bool {
    let is_between = |word: &Word<'_>| !["and", "or", "und", "oder", "y", "o"].contains(&word.form.as_str());
    let (Some((first, behind)), Some((last, _))) = (ours.split_first(), ours.split_last()) else { return false };
    let (Some(first_there), Some(last_there)) = (theirs.first(), theirs.last()) else { return false };
    let is_value = |word: &Word<'_>| word.token.kind != Kind::Word;
    is_value(first)
        && is_value(last)
        && first.form == last_there.form
        && last.form == first_there.form
        && behind.split_last().is_some_and(|(_, between)| between.iter().any(is_between))
}

/// Two clauses are exchanged, and neither begins with a word of a movable clause: "commit; push" and "push; commit".
fn is_another_sequence(ours: &[Word<'_>], theirs: &[Word<'_>]) -> bool {
    (1..ours.len()).any(|cut| {
        let (first, second) = ours.split_at(cut);
        let (second_there, first_there) = theirs.split_at(theirs.len() - cut);
        let is_same =
            |a: &[Word<'_>], b: &[Word<'_>]| a.iter().map(|word| &word.form).eq(b.iter().map(|word| &word.form));
        let is_step = |words: &[Word<'_>]| words.first().is_some_and(|word| !opens(word.token));
        is_same(first, first_there)
            && is_same(second, second_there)
            && first.last().is_some_and(|word| word.token.ends_clause)
            && is_step(first)
            && is_step(second)
    })
}

/// A word such as `not` or `only` is next to another word than before, unless it is at an edge of its clause in both texts.
fn is_limit_moved(ours: &[Word<'_>], theirs: &[Word<'_>]) -> bool {
    let (ours, theirs) = (limits(ours), limits(theirs));
    ours.iter().any(|limit| {
        let is_kept = |other: &Limit| {
            limit.form == other.form
                && ((limit.is_at_edge && other.is_at_edge)
                    || limit.beside.iter().any(|word| other.beside.contains(word)))
        };
        !theirs.iter().any(is_kept)
    })
}

struct Limit {
    form: String,
    /// The words of its clause before it and behind it.
    beside: Vec<String>,
    is_at_edge: bool,
}

fn limits(words: &[Word<'_>]) -> Vec<Limit> {
    let limits = words.iter().enumerate().filter(|(_, word)| is_limiting(word.token));
    let limit = |(place, word): (usize, &Word<'_>)| {
        let beside = [place.checked_sub(1), Some(place + 1)].into_iter().flatten().filter_map(|place| words.get(place));
        let beside: Vec<String> =
            beside.filter(|other| other.clause == word.clause).map(|other| other.form.clone()).collect();
        Limit { form: word.form.clone(), is_at_edge: beside.len() < 2, beside }
    };
    limits.map(limit).collect()
}
