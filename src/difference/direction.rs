//! Direction, for the merge guard: "from A to B" and "from B to A" differ.

use super::token::{Token, first_sentence};
use crate::lexical::is_telling;

/// Words between two things whose order matters.
const HINGES: [&str; 15] = [
    "to",
    "into",
    "onto",
    "over",
    "before",
    "after",
    "than",
    "instead",
    "instead of",
    "rather than",
    "from",
    "nach",
    "vor",
    "statt",
    "against",
];

/// The number of content words on each side of such a word that belong to it.
const REACH: usize = 3;

/// True if both texts have the same such word, and the words before and after it are exchanged.
pub(crate) fn is_turned(a: &[Token], b: &[Token]) -> bool {
    HINGES.iter().any(|hinge| {
        let (ours, theirs) = (sides(a, hinge), sides(b, hinge));
        ours.iter().any(|ours| theirs.iter().any(|theirs| is_swapped(ours, theirs)))
    })
}

struct Sides<'a> {
    before: Vec<&'a str>,
    behind: Vec<&'a str>,
}

fn is_swapped(a: &Sides<'_>, b: &Sides<'_>) -> bool {
    // A word on the same side in both texts has not moved.
    let moved = |from: &[&str], to: &[&str], stayed: &[&str], origin: &[&str]| {
        from.iter().any(|word| to.contains(word) && !stayed.contains(word) && !origin.contains(word))
    };
    moved(&a.before, &b.behind, &b.before, &a.behind) && moved(&a.behind, &b.before, &b.behind, &a.before)
}

/// The words before and after each occurrence of the word, within a sentence.
fn sides<'a>(tokens: &'a [Token], hinge: &str) -> Vec<Sides<'a>> {
    let hinges = tokens.iter().enumerate().filter(|(_, token)| token.text.eq_ignore_ascii_case(hinge));
    let telling = |token: &&'a Token| is_telling(&token.normal);
    let sides = hinges.map(|(place, _)| {
        let before = tokens.get(..place).unwrap_or_default().iter().rev().take_while(|token| !token.ends_sentence);
        let behind = first_sentence(tokens.get(place + 1..).unwrap_or_default()).iter();
        Sides {
            before: before.filter(telling).take(REACH).map(|token| token.normal.as_str()).collect(),
            behind: behind.filter(telling).take(REACH).map(|token| token.normal.as_str()).collect(),
        }
    });
    sides.collect()
}
