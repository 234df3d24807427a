//! A memory that a team commits to git, and the merges of its branches: nothing is lost, and nothing comes back.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::home::Home;

const TESTS: &str = "running integration tests";
const API_KEY: &str = "rotating the api key";
const VERSION: &str = "bumping the version";
const DOCS: &str = "deploying the docs";
const PHOTOS: &str = "resizing the delivery photos";
const CSV: &str = "parsing CSV exports";

/// A member of a team: a user with a home folder of their own, and their clone.
struct Member {
    home: Home,
    clone: PathBuf,
}

impl Member {
    fn done(&self, arguments: &[&str]) -> String {
        self.home.done(&self.clone, arguments).out
    }

    fn learn(&self, trigger: &str, solution: &str) {
        self.home.learn(&self.clone, trigger, solution, &[]);
    }

    fn edit(&self, trigger: &str, solution: &str) {
        self.done(&["edit", trigger, "--solution", solution]);
    }

    fn git(&self, arguments: &[&str]) {
        self.home.git(&self.clone, arguments);
    }

    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "work"]);
    }

    fn push(&self) {
        self.commit();
        self.git(&["push", "-q"]);
    }

    /// False if the merge ended in conflicts.
    fn pull(&self) -> bool {
        self.home.try_git(&self.clone, &["pull", "-q", "--no-rebase", "--no-edit"])
    }

    /// Pulls, and resolves the conflicts as the documentation says.
    fn merge(&self) {
        if !self.pull() {
            self.done(&["repair"]);
        }
        self.push();
        self.done(&["trust"]);
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.clone.join(".adage").join(name)).unwrap()
    }

    /// The solutions of all lessons that are in use.
    fn solutions(&self) -> Vec<String> {
        let rows = self.done(&["--json", "list", "--limit", "1000"]);
        let rows = rows.lines().map(|row| serde_json::from_str::<Value>(row).unwrap());
        let mut solutions: Vec<String> = rows.map(|row| row["solution"].as_str().unwrap().to_owned()).collect();
        solutions.sort();
        solutions
    }

    /// The solutions that the playbook file has, whether they are in use or not.
    fn stored(&self) -> Vec<String> {
        let file: Value = serde_json::from_str(&self.file("skills_playbook.json")).unwrap();
        let rows = file["lessons"].as_array().unwrap().iter();
        let mut solutions: Vec<String> = rows.map(|row| row["solution"].as_str().unwrap().to_owned()).collect();
        solutions.sort();
        solutions
    }

    fn assert_in_order(&self) {
        let said = self.home.call(&self.clone, &["check"]);
        assert!(said.code == 0 && said.out.contains("in order"), "{}{}", said.out, said.err);
    }
}

/// Two members with clones of a repository that has a shared memory with these lessons.
fn team(lessons: &[(&str, &str)]) -> [Member; 2] {
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
    assert!(said.out.contains("2 lessons") && said.err.contains("git add"), "{}{}", said.out, said.err);
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

/// Random changes on two branches, against sets: after each merge both clones have what neither branch removed.
#[test]
fn random_branches_merge_into_what_neither_side_removed() {
    for seed in 0..6 {
        let dice = &mut Dice(seed);
        let mut words = Words::default();
        let base: Vec<String> = (0..5).map(|_| words.next()).collect();
        let lessons: Vec<(&str, &str)> = base.iter().map(|word| (word.as_str(), word.as_str())).collect();
        let members = team(&lessons);
        let mut expected: BTreeSet<String> = base.iter().cloned().collect();
        for _ in 0..3 {
            let before = expected.clone();
            for member in &members {
                let after = change_at_random(member, before.clone(), &mut words, dice);
                // What this branch has removed or replaced, and what it has added.
                expected.retain(|text| !before.contains(text) || after.contains(text));
                expected.extend(after.into_iter().filter(|text| !before.contains(text)));
            }
            let [a, b] = &members;
            a.push();
            b.commit();
            b.merge();
            a.merge();
            for member in &members {
                let found = (member.solutions(), member.stored());
                let expected: Vec<String> = expected.iter().cloned().collect();
                assert_eq!(found, (expected.clone(), expected), "seed {seed}");
                member.assert_in_order();
            }
        }
    }
}

/// Some changes of a branch that begins with these texts. Returns what it has then.
fn change_at_random(
    member: &Member,
    mut texts: BTreeSet<String>,
    words: &mut Words,
    dice: &mut Dice,
) -> BTreeSet<String> {
    for _ in 0..=dice.roll(3) {
        let known = texts.iter().nth(dice.roll(texts.len().max(1))).cloned();
        match (dice.roll(4), known) {
            (0, Some(text)) => {
                member.done(&["remove", &trigger_of(member, &text)]);
                texts.remove(&text);
            }
            (1, Some(text)) => {
                let new = words.next();
                member.edit(&trigger_of(member, &text), &new);
                texts.remove(&text);
                texts.insert(new);
            }
            (2, Some(text)) => drop(member.done(&["context", &text])),
            _ => {
                let new = words.next();
                member.learn(&new, &new);
                texts.insert(new);
            }
        }
    }
    texts
}

/// The id of the lesson with this solution.
fn trigger_of(member: &Member, solution: &str) -> String {
    let rows = member.done(&["--json", "list", "--limit", "1000"]);
    let row =
        rows.lines().map(|row| serde_json::from_str::<Value>(row).unwrap()).find(|row| row["solution"] == solution);
    row.unwrap()["id"].as_str().unwrap().to_owned()
}

/// The same numbers for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, n_sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n_sides
    }
}

/// Texts that have no word in common.
#[derive(Default)]
struct Words(usize);

impl Words {
    fn next(&mut self) -> String {
        self.0 += 1;
        let syllables = ["ba", "ke", "di", "fo", "gu", "la", "me", "ni", "po", "ru"];
        let word = |mut number: usize| {
            let mut word = String::new();
            for _ in 0..4 {
                word.push_str(syllables[number % 10]);
                number /= 10;
            }
            word
        };
        (0..4).map(|place| word(self.0 * 4 + place)).collect::<Vec<_>>().join(" ")
    }
}
