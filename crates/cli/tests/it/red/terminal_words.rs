//! Text from the command line never reaches the terminal as control sequences, also if an error quotes it; and a name with a line break does
//! not forge a line.

use std::process::Command;

use serde_json::json;

use super::program::{World, report, run};
use super::terminal::Places;

/// Command lines with a hostile word in the place of `TEXT`.
const WORDS: [&[&str]; 56] = [
    &["TEXT"],
    &["--TEXT"],
    &["--json=TEXT", "list"],
    &["--now", "TEXT", "list"],
    &["--capacity", "TEXT", "list"],
    &["--dedup", "TEXT", "list"],
    &["--embedder", "TEXT", "list"],
    &["--embedder", "TEXT", "doctor"],
    &["--onnxruntime", "TEXT", "list"],
    &["--onnxruntime", "TEXT", "--embedder", "bundled", "doctor"],
    &["--project", "TEXT", "context", "q"],
    &["--role", "TEXT", "list"],
    &["--project-skills", "TEXT", "skills", "list"],
    &["--project-skills", "FILE", "skills", "list"],
    &["--extra-skills", "FILE", "skills", "list"],
    &["context", "TEXT"],
    &["context", "q", "--tier", "TEXT"],
    &["context", "q", "--threshold", "TEXT"],
    &["context", "q", "--limit", "TEXT"],
    &["context", "q", "TEXT"],
    &["list", "--window", "TEXT"],
    &["list", "--source", "TEXT"],
    &["show", "TEXT"],
    &["edit", "TEXT", "--verified", "yes"],
    &["edit", "x", "--verified", "TEXT"],
    &["remove", "TEXT"],
    &["undo", "TEXT"],
    &["outcome", "TEXT", "helpful"],
    &["outcome", "018f0000-0000-7000-8000-000000000001", "TEXT"],
    &["outcome", "--window", "TEXT"],
    &["mine", "--list", "TEXT"],
    &["mine", "--list", "FILE"],
    &["mine", "TEXT"],
    &["mine", "FILE"],
    &["mine", "--sessions", "TEXT"],
    &["mine", "x", "--format", "TEXT"],
    &["mine", "FILE", "--model-url", "TEXT", "--model-name", "TEXT"],
    &["mine", "FILE", "--model-url", "http://127.0.0.1:9/TEXT", "--model-name", "TEXT"],
    &["skills", "skip", "TEXT"],
    &["skills", "skip", "--again", "TEXT"],
    &["review", "show", "TEXT"],
    &["review", "show", "skills/TEXT"],
    &["review", "apply", "skills/TEXT.patch"],
    &["review", "undo", "TEXT"],
    &["review", "list", "--global-notes", "TEXT"],
    &["review", "list", "--writable-skills", "FILE"],
    &["skills", "show", "TEXT"],
    &["skills", "promote", "TEXT"],
    &["skills", "promote", "x", "--text-hash", "TEXT"],
    &["skills", "import", "TEXT"],
    &["skills", "import", "FILE"],
    &["skills", "export", "TEXT", "--to", "TEXT"],
    &["import", "TEXT"],
    &["import", "FILE"],
    &["export", "--format", "agents", "--into", "TEXT"],
    &["learn", "--trigger", "TEXT", "--solution", "TEXT", "--confidence", "TEXT"],
];

#[test]
fn arguments_print_no_terminal_controls() {
    let mut places = Places::default();
    for words in WORDS {
        let world = World::new();
        world.put_playbook(&[json!({"trigger": "t", "solution": "s"})], &[]);
        let hostile = places.plant(words.join(" "));
        let file = world.put(format!("{hostile}.jsonl"), format!("{{\"{hostile}\n"));
        let file = file.to_str().unwrap();
        let words: Vec<String> =
            words.iter().map(|word| word.replace("TEXT", &hostile).replace("FILE", file)).collect();
        places.look(&world, &words);
    }
    places.report();
}

/// What `review` prints at a terminal is colours of its own, and nothing else that a terminal obeys.
#[cfg(target_os = "linux")]
#[test]
fn a_review_at_a_terminal_shows_hostile_text_as_text() {
    let (world, mut places) = (World::new(), Places::default());
    let row = json!({
        "trigger": places.plant("the trigger"), "solution": places.plant("the solution"),
        "mistake": places.plant("the mistake"), "domains": [places.plant("a domain")],
        "code_example": places.plant("the code"), "provenance": {"trust": "tainted", "session": places.plant("the session")},
    });
    world.put_playbook(&[], &[("tainted", row)]);
    let text = places.plant("a new skill");
    world.put("memory/.inbox/skills/one/SKILL.md", format!("---\nname: one\ndescription: {text}\n---\n{text}\n"));
    let program = env!("CARGO_BIN_EXE_adage");
    let call = format!("{program} --dir {} --embedder none review", world.memory().display());
    // `script` gives the program a terminal; the answers come from its standard input.
    let answers = world.put("answers", "n\nn\nn\n");
    let mut command = Command::new("sh");
    let script = format!("script -qec '{call}' /dev/null < {}", answers.display());
    command.args(["-c", &script]).current_dir(world.path()).env("TERM", "xterm").env("ADAGE_TRUST", "all");
    let mut ended = run(command);
    assert!(ended.out.contains("apply?"), "{}", ended.all());
    // The terminal itself ends lines so, and echoes what is typed.
    ended.out = ended.out.replace("\r\n", "\n").replace("^D\u{8}\u{8}", "");
    places.scan(&ended, "review");
    places.report();
}

/// A name that ends its line and begins another.
const FORGED: &str = "zq\nFORGED: 0 findings";

#[test]
fn a_name_with_a_line_end_does_not_forge_a_line() {
    let world = World::new();
    world.put_playbook(
        &[json!({"trigger": FORGED, "solution": "s", "mistake": "m", "source": FORGED})],
        &[(
            "tainted",
            json!({"trigger": FORGED, "solution": "s", "provenance": {"trust": "tainted", "session": FORGED}}),
        )],
    );
    let file = world.put(format!("{FORGED}.jsonl"), "{\n");
    let file = file.to_str().unwrap().to_owned();
    world.put(format!("sessions/{FORGED}/a.jsonl"), "{\n");
    world.put(format!("project/{FORGED}/SKILL.md"), "---\nname: x\n");
    world.put(format!("memory/.inbox/skills/{FORGED}.patch"), "x\n");
    world.put(format!("memory/.inbox/skills/{FORGED}/SKILL.md"), "x\n");
    let calls: [&[&str]; 30] = [
        &["list"],
        &["history"],
        &["review", "list"],
        &["review", "check"],
        &["review"],
        &["mine", "--list", "sessions", "--all"],
        &["mine", "--list", FORGED],
        &["mine", "sessions"],
        &["mine", &file],
        &["mine", FORGED],
        &["import", &file],
        &["import", FORGED],
        &["skills", "list", "--project-skills", "project"],
        &["skills", "show", FORGED],
        &["skills", "promote", FORGED],
        &["skills", "import", &file],
        &["skills", "import", FORGED],
        &["show", FORGED],
        &["show", &format!("{FORGED}?")],
        &["remove", &format!("{FORGED}?")],
        &["undo", FORGED],
        &["review", "show", FORGED],
        &["review", "undo", FORGED],
        &["outcome", FORGED, "helpful"],
        &["context", "q", "--tier", FORGED],
        &["--embedder", FORGED, "list"],
        &["--onnxruntime", FORGED, "list"],
        &["skills", "skip", FORGED],
        &["skills", "skip", "--again", FORGED],
        &[FORGED],
    ];
    let mut succeeded = Vec::new();
    for arguments in calls {
        let ended = world.run(arguments);
        if ended.all().lines().any(|line| line.starts_with("FORGED")) {
            succeeded.push(format!("{}: a line of its own", arguments.join(" ").replace('\n', "\\n")));
        }
    }
    report(&succeeded, calls.len());
}
