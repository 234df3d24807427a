//! Statistics of a playbook, and its integrity check.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::Playbook;
use crate::error::Result;
use crate::store::{count_vectors, is_cache};

/// Statistics of a playbook.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Stats {
    /// Lessons in use.
    pub n_lessons: usize,
    /// Verified lessons among these.
    pub n_verified: usize,
    /// Lessons that await review.
    pub n_waiting: usize,
    /// Removed lessons whose ids and hashes are kept.
    pub n_removed: usize,
    /// Changes in the archive.
    pub n_changes: usize,
    /// The number of lessons per realm; the global realm has the key `global`.
    pub realms: BTreeMap<String, usize>,
    /// The number of lessons per source; lessons without one have the key `unknown`.
    pub sources: BTreeMap<String, usize>,
    /// The total of retrievals over all lessons.
    pub retrievals: u64,
    /// The total of helpful retrievals.
    pub helpful_retrievals: u64,
    /// The total of harmful retrievals.
    pub harmful_retrievals: u64,
    /// The least, the median and the largest utility; none for an empty playbook.
    pub utility: Option<[f64; 3]>,
    /// The number of commits so far.
    pub generation: u64,
    /// The number of lessons that a realm can hold.
    pub capacity: usize,
}

/// A problem that a check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The file or list.
    pub part: &'static str,
    /// The problem.
    pub problem: String,
    /// What the program does about it.
    pub consequence: &'static str,
}

/// The result of a check. Without findings, everything is in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Check {
    /// The number of lessons that were checked.
    pub n_lessons: usize,
    /// The number of vectors in the cache, of all models.
    pub n_vectors: usize,
    /// The problems. None of them keeps the playbook from working.
    pub findings: Vec<Finding>,
}

impl Playbook {
    /// The statistics of the playbook.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn stats(&self) -> Result<Stats> {
        let view = self.0.recount()?;
        let book = view.snapshot.book();
        let (mut realms, mut sources) = (BTreeMap::new(), BTreeMap::new());
        for lesson in book.lessons.iter() {
            let parts = [&lesson.realm.project, &lesson.realm.role];
            let names: Vec<&str> = parts.iter().filter(|name| !name.is_empty()).map(|name| name.as_str()).collect();
            let realm = if names.is_empty() { "global".to_owned() } else { names.join(" / ") };
            *realms.entry(realm).or_insert(0) += 1;
            let source = if lesson.source.is_empty() { "unknown" } else { &lesson.source };
            *sources.entry(source.to_owned()).or_insert(0) += 1;
        }
        let mut utilities: Vec<f64> = book.lessons.iter().map(|lesson| self.utility(lesson)).collect();
        utilities.sort_by(f64::total_cmp);
        let quantiles = [utilities.first(), utilities.get(utilities.len() / 2), utilities.last()];
        let sum = |count: fn(&crate::Lesson) -> u64| book.lessons.iter().map(|lesson| count(lesson)).sum();
        Ok(Stats {
            n_lessons: book.lessons.len(),
            n_verified: book.lessons.iter().filter(|lesson| lesson.verified).count(),
            n_waiting: book.waiting.len(),
            n_removed: book.removed.len(),
            n_changes: self.0.store.history(&view.snapshot)?.len(),
            realms,
            sources,
            retrievals: sum(|lesson| lesson.retrievals),
            helpful_retrievals: sum(|lesson| lesson.helpful_retrievals),
            harmful_retrievals: sum(|lesson| lesson.harmful_retrievals),
            utility: match quantiles {
                [Some(least), Some(median), Some(largest)] => Some([*least, *median, *largest]),
                _ => None,
            },
            generation: view.snapshot.file.generation,
            capacity: self.config().retention.capacity,
        })
    }

    /// Checks every file of the folder and reports problems. Changes nothing.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn check(&self) -> Result<Check> {
        let view = self.0.recount()?;
        let (store, snapshot, book) = (&self.0.store, &view.snapshot, view.snapshot.book());
        let mut findings = Vec::new();
        let mut find = |part, n: usize, what: &str, consequence| {
            if n > 0 {
                findings.push(Finding { part, problem: format!("{n} {what}"), consequence });
            }
        };
        find("lessons", book.unread.len(), "rows are no lessons", "they are kept as they are and not shown");
        let removed: BTreeSet<_> = book.removed.iter().map(|removed| removed.id).collect();
        let risen = book.lessons.iter().filter(|lesson| removed.contains(&lesson.id)).count();
        find("lessons", risen, "lessons are also listed as removed", "they are shown; take them out of one list");
        find("usage", snapshot.log.n_unreadable, "lines cannot be read", "these counts are lost");
        find(
            "usage",
            usize::from(snapshot.log.is_torn),
            "line has no end",
            "this count is lost, unless it is being written",
        );
        let n_missing = usize::try_from(store.n_missing_usage_bytes()?).unwrap_or(usize::MAX);
        let lost = "receipts in them are lost, and the counts that no commit had taken in";
        find("usage", n_missing, "bytes that were appended are not there", lost);
        let n_broken = store.n_broken_changes()?;
        find("archive", n_broken, "lines are damaged", "these changes cannot be undone; removals hold");
        if !store.archive_ends_at(snapshot.file.archive_length)? {
            let archive = store.read_archive()?.len();
            let problem = format!("it has {archive} bytes, {} were committed", snapshot.file.archive_length);
            let consequence = "what a dead writer appended is cut off at the next commit";
            findings.push(Finding { part: "archive", problem, consequence });
        }
        let edited = snapshot.file.edited.iter().filter(|id| book.get(**id).is_some());
        for id in edited {
            let problem = format!("{id} was edited in the file");
            findings.push(Finding {
                part: "lessons",
                problem,
                consequence: "it is used; `adage check --accept` takes note of it",
            });
        }
        if let Some((problem, consequence)) = store.check_log()? {
            findings.push(Finding { part: "log", problem, consequence });
        }
        if let Some(problem) = store.check_backup()? {
            findings.push(Finding { part: "backup", problem, consequence: "the next commit writes it again" });
        }
        let vectors = store.read_vector_file()?;
        let (n_vectors, n_broken) = count_vectors(&vectors);
        if n_broken > 0 || (!vectors.is_empty() && !is_cache(&vectors)) {
            let problem = format!("{n_broken} records are broken");
            findings.push(Finding { part: "vectors", problem, consequence: "these texts are embedded again" });
        }
        Ok(Check { n_lessons: book.lessons.len(), n_vectors, findings })
    }
}
