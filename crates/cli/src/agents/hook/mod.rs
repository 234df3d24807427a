//! `adage hook`: the context that an agent gets at the events of its session (docs/agents.md).
//!
//! A hook never blocks the agent: whatever its input is, it exits with code 0 and prints one JSON object in the agent's format.

mod agents;
mod check;
mod fields;
mod input;
mod session;

use adage_sessions::Sessions;
use std::error::Error;
use std::io::Read;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use adage::redact::{path_line, printable_line};
use adage::retrieve::TierChoice;
use adage::transcript::{Status, task_in};
use adage::{Context, Feedback, Request};
use clap::Args;
use serde_json::{Value, json};

use crate::global::{Access, Books, Global};
use crate::location::{MemoryLocation, VARIABLE, env_path, has_memory, user_memory};
use crate::output::{Output, say};
use crate::own_program;
use crate::result::{Done, chain};
use crate::store;

pub(crate) use agents::Agent;
use fields::PayloadFields;
pub(crate) use input::Event;
use input::HookInput;
use session::Session;

/// The maximum size of a payload, in bytes.
const MAX_PAYLOAD: u64 = 8 << 20;
/// The maximum estimated tokens at the start of a session or sub-agent, and before a task.
const START_TOKENS: usize = 800;
/// The maximum estimated tokens before a tool runs.
pub(crate) const TOOL_TOKENS: usize = 400;
/// The maximum lessons at the start, and before a tool runs.
const START_LESSONS: usize = 8;
const TOOL_LESSONS: usize = 3;
/// The maximum number of texts that a prompt waits for to be embedded: about 0.2 s.
const MAX_EMBEDDED: usize = 60;

#[derive(Args)]
pub(crate) struct Hook {
    /// session-start, subagent-start, prompt, before-tool, after-tool, session-end, or the agent's own name of the event
    event: String,
    /// claude-code, codex, gemini-cli, cursor, copilot-cli, opencode or windsurf [default: by the payload]
    #[arg(long)]
    agent: Option<String>,
    /// Only print what is read from the payload; nothing is answered or recorded
    #[arg(long)]
    explain: bool,
}

/// The answer to an event.
#[derive(Default)]
struct Answer {
    /// The context for the agent.
    context: String,
    /// The message for the user.
    message: String,
}

impl Answer {
    /// An empty memory gives no text at all.
    fn of(context: Context, books: &Books) -> Self {
        let is_empty = context.lessons.is_empty() && context.skills.is_empty();
        Self { context: if is_empty { String::new() } else { context.text }, message: silent(books) }
    }
}

pub(crate) fn hook(mut global: Global, asked: &Hook, out: &mut Output) -> Done {
    out.json = true;
    let Some(input) = received(asked) else {
        out.foreign_object(&json!({}))?;
        return Ok(ExitCode::SUCCESS);
    };
    let event = Event::parse(&asked.event);
    if asked.explain {
        out.foreign_object(&explained(event, &input))?;
        return Ok(ExitCode::SUCCESS);
    }
    let answer = event.map(|event| answer(&mut global, event, &input));
    let answer = match answer {
        Some(Ok(answer)) => answer,
        Some(Err(error)) => Answer { message: format!("adage: {}", chain(error.as_ref())), ..Answer::default() },
        None => Answer { message: unknown_event(&asked.event), ..Answer::default() },
    };
    // The agent shows it in its terminal: names of folders and causes of errors are in it, and none of them may begin a line.
    let message = printable_line(&answer.message);
    if event.is_none() {
        say(&message);
    }
    let object = input.agent.form(event.unwrap_or(Event::SessionEnd), &answer.context, &message);
    out.foreign_object(&object)?;
    Ok(ExitCode::SUCCESS)
}

fn unknown_event(name: &str) -> String {
    let known: Vec<&str> = Event::NAMES.iter().map(|(name, _)| *name).collect();
    format!("there is no hook {}; there are {}, and the agents' own names of them", json!(name), known.join(", "))
}

/// What the agent sent. What had to be repaired, and why nothing could be read, is said on standard error.
fn received(asked: &Hook) -> Option<HookInput> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().take(MAX_PAYLOAD + 1).read_to_end(&mut bytes);
    let refused = |why: &str| say(&format!("the payload of hook {} is not used: {why}", json!(asked.event)));
    if read.is_err() || bytes.len() as u64 > MAX_PAYLOAD {
        refused(&read.map_or_else(|error| error.to_string(), |_| format!("it has more than {MAX_PAYLOAD} bytes")));
        return None;
    }
    match PayloadFields::read(&bytes, &asked.event) {
        Ok((fields, repairs)) => {
            for repair in repairs {
                say(&format!("the payload of hook {} has a flaw: {repair}", json!(asked.event)));
            }
            let agent = asked.agent.as_deref().and_then(Agent::parse).unwrap_or_else(|| Agent::of(&fields));
            Some(agent.read(&fields))
        }
        Err(error) => {
            refused(&error.to_string());
            None
        }
    }
}

/// What is read from a payload, for somebody who connects an agent.
fn explained(event: Option<Event>, input: &HookInput) -> Value {
    let event = Event::NAMES.iter().find(|(_, known)| Some(*known) == event).map(|(name, _)| *name);
    let result = match input.status() {
        Status::Succeeded => "passed",
        Status::Failed => "failed",
        Status::Unknown => "unknown",
    };
    json!({
        "agent": input.agent.name(), "event": event, "session": input.session, "task": task_in(&input.message),
        "tool": input.call.as_ref().map(|call| &call.tool), "commands": input.commands(), "paths": input.changed(),
        "result": result,
    })
}

fn answer(global: &mut Global, event: Event, input: &HookInput) -> Result<Answer, Box<dyn Error>> {
    let named = global.named_dir().map(Path::to_owned).or_else(|| env_path(VARIABLE));
    let at = |folder: &Path| {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        MemoryLocation::from(&folder, named.clone(), global.only_own, user_memory())
    };
    let is_known = |folder: &Path| at(folder).is_ok_and(|location| has_memory(&location.dir) && location.is_own);
    let start = input.folder(is_known).or_else(|| std::env::current_dir().ok()).unwrap_or_default();
    global.location = at(&start)?;
    let is_any = global.has_memory() || global.location.user.as_deref().is_some_and(has_memory);
    if !is_any {
        return Ok(Answer::default());
    }
    let mut session = Session::open(&input.session_key());
    let answer = match event {
        Event::SessionStart | Event::SubagentStart => {
            if event == Event::SubagentStart || input.forgets {
                session.forget_shown();
            }
            session::remove_old();
            let request = Request::cold_start().limit(START_LESSONS).max_tokens(START_TOKENS);
            at_start(global, request, &mut session)?
        }
        Event::Prompt => for_prompt(global, input, &mut session)?,
        Event::BeforeTool => before_tool(global, input, &mut session)?,
        Event::AfterTool => {
            note(input, &mut session);
            // If the agent takes no text before a tool runs, it gets it after: before the second try.
            let is_late = !input.agent.takes_text_before_tools();
            if is_late { before_tool(global, input, &mut session)? } else { Answer::default() }
        }
        Event::SessionEnd => end(global, input, &mut session)?,
    };
    session.keep();
    Ok(answer)
}

/// The lessons for the task that the user typed; none for a message without one.
fn for_prompt(global: &mut Global, input: &HookInput, session: &mut Session) -> Result<Answer, Box<dyn Error>> {
    let Some(task) = task_in(&input.message) else { return Ok(Answer::default()) };
    session.begin_task();
    let request = Request::about(task).max_tokens(START_TOKENS);
    let books = global.books(Access::Write)?;
    let is_slow = embeds_in_background(global, &books, session)?;
    let request = if is_slow { request.tier(TierChoice::Lexical) } else { request };
    let request = if input.agent.takes_text_before_tools() { request.without_recoveries() } else { request };
    relevant(global, &books, request, session)
}

/// The newest lessons. They are shown for no task, so what becomes of one says nothing about them.
fn at_start(global: &Global, request: Request, session: &mut Session) -> Result<Answer, Box<dyn Error>> {
    let books = global.books(Access::Write)?;
    let context = context(global, &books, request, session)?;
    session.show(context.lessons.iter().map(|lesson| lesson.id), None);
    Ok(Answer::of(context, &books))
}

/// The relevant lessons that the session has not seen yet.
fn relevant(global: &Global, books: &Books, request: Request, session: &mut Session) -> Result<Answer, Box<dyn Error>> {
    let context = context(global, books, request, session)?;
    session.show(context.lessons.iter().map(|lesson| lesson.id), context.receipt);
    Ok(Answer::of(context, books))
}

fn context(global: &Global, books: &Books, request: Request, session: &Session) -> Result<Context, Box<dyn Error>> {
    Ok(books.all.get_playbook_context(request.in_realm(&global.realm()).except(session.shown()))?)
}

/// True if more texts lack a vector than a prompt waits for. Then a separate process embeds them, once per session.
fn embeds_in_background(global: &Global, books: &Books, session: &mut Session) -> Result<bool, Box<dyn Error>> {
    let mut is_much = false;
    for playbook in books.all.as_slice() {
        if playbook.texts_without_vector()? > MAX_EMBEDDED {
            is_much = true;
            if session.begins_warm_up() {
                in_background(global, playbook.folder(), &["doctor", "--embed"]);
            }
        }
    }
    Ok(is_much)
}

/// A sentence that names the folders that are not trusted.
fn silent(books: &Books) -> String {
    let folders: Vec<String> = books.silent.iter().map(path_line).collect();
    if folders.is_empty() {
        return String::new();
    }
    format!("adage: {} is not trusted, so nothing of it is used; see `adage trust --show`", folders.join(", "))
}

/// The lessons for a tool call: by their patterns, or by words. No model is run.
fn before_tool(global: &Global, input: &HookInput, session: &mut Session) -> Result<Answer, Box<dyn Error>> {
    let commands = input.commands();
    if commands.is_empty() && input.paths().is_empty() {
        return Ok(Answer::default());
    }
    let mut request = Request::about(input.words()).tier(TierChoice::Lexical);
    request = input.changed().iter().fold(request, |request, path| request.touching(path.as_str()));
    request = commands.iter().fold(request, |request, line| request.running(line.as_str()));
    let request = request.limit(TOOL_LESSONS).max_tokens(TOOL_TOKENS);
    let mut answer = relevant(global, &global.books(Access::Write)?, request, session)?;
    if session.has_failed(input.call_key()) && input.agent.takes_text_before_tools() {
        let again = "This same call failed earlier in this session.";
        answer.context =
            if answer.context.is_empty() { again.to_owned() } else { format!("{again}\n{}", answer.context) };
    }
    Ok(answer)
}

/// Records whether a call failed, and whether a check passed.
fn note(input: &HookInput, session: &mut Session) {
    let status = input.status();
    if status != Status::Unknown {
        session.note(input.call_key(), status == Status::Failed);
    }
    if !input.commands().iter().any(|command| check::is_check(command)) {
        return;
    }
    match status {
        Status::Unknown => session.doubt_check(),
        Status::Succeeded | Status::Failed => session.record_check(status == Status::Succeeded),
    }
}

/// Records the session's outcome, if a check gives one, and has its transcript mined in the background.
fn end(global: &Global, input: &HookInput, session: &mut Session) -> Result<Answer, Box<dyn Error>> {
    let books = global.books(Access::Write)?;
    for (receipt, has_passed) in session.take_outcomes() {
        // An expired or unknown receipt is ignored.
        let _ = books.all.record_outcome(receipt, if has_passed { Feedback::Helpful } else { Feedback::Harmful });
    }
    let dir = global.dir();
    // A store keeps no sessions to read.
    let ours = books.all.as_slice().first().filter(|lead| lead.folder() == dir && has_memory(dir) && !global.no_learn);
    if let Some((playbook, transcript)) = ours.zip(input.transcript.as_ref().filter(|path| path.is_file())) {
        Sessions::of(playbook).queue(transcript)?;
        in_background(global, dir, &["mine", "--queued"]);
    }
    Ok(Answer { message: silent(&books), ..Answer::default() })
}

/// Starts a background process that runs a command on a folder, or on the store. If it cannot be started, the next one does the work.
fn in_background(global: &Global, dir: &Path, args: &[&str]) {
    let Ok(program) = own_program::path() else { return };
    let mut command = Command::new(program);
    if let Some(address) = &global.store {
        // The arguments of a process can be read by others, and the address may have a password.
        command.env(store::VARIABLE, address);
    } else {
        command.arg("--dir").arg(dir);
        // It runs in its repository, so that lessons need not name the project.
        if let Some(folder) = dir.parent() {
            command.current_dir(folder);
        }
    }
    command.args(args);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Interrupts from the terminal must not reach it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    // The process is not waited for.
    drop(command.spawn());
}
