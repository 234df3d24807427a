//! A memory that a team commits to git, and the merges of its branches: nothing is lost, and nothing comes back.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::home::Home;

pub(super) const TESTS: &str = "running integration tests";
pub(super) const API_KEY: &str = "rotating the api key";
pub(super) const VERSION: &str = "bumping the version";
pub(super) const DOCS: &str = "deploying the docs";
pub(super) const PHOTOS: &str = "resizing the delivery photos";
pub(super) const CSV: &str = "parsing CSV exports";

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
            self.done(&["repair"]);
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

    pub(super) fn assert_in_order(&self) {
        let said = self.home.call(&self.clone, &["check"]);
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
    let [a, b] = team(&[(DOCS, "Run just docs."), (API_KEY, "Update the vault."), (TESTS, "Start postgres.")]);
    b.done(&["remove", TESTS]);
    let removal = b.done(&["--json", "history"]).lines().last().unwrap().to_owned();
    let removal: Value = serde_json::from_str(&removal).unwrap();
    b.push();
    a.edit(API_KEY, "Update the vault, revoke the old key.");
    a.commit();
    a.merge();
    let expected = ["Run just docs.", "Update the vault, revoke the old key."];
    assert_eq!((a.solutions(), a.stored()), (expected.map(str::to_owned).into(), expected.map(str::to_owned).into()));
    a.assert_in_order();
    assert!(a.done(&["repair"]).contains("nothing to repair"));
    b.merge();
    assert_eq!(b.solutions(), expected);
    b.assert_in_order();
    // The history has the changes of both, and a removal can be undone.
    assert_eq!(b.done(&["--json", "history"]).lines().count(), 2);
    b.done(&["undo", removal["id"].as_str().unwrap()]);
    assert_eq!(b.solutions().len(), 3);
    b.assert_in_order();
}

#[test]
fn an_edit_and_a_lesson_of_another_branch_leave_each_text_once() {
    let [a, b] = team(&[(DOCS, "Run just docs."), (VERSION, "Edit Cargo.toml.")]);
    b.learn(CSV, "Use the csv module.");
    b.push();
    a.edit(VERSION, "Edit Cargo.toml and the changelog.");
    a.commit();
    a.merge();
    let expected = ["Edit Cargo.toml and the changelog.", "Run just docs.", "Use the csv module."];
    assert_eq!((a.solutions(), a.stored()), (expected.map(str::to_owned).into(), expected.map(str::to_owned).into()));
    a.assert_in_order();
    a.edit(VERSION, "Edit three files.");
    a.push();
    b.merge();
    assert!(b.solutions().contains(&"Edit three files.".to_owned()) && b.solutions().len() == 3);
}

#[test]
fn only_the_playbook_file_of_two_branches_is_in_conflict() {
    let [a, b] = team(&[(DOCS, "Run just docs."), (VERSION, "Edit Cargo.toml.")]);
    for (member, trigger) in [(&a, PHOTOS), (&b, CSV)] {
        member.learn(trigger, "Look at it twice.");
        member.edit(DOCS, trigger);
        member.done(&["context", trigger]);
    }
    b.push();
    a.commit();
    assert!(!a.pull());
    let status = a.home.git_says(&a.clone, &["status", "--porcelain"]);
    let conflicts: Vec<&str> = status.lines().filter(|line| !line.starts_with(['M', 'A', ' '])).collect();
    assert_eq!(conflicts, ["UU .adage/skills_playbook.json"], "{status}");
    a.done(&["repair"]);
    a.push();
    a.done(&["trust"]);
    assert_eq!(a.solutions().len(), 5);
    a.assert_in_order();
    let tracked = a.home.git_says(&a.clone, &["ls-files", ".adage"]);
    let expected = [".gitattributes", ".gitignore", "archive.jsonl", "id", "skills_playbook.json"];
    assert_eq!(tracked.lines().collect::<Vec<_>>(), expected.map(|name| format!(".adage/{name}")));
}

/// Of a folder that an earlier version made, git tracks the log and the backup too, and a row has a line for each value.
#[test]
fn branches_that_an_earlier_version_wrote_are_merged_too() {
    let [a, b] = team(&[(DOCS, "Run just docs."), (VERSION, "Edit Cargo.toml."), (TESTS, "Start postgres.")]);
    let as_before = |member: &Member| {
        let memory = member.clone.join(".adage");
        fs::write(memory.join(".gitignore"), "lock\nmining.lock\nmining.json\n*.bin\n.adage-tmp-*\nquarantine/\n")
            .unwrap();
        let _ = fs::remove_file(memory.join(".gitattributes"));
        for name in ["skills_playbook.json", "skills_playbook.json.bak"] {
            if memory.join(name).exists() {
                let file: Value = serde_json::from_str(&member.file(name)).unwrap();
                fs::write(memory.join(name), serde_json::to_string_pretty(&file).unwrap()).unwrap();
            }
        }
    };
    as_before(&a);
    a.push();
    b.pull();
    b.done(&["remove", TESTS]);
    b.learn(CSV, "Use the csv module.");
    as_before(&b);
    b.push();
    a.edit(VERSION, "Edit Cargo.toml and the changelog.");
    as_before(&a);
    a.commit();
    assert!(!a.pull());
    assert!(a.file("archive.jsonl").contains("<<<<<<<"));
    assert!(a.home.call(&a.clone, &["check"]).out.contains("archive: it has the marks of a merge"));
    let said = a.home.done(&a.clone, &["repair"]);
    assert!(
        said.out.contains("3 lessons of both branches, 1 of which waits") && said.err.contains("git add"),
        "{}{}",
        said.out,
        said.err
    );
    assert!(!said.err.contains("broken"), "{}", said.err);
    a.push();
    a.done(&["trust"]);
    let expected = ["Edit Cargo.toml and the changelog.", "Run just docs.", "Use the csv module."];
    assert_eq!((a.solutions(), a.stored()), (expected.map(str::to_owned).into(), expected.map(str::to_owned).into()));
    a.assert_in_order();
    b.merge();
    assert_eq!(b.solutions(), expected);
    b.assert_in_order();
    assert_eq!(b.done(&["--json", "history"]).lines().count(), 2);
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
    assert!(a.done(&["repair", "--dry-run"]).contains("the archive would be without the marks of a merge"));
    assert!(a.done(&["repair"]).contains("the archive is without the marks of a merge"));
    assert!(!a.file("archive.jsonl").contains("<<<<<<<"));
    a.assert_in_order();
    assert_eq!(a.done(&["--json", "history"]).lines().count(), 2);
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
    a.done(&["repair"]);
    assert!(before.iter().all(|solution| a.stored().contains(solution)), "{:?}", a.stored());
    assert_eq!(a.stored().len(), 4);
}

/// The id of the lesson with this solution.
pub(super) fn id_of(member: &Member, solution: &str) -> String {
    let rows = member.done(&["--json", "list", "--limit", "1000"]);
    let row =
        rows.lines().map(|row| serde_json::from_str::<Value>(row).unwrap()).find(|row| row["solution"] == solution);
    row.unwrap()["id"].as_str().unwrap().to_owned()
}
