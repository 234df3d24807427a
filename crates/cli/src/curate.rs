//! Draft skills put in order.

use std::process::ExitCode;

use adage::{ChangeId, CurationPlan, CurationStep};
use clap::Args;
use serde_json::{Value, json};

use crate::args::Global;
use crate::{Done, Output, Usage};

#[derive(Args)]
pub(crate) struct Curate {
    /// Only say what would be done; this is the default
    #[arg(long, conflicts_with_all = ["apply", "undo"])]
    dry_run: bool,
    /// Do it
    #[arg(long, conflicts_with = "undo")]
    apply: bool,
    /// Take out what was not used for long, instead of only marking it; it is archived
    #[arg(long)]
    prune: bool,
    /// Take an earlier curation back, by the change's id
    #[arg(long, value_name = "ID")]
    undo: Option<String>,
}

pub(crate) fn curate(global: &Global, asked: &Curate, out: &mut Output) -> Done {
    if let Some(id) = &asked.undo {
        let change: ChangeId = id.parse().map_err(|_| Usage(format!("{id} is not the id of a change")))?;
        let undone = global.open()?.skills().undo_curation(change)?;
        out.object(&json!({ "change": undone }))?;
        out.line(&format!("undone; change {undone}"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let builder = global.builder_with(|config| config.curation.auto_prune |= asked.prune)?;
    let (plan, change) = if asked.apply && !asked.dry_run {
        let curated = builder.open()?.skills().curate()?;
        (curated.plan, curated.change)
    } else {
        (builder.read_only().open()?.skills().curation_plan()?, None)
    };
    out.object(&json!({ "steps": steps(&plan), "applied": asked.apply, "change": change }))?;
    for step in &plan.steps {
        out.line(&step.to_string())?;
    }
    out.line(&match change {
        Some(change) => format!("{} steps done (undo {change})", plan.steps.len()),
        None if plan.is_empty() => "nothing to do".to_owned(),
        None => format!("{} steps; --apply does them", plan.steps.len()),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn steps(plan: &CurationPlan) -> Vec<Value> {
    let row = |step: &CurationStep| {
        let (what, skill, into) = match step {
            CurationStep::RemoveSkipped { name } => ("remove_skipped", name, None),
            CurationStep::Revive { becomes } => ("revive", &becomes.name, None),
            CurationStep::Merge { kept, gone, .. } => ("merge", gone, Some(kept)),
            CurationStep::MarkStale { becomes, .. } => ("mark_stale", &becomes.name, None),
            CurationStep::Prune { name, .. } => ("prune", name, None),
            other => return json!({"what": "other", "why": other.to_string()}),
        };
        let into = into.map(ToString::to_string);
        json!({"what": what, "skill": skill.to_string(), "into": into, "why": step.to_string()})
    };
    plan.steps.iter().map(row).collect()
}
