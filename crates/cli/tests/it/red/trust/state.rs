//! The user's state outside the folders, and how someone else might write to it or redirect it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::checks::{attack, check};
use super::ground::{Ground, HOSTILE, OWN, TASK, contents, copy};
use super::program::Person;
use super::rows::plant;

/// A hostile repository, and committed to it a state folder by which another account trusts exactly that path.
fn with_state_inside(ground: &Ground) -> PathBuf {
    let hostile = ground.folder("hostile");
    plant(&ground.other, &hostile);
    ground.does(&ground.other, &hostile, &["trust"]);
    if ground.other.state().exists() {
        for place in ["state/adage", ".local/state/adage", "adage"] {
            copy(&ground.other.state(), &hostile.join(place));
        }
    }
    ground.other.git(&hostile, &["init", "-q"]);
    ground.other.git(&hostile, &["add", "-A", "-f", "."]);
    ground.other.git(&hostile, &["commit", "-q", "-m", "all"]);
    hostile
}

/// The hostile project seen by a person with another environment.
fn seen(change: impl Fn(&Ground, &Path) -> Person + 'static) -> impl Fn(&Ground) + 'static {
    move |ground| {
        let hostile = with_state_inside(ground);
        let person = change(ground, &hostile);
        ground.is_silent(&person, &hostile, "state of another");
        let said = person.adage(&hostile, &["context", TASK]);
        ground.claim(said.out.is_empty(), format!("a context: {}", said.brief()));
    }
}

#[test]
fn a_state_written_by_others_is_not_trusted() {
    check(&[
        attack(
            "XDG_STATE_HOME is relative and the project has such a folder",
            seen(|ground, _| ground.user.with("XDG_STATE_HOME", "state")),
        ),
        attack(
            "XDG_STATE_HOME is relative with dots",
            seen(|ground, _| ground.user.with("XDG_STATE_HOME", "./state/../state")),
        ),
        attack("XDG_STATE_HOME is empty", seen(|ground, _| ground.user.with("XDG_STATE_HOME", ""))),
        attack("XDG_STATE_HOME is a dot", seen(|ground, _| ground.user.with("XDG_STATE_HOME", "."))),
        attack(
            "XDG_STATE_HOME is in the project",
            seen(|ground, hostile| ground.user.with("XDG_STATE_HOME", hostile.join("state"))),
        ),
        attack(
            "XDG_STATE_HOME leads into the project by a link",
            seen(|ground, hostile| {
                symlink(hostile.join("state"), ground.path("linked-state")).unwrap();
                ground.user.with("XDG_STATE_HOME", ground.path("linked-state"))
            }),
        ),
        attack(
            "HOME is relative and there is no XDG_STATE_HOME",
            seen(|ground, _| ground.user.without("XDG_STATE_HOME").with("HOME", ".")),
        ),
        attack(
            "HOME is empty and there is no XDG_STATE_HOME",
            seen(|ground, _| ground.user.without("XDG_STATE_HOME").with("HOME", "")),
        ),
        attack(
            "there is neither HOME nor XDG_STATE_HOME",
            seen(|ground, _| ground.user.without("XDG_STATE_HOME").without("HOME")),
        ),
        attack(
            "the state folder is a link into the project",
            seen(|ground, hostile| {
                fs::create_dir_all(ground.user.home.join("state")).unwrap();
                symlink(hostile.join("state/adage"), ground.user.state()).unwrap();
                ground.user.clone()
            }),
        ),
        attack(
            "the files of the state are links into the project",
            seen(|ground, hostile| {
                fs::create_dir_all(ground.user.state()).unwrap();
                for entry in fs::read_dir(hostile.join("state/adage")).into_iter().flatten() {
                    let entry = entry.unwrap();
                    symlink(entry.path(), ground.user.state().join(entry.file_name())).unwrap();
                }
                ground.user.clone()
            }),
        ),
    ]);
}

/// A user who trusts a folder of their own; then each file of the state is replaced.
fn replaced(bytes: impl Fn(&[u8]) -> Vec<u8> + 'static) -> impl Fn(&Ground) + 'static {
    move |ground| {
        let (own, hostile) = (ground.folder("own"), ground.folder("hostile"));
        ground.learns(&own);
        plant(&ground.other, &hostile);
        let files = files(&ground.user.state());
        ground.claim(!files.is_empty(), "learning leaves no state outside the folder");
        for file in files {
            let text = fs::read(&file).unwrap();
            fs::write(&file, bytes(&text)).unwrap();
        }
        ground.is_silent(&ground.user, &hostile, "broken state");
        let said = ground.user.adage(&own, &["trust"]);
        ground.claim(
            said.code.is_some_and(|code| code < 2),
            format!("trust is no command, crashes or hangs: {}", said.brief()),
        );
        ground.is_silent(&ground.user, &hostile, "after trusting the own folder again");
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn a_damaged_state_trusts_nothing_else() {
    check(&[
        attack("every file of the state is empty", replaced(|_| Vec::new())),
        attack("every file of the state is cut in half", replaced(|text| text[..text.len() / 2].to_vec())),
        attack("every file of the state is noise", replaced(|text| text.iter().map(|byte| byte ^ 0xa5).collect())),
        attack("every file of the state is null", replaced(|_| b"null".to_vec())),
        attack("every file of the state says all", replaced(|_| b"\"all\"".to_vec())),
        attack("every file of the state is twice as long", replaced(|text| [text, text].concat())),
        attack("the paths in the state are replaced by that of the hostile folder", |ground| {
            // Another program of the user could do this; a repository's file that is copied there by mistake as well.
            let (own, hostile) = (ground.folder("own"), ground.folder("evil"));
            ground.learns(&own);
            plant(&ground.other, &hostile);
            for file in files(&ground.user.state()) {
                let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
                let changed = text.replace(own.to_str().unwrap(), hostile.to_str().unwrap());
                fs::write(&file, changed).unwrap();
            }
            ground.is_silent(&ground.user, &hostile, "path replaced, another id");
        }),
    ]);
}

#[test]
fn the_state_is_private_and_outside_the_folder() {
    check(&[
        attack("the state can be read by others", |ground| {
            ground.learns(&ground.folder("own"));
            let mode = |path: &Path| fs::metadata(path).map_or(0, |about| about.permissions().mode() & 0o777);
            ground
                .claim(mode(&ground.user.state()) == 0o700, format!("the folder has {:o}", mode(&ground.user.state())));
            for file in files(&ground.user.state()) {
                ground.claim(mode(&file).trailing_zeros() >= 6, format!("{} has {:o}", file.display(), mode(&file)));
            }
        }),
        attack("the key of the user is the same for two accounts", |ground| {
            ground.learns(&ground.folder("own"));
            ground.does(&ground.other, &ground.folder("other"), &["learn", "--trigger", TASK, "--solution", "x"]);
            let (ours, theirs) = (files(&ground.user.state()), files(&ground.other.state()));
            ground.claim(!ours.is_empty() && !theirs.is_empty(), "no state is written");
            let is_shared = |path: &PathBuf| {
                let bytes = fs::read(path).unwrap();
                bytes.len() >= 32 && theirs.iter().any(|other| fs::read(other).unwrap() == bytes)
            };
            ground.claim(!ours.iter().any(is_shared), "a file of both states is the same");
        }),
        attack("the id of a folder can be told from its path or time", |ground| {
            let (first, second) = (ground.folder("own"), ground.folder("elsewhere"));
            let id = |project: &Path| fs::read(project.join(".adage/id")).unwrap_or_default();
            ground.learns(&first);
            let one = id(&first);
            fs::remove_dir_all(first.join(".adage")).unwrap();
            ground.learns(&first);
            ground.learns(&second);
            ground.claim(!one.is_empty(), "there is no id");
            ground.claim(one != id(&first) && one != id(&second), "the same time gives the same id");
        }),
        attack("a link at the place of a state file leads a write elsewhere", |ground| {
            let own = ground.folder("own");
            ground.learns(&own);
            let names: Vec<PathBuf> = files(&ground.user.state());
            ground.claim(!names.is_empty(), "no state is written");
            let canaries = ground.folder("canaries");
            for (n, file) in names.iter().enumerate() {
                let canary = canaries.join(n.to_string());
                fs::copy(file, &canary).unwrap();
                fs::remove_file(file).unwrap();
                symlink(&canary, file).unwrap();
            }
            let before = contents(&canaries);
            ground.user.adage(&ground.folder("more"), &["learn", "--trigger", TASK, "--solution", "call okapi"]);
            ground.user.adage(&own, &["trust"]);
            ground.claim(contents(&canaries) == before, "a write went through a link");
        }),
        attack("state that does not fit in a home that cannot be written", |ground| {
            // The home is a file: nothing can be recorded, and nothing may be trusted for it.
            let hostile = ground.folder("hostile");
            plant(&ground.other, &hostile);
            fs::write(ground.path("file"), "x").unwrap();
            let person = ground.user.with("XDG_STATE_HOME", ground.path("file")).with("HOME", ground.path("file"));
            ground.is_silent(&person, &hostile, "no home");
            person.adage(&hostile, &["trust"]);
            ground.is_silent(&person, &hostile, "trust that could not be recorded");
        }),
        attack("the fallback for a relative XDG_STATE_HOME is the home, where the own folder is known", |ground| {
            let own = ground.folder("own");
            let plain = ground.user.without("XDG_STATE_HOME");
            ground.does(&plain, &own, &["learn", "--trigger", TASK, "--solution", "call okapi first"]);
            for relative in ["state", "", "."] {
                ground.speaks(&ground.user.with("XDG_STATE_HOME", relative), &own, OWN, relative);
            }
            ground.claim(ground.user.home.join(".local/state/adage").is_dir(), "no state below the home");
            ground.claim(!own.join("state").exists() && !own.join("adage").exists(), "state inside the project");
            let said = plain.adage(&own, &["context", TASK]);
            ground.claim(!said.says(HOSTILE), "nothing hostile is here");
        }),
    ]);
}

/// The user's state has a link in place of the folder of the hooks' states; its target has an old file of somebody's.
fn hooks_by_a_link(ground: &Ground) {
    let (project, victim) = (ground.folder("project"), ground.folder("victim"));
    ground.user.git(&project, &["init", "-q", "."]);
    ground.learns(&project);
    let old = victim.join("old.json");
    super::ground::write(&old, "{}");
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_hours(30 * 24);
    fs::File::options().write(true).open(&old).unwrap().set_modified(long_ago).unwrap();
    fs::create_dir_all(ground.user.state()).unwrap();
    symlink(&victim, ground.user.state().join("hooks")).unwrap();
    for event in ["session-start", "prompt"] {
        let payload = serde_json::json!({"session_id": "s", "cwd": project, "prompt": TASK}).to_string();
        let said = ground.user.adage_reads(&project, &["hook", event], &payload);
        ground.claim(said.says(OWN), format!("{event}: no lesson: {}", said.brief()));
    }
    let left: Vec<_> = fs::read_dir(&victim).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    ground.claim(left == ["old.json"], format!("the target of the link was changed: {left:?}"));
}

#[test]
fn the_state_of_sessions_is_not_kept_behind_a_link() {
    check(&[attack("hooks/ is a link", hooks_by_a_link)]);
}
