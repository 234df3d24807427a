//! Settings of the log of receipts and of random withholding.

use serde::{Deserialize, Serialize};

use super::range::{at_least_two, within};
use crate::error::config::Error;

/// The log of receipts, and random withholding (docs/spec/playbook.md, 6.7). Off by default. A folder's own settings cannot
/// change it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CreditConfig {
    /// Whether the folder's `receipts.jsonl` records the lessons that each receipt showed and withheld, and the outcome. It
    /// contains neither queries nor lesson texts. False; chosen.
    pub log_receipts: bool,
    /// The probability of withholding a lesson that would be shown. 0, in [0, 0.9]; chosen. Lessons that are verified, that a
    /// path or a command matches, or that another shown lesson refers to are never withheld. Without a logged receipt, nothing
    /// is withheld.
    pub dropout: f64,
    /// Maximum number of receipts in the log; beyond it, the newest half is kept. 10,000, at least 2; chosen.
    pub max_receipts: usize,
    /// A seed for reproducible withholding, for tests and simulations. None uses the system's randomness.
    pub seed: Option<u64>,
}

impl Default for CreditConfig {
    fn default() -> Self {
        Self { log_receipts: false, dropout: 0.0, max_receipts: 10_000, seed: None }
    }
}

impl CreditConfig {
    pub(super) fn validate(&self) -> Result<(), Error> {
        let Self { log_receipts: _, dropout, max_receipts, seed: _ } = self;
        within("credit.dropout", *dropout, 0.0..=0.9, "in [0, 0.9]")?;
        // One receipt has no newer half.
        at_least_two("credit.max_receipts", *max_receipts)
    }
}
