//! A proposal as text for a person: invisible characters are written as escapes, and secrets are masked.

use adage_redact::{Masked, mask, written_out};

use crate::lesson::{Lesson, Passage, RecoveryEvidence, ShownField};

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

/// All shown fields of a lesson, and the effects of promoting it. A line of the lesson cannot look like one of these.
pub(crate) fn lesson_as_text(lesson: &Lesson, why: &str) -> String {
    let mut fields = vec![("why it waits", why.to_owned())];
    let shown = ShownField::ALL.into_iter().filter(|field| field.adds_text(lesson));
    fields.extend(shown.map(|field| (label(field), field.of(lesson).into_owned())));
    if lesson.verified {
        fields.push(("mark", "✓ (verified)".to_owned()));
    }
    fields.extend(lesson.provenance.supersedes.map(|id| ("replaces lesson", id.to_string())));
    fields.push(("project", lesson.realm.project.clone()));
    fields.push(("role", lesson.realm.role.clone()));
    fields.push(("session", lesson.provenance.session.clone()));
    fields.extend(lesson.evidence().iter().map(|evidence| ("a person said", evidence.quote.clone())));
    fields.extend(lesson.provenance.recovery.iter().flat_map(passages));
    let lines = fields.into_iter().filter(|(_, value)| !value.trim().is_empty());
    lines
        .flat_map(|(name, value)| [name.to_owned(), ": ".to_owned(), value.replace('\n', "\n  "), "\n".to_owned()])
        .collect()
}

/// Where it failed, what helped, and where it passed.
fn passages(recovery: &RecoveryEvidence) -> Vec<(&'static str, String)> {
    let shown = |passage: &Passage| {
        let Passage { turn, source, quote } = passage;
        if quote.is_empty() { format!("turn {turn}, {source}") } else { format!("turn {turn}, {source}: {quote}") }
    };
    let mut fields = vec![("it failed", shown(&recovery.failure))];
    fields.extend(recovery.remedies.iter().map(|passage| ("what helped", shown(passage))));
    fields.push(("it passed", shown(&recovery.success)));
    fields
}

fn label(field: ShownField) -> &'static str {
    match field {
        ShownField::Trigger => "when",
        ShownField::Task => "task",
        ShownField::Domains => "topics",
        ShownField::Paths => "shown for files",
        ShownField::Commands => "shown for commands",
        ShownField::Names => "shown for names",
        ShownField::Situations => "shown for tasks like",
        ShownField::Signs => "shown for signs",
        ShownField::Mistake => "mistake",
        ShownField::AntiPattern => "do not",
        ShownField::CorrectPattern => "do",
        ShownField::Solution => "solution",
        ShownField::Code => "code",
    }
}

fn sign_of(line: &str) -> Option<char> {
    line.chars().next().filter(|c| matches!(c, '+' | '-' | ' '))
}

fn masked(text: &str, n_hidden: &mut usize) -> String {
    let Masked { text, n_hidden: hidden, .. } = mask(text);
    *n_hidden += hidden;
    written_out(&text)
}

/// What a reviewer learns about masks in a text that is rendered with the same masks.
pub(crate) fn hidden_in_prompts(n_hidden: usize) -> String {
    format!("{n_hidden} characters that look like secrets are masked here, and in every prompt")
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
