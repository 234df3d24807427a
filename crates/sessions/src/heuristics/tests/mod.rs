mod corrections;
mod intended_failures;
mod procedures;
mod recoveries;

use adage_transcript::{Status, ToolCall, Turn};
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// A transcript, a line a turn: `> said by the user`, `< by the assistant`, `$ command` that succeeded (`$ command # output`), `! command # error` that
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
            "$ " => {
                let (command, output) = rest.split_once(" # ").unwrap_or((rest, "done"));
                call("Bash", json!({ "command": command }), Some(output), Status::Succeeded)
            }
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
    Transcript {
        session: "s1".to_owned(),
        project: "/srv/app".to_owned(),
        turns: turns.collect(),
        ..Transcript::default()
    }
}

fn names(transcript: &Transcript, config: &CaptureConfig, heuristic: Heuristic) -> Vec<String> {
    let candidates = suggest(transcript, config).candidates.into_iter();
    candidates.filter(|candidate| candidate.heuristic == heuristic).map(|candidate| candidate.name).collect()
}

/// The names of all that a rule finds, the best first.
#[track_caller]
fn check(heuristic: Heuristic, lines: &[&str], expected: &[&str]) {
    let transcript = sketch(lines);
    let session = Session::new(&transcript);
    let trials = match heuristic {
        Heuristic::MultiStep => multi_step::find(&session),
        Heuristic::ErrorRecovery => error_recovery::find(&session),
        Heuristic::UserCorrection => user_correction::find(&session),
        Heuristic::RepeatedAction => repeated_action::find(&session),
        Heuristic::ExplicitInstruction => explicit_instruction::find(&session),
    };
    let found = Suggestions::default().best_first(heuristic, trials);
    let names: Vec<String> = found.into_iter().map(|fired| fired.candidate.name).collect();
    assert_eq!(names, expected, "{lines:?}");
}

/// The only lesson of a rule.
fn lesson(heuristic: Heuristic, lines: &[&str]) -> serde_json::Value {
    let suggestions = suggest(&sketch(lines), &CaptureConfig::default());
    let found = suggestions.candidates.iter().find(|candidate| candidate.heuristic == heuristic);
    found.unwrap_or_else(|| panic!("{lines:?}: {:?}", suggestions.explanations)).draft.to_json()
}

#[test]
fn a_request_to_remember_makes_a_lesson() {
    let check = |said: &str, expected: &[&str]| {
        check(Heuristic::ExplicitInstruction, &["> start it", "$ docker compose up", &format!("> {said}")], expected);
    };
    check("save this as docker-dev", &["docker-dev"]);
    check("Great. Please save this as a skill", &["docker"]);
    check("save this as a skill please", &["docker"]);
    check("create skill about local databases", &["local-databases"]);
    check("Make a skill called \"dev up\" for this", &["dev-up"]);
    check("remember this: the port is 8080", &["port"]);
    check("can you add a skill for that?", &["docker"]);
    check("it was good, save as skill", &["docker"]);
    check("remember this for next time please", &["docker"]);
    check("remember to run the formatter before a commit", &["formatter"]);
    check("From now on the port is 8081", &["port"]);
    check("note for next time: the port is taken", &["port"]);
    check("# always start the database first", &["database"]);
    check("Merk dir: der Port ist 8081", &["rule"]);
    check("recuerda que el puerto es 8081", &["rule"]);
    check("记住端口是 8081", &["rule"]);
    check("# Plan\nalways start the database first", &[]);
    check("do you remember to close it?", &[]);
    // Not addressed to the assistant's memory.
    check("does the button save this value?", &[]);
    check("I remember this one", &[]);
    check("the users save it and it is lost", &[]);
    check("> save this as x\nwhat did he mean", &[]);
}

#[test]
fn instructions_that_point_at_what_was_done_keep_the_commands_around_them() {
    let lines = ["> one", "$ go build", "> Start the database.", "$ docker compose up", "> save this as docker-dev"];
    let found = lesson(Heuristic::ExplicitInstruction, &lines);
    assert_eq!(found["correct_pattern"], "save this as docker-dev\n1. `docker compose up`");
    assert_eq!(found["provenance"]["evidence"][0]["quote"], "save this as docker-dev");
    let found = lesson(Heuristic::ExplicitInstruction, &["> add a skill for that", "$ make"]);
    assert_eq!(found["correct_pattern"], "add a skill for that\n1. `make`");
}

#[test]
fn a_rule_in_words_has_no_commands_and_a_situation_of_its_own() {
    let said = "> Remember: always run make fmt before you commit.";
    let found = lesson(Heuristic::ExplicitInstruction, &["> fix it", "$ sed -i s/10/3/ a.py", "$ pytest a.py", said]);
    assert_eq!(found["correct_pattern"], "always run make fmt before you commit.");
    assert_eq!(found["trigger"], "running make; fmt, commit");
    assert_eq!(found["commands"], json!(["make *", "git commit*"]));
    assert_eq!(found["provenance"]["evidence"][0]["quote"], "Remember: always run make fmt before you commit.");
    for (said, trigger) in [
        ("> From now on commits are signed with the work key", "before a commit; signed, key"),
        ("> remember this: retries need a delay", "work on retries and delay"),
    ] {
        assert_eq!(lesson(Heuristic::ExplicitInstruction, &[said, "$ ls -R"])["trigger"], trigger, "{said}");
    }
}

#[test]
fn several_rules_that_are_to_be_remembered_are_all_suggested() {
    let lines = ["> Remember: tabs in Makefiles.", "> Remember: the port of the staging server is 8081."];
    assert_eq!(names(&sketch(&lines), &CaptureConfig::default(), Heuristic::ExplicitInstruction).len(), 2);
}

/// Something of each rule, twice.
fn rich() -> Transcript {
    sketch(&[
        "> Install the client library.",
        "! pip install request # ERROR: no such package",
        "$ pip install requests",
        "> no, never install with pip here, we use poetry for all of our packages",
        "$ poetry add requests",
        "! make a",
        "$ make b",
        "> no, use ninja instead",
        "$ ninja",
        "$ rel sign ./a",
        "$ rel sign ./b",
        "$ rel pack",
        "! x",
        "$ rel ship",
        "$ rel sign",
        "$ rel pack",
        "$ rel note",
        "> save this as one",
        "> save this as two",
    ])
}

#[test]
fn the_candidates_of_highest_confidence_come_first_and_at_most_ten() {
    let confidences = |max_candidates: usize| -> Vec<f64> {
        let config = CaptureConfig { max_candidates, ..CaptureConfig::default() };
        let candidates = suggest(&rich(), &config).candidates;
        candidates.iter().map(|candidate| candidate.draft.to_json()["confidence"].as_f64().unwrap()).collect()
    };
    let all = confidences(usize::MAX);
    assert!(all.is_sorted_by(|one, other| one >= other) && all.len() > 4, "{all:?}");
    assert_eq!(confidences(2), all[..2]);
    let many: Vec<String> = (0..12).map(|n| format!("> remember: the port of part {n} is 80{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(suggest(&sketch(&many), &CaptureConfig::default()).candidates.len(), 10);
}

#[test]
fn every_refusal_has_its_reason() {
    let reasons = |lines: &[&str], heuristic| -> Vec<Because> {
        let explanations = suggest(&sketch(lines), &CaptureConfig::default()).explanations.into_iter();
        explanations.filter(|explanation| explanation.heuristic == heuristic).map(|found| found.because).collect()
    };
    let refused = |reason: RejectedBecause| [Because::Refused(reason)];
    assert_eq!(reasons(&["$ make"], Heuristic::MultiStep), refused(RejectedBecause::ShortRun { n_calls: 1, min: 4 }));
    assert_eq!(
        reasons(&["$ make"], Heuristic::RepeatedAction),
        refused(RejectedBecause::FewCalls { n_calls: 1, min: 6 })
    );
    assert_eq!(
        reasons(&["! make", "$ npm ci"], Heuristic::ErrorRecovery),
        refused(RejectedBecause::NothingRelated { n_looked_at: 1, window: 5 })
    );
    let heard = reasons(&["> run it"], Heuristic::UserCorrection);
    assert!(matches!(heard[..], [Because::Refused(RejectedBecause::NotHeard { .. })]), "{heard:?}");
    assert_eq!(
        reasons(&["! make", "$ mkdir x", "$ make"], Heuristic::ErrorRecovery),
        [Because::Fired(FiredBecause::Recovered {
            relation: adage_transcript::Relation::Rerun,
            distance: 2,
            n_edited: 0
        })]
    );
    for (lines, reason) in [
        (&["! make", "$ make"][..], RejectedBecause::NothingTold { n_between: 0, n_changes: 0 }),
        (&["! make # Exit code 2", "$ make"], RejectedBecause::NoError),
        (&["! make", "> hm", "$ make"], RejectedBecause::SaidBetween { turn: 1 }),
        (&["! git push", "$ git fetch"], RejectedBecause::NothingRelated { n_looked_at: 1, window: 5 }),
    ] {
        assert_eq!(reasons(lines, Heuristic::ErrorRecovery), refused(reason), "{lines:?}");
    }
    let looks = ["$ go vet", "$ ls", "$ cat x", "$ go test"];
    let mostly = RejectedBecause::MostlyLooked { n_calls: 4, n_acting: 2, n_actions: 2 };
    assert_eq!(reasons(&looks, Heuristic::MultiStep), refused(mostly));
    let many = ["$ a a", "$ b b", "$ c c", "$ d d", "$ e e", "$ f f", "$ g g", "$ h h", "$ i i"];
    assert_eq!(reasons(&many, Heuristic::MultiStep), refused(RejectedBecause::ManyActions { n_actions: 9, max: 8 }));
}

#[test]
fn the_same_transcript_gives_the_same_bytes() {
    let text = || format!("{:?}", suggest(&rich(), &CaptureConfig::default()));
    assert_eq!(text(), text());
}

/// CPU time for a session of so many typed turns, each with an edit, two commands and an answer.
fn cpu_time(n_turns: usize) -> std::time::Duration {
    let lines: Vec<String> = (0..n_turns)
        .flat_map(|n| {
            [
                format!("> no, never put part {n} of the parser into file{n}.rs, we keep those apart"),
                format!("~ src/file{n}.rs"),
                "! make".to_owned(),
                "$ make".to_owned(),
                format!("< You're right, part {n} is somewhere else now."),
            ]
        })
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let transcript = sketch(&lines);
    let start = cpu_time::ThreadTime::now();
    let found = suggest(&transcript, &CaptureConfig::default());
    let spent = start.elapsed();
    assert!(!found.candidates.is_empty());
    spent
}

#[test]
fn time_grows_with_the_session_not_with_its_square() {
    // Eight times as much takes 8 times as long; with its square it would take 64 times as long.
    let (small, large) = (cpu_time(400), cpu_time(3_200));
    assert!(large < small * 24, "400 turns {small:?}, 3,200 turns {large:?}");
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
        let config = CaptureConfig { max_candidates: usize::MAX, ..CaptureConfig::default() };
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
