//! All measurements on a set of sources, as one report.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use adage::{Config, Embedder};
use serde::Serialize;
use serde_json::Value;

use crate::Error;
use crate::cached_embedder::CachedEmbedder;
use crate::classic_rule::{ClassicReport, ClassicTally};
use crate::dataset::{Dataset, read_rows};
use crate::default_rule::{DefaultReport, DefaultTally, Loss, ReliabilityClass, RiskPoint};
use crate::merging::{DuplicatesReport, PairOutcome, PairsReport, measure_duplicates, measure_pairs};
use crate::retention::{RetentionRow, Scenario, simulate};
use crate::sampling::Sampling;

/// Default sizes of playbooks; sizes that are not less than the number of lessons are left out.
const DEFAULT_SIZES: [usize; 3] = [5, 20, 50];

/// Lessons that are drawn per size, over all playbooks; at least one playbook and at most 40 are drawn.
const LESSONS_PER_SIZE: usize = 800;

/// Tasks in a simulated stream.
const N_TASKS: usize = 12_000;

/// Wrong answers of each kind in a report.
const N_LOSSES: usize = 8;

/// What to measure on.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Data sets with the names of their folders.
    pub data: Vec<(String, Dataset)>,
    /// Rows of pairs of lessons with the names of their files.
    pub pairs: Vec<(String, Vec<Value>)>,
    /// Rows of pairs of texts, duplicates or not, with the names of their files.
    pub duplicates: Vec<(String, Vec<Value>)>,
}

/// How to measure.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Lessons per playbook; if it is empty, 5, 20, 50 and all lessons.
    pub sizes: Vec<usize>,
    /// Playbooks per size; `None` draws 800 lessons per size, in 1 to 40 playbooks.
    pub n_draws: Option<usize>,
    /// The same seed draws the same playbooks and streams.
    pub seed: u64,
    /// Simulated streams per scenario of retention; 0 leaves retention out.
    pub n_streams: u64,
}

/// What was measured.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Retrieval, per data set.
    pub data: Vec<DataReport>,
    /// Merging of pairs of lessons, per file.
    pub pairs: Vec<PairFileReport>,
    /// Merging of pairs of texts, per file.
    pub duplicates: Vec<DuplicateFileReport>,
    /// Retention, per scenario and policy.
    pub retention: Vec<RetentionRow>,
}

/// Retrieval on one data set.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct DataReport {
    /// The folder's name.
    pub name: String,
    /// Number of lessons.
    pub n_lessons: usize,
    /// Number of questions.
    pub n_questions: usize,
    /// By size of playbook, ascending.
    pub sizes: Vec<SizeReport>,
}

/// Retrieval from playbooks of one size.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SizeReport {
    /// The default rule.
    pub default: DefaultReport,
    /// The classic rule, by tier.
    pub classic: Vec<ClassicReport>,
    /// A risk-coverage curve for each kind of unrelated questions.
    pub risk_coverage: BTreeMap<String, Vec<RiskPoint>>,
    /// A reliability diagram of ten bins.
    pub reliability: [ReliabilityClass; 10],
    /// Some wrong answers.
    pub losses: Vec<Loss>,
}

/// Merging of pairs of lessons in a file.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PairFileReport {
    /// The file's name.
    pub name: String,
    /// By kind.
    pub kinds: Vec<PairsReport>,
    /// The pairs with a wrong result.
    pub losses: Vec<PairOutcome>,
}

/// Merging of pairs of texts in a file.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct DuplicateFileReport {
    /// The file's name.
    pub name: String,
    /// By the default rule.
    pub default: DuplicatesReport,
    /// By the classic rule.
    pub classic: DuplicatesReport,
}

impl Sources {
    /// Reads folders and files: a data set, a file of pairs (`kind`, `a`, `b`), of duplicates (`dup`, `a`, `b`) or of unrelated
    /// questions (`text`; they are added to every data set), or a folder of these.
    ///
    /// # Errors
    /// [`Error::NoData`] if a path is none of these; [`Error::Io`], [`Error::Json`].
    pub fn read(paths: &[PathBuf]) -> Result<Self, Error> {
        let (mut sources, mut unrelated) = (Self::default(), Vec::new());
        for path in paths {
            if !sources.add(path, &mut unrelated)? {
                return Err(Error::NoData { path: path.clone() });
            }
        }
        for file in &unrelated {
            for (_, data) in &mut sources.data {
                data.add_unrelated(file)?;
            }
        }
        Ok(sources)
    }

    /// Adds what is at a path; false if it has no known format.
    fn add(&mut self, path: &Path, unrelated: &mut Vec<PathBuf>) -> Result<bool, Error> {
        if Dataset::is_in(path) {
            self.data.push((name(path), Dataset::read(path)?));
            return Ok(true);
        }
        if path.is_dir() {
            let entries = fs::read_dir(path).map_err(Error::io(path))?;
            let mut entries: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
            entries.sort();
            entries.retain(|entry| entry.is_dir() || entry.extension().is_some_and(|ending| ending == "jsonl"));
            let added: Vec<bool> =
                entries.iter().map(|entry| self.add(entry, unrelated)).collect::<Result<_, Error>>()?;
            return Ok(added.contains(&true));
        }
        let rows = read_rows(path)?;
        let has = |keys: &[&str]| rows.first().is_some_and(|row| keys.iter().all(|key| row.get(key).is_some()));
        if has(&["dup", "a", "b"]) {
            self.duplicates.push((name(path), rows));
        } else if has(&["kind", "a", "b"]) {
            self.pairs.push((name(path), rows));
        } else if has(&["text"]) {
            unrelated.push(path.to_path_buf());
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Measures everything.
    ///
    /// # Errors
    /// Those of the playbook and the embedder.
    pub fn measure(&self, settings: &Settings, embedder: &Arc<CachedEmbedder>) -> Result<Report, Error> {
        let mut report = Report::default();
        for (name, data) in &self.data {
            let samplings = settings.samplings(data);
            let sizes = samplings.into_iter().map(|sampling| SizeReport::of(data, sampling, embedder));
            let sizes = sizes.collect::<Result<_, Error>>()?;
            let (n_lessons, n_questions) = (data.lessons.len(), data.questions.len());
            report.data.push(DataReport { name: name.clone(), n_lessons, n_questions, sizes });
        }
        let embedder: Arc<dyn Embedder> = Arc::<CachedEmbedder>::clone(embedder);
        for (name, pairs) in &self.pairs {
            let (kinds, mut losses) = measure_pairs(pairs, &Config::default(), &embedder)?;
            losses.retain(|outcome| !outcome.is_right);
            report.pairs.push(PairFileReport { name: name.clone(), kinds, losses });
        }
        for (name, pairs) in &self.duplicates {
            let [default, classic] = [Config::default(), Config::classic()]
                .map(|config| measure_duplicates(pairs, &config, &embedder).map(|(report, _)| report));
            report.duplicates.push(DuplicateFileReport { name: name.clone(), default: default?, classic: classic? });
        }
        if settings.n_streams > 0 {
            let seeds: Vec<u64> = (settings.seed..settings.seed.saturating_add(settings.n_streams)).collect();
            report.retention = simulate(&Scenario::all(), &seeds, N_TASKS);
        }
        Ok(report)
    }
}

impl Settings {
    /// How the playbooks of a data set are drawn, by size.
    fn samplings(&self, data: &Dataset) -> Vec<Sampling> {
        let all = data.lessons.len();
        let sizes = if self.sizes.is_empty() { &DEFAULT_SIZES[..] } else { &self.sizes };
        let mut sizes: Vec<usize> = sizes.iter().copied().filter(|size| *size > 0 && *size < all).collect();
        if self.sizes.is_empty() || sizes.len() < self.sizes.len() {
            sizes.push(all);
        }
        sizes.sort_unstable();
        sizes.dedup();
        let sampling = |n: usize| {
            let n_draws = if n == all { 1 } else { self.n_draws.unwrap_or((LESSONS_PER_SIZE / n).clamp(1, 40)) };
            Sampling { n_lessons: Some(n), n_draws: n_draws.max(1), seed: self.seed }
        };
        sizes.into_iter().map(sampling).collect()
    }
}

impl SizeReport {
    fn of(data: &Dataset, sampling: Sampling, embedder: &Arc<CachedEmbedder>) -> Result<Self, Error> {
        let (mut default, mut classic, mut n_lessons) = (DefaultTally::default(), ClassicTally::default(), 0);
        for playbook in sampling.playbooks(data, embedder) {
            let playbook = playbook?;
            n_lessons = playbook.ids.len();
            default.add(&playbook)?;
            classic.add(&playbook)?;
        }
        Ok(Self {
            default: default.report(n_lessons, sampling.n_draws),
            classic: classic.reports(),
            risk_coverage: default.risk_coverage(),
            reliability: default.reliability(),
            losses: default.losses(N_LOSSES),
        })
    }
}

fn name(path: &Path) -> String {
    let name = path.file_name().or(path.parent().and_then(Path::file_name)).unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(asked: &[usize], n_lessons: usize) -> Vec<(Option<usize>, usize)> {
        let lesson = crate::Lesson { id: String::new(), draft: adage::build_lesson("t", "s") };
        let data = Dataset { lessons: vec![lesson; n_lessons], ..Dataset::default() };
        let settings = Settings { sizes: asked.to_vec(), ..Settings::default() };
        settings.samplings(&data).iter().map(|sampling| (sampling.n_lessons, sampling.n_draws)).collect()
    }

    #[test]
    fn samplings_beyond_all_lessons_are_all_lessons_once() {
        assert_eq!(sizes(&[], 60), [(Some(5), 40), (Some(20), 40), (Some(50), 16), (Some(60), 1)]);
        assert_eq!(sizes(&[], 3), [(Some(3), 1)]);
        assert_eq!(sizes(&[20], 60), [(Some(20), 40)]);
        assert_eq!(sizes(&[20, 80], 60), [(Some(20), 40), (Some(60), 1)]);
    }

    #[test]
    fn read_of_an_empty_folder_names_the_expected_formats() {
        let folder = tempfile::tempdir().unwrap();
        let error = Sources::read(&[folder.path().to_path_buf()]).unwrap_err();
        assert!(error.to_string().contains("expected a folder with lessons.jsonl"), "{error}");
    }
}
