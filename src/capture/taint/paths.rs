//! Paths that a project's repository does not track.

use std::path::{Component, Path};

/// Folders of a project that contain other authors' files.
const FOREIGN: [&str; 16] = [
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
];

/// Devices that bring nothing in. `/dev/tcp/…` would.
const DEVICES: [&str; 8] =
    ["/dev/null", "/dev/zero", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/random", "/dev/urandom"];

/// True for a path that is outside the project, leads out of it, or is in a folder of other authors. Without a project, only
/// paths with `..`, home folders and folders of other authors are outside.
pub(super) fn is_outside(word: &str, project: &str) -> bool {
    if word.starts_with('~') {
        return true;
    }
    let path = Path::new(word);
    if path.components().any(|part| matches!(part, Component::Normal(name) if FOREIGN.iter().any(|own| name == *own)))
        && word.contains('/')
    {
        return true;
    }
    let is_device = DEVICES.contains(&word)
        || word.starts_with("/dev/fd/")
        || ["/bin/", "/usr/bin/", "/usr/local/bin/"].iter().any(|bin| word.starts_with(bin));
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
