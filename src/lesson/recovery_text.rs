//! The wording of a mined recovery. Capture writes it, and retrieval reads it back, so both are here.

const RUN: &str = "Run ";
const FIRST: &str = "First ";
const RUN_STEP: &str = "run ";
const THEN: &str = "; then ";
const TO_DO_SO: &str = " To do so, ";
const FAILS: &str = " fails";
const TABLE: &str = "| before | after |\n|---|---|\n| `";

/// The trigger: a command in backticks that fails, and its error.
pub(crate) fn trigger(failed: &str, error: Option<&str>) -> String {
    let error = error.map(|error| format!(": {error}")).unwrap_or_default();
    format!("{failed}{FAILS}{error}")
}

/// The error in the trigger of a mined recovery, as in `make fails: no rule`; none for another trigger.
pub(crate) fn error_in_trigger(trigger: &str) -> Option<&str> {
    trigger.split_once(&format!("{FAILS}: ")).map(|(_, error)| error)
}

/// A step that runs commands, which are in backticks.
pub(crate) fn run_step(commands: &str) -> String {
    format!("{RUN_STEP}{commands}")
}

/// A command in backticks is run instead, with what differs in it.
pub(crate) fn instead(command: &str, differences: &str) -> String {
    format!("{RUN}{command}{differences}.")
}

/// Some steps come before the command.
pub(crate) fn first(steps: &[String], end: &str) -> String {
    format!("{FIRST}{}{THEN}{end}.", steps.join(", "))
}

/// A cause in sentences, and what is done about it: a change of files, and commands.
pub(crate) fn explained(cause: &str, steps: &[String], end: Option<&str>) -> String {
    let end = end.map(|end| format!("{THEN}{end}")).unwrap_or_default();
    format!("{cause}{TO_DO_SO}{}{end}.", steps.join(", "))
}

/// A table of the command that failed and the one that passed, and the error below it.
pub(crate) fn table(failed: &str, passed: &str, error: Option<&str>) -> String {
    let cell = |text: &str| text.replace('|', "\\|");
    let error = error.map(|error| format!("\n\n{error}")).unwrap_or_default();
    format!("{TABLE}{}` | `{}` |{error}", cell(failed), cell(passed))
}

/// The two commands in such a table.
pub(crate) fn commands_in_table(code_example: &str) -> Option<(String, String)> {
    let row = code_example.strip_prefix(TABLE)?.lines().next()?;
    let (failed, passed) = row.strip_suffix("` |")?.split_once("` | `")?;
    let text = |cell: &str| cell.replace("\\|", "|");
    Some((text(failed), text(passed)))
}

/// What the solution of a mined recovery says to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecoverySteps<'t> {
    /// Another command.
    Instead { command: &'t str },
    /// Commands before it, in backticks.
    First { commands: &'t str },
    /// A change of files, with its cause, which may be empty. Commands that are run after it are not included.
    Edit { cause: &'t str, changes: &'t str },
    /// Something else, in words.
    Other,
}

impl<'t> RecoverySteps<'t> {
    pub(crate) fn of(solution: &'t str) -> Self {
        let steps = |text: &'t str| text.split_once(THEN).map_or(text, |(steps, _)| steps);
        let changes = |text: &'t str| {
            let text = steps(text);
            text.split_once(", run `").map_or(text, |(changes, _)| changes)
        };
        if let Some(first) = solution.strip_prefix(FIRST) {
            return match first.strip_prefix(RUN_STEP) {
                Some(commands) => Self::First { commands: steps(commands) },
                None => Self::Edit { cause: "", changes: changes(first) },
            };
        }
        if let Some((cause, told)) = solution.rsplit_once(TO_DO_SO) {
            return Self::Edit { cause, changes: changes(told) };
        }
        let command = solution.strip_prefix(RUN).and_then(|told| told.strip_prefix('`')?.split_once('`'));
        command.map_or(Self::Other, |(command, _)| Self::Instead { command })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let (run, change) = (run_step("`npm install`, `mix x`"), "change serve.go".to_owned());
        for (text, expected) in [
            (instead("`cat -t`", " (-A → -t)"), RecoverySteps::Instead { command: "cat -t" }),
            (
                first(std::slice::from_ref(&run), "`npm test` passes"),
                RecoverySteps::First { commands: "`npm install`, `mix x`" },
            ),
            (
                first(&["replace `a` by `b` in x.json".to_owned(), run.clone()], "`npm test` passes"),
                RecoverySteps::Edit { cause: "", changes: "replace `a` by `b` in x.json" },
            ),
            (
                explained("It is a variable; then it fails.", &[change.clone(), run.clone()], Some("it works")),
                RecoverySteps::Edit { cause: "It is a variable; then it fails.", changes: "change serve.go" },
            ),
            (
                explained("It is wrong.", &[change], None),
                RecoverySteps::Edit { cause: "It is wrong.", changes: "change serve.go." },
            ),
            ("Use another one.".to_owned(), RecoverySteps::Other),
        ] {
            assert_eq!(RecoverySteps::of(&text), expected, "{text}");
        }
    }

    #[test]
    fn tables_and_triggers_are_read_back() {
        for error in [None, Some("error: x fails: y")] {
            let pair = ("ls | wc".to_owned(), "ls".to_owned());
            assert_eq!(commands_in_table(&table(&pair.0, &pair.1, error)), Some(pair));
            assert_eq!(error_in_trigger(&trigger("`make`", error)), error);
        }
        assert_eq!(commands_in_table("x"), None);
        assert_eq!(error_in_trigger("deploying"), None);
    }
}
