//! Checks of values, with their results cached: many rules check the same value of a text.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::shape::entropy;

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
    /// `unhashed`; of the value alone, the same as `random`
    Unhashed,
    /// `qualified`; of the value alone, the same as `random`
    Qualified,
    /// The value is a placeholder or ends like a published key. Most other checks require that it fails.
    Placeholder,
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
            "unhashed" => Self::Unhashed,
            "qualified" => Self::Qualified,
            _ => return None,
        })
    }

    /// The check that asks the same of the value alone, so that its result is cached once.
    pub(crate) fn of_value(self) -> Self {
        match self {
            Self::Unhashed | Self::Qualified => Self::Random,
            other => other,
        }
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

/// The results of the checks that ran on one value, and its entropy.
#[derive(Clone, Copy, Default)]
pub(crate) struct CheckResults {
    /// A bit for each check that ran.
    ran: u32,
    /// A bit for each check that passed.
    passed: u32,
    entropy: Option<f64>,
}

impl CheckResults {
    /// True if the value passes a check; `run` is called only the first time.
    pub(crate) fn passes(&mut self, check: Check, run: impl FnOnce() -> bool) -> bool {
        let bit = 1 << check as u32;
        if self.ran & bit == 0 {
            self.ran |= bit;
            self.passed |= if run() { bit } else { 0 };
        }
        self.passed & bit != 0
    }

    /// The entropy of the value, in bits per byte; computed only the first time.
    pub(crate) fn entropy(&mut self, value: &str) -> f64 {
        *self.entropy.get_or_insert_with(|| entropy(value))
    }
}

/// The results of the checks of each value of a text.
#[derive(Default)]
pub(crate) struct CheckCache<'t>(RefCell<HashMap<&'t str, CheckResults>>);

impl<'t> CheckCache<'t> {
    /// The verdict of `judge` on a value, given the cached results of its checks. The results of checks that `judge`
    /// ran are cached.
    pub(crate) fn judge(&self, value: &'t str, judge: impl FnOnce(&mut CheckResults) -> bool) -> bool {
        let cached = self.0.borrow().get(value).copied().unwrap_or_default();
        let mut results = cached;
        let verdict = judge(&mut results);
        if results.ran != cached.ran {
            self.0.borrow_mut().insert(value, results);
        }
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_runs_once_for_each_value() {
        let (cache, mut n_run) = (CheckCache::default(), 0);
        for (value, check, passes) in [
            ("a", Check::PasswordLike, true),
            ("a", Check::PasswordLike, false),
            ("a", Check::Pin, false),
            ("b", Check::PasswordLike, false),
            ("a", Check::PasswordLike, false),
        ] {
            let verdict = cache.judge(value, |results| {
                results.passes(check, || {
                    n_run += 1;
                    passes
                })
            });
            assert_eq!(verdict, (value, check) == ("a", Check::PasswordLike));
        }
        assert_eq!(n_run, 3);
    }
}
