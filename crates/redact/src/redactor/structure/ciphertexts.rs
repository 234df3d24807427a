//! Encrypted values in the notations of tools that store them beside code: without their key they disclose nothing.

use super::spot::Spot;
use crate::shape::decode;

/// The starts of an encrypted value of SOPS and of Hiera, which a `]` ends.
const OPENINGS: [&str; 2] = ["ENC[AES256_GCM,data:", "ENC[PKCS7,"];
/// What is before the bytes that Vault's transit engine has encrypted.
const LABELS: [&str; 3] = ["vault:v1:", "vault:v2:", "vault:v3:"];
/// The least number of encrypted bytes: a nonce of 12 and a tag of 16.
const MIN_BYTES: usize = 28;
/// The length of a tag in bytes.
const MIN_TAG: usize = 16;
/// The least number of bytes of a value that a public key of RSA encrypts, or AWS KMS.
const MIN_SEALED: usize = 96;
/// Bytes before a value that are searched for the head of its document.
const HEAD: usize = 2_500;

/// True for an encrypted value.
pub(super) fn is_encrypted(spot: &Spot<'_>) -> bool {
    is_in_brackets(spot) || is_labelled(spot) || is_of_vault_file(spot) || is_sealed(spot)
}

/// True for a part of `ENC[…]`, whose brackets contain no blank and are closed.
fn is_in_brackets(spot: &Spot<'_>) -> bool {
    let before = spot.before();
    let (line, value) = (spot.line(), spot.value());
    let open = line.rfind("ENC[").filter(|at| *at <= before.len()).and_then(|at| line.get(at..)).unwrap_or_default();
    let is_of_tool = OPENINGS.iter().any(|opening| open.starts_with(opening));
    let lead = open.get(..open.len().saturating_sub(value.len())).unwrap_or_default();
    let rest = if value.ends_with(']') { Some("") } else { spot.rest().split_once(']').map(|(rest, _)| rest) };
    let is_closed = rest.is_some_and(|rest| !rest.contains(char::is_whitespace) && !rest.contains('['));
    is_of_tool && is_closed && !open.contains(char::is_whitespace) && !lead.contains(']')
}

/// True for base64 behind the label of a tool; with Pulumi a nonce, a colon and the encrypted bytes.
fn is_labelled(spot: &Spot<'_>) -> bool {
    let is_label = |before: &str| LABELS.iter().any(|label| before.ends_with(label));
    is_of_pulumi(spot) || spot.decoded().any(|(before, bytes)| bytes.len() >= MIN_BYTES && is_label(before))
}

/// True for a part of `secure: v1:nonce:bytes`, where both have their length and nothing else is between the label and the value.
fn is_of_pulumi(spot: &Spot<'_>) -> bool {
    let Some((_, lead)) = spot.line().rsplit_once("secure: v1:") else { return false };
    let rest = spot.behind().split(|c: char| c.is_whitespace() || "\"',;".contains(c)).next().unwrap_or_default();
    let whole = [lead, rest].concat();
    let Some((nonce, sealed)) = whole.split_once(':') else { return false };
    let is_base64 = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b));
    nonce.len() == 16 && is_base64(nonce) && is_base64(sealed) && decode(sealed).is_some_and(|it| it.len() >= MIN_TAG)
}

/// True for a line of hexadecimal digits of a file or a value that Ansible Vault has encrypted.
fn is_of_vault_file(spot: &Spot<'_>) -> bool {
    let is_line = |line: &str| line.len() <= 80 && line.bytes().all(|b| b.is_ascii_hexdigit());
    let mut above = spot.lead(HEAD).rsplit('\n').skip(1).map(str::trim).skip_while(|line| is_line(line));
    spot.before().trim().is_empty()
        && is_line(spot.value())
        && above.next().is_some_and(|head| head.starts_with("$ANSIBLE_VAULT;"))
}

/// True for what AWS KMS has encrypted, and for a value of a `SealedSecret`.
fn is_sealed(spot: &Spot<'_>) -> bool {
    let is_of_kms = |run: &str| run.starts_with("AQICAH") || run.starts_with("AQECAH");
    let is_kms = spot.runs().into_iter().filter_map(|run| spot.text.get(run)).any(is_of_kms);
    let lead = || spot.lead(HEAD);
    let is_of_cluster = || {
        let document = lead().rsplit("\n---").next().unwrap_or_default();
        document.contains("SealedSecret") && document.contains("encryptedData")
    };
    spot.decoded().any(|(_, bytes)| bytes.len() >= MIN_SEALED && (is_kms || is_of_cluster()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redactor::structure::spot::some_bytes;

    fn key(n_bytes: u8) -> String {
        data_encoding::BASE64.encode(&some_bytes(n_bytes))
    }

    fn check(text: &str, value: &str, expected: bool) {
        assert_eq!(is_encrypted(&Spot::last(text, value)), expected, "{text}");
    }

    #[test]
    fn values_of_sops_vault_and_pulumi_are_encrypted() {
        let (short, long) = (key(12), key(48));
        for (text, value, expected) in [
            (format!("db_password: ENC[AES256_GCM,data:{short},iv:{long},tag:x,type:str]"), &long, true),
            (format!("db_password: ENC[AES256_GCM,data:{short},iv:x]"), &short, true),
            (format!("db_password: ENC[{short}]"), &short, false),
            (format!("a: ENC[AES256_GCM,data:x] password: {short}"), &short, false),
            (format!("ciphertext: vault:v1:{long}"), &long, true),
            (format!("token: vault:v1:{short}"), &short, false),
            (format!("secure: v1:{short}:{long}"), &long, true),
            (format!("secure: {long}"), &long, false),
            // Secrets behind the start of such a value.
            (format!("secret: ENC[AES256_GCM,data:abc and password: {long}"), &long, false),
            (format!("secret: ENC[AES256_GCM,data:{long}"), &long, false),
            (format!("ENC[PKCS7,x token {long}]"), &long, false),
            (format!("secure: v1:{short}:abc, password: {long}"), &long, false),
            (format!("secure: v1:{short}:abc"), &short, false),
            (format!("secure: v1:{long}:{long}"), &long, false),
        ] {
            check(&text, value, expected);
        }
    }

    #[test]
    fn lines_of_an_encrypted_file_and_sealed_values_are_encrypted() {
        let (hex, sealed) = ("3f9a0c7be15d2468".repeat(5), key(120));
        for (text, value, expected) in [
            (format!("x: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  {}\n  {hex}", hex.replace('3', "4")), &hex, true),
            (format!("$ANSIBLE_VAULT;1.1;AES256\nkey: x\n{hex}"), &hex, false),
            (format!("key:\n{hex}"), &hex, false),
            (format!("kind: SealedSecret\nspec:\n  encryptedData:\n    password: {sealed}"), &sealed, true),
            (format!("kind: Secret\ndata:\n    password: {sealed}"), &sealed, false),
            (format!("kind: SealedSecret\nencryptedData: x\n---\nkind: Secret\ndata: {sealed}"), &sealed, false),
            (format!("kind: SealedSecret\nspec:\n  encryptedData:\n    password: {}", key(12)), &key(12), false),
        ] {
            check(&text, value, expected);
        }
    }
}
