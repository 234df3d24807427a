//! Facts about programs: wrappers, preparation, filters, programs without effect, subcommands.

use super::simple_command::{Form, Input, SimpleCommand, Word};
use super::{Effect, normal, shell};

/// Programs that run the program named in their arguments, with those of their flags that take a value.
const WRAPPERS: [(&str, &[&str]); 14] = [
    ("sudo", &["-u", "-g", "-h", "-p", "-C", "-U", "-r", "-t", "--user", "--group"]),
    ("doas", &["-u", "-C"]),
    ("env", &["-u", "-C", "--unset", "--chdir"]),
    ("time", &["-f", "-o"]),
    ("nohup", &[]),
    ("nice", &["-n"]),
    ("ionice", &["-c", "-n"]),
    ("timeout", &["-s", "-k", "--signal", "--kill-after"]),
    ("command", &[]),
    ("builtin", &[]),
    ("exec", &["-a"]),
    ("stdbuf", &["-i", "-o", "-e"]),
    ("setsid", &[]),
    ("xargs", &["-n", "-I", "-P", "-d", "-L", "-s", "-a", "-E"]),
];

/// Shells run the text after `-c`.
const SHELLS: [&str; 6] = ["bash", "sh", "zsh", "dash", "ksh", "fish"];

/// Commands that prepare others or only print.
const PREPARATION: [&str; 32] = [
    "cd", "pushd", "popd", "export", "set", "unset", "source", ".", "echo", "printf", "sleep", "true", "false", ":",
    "wait", "test", "[", "exit", "ulimit", "umask", "alias", "trap", "read", "local", "pwd", "clear", "yes", "return",
    "shift", "declare", "shopt", "nvm",
];

/// Of these, what the next commands run in.
const SCENE: [&str; 12] =
    ["cd", "pushd", "popd", "export", "source", ".", "unset", "ulimit", "umask", "alias", "set", "nvm"];

/// Commands that filter or shorten the output of another one.
const FILTERS: [&str; 24] = [
    "head", "tail", "grep", "egrep", "fgrep", "rg", "wc", "sort", "uniq", "cut", "tr", "awk", "sed", "tee", "less",
    "more", "cat", "jq", "column", "fold", "nl", "rev", "tac", "xxd",
];

/// Programs that change nothing, unless their output goes into a file.
const LOOKING: [&str; 48] = [
    "ls", "ll", "cat", "head", "tail", "grep", "egrep", "fgrep", "rg", "ag", "ack", "find", "fd", "wc", "sort", "uniq",
    "cut", "awk", "less", "more", "jq", "yq", "tree", "file", "stat", "du", "df", "which", "where", "whereis", "type",
    "whoami", "pwd", "ps", "top", "lsof", "pgrep", "date", "uname", "hostname", "id", "env", "printenv", "diff", "cmp",
    "strings", "hexdump", "xxd",
];

/// Subcommands that change nothing.
const LOOKING_SUBCOMMANDS: [(&str, &[&str]); 12] = [
    (
        "git",
        &[
            "status",
            "log",
            "diff",
            "show",
            "blame",
            "ls-files",
            "rev-parse",
            "describe",
            "grep",
            "reflog",
            "ls-tree",
            "rev-list",
            "ls-remote",
            "cat-file",
            "merge-base",
            "shortlog",
            "check-ignore",
        ],
    ),
    ("docker", &["ps", "logs", "images", "inspect", "version", "info", "stats"]),
    ("kubectl", &["get", "describe", "logs", "explain", "top", "version"]),
    ("npm", &["ls", "list", "view", "outdated", "root", "bin"]),
    ("pip", &["list", "show", "freeze"]),
    ("cargo", &["tree", "metadata", "search", "info"]),
    ("go", &["doc", "list", "env", "version"]),
    ("brew", &["list", "info", "search"]),
    ("apt", &["list", "show", "search"]),
    ("systemctl", &["status", "list-units", "is-active"]),
    ("gh", &["view", "list", "status", "diff", "checks"]),
    ("helm", &["list", "status", "get"]),
];

/// Subcommands that change nothing, in any program.
const LOOKING_WORDS: [&str; 10] =
    ["show", "list", "ls", "status", "view", "info", "logs", "describe", "version", "ready"];

/// Words of commands that check something and repair nothing.
const CHECKS: [&str; 29] = [
    "test",
    "tests",
    "lint",
    "vet",
    "check",
    "clippy",
    "build",
    "compile",
    "tsc",
    "eslint",
    "pytest",
    "mypy",
    "golangci-lint",
    "staticcheck",
    "credo",
    "dialyzer",
    "flake8",
    "pylint",
    "jest",
    "vitest",
    "rspec",
    "rubocop",
    "shellcheck",
    "typecheck",
    "type-check",
    "ctest",
    "nextest",
    "verify",
    "validate",
];

/// Words of commands that format code.
const FORMATTERS: [&str; 12] = [
    "gofmt",
    "goimports",
    "fmt",
    "format",
    "prettier",
    "black",
    "isort",
    "rustfmt",
    "gofumpt",
    "clang-format",
    "ruff",
    "autopep8",
];

/// Programs that act on one object: their use is not a step to repeat.
const ERRANDS: [&str; 30] = [
    "mv", "cp", "rm", "mkdir", "rmdir", "touch", "chmod", "chown", "ln", "sed", "awk", "perl", "curl", "wget", "kill",
    "pkill", "killall", "open", "sqlite3", "psql", "mysql", "tar", "zip", "unzip", "dd", "truncate", "jq", "od",
    "xargs", "patch",
];

/// The purpose of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It checks: it passes or fails.
    Checks,
    /// It formats code.
    Formats,
    /// It acts on this one object only.
    Errand,
    /// None of these.
    Other,
}

pub(super) fn purpose(part: &SimpleCommand) -> Purpose {
    let form = normal::form(part);
    let is_one_of = |list: &[&str]| form.split([' ', ':']).any(|word| list.contains(&word));
    let runs_text = part.arguments.iter().any(|word| matches!(word.text.as_str(), "-c" | "-e" | "-"));
    if ERRANDS.contains(&part.program()) || (normal::interprets(part.program()) && runs_text) {
        Purpose::Errand
    } else if is_one_of(&FORMATTERS) {
        Purpose::Formats
    } else if is_one_of(&CHECKS) {
        Purpose::Checks
    } else {
        Purpose::Other
    }
}

/// True for version control and its hosts.
pub(super) fn is_version_control(program: &str) -> bool {
    matches!(program, "git" | "gh" | "hg" | "svn" | "glab")
}

pub(super) fn sets_the_scene(program: &str) -> bool {
    SCENE.contains(&program) || is_assignment(program)
}

pub(super) fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The commands that a part runs: the wrapper's program, the shell's script.
pub(super) fn unwrap(part: SimpleCommand) -> Vec<SimpleCommand> {
    // `sudo env bash -c "…"` is the deepest nesting in practice.
    const MAX_DEPTH: usize = 4;
    let mut done = Vec::new();
    let mut open = vec![(part, MAX_DEPTH)];
    while let Some((part, depth)) = open.pop() {
        let inner = if depth == 0 { None } else { inner(&part) };
        match inner {
            Some(parts) if !parts.is_empty() => open.extend(parts.into_iter().rev().map(|part| (part, depth - 1))),
            _ => done.push(part),
        }
    }
    done
}

/// The commands that a wrapper or a shell runs; none for any other program.
fn inner(part: &SimpleCommand) -> Option<Vec<SimpleCommand>> {
    if SHELLS.contains(&part.program()) {
        let flags = part.arguments.iter().take_while(|word| word.text.starts_with('-')).count();
        let runs_text =
            part.arguments.iter().take(flags).any(|word| !word.text.starts_with("--") && word.text.contains('c'));
        return part.arguments.get(flags).filter(|_| runs_text).map(|script| shell::split(&script.text));
    }
    let (_, value_flags) = WRAPPERS.iter().find(|(name, _)| *name == part.program())?;
    let mut words = part.arguments.as_slice();
    let mut n_skipped_operands = usize::from(part.program() == "timeout");
    while let [word, rest @ ..] = words {
        if value_flags.contains(&word.text.as_str()) {
            words = rest.get(1..).unwrap_or_default();
        } else if word.text.starts_with('-') || is_assignment(&word.text) {
            words = rest;
        } else if n_skipped_operands > 0 {
            n_skipped_operands -= 1;
            words = rest;
        } else {
            break;
        }
    }
    // `xargs` reads the pipe itself; the input of its program is different.
    let input = if part.program() == "xargs" { Input::Own } else { part.input };
    let n_own = part.arguments.len() - words.len();
    let mut inner = SimpleCommand::new(words.to_vec(), input)?;
    inner.outputs.clone_from(&part.outputs);
    if part.program() != "xargs" {
        inner.context = part.context.clone();
    }
    let wrapper = Word { text: part.original().to_owned(), raw: part.original().to_owned(), form: Form::Plain };
    let own = part.arguments.iter().take(n_own).cloned();
    inner.lead = part.lead.iter().cloned().chain([wrapper]).chain(own).collect();
    Some(vec![inner])
}

/// True if the part may be the main command: neither preparation nor a filter after a pipe.
pub(super) fn is_main(part: &SimpleCommand) -> bool {
    let is_filter = part.input == Input::Pipe && FILTERS.contains(&part.program());
    !is_filter && !PREPARATION.contains(&part.program()) && !is_assignment(part.program())
}

pub(super) fn effect(part: &SimpleCommand) -> Effect {
    if part.outputs.is_empty() { own_effect(part) } else { Effect::Acts }
}

/// The effect of the program, regardless of redirected output.
pub(super) fn own_effect(part: &SimpleCommand) -> Effect {
    let program = part.program();
    let has_flag = |flag: &str| part.arguments.iter().any(|word| word.text == flag);
    if program == "find" && (has_flag("-delete") || has_flag("-exec")) {
        return Effect::Acts;
    }
    let asks_for_help = has_flag("--help")
        || (["--version", "-h", "help"].iter().any(|flag| has_flag(flag)) && part.arguments.len() <= 3);
    let looks = asks_for_help
        || LOOKING.contains(&program)
        || PREPARATION.contains(&program)
        || (program == "sed" && !part.arguments.iter().any(|word| word.text.starts_with("-i")))
        || normal::form(part).split(' ').skip(1).any(|word| LOOKING_WORDS.contains(&word))
        || lists_its_objects(part)
        // `git remote -v`, `git branch -a`: with only flags, they list.
        || (program == "git" && lists_without_operand(part))
        || LOOKING_SUBCOMMANDS.iter().any(|(name, subcommands)| {
            *name == family(program)
                && part
                    .arguments
                    .iter()
                    .filter(|word| is_plain(word))
                    .take(2)
                    .any(|word| subcommands.contains(&word.text.as_str()))
        });
    if looks { Effect::Looks } else { Effect::Acts }
}

/// True for the last of two subcommands: `stripe webhook_endpoints list`, `aws s3 ls`. What follows are flags.
fn lists_its_objects(part: &SimpleCommand) -> bool {
    let words: Vec<&Word> = part.arguments.iter().take_while(|word| is_plain(word)).collect();
    // The operands of these are files.
    let [object, last] = words.as_slice() else { return false };
    if matches!(part.program(), "git" | "hg" | "jj" | "npm" | "make" | "just") {
        return false;
    }
    normal::form(part).split(' ').nth(1) == Some(object.text.as_str())
        && ["list", "ls", "show", "describe"].contains(&last.text.as_str())
}

fn lists_without_operand(part: &SimpleCommand) -> bool {
    let mut words = part.arguments.iter().filter(|word| is_plain(word));
    words.next().is_some_and(|word| matches!(word.text.as_str(), "remote" | "branch" | "tag")) && words.next().is_none()
}

/// The common name of programs that exist under several names.
pub(super) fn family(program: &str) -> &str {
    let bare = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    match bare {
        "python" | "pip" | "node" | "ruby" | "gcc" | "clang" | "php" => bare,
        "apt-get" | "apt-cache" | "aptitude" => "apt",
        "docker-compose" => "docker",
        "gradlew" => "gradle",
        "mvnw" => "mvn",
        _ => program,
    }
}

/// True for an operand that the shell passes unchanged.
pub(super) fn is_plain(word: &Word) -> bool {
    word.form == Form::Plain && !word.text.starts_with('-')
}
