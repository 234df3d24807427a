//! Whether version control writes to a folder. git's index is read directly: running `git` in someone else's repository would
//! run programs that its settings name.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use adage::trust::Tracking;

/// The maximum size of an index; a folder with a larger one counts as tracked.
const MAX_INDEX: u64 = 256 << 20;
/// The maximum size of git's settings that are read; a folder with larger ones counts as tracked.
const MAX_SETTINGS: u64 = 1 << 20;
/// The folders of other version control systems. Their records are not read: the folder counts as tracked.
const OTHERS: [&str; 4] = [".hg", ".jj", ".svn", ".bzr"];
/// How deep in a memory a repository of its own is looked for: its skills, their groups, and each of them.
const MAX_DEPTH: usize = 3;
/// So many folders in one are looked at.
const MAX_FOLDERS: usize = 5_000;
/// The bytes of an entry before the hash of its content.
const STAT_BYTES: usize = 40;
/// The lengths of hashes: SHA-1 and SHA-256.
const HASH_BYTES: [usize; 2] = [20, 32];

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
    let Some(data) = data_folder(&git) else { return Tracking::Tracked };
    let Some(tree) = work_tree(&data, root) else { return Tracking::Tracked };
    let Ok(inside) = folder.strip_prefix(tree).or_else(|_| folder.strip_prefix(root)) else { return Tracking::Tracked };
    if UNFINISHED.iter().any(|name| fs::symlink_metadata(data.join(name)).is_ok()) {
        return Tracking::Unsettled;
    }
    index_tracking(&data, inside.as_os_str().as_encoded_bytes())
}

/// The root of the work tree of a data folder: `core.worktree` if its settings have it. None if they cannot be read.
fn work_tree(data: &Path, root: &Path) -> Option<PathBuf> {
    let mut tree = root.to_owned();
    for name in ["config", "config.worktree"] {
        let path = data.join(name);
        let Ok(about) = fs::symlink_metadata(&path) else { continue };
        if !about.is_file() || about.len() > MAX_SETTINGS {
            return None;
        }
        let mut bytes = Vec::new();
        File::open(&path).ok()?.take(MAX_SETTINGS).read_to_end(&mut bytes).ok()?;
        if let Some(named) = named_tree(&String::from_utf8_lossy(&bytes)) {
            tree = data.join(named).canonicalize().ok()?;
        }
    }
    Some(tree)
}

/// The last value of `core.worktree`.
fn named_tree(settings: &str) -> Option<String> {
    let mut is_core = false;
    let mut found = None;
    for line in settings.lines().map(str::trim) {
        let mut line = line;
        if let Some((section, rest)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            is_core = section.trim().eq_ignore_ascii_case("core");
            line = rest.trim();
        }
        let Some((key, value)) = line.split_once('=').filter(|_| is_core) else { continue };
        if key.trim().eq_ignore_ascii_case("worktree") {
            found = Some(value.trim().trim_matches('"').replace("\\\\", "\\"));
        }
    }
    found
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

/// What the index says: `Tracked` if it lists something in the folder or cannot be read, `Unsettled` if it is missing although there
/// was a commit.
fn index_tracking(data: &Path, inside: &[u8]) -> Tracking {
    let index = data.join("index");
    match fs::symlink_metadata(&index) {
        Err(error) if error.kind() == ErrorKind::NotFound && data.join("HEAD").is_file() => {
            if has_commits(data) {
                Tracking::Unsettled
            } else {
                Tracking::Untracked
            }
        }
        Ok(about) if about.is_file() && about.len() <= MAX_INDEX && !inside.is_empty() => {
            if is_unlisted(&index, &about, inside) { Tracking::Untracked } else { Tracking::Tracked }
        }
        _ => Tracking::Tracked,
    }
}

/// True if a branch of the repository has a commit, or if that cannot be determined.
fn has_commits(data: &Path) -> bool {
    let is_missing = |path: &Path| fs::symlink_metadata(path).is_err();
    let is_linked = !is_missing(&data.join("commondir"));
    let heads = data.join("refs/heads");
    let is_empty = is_missing(&heads) || fs::read_dir(&heads).is_ok_and(|mut entries| entries.next().is_none());
    is_linked || !is_empty || !is_missing(&data.join("packed-refs")) || !is_missing(&data.join("reftable"))
}

/// An index that was read, and what it said about a folder. A server asks before each call.
struct KnownIndex {
    path: PathBuf,
    inside: Vec<u8>,
    stamp: IndexStamp,
    is_unlisted: bool,
}

/// The length of an index, the time of its last change, and what else identifies it: git replaces it by a new file.
type IndexStamp = (u64, Option<std::time::SystemTime>, [i64; 3]);

fn stamp_of(about: &fs::Metadata) -> IndexStamp {
    #[cfg(unix)]
    let identity = {
        use std::os::unix::fs::MetadataExt as _;
        [about.ino().cast_signed(), about.ctime(), about.ctime_nsec()]
    };
    #[cfg(not(unix))]
    let identity = [0; 3];
    (about.len(), about.modified().ok(), identity)
}

/// True for a readable index that lists nothing in the folder.
fn is_unlisted(index: &Path, about: &fs::Metadata, inside: &[u8]) -> bool {
    static KNOWN: Mutex<Vec<KnownIndex>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let stamp = stamp_of(about);
    let is_same_index = |known: &&KnownIndex| known.path == index && known.inside == inside && known.stamp == stamp;
    if let Some(known) = known.iter().find(is_same_index) {
        return known.is_unlisted;
    }
    let mut bytes = Vec::new();
    let read = File::open(index).and_then(|file| file.take(MAX_INDEX).read_to_end(&mut bytes));
    let is_unlisted = read.is_ok() && HASH_BYTES.iter().any(|length| lists(&bytes, *length, inside) == Some(false));
    known.retain(|known| known.path != index || known.inside != inside);
    known.push(KnownIndex { path: index.to_owned(), inside: inside.to_owned(), stamp, is_unlisted });
    is_unlisted
}

/// Git's data folder of a work tree: `.git`, or the target of the file of that name.
fn data_folder(git: &Path) -> Option<PathBuf> {
    let about = fs::metadata(git).ok()?;
    if about.is_dir() {
        return Some(git.to_owned());
    }
    // Before it is opened: a pipe would wait for its other end.
    let git = about.is_file().then_some(git)?;
    let mut text = String::new();
    File::open(git).ok()?.take(8_192).read_to_string(&mut text).ok()?;
    let path = text.strip_prefix("gitdir: ")?.trim_end_matches(['\n', '\r']);
    Some(git.parent()?.join(path))
}

/// Whether an index, with hashes of this length, lists a path or an entry in it; none for an invalid index.
fn lists(index: &[u8], hash: usize, inside: &[u8]) -> Option<bool> {
    let word = |at: usize| Some(u32::from_be_bytes(index.get(at..at + 4)?.try_into().ok()?));
    let (version, n_entries) = (word(4)?, word(8)?);
    if index.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let (mut at, mut path, mut is_listed) = (12, Vec::new(), false);
    for _ in 0..n_entries {
        let flags_at = at + STAT_BYTES + hash;
        let flags = u16::from_be_bytes(index.get(flags_at..flags_at + 2)?.try_into().ok()?);
        let mut name_at = flags_at + if flags & 0x4000 == 0 { 2 } else { 4 };
        if version == 4 {
            let n_dropped = dropped(index, &mut name_at)?;
            path.truncate(path.len().checked_sub(n_dropped)?);
        } else {
            path.clear();
        }
        let rest = index.get(name_at..)?;
        let length = rest.iter().position(|byte| *byte == 0)?;
        path.extend(rest.get(..length)?);
        let declared = usize::from(flags & 0x0fff);
        if declared != path.len().min(0x0fff) {
            return None;
        }
        is_listed |= overlaps(&path, inside);
        let end = name_at + length;
        at = if version == 4 { end + 1 } else { at + (end - at) / 8 * 8 + 8 };
    }
    // A part of the entries is in another file.
    let is_split = index.get(at..at + 4)? == b"link";
    (!is_split).then_some(is_listed)
}

/// The number of bytes of the previous path that are dropped; index version 4.
fn dropped(index: &[u8], at: &mut usize) -> Option<usize> {
    let mut value = 0_usize;
    loop {
        let byte = *index.get(*at)?;
        *at += 1;
        value = value.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
        value = value.checked_add(1)?;
    }
}

/// True if one path equals the other or is a parent of it. Case is ignored, because a file system may ignore it.
fn overlaps(listed: &[u8], inside: &[u8]) -> bool {
    let listed = listed.strip_suffix(b"/").unwrap_or(listed);
    let (short, long) = if listed.len() <= inside.len() { (listed, inside) } else { (inside, listed) };
    long.get(..short.len()).is_some_and(|start| start.eq_ignore_ascii_case(short))
        && matches!(long.get(short.len()), None | Some(b'/' | b'\\'))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn git(root: &Path, arguments: &[&str]) {
        let status = Command::new("git").arg("-C").arg(root).args(arguments).status().unwrap();
        assert!(status.success(), "{arguments:?}");
    }

    #[test]
    fn entries_are_found_in_an_index_of_each_version() {
        for version in ["2", "3", "4"] {
            let temp = tempfile::tempdir().unwrap();
            let root = temp.path();
            git(root, &["init", "-q"]);
            let memory = |name: &str| root.join("a").join(name);
            assert_eq!(tracking(&memory("m")), Tracking::Untracked, "nothing is listed");
            for file in ["a/m/skills_playbook.json", "a/mm/x", "a/n", &format!("a/{}", "long/".repeat(40) + "x")] {
                let parent = root.join(file).parent().unwrap().to_owned();
                fs::create_dir_all(&parent).unwrap();
                if File::create(root.join(file)).is_ok() {
                    // An intent-to-add entry has extended flags, which require version 3.
                    git(root, &["add", if version == "3" { "-N" } else { "-f" }, file]);
                }
            }
            git(root, &["update-index", "--index-version", version]);
            for (name, expected) in [
                ("m", Tracking::Tracked),
                ("M", Tracking::Tracked),
                ("m/skills", Tracking::Untracked),
                ("mm", Tracking::Tracked),
                ("mmm", Tracking::Untracked),
                ("n/memory", Tracking::Tracked),
            ] {
                assert_eq!(tracking(&memory(name)), expected, "version {version}: {name}");
            }
        }
    }

    #[test]
    fn an_unreadable_index_counts_as_tracked() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        let memory = root.join("m");
        assert_eq!(tracking(&memory), Tracking::Untracked);
        git(root, &["init", "-q"]);
        File::create(root.join("file")).unwrap();
        git(root, &["add", "file"]);
        let index = fs::read(root.join(".git/index")).unwrap();
        assert_eq!(lists(&index, 20, b"m"), Some(false));
        assert_eq!(lists(&index, 20, b"file"), Some(true));
        assert_eq!(lists(&index, 32, b"m"), None);
        for end in 0..index.len().saturating_sub(20) {
            assert_eq!(lists(&index[..end], 20, b"m"), None, "cut at {end}");
        }
        let mut newer = index;
        newer[7] = 9;
        assert_eq!(lists(&newer, 20, b"m"), None);
    }
}
