//! Whether the branch that a call pushes has an upstream branch.

use std::path::{Path, PathBuf};

use adage::retrieve::{Upstream, WorkTree};
use adage::transcript::CommandLine;

use super::payload::Call;
use crate::repository::Repository;

/// What the session has done to its work tree, with what the repository says about the branch that the call pushes.
pub(super) fn tree_for(call: &Call, start: &Path, known: &WorkTree) -> WorkTree {
    let mut tree = known.clone();
    let pushing = call.commands.iter().map(|line| CommandLine::parse(line)).find(pushes);
    if let Some(line) = pushing {
        let folder = folder_of(&line, start);
        let at = |folder: &Path| folder.canonicalize().ok().and_then(|folder| Repository::around(&folder));
        let pushed = at(&folder);
        let is_here = folder == start || pushed == at(start);
        // What the session did to the branch may be newer than the payload's folder.
        if !is_here || tree.upstream() == Upstream::Unknown {
            tree.set_upstream(pushed.map(|repository| repository.upstream()).unwrap_or_default());
        }
    }
    tree
}

fn pushes(line: &CommandLine) -> bool {
    line.invocations().any(|call| call.form == "git push")
}

/// The folder in which a line pushes: after its `cd`, or that of `git -C`.
fn folder_of(line: &CommandLine, start: &Path) -> PathBuf {
    let mut folder = start.to_owned();
    for call in line.invocations() {
        let is_of_git = call.name == "git" && call.words.first() == Some(&"-C");
        let named = if is_of_git { call.words.get(1) } else { call.words.first() };
        if call.name == "cd" || (is_of_git && call.form == "git push") {
            folder = named.map_or_else(|| folder.clone(), |named| folder.join(named));
        }
        if call.form == "git push" {
            break;
        }
    }
    folder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_pushes_in_the_folder_that_it_goes_to() {
        for (line, expected) in [
            ("git push", "/srv/shop"),
            ("cd web && git push", "/srv/shop/web"),
            ("cd ../bank && git commit -am x && git push", "/srv/shop/../bank"),
            ("cd /srv/bank; git push", "/srv/bank"),
            ("git -C ../bank push", "/srv/shop/../bank"),
            ("git push && cd /srv/bank", "/srv/shop"),
        ] {
            assert_eq!(folder_of(&CommandLine::parse(line), Path::new("/srv/shop")), Path::new(expected), "{line}");
        }
    }
}
