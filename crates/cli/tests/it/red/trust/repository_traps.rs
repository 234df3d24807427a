//! What a repository has to run a program, or to make one wait, when adage reads it.

use std::fs;
use std::path::Path;

use super::checks::{attack, check};
use super::ground::{Ground, HOSTILE, TASK, write};
use super::rows::{plant, put_skill};
use super::team::Team;

/// Settings by which git runs a program of the repository's choice.
const RUNS_A_PROGRAM: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = \"touch CANARY;false\"\n\
    \tpager = \"touch CANARY\"\n\teditor = \"touch CANARY\"\n\thooksPath = HOOKS\n\
    [alias]\n\tls-files = \"!touch CANARY\"\n[filter \"f\"]\n\tclean = \"touch CANARY\"\n\tprocess = \"touch CANARY\"\n";

#[test]
fn reading_a_repository_runs_none_of_its_programs() {
    let settings = |ground: &Ground, more: &str| {
        let canary = ground.path("canary").display().to_string();
        format!("{}{more}", RUNS_A_PROGRAM.replace("CANARY", &canary).replace("HOOKS", "hooks"))
    };
    let look = |ground: &Ground, project: &Path| {
        for arguments in [
            &["context", TASK] as &[&str],
            &["list"],
            &["trust", "--show"],
            &["trust"],
            &["context", TASK],
            &["doctor"],
        ] {
            ground.user.adage(project, arguments);
        }
        ground.user.adage(project, &["learn", "--trigger", "zip a folder", "--solution", "call okapi"]);
        ground.claim(!ground.path("canary").exists(), "a program of the repository was run");
    };
    check(&[
        attack("an unpacked repository has settings that run a program", move |ground| {
            let hostile = ground.folder("hostile");
            plant(&ground.other, &hostile);
            ground.other.git(&hostile, &["init", "-q"]);
            write(&hostile.join(".gitattributes"), "* filter=f\n");
            ground.other.git(&hostile, &["add", "-f", "."]);
            write(&hostile.join(".git/config"), settings(ground, ""));
            look(ground, &hostile);
        }),
        attack("the memory of a clone looks like a bare repository with such settings", move |ground| {
            let team = Team::cloned(ground, "ours");
            let memory = team.their_memory();
            write(&memory.join("HEAD"), "ref: refs/heads/main\n");
            write(&memory.join("objects/keep"), "");
            write(&memory.join("refs/keep"), "");
            let work_tree = format!("\n[core]\n\tworktree = {}\n", team.our_memory().display());
            write(&memory.join("config"), settings(ground, &work_tree));
            put_skill(&memory, "quagga-docs", HOSTILE);
            team.push();
            team.pull();
            look(ground, &team.ours);
        }),
        attack("a pull makes the memory look like a repository of its own, and rows come with it", move |ground| {
            let team = Team::trusted(ground);
            let memory = team.their_memory();
            write(&memory.join("HEAD"), "ref: refs/heads/main\n");
            write(&memory.join("objects/keep"), "");
            write(&memory.join("refs/keep"), "");
            write(&memory.join("config"), "[core]\n\trepositoryformatversion = 0\n\tbare = true\n");
            team.bring();
            ground.is_silent(&ground.user, &team.ours, "a bare repository inside");
        }),
    ]);
}

#[test]
fn no_part_of_a_repository_is_waited_for() {
    let fifo = |path: &Path| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    let calls: [&[&str]; 4] = [&["context", TASK], &["list"], &["trust", "--show"], &["hook", "prompt"]];
    let table = [".git", ".hg", ".git/index", ".git/HEAD"].map(|name| {
        attack(format!("{name} is a pipe"), move |ground| {
            let ours = ground.folder("ours");
            ground.learns(&ours);
            fifo(&ours.join(name));
            for call in calls {
                let input = format!("{{\"session_id\": \"s\", \"prompt\": \"a b\", \"cwd\": {ours:?}}}");
                let said = ground.user.adage_reads(&ours, call, &input);
                ground.claim(said.code.is_some(), format!("{call:?} hangs"));
            }
        })
    });
    check(&table);
}
