//! Merges of branches that changed the same lessons, in each style of conflicts that git has: by merge, rebase and cherry-pick.

use serde_json::{Value, json};

use super::merges::{API_KEY, CSV, DOCS, Member, PHOTOS, TESTS, VERSION, id_of, team};

const STYLES: [&str; 3] = ["merge", "diff3", "zdiff3"];

/// A team with four lessons, whose conflicts are in a style.
fn team_in(style: &str) -> [Member; 2] {
    let members = team(&[
        (DOCS, "Run just docs."),
        (API_KEY, "Update the vault."),
        (TESTS, "Start postgres."),
        (VERSION, "Edit it."),
    ]);
    for member in &members {
        member.git(&["config", "merge.conflictStyle", style]);
        member.git(&["config", "core.editor", "true"]);
        member.git(&["config", "user.name", "a"]);
        member.git(&["config", "user.email", "a@example.com"]);
    }
    members
}

impl Member {
    /// Counts a use of each lesson that a query finds.
    fn show(&self, query: &str) {
        self.done(&["context", query]);
    }

    fn harm(&self, solution: &str) {
        self.done(&["harmful", &id_of(self, solution)]);
    }

    fn fetch(&self, other: &Self, commit: &str) {
        self.git(&["fetch", "-q", other.clone.to_str().unwrap(), commit]);
    }

    /// Merges the fetched commit, which has to end in conflicts.
    fn merge_fetched(&self, style: &str) -> String {
        assert!(!self.home.try_git(&self.clone, &["merge", "-q", "--no-edit", "FETCH_HEAD"]), "{style}");
        self.file("skills_playbook.json")
    }

    fn resolve(&self) {
        self.done(&["repair"]);
        self.commit();
        self.done(&["trust"]);
    }

    fn head(&self) -> String {
        self.home.git_says(&self.clone, &["rev-parse", "HEAD"]).trim().to_owned()
    }
}

fn of(row: Option<Value>, keys: &[&str]) -> Value {
    let row = row.unwrap();
    keys.iter().map(|key| row[key].clone()).collect()
}

#[test]
fn a_change_of_one_branch_that_keeps_the_id_outlives_a_use_on_the_other() {
    for style in STYLES {
        let [a, b] = team_in(style);
        b.edit_by_hand("Run just docs.", "Run just docs, then look at it.");
        b.done(&["verify", API_KEY, "passed"]);
        b.done(&["graduate", VERSION]);
        b.harm("Start postgres.");
        b.harm("Start postgres.");
        b.learn(CSV, "Use the csv module.");
        b.push();
        for query in [DOCS, API_KEY, TESTS, VERSION] {
            a.show(query);
        }
        a.learn(TESTS, "Start postgres.");
        a.learn(PHOTOS, "Keep the aspect ratio.");
        a.commit();
        a.merge();
        b.merge();
        for member in [&a, &b] {
            member.assert_in_order();
            assert_eq!(member.stored().len(), 6, "{style}: {:?}", member.stored());
            assert!(member.solutions().contains(&"Run just docs, then look at it.".to_owned()), "{style}");
            assert!(member.row("Run just docs.").is_none(), "{style}");
            let verified = member.row("Update the vault.");
            assert_eq!(of(verified, &["verified", "verification_attempted"]), json!([true, true]), "{style}");
            assert_eq!(of(member.row("Edit it."), &["graduated"]), json!([true]), "{style}");
            let harmful = of(member.row("Start postgres."), &["harmful_retrievals", "frequency"]);
            assert_eq!(harmful, json!([2, 2]), "{style}");
        }
        let confidence = a.row("Start postgres.").unwrap()["confidence"].as_f64().unwrap();
        assert!(confidence < 0.5, "{style}: {confidence}");
    }
}

#[test]
fn the_texts_of_both_branches_are_kept_and_the_second_awaits_review() {
    for style in STYLES {
        let [a, b] = team_in(style);
        b.edit_by_hand("Run just docs.", "Run just docs twice.");
        b.learn(CSV, "Use the csv module.");
        b.push();
        a.edit_by_hand("Run just docs.", "Run just docs slowly.");
        a.learn(PHOTOS, "Keep the aspect ratio.");
        a.commit();
        assert!(!a.pull());
        let said = a.home.done(&a.clone, &["repair"]);
        assert!(
            said.out.contains("6 lessons of both branches, 1 of which waits until you admit them"),
            "{style}: {}",
            said.out
        );
        assert!(
            said.out.contains("and 1 text under review") && said.out.contains("`adage trust`"),
            "{style}: {}",
            said.out
        );
        assert!(!said.err.contains("WARN") && !said.err.contains("broken"), "{style}: {}", said.err);
        a.push();
        a.done(&["trust"]);
        b.merge();
        for member in [&a, &b] {
            assert!(member.solutions().contains(&"Run just docs slowly.".to_owned()), "{style}");
            assert!(!member.solutions().contains(&"Run just docs twice.".to_owned()), "{style}");
            assert!(member.row("Run just docs twice.").is_some(), "{style}");
            member.assert_in_order();
        }
    }
}

#[test]
fn a_text_that_one_branch_rewrote_and_the_other_removed_awaits_review() {
    for style in STYLES {
        let [a, b] = team_in(style);
        b.done(&["remove", DOCS]);
        b.edit(API_KEY, "Update the vault and the CI.");
        b.push();
        a.edit_by_hand("Run just docs.", "Run just docs slowly.");
        a.edit_by_hand("Update the vault.", "Update the vault twice.");
        a.learn(PHOTOS, "Keep the aspect ratio.");
        a.commit();
        a.merge();
        let in_use = ["Edit it.", "Keep the aspect ratio.", "Start postgres.", "Update the vault and the CI."];
        assert_eq!(a.solutions(), in_use, "{style}");
        for text in ["Run just docs slowly.", "Update the vault twice."] {
            assert!(a.row(text).is_some(), "{style}: {text}");
        }
        a.assert_in_order();
    }
}

#[test]
fn branches_that_were_merged_both_ways_are_merged_again() {
    for style in STYLES {
        let [a, b] = team_in(style);
        a.learn(PHOTOS, "Keep the aspect ratio.");
        a.commit();
        b.learn(CSV, "Use the csv module.");
        b.commit();
        let before = a.head();
        a.fetch(&b, "HEAD");
        a.merge_fetched(style);
        a.resolve();
        b.fetch(&a, &before);
        b.merge_fetched(style);
        b.resolve();
        b.done(&["remove", TESTS]);
        b.edit(API_KEY, "Update the vault, revoke the old key.");
        b.commit();
        a.learn("naming a branch", "Use the ticket's number.");
        a.commit();
        a.fetch(&b, "HEAD");
        let conflict = a.merge_fetched(style);
        assert_eq!(conflict.contains("\n<<<<<<<<< "), style != "merge", "{style}: {conflict}");
        a.resolve();
        let expected = [
            "Edit it.",
            "Keep the aspect ratio.",
            "Run just docs.",
            "Update the vault, revoke the old key.",
            "Use the csv module.",
            "Use the ticket's number.",
        ];
        assert_eq!(
            (a.solutions(), a.stored()),
            (expected.map(str::to_owned).into(), expected.map(str::to_owned).into()),
            "{style}"
        );
        assert!(a.file("skills_playbook.json").contains("\"removed\""), "{style}");
        a.assert_in_order();
    }
}

#[test]
fn a_lesson_that_a_person_deleted_in_the_file_stays_away_and_can_be_restored() {
    for style in STYLES {
        let [a, b] = team_in(style);
        b.learn(CSV, "Use the csv module.");
        b.delete_by_hand("Start postgres.");
        b.learn("naming a branch", "Use the ticket's number.");
        b.push();
        a.show(TESTS);
        a.learn(PHOTOS, "Keep the aspect ratio.");
        a.commit();
        a.merge();
        b.merge();
        for member in [&a, &b] {
            assert!(member.row("Start postgres.").is_none(), "{style}");
            member.assert_in_order();
        }
        let history = b.done(&["--json", "history"]);
        let removal: Value = serde_json::from_str(history.lines().next().unwrap()).unwrap();
        b.done(&["undo", removal["id"].as_str().unwrap()]);
        assert!(b.solutions().contains(&"Start postgres.".to_owned()), "{style}: {history}");
        b.assert_in_order();
    }
}

#[test]
fn where_a_conflict_shows_the_ancestor_a_deleted_line_is_known_without_a_commit() {
    for style in ["diff3", "zdiff3"] {
        let [a, b] = team_in(style);
        b.delete_by_hand("Edit it.");
        b.edit_file(|file| file.replace("\"generation\": 4", "\"generation\": 5"));
        b.push();
        a.learn(PHOTOS, "Keep the aspect ratio.");
        a.commit();
        a.merge();
        assert_eq!(
            a.stored(),
            ["Keep the aspect ratio.", "Run just docs.", "Start postgres.", "Update the vault."],
            "{style}"
        );
    }
}

#[test]
fn conflicts_of_a_rebase_and_of_a_cherry_pick_are_merged() {
    for style in STYLES {
        for command in [["rebase", "FETCH_HEAD"], ["cherry-pick", "FETCH_HEAD"]] {
            let [a, b] = team_in(style);
            b.edit_by_hand("Run just docs.", "Run just docs, then look at it.");
            b.done(&["remove", TESTS]);
            b.done(&["graduate", VERSION]);
            b.commit();
            a.show(DOCS);
            a.edit(API_KEY, "Update the vault, revoke the old key.");
            a.commit();
            a.fetch(&b, "HEAD");
            assert!(!a.home.try_git(&a.clone, &command), "{style} {command:?}");
            a.done(&["repair"]);
            a.git(&["add", "-A"]);
            a.git(&[command[0], "--continue"]);
            a.done(&["trust"]);
            let expected = ["Edit it.", "Run just docs, then look at it.", "Update the vault, revoke the old key."];
            assert_eq!(a.stored(), expected, "{style} {command:?}");
            assert_eq!(a.solutions(), expected, "{style} {command:?}");
            assert_eq!(of(a.row("Edit it."), &["graduated"]), json!([true]), "{style} {command:?}");
            a.assert_in_order();
        }
    }
}

/// git merges more than two branches only if no more than the last of them is in conflict.
#[test]
fn a_conflict_of_three_branches_is_merged() {
    for style in STYLES {
        let [a, _] = team_in(style);
        for (branch, trigger) in [("one", PHOTOS), ("two", CSV)] {
            a.git(&["checkout", "-q", "-b", branch, "main"]);
            a.learn(trigger, trigger);
            a.commit();
        }
        a.git(&["checkout", "-q", "main"]);
        assert!(!a.home.try_git(&a.clone, &["merge", "-q", "--no-edit", "one", "two"]), "{style}");
        assert!(a.file("skills_playbook.json").contains("<<<<<<<"), "{style}");
        a.resolve();
        assert_eq!(a.stored().len(), 6, "{style}: {:?}", a.stored());
        a.assert_in_order();
    }
}

#[test]
fn marks_have_the_length_that_the_repository_sets() {
    for (style, size) in [("merge", "3"), ("diff3", "8"), ("zdiff3", "40")] {
        let [a, b] = team_in(style);
        std::fs::write(a.clone.join(".gitattributes"), format!("*.json conflict-marker-size={size}\n")).unwrap();
        a.push();
        b.pull();
        b.edit(DOCS, "Run just docs twice.");
        b.push();
        a.learn(PHOTOS, "Keep the aspect ratio.");
        a.commit();
        a.merge();
        assert_eq!(a.stored().len(), 5, "{style}: {:?}", a.stored());
        assert!(a.row("Run just docs.").is_none(), "{style}");
        a.assert_in_order();
    }
}

/// Somebody took out a mark with an editor: what either side removed stays away all the same.
#[test]
fn a_conflict_with_a_mark_missing_revives_nothing() {
    for style in ["diff3", "zdiff3"] {
        for mark in ["=======\n", ">>>>>>> "] {
            let [a, b] = team_in(style);
            b.done(&["remove", TESTS]);
            b.edit(API_KEY, "Update the vault, revoke the old key.");
            b.push();
            a.show(TESTS);
            a.learn(PHOTOS, "Keep the aspect ratio.");
            a.commit();
            assert!(!a.pull());
            a.edit_file(|file| {
                let (before, after) = file.rsplit_once(&format!("\n{mark}")).unwrap();
                format!("{before}\n{}", after.split_once('\n').unwrap().1)
            });
            a.resolve();
            let stored = a.stored();
            for gone in ["Start postgres.", "Update the vault."] {
                assert!(!stored.contains(&gone.to_owned()), "{style} {mark}: {stored:?}");
            }
            assert!(stored.contains(&"Keep the aspect ratio.".to_owned()), "{style} {mark}: {stored:?}");
            let distinct: std::collections::BTreeSet<&String> = stored.iter().collect();
            assert_eq!(distinct.len(), stored.len(), "{style} {mark}: {stored:?}");
            a.assert_in_order();
        }
    }
}

#[test]
fn what_a_person_rewrote_in_the_file_before_a_forget_is_in_no_file_after_it() {
    let [a, _b] = team_in("diff3");
    a.learn(CSV, "Use the okapi module of the standard library.");
    a.edit_by_hand("Use the okapi module of the standard library.", "Use the csv module.");
    a.delete_by_hand("Start postgres.");
    a.done(&["forget", &id_of(&a, "Use the csv module.")]);
    for file in ["archive.jsonl", "skills_playbook.json", "skills_playbook.json.bak"] {
        let path = a.clone.join(".adage").join(file);
        let text = std::fs::read_to_string(path).unwrap_or_default();
        assert!(!text.contains("okapi"), "{file}: {text}");
    }
    // What else the person changed in the file is still recorded, and can be undone.
    let history = a.done(&["--json", "history"]);
    let changes = history.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let ids: Vec<String> = changes.map(|change| change["id"].as_str().unwrap().to_owned()).collect();
    let is_back = |id: &String| {
        a.home.call(&a.clone, &["undo", id]);
        a.solutions().contains(&"Start postgres.".to_owned())
    };
    assert!(ids.iter().any(is_back), "{history}");
}

#[test]
fn a_lesson_that_is_learned_again_after_its_line_was_deleted_is_not_listed_as_removed() {
    let [a, _b] = team_in("diff3");
    a.learn(CSV, "Use the csv module.");
    a.delete_by_hand("Use the csv module.");
    a.learn(CSV, "Use the csv module.");
    assert!(a.solutions().contains(&"Use the csv module.".to_owned()));
    let file: Value = serde_json::from_str(&a.file("skills_playbook.json")).unwrap();
    assert_eq!(file["removed"].as_array().map_or(0, Vec::len), 0, "{file}");
    a.assert_in_order();
}
