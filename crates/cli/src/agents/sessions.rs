//! The index of past sessions.

use std::path::Path;
use std::process::ExitCode;

use adage::redact::{path_line, path_text};
use adage_sessions::{self, ReadState, SessionSummary, Sessions};
use serde_json::{Value, json};

use crate::global::Global;
use crate::output::{Output, with};
use crate::result::Done;

pub(crate) fn list(global: &Global, folder: &Path, all: bool, out: &mut Output) -> Done {
    // An existing playbook caches the findings; reading creates no playbook.
    let playbook = global.existing()?;
    let scan = Sessions::of(&playbook).scan(folder)?;
    let entries = if all { scan.entries.iter().collect() } else { scan.shown() };
    for entry in &entries {
        out.object(&row(entry))?;
        match entry.ineligible {
            Some(reason) => out.line(&format!("{entry}; not read: {reason}"))?,
            None => out.line(&entry.to_string())?,
        }
    }
    if all {
        for left in &scan.left_out {
            out.object(&json!({"path": path_text(&left.path), "left_out": left.reason.to_string()}))?;
            out.line(&format!("left out: {}: {}", path_line(&left.path), left.reason))?;
        }
    }
    if entries.is_empty() {
        out.message("no sessions");
    }
    Ok(ExitCode::SUCCESS)
}

fn row(entry: &adage_sessions::SessionEntry) -> Value {
    let (read_state, n_attempts) = match entry.read_state {
        ReadState::New { n_attempts } => ("new", n_attempts),
        ReadState::GivenUp { n_attempts } => ("given_up", n_attempts),
        ReadState::Read => ("read", 0),
    };
    let SessionSummary { n_user_turns, owner, intent, workflow, .. } = &entry.summary;
    let row = json!({
        "id": entry.id, "path": path_text(&entry.path), "updated": entry.updated, "standing": read_state,
        "hurdle": entry.ineligible.map(|reason| reason.to_string()),
        "n_user_turns": n_user_turns, "owner": owner, "intent": intent, "workflow": workflow,
    });
    if read_state == "read" { row } else { with(row, json!({ "n_attempts": n_attempts })) }
}
