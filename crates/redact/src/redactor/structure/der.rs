//! Public keys and certificates in base64, by the structure of their encoding in DER (X.690).

use super::spot::Spot;

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OBJECT_ID: u8 = 0x06;
const SEQUENCE: u8 = 0x30;
/// The version of a certificate.
const EXPLICIT_0: u8 = 0xa0;

/// An element: its tag, its content, and what follows it.
struct Element<'b> {
    tag: u8,
    content: &'b [u8],
    rest: &'b [u8],
}

/// True for base64 that decodes to a public key (RFC 5280, `SubjectPublicKeyInfo`), a certificate, or a request of one.
pub(super) fn is_public_key_or_certificate(spot: &Spot<'_>) -> bool {
    let is_sequence = |run: &std::ops::Range<usize>| spot.text.get(run.clone()).is_some_and(|run| run.starts_with('M'));
    spot.runs().iter().any(is_sequence) && spot.decoded().any(|(_, bytes)| is_public(&bytes))
}

/// True for bytes of such a structure and nothing more. A private key begins with a number, an encrypted one ends with
/// an octet string in place of the bit string (RFC 5208).
fn is_public(bytes: &[u8]) -> bool {
    let outer = element(bytes).filter(|outer| outer.tag == SEQUENCE && outer.rest.is_empty());
    let Some(outer) = outer else { return false };
    let Some(first) = element(outer.content).filter(|first| first.tag == SEQUENCE) else { return false };
    let Some(second) = element(first.rest) else { return false };
    match element(first.content).map(|inner| inner.tag) {
        Some(OBJECT_ID) => second.tag == BIT_STRING && second.rest.is_empty(),
        Some(EXPLICIT_0 | INTEGER) => {
            let signature = element(second.rest);
            second.tag == SEQUENCE && signature.is_some_and(|it| it.tag == BIT_STRING && it.rest.is_empty())
        }
        _ => false,
    }
}

/// The first element of the bytes; `None` if they end before it does.
fn element(bytes: &[u8]) -> Option<Element<'_>> {
    let (tag, rest) = bytes.split_first()?;
    let (length, rest) = rest.split_first()?;
    let (n_bytes, rest) = match length {
        0..=0x7f => (usize::from(*length), rest),
        0x81..=0x83 => {
            let (digits, rest) = rest.split_at_checked(usize::from(length - 0x80))?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(n_bytes)?;
    Some(Element { tag: *tag, content, rest })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn der(tag: u8, parts: &[Vec<u8>]) -> Vec<u8> {
        let content = parts.concat();
        let length = u8::try_from(content.len()).unwrap_or_default();
        let head = if length < 0x80 { vec![tag, length] } else { vec![tag, 0x81, length] };
        [head, content].concat()
    }

    fn check(bytes: &[u8], expected: bool) {
        let value = data_encoding::BASE64.encode(bytes);
        let text = format!("key: \"{value}\"");
        assert_eq!(is_public_key_or_certificate(&Spot::of(&text, &(10..20))), expected, "{text}");
    }

    #[test]
    fn a_public_key_and_a_certificate_are_public_and_private_keys_are_not() {
        let algorithm = || der(SEQUENCE, &[vec![OBJECT_ID, 3, 0x2b, 0x65, 0x70]]);
        let bits = || der(BIT_STRING, &[vec![0; 33]]);
        let public = der(SEQUENCE, &[algorithm(), bits()]);
        check(&public, true);
        let to_be_signed =
            der(SEQUENCE, &[vec![EXPLICIT_0, 3, INTEGER, 1, 2], vec![INTEGER, 1, 9], algorithm(), public.clone()]);
        check(&der(SEQUENCE, &[to_be_signed, algorithm(), bits()]), true);
        // PKCS #8, its encrypted form, and SEC 1.
        let octets = || der(0x04, &[vec![7; 34]]);
        check(&der(SEQUENCE, &[vec![INTEGER, 1, 0], algorithm(), octets()]), false);
        check(&der(SEQUENCE, &[algorithm(), octets()]), false);
        check(&der(SEQUENCE, &[vec![INTEGER, 1, 1], octets()]), false);
        // A secret behind a public key.
        check(&[public, vec![9; 32]].concat(), false);
    }
}
