//! The normal form of a command: what it does, without what it does it to (docs/spec/capture.md, 2.2). For comparing, never for showing.

use super::program::{family, is_plain};
use super::shell::{Part, Word, base_name};

/// How many words below the program say what is done. Programs that are not listed: one, if it follows at once.
const DEPTHS: [(&str, usize); 60] = [
    ("git", 1),
    ("cargo", 1),
    ("go", 1),
    ("npm", 1),
    ("pnpm", 1),
    ("yarn", 1),
    ("bun", 1),
    ("deno", 1),
    ("npx", 1),
    ("docker", 1),
    ("podman", 1),
    ("kubectl", 1),
    ("helm", 1),
    ("terraform", 1),
    ("make", 1),
    ("just", 1),
    ("task", 1),
    ("pip", 1),
    ("uv", 1),
    ("poetry", 1),
    ("conda", 1),
    ("pipenv", 1),
    ("tox", 0),
    ("brew", 1),
    ("apt", 1),
    ("apt-get", 1),
    ("apt-cache", 1),
    ("yum", 1),
    ("dnf", 1),
    ("pacman", 0),
    ("systemctl", 1),
    ("service", 2),
    ("gh", 2),
    ("aws", 2),
    ("az", 2),
    ("gcloud", 3),
    ("heroku", 1),
    ("rustup", 1),
    ("dotnet", 1),
    ("mvn", 1),
    ("gradle", 1),
    ("gradlew", 1),
    ("mvnw", 1),
    ("composer", 1),
    ("bundle", 1),
    ("gem", 1),
    ("rails", 1),
    ("rake", 1),
    ("mix", 1),
    ("flutter", 1),
    ("hg", 1),
    ("svn", 1),
    ("vagrant", 1),
    ("ansible", 0),
    ("supabase", 2),
    ("wrangler", 1),
    ("tmux", 1),
    ("adb", 1),
    ("swift", 1),
    ("zig", 1),
];

/// Subcommands that have subcommands (or scripts) of their own.
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

/// Flags before a subcommand that take a value, of any program.
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

/// Programs that run a script; the script is what is done.
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

pub(super) fn form(part: &Part) -> String {
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

/// `python3.11` is Python; but `apt-get` stays itself.
fn canonical(program: &str) -> &str {
    match family(program) {
        name @ ("python" | "pip" | "node" | "ruby" | "php") => name,
        _ => program,
    }
}

/// `-m module` with the module's subcommand, `-c`, or the script's base name.
fn script(arguments: &[Word]) -> (Vec<String>, &[Word]) {
    match arguments
        .iter()
        .position(|word| !word.text.starts_with('-') || matches!(word.text.as_str(), "-m" | "-c" | "-e"))
    {
        Some(place) => {
            let rest = arguments.get(place + 1..).unwrap_or_default();
            match (arguments.get(place).map(|word| word.text.as_str()), rest) {
                (Some("-m"), [module, rest @ ..]) => {
                    let (below, rest) = subcommands(&module.text, rest);
                    let words = ["-m".to_owned(), module.text.clone()].into_iter().chain(below);
                    (words.collect(), rest)
                }
                (Some(flag @ ("-c" | "-e" | "-m")), _) => (vec![flag.to_owned()], &[]),
                (Some(path), rest) => (vec![base_name(path).to_owned()], rest),
                (None, _) => (Vec::new(), &[]),
            }
        }
        None => (Vec::new(), &[]),
    }
}

/// The words that say what is done, and what follows them.
fn subcommands<'a>(program: &str, arguments: &'a [Word]) -> (Vec<String>, &'a [Word]) {
    let known = DEPTHS.iter().find(|(name, _)| *name == canonical(program)).map(|(_, depth)| *depth);
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

/// The shape of a subcommand, a target, a script's name: no path, no version, no file.
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
