//! The effect of showing lessons: estimates from the log of receipts.

use std::path::{Path, PathBuf};

use adage::Playbook;
use adage::credit::{self, Claim, Estimate, Gate, ReceiptLog, Side};
use clap::Args;
use serde_json::json;

use super::{Answer, Result, read, table};

#[derive(Args)]
pub(crate) struct Effect {
    /// A lesson, by id or trigger
    pub(super) lesson: String,
    /// Folder of the playbook
    #[arg(long, default_value = ".adage", value_name = "FOLDER")]
    pub(super) dir: PathBuf,
}

#[derive(Args)]
pub(crate) struct Replay {
    /// A folder's receipts.jsonl
    pub(super) log: PathBuf,
    /// The other gate: a JSON file, or settings such as `answer_from=0.8,min_share=0.3,limit=3`. What is left out is as it was logged
    #[arg(long, value_name = "FILE|SETTINGS")]
    pub(super) policy: String,
}

impl Effect {
    pub(crate) fn run(&self) -> Result<Answer> {
        let playbook = Playbook::builder(&self.dir).without_embedder().read_only().open()?;
        let effect = playbook.effect(playbook.find(self.lesson.as_str())?.id)?;
        let json = json!(effect);
        let text = match effect {
            credit::Effect::NotEnoughData { shown, withheld, needed } => format!(
                "{}\nnot enough data: it takes {needed} outcomes with the lesson and {needed} without it",
                sides(&shown, &withheld)
            ),
            credit::Effect::Measured { uplift, claim, shown, withheld } => {
                let claim = match claim {
                    Claim::Helps => "the lesson helps (99.9% sure)",
                    Claim::Harms => "the lesson does harm (99.9% sure)",
                    Claim::Undecided => "it may help, do harm or do nothing",
                };
                let Estimate { value, low, high, .. } = uplift;
                let sides = sides(&shown, &withheld);
                format!("{sides}\nuplift {value:+.3}, 95% interval {low:+.3} to {high:+.3}: {claim}")
            }
            other => return Err(format!("an effect of another kind: {other:?}").into()),
        };
        Ok(Answer { text, json })
    }
}

fn sides(shown: &Side, withheld: &Side) -> String {
    let row = |(name, side): (&str, &Side)| {
        let rate = side.rate.map(|rate| format!("{rate:.3}")).unwrap_or_default();
        let counts = [side.n_receipts, side.n_outcomes, side.n_helpful].map(|count| count.to_string());
        [vec![name.to_owned()], counts.to_vec(), vec![rate]].concat()
    };
    table(&["", "receipts", "with outcome", "helpful", "rate"], [("shown", shown), ("withheld", withheld)].map(row))
}

impl Replay {
    pub(crate) fn run(&self) -> Result<Answer> {
        let gate = gate(&self.policy)?;
        let log = ReceiptLog::parse(read(&self.log)?.as_bytes());
        let replay = log.replay(&gate);
        let json = json!({ "policy": gate, "unreadable": log.n_unreadable(), "replay": replay });
        let text = match replay {
            credit::Replay::NotEnoughOverlap { n_receipts, n_outside, effective_size, needed, .. } => format!(
                "not enough overlap: of {n_receipts} receipts with an outcome the gate would show what was never shown, or \
                 withhold what was never withheld, in {n_outside}; the others say as much as {effective_size:.0} outcomes, it \
                 takes {needed:.0}"
            ),
            credit::Replay::Estimated {
                weighted,
                doubly_robust,
                logged,
                n_receipts,
                n_outside,
                effective_size,
                ..
            } => {
                let estimates = [
                    ("this gate, by inverse propensity", weighted),
                    ("this gate, doubly robust", doubly_robust),
                    ("as logged", logged),
                ];
                let row = |(name, Estimate { value, low, high, .. }): (&str, Estimate)| {
                    vec![name.to_owned(), format!("{value:.3}"), format!("{low:.3} to {high:.3}")]
                };
                format!(
                    "{}\n{n_receipts} receipts with an outcome, {n_outside} of them left out; as good as {effective_size:.0} \
                     outcomes; {} lines could not be read",
                    table(&["", "helpful", "95% interval"], estimates.map(row)),
                    log.n_unreadable()
                )
            }
            other => return Err(format!("a replay of another kind: {other:?}").into()),
        };
        Ok(Answer { text, json })
    }
}

/// A text with `=` that does not name a file is a list of settings.
fn gate(policy: &str) -> Result<Gate> {
    let path = Path::new(policy);
    if policy.contains('=') && !path.exists() {
        return Ok(policy.parse()?);
    }
    Ok(Gate::from_json(&read(path)?)?)
}
