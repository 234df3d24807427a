//! The command `skills match`: the skills that match a text, and why.

use std::process::ExitCode;

use adage::skills::{self, MatchTier, MatchedBy, Skills};
use clap::Args;
use serde_json::{Value, json};

use crate::output::{Output, say};
use crate::result::Done;

#[derive(Args)]
pub(crate) struct Match {
    /// Text of the request
    #[arg(allow_hyphen_values = true)]
    text: String,
    /// Show every point
    #[arg(long)]
    explain: bool,
    /// Print the skills' texts in the form of a prompt
    #[arg(long, conflicts_with = "explain")]
    block: bool,
}

pub(crate) fn find(skills: &Skills, asked: &Match, out: &mut Output) -> Done {
    let task = skills.for_task(&asked.text)?;
    let found = &task.matches;
    let rows: Vec<Value> = found.matches.iter().map(row).collect();
    let tier = match found.tier {
        MatchTier::Meaning => "meaning",
        MatchTier::Words => "words",
    };
    let names = |names: &[adage::skills::Name]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let left_out: Vec<Value> = task
        .block
        .left_out
        .iter()
        .map(|skill| json!({"name": skill.name.as_str(), "tokens": skill.n_tokens}))
        .collect();
    out.object(&json!({
        "tier": tier, "matches": rows, "always": names(&task.always), "shown": names(&task.block.shown), "left_out": left_out,
        "none_because": found.none_because.map(|reason| reason.to_string()),
        "fallback": found.fallback.as_ref().map(ToString::to_string),
        "text": task.block.text,
    }))?;
    if asked.block {
        out.text(task.block.text.trim_end())?;
    } else {
        for found in &found.matches {
            match &found.by {
                MatchedBy::Words { score, points } => {
                    out.line(&format!("{}  {score}", found.name))?;
                    for point in points.iter().filter(|_| asked.explain) {
                        out.line(&format!("  {point}"))?;
                    }
                }
                MatchedBy::Meaning { cosine } => out.line(&format!("{}  {cosine:.3}", found.name))?,
            }
        }
    }
    if let Some(reason) = found.none_because {
        say(&format!("no skill: {reason}"));
    }
    if let Some(fallback) = found.fallback.as_ref().filter(|_| asked.explain) {
        say(&format!("by words: {fallback}"));
    }
    for skill in &task.block.left_out {
        say(&format!("{} does not fit: it needs {} tokens", skill.name, skill.n_tokens));
    }
    Ok(ExitCode::SUCCESS)
}

fn row(found: &skills::Match) -> Value {
    match &found.by {
        MatchedBy::Words { score, points } => {
            let points: Vec<Value> = points.iter().map(|point| json!({
                "query_word": point.query_word, "skill_word": point.skill_word, "reason": point.reason.name(), "points": point.points,
            })).collect();
            json!({"name": found.name.as_str(), "score": score, "points": points})
        }
        MatchedBy::Meaning { cosine } => json!({"name": found.name.as_str(), "cosine": cosine}),
    }
}
