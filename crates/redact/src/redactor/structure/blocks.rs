//! Bodies of blocks whose head says that they are public or encrypted, and data in the address of a resource.

use super::spot::Spot;

/// Bytes before a value that are searched for the head of its block.
const BLOCK: usize = 8_192;
/// The kinds of blocks (RFC 7468, RFC 9580) with public or encrypted content.
const KINDS: [&str; 18] = [
    "PUBLIC KEY",
    "RSA PUBLIC KEY",
    "EC PUBLIC KEY",
    "PGP PUBLIC KEY BLOCK",
    "SSH2 PUBLIC KEY",
    "CERTIFICATE",
    "X509 CERTIFICATE",
    "TRUSTED CERTIFICATE",
    "CERTIFICATE REQUEST",
    "NEW CERTIFICATE REQUEST",
    "X509 CRL",
    "PKCS7",
    "CMS",
    "PGP MESSAGE",
    "PGP SIGNATURE",
    "SSH SIGNATURE",
    "AGE ENCRYPTED FILE",
    "DH PARAMETERS",
];
/// The headers before the body of a block of `OpenPGP`.
const HEADERS: [&str; 4] = ["Version: ", "Comment: ", "Hash: ", "Charset: "];
/// The first byte of the content of a private key: the number of its version, which other structures do not begin with.
const INTEGER: u8 = 0x02;

/// True for a part of such a block, or of data in an address (RFC 2397).
pub(super) fn is_in_public_block(spot: &Spot<'_>) -> bool {
    is_body(spot) || is_data(spot)
}

/// True between the head of a block and its end, unless the body begins like a private key.
fn is_body(spot: &Spot<'_>) -> bool {
    let lead = spot.lead(BLOCK);
    let Some((_, block)) = lead.rsplit_once("-----BEGIN ") else { return false };
    let Some((kind, body)) = block.split_once("-----") else { return false };
    let first = spot.decoded().next().map(|(_, bytes)| bytes).unwrap_or_default();
    let is_private = first.first() == Some(&0x30) && is_version_first(&first);
    KINDS.contains(&kind) && is_encoded(body) && is_encoded(spot.value().trim_end()) && !is_private
}

/// True for lines of base64, with line breaks as escapes or without, after the headers of `OpenPGP`. Any other text ends the block, and so
/// does an empty line, a blank within a line, padding, and a line of another length than the first.
fn is_encoded(body: &str) -> bool {
    let is_header = |line: &&str| HEADERS.iter().any(|header| line.starts_with(header));
    let is_of_line = |b: u8| b.is_ascii_alphanumeric() || b"+/=\\".contains(&b);
    let mut lines: Vec<&str> = body
        .split('\n')
        .map(str::trim)
        .skip_while(|line| line.is_empty())
        .skip_while(is_header)
        .skip_while(|line| line.is_empty())
        .collect();
    let last = lines.pop().unwrap_or_default();
    let length = lines.first().map_or(0, |line| line.len());
    last.bytes().all(is_of_line)
        && lines.iter().all(|line| line.len() == length && !line.ends_with('=') && line.bytes().all(is_of_line))
}

/// True for a sequence in DER whose first element is a number of one byte.
fn is_version_first(bytes: &[u8]) -> bool {
    let head = match bytes.get(1) {
        Some(0..=0x7f) => 2,
        Some(0x81) => 3,
        _ => 4,
    };
    bytes.get(head..head + 2) == Some(&[INTEGER, 1])
}

/// True for base64 of `data:…;base64,`.
fn is_data(spot: &Spot<'_>) -> bool {
    let [standard, _] = spot.runs();
    let start = spot.text.floor_char_boundary(standard.start.saturating_sub(64));
    let before = spot.text.get(start..standard.start).unwrap_or_default();
    before.ends_with(";base64,") && before.contains("data:")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, value: &str, expected: bool) {
        assert_eq!(is_in_public_block(&Spot::last(text, value)), expected, "{text}");
    }

    #[test]
    fn bodies_of_public_blocks_are_public_and_what_follows_them_is_not() {
        let body = "q7RtZ2mWx9LkB4vNs8Yd1HcJ6pGf3TaE";
        let private = data_encoding::BASE64.encode(&[0x30, 0x30, INTEGER, 1, 0, 7, 7, 7, 7, 9]);
        let head = |kind: &str| format!("-----BEGIN {kind}-----");
        for (text, value, expected) in [
            (format!("{}\nMIIBIjANBg\n{body}\n", head("PUBLIC KEY")), body, true),
            (format!("\"{}\\n{body}\\n", head("CERTIFICATE")), body, true),
            (format!("{}\n{body}", head("EC PRIVATE KEY")), body, false),
            (format!("{}\nx\n-----END PUBLIC KEY-----\nkey: {body}", head("PUBLIC KEY")), body, false),
            (format!("{}\nx\nkey: {body}", head("PUBLIC KEY")), body, false),
            (format!("{}\n{body}\nthe api token is {body}", head("PUBLIC KEY")), body, false),
            (format!("{}\n{body}\n\n{body}", head("CERTIFICATE")), body, false),
            (format!("{}\n{body}\nq7RtZ2==\n{body}", head("CERTIFICATE")), body, false),
            (format!("{}\n{body}\nq7RtZ2\n{body}", head("CERTIFICATE")), body, false),
            (format!("{}\n{body}\n{body}", head("CERTIFICATE")), body, true),
            (format!("{}\nVersion: 2\n\nx\n{body}", head("PGP MESSAGE")), body, true),
            (format!("{}\n{private}", head("PUBLIC KEY")), &private, false),
            (format!("url(data:font/woff2;base64,{body})"), body, true),
            (format!("base64,{body}"), body, false),
        ] {
            check(&text, value, expected);
        }
    }
}
