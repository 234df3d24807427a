//! Finds the git repository around a folder without running git: the repository may be someone else's, and git runs programs
//! that its settings name.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use adage::redact::path_text;

use crate::git_layout;

/// The name of a project's memory folder.
pub(crate) const NAME: &str = ".adage";

/// The maximum size of a git file that contains a path.
const MAX_FILE: u64 = 8_192;
/// The maximum number of worktrees whose names are read.
const MAX_WORKTREES: usize = 100;

/// A repository with its worktrees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Repository {
    /// The root of the worktree of the given folder.
    root: PathBuf,
    /// The folder that has the memory of all worktrees: the main worktree, or the place of a repository without one.
    main: PathBuf,
    /// The roots of linked worktrees.
    linked: Vec<PathBuf>,
}

impl Repository {
    /// The repository that contains a folder. The folder's path must have no links.
    pub(crate) fn around(folder: &Path) -> Option<Self> {
        folder.ancestors().find_map(Self::at)
    }

    /// The repository with a worktree at this root, or that is there without one.
    fn at(root: &Path) -> Option<Self> {
        let git = root.join(".git");
        let (common, main) = match fs::symlink_metadata(&git) {
            Ok(about) if about.is_dir() => {
                fs::symlink_metadata(git.join("HEAD")).ok()?;
                (Some(git), root.to_owned())
            }
            Ok(about) if about.is_file() => {
                let data = root.join(read_path(&git, "gitdir: ")?);
                let common = common_folder(&data, &git).or_else(|| git_layout::alone(&data, root));
                // Otherwise it is a worktree that was moved, or a file that claims to be one.
                let main = common.as_deref().map_or_else(|| root.to_owned(), git_layout::shared_place);
                (common, main)
            }
            Ok(_) => return None,
            Err(_) => {
                let common = git_layout::bare_at(root)?;
                let main = git_layout::shared_place(&common);
                (Some(common), main)
            }
        };
        let linked = common.as_deref().map(worktrees).unwrap_or_default();
        Some(Self { root: root.to_owned(), main, linked })
    }

    /// The roots of the repository, the main one first.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for root in [&self.main, &self.root].into_iter().chain(&self.linked) {
            let name = path_text(root);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The root of the worktree that agents are set up for: the main one, if there is one.
    pub(crate) fn main_worktree(&self) -> &Path {
        if fs::symlink_metadata(self.main.join(".git")).is_ok_and(|about| about.is_dir()) {
            &self.main
        } else {
            &self.root
        }
    }

    /// The root of the work tree.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The nearest memory at or above a folder within the worktree; otherwise the path of the memory that all worktrees
    /// share, which may not exist.
    pub(crate) fn memory(&self, folder: &Path) -> PathBuf {
        let within = folder.ancestors().take_while(|above| above.starts_with(&self.root));
        within.map(|above| above.join(NAME)).find(|memory| is_memory(memory)).unwrap_or_else(|| self.main.join(NAME))
    }
}

/// The data folder shared by all worktrees, given that of a linked one. Each must name the other: otherwise a forged `.git`
/// file could lead to the memory of any repository.
fn common_folder(data: &Path, git: &Path) -> Option<PathBuf> {
    let common = data.join(read_path(&data.join("commondir"), "")?).canonicalize().ok()?;
    let data = data.canonicalize().ok()?;
    let is_below = data.parent().is_some_and(|parent| parent == common.join("worktrees"));
    let back = read_path(&data.join("gitdir"), "")?;
    let is_named = data.join(back).canonicalize().ok()? == git.canonicalize().ok()?;
    (is_below && is_named).then_some(common)
}

/// The roots of the linked worktrees.
fn worktrees(common: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(common.join("worktrees")) else { return Vec::new() };
    let git_of =
        |entry: fs::DirEntry| entry.path().join(read_path(&entry.path().join("gitdir"), "")?).canonicalize().ok();
    let mut roots: Vec<PathBuf> =
        entries.take(MAX_WORKTREES).filter_map(|entry| Some(git_of(entry.ok()?)?.parent()?.to_owned())).collect();
    roots.sort();
    roots
}

/// The text of a regular file that is not larger than this.
pub(crate) fn read_up_to(file: &Path, max: u64) -> Option<String> {
    let about = fs::symlink_metadata(file).ok()?;
    if !about.is_file() || about.len() > max {
        return None;
    }
    let mut text = String::new();
    File::open(file).ok()?.take(max).read_to_string(&mut text).ok()?;
    Some(text)
}

/// The path on the first line of a git file, after a prefix.
pub(crate) fn read_path(file: &Path, prefix: &str) -> Option<PathBuf> {
    let text = read_up_to(file, MAX_FILE)?;
    let path = text.lines().next()?.strip_prefix(prefix)?;
    (!path.is_empty()).then(|| PathBuf::from(path))
}

/// Files and folders of which a memory has at least one.
const OWN_FILES: [&str; 11] = [
    "id",
    "config.toml",
    "config.json",
    "skills_playbook.json",
    "skills_playbook.json.bak",
    "playbook.log",
    "archive.jsonl",
    "skills.json",
    "mining.json",
    "skills",
    ".inbox",
];

/// True for a folder with something of a memory, and for what is in the place of one, such as a link. A folder of the same name with
/// other files hides no memory above it.
pub(crate) fn is_memory(path: &Path) -> bool {
    exists(path) && (!is_real_folder(path) || OWN_FILES.iter().any(|file| exists(&path.join(file))))
}

/// True for a folder that is not a link.
pub(crate) fn is_real_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_dir())
}

/// True for any entry of this name, including a broken link.
pub(crate) fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a repository's files are not those of a memory")]
mod tests {
    use std::process::Command;

    use super::*;

    fn git(folder: &Path, arguments: &[&str]) {
        let mut command = Command::new("git");
        command.arg("-C").arg(folder).args(["-c", "user.name=a", "-c", "user.email=a@example.com"]).args(arguments);
        assert!(command.status().unwrap().success(), "{arguments:?}");
    }

    fn folder(at: &Path) -> PathBuf {
        fs::create_dir_all(at).unwrap();
        at.canonicalize().unwrap()
    }

    /// A repository with a commit, and a linked worktree in another folder.
    fn with_worktree(ground: &Path) -> (PathBuf, PathBuf) {
        let main = folder(&ground.join("main"));
        git(&main, &["init", "-q"]);
        git(&main, &["commit", "-q", "--allow-empty", "-m", "first"]);
        git(&main, &["worktree", "add", "-q", "../tree"]);
        (main, ground.join("tree").canonicalize().unwrap())
    }

    #[test]
    fn a_linked_worktree_shares_the_memory_of_the_main_one() {
        let ground = tempfile::tempdir().unwrap();
        let (main, tree) = with_worktree(ground.path());
        let below = folder(&tree.join("a/b"));
        let found = Repository::around(&below).unwrap();
        assert_eq!(found.names(), [&main, &tree].map(|path| path.to_string_lossy().into_owned()));
        assert_eq!(found.names(), Repository::around(&main).unwrap().names());
        assert_eq!(found.memory(&below), main.join(NAME));
        // A memory nearer to the folder is used.
        fs::write(folder(&tree.join("a").join(NAME)).join("id"), "").unwrap();
        assert_eq!(found.memory(&below), tree.join("a").join(NAME));
    }

    #[test]
    fn a_folder_without_a_file_of_a_memory_hides_none() {
        let ground = tempfile::tempdir().unwrap();
        let (main, tree) = with_worktree(ground.path());
        let below = folder(&tree.join("a/b"));
        let found = Repository::around(&below).unwrap();
        let near = folder(&tree.join("a").join(NAME));
        for other in ["README", "notes.md", ".gitkeep", "ids", "playbook.log.txt", "config.yaml"] {
            fs::write(near.join(other), "x").unwrap();
            assert_eq!(found.memory(&below), main.join(NAME), "{other}");
        }
        for own in OWN_FILES {
            fs::create_dir(near.join(own)).unwrap();
            assert_eq!(found.memory(&below), near, "{own}");
            fs::remove_dir(near.join(own)).unwrap();
        }
        // What is in the place of a memory is refused where it is used.
        fs::write(tree.join("a/b").join(NAME), "x").unwrap();
        assert_eq!(found.memory(&below), below.join(NAME));
    }

    #[test]
    fn a_memory_above_the_repository_is_not_found() {
        let ground = tempfile::tempdir().unwrap();
        let above = ground.path().canonicalize().unwrap();
        folder(&above.join(NAME));
        let inner = folder(&above.join("repository/src"));
        assert_eq!(Repository::around(&inner), None);
        git(&above.join("repository"), &["init", "-q"]);
        let found = Repository::around(&inner).unwrap();
        assert_eq!(found.memory(&inner), above.join("repository").join(NAME));
    }

    #[test]
    fn a_file_that_claims_to_be_a_worktree_of_another_repository_is_not_believed() {
        let ground = tempfile::tempdir().unwrap();
        let (main, _) = with_worktree(ground.path());
        let hostile = folder(&ground.path().join("hostile"));
        let data = folder(&hostile.join("data"));
        for (commondir, gitdir) in [
            (main.join(".git"), main.join(".git/worktrees/tree")),
            (main.join(".git"), main.join(".git")),
            (main.join(".git"), data.clone()),
        ] {
            fs::write(hostile.join(".git"), format!("gitdir: {}\n", gitdir.display())).unwrap();
            fs::write(data.join("commondir"), format!("{}\n", commondir.display())).unwrap();
            fs::write(data.join("gitdir"), format!("{}\n", hostile.join(".git").display())).unwrap();
            let found = Repository::around(&hostile).unwrap();
            assert_eq!(found.memory(&hostile), hostile.join(NAME), "{}", gitdir.display());
            assert_eq!(found.names(), [hostile.to_string_lossy()]);
        }
    }

    #[test]
    fn a_git_file_that_is_too_long_or_irregular_is_ignored() {
        let ground = tempfile::tempdir().unwrap();
        let root = ground.path().canonicalize().unwrap();
        fs::write(root.join(".git"), format!("gitdir: {}", "a/".repeat(5_000))).unwrap();
        assert_eq!(Repository::at(&root), None);
        fs::remove_file(root.join(".git")).unwrap();
        folder(&root.join(".git"));
        assert_eq!(Repository::at(&root), None, "it has no HEAD");
    }
}
