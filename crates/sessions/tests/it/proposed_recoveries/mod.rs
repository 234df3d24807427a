//! Recoveries that a model proposes: what the record has to prove, and the way from a session to a recalled lesson.

mod arbitrary;

use adage::config::{CaptureConfig, ExtractConfig};
use adage::learn::LearnOutcome;
use adage::model::{CancelToken, ScriptedModel};
use adage::transcript::{Format, Status, ToolCall, Transcript, TranscriptReader, Turn};
use adage::{Config, Playbook, Request};
use adage_review::{Inbox, ProposalKind};
use adage_sessions::Sessions;
use adage_sessions::extract::{
    ExtractRequest, Extracted, Extraction, ProposalEvidence, RecoveryPart, RecoveryRefusal, RefusedBecause, Speaker,
    extract_lessons,
};
use adage_sessions::heuristics::{Heuristic, suggest};
use serde_json::{Value, json};

const FAILED: &str = "collected 1 item\n\ntests/test_import.py F\n\nE   psycopg2.OperationalError: FATAL: too many connections \
                      for role \"ci\"\n\n1 failed in 3.10s";

fn call(tool: &str, input: Value, result: &str, status: Status) -> Turn {
    Turn::ToolCall(ToolCall { tool: tool.into(), input, result: Some(result.into()), status })
}

fn run(command: &str, result: &str, status: Status) -> Turn {
    call("Bash", json!({ "command": command }), result, status)
}

/// A test fails, two files are changed without a word, and the test passes.
fn session() -> Transcript {
    let pool = "engine = create_engine(\n    url,\n    poolclass=NullPool,\n    connect_args=options(),\n)";
    let fixture = "@pytest.fixture(autouse=True)\ndef dispose():\n    yield\n    engine.dispose()\n";
    Transcript {
        session: "s-9".into(),
        project: "/srv/shop".into(),
        started: None,
        turns: vec![
            Turn::User("The importer has been red since the move to the shared database. Please look at it.".into()),
            Turn::Assistant("I run its tests.".into()),
            run("pytest tests/test_import.py", FAILED, Status::Failed),
            call("Read", json!({"file_path": "/srv/shop/app/db.py"}), "engine = create_engine(url)", Status::Succeeded),
            call(
                "Edit",
                json!({"file_path": "/srv/shop/app/db.py", "old_string": "engine = create_engine(url)", "new_string": pool}),
                "The file /srv/shop/app/db.py has been updated.",
                Status::Succeeded,
            ),
            call(
                "Write",
                json!({"file_path": "/srv/shop/tests/conftest.py", "content": fixture}),
                "File created successfully at: /srv/shop/tests/conftest.py",
                Status::Succeeded,
            ),
            run("pytest tests/test_import.py", "1 passed in 0.40s", Status::Succeeded),
            run("ls app", "db.py", Status::Succeeded),
            Turn::Assistant("The importer is green. The cause was the connection pool.".into()),
            Turn::System("Reminder: be brief.".into()),
            Turn::User("What does dispose() do there?".into()),
        ],
        ..Transcript::default()
    }
}

fn recovery() -> Value {
    json!({
        "trigger": "`pytest` fails with \"too many connections for role\"",
        "mistake": "each test kept a pool of connections open",
        "solution": "The shared database allows few connections: create the engine with `poolclass=NullPool` and dispose it after each test.",
        "tags": ["Database", "pytest"],
        "failure": {"turn": 2, "quote": "FATAL: too many connections for role"},
        "remedy": [{"turn": 4, "quote": "poolclass=NullPool,"}, {"turn": 5, "quote": "engine.dispose()"}],
        "success": {"turn": 6, "quote": "1 passed"},
    })
}

/// The recovery with one field replaced, by its JSON pointer.
fn changed(pointer: &str, value: Value) -> Value {
    let mut recovery = recovery();
    *recovery.pointer_mut(pointer).unwrap() = value;
    recovery
}

fn learn(recoveries: &[Value]) -> String {
    json!({"decision": "LEARN", "recoveries": recoveries}).to_string()
}

fn extract_from(transcript: &Transcript, reply: String, found: Vec<usize>) -> Extraction {
    let request = ExtractRequest { found, ..ExtractRequest::new(transcript) };
    extract_lessons(&ScriptedModel::new([Ok(reply)]), &request, &ExtractConfig::default())
}

/// Of one proposed recovery: the lesson, or why it was refused.
fn judged(transcript: &Transcript, recovery: &Value) -> Result<Extracted, RefusedBecause> {
    match extract_from(transcript, learn(std::slice::from_ref(recovery)), Vec::new()) {
        Extraction::Proposed { mut lessons, refused } if refused.is_empty() => Ok(lessons.remove(0)),
        Extraction::Proposed { mut refused, .. } => Err(refused.remove(0).because),
        other => panic!("{other:?}"),
    }
}

fn refusal(transcript: &Transcript, recovery: &Value) -> RecoveryRefusal {
    match judged(transcript, recovery) {
        Err(RefusedBecause::NotProven(refusal)) => refusal,
        other => panic!("{recovery}: {other:?}"),
    }
}

#[test]
fn a_recovery_that_the_record_proves_is_a_lesson() {
    let transcript = session();
    let found = suggest(&transcript, &CaptureConfig::default());
    let is_recovery =
        |candidate: &&adage_sessions::heuristics::Candidate| candidate.heuristic == Heuristic::ErrorRecovery;
    assert_eq!(found.candidates.iter().find(is_recovery), None, "the rules do not find it");

    let lesson = judged(&transcript, &recovery()).unwrap();
    let draft = lesson.draft.to_json();
    assert_eq!((&draft["confidence"], &draft["source"]), (&json!(0.4), &json!("mined")));
    assert_eq!((&draft["domains"], &draft["commands"]), (&json!(["pytest", "database"]), &json!(["pytest*"])));
    let ProposalEvidence::Recovered(evidence) = &lesson.evidence else { panic!("{lesson:?}") };
    let passages: Vec<_> = evidence.passages().map(|one| (one.turn, one.source.as_str(), one.quote.as_str())).collect();
    let expected = [
        (2, "`pytest tests/test_import.py`", "FATAL: too many connections for role"),
        (4, "changed app/db.py", "poolclass=NullPool,"),
        (5, "changed tests/conftest.py", "engine.dispose()"),
        (6, "`pytest tests/test_import.py`", "1 passed"),
    ];
    assert_eq!(passages, expected);
    assert_eq!(draft["provenance"]["recovery"], json!(evidence));
    assert_eq!(draft["provenance"].get("evidence"), None);
}

#[test]
fn each_refusal_has_its_reason() {
    use RecoveryPart::{Failure, Remedy, Solution, Success, Trigger};
    let quote = || "poolclass=NullPool,".to_owned();
    let long = "pool ".repeat(300);
    let many = vec![json!({"turn": 4, "quote": quote()}); 6];
    let rows = [
        (changed("/trigger", json!(" ")), RecoveryRefusal::Missing { part: Trigger }),
        (changed("/remedy", json!([])), RecoveryRefusal::Missing { part: Remedy }),
        (changed("/failure/quote", json!("")), RecoveryRefusal::Missing { part: Failure }),
        (changed("/solution", json!(long)), RecoveryRefusal::TooLong { part: Solution, n_chars: 1_499, max: 1_000 }),
        (changed("/remedy", json!(many)), RecoveryRefusal::ManyRemedies { n: 6, max: 5 }),
        (changed("/success/turn", json!(11)), RecoveryRefusal::NoSuchTurn { part: Success, turn: 11, n_turns: 11 }),
        (changed("/remedy/0/turn", json!(2)), RecoveryRefusal::OutOfOrder { part: Remedy, turn: 2, after: 2 }),
        (changed("/success/turn", json!(4)), RecoveryRefusal::OutOfOrder { part: Success, turn: 4, after: 4 }),
        (
            changed("/failure", json!({"turn": 1, "quote": "I run its tests"})),
            RecoveryRefusal::WrongTurn { part: Failure, turn: 1, speaker: Speaker::Assistant },
        ),
        (
            changed("/success", json!({"turn": 9, "quote": "Reminder: be brief."})),
            RecoveryRefusal::WrongTurn { part: Success, turn: 9, speaker: Speaker::Harness },
        ),
        (
            changed("/failure/quote", json!("too few connections")),
            RecoveryRefusal::NotInTurn { part: Failure, turn: 2, quote: "too few connections".into() },
        ),
        (changed("/remedy/0/turn", json!(5)), RecoveryRefusal::NotInTurn { part: Remedy, turn: 5, quote: quote() }),
        (
            changed("/remedy/0/quote", json!("class=NullPool")),
            RecoveryRefusal::CutsAWord { part: Remedy, turn: 4, quote: "class=NullPool".into() },
        ),
        (
            changed("/remedy/0/quote", json!("url")),
            RecoveryRefusal::ShortQuote { part: Remedy, quote: "url".into(), n_chars: 3, min: 4 },
        ),
        (
            changed("/failure", json!({"turn": 3, "quote": "create_engine(url)"})),
            RecoveryRefusal::DidNotFail { turn: 3, status: Status::Succeeded },
        ),
        (changed("/failure", json!({"turn": 0, "quote": "Please look at it."})), RecoveryRefusal::NoReport { turn: 0 }),
        (
            changed("/success", json!({"turn": 10, "quote": "What does dispose() do"})),
            RecoveryRefusal::NotConfirmed { turn: 10 },
        ),
        (
            changed("/success", json!({"turn": 7, "quote": "db.py"})),
            RecoveryRefusal::Unrelated { failure: 2, success: 7 },
        ),
        (
            changed("/solution", json!("Create the engine with `poolclass=StaticPool`.")),
            RecoveryRefusal::Invented { part: Solution, value: "StaticPool".into() },
        ),
        (
            changed("/solution", json!("Create the engine without a pool and run pytest with --forked.")),
            RecoveryRefusal::Invented { part: Solution, value: "--forked".into() },
        ),
        (
            changed("/trigger", json!("tests/test_export.py fails")),
            RecoveryRefusal::Invented { part: Trigger, value: "tests/test_export.py".into() },
        ),
        (
            changed("/solution", json!("There are too many connections for the role.")),
            RecoveryRefusal::OnlyRepeats { n_new: 1, min: 2 },
        ),
        (changed("/solution", json!("Restart everything, then wait for a minute.")), RecoveryRefusal::OtherSolution),
    ];
    for (proposed, expected) in rows {
        assert_eq!(refusal(&session(), &proposed), expected, "{proposed}");
    }
}

#[test]
fn what_failed_again_or_was_not_mended_is_refused() {
    let check = |change: &dyn Fn(&mut Vec<Turn>), proposed: Value, expected: RecoveryRefusal| {
        let mut transcript = session();
        change(&mut transcript.turns);
        assert_eq!(refusal(&transcript, &proposed), expected);
    };
    let again = changed("/remedy", json!([{"turn": 4, "quote": "poolclass=NullPool,"}]));
    check(
        &|turns| turns[5] = run("pytest tests/test_import.py", FAILED, Status::Failed),
        again.clone(),
        RecoveryRefusal::FailedAgain { remedy: 4, turn: 5 },
    );
    check(
        &|turns| turns[6] = run("pytest tests/test_import.py", FAILED, Status::Failed),
        changed("/success/quote", json!("collected 1 item")),
        RecoveryRefusal::DidNotSucceed { turn: 6, status: Status::Failed },
    );
    check(
        &|turns| {
            turns[4] = call("Edit", json!({"new_string": "poolclass=NullPool,"}), "Error: no match", Status::Failed);
        },
        recovery(),
        RecoveryRefusal::RemedyFailed { turn: 4 },
    );
    let said = json!([{"turn": 4, "quote": "The pool is the cause"}]);
    let nothing_done = |turns: &mut Vec<Turn>| {
        turns[4] = Turn::Assistant("The pool is the cause; NullPool and dispose would help.".into());
        turns[5] = run("ls tests", "test_import.py", Status::Succeeded);
    };
    check(&nothing_done, changed("/remedy", said), RecoveryRefusal::NothingDone { failure: 2, success: 6 });
    let intended =
        |turns: &mut Vec<Turn>| turns[1] = Turn::Assistant("I write a failing test first, test-first.".into());
    check(&intended, recovery(), RecoveryRefusal::MeantToFail { turn: 2 });
}

#[test]
fn other_kinds_of_proof_are_taken() {
    let check = |change: &dyn Fn(&mut Vec<Turn>), proposed: Value| {
        let mut transcript = session();
        change(&mut transcript.turns);
        let judged = judged(&transcript, &proposed);
        assert!(judged.is_ok(), "{judged:?}");
    };
    // The user reports the failure, and says that it works.
    let mut reported = changed("/failure", json!({"turn": 0, "quote": "The importer does not start"}));
    reported["success"] = json!({"turn": 10, "quote": "it works now"});
    check(
        &|turns| {
            turns[0] = Turn::User("The importer does not start: too many connections.".into());
            turns[10] = Turn::User("Great, it works now.".into());
        },
        reported,
    );
    // The agent names the cause, and something was changed.
    check(
        &|turns| turns[3] = Turn::Assistant("Each engine keeps a pool of connections; NullPool keeps none.".into()),
        changed("/remedy", json!([{"turn": 3, "quote": "NullPool keeps none"}])),
    );
    // A command that had to be written otherwise is its own remedy.
    let mut rewritten = changed("/remedy", json!([{"turn": 6, "quote": "pytest -n 1 tests/test_import.py"}]));
    rewritten["solution"] = json!("Run the tests one after another: `pytest -n 1`.");
    check(&|turns| turns[6] = run("pytest -n 1 tests/test_import.py", "1 passed", Status::Succeeded), rewritten);
    // A success that prints nothing is named by its turn.
    let mut silent = recovery();
    silent["success"] = json!({"turn": 6});
    check(&|turns| turns[6] = run("pytest tests/test_import.py", "", Status::Succeeded), silent);
    // White space is folded, and one remedy need not be a list.
    check(&|_| {}, changed("/remedy", json!({"turn": "4", "quote": "url, poolclass=NullPool,"})));
}

#[test]
fn what_has_a_lesson_is_not_proposed_again() {
    let transcript = session();
    for found in [vec![2], vec![0, 2]] {
        let extraction = extract_from(&transcript, learn(&[recovery()]), found);
        let Extraction::Proposed { lessons, refused } = extraction else { panic!("{extraction:?}") };
        let expected = RefusedBecause::NotProven(RecoveryRefusal::AlreadyFound { turn: 2 });
        assert_eq!((lessons.len(), &refused[0].because), (0, &expected));
    }
    // Also a repetition of the same failure.
    let mut transcript = transcript;
    transcript.turns[3] = run("pytest tests/test_import.py", FAILED, Status::Failed);
    let extraction = extract_from(&transcript, learn(&[recovery()]), vec![3]);
    let Extraction::Proposed { lessons, .. } = extraction else { panic!("{extraction:?}") };
    assert!(lessons.is_empty());
}

#[test]
fn a_session_in_which_something_failed_is_shown_without_a_user() {
    let mut transcript = session();
    transcript.turns[0] = Turn::System("Mend the importer.".into());
    transcript.turns.truncate(8);
    assert!(judged(&transcript, &recovery()).is_ok());
}

#[test]
fn only_the_first_five_recoveries_are_examined_and_repetitions_are_one() {
    let others = vec![recovery(); 7];
    let Extraction::Proposed { lessons, refused } = extract_from(&session(), learn(&others), Vec::new()) else {
        panic!()
    };
    assert_eq!((lessons.len(), refused.len()), (1, 6));
    assert_eq!(refused[0].because, RefusedBecause::Repeats { lesson: 0 });
    assert_eq!(refused[5].because, RefusedBecause::TooMany { max: 5 });
}

/// The same session as lines of Claude Code.
fn lines_of_claude_code() -> String {
    let mut lines = Vec::new();
    let line = |kind: &str, content: Value| {
        json!({"type": kind, "sessionId": "s-9", "cwd": "/srv/shop", "timestamp": "2026-03-01T10:00:00Z",
            "message": {"role": kind, "content": content}})
    };
    for (number, turn) in session().turns.iter().enumerate() {
        match turn {
            Turn::User(text) => lines.push(line("user", json!(text))),
            Turn::Assistant(text) => lines.push(line("assistant", json!([{"type": "text", "text": text}]))),
            Turn::System(_) => {}
            Turn::ToolCall(call) => {
                let id = format!("toolu_{number}");
                lines.push(line(
                    "assistant",
                    json!([{"type": "tool_use", "id": id, "name": call.tool, "input": call.input}]),
                ));
                let is_error = call.status == Status::Failed;
                lines.push(line(
                    "user",
                    json!([{"type": "tool_result", "tool_use_id": id, "content": call.result, "is_error": is_error}]),
                ));
            }
        }
    }
    lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn from_a_session_by_way_of_the_inbox_to_a_recalled_lesson() {
    let transcript = TranscriptReader::new().read(lines_of_claude_code().as_bytes(), Format::Auto).unwrap().transcript;
    let folder = tempfile::tempdir().unwrap();
    let playbook = Playbook::builder(folder.path()).without_embedder().with_config(Config::default()).open().unwrap();
    let model = ScriptedModel::new([Ok(learn(&[recovery()]))]);
    let learned = Sessions::of(&playbook).learn_from(&transcript, Some(&model), &CancelToken::default()).unwrap();
    assert!(matches!(learned.extracted[..], [LearnOutcome::Review { .. }]), "{learned:?}");
    let asked =
        || Request::about("mend the importer").in_realm(&adage::Realm::new("/srv/shop", "")).running("pytest tests");
    assert!(playbook.get_playbook_context(asked()).unwrap().lessons.is_empty());

    let inbox = Inbox::of(&playbook);
    let items = inbox.list().unwrap();
    let item = items.iter().find(|item| item.name.kind() == ProposalKind::Session).unwrap();
    let shown = inbox.show(item).unwrap();
    for line in [
        "it failed: turn 2, `pytest tests/test_import.py`: FATAL: too many connections for role\n",
        "what helped: turn 4, changed app/db.py: poolclass=NullPool,\n",
        "what helped: turn 5, changed tests/conftest.py: engine.dispose()\n",
        "it passed: turn 6, `pytest tests/test_import.py`: 1 passed\n",
    ] {
        assert!(shown.contains(line), "{shown}");
    }
    inbox.apply(std::slice::from_ref(item)).unwrap();
    let context = playbook.get_playbook_context(asked()).unwrap();
    assert!(context.text.contains("`poolclass=NullPool`"), "{}", context.text);
    // The record is for the reviewer; the prompt has the lesson only.
    assert!(!context.text.contains("turn 2"), "{}", context.text);

    // The evidence is kept with the lesson, also by another process.
    let again = Playbook::builder(folder.path()).without_embedder().open().unwrap();
    let lesson = again.find("`pytest` fails with \"too many connections for role\"").unwrap();
    assert_eq!(lesson.provenance.recovery.as_ref().unwrap().remedies.len(), 2);
    assert_eq!(lesson.provenance.evidence, []);
}

#[test]
fn a_model_that_talks_nonsense_changes_nothing() {
    let transcript = session();
    for reply in [
        "",
        "no",
        "{\"decision\": \"LEARN\", \"recoveries\": 7}",
        "<decision>LEARN</decision><recovery",
        "{\"decision\": \"LEARN\", \"recoveries\": [7, {}, [], {\"failure\": 3}]}",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let playbook = Playbook::builder(folder.path()).without_embedder().open().unwrap();
        let without = Sessions::of(&playbook).mine(&transcript).unwrap();
        let model = ScriptedModel::new([Ok(reply.to_owned())]);
        let learned = Sessions::of(&playbook).learn_from(&transcript, Some(&model), &CancelToken::default()).unwrap();
        assert_eq!((learned.suggested, learned.extracted.len()), (without, 0), "{reply}");
    }
}
