//! Everything that can be measured on what was named, in one go.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use adage::{Config, Embedder};
use serde::Serialize;
use serde_json::Value;

use crate::Error;
use crate::books::Sampling;
use crate::classic::{ClassicReport, ClassicTally};
use crate::data::{Data, rows};
use crate::merging::{DuplicatesReport, PairOutcome, PairsReport, measure_duplicates, measure_pairs};
use crate::retention::{RetentionRow, Setting, simulate};
use crate::standard::{DefaultReport, DefaultTally, Loss, ReliabilityClass, RiskPoint};
use crate::vectors::CachedEmbedder;

/// Sizes of books, unless others are asked for; a size that is not less than all lessons is left out.
const SIZES: [usize; 3] = [5, 20, 50];

/// Lessons that are drawn per size: so many books are drawn, but at least one and at most 40.
const LESSONS_PER_SIZE: usize = 800;

/// Tasks in a simulated stream.
const TASKS: usize = 12_000;

/// Questions of each kind that are kept of what went wrong.
const LOSSES: usize = 8;

/// What to measure on.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Lessons with questions, by name.
    pub data: Vec<(String, Data)>,
    /// Pairs of lessons, by name of their file.
    pub pairs: Vec<(String, Vec<Value>)>,
    /// Pairs of texts that say the same or not, by name of their file.
    pub duplicates: Vec<(String, Vec<Value>)>,
}

/// How to measure.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Lessons per book; if there are none, books of 5, 20, 50 and all lessons.
    pub sizes: Vec<usize>,
    /// Books per size; if there is no number, as many as draw 800 lessons, between 1 and 40.
    pub n_draws: Option<usize>,
    /// The same seed draws the same books and streams.
    pub seed: u64,
    /// Streams per setting that retention is simulated on; none if it is 0.
    pub n_streams: u64,
}

/// What was measured.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Of lessons with questions.
    pub data: Vec<DataReport>,
    /// Of pairs of lessons.
    pub pairs: Vec<PairFileReport>,
    /// Of pairs of texts.
    pub duplicates: Vec<DuplicateFileReport>,
    /// Of the simulated playbook, by setting and policy.
    pub retention: Vec<RetentionRow>,
}

/// Retrieval on one set of data.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct DataReport {
    /// The folder's name.
    pub name: String,
    /// All lessons.
    pub n_lessons: usize,
    /// All questions.
    pub n_questions: usize,
    /// By size of book, ascending.
    pub sizes: Vec<SizeReport>,
}

/// Retrieval from books of one size.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SizeReport {
    /// The default rule.
    pub default: DefaultReport,
    /// The classic rule, by tier.
    pub classic: Vec<ClassicReport>,
    /// By kind of unrelated questions.
    pub risk_coverage: BTreeMap<String, Vec<RiskPoint>>,
    /// Stated probabilities against what was right.
    pub reliability: [ReliabilityClass; 10],
    /// Some of what went wrong.
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
    /// Some pairs that did not become what they should.
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
    /// Reads folders and files: a folder of lessons and questions, a file of pairs (`kind`, `a`, `b`), of duplicates (`dup`, `a`,
    /// `b`) or of questions that no lesson answers (`text`; they are asked of all lessons), or a folder of such.
    ///
    /// # Errors
    /// [`Error::NoData`] names what is none of these; [`Error::Io`], [`Error::Json`].
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

    /// Adds what is at a path; whether it was anything.
    fn add(&mut self, path: &Path, unrelated: &mut Vec<PathBuf>) -> Result<bool, Error> {
        if Data::is_in(path) {
            self.data.push((name(path), Data::read(path)?));
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
        let rows = rows(path)?;
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

    /// Steps of [`measure`](Self::measure).
    #[must_use]
    pub fn n_steps(&self, settings: &Settings) -> usize {
        let n_books = |data: &Data| settings.samplings(data).iter().map(|sampling| sampling.n_draws).sum::<usize>();
        let n_streams = usize::try_from(settings.n_streams).unwrap_or_default() * Setting::all().len();
        let n_books = self.data.iter().map(|(_, data)| n_books(data)).sum::<usize>();
        n_books + self.pairs.len() + self.duplicates.len() + n_streams
    }

    /// Measures everything; `step` is called after each step.
    ///
    /// # Errors
    /// Those of the playbook and the embedder.
    pub fn measure(
        &self,
        settings: &Settings,
        embedder: &Arc<CachedEmbedder>,
        step: &mut dyn FnMut(),
    ) -> Result<Report, Error> {
        let mut report = Report::default();
        for (name, data) in &self.data {
            let samplings = settings.samplings(data);
            let sizes = samplings.into_iter().map(|sampling| SizeReport::of(data, sampling, embedder, step));
            let sizes = sizes.collect::<Result<_, Error>>()?;
            let (n_lessons, n_questions) = (data.lessons.len(), data.questions.len());
            report.data.push(DataReport { name: name.clone(), n_lessons, n_questions, sizes });
        }
        let embedder: Arc<dyn Embedder> = Arc::<CachedEmbedder>::clone(embedder);
        for (name, pairs) in &self.pairs {
            let (kinds, mut losses) = measure_pairs(pairs, &Config::default(), &embedder)?;
            losses.retain(|outcome| !outcome.is_right);
            report.pairs.push(PairFileReport { name: name.clone(), kinds, losses });
            step();
        }
        for (name, pairs) in &self.duplicates {
            let [default, classic] = [Config::default(), Config::classic()]
                .map(|config| measure_duplicates(pairs, &config, &embedder).map(|(report, _)| report));
            report.duplicates.push(DuplicateFileReport { name: name.clone(), default: default?, classic: classic? });
            step();
        }
        if settings.n_streams > 0 {
            let seeds: Vec<u64> = (settings.seed..settings.seed.saturating_add(settings.n_streams)).collect();
            report.retention = simulate(&Setting::all(), &seeds, TASKS, step);
        }
        Ok(report)
    }
}

impl Settings {
    /// The books of a set of data, by size.
    fn samplings(&self, data: &Data) -> Vec<Sampling> {
        let all = data.lessons.len();
        let sizes = if self.sizes.is_empty() { &SIZES[..] } else { &self.sizes };
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
    fn of(
        data: &Data,
        sampling: Sampling,
        embedder: &Arc<CachedEmbedder>,
        step: &mut dyn FnMut(),
    ) -> Result<Self, Error> {
        let (mut default, mut classic, mut n_lessons) = (DefaultTally::default(), ClassicTally::default(), 0);
        for book in sampling.books(data, embedder) {
            let book = book?;
            n_lessons = book.ids.len();
            default.add(&book)?;
            classic.add(&book)?;
            step();
        }
        Ok(Self {
            default: default.report(n_lessons, sampling.n_draws),
            classic: classic.reports(),
            risk_coverage: default.risk_coverage(),
            reliability: default.reliability(),
            losses: default.losses(LOSSES),
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
        let data = Data { lessons: vec![lesson; n_lessons], ..Data::default() };
        let settings = Settings { sizes: asked.to_vec(), ..Settings::default() };
        settings.samplings(&data).iter().map(|sampling| (sampling.n_lessons, sampling.n_draws)).collect()
    }

    #[test]
    fn a_size_beyond_all_lessons_is_all_of_them_once() {
        assert_eq!(sizes(&[], 60), [(Some(5), 40), (Some(20), 40), (Some(50), 16), (Some(60), 1)]);
        assert_eq!(sizes(&[], 3), [(Some(3), 1)]);
        assert_eq!(sizes(&[20], 60), [(Some(20), 40)]);
        assert_eq!(sizes(&[20, 80], 60), [(Some(20), 40), (Some(60), 1)]);
    }

    #[test]
    fn what_cannot_be_measured_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = Sources::read(&[folder.path().to_path_buf()]).unwrap_err();
        assert!(error.to_string().contains("expected a folder with lessons.jsonl"), "{error}");
    }
}
