//! The check of files that an agent wrote directly into the inbox.

use std::path::PathBuf;

use serde::Serialize;

use crate::Inbox;
use crate::error::{CannotApply, Error, Result};
use crate::files::{InboxFiles, InboxItem, Written};
use crate::proposal::{MAX_BYTES, PatchKind, ProposalName};
use crate::proposing::record_edit;
use adage::extend::files::{Name, Undoable, content_hash};

/// The most entries that one call moves, and the most that it combines: each is moved and synced on its own.
const MAX_CHECKED: usize = 200;

/// The result of [`Inbox::check_written`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CheckedInbox {
    /// Entries that cannot be applied and were moved to quarantine.
    pub aside: Vec<Quarantined>,
    /// The number of patches under other names that were combined with the patch of their kind.
    pub n_folded: usize,
    /// The number of entries that are left for the next call: one call moves or combines at most 200 of each kind.
    pub n_left: usize,
}

/// An entry that cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Quarantined {
    /// Its former path below the inbox.
    pub name: String,
    /// Its present path. A `.reason` file is beside it.
    #[serde(serialize_with = "adage::extend::path_text::shown")]
    pub kept_at: PathBuf,
    /// The reason.
    pub reason: CannotApply,
}

impl Inbox {
    /// Checks what an agent wrote directly into the inbox. Patches under other names are combined with the patch of their kind.
    /// Entries that cannot be applied are moved to `.inbox/aside/` with the reason. For the others, the hashes of their
    /// targets' present content are recorded. Entries that this handle was not configured for (notes or skills), and those that
    /// cannot be read right now, stay as they are.
    ///
    /// # Errors
    /// [`FolderError::Io`](adage::FolderError::Io).
    pub fn check_written(&self) -> Result<CheckedInbox> {
        let inbox = self.files();
        let mut checked = CheckedInbox::default();
        self.folder().edits().change(self.now(), || {
            let survey = self.examine_all()?;
            let mut inapplicable = survey.inapplicable.into_iter().filter(|(_, reason)| !reason.may_pass());
            for (path, reason) in inapplicable.by_ref().take(MAX_CHECKED) {
                checked.aside.push(self.quarantine(&path, reason)?);
            }
            checked.n_left = inapplicable.count();
            Ok::<_, Error>((None, ()))
        })?;
        // Each on its own: a patch that conflicts with the others affects only itself.
        let extra = |written: Written| match written.what {
            InboxItem::Extra(kind) => Some((written.name, kind)),
            _ => None,
        };
        let mut extras = inbox.list()?.into_iter().filter_map(extra);
        for (name, kind) in extras.by_ref().take(MAX_CHECKED) {
            let read = inbox.read(&name, MAX_BYTES);
            let folded = match &read {
                Ok(bytes) => self.fold_in(&kind, &name, bytes),
                Err(reason) => Err(Error::cannot_apply(&"", reason.clone())),
            };
            match folded {
                Ok(()) => checked.n_folded += 1,
                // It stays, and `inapplicable` lists it.
                Err(Error::CannotApply { reason, .. }) if reason.may_pass() => {}
                Err(Error::CannotApply { reason, .. }) => {
                    checked.aside.push(self.quarantine(&name, *reason)?);
                }
                Err(error) => return Err(error),
            }
        }
        checked.n_left += extras.count();
        self.remember_bases()?;
        Ok(checked)
    }

    fn quarantine(&self, name: &Name, reason: CannotApply) -> Result<Quarantined> {
        let kept_at = self.files().set_aside(name, &reason)?;
        Ok(Quarantined { name: InboxFiles::shown(name), kept_at, reason })
    }

    /// Records the targets' present content for patches that have no such record.
    fn remember_bases(&self) -> Result<()> {
        let (inbox, now) = (self.files(), self.now());
        let edits = || {
            let mut edits = Vec::new();
            for (ready, plan) in self.examine_all()?.ready {
                let ProposalName::Patch(kind) = &ready.proposal.name else { continue };
                let patch = InboxFiles::patch(kind);
                if inbox.bases(&patch, ready.proposal.text).is_none() {
                    edits.push(record_edit(inbox, &patch, ready.proposal.text, &plan, now)?);
                }
            }
            Ok(("look at the inbox".to_owned(), edits, ()))
        };
        self.edit(Undoable::No, edits).map(drop)
    }

    fn fold_in(&self, kind: &PatchKind, from: &Name, bytes: &[u8]) -> Result<()> {
        let fold_in = || {
            let (mut edits, _) = self.combined(kind, bytes)?;
            edits.push(self.files().edit(from, Some(content_hash(bytes)), None));
            Ok((format!("join {}", InboxFiles::shown(from)), edits, ()))
        };
        self.edit(Undoable::No, fold_in).map(drop)
    }
}
