use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::capture::{Status, ToolCall, Turn};

/// A transcript, a line a turn: `> said by the user`, `< by the assistant`, `$ command` that succeeded, `! command | error` that
/// failed, `? command` without a result, `~ file` edited (`~ file: old => new`), `x file` edit that failed, `n file` edit that
/// the user refused, `- ` a tool that only reads.
fn sketch(lines: &[&str]) -> Transcript {
    let call = |tool: &str, input: serde_json::Value, result: Option<&str>, status| {
        Turn::ToolCall(ToolCall { tool: tool.to_owned(), input, result: result.map(str::to_owned), status })
    };
    let turns = lines.iter().map(|line| {
        let (kind, rest) = line.split_at(2);
        match kind {
            "> " => Turn::User(rest.to_owned()),
            "< " => Turn::Assistant(rest.to_owned()),
            "$ " => call("Bash", json!({ "command": rest }), Some("done"), Status::Succeeded),
            "! " => {
                let (command, error) = rest.split_once(" # ").unwrap_or((rest, "error: it failed"));
                call("Bash", json!({ "command": command }), Some(error), Status::Failed)
            }
            "? " => call("Bash", json!({ "command": rest }), None, Status::Unknown),
            "~ " => {
                let (file, change) = rest.split_once(": ").unwrap_or((rest, ""));
                let input = match change.split_once(" => ") {
                    Some((old, new)) => json!({ "file_path": file, "old_string": old, "new_string": new }),
                    None => json!({ "file_path": file }),
                };
                call("Edit", input, Some("ok"), Status::Succeeded)
            }
            "n " => {
                let said = "The user doesn't want to proceed with this tool use.";
                call("Edit", json!({ "file_path": rest }), Some(said), Status::Unknown)
            }
            "x " => call("Edit", json!({ "file_path": rest }), Some("no such text"), Status::Failed),
            "- " => call("Read", json!({ "file_path": rest }), Some("text"), Status::Succeeded),
            _ => panic!("{line}"),
        }
    });
    Transcript { session: "s1".to_owned(), project: "/srv/app".to_owned(), started: None, turns: turns.collect() }
}

fn names(transcript: &Transcript, config: &CaptureConfig, heuristic: Heuristic) -> Vec<String> {
    let candidates = suggest(transcript, config).candidates.into_iter();
    candidates.filter(|candidate| candidate.heuristic == heuristic).map(|candidate| candidate.name).collect()
}

#[track_caller]
fn check(heuristic: Heuristic, lines: &[&str], expected: &[&str]) {
    let all = CaptureConfig { selection: Selection::All, ..CaptureConfig::default() };
    assert_eq!(names(&sketch(lines), &all, heuristic), expected, "{lines:?}");
}

/// The only lesson of a rule.
fn lesson(heuristic: Heuristic, lines: &[&str]) -> serde_json::Value {
    let suggestions = suggest(&sketch(lines), &CaptureConfig::default());
    let found = suggestions.candidates.iter().find(|candidate| candidate.heuristic == heuristic);
    found.unwrap_or_else(|| panic!("{:?}", suggestions.explanations)).draft.to_json()
}

#[test]
fn multi_step() {
    let check = |lines: &[&str], expected: &[&str]| check(Heuristic::MultiStep, lines, expected);
    check(&["$ git add a", "$ git commit -m x", "$ git push", "$ gh pr create"], &["procedure-git"]);
    // What a harness kept from running did not succeed.
    let refused = "$ x";
    let mut transcript = sketch(&["$ git add a", "$ git commit -m x", refused, "$ gh pr create"]);
    if let Turn::ToolCall(call) = &mut transcript.turns[2] {
        call.result = Some("The user doesn't want to proceed with this tool use.".to_owned());
    }
    assert!(names(&transcript, &CaptureConfig::default(), Heuristic::MultiStep).is_empty());
    // Three are too few.
    check(&["$ git add a", "$ git commit -m x", "$ git push"], &[]);
    // Other tools are transparent.
    check(
        &["$ git add a", "- f", "$ git commit -m x", "~ g", "< ok", "$ git push", "$ gh pr create"],
        &["procedure-git"],
    );
    // A failure ends a run, and a new one can follow; a call without a result is no success.
    check(&["$ go build", "$ go test", "! go vet", "$ go build", "$ go test"], &[]);
    check(&["$ go build", "$ go test", "? go vet", "$ go build", "$ go test"], &[]);
    check(
        &["$ go build", "$ go test", "$ a b", "$ c d", "! go vet", "$ npm ci", "$ npm test", "$ e f", "$ g h"],
        &["procedure-go", "procedure-npm"],
    );
    // One thing four times is no procedure, and looking around is none.
    check(&["$ go test a", "$ go test b", "$ go test c", "$ go test d"], &[]);
    check(&["$ ls", "$ cat x", "$ grep y z", "$ git status", "$ go build"], &[]);
    // Two things in a row are no procedure, unless they come again in the same order; version control alone is no news.
    check(&["$ go vet", "$ ls", "$ go test", "$ go test"], &[]);
    check(&["$ go vet", "$ go test", "$ go vet", "$ go test"], &["procedure-go"]);
    check(&["$ git add a", "$ git commit -m x", "$ git add b", "$ git commit -m y"], &[]);
    let looks = ["$ go vet", "$ go test", "$ ls", "$ cat x", "$ cat y", "$ cat z", "$ rg y", "$ go vet", "$ go test"];
    check(&looks, &[]);
    check(&["$ cat x", "$ go vet", "$ go test", "$ ls", "$ go vet", "$ go test", "$ ls"], &["procedure-go"]);
    check(&["$ git add -A", "$ git commit -m 'a b'", "$ git push", "$ git pull"], &[]);
    // Looking around with a build in it is none, and neither are scripts.
    check(&["$ go vet", "$ rg y", "$ cat z", "$ rg z", "$ go build", "$ ls", "$ cat w", "$ go test"], &[]);
    check(&["$ ls", "$ rg y", "$ cat z", "$ rg z", "$ go vet", "$ go build", "$ go test", "$ ls"], &["procedure-go"]);
    check(
        &["$ for f in a b; do make $f; done", "$ load <<'E'\nx\nE", "$ go build", "$ go test", "$ go vet"],
        &["procedure-go"],
    );
    check(&["$ rm a", "$ mkdir b", "$ mv c d", "$ go build", "$ cp e f", "$ chmod +x g", "$ go test"], &[]);
    // A task ends with its commit and what publishes it, or when its issue is closed.
    check(
        &[
            "$ go test",
            "$ git commit -m x",
            "$ git push",
            "$ npm ci",
            "$ npm test",
            "$ npm run lint",
            "$ npm run build",
        ],
        &["procedure-npm"],
    );
    check(&["$ go build", "$ go test", "$ issue close a-1", "$ npm ci", "$ npm test", "$ npm run lint"], &[]);
    // What a filter hides, and a code that was printed, is no success.
    let mut hidden = sketch(&["$ go build", "$ go vet", "$ go test | tail -3", "$ go fmt"]);
    if let Turn::ToolCall(call) = &mut hidden.turns[2] {
        call.result = Some("--- FAIL: TestRead (0.01s)\nFAIL".to_owned());
    }
    assert!(names(&hidden, &CaptureConfig::default(), Heuristic::MultiStep).is_empty());
    // The same again is told once, and no more than another did not at all.
    let all = ["$ go build", "$ go vet", "$ go test", "$ go fmt"];
    check(&[&all[..], &["! x"], &all[..]].concat(), &["procedure-go"]);
    check(&[&["$ go vet", "$ go build", "$ go test", "$ go test", "! x"], &all[..]].concat(), &["procedure-go"]);
    // A run over two requests falls apart where one of the pieces is long enough, and holds together otherwise.
    check(
        &["$ npm ci", "> now release it", "$ git add a", "$ git commit -m x", "$ git push", "$ gh pr create"],
        &["procedure-git"],
    );
    check(&["$ npm ci", "$ npm test", "> now release it", "$ git add a", "$ git push"], &["procedure-npm"]);
}

#[test]
fn procedures_are_numbered() {
    let lines = [
        "> Please release the new version.",
        "$ cargo test",
        "$ cargo fmt",
        "$ cargo test",
        "$ git push --tags",
        "$ ls",
    ];
    let lesson = lesson(Heuristic::MultiStep, &lines);
    assert_eq!(lesson["trigger"], "Please release the new version. (cargo test, cargo fmt and git push)");
    let steps = "Run, in this order:\n1. `cargo test`\n2. `cargo fmt`\n3. `git push --tags`";
    assert_eq!(lesson["correct_pattern"], steps);
    assert_eq!(lesson["provenance"]["origin"], "mined");
    assert_eq!(lesson["provenance"]["session"], "s1");
    assert_eq!(lesson["project"], "/srv/app");
}

#[test]
fn procedures_say_when() {
    let told = |lines: &[&str]| {
        let lesson = lesson(Heuristic::MultiStep, lines);
        (lesson["trigger"].as_str().unwrap().to_owned(), lesson["correct_pattern"].as_str().unwrap().to_owned())
    };
    let checks = ["$ gofmt -w src/a.go", "$ go build ./... | head -5", "$ go test ./...", "$ golangci-lint run 2>&1"];
    let (trigger, solution) = told(&[&["> Address 2 and 10", "~ src/a.go", "~ README.md"], &checks[..]].concat());
    assert_eq!(trigger, "after changing .go files: gofmt, go build, go test and golangci-lint run");
    let steps = "Run, in this order:\n1. `gofmt -w <changed-files>`\n2. `go build ./...`\n3. `go test ./...`\n4. `golangci-lint run`";
    assert_eq!(solution, steps);
    assert_eq!(told(&checks).0, "checking the code: gofmt, go build, go test and golangci-lint run");
    // Where it was done, once; an identifier that differs as a place for one.
    let work =
        |id: &str| [format!("$ cd web && issue start {id}"), "$ cd web && npm ci".to_owned(), "$ npm test".to_owned()];
    let lines = [work("a-1"), work("b-2")].concat();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let (trigger, solution) = told(&lines);
    assert_eq!(trigger, "doing issue start, npm ci and npm test");
    assert_eq!(solution, "Run in `web`, in this order:\n1. `issue start <id>`\n2. `npm ci`\n3. `npm test`");
    // What was changed is something else the next time; what was also checked as a whole is told as a whole.
    let lines = ["~ /srv/web/in/a.go", "$ go vet ./web/in/", "$ go build ./x/y", "$ go test ./x/y", "$ go test ./..."];
    let steps = "Run, in this order:\n1. `go vet <changed-folders>`\n2. `go build ./x/y`\n3. `go test ./...`";
    assert_eq!(told(&lines).1, steps);
    // The widest of equally frequent ways.
    let (_, solution) = told(&["$ npm ci", "$ npm test one", "$ npm run lint", "$ npm test"]);
    assert_eq!(solution, "Run, in this order:\n1. `npm ci`\n2. `npm test`\n3. `npm run lint`");
}

#[test]
fn error_recovery() {
    let check = |lines: &[&str], expected: &[&str]| check(Heuristic::ErrorRecovery, lines, expected);
    check(&["! pip install request", "$ pip install requests"], &["error-pip"]);
    check(&["! go test ./...", "~ main.go: retries := 1 => retries := 2", "$ go test ./..."], &["error-go"]);
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
    // Fewer tests pass: the code is what failed. A change, and another command: nobody knows which it was.
    check(&["! go test ./... # --- FAIL: TestRead (0.01s)", "$ go test ./a"], &[]);
    check(&["! go vet ./... # a/b.go:3:7: unused variable", "$ go vet ./c"], &[]);
    check(&["! make all # error: no rule", "~ Makefile: x => y", "$ make most"], &[]);
    check(&["! git push # error: rejected", "$ git fetch origin"], &[]);
    check(&["! git psuh # git: 'psuh' is not a git command; unknown option", "$ git push"], &["error-git"]);
    // Something else that succeeds is no recovery.
    check(&["! make", "$ npm test"], &[]);
    check(&["! git push", "$ git status"], &[]);
    check(&["$ pip install requests", "! pip install request"], &[]);
    // Among the next five, the nearest.
    check(&["! make", "$ ls", "$ ls", "$ ls", "$ ./configure", "$ make"], &["error-make"]);
    check(&["! make", "$ ls", "$ ls", "$ ls", "$ ls", "$ ./configure", "$ make"], &[]);
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
    // Changing the test until it passes is no recovery.
    check(&["! go test ./...", "~ a/main_test.go: 1 => 2", "$ go test ./..."], &[]);
    let script = format!("! python3 -c '{}'", "print(1);".repeat(60));
    check(&[&script, "$ python3 -c 'print(2)'"], &[]);
}

#[test]
fn recoveries_say_what_changed() {
    let error = "! pip install request # Looking\nERROR: No matching distribution found for request";
    let found =
        lesson(Heuristic::ErrorRecovery, &["> Add an HTTP client to the crawler.", error, "$ pip install requests"]);
    assert_eq!(found["trigger"], "`pip install request` fails: ERROR: No matching distribution found for request");
    assert_eq!(found["correct_pattern"], "Run `pip install requests` (request → requests).");
    assert_eq!(found["task"], "Add an HTTP client to the crawler.");
    let table = "| before | after |\n|---|---|\n| `pip install request` | `pip install requests` |\n\n\
                 ERROR: No matching distribution found for request";
    assert_eq!(found["code_example"], table);

    let lines = ["! make | tail -3", "~ src/a.c: int x; => long x;", "$ mkdir out", "$ make | tail -5"];
    let found = lesson(Heuristic::ErrorRecovery, &lines);
    assert_eq!(found["trigger"], "`make` fails: error: it failed");
    let solution = "First replace `int x;` by `long x;` in a.c, run `mkdir out`; then `make` passes.";
    assert_eq!(found["correct_pattern"], solution);
    let found = lesson(Heuristic::ErrorRecovery, &["! make", "~ a.c: one\ntwo\nthree => one\nthree", "$ make"]);
    assert_eq!(found["correct_pattern"], "First remove `two` from a.c; then `make` passes.");
    let found = lesson(Heuristic::ErrorRecovery, &["! make", "~ a.c: one => one\ntwo", "$ make"]);
    assert_eq!(found["correct_pattern"], "First add `two` to a.c; then `make` passes.");
    // The filter is what failed.
    let found = lesson(
        Heuristic::ErrorRecovery,
        &["! sed -n 2p x | cat -A # cat: illegal option -- A", "$ sed -n 2p x | cat -vet"],
    );
    assert_eq!(found["correct_pattern"], "Run `sed -n 2p x | cat -vet` (-A → -vet).");
}

#[test]
fn the_nearest_that_does_the_same_is_the_recovery() {
    let transcript = sketch(&["! git push", "$ git status", "$ git push -u origin main", "$ git push"]);
    let suggestions = suggest(&transcript, &CaptureConfig::default());
    assert_eq!(suggestions.candidates[0].turns, [0, 2]);
}

#[test]
fn user_correction() {
    let check = |lines: &[&str], expected: &[&str]| check(Heuristic::UserCorrection, lines, expected);
    check(&["> build it", "$ npm run build", "> no, use make instead", "$ make"], &["user-correction-make"]);
    check(
        &["> do it", "~ src/a.rs", "> don't use unwrap in the parser, return the error", "~ src/a.rs"],
        &["user-correction-a-rs"],
    );
    // That something is wrong may point at what was done; what to do instead may not.
    check(
        &["> build it", "$ npm ci", "> No, that is wrong. Use pnpm for the packages in here.", "$ pnpm install"],
        &["user-correction-pnpm"],
    );
    // A call that the user refused is what was done.
    check(
        &["> do it", "n src/a.rs", "> no, keep the old name of the function here", "~ src/a.rs"],
        &["user-correction-a-rs"],
    );
    // They ask whether it is so.
    check(&["> do it", "~ a.rs", "> We don't want two parsers in here, use the first. Is it so?", "~ a.rs"], &[]);
    // Only a check was run, which the words do not mean; the files they name were not what was changed.
    check(&["> do it", "$ go build", "> We don't want a limit on the number of retries.", "~ a.rs"], &[]);
    check(&["> do it", "~ a.rs", "> no, put the helper into the other one, c.rs, please", "~ c.rs"], &[]);
    // Nobody knows what they mean: few words, a word that points, a number of a list, nothing but "things".
    check(&["> do it", "~ a.rs", "> I don't want that test.", "~ a.rs"], &[]);
    check(&["> do it", "~ a.rs", "> no, put it where all of the others are already", "~ a.rs"], &[]);
    check(&["> do it", "~ a.rs", "> No, let's use twelve characters for issues 17 and the rest", "~ a.rs"], &[]);
    check(&["> do it", "~ a.rs", "> We can make a new one rather than restore all of the things.", "~ a.rs"], &[]);
    // The words are words.
    check(&["> build it", "$ npm run build", "> I know, run another one", "$ make"], &[]);
    // Nothing had been done, or only read.
    check(&["> no, use make instead", "$ make"], &[]);
    check(&["> build it", "- f", "< I would use npm.", "> no, use make instead", "$ make"], &[]);
    check(&["$ npm run build", "> build it", "< ok", "> no, use make instead", "$ make"], &[]);
    // Nothing was done after it, it failed, or its end is not known.
    check(&["> build it", "$ npm run build", "> no, use make instead", "< I see"], &[]);
    check(&["> build it", "$ npm run build", "> no, use make instead", "< ok", "> go on", "$ make"], &[]);
    check(&["> build it", "$ npm run build", "> no, use make instead", "! make"], &[]);
    check(&["> build it", "$ npm run build", "> no, use make instead", "? make"], &[]);
    check(&["> do it", "~ a.rs", "> no, use a plain loop in a.rs instead", "x a.rs"], &[]);
    check(
        &["> build it", "$ npm run build", "> no, use make instead", "! make", "$ make all"],
        &["user-correction-make"],
    );
    // The user was not content with it.
    check(&["> build it", "$ npm ci", "> no, use make", "$ make", "> no, that's wrong", "$ ls"], &[]);
}

#[test]
fn corrections_keep_the_words_of_the_user() {
    let said = "> Älteres steht oben.\nLooks fine. No! Use make instead. The rest is good.";
    let found =
        lesson(Heuristic::UserCorrection, &["> Build the docs, please.", "$ npm run docs", said, "$ make docs"]);
    let evidence = &found["provenance"]["evidence"][0];
    assert_eq!(evidence["quote"], "Use make instead.");
    assert_eq!((evidence["turn"].as_u64(), evidence["range"].clone()), (Some(2), json!([36, 53])));
    assert_eq!(found["trigger"], "running `npm run docs`");
    assert_eq!(found["correct_pattern"], "Use make instead. Then: `make docs`");
    assert_eq!(found["mistake"], "the user objected to `npm run docs`");
}

#[test]
fn corrections_are_told_so_that_they_hold_outside() {
    // Few words take the sentence beside them along; a command that they do not name is not theirs.
    let said = "> The retry loop hides the timeout. I don't want that.";
    let lines = ["> 2. go on with 4", "~ src/net.rs", said, "~ src/net.rs", "$ cargo test"];
    let found = lesson(Heuristic::UserCorrection, &lines);
    assert_eq!(found["provenance"]["evidence"][0]["quote"], "The retry loop hides the timeout. I don't want that.");
    assert_eq!(found["trigger"], "changing net.rs");
    assert_eq!(found["mistake"], "the user objected to a change of net.rs");
    assert_eq!(found["correct_pattern"], "The retry loop hides the timeout. I don't want that.");
    let lines =
        ["> Add a retry to the upload.", "n src/net.rs", "> no, use the backoff of the client library", "~ src/net.rs"];
    let found = lesson(Heuristic::UserCorrection, &lines);
    assert_eq!(found["trigger"], "Add a retry to the upload. (net.rs)");
    assert_eq!(found["mistake"], "the user refused a change of net.rs");
}

#[test]
fn repeated_action() {
    let check = |lines: &[&str], expected: &[&str]| check(Heuristic::RepeatedAction, lines, expected);
    let looks = ["$ ls", "$ ls", "$ cat x", "$ pwd"];
    check(&[&looks[..], &["$ go test ./a", "$ go test ./b"]].concat(), &["repeated-go-test"]);
    // Five calls are too few, failures do not count, and looking is no action.
    check(&[&looks[..3], &["$ go test ./a", "$ go test ./b"]].concat(), &[]);
    check(&[&looks[..], &["$ go test ./a", "! go test ./b"]].concat(), &[]);
    check(&[&looks[..], &looks[..]].concat(), &[]);
    // The most repeated first, the earliest of equals.
    check(
        &["$ go vet", "$ make a", "$ make a", "$ go test", "$ go test", "$ go vet", "$ go vet"],
        &["repeated-go-vet", "repeated-make-a", "repeated-go-test"],
    );
    // Where a filter hides the status, a place in a file is a complaint.
    let mut piped = sketch(&[&looks[..], &["$ go vet | head", "$ go vet | head"]].concat());
    if let Turn::ToolCall(call) = &mut piped.turns[5] {
        call.result = Some("./a.go:3:7: declared and not used".to_owned());
    }
    assert!(names(&piped, &CaptureConfig::default(), Heuristic::RepeatedAction).is_empty());
    // A form that was used once was not repeated, and a code that was printed is no success.
    check(&[&looks[..], &["$ go test -v ./a ./b", "$ go test --count=1"]].concat(), &[]);
    let mut printed = sketch(&[&looks[..], &["$ make all | tail -1; echo EXIT=$?", "$ make all"]].concat());
    if let Turn::ToolCall(call) = &mut printed.turns[4] {
        call.result = Some("EXIT=2".to_owned());
    }
    assert!(names(&printed, &CaptureConfig::default(), Heuristic::RepeatedAction).is_empty());
    // That changes are committed and pushed is no news; that they are pushed in one particular way is.
    check(&[&looks[..], &["$ git push", "$ git push", "$ git commit -m 'a b'", "$ git commit -m 'c d'"]].concat(), &[]);
    check(&[&looks[..], &["$ git push -u origin main", "$ git push -u origin main"]].concat(), &["repeated-git-push"]);
    // Filters are not what differs; one line may do two things.
    check(&[&looks[..], &["$ make x | tail -5", "$ make x 2>&1 | head; echo ok"]].concat(), &["repeated-make-x"]);
    check(&[&looks[..], &["$ npm ci && npm test", "$ npm test"]].concat(), &["repeated-npm-test"]);
    // Different subcommands are different; moving different files is nothing to know.
    check(&["$ npm ci", "$ npm test", "$ git add", "$ git push", "$ mv a b", "$ mv c d"], &[]);
}

#[test]
fn repetitions_show_the_usual_way() {
    let lines = ["$ go test ./a", "$ go test ./b", "$ go test ./b", "$ ls", "$ ls", "$ ls"];
    let found = lesson(Heuristic::RepeatedAction, &lines);
    assert_eq!(found["code_example"], "go test ./b");
    assert_eq!(found["trigger"], "checking the code: running `go test`");
    assert_eq!(found["correct_pattern"], "Run `go test ./b`. It was used 2 times in one session and worked.");
    // Where one operand is another each time, a place for it.
    let lines = ["$ issue start a-1", "$ issue start a-2", "$ issue start b-7", "$ ls", "$ ls", "$ ls"];
    let found = lesson(Heuristic::RepeatedAction, &lines);
    assert_eq!(found["code_example"], "issue start <id>");
    assert_eq!(found["trigger"], "running `issue start`");
    let lines =
        ["~ a.ts", "$ cd web && npx tsc", "~ b.ts", "$ cd web && npx tsc | tail", "$ ls", "$ ls", "$ ls", "$ ls"];
    let found = lesson(Heuristic::RepeatedAction, &lines);
    assert_eq!(found["trigger"], "after changing .ts files: running `npx tsc`");
    assert_eq!(found["code_example"], "cd web && npx tsc");
}

#[test]
fn explicit_instruction() {
    let check = |said: &str, expected: &[&str]| {
        check(Heuristic::ExplicitInstruction, &["> start it", "$ docker compose up", &format!("> {said}")], expected);
    };
    check("save this as docker-dev", &["docker-dev"]);
    check("Great. Please save this as a skill", &["docker"]);
    check("save this as a skill please", &["docker"]);
    check("create skill about local databases", &["local-databases"]);
    check("Make a skill called \"dev up\" for this", &["dev-up"]);
    check("remember this: the port is 8080", &["docker"]);
    check("can you add a skill for that?", &["docker"]);
    check("it was good, save as skill", &["docker"]);
    // Not addressed to the assistant's memory.
    check("does the button save this value?", &[]);
    check("I remember this one", &[]);
    check("the users save it and it is lost", &[]);
    check("> save this as x\nwhat did he mean", &[]);
}

#[test]
fn instructions_keep_the_commands_around_them() {
    let lines = ["> one", "$ go build", "> Start the database.", "$ docker compose up", "> remember this: port 8080"];
    let found = lesson(Heuristic::ExplicitInstruction, &lines);
    assert_eq!(found["correct_pattern"], "remember this: port 8080\n1. `docker compose up`");
    assert_eq!(found["provenance"]["evidence"][0]["quote"], "remember this: port 8080");
    let found = lesson(Heuristic::ExplicitInstruction, &["> remember this: run make first", "$ make"]);
    assert_eq!(found["correct_pattern"], "remember this: run make first\n1. `make`");
}

/// Something of each rule, twice.
fn rich() -> Transcript {
    sketch(&[
        "> Install the client library.",
        "! pip install request # ERROR: no such package",
        "$ pip install requests",
        "> no, use poetry instead",
        "$ poetry add requests",
        "! make a",
        "$ make b",
        "> no, use ninja instead",
        "$ ninja",
        "$ go test ./a",
        "$ go test ./b",
        "$ go build",
        "! x",
        "$ go vet",
        "$ go test",
        "$ go build",
        "$ go fmt",
        "> save this as one",
        "> save this as two",
    ])
}

#[test]
fn one_of_each_rule_and_at_most_five() {
    let heuristics = |config: &CaptureConfig| -> Vec<Heuristic> {
        suggest(&rich(), config).candidates.iter().map(|candidate| candidate.heuristic).collect()
    };
    assert_eq!(heuristics(&CaptureConfig::default()), Heuristic::ALL);
    let few = CaptureConfig { max_candidates: 2, ..CaptureConfig::default() };
    assert_eq!(heuristics(&few), [Heuristic::MultiStep, Heuristic::ErrorRecovery]);
    let all = CaptureConfig { selection: Selection::All, ..few };
    assert!(heuristics(&all).len() > 7, "{:?}", heuristics(&all));
    // The longest run; of equals the earliest.
    let best = suggest(&rich(), &CaptureConfig::default()).candidates;
    assert_eq!((best[0].turns.len(), best[4].name.as_str()), (4, "one"));
}

#[test]
fn every_refusal_has_its_reason() {
    let reasons = |lines: &[&str], heuristic| -> Vec<Because> {
        let explanations = suggest(&sketch(lines), &CaptureConfig::default()).explanations.into_iter();
        explanations.filter(|explanation| explanation.heuristic == heuristic).map(|found| found.because).collect()
    };
    let refused = |hurdle: Hurdle| [Because::Refused(hurdle)];
    assert_eq!(reasons(&["$ make"], Heuristic::MultiStep), refused(Hurdle::ShortRun { n_calls: 1, min: 4 }));
    assert_eq!(reasons(&["$ make"], Heuristic::RepeatedAction), refused(Hurdle::FewCalls { n_calls: 1, min: 6 }));
    assert_eq!(
        reasons(&["! make", "$ npm ci"], Heuristic::ErrorRecovery),
        refused(Hurdle::NothingRelated { n_looked_at: 1, window: 5 })
    );
    assert_eq!(reasons(&["> no, use make"], Heuristic::UserCorrection), refused(Hurdle::NothingDoneBefore));
    assert_eq!(
        reasons(&["! make", "$ mkdir x", "$ make"], Heuristic::ErrorRecovery),
        [Because::Fired(Ground::Recovered { relation: crate::capture::Relation::Rerun, distance: 2, n_edited: 0 })]
    );
    for (lines, hurdle) in [
        (&["! make", "$ make"][..], Hurdle::NothingTold { n_between: 0, n_changes: 0 }),
        (&["! make # Exit code 2", "$ make"], Hurdle::NoError),
        (&["! make", "> hm", "$ make"], Hurdle::SaidBetween { turn: 1 }),
        (&["! git push", "$ git fetch"], Hurdle::OtherRun { n_edited: 0 }),
    ] {
        assert_eq!(reasons(lines, Heuristic::ErrorRecovery), refused(hurdle), "{lines:?}");
    }
    for (said, hurdle) in [
        ("> no, use make for the docs. Is it there?", Hurdle::Asks),
        ("> I don't want that test.", Hurdle::NoReferent),
        ("> no, put the parser into b.rs and the rest into c.rs", Hurdle::NotWhatWasDone),
    ] {
        assert_eq!(
            reasons(&["> do it", "~ a.rs", said, "~ a.rs"], Heuristic::UserCorrection),
            refused(hurdle),
            "{said}"
        );
    }
    let looks = ["$ go vet", "$ ls", "$ cat x", "$ go test"];
    let mostly = Hurdle::MostlyLooked { n_calls: 4, n_acting: 2, n_actions: 2 };
    assert_eq!(reasons(&looks, Heuristic::MultiStep), refused(mostly));
    let many = ["$ a a", "$ b b", "$ c c", "$ d d", "$ e e", "$ f f", "$ g g", "$ h h", "$ i i"];
    assert_eq!(reasons(&many, Heuristic::MultiStep), refused(Hurdle::ManyActions { n_actions: 9, max: 8 }));
}

#[test]
fn the_same_transcript_gives_the_same_bytes() {
    let text = || format!("{:?}", suggest(&rich(), &CaptureConfig::default()));
    assert_eq!(text(), text());
}

fn turn() -> impl Strategy<Value = Turn> {
    let text = "(no|No|use|instead|try|wrong|save this as|[,.!?。 \\n]|é|```|`|\"|\\$\\(|[a-z]{1,5}| ){0,30}";
    let status = prop_oneof![Just(Status::Succeeded), Just(Status::Failed), Just(Status::Unknown)];
    let tool = prop_oneof![Just("Bash"), Just("Edit"), Just("Read")];
    let call = (tool, "(git|go|make|pip|[ a-z./|&;'\"$()-]{1,6}| ){0,6}", proptest::option::of(".{0,40}"), status);
    prop_oneof![
        text.prop_map(Turn::User),
        text.prop_map(Turn::Assistant),
        text.prop_map(Turn::System),
        call.prop_map(|(tool, command, result, status)| {
            let input = json!({ "command": command, "file_path": command });
            Turn::ToolCall(ToolCall { tool: tool.to_owned(), input, result, status })
        }),
    ]
}

proptest! {
    #[test]
    fn nothing_panics_and_quotes_are_verbatim(turns in proptest::collection::vec(turn(), 0..30)) {
        let transcript = Transcript { turns, ..Transcript::default() };
        let config = CaptureConfig { selection: Selection::All, ..CaptureConfig::default() };
        for candidate in suggest(&transcript, &config).candidates {
            prop_assert!(candidate.turns.is_sorted(), "{:?}", candidate.turns);
            prop_assert!(candidate.turns.iter().all(|turn| *turn < transcript.turns.len()));
            let draft = candidate.draft.to_json();
            prop_assert!(!draft["trigger"].as_str().unwrap().trim().is_empty());
            prop_assert!(!draft["correct_pattern"].as_str().unwrap().trim().is_empty());
            for evidence in draft["provenance"]["evidence"].as_array().into_iter().flatten() {
                let number = usize::try_from(evidence["turn"].as_u64().unwrap()).unwrap();
                let Turn::User(text) = &transcript.turns[number] else { panic!("not a user's turn") };
                let place = |end: usize| usize::try_from(evidence["range"][end].as_u64().unwrap()).unwrap();
                let span: String = text.chars().skip(place(0)).take(place(1) - place(0)).collect();
                prop_assert_eq!(&evidence["quote"], &json!(span));
            }
        }
    }
}
