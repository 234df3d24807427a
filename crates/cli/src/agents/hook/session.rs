//! The state of an agent's session between two events: a small file in the user's state.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use adage::{LessonId, ReceiptId, TextHash};
use serde::{Deserialize, Serialize};

use crate::user_state;

/// The folder of these files in the user's state.
const FOLDER: &str = "hooks";
/// The maximum numbers of remembered lessons, receipts and failed calls of a session; beyond them, the oldest are dropped.
const MAX_SHOWN: usize = 400;
const MAX_RECEIPTS: usize = 100;
const MAX_FAILED: usize = 200;
/// A session without an event for this long is forgotten.
const MAX_AGE: Duration = Duration::from_hours(7 * 24);
/// The maximum number of files that are examined to remove old ones.
const MAX_FILES: usize = 2_000;

/// The state of a session or of a sub-agent.
#[derive(Default)]
pub(super) struct Session {
    path: Option<PathBuf>,
    known: Known,
    /// What this event changed, in order.
    changes: Vec<Change>,
}

type Change = Box<dyn Fn(&mut Known)>;

#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Known {
    shown: Vec<String>,
    /// Receipts of the present task since its last check.
    receipts: Vec<String>,
    /// Receipts before the last check, and whether it passed.
    checked: Vec<String>,
    has_passed: Option<bool>,
    /// Receipts of earlier tasks, and whether the last check of their task passed.
    settled: Vec<(String, bool)>,
    failed: Vec<String>,
    is_warmed_up: bool,
}

impl Session {
    /// The session with this key; a new one if there is no state. Without a folder for the state, nothing is kept.
    pub(super) fn open(key: &TextHash) -> Self {
        Self::at(folder().map(|folder| folder.join(format!("{key}.json"))))
    }

    fn at(path: Option<PathBuf>) -> Self {
        let known = path.as_deref().map(Known::read).unwrap_or_default();
        Self { path, known, changes: Vec::new() }
    }

    pub(super) fn shown(&self) -> BTreeSet<LessonId> {
        self.known.shown.iter().filter_map(|id| id.parse().ok()).collect()
    }

    /// Whether the lessons' vectors should be made now: once per session.
    pub(super) fn begins_warm_up(&mut self) -> bool {
        let is_first = !self.known.is_warmed_up;
        self.change(|known| known.is_warmed_up = true);
        is_first
    }

    /// The agent's context was emptied: lessons may be shown again.
    pub(super) fn forget_shown(&mut self) {
        self.change(|known| known.shown.clear());
    }

    pub(super) fn show(&mut self, lessons: impl Iterator<Item = LessonId>, receipt: Option<ReceiptId>) {
        let (lessons, receipt) = (texts(&lessons.collect::<Vec<_>>()), receipt.map(|receipt| receipt.to_string()));
        self.change(move |known| {
            known.shown.extend(lessons.clone());
            known.receipts.extend(receipt.clone());
        });
    }

    pub(super) fn has_failed(&self, call: TextHash) -> bool {
        self.known.failed.contains(&call.to_string())
    }

    pub(super) fn note(&mut self, call: TextHash, has_failed: bool) {
        let call = call.to_string();
        self.change(move |known| {
            known.failed.retain(|other| *other != call);
            known.failed.extend(has_failed.then(|| call.clone()));
        });
    }

    /// Records a check, which gives the outcome of everything shown before.
    pub(super) fn record_check(&mut self, has_passed: bool) {
        self.change(move |known| {
            let mut shown = std::mem::take(&mut known.receipts);
            known.checked.append(&mut shown);
            known.has_passed = Some(has_passed);
        });
    }

    /// Records that the last check has a result that is not known.
    pub(super) fn doubt_check(&mut self) {
        self.change(|known| known.has_passed = None);
    }

    /// Begins a task. What was shown for the one before is judged by that one's last check, and by none if it had no check.
    pub(super) fn begin_task(&mut self) {
        self.change(|known| {
            known.settle();
            known.receipts.clear();
        });
    }

    /// The receipts that a check judges, each with whether the last check of its task passed.
    pub(super) fn take_outcomes(&mut self) -> Vec<(ReceiptId, bool)> {
        self.change(Known::settle);
        let settled = std::mem::take(&mut self.known.settled);
        self.changes.push(Box::new(|known| known.settled.clear()));
        settled.iter().filter_map(|(receipt, has_passed)| Some((receipt.parse().ok()?, *has_passed))).collect()
    }

    fn change(&mut self, change: impl Fn(&mut Known) + 'static) {
        let before = self.known.clone();
        change(&mut self.known);
        if self.known != before {
            self.changes.push(Box::new(change));
        }
    }

    /// Writes the changes to the state as it is now: an agent runs tools, and their hooks, at the same time. If that fails, lessons
    /// may be shown again.
    pub(super) fn keep(self) {
        let Some(path) = self.path.filter(|_| !self.changes.is_empty()) else { return };
        // Without a lock, the last of several hooks wins.
        let _lock = user_state::lock(&path.with_extension("lock"));
        let mut known = Known::read(&path);
        self.changes.iter().for_each(|change| change(&mut known));
        known.forget_oldest();
        if let Ok(text) = serde_json::to_string(&known) {
            let _ = user_state::replace(&path, &text);
        }
    }
}

impl Known {
    fn read(path: &Path) -> Self {
        let text = user_state::read_up_to(path, user_state::MAX_SESSION).ok().flatten();
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    fn settle(&mut self) {
        let has_passed = self.has_passed.take();
        let checked = std::mem::take(&mut self.checked);
        self.settled.extend(
            has_passed.into_iter().flat_map(|has_passed| checked.iter().cloned().map(move |one| (one, has_passed))),
        );
    }

    fn forget_oldest(&mut self) {
        let n_settled = self.settled.len();
        self.settled.drain(..n_settled.saturating_sub(MAX_RECEIPTS));
        let Self { shown, receipts, checked, failed, .. } = self;
        let lists = [(shown, MAX_SHOWN), (receipts, MAX_RECEIPTS), (checked, MAX_RECEIPTS), (failed, MAX_FAILED)];
        for (list, max) in lists {
            list.drain(..list.len().saturating_sub(max));
        }
    }
}

fn texts(lessons: &[LessonId]) -> Vec<String> {
    lessons.iter().map(ToString::to_string).collect()
}

/// The folder of these files, if nobody else can put files there and it is not a link that leads elsewhere.
fn folder() -> Option<PathBuf> {
    let state = user_state::folder().filter(|folder| user_state::fault(folder).is_none())?;
    Some(state.join(FOLDER)).filter(|folder| user_state::fault(folder).is_none())
}

/// Removes the files of old sessions.
pub(super) fn remove_old() {
    let Some(folder) = folder() else { return };
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.take(MAX_FILES).flatten() {
        let age =
            entry.metadata().ok().filter(fs::Metadata::is_file).and_then(|about| about.modified().ok()?.elapsed().ok());
        if age.is_some_and(|age| age > MAX_AGE) {
            user_state::remove(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_that_run_at_the_same_time_keep_each_others_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hooks/s.json");
        let open = || Session::at(Some(path.clone()));
        let (mut one, mut other) = (open(), open());
        one.note(TextHash::of(&["make"]), true);
        other.note(TextHash::of(&["ls"]), true);
        one.keep();
        other.keep();
        assert!(["make", "ls"].iter().all(|call| open().has_failed(TextHash::of(&[*call]))));
    }

    #[test]
    fn a_file_of_an_earlier_release_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.json");
        let failed = TextHash::of(&["make"]).to_string();
        let known = serde_json::json!({"shown": [], "expected": ["x"], "recognized": ["x"], "failed": [failed],
            "tree": {"changed": ["go"], "upstream": "set"}});
        user_state::replace(&path, &known.to_string()).unwrap();
        assert!(Session::at(Some(path)).has_failed(TextHash::of(&["make"])));
    }
}
