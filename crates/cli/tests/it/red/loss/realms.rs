//! A command that names a lesson is restricted to the project that it is called for.

use crate::red::machine::Machine;
use crate::red::table::{Table, when};

const TRIGGER: &str = "deploying the site";

/// The lesson of the bank's project, and where it is told from others.
struct Bank {
    machine: Machine,
    id: String,
    waiting: String,
}

impl Bank {
    fn new() -> Self {
        let machine = Machine::new();
        let id = machine.learn_in("bank", TRIGGER, "zqbank first");
        // A merge, which an undo by the lesson's id takes back.
        machine.json(&["learn", "--project", "bank", "--trigger", TRIGGER, "--solution", "zqbank first and then wait"]);
        let tainted = r#"{"trigger":"paying the bill","solution":"zqbank pays","provenance":{"trust":"tainted"}}"#;
        machine.run(&["learn", "--project", "bank"], format!("{tainted}\n"));
        let waiting = machine.waiting()[0]["name"].as_str().unwrap().to_owned();
        Self { machine, id, waiting }
    }
}

/// Calls for another project, of which none may see or change the bank's lessons.
#[test]
fn another_projects_lesson_is_neither_changed_nor_shown() {
    let bank = Bank::new();
    let mut table = Table::default();
    let realms = [
        vec!["--project", "shop"],
        vec!["--project", "ban"],
        vec!["--project", "Bank"],
        vec!["--project", "bank/vault"],
        vec!["--role", "reviewer"],
    ];
    let (id, waiting) = (bank.id.as_str(), bank.waiting.as_str());
    let upper = TRIGGER.to_uppercase();
    let spaced = format!("  {TRIGGER} ");
    let commands = [
        vec!["remove", TRIGGER],
        vec!["remove", &upper],
        vec!["remove", &spaced],
        vec!["remove", id],
        vec!["edit", TRIGGER, "--verified", "yes"],
        vec!["edit", id, "--verified", "failed"],
        vec!["undo", id],
        vec!["show", TRIGGER],
        vec!["show", id],
        vec!["skills", "export", TRIGGER, "--to", "out"],
        vec!["skills", "export", id, "--to", "out"],
        vec!["review", "show", waiting],
        vec!["review", "apply", waiting],
        vec!["review", "dismiss", waiting],
    ];
    for realm in realms {
        for command in &commands {
            let machine = bank.machine.copy();
            let before = (machine.lessons(), machine.waiting());
            let said = machine.call(&[command.clone(), realm.clone()].concat());
            let mut effects: Vec<String> = when(said.code == 0, "it says that it is done").into_iter().collect();
            effects.extend(when((machine.lessons(), machine.waiting()) != before, "the bank's lessons changed"));
            effects.extend(when((said.out + &said.err).contains("zqbank"), "it shows the bank's text"));
            effects.extend(when(machine.path("out").exists(), "it wrote a skill"));
            table.note(format!("{} {}", command.join(" "), realm.join(" ")), &effects);
        }
    }
    table.finish();
}

/// Of two lessons with one trigger, the project's own is meant.
#[test]
fn of_lessons_with_equal_triggers_the_projects_own_is_used() {
    let mut table = Table::default();
    for command in [&["remove", TRIGGER][..], &["edit", TRIGGER, "--verified", "yes"], &["show", TRIGGER]] {
        for project in ["shop", "bank"] {
            let machine = Machine::new();
            for name in ["shop", "bank", "third"] {
                machine.learn_in(name, TRIGGER, &format!("as the {name} does"));
            }
            let of = |name: &str| machine.lessons().into_iter().find(|lesson| lesson["project"] == name);
            let before: Vec<_> = ["shop", "bank", "third"].iter().map(|name| of(name)).collect();
            let said = machine.call(&[command, &["--project", project, "--json"]].concat());
            let mut effects: Vec<String> = when(said.code != 0, said.err.trim()).into_iter().collect();
            for (name, before) in ["shop", "bank", "third"].iter().zip(before) {
                let is_changed = of(name) != before;
                let is_meant = *name == project && command[0] != "show";
                effects.extend(when(is_changed != is_meant, format!("the lesson of {name} is wrong")));
            }
            table.note(format!("{} --project {project}", command.join(" ")), &effects);
        }
    }
    table.finish();
}

/// Ordinary use: by trigger and by id, in the own project.
#[test]
fn the_projects_own_lesson_is_found_by_trigger_and_id() {
    let bank = Bank::new();
    let own = |command: &[&str]| {
        let machine = bank.machine.copy();
        let said = machine.call(&[command, &["--project", "bank", "--json"]].concat());
        assert_eq!(said.code, 0, "{command:?}: {}", said.err);
        machine
    };
    for name in [TRIGGER, &bank.id] {
        assert_eq!(own(&["remove", name]).lessons().len(), 0);
        assert_eq!(own(&["edit", name, "--verified", "yes"]).lessons()[0]["verified"], true);
        own(&["show", name]);
    }
    assert_eq!(own(&["undo", &bank.id]).lessons()[0]["solution"], "zqbank first");
    assert_eq!(own(&["review", "apply", &bank.waiting]).lessons().len(), 2);
    assert_eq!(own(&["review", "dismiss", &bank.waiting]).waiting().len(), 0);
    // Without a project, a lesson of another one keeps its text when a global one is named.
    let machine = Machine::new();
    machine.learn(TRIGGER, "as everybody does");
    machine.learn_in("shop", TRIGGER, "as the shop does");
    machine.call(&["remove", TRIGGER]);
    assert!(machine.lessons().iter().any(|lesson| lesson["project"] == "shop"));
}
