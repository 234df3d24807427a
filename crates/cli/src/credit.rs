//! Commands on the effect of showing lessons: effect and replay.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use adage::credit::{Claim, Effect, Estimate, Gate, ReceiptLog, Side};
use adage::redact::path_line;
use clap::Args;
use serde_json::json;

use crate::global::Global;
use crate::output::{Output, with};
use crate::result::{Done, Usage};

#[derive(Args)]
pub(crate) struct Replay {
    /// A folder's receipts.jsonl
    log: PathBuf,
    /// The other gate: a JSON file, or settings such as `answer_from=0.8,min_share=0.3,limit=3`. What is left out is as it was logged
    #[arg(long, value_name = "FILE|SETTINGS")]
    policy: String,
}

pub(crate) fn effect(global: &Global, lesson: &str, out: &mut Output) -> Done {
    let playbook = global.read()?;
    let id = playbook.find(global.lesson(lesson))?.id;
    let effect = playbook.effect(id)?;
    out.object(&with(json!({ "id": id }), json!(effect)))?;
    match effect {
        Effect::NotEnoughData { shown, withheld, needed } => {
            sides(&shown, &withheld, out)?;
            out.line(&format!("not enough data: it takes {needed} outcomes with the lesson and {needed} without it"))?;
        }
        Effect::Measured { uplift, claim, shown, withheld } => {
            sides(&shown, &withheld, out)?;
            let claim = match claim {
                Claim::Helps => "the lesson helps (99.9% sure)",
                Claim::Harms => "the lesson does harm (99.9% sure)",
                Claim::Undecided => "it may help, do harm or do nothing",
            };
            let Estimate { value, low, high, .. } = uplift;
            out.line(&format!("uplift {value:+.3}, 95% interval {low:+.3} to {high:+.3}: {claim}"))?;
        }
        other => return Err(format!("an effect of another kind: {other:?}").into()),
    }
    Ok(ExitCode::SUCCESS)
}

fn sides(shown: &Side, withheld: &Side, out: &mut Output) -> std::io::Result<()> {
    let row = |(name, side): (&str, &Side)| {
        let rate = side.rate.map(|rate| format!("{rate:.3}")).unwrap_or_default();
        let counts = [side.n_receipts, side.n_outcomes, side.n_helpful].map(|count| count.to_string());
        [vec![name.to_owned()], counts.to_vec(), vec![rate]].concat()
    };
    out.table(&["", "receipts", "with outcome", "helpful", "rate"], [("shown", shown), ("withheld", withheld)].map(row))
}

pub(crate) fn replay(asked: &Replay, out: &mut Output) -> Done {
    use adage::credit::Replay;
    let gate = gate(&asked.policy)?;
    let log = ReceiptLog::parse(&read(&asked.log)?);
    if log.n_unreadable() > 0 {
        out.message(&format!("{} lines cannot be read", log.n_unreadable()));
    }
    let replay = log.replay(&gate);
    out.object(&with(json!({ "policy": gate }), json!(replay)))?;
    match replay {
        Replay::NotEnoughOverlap { n_receipts, n_outside, effective_size, needed, .. } => out.line(&format!(
            "not enough overlap: of {n_receipts} receipts with an outcome the gate would show what was never shown, or withhold \
             what was never withheld, in {n_outside}; the others say as much as {effective_size:.0} outcomes, it takes {needed:.0}"
        ))?,
        Replay::Estimated { weighted, doubly_robust, logged, n_receipts, n_outside, effective_size, .. } => {
            let estimates = [
                ("this gate, by inverse propensity", weighted),
                ("this gate, doubly robust", doubly_robust),
                ("as logged", logged),
            ];
            let row = |(name, Estimate { value, low, high, .. }): (&str, Estimate)| {
                vec![name.to_owned(), format!("{value:.3}"), format!("{low:.3} to {high:.3}")]
            };
            out.table(&["", "helpful", "95% interval"], estimates.map(row))?;
            out.line(&format!(
                "{n_receipts} receipts with an outcome, {n_outside} of them left out; as good as {effective_size:.0} outcomes"
            ))?;
        }
        other => return Err(format!("a replay of another kind: {other:?}").into()),
    }
    Ok(ExitCode::SUCCESS)
}

/// A text with `=` that does not name a file is a list of settings.
fn gate(policy: &str) -> Result<Gate, Box<dyn Error>> {
    let path = Path::new(policy);
    if policy.contains('=') && !path.exists() {
        return policy.parse().map_err(|error: adage::credit::NotAGate| Usage(error.to_string()).into());
    }
    Ok(Gate::from_json(&String::from_utf8(read(path)?)?)?)
}

fn read(path: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path_line(path)).into())
}
