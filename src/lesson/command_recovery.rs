//! A recovery as data: a command that failed, and what mended it (docs/spec/playbook.md, 2).

use serde::{Deserialize, Serialize};

use super::{Lesson, LessonDraft, build_lesson};

/// A command that failed, its error, and the steps that mended it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandRecovery {
    /// The command line that failed.
    pub failed: String,
    /// The first line of its error; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub error: String,
    /// What was done, in order.
    pub steps: Vec<RecoveryStep>,
}

/// A step of a recovery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecoveryStep {
    /// A command line that was run before the next try.
    Run(String),
    /// A change of files, as a phrase: "change serve.go".
    Edit(String),
    /// The command line that passed then: the failed one again, or another one in its place.
    Passed(String),
    /// Something in sentences: a cause, what a person did, what did not help.
    Told(String),
}

impl RecoveryStep {
    fn text(&self) -> &str {
        match self {
            Self::Run(text) | Self::Edit(text) | Self::Passed(text) | Self::Told(text) => text,
        }
    }

    fn text_mut(&mut self) -> &mut String {
        match self {
            Self::Run(text) | Self::Edit(text) | Self::Passed(text) | Self::Told(text) => text,
        }
    }
}

impl CommandRecovery {
    /// A draft of the recovery's lesson, with all its texts.
    #[must_use]
    pub fn draft(&self) -> LessonDraft {
        let failed = code(&self.failed);
        let trigger = if self.error.is_empty() { "" } else { ": " };
        let trigger = format!("{failed} fails{trigger}{}", self.error);
        let signs = [failed.clone(), self.error.clone()].into_iter().filter(|sign| !sign.is_empty());
        build_lesson(trigger, self.solution()).mistake(failed).signs(signs).code_example(self.table()).recovery(self)
    }

    /// The steps as an instruction.
    fn solution(&self) -> String {
        let is_told = |step: &&RecoveryStep| matches!(step, RecoveryStep::Told(_));
        let n_before = self.steps.iter().take_while(is_told).count();
        let (before, rest) = self.steps.split_at_checked(n_before).unwrap_or_default();
        let of = |steps: &[RecoveryStep]| steps.iter().filter(is_told).map(|step| step.text().to_owned()).collect();
        let (cause, after): (Vec<String>, Vec<String>) = (of(before), of(rest));
        let done = self.done(!cause.is_empty());
        let parts = cause.into_iter().chain(Some(done).filter(|done| !done.is_empty())).chain(after);
        parts.collect::<Vec<_>>().join(" ")
    }

    /// What was done, as a sentence; empty if it is only told.
    fn done(&self, has_cause: bool) -> String {
        let of = |pick: fn(&RecoveryStep) -> Option<&String>| self.steps.iter().filter_map(pick).collect::<Vec<_>>();
        let edits = of(|step| if let RecoveryStep::Edit(what) = step { Some(what) } else { None });
        let run = of(|step| if let RecoveryStep::Run(command) = step { Some(command) } else { None });
        let passed = of(|step| if let RecoveryStep::Passed(command) = step { Some(command) } else { None });
        let run: Vec<String> = run.into_iter().map(|command| code(command)).collect();
        let run = (!run.is_empty()).then(|| format!("run {}", run.join(", ")));
        let acts: Vec<String> = edits.into_iter().cloned().chain(run).collect();
        let start = if has_cause { "To do so, " } else { "First " };
        match (acts.is_empty(), passed.last()) {
            (true, None) => String::new(),
            (true, Some(passed)) if has_cause => format!("Then {} passes.", code(passed)),
            (true, Some(passed)) => format!("Run {}.", code(passed)),
            (false, None) => format!("{start}{}; then it does not fail with this error.", acts.join(", ")),
            (false, Some(passed)) => format!("{start}{}; then {} passes.", acts.join(", "), code(passed)),
        }
    }

    /// A Markdown table of the two commands, and the error below it. Empty if the same command passed.
    fn table(&self) -> String {
        let passed = self.steps.iter().find_map(|step| match step {
            RecoveryStep::Passed(command) if *command != self.failed => Some(command),
            _ => None,
        });
        let Some(passed) = passed else { return String::new() };
        let cell = |text: &str| text.replace('|', "\\|");
        let error = if self.error.is_empty() { String::new() } else { format!("\n\n{}", self.error) };
        format!("| before | after |\n|---|---|\n| `{}` | `{}` |{error}", cell(&self.failed), cell(passed))
    }

    /// True if files were changed, so that a command line does not say whether it fails again.
    pub(crate) fn is_by_edit(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, RecoveryStep::Edit(_)))
    }

    /// True if the texts of a lesson still tell all of it. Somebody who changes them has the last word.
    pub(super) fn is_told_by(&self, lesson: &Lesson) -> bool {
        let is_in = |step: &RecoveryStep| {
            !step.text().is_empty()
                && [&lesson.solution, &lesson.correct_pattern].iter().all(|told| told.contains(step.text()))
        };
        !self.failed.is_empty()
            && lesson.mistake == code(&self.failed)
            && lesson.trigger.contains(&self.failed)
            && lesson.trigger.contains(&self.error)
            && !self.steps.is_empty()
            && self.steps.iter().all(is_in)
    }

    /// Its texts, to be cleaned.
    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        [&mut self.failed, &mut self.error].into_iter().chain(self.steps.iter_mut().map(RecoveryStep::text_mut))
    }
}

fn code(command: &str) -> String {
    format!("`{command}`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;
    use crate::testing::at;

    fn recovery(failed: &str, steps: &[RecoveryStep]) -> CommandRecovery {
        CommandRecovery { failed: failed.into(), error: "no rule | here".into(), steps: steps.to_vec() }
    }

    fn lesson(draft: LessonDraft) -> Lesson {
        draft.into_lesson(&ManualClock::new(at(0))).unwrap()
    }

    #[test]
    fn the_texts_of_a_lesson_tell_its_recovery() {
        use RecoveryStep::{Edit, Passed, Run, Told};
        let text = |text: &str| text.to_owned();
        for (steps, expected) in [
            (vec![Passed(text("cat -t"))], "Run `cat -t`."),
            (
                vec![Run(text("npm ci")), Run(text("mix x")), Passed(text("make"))],
                "First run `npm ci`, `mix x`; then `make` passes.",
            ),
            (
                vec![Edit(text("replace `a` by `b` in x.json")), Run(text("npm ci"))],
                "First replace `a` by `b` in x.json, run `npm ci`; then it does not fail with this error.",
            ),
            (
                vec![Told(text("It is a variable.")), Edit(text("change serve.go")), Passed(text("make"))],
                "It is a variable. To do so, change serve.go; then `make` passes.",
            ),
            (
                vec![Told(text("The user did this: \"x\".")), Passed(text("make"))],
                "The user did this: \"x\". Then `make` passes.",
            ),
            (
                vec![Passed(text("ls")), Told(text("`ls -l` alone does not help."))],
                "Run `ls`. `ls -l` alone does not help.",
            ),
        ] {
            let recovery = recovery("make", &steps);
            let lesson = lesson(recovery.draft());
            assert_eq!(lesson.correct_pattern, expected);
            assert_eq!((lesson.trigger.as_str(), lesson.mistake.as_str()), ("`make` fails: no rule | here", "`make`"));
            assert_eq!(lesson.recovery.as_ref(), Some(&recovery), "{expected}");
            assert_eq!(lesson.ways_in.signs, ["`make`", "no rule | here"]);
        }
    }

    #[test]
    fn another_command_that_passed_is_in_a_table() {
        let table = |failed: &str, passed: &str| recovery(failed, &[RecoveryStep::Passed(passed.into())]).table();
        assert_eq!(table("make", "make"), "");
        let expected = "| before | after |\n|---|---|\n| `ls \\| wc` | `ls` |\n\nno rule | here";
        assert_eq!(table("ls | wc", "ls"), expected);
    }

    #[test]
    fn a_person_who_changes_the_text_has_the_last_word() {
        let draft =
            || recovery("make", &[RecoveryStep::Run("npm ci".into()), RecoveryStep::Passed("make".into())]).draft();
        assert!(lesson(draft()).recovery.is_some());
        for changed in [
            draft().correct_pattern("Ask for the right target."),
            draft().solution("Ask for the right target."),
            draft().trigger("building the shop"),
            draft().mistake("I built it without asking."),
        ] {
            assert_eq!(lesson(changed.clone()).recovery, None, "{changed:?}");
        }
    }
}
