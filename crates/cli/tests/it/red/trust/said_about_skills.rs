//! What a user decided about a skill: neither a pull, a blanket `trust`, a restore nor an undo turns it over.

use std::fs;

use serde_json::json;

use super::checks::{attack, check};
use super::ground::{Ground, HOSTILE, MEMORY, TASK, write};
use super::program::Said;
use super::rows::{hostile_row, put_skill, row};
use super::team::Team;

const SKILL: &str = "quagga-docs";

/// Whether the skill reaches a prompt.
fn is_shown(ground: &Ground, team: &Team<'_>) -> bool {
    let ways: [&[&str]; 2] = [&["context", TASK], &["skills", "match", TASK, "--block"]];
    ways.iter().any(|way| ground.user.adage(&team.ours, way).says(HOSTILE))
}

/// The team mate's skill, which the user has promoted.
fn promoted(ground: &Ground) -> Team<'_> {
    let team = Team::trusted(ground);
    bring_skill(&team);
    ground.does(&ground.user, &team.ours, &["skills", "promote", SKILL]);
    ground.claim(is_shown(ground, &team), "the promoted skill is not shown");
    team
}

fn bring_skill(team: &Team<'_>) {
    put_skill(&team.their_memory(), SKILL, HOSTILE);
    team.push();
    team.pull();
}

fn withdrawn(ground: &Ground) -> Team<'_> {
    let team = promoted(ground);
    ground.does(&ground.user, &team.ours, &["skills", "withdraw", SKILL]);
    ground.is_silent(&ground.user, &team.ours, "withdrawn");
    team
}

/// It stays out, the review says why, and a promotion of exactly this skill lets it in.
fn only_a_promotion_lifts_it(ground: &Ground, team: &Team<'_>, case: &str) {
    ground.is_silent(&ground.user, &team.ours, case);
    let shown = ground.user.adage(&team.ours, &["trust", "--show"]);
    let is_named = shown.says(SKILL) && shown.says("withdrawn");
    ground.claim(is_named, format!("{case}: the review does not say so: {}", shown.brief()));
    ground.does(&ground.user, &team.ours, &["skills", "promote", SKILL]);
    ground.claim(is_shown(ground, team), format!("{case}: a new promotion does not hold"));
}

#[test]
fn only_a_promotion_lifts_a_withdrawal() {
    let names_it = |ground: &Ground, said: &Said| {
        ground.claim(said.says(SKILL) && said.says("withdrawn"), format!("trust is silent: {}", said.brief()));
    };
    check(&[
        attack("a new lesson of the team is trusted", move |ground| {
            let team = withdrawn(ground);
            team.bring_rows(|rows| rows.insert(0, row(23, "water the plants", "on Mondays")));
            names_it(ground, &ground.does(&ground.user, &team.ours, &["trust"]));
            only_a_promotion_lifts_it(ground, &team, "trusted");
        }),
        attack("it is deleted, comes back by a pull, and the folder is trusted twice", move |ground| {
            let team = withdrawn(ground);
            fs::remove_dir_all(team.their_memory().join("skills")).unwrap();
            team.push();
            team.pull();
            ground.does(&ground.user, &team.ours, &["trust"]);
            bring_skill(&team);
            names_it(ground, &ground.does(&ground.user, &team.ours, &["trust"]));
            ground.does(&ground.user, &team.ours, &["trust"]);
            only_a_promotion_lifts_it(ground, &team, "trusted twice");
        }),
        attack("a single lesson is admitted", |ground| {
            let team = withdrawn(ground);
            let new = row(23, "water the plants", "on Mondays");
            let id = new["id"].as_str().unwrap().to_owned();
            team.bring_rows(|rows| rows.insert(0, new));
            ground.does(&ground.user, &team.ours, &["trust", &id]);
            only_a_promotion_lifts_it(ground, &team, "one admitted");
        }),
        attack("a backup of the time before is restored", |ground| {
            let team = promoted(ground);
            let backup = ground.path("backup");
            ground.does(&ground.user, &team.ours, &["backup", backup.to_str().unwrap()]);
            ground.does(&ground.user, &team.ours, &["skills", "withdraw", SKILL]);
            ground.does(&ground.user, &team.ours, &["restore", backup.to_str().unwrap()]);
            only_a_promotion_lifts_it(ground, &team, "restored");
        }),
        attack("the same backup, after a second withdrawal", |ground| {
            let team = withdrawn(ground);
            ground.does(&ground.user, &team.ours, &["skills", "promote", SKILL]);
            let backup = ground.path("backup");
            ground.does(&ground.user, &team.ours, &["backup", backup.to_str().unwrap()]);
            ground.does(&ground.user, &team.ours, &["skills", "withdraw", SKILL]);
            fs::remove_dir_all(team.our_memory().join("skills")).unwrap();
            ground.does(&ground.user, &team.ours, &["restore", backup.to_str().unwrap()]);
            only_a_promotion_lifts_it(ground, &team, "restored");
        }),
        attack("an agent proposes it again, and all proposals are applied", |ground| {
            let team = withdrawn(ground);
            let file = team.our_memory().join("skills").join(SKILL).join("SKILL.md");
            let text = fs::read(&file).unwrap();
            fs::remove_dir_all(file.parent().unwrap()).unwrap();
            write(&team.our_memory().join(".inbox/skills").join(SKILL).join("SKILL.md"), text);
            ground.does(&ground.user, &team.ours, &["review", "apply", "--all"]);
            ground.claim(file.exists(), "the proposal was not applied");
            only_a_promotion_lifts_it(ground, &team, "applied again");
        }),
        attack("in a private folder, by trust and by a restore", move |ground| {
            let project = ground.folder("project");
            ground.learns(&project);
            put_skill(&project.join(MEMORY), SKILL, HOSTILE);
            let backup = ground.path("backup");
            ground.does(&ground.user, &project, &["backup", backup.to_str().unwrap()]);
            ground.does(&ground.user, &project, &["skills", "withdraw", SKILL]);
            names_it(ground, &ground.does(&ground.user, &project, &["trust"]));
            ground.is_silent(&ground.user, &project, "trusted");
            ground.does(&ground.user, &project, &["restore", backup.to_str().unwrap()]);
            ground.is_silent(&ground.user, &project, "restored");
            let shown = ground.user.adage(&project, &["trust", "--show"]);
            ground.claim(shown.says(SKILL) && shown.says("withdrawn"), format!("silent: {}", shown.brief()));
        }),
    ]);
}

#[test]
fn a_restore_does_not_lift_the_removal_of_a_lesson() {
    check(&[attack("removed, an older backup restored, and the row comes with another id", |ground| {
        let team = Team::trusted(ground);
        team.bring();
        ground.does(&ground.user, &team.ours, &["trust"]);
        let backup = ground.path("backup");
        ground.does(&ground.user, &team.ours, &["backup", backup.to_str().unwrap()]);
        ground.does(&ground.user, &team.ours, &["remove", TASK]);
        ground.does(&ground.user, &team.ours, &["restore", backup.to_str().unwrap()]);
        ground.is_silent(&ground.user, &team.ours, "restored");
        team.share_ours();
        let path = team.their_memory().join("skills_playbook.json");
        let mut file: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        file["removed"] = json!([]);
        let mut again = hostile_row();
        again["id"] = json!("019c0000-0000-7000-8000-000000000077");
        file["lessons"].as_array_mut().unwrap().insert(0, again);
        super::rows::put_playbook(&team.their_memory(), &file);
        team.push();
        team.pull();
        ground.is_silent(&ground.user, &team.ours, "put back");
    })]);
}

/// The user applies proposed skills, and undoes that.
fn applies_and_undoes(ground: &Ground, team: &Team<'_>, promotes: &[&str]) {
    let texts: Vec<_> = [SKILL, "quagga-more"]
        .map(|name| {
            put_skill(&team.our_memory().join(".inbox"), name, HOSTILE);
            let file = team.our_memory().join(".inbox/skills").join(name).join("SKILL.md");
            (name, fs::read(file).unwrap())
        })
        .into();
    let applied = ground.does(&ground.user, &team.ours, &["review", "apply", "--all", "--json"]);
    for name in promotes {
        ground.does(&ground.user, &team.ours, &["skills", "promote", name]);
    }
    ground.claim(is_shown(ground, team), "what was applied is not shown");
    let change = applied.out.lines().find_map(|line| {
        let object: serde_json::Value = serde_json::from_str(line).unwrap();
        object["change"].as_str().map(str::to_owned)
    });
    ground.does(&ground.user, &team.ours, &["review", "undo", &change.unwrap()]);
    ground.is_silent(&ground.user, &team.ours, "undone");
    team.share_ours();
    for (name, text) in texts {
        write(&team.their_memory().join("skills").join(name).join("SKILL.md"), text);
    }
}

#[test]
fn an_undo_ends_what_it_had_admitted() {
    check(&[
        attack("applied skills are undone, and pushed by a team mate", |ground| {
            let team = Team::trusted(ground);
            applies_and_undoes(ground, &team, &[]);
            team.push();
            team.pull();
            ground.is_silent(&ground.user, &team.ours, "pushed");
            let shown = ground.user.adage(&team.ours, &["trust", "--show"]);
            ground.claim(shown.says(HOSTILE), format!("it does not wait: {}", shown.brief()));
            ground.does(&ground.user, &team.ours, &["trust"]);
            ground.claim(is_shown(ground, &team), "trusted again, and silent");
        }),
        attack("one of them was promoted in between", |ground| {
            let team = Team::trusted(ground);
            applies_and_undoes(ground, &team, &[SKILL]);
            team.push();
            team.pull();
            ground.is_silent(&ground.user, &team.ours, "pushed");
        }),
        attack("an honest user applies again what was undone", |ground| {
            let team = Team::trusted(ground);
            applies_and_undoes(ground, &team, &[]);
            ground.does(&ground.user, &team.ours, &["review", "apply", "--all"]);
            ground.claim(is_shown(ground, &team), "applied again, and silent");
        }),
    ]);
}

#[test]
fn a_pull_does_not_turn_over_a_failed_check() {
    let brings = |record: fn(&str) -> serde_json::Value| {
        move |ground: &Ground| {
            let team = promoted(ground);
            let checked = ground.does(&ground.user, &team.ours, &["skills", "verify", SKILL, "failed", "--json"]);
            ground.is_silent(&ground.user, &team.ours, "failed");
            team.share_ours();
            let row: serde_json::Value = serde_json::from_str(checked.out.lines().next().unwrap()).unwrap();
            write(&team.their_memory().join("skills.json"), record(row["text_hash"].as_str().unwrap()).to_string());
            team.push_with(&["skills.json"]);
            team.pull();
            ground.is_silent(&ground.user, &team.ours, "pulled");
            ground.does(&ground.user, &team.ours, &["trust"]);
            ground.is_silent(&ground.user, &team.ours, "trusted");
            ground.does(&ground.user, &team.ours, &["skills", "verify", SKILL, "passed"]);
            ground.claim(is_shown(ground, &team), "passed, and not shown");
        }
    };
    check(&[
        attack("an empty record", brings(|_| json!({}))),
        attack("a record of a newer kind without checks", brings(|_| json!({"schema": 1, "checked": {}, "more": 1}))),
        attack(
            "a record that says that it passed",
            brings(|hash| {
                let at = "2026-03-02T12:00:00Z";
                json!({"schema": 1, "checked": {hash: {"name": SKILL, "at": at, "passed": true}}})
            }),
        ),
        attack("a failed check of the team mate does not hide what the user lets in", |ground| {
            let team = promoted(ground);
            let listed = ground.does(&ground.user, &team.ours, &["skills", "show", SKILL, "--json"]);
            let row: serde_json::Value = serde_json::from_str(listed.out.lines().next().unwrap()).unwrap();
            let hash = row["text_hash"].as_str().unwrap();
            let checked = json!({hash: {"name": SKILL, "at": "2026-03-02T12:00:00Z", "passed": false}});
            write(&team.their_memory().join("skills.json"), json!({"schema": 1, "checked": checked}).to_string());
            team.push_with(&["skills.json"]);
            team.pull();
            ground.claim(is_shown(ground, &team), "hidden by a pull");
        }),
    ]);
}
