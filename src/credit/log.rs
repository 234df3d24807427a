//! The log of receipts: the lessons that each showed and withheld, with probabilities, and the outcome of its task.

use std::collections::BTreeMap;

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use crate::learn::Feedback;
use crate::lesson::{LessonId, Realm, ReceiptId, TextHash};

/// A lesson in a receipt: shown, withheld or rejected by the gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LoggedLesson {
    /// Its id.
    pub id: LessonId,
    /// The hash of its text at the time.
    pub text: TextHash,
    /// Whether it was shown.
    pub shown: bool,
    /// The probability of being shown, in [0, 1]: 1 for a lesson that is never withheld, 0 for one that the gate rejected.
    pub propensity: f64,
    /// The probability that it is an answer, in [0, 1]; none for a lesson that is shown whatever the gate is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f32>,
}

/// A logged receipt. It contains neither the query nor the text of a lesson.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LoggedReceipt {
    /// The receipt.
    pub receipt: ReceiptId,
    /// When it was issued.
    pub at: DateTime<FixedOffset>,
    /// The realm of the request.
    pub realm: Realm,
    /// The probability that any lesson is an answer, in [0, 1]; none if no probability was computed.
    pub answer: Option<f32>,
    /// The minimum probability of a shown lesson, as a fraction of the best one's.
    pub min_share: f32,
    /// The maximum number of shown lessons.
    pub limit: usize,
    /// The lessons, best first: those that passed the gate and fit the budget, then the next ones that the gate rejected.
    pub lessons: Vec<LoggedLesson>,
    /// The outcome of its task, if it was recorded.
    pub outcome: Option<LoggedOutcome>,
}

/// The outcome of a receipt's task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LoggedOutcome {
    /// The first outcome that was recorded.
    pub verdict: Feedback,
    /// When.
    pub at: DateTime<FixedOffset>,
}

/// One line.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Row {
    Showing {
        receipt: ReceiptId,
        at: DateTime<FixedOffset>,
        #[serde(default)]
        realm: Realm,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<f32>,
        min_share: f32,
        limit: usize,
        lessons: Vec<LoggedLesson>,
    },
    Outcome {
        outcome: ReceiptId,
        verdict: Feedback,
        at: DateTime<FixedOffset>,
    },
}

/// The logged receipts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReceiptLog {
    receipts: Vec<LoggedReceipt>,
    n_unreadable: usize,
}

impl LoggedReceipt {
    /// Whether the outcome is helpful; none while no outcome is recorded.
    #[must_use]
    pub fn is_helpful(&self) -> Option<bool> {
        self.outcome.map(|outcome| outcome.verdict == Feedback::Helpful)
    }

    pub(crate) fn line(&self) -> Vec<u8> {
        let Self { receipt, at, realm, answer, min_share, limit, lessons, outcome: _ } = self.clone();
        Row::Showing { receipt, at, realm, answer, min_share, limit, lessons }.line()
    }
}

/// The line of an outcome.
pub(crate) fn outcome_line(receipt: ReceiptId, verdict: Feedback, at: DateTime<FixedOffset>) -> Vec<u8> {
    Row::Outcome { outcome: receipt, verdict, at }.line()
}

impl Row {
    /// With a newline on both sides, so that a torn line loses only itself. Serialised directly, not through a JSON value:
    /// there a probability of 0.1 would have sixteen digits.
    fn line(&self) -> Vec<u8> {
        serde_json::to_string(self).map(|row| format!("\n{row}\n").into_bytes()).unwrap_or_default()
    }
}

impl ReceiptLog {
    /// Parses the lines of a `receipts.jsonl`. Invalid lines are counted and skipped; an outcome of an unknown receipt is
    /// skipped.
    #[must_use]
    pub fn parse(lines: &[u8]) -> Self {
        let mut log = Self::default();
        let mut places = BTreeMap::new();
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice(line) {
                Ok(Row::Showing { receipt, at, realm, answer, min_share, limit, lessons }) => {
                    places.insert(receipt, log.receipts.len());
                    let logged = LoggedReceipt { receipt, at, realm, answer, min_share, limit, lessons, outcome: None };
                    log.receipts.push(logged);
                }
                Ok(Row::Outcome { outcome, verdict, at }) => {
                    let place = places.get(&outcome).copied();
                    if let Some(known) = place.and_then(|place| log.receipts.get_mut(place)) {
                        known.outcome.get_or_insert(LoggedOutcome { verdict, at });
                    }
                }
                Err(_) => log.n_unreadable += 1,
            }
        }
        log
    }

    /// The receipts, oldest first.
    #[must_use]
    pub fn receipts(&self) -> &[LoggedReceipt] {
        &self.receipts
    }

    /// The number of invalid lines.
    #[must_use]
    pub fn n_unreadable(&self) -> usize {
        self.n_unreadable
    }

    /// Removes lessons from all receipts, and the receipts in which no shown or withheld lesson remains.
    pub(crate) fn forget(&mut self, is_removed: impl Fn(LessonId) -> bool) {
        for receipt in &mut self.receipts {
            receipt.lessons.retain(|lesson| !is_removed(lesson.id));
        }
        self.receipts.retain(|receipt| receipt.lessons.iter().any(|lesson| lesson.propensity > 0.0));
    }

    /// Keeps the newest receipts.
    pub(crate) fn keep_newest(&mut self, n_receipts: usize) {
        self.receipts.drain(..self.receipts.len().saturating_sub(n_receipts));
    }

    /// The lines of the log.
    pub(crate) fn render(&self) -> Vec<u8> {
        let outcome = |receipt: &LoggedReceipt| {
            receipt.outcome.map_or_else(Vec::new, |outcome| outcome_line(receipt.receipt, outcome.verdict, outcome.at))
        };
        self.receipts.iter().flat_map(|receipt| [receipt.line(), outcome(receipt)].concat()).collect()
    }
}

impl FromIterator<LoggedReceipt> for ReceiptLog {
    fn from_iter<I: IntoIterator<Item = LoggedReceipt>>(receipts: I) -> Self {
        Self { receipts: receipts.into_iter().collect(), n_unreadable: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credit::testing::{logged, receipt_id};
    use crate::testing::{at, lesson};

    #[test]
    fn a_log_reads_back_as_it_was_written() {
        let mut first = logged(1, &[("a", 0.9, true), ("b", 1.0, true)], Some(Feedback::Helpful));
        first.realm = Realm::new("shop", "");
        first.answer = Some(0.1);
        let log: ReceiptLog = [first, logged(2, &[("a", 0.9, false)], None)].into_iter().collect();
        let lines = log.render();
        assert_eq!(ReceiptLog::parse(&lines), log);
        let text = String::from_utf8(lines).unwrap();
        assert!(
            text.contains("\"answer\":0.1,") && text.lines().filter(|line| !line.is_empty()).count() == 3,
            "{text}"
        );
    }

    #[test]
    fn a_torn_line_costs_itself_and_the_first_outcome_counts() {
        let mut lines = logged(1, &[("a", 0.9, true)], None).line();
        lines.truncate(lines.len() - 9);
        lines.extend(logged(2, &[("a", 0.9, true)], None).line());
        for verdict in [Feedback::Harmful, Feedback::Helpful] {
            lines.extend(outcome_line(receipt_id(2), verdict, at(9)));
        }
        lines.extend(outcome_line(receipt_id(3), Feedback::Helpful, at(9)));
        let log = ReceiptLog::parse(&lines);
        assert_eq!((log.receipts().len(), log.n_unreadable()), (1, 1));
        assert_eq!(log.receipts()[0].outcome.unwrap().verdict, Feedback::Harmful);
    }

    #[test]
    fn what_is_removed_leaves_all_receipts() {
        let mut log: ReceiptLog = [
            logged(1, &[("a", 0.9, true), ("b", 0.9, true)], Some(Feedback::Helpful)),
            logged(2, &[("a", 0.9, true), ("c", 0.0, false)], Some(Feedback::Helpful)),
        ]
        .into_iter()
        .collect();
        let removed = lesson("a", "s").id;
        log.forget(|id| id == removed);
        assert_eq!(log.receipts().len(), 1);
        assert!(!String::from_utf8(log.render()).unwrap().contains(&removed.to_string()));
    }
}
