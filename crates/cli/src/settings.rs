//! The user's settings: `config.json` in the folder `adage` of `XDG_CONFIG_HOME`, else of `~/.config`; on Windows of `APPDATA`.
//!
//! Next to the sections of the library, which a folder's own `config.json` may have too, it says what only the user may: the ONNX
//! Runtime library to load, further folders of skills, and folders to trust.

use std::fs;
use std::path::{Path, PathBuf};

use adage::Config;
use serde_json::{Map, Value};

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
    Io { path: PathBuf, source: std::io::Error },
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
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(UserSettings::default()),
        about => about.map_err(|source| SettingsError::Io { path: path.clone(), source })?,
    };
    if !about.is_file() || about.len() > MAX_FILE {
        let found = if about.is_file() { format!("{} bytes long", about.len()) } else { "not a file".to_owned() };
        return Err(SettingsError::NotAFile { path, found });
    }
    let text = fs::read_to_string(&path).map_err(|source| SettingsError::Io { path: path.clone(), source })?;
    parse(&text, &path)
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
        check(r#"{"urls": 1}"#, Err("/home/config.json: no setting \"urls\""));
    }
}
