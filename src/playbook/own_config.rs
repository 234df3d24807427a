//! A folder's own settings.

use super::Playbook;
use crate::config::{Config, Error as ConfigError};
use crate::error::Result;
use crate::folder::{Folder, Name};
use crate::lesson::TextHash;

const CONFIG: &str = "config.toml";
/// Where they were before; read where there are no others.
const EARLIER_CONFIG: &str = "config.json";
/// A longer file is not one of settings.
const MAX_CONFIG: usize = 1 << 16;

/// The settings in a folder.
pub(super) struct OwnConfig {
    pub(super) text: String,
    /// By which they are admitted.
    pub(super) hash: TextHash,
    is_json: bool,
}

impl OwnConfig {
    /// The settings with these on top.
    pub(super) fn on_top_of(&self, config: &Config) -> std::result::Result<Config, ConfigError> {
        config.for_folder(&self.as_toml()?)
    }

    fn as_toml(&self) -> std::result::Result<String, ConfigError> {
        if !self.is_json {
            return Ok(self.text.clone());
        }
        let value: serde_json::Value = serde_json::from_str(&self.text)?;
        toml::to_string(&value).map_err(|error| ConfigError::Json(serde::ser::Error::custom(error)))
    }
}

/// The settings in a folder; none where there are none that can be read.
pub(super) fn own_config(folder: &Folder) -> Option<OwnConfig> {
    let read = |name| folder.files().read_start(name, MAX_CONFIG + 1).ok().filter(|bytes| !bytes.is_empty());
    let now = read(CONFIG);
    let is_json = now.is_none();
    let bytes = now.or_else(|| read(EARLIER_CONFIG)).filter(|bytes| bytes.len() <= MAX_CONFIG)?;
    let hash = hash(&bytes);
    Some(OwnConfig { text: String::from_utf8(bytes).ok()?, hash, is_json })
}

fn hash(bytes: &[u8]) -> TextHash {
    TextHash::of(&[b"config", bytes])
}

impl Playbook {
    /// The folder's own settings as TOML, comments included; none where there are none, or none that the user admitted.
    ///
    /// # Errors
    /// [`Error::Config`](crate::Error::Config) for settings that cannot be read.
    pub fn folder_config(&self) -> Result<Option<String>> {
        let store = &self.0.store;
        let own = own_config(&store.folder).filter(|own| store.guard.admits(|| own.hash));
        Ok(own.map(|own| own.as_toml()).transpose()?)
    }

    /// Makes these the folder's own settings, in TOML. They hold for those that open the folder from now on with
    /// [`with_folder_config`](crate::playbook::PlaybookBuilder::with_folder_config).
    ///
    /// # Errors
    /// [`Error::Config`](crate::Error::Config) for settings that cannot be read, that a folder may not have
    /// ([`Config::for_folder`]) or that are out of range; [`FolderError`](crate::FolderError) when they cannot be written. Nothing
    /// is changed then.
    pub fn set_folder_config(&self, text: &str) -> Result<()> {
        Config::default().for_folder(text)?.validate()?;
        let store = &self.0.store;
        let lock = store.folder.lock()?;
        let files = store.folder.files();
        let temporary = store.folder.write_temporary(CONFIG, text.as_bytes())?;
        // Admitted before it is there: what the user says is never theirs in part.
        store.guard.note(&[hash(text.as_bytes())])?;
        files.rename(&temporary, CONFIG)?;
        files.remove_if_exists(EARLIER_CONFIG)?;
        files.sync_directory(Name::TOP)?;
        drop(lock);
        Ok(())
    }
}
