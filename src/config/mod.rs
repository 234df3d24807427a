//! Every setting with its default, unit, range and origin.
//!
//! ```
//! use adage::{Config, Playbook};
//!
//! # let folder = tempfile::tempdir()?;
//! let mut config = Config::default();
//! config.retention.capacity = 200; // lessons per realm; 50 by default
//! config.retrieval.distance_threshold = 0.5;
//! let playbook = Playbook::builder(folder.path()).with_config(config).without_embedder().open()?;
//! assert_eq!(playbook.config().retention.capacity, 200);
//!
//! let mut wrong = Config::default();
//! wrong.retrieval.distance_threshold = 2.5;
//! let error = wrong.validate().unwrap_err().to_string();
//! assert!(error.starts_with("retrieval.distance_threshold is 2.5"), "{error}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Settings are checked once, when a playbook is opened.
//!
//! # As a file
//!
//! `Config` reads and writes serde formats; [`Config::from_toml`] reads TOML, and [`Config::from_json`] JSON. A setting that is left out keeps its default.
//! Durations are numbers of seconds (`300`, `0.5`), choices are words (`"guarded"`), and a key that is not a setting is refused.
//!
//! ```
//! use adage::Config;
//! use std::time::Duration;
//!
//! let config = Config::from_toml("retention.capacity = 200\n[feedback]\ncredit_window = 60")?;
//! assert_eq!((config.retention.capacity, config.retention.max_waiting), (200, 200));
//! assert_eq!(config.feedback.credit_window, Duration::from_secs(60));
//!
//! let error = Config::from_toml("retention.size = 200").unwrap_err();
//! assert_eq!(error.to_string(), "no setting \"retention.size\"; there are capacity, max_waiting, prune_max_fraction, prune_min_retrievals, utility");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod capture;
mod credit;
mod given;
mod learn;
mod range;
mod retrieval;
pub(crate) mod seconds;
mod skills;
mod store;
#[cfg(test)]
mod tests;

use adage_index::IndexConfig;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use crate::error::config::Error;
pub use capture::{Admission, CaptureConfig, ExtractConfig, SessionsConfig};
pub use credit::CreditConfig;
pub use learn::{DedupPolicy, FeedbackConfig, LearnConfig, PLAYBOOK_MAX, RetentionConfig, UtilityPolicy};
pub use retrieval::{CalibrationFit, RetrievalConfig, RetrievalRule};
pub use skills::{AutoSaveConfig, CurationConfig, MatchConfig, SkillsConfig};
pub use store::StoreConfig;
pub(crate) use store::{LOCK_TIMEOUT, MAX_FILE};

/// The sections that a folder's own settings may contain.
const FOLDER_SECTIONS: [&str; 8] =
    ["learn", "retention", "retrieval", "feedback", "index", "matching", "curation", "skills"];

/// Settings of an earlier version. They have no effect; a file that has one is read all the same.
const REMOVED: [&str; 26] = [
    "agent",
    "capture.min_calls",
    "capture.min_repeats",
    "capture.min_run",
    "capture.recovery_window",
    "capture.selection",
    "capture.skip_threshold",
    "capture.untrusted_programs",
    "capture.untrusted_tools",
    "extract.max_existing",
    "extract.max_failure_chars",
    "extract.max_lessons",
    "extract.max_other_turn_chars",
    "extract.max_recoveries",
    "extract.max_reply_bytes",
    "extract.max_retry_delay",
    "extract.max_user_turn_chars",
    "extract.retry_delay",
    "learn.max_of_session",
    "sessions.max_attempts",
    "sessions.max_depth",
    "sessions.max_file_bytes",
    "sessions.max_lines",
    "sessions.max_runs",
    "sessions.min_tool_calls",
    "sessions.min_user_turns",
];

/// The setting of these sections that a folder may not set: it could open the gate for any lesson of the folder.
const USER_ONLY: &str = "retrieval.calibration";

/// All settings. `Config::default()` is what the documentation describes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Learning and duplicates.
    pub learn: LearnConfig,
    /// What is kept.
    pub retention: RetentionConfig,
    /// Settings of retrieval.
    pub retrieval: RetrievalConfig,
    /// Feedback.
    pub feedback: FeedbackConfig,
    /// How vectors are searched.
    pub index: IndexConfig,
    /// What is found in transcripts.
    pub capture: CaptureConfig,
    /// Which sessions are read, and how often.
    pub sessions: SessionsConfig,
    /// What a language model is asked.
    pub extract: ExtractConfig,
    /// The skills shown for a task.
    pub matching: MatchConfig,
    /// Which skills are saved without a person.
    pub auto_save: AutoSaveConfig,
    /// Curation of saved skills.
    pub curation: CurationConfig,
    /// Skills that are part of every context.
    pub skills: SkillsConfig,
    /// The log of receipts, and random withholding.
    pub credit: CreditConfig,
    /// How files are shared, and how long they are kept.
    pub store: StoreConfig,
    /// The settings of an earlier version that a file has and that have no effect, such as `capture.min_run`. For a warning.
    #[serde(skip)]
    pub ignored: Vec<String>,
}

impl Config {
    /// The earlier system's rules. Retrieval: by the distance of triggers below 0.45. Merging: by a distance below 0.15 or the same
    /// task and trigger, and the longer solution is kept. Retention: by [`utility::standard`](crate::utility::standard).
    #[must_use]
    pub fn classic() -> Self {
        let retrieval = RetrievalConfig { rule: RetrievalRule::Classic, ..RetrievalConfig::default() };
        let learn = LearnConfig { dedup: DedupPolicy::Classic, ..LearnConfig::default() };
        let retention = RetentionConfig { utility: UtilityPolicy::Standard, ..RetentionConfig::default() };
        Self { learn, retention, retrieval, ..Self::default() }
    }

    /// Parses the settings from a JSON object; missing ones have their defaults. Ranges are checked by
    /// [`validate`](Self::validate), and at every open.
    ///
    /// # Errors
    /// [`Error::UnknownKey`] names the first key that is not a setting; [`Error::WrongType`] a value of another type; [`Error::Json`]
    /// for what is not JSON.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        Self::from_value(serde_json::from_str(text)?)
    }

    /// As [`from_json`](Self::from_json), for TOML, whose tables are the sections.
    ///
    /// # Errors
    /// Those of [`from_json`](Self::from_json); [`Error::Toml`] for what is not TOML.
    pub fn from_toml(text: &str) -> Result<Self, Error> {
        Self::from_value(toml::from_str(text)?)
    }

    fn from_value(value: Value) -> Result<Self, Error> {
        let (value, ignored) = without_removed(value);
        let known = serde_json::to_value(Self::default())?;
        if let Some(unknown) = unknown_key(&value, &known, "") {
            return Err(unknown);
        }
        Ok(Self { ignored, ..given::read(value.clone(), &value)? })
    }

    /// These settings overridden by those of a memory folder's own file, in TOML. A folder may set how its lessons are kept,
    /// found and shown: the sections `learn`, `retention`, `retrieval`, `feedback`, `index`, `matching`, `curation` and
    /// `skills`. It may not set what is trusted, read, run, called or written elsewhere, nor `retrieval.calibration`: these are
    /// set only by the user's settings, the command line and the host.
    ///
    /// # Errors
    /// [`Error::NotForFolder`]; those of [`from_toml`](Self::from_toml).
    pub fn for_folder(&self, text: &str) -> Result<Self, Error> {
        let (own, ignored) = without_removed(toml::from_str(text)?);
        let is_allowed = |key: &&String| FOLDER_SECTIONS.contains(&key.as_str());
        if let Some(key) = own.as_object().and_then(|own| own.keys().find(|key| !is_allowed(key))) {
            return Err(Error::NotForFolder { key: key.clone(), allowed: &FOLDER_SECTIONS });
        }
        if own.pointer(&format!("/{}", USER_ONLY.replace('.', "/"))).is_some() {
            return Err(Error::NotForFolder { key: USER_ONLY.to_owned(), allowed: &FOLDER_SECTIONS });
        }
        let mut settings = serde_json::to_value(self)?;
        if let Some(unknown) = unknown_key(&own, &settings, "") {
            return Err(unknown);
        }
        overlay(&mut settings, own.clone());
        let ignored = self.ignored.iter().cloned().chain(ignored).collect();
        Ok(Self { ignored, ..given::read(settings, &own)? })
    }

    /// True for a section that the settings of a memory's folder may have.
    ///
    /// ```
    /// assert!(adage::Config::is_for_folder("retrieval") && !adage::Config::is_for_folder("capture"));
    /// ```
    #[must_use]
    pub fn is_for_folder(section: &str) -> bool {
        FOLDER_SECTIONS.contains(&section)
    }

    /// Checks every range.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the first setting that is out of range, its value and what it may be.
    pub fn validate(&self) -> Result<(), Error> {
        let Self {
            learn,
            retention,
            retrieval,
            feedback,
            index,
            capture,
            sessions,
            extract,
            matching,
            auto_save,
            curation,
            skills,
            credit,
            store,
            ignored: _,
        } = self;
        learn.validate()?;
        retention.validate()?;
        retrieval.validate()?;
        feedback.validate()?;
        index.validate()?;
        capture.validate()?;
        sessions.validate()?;
        extract.validate()?;
        matching.validate()?;
        curation.validate()?;
        credit.validate()?;
        // Every value of these is valid.
        let AutoSaveConfig { enabled: _, max_per_run: _, require_llm: _ } = auto_save;
        let SkillsConfig { max_auto_load: _ } = skills;
        let StoreConfig { lock_timeout: _, max_file_bytes: _, archive_max_bytes: _, archive_max_age: _ } = store;
        Ok(())
    }
}

/// The settings without those of an earlier version, and the names of these.
fn without_removed(mut settings: Value) -> (Value, Vec<String>) {
    let mut ignored = Vec::new();
    for name in REMOVED {
        let removed = match name.split_once('.') {
            Some((section, key)) => settings.get_mut(section).and_then(|section| section.as_object_mut()?.remove(key)),
            None => settings.as_object_mut().and_then(|settings| settings.remove(name)),
        };
        ignored.extend(removed.map(|_| name.to_owned()));
    }
    (settings, ignored)
}

/// Overrides settings with those of another value.
fn overlay(settings: &mut Value, own: Value) {
    match (settings, own) {
        (Value::Object(settings), Value::Object(own)) => {
            for (key, value) in own {
                overlay(settings.entry(key).or_insert(Value::Null), value);
            }
        }
        (setting, value) => *setting = value,
    }
}

/// The first key of an object or a nested one that is unknown. The keys of `retrieval.calibration` are chosen by the user.
fn unknown_key(value: &Value, known: &Value, path: &str) -> Option<Error> {
    let (Value::Object(value), Value::Object(known)) = (value, known) else { return None };
    if path.strip_suffix('.') == Some(USER_ONLY) {
        return None;
    }
    value.iter().find_map(|(key, value)| match known.get(key) {
        Some(known) => unknown_key(value, known, &format!("{path}{key}.")),
        None => Some(Error::UnknownKey { key: format!("{path}{key}"), known: known.keys().cloned().collect() }),
    })
}
