//! What holds for every command: the form of its errors, and which ones create a memory.

use serde_json::{Value, json};

use super::cli::{Said, Shell};
use super::schemas::object;

/// The names of all commands, with those of their subcommands, as the help lists them.
pub(super) fn commands(shell: &Shell, of: &[String]) -> Vec<Vec<String>> {
    let words: Vec<&str> = of.iter().map(String::as_str).chain(["--help"]).collect();
    let help = shell.call(&words).out;
    let listed = if of.is_empty() {
        help.split("\nOptions\n").next().unwrap()
    } else {
        let Some((_, listed)) = help.split_once("\nCommands:\n") else { return vec![of.to_vec()] };
        listed.split("\n\n").next().unwrap()
    };
    let names = listed.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.flat_map(|name| commands(shell, &[of, &[name.to_owned()]].concat())).collect()
}

/// The objects on standard error, each an error or a message.
fn printed_objects(said: &Said) -> Vec<Value> {
    said.err.lines().map(object).collect()
}

fn errors(said: &Said) -> Vec<Value> {
    printed_objects(said).into_iter().filter(|object| object.get("error").is_some()).collect()
}

/// Arguments for a command that name files, lessons and changes that do not exist.
pub(super) fn arguments(command: &str) -> &'static [&'static str] {
    const ID: &str = "01a20832-35b9-7000-8000-e6437fa97800";
    match command {
        "learn" => &["--trigger", "a", "--solution", "b"],
        "edit" => &["gone", "--solution", "b"],
        "context" => &["task"],
        "show" | "remove" | "skills promote" | "skills withdraw" | "skills match" | "skills show" | "skills skip" => {
            &["gone"]
        }
        "skills verify" => &["gone", "passed"],
        "outcome" => &[ID, "helpful"],
        "undo" | "review undo" | "trust" => &[ID],
        "review show" | "review apply" | "review dismiss" => &["private"],
        "backup" | "restore" => &["gone/folder"],
        "mine" => &["gone/session.jsonl"],
        "import" | "skills import" => &["gone/file"],
        "skills export" => &["gone", "--to", "gone/skills"],
        "config get" | "config unset" => &["retention.capacity"],
        "config set" => &["retention.capacity", "80"],
        "config completions" => &["bash"],
        "hook" => &["prompt"],
        "view" => &["--export", "gone/page.html"],
        "list" | "history" | "doctor" | "review list" | "review check" | "review history" | "skills list"
        | "skills curate" | "config list" | "config man" | "mcp" | "init" | "export" => &[],
        unknown => panic!("say here which arguments {unknown:?} takes"),
    }
}

#[test]
fn a_wrong_command_line_is_an_error_object_with_json() {
    let shell = Shell::new();
    let commands = commands(&shell, &[]);
    assert!(commands.len() > 40, "{commands:?}");
    for command in &commands {
        // These two take any word as their text.
        let takes_words = [&["context"][..], &["skills", "match"]]
            .contains(&command.iter().map(String::as_str).collect::<Vec<_>>().as_slice());
        let wrong = if takes_words { "--color=wrong-flag" } else { "--wrong-flag" };
        let words: Vec<&str> = command.iter().map(String::as_str).chain([wrong, "--json"]).collect();
        let said = shell.call(&words);
        // An agent takes another exit code of a hook as a refusal.
        let code = if *command == ["hook"] { 0 } else { 2 };
        assert_eq!((said.code, said.out.as_str()), (code, ""), "{command:?}: {}", said.err);
        let error = object(said.err.trim_end());
        assert_eq!(error["exit_code"], 2);
        assert!(error["error"].as_str().unwrap().contains("wrong-flag'"), "{error}");
        assert!(error["next"].as_str().unwrap().contains("--help"), "{error}");
    }
    let none = shell.call(&["--json"]);
    assert_eq!((none.code, &object(none.err.trim_end())["error"]), (2, &json!("a command is missing")));
    for (moved, next) in [
        (&["replay", "receipts.jsonl", "--json"][..], "-p adage-eval -- replay"),
        (&["verify", "x", "passed", "--json"], "adage edit LESSON --verified"),
        (&["inbox", "list", "--json"], "adage review list"),
    ] {
        let moved = shell.call(moved);
        assert!(
            moved.code == 2 && object(moved.err.trim_end())["next"].as_str().unwrap().contains(next),
            "{}",
            moved.err
        );
    }
    let similar = shell.call(&["shwo", "x", "--json"]);
    assert!(object(similar.err.trim_end())["next"].as_str().unwrap().contains("'show'"), "{}", similar.err);
    // After `--`, it is a value.
    assert!(shell.call(&["show", "a", "--", "--json"]).err.contains("\n\nUsage: "));
}

#[test]
fn what_is_missing_is_an_error_object_with_json_and_only_four_commands_create_a_memory() {
    const CREATING: [&str; 4] = ["learn", "mine", "import", "init"];
    for command in commands(&Shell::new(), &[]) {
        let shell = Shell::new();
        let name = command.join(" ");
        let words = command.iter().map(String::as_str).chain(arguments(&name).iter().copied());
        let pages = shell.path().join("pages");
        // The one command here that writes elsewhere.
        let more = if name == "config man" { pages.to_str() } else { None };
        let words: Vec<&str> = words.chain(more).chain(["--json"]).collect();
        let said = shell.call(&words);
        let exists = shell.path().join("memory").exists();
        assert!(!exists || CREATING.contains(&name.as_str()), "{name} made a memory: {}{}", said.out, said.err);
        let errors = errors(&said);
        assert!(said.code != 2, "{name}: {}", said.err);
        assert!(said.code == 0 || !errors.is_empty() || name == "doctor", "{name}: {}", said.err);
    }
}

#[test]
fn each_file_that_cannot_be_read_is_an_error_object() {
    let shell = Shell::new();
    let said = shell.call(&["mine", "one.jsonl", "two.jsonl", "--json"]);
    let errors = errors(&said);
    assert_eq!((said.code, errors.len()), (1, 2), "{}", said.err);
    for (error, file) in errors.iter().zip(["one.jsonl", "two.jsonl"]) {
        assert!(error["error"].as_str().unwrap().starts_with(file) && error["exit_code"] == 1, "{error}");
    }
    assert!(
        printed_objects(&said).iter().any(|object| object.get("message").is_some()),
        "the memory was made: {}",
        said.err
    );
}
