//! Who can have written a session file: what others can write is not the person's word (docs/spec/capture.md, 1.7).

use std::fs;
use std::path::{Path, PathBuf};

use adage::transcript::{Reading, Source};
use adage::trust::Tracking;
use adage_sessions::{is_agent_folder, source_of_named, source_of_queued};

use crate::location::env_path;
use crate::team::tracked::tracking;
use crate::team::writers::other_writers;

/// The ends of the paths of agents' folders of sessions, below the folder of the agent.
const FOLDERS: [&str; 5] = ["projects", "sessions", "archived_sessions", "tmp", "agent/sessions"];

/// How a session file came to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoundBy {
    /// A person named it.
    Name,
    /// It is in a folder that is looked through.
    Search,
    /// A hook was given its path when a session ended.
    Queue,
}

/// The folders in which agents keep this user's sessions, without links.
pub(crate) struct OwnSessions(Vec<PathBuf>);

impl OwnSessions {
    /// Those in the home folder, and those that the user's settings name.
    pub(crate) fn with(named: &[PathBuf]) -> Self {
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        let bases = home.into_iter().flat_map(|home| [home.join(".config"), home]);
        let found = bases.flat_map(|base| agent_folders(&base)).chain(folders_by_environment());
        Self(named.iter().cloned().chain(found).filter_map(|folder| folder.canonicalize().ok()).collect())
    }

    fn contain(&self, file: &Path) -> bool {
        file.canonicalize().is_ok_and(|file| self.0.iter().any(|folder| file.starts_with(folder)))
    }

    /// Why the text in a session is not evidence of what a person said; none if it is.
    pub(crate) fn doubt(&self, file: &Path, found_by: FoundBy, reading: &Reading) -> Option<String> {
        let format = reading.report.format;
        let is_in_place = match found_by {
            FoundBy::Name => source_of_named(file, format) == Source::Agent,
            // Nobody checked the path that a hook was given.
            FoundBy::Queue => self.contain(file) || source_of_queued(file, format) == Source::Agent,
            FoundBy::Search => true,
        };
        if reading.transcript.source != Source::Agent || !is_in_place {
            return Some("it is not in an agent's own format and place".to_owned());
        }
        // Whoever made an archive or a package can put a session of their own into it.
        if found_by == FoundBy::Search && !self.contain(file) {
            return Some(
                "its folder is no agent's in your home folder; if it is yours, list it in agent_sessions".to_owned(),
            );
        }
        if tracking(file) != Tracking::Untracked {
            return Some("version control tracks it".to_owned());
        }
        // A person who names a file knows whose it is.
        if found_by == FoundBy::Name { None } else { other_writers(file) }
    }
}

/// The variables by which agents take another folder than the one in the home folder, with its folders of sessions.
const VARIABLES: [(&str, &[&str]); 2] =
    [("CLAUDE_CONFIG_DIR", &["projects"]), ("CODEX_HOME", &["sessions", "archived_sessions"])];

/// The folders of sessions in the folders that the user's environment gives the agents.
fn folders_by_environment() -> impl Iterator<Item = PathBuf> {
    let bases = VARIABLES.into_iter().filter_map(|(variable, folders)| Some((env_path(variable)?, folders)));
    let absolute = bases.filter(|(base, _)| base.is_absolute());
    absolute.flat_map(|(base, folders)| folders.iter().map(move |folder| base.join(folder)))
}

/// The agents' folders of sessions below a home folder, or the `.config` in it.
fn agent_folders(base: &Path) -> Vec<PathBuf> {
    let names = fs::read_dir(base).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.file_name()));
    let below = names.flat_map(|name| FOLDERS.map(|folder| Path::new(&name).join(folder)));
    below.filter(|below| is_agent_folder(below)).map(|below| base.join(below)).collect()
}
