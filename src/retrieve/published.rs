//! What a line publishes: a commit of documents, and a push that sends no change, need no check (docs/spec/playbook.md, 5.9).

use adage_transcript::CommandLine;
use adage_transcript::command::Invocation;

use super::file_kind::is_document;

/// Flags of `git commit` with a value.
const WITH_VALUE: &str = "-m -am -F -C -c --message --file --author --date --trailer --reuse-message --reedit-message --fixup --squash -t \
                          --template --cleanup";
/// Flags of `git commit` that change what is written about a commit.
const ABOUT: [&str; 9] =
    ["-m", "--message", "-F", "--author", "--date", "--reset-author", "--signoff", "-s", "--trailer"];

/// What a line commits or pushes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Published<'l> {
    /// Nothing that was not published before: a tag, an empty commit, the end of a branch.
    Nothing,
    /// What was committed before, with another message, and what was changed since.
    Again,
    /// These files.
    Files(Vec<&'l str>),
    /// What was changed.
    Changes,
    /// What was changed; the message says that it is documents.
    Documents,
}

/// What a line stages, commits or pushes; none if it does none of these.
pub(super) fn published_by(line: &CommandLine) -> Option<Published<'_>> {
    let calls: Vec<Invocation<'_>> = line.invocations().filter(|call| call.name == "git").collect();
    let of = |forms: &[&str]| -> Vec<&Invocation<'_>> {
        calls.iter().filter(|call| forms.contains(&call.form.as_str())).collect()
    };
    let (commits, adds, pushes) =
        (of(&["git commit"]), of(&["git add", "git rm", "git mv", "git stage"]), of(&["git push"]));
    if commits.is_empty() && adds.is_empty() {
        let sends_one = !pushes.iter().all(|push| sends_no_change(push));
        return (!pushes.is_empty()).then_some(if sends_one { Published::Changes } else { Published::Nothing });
    }
    let files: Vec<&str> = adds.iter().chain(&commits).flat_map(|call| operands(call)).collect();
    let is_all = |is: fn(&Invocation<'_>) -> bool| !commits.is_empty() && commits.iter().all(|commit| is(commit));
    let is_reset = of(&["git reset"]).iter().any(|call| call.words.contains(&"--soft"));
    Some(if files.iter().any(|file| is_file(file)) {
        Published::Files(files)
    } else if is_all(is_tried) {
        Published::Nothing
    } else if adds.is_empty() && (is_reset || is_all(is_reworded)) {
        Published::Again
    } else if is_all(is_called_documents) {
        Published::Documents
    } else {
        Published::Changes
    })
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

fn lists(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

/// False for what stands for any changed file: `.`, `:/`, `*`.
fn is_file(path: &str) -> bool {
    path.chars().any(char::is_alphanumeric)
}

/// True for a document, and for a folder that is called as one of documents.
pub(super) fn is_of_documents(path: &str) -> bool {
    let folder = path.trim_start_matches("./").trim_end_matches(['/', '*']);
    is_document(path) || (matches!(folder.rsplit('/').next(), Some("docs" | "doc")) && !folder.contains("src/"))
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

/// True for a commit that only writes something else about the last one.
fn is_reworded(commit: &Invocation<'_>) -> bool {
    let is_about = |word: &str| ABOUT.iter().any(|flag| word == *flag || word.starts_with(&format!("{flag}=")));
    let takes_files = |word: &str| matches!(word, "--all" | "--patch" | "--include") || is_letters_with_a(word);
    commit.words.contains(&"--amend")
        && commit.words.iter().any(|word| is_about(word))
        && !commit.words.iter().any(|word| takes_files(word))
}

/// `-a`, `-am`
fn is_letters_with_a(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.contains('a')
}

/// True for a push of tags, of the end of a branch, or that is only tried.
pub(super) fn sends_no_change(push: &Invocation<'_>) -> bool {
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
    fn check(lines: &[&str], is: impl Fn(&Published<'_>) -> bool) {
        for line in lines {
            let parsed = CommandLine::parse(line);
            let published = published_by(&parsed).expect(line);
            assert!(is(&published), "{line}: {published:?}");
        }
    }

    fn is_documents(published: &Published<'_>) -> bool {
        match published {
            Published::Files(files) => files.iter().all(|file| is_of_documents(file)),
            other => *other == Published::Documents,
        }
    }

    #[test]
    fn a_commit_of_named_documents_is_one_of_documents() {
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
        ];
        check(&lines, is_documents);
    }

    #[test]
    fn a_commit_of_code_or_of_anything_is_none_of_documents() {
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
        ];
        check(&lines, |published| {
            !is_documents(published) && !matches!(published, Published::Nothing | Published::Again)
        });
        for line in ["npm publish", "ls README.md", "git log -1", "git merge dev"] {
            assert_eq!(published_by(&CommandLine::parse(line)), None, "{line}");
        }
    }

    #[test]
    fn a_commit_that_only_says_something_else_publishes_nothing_new() {
        let lines = [
            "git commit --amend -m 'Fix the spelling'",
            "git commit --amend --message='x'",
            "git commit --amend -m \"$(git log -1 --format=%B | sed 's/teh/the/')\"",
            "cd api && git commit --amend --author='A <a@b.c>' --no-edit",
            "git commit --amend --reset-author --no-edit && git push --force-with-lease",
            "git commit --amend --no-edit --date='2 days ago'",
            "git commit --amend --signoff --no-edit",
            "git reset --soft HEAD~3 && git commit -m 'One commit'",
        ];
        check(&lines, |published| *published == Published::Again);
        let lines = [
            "git commit --allow-empty -m 'Start CI'",
            "git commit --allow-empty -m x && git push",
            "git add . && git commit --dry-run",
            "git commit --dry-run -am x",
        ];
        check(&lines, |published| *published == Published::Nothing);
        let lines = [
            "git commit -a --amend --no-edit",
            "git commit -a --amend -m x",
            "git commit --amend -am x",
            "git add -u && git commit --amend -m x",
            "git reset --soft HEAD~3 && git add . && git commit -m x",
            "git reset HEAD~1 && git commit -am x",
            "git commit --amend",
        ];
        check(&lines, |published| *published == Published::Changes);
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
        check(&lines, |published| *published == Published::Nothing);
        let lines = [
            "git push",
            "git push -u origin feature",
            "git push origin main v1.2.3",
            "git push origin HEAD:main",
            "git push origin 7-fix",
            "git push --force-with-lease",
            "git push upstream release/1.2",
        ];
        check(&lines, |published| *published == Published::Changes);
    }
}
