//! `calibrate`: what it prints, refuses and stores.

use std::fs;

use serde_json::{Value, json};

use crate::cli::Shell;

/// A memory of two lessons.
fn shell() -> Shell {
    let shell = Shell::new();
    shell.learn("pushing a rebased branch", "Use git push --force-with-lease.");
    shell.learn("parsing CSV exports", "Use the csv module.");
    shell
}

/// A file with this many labelled queries of either kind.
fn file(shell: &Shell, wanting: usize, wanting_none: usize) -> String {
    let lines = (0..wanting)
        .map(|number| json!({"query": format!("a colleague's CSV number {number}"), "lesson": "Parsing CSV exports"}));
    let lines = lines
        .chain((0..wanting_none).map(|number| json!({"query": format!("boil goose egg {number}"), "lesson": null})));
    write(shell, &lines.map(|line| line.to_string() + "\n").collect::<String>())
}

fn write(shell: &Shell, text: &str) -> String {
    let path = shell.path().join("pairs.jsonl");
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn settings(shell: &Shell) -> Option<Value> {
    let text = fs::read_to_string(shell.path().join("config/adage/config.toml")).ok()?;
    Some(toml_edit::de::from_str(&text).unwrap())
}

#[test]
fn a_fit_is_printed_and_stored_only_on_request() {
    let shell = shell();
    let pairs = file(&shell, 20, 20);
    let said = shell.call(&["calibrate", &pairs]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(
        said.out.starts_with("40 queries, 20 that a lesson answers and 20 that none does; embedder: "),
        "{}",
        said.out
    );
    assert!(
        said.out.contains("shipped") && said.out.ends_with("nothing is written; --apply keeps it\n"),
        "{}",
        said.out
    );
    assert_eq!(settings(&shell), None);

    let kept = shell.json(&["calibrate", &pairs, "--apply"]);
    assert_eq!((&kept["is_better"], &kept["fit"]["n_pairs"]), (&json!(true), &json!(40)), "{kept}");
    assert!(kept["after"]["log_loss"].as_f64() < kept["before"]["log_loss"].as_f64(), "{kept}");
    let embedder = kept["embedder"].as_str().unwrap();
    let in_file = settings(&shell).unwrap()["retrieval"]["calibration"][embedder].clone();
    assert_eq!(in_file, kept["fit"]);
}

#[test]
fn a_stored_fit_is_used_and_other_settings_are_unchanged() {
    let shell = shell();
    let folder = shell.path().join("config/adage");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.json"), json!({"retrieval": {"limit": 4}, "trust": ["/a"]}).to_string()).unwrap();
    let ask = |embedder: &str| {
        let said = shell.json(&["--embedder", embedder, "context", "--explain", "a colleague's CSV number 7"]);
        said["considered"].as_array().unwrap().iter().map(|one| one["probability"].as_f64().unwrap()).sum::<f64>()
    };
    let before = [ask("hashing"), ask("none")];
    shell.json(&["--embedder", "none", "calibrate", &file(&shell, 20, 20), "--apply"]);
    let kept = settings(&shell).unwrap();
    assert_eq!((&kept["retrieval"]["limit"], &kept["trust"]), (&json!(4), &json!(["/a"])));
    let fit = &kept["retrieval"]["calibration"]["words"];
    let log_odds = |probability: f64| (probability / (1.0 - probability)).ln();
    let expected = fit["scale"].as_f64().unwrap() * log_odds(before[1]) + fit["offset"].as_f64().unwrap();
    assert!((log_odds(ask("none")) - expected).abs() < 1e-3, "{} {expected}", log_odds(ask("none")));
    assert!((ask("hashing") - before[0]).abs() < 1e-9, "a fit for words alone changes an embedder's numbers");
}

#[test]
fn a_fit_that_is_not_better_is_stored_only_with_force() {
    let shell = shell();
    // A query that equals a trigger is decided by that, so these queries do not change the fit.
    let line = |number: usize| {
        let blanks = " ".repeat(number);
        let some = json!({"query": format!("parsing {blanks}CSV exports"), "lesson": "parsing CSV exports"});
        format!("{some}\n{}\n", json!({"query": format!("boil {blanks}goose egg"), "lesson": null}))
    };
    let pairs = write(&shell, &(0..20).map(line).collect::<String>());
    let said = shell.call(&["calibrate", &pairs]);
    assert!(said.code == 0 && said.out.contains("not better than the shipped numbers"), "{}", said.out);
    let said = shell.call(&["calibrate", &pairs, "--apply"]);
    assert!(said.code == 1 && said.out.ends_with("nothing is written\n"), "{}", said.out);
    assert_eq!(settings(&shell), None);
    assert_eq!(shell.call(&["calibrate", &pairs, "--apply", "--force"]).code, 0);
    assert!(settings(&shell).is_some());
}

#[test]
fn an_invalid_file_is_refused_with_its_line_and_reason() {
    let shell = shell();
    let refused = |text: &str, expected: &str| {
        let said = shell.call(&["calibrate", &write(&shell, text), "--apply", "--force"]);
        assert_eq!((said.code, said.out.as_str()), (1, ""), "{}", said.err);
        assert!(said.err.contains(expected), "{}, not {expected}", said.err);
        assert_eq!(settings(&shell), None);
    };
    let lines = |wanting, wanting_none| fs::read_to_string(file(&shell, wanting, wanting_none)).unwrap();
    refused(&lines(20, 19), "39 queries, 20 that a lesson answers and 19 that none does; it takes 40");
    refused(&lines(20, 19), "1 are missing");
    refused(&lines(40, 0), "0 that a lesson answers and 5 that none does");
    refused(&format!("{}{{\"query\": 1}}", lines(20, 20)), "line 41 is not {\"query\"");
    let line = json!({"query": "push it", "lesson": "pushing tags"});
    refused(&format!("{}{line}", lines(20, 20)), "line 41: \"push it\" names trigger \"pushing tags\"");
    let line = json!({"query": "boil goose egg 0", "lesson": "parsing CSV exports"});
    refused(&format!("{}{line}", lines(20, 20)), "lines 41 and 21 contradict each other: \"boil goose egg 0\" names");
    assert_eq!(shell.call(&["calibrate", &file(&shell, 20, 20), "--force"]).code, 2);
}

#[test]
fn a_fit_counts_in_the_users_settings_and_never_in_a_folders() {
    let shell = shell();
    let open = json!({"retrieval": {"calibration": {"words": {"scale": 1, "offset": 20, "n_pairs": 40}}}}).to_string();
    let ask = || shell.call(&["--embedder", "none", "context", "boil a goose egg or a parsing"]);
    fs::write(shell.path().join("memory/config.json"), &open).unwrap();
    let said = ask();
    assert!(said.out.is_empty() && said.err.contains("a folder may not set"), "{}", said.err);
    fs::create_dir_all(shell.path().join("config/adage")).unwrap();
    fs::write(shell.path().join("config/adage/config.json"), &open).unwrap();
    fs::remove_file(shell.path().join("memory/config.json")).unwrap();
    assert!(ask().out.contains("csv module"), "{}", ask().out);
}
