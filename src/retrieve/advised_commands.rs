//! The commands that a mined lesson advises (docs/spec/playbook.md, 5.9).

use adage_transcript::CommandLine;

use crate::lesson::{Lesson, RecoverySteps};

/// The commands in a lesson's solution, in order.
pub(super) fn steps_of(lesson: &Lesson) -> Vec<CommandLine> {
    commands_in(&lesson.solution)
}

/// What a recovery advises to run first; empty for another lesson.
pub(super) fn first_steps_of(lesson: &Lesson) -> Vec<CommandLine> {
    match RecoverySteps::of(&lesson.solution) {
        RecoverySteps::First { commands } => commands_in(commands),
        _ => Vec::new(),
    }
}

fn commands_in(text: &str) -> Vec<CommandLine> {
    spans(text).into_iter().map(parse).collect()
}

/// A command of a lesson, with its placeholders as words.
pub(super) fn parse(command: &str) -> CommandLine {
    CommandLine::parse(&without_brackets(command))
}

/// The texts in backticks.
pub(super) fn spans(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// A command with its placeholders written so that a shell would read them as words: `<file>` becomes `%file%`.
fn without_brackets(text: &str) -> String {
    let mut parts = text.split('<');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '-');
        match part.split_once('>').filter(|(name, _)| is_name(name)) {
            Some((name, rest)) => out.extend(["%", name, "%", rest]),
            None => out.extend(["<", part]),
        }
    }
    out
}
