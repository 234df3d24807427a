//! Locates the memory: named by the user, found in the repository, or the user's global one.

use std::fs;
use std::path::{Path, PathBuf};

use adage::redact::{path_line, path_text};

use crate::team::repository::{NAME, Repository, exists, is_memory, is_real_folder};

/// The environment variable that names a folder.
pub(crate) const VARIABLE: &str = "ADAGE_DIR";

/// How the folder was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Named by `--dir` or `ADAGE_DIR`.
    #[default]
    Named,
    /// The memory of the repository.
    Repository,
    /// The memory of a folder outside any repository, where `adage init` was called.
    Folder,
    /// The user's global memory.
    User,
}

/// The folders that a command uses.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryLocation {
    /// The folder that is read first and written to.
    pub(crate) dir: PathBuf,
    pub(crate) origin: Origin,
    /// The user's global memory, if it is read as well.
    pub(crate) user: Option<PathBuf>,
    /// The root folders of the repository; the first is its name in other memories.
    pub(crate) roots: Vec<String>,
    /// The root of the worktree that agents are set up for.
    pub(crate) project: Option<PathBuf>,
    /// Whether `dir` is the memory of that repository, whose lessons need not name it.
    pub(crate) is_own: bool,
}

/// The options that select the location.
#[derive(Clone, Copy, Default)]
pub(crate) struct Wanted<'a> {
    /// The value of `--dir`.
    pub(crate) dir: Option<&'a Path>,
    /// Whether `--global` is given.
    pub(crate) is_global: bool,
}

impl MemoryLocation {
    /// The location for the working directory.
    pub(crate) fn find(wanted: Wanted<'_>) -> Result<Self, String> {
        let named = wanted.dir.map(Path::to_owned).or_else(|| env_path(VARIABLE).filter(|_| !wanted.is_global));
        if let Some(file) = named.as_deref().filter(|named| named.is_file()) {
            return Err(format!("{} is a file; a memory is a folder", path_line(file)));
        }
        let start = std::env::current_dir().and_then(|start| start.canonicalize()).unwrap_or_default();
        Self::from(&start, named, wanted.is_global, user_memory())
    }

    /// The location for a folder whose path has no links.
    pub(crate) fn from(
        start: &Path,
        named: Option<PathBuf>,
        is_global: bool,
        user: Option<PathBuf>,
    ) -> Result<Self, String> {
        let repository = Repository::around(start);
        let roots = repository.as_ref().map(Repository::names).unwrap_or_default();
        let project = repository.as_ref().map(|repository| repository.main_worktree().to_owned());
        if is_global {
            let dir =
                user.ok_or("there is no place for a memory of all projects: the environment names no home folder")?;
            return Ok(Self { dir, origin: Origin::User, user: None, roots, project, is_own: false });
        }
        if let Some(dir) = named {
            let parent = dir.canonicalize().ok().and_then(|dir| Some(path_text(dir.parent()?)));
            let is_own = dir.ends_with(NAME) && parent.is_some_and(|parent| roots.contains(&parent));
            return Ok(Self { dir, origin: Origin::Named, user: None, roots, project, is_own });
        }
        if let Some(repository) = repository {
            let dir = repository.memory(start);
            refuse_link(&dir)?;
            return Ok(Self { dir, origin: Origin::Repository, user, roots, project, is_own: true });
        }
        if let Some(dir) = outside(start) {
            refuse_link(&dir)?;
            return Ok(Self { dir, origin: Origin::Folder, user, roots, project, is_own: false });
        }
        let dir = user.ok_or("there is no memory here, and no place for one of all projects; name one with --dir")?;
        Ok(Self { dir, origin: Origin::User, user: None, roots, project, is_own: false })
    }

    /// Where `init` creates a memory: outside a repository it is the working directory, not the user's global memory.
    pub(crate) fn into_init(mut self, is_global: bool) -> Self {
        if self.origin == Origin::User && !is_global {
            self.user = Some(std::mem::replace(&mut self.dir, PathBuf::from(NAME)));
            self.origin = Origin::Folder;
        }
        self
    }

    /// A description of the memory's owner.
    pub(crate) fn whose(&self) -> &'static str {
        match self.origin {
            Origin::Named => "the one that is named",
            Origin::Repository => "this repository's",
            Origin::Folder => "this folder's",
            Origin::User => "yours, for all projects",
        }
    }

    /// The spelling of a project in memories: a path within a repository becomes the repository's root, another path becomes
    /// absolute, a name stays.
    pub(crate) fn spelled(project: &str) -> String {
        let is_path = matches!(project, "." | "..") || project.contains(['/', '\\']);
        let path = Path::new(project);
        match path.canonicalize() {
            Ok(path) if is_path && path.is_dir() => {
                let known = Repository::around(&path).and_then(|repository| repository.names().into_iter().next());
                known.unwrap_or_else(|| path_text(&path))
            }
            // A folder that does not exist has one spelling.
            _ => Some(project.trim_end_matches(['/', '\\']))
                .filter(|name| !name.is_empty())
                .unwrap_or(project)
                .to_owned(),
        }
    }

    /// True if a project, in this spelling, is this repository.
    pub(crate) fn is_here(&self, project: &str) -> bool {
        self.roots.iter().any(|root| root == project)
    }
}

/// A memory in this folder, or in a parent within the user's home folder.
fn outside(start: &Path) -> Option<PathBuf> {
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    let is_in_home = |folder: &Path| home.as_ref().is_some_and(|home| folder.starts_with(home) && folder != home);
    let near = start.ancestors().enumerate().take_while(|(steps, folder)| *steps == 0 || is_in_home(folder));
    near.map(|(_, folder)| folder.join(NAME)).find(|memory| is_memory(memory))
}

/// A memory that is a link is refused: a repository may contain one.
fn refuse_link(dir: &Path) -> Result<(), String> {
    if exists(dir) && !is_real_folder(dir) {
        return Err(format!("{} is a link or a file; name the memory with --dir", path_line(dir)));
    }
    Ok(())
}

/// The user's global memory: the folder `adage` in `XDG_DATA_HOME`, otherwise in `~/.local/share`; on Windows `adage\memory` in
/// `LOCALAPPDATA`.
pub(crate) fn user_memory() -> Option<PathBuf> {
    let of_user = if cfg!(windows) { "LOCALAPPDATA" } else { "XDG_DATA_HOME" };
    let in_home = || std::env::home_dir().map(|home| home.join(".local").join("share"));
    let parent = env_path(of_user).filter(|path| path.is_absolute()).or_else(in_home);
    let folder = parent.filter(|path| path.is_absolute())?.join("adage");
    Some(if cfg!(windows) { folder.join("memory") } else { folder })
}

/// The path in an environment variable.
pub(crate) fn env_path(variable: &str) -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "the library takes a path; this is the program's own setting")]
    let value = std::env::var_os(variable);
    value.filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Whether a folder contains a memory.
pub(crate) fn has_memory(dir: &Path) -> bool {
    fs::metadata(dir).is_ok_and(|about| about.is_dir())
}
