//! Skills as files, `<root>/<name>/SKILL.md`: found, read once while they do not change, written whole.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Place;
use super::disk::{Stamp, TEMPORARY};
use crate::error::{Error, Result};
use crate::skills::{MAX_SKILL_BYTES, Skill, SkillName, SkillReading, SkillRefused};

/// What the file is called, and what some call it.
const FILE_NAMES: [&str; 2] = ["SKILL.md", "skill.md"];
/// Folders of a root that are looked into.
const MAX_FOLDERS: usize = 5_000;

/// Why a file that is called a skill is not listed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotListed {
    /// It is no skill.
    #[error(transparent)]
    Refused(#[from] SkillRefused),
    /// A link leads out of the root.
    #[error("a link leads out of the folder of skills")]
    LeadsOut,
    /// It is something else, such as a folder or a pipe.
    #[error("not a plain file")]
    NotAFile,
    /// It could not be read.
    #[error("{0}")]
    Unreadable(String),
    /// There are too many; this one and those after it were not looked at.
    #[error("past the first {max} folders")]
    TooMany {
        /// How many are looked at.
        max: usize,
    },
}

/// What is in a root, by the names of its folders.
#[derive(Debug, Default)]
pub(crate) struct SkillRoot {
    pub(crate) found: Vec<FoundSkill>,
    pub(crate) left_out: Vec<(PathBuf, NotListed)>,
}

/// A file that is a skill.
#[derive(Clone, Debug)]
pub(crate) struct FoundSkill {
    pub(crate) path: PathBuf,
    pub(crate) reading: Arc<SkillReading>,
}

/// What a handle has read of skills, so that it reads it once.
#[derive(Debug, Default)]
pub(crate) struct SkillShelf {
    known: BTreeMap<PathBuf, Known>,
    /// How many files were parsed.
    #[cfg(test)]
    n_parsed: usize,
}

#[derive(Debug)]
struct Known {
    stamp: Stamp,
    parsed: Result<Arc<SkillReading>, SkillRefused>,
}

/// Whether a file that is there with another text is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    Keep,
    Replace,
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    New(PathBuf),
    Replaced(PathBuf),
    /// It had this text already.
    Unchanged(PathBuf),
    /// Another text stands there.
    Taken(PathBuf),
}

impl Place {
    /// The folder of the skills of this memory.
    pub(crate) fn own_skills(&self) -> PathBuf {
        self.folder.path().join("skills")
    }

    /// The skills in a folder; none where there is no folder. Hidden folders and those without a skill are passed over.
    pub(crate) fn scan_skills(&self, root: &Path, cache: &mut SkillShelf) -> SkillRoot {
        let mut scanned = SkillRoot::default();
        let leave = |error: &io::Error| NotListed::Unreadable(error.to_string());
        let listed = fs::canonicalize(root).and_then(|real| Ok((self.disk.list(&real)?, real)));
        let (names, real) = match listed {
            Ok(listed) => listed,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return scanned,
            Err(error) => {
                scanned.left_out.push((root.to_owned(), leave(&error)));
                return scanned;
            }
        };
        let is_hidden = |name: &OsStr| name.as_encoded_bytes().starts_with(b".");
        let mut present = BTreeSet::new();
        let folders = names.iter().filter(|name| !is_hidden(name)).map(|name| real.join(name));
        for (place, folder) in folders.filter(|folder| folder.is_dir()).enumerate() {
            if place >= MAX_FOLDERS {
                scanned.left_out.push((folder, NotListed::TooMany { max: MAX_FOLDERS }));
                break;
            }
            // A link that leads nowhere is there, too.
            let is_there = |path: &PathBuf| fs::symlink_metadata(path).is_ok();
            let Some(path) = FILE_NAMES.map(|name| folder.join(name)).into_iter().find(is_there) else { continue };
            match self.read_skill(&real, &folder, &path, cache, &mut present) {
                Ok(reading) => scanned.found.push(FoundSkill { path, reading }),
                Err(reason) => scanned.left_out.push((path, reason)),
            }
        }
        let is_here = |path: &Path| path.parent().and_then(Path::parent) == Some(&real);
        cache.known.retain(|path, _| !is_here(path) || present.contains(path));
        scanned
    }

    fn read_skill(
        &self,
        root: &Path,
        folder: &Path,
        file: &Path,
        cache: &mut SkillShelf,
        present: &mut BTreeSet<PathBuf>,
    ) -> Result<Arc<SkillReading>, NotListed> {
        let unreadable = |error: io::Error| NotListed::Unreadable(error.to_string());
        let real = fs::canonicalize(file).map_err(unreadable)?;
        if !real.starts_with(root) {
            return Err(NotListed::LeadsOut);
        }
        if !fs::metadata(&real).map_err(unreadable)?.is_file() {
            return Err(NotListed::NotAFile);
        }
        let stamp = self.disk.stamp(&real).map_err(unreadable)?;
        let stamp = stamp.ok_or_else(|| unreadable(io::ErrorKind::NotFound.into()))?;
        if stamp.length > MAX_SKILL_BYTES as u64 {
            return Err(SkillRefused::TooLarge { n_bytes: stamp.length, max: MAX_SKILL_BYTES as u64 }.into());
        }
        // The name that a nameless skill takes is its folder's: under another link it is another skill.
        let key = folder.join(real.file_name().unwrap_or_default());
        present.insert(key.clone());
        if let Some(known) = cache.known.get(&key).filter(|known| known.stamp.is_surely(&stamp)) {
            return known.parsed.clone().map_err(NotListed::from);
        }
        let bytes = self.disk.read_start(&real, MAX_SKILL_BYTES + 1).map_err(unreadable)?;
        let parsed = Skill::read(&bytes, folder.file_name().and_then(OsStr::to_str)).map(Arc::new);
        #[cfg(test)]
        {
            cache.n_parsed += 1;
        }
        cache.known.insert(key, Known { stamp, parsed: parsed.clone() });
        Ok(parsed?)
    }

    /// Writes a skill into a folder of skills, under the folder's lock: beside its place, made safe, then put there with one
    /// rename. A link that lies where its folder or its file belongs is not followed.
    pub(crate) fn write_skill(&self, root: &Path, name: &SkillName, text: &str, existing: Existing) -> Result<Written> {
        let _lock = self.lock()?;
        let folder = root.join(name.as_str());
        let path = folder.join("SKILL.md");
        let is_own = root == self.own_skills();
        // A root that a person names may be a link; ours may not.
        for part in [is_own.then_some(root), Some(&folder), Some(&path)].into_iter().flatten() {
            if fs::symlink_metadata(part).is_ok_and(|metadata| metadata.is_symlink()) {
                return Err(Error::io("write", part)(io::Error::other("it is a symbolic link")));
            }
        }
        // A file of another system may be called otherwise and still be the same one.
        let stamp = self.stamp(&path)?;
        if stamp.is_some() {
            if self.read_or_empty(&path, 0)? == text.as_bytes() {
                return Ok(Written::Unchanged(path));
            }
            if existing == Existing::Keep {
                return Ok(Written::Taken(path));
            }
        }
        self.disk.create_folder(&folder).map_err(Error::io("make the folder", &folder))?;
        if is_own {
            self.sweep();
            let temporary = self.write_temporary("SKILL.md", text.as_bytes())?;
            self.rename(&temporary, &path)?;
        } else {
            self.write_skill_beside(&folder, &path, text)?;
        }
        self.sync_folder(&folder)?;
        self.sync_folder(root)?;
        if is_own {
            self.sync_folder(self.folder.path())?;
        }
        Ok(if stamp.is_some() { Written::Replaced(path) } else { Written::New(path) })
    }

    /// Another file system may begin at a folder that is not ours, so that what is written lies in it from the beginning.
    fn write_skill_beside(&self, folder: &Path, path: &Path, text: &str) -> Result<()> {
        let temporary = folder.join(format!("{TEMPORARY}SKILL.md.{}", std::process::id()));
        let written = self.disk.create(&temporary, text.as_bytes()).map_err(Error::io("write", &temporary));
        let written = written.and_then(|()| self.sync(&temporary)).and_then(|()| self.rename(&temporary, path));
        if written.is_err() {
            // Nobody else sweeps there; where that fails too, it does no harm.
            let _ = self.disk.remove(&temporary);
        }
        written
    }
}

/// The file of a skill that a person names: itself, or the one in that folder.
pub(crate) fn skill_file(path: &Path) -> PathBuf {
    let inside = || FILE_NAMES.map(|name| path.join(name)).into_iter().find(|file| file.exists());
    if path.is_dir() { inside().unwrap_or_else(|| path.join("SKILL.md")) } else { path.to_owned() }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests write files by themselves")]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::store::Access;
    use crate::store::disk::RealDisk;

    fn place(folder: &Path) -> Place {
        Place::open(folder.to_owned(), Box::new(RealDisk), Access::ReadWrite).unwrap()
    }

    fn put(root: &Path, folder: &str, text: &str) -> PathBuf {
        fs::create_dir_all(root.join(folder)).unwrap();
        let path = root.join(folder).join("SKILL.md");
        fs::write(&path, text).unwrap();
        path
    }

    /// As if it had been written some time ago.
    fn age(path: &Path, seconds: u64) {
        let then = SystemTime::now() - Duration::from_secs(seconds);
        fs::File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
    }

    fn names(root: &SkillRoot) -> Vec<&str> {
        root.found.iter().map(|found| found.reading.skill.name.as_str()).collect()
    }

    fn reasons(root: &SkillRoot) -> Vec<String> {
        let name = |path: &Path| path.parent().and_then(Path::file_name).unwrap().to_string_lossy().into_owned();
        root.left_out.iter().map(|(path, reason)| format!("{}: {reason}", name(path))).collect()
    }

    #[test]
    fn a_root_is_scanned_in_order_and_what_is_no_skill_is_said() {
        let temp = tempfile::tempdir().unwrap();
        let (place, root) = (place(&temp.path().join("memory")), temp.path().join("root"));
        let mut cache = SkillShelf::default();
        assert!(names(&place.scan_skills(&root, &mut cache)).is_empty());
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
        let found = place.scan_skills(&root, &mut cache);
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
        let (place, root, outside) =
            (place(&temp.path().join("memory")), temp.path().join("root"), temp.path().join("out"));
        put(&outside, "evil", "---\nname: evil\n---\nE.");
        put(&root, "own", "O.");
        symlink(outside.join("evil"), root.join("folder-link")).unwrap();
        fs::create_dir_all(root.join("file-link")).unwrap();
        symlink(outside.join("evil").join("SKILL.md"), root.join("file-link").join("SKILL.md")).unwrap();
        fs::create_dir_all(root.join("broken")).unwrap();
        symlink(root.join("nowhere"), root.join("broken").join("SKILL.md")).unwrap();
        symlink(root.join("own"), root.join("within")).unwrap();
        let found = place.scan_skills(&root, &mut SkillShelf::default());
        // The one without a name is named after the folder that it was found in.
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

        // A root may be a link itself: a person named it. Nothing is written through one that lies in ours.
        symlink(&root, temp.path().join("root-link")).unwrap();
        assert_eq!(names(&place.scan_skills(&temp.path().join("root-link"), &mut SkillShelf::default())).len(), 2);
        let name = |text: &str| text.parse::<SkillName>().unwrap();
        for (linked, target) in [("skills/folder", &outside), ("skills/file/SKILL.md", &outside.join("evil/SKILL.md"))]
        {
            let link = place.folder.path().join(linked);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(target, &link).unwrap();
        }
        for text in ["folder", "file"] {
            let refused = place.write_skill(&place.own_skills(), &name(text), "text", Existing::Replace);
            assert!(matches!(refused, Err(Error::Io { action: "write", .. })), "{refused:?}");
        }
        fs::remove_dir_all(place.own_skills()).unwrap();
        symlink(&outside, place.own_skills()).unwrap();
        assert!(place.write_skill(&place.own_skills(), &name("new"), "text", Existing::Keep).is_err());
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(outside.join("evil/SKILL.md")).unwrap(), "---\nname: evil\n---\nE.");
    }

    #[test]
    fn what_did_not_change_is_parsed_once() {
        let temp = tempfile::tempdir().unwrap();
        let (place, root) = (place(&temp.path().join("memory")), temp.path().join("root"));
        let paths = ["a", "b", "c"].map(|name| put(&root, name, "Text."));
        for path in &paths {
            age(path, 60);
        }
        let mut cache = SkillShelf::default();
        let first = place.scan_skills(&root, &mut cache);
        assert_eq!((names(&first).len(), cache.n_parsed), (3, 3));
        let again = place.scan_skills(&root, &mut cache);
        assert_eq!((names(&again), cache.n_parsed), (names(&first), 3));
        fs::write(&paths[1], "---\nname: b\n---\nOther.").unwrap();
        age(&paths[1], 30);
        let changed = place.scan_skills(&root, &mut cache);
        assert_eq!((changed.found[1].reading.skill.body.as_str(), cache.n_parsed), ("Other.", 4));
        fs::remove_dir_all(root.join("b")).unwrap();
        assert_eq!(names(&place.scan_skills(&root, &mut cache)), ["a", "c"]);
        assert_eq!((cache.known.len(), cache.n_parsed), (2, 4));
    }

    #[test]
    fn a_skill_is_written_once_and_replaced_only_when_asked() {
        let temp = tempfile::tempdir().unwrap();
        let place = place(&temp.path().join("memory"));
        let name: SkillName = "one".parse().unwrap();
        for root in [place.own_skills(), temp.path().join("elsewhere")] {
            let path = root.join("one").join("SKILL.md");
            let write = |text: &str, existing| place.write_skill(&root, &name, text, existing).unwrap();
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
