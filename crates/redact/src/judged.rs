//! What was found out about the values of a text: rules ask the same of a value again and again.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::shape::entropy;

/// What is asked of a value; several checks of the table ask the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    Any,
    Literal,
    Seed,
    Codes,
    Base64,
    Pin,
    Named,
    Strong,
    Phrase,
    Odd,
    Chosen,
    Weak,
    Jumble,
    Likely,
    Claims,
    Password,
    Encoded,
    Random,
    /// Asked by most checks: the end of a published key, or a placeholder.
    Placeholder,
}

impl Question {
    pub(crate) fn of(check: &str) -> Self {
        match check {
            "any" => Self::Any,
            "literal" => Self::Literal,
            "seed" => Self::Seed,
            "codes" => Self::Codes,
            "base64" => Self::Base64,
            "pin" => Self::Pin,
            "named" => Self::Named,
            "strong" => Self::Strong,
            "phrase" => Self::Phrase,
            "odd" => Self::Odd,
            "chosen" => Self::Chosen,
            "weak" => Self::Weak,
            "jumble" => Self::Jumble,
            "likely" => Self::Likely,
            "claims" => Self::Claims,
            "password" => Self::Password,
            "encoded" => Self::Encoded,
            _ => Self::Random,
        }
    }
}

/// What was asked of a value, and what was answered, a bit for each question.
#[derive(Clone, Copy, Default)]
pub(crate) struct Answers {
    asked: u32,
    yes: u32,
    entropy: Option<f64>,
}

impl Answers {
    pub(crate) fn ask(&mut self, question: Question, answer: impl FnOnce() -> bool) -> bool {
        let bit = 1 << question as u32;
        if self.asked & bit == 0 {
            self.asked |= bit;
            self.yes |= if answer() { bit } else { 0 };
        }
        self.yes & bit != 0
    }

    pub(crate) fn entropy(&mut self, value: &str) -> f64 {
        *self.entropy.get_or_insert_with(|| entropy(value))
    }
}

/// The answers for each value of a text.
#[derive(Default)]
pub(crate) struct Judged<'t>(RefCell<HashMap<&'t str, Answers>>);

impl<'t> Judged<'t> {
    /// Judges a value by what is known of it, and keeps what is then known.
    pub(crate) fn judge(&self, value: &'t str, judge: impl FnOnce(&mut Answers) -> bool) -> bool {
        let known = self.0.borrow().get(value).copied().unwrap_or_default();
        let mut answers = known;
        let judgement = judge(&mut answers);
        if answers.asked != known.asked {
            self.0.borrow_mut().insert(value, answers);
        }
        judgement
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_answered_once_for_each_value() {
        let (judged, mut n_answered) = (Judged::default(), 0);
        for (value, question, answer) in [
            ("a", Question::Odd, true),
            ("a", Question::Odd, false),
            ("a", Question::Pin, false),
            ("b", Question::Odd, false),
            ("a", Question::Odd, false),
        ] {
            let is_yes = judged.judge(value, |answers| {
                answers.ask(question, || {
                    n_answered += 1;
                    answer
                })
            });
            assert_eq!(is_yes, (value, question) == ("a", Question::Odd));
        }
        assert_eq!(n_answered, 3);
    }
}
