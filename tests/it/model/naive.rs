//! The naive model: what a playbook contains, as lists.

use std::collections::{BTreeMap, BTreeSet};

use adage::{ChangeId, Feedback, LessonId, LessonRef, ReceiptId};
use chrono::{DateTime, FixedOffset};

use super::super::bench::start;
use super::coverage::{Seen, Tally};

/// The shown text of a lesson: trigger and solution. Credits, removals and undos refer to a text.
pub(super) type Text = (String, String);

#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) id: LessonId,
    pub(super) project: usize,
    pub(super) trigger: String,
    pub(super) solution: String,
    pub(super) is_by_hand: bool,
    pub(super) is_verified: bool,
    pub(super) was_checked: bool,
    pub(super) confidence: f64,
    pub(super) frequency: u64,
    pub(super) retrievals: u64,
    pub(super) helpful: u64,
    pub(super) harmful: u64,
    pub(super) timestamp: DateTime<FixedOffset>,
    pub(super) retrieved_at: Option<DateTime<FixedOffset>>,
}

impl Row {
    pub(super) fn text(&self) -> Text {
        (self.trigger.clone(), self.solution.clone())
    }

    /// docs/spec/playbook.md, 4.
    pub(super) fn hit_rate(&self) -> f64 {
        (self.helpful as f64 + 1.0) / (self.retrievals as f64 + 2.0)
    }

    /// docs/spec/playbook.md, 4.
    pub(super) fn utility(&self) -> f64 {
        let verified = if self.is_verified { 0.3 } else { 0.0 };
        let learned = (0.1 * (1.0 + self.frequency as f64).ln()).min(0.3);
        let base = 0.5 * self.confidence + 0.8 * self.hit_rate() + verified + learned;
        let penalty = if self.retrievals >= 5 && self.hit_rate() < 0.35 { base / 2.0 } else { 0.0 };
        base - penalty
    }

    pub(super) fn is_untouched(&self) -> bool {
        self.confidence.to_bits() == 0.5_f64.to_bits() && self.retrievals == 0 && self.frequency == 1
    }
}

#[derive(Clone, Debug)]
pub(super) struct Receipt {
    pub(super) id: ReceiptId,
    pub(super) at: DateTime<FixedOffset>,
    pub(super) shown: Vec<(LessonId, Text)>,
    pub(super) outcome: Option<Feedback>,
    pub(super) credited: BTreeSet<LessonId>,
    /// The credit by a window, and its time.
    pub(super) by_window: BTreeMap<LessonId, DateTime<FixedOffset>>,
}

impl Receipt {
    pub(super) fn is_open_for(&self, shown: &(LessonId, Text)) -> bool {
        self.outcome.is_none() && self.shown.contains(shown) && !self.credited.contains(&shown.0)
    }

    pub(super) fn is_unsettled_for(&self, shown: &(LessonId, Text)) -> bool {
        self.is_open_for(shown) && !self.by_window.contains_key(&shown.0)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Edit {
    pub(super) id: LessonId,
    pub(super) before: Option<Row>,
    pub(super) after: Option<Text>,
    pub(super) is_removal: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) id: ChangeId,
    pub(super) edits: Vec<Edit>,
    pub(super) is_undo: bool,
    pub(super) is_undone: bool,
}

pub(super) struct Removed {
    pub(super) id: LessonId,
    pub(super) row: Row,
}

pub(super) struct Model {
    pub(super) now: DateTime<FixedOffset>,
    pub(super) rows: Vec<Row>,
    pub(super) receipts: Vec<Receipt>,
    /// Window credits that an outcome overrode.
    pub(super) overruled: BTreeSet<(LessonId, DateTime<FixedOffset>)>,
    pub(super) changes: Vec<Change>,
    pub(super) removed: Vec<Removed>,
    pub(super) tally: Tally,
}

impl Model {
    pub(super) fn new() -> Self {
        Self {
            now: start(),
            rows: Vec::new(),
            receipts: Vec::new(),
            overruled: BTreeSet::new(),
            changes: Vec::new(),
            removed: Vec::new(),
            tally: Tally::default(),
        }
    }

    pub(super) fn row(&mut self, id: LessonId) -> Option<&mut Row> {
        self.rows.iter_mut().find(|row| row.id == id)
    }

    pub(super) fn is_still(&self, (id, text): &(LessonId, Text)) -> bool {
        self.rows.iter().any(|row| row.id == *id && row.text() == *text)
    }

    /// Newest first, of equal times the later id first.
    pub(super) fn sorted(&self) -> Vec<&Row> {
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        rows.sort_by(|a, b| b.timestamp.cmp(&a.timestamp).then(b.id.cmp(&a.id)));
        rows
    }

    /// Own lessons and global ones (docs/spec/playbook.md, 5.3).
    pub(super) fn visible(&self, project: usize) -> Vec<&Row> {
        self.sorted().into_iter().filter(|row| row.project == 0 || row.project == project).collect()
    }

    pub(super) fn pick(&self, pick: usize) -> Option<&Row> {
        self.sorted().get(pick % self.rows.len().max(1)).copied()
    }

    /// The reference to the lesson, and whether it is unambiguous.
    pub(super) fn refer(&mut self, pick: usize, by_name: bool) -> Option<(LessonRef, LessonId, Vec<LessonId>)> {
        let row = self.pick(pick)?.clone();
        if !by_name {
            return Some((row.id.into(), row.id, vec![row.id]));
        }
        let named = self.rows.iter().filter(|other| other.trigger.to_lowercase() == row.trigger.to_lowercase());
        let named: Vec<LessonId> = named.map(|row| row.id).collect();
        self.tally.count(Seen::Ambiguous, usize::from(named.len() > 1));
        Some((LessonRef::Trigger(row.trigger.to_uppercase()), row.id, named))
    }
}
