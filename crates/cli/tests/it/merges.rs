//! A memory that a team commits to git, and the merges of its branches: nothing is lost, and nothing comes back.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::home::Home;

const STYLES: [&str; 3] = ["merge", "diff3", "zdiff3"];

const TESTS: &str = "running integration tests";
const API_KEY: &str = "rotating the api key";
const VERSION: &str = "bumping the version";
const DOCS: &str = "deploying the docs";
const PHOTOS: &str = "resizing the delivery photos";
const CSV: &str = "parsing CSV exports";

/// A member of a team: a user with a home folder of their own, and their clone.
pub(super) struct Member {
    pub(super) home: Home,
    pub(super) clone: PathBuf,
}

impl Member {
    pub(super) fn done(&self, arguments: &[&str]) -> String {
        self.home.done(&self.clone, arguments).out
    }

    pub(super) fn learn(&self, trigger: &str, solution: &str) {
        self.home.learn(&self.clone, trigger, solution, &[]);
    }

    pub(super) fn edit(&self, trigger: &str, solution: &str) {
        self.done(&["edit", trigger, "--solution", solution]);
    }

    pub(super) fn git(&self, arguments: &[&str]) {
        self.home.git(&self.clone, arguments);
    }

    pub(super) fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "work"]);
    }

    pub(super) fn push(&self) {
        self.commit();
        self.git(&["push", "-q"]);
    }

    /// False if the merge ended in conflicts.
    pub(super) fn pull(&self) -> bool {
        self.home.try_git(&self.clone, &["pull", "-q", "--no-rebase", "--no-edit"])
    }

    /// Pulls, and resolves the conflicts as the documentation says.
    pub(super) fn merge(&self) {
        if !self.pull() {
            self.done(&["doctor", "--repair"]);
        }
        self.push();
        self.done(&["trust"]);
    }

    pub(super) fn file(&self, name: &str) -> String {
        fs::read_to_string(self.clone.join(".adage").join(name)).unwrap()
    }

    /// The solutions of all lessons that are in use.
    pub(super) fn solutions(&self) -> Vec<String> {
        let rows = self.done(&["--json", "list", "--limit", "1000"]);
        let rows = rows.lines().map(|row| serde_json::from_str::<Value>(row).unwrap());
        let mut solutions: Vec<String> = rows.map(|row| row["solution"].as_str().unwrap().to_owned()).collect();
        solutions.sort();
        solutions
    }

    /// The solutions that the playbook file has, whether they are in use or not.
    pub(super) fn stored(&self) -> Vec<String> {
        let file: Value = serde_json::from_str(&self.file("skills_playbook.json")).unwrap();
        let rows = file["lessons"].as_array().unwrap().iter();
        let mut solutions: Vec<String> = rows.map(|row| row["solution"].as_str().unwrap().to_owned()).collect();
        solutions.sort();
        solutions
    }

    /// The row of the playbook file with this solution, whatever its list.
    pub(super) fn row(&self, solution: &str) -> Option<Value> {
        let file: Value = serde_json::from_str(&self.file("skills_playbook.json")).unwrap();
        let rows = file["lessons"].as_array().into_iter().flatten();
        let waiting = file["waiting"].as_array().into_iter().flatten().map(|row| &row["lesson"]);
        rows.chain(waiting).find(|row| row["solution"] == solution).cloned()
    }

    /// Changes the playbook file as an editor does.
    pub(super) fn edit_file(&self, change: impl FnOnce(&str) -> String) {
        let file = self.file("skills_playbook.json");
        let edited = change(&file);
        assert_ne!(edited, file);
        fs::write(self.clone.join(".adage/skills_playbook.json"), edited).unwrap();
    }

    /// Gives a lesson another solution in the file.
    pub(super) fn edit_by_hand(&self, solution: &str, new: &str) {
        let quoted = |text: &str| format!("\"{text}\"");
        self.edit_file(|file| file.replace(&quoted(solution), &quoted(new)));
        self.done(&["trust"]);
    }

    /// Deletes the line of a lesson from the file.
    pub(super) fn delete_by_hand(&self, solution: &str) {
        self.edit_file(|file| {
            let kept: String =
                file.lines().filter(|line| !line.contains(solution)).flat_map(|line| [line, "\n"]).collect();
            kept.replace("},\n  ]", "}\n  ]")
        });
    }

    /// Merges a commit of another clone, which has to end in conflicts: these are returned.
    fn merge_commit(&self, other: &Self, commit: &str) -> String {
        self.git(&["fetch", "-q", other.clone.to_str().unwrap(), commit]);
        assert!(!self.home.try_git(&self.clone, &["merge", "-q", "FETCH_HEAD"]));
        let conflict = self.file("skills_playbook.json");
        self.done(&["doctor", "--repair"]);
        self.commit();
        self.done(&["trust"]);
        conflict
    }

    pub(super) fn assert_in_order(&self) {
        let said = self.home.call(&self.clone, &["doctor", "--check"]);
        let is_edit = |line: &str| line.contains("was edited in the file; it is used");
        let findings = said.out.lines().filter(|line| !line.is_empty() && !is_edit(line) && !line.contains("in order"));
        assert_eq!(findings.count(), 0, "{}{}", said.out, said.err);
    }
}

/// Two members with clones of a repository that has a shared memory with these lessons.
pub(super) fn team(lessons: &[(&str, &str)]) -> [Member; 2] {
    let home = Home::new();
    let (first, upstream) = (home.repository("shop"), home.path("upstream.git"));
    home.done(&first, &["init", "--shared"]);
    let ours = Member { clone: first, home };
    for (trigger, solution) in lessons {
        ours.learn(trigger, solution);
    }
    ours.commit();
    ours.git(&["branch", "-q", "-M", "main"]);
    ours.git(&["clone", "-q", "--bare", ".", upstream.to_str().unwrap()]);
    ours.git(&["remote", "add", "origin", upstream.to_str().unwrap()]);
    ours.git(&["push", "-q", "-u", "origin", "main"]);
    // No two changes are made at the same time.
    let mut home = Home::new();
    home.now = "2026-03-01T12:00:01Z";
    let clone = home.path("shop");
    home.git(&home.folder("."), &["clone", "-q", upstream.to_str().unwrap(), clone.to_str().unwrap()]);
    let theirs = Member { home, clone };
    theirs.done(&["trust"]);
    [ours, theirs]
}

#[test]
fn what_one_branch_removed_and_the_other_replaced_stays_away() {
    for style in STYLES {
        let [a, b] = team(&[(DOCS, "Run just docs."), (API_KEY, "Update the vault."), (TESTS, "Start postgres.")]);
        a.git(&["config", "merge.conflictStyle", style]);
        b.done(&["remove", TESTS]);
        let removal = b.done(&["--json", "history"]).lines().last().unwrap().to_owned();
        let removal: Value = serde_json::from_str(&removal).unwrap();
        b.push();
        a.edit(API_KEY, "Update the vault, revoke the old key.");
        a.commit();
        a.merge();
        let expected = ["Run just docs.", "Update the vault, revoke the old key."].map(str::to_owned);
        assert_eq!((a.solutions(), a.stored()), (expected.clone().into(), expected.clone().into()), "{style}");
        a.assert_in_order();
        assert!(a.done(&["doctor", "--repair"]).contains("nothing to repair"));
        b.merge();
        assert_eq!(b.solutions(), expected, "{style}");
        // The history has the changes of both, and a removal can be undone.
        assert_eq!(b.done(&["--json", "history"]).lines().count(), 2);
        b.done(&["undo", removal["id"].as_str().unwrap()]);
        assert_eq!(b.solutions().len(), 3);
        b.assert_in_order();
    }
}

#[test]
fn of_the_texts_of_both_branches_one_is_used_and_the_other_awaits_review() {
    let [a, b] = team(&[(DOCS, "Run just docs."), (VERSION, "Edit it."), (TESTS, "Start postgres.")]);
    b.learn(CSV, "Use the csv module.");
    b.edit_by_hand("Run just docs.", "Run just docs twice.");
    b.edit_by_hand("Edit it.", "Edit Cargo.toml.");
    b.done(&["remove", TESTS]);
    b.push();
    a.edit_by_hand("Run just docs.", "Run just docs slowly.");
    a.edit_by_hand("Start postgres.", "Start postgres first.");
    a.learn(PHOTOS, "Keep the aspect ratio.");
    a.commit();
    assert!(!a.pull());
    let said = a.home.done(&a.clone, &["doctor", "--repair"]);
    assert!(said.out.contains("4 lessons of both branches"), "{}", said.out);
    assert!(said.out.contains("and 2 texts under review") && said.out.contains("`adage trust`"), "{}", said.out);
    assert!(said.err.contains("git add") && !said.err.contains("WARN") && !said.err.contains("broken"), "{}", said.err);
    a.push();
    a.done(&["trust"]);
    b.merge();
    for member in [&a, &b] {
        let is_used = |text: &str| member.solutions().contains(&text.to_owned());
        assert!(is_used("Edit Cargo.toml.") && member.row("Edit it.").is_none());
        assert_ne!(is_used("Run just docs twice."), is_used("Run just docs slowly."));
        for text in ["Run just docs twice.", "Run just docs slowly.", "Start postgres first."] {
            assert!(member.row(text).is_some(), "{text}");
        }
        assert!(member.row("Start postgres.").is_none() && member.solutions().len() == 4);
        member.assert_in_order();
    }
}

#[test]
fn only_the_playbook_file_of_two_branches_is_in_conflict() {
    let [a, b] = team(&[(DOCS, "Run just docs."), (VERSION, "Edit Cargo.toml.")]);
    for (member, trigger) in [(&a, PHOTOS), (&b, CSV)] {
        member.learn(trigger, trigger);
        member.edit(DOCS, &format!("{trigger}, twice"));
        member.done(&["context", trigger]);
    }
    b.push();
    a.commit();
    assert!(!a.pull());
    let status = a.home.git_says(&a.clone, &["status", "--porcelain"]);
    let conflicts: Vec<&str> = status.lines().filter(|line| !line.starts_with(['M', 'A', ' '])).collect();
    assert_eq!(conflicts, ["UU .adage/skills_playbook.json"], "{status}");
    a.done(&["doctor", "--repair"]);
    a.push();
    a.done(&["trust"]);
    assert_eq!(a.solutions().len(), 5);
    a.assert_in_order();
    let tracked = a.home.git_says(&a.clone, &["ls-files", ".adage"]);
    let expected = [".gitattributes", ".gitignore", "archive.jsonl", "id", "skills_playbook.json"];
    assert_eq!(tracked.lines().collect::<Vec<_>>(), expected.map(|name| format!(".adage/{name}")));
}

/// Of a folder that an earlier version made, git tracks the log and the backup too, and does not unite the archive.
#[test]
fn a_folder_of_which_git_tracks_every_file_is_merged_too() {
    let [a, b] = team(&[(DOCS, "Run just docs."), (VERSION, "Edit Cargo.toml."), (TESTS, "Start postgres.")]);
    let memory = a.clone.join(".adage");
    fs::write(memory.join(".gitignore"), "lock\nmining.json\n*.bin\nquarantine/\n").unwrap();
    fs::remove_file(memory.join(".gitattributes")).unwrap();
    a.push();
    b.pull();
    b.done(&["remove", TESTS]);
    b.learn(CSV, "Use the csv module.");
    b.push();
    a.edit(VERSION, "Edit Cargo.toml and the changelog.");
    a.commit();
    assert!(!a.pull());
    assert!(a.file("archive.jsonl").contains("<<<<<<<") && a.file("skills_playbook.json.bak").contains("<<<<<<<"));
    assert!(a.home.call(&a.clone, &["doctor", "--check"]).out.contains("archive: it has the marks of a merge"));
    a.done(&["doctor", "--repair"]);
    a.push();
    a.done(&["trust"]);
    b.merge();
    for member in [&a, &b] {
        let expected = ["Edit Cargo.toml and the changelog.", "Run just docs.", "Use the csv module."];
        assert_eq!(member.solutions(), expected);
        member.assert_in_order();
        assert_eq!(member.done(&["--json", "history"]).lines().count(), 2);
    }
}

/// A person resolved the playbook file by taking one side, and left the archive.
#[test]
fn an_archive_with_the_marks_of_a_merge_is_repaired_by_itself() {
    let [a, b] = team(&[(DOCS, "Run just docs."), (VERSION, "Edit Cargo.toml.")]);
    fs::remove_file(a.clone.join(".adage/.gitattributes")).unwrap();
    a.push();
    b.pull();
    b.edit(DOCS, "Run just docs twice.");
    b.push();
    a.edit(VERSION, "Edit Cargo.toml and the changelog.");
    a.commit();
    assert!(!a.pull());
    a.git(&["checkout", "-q", "--ours", ".adage/skills_playbook.json"]);
    assert_eq!(a.done(&["--json", "history"]).lines().count(), 2);
    assert!(a.done(&["doctor", "--repair", "--dry-run"]).contains("the archive would be without the marks of a merge"));
    assert!(a.done(&["doctor", "--repair"]).contains("the archive is without the marks of a merge"));
    assert!(!a.file("archive.jsonl").contains("<<<<<<<"));
    a.assert_in_order();
    assert_eq!(a.done(&["--json", "history"]).lines().count(), 2);
}

#[test]
fn branches_that_were_merged_both_ways_are_merged_again() {
    let [a, b] = team(&[(DOCS, "Run just docs."), (VERSION, "Edit Cargo.toml."), (TESTS, "Start postgres.")]);
    a.git(&["config", "merge.conflictStyle", "diff3"]);
    a.learn(PHOTOS, "Keep the aspect ratio.");
    a.commit();
    b.learn(CSV, "Use the csv module.");
    b.commit();
    let before = a.home.git_says(&a.clone, &["rev-parse", "HEAD"]).trim().to_owned();
    a.merge_commit(&b, "HEAD");
    b.merge_commit(&a, &before);
    b.done(&["remove", TESTS]);
    b.edit(VERSION, "Edit two files.");
    b.commit();
    a.learn("naming a branch", "Use the ticket's number.");
    a.commit();
    assert!(a.merge_commit(&b, "HEAD").contains("\n<<<<<<<<< "));
    let expected = [
        "Edit two files.",
        "Keep the aspect ratio.",
        "Run just docs.",
        "Use the csv module.",
        "Use the ticket's number.",
    ];
    assert_eq!((a.solutions(), a.stored()), (expected.map(str::to_owned).into(), expected.map(str::to_owned).into()));
    a.assert_in_order();
}

/// Somebody took out a mark with an editor, in a repository that sets the length of marks.
#[test]
fn a_conflict_with_a_mark_missing_loses_nothing_and_revives_nothing() {
    for (style, mark) in [("merge", "===\n"), ("merge", ">>> "), ("zdiff3", "===\n"), ("zdiff3", ">>> ")] {
        let [a, b] = team(&[(API_KEY, "Update the vault."), (TESTS, "Start postgres.")]);
        a.git(&["config", "merge.conflictStyle", style]);
        fs::write(a.clone.join(".gitattributes"), "*.json conflict-marker-size=3\n").unwrap();
        b.done(&["remove", TESTS]);
        b.edit(API_KEY, "Update the vault, revoke the old key.");
        b.push();
        a.learn(PHOTOS, "Keep the aspect ratio.");
        a.commit();
        assert!(!a.pull());
        a.edit_file(|file| {
            let (before, after) = file.rsplit_once(&format!("\n{mark}")).unwrap();
            format!("{before}\n{}", after.split_once('\n').unwrap().1)
        });
        a.done(&["doctor", "--repair"]);
        let is_gone = |text: &str| !text.contains("postgres") && text != "Update the vault.";
        let stored = a.stored();
        assert!(stored.iter().all(|text| is_gone(text)), "{style} {mark}: {stored:?}");
        assert!(stored.contains(&"Keep the aspect ratio.".to_owned()), "{style} {mark}: {stored:?}");
    }
}

/// Lessons that say almost the same are not merged by a repair.
#[test]
fn lessons_in_quarantine_come_back_as_they_were() {
    let [a, _] = team(&[(DOCS, "Run just docs.")]);
    for solution in ["Use the csv module for them.", "Use the csv module for it."] {
        a.done(&["learn", "--trigger", CSV, "--solution", solution, "--dedup", "off"]);
    }
    let before = a.stored();
    a.git(&["checkout", "-q", ".adage/skills_playbook.json"]);
    a.learn(PHOTOS, "Keep the aspect ratio.");
    assert_eq!(a.stored().len(), 2);
    a.done(&["doctor", "--repair"]);
    assert!(before.iter().all(|solution| a.stored().contains(solution)), "{:?}", a.stored());
    assert_eq!(a.stored().len(), 4);
}

#[test]
fn what_a_person_rewrote_in_the_file_before_a_forget_is_in_no_file_after_it() {
    let [a, _b] = team(&[(TESTS, "Start postgres.")]);
    a.learn(CSV, "Use the okapi module of the standard library.");
    a.edit_by_hand("Use the okapi module of the standard library.", "Use the csv module.");
    a.delete_by_hand("Start postgres.");
    a.done(&["remove", "--everywhere", CSV]);
    for file in ["archive.jsonl", "skills_playbook.json", "skills_playbook.json.bak", "playbook.log"] {
        let text = fs::read_to_string(a.clone.join(".adage").join(file)).unwrap_or_default();
        assert!(!text.contains("okapi"), "{file}: {text}");
    }
    // What else the person changed in the file is still recorded, and can be undone.
    let history = a.done(&["--json", "history"]);
    let is_back = |line: &str| {
        let change: Value = serde_json::from_str(line).unwrap();
        a.home.call(&a.clone, &["undo", change["id"].as_str().unwrap()]);
        a.solutions().contains(&"Start postgres.".to_owned())
    };
    assert!(history.lines().any(is_back), "{history}");
}

#[test]
fn a_lesson_that_is_learned_again_after_its_line_was_deleted_is_not_listed_as_removed() {
    let [a, _b] = team(&[(DOCS, "Run just docs.")]);
    a.learn(CSV, "Use the csv module.");
    a.delete_by_hand("Use the csv module.");
    a.learn(CSV, "Use the csv module.");
    assert!(a.solutions().contains(&"Use the csv module.".to_owned()));
    let file: Value = serde_json::from_str(&a.file("skills_playbook.json")).unwrap();
    assert_eq!(file["removed"].as_array().map_or(0, Vec::len), 0, "{file}");
    a.assert_in_order();
}
