//! Values that no rule describes: each candidate near a word that promises a secret is measured, and a fitted table says whether it is one.
//!
//! A candidate's traits are its form (length, kinds of characters, how much like words its letters are) and what is around it (the
//! words before and behind, the separator, the line). `weights.tsv` says what each level of each trait is worth; `scripts/fit_secrets.py`
//! fits it.

mod cut;
mod form;
mod traits;
mod weights;
mod words;

use std::ops::Range;

use self::traits::Measurer;
use self::weights::Weights;
use self::words::Said;

/// So many bytes before a word that promises a secret are read.
const BEFORE: usize = 160;
/// And so many behind it.
const BEHIND: usize = 320;
/// A word at the border of a window is read as a whole up to so many bytes.
const BORDER: usize = 256;
/// A plain word is a candidate only so near behind a word that promises a secret.
const NEAR: usize = 24;
/// And a number only so near.
const NEAR_NUMBER: usize = 60;

/// A value so long is data, unless something before it promises more.
const LONG: usize = 32;
/// What begins a key that may be seen.
const PUBLIC: [&str; 5] = ["PUBLIC KEY", "public key", "BEGIN CERTIFICATE", "ssh-rsa ", "ssh-ed25519 "];

pub(crate) use self::words::openers;

/// A value that may be a secret, and the level of each of its traits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) range: Range<usize>,
    pub(crate) levels: Vec<u16>,
}

/// The names of the traits and how many levels each has.
pub(crate) fn traits() -> &'static [(&'static str, u16)] {
    &traits::TRAITS
}

/// The secrets near some places of the text, in order, none overlapping another.
pub(crate) fn find(text: &str, places: &[Range<usize>], is_other: impl Fn(&Range<usize>) -> bool) -> Vec<Range<usize>> {
    let weights = Weights::shared();
    let (mut scored, mut measurer) = (Vec::new(), Measurer::default());
    each_candidate(text, places, |at, said| {
        let sum = weights.sum(&measurer.levels(text, &at, said, weights));
        // Few values score high, so what costs more is asked of those alone.
        if sum >= 0.0 && !is_other(&at) {
            scored.push((sum, at));
        }
    });
    scored.sort_by_key(|(_, at)| (at.start, at.end));
    let mut found: Vec<(f32, Range<usize>)> = Vec::new();
    for (sum, range) in scored {
        match found.last_mut() {
            // Of those that overlap the surest, of those as sure the longest.
            Some(last) if range.start < last.1.end => {
                if sum > last.0 || (sum >= last.0 && range.len() > last.1.len()) {
                    *last = (sum, range);
                }
            }
            _ => found.push((sum, range)),
        }
    }
    found.into_iter().map(|(_, range)| range).collect()
}

/// What may be a secret near some places of the text.
pub(crate) fn candidates(
    text: &str,
    places: &[Range<usize>],
    is_other: impl Fn(&Range<usize>) -> bool,
) -> Vec<Candidate> {
    let weights = Weights::shared();
    let (mut found, mut measurer) = (Vec::new(), Measurer::default());
    each_candidate(text, places, |range, said| {
        if !is_other(&range) {
            found.push(Candidate { levels: measurer.levels(text, &range, said, weights).to_vec(), range });
        }
    });
    found
}

/// Visits the values that are worth measuring, each with the words that are said around it.
fn each_candidate(text: &str, places: &[Range<usize>], mut visit: impl FnMut(Range<usize>, &[Said])) {
    for window in windows(text, &all_places(text, places)) {
        let Some(piece) = text.get(window.clone()) else { continue };
        let said = words::said(piece, window.start);
        let promises: Vec<Said> = said.iter().copied().filter(|said| said.says.promises()).collect();
        let is_public = PUBLIC.iter().any(|head| piece.contains(head));
        for at in cut::candidates(piece, window.start) {
            let value = text.get(at.clone()).unwrap_or_default();
            if is_public && value.len() >= 16 {
                continue;
            }
            if is_worth(text, value, &at, &promises) {
                visit(at, &said);
            }
        }
    }
}

/// The places of words that promise a secret and those of words that are odd by themselves, in order.
fn all_places(text: &str, places: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = cut::odd_words(text).collect();
    all.extend_from_slice(places);
    all.sort_unstable_by_key(|place| (place.start, place.end));
    all
}

/// Whether a value is worth measuring: plain words and numbers only right behind a word that promises a secret.
fn is_worth(text: &str, value: &str, at: &Range<usize>, promises: &[Said]) -> bool {
    let has = |class: fn(&u8) -> bool| value.as_bytes().iter().any(class);
    if promises.is_empty() && !is_chosen(value) {
        return false;
    }
    let before = promises.get(..promises.partition_point(|said| said.end <= at.start)).unwrap_or_default();
    let gap = |said: &Said| text.get(said.end..at.start).unwrap_or_default();
    // A promise of data is on the same line unless it says so by itself.
    let promises_data = |said: &Said| said.says != words::Says::Weak || !gap(said).contains('\n');
    if value.len() >= LONG && !before.iter().rev().any(promises_data) {
        return false;
    }
    let letters = has(u8::is_ascii_alphabetic);
    if letters && (has(u8::is_ascii_digit) || has(|b| b"!#$%&*+?@^~=".contains(b))) {
        return true;
    }
    let near = if letters { NEAR } else { NEAR_NUMBER };
    let mut near = before.iter().rev().take_while(|said| at.start - said.end <= near);
    near.any(|said| !gap(said).is_empty() && !gap(said).contains('\n'))
}

/// What a person or a generator would write for a password, whatever is around it.
fn is_chosen(value: &str) -> bool {
    let has = |class: fn(&u8) -> bool| value.as_bytes().iter().any(class);
    let both = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    (8..=24).contains(&value.len()) && has(u8::is_ascii_digit) && (both || has(|b| b"!#$%&*+?@^~".contains(b)))
}

/// What is read around some places, in order: no byte is read twice.
fn windows(text: &str, places: &[Range<usize>]) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let is_blank = |b: &u8| b.is_ascii_whitespace();
    let mut windows: Vec<Range<usize>> = Vec::new();
    for place in places {
        let read = windows.last().map_or(0, |last| last.end);
        if place.end + BEHIND / 2 <= read {
            continue;
        }
        let start = place.start.saturating_sub(BEFORE);
        let lead = bytes.get(start..place.start).and_then(|lead| lead.iter().position(is_blank)).unwrap_or(0);
        let start = text.floor_char_boundary(if start == 0 { 0 } else { start + lead });
        let end = (place.end + BEHIND).min(bytes.len());
        let rest = bytes.get(end..).map(|rest| rest.iter().take(BORDER).take_while(|b| !is_blank(b)).count());
        let end = text.floor_char_boundary(end + rest.unwrap_or(0));
        match windows.last_mut() {
            Some(last) if start <= last.end => last.end = last.end.max(end),
            _ => windows.push(start..end),
        }
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let places: Vec<Range<usize>> =
            words::said(text, 0).iter().filter(|said| said.says.promises()).map(|said| said.start..said.end).collect();
        let found: Vec<&str> = find(text, &places, |_| false).into_iter().filter_map(|at| text.get(at)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_value_that_its_place_promises_is_found_whatever_its_form() {
        for (text, secret) in [
            ("bindpw maple-otter-river-42", "maple-otter-river-42"),
            ("keytool -storepass M4ng0-u4 -alias acme", "M4ng0-u4"),
            ("el usuario es ana y la contraseña: Verano77Lluvia", "Verano77Lluvia"),
            ("数据库密码：qT7vLm2Zx9", "qT7vLm2Zx9"),
            ("  passwd = 0x55a0 \"Fl1nt-t0x\", flags = 0", "Fl1nt-t0x"),
        ] {
            check(text, &[secret]);
        }
    }

    #[test]
    fn names_counts_and_what_is_public_are_not_found() {
        for text in [
            "password_min_length = 12, token_count: 4417",
            "the token is stored in auth/session_store.rs, see login_handler_v2",
            "cache_dir: build-cargo-linux-release",
            "libpam-passwdqc python3-keyring",
            "-----BEGIN PUBLIC KEY-----\nVN9z9pY8Icat3c2nEI6BfjN2PXIvRqYSIy98GEwejN84rbHMYQkhMXIch1j0ngQa\n",
            "",
        ] {
            check(text, &[]);
        }
    }

    #[test]
    fn no_byte_is_read_twice() {
        let text = "password é ".repeat(500);
        let places: Vec<Range<usize>> = text.match_indices("password").map(|(at, word)| at..at + word.len()).collect();
        let windows = windows(&text, &places);
        assert!(windows.is_sorted_by(|a, b| a.end < b.start), "{windows:?}");
        assert!(windows.iter().all(|window| text.get(window.clone()).is_some()));
        assert!(places.iter().all(|place| windows.iter().any(|it| it.start <= place.start && place.end <= it.end)));
    }
}
