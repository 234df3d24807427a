//! What the changes and the removals of both versions say about rows.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, FixedOffset};
use serde_json::Value;

use super::row::{Row, id_of};
use crate::hash::TextHash;
use crate::lesson::{ChangeId, LessonId, RemovedText};
use crate::state::{Change, Removed, Why};

/// The lessons that these changes removed, replaced or evicted, and that did not come back.
pub(in crate::store) fn ids_gone(changes: &[Change]) -> BTreeSet<String> {
    History::of(changes).gone.into_keys().collect()
}

/// What the changes of both versions say about lessons, by id.
pub(super) struct History {
    /// Lessons that were removed, replaced or evicted, and did not come back; with the texts that they had then, as far as they are known.
    gone: BTreeMap<String, BTreeSet<TextHash>>,
    /// Lessons that an undo brought back.
    back: BTreeSet<String>,
    /// Texts that a later one replaced under the same id.
    replaced: BTreeSet<(String, TextHash)>,
    undone: BTreeSet<ChangeId>,
}

impl History {
    pub(super) fn of(changes: &[Change]) -> Self {
        let undone: BTreeSet<ChangeId> = changes.iter().filter_map(|change| change.undoes).collect();
        let mut gone: BTreeMap<String, BTreeSet<TextHash>> = BTreeMap::new();
        let (mut back, mut replaced) = (BTreeSet::new(), BTreeSet::new());
        for change in changes {
            for edit in &change.edits {
                let id = edit.id.to_string();
                if undone.contains(&change.id) {
                    back.insert(id);
                    continue;
                }
                match (&edit.before, edit.after) {
                    (before, None) => {
                        let text = before.as_ref().map(|lesson| lesson.text_hash());
                        let removed = edit.removed_text.map(|text| text.exact);
                        gone.entry(id.clone()).or_default().extend(text.into_iter().chain(removed));
                    }
                    (Some(before), Some(after)) if before.text_hash() != after => {
                        replaced.insert((id.clone(), before.text_hash()));
                    }
                    _ => {}
                }
                if edit.after.is_some() && matches!(edit.why, Why::Inserted | Why::Restored | Why::Awaiting) {
                    gone.remove(&id);
                }
            }
        }
        Self { gone, back, replaced, undone }
    }

    pub(super) fn is_gone(&self, id: Option<&str>) -> bool {
        id.is_some_and(|id| self.gone.contains_key(id))
    }

    pub(super) fn is_back(&self, id: Option<&str>) -> bool {
        id.is_some_and(|id| self.back.contains(id))
    }

    /// True if another text replaced this row's under the same id.
    pub(super) fn is_replaced(&self, row: &Row) -> bool {
        let Some((id, lesson)) = row.id().zip(row.lesson.as_ref()) else { return false };
        self.replaced.contains(&(id.to_owned(), lesson.text_hash()))
    }

    /// True for a row that is gone from one version, while the other gave it a text that the first never had.
    pub(super) fn is_rewritten(&self, row: &Row) -> bool {
        let Some((gone, lesson)) = row.id().and_then(|id| self.gone.get(id)).zip(row.lesson.as_ref()) else {
            return false;
        };
        !gone.is_empty() && !gone.contains(&lesson.text_hash()) && !self.is_replaced(row)
    }

    /// The removals of both versions, without those that were undone.
    pub(super) fn removals<'v>(&self, rows: impl Iterator<Item = &'v Value>) -> Vec<Value> {
        let is_undone = |row: &&Value| {
            let change = row.get("change").and_then(Value::as_str).and_then(|change| change.parse().ok());
            change.is_some_and(|change| self.undone.contains(&change))
        };
        let mut known = BTreeSet::new();
        let rows = rows.filter(|row| !is_undone(row));
        rows.filter(|row| id_of(row).is_none_or(|id| known.insert(id.to_owned()))).cloned().collect()
    }
}

/// The removals of both versions, by id and by text.
pub(super) struct Removals {
    ids: BTreeSet<String>,
    /// The time of the last removal of a text: as it was written, and in normal form.
    texts: BTreeMap<TextHash, DateTime<FixedOffset>>,
}

impl Removals {
    pub(super) fn of(removals: &[Removed]) -> Self {
        let mut texts = BTreeMap::new();
        for removed in removals {
            for hash in hashes(removed.text) {
                let at = texts.entry(hash).or_insert(removed.at);
                *at = removed.at.max(*at);
            }
        }
        Self { ids: removals.iter().map(|removed| removed.id.to_string()).collect(), texts }
    }

    /// True for a row whose id was removed, or its text after it was learned.
    pub(super) fn has(&self, row: &Row) -> bool {
        let is_later = |at: &DateTime<FixedOffset>| row.lesson.as_ref().is_some_and(|lesson| lesson.timestamp <= *at);
        row.id().is_some_and(|id| self.ids.contains(id))
            || row.text().is_some_and(|text| hashes(text).any(|hash| self.texts.get(&hash).is_some_and(is_later)))
    }
}

/// The texts of the lessons in use, with the lessons that have them.
pub(super) struct Backs(BTreeMap<TextHash, BTreeSet<LessonId>>);

impl Backs {
    pub(super) fn of(lessons: &[Row]) -> Self {
        let mut texts: BTreeMap<TextHash, BTreeSet<LessonId>> = BTreeMap::new();
        for lesson in lessons.iter().filter_map(|row| row.lesson.as_ref()) {
            for hash in hashes(RemovedText::of(lesson)) {
                texts.entry(hash).or_default().insert(lesson.id);
            }
        }
        Self(texts)
    }

    /// True if a person learned a removed text again: under another id.
    pub(super) fn has(&self, removed: &Removed) -> bool {
        let mut with_text = hashes(removed.text).filter_map(|hash| self.0.get(&hash)).flatten();
        with_text.any(|id| *id != removed.id)
    }
}

/// The hashes of a text as it was written and in normal form: hashes of the one are never those of another's other form, unless the texts
/// are the same.
fn hashes(text: RemovedText) -> impl Iterator<Item = TextHash> {
    [Some(text.exact), text.wording].into_iter().flatten()
}
