//! An error of a setting.

use adage_index::InvalidSetting;

/// An error of a setting.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value is not allowed for the setting.
    #[error("{setting} is {value}, it must be {expected}")]
    Invalid {
        /// The setting.
        setting: &'static str,
        /// Its value.
        value: String,
        /// The allowed values.
        expected: &'static str,
    },
    /// A value is not of the setting's type.
    #[error("{key} is {value}, it must be {expected}")]
    WrongType {
        /// The setting.
        key: String,
        /// Its value, as JSON.
        value: String,
        /// The allowed values.
        expected: String,
    },
    /// A key is not a setting.
    #[error("no setting {key:?}; there are {}", known.join(", "))]
    UnknownKey {
        /// The key, after those of the objects that it is in: `retention.size`.
        key: String,
        /// The keys of that object.
        known: Vec<String>,
    },
    /// A memory folder's own settings have a key that only the user, the command line or the host may set.
    #[error("a folder may not set {key:?}, only {}; set it in your own settings or on the command line", allowed.join(", "))]
    NotForFolder {
        /// The key.
        key: String,
        /// The keys that a folder may set.
        allowed: &'static [&'static str],
    },
    /// The text is not JSON.
    #[error("the settings cannot be read")]
    Json(#[from] serde_json::Error),
    /// The text is not TOML.
    #[error("the settings cannot be read as TOML")]
    Toml(#[from] toml::de::Error),
}

impl From<InvalidSetting> for Error {
    fn from(InvalidSetting { setting, value, expected, .. }: InvalidSetting) -> Self {
        Self::Invalid { setting, value, expected }
    }
}
