//! The effect of showing lessons, from the log of receipts (docs/spec/playbook.md, 6.7 and 6.8).

use crate::credit::{Effect, LoggedLesson, LoggedReceipt, ReceiptLog};
use crate::error::Result;
use crate::lesson::{LessonId, LessonRef, ReceiptId};
use crate::playbook::recall::pool::Pool;
use crate::playbook::{OpenPlaybook, Playbook};
use crate::retrieve::{NoMatchReason, Ranked, Rendered, Request, passed_over, render, withhold};
use crate::store::Text;
use chrono::{DateTime, FixedOffset};

/// What is about to be shown for a request.
#[derive(Clone, Copy)]
pub(in crate::playbook) struct PendingRetrieval<'a> {
    pub(in crate::playbook) pool: Pool<'a>,
    pub(in crate::playbook) request: &'a Request,
    pub(in crate::playbook) ranked: &'a Ranked,
    pub(in crate::playbook) max_tokens: usize,
    /// The index of the pool member that a lesson belongs to.
    pub(in crate::playbook) member_index: &'a dyn Fn(LessonId) -> usize,
}

impl Playbook {
    /// The logged receipts; empty unless `config().credit.log_receipts` is set. Removed lessons are not included.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn receipts(&self) -> Result<ReceiptLog> {
        self.flush()?;
        let view = self.shared.view()?;
        self.shared.kept.receipts(&view.snapshot)
    }

    /// The effect of showing a lesson on the outcomes of tasks: the rate of helpful outcomes with it minus the rate without it.
    /// Only receipts in which the lesson was shown or withheld at random count (`config().credit.dropout`), and only those of
    /// its present text.
    ///
    /// # Errors
    /// [`Error::NoSuchLesson`](crate::Error::NoSuchLesson), [`Error::Ambiguous`](crate::Error::Ambiguous),
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn effect(&self, lesson: impl Into<LessonRef>) -> Result<Effect> {
        let view = self.shared.view()?;
        let lesson = view.snapshot.book().resolve(&lesson.into())?;
        Ok(self.receipts()?.effect(lesson.id, lesson.text_hash()))
    }
}

impl OpenPlaybook {
    /// Counts the shown lessons in their folders, and returns the receipt. If receipts are logged, some lessons are first
    /// withheld at random.
    pub(in crate::playbook) fn count(
        &self,
        pending: PendingRetrieval<'_>,
        rendered: &mut Rendered,
    ) -> Option<ReceiptId> {
        let (receipt, at) = self.new_receipt();
        let is_logged = self.is_logged(pending.request) && pending.pool.may_append();
        let mut logged = Vec::new();
        let mut rest = None;
        if is_logged {
            let lessons = withhold(&rendered.shown, self.chance.draw(), &self.config.credit);
            rest = Some(pending.without_withheld(rendered, &lessons));
            logged = [lessons, pending.passed_over()].concat();
        }
        let shown = texts(rest.as_ref().unwrap_or(rendered));
        let mut is_recorded = false;
        for (index, (member, view)) in pending.pool.members.iter().enumerate() {
            let is_here = |id: LessonId| (pending.member_index)(id) == index;
            let shown: Vec<Text> = shown.iter().filter(|(id, _)| is_here(*id)).copied().collect();
            let logged: Vec<LoggedLesson> = logged.iter().filter(|lesson| is_here(lesson.id)).cloned().collect();
            if shown.is_empty() && logged.is_empty() {
                continue;
            }
            let line = is_logged.then(|| self.logged(pending, receipt, at, logged).line());
            is_recorded |= member.record_as(receipt, at, view, shown, line);
        }
        if !is_recorded {
            return None;
        }
        if let Some(rest) = rest {
            *rendered = rest;
        }
        Some(receipt)
    }

    fn logged(
        &self,
        pending: PendingRetrieval<'_>,
        receipt: ReceiptId,
        at: DateTime<FixedOffset>,
        lessons: Vec<LoggedLesson>,
    ) -> LoggedReceipt {
        let PendingRetrieval { request, ranked, .. } = pending;
        let probabilities = ranked.considered.iter().filter_map(|scored| scored.probability);
        LoggedReceipt {
            receipt,
            at,
            realm: request.realm.clone(),
            // The probability of an answer is shared among all lessons.
            answer: probabilities.reduce(|sum, probability| sum + probability),
            min_share: self.config.retrieval.min_share,
            limit: request.limit.unwrap_or(self.config.retrieval.limit),
            lessons,
            outcome: None,
        }
    }

    /// True if the request's receipt is to be logged, provided that its folder is writable.
    pub(in crate::playbook) fn is_logged(&self, request: &Request) -> bool {
        self.config.credit.log_receipts && !request.is_peek
    }
}

impl PendingRetrieval<'_> {
    /// The context without the lessons that are withheld at random.
    fn without_withheld(&self, rendered: &Rendered, lessons: &[LoggedLesson]) -> Rendered {
        let is_shown = |id: LessonId| lessons.iter().any(|lesson| lesson.id == id && lesson.shown);
        let mut hits = rendered.shown.clone();
        hits.retain(|hit| is_shown(hit.lesson.id));
        let none_because = hits.is_empty().then_some(NoMatchReason::Withheld { n_lessons: lessons.len() });
        render(&Ranked { hits, none_because, ..self.ranked.clone() }, self.max_tokens)
    }

    fn passed_over(&self) -> Vec<LoggedLesson> {
        passed_over(&self.ranked.considered, &self.ranked.hits, &self.pool.recall.book)
    }
}

fn texts(rendered: &Rendered) -> Vec<Text> {
    rendered.shown.iter().map(|hit| (hit.lesson.id, hit.lesson.text_hash())).collect()
}
