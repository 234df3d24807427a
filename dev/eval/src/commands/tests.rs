use std::fs;
use std::path::{Path, PathBuf};

use adage::{Config, Feedback, Playbook, Request, build_lesson};
use clap::Parser;
use serde_json::{Value, json};

use super::calibrate::Calibrate;
use super::credit::{Effect, Replay};
use super::eval::Eval;
use super::{Answer, Result};

#[derive(Parser)]
struct Command<T: clap::Args> {
    #[command(flatten)]
    asked: T,
}

/// The options of a command.
fn parsed<T: clap::Args>(words: &[&str]) -> T {
    Command::<T>::parse_from([&["adage-eval"], words].concat()).asked
}

fn write(path: PathBuf, rows: &[Value]) {
    fs::write(path, rows.iter().map(|row| format!("{row}\n")).collect::<Vec<_>>().concat()).unwrap();
}

/// Two lessons with questions, and a pair of each kind of file.
fn data(folder: &Path) {
    fs::create_dir_all(folder.join("tasks")).unwrap();
    let lesson = |id: &str, trigger: &str, plain: &str| json!({"id": id, "trigger": trigger, "mistake": "it broke", "solution": format!("Do {trigger} right."), "plain": plain});
    let lessons =
        [lesson("l1", "pinning numpy", "pin numpy <now>"), lesson("l2", "pushing a branch", "zebra crossing")];
    let none = json!({"id": "n1", "kind": "far", "text": "What is the capital of France?"});
    let draft = |solution: &str| json!({"trigger": "deploying docs", "solution": solution});
    let pair = json!({"id": "p1", "kind": "exchanged", "a": draft("Run it daily."), "b": draft("Run it weekly.")});
    write(folder.join("tasks/lessons.jsonl"), &lessons);
    write(folder.join("tasks/none.jsonl"), &[none]);
    write(folder.join("pairs.jsonl"), &[pair]);
    write(folder.join("dups.jsonl"), &[json!({"id": "d1", "dup": 1, "a": "Use tabs.", "b": "Use tabs."})]);
}

fn evaluate(folder: &Path, options: &[&str]) -> Result<Answer> {
    parsed::<Eval>(&[&[folder.to_str().unwrap(), "--embedder", "hashing"], options].concat()).run()
}

#[test]
fn everything_in_a_folder_is_measured_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    data(folder.path());
    let page = folder.path().join("report.html");
    let said = evaluate(folder.path(), &["--report", page.to_str().unwrap()]).unwrap().text;
    for part in ["tasks: 2 lessons, 3 questions", "default", "classic, lexical", "exchanged", "1 pairs, 1 duplicates"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let html = fs::read_to_string(&page).unwrap();
    assert_eq!(html.matches("<svg").count(), 3);
    assert!(html.contains("zebra crossing"), "a question that found nothing is among the losses");
    assert!(!html.contains("pin numpy <now>") && !html.contains("<script") && !html.contains("http"), "{html}");

    let report = evaluate(folder.path(), &["--books", "1", "--draws", "2", "--seed", "5"]).unwrap().json;
    let size = &report["data"][0]["sizes"][0];
    assert_eq!((&size["default"]["lessons"], &size["default"]["books"]), (&json!(1), &json!(2)));
    assert_eq!(size["risk_coverage"]["far"].as_array().unwrap().len(), 101);
    assert_eq!(report["pairs"][0]["kinds"][0]["merged"], json!(0.0));
    assert_eq!(report["duplicates"][0]["default"]["recall"], json!(1.0));
}

#[test]
fn invalid_data_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("empty")).unwrap();
    fs::write(folder.path().join("broken.jsonl"), "{}\n{").unwrap();
    let check = |name: &str, expected: &str| {
        let error = evaluate(&folder.path().join(name), &[]).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check("nowhere", "nowhere");
    check("empty", "expected a folder with lessons.jsonl");
    check("broken.jsonl", "broken.jsonl:2");
}

#[test]
fn a_fit_is_printed_with_the_command_that_keeps_it() {
    let folder = tempfile::tempdir().unwrap();
    let (memory, pairs) = (folder.path().join("memory"), folder.path().join("pairs.jsonl"));
    let playbook = Playbook::builder(&memory).without_embedder().open().unwrap();
    playbook.learn_lesson(build_lesson("parsing CSV exports", "Use the csv module.")).unwrap();
    let answered =
        |number| json!({"query": format!("a colleague's CSV number {number}"), "lesson": "Parsing CSV exports"});
    let unanswered = |number| json!({"query": format!("boil goose egg {number}"), "lesson": null});
    write(pairs.clone(), &(0..20).flat_map(|number| [answered(number), unanswered(number)]).collect::<Vec<_>>());
    let words = [pairs.to_str().unwrap(), "--dir", memory.to_str().unwrap(), "--words"];
    let Answer { text, json } = parsed::<Calibrate>(&words).run().unwrap();
    assert!(
        text.starts_with("40 queries, 20 that a lesson answers and 20 that none does; embedder: words\n"),
        "{text}"
    );
    assert!(text.contains("adage config set --user retrieval.calibration.words '{ scale = "), "{text}");
    assert_eq!(json["fit"]["n_pairs"], json!(40));

    write(pairs.clone(), &[answered(1)]);
    assert!(parsed::<Calibrate>(&words).run().unwrap_err().to_string().contains("39 are missing"));
}

#[test]
fn effect_and_replay_estimate_from_receipts() {
    let folder = tempfile::tempdir().unwrap();
    let memory = folder.path().to_str().unwrap();
    let mut config = Config::default();
    (config.credit.log_receipts, config.credit.dropout) = (true, 0.5);
    let playbook = Playbook::builder(memory).without_embedder().with_config(config).open().unwrap();
    playbook.learn_lesson(build_lesson("parse a csv export", "use the csv module")).unwrap();
    let effect = || parsed::<Effect>(&["parse a csv export", "--dir", memory]).run().unwrap();
    assert!(effect().text.contains("not enough data"));
    for _ in 0..100 {
        let context = playbook.get_playbook_context(Request::about("parse a csv export")).unwrap();
        let outcome = if context.lessons.is_empty() { Feedback::Harmful } else { Feedback::Helpful };
        playbook.record_outcome(context.receipt.unwrap(), outcome).unwrap();
    }
    drop(playbook);
    let Answer { text, json } = effect();
    assert!(text.contains("uplift +1.000") && json["claim"] == "helps", "{text}");

    let log = folder.path().join("receipts.jsonl");
    let replay = |policy: &str| parsed::<Replay>(&[log.to_str().unwrap(), "--policy", policy]).run();
    let Answer { text, json } = replay("answer_from=1").unwrap();
    assert!(text.contains("doubly robust") && json["replay"]["weighted"]["value"] == 0.0, "{json}");
    assert!(replay("answer_from=2").is_err() && replay("no-such-file").is_err());
}
