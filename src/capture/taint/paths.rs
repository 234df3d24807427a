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

/// Folders of what a program made, by names that a folder of sources may have too: not below `src`. Their content can be anybody's.
const MADE: [&str; 28] = [
    "build",
    "out",
    "output",
    "obj",
    "coverage",
    "htmlcov",
    ".build",
    ".next",
    ".nuxt",
    ".output",
    ".svelte-kit",
    ".angular",
    ".parcel-cache",
    ".turbo",
    ".vercel",
    ".terraform",
    ".serverless",
    ".dart_tool",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    "__pycache__",
    "DerivedData",
    "test-results",
    "playwright-report",
    "_build",
    "storybook-static",
    ".eggs",
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

/// True for a path in or to a folder of other authors or of what was made, also one that is named alone.
pub(super) fn is_of_others(word: &str) -> bool {
    let is_foreign =
        |part| matches!(part, Component::Normal(name) if FOREIGN.iter().any(|own| name.eq_ignore_ascii_case(own)));
    Path::new(word).components().any(is_foreign) || is_in_made(word)
}

/// True for a path below a folder of what was made.
pub(super) fn is_made_by_program(word: &str) -> bool {
    word.contains('/') && !word.starts_with('/') && is_in_made(word)
}

fn is_in_made(word: &str) -> bool {
    let names = Path::new(word).components().filter_map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    names.take_while(|name| *name != "src").any(|name| {
        let lower = name.to_lowercase();
        let has_tool = ["cmake-build-", "bazel-"].iter().any(|tool| lower.starts_with(tool));
        has_tool || MADE.iter().any(|made| made.eq_ignore_ascii_case(name))
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
