//! Feedback on what was shown (docs/spec/playbook.md, 6).

use std::time::Duration;

use chrono::TimeDelta;
use serde::Serialize;

use crate::error::{Error, FolderError, Result};
use crate::learn::Feedback;
use crate::lesson::{LessonId, LessonRef, ReceiptId};
use crate::playbook::{OpenPlaybook, Playbook};
use crate::store::{Event, Snapshot, Text};

/// The result of recording feedback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Credited {
    /// The feedback is recorded for the retrieval.
    Recorded {
        /// The lessons that are credited: those shown whose text is still the same.
        lessons: Vec<LessonId>,
    },
    /// The retrieval already had feedback; only the first counts.
    AlreadyRecorded {
        /// The first feedback.
        outcome: Feedback,
    },
}

impl Playbook {
    /// Records how a task ended, by the receipt of its context. Each lesson that was shown is credited once, unless its text
    /// has changed since.
    ///
    /// # Errors
    /// [`Error::NoSuchReceipt`] for a receipt that is unknown or older than 7 days; the errors of an append.
    pub fn record_outcome(&self, receipt: ReceiptId, outcome: Feedback) -> Result<Credited> {
        if !self.exists() {
            return Err(Error::NoSuchReceipt { receipt });
        }
        self.shared.append(|snapshot, now| {
            let known = snapshot.log.receipt(receipt).filter(|known| !known.is_over(now));
            let known = known.ok_or(Error::NoSuchReceipt { receipt })?;
            if let Some(outcome) = known.outcome {
                return Ok((None, Credited::AlreadyRecorded { outcome }));
            }
            let lessons = known.creditable(snapshot.book()).into_iter().map(|(id, _)| id).collect();
            Ok((Some(Event::Outcome { receipt, feedback: outcome, at: now }), Credited::Recorded { lessons }))
        })
    }

    /// Credits every lesson that was retrieved within the window and has no feedback since: helpful +1 per lesson. A retrieval
    /// is never credited twice. Returns the number of lessons credited; 0 for an empty window.
    ///
    /// The window is usually `config().feedback.credit_window`, 300 seconds.
    ///
    /// # Errors
    /// The errors of an append.
    pub fn credit_recent_retrievals(&self, window: Duration) -> Result<usize> {
        let window = TimeDelta::from_std(window).unwrap_or(TimeDelta::MAX);
        if window <= TimeDelta::zero() || !self.exists() {
            return Ok(0);
        }
        self.shared.append(|snapshot, now| {
            let from = now.checked_sub_signed(window).unwrap_or_else(|| chrono::DateTime::UNIX_EPOCH.fixed_offset());
            let credit = snapshot.log.unsettled_since(from, snapshot.book());
            let n_lessons = credit.len();
            let event = Event::Credited { texts: credit, feedback: Feedback::Helpful, at: now, since: Some(from) };
            Ok(((n_lessons > 0).then_some(event), n_lessons))
        })
    }

    /// Counts that the host itself showed a lesson, and returns the receipt.
    ///
    /// # Errors
    /// [`Error::NoSuchLesson`], [`Error::Ambiguous`], [`FolderError::ReadOnly`].
    pub fn record_retrieval(&self, lesson: impl Into<LessonRef>) -> Result<ReceiptId> {
        let reference = lesson.into();
        let view = self.shared.view()?;
        let shown = text_of(&view.snapshot, &reference)?;
        let receipt = self.shared.record(&view, vec![shown]);
        Ok(receipt.ok_or_else(|| FolderError::ReadOnly { path: self.folder().to_owned() })?)
    }

    /// Records that a lesson helped: helpful +1, confidence +0.05. The lesson's open retrievals get this feedback.
    ///
    /// # Errors
    /// [`Error::NoSuchLesson`], [`Error::Ambiguous`], and the errors of an append.
    pub fn record_helpful_retrieval(&self, lesson: impl Into<LessonRef>) -> Result<LessonId> {
        self.shared.credit(&lesson.into(), Feedback::Helpful)
    }

    /// Records that a lesson did harm: harmful +1, confidence −0.1. The lesson's open retrievals get this feedback.
    ///
    /// # Errors
    /// [`Error::NoSuchLesson`], [`Error::Ambiguous`], and the errors of an append.
    pub fn record_harmful_retrieval(&self, lesson: impl Into<LessonRef>) -> Result<LessonId> {
        self.shared.credit(&lesson.into(), Feedback::Harmful)
    }
}

impl OpenPlaybook {
    fn credit(&self, reference: &LessonRef, feedback: Feedback) -> Result<LessonId> {
        self.append(|snapshot, now| {
            let text = text_of(snapshot, reference)?;
            Ok((Some(Event::Credited { texts: vec![text], feedback, at: now, since: None }), text.0))
        })
    }

    fn append<T>(
        &self,
        mut make: impl FnMut(&Snapshot, chrono::DateTime<chrono::FixedOffset>) -> Result<(Option<Event>, T)>,
    ) -> Result<T> {
        let turn = self.store.folder.turn(&self.writer)?;
        let known = std::sync::Arc::clone(&self.view.read());
        let (snapshot, value) =
            self.kept.append_event(&known.snapshot, &turn, |snapshot| make(snapshot, self.clock.now()))?;
        self.publish(snapshot);
        Ok(value)
    }
}

fn text_of(snapshot: &Snapshot, reference: &LessonRef) -> Result<Text> {
    let lesson = snapshot.book().resolve(reference)?;
    Ok((lesson.id, lesson.text_hash()))
}
