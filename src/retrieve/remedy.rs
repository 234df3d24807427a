//! Whether a command line has what mended a recovery's failure (docs/spec/playbook.md, 5.9).

use std::collections::BTreeSet;

use adage_transcript::CommandLine;
use adage_transcript::command::Invocation;

use crate::lesson::{CommandRecovery, RecoveryStep};

/// True if a line runs the commands that came first, before the one that failed, and has the words of the one that passed. A change of
/// files is in no line.
pub(super) fn has_remedy(line: &CommandLine, recovery: &CommandRecovery) -> bool {
    let failed = parsed(&recovery.failed);
    let calls: Vec<Invocation<'_>> = line.invocations().collect();
    let last = failed.invocations().last().map(|last| last.form);
    let n_before = calls.iter().rposition(|call| Some(&call.form) == last.as_ref()).unwrap_or(calls.len());
    let before = calls.get(..n_before).unwrap_or_default();
    let mut has_any = false;
    let is_in = |step: &RecoveryStep| match step {
        RecoveryStep::Told(_) => true,
        RecoveryStep::Edit(_) => false,
        RecoveryStep::Run(command) => {
            has_any = true;
            parsed(command).invocations().all(|step| before.iter().any(|call| is_step(call, &step)))
        }
        RecoveryStep::Passed(command) if *command == recovery.failed => true,
        RecoveryStep::Passed(command) => {
            has_any = true;
            has_difference(line, &failed, &parsed(command))
        }
    };
    recovery.steps.iter().all(is_in) && has_any
}

/// True if a line has all words that were added, and none of those that were removed. Flags count by their names, unless only their values
/// or quotes differ.
fn has_difference(line: &CommandLine, failed: &CommandLine, passed: &CommandLine) -> bool {
    for words_of in [names_of, all_words_of, quoted_words_of] {
        let (failed, passed, own) = (words_of(failed), words_of(passed), words_of(line));
        let added: Vec<&String> = passed.difference(&failed).filter(|word| !is_placeholder(word)).collect();
        let mut removed = failed.difference(&passed).peekable();
        if !added.is_empty() || removed.peek().is_some() {
            return added.into_iter().all(|word| own.contains(word)) && !removed.any(|word| own.contains(word));
        }
    }
    false
}

/// True if a call is a step: the same command, with the words of the step that are not placeholders.
fn is_step(call: &Invocation<'_>, step: &Invocation<'_>) -> bool {
    call.form == step.form && step.words.iter().all(|word| is_placeholder(word) || call.words.contains(word))
}

fn all_words_of(line: &CommandLine) -> BTreeSet<String> {
    let words = line.invocations().flat_map(|call| [call.lead, vec![call.program], call.words].concat());
    words.map(str::to_owned).collect()
}

/// The words as they are written, with their quotes.
fn quoted_words_of(line: &CommandLine) -> BTreeSet<String> {
    line.text().split_whitespace().map(str::to_owned).collect()
}

/// As [`all_words_of`], with flags and variables without their values.
fn names_of(line: &CommandLine) -> BTreeSet<String> {
    let is_flag = |word: &str| word.starts_with('-');
    let mut names = BTreeSet::new();
    for call in line.invocations() {
        let mut is_value = false;
        for word in [call.lead, vec![call.program], call.words].concat() {
            if is_flag(word) || !is_value {
                names.extend(word.split('=').next().map(str::to_owned));
            }
            is_value = is_flag(word) && !word.contains('=');
        }
    }
    names
}

/// A command of a lesson, with its placeholders as words that a shell would not read: `<file>` becomes `%file%`.
fn parsed(command: &str) -> CommandLine {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '-');
    let words = command.split(' ').map(|word| {
        match word.trim_matches('"').strip_prefix('<').and_then(|word| word.strip_suffix('>')) {
            Some(name) if is_name(name) => format!("%{name}%"),
            _ => word.to_owned(),
        }
    });
    CommandLine::parse(&words.collect::<Vec<_>>().join(" "))
}

fn is_placeholder(word: &str) -> bool {
    word.len() > 2 && word.starts_with('%') && word.ends_with('%')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recovery(failed: &str, steps: &[RecoveryStep]) -> CommandRecovery {
        CommandRecovery { failed: failed.into(), error: String::new(), steps: steps.to_vec() }
    }

    #[track_caller]
    fn check(recovery: &CommandRecovery, with: &[&str], without: &[&str]) {
        for (lines, expected) in [(with, true), (without, false)] {
            for line in lines {
                assert_eq!(has_remedy(&CommandLine::parse(line), recovery), expected, "{}: {line}", recovery.failed);
            }
        }
    }

    #[test]
    fn a_call_with_the_words_that_helped_has_the_remedy() {
        for (failed, passed, with, without) in [
            (
                "npm install",
                "npm install --legacy-peer-deps",
                "cd w && npm install x --legacy-peer-deps",
                "npm install x",
            ),
            ("git push", "git push --set-upstream origin <branch>", "git push --set-upstream origin a", "git push -q"),
            ("kubectl get pods", "kubectl get pods -n staging", "kubectl get pods -n prod", "kubectl get pods -o wide"),
            (
                "terraform plan",
                "terraform plan -var-file=prod.tfvars",
                "terraform plan -var-file=x",
                "terraform plan -out=p",
            ),
            ("psql -d shop", "psql -d app", "psql -d app -c x", "psql -d shop"),
            (
                "grep --include=*.go",
                "grep --include=\"*.go\"",
                "grep -rn a --include=\"*.go\" .",
                "grep a --include=*.go .",
            ),
            ("python3", "/usr/bin/python3", "cd a && /usr/bin/python3 x.py", "python3 x.py"),
            ("cat -A", "cat -t -e", "cat a -t -e", "sed 1p a | cat -A"),
            ("mix test", "MIX_ENV=test mix test", "MIX_ENV=test mix test a", "mix test a"),
            ("npm test", "cd web && npm test", "cd web && npm test", "cd api && npm test"),
            ("go build -o x ./...", "go build -o x .", "go build -o y .", "go build -o y ./..."),
        ] {
            check(&recovery(failed, &[RecoveryStep::Passed(passed.into())]), &[with], &[without]);
        }
    }

    #[test]
    fn a_line_that_runs_the_first_steps_before_has_the_remedy() {
        let steps = |steps: &[&str], then: &str| {
            let run = steps.iter().map(|step| RecoveryStep::Run((*step).to_owned()));
            recovery(then, &run.chain([RecoveryStep::Passed(then.into())]).collect::<Vec<_>>())
        };
        check(
            &steps(&["mix format"], "git add -A && git commit -m \"<text>\""),
            &["mix format && git add -A && git commit -m x", "mix format lib/a.ex && git commit -am x"],
            &["git commit -m 'mix format'", "git commit -am x && mix format"],
        );
        check(
            &steps(&["gofmt -w <file>"], "golangci-lint run"),
            &["gofmt -w . && golangci-lint run ./..."],
            &["golangci-lint run", "gofmt -l . && golangci-lint run"],
        );
        check(
            &steps(&["npm ci", "npm run build"], "npm test"),
            &["npm ci && npm run build && npm test"],
            &["npm ci && npm test"],
        );
    }

    #[test]
    fn what_is_told_or_edited_is_in_no_call() {
        let told = RecoveryStep::Told("It is a variable.".into());
        let passed = RecoveryStep::Passed("make".into());
        for steps in [
            vec![told.clone(), passed.clone()],
            vec![told, RecoveryStep::Edit("change a.go".into()), RecoveryStep::Run("ls".into()), passed],
        ] {
            check(&recovery("make", &steps), &[], &["make", "ls && make"]);
        }
    }
}
