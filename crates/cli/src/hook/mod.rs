//! `adage hook`: the context that an agent gets at the events of its session (docs/agents.md).
//!
//! A hook never blocks the agent: whatever its input is, it exits with code 0 and prints one JSON object in the agent's format.

mod check;
mod payload;
mod session;

use adage_sessions::Sessions;
use std::error::Error;
use std::io::Read;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use adage::redact::{path_line, printable_line};
use adage::retrieve::TierChoice;
use adage::{Context, Feedback, Request, TextHash};
use clap::Args;
use serde_json::{Value, json};

use crate::global::{Access, Books, Global};
use crate::location::{MemoryLocation, VARIABLE, env_path, has_memory, user_memory};
use crate::output::Output;
use crate::own_program;
use crate::result::{Done, chain};

pub(crate) use payload::{Agent, Event};
use payload::{CallResult, Payload};
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
    /// claude-code, codex, gemini-cli or cursor [default: by the payload]
    #[arg(long)]
    agent: Option<String>,
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
    let mut input = String::new();
    let payload = match std::io::stdin().take(MAX_PAYLOAD).read_to_string(&mut input) {
        Ok(_) => Payload::parse(&input),
        Err(_) => Payload::default(),
    };
    let agent = asked.agent.as_deref().and_then(Agent::parse).unwrap_or_else(|| payload.agent());
    let event = Event::parse(&asked.event);
    let answer = event.map(|event| answer(&mut global, event, &payload));
    let answer = match answer {
        Some(Ok(answer)) => answer,
        Some(Err(error)) => Answer { message: format!("adage: {}", chain(error.as_ref())), ..Answer::default() },
        None => Answer { message: format!("adage: there is no hook {:?}", asked.event), ..Answer::default() },
    };
    // The agent shows it in its terminal: names of folders and causes of errors are in it, and none of them may begin a line.
    let message = printable_line(&answer.message);
    let object = event.map_or_else(|| json!({}), |event| agent.form(event, &answer.context, &message));
    out.json = true;
    out.foreign_object(&object)?;
    Ok(ExitCode::SUCCESS)
}

fn answer(global: &mut Global, event: Event, payload: &Payload) -> Result<Answer, Box<dyn Error>> {
    let start = payload.folder().or_else(|| std::env::current_dir().ok()).unwrap_or_default();
    let start = start.canonicalize().unwrap_or(start);
    let named = global.dir.clone().or_else(|| env_path(VARIABLE));
    global.location = MemoryLocation::from(&start, named, global.only_own, user_memory())?;
    let is_any = [Some(global.dir()), global.location.user.as_deref()].into_iter().flatten().any(has_memory);
    if !is_any {
        return Ok(Answer::default());
    }
    let mut session = Session::open(&payload.session_key());
    let answer = match event {
        Event::SessionStart | Event::SubagentStart => {
            if event == Event::SubagentStart || payload.forgets() {
                session.forget_shown();
            }
            session::remove_old();
            let request = Request::cold_start().limit(START_LESSONS).max_tokens(START_TOKENS);
            tell_at_start(global, request, &mut session)?
        }
        Event::Prompt => tell_of_prompt(global, payload, &mut session)?,
        Event::BeforeTool => before_tool(global, payload, &mut session)?,
        Event::AfterTool => {
            note(payload, &mut session);
            // If the agent takes no text before a tool runs, it gets it after: before the second try.
            let is_late = !payload.agent().hears_before_tools();
            if is_late { before_tool(global, payload, &mut session)? } else { Answer::default() }
        }
        Event::SessionEnd => end(global, payload, &mut session)?,
    };
    session.keep();
    Ok(answer)
}

/// The lessons for what the user typed; none for an empty prompt.
fn tell_of_prompt(global: &mut Global, payload: &Payload, session: &mut Session) -> Result<Answer, Box<dyn Error>> {
    if payload.prompt().trim().is_empty() {
        return Ok(Answer::default());
    }
    let request = Request::about(payload.prompt()).max_tokens(START_TOKENS);
    let books = global.books(Access::Write)?;
    let is_slow = embeds_in_background(&books, session)?;
    let request = if is_slow { request.tier(TierChoice::Lexical) } else { request };
    let is_asked_again = payload.agent().hears_before_tools();
    let request = if is_asked_again { request.without_recoveries() } else { request };
    tell_of(global, &books, request, session)
}

/// The relevant lessons that the session has not seen yet.
fn tell(global: &Global, request: Request, session: &mut Session) -> Result<Answer, Box<dyn Error>> {
    tell_of(global, &global.books(Access::Write)?, request, session)
}

/// The newest lessons. They are shown for no task, so what becomes of one says nothing about them.
fn tell_at_start(global: &Global, request: Request, session: &mut Session) -> Result<Answer, Box<dyn Error>> {
    let books = global.books(Access::Write)?;
    let context = context(global, &books, request, session)?;
    session.show(context.lessons.iter().map(|lesson| lesson.id), None);
    Ok(Answer::of(context, &books))
}

fn tell_of(global: &Global, books: &Books, request: Request, session: &mut Session) -> Result<Answer, Box<dyn Error>> {
    let context = context(global, books, request, session)?;
    session.show(context.lessons.iter().map(|lesson| lesson.id), context.receipt);
    Ok(Answer::of(context, books))
}

fn context(global: &Global, books: &Books, request: Request, session: &Session) -> Result<Context, Box<dyn Error>> {
    Ok(books.all.get_playbook_context(request.in_realm(&global.realm()).except(session.shown()))?)
}

/// True if more texts lack a vector than a prompt waits for. Then a separate process embeds them, once per session.
fn embeds_in_background(books: &Books, session: &mut Session) -> Result<bool, Box<dyn Error>> {
    let mut is_much = false;
    for playbook in books.all.as_slice() {
        if playbook.texts_without_vector()? > MAX_EMBEDDED {
            is_much = true;
            if session.begins_warm_up() {
                in_background(playbook.folder(), &["doctor", "--embed"]);
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
fn before_tool(global: &Global, payload: &Payload, session: &mut Session) -> Result<Answer, Box<dyn Error>> {
    let call = payload.call();
    if call.is_empty() {
        return Ok(Answer::default());
    }
    let mut request = Request::about(call.words()).tier(TierChoice::Lexical);
    request = call.changed().fold(request, Request::touching);
    request = call.commands.iter().fold(request, |request, line| request.running(line.as_str()));
    let mut answer = tell(global, request.limit(TOOL_LESSONS).max_tokens(TOOL_TOKENS), session)?;
    if session.has_failed(call.hash()) && payload.agent().hears_before_tools() {
        let again = "This same call failed earlier in this session.";
        answer.context =
            if answer.context.is_empty() { again.to_owned() } else { format!("{again}\n{}", answer.context) };
    }
    Ok(answer)
}

/// Records whether a call failed, and whether a check passed.
fn note(payload: &Payload, session: &mut Session) {
    let (call, result) = (payload.call(), payload.result());
    let has_failed = result == CallResult::Failed;
    if result != CallResult::Unknown {
        session.note(call.hash(), has_failed);
    }
    if !call.commands.iter().any(|command| check::is_check(command)) {
        return;
    }
    if result == CallResult::Unknown || payload.is_unfinished() {
        session.doubt_check();
    } else {
        session.record_check(!has_failed);
    }
}

/// Records the session's outcome, if a check gives one, and has its transcript mined in the background.
fn end(global: &Global, payload: &Payload, session: &mut Session) -> Result<Answer, Box<dyn Error>> {
    let books = global.books(Access::Write)?;
    if let Some((has_passed, receipts)) = session.take_outcome() {
        let outcome = if has_passed { Feedback::Helpful } else { Feedback::Harmful };
        for receipt in receipts {
            // An expired or unknown receipt is ignored.
            let _ = books.all.record_outcome(receipt, outcome);
        }
    }
    let dir = global.dir();
    let ours = books.all.as_slice().first().filter(|lead| lead.folder() == dir && lead.exists() && !global.no_learn);
    if let Some((playbook, transcript)) = ours.zip(payload.transcript()) {
        Sessions::of(playbook).queue(&transcript)?;
        in_background(dir, &["mine", "--queued"]);
    }
    Ok(Answer { message: silent(&books), ..Answer::default() })
}

/// Starts a background process that runs a command on a folder. If it cannot be started, the next one does the work.
fn in_background(dir: &Path, args: &[&str]) {
    let Ok(program) = own_program::path() else { return };
    let mut command = Command::new(program);
    command.arg("--dir").arg(dir).args(args);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // It runs in its repository, so that lessons need not name the project.
    if let Some(folder) = dir.parent() {
        command.current_dir(folder);
    }
    // Interrupts from the terminal must not reach it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    // The process is not waited for.
    drop(command.spawn());
}

/// The identity of a call: a hash of its tool and its arguments.
fn hash_of(tool: &str, input: &Value) -> TextHash {
    TextHash::of(&[tool, &input.to_string()])
}
