//! `import` of what other memories wrote, each sample through the program, and its review.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::cli::Shell;
use crate::schemas::object;

fn samples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/memories")
}

fn sample(name: &str) -> String {
    samples().join(name).to_str().unwrap().to_owned()
}

/// The candidates of each sample: trigger and solution.
fn expected() -> Vec<(String, Vec<[String; 2]>)> {
    let text = std::fs::read_to_string(samples().join("expected.json")).unwrap();
    let expected: Value = serde_json::from_str(&text).unwrap();
    let files = expected.as_object().unwrap().iter();
    files.map(|(name, rows)| (name.clone(), serde_json::from_value(rows.clone()).unwrap())).collect()
}

#[test]
fn every_sample_gives_the_candidates_that_were_expected_of_it() {
    let mut wrong = Vec::new();
    for (name, rows) in expected() {
        let said = Shell::new().call(&["import", &sample(&name), "--dry-run", "--json"]);
        let found: Vec<[String; 2]> = if said.code == 0 {
            let lessons = said.object()["lessons"].as_array().unwrap().clone();
            lessons
                .iter()
                .map(|row| ["trigger", "correct_pattern"].map(|key| row[key].as_str().unwrap().to_owned()))
                .collect()
        } else {
            Vec::new()
        };
        if said.code != 0 || found != rows {
            wrong.push(format!("{name}: {found:#?}\n{}", said.err));
        }
    }
    assert!(wrong.is_empty(), "{} samples:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn each_file_waits_as_one_item_and_nothing_is_shown_before_it_is_applied() {
    let (shell, mut known) = (Shell::new(), BTreeSet::new());
    for (name, rows) in expected().into_iter().filter(|(_, rows)| !rows.is_empty()) {
        // A text that another file has too waits once.
        let n_new = rows.iter().filter(|row| known.insert((*row).clone())).count();
        assert_eq!(shell.json(&["import", &sample(&name)])["review"], n_new, "{name}");
        let again = shell.json(&["import", &sample(&name)]);
        assert_eq!((&again["review"], &again["refused"]), (&json!(0), &json!(rows.len())), "{name}");
    }
    let items: Vec<Value> = shell.call(&["review", "list", "--json"]).out.lines().map(object).collect();
    assert_eq!(items.len(), expected().iter().filter(|(_, rows)| !rows.is_empty()).count());
    for item in &items {
        let name = item["name"].as_str().unwrap();
        let file = name.rsplit('/').next().unwrap();
        assert_eq!((item["kind"].as_str().unwrap(), name), ("file", format!("files/{}", sample(file)).as_str()));
    }
    assert_eq!(shell.call(&["list", "--json"]).out, "");
    let context = shell.call(&["context", "commit with npm test"]).out;
    assert!(!context.contains("npm test"), "{context}");
}

#[test]
fn lines_of_a_file_are_answered_by_number_and_stay_answered() {
    let shell = Shell::new();
    let file = sample("AGENTS.md");
    shell.json(&["import", &file]);
    let name = format!("files/{file}");
    let shown = shell.call(&["review", "show", &name]).out;
    assert!(shown.find("1.\n") < shown.find("2.\n") && shown.contains("Name test files `*.spec.ts`."), "{shown}");
    shell.json(&["review", "apply", &name, "--lines", "1"]);
    assert!(shell.call(&["context", "commit with npm test"]).out.contains("Run `npm test` before each commit."));
    let again = shell.json(&["import", &file]);
    assert_eq!((&again["review"], &again["refused"]), (&json!(0), &json!(3)));
    shell.json(&["remove", "Run `npm test` before each commit."]);
    assert_eq!(shell.json(&["import", &file])["review"], 0);
    assert_eq!(shell.call(&["review", "list", "--json"]).out, "");
}

#[test]
fn a_dry_run_changes_nothing_and_masks_secrets() {
    let shell = Shell::new();
    let text = "# Keys\n- Deploy with AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzQpLmNoPqR\n";
    let said = shell.run(&["import", "-", "--dry-run"], text);
    assert!(said.out.contains("do    Deploy with") && said.out.contains("nothing was changed"), "{}", said.out);
    assert!(!said.out.contains("wJalrXUtnFEMI"), "{}", said.out);
    assert_eq!(shell.call(&["review", "list", "--json"]).out, "");
}

#[test]
fn of_several_files_the_others_are_imported_when_one_cannot_be_read() {
    let shell = Shell::new();
    let said = shell.call(&["import", "/no/such/file", &sample("GEMINI.md"), &sample("mem0-list.json"), "--json"]);
    let reviews: Vec<Value> = said.out.lines().map(|line| object(line)["review"].clone()).collect();
    assert_eq!((said.code, reviews), (1, vec![json!(2), json!(1)]), "{}", said.err);
    assert!(said.err.contains("/no/such/file"), "{}", said.err);
}

#[test]
fn what_cannot_be_read_is_named() {
    for (text, error) in [
        ("plain words without a list\n", "exchange format cannot be detected"),
        (r#"{"results": [{"memory": "Uses Fish"}, 7]}"#, "line 2: it is not a JSON object"),
        (r#"{"results": [{"memory": "Uses Fish"}, {"memory": " "}]}"#, "line 2: the lesson does not say when it holds"),
        (r#"{"results": [{"memory": "cut"#, "line 1: the JSON ends too early"),
    ] {
        let said = Shell::new().run(&["import", "-"], text);
        assert!(said.code == 1 && said.err.contains(error), "{text}: {}", said.err);
    }
}
