//! A lesson from a line that a reviewer picked from a session's item.

use super::quote::without_opening;
use super::subject::Subject;
use crate::lesson::{Lesson, LessonDraft, Origin, Provenance, build_lesson};

/// A lesson from a line of an item, by its number from 1. It counts as written by hand, with what was typed as evidence; its subject
/// is what its words name. None if there is no such line.
pub(crate) fn picked_lesson(item: &Lesson, line: usize) -> Option<LessonDraft> {
    let text = *item.also_said().get(line.checked_sub(1)?)?;
    let said = |quote: &str| {
        let told = adage_redact::one_line(&without_opening(quote), usize::MAX);
        text.starts_with(told.as_str())
    };
    let evidence = item.provenance.evidence.iter().filter(|evidence| said(&evidence.quote)).take(1).cloned().collect();
    let session = item.provenance.session.clone();
    let provenance = Provenance { origin: Origin::Hand, session, evidence, ..Provenance::default() };
    let subject = Subject::of_words(text);
    let mut draft = build_lesson(subject.trigger, text).in_realm(&item.realm).provenance(&provenance);
    if !subject.paths.is_empty() {
        draft = draft.paths(subject.paths);
    }
    if !subject.commands.is_empty() {
        draft = draft.commands(subject.commands);
    }
    Some(draft)
}
