//! `adage init`: creates the memory, and writes hooks and the MCP server into the settings of agents.

mod entries;
mod json;
mod target;
mod toml;

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use adage::redact::{mask, path_line, path_text};
use clap::Args;
use serde_json::json;

use crate::choice::choice;
use crate::global::Global;
use crate::location::env_path;
use crate::output::{Output, say};
use crate::own_program;
use crate::result::{Done, exit_code};
use crate::team::repository::{exists, is_real_folder};
use crate::team::trust;
use entries::Entries;
use json::{Fault, Foreign};
use target::{InitAgent, files};

/// The maximum size of a settings file.
const MAX_FILE: u64 = 4 << 20;

#[derive(Args)]
pub(crate) struct Init {
    /// For a team: the folder may be committed to a repository
    #[arg(long)]
    shared: bool,
    /// Write hooks and the MCP server into this agent's settings; may be repeated
    #[arg(long = "for", value_name = "AGENT", value_parser = choice(InitAgent::ALL))]
    agents: Vec<InitAgent>,
    /// Only print what would be written
    #[arg(long, requires = "agents")]
    dry_run: bool,
    /// Remove the entries from the agent's settings again; the memory is kept
    #[arg(long, requires = "agents")]
    uninstall: bool,
}

/// The change of one file.
enum Edit {
    Json(Entries),
    /// The MCP server, in Codex's format. It runs this program.
    Toml(String),
}

/// A settings file of an agent.
struct Settings {
    path: PathBuf,
    /// The repository; a link must not lead out of it.
    within: PathBuf,
    edit: Edit,
}

pub(crate) fn init(global: &Global, asked: &Init, out: &mut Output) -> Done {
    if !asked.dry_run && !asked.uninstall {
        trust::init(global, asked.shared, out)?;
    }
    let root = project_root(global)?;
    let program = program()?;
    let mut is_done = true;
    for agent in &asked.agents {
        if let Some(steps) = agent.by_hand(&program) {
            say(&steps);
        }
        for settings in files(*agent, &root, &program)? {
            let done = if asked.uninstall { settings.uninstall() } else { settings.install(asked.dry_run) };
            let done =
                done.map_err(|fault| format!("{}: {fault}; nothing was changed in it", path_line(&settings.path)))?;
            let what = if asked.dry_run { format!("would be {}", done.what) } else { done.what.to_owned() };
            let foreign = || done.foreign.servers.iter().chain(&done.foreign.hooks).map(|entry| mask(entry).text);
            let object = json!({
                "file": path_text(&settings.path), "done": what, "added": done.added,
                "foreign": foreign().collect::<Vec<_>>(),
            });
            out.object(&object)?;
            out.line(&format!("{}: {what}", path_line(&settings.path)))?;
            if asked.dry_run {
                done.added.iter().try_for_each(|line| out.line(&format!("  {line}")))?;
            }
            for entry in foreign() {
                say(&format!("{}: {FOREIGN}: {entry}", path_line(&settings.path)));
            }
            is_done &= done.foreign.servers.is_empty() || asked.uninstall;
        }
    }
    Ok(exit_code(is_done))
}

/// An entry that whoever reads the settings may take for one of adage.
const FOREIGN: &str = "adage did not write this entry and leaves it as it is; remove it unless it is yours";

/// The project whose agents are set up: the folder that contains the memory.
fn project_root(global: &Global) -> Result<PathBuf, Box<dyn Error>> {
    Ok(match &global.location.project {
        Some(root) => root.clone(),
        None => std::env::current_dir()?.canonicalize()?,
    })
}

fn quoted(path: &str) -> String {
    shlex::try_quote(path).map_or_else(|_| path.to_owned(), std::borrow::Cow::into_owned)
}

/// How agents call this program: by its name, if that runs this file.
fn program() -> Result<String, String> {
    let own = own_program::path().and_then(|path| path.canonicalize()).ok();
    let paths = env_path("PATH").map(|paths| std::env::split_paths(&paths).collect::<Vec<_>>()).unwrap_or_default();
    let found = paths.iter().find_map(|folder| folder.join("adage").canonicalize().ok());
    match own {
        Some(own) if found.as_ref() != Some(&own) => {
            own.to_str().map(quoted).ok_or_else(|| format!("{} is not UTF-8", path_line(&own)))
        }
        _ => Ok("adage".to_owned()),
    }
}

/// The result for one file.
struct Outcome {
    what: &'static str,
    /// The lines that are new in the file.
    added: Vec<String>,
    foreign: Foreign,
}

impl Settings {
    fn install(&self, is_dry: bool) -> Result<Outcome, Fault> {
        let before = self.read()?;
        let text = before.clone().unwrap_or_default();
        let after = self.with(&text)?;
        let foreign = self.foreign(&text)?;
        if before.as_deref() == Some(after.as_str()) {
            let is_refused = !foreign.servers.is_empty();
            let what = if is_refused {
                "unchanged: it has another server of this name"
            } else {
                "unchanged: it has the entries"
            };
            return Ok(Outcome { what, added: Vec::new(), foreign });
        }
        let added = after.lines().filter(|line| !text.lines().any(|known| known == *line)).map(str::to_owned).collect();
        if !is_dry {
            // The file has no entry of adage.
            if before.is_some() && self.without(&text)? == text {
                replace_as(&self.backup(), &text, &self.path)?;
            }
            replace(&self.path, &after)?;
        }
        Ok(Outcome {
            what: if before.is_some() { "changed; a backup is beside it" } else { "created" },
            added,
            foreign,
        })
    }

    fn uninstall(&self) -> Result<Outcome, Fault> {
        let text = self.read()?;
        let foreign = text.as_deref().map(|text| self.foreign(text)).transpose()?.unwrap_or_default();
        let outcome = |what| Ok(Outcome { what, added: Vec::new(), foreign });
        let Some(text) = text else { return outcome("unchanged: it does not exist") };
        let backup = read(&self.backup())?;
        let is_ours_alone = |before: &str| self.with(before).is_ok_and(|after| after == text);
        if let Some(before) = backup.as_deref().filter(|before| is_ours_alone(before)) {
            replace(&self.path, before)?;
        } else if backup.is_none() && is_ours_alone("") {
            remove(&self.path)?;
            return outcome("removed: there was nothing else in it");
        } else {
            let after = self.without(&text)?;
            if after == text {
                return outcome("unchanged: it has no entries of adage");
            }
            replace(&self.path, &after)?;
        }
        if backup.is_some() {
            remove(&self.backup())?;
        }
        outcome("restored")
    }

    fn with(&self, text: &str) -> Result<String, Fault> {
        match &self.edit {
            Edit::Json(entries) => json::with_entries(text, entries),
            Edit::Toml(program) => toml::with_server(text, &entries::unquoted(program)),
        }
    }

    fn foreign(&self, text: &str) -> Result<Foreign, Fault> {
        match &self.edit {
            Edit::Json(entries) => json::foreign(text, entries),
            Edit::Toml(_) => {
                let servers = toml::foreign_server(text)?.into_iter().collect();
                Ok(Foreign { servers, ..Foreign::default() })
            }
        }
    }

    fn without(&self, text: &str) -> Result<String, Fault> {
        match &self.edit {
            Edit::Json(entries) => json::without_entries(text, entries),
            Edit::Toml(_) => toml::without_server(text),
        }
    }

    fn backup(&self) -> PathBuf {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(".before-adage");
        self.path.with_file_name(name)
    }

    /// The text of the file, if it exists. A repository may contain a link in its place or on the way to it.
    fn read(&self) -> Result<Option<String>, Fault> {
        let folder = self.path.parent().unwrap_or(&self.within);
        let is_way_clear = folder == self.within || !exists(folder) || is_real_folder(folder);
        if !is_way_clear {
            return Err(format!("{} is a link", path_line(folder)));
        }
        read(&self.path)
    }
}

fn read(path: &Path) -> Result<Option<String>, Fault> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
        Ok(about) if !about.is_file() => Err("it is a link, or no file".to_owned()),
        Ok(about) if about.len() > MAX_FILE => Err(format!("it is longer than {MAX_FILE} bytes")),
        Ok(_) => fs::read_to_string(path).map(Some).map_err(|error| error.to_string()),
    }
}

/// Writes a file completely or not at all, and keeps its permissions.
fn replace(path: &Path, text: &str) -> Result<(), Fault> {
    replace_as(path, text, path)
}

/// Writes a file completely or not at all, with the permissions of another one, so that a copy is not readable by more people.
fn replace_as(path: &Path, text: &str, model: &Path) -> Result<(), Fault> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let write = || {
        fs::create_dir_all(folder)?;
        let mut file = tempfile::Builder::new().prefix(".adage-").tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        let known = fs::symlink_metadata(model).ok().filter(fs::Metadata::is_file);
        match known {
            Some(known) => file.as_file().set_permissions(known.permissions())?,
            None => make_readable(file.as_file())?,
        }
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok::<(), io::Error>(())
    };
    write().map_err(|error| error.to_string())
}

/// A new settings file is readable by everyone who uses the project, as if an editor had created it.
fn make_readable(file: &fs::File) -> io::Result<()> {
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

fn remove(path: &Path) -> Result<(), Fault> {
    #[expect(clippy::disallowed_methods, reason = "a settings file, not a file of a memory")]
    fs::remove_file(path).map_err(|error| error.to_string())
}
