//! Random tokens by their form and their place, whoever issued them.
//!
//! One pass over the bytes cuts a text into runs of token characters. A run is a secret when it is random and something beside it
//! says so: a prefix of its own (`abc_live_…`), or a name or a word before it. Which words say the opposite (`commit`, `msg_`)
//! is data of the table.

use std::ops::Range;

use crate::byte_set::ByteSet;
use crate::exceptions::Exceptions;
use crate::shape::{claims_nothing, encodes_a_name, is_digest, is_uuid, looks_random, words};

/// Shorter runs are too often names.
const MIN_LEN: usize = 20;
/// Longer runs are data.
const MAX_LEN: usize = 512;
/// At most so many bytes of the text before a run are looked at.
const BEFORE: usize = 96;
/// A prefix has at most so many parts.
const MAX_PREFIX_PARTS: usize = 4;
/// A jumble of more parts is a path or a title.
const MAX_PARTS: usize = 10;
/// Between the parts of a token.
const JOINTS: [char; 5] = ['_', '-', '.', '~', '|'];

/// What makes a random run a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// A prefix of its own, as in `abc_live_…`.
    Prefix,
    /// A name that it is the value of, or a word before it.
    Name,
}

/// The random runs of the text that have a sign of a secret, each read once.
pub(crate) fn find<'t>(text: &'t str, exceptions: &'t Exceptions) -> impl Iterator<Item = (Sign, Range<usize>)> + 't {
    runs(text).filter_map(move |run| {
        let token = Token::of(text, &run, exceptions)?;
        (!claims_nothing(token.value)).then_some((token.sign()?, token.range))
    })
}

/// Maximal runs of token bytes of a possible length. Most bytes are skipped: a gap in the next few says that no run begins before.
fn runs(text: &str) -> impl Iterator<Item = Range<usize>> {
    static TOKEN: ByteSet = ByteSet::alphanumeric_and(b"_-.~|");
    let is_token = |b: &u8| TOKEN.has(*b);
    let bytes = text.as_bytes();
    let mut start = 0;
    std::iter::from_fn(move || {
        loop {
            let shortest = bytes.get(start..start + MIN_LEN)?;
            if let Some(gap) = shortest.iter().rposition(|b| !is_token(b)) {
                start += gap + 1;
                continue;
            }
            let rest = bytes.get(start + MIN_LEN..)?;
            let run = start..start + MIN_LEN + rest.iter().take_while(|b| is_token(b)).count();
            start = run.end + 1;
            if run.len() <= MAX_LEN {
                return Some(run);
            }
        }
    })
}

/// A run that may be a token, and what is around it.
struct Token<'t> {
    value: &'t str,
    range: Range<usize>,
    /// The words of the line before it, the nearest last.
    before: Vec<&'t str>,
    /// A word of the line says that it is a sum or a commit.
    is_digest: bool,
    /// The words of the name that it is assigned to, or of the word before it; empty when nothing is before it.
    name: Vec<&'t str>,
    exceptions: &'t Exceptions,
}

impl<'t> Token<'t> {
    /// `None` for a run that is part of something longer, or has the form of something else.
    fn of(text: &'t str, run: &Range<usize>, exceptions: &'t Exceptions) -> Option<Self> {
        let at = |place: Option<usize>| place.and_then(|place| text.as_bytes().get(place)).copied().unwrap_or(b'\n');
        let (previous, next) = (at(run.start.checked_sub(1)), at(Some(run.end)));
        if b"/+\\%@#$,&?".contains(&previous) || b"/+%@#([{*".contains(&next) {
            return None;
        }
        let whole = text.get(run.clone())?;
        let value = whole.trim_matches(['-', '.', '|']);
        let start = run.start + whole.len() - whole.trim_start_matches(['-', '.', '|']).len();
        let named_otherwise =
            is_uuid(value) || is_ulid(value) || value.starts_with("0x") || is_file(value) || value.contains("..");
        if value.len() < MIN_LEN || named_otherwise || !mixes(value) || !is_uneven(value) {
            return None;
        }
        let before = text.get(text.floor_char_boundary(run.start.saturating_sub(BEFORE))..run.start)?;
        let line = before.rsplit('\n').next()?;
        let (name, named) = name_of(line);
        let is_of_a_thing = name.last().is_some_and(|last| exceptions.artifacts.has(last));
        if is_digest(value) && (is_file(named) || named.starts_with('/') || is_of_a_thing) {
            return None;
        }
        // `name: …` and `value: …` are often on lines of their own.
        let near = if is_word(&name, "value") { before } else { line };
        Some(Self {
            value,
            range: start..start + value.len(),
            before: words(near).collect(),
            is_digest: exceptions.mentions_digest(near),
            name,
            exceptions,
        })
    }

    fn sign(&self) -> Option<Sign> {
        if self.is_named_otherwise() || self.is_digest {
            return None;
        }
        if let Some((prefix, body)) = self.prefix() {
            let prefix: Vec<&str> = words(prefix).collect();
            let is_number = !body.bytes().any(|b| b.is_ascii_alphabetic());
            if self.other(&prefix) || encodes_a_name(body) || is_number {
                return None;
            }
            let promised = self.promises(&prefix) && body.len() >= 16 && looks_random(body);
            let random: usize = body.split(JOINTS).map(n_random).sum();
            if random * 2 > self.value.len()
                || (is_joined_jumble(body) && self.value.split(JOINTS).count() <= MAX_PARTS)
                || (random == 0 && promised)
            {
                return Some(Sign::Prefix);
            }
        }
        if self.name.is_empty() {
            return None;
        }
        let near = self.before.get(self.before.len().saturating_sub(5)..).unwrap_or_default();
        let promised = self.promises(near);
        let parts = || self.value.split(JOINTS);
        let random: usize = parts().filter(|part| promised || is_jumble(part)).map(n_random).sum();
        let hex_pair = parts().filter(|part| is_hex(part, 32)).count() >= 2;
        (random * 2 > self.value.len() || hex_pair || is_joined_jumble(self.value)).then_some(Sign::Name)
    }

    /// The name says that the value is something else. A name that ends with a promise keeps it, unless the word before takes it
    /// back (`cache key`).
    fn is_named_otherwise(&self) -> bool {
        // The numbers of a public JSON Web Key (RFC 7517); those of a private one have other names.
        let is_public_number = ["n", "x", "y"].iter().any(|name| is_word(&self.name, name));
        if is_public_number && self.before.iter().any(|word| word.eq_ignore_ascii_case("kty")) {
            return true;
        }
        let mut nearest = self.before.iter().rev();
        match nearest.next() {
            Some(last) if self.promises(std::slice::from_ref(last)) => nearest.next().is_some_and(|word| {
                let is_of_a_digest = is_digest(self.value) && self.exceptions.digest_qualifiers.has(word);
                is_of_a_digest || self.exceptions.qualifiers.has(word)
            }),
            _ => {
                let whole = self.name.concat();
                self.other(&self.name) || self.other(&[&whole]) || self.exceptions.has_stem(&whole)
            }
        }
    }

    fn other(&self, list: &[&str]) -> bool {
        list.iter().any(|word| self.exceptions.public_names.has(word))
    }

    fn promises(&self, list: &[&str]) -> bool {
        list.iter().any(|word| self.exceptions.announcing.has(word))
    }

    /// Up to four short parts that begin with a name, and all that follows.
    fn prefix(&self) -> Option<(&'t str, &'t str)> {
        let mut end = 0;
        for part in self.value.split(JOINTS).take(MAX_PREFIX_PARTS).take_while(|part| part.len() <= 12) {
            end += part.len() + 1;
        }
        let first = self.value.split(JOINTS).next()?;
        let is_name = (2..=12).contains(&first.len()) && first.starts_with(|c: char| c.is_ascii_alphabetic());
        (is_name && end > 0).then_some((self.value.get(..end)?, self.value.get(end..)?))
    }
}

/// A name of this one word, in whatever case.
fn is_word(name: &[&str], word: &str) -> bool {
    matches!(name, [only] if only.eq_ignore_ascii_case(word))
}

/// The words of the name before a value, whatever marks of an assignment are between them, and the name as it is written; nothing
/// of anything else.
fn name_of(line: &str) -> (Vec<&str>, &str) {
    let marks = |c: char| c.is_whitespace() || "\"'`=:>(),\\[{".contains(c);
    let bare = line.trim_end_matches(marks);
    let length = bare.bytes().rev().take_while(|b| b.is_ascii_alphanumeric() || b"_-.".contains(b)).count();
    let in_folder = bare.len() > length && bare.get(..bare.len() - length).is_some_and(|rest| rest.ends_with('/'));
    if bare.len() == line.len() {
        return (Vec::new(), "");
    }
    let written = bare.get(bare.len() - length - usize::from(in_folder)..).unwrap_or_default();
    let name: Vec<&str> = words(written).collect();
    // A version is not a name.
    let is_number = name.iter().all(|word| word.bytes().all(|b| b.is_ascii_digit()));
    (if is_number { Vec::new() } else { name }, written)
}

/// Letters and digits, or letters of both cases.
fn mixes(value: &str) -> bool {
    let has = |class: fn(&u8) -> bool| value.as_bytes().iter().any(class);
    let letters = has(u8::is_ascii_alphabetic);
    letters && (has(u8::is_ascii_digit) || (has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase)))
}

/// Has digits, or changes its case as words do not: a cheap look before the others.
fn is_uneven(value: &str) -> bool {
    let bytes = value.as_bytes();
    let cases = || bytes.chunk_by(|a, b| a.is_ascii_uppercase() == b.is_ascii_uppercase()).count();
    bytes.iter().filter(|b| b.is_ascii_digit()).count() >= 3 || cases() * 10 >= bytes.len() * 3
}

/// Digits among the letters, or letters in random case: no name is written so.
fn is_jumble(part: &str) -> bool {
    let class = |b: &u8| (b.is_ascii_digit(), b.is_ascii_uppercase());
    let n_changes = part.as_bytes().chunk_by(|a, b| class(a) == class(b)).count();
    let n_switches = part.as_bytes().chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()).count();
    let digits_inside = n_switches >= 4 && n_switches * 10 >= part.len() * 2;
    let hex = part.bytes().all(|b| b.is_ascii_hexdigit());
    part.len() >= 14 && !hex && (digits_inside || (n_changes * 10 >= part.len() * 4 && looks_random(part)))
}

/// The length of a part that nobody would write; long numbers count.
fn n_random(part: &str) -> usize {
    let number = part.len() >= 10 && part.bytes().all(|b| b.is_ascii_digit());
    if number || is_jumble(part) || is_hex(part, 24) { part.len() } else { 0 }
}

/// A jumble with joints anywhere, as in base64 for URLs.
fn is_joined_jumble(value: &str) -> bool {
    let bytes: Vec<u8> = value.bytes().filter(u8::is_ascii_alphanumeric).collect();
    let n_switches = bytes.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()).count();
    let both = bytes.iter().any(u8::is_ascii_lowercase) && bytes.iter().any(u8::is_ascii_uppercase);
    both && bytes.len() >= 22 && n_switches >= 6 && n_switches * 8 >= bytes.len()
}

fn is_hex(part: &str, min_len: usize) -> bool {
    part.len() >= min_len && part.bytes().all(|b| b.is_ascii_hexdigit()) && mixes(part)
}

/// A time and random bits that sort by time, in Crockford's base 32 (ULID specification).
fn is_ulid(value: &str) -> bool {
    let is_digit = |b: u8| b.is_ascii_digit() || (b.is_ascii_uppercase() && !b"ILOU".contains(&b));
    value.len() == 26 && value.starts_with(|c: char| ('0'..='7').contains(&c)) && value.bytes().all(is_digit)
}

/// Ends like a file's name.
fn is_file(value: &str) -> bool {
    let end = value.rsplit_once('.').map(|(_, end)| end);
    end.is_some_and(|end| (2..=4).contains(&end.len()) && end.bytes().all(|b| b.is_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random characters, put together so that no scanner takes this file for a leak.
    fn random() -> String {
        ["q7RtZ2mWx9LkB4v", "Ns8Yd1HcJ6pGf3TaE"].concat()
    }

    fn check(cases: &[(String, Option<Sign>)]) {
        let exceptions = Exceptions::parse();
        for (text, sign) in cases {
            assert_eq!(find(text, &exceptions).next().map(|(sign, _)| sign), *sign, "{text}");
        }
    }

    #[test]
    fn a_prefix_or_a_name_makes_a_random_run_a_secret() {
        let (value, hex) = (random(), "3f9a0c7be15d2468".repeat(2));
        check(&[
            (format!("acme_{value}"), Some(Sign::Prefix)),
            (format!("acme-live-{value}"), Some(Sign::Prefix)),
            (format!("acme_{hex}"), Some(Sign::Prefix)),
            (format!("acme = \"{value}\""), Some(Sign::Name)),
            (format!("acme {value}"), Some(Sign::Name)),
            (format!("acme access code {hex}"), Some(Sign::Name)),
            (format!("acme: {hex}.{}", "0c7be15d24683f9a".repeat(2)), Some(Sign::Name)),
            (value, None),
            (hex, None),
        ]);
    }

    #[test]
    fn what_is_named_otherwise_or_part_of_more_is_no_secret() {
        let (value, sum) = (random(), "3f9a0c7be15d2468be15d246".to_owned());
        let texts = [
            format!("msg_{value}"),
            format!("request_id={value}"),
            format!("cache key: {value}"),
            format!("csrfmiddlewaretoken={value}"),
            format!("sha256-{sum}{sum}"),
            format!("git show {sum}0c7be15d24683f9a"),
            format!("see docs/{value}/index.html"),
            format!("x = {value}/b"),
            format!("open acme-{value}.html"),
            "x = 123e4567-e89b-12d3-a456-426614174000".to_owned(),
            format!("dai = 0x{sum}"),
            "x = TestFindsSessionsAndTrimsWarmup2".to_owned(),
            "name = generate_token_v2_for_user_3".to_owned(),
            format!("acme {}", value.repeat(17)),
        ];
        check(&texts.map(|text| (text, None)));
    }

    #[test]
    fn each_byte_is_in_one_run_at_most() {
        let unit = format!("{} = \u{e9}{} .-| ", random(), random());
        let text = unit.repeat(1_000);
        let runs = runs(&text).collect::<Vec<_>>();
        assert_eq!(runs.len(), 2_000);
        assert!(runs.is_sorted_by(|a, b| a.end < b.start));
        assert!(runs.iter().all(|run| text.get(run.clone()) == Some(random().as_str())));
        assert_eq!(super::runs(&"a".repeat(1_000_000)).count(), 0);
    }
}
