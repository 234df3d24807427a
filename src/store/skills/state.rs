//! Records about skills apart from their files: promotions, checks, use. One small JSON file, `skills.json`.
//!
//! Promotions and checks apply to a text, not to a name: a change of the file revokes them. Without the file nothing is
//! promoted, so an unreadable file goes to quarantine and is replaced by an empty one. It is replaced as a whole under the
//! folder's lock.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::folder::Result;
use crate::folder::{Folder, JsonFile, JsonRecord, KnownJson, forget_oldest};
use crate::hash::TextHash;
use crate::store::skills::files::FoundSkill;

/// The content of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SkillState {
    schema: u64,
    /// Texts that a person promoted.
    pub(crate) promoted: BTreeMap<TextHash, Note>,
    /// The last check of each text.
    pub(crate) checked: BTreeMap<TextHash, Checked>,
    /// The use of each skill, by its name.
    pub(crate) used: BTreeMap<String, SkillUse>,
    /// When each of the memory's own skills was first seen, by its name.
    pub(crate) saved: BTreeMap<String, DateTime<FixedOffset>>,
    /// The skill made from a suggested lesson, by the lesson's text: it is made once, and is archived with the lesson.
    pub(crate) drawn: BTreeMap<TextHash, Note>,
    /// Texts of drafts that a person restored after a curation.
    pub(crate) kept: BTreeMap<TextHash, Note>,
    /// Keys of a later version.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// What a handle knows of the records.
#[derive(Debug, Default)]
pub(crate) struct KnownSkillState {
    pub(crate) records: KnownJson<SkillState>,
    /// The memory's own skills when it was found out last who writes to the folder.
    judged: Option<TextHash>,
}

impl KnownSkillState {
    /// True when the memory's own skills are others than when [`note_reviewed`](Self::note_reviewed) was called.
    pub(crate) fn has_changed(&self, own: &[FoundSkill]) -> bool {
        self.judged != Some(texts_of(own))
    }

    pub(crate) fn note_reviewed(&mut self, own: &[FoundSkill]) {
        self.judged = Some(texts_of(own));
    }
}

fn texts_of(found: &[FoundSkill]) -> TextHash {
    TextHash::of(&found.iter().map(|found| found.text_hash.to_string()).collect::<Vec<_>>())
}

/// The name and time for a hash, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Note {
    pub(crate) name: String,
    pub(crate) at: DateTime<FixedOffset>,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Checked {
    #[serde(flatten)]
    pub(crate) note: Note,
    pub(crate) passed: bool,
}

/// The use of a skill: each time that the host counts it, and once a day if it is in the block for a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillUse {
    /// The number of uses.
    pub count: u64,
    /// The time of the last one.
    pub last: Option<DateTime<FixedOffset>>,
}

impl SkillState {
    /// Counts one use of a skill.
    pub(crate) fn use_of(&mut self, name: &str, now: DateTime<FixedOffset>) -> SkillUse {
        let used = self.used.entry(name.to_owned()).or_default();
        used.count = used.count.saturating_add(1);
        used.last = used.last.max(Some(now));
        *used
    }

    fn trim(&mut self) {
        self.schema = Self::SCHEMA;
        forget_oldest(&mut self.used, |used| used.last);
    }
}

/// The file `skills.json` of a folder.
pub(crate) struct SkillStateFile<'a>(JsonFile<'a, SkillState>);

impl<'a> SkillStateFile<'a> {
    pub(crate) fn new(folder: &'a Folder) -> Self {
        Self(JsonFile::new(folder))
    }

    pub(crate) fn read(&self) -> Result<SkillState> {
        self.0.read()
    }

    /// The state; it is read again only if it may have changed since `known` was read.
    pub(crate) fn read_unless_known(&self, known: &mut KnownJson<SkillState>) -> Result<Arc<SkillState>> {
        self.0.read_unless_known(known)
    }

    /// Changes the newest version of the state.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut SkillState) -> T) -> Result<T> {
        self.0.change(|state| {
            let value = change(state);
            state.trim();
            value
        })
    }
}

impl JsonRecord for SkillState {
    const NAME: &'static str = "skills";
    const SCHEMA: u64 = 1;
    const LOST: &'static str = "the record of skills was damaged: no skill is promoted any more";

    fn schema(&self) -> u64 {
        self.schema
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests break files by themselves")]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::error::FolderError;
    use crate::folder::Access;
    use crate::folder::disk::RealDisk;
    use crate::testing::at;

    fn open(folder: &Path, access: Access) -> Folder {
        Folder::open(folder, Box::new(RealDisk), access).unwrap()
    }

    #[test]
    fn records_are_read_back_with_unknown_keys() {
        let temp = tempfile::tempdir().unwrap();
        let folder = open(temp.path(), Access::ReadWrite);
        let file = SkillStateFile::new(&folder);
        let path = temp.path().join("skills.json");
        std::fs::write(&path, b"{\"schema\": 1, \"changes\": [1, 2]}").unwrap();
        let (hash, note) = (TextHash::of(&["x"]), Note { name: "a".into(), at: at(1) });
        file.change(|state| {
            state.promoted.insert(hash, note.clone());
            state.checked.insert(hash, Checked { note: note.clone(), passed: true });
            state.used.insert("a".into(), SkillUse { count: 2, last: Some(at(3)) });
        })
        .unwrap();
        let state = file.read().unwrap();
        assert_eq!((state.promoted.get(&hash), state.used["a"].count), (Some(&note), 2));
        assert!(state.checked[&hash].passed);
        assert!(std::fs::read_to_string(&path).unwrap().contains("\"changes\":[1,2]"));
        // If nothing has changed, nothing is written.
        let stamp = folder.files().stamp("skills.json").unwrap().unwrap();
        file.change(|_| ()).unwrap();
        assert!(stamp.is_alike(&folder.files().stamp("skills.json").unwrap().unwrap()));
    }

    #[test]
    fn a_broken_file_promotes_nothing_and_a_newer_one_is_not_changed() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("skills.json");
        std::fs::write(&path, b"{\"promoted\": {\"zz\": 1}}").unwrap();
        let reader = open(temp.path(), Access::ReadOnly);
        let reader = SkillStateFile::new(&reader);
        assert_eq!(reader.read().unwrap(), SkillState::default());
        assert!(matches!(reader.change(|_| ()), Err(FolderError::ReadOnly { .. })));
        let writer = open(temp.path(), Access::ReadWrite);
        let writer = SkillStateFile::new(&writer);
        writer.change(|state| state.used.insert("a".into(), SkillUse::default())).unwrap();
        assert_eq!(writer.read().unwrap().used.len(), 1);
        assert_eq!(std::fs::read_dir(temp.path().join("quarantine")).unwrap().count(), 1);
        let newer = b"{\"schema\": 2}";
        std::fs::write(&path, newer).unwrap();
        let refused = writer.change(|_| ());
        assert!(matches!(refused, Err(FolderError::NewerSchema { found: 2, supported: 1, .. })));
        assert_eq!(std::fs::read(&path).unwrap(), newer);
    }

    #[test]
    fn beyond_the_limit_the_oldest_use_is_forgotten() {
        let used = |n: i64| (n.to_string(), SkillUse { count: 1, last: Some(at(n)) });
        let mut state = SkillState { used: (0..10_003).map(used).collect(), ..SkillState::default() };
        state.trim();
        assert_eq!(state.used.len(), 10_000);
        assert!(!state.used.contains_key("2") && state.used.contains_key("3"));
    }
}
