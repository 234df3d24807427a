//! Curation of draft skills.

use std::process::ExitCode;

use adage::ChangeId;
use adage::skills::{CurationPlan, CurationStep};
use clap::Args;
use serde_json::{Value, json};

use crate::global::{Access, Global};
use crate::output::{Output, counted};
use crate::result::Done;

#[derive(Args)]
pub(crate) struct Curate {
    /// Only print the plan; this is the default
    #[arg(long, conflicts_with_all = ["apply", "undo"])]
    dry_run: bool,
    /// Carry out the plan
    #[arg(long, conflicts_with = "undo")]
    apply: bool,
    /// Archive drafts that have not been used for a long time, instead of only marking them
    #[arg(long)]
    prune: bool,
    /// Undo an earlier curation, by the change's id
    #[arg(value_parser = crate::choice::id::<ChangeId>("a change"), long, value_name = "ID")]
    undo: Option<ChangeId>,
}

pub(crate) fn curate(global: &Global, asked: &Curate, out: &mut Output) -> Done {
    if let Some(change) = asked.undo {
        let undone = global.open()?.skills().undo_curation(change)?;
        return out.both(&json!({ "change": undone }), &format!("undone; change {undone}"));
    }
    let prunes = asked.prune;
    let builder = global.builder_with(move |config| config.curation.auto_prune |= prunes)?;
    let (plan, change) = if asked.apply && !asked.dry_run {
        let curated = global.open_with(builder, Access::Write)?.skills().curate()?;
        (curated.plan, curated.change)
    } else {
        (global.open_with(builder, Access::Read)?.skills().curation_plan()?, None)
    };
    out.object(&json!({ "steps": steps(&plan), "applied": asked.apply, "change": change }))?;
    for step in &plan.steps {
        out.line(&step.to_string())?;
    }
    out.line(&match change {
        Some(change) => format!("{} done (undo {change})", counted(plan.steps.len(), "step")),
        None if plan.is_empty() => "nothing to do".to_owned(),
        None => format!("{}; --apply carries them out", counted(plan.steps.len(), "step")),
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
