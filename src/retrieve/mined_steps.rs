//! The steps of a mined procedure (docs/spec/playbook.md, 5.9).

use adage_transcript::CommandLine;
use adage_transcript::command::Invocation;

use super::advised_commands;
use super::command_task::is_of_steps;
use crate::lesson::Lesson;

/// Committing what was staged is one act with staging it.
const ONE_ACT: [&str; 2] = ["git add", "git commit"];

/// True for mined steps that are a procedure, which has no mistake.
pub(super) fn is_procedure(lesson: &Lesson) -> bool {
    is_of_steps(lesson) && lesson.mistake.is_empty()
}

/// The steps of a procedure that a line runs, if it runs this number of its acts or more, not only the last one, and not all with their
/// words.
pub(super) fn steps_in(lesson: &Lesson, line: &CommandLine, n_acts: usize) -> Option<String> {
    if !is_procedure(lesson) {
        return None;
    }
    let advised = advised_commands::steps_of(lesson);
    let steps: Vec<Invocation<'_>> =
        advised.iter().flat_map(CommandLine::invocations).filter(|step| step.name != "cd").collect();
    let calls: Vec<Invocation<'_>> = line.invocations().collect();
    let is_run = |step: &&Invocation<'_>| calls.iter().any(|call| call.form == step.form);
    let run: Vec<&Invocation<'_>> = steps.iter().filter(is_run).collect();
    let mut acts: Vec<&str> = run.iter().map(|step| act_of(&step.form)).collect();
    acts.sort_unstable();
    acts.dedup();
    let is_followed =
        run.len() == steps.len() && steps.iter().all(|step| calls.iter().any(|call| has_words_of(call, step)));
    let last = steps.last().map(|step| act_of(&step.form));
    let is_before_last = acts.iter().any(|act| Some(*act) != last);
    (acts.len() >= n_acts && is_before_last && !is_followed)
        .then(|| run.iter().map(|step| step.form.as_str()).collect::<Vec<_>>().join(" && "))
}

fn act_of(form: &str) -> &str {
    if ONE_ACT.contains(&form) { "commit" } else { form }
}

/// True if a call is the step with all its words that are not different each time.
fn has_words_of(call: &Invocation<'_>, step: &Invocation<'_>) -> bool {
    let differs = |word: &str| word.starts_with('%') && word.ends_with('%');
    let mut words = step.words.iter().filter(|word| !differs(word));
    call.form == step.form && words.all(|word| call.words.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::Origin;

    fn procedure(steps: &[&str]) -> Lesson {
        let numbered = steps.iter().zip(1..).map(|(step, number)| format!("{number}. `{step}`"));
        let solution = format!("Run, in this order:\n{}", numbered.collect::<Vec<_>>().join("\n"));
        let mut lesson = crate::testing::lesson("doing it", &solution);
        lesson.provenance.origin = Origin::Mined;
        lesson
    }

    #[track_caller]
    fn check(steps: &[&str], needed: &[&str], others: &[&str]) {
        let lesson = procedure(steps);
        for (lines, expected) in [(needed, true), (others, false)] {
            for line in lines {
                assert_eq!(steps_in(&lesson, &CommandLine::parse(line), 2).is_some(), expected, "{line}");
            }
        }
    }

    #[test]
    fn a_procedure_comes_before_a_line_of_two_of_its_acts() {
        check(
            &["mix format", "git add <changed-files> .beads/issues.jsonl", "git commit -m \"<text>\"", "git push"],
            &[
                "git add lib/ test/ && git commit -m \"Close x\" && git push",
                "git add lib/a.ex && git commit -m \"x\" && git push origin main",
                "mix format && git commit -am x",
                "cd a; git commit -am x; git push",
                "mix format && git add lib && git commit -m x && git push",
            ],
            &[
                "git add -A && git commit -m x",
                "git push",
                "mix format",
                "git status && git log",
                "git reset --soft HEAD~3 && git commit -m x",
                "mix format && git add lib/a.ex .beads/issues.jsonl && git commit -m \"x\" && git push",
            ],
        );
        check(
            &["npm version patch", "npm run build", "npm publish --access public"],
            &["npm run build && npm publish", "npm version minor && npm publish"],
            &[
                "npm run build",
                "npm run lint && npm test",
                "npm version patch && npm run build && npm publish --access public",
            ],
        );
        check(
            &["docker build -t <image> .", "docker push <image>", "kubectl rollout restart deployment/web"],
            &[
                "docker build -t shop:2 . && docker push shop:2",
                "docker push a && kubectl rollout restart deployment/api",
            ],
            &[
                "docker build -t shop:2 .",
                "kubectl get pods && kubectl logs x",
                "kubectl rollout status deployment/web && docker ps",
            ],
        );
        check(
            &["terraform fmt", "terraform plan -out=p", "terraform apply p"],
            &["terraform plan && terraform apply -auto-approve"],
            &["terraform plan", "terraform init && terraform validate"],
        );
    }

    #[test]
    fn a_procedure_that_the_task_needs_comes_before_one_act() {
        let lesson = procedure(&[
            "mix format",
            "git add <changed-files> .beads/issues.jsonl",
            "git commit -m \"<text>\"",
            "git push",
        ]);
        let comes = |line: &str, n_acts: usize| steps_in(&lesson, &CommandLine::parse(line), n_acts).is_some();
        for line in ["git add lib && git commit -m x", "git commit -am x", "mix format lib", "git add lib/a.ex"] {
            assert!(comes(line, 1) && !comes(line, 2), "{line}");
        }
        for line in ["git push", "git push origin main", "git status", "mix test", "bd close x"] {
            assert!(!comes(line, 1), "{line}: the steps before are run");
        }
    }

    #[test]
    fn only_mined_procedures_come_by_their_steps() {
        let line = CommandLine::parse("npm run build && npm publish");
        let known = procedure(&["npm run build", "npm test", "npm publish"]);
        assert_eq!(steps_in(&known, &line, 2).as_deref(), Some("npm run build && npm publish"));
        let mut lesson = known.clone();
        lesson.provenance.origin = Origin::Hand;
        assert_eq!(steps_in(&lesson, &line, 2), None);
        let mut lesson = known;
        lesson.mistake = "Publishing without a build.".into();
        assert_eq!(steps_in(&lesson, &line, 2), None);
    }
}
