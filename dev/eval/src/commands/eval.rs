//! Measures retrieval, merging and retention.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use adage_eval::retention::{Policy, RetentionRow};
use adage_eval::{CachedEmbedder, ClassicReport, DataReport, Report, Settings, Sources};
use clap::Args;
use serde_json::json;

use super::{Answer, EmbedderArgs, Result, table};

#[derive(Args)]
pub(crate) struct Eval {
    /// Folders of lessons with questions; files of pairs, of duplicates or of unrelated questions; or folders of these
    #[arg(required_unless_present = "streams")]
    data: Vec<PathBuf>,
    /// Lessons per playbook; playbooks are drawn at random
    #[arg(long, value_name = "N", value_delimiter = ',')]
    books: Vec<usize>,
    /// Playbooks per size
    #[arg(long, value_name = "K")]
    draws: Option<usize>,
    /// The same seed draws the same playbooks
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Also simulate retention, on N streams per scenario
    #[arg(long, value_name = "N", default_value_t = 0)]
    streams: u64,
    /// Write the report as one HTML page
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Cache the vectors of all texts in this file for the next run
    #[arg(long, value_name = "FILE")]
    vectors: Option<PathBuf>,
    #[command(flatten)]
    embedder: EmbedderArgs,
}

impl Eval {
    pub(crate) fn run(&self) -> Result<Answer> {
        let sources = Sources::read(&self.data)?;
        let embedder = Arc::new(CachedEmbedder::new(self.embedder.load()?, self.vectors.as_deref())?);
        let settings =
            Settings { sizes: self.books.clone(), n_draws: self.draws, seed: self.seed, n_streams: self.streams };
        let report = sources.measure(&settings, &embedder)?;
        let mut text = text(&report);
        if let Some(path) = &self.report {
            std::fs::write(path, report.to_html(&self.to_string()))?;
            text.extend(["the report is ", &path.display().to_string(), "\n"]);
        }
        Ok(Answer { text, json: json!(report) })
    }
}

/// The command line that made a report.
impl fmt::Display for Eval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "adage-eval {} eval", env!("CARGO_PKG_VERSION"))?;
        self.data.iter().try_for_each(|path| write!(f, " {}", path.display()))?;
        self.books.iter().try_for_each(|size| write!(f, " --books {size}"))?;
        if let Some(draws) = self.draws {
            write!(f, " --draws {draws}")?;
        }
        write!(f, " --streams {} --seed {}; embedder: {}", self.streams, self.seed, self.embedder.embedder)
    }
}

fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

fn text(report: &Report) -> String {
    let pairs = report.pairs.iter().map(|file| {
        let rows = file.kinds.iter().map(|kind| {
            let shares =
                [kind.merged, kind.merged_or_asked, kind.both_shown, kind.newer_first, kind.older_marked_or_not_shown];
            [kind.kind.clone(), kind.pairs.to_string()].into_iter().chain(shares.map(percent)).collect()
        });
        let headings =
            ["kind", "pairs", "merged", "… or asked", "both shown", "newer first", "… older marked or not shown"];
        format!("{}: pairs of lessons, the second one learned later\n{}\n", file.name, table(&headings, rows))
    });
    let duplicates = report.duplicates.iter().map(|file| {
        let rows = [("default", &file.default), ("classic", &file.classic)].map(|(rule, report)| {
            let shares = [report.precision, report.recall, report.asked_precision, report.asked_recall];
            [rule.to_owned()].into_iter().chain(shares.map(percent)).collect()
        });
        let table = table(&["rule", "precision", "recall", "precision with asked", "recall with asked"], rows);
        format!("{}: {} pairs, {} duplicates\n{table}\n", file.name, file.default.pairs, file.default.duplicates)
    });
    let retention = Some(retention(&report.retention)).filter(|_| !report.retention.is_empty());
    let parts = report.data.iter().map(retrieval).chain(pairs).chain(duplicates).chain(retention);
    parts.collect::<Vec<_>>().join("\n")
}

/// The mean result of each policy at each capacity.
fn retention(rows: &[RetentionRow]) -> String {
    let policies = Policy::ALL.map(|policy| {
        let mean = |size: usize| {
            let of = rows.iter().filter(|row| row.policy == policy.name() && row.capacity == size);
            let (sum, n) = of.fold((0.0, 0.0), |(sum, n), row| (sum + row.mean, n + 1.0));
            format!("{:.3}", sum / f64::max(n, 1.0))
        };
        [policy.name().to_owned()].into_iter().chain([20, 50, 200].map(mean)).collect()
    });
    let table = table(&["policy", "20 lessons", "50", "200"], policies);
    format!("retention: hits as a share of the clairvoyant's, mean over all streams and feedback\n{table}\n")
}

/// A row per size and rule.
fn retrieval(data: &DataReport) -> String {
    let rows = data.sizes.iter().flat_map(|size| {
        let report = &size.default;
        let answered = |is_unrelated: bool| {
            let of_kind = |(kind, share): (&String, &f64)| format!("{kind} {}", percent(*share));
            let shares = if is_unrelated { &report.answered } else { &report.among_three };
            let kinds = shares.iter().filter(|(kind, _)| size.risk_coverage.contains_key(*kind) == is_unrelated);
            kinds.map(of_kind).collect::<Vec<_>>().join(", ")
        };
        let default = vec![
            report.lessons.to_string(),
            "default".to_owned(),
            format!("{:.3}", report.ndcg10),
            format!("{:.3}", report.recall5),
            answered(false),
            answered(true),
            format!("{:.3}", report.calibration_error),
            format!("{:.0} µs", report.p50_us),
        ];
        std::iter::once(default).chain(size.classic.iter().map(classic_row))
    });
    let headings = [
        "lessons",
        "rule",
        "nDCG@10",
        "recall@5",
        "lesson in the first 3",
        "unrelated answered",
        "calibration error",
        "median",
    ];
    format!("{}: {} lessons, {} questions\n{}\n", data.name, data.n_lessons, data.n_questions, table(&headings, rows))
}

fn classic_row(report: &ClassicReport) -> Vec<String> {
    let answered: Vec<String> =
        report.answered.iter().map(|(kind, share)| format!("{kind} {}", percent(*share))).collect();
    vec![
        String::new(),
        format!("classic, {}", report.tier),
        format!("{:.3}", report.ndcg10),
        format!("{:.3}", report.recall5),
        format!("all {}", percent(1.0 - report.cut)),
        answered.join(", "),
        String::new(),
        format!("{:.0} µs", report.p50_us),
    ]
}
