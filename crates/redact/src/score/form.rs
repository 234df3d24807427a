//! The form of a value: its kinds of characters, and how word-like it is.

use crate::shape::{entropy, is_path_like, is_reference, is_uuid, looks_random};

use super::weights::Weights;

/// What a value looks like as a whole, in the order of the trait's levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    LowerWord,
    Word,
    Constant,
    Identifier,
    OddLetters,
    Numbered,
    SpicedWords,
    SpicedJumble,
    Jumble,
    DigestHex,
    Hex,
    Digits,
    Base64,
    Uuid,
    Groups,
    Date,
    Address,
    Code,
    Phrase,
    Seed,
    Dotted,
}

impl Form {
    pub(super) const N: u16 = 21;
}

/// Marks that occur in passwords but not in names.
pub(super) const fn is_spice(byte: u8) -> bool {
    matches!(byte, b'!' | b'#' | b'$' | b'%' | b'&' | b'*' | b'+' | b'?' | b'@' | b'^' | b'~')
}

/// The number of bytes of each kind in a value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) digits: usize,
    /// Marks as [`is_spice`] says.
    pub(super) spice: usize,
    /// Marks between the parts of a name.
    pub(super) joints: usize,
    pub(super) other: usize,
    /// Places where letters turn into digits or the other way round.
    pub(super) switches: usize,
    /// Places where the kind of byte changes.
    pub(super) changes: usize,
}

impl Counts {
    pub(super) fn of(value: &str) -> Self {
        let mut counts = Self::default();
        let mut last = 9;
        for byte in value.bytes() {
            let kind = match byte {
                b'a'..=b'z' => 0,
                b'A'..=b'Z' => 1,
                b'0'..=b'9' => 2,
                mark if is_spice(mark) => 3,
                b'_' | b'-' | b'.' => 4,
                // Letters beyond ASCII; other such characters are in no value.
                128.. => 0,
                _ => 5,
            };
            let count = match kind {
                0 => &mut counts.lower,
                1 => &mut counts.upper,
                2 => &mut counts.digits,
                3 => &mut counts.spice,
                4 => &mut counts.joints,
                _ => &mut counts.other,
            };
            *count += 1;
            counts.changes += usize::from(last != kind && last != 9);
            counts.switches += usize::from((last < 2 && kind == 2) || (last == 2 && kind < 2));
            last = kind;
        }
        counts
    }

    pub(super) fn letters(&self) -> usize {
        self.lower + self.upper
    }
}

/// A value, measured.
pub(super) struct Measured {
    pub(super) form: Form,
    pub(super) counts: Counts,
    /// Mean surprise of its pairs of letters under those of ordinary words, in bits.
    pub(super) oddness: f64,
    pub(super) entropy: f64,
}

impl Measured {
    pub(super) fn of(value: &str, weights: &Weights) -> Self {
        let counts = Counts::of(value);
        let random = looks_random(value);
        let oddness = weights.oddness(value);
        let form = form(value, &counts, random, oddness);
        Self { form, counts, oddness, entropy: entropy(value) }
    }
}

fn form(value: &str, counts: &Counts, random: bool, oddness: f64) -> Form {
    let body = value.trim_end_matches('=');
    let padded = body.len() < value.len();
    if is_uuid(value) {
        return Form::Uuid;
    }
    if value.contains(' ') {
        return if is_seed(value) { Form::Seed } else { Form::Phrase };
    }
    if counts.letters() == 0 {
        return if counts.digits == value.len() { Form::Digits } else { Form::Date };
    }
    if is_date(value) {
        return Form::Date;
    }
    let base64 = body.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/_-".contains(&b));
    if value.len() >= 16 && base64 && random && (padded || body.contains(['+', '/'])) && !is_path_like(value) {
        return Form::Base64;
    }
    if value.contains(['(', '[', '{', ')', '}', ']', '<', '>', ';', '$']) && !value.starts_with('$') {
        return Form::Code;
    }
    if is_reference(value) || value.contains('/') || value.contains(':') || is_file(value) {
        return Form::Address;
    }
    if counts.spice > 0 || counts.other > 0 {
        return if random || counts.switches >= 4 { Form::SpicedJumble } else { Form::SpicedWords };
    }
    plain_form(value, counts, random, oddness)
}

/// The form of letters, digits and joints alone.
fn plain_form(value: &str, counts: &Counts, random: bool, oddness: f64) -> Form {
    let hex = value.strip_prefix("0x").unwrap_or(value);
    if counts.digits > 0 && hex.bytes().all(|b| b.is_ascii_hexdigit()) && hex.len() >= 6 {
        return if matches!(hex.len(), 32 | 40 | 56 | 64 | 96 | 128) { Form::DigestHex } else { Form::Hex };
    }
    let mut parts = value.split(['-', '_', '.']);
    let n_parts = parts.clone().count();
    let first = parts.clone().next().map_or(0, str::len);
    if n_parts >= 2 && first >= 3 && counts.digits > 0 && parts.clone().all(|part| part.len() == first) {
        return Form::Groups;
    }
    if counts.digits == 0 {
        let long = parts.all(|part| part.len() >= 3 && part.bytes().all(|b| b.is_ascii_lowercase()));
        return match () {
            () if value.contains('.') => Form::Dotted,
            () if n_parts >= 3 && long => Form::Phrase,
            () if random && value.len() >= 10 || oddness > 5.6 => Form::OddLetters,
            () if counts.upper == 0 && counts.joints == 0 => Form::LowerWord,
            () if counts.lower == 0 => Form::Constant,
            () if counts.upper == 1 && counts.joints == 0 && value.starts_with(|c: char| c.is_ascii_uppercase()) => {
                Form::Word
            }
            () => Form::Identifier,
        };
    }
    match () {
        () if counts.lower == 0 && !random => Form::Constant,
        () if random || counts.switches >= 4 => Form::Jumble,
        () if counts.joints >= 2 && counts.upper == 0 => Form::Phrase,
        () => Form::Numbered,
    }
}

/// True for digits and the marks of a date or a version, with at most two letters.
fn is_date(value: &str) -> bool {
    let marks = value.bytes().filter(|b| b"-:./+,".contains(b)).count();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.len() - marks - digits;
    digits >= 2
        && marks >= 1
        && letters <= 2
        && value.bytes().all(|b| b.is_ascii_digit() || b"-:./+,TZvemsx".contains(&b))
}

/// True for twelve or more words in lower case, as in a wallet's seed phrase (BIP 39).
fn is_seed(value: &str) -> bool {
    let words = value.split(|c: char| !c.is_ascii_lowercase()).filter(|word| !word.is_empty());
    words.clone().count() >= 12 && words.clone().all(|word| (3..=8).contains(&word.len()))
}

/// True if the value ends like a file name or a host name.
fn is_file(value: &str) -> bool {
    const ENDS: [&str; 80] = [
        "rs", "py", "js", "ts", "tsx", "jsx", "mjs", "json", "jsonl", "yaml", "yml", "toml", "md", "txt", "sh", "go",
        "java", "kt", "cpp", "hpp", "cs", "rb", "php", "html", "css", "scss", "xml", "sql", "log", "conf", "cfg",
        "ini", "lock", "pem", "crt", "cer", "csv", "tsv", "pdf", "png", "jpg", "svg", "gif", "zip", "tar", "gz", "tgz",
        "xz", "exe", "dll", "so", "jar", "war", "env", "local", "com", "org", "net", "io", "de", "fr", "es", "jp",
        "cn", "uk", "eu", "ch", "at", "it", "nl", "example", "test", "internal", "intern", "corp", "lan", "svc", "dev",
        "app", "invalid",
    ];
    value.rsplit_once('.').is_some_and(|(start, end)| !start.is_empty() && ENDS.contains(&end))
}
