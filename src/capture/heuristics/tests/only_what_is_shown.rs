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
fn the_error_of_another_failure_in_between_ends_the_first() {
    let failed = "! npx lint . # 0:0 error Parsing error: a.js was not found by the service";
    let said = "< `config` is deprecated in a.js, so the service must use `defineConfig` there.";
    let other = "! npx lint . # a.js\n  5:25  error  `config` is deprecated";
    found(&[failed, said, "~ a.js", "$ npx lint ."]);
    none(&[failed, "~ b.js", other, said, "~ a.js", "$ npx lint ."]);
}

#[test]
fn a_comment_and_a_heading_are_no_errors() {
    for output in
        ["# json.decoder.JSONDecodeError: Invalid escape", "The following tests FAILED:\n  1 - unit (SEGFAULT)"]
    {
        assert_eq!(error_line::error_line(output), None, "{output}");
    }
}
