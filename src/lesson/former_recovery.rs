//! Recoveries of earlier releases, which were written as English: the one place that reads such a text (docs/spec/playbook.md, 2).

use super::{CommandRecovery, Lesson, Origin, RecoveryStep};

const FIRST: &str = "First ";
const TO_DO_SO: &str = " To do so, ";
const THEN: &str = "; then ";
const OTHERWISE: &str = "it does not fail with this error";
const USER_DID: (&str, &str) = ("The user did this: ", " Then `");
/// The beginnings of an instruction that ends with another command, each with what is before that command.
const OTHERS: [(&str, &str); 3] = [("Run `", "Run `"), ("`", " is not found here: call it as `"), ("`", "`, as in `")];

/// The recovery that the texts of a mined lesson tell. None for a lesson in other words.
pub(super) fn recovery_told_by(lesson: &Lesson) -> Option<CommandRecovery> {
    if lesson.provenance.origin != Origin::Mined || lesson.commands.is_empty() || !lesson.paths.is_empty() {
        return None;
    }
    let failed = lesson.mistake.strip_prefix('`')?.strip_suffix('`')?;
    let said = lesson.trigger.strip_prefix(&format!("`{failed}` fails"))?;
    let error = if said.is_empty() { said } else { said.strip_prefix(": ")? };
    let steps = steps_in(&lesson.solution)?;
    let recovery = CommandRecovery { failed: failed.to_owned(), error: error.to_owned(), steps };
    recovery.is_told_by(lesson).then_some(recovery)
}

fn steps_in(solution: &str) -> Option<Vec<RecoveryStep>> {
    if let Some(told) = solution.strip_prefix(FIRST) {
        return acts_in(told);
    }
    if let Some((cause, told)) = solution.split_once(TO_DO_SO) {
        let mut steps = vec![RecoveryStep::Told(cause.to_owned())];
        steps.extend(acts_in(told)?);
        return Some(steps);
    }
    if solution.starts_with(USER_DID.0) {
        let (told, passed) = solution.rsplit_once(USER_DID.1)?;
        let passed = passed.strip_suffix("` passes.")?;
        return Some(vec![RecoveryStep::Told(told.to_owned()), RecoveryStep::Passed(passed.to_owned())]);
    }
    let (_, told) = OTHERS
        .iter()
        .find_map(|(start, before)| solution.starts_with(start).then(|| solution.split_once(before)).flatten())?;
    let (passed, rest) = told.split_once('`')?;
    // Behind it are the words that differ, in brackets.
    let after = rest.split_once(". ").map(|(_, after)| after);
    Some([RecoveryStep::Passed(passed.to_owned())].into_iter().chain(after.and_then(told_step)).collect())
}

/// "change a.go, run `x`, `y`; then `z` passes."
fn acts_in(told: &str) -> Option<Vec<RecoveryStep>> {
    let (acts, end) = told.split_once(THEN)?;
    let (edits, run) = match acts.strip_prefix("run `") {
        Some(run) => (None, run),
        None => acts.split_once(", run `").map_or((Some(acts), ""), |(edits, run)| (Some(edits), run)),
    };
    if !run.is_empty() && !run.ends_with('`') {
        // Of many commands the text names only the first.
        return None;
    }
    let commands = run.split('`').step_by(2).filter(|command| !command.is_empty());
    let mut steps: Vec<RecoveryStep> = edits.map(|edits| RecoveryStep::Edit(edits.to_owned())).into_iter().collect();
    steps.extend(commands.map(|command| RecoveryStep::Run(command.to_owned())));
    let after = match end.strip_prefix('`').and_then(|end| end.split_once("` passes.")) {
        Some((passed, after)) => {
            steps.push(RecoveryStep::Passed(passed.to_owned()));
            after
        }
        None => end.strip_prefix(OTHERWISE)?.strip_prefix('.')?,
    };
    steps.extend(told_step(after));
    Some(steps)
}

fn told_step(text: &str) -> Option<RecoveryStep> {
    Some(text.trim()).filter(|text| !text.is_empty()).map(|text| RecoveryStep::Told(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::RecoveryStep::{Edit, Passed, Run, Told};
    use crate::testing::lesson;

    fn mined(solution: &str) -> Lesson {
        let mut lesson = lesson("`make` fails: no rule", solution);
        lesson.mistake = "`make`".into();
        lesson.commands = vec!["make*".into()];
        lesson.provenance.origin = Origin::Mined;
        lesson
    }

    #[test]
    fn each_former_wording_is_read() {
        let text = |text: &str| text.to_owned();
        for (solution, steps) in [
            ("Run `make -k` (+ -k).", vec![Passed(text("make -k"))]),
            (
                "Run `ls` (other quotes). `ls -l` alone does not help.",
                vec![Passed(text("ls")), Told(text("`ls -l` alone does not help."))],
            ),
            ("`make` is not found here: call it as `/bin/make`.", vec![Passed(text("/bin/make"))]),
            ("`make` is not installed here: use `just`, as in `just all`.", vec![Passed(text("just all"))]),
            (
                "First run `npm ci`, `mix x` and `ls`; then `make` passes.",
                vec![Run(text("npm ci")), Run(text("mix x")), Run(text("ls")), Passed(text("make"))],
            ),
            (
                "First change a.go, run `ls`; then it does not fail with this error.",
                vec![Edit(text("change a.go")), Run(text("ls"))],
            ),
            (
                "It is a variable; it is wrong. To do so, change a.go; then `make` passes. `ls` and `cd` do not help.",
                vec![
                    Told(text("It is a variable; it is wrong.")),
                    Edit(text("change a.go")),
                    Passed(text("make")),
                    Told(text("`ls` and `cd` do not help.")),
                ],
            ),
            (
                "The user did this: \"installed it\". Then `make` passes.",
                vec![Told(text("The user did this: \"installed it\".")), Passed(text("make"))],
            ),
        ] {
            let recovery = recovery_told_by(&mined(solution)).expect(solution);
            assert_eq!((recovery.failed.as_str(), recovery.error.as_str()), ("make", "no rule"));
            assert_eq!(recovery.steps, steps, "{solution}");
        }
    }

    #[test]
    fn a_lesson_in_other_words_stays_as_it_is() {
        for solution in [
            "Ask for the rule.",
            "First ask; then go on.",
            "Run it again.",
            "It is wrong. To do so, change a.go.",
            "First run `a`, `b` and 2 others; then `make` passes.",
        ] {
            assert_eq!(recovery_told_by(&mined(solution)), None, "{solution}");
        }
        for change in [
            |lesson: &mut Lesson| lesson.provenance.origin = Origin::Hand,
            |lesson: &mut Lesson| lesson.commands.clear(),
            |lesson: &mut Lesson| lesson.mistake = "I ran make.".into(),
            |lesson: &mut Lesson| lesson.trigger = "building".into(),
            |lesson: &mut Lesson| lesson.correct_pattern = "Ask for the rule.".into(),
        ] {
            let mut lesson = mined("Run `make -k`.");
            assert!(recovery_told_by(&lesson).is_some());
            change(&mut lesson);
            assert_eq!(recovery_told_by(&lesson), None);
        }
    }
}
