//! The answers to an agent's hooks: payloads as documented by the agents, and a scripted agent.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::home::{Home, session_with_a_recovery};

const MISTAKE: &str = "pip install request";
const ADVICE: &str = "The package is called requests.";

/// A session of an agent in a folder.
struct Agent<'a> {
    home: &'a Home,
    name: &'static str,
    folder: PathBuf,
    session: &'static str,
    /// The sub-agent, if it is one.
    id: Option<&'static str>,
}

/// The transcript that hooks name, in an agent's place.
fn transcript(home: &Home) -> PathBuf {
    home.path(".claude/projects/-srv-shop/session.jsonl")
}

impl<'a> Agent<'a> {
    fn new(home: &'a Home, name: &'static str, folder: &Path) -> Self {
        Self { home, name, folder: folder.to_owned(), session: "s1", id: None }
    }

    fn payload(&self, event: &str, text: &str) -> String {
        let file = format!("{}/tests/it/hooks/{}.{event}.json", env!("CARGO_MANIFEST_DIR"), self.name);
        let quoted = |text: &str| {
            let text = json!(text).to_string();
            text[1..text.len() - 1].to_owned()
        };
        let payload = fs::read_to_string(file)
            .unwrap()
            .replace("{{cwd}}", &quoted(self.folder.to_str().unwrap()))
            .replace("{{transcript}}", &quoted(transcript(self.home).to_str().unwrap()))
            .replace("{{text}}", &quoted(text));
        let mut payload: Value = serde_json::from_str(&payload).unwrap();
        for key in ["session_id", "conversation_id"] {
            if payload.get(key).is_some() {
                payload[key] = json!(self.session);
            }
        }
        if let Some(id) = self.id {
            payload["agent_id"] = json!(id);
        }
        payload.to_string()
    }

    /// The answer of a hook; the event name is the payload's.
    fn hook(&self, event: &str, text: &str) -> Value {
        let payload = self.payload(event, text);
        let name = serde_json::from_str::<Value>(&payload).unwrap()["hook_event_name"].as_str().unwrap().to_owned();
        let said = self.home.say(&self.folder, &["hook", &name, "--agent", self.name], &payload);
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{event}");
        // Without --agent the agent is detected from the payload.
        said.answer()
    }

    /// The text for the agent.
    fn text_for(&self, event: &str, text: &str) -> String {
        let answer = self.hook(event, text);
        let specific = &answer["hookSpecificOutput"];
        if specific.is_object() {
            let asked: Value = serde_json::from_str(&self.payload(event, text)).unwrap();
            let name = if specific["hookEventName"] == "PostToolUse" {
                "PostToolUse"
            } else {
                asked["hook_event_name"].as_str().unwrap()
            };
            assert_eq!(specific["hookEventName"], json!(name));
            assert_eq!(specific.as_object().unwrap().len(), 2, "{answer}");
        }
        let text = specific["additionalContext"].as_str().or_else(|| answer["additional_context"].as_str());
        text.unwrap_or_default().to_owned()
    }
}

/// A repository whose memory knows the mistake.
fn taught(home: &Home) -> PathBuf {
    let root = home.repository("shop");
    home.learn(
        &root,
        "installing the HTTP library",
        ADVICE,
        &["--commands", "pip install request", "--mistake", "request is another package"],
    );
    root
}

#[test]
fn each_event_of_each_agent_is_answered_in_its_format() {
    for (name, before) in [("claude-code", true), ("codex", true), ("gemini-cli", false), ("cursor", false)] {
        let home = Home::new();
        let root = taught(&home);
        let agent = |session| Agent { session, ..Agent::new(&home, name, &root) };
        assert!(agent("a").text_for("session-start", "").contains(ADVICE), "{name}");
        assert_eq!(
            agent("a").text_for("session-start", "").contains(ADVICE),
            name != "cursor",
            "{name}: it starts again"
        );
        if name != "cursor" {
            assert!(agent("b").text_for("prompt", "install the HTTP library").contains(ADVICE), "{name}");
            assert_eq!(agent("b").text_for("prompt", "install the HTTP library"), "", "{name}: not twice");
            assert_eq!(agent("c").text_for("prompt", "What is the capital of France?"), "", "{name}");
        }
        if before {
            assert!(agent("d").text_for("subagent-start", "").contains(ADVICE), "{name}");
            assert!(agent("e").text_for("before-tool", MISTAKE).contains(ADVICE), "{name}");
            assert_eq!(agent("e").text_for("before-tool", MISTAKE), "", "{name}: not twice");
            assert!(agent("g").text_for("before-tool", "cd web && pip install request").contains(ADVICE), "{name}");
            assert_eq!(agent("f").text_for("before-tool", "ls -la"), "", "{name}");
            assert_eq!(agent("f").text_for("after-failure", MISTAKE), "", "{name}");
        } else {
            assert!(agent("e").text_for("after-failure", MISTAKE).contains(ADVICE), "{name}");
            assert_eq!(agent("e").text_for("after-failure", MISTAKE), "", "{name}: not twice");
        }
        assert_eq!(agent("f").hook("after-tool", "ls -la"), json!({}), "{name}");
        assert_eq!(agent("f").hook("session-end", ""), json!({}), "{name}");
    }
}

#[test]
fn a_mined_lesson_of_a_command_comes_before_it_and_to_other_agents_with_the_task() {
    for (name, before) in [("claude-code", true), ("gemini-cli", false)] {
        let home = Home::new();
        let root = home.repository("shop");
        home.done(&root, &["init"]);
        let recovery = json!({"failed": MISTAKE, "steps": [{"told": ADVICE}]});
        let mined = json!({"trigger": "`pip install request` fails", "mistake": format!("`{MISTAKE}`"), "solution": ADVICE,
            "source": "mined", "commands": ["pip install* request*"], "recovery": recovery});
        home.say(&root, &["learn"], &format!("{mined}\n"));
        home.done(&root, &["review", "apply", "--all"]);
        let agent = Agent::new(&home, name, &root);
        let task = "pip install request fails";
        assert!(home.done(&root, &["context", task]).out.contains(ADVICE), "{name}");
        assert_eq!(agent.text_for("prompt", task).contains(ADVICE), !before, "{name}");
        if before {
            assert!(agent.text_for("before-tool", MISTAKE).contains(ADVICE), "{name}");
        }
    }
}

/// What a session brings of a lesson: with the prompt, and before each call. A call without a blank is a file that is changed.
fn comes(home: &Home, root: &Path, session: &'static str, calls: &[&str], solution: &str) -> bool {
    let agent = Agent { session, ..Agent::new(home, "claude-code", root) };
    let texts = calls.iter().zip(0..).map(|(call, number)| match (number, call.contains(' ')) {
        (0, _) => agent.text_for("prompt", call),
        (_, true) => agent.text_for("before-tool", call),
        (_, false) => agent.text_for("before-edit", call),
    });
    texts.filter(|text| text.contains(solution)).count() > 0
}

/// Recoveries and checks, each with sessions that need them and sessions that do not: a prompt, then calls
/// (docs/capture-measurements.md).
#[test]
#[expect(clippy::print_stdout, clippy::disallowed_macros, reason = "figures for a person, under --nocapture")]
fn recoveries_come_where_they_are_needed() {
    let cases = include_str!("../../../../tests/cases/recoveries.jsonl");
    let cases: Vec<Value> = cases.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let home = Home::new();
    let root = home.repository("shop");
    home.done(&root, &["init"]);
    for case in &cases {
        let mut lesson = case["lesson"].clone();
        lesson["source"] = json!("mined");
        home.say(&root, &["learn"], &format!("{lesson}\n"));
    }
    home.done(&root, &["review", "apply", "--all"]);
    let mut number = 0;
    let mut count = |kind: &str| {
        let mut n_come = 0;
        for case in &cases {
            let solution = case["lesson"]["correct_pattern"].as_str().unwrap().lines().next().unwrap();
            for session in case[kind].as_array().unwrap() {
                let calls: Vec<&str> = session.as_array().unwrap().iter().map(|call| call.as_str().unwrap()).collect();
                number += 1;
                let name: &'static str = Box::leak(format!("{kind}{number}").into_boxed_str());
                n_come += usize::from(comes(&home, &root, name, &calls, solution));
            }
        }
        n_come
    };
    let (n_needed, n_needless) = (count("needed"), count("needless"));
    println!("needed lessons that come: {n_needed} of 20; needless ones: {n_needless} of 30");
    assert!(n_needed >= 17 && n_needless <= 6, "{n_needed} of 20, {n_needless} of 30");
}

#[test]
fn an_agent_is_warned_before_its_second_try_in_a_repository_a_worktree_and_a_sub_agent() {
    let home = Home::new();
    let root = home.repository("shop");
    let (tree, below) = (home.worktree(&root, "trees/shop-2"), home.folder("shop/web"));
    // The first try: nothing is known, it fails, and the person teaches the lesson.
    home.done(&root, &["init"]);
    let first = Agent::new(&home, "claude-code", &root);
    assert_eq!(first.text_for("before-tool", MISTAKE), "");
    assert_eq!(first.text_for("after-failure", MISTAKE), "");
    home.learn(&root, "installing the HTTP library", ADVICE, &["--commands", "pip install request"]);
    // The second try, in the same session, below the root, in a worktree, and by a sub-agent of the session.
    let tries = [
        Agent { session: "s1", ..Agent::new(&home, "claude-code", &root) },
        Agent { session: "s2", ..Agent::new(&home, "claude-code", &below) },
        Agent { session: "s3", ..Agent::new(&home, "claude-code", &tree) },
        Agent { id: Some("sub-1"), ..Agent::new(&home, "claude-code", &root) },
        Agent { id: Some("sub-2"), ..Agent::new(&home, "codex", &tree) },
    ];
    for agent in &tries {
        let text = agent.text_for("before-tool", MISTAKE);
        assert!(text.contains(ADVICE), "{} {} {:?}: {text:?}", agent.name, agent.session, agent.id);
    }
}

#[test]
fn changed_files_and_failed_calls_get_lessons() {
    let home = Home::new();
    let root = taught(&home);
    home.learn(&root, "changing the schema", "Write a migration.", &["--paths", "db/**/*.sql"]);
    let agent = Agent::new(&home, "claude-code", &root);
    let file = root.join("db/schema/users.sql");
    let read = agent.payload("before-edit", file.to_str().unwrap()).replace("\"Edit\"", "\"Read\"");
    assert_eq!(home.say(&root, &["hook", "before-tool"], &read).answer(), json!({}), "reading changes nothing");
    assert!(agent.text_for("before-edit", file.to_str().unwrap()).contains("Write a migration."));
    assert_eq!(agent.text_for("before-tool", "make deploy"), "");
    let payload = agent.payload("after-failure", "make deploy");
    home.say(&root, &["hook", "after-tool"], &payload);
    let again = payload.replace("PostToolUseFailure", "PreToolUse");
    let text = home.say(&root, &["hook", "before-tool"], &again).answer();
    assert_eq!(text["hookSpecificOutput"]["additionalContext"], "This same call failed earlier in this session.");
}

#[test]
fn an_outcome_is_recorded_only_where_a_check_says_so() {
    for (check, event, expected) in
        [("cargo test", "after-tool", (1, 0)), ("cargo test", "after-failure", (0, 1)), ("ls", "after-failure", (0, 0))]
    {
        let home = Home::new();
        let root = taught(&home);
        let agent = Agent::new(&home, "claude-code", &root);
        assert!(agent.text_for("before-tool", MISTAKE).contains(ADVICE));
        agent.hook(event, check);
        agent.hook("session-end", "");
        let lesson = home.done(&root, &["show", "installing the HTTP library", "--json"]).object();
        let counts = (lesson["helpful_retrievals"].as_u64().unwrap(), lesson["harmful_retrievals"].as_u64().unwrap());
        assert_eq!((counts, &lesson["retrievals"]), (expected, &json!(1)), "{check} {event}");
    }
}

#[test]
fn a_check_that_goes_on_in_the_background_has_no_outcome() {
    let finished = json!({"stdout": "ok", "stderr": "", "interrupted": false});
    for (input, response, expected) in [
        (json!({}), finished.clone(), 1),
        (json!({"run_in_background": false}), finished.clone(), 1),
        (json!({"run_in_background": true}), finished.clone(), 0),
        (json!({"is_background": "true"}), finished.clone(), 0),
        (json!({}), json!({"stdout": "", "backgroundTaskId": "b1"}), 0),
        (json!({}), json!({"stdout": "", "backgroundedByUser": true}), 0),
        (json!({}), json!("Command running in background with ID: b1"), 0),
        (json!({}), json!("Process running with session ID 7"), 0),
        (json!({}), json!({"output": "tests of running in background: ok", "exit_code": 0}), 1),
    ] {
        let home = Home::new();
        let root = taught(&home);
        let agent = Agent::new(&home, "claude-code", &root);
        assert!(agent.text_for("before-tool", MISTAKE).contains(ADVICE));
        let mut payload: Value = serde_json::from_str(&agent.payload("after-tool", "cargo test")).unwrap();
        payload["tool_input"].as_object_mut().unwrap().extend(input.as_object().unwrap().clone());
        payload["tool_response"] = response;
        let is_unfinished = expected == 0;
        if is_unfinished {
            // The last check counts, so an earlier one gives no outcome either.
            agent.hook("after-tool", "cargo test");
        }
        home.say(&root, &["hook", "after-tool", "--agent", "claude-code"], &payload.to_string());
        agent.hook("session-end", "");
        let lesson = home.done(&root, &["show", "installing the HTTP library", "--json"]).object();
        assert_eq!(lesson["helpful_retrievals"].as_u64().unwrap_or(0), expected, "{payload}");
    }
}

/// A field or a line that an agent documents gives the result of a check; without one, and after an interrupt, nothing is judged.
#[test]
fn a_check_whose_result_is_not_known_judges_nothing() {
    let ran = |code: &str| format!("Exit code: {code}\nWall time: 2 seconds\nOutput:\nrunning 3 tests");
    for (name, response, more, expected) in [
        ("codex", json!(ran("0")), json!({}), (1, 0)),
        ("codex", json!(ran("101")), json!({}), (0, 1)),
        ("codex", json!("running 3 tests"), json!({}), (0, 0)),
        ("codex", json!({"output": "ok", "metadata": {}}), json!({}), (0, 0)),
        ("codex", json!({"output": "Process exited with code 2", "success": true}), json!({}), (0, 1)),
        ("gemini-cli", json!({"llmContent": "Output: ok\nExit Code: 1\nSignal: (none)"}), json!({}), (0, 1)),
        ("gemini-cli", json!({"llmContent": "Output: ok", "returnDisplay": "ok"}), json!({}), (0, 0)),
        ("gemini-cli", json!({"llmContent": "", "error": {"message": "no such file"}}), json!({}), (0, 1)),
        ("claude-code", json!({"stdout": "ok", "stderr": "", "interrupted": true}), json!({}), (0, 0)),
        ("claude-code", json!("Interrupted by user"), json!({}), (0, 0)),
        (
            "claude-code",
            json!({"error": "stopped"}),
            json!({"hook_event_name": "PostToolUseFailure", "is_interrupt": true}),
            (0, 0),
        ),
    ] {
        let home = Home::new();
        let root = taught(&home);
        assert!(Agent::new(&home, "claude-code", &root).text_for("before-tool", MISTAKE).contains(ADVICE));
        let agent = Agent::new(&home, name, &root);
        let mut payload: Value = serde_json::from_str(&agent.payload("after-tool", "cargo test")).unwrap();
        payload["tool_response"] = response;
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        home.say(&root, &["hook", "after-tool", "--agent", name], &payload.to_string());
        Agent::new(&home, "claude-code", &root).hook("session-end", "");
        let lesson = home.done(&root, &["show", "installing the HTTP library", "--json"]).object();
        let counts = ["helpful_retrievals", "harmful_retrievals"].map(|key| lesson[key].as_u64().unwrap());
        assert_eq!(counts, [expected.0, expected.1], "{payload}");
    }
}

/// What was shown for a task is judged by that task's last check, not by one of a later task.
#[test]
fn an_outcome_goes_to_what_was_shown_for_its_task() {
    for (first_check, expected) in [(None, [0, 0]), (Some("after-tool"), [1, 0]), (Some("after-failure"), [0, 1])] {
        let home = Home::new();
        let root = taught(&home);
        let agent = Agent::new(&home, "claude-code", &root);
        assert!(agent.text_for("prompt", "install the HTTP library").contains(ADVICE));
        first_check.map(|event| agent.hook(event, "cargo test"));
        agent.hook("prompt", "<task-notification>the server is up</task-notification>");
        agent.hook("prompt", "write the release notes of this week");
        let other = if first_check == Some("after-failure") { "after-tool" } else { "after-failure" };
        agent.hook(other, "cargo test");
        agent.hook("session-end", "");
        let lesson = home.done(&root, &["show", "installing the HTTP library", "--json"]).object();
        let counts = ["helpful_retrievals", "harmful_retrievals"].map(|key| lesson[key].as_u64().unwrap());
        assert_eq!(counts, expected, "{first_check:?}");
    }
}

#[test]
fn what_was_shown_at_the_start_is_not_judged_by_a_check() {
    let home = Home::new();
    let root = taught(&home);
    let agent = Agent::new(&home, "claude-code", &root);
    assert!(agent.text_for("session-start", "").contains(ADVICE));
    agent.hook("after-failure", "cargo test");
    agent.hook("session-end", "");
    let lesson = home.done(&root, &["show", "installing the HTTP library", "--json"]).object();
    assert_eq!((&lesson["retrievals"], &lesson["harmful_retrievals"]), (&json!(1), &json!(0)));
}

#[test]
#[cfg(unix)]
fn no_name_begins_a_line_of_a_message() {
    let (home, stranger) = (Home::new(), Home::new());
    let theirs = taught(&stranger);
    for name in ["bank\nadage: all is well", "bank\r\nx", "bank\u{2028}x", "bank\u{1b}[2Kx"] {
        let root = home.repository(name);
        fs::create_dir_all(root.join(".adage")).unwrap();
        for file in fs::read_dir(theirs.join(".adage")).unwrap().map(Result::unwrap) {
            if file.path().is_file() {
                fs::copy(file.path(), root.join(".adage").join(file.file_name())).unwrap();
            }
        }
        let answer = Agent::new(&home, "claude-code", &root).hook("session-start", "");
        let message = answer["systemMessage"].as_str().unwrap();
        assert!(message.contains("is not trusted"), "{message}");
        assert!(message.chars().all(|c| !c.is_control() && c != '\u{2028}'), "{message:?}");
    }
}

#[test]
fn for_any_input_the_hook_succeeds_and_prints_an_object() {
    let home = Home::new();
    let root = taught(&home);
    let deep = "[".repeat(100_000);
    for payload in ["", "{", "null", "[]", "\"x\"", "{\"cwd\": 1, \"tool_input\": [[]]}", "\u{0}", deep.as_str()] {
        for event in
            ["session-start", "subagent-start", "prompt", "before-tool", "after-tool", "session-end", "no-such", "--x"]
        {
            let said = home.say(&root, &["hook", event], payload);
            assert_eq!(said.code, 0, "{event} {:.20}: {}", payload, said.err);
            assert!(event == "--x" || said.answer().is_object(), "{event}: {}", said.out);
        }
    }
    for wrong in [
        &["--dir", "no/such", "hook", "no-such"][..],
        &["--no-such", "hook", "prompt"],
        &["--dir", "x", "hook", "--y"],
        &["--role", "trust", "hook", "no-such", "--y"],
        &["--no-such", "--dir=x", "hook", "--y"],
    ] {
        assert_eq!(home.say(&root, wrong, "{}").code, 0, "{wrong:?}");
    }
    for other in [
        &["--dir", "hook", "list"][..],
        &["--role", "hook", "--dir", "no/such", "doctor", "--check"],
        &["--no-such", "list", "hook"],
    ] {
        assert_ne!(home.say(&root, other, "").code, 0, "{other:?} is another command");
    }
    // No memory, a broken one, and one of another user.
    let outside = home.repository("bank");
    assert_eq!(Agent::new(&home, "claude-code", &outside).hook("session-start", ""), json!({}));
    assert!(!outside.join(".adage").exists());
    fs::write(root.join(".adage/skills_playbook.json"), "{").unwrap();
    let said = home.say(
        &root,
        &["hook", "session-start"],
        &Agent::new(&home, "claude-code", &root).payload("session-start", ""),
    );
    assert_eq!(said.code, 0);
    let stranger = Home::new();
    let theirs = taught(&stranger);
    fs::rename(theirs.join(".adage"), outside.join(".adage")).unwrap();
    let answer = Agent::new(&home, "claude-code", &outside).hook("session-start", "");
    assert!(answer["systemMessage"].as_str().unwrap().contains("is not trusted"), "{answer}");
    assert!(!answer.to_string().contains(ADVICE));
}

#[test]
fn an_ended_session_is_read_in_the_background() {
    let home = Home::new();
    let root = taught(&home);
    let text = session_with_a_recovery(&root, "requets");
    fs::create_dir_all(transcript(&home).parent().unwrap()).unwrap();
    fs::write(transcript(&home), text).unwrap();
    let begin = Instant::now();
    Agent::new(&home, "claude-code", &root).hook("session-end", "");
    assert!(begin.elapsed() < Duration::from_secs(5));
    let is_read = || home.done(&root, &["review", "list", "--json"]).out.contains("pip install requests");
    while !is_read() {
        assert!(begin.elapsed() < Duration::from_mins(2), "nothing was read");
        std::thread::yield_now();
    }
}

#[test]
fn a_prompt_does_not_wait_for_many_lessons_without_vectors() {
    let home = Home::new();
    let root = taught(&home);
    let row =
        |n| json!({"trigger": format!("tuning valve {n} of the press"), "solution": format!("Set it to {n} bar.")});
    let rows: Vec<String> = (0..40).map(|n| row(n).to_string()).collect();
    assert_eq!(home.say(&root, &["learn", "--dedup", "off"], &rows.join("\n")).code, 0);
    let vectors = || {
        let said = home.command(&root, &["doctor", "--check", "--json"]).output().unwrap();
        serde_json::from_slice::<Value>(&said.stdout).unwrap()["vectors"].as_u64().unwrap()
    };
    // Those of another model.
    let before = vectors();
    let agent = Agent::new(&home, "claude-code", &root);
    let text = agent.text_for("prompt", "tune valve 17 of the press");
    assert!(text.contains("Set it to 17 bar."), "{text}");
    // Another process embeds the texts that it did not wait for.
    let begin = Instant::now();
    while vectors() < before + 40 {
        assert!(begin.elapsed() < Duration::from_mins(2), "nothing was embedded");
    }
}
