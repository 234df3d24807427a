use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::capture::{Status, ToolCall, Turn};

/// A transcript, a line a turn: `> said by the user`, `< by the assistant`, `$ command` that succeeded, `! command | error` that
/// failed, `? command` without a result, `~ file` edited, `x file` edit that failed, `- ` a tool that only reads.
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
            "~ " => call("Edit", json!({ "file_path": rest }), Some("ok"), Status::Succeeded),
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
        "$ cargo test --all",
        "$ git push",
        "$ ls",
    ];
    let lesson = lesson(Heuristic::MultiStep, &lines);
    assert_eq!(lesson["trigger"], "Please release the new version. (cargo test, cargo fmt and git push)");
    let steps = "Run, in this order:\n1. `cargo test --all`\n2. `cargo fmt`\n3. `git push`";
    assert_eq!(lesson["correct_pattern"], steps);
    assert_eq!(lesson["provenance"]["origin"], "mined");
    assert_eq!(lesson["provenance"]["session"], "s1");
    assert_eq!(lesson["project"], "/srv/app");
}

#[test]
fn error_recovery() {
    let check = |lines: &[&str], expected: &[&str]| check(Heuristic::ErrorRecovery, lines, expected);
    check(&["! pip install request", "$ pip install requests"], &["error-pip"]);
    check(&["! go test ./...", "~ main.go", "$ go test ./..."], &["error-go"]);
    check(&["! make", "$ make"], &["error-make"]);
    // Something else that succeeds is no recovery.
    check(&["! make", "$ npm test"], &[]);
    check(&["! git push", "$ git status"], &[]);
    check(&["$ pip install requests", "! pip install request"], &[]);
    // Among the next five, the nearest.
    check(&["! make", "$ a b", "$ c d", "$ e f", "$ g h", "$ make"], &["error-make"]);
    check(&["! make", "$ a b", "$ c d", "$ e f", "$ g h", "$ i j", "$ make"], &[]);
    // Tools that are no terminal do not count.
    check(&["! make", "- a", "- b", "- c", "- d", "- e", "- f", "$ make"], &["error-make"]);
    // Two failures before one success are one recovery.
    check(&["! pip instal request", "! pip install request", "$ pip install requests"], &["error-pip"]);
    // A call that a person stopped did not fail; one without a result neither.
    check(&["! make # [Request interrupted by user for tool use]", "$ make"], &[]);
    check(&["? make", "$ make"], &[]);
    // Looking elsewhere teaches nothing; a flag that is not known does.
    check(&["! ls docs # ls: docs: No such file or directory", "$ ls src"], &[]);
    check(&["! cat -A x # cat: illegal option -- A", "$ cat -vet x"], &["error-cat"]);
    check(&["! gti status # gti: command not found", "$ git status"], &["error-gti"]);
    // Changing the test until it passes is no recovery.
    check(&["! go test ./...", "~ a/main_test.go", "$ go test ./..."], &[]);
    let script = format!("! python3 -c '{}'", "print(1);".repeat(60));
    check(&[&script, "$ python3 -c 'print(2)'"], &[]);
}

#[test]
fn recoveries_say_what_changed() {
    let error = "! pip install request # Looking\nERROR: No matching distribution found for request";
    let found = lesson(Heuristic::ErrorRecovery, &["> Add an HTTP client to it.", error, "$ pip install requests"]);
    assert_eq!(found["trigger"], "`pip install request` fails: ERROR: No matching distribution found for request");
    assert_eq!(found["correct_pattern"], "Run `pip install requests` (request → requests).");
    assert_eq!(found["task"], "Add an HTTP client to it.");
    let table = "| before | after |\n|---|---|\n| `pip install request` | `pip install requests` |\n\n\
                 ERROR: No matching distribution found for request";
    assert_eq!(found["code_example"], table);

    let found = lesson(Heuristic::ErrorRecovery, &["! make", "~ src/a.c", "~ src/b.c", "$ mkdir out", "$ make"]);
    assert_eq!(found["correct_pattern"], "First change a.c and b.c, run `mkdir out`; then `make` passes.");
    let found = lesson(Heuristic::ErrorRecovery, &["! make", "$ make"]);
    assert!(found["correct_pattern"].as_str().unwrap().contains("second attempt"), "{found}");
}

#[test]
fn the_nearest_that_does_the_same_is_the_recovery() {
    let transcript = sketch(&["! git push", "$ git pull", "$ git push -u origin main", "$ git push"]);
    let suggestions = suggest(&transcript, &CaptureConfig::default());
    assert_eq!(suggestions.candidates[0].turns, [0, 2]);
}

#[test]
fn user_correction() {
    let check = |lines: &[&str], expected: &[&str]| check(Heuristic::UserCorrection, lines, expected);
    check(&["> build it", "$ npm run build", "> no, use make instead", "$ make"], &["user-correction-make"]);
    check(&["> do it", "~ src/a.rs", "> don't use unwrap here", "~ src/a.rs"], &["user-correction-a-rs"]);
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
    check(&["> do it", "~ a.rs", "> no, use b.rs instead", "x b.rs"], &[]);
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
    assert_eq!(found["trigger"], "Build the docs, please. (make)");
    assert_eq!(found["correct_pattern"], "Use make instead. Then: `make docs`");
    assert_eq!(found["mistake"], "the user objected to `npm run docs`");
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
    // Different subcommands are different; moving different files is nothing to know.
    check(&["$ npm ci", "$ npm test", "$ git add", "$ git push", "$ mv a b", "$ mv c d"], &[]);
}

#[test]
fn repetitions_show_the_usual_way() {
    let lines = ["$ go test ./a", "$ go test ./b", "$ go test ./b", "$ ls", "$ ls", "$ ls"];
    let found = lesson(Heuristic::RepeatedAction, &lines);
    assert_eq!(found["code_example"], "go test ./b");
    assert_eq!(found["trigger"], "running `go test`");
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
        "! pip install request # ERROR: none",
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
        reasons(&["! make", "$ make"], Heuristic::ErrorRecovery),
        [Because::Fired(Ground::Recovered { relation: crate::capture::Relation::Rerun, distance: 1, n_edited: 0 })]
    );
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
