//! Whether a value that a rule found is a secret, by the value alone.

use super::Redactor;
use super::public::is_public;
use crate::password_word::{is_password_like, is_random_word};
use crate::rules::{Kind, Rule};
use crate::score::has_rare_words;
use crate::shape::{
    are_codes, claims_nothing, encodes_a_name, entropy, is_base64_key, is_constant, is_likely_password, is_path_like,
    is_phrase, is_pin, is_prefix_and_words, is_reference, is_strong, is_weak_password, is_word_and_number,
    is_word_list, looks_random, repeats_a_group,
};

/// What a value has to pass to be a secret of a rule, besides its entropy. The table of rules describes each check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// `any`
    Any,
    /// `literal`
    NotPlaceholder,
    /// `seed`
    Base32Seed,
    /// `codes`
    RecoveryCodes,
    /// `base64`
    Base64Key,
    /// `pin`
    Pin,
    /// `named`
    NotMadeUp,
    /// `strong`
    MixedPassword,
    /// `phrase`
    PasswordOrPhrase,
    /// `odd`
    PasswordLike,
    /// `chosen`
    ChosenPassword,
    /// `weak`
    WeakPassword,
    /// `words`
    RareWords,
    /// `jumble`
    RandomWord,
    /// `likely`
    LikelyPassword,
    /// `claims`
    WebTokenClaims,
    /// `password`
    NotOnlyLetters,
    /// `encoded`
    NotWords,
    /// `random`
    Random,
}

impl Check {
    /// The check of a name in the table of rules; `None` for an unknown name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "any" => Self::Any,
            "literal" => Self::NotPlaceholder,
            "seed" => Self::Base32Seed,
            "codes" => Self::RecoveryCodes,
            "base64" => Self::Base64Key,
            "pin" => Self::Pin,
            "named" => Self::NotMadeUp,
            "strong" => Self::MixedPassword,
            "phrase" => Self::PasswordOrPhrase,
            "odd" => Self::PasswordLike,
            "chosen" => Self::ChosenPassword,
            "weak" => Self::WeakPassword,
            "words" => Self::RareWords,
            "jumble" => Self::RandomWord,
            "likely" => Self::LikelyPassword,
            "claims" => Self::WebTokenClaims,
            "password" => Self::NotOnlyLetters,
            "encoded" => Self::NotWords,
            "random" => Self::Random,
            _ => return None,
        })
    }

    /// True if every secret that passes has a digit, so that a rule needs to run only where one follows its keyword.
    pub(crate) fn needs_digit(self) -> bool {
        matches!(
            self,
            Self::LikelyPassword
                | Self::PasswordLike
                | Self::RandomWord
                | Self::PasswordOrPhrase
                | Self::MixedPassword
                | Self::Pin
                | Self::RecoveryCodes
                | Self::Base64Key
        )
    }
}

impl Redactor {
    /// True if a value that a rule found passes the rule's check and has its least entropy. Of the checks other than
    /// `pin` and `any`, none accepts a placeholder.
    pub(super) fn is_secret(&self, rule: &Rule, value: &str) -> bool {
        let has_entropy = || entropy(value) >= rule.entropy;
        match rule.check {
            Check::Pin => is_pin(value),
            Check::Any => {
                let is_made_of_words = || rule.kind == Kind::Prefix && is_prefix_and_words(value);
                has_entropy() && !self.exceptions.is_sample(value) && !is_made_of_words()
            }
            check => {
                self.passes(check, value)
                    && has_entropy()
                    && !self.exceptions.is_sample(value)
                    && !self.exceptions.is_placeholder(value)
            }
        }
    }

    /// True if a value passes a check. Entropy is checked elsewhere.
    fn passes(&self, check: Check, value: &str) -> bool {
        let letters = |b: u8| b.is_ascii_alphabetic() || b"._-=".contains(&b);
        match check {
            Check::Any | Check::NotPlaceholder => true,
            Check::Base32Seed => {
                value.bytes().any(|b| b.is_ascii_digit()) || !value.bytes().any(|b| b.is_ascii_lowercase())
            }
            Check::RecoveryCodes => are_codes(value),
            Check::Base64Key => is_base64_key(value),
            Check::Pin => is_pin(value),
            Check::NotMadeUp => !self.exceptions.is_made_up(value),
            Check::MixedPassword => is_strong(value) && !self.exceptions.is_made_up(value),
            Check::PasswordOrPhrase => {
                (is_password_like(value) || is_phrase(value)) && !self.exceptions.is_made_up(value)
            }
            Check::PasswordLike => is_password_like(value) && !self.exceptions.is_made_up(value),
            Check::ChosenPassword => {
                (is_likely_password(value) || is_word_list(value)) && !self.exceptions.is_made_up(value)
            }
            Check::WeakPassword => is_weak_password(value) && !self.exceptions.is_made_up(value),
            Check::RareWords => is_word_list(value) && has_rare_words(value) && !self.exceptions.is_made_up(value),
            Check::RandomWord => is_random_word(value) && self.is_random(value) && !is_reference(value),
            Check::LikelyPassword => is_likely_password(value) && !self.exceptions.is_made_up(value),
            Check::WebTokenClaims => !claims_nothing(value),
            Check::NotOnlyLetters => {
                !value.bytes().all(letters) && !is_constant(value) && !self.exceptions.is_made_up(value)
            }
            Check::NotWords => looks_random(value),
            Check::Random => self.is_random(value),
        }
    }

    /// True for random characters that are not an identifier, a path, a numbered word, an example, or a name in base64.
    fn is_random(&self, value: &str) -> bool {
        looks_random(value)
            && !is_public(value)
            && !self.is_identifier(value)
            && !is_word_and_number(value)
            && !is_path_like(value)
            && !self.exceptions.is_made_up(value)
            && !encodes_a_name(value)
            && !repeats_a_group(value)
    }

    /// True for a value whose prefix is that of a public identifier, as in `dpl_…`.
    pub(super) fn is_identifier(&self, value: &str) -> bool {
        value.split_once('_').is_some_and(|(prefix, _)| self.exceptions.public_names.has_exactly(prefix))
    }
}
