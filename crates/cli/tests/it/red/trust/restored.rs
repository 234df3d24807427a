//! Backups that somebody else made or changed: their hashes can be computed by anybody.

use std::fs;
use std::path::{Path, PathBuf};

use adage::TextHash;
use serde_json::{Value, json};

use super::checks::{attack, check};
use super::ground::{Ground, HOSTILE, MEMORY, OWN, TASK, TEAM, copy, write};
use super::rows::{edit_rows, hostile_row, plant, playbook, put_playbook, put_skill};
use super::team::Team;

/// The user's own memory, and a backup of it.
fn backed_up(ground: &Ground) -> (PathBuf, PathBuf) {
    let (ours, backup) = (ground.folder("ours"), ground.path("backup"));
    ground.learns(&ours);
    put_skill(&ours.join(MEMORY), "mine", OWN);
    ground.does(&ground.user, &ours, &["backup", backup.to_str().unwrap()]);
    (ours, backup)
}

/// Makes the list of a backup's files fit to what is there, as anybody can.
fn list_again(backup: &Path, change: impl FnOnce(&mut Value)) {
    let path = backup.join("backup.json");
    let mut record: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    for file in record["files"].as_array_mut().unwrap() {
        let bytes = fs::read(backup.join(file["path"].as_str().unwrap())).unwrap();
        file["hash"] = json!(TextHash::of(&[&bytes]));
    }
    change(&mut record);
    write(&path, record.to_string());
}

/// A memory of somebody else with the hostile row and a skill. A trigger is named in the history of an import.
fn plant_here(ground: &Ground, theirs: &Path) {
    plant(&ground.other, theirs);
    edit_rows(&theirs.join(MEMORY), |rows| rows.truncate(1));
}

fn waits(ground: &Ground, ours: &Path, backup: &Path, case: &str) {
    let said = ground.user.adage(ours, &["restore", backup.to_str().unwrap()]);
    ground.claim(said.is_done() && said.says("await review"), format!("{case}: it does not say so: {}", said.brief()));
    ground.is_silent(&ground.user, ours, case);
    let said = ground.user.adage(ours, &["review", "--json"]);
    ground.claim(said.says(HOSTILE), format!("{case}: nothing awaits review: {}", said.brief()));
}

#[test]
fn only_a_backup_that_this_user_sealed_is_believed() {
    let changed = |change: fn(&Path)| {
        move |ground: &Ground| {
            let (ours, backup) = backed_up(ground);
            change(&backup);
            waits(ground, &ours, &backup, "changed");
            ground.speaks(&ground.user, &ours, OWN, "the memory keeps its own");
        }
    };
    check(&[
        attack("a backup of another user, into a memory that is there", |ground| {
            let (ours, theirs) = (ground.folder("ours"), ground.folder("theirs"));
            ground.learns(&ours);
            plant_here(ground, &theirs);
            let backup = ground.path("backup");
            ground.does(&ground.other, &theirs, &["backup", backup.to_str().unwrap()]);
            waits(ground, &ours, &backup, "foreign");
            ground.speaks(&ground.user, &ours, OWN, "the memory keeps its own");
        }),
        attack("a backup of another user, into a new memory, by a user without a key", |ground| {
            let theirs = ground.folder("theirs");
            plant_here(ground, &theirs);
            let backup = ground.path("backup");
            ground.does(&ground.other, &theirs, &["backup", backup.to_str().unwrap()]);
            waits(ground, &ground.folder("new"), &backup, "new");
        }),
        attack(
            "the user's own, with a row added and hashes that fit",
            changed(|backup| {
                edit_rows(backup, |rows| rows.insert(0, hostile_row()));
                list_again(backup, |_| {});
            }),
        ),
        attack(
            "the same without its seal",
            changed(|backup| {
                edit_rows(backup, |rows| rows.insert(0, hostile_row()));
                list_again(backup, |record| drop(record.as_object_mut().unwrap().remove("seal")));
            }),
        ),
        attack(
            "the user's own, with a changed skill, settings and promotions",
            changed(|backup| {
                put_skill(backup, "docs", HOSTILE);
                edit_rows(backup, |rows| rows.insert(0, hostile_row()));
                write(&backup.join("config.toml"), "[retention]\ncapacity = 1\n");
                list_again(backup, |record| {
                    for path in ["skills/docs/SKILL.md", "config.toml"] {
                        let hash = TextHash::of(&[&fs::read(backup.join(path)).unwrap()]);
                        record["files"].as_array_mut().unwrap().push(json!({"path": path, "hash": hash}));
                    }
                });
            }),
        ),
        attack("an honest backup comes back, here and elsewhere", |ground| {
            let (ours, backup) = backed_up(ground);
            ground.does(&ground.user, &ours, &["remove", TASK]);
            let elsewhere = ground.folder("elsewhere");
            ground.does(&ground.user, &elsewhere, &["restore", backup.to_str().unwrap()]);
            ground.speaks(&ground.user, &elsewhere, OWN, "restored elsewhere");
            let moved = ground.path("moved");
            copy(&backup, &moved);
            let new = ground.folder("another");
            ground.does(&ground.user, &new, &["restore", moved.to_str().unwrap()]);
            ground.speaks(&ground.user, &new, OWN, "a copy of the backup");
        }),
    ]);
}

#[test]
fn the_users_own_backup_gives_back_no_more_than_was_admitted() {
    check(&[attack("a row and a skill that a pull brought waited when the backup was made", |ground| {
        let team = Team::trusted(ground);
        put_skill(&team.their_memory(), "quagga-docs", HOSTILE);
        team.bring();
        team.only_the_team_speaks("pulled");
        let backup = ground.path("backup");
        ground.does(&ground.user, &team.ours, &["backup", backup.to_str().unwrap()]);
        let new = ground.folder("new");
        ground.does(&ground.user, &new, &["restore", backup.to_str().unwrap()]);
        ground.is_silent(&ground.user, &new, "restored elsewhere");
        ground.speaks(&ground.user, &new, TEAM, "what was admitted comes back");
        let shown = ground.user.adage(&new, &["trust", "--show"]);
        ground.claim(shown.says(HOSTILE), format!("it is lost: {}", shown.brief()));
        ground.does(&ground.user, &team.ours, &["restore", backup.to_str().unwrap()]);
        team.only_the_team_speaks("restored in place");
    })]);
}

/// The user's own lesson is not committed, and a pull replaces the file; a repair takes the lesson back, and nothing of the pull.
fn repaired(ground: &Ground, before: impl Fn(&Team<'_>), after: impl Fn(&Team<'_>)) {
    let team = Team::trusted(ground);
    before(&team);
    ground.does(&ground.user, &team.ours, &["learn", "--trigger", "zip a folder", "--solution", "call okapi first"]);
    team.bring();
    after(&team);
    let said = ground.does(&ground.user, &team.ours, &["doctor", "--repair", "--dry-run"]);
    ground.claim(said.says("zip a folder"), format!("it is not found: {}", said.brief()));
    ground.does(&ground.user, &team.ours, &["doctor", "--repair"]);
    let listed = ground.does(&ground.user, &team.ours, &["list"]);
    ground.claim(listed.out.contains("zip a folder"), format!("it is lost: {}", listed.brief()));
    team.only_the_team_speaks("repaired");
    let said = ground.does(&ground.user, &team.ours, &["doctor", "--repair"]);
    ground.claim(said.says("nothing to repair"), format!("it is taken back twice: {}", said.brief()));
    // Removed by a command, it does not come back.
    ground.does(&ground.user, &team.ours, &["remove", "zip a folder"]);
    ground.does(&ground.user, &team.ours, &["doctor", "--repair"]);
    let listed = ground.does(&ground.user, &team.ours, &["list"]);
    ground.claim(!listed.out.contains("zip a folder"), format!("it is back: {}", listed.brief()));
}

#[test]
fn a_repair_takes_back_what_a_pull_left_out() {
    let learn = |ground: &Ground, team: &Team<'_>, trigger: &str| {
        ground.does(&ground.user, &team.ours, &["learn", "--trigger", trigger, "--solution", "on Mondays"]);
    };
    check(&[
        attack("right after the pull", |ground| repaired(ground, |_| {}, |_| {})),
        attack("after another lesson was learned", move |ground| {
            repaired(ground, |_| {}, |team| learn(ground, team, "water the plants"));
        }),
        attack("after two pulls", move |ground| {
            repaired(
                ground,
                |team| learn(ground, team, "feed the cat"),
                |team| {
                    team.bring_rows(|rows| rows.push(super::rows::row(24, "paint the wall", "twice")));
                },
            );
        }),
    ]);
}

#[test]
fn a_pulled_file_with_fewer_lessons_leaves_the_others_to_a_repair() {
    check(&[attack("its generation is far ahead, and the user learns a lesson", |ground| {
        let team = Team::trusted(ground);
        let own = ["learn", "--trigger", "zip a folder", "--solution", "call okapi first"];
        ground.does(&ground.user, &team.ours, &own);
        // The team tracks the log too, so that only the backup is left, and it has what was there before the last commit.
        let newest = ["learn", "--trigger", "water the plants", "--solution", "on Mondays"];
        ground.does(&ground.user, &team.ours, &newest);
        let mut file = playbook(&[hostile_row()]);
        file["generation"] = json!(1_000_000_000);
        put_playbook(&team.their_memory(), &file);
        team.push();
        team.pull();
        let other = ["learn", "--trigger", "another topic", "--solution", "wait for it"];
        ground.does(&ground.user, &team.ours, &other);
        ground.is_silent(&ground.user, &team.ours, "replaced");
        ground.does(&ground.user, &team.ours, &["doctor", "--repair"]);
        let listed = ground.does(&ground.user, &team.ours, &["list"]);
        ground.claim(listed.out.contains("zip a folder"), format!("it is lost: {}", listed.brief()));
        ground.is_silent(&ground.user, &team.ours, "repaired");
    })]);
}
