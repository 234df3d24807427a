//! A private memory in a repository: git takes nothing of it, and where it would, that is said.

use std::fs;
use std::path::{Path, PathBuf};

use super::home::Home;

/// A clone of a repository whose only file of a memory is this `.gitignore`.
fn clone_with(home: &Home, ignore: &str) -> PathBuf {
    let theirs = home.repository("theirs");
    fs::create_dir_all(theirs.join(".adage")).unwrap();
    fs::write(theirs.join(".adage/.gitignore"), ignore).unwrap();
    home.git(&theirs, &["add", "-f", "."]);
    home.git(&theirs, &["commit", "-q", "-m", "theirs"]);
    home.git(&home.path(""), &["clone", "-q", "theirs", "ours"]);
    home.path("ours")
}

/// What git would take of the memory.
fn taken(home: &Home, root: &Path) -> Vec<String> {
    home.git(root, &["add", "-A"]);
    home.git_says(root, &["ls-files"]).lines().filter(|name| *name != ".adage/.gitignore").map(str::to_owned).collect()
}

#[test]
fn git_takes_nothing_of_a_memory_that_is_made_in_a_folder_of_a_clone() {
    for ignore in ["!*\n", "*\n!*\n", "", "!skills_playbook.json\n"] {
        for first in [
            &["learn", "--trigger", "pinning numpy", "--solution", "Our host is db7.corp"][..],
            &["init"],
            &["init", "--for", "claude-code"],
            &["config", "set", "retention.capacity", "50"],
        ] {
            let home = Home::new();
            let root = clone_with(&home, ignore);
            let said = home.call(&root, first);
            home.learn(&root, "zipping a folder", "Use zip -r", &[]);
            let memory: Vec<String> =
                taken(&home, &root).into_iter().filter(|name| name.starts_with(".adage/")).collect();
            assert_eq!(memory, Vec::<String>::new(), "{ignore:?}, {first:?}");
            if first[0] == "init" {
                assert!(said.out.contains("kept out of repositories"), "{}{}", said.out, said.err);
            }
            let all = format!("{}{}", said.out, said.err);
            assert!(first[0] == "config" || all.contains(".gitignore was replaced"), "{first:?}: {all}");
        }
    }
}

#[test]
fn a_private_memory_that_git_may_take_is_said() {
    let home = Home::new();
    let root = home.repository("ours");
    home.done(&root, &["init"]);
    home.learn(&root, "zipping a folder", "Use zip -r", &[]);
    home.done(&root, &["doctor", "--check"]);
    fs::write(root.join(".adage/.gitignore"), "!*\n").unwrap();
    for command in [&["doctor", "--check"][..], &["doctor"]] {
        let said = home.call(&root, command);
        assert_eq!(said.code, 1, "{command:?}: {}", said.out);
        assert!(command.len() == 1 || said.out.contains(".gitignore: "), "{}", said.out);
    }
    assert!(home.done(&root, &["init"]).out.contains("is not one that adage writes"));
    assert!(!taken(&home, &root).is_empty(), "git would take it");
    // A shared memory has none, or its own.
    home.done(&home.repository("team"), &["init", "--shared"]);
    home.done(&home.path("team"), &["doctor", "--check"]);
}

/// git deletes what it ignores for a file of that name: a copy elsewhere is all that helps.
#[test]
fn init_recommends_a_backup_where_git_may_delete_the_memory() {
    let home = Home::new();
    let root = home.repository("ours");
    assert!(home.done(&root, &["init"]).err.contains("`adage backup"));
    assert!(!home.done(&home.repository("team"), &["init", "--shared"]).err.contains("`adage backup"));
    assert!(!home.done(&home.folder("plain"), &["init"]).err.contains("`adage backup"));
}
