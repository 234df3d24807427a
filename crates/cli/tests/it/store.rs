//! A memory in PostgreSQL: `ADAGE_POSTGRES` names the server, and `scripts/postgres start FOLDER` starts one.

use std::io::Write;
use std::process::Stdio;
use std::time::SystemTime;

use serde_json::{Value, json};

use super::home::Home;

/// The address of a playbook that no other test uses; none, and that is said, if there is no server to test on.
fn fresh(name: &str) -> Option<String> {
    let Ok(server) = std::env::var("ADAGE_POSTGRES") else {
        let text = "NOT TESTED: ADAGE_POSTGRES names no server; `scripts/postgres start FOLDER` starts one";
        // Straight to standard error: the test runner keeps the output of tests that pass to itself.
        let mut err = std::io::stderr();
        writeln!(err, "{text}").unwrap();
        return None;
    };
    let time = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos();
    Some(format!("{server}?playbook={name}-{time}"))
}

#[test]
fn a_memory_in_postgresql_is_one_for_all_machines() {
    let Some(address) = fresh("machines") else { return };
    // Two users, as on two machines.
    let (one, other) = (Home::new(), Home::new());
    let (here, there) = (one.repository("here"), other.folder("there"));
    let store = ["--store", address.as_str()];
    one.learn(&here, "pushing a rebased branch", "Use --force-with-lease.", &store);
    let found = other.done(&there, &[&["context", "push the rebased branch"], &store[..]].concat());
    assert!(found.out.contains("--force-with-lease"), "{}", found.out);
    let listed = other.done(&there, &[&["list", "--json"], &store[..]].concat());
    let row: Value = serde_json::from_str(listed.out.lines().next().unwrap()).unwrap();
    let id = row["id"].as_str().unwrap();
    other.done(&there, &[&["edit", id, "--solution", "Use --force-with-lease, never --force."], &store[..]].concat());
    let removed = one.done(&here, &[&["remove", "pushing a rebased branch", "--json"], &store[..]].concat());
    let removed: Value = serde_json::from_str(removed.out.lines().next().unwrap()).unwrap();
    assert!(!other.done(&there, &[&["list"], &store[..]].concat()).out.contains("rebased"));
    other.done(&there, &[&["undo", removed["change"].as_str().unwrap()], &store[..]].concat());
    let shown = one.done(&here, &[&["show", "pushing a rebased branch"], &store[..]].concat()).out;
    assert!(shown.contains("never --force"), "{shown}");
    let health = one.done(&here, &[&["doctor"], &store[..]].concat()).out;
    assert!(health.contains("server") && health.contains("PostgreSQL"), "{health}");
    assert!(!here.join(".adage").exists(), "nothing is made beside it");
}

#[test]
fn a_hook_answers_from_the_store_of_the_environment() {
    let Some(address) = fresh("hook") else { return };
    let home = Home::new();
    let here = home.repository("here");
    home.learn(&here, "pushing a rebased branch", "Use --force-with-lease.", &["--store", &address]);
    for (event, more) in [
        ("prompt", json!({"prompt": "How do I push my rebased branch?"})),
        ("session-end", json!({"transcript_path": here.join("none.jsonl")})),
    ] {
        let mut input = json!({"session_id": "s1", "cwd": here});
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut command = home.command(&here, &["hook", event, "--embedder", "hashing"]);
        command.env("ADAGE_STORE", &address).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut hook = command.spawn().unwrap();
        hook.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
        let said = hook.wait_with_output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
        assert!(said.status.success() && err.is_empty(), "{event}: {err}");
        assert_eq!(out.contains("--force-with-lease"), event == "prompt", "{event}: {out}");
    }
}

#[test]
fn an_address_that_leads_nowhere_is_an_error_without_its_password() {
    let home = Home::new();
    let here = home.folder("here");
    let word = "geheim-7Qx";
    for (address, said) in [
        (format!("postgres://adage:{word}@127.0.0.1:1/memory"), "127.0.0.1:1"),
        (format!("postgres://adage:{word}@127.0.0.1:1/memory?playbook=a%20b"), "playbook"),
        (format!("mysql://adage:{word}@127.0.0.1/memory"), "postgres://USER@HOST/DATABASE"),
    ] {
        for command in [vec!["list"], vec!["learn", "--trigger", "a", "--solution", "b"], vec!["doctor"]] {
            let failed = home.call(&here, &[&command[..], &["--store", &address]].concat());
            let all = failed.out + &failed.err;
            assert!(failed.code != 0 && all.contains(said), "{command:?}: {all}");
            assert!(!all.contains(word), "{command:?}: {all}");
        }
    }
    let both = home.call(&here, &["list", "--dir", "x", "--store", "postgres://a@b/c"]);
    assert!(both.code == 2 && both.err.contains("--store"), "{}", both.err);
}
