//! Lessons in: learn.

use std::io::{self, BufRead, IsTerminal};
use std::process::ExitCode;

use adage::{LearnOutcome, LessonDraft};
use serde_json::{Map, Value, json};

use crate::args::{Global, Learn};
use crate::{Done, Output, Usage, say, short};

pub(crate) fn learn(global: &Global, flags: &Learn, out: &mut Output) -> Done {
    if let Some(draft) = flags.draft() {
        let playbook = global.open()?;
        let learned = playbook.learn_lesson(draft.project(&global.project).role(&global.role))?;
        tell(&learned, out)?;
        return Ok(code(!matches!(learned, LearnOutcome::Refused { .. })));
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
                let learned = playbook.learn_lesson(LessonDraft::from_json(row).in_realm(&global.realm()))?;
                tell(&learned, out)?;
                is_done &= !matches!(learned, LearnOutcome::Refused { .. });
            }
            Err(error) => {
                say(&format!("line {}: {error}", number + 1));
                is_done = false;
            }
        }
    }
    Ok(code(is_done))
}

/// What became of a lesson, for both readers.
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

fn code(is_done: bool) -> ExitCode {
    ExitCode::from(u8::from(!is_done))
}

/// The lesson in a line, for lists.
pub(crate) fn headline(lesson: &adage::Lesson, width: usize) -> String {
    short(&lesson.trigger, width)
}
