//! Changes of skill files by a curation, all together. Removed skills are archived.

use std::path::{Path, PathBuf};

use chrono::{DateTime, FixedOffset};

use crate::error::{Error, Result};
use crate::folder::edits::{FileEdit, Journal, Reach, Transaction, Undoable, content_hash};
use crate::folder::{Entry, Folder, Name};
use crate::id::ChangeId;
use crate::skill::{Skill, SkillName};
use crate::store::skills::files::OWN_SKILLS;
use crate::store::undo::undo_within;

/// The prefix of a curation's description in its journal.
const WHAT: &str = "curation: ";
/// The folder of removed skills.
pub(in crate::store) const ARCHIVE: &str = "skills-archive";

/// The edit of a skill's file.
pub(crate) struct SkillEdit<'a> {
    pub(crate) name: &'a SkillName,
    pub(crate) path: &'a Path,
    /// The content that the decision was based on.
    pub(crate) known: &'a Skill,
    /// None to move it to the archive.
    pub(crate) text: Option<String>,
}

/// The files that a curation changes.
#[derive(Clone, Copy)]
pub(crate) struct CurationFiles<'a>(&'a Folder);

impl<'a> CurationFiles<'a> {
    pub(crate) fn new(folder: &'a Folder) -> Self {
        Self(folder)
    }

    /// Changes skill files, all or none, as `decide` returns under the folder's lock.
    ///
    /// # Errors
    /// The errors of `decide`; `FileChanged` when a file has another content than the decision was based on; `Io`.
    pub(crate) fn change<T>(
        self,
        at: DateTime<FixedOffset>,
        decide: impl FnOnce() -> Result<(T, Vec<FileEdit>)>,
    ) -> Result<(T, Option<ChangeId>)> {
        let (change, (value, gone)) = self.0.edits().change(at, || {
            let (value, edits) = decide()?;
            let gone: Vec<PathBuf> =
                edits.iter().filter(|edit| edit.is_removal()).map(|edit| edit.path().to_owned()).collect();
            let what = format!("{WHAT}{} files", edits.len());
            let transaction = (!edits.is_empty()).then_some(Transaction { what, record: Undoable::Yes, edits });
            Ok::<_, Error>((transaction, (value, gone)))
        })?;
        for folder in gone.iter().filter_map(|path| path.parent()) {
            // A folder with other entries is kept.
            self.0.elsewhere(folder).remove_if_empty(Name::TOP);
        }
        Ok((value, change))
    }

    /// The edits of files for one skill.
    pub(crate) fn edits_of(self, edit: SkillEdit<'_>) -> Result<Vec<FileEdit>> {
        let SkillEdit { name, path, known, text } = edit;
        let (directory, file) = self.0.locate(path);
        let bytes = directory.content(file)?;
        let read = bytes.as_deref().and_then(|bytes| read(path, bytes));
        if read.is_none_or(|skill| skill != *known) {
            let expected = Some(content_hash(known.to_text().as_bytes()));
            return Err(Error::FileChanged {
                path: path.to_owned(),
                expected,
                found: bytes.as_deref().map(content_hash),
            });
        }
        let bytes = bytes.unwrap_or_default();
        let hash = content_hash(&bytes);
        let is_gone = text.is_none();
        let mut edits = vec![FileEdit::new(path.to_owned(), Some(hash), text.map(String::into_bytes))];
        let archived = Name::from(ARCHIVE).join(format!("{name}.{hash}.md"));
        if is_gone && self.0.files().entry(&archived)? == Entry::Missing {
            edits.push(FileEdit::new(self.0.files().path_of(archived), None, Some(bytes)));
        }
        Ok(edits)
    }

    /// True if a skill's folder contains nothing but its file, and neither is a link.
    pub(crate) fn is_plain(self, path: &Path) -> bool {
        let (directory, file) = self.0.locate(path);
        let is_alone = directory.list(Name::TOP).is_ok_and(|names| names.len() == 1);
        let is_file = matches!(directory.entry(file), Ok(Entry::File { n_links: 1, .. }));
        is_alone && is_file && matches!(directory.entry(Name::TOP), Ok(Entry::Folder))
    }

    /// Reverts a curation: every file gets its former content, to the byte.
    ///
    /// # Errors
    /// `NoSuchChange`; `FileChanged` when a file was changed since; `CannotApply` when the journal names a file outside the
    /// skills; `Io`.
    pub(crate) fn undo(self, change: ChangeId, at: DateTime<FixedOffset>) -> Result<(ChangeId, Vec<Skill>)> {
        let (undone, journal) = undo_within(self.0, change, at, |journal| {
            if !journal.what.starts_with(WHAT) {
                return Err(Error::NoSuchChange { change });
            }
            let own = [OWN_SKILLS, ARCHIVE].map(|name| self.0.files().path_of(name)).to_vec();
            Ok(Reach { own, ..Reach::default() })
        })?;
        Ok((undone, restored(&journal)))
    }
}

/// The skill in a file, named by the file or its folder.
fn read(path: &Path, bytes: &[u8]) -> Option<Skill> {
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    Skill::read(bytes, folder).ok().map(|reading| reading.skill)
}

/// The skills that were restored.
fn restored(journal: &Journal) -> Vec<Skill> {
    journal.files.iter().filter_map(|file| read(&file.path, file.before.as_deref()?)).collect()
}
