//! The skills of a root, read from its folders.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::folder::{Directory, Entry, Folder, Name};
use crate::skill::{MAX_SKILL_BYTES, Skill, SkillRefused};
use crate::store::skills::files::{FILE, FoundSkill, NotListed, OWN_SKILLS, RefusedSkill, SkillRoot, unreadable};
use crate::store::skills::supporting::SupportingFiles;

/// The accepted names of a skill's file.
pub(in crate::store) const FILE_NAMES: [&str; 2] = [FILE, "skill.md"];
/// The maximum number of folders of a root.
const MAX_FOLDERS: usize = 5_000;

/// The skills in a root; empty if the folder is missing. Hidden folders and those without a skill are skipped.
pub(in crate::store) fn scan(folder: &Folder, root: &Path) -> SkillRoot {
    let mut scan = Scan { folder, found: SkillRoot::default() };
    if let Err(reason) = scan.root(root) {
        scan.found.left_out.push(RefusedSkill { path: root.to_owned(), reason });
    }
    scan.found
}

/// A scan of one root.
struct Scan<'a> {
    folder: &'a Folder,
    found: SkillRoot,
}

impl Scan<'_> {
    fn root(&mut self, path: &Path) -> Result<(), NotListed> {
        // The memory's own folder of skills is not a link.
        let files = self.folder.files();
        let is_own = path == files.path_of(OWN_SKILLS);
        if is_own && files.stamp(OWN_SKILLS)?.is_none() {
            return Ok(());
        }
        let real = match self.folder.links().resolve(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            real => real.map_err(|error| unreadable(&error))?,
        };
        let root = self.folder.elsewhere(&real);
        let is_hidden = |name: &OsStr| name.as_encoded_bytes().starts_with(b".");
        let mut n_folders = 0;
        for name in root.list(Name::TOP)?.iter().filter(|name| !is_hidden(name)) {
            let name = Name::from(name.as_os_str());
            if !self.is_folder(&root, &name) {
                continue;
            }
            if n_folders == MAX_FOLDERS {
                let reason = NotListed::TooMany { max: MAX_FOLDERS };
                self.found.left_out.push(RefusedSkill { path: root.path_of(&name), reason });
                break;
            }
            n_folders += 1;
            self.skill(&root, &name);
        }
        Ok(())
    }

    fn is_folder(&self, root: &Directory, name: &Name) -> bool {
        match root.entry(name) {
            Ok(Entry::Link) => self.leads_to_folder(&root.path_of(name)),
            entry => matches!(entry, Ok(Entry::Folder)),
        }
    }

    fn leads_to_folder(&self, link: &Path) -> bool {
        let resolved = self.folder.links().resolve(link);
        resolved.is_ok_and(|path| matches!(self.folder.elsewhere(&path).entry(Name::TOP), Ok(Entry::Folder)))
    }

    /// Reads the skill in a folder, if it has one.
    fn skill(&mut self, root: &Directory, name: &Name) {
        // A link to a missing target exists as well.
        let is_there = |file: &Name| root.entry(file).is_ok_and(|entry| entry != Entry::Missing);
        let Some(file) = FILE_NAMES.map(|file| name.join(file)).into_iter().find(is_there) else { return };
        let path = root.path_of(&file);
        match self.read(root, name, &path) {
            Ok(mut found) => {
                self.add_supporting(root, name, &mut found);
                self.found.found.push(found);
            }
            Err(reason) => self.found.left_out.push(RefusedSkill { path, reason }),
        }
    }

    fn add_supporting(&self, root: &Directory, name: &Name, found: &mut FoundSkill) {
        let Ok(folder) = self.folder.links().resolve(&root.path_of(name)) else { return };
        let Some(file) = found.path.file_name() else { return };
        let beside = SupportingFiles::scan(&self.folder.elsewhere(&folder), &Name::TOP.join(file));
        found.text_hash = beside.hash_with(found.skill.text_hash());
        (found.files, found.not_covered) = (beside.files, beside.not_covered);
    }

    fn read(&self, root: &Directory, folder: &Name, path: &Path) -> Result<FoundSkill, NotListed> {
        let real = self.folder.links().resolve(path).map_err(|error| unreadable(&error))?;
        if !real.starts_with(root.path()) {
            return Err(NotListed::LeadsOut);
        }
        let (directory, name) = self.folder.locate(&real);
        if !matches!(directory.entry(&name)?, Entry::File { .. }) {
            return Err(NotListed::NotAFile);
        }
        let stamp = directory.stamp(&name)?.ok_or_else(|| unreadable(&io::ErrorKind::NotFound.into()))?;
        if stamp.length > MAX_SKILL_BYTES as u64 {
            return Err(SkillRefused::TooLarge { n_bytes: stamp.length, max: MAX_SKILL_BYTES as u64 }.into());
        }
        let bytes = directory.read_start(name, MAX_SKILL_BYTES + 1)?;
        let reading = Skill::read(&bytes, folder.as_path().to_str())?;
        Ok(FoundSkill {
            path: path.to_owned(),
            text_hash: reading.skill.text_hash(),
            skill: Arc::new(reading.skill),
            notes: reading.notes,
            files: Vec::new(),
            not_covered: None,
        })
    }
}
