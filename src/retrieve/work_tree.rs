//! What a session has done to its work tree (docs/spec/playbook.md, 5.9).

use std::collections::BTreeSet;

use adage_transcript::CommandLine;
use adage_transcript::command::{Invocation, Purpose};
use serde::{Deserialize, Serialize};

use super::file_kind::{FileKind, Languages};
use super::published::{Published, published_by};
use crate::hash::TextHash;

/// The maximum numbers of kinds of files, of files and of steps that are remembered.
const MAX_KINDS: usize = 40;
const MAX_FILES: usize = 100;
const MAX_STEPS: usize = 200;
/// Formatters that only print unless they are told to write.
const PRINTS: [&str; 5] = ["gofmt", "goimports", "gofumpt", "prettier", "clang-format"];
/// Flags with which a program only reports.
const REPORTS: [&str; 7] = ["--check", "-check", "--check-formatted", "--diff", "-diff", "--dry-run", "--help"];
/// Last words of commands that undo others, with the words of these.
const OPPOSITES: [(&str, &str); 9] = [
    ("down stop rm kill", "up"),
    ("stop kill", "start"),
    ("uninstall remove rm", "install"),
    ("remove rm", "add"),
    ("delete rm", "create"),
    ("logout", "login"),
    ("disable", "enable"),
    ("unset", "set"),
    ("unload", "load"),
];

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
/// Files are remembered by kind and by a hash of their name, and commands by a hash of program and subcommand. Of more than are
/// remembered, it is assumed that a file was changed and a step was not run.
///
/// ```
/// use adage::Request;
/// use adage::retrieve::{Upstream, WorkTree};
///
/// let mut tree = WorkTree::default();
/// tree.record_change("src/main.go");
/// tree.record_command("git checkout -b fix && gofmt -w src");
/// assert_eq!(tree.upstream(), Upstream::Missing);
/// let request = Request::about("").running("git push").in_work_tree(&tree);
/// # let _ = request;
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkTree {
    /// The kinds of the files that were changed and not committed.
    changed: BTreeSet<FileKind>,
    /// The files that were changed, with the formatters that were run on each since.
    unformatted: Vec<ChangedFile>,
    /// The steps that were run, oldest first.
    ran: Vec<TextHash>,
    upstream: Upstream,
}

/// A file that was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ChangedFile {
    /// A hash of the file's name without its folder.
    name: TextHash,
    kind: FileKind,
    /// The formatters that were run on it since.
    formatted_by: BTreeSet<TextHash>,
}

impl WorkTree {
    /// Records that a file was changed. The path should be relative to the root of the work tree: what is in a folder whose name
    /// begins with a dot belongs to a tool, unless it is code.
    pub fn record_change(&mut self, path: &str) {
        self.record_kind(FileKind::of_file(path), path);
    }

    fn record_kind(&mut self, kind: FileKind, path: &str) {
        let is_full = self.changed.len() >= MAX_KINDS;
        self.changed.insert(if is_full { FileKind::Folder } else { kind.clone() });
        if kind == FileKind::Document {
            return;
        }
        let file = ChangedFile { name: name_of(path), kind, formatted_by: BTreeSet::new() };
        self.unformatted.retain(|known| known.name != file.name);
        self.unformatted.push(file);
        if self.unformatted.len() > MAX_FILES {
            let any = ChangedFile { name: name_of(""), kind: FileKind::Folder, formatted_by: BTreeSet::new() };
            self.unformatted = vec![any];
        }
    }

    /// Records a command line that is about to run, has failed, or whose result is not known: files that it may have changed.
    pub fn record_attempt(&mut self, line: &str) {
        let line = CommandLine::parse(line);
        for call in line.invocations() {
            self.record_written(&call);
            if upstream_after(&call).is_some() {
                self.upstream = Upstream::Unknown;
            }
        }
        self.record_patch(line.text());
    }

    /// Records a command line that was run without a failure: the files that it changed, its steps, a commit, and a new branch.
    pub fn record_command(&mut self, line: &str) {
        let line = CommandLine::parse(line);
        for call in line.invocations() {
            self.record_written(&call);
            self.record_step(&call);
        }
        self.record_patch(line.text());
        if line.commits() {
            self.commit(published_by(&line));
        }
    }

    fn record_written(&mut self, call: &Invocation<'_>) {
        for path in call.written_files().iter().filter(|path| !is_temporary(path)) {
            self.record_kind(FileKind::of(path), path);
        }
    }

    fn record_patch(&mut self, text: &str) {
        patched_files(text).for_each(|path| self.record_change(path));
    }

    fn commit(&mut self, published: Option<Published<'_>>) {
        match published {
            Some(Published::Files(files)) => {
                let kinds: BTreeSet<FileKind> = files.iter().map(|file| FileKind::of(file)).collect();
                let is_whole = kinds.contains(&FileKind::Folder);
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

    fn record_step(&mut self, call: &Invocation<'_>) {
        if let Some(upstream) = upstream_after(call) {
            self.upstream = upstream;
        }
        if only_reports(call) {
            return;
        }
        let undone = steps_undone_by(call);
        self.ran.retain(|step| !undone.contains(step));
        self.record_formatted(call);
        let step = step_of(call);
        self.ran.retain(|known| *known != step);
        self.ran.push(step);
        self.ran.drain(..self.ran.len().saturating_sub(MAX_STEPS));
    }

    /// Records that a formatter was run: on the files that it names, otherwise on all.
    fn record_formatted(&mut self, call: &Invocation<'_>) {
        if call.purpose != Purpose::Formats {
            return;
        }
        let words = call.arguments();
        let operands: Vec<&str> = words.into_iter().filter(|word| !word.starts_with('-')).collect();
        let is_file = |word: &&str| !word.contains('*') && FileKind::of(word) != FileKind::Folder;
        let named: Vec<TextHash> = operands.iter().filter(|word| is_file(word)).map(|word| name_of(word)).collect();
        let is_whole = named.len() < operands.len() || named.is_empty();
        for file in &mut self.unformatted {
            if (is_whole || named.contains(&file.name)) && file.kind.is_read_by(call) {
                file.formatted_by.insert(step_of(call));
            }
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

    /// True if a step was run; a formatter, on every file of its language that was changed since.
    pub(super) fn has_run(&self, call: &Invocation<'_>) -> bool {
        let step = step_of(call);
        let is_open = |file: &ChangedFile| file.kind.is_read_by(call) && !file.formatted_by.contains(&step);
        let is_formatted = call.purpose != Purpose::Formats || !self.unformatted.iter().any(is_open);
        self.ran.contains(&step) && is_formatted
    }
}

fn step_of(call: &Invocation<'_>) -> TextHash {
    TextHash::of(&[&call.form])
}

fn name_of(path: &str) -> TextHash {
    TextHash::of(&["file", path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()])
}

/// The steps that a command undoes: `docker compose up` for `docker compose down`.
fn steps_undone_by(call: &Invocation<'_>) -> Vec<TextHash> {
    let Some((program, last)) = call.form.rsplit_once(' ') else { return Vec::new() };
    let undone = OPPOSITES.iter().filter(|(words, _)| words.split(' ').any(|word| word == last));
    undone.map(|(_, word)| TextHash::of(&[format!("{program} {word}")])).collect()
}

/// True for a formatter that only checks or prints, and for a dry run.
fn only_reports(call: &Invocation<'_>) -> bool {
    let has = |is: &dyn Fn(&str) -> bool| call.words.iter().any(|word| is(word));
    let is_short = |word: &str, flag: char| word.starts_with('-') && !word.starts_with("--") && word.contains(flag);
    let prints = call.form.split(' ').chain([call.name]).any(|word| PRINTS.contains(&word));
    let writes =
        has(&|word| word == "--write" || is_short(word, 'w') || (call.name == "clang-format" && is_short(word, 'i')));
    let is_check = call.purpose == Purpose::Formats && call.form.split([' ', ':']).any(|word| word == "check");
    (prints && !writes) || is_check || has(&|word| REPORTS.contains(&word))
}

/// True for a path outside of a work tree: a temporary file, or one whose name a variable has.
fn is_temporary(path: &str) -> bool {
    const STARTS: [&str; 6] = ["/tmp/", "/var/tmp/", "/private/tmp/", "/var/folders/", "/proc/", "$"];
    STARTS.iter().any(|start| path.starts_with(start))
}

/// The files that a patch in the form of Codex changes.
fn patched_files(text: &str) -> impl Iterator<Item = &str> {
    const STARTS: [&str; 2] = ["*** Update File: ", "*** Add File: "];
    text.lines().filter_map(|line| STARTS.iter().find_map(|start| line.strip_prefix(start)))
}

/// What a command that succeeds tells about the upstream of the branch after it.
pub(super) fn upstream_after(call: &Invocation<'_>) -> Option<Upstream> {
    let has = |flags: &[&str]| call.words.iter().any(|word| flags.contains(word));
    match call.form.as_str() {
        "git checkout" | "git switch" if has(&["-b", "-B", "-c", "-C", "--create", "--orphan"]) => {
            Some(upstream_of_new(call))
        }
        // Another branch, or a file.
        "git checkout" if !has(&["--"]) => Some(Upstream::Unknown),
        "git switch" => Some(Upstream::Unknown),
        "git branch" if has(&["--unset-upstream"]) => Some(Upstream::Unknown),
        "git branch" if has(&["-u"]) || call.words.iter().any(|word| word.starts_with("--set-upstream-to")) => {
            Some(Upstream::Set)
        }
        "git push" if has(&["-u", "--set-upstream"]) => Some(Upstream::Set),
        // It fails on a branch without an upstream.
        "git pull" if call.arguments().iter().all(|word| word.starts_with('-')) => Some(Upstream::Set),
        _ => None,
    }
}

/// Whether a branch that a command makes has an upstream: it tracks one if it is told to, or if it starts at a branch of a remote.
fn upstream_of_new(call: &Invocation<'_>) -> Upstream {
    let is_told = call.words.iter().any(|word| matches!(*word, "-t" | "--track") || word.starts_with("--track="));
    let operands: Vec<&str> = call.arguments().into_iter().filter(|word| !word.starts_with('-')).collect();
    let starts_elsewhere = operands.get(1).is_some_and(|start| start.contains('/'));
    let is_free = call.words.contains(&"--no-track") || !(is_told || starts_elsewhere);
    if is_free { Upstream::Missing } else { Upstream::Unknown }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(lines: &[&str]) -> WorkTree {
        let mut tree = WorkTree::default();
        for line in lines {
            tree.record_command(line);
        }
        tree
    }

    fn kinds(tree: &WorkTree) -> Vec<String> {
        let name = |kind: &FileKind| match kind {
            FileKind::Ending(ending) => ending.clone(),
            other => format!("{other:?}"),
        };
        tree.changed.iter().map(name).collect()
    }

    fn has_run(tree: &WorkTree, line: &str) -> bool {
        CommandLine::parse(line).invocations().all(|call| tree.has_run(&call))
    }

    #[test]
    fn a_line_that_writes_files_changes_them_also_if_it_fails() {
        for (line, expected) in [
            ("sed -i 's/a.x/b/' pkg/a.go", &["go"][..]),
            ("perl -0pi -e 's/a/b/' a.py && git mv x.rb y.rb", &["py", "rb"]),
            ("cat > lib/a.ex <<'EOF'\nx\nEOF", &["ex"]),
            ("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: src/a.rs\nEOF", &["rs"]),
            ("git mv pkg lib", &["Folder"]),
            ("sed -i 's/v1.2/v1.3/' README.md", &["Document"]),
            ("sed -n 1,20p pkg/a.go", &[]),
            ("go test ./... > /tmp/out.go 2>&1", &[]),
            ("cp a.go /tmp/", &[]),
            ("go test ./...", &[]),
        ] {
            assert_eq!(kinds(&after(&[line])), expected, "{line}");
            let mut tree = WorkTree::default();
            tree.record_attempt(line);
            assert_eq!(kinds(&tree), expected, "{line}");
        }
    }

    #[test]
    fn a_commit_takes_what_it_names() {
        let both = &["Document", "go"][..];
        for (line, expected) in [
            ("git commit -am x", &[][..]),
            ("git add -A && git commit -m x", &[]),
            ("git add pkg && git commit -m x", &[]),
            ("git add README.md && git commit -m x", &["go"]),
            ("git add Makefile && git commit -m x", both),
            ("git add docker/Dockerfile && git commit -m x", both),
            ("git add a.go", both),
            ("git commit --allow-empty -m x", both),
        ] {
            let mut tree = WorkTree::default();
            tree.record_change("a.go");
            tree.record_change("README.md");
            tree.record_command(line);
            assert_eq!(kinds(&tree), expected, "{line}");
        }
    }

    #[test]
    fn a_line_that_may_have_failed_ran_nothing_and_committed_nothing() {
        let mut tree = WorkTree::default();
        tree.record_change("a.go");
        tree.record_attempt("docker compose up -d && gofmt -w . && git commit -am x && git checkout -b fix");
        assert_eq!(kinds(&tree), ["go"]);
        assert!(!has_run(&tree, "docker compose up") && !has_run(&tree, "gofmt -w a.go"));
        assert_eq!(tree.upstream(), Upstream::Unknown);
    }

    #[test]
    fn a_change_comes_after_the_formatter_but_not_after_other_steps() {
        let mut tree = after(&["mix format lib && docker compose up -d"]);
        assert!(has_run(&tree, "mix format") && has_run(&tree, "docker compose up"));
        assert!(!has_run(&tree, "mix test"));
        tree.record_change("README.md");
        tree.record_change("web/a.ts");
        assert!(has_run(&tree, "mix format"));
        tree.record_change("lib/a.ex");
        assert!(!has_run(&tree, "mix format") && has_run(&tree, "docker compose up"));
    }

    #[test]
    fn a_formatter_has_run_on_the_files_that_it_writes() {
        for (line, expected) in [
            ("gofmt -w .", true),
            ("gofmt -w pkg/a.go", true),
            ("gofmt -l -w ./pkg", true),
            ("gofmt -w other/b.go", false),
            ("gofmt -l .", false),
            ("gofmt -d pkg/a.go", false),
            ("gofmt pkg/a.go", false),
        ] {
            let mut tree = WorkTree::default();
            tree.record_change("pkg/a.go");
            tree.record_command(line);
            assert_eq!(has_run(&tree, "gofmt -w x"), expected, "{line}");
        }
        for line in ["mix format --check-formatted", "mix format --dry-run", "mix format --check-formatted lib"] {
            assert!(!has_run(&after(&[line]), "mix format"), "{line}");
        }
        assert!(!has_run(&after(&["npx prettier --check ."]), "npx prettier --write ."));
        assert!(has_run(&after(&["npx prettier --write ."]), "npx prettier --write ."));
    }

    #[test]
    fn the_opposite_command_takes_a_step_back() {
        for (lines, step, expected) in [
            (&["docker compose up -d"][..], "docker compose up", true),
            (&["docker compose up -d", "docker compose down -v"], "docker compose up", false),
            (&["docker compose down", "docker compose up -d"], "docker compose up", true),
            (&["npm install", "npm uninstall left-pad"], "npm install", false),
            (&["docker compose up -d", "docker image rm x"], "docker compose up", true),
        ] {
            assert_eq!(has_run(&after(lines), step), expected, "{lines:?}");
        }
    }

    #[test]
    fn beyond_what_is_remembered_files_are_changed_and_steps_are_not_run() {
        let mut tree = WorkTree::default();
        for number in 0..MAX_KINDS {
            tree.record_change(&format!("a.x{number}"));
        }
        tree.record_change("a.go");
        assert!(tree.changed.contains(&FileKind::Folder));
        for number in 0..=MAX_STEPS {
            tree.record_command(&format!("npm run s{number}"));
        }
        assert!(!has_run(&tree, "npm run s0") && has_run(&tree, &format!("npm run s{MAX_STEPS}")));
        for number in 0..=MAX_FILES {
            tree.record_change(&format!("a{number}.go"));
        }
        tree.record_command(&format!("gofmt -w a{MAX_FILES}.go"));
        assert!(!has_run(&tree, "gofmt -w x"));
        tree.record_command("gofmt -w .");
        assert!(has_run(&tree, "gofmt -w x"));
    }

    #[test]
    fn lines_tell_whether_the_branch_has_an_upstream() {
        for (lines, expected) in [
            (&["git checkout -b fix"][..], Upstream::Missing),
            (&["git checkout -b fix/one"], Upstream::Missing),
            (&["git checkout -b fix main"], Upstream::Missing),
            (&["git checkout -b fix --track origin/fix"], Upstream::Unknown),
            (&["git checkout -b fix origin/main --no-track"], Upstream::Missing),
            (&["git switch -c fix origin/fix"], Upstream::Unknown),
            (&["git switch -c fix && mix test"], Upstream::Missing),
            (&["git checkout -b fix", "git push -u origin HEAD"], Upstream::Set),
            (&["git checkout -b fix", "git branch -u origin/fix"], Upstream::Set),
            (&["git checkout -b fix", "git branch --set-upstream-to=origin/fix"], Upstream::Set),
            (&["git push -u origin a", "git branch --unset-upstream"], Upstream::Unknown),
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
