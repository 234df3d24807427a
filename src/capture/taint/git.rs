//! Which refs of git are the session's or the project's own. What was fetched is not.

use std::collections::BTreeSet;

use adage_transcript::{CommandLine, ToolCall};

/// Branches that a project's own work is on.
const MAIN: [&str; 4] = ["main", "master", "develop", "trunk"];

/// Names that remotes usually have, and where fetched refs are.
const REMOTES: [&str; 5] = ["origin", "upstream", "fork", "remotes", "refs"];

/// Folders that a bare word may name, where a ref could be meant too.
const OWN_FOLDERS: [&str; 26] = [
    "src", "tests", "test", "docs", "doc", "crates", "lib", "libs", "app", "apps", "packages", "scripts", "examples",
    "benches", "cmd", "internal", "pkg", "bin", "config", "include", "web", "frontend", "backend", "client", "server",
    "tools",
];

/// Subcommands that print no content of a ref, or send something away.
const REF_BLIND: [&str; 5] = ["push", "rev-parse", "symbolic-ref", "config", "check-ignore"];

/// The branches that a session made from its own work.
#[derive(Clone, Debug, Default)]
pub(super) struct Branches(BTreeSet<String>);

impl Branches {
    /// Notes the branches that a call makes.
    pub(super) fn extend_by(&mut self, call: &ToolCall) {
        let Some(command) = call.command() else { return };
        for (program, arguments) in CommandLine::parse(&command).commands() {
            let Some((subcommand, rest)) = subcommand(&arguments).filter(|_| program == "git") else { continue };
            let made = match subcommand {
                "checkout" | "switch" => made_branch(rest),
                "branch" if !rest.iter().any(|word| word.starts_with('-')) => rest.first().copied(),
                _ => None,
            };
            if let Some(made) = made
                && is_own(&arguments, self)
                && rest.iter().filter(|word| !word.starts_with('-') && **word != made).all(|word| self.is_own_ref(word))
            {
                self.0.insert(made.to_owned());
            }
        }
    }

    /// True for a commit of the own branch, a branch that the session made, or a main one; also a range of these.
    fn is_own_ref(&self, word: &str) -> bool {
        let word = word.split(':').next().unwrap_or_default();
        let parts = word.split("..").map(|part| part.trim_start_matches(['.', '^']));
        parts.filter(|part| !part.is_empty()).all(|part| {
            let name = part.split(['~', '^', '@']).next().unwrap_or_default();
            let is_hash = (7..=40).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_hash || matches!(name, "" | "HEAD") || MAIN.contains(&name) || self.0.contains(name)
        })
    }
}

/// The subcommand and what follows it.
fn subcommand<'a>(arguments: &'a [&'a str]) -> Option<(&'a str, &'a [&'a str])> {
    let at = arguments.iter().position(|word| !word.starts_with('-'))?;
    Some((arguments.get(at).copied()?, arguments.get(at + 1..)?))
}

/// The name after `-b`, `-c` and their like.
fn made_branch<'a>(rest: &[&'a str]) -> Option<&'a str> {
    let at = rest.iter().position(|word| matches!(*word, "-b" | "-B" | "-c" | "-C" | "--create" | "--orphan"))?;
    rest.get(at + 1).copied()
}

/// True for a command of git that shows and takes nothing but the own work.
pub(super) fn is_own(arguments: &[&str], branches: &Branches) -> bool {
    let Some((subcommand, rest)) = subcommand(arguments) else { return true };
    let has = |flags: &[&str]| rest.iter().any(|word| flags.iter().any(|flag| word.starts_with(flag)));
    if !REF_BLIND.contains(&subcommand) && rest.iter().any(|word| is_fetched(word)) {
        return false;
    }
    let cluster = |letters: [char; 2]| {
        let is_in = |word: &&str| word.starts_with('-') && !word.starts_with("--") && word.contains(letters);
        rest.iter().any(is_in)
    };
    match subcommand {
        "branch" => !cluster(['a', 'r']) && !has(&["--all", "--remotes", "--format"]),
        // What a stash is made of, nobody remembers; its list has messages of commits.
        "stash" => !matches!(rest.first(), Some(&("list" | "show" | "branch"))),
        "config" => {
            let sets = rest.iter().filter(|word| !word.starts_with('-')).count() > 1 || has(&["--unset"]);
            sets && !has(&["--get", "--list", "-l", "--show"]) && !matches!(rest.first(), Some(&("get" | "list")))
        }
        "tag" => !has(&["-n", "-v", "--verify", "--format"]),
        "diff" | "restore" | "reset" => is_of_own_refs(rest, branches),
        "checkout" | "switch" => {
            let made = made_branch(rest);
            let rest: Vec<&str> = rest.iter().copied().filter(|word| Some(*word) != made).collect();
            // `switch` takes no paths.
            let takes_paths = subcommand == "checkout" || made.is_some();
            !rest.contains(&"-")
                && is_of_own_refs(&rest, branches)
                && (takes_paths || rest.iter().all(|word| word.starts_with('-') || branches.is_own_ref(word)))
        }
        "worktree" => match rest.split_first() {
            Some((&"add", rest)) => {
                let made = made_branch(rest);
                let named = rest.iter().filter(|word| !word.starts_with('-') && Some(**word) != made);
                named.skip(1).all(|word| branches.is_own_ref(word))
            }
            _ => true,
        },
        _ => true,
    }
}

/// True when every word before `--` is an option, an own ref, or surely a path.
fn is_of_own_refs(rest: &[&str], branches: &Branches) -> bool {
    let words = rest.iter().take_while(|word| **word != "--");
    let refs = words.map(|word| word.strip_prefix("--source=").or(word.strip_prefix("-s")).unwrap_or(word));
    refs.filter(|word| !word.starts_with('-')).all(|word| branches.is_own_ref(word) || is_path(word))
}

/// True for a word that no ref is written like.
fn is_path(word: &str) -> bool {
    let parts: Vec<&str> = word.split('/').filter(|part| !part.is_empty()).collect();
    let has_suffix = parts.last().is_some_and(|name| name.trim_start_matches('v').contains('.') || name.contains('*'));
    let is_version =
        parts.last().is_some_and(|name| name.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit()));
    word.ends_with('/')
        || (has_suffix && !is_version)
        || parts.first().is_some_and(|first| OWN_FOLDERS.contains(first) || *first == ".")
}

/// True for what a fetch leaves: `FETCH_HEAD`, an upstream, a branch of a remote.
fn is_fetched(word: &str) -> bool {
    let word = word.rsplit('=').next().unwrap_or(word);
    let is_of_remote = |part: &str| {
        part.trim_start_matches(['.', '^', '+']).split_once('/').is_some_and(|(first, _)| REMOTES.contains(&first))
    };
    word.contains("FETCH_HEAD")
        || word.contains("MERGE_HEAD")
        || ["@{u", "@{p", "@{U", "@{P"].iter().any(|upstream| word.contains(upstream))
        || word.split("..").any(is_of_remote)
}
