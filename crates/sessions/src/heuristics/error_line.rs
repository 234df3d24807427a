//! The line of a failed command's output that names the error.

use std::sync::LazyLock;

use adage_transcript::outcome;
use regex::Regex;

use super::wording::{matches, pattern};

/// The first line with a sign of failure; else the first line that blames the command or a place in a file; else the first line of
/// a short output, if it is a sentence. None if there is only an exit code or a count of errors. Successful commands print such lines
/// too, so only the rule of recoveries reads them as errors.
pub(super) fn error_line(output: &str) -> Option<&str> {
    // Elixir: `** (RuntimeError) no such key`, which a test that passes may print.
    let tells = |line: &&str| {
        !is_bare(line) && !is_comment(line) && (line.starts_with("** (") || blames_the_command(line) || has_place(line))
    };
    told_error(output).or_else(|| output.lines().map(str::trim).find(tells)).or_else(|| message(output))
}

/// True for a line that says what failed, wherever it is in an output.
pub(crate) fn tells_error(line: &str) -> bool {
    let line = line.trim();
    let is_told = || line.starts_with("** (") || blames_the_command(line) || is_complaint(line);
    !is_bare(line) && (outcome::error_line(line).is_some() || is_told())
}

/// The first line with a sign of failure that also says what failed. None if no line does.
fn told_error(output: &str) -> Option<&str> {
    if let Some(headed) = outcome::headed_error(output).map(str::trim).filter(|line| !is_bare(line)) {
        return Some(headed);
    }
    let mut signs = output.lines().filter_map(outcome::error_line).map(str::trim);
    signs.find(|line| !is_bare(line) && !is_comment(line) && !line.starts_with("Traceback ("))
}

/// True for a comment of a file that was printed, or a remark of a test runner.
fn is_comment(line: &str) -> bool {
    line.starts_with("# ") || line.starts_with("//")
}

/// The first line of a short output, if it is a sentence: `The following paths are ignored by one of your .gitignore files:`.
fn message(output: &str) -> Option<&str> {
    const MAX_LINES: usize = 10;
    const MIN_WORDS: usize = 4;
    let lines = || output.lines().map(str::trim).filter(|line| !line.is_empty() && !is_bare(line));
    let is_sentence = |line: &&str| {
        let n_words =
            line.split(' ').filter(|word| word.chars().all(|c| c.is_alphabetic() || ".,:;'".contains(c))).count();
        line.starts_with(char::is_alphabetic) && n_words >= MIN_WORDS && !is_logged(line)
    };
    lines().next().filter(|line| lines().count() <= MAX_LINES && is_sentence(line))
}

/// True for a line of a log below the level of an error: `INFO  [migration] Running upgrade`.
fn is_logged(line: &str) -> bool {
    const LEVELS: [&str; 6] = ["TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING"];
    let first = line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    LEVELS.contains(&first)
}

/// The message of a failed test below its name, without its place: `want 3, got 4` of `a_test.go:12: want 3, got 4`. None if another
/// kind of line follows.
pub(super) fn said_below<'o>(output: &'o str, error: &str) -> Option<&'o str> {
    let mut lines = output.lines().map(str::trim).skip_while(|line| *line != error);
    let message = lines.find(|line| !outcome::is_failed_test(line) && !line.is_empty())?;
    let placed = || {
        let (file, rest) = message.split_once(':')?;
        let (number, said) = rest.split_once(':')?;
        let is_place = file.contains('.') && !file.contains(' ') && number.bytes().all(|b| b.is_ascii_digit());
        Some(said.trim()).filter(|said| is_place && !said.is_empty())
    };
    placed().or_else(|| outcome::error_line(message).filter(|error| !is_bare(error)))
}

/// True for a line that reports a failure without its cause: an exit code, a count, the closing line of a tool or a task runner.
fn is_bare(line: &str) -> bool {
    static CLOSES: LazyLock<Regex> = LazyLock::new(|| {
        let counts = r"^\W*(?:found |there (?:were|was) |ran \d+ \w+ |totals?:? )?\d+ (?:\w+ )?(?:errors?|problems?|issues?|warnings?|failures?|violations?|offen[cs]es?)\b[^:]*:?$|^Found \d+ errors? in \S+$";
        let codes = r"\b(?:exited|returned|finished|failed|terminated|completed)\b[^:]{0,40}\b(?:code|status):? -?\d+\W*$|^exit status \d+$";
        let runners = r"\bdue to (?:\d+ |the )?previous errors?\b|\bto rerun pass\b|^make(?:\[\d+\])?: \*\*\* .*\bError \d+$|^npm (?i:err!|error) (?:code (?:ELIFECYCLE|\d+)|errno|lifecycle|path|command|A complete log)|\bELIFECYCLE\b|\bsubcommand failed\b|^\W*Build failed with an exception|^\W*Execution failed for task|^Traceback \(most recent|\ban error (?:has )?occurred\b[^:]*$";
        pattern(&format!("(?i){counts}|{codes}|{runners}"))
    });
    let lower = line.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    matches(&CLOSES, line)
        || words.all(|word| CLOSING.split(' ').any(|known| known == word) || word.bytes().all(|b| b.is_ascii_digit()))
}

/// The words of closing lines: `done with errors`, `FAILED (failures=1)`, `some checks failed, see above`.
const CLOSING: &str = "a above aborted aborting again all an and assertionerror below build building but check checked checking \
    checks code command compilation compile compiled compiling complete completed details detected doctest \
    doctests done ended err error errors examples exception exit exited fail failed failing fails failure failures \
    fatal finished following for found had has have in is issue issues lint linter linting log more ms occurred of on one or \
    output panic passed pending problem problems process run s script see skipped some status step suite suites \
    test tests the total type typecheck types unsuccessful was were with";

/// True for an error about the code, not about the command line: a place in a file, a failed test.
pub(super) fn is_finding(line: &str) -> bool {
    has_place(line) || outcome::is_failed_test(line)
}

/// Phrases of programs about a wrong command line, in lower case.
const BLAMES: [&str; 43] = [
    "command not found",
    // zsh, about a pattern without quotes.
    "no matches found",
    "illegal option",
    "invalid option",
    "unknown option",
    "unrecognized option",
    "unknown predicate",
    "syntax error",
    "usage:",
    "invalid argument",
    // clap, cobra, argparse, click, Node's and Go's own parsers, npm, make, just.
    "unknown flag",
    "unknown shorthand flag",
    "flag provided but not defined",
    "flag needs an argument",
    "unknown command",
    "unknown subcommand",
    "unknown argument",
    "unknown switch",
    "unexpected argument",
    "unexpected positional",
    "unrecognized argument",
    "unrecognized subcommand",
    "unrecognised option",
    "no such option",
    "no such command",
    "is not a git command",
    "invalid choice",
    "bad option",
    "requires an argument",
    "requires a value",
    "missing operand",
    "too many arguments",
    "accepts at most",
    "accepts 1 arg",
    "missing script",
    "missing required",
    "mutually exclusive",
    "cannot be used with",
    "cannot be combined with",
    "must be specified",
    "to be specified",
    "no rule to make target",
    "does not contain recipe",
];

/// True for an error about a wrong command line. False for a missing file or module.
pub(super) fn blames_the_command(line: &str) -> bool {
    let lower = line.to_lowercase();
    BLAMES.iter().any(|mark| lower.contains(mark)) || shell_complaint(line).is_some()
}

/// The message of a shell about a line that it cannot parse or expand: `== not found` of `(eval):1: == not found`. None for messages
/// about missing files and permissions.
fn shell_complaint(line: &str) -> Option<&str> {
    static SHELL: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^-?(?:\(eval\)|(?:/bin/)?(?:ba|z|da|k)?sh)(?::(?: line)? ?\d+)?: (.+)$"));
    const OF_FILES: [&str; 5] = ["no such file", "denied", "directory", "cannot execute", "killed"];
    let said = SHELL.captures(line.trim())?.get(1)?.as_str();
    let lower = said.to_lowercase();
    (!OF_FILES.iter().any(|mark| lower.contains(mark))).then_some(said)
}

/// The program that a shell did not find: `bash: line 1: tree: command not found`, zsh's `command not found: tree`, dash's `sh: 1: tree: not
/// found`, PowerShell's `The term 'tree' is not recognized`.
pub(super) fn absent_program(line: &str) -> Option<&str> {
    const MARK: &str = "command not found";
    let Some((before, after)) = line.split_once(MARK) else {
        let quoted = line.split_once("' is not recognized as ").and_then(|(before, _)| before.rsplit('\'').next());
        return quoted.or_else(|| shell_complaint(line)?.strip_suffix(": not found"));
    };
    let name = after.strip_prefix(": ").or_else(|| before.strip_suffix(": ")?.rsplit(": ").next())?;
    name.split_whitespace().next()
}

/// The flag that a program rejected: `unknown flag: --al`, `unknown shorthand flag: 'u' in -u`.
pub(super) fn unknown_flag(line: &str) -> Option<&str> {
    let mut words = line.rsplit(' ').map(|word| word.trim_matches(['\'', '"', '`', '.', ',', ':', '<', '>']));
    let flag =
        words.find(|word| word.starts_with('-') && word.len() > 1 && !word.trim_start_matches('-').is_empty())?;
    Some(flag).filter(|_| blames_the_command(line))
}

/// True for a line with a place in a file: `main.go:10:2: imported and not used`.
pub(super) fn has_place(line: &str) -> bool {
    place(line).is_some()
}

/// True for a line with a place and an error. False for warnings and notes.
pub(super) fn is_complaint(line: &str) -> bool {
    const LESSER: [&str; 5] = ["warning", "note", "info", "hint", "help"];
    place(line).is_some_and(|(_, said)| !LESSER.iter().any(|word| said.to_lowercase().starts_with(word)))
}

/// The file and the message of a line with a place. None for other lines.
pub(super) fn place(line: &str) -> Option<(&str, &str)> {
    let mut fields = line.splitn(4, ':');
    let is_number =
        |field: Option<&str>| field.is_some_and(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()));
    let file = fields.next().filter(|file| file.contains('.') && !file.contains(' '))?;
    let is_place = is_number(fields.next()) && is_number(fields.next());
    fields.next().filter(|_| is_place).map(|said| (file, said.trim_start()))
}

/// True for the result of a call that never ran: the user rejected it, or a parallel call failed first.
pub(super) fn never_ran(output: &str) -> bool {
    const MARKS: [&str; 8] = [
        "[Request interrupted by user",
        "The user doesn't want to proceed",
        "The user doesn't want to take this action",
        "No (tell Claude what to do differently)",
        "Sibling tool call errored",
        "rejected by user",
        "requires approval",
        "cannot determine the safety of",
    ];
    MARKS.iter().any(|mark| output.contains(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_line_is_the_first_that_names_the_cause() {
        for (output, expected) in [
            (
                "Collecting request\nERROR: No matching distribution found for request\nmore",
                Some("ERROR: No matching distribution found for request"),
            ),
            ("built with 0 errors\nok", None),
            (
                "the download failed\n./main.go:10:2: \"x\" imported and not used",
                Some("./main.go:10:2: \"x\" imported and not used"),
            ),
            ("Traceback (most recent call last):\n  File x\nKeyError: 'a'", Some("KeyError: 'a'")),
            ("cat: illegal option -- A\nusage: cat", Some("cat: illegal option -- A")),
            ("usage: git stash list [<options>]", Some("usage: git stash list [<options>]")),
            ("(eval):1: no matches found: --include=*.go", Some("(eval):1: no matches found: --include=*.go")),
            ("Exit code 2\nUsage: npm <command>", Some("Usage: npm <command>")),
            ("1) test it\n   ** (RuntimeError) no port\n3 tests, 1 failure", Some("** (RuntimeError) no port")),
            // A code, a count and a verdict say nothing.
            ("Exit code 2\n", None),
            ("FAIL\n12 tests, 12 failures", None),
            (
                "Exit code 1\nThe following paths are ignored by one of your .gitignore files:\nweb/out",
                Some("The following paths are ignored by one of your .gitignore files:"),
            ),
            ("Exit code 1\nvar a = 1\nmain.go", None),
            // Nor does what closes a report.
            ("Linting\ndone with errors", None),
            ("\u{2716} 1 problem (1 error, 0 warnings)", None),
            ("Found 3 errors in 2 files (checked 10 source files)", None),
            ("Ran 3 tests in 0.1s\n\nFAILED (failures=1)", None),
            ("error: could not compile `a` (lib) due to 2 previous errors", None),
            ("make: *** [Makefile:12: lint] Error 2", None),
            ("npm ERR! code ELIFECYCLE\nnpm ERR! errno 1", None),
            ("error Command failed with exit code 1.", None),
            ("Error: Process completed with exit code 2.", None),
            ("ERROR\n\nBuild failed.", None),
            ("Exit code 1\nINFO  [migration] Running the upgrade to two of three", None),
            (
                "StandardError: An error has occurred, all later migrations canceled\nSQLException: table \"a\" exists",
                Some("SQLException: table \"a\" exists"),
            ),
            ("error: an error occurred: no such table", Some("error: an error occurred: no such table")),
            ("Build failed.\nerror: cannot find macro `x!`", Some("error: cannot find macro `x!`")),
            (
                "make: *** No rule to make target 'dcos'.  Stop.",
                Some("make: *** No rule to make target 'dcos'.  Stop."),
            ),
            ("1 error\n\u{2718} Error: cannot resolve \"x\"", Some("\u{2718} Error: cannot resolve \"x\"")),
        ] {
            assert_eq!(error_line(output), expected);
        }
    }

    #[test]
    fn errors_about_the_command_line_are_distinguished_from_missing_files() {
        for (line, is_blamed) in [
            ("error: unexpected argument '--al' found", true),
            ("Error: unknown shorthand flag: 'x' in -x", true),
            ("accepts at most 1 arg(s), received 6", true),
            ("npm ERR! Missing script: \"tset\"", true),
            ("make: *** No rule to make target 'dcos'.  Stop.", true),
            ("pytest: error: unrecognized arguments: --fast", true),
            ("fatal: The current branch fix-12 has no upstream branch.", false),
            ("error: No such file or directory", false),
            ("error[E0432]: unresolved import", false),
            ("(eval):1: == not found", true),
            ("bash: line 2: unexpected EOF while looking for matching `\"'", true),
            ("zsh: read-only variable: status", true),
            ("zsh: permission denied: ./seed.sh", false),
            ("bash: ./seed.sh: No such file or directory", false),
            ("flags --json and --quiet are mutually exclusive", true),
        ] {
            assert_eq!(blames_the_command(line), is_blamed, "{line}");
        }
    }

    #[test]
    fn an_unknown_flag_is_extracted() {
        for (line, flag) in [
            ("Unknown shorthand flag: 'u' in -u.", Some("-u")),
            ("error: unexpected argument '--al' found", Some("--al")),
            ("unknown command: stats", None),
            ("the file -u is not there", None),
        ] {
            assert_eq!(unknown_flag(line), flag, "{line}");
        }
    }

    #[test]
    fn a_missing_program_is_extracted() {
        for (line, name) in [
            ("(eval):1: command not found: tree", Some("tree")),
            ("bash: line 1: tree: command not found", Some("tree")),
            ("tree: command not found", Some("tree")),
            ("sh: 1: tree: not found", Some("tree")),
            ("'tree' is not recognized as an internal or external command,", Some("tree")),
            ("tree : The term 'tree' is not recognized as the name of a cmdlet", Some("tree")),
            ("(eval):1: == not found", None),
            ("tree: no such file or directory", None),
        ] {
            assert_eq!(absent_program(line), name, "{line}");
        }
    }

    #[test]
    fn the_message_of_a_failed_test_is_below_its_name() {
        let output = "=== RUN TestA\n--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\n        a_test.go:12: want 3, got 4\nFAIL";
        assert_eq!(said_below(output, "--- FAIL: TestA (0.00s)"), Some("want 3, got 4"));
        let output = "FAIL  a.test.ts > reads\nError: Invalid Chai property: toBeRead\n at a.test.ts:3:7";
        assert_eq!(said_below(output, "FAIL  a.test.ts > reads"), Some("Error: Invalid Chai property: toBeRead"));
        assert_eq!(said_below("--- FAIL: TestA (0.00s)\nok  b 0.1s", "--- FAIL: TestA (0.00s)"), None);
        assert_eq!(said_below(output, "--- FAIL: TestB (0.00s)"), None);
    }

    #[test]
    fn a_call_that_the_user_interrupted_never_ran() {
        assert!(never_ran("Exit code 137\n[Request interrupted by user for tool use]"));
        assert!(!never_ran("error: x"));
    }
}
