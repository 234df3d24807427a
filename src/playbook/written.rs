//! What an agent wrote straight into the inbox, looked at once it is done.

use std::path::PathBuf;

use serde::Serialize;

use super::Inbox;
use super::examined::Surveyed;
use super::proposing::{fold, record_edit};
use crate::error::{CannotApply, Error, Result, inbox};
use crate::folder::Name;
use crate::folder::edits::{Record, Transaction, content_hash};
use crate::proposal::{MAX_BYTES, Patch, PatchKind, ProposalName};
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
                let kept_at = inbox.set_aside(&path, &reason)?;
                checked.aside.push(Quarantined { name: InboxFiles::shown(&path), kept_at, reason });
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
                    let kept_at = inbox.set_aside(&written.name, &reason)?;
                    checked.aside.push(Quarantined {
                        name: InboxFiles::shown(&written.name),
                        kept_at,
                        reason: *reason,
                    });
                }
                Err(error) => return Err(error),
            }
        }
        self.remember_bases()?;
        Ok(checked)
    }

    /// Notes what the targets of patches hold, where that was not done for this very patch.
    fn remember_bases(&self) -> Result<()> {
        let inner = &self.playbook.0;
        let inbox = self.files();
        let now = inner.clock.now();
        let edits = || -> Result<(Option<Transaction>, ())> {
            let mut edits = Vec::new();
            for Surveyed { ready, plan } in self.look_through()?.ready {
                let ProposalName::Patch(kind) = &ready.proposal.name else { continue };
                let patch = InboxFiles::patch(kind);
                if inbox.bases(&patch, ready.proposal.text).is_none() {
                    edits.push(record_edit(inbox, &patch, ready.proposal.text, &plan, now)?);
                }
            }
            let transaction = Transaction { what: "look at the inbox".to_owned(), record: Record::Dropped, edits };
            Ok(((!transaction.edits.is_empty()).then_some(transaction), ()))
        };
        inner.store.folder.edits().change(now, edits).map(drop)
    }

    fn fold_in(&self, kind: &PatchKind, from: &Name, bytes: &[u8]) -> Result<()> {
        let inner = &self.playbook.0;
        let folder = &inner.store.folder;
        let refuse = |reason| inbox::Error::cannot_apply(&"", reason);
        let fold_in = || -> Result<(Option<Transaction>, ())> {
            let grounds = self.grounds()?;
            let patch = Patch::parse(bytes).map_err(|reason| refuse(CannotApply::Patch(reason)))?;
            let (waiting, before) = self.waiting_plan(kind, &grounds)?;
            let plan = fold(folder, kind, &grounds, &waiting, &patch).map_err(refuse)?;
            let (mut edits, _) = self.canonical(kind, &plan, before).map_err(refuse)?;
            edits.push(self.files().edit(from, Some(content_hash(bytes)), None));
            let what = format!("join {}", InboxFiles::shown(from));
            Ok((Some(Transaction { what, record: Record::Dropped, edits }), ()))
        };
        folder.edits().change(inner.clock.now(), fold_in).map(drop)
    }
}
