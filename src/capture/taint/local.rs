//! An allow list of commands that print only the project's own content. Other commands are untrusted.

use adage_transcript::CommandLine;

use super::paths::is_outside;

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

/// Programs with subcommands that build, test or look, beside others that fetch.
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

/// True for a command line if every command is known to print only the project's own text.
pub(super) fn is_local(command: &str, project: &str) -> bool {
    let line = CommandLine::parse(command);
    let mut words = command.split(|c: char| c.is_whitespace() || "\"'`$();|&<>={}[],".contains(c));
    // Commands in a substitution or a script are not parts of the line, so the words are checked as well.
    let reads_elsewhere = words.clone().any(|word| {
        let name = word.rsplit('/').next().unwrap_or(word);
        FETCHERS.contains(&name.split('.').next().unwrap_or(name)) && !word.starts_with('-')
    });
    let is_outside = words.any(|word| is_address(word) || is_outside(word, project));
    !reads_elsewhere && !is_outside && line.commands().all(|(program, arguments)| is_known(program, &arguments))
}

fn is_known(program: &str, arguments: &[&str]) -> bool {
    let program = program.to_lowercase();
    // `find -exec`, `sed e` and `awk system` run what they are given.
    let runs = arguments.iter().any(|word| matches!(*word, "-exec" | "-execdir" | "-ok") || word.contains("system("));
    if LOOKERS.contains(&program.as_str()) {
        return !runs;
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

/// An address of another machine.
fn is_address(word: &str) -> bool {
    word.split_once("://").is_some_and(|(_, host)| {
        !["localhost", "127.0.0.1", "0.0.0.0", "[::1]"].iter().any(|own| host.starts_with(own))
    })
}
