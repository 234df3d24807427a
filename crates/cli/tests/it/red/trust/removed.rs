//! Texts that the user removed, forgot or replaced, and that a pull puts back.

use std::fs;

use serde_json::{Value, json};

use super::checks::{attack, check};
use super::ground::{Ground, HOSTILE, MEMORY, OWN, TASK};
use super::rows::{edit_rows, put_playbook, put_skill};
use super::team::Team;

/// How the user gets rid of a text.
const WAYS: [(&str, &[&str]); 3] = [
    ("removes", &["remove", TASK]),
    ("forgets", &["remove", "--everywhere", TASK, "--yes"]),
    ("edits", &["edit", TASK, "--solution", "call okapi first", "--mistake", "okapi was forgotten"]),
];

/// The user has admitted a lesson of the team mate, and then got rid of it.
fn rid_of<'a>(ground: &'a Ground, way: &[&str]) -> (Team<'a>, Value) {
    let team = Team::trusted(ground);
    team.bring();
    ground.does(&ground.user, &team.ours, &["trust"]);
    ground.speaks(&ground.user, &team.ours, HOSTILE, "admitted");
    let row = rows(&team)[0].clone();
    ground.does(&ground.user, &team.ours, way);
    team.share_ours();
    (team, row)
}

fn rows(team: &Team<'_>) -> Vec<Value> {
    let file: Value =
        serde_json::from_slice(&fs::read(team.our_memory().join("skills_playbook.json")).unwrap()).unwrap();
    file["lessons"].as_array().unwrap().clone()
}

/// The team mate changes the whole playbook file, and the user pulls it.
fn puts_back(team: &Team<'_>, change: impl FnOnce(&mut Value)) {
    let path = team.their_memory().join("skills_playbook.json");
    let mut file: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut file);
    put_playbook(&team.their_memory(), &file);
    team.push();
    team.pull();
}

fn add(file: &mut Value, row: Value) {
    file["lessons"].as_array_mut().unwrap().insert(0, row);
}

/// The row waits, and the review says why; `adage trust` lets it in again.
fn waits_until_trusted(ground: &Ground, team: &Team<'_>, case: &str) {
    let (user, ours) = (&ground.user, team.ours.as_path());
    let listed = user.adage(ours, &["list", "--limit", "1000"]);
    ground.claim(!listed.says(HOSTILE), format!("{case}: it is listed: {}", listed.brief()));
    let context = user.adage(ours, &["context", TASK, "--limit", "50"]);
    ground.claim(!context.says(HOSTILE), format!("{case}: it is shown: {}", context.brief()));
    let shown = user.adage(ours, &["trust", "--show"]);
    let is_named = shown.says(HOSTILE) && shown.says("removed or replaced here before");
    ground.claim(is_named, format!("{case}: the review does not say so: {}", shown.brief()));
    ground.does(user, ours, &["trust"]);
    ground.speaks(user, ours, HOSTILE, &format!("{case}, trusted again"));
}

#[test]
fn what_the_user_got_rid_of_does_not_come_back_by_a_pull() {
    let mut attacks = Vec::new();
    for (name, way) in WAYS {
        attacks.push(attack(format!("the user {name} it; the same row is put back"), move |ground| {
            let (team, row) = rid_of(ground, way);
            puts_back(&team, |file| add(file, row));
            waits_until_trusted(ground, &team, name);
        }));
        attacks.push(attack(format!("the user {name} it; the row comes with another id"), move |ground| {
            let (team, mut row) = rid_of(ground, way);
            row["id"] = json!("019c0000-0000-7000-8000-000000000077");
            puts_back(&team, |file| add(file, row));
            waits_until_trusted(ground, &team, name);
        }));
        attacks.push(attack(format!("the user {name} it; the row comes back and the removal goes"), move |ground| {
            let (team, row) = rid_of(ground, way);
            puts_back(&team, |file| {
                file["removed"] = json!([]);
                add(file, row);
            });
            ground.is_silent(&ground.user, &team.ours, name);
        }));
        attacks.push(attack(format!("the user {name} it; the file of that time is put back"), move |ground| {
            let team = Team::trusted(ground);
            team.bring();
            ground.does(&ground.user, &team.ours, &["trust"]);
            let path = team.our_memory().join("skills_playbook.json");
            let before = fs::read(&path).unwrap();
            ground.does(&ground.user, &team.ours, way);
            team.share_ours();
            fs::write(team.their_memory().join("skills_playbook.json"), before).unwrap();
            team.push();
            team.pull();
            ground.is_silent(&ground.user, &team.ours, name);
        }));
    }
    attacks.push(attack("the user's own lesson is removed, and put back", |ground| {
        let team = Team::trusted(ground);
        ground.learns(&team.ours);
        let row = rows(&team).into_iter().find(|row| row.to_string().contains(OWN)).unwrap();
        ground.does(&ground.user, &team.ours, &["remove", TASK]);
        team.share_ours();
        puts_back(&team, |file| {
            file["removed"] = json!([]);
            add(file, row);
        });
        let listed = ground.user.adage(&team.ours, &["list", "--limit", "1000"]);
        ground.claim(!listed.says(OWN), format!("it is back: {}", listed.brief()));
    }));
    attacks.push(attack("another admitted row has the same advice", |ground| {
        let team = Team::trusted(ground);
        team.bring_rows(|rows| {
            let mut twin = super::rows::hostile_row();
            twin["id"] = json!("019c0000-0000-7000-8000-000000000088");
            twin["source"] = json!("import");
            rows.insert(0, super::rows::hostile_row());
            rows.insert(0, twin);
        });
        ground.does(&ground.user, &team.ours, &["trust"]);
        let twins: Vec<Value> = rows(&team).into_iter().filter(|row| row.to_string().contains(HOSTILE)).collect();
        for twin in &twins {
            ground.does(&ground.user, &team.ours, &["remove", "--everywhere", twin["id"].as_str().unwrap(), "--yes"]);
        }
        team.share_ours();
        puts_back(&team, |file| {
            file["removed"] = json!([]);
            for twin in twins {
                add(file, twin);
            }
        });
        ground.is_silent(&ground.user, &team.ours, "twins");
    }));
    check(&attacks);
}

#[test]
fn an_honest_user_gets_a_removed_lesson_back() {
    check(&[
        attack("by undo", |ground| {
            let team = Team::trusted(ground);
            ground.learns(&team.ours);
            let removed = ground.does(&ground.user, &team.ours, &["remove", TASK, "--json"]);
            let change: Value = serde_json::from_str(removed.out.lines().next().unwrap()).unwrap();
            ground.does(&ground.user, &team.ours, &["undo", change["change"].as_str().unwrap()]);
            ground.speaks(&ground.user, &team.ours, OWN, "undone");
        }),
        attack("by learning it again", |ground| {
            let team = Team::trusted(ground);
            ground.learns(&team.ours);
            ground.does(&ground.user, &team.ours, &["remove", "--everywhere", TASK, "--yes"]);
            ground.learns(&team.ours);
            ground.speaks(&ground.user, &team.ours, OWN, "learned again");
            edit_rows(&team.our_memory(), |rows| rows[0]["frequency"] = json!(9));
            ground.speaks(&ground.user, &team.ours, OWN, "read again from the file");
        }),
        attack("a lesson that was edited is still shown, with its new text", |ground| {
            let team = Team::trusted(ground);
            ground.learns(&team.ours);
            ground.does(&ground.user, &team.ours, &["edit", TASK, "--solution", "call okapi twice"]);
            edit_rows(&team.our_memory(), |rows| rows[0]["frequency"] = json!(9));
            ground.speaks(&ground.user, &team.ours, "okapi twice", "edited");
        }),
    ]);
}

#[test]
fn a_withdrawn_skill_stays_withdrawn() {
    let matched = |ground: &Ground, team: &Team<'_>| ground.user.adage(&team.ours, &["context", TASK]).says(HOSTILE);
    check(&[
        attack("it was admitted with the folder; its folder is deleted, and comes back by a pull", move |ground| {
            let team = Team::cloned(ground, "ours");
            put_skill(&team.their_memory(), "quagga-docs", HOSTILE);
            team.push();
            team.pull();
            ground.does(&ground.user, &team.ours, &["trust"]);
            ground.claim(matched(ground, &team), "the admitted skill is not shown");
            ground.does(&ground.user, &team.ours, &["skills", "withdraw", "quagga-docs"]);
            ground.is_silent(&ground.user, &team.ours, "withdrawn");
            let folder = team.our_memory().join("skills/quagga-docs");
            let text = fs::read(folder.join("SKILL.md")).unwrap();
            fs::remove_dir_all(&folder).unwrap();
            ground.does(&ground.user, &team.ours, &["list"]);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("SKILL.md"), text).unwrap();
            ground.is_silent(&ground.user, &team.ours, "back again");
            ground.does(&ground.user, &team.ours, &["skills", "promote", "quagga-docs"]);
            ground.claim(matched(ground, &team), "a new promotion does not hold");
        }),
        attack("it is the user's own, in a private folder", move |ground| {
            let project = ground.folder("project");
            ground.learns(&project);
            put_skill(&project.join(MEMORY), "quagga-docs", HOSTILE);
            ground.speaks(&ground.user, &project, HOSTILE, "before");
            ground.does(&ground.user, &project, &["skills", "withdraw", "quagga-docs"]);
            ground.is_silent(&ground.user, &project, "withdrawn");
        }),
    ]);
}

/// The user gets rid of an admitted text as `act` does, and the team mate puts its row back in two ways.
fn put_back_after(ground: &Ground, act: impl Fn(&Team<'_>)) {
    let team = Team::trusted(ground);
    team.bring();
    ground.does(&ground.user, &team.ours, &["trust"]);
    ground.speaks(&ground.user, &team.ours, HOSTILE, "admitted");
    let row = rows(&team).into_iter().find(|row| row.to_string().contains(HOSTILE)).unwrap();
    act(&team);
    ground.is_silent(&ground.user, &team.ours, "gone");
    team.share_ours();
    for id in [row["id"].clone(), json!("019c0000-0000-7000-8000-000000000077")] {
        let mut row = row.clone();
        row["id"] = id;
        puts_back(&team, |file| {
            file["removed"] = json!([]);
            file["lessons"].as_array_mut().unwrap().retain(|known| known["id"] != row["id"]);
            add(file, row);
        });
        ground.is_silent(&ground.user, &team.ours, "put back");
    }
    waits_until_trusted(ground, &team, "put back");
}

#[test]
fn what_is_removed_while_all_folders_are_trusted_stays_removed() {
    let attacks: Vec<_> = WAYS
        .into_iter()
        .flat_map(|(name, way)| {
            [("ADAGE_TRUST=all", true), ("--trust", false)].map(|(how, by_environment)| {
                attack(format!("the user {name} it under {how}"), move |ground| {
                    put_back_after(ground, |team| {
                        let all = ground.user.with("ADAGE_TRUST", "all");
                        let person = if by_environment { &all } else { &ground.user };
                        let options: &[&str] = if by_environment { &[] } else { &["--trust"] };
                        ground.does(person, &team.ours, &[options, way].concat());
                    });
                })
            })
        })
        .chain([
            attack("a skill is withdrawn, and another fails its check", |ground| {
                let team = Team::trusted(ground);
                for name in ["quagga-docs", "quagga-more"] {
                    put_skill(&team.their_memory(), name, HOSTILE);
                }
                team.push();
                team.pull();
                ground.does(&ground.user, &team.ours, &["trust"]);
                ground.speaks(&ground.user, &team.ours, HOSTILE, "admitted");
                let all = ground.user.with("ADAGE_TRUST", "all");
                ground.does(&all, &team.ours, &["skills", "withdraw", "quagga-docs"]);
                ground.does(&all, &team.ours, &["skills", "verify", "quagga-more", "failed"]);
                ground.is_silent(&ground.user, &team.ours, "withdrawn and failed");
            }),
            attack("what the user learns so is the user's own later", |ground| {
                let team = Team::trusted(ground);
                let all = ground.user.with("ADAGE_TRUST", "all");
                ground.does(&all, &team.ours, &["learn", "--trigger", TASK, "--solution", "call okapi first"]);
                ground.speaks(&ground.user, &team.ours, OWN, "learned under ADAGE_TRUST=all");
            }),
        ])
        .collect();
    check(&attacks);
}
