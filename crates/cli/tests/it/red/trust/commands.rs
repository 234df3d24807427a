//! Every command on an unknown folder: none prints its content or changes a byte.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::ground::{Ground, HOSTILE, MEMORY, TASK, contents, copy, write};
use super::program::Said;
use super::rows::{edit_rows, plant, put_skill, row};

const ROW: &str = "019c0000-0000-7000-8000-000000000066";

/// Commands that only read. `OUT` and `SESSION` become paths, `CHANGE` and `WAITING` ids.
const READING: &[&str] = &[
    "context",
    "context|deploy the docs",
    "context|deploy the docs|--peek",
    "context|deploy the docs|--explain",
    "context|deploy the docs|--tier|lexical",
    "context|deploy the docs|--tier|vector|--threshold|2|--limit|100|--max-tokens|100000",
    "context|something else entirely",
    "context|deploy the docs|--project|x|--role|y",
    "list",
    "list|--limit|100000",
    "list|--window|week",
    "list|--source|user",
    "show|deploy the docs",
    "show|019c0000-0000-7000-8000-000000000066",
    "show|WAITING",
    "list|--mistakes",
    "list|--mistakes|--limit|1000",
    "list|--stats",
    "doctor|--check",
    "doctor",
    "history",
    "history|--limit|1000",
    "export",
    "export|--format|memory",
    "export|--format|agents",
    "export|--format|ace",
    "skills|list",
    "skills|show|docs",
    "skills|match|deploy the docs",
    "skills|match|deploy the docs|--explain",
    "skills|match|deploy the docs|--block",
    "review|list",
    "review|show|private",
    "review|show|skills/docs",
    "review|show|WAITING",
    "review|history",
    "mine|--list|OUT",
    "mine|--list|OUT|--all",
    "skills|curate",
    "remove|--prune|--dry-run",
    "mine|SESSION|--dry-run",
    "review",
];

/// Commands that write.
const WRITING: &[&str] = &[
    "learn|--trigger|zip a folder|--solution|call okapi",
    "learn|--trigger|deploy the docs|--solution|run the other one as root",
    "learn|--trigger|zip a folder|--solution|call okapi|--capacity|1",
    "import|ROWS",
    "export|--into|OUT/AGENTS.md|--format|agents",
    "export|--into|OUT/rows.jsonl",
    "skills|export|deploy the docs|--to|OUT",
    "skills|export|019c0000-0000-7000-8000-000000000066|--to|OUT",
    "skills|import|SKILL",
    "skills|promote|docs",
    "skills|verify|docs|passed",
    "review|apply|private",
    "review|apply|WAITING",
    "review|apply|--all",
    "review|dismiss|--all",
    "review|check",
    "outcome|019c0000-0000-7000-8000-000000000001|helpful",
    "outcome|--window|100000000",
    "edit|deploy the docs|--verified|yes",
    "edit|019c0000-0000-7000-8000-000000000066|--verified|failed",
    "remove|--prune",
    "remove|deploy the docs",
    "remove|019c0000-0000-7000-8000-000000000066",
    "undo|CHANGE",
    "undo|019c0000-0000-7000-8000-000000000066",
    "skills|skip|zip a folder",
    "skills|skip|--again",
    "mine|SESSION",
    "mine|--sessions|OUT",
    "skills|curate|--apply",
    "skills|curate|--apply|--prune",
];

/// Commands that would print texts, and say instead what to do.
const REFUSING: &[&str] = &[
    "list",
    "show",
    "list|--mistakes",
    "export",
    "skills|list",
    "skills|show",
    "skills|match",
    "review|show",
    "learn",
];

/// A hostile folder with something in every place that a command reads.
struct Full<'a> {
    ground: &'a Ground,
    project: PathBuf,
    names: BTreeMap<&'static str, String>,
}

impl<'a> Full<'a> {
    fn new(ground: &'a Ground) -> Self {
        let project = ground.folder("project");
        plant(&ground.other, &project);
        let memory = project.join(MEMORY);
        let change = earlier_change(ground, &project);
        put_skill(&memory, "docs", HOSTILE);
        edit_rows(&memory, |rows| {
            let mut named = row(67, "the quagga of a source", "run quagga as root");
            for field in ["source", "project", "role"] {
                named[field] = json!(HOSTILE);
            }
            rows.extend([named, json!({"no": "lesson", "but": HOSTILE}), json!(HOSTILE)]);
        });
        write(&memory.join("MEMORY.md"), "# quagga\n");
        let patch = format!("--- /dev/null\n+++ {}\n@@ -0,0 +1 @@\n+quagga\n", memory.join("quagga.md").display());
        write(&memory.join(".inbox/private/extraction.patch"), patch);
        for name in ["docs", "quagga-new"] {
            write(
                &memory.join(".inbox/skills").join(name).join("SKILL.md"),
                "---\nname: docs\ndescription: quagga\n---\n# quagga\n",
            );
        }
        write(&memory.join(".inbox/skills/quagga.patch"), "quagga");
        write(&memory.join("skills/quagga-broken/SKILL.md"), "---\nname: quagga\n");
        write(&memory.join("usage.jsonl"), "\n{\"receipt\": \"quagga\"}\nquagga\n");
        Self { ground, project, names: names(ground, change) }
    }

    /// The words of a command, with its names filled in.
    fn arguments(&self, command: &str) -> Vec<String> {
        let fill =
            |word: &str| self.names.iter().fold(word.to_owned(), |word, (name, value)| word.replace(name, value));
        command.split('|').map(fill).collect()
    }

    fn run(&self, command: &str, options: &[&str]) -> Said {
        let arguments = self.arguments(command);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).chain(options.iter().copied()).collect();
        self.ground.user.adage(&self.project, &arguments)
    }
}

fn names(ground: &Ground, change: String) -> BTreeMap<&'static str, String> {
    let session = ground.path("session.jsonl");
    write(&session, "{\"role\": \"user\", \"content\": \"always run the linter before a commit\"}\n");
    let rows = ground.path("rows.jsonl");
    write(&rows, "{\"trigger\": \"zip a folder\", \"solution\": \"call okapi\"}\n");
    let skill = ground.path("import/SKILL.md");
    write(&skill, "---\nname: zip\ndescription: zips\n---\n# Zip\nCall okapi.\n");
    let path = |path: &Path| path.display().to_string();
    BTreeMap::from([
        ("OUT", path(&ground.folder("out"))),
        ("SESSION", path(&session)),
        ("ROWS", path(&rows)),
        ("SKILL", path(&skill)),
        ("CHANGE", change),
        ("WAITING", "00000000-0000-7431-8c51-9f6252793f7c".to_owned()),
    ])
}

/// The other account removed a lesson and imported one that waits; the id of the removal.
fn earlier_change(ground: &Ground, project: &Path) -> String {
    let removed = ground.other.adage(project, &["remove", "quagga of an earlier day", "--json"]);
    let said =
        ground.other.adage_reads(project, &["import", "-"], "[h-00001] helpful=3 harmful=0 :: quagga always run it\n");
    assert!(said.is_done(), "{}", said.brief());
    let change: serde_json::Value = serde_json::from_str(removed.out.trim()).unwrap();
    change["change"].as_str().unwrap().to_owned()
}

#[test]
fn no_command_prints_or_changes_anything_in_an_unknown_folder() {
    let ground = Ground::new();
    let full = Full::new(&ground);
    let (memory, kept) = (full.project.join(MEMORY), ground.path("kept"));
    copy(&memory, &kept);
    let mut before = contents(&memory);
    let mut faults = Vec::new();
    for command in READING.iter().chain(WRITING) {
        for options in [&[] as &[&str], &["--json"]] {
            let said = full.run(command, options);
            if said.says(HOSTILE) {
                faults.push(format!("{command} {options:?} speaks: {}", said.brief()));
            }
            if said.code.is_none_or(|code| code >= 2) {
                faults.push(format!("{command} {options:?} crashes, hangs or is no command: {}", said.brief()));
            }
            let is_refusing = REFUSING.iter().any(|name| *command == *name || command.starts_with(&format!("{name}|")));
            if is_refusing && (said.is_done() || !said.err.contains("adage trust")) {
                faults.push(format!("{command} {options:?} does not refuse with the way out: {}", said.brief()));
            }
            if contents(&memory) != before {
                faults.push(format!("{command} {options:?} changes the folder"));
                fs::remove_dir_all(&memory).unwrap();
                copy(&kept, &memory);
                before = contents(&memory);
            }
            let written = contents(&ground.path("out"));
            if !written.is_empty() {
                faults.push(format!("{command} {options:?} writes what it found into {} files", written.len()));
                fs::remove_dir_all(ground.folder("out")).unwrap();
                ground.folder("out");
            }
        }
    }
    let n_commands = (READING.len() + WRITING.len()) * 2;
    println!("{} faults in {n_commands} calls", faults.len());
    assert!(faults.is_empty(), "{} faults in {n_commands} calls:\n{}", faults.len(), faults.join("\n"));
}

/// Without this, the test above could pass on an empty folder.
#[test]
fn the_same_commands_work_when_the_folder_is_trusted() {
    let ground = Ground::new();
    let full = Full::new(&ground);
    ground.does(&ground.user, &full.project, &["trust"]);
    let speaking = [
        "context|deploy the docs",
        "list",
        "show|deploy the docs",
        "list|--mistakes",
        "list|--stats",
        "export",
        "export|--format|agents",
        "skills|list",
        "skills|show|docs",
        "skills|match|deploy the docs|--block",
        "review|list",
        "review|show|private",
    ];
    for command in speaking {
        for options in [&[] as &[&str], &["--json"]] {
            let said = full.run(command, options);
            ground.claim(
                said.is_done() && said.says(HOSTILE),
                format!("{command} {options:?} is silent: {}", said.brief()),
            );
        }
    }
    let shown = ground.user.adage(&full.project, &["show", ROW]);
    ground.claim(shown.out.contains(TASK), format!("the row is not shown: {}", shown.brief()));
    let faults = ground.faults();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
