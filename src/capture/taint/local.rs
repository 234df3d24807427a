//! An allow list of commands that print only the project's own content. Other commands are untrusted.

use std::collections::BTreeSet;

use adage_transcript::CommandLine;

use super::git::{self, Branches};
use super::paths::{is_made_by_program, is_outside};
use super::reading::{lifts_ignore, reads_of_others, reads_own_input, takes_foreign_names};

/// Programs that print what they are given, or the project's own files.
const LOOKERS: [&str; 48] = [
    "ls", "cat", "head", "tail", "wc", "grep", "egrep", "fgrep", "rg", "ag", "fd", "find", "tree", "sed", "awk", "cut",
    "sort", "uniq", "tr", "diff", "cmp", "stat", "file", "du", "pwd", "cd", "echo", "printf", "true", "false", "test",
    "[", "which", "type", "date", "sleep", "basename", "dirname", "realpath", "jq", "yq", "tee", "nl", "column",
    "less", "comm", "paste", "seq",
];

/// Programs that change files or settings, and print little.
const CHANGERS: [&str; 23] = [
    "mkdir", "rm", "rmdir", "mv", "cp", "touch", "chmod", "ln", "export", "set", "unset", "kill", "pkill", "wait",
    "exit", "patch", "tar", "gzip", "gunzip", "zip", "unzip", "install", "truncate",
];

/// Programs that build, test and check, whatever their arguments.
const BUILDERS: [&str; 50] = [
    "make",
    "just",
    "cmake",
    "ninja",
    "ctest",
    "gcc",
    "clang",
    "g++",
    "cc",
    "rustc",
    "rustfmt",
    "tsc",
    "eslint",
    "prettier",
    "biome",
    "vitest",
    "jest",
    "mocha",
    "pytest",
    "ruff",
    "black",
    "mypy",
    "flake8",
    "pylint",
    "isort",
    "tox",
    "javac",
    "mvn",
    "gradle",
    "gradlew",
    "sbt",
    "swiftc",
    "swiftlint",
    "xcodebuild",
    "gofmt",
    "golangci-lint",
    "staticcheck",
    "rspec",
    "rubocop",
    "phpunit",
    "shellcheck",
    "shfmt",
    "zig",
    "ghc",
    "dune",
    "webpack",
    "vite",
    "stylelint",
    "pyright",
    "nextest",
];

/// Programs with subcommands that build, test or look, and others that fetch.
const SUBCOMMANDS: [(&str, &[&str]); 12] = [
    (
        "git",
        &[
            "status",
            "diff",
            "add",
            "commit",
            "checkout",
            "switch",
            "restore",
            "branch",
            "stash",
            "rev-parse",
            "init",
            "mv",
            "rm",
            "reset",
            "ls-files",
            "config",
            "tag",
            "push",
            "worktree",
            "clean",
            "check-ignore",
            "symbolic-ref",
        ],
    ),
    (
        "cargo",
        &["build", "check", "test", "clippy", "fmt", "run", "bench", "doc", "nextest", "clean", "tree", "metadata"],
    ),
    ("go", &["build", "test", "vet", "fmt", "run", "generate", "version", "env", "tool", "list"]),
    ("npm", &["run", "test", "t", "start", "run-script"]),
    ("pnpm", &["run", "test", "t", "start", "build", "lint", "typecheck"]),
    ("yarn", &["run", "test", "start", "build", "lint", "typecheck"]),
    ("bun", &["run", "test", "build"]),
    ("deno", &["test", "lint", "fmt", "check"]),
    ("swift", &["build", "test", "package"]),
    ("dotnet", &["build", "test", "format"]),
    ("mix", &["test", "compile", "format"]),
    ("bundle", &["exec"]),
];

/// Words that no local command line needs: a program that reads from elsewhere, in a substitution, a script or a list.
const FETCHERS: [&str; 28] = [
    "curl",
    "wget",
    "lynx",
    "w3m",
    "aria2c",
    "ssh",
    "scp",
    "rsync",
    "sftp",
    "telnet",
    "ncat",
    "socat",
    "docker",
    "podman",
    "kubectl",
    "psql",
    "mysql",
    "sqlite3",
    "mongosh",
    "redis-cli",
    "aws",
    "gcloud",
    "az",
    "urllib",
    "requests",
    "httpx",
    "axios",
    "pbpaste",
];

/// Programs whose arguments are text or patterns, not paths.
const TEXT_TAKERS: [&str; 14] =
    ["echo", "printf", "tr", "cut", "seq", "test", "[", "column", "paste", "date", "jq", "sed", "awk", "sleep"];

/// Variables that hold no path and nothing of others.
const KNOWN_VARIABLES: [&str; 14] = [
    "PWD",
    "PIPESTATUS",
    "LINENO",
    "RANDOM",
    "SECONDS",
    "EPOCHSECONDS",
    "EPOCHREALTIME",
    "USER",
    "UID",
    "HOSTNAME",
    "SHELL",
    "PPID",
    "COLUMNS",
    "LANG",
];

/// Options by which a program that looks runs another one, or takes the names of files from a file.
const RUNNERS: [&str; 12] = [
    "-exec",
    "-execdir",
    "-ok",
    "-okdir",
    "--exec",
    "--exec-batch",
    "--pre",
    "--compress-program",
    "--to-command",
    "--files0-from",
    "--ext-diff",
    "--textconv",
];

/// True for a command line whose commands are all known to print nothing but the project's own text.
pub(super) fn is_local(command: &str, project: &str, branches: &Branches) -> bool {
    let command = &command.replace("${PWD}", "$PWD").replace("$PWD", if project.is_empty() { "." } else { project });
    let line = CommandLine::parse(command);
    let mut words = command.split(|c: char| c.is_whitespace() || "\"'`$();|&<>={}[],".contains(c));
    // Commands in a substitution or a script are not parts of the line, so the words are checked as well.
    let reads_elsewhere = words.clone().any(|word| {
        let name = word.rsplit('/').next().unwrap_or(word);
        FETCHERS.contains(&name.split('.').next().unwrap_or(name)) && !word.starts_with('-')
    });
    // What a program makes and what is removed may be named; what is read may not.
    let made: BTreeSet<String> = line
        .commands()
        .filter(|(program, _)| writes_only(program))
        .flat_map(|(_, words)| words)
        .map(str::to_owned)
        .collect();
    let is_outside = words.any(|word| {
        is_address(word)
            || is_outside(word, project)
            || (is_made_by_program(word) && !made.iter().any(|made| made.contains(word)))
    });
    let is_unknown = |(program, name): (&str, &str)| !is_builder(program) && !is_set_in(name, command);
    // What is read from a variable's place is not among the arguments.
    let reads_input = reads_own_input(command) || has_escapes(command);
    let reads_variable = ["< $", "<$", "<\"$", "< \"$"].iter().any(|read| command.contains(read));
    !reads_elsewhere
        && !is_outside
        && !reads_variable
        && !reads_input
        && !takes_foreign_names(command)
        && !climbs_from_project(command, project)
        && !line.variables().any(is_unknown)
        && line.commands().all(|(program, arguments)| is_known(program, &arguments, project, branches))
}

/// True for a part of the project's own path: the folder above it.
fn climbs_from_project(command: &str, project: &str) -> bool {
    command.contains("${PWD")
        || ["dirname ", "dirname \""].iter().any(|above| command.contains(&format!("{above}{project}")))
}

/// True for a variable that has its value from the line itself, or no path.
fn is_set_in(name: &str, command: &str) -> bool {
    let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
    let mut words = command.split(|c: char| c.is_whitespace() || ";&|(){}".contains(c)).filter(|word| !word.is_empty());
    let mut before = "";
    is_number
        || KNOWN_VARIABLES.contains(&name)
        || words.any(|word| {
            let is_set = word.strip_prefix(name).is_some_and(|rest| rest.starts_with('=') || rest.starts_with("+="))
                || (word == name && matches!(before, "for" | "read" | "-r" | "select" | "mapfile" | "-t"));
            before = word;
            is_set
        })
}

/// True when the shell is to read characters by their number, so that a path is not to be seen: `$'\x2ftmp'`.
fn has_escapes(command: &str) -> bool {
    command.split("$'").skip(1).any(|quoted| {
        let inner = quoted.split('\'').next().unwrap_or_default();
        inner.split('\\').skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || "xuUc".contains(c)))
    })
}

fn is_builder(program: &str) -> bool {
    BUILDERS.contains(&program) || SUBCOMMANDS.iter().any(|(name, _)| *name == program && *name != "git")
}

/// True when an argument names a path that is not the project's, also within an option.
fn names_outside(program: &str, word: &str, project: &str) -> bool {
    let is_root = word.starts_with('/') && word.trim_matches(['/', '.', '*', '?']).is_empty();
    let value = word.split_once('=').map_or("", |(_, value)| value);
    let attached = if word.starts_with('-') { word.find(['/', '~']).and_then(|at| word.get(at..)) } else { None };
    let climbs = word.starts_with('-') && word.split('/').any(|part| part.ends_with(".."));
    // Older shells take `.*` for `..` too.
    let is_pattern = ["grep", "egrep", "fgrep", "rg", "ag", "sed", "awk", "find", "fd", "jq"].contains(&program);
    let mut folders = word.split('/').rev().skip(1);
    let may_climb =
        !is_pattern && folders.any(|part| part.starts_with(".*") || part.starts_with(".?") || part.starts_with(".["));
    let is_path = |text: &str| !text.contains(char::is_whitespace) && is_outside(text, project);
    (is_root && !TEXT_TAKERS.contains(&program))
        || climbs
        || may_climb
        || is_path(word)
        || is_path(value)
        || attached.is_some_and(is_path)
}

fn is_known(program: &str, arguments: &[&str], project: &str, branches: &Branches) -> bool {
    let program = program.to_lowercase();
    let runs = runs_what_it_is_given(&program, arguments);
    // What the shell remembers may come from anywhere.
    if matches!(program.as_str(), "set" | "export") && arguments.iter().all(|word| *word == "-p") {
        return false;
    }
    if matches!(program.as_str(), "grep" | "egrep" | "fgrep") && searches_all(arguments) {
        return false;
    }
    // Nobody knows where these lead.
    if program == "cd" && arguments.first().is_none_or(|folder| *folder == "-") {
        return false;
    }
    if !is_builder(&program) && arguments.iter().any(|word| names_outside(&program, word, project)) {
        return false;
    }
    if program == "git" && (runs || !git::is_own(arguments, branches)) {
        return false;
    }
    if lifts_ignore(&program, arguments) || prints_archive(&program, arguments) {
        return false;
    }
    if LOOKERS.contains(&program.as_str()) {
        return !runs && !reads_of_others(&program, arguments, project);
    }
    if CHANGERS.contains(&program.as_str()) || BUILDERS.contains(&program.as_str()) {
        return true;
    }
    let known = SUBCOMMANDS.iter().find(|(name, _)| *name == program);
    let subcommand = arguments.iter().find(|word| !word.starts_with(['-', '+']));
    known.is_some_and(|(_, known)| {
        subcommand.is_some_and(|word| known.contains(&word.split(':').next().unwrap_or(word)))
    })
}

/// True for `find -exec`, `sed e`, `awk system` and their like.
fn runs_what_it_is_given(program: &str, arguments: &[&str]) -> bool {
    let is_runner = |word: &&str| {
        let option = word.split('=').next().unwrap_or(word);
        let names_program = option.starts_with("--")
            && !option.starts_with("--no-")
            && ["-bin", "-program", "-command", "-cmd", "-pager", "-editor"].iter().any(|end| option.ends_with(end));
        names_program || RUNNERS.contains(&option) || word.contains("system(") || word.contains("getline")
    };
    arguments.iter().any(is_runner) || (program == "fd" && arguments.iter().any(|word| matches!(*word, "-x" | "-X")))
}

/// True for a program that prints what an archive holds.
fn prints_archive(program: &str, arguments: &[&str]) -> bool {
    let has = |letters: &[char]| {
        arguments.iter().enumerate().any(|(at, word)| {
            let is_options = word.starts_with('-') && !word.starts_with("--");
            (is_options || (at == 0 && program == "tar")) && word.contains(letters)
        })
    };
    match program {
        "tar" => has(&['O']) || arguments.contains(&"--to-stdout"),
        "unzip" => has(&['p', 'c']),
        "gzip" | "gunzip" => has(&['c']) || arguments.contains(&"--stdout"),
        _ => false,
    }
}

/// True for a program whose arguments are not read to be shown.
fn writes_only(program: &str) -> bool {
    is_builder(program) || CHANGERS.contains(&program) || program == "echo" || program == "test"
}

/// True for `grep -r x .`: unlike `rg` and `git grep` it reads what the repository does not track.
fn searches_all(arguments: &[&str]) -> bool {
    let is_recursive = |word: &&str| {
        matches!(*word, "--recursive" | "--dereference-recursive")
            || (word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R']))
    };
    let mut operands = arguments.iter().filter(|word| !word.starts_with('-')).skip(1).peekable();
    arguments.iter().any(is_recursive)
        && !arguments.iter().any(|word| word.starts_with("--exclude-dir"))
        && (operands.peek().is_none() || operands.any(|word| matches!(*word, "." | "./" | "*" | "./*")))
}

/// An address of another machine.
fn is_address(word: &str) -> bool {
    word.split_once("://").is_some_and(|(_, host)| {
        !["localhost", "127.0.0.1", "0.0.0.0", "[::1]"].iter().any(|own| host.starts_with(own))
    })
}
