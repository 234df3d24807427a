//! `adage config`: settings, their origins, and who may set them.

use std::fs;

use serde_json::{Value, json};

use super::cli::Shell;
use super::home::Home;

fn setting(shell: &Shell, key: &str) -> (Value, String) {
    let row = shell.json(&["config", "get", key]);
    (row["value"].clone(), row["origin"].as_str().unwrap().to_owned())
}

fn with_lessons(n_lessons: usize) -> Shell {
    let shell = Shell::new();
    for number in 0..n_lessons {
        shell.learn(&format!("the {number}th step of release {number}"), &format!("run script {number}"));
    }
    shell
}

#[test]
fn each_setting_has_its_origin_and_the_nearest_one_holds() {
    let shell = with_lessons(1);
    assert_eq!(setting(&shell, "retention.capacity"), (json!(50), "default".to_owned()));
    shell.json(&["config", "set", "retention.capacity", "70", "--user"]);
    assert_eq!(setting(&shell, "retention.capacity"), (json!(70), "yours".to_owned()));
    shell.json(&["config", "set", "retention.capacity", "80"]);
    assert_eq!(setting(&shell, "retention.capacity"), (json!(80), "memory".to_owned()));
    let row = shell.json(&["config", "get", "retention.capacity", "--capacity", "90"]);
    assert_eq!((&row["value"], &row["origin"]), (&json!(90), &json!("command line")));
    let set = shell.call(&["config", "list", "--set", "--json"]).objects();
    assert_eq!(set, [json!({"key": "retention.capacity", "value": 80, "origin": "memory"})]);
    shell.json(&["config", "unset", "retention.capacity"]);
    assert_eq!(setting(&shell, "retention.capacity"), (json!(70), "yours".to_owned()));
    let all = shell.call(&["config"]).out;
    assert!(all.lines().count() > 60 && all.contains("retrieval.limit"), "{all}");
    // As a person writes it: 0.15, not 0.15000000596046448.
    for listed in [all, shell.call(&["config", "--json"]).out] {
        assert!(listed.contains("0.15"), "{listed}");
        let long =
            listed.split(|c: char| !c.is_ascii_digit() && c != '.').find(|word| word.contains('.') && word.len() > 9);
        assert_eq!(long, None, "{listed}");
    }
}

#[test]
fn a_configured_capacity_is_used_and_a_smaller_one_needs_consent() {
    let shell = with_lessons(4);
    let said = shell.call(&["config", "set", "retention.capacity", "2"]);
    assert!(
        said.code == 1 && said.err.contains("archive up to 2 of the 4 lessons") && said.err.contains("--yes"),
        "{}",
        said.err
    );
    assert_eq!(setting(&shell, "retention.capacity").0, json!(50));
    shell.json(&["config", "set", "retention.capacity", "2", "--yes"]);
    // Another setting changes nothing of that, and a lesson replaces one by hand, not three.
    shell.json(&["config", "set", "retrieval.limit", "3"]);
    let said = shell.call(&["learn", "--trigger", "deploying on a Friday", "--solution", "do not"]);
    assert!(said.code == 0 && said.err.contains("config set retention.capacity 5"), "{}", said.err);
    assert_eq!(said.out.matches("evicted").count(), 1, "{}", said.out);
    assert_eq!(shell.call(&["list", "--json"]).objects().len(), 4);
}

#[test]
fn settings_that_are_forbidden_or_unknown_are_refused_and_not_written() {
    let shell = with_lessons(1);
    let file = shell.path().join("memory/config.toml");
    for (arguments, expected) in [
        (["retention.size", "3"], "no setting \"retention.size\""),
        (["retention.capacity", "0"], "retention.capacity is 0, it must be at least 1"),
        (["retention.capacity", "many"], "retention.capacity is \"many\", it must be a whole number"),
        (["sessions.max_per_run", "3"], "a folder may not set \"sessions\""),
        (["trust", "['/']"], "a folder may not set \"trust\""),
        (["retrieval.calibration.words", "{ scale = 1, offset = 2, n_pairs = 40 }"], "a folder may not set"),
    ] {
        let said = shell.call(&[&["config", "set"], arguments.as_slice()].concat());
        assert!(said.code == 1 && said.err.contains(expected), "{arguments:?}: {}", said.err);
        assert!(!file.exists());
    }
    let said = shell.call(&["config", "get", "retention.size"]);
    assert!(said.code == 1 && said.err.contains("retention has capacity, max_waiting"), "{}", said.err);
    let said = shell.call(&["config", "unset", "retention.capacity"]);
    assert!(said.code == 1 && said.err.contains("retention.capacity is not set there"), "{}", said.err);
    shell.json(&["config", "set", "sessions.max_per_run", "3", "--user"]);
    assert_eq!(setting(&shell, "sessions.max_per_run"), (json!(3), "yours".to_owned()));
}

#[test]
fn comments_are_kept_and_an_earlier_file_is_read_and_replaced() {
    let shell = with_lessons(1);
    let (file, earlier) = (shell.path().join("memory/config.toml"), shell.path().join("memory/config.json"));
    fs::write(&file, "# for us\n[retrieval] # few\nlimit = 2\n").unwrap();
    shell.json(&["config", "set", "retention.capacity", "9"]);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("# for us\n[retrieval] # few\nlimit = 2\n") && text.contains("capacity = 9"), "{text}");
    fs::remove_file(&file).unwrap();
    fs::write(&earlier, r#"{"retrieval": {"limit": 4}}"#).unwrap();
    assert_eq!(setting(&shell, "retrieval.limit"), (json!(4), "memory".to_owned()));
    shell.json(&["config", "set", "retention.capacity", "9"]);
    assert!(!earlier.exists());
    assert_eq!(setting(&shell, "retrieval.limit").0, json!(4));
    assert_eq!(setting(&shell, "retention.capacity").0, json!(9));
}

#[test]
fn without_a_memory_settings_are_listed_and_only_ones_own_are_written() {
    let home = Home::new();
    let folder = home.repository("shop");
    assert!(home.done(&folder, &["config", "get", "retention.capacity"]).out.contains("50"));
    let said = home.call(&folder, &["config", "set", "retention.capacity", "9"]);
    assert!(said.code == 1 && said.err.contains("adage init") && said.err.contains("--user"), "{}", said.err);
    assert!(!folder.join(".adage").exists());
    home.done(&folder, &["config", "set", "retention.capacity", "9", "--user"]);
    assert!(home.done(&folder, &["config", "get", "retention.capacity"]).out.contains('9'));
}

#[test]
fn a_setting_that_is_not_used_is_said_to_be_so_when_it_is_written() {
    let home = Home::new();
    let root = home.repository("shop");
    let set = |key: &str, value: &str| home.done(&root, &["config", "set", "--user", key, value]).err;
    assert_eq!(set("capture.max_candidates", "4"), "");
    let folder = home.folder("home/config/adage");
    home.git(&folder, &["init", "-q"]);
    home.git(&folder, &["add", "-f", "config.toml"]);
    let said = set("capture.max_candidates", "6");
    assert!(
        said.contains("capture.max_candidates is not used") && said.contains("neither tracked nor a link"),
        "{said}"
    );
    let said = set("retention.capacity", "7");
    assert!(!said.contains("retention.capacity is not used") && said.contains("for the others"), "{said}");
}

#[test]
fn a_calibration_counts_in_the_users_settings_and_never_in_a_folders() {
    let shell = Shell::new();
    shell.learn("parsing CSV exports", "Use the csv module.");
    let ask = || shell.call(&["--embedder", "none", "context", "boil a goose egg or a parsing"]);
    let open = ["retrieval.calibration.words", "{ scale = 1.0, offset = 20.0, n_pairs = 40 }"];
    assert_eq!(shell.call(&[&["config", "set"][..], &open].concat()).code, 1);
    fs::write(shell.path().join("memory/config.toml"), format!("{} = {}", open[0], open[1])).unwrap();
    let said = ask();
    assert!(said.out.is_empty() && said.err.contains("a folder may not set"), "{}", said.err);
    fs::remove_file(shell.path().join("memory/config.toml")).unwrap();
    shell.json(&[&["config", "set", "--user"][..], &open].concat());
    assert!(ask().out.contains("csv module"), "{}", ask().out);
}
