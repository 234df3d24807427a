//! Skills on the command line: output, streams and exit codes.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::cli::Shell;

fn put(root: &Path, folder: &str, text: &str) {
    fs::create_dir_all(root.join(folder)).unwrap();
    fs::write(root.join(folder).join("SKILL.md"), text).unwrap();
}

#[test]
fn a_lesson_is_exported_as_a_skill_and_awaits_review_after_an_import() {
    let shell = Shell::new();
    let nothing = shell.call(&["skills", "list"]);
    assert_eq!((nothing.code, nothing.out.as_str(), nothing.err.as_str()), (0, "", "adage: no skills\n"));
    let id = shell.learn("parsing CSV exports", "Use the csv module.")["id"].clone();
    let target = shell.path().join("target");
    let to = target.to_str().unwrap();

    let exported = shell.json(&["skills", "export", "parsing csv exports", "--to", to]);
    let file = target.join("parsing-csv-exports").join("SKILL.md");
    assert_eq!(exported, json!({"name": "parsing-csv-exports", "path": file, "lessons": [id]}));
    assert_eq!(shell.json(&["show", id.as_str().unwrap()])["graduated"], true);
    let named = shell.json(&["skills", "export", id.as_str().unwrap(), "--to", to, "--name", "CSV exports"]);
    assert_eq!(named["name"], "csv-exports");
    let bad = shell.call(&["skills", "export", "x", "--to", to, "--name", "../x"]);
    let reason = "invalid value '../x' for '--name <NAME>': \"../x\" cannot be the name of a skill's folder";
    assert_eq!((bad.code, bad.err), (2, format!("error: {reason}\n\nFor more information, try '--help'.\n")));
    assert_eq!(shell.call(&["skills", "export", "unknown", "--to", to]).code, 1);
    assert_eq!(shell.call(&["skills", "export", "--to", to]).code, 2);

    let imported = shell.json(&["skills", "import", target.join("csv-exports").to_str().unwrap()]);
    assert_eq!((&imported["outcome"], &imported["name"]), (&json!("saved"), &json!("csv-exports")));
    assert_eq!(shell.json(&["skills", "import", file.to_str().unwrap()])["outcome"], "saved");
    assert_eq!(shell.json(&["skills", "import", file.to_str().unwrap()])["outcome"], "unchanged");
    let listed = shell.call(&["skills", "list", "--json"]).objects();
    assert_eq!(listed.len(), 2);
    assert_eq!((&listed[0]["quality"], &listed[0]["trust"]), (&json!("imported"), &json!("tainted")));
    assert_eq!((&listed[0]["needs_review"], &listed[0]["place"]), (&json!(true), &json!("user")));
    let shown = shell.call(&["skills", "show", "csv-exports"]);
    assert!(
        shown.out.starts_with("---\nname: \"csv-exports\"\n") && shown.out.contains("Use the csv module."),
        "{}",
        shown.out
    );
    assert!(shown.err.contains("it awaits review"), "{}", shown.err);

    let hash = listed[0]["text_hash"].as_str().unwrap();
    assert!(shown.err.contains(hash), "{}", shown.err);
    let other = shell.call(&["skills", "promote", "csv-exports", "--text-hash", &"0".repeat(32)]);
    assert_eq!(other.code, 1, "{}", other.err);
    assert_eq!(shell.call(&["skills", "promote", "csv-exports", "--text-hash", "x"]).code, 2);
    assert_eq!(shell.json(&["skills", "promote", "csv-exports", "--text-hash", hash])["needs_review"], false);
    assert_eq!(shell.json(&["skills", "promote", "csv-exports"])["needs_review"], false);
    assert_eq!(shell.json(&["skills", "verify", "csv-exports", "passed"])["quality"], "verified");
    assert_eq!(shell.json(&["skills", "show", "csv-exports"])["quality"], "verified");
    assert_eq!(shell.json(&["skills", "verify", "csv-exports", "failed"])["quality"], "imported");
    let matched = || shell.json(&["skills", "match", "parse the csv exports"])["matches"].as_array().unwrap().len();
    assert_eq!((matched(), shell.json(&["skills", "show", "csv-exports"])["has_failed"].clone()), (0, true.into()));
    shell.json(&["skills", "verify", "csv-exports", "passed"]);
    assert_eq!(matched(), 1, "a check that passes brings it back");
    shell.json(&["skills", "verify", "csv-exports", "failed"]);
    let table = shell.call(&["skills", "list"]);
    assert!(table.out.contains("waits") && table.out.contains("no: failed"), "{}", table.out);
    let unknown = shell.call(&["skills", "promote", "nothing"]);
    assert_eq!((unknown.code, unknown.err.as_str()), (1, "adage: no skill \"nothing\"\n"));
}

#[test]
fn hidden_and_refused_skills_are_reported_on_standard_error() {
    let shell = Shell::new();
    let (project, extra) = (shell.path().join("project"), shell.path().join("extra"));
    put(&project, "one", "---\ndescription: project's \u{1b}[31m\n---\nBody.");
    put(&extra, "one", "Other.");
    put(&extra, "bad", "---\nname: one\n");
    let flags = ["--project-skills", project.to_str().unwrap(), "--extra-skills", extra.to_str().unwrap()];
    let said = shell.call(&[&["skills", "list"], flags.as_slice()].concat());
    assert_eq!(said.out.lines().count(), 2, "{}", said.out);
    assert!(
        said.out.contains("Other.") && ![&said.out, &said.err].iter().any(|text| text.contains('\u{1b}')),
        "one that awaits review hides no other"
    );
    assert!(said.err.contains("is not used") && said.err.contains("the front matter has no end"), "{}", said.err);
    let rows = shell.call(&[&["skills", "list", "--json"], flags.as_slice()].concat()).objects();
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[1]["shadowed_by"], rows[0]["path"]);
    assert_eq!(rows[2]["refused"], "the front matter has no end");
    let refused = shell.call(&["skills", "import", extra.join("bad").to_str().unwrap()]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.ends_with("the front matter has no end\n"), "{}", refused.err);
}

#[test]
fn a_draft_of_a_session_that_read_what_others_wrote_is_promoted_only_by_force() {
    let shell = Shell::new();
    let metadata = "metadata:\n  adage-quality: draft\n  adage-trust: tainted\n  adage-sources: monday\n";
    let text = format!("---\nname: build\ndescription: Images.\n{metadata}---\n1. Use the cache.\n");
    put(&shell.path().join("memory/skills"), "build", &text);
    let refused = shell.call(&["skills", "promote", "build"]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("read what others wrote") && refused.err.contains("--force"), "{}", refused.err);
    assert_eq!(shell.json(&["skills", "show", "build"])["needs_review"], true);
    let promoted = shell.json(&["skills", "promote", "build", "--force"]);
    assert_eq!((&promoted["needs_review"], &promoted["sources"]), (&json!(false), &json!(["monday"])));
}

#[test]
fn skills_are_matched_and_curated() {
    let shell = Shell::new();
    let skill = |name: &str, quality: &str| {
        let folder = shell.path().join("memory").join("skills").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let metadata =
            format!("metadata:\n  adage-topics: docker\n  adage-actions: build\n  adage-quality: {quality}\n");
        let text = format!("---\nname: {name}\ndescription: Images.\n{metadata}---\n1. Use the cache.\n");
        std::fs::write(folder.join("SKILL.md"), text).unwrap();
    };
    skill("one", "draft");
    skill("two", "draft");
    let plan = shell.json(&["skills", "curate"]);
    assert_eq!((&plan["applied"], &plan["change"]), (&json!(false), &json!(null)));
    assert_eq!(
        plan["steps"][0],
        json!({"what": "merge", "skill": "two", "into": "one", "why": "merge two into one: their bodies are equal"})
    );
    assert_eq!(shell.json(&["skills", "curate", "--dry-run"]), plan);
    let matched = shell.json(&["skills", "match", "compile docker images", "--embedder", "none"]);
    assert_eq!((&matched["tier"], &matched["shown"]), (&json!("words"), &json!(["one", "two"])));
    assert_eq!(
        (&matched["matches"][0]["score"], matched["matches"][0]["points"].as_array().unwrap().len()),
        (&json!(6), 3)
    );
    let explained = shell.call(&["skills", "match", "compile docker images", "--explain", "--embedder", "none"]);
    assert!(explained.out.starts_with("one  6\n  +2 synonym \"compile\" as \"build\"\n"), "{}", explained.out);
    assert!(explained.err.contains("by words: there is no embedder"), "{}", explained.err);
    let none = shell.call(&["skills", "match", "zebras", "--embedder", "none"]);
    assert!(
        none.code == 0 && none.out.is_empty() && none.err.contains("no skill: the best skill has 0 points"),
        "{}",
        none.err
    );

    let done = shell.json(&["skills", "curate", "--apply"]);
    assert_eq!(shell.call(&["skills", "curate"]).out, "nothing to do\n");
    assert_eq!(shell.json(&["skills", "list"])["name"], "one");
    shell.json(&["skills", "curate", "--undo", done["change"].as_str().unwrap()]);
    assert_eq!(shell.call(&["skills", "list", "--json"]).objects().len(), 2);
    assert_eq!(shell.call(&["skills", "curate"]).out, "nothing to do\n", "what was taken back stays");
    assert_eq!(shell.call(&["skills", "curate", "--undo", "x"]).code, 2);
    assert_eq!(shell.call(&["skills", "curate", "--apply", "--dry-run"]).code, 2);
}
