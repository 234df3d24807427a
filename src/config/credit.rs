//! What is recorded about showings, so that their effect can be distinguished from chance.

use serde::{Deserialize, Serialize};

/// The log of receipts, and withholding by chance (docs/spec/playbook.md, 6.7). Off by default. A folder's own settings cannot
/// change it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CreditConfig {
    /// Keeps in the folder's `receipts.jsonl` what every receipt showed and withheld, and how its task went. Neither queries nor
    /// lesson texts are in it. False; chosen.
    pub log_receipts: bool,
    /// The probability with which a lesson that would be shown is withheld. 0, in [0, 0.9]; chosen. Lessons that are verified, that
    /// a path or a command matches, or that another shown lesson refers to are never withheld. Nothing is withheld from what is not
    /// logged.
    pub dropout: f64,
    /// Receipts in the log; of more, the newest half is kept. 10,000, at least 2; chosen.
    pub max_receipts: usize,
    /// Makes chance repeat itself at every open, for tests and simulations. None takes it from the system.
    pub seed: Option<u64>,
}

impl Default for CreditConfig {
    fn default() -> Self {
        Self { log_receipts: false, dropout: 0.0, max_receipts: 10_000, seed: None }
    }
}
