//! `effect` and `replay`: estimates from the log of receipts.

use crate::cli::Shell;

/// The user's settings, with a dropout of one half.
fn with_dropout(shell: &Shell) {
    let folder = shell.path().join("config/adage");
    std::fs::create_dir_all(&folder).unwrap();
    let settings = r#"{"credit": {"log_receipts": true, "dropout": 0.5}}"#;
    std::fs::write(folder.join("config.json"), settings).unwrap();
}

#[test]
fn effect_and_replay_print_estimates() {
    let shell = Shell::new();
    let id = shell.learn("parse a csv export", "use the csv module")["id"].clone();
    let few = shell.json(&["effect", "parse a csv export"]);
    assert_eq!((few["effect"].as_str(), &few["id"]), (Some("not_enough_data"), &id));
    assert!(shell.call(&["effect", "parse a csv export"]).out.contains("not enough data"));
    with_dropout(&shell);
    for _ in 0..100 {
        let context = shell.json(&["context", "parse a csv export"]);
        let is_shown = !context["lessons"].as_array().unwrap().is_empty();
        let verdict = if is_shown { "helpful" } else { "harmful" };
        shell.json(&["outcome", context["receipt"].as_str().unwrap(), verdict]);
    }
    let effect = shell.json(&["effect", "parse a csv export"]);
    assert_eq!((effect["effect"].as_str(), effect["claim"].as_str()), (Some("measured"), Some("helps")), "{effect}");
    assert_eq!(effect["uplift"]["value"].as_f64(), Some(1.0));
    assert!(shell.call(&["effect", "parse a csv export"]).out.contains("uplift +1.000"));

    let log = shell.path().join("memory/receipts.jsonl");
    let log = log.to_str().unwrap();
    let silent = shell.json(&["replay", log, "--policy", "answer_from=1"]);
    assert_eq!(
        (silent["replay"].as_str(), silent["weighted"]["value"].as_f64()),
        (Some("estimated"), Some(0.0)),
        "{silent}"
    );
    let policy = shell.path().join("policy.json");
    std::fs::write(&policy, r#"{"limit": 1}"#).unwrap();
    let said = shell.call(&["replay", log, "--policy", policy.to_str().unwrap()]);
    assert!(said.code == 0 && said.out.contains("doubly robust"), "{}{}", said.out, said.err);
    assert_eq!(shell.call(&["replay", log, "--policy", "answer_from=2"]).code, 2);
    assert_eq!(shell.call(&["replay", log, "--policy", "no-such-file"]).code, 1);
}
