//! Whether other users of the machine can write to a file, or put another in its place.

use std::path::Path;

use adage::redact::path_line;

/// Why a file may be somebody else's word: others can write to it, to a folder above it, or to what links on its path lead to. None
/// if only its user and the administrator can.
#[cfg(unix)]
pub(crate) fn other_writers(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;

    let own = rustix::process::geteuid().as_raw();
    let resolved = path.canonicalize().ok();
    let parts = path.ancestors().chain(resolved.iter().flat_map(|path| path.ancestors()));
    // What does not exist says nothing; what cannot be looked at cannot be read either.
    let known = parts.filter_map(|part| Some((part, std::fs::symlink_metadata(part).ok()?)));
    let mut faults = known.filter_map(|(part, about)| {
        let why = fault([about.uid(), about.gid()], about.mode(), own)?;
        Some(format!("{why}: {} has mode {:o} and owner {}", path_line(part), about.mode() & 0o7777, about.uid()))
    });
    faults.next()
}

/// On other systems permissions are not compared.
#[cfg(not(unix))]
pub(crate) fn other_writers(_: &Path) -> Option<String> {
    None
}

/// What is wrong with the owner, the group and the mode of a file, a folder or a link, for the user `own`. A group with the user's own
/// number is the one that many systems create for each user, and which has nobody else.
#[cfg(unix)]
fn fault([owner, group]: [u32; 2], mode: u32, own: u32) -> Option<&'static str> {
    const ROOT: u32 = 0;
    const KIND: u32 = 0o170_000;
    const FOLDER: u32 = 0o040_000;
    const LINK: u32 = 0o120_000;
    const STICKY: u32 = 0o1000;
    if owner != own && owner != ROOT {
        return Some("it belongs to another user");
    }
    // In a sticky folder, others can neither rename nor remove what is not theirs. The mode of a link means nothing.
    let is_kept = mode & KIND == LINK || (mode & KIND == FOLDER && mode & STICKY != 0);
    let of_others = if group == own && own != ROOT { 0o002 } else { 0o022 };
    (mode & of_others != 0 && !is_kept).then_some("others can write to it")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_the_user_s_own_if_nobody_else_can_write_to_it() {
        let (other, writable) = (Some("it belongs to another user"), Some("others can write to it"));
        for (owner, mode, own, expected) in [
            (4001, 0o100_644, 4001, None),
            (4001, 0o100_600, 4001, None),
            (4001, 0o100_666, 4001, writable),
            (4001, 0o100_620, 4001, writable),
            (4001, 0o100_602, 4001, writable),
            (4002, 0o100_600, 4001, other),
            (0, 0o100_644, 4001, None),
            (0, 0o100_666, 4001, writable),
            (4001, 0o100_600, 0, other),
            (4001, 0o040_755, 4001, None),
            (4001, 0o040_777, 4001, writable),
            (4001, 0o040_775, 4001, writable),
            (0, 0o041_777, 4001, None),
            (4002, 0o041_777, 4001, other),
            (4001, 0o120_777, 4001, None),
            (4002, 0o120_777, 4001, other),
        ] {
            let found = fault([owner, 100], mode, own);
            assert_eq!(found, expected, "owner {owner}, mode {mode:o}, user {own}");
        }
    }

    #[test]
    fn a_group_of_the_user_alone_may_write() {
        for (owner, group, mode, own, expected) in [
            (4001, 4001, 0o100_664, 4001, None),
            (4001, 4001, 0o040_775, 4001, None),
            (4001, 4001, 0o100_666, 4001, Some("others can write to it")),
            (0, 0, 0o100_664, 0, Some("others can write to it")),
            (0, 4001, 0o040_775, 4001, None),
        ] {
            assert_eq!(fault([owner, group], mode, own), expected, "group {group}, mode {mode:o}, user {own}");
        }
    }
}
