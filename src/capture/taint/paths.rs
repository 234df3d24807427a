//! Paths that a project's repository does not track.

use std::path::{Component, Path};

/// Folders of a project that contain other authors' files.
const FOREIGN: [&str; 34] = [
    // What was fetched, and the messages of others.
    ".git",
    "node_modules",
    "vendor",
    "third_party",
    "third-party",
    "external",
    ".venv",
    "venv",
    "site-packages",
    "Pods",
    "bower_components",
    "downloads",
    "Downloads",
    "dist-packages",
    "registry",
    "_deps",
    "deps",
    "Carthage",
    ".yarn",
    ".pnpm-store",
    ".bundle",
    ".gradle",
    ".m2",
    ".tox",
    ".nox",
    "jspm_packages",
    "elm-stuff",
    // What was built of others' code, logged of others' requests, or put down from anywhere. No repository tracks these.
    "target",
    "dist",
    "log",
    "logs",
    "tmp",
    "temp",
    ".cache",
];

/// Devices that bring nothing in. `/dev/tcp/…` would.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/stdout", "/dev/stderr", "/dev/random", "/dev/urandom"];

/// True for a path that is outside the project, leads out of it, or is in a folder of other authors. Without a project, only
/// paths with `..`, home folders and folders of other authors are outside.
pub(super) fn is_outside(word: &str, project: &str) -> bool {
    if word.starts_with('~') || is_outside_on_windows(word, project) {
        return true;
    }
    let path = Path::new(word);
    if path
        .components()
        .any(|part| matches!(part, Component::Normal(name) if FOREIGN.iter().any(|own| name.eq_ignore_ascii_case(own))))
        && word.contains('/')
    {
        return true;
    }
    let is_device =
        DEVICES.contains(&word) || ["/bin/", "/usr/bin/", "/usr/local/bin/"].iter().any(|bin| word.starts_with(bin));
    // A single slash is a pattern or a root of a search; `//` is a comment.
    if path.is_absolute() && !is_device && !project.is_empty() && word.len() > 2 && !path.starts_with(project) {
        return true;
    }
    let mut depth = 0_i32;
    let below = path.strip_prefix(project).unwrap_or(path);
    below.components().any(|component| {
        depth += match component {
            Component::ParentDir => -1,
            Component::Normal(_) => 1,
            _ => 0,
        };
        depth < 0
    })
}

/// True for `C:\x` and `\\server\x`, unless it is below a project that is written so.
fn is_outside_on_windows(word: &str, project: &str) -> bool {
    let plain = |path: &str| path.replace('\\', "/").to_lowercase();
    let mut chars = word.chars();
    let has_drive = chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.next() == Some(':')
        && matches!(chars.next(), Some('/' | '\\'));
    let is_absolute = has_drive || word.starts_with("\\\\");
    is_absolute && (project.is_empty() || !plain(word).starts_with(&plain(project)) || word.contains(".."))
}
