//! Values that look like secrets and may be seen: sums, ids and public keys, by what is written around them.

use std::ops::Range;

use crate::shape::{is_digest, words};

use super::{Redactor, line_before};

/// Labels in front of a sum, in files that lock versions, in headers and in lists of known hosts.
const SUM_LABELS: [&str; 17] = [
    "h1:", "zh:", "sha1-", "sha256-", "sha384-", "sha512-", "sha1:", "sha256:", "sha384:", "sha512:", "md5-", "md5:",
    "blake3:", "blake2b:", "w/", "b2:", "10c0/",
];
/// Words of lists of sums and of the ids of public keys.
const SUM_WORDS: [&str; 9] = [
    "checksum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "shasum",
    "contenthash",
    "integrity",
    "validpgpkeys",
    "fingerprint",
];
/// Names of keys that everybody may see, without the marks in them.
const PUBLIC_NAMES: [&str; 6] = ["publickey", "pubkey", "publishable", "sitekey", "verifykey", "verifyingkey"];
/// Parts of a public key as JSON has them (RFC 7517).
const KEY_PARTS: [&str; 8] = ["x", "y", "n", "e", "kid", "x5t", "x5c", "x5t#S256"];
/// So many bytes before a value say what list it is in.
const BEFORE: usize = 320;

impl Redactor {
    /// What is around a value says that it is no secret: a sum, a part of a public key, the id of an event.
    pub(super) fn is_seen_by_all(&self, text: &str, at: &Range<usize>) -> bool {
        let value = text.get(at.clone()).unwrap_or_default();
        if text.get(..at.start).is_some_and(|before| before.trim_end().ends_with("PUBLIC KEY-----")) {
            return true;
        }
        if value.is_empty() || value.len() > 256 || value.contains(char::is_whitespace) {
            return false;
        }
        let line = line_before(text, at.start);
        is_labelled(text, at, value)
            || is_ulid(value)
            || has_public_name(line, value)
            || is_part_of_public_key(text, at, line)
            || (is_digest(value) && !self.is_promised(line) && is_in_sums(text, at))
    }

    /// The name in front of a value is that of a secret.
    fn is_promised(&self, line: &str) -> bool {
        words(name_of(line)).iter().any(|word| self.skips.promises.contains(word.as_str()))
    }
}

/// The identifier at the end of what is before a value.
fn name_of(line: &str) -> &str {
    let end = line.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    end.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-').next().unwrap_or_default()
}

/// The word that the value is in, or its last part behind a quote or a comma, begins with the label of a sum.
fn is_labelled(text: &str, at: &Range<usize>, value: &str) -> bool {
    let start = text.floor_char_boundary(at.start.saturating_sub(96));
    let before = text.get(start..at.start).unwrap_or_default();
    let head = before.rsplit(|c: char| c.is_ascii_whitespace() || ",='`<>([".contains(c)).next().unwrap_or_default();
    let word = format!("{}{}", head.replace('"', ""), value).to_ascii_lowercase();
    let sum = |label: &&str| word.strip_prefix(label).is_some_and(|sum| sum.len() >= 20);
    // A hashed name in a list of known hosts.
    let is_host = before.rsplit(char::is_whitespace).next().is_some_and(|word| word.starts_with("|1|"));
    is_host || SUM_LABELS.iter().any(sum)
}

/// A ULID of this century's first decades: the time is in its first ten characters.
fn is_ulid(value: &str) -> bool {
    value.len() == 26
        && value.starts_with("01")
        && value.bytes().all(|b| b.is_ascii_digit() || (b.is_ascii_uppercase() && !b"ILOU".contains(&b)))
}

fn has_public_name(line: &str, value: &str) -> bool {
    let own = value.split_once('=').filter(|(name, _)| name.len() <= 32).map_or("", |(name, _)| name);
    [name_of(line), own].iter().any(|name| {
        let name = name.to_ascii_lowercase().replace(['-', '_'], "");
        PUBLIC_NAMES.iter().any(|public| name.contains(public))
    }) || ["pk_live_", "pk_test_"].iter().any(|head| value.starts_with(head))
}

fn is_part_of_public_key(text: &str, at: &Range<usize>, line: &str) -> bool {
    let start = text.floor_char_boundary(at.start.saturating_sub(BEFORE));
    let before = || text.get(start..at.start).unwrap_or_default();
    let is_signature = || ["b", "bh"].contains(&name_of(line)) && before().to_ascii_lowercase().contains("dkim");
    is_signature()
        || KEY_PARTS.contains(&name_of(line))
            && ["\"kty\"", "\"crv\"", "\"kid\""].iter().any(|head| before().contains(head))
}

/// A word of a list of sums is not far before.
fn is_in_sums(text: &str, at: &Range<usize>) -> bool {
    let start = text.floor_char_boundary(at.start.saturating_sub(BEFORE));
    let end = text.floor_char_boundary((at.end + 80).min(text.len()));
    let around = text.get(start..end).unwrap_or_default().to_ascii_lowercase();
    SUM_WORDS.iter().any(|word| around.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_ids_and_public_keys_are_kept() {
        for text in [
            "github.com/acme/go-keyring v0.2.5 h1:kVtWPYyjO/x81xUbGrGNwETbEJUP8BuqIUIxCGeSu6Q=",
            "SPEC CHECKSUMS:\n  KeychainSwift: 9af1c6dbe3b7f05cc2f1bb16b7d27e58c1a3f9e0\n  Stripe: 4e61dbb1f4a3cf1e0c9eaa6b8d2f7c05b3d19e7a\n",
            "ETag: W/\"CAFyMNNXe5qIlr6_UKG4Rj86R_g\"\nAuthorization: none",
            "|1|oafNVJEJGNP6i4vlcMqCoiPZKWs=|qnhmht2dMXDKG/sJPcwBveFRDXA= ssh-ed25519 AAAAC3NzaC1lZDI1NTE5",
            r#""crv":"P-256","x":"5DpB53SSMLq0kc36QewHmRzwahcr28TaZY4U3lM5elI","use":"sig""#,
            r#"Stripe(publishableKey: "pk_live_TbXxpoDiTW03kVmIFKcsYok6")"#,
            r#"<div class="g-recaptcha" data-sitekey="6LRDEEUhtSFobZ4oSCeSEaCTIVyZsas60VSUYjFu"></div>"#,
            "the auth event 01J7QP4N3GHXCNTR11S0660D7Z was read",
            "spring.mail.password=@mail.password@",
            "curl -H \"X-Api-Key: $API_KEY\" \"$BASE/v2/jobs\"",
            "the seed=20240611 gives the same run",
        ] {
            assert_eq!(Redactor::shared().redact(text), text);
        }
    }

    #[test]
    fn what_a_name_promises_is_taken_out_among_sums() {
        for (text, secret) in [
            ("checksums pass\napi_key: 9af1c6dbe3b7f05cc2f1bb16b7d27e58c1a3f9e0\n", "9af1c6dbe3b7f05cc2f1bb16b7d27e58"),
            ("http --verify=no POST :80/jobs X-Api-Key:3633e655c59e7f05f9a6f6b031b51654 a=b", "3633e655c59e7f05"),
            ("I log in with mbauer and AnchorBasket8843 but it fails", "AnchorBasket8843"),
            ("smbclient //nas/x -U bob%saddle-forest-82", "saddle-forest-82"),
            (".x.example\tTRUE\t/\tTRUE\t1790000000\tSID\tQm3vT8xLp2RzWk7NsYd1HcJ6", "Qm3vT8xLp2RzWk7"),
            ("open(/var/lib/php/sessions/sess_qzc6nqnwmzjiwn6vyspkdawryi, O_RDWR) failed", "qzc6nqnwmzjiwn6"),
            ("Wiederherstellungscode (einmalig): KCS8-8LV7-UWW1-6QMV", "KCS8-8LV7"),
            ("Lösenordet till servern: VelvetQuartz3705", "VelvetQuartz3705"),
        ] {
            assert!(!Redactor::shared().redact(text).contains(secret), "{text}");
        }
    }
}
