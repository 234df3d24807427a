//! What an agent wrote straight into the inbox, looked at once it is done.

use std::path::PathBuf;

use serde::Serialize;

use super::Inbox;
use super::proposing::record_edit;
use crate::error::{CannotApply, Error, Result, inbox};
use crate::folder::Name;
use crate::folder::edits::{Record, content_hash};
use crate::proposal::{MAX_BYTES, PatchKind, ProposalName};
use crate::store::inbox::{InboxFiles, InboxItem};

/// What an agent wrote straight into the inbox, once it was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CheckedInbox {
    /// What cannot be applied and lies aside now.
    pub aside: Vec<Quarantined>,
    /// Patches under other names that became part of the one of their kind.
    pub n_folded: usize,
}

/// Something that cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Quarantined {
    /// Where it lay, below the inbox.
    pub name: String,
    /// Where it lies now, with a `.reason` beside it.
    pub kept_at: PathBuf,
    /// Why it cannot be applied.
    pub reason: CannotApply,
}

impl Inbox {
    /// Looks at what an agent wrote straight into the inbox: patches under names of their own join the one of their kind, what
    /// cannot be applied goes to `.inbox/aside/` with its reason, and what stays is remembered together with what its targets
    /// hold now. A proposal for notes or skills that this handle was not told of stays, and so does what cannot be read right
    /// now.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn check_written(&self) -> Result<CheckedInbox> {
        let inner = &self.playbook.0;
        let inbox = self.files();
        let mut checked = CheckedInbox::default();
        inner.store.folder.edits().change(inner.clock.now(), || {
            let survey = self.look_through()?;
            for (path, reason) in survey.unfit.into_iter().filter(|(_, reason)| !reason.may_pass()) {
                checked.aside.push(self.quarantine(&path, reason)?);
            }
            Ok((None, ()))
        })?;
        // Each of them on its own: one that contradicts the others costs only itself.
        for written in inbox.list()? {
            let InboxItem::Extra(kind) = &written.what else { continue };
            let read = inbox.read(&written.name, MAX_BYTES);
            let folded = match &read {
                Ok(bytes) => self.fold_in(kind, &written.name, bytes),
                Err(reason) => Err(inbox::Error::cannot_apply(&"", reason.clone()).into()),
            };
            match folded {
                Ok(()) => checked.n_folded += 1,
                // It stays, and is told with what is unfit.
                Err(Error::Inbox(inbox::Error::CannotApply { reason, .. })) if reason.may_pass() => {}
                Err(Error::Inbox(inbox::Error::CannotApply { reason, .. })) => {
                    checked.aside.push(self.quarantine(&written.name, *reason)?);
                }
                Err(error) => return Err(error),
            }
        }
        self.remember_bases()?;
        Ok(checked)
    }

    fn quarantine(&self, name: &Name, reason: CannotApply) -> Result<Quarantined> {
        let kept_at = self.files().set_aside(name, &reason)?;
        Ok(Quarantined { name: InboxFiles::shown(name), kept_at, reason })
    }

    /// Notes what the targets of patches hold, where that was not done for this very patch.
    fn remember_bases(&self) -> Result<()> {
        let (inbox, now) = (self.files(), self.playbook.0.clock.now());
        let edits = || {
            let mut edits = Vec::new();
            for (ready, plan) in self.look_through()?.ready {
                let ProposalName::Patch(kind) = &ready.proposal.name else { continue };
                let patch = InboxFiles::patch(kind);
                if inbox.bases(&patch, ready.proposal.text).is_none() {
                    edits.push(record_edit(inbox, &patch, ready.proposal.text, &plan, now)?);
                }
            }
            Ok(("look at the inbox".to_owned(), edits, ()))
        };
        self.edit(Record::Dropped, edits).map(drop)
    }

    fn fold_in(&self, kind: &PatchKind, from: &Name, bytes: &[u8]) -> Result<()> {
        let fold_in = || {
            let (mut edits, _) = self.joined(kind, bytes)?;
            edits.push(self.files().edit(from, Some(content_hash(bytes)), None));
            Ok((format!("join {}", InboxFiles::shown(from)), edits, ()))
        };
        self.edit(Record::Dropped, fold_in).map(drop)
    }
}
