//! Permanent deletion: a lesson's texts are removed from every file of the folder, not only from the playbook.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::skills::curation::ARCHIVE as SKILLS_ARCHIVE;
use super::{ARCHIVE, BACKUP, FolderStore, PLAYBOOK};
use crate::error::folder::Result;
use crate::folder::edits::JOURNALS;
use crate::folder::{Entry, Name, QUARANTINE};
use crate::lesson::LessonId;
use crate::state::Forgotten;

/// What must be removed from every file.
#[derive(Clone, Debug)]
pub(super) struct Words {
    ids: BTreeSet<LessonId>,
    /// What other files are searched for.
    sought: Vec<Sought>,
}

/// A text in the forms in which a file may contain it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Sought {
    /// As JSON escapes it.
    escaped: String,
    /// With one space for all white space.
    flat: String,
}

/// A text shorter than this, in bytes, is too common to search for.
const MIN_WORDS: usize = 16;

impl Words {
    pub(super) fn of(forgotten: &Forgotten) -> Self {
        let fields = forgotten.texts.iter().flat_map(|lesson| {
            [
                &lesson.correct_pattern,
                &lesson.solution,
                &lesson.mistake,
                &lesson.anti_pattern,
                &lesson.code_example,
                &lesson.trigger,
                &lesson.task,
            ]
        });
        let fields = fields.filter(|text| text.len() >= MIN_WORDS).map(|text| Sought::of(text));
        let ids = forgotten.ids.iter().map(|id| Sought::of(&id.to_string()));
        let mut sought: Vec<Sought> = fields.chain(ids).collect();
        sought.sort_unstable();
        sought.dedup();
        Self { ids: forgotten.ids.clone(), sought }
    }

    pub(super) fn ids(&self) -> &BTreeSet<LessonId> {
        &self.ids
    }

    /// The texts only. Ids remain: in the record of what was removed, in usage.
    fn without_ids(mut self) -> Self {
        let ids: BTreeSet<String> = self.ids.iter().map(LessonId::to_string).collect();
        self.sought.retain(|sought| !ids.contains(&sought.flat));
        self
    }

    /// True if one of the texts is in these bytes: verbatim, with other line breaks, or as escaped by JSON.
    fn is_in(&self, bytes: &[u8]) -> bool {
        let text = String::from_utf8_lossy(bytes);
        let flat = flattened(&text);
        self.sought.iter().any(|sought| text.contains(&sought.escaped) || flat.contains(&sought.flat))
    }
}

impl Sought {
    fn of(text: &str) -> Self {
        let json = serde_json::json!(text).to_string();
        Self { escaped: json.trim_matches('"').to_owned(), flat: flattened(text) }
    }
}

/// The text with one space in place of all white space: a skill breaks lines where a lesson does not.
fn flattened(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Files whose lessons are known: another lesson may have the same text.
fn is_known(name: &Name) -> bool {
    [PLAYBOOK, BACKUP, ARCHIVE].iter().any(|known| *name == Name::from(*known))
}

/// The depth to which folders are searched for texts.
const MAX_DEPTH: usize = 6;

impl FolderStore {
    /// Removes every file of adage's own that contains the texts: quarantined files, journals of edits, archived skills. The
    /// caller holds the lock and has committed.
    pub(super) fn purge(&self, forgotten: &Words) -> Result<()> {
        for folder in [QUARANTINE, JOURNALS, SKILLS_ARCHIVE] {
            for name in self.files_with(forgotten, &folder.into(), 0)? {
                self.files().remove_if_exists(&name)?;
            }
        }
        Ok(())
    }

    /// Removes these files again, after skills of the lesson were archived, and returns the files of the folder that still contain
    /// the texts: skills that a person keeps, notes and proposals.
    pub(crate) fn purge_again(&self, forgotten: &Forgotten) -> Result<Vec<PathBuf>> {
        let words = Words::of(forgotten);
        let _lock = self.folder.lock()?;
        self.purge(&words)?;
        let kept = self.files_with(&words.without_ids(), &Name::TOP, 0)?;
        Ok(kept.into_iter().map(|name| self.files().path_of(name)).collect())
    }

    /// The files in a folder, and below it, that contain the texts, without those whose lessons are known. Links are not followed.
    fn files_with(&self, words: &Words, folder: &Name, depth: usize) -> Result<Vec<Name>> {
        let mut found = Vec::new();
        for name in self.files().list(folder)? {
            let name = folder.clone().join(name);
            match self.files().entry(&name)? {
                Entry::Folder if depth < MAX_DEPTH => found.extend(self.files_with(words, &name, depth + 1)?),
                Entry::File { .. } if is_known(&name) => {}
                Entry::File { .. } if words.is_in(&self.files().read_or_empty(&name, 0)?) => found.push(name),
                _ => {}
            }
        }
        Ok(found)
    }
}
