//! Terminal features: short ids, help, completions, manual pages, colours, errors as JSON.

use serde_json::json;

use super::cli::Shell;
use super::schemas::object;

#[test]
fn a_unique_prefix_of_an_id_names_a_lesson() {
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
fn a_lesson_shown_by_hand_is_counted_and_credited() {
    let shell = Shell::new();
    let id = shell.learn("parse a csv export", "use the csv module")["id"].clone();
    let receipt = shell.json(&["outcome", "--shown", "parse a csv export"])["receipt"].clone();
    assert_eq!(shell.json(&["outcome", receipt.as_str().unwrap(), "helpful"])["lessons"], json!([id]));
    assert_eq!(shell.json(&["outcome", "--helpful", "parse a csv export"])["helpful"], 2);
    let harmed = shell.json(&["outcome", "--harmful", "parse a csv export"]);
    assert_eq!((&harmed["id"], &harmed["helpful"], &harmed["harmful"]), (&id, &json!(2), &json!(1)));
    assert_eq!(shell.call(&["outcome", "--helpful", "bake bread"]).code, 1);
    let said = shell.call(&["list", "--stats"]).out;
    assert!(said.contains("1, of them 0 verified") && said.contains("1 time: 2 helped"), "{said}");
}

#[test]
fn lessons_of_a_session_are_retracted_and_restored_by_undo() {
    let shell = Shell::new();
    shell.learn("parse a csv export", "use the csv module");
    for (trigger, session) in [("bake bread", "s-1"), ("press cider", "s-1"), ("brew tea", "s-2")] {
        let row = json!({"trigger": trigger, "correct_pattern": "slowly", "source": "bot",
            "provenance": {"origin": "program", "session": session}});
        shell.run(&["learn"], &row.to_string());
    }
    let retracted = shell.json(&["remove", "--session", "s-1"]);
    let removed = retracted["removed"].as_array().unwrap();
    assert_eq!((removed.len(), shell.json(&["list", "--stats"])["n_lessons"].clone()), (2, json!(2)));
    let none = shell.call(&["remove", "--session", "s-1"]);
    assert!(none.code == 1 && none.err.contains("no lesson was mined from session s-1"), "{}", none.err);
    shell.json(&["undo", removed[0]["change"].as_str().unwrap()]);
    assert_eq!(shell.json(&["list", "--stats"])["n_lessons"], 3);
}

#[test]
fn clearing_skips_fails_only_for_a_name_that_is_not_skipped() {
    let shell = Shell::new();
    shell.learn("parse a csv export", "use the csv module");
    assert_eq!(shell.json(&["skills", "skip", "--again"])["forgotten"], 0);
    shell.json(&["skills", "skip", "error-pip"]);
    let said = shell.call(&["skills", "skip", "--again", "error-pop", "--json"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""), "{}", said.err);
    assert_eq!(object(said.err.trim_end())["error"], "error-pop is not skipped");
    assert_eq!(shell.json(&["skills", "skip", "--again", "error-pip"])["forgotten"], 1);
}

#[test]
fn undo_by_a_lessons_id_names_the_change() {
    let shell = Shell::new();
    let id = shell.learn("parse a csv export", "use the csv module")["id"].as_str().unwrap().to_owned();
    assert!(shell.call(&["undo", &id]).err.contains("no merge into lesson"), "nothing was changed");
    let change = shell.json(&["remove", &id])["change"].as_str().unwrap().to_owned();
    let said = shell.call(&["undo", &id]);
    assert!(said.code == 1 && said.err.contains(&format!("it was removed, and adage undo {change}")), "{}", said.err);
}

#[test]
fn prune_takes_its_numbers_from_the_command_line() {
    let shell = Shell::new();
    for n in 0..12 {
        let row = json!({"trigger": format!("matter {n}"), "correct_pattern": format!("answer {n}"), "source": "bot"});
        shell.run(&["learn"], &row.to_string());
    }
    for _ in 0..2 {
        shell.json(&["outcome", "--harmful", "matter 3"]);
    }
    let pruned = |numbers: &[&str]| {
        shell.json(&[&["remove", "--prune", "--dry-run"], numbers].concat())["pruned"].as_array().unwrap().len()
    };
    assert_eq!((pruned(&[]), pruned(&["--min-retrievals", "2"])), (0, 1));
    let said = shell.call(&["remove", "--prune", "--max-fraction", "7"]);
    assert!(said.code == 2 && said.err.contains("--max-fraction") && said.err.contains("from 0 to 1"), "{}", said.err);
}

#[test]
fn a_lesson_too_long_to_be_shown_is_reported_when_it_is_learned() {
    let shell = Shell::new();
    shell.learn("parse a csv export", "use the csv module");
    let learn = |words: usize| {
        let solution = "ask the owner of the table first, ".repeat(words / 7);
        shell.call(&["learn", "--trigger", &format!("renaming column {words}"), "--solution", &solution]).err
    };
    assert_eq!(learn(70), "");
    assert!(learn(700).contains("before a tool runs an agent is shown 400"), "hooks");
    let said = learn(2_100);
    assert!(
        said.contains("the lesson is longer than the default token budget") && said.contains("budget=1200"),
        "{said}"
    );
}

#[test]
fn completions_and_manual_pages_name_every_command() {
    let shell = Shell::new();
    for kind in ["bash", "zsh", "fish", "powershell"] {
        let script = shell.call(&["config", "completions", kind]).out;
        assert!(["learn", "context", "curate"].iter().all(|command| script.contains(command)), "{kind}");
    }
    let folder = shell.path().join("man");
    shell.json(&["config", "man", folder.to_str().unwrap()]);
    let page = std::fs::read_to_string(folder.join("adage-learn.1")).unwrap();
    assert!(page.contains(".TH") && page.contains("trigger"), "{page}");
    assert!(folder.join("adage.1").exists() && folder.join("adage-config-set.1").exists());
}
