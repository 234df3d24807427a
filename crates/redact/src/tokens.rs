//! Finds random tokens of any issuer by their form and their surroundings.
//!
//! One pass over the bytes splits a text into runs of token characters. A run is a secret if it is random and has
//! evidence of being one: a prefix of its own (`abc_live_…`), or a name or a word before it. The words that exclude a
//! run (`commit`, `msg_`) are in the table of rules.

use std::ops::Range;

use crate::byte_set::ByteSet;
use crate::exceptions::Exceptions;
use crate::shape::{claims_nothing, encodes_a_name, is_digest, is_uuid, looks_random, words};

/// The least length of a run, in bytes; shorter runs are too often names.
const MIN_LEN: usize = 20;
/// The greatest length of a run, in bytes; longer runs are data.
const MAX_LEN: usize = 512;
/// Bytes before a run that are read.
const BEFORE: usize = 96;
/// The greatest number of parts in a prefix.
const MAX_PREFIX_PARTS: usize = 4;
/// The greatest number of parts in a token that is random only across its joints; more parts are a path or a title.
const MAX_PARTS: usize = 10;
/// The characters between the parts of a token.
const JOINTS: [char; 5] = ['_', '-', '.', '~', '|'];

/// The evidence that a random run is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// A prefix of the run, as in `abc_live_…`.
    Prefix,
    /// A name that the run is assigned to, or a word before it.
    Name,
}

/// The random runs of a text that are secrets by their surroundings, in order, each with its evidence.
pub(crate) fn find<'t>(
    text: &'t str,
    exceptions: &'t Exceptions,
) -> impl Iterator<Item = (Evidence, Range<usize>)> + 't {
    runs(text).filter_map(move |run| {
        let token = Token::of(text, &run, exceptions)?;
        (!claims_nothing(token.value)).then_some((token.evidence()?, token.range))
    })
}

/// The maximal runs of token bytes with a possible length. Most bytes are skipped: no run of the least length spans a
/// gap in the next [`MIN_LEN`] bytes.
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

/// A run that may be a token, and its surroundings.
struct Token<'t> {
    value: &'t str,
    range: Range<usize>,
    /// The words before it on its line, the nearest last.
    before: Vec<&'t str>,
    /// The words of the name that it is assigned to, or of the word before it; empty without either.
    name: Vec<&'t str>,
    exceptions: &'t Exceptions,
}

impl<'t> Token<'t> {
    /// The token of a run; `None` for a part of a path or URL, and for a form that is not a token: an identifier, a
    /// file name, a version's digest.
    fn of(text: &'t str, run: &Range<usize>, exceptions: &'t Exceptions) -> Option<Self> {
        let at = |place: Option<usize>| place.and_then(|place| text.as_bytes().get(place)).copied().unwrap_or(b'\n');
        let (previous, next) = (at(run.start.checked_sub(1)), at(Some(run.end)));
        if b"/+\\%@#$,&?".contains(&previous) || b"/+%@#([{*".contains(&next) {
            return None;
        }
        let whole = text.get(run.clone())?;
        let value = whole.trim_matches(['-', '.', '|']);
        let start = run.start + whole.len() - whole.trim_start_matches(['-', '.', '|']).len();
        let is_of_other_form =
            is_uuid(value) || is_ulid(value) || value.starts_with("0x") || is_file(value) || value.contains("..");
        if value.len() < MIN_LEN || is_of_other_form || !has_mixed_bytes(value) || !is_uneven(value) {
            return None;
        }
        let before = text.get(text.floor_char_boundary(run.start.saturating_sub(BEFORE))..run.start)?;
        let line = before.rsplit('\n').next()?;
        let (name, named) = name_of(line);
        if (is_digest(value) && (is_file(named) || named.starts_with('/'))) || exceptions.says_public(line) {
            return None;
        }
        // `name: …` and `value: …` are often on consecutive lines.
        let near = if is_word(&name, "value") { before } else { line };
        Some(Self { value, range: start..start + value.len(), before: words(near).collect(), name, exceptions })
    }

    /// The evidence that the token is a secret; `None` without any, or if its name or its line says what else it is.
    fn evidence(&self) -> Option<Evidence> {
        if self.has_public_name() {
            return None;
        }
        if let Some((prefix, body)) = self.prefix() {
            let prefix: Vec<&str> = words(prefix).collect();
            let is_number = !body.bytes().any(|b| b.is_ascii_alphabetic());
            if self.has_public_word(&prefix) || encodes_a_name(body) || is_number {
                return None;
            }
            let random: usize = body.split(JOINTS).map(random_len).sum();
            if random * 2 > self.value.len()
                || (is_random_across_joints(body) && self.value.split(JOINTS).count() <= MAX_PARTS)
            {
                return Some(Evidence::Prefix);
            }
        }
        if self.name.is_empty() {
            return None;
        }
        let parts = || self.value.split(JOINTS);
        let random: usize = parts().filter(|part| is_random_part(part)).map(str::len).sum();
        let hex_pair = parts().filter(|part| is_hex(part, 32)).count() >= 2;
        (random * 2 > self.value.len() || hex_pair || is_random_across_joints(self.value)).then_some(Evidence::Name)
    }

    /// True if the name is that of a public value.
    fn has_public_name(&self) -> bool {
        // The numbers of a public JSON Web Key (RFC 7517); those of a private one have other names.
        let is_public_number = ["n", "x", "y"].iter().any(|name| is_word(&self.name, name));
        (is_public_number && self.before.iter().any(|word| word.eq_ignore_ascii_case("kty")))
            || self.has_public_word(&self.name)
            || self.has_public_word(&[&self.name.concat()])
    }

    /// True if a word is one of names whose values are public.
    fn has_public_word(&self, list: &[&str]) -> bool {
        list.iter().any(|word| self.exceptions.public_names.has(word))
    }

    /// The prefix of the value, which is up to [`MAX_PREFIX_PARTS`] short parts of which the first is a name, and the
    /// rest of the value. `None` without a prefix, or if nothing follows it.
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

/// True for a name that is this one word, regardless of case.
fn is_word(name: &[&str], word: &str) -> bool {
    matches!(name, [only] if only.eq_ignore_ascii_case(word))
}

/// The words of the name that an assignment or a blank separates from the end of the line, and the name as written.
/// Both are empty if the line ends with the name; the words are empty if the name is a number.
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
    // A number may be a version, which is not a name.
    let is_number = name.iter().all(|word| word.bytes().all(|b| b.is_ascii_digit()));
    (if is_number { Vec::new() } else { name }, written)
}

/// True for letters with digits, or letters of both cases.
fn has_mixed_bytes(value: &str) -> bool {
    let has = |class: fn(&u8) -> bool| value.as_bytes().iter().any(class);
    let letters = has(u8::is_ascii_alphabetic);
    letters && (has(u8::is_ascii_digit) || (has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase)))
}

/// True for three or more digits, or frequent changes of case. A cheap test that rules out most names.
fn is_uneven(value: &str) -> bool {
    let bytes = value.as_bytes();
    let cases = || bytes.chunk_by(|a, b| a.is_ascii_uppercase() == b.is_ascii_uppercase()).count();
    bytes.iter().filter(|b| b.is_ascii_digit()).count() >= 3 || cases() * 10 >= bytes.len() * 3
}

/// True for 14 or more characters in which digits alternate with letters, or letters are in random case. False for
/// hexadecimal digits.
fn is_random_part(part: &str) -> bool {
    let class = |b: &u8| (b.is_ascii_digit(), b.is_ascii_uppercase());
    let n_changes = part.as_bytes().chunk_by(|a, b| class(a) == class(b)).count();
    let n_switches = part.as_bytes().chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()).count();
    let digits_inside = n_switches >= 4 && n_switches * 10 >= part.len() * 2;
    let hex = part.bytes().all(|b| b.is_ascii_hexdigit());
    part.len() >= 14 && !hex && (digits_inside || (n_changes * 10 >= part.len() * 4 && looks_random(part)))
}

/// The length of a random part in bytes: random characters, hexadecimal digits or a long number; 0 for any other part.
fn random_len(part: &str) -> usize {
    let number = part.len() >= 10 && part.bytes().all(|b| b.is_ascii_digit());
    if number || is_random_part(part) || is_hex(part, 24) { part.len() } else { 0 }
}

/// True for a value that is random when its joints are ignored, as in URL-safe base64.
fn is_random_across_joints(value: &str) -> bool {
    let bytes: Vec<u8> = value.bytes().filter(u8::is_ascii_alphanumeric).collect();
    let n_switches = bytes.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()).count();
    let both = bytes.iter().any(u8::is_ascii_lowercase) && bytes.iter().any(u8::is_ascii_uppercase);
    both && bytes.len() >= 22 && n_switches >= 6 && n_switches * 8 >= bytes.len()
}

/// True for at least `min_len` hexadecimal digits that mix letters with digits or cases.
fn is_hex(part: &str, min_len: usize) -> bool {
    part.len() >= min_len && part.bytes().all(|b| b.is_ascii_hexdigit()) && has_mixed_bytes(part)
}

/// True for 26 characters of Crockford's base 32, as in the ULID specification.
fn is_ulid(value: &str) -> bool {
    let is_digit = |b: u8| b.is_ascii_digit() || (b.is_ascii_uppercase() && !b"ILOU".contains(&b));
    value.len() == 26 && value.starts_with(|c: char| ('0'..='7').contains(&c)) && value.bytes().all(is_digit)
}

/// True for a value that ends with a file extension of two to four lower-case letters.
fn is_file(value: &str) -> bool {
    let end = value.rsplit_once('.').map(|(_, end)| end);
    end.is_some_and(|end| (2..=4).contains(&end.len()) && end.bytes().all(|b| b.is_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random characters, joined at run time so that secret scanners do not flag this file.
    fn random() -> String {
        ["q7RtZ2mWx9LkB4v", "Ns8Yd1HcJ6pGf3TaE"].concat()
    }

    fn check(cases: &[(String, Option<Evidence>)]) {
        let exceptions = Exceptions::parse();
        for (text, evidence) in cases {
            assert_eq!(find(text, &exceptions).next().map(|(evidence, _)| evidence), *evidence, "{text}");
        }
    }

    #[test]
    fn a_random_run_with_a_prefix_or_a_name_is_a_secret() {
        let (value, hex) = (random(), "3f9a0c7be15d2468".repeat(2));
        check(&[
            (format!("acme_{value}"), Some(Evidence::Prefix)),
            (format!("acme-live-{value}"), Some(Evidence::Prefix)),
            (format!("acme_{hex}"), Some(Evidence::Prefix)),
            (format!("acme = \"{value}\""), Some(Evidence::Name)),
            (format!("acme {value}"), Some(Evidence::Name)),
            (format!("acme: {hex}.{}", "0c7be15d24683f9a".repeat(2)), Some(Evidence::Name)),
            (value, None),
            (hex, None),
        ]);
    }

    #[test]
    fn runs_with_public_names_and_parts_of_paths_are_not_secrets() {
        let (value, sum) = (random(), "3f9a0c7be15d2468be15d246".to_owned());
        let texts = [
            format!("msg_{value}"),
            format!("request_id={value}"),
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
    fn runs_are_disjoint_and_of_a_possible_length() {
        let unit = format!("{} = \u{e9}{} .-| ", random(), random());
        let text = unit.repeat(1_000);
        let runs = runs(&text).collect::<Vec<_>>();
        assert_eq!(runs.len(), 2_000);
        assert!(runs.is_sorted_by(|a, b| a.end < b.start));
        assert!(runs.iter().all(|run| text.get(run.clone()) == Some(random().as_str())));
        assert_eq!(super::runs(&"a".repeat(1_000_000)).count(), 0);
    }
}
