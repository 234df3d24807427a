//! Text in base64 that a command or a call decodes on the same line.

use super::spot::{Spot, lower_words};
use crate::redactor::Redactor;
use crate::score::promises_a_secret;

/// What decodes base64, in shells and programs.
const DECODERS: [&str; 8] = [
    "base64 -d",
    "base64 --decode",
    "base64 -D",
    "atob(",
    "b64decode(",
    "base64_decode(",
    "decode64(",
    "FromBase64String(",
];
/// The least number of words in a readable text.
const MIN_WORDS: usize = 3;

impl Redactor {
    /// True for base64 of a readable text, if its line decodes it and neither the line nor the text promises a secret.
    pub(super) fn is_decoded_text(&self, spot: &Spot<'_>) -> bool {
        let (before, behind) = (spot.before(), spot.behind());
        let is_decoded = DECODERS.iter().any(|decoder| before.contains(decoder) || behind.contains(decoder));
        if !is_decoded || promises_a_secret(before) || promises_a_secret(behind) {
            return false;
        }
        spot.decoded().any(|(_, bytes)| String::from_utf8(bytes).is_ok_and(|text| self.is_harmless(&text)))
    }

    /// True for a text of words in which no secret is found and none is promised.
    fn is_harmless(&self, text: &str) -> bool {
        let is_readable = text.chars().all(|c| !c.is_control() || c.is_whitespace());
        let n_words = lower_words(text).iter().filter(|word| word.chars().all(char::is_alphabetic)).count();
        is_readable && n_words >= MIN_WORDS && !promises_a_secret(text) && self.find(text).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_that_is_decoded_is_public_and_a_credential_is_not() {
        for (command, text, expected) in [
            ("echo '¶' | base64 -d", "the quick brown fox jumps", true),
            ("print(b64decode(\"¶\"))", "the quick brown fox jumps", true),
            ("echo '¶'", "the quick brown fox jumps", false),
            ("echo '¶' | base64 -d | docker login --password-stdin", "the quick brown fox jumps", false),
            ("echo '¶' | base64 -d", "the password is lamp", false),
            ("echo '¶' | base64 -d", "Cedar74!lamp", false),
            ("echo '¶' | base64 -d", "admin:Cedar74!lamp9", false),
            ("echo '¶' | base64 -d", "use it as admin:Cedar74!lamp9 please", false),
        ] {
            let value = data_encoding::BASE64.encode(text.as_bytes());
            let line = command.replace('¶', &value);
            assert_eq!(Redactor::shared().is_decoded_text(&Spot::first(&line, &value)), expected, "{line} {text}");
        }
    }
}
