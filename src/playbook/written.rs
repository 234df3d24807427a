//! What an agent wrote straight into the inbox, looked at once it is done.

use std::path::{Path, PathBuf};

use super::Inbox;
use super::proposing::{fold, record_edit};
use crate::error::{CannotApply, Error, Result};
use crate::inbox::{MAX_BYTES, Patch, PatchKind, ProposalName};
use crate::store::edits::{FileEdit, Record, Transaction, content_hash};
use crate::store::inbox::Lies;

/// What an agent wrote straight into the inbox, once it was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedInbox {
    /// What cannot be applied and lies aside now.
    pub aside: Vec<PutAside>,
    /// Patches under other names that became part of the one of their kind.
    pub n_folded: usize,
}

/// Something that cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutAside {
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
    /// [`Error::Io`].
    pub fn check_written(&self) -> Result<CheckedInbox> {
        let inner = &self.playbook.0;
        let place = &inner.store.place;
        let mut checked = CheckedInbox::default();
        inner.store.place.edit_files(inner.clock.now(), || {
            let survey = self.look_through()?;
            for (path, reason) in survey.unfit.into_iter().filter(|(_, reason)| !reason.may_pass()) {
                let kept_at = place.set_aside(&path, &reason)?;
                checked.aside.push(PutAside { name: place.inbox_name(&path), kept_at, reason });
            }
            Ok((None, ()))
        })?;
        // Each of them on its own: one that contradicts the others costs only itself.
        for written in place.written()? {
            let Lies::Extra(kind) = &written.what else { continue };
            let read = place.read_written(&written.path, MAX_BYTES);
            let folded = match &read {
                Ok(bytes) => self.fold_in(kind, &written.path, bytes),
                Err(reason) => Err(Error::CannotApply { name: String::new(), reason: Box::new(reason.clone()) }),
            };
            match folded {
                Ok(()) => checked.n_folded += 1,
                // It stays, and is told with what is unfit.
                Err(Error::CannotApply { reason, .. }) if reason.may_pass() => {}
                Err(Error::CannotApply { reason, .. }) => {
                    let kept_at = place.set_aside(&written.path, &reason)?;
                    checked.aside.push(PutAside { name: place.inbox_name(&written.path), kept_at, reason: *reason });
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
        let place = &inner.store.place;
        let now = inner.clock.now();
        let edits = || -> Result<(Option<Transaction>, ())> {
            let mut edits = Vec::new();
            for ready in self.look_through()?.ready {
                let ProposalName::Patch(kind) = &ready.proposal.name else { continue };
                let path = place.patch_path(kind);
                if place.bases(&path, ready.proposal.text).is_none() {
                    edits.push(record_edit(place, &path, ready.proposal.text, &ready.plan, now)?);
                }
            }
            let transaction = Transaction { what: "look at the inbox".to_owned(), record: Record::Dropped, edits };
            Ok(((!transaction.edits.is_empty()).then_some(transaction), ()))
        };
        place.edit_files(now, edits).map(drop)
    }

    fn fold_in(&self, kind: &PatchKind, from: &Path, bytes: &[u8]) -> Result<()> {
        let inner = &self.playbook.0;
        let place = &inner.store.place;
        let refuse = |reason: CannotApply| Error::CannotApply { name: String::new(), reason: Box::new(reason) };
        let fold_in = || -> Result<(Option<Transaction>, ())> {
            let grounds = self.grounds()?;
            let patch = Patch::parse(bytes).map_err(|reason| refuse(CannotApply::Patch(reason)))?;
            let (waiting, before) = self.waiting_plan(kind, &grounds)?;
            let plan = fold(place, kind, &grounds, &waiting, &patch).map_err(refuse)?;
            let (mut edits, _) = self.canonical(kind, &plan, before).map_err(refuse)?;
            edits.push(FileEdit::new(from.to_owned(), Some(content_hash(bytes)), None));
            let what = format!("join {}", place.inbox_name(from));
            Ok((Some(Transaction { what, record: Record::Dropped, edits }), ()))
        };
        place.edit_files(inner.clock.now(), fold_in).map(drop)
    }
}
