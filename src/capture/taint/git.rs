//! Which refs of git are the session's or the project's own. What was fetched is not.

use std::collections::BTreeSet;

use adage_transcript::{CommandLine, ToolCall};

use super::paths::is_outside;

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

/// Of these, what branches are named after as well: `docs/typo`.
const TOPICS: [&str; 8] = ["docs", "doc", "test", "tests", "config", "tools", "app", "web"];

/// Subcommands that print no content of a ref, or send something away.
const REF_BLIND: [&str; 5] = ["push", "rev-parse", "symbolic-ref", "config", "check-ignore"];

/// Options of `git commit` that take a commit whose message is used.
const TAKES_COMMIT: [&str; 6] = ["-C", "-c", "--reuse-message", "--reedit-message", "--fixup", "--squash"];

/// Suffixes of files, none of which a branch is likely to have.
const SUFFIXES: [&str; 88] = [
    "rs", "toml", "lock", "md", "mdx", "txt", "json", "jsonl", "json5", "yaml", "yml", "xml", "html", "htm", "css",
    "scss", "sass", "less", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte", "astro", "py",
    "pyi", "ipynb", "rb", "erb", "go", "mod", "sum", "java", "kt", "kts", "scala", "groovy", "gradle", "c", "h", "cc",
    "cpp", "cxx", "hpp", "hh", "m", "mm", "swift", "cs", "fs", "vb", "csproj", "sln", "php", "pl", "lua", "ex", "exs",
    "erl", "hs", "ml", "clj", "dart", "r", "jl", "zig", "nim", "sh", "bash", "zsh", "fish", "ps1", "bat", "sql",
    "proto", "graphql", "tf", "ini", "cfg", "conf", "env", "csv", "tsv",
];

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

    /// True for a commit of the own branch, a branch that the session made, or a main one; also for a range of these and a file of one.
    /// What is not understood is not own.
    fn is_own_ref(&self, word: &str) -> bool {
        if let Some((commit, path)) = word.split_once(':') {
            // `:/text` is any commit whose message has the text, `:2:path` a side of a merge.
            let is_indexed = commit.is_empty() && !path.starts_with('/');
            return !path.contains(':') && !is_outside(path, "") && (is_indexed || self.is_own_commit(commit));
        }
        let sides = word.split_once("...").or_else(|| word.split_once(".."));
        match sides {
            Some((left, right)) => [left, right].iter().all(|side| side.is_empty() || self.is_own_commit(side)),
            None => self.is_own_commit(word.strip_prefix('^').unwrap_or(word)),
        }
    }

    /// True for a name that is own, and which of its ancestors along the first parent: `HEAD~2`, `main^`, `HEAD^{tree}`.
    fn is_own_commit(&self, word: &str) -> bool {
        let at = word.find(['~', '^']).unwrap_or(word.len());
        let (name, mut steps) = word.split_at(at);
        while !steps.is_empty() {
            let known = ["^{}", "^{commit}", "^{tree}", "^{blob}", "^0", "^1", "^!"];
            let rest = if let Some(rest) = known.iter().find_map(|step| steps.strip_prefix(*step)) {
                rest
            } else if let Some(rest) = steps.strip_prefix('~') {
                rest.trim_start_matches(|c: char| c.is_ascii_digit())
            } else {
                steps.strip_prefix('^').filter(|rest| rest.is_empty() || rest.starts_with(['^', '~'])).unwrap_or("?")
            };
            if rest == "?" {
                return false;
            }
            steps = rest;
        }
        let is_hash = (7..=40).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hash || matches!(name, "HEAD" | "@") || MAIN.contains(&name) || self.0.contains(name)
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
        "checkout" | "switch" => checks_out_own(subcommand, rest, branches),
        "commit" => commits_own(rest, branches),
        "worktree" => adds_own_worktree(rest, branches),
        _ => true,
    }
}

fn checks_out_own(subcommand: &str, rest: &[&str], branches: &Branches) -> bool {
    let made = made_branch(rest);
    let rest: Vec<&str> = rest.iter().copied().filter(|word| Some(*word) != made).collect();
    // `switch` takes no paths.
    let takes_paths = subcommand == "checkout" || made.is_some();
    !rest.contains(&"-")
        && is_of_own_refs(&rest, branches)
        && (takes_paths || rest.iter().all(|word| word.starts_with('-') || branches.is_own_ref(word)))
}

/// Some options of `commit` print the subject of the commit that they name.
fn commits_own(rest: &[&str], branches: &Branches) -> bool {
    let named = rest.iter().enumerate().filter_map(|(at, word)| match word.split_once('=') {
        Some((option, value)) if TAKES_COMMIT.contains(&option) => Some(value),
        _ if TAKES_COMMIT.contains(word) => rest.get(at + 1).copied().or(Some("?")),
        _ => None,
    });
    named.map(|word| word.rsplit(':').next().unwrap_or(word)).all(|word| branches.is_own_ref(word))
}

fn adds_own_worktree(rest: &[&str], branches: &Branches) -> bool {
    let Some((&"add", rest)) = rest.split_first() else { return true };
    if let [folder] = rest
        && !folder.starts_with('-')
    {
        // It checks out the branch that has the folder's name, if there is one.
        return branches.is_own_ref(folder.rsplit('/').next().unwrap_or(folder));
    }
    let made = made_branch(rest);
    let named = rest.iter().filter(|word| !word.starts_with('-') && Some(**word) != made);
    named.skip(1).all(|word| branches.is_own_ref(word))
}

/// True when every word before `--` is an option, an own ref, or surely a path.
fn is_of_own_refs(rest: &[&str], branches: &Branches) -> bool {
    let words = rest.iter().take_while(|word| **word != "--");
    let refs = words.map(|word| word.strip_prefix("--source=").or(word.strip_prefix("-s")).unwrap_or(word));
    refs.filter(|word| !word.starts_with('-')).all(|word| branches.is_own_ref(word) || is_path(word))
}

/// True for a word that is surely a path: no ref, range or file of a ref is written so, and hardly a branch.
fn is_path(word: &str) -> bool {
    if word.contains(['^', '~', ':', '@', '\\']) || word.contains("..") {
        return false;
    }
    let mut parts = word.split('/').filter(|part| !part.is_empty());
    let (first, last) = (parts.next(), word.rsplit('/').next().unwrap_or_default());
    let is_folder = word.ends_with('/') || first == Some(".");
    let suffix = last.rsplit_once('.').map(|(_, suffix)| suffix.to_ascii_lowercase());
    let is_file = suffix.is_some_and(|suffix| SUFFIXES.contains(&suffix.as_str()))
        || (last.starts_with('.') && first == Some(last))
        || last.contains('*');
    // `docs/typo` is as good a name for a branch as for a file.
    let is_own_folder = first.is_some_and(|first| OWN_FOLDERS.contains(&first));
    let is_topic = first.is_some_and(|first| TOPICS.contains(&first)) && parts.count() == 1;
    is_folder || is_file || (is_own_folder && !is_topic)
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
