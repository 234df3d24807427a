use std::path::PathBuf;
use std::time::Duration;

use adage_transcript::{Owner, Status, ToolCall, Transcript, Turn};
use chrono::{DateTime, FixedOffset};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Ineligible, ReadState, SessionEntry, SessionSummary, index, intent, workflow};
use crate::testing::at;

fn call(tool: &str, input: Value, status: Status) -> Turn {
    Turn::ToolCall(ToolCall { tool: tool.to_owned(), input, result: None, status })
}

fn ran(command: &str, status: Status) -> Turn {
    call("Bash", json!({ "command": command }), status)
}

fn transcript(turns: Vec<Turn>) -> Transcript {
    Transcript { project: "/home/ann/shop".into(), turns, ..Transcript::default() }
}

/// Split so that no scanner takes the test for a leak.
fn token() -> String {
    ["ghp", "_", "Zq8TnV3kLx0RbYw7Jd2MfPc6Hs1Ga9Ue4Xi5"].concat()
}

#[test]
fn intents_are_the_first_request() {
    let token = token();
    for (said, expected) in [
        (vec!["hi", "Please add a retry to the uploader. Thanks!"], "Please add a retry to the uploader."),
        (vec!["yes"], "yes"),
        (vec![], ""),
        (vec!["Fix the crash in\nthe parser of dates"], "Fix the crash in"),
        (vec!["Fix the bug of https://example.com/a?key=1."], "Fix the bug of <url>."),
        (vec!["Use (http://u:p@host/x) for the new test"], "Use (<url>) for the new test"),
        (
            vec!["Please explain at length why the nightly build of the documentation fails on the second runner only"],
            "Please explain at length why the nightly build of the documentation fails on…",
        ),
        (
            vec![&format!("Please deploy with {token} to staging")],
            "Please deploy with [REDACTED:github-token] to staging",
        ),
        (vec!["a\u{1b}[31mred"], "a [31mred"),
    ] {
        let turns = said.iter().map(|text| Turn::User((*text).to_owned())).collect();
        let found = intent::intent(&transcript(turns));
        assert!(!found.contains(&token) && !found.contains("://"), "{found}");
        assert_eq!(found, expected, "{said:?}");
    }
}

#[test]
fn hints_name_tools_programs_and_files() {
    use Status::{Failed, Succeeded, Unknown};
    let secret = token();
    for (turns, expected) in [
        (vec![], ""),
        (
            vec![
                call("Read", json!({"file_path": "/home/ann/shop/src/lib.rs"}), Succeeded),
                call("Edit", json!({"file_path": "/home/ann/shop/src/lib.rs", "new_string": "a/b.c"}), Succeeded),
                ran("cd /home/ann/shop && cargo test --all", Failed),
                ran("cargo test --all", Succeeded),
                ran("git commit -m 'a message'", Succeeded),
            ],
            "Read -> Edit -> Bash: cargo -> Bash: git | paths src/lib.rs | validated",
        ),
        (vec![ran("npm run lint", Failed)], "Bash: npm | validation failed"),
        (vec![ran("npm test", Unknown)], "Bash: npm"),
        (vec![ran("./contest_runner", Succeeded)], "Bash: contest_runner"),
        (vec![call("runTests", json!({}), Succeeded)], "runTests | validated"),
        (vec![ran("\"npm\" run test", Succeeded)], "Bash: npm | validated"),
        (vec![ran("DATABASE_URL=postgres://u:p@h/db pnpm test", Succeeded)], "Bash: pnpm | validated"),
        (vec![ran("'unclosed secret words", Succeeded)], "Bash: shell"),
        (vec![ran("https://example.com/hook/abcdef", Failed)], "Bash: shell"),
        (vec![ran("\"https://example.com/hook/abcdef\" now", Failed)], "Bash: shell"),
        (vec![ran("TOKEN=abc", Succeeded)], "Bash: shell"),
        (vec![ran("curl -H 'Authorization: Bearer abc' https://example.com/x", Succeeded)], "Bash: curl"),
        (vec![ran(&secret, Failed)], "Bash: shell"),
        (vec![call("bad tool\nname", json!({}), Succeeded)], "tool"),
        (
            vec![call(
                "Glob",
                json!({"path": "/etc/ssl/private/host.key", "pattern": "x/y", "url_path": "https://a.b/c"}),
                Succeeded,
            )],
            "Glob | paths host.key",
        ),
        (vec![call("Read", json!({"file": format!("a/{secret}"), "dir": "two words/x"}), Succeeded)], "Read"),
        (
            vec![call("Read", json!({"files": ["x"], "args": {"filePath": "../../up/a.rs"}}), Succeeded)],
            "Read | paths a.rs",
        ),
    ] {
        let found = workflow::hint(&transcript(turns));
        assert_eq!(found, expected);
        assert!(!found.contains(&secret), "{found}");
    }
}

#[test]
fn a_long_hint_keeps_its_end() {
    let name = |n: usize| format!("mcp__server_{n}__a_tool_with_a_long_name");
    let mut turns: Vec<Turn> =
        (0..9).map(|n| call(&name(n), json!({"path": format!("src/{n}/mod.rs")}), Status::Succeeded)).collect();
    turns.push(ran("cargo check", Status::Succeeded));
    let hint = workflow::hint(&transcript(turns));
    assert!(hint.starts_with(&name(0)) && hint.ends_with(" | validated"), "{hint}");
    assert!((100..=160).contains(&hint.chars().count()), "{hint}");
}

fn summary(session: &str, n_user_turns: usize, last: Option<DateTime<FixedOffset>>) -> SessionSummary {
    SessionSummary {
        session: session.into(),
        last_record: last,
        n_user_turns,
        n_tool_calls: 0,
        n_failed_calls: 0,
        n_turns: n_user_turns * 3,
        owner: Owner::Person,
        intent: "Fix the parser.".into(),
        workflow: "Read -> Bash: cargo".into(),
    }
}

const IDLE: Duration = Duration::from_hours(3);

/// A session that was last written to some hours before `at(0)`.
fn entry(session: &str, path: &str, hours_ago: i64) -> SessionEntry {
    let last = at(-hours_ago * 3_600);
    SessionEntry::new(PathBuf::from(path), at(0), summary(session, 12, Some(last)), at(0), IDLE)
}

#[test]
fn eligible_is_what_a_person_left_alone() {
    let hours = |hours: u64| Duration::from_hours(hours);
    let check = |summary: SessionSummary, expected: Option<Ineligible>| {
        let entry = SessionEntry::new("a".into(), at(0), summary, at(0), IDLE);
        assert_eq!(entry.ineligible, expected);
        assert_eq!(entry.is_due(), expected.is_none());
    };
    check(summary("s", 10, Some(at(-3 * 3_600))), None);
    let active = |idle| Some(Ineligible::Active { idle, min: hours(3) });
    check(summary("s", 10, Some(at(-3 * 3_600 + 1))), active(Duration::from_secs(3 * 3_600 - 1)));
    // A time to come is the file's.
    check(summary("s", 10, Some(at(7_200))), active(Duration::ZERO));
    check(summary("s", 10, None), active(Duration::ZERO));
    let few = |n_tool_calls| Some(Ineligible::FewTurns { n_user_turns: 9, n_tool_calls });
    let with = |n_tool_calls, n_failed_calls| SessionSummary {
        n_tool_calls,
        n_failed_calls,
        ..summary("s", 9, Some(at(-86_400)))
    };
    check(with(0, 0), few(0));
    check(with(9, 0), few(9));
    check(with(10, 0), None);
    check(with(1, 1), None);
    let agent = SessionSummary { owner: Owner::Agent, ..summary("s", 20, Some(at(-86_400))) };
    check(agent, Some(Ineligible::SubAgent));
}

#[test]
fn the_order_is_attempts_then_age_and_copies_count_once() {
    let tried = |entry: SessionEntry, read_state| SessionEntry { read_state, ..entry };
    let found = index(vec![
        tried(entry("read", "/r", 4), ReadState::Read),
        entry("older", "/o", 9),
        tried(entry("tried", "/t", 4), ReadState::New { n_attempts: 1 }),
        entry("copy", "/copy.json", 30),
        entry("copy", "/new.jsonl", 6),
        tried(entry("bad", "/b", 4), ReadState::GivenUp { n_attempts: 3 }),
        entry("", "/without/a/name", 5),
    ]);
    let paths: Vec<&str> = found.iter().map(|entry| entry.path.to_str().unwrap()).collect();
    assert_eq!(paths, ["/without/a/name", "/new.jsonl", "/o", "/t", "/b", "/r"]);
    assert_eq!(found[0].id, "/without/a/name");
    let due: Vec<bool> = found.iter().map(SessionEntry::is_due).collect();
    assert_eq!(due, [true, true, true, true, false, false]);
}

#[test]
fn a_sub_agent_does_not_take_its_parents_place() {
    let mut agent = entry("s", "/agent", 4);
    agent.summary.owner = Owner::Agent;
    assert_eq!(index(vec![agent, entry("s", "/main", 5)]).len(), 2);
}

#[test]
fn lines_are_lines() {
    let mut entry = entry("s", "/a\nb", 4);
    assert_eq!(entry.to_string(), "[NEW] Fix the parser. | workflow: Read -> Bash: cargo (12 user msgs) — /a\u{fffd}b");
    entry.read_state = ReadState::Read;
    entry.summary.intent.clear();
    entry.summary.workflow.clear();
    assert_eq!(entry.to_string(), "[old] (no request) (12 user msgs) — /a\u{fffd}b");
}

proptest! {
    #[test]
    fn lines_of_anything_are_short_and_hold_no_url(
        texts in prop::collection::vec("(\\PC|https://a.b/c|\\n|\"| ){0,30}", 1..4),
        commands in prop::collection::vec("(\\PC|https://a.b/c|\\n|\"|'| |ls){0,12}", 1..4),
    ) {
        let mut turns: Vec<Turn> = texts.into_iter().map(Turn::User).collect();
        for command in &commands {
            turns.push(ran(command, Status::Succeeded));
            turns.push(call(command, json!({"path": command}), Status::Failed));
        }
        let transcript = transcript(turns);
        let (intent, hint) = (intent::intent(&transcript), workflow::hint(&transcript));
        prop_assert!(intent.chars().count() <= intent::MAX_CHARS && hint.chars().count() <= workflow::MAX_CHARS);
        for line in [intent, hint] {
            prop_assert!(!line.contains("://") && !line.contains(char::is_control), "{}", line);
        }
    }
}
