//! Statistics of a playbook, and its integrity check.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use super::Playbook;
use crate::error::Result;
use crate::store::{FolderStore, Snapshot, UsageCheck, count_vectors, is_cache};
use crate::trust::{Sharing, for_git};

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

/// A part of a memory that is checked by itself. Displayed and serialised in lower case, such as `archive`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MemoryPart {
    /// The lists of the playbook file.
    Lessons,
    /// The usage files.
    Usage,
    /// The archive of changes.
    Archive,
    /// The second copy of the playbook file.
    Backup,
    /// The cache of vectors.
    Vectors,
    /// The rules by which git leaves out the memory.
    #[serde(rename = ".gitignore")]
    GitIgnore,
}

impl fmt::Display for MemoryPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Lessons => "lessons",
            Self::Usage => "usage",
            Self::Archive => "archive",
            Self::Backup => "backup",
            Self::Vectors => "vectors",
            Self::GitIgnore => ".gitignore",
        })
    }
}

/// A problem that a check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// Where it was found.
    pub part: MemoryPart,
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
        let view = self.shared.recount()?;
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
        let sum = |count: fn(&crate::Lesson) -> u64| {
            book.lessons.iter().map(|lesson| count(lesson)).fold(0, u64::saturating_add)
        };
        Ok(Stats {
            n_lessons: book.lessons.len(),
            n_verified: book.lessons.iter().filter(|lesson| lesson.verified).count(),
            n_waiting: book.waiting.len(),
            n_removed: book.removed.len(),
            n_changes: self.shared.kept.history(&view.snapshot)?.len(),
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

    /// Who may read the folder through git, by its `.gitignore`: without one, a team. None if the file is not one that adage writes:
    /// git may then take any file of the folder.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn sharing(&self) -> Result<Option<Sharing>> {
        Ok(for_git::sharing(&self.shared.store.folder)?)
    }

    /// Checks every file of the folder and reports problems; of another store, its lessons. Changes nothing.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn check(&self) -> Result<Check> {
        let view = self.shared.recount()?;
        let (store, snapshot) = (&self.shared.store, &view.snapshot);
        let mut findings = check_lessons(snapshot);
        if self.shared.kept.rows().is_some() {
            // Its files are the engine's.
            return Ok(Check { n_lessons: snapshot.book().lessons.len(), n_vectors: 0, findings });
        }
        findings.extend(check_usage(store, snapshot)?);
        findings.extend(check_archive(store, snapshot)?);
        if self.exists() && self.sharing()?.is_none() {
            let problem = "it is not one that adage writes".to_owned();
            let consequence =
                "git may take files of this memory; put `*` as its only line, or delete it to share the memory";
            findings.push(Finding { part: MemoryPart::GitIgnore, problem, consequence });
        }
        let consequence = "the next commit writes it again";
        findings.extend(store.check_backup()?.map(|problem| Finding {
            part: MemoryPart::Backup,
            problem,
            consequence,
        }));
        let vectors = store.read_vector_file()?;
        let (n_vectors, n_broken) = count_vectors(&vectors);
        if n_broken > 0 || (!vectors.is_empty() && !is_cache(&vectors)) {
            let problem = format!("{n_broken} records are broken");
            findings.push(Finding {
                part: MemoryPart::Vectors,
                problem,
                consequence: "these texts are embedded again",
            });
        }
        Ok(Check { n_lessons: snapshot.book().lessons.len(), n_vectors, findings })
    }
}

impl Finding {
    /// That a part has `n` things of a kind; none for 0.
    fn of_count(part: MemoryPart, n: usize, what: &str, consequence: &'static str) -> Option<Self> {
        (n > 0).then(|| Self { part, problem: format!("{n} {what}"), consequence })
    }
}

fn check_lessons(snapshot: &Snapshot) -> Vec<Finding> {
    let book = snapshot.book();
    let kept = "they are kept as they are and not shown";
    let mut findings =
        Vec::from_iter(Finding::of_count(MemoryPart::Lessons, book.unread.len(), "rows are not lessons", kept));
    let n_unfit = book.lessons.iter().filter(|lesson| lesson.has_unfit_patterns()).count();
    let unfit = "these patterns are not compared: they are too short, over 250 characters, or after the first 20";
    findings.extend(Finding::of_count(
        MemoryPart::Lessons,
        n_unfit,
        "lessons have patterns that cannot be used",
        unfit,
    ));
    let removed: BTreeSet<_> = book.removed.iter().map(|removed| removed.id).collect();
    let n_removed = book.lessons.iter().filter(|lesson| removed.contains(&lesson.id)).count();
    let shown = "they are shown; take them out of one list";
    findings.extend(Finding::of_count(MemoryPart::Lessons, n_removed, "lessons are also listed as removed", shown));
    let edited = snapshot.file.edited.iter().filter(|id| book.get(**id).is_some());
    findings.extend(edited.map(|id| Finding {
        part: MemoryPart::Lessons,
        problem: format!("{id} was edited in the file"),
        consequence: "it is used; `adage doctor --accept` confirms it",
    }));
    findings
}

fn check_usage(store: &FolderStore, snapshot: &Snapshot) -> Result<Vec<Finding>> {
    let UsageCheck { n_missing, n_unreadable, is_torn } = store.check_usage(snapshot)?;
    let found = |n: u64, what, consequence| {
        Finding::of_count(MemoryPart::Usage, usize::try_from(n).unwrap_or(usize::MAX), what, consequence)
    };
    let missing = "receipts in them are lost, and the counts that were not yet part of a commit";
    let findings = [
        found(n_unreadable, "lines cannot be read", "these counts are lost"),
        found(u64::from(is_torn), "line has no end", "this count is lost, unless it is being written"),
        found(n_missing, "lines of usage are missing", missing),
    ];
    Ok(findings.into_iter().flatten().collect())
}

fn check_archive(store: &FolderStore, snapshot: &Snapshot) -> Result<Vec<Finding>> {
    let broken = "these changes cannot be undone; removals hold";
    let n_broken = store.archive().n_broken()?;
    let mut findings = Vec::from_iter(Finding::of_count(MemoryPart::Archive, n_broken, "lines are damaged", broken));
    if store.archive().is_split()? {
        findings.push(Finding {
            part: MemoryPart::Archive,
            problem: "it has the marks of a merge".to_owned(),
            consequence: "its lines of both branches count; `adage doctor --repair` takes out the marks",
        });
    } else if !store.archive().ends_at(snapshot.file.archive_length)? {
        let n_bytes = store.archive().read()?.len();
        findings.push(Finding {
            part: MemoryPart::Archive,
            problem: format!("it has {n_bytes} bytes, {} were committed", snapshot.file.archive_length),
            consequence: "what a dead writer appended is cut off at the next commit",
        });
    }
    Ok(findings)
}
