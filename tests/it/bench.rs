//! A folder and a clock for each test.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use adage::{
    LearnOutcome, Lesson, LessonDraft, LessonId, Listing, ManualClock, Playbook, PlaybookBuilder, build_lesson,
};
use chrono::{DateTime, FixedOffset, TimeDelta};
use serde_json::Value;
use tempfile::TempDir;

pub(crate) const PLAYBOOK: &str = "skills_playbook.json";
pub(crate) const BACKUP: &str = "skills_playbook.json.bak";
pub(crate) const LOG: &str = "playbook.log";

pub(crate) struct Bench {
    folder: TempDir,
    pub(crate) clock: Arc<ManualClock>,
}

pub(crate) fn start() -> DateTime<FixedOffset> {
    DateTime::parse_from_rfc3339("2026-03-01T12:00:00+02:00").unwrap()
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), clock: Arc::new(ManualClock::new(start())) }
    }

    /// A folder that contains this playbook file.
    pub(crate) fn with_playbook_file(bytes: impl AsRef<[u8]>) -> Self {
        let bench = Self::new();
        bench.write(PLAYBOOK, bytes);
        bench
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// Retrieves by words, so that every answer can be computed by hand.
    pub(crate) fn builder(&self) -> PlaybookBuilder {
        let clock: Arc<ManualClock> = Arc::clone(&self.clock);
        Playbook::builder(self.folder()).without_embedder().with_clock(clock)
    }

    pub(crate) fn open(&self) -> Playbook {
        self.builder().open().unwrap()
    }

    pub(crate) fn advance(&self, seconds: i64) {
        self.clock.advance(TimeDelta::seconds(seconds));
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.read(PLAYBOOK)).unwrap()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// Writes a file in place, as some editors do.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        File::create(self.path(name)).unwrap().write_all(bytes.as_ref()).unwrap();
    }

    pub(crate) fn delete(&self, name: &str) {
        #[allow(clippy::disallowed_methods, reason = "what happens to a folder from outside")]
        fs::remove_file(self.path(name)).unwrap();
    }

    /// The files and folders in the folder.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        let entries = fs::read_dir(self.folder()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

pub(crate) fn learn(playbook: &Playbook, draft: impl Into<LessonDraft>) -> LessonId {
    let learned = playbook.learn_lesson(draft).unwrap();
    match learned {
        LearnOutcome::Inserted { id, .. } => id,
        other => panic!("not a new lesson: {other:?}"),
    }
}

/// Three lessons without a word in common, oldest first.
pub(crate) fn three() -> [LessonDraft; 3] {
    [
        build_lesson("parsing CSV exports", "Use the csv module.").mistake("split cut quoted commas"),
        build_lesson("rotating ssh keys", "Keep both until every host took the new one.").mistake("locked out"),
        build_lesson("compressing photographs", "Strip the metadata first.").mistake("leaked the position"),
    ]
}

pub(crate) fn lessons(playbook: &Playbook) -> Vec<Arc<Lesson>> {
    playbook.list_lessons(&Listing { limit: usize::MAX, ..Listing::default() }).unwrap()
}

/// The triggers, newest first.
pub(crate) fn triggers(playbook: &Playbook) -> Vec<String> {
    lessons(playbook).iter().map(|lesson| lesson.trigger.clone()).collect()
}

/// The triggers of what a context shows, in its order.
pub(crate) fn shown(context: &adage::Context) -> Vec<&str> {
    context.lessons.iter().map(|shown| shown.trigger.as_str()).collect()
}
