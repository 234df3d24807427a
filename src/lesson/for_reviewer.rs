//! A lesson as a reviewer reads it.

use super::{Lesson, Passage, RecoveryEvidence, ShownField};

/// All shown fields of a lesson, and the effects of promoting it. A line of the lesson cannot look like one of these.
#[must_use]
pub fn lesson_as_text(lesson: &Lesson, why: &str) -> String {
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

/// What a reviewer learns about masks in a text that is rendered with the same masks.
#[must_use]
pub fn hidden_in_prompts(n_hidden: usize) -> String {
    format!("{n_hidden} characters that look like secrets are masked here, and in every prompt")
}
