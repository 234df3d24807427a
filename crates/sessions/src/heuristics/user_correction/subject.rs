//! The subject of a statement, and with it the situation in which its lesson is shown: the files and programs that the words name,
//! otherwise what the session works on next.

use adage_redact::one_line;

use super::topics;
use crate::heuristics::session::{Act, Session};
use crate::heuristics::statement::cues_of;

const MAX_NAMED: usize = 3;

/// The situation in which a lesson should be shown.
#[derive(Debug, Default, PartialEq)]
pub(in crate::heuristics) struct Subject {
    pub(in crate::heuristics) trigger: String,
    /// One word for it; empty if nothing is named.
    pub(in crate::heuristics) topic: String,
    pub(in crate::heuristics) paths: Vec<String>,
    pub(in crate::heuristics) commands: Vec<String>,
    /// What was being done: "changing src/a.rs"; `None` if neither the words nor the acts around them name it.
    pub(in crate::heuristics) doing: Option<String>,
}

impl Subject {
    pub(in crate::heuristics) fn of(session: &Session<'_>, turn: usize, quote: &str) -> Self {
        let mut subject = Self::named(quote, &programs_in(quote, &programs_near(session, turn)));
        let is_general = !subject.commands.is_empty() || is_about_all(quote);
        if subject.doing.is_none() && !is_general {
            subject.doing = subject.acted_on(session, turn);
        }
        subject.trigger = subject.with_topics(quote);
        subject
    }

    /// The subject that the words alone name.
    pub(in crate::heuristics) fn of_words(text: &str) -> Self {
        let mut subject = Self::named(text, &programs_in(text, &[]));
        subject.trigger = subject.with_topics(text);
        subject
    }

    fn named(text: &str, programs: &[String]) -> Self {
        let files: Vec<String> = files_in(text).take(MAX_NAMED).collect();
        let mut doing = Vec::new();
        if !files.is_empty() {
            doing.push(format!("changing {}", files.join(", ")));
        }
        if !programs.is_empty() {
            doing.push(format!("running {}", programs.join(", ")));
        }
        let practices = topics::commands_of_practices(text).filter(|command| {
            // "git *" is wider than "git commit*".
            !programs.iter().any(|program| command.starts_with(program.as_str()))
        });
        Self {
            paths: files.iter().map(|file| glob(file)).collect(),
            commands: programs
                .iter()
                .map(|program| format!("{program} *"))
                .chain(practices.map(str::to_owned))
                .collect(),
            topic: programs.first().cloned().or_else(|| files.first().map(|file| base(file))).unwrap_or_default(),
            trigger: String::new(),
            doing: Some(doing.join("; ")).filter(|doing| !doing.is_empty()),
        }
    }

    /// The trigger: what is being done and the topics of the words; the words themselves if neither is known.
    fn with_topics(&self, text: &str) -> String {
        let practice = || topics::practice(text).map(|practice| format!("before a {practice}"));
        let doing = self.doing.clone().or_else(practice);
        let topics = topics::of(text, doing.as_deref().unwrap_or_default());
        match (doing, topics.is_empty()) {
            (None, true) => one_line(text, 160),
            (Some(doing), true) => doing,
            (Some(doing), false) => format!("{doing}; {topics}"),
            // A bare list of words is not a situation.
            (None, false) => format!("{WORK_ON}{}", with_and(&topics)),
        }
    }

    /// A short name: the topic, else the first noun phrase of the words, else "rule".
    pub(in crate::heuristics) fn name(&self, words: &str) -> String {
        let phrases = topics::of(words, "commit push merge rebase");
        let phrase =
            phrases.split(", ").next().filter(|phrase| !phrase.is_empty() && phrase.is_ascii()).unwrap_or("rule");
        if self.topic.is_empty() { phrase.to_owned() } else { self.topic.clone() }
    }

    /// Adds what was acted on next, otherwise just before. Returns what was being done.
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

/// The opening of a trigger that names only what the words are about.
const WORK_ON: &str = "work on ";

/// A list with "and" before its last name.
fn with_and(list: &str) -> String {
    list.rsplit_once(", ").map_or_else(|| list.to_owned(), |(names, last)| format!("{names} and {last}"))
}

/// A pattern that matches a file in any folder.
fn glob(file: &str) -> String {
    format!("**/{}", file.trim_start_matches(['/', '.', '@', '~']))
}

fn base(file: &str) -> String {
    file.rsplit('/').next().unwrap_or(file).to_owned()
}

/// True if a text names a file or a path.
pub(super) fn names_file(text: &str) -> bool {
    files_in(text).next().is_some()
}

/// Names of files and paths in a text.
fn files_in(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| c.is_whitespace() || "\"'`(),;?!<>[]".contains(c));
    // `@scope/package` is not a folder; `@src/a.rs` is a file.
    let words =
        words.filter(|word| !word.starts_with('@') || word.rsplit('/').next().is_some_and(|name| name.contains('.')));
    let words = words.map(|word| word.trim_end_matches(['.', ':']).trim_start_matches(['@', '.']).trim_matches('/'));
    words.filter(|word| is_file(word)).map(str::to_owned)
}

/// Folders that projects have at their root.
const ROOTS: [&str; 26] = [
    "src", "lib", "libs", "test", "tests", "docs", "doc", "app", "apps", "web", "api", "cmd", "pkg", "internal",
    "packages", "crates", "scripts", "tools", "config", "public", "assets", "server", "client", "backend", "frontend",
    "examples",
];

/// `a.rs`, `src/a.rs`, `src/generated`; not "e.g", "1.5", "and/or", an address.
fn is_file(word: &str) -> bool {
    let is_plain = word.chars().all(|c| c.is_alphanumeric() || "._-/*".contains(c));
    let name = word.rsplit('/').next().unwrap_or(word);
    let has_suffix = name.rsplit_once('.').is_some_and(|(stem, suffix)| {
        let is_suffix = (2..=5).contains(&suffix.len()) || matches!(suffix, "c" | "h" | "r" | "d" | "m" | "s" | "v");
        let is_alone = !word.contains('/') && matches!(suffix, "com" | "org" | "net" | "io");
        !stem.is_empty() && is_suffix && suffix.starts_with(char::is_alphabetic) && !is_alone
    });
    // "tabs/spaces" is not a path, "src/generated" is.
    let is_rooted = word.split('/').next().is_some_and(|root| ROOTS.contains(&root)) || word.matches('/').count() > 1;
    let is_folder = is_rooted && word.split('/').filter(|part| part.len() > 2).count() >= 2;
    is_plain && word != "and/or" && (has_suffix || is_folder)
}

/// Widely known programs, whether or not the session runs them.
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

/// The programs that the words name, among those that the session runs near the turn and widely known ones.
fn programs_in(text: &str, near: &[String]) -> Vec<String> {
    /// Programs whose names are also words: they count only in backquotes.
    const WORDS: [&str; 3] = ["make", "just", "black"];
    let lower = format!(" {} ", text.to_lowercase());
    let names = KNOWN.iter().map(|name| (*name).to_owned()).chain(near.iter().cloned());
    let mut found: Vec<String> = Vec::new();
    for name in names.filter(|name| name.len() > 1) {
        let quoted = format!("`{name}");
        let is_word = WORDS.contains(&name.as_str());
        let is_run = || ["run", "running", "use"].iter().any(|verb| lower.contains(&format!(" {verb} {name} ")));
        let is_named = lower.contains(&quoted)
            || (name == "make" && is_run())
            || !is_word && [" ", ",", ".", ";", "`", "'"].iter().any(|end| lower.contains(&format!(" {name}{end}")));
        if is_named && !found.contains(&name) && is_program(&name) {
            found.push(name);
        }
    }
    found.truncate(MAX_NAMED);
    found
}

/// The programs that the session runs near a turn.
fn programs_near(session: &Session<'_>, turn: usize) -> Vec<String> {
    const NEAR: usize = 200;
    let near = turn.saturating_sub(NEAR)..turn + NEAR;
    let from = session.calls.partition_point(|call| call.turn < near.start);
    let calls = session.calls.iter().skip(from).take_while(|call| near.contains(&call.turn));
    calls.flat_map(|call| call.line.programs().map(str::to_owned)).collect()
}

/// True for words about all of the work, which are unrelated to what is acted on next.
fn is_about_all(text: &str) -> bool {
    let general = ["always_never", "from_now_on", "in_project", "generic", "standing_order"];
    cues_of(text).any(|cue| general.contains(&cue))
}

/// False for names that are also English words.
fn is_program(name: &str) -> bool {
    const ENGLISH: [&str; 16] = [
        "test", "find", "cat", "head", "tail", "echo", "cd", "sort", "time", "for", "if", "while", "read", "set",
        "which", "true",
    ];
    !ENGLISH.contains(&name) && name.chars().all(|c| c.is_alphanumeric() || " -_".contains(c))
}
