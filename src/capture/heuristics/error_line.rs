//! The line of an output that says what went wrong.

/// The first line that says what went wrong, else the first that only mentions it, else none. "0 errors" is none.
pub(super) fn error_line(output: &str) -> Option<&str> {
    let lines = || output.lines().map(str::trim).filter(|line| !is_code(line) && !is_clean(line));
    lines().find(|line| says(line)).or_else(|| lines().find(|line| mentions(line)))
}

/// True when an error says that the command was written wrongly, not that something is not there.
pub(super) fn blames_the_command(line: &str) -> bool {
    const MARKS: [&str; 9] = [
        "command not found",
        "illegal option",
        "invalid option",
        "unknown option",
        "unrecognized option",
        "unknown predicate",
        "syntax error",
        "usage:",
        "invalid argument",
    ];
    let lower = line.to_lowercase();
    MARKS.iter().any(|mark| lower.contains(mark))
}

fn says(line: &str) -> bool {
    const STARTS: [&str; 7] = ["error", "fatal:", "--- fail", "fail:", "panic:", "traceback", "npm err!"];
    let lower = line.to_lowercase();
    let is_start = STARTS.iter().any(|start| lower.starts_with(start)) && !lower.starts_with("traceback");
    is_start || blames_the_command(line) || lower.contains(" error: ") || has_place(line) || has_exception(line)
}

/// `main.go:10:2: imported and not used`.
fn has_place(line: &str) -> bool {
    let mut fields = line.splitn(4, ':');
    let is_number =
        |field: Option<&str>| field.is_some_and(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()));
    let is_file = fields.next().is_some_and(|file| file.contains('.') && !file.contains(' '));
    is_file && is_number(fields.next()) && is_number(fields.next()) && fields.next().is_some()
}

/// `ValueError: …`, `java.io.IOException: …`.
fn has_exception(line: &str) -> bool {
    line.split_once(": ")
        .is_some_and(|(name, _)| !name.contains(' ') && (name.ends_with("Error") || name.ends_with("Exception")))
}

fn mentions(line: &str) -> bool {
    const MARKS: [&str; 12] = [
        "error:",
        "error[",
        "error ",
        "no such file",
        "permission denied",
        "not found",
        "cannot ",
        "can't ",
        "failed",
        "undefined:",
        "does not exist",
        "not recognized",
    ];
    let lower = line.to_lowercase();
    MARKS.iter().any(|mark| lower.contains(mark))
}

fn is_code(line: &str) -> bool {
    line.ends_with([';', '{', '}'])
}

fn is_clean(line: &str) -> bool {
    let lower = line.to_lowercase();
    ["0 error", "no error", "without error", "0 failed"].iter().any(|clean| lower.contains(clean))
}

/// True when nothing ran: a person said no, or a call beside it failed first.
pub(super) fn never_ran(output: &str) -> bool {
    const MARKS: [&str; 7] = [
        "[Request interrupted by user",
        "The user doesn't want to proceed",
        "The user doesn't want to take this action",
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
    fn the_line_that_says_it() {
        let output = "Collecting request\nERROR: No matching distribution found for request\nmore";
        assert_eq!(error_line(output), Some("ERROR: No matching distribution found for request"));
        assert_eq!(error_line("built with 0 errors\nok"), None);
        for (output, expected) in [
            ("let error = new Error(text);\nx.js failed", "x.js failed"),
            (
                "the download failed\n./main.go:10:2: \"x\" imported and not used",
                "./main.go:10:2: \"x\" imported and not used",
            ),
            ("Traceback (most recent call last):\n  File x\nKeyError: 'a'", "KeyError: 'a'"),
            ("cat: illegal option -- A\nusage: cat", "cat: illegal option -- A"),
        ] {
            assert_eq!(error_line(output), Some(expected));
        }
    }

    #[test]
    fn a_refused_call_did_not_run() {
        assert!(never_ran("Exit code 137\n[Request interrupted by user for tool use]"));
        assert!(!never_ran("error: x"));
    }
}
