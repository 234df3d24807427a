//! Values that are public by their form or their surroundings: public keys, digests, identifiers, names, and examples
//! of specifications.

use std::ops::Range;

use crate::score::names_a_password;

/// Bytes of a line that are read before a value.
const LINE_BEFORE: usize = 96;

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
/// True for a value with the start or the form of public values, or that a specification has published.
pub(super) fn is_public(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let known = lower.strip_prefix("0x").unwrap_or(&lower).replace([' ', ':', ','], "");
    let is_address =
        lower.strip_prefix("0x").is_some_and(|hex| hex.len() == 40 && hex.bytes().all(|b| b.is_ascii_hexdigit()));
    is_address
        || PUBLIC_STARTS.iter().any(|start| value.starts_with(start))
        || EXAMPLE_STARTS.iter().any(|start| known.starts_with(start))
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

/// The line before a place, at most [`LINE_BEFORE`] bytes.
pub(super) fn line_before(text: &str, at: usize) -> &str {
    let before = text.get(text.floor_char_boundary(at.saturating_sub(LINE_BEFORE))..at).unwrap_or_default();
    before.rsplit('\n').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_public_forms_are_public() {
        for (value, expected) in [
            ("GHSA-3mv5-343c-w2qg", true),
            ("CVE-2020-36465", true),
            ("0x3f9a0c7be15d24683f9a0c7be15d24683f9a0c7b", true),
            ("0x3f9a0c7be15d24683f9a0c7be15d24683f9a0c7b00", false),
            ("2b:7e:15:16:28:ae:d2:a6", true),
            ("GHS-3mv5-343c-w2qg", false),
        ] {
            assert_eq!(is_public(value), expected, "{value}");
        }
    }
}
