//! Failures and what ended them.

use super::*;

#[test]
fn a_recovery_has_patterns_of_the_failed_command() {
    for (lines, expected) in [
        (&["! cat -A x # cat: illegal option -- A", "$ cat -vet x"][..], json!(["cat* -A*"])),
        (&["! cd web && go test ./... # FAIL: x", "$ ./configure", "$ cd web && go test ./..."], json!(["go test*"])),
        (&["! pip install request", "$ pip install requests"], json!(["pip install*"])),
        (&["! gh pr list --al # unknown flag: --al", "$ gh pr list --all"], json!(["gh pr list* --al*"])),
        (
            &["! curl https://a.b/c # error: connection refused", "$ ./connect", "$ curl https://a.b/c"],
            json!(["curl **"]),
        ),
    ] {
        assert_eq!(lesson(Heuristic::ErrorRecovery, lines)["commands"], expected, "{lines:?}");
    }
}

#[test]
fn the_same_program_and_subcommand_that_passes_ends_a_failure() {
    let check = |lines: &[&str], expected: &[&str]| check(Heuristic::ErrorRecovery, lines, expected);
    check(&["! pip install request", "$ pip install requests"], &["error-pip"]);
    check(&["! make", "$ ./configure", "$ make"], &["error-make"]);
    check(&["! make", "$ ./configure && make"], &["error-make"]);
    check(&["! git psuh # git: 'psuh' is not a git command; unknown option", "$ git push"], &["error-git"]);
    // Something else that succeeds is not a recovery.
    check(&["! make", "$ npm test"], &[]);
    check(&["! git push", "$ git status"], &[]);
    check(&["! git push # error: rejected", "$ git fetch origin"], &[]);
    check(&["$ pip install requests", "! pip install request"], &[]);
    // Among the next five that act; looking does not count, nor do tools that are no terminal.
    check(&["! make", "$ npm ci", "$ go vet", "$ tox", "$ npm test", "$ go test", "$ ./configure", "$ make"], &[]);
    check(&["! make", "$ ls", "$ ls", "$ ls", "$ ls", "$ make --help", "$ ./configure", "$ make"], &["error-make"]);
    check(&["! make", "- a", "- b", "- c", "- d", "- e", "$ ./configure", "- f", "$ make"], &["error-make"]);
    // Two failures before one success are one recovery.
    check(&["! pip instal request", "! pip install request", "$ pip install requests"], &["error-pip"]);
    // A call that a person stopped did not fail; one without a result neither.
    check(&["! make # error: x [Request interrupted by user for tool use]", "$ ./configure", "$ make"], &[]);
    check(&["? make", "$ ./configure", "$ make"], &[]);
    // A command line that hides its exit status is not a success.
    check(&["! make", "$ ./configure", "$ make || true"], &[]);
    check(&["! make", "$ ./configure", "$ make 2>&1 | grep -v error"], &[]);
}

#[test]
fn what_mended_it_has_to_be_known() {
    let check = |lines: &[&str], expected: &[&str]| check(Heuristic::ErrorRecovery, lines, expected);
    // A second attempt teaches nothing, and of many things nobody knows which it was.
    check(&["! make", "$ make"], &[]);
    check(&["! make", "$ make 2>&1 | tail -3"], &[]);
    check(&["! make", "$ go test", "$ make"], &[]);
    check(&["! make", "$ a b", "$ c d", "$ e f", "$ g h", "$ make"], &[]);
    check(&["! make # Exit code 2", "$ ./configure", "$ make"], &[]);
    // An edit that does not say what it changed, or changes what the error does not name.
    check(&["! go test ./...", "~ main.go", "$ go test ./..."], &[]);
    check(&["! go test ./...", "~ a/main_test.go: 1 => 2", "$ go test ./..."], &[]);
    let few = "! go test ./... # error: too few retries";
    check(&[few, "~ main.go: retries := 1 => retries := 2", "$ go test ./..."], &["error-go"]);
    check(&["! make all # error: no rule", "~ Makefile: x => y", "$ make all"], &["error-make"]);
    // The user said something in between.
    check(&["! make", "> I have installed the compiler", "$ ./configure", "$ make"], &[]);
    let script = format!("! python3 -c '{}'", "print(1);".repeat(60));
    check(&[&script, "$ python3 -c 'print(2)'"], &[]);
}

#[test]
fn a_recovery_is_data_and_tells_the_edits_and_commands() {
    let error = "! pip install request # Looking\nERROR: No matching distribution found for request";
    let found =
        lesson(Heuristic::ErrorRecovery, &["> Add an HTTP client to the crawler.", error, "$ pip install requests"]);
    assert_eq!(found["trigger"], "`pip install request` fails: ERROR: No matching distribution found for request");
    assert_eq!(found["correct_pattern"], "Run `pip install requests`.");
    assert_eq!(found["task"], "Add an HTTP client to the crawler.");
    assert_eq!(found["recovery"]["failed"], "pip install request");
    assert_eq!(found["recovery"]["steps"], json!([{"passed": "pip install requests"}]));
    let lines = [
        "! make | tail -3 # error: counter overflows",
        "~ src/a.c: int counter; => long counter;",
        "$ mkdir out",
        "$ make | tail -5",
    ];
    let found = lesson(Heuristic::ErrorRecovery, &lines);
    assert_eq!(found["trigger"], "`make` fails: error: counter overflows");
    let solution = "First replace `int counter;` by `long counter;` in a.c, run `mkdir out`; then `make` passes.";
    assert_eq!(found["correct_pattern"], solution);
    let lines = [
        "! npm run build # error: the target has no top-level await",
        "~ /srv/app/tsconfig.json: \"es2020\" => \"es2022\"",
        "$ npm install",
        "$ npm run build",
    ];
    let solution =
        "First replace `\"es2020\"` by `\"es2022\"` in tsconfig.json, run `npm install`; then `npm run build` passes.";
    assert_eq!(lesson(Heuristic::ErrorRecovery, &lines)["correct_pattern"], solution);
    let lines =
        ["! cd /srv/app && node /srv/app/web/buidl.js # Error: no module", "$ cd /srv/app && node web/build.js"];
    assert_eq!(lesson(Heuristic::ErrorRecovery, &lines)["trigger"], "`node web/buidl.js` fails: Error: no module");
    let lint = "! golangci-lint run # pkg/cloud/auth.go:122:1: File is not properly formatted (gofmt)";
    let found = lesson(Heuristic::ErrorRecovery, &[lint, "$ gofmt -w pkg/cloud/auth.go", "$ golangci-lint run"]);
    assert_eq!(found["trigger"], "`golangci-lint run` fails: <file>: File is not properly formatted (gofmt)");
}

#[test]
fn a_pipe_does_not_hide_that_a_command_failed() {
    let check = |lines: &[&str], expected: &[&str]| check(Heuristic::ErrorRecovery, lines, expected);
    let failed = "$ go build -o app ./... 2>&1 | head -5 # go: cannot write multiple packages to non-directory app";
    check(&[failed, "$ go build -o app . 2>&1 | head -5"], &["error-go"]);
    check(&["$ make; echo done # error: no rule\ndone", "$ ./configure", "$ make; echo done"], &["error-make"]);
    // Tests that pass print errors, and so does what only looks.
    check(&["$ make | tail -3 # error: of a test\n3 tests, 0 failures", "$ ./configure", "$ make | tail -3"], &[]);
    check(&["$ cat log | head # error: unknown option x", "$ cat -v log | head"], &[]);
    // It fails with its own errors, which come first.
    let flag = "$ sed -n 2p x | cat -A | head -3 # cat: illegal option -- A\nusage: cat [-belnstuv]";
    check(&[flag, "$ sed -n 2p x | cat -vet | head -3"], &["error-sed"]);
    check(&["$ cat log | head # one\ncat: illegal option -- A", "$ cat -v log | head"], &[]);
    // A check complains of a place; a warning is not a failure.
    let lint = |said: &str| format!("$ golangci-lint run | head -5 # a.go:3:7: {said}\n1 issues:");
    check(&[&lint("not formatted"), "$ gofmt -w a.go", "$ golangci-lint run | head -5"], &["error-golangci-lint"]);
    check(&[&lint("warning: long"), "$ gofmt -w a.go", "$ golangci-lint run | head -5"], &[]);
    // Its own status is believed.
    check(&["$ make # error: none of our business", "$ ./configure", "$ make"], &[]);
}

#[test]
fn the_nearest_success_of_the_same_action_ends_a_failure() {
    let transcript = sketch(&["! git push", "$ git status", "$ git push -u origin main", "$ git push"]);
    let suggestions = suggest(&transcript, &CaptureConfig::default());
    assert_eq!(suggestions.candidates[0].turns, [0, 2]);
}

#[test]
fn a_script_that_the_session_wrote_is_on_trial() {
    let names_of = |file: &str| {
        let lines = ["! make # error: no folder `build`", "~ /srv/app/Makefile: all: => all: | build", "$ make"];
        let mut transcript = sketch(&lines);
        let input = json!({ "file_path": file, "content": "all:" });
        let status = Status::Succeeded;
        let write = ToolCall { tool: "Write".into(), input, result: Some("File created".into()), status };
        transcript.turns.insert(0, Turn::ToolCall(write));
        names(&transcript, &CaptureConfig::default(), Heuristic::ErrorRecovery).len()
    };
    assert_eq!((names_of("/srv/app/Makefile"), names_of("/srv/app/other.mk")), (0, 1));
}

#[test]
fn a_comment_and_a_heading_are_no_errors() {
    for output in
        ["# json.decoder.JSONDecodeError: Invalid escape", "The following tests FAILED:\n  1 - unit (SEGFAULT)"]
    {
        assert_eq!(error_line::error_line(output), None, "{output}");
    }
}
