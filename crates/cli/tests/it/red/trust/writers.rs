//! The user's settings and state, where another user of the machine can write to them.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::checks::{attack, check};
use super::ground::{Ground, OWN, write};
use super::rows::plant;

/// Another user's id.
const OTHER: u32 = 4001;

/// Settings by which the user trusts somebody else's folder.
fn settings(ground: &Ground) -> (PathBuf, PathBuf) {
    let hostile = ground.folder("hostile");
    plant(&ground.other, &hostile);
    let file = ground.user.home.join("config/adage/config.toml");
    write(&file, format!("trust = [{}]\n", json!(hostile.join(".adage"))));
    (hostile, file)
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Settings that are refused after a change, with a message that says where and why.
fn refused(
    change: impl Fn(&Path) -> PathBuf + 'static,
    names: impl Fn(&Path) -> String + 'static,
) -> impl Fn(&Ground) + 'static {
    move |ground| {
        let (hostile, file) = settings(ground);
        let culprit = change(&file);
        ground.is_silent(&ground.user, &hostile, "settings of others");
        let said = ground.user.adage(&hostile, &["context", "deploy the docs"]);
        let expected = names(&culprit);
        let is_named = said.err.contains(&expected) && said.err.contains(&culprit.display().to_string());
        ground.claim(!said.is_done() && is_named, format!("no message with {expected:?}: {}", said.brief()));
    }
}

fn with_mode(part: impl Fn(&Path) -> PathBuf + 'static, mode: u32) -> impl Fn(&Ground) + 'static {
    let change = move |file: &Path| {
        let part = part(file);
        set_mode(&part, mode);
        part
    };
    let names = |part: &Path| {
        let about = fs::metadata(part).unwrap();
        format!("has mode {:o} and owner {}", about.mode() & 0o7777, about.uid())
    };
    refused(change, names)
}

fn above(n_steps: usize) -> impl Fn(&Path) -> PathBuf {
    move |file| file.ancestors().nth(n_steps).unwrap().to_owned()
}

#[test]
fn settings_that_others_can_write_are_refused() {
    // A group with the number of its user is the user's alone.
    let home = tempfile::tempdir().unwrap();
    let about = fs::metadata(home.path()).unwrap();
    let of_group = |mode| if about.uid() != 0 && about.gid() == about.uid() { mode | 0o002 } else { mode };
    check(&[
        attack("everybody can write to the file", with_mode(above(0), 0o666)),
        attack("its group can write to the file", with_mode(above(0), of_group(0o620))),
        attack("others, but not its group, can write to the file", with_mode(above(0), 0o602)),
        attack("everybody can write to its folder", with_mode(above(1), 0o777)),
        attack("its group can write to its folder", with_mode(above(1), of_group(0o775))),
        attack("everybody can write to the folder above", with_mode(above(2), 0o777)),
        attack("everybody can write to the home folder", with_mode(above(3), 0o777)),
        attack("it is a link to a file that everybody can write to", |ground| {
            let change = |file: &Path| {
                let target = file.with_file_name("elsewhere.toml");
                fs::rename(file, &target).unwrap();
                set_mode(&target, 0o666);
                std::os::unix::fs::symlink(&target, file).unwrap();
                target
            };
            refused(change, |_| "has mode 666".to_owned())(ground);
        }),
    ]);
}

#[test]
fn settings_that_only_the_user_can_write_are_believed() {
    check(&[attack("modes of an ordinary home, and a sticky folder above it", |ground| {
        let (hostile, file) = settings(ground);
        for (n_steps, mode) in [(0, 0o644), (1, 0o755), (2, 0o755), (3, 0o1777)] {
            set_mode(&above(n_steps)(&file), mode);
        }
        let said = ground.user.adage(&hostile, &["context", "deploy the docs"]);
        ground.claim(said.is_done() && !said.out.is_empty(), format!("nothing is shown: {}", said.brief()));
        ground.learns(&ground.folder("own"));
        ground.speaks(&ground.user, &ground.folder("own"), OWN, "the user's own");
    })]);
}

/// Only the administrator can give a file to somebody else; the rule itself has a unit test for every user.
#[test]
fn settings_and_state_of_another_user_are_refused() {
    let probe = tempfile::NamedTempFile::new().unwrap();
    if chown(probe.path(), Some(OTHER), None).is_err() {
        return;
    }
    let given = |part: usize| {
        let change = move |file: &Path| {
            let part = above(part)(file);
            chown(&part, Some(OTHER), None).unwrap();
            part
        };
        refused(change, |_| format!("and owner {OTHER}"))
    };
    check(&[
        attack("the file is another user's", given(0)),
        attack("its folder is another user's", given(1)),
        attack("the folder above is another user's", given(2)),
        attack("the state is another user's", |ground| {
            let own = ground.folder("own");
            ground.learns(&own);
            chown(ground.user.state(), Some(OTHER), None).unwrap();
            let said = ground.user.adage(&own, &["context", "deploy the docs"]);
            let is_named = said.err.contains(&format!("and owner {OTHER}"));
            ground.claim(said.out.is_empty() && is_named, format!("it is believed: {}", said.brief()));
        }),
        attack("the folder above the state is everybody's", |ground| {
            let own = ground.folder("own");
            ground.learns(&own);
            set_mode(ground.user.state().parent().unwrap(), 0o777);
            let said = ground.user.adage(&own, &["context", "deploy the docs"]);
            ground.claim(said.out.is_empty() && said.err.contains("has mode 777"), said.brief());
        }),
    ]);
}
