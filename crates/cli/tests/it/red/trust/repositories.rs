//! Repositories in unusual states: the author of the rows must not decide whether git tracks a folder.

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::Path;

use super::checks::{attack, check};
use super::ground::{Ground, HOSTILE, MEMORY, OWN, TASK, TEAM, copy, write};
use super::program::Person;
use super::rows::{edit_rows, hostile_row, plant, put_skill};
use super::team::Team;

/// The user's trusted clone with a pulled row that waits, seen by `person`.
fn seen(change: impl Fn(&Ground, &Team) -> Person + 'static) -> impl Fn(&Ground) + 'static {
    move |ground| {
        let team = Team::trusted(ground);
        team.bring();
        let person = change(ground, &team);
        ground.is_silent(&person, &team.ours, "pulled");
    }
}

#[test]
fn rows_await_admission_whatever_the_git_environment_is() {
    let set = |variable: &'static str, value: fn(&Ground) -> String| {
        seen(move |ground, _| ground.user.with(variable, value(ground)))
    };
    check(&[
        attack("there is no git program", set("PATH", |ground| ground.folder("no-programs").display().to_string())),
        attack("there is no PATH", seen(|ground, _| ground.user.without("PATH"))),
        attack("the git program fails", set("PATH", |ground| fake_git(ground, "exit 1"))),
        attack("the git program says nothing", set("PATH", |ground| fake_git(ground, "exit 0"))),
        attack("GIT_DIR names an empty repository", set("GIT_DIR", |ground| empty_repository(ground) + "/.git")),
        attack("GIT_DIR names nothing", set("GIT_DIR", |_| "/nonexistent".to_owned())),
        attack("GIT_WORK_TREE names another folder", set("GIT_WORK_TREE", empty_repository)),
        attack(
            "both name another repository",
            seen(|ground, _| {
                let empty = empty_repository(ground);
                ground.user.with("GIT_DIR", format!("{empty}/.git")).with("GIT_WORK_TREE", empty)
            }),
        ),
        attack(
            "GIT_INDEX_FILE names an index that is empty",
            set("GIT_INDEX_FILE", |ground| ground.path("no-index").display().to_string()),
        ),
        attack(
            "GIT_CEILING_DIRECTORIES hides the repository",
            set("GIT_CEILING_DIRECTORIES", |ground| ground.path("ours").display().to_string()),
        ),
        attack("GIT_OBJECT_DIRECTORY names nothing", set("GIT_OBJECT_DIRECTORY", |_| "/nonexistent".to_owned())),
        attack(
            "GIT_ICASE_PATHSPECS and GIT_LITERAL_PATHSPECS change the question",
            seen(|ground, _| ground.user.with("GIT_LITERAL_PATHSPECS", "1").with("GIT_ICASE_PATHSPECS", "1")),
        ),
        attack(
            "a setting in the environment moves the work tree",
            seen(|ground, _| {
                let person = ground.user.with("GIT_CONFIG_COUNT", "1").with("GIT_CONFIG_KEY_0", "core.worktree");
                person.with("GIT_CONFIG_VALUE_0", ground.folder("elsewhere"))
            }),
        ),
        attack(
            "the call comes from a hook of another repository",
            seen(|ground, _| {
                let empty = empty_repository(ground);
                let person = ground.user.with("GIT_DIR", format!("{empty}/.git")).with("GIT_PREFIX", "");
                person.with("GIT_INDEX_FILE", format!("{empty}/.git/index"))
            }),
        ),
        attack(
            "the repository belongs to another account",
            seen(|ground, team| {
                // Git refuses to read it.
                let _ = chown(&team.ours, Some(4321), Some(4321));
                let _ = chown(team.ours.join(".git"), Some(4321), Some(4321));
                ground.user.with("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
            }),
        ),
    ]);
}

/// A folder with a `git` that is this script.
fn fake_git(ground: &Ground, script: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let folder = ground.folder("programs");
    write(&folder.join("git"), format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(folder.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    folder.display().to_string()
}

fn empty_repository(ground: &Ground) -> String {
    let empty = ground.folder("empty");
    ground.user.git(&empty, &["init", "-q"]);
    empty.display().to_string()
}

#[test]
fn rows_continue_to_await_admission_when_the_repository_changes() {
    let after = |change: fn(&Ground, &Path)| {
        seen(move |ground, team| {
            change(ground, &team.ours);
            ground.user.clone()
        })
    };
    check(&[
        attack(
            "the .git folder is moved away",
            after(|_, ours| fs::rename(ours.join(".git"), ours.join("../kept")).unwrap()),
        ),
        attack("the .git folder is moved away after a silent call", |ground| {
            let team = Team::trusted(ground);
            team.bring();
            ground.is_silent(&ground.user, &team.ours, "tracked");
            fs::rename(team.ours.join(".git"), ground.path("kept")).unwrap();
            ground.is_silent(&ground.user, &team.ours, "not tracked any more");
            ground.learns(&team.ours);
            ground.is_silent(&ground.user, &team.ours, "not tracked, and committed to");
        }),
        attack(
            "the files are taken from the index",
            after(|ground, ours| {
                ground.user.git(ours, &["rm", "-r", "-q", "--cached", MEMORY]);
            }),
        ),
        attack("the index is broken", after(|_, ours| write(&ours.join(".git/index"), "quagg"))),
        attack("the index is removed", after(|_, ours| fs::remove_file(ours.join(".git/index")).unwrap())),
        attack(
            "HEAD of the repository is removed, so that git sees none",
            after(|_, ours| {
                fs::remove_file(ours.join(".git/HEAD")).unwrap();
            }),
        ),
        attack(
            ".git is a file that leads nowhere",
            after(|_, ours| {
                fs::rename(ours.join(".git"), ours.join("../kept")).unwrap();
                write(&ours.join(".git"), "gitdir: /nonexistent\n");
            }),
        ),
        attack(
            "the files are marked as not to be looked at",
            after(|ground, ours| {
                ground.user.git(ours, &["update-index", "--skip-worktree", ".adage/skills_playbook.json"]);
                ground.user.git(ours, &["update-index", "--assume-unchanged", ".adage/skills_playbook.json"]);
            }),
        ),
        attack(
            "the memory has an ignore file that covers everything",
            after(|_, ours| write(&ours.join(".adage/.gitignore"), "*\n")),
        ),
        attack(
            "there is an ignore file that covers everything, and no git program",
            seen(|ground, team| {
                write(&team.ours.join(".adage/.gitignore"), "*\n");
                ground.user.with("PATH", ground.folder("no-programs"))
            }),
        ),
    ]);
}

#[test]
fn tracked_folders_are_recognised_in_every_layout() {
    check(&[
        attack("the memory is tracked in spite of the ignore file", |ground| {
            let team = Team::trusted(ground);
            write(&team.theirs.join(".gitignore"), ".adage/\n*.json\n");
            team.push_with(&["skills_playbook.json"]);
            team.bring();
            team.only_the_team_speaks("forced");
        }),
        attack("an own ignored folder is overwritten by a pull that tracks it", |ground| {
            let team = overwritten(ground);
            ground.is_silent(&ground.user, &team.ours, "overwritten by git");
        }),
        attack("the memory is a submodule", submodule),
        attack("a work tree beside the clone is used", |ground| {
            let team = Team::trusted(ground);
            ground.user.git(&team.ours, &["worktree", "add", "-q", "../tree", "-b", "tree"]);
            ground.is_unknown(&ground.user, &ground.path("tree"), "another path");
            ground.does(&ground.user, &ground.path("tree"), &["trust"]);
            edit_rows(&team.their_memory(), |rows| rows.insert(0, hostile_row()));
            team.push();
            team.pull_into(&ground.path("tree"));
            ground.speaks(&ground.user, &ground.path("tree"), TEAM, "the work tree");
            ground.is_silent(&ground.user, &ground.path("tree"), "the work tree");
        }),
        attack("the repository's data is in a folder elsewhere", |ground| {
            let team = Team::trusted(ground);
            team.remove_ours();
            let arguments =
                ["clone", "-q", "--separate-git-dir", "apart", team.upstream(), team.ours.to_str().unwrap()];
            ground.user.git(&ground.folder("."), &arguments);
            ground.does(&ground.user, &team.ours, &["trust"]);
            team.bring();
            team.only_the_team_speaks("separate");
        }),
        attack("the clone is inside a repository that ignores it", |ground| {
            let outer = ground.folder("outer");
            ground.user.git(&outer, &["init", "-q"]);
            write(&outer.join(".gitignore"), "*\n");
            let team = Team::cloned(ground, "outer/inner");
            ground.does(&ground.user, &team.ours, &["trust"]);
            team.bring();
            team.only_the_team_speaks("nested");
            ground.is_silent_in(&ground.user, &outer, &["--dir", "inner/.adage"], "from the outer one");
        }),
        attack("the call names the folder from outside the repository", |ground| {
            let team = Team::trusted(ground);
            team.bring();
            let memory = team.our_memory();
            ground.is_silent_in(&ground.user, Path::new("/"), &["--dir", memory.to_str().unwrap()], "from the root");
            symlink(&memory, ground.path("link")).unwrap();
            let link = ground.path("link").display().to_string();
            ground.is_silent_in(&ground.user, &ground.folder("elsewhere"), &["--dir", &link], "by a link");
        }),
        attack("the memory is the repository itself", |ground| {
            let (theirs, ours) = (ground.folder("theirs"), ground.path("ours"));
            let learn = ["--dir", ".adage", "learn", "--trigger", TASK, "--solution", "ask bongo before"];
            assert!(ground.other.adage(&theirs, &learn).is_done());
            let memory = theirs.join(MEMORY);
            ground.other.git(&memory, &["init", "-q"]);
            let commit = || {
                ground.other.git(&memory, &["add", "-f", "."]);
                ground.other.git(&memory, &["commit", "-q", "-m", "rows"]);
            };
            commit();
            ground.user.git(&ground.folder("ours"), &["clone", "-q", memory.to_str().unwrap(), MEMORY]);
            ground.does(&ground.user, &ours, &["trust"]);
            edit_rows(&memory, |rows| rows.insert(0, hostile_row()));
            commit();
            ground.user.git(&ours.join(MEMORY), &["fetch", "-q"]);
            ground.user.git(&ours.join(MEMORY), &["reset", "-q", "--hard", "origin/main"]);
            ground.speaks(&ground.user, &ours, TEAM, "the repository itself");
            ground.is_silent(&ground.user, &ours, "the repository itself");
        }),
        attack("the name of the memory is a pattern for git", |ground| {
            for name in [":(exclude)m", ":!m", "[m]", "m*", "-m", ":(top)", "--", "m\nn", "m\\n", "\"m\"", "mé"] {
                named(ground, name);
            }
        }),
        attack("the rows of an own folder change when it is put into a repository", |ground| {
            let own = ground.folder("own");
            ground.learns(&own);
            ground.user.git(&own, &["init", "-q"]);
            ground.user.git(&own, &["add", "-f", MEMORY]);
            ground.user.git(&own, &["commit", "-q", "-m", "share"]);
            ground.speaks(&ground.user, &own, OWN, "own rows after the first commit");
            edit_rows(&own.join(MEMORY), |rows| rows.insert(0, hostile_row()));
            ground.user.git(&own, &["commit", "-q", "-a", "-m", "as pulled"]);
            ground.speaks(&ground.user, &own, OWN, "own rows after a pull");
            ground.is_silent(&ground.user, &own, "as pulled");
        }),
    ]);
}

#[test]
fn a_folder_that_a_pull_has_overwritten_is_recognised_from_everywhere() {
    check(&[
        attack("the overwritten folder is seen without a git program", |ground| {
            let team = overwritten(ground);
            ground.is_silent(&ground.user.with("PATH", ground.folder("no-programs")), &team.ours, "without git");
        }),
        attack("the overwritten folder is seen with the settings of another repository", |ground| {
            let team = overwritten(ground);
            let empty = empty_repository(ground);
            let variables = [
                ("GIT_DIR", "/.git"),
                ("GIT_WORK_TREE", ""),
                ("GIT_INDEX_FILE", "/.git/none"),
                ("GIT_CEILING_DIRECTORIES", ""),
            ];
            for (variable, below) in variables {
                let person = ground.user.with(variable, format!("{empty}{below}"));
                ground.is_silent(&person, &team.ours, variable);
            }
            let hidden = ground.user.with("GIT_CEILING_DIRECTORIES", &team.ours);
            ground.is_silent(&hidden, &team.ours, "below the ceiling");
        }),
        attack("the overwritten folder is seen from outside the repository", |ground| {
            let team = overwritten(ground);
            let memory = team.our_memory();
            ground.is_silent_in(&ground.user, Path::new("/"), &["--dir", memory.to_str().unwrap()], "from outside");
        }),
        attack("the overwritten folder is in a repository of another account", |ground| {
            let team = overwritten(ground);
            let _ = chown(&team.ours, Some(4321), Some(4321));
            let _ = chown(team.ours.join(".git"), Some(4321), Some(4321));
            let person = ground.user.with("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1");
            ground.is_silent(&person, &team.ours, "of another account");
        }),
    ]);
}

/// A clone with an own, ignored memory of the user, whose playbook a pull has replaced: git treats ignored files as expendable.
fn overwritten(ground: &Ground) -> Team<'_> {
    let team = Team::cloned(ground, "ours");
    ground.other.git(&team.theirs, &["rm", "-r", "-q", "--cached", MEMORY]);
    fs::remove_dir_all(team.their_memory()).unwrap();
    team.push();
    team.pull();
    let _ = fs::remove_dir_all(team.our_memory());
    ground.learns(&team.ours);
    write(&team.our_memory().join(".gitignore"), "*\n");
    plant(&ground.other, &team.theirs);
    let _ = fs::remove_file(team.their_memory().join("id"));
    team.push();
    ground.user.git(&team.ours, &["pull", "-q", "--ff-only"]);
    team
}

/// A memory with another name, tracked and trusted, gets a row by git.
fn named(ground: &Ground, name: &str) {
    let clone = ground.folder(&format!("named-{}", name.escape_debug().to_string().replace(['/', '\\'], "_")));
    let memory = clone.join(name);
    let dir = format!("--dir={}", memory.display());
    plant(&ground.other, &clone);
    fs::rename(clone.join(MEMORY), &memory).unwrap();
    edit_rows(&memory, Vec::clear);
    fs::remove_dir_all(memory.join("skills")).unwrap();
    ground.user.git(&clone, &["init", "-q"]);
    ground.user.git(&clone, &["add", "-f", "."]);
    ground.user.git(&clone, &["commit", "-q", "-m", "before"]);
    let said = ground.user.adage(&clone, &[&dir, "trust"]);
    ground.claim(said.is_done(), format!("{name:?}: trust fails: {}", said.brief()));
    edit_rows(&memory, |rows| rows.insert(0, hostile_row()));
    ground.user.git(&clone, &["commit", "-q", "-a", "-m", "as pulled"]);
    let said = ground.user.adage(&clone, &[&dir, "context", TASK]);
    ground.claim(!said.says(HOSTILE), format!("{name:?} speaks: {}", said.brief()));
}

fn submodule(ground: &Ground) {
    let team = Team::cloned(ground, "ours");
    let memories = ground.folder("memories");
    copy(&team.their_memory(), &memories);
    ground.other.git(&memories, &["init", "-q"]);
    let commit = || {
        ground.other.git(&memories, &["add", "-f", "."]);
        ground.other.git(&memories, &["commit", "-q", "-m", "rows"]);
    };
    commit();
    let project = ground.folder("project");
    ground.user.git(&project, &["init", "-q"]);
    ground.user.git(&project, &["submodule", "--quiet", "add", "-f", memories.to_str().unwrap(), MEMORY]);
    ground.user.git(&project, &["commit", "-q", "-m", "memory"]);
    ground.is_unknown(&ground.user, &project, "a submodule");
    ground.does(&ground.user, &project, &["trust"]);
    edit_rows(&memories, |rows| rows.insert(0, hostile_row()));
    commit();
    ground.user.git(&project, &["submodule", "--quiet", "update", "--remote", "--force"]);
    ground.speaks(&ground.user, &project, TEAM, "a submodule");
    ground.is_silent(&ground.user, &project, "a submodule");
}

#[test]
fn a_part_of_the_memory_that_is_a_repository_is_tracked() {
    let nested = |part: &'static str| {
        move |ground: &Ground| {
            let ours = ground.folder("ours");
            ground.learns(&ours);
            let part = ours.join(MEMORY).join(part);
            let upstream = ground.folder("upstream");
            ground.other.git(&upstream, &["init", "-q"]);
            ground.other.git(&upstream, &["commit", "-q", "--allow-empty", "-m", "first"]);
            fs::create_dir_all(part.parent().unwrap()).unwrap();
            ground.user.git(&ours, &["clone", "-q", upstream.to_str().unwrap(), part.to_str().unwrap()]);
            ground.speaks(&ground.user, &ours, OWN, "before");
            let made = ground.folder("made");
            put_skill(&made, "docs", HOSTILE);
            copy(&made.join("skills/docs"), &upstream.join("docs"));
            copy(&made.join("skills/docs"), &upstream);
            ground.other.git(&upstream, &["add", "-A"]);
            ground.other.git(&upstream, &["commit", "-qm", "skill"]);
            ground.user.git(&part, &["pull", "-q"]);
            ground.is_silent(&ground.user, &ours, "pulled");
            ground.speaks(&ground.user, &ours, OWN, "after");
        }
    };
    check(&[
        attack("its skills", nested("skills")),
        attack("one skill", nested("skills/docs")),
        attack("a submodule, whose .git is a file", |ground| {
            let ours = ground.folder("ours");
            ground.learns(&ours);
            put_skill(&ours.join(MEMORY), "docs", HOSTILE);
            write(&ours.join(MEMORY).join("skills/.git"), "gitdir: ../../modules/skills\n");
            ground.is_silent(&ground.user, &ours, "submodule");
        }),
    ]);
}
