//! Whether the failure that a mined lesson tells to prevent by formatting or checking can happen (docs/spec/playbook.md, 5.9).

use adage_transcript::CommandLine;
use adage_transcript::command::{Invocation, Purpose};

use super::advised_commands;
use super::command_task::is_of_steps;
use super::file_kind::{FileKind, Languages, is_first_formatted};
use super::published::{Published, is_of_documents, published_by};
use super::work_tree::WorkTree;
use crate::lesson::{Lesson, Origin};

/// True if a mined lesson tells to format or check, and nothing that a line publishes or checks was changed.
pub(super) fn is_inapplicable_at(lesson: &Lesson, line: &CommandLine, tree: Option<&WorkTree>) -> bool {
    let is_mined = lesson.provenance.origin == Origin::Mined && lesson.provenance.evidence.is_empty();
    if !is_mined || !advises_a_check(lesson) {
        return false;
    }
    match (published_by(line), tree) {
        (Some(published), tree) => publishes_nothing_for(lesson, &published, tree),
        (None, Some(tree)) => needs_a_change(lesson) && !tree.has_change_for(&Languages::of(lesson)),
        (None, None) => false,
    }
}

/// True for a recovery that formats first, and for a list of checks: what is wrong with a file is wrong since it was changed.
fn needs_a_change(lesson: &Lesson) -> bool {
    is_first_formatted(lesson) || is_list(lesson)
}

/// True for a list of checks, which has patterns of files and of commands.
pub(super) fn is_list(lesson: &Lesson) -> bool {
    is_of_steps(lesson) && !lesson.mistake.is_empty()
}

fn advises_a_check(lesson: &Lesson) -> bool {
    advised_commands::steps_of(lesson).iter().any(|step| matches!(step.purpose(), Purpose::Checks | Purpose::Formats))
}

/// True if no file that is published is of a kind that the lesson's steps read, as far as it is known.
fn publishes_nothing_for(lesson: &Lesson, published: &Published<'_>, tree: Option<&WorkTree>) -> bool {
    let languages = Languages::of(lesson);
    let is_changed = tree.filter(|tree| !tree.is_unchanged()).map(|tree| tree.has_change_for(&languages));
    match published {
        Published::Nothing => true,
        Published::Again | Published::Documents => !is_changed.unwrap_or(false),
        Published::Changes => !is_changed.unwrap_or(true),
        Published::Files(files) => !files.iter().any(|file| {
            let kind = FileKind::of(file);
            let is_folder = kind == FileKind::Folder && !is_of_documents(file);
            if is_folder { is_changed.unwrap_or(true) } else { !is_of_documents(file) && languages.may_read(&kind) }
        }),
    }
}

/// True if a line runs a step of a list of checks as it is advised, with the same words.
pub(super) fn runs_step_of(lesson: &Lesson, line: &CommandLine) -> bool {
    let advised = advised_commands::steps_of(lesson);
    let steps: Vec<Invocation<'_>> = advised.iter().flat_map(CommandLine::invocations).collect();
    let is_advised = |call: Invocation<'_>| {
        steps.iter().any(|step| step.name != "cd" && step.form == call.form && step.words == call.words)
    };
    is_list(lesson) && line.invocations().any(is_advised)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: &str = "First run `mix format`; then `git add -A && git commit -m \"<text>\"` passes.";
    const LINT: &str = "First run `gofmt -w <file>`; then `golangci-lint run` passes.";
    const LIST: &str = "Check with:\n1. `cd api && gofmt -w <changed-files>`\n2. `go vet ./...`\n3. `go test ./...`";

    fn mined(solution: &str) -> Lesson {
        let mut lesson = crate::testing::lesson("it fails", solution);
        lesson.provenance.origin = Origin::Mined;
        lesson.mistake = "`it`".into();
        if solution == LIST {
            (lesson.commands, lesson.paths) = (vec!["go test*".into()], vec!["*.go".into()]);
        }
        lesson
    }

    fn after(files: &[&str]) -> WorkTree {
        let mut tree = WorkTree::default();
        for file in files {
            tree.record_change(file);
        }
        tree
    }

    #[track_caller]
    fn check(solution: &str, tree: Option<&WorkTree>, needed: &[&str], inapplicable: &[&str]) {
        let lesson = mined(solution);
        for (lines, expected) in [(needed, false), (inapplicable, true)] {
            for line in lines {
                assert_eq!(is_inapplicable_at(&lesson, &CommandLine::parse(line), tree), expected, "{line} {tree:?}");
            }
        }
    }

    #[test]
    fn a_list_of_checks_comes_for_changes_of_its_language() {
        let looks = ["go test ./pkg/a -run X -v", "go vet ./...", "time go build ./...", "golangci-lint run pkg/a.go"];
        check(LIST, Some(&after(&[])), &["git commit -am x", "git add -A && git commit -m x", "git push"], &looks);
        check(LIST, Some(&after(&["api/main.go", "README.md"])), &looks, &[]);
        check(
            LIST,
            Some(&after(&["README.md"])),
            &[],
            &["go test ./...", "git commit -am x", "git add . && git commit -m x"],
        );
        let commits = [
            "cd web && npx tsc --noEmit && git commit -am 'Answer 400'",
            "git add web && git commit -m x",
            "go test ./...",
        ];
        check(LIST, Some(&after(&["web/src/a.ts"])), &[], &commits);
        check(LIST, Some(&after(&["web/src/a.ts", "api/a.go"])), &commits, &[]);
        check(LIST, Some(&after(&["api/config.yml"])), &["git commit -am x", "git add api && git commit -m x"], &[]);
        check(LIST, None, &looks, &["git commit README.md -m x"]);
    }

    #[test]
    fn what_a_commit_names_counts_before_what_was_changed() {
        let tree = after(&["api/a.go", "README.md"]);
        let needed =
            ["git add api/a.go && git commit -m x", "git add api && git commit -m x", "git commit -am 'docs: x'"];
        let inapplicable =
            ["git add README.md && git commit -m x", "git add docs/ && git commit -m x", "git push origin v1.0.0"];
        check(LIST, Some(&tree), &needed, &inapplicable);
        check(
            LIST,
            Some(&after(&[])),
            &["git add api/a.go && git commit -m x"],
            &["git add web/a.ts && git commit -m x"],
        );
        check(FORMAT, None, &["git add lib && git commit -m x"], &["git add config/ci.yml && git commit -m x"]);
    }

    #[test]
    fn a_formatter_comes_first_where_a_file_of_its_language_was_changed() {
        let runs = [
            "golangci-lint run",
            "time golangci-lint run --timeout 15m > /tmp/lint.out 2>&1",
            "golangci-lint run --enable-only errcheck ./pkg/a",
            "golangci-lint run --out-format json | jq length",
            "golangci-lint cache clean && golangci-lint run",
            "golangci-lint run --new-from-rev main",
        ];
        for files in [&[][..], &["ci.yml"], &[".golangci.yml"], &["README.md", "web/a.ts"]] {
            check(LINT, Some(&after(files)), &[], &runs);
        }
        check(LINT, Some(&after(&["pkg/a.go"])), &runs, &[]);
        check(LINT, None, &runs, &[]);
        check(LINT, Some(&after(&[])), &["golangci-lint run && git commit -am x"], &[]);
    }

    #[test]
    fn a_commit_that_changes_only_a_message_needs_no_format() {
        let again = ["git commit --amend -m 'Fix the spelling'", "git reset --soft HEAD~2 && git commit -m x"];
        check(FORMAT, Some(&after(&[])), &[], &again);
        check(FORMAT, None, &[], &again);
        check(FORMAT, Some(&after(&["lib/a.ex"])), &again, &["git commit --allow-empty -m 'Start CI'"]);
        check(FORMAT, Some(&after(&["ci.yml"])), &[], &["git commit -am x", "git commit --amend -m x"]);
    }

    #[test]
    fn other_lessons_are_never_inapplicable() {
        let lines = ["git commit README.md -m x", "git push origin v1.2.0", "go test ./..."];
        check("Run `git -c user.name=a commit`.", Some(&after(&[])), &lines, &[]);
        let mut lesson = mined(LIST);
        lesson.provenance.origin = Origin::Hand;
        assert!(!is_inapplicable_at(&lesson, &CommandLine::parse("go test ./..."), Some(&after(&[]))));
    }

    #[test]
    fn a_step_of_a_list_is_run_as_it_is_advised() {
        let runs = |line: &str| runs_step_of(&mined(LIST), &CommandLine::parse(line));
        for line in ["go vet ./...", "cd api && go test ./... && echo done"] {
            assert!(runs(line), "{line}");
        }
        let format = CommandLine::parse("git add -A && git commit -m \"<text>\"");
        assert!(!runs_step_of(&mined(FORMAT), &format), "it is not a list");
        for line in ["go test ./pkg/a", "go test -race ./...", "go test", "cd api", "go build ./..."] {
            assert!(!runs(line), "{line}");
        }
    }
}
