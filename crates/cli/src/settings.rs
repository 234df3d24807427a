//! The user's settings: `config.json` in the folder `adage` of `XDG_CONFIG_HOME`, else of `~/.config`; on Windows of `APPDATA`.
//!
//! Next to the sections of the library, which a folder's own `config.json` may have too, it says what only the user may: the ONNX
//! Runtime library to load, further folders of skills, and folders to trust.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use adage::Config;
use adage::config::CalibrationFit;
use serde_json::{Map, Value, json};

/// A file that is longer is not one of settings.
const MAX_FILE: u64 = 1 << 20;

/// What the user has set.
#[derive(Clone, Debug, Default)]
pub(crate) struct UserSettings {
    pub(crate) config: Config,
    /// The ONNX Runtime library, unless a flag or the environment names one.
    pub(crate) onnxruntime: Option<PathBuf>,
    /// Further folders of skills.
    pub(crate) extra_skills: Vec<PathBuf>,
    /// Folders that are trusted.
    pub(crate) trust: Vec<PathBuf>,
}

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettingsError {
    #[error("could not read {}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("could not write {}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("there is no place for settings: the environment names no home folder")]
    NoPlace,
    #[error("{} is {found}, it must be a file of at most {MAX_FILE} bytes", path.display())]
    NotAFile { path: PathBuf, found: String },
    #[error("{}: {key} must be {expected}", path.display())]
    Value { path: PathBuf, key: &'static str, expected: &'static str },
    #[error("{}", path.display())]
    Config { path: PathBuf, source: adage::config::Error },
}

/// Reads them; without a file they are the default ones.
pub(crate) fn read() -> Result<UserSettings, SettingsError> {
    let Some(path) = path() else { return Ok(UserSettings::default()) };
    let about = match fs::metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(UserSettings::default()),
        about => about.map_err(|source| SettingsError::Io { path: path.clone(), source })?,
    };
    if !about.is_file() || about.len() > MAX_FILE {
        let found = if about.is_file() { format!("{} bytes long", about.len()) } else { "not a file".to_owned() };
        return Err(SettingsError::NotAFile { path, found });
    }
    let text = fs::read_to_string(&path).map_err(|source| SettingsError::Io { path: path.clone(), source })?;
    parse(&text, &path)
}

/// Puts a fit of the gate among the settings, which otherwise stay as they are; the file's path.
pub(crate) fn keep_calibration(embedder: &str, fit: CalibrationFit) -> Result<PathBuf, SettingsError> {
    let path = path().ok_or(SettingsError::NoPlace)?;
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => "{}".to_owned(),
        text => text.map_err(|source| SettingsError::Io { path: path.clone(), source })?,
    };
    let text = with_calibration(&text, &path, embedder, fit)?;
    // A link to a file elsewhere stays one.
    let file = path.canonicalize().unwrap_or_else(|_| path.clone());
    replace(&file, &text).map_err(|source| SettingsError::Write { path: path.clone(), source })?;
    Ok(path)
}

/// The settings with this fit, checked.
fn with_calibration(text: &str, path: &Path, embedder: &str, fit: CalibrationFit) -> Result<String, SettingsError> {
    parse(text, path)?;
    let config = |source: serde_json::Error| SettingsError::Config { path: path.to_path_buf(), source: source.into() };
    let mut keys: Map<String, Value> = serde_json::from_str(text).map_err(config)?;
    let mut retrieval = section(&mut keys, "retrieval");
    let mut fits = section(&mut retrieval, "calibration");
    fits.insert(embedder.to_owned(), json!(fit));
    retrieval.insert("calibration".to_owned(), Value::Object(fits));
    keys.insert("retrieval".to_owned(), Value::Object(retrieval));
    let text = serde_json::to_string_pretty(&keys).map_err(config)? + "\n";
    parse(&text, path)?;
    Ok(text)
}

/// Takes an object out of another one; an empty one where there is none.
fn section(keys: &mut Map<String, Value>, key: &str) -> Map<String, Value> {
    if let Some(Value::Object(section)) = keys.remove(key) { section } else { Map::new() }
}

/// Writes a file whole or not at all, with the permissions that it has.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
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
    Some(parent.join("adage").join("config.json"))
}

fn parse(text: &str, path: &Path) -> Result<UserSettings, SettingsError> {
    let config = |source| SettingsError::Config { path: path.to_path_buf(), source };
    let mut keys: Map<String, Value> = serde_json::from_str(text).map_err(|error| config(error.into()))?;
    let mut folders = |key: &'static str| match keys.remove(key) {
        None => Ok(Vec::new()),
        Some(Value::Array(paths)) => paths.iter().map(absolute).collect::<Option<Vec<_>>>().ok_or(key),
        Some(_) => Err(key),
    };
    let lists = [folders("extra_skills"), folders("trust")];
    let library = keys.remove("onnxruntime").map(|value| absolute(&value).ok_or("onnxruntime")).transpose();
    let [extra_skills, trust] = lists.map(|list| {
        list.map_err(|key| SettingsError::Value { path: path.to_path_buf(), key, expected: "a list of absolute paths" })
    });
    let onnxruntime =
        library.map_err(|key| SettingsError::Value { path: path.to_path_buf(), key, expected: "an absolute path" })?;
    let config = Config::from_json(&Value::Object(keys).to_string()).map_err(config)?;
    Ok(UserSettings { config, onnxruntime, extra_skills: extra_skills?, trust: trust? })
}

fn absolute(value: &Value) -> Option<PathBuf> {
    value.as_str().map(PathBuf::from).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        let read = parse(text, Path::new("/home/config.json"));
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
    fn the_user_sets_what_a_folder_may_not() {
        check("{}", Ok("50 None [] []"));
        check(r#"{"retention": {"capacity": 7}, "trust": ["/a"]}"#, Ok(r#"7 None [] ["/a"]"#));
        check(r#"{"onnxruntime": "/l.so", "extra_skills": ["/s"]}"#, Ok(r#"50 Some("/l.so") ["/s"] []"#));
        check(r#"{"trust": "all"}"#, Err("/home/config.json: trust must be a list of absolute paths"));
        check(r#"{"trust": ["a"]}"#, Err("/home/config.json: trust must be a list of absolute paths"));
        check(r#"{"onnxruntime": "l.so"}"#, Err("/home/config.json: onnxruntime must be an absolute path"));
        let fit = CalibrationFit { scale: 0.5, offset: 1.0, n_pairs: 40 };
        let known = r#"{"trust": ["/a"], "retrieval": {"limit": 3, "calibration": {"words": null}}}"#;
        let kept =
            with_calibration(r#"{"trust": ["/a"], "retrieval": {"limit": 3}}"#, Path::new("c"), "words", fit).unwrap();
        check(&kept, Ok(r#"50 None [] ["/a"]"#));
        assert_eq!(parse(&kept, Path::new("c")).unwrap().config.retrieval.limit, 3);
        assert!(with_calibration(known, Path::new("c"), "words", fit).is_err());
        check(r#"{"urls": 1}"#, Err("/home/config.json: no setting \"urls\""));
    }
}
