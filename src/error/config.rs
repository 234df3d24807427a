//! Why a setting cannot be used.

use adage_index::InvalidSetting;

/// Why a setting cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value is not one of those that the setting takes.
    #[error("{setting} is {value}, it must be {expected}")]
    Invalid {
        /// The setting.
        setting: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        expected: &'static str,
    },
}

impl From<InvalidSetting> for Error {
    fn from(InvalidSetting { setting, value, expected }: InvalidSetting) -> Self {
        Self::Invalid { setting, value, expected }
    }
}
