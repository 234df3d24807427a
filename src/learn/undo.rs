//! Undo of changes (docs/spec/playbook.md, 3.4, 7): changes of the same lesson are undone newest first.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

use crate::error::{CannotUndo, Error, Result};
use crate::lesson::{ChangeId, Lesson, LessonId};
use crate::state::{Action, Book, Change, Edit, Plan, ReviewReason, Waiting, Why};

/// The result of an undo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Undone {
    /// The id of the undo itself.
    pub change: ChangeId,
    /// Lessons that came back, or got their earlier text.
    pub restored: Vec<LessonId>,
    /// Lessons that were removed because the change had inserted them; they are archived.
    pub withdrawn: Vec<LessonId>,
}

/// Undoes a change.
///
/// A removed lesson comes back unchanged. A merged lesson gets its earlier text and keeps the counts gained since. An inserted
/// lesson is removed. A lesson that an import put into review is removed if it still awaits review: a decision made since is
/// kept.
///
/// # Errors
/// `NoSuchChange`; `CannotUndo` when a later change affected the same lessons, when it is undone already, is an undo, when
/// a person edited the text since, or when a removed text is no longer kept.
pub(crate) fn undo(plan: &mut Plan, history: &[Change], target: ChangeId) -> Result<Undone> {
    let place = history.iter().position(|change| change.id == target);
    let Some((change, later)) = place.and_then(|place| history.get(place..)).and_then(<[Change]>::split_first) else {
        return Err(Error::NoSuchChange { change: target });
    };
    if let Err(reason) = check_history(change, later)
        .and_then(|()| last_of_each(&change.edits).into_iter().try_for_each(|edit| check(&plan.book, edit)))
    {
        return Err(Error::CannotUndo { change: target, reason });
    }
    let edits: Vec<Edit> = change.edits.iter().rev().filter_map(|edit| take_back(&mut plan.book, edit)).collect();
    // An import may have inserted and evicted the same lesson: its last edit counts.
    let (back, gone): (Vec<&Edit>, Vec<&Edit>) =
        last_of_each(&edits).into_iter().partition(|edit| edit.after.is_some());
    let ids = |edits: Vec<&Edit>| edits.into_iter().map(|edit| edit.id).collect();
    let (restored, withdrawn) = (ids(back), ids(gone));
    Ok(Undone { change: plan.record_undo(target, edits), restored, withdrawn })
}

/// The last edit of each lesson, in order.
fn last_of_each(edits: &[Edit]) -> Vec<&Edit> {
    let mut seen = BTreeSet::new();
    let mut last: Vec<&Edit> = edits.iter().rev().filter(|edit| seen.insert(edit.id)).collect();
    last.reverse();
    last
}

fn check_history(change: &Change, later: &[Change]) -> Result<(), CannotUndo> {
    if change.action == Action::Undo {
        return Err(CannotUndo::IsUndo);
    }
    let undone: Vec<ChangeId> = later.iter().filter_map(|change| change.undoes).collect();
    if undone.contains(&change.id) {
        return Err(CannotUndo::Already);
    }
    let is_in_force = |other: &&Change| other.action != Action::Undo && !undone.contains(&other.id);
    match later.iter().rev().filter(is_in_force).find(|other| other.touches(change)) {
        Some(newer) => Err(CannotUndo::Newer(newer.id)),
        None => Ok(()),
    }
}

fn check(book: &Book, edit: &Edit) -> Result<(), CannotUndo> {
    if edit.why == Why::Awaiting {
        return Ok(());
    }
    if edit.why.is_removal() && removed_text(book, edit.id).is_none() {
        return Err(CannotUndo::Expired);
    }
    let is_as_left = |text_hash| book.get(edit.id).is_some_and(|lesson| lesson.text_hash() == text_hash);
    if edit.after.is_none_or(is_as_left) { Ok(()) } else { Err(CannotUndo::Edited(edit.id)) }
}

fn removed_text(book: &Book, id: LessonId) -> Option<Arc<Lesson>> {
    book.removed.find(id)?.lesson.clone()
}

fn take_back(book: &mut Book, edit: &Edit) -> Option<Edit> {
    let id = edit.id;
    match (&edit.before, edit.after) {
        (Some(before), Some(_)) => {
            let current = book.take(id)?;
            let restored = restore_text(&current, before);
            let after = Some(restored.text_hash());
            book.put(restored);
            Some(Edit { why: Why::Restored, after, ..Edit::gone(Why::Restored, current) })
        }
        (None, Some(text)) if edit.why == Why::Awaiting => {
            let is_it = |waiting: &Waiting| waiting.lesson.id == id && waiting.lesson.text_hash() == text;
            let place = book.waiting.iter().position(is_it)?;
            Some(Edit::gone(Why::Restored, book.waiting.remove(place).lesson))
        }
        (None, Some(_)) => {
            let lesson = book.take(id)?;
            for near in &lesson.near {
                book.update(*near, |other| other.near.retain(|known| *known != id));
            }
            Some(Edit::gone(Why::Restored, lesson))
        }
        (before, None) => {
            let lesson = if edit.why.is_removal() { removed_text(book, id) } else { before.clone() }?;
            book.removed.lift_id(id);
            book.waiting.retain(|waiting| waiting.lesson.id != id);
            let record = Edit::added(Why::Restored, &lesson);
            if let Some(reason) = review_again(edit.why, &lesson) {
                book.waiting.push(Waiting { lesson, reason });
                return Some(record);
            }
            if book.get(id).is_none() {
                book.put(Arc::unwrap_or_clone(lesson));
            }
            Some(record)
        }
    }
}

/// Why a lesson that comes back awaits review again: it was never promoted.
fn review_again(why: Why, lesson: &Lesson) -> Option<ReviewReason> {
    if let Some(reason) = ReviewReason::of(lesson) {
        return Some(reason);
    }
    match why {
        Why::Unreviewed | Why::Dismissed if lesson.is_unreviewed() => Some(ReviewReason::Mined),
        Why::Unreviewed | Why::Dismissed if lesson.provenance.supersedes.is_some() => {
            Some(ReviewReason::WouldSupersedeTrusted)
        }
        Why::Unreviewed | Why::Dismissed => Some(ReviewReason::WouldEvictTrusted),
        _ => None,
    }
}

/// The earlier row with the counts of the present one.
fn restore_text(current: &Lesson, before: &Lesson) -> Lesson {
    Lesson {
        retrievals: current.retrievals.max(before.retrievals),
        helpful_retrievals: current.helpful_retrievals,
        harmful_retrievals: current.harmful_retrievals.max(before.harmful_retrievals),
        settled_retrievals: current.settled_retrievals,
        shown_at_recall: current.shown_at_recall.max(before.shown_at_recall),
        last_retrieved_at: current.last_retrieved_at.max(before.last_retrieved_at),
        last_credited_at: current.last_credited_at.max(before.last_credited_at),
        ..before.clone()
    }
}
