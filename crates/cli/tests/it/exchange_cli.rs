//! `import` and `export`: output, files and exit codes.

use serde_json::json;

use crate::cli::Shell;
use crate::schemas::object;

#[test]
fn import_reads_old_playbooks_and_json_lines() {
    let shell = Shell::new();
    let old = r#"[{"task": "old one", "mistake": "m", "solution": "s", "frequency": "4", "mood": 3}, {"trigger": "new one", "correct_pattern": "p"}, 7]"#;
    let said = shell.run(&["import", "-", "--json"], old);
    let tally = said.object();
    assert_eq!((&tally["review"], &tally["unreadable"], said.code), (&json!(2), &json!(1), 1));
    assert_eq!(shell.call(&["list", "--json"]).out, "", "nobody knows where they come from");
    shell.json(&["review", "apply", "--all"]);
    let shown = shell.json(&["show", "old one"]);
    assert_eq!((&shown["frequency"], &shown["mood"]), (&json!(1), &json!(3)));
    let exported = shell.call(&["export"]).out;
    let other = shell.at_memory("other");
    assert_eq!(other.run(&["import", "-", "--json"], &exported).object()["inserted"], 2);
    assert_eq!(other.call(&["export"]).out, exported);
    assert_eq!(other.run(&["import", "-", "--json"], &exported).object()["refused"], 2);
}

#[test]
fn lessons_refused_by_an_import_are_reported() {
    let shell = Shell::new();
    let long = "x".repeat(40_000);
    let rows =
        format!("{{\"trigger\": \"a\", \"solution\": \"{long}\"}}\n{{\"trigger\": \"b\", \"solution\": \"s\"}}\n");
    let said = shell.run(&["import", "-", "--json"], &rows);
    assert_eq!((&said.object()["refused"], &said.object()["review"], said.code), (&json!(1), &json!(1), 1));
    let error = object(said.err.lines().next_back().unwrap());
    assert!(error["error"].as_str().unwrap().contains("lesson 1: its solution has 40000 bytes"), "{error}");
    shell.json(&["review", "apply", "--all"]);
    assert_eq!(shell.json(&["show", "b"])["provenance"]["origin"], "imported");
    let single = "{\n  \"trigger\": \"rotate the host keys of a server\",\n  \"solution\": \"use ssh-keygen\"\n}";
    assert_eq!(shell.run(&["import", "-", "--json"], single).object()["review"], 1);
}

#[test]
fn an_import_that_has_nothing_to_do_is_no_failure() {
    let shell = Shell::new();
    assert_eq!(shell.run(&["import", "-"], "").code, 0, "an empty file");
    shell.learn("parse a csv export", "use the csv module");
    let export = shell.call(&["export"]).out;
    let again = shell.run(&["import", "-", "--json"], &export);
    assert_eq!((again.code, &again.object()["refused"], again.err.as_str()), (0, &json!(1), ""), "it exists");
    shell.json(&["remove", "parse a csv export"]);
    let removed = shell.run(&["import", "-", "--json"], &export);
    assert_eq!((removed.code, &removed.object()["refused"]), (0, &json!(1)), "{}", removed.err);
    assert!(
        object(removed.err.trim_end())["message"].as_str().unwrap().contains("a person removed"),
        "{}",
        removed.err
    );
    let unreadable = shell.run(&["import", "-", "--json", "--format", "jsonl"], "nope\n");
    assert_eq!((unreadable.code, &unreadable.object()["unreadable"]), (1, &json!(1)));
    assert_eq!(object(unreadable.err.trim_end())["error"], "line 1: it is not JSON from column 2 on");
}

#[test]
fn lessons_are_exported_into_files_and_imported_again() {
    let shell = Shell::new();
    shell.learn("parse a csv export", "use the csv module");
    let file = shell.path().join("AGENTS.md");
    std::fs::write(&file, "# Agents\n").unwrap();
    let name = file.to_str().unwrap();
    let exported = shell.json(&["export", "--format", "agents", "--into", name]);
    assert_eq!((&exported["lessons"], exported["change"].is_string()), (&json!(1), true));
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("# Agents\n\n<!-- adage:lessons:begin"));
    assert_eq!(shell.json(&["export", "--format", "agents", "--into", name])["change"], json!(null));
    assert_eq!(shell.json(&["import", name])["refused"], 1);
    let other = Shell::new();
    let imported = other.json(&["import", name]);
    assert_eq!((&imported["review"], &imported["inserted"]), (&json!(1), &json!(0)));
    assert!(other.call(&["review", "list"]).out.contains("parse a csv export"));

    let ace = shell.call(&["export", "--format", "ace"]).out;
    assert!(ace.starts_with("## STRATEGIES & INSIGHTS\n["), "{ace}");
    assert_eq!(other.run(&["import", "-", "--json"], &ace).object()["refused"], 1);
    let change = exported["change"].as_str().unwrap();
    assert_eq!(shell.call(&["export", "--undo", change]).code, 2, "the file is named");
    shell.json(&["export", "--undo", change, "--into", name]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "# Agents\n");

    let unknown = shell.run(&["import", "-"], "just a text\n");
    assert!(unknown.code == 1 && unknown.err.contains("exchange format cannot be detected"), "{}", unknown.err);
    std::fs::write(&file, "a list of my own\n").unwrap();
    let refused = shell.call(&["export", "--format", "ace", "--into", name]);
    assert!(refused.code == 1 && refused.err.contains("line 1 was not written by adage"), "{}", refused.err);
    assert_eq!(shell.call(&["export", "--format", "csv"]).code, 2);
}
