//! Receipts for the tests of this stage.

use super::{LoggedLesson, LoggedOutcome, LoggedReceipt};
use crate::learn::Feedback;
use crate::lesson::{Realm, ReceiptId, TextHash};
use crate::testing::{at, lesson};

pub(super) fn receipt_id(number: i64) -> ReceiptId {
    ReceiptId::at(at(number), TextHash::of(&[number.to_string()]))
}

/// A receipt with these lessons, by trigger, propensity, and whether they were shown.
pub(super) fn logged(number: i64, lessons: &[(&str, f64, bool)], outcome: Option<Feedback>) -> LoggedReceipt {
    let lessons = lessons.iter().map(|(trigger, propensity, shown)| {
        let lesson = lesson(trigger, "s");
        LoggedLesson {
            id: lesson.id,
            text: lesson.text_hash(),
            shown: *shown,
            propensity: *propensity,
            probability: Some(0.5),
        }
    });
    LoggedReceipt {
        receipt: receipt_id(number),
        at: at(number),
        realm: Realm::default(),
        answer: Some(0.9),
        min_share: 0.2,
        limit: 5,
        lessons: lessons.collect(),
        outcome: outcome.map(|verdict| LoggedOutcome { verdict, at: at(number) }),
    }
}
