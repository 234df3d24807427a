//! What a recovery has to show of the failure that it is about.

use super::*;

#[track_caller]
fn none(lines: &[&str]) {
    check(Heuristic::ErrorRecovery, lines, &[]);
}

#[track_caller]
fn found(lines: &[&str]) {
    assert_eq!(names(&sketch(lines), &CaptureConfig::default(), Heuristic::ErrorRecovery).len(), 1, "{lines:?}");
}

#[test]
fn a_comment_and_a_heading_are_no_errors() {
    for output in
        ["# json.decoder.JSONDecodeError: Invalid escape", "The following tests FAILED:\n  1 - unit (SEGFAULT)"]
    {
        assert_eq!(error_line::error_line(output), None, "{output}");
    }
}
