//! How the naive model counts retrievals and feedback.

use std::collections::{BTreeMap, BTreeSet};

use adage::{Credited, Feedback, LessonId, ReceiptId};
use chrono::{DateTime, FixedOffset, TimeDelta};

use super::coverage::Seen;
use super::naive::{Model, Receipt, Text};

impl Model {
    pub(super) fn show(&mut self, id: ReceiptId, shown: &[LessonId]) {
        let now = self.now;
        let mut texts = Vec::new();
        for id in shown {
            let row = self.row(*id).unwrap();
            row.retrievals += 1;
            row.retrieved_at = Some(now);
            texts.push((*id, row.text()));
        }
        self.receipts.push(Receipt {
            id,
            at: now,
            shown: texts,
            outcome: None,
            credited: BTreeSet::new(),
            by_window: BTreeMap::new(),
        });
    }

    /// docs/spec/playbook.md, 6.2.
    pub(super) fn move_by(&mut self, id: LessonId, outcome: Feedback) {
        let row = self.row(id).unwrap();
        match outcome {
            Feedback::Helpful => {
                row.helpful += 1;
                row.confidence = (row.confidence + 0.05).min(1.0);
            }
            Feedback::Neutral => {}
            Feedback::Harmful => {
                row.harmful += 1;
                row.confidence = (row.confidence - 0.1).max(0.0);
            }
        }
    }

    /// docs/spec/playbook.md, 6.3.
    pub(super) fn record_outcome(&mut self, place: usize, outcome: Feedback) -> Credited {
        let receipt = self.receipts[place].clone();
        if let Some(outcome) = receipt.outcome {
            self.tally.count(Seen::RecordedBefore, 1);
            return Credited::AlreadyRecorded { outcome };
        }
        let (lessons, changed): (Vec<_>, Vec<_>) =
            receipt.shown.iter().filter(|shown| receipt.is_open_for(shown)).partition(|shown| self.is_still(shown));
        self.tally.count(Seen::TextChanged, changed.len());
        let lessons: Vec<LessonId> = lessons.into_iter().map(|(id, _)| *id).collect();
        for id in &lessons {
            if let Some(at) = receipt.by_window.get(id) {
                self.overrule(*id, *at);
            }
            self.move_by(*id, outcome);
        }
        for (id, _) in &changed {
            self.overruled.extend(receipt.by_window.get(id).map(|at| (*id, *at)));
        }
        self.receipts[place].outcome = Some(outcome);
        Credited::Recorded { lessons }
    }

    /// An outcome overrides a window credit, once.
    pub(super) fn overrule(&mut self, id: LessonId, at: DateTime<FixedOffset>) {
        if self.overruled.insert((id, at)) {
            let row = self.row(id).unwrap();
            row.helpful -= 1;
            row.confidence = (row.confidence - 0.05).max(0.0);
        }
    }

    /// docs/spec/playbook.md, 6.4.
    pub(super) fn credit_window(&mut self) -> usize {
        let from = self.now - TimeDelta::seconds(300);
        let recent = self.receipts.iter().filter(|receipt| receipt.at >= from);
        let open = recent.flat_map(|receipt| receipt.shown.iter().filter(|shown| receipt.is_unsettled_for(shown)));
        let open: BTreeSet<(LessonId, Text)> = open.filter(|shown| self.is_still(shown)).cloned().collect();
        for shown in &open {
            self.move_by(shown.0, Feedback::Helpful);
            let now = self.now;
            let recent = self.receipts.iter_mut().filter(|receipt| receipt.at >= from);
            for receipt in recent.filter(|receipt| receipt.is_unsettled_for(shown)) {
                receipt.by_window.insert(shown.0, now);
            }
        }
        self.tally.count(Seen::Credited, open.len());
        open.len()
    }

    pub(super) fn credit_by_name(&mut self, id: LessonId, outcome: Feedback) {
        let shown = (id, self.row(id).unwrap().text());
        let mut last = None;
        for receipt in &mut self.receipts {
            if receipt.is_open_for(&shown) {
                last = last.max(receipt.by_window.get(&id).copied());
                receipt.credited.insert(id);
            }
        }
        if let Some(at) = last {
            self.overrule(id, at);
        }
        self.move_by(id, outcome);
    }
}
