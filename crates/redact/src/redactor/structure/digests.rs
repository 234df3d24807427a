//! Digests and signatures, by the name right before them and their length.

use super::proof::{Form, Public};
use super::spot::{Spot, is_hex_of, lower_words};
use crate::score::names_a_password;

/// The lengths of digests in bytes: MD5, SHA-1, SHA-224 to SHA-512.
const LENGTHS: [usize; 6] = [16, 20, 28, 32, 48, 64];
/// The same in hexadecimal digits.
const HEX_LENGTHS: [usize; 6] = [32, 40, 56, 64, 96, 128];
/// Names of digests that may also come a few words before them.
const PRINTS: [&str; 6] = ["thumbprint", "fingerprint", "keygrip", "cdhash", "checksum", "digest"];
/// Calls of functions that make a digest.
const CALLS: [&str; 13] = [
    "keccak256(",
    "keccak(",
    "sha1(",
    "sha256(",
    "sha384(",
    "sha512(",
    "sha3(",
    "md5(",
    "hash(",
    "blake2b(",
    "blake3(",
    "crc32(",
    "xxhash(",
];
/// The least number of bytes of a signature.
const MIN_SIGNATURE: usize = 64;
/// Words from the name of a digest to it.
const N_WORDS: usize = 8;

/// The proof for a digest, a signature, or a validator of a response (RFC 9110).
pub(super) fn digest_or_signature(spot: &Spot<'_>) -> Option<Public> {
    let bytes = [Form::Hex(&HEX_LENGTHS), Form::Bytes(&LENGTHS)];
    if let Some(gap) = gap_of_named_digest(spot) {
        return Public::proven(spot, &bytes, gap);
    }
    if is_result_of_call(spot) {
        return Public::proven(spot, &[Form::Hex(&HEX_LENGTHS), Form::Digits(1)], "");
    }
    if is_validator(spot) {
        return Public::proven(spot, &[Form::Mark(1)], "");
    }
    // The bytes of these are a part of what they check.
    (is_labelled(spot) || is_signature(spot) || is_challenge(spot))
        .then(|| Public::proven(spot, &[Form::Mark(1)], ""))
        .flatten()
}

/// True for a part of a digest in base64 with the label of its kind, as in `sha512-…`, of the length of this kind.
fn is_labelled(spot: &Spot<'_>) -> bool {
    const KINDS: [(&str, usize); 3] = [("sha256-", 32), ("sha384-", 48), ("sha512-", 64)];
    spot.decoded().any(|(before, bytes)| KINDS.iter().any(|(kind, n)| before.ends_with(kind) && bytes.len() == *n))
}

/// The text between the name of a digest and the value, as in `thumbprint (RFC 7638) of our key is …`; `None` without such a name, and
/// for the digest of a password.
fn gap_of_named_digest<'t>(spot: &Spot<'t>) -> Option<&'t str> {
    let last = spot.last_word();
    let is_last = last == "hash" || last.ends_with("_hash");
    let of_certificate = || spot.gap_after(&["x.509"]).filter(|_| is_hex_of(spot.value(), &[40]));
    let near = || spot.gap_after(&PRINTS).filter(|gap| lower_words(gap).len() < N_WORDS);
    let gap = if is_last { Some("") } else { near().or_else(of_certificate) };
    gap.filter(|_| !names_a_password(spot.before()))
}

/// True for the result of a call, as in `keccak256("ADMIN") = 0x…`, and for the salt of an address of Ethereum.
fn is_result_of_call(spot: &Spot<'_>) -> bool {
    let before = spot.before().trim_end_matches([' ', '0', 'x']);
    let is_result = before.ends_with([':', '=']) || before.ends_with("->") || before.ends_with("=>");
    let call = before.trim_end_matches([' ', ':', '=', '-', '>']);
    let is_call = call.ends_with(')')
        && call.rsplit_once('(').is_some_and(|(name, _)| {
            CALLS.iter().any(|call| name.to_ascii_lowercase().ends_with(call.trim_end_matches('(')))
        });
    let hex = spot.value().strip_prefix("0x").unwrap_or(spot.value());
    let is_number = hex.bytes().all(|b| b.is_ascii_digit());
    let is_salt = spot.before().contains("CREATE2 salt ") && is_hex_of(hex, &[64]);
    is_salt || (is_result && is_call && (is_number || is_hex_of(hex, &HEX_LENGTHS)))
}

/// True for the value of `ETag`, `If-Match` or `If-None-Match` between its two quotes.
fn is_validator(spot: &Spot<'_>) -> bool {
    if !spot.before().ends_with('"') || !spot.behind().starts_with(['"', '\\']) {
        return false;
    }
    let before = spot.before().trim_end_matches('"').to_ascii_lowercase();
    let name = before.trim_end_matches("w/").trim_end_matches(['"', '\\', ' ', ':', '=']);
    before.len() > name.len() && ["etag", "if-none-match", "if-match"].iter().any(|field| name.ends_with(field))
}

/// True for the member `sig` of a list of signatures, of the length of a signature.
fn is_signature(spot: &Spot<'_>) -> bool {
    let is_member = |before: &str| {
        ["\"sig\":\"", "\"sig\": \"", "\"signature\":\"", "\"signature\": \""].iter().any(|end| before.ends_with(end))
    };
    let is_of_list = || spot.lead(400).contains("\"signatures\"");
    spot.decoded().any(|(before, bytes)| bytes.len() >= MIN_SIGNATURE && is_member(before) && is_of_list())
}

/// True for the digest of a challenge: of a code's verifier (RFC 7636), and in the record of a domain (RFC 8555).
fn is_challenge(spot: &Spot<'_>) -> bool {
    spot.decoded().any(|(before, bytes)| {
        let name = before.trim_end_matches(['"', '\'', ' ', ':', '=']);
        let is_code =
            before.len() > name.len() && (name.ends_with("code_challenge") || name.ends_with("codeChallenge"));
        bytes.len() == 32 && (is_code || (before.contains("_acme-challenge") && before.ends_with("TXT \"")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redactor::structure::spot::some_bytes;

    fn check(text: &str, value: &str, expected: bool) {
        assert_eq!(digest_or_signature(&Spot::last(text, value)).is_some(), expected, "{text}");
    }

    fn key(n_bytes: u8) -> String {
        data_encoding::BASE64URL_NOPAD.encode(&some_bytes(n_bytes))
    }

    #[test]
    fn digests_have_a_name_and_a_length() {
        let (digest, hex) = (key(32), "3f9a0c7be15d2468".repeat(4));
        let label = data_encoding::BASE64.encode(&some_bytes(32));
        let part = label[9..17].to_owned();
        for (text, value, expected) in [
            (format!("the thumbprint (RFC 7638) of our key is {digest}"), &digest, true),
            (format!("the thumbprint of our key is {}", key(31)), &key(31), false),
            (format!("the fingerprint of the api token {digest}"), &digest, false),
            (format!("password hash: {digest}"), &digest, false),
            (format!("if the digest differs, use the encryption key {hex}"), &hex, false),
            (format!("the checksum is signed with the hmac key {hex}"), &hex, false),
            (format!("fingerprint mismatch, credential {hex}"), &hex, false),
            (format!("keccak256(\"ADMIN_TOKEN\") = 0x{hex}"), &hex, true),
            (format!("decrypt(\"ADMIN_TOKEN\") = {hex}"), &hex, false),
            (format!("code_challenge={digest}"), &digest, true),
            (format!("code_verifier={digest}"), &digest, false),
            (format!("integrity: sha256-{label}"), &part, true),
            (format!("integrity: sha512-{label}"), &part, false),
            (format!("sha256: x-{label}"), &part, false),
        ] {
            check(&text, value, expected);
        }
    }

    #[test]
    fn validators_and_signatures_are_public() {
        let (tag, signature) = ("e4b6-UozNd69nizyY0yY5dX1jA2KQLhS", key(70));
        for (text, value, expected) in [
            (format!("ETag: W/\"{tag}\""), tag, true),
            (format!("If-None-Match: \"{tag}\""), tag, true),
            (format!("X-Auth: \"{tag}\""), tag, false),
            (format!("ETag: {tag}"), tag, false),
            (format!("ETag: \"{tag}"), tag, false),
            (format!("ETag mismatch, password \"{tag}\""), tag, false),
            (format!("\"signatures\":[{{\"sig\":\"{signature}\"}}]"), &signature, true),
            (format!("\"sig\":\"{signature}\""), &signature, false),
            (format!("\"signatures\":[{{\"sig\":\"{}\"}}]", key(32)), &key(32), false),
        ] {
            check(&text, value, expected);
        }
    }
}
