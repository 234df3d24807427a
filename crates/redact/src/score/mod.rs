//! Finds secrets that no rule describes: candidates near a word that announces a secret are measured, and a fitted table decides.
//!
//! A candidate's traits are its form (length, kinds of characters, how much like words its letters are, whether the
//! words are those of programs) and what is around it (the words before and after, the separator, the line, the rules
//! that found it). The words themselves are hashed into buckets. `weights.tsv` has the weight of each level of each
//! trait and of each bucket; `scripts/fit_secrets.py` fits it.

mod context;
mod cut;
mod form;
mod grams;
mod known;
mod traits;
mod weights;
mod words;

use std::cell::LazyCell;
use std::ops::Range;

use self::traits::{Measured, Measurer};
use self::weights::Weights;
use self::words::{Said, SaidWords};

/// Bytes that are read before a word that announces a secret.
const BEFORE: usize = 160;
/// Bytes that are read after it.
const BEHIND: usize = 320;
/// A word at the end of a window is read to its own end, up to this many bytes.
const BORDER: usize = 256;
/// A plain word is a candidate only this close after a word that announces a secret, in bytes.
const NEAR: usize = 48;
/// A value of this length is data unless a word announces a secret, in bytes.
const LONG: usize = 32;
/// A value of this length is data unless a word before it does.
const DATA: usize = 60;
/// A value with blanks of this length may be a wallet's seed phrase.
const MANY: usize = 60;
/// A plain word without a mark of assignment is measured only this close to the announcing word.
const SHORT: usize = 5;
/// A number is a candidate only this close.
const NEAR_NUMBER: usize = 60;
/// An upper bound, measured, of what a candidate's buckets and doubts add to the weights of its levels.
const REACH: f32 = 6.0;
/// What begins a public key.
const PUBLIC: [&str; 5] = ["PUBLIC KEY", "public key", "BEGIN CERTIFICATE", "ssh-rsa ", "ssh-ed25519 "];

pub(crate) use self::known::has_rare_words;
pub(crate) use self::words::{announces_value, names_a_password, openers};

/// A find of rules that the score has to confirm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) range: Range<usize>,
    /// The name and the check of each of the rules.
    pub(crate) rules: Vec<[&'static str; 2]>,
}

/// Why a value may not be a secret, in the order of the trait's levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Other {
    None,
    Sample,
    StandsIn,
    MadeUp,
    NoUse,
    Named,
    Public,
    Text,
    NearPublic,
}

impl Other {
    const N: u16 = 9;

    /// True if the reason alone rules the value out. A rule's find is ruled out only as a sample or as public; any
    /// other value by every reason, except words with dots, which may be a passphrase as well as a reference.
    fn decides(self, is_hit: bool, value: &str) -> bool {
        let dotted = |b: u8| b.is_ascii_alphanumeric() || b == b'.' || b == b'_';
        match self {
            Self::None => false,
            Self::Sample | Self::Public => true,
            Self::StandsIn if value.contains('.') && value.bytes().all(dotted) => false,
            _ => !is_hit,
        }
    }
}

/// A value that may be a secret, and the level of each of its traits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) range: Range<usize>,
    pub(crate) levels: Vec<u16>,
    /// The buckets of its text and surroundings.
    pub(crate) buckets: Vec<u16>,
    /// Its index among the hits, if it is one.
    pub(crate) hit: Option<usize>,
}

/// The name of each trait and the number of its levels.
pub(crate) fn traits() -> &'static [(&'static str, u16)] {
    &traits::TRAITS
}

/// The number of buckets.
pub(crate) fn n_buckets() -> usize {
    grams::N_BUCKETS
}

/// The indices of the hits that are secrets, and the other secrets near the given places, in order and without overlaps.
pub(crate) fn find(
    text: &str,
    places: &[Range<usize>],
    hits: &[Hit],
    other: impl Fn(&Range<usize>) -> Other,
) -> (Vec<usize>, Vec<Range<usize>>) {
    let weights = Weights::shared();
    let (mut kept, mut scored) = (Vec::new(), Vec::new());
    each_measured(text, places, hits, |measurer, range, hit, one, why| {
        let value = text.get(range.clone()).unwrap_or_default();
        let rules = hit.and_then(|hit| hits.get(hit)).map_or(&[][..], |hit| &hit.rules);
        let threshold = if hit.is_some() { -weights.ease } else { 0.0 };
        let is_near = |one: &Measured<'_>| weights.of_levels(&one.levels(rules.len())) >= -REACH;
        if !is_near(one) {
            return;
        }
        let of_buckets = measurer.buckets(one, rules, |buckets| weights.of_buckets(buckets));
        // The reason against it is costly, and most candidates fail without it.
        let sum = |one: &Measured<'_>| weights.of_levels(&one.levels(rules.len())) + of_buckets;
        if sum(one) + weights.most_for_other() < threshold {
            return;
        }
        if one.why(|| why(other(&range))).decides(hit.is_some(), value) || !is_near(one) {
            return;
        }
        let sum = sum(one);
        if sum < threshold {
            return;
        }
        match hit {
            Some(hit) => kept.push(hit),
            None => scored.push((sum, range)),
        }
    });
    scored.sort_by_key(|(_, at)| (at.start, at.end));
    let mut found: Vec<(f32, Range<usize>)> = Vec::new();
    for (sum, range) in scored {
        match found.last_mut() {
            // Of overlapping candidates the one with the highest score is kept; on a tie, the longest.
            Some(last) if range.start < last.1.end => {
                if sum > last.0 || (sum >= last.0 && range.len() > last.1.len()) {
                    *last = (sum, range);
                }
            }
            _ => found.push((sum, range)),
        }
    }
    (kept, found.into_iter().map(|(_, range)| range).collect())
}

/// The candidates near the given places, and the hits.
pub(crate) fn candidates(
    text: &str,
    places: &[Range<usize>],
    hits: &[Hit],
    other: impl Fn(&Range<usize>) -> Other,
) -> Vec<Candidate> {
    let mut found = Vec::new();
    each_measured(text, places, hits, |measurer, range, hit, one, why| {
        let value = text.get(range.clone()).unwrap_or_default();
        if one.why(|| why(other(&range))).decides(hit.is_some(), value) {
            return;
        }
        let rules = hit.and_then(|hit| hits.get(hit)).map_or(&[][..], |hit| &hit.rules);
        let mut buckets = measurer.buckets(one, rules, <[u16]>::to_vec);
        buckets.sort_unstable();
        found.push(Candidate { range, levels: one.levels(rules.len()).to_vec(), buckets, hit });
    });
    found
}

/// Visits the hits and the candidates that are worth measuring. The last argument of `visit` adds the doubt that a
/// public key is near.
fn each_measured<'t>(
    text: &'t str,
    places: &[Range<usize>],
    hits: &[Hit],
    mut visit: impl FnMut(&mut Measurer<'t>, Range<usize>, Option<usize>, &mut Measured<'t>, &dyn Fn(Other) -> Other),
) {
    let weights = Weights::shared();
    let mut measurer = Measurer::default();
    each_candidate(text, places, hits, |range, hit, said, is_public| {
        let value = text.get(range.clone()).unwrap_or_default();
        let is_told = || is_assigned(text, range.start) || (is_joined(value) && is_right_behind(&range, said));
        if hit.is_none() && measurer.is_name(value, weights) && !is_told() {
            return;
        }
        let mut one = measurer.measure(text, &range, said, weights);
        let why = |other: Other| match other {
            Other::None if value.len() >= 16 && is_public() => Other::NearPublic,
            other => other,
        };
        visit(&mut measurer, range.clone(), hit, &mut one, &why);
        if hit.is_some() {
            measurer.keep(range, one);
        }
    });
}

/// True if there is anything but lower-case letters.
fn is_joined(value: &str) -> bool {
    !value.bytes().all(|b| b.is_ascii_lowercase())
}

/// True right after a word for a password or a secret, or a short word away.
fn is_right_behind(at: &Range<usize>, said: &SaidWords) -> bool {
    said.split_at(at.start)
        .0
        .last()
        .is_some_and(|last| last.says.promises() && last.says != words::Says::Weak && at.start - last.end <= SHORT)
}

/// True after a quote, a mark of assignment, a flag, or another cell of a table.
fn is_assigned(text: &str, at: usize) -> bool {
    let lead = text.get(..at).unwrap_or_default();
    let before = lead.trim_end_matches(' ');
    let is_cell = lead.len() - before.len() >= 2 && !before.is_empty() && !before.ends_with('\n');
    let is_flag = || before.rsplit(char::is_whitespace).next().is_some_and(|word| word.starts_with('-'));
    is_cell || is_flag() || before.ends_with(['"', '\'', '`', '=', ':', '>', '(', '|', '\t', '→', '：', '「', '«'])
}

/// Visits the hits, which are in order, and the values that are worth measuring, each with the announcing words around it.
fn each_candidate(
    text: &str,
    places: &[Range<usize>],
    hits: &[Hit],
    mut visit: impl FnMut(Range<usize>, Option<usize>, &SaidWords, &dyn Fn() -> bool),
) {
    for window in windows(text, &all_places(text, places, hits)) {
        let Some(piece) = text.get(window.clone()) else { continue };
        let said = SaidWords::of(words::said(piece, window.start));
        let promises = SaidWords::of(said.words.iter().copied().filter(|said| said.says.promises()).collect());
        let is_public = LazyCell::new(|| has_public_key(piece));
        let first = hits.partition_point(|hit| hit.range.start < window.start);
        let of_window = hits.iter().enumerate().skip(first).take_while(|(_, hit)| hit.range.start < window.end);
        for (index, hit) in of_window {
            visit(hit.range.clone(), Some(index), &said, &|| *is_public);
        }
        for at in cut::candidates(piece, window.start) {
            let value = text.get(at.clone()).unwrap_or_default();
            if is_worth(text, value, &at, &promises) {
                visit(at, None, &said, &|| *is_public);
            }
        }
    }
}

/// The places of words that announce a secret, of words that look random, and of the hits, in order.
fn all_places(text: &str, places: &[Range<usize>], hits: &[Hit]) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = cut::mixed_words(text).collect();
    all.extend(hits.iter().map(|hit| hit.range.clone()));
    all.extend_from_slice(places);
    all.sort_unstable_by_key(|place| (place.start, place.end));
    all
}

/// True for a text with a public key: a head of [`PUBLIC`], or a JSON Web Key (RFC 7517) without a private member.
fn has_public_key(text: &str) -> bool {
    let is_web_key = || text.contains("\"kty\"") && !text.contains("\"d\"") && !text.contains("\"k\"");
    PUBLIC.iter().any(|head| text.contains(head)) || is_web_key()
}

/// True for a value that is worth measuring. A plain word or a number has to be close after a word that announces a
/// secret.
fn is_worth(text: &str, value: &str, at: &Range<usize>, promises: &SaidWords) -> bool {
    if value.len() >= MANY && (value.contains('\n') || value.contains(' ')) {
        return !promises.words.is_empty();
    }
    if promises.words.is_empty() && !cut::is_mixed_word(value) {
        return false;
    }
    let (before, behind) = promises.split_at(at.start);
    let gap = |said: &Said| text.get(said.end..at.start).unwrap_or_default();
    // A weak word announces data only on its own line.
    let promises_data = |said: &Said| said.says != words::Says::Weak || !gap(said).contains('\n');
    let is_data = (promises.words.is_empty() && value.len() >= LONG) || value.len() >= DATA;
    if is_data && !before.iter().rev().any(promises_data) {
        return false;
    }
    let kinds = cut::kinds(value);
    if kinds.letters && kinds.others {
        return true;
    }
    let letters = kinds.letters;
    let near = if letters { NEAR } else { NEAR_NUMBER };
    let is_flag = |said: &Said| text.as_bytes().get(said.start) == Some(&b' ');
    let mut near_before = before.iter().rev().take_while(|said| at.start - said.end <= near);
    let is_named = near_before.any(|said| {
        let gap = gap(said);
        (!gap.is_empty() || is_flag(said)) && gap.bytes().filter(|b| *b == b'\n').count() <= 1
    });
    // Such as a value that is piped into a program that asks for a password.
    let is_quoted =
        || at.start.checked_sub(1).and_then(|at| text.as_bytes().get(at)).is_some_and(|b| b"\"'".contains(b));
    let is_piped = || behind.iter().find(|said| said.start >= at.end).is_some_and(|said| said.start - at.end <= near);
    is_named || (is_quoted() && is_piped())
}

/// The windows around places, in order and disjoint.
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
        let found: Vec<&str> =
            find(text, &places, &[], |_| Other::None).1.into_iter().filter_map(|at| text.get(at)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_value_after_an_announcing_word_is_found_in_any_form() {
        for (text, secret) in [
            ("bindpw maple-otter-river-42", "maple-otter-river-42"),
            ("keytool -storepass M4ng0-u4 -alias acme", "M4ng0-u4"),
            ("el usuario es ana y la contraseña: Verano77Lluvia", "Verano77Lluvia"),
            ("数据库密码：qT7vLm2Zx9", "qT7vLm2Zx9"),
            ("  passwd = 0x55a0 \"Fl1nt-t0x\", flags = 0", "Fl1nt-t0x"),
            ("salasana: Kuura88Lahti", "Kuura88Lahti"),
            ("Şifre: Zeytin55Dal", "Zeytin55Dal"),
            ("كلمة المرور: Zeytin55Dal", "Zeytin55Dal"),
            ("پاس ورڈ: Zeytin55Dal", "Zeytin55Dal"),
            ("passwrod is Zeytin55Dal", "Zeytin55Dal"),
            ("password | olive-kettle-moss-42 |", "olive-kettle-moss-42"),
            ("the vault pw is olive-kettle-moss", "olive-kettle-moss"),
        ] {
            check(text, &[secret]);
        }
    }

    #[test]
    fn names_counts_and_public_keys_are_not_found() {
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
    fn a_web_key_is_public_without_its_private_member() {
        for (text, expected) in [
            (r#"{"kty":"OKP","crv":"Ed25519","x":"CMMLxZtdPiU8oQR2zWdg8S"}"#, true),
            (r#"{"kty":"OKP","crv":"Ed25519","x":"CMMLxZtdPi","d":"zWdg8Szb7LiKSV4Ig"}"#, false),
            (r#"{"kty":"oct","k":"zWdg8Szb7LiKSV4IgpSsQXKu"}"#, false),
            (r#"{"k":"zWdg8Szb7LiKSV4IgpSsQXKu"}"#, false),
        ] {
            assert_eq!(has_public_key(text), expected, "{text}");
        }
    }

    #[test]
    fn windows_are_disjoint_and_cover_every_place() {
        let text = "password é ".repeat(500);
        let places: Vec<Range<usize>> = text.match_indices("password").map(|(at, word)| at..at + word.len()).collect();
        let windows = windows(&text, &places);
        assert!(windows.is_sorted_by(|a, b| a.end < b.start), "{windows:?}");
        assert!(windows.iter().all(|window| text.get(window.clone()).is_some()));
        assert!(places.iter().all(|place| windows.iter().any(|it| it.start <= place.start && place.end <= it.end)));
    }
}
