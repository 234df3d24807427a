//! `adage eval`: measures retrieval, merging and retention.

use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use adage::Playbook;
use adage::redact::path_line;
use adage_eval::retention::{Policy, RetentionRow};
use adage_eval::{CachedEmbedder, ClassicReport, DataReport, Report, Settings, Sources};
use clap::Args;
use serde_json::json;

use crate::embedder;
use crate::global::Global;
use crate::output::{Output, counted, masked, progress};
use crate::result::Done;

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
}

pub(crate) fn eval(global: &Global, asked: &Eval, out: &mut Output) -> Done {
    let sources = Sources::read(&asked.data)?;
    embedder::check_library(global)?;
    let embedder = Arc::new(CachedEmbedder::new(embedder::any(global)?, asked.vectors.as_deref())?);
    let settings =
        Settings { sizes: asked.books.clone(), n_draws: asked.draws, seed: asked.seed, n_streams: asked.streams };
    let bar = progress(sources.n_steps(&settings), "measured");
    let report = sources.measure(&settings, &embedder, &mut || bar.inc(1))?;
    bar.finish_and_clear();
    out.object(&masked(json!(report)))?;
    print(&report, out)?;
    if let Some(path) = &asked.report {
        write(path, &report.to_html(&made(global, asked)))?;
        out.line(&format!("the report is {}", path_line(path)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The version and settings that made a report, for its end.
fn made(global: &Global, asked: &Eval) -> String {
    let names: Vec<String> = asked.data.iter().map(path_line).collect();
    let books: Vec<String> = asked.books.iter().map(ToString::to_string).collect();
    let books = if books.is_empty() { String::new() } else { format!(" --books {}", books.join(",")) };
    let draws = asked.draws.map(|draws| format!(" --draws {draws}")).unwrap_or_default();
    let streams = if asked.streams > 0 { format!(" --streams {}", asked.streams) } else { String::new() };
    format!(
        "adage {} eval {}{books}{draws}{streams} --seed {}; embedder: {}",
        env!("CARGO_PKG_VERSION"),
        names.join(" "),
        asked.seed,
        global.embedder
    )
}

fn write(path: &Path, page: &str) -> Result<(), Box<dyn Error>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Playbook::check_target(folder)?;
    let failed = |error: io::Error| format!("{}: {error}", path_line(path));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(page.as_bytes()).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

fn print(report: &Report, out: &mut Output) -> io::Result<()> {
    for data in &report.data {
        let (lessons, questions) = (counted(data.n_lessons, "lesson"), counted(data.n_questions, "question"));
        out.line(&format!("{}: {lessons}, {questions}", data.name))?;
        print_retrieval(data, out)?;
        out.line("")?;
    }
    for file in &report.pairs {
        out.line(&format!("{}: pairs of lessons, the second one learned later", file.name))?;
        let rows = file.kinds.iter().map(|kind| {
            let shares =
                [kind.merged, kind.merged_or_asked, kind.both_shown, kind.newer_first, kind.older_marked_or_not_shown];
            [kind.kind.clone(), kind.pairs.to_string()].into_iter().chain(shares.map(percent)).collect()
        });
        let headings =
            ["kind", "pairs", "merged", "… or asked", "both shown", "newer first", "… older marked or not shown"];
        out.table(&headings, rows)?;
        out.line("")?;
    }
    for file in &report.duplicates {
        out.line(&format!("{}: {} pairs, {} duplicates", file.name, file.default.pairs, file.default.duplicates))?;
        let rows = [("default", &file.default), ("classic", &file.classic)].map(|(rule, report)| {
            let shares = [report.precision, report.recall, report.asked_precision, report.asked_recall];
            [rule.to_owned()].into_iter().chain(shares.map(percent)).collect()
        });
        out.table(&["rule", "precision", "recall", "precision with asked", "recall with asked"], rows)?;
        out.line("")?;
    }
    if !report.retention.is_empty() {
        print_retention(&report.retention, out)?;
    }
    Ok(())
}

/// The mean result of each policy at each capacity.
fn print_retention(rows: &[RetentionRow], out: &mut Output) -> io::Result<()> {
    out.line("retention: hits as a share of the clairvoyant's, mean over all streams and feedback")?;
    let table = Policy::ALL.map(|policy| {
        let mean = |size: usize| {
            let of = rows.iter().filter(|row| row.policy == policy.name() && row.capacity == size);
            let (sum, n) = of.fold((0.0, 0.0), |(sum, n), row| (sum + row.mean, n + 1.0));
            format!("{:.3}", sum / f64::max(n, 1.0))
        };
        [policy.name().to_owned()].into_iter().chain([20, 50, 200].map(mean)).collect()
    });
    out.table(&["policy", "20 lessons", "50", "200"], table)?;
    out.line("")
}

/// A row per size and rule.
fn print_retrieval(data: &DataReport, out: &mut Output) -> io::Result<()> {
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
    out.table(&headings, rows)
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
