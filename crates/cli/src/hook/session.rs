//! The state of an agent's session between two events: a small file in the user's state.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use adage::retrieve::WorkTree;
use adage::{LessonId, ReceiptId, TextHash};
use serde::{Deserialize, Serialize};

use crate::user_state;

/// The folder of these files in the user's state.
const FOLDER: &str = "hooks";
/// The maximum numbers of remembered lessons, receipts, failed calls, and expected or recognised lessons of a session; beyond them, the oldest
/// are dropped.
const MAX_SHOWN: usize = 400;
const MAX_RECEIPTS: usize = 100;
const MAX_FAILED: usize = 200;
const MAX_EXPECTED: usize = 20;
/// A session without an event for this long is forgotten.
const MAX_AGE: Duration = Duration::from_hours(7 * 24);
/// The maximum number of files that are examined to remove old ones.
const MAX_FILES: usize = 2_000;

/// The state of a session or of a sub-agent.
#[derive(Default)]
pub(super) struct Session {
    path: Option<PathBuf>,
    known: Known,
    is_changed: bool,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Known {
    shown: Vec<String>,
    /// Lessons that answer a prompt and come before their command.
    expected: Vec<String>,
    /// Lessons whose failure was in a prompt or in the output of a call.
    recognized: Vec<String>,
    /// What the session has done to its work tree.
    tree: WorkTree,
    /// Receipts since the last check.
    receipts: Vec<String>,
    /// Receipts before the last check, and whether it passed.
    checked: Vec<String>,
    has_passed: Option<bool>,
    failed: Vec<String>,
    is_warmed_up: bool,
}

impl Session {
    /// The session with this key; a new one if there is no state. Without a folder for the state, nothing is kept.
    pub(super) fn open(key: &TextHash) -> Self {
        let path = folder().map(|folder| folder.join(format!("{key}.json")));
        let text =
            path.as_deref().and_then(|path| user_state::read_up_to(path, user_state::MAX_SESSION).ok().flatten());
        let known = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        Self { path, known, is_changed: false }
    }

    pub(super) fn shown(&self) -> BTreeSet<LessonId> {
        self.known.shown.iter().filter_map(|id| id.parse().ok()).collect()
    }

    /// The lessons that the session's tasks need before a command.
    pub(super) fn expected(&self) -> BTreeSet<LessonId> {
        self.known.expected.iter().filter_map(|id| id.parse().ok()).collect()
    }

    pub(super) fn expect(&mut self, lessons: &[LessonId]) {
        self.known.expected.extend(lessons.iter().map(ToString::to_string));
        self.is_changed |= !lessons.is_empty();
    }

    /// The lessons whose failure the session has seen.
    pub(super) fn recognized(&self) -> BTreeSet<LessonId> {
        self.known.recognized.iter().filter_map(|id| id.parse().ok()).collect()
    }

    pub(super) fn recognize(&mut self, lessons: &[LessonId]) {
        let known = self.recognized();
        let new: Vec<String> = lessons.iter().filter(|id| !known.contains(id)).map(ToString::to_string).collect();
        self.is_changed |= !new.is_empty();
        self.known.recognized.extend(new);
    }

    /// What the session has done to its work tree.
    pub(super) fn tree(&self) -> &WorkTree {
        &self.known.tree
    }

    /// Records what a call does to the work tree.
    pub(super) fn works(&mut self, work: impl FnOnce(&mut WorkTree)) {
        let before = self.known.tree.clone();
        work(&mut self.known.tree);
        self.is_changed |= self.known.tree != before;
    }

    /// Whether the lessons' vectors should be made now: once per session.
    pub(super) fn begins_warm_up(&mut self) -> bool {
        let is_first = !self.known.is_warmed_up;
        self.known.is_warmed_up = true;
        self.is_changed |= is_first;
        is_first
    }

    /// The agent's context was emptied: lessons may be shown again.
    pub(super) fn forget_shown(&mut self) {
        self.known.shown.clear();
        self.is_changed = true;
    }

    pub(super) fn show(&mut self, lessons: impl Iterator<Item = LessonId>, receipt: Option<ReceiptId>) {
        let before = self.known.shown.len();
        self.known.shown.extend(lessons.map(|id| id.to_string()));
        self.known.receipts.extend(receipt.map(|receipt| receipt.to_string()));
        self.is_changed |= self.known.shown.len() > before || receipt.is_some();
    }

    pub(super) fn has_failed(&self, call: TextHash) -> bool {
        self.known.failed.contains(&call.to_string())
    }

    pub(super) fn note(&mut self, call: TextHash, has_failed: bool) {
        let (call, before) = (call.to_string(), self.known.failed.len());
        self.known.failed.retain(|known| *known != call);
        self.is_changed |= has_failed || self.known.failed.len() < before;
        self.known.failed.extend(has_failed.then_some(call));
    }

    /// Records a check, which gives the outcome of everything shown before.
    pub(super) fn record_check(&mut self, has_passed: bool) {
        self.known.checked.append(&mut self.known.receipts);
        self.known.has_passed = Some(has_passed);
        self.is_changed = true;
    }

    /// Records that the last check has a result that is not known.
    pub(super) fn doubt_check(&mut self) {
        self.is_changed |= self.known.has_passed.take().is_some();
    }

    /// The result of the last check, and the receipts before it; none if there was no check.
    pub(super) fn take_outcome(&mut self) -> Option<(bool, Vec<ReceiptId>)> {
        let has_passed = self.known.has_passed.take()?;
        self.is_changed = true;
        let receipts = std::mem::take(&mut self.known.checked);
        Some((has_passed, receipts.iter().filter_map(|receipt| receipt.parse().ok()).collect()))
    }

    /// Writes the state if it has changed. If that fails, lessons may be shown again.
    pub(super) fn keep(mut self) {
        let Some(path) = self.path.filter(|_| self.is_changed) else { return };
        let Known { shown, receipts, checked, failed, expected, recognized, .. } = &mut self.known;
        let receipts = [(receipts, MAX_RECEIPTS), (checked, MAX_RECEIPTS)];
        let lessons = [(shown, MAX_SHOWN), (expected, MAX_EXPECTED), (recognized, MAX_EXPECTED)];
        for (list, max) in [(failed, MAX_FAILED)].into_iter().chain(lessons).chain(receipts) {
            list.drain(..list.len().saturating_sub(max));
        }
        if let Ok(text) = serde_json::to_string(&self.known) {
            let _ = user_state::replace(&path, &text);
        }
    }
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
