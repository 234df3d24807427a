//! Mistakes on the command line: the error says what is wrong and what to do next, and nothing is lost.

use std::fs;

use super::cli::{Said, Shell};

fn check(said: &Said, code: i32, words: &[&str]) {
    assert_eq!(said.code, code, "{}{}", said.out, said.err);
    for word in words {
        assert!(said.err.contains(word), "{word:?} is not in: {}", said.err);
    }
}

#[test]
fn a_wrong_name_is_reported_with_the_next_step() {
    let shell = Shell::new();
    shell.learn("parse a csv export", "use the csv module");
    check(&shell.call(&["show", "bread"]), 1, &["no lesson with trigger \"bread\"", "`adage list` shows all"]);
    check(&shell.call(&["undo", "01a20832-35b9-7000-8000-e6437fa97800"]), 1, &["`adage history`"]);
    check(&shell.call(&["outcome", "abc", "helpful"]), 2, &["'abc'", "the id of a receipt is a UUID"]);
    check(&shell.call(&["context", " "]), 1, &["the query is empty"]);
    assert!(shell.run(&["context", "-"], "parse a csv export\n").out.contains("use the csv module"));
    check(&shell.call(&["shwo", "x"]), 2, &["unrecognized subcommand", "'show'"]);
    check(&shell.call(&["mine", "--format", "clod", "."]), 2, &["clod", "claude-code"]);
    check(&shell.call(&["config", "set", "retention.capacty", "5"]), 1, &["retention.capacty", "capacity"]);
    for (value, shown) in [("five", "\"five\""), ("-5", "-5"), ("1.5", "1.5")] {
        let said = shell.call(&["config", "set", "retention.capacity", value]);
        check(&said, 1, &[&format!("retention.capacity is {shown}, it must be a whole number, 0 or more")]);
        assert_eq!(said.err.matches("retention.capacity").count(), 1, "{}", said.err);
    }
    let zero = shell.call(&["config", "set", "retention.capacity", "0"]);
    assert_eq!(zero.err, "adage: retention.capacity is 0, it must be at least 1\n");
    check(
        &shell.call(&["context", "x", "--embedder", "no/such"]),
        1,
        &["no/such", "bundled", "a folder with model.onnx"],
    );
}

#[test]
fn an_invalid_line_is_reported_with_an_example() {
    let shell = Shell::new();
    check(&shell.run(&["learn"], "{\"trigger\": \"a\",\n"), 1, &["line 1: ", "{\"trigger\": \"when it applies\""]);
    let said = shell.run(&["learn"], "{\"triger\": \"parse a csv export\", \"solution\": \"use the csv module\"}\n");
    check(&said, 1, &["refused", "line 1 has the fields solution, triger; a lesson has trigger"]);
    assert_eq!(shell.json(&["list", "--stats"])["n_lessons"], 0);
}

#[test]
fn a_wrong_folder_is_reported() {
    let shell = Shell::new();
    let file = shell.path().join("notes.txt");
    fs::write(&file, "mine").unwrap();
    let at = |folder: &str, words: &[&str]| {
        let mut command = shell.command();
        let folder = shell.path().join(folder);
        let output = command.arg("--dir").arg(folder).args(words).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Said { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    };
    let lesson = ["learn", "--trigger", "a", "--solution", "b", "--embedder", "hashing"];
    for words in [&["list"][..], &lesson] {
        check(&at("notes.txt", words), 1, &["notes.txt is a file; a memory is a folder"]);
    }
    check(&at("wrong", &["list"]), 1, &["there is no memory at", "adage init --dir"]);
    check(&at("new", &lesson), 0, &["made the memory", "new (as you named it)"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    assert!(!shell.path().join("wrong").exists());
}

#[test]
fn a_folder_of_a_newer_version_is_read_and_not_changed() {
    let shell = Shell::new();
    shell.learn("parse a csv export", "use the csv module");
    let path = shell.path().join("memory/skills_playbook.json");
    let newer = fs::read_to_string(&path).unwrap().replacen("\"schema_version\": 2", "\"schema_version\": 7", 1);
    fs::write(&path, &newer).unwrap();
    assert_eq!(shell.call(&["context", "parse a csv export"]).code, 0);
    let said = shell.call(&["learn", "--trigger", "bake bread", "--solution", "slowly"]);
    check(&said, 1, &["schema version 7", "writes 2", "use a newer version"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), newer);
}

#[test]
fn a_number_out_of_its_range_is_refused_with_the_range() {
    let shell = Shell::new();
    let lesson = ["learn", "--trigger", "a", "--solution", "b"];
    for number in ["7", "-1", "nan", "inf", "many"] {
        let option = format!("--confidence={number}");
        check(&shell.call(&[&lesson[..], &[&option]].concat()), 2, &[number, "--confidence", "a number from 0 to 1"]);
        check(&shell.call(&["remove", "--prune", "--max-fraction", number]), 2, &[number, "a number from 0 to 1"]);
        check(&shell.call(&["context", "x", "--threshold", number]), 2, &[number, "a number from 0 to 2"]);
    }
    assert!(!shell.path().join("memory").exists());
    for number in ["0", "0.25", "1"] {
        check(&shell.call(&[&lesson[..], &["--confidence", number]].concat()), 0, &[]);
    }
}

#[test]
fn lessons_of_another_project_are_mentioned_where_none_is_visible() {
    let shell = Shell::new();
    let web = ["learn", "--trigger", "deploying the shop", "--solution", "Tag the commit first.", "--project", "web"];
    assert_eq!(shell.call(&web).code, 0);
    check(&shell.call(&["context", "deploy the shop"]), 0, &["1 lesson for other projects or roles"]);
    assert!(shell.call(&["list"]).out.contains("web: deploying the shop"));
    let here = shell.call(&["context", "deploy the shop", "--project", "web"]);
    assert!(here.out.contains("Tag the commit") && !here.err.contains("other projects"), "{}", here.err);
}
