//! Times, widths of letters, bare identifiers and encodings.

use std::fs;
use std::io::Write;

use chrono::{DateTime, Utc};
use data_encoding::BASE64;
use serde_json::Value;

use super::{cases, check, text};
use crate::home::Home;

fn timestamp(case: &Value) -> Option<String> {
    let mut home = Home::new();
    let root = home.repository("shop");
    home.now = Box::leak(text(case, "text").to_owned().into_boxed_str());
    let said = home.call(
        &root,
        &[
            "learn",
            "--json",
            "--trigger",
            "installing the HTTP library",
            "--solution",
            "The package is called requests.",
        ],
    );
    if text(case, "expected") == "refused" {
        return (said.code == 0).then(|| format!("{} is accepted", case["text"]));
    }
    home.now = "2026-12-01T12:00:00Z";
    let utc = |text: &str| DateTime::parse_from_rfc3339(text).map(|time| time.with_timezone(&Utc)).ok();
    let found = home.call(&root, &["show", "installing the HTTP library", "--json"]);
    let found = found.out.lines().next().map(|line| serde_json::from_str::<Value>(line).unwrap()["timestamp"].clone());
    let found = found.unwrap_or_default();
    (utc(found.as_str().unwrap_or_default()) != utc(text(case, "expected")))
        .then(|| format!("{} is read as {found}; {}", case["text"], said.err))
}

fn width(case: &Value) -> Option<String> {
    let home = Home::new();
    let root = home.repository("shop");
    home.learn(&root, text(case, "lesson_trigger"), "Ask the owner of the service first.", &[]);
    let found = home.done(&root, &["context", text(case, "query"), "--json"]).object();
    let n_lessons = found["lessons"].as_array().map_or(0, Vec::len);
    (n_lessons == 0).then(|| format!("{} does not find {}", case["query"], case["lesson_trigger"]))
}

fn identifier(case: &Value) -> Option<String> {
    let home = Home::new();
    let root = home.repository("shop");
    let ids: Vec<Value> = case["lessons"]
        .as_array()
        .unwrap()
        .iter()
        .map(|lesson| {
            home.learn(&root, text(lesson, "trigger"), text(lesson, "advice"), &["--json", "--dedup", "off"])
                    .object()["id"]
                    .clone()
        })
        .collect();
    let found = home.done(&root, &["context", text(case, "query"), "--json"]).object();
    let first = found["lessons"][0]["id"].clone();
    let expected = case["expected_index"].as_u64().map_or(Value::Null, |at| ids[usize::try_from(at).unwrap()].clone());
    (first != expected).then(|| format!("{} finds {}", case["query"], found["lessons"]))
}

fn skill_md(case: &Value) -> Option<String> {
    let home = Home::new();
    let root = home.repository("shop");
    fs::create_dir_all(root.join("a-skill")).unwrap();
    let mut file = fs::File::create(root.join("a-skill/SKILL.md")).unwrap();
    file.write_all(&BASE64.decode(text(case, "bytes_base64").as_bytes()).unwrap()).unwrap();
    let said = home.call(&root, &["skills", "import", "a-skill", "--json"]);
    let is_read = said.code == 0;
    (is_read != (text(case, "expected") == "read")).then(|| format!("{}{}", said.out, said.err))
}

#[track_caller]
fn check_kind(kind: &str, fault: impl Fn(&Value) -> Option<String> + Sync) {
    let cases: Vec<Value> = cases("small").into_iter().filter(|case| text(case, "kind") == kind).collect();
    check(&format!("small, {kind}"), &cases, fault);
}

#[test]
fn a_time_is_read_in_the_forms_that_programs_write() {
    check_kind("timestamp", timestamp);
}

#[test]
fn a_letter_of_another_width_is_the_same_letter() {
    check_kind("width", width);
}

#[test]
fn a_bare_identifier_finds_the_one_lesson_that_has_it() {
    check_kind("identifier", identifier);
}

#[test]
fn a_skill_is_read_in_every_encoding_that_says_what_it_is() {
    check_kind("skill_md", skill_md);
}
