//! What a session has done to its work tree (docs/spec/playbook.md, 5.9).

use std::collections::BTreeSet;

use adage_transcript::CommandLine;
use adage_transcript::command::{Invocation, Purpose};
use serde::{Deserialize, Serialize};

use super::file_kind::{FileKind, Languages};
use super::unchecked::{Published, published_by};
use crate::hash::TextHash;

/// The maximum numbers of kinds of files and of steps that are remembered.
const MAX_KINDS: usize = 40;
const MAX_STEPS: usize = 200;

/// Whether the current branch has an upstream branch, to which `git push` without arguments pushes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Upstream {
    /// It is not known.
    #[default]
    Unknown,
    /// It has one.
    Set,
    /// It has none, as a new branch.
    Missing,
}

/// What a session has done to its work tree, as far as its calls tell: a mined lesson comes where its failure can happen.
///
/// Files are remembered by kind, and commands by a hash of program and subcommand.
///
/// ```
/// use adage::Request;
/// use adage::retrieve::{Upstream, WorkTree};
///
/// let mut tree = WorkTree::default();
/// tree.change("src/main.go");
/// tree.run("git checkout -b fix && gofmt -w src");
/// assert_eq!(tree.upstream(), Upstream::Missing);
/// let request = Request::about("").running("git push").within(&tree);
/// # let _ = request;
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkTree {
    /// The kinds of the files that were changed and not committed.
    changed: BTreeSet<FileKind>,
    /// The steps that were run.
    ran: BTreeSet<TextHash>,
    /// The formatters that were run after the last change.
    formatted: BTreeSet<TextHash>,
    upstream: Upstream,
}

impl WorkTree {
    /// Records that a file is changed.
    pub fn change(&mut self, path: &str) {
        let kind = FileKind::of(path);
        if !kind.is_document() {
            self.formatted.clear();
        }
        if self.changed.len() < MAX_KINDS {
            self.changed.insert(kind);
        }
    }

    /// Records that a command line is run: the files that it changes in place, its steps, a commit, and a new branch.
    pub fn run(&mut self, line: &str) {
        let line = CommandLine::parse(line);
        for call in line.invocations() {
            self.note(&call);
        }
        patched_files(line.text()).for_each(|path| self.change(path));
        if line.commits() {
            self.commit(published_by(&line));
        }
    }

    fn commit(&mut self, published: Option<Published<'_>>) {
        match published {
            Some(Published::Files(files)) => {
                let kinds: BTreeSet<FileKind> = files.iter().map(|file| FileKind::of(file)).collect();
                let is_whole = files.iter().any(|file| FileKind::of(file).is_unknown());
                self.changed.retain(|kind| !is_whole && !kinds.contains(kind));
            }
            Some(Published::Nothing) | None => {}
            Some(_) => self.changed.clear(),
        }
    }

    /// Records what the repository's files say about the current branch.
    pub fn set_upstream(&mut self, upstream: Upstream) {
        self.upstream = upstream;
    }

    /// Whether the current branch has an upstream branch.
    #[must_use]
    pub fn upstream(&self) -> Upstream {
        self.upstream
    }

    fn note(&mut self, call: &Invocation<'_>) {
        files_changed_by(call).for_each(|path| self.change(path));
        if let Some(upstream) = upstream_after(call) {
            self.upstream = upstream;
        }
        let step = step_of(call);
        let steps = if call.purpose == Purpose::Formats { &mut self.formatted } else { &mut self.ran };
        if steps.len() < MAX_STEPS {
            steps.insert(step);
        }
    }

    /// True if nothing is known of what was changed since the last commit.
    pub(super) fn is_unchanged(&self) -> bool {
        self.changed.is_empty()
    }

    /// True if a changed file is of a kind that the steps of a lesson read.
    pub(super) fn has_change_for(&self, languages: &Languages) -> bool {
        self.changed.iter().any(|kind| languages.may_read(kind))
    }

    /// True if a step was run, if it formats since the last change.
    pub(super) fn has_run(&self, call: &Invocation<'_>) -> bool {
        let step = step_of(call);
        self.ran.contains(&step) || self.formatted.contains(&step)
    }
}

fn step_of(call: &Invocation<'_>) -> TextHash {
    TextHash::of(&[&call.form])
}

/// The files that a command changes in place.
fn files_changed_by<'c>(call: &Invocation<'c>) -> impl Iterator<Item = &'c str> {
    let edits = matches!(call.name, "sed" | "perl" | "gsed") && call.words.iter().any(|word| is_in_place(word));
    let moves = matches!(call.name, "mv" | "cp" | "rm" | "tee" | "touch");
    let moves = moves || matches!(call.form.as_str(), "git rm" | "git mv");
    let words = if edits || moves { call.words.clone() } else { Vec::new() };
    words.into_iter().filter(|word| !word.starts_with('-') && !word.contains(' ') && word.contains('.'))
}

/// `-i`, `-i.bak`, `-pi`
fn is_in_place(word: &str) -> bool {
    word.starts_with("-i") || (word.starts_with("-p") && word.ends_with('i'))
}

/// The files that a patch in the form of Codex changes.
fn patched_files(text: &str) -> impl Iterator<Item = &str> {
    const STARTS: [&str; 2] = ["*** Update File: ", "*** Add File: "];
    text.lines().filter_map(|line| STARTS.iter().find_map(|start| line.strip_prefix(start)))
}

/// What a command tells about the upstream of the branch after it.
pub(super) fn upstream_after(call: &Invocation<'_>) -> Option<Upstream> {
    let has = |flags: &[&str]| call.words.iter().any(|word| flags.contains(word));
    match call.form.as_str() {
        "git checkout" | "git switch" if has(&["-b", "-B", "-c", "-C", "--create", "--orphan"]) => {
            Some(Upstream::Missing)
        }
        // Another branch, or a file.
        "git checkout" if !has(&["--"]) => Some(Upstream::Unknown),
        "git switch" => Some(Upstream::Unknown),
        "git push" if has(&["-u", "--set-upstream"]) => Some(Upstream::Set),
        // It fails on a branch without an upstream.
        "git pull" if call.arguments().iter().all(|word| word.starts_with('-')) => Some(Upstream::Set),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(lines: &[&str]) -> WorkTree {
        let mut tree = WorkTree::default();
        for line in lines {
            tree.run(line);
        }
        tree
    }

    fn kinds(tree: &WorkTree) -> String {
        serde_json::to_value(&tree.changed).unwrap().to_string()
    }

    #[test]
    fn a_line_that_writes_files_changes_them() {
        for (line, expected) in [
            ("sed -i 's/a/b/' pkg/a.go", "[\"go\"]"),
            ("sed -i.bak -e 's/a/b/' lib/a.ex", "[\"ex\"]"),
            ("perl -pi -e 's/a/b/' a.py && git mv x y", "[\"py\"]"),
            ("cd web && mv a.ts b.ts", "[\"ts\"]"),
            ("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: src/a.rs\nEOF", "[\"rs\"]"),
            ("git rm -f lib/a.ex", "[\"ex\"]"),
            ("sed -n 1,20p pkg/a.go", "[]"),
            ("cat pkg/a.go | grep -n x", "[]"),
            ("go test ./...", "[]"),
        ] {
            assert_eq!(kinds(&after(&[line])), expected, "{line}");
        }
    }

    #[test]
    fn a_commit_takes_what_it_names() {
        for (line, expected) in [
            ("git commit -am x", "[]"),
            ("git add -A && git commit -m x", "[]"),
            ("git add pkg && git commit -m x", "[]"),
            ("git add README.md && git commit -m x", "[\"go\"]"),
            ("git add a.go", "[\"document\",\"go\"]"),
            ("git commit --allow-empty -m x", "[\"document\",\"go\"]"),
        ] {
            let mut tree = WorkTree::default();
            tree.change("a.go");
            tree.change("README.md");
            tree.run(line);
            assert_eq!(kinds(&tree), expected, "{line}");
        }
    }

    #[test]
    fn a_change_comes_after_the_formatter_but_not_after_other_steps() {
        let has_run = |tree: &WorkTree, line: &str| {
            let line = CommandLine::parse(line);
            line.invocations().all(|call| tree.has_run(&call))
        };
        let mut tree = after(&["mix format lib && docker compose up -d"]);
        assert!(has_run(&tree, "mix format") && has_run(&tree, "docker compose up"));
        assert!(!has_run(&tree, "mix test"));
        tree.change("README.md");
        assert!(has_run(&tree, "mix format"));
        tree.change("lib/a.ex");
        assert!(!has_run(&tree, "mix format") && has_run(&tree, "docker compose up"));
    }

    #[test]
    fn lines_tell_whether_the_branch_has_an_upstream() {
        for (lines, expected) in [
            (&["git checkout -b fix"][..], Upstream::Missing),
            (&["git switch -c fix && mix test"], Upstream::Missing),
            (&["git checkout -b fix", "git push -u origin HEAD"], Upstream::Set),
            (&["git checkout -b fix", "git checkout main"], Upstream::Unknown),
            (&["git checkout main && git pull --ff-only"], Upstream::Set),
            (&["git pull origin main"], Upstream::Unknown),
            (&["git checkout -b fix", "git checkout -- a.go"], Upstream::Missing),
            (&["git status -sb"], Upstream::Unknown),
        ] {
            assert_eq!(after(lines).upstream(), expected, "{lines:?}");
        }
    }
}
