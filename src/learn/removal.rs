//! Permanent removal of a lesson (docs/spec/playbook.md, 7).

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::TimeDelta;
use serde::Serialize;

use super::versions::versions;
use crate::error::{Error, Result};
use crate::lesson::{ChangeId, Lesson, LessonId, LessonRef};
use crate::state::{Action, Change, Edit, Erasure, Forgotten, Plan, Waiting, Why};

/// How long the text of a removed lesson is kept.
const REMOVED_TEXT_DAYS: i64 = 30;

/// A lesson that was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RemovedLesson {
    /// Its id.
    pub id: LessonId,
    /// The id for [`Playbook::undo`](crate::Playbook::undo), valid for 30 days; the first commit after them drops the text.
    pub change: ChangeId,
}

/// Removes the named lesson.
///
/// # Errors
/// `NoSuchLesson`, `Ambiguous`.
pub(crate) fn remove(plan: &mut Plan, lesson: &LessonRef) -> Result<RemovedLesson> {
    let id = plan.book.resolve(lesson)?.id;
    let taken = plan.book.take(id).ok_or_else(|| Error::NoSuchLesson { lesson: lesson.clone() })?;
    Ok(note_removed(plan, Why::Removed, taken))
}

/// Removes every lesson that was mined from a session, including those that await review.
pub(crate) fn retract(plan: &mut Plan, session: &str) -> Vec<RemovedLesson> {
    let is_of = |lesson: &Lesson| lesson.provenance.session == session;
    let shown: Vec<LessonId> =
        plan.book.lessons.iter().filter(|lesson| is_of(lesson)).map(|lesson| lesson.id).collect();
    let (gone, kept) = std::mem::take(&mut plan.book.waiting).into_iter().partition(|waiting| is_of(&waiting.lesson));
    plan.book.waiting = kept;
    let gone: Vec<Waiting> = gone;
    let taken: Vec<Arc<Lesson>> = shown.into_iter().filter_map(|id| plan.book.take(id)).collect();
    let removals = taken.into_iter().map(|lesson| (Why::Removed, lesson));
    let removals = removals.chain(gone.into_iter().map(|waiting| (Why::Dismissed, waiting.lesson)));
    removals.map(|(why, lesson)| note_removed(plan, why, lesson)).collect()
}

/// Removes a lesson and all of its text, also if it awaits review or was removed before. Its other versions in the history are
/// removed with it.
pub(crate) fn forget(plan: &mut Plan, history: &[Change], lesson: &LessonRef) -> Result<RemovedLesson> {
    let gone = if let LessonRef::Id(id) = lesson {
        let waiting = plan.book.waiting.iter().position(|waiting| waiting.lesson.id == *id);
        let waiting = waiting.map(|place| plan.book.waiting.remove(place).lesson);
        waiting.or_else(|| plan.book.removed.find(*id)?.lesson.clone())
    } else {
        None
    };
    let (removal, gone) = match gone {
        Some(gone) if plan.book.removed.matches_id(gone.id) => {
            let change = plan.record(Action::Remove, vec![Edit::removed(Why::Removed, &gone)]);
            (RemovedLesson { id: gone.id, change }, gone)
        }
        Some(gone) => (note_removed(plan, Why::Removed, Arc::clone(&gone)), gone),
        None => {
            let id = plan.book.resolve(lesson)?.id;
            let taken = plan.book.take(id).ok_or_else(|| Error::NoSuchLesson { lesson: lesson.clone() })?;
            (note_removed(plan, Why::Removed, Arc::clone(&taken)), taken)
        }
    };
    let mut ids = versions(&plan.book, history, gone.id);
    let mut texts = texts_of(&ids, history);
    // What was merged into one had an id of its own.
    ids.extend(texts.iter().map(|text| text.id).filter(|id| plan.book.get(*id).is_none()));
    for version in texts.iter().filter(|version| ids.contains(&version.id)) {
        if version.id != gone.id && !plan.book.removed.matches_id(version.id) {
            note_removed(plan, Why::Removed, Arc::clone(version));
        }
    }
    for removed in plan.book.removed.iter_mut().filter(|removed| ids.contains(&removed.id)) {
        texts.extend(removed.lesson.take());
    }
    texts.push(gone);
    plan.book.skips.retain(|skip| !texts.iter().any(|text| says_same(text, &skip.name)));
    plan.erasure = Erasure::Everywhere(Forgotten { ids, texts });
    Ok(removal)
}

/// So many words in a row are taken from a text, not common to two.
const MIN_SHARED_WORDS: usize = 4;

/// True if a text names the lesson, or has words of it.
pub(crate) fn says_same(lesson: &Lesson, text: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
    };
    let own = words(text);
    let fields = [
        &lesson.trigger,
        &lesson.task,
        &lesson.mistake,
        &lesson.anti_pattern,
        &lesson.solution,
        &lesson.correct_pattern,
        &lesson.code_example,
    ];
    fields.into_iter().map(|field| words(field)).filter(|field| !field.is_empty()).any(|field| {
        let runs: BTreeSet<&[String]> = field.windows(MIN_SHARED_WORDS).collect();
        own == field || own.windows(MIN_SHARED_WORDS).any(|run| runs.contains(run))
    })
}

/// Every text that the history has of these lessons, the newest first.
fn texts_of(ids: &BTreeSet<LessonId>, history: &[Change]) -> Vec<Arc<Lesson>> {
    let edits = history.iter().rev().flat_map(|change| &change.edits).filter(|edit| ids.contains(&edit.id));
    edits.flat_map(|edit| edit.before.iter().chain(&edit.incoming)).cloned().collect()
}

/// Records that a person removed a lesson, which is no longer in the book.
pub(super) fn note_removed(plan: &mut Plan, why: Why, lesson: Arc<Lesson>) -> RemovedLesson {
    let id = lesson.id;
    let change = plan.record(Action::Remove, vec![Edit::removed(why, &lesson)]);
    plan.book.remember_removal(lesson, change, plan.now);
    forget_old_texts(plan);
    plan.erase_derived();
    RemovedLesson { id, change }
}

/// Drops the texts of removals that are older than 30 days. Their ids and hashes stay.
pub(super) fn forget_old_texts(plan: &mut Plan) {
    for removed in plan.book.removed.iter_mut() {
        if plan.now - removed.at > TimeDelta::days(REMOVED_TEXT_DAYS) {
            removed.lesson = None;
        }
    }
}
