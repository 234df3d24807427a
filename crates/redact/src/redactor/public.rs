//! Values that are public by their form or their surroundings: public keys, digests, identifiers, names, and examples
//! of specifications.

use std::ops::Range;

use crate::rules::touches;
use crate::score::names_a_password;
use crate::shape::{claims_nothing, encodes_a_name, entropy, is_path_like, is_uuid, looks_random, repeats_a_group};

use super::surroundings::{line_before, name_at_end};

/// The least length of a value and of a name that are compared, in bytes; shorter ones can be equal by chance.
const MIN_NAME: usize = 8;
/// The least length of a name for a value that ends with it to be a reference, in bytes.
const MIN_REFERENCE: usize = 12;

/// The starts of public keys and certificates, images and archives, addresses, labelled digests, and identifiers of
/// advisories, resources and accounts.
const PUBLIC_STARTS: [&str; 66] = [
    "GHSA-",
    "CVE-",
    "iVBORw0",
    "R0lGOD",
    "JVBERi",
    "UEsDB",
    "/9j/",
    "H4sIA",
    "AAAAB3NzaC1",
    "AAAAC3NzaC1",
    "AAAAE2VjZHNh",
    "AAAAGnNrLXNza",
    "AAAAInNrLWVjZHNh",
    "pQECAyYgAS",
    "pAEBAycgBi",
    "12D3KooW",
    "16Uiu2HA",
    "z6Mk",
    "MIIBIjANBg",
    "MIICIjANBg",
    "MIIBojANBg",
    "MIGfMA0G",
    "MFkwEwYH",
    "MHYwEAYH",
    "MCowBQYDK2V",
    "LS0tLS1CRUdJTiBDRVJU",
    "LS0tLS1CRUdJTiBQVUJ",
    "age1",
    "xpub",
    "ypub",
    "zpub",
    "tpub",
    "bc1q",
    "bc1p",
    "tb1q",
    "npub1",
    "lnbc",
    "lntb",
    "bafy",
    "RWQ",
    "sha1-",
    "sha1:",
    "sha256-",
    "sha256/",
    "sha256:",
    "SHA256:",
    "sha384-",
    "sha512-",
    "sha512:",
    "md5:",
    "MD5:",
    "h1:",
    "S-1-5-",
    "urn:",
    "did:",
    "arn:",
    "pk_test_",
    "pk_live_",
    "_ZN",
    "naa.",
    "ami-",
    "vpc-",
    "subnet-",
    "sg-",
    "vol-",
    "eni-",
];
/// The starts of published keys and digests, in lower case: the examples of FIPS 197 and RFC 8439, and the digests of
/// `password` and of the empty text.
const EXAMPLE_STARTS: [&str; 8] = [
    "2b7e151628aed2a6",
    "000102030405",
    "0123456789abcdef",
    "5f4dcc3b5aa765d6",
    "d41d8cd98f00b204",
    "da39a3ee5e6b4b0d",
    "e3b0c44298fc1c14",
    "1234567890123456",
];
/// The subject of the common example of a JSON Web Token, in base64.
const EXAMPLE_SUBJECT: &str = "eyJzdWIiOiIxMjM0NTY3ODkw";

/// True for a value with the start or the form of public values, or that a specification has published.
pub(super) fn is_public(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let known = lower.strip_prefix("0x").unwrap_or(&lower).replace([' ', ':', ','], "");
    let is_address =
        lower.strip_prefix("0x").is_some_and(|hex| hex.len() == 40 && hex.bytes().all(|b| b.is_ascii_hexdigit()));
    let is_content = value.len() == 46 && value.starts_with("Qm");
    let is_head =
        ["eyJhbGciOi", "eyJ0eXAiOi", "eyJraWQiOi"].iter().any(|head| value.starts_with(head)) && !value.contains('.');
    // A number in a program, with `_` between groups of digits.
    let is_number = lower.strip_prefix("0x").is_some_and(|hex| {
        hex.contains('_') && hex.len() <= 20 && hex.bytes().all(|b| b.is_ascii_hexdigit() || b == b'_')
    });
    let is_tag = value.len() <= 16 && ["G-", "GTM-", "UA-", "AW-"].iter().any(|start| value.starts_with(start));
    value.contains(EXAMPLE_SUBJECT)
        || is_address
        || is_content
        || is_head
        || is_number
        || is_tag
        || PUBLIC_STARTS.iter().any(|start| value.starts_with(start))
        || EXAMPLE_STARTS.iter().any(|start| known.starts_with(start))
}

/// True for a value that its surroundings make public: a labelled digest, an identifier in braces, the `key` of a
/// key-value pair, a path, or a value that repeats its own name.
pub(super) fn is_public_in_place(text: &str, at: &Range<usize>) -> bool {
    let value = text.get(at.clone()).unwrap_or_default();
    let before = text.get(..at.start).unwrap_or_default();
    let is_in_braces = || before.ends_with('{') && touches(text, Some(at.end), |b| *b == b'}');
    let is_path = || value.starts_with('/') && is_path_like(value) && !looks_random(value);
    is_after_kind_of_digest(before)
        || (is_uuid(value) && is_in_braces())
        || is_path()
        || is_key_of_pair(text, at)
        // The name of a resource in XAML.
        || before.ends_with("x:Key=\"")
        || repeats_name(value, name_at_end(line_before(text, at.start)).1)
}

/// True if the text ends with the label of a digest, as in lock files.
fn is_after_kind_of_digest(before: &str) -> bool {
    const KINDS: [&str; 9] = ["h1:", "md5:", "sha1:", "sha1-", "sha256:", "sha256-", "sha384-", "sha512:", "sha512-"];
    KINDS.iter().any(|kind| before.ends_with(kind))
}

/// True for the value of a field `key` that a field `value` follows: it is a name.
fn is_key_of_pair(text: &str, at: &Range<usize>) -> bool {
    let is_mark = |c: char| !c.is_alphanumeric();
    let before = text.get(text.floor_char_boundary(at.start.saturating_sub(24))..at.start).unwrap_or_default();
    let (end, name) = name_at_end(before);
    let is_key = name.eq_ignore_ascii_case("key") && before.len() > end.len();
    let behind = text.get(at.end..text.floor_char_boundary((at.end + 40).min(text.len()))).unwrap_or_default();
    let next = behind.trim_start_matches(is_mark);
    let gap = behind.get(..behind.len() - next.len()).unwrap_or_default();
    let is_next = next.get(..5).is_some_and(|next| next.eq_ignore_ascii_case("value"));
    // The fields of a query string are not separated by commas or blanks, and are not a pair.
    is_key && is_next && gap.contains([' ', ',', '\n', '\t'])
}

/// True if a value is its own name, or a reference that ends with it: `SIGNING_KEY = "signing-key"`, `keyMaker =
/// Local.keyMaker`.
fn repeats_name(value: &str, name: &str) -> bool {
    let bare = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    };
    if value.len() < MIN_NAME || value.len() > 128 || name.len() < MIN_NAME {
        return false;
    }
    let (value, name) = (bare(value), bare(name));
    (value.len() >= MIN_NAME && name.ends_with(&value)) || (name.len() >= MIN_REFERENCE && value.ends_with(&name))
}

/// True for words with letters as escapes of JSON (`Salas\u00f5na`), as in the files of a program's translations. False with a
/// digit or a mark of passwords.
pub(super) fn is_escaped_text(value: &str) -> bool {
    let mut parts = value.split("\\u");
    let is_text = |part: &str| part.chars().all(|c| c.is_alphabetic() || " .,;:'!?()-".contains(c));
    let is_escape = |part: &str| {
        let hex = part.get(..4).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
        hex.is_some() && part.get(4..).is_some_and(is_text)
    };
    value.contains("\\u") && parts.next().is_some_and(is_text) && parts.all(is_escape)
}

/// True for a value with a word in capitals that says that it is not a key, as people write in tests. Random characters
/// have such a word once in 100,000 values.
pub(super) fn is_marked_fake(value: &str) -> bool {
    value.len() <= 128
        && ["FAKE", "EXAMPLE", "DUMMY", "NOTREAL", "NOT-REAL", "DO-NOT-USE"].iter().any(|mark| value.contains(mark))
}

/// True for the start of a value, with three dots in place of the rest, as in `gho_psT9...`. After a word for a password, which is
/// short, the start may be all of it.
pub(super) fn is_cut_short(text: &str, at: &Range<usize>) -> bool {
    let value = text.get(at.clone()).unwrap_or_default();
    let rest = text.get(at.end..).unwrap_or_default();
    let is_cut = value.ends_with("...") || rest.starts_with("...") || rest.starts_with('…');
    let start = value.trim_end_matches('.');
    let is_password = || names_a_password(line_before(text, at.start));
    is_cut
        && !is_password()
        && start.len() <= 20
        && start.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
}

/// True for the table of an encoding, such as base64 (RFC 4648): all upper-case letters, all lower-case letters and all digits,
/// each in order and once, in any order of the three, perhaps with two marks at the end. A longer or a partial row is not a
/// table: people write those in the place of a secret.
pub(super) fn is_alphabet(value: &str) -> bool {
    let blocks = ["ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", "0123456789"];
    let mut rest = value;
    let mut n_left = blocks.len();
    while let Some(next) = blocks.iter().find_map(|block| rest.strip_prefix(block)) {
        let Some(left) = n_left.checked_sub(1) else { return false };
        (rest, n_left) = (next, left);
    }
    n_left == 0
        && blocks.iter().all(|block| value.contains(block))
        && matches!(rest, "" | "+/" | "-_" | "./" | "+/=" | "-_=")
}

/// True for a value of few different characters, with a repeated group, that encodes a name, or that is a JSON Web
/// Token without claims.
pub(super) fn is_useless(value: &str) -> bool {
    let is_flat = value.len() >= 16 && entropy(value) < 2.5;
    is_flat || repeats_a_group(value) || encodes_a_name(value) || claims_nothing(value)
}

/// True for a colour of a style sheet, a keyboard shortcut, or a compiler's target.
pub(super) fn is_colour_key_or_target(value: &str) -> bool {
    let colour = value.strip_prefix('#');
    colour.is_some_and(|rest| rest.len() <= 8 && rest.bytes().all(|b| b.is_ascii_hexdigit()))
        || ["Ctrl+", "Cmd+", "Alt+", "Shift+", "ctrl+", "cmd+", "alt+", "shift+"]
            .iter()
            .any(|key| value.starts_with(key))
        || ["x86_64", "aarch64", "arm64"].iter().any(|target| value.contains(target))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, value: &str, expected: bool) {
        let at = text.find(value).unwrap_or_default();
        assert_eq!(is_public_in_place(text, &(at..at + value.len())), expected, "{text}");
    }

    #[test]
    fn identifiers_of_advisories_and_numbers_of_programs_are_public() {
        for (value, expected) in [
            ("GHSA-3mv5-343c-w2qg", true),
            ("CVE-2020-36465", true),
            ("0x10_FFFF", true),
            ("0x10FFFFa8", false),
            ("GHS-3mv5-343c-w2qg", false),
        ] {
            assert_eq!(is_public(value), expected, "{value}");
        }
    }

    #[test]
    fn labels_braces_pairs_and_names_make_a_value_public() {
        for (text, value) in [
            (
                "example.org/mod v1.2.0 h1:q7RtZ2mWx9LkB4vNs8Yd1HcJp0uTfGaE6oXiMzKwSbQ=",
                "q7RtZ2mWx9LkB4vNs8Yd1HcJp0uTfGaE6oXiMzKwSbQ",
            ),
            ("Guid(\"{cd8044a9-2443-4000-b0cd-79316c56f589}\")", "cd8044a9-2443-4000-b0cd-79316c56f589"),
            ("<add key=\"mail.host.v8\" value=\"on\" />", "mail.host.v8"),
            (
                "{ \"key\": \"9df21e95-3848-409d-8f94-c675cdfee839\", \"value\": \"north\" }",
                "9df21e95-3848-409d-8f94-c675cdfee839",
            ),
            ("- key: q7RtZ2mWx9\n  value: 3", "q7RtZ2mWx9"),
            (
                "\"a-strong-password\": \"/en/accounts@3.0/create-a-strong-password\"",
                "/en/accounts@3.0/create-a-strong-password",
            ),
            ("pub const ID_KEY_MESHING_2 = \"id-KeyMeshing-2\"", "id-KeyMeshing-2"),
            ("BlindKeySignatures = Ed25519.BlindKeySignatures", "Ed25519.BlindKeySignatures"),
        ] {
            check(text, value, true);
        }
    }

    #[test]
    fn secrets_in_similar_surroundings_are_not_public() {
        for (text, value) in [
            ("key=q7RtZ2mWx9LkB4vNs8Yd1HcJ", "q7RtZ2mWx9LkB4vNs8Yd1HcJ"),
            ("key=q7RtZ2mWx9LkB4vNs8Yd1HcJ&value=2", "q7RtZ2mWx9LkB4vNs8Yd1HcJ"),
            ("api_key: q7RtZ2mWx9\nvalue: 3", "q7RtZ2mWx9"),
            ("password = \"my-password-is-9\"", "my-password-is-9"),
            ("password = \"Hq7-password\"", "Hq7-password"),
            ("key {\n id: cd8044a9-2443-4000-b0cd-79316c56f589}", "cd8044a9-2443-4000-b0cd-79316c56f589"),
        ] {
            check(text, value, false);
        }
    }

    #[test]
    fn the_table_of_an_encoding_is_an_alphabet_and_other_rows_are_not() {
        for (value, expected) in [
            ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", true),
            ("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_", true),
            ("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ab", false),
            ("0123456789012345678901234567890123456789", false),
            ("abcdefghijklmnopqrstuvwxyz0123456789", false),
            ("abcdX9q7RtZ2mWx9LkB4vNs8Yd1HcJ", false),
            ("", false),
        ] {
            assert_eq!(is_alphabet(value), expected, "{value}");
        }
    }
}
