//! Public keys and their fingerprints, by their field and their length in bytes.

use super::spot::{Spot, is_hex_of, lower_words};

/// Bytes around a member of a JSON Web Key in which its braces are.
const OBJECT: usize = 3_000;
/// Bytes before a member without braces.
const NEAR: usize = 300;
/// The lengths of a coordinate of P-256, P-384 and P-521 (RFC 7518), and of a key of Curve25519 and Curve448 (RFC 8037).
const COORDINATES: [usize; 5] = [32, 48, 56, 57, 66];
/// The least length of the modulus of an RSA key, in bytes.
const MIN_MODULUS: usize = 128;
/// Bytes before a public key of Nix in which the name of the list is.
const LIST: usize = 500;

/// True for a public key or its fingerprint.
pub(super) fn is_public_key(spot: &Spot<'_>) -> bool {
    spot.decoded().any(|(before, bytes)| {
        is_web_key_member(spot, before, bytes.len())
            || is_fingerprint(before, bytes.len())
            || is_known_host(before, bytes.len())
            || is_of_nix(spot, before, bytes.len())
            || is_of_wireguard(spot, before, bytes.len())
            || is_of_signify(spot, &bytes)
            || is_named_public(before, bytes.len())
    }) || is_key_id(spot)
        || is_of_tailscale(spot)
}

/// True for a member of a JSON Web Key that is public also in a private key (RFC 7517, RFC 7638), of its length in bytes.
fn is_web_key_member(spot: &Spot<'_>, before: &str, n_bytes: usize) -> bool {
    match field(before) {
        "x5t" => n_bytes == 20,
        "x5t#S256" | "jkt" => n_bytes == 32,
        "x" | "y" => COORDINATES.contains(&n_bytes) && is_in_web_key(spot),
        "n" => n_bytes >= MIN_MODULUS && is_in_web_key(spot),
        _ => COORDINATES.contains(&n_bytes) && (is_component(spot, before) || is_printed_member(spot, before)),
    }
}

/// True for an argument of a call that builds a public key of its components.
fn is_component(spot: &Spot<'_>, before: &str) -> bool {
    let calls = ["from_ec_components(", "from_ed_components(", "from_rsa_components("];
    before.ends_with(['"', '\'']) && calls.iter().any(|call| spot.before().contains(call))
}

/// True for a line of its own below a command that reads a public member of a set of keys.
fn is_printed_member(spot: &Spot<'_>, before: &str) -> bool {
    let command = spot.lines_above().next().unwrap_or_default();
    let is_member = [".x", ".y"].iter().any(|member| command.trim_end_matches(['\'', '"', ' ']).ends_with(member));
    before.trim_matches(['"', ' ']).is_empty() && command.contains("jwks") && is_member
}

/// True for the id of a key, by its field beside a `kty` or an algorithm.
fn is_key_id(spot: &Spot<'_>) -> bool {
    field(spot.before()) == "kid" && is_in_web_key(spot)
}

/// True for the public keys of Tailscale's nodes, by their label.
fn is_of_tailscale(spot: &Spot<'_>) -> bool {
    let is_label = ["nodekey:", "mkey:", "discokey:"].iter().any(|label| spot.before().ends_with(label));
    is_label && is_hex_of(spot.value(), &[64])
}

/// True for a public key or a signature of signify or minisign: 42 or 74 bytes; a secret key has more.
fn is_of_signify(spot: &Spot<'_>, bytes: &[u8]) -> bool {
    let is_known = bytes.starts_with(b"Ed") || bytes.starts_with(b"ED");
    let above = spot.lines_above().next().unwrap_or_default();
    let comment = above.strip_prefix("untrusted comment:").unwrap_or_default();
    let is_named = ["minisign", "signify", "public"].iter().any(|name| spot.before().contains(name));
    let is_signature = comment.contains("signature") && (70..=80).contains(&bytes.len());
    let is_public = bytes.len() == 42 && (comment.contains("public") || is_named);
    is_known && (is_signature || is_public)
}

/// True for the 32 bytes of a key whose name says right before it that it is the public one, as in `SUPublicEDKey`.
fn is_named_public(before: &str, n_bytes: usize) -> bool {
    let mut words = lower_words(before);
    while words.last().is_some_and(|last| ["string", "value", "key"].contains(&last.as_str())) && words.len() > 1 {
        words.pop();
    }
    let name = words.pop().unwrap_or_default();
    // The record of a domain's key for mail (RFC 8463).
    if n_bytes == 32 && before.contains("v=DKIM1") && before.ends_with("p=") {
        return true;
    }
    let is_mark = before.ends_with(['"', '\'', '>', ' ', '=', ':']);
    is_mark && n_bytes == 32 && name.contains("public") && name.ends_with("key")
}

/// The name of the field of a JSON object or of a program's literal whose string begins at the end of the text; empty for other texts.
fn field(before: &str) -> &str {
    let is_mark = |c: char| "\\\"'` ".contains(c);
    let Some(name) = before.trim_end_matches(is_mark).strip_suffix([':', '=']) else { return "" };
    let name = name.trim_end_matches(is_mark);
    name.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '#').next().unwrap_or_default()
}

/// True within braces with a member `kty`, which every JSON Web Key has; without braces, near it or an algorithm.
fn is_in_web_key(spot: &Spot<'_>) -> bool {
    if !spot.lead(OBJECT).contains('{') {
        let around = [spot.lead(NEAR), spot.behind()].concat();
        let has_algorithm = ["crv:", "alg=ES", "alg=EdDSA", "alg=RS"].iter().any(|mark| around.contains(mark));
        return has_algorithm || is_of_public_kind(&around);
    }
    let lead = spot.lead(OBJECT);
    let rest = spot.text.get(spot.at.end..spot.text.floor_char_boundary((spot.at.end + OBJECT).min(spot.text.len())));
    let before = lead.rfind('{').and_then(|at| lead.get(at..)).unwrap_or_default();
    let behind = rest.and_then(|rest| rest.split('}').next()).unwrap_or_default();
    !before.contains('}') && (is_of_public_kind(before) || is_of_public_kind(behind))
}

/// True if the text has a `kty` of a pair of keys. The kind `oct` is a secret as a whole.
fn is_of_public_kind(text: &str) -> bool {
    text.split("kty").skip(1).any(|rest| {
        let kind = rest.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
        ["EC", "RSA", "OKP"]
            .iter()
            .any(|it| kind.strip_prefix(it).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)))
    })
}

/// True after the label of `OpenSSH`'s fingerprints: a SHA-256 digest.
fn is_fingerprint(before: &str, n_bytes: usize) -> bool {
    n_bytes == 32 && before.ends_with("SHA256:")
}

/// True for the salt and the digest of a hashed host name in `known_hosts`: `|1|salt|digest key`.
fn is_known_host(before: &str, n_bytes: usize) -> bool {
    let is_salt = |text: &str| text.len() == 28 && text.ends_with('=');
    let digest = before.strip_suffix('|').and_then(|before| before.rsplit_once("|1|"));
    n_bytes == 20 && (before.ends_with("|1|") || digest.is_some_and(|(_, salt)| is_salt(salt)))
}

/// True for an entry of Nix's list of public keys: a name with a number, a colon, and 32 bytes; also for a signature.
/// A secret key has 64 bytes, as a signature.
fn is_of_nix(spot: &Spot<'_>, before: &str, n_bytes: usize) -> bool {
    let name = before.strip_suffix(':').and_then(|before| before.rsplit([' ', '"', '\'', '=', '[']).next());
    let is_numbered = name.and_then(|name| name.rsplit_once('-')).is_some_and(|(name, number)| {
        !name.is_empty() && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
    });
    let lead = || spot.lead(LIST);
    let is_list = || lead().contains("public-key") || lead().contains("public_key");
    let is_signature = || n_bytes == 64 && before.trim_start().starts_with("Sig: ");
    is_numbered && ((n_bytes == 32 && is_list()) || is_signature())
}

/// True for the 32 bytes of a peer's key, and for what `wg pubkey` prints.
fn is_of_wireguard(spot: &Spot<'_>, before: &str, n_bytes: usize) -> bool {
    let name = before.trim_end_matches([' ', ':', '=', '\t']).to_ascii_lowercase();
    let is_peer = name == "peer" || (name.ends_with(" peer") && name.contains("wg "));
    let is_named = (name.ends_with("public key") || name.ends_with("publickey")) && before.len() > name.len();
    let is_printed = || {
        let command = spot.lines_above().next().unwrap_or_default();
        before.is_empty() && command.contains("wg pubkey") && !command.contains("tee ")
    };
    n_bytes == 32 && (is_peer || is_named || is_printed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redactor::structure::spot::some_bytes;

    /// Base64 of so many bytes, without padding.
    fn key(n_bytes: u8) -> String {
        data_encoding::BASE64_NOPAD.encode(&some_bytes(n_bytes))
    }

    fn check(text: &str, value: &str, expected: bool) {
        assert_eq!(is_public_key(&Spot::first(text, value)), expected, "{text}");
    }

    #[test]
    fn members_of_a_web_key_are_public_and_its_private_member_is_not() {
        let (x, y, d) = (key(32), key(48), key(57));
        let text = format!(r#"{{"kty":"EC","x":"{x}","y":"{y}","d":"{d}"}}"#);
        check(&text, &x, true);
        check(&text, &y, true);
        check(&text, &d, false);
        check(&format!(r#"{{"x":"{x}","d":"{d}"}}"#), &x, false);
        check(&format!(r#"{{"kty":"EC","x":"{}"}}"#, key(40)), &key(40), false);
        check(&format!(r#"{{kty: "oct", k: "{x}"}}"#), &x, false);
        check(&format!(r#""x5t#S256": "{x}""#), &x, true);
        check(&format!("kty: EC\ncrv: P-256\nx: {x}\ny: {x}"), &x, true);
        check(&format!("x: {x}\ny: {x}"), &x, false);
        check(&format!(r#"{{"kty":"oct","x":"{x}"}}"#), &x, false);
        check(&format!(r#"{{"kty":"EC"}} secret x: "{x}""#), &x, false);
        check(&format!(r#"password x: "{x}", kty: "x""#), &x, false);
        check(&format!("alg=ES256 x={x} d={y}"), &x, true);
        check(&format!("alg=ES256 x={x} d={y}"), &y, false);
        check(&format!("DecodingKey::from_ec_components(\"{x}\", \"{y}\")"), &x, true);
        check(&format!("$ curl /jwks.json | jq -r '.keys[0].x'\n{x}"), &x, true);
        check(&format!("$ jq -r '.keys[0].d' jwks.json\n{x}"), &x, false);
        check(&format!("EncodingKey::from_secret(\"{x}\")"), &x, false);
        check(&format!(r#""x5t#S256": "{}""#, key(24)), &key(24), false);
    }

    #[test]
    fn keys_of_nix_have_32_bytes_and_a_numbered_name() {
        for (list, name, n_bytes, expected) in [
            ("trusted-public-keys", "cache.test-1", 32, true),
            ("trusted-public-keys", "cache.test-1", 64, false),
            ("trusted-public-keys", "password", 32, false),
            ("secret-keys", "cache.test-1", 32, false),
        ] {
            check(&format!("{list} = other.test-1:{} {name}:{}=", key(20), key(n_bytes)), &key(n_bytes), expected);
        }
    }

    #[test]
    fn fingerprints_and_hashed_hosts_have_the_length_of_their_digest() {
        let (host, salt) = (key(20), format!("{}=", key(20)));
        check(&format!("|1|{salt}|{host}= ssh-ed25519"), &host, true);
        check(&format!("|2|{salt}|{host}="), &host, false);
        check(&format!("token|{host}="), &host, false);
        check(&format!("(SHA256:{})", key(32)), &key(32), true);
        check(&format!("(SHA256:{})", key(33)), &key(33), false);
    }

    #[test]
    fn keys_of_signify_and_sparkle_have_a_length() {
        let of_signify =
            |n_bytes: usize| data_encoding::BASE64.encode(&[b"Ed".to_vec(), vec![0x5a; n_bytes - 2]].concat());
        let head = "untrusted comment: signature from minisign secret key";
        for (text, value, expected) in [
            (format!("{head}\n{}", of_signify(74)), of_signify(74), true),
            (format!("{head}\n{}", of_signify(104)), of_signify(104), false),
            (format!("untrusted comment: minisign secret key\n{}", of_signify(74)), of_signify(74), false),
            (format!("untrusted comment: signify public key\n{}", of_signify(42)), of_signify(42), true),
            (format!("<key>SUPublicEDKey</key><string>{}=", key(32)), key(32), true),
            (format!("<key>SUPrivateEDKey</key><string>{}=", key(32)), key(32), false),
            (format!("v=DKIM1; k=ed25519; p={}=", key(32)), key(32), true),
            (format!("nodekey:{}", "3f9a0c7be15d2468".repeat(4)), "3f9a0c7be15d2468".repeat(4), true),
            (format!("privkey:{}", "3f9a0c7be15d2468".repeat(4)), "3f9a0c7be15d2468".repeat(4), false),
        ] {
            check(&text, &value, expected);
        }
    }

    #[test]
    fn keys_of_wireguards_peers_are_public() {
        let it = key(32);
        for (text, expected) in [
            (format!("wg set wg0 peer {it}= allowed-ips 10.0.0.2/32"), true),
            (format!("peer: {it}="), true),
            (format!("$ wg pubkey < key\n{it}="), true),
            (format!("  public key: {it}="), true),
            (format!("$ wg genkey\n{it}="), false),
            (format!("$ wg genkey | tee /dev/stderr | wg pubkey\n{it}="), false),
            (format!("PrivateKey = {it}="), false),
            (format!("public page, private key: {it}="), false),
        ] {
            check(&text, &it, expected);
        }
    }
}
