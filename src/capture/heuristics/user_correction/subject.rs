//! What a statement is about, and so when it should come back: the files and programs that the words name, else what is acted
//! on next.

use adage_redact::one_line;

use super::super::session::{Act, Session};

const MAX_NAMED: usize = 3;

/// When a lesson should come back.
#[derive(Debug, Default, PartialEq)]
pub(in crate::capture::heuristics) struct Subject {
    pub(in crate::capture::heuristics) trigger: String,
    /// One word for it; empty where nothing is named.
    pub(in crate::capture::heuristics) topic: String,
    pub(in crate::capture::heuristics) paths: Vec<String>,
    pub(in crate::capture::heuristics) commands: Vec<String>,
    /// What was being done: "changing src/a.rs"; `None` where neither the words nor the acts around them name it.
    pub(in crate::capture::heuristics) doing: Option<String>,
}

impl Subject {
    /// `is_clean`: nothing foreign was read before, so that names of files and programs that the agent chose may be used.
    pub(in crate::capture::heuristics) fn of(session: &Session<'_>, turn: usize, quote: &str, is_clean: bool) -> Self {
        let files: Vec<String> = files_in(quote).take(MAX_NAMED).collect();
        let programs = programs_in(session, turn, quote);
        let intent = session.asked(turn);
        let mut subject = Self {
            paths: files.iter().map(|file| glob(file)).collect(),
            commands: programs.iter().map(|program| format!("{program} *")).collect(),
            topic: programs.first().cloned().or_else(|| files.first().map(|file| base(file))).unwrap_or_default(),
            trigger: String::new(),
            doing: None,
        };
        let mut doing = Vec::new();
        if !files.is_empty() {
            doing.push(format!("changing {}", files.join(", ")));
        }
        if !programs.is_empty() {
            doing.push(format!("running {}", programs.join(", ")));
        }
        if doing.is_empty() && is_clean {
            doing.extend(subject.acted_on(session, turn));
        }
        subject.doing = Some(doing.join("; ")).filter(|doing| !doing.is_empty());
        if !intent.is_empty() {
            doing.push(intent);
        }
        if doing.is_empty() {
            doing.push(one_line(quote, 160));
        }
        subject.trigger = doing.join("; ");
        subject
    }

    /// Takes what was acted on next, else just before, for the subject. What was being done.
    fn acted_on(&mut self, session: &Session<'_>, turn: usize) -> Option<String> {
        let after = session.acts(turn, session.user_turn_after(turn));
        let before = || session.acts(session.user_turn_before(turn).unwrap_or(0), turn);
        let is_edit = |act: &&Act<'_, '_>| act.place().is_some();
        let found = after.iter().find(is_edit).copied().or_else(|| before().iter().rev().find(is_edit).copied());
        if let Some(act) = found {
            let place = act.place()?;
            self.paths.push(glob(&place));
            self.topic = act.file().unwrap_or_default();
            return Some(format!("changing {place}"));
        }
        let act = after.first().copied().or_else(|| before().last().copied())?;
        let line = &act.command?.line;
        self.topic = line.topic();
        let form = line.normal_form();
        self.commands.push(format!("{form}*"));
        Some(format!("running `{form}`"))
    }
}

/// A pattern that matches a file wherever the project is.
fn glob(file: &str) -> String {
    format!("**/{}", file.trim_start_matches(['/', '.', '@', '~']))
}

fn base(file: &str) -> String {
    file.rsplit('/').next().unwrap_or(file).to_owned()
}

/// True where a text names a file or a path.
pub(super) fn names_file(text: &str) -> bool {
    files_in(text).next().is_some()
}

/// Names of files and paths in a text.
fn files_in(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| c.is_whitespace() || "\"'`(),;?!<>[]".contains(c));
    let words = words.map(|word| word.trim_end_matches(['.', ':']).trim_start_matches(['@', '.']).trim_matches('/'));
    words.filter(|word| is_file(word)).map(str::to_owned)
}

/// `a.rs`, `src/a.rs`, `src/generated`; not "e.g", "1.5", "and/or", an address.
fn is_file(word: &str) -> bool {
    let is_plain = word.chars().all(|c| c.is_alphanumeric() || "._-/*".contains(c));
    let name = word.rsplit('/').next().unwrap_or(word);
    let has_suffix = name.rsplit_once('.').is_some_and(|(stem, suffix)| {
        let is_suffix = (2..=5).contains(&suffix.len()) || matches!(suffix, "c" | "h" | "r" | "d" | "m" | "s" | "v");
        let is_alone = !word.contains('/') && matches!(suffix, "com" | "org" | "net" | "io");
        !stem.is_empty() && is_suffix && suffix.starts_with(char::is_alphabetic) && !is_alone
    });
    let is_folder = word.split('/').filter(|part| part.len() > 2).count() >= 2;
    is_plain && word != "and/or" && (has_suffix || is_folder)
}

/// The programs that the words name: those that the session runs near the turn, and those that everybody knows.
fn programs_in(session: &Session<'_>, turn: usize, text: &str) -> Vec<String> {
    const KNOWN: [&str; 30] = [
        "npm",
        "pnpm",
        "yarn",
        "bun",
        "npx",
        "cargo",
        "pip",
        "uv",
        "poetry",
        "pytest",
        "git",
        "docker",
        "make",
        "just",
        "kubectl",
        "terraform",
        "gradle",
        "mvn",
        "rustfmt",
        "clippy",
        "eslint",
        "prettier",
        "ruff",
        "black",
        "mypy",
        "psql",
        "gh",
        "go test",
        "go build",
        "deno",
    ];
    /// Programs whose names are words.
    const WORDS: [&str; 3] = ["make", "just", "black"];
    const NEAR: usize = 200;
    let near = turn.saturating_sub(NEAR)..turn + NEAR;
    let mut run: Vec<String> = Vec::new();
    let from = session.calls.partition_point(|call| call.turn < near.start);
    for call in session.calls.iter().skip(from).take_while(|call| near.contains(&call.turn)) {
        run.extend(call.line.programs().map(str::to_owned));
    }
    let lower = format!(" {} ", text.to_lowercase());
    let names = KNOWN.iter().map(|name| (*name).to_owned()).chain(run);
    let mut found: Vec<String> = Vec::new();
    for name in names.filter(|name| name.len() > 1) {
        let quoted = format!("`{name}");
        let is_word = WORDS.contains(&name.as_str());
        let is_named = lower.contains(&quoted)
            || !is_word && [" ", ",", ".", ";", "`", "'"].iter().any(|end| lower.contains(&format!(" {name}{end}")));
        if is_named && !found.contains(&name) && is_program(&name) {
            found.push(name);
        }
    }
    found.truncate(MAX_NAMED);
    found
}

/// Names that are also words of the language say nothing.
fn is_program(name: &str) -> bool {
    const ENGLISH: [&str; 16] = [
        "test", "find", "cat", "head", "tail", "echo", "cd", "sort", "time", "for", "if", "while", "read", "set",
        "which", "true",
    ];
    !ENGLISH.contains(&name) && name.chars().all(|c| c.is_alphanumeric() || " -_".contains(c))
}
