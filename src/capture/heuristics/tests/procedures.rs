//! Runs and repetitions.

use super::*;

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
