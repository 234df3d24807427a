//! `adage config`: settings, and where each was set.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use adage::Config;
use adage::redact::{path_line, path_text};
use clap::Subcommand;
use clap_complete::Shell;
use serde_json::{Map, Value as Json, json};
use toml_edit::{DocumentMut, Value};

use crate::care::manual;
use crate::global::Global;
use crate::location::has_memory;
use crate::output::{Output, shortest};
use crate::result::Done;
use crate::settings::{self, Wrong};

#[derive(Subcommand)]
pub(crate) enum ConfigCommand {
    /// Every setting, its value, and where it was set
    List {
        /// Only those that are set somewhere
        #[arg(long)]
        set: bool,
    },
    /// One setting
    Get { key: String },
    /// Set one setting in the memory's config.toml, or in your own: `adage config set retention.capacity 80`
    Set {
        key: String,
        /// The value, as in TOML; anything that is not TOML is a string
        #[arg(allow_negative_numbers = true)]
        value: String,
        /// For all memories, in your own settings
        #[arg(long)]
        user: bool,
    },
    /// Print the completions of a shell: `adage config completions bash > ~/.local/share/bash-completion/completions/adage`
    Completions { shell: Shell },
    /// Write manual pages into a folder, such as `~/.local/share/man/man1`
    Man { folder: PathBuf },
    /// Reset a setting to its default
    Unset {
        key: String,
        /// In your own settings
        #[arg(long)]
        user: bool,
    },
}

/// A setting, its value and its origin.
struct Row {
    key: String,
    value: Json,
    origin: &'static str,
}

pub(crate) fn config(global: &Global, command: Option<ConfigCommand>, out: &mut Output) -> Done {
    match command.unwrap_or(ConfigCommand::List { set: false }) {
        ConfigCommand::List { set } => list(global, set, out),
        ConfigCommand::Get { key } => get(global, &key, out),
        ConfigCommand::Completions { shell } => manual::completions(shell, out),
        ConfigCommand::Man { folder } => manual::man(&folder, out),
        ConfigCommand::Set { key, value, user } => {
            let value = value.parse().unwrap_or_else(|_| Value::from(value));
            change(global, &key, Some(value), user, out)
        }
        ConfigCommand::Unset { key, user } => change(global, &key, None, user, out),
    }
}

fn list(global: &Global, only_set: bool, out: &mut Output) -> Done {
    let rows = rows(global)?.into_iter().filter(|row| !only_set || row.origin != DEFAULT);
    let mut cells = Vec::new();
    for row in rows {
        out.object(&json!({"key": row.key, "value": row.value, "origin": row.origin}))?;
        cells.push(vec![row.key, row.value.to_string(), row.origin.to_owned()]);
    }
    out.table(&["setting", "value", "origin"], cells)?;
    Ok(ExitCode::SUCCESS)
}

fn get(global: &Global, key: &str, out: &mut Output) -> Done {
    let rows = rows(global)?;
    let Some(row) = rows.iter().find(|row| row.key == key) else { return Err(unknown(&rows, key).into()) };
    out.both(&json!({"key": key, "value": row.value, "origin": row.origin}), &row.value.to_string())
}

/// Suggests the settings of the same section, or the sections.
fn unknown(rows: &[Row], key: &str) -> String {
    let section = key.split_once('.').map_or(key, |(section, _)| section);
    let known: Vec<&str> = rows
        .iter()
        .filter_map(|row| row.key.split_once('.').filter(|(of, _)| *of == section).map(|(_, name)| name))
        .collect();
    if known.is_empty() {
        return format!("no setting {key:?}; `adage config` lists them");
    }
    format!("no setting {key:?}; {section} has {}", known.join(", "))
}

const DEFAULT: &str = "default";

/// Every setting in effect. Precedence, lowest first: defaults, the user's settings, the folder's, the command line.
fn rows(global: &Global) -> Result<Vec<Row>, Box<dyn Error>> {
    let (config, own) = if has_memory(global.dir()) {
        let playbook = global.read()?;
        (playbook.config().clone(), playbook.folder_config()?.unwrap_or_default())
    } else {
        (global.user.config.clone(), String::new())
    };
    let set = |text: &str| -> Result<Vec<String>, toml_edit::de::Error> {
        let keys: Map<String, Json> = toml_edit::de::from_str(text)?;
        Ok(flat(&Json::Object(keys)).into_iter().map(|(key, _)| key).collect())
    };
    let (of_user, of_folder) = (set(&global.user.text)?, set(&own)?);
    let on_line = [("retention.capacity", global.capacity.is_some()), ("learn.dedup", global.dedup.is_some())];
    let origin = |key: &str| {
        let has = |keys: &[String]| {
            keys.iter().any(|set| set == key || set.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')))
        };
        match () {
            () if on_line.contains(&(key, true)) => "command line",
            () if has(&of_folder) => "memory",
            () if has(&of_user) => "yours",
            () => DEFAULT,
        }
    };
    let settings = flat(&shortest(json!(config)));
    let mut rows: Vec<Row> =
        settings.into_iter().map(|(key, value)| Row { origin: origin(&key), key, value }).collect();
    let user = &global.user;
    let further = [
        ("agent_sessions", json!(user.agent_sessions.iter().map(path_text).collect::<Vec<_>>())),
        ("extra_skills", json!(user.extra_skills.iter().map(path_text).collect::<Vec<_>>())),
        ("onnxruntime", json!(user.onnxruntime.as_ref().map(path_text))),
        ("trust", json!(user.trust.iter().map(path_text).collect::<Vec<_>>())),
    ];
    rows.extend(further.map(|(key, value)| Row { origin: origin(key), key: key.to_owned(), value }));
    rows.sort_by(|one, other| one.key.cmp(&other.key));
    Ok(rows)
}

/// The leaf values of an object, each with its path of keys. An empty object is a leaf.
fn flat(value: &Json) -> Vec<(String, Json)> {
    let Json::Object(fields) = value else { return Vec::new() };
    let below = |(key, value): (&String, &Json)| match flat(value) {
        inner if inner.is_empty() => vec![(key.clone(), value.clone())],
        inner => inner.into_iter().map(|(path, value)| (format!("{key}.{path}"), value)).collect(),
    };
    fields.iter().flat_map(below).collect()
}

fn change(global: &Global, key: &str, value: Option<Value>, is_users: bool, out: &mut Output) -> Done {
    let keys: Vec<&str> = key.split('.').collect();
    let shown = value.as_ref().map(|value| value.to_string().trim().to_owned());
    let edit = |document: &mut DocumentMut| match value {
        Some(value) => settings::put(document, &keys, value),
        None if settings::take(document, &keys) => Ok(()),
        None => Err(Wrong(format!("{key} is not set there"))),
    };
    let path = if is_users { settings::change(edit)? } else { change_folder(global, edit)? };
    if is_users && shown.is_some() {
        settings::say_if_unused(&path, key);
    }
    let text = match &shown {
        Some(value) => format!("{key} = {value} in {}", path_line(&path)),
        None => format!("{key} has its default again in {}", path_line(&path)),
    };
    out.both(&json!({"key": key, "value": shown, "file": path_text(path)}), &text)
}

/// Changes the settings of the memory's folder. Returns their file.
fn change_folder(
    global: &Global,
    edit: impl FnOnce(&mut DocumentMut) -> Result<(), Wrong>,
) -> Result<PathBuf, Box<dyn Error>> {
    if !has_memory(global.dir()) {
        let dir = path_line(global.dir());
        return Err(
            format!("{dir} is not a memory yet: `adage init` makes one; --user sets it for all of yours").into()
        );
    }
    let playbook = global.open()?;
    let path = playbook.folder().join("config.toml");
    let text = settings::edited(&playbook.folder_config()?.unwrap_or_default(), edit)?;
    let config = Config::default().for_folder(&text)?;
    config.validate()?;
    // Another setting does not change what is archived.
    if config.retention.capacity < playbook.config().retention.capacity {
        global.check_capacity(&playbook, config.retention.capacity)?;
    }
    playbook.set_folder_config(&text)?;
    Ok(path)
}
