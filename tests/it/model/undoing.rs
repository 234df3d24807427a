//! How the naive model removes and undoes.

use std::collections::BTreeSet;

use adage::playbook::CannotUndo;
use adage::{ChangeId, Error, LessonId};
use proptest::prelude::*;

use super::Checked;
use super::coverage::Seen;
use super::naive::{Change, Edit, Model, Removed, Row};

impl Model {
    /// docs/spec/playbook.md, 7.
    pub(super) fn remove(&mut self, id: LessonId, change: ChangeId) {
        let row = self.row(id).unwrap().clone();
        self.rows.retain(|row| row.id != id);
        self.removed.push(Removed { id, row });
        let edit = Edit { id, before: None, after: None, is_removal: true };
        self.changes.push(Change { id: change, edits: vec![edit], is_undo: false, is_undone: false });
    }

    /// docs/spec/playbook.md, 7: newest first of the changes of one lesson.
    pub(super) fn undo(&mut self, place: usize, result: &Result<adage::learn::Undone, Error>) -> Checked {
        let (change, later) = (&self.changes[place], &self.changes[place + 1..]);
        let touches =
            |other: &Change| other.edits.iter().any(|edit| change.edits.iter().any(|ours| ours.id == edit.id));
        let newer: Vec<ChangeId> = later
            .iter()
            .filter(|other| !other.is_undo && !other.is_undone && touches(other))
            .map(|other| other.id)
            .collect();
        let forgotten = |edit: &Edit| edit.is_removal && !self.removed.iter().any(|removed| removed.id == edit.id);
        let is_refused = match result {
            Err(Error::CannotUndo { reason: CannotUndo::IsUndo, .. }) => change.is_undo,
            Err(Error::CannotUndo { reason: CannotUndo::Already, .. }) => change.is_undone,
            Err(Error::CannotUndo { reason: CannotUndo::Newer(id), .. }) => !change.is_undone && newer.contains(id),
            Err(Error::CannotUndo { reason: CannotUndo::Expired, .. }) => change.edits.iter().any(forgotten),
            _ => false,
        };
        let edited = |edit: &Edit| edit.after.as_ref().is_some_and(|text| !self.is_still(&(edit.id, text.clone())));
        let is_due = change.is_undo
            || change.is_undone
            || !newer.is_empty()
            || change.edits.iter().any(|edit| forgotten(edit) || edited(edit));
        let Ok(undone) = result else {
            prop_assert!(is_refused, "{:?} for {:?}, newer ones are {:?}", result, change, newer);
            self.tally.count(Seen::NotUndone, 1);
            return Ok(());
        };
        prop_assert!(!is_due, "{:?} for {:?}, newer ones are {:?}", result, change, newer);
        let edits = change.edits.clone();
        let (mut restored, mut withdrawn) = (BTreeSet::new(), BTreeSet::new());
        for edit in &edits {
            let current = self.rows.iter().position(|row| row.id == edit.id).map(|place| self.rows.remove(place));
            let removed = self.removed.iter().position(|removed| removed.id == edit.id);
            let removed = removed.filter(|_| edit.is_removal).map(|place| self.removed.remove(place).row);
            match (removed.or(edit.before.clone()), current) {
                // A merge: the earlier text with the counts of now.
                (Some(before), Some(current)) => {
                    restored.insert(edit.id);
                    self.rows.push(Row {
                        retrievals: current.retrievals,
                        helpful: current.helpful,
                        harmful: current.harmful,
                        retrieved_at: current.retrieved_at,
                        ..before
                    });
                }
                (Some(before), None) => {
                    restored.insert(edit.id);
                    self.rows.push(before);
                }
                (None, _) => {
                    withdrawn.insert(edit.id);
                }
            }
        }
        prop_assert_eq!(&undone.restored.iter().copied().collect::<BTreeSet<_>>(), &restored);
        prop_assert_eq!(&undone.withdrawn.iter().copied().collect::<BTreeSet<_>>(), &withdrawn);
        self.tally.count(Seen::Restored, restored.len());
        self.changes[place].is_undone = true;
        self.changes.push(Change { id: undone.change, edits, is_undo: true, is_undone: false });
        Ok(())
    }
}
