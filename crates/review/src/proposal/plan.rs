//! The result of a patch on the present files, computed before anything is written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::patch::{self, FilePatch, Patch};
use super::target::Located;
use crate::error::CannotApply;
use crate::patch_error::PatchError;

/// The content of a file; none if it is missing.
pub(crate) type Content = Option<Vec<u8>>;

/// Files with their contents before and after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    files: BTreeMap<PathBuf, Planned>,
}

/// A file that is created or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Planned {
    pub(crate) before: Content,
    pub(crate) after: Vec<u8>,
}

impl Plan {
    /// Every file with its contents, by path.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&Path, &Planned)> {
        self.files.iter().map(|(path, planned)| (path.as_path(), planned))
    }

    /// The content of a file after the plan, if the plan changes it.
    pub(crate) fn after(&self, path: &Path) -> Option<&[u8]> {
        self.files.get(path).map(|planned| planned.after.as_slice())
    }

    /// Sets the new content of a file; the first recorded old content is kept.
    pub(crate) fn put(&mut self, path: PathBuf, before: Content, after: Vec<u8>) {
        self.files
            .entry(path)
            .and_modify(|planned| planned.after.clone_from(&after))
            .or_insert(Planned { before, after });
    }

    /// Applies the diffs of a patch in order, each to the result of the ones before. `base_of` returns the content of a file
    /// that is not in the plan yet.
    ///
    /// # Errors
    /// `Diff`; `ChangesNothing` if no file changes. The plan then contains the diffs applied so far.
    pub(crate) fn apply<E: From<CannotApply>>(
        &mut self,
        patch: &Patch,
        located: &[Located],
        mut base_of: impl FnMut(&Path) -> Result<Content, E>,
    ) -> Result<(), E> {
        let mut changes_any = false;
        for (file, Located { path: target, .. }) in patch.files().iter().zip(located) {
            let (before, base) = if let Some(planned) = self.files.get(target) {
                (planned.before.clone(), Some(planned.after.clone()))
            } else {
                let base = base_of(target)?;
                (base.clone(), base)
            };
            let refuse = |reason| CannotApply::Diff { path: target.clone(), reason };
            let after = file.apply(base.as_deref()).map_err(refuse)?;
            changes_any |= base.as_ref() != Some(&after);
            self.put(target.clone(), before, after);
        }
        if changes_any { Ok(()) } else { Err(CannotApply::ChangesNothing.into()) }
    }

    /// Merges another plan into this one; both start from the same contents.
    ///
    /// # Errors
    /// `Diff` with `Conflict`.
    pub(crate) fn merged(mut self, other: Self) -> Result<Self, CannotApply> {
        for (path, planned) in other.files {
            let after = match self.after(&path) {
                Some(ours) => patch::merge(planned.before.as_deref().unwrap_or_default(), ours, &planned.after)
                    .map_err(|reason| CannotApply::Diff { path: path.clone(), reason })?,
                None => planned.after,
            };
            self.put(path, planned.before, after);
        }
        Ok(self)
    }

    /// The plan as one patch with exactly the same result.
    ///
    /// # Errors
    /// `ChangesNothing`; `Diff` if the diff made by the library does not pass the strict parser.
    pub(crate) fn to_patch(&self) -> Result<Patch, CannotApply> {
        let mut files = Vec::new();
        for (path, planned) in self.files() {
            let refuse = |reason| CannotApply::Diff { path: path.to_owned(), reason };
            let name = path
                .to_str()
                .ok_or_else(|| refuse(PatchError::Engine { reason: "its name is not UTF-8".to_owned() }))?;
            let Some(file) = FilePatch::between(name, planned.before.as_deref(), &planned.after) else { continue };
            if file.apply(planned.before.as_deref()).map_err(refuse)? != planned.after {
                return Err(refuse(PatchError::Engine { reason: "it makes something else of the file".to_owned() }));
            }
            files.push(file);
        }
        if files.is_empty() { Err(CannotApply::ChangesNothing) } else { Ok(Patch::of(files)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposal::target::Effect;

    fn located(path: &str) -> Located {
        let path = PathBuf::from(path);
        Located { folder: "/m".into(), steps: vec![path.clone()], path, effect: Effect::Changes }
    }

    fn plan(base: &str, after: &str) -> Plan {
        let mut plan = Plan::default();
        plan.put("/m/a.md".into(), Some(base.into()), after.into());
        plan
    }

    #[test]
    fn several_diffs_of_one_file_add_up() {
        let text =
            "--- /dev/null\n+++ /m/a.md\n@@ -0,0 +1 @@\n+one\n--- /m/a.md\n+++ /m/a.md\n@@ -1 +1,2 @@\n one\n+two\n";
        let patch = Patch::parse(text.as_bytes()).unwrap();
        let mut plan = Plan::default();
        plan.apply::<CannotApply>(&patch, &[located("/m/a.md"), located("/m/a.md")], |_| Ok(None)).unwrap();
        assert_eq!(plan.after(Path::new("/m/a.md")), Some(&b"one\ntwo\n"[..]));
        let patch = plan.to_patch().unwrap();
        assert_eq!(patch.to_bytes(), b"--- /dev/null\n+++ /m/a.md\n@@ -0,0 +1,2 @@\n+one\n+two\n");
        assert_eq!(patch.line_counts(), (2, 0));
    }

    #[test]
    fn what_changes_nothing_is_refused() {
        let patch = Patch::parse(b"--- /m/a.md\n+++ /m/a.md\n@@ -1 +1 @@\n one\n").unwrap();
        let refused = Plan::default().apply(&patch, &[located("/m/a.md")], |_| Ok(Some(b"one\n".to_vec())));
        assert_eq!(refused, Err(CannotApply::ChangesNothing));
        assert_eq!(plan("a", "a").to_patch(), Err(CannotApply::ChangesNothing));
    }

    #[test]
    fn two_plans_come_together_unless_they_contradict() {
        let base = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let (one, other) = (base.replace('2', "two"), base.replace('8', "eight"));
        let merged = plan(base, &one).merged(plan(base, &other)).unwrap();
        assert_eq!(merged, plan(base, "1\ntwo\n3\n4\n5\n6\n7\neight\n9\n"));
        assert_eq!(plan(base, &one).merged(plan(base, &one)).unwrap(), plan(base, &one));
        let refused = plan(base, &one).merged(plan(base, &base.replace('2', "zwei")));
        assert!(matches!(refused, Err(CannotApply::Diff { reason: PatchError::Conflict, .. })), "{refused:?}");
    }
}
