//! The prompt of the model: instructions in one field, data in the other.

use std::fmt::Write;

use adage_redact::{Redactor, strip_invisible};
use serde::Serialize;

use super::{Existing, MAX_LESSONS, MAX_RECOVERIES, clip};
use crate::evidence::MIN_QUOTE_WORDS;
use adage::lesson::TextHash;

/// The instructions, with `{{name}}` for what they are given.
const TEMPLATE: &str = include_str!("prompt.md");

/// The characters that the model is asked to keep a trigger within.
const MAX_TRIGGER_CHARS: usize = 80;

/// A known lesson's text is shown up to this length.
const MAX_EXISTING_CHARS: usize = 400;

/// The two fields of a completion.
pub(super) struct Prompt {
    pub(super) system: String,
    pub(super) user: String,
}

#[derive(Serialize)]
struct Shown<'a> {
    number: usize,
    trigger: &'a str,
    solution: &'a str,
}

/// The instructions, and in the other field the known lessons and the session.
///
/// The mark of the two blocks is a hash of their content: no text in them can contain it, because its author would have to know
/// the whole content.
pub(super) fn prompt(record: &str, existing: &[Existing]) -> Prompt {
    let known = existing_lines(existing);
    let hash = TextHash::of(&[known.as_str(), record]).to_string();
    let mark = hash.get(..16).unwrap_or(&hash);
    let inputs = [
        ("{{mark}}", mark.to_owned()),
        ("{{max_lessons}}", MAX_LESSONS.to_string()),
        ("{{max_recoveries}}", MAX_RECOVERIES.to_string()),
        ("{{min_words}}", MIN_QUOTE_WORDS.to_string()),
        ("{{max_trigger_chars}}", MAX_TRIGGER_CHARS.to_string()),
    ];
    let system = inputs.iter().fold(TEMPLATE.to_owned(), |text, (name, value)| text.replace(name, value));
    let mut user = String::new();
    for (name, lines) in [("lessons", known.as_str()), ("session", record)] {
        // Writing to a string does not fail.
        let _ = writeln!(user, "<{name} {mark}>\n{lines}\n</{name} {mark}>");
    }
    Prompt { system, user }
}

fn existing_lines(existing: &[Existing]) -> String {
    let lines = existing.iter().enumerate().map(|(index, lesson)| {
        let [trigger, solution] = [&lesson.trigger, &lesson.solution].map(|text| {
            let safe = Redactor::shared().redact(&strip_invisible(text)).into_owned();
            clip::clip(&safe, MAX_EXISTING_CHARS, MAX_EXISTING_CHARS).into_owned()
        });
        let shown = Shown { number: index + 1, trigger: &trigger, solution: &solution };
        serde_json::to_string(&shown).unwrap_or_default()
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_of_the_template_is_filled_in() {
        let Prompt { system, user } = prompt("{}", &[]);
        assert!(!system.contains("{{") && !system.contains("}}"), "{system}");
        assert!(
            system.contains("at most 3 lessons")
                && system.contains("at most 5 recoveries")
                && system.contains("at least 3 words"),
            "{system}"
        );
        let mark = user.lines().next().unwrap().trim_start_matches("<lessons ").trim_end_matches('>');
        assert_eq!((mark.len(), system.matches(mark).count()), (16, 2));
        assert_eq!(user, format!("<lessons {mark}>\n\n</lessons {mark}>\n<session {mark}>\n{{}}\n</session {mark}>\n"));
    }
}
