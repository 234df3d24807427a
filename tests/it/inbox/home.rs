//! The folders of a test: a memory, global notes, skills and a project.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use adage::{ManualClock, Playbook, PlaybookBuilder};
use adage_review::Inbox;

/// A home with a memory folder, a file for global notes and a root of skills.
pub(crate) struct Home {
    folder: tempfile::TempDir,
}

pub(super) const SKILL: &str = "---\nname: deploy\ndescription: Deploys.\n---\n# Deploy\n\nRun it.\n";

impl Home {
    pub(crate) fn new() -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap() };
        for folder in ["memory", ".agent", "skills/deploy", "project"] {
            fs::create_dir_all(home.path(folder)).unwrap();
        }
        home.write("memory/notes.md", "one\ntwo\nthree\n");
        home.write(".agent/NOTES.md", "# Global\n\n- be kind\n");
        home.write("skills/deploy/SKILL.md", SKILL);
        home.write("project/AGENTS.md", "instructions\n");
        home
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.folder.path()).unwrap().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn builder(&self) -> PlaybookBuilder {
        let now = chrono::DateTime::parse_from_rfc3339("2026-03-01T12:00:00Z").unwrap();
        Playbook::builder(self.path("memory"))
            .without_embedder()
            .with_clock(Arc::new(ManualClock::new(now)))
            .with_global_notes(self.path(".agent/NOTES.md"))
            .with_writable_skills(self.path("skills"))
    }

    pub(crate) fn inbox(&self) -> Inbox {
        Inbox::of(&self.builder().open().unwrap())
    }

    /// A diff of a file below the home; `hunks` from the first `@@` on.
    pub(crate) fn changes(&self, name: &str, hunks: &str) -> String {
        let path = self.path(name);
        format!("--- {0}\n+++ {0}\n{hunks}", path.display())
    }

    pub(crate) fn makes(&self, name: &str, line: &str) -> String {
        format!("--- /dev/null\n+++ {}\n@@ -0,0 +1 @@\n+{line}\n", self.path(name).display())
    }

    /// Every path with its type, mode, and content or link target.
    pub(crate) fn snapshot(&self, below: &str) -> BTreeMap<PathBuf, String> {
        let mut snapshot = BTreeMap::new();
        let mut folders = vec![self.path(below)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let metadata = fs::symlink_metadata(&path).unwrap();
                let content = if metadata.is_dir() {
                    folders.push(path.clone());
                    "a folder".to_owned()
                } else if metadata.is_symlink() {
                    format!("leads to {}", fs::read_link(&path).unwrap().display())
                } else if metadata.is_file() {
                    String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned()
                } else {
                    "another thing".to_owned()
                };
                snapshot.insert(path, format!("{:?} {content}", metadata.permissions()));
            }
        }
        snapshot
    }
}
