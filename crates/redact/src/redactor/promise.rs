//! Whether the name right before a value promises a secret, whatever else is on the line.

use crate::shape::words;

/// The greatest number of bytes between a name and its value.
const MAX_GAP: usize = 8;
/// Bytes before a value in which its name is.
const REACH: usize = 96;
/// Words from a name to the verb that joins it to its value, as in `the credentials for ci were …`.
const N_WORDS: usize = 4;
/// Verbs that join a name to a value.
const VERBS: [&str; 5] = ["is", "was", "are", "were", "be"];
/// Last words of names of secrets.
const SECRETS: [&str; 17] = [
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "passcode",
    "secret",
    "secrets",
    "token",
    "apikey",
    "credential",
    "credentials",
    "bearer",
    "accesstoken",
    "authtoken",
    "secretkey",
    "privatekey",
    "accesskey",
];
/// Words before `key` in names of secrets.
const KEYS: [&str; 19] = [
    "api",
    "access",
    "secret",
    "private",
    "signing",
    "encryption",
    "deploy",
    "auth",
    "license",
    "licence",
    "master",
    "admin",
    "service",
    "shared",
    "hmac",
    "decryption",
    "session",
    "node",
    "wallet",
];
/// Words before `token` and `secret` in names of public values.
const OTHERS: [&str; 27] = [
    "page",
    "next",
    "continue",
    "continuation",
    "starting",
    "pagination",
    "resume",
    "sync",
    "scroll",
    "nextpage",
    "previous",
    "delta",
    "skip",
    "csrf",
    "xsrf",
    "idempotency",
    "cancellation",
    "cancel",
    "antiforgery",
    "verification",
    "request",
    "no",
    "without",
    "of",
    "per",
    "mint",
    "authenticity",
];

/// Words that make a name that of a public value or of a digest: `PublicKeyToken`, `checksum/secret`.
const PUBLIC: [&str; 10] =
    ["public", "publishable", "checksum", "digest", "hash", "fingerprint", "thumbprint", "sha", "sha1", "md5"];

/// True if the text before a value ends with a name that promises a secret: `api_key=`, `the credentials for ci were `. A bracket
/// between the two ends the promise.
pub(crate) fn promises_value(before: &str) -> bool {
    let before = before.get(before.floor_char_boundary(before.len().saturating_sub(REACH))..).unwrap_or_default();
    let before = before.rsplit('\n').next().unwrap_or_default();
    let name = before.trim_end_matches(|c: char| " \t:=\"'`>,→".contains(c));
    let name = name.strip_suffix(" -").unwrap_or(name);
    // The end of a path announces nothing.
    let is_path = || name.rsplit([' ', '"']).next().is_some_and(|word| word.contains('/'));
    let is_assigned = before.get(name.len()..).is_some_and(|joint| joint.contains([':', '=', '>', '→']));
    if !is_assigned && is_path() {
        return false;
    }
    let is_joined = name.len() < before.len() && before.len() - name.len() <= MAX_GAP;
    let clause =
        name.rsplit([',', ';', '=', ':', '(', ')', '{', '}', '[', '&', '?', '"', '\'']).next().unwrap_or_default();
    let clause: Vec<String> = words(clause).map(str::to_lowercase).collect();
    let Some((last, rest)) = clause.split_last().filter(|_| is_joined) else { return false };
    if VERBS.contains(&last.as_str()) {
        return (0..rest.len().min(N_WORDS)).any(|n_between| is_secret_name(rest.get(..rest.len() - n_between)));
    }
    is_secret_name(Some(&clause))
}

/// True if the last words are those of the name of a secret.
fn is_secret_name(name: Option<&[String]>) -> bool {
    let Some((last, rest)) = name.and_then(<[String]>::split_last) else { return false };
    let previous = rest.last().map(String::as_str).unwrap_or_default();
    if rest.iter().rev().take(N_WORDS).any(|word| PUBLIC.contains(&word.as_str())) {
        return false;
    }
    let is_key = ["key", "keys"].contains(&last.as_str()) && KEYS.contains(&previous);
    // A token of a client makes a request idempotent.
    let is_other = OTHERS.contains(&previous) || (previous, last.as_str()) == ("client", "token");
    is_key || (SECRETS.contains(&last.as_str()) && !is_other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_before_a_value_promises_a_secret_or_not() {
        for (before, expected) in [
            ("digest=none API_KEY=", true),
            ("merged; the credentials for ci were ", true),
            ("the checksum is fine and the deploy key is ", true),
            ("{\"etag\": \"x\", \"clientSecret\": \"", true),
            ("id 7\ntoken: ", true),
            ("GET /x?next=2&access_token=", true),
            ("the token is checked; commit ", false),
            ("next_page_token=", false),
            ("csrf token: ", false),
            ("fix the token (", false),
            ("the token of commit ", false),
            ("cache key: ", false),
            ("/aws/lambda/rotate-secret ", false),
            ("wiki/Secret-", false),
            ("PublicKeyToken=", false),
            ("hash of the token: ", false),
            ("clientToken: ", false),
            ("checksum/secret: ", false),
            ("token", false),
            ("", false),
        ] {
            assert_eq!(promises_value(before), expected, "{before}");
        }
    }
}
