//! Failures and what ended them.

use super::*;

#[test]
fn a_recovery_has_patterns_of_the_failed_command() {
    for (lines, expected) in [
        (&["! cat -A x # cat: illegal option -- A", "$ cat -vet x"][..], json!(["cat* -A*"])),
        (&["! cd web && go test ./... # FAIL: x", "$ ./configure", "$ cd web && go test ./..."], json!(["go test*"])),
        (&["! pip install request", "$ pip install requests"], json!(["pip install* request*"])),
        (
            &["! go run /tmp/order_test.go # go: cannot run *_test.go files", "$ go run /tmp/order_main.go"],
            json!(["go run*_test.go*"]),
        ),
        (&["! go build -o app ./... # error: multiple packages", "$ go build -o app ."], json!(["go build* ./...*"])),
        (
            &["! node assets/build.js # error: no app.js", "$ cd assets && node build.js"],
            json!(["node* assets/build.js*"]),
        ),
        (
            &[
                "! grep -rn --include=*.go x . # zsh: no matches found: --include=*.go",
                "$ grep -rn --include='*.go' x .",
            ],
            json!(["grep*--include=*"]),
        ),
        // What the error names of a line to which something had to be added.
        (
            &["! git add web/dist/app.css # error: ignored by .gitignore: web/dist", "$ git add -f web/dist/app.css"],
            json!(["git add*web/dist*"]),
        ),
        (
            &["! app sync --debug # error: `Debug` needs a place", "$ app sync --debug --console"],
            json!(["app sync* --debug*"]),
        ),
        // A program that is not here is missed however it is called.
        (&["! tree /srv/app/lib -L 3 # zsh: command not found: tree", "$ find /srv/app/lib -type d"], json!(["tree*"])),
        (
            &["! curl https://a.b/c # error: connection refused", "$ ./connect", "$ curl https://a.b/c"],
            json!(["curl **"]),
        ),
    ] {
        assert_eq!(lesson(Heuristic::ErrorRecovery, lines)["commands"], expected, "{lines:?}");
    }
}

#[test]
fn an_error_that_gave_way_to_another_one_is_not_fixed_by_what_fixed_that() {
    let check = |lines: &[&str], expected: &[&str]| check(Heuristic::ErrorRecovery, lines, expected);
    let (unused, format) = ("! lint run # error: `out` is unused", "! lint run # error: not formatted");
    let edit = "~ main.go: var out => var in";
    // The second failure is a recovery of its own.
    check(&[unused, edit, format, "$ fmt -w main.go", "$ lint run"], &["error-lint"]);
    let told = lesson(Heuristic::ErrorRecovery, &[unused, edit, format, "$ fmt -w main.go", "$ lint run"]);
    assert!(told["trigger"].as_str().unwrap().contains("not formatted"), "{told}");
    let (few, more) = ("! go test ./... # error: too few retries", "~ main.go: retries := 1 => retries := 2");
    check(&[few, more, "$ go test ./..."], &["error-go"]);
    check(&[few, more, "! go test ./... # error: no such port", "$ go test ./..."], &[]);
    // Without a change in between, the errors may have one cause.
    check(&[unused, format, "$ fmt -w main.go", "$ lint run"], &["error-lint"]);
}

#[test]
fn a_related_success_after_a_failure_makes_a_recovery() {
    let check = |lines: &[&str], expected: &[&str]| check(Heuristic::ErrorRecovery, lines, expected);
    check(&["! pip install request", "$ pip install requests"], &["error-pip"]);
    let few = "! go test ./... # error: too few retries";
    check(&[few, "~ main.go: retries := 1 => retries := 2", "$ go test ./..."], &["error-go"]);
    check(&["! make", "$ ./configure", "$ make"], &["error-make"]);
    check(&["! make", "$ ./configure && make"], &["error-make"]);
    // What mended it has to be known: a second attempt teaches nothing, an edit that does not say what it changed neither, and
    // of many things nobody knows which it was.
    check(&["! make", "$ make"], &[]);
    check(&["! make", "$ make 2>&1 | tail -3"], &[]);
    check(&["! make", "$ go test", "$ make"], &[]);
    check(&["! go test ./...", "~ main.go", "$ go test ./..."], &[]);
    check(&["! make", "$ a b", "$ c d", "$ e f", "$ make"], &[]);
    check(&["! make", "~ a.c: x => y", "~ b.c: x => y", "~ c.c: x => y", "$ make"], &[]);
    check(&["! make # Exit code 2", "$ ./configure", "$ make"], &[]);
    // The user said something in between.
    check(&["! make", "> I have installed the compiler", "$ ./configure", "$ make"], &[]);
    check(&["! make", "> ok, go ahead", "$ ./configure", "$ make"], &["error-make"]);
    // A command line that hides its exit status is not a success.
    check(&["! make", "$ ./configure", "$ make || true"], &[]);
    check(&["! make", "$ ./configure", "$ make 2>&1 | grep -v error"], &[]);
    check(&["! make", "$ ./configure", "$ make 2>&1 | grep -i warn"], &[]);
    check(&["! make", "$ ./configure", "$ make 2>&1 | grep linked # app is linked"], &["error-make"]);
    check(&["! make | grep -v note", "$ ./configure", "$ make | grep -v note"], &["error-make"]);
    // Fewer tests pass: the code is what failed. A change, and another command: nobody knows which it was.
    check(&["! go test ./... # --- FAIL: TestRead (0.01s)", "$ go test ./a"], &[]);
    check(&["! go vet ./... # a/b.go:3:7: unused variable", "$ go vet ./c"], &[]);
    check(&["! make all # error: no rule", "~ Makefile: x => y", "$ make most"], &[]);
    check(&["! git push # error: rejected", "$ git fetch origin"], &[]);
    check(&["! git psuh # git: 'psuh' is not a git command; unknown option", "$ git push"], &["error-git"]);
    // Something else that succeeds is not a recovery.
    check(&["! make", "$ npm test"], &[]);
    check(&["! git push", "$ git status"], &[]);
    check(&["$ pip install requests", "! pip install request"], &[]);
    // Among the next five, the nearest.
    check(&["! make", "$ ls", "$ ls", "$ ls", "$ ./configure", "$ make"], &["error-make"]);
    check(&["! make", "$ npm ci", "$ go vet", "$ tox", "$ npm test", "$ go test", "$ ./configure", "$ make"], &[]);
    // Looking is how a failure is understood: it does not count.
    check(&["! make", "$ ls", "$ ls", "$ ls", "$ ls", "$ make --help", "$ ./configure", "$ make"], &["error-make"]);
    // Tools that are no terminal do not count.
    check(&["! make", "- a", "- b", "- c", "- d", "- e", "$ ./configure", "- f", "$ make"], &["error-make"]);
    // Two failures before one success are one recovery.
    check(&["! pip instal request", "! pip install request", "$ pip install requests"], &["error-pip"]);
    // A call that a person stopped did not fail; one without a result neither.
    check(&["! make # error: x [Request interrupted by user for tool use]", "$ ./configure", "$ make"], &[]);
    check(&["? make", "$ ./configure", "$ make"], &[]);
    // Looking elsewhere teaches nothing; a flag that is not known does.
    check(&["! ls docs # ls: docs: No such file or directory", "$ ls src"], &[]);
    check(&["! cat -A x # cat: illegal option -- A", "$ cat -vet x"], &["error-cat"]);
    check(&["! gti status # gti: command not found", "$ git status"], &["error-gti"]);
    // Changing the test until it passes is not a recovery.
    check(&["! go test ./...", "~ a/main_test.go: 1 => 2", "$ go test ./..."], &[]);
    let script = format!("! python3 -c '{}'", "print(1);".repeat(60));
    check(&[&script, "$ python3 -c 'print(2)'"], &[]);
}

#[test]
fn a_recovery_names_the_words_and_edits_that_changed() {
    let error = "! pip install request # Looking\nERROR: No matching distribution found for request";
    let found =
        lesson(Heuristic::ErrorRecovery, &["> Add an HTTP client to the crawler.", error, "$ pip install requests"]);
    assert_eq!(found["trigger"], "`pip install request` fails: ERROR: No matching distribution found for request");
    assert_eq!(found["correct_pattern"], "Run `pip install requests`.");
    assert_eq!(found["task"], "Add an HTTP client to the crawler.");
    let table = "| before | after |\n|---|---|\n| `pip install request` | `pip install requests` |\n\n\
                 ERROR: No matching distribution found for request";
    assert_eq!(found["code_example"], table);

    let failed = "! make | tail -3 # error: counter overflows";
    let lines = [failed, "~ src/a.c: int counter; => long counter;", "$ mkdir out", "$ make | tail -5"];
    let found = lesson(Heuristic::ErrorRecovery, &lines);
    assert_eq!(found["trigger"], "`make` fails: error: counter overflows");
    let solution = "First replace `int counter;` by `long counter;` in a.c, run `mkdir out`; then `make` passes.";
    assert_eq!(found["correct_pattern"], solution);
    let failed = "! make # error: beta";
    let found = lesson(Heuristic::ErrorRecovery, &[failed, "~ a.c: one\nbeta\nthree => one\nthree", "$ make"]);
    assert_eq!(found["correct_pattern"], "First remove `beta` from a.c; then `make` passes.");
    let found = lesson(Heuristic::ErrorRecovery, &[failed, "~ a.c: one => one\nbeta", "$ make"]);
    assert_eq!(found["correct_pattern"], "First add `beta` to a.c; then `make` passes.");
    // The filter is what failed.
    let found = lesson(
        Heuristic::ErrorRecovery,
        &["! sed -n 2p x | cat -A # cat: illegal option -- A", "$ sed -n 2p x | cat -vet"],
    );
    assert_eq!(found["correct_pattern"], "Run `cat -vet`.");
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
    // It fails with its own errors and the shell's, which come first.
    let absent = "$ tree src/web | head -20 # (eval):1: command not found: tree";
    check(&[absent, "$ find src/web -type d | head -20"], &["error-tree"]);
    let flag = "$ sed -n 2p x | cat -A | head -3 # cat: illegal option -- A\nusage: cat [-belnstuv]";
    check(&[flag, "$ sed -n 2p x | cat -vet | head -3"], &["error-cat"]);
    check(&["$ cat log | head # (eval):1: command not found: tree", "$ cat -v log | head"], &[]);
    check(&["$ cat log | head # one\ncat: illegal option -- A", "$ cat -v log | head"], &[]);
    // A check complains of a place; a warning is not a failure.
    let lint = |said: &str| format!("$ golangci-lint run | head -5 # a.go:3:7: {said}\n1 issues:");
    check(&[&lint("not formatted"), "$ gofmt -w a.go", "$ golangci-lint run | head -5"], &["error-golangci-lint"]);
    check(&[&lint("warning: long"), "$ gofmt -w a.go", "$ golangci-lint run | head -5"], &[]);
    // Its own status is believed.
    check(&["$ make # error: none of our business", "$ ./configure", "$ make"], &[]);
}

#[test]
fn another_error_ends_a_failure_after_a_setup_change() {
    let failed = "! mix test # ** (RuntimeError) the page needs floki\n12 tests, 12 failures";
    let next = "! mix test # ** (RuntimeError) no port is set\n12 tests, 12 failures";
    let dependency = "~ /srv/app/mix.exs: [] => [{:floki, \"> 0\"}]";
    let found = lesson(Heuristic::ErrorRecovery, &[failed, dependency, "$ mix deps.get", next]);
    assert_eq!(found["trigger"], "`mix test` fails: ** (RuntimeError) the page needs floki");
    let solution = "First replace `[]` by `[{:floki, \"> 0\"}]` in mix.exs, run `mix deps.get`; then it does not fail with this error.";
    assert_eq!(found["correct_pattern"], solution);
    let check = |lines: &[&str], expected: &[&str]| check(Heuristic::ErrorRecovery, lines, expected);
    // Settings of several lines, and the part of the tests that failed run again.
    let set = "~ /srv/app/config/test.exs: import Config => import Config\n\nconfig :app, Page,\n  port: 4002,\n  server: false";
    let of_a_file = "! mix test # 1) test/page_test.exs:3\n** (RuntimeError) no port is set";
    check(&[of_a_file, set, "! mix test test/page_test.exs # ** (KeyError) no such key"], &["error-mix"]);
    check(&[of_a_file, set, "! mix test test/other_test.exs # ** (KeyError) no such key"], &[]);
    // The error is still there; the code was changed; nothing was.
    check(&[failed, dependency, failed], &[]);
    check(&[failed, "~ lib/page.ex: 1 => 2", next], &[]);
    check(&[failed, next], &[]);
    // What is wrong in the code is mended one mistake after the other.
    check(&["! go vet # a.go:3:7: unused x", "~ go.mod: 1 => 2", "! go vet # a.go:9:7: unused y"], &[]);
}

#[test]
fn a_lesson_shows_only_the_operand_that_the_output_names() {
    let lines = [
        "! git add web/a.ts web/out/app.css && git commit -m 'Style it' # Exit code 1\nThe following paths are ignored by your .gitignore files:\nweb/out",
        "$ git add -f web/out/app.css && git add web/a.ts && git commit -m 'Style it'",
    ];
    let found = lesson(Heuristic::ErrorRecovery, &lines);
    let trigger = "`git add web/out/app.css` fails: The following paths are ignored by your .gitignore files:";
    assert_eq!(found["trigger"], trigger);
    assert_eq!(found["correct_pattern"], "Run `git add -f web/out/app.css`.");
}

#[test]
fn paths_in_the_project_are_relative() {
    let lines = [
        "! cd /srv/app && node /srv/app/web/buidl.js # Error: Cannot find module",
        "$ cd /srv/app && node web/build.js",
    ];
    let found = lesson(Heuristic::ErrorRecovery, &lines);
    assert_eq!(found["trigger"], "`node web/buidl.js` fails: Error: Cannot find module");
    assert_eq!(found["correct_pattern"], "Run `node web/build.js`.");
}

#[test]
fn a_missing_program_is_replaced_by_another() {
    let absent = "! tree src/web -L 2 # (eval):1: command not found: tree";
    let found = lesson(Heuristic::ErrorRecovery, &[absent, "$ find src/web -type d"]);
    assert_eq!(found["correct_pattern"], "Run `find src/web -type d`.");
    // Another program on something else is none, nor is one after another error.
    let check = |lines: &[&str], expected: &[&str]| check(Heuristic::ErrorRecovery, lines, expected);
    check(&[absent, "$ find src/app -type d"], &[]);
    check(&["! tree src/web -L 2 # tree: permission denied", "$ find src/web -type d"], &[]);
}

#[test]
fn quoting_a_pattern_and_bypassing_an_alias_are_remedies() {
    let glob = "! grep -rn --include=*.go Watch . # (eval):1: no matches found: --include=*.go";
    let found = lesson(Heuristic::ErrorRecovery, &[glob, "$ grep -rn --include='*.go' Watch ."]);
    assert_eq!(found["correct_pattern"], "Run `grep -rn --include='*.go' Watch .`.");
    // In a longer line, the word alone.
    let line = "$ grep -rn --include=*.go Watch . | head -5; ls # (eval):1: no matches found: --include=*.go";
    let found = lesson(Heuristic::ErrorRecovery, &[line, "$ grep -rn --include=\"*.go\" 'Watch(' cmd | head"]);
    assert_eq!(found["trigger"], "`grep --include=*.go` fails: (eval):1: no matches found: --include=*.go");
    assert_eq!(found["correct_pattern"], "Run `grep --include=\"*.go\"`.");
    let script = "import json, sys; rows = [json.loads(line) for line in sys.stdin]; ".repeat(3);
    let (failed, fixed) = (
        format!("! python3 -c '{script}print(1)' # (eval):1: command not found: python3.12"),
        format!("$ /usr/bin/python3 -c '{script}print(2)'"),
    );
    let piped = failed.replacen("python3", "gh pr diff 1 > /tmp/d && python3", 1);
    for failed in [&failed, &piped] {
        let found = lesson(Heuristic::ErrorRecovery, &[failed, &fixed]);
        assert_eq!(found["correct_pattern"], "Run `/usr/bin/python3`.");
    }
    let found = lesson(Heuristic::ErrorRecovery, &[&failed, &fixed]);
    assert_eq!(found["trigger"], "`python3` fails: (eval):1: command not found: python3.12");
    assert_eq!(found["correct_pattern"], "Run `/usr/bin/python3`.");
}

#[test]
fn a_lesson_shows_only_the_failed_command_of_a_line() {
    let piped = "! sed -n '2,3p' /srv/app/a.go | cat -A # cat: illegal option -- A";
    let found = lesson(Heuristic::ErrorRecovery, &[piped, "$ sed -n '2,3p' /srv/app/a.go | cat -vet"]);
    assert_eq!(found["trigger"], "`cat -A` fails: cat: illegal option -- A");
    assert_eq!(found["correct_pattern"], "Run `cat -vet`.");
    let chained = "! gofmt -w . && go build -o app ./... # go: cannot write multiple packages to non-directory app";
    let found = lesson(Heuristic::ErrorRecovery, &[chained, "$ go build -o app . && go vet ./web"]);
    assert_eq!(found["correct_pattern"], "Run `go build -o app .`.");
    // Where the line runs the program more than once, nobody knows which of them it was.
    let both = "! go vet && go build -o app ./... # go: cannot write multiple packages to non-directory app";
    let found = lesson(Heuristic::ErrorRecovery, &[both, "$ go vet && go build -o app ."]);
    assert_eq!(found["correct_pattern"], "Run `go vet && go build -o app .`.");
}

#[test]
fn names_that_differ_the_next_time_become_placeholders() {
    let lint = "! golangci-lint run # pkg/cloud/auth.go:122:1: File is not properly formatted (gofmt)";
    let found =
        lesson(Heuristic::ErrorRecovery, &[lint, "$ gofmt -w /srv/app/pkg/cloud/auth.go", "$ golangci-lint run"]);
    assert_eq!(found["trigger"], "`golangci-lint run` fails: <file>: File is not properly formatted (gofmt)");
    assert_eq!(found["correct_pattern"], "First run `gofmt -w <file>`; then `golangci-lint run` passes.");
    let found = lesson(Heuristic::ErrorRecovery, &[lint, "$ gofmt -w /srv/app/pkg/cloud/", "$ golangci-lint run"]);
    assert_eq!(found["correct_pattern"], "First run `gofmt -w <its-folder>`; then `golangci-lint run` passes.");
    let push = "! git push # fatal: The current branch fix-12 has no upstream branch.";
    let found = lesson(Heuristic::ErrorRecovery, &[push, "$ git push --set-upstream origin fix-12"]);
    assert_eq!(found["correct_pattern"], "Run `git push --set-upstream origin <branch>`.");
}

#[test]
fn the_nearest_success_of_the_same_action_ends_a_failure() {
    let transcript = sketch(&["! git push", "$ git status", "$ git push -u origin main", "$ git push"]);
    let suggestions = suggest(&transcript, &CaptureConfig::default());
    assert_eq!(suggestions.candidates[0].turns, [0, 2]);
}

#[test]
fn a_lesson_names_every_edit_of_settings() {
    let lines = [
        "! npm run build # error: the target has no top-level await",
        "~ /srv/app/tsconfig.json: \"es2020\" => \"es2022\"",
        "~ /srv/app/package.json: \"node\": \"16\" => \"node\": \"20\"",
        "~ /srv/app/Dockerfile.web: FROM node:16 => FROM node:20",
        "$ npm install",
        "$ npm run build",
    ];
    let found = lesson(Heuristic::ErrorRecovery, &lines);
    let solution = "First replace `\"es2020\"` by `\"es2022\"` in tsconfig.json, replace `\"node\": \"16\"` by `\"node\": \"20\"` in \
                    package.json and replace `FROM node:16` by `FROM node:20` in Dockerfile.web, run `npm install`; then `npm run \
                    build` passes.";
    assert_eq!(found["correct_pattern"], solution);
    let mut lines = lines;
    lines[3] = "~ /srv/app/src/main.ts: 1 => 2";
    check(Heuristic::ErrorRecovery, &lines, &[]);
}
