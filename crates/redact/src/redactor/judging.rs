//! Whether what a rule found is a secret, by the value alone.

use super::Redactor;
use crate::judged::{Judged, Question};
use crate::password_word::{is_password_like, is_random_word};
use crate::rules::Rule;
use crate::shape::{
    are_codes, claims_nothing, encodes_a_name, is_base64_key, is_constant, is_likely_password, is_path_like, is_phrase,
    is_pin, is_reference, is_strong, is_weak_password, is_word_and_number, is_word_list, looks_random, repeats_a_group,
};

impl Redactor {
    /// What a rule found is a secret by the rule's check.
    pub(super) fn is_secret<'t>(&self, rule: &Rule, value: &'t str, judged: &Judged<'t>) -> bool {
        judged.judge(value, |answers| {
            let is_shaped = answers.ask(rule.question, || self.is_shaped(rule.question, value));
            let is_sample = || self.skips.is_sample(value);
            match rule.question {
                Question::Pin => is_shaped,
                Question::Any => answers.entropy(value) >= rule.entropy && !is_sample(),
                _ => {
                    is_shaped
                        && answers.entropy(value) >= rule.entropy
                        && !answers.ask(Question::Placeholder, || self.is_shaped(Question::Placeholder, value))
                }
            }
        })
    }

    /// What the check of a rule asks of a value alone.
    fn is_shaped(&self, question: Question, value: &str) -> bool {
        let letters = |b: u8| b.is_ascii_alphabetic() || b"._-=".contains(&b);
        match question {
            Question::Any | Question::Literal => true,
            Question::Seed => {
                value.bytes().any(|b| b.is_ascii_digit()) || !value.bytes().any(|b| b.is_ascii_lowercase())
            }
            Question::Codes => are_codes(value),
            Question::Base64 => is_base64_key(value),
            Question::Pin => is_pin(value),
            Question::Named => !self.skips.is_made_up(value),
            Question::Strong => is_strong(value) && !self.skips.is_made_up(value),
            Question::Phrase => (is_password_like(value) || is_phrase(value)) && !self.skips.is_made_up(value),
            Question::Odd => is_password_like(value) && !self.skips.is_made_up(value),
            Question::Chosen => (is_likely_password(value) || is_word_list(value)) && !self.skips.is_made_up(value),
            Question::Weak => is_weak_password(value) && !self.skips.is_made_up(value),
            Question::Jumble => is_random_word(value) && self.is_random(value) && !is_reference(value),
            Question::Likely => is_likely_password(value) && !self.skips.is_made_up(value),
            Question::Claims => !claims_nothing(value),
            Question::Password => !value.bytes().all(letters) && !is_constant(value) && !self.skips.is_made_up(value),
            Question::Encoded => looks_random(value),
            Question::Random => self.is_random(value),
            Question::Placeholder => self.skips.is_sample(value) || self.skips.stands_in(value),
        }
    }

    /// Random characters, and no name in any disguise.
    fn is_random(&self, value: &str) -> bool {
        looks_random(value)
            && !self.is_identifier(value)
            && !is_word_and_number(value)
            && !is_path_like(value)
            && !self.skips.is_made_up(value)
            && !encodes_a_name(value)
            && !repeats_a_group(value)
    }

    /// A prefix and a joint say what the value is (`dpl_…`).
    pub(super) fn is_identifier(&self, value: &str) -> bool {
        value.split_once('_').is_some_and(|(prefix, _)| self.skips.names.has_exactly(prefix))
    }
}
