//! `eval`: measurements and output.

use std::fs;

use serde_json::json;

use crate::cli::Shell;

/// Two lessons with questions, and a pair of each kind of file.
fn data(shell: &Shell) -> String {
    let folder = shell.path().join("data");
    fs::create_dir_all(folder.join("tasks")).unwrap();
    let lesson = |id: &str, trigger: &str, plain: &str| json!({"id": id, "trigger": trigger, "mistake": "it broke", "solution": format!("Do {trigger} right."), "plain": plain});
    let lessons =
        [lesson("l1", "pinning numpy", "pin numpy <now>"), lesson("l2", "pushing a branch", "zebra crossing")];
    let none = json!({"id": "n1", "kind": "far", "text": "What is the capital of France?"});
    let draft = |solution: &str| json!({"trigger": "deploying docs", "solution": solution});
    let pair = json!({"id": "p1", "kind": "exchanged", "a": draft("Run it daily."), "b": draft("Run it weekly.")});
    let dup = json!({"id": "d1", "dup": 1, "a": "Use tabs.", "b": "Use tabs."});
    let write = |name: &str, rows: &[serde_json::Value]| {
        let text: String = rows.iter().map(|row| row.to_string() + "\n").collect();
        fs::write(folder.join(name), text).unwrap();
    };
    write("tasks/lessons.jsonl", &lessons);
    write("tasks/none.jsonl", &[none]);
    write("pairs.jsonl", &[pair]);
    write("dups.jsonl", &[dup]);
    folder.display().to_string()
}

#[test]
fn everything_in_a_folder_is_measured_and_reported() {
    let shell = Shell::new();
    let (data, page) = (data(&shell), shell.path().join("report.html"));
    let asked = ["eval", &data, "--embedder", "hashing", "--report", page.to_str().unwrap()];
    let said = shell.call(&asked);
    assert_eq!(said.code, 0, "{}", said.err);
    for part in ["tasks: 2 lessons, 3 questions", "default", "classic, lexical", "exchanged", "1 pairs, 1 duplicates"] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }

    let html = fs::read_to_string(&page).unwrap();
    assert_eq!(html.matches("<svg").count(), 3);
    assert!(html.contains("zebra crossing"), "a question that found nothing is among the losses");
    assert!(!html.contains("pin numpy <now>") && !html.contains("<script") && !html.contains("http"), "{html}");
}

#[test]
fn programs_get_all_figures() {
    let shell = Shell::new();
    let data = data(&shell);
    let report = shell.json(&["eval", &data, "--embedder", "hashing", "--books", "1", "--draws", "2", "--seed", "5"]);
    let size = &report["data"][0]["sizes"][0];
    assert_eq!((&size["default"]["lessons"], &size["default"]["books"]), (&json!(1), &json!(2)));
    assert_eq!(size["risk_coverage"]["far"].as_array().unwrap().len(), 101);
    assert_eq!(report["pairs"][0]["kinds"][0]["merged"], json!(0.0));
    assert_eq!(report["duplicates"][0]["default"]["recall"], json!(1.0));
}

#[test]
fn invalid_data_is_named() {
    let shell = Shell::new();
    let check = |path: &str, expected: &str| {
        let path = shell.path().join(path);
        let said = shell.call(&["eval", path.to_str().unwrap(), "--embedder", "hashing"]);
        assert_eq!(said.code, 1);
        assert!(said.err.contains(expected), "{}", said.err);
    };
    check("nowhere", "nowhere");
    fs::create_dir(shell.path().join("empty")).unwrap();
    check("empty", "expected a folder with lessons.jsonl");
    fs::write(shell.path().join("broken.jsonl"), "{}\n{").unwrap();
    check("broken.jsonl", "broken.jsonl:2");
}
