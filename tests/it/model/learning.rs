//! How the naive model learns, evicts and prunes.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use adage::learn::ReviewReason;
use adage::lesson::Refusal;
use adage::{LearnOutcome, LessonId};
use proptest::prelude::*;

use super::coverage::Seen;
use super::naive::{Change, Edit, Model, Row, Text};
use super::operations::Style;
use super::{CAPACITY, Checked, plain};

/// True if more than a quarter of the words of an advice are not in another one.
fn says_more(advice: &str, other: &str) -> bool {
    let words = |text: &str| {
        text.split(' ').filter(|word| !["the", "with"].contains(word)).map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let (own, known) = (words(advice), words(other));
    4 * own.difference(&known).count() > own.len()
}

impl Model {
    /// docs/spec/playbook.md, 3.
    pub(super) fn learn(
        &mut self,
        (trigger, solution): (&str, &str),
        project: usize,
        style: Style,
        learned: &LearnOutcome,
    ) -> Checked {
        let text = (trigger.to_owned(), solution.to_owned());
        // A removed text is known in another spelling too.
        let is_same = |row: &Row| plain(&row.trigger) == plain(trigger) && row.solution == solution;
        if style.is_imported && self.removed.iter().any(|removed| is_same(&removed.row)) {
            prop_assert_eq!(learned, &LearnOutcome::Refused { reason: Refusal::Removed });
            self.tally.count(Seen::Refused, 1);
            return Ok(());
        }
        if !style.is_imported {
            let n_before = self.removed.len();
            self.removed.retain(|removed| !is_same(&removed.row));
            self.tally.count(Seen::LearnedAgain, n_before - self.removed.len());
        }
        // What no person wrote is merged into what one did only if it says the same.
        let goes_beyond = |row: &Row| style.is_imported && row.is_by_hand && says_more(solution, &row.solution);
        let twins: Vec<LessonId> = (self.rows.iter())
            .filter(|row| row.project == project && plain(&row.trigger) == plain(trigger) && !goes_beyond(row))
            .map(|row| row.id)
            .collect();
        let (head, mut edits) = match learned {
            LearnOutcome::Inserted { id, .. } if twins.is_empty() => {
                self.rows.push(Row {
                    id: *id,
                    project,
                    trigger: text.0.clone(),
                    solution: text.1.clone(),
                    is_by_hand: !style.is_imported,
                    is_verified: style.is_verified,
                    was_checked: style.is_verified,
                    confidence: if style.is_verified { 0.0 } else { 0.5 },
                    frequency: 1,
                    retrievals: 0,
                    helpful: 0,
                    harmful: 0,
                    timestamp: self.now,
                    retrieved_at: None,
                });
                (*id, vec![Edit { id: *id, before: None, after: Some(text), is_removal: false }])
            }
            LearnOutcome::Merged { into, distance: None, .. } if twins.contains(into) => {
                self.tally.count(Seen::Merged, 1);
                (*into, vec![self.merge(*into, text, style)])
            }
            // An imported text does not replace one by hand.
            LearnOutcome::Review { reason: ReviewReason::WouldEvictTrusted, .. } if twins.is_empty() => {
                let n_by_hand = self.rows.iter().filter(|row| row.project == project && row.is_by_hand).count();
                prop_assert!(style.is_imported && n_by_hand >= CAPACITY, "{:?}: {} are by hand", learned, n_by_hand);
                self.tally.count(Seen::NoRoom, 1);
                return Ok(());
            }
            other => return Err(TestCaseError::fail(format!("{other:?}, the twins are {twins:?}"))),
        };
        // Of lessons by hand, a new one evicts at most one, and a merge none.
        let max_by_hand = usize::from(edits[0].before.is_none());
        edits.extend(self.trim(head, style, max_by_hand, learned.evicted())?);
        let is_on_record = edits.len() > 1 || edits[0].before.is_some();
        prop_assert_eq!(learned.change().is_some(), is_on_record);
        if let Some(id) = learned.change() {
            self.changes.push(Change { id, edits, is_undo: false, is_undone: false });
        }
        Ok(())
    }

    /// docs/spec/playbook.md, 3.4.
    pub(super) fn merge(&mut self, into: LessonId, (trigger, solution): Text, style: Style) -> Edit {
        let now = self.now;
        let row = self.row(into).unwrap();
        let before = row.clone();
        let is_same = row.text() == (trigger.clone(), solution.clone());
        let mut is_newly_verified = style.is_verified && !row.is_verified;
        match (row.is_by_hand, row.is_verified).cmp(&(!style.is_imported, style.is_verified)) {
            Ordering::Less => {
                row.trigger = trigger;
                row.solution = solution;
                row.is_verified &= style.is_verified || is_same;
            }
            Ordering::Equal if solution.len() > row.solution.len() => row.solution = solution,
            Ordering::Equal => {}
            Ordering::Greater => is_newly_verified &= is_same,
        }
        if is_newly_verified {
            row.is_verified = true;
            row.confidence = (row.confidence + 0.2).min(1.0);
        }
        if !(style.is_imported && row.is_by_hand) {
            row.timestamp = now;
        }
        row.is_by_hand |= !style.is_imported;
        row.was_checked |= style.is_verified;
        row.frequency += 1;
        Edit { id: into, after: Some(row.text()), before: Some(before), is_removal: false }
    }

    /// docs/spec/playbook.md, 3.6: the evicted lesson may be any of the least useful, as long as no less useful one was kept.
    pub(super) fn trim(
        &mut self,
        head: LessonId,
        newcomer: Style,
        max_by_hand: usize,
        evicted: &[LessonId],
    ) -> Checked<Vec<Edit>> {
        let project = self.row(head).unwrap().project;
        let others: Vec<Row> =
            self.rows.iter().filter(|row| row.project == project && row.id != head).cloned().collect();
        let excess = (others.len() + 1).saturating_sub(CAPACITY);
        let is_expendable = |row: &&Row| !newcomer.is_imported || !row.is_by_hand;
        let is_room = others.iter().filter(is_expendable).count() >= excess;
        let (gone, stayed): (Vec<Row>, Vec<Row>) = others.into_iter().partition(|row| evicted.contains(&row.id));
        prop_assert!(gone.iter().all(|row| is_expendable(&row)), "{:?} went", gone);
        prop_assert_eq!(gone.len(), evicted.len(), "somebody was evicted who was not there: {:?}", evicted);
        let n_by_hand = gone.iter().filter(|row| row.is_by_hand).count();
        let is_spent = n_by_hand == max_by_hand;
        prop_assert!(n_by_hand <= max_by_hand, "{} by hand went", n_by_hand);
        let is_enough = gone.len() == excess || (is_spent && gone.len() < excess);
        prop_assert!(if is_room { is_enough } else { gone.is_empty() }, "{} of {} went", gone.len(), excess);
        let kept_last = |row: &Row| (row.is_by_hand, row.is_verified);
        for gone in &gone {
            for stayed in &stayed {
                let is_right = if !is_expendable(&stayed) || (is_spent && stayed.is_by_hand) {
                    true
                } else if kept_last(gone) == kept_last(stayed) {
                    let is_tie = gone.is_untouched() && stayed.is_untouched();
                    gone.utility() <= stayed.utility() + 1e-9 && (!is_tie || gone.id < stayed.id)
                } else {
                    kept_last(gone) < kept_last(stayed)
                };
                prop_assert!(is_right, "{:?} went and {:?} stayed", gone, stayed);
            }
        }
        self.tally.count(Seen::Evicted, gone.len());
        self.rows.retain(|row| !evicted.contains(&row.id));
        Ok(gone.into_iter().map(|row| Edit { id: row.id, before: Some(row), after: None, is_removal: false }).collect())
    }

    /// docs/spec/playbook.md, 6.6.
    pub(super) fn prune(&mut self, pruned: &adage::learn::Pruned) -> Checked {
        let n_rows = self.rows.len();
        let most = if n_rows < 10 { 0 } else { n_rows / 4 };
        let (taken, left): (Vec<Row>, Vec<Row>) =
            self.rows.iter().cloned().partition(|row| pruned.lessons.contains(&row.id));
        prop_assert_eq!(taken.len(), pruned.lessons.len());
        prop_assert!(taken.len() <= most, "{} of {} were pruned", taken.len(), n_rows);
        let failed =
            |row: &Row| row.retrievals >= 5 && !row.is_verified && !row.is_by_hand && row.hit_rate() < 0.35 - 1e-12;
        let n_below = |row: &Row, slack: f64| {
            let is_below = |other: &&Row| other.id != row.id && other.utility() < row.utility() + slack;
            self.rows.iter().filter(is_below).count()
        };
        for row in &taken {
            prop_assert!(failed(row) && n_below(row, -1e-9) <= n_rows / 4, "{:?} was pruned", row);
        }
        for row in &left {
            let is_due = failed(row) && n_below(row, 1e-9) < n_rows / 4;
            prop_assert!(!is_due || taken.len() == most, "{:?} was not pruned", row);
        }
        prop_assert_eq!(pruned.change.is_some(), !taken.is_empty());
        self.tally.count(Seen::Pruned, taken.len());
        self.rows = left;
        if let Some(id) = pruned.change {
            let gone =
                taken.into_iter().map(|row| Edit { id: row.id, before: Some(row), after: None, is_removal: false });
            self.changes.push(Change { id, edits: gone.collect(), is_undo: false, is_undone: false });
        }
        Ok(())
    }
}
