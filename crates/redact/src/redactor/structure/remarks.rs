//! Remarks behind a value which say that it is public.

use super::proof::{Form, Public};
use super::spot::{Spot, lower_words};
use crate::score::promises_a_secret;

/// What begins a remark.
const OPENERS: [&str; 7] = ["//", "#", "--", "(", "/*", "<!--", ";"];
/// Words with which a remark says the opposite, or speaks of something else.
const OTHERS: [&str; 14] = [
    "not",
    "never",
    "no",
    "non",
    "isn",
    "secret",
    "private",
    "repo",
    "repository",
    "bucket",
    "internet",
    "until",
    "before",
    "leaked",
];
/// What such a remark calls public.
const THINGS: [&str; 8] = ["key", "one", "half", "part", "value", "id", "on", "by"];
/// The greatest number of words in such a remark.
const MAX_WORDS: usize = 8;
/// The lengths of public keys in bytes: of Curve25519, and of a compressed and a plain point of P-256.
const KEYS: [usize; 3] = [32, 33, 65];

/// The proof for a key or a digest with a remark behind it that calls it public, as in `'…', // VAPID public`. A name that promises a
/// secret outweighs the remark.
pub(super) fn called_public(spot: &Spot<'_>) -> Option<Public> {
    let rest = spot.behind().trim_start_matches(['"', '\'', '`', ',', ';', '=', ' ', '\t']);
    let remark = OPENERS.iter().find_map(|opener| rest.strip_prefix(opener))?;
    let words = lower_words(remark);
    let place = words.iter().position(|word| word == "public" || word == "publishable");
    // The word is the last, or of the value: not of a beta or a bucket.
    let is_public = place.is_some_and(|at| words.get(at + 1).is_none_or(|next| THINGS.contains(&next.as_str())));
    let is_believed = is_public
        && words.len() <= MAX_WORDS
        && !words.iter().any(|word| OTHERS.contains(&word.as_str()))
        && !promises_more_than_a_key(spot.before());
    is_believed.then(|| Public::proven(spot, &[Form::Hex(&[32, 40, 64]), Form::Bytes(&KEYS)], "")).flatten()
}

/// True if the name before the value promises a secret. The word `key` and a salt alone do not.
fn promises_more_than_a_key(before: &str) -> bool {
    let name = before.to_ascii_lowercase().replace("key", "").replace("salt", "");
    promises_a_secret(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redactor::structure::spot::some_bytes;

    #[test]
    fn a_remark_that_calls_a_key_public_is_believed_unless_the_name_promises_a_secret() {
        let key = data_encoding::BASE64URL_NOPAD.encode(&some_bytes(65));
        for (text, expected) in [
            ("serverKey: '§', // the public one", true),
            ("salt = \"§\" (public)", true),
            ("key = §  # public", true),
            ("api_token: '§', // the public one", false),
            ("secret = \"§\" (public)", false),
            ("key = §  # not public", false),
            ("key = §  # of the public repo", false),
            ("key = § public", false),
            ("key = §  # public beta", false),
            ("key = §  // of the public site", false),
            ("key = §  # signs the public feed", false),
        ] {
            let text = text.replace('§', &key);
            assert_eq!(called_public(&Spot::last(&text, &key)).is_some(), expected, "{text}");
        }
        assert!(called_public(&Spot::last("key = q7RtZ2mWx9  # public", "q7RtZ2mWx9")).is_none());
    }
}
