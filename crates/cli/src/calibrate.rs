//! Fits the relevance gate to the user's labelled queries.

use std::error::Error;
use std::fs;
use std::io::{self, BufRead};
use std::path::PathBuf;
use std::process::ExitCode;

use adage::calibrate::{CalibrationFigures, CalibrationReport, LabelledPair};
use adage::redact::{path_line, path_text};
use clap::Args;
use serde_json::json;

use crate::global::Global;
use crate::output::{Output, is_terminal, with};
use crate::result::{Done, exit_code};
use crate::settings;

#[derive(Args)]
pub(crate) struct Calibrate {
    /// JSON lines: {"query": "…", "lesson": "id or trigger"}, or null for the lesson if none answers; at least 40
    file: PathBuf,
    /// Keep the fit in your settings without asking, if it is better
    #[arg(long)]
    apply: bool,
    /// Keep it even if it is not better
    #[arg(long, requires = "apply")]
    force: bool,
}

/// What is done with a fit.
#[derive(Clone, Copy, PartialEq)]
enum Decision {
    Keep,
    /// It is not better than the shipped numbers.
    NotBetter,
    /// The user did not ask to keep it.
    NotAsked,
}

pub(crate) fn calibrate(global: &Global, asked: &Calibrate, out: &mut Output) -> Done {
    let text = fs::read_to_string(&asked.file).map_err(|error| format!("{}: {error}", path_line(&asked.file)))?;
    let pairs = LabelledPair::read_lines(&text).map_err(adage::Error::from)?;
    let report = global.read()?.calibrate(&pairs, &global.realm())?;
    print(&report, out)?;
    let decision = decide(&report, asked, out)?;
    let kept =
        if decision == Decision::Keep { Some(settings::keep_calibration(&report.embedder, report.fit)?) } else { None };
    if let Some(path) = &kept {
        settings::say_if_unused(path, "retrieval.calibration");
    }
    out.object(&with(
        json!(report),
        json!({ "is_better": report.is_better(), "kept_in": kept.as_ref().map(path_text) }),
    ))?;
    out.line(&match (&kept, decision) {
        (Some(path), _) => format!("kept in {}", path_line(path)),
        (None, Decision::NotBetter) => {
            "the fit is not better than the shipped numbers on queries that it has not seen: nothing is written"
                .to_owned()
        }
        (None, _) => "nothing is written; --apply keeps it".to_owned(),
    })?;
    // The command did not do what it was asked to do.
    Ok(if asked.apply { exit_code(kept.is_some()) } else { ExitCode::SUCCESS })
}

fn print(report: &CalibrationReport, out: &mut Output) -> io::Result<()> {
    let CalibrationReport { embedder, n_wanting, n_wanting_none, fit, .. } = report;
    out.line(&format!(
        "{} queries, {n_wanting} that a lesson answers and {n_wanting_none} that none does; embedder: {embedder}",
        n_wanting + n_wanting_none
    ))?;
    out.line(&format!("fitted: scale {:.2}, offset {:+.2}", fit.scale, fit.offset))?;
    let row = |name: &str, figures: &CalibrationFigures| {
        let CalibrationFigures { calibration_error, log_loss, answered, right, wrong, missed, .. } = *figures;
        let counts = [answered, right, wrong, missed].map(|count| count.to_string());
        let numbers = [name.to_owned(), format!("{calibration_error:.3}"), format!("{log_loss:.3}")];
        numbers.into_iter().chain(counts).collect::<Vec<_>>()
    };
    let headings = ["numbers", "calibration error", "log loss", "answered", "right", "wrong", "missed"];
    out.table(&headings, [row("shipped", &report.before), row("fitted, on queries not seen", &report.after)])
}

fn decide(report: &CalibrationReport, asked: &Calibrate, out: &mut Output) -> Result<Decision, Box<dyn Error>> {
    if !report.is_better() && !asked.force {
        return Ok(Decision::NotBetter);
    }
    if asked.apply {
        return Ok(Decision::Keep);
    }
    if out.json || !is_terminal() {
        return Ok(Decision::NotAsked);
    }
    out.prompt("keep it in your settings? [y,n] ")?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    let is_yes = ["y", "yes"].contains(&answer.trim().to_lowercase().as_str());
    Ok(if is_yes { Decision::Keep } else { Decision::NotAsked })
}
