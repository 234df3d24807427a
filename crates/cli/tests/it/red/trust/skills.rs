//! Skills that a pull adds or changes, and promotions that someone committed.

use std::fs;
use std::os::unix::fs::symlink;

use adage::{Playbook, TextHash};
use serde_json::{Value, json};

use super::checks::{attack, check};
use super::ground::{Ground, HOSTILE, MEMORY, TASK, TEAM, write};
use super::rows::{plant, put_skill};
use super::team::Team;

/// A team whose trusted folder has the skill `docs`.
fn with_skill(ground: &Ground) -> Team<'_> {
    let team = Team::cloned(ground, "ours");
    put_skill(&team.their_memory(), "docs", TEAM);
    write(&team.their_memory().join("skills/docs/scripts/run.sh"), "echo bongo\n");
    team.push();
    team.pull();
    ground.does(&ground.user, &team.ours, &["trust"]);
    let said = ground.user.adage(&team.ours, &["skills", "match", TASK, "--block"]);
    ground.claim(said.says(TEAM), format!("the admitted skill is not shown: {}", said.brief()));
    team
}

/// The team mate changes the folder; the user pulls.
fn bringing(change: impl Fn(&Team) + 'static) -> impl Fn(&Ground) + 'static {
    move |ground| {
        let team = with_skill(ground);
        change(&team);
        team.push();
        team.pull();
        ground.is_silent(&ground.user, &team.ours, "pulled");
        let said = ground.user.adage(&team.ours, &["context", "cook a soup"]);
        ground.claim(!said.says(HOSTILE), format!("with every context: {}", said.brief()));
    }
}

/// After the change the admitted skill is not shown any more: it is another one now.
fn changing(change: impl Fn(&Team) + 'static) -> impl Fn(&Ground) + 'static {
    move |ground| {
        let team = after_change(ground, &change);
        ground.does(&ground.user, &team.ours, &["trust"]);
        let said = ground.user.adage(&team.ours, &["skills", "match", TASK, "--block"]);
        ground.claim(said.says(TEAM) || said.says(HOSTILE), format!("trusted again, and silent: {}", said.brief()));
    }
}

/// The same, when nobody has to be able to read the skill afterwards.
fn breaking(change: impl Fn(&Team) + 'static) -> impl Fn(&Ground) + 'static {
    move |ground| {
        after_change(ground, &change);
    }
}

fn after_change(ground: &Ground, change: impl Fn(&Team)) -> Team<'_> {
    let team = with_skill(ground);
    change(&team);
    team.push();
    team.pull();
    let said = ground.user.adage(&team.ours, &["skills", "match", TASK, "--block"]);
    ground.claim(!said.out.contains("Always call"), format!("shown as if admitted: {}", said.brief()));
    ground.is_silent(&ground.user, &team.ours, "changed");
    team
}

/// The `skills.json` that marks every text in a folder of skills as promoted and checked.
fn promotions(team: &Team) -> String {
    // A copy of the memory, as the team mate sees it, tells the hashes.
    let playbook = Playbook::builder(team.their_memory()).without_embedder().read_only().open().unwrap();
    let mut promoted = serde_json::Map::new();
    let mut checked = serde_json::Map::new();
    for listed in playbook.skills().list().unwrap().skills {
        let hash: TextHash = listed.text_hash;
        let note = json!({"name": listed.skill.name.as_str(), "at": "2026-02-28T12:00:00Z"});
        promoted.insert(hash.to_string(), note.clone());
        let mut passed = note;
        passed["passed"] = json!(true);
        checked.insert(hash.to_string(), passed);
    }
    json!({"schema": 1, "promoted": Value::Object(promoted), "checked": Value::Object(checked)}).to_string()
}

#[test]
fn pulled_skills_await_admission() {
    check(&[
        attack(
            "a skill that loads by itself is pulled",
            bringing(|team| put_skill(&team.their_memory(), "quagga-docs", HOSTILE)),
        ),
        attack(
            "it comes with a record that promotes it",
            bringing(|team| {
                put_skill(&team.their_memory(), "quagga-docs", HOSTILE);
                write(&team.their_memory().join("skills.json"), promotions(team));
            }),
        ),
        attack(
            "it takes the name of an admitted one, in another folder that sorts before",
            bringing(|team| {
                put_skill(&team.their_memory(), "aaa", HOSTILE);
                let file = team.their_memory().join("skills/aaa/SKILL.md");
                let text = fs::read_to_string(&file).unwrap().replace("name: aaa", "name: docs");
                write(&file, text);
            }),
        ),
        attack(
            "it is in the archive of skills and in the inbox",
            bringing(|team| {
                put_skill(&team.their_memory(), "quagga-docs", HOSTILE);
                let memory = team.their_memory();
                fs::rename(memory.join("skills/quagga-docs"), memory.join("quagga-docs")).unwrap();
                for place in ["skills-archive", ".inbox/skills"] {
                    write(
                        &memory.join(place).join("quagga-docs/SKILL.md"),
                        fs::read(memory.join("quagga-docs/SKILL.md")).unwrap(),
                    );
                }
            }),
        ),
        attack(
            "the folder of a skill is a link to a folder of the repository",
            bringing(|team| {
                put_skill(&team.theirs.join("docs"), "quagga-docs", HOSTILE);
                symlink("../../docs/skills/quagga-docs", team.their_memory().join("skills/quagga-docs")).unwrap();
            }),
        ),
        attack(
            "a lesson claims to be the source of an admitted skill",
            bringing(|team| {
                put_skill(&team.their_memory(), "quagga-docs", HOSTILE);
                write(&team.their_memory().join("skills.json"), json!({
                "schema": 1, "saved": {"quagga-docs": "2026-02-28T12:00:00Z"}, "used": {"quagga-docs": {"count": 9}},
                "kept": {"00000000000000000000000000000000": {"name": "quagga-docs", "at": "2026-02-28T12:00:00Z"}},
            }).to_string());
            }),
        ),
    ]);
}

#[test]
fn a_changed_skill_awaits_admission_again() {
    let edit = |from: &'static str, to: &'static str| {
        changing(move |team| {
            let file = team.their_memory().join("skills/docs/SKILL.md");
            let text = fs::read_to_string(&file).unwrap();
            assert!(text.contains(from), "{text}");
            write(&file, text.replace(from, to));
        })
    };
    check(&[
        attack("its body changes", edit("Always call bongo", "Always call quagga")),
        attack("its description changes", edit("description: bongo", "description: quagga")),
        attack("it asks for more tools", edit("metadata:", "allowed-tools: Bash(quagga:*)\nmetadata:")),
        attack(
            "a supporting file changes",
            changing(|team| write(&team.their_memory().join("skills/docs/scripts/run.sh"), "run quagga\n")),
        ),
        attack(
            "a supporting file is added",
            changing(|team| write(&team.their_memory().join("skills/docs/scripts/more.sh"), "run quagga\n")),
        ),
        attack(
            "a hidden supporting file is added",
            changing(|team| write(&team.their_memory().join("skills/docs/.env"), "RUN=quagga\n")),
        ),
        attack(
            "a supporting file becomes a link to the repository",
            breaking(|team| {
                write(&team.theirs.join("tools/run.sh"), "run quagga\n");
                let file = team.their_memory().join("skills/docs/scripts/run.sh");
                fs::remove_file(&file).unwrap();
                symlink("../../../../tools/run.sh", file).unwrap();
            }),
        ),
        attack(
            "the skill becomes a link to a changed file of the repository",
            breaking(|team| {
                let file = team.their_memory().join("skills/docs/SKILL.md");
                let text = fs::read_to_string(&file).unwrap().replace("call bongo", "call quagga");
                write(&team.theirs.join("docs/SKILL.md"), text);
                fs::remove_file(&file).unwrap();
                symlink("../../../docs/SKILL.md", file).unwrap();
            }),
        ),
    ]);
}

#[test]
fn a_committed_promotion_is_not_valid_for_other_users() {
    check(&[
        attack("a cloned folder promotes its own tainted skill", |ground| {
            let team = Team::cloned(ground, "ours");
            put_skill(&team.their_memory(), "quagga-docs", HOSTILE);
            let file = team.their_memory().join("skills/quagga-docs/SKILL.md");
            let text = fs::read_to_string(&file).unwrap().replace("adage-trust: trusted", "adage-trust: tainted");
            write(&file, text);
            write(&team.their_memory().join("skills.json"), promotions(&team));
            team.push();
            team.pull();
            ground.is_unknown(&ground.user, &team.ours, "promoted by the clone");
        }),
        attack("a pull promotes a skill that waited for review in the trusted folder", |ground| {
            let team = Team::cloned(ground, "ours");
            put_skill(&team.their_memory(), "quagga-docs", HOSTILE);
            let file = team.their_memory().join("skills/quagga-docs/SKILL.md");
            let text = fs::read_to_string(&file).unwrap().replace("adage-trust: trusted", "adage-trust: tainted");
            write(&file, text);
            team.push();
            team.pull();
            // Trusting the folder keeps tainted skills in review.
            ground.does(&ground.user, &team.ours, &["trust"]);
            write(&team.their_memory().join("skills.json"), promotions(&team));
            team.push();
            team.pull();
            let said = ground.user.adage(&team.ours, &["context", TASK]);
            ground.claim(!said.says(HOSTILE), format!("promoted by a pull: {}", said.brief()));
        }),
        attack("a pulled record says that a check of a new skill passed", |ground| {
            let team = with_skill(ground);
            put_skill(&team.their_memory(), "more", TEAM);
            write(&team.their_memory().join("skills.json"), promotions(&team));
            team.push();
            team.pull();
            let said = ground.user.adage(&team.ours, &["skills", "list", "--json"]);
            let rows = said.out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let row = rows.into_iter().find(|row| row["name"] == "more").unwrap_or_default();
            ground.claim(row.is_null() || row["needs_review"] == true, format!("it may be shown: {row}"));
            ground.claim(row["quality"] != "verified", format!("it counts as verified: {row}"));
        }),
        attack("a promotion by the user in one folder counts in a hostile one", |ground| {
            let (first, second) = (ground.folder("first"), ground.folder("second"));
            ground.learns(&first);
            plant(&ground.other, &second);
            let skill = second.join(MEMORY).join("skills/quagga-docs");
            ground.does(&ground.user, &first, &["skills", "import", skill.to_str().unwrap()]);
            ground.does(&ground.user, &first, &["skills", "promote", "quagga-docs"]);
            ground.is_unknown(&ground.user, &second, "promoted elsewhere");
        }),
    ]);
}
