//! The actions of a session in a line without sensitive content: names of tools, programs and files.

use adage_redact::Redactor;
use adage_transcript::command::name_words;
use adage_transcript::{CommandLine, Status, ToolCall, Transcript, Turn};
use serde_json::Value;

/// Characters of a hint.
pub(super) const MAX_CHARS: usize = 160;
/// Distinct tools that are named.
const MAX_STEPS: usize = 6;
/// Distinct paths that are named.
const MAX_PATHS: usize = 4;
/// The maximum characters of a name.
const MAX_NAME_CHARS: usize = 40;
/// The maximum characters of a path; a longer one is a text.
const MAX_PATH_CHARS: usize = 240;
/// The maximum depth of an input that is searched for paths.
const MAX_DEPTH: usize = 6;
/// A path that is longer than this keeps its last three segments.
const LONG_PATH_CHARS: usize = 60;

/// Words in the name of a field that holds a path.
const PATH_WORDS: [&str; 6] = ["path", "file", "dir", "directory", "cwd", "root"];

/// Words in a tool's name or a command's normal form that say that something is checked.
const CHECKING: [&str; 22] = [
    "test",
    "tests",
    "lint",
    "build",
    "check",
    "typecheck",
    "clippy",
    "nextest",
    "vet",
    "pytest",
    "tox",
    "mypy",
    "pyright",
    "ruff",
    "eslint",
    "tsc",
    "jest",
    "vitest",
    "mocha",
    "rspec",
    "phpunit",
    "ctest",
];

/// `tools in order -> … | paths a, b | validated`; empty when no tool was called. What does not fit goes from the end of the
/// paths, then of the tools: how it ended is never cut off.
pub(super) fn hint(transcript: &Transcript) -> String {
    let (mut steps, mut paths, mut verdict) = (Vec::new(), Vec::new(), "");
    for turn in &transcript.turns {
        let Turn::ToolCall(call) = turn else { continue };
        let command = call.command();
        let line = command.as_deref().map(CommandLine::parse);
        push(&mut steps, step(call, line.as_ref()), MAX_STEPS);
        if line.is_none() && paths.len() < MAX_PATHS {
            collect_paths(&call.input, &transcript.project, MAX_DEPTH, &mut paths);
        }
        if checks(call, line.as_ref()) {
            verdict = match call.status {
                Status::Succeeded => "validated",
                Status::Failed => "validation failed",
                Status::Unknown => "",
            };
        }
    }
    loop {
        let hint = render(&steps, &paths, verdict);
        if hint.chars().count() <= MAX_CHARS || (paths.pop().is_none() && steps.pop().is_none()) {
            return hint;
        }
    }
}

fn render(steps: &[String], paths: &[String], verdict: &str) -> String {
    let mut parts = vec![steps.join(" -> ")];
    if !paths.is_empty() {
        parts.push(format!("paths {}", paths.join(", ")));
    }
    parts.push(verdict.to_owned());
    parts.retain(|part| !part.is_empty());
    parts.join(" | ")
}

fn push(list: &mut Vec<String>, item: String, max: usize) {
    if list.len() < max && !list.contains(&item) {
        list.push(item);
    }
}

/// A tool by its name; a terminal with the program that ran in it.
fn step(call: &ToolCall, line: Option<&CommandLine>) -> String {
    let tool = name(&call.tool).unwrap_or("tool");
    match line {
        Some(line) => format!("{tool}: {}", program(line)),
        None => tool.to_owned(),
    }
}

/// The program of a command line; `shell` if the word in its position is not the name of a program.
fn program(line: &CommandLine) -> &str {
    let text = line.text();
    // Of an address or an unclosed quotation, the shell's rules make a word that could be anything.
    let is_broken = text.starts_with(['"', '\'']) && shlex::split(text).is_none();
    line.program().and_then(name).filter(|name| !is_broken && !ends_a_url(text, name)).unwrap_or("shell")
}

fn ends_a_url(text: &str, name: &str) -> bool {
    let is_quote = |c: char| matches!(c, '"' | '\'' | '`' | '/' | ';' | ')');
    text.split_whitespace().any(|word| word.contains("://") && word.trim_end_matches(is_quote).ends_with(name))
        && !text.split_whitespace().any(|word| word == name)
}

/// A name that can be shown: short, of the characters of names, and not a secret.
fn name(text: &str) -> Option<&str> {
    let is_name = text.chars().all(|c| c.is_ascii_alphanumeric() || "_.@+-".contains(c));
    let is_short = (1..=MAX_NAME_CHARS).contains(&text.len());
    Some(text).filter(|text| is_name && is_short && !is_secret(text))
}

fn is_secret(text: &str) -> bool {
    !Redactor::shared().find(text).is_empty()
}

/// True for a call whose end says whether the work holds.
fn checks(call: &ToolCall, line: Option<&CommandLine>) -> bool {
    let text = line.map_or_else(|| call.tool.clone(), CommandLine::normal_form);
    name_words(&text).iter().any(|word| CHECKING.contains(&word.as_str()))
}

/// The paths among the arguments, by the names of the fields.
fn collect_paths(input: &Value, project: &str, depth: usize, paths: &mut Vec<String>) {
    match input {
        _ if depth == 0 => {}
        Value::Object(row) => {
            for (key, value) in row {
                let names_a_path = name_words(key).iter().any(|word| PATH_WORDS.contains(&word.trim_end_matches('s')));
                let text = value.as_str().filter(|_| names_a_path);
                if let Some(path) = text.and_then(|text| shown_path(text, project)) {
                    push(paths, path, MAX_PATHS);
                }
                collect_paths(value, project, depth - 1, paths);
            }
        }
        Value::Array(list) => list.iter().for_each(|item| collect_paths(item, project, depth - 1, paths)),
        _ => {}
    }
}

/// A path for display: relative to the project's folder if it is inside, otherwise only the file name.
fn shown_path(text: &str, project: &str) -> Option<String> {
    let text = text.trim();
    let is_path = text.chars().all(|c| c.is_alphanumeric() || "/\\._-@+~:".contains(c))
        && text.contains(['/', '\\', '.'])
        && !text.contains("://")
        && text.chars().count() <= MAX_PATH_CHARS;
    if !is_path || is_secret(text) {
        return None;
    }
    let project = project.trim_end_matches(['/', '\\']);
    let inside = text.strip_prefix(project).filter(|rest| !project.is_empty() && rest.starts_with(['/', '\\']));
    let is_absolute = text.starts_with(['/', '\\', '~']) || text.contains(':');
    let climbs = text.split(['/', '\\']).any(|segment| segment == "..");
    let segments = |text: &str| -> Vec<String> {
        text.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").map(str::to_owned).collect()
    };
    let segments = segments(inside.unwrap_or(text));
    let keep = match inside {
        _ if climbs => 1,
        None if is_absolute => 1,
        _ if text.chars().count() > LONG_PATH_CHARS => 3,
        _ => segments.len(),
    };
    let shown = segments.get(segments.len().saturating_sub(keep)..).unwrap_or_default().join("/");
    (!shown.is_empty() && !is_secret(&shown)).then_some(shown)
}
