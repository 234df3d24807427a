//! Where a changed file is in its repository.

use std::path::Path;

use crate::repository::Repository;

/// A path relative to the root of the repository around it, otherwise to `start`; unchanged if it is in neither. Links in `start` are
/// resolved.
pub(super) fn in_repository(path: &str, start: &Path) -> String {
    let whole = start.join(path);
    let known = whole.ancestors().skip(1).find_map(|folder| Some((folder, folder.canonicalize().ok()?)));
    let Some((folder, real)) = known else { return path.to_owned() };
    let whole = whole.strip_prefix(folder).map(|rest| real.join(rest)).unwrap_or_default();
    let repository = Repository::around(&real);
    let root = repository.as_ref().map_or(start, Repository::root);
    whole.strip_prefix(root).map_or_else(|_| path.to_owned(), |below| below.to_string_lossy().into_owned())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a repository's files are not those of a memory")]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_changed_file_is_named_from_the_root_of_its_repository() {
        let ground = tempfile::tempdir().unwrap();
        let root = ground.path().canonicalize().unwrap();
        for repository in ["shop", "shop/.claude/worktrees/w"] {
            fs::create_dir_all(root.join(repository).join(".git")).unwrap();
            fs::write(root.join(repository).join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        }
        for (start, path, expected) in [
            ("shop", "lib/a.ex".to_owned(), "lib/a.ex"),
            ("shop", root.join("shop/new/a.ex").display().to_string(), "new/a.ex"),
            ("shop", root.join("shop/.claude/worktrees/w/ci.yml").display().to_string(), "ci.yml"),
            ("shop/.claude/worktrees/w", "ci.yml".to_owned(), "ci.yml"),
            ("shop", root.join("shop/.github/ci.yml").display().to_string(), ".github/ci.yml"),
            ("shop", "/no/such/.x/ci.yml".to_owned(), "/no/such/.x/ci.yml"),
        ] {
            assert_eq!(in_repository(&path, &root.join(start)), expected, "{path}");
        }
    }
}
