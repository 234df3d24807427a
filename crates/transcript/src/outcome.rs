//! How a call ended (docs/spec/capture.md, 1.4): decided by the source's record of the call if it gives a status, otherwise by
//! the output.
//!
//! The signs of a failure are listed in `SIGNS`. They are matched line by line, as whole words, ignoring case. A warning, a
//! count of zero ("0 errors", "error: none") and a printed line of source code are not failures. If a test runner reports
//! success at the end, errors before that belong to the tests. *Measured* (`tests/it/transcripts/measured.rs` of adage): 179 of 211
//! recorded outputs of failing commands are recognised. Of 302 commands of real sessions with a recorded status, the output
//! alone gives 4 false failures and misses 5 failures.

use std::ops::Range;
use std::sync::LazyLock;

use adage_redact::strip_terminal;
use regex::Regex;

use crate::transcript::Status;

/// The status in the record of a call, apart from the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recorded {
    /// From a status, an error flag or an exit code.
    Status(Status),
    /// None, and the output is that of a command: every line of it counts.
    NoneOfCommand,
    /// None, and the output is something else, for example a file: only its first line can be a message of the harness.
    NoneOfOther,
}

/// An exit code in the wording of harnesses and programs.
const EXIT_CODE: &str =
    r"\b(?:exit(?:ed)?|returned|finished)\b(?: with)?(?: non-zero)?(?: exit)? (?:code|status):? (\d{1,10})\b";

/// Signs of a failure in a line.
const SIGNS: [&str; 12] = [
    // rustc's `error[E0308]:`, Python's `TypeError:`, `make: *** … Error 2`, Maven's `[ERROR]`, yarn's `error …`
    r"\b\w*(?:error|exception)(?:\[\w+\])?:",
    r"^\s*(?:\[error\]|error\s+[^\s:=0-9]|e: )|\*\*\* .*\berror \d|\bnpm err!",
    r"\b(?:fatal|panic):|\bpanicked at\b|^traceback \(most recent call last\)|\bsegmentation fault\b|\bcore dumped\b",
    r"\bcommand not found\b|^\S+: (?:.*: )?[\w.-]+: not found$|^not found$|\bis not recogni[sz]ed as\b|\bnot installed\b|\bno manual entry\b",
    r"\bno such (?:file|directory|command|option|container|service|remote|image|module)\b|: (?:is|not) a directory$",
    r"\b(?:permission|access) (?:is )?denied\b|\boperation not permitted\b|\bnot allowed\b|\bconnection refused\b",
    r"\b(?:need to|must) be (?:root|running|created|superuser)\b|\bneed root\b|\brequires superuser\b",
    r"\b(?:unknown|unrecogni[sz]ed|invalid|illegal|ambiguous|unsupported|undefined) (?:sub-?|shorthand )?(?:command|option|argument|flag|switch|operation|parameter|target|task)s?\b",
    r"\bis not an? (?:\S+ )?(?:sub)?command\b|\bis not in the .* command\b|\bhas no command\b|\bdid you mean\b|\bunterminated\b",
    TEST_FAILED,
    // Not the seconds in the time before a log level: `12:04:14 ERROR`.
    r"(?:^|[^\w:.])[1-9]\d* (?:tests? )?(?:failed|failures?|errors?)\b|\b(?:build|compilation|validation|tests?) failed\b|^\S*fail(?:ed|ure)?[: ]|^\W*(?:[\w./-]+: )*failed to\b",
    r"^(?:[\w./-]+: )+.*\b(?:cannot|can't|could not|unable to)\b",
];

/// A test runner's report that a test, a package or the whole run failed. pytest's is `FAILED`.
const TEST_FAILED: &str = r"^\W*(?-i:FAIL(?:ED)?)(?:[\s:]|$)";

/// A test runner's report of success: Go's, Rust's, `ExUnit`'s and `RSpec`'s, pytest's, Jest's.
const TESTS_PASSED: &str = r"^(?:PASS|ok\s+\S+\s+[\d(].*|test result: ok\..*|(?:[0-9]+ [a-z]+, )*[0-9]+ (?:tests?|examples?), 0 failures.*|=+ [0-9]+ passed .*|Tests: +[0-9]+ passed, [0-9]+ total)$";

/// A sign of a failure that in fact reports none: `error: none`, `errors: 0`.
const NO_ERROR: &str = r"\b\w*(?:error|exception)s?(?:\[\w+\])?:\s*(?:(?:0|none|null|nil|false)(?:[\s,;.)]|$)|no\s*$)";

/// A warning, after a time or the name of its source.
const WARNING: &str = r"^\W*(?:[\d:./ TZ-]+\W*)?(?:\w+: )?\[?warn(?:ing)?\b";

/// The first line with a sign of a failure, without its line end; none if there is no such line. It may contain terminal
/// colours.
///
/// ```
/// assert_eq!(adage_transcript::error_line("Compiling\nerror: no such crate\n1 error"), Some("error: no such crate"));
/// assert_eq!(adage_transcript::error_line("0 errors, 2 warnings"), None);
/// ```
#[must_use]
pub fn error_line(output: &str) -> Option<&str> {
    error_span(output).and_then(|span| output.get(span))
}

/// The position of [`error_line`]. An exit code, and the heading of a Python traceback, are reported only if no other line
/// gives the cause.
pub(crate) fn error_span(output: &str) -> Option<Range<usize>> {
    if let Some(span) = headed_span(output) {
        return Some(span);
    }
    let mut fallback = None;
    for (start, line) in lines(output) {
        let is_heading = line.starts_with("Traceback (");
        if is_error_line(line) && !is_heading {
            return Some(start..start + line.len());
        }
        if fallback.is_none() && (is_heading || exit_code(line).is_some_and(|code| code != 0)) {
            fallback = Some(start..start + line.len());
        }
    }
    fallback
}

/// The line below a first line that consists only of `ERROR`: some programs print it as a heading of the message.
///
/// ```
/// assert_eq!(adage_transcript::outcome::headed_error("\n  ERROR\n\n  No such pod."), Some("  No such pod."));
/// assert_eq!(adage_transcript::outcome::headed_error("ERROR: no such pod"), None);
/// ```
#[must_use]
pub fn headed_error(output: &str) -> Option<&str> {
    headed_span(output).and_then(|span| output.get(span))
}

fn headed_span(output: &str) -> Option<Range<usize>> {
    const HEADINGS: [&str; 3] = ["ERROR", "Error", "FATAL"];
    let mut texts = lines(output).filter(|(_, line)| !line.trim().is_empty() && exit_code(line).is_none());
    let (_, heading) = texts.next()?;
    let (start, line) = texts.next()?;
    let is_heading = HEADINGS.contains(&strip_terminal(heading).trim_matches(|c: char| !c.is_alphanumeric()));
    is_heading.then(|| start..start + line.len())
}

/// A fixed pattern. The tests use each, so that one which does not compile fails them.
#[expect(clippy::expect_used, reason = "a pattern that does not compile must not match nothing in silence")]
pub(crate) fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a fixed pattern")
}

/// The status of a call with this output. Pass the whole output, before it is cut.
pub(crate) fn status_of(output: &str, recorded: Recorded) -> Status {
    match recorded {
        Recorded::Status(status) => status,
        Recorded::NoneOfCommand => match reported_exit_code(output) {
            Some(0) => Status::Succeeded,
            Some(_) => Status::Failed,
            None if error_span(output).is_some() && !ends_well(output) => Status::Failed,
            None => Status::Succeeded,
        },
        Recorded::NoneOfOther => {
            let first = output.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            if starts_as_error(first) { Status::Failed } else { Status::Succeeded }
        }
    }
}

/// True if a test runner reports success at the end, and no failed test is reported before that: errors in between belong to
/// the tests.
fn ends_well(output: &str) -> bool {
    static PASSED: LazyLock<Regex> = LazyLock::new(|| pattern(TESTS_PASSED));
    let last =
        output.lines().rev().find(|line| PASSED.is_match(strip_terminal(line).trim_end()) || is_error_line(line));
    last.is_some_and(|line| !is_error_line(line)) && !output.lines().any(is_failed_test)
}

/// True if an output reports a failure that the status of its command hides: a failed test before a filter, or an exit code
/// that the command line printed itself. `EXIT=` without a code is not a report.
#[must_use]
pub fn tells_of_failure(output: &str) -> bool {
    static PRINTED: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?i)(?:^|[\W_])exit(?: ?code| ?status)?\s*[=:]\s*(\d+)\b"));
    let is_printed = |line: &str| {
        let found = PRINTED.captures(line.trim_end());
        found.is_some_and(|found| found.get(1).is_some_and(|code| !code.as_str().trim_start_matches('0').is_empty()))
    };
    output.lines().any(|line| is_failed_test(line) || is_printed(line))
}

/// True if an output looks like that of a failed command. Use it if the status of a call is not recorded.
///
/// ```
/// use adage_transcript::outcome::reads_as_failed;
///
/// assert!(reads_as_failed("go: cannot write multiple packages to non-directory app"));
/// assert!(!reads_as_failed("error: made by a test\ntest result: ok. 3 passed; 0 failed"));
/// ```
#[must_use]
pub fn reads_as_failed(output: &str) -> bool {
    status_of(output, Recorded::NoneOfCommand) == Status::Failed
}

/// True for a test runner's line that reports a failed test, package or run.
#[must_use]
pub fn is_failed_test(line: &str) -> bool {
    static FAILED: LazyLock<Regex> = LazyLock::new(|| pattern(TEST_FAILED));
    line.contains("FAIL") && FAILED.is_match(&strip_terminal(line))
}

/// The exit code that a harness such as Codex or Claude Code wrote above the output: on a line of its own, among the first
/// lines. Lines after `Output:` are the program's.
pub(crate) fn reported_exit_code(output: &str) -> Option<u64> {
    static REPORTED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)^(?:(?:process )?exit(?:ed)?(?: with)?(?: exit)? (?:code|status):?|exit[_ ]?code[:=]) (\d{1,10})[.\s]*$",
        )
    });
    let head = output.lines().take(8).take_while(|line| line.trim_end() != "Output:");
    head.filter_map(|line| REPORTED.captures(line.trim())).find_map(|found| found.get(1)?.as_str().parse().ok())
}

fn exit_code(line: &str) -> Option<u64> {
    static CODE: LazyLock<Regex> = LazyLock::new(|| pattern(&format!("(?i){EXIT_CODE}")));
    let found = CODE.captures(line)?;
    let is_said = !is_code(line, found.get(0)?.start());
    found.get(1)?.as_str().parse().ok().filter(|_| is_said)
}

/// A longer line is data, not a message.
const MAX_MESSAGE_BYTES: usize = 2_000;

fn is_error_line(line: &str) -> bool {
    static ERROR: LazyLock<Regex> =
        LazyLock::new(|| pattern(&format!("(?i){}", SIGNS.map(|sign| format!("(?:{sign})")).join("|"))));
    static HARMLESS: LazyLock<Regex> = LazyLock::new(|| pattern(&format!("(?i)(?:{NO_ERROR})|(?:{WARNING})")));
    if line.len() > MAX_MESSAGE_BYTES || line.trim().is_empty() {
        return false;
    }
    let plain = strip_terminal(line);
    let Some(sign) = ERROR.find(&plain) else { return false };
    !is_code(&plain, sign.start()) && !HARMLESS.is_match(&plain)
}

/// True if the text at `start` is printed source code and not a message: a string literal, a key of an object, a statement.
fn is_code(line: &str, start: usize) -> bool {
    let before = line.get(..start).unwrap_or_default();
    let is_quoted = before.matches('"').count() % 2 == 1;
    let before = before.trim_end();
    let is_key = before.ends_with(['{', '(']) || before.ends_with(',') && before.contains(['{', '(']);
    is_quoted || is_key || line.trim_end().ends_with([',', ';', '{', '('])
}

/// True for a first line such as `Error: File does not exist`, which begins with the word.
fn starts_as_error(line: &str) -> bool {
    static START: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)^\W*(?:<tool_use_error>|fatal:|\w*error(?:\[\w+\])?:|error (?:while|when|executing|running|calling)\b)",
        )
    });
    START.is_match(&strip_terminal(line))
}

/// The lines with their offsets, without line ends.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let at = start;
        start += line.len();
        (at, line.trim_end_matches(['\n', '\r']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_detected_by_their_lines() {
        for line in [
            "error: could not compile `x`",
            "ERROR: No matching distribution found",
            "error[E0308]: mismatched types",
            "TypeError: x is not a function",
            "java.lang.IllegalStateException: closed",
            "fatal: not a git repository",
            "bash: foo: command not found",
            "Traceback (most recent call last):",
            "ls: cannot access 'x': No such file or directory",
            "make: *** [all] Error 2",
            "\u{1b}[31merror\u{1b}[0m: red",
            "npm ERR! missing script: x",
            "3 failed, 2 passed",
            "12 tests, 11 failures",
            "thread 'main' panicked at src/main.rs:2:5:",
            "the program exited with code 3",
            "error Command \"etil\" not found.",
        ] {
            assert_eq!(status_of(line, Recorded::NoneOfCommand), Status::Failed, "{line}");
            assert_eq!(error_line(&format!("first\n{line}\r\nlast")), Some(line));
        }
    }

    #[test]
    fn the_line_below_a_heading_is_the_error() {
        let output = "\n  \u{1b}[41m ERROR \u{1b}[0m\n\n  `Trace` requires `file` to be given.\n\n  Try --help\n";
        assert_eq!(error_line(output), Some("  `Trace` requires `file` to be given."));
        assert_eq!(status_of(output, Recorded::NoneOfCommand), Status::Failed);
        assert_eq!(error_line("ERROR"), None);
        assert_eq!(error_line("name level\nERROR\n3 lines"), None);
    }

    #[test]
    fn lines_that_only_look_like_failures_are_not() {
        for line in [
            "",
            "0 errors",
            "no errors found",
            "error: 0",
            "errors: none",
            "Error: none",
            "10 passed; 0 failed; 0 errors",
            "warning: failed to load the manifest",
            "15:18:53.671 [warning] GitLogReader: could not resolve branch",
            "\u{1b}[33mWARN: Could not find the language\u{1b}[0m",
            "the build exited with code 0",
            "src/error.rs",
            "\t\tslog.Error(\"Failed to process session update\",",
            "301:  return fmt.Errorf(\"error: failed to marshal: %w\", err)",
            "const { data: rows, error: wsError } = await client()",
            "          error: \"Invalid refresh token\",",
            "  Project config: not found",
            "2026/02/24 10:25:52 WARN Failed to parse statistics.json",
        ] {
            assert_eq!(status_of(line, Recorded::NoneOfCommand), Status::Succeeded, "{line}");
        }
    }

    #[test]
    fn a_recorded_code_takes_precedence_over_the_lines() {
        let output = "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nerror: in a file that was printed\nExit code: 1";
        assert_eq!(status_of(output, Recorded::NoneOfCommand), Status::Succeeded);
        assert_eq!(reported_exit_code("Chunk ID: 1\nProcess exited with code 2\nOutput:\nok"), Some(2));
        assert_eq!(reported_exit_code("Output:\nExit code: 1"), None);
        assert_eq!(
            error_line("Exit code 127\n(eval):1: command not found: tree"),
            Some("(eval):1: command not found: tree")
        );
        assert_eq!(error_line("Exit code 1\nnothing else"), Some("Exit code 1"));
        assert_eq!(error_line("Traceback (most recent call last):\n  File x\nKeyError: 'a'"), Some("KeyError: 'a'"));
    }

    #[test]
    fn a_test_runners_result_takes_precedence() {
        for (output, expected) in [
            ("--- FAIL: TestRead (0.01s)\nok", Status::Failed),
            ("FAIL\texample.org/x [build failed]", Status::Failed),
            ("FAIL", Status::Failed),
            ("    --- FAIL: TestRead/empty (0.00s)\nFAIL\nok  \texample.org/y\t0.2s", Status::Failed),
            ("Error: no such key\n--- PASS: TestMissing (0.00s)\nPASS\nok  \texample.org/x\t0.312s", Status::Succeeded),
            ("error: printed by a test\ntest result: ok. 3 passed; 0 failed; 0 ignored", Status::Succeeded),
            ("error: printed by a test\n2 doctests, 58 tests, 0 failures", Status::Succeeded),
            ("KeyError: printed by a test\n===== 5 passed in 0.12s =====", Status::Succeeded),
            ("Error: printed by a test\nTests:       12 passed, 12 total", Status::Succeeded),
            ("error: printed by a test\n58 tests, 1 failure", Status::Failed),
            ("ok  \texample.org/x\t(cached)\nmain.go: error: unused", Status::Failed),
            ("2026/01/01 10:00:14 ERROR cannot happen", Status::Succeeded),
        ] {
            assert_eq!(status_of(output, Recorded::NoneOfCommand), expected, "{output}");
        }
    }

    #[test]
    fn failures_before_a_filter_are_detected() {
        for (output, expected) in [
            ("--- FAIL: TestRead (0.01s)\nFAIL", true),
            ("FAILED tests/test_load.py::test_empty - KeyError: 'a'", true),
            ("EXIT=", false),
            ("BUILD_EXIT=1", true),
            ("tests exit: 2", true),
            ("exit=0", false),
            ("BUILD_EXIT=0\nok", false),
            ("the exit: see below", false),
            ("exits=3", false),
            ("FAILURES are counted: 0", false),
            ("", false),
        ] {
            assert_eq!(tells_of_failure(output), expected, "{output}");
        }
    }

    #[test]
    fn the_text_of_a_file_is_not_a_status() {
        let file = "1\tfn main() {\n2\t    error: oh\n";
        assert_eq!(status_of(file, Recorded::NoneOfOther), Status::Succeeded);
        assert_eq!(status_of("Error: File does not exist.", Recorded::NoneOfOther), Status::Failed);
        assert_eq!(status_of(file, Recorded::Status(Status::Unknown)), Status::Unknown);
    }
}
