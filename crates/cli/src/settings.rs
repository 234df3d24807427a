//! The user's settings: `config.toml` in the folder `adage` of `XDG_CONFIG_HOME`, otherwise of `~/.config`; on Windows of
//! `APPDATA`.
//!
//! Besides the library's sections, which a folder's own `config.toml` may contain too, it has settings that only the user may
//! set: the ONNX Runtime library, further folders of skills, folders of
//! sessions, and trusted folders.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use adage::Config;
use adage::redact::path_line;
use serde_json::{Map, Value as Json};
use toml_edit::{DocumentMut, Item, Table, TableLike, TomlError, Value};

use adage::trust::Tracking;

use crate::output::say;
use crate::team::repository::Repository;
use crate::team::tracked::tracking;
use crate::team::writers::other_writers;
use crate::user_state::make_private;

/// The maximum size of a settings file.
const MAX_FILE: u64 = 1 << 20;

/// The extension of the JSON file of earlier versions; read if there is no TOML file.
const EARLIER: &str = "json";

/// The user's settings.
#[derive(Clone, Debug, Default)]
pub(crate) struct UserSettings {
    /// Their text, in TOML.
    pub(crate) text: String,
    pub(crate) config: Config,
    /// The ONNX Runtime library, unless a flag or the environment names one.
    pub(crate) onnxruntime: Option<PathBuf>,
    /// Further folders of skills.
    pub(crate) extra_skills: Vec<PathBuf>,
    /// The trusted folders.
    pub(crate) trust: Vec<PathBuf>,
    /// Further folders in which agents keep the user's sessions.
    pub(crate) agent_sessions: Vec<PathBuf>,
}

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettingsError {
    #[error("could not read {}", path_line(path))]
    Io { path: PathBuf, source: io::Error },
    #[error("could not write {}", path_line(path))]
    Write { path: PathBuf, source: io::Error },
    #[error("there is no place for settings: the environment names no home folder")]
    NoPlace,
    #[error("{} is {found}, it must be a file of at most {MAX_FILE} bytes", path_line(path))]
    NotAFile { path: PathBuf, found: String },
    #[error(
        "{} is not used, because others may have written it: {fault}; if all in it is yours, chmod go-w and chown it",
        path_line(path)
    )]
    OtherWriters { path: PathBuf, fault: String },
    #[error("{}: {key} must be {expected}", path_line(path))]
    Value { path: PathBuf, key: &'static str, expected: &'static str },
    #[error("{}", path_line(path))]
    Edit { path: PathBuf, source: Wrong },
    #[error("{}", path_line(path))]
    Config { path: PathBuf, source: adage::config::Error },
}

/// What is wrong in a settings file.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Wrong(pub(crate) String);

/// Reads the settings; without a file, the defaults.
pub(crate) fn read() -> Result<UserSettings, SettingsError> {
    let Some(path) = path() else { return Ok(UserSettings::default()) };
    let text = text_of(&path)?;
    let settings = parse(&text, &path)?;
    // Where the file comes from matters only for what a folder may not set: finding out reads git's index.
    let (has_others, kept) = harmless(&text, &path)?;
    let Some(fault) = Some(&path).filter(|_| has_others).and_then(|path| clone_fault(path)) else {
        return Ok(settings);
    };
    say(&format!(
        "{} {fault}, so a clone may have brought it: of its settings, only those that a memory's own config.toml may have are used; \
         for the others, {}",
        path_line(path),
        fault.remedy()
    ));
    Ok(kept)
}

/// Says so if a setting that was just written is not used.
pub(crate) fn say_if_unused(path: &Path, key: &str) {
    let section = key.split('.').next().unwrap_or_default();
    let is_the_users = !Config::is_for_folder(section) || key.starts_with("retrieval.calibration");
    if let Some(fault) = Some(path).filter(|_| is_the_users).and_then(clone_fault) {
        say(&format!("{key} is not used: {} {fault}; {}", path_line(path), fault.remedy()));
    }
}

/// Why a settings file may be what a repository brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CloneFault {
    InWorkTree,
    Tracked,
}

impl CloneFault {
    /// What the user does, so that all settings are used.
    fn remedy(self) -> &'static str {
        match self {
            Self::InWorkTree => "run adage outside of it, or have XDG_CONFIG_HOME name a folder outside of it",
            Self::Tracked => "put a file there that is neither tracked nor a link to one that is",
        }
    }
}

impl fmt::Display for CloneFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InWorkTree => "is in the work tree of this repository",
            Self::Tracked => "is tracked by version control",
        })
    }
}

/// Why a settings file may be what a repository brought: its environment can name any file as the user's.
fn clone_fault(path: &Path) -> Option<CloneFault> {
    let found = path.canonicalize().or_else(|_| path.with_extension(EARLIER).canonicalize());
    let places = [Some(path.to_path_buf()), found.ok()];
    let here = std::env::current_dir().ok().and_then(|here| Repository::around(&here.canonicalize().ok()?));
    places.iter().flatten().find_map(|path| {
        let is_within = |repository: &Repository| path.starts_with(repository.root());
        if here.as_ref().is_some_and(is_within) {
            return Some(CloneFault::InWorkTree);
        }
        (tracking(path.parent()?) != Tracking::Untracked).then_some(CloneFault::Tracked)
    })
}

/// The settings without what a folder may not set, and whether there was any of it.
fn harmless(text: &str, path: &Path) -> Result<(bool, UserSettings), SettingsError> {
    let mut has_others = false;
    let kept = edited(text, |document| {
        let others: Vec<String> =
            document.iter().map(|(key, _)| key.to_owned()).filter(|key| !Config::is_for_folder(key)).collect();
        for key in &others {
            has_others |= document.remove(key).is_some();
        }
        has_others |= take(document, &["retrieval", "calibration"]);
        Ok(())
    });
    let kept = kept.map_err(|source| SettingsError::Edit { path: path.to_path_buf(), source })?;
    Ok((has_others, parse(&kept, path)?))
}

/// Changes the settings file; its comments and order are kept. Returns its path. If the result is invalid, nothing is written.
pub(crate) fn change(change: impl FnOnce(&mut DocumentMut) -> Result<(), Wrong>) -> Result<PathBuf, SettingsError> {
    let path = path().ok_or(SettingsError::NoPlace)?;
    let text = changed(&text_of(&path)?, &path, change)?;
    // A link to another file is kept.
    let file = path.canonicalize().unwrap_or_else(|_| path.clone());
    replace(&file, &text).map_err(|source| SettingsError::Write { path: path.clone(), source })?;
    Ok(path)
}

fn changed(
    text: &str,
    path: &Path,
    change: impl FnOnce(&mut DocumentMut) -> Result<(), Wrong>,
) -> Result<String, SettingsError> {
    let text = edited(text, change).map_err(|source| SettingsError::Edit { path: path.to_path_buf(), source })?;
    parse(&text, path)?
        .config
        .validate()
        .map_err(|source| SettingsError::Config { path: path.to_path_buf(), source })?;
    Ok(text)
}

/// The changed TOML text.
pub(crate) fn edited(text: &str, change: impl FnOnce(&mut DocumentMut) -> Result<(), Wrong>) -> Result<String, Wrong> {
    let mut document: DocumentMut = text.parse().map_err(|error: TomlError| Wrong(error.to_string()))?;
    change(&mut document)?;
    Ok(document.to_string())
}

/// Sets a value at a path of keys; missing tables are created.
pub(crate) fn put(document: &mut DocumentMut, keys: &[&str], value: Value) -> Result<(), Wrong> {
    let Some((last, sections)) = keys.split_last() else { return Ok(()) };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for section in sections {
        let inner = table.entry(section).or_insert_with(|| {
            let mut made = Table::new();
            made.set_implicit(true);
            Item::Table(made)
        });
        table = inner.as_table_like_mut().ok_or_else(|| Wrong(format!("{section} is not a table")))?;
    }
    table.insert(last, Item::Value(value));
    Ok(())
}

/// Removes a value; true if it existed.
pub(crate) fn take(document: &mut DocumentMut, keys: &[&str]) -> bool {
    let Some((last, sections)) = keys.split_last() else { return false };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for section in sections {
        let Some(inner) = table.get_mut(section).and_then(Item::as_table_like_mut) else { return false };
        table = inner;
    }
    table.remove(last).is_some()
}

/// The settings as TOML; empty if there is no file.
fn text_of(path: &Path) -> Result<String, SettingsError> {
    if let Some(text) = file_text(path)? {
        return Ok(text);
    }
    let earlier = path.with_extension(EARLIER);
    let Some(text) = file_text(&earlier)? else { return Ok(String::new()) };
    let config = |source: serde_json::Error| SettingsError::Config { path: earlier.clone(), source: source.into() };
    let value: serde_json::Value = serde_json::from_str(&text).map_err(config)?;
    toml_edit::ser::to_string_pretty(&value).map_err(|error| config(serde::ser::Error::custom(error)))
}

fn file_text(path: &Path) -> Result<Option<String>, SettingsError> {
    let about = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        about => about.map_err(|source| SettingsError::Io { path: path.to_path_buf(), source })?,
    };
    if !about.is_file() || about.len() > MAX_FILE {
        let found = if about.is_file() { format!("{} bytes long", about.len()) } else { "not a file".to_owned() };
        return Err(SettingsError::NotAFile { path: path.to_path_buf(), found });
    }
    if let Some(fault) = other_writers(path) {
        return Err(SettingsError::OtherWriters { path: path.to_path_buf(), fault });
    }
    fs::read_to_string(path).map(Some).map_err(|source| SettingsError::Io { path: path.to_path_buf(), source })
}

/// Writes a file completely or not at all, and keeps its permissions.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    make_private(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    if let Ok(known) = fs::metadata(path) {
        file.as_file().set_permissions(known.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

fn path() -> Option<PathBuf> {
    let of_user = if cfg!(windows) { "APPDATA" } else { "XDG_CONFIG_HOME" };
    #[expect(
        clippy::disallowed_methods,
        reason = "the library reads no environment; this is the program's own setting"
    )]
    let named = std::env::var_os(of_user).map(PathBuf::from);
    let in_home = || std::env::home_dir().map(|home| home.join(".config"));
    let parent = named.filter(|path| path.is_absolute()).or_else(in_home).filter(|path| path.is_absolute())?;
    Some(parent.join("adage").join("config.toml"))
}

fn parse(text: &str, path: &Path) -> Result<UserSettings, SettingsError> {
    let config = |source| SettingsError::Config { path: path.to_path_buf(), source };
    let toml = |error: toml_edit::de::Error| SettingsError::Edit {
        path: path.to_path_buf(),
        source: Wrong(error.to_string()),
    };
    let mut keys: Map<String, Json> = toml_edit::de::from_str(text).map_err(toml)?;
    let mut folders = |key: &'static str| match keys.remove(key) {
        None => Ok(Vec::new()),
        Some(Json::Array(paths)) => paths.iter().map(absolute).collect::<Option<Vec<_>>>().ok_or(key),
        Some(_) => Err(key),
    };
    let lists = [folders("extra_skills"), folders("trust"), folders("agent_sessions")];
    let library = keys.remove("onnxruntime").map(|value| absolute(&value).ok_or("onnxruntime")).transpose();
    let [extra_skills, trust, agent_sessions] = lists.map(|list| {
        list.map_err(|key| SettingsError::Value { path: path.to_path_buf(), key, expected: "a list of absolute paths" })
    });
    let onnxruntime =
        library.map_err(|key| SettingsError::Value { path: path.to_path_buf(), key, expected: "an absolute path" })?;
    let config = Config::from_json(&Json::Object(keys).to_string()).map_err(config)?;
    Ok(UserSettings {
        text: text.to_owned(),
        config,
        onnxruntime,
        extra_skills: extra_skills?,
        trust: trust?,
        agent_sessions: agent_sessions?,
    })
}

fn absolute(value: &Json) -> Option<PathBuf> {
    value.as_str().map(PathBuf::from).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use adage::config::CalibrationFit;

    use super::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        let read = parse(text, Path::new("/home/config.toml"));
        let said = read.map(|read| {
            format!(
                "{} {:?} {:?} {:?}",
                read.config.retention.capacity, read.onnxruntime, read.extra_skills, read.trust
            )
        });
        match (said, expected) {
            (Ok(said), Ok(expected)) => assert_eq!(said, expected),
            (Err(error), Err(expected)) => {
                let said = crate::result::chain(&error);
                assert!(said.starts_with(expected), "{said}");
            }
            (said, expected) => panic!("{said:?}, not {expected:?}"),
        }
    }

    #[test]
    #[cfg(unix)]
    fn the_user_may_set_more_than_a_folder() {
        check("", Ok("50 None [] []"));
        check("trust = ['/a']\n[retention]\ncapacity = 7", Ok(r#"7 None [] ["/a"]"#));
        check("onnxruntime = '/l.so'\nextra_skills = ['/s']", Ok(r#"50 Some("/l.so") ["/s"] []"#));
        check("agent_sessions = ['a']", Err("/home/config.toml: agent_sessions must be a list of absolute paths"));
        check("trust = 'all'", Err("/home/config.toml: trust must be a list of absolute paths"));
        check("trust = ['a']", Err("/home/config.toml: trust must be a list of absolute paths"));
        check("onnxruntime = 'l.so'", Err("/home/config.toml: onnxruntime must be an absolute path"));
        check("urls = 1", Err("/home/config.toml: no setting \"urls\""));
        check("urls = ", Err("/home/config.toml: TOML parse error at line 1, column 8"));
    }

    #[test]
    #[cfg(unix)]
    fn settings_of_a_clone_set_nothing_that_a_folder_may_not() {
        for (text, is_harmful) in [
            ("retention.capacity = 7", false),
            ("trust = ['/a']\nretention.capacity = 7", true),
            ("retention.capacity = 7\nonnxruntime = '/l.so'", true),
            ("retention.capacity = 7\nextra_skills = ['/s']", true),
            ("retention.capacity = 7\n[retrieval.calibration.words]\nscale = 0.4\noffset = 1.0\nn_pairs = 40", true),
            ("retention.capacity = 7\n[capture]\n", true),
        ] {
            let (was_harmful, kept) = harmless(text, Path::new("/c")).unwrap();
            assert_eq!((was_harmful, kept.config.retention.capacity), (is_harmful, 7), "{text}");
            assert!(kept.trust.is_empty() && kept.extra_skills.is_empty() && kept.onnxruntime.is_none(), "{text}");
            assert!(kept.config.retrieval.calibration.is_empty(), "{text}");
        }
    }

    #[test]
    fn a_change_keeps_the_rest_and_is_checked() {
        let known = "# mine\nretrieval.limit = 3 # few\n\n[retention]\ncapacity = 7\n";
        let path = Path::new("c");
        let fit = CalibrationFit { scale: 0.4, offset: 1.0, n_pairs: 40 };
        let value: Value = "{ scale = 0.4, offset = 1.0, n_pairs = 40 }".parse().unwrap();
        let kept =
            changed(known, path, |document| put(document, &["retrieval", "calibration", "words"], value)).unwrap();
        assert!(kept.starts_with("# mine\nretrieval.limit = 3 # few\n"), "{kept}");
        let config = parse(&kept, path).unwrap().config;
        assert_eq!((config.retrieval.limit, config.retention.capacity), (3, 7));
        assert_eq!(config.retrieval.calibration.get("words"), Some(&fit));
        let back = changed(&kept, path, |document| {
            assert!(take(document, &["retrieval", "calibration", "words"]));
            assert!(!take(document, &["retrieval", "none"]) && !take(document, &["none", "none"]));
            Ok(())
        });
        assert!(parse(&back.unwrap(), path).unwrap().config.retrieval.calibration.is_empty());
        for (keys, value) in [(["retention", "capacity"], 0), (["retention", "size"], 1), (["urls", "x"], 1)] {
            assert!(changed(known, path, |document| put(document, &keys, value.into())).is_err(), "{keys:?}");
        }
        assert!(
            changed("retention = 1", path, |document| put(document, &["retention", "capacity"], 1.into())).is_err()
        );
    }
}
