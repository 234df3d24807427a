//! The content and names of sessions and imported files never reach the terminal as control sequences.

use serde_json::{Value, json};

use super::program::World;
use super::terminal::{Places, look_at_lessons};

/// A session with hostile text wherever its agent wrote text.
fn session(places: &mut Places, what: &str) -> String {
    let mut lines = Vec::new();
    let id = places.plant(format!("{what}: the session's id"));
    let folder = places.plant(format!("{what}: the working folder"));
    let mut record = |kind: &str, content: Value| {
        let number = lines.len();
        let record = json!({
            "type": kind, "uuid": format!("{number}"), "sessionId": id, "cwd": folder,
            "timestamp": "2026-02-01T10:00:00Z", "message": {"role": kind, "content": content},
        });
        lines.push(record.to_string());
    };
    let words = places.plant(format!("{what}: what the user said"));
    for part in 0..12 {
        record("user", json!(format!("Remember this: never use {words} for part {part} of the manual.")));
    }
    let (command, tool) = (places.plant(format!("{what}: a command")), places.plant(format!("{what}: a tool")));
    let result = places.plant(format!("{what}: a result"));
    for (call, (suffix, is_error)) in [("", true), ("s", false)].into_iter().enumerate() {
        let input = json!({"command": format!("pip install request{suffix} {command}")});
        record("assistant", json!([{"type": "tool_use", "id": format!("c{call}"), "name": "Bash", "input": input}]));
        let content = format!("ERROR: No matching distribution found for {result}");
        record(
            "user",
            json!([{"type": "tool_result", "tool_use_id": format!("c{call}"), "content": content, "is_error": is_error}]),
        );
    }
    let path = places.plant(format!("{what}: a path"));
    let input = json!({"file_path": path});
    record("assistant", json!([{"type": "tool_use", "id": "t", "name": tool, "input": input}]));
    record("user", json!([{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]));
    lines.join("\n") + "\n"
}

#[test]
fn sessions_print_no_terminal_controls() {
    let (world, mut places) = (World::new(), Places::default());
    world.put_playbook(&[], &[]);
    let text = session(&mut places, "a session");
    let name = places.plant("the name of a session file");
    world.put(format!("sessions/{name}.jsonl"), &text);
    let folder = places.plant("the name of a folder of sessions");
    world.put(format!("sessions/{folder}/short.jsonl"), text.lines().next().unwrap());
    let packed = places.plant("the name of a broken packed session");
    world.put(format!("sessions/{packed}.jsonl.gz"), "not packed");
    let broken = places.plant("a line that is not JSON");
    world.put("sessions/broken.jsonl", format!("{text}{{\"{broken}\n{broken}\n"));
    let foreign = places.plant("a file of an unknown format");
    world.put("sessions/foreign.json", format!("{{\"{foreign}\": \"{foreign}\"}}"));
    #[cfg(unix)]
    {
        let link = places.plant("the name of a link among sessions");
        std::os::unix::fs::symlink("/nowhere", world.path().join(format!("sessions/{link}.jsonl"))).unwrap();
    }
    let file = format!("sessions/{name}.jsonl");
    for command in [
        &["mine", "--list", "sessions"][..],
        &["mine", "--list", "sessions", "--all"],
        &["mine", "--list", &format!("sessions/{folder}"), "--all"],
        &["mine", &file, "--dry-run", "--all"],
        &["mine", "sessions", "--dry-run", "--all"],
        &["mine", &format!("sessions/{packed}.jsonl.gz")],
        &["mine", "sessions/broken.jsonl"],
        &["mine", "sessions/foreign.json"],
        &["mine", "sessions", "--all"],
        &["mine", "--sessions", "sessions"],
        &["mine", "--list", "sessions", "--all"],
        &["skills", "list"],
        &["skills", "curate"],
    ] {
        places.look(&world, command);
    }
    look_at_lessons(&mut places, &world);
    places.report();
}

#[test]
fn imported_files_print_no_terminal_controls() {
    let (world, mut places) = (World::new(), Places::default());
    let row = |text: &str| json!({"trigger": text, "solution": text, "domains": [text], text: text, "source": text});
    let (line, id) = (places.plant("a line of JSON lines"), places.plant("an id of JSON lines"));
    let long = places.plant("a lesson that is refused");
    let broken = places.plant("a broken line");
    let lines = [
        row(&line),
        json!({"id": id, "trigger": "t", "solution": "s"}),
        json!({"trigger": long, "solution": "x".repeat(40_000)}),
        json!({"trigger": long}),
    ];
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    world.put("lessons.jsonl", format!("{}\n{{{broken}\n", lines.join("\n")));
    let bullet = places.plant("an item of a Markdown file");
    let section = format!("<!-- adage:lessons:begin -->\n## {bullet}\n- {bullet}\n<!-- adage:lessons:end -->\n");
    world.put("AGENTS.md", &section);
    world.put("MEMORY.md", section);
    let ace = places.plant("an item of an ACE playbook");
    world.put(
        "ace.txt",
        format!("## STRATEGIES & INSIGHTS\n[{ace}] helpful=1 harmful=0 :: {ace}\n## {ace}\n[x-1] {ace}\n"),
    );
    let unknown = places.plant("a file of no known format");
    world.put("unknown.txt", format!("{unknown}\n"));
    let name = places.plant("the name of an imported file");
    world.put(format!("{name}.jsonl"), "{\n");
    for file in ["lessons.jsonl", "AGENTS.md", "MEMORY.md", "ace.txt", "unknown.txt", &format!("{name}.jsonl")] {
        places.look(&world, &["import", file]);
    }
    for format in ["jsonl", "memory", "agents", "ace"] {
        places.look(&world, &["import", "unknown.txt", "--format", format]);
        places.look(&world, &["export", "--format", format, "--into", &format!("{name}-{format}.md")]);
    }
    look_at_lessons(&mut places, &world);
    places.report();
}
