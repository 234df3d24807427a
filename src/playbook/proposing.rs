//! Proposing: what waits of a kind is one patch, and an edited one takes its place.

use super::examined::{apply, check_skill, patch_proposal, skill_proposal, skill_target};
use super::{Inbox, Proposal};
use crate::error::{CannotApply, FolderError, Result, inbox};
use crate::folder::Name;
use crate::folder::edits::{FileEdit, Record, content_hash};
use crate::lesson::TextHash;
use crate::proposal::{AllowedRoots, MAX_BYTES, Patch, PatchKind, Plan, ProposalName, SKILL_FILE, recounted};
use crate::skill::SkillName;
use crate::store::inbox::{Bases, InboxFiles, unreadable};

impl Inbox {
    /// Proposes a patch. If one of its kind waits, they become one: the new one may be made for the files as they are, or as the
    /// waiting one leaves them.
    ///
    /// # Errors
    /// [`inbox::Error::CannotApply`] when it could not be applied right now, or contradicts the waiting one;
    /// [`FolderError::Io`].
    pub fn propose(&self, kind: &PatchKind, patch: &[u8]) -> Result<Proposal> {
        let (_, proposal) = self.edit(Record::Dropped, || {
            let (edits, proposal) = self.joined(kind, patch)?;
            Ok((format!("propose {}", proposal.name), edits, proposal))
        })?;
        Ok(proposal)
    }

    /// Proposes a new skill: the text of its `SKILL.md`. A waiting one of the same name is replaced.
    ///
    /// # Errors
    /// [`inbox::Error::CannotApply`] when there is such a skill, or the text is none; [`FolderError::Io`].
    pub fn propose_skill(&self, skill: &SkillName, text: &str) -> Result<Proposal> {
        let name = ProposalName::Skill(skill.clone());
        let refuse = |reason| inbox::Error::cannot_apply(&name, reason);
        let (_, proposal) = self.edit(Record::Dropped, || {
            let target = skill_target(&self.playbook.0.store.folder, &self.grounds()?, skill).map_err(refuse)?;
            check_skill(skill, text.as_bytes()).map_err(refuse)?;
            let file = InboxFiles::skill(skill).join(SKILL_FILE);
            let before = self.files().hash_of(&file)?;
            let edits = vec![self.files().edit(&file, before, Some(text.as_bytes().to_vec()))];
            Ok((format!("propose {name}"), edits, skill_proposal(skill, text.as_bytes(), target)))
        })?;
        Ok(proposal)
    }

    /// What lies in the inbox under a proposal, byte by byte and unmasked, for a person to edit: a patch, or the text of a skill.
    ///
    /// # Errors
    /// [`inbox::Error::NoSuch`], also for a lesson; [`inbox::Error::Changed`], [`inbox::Error::CannotApply`].
    pub fn text(&self, proposal: &Proposal) -> Result<Vec<u8>> {
        let ready = self.present(&proposal.name, proposal.text)?;
        let (file, _) =
            ready.leaving.first().ok_or_else(|| inbox::Error::NoSuch { name: proposal.name.to_string() })?;
        let refuse = |reason| inbox::Error::cannot_apply(&proposal.name, reason).into();
        self.files().read(file, MAX_BYTES).map_err(refuse)
    }

    /// Puts an edited text in the place of a proposal. The counts of a patch need not be right: they are counted anew.
    ///
    /// # Errors
    /// As [`Inbox::text`]; [`inbox::Error::CannotApply`] when the edited one could not be applied. The proposal is then as it
    /// was.
    pub fn replace(&self, proposal: &Proposal, text: &[u8]) -> Result<Proposal> {
        let name = &proposal.name;
        let refuse = |reason| inbox::Error::cannot_apply(name, reason);
        let (_, replaced) = self.edit(Record::Dropped, || {
            let ready = self.present(name, proposal.text)?;
            let (edits, replaced) = match name {
                ProposalName::Patch(kind) => {
                    let patch = Patch::parse(&recounted(text)).map_err(|reason| refuse(CannotApply::Patch(reason)))?;
                    let plan = self.fold(kind, &self.grounds()?, &Plan::default(), &patch).map_err(refuse)?;
                    self.canonical(kind, &plan, Some(proposal.text)).map_err(refuse)?
                }
                ProposalName::Skill(skill) => {
                    check_skill(skill, text).map_err(refuse)?;
                    let target = ready.proposal.files.first().cloned().unwrap_or_default();
                    let leaving = ready.leaving.iter();
                    let edits =
                        leaving.map(|(file, before)| self.files().edit(file, Some(*before), Some(text.to_vec())));
                    (edits.collect(), skill_proposal(skill, text, target))
                }
                ProposalName::Lesson(_) => return Err(inbox::Error::NoSuch { name: name.to_string() }.into()),
            };
            Ok((format!("edit {name}"), edits, replaced))
        })?;
        Ok(replaced)
    }

    /// What makes a patch part of the waiting one of its kind, and what waits then.
    pub(super) fn joined(&self, kind: &PatchKind, patch: &[u8]) -> Result<(Vec<FileEdit>, Proposal)> {
        let name = ProposalName::Patch(kind.clone());
        let refuse = |reason| inbox::Error::cannot_apply(&name, reason);
        let grounds = self.grounds()?;
        let patch = Patch::parse(patch).map_err(|reason| refuse(CannotApply::Patch(reason)))?;
        let (waiting, before) = self.waiting_plan(kind, &grounds)?;
        let plan = self.fold(kind, &grounds, &waiting, &patch).map_err(refuse)?;
        Ok(self.canonical(kind, &plan, before).map_err(refuse)?)
    }

    /// What the waiting patch of a kind makes, and the hash of its file. One that never can be applied goes aside; one that
    /// cannot be applied here and now stays, and nothing joins it.
    fn waiting_plan(&self, kind: &PatchKind, grounds: &AllowedRoots) -> Result<(Plan, Option<TextHash>)> {
        let (folder, inbox) = (&self.playbook.0.store.folder, self.files());
        let from = &InboxFiles::patch(kind);
        if inbox.is_missing(from)? {
            return Ok((Plan::default(), None));
        }
        let mut plan = Plan::default();
        let planned = inbox.read(from, MAX_BYTES).and_then(|bytes| {
            let patch = Patch::parse(&bytes).map_err(CannotApply::Patch)?;
            let bases = inbox.bases(from, content_hash(&bytes));
            // Without pointers: they are made when it is applied.
            apply(folder, kind, grounds, &mut plan, (&patch, bases.as_ref()))?;
            Ok(content_hash(&bytes))
        });
        match planned {
            Ok(before) => Ok((plan, Some(before))),
            Err(reason) if reason.may_pass() => {
                Err(inbox::Error::cannot_apply(&InboxFiles::shown(from), reason).into())
            }
            Err(reason) => {
                inbox.set_aside(from, &reason)?;
                Ok((Plan::default(), None))
            }
        }
    }

    /// The one patch of a kind for a plan, with the record beside it.
    fn canonical(
        &self,
        kind: &PatchKind,
        plan: &Plan,
        before: Option<TextHash>,
    ) -> Result<(Vec<FileEdit>, Proposal), CannotApply> {
        let inner = &self.playbook.0;
        let inbox = self.files();
        let whole = plan.to_patch()?;
        let bytes = whole.to_bytes();
        // What is too large to be read again, or has too many parts, is told now.
        Patch::parse(&bytes).map_err(CannotApply::Patch)?;
        let (patch, text) = (InboxFiles::patch(kind), content_hash(&bytes));
        let record = record_edit(inbox, &patch, text, plan, inner.clock.now()).map_err(unreadable)?;
        let files = plan.files().map(|(path, _)| path.to_owned()).collect();
        let proposal = patch_proposal(kind, text, files, whole.line_counts());
        Ok((vec![inbox.edit(&patch, before, Some(bytes)), record], proposal))
    }

    /// A waiting plan with a new patch, which was made for the files as they are or as the plan leaves them.
    fn fold(
        &self,
        kind: &PatchKind,
        grounds: &AllowedRoots,
        waiting: &Plan,
        patch: &Patch,
    ) -> Result<Plan, CannotApply> {
        let folder = &self.playbook.0.store.folder;
        let mut fresh = Plan::default();
        let merged =
            apply(folder, kind, grounds, &mut fresh, (patch, None)).and_then(|_| waiting.clone().merged(fresh));
        if merged.is_ok() || waiting.files().next().is_none() {
            return merged;
        }
        let mut after = waiting.clone();
        match apply(folder, kind, grounds, &mut after, (patch, None)) {
            Ok(_) => Ok(after),
            Err(_) => merged,
        }
    }
}

pub(super) fn record_edit(
    inbox: InboxFiles<'_>,
    of: &Name,
    text: TextHash,
    plan: &Plan,
    at: chrono::DateTime<chrono::FixedOffset>,
) -> Result<FileEdit, FolderError> {
    let record = InboxFiles::record_of(of);
    let files = plan.files().map(|(path, planned)| (path.to_owned(), planned.before.as_deref().map(content_hash)));
    let before = inbox.hash_of(&record)?;
    Ok(inbox.edit(&record, before, Some(Bases::new(text, at, files).to_bytes())))
}
