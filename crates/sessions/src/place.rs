//! Where agents keep their sessions, and what they keep beside them (docs/spec/capture.md, 1.7).
//!
//! An agent also saves results of tools, what sub-agents did and its notes below the folder of its sessions. Text of a page in such a
//! file can have the form of a session, and would speak as the person.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use adage_transcript::{Format, Source};

/// An agent's folder of sessions.
struct Home {
    /// The folders that end its path. The first may have a longer name: `.claude-work`.
    folders: &'static [&'static str],
    format: Format,
    /// Whether the path of a file below it is that of a session.
    is_session: fn(&[&str]) -> bool,
}

const HOMES: [Home; 6] = [
    Home { folders: &[".claude", "projects"], format: Format::ClaudeCode, is_session: is_of_claude_code },
    Home { folders: &["claude", "projects"], format: Format::ClaudeCode, is_session: is_of_claude_code },
    Home { folders: &[".codex", "sessions"], format: Format::Codex, is_session: is_of_codex },
    Home { folders: &[".codex", "archived_sessions"], format: Format::Codex, is_session: is_of_codex },
    Home { folders: &[".gemini", "tmp"], format: Format::Gemini, is_session: is_of_gemini },
    Home { folders: &[".pi", "agent", "sessions"], format: Format::Pi, is_session: is_of_pi },
];

/// Folders beside sessions, whatever folder the sessions are in.
const BESIDE: [&str; 8] =
    ["tool-results", "tool_results", "tool-outputs", "tool_outputs", "subagents", "memory", "todos", "file-history"];

/// Whose a path is.
enum PathOwner<'p> {
    /// That of a session of this agent.
    Session(&'static Home),
    /// An agent's, but not that of a session.
    Beside,
    /// No agent's folder that is known; the names of all its folders.
    Unknown(Vec<&'p str>),
}

/// `PROJECT/SESSION.jsonl`; a sub-agent's session of earlier versions has a name of its own.
fn is_of_claude_code(path: &[&str]) -> bool {
    matches!(path, [_, file] if is_lines(file) && !is_of_sub_agent(file))
}

/// `2026/01/31/rollout-….jsonl`, or without folders.
fn is_of_codex(path: &[&str]) -> bool {
    let Some((file, folders)) = path.split_last() else { return false };
    let is_number = |name: &&str| name.bytes().all(|byte| byte.is_ascii_digit());
    file.starts_with("rollout-") && folders.len() <= 3 && folders.iter().all(is_number)
}

/// `PROJECT/chats/session-….json`
fn is_of_gemini(path: &[&str]) -> bool {
    matches!(path, [_, "chats", file] if file.starts_with("session-"))
}

/// `PROJECT/TIME_ID.jsonl`, or without a folder.
fn is_of_pi(path: &[&str]) -> bool {
    matches!(path, [file] | [_, file] if is_lines(file))
}

fn is_lines(file: &str) -> bool {
    let file = file.to_ascii_lowercase();
    [".jsonl", ".jsonl.gz"].iter().any(|end| file.ends_with(end))
}

/// `agent-….jsonl`, as Claude Code names the sessions of sub-agents.
fn is_of_sub_agent(file: &str) -> bool {
    file.starts_with("agent-")
}

impl Home {
    /// The names below this folder, if the path is.
    fn below<'n, 'p>(&self, names: &'n [&'p str]) -> Option<&'n [&'p str]> {
        let n_folders = self.folders.len();
        // The last one counts: the folder of another agent can be a project of this one.
        let at = names.windows(n_folders).rposition(|window| self.is_path(window))?;
        names.get(at + n_folders..).filter(|below| !below.is_empty())
    }

    /// True if these names, as many as the folder has, are its path.
    fn is_path(&self, names: &[&str]) -> bool {
        names.iter().zip(self.folders).enumerate().all(|(part, (name, folder))| {
            let suffix = name.strip_prefix(*folder).filter(|_| part == 0 && folder.starts_with('.'));
            name == folder || suffix.is_some_and(|suffix| suffix.starts_with(['-', '_', '.']))
        })
    }
}

/// True for the path of an agent's folder of sessions, relative to a user's home folder or to the `.config` in it.
///
/// ```
/// use adage_sessions::is_agent_folder;
/// use std::path::Path;
/// assert!(is_agent_folder(Path::new(".claude-work/projects")) && is_agent_folder(Path::new(".codex/sessions")));
/// assert!(!is_agent_folder(Path::new("archive/.claude/projects")) && !is_agent_folder(Path::new(".claude")));
/// ```
#[must_use]
pub fn is_agent_folder(below_home: &Path) -> bool {
    let names: Option<Vec<&str>> = below_home.iter().map(OsStr::to_str).collect();
    let is_one = |names: Vec<&str>| HOMES.iter().any(|home| names.len() == home.folders.len() && home.is_path(&names));
    names.is_some_and(is_one)
}

fn owner(path: &Path) -> PathOwner<'_> {
    let names: Option<Vec<&str>> = path.iter().map(OsStr::to_str).collect();
    let Some(names) = names else { return PathOwner::Unknown(Vec::new()) };
    let home = HOMES.iter().find_map(|home| home.below(&names).map(|below| (home, below)));
    match home {
        Some((home, below)) if (home.is_session)(below) => PathOwner::Session(home),
        Some(_) => PathOwner::Beside,
        None => PathOwner::Unknown(names),
    }
}

/// The path of a session without links. An agent's folder of sessions may be behind one, what is below it may not: that link could
/// lead to a file of others. Elsewhere, the file itself is none.
pub(super) fn unlinked(path: &Path, resolve: impl Fn(&Path) -> io::Result<PathBuf>) -> io::Result<PathBuf> {
    let path = &std::path::absolute(path)?;
    let names: Option<Vec<&str>> = path.iter().map(OsStr::to_str).collect();
    let below = names.as_ref().and_then(|names| HOMES.iter().find_map(|home| home.below(names)));
    let n_below = below.map_or(1, <[&str]>::len);
    let root = path.ancestors().nth(n_below).unwrap_or(path);
    let rest = path.strip_prefix(root).unwrap_or(Path::new(""));
    let expected = resolve(root)?.join(rest);
    let found = resolve(path)?;
    if found == expected { Ok(found) } else { Err(io::Error::other("reached through a symbolic link")) }
}

/// True for a file that an agent keeps beside its sessions; `folder` is the folder that is looked through.
pub(super) fn is_beside_sessions(path: &Path, folder: &Path) -> bool {
    match owner(path) {
        PathOwner::Session(_) => false,
        PathOwner::Beside => true,
        PathOwner::Unknown(_) => {
            let below = path.strip_prefix(folder).ok().and_then(Path::parent).unwrap_or(Path::new(""));
            let is_named = below.iter().any(|name| BESIDE.iter().any(|beside| name == OsStr::new(beside)));
            let mut parts = below.ancestors().filter(|part| !part.as_os_str().is_empty());
            // What is in `ID/` belongs to the session `ID.jsonl`.
            is_named || parts.any(|part| folder.join(part).with_added_extension("jsonl").is_file())
        }
    }
}

/// Who can have written a file in this format that was found in a folder, or that a host queued. No agent writes its own sessions
/// as messages of an API.
pub(super) fn source_of_found(path: &Path, format: Format) -> Source {
    let is_own = match owner(path) {
        PathOwner::Session(home) => home.format == format,
        PathOwner::Beside => false,
        PathOwner::Unknown(names) => {
            let is_beside = folder_of(&names).is_some_and(|folder| BESIDE.contains(&folder));
            !matches!(format, Format::OpenAi | Format::Anthropic) && !is_beside && !is_of_other_agent(&names, format)
        }
    };
    if is_own { Source::Agent } else { Source::Others }
}

/// Who can have written a file that a person named, by its name: a sub-agent's session has no person in it.
///
/// ```
/// use adage_sessions::source_of_named;
/// use adage::transcript::{Format, Source};
/// use std::path::Path;
/// let source = |path| source_of_named(Path::new(path), Format::ClaudeCode);
/// assert_eq!(source("shop/3f2a/subagents/agent-1.jsonl"), Source::Others);
/// assert_eq!(source("shop/3f2a.jsonl"), Source::Agent);
/// ```
#[must_use]
pub fn source_of_named(path: &Path, format: Format) -> Source {
    let names: Vec<&str> = path.iter().filter_map(OsStr::to_str).collect();
    if is_of_other_agent(&names, format) { Source::Others } else { Source::Agent }
}

/// Who can have written a file that an agent's hook named: nobody checked the path, so only an agent's own format in its own place is the
/// person's session.
///
/// ```
/// use adage_sessions::source_of_queued;
/// use adage::transcript::{Format, Source};
/// use std::path::Path;
/// let source = |path| source_of_queued(Path::new(path), Format::ClaudeCode);
/// assert_eq!(source("/home/u/.claude/projects/-srv-shop/3f2a.jsonl"), Source::Agent);
/// assert_eq!(source("/srv/shop/docs/3f2a.jsonl"), Source::Others);
/// ```
#[must_use]
pub fn source_of_queued(path: &Path, format: Format) -> Source {
    match owner(path) {
        PathOwner::Session(home) if home.format == format => Source::Agent,
        PathOwner::Session(_) | PathOwner::Beside | PathOwner::Unknown(_) => Source::Others,
    }
}

/// True for a sub-agent's session, by its name or its folder.
fn is_of_other_agent(names: &[&str], format: Format) -> bool {
    let is_named = names.last().is_some_and(|file| is_of_sub_agent(file)) && format == Format::ClaudeCode;
    is_named || folder_of(names) == Some("subagents")
}

/// The name of the folder that a file is in.
fn folder_of<'p>(names: &[&'p str]) -> Option<&'p str> {
    names.get(names.len().checked_sub(2)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: Format, cases: &[(&str, Source)]) {
        for (path, expected) in cases {
            assert_eq!(source_of_found(Path::new(path), format), *expected, "{format} {path}");
        }
    }

    #[test]
    fn only_an_agents_own_format_in_its_own_place_is_the_persons() {
        use Source::{Agent, Others};
        check(
            Format::ClaudeCode,
            &[
                ("/home/u/.claude/projects/-srv-shop/3f2a.jsonl", Agent),
                ("/home/u/.claude/projects/-srv-shop/3f2a.jsonl.gz", Agent),
                ("/home/u/.claude-work/projects/-srv-shop/3f2a.jsonl", Agent),
                ("/home/u/.config/claude/projects/-srv-shop/3f2a.jsonl", Agent),
                ("/srv/backup/sessions/3f2a.jsonl", Agent),
                ("/home/u/.claude/projects/-srv-shop/3f2a.json", Others),
                ("/home/u/.claude/projects/-srv-shop/agent-3f2a.jsonl", Others),
                ("/home/u/.claude/projects/-srv-shop/3f2a/x.jsonl", Others),
                ("/home/u/.claude/projects/-srv-shop/3f2a/tool-results/x.jsonl", Others),
                ("/home/u/.claude/projects/-srv-shop/3f2a/subagents/agent-1.jsonl", Others),
                ("/home/u/.claude/projects/-srv-shop/memory/x.jsonl", Others),
                ("/home/u/.claude/projects/x.jsonl", Others),
                ("/home/u/.codex/sessions/2026/01/31/rollout-x.jsonl", Others),
                ("/home/u/.gemini/tmp/3f2a/chats/session-1.json", Others),
                ("/srv/backup/3f2a/subagents/agent-1.jsonl", Others),
                ("/srv/backup/3f2a/tool-results/x.jsonl", Others),
                ("/srv/backup/agent-1.jsonl", Others),
            ],
        );
        check(
            Format::Codex,
            &[
                ("/home/u/.codex/sessions/2026/01/31/rollout-x.jsonl", Agent),
                ("/home/u/.codex/archived_sessions/rollout-x.jsonl", Agent),
                ("/home/u/.codex/sessions/2026/01/31/notes.jsonl", Others),
                ("/home/u/.codex/sessions/shop/01/31/rollout-x.jsonl", Others),
                ("/home/u/.claude/projects/-srv-shop/3f2a.jsonl", Others),
            ],
        );
        check(
            Format::Gemini,
            &[
                ("/home/u/.gemini/tmp/3f2a/chats/session-1.json", Agent),
                ("/home/u/.gemini/tmp/shop/chats/session-1.jsonl", Agent),
                ("/home/u/.gemini/tmp/3f2a/chats/3f2b/session-1.json", Others),
                ("/home/u/.gemini/tmp/3f2a/tool-outputs/session-1.json", Others),
                ("/home/u/.gemini/tmp/3f2a/checkpoint-1.json", Others),
                ("/srv/backup/session-1.json", Agent),
            ],
        );
        check(
            Format::Pi,
            &[
                ("/home/u/.pi/agent/sessions/--srv-shop--/1_2.jsonl", Agent),
                ("/home/u/.pi/agent/sessions/--srv-shop--/x/1_2.jsonl", Others),
                ("/home/u/.pi/agent/sessions/--srv-shop--/1_2.json", Others),
            ],
        );
        for format in [Format::OpenAi, Format::Anthropic] {
            check(
                format,
                &[("/home/u/.claude/projects/-srv-shop/3f2a.jsonl", Others), ("/srv/backup/chat.json", Others)],
            );
        }
    }

    #[test]
    fn what_a_hook_names_is_the_persons_only_in_the_agents_own_place() {
        for (format, path, expected) in [
            (Format::ClaudeCode, "/home/u/.claude/projects/-srv-shop/3f2a.jsonl", Source::Agent),
            (Format::ClaudeCode, "/home/u/.claude-work/projects/-srv-shop/3f2a.jsonl.gz", Source::Agent),
            (Format::Codex, "/home/u/.codex/sessions/2026/01/31/rollout-x.jsonl", Source::Agent),
            (Format::Gemini, "/home/u/.gemini/tmp/shop/chats/session-1.json", Source::Agent),
            (Format::Pi, "/home/u/.pi/agent/sessions/1_2.jsonl", Source::Agent),
            (Format::ClaudeCode, "/tmp/3f2a.jsonl", Source::Others),
            (Format::ClaudeCode, "/srv/shop/docs/chat.jsonl", Source::Others),
            (Format::ClaudeCode, "/srv/shop/projects/-srv-shop/3f2a.jsonl", Source::Others),
            (Format::ClaudeCode, "/home/u/.codex/sessions/rollout-x.jsonl", Source::Others),
            (Format::ClaudeCode, "/home/u/.claude/projects/-srv-shop/agent-3f2a.jsonl", Source::Others),
            (Format::Codex, "rollout-x.jsonl", Source::Others),
        ] {
            assert_eq!(source_of_queued(Path::new(path), format), expected, "{format} {path}");
        }
    }

    #[test]
    fn what_is_beside_the_sessions_is_not_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        #[expect(clippy::disallowed_methods, reason = "the session is written by the test")]
        std::fs::write(folder.path().join("3f2a.jsonl"), "{}").unwrap();
        for (name, expected) in [
            ("3f2a.jsonl", false),
            ("shop/3f2b.jsonl", false),
            ("3f2a/x.json", true),
            ("3f2a/deeper/x.json", true),
            ("3f2b/x.json", false),
            ("shop/tool-results/x.json", true),
            ("shop/memory/x.json", true),
            ("memory.json", false),
        ] {
            assert_eq!(is_beside_sessions(&folder.path().join(name), folder.path()), expected, "{name}");
        }
        let home = Path::new("/home/u/.claude/projects");
        for (name, expected) in [("-srv-shop/1.jsonl", false), ("-srv-shop/1/x.jsonl", true), ("x.jsonl", true)] {
            assert_eq!(is_beside_sessions(&home.join(name), home), expected, "{name}");
        }
    }
}
