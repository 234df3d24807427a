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
fn cause_and_remedy_come_from_one_message() {
    let (denied, edit) = ("! ./gen.sh # bash: ./gen.sh: Permission denied", "~ /srv/app/gen.sh");
    let (cause, remedy) = ("`gen.sh` isn't executable.", "`gen.sh` should use the Python of the venv.");
    found(&[denied, &format!("< {cause} {remedy}"), edit, "$ ./gen.sh"]);
    none(&[denied, &format!("< {cause}"), "- a", &format!("< {remedy}"), edit, "$ ./gen.sh"]);
}

#[test]
fn the_words_must_be_about_the_error_or_the_change() {
    let failed = "! npm run pack-theme # error TS2307: no declarations";
    none(&[
        failed,
        "< `pack-theme` needs the docs. They must be in the release.",
        "~ /srv/app/a.ts",
        "$ npm run pack-theme",
    ]);
    none(&[
        failed,
        "< My TS2307 typo: the declarations must be in `types`.",
        "~ /srv/app/a.ts",
        "$ npm run pack-theme",
    ]);
    none(&[
        failed,
        "< The declarations aren't there yet (TS2307). They must be in `types`.",
        "~ /srv/app/a.ts",
        "$ npm run pack-theme",
    ]);
    // What "it" is was not said.
    none(&[
        failed,
        "< The folder may be wrong. It must have the declarations of TS2307 in `types`.",
        "~ /srv/app/a.ts",
        "$ npm run pack-theme",
    ]);
    found(&[
        failed,
        "< The declarations are missing (TS2307). They must be in `types`.",
        "~ /srv/app/a.ts",
        "$ npm run pack-theme",
    ]);
}

#[test]
fn a_comment_and_a_heading_are_no_errors() {
    for output in
        ["# json.decoder.JSONDecodeError: Invalid escape", "The following tests FAILED:\n  1 - unit (SEGFAULT)"]
    {
        assert_eq!(error_line::error_line(output), None, "{output}");
    }
}
