//! A lesson as labelled texts, which each format for people arranges in its own way.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::NotReadReason;
use crate::lesson::{Lesson, LessonDraft, LessonId, for_prompt};

/// The parts of a lesson that the formats contain.
#[derive(Debug, Default)]
pub(super) struct Item {
    pub(super) id: Option<LessonId>,
    pub(super) retrievals: u64,
    pub(super) helpful: u64,
    pub(super) harmful: u64,
    texts: [String; 5],
}

/// The label of a text, in the order of an item's texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    When,
    Do,
    Not,
    Code,
    Topics,
}

impl Label {
    pub(super) const ALL: [Self; 5] = [Self::When, Self::Do, Self::Not, Self::Code, Self::Topics];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::When => "When",
            Self::Do => "Do",
            Self::Not => "Not",
            Self::Code => "Code",
            Self::Topics => "Topics",
        }
    }
}

impl Item {
    pub(super) fn of(lesson: &Lesson) -> Self {
        let (pattern, code) = (plain(&lesson.correct_pattern), plain(&lesson.code_example));
        let code = if pattern.contains(code.trim()) { String::new() } else { code };
        let domains: Vec<String> =
            lesson.domains.iter().map(|domain| for_prompt(domain).replace([',', '\n'], " ")).collect();
        let topics = plain(&domains.join(", "));
        Self {
            id: Some(lesson.id),
            retrievals: lesson.retrievals,
            helpful: lesson.helpful_retrievals,
            harmful: lesson.harmful_retrievals,
            texts: [plain(&lesson.trigger), pattern, plain(&lesson.anti_pattern), code, topics],
        }
    }

    /// The item of a text without labels: the text becomes both trigger and advice.
    pub(super) fn unlabelled(text: &str, topic: Option<&str>) -> Self {
        let text = plain(text);
        let topics = topic.map(plain).unwrap_or_default();
        Self { texts: [text.clone(), text, String::new(), String::new(), topics], ..Self::default() }
    }

    /// The present texts with their labels.
    pub(super) fn texts(&self) -> impl Iterator<Item = (Label, &str)> {
        Label::ALL.into_iter().zip(self.texts.iter().map(String::as_str)).filter(|(_, text)| !text.is_empty())
    }

    pub(super) fn has(&self, label: Label) -> bool {
        self.texts().any(|(known, _)| known == label)
    }

    pub(super) fn set(&mut self, label: Label, text: &str) -> Result<(), NotReadReason> {
        match Label::ALL.into_iter().zip(&mut self.texts).find(|(known, _)| *known == label) {
            Some((_, place)) if place.is_empty() => {
                *place = plain(text);
                Ok(())
            }
            _ => Err(NotReadReason::Twice { label: label.name() }),
        }
    }

    /// The draft: a row of a file, imported and tainted. Its counts are those in the file; the gate ignores them.
    pub(super) fn into_draft(self) -> Result<LessonDraft, NotReadReason> {
        if !self.has(Label::When) {
            return Err(NotReadReason::NoTrigger);
        }
        if !self.has(Label::Do) {
            return Err(NotReadReason::NoSolution);
        }
        let mut row = Map::new();
        for (label, text) in self.texts() {
            let (key, value) = match label {
                Label::When => ("trigger", json!(text)),
                Label::Do => ("correct_pattern", json!(text)),
                Label::Not => ("anti_pattern", json!(text)),
                Label::Code => ("code_example", json!(text)),
                Label::Topics => {
                    ("domains", text.split(',').map(str::trim).filter(|topic| !topic.is_empty()).collect())
                }
            };
            row.insert(key.to_owned(), value);
        }
        if let Some(id) = self.id {
            row.insert("id".to_owned(), json!(id));
        }
        // Every helpful or harmful retrieval was a retrieval, whatever the text says.
        let shown = self.retrievals.max(self.helpful.saturating_add(self.harmful));
        for (key, count) in
            [("retrievals", shown), ("helpful_retrievals", self.helpful), ("harmful_retrievals", self.harmful)]
        {
            row.insert(key.to_owned(), json!(count));
        }
        row.insert("source".to_owned(), json!("imported"));
        row.insert("provenance".to_owned(), json!({"origin": "imported", "trust": "tainted"}));
        Ok(LessonDraft::from_file(row))
    }
}

/// A text as it goes into a file and comes back: as it is shown, without blank lines before and blanks after it.
pub(super) fn plain(text: &str) -> String {
    for_prompt(text).trim_end().trim_start_matches('\n').to_owned()
}

/// True if a draft equals the lesson in all parts that a format contains: then there is nothing to import.
pub(crate) fn says_the_same(draft: &LessonDraft, lesson: &Lesson) -> bool {
    let row = draft.to_json();
    let drafted = |key: &str| plain(row.get(key).and_then(Value::as_str).unwrap_or_default());
    let code = drafted("code_example");
    drafted("trigger") == plain(&lesson.trigger)
        && drafted("correct_pattern") == plain(&lesson.correct_pattern)
        && drafted("anti_pattern") == plain(&lesson.anti_pattern)
        && (code.is_empty() || code == plain(&lesson.code_example))
}

/// Adds one backslash between the two parts wherever they are adjacent or separated only by backslashes; [`joined`] removes it.
pub(super) fn parted<'a>(text: &'a str, head: &str, tail: &str) -> Cow<'a, str> {
    let mut parted = String::new();
    let mut rest = text;
    while let Some((end, _)) = next_pair(rest, head, tail) {
        let (before, after) = rest.split_at(end);
        parted.push_str(before);
        parted.push('\\');
        rest = after;
    }
    if parted.is_empty() { text.into() } else { (parted + rest).into() }
}

/// The inverse of [`parted`].
pub(super) fn joined<'a>(text: &'a str, head: &str, tail: &str) -> Cow<'a, str> {
    let mut joined = String::new();
    let mut rest = text;
    while let Some((end, n_backslashes)) = next_pair(rest, head, tail) {
        let (before, after) = rest.split_at(end);
        joined.push_str(if n_backslashes > 0 { before.strip_suffix('\\').unwrap_or(before) } else { before });
        rest = after;
    }
    if joined.is_empty() { text.into() } else { (joined + rest).into() }
}

/// The position of the tail of the next pair, and the number of backslashes before it.
fn next_pair(text: &str, head: &str, tail: &str) -> Option<(usize, usize)> {
    text.match_indices(tail).find_map(|(at, _)| {
        let before = text.get(..at)?;
        let bare = before.trim_end_matches('\\');
        (at > 0 && bare.ends_with(head)).then_some((at, before.len() - bare.len()))
    })
}
