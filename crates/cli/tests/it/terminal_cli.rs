//! What the terminal has beside commands: short ids, help, completions, manual pages, colours, errors for programs.

use serde_json::json;

use super::cli::Shell;
use super::schemas::object;

#[test]
fn the_beginning_of_an_id_names_a_lesson_unless_several_begin_so() {
    let shell = Shell::new();
    let learned = shell.learn("parse a csv export", "use the csv module");
    let id = learned["id"].as_str().unwrap();
    assert_eq!(shell.json(&["show", &id[..8]])["id"], *id);
    assert_eq!(shell.call(&["show", &id[..3]]).code, 1, "three digits name nothing");
    let other = shell.learn("bake bread", "let the dough rest")["id"].clone();
    let shared = id.chars().zip(other.as_str().unwrap().chars()).take_while(|(one, two)| one == two).count();
    assert!(shared >= 8, "ids begin with the time: {id} {other}");
    let said = shell.call(&["remove", &id[..shared]]);
    assert!(said.code == 1 && said.err.contains(id) && said.err.contains(other.as_str().unwrap()), "{}", said.err);
    assert_eq!(shell.json(&["remove", &id[..=shared]])["removed"], *id);
    // A trigger comes first.
    shell.learn("cafe", "order coffee");
    assert_eq!(shell.json(&["show", "cafe"])["trigger"], "cafe");
}

#[test]
fn an_error_is_an_object_for_programs_and_a_sentence_for_people() {
    let shell = Shell::new();
    shell.learn("parse a csv export", "use the csv module");
    let said = shell.call(&["show", "bread", "--json"]);
    let error = object(&said.err);
    assert_eq!((said.code, said.out.as_str(), &error["exit_code"]), (1, "", &json!(1)));
    assert!(error["error"].as_str().unwrap().contains("bread"), "{error}");
    assert!(shell.call(&["show", "bread"]).err.starts_with("adage: "));
}

#[test]
fn short_help_is_about_the_command_and_long_help_about_everything() {
    let shell = Shell::new();
    let (short, long) = (shell.call(&["learn", "-h"]).out, shell.call(&["learn", "--help"]).out);
    assert!(short.contains("--trigger") && short.contains("--json") && !short.contains("--onnxruntime"), "{short}");
    assert!(long.contains("--trigger") && long.contains("--onnxruntime") && long.contains("--capacity"), "{long}");
}

#[test]
fn completions_and_manual_pages_name_every_command() {
    let shell = Shell::new();
    for kind in ["bash", "zsh", "fish", "powershell"] {
        let script = shell.call(&["completions", kind]).out;
        assert!(["learn", "context", "calibrate"].iter().all(|command| script.contains(command)), "{kind}");
    }
    let folder = shell.path().join("man");
    shell.json(&["man", folder.to_str().unwrap()]);
    let page = std::fs::read_to_string(folder.join("adage-learn.1")).unwrap();
    assert!(page.contains(".TH") && page.contains("trigger"), "{page}");
    assert!(folder.join("adage.1").exists() && folder.join("adage-config-set.1").exists());
}
