//! Whether version control writes to a folder. git's index is looked through for the folder's name: running `git` in someone else's
//! repository would run programs that its settings name.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use adage::trust::Tracking;

/// The maximum size of an index; a folder with a larger one counts as tracked.
const MAX_INDEX: u64 = 256 << 20;
/// The maximum size of git's settings that are read; a folder with larger ones counts as tracked.
const MAX_SETTINGS: u64 = 1 << 20;
/// The maximum size of a file `.git`; a folder below a larger one counts as tracked.
const MAX_LINK: u64 = 8_192;
/// The folders of other version control systems. Their records are not read: the folder counts as tracked.
const OTHERS: [&str; 4] = [".hg", ".jj", ".svn", ".bzr"];
/// How deep in a memory a repository of its own is looked for: its skills, their groups, and each of them.
const MAX_DEPTH: usize = 3;
/// So many folders in one are looked at.
const MAX_FOLDERS: usize = 5_000;

/// What is in git's data folder while it writes files, or after it was interrupted: the index does not list yet what it wrote.
const UNFINISHED: [&str; 6] =
    ["index.lock", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"];

/// `Tracked` if an index lists an entry in the folder, or if that cannot be determined; `Unsettled` while git may be writing.
pub(crate) fn tracking(folder: &Path) -> Tracking {
    let Some(folder) = without_links(folder) else { return Tracking::Untracked };
    let mut found = Tracking::Untracked;
    for root in folder.ancestors() {
        let of_root = match git_tracking(root, &folder) {
            _ if OTHERS.iter().any(|other| root.join(other).is_dir()) => Tracking::Tracked,
            of_git => of_git,
        };
        match of_root {
            Tracking::Tracked => return Tracking::Tracked,
            Tracking::Untracked => {}
            Tracking::Unsettled => found = Tracking::Unsettled,
        }
    }
    if has_repository(&folder, MAX_DEPTH) { Tracking::Tracked } else { found }
}

/// What git's data at this root says about a folder.
fn git_tracking(root: &Path, folder: &Path) -> Tracking {
    let git = root.join(".git");
    if fs::symlink_metadata(&git).is_err() {
        return Tracking::Untracked;
    }
    let Some((data, name)) = data_folder(&git).zip(folder.file_name().filter(|_| root != folder)) else {
        return Tracking::Tracked;
    };
    if UNFINISHED.iter().any(|name| fs::symlink_metadata(data.join(name)).is_ok()) {
        return Tracking::Unsettled;
    }
    let has_parts = || {
        fs::read_dir(&data).is_ok_and(|entries| {
            entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("sharedindex."))
        })
    };
    let index = data.join("index");
    let is_named = match fs::symlink_metadata(&index) {
        Err(error) if error.kind() == ErrorKind::NotFound && has_commits(&data) => return Tracking::Unsettled,
        Err(error) => error.kind() != ErrorKind::NotFound,
        Ok(about) => names(&index, &about, name.as_encoded_bytes()) || has_parts(),
    };
    let has_other_tree = ["config", "config.worktree"].iter().any(|settings| names_tree(&data.join(settings)));
    if is_named || has_other_tree { Tracking::Tracked } else { Tracking::Untracked }
}

/// True if the repository may have a commit: an index that is missing then is about to be written.
fn has_commits(data: &Path) -> bool {
    let is_there = |name: &str| fs::symlink_metadata(data.join(name)).is_ok();
    let has_branch = fs::read_dir(data.join("refs/heads")).is_ok_and(|mut entries| entries.next().is_some());
    has_branch || ["packed-refs", "reftable", "commondir"].iter().any(|name| is_there(name))
}

/// True for git's settings with `core.worktree`, or that cannot be read: the paths of the index begin elsewhere.
fn names_tree(settings: &Path) -> bool {
    let about = match fs::symlink_metadata(settings) {
        Err(error) => return error.kind() != ErrorKind::NotFound,
        Ok(about) => about,
    };
    read(settings, &about, MAX_SETTINGS).is_none_or(|bytes| {
        let text = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
        text.split("worktree").skip(1).any(|after| after.trim_start().starts_with('='))
    })
}

/// The bytes of a regular file of at most this length. Nothing else is opened: a pipe would wait for its other end.
fn read(path: &Path, about: &fs::Metadata, max: u64) -> Option<Vec<u8>> {
    if !about.is_file() || about.len() > max {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(max).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// True when a part of the folder is a repository of its own, such as its skills: a pull brings files there. Folders that are too
/// many to look at count as one.
fn has_repository(folder: &Path, depth: usize) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    let mut n_folders = 0;
    entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).any(|entry| {
        n_folders += 1;
        let path = entry.path();
        let is_root = [".git"].iter().chain(&OTHERS).any(|data| fs::symlink_metadata(path.join(data)).is_ok());
        n_folders > MAX_FOLDERS || is_root || (depth > 1 && has_repository(&path, depth - 1))
    })
}

/// The folder's path without links, whether it exists or not.
fn without_links(folder: &Path) -> Option<PathBuf> {
    let folder = std::path::absolute(folder).ok()?;
    folder.canonicalize().ok().or_else(|| Some(folder.parent()?.canonicalize().ok()?.join(folder.file_name()?)))
}

/// Git's data folder of a work tree: `.git`, or the target of the file of that name.
fn data_folder(git: &Path) -> Option<PathBuf> {
    let about = fs::metadata(git).ok()?;
    if about.is_dir() {
        return Some(git.to_owned());
    }
    let text = String::from_utf8(read(git, &about, MAX_LINK)?).ok()?;
    let path = text.strip_prefix("gitdir: ")?.trim_end_matches(['\n', '\r']);
    Some(git.parent()?.join(path))
}

/// The length of an index, the time of its last change, and what else identifies it: git replaces it by a new file.
type Stamp = (u64, Option<SystemTime>, [i64; 3]);

fn stamp_of(about: &fs::Metadata) -> Stamp {
    #[cfg(unix)]
    let identity = {
        use std::os::unix::fs::MetadataExt as _;
        [about.ino().cast_signed(), about.ctime(), about.ctime_nsec()]
    };
    #[cfg(not(unix))]
    let identity = [0; 3];
    (about.len(), about.modified().ok(), identity)
}

/// By index and name: what was read, and whether it has the name.
type Answers = BTreeMap<(PathBuf, Vec<u8>), (Stamp, bool)>;

/// True for an index that has the folder's or file's name in a path, that shortens paths (version 4), or that cannot be read. A folder of
/// the same name elsewhere in the repository counts too. A server asks before each call, so that the answer is kept.
fn names(index: &Path, about: &fs::Metadata, name: &[u8]) -> bool {
    static KNOWN: Mutex<Answers> = Mutex::new(BTreeMap::new());
    let stamp = stamp_of(about);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (index.to_owned(), name.to_owned());
    if let Some((_, is_named)) = known.get(&key).filter(|(its_stamp, _)| *its_stamp == stamp) {
        return *is_named;
    }
    let is_named = read(index, about, MAX_INDEX).is_none_or(|bytes| {
        let is_full = [b"DIRC\0\0\0\x02", b"DIRC\0\0\0\x03"].iter().any(|start| bytes.starts_with(*start));
        let is_end = |after: &[u8]| matches!(after, [b'/' | 0]);
        // A file system may ignore case.
        let has_name = |at: &[u8]| {
            at.split_at_checked(name.len())
                .is_some_and(|(part, after)| part.eq_ignore_ascii_case(name) && is_end(after))
        };
        !is_full || bytes.windows(name.len() + 1).any(has_name)
    });
    known.insert(key, (stamp, is_named));
    is_named
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::Command;

    use super::*;

    fn git(root: &Path, arguments: &[&str]) {
        let status = Command::new("git").arg("-C").arg(root).args(arguments).status().unwrap();
        assert!(status.success(), "{arguments:?}");
    }

    #[test]
    fn a_folder_that_an_index_of_any_version_lists_is_tracked() {
        for version in ["2", "3", "4"] {
            let temp = tempfile::tempdir().unwrap();
            let root = temp.path();
            git(root, &["init", "-q"]);
            let memory = |name: &str| root.join("a").join(name);
            assert_eq!(tracking(&memory("memory")), Tracking::Untracked, "nothing is listed");
            for file in ["a/memory/skills/x", "a/other", &format!("a/{}", "long/".repeat(40) + "x")] {
                fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
                File::create(root.join(file)).unwrap();
                // An intent-to-add entry has extended flags, which require version 3.
                git(root, &["add", if version == "3" { "-N" } else { "-f" }, file]);
            }
            git(root, &["update-index", "--index-version", version]);
            assert_eq!(tracking(&memory("memory")), Tracking::Tracked, "version {version}");
            assert_eq!(tracking(&memory("Memory")), Tracking::Tracked, "version {version}");
            assert_eq!(tracking(&memory("none")) == Tracking::Untracked, version != "4", "version {version}");
        }
    }

    #[test]
    fn an_unreadable_index_counts_as_tracked() {
        let temp = tempfile::tempdir().unwrap();
        let (root, memory) = (temp.path(), temp.path().join("memory"));
        assert_eq!(tracking(&memory), Tracking::Untracked);
        git(root, &["init", "-q"]);
        File::create(root.join("file")).unwrap();
        git(root, &["add", "file"]);
        assert_eq!(tracking(&memory), Tracking::Untracked);
        for bytes in [&b""[..], b"DIRC", b"DIRC\0\0\0\x09", b"nothing"] {
            File::create(root.join(".git/index")).unwrap().write_all(bytes).unwrap();
            assert_eq!(tracking(&memory), Tracking::Tracked, "{bytes:?}");
        }
    }
}
