//! Which way round: "from A to B" against "from B to A", for the merge guard.

use super::token::{Token, first_sentence};
use crate::lexical::is_telling;

/// Words between two things of which it matters which comes first.
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

/// How many telling words on each side of a hinge belong to it.
const REACH: usize = 3;

/// True when both texts have the same hinge and what stands before it in one stands behind it in the other, both ways.
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
    // A word on the same side of both hinges has not moved.
    let moved = |from: &[&str], to: &[&str], stayed: &[&str], origin: &[&str]| {
        from.iter().any(|word| to.contains(word) && !stayed.contains(word) && !origin.contains(word))
    };
    moved(&a.before, &b.behind, &b.before, &a.behind) && moved(&a.behind, &b.before, &b.behind, &a.before)
}

/// What stands before and behind each place of the hinge, within a sentence.
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
