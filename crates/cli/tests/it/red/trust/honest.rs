//! Ordinary use that must keep working, so that refusing everything is not a defence.

use std::fs;

use super::checks::{attack, check};
use super::ground::{HOSTILE, MEMORY, OWN, TASK, TEAM};
use super::rows::plant;
use super::team::Team;

#[test]
fn ordinary_use_works_as_before() {
    check(&[
        attack("the own folder works from the first learn, without a question", |ground| {
            let own = ground.folder("own");
            ground.learns(&own);
            ground.speaks(&ground.user, &own, OWN, "own");
            let said = ground.user.adage(&own, &["context", TASK]);
            ground.claim(!said.err.contains("adage trust"), format!("a question: {}", said.brief()));
        }),
        attack("the home itself may be the project", |ground| {
            let home = ground.user.home.clone();
            ground.learns(&home);
            ground.speaks(&ground.user, &home, OWN, "in the home");
            ground.speaks(
                &ground.user.without("XDG_STATE_HOME").with("ADAGE_TRUST", home.join(MEMORY)),
                &home,
                OWN,
                "listed",
            );
        }),
        attack("an empty folder is made by the first learn", |ground| {
            let own = ground.folder("own");
            fs::create_dir(own.join(MEMORY)).unwrap();
            ground.learns(&own);
            ground.speaks(&ground.user, &own, OWN, "empty before");
        }),
        attack("a folder that does not exist is asked about nothing", |ground| {
            let own = ground.folder("own");
            ground.user.git(&own, &["init", "-q"]);
            let said = ground.does(&ground.user, &own, &["context", TASK]);
            ground.claim(!said.err.contains("adage trust"), format!("a question: {}", said.brief()));
            ground.claim(!ground.path("own").join(MEMORY).exists(), "reading makes a folder");
        }),
        attack("init makes a folder that is known", |ground| {
            let own = ground.folder("own");
            ground.does(&ground.user, &own, &["init"]);
            ground.learns(&own);
            ground.speaks(&ground.user, &own, OWN, "after init");
        }),
        attack("an own shared folder in a repository works, before and after its commit", |ground| {
            let own = ground.folder("own");
            ground.user.git(&own, &["init", "-q"]);
            ground.does(&ground.user, &own, &["init", "--shared"]);
            ground.learns(&own);
            ground.speaks(&ground.user, &own, OWN, "before the commit");
            ground.user.git(&own, &["add", "-A", "."]);
            ground.user.git(&own, &["commit", "-q", "-m", "shared"]);
            let tracked = ground.user.git(&own, &["ls-files"]);
            ground
                .claim(tracked.contains("skills_playbook.json"), format!("init --shared is ignored by git: {tracked}"));
            ground.speaks(&ground.user, &own, OWN, "after the commit");
        }),
        attack("a new folder in a repository is not tracked by accident", |ground| {
            let own = ground.folder("own");
            ground.user.git(&own, &["init", "-q"]);
            ground.learns(&own);
            ground.user.git(&own, &["add", "-A", "."]);
            let tracked = ground.user.git(&own, &["ls-files"]);
            ground.claim(tracked.trim().is_empty(), format!("git add takes {tracked}"));
        }),
        attack("the own folder works without a git binary", |ground| {
            let own = ground.folder("own");
            ground.user.git(&own, &["init", "-q"]);
            let poor = ground.user.with("PATH", ground.folder("no-programs"));
            let arguments = ["learn", "--trigger", TASK, "--solution", "call okapi first"];
            ground.does(&poor, &own, &arguments);
            ground.speaks(&poor, &own, OWN, "without git");
            ground.speaks(&ground.user, &own, OWN, "with git again");
        }),
    ]);
}

#[test]
fn trusted_content_is_shown() {
    check(&[
        attack("after trust the team's folder speaks, and stays trusted", |ground| {
            let team = Team::trusted(ground);
            ground.speaks(&ground.user, &team.ours, TEAM, "trusted");
            ground.speaks(&ground.user, &team.ours, TEAM, "trusted still");
            let listed = ground.does(&ground.user, &team.ours, &["list"]);
            ground.claim(listed.out.contains(TASK), format!("not listed: {}", listed.brief()));
        }),
        attack("after trust, what arrived is there: the lesson and the skill", |ground| {
            let hostile = ground.folder("hostile");
            plant(&ground.other, &hostile);
            ground.does(&ground.user, &hostile, &["trust"]);
            ground.speaks(&ground.user, &hostile, HOSTILE, "trusted by the person");
            let skills = ground.does(&ground.user, &hostile, &["skills", "list"]);
            ground.claim(skills.out.contains("quagga-docs"), format!("no skill: {}", skills.brief()));
        }),
        attack("own learns in a tracked folder are shown at once, and after a pull", |ground| {
            let team = Team::trusted(ground);
            ground.learns(&team.ours);
            ground.speaks(&ground.user, &team.ours, OWN, "at once");
            ground.speaks(&ground.user, &team.ours, TEAM, "beside the team's");
            team.share_ours();
            team.bring();
            ground.speaks(&ground.user, &team.ours, OWN, "after a pull");
            ground.is_silent(&ground.user, &team.ours, "after a pull");
        }),
        attack("what the user trusts after a pull is shown", |ground| {
            let team = Team::trusted(ground);
            team.bring();
            ground.is_silent(&ground.user, &team.ours, "pulled");
            ground.does(&ground.user, &team.ours, &["trust"]);
            ground.speaks(&ground.user, &team.ours, HOSTILE, "trusted after the pull");
        }),
        attack("removing, undoing and verifying in a tracked folder work", |ground| {
            let team = Team::trusted(ground);
            ground.learns(&team.ours);
            let exported = ground.does(&ground.user, &team.ours, &["export"]);
            let row = exported.out.lines().find(|line| line.contains(OWN)).unwrap_or_default();
            let row: serde_json::Value = serde_json::from_str(row).unwrap_or_default();
            let id = row["id"].as_str().unwrap_or_default();
            ground.does(&ground.user, &team.ours, &["edit", id, "--verified", "yes"]);
            let removed = ground.does(&ground.user, &team.ours, &["remove", id, "--json"]);
            let change: serde_json::Value = serde_json::from_str(removed.out.trim()).unwrap_or_default();
            ground.does(&ground.user, &team.ours, &["undo", change["change"].as_str().unwrap_or_default()]);
            ground.speaks(&ground.user, &team.ours, OWN, "removed and restored");
        }),
        attack("--trust speaks for this call and no longer", |ground| {
            let hostile = ground.folder("hostile");
            plant(&ground.other, &hostile);
            let said = ground.does(&ground.user, &hostile, &["--trust", "context", TASK]);
            ground.claim(said.says(HOSTILE), format!("--trust does not speak: {}", said.brief()));
            ground.is_unknown(&ground.user, &hostile, "the next call");
        }),
    ]);
}
