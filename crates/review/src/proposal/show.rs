//! A proposal as text for a person: invisible characters are written as escapes, and secrets are masked.

use adage_redact::{Masked, mask, written_out};

/// A text with secrets masked and with invisible characters written out; how many characters the masks hide, apart from those of
/// lines that a diff takes out or leaves as they are.
///
/// In a diff, the lines of one side are searched together, without their signs: a key may extend over several lines.
pub(crate) fn for_person(text: &str) -> (String, usize) {
    let mut shown = String::new();
    let mut n_hidden = 0;
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let Some(sign) = sign_of(line) else {
            shown.push_str(&masked(line, &mut n_hidden));
            continue;
        };
        let mut block = line.get(1..).unwrap_or_default().to_owned();
        while let Some(next) = lines.next_if(|next| sign_of(next) == Some(sign)) {
            block.push_str(next.get(1..).unwrap_or_default());
        }
        let mut written = 0;
        let n_hidden = if sign == '+' { &mut n_hidden } else { &mut written };
        for line in masked(&block, n_hidden).split_inclusive('\n') {
            shown.push(sign);
            shown.push_str(line);
        }
    }
    (shown, n_hidden)
}

fn sign_of(line: &str) -> Option<char> {
    line.chars().next().filter(|c| matches!(c, '+' | '-' | ' '))
}

fn masked(text: &str, n_hidden: &mut usize) -> String {
    let Masked { text, n_hidden: hidden, .. } = mask(text);
    *n_hidden += hidden;
    written_out(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_is_written_out() {
        for (text, expected) in [
            ("+a\tb\n", "+a\tb\n"),
            ("+a\u{202e}b\u{200b}\n", "+a\\u{202e}b\\u{200b}\n"),
            ("+a\u{1b}[2Kb\r\n", "+a\\u{1b}[2Kb\\u{d}\n"),
            ("+日本 👩‍🔧\n", "+日本 👩‍🔧\n"),
        ] {
            assert_eq!(for_person(text), (expected.to_owned(), 0));
        }
    }

    #[test]
    fn secrets_are_masked_over_the_lines_of_a_side() {
        let token = ["ghp_", "1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R"].concat();
        let (shown, n_hidden) = for_person(&format!("--- a\n+++ a\n@@ -1 +1 @@\n-old\n+token {token}\n"));
        assert_eq!(
            shown,
            "--- a\n+++ a\n@@ -1 +1 @@\n-old\n+token [REDACTED:github-token]\n".replace("github-token", rule(&shown))
        );
        assert_eq!(n_hidden, token.len());
        let body = "MIIEowIBAAKCAQEA1c7+9z5Pad7OejecsQ0buTfcXPqX8pJtJm7Sx9s0hYh2Jj4s\n+".repeat(12);
        let key = ["-----BEGIN RSA ", "PRIVATE KEY-----\n+", &body, "-----END RSA ", "PRIVATE KEY-----\n"].concat();
        let (shown, n_hidden) = for_person(&format!("+{key} context\n"));
        assert!(!shown.contains("MIIEowIBAAKCAQEA") && shown.ends_with(" context\n"), "{shown}");
        assert!(n_hidden > 0);
    }

    fn rule(shown: &str) -> &str {
        shown.split("[REDACTED:").nth(1).and_then(|rest| rest.split(']').next()).unwrap()
    }
}
