//! Learning lessons.

use std::io::{self, BufRead, IsTerminal};

use adage::{LearnOutcome, LessonDraft};
use clap::Args;
use serde_json::{Map, Value, json};

use crate::global::Global;
use crate::output::{Output, say};
use crate::result::{Done, Usage, exit_code};

#[derive(Args)]
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
        let texts = [
            ("trigger", &self.trigger),
            ("task", &self.task),
            ("mistake", &self.mistake),
            ("anti_pattern", &self.anti_pattern),
            ("solution", &self.solution),
            ("correct_pattern", &self.correct_pattern),
            ("code_example", &self.code_example),
            ("domains", &self.domains),
            ("source", &self.source),
        ];
        let mut row = Map::new();
        for (key, text) in texts {
            if let Some(text) = text {
                row.insert(key.to_owned(), Value::from(text.as_str()));
            }
        }
        if let Some(confidence) = self.confidence {
            row.insert("confidence".to_owned(), Value::from(confidence));
        }
        if self.verified {
            row.insert("verified".to_owned(), Value::from(true));
        }
        (!row.is_empty()).then(|| LessonDraft::from_json(row))
    }
}

pub(crate) fn learn(global: &Global, flags: &Learn, out: &mut Output) -> Done {
    if let Some(draft) = flags.draft() {
        let playbook = global.open()?;
        let learned = playbook.learn_lesson(draft.project(&global.project).role(&global.role))?;
        tell(&learned, out)?;
        return Ok(exit_code(!matches!(learned, LearnOutcome::Refused { .. })));
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
            Ok(row) => {
                let learned = playbook.learn_lesson(LessonDraft::from_program(row).in_realm(&global.realm()))?;
                tell(&learned, out)?;
                is_done &= !matches!(learned, LearnOutcome::Refused { .. });
            }
            Err(error) => {
                say(&format!("line {}: {error}", number + 1));
                is_done = false;
            }
        }
    }
    Ok(exit_code(is_done))
}

/// Prints what became of a lesson.
fn tell(learned: &LearnOutcome, out: &mut Output) -> io::Result<()> {
    out.object(&object(learned))?;
    if let LearnOutcome::Refused { .. } = learned {
        say(&learned.to_string());
        return Ok(());
    }
    let undo = learned.change().map(|change| format!(" (undo {change})")).unwrap_or_default();
    out.line(&format!("{learned}{undo}"))?;
    for evicted in learned.evicted() {
        out.line(&format!("  evicted {evicted}"))?;
    }
    out.flush()
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
