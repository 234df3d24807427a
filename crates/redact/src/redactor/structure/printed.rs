//! Values that a command prints on a line of their own, where the command prints nothing secret.

use super::proof::{Form, Public};
use super::spot::{Spot, is_hex_of};
use crate::redactor::promise::promises_within;
use crate::shape::is_uuid;

/// Lines above a value in which the command counts.
const N_LINES: usize = 6;
/// The lengths of digests in hexadecimal digits.
const DIGESTS: [usize; 7] = [8, 32, 40, 56, 64, 96, 128];
/// The bytes of a public key of Curve25519.
const KEY_LEN: usize = 32;
/// Commands that print digests of files and of their input.
const DIGESTING: [&str; 12] = [
    "md5",
    "md5sum",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "shasum",
    "b2sum",
    "b3sum",
    "cksum",
    "sha256",
];
/// Ends of commands that print the public half of a key.
const PUBLISHING: [[&str; 2]; 6] = [
    ["wg", "pubkey"],
    ["wg", "public-key"],
    ["age-keygen", "-y"],
    ["ssh-keygen", "-y"],
    ["openssl", "-pubout"],
    ["solana", "address"],
];
/// Commands that print ids of objects.
const IDENTIFYING: [[&str; 2]; 8] = [
    ["docker", "ps"],
    ["docker", "images"],
    ["docker", "inspect"],
    ["docker", "create"],
    ["docker", "run"],
    ["podman", "ps"],
    ["uuidgen", ""],
    ["dvc", "status"],
];

/// The proof for a digest, a public key or an id at the start of a line below the command that printed it.
pub(super) fn printed(spot: &Spot<'_>) -> Option<Public> {
    const FORMS: [Form; 4] = [Form::Hex(&DIGESTS), Form::Hex(&[12]), Form::Uuid, Form::Bytes(&[KEY_LEN])];
    let command = command_above(spot).filter(|_| spot.before().is_empty())?;
    prints(command, spot).then(|| Public::proven(spot, &FORMS, "")).flatten()
}

/// The nearest line above that is a command, up to other values that it printed.
fn command_above<'t>(spot: &Spot<'t>) -> Option<&'t str> {
    let is_output = |line: &&str| {
        let first = line.split([' ', '\t']).next().unwrap_or_default();
        is_hex_of(first, &DIGESTS) || is_uuid(first)
    };
    spot.lines_above().take(N_LINES).find(|line| !is_output(line))
}

/// True if the command prints such a value. What is generated, written out or run elsewhere may be a key.
fn prints(command: &str, spot: &Spot<'_>) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    let runs =
        |[program, argument]: &[&str; 2]| words.contains(program) && (argument.is_empty() || words.contains(argument));
    let value = spot.value();
    let is_other = ["random", "rand", "echo", "printf", " exec ", "cat "].iter().any(|source| command.contains(source));
    let is_digest = is_hex_of(value, &DIGESTS) && DIGESTING.iter().any(|program| words.contains(program));
    let is_of_dgst = is_hex_of(value, &DIGESTS) && runs(&["openssl", "dgst"]) && !command.contains("-hmac");
    let is_key = || PUBLISHING.iter().any(runs) && spot.decoded().any(|(_, bytes)| bytes.len() == KEY_LEN);
    let is_id = || {
        (is_uuid(value) || is_hex_of(value, &[12, 64]))
            && IDENTIFYING.iter().any(runs)
            && prints_id(&words)
            && !promises_within(command)
    };
    !is_other && (is_digest || is_of_dgst || is_key() || is_id())
}

/// False for a container that runs in the foreground, which can print anything, and for a field of one other than its id.
fn prints_id(words: &[&str]) -> bool {
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let is_of_id = || words.iter().any(|word| word.contains(".Id}}") || word.contains(".Image}}"));
    (!has(&["run"]) || has(&["-d", "--detach", "-dit", "-itd", "-td", "-id"])) && (!has(&["inspect"]) || is_of_id())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redactor::structure::spot::some_bytes;

    fn check(text: &str, value: &str, expected: bool) {
        assert_eq!(printed(&Spot::last(text, value)).is_some(), expected, "{text}");
    }

    #[test]
    fn digests_public_keys_and_ids_are_below_the_command_that_prints_them() {
        let (digest, uuid) = ("3f9a0c7be15d2468".repeat(4), "1a652f10-a47e-449f-ab74-68de3b744220");
        let (key, other) =
            (data_encoding::BASE64.encode(&some_bytes(32)), data_encoding::BASE64.encode(&some_bytes(24)));
        for (text, value, expected) in [
            (format!("$ sha256sum a.key b.key\n{digest}  a.key\n{digest}  b.key"), digest.as_str(), true),
            (format!("$ md5 -q token.txt\n{}", &digest[..32]), &digest[..32], true),
            (format!("$ wg show wg0 public-key\n{key}"), &key, true),
            (format!("wg pubkey < private.key\n{key}"), &key, true),
            (format!("$ docker ps -q --no-trunc\n{digest}"), &digest, true),
            (format!("> uuidgen\n{uuid}"), uuid, true),
            // A secret below the same commands, and below others.
            (format!("$ head -c9 /dev/urandom | sha256sum\n{digest}"), &digest, false),
            (format!("$ echo -n x | openssl dgst -sha256 -hmac k\n{digest}"), &digest, false),
            (format!("$ sha256sum a.key\nAPI_KEY={digest}"), &digest, false),
            (format!("$ sha256sum a.key\n$ cat a.key\n{digest}"), &digest, false),
            (format!("$ wg genkey\n{key}"), &key, false),
            (format!("$ wg pubkey < a\n{other}"), &other, false),
            (format!("$ cat md5.key\n{digest}"), &digest, false),
            (format!("$ docker exec app cat /run/secrets/key\n{digest}"), &digest, false),
            (format!("$ docker exec ps cat key\n{digest}"), &digest, false),
            (format!("$ docker run -d app\n{digest}"), &digest, true),
            (format!("$ docker run --rm app keygen\n{digest}"), &digest, false),
            (format!("$ docker inspect -f '{{{{.Config.Env}}}}' app\n{digest}"), &digest, false),
            (format!("$ docker inspect -f '{{{{.Id}}}}' app\n{digest}"), &digest, true),
            (format!("$ vault token create -field=id\n{uuid}"), uuid, false),
        ] {
            check(&text, value, expected);
        }
    }
}
