//! Skills as files, `<root>/<name>/SKILL.md`: found, read, written whole.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use adage_redact::path_text;
use serde::Serialize;

use crate::error::folder::{FolderError, Result};
use crate::folder::{Directory, Entry, Folder, Name, TEMPORARY};
use crate::hash::TextHash;
use crate::skill::{Skill, SkillName, SkillNote, SkillRefused};
use crate::store::skills::scan::{self, FILE_NAMES};
use crate::store::skills::supporting::{NotCovered, SkillFile};

/// The memory's own folder of skills.
pub(crate) const OWN_SKILLS: &str = "skills";
/// The name of a skill's file.
pub(crate) const FILE: &str = "SKILL.md";

/// Why a skill file is not listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NotListed {
    /// It is not a skill.
    #[error(transparent)]
    Refused(#[from] SkillRefused),
    /// A link leads out of the root.
    #[error("a link leads out of the folder of skills")]
    LeadsOut,
    /// It is not a regular file, for example a folder or a pipe.
    #[error("not a plain file")]
    NotAFile,
    /// It could not be read.
    #[error("{0}")]
    Unreadable(String),
    /// There are too many folders; this one and those after it were not read.
    #[error("past the first {max} folders")]
    TooMany {
        /// The maximum number of folders.
        max: usize,
    },
}

/// A file that is named as a skill but cannot be read as one. In JSON: `[path, reason]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "(String, NotListed)")]
#[non_exhaustive]
pub struct RefusedSkill {
    /// The file.
    pub path: PathBuf,
    /// Why it is not listed.
    pub reason: NotListed,
}

impl From<RefusedSkill> for (String, NotListed) {
    fn from(refused: RefusedSkill) -> Self {
        (path_text(refused.path), refused.reason)
    }
}

/// The skills of a root, by the names of their folders.
#[derive(Debug, Default)]
pub(crate) struct SkillRoot {
    pub(crate) found: Vec<FoundSkill>,
    pub(crate) left_out: Vec<RefusedSkill>,
}

/// A skill and its files.
#[derive(Clone, Debug)]
pub(crate) struct FoundSkill {
    pub(crate) path: PathBuf,
    pub(crate) skill: Arc<Skill>,
    /// Repairs that were made while it was read.
    pub(crate) notes: Vec<SkillNote>,
    /// The supporting files.
    pub(crate) files: Vec<SkillFile>,
    /// Why a promotion cannot cover these files.
    pub(crate) not_covered: Option<NotCovered>,
    /// The hash of the skill with its files.
    pub(crate) text_hash: TextHash,
}

/// Whether an existing file with another text is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    Keep,
    Replace,
}

/// The result of writing a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    New(PathBuf),
    Replaced(PathBuf),
    /// The file already had this text.
    Unchanged(PathBuf),
    /// The file has another text.
    Taken(PathBuf),
}

/// The skills in one folder.
pub(crate) struct SkillFiles<'a> {
    folder: &'a Folder,
    root: Directory,
    /// True for the memory's own folder of skills.
    is_own: bool,
}

impl<'a> SkillFiles<'a> {
    /// The memory's own skills.
    pub(crate) fn own(folder: &'a Folder) -> Self {
        Self { folder, root: folder.below(OWN_SKILLS), is_own: true }
    }

    /// The skills in a folder that the host named.
    pub(crate) fn in_folder(folder: &'a Folder, path: &Path) -> Self {
        let root = folder.elsewhere(path);
        let is_own = path == folder.files().path_of(OWN_SKILLS);
        Self { folder, root, is_own }
    }

    /// The skills; empty if the folder is missing. Hidden folders and those without a skill are skipped.
    pub(crate) fn scan(&self) -> SkillRoot {
        scan::scan(self.folder, self.root.path())
    }

    /// Writes a skill under the memory folder's lock: a temporary file, synced, then one rename. A link in the place of its
    /// folder or its file is not followed.
    pub(crate) fn write(&self, name: &SkillName, text: &str, existing: Existing) -> Result<Written> {
        self.write_with(name, text, existing, &[])
    }

    /// Writes a skill with supporting files. These are written first: a folder without a `SKILL.md` is not a skill.
    pub(crate) fn write_with(
        &self,
        name: &SkillName,
        text: &str,
        existing: Existing,
        beside: &[(Name, Vec<u8>)],
    ) -> Result<Written> {
        let _lock = self.folder.lock()?;
        let folder = Name::from(name.to_string());
        let file = folder.join(FILE);
        // A root that a person named may be a link; the memory's own may not.
        for part in [self.is_own.then_some(&Name::TOP), Some(&folder), Some(&file)].into_iter().flatten() {
            self.refuse_link(part)?;
        }
        let path = self.root.path_of(&file);
        // On a case-insensitive file system, the file may exist under another spelling.
        let stamp = self.root.stamp(&file)?;
        if stamp.is_some() {
            if self.root.read_or_empty(&file, 0)? == text.as_bytes() {
                return Ok(Written::Unchanged(path));
            }
            if existing == Existing::Keep {
                return Ok(Written::Taken(path));
            }
        }
        self.root.create_directory(&folder)?;
        for (name, bytes) in beside {
            self.write_supporting(&folder, name, bytes)?;
        }
        if self.is_own {
            self.folder.sweep();
            let temporary = self.folder.write_temporary(FILE, text.as_bytes())?;
            self.folder.files().rename(temporary, Name::from(OWN_SKILLS).join(file.as_path()))?;
        } else {
            self.write_beside(&folder, &file, text)?;
        }
        self.root.sync_directory(&folder)?;
        self.root.sync_directory(Name::TOP)?;
        if self.is_own {
            self.folder.files().sync_directory(Name::TOP)?;
        }
        Ok(if stamp.is_some() { Written::Replaced(path) } else { Written::New(path) })
    }

    fn refuse_link(&self, part: &Name) -> Result<()> {
        if self.root.entry(part).is_ok_and(|entry| entry == Entry::Link) {
            let reason = io::Error::other("it is a symbolic link");
            return Err(FolderError::io("write", &self.root.path_of(part))(reason));
        }
        Ok(())
    }

    /// Writes a supporting file, with the folders that it needs.
    fn write_supporting(&self, folder: &Name, name: &Name, bytes: &[u8]) -> Result<()> {
        let mut above = folder.clone();
        for part in name.as_path().parent().into_iter().flat_map(Path::components) {
            above = above.join(part);
            self.refuse_link(&above)?;
            self.root.create_directory(&above)?;
        }
        let file = folder.join(name.as_path());
        self.refuse_link(&file)?;
        self.root.create(&file, bytes)?;
        self.root.sync(&file)?;
        self.root.sync_directory(above)
    }

    /// The skill's folder may be on another file system, so the temporary file is created in that folder.
    fn write_beside(&self, folder: &Name, file: &Name, text: &str) -> Result<()> {
        let temporary = folder.join(format!("{TEMPORARY}{FILE}.{}", std::process::id()));
        let written = self.root.create(&temporary, text.as_bytes());
        let written = written.and_then(|()| self.root.sync(&temporary));
        let written = written.and_then(|()| self.root.rename(&temporary, file));
        if written.is_err() {
            // No sweep removes temporary files there. If this fails too, the file does no harm.
            let _ = self.root.remove_if_exists(&temporary);
        }
        written
    }
}

pub(in crate::store) fn unreadable(error: &io::Error) -> NotListed {
    NotListed::Unreadable(error.to_string())
}

impl From<FolderError> for NotListed {
    fn from(error: FolderError) -> Self {
        match error {
            FolderError::Io { source, .. } => unreadable(&source),
            error => Self::Unreadable(error.to_string()),
        }
    }
}

/// The file of a skill that a person named: the path itself, or the `SKILL.md` in that folder.
pub(crate) fn skill_file(path: &Path) -> PathBuf {
    let inside = || FILE_NAMES.map(|name| path.join(name)).into_iter().find(|file| file.exists());
    if path.is_dir() { inside().unwrap_or_else(|| path.join(FILE)) } else { path.to_owned() }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests write files by themselves")]
mod tests {
    use std::fs;

    use super::*;
    use crate::folder::Access;
    use crate::folder::disk::RealDisk;
    use crate::skill::MAX_SKILL_BYTES;

    fn open(folder: &Path) -> Folder {
        Folder::open(folder, Box::new(RealDisk), Access::ReadWrite).unwrap()
    }

    fn scan(folder: &Folder, root: &Path) -> SkillRoot {
        SkillFiles::in_folder(folder, root).scan()
    }

    fn put(root: &Path, folder: &str, text: &str) -> PathBuf {
        fs::create_dir_all(root.join(folder)).unwrap();
        let path = root.join(folder).join("SKILL.md");
        fs::write(&path, text).unwrap();
        path
    }

    fn names(root: &SkillRoot) -> Vec<&str> {
        root.found.iter().map(|found| found.skill.name.as_str()).collect()
    }

    fn reasons(root: &SkillRoot) -> Vec<String> {
        let name = |path: &Path| path.parent().and_then(Path::file_name).unwrap().to_string_lossy().into_owned();
        root.left_out.iter().map(|refused| format!("{}: {}", name(&refused.path), refused.reason)).collect()
    }

    #[test]
    fn a_root_is_scanned_in_order_and_invalid_skills_are_reported() {
        let temp = tempfile::tempdir().unwrap();
        let (folder, root) = (open(&temp.path().join("memory")), temp.path().join("root"));
        assert!(names(&scan(&folder, &root)).is_empty());
        put(&root, "b", "B.");
        put(&root, "a", "---\nname: z\n---\nZ.");
        put(&root, "bad", "---\nname: x/y\n---\nZ.");
        put(&root, "large", &"x".repeat(MAX_SKILL_BYTES + 1));
        put(&root, ".hidden", "H.");
        fs::create_dir_all(root.join("empty")).unwrap();
        fs::create_dir_all(root.join("folder").join("SKILL.md")).unwrap();
        fs::write(root.join("README.md"), "x").unwrap();
        fs::create_dir_all(root.join("lower")).unwrap();
        fs::write(root.join("lower").join("skill.md"), "L.").unwrap();
        let found = scan(&folder, &root);
        assert_eq!(names(&found), ["z", "b", "lower"]);
        assert_eq!(
            reasons(&found),
            [
                "bad: \"x/y\" cannot be the name of a skill's folder",
                "folder: not a plain file",
                "large: 1048577 bytes, at most 1048576 are read",
            ]
        );
    }

    #[test]
    #[cfg(unix)]
    fn links_are_followed_within_the_root_only() {
        use std::os::unix::fs::symlink;
        let temp = tempfile::tempdir().unwrap();
        let (folder, root, outside) =
            (open(&temp.path().join("memory")), temp.path().join("root"), temp.path().join("out"));
        put(&outside, "evil", "---\nname: evil\n---\nE.");
        put(&root, "own", "O.");
        symlink(outside.join("evil"), root.join("folder-link")).unwrap();
        fs::create_dir_all(root.join("file-link")).unwrap();
        symlink(outside.join("evil").join("SKILL.md"), root.join("file-link").join("SKILL.md")).unwrap();
        fs::create_dir_all(root.join("broken")).unwrap();
        symlink(root.join("nowhere"), root.join("broken").join("SKILL.md")).unwrap();
        symlink(root.join("own"), root.join("within")).unwrap();
        let found = scan(&folder, &root);
        // The skill without a name is named after its folder.
        assert_eq!(names(&found), ["own", "within"]);
        let reasons = reasons(&found);
        assert_eq!(reasons.len(), 3, "{reasons:?}");
        assert!(reasons[0].starts_with("broken: No such file"), "{reasons:?}");
        assert_eq!(
            &reasons[1..],
            [
                "file-link: a link leads out of the folder of skills",
                "folder-link: a link leads out of the folder of skills"
            ]
        );

        // A root may be a link: a person named it. A link in the memory's own folder is not written through.
        symlink(&root, temp.path().join("root-link")).unwrap();
        assert_eq!(names(&scan(&folder, &temp.path().join("root-link"))).len(), 2);
        let name = |text: &str| text.parse::<SkillName>().unwrap();
        for (linked, target) in [("skills/folder", &outside), ("skills/file/SKILL.md", &outside.join("evil/SKILL.md"))]
        {
            let link = folder.path().join(linked);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(target, &link).unwrap();
        }
        for text in ["folder", "file"] {
            let refused = SkillFiles::own(&folder).write(&name(text), "text", Existing::Replace);
            assert!(matches!(refused, Err(FolderError::Io { action: "write", .. })), "{refused:?}");
        }
        fs::remove_dir_all(folder.files().path_of(OWN_SKILLS)).unwrap();
        symlink(&outside, folder.files().path_of(OWN_SKILLS)).unwrap();
        assert!(SkillFiles::own(&folder).write(&name("new"), "text", Existing::Keep).is_err());
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(outside.join("evil/SKILL.md")).unwrap(), "---\nname: evil\n---\nE.");
    }

    #[test]
    fn a_skill_is_written_once_and_replaced_only_when_asked() {
        let temp = tempfile::tempdir().unwrap();
        let folder = open(&temp.path().join("memory"));
        let name: SkillName = "one".parse().unwrap();
        for root in [folder.files().path_of(OWN_SKILLS), temp.path().join("elsewhere")] {
            let path = root.join("one").join("SKILL.md");
            let write =
                |text: &str, existing| SkillFiles::in_folder(&folder, &root).write(&name, text, existing).unwrap();
            assert_eq!(write("a", Existing::Keep), Written::New(path.clone()));
            assert_eq!(write("a", Existing::Keep), Written::Unchanged(path.clone()));
            assert_eq!(write("b", Existing::Keep), Written::Taken(path.clone()));
            assert_eq!(fs::read_to_string(&path).unwrap(), "a");
            assert_eq!(write("b", Existing::Replace), Written::Replaced(path.clone()));
            assert_eq!(fs::read_to_string(&path).unwrap(), "b");
            assert_eq!(fs::read_dir(root.join("one")).unwrap().count(), 1);
        }
    }
}
