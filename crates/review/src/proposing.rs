//! Proposing patches and skills. Pending patches of one kind are combined into one; an edited proposal replaces the original.

use crate::error::{CannotApply, Error, Result};
use crate::examined::{apply, check_skill, patch_proposal, skill_proposal, skill_target};
use crate::files::{Bases, InboxFiles, unreadable};
use crate::proposal::{AllowedRoots, MAX_BYTES, Patch, PatchKind, Plan, ProposalName, SKILL_FILE, recounted};
use crate::{Inbox, Proposal};
use adage::FolderError;
use adage::TextHash;
use adage::extend::files::{FileEdit, Name, Undoable, content_hash};
use adage::skills::Name as SkillName;

impl Inbox {
    /// Proposes a patch. If the inbox has a patch of the same kind, the two are combined. The new patch may be based on the
    /// files as they are, or on the result of the pending patch.
    ///
    /// # Errors
    /// [`Error::CannotApply`] when it cannot be applied now or conflicts with the pending patch;
    /// [`FolderError::Io`].
    pub fn propose(&self, kind: &PatchKind, patch: &[u8]) -> Result<Proposal> {
        let (_, proposal) = self.edit(Undoable::No, || {
            let (edits, proposal) = self.combined(kind, patch)?;
            Ok((format!("propose {}", proposal.name), edits, proposal))
        })?;
        Ok(proposal)
    }

    /// Proposes a new skill by the text of its `SKILL.md`. A pending proposal of the same name is replaced.
    ///
    /// # Errors
    /// [`Error::CannotApply`] when a skill of this name exists or the text is not a skill; [`FolderError::Io`].
    pub fn propose_skill(&self, skill: &SkillName, text: &str) -> Result<Proposal> {
        let name = ProposalName::Skill(skill.clone());
        let refuse = |reason| Error::cannot_apply(&name, reason);
        let (_, proposal) = self.edit(Undoable::No, || {
            let target = skill_target(self.folder(), &self.allowed_roots()?, skill).map_err(refuse)?;
            check_skill(skill, text.as_bytes()).map_err(refuse)?;
            let file = InboxFiles::skill(skill).join(SKILL_FILE);
            let before = self.files().hash_of(&file)?;
            let edits = vec![self.files().edit(&file, before, Some(text.as_bytes().to_vec()))];
            Ok((format!("propose {name}"), edits, skill_proposal(skill, text.as_bytes(), target)))
        })?;
        Ok(proposal)
    }

    /// The exact bytes of a proposal, unmasked, for a person to edit: a patch, or the text of a skill.
    ///
    /// # Errors
    /// [`Error::NoSuch`], also for a lesson; [`adage::Error::Changed`], [`Error::CannotApply`].
    pub fn text(&self, proposal: &Proposal) -> Result<Vec<u8>> {
        let ready = self.present(&proposal.name, proposal.text)?;
        let (file, _) = ready.leaving.first().ok_or_else(|| Error::NoSuch { name: proposal.name.to_string() })?;
        let refuse = |reason| Error::cannot_apply(&proposal.name, reason);
        self.files().read(file, MAX_BYTES).map_err(refuse)
    }

    /// Replaces a proposal with an edited text. The line counts in a patch's hunk headers need not be right: they are
    /// recomputed.
    ///
    /// # Errors
    /// As [`Inbox::text`]; [`Error::CannotApply`] when the edited text cannot be applied. The proposal is unchanged
    /// then.
    pub fn replace(&self, proposal: &Proposal, text: &[u8]) -> Result<Proposal> {
        let name = &proposal.name;
        let refuse = |reason| Error::cannot_apply(name, reason);
        let (_, replaced) = self.edit(Undoable::No, || {
            let ready = self.present(name, proposal.text)?;
            let (edits, replaced) = match name {
                ProposalName::Patch(kind) => {
                    let patch = Patch::parse(&recounted(text)).map_err(|reason| refuse(CannotApply::Patch(reason)))?;
                    let plan = self.fold(kind, &self.allowed_roots()?, &Plan::default(), &patch).map_err(refuse)?;
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
                ProposalName::Session(_) | ProposalName::File(_) | ProposalName::Lesson(_) => {
                    return Err(Error::NoSuch { name: name.to_string() });
                }
            };
            Ok((format!("edit {name}"), edits, replaced))
        })?;
        Ok(replaced)
    }

    /// The edits that combine a patch with the pending one of its kind, and the resulting proposal.
    pub(crate) fn combined(&self, kind: &PatchKind, patch: &[u8]) -> Result<(Vec<FileEdit>, Proposal)> {
        let name = ProposalName::Patch(kind.clone());
        let refuse = |reason| Error::cannot_apply(&name, reason);
        let roots = self.allowed_roots()?;
        let patch = Patch::parse(patch).map_err(|reason| refuse(CannotApply::Patch(reason)))?;
        let (waiting, before) = self.waiting_plan(kind, &roots)?;
        let plan = self.fold(kind, &roots, &waiting, &patch).map_err(refuse)?;
        self.canonical(kind, &plan, before).map_err(refuse)
    }

    /// The plan of the pending patch of a kind, and the hash of its file. A patch that can never be applied is quarantined; one
    /// that cannot be applied now stays, and no other patch is combined with it.
    fn waiting_plan(&self, kind: &PatchKind, roots: &AllowedRoots) -> Result<(Plan, Option<TextHash>)> {
        let (folder, inbox) = (self.folder(), self.files());
        let from = &InboxFiles::patch(kind);
        if inbox.is_missing(from)? {
            return Ok((Plan::default(), None));
        }
        let mut plan = Plan::default();
        let planned = inbox.read(from, MAX_BYTES).and_then(|bytes| {
            let patch = Patch::parse(&bytes).map_err(CannotApply::Patch)?;
            let bases = inbox.bases(from, content_hash(&bytes));
            // Without pointers: they are added when the patch is applied.
            apply(folder, kind, roots, &mut plan, (&patch, bases.as_ref()))?;
            Ok(content_hash(&bytes))
        });
        match planned {
            Ok(before) => Ok((plan, Some(before))),
            Err(reason) if reason.may_pass() => Err(Error::cannot_apply(&InboxFiles::shown(from), reason)),
            Err(reason) => {
                inbox.set_aside(from, &reason)?;
                Ok((Plan::default(), None))
            }
        }
    }

    /// The combined patch of a kind for a plan, with its record.
    fn canonical(
        &self,
        kind: &PatchKind,
        plan: &Plan,
        before: Option<TextHash>,
    ) -> Result<(Vec<FileEdit>, Proposal), CannotApply> {
        let inbox = self.files();
        let whole = plan.to_patch()?;
        let bytes = whole.to_bytes();
        // A patch that is too large or has too many parts to be read again is refused now.
        Patch::parse(&bytes).map_err(CannotApply::Patch)?;
        let (patch, text) = (InboxFiles::patch(kind), content_hash(&bytes));
        let record = record_edit(inbox, &patch, text, plan, self.now()).map_err(unreadable)?;
        let files = plan.files().map(|(path, _)| path.to_owned()).collect();
        let proposal = patch_proposal(kind, text, files, whole.line_counts());
        Ok((vec![inbox.edit(&patch, before, Some(bytes)), record], proposal))
    }

    /// Adds a new patch to the plan of the pending one. The patch is based on the files as they are, or as the plan leaves
    /// them.
    fn fold(&self, kind: &PatchKind, roots: &AllowedRoots, waiting: &Plan, patch: &Patch) -> Result<Plan, CannotApply> {
        let folder = self.folder();
        let mut fresh = Plan::default();
        let merged = apply(folder, kind, roots, &mut fresh, (patch, None)).and_then(|_| waiting.clone().merged(fresh));
        if merged.is_ok() || waiting.files().next().is_none() {
            return merged;
        }
        let mut after = waiting.clone();
        match apply(folder, kind, roots, &mut after, (patch, None)) {
            Ok(_) => Ok(after),
            Err(_) => merged,
        }
    }
}

pub(crate) fn record_edit(
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
