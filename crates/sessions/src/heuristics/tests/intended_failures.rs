//! Intended failures make no recovery.

use super::*;

const CHECKED: &str = "! go test ./... # --- FAIL: TestRead (0.01s)\n    a_test.go:12: the limit is 4, want 3";

#[track_caller]
fn check_all(sessions: &[&[&str]], expected: &[&str]) {
    for lines in sessions {
        check(Heuristic::ErrorRecovery, lines, expected);
    }
}

#[test]
fn a_failure_announced_by_agent_or_user_makes_no_recovery() {
    let mended = ["~ limits.toml: limit = 4 => limit = 3", "< The limit must be 3 in `read.go`.", "$ go test ./..."];
    let after = |first: &[&'static str]| [first, &[CHECKED], &mended[1..2], &mended[..1], &mended[2..]].concat();
    // The same without the words is one.
    check(Heuristic::ErrorRecovery, &after(&["< Run the tests."]), &["error-go"]);
    for said in [
        "< Now verify that the test fails without it.",
        "< Let me deliberately break the limit.",
        "< I'll temporarily remove the check to see what happens.",
        "< Mutation testing: raise the limit by one.",
        "< Let me write a failing test first.",
        "< First reproduce the bug.",
        "> Do it with TDD please.",
        "> Tests first, then the code.",
    ] {
        check(Heuristic::ErrorRecovery, &after(&[said]), &[]);
    }
    // The announcement can be some calls before.
    check(
        Heuristic::ErrorRecovery,
        &after(&["< Let me break it on purpose.", "- read.go", "$ ls", "- a_test.go"]),
        &[],
    );
}

#[test]
fn a_failure_that_the_agent_welcomes_makes_no_recovery() {
    let said = |text: &'static str| {
        [
            "< Run the tests.",
            CHECKED,
            text,
            "~ limits.toml: limit = 4 => limit = 3",
            "< The limit must be 3.",
            "$ go test ./...",
        ]
    };
    check(Heuristic::ErrorRecovery, &said("< The limit in `read.go` must be 3."), &["error-go"]);
    for text in [
        "< Good, the new test fails. The limit in `read.go` must be 3.",
        "< It fails as expected. The limit in `read.go` must be 3.",
        "< The guard correctly rejects it. The limit in `read.go` must be 3.",
        "< As expected: the test fails. The limit in `read.go` must be 3.",
        "< The test catches it. The limit in `read.go` must be 3.",
    ] {
        check(Heuristic::ErrorRecovery, &said(text), &[]);
    }
    let text = "< Good progress: only one is failing. The limit in `read.go` must be 3.";
    check(Heuristic::ErrorRecovery, &said(text), &["error-go"]);
}

#[test]
fn restoring_files_after_an_experiment_makes_no_recovery() {
    check_all(
        &[
            // The lines around it do not matter.
            &["~ a.go: x\nreturn 3\ny => x\nreturn 4\ny", CHECKED, "~ a.go: return 4 => return 3", "$ go test ./..."],
            &["$ sed -i s/3/4/ a.go", CHECKED, "$ git checkout -- a.go", "$ go test ./..."],
            &["$ git stash", CHECKED, "$ git stash pop", "$ go test ./..."],
            &[
                "! sed -i s/3/4/ a.go && go test ./...; git restore a.go # --- FAIL: TestRead (0.01s)",
                "$ go test ./...",
            ],
        ],
        &[],
    );
    // To put away what was changed can be the remedy.
    let refused = "! git pull # error: Your local changes to a.go would be overwritten by merge";
    check(Heuristic::ErrorRecovery, &[refused, "$ git stash", "$ git pull"], &["error-git"]);
}

#[test]
fn the_description_of_a_call_can_announce_a_failure() {
    let lines = ["! make # error: no rule for x", "$ ./configure", "$ make"];
    let mut transcript = sketch(&lines);
    let names = |transcript: &Transcript| names(transcript, &CaptureConfig::default(), Heuristic::ErrorRecovery);
    assert_eq!(names(&transcript), ["error-make"]);
    if let Turn::ToolCall(call) = &mut transcript.turns[0] {
        call.input["description"] = json!("Verify that the build fails");
    }
    assert!(names(&transcript).is_empty());
}
