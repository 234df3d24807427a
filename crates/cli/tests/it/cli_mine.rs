//! `mine`: output, learning, and the effect of an interrupt.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::cli::Shell;
use crate::home::{Home, session_with_a_recovery};

/// A session as Claude Code writes it: 12 user turns, and a failing command with its fix.
fn write_session(folder: &Path, name: &str) -> PathBuf {
    let mut text = String::new();
    let mut n = 0;
    // One project learns a recovery once: numbered sessions are of projects of their own.
    let project = if name.starts_with('s') { format!("/srv/{name}") } else { "/srv/shop".to_owned() };
    // Sessions that began at the same time are copies.
    let begun = name.bytes().fold(0_u32, |sum, byte| (sum * 31 + u32::from(byte)) % 86_400);
    let begun = format!("{:02}:{:02}:{:02}", begun / 3600, begun / 60 % 60, begun % 60);
    let mut record = |kind: &str, content: Value| {
        n += 1;
        let record = json!({
            "type": kind, "uuid": format!("{name}-{n}"), "sessionId": name, "cwd": project,
            "timestamp": format!("2026-02-01T{begun}.{n:03}Z"), "message": {"role": kind, "content": content},
        });
        writeln!(text, "{record}").unwrap();
    };
    for part in 0..12 {
        record("user", json!(format!("Please go on with part {part} of {name}.")));
    }
    for (id, command, result, is_error) in [
        ("a", "pip install request", "ERROR: No matching distribution found for request", true),
        ("b", "pip install requests", "Successfully installed requests-2.32.3", false),
    ] {
        let id = format!("{name}-{id}");
        record("assistant", json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]));
        record("user", json!([{"type": "tool_result", "tool_use_id": id, "content": result, "is_error": is_error}]));
    }
    fs::create_dir_all(folder).unwrap();
    let path = folder.join(format!("{name}.jsonl"));
    fs::write(&path, text).unwrap();
    path
}

fn n_waiting(shell: &Shell) -> usize {
    shell.call(&["review", "list", "--json"]).objects().len()
}

#[test]
fn files_and_folders_are_mined_once() {
    let shell = Shell::new();
    let folder = shell.path().join("sessions");
    let file = write_session(&folder, "monday");
    write_session(&folder.join("deep"), "tuesday");
    let file = file.to_str().unwrap();
    let dry = shell.call(&["mine", file, "--dry-run"]);
    assert_eq!(dry.code, 0, "{}", dry.err);
    assert!(dry.out.starts_with("error-recovery  error-pip  (turns 12, 13)\n  when  "), "{}", dry.out);
    assert!(dry.out.ends_with("1 session, 1 suggestion, nothing was learned\n"), "{}", dry.out);
    assert!(!shell.path().join("memory").exists());

    let objects = shell.call(&["mine", file, "--json"]).objects();
    assert_eq!((&objects[0]["heuristic"], &objects[0]["session"]), (&json!("error-recovery"), &json!("monday")));
    assert!(objects[0]["learned"].as_str().unwrap().starts_with("awaits review as "), "{objects:?}");
    let both = shell.call(&["mine", folder.to_str().unwrap()]);
    assert!(both.out.contains("refused: session monday taught the same before"), "{}", both.out);
    assert!(both.out.ends_with("2 sessions, 1 suggestion, 0 learned, 0 for review\n"), "{}", both.out);
    assert_eq!(n_waiting(&shell), 1, "what two sessions of a project suggest waits once");

    fs::write(folder.join("notes.GZ"), "not gzip").unwrap();
    fs::write(folder.join("deep/packed.JSON.Gz"), "not gzip").unwrap();
    let dry = shell.call(&["mine", folder.to_str().unwrap(), "--dry-run"]);
    assert!(dry.code == 1 && dry.err.contains("packed.JSON.Gz: ") && !dry.err.contains("notes"), "{}", dry.err);
    assert!(dry.out.contains("2 sessions, ") && dry.out.ends_with(", nothing was learned\n"), "{}", dry.out);

    assert_eq!(shell.call(&["mine"]).code, 2);
    assert_eq!(shell.call(&["mine", file, "--sessions", "."]).code, 2);
    let missing = shell.call(&["mine", "nowhere.jsonl"]);
    assert!(missing.code == 1 && missing.err.contains("nowhere.jsonl"), "{}", missing.err);
}

#[test]
fn due_sessions_are_read_ten_at_a_time_and_recorded() {
    let mut shell = Shell::new();
    let folder = shell.path().join("sessions");
    for n in 0..12 {
        write_session(&folder, &format!("s{n:02}"));
    }
    let folder = folder.to_str().unwrap().to_owned();
    let dry = shell.call(&["mine", "--sessions", &folder, "--dry-run"]);
    assert!(dry.out.ends_with("10 sessions, 10 suggestions, nothing was learned\n"), "{}{}", dry.out, dry.err);
    assert!(!shell.path().join("memory").exists());
    let first = shell.call(&["mine", "--sessions", &folder]);
    assert!(!first.err.contains("not read:"), "{}", first.err);
    assert!(first.out.contains("\n10 sessions, 10 suggestions, "), "{}{}", first.out, first.err);
    let again = shell.call(&["mine", "--sessions", &folder]);
    assert_eq!((again.code, again.out.as_str()), (0, "0 sessions, 0 suggestions, 0 learned, 0 for review\n"));
    assert!(again.err.contains("nothing is due before 2026-03-01 12:30:00"), "{}", again.err);
    shell.now = "2026-03-01T12:30:00Z";
    let rest = shell.call(&["mine", "--sessions", &folder]);
    assert!(rest.out.contains("\n2 sessions, 2 suggestions, "), "{}{}", rest.out, rest.err);
    shell.now = "2026-03-01T13:30:00Z";
    let none = shell.call(&["mine", "--sessions", &folder]);
    assert!(none.code == 0 && none.err.contains("no session is due"), "{}", none.err);
    assert!(none.err.contains("not read: 12 read before; "), "{}", none.err);
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_results_and_records_the_run() {
    const N: usize = 300;
    let shell = Shell::new();
    let folder = shell.path().join("sessions");
    for n in 0..N {
        write_session(&folder, &format!("s{n:03}"));
    }
    let memory = shell.path().join("memory");
    let mut child = Command::new(env!("CARGO_BIN_EXE_adage"))
        .args(["--embedder", "none", "--json", "--dir"])
        .arg(&memory)
        .arg("mine")
        .arg(&folder)
        .env("ADAGE_TRUST", "all")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let n_printed = 1 + lines.count();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(n_printed < N && said.contains("interrupted; what was read is learned"), "{n_printed} {said}");

    // Complete; the next call reads the rest, and nothing twice.
    assert_eq!(shell.call(&["doctor", "--check"]).code, 0);
    let rest = shell.call(&["mine", folder.to_str().unwrap(), "--json"]).objects();
    let n_before = rest.iter().filter(|row| row["learned"].as_str().unwrap().contains(" before")).count();
    assert_eq!((rest.len(), n_before), (N, n_printed));
}

#[cfg(feature = "http-llm")]
#[test]
fn a_model_on_a_server_is_asked() {
    use crate::server::{Server, response};

    let shell = Shell::new();
    let file = write_session(shell.path(), "monday");
    let lesson = json!({
        "trigger": "going on with the parts", "rule": "Ask before part 7.", "confidence": "high", "tags": [],
        "evidence": "Please go on with part 7 of monday",
    });
    let reply = json!({"decision": "LEARN", "lessons": [lesson]}).to_string();
    let body = json!({"choices": [{"message": {"role": "assistant", "content": reply}, "finish_reason": "stop"}]});
    let server = Server::saying(response("200 OK", "Content-Type: application/json\r\n", &body.to_string()));
    let url = format!("http://{}/v1", server.address);
    let file = file.to_str().unwrap();
    let said = shell.call(&["mine", file, "--model-url", &url, "--model-name", "small"]);
    assert!(said.code == 0 && said.out.contains("model  (turn 7)\n  when  going on with the parts"), "{}", said.out);
    assert!(said.out.ends_with("1 session, 2 suggestions, 0 learned, 2 for review\n"), "{}", said.out);
    assert!(server.requests.recv().unwrap().contains("\"model\":\"small\""));

    let broken = Server::saying(response("500 Internal Server Error", "", "oh"));
    let url = format!("http://{}/v1", broken.address);
    let said = shell.call(&["mine", file, "--model-url", &url, "--model-name", "small"]);
    assert!(said.code == 1 && said.err.contains("the model failed: "), "{}{}", said.out, said.err);
}

/// An agent whose folder is elsewhere keeps its sessions there too; another folder of that name is anybody's.
#[test]
fn sessions_are_the_persons_own_where_the_environment_places_the_agent() {
    for (variable, is_own) in [("CLAUDE_CONFIG_DIR", true), ("CODEX_HOME", false)] {
        let home = Home::new();
        let root = home.repository("shop");
        let sessions = home.folder("agents/one/projects");
        let mut session = File::create(home.folder("agents/one/projects/-srv-shop").join("3f2a.jsonl")).unwrap();
        session.write_all(session_with_a_recovery(&root, "requets").as_bytes()).unwrap();
        let mut command = home.command(&root, &["mine", sessions.to_str().unwrap(), "--embedder", "hashing"]);
        let output = command.env(variable, home.path("agents/one")).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        assert_eq!(!said.contains("its folder is no agent's"), is_own, "{variable}: {said}");
    }
}
