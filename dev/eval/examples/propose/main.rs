//! Lets somebody else play the language model of an extraction: writes the prompts, and checks the replies.
//!
//! ```text
//! cargo run -p adage-eval --example propose -- prompts FOLDER SESSIONS...
//! cargo run -p adage-eval --example propose -- check FOLDER SESSIONS...
//! ```
//!
//! SESSIONS are files or folders: every format of `TranscriptReader`, and lines with `turns` as exported from `SpecStory`; `.gz` files
//! are unpacked. `prompts` writes `FOLDER/NAME.json` for each session, with the fields `system` and `user` of the completion. `check` reads
//! the reply to it from `FOLDER/NAME.txt` or `FOLDER/NAME.reply.json`, and prints one JSON object per proposal: accepted ones with
//! the lesson, its evidence, what became of it and what a reviewer is shown; refused ones with the reason. Sessions without a reply are skipped.
//!
//! Each session has a playbook of its own, without known lessons.

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods, reason = "a program, not a library")]

#[path = "../session_files/mod.rs"]
mod session_files;
mod sessions;

use adage_sessions::Sessions;
use std::error::Error;
use std::path::Path;

use adage::Playbook;
use adage::model::{CancelToken, ScriptedModel};
use adage_review::Inbox;
use adage_sessions::extract::{Extracted, Extraction};
use serde_json::{Value, json};
use sessions::{Session, read_all};

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [command, folder, sessions @ ..] = arguments.as_slice() else {
        return Err("usage: propose (prompts|check) FOLDER SESSIONS...".into());
    };
    let (folder, sessions) = (Path::new(folder), read_all(sessions)?);
    match command.as_str() {
        "prompts" => sessions.iter().try_for_each(|session| write_prompt(folder, session)),
        "check" => sessions.iter().try_for_each(|session| check_reply(folder, session)),
        other => Err(format!("{other:?} is neither prompts nor check").into()),
    }
}

fn write_prompt(folder: &Path, session: &Session) -> Result<(), Failure> {
    let model = ScriptedModel::new([]);
    with_playbook(|playbook| {
        Sessions::of(playbook).extract(&model, &session.transcript, &CancelToken::default())?;
        Ok(())
    })?;
    let Some(asked) = model.requests().into_iter().next() else {
        eprintln!("{}: the model is not asked", session.name);
        return Ok(());
    };
    std::fs::create_dir_all(folder)?;
    let prompt = json!({ "session": session.name, "system": asked.system, "user": asked.user });
    Ok(std::fs::write(folder.join(format!("{}.json", session.name)), format!("{prompt:#}\n"))?)
}

fn check_reply(folder: &Path, session: &Session) -> Result<(), Failure> {
    let files = ["txt", "reply.json"].map(|suffix| folder.join(format!("{}.{suffix}", session.name)));
    let Some(file) = files.iter().find(|file| file.exists()) else { return Ok(()) };
    let model = ScriptedModel::new([Ok(std::fs::read_to_string(file)?)]);
    with_playbook(|playbook| {
        let extraction = Sessions::of(playbook).extract(&model, &session.transcript, &CancelToken::default())?;
        let Extraction::Proposed { lessons, refused } = extraction else {
            println!("{}", json!({ "session": session.name, "result": extraction }));
            return Ok(());
        };
        for lesson in lessons {
            println!("{}", accepted(playbook, session, lesson)?);
        }
        for refused in refused {
            let row = json!({
                "session": session.name, "accepted": false, "rule": refused.rule, "message": refused.because.to_string(),
                "because": refused.because,
            });
            println!("{row}");
        }
        Ok(())
    })
}

/// An accepted proposal, what became of it, and the item of the inbox if it awaits review.
fn accepted(playbook: &Playbook, session: &Session, lesson: Extracted) -> Result<Value, Failure> {
    let mut row = json!({
        "session": session.name, "accepted": true, "lesson": lesson.draft.to_json(), "evidence": lesson.evidence,
    });
    let trigger = lesson.draft.to_json().get("trigger").cloned();
    let outcomes = Sessions::of(playbook).admit_extracted([lesson])?;
    let inbox = Inbox::of(playbook);
    let trigger = trigger.as_ref().and_then(Value::as_str).unwrap_or_default();
    let item = inbox.list()?.into_iter().find(|item| item.summary.starts_with(trigger));
    let shown = item.map(|item| inbox.show(&item)).transpose()?;
    if let Value::Object(row) = &mut row {
        row.insert("outcome".to_owned(), json!(outcomes.first()));
        row.insert("shown".to_owned(), json!(shown));
    }
    Ok(row)
}

/// Runs a step on a new, empty playbook.
fn with_playbook(step: impl FnOnce(&Playbook) -> Result<(), Failure>) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    step(&Playbook::builder(folder.path()).without_embedder().open()?)
}
