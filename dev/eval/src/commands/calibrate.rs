//! Fits the relevance gate to labelled queries of a user.

use std::path::PathBuf;

use adage::calibrate::{CalibrationFigures, CalibrationReport, LabelledPair};
use adage::{Playbook, Realm};
use clap::Args;
use serde_json::json;

use super::{Answer, EmbedderArgs, Result, read, table};

#[derive(Args)]
pub(crate) struct Calibrate {
    /// JSON lines: {"query": "…", "lesson": "id or trigger"}, or null for the lesson if none answers; at least 40
    file: PathBuf,
    /// Folder of the playbook
    #[arg(long, default_value = ".adage", value_name = "FOLDER")]
    dir: PathBuf,
    /// Project of the queries
    #[arg(long, default_value = "", hide_default_value = true)]
    project: String,
    /// Role of the queries
    #[arg(long, default_value = "", hide_default_value = true)]
    role: String,
    /// Fit retrieval by words
    #[arg(long)]
    words: bool,
    #[command(flatten)]
    embedder: EmbedderArgs,
}

impl Calibrate {
    pub(crate) fn run(&self) -> Result<Answer> {
        let pairs = LabelledPair::read_lines(&read(&self.file)?)?;
        let builder = Playbook::builder(&self.dir).read_only();
        let builder =
            if self.words { builder.without_embedder() } else { builder.with_embedder(self.embedder.load()?) };
        let report = builder.open()?.calibrate(&pairs, &Realm::new(&self.project, &self.role))?;
        Ok(Answer { text: text(&report), json: json!(report) })
    }
}

fn text(report: &CalibrationReport) -> String {
    let CalibrationReport { embedder, n_wanting, n_wanting_none, fit, .. } = report;
    let row = |name: &str, figures: &CalibrationFigures| {
        let CalibrationFigures { calibration_error, log_loss, answered, right, wrong, missed, .. } = *figures;
        let counts = [answered, right, wrong, missed].map(|count| count.to_string());
        let numbers = [name.to_owned(), format!("{calibration_error:.3}"), format!("{log_loss:.3}")];
        numbers.into_iter().chain(counts).collect::<Vec<_>>()
    };
    let headings = ["numbers", "calibration error", "log loss", "answered", "right", "wrong", "missed"];
    let rows = [row("shipped", &report.before), row("fitted, on queries not seen", &report.after)];
    let advice = if report.is_better() {
        format!(
            "to use the fit: adage config set --user retrieval.calibration.{embedder} \
             '{{ scale = {:?}, offset = {:?}, n_pairs = {} }}'",
            fit.scale, fit.offset, fit.n_pairs
        )
    } else {
        "the fit is not better than the shipped numbers on queries that it has not seen".to_owned()
    };
    format!(
        "{} queries, {n_wanting} that a lesson answers and {n_wanting_none} that none does; embedder: {embedder}\n\
         fitted: scale {:.2}, offset {:+.2}\n{}\n{advice}",
        n_wanting + n_wanting_none,
        fit.scale,
        fit.offset,
        table(&headings, rows)
    )
}
