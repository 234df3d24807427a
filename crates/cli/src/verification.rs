//! The result of a check, as the command line names it.

use adage::Verification;
use clap::ValueEnum;

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Check {
    Passed,
    Failed,
}

impl From<Check> for Verification {
    fn from(check: Check) -> Self {
        match check {
            Check::Passed => Self::Passed,
            Check::Failed => Self::Failed,
        }
    }
}
