//! Edits between a failure and its end: what they changed, and whether they changed only settings.

use adage_transcript::ToolCall;
use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::failure::names_in;

/// A description of what edits changed, for a lesson. None for no edits, if a call does not record its change, or if a change is
/// too long.
pub(super) fn describe_edits(edits: &[&ToolCall], project: &str) -> Option<String> {
    let descriptions: Option<Vec<String>> = edits.iter().map(|call| describe_edit(call, project)).collect();
    match descriptions?.as_slice() {
        [] => None,
        [only] => Some(only.clone()),
        [first @ .., last] => Some(format!("{} and {last}", first.join(", "))),
    }
}

/// A description of what one edit changed: ``replace `x` by `y` in a.rs``. None for an edit that changes no words, is not recorded
/// or is too long.
fn describe_edit(call: &ToolCall, project: &str) -> Option<String> {
    const MAX_LINE_CHARS: usize = 100;
    // More lines of code are a rewrite. Settings are short lines that belong together.
    let is_settings = call.changed_path().is_some_and(is_settings);
    let max_lines = if is_settings { 6 } else { 2 };
    let path = within(call.changed_path()?, project);
    let file = if is_settings && !path.starts_with(['/', '~']) { path } else { call.changed_file()? };
    let (removed, added) = changed_lines(call)?;
    let is_short =
        |lines: &[String]| lines.len() <= max_lines && lines.iter().all(|line| line.chars().count() <= MAX_LINE_CHARS);
    if !is_short(&removed) || !is_short(&added) {
        return None;
    }
    let shown = |lines: &[String]| lines.iter().map(|line| format!("`{line}`")).collect::<Vec<_>>().join(", ");
    match (removed.is_empty(), added.is_empty()) {
        (true, true) => None,
        (false, true) => Some(format!("remove {} from {file}", shown(&removed))),
        (true, false) => Some(format!("add {} to {file}", shown(&added))),
        (false, false) => Some(format!("replace {} by {} in {file}", shown(&removed), shown(&added))),
    }
}

/// The lines that an edit removed and those that it added, trimmed, without empty lines. None if the call does not record them.
pub(super) fn changed_lines(call: &ToolCall) -> Option<(Vec<String>, Vec<String>)> {
    let (old, new) = call.replaced()?;
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let lines = |text: &[&str], range: std::ops::Range<usize>| -> Vec<String> {
        let lines = text.get(range).unwrap_or_default().iter().map(|line| line.trim().to_owned());
        lines.filter(|line| !line.is_empty()).collect()
    };
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    for change in capture_diff_slices(Algorithm::Myers, &old, &new).iter().filter(|op| op.tag() != DiffTag::Equal) {
        removed.extend(lines(&old, change.old_range()));
        added.extend(lines(&new, change.new_range()));
    }
    Some((removed, added))
}

/// True for an edit whose changed lines contain a name from the error: a symbol, a key, a module.
pub(super) fn names_same(call: &ToolCall, error: &str) -> bool {
    let (removed, added) = changed_lines(call).unwrap_or_default();
    let of_error = names_in(error);
    removed.iter().chain(&added).any(|line| !names_in(line).is_disjoint(&of_error))
}

/// True for the path of a manifest, build or configuration file.
pub(super) fn is_settings(path: &str) -> bool {
    const SUFFIXES: &str =
        "toml json yaml yml ini cfg conf env properties xml gradle lock mod gemspec csproj props kts nix tfvars plist";
    const NAMES: &str = "Makefile Dockerfile Containerfile justfile Gemfile Procfile Rakefile mix.exs setup.py CMakeLists.txt Pipfile \
        Podfile Brewfile Vagrantfile go.sum";
    let mut parts = path.rsplit(['/', '\\']);
    let name = parts.next().unwrap_or_default();
    let suffix = name.rsplit_once('.').map_or("", |(_, suffix)| suffix);
    let is_of_config = name.contains(".config.")
        || name.starts_with('.')
        || name.starts_with("Dockerfile.")
        || (name.starts_with("requirements") && suffix == "txt")
        // The settings of Elixir and Ruby projects are scripts.
        || (parts.next() == Some("config") && matches!(suffix, "exs" | "rb"));
    is_of_config || NAMES.split(' ').any(|known| known == name) || SUFFIXES.split(' ').any(|known| known == suffix)
}

/// A text with paths in the project made relative to its folder, which differs between machines.
pub(super) fn within(text: &str, project: &str) -> String {
    let project = project.trim_end_matches('/');
    if project.len() < 2 {
        return text.to_owned();
    }
    text.replace(&format!("cd {project} && "), "").replace(&format!("{project}/"), "")
}
