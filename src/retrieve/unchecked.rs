//! Changes that need no check: commits of documents, and pushes that send no change (docs/spec/playbook.md, 5.9).

use adage_transcript::CommandLine;
use adage_transcript::command::Invocation;

/// Endings of files that no compiler, linter or test reads.
const DOCUMENTS: &str =
    "md mdx markdown txt rst adoc asciidoc org tex pdf docx png jpg jpeg gif svg webp ico drawio puml mmd dot";
/// Names of files without such an ending that are as much.
const NAMED: &str = "readme license licence copying notice authors contributors changelog changes codeowners maintainers \
                     .gitignore .gitattributes .mailmap .editorconfig";
/// Flags of `git commit` with a value.
const WITH_VALUE: &str = "-m -am -F -C -c --message --file --author --date --trailer --reuse-message --reedit-message --fixup --squash -t \
                          --template --cleanup";

/// True if a path names a document: its kind is read by people only.
pub(super) fn is_document(path: &str) -> bool {
    let path = path.to_lowercase();
    let file = path.rsplit('/').next().unwrap_or_default();
    let stem = file.split('.').find(|part| !part.is_empty()).unwrap_or_default();
    is_document_file(file)
        || lists(NAMED, file)
        || (!file.contains('.') && lists(NAMED, stem))
        || path.contains(".github/")
}

/// True if a file's ending, in lower case, is that of a document.
pub(super) fn is_document_file(file: &str) -> bool {
    file.rsplit_once('.').is_some_and(|(name, ending)| !name.is_empty() && lists(DOCUMENTS, ending))
}

fn lists(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

/// True for a line that commits only documents, or nothing, and for one that only pushes tags or deletes branches.
pub(super) fn needs_no_check(line: &CommandLine) -> bool {
    let calls: Vec<Invocation<'_>> = line.invocations().filter(|call| call.name == "git").collect();
    let of = |forms: &[&str]| -> Vec<&Invocation<'_>> {
        calls.iter().filter(|call| forms.contains(&call.form.as_str())).collect()
    };
    let (commits, adds, pushes) =
        (of(&["git commit"]), of(&["git add", "git rm", "git mv", "git stage"]), of(&["git push"]));
    if commits.is_empty() && adds.is_empty() {
        return !pushes.is_empty() && pushes.iter().all(|push| sends_no_change(push));
    }
    let files: Vec<&str> = adds.iter().chain(&commits).flat_map(|call| operands(call)).collect();
    let is_said =
        || !commits.is_empty() && commits.iter().all(|commit| is_called_documents(commit) || is_tried(commit));
    let is_named = files.iter().any(|file| is_file(file));
    if is_named { files.iter().all(|file| is_document(file) || is_of_documents(file)) } else { is_said() }
}

/// The files and folders that a command names.
fn operands<'c>(call: &Invocation<'c>) -> Vec<&'c str> {
    let mut is_value = false;
    let mut is_operand = |word: &&str| {
        let was_value = std::mem::replace(&mut is_value, lists(WITH_VALUE, word));
        !was_value && !word.starts_with('-')
    };
    call.arguments().into_iter().filter(|word| is_operand(word)).collect()
}

/// False for what stands for any changed file: `.`, `:/`, `*`.
fn is_file(path: &str) -> bool {
    path.chars().any(char::is_alphanumeric)
}

/// True for a folder that is called as one of documents.
fn is_of_documents(path: &str) -> bool {
    let path = path.trim_start_matches("./").trim_end_matches(['/', '*']);
    matches!(path.rsplit('/').next(), Some("docs" | "doc")) && !path.contains("src/")
}

/// True if the message of a commit says that it is about documents: `docs: …`, `docs(api): …`.
fn is_called_documents(commit: &Invocation<'_>) -> bool {
    let words = commit.words.iter().zip(commit.words.iter().skip(1));
    let mut messages = words.filter(|(flag, _)| matches!(**flag, "-m" | "-am" | "--message")).map(|(_, said)| *said);
    messages
        .next()
        .is_some_and(|said| ["docs:", "docs(", "doc:"].iter().any(|start| said.trim_start().starts_with(start)))
}

fn is_tried(call: &Invocation<'_>) -> bool {
    call.words.iter().any(|word| matches!(*word, "--dry-run" | "--allow-empty"))
}

fn sends_no_change(push: &Invocation<'_>) -> bool {
    let arguments = push.arguments();
    let has = |flags: &[&str]| arguments.iter().any(|word| flags.contains(word));
    let refs: Vec<&str> = operands(push).into_iter().skip(1).collect();
    let is_tag = |name: &&str| name.starts_with("refs/tags/") || name.starts_with(':') || is_version(name);
    has(&["--dry-run", "-n", "--delete", "-d", "--tags"])
        || has(&["tag"])
        || (!refs.is_empty() && refs.iter().all(is_tag))
}

/// `v0.4.0`, `2.1`
fn is_version(name: &str) -> bool {
    let name = name.strip_prefix('v').unwrap_or(name);
    name.starts_with(|c: char| c.is_ascii_digit()) && name.contains('.') && !name.contains('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lines: &[&str], expected: bool) {
        for line in lines {
            assert_eq!(needs_no_check(&CommandLine::parse(line)), expected, "{line}");
        }
    }

    #[test]
    fn a_commit_of_named_documents_needs_no_check() {
        let lines = [
            "git add guide/architecture.md && git commit -m \"docs: update the diagram\"",
            "git commit -m 'fix a typo' README.md",
            "git commit README.md -m typo",
            "cd /srv/shop && git add README.md CHANGELOG.md && git commit -m x && git push",
            "git add docs/ && git commit -m 'new page'",
            "git add LICENSE && git commit -m 'MIT'",
            "git add .gitignore && git commit -m 'ignore build'",
            "git rm docs/old.rst && git commit -m 'drop old page'",
            "git add assets/logo.png README.md; git commit -m logo",
            "git add .github/PULL_REQUEST_TEMPLATE.md && git commit -m x",
            "git add guide/a.md",
            "git -C web commit -m x README.md",
            "git commit --author 'A <a@b.c>' -m x NOTES.txt",
            "git add -A && git commit -m 'docs: explain the cache'",
            "git commit -am 'docs(api): typo'",
            "git add . && git commit --dry-run",
        ];
        check(&lines, true);
    }

    #[test]
    fn a_commit_of_code_or_of_anything_needs_one() {
        let lines = [
            "git add -A && git commit -m 'fix the parser'",
            "git add . && git commit -m x",
            "git commit -am 'README and parser'",
            "git commit -m 'docs.rs: fix'",
            "git add README.md src/main.rs && git commit -m 'docs: both'",
            "git add lib/ test/ && git commit -m x && git push",
            "git add docs/conf.py && git commit -m x",
            "git add guide/a.md && git commit -m x web/app.ts",
            "git add mix.exs && git commit -m 'bump'",
            "git add package.json package-lock.json && git commit -m deps",
            "git add main.tf && git commit -m 'docs: no, code'",
            "git add Makefile && git commit -m x",
            "git commit",
            "git commit --amend --no-edit",
            "cargo test && git commit -m x",
            "git add docs.rs && git commit -m x",
            "npm publish",
            "ls README.md",
        ];
        check(&lines, false);
    }

    #[test]
    fn a_push_of_tags_and_one_that_deletes_sends_no_change() {
        let lines = [
            "git push origin v0.4.0",
            "git push origin --delete old",
            "git push origin :old",
            "git push --tags",
            "git push origin tag v1",
            "git push -n",
            "git push origin refs/tags/nightly",
        ];
        check(&lines, true);
        check(
            &["git push", "git push -u origin feature", "git push origin main v1.2.3", "git push origin HEAD:main"],
            false,
        );
        check(&["git push origin 7-fix", "git push --force-with-lease", "git push upstream release/1.2"], false);
    }
}
