//! Procedures and repeated commands.

use super::*;

#[test]
fn checks_and_procedures_come_back_before_their_commands() {
    let edits = ["~ a.go: x => y", "~ b.go: x => y", "~ c.go: x => y", "~ ci.yml: x => y", "~ README.md: x => y"];
    let checks = ["$ go test ./...", "$ go build ./...", "$ npx --prefix web tsc"];
    let lesson_of = |lines: &[&str]| lesson(Heuristic::RepeatedAction, lines);
    let told = lesson_of(&[&edits[..], &checks].concat());
    assert_eq!(told["commands"], json!(["git commit*", "git push*", "go build*", "npx *tsc*", "go test*"]));
    assert_eq!(told["paths"], json!(["*.go"]), "neither prose nor what was hardly changed");
    // As often as half of the kind that was changed most.
    let told = lesson_of(&[&edits[1..], &checks].concat());
    assert_eq!(told["paths"], json!(["*.go", "*.yml"]));
    let procedure = |lines: &[&str]| lesson(Heuristic::MultiStep, lines)["commands"].clone();
    assert_eq!(procedure(&["$ rel ship", "$ rel sign", "$ rel ship", "$ rel sign"]), json!(["rel ship*", "rel sign*"]));
    let only_git = procedure(&["$ git add a", "$ git commit -m x", "$ git push", "$ gh pr create"]);
    assert!(only_git.as_array().is_none_or(Vec::is_empty), "{only_git}");
}

#[test]
fn several_successful_commands_in_a_row_make_a_procedure() {
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
    // A failure ends a run, and a new one can follow; a call without a result is not a success.
    check(&["$ rel pack", "$ rel sign", "! rel ship", "$ rel pack", "$ rel sign"], &[]);
    check(&["$ rel pack", "$ rel sign", "? rel ship", "$ rel pack", "$ rel sign"], &[]);
    check(
        &["$ rel pack", "$ rel sign", "$ a b", "$ c d", "! rel ship", "$ npm ci", "$ npm test", "$ e f", "$ g h"],
        &["procedure-rel", "procedure-npm"],
    );
    // Checks alone are told with the project's other checks.
    check(&["$ go build", "$ go vet", "$ go test", "$ go fmt"], &[]);
    // One thing four times is not a procedure, nor is looking around.
    check(&["$ rel sign a", "$ rel sign b", "$ rel sign c", "$ rel sign d"], &[]);
    check(&["$ ls", "$ cat x", "$ grep y z", "$ git status", "$ rel pack"], &[]);
    // Two things in a row are not a procedure, unless they come again in the same order; version control alone is not worth a lesson.
    check(&["$ rel ship", "$ ls", "$ rel sign", "$ rel sign"], &[]);
    check(&["$ rel ship", "$ rel sign", "$ rel ship", "$ rel sign"], &["procedure-rel"]);
    check(&["$ git add a", "$ git commit -m x", "$ git add b", "$ git commit -m y"], &[]);
    let looks =
        ["$ rel ship", "$ rel sign", "$ ls", "$ cat x", "$ cat y", "$ cat z", "$ rg y", "$ rel ship", "$ rel sign"];
    check(&looks, &[]);
    check(&["$ cat x", "$ rel ship", "$ rel sign", "$ ls", "$ rel ship", "$ rel sign", "$ ls"], &["procedure-rel"]);
    check(&["$ git add -A", "$ git commit -m 'a b'", "$ git push", "$ git pull"], &[]);
    // Looking around with a build in it is none, and neither are scripts.
    check(&["$ rel ship", "$ rg y", "$ cat z", "$ rg z", "$ rel pack", "$ ls", "$ cat w", "$ rel sign"], &[]);
    check(
        &["$ ls", "$ rg y", "$ cat z", "$ rg z", "$ rel ship", "$ rel pack", "$ rel sign", "$ ls"],
        &["procedure-rel"],
    );
    check(
        &["$ for f in a b; do make $f; done", "$ load <<'E'\nx\nE", "$ rel pack", "$ rel sign", "$ rel ship"],
        &["procedure-rel"],
    );
    check(&["$ rm a", "$ mkdir b", "$ mv c d", "$ rel pack", "$ cp e f", "$ chmod +x g", "$ rel sign"], &[]);
    // A task ends with its commit and what publishes it, or when its issue is closed.
    check(
        &[
            "$ rel sign",
            "$ git commit -m x",
            "$ git push",
            "$ npm ci",
            "$ npm test",
            "$ npm run lint",
            "$ npm run build",
        ],
        &["procedure-npm"],
    );
    check(&["$ rel pack", "$ rel sign", "$ issue close a-1", "$ npm ci", "$ npm test", "$ npm run lint"], &[]);
    // What a filter hides, and a code that was printed, is not a success.
    let mut hidden = sketch(&["$ rel pack", "$ rel ship", "$ rel sign | tail -3", "$ rel note"]);
    if let Turn::ToolCall(call) = &mut hidden.turns[2] {
        call.result = Some("--- FAIL: TestRead (0.01s)\nFAIL".to_owned());
    }
    assert!(names(&hidden, &CaptureConfig::default(), Heuristic::MultiStep).is_empty());
    // The same again is told once, and no more than another did not at all.
    let all = ["$ rel pack", "$ rel ship", "$ rel sign", "$ rel note"];
    check(&[&all[..], &["! x"], &all[..]].concat(), &["procedure-rel"]);
    check(&[&["$ rel ship", "$ rel pack", "$ rel sign", "$ rel sign", "! x"], &all[..]].concat(), &["procedure-rel"]);
    // A run over two requests falls apart where one of the pieces is long enough, and holds together otherwise.
    check(
        &["$ npm ci", "> now release it", "$ git add a", "$ git commit -m x", "$ git push", "$ gh pr create"],
        &["procedure-git"],
    );
    check(&["$ npm ci", "$ npm test", "> now release it", "$ git add a", "$ git push"], &["procedure-npm"]);
}

#[test]
fn commands_between_edits_make_a_procedure_only_if_they_recur() {
    let check = |lines: &[&str], expected: &[&str]| check(Heuristic::MultiStep, lines, expected);
    let once = ["$ rel pack", "~ a", "~ b", "$ rel sign", "$ rel ship", "$ rel note"];
    check(&once, &[]);
    // What two tasks have in common is told, and what only one of them did is not; a failure in between does not matter.
    let lines = [
        "> Fix the header of the report.",
        "$ issue start a-1",
        "~ a.rs: 1 => 2",
        "~ b.rs: 1 => 2",
        "$ npm i left-pad",
        "! cargo test",
        "~ a.rs: 2 => 3",
        "$ cargo test",
        "$ issue close a-1",
        "$ git commit -am 'Fix it'",
        "> Now the footer.",
        "$ issue start b-7",
        "~ c.rs: 1 => 2",
        "~ c.rs: 2 => 3",
        "$ cargo test",
        "~ d.rs: 2 => 3",
        "$ issue close b-7",
        "$ git commit -am 'Write it'",
    ];
    check(&lines, &["procedure-issue"]);
    let found = lesson(Heuristic::MultiStep, &lines);
    let steps = "Run, in this order:\n1. `issue start <id>`\n2. `cargo test`\n3. `issue close <id>`\n4. `git commit -am \"<text>\"`";
    assert_eq!(found["correct_pattern"], steps);
    assert_eq!(found["trigger"], "doing issue start, cargo test, issue close and git commit");
    // Another order is another procedure, and checks with a commit are none.
    check(
        &[
            "$ rel a",
            "~ x",
            "~ x",
            "$ rel b",
            "$ rel c",
            "$ git commit -m x",
            "$ rel c",
            "~ x",
            "~ x",
            "$ rel b",
            "$ rel a",
        ],
        &[],
    );
    let checks = ["~ a", "~ b", "$ cargo test", "~ c", "$ cargo clippy", "$ git add a", "$ git commit -m x"];
    check(&[&checks[..], &checks[..]].concat(), &[]);
}

#[test]
fn a_procedure_without_the_formatter_it_needed_is_rejected() {
    let check = |lines: &[&str], expected: &[&str]| check(Heuristic::MultiStep, lines, expected);
    let release = ["$ rel pack", "$ rel sign", "$ rel ship", "$ rel note"];
    let failed = ["! rel pack # error: not formatted", "$ gofmt -w a.go"];
    check(&[&failed[..], &release].concat(), &["procedure-gofmt"]);
    check(&[&failed[..], &["$ rel pack", "! x"], &release].concat(), &[]);
}

#[test]
fn the_steps_of_a_procedure_are_numbered() {
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
fn a_procedure_names_its_occasion() {
    let told = |lines: &[&str]| {
        let lesson = lesson(Heuristic::MultiStep, lines);
        (lesson["trigger"].as_str().unwrap().to_owned(), lesson["correct_pattern"].as_str().unwrap().to_owned())
    };
    // Where it was done, once; an identifier that differs as a place for one.
    let work =
        |id: &str| [format!("$ cd web && issue start {id}"), "$ cd web && npm ci".to_owned(), "$ npm test".to_owned()];
    let lines = [work("a-1"), work("b-2")].concat();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let (trigger, solution) = told(&lines);
    assert_eq!(trigger, "doing issue start, npm ci and npm test");
    assert_eq!(solution, "Run in `web`, in this order:\n1. `issue start <id>`\n2. `npm ci`\n3. `npm test`");
    // What was changed is something else the next time; what was also checked as a whole is told as a whole.
    let lines = ["~ /srv/web/in/a.go", "$ go vet ./web/in/", "$ npm ci ./x/y", "$ go test ./x/y", "$ go test ./..."];
    let steps = "Run, in this order:\n1. `go vet <changed-folders>`\n2. `npm ci ./x/y`\n3. `go test ./...`";
    assert_eq!(told(&lines).1, steps);
    // The widest of equally frequent ways.
    let (_, solution) = told(&["$ npm ci", "$ npm test one", "$ npm run lint", "$ npm test"]);
    assert_eq!(solution, "Run, in this order:\n1. `npm ci`\n2. `npm test`\n3. `npm run lint`");
}

#[test]
fn a_command_used_again_and_again_makes_a_lesson() {
    let check = |lines: &[&str], expected: &[&str]| check(Heuristic::RepeatedAction, lines, expected);
    let looks = ["$ ls", "$ ls", "$ cat x", "$ pwd"];
    check(&[&looks[..], &["$ rel sign ./a", "$ rel sign ./b"]].concat(), &["repeated-rel-sign"]);
    // Five calls are too few, failures do not count, and looking is not an action.
    check(&[&looks[..3], &["$ rel sign ./a", "$ rel sign ./b"]].concat(), &[]);
    check(&[&looks[..], &["$ rel sign ./a", "! rel sign ./b"]].concat(), &[]);
    check(&[&looks[..], &looks[..]].concat(), &[]);
    // The most repeated first, the earliest of equals.
    check(
        &["$ rel ship", "$ make a", "$ make a", "$ rel sign", "$ rel sign", "$ rel ship", "$ rel ship"],
        &["repeated-rel-ship", "repeated-make-a", "repeated-rel-sign"],
    );
    // Where a filter hides the status, a place in a file is a complaint.
    let mut piped = sketch(&[&looks[..], &["$ go vet | head", "$ go vet | head"]].concat());
    if let Turn::ToolCall(call) = &mut piped.turns[5] {
        call.result = Some("./a.go:3:7: declared and not used".to_owned());
    }
    assert!(names(&piped, &CaptureConfig::default(), Heuristic::RepeatedAction).is_empty());
    // A form that was used once was not repeated, and a code that was printed is not a success.
    check(&[&looks[..], &["$ rel sign -v ./a ./b", "$ rel sign --count=1"]].concat(), &[]);
    let mut printed = sketch(&[&looks[..], &["$ make all | tail -1; echo EXIT=$?", "$ make all"]].concat());
    if let Turn::ToolCall(call) = &mut printed.turns[4] {
        call.result = Some("EXIT=2".to_owned());
    }
    assert!(names(&printed, &CaptureConfig::default(), Heuristic::RepeatedAction).is_empty());
    // That changes are committed and pushed is not worth a lesson; that they are pushed in one particular way is.
    check(&[&looks[..], &["$ git push", "$ git push", "$ git commit -m 'a b'", "$ git commit -m 'c d'"]].concat(), &[]);
    check(&[&looks[..], &["$ git push -u origin main", "$ git push -u origin main"]].concat(), &["repeated-git-push"]);
    // Filters are not what differs; one line may do two things.
    check(&[&looks[..], &["$ make x | tail -5", "$ make x 2>&1 | head; echo ok"]].concat(), &["repeated-make-x"]);
    check(&[&looks[..], &["$ npm ci && npm test", "$ npm test"]].concat(), &["project-checks"]);
    // Different subcommands are different; moving different files is nothing to know.
    check(&["$ npm ci", "$ npm test", "$ git add", "$ git push", "$ mv a b", "$ mv c d"], &[]);
}

#[test]
fn a_repeated_command_is_shown_in_its_usual_form() {
    let lines = ["$ rel sign ./a", "$ rel sign ./b", "$ rel sign ./b", "$ ls", "$ ls", "$ ls"];
    let found = lesson(Heuristic::RepeatedAction, &lines);
    assert_eq!(found["code_example"], "rel sign ./b");
    assert_eq!(found["trigger"], "running `rel sign`");
    assert_eq!(found["correct_pattern"], "Run `rel sign ./b`. It was used 2 times in one session and worked.");
    // Where one operand is another each time, a place for it.
    let lines = ["$ issue start a-1", "$ issue start a-2", "$ issue start b-7", "$ ls", "$ ls", "$ ls"];
    let found = lesson(Heuristic::RepeatedAction, &lines);
    assert_eq!(found["code_example"], "issue start <id>");
    assert_eq!(found["trigger"], "running `issue start`");
}

#[test]
fn the_checks_of_a_project_are_one_lesson() {
    let check = |lines: &[&str], expected: &[&str]| {
        let found = names(&sketch(lines), &CaptureConfig::default(), Heuristic::RepeatedAction);
        assert_eq!(found, expected, "{lines:?}");
    };
    let told =
        |lines: &[&str]| lesson(Heuristic::RepeatedAction, lines)["correct_pattern"].as_str().unwrap().to_owned();
    let lines = [
        "~ src/a.go",
        "$ go test ./x",
        "$ golangci-lint run 2>&1",
        "$ gofmt -w src/a.go",
        "$ go build ./... | head -5",
        "$ go test ./...",
    ];
    // In the order of their kinds, what was checked as a whole as a whole, and the files of the day as a place for files.
    let steps =
        "Check with:\n1. `gofmt -w <changed-files>`\n2. `go build ./...`\n3. `golangci-lint run`\n4. `go test ./...`";
    assert_eq!(told(&lines), steps);
    assert!(lesson(Heuristic::RepeatedAction, &lines)["trigger"].as_str().unwrap().starts_with("checking a change"));
    // One that came again is enough; two different ones, once each, are not.
    check(&["$ go test", "$ go test", "$ ls", "$ ls", "$ ls", "$ ls"], &["project-checks"]);
    check(&["$ go test", "$ go vet", "$ ls", "$ ls", "$ ls", "$ ls"], &[]);
    // A check of one part, once, does not say how to check.
    check(&["$ go test ./a", "$ go vet ./a", "$ go build ./a", "$ ls", "$ ls", "$ ls"], &[]);
    // Those of a release are named by the release.
    check(&["$ go vet", "$ go build", "$ go test", "$ rel sign", "$ rel ship", "$ ls"], &[]);
    // Where it was run.
    let lines = ["~ a.ts", "$ cd web && npx tsc", "$ cd web && npx tsc | tail", "$ ls", "$ ls", "$ ls", "$ ls"];
    assert_eq!(told(&lines), "Check with:\n1. `cd web && npx tsc`");
}

#[test]
fn checks_of_another_folder_are_not_checks_of_the_project() {
    let told = |folder: &str| {
        let lines =
            ["go build ./...", "go vet ./...", "go test ./..."].map(|check| format!("$ cd {folder} && {check}"));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        check(
            Heuristic::RepeatedAction,
            &lines,
            if folder.starts_with("/srv/app/") || folder == "/srv/app" { &["project-checks"] } else { &[] },
        );
    };
    for folder in ["/srv/app", "/srv/app/cli", "/srv/app-pr238/cli", "~/review"] {
        told(folder);
    }
}
