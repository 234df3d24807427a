//! The line of an output that says what went wrong.

/// The first line that carries an error, else none. "0 errors" is none.
pub(super) fn error_line(output: &str) -> Option<&str> {
    output.lines().map(str::trim).find(|line| is_error(line))
}

fn is_error(line: &str) -> bool {
    const MARKS: [&str; 22] = [
        "error:",
        "error[",
        "error ",
        "fatal:",
        "command not found",
        "no such file",
        "permission denied",
        "not found",
        "illegal option",
        "invalid option",
        "unknown option",
        "unrecognized",
        "cannot ",
        "can't ",
        "exception",
        "panic:",
        "fail:",
        "failed",
        "undefined:",
        "does not exist",
        "not recognized",
        "usage:",
    ];
    let lower = line.to_lowercase();
    let is_clean = ["0 error", "no error", "without error", "0 failed"].iter().any(|clean| lower.contains(clean));
    !is_clean && MARKS.iter().any(|mark| lower.contains(mark))
}

/// True when nothing ran: a person said no, or a call beside it failed first.
pub(super) fn never_ran(output: &str) -> bool {
    const MARKS: [&str; 6] = [
        "[Request interrupted by user",
        "The user doesn't want to proceed",
        "The user doesn't want to take this action",
        "Sibling tool call errored",
        "rejected by user",
        "requires approval",
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
    }

    #[test]
    fn a_refused_call_did_not_run() {
        assert!(never_ran("Exit code 137\n[Request interrupted by user for tool use]"));
        assert!(!never_ran("error: x"));
    }
}
