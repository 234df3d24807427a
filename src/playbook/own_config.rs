//! A folder's own settings, `config.toml`.

use super::Playbook;
use crate::config::{Config, Error as ConfigError};
use crate::error::Result;
use crate::folder::{Folder, Name};
use crate::lesson::TextHash;

const CONFIG: &str = "config.toml";
/// The name in earlier versions; read if there is no `config.toml`.
const EARLIER_CONFIG: &str = "config.json";
/// The largest size of a settings file, in bytes.
const MAX_CONFIG: usize = 1 << 16;

/// A folder's settings file.
pub(super) struct OwnConfig {
    pub(super) text: String,
    /// The hash by which the file is admitted.
    pub(super) hash: TextHash,
    is_json: bool,
}

impl OwnConfig {
    /// The given settings with the folder's own on top.
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

/// The folder's settings file; none if there is none that can be read.
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
    /// The folder's own settings as TOML, with comments; none if there are none or the user has not admitted them.
    ///
    /// # Errors
    /// [`Error::Config`](crate::Error::Config) for settings that cannot be read.
    pub fn folder_config(&self) -> Result<Option<String>> {
        let store = &self.shared.store;
        let own = own_config(&store.folder).filter(|own| store.guard.admits(|| own.hash));
        Ok(own.map(|own| own.as_toml()).transpose()?)
    }

    /// Replaces the folder's own settings. The text is TOML. They apply to handles that are opened from now on with
    /// [`with_folder_config`](crate::playbook::PlaybookBuilder::with_folder_config).
    ///
    /// # Errors
    /// [`Error::Config`](crate::Error::Config) for a text that cannot be parsed, a setting that a folder may not have
    /// ([`Config::for_folder`]) or one out of range; [`FolderError`](crate::FolderError) when the file cannot be written.
    /// Nothing is changed in these cases.
    pub fn set_folder_config(&self, text: &str) -> Result<()> {
        Config::default().for_folder(text)?.validate()?;
        let store = &self.shared.store;
        let lock = store.folder.lock()?;
        let files = store.folder.files();
        let temporary = store.folder.write_temporary(CONFIG, text.as_bytes())?;
        // Admitted before it is written, so that the user's own text is never treated as another's.
        store.guard.note(&[hash(text.as_bytes())])?;
        files.rename(&temporary, CONFIG)?;
        files.remove_if_exists(EARLIER_CONFIG)?;
        files.sync_directory(Name::TOP)?;
        drop(lock);
        Ok(())
    }
}
