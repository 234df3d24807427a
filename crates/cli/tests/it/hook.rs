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
        let quoted = |text: &str| json!(text).to_string().trim_matches('"').to_owned();
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
        let mined = json!({"trigger": "`pip install request` fails", "mistake": MISTAKE, "solution": ADVICE, "source": "mined",
            "commands": ["pip install* request*"]});
        home.say(&root, &["learn"], &format!("{mined}\n"));
        home.done(&root, &["inbox", "apply", "--all"]);
        let agent = Agent::new(&home, name, &root);
        let task = "pip install request fails";
        assert!(home.done(&root, &["context", task]).out.contains(ADVICE), "{name}");
        assert_eq!(agent.text_for("prompt", task).contains(ADVICE), !before, "{name}");
        if before {
            assert!(agent.text_for("before-tool", MISTAKE).contains(ADVICE), "{name}");
        }
    }
}

#[test]
fn a_lesson_that_answers_the_prompt_comes_before_its_subcommand_without_arguments() {
    let home = Home::new();
    let root = home.repository("shop");
    home.done(&root, &["init"]);
    let mined = json!({"trigger": "`go build -o shop ./...` fails: cannot write multiple packages", "mistake": "`go build -o shop ./...`",
        "solution": "Run `go build -o shop .`.", "source": "mined", "commands": ["go build* ./...*"]});
    home.say(&root, &["learn"], &format!("{mined}\n"));
    home.done(&root, &["inbox", "apply", "--all"]);
    let agent = |session| Agent { session, ..Agent::new(&home, "claude-code", &root) };
    let comes = |session, command| agent(session).text_for("before-tool", command).contains("go build -o shop .`");
    assert!(!comes("a", "go build ./cmd/shop"), "nothing was asked for");
    assert!(comes("a", "go build -o shop ./..."));
    assert_eq!(agent("b").text_for("prompt", "build the shop binary with go build"), "");
    assert!(!comes("b", "go test ./cmd/shop"));
    assert!(!comes("b", "go build ./cmd/shop"), "it has not what was wrong");
    assert!(comes("b", "cd shop && go build"));
    assert!(!comes("b", "go build -o shop ./..."), "not twice");
    assert_eq!(agent("c").text_for("prompt", "Explain how the shop builds its price list"), "");
    assert!(!comes("c", "go build"));
}

/// A memory with how the project is checked and a recovery that formats first.
fn with_checks(home: &Home) -> PathBuf {
    let root = home.repository("shop");
    home.done(&root, &["init"]);
    let checks = json!({"trigger": "checking a change before it is committed", "mistake": "Committing without checking.", "source": "mined",
        "solution": "Check with:\n1. `mix format`\n2. `mix test`", "commands": ["git commit*", "mix test*"], "paths": ["*.ex"]});
    let format = json!({"trigger": "`git commit -m x` fails: [FORMAT] Code is not formatted.", "mistake": "`git commit -m x`",
        "source": "mined", "solution": "First run `mix format`; then `git commit -m x` passes.", "commands": ["git commit*"]});
    for lesson in [checks, format] {
        home.say(&root, &["learn"], &format!("{lesson}\n"));
    }
    home.done(&root, &["inbox", "apply", "--all"]);
    root
}

/// The text before the last of some calls; a file is one that is changed. A call after `! ` fails, the others before the last pass.
fn before_last(home: &Home, root: &Path, session: &'static str, calls: &[&str]) -> String {
    let agent = Agent { session, ..Agent::new(home, "claude-code", root) };
    let mut text = String::new();
    for (number, call) in calls.iter().enumerate() {
        let (call, after) = call.strip_prefix("! ").map_or((*call, "after-tool"), |call| (call, "after-failure"));
        let is_command = call.contains(' ');
        text = agent.text_for(if is_command { "before-tool" } else { "before-edit" }, call);
        if is_command && number + 1 < calls.len() {
            agent.text_for(after, call);
        }
    }
    text
}

#[test]
fn checks_come_for_what_was_changed() {
    let home = Home::new();
    let root = with_checks(&home);
    let comes = |session, calls: &[&str]| before_last(&home, &root, session, calls).contains("Check with:");
    assert!(!comes("a", &["mix test --max-failures 1"]), "nothing was changed");
    assert!(comes("b", &["web/app.ts", "mix test test/a_test.exs", "lib/a.ex"]), "code is changed");
    assert!(comes("i", &["test/a_test.exs"]), "another ending of the language");
    assert!(comes("c", &["sed -i 's/a/b/' lib/a.ex", "mix test"]));
    assert!(comes("d", &["git commit -am x"]), "it is not known what was changed");
    assert!(!comes("e", &["README.md", "git commit -am x"]));
    assert!(!comes("f", &["web/app.ts", "cd web && npx tsc && git commit -am x"]));
    assert!(!comes("g", &["git add README.md && git commit -m x"]));
    assert!(comes("h", &["git add lib/a.ex && git commit -m x"]));
    assert!(comes("l", &["cat > lib/a.ex <<'EOF'\nx\nEOF", "mix test"]));
    assert!(!comes("m", &["sed -i 's/v1.2/v1.3/' README.md", "mix test"]), "its script is no file");
    let tree = home.worktree(&root, "shop/.claude/worktrees/w");
    assert!(comes("n", &[tree.join("lib/a.ex").to_str().unwrap()]));
    assert!(comes("o", &[tree.join("config.yml").to_str().unwrap(), "mix test"]));
}

#[test]
fn a_prompt_leaves_checks_to_the_commands_that_need_them() {
    let home = Home::new();
    let root = with_checks(&home);
    let agent = |session| Agent { session, ..Agent::new(&home, "claude-code", &root) };
    let task = "checking a change before it is committed";
    assert_eq!(agent("a").text_for("prompt", task), "");
    assert!(!agent("a").text_for("before-tool", "mix test test/a_test.exs").contains("Check with:"));
    assert!(agent("a").text_for("before-tool", "mix test").contains("Check with:"), "a step as it is told");
    assert!(!agent("b").text_for("before-tool", "mix test").contains("Check with:"), "nothing was asked for");
    let other = Agent::new(&home, "gemini-cli", &root);
    assert!(other.text_for("prompt", task).contains("Check with:"), "it is not asked before tools");
}

#[test]
fn a_formatter_comes_first_until_it_was_run() {
    let home = Home::new();
    let root = with_checks(&home);
    let comes = |session, calls: &[&str]| before_last(&home, &root, session, calls).contains("First run `mix format`");
    assert!(comes("a", &["lib/a.ex", "git commit -am x"]));
    assert!(!comes("b", &["lib/a.ex", "mix test && mix format", "git commit -am x"]));
    assert!(comes("c", &["lib/a.ex", "mix format lib", "lib/b.ex", "git commit -am x"]), "it was changed again");
    assert!(!comes("d", &["git commit --amend -m 'Fix the spelling'"]));
    assert!(comes("e", &["lib/a.ex", "git commit --amend -m x"]));
    assert!(!comes("f", &["config/ci.yml", "git commit -am x"]));
    assert!(comes("g", &["lib/a.ex", "! mix format", "git commit -am x"]), "it failed");
    assert!(comes("h", &["lib/a.ex", "mix format --check-formatted", "git commit -am x"]), "it only checked");
}

#[test]
fn a_lesson_that_an_edit_repaired_comes_where_its_failure_is_there() {
    let home = Home::new();
    let root = home.repository("shop");
    home.done(&root, &["init"]);
    let error = "log.PrintBanner undefined (type *zap.Logger has no field or method PrintBanner)";
    let mined = json!({"trigger": format!("`go build -o shop` fails: <file>: {error}"), "mistake": "`go build -o shop`", "source": "mined",
        "solution": "`log` is a variable too. Rename the import to `logpkg`. To do so, change serve.go; then `go build -o shop` passes.",
        "commands": ["go build*"]});
    home.say(&root, &["learn"], &format!("{mined}\n"));
    home.done(&root, &["inbox", "apply", "--all"]);
    let agent = |session| Agent { session, ..Agent::new(&home, "claude-code", &root) };
    let comes = |session, command| agent(session).text_for("before-tool", command).contains("logpkg");
    assert_eq!(agent("a").text_for("prompt", "build the binary, `undefined: cart.Total` in serve.go"), "");
    assert!(!comes("a", "go build -o shop"));
    assert_eq!(agent("b").text_for("prompt", "call PrintBanner when the shop starts"), "");
    assert!(comes("b", "go build -o shop"));
    let failed = agent("c").payload("after-failure", "go build -o shop").replace("ERROR: No matching", error);
    home.say(&root, &["hook", "after-tool"], &failed);
    assert!(comes("c", "go build -o shop"), "it has failed so");
    assert!(!comes("d", "go build -o shop"));
    assert!(comes("d", "go build -o shop && grep -n PrintBanner serve.go"));
}

#[test]
fn a_push_of_a_branch_with_an_upstream_brings_no_lesson_on_it() {
    let home = Home::new();
    let root = home.repository("shop");
    home.done(&root, &["init"]);
    let mined = json!({"trigger": "`git push` fails: fatal: The current branch a has no upstream branch.", "mistake": "`git push`",
        "solution": "Run `git push --set-upstream origin <branch>` (+ --set-upstream origin <branch>).", "source": "mined", "commands": ["git push*"]});
    home.say(&root, &["learn"], &format!("{mined}\n"));
    home.done(&root, &["inbox", "apply", "--all"]);
    let comes = |session, calls: &[&str]| before_last(&home, &root, session, calls).contains("--set-upstream");
    assert!(comes("a", &["git push"]));
    let head = fs::read_to_string(root.join(".git/HEAD")).unwrap();
    let branch = head.trim().strip_prefix("ref: refs/heads/").unwrap();
    let config = root.join(".git/config");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(config, format!("{text}[branch \"{branch}\"]\n\tremote = origin\n\tmerge = refs/heads/{branch}\n"))
        .unwrap();
    assert!(!comes("b", &["git push"]));
    fs::create_dir(root.join("web")).unwrap();
    assert!(!comes("c", &["git status -sb", "cd web && git push"]));
    assert!(comes("f", &["cd ../bank && git push"]), "another repository");
    assert!(comes("d", &["git checkout -b fix && git push"]));
    assert!(comes("e", &["git checkout -b fix", "git commit -am x && git push"]));
    assert!(comes("h", &["git checkout -b fix", "! git pull", "cd ../bank && git push"]));
    let agent = Agent { session: "g", ..Agent::new(&home, "claude-code", &root) };
    agent.text_for("prompt", "push it");
    assert_eq!(agent.text_for("before-tool", "git push"), "", "the task names it, and it does not fail");
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
    home.learn(&root, "changing db/schema/users.sql", "Ask first.", &["--commands", "psql*"]);
    assert_eq!(home.say(&root, &["hook", "before-tool"], &read).answer(), json!({}), "its command does not run");
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
        &["--role", "hook", "--dir", "no/such", "check"],
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
    let is_read = || home.done(&root, &["inbox", "list", "--json"]).out.contains("pip install requests");
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
        let said = home.command(&root, &["check", "--json"]).output().unwrap();
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
