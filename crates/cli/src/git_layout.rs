//! Where the common git directory of a repository is, and where the memory of all its worktrees is: for a bare repository, for one whose
//! git directory is elsewhere, and for a submodule.

use std::fs;
use std::path::{Path, PathBuf};

use crate::team::repository::{read_path, read_up_to};

/// The maximum size of a repository's settings.
const MAX_SETTINGS: u64 = 1 << 18;
/// The customary name of a bare repository beside its worktrees.
const BARE: &str = ".bare";

/// The folder that has the memory of all worktrees of a common git directory: the main worktree; without one, the folder with
/// the hidden git directory and the worktrees beside it; otherwise the git directory itself.
pub(crate) fn shared_place(common: &Path) -> PathBuf {
    let parent = common.parent().unwrap_or(common);
    let name = common.file_name().unwrap_or_default().to_string_lossy();
    let settings = GitSettings::of(common);
    let has_file = leads_to(&parent.join(".git"), common);
    let tree = settings.worktree.filter(|tree| leads_to(&tree.join(".git"), common));
    match tree {
        Some(tree) => tree,
        None if name == ".git" || has_file || (settings.is_bare && name.starts_with('.')) => parent.to_owned(),
        None => common.to_owned(),
    }
}

/// The common git directory that the `.git` file of a worktree without others names. Either that directory names the worktree, or is in it,
/// or it is one that never names its worktree: that of `git init --separate-git-dir`.
pub(crate) fn alone(data: &Path, root: &Path) -> Option<PathBuf> {
    let common = data.canonicalize().ok().filter(|data| is_git_directory(data))?;
    let place = shared_place(&common);
    let is_separate = place == common && !GitSettings::of(&common).is_bare && !is_of_other_repository(&common);
    (place == root || is_separate).then_some(common)
}

/// The common git directory at a folder that has no `.git`: a bare repository, or the one that is below it as `.bare`.
pub(crate) fn bare_at(root: &Path) -> Option<PathBuf> {
    let is_bare = |common: &PathBuf| is_git_directory(common) && GitSettings::of(common).is_bare;
    [root.join(BARE), root.to_owned()].into_iter().find(is_bare)
}

/// True for a git directory of a worktree or of a submodule, which another repository has.
fn is_of_other_repository(common: &Path) -> bool {
    common.ancestors().any(|above| above.file_name().is_some_and(|name| name == ".git"))
}

fn is_git_directory(folder: &Path) -> bool {
    let is_there = |name: &str| fs::symlink_metadata(folder.join(name)).is_ok();
    ["HEAD", "objects", "refs"].into_iter().all(is_there)
}

/// True for a `.git` file that names this git directory.
fn leads_to(git: &Path, common: &Path) -> bool {
    let named = read_path(git, "gitdir: ").zip(git.parent()).map(|(data, root)| root.join(data));
    named.and_then(|data| data.canonicalize().ok()).is_some_and(|data| data == common)
}

/// What the settings of a repository say about its worktree.
#[derive(Debug, Default)]
struct GitSettings {
    is_bare: bool,
    worktree: Option<PathBuf>,
}

impl GitSettings {
    /// Those of a common git directory; with `extensions.worktreeConfig`, they are in a file of their own.
    fn of(common: &Path) -> Self {
        let mut settings = Self::default();
        for name in ["config", "config.worktree"] {
            let text = read_up_to(&common.join(name), MAX_SETTINGS).unwrap_or_default();
            for (key, value) in text.lines().filter_map(|line| line.split_once('=')) {
                match key.trim().to_ascii_lowercase().as_str() {
                    "bare" => settings.is_bare = value.trim().eq_ignore_ascii_case("true"),
                    "worktree" => settings.worktree = common.join(value.trim().trim_matches('"')).canonicalize().ok(),
                    _ => {}
                }
            }
        }
        settings
    }
}

#[cfg(test)]
mod tests {
    use crate::team::repository::Repository;

    /// Runs a script in a new folder, then compares the place of the memory of each folder.
    #[track_caller]
    fn check(script: &str, expected: &[(&str, &str)]) {
        let ground = tempfile::tempdir().unwrap();
        let root = ground.path().canonicalize().unwrap();
        let script = format!(
            "set -e; export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.c GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.c; {script}"
        );
        let done = std::process::Command::new("bash").args(["-c", &script]).current_dir(&root).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        for (folder, place) in expected {
            let folder = root.join(folder);
            let memory = Repository::around(&folder).map(|found| found.memory(&folder));
            assert_eq!(memory.unwrap(), root.join(place).join(".adage"), "{}", folder.display());
        }
    }

    const FIRST: &str = "git init -q first && git -C first commit -q --allow-empty -m x";

    #[test]
    fn worktrees_of_a_bare_repository_share_a_memory() {
        let all = [("shop/main", "shop"), ("shop/topic/a", "shop"), ("shop", "shop"), ("shop/.bare", "shop")];
        check(
            &format!(
                "{FIRST}; git clone -q --bare first shop/.bare; echo 'gitdir: ./.bare' > shop/.git; git -C shop worktree add -q main; git -C shop worktree add -q topic/a"
            ),
            &all,
        );
        check(
            &format!(
                "{FIRST}; git clone -q --bare first shop/.bare; git -C shop/.bare worktree add -q ../main; git -C shop/.bare worktree add -q ../topic/a"
            ),
            &all,
        );
        check(
            &format!(
                "{FIRST}; git clone -q --bare first shop.git; git -C shop.git config extensions.worktreeConfig true; git -C shop.git worktree add -q ../out; git -C shop.git worktree add -q in"
            ),
            &[("out", "shop.git"), ("shop.git/in", "shop.git"), ("shop.git", "shop.git")],
        );
    }

    #[test]
    fn a_git_directory_that_is_elsewhere_and_a_submodule_have_one_place() {
        check(
            &format!("{FIRST}; git clone -q --separate-git-dir data first tree; git -C tree worktree add -q ../other"),
            &[("tree", "data"), ("other", "data")],
        );
        check(
            &format!(
                "{FIRST}; git init -q whole; git -c protocol.file.allow=always -C whole submodule --quiet add ../first part; git -C whole/part worktree add -q ../../other"
            ),
            &[("whole", "whole"), ("whole/part", "whole/part"), ("other", "whole/part")],
        );
    }

    #[test]
    fn a_file_that_names_the_bare_repository_of_somebody_else_is_not_believed() {
        check(
            &format!(
                "{FIRST}; git clone -q --bare first bare.git; mkdir a b; echo 'gitdir: ../bare.git' > a/.git; echo 'gitdir: ../first/.git' > b/.git"
            ),
            &[("a", "a"), ("b", "b")],
        );
    }
}
