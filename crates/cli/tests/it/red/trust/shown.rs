//! `adage trust --show` and `adage trust`: a person is shown everything that would be used, and decides on that.

use serde_json::json;

use super::checks::{attack, check};
use super::ground::{Ground, HOSTILE, MEMORY, OWN, TASK, TEAM, contents, write};
use super::program::Said;
use super::rows::{edit_rows, hostile_row, plant, row};
use super::team::Team;

/// What `trust --show` prints in a hostile folder, at a terminal that obeys sequences.
fn shown(ground: &Ground) -> Said {
    let person = ground.user.with("CLICOLOR_FORCE", "1").with("TERM", "xterm-256color");
    let said = person.adage(&ground.path("hostile"), &["trust", "--show"]);
    ground.claim(said.is_done(), format!("trust --show fails: {}", said.brief()));
    said
}

/// A hostile folder whose row has `word` in a field; the word has to be shown.
fn shows(field: &'static str, place: impl Fn(&str) -> serde_json::Value + 'static) -> impl Fn(&Ground) + 'static {
    move |ground| {
        let hostile = ground.folder("hostile");
        plant(&ground.other, &hostile);
        edit_rows(&hostile.join(MEMORY), |rows| rows[0][field] = place("tapirword"));
        let said = shown(ground);
        ground.claim(said.out.contains("tapirword"), format!("{field} is not shown: {}", said.brief()));
        ground.is_unknown(&ground.user, &hostile, "after --show");
    }
}

#[test]
fn everything_that_would_be_shown_is_shown_first() {
    let long = |word: &str| json!(format!("{}{word}", "step by step, ".repeat(80)));
    let mut attacks: Vec<_> =
        ["trigger", "mistake", "anti_pattern", "solution", "correct_pattern", "code_example", "task"]
            .into_iter()
            .map(|field| attack(format!("a lesson's {field}"), shows(field, |word| json!(word))))
            .collect();
    attacks.extend([
        attack("the end of a long pattern", shows("correct_pattern", long)),
        attack(
            "the last line of a pattern with many",
            shows("correct_pattern", |word| json!(format!("first{}{word}", "\n".repeat(200)))),
        ),
        attack(
            "the end of a line that a carriage return would overwrite",
            shows("correct_pattern", |word| json!(format!("{word}\rfine"))),
        ),
        attack("the domains", shows("domains", |word| json!([word]))),
        attack("an unknown key", shows("remark", |word| json!({"deep": [word]}))),
        attack(
            "an unknown key of its origin",
            shows("provenance", |word| json!({"origin": "hand", "trust": "trusted", "remark": {"deep": [word]}})),
        ),
        attack("an origin that nobody knows", shows("provenance", |word| json!({"origin": word}))),
        attack("a lesson that is only in quarantine, which a repair would take back", |ground| {
            let hostile = ground.folder("hostile");
            plant(&ground.other, &hostile);
            let kept = super::rows::playbook(&[row(9, "mop the docs", "tapirword first")]);
            let name = "quarantine/skills_playbook.00000000000000000000000000000000.json";
            write(&hostile.join(MEMORY).join(name), kept.to_string());
            let said = shown(ground);
            ground.claim(said.out.contains("tapirword"), format!("it is not shown: {}", said.brief()));
        }),
        attack("a lesson among three hundred", |ground| {
            let hostile = ground.folder("hostile");
            plant(&ground.other, &hostile);
            edit_rows(&hostile.join(MEMORY), |rows| {
                rows.extend((100..400).map(|n| row(n, &format!("tapirword{n} in the docs"), "read them")));
            });
            let said = shown(ground);
            let missing = (100..400).filter(|n| !said.out.contains(&format!("tapirword{n}"))).count();
            ground.claim(missing == 0, format!("{missing} of 300 lessons are not shown"));
        }),
        attack("a skill: name, description, body to its last line", |ground| {
            let hostile = ground.folder("hostile");
            plant(&ground.other, &hostile);
            let text = format!(
                "---\nname: tapirname\ndescription: tapirdescription\n---\n# A\n{}tapirend\n",
                "read on\n".repeat(300)
            );
            write(&hostile.join(MEMORY).join("skills/tapirname/SKILL.md"), text);
            let said = shown(ground);
            for word in ["tapirname", "tapirdescription", "tapirend"] {
                ground.claim(said.out.contains(word), format!("{word} is not shown: {}", said.brief()));
            }
        }),
        attack("the supporting files of a skill, at least by name", |ground| {
            let hostile = ground.folder("hostile");
            plant(&ground.other, &hostile);
            write(&hostile.join(MEMORY).join("skills/quagga-docs/scripts/tapirscript.sh"), "run quagga\n");
            let said = shown(ground);
            ground.claim(said.out.contains("tapirscript.sh"), format!("not shown: {}", said.brief()));
        }),
        attack("the folder's configuration, at least by name", |ground| {
            let hostile = ground.folder("hostile");
            plant(&ground.other, &hostile);
            write(&hostile.join(MEMORY).join("config.json"), "{\"retention\": {\"capacity\": 1}}");
            let said = shown(ground);
            ground.claim(
                said.out.contains("config.json") || said.out.contains("capacity"),
                format!("not shown: {}", said.brief()),
            );
        }),
        attack("in a tracked folder: what waits", |ground| {
            let team = Team::trusted(ground);
            team.bring();
            let said = ground.does(&ground.user, &team.ours, &["trust", "--show"]);
            ground.claim(said.says(HOSTILE), format!("what waits is not shown: {}", said.brief()));
            team.only_the_team_speaks("after --show");
        }),
        attack("--show with --json has it all too", |ground| {
            let hostile = ground.folder("hostile");
            plant(&ground.other, &hostile);
            let said = ground.does(&ground.user, &hostile, &["trust", "--show", "--json"]);
            ground.claim(said.out.contains("run quagga as root"), format!("not shown: {}", said.brief()));
            let is_json = said.out.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok());
            ground.claim(is_json, format!("not JSON lines: {}", said.brief()));
            ground.is_unknown(&ground.user, &hostile, "after --show --json");
        }),
        attack("--show changes neither the folder nor what is trusted", |ground| {
            let hostile = ground.folder("hostile");
            plant(&ground.other, &hostile);
            let before = contents(&hostile.join(MEMORY));
            shown(ground);
            ground.claim(contents(&hostile.join(MEMORY)) == before, "the folder was changed");
            ground.is_unknown(&ground.user, &hostile, "after --show");
        }),
    ]);
    check(&attacks);
}

#[test]
fn trust_of_single_rows_admits_no_others() {
    let with_two = |ground: &Ground, change: fn(&mut Vec<serde_json::Value>), id: &str| {
        let team = Team::trusted(ground);
        team.bring_rows(|rows| {
            rows.extend([hostile_row(), Team::second_row()]);
            change(rows);
        });
        let said = ground.user.adage(&team.ours, &["trust", id]);
        (team.ours.clone(), said)
    };
    let good = "019c0000-0000-7000-8000-000000000022";
    check(&[
        attack("one of two rows is trusted", move |ground| {
            let (ours, said) = with_two(ground, |_| (), good);
            ground.claim(said.is_done(), format!("trust ID fails: {}", said.brief()));
            let said = ground.user.adage(&ours, &["context", "publish the docs of a release"]);
            ground
                .claim(said.out.contains("tell bongo the version"), format!("the row is not shown: {}", said.brief()));
            ground.is_silent(&ground.user, &ours, "one of two");
        }),
        attack("the hostile row has the id of the one that is trusted", move |ground| {
            let (ours, _) = with_two(
                ground,
                |rows| rows.iter_mut().for_each(|row| row["id"] = json!("019c0000-0000-7000-8000-000000000022")),
                good,
            );
            ground.is_silent(&ground.user, &ours, "same id");
        }),
        attack("the trusted row changes with the next pull", move |ground| {
            let team = Team::trusted(ground);
            team.bring_rows(|rows| rows.push(Team::second_row()));
            ground.does(&ground.user, &team.ours, &["trust", good]);
            team.bring_rows(|rows| {
                let row = rows.iter_mut().find(|row| row["id"] == good).unwrap();
                row["correct_pattern"] = json!("tell quagga the version");
            });
            ground.is_silent(&ground.user, &team.ours, "changed later");
        }),
        attack("a row of an unknown folder is trusted: the folder is not", |ground| {
            let hostile = ground.folder("hostile");
            plant(&ground.other, &hostile);
            edit_rows(&hostile.join(MEMORY), |rows| rows.push(Team::second_row()));
            ground.user.adage(&hostile, &["trust", "019c0000-0000-7000-8000-000000000022"]);
            ground.is_silent(&ground.user, &hostile, "single row");
        }),
        attack("an id that does not exist, a prefix, a pattern, an option", |ground| {
            let team = Team::trusted(ground);
            team.bring();
            for id in ["019c", "*", "all", "", "019c0000-0000-7000-8000-000000000099", "deploy the docs", "../x"] {
                let said = ground.user.adage(&team.ours, &["trust", id]);
                ground.claim(!said.is_done(), format!("trust {id:?} does something: {}", said.brief()));
            }
            team.only_the_team_speaks("wrong ids");
        }),
        attack("a refused row stays out after trusting another folder", |ground| {
            let team = Team::trusted(ground);
            team.bring();
            let other = ground.folder("elsewhere");
            plant(&ground.other, &other);
            ground.learns(&ground.folder("own"));
            ground.does(&ground.user, &other, &["trust"]);
            let said = ground.user.adage(&team.ours, &["context", TASK]);
            ground.claim(said.out.contains(TEAM), format!("the team is silent: {}", said.brief()));
            let own = ground.user.adage(&ground.path("own"), &["context", TASK]);
            ground.claim(own.out.contains(OWN) && !own.says(HOSTILE), format!("the own folder: {}", own.brief()));
        }),
    ]);
}
