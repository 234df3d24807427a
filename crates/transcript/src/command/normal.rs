//! The normal form of a command: its action without the objects (docs/spec/capture.md, 2.2). It is for comparisons and is not
//! shown.

use super::program::{family, is_plain};
use super::simple_command::{SimpleCommand, Word, base_name};

/// Subcommands that have subcommands or scripts of their own.
const NESTED: [(&str, &[&str]); 16] = [
    ("docker", &["compose", "container", "image", "volume", "network", "buildx", "system"]),
    ("npm", &["run", "run-script", "exec"]),
    ("pnpm", &["run", "exec", "dlx"]),
    ("yarn", &["run", "workspace"]),
    ("bun", &["run", "x"]),
    ("deno", &["task"]),
    ("go", &["mod", "tool", "work"]),
    ("git", &["remote", "stash", "submodule", "worktree", "bisect", "lfs"]),
    ("cargo", &["nextest", "llvm-cov"]),
    ("kubectl", &["get", "describe", "delete", "create", "rollout", "config", "edit"]),
    ("uv", &["run", "pip", "tool"]),
    ("poetry", &["run", "env"]),
    ("pipenv", &["run"]),
    ("conda", &["env", "run"]),
    ("brew", &["cask", "services"]),
    ("bundle", &["exec"]),
];

/// Programs whose operands are data, never subcommands.
const PLAIN: [&str; 66] = [
    "ls", "cat", "head", "tail", "grep", "egrep", "fgrep", "rg", "ag", "ack", "find", "fd", "wc", "sort", "uniq",
    "cut", "awk", "sed", "jq", "yq", "tree", "file", "stat", "du", "df", "which", "type", "cp", "mv", "rm", "ln",
    "mkdir", "rmdir", "touch", "chmod", "chown", "echo", "printf", "cd", "tar", "zip", "unzip", "gzip", "ssh", "scp",
    "rsync", "vim", "vi", "nano", "emacs", "code", "open", "diff", "patch", "kill", "pkill", "killall", "ps", "man",
    "export", "source", "ping", "pytest", "sqlite3", "psql", "mysql",
];

/// Flags before a subcommand that take a value, in any program.
const VALUE_FLAGS: [&str; 29] = [
    "-C",
    "-c",
    "-n",
    "-f",
    "-p",
    "-H",
    "-R",
    "-w",
    "-Z",
    "-j",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--context",
    "--kubeconfig",
    "--file",
    "--prefix",
    "--workspace",
    "--manifest-path",
    "--config",
    "--repo",
    "--profile",
    "--region",
    "--project",
    "--cwd",
    "--dir",
    "--filter",
    "--host",
    "--subscription",
];

/// Programs that run a script; the script is the action.
const INTERPRETERS: [&str; 14] = [
    "python",
    "node",
    "ruby",
    "perl",
    "php",
    "bash",
    "sh",
    "zsh",
    "tsx",
    "ts-node",
    "Rscript",
    "lua",
    "julia",
    "osascript",
];

/// Scripts of frameworks that run the task named next: `php artisan test`, `python manage.py migrate`.
const RUNS_TASKS: [&str; 4] = ["artisan", "manage.py", "console", "rails"];

pub(super) fn form(part: &SimpleCommand) -> String {
    let program = part.program();
    let mut words = vec![canonical(program).to_owned()];
    let (mut subcommands, rest) = if INTERPRETERS.contains(&canonical(program)) {
        script(&part.arguments)
    } else {
        subcommands(program, &part.arguments)
    };
    words.append(&mut subcommands);
    if rest.iter().any(|word| is_url(&word.text)) {
        words.push("<url>".to_owned());
    }
    words.join(" ")
}

/// True for a program that runs a script.
pub(super) fn interprets(program: &str) -> bool {
    INTERPRETERS.contains(&canonical(program))
}

/// `python3.11` becomes Python; `apt-get` is unchanged.
fn canonical(program: &str) -> &str {
    match family(program) {
        name @ ("python" | "pip" | "node" | "ruby" | "php") => name,
        _ => program,
    }
}

/// `-m module` with the module's subcommand, `-c`, or the script's base name.
fn script(arguments: &[Word]) -> (Vec<String>, &[Word]) {
    let is_flag = |word: &Word| matches!(word.text.as_str(), "-m" | "-c" | "-e");
    let place = arguments.iter().position(|word| is_flag(word) || !word.text.starts_with('-'));
    match place.and_then(|place| arguments.get(place..)).unwrap_or_default() {
        [flag, module, rest @ ..] if flag.text == "-m" => {
            let (below, rest) = subcommands(&module.text, rest);
            let words = [&flag.text, &module.text].into_iter().cloned().chain(below);
            (words.collect(), rest)
        }
        [flag, ..] if is_flag(flag) => (vec![flag.text.clone()], &[]),
        [path, task, rest @ ..] if RUNS_TASKS.contains(&base_name(&path.text)) && is_plain(task) => {
            (vec![base_name(&path.text).to_owned(), task.text.clone()], rest)
        }
        [path, rest @ ..] => (vec![base_name(&path.text).to_owned()], rest),
        [] => (Vec::new(), &[]),
    }
}

/// The number of words after the program that name the action. For a program that is not listed: one, if it follows directly.
fn depth(program: &str) -> Option<usize> {
    match program {
        "tox" | "pacman" | "ansible" => Some(0),
        "git" | "cargo" | "go" | "npm" | "pnpm" | "yarn" | "bun" | "deno" | "npx" | "docker" | "podman" | "kubectl"
        | "helm" | "terraform" | "make" | "just" | "task" | "pip" | "uv" | "poetry" | "conda" | "pipenv" | "brew"
        | "apt" | "apt-get" | "apt-cache" | "yum" | "dnf" | "systemctl" | "heroku" | "rustup" | "dotnet" | "mvn"
        | "gradle" | "gradlew" | "mvnw" | "composer" | "bundle" | "gem" | "rails" | "rake" | "mix" | "flutter"
        | "hg" | "svn" | "vagrant" | "wrangler" | "tmux" | "adb" | "swift" | "zig" => Some(1),
        "service" | "gh" | "aws" | "az" | "supabase" => Some(2),
        "gcloud" => Some(3),
        _ => None,
    }
}

/// The words that name the action, and the words after them.
fn subcommands<'a>(program: &str, arguments: &'a [Word]) -> (Vec<String>, &'a [Word]) {
    let known = depth(canonical(program));
    if PLAIN.contains(&program) {
        return (Vec::new(), arguments);
    }
    let mut depth = known.unwrap_or(1);
    let mut found: Vec<String> = Vec::new();
    let mut rest = arguments;
    while let [word, after @ ..] = rest {
        if found.len() == depth {
            break;
        }
        if known.is_some() && VALUE_FLAGS.contains(&word.text.as_str()) {
            rest = after.get(1..).unwrap_or_default();
        } else if known.is_some() && (word.text.starts_with('-') || word.text.starts_with('+')) {
            rest = after;
        } else if is_plain(word) && (is_name(&word.text) || (program == "mix" && is_name(&word.text.replace('.', ":"))))
        {
            let nests = found.is_empty()
                && NESTED.iter().any(|(name, below)| *name == program && below.contains(&word.text.as_str()));
            depth += usize::from(nests);
            found.push(word.text.clone());
            rest = after;
        } else {
            break;
        }
    }
    (found, rest)
}

/// True for the form of a subcommand, a target or a script's name: not a path, version or file.
fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic())
        && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':'))
        && word.chars().any(char::is_lowercase)
}

fn is_url(word: &str) -> bool {
    word.split_once("://").is_some_and(|(scheme, rest)| {
        !rest.is_empty() && !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric() || c == '+')
    })
}
