//! Whether version control writes to a folder. git's index is read directly: running `git` in someone else's repository would
//! run programs that its settings name.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use adage::trust::Tracking;

/// The maximum size of an index; a folder with a larger one counts as tracked.
const MAX_INDEX: u64 = 256 << 20;
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

/// `Tracked` if an index lists an entry in the folder, or if that cannot be determined.
pub(crate) fn tracking(folder: &Path) -> Tracking {
    let Some(folder) = settled(folder) else { return Tracking::Untracked };
    let is_tracked = |root: &Path| {
        let inside = folder.strip_prefix(root).unwrap_or(Path::new("")).as_os_str().as_encoded_bytes();
        let git = root.join(".git");
        let has_other = || OTHERS.iter().any(|other| root.join(other).is_dir());
        (fs::symlink_metadata(&git).is_ok() && !is_unlisted(&git, inside)) || has_other()
    };
    let is_tracked = folder.ancestors().any(is_tracked) || has_repository(&folder, MAX_DEPTH);
    if is_tracked { Tracking::Tracked } else { Tracking::Untracked }
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
fn settled(folder: &Path) -> Option<PathBuf> {
    let folder = std::path::absolute(folder).ok()?;
    folder.canonicalize().ok().or_else(|| Some(folder.parent()?.canonicalize().ok()?.join(folder.file_name()?)))
}

/// True if git has a readable index that lists nothing in the folder.
fn is_unlisted(git: &Path, inside: &[u8]) -> bool {
    let Some(data) = data_folder(git) else { return false };
    let index = data.join("index");
    match fs::symlink_metadata(&index) {
        // Nothing was ever added.
        Err(error) => error.kind() == std::io::ErrorKind::NotFound && data.join("HEAD").is_file(),
        Ok(about) if about.is_file() && about.len() <= MAX_INDEX && !inside.is_empty() => {
            let mut bytes = Vec::new();
            let read = File::open(&index).and_then(|file| file.take(MAX_INDEX).read_to_end(&mut bytes));
            read.is_ok() && HASH_BYTES.iter().any(|length| lists(&bytes, *length, inside) == Some(false))
        }
        Ok(_) => false,
    }
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
