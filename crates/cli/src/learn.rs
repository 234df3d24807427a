//! Learning lessons.

use std::error::Error;
use std::io::{self, BufRead, IsTerminal};

use adage::{LearnOutcome, LessonDraft, Playbook};
use clap::Args;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::global::Global;
use crate::output::{Output, say};
use crate::result::{Done, Usage, exit_code};

#[derive(Args, Serialize)]
pub(crate) struct Learn {
    /// Situation in which the lesson applies
    #[arg(long, allow_hyphen_values = true)]
    trigger: Option<String>,
    /// Task at hand
    #[arg(long, allow_hyphen_values = true)]
    task: Option<String>,
    /// What went wrong
    #[arg(long, allow_hyphen_values = true)]
    mistake: Option<String>,
    /// What not to do
    #[arg(long, allow_hyphen_values = true)]
    anti_pattern: Option<String>,
    /// What solved it
    #[arg(long, allow_hyphen_values = true)]
    solution: Option<String>,
    /// What to do instead
    #[arg(long, allow_hyphen_values = true)]
    correct_pattern: Option<String>,
    /// Code that shows it
    #[arg(long, visible_alias = "code", allow_hyphen_values = true)]
    code_example: Option<String>,
    /// Topics, separated by commas
    #[arg(long, allow_hyphen_values = true)]
    domains: Option<String>,
    /// Confidence, from 0 to 1
    #[arg(long)]
    confidence: Option<f64>,
    /// Origin, in one word
    #[arg(long, allow_hyphen_values = true)]
    source: Option<String>,
    /// An independent check confirmed it
    #[arg(long)]
    verified: bool,
}

impl Learn {
    /// The draft that the flags describe; none when there are no flags.
    fn draft(&self) -> Option<LessonDraft> {
        let Ok(Value::Object(mut row)) = serde_json::to_value(self) else { return None };
        row.retain(|_, value| !value.is_null() && *value != false);
        (!row.is_empty()).then(|| LessonDraft::from_json(row))
    }
}

pub(crate) fn learn(global: &Global, flags: &Learn, out: &mut Output) -> Done {
    if let Some(draft) = flags.draft() {
        return Ok(exit_code(learn_one(global, &global.open()?, draft, out)?));
    }
    let input = io::stdin();
    if input.is_terminal() {
        return Err(Usage(
            "give the lesson as flags (see learn --help), or one JSON lesson a line on standard input".into(),
        )
        .into());
    }
    let playbook = global.open()?;
    let mut is_done = true;
    for (number, line) in input.lock().split(b'\n').enumerate() {
        let line = line?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice::<Map<String, Value>>(&line) {
            Ok(row) => is_done &= learn_one(global, &playbook, LessonDraft::from_program(row), out)?,
            Err(error) => {
                say(&format!("line {}: {error}", number + 1));
                is_done = false;
            }
        }
    }
    Ok(exit_code(is_done))
}

/// Learns a lesson and prints what became of it. False when it was refused.
fn learn_one(
    global: &Global,
    playbook: &Playbook,
    draft: LessonDraft,
    out: &mut Output,
) -> Result<bool, Box<dyn Error>> {
    let learned = playbook.learn_lesson(draft.in_realm(&global.realm()))?;
    out.object(&object(&learned))?;
    if let LearnOutcome::Refused { .. } = learned {
        say(&learned.to_string());
        return Ok(false);
    }
    let undo = learned.change().map(|change| format!(" (undo {change})")).unwrap_or_default();
    out.line(&format!("{learned}{undo}"))?;
    for evicted in learned.evicted() {
        out.line(&format!("  evicted {evicted}"))?;
    }
    out.flush()?;
    Ok(true)
}

fn object(learned: &LearnOutcome) -> Value {
    let (outcome, into, near, distance, why) = match learned {
        LearnOutcome::Inserted { .. } => ("inserted", None, None, None, None),
        LearnOutcome::Merged { into, distance, .. } => ("merged", Some(*into), None, *distance, None),
        LearnOutcome::Distinct { near, distance, why, .. } => {
            ("kept_apart", None, Some(*near), *distance, Some(why.to_string()))
        }
        LearnOutcome::Review { reason, near, .. } => ("review", None, *near, None, Some(reason.to_string())),
        LearnOutcome::Refused { reason } => ("refused", None, None, None, Some(reason.to_string())),
        other => ("other", None, None, None, Some(format!("{other:?}"))),
    };
    json!({
        "outcome": outcome, "id": learned.id(), "into": into, "near": near, "distance": distance, "why": why,
        "evicted": learned.evicted(), "change": learned.change(),
    })
}
