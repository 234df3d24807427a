//! The effect of feedback on a lesson (docs/spec/playbook.md, 6).

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use crate::config::FeedbackConfig;
use crate::lesson::Lesson;

/// The outcome of a task for which lessons were shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feedback {
    /// The lessons helped: helpful +1, confidence +0.05.
    Helpful,
    /// Neither; the retrieval counts as settled.
    Neutral,
    /// The lessons did harm: harmful +1, confidence −0.1.
    Harmful,
}

/// The result of checking a lesson.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verification {
    /// The task passed with the lesson in the prompt.
    Passed,
    /// The task failed with the lesson in the prompt.
    Failed,
}

/// Counts a retrieval. `recalls` is the number of recalls of its realm so far.
pub(crate) fn count_retrieval(lesson: &mut Lesson, at: DateTime<FixedOffset>, recalls: u64) {
    lesson.shown_at_recall = lesson.shown_at_recall.max(recalls);
    lesson.retrievals = lesson.retrievals.saturating_add(1);
    lesson.last_retrieved_at = lesson.last_retrieved_at.max(Some(at));
}

/// Counts the outcome of a retrieval.
pub(crate) fn count_outcome(
    lesson: &mut Lesson,
    outcome: Feedback,
    at: DateTime<FixedOffset>,
    config: &FeedbackConfig,
) {
    match outcome {
        Feedback::Helpful => {
            lesson.helpful_retrievals = lesson.helpful_retrievals.saturating_add(1);
            lesson.confidence = (lesson.confidence + config.helpful_step).min(1.0);
        }
        Feedback::Neutral => {}
        Feedback::Harmful => {
            lesson.harmful_retrievals = lesson.harmful_retrievals.saturating_add(1);
            lesson.confidence = (lesson.confidence - config.harmful_step).max(0.0);
        }
    }
    lesson.settled_retrievals = lesson.settled_retrievals.saturating_add(1);
    lesson.last_credited_at = lesson.last_credited_at.max(Some(at));
}

/// Reverts a window credit that an explicit outcome overrides. A confidence that the credit raised by less than a full step,
/// because of the limit of 1, ends lower than it was.
pub(crate) fn revert_credit(lesson: &mut Lesson, config: &FeedbackConfig) {
    lesson.helpful_retrievals = lesson.helpful_retrievals.saturating_sub(1);
    lesson.settled_retrievals = lesson.settled_retrievals.saturating_sub(1);
    lesson.confidence = (lesson.confidence - config.helpful_step).max(0.0);
}

/// Records a check. A failed one removes the verified mark and keeps the confidence.
pub(crate) fn record_verification(lesson: &mut Lesson, verification: Verification, bonus: f64) {
    lesson.verification_attempted = true;
    lesson.verified = verification == Verification::Passed;
    if lesson.verified {
        lesson.confidence = (lesson.confidence + bonus).min(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at, lesson};

    fn check(outcome: Feedback, confidence: f64, expected: (u64, u64, f64)) {
        let mut lesson = Lesson { confidence, ..lesson("t", "s") };
        count_outcome(&mut lesson, outcome, at(9), &FeedbackConfig::default());
        assert_eq!((lesson.helpful_retrievals, lesson.harmful_retrievals), (expected.0, expected.1));
        assert!((lesson.confidence - expected.2).abs() < 1e-12, "{}", lesson.confidence);
        assert_eq!(lesson.last_credited_at, Some(at(9)));
    }

    #[test]
    fn outcomes_move_counts_and_confidence_within_their_bounds() {
        check(Feedback::Helpful, 0.5, (1, 0, 0.55));
        check(Feedback::Helpful, 0.98, (1, 0, 1.0));
        check(Feedback::Neutral, 0.5, (0, 0, 0.5));
        check(Feedback::Harmful, 0.5, (0, 1, 0.4));
        check(Feedback::Harmful, 0.05, (0, 1, 0.0));
    }

    #[test]
    fn a_retrieval_counts_and_never_moves_the_time_back() {
        let mut lesson = lesson("t", "s");
        count_retrieval(&mut lesson, at(9), 2);
        count_retrieval(&mut lesson, at(5), 1);
        assert_eq!((lesson.retrievals, lesson.last_retrieved_at, lesson.shown_at_recall), (2, Some(at(9)), 2));
    }

    #[test]
    fn a_passed_check_verifies_and_a_failed_one_removes_only_the_mark() {
        let mut lesson = lesson("t", "s");
        record_verification(&mut lesson, Verification::Passed, 0.2);
        assert!(lesson.verified && lesson.verification_attempted && (lesson.confidence - 0.7).abs() < 1e-12);
        record_verification(&mut lesson, Verification::Failed, 0.2);
        assert!(!lesson.verified && lesson.verification_attempted && (lesson.confidence - 0.7).abs() < 1e-12);
        for _ in 0..3 {
            record_verification(&mut lesson, Verification::Passed, 0.2);
        }
        assert!((lesson.confidence - 1.0).abs() < 1e-12);
    }
}
