//! Skills in and out: saved, imported, and made of lessons.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use adage_redact::{as_shown, mask};
use serde::Serialize;

use crate::error::folder::Irregular;
use crate::error::{Error, FolderError, Result, skills};
use crate::folder::Name;
use crate::lesson::{Lesson, LessonId, LessonRef, Trust};
use crate::playbook::{Playbook, Skills};
use crate::skill::{MAX_SKILL_BYTES, Quality, Skill, SkillName, SkillNote, SkillRefused};
use crate::state::Planned;
use crate::store::export::check_folder;
use crate::store::skills::files::{Existing, FILE, FoundSkill, SkillFiles, Written, skill_file};
use crate::store::skills::supporting::SupportingFiles;

/// The result of saving a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SavedSkill {
    /// A file was written.
    Written {
        /// Its name.
        name: SkillName,
        /// Its file.
        #[serde(serialize_with = "crate::path_text::shown")]
        path: PathBuf,
    },
    /// The skill was saved before with the same text.
    Unchanged {
        /// Its name.
        name: SkillName,
        /// Its file.
        #[serde(serialize_with = "crate::path_text::shown")]
        path: PathBuf,
    },
}

/// The result of importing a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ImportedSkill {
    /// The skill is saved.
    Saved {
        /// The result of saving it.
        saved: SavedSkill,
        /// Repairs that were made while it was read.
        notes: Vec<SkillNote>,
    },
    /// The file is not a skill.
    Refused {
        /// The reason.
        reason: SkillRefused,
    },
}

/// Lessons that were written as a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ExportedSkill {
    /// Its name.
    pub name: SkillName,
    /// Its file.
    #[serde(serialize_with = "crate::path_text::shown")]
    pub path: PathBuf,
    /// The lessons, which are now marked as graduated.
    pub lessons: Vec<LessonId>,
}

/// What becomes of a skill that contains what looks like a secret.
#[derive(Clone, Copy, Debug)]
enum Secrets {
    Refused,
    /// A person has read them.
    Kept,
}

impl Playbook {
    /// See [`Skills::export`].
    ///
    /// # Errors
    /// As [`Skills::export`].
    pub fn export_skill<L: Into<LessonRef>>(
        &self,
        lessons: impl IntoIterator<Item = L>,
        folder: &Path,
    ) -> Result<ExportedSkill> {
        self.skills().export(lessons, folder)
    }
}

impl Skills {
    /// Saves a skill in the memory, in standard form: see [`Skill::standardised`].
    ///
    /// # Errors
    /// [`skills::Error::Exists`] when a skill of this name has another text; [`skills::Error::TooLarge`]; the errors of a
    /// write.
    pub fn save(&self, skill: &Skill) -> Result<SavedSkill> {
        self.keep(skill, Existing::Keep, &[])
    }

    /// Saves a skill in the memory. If there is a skill of this name, it is replaced.
    ///
    /// # Errors
    /// [`skills::Error::TooLarge`]; the errors of a write.
    pub fn replace(&self, skill: &Skill) -> Result<SavedSkill> {
        self.keep(skill, Existing::Replace, &[])
    }

    /// Copies a `SKILL.md`, or a folder that contains one with all its files, into the memory. An imported skill is tainted, so
    /// it awaits review. If the memory has the same text and files already, nothing is changed. What looks like a secret would be
    /// kept in clear, so such a skill is refused: see [`Skills::import_revealed`].
    ///
    /// # Errors
    /// [`skills::Error::Masked`] when its text, a file or a file's name contains what looks like a secret;
    /// [`skills::Error::Exists`] when the memory has a skill of this name with another text or other files;
    /// [`skills::Error::NotCovered`] when the files include links, or are too many or too large; [`FolderError::Io`] when it
    /// cannot be read; the errors of a write.
    pub fn import(&self, path: &Path) -> Result<ImportedSkill> {
        self.import_as(path, Secrets::Refused)
    }

    /// As [`Skills::import`], for a skill whose secrets a person has read: they are kept as they are, and masked where the skill
    /// is listed and shown.
    ///
    /// # Errors
    /// As [`Skills::import`], except `Masked`.
    pub fn import_revealed(&self, path: &Path) -> Result<ImportedSkill> {
        self.import_as(path, Secrets::Kept)
    }

    fn import_as(&self, path: &Path, secrets: Secrets) -> Result<ImportedSkill> {
        let (whole, n_bytes, bytes) = self.read_foreign(path)?;
        let folder = whole.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        let reading = match Skill::read(&bytes, folder) {
            Ok(reading) => reading,
            Err(SkillRefused::TooLarge { max, .. }) => {
                return Ok(ImportedSkill::Refused { reason: SkillRefused::TooLarge { n_bytes, max } });
            }
            Err(reason) => return Ok(ImportedSkill::Refused { reason }),
        };
        // A copy would have other letters than the file.
        let is_wide = reading.notes.contains(&SkillNote::Utf16);
        if reading.notes.contains(&SkillNote::NotUtf8) || (bytes.contains(&0) && !is_wide) {
            return Ok(ImportedSkill::Refused { reason: SkillRefused::NotUtf8 });
        }
        let mut skill = reading.skill.standardised();
        skill.quality = Quality::Imported;
        skill.provenance.trust = Trust::Tainted;
        // The ids would refer to another playbook's lessons.
        skill.provenance.lessons.clear();
        let beside = self.beside(path, &skill_file(path), &skill.name)?;
        let own = self.own().into_iter().find(|found| found.skill.name == skill.name);
        let saved = match own {
            Some(found) if found.text_hash == beside.hash_with(skill.text_hash()) => {
                SavedSkill::Unchanged { name: skill.name, path: found.path }
            }
            Some(found) => {
                return Err(skills::Error::Exists { name: skill.name.to_string(), path: found.path }.into());
            }
            None => {
                let files = beside.contents(&self.shared.store.folder.elsewhere(path))?;
                match secrets {
                    Secrets::Refused => refuse_secrets(&skill, &files)?,
                    Secrets::Kept => {}
                }
                self.keep(&skill, Existing::Keep, &files)?
            }
        };
        Ok(ImportedSkill::Saved { saved, notes: reading.notes })
    }

    /// The path of a skill's file that a person names, its length, and its first bytes. If a folder is named, a link that leads
    /// out of it is not followed.
    fn read_foreign(&self, path: &Path) -> Result<(PathBuf, u64, Vec<u8>)> {
        let (file, folder) = (skill_file(path), &self.shared.store.folder);
        let resolve = |path: &Path| folder.links().resolve(path).map_err(FolderError::io("find", path));
        let whole = resolve(&file)?;
        if file != path && !whole.starts_with(resolve(path)?) {
            return Err(FolderError::Irregular { path: file, found: Irregular::Link }.into());
        }
        let (directory, name) = folder.locate(&whole);
        let bytes = directory.read_start(&name, MAX_SKILL_BYTES + 1)?;
        let n_bytes = directory.stamp(&name)?.map_or(0, |stamp| stamp.length);
        Ok((whole, n_bytes, bytes))
    }

    /// The supporting files of an imported folder, without the `SKILL.md`; none if a file was named.
    fn beside(&self, path: &Path, file: &Path, name: &SkillName) -> Result<SupportingFiles> {
        if path == file {
            return Ok(SupportingFiles::default());
        }
        let skill_file = Name::TOP.join(file.file_name().unwrap_or_default());
        let beside = SupportingFiles::scan(&self.shared.store.folder.elsewhere(path), &skill_file);
        match &beside.not_covered {
            None => Ok(beside),
            Some(reason) => {
                Err(skills::Error::NotCovered { name: name.to_string(), reason: reason.to_string() }.into())
            }
        }
    }

    /// Writes lessons as one skill to `<folder>/<name>/SKILL.md` and marks them as graduated. If another text has the name, the
    /// next free number is appended to it. The same lessons give the same file again.
    ///
    /// # Errors
    /// [`Error::NoSuchLesson`](crate::Error::NoSuchLesson), [`Error::Ambiguous`](crate::Error::Ambiguous);
    /// [`skills::Error::NoLessons`] for an empty list; [`skills::Error::TooLarge`], and the errors of a write. The file is written
    /// first: if marking the lessons fails, the file stays.
    pub fn export<L: Into<LessonRef>>(
        &self,
        lessons: impl IntoIterator<Item = L>,
        folder: &Path,
    ) -> Result<ExportedSkill> {
        const MAX_NUMBER: usize = 1_000;
        let (skill, lessons) = self.compose(lessons)?;
        let numbered = (2..MAX_NUMBER).map(|number| skill.name.numbered(number));
        for name in std::iter::once(skill.name.clone()).chain(numbered) {
            if let Some(path) = self.put(&Skill { name: name.clone(), ..skill.clone() }, folder)? {
                return self.graduate(name, path, lessons);
            }
        }
        Err(skills::Error::Exists { name: skill.name.to_string(), path: folder.join(skill.name.as_str()) }.into())
    }

    /// [`export`](Self::export) under the caller's name, which is brought into standard form.
    ///
    /// # Errors
    /// As [`export`](Self::export), and [`skills::Error::Exists`] when another text has the name.
    pub fn export_as<L: Into<LessonRef>>(
        &self,
        lessons: impl IntoIterator<Item = L>,
        name: &SkillName,
        folder: &Path,
    ) -> Result<ExportedSkill> {
        let (skill, lessons) = self.compose(lessons)?;
        let skill = Skill { name: name.clone(), ..skill }.standardised();
        let name = skill.name.clone();
        match self.put(&skill, folder)? {
            Some(path) => self.graduate(name, path, lessons),
            None => Err(skills::Error::Exists { path: folder.join(name.as_str()), name: name.to_string() }.into()),
        }
    }

    /// The memory's own skill files.
    pub(in crate::playbook) fn own(&self) -> Vec<FoundSkill> {
        SkillFiles::own(&self.shared.store.folder).scan().found
    }

    fn keep(&self, skill: &Skill, existing: Existing, beside: &[(Name, Vec<u8>)]) -> Result<SavedSkill> {
        let skill = skill.standardised();
        let text = checked_text(&skill)?;
        let name = skill.name;
        let own = SkillFiles::own(&self.shared.store.folder);
        match self.noted(|| Ok::<_, Error>(own.write_with(&name, &text, existing, beside)?))? {
            Written::New(path) | Written::Replaced(path) => Ok(SavedSkill::Written { name, path }),
            Written::Unchanged(path) => Ok(SavedSkill::Unchanged { name, path }),
            Written::Taken(path) => Err(skills::Error::Exists { name: name.to_string(), path }.into()),
        }
    }

    fn compose<L: Into<LessonRef>>(&self, lessons: impl IntoIterator<Item = L>) -> Result<(Skill, Vec<LessonId>)> {
        let view = self.shared.view()?;
        let book = view.snapshot.book();
        let mut found: Vec<&Arc<Lesson>> = Vec::new();
        for reference in lessons {
            let lesson = book.resolve(&reference.into())?;
            if found.iter().all(|known| known.id != lesson.id) {
                found.push(lesson);
            }
        }
        let ids = found.iter().map(|lesson| lesson.id).collect();
        let skill = Skill::from_lessons(found.into_iter().map(|lesson| &**lesson));
        Ok((skill.ok_or(skills::Error::NoLessons)?, ids))
    }

    /// None when another text has the name.
    fn put(&self, skill: &Skill, folder: &Path) -> Result<Option<PathBuf>> {
        let text = checked_text(skill)?;
        check_folder(folder, Some(self.shared.store.folder.path()))?;
        let files = SkillFiles::in_folder(&self.shared.store.folder, folder);
        let written = self.noted(|| Ok::<_, Error>(files.write(&skill.name, &text, Existing::Keep)?))?;
        Ok(match written {
            Written::New(path) | Written::Replaced(path) | Written::Unchanged(path) => Some(path),
            Written::Taken(_) => None,
        })
    }

    fn graduate(&self, name: SkillName, path: PathBuf, lessons: Vec<LessonId>) -> Result<ExportedSkill> {
        let shared = &self.shared;
        shared.commit(|attempt| {
            let is_new = |id: &LessonId| attempt.book().get(*id).is_some_and(|lesson| !lesson.graduated);
            if !lessons.iter().any(is_new) {
                return Ok(Planned::Nothing(()));
            }
            let mut plan = shared.plan(attempt);
            for id in &lessons {
                plan.book.update(*id, |lesson| lesson.graduated = true);
            }
            Ok(Planned::Commit(plan, ()))
        })?;
        Ok(ExportedSkill { name, path, lessons })
    }
}

/// Refuses a skill in which something would be masked.
fn refuse_secrets(skill: &Skill, files: &[(Name, Vec<u8>)]) -> Result<(), skills::Error> {
    let refuse = |file: String, n_chars: usize| match n_chars {
        0 => Ok(()),
        n_chars => Err(skills::Error::Masked { name: as_shown(skill.name.as_str()), file, n_chars }),
    };
    refuse(FILE.to_owned(), skill.masked().1)?;
    for (name, bytes) in files {
        let name = name.as_path().to_string_lossy();
        let hidden = mask(&name);
        refuse(hidden.text.clone(), hidden.n_hidden + mask(&as_text(bytes)).n_hidden)?;
    }
    Ok(())
}

/// The text of a file in UTF-8 or UTF-16; empty for a program or an image.
fn as_text(bytes: &[u8]) -> String {
    let is_utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    match bytes.contains(&0) {
        true if is_utf16 => String::from_utf8_lossy(bytes).replace('\0', ""),
        true => String::new(),
        false => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// Refuses to write a file that could not be read again.
pub(in crate::playbook) fn checked_text(skill: &Skill) -> Result<String, skills::Error> {
    let text = skill.to_text();
    if text.len() > MAX_SKILL_BYTES {
        let (name, n_bytes) = (skill.name.to_string(), text.len());
        return Err(skills::Error::TooLarge { name, n_bytes, max: MAX_SKILL_BYTES });
    }
    Ok(text)
}
