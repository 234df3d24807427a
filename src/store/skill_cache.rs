//! A cache of the skills that a handle has read, valid until a stamp indicates a change.
//!
//! If nothing changes, a scan takes one stat of the root, and for each of its folders one stat of the folder and one of each
//! entry. A change of entries changes the stamp of their folder; a change of a file does not, so each file has a stamp of its
//! own. Entries that involve a link or could not be read are examined at every scan.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::skill_files::{FILE, FoundSkill, NotListed, OWN_SKILLS, RefusedSkill, SkillRoot, unreadable};
use super::skill_state::SkillState;
use super::supporting_files::SupportingFiles;
use crate::folder::{Directory, Entry, Folder, KnownJson, Name, Stamp};
use crate::hash::TextHash;
use crate::skill::{MAX_SKILL_BYTES, Skill, SkillRefused};

/// The accepted names of a skill's file.
pub(super) const FILE_NAMES: [&str; 2] = [FILE, "skill.md"];
/// The maximum number of folders of a root.
const MAX_FOLDERS: usize = 5_000;

/// The cache of skills.
#[derive(Debug, Default)]
pub(crate) struct SkillCache {
    roots: BTreeMap<PathBuf, KnownRoot>,
    /// Their promotions and use.
    pub(crate) state: KnownJson<SkillState>,
    /// The memory's own skills when it was found out last who writes to the folder.
    judged: Option<TextHash>,
    /// The number of parsed files.
    #[cfg(test)]
    pub(super) n_parsed: usize,
}

#[derive(Debug)]
struct KnownRoot {
    /// Its path with every link followed.
    real: PathBuf,
    stamp: Stamp,
    folders: Vec<KnownFolder>,
    /// The first folder past the limit.
    surplus: Option<PathBuf>,
}

/// An entry of a root that is a folder, or may become one without a change of the root's stamp.
#[derive(Debug)]
struct KnownFolder {
    name: Name,
    is_folder: bool,
    file: Option<KnownFile>,
    /// The stamps that prove that nothing has changed; if empty, nothing does.
    watched: Vec<(Name, Stamp)>,
}

#[derive(Debug)]
struct KnownFile {
    path: PathBuf,
    /// The stamp of the parsed file.
    stamp: Option<Stamp>,
    outcome: Result<FoundSkill, NotListed>,
}

impl SkillCache {
    /// The skills in a root; empty if the folder is missing. Hidden folders and those without a skill are skipped.
    pub(super) fn scan(&mut self, folder: &Folder, root: &Path) -> SkillRoot {
        let known = self.roots.remove(root);
        let scan = Scan {
            folder,
            #[cfg(test)]
            n_parsed: &mut self.n_parsed,
        };
        match scan.root(root, known) {
            Ok(None) => SkillRoot::default(),
            Ok(Some(known)) => {
                let scanned = known.scanned();
                self.roots.insert(root.to_owned(), known);
                scanned
            }
            Err(reason) => {
                SkillRoot { left_out: vec![RefusedSkill { path: root.to_owned(), reason }], ..SkillRoot::default() }
            }
        }
    }

    /// True when the memory's own skills are others than when [`SkillCache::note_reviewed`] was called.
    pub(crate) fn has_changed(&self, own: &[FoundSkill]) -> bool {
        self.judged != Some(texts_of(own))
    }

    pub(crate) fn note_reviewed(&mut self, own: &[FoundSkill]) {
        self.judged = Some(texts_of(own));
    }

    #[cfg(test)]
    pub(super) fn n_known(&self) -> usize {
        self.roots.values().map(|root| root.folders.len()).sum()
    }
}

fn texts_of(found: &[FoundSkill]) -> TextHash {
    TextHash::of(&found.iter().map(|found| found.text_hash.to_string()).collect::<Vec<_>>())
}

impl KnownRoot {
    fn scanned(&self) -> SkillRoot {
        let mut scanned = SkillRoot::default();
        for file in self.folders.iter().filter_map(|folder| folder.file.as_ref()) {
            match &file.outcome {
                Ok(found) => scanned.found.push(found.clone()),
                Err(reason) => {
                    scanned.left_out.push(RefusedSkill { path: file.path.clone(), reason: reason.clone() });
                }
            }
        }
        let reason = NotListed::TooMany { max: MAX_FOLDERS };
        let too_many = |path: &PathBuf| RefusedSkill { path: path.clone(), reason: reason.clone() };
        scanned.left_out.extend(self.surplus.as_ref().map(too_many));
        scanned
    }
}

/// A scan of one root.
struct Scan<'a> {
    folder: &'a Folder,
    #[cfg(test)]
    n_parsed: &'a mut usize,
}

impl Scan<'_> {
    /// None if the folder is missing.
    fn root(mut self, path: &Path, known: Option<KnownRoot>) -> Result<Option<KnownRoot>, NotListed> {
        // Taken before the names are listed: a later change changes the stamp or makes it racy. The memory's own folder of
        // skills is not a link.
        let files = self.folder.files();
        let is_own = path == files.path_of(OWN_SKILLS);
        let stamp = if is_own { files.stamp(OWN_SKILLS)? } else { self.folder.links().stamp(path)? };
        let Some(stamp) = stamp else { return Ok(None) };
        let known = match known {
            Some(known) if known.stamp.is_surely(&stamp) => return Ok(Some(self.refreshed(known))),
            known => known,
        };
        let real = match self.folder.links().resolve(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            real => real.map_err(|error| unreadable(&error))?,
        };
        let known = known.filter(|known| known.real == real);
        let mut before: BTreeMap<Name, KnownFolder> = BTreeMap::new();
        before.extend(known.into_iter().flat_map(|known| known.folders).map(|known| (known.name.clone(), known)));
        let root = self.folder.elsewhere(&real);
        let is_hidden = |name: &OsStr| name.as_encoded_bytes().starts_with(b".");
        let (mut folders, mut n_folders, mut surplus) = (Vec::new(), 0, None);
        for name in root.list(Name::TOP)?.iter().filter(|name| !is_hidden(name)) {
            let name = Name::from(name.as_os_str());
            let known = before.remove(&name);
            let Some(folder) = self.folder(&root, name, known) else { continue };
            if folder.is_folder && n_folders == MAX_FOLDERS {
                surplus = Some(root.path_of(&folder.name));
                break;
            }
            n_folders += usize::from(folder.is_folder);
            folders.push(folder);
        }
        Ok(Some(KnownRoot { real, stamp, folders, surplus }))
    }

    /// A root with unchanged entries.
    fn refreshed(&mut self, known: KnownRoot) -> KnownRoot {
        let root = self.folder.elsewhere(&known.real);
        let refresh = |known: KnownFolder| {
            if is_unchanged(&root, &known) {
                Some(known)
            } else {
                self.examined(&root, known.name.clone(), Some(known))
            }
        };
        let folders = known.folders.into_iter().filter_map(refresh).collect();
        KnownRoot { folders, ..known }
    }

    /// An entry of a root with changed entries: another folder may have the name now.
    fn folder(&mut self, root: &Directory, name: Name, known: Option<KnownFolder>) -> Option<KnownFolder> {
        match known {
            Some(known) if matches!(root.entry(&name), Ok(Entry::Folder)) && is_unchanged(root, &known) => Some(known),
            known => self.examined(root, name, known),
        }
    }

    /// None for an entry that is not a folder and cannot become one without a change of the root's stamp.
    fn examined(&mut self, root: &Directory, name: Name, known: Option<KnownFolder>) -> Option<KnownFolder> {
        let is_linked = match root.entry(&name) {
            Ok(Entry::Folder) => false,
            Ok(Entry::Link) if self.leads_to_folder(&root.path_of(&name)) => true,
            Ok(Entry::Link) | Err(_) => {
                return Some(KnownFolder { name, is_folder: false, file: None, watched: Vec::new() });
            }
            Ok(_) => return None,
        };
        let folder_stamp = root.own_stamp(&name).ok().flatten();
        // A link to a missing target exists as well.
        let is_there = |file: &Name| root.entry(file).is_ok_and(|entry| entry != Entry::Missing);
        let file = FILE_NAMES.map(|file| name.join(file)).into_iter().find(is_there);
        let file_stamp = file.as_ref().and_then(|file| root.own_stamp(file).ok().flatten());
        let before = known.and_then(|known| known.file);
        let mut known_file = file.as_ref().map(|file| self.file(root, &name, file, before));
        let mut watched = Vec::new();
        let beside = known_file.as_mut().map_or(Some(Vec::new()), |file| self.supporting(root, &name, file));
        let is_proved_by_stamp = known_file.as_ref().is_none_or(KnownFile::is_proved_by_stamp);
        if let Some(beside) = beside.filter(|_| !is_linked && is_proved_by_stamp) {
            watched.extend(folder_stamp.map(|stamp| (name.clone(), stamp)));
            watched.extend(file.zip(file_stamp));
            watched.extend(beside);
        }
        Some(KnownFolder { name, is_folder: true, file: known_file, watched })
    }

    /// Adds the supporting files to what is known of a skill. Returns the stamps that prove that they are unchanged, if there
    /// are such.
    fn supporting(&self, root: &Directory, name: &Name, file: &mut KnownFile) -> Option<Vec<(Name, Stamp)>> {
        let Ok(found) = &mut file.outcome else { return Some(Vec::new()) };
        let folder = self.folder.links().resolve(&root.path_of(name)).ok()?;
        let skill_file = Name::TOP.join(file.path.file_name()?);
        let beside = SupportingFiles::scan(&self.folder.elsewhere(&folder), &skill_file);
        found.text_hash = beside.hash_with(found.skill.text_hash());
        (found.files, found.not_covered) = (beside.files, beside.not_covered);
        let below = |(path, stamp): (Name, Stamp)| (name.join(path.as_path()), stamp);
        beside.watched.map(|watched| watched.into_iter().filter(|(path, _)| *path != Name::TOP).map(below).collect())
    }

    fn leads_to_folder(&self, link: &Path) -> bool {
        let resolved = self.folder.links().resolve(link);
        resolved.is_ok_and(|path| matches!(self.folder.elsewhere(&path).entry(Name::TOP), Ok(Entry::Folder)))
    }

    fn file(&mut self, root: &Directory, folder: &Name, file: &Name, known: Option<KnownFile>) -> KnownFile {
        let path = root.path_of(file);
        let mut stamp = None;
        let outcome = self.read(root, folder, &path, known, &mut stamp);
        KnownFile { path, stamp, outcome }
    }

    fn read(
        &mut self,
        root: &Directory,
        folder: &Name,
        path: &Path,
        known: Option<KnownFile>,
        read_stamp: &mut Option<Stamp>,
    ) -> Result<FoundSkill, NotListed> {
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
        if let Some(known) = known
            && known.path == path
            && known.stamp.is_some_and(|known| known.is_surely(&stamp))
        {
            *read_stamp = known.stamp;
            return known.outcome;
        }
        let bytes = directory.read_start(name, MAX_SKILL_BYTES + 1)?;
        *read_stamp = Some(stamp);
        #[cfg(test)]
        {
            *self.n_parsed += 1;
        }
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

impl KnownFile {
    /// False if the outcome may change while the file's own stamp stays the same.
    fn is_proved_by_stamp(&self) -> bool {
        !matches!(self.outcome, Err(NotListed::LeadsOut | NotListed::Unreadable(_)))
    }
}

fn is_unchanged(root: &Directory, known: &KnownFolder) -> bool {
    let is_same = |(name, stamp): &(Name, Stamp)| {
        root.own_stamp(name).is_ok_and(|now| now.is_some_and(|now| stamp.is_surely(&now)))
    };
    !known.watched.is_empty() && known.watched.iter().all(is_same)
}
