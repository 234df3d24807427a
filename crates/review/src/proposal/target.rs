//! Which file a diff may change (docs/spec/skills.md, 4.1-4.3): decided by its spelling, then by the files on disk.
//!
//! A target is below a root that the host named: the memory folder, one file, or the root of skills. The path of the root may
//! contain links, since the host chose it; below it links are refused. After a name is checked, only the resolved path is used.

use std::path::{Path, PathBuf};

use adage_redact::visible;
use unicode_normalization::is_nfc;

use super::look_alike::{is_alike, mixes_scripts};
use super::name::PatchKind;
use super::patch::FilePatch;
use crate::error::{BadName, TargetError};
use adage::extend::files::Entry;

/// Names of files that agents read as instructions, compared without case.
const INSTRUCTIONS: [&str; 14] = [
    "agent.md",
    "agents.md",
    "agents.local.md",
    "agents.override.md",
    "claude.md",
    "claude.local.md",
    "codex.md",
    "copilot-instructions.md",
    "crush.md",
    "gemini.md",
    "jules.md",
    "opencode.md",
    "qwen.md",
    "warp.md",
];
/// Entries of a project's root folder.
const PROJECT_MARKS: [&str; 4] = [".git", ".hg", ".jj", ".svn"];
/// Names that are devices on some systems, whatever follows the first dot.
const DEVICES: [&str; 4] = ["aux", "con", "nul", "prn"];
/// The maximum bytes of one name in a path, a limit of file systems.
const MAX_NAME: usize = 255;
/// The maximum bytes of a path.
const MAX_PATH: usize = 4_000;
/// The only file of a skill that can be patched.
pub(crate) const SKILL_FILE: &str = "SKILL.md";

/// A root that the host named: its spelling, and its resolved path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AllowedRoot {
    pub(crate) spelled: PathBuf,
    pub(crate) resolved: PathBuf,
}

/// The roots that proposals may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AllowedRoots {
    pub(crate) memory: AllowedRoot,
    /// The one file; its resolved form is its name in its resolved folder.
    pub(crate) global: Option<AllowedRoot>,
    pub(crate) skills: Vec<AllowedRoot>,
}

/// Whether a diff creates its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Makes,
    Changes,
}

/// A target with a valid spelling. The files on disk are still to be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Located {
    /// The file below the resolved root.
    pub(crate) path: PathBuf,
    /// The paths from the first entry below the root to the file.
    pub(crate) steps: Vec<PathBuf>,
    /// The required path of the file's folder after links are resolved.
    pub(crate) folder: PathBuf,
    pub(crate) effect: Effect,
}

/// The entries on disk on the way to a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct View {
    /// The entry at each step.
    pub(crate) steps: Vec<Entry>,
    /// Where the folder of the file really is; none when there is none.
    pub(crate) folder: Option<PathBuf>,
    /// The names in that folder.
    pub(crate) siblings: Vec<String>,
}

/// Judges the spelling.
///
/// # Errors
/// Every `TargetError` that can be detected without looking at files.
pub(crate) fn locate(kind: &PatchKind, file: &FilePatch, roots: &AllowedRoots) -> Result<Located, TargetError> {
    let name = file.new_name();
    if let Some(old) = file.old_name().filter(|old| *old != name) {
        return Err(TargetError::NamesDiffer { old: old.to_owned(), new: name.to_owned() });
    }
    if !Path::new(name).is_absolute() {
        return Err(TargetError::NotAbsolute { name: name.to_owned() });
    }
    check_spelling(name).map_err(|why| TargetError::Name { name: name.to_owned(), why })?;
    let path = Path::new(name);
    let effect = if file.old_name().is_none() { Effect::Makes } else { Effect::Changes };
    match kind {
        PatchKind::Private => private(path, &roots.memory, effect),
        PatchKind::Global => {
            let root = roots.global.as_ref().ok_or(TargetError::NoAllowedRoot { patch_kind: kind.word() })?;
            global(path, root, effect)
        }
        PatchKind::Skill(_) if roots.skills.is_empty() => Err(TargetError::NoAllowedRoot { patch_kind: kind.word() }),
        PatchKind::Skill(_) => skill(path, &roots.skills, effect),
    }
}

/// A direct child of the memory folder, `*.md`. None of our own files ends like that.
fn private(path: &Path, root: &AllowedRoot, effect: Effect) -> Result<Located, TargetError> {
    const EXPECTED: &str = "a Markdown file directly in the memory folder";
    let outside = || TargetError::Outside { path: path.to_owned(), expected: EXPECTED };
    let [name] = below(path, root).ok_or_else(outside)?[..] else { return Err(outside()) };
    check_parts(path, &[name])?;
    // Exactly so: a system that tells no case would take another spelling for another file's.
    if Path::new(name).extension().is_none_or(|extension| extension != "md") {
        return Err(outside());
    }
    if is_instructions(name) {
        return Err(TargetError::Instructions { path: path.to_owned() });
    }
    // A note that a person named so can still be changed.
    if effect == Effect::Makes && mixes_scripts(name) {
        let name = path.to_string_lossy().into_owned();
        return Err(TargetError::Name { name, why: BadName::LookAlike });
    }
    Ok(located(root, &[name], effect))
}

/// Exactly the file that the host named.
fn global(path: &Path, root: &AllowedRoot, effect: Effect) -> Result<Located, TargetError> {
    if path != root.spelled && path != root.resolved {
        let expected = "the file for global notes that the host named";
        return Err(TargetError::Outside { path: path.to_owned(), expected });
    }
    let path = root.resolved.clone();
    let folder = path.parent().unwrap_or(&path).to_owned();
    Ok(Located { steps: vec![path.clone()], path, folder, effect })
}

/// The `SKILL.md` of a skill below one of the roots.
fn skill(path: &Path, roots: &[AllowedRoot], effect: Effect) -> Result<Located, TargetError> {
    let outside = || TargetError::Outside {
        path: path.to_owned(),
        expected: "the SKILL.md of a skill below a root that the host named as writable",
    };
    let (root, parts) = roots.iter().find_map(|root| Some((root, below(path, root)?))).ok_or_else(outside)?;
    check_parts(path, &parts)?;
    if parts.len() < 2 || parts.last() != Some(&SKILL_FILE) {
        return Err(outside());
    }
    if effect == Effect::Makes {
        // A new skill is a candidate of its own, not a patch.
        return Err(TargetError::Missing { path: path.to_owned() });
    }
    Ok(located(root, &parts, effect))
}

/// The names of a path below an allowed root, spelled either way.
fn below<'a>(path: &'a Path, root: &AllowedRoot) -> Option<Vec<&'a str>> {
    let below = path.strip_prefix(&root.spelled).or_else(|_| path.strip_prefix(&root.resolved)).ok()?;
    below.iter().map(|part| part.to_str()).collect()
}

/// A file directly in the memory folder.
pub(crate) fn in_memory(roots: &AllowedRoots, name: &str, effect: Effect) -> Located {
    located(&roots.memory, &[name], effect)
}

/// The file of a skill of our own, which is made.
pub(crate) fn saved_skill(roots: &AllowedRoots, name: &str) -> Located {
    located(&roots.memory, &["skills", name, SKILL_FILE], Effect::Makes)
}

fn located(root: &AllowedRoot, parts: &[&str], effect: Effect) -> Located {
    let mut steps = Vec::new();
    let mut path = root.resolved.clone();
    let mut folder = path.clone();
    for part in parts {
        folder.clone_from(&path);
        path.push(part);
        steps.push(path.clone());
    }
    Located { path, steps, folder, effect }
}

/// What no path may have, above the root too.
fn check_spelling(name: &str) -> Result<(), BadName> {
    let is_seen = |c: char| visible(c) == Some(c) && !matches!(c, '\n' | '\t');
    if name.len() > MAX_PATH {
        return Err(BadName::TooLong);
    }
    if !name.chars().all(is_seen) {
        return Err(BadName::Invisible);
    }
    let parts = || name.split('/').skip(1);
    if parts().any(str::is_empty) {
        return Err(BadName::Empty);
    }
    if parts().any(|part| matches!(part, "." | "..")) {
        return Err(BadName::Dots);
    }
    if !cfg!(windows) && name.contains('\\') {
        return Err(BadName::Separator);
    }
    Ok(())
}

/// What no name below the root may be.
fn check_parts(path: &Path, parts: &[&str]) -> Result<(), TargetError> {
    for part in parts {
        check_part(part).map_err(|why| TargetError::Name { name: path.to_string_lossy().into_owned(), why })?;
    }
    Ok(())
}

fn check_part(part: &str) -> Result<(), BadName> {
    if part.len() > MAX_NAME {
        return Err(BadName::TooLong);
    }
    if part.starts_with('.') {
        return Err(BadName::Hidden);
    }
    if part.trim() != part
        || part.ends_with('.')
        || part.trim_end_matches(".md").trim_end_matches(['.', ' ']).is_empty()
    {
        return Err(BadName::Edge);
    }
    if !is_nfc(part) {
        return Err(BadName::NotNormal);
    }
    if part.contains(['\\', ':']) {
        return Err(BadName::Separator);
    }
    let stem = part.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    let is_numbered = |start| {
        let number = stem.strip_prefix(start).and_then(|rest: &str| rest.parse::<u8>().ok());
        number.is_some_and(|number| (1..=9).contains(&number))
    };
    if DEVICES.contains(&stem.as_str()) || is_numbered("com") || is_numbered("lpt") {
        return Err(BadName::Device);
    }
    Ok(())
}

fn is_instructions(name: &str) -> bool {
    // Both spellings: the letters that look alike are others in capitals.
    INSTRUCTIONS.iter().any(|known| is_alike(name, known) || is_alike(name, &known.to_uppercase()))
}

/// Judges what is at a target.
///
/// # Errors
/// The other `TargetError`s.
pub(crate) fn judge(located: &Located, view: &View) -> Result<(), TargetError> {
    let Located { path, steps, folder, effect } = located;
    for (step, entry) in steps.iter().zip(&view.steps) {
        match entry {
            Entry::Link => return Err(TargetError::Link { path: step.clone() }),
            Entry::Folder | Entry::Missing => {}
            Entry::File { .. } | Entry::Other if step == path => {}
            _ => return Err(TargetError::Kind { path: step.clone(), expected: "folder" }),
        }
    }
    if view.folder.as_ref().is_some_and(|found| found != folder) {
        return Err(TargetError::Link { path: folder.clone() });
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_project = view.siblings.iter().any(|sibling| PROJECT_MARKS.contains(&sibling.as_str()));
    if is_project && is_instructions(&name) {
        return Err(TargetError::Instructions { path: path.clone() });
    }
    match (view.steps.last().copied().unwrap_or(Entry::Missing), effect) {
        (Entry::Missing, Effect::Changes) => Err(TargetError::Missing { path: path.clone() }),
        (Entry::Missing, Effect::Makes) => match view.siblings.iter().find(|sibling| is_alike(sibling, &name)) {
            Some(found) => Err(TargetError::Alike { path: path.clone(), found: found.clone() }),
            None => Ok(()),
        },
        (Entry::File { .. }, Effect::Makes) => Err(TargetError::Exists { path: path.clone() }),
        (Entry::File { n_links, .. }, _) if n_links > 1 => Err(TargetError::HardLinked { path: path.clone(), n_links }),
        (Entry::File { is_writable: false, .. }, _) => Err(TargetError::WriteProtected { path: path.clone() }),
        // A file under another name than the one in the folder: the system does not tell the two apart.
        (Entry::File { .. }, _) if !view.siblings.contains(&name) => {
            let alike = view.siblings.iter().find(|sibling| is_alike(sibling, &name));
            Err(TargetError::Alike { path: path.clone(), found: alike.cloned().unwrap_or_default() })
        }
        (Entry::File { .. }, _) => Ok(()),
        (Entry::Folder | Entry::Link | Entry::Other, _) => {
            Err(TargetError::Kind { path: path.clone(), expected: "regular file" })
        }
    }
}

#[cfg(test)]
mod tests;
