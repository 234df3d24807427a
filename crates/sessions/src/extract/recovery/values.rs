//! Values in a proposed lesson: flags, paths, versions and names, which have to be in the session.

use adage_transcript::{Transcript, Turn};

use crate::heuristics::has_word;

/// The values of a text, in their order: flags, paths and file names, numbers of two digits and more, names with an underscore, and
/// each word of what is in backticks. A placeholder in angle brackets is not a value.
pub(super) fn values(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (place, part) in text.split('`').enumerate() {
        let is_code = place % 2 == 1;
        for word in words(part) {
            if is_code {
                found.extend(pieces(word).filter(|piece| is_name(piece)));
            } else if is_value(word) {
                found.extend(pieces(word).filter(|piece| is_value(piece)));
            }
        }
    }
    found
}

/// True if a text of the session has the value: of a person, the assistant, a call or its result.
pub(super) fn is_in_session(transcript: &Transcript, value: &str) -> bool {
    transcript.turns.iter().any(|turn| match turn {
        Turn::User(text) | Turn::Assistant(text) => has_word(text, value),
        Turn::System(_) => false,
        Turn::ToolCall(call) => {
            call.result.as_deref().is_some_and(|text| has_word(text, value))
                || call.input_texts().iter().any(|text| has_word(text, value))
        }
    })
}

/// The words between blanks, without the marks of sentences around them and without placeholders.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_mark = |c: char| {
        matches!(
            c,
            '"' | '\''
                | '('
                | ')'
                | '['
                | ']'
                | '{'
                | '}'
                | ','
                | ';'
                | ':'
                | '!'
                | '?'
                | '*'
                | '…'
                | '“'
                | '”'
                | '’'
                | '‘'
        )
    };
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | '"'));
    let trimmed = words.map(move |word| word.trim_matches(is_mark).trim_end_matches('.').trim_end_matches(is_mark));
    trimmed.filter(|word| !word.is_empty() && !word.contains(['<', '>']))
}

/// The two sides of `--flag=value` and `NAME=value`, and what is between the signs of a pattern or a shell.
fn pieces(word: &str) -> impl Iterator<Item = &str> {
    let is_sign = |c: char| {
        matches!(c, '=' | '*' | '$' | '|' | '&' | '{' | '}' | '[' | ']' | '\'' | '`' | '…' | ';' | '\\' | '!' | '~')
    };
    word.split(is_sign).map(|piece| piece.trim_matches([':', ',', '.'])).filter(|piece| !piece.is_empty())
}

/// True for a piece of code that says something.
fn is_name(piece: &str) -> bool {
    const MIN_CHARS: usize = 3;
    is_value(piece) || (piece.chars().count() >= MIN_CHARS && piece.contains(char::is_alphanumeric))
}

/// True for a word that is a value wherever it is.
fn is_value(word: &str) -> bool {
    let is_flag = word.len() > 1 && word.starts_with('-') && word.contains(char::is_alphanumeric);
    let has_underscore = word.trim_matches('_').contains('_');
    let is_path = word.contains('/')
        && (word.starts_with(['/', '.', '~']) || word.contains('.') || word.matches('/').count() > 1);
    is_flag || has_underscore || is_path || is_file(word) || has_number(word)
}

/// True for `main.rs`; not for `e.g`.
fn is_file(word: &str) -> bool {
    let Some((name, suffix)) = word.rsplit_once('.') else { return false };
    let is_suffix = (1..=5).contains(&suffix.len()) && suffix.chars().all(char::is_alphanumeric);
    is_suffix && name.chars().count() > 1 && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

/// True for a word with a number of at least two digits.
fn has_number(word: &str) -> bool {
    word.chars().filter(char::is_ascii_digit).count() > 1
}

#[cfg(test)]
mod tests {
    use adage_transcript::{Status, ToolCall};
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_what_can_be_invented() {
        let check = |text: &str, expected: &[&str]| assert_eq!(values(text), expected, "{text}");
        check(
            "Run `go build -o app .` with --race in src/a.rs, not 1.2.",
            &["build", "-o", "app", "--race", "src/a.rs", "1.2"],
        );
        check("e.g. this, and/or that; a well-known way in 3 steps", &[]);
        check("`<file>` and `--include=*.go`", &["--include"]);
        check("see https://x.org/a, or set MAX_SIZE=4", &["https://x.org/a", "MAX_SIZE"]);
        check("\"main.rs\" (in ~/work/shop)", &["main.rs", "/work/shop"]);
    }

    #[test]
    fn a_value_is_looked_up_as_a_whole() {
        let input = json!({"command": "cargo test --no-fail-fast", "nested": [{"path": "/srv/app/main.rs"}]});
        let call =
            ToolCall { tool: "Bash".into(), input, result: Some("took 12.5s".into()), status: Status::Succeeded };
        let turns = vec![Turn::User("Use Postgres.".into()), Turn::System("hidden".into()), Turn::ToolCall(call)];
        let transcript = Transcript { turns, ..Transcript::default() };
        for (value, expected) in [
            ("--no-fail-fast", true),
            ("--no-fail", false),
            ("app/main.rs", true),
            ("main.r", false),
            ("12.5s", true),
            ("Postgres", true),
            ("hidden", false),
        ] {
            assert_eq!(is_in_session(&transcript, value), expected, "{value}");
        }
    }
}
