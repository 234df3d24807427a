//! The permissions of an agent's tools, as data.

use std::path::{Component, Path, PathBuf};

use adage_redact::path_line;
use serde::Serialize;

/// A tool of the agent. No tool runs commands or accesses a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AgentTool {
    /// Reads a file.
    #[error("read")]
    Read,
    /// Lists a folder.
    #[error("list")]
    List,
    /// Searches the text of files.
    #[error("search")]
    Search,
    /// Writes a file.
    #[error("write")]
    Write,
    /// Replaces text within a file.
    #[error("edit")]
    Edit,
}

impl AgentTool {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Read, Self::List, Self::Search, Self::Write, Self::Edit];

    /// True if it changes files.
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Edit)
    }
}

/// Where each tool may be used.
///
/// It checks paths as given. Links must be resolved before; `AgentRun::may` does that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToolPolicy {
    /// Folders whose files may be read.
    #[serde(serialize_with = "adage::extend::path_text::shown")]
    pub readable: Vec<PathBuf>,
    /// Folders below which files may be written.
    #[serde(serialize_with = "adage::extend::path_text::shown")]
    pub writable: Vec<PathBuf>,
}

/// Why a tool may not be used on a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Denied {
    /// The path is relative or contains `..`.
    #[error("{} is not an absolute path without `..`", path_line(path))]
    NotAbsolute {
        /// The path.
        #[serde(serialize_with = "adage::extend::path_text::shown")]
        path: PathBuf,
    },
    /// The path is elsewhere.
    #[error("{tool} is allowed below {allowed}, and {} is not there", path_line(path))]
    Elsewhere {
        /// Which tool.
        tool: AgentTool,
        /// The path, links resolved.
        #[serde(serialize_with = "adage::extend::path_text::shown")]
        path: PathBuf,
        /// Where it is allowed.
        allowed: String,
    },
}

impl ToolPolicy {
    /// Whether a tool may be used on a path.
    ///
    /// # Errors
    /// [`Denied`] says why not.
    pub fn check(&self, tool: AgentTool, path: &Path) -> Result<(), Denied> {
        let climbs = path.components().any(|part| matches!(part, Component::ParentDir | Component::CurDir));
        if !path.is_absolute() || climbs {
            return Err(Denied::NotAbsolute { path: path.to_owned() });
        }
        let roots = if tool.writes() { &self.writable } else { &self.readable };
        let is_below = |root: &PathBuf| path.starts_with(root) && (!tool.writes() || path != root);
        if roots.iter().any(is_below) {
            return Ok(());
        }
        let allowed = roots.iter().map(path_line).collect::<Vec<_>>().join(", ");
        Err(Denied::Elsewhere { tool, path: path.to_owned(), allowed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_stay_where_they_may_be() {
        let policy = ToolPolicy { readable: vec!["/m".into()], writable: vec!["/m/.inbox".into()] };
        let check = |path: &str, reads: bool, writes: bool| {
            for tool in AgentTool::ALL {
                let expected = if tool.writes() { writes } else { reads };
                assert_eq!(policy.check(tool, Path::new(path)).is_ok(), expected, "{tool} {path}");
            }
        };
        check("/m", true, false);
        check("/m/MEMORY.md", true, false);
        check("/m/.inbox", true, false);
        check("/m/.inbox/private/extraction.patch", true, true);
        check("/m/.inbox/../MEMORY.md", false, false);
        check("/memory", false, false);
        check("m/.inbox/x", false, false);
        check("/etc/passwd", false, false);
        let denied = policy.check(AgentTool::Edit, Path::new("/m/x")).unwrap_err();
        assert_eq!(denied.to_string(), "edit is allowed below /m/.inbox, and /m/x is not there");
    }
}
