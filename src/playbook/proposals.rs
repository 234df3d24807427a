//! What lies in the inbox, looked at: which of it could be applied right now, and what an agent wrote there by itself.

use std::path::{Path, PathBuf};

use super::{Inbox, Proposal};
use crate::error::{CannotApply, Error, PatchError, Result};
use crate::inbox::{
    Content, Effect, Entry, Grounds, INDEX, Located, MAX_BYTES, MAX_FILE_BYTES, Patch, PatchKind, Plan, ProposalName,
    SKILL_FILE, for_person, in_memory, judge, locate, recounted, saved_skill, with_pointers,
};
use crate::lesson::TextHash;
use crate::skills::SkillName;
use crate::store::Place;
use crate::store::edits::{FileEdit, Record, Transaction, content_hash};
use crate::store::inbox::{Bases, Lies, Written, unreadable};

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

/// A proposal with what applying it would do.
pub(super) struct Ready {
    pub(super) proposal: Proposal,
    pub(super) plan: Plan,
    /// The files of the inbox that leave with it.
    leaving: Vec<(PathBuf, TextHash)>,
}

impl Ready {
    pub(super) fn leaving(&self) -> Vec<FileEdit> {
        self.leaving.iter().map(|(path, content)| FileEdit::new(path.clone(), Some(*content), None)).collect()
    }
}

/// All that lies in the inbox.
#[derive(Default)]
pub(super) struct Survey {
    pub(super) ready: Vec<Ready>,
    pub(super) unfit: Vec<(PathBuf, CannotApply)>,
}

impl Inbox {
    /// Proposes a patch. If one of its kind waits, they become one: the new one may be made for the files as they are, or as the
    /// waiting one leaves them.
    ///
    /// # Errors
    /// [`Error::CannotApply`] when it could not be applied right now, or contradicts the waiting one; [`Error::Io`].
    pub fn propose(&self, kind: &PatchKind, patch: &[u8]) -> Result<Proposal> {
        let name = ProposalName::Patch(kind.clone());
        let inner = &self.playbook.0;
        let place = &inner.store.place;
        let refuse = |reason: CannotApply| Error::CannotApply { name: name.to_string(), reason: Box::new(reason) };
        let now = inner.clock.now();
        let (_, proposal) = place.edit_files(now, || {
            let grounds = self.grounds()?;
            let patch = Patch::parse(patch).map_err(|reason| refuse(CannotApply::Patch(reason)))?;
            let path = place.patch_path(kind);
            let (waiting, before) = self.waiting_plan(kind, &path, &grounds)?;
            let plan = fold(place, kind, &grounds, &waiting, &patch).map_err(refuse)?;
            let (edits, proposal) = self.canonical(kind, &plan, before).map_err(refuse)?;
            let what = format!("propose {name}");
            Ok((Some(Transaction { what, record: Record::Dropped, edits }), proposal))
        })?;
        Ok(proposal)
    }

    /// Proposes a new skill: the text of its `SKILL.md`. A waiting one of the same name is replaced.
    ///
    /// # Errors
    /// [`Error::CannotApply`] when there is such a skill, or the text is none; [`Error::Io`].
    pub fn propose_skill(&self, skill: &SkillName, text: &str) -> Result<Proposal> {
        let name = ProposalName::Skill(skill.clone());
        let refuse = |reason: CannotApply| Error::CannotApply { name: name.to_string(), reason: Box::new(reason) };
        let inner = &self.playbook.0;
        let place = &inner.store.place;
        let (_, proposal) = place.edit_files(inner.clock.now(), || {
            let grounds = self.grounds()?;
            let target = skill_target(place, &grounds, skill).map_err(refuse)?;
            check_skill(skill, text.as_bytes()).map_err(refuse)?;
            let path = place.skill_proposal(skill).join(SKILL_FILE);
            let before = place.content(&path)?.as_deref().map(content_hash);
            let edits = vec![FileEdit::new(path, before, Some(text.as_bytes().to_vec()))];
            let transaction = Transaction { what: format!("propose {name}"), record: Record::Dropped, edits };
            Ok((Some(transaction), skill_proposal(skill, text.as_bytes(), target)))
        })?;
        Ok(proposal)
    }

    /// What lies in the inbox under a proposal, byte by byte and unmasked, for a person to edit: a patch, or the text of a skill.
    ///
    /// # Errors
    /// [`Error::NoSuchProposal`], also for a lesson; [`Error::ProposalChanged`], [`Error::CannotApply`].
    pub fn text(&self, proposal: &Proposal) -> Result<Vec<u8>> {
        let ready = self.present(&proposal.name, proposal.text)?;
        let (path, _) =
            ready.leaving.first().ok_or_else(|| Error::NoSuchProposal { name: proposal.name.to_string() })?;
        let refuse = |reason| Error::CannotApply { name: proposal.name.to_string(), reason: Box::new(reason) };
        self.playbook.0.store.place.read_written(path, MAX_BYTES).map_err(refuse)
    }

    /// Puts an edited text in the place of a proposal. The counts of a patch need not be right: they are counted anew.
    ///
    /// # Errors
    /// As [`Inbox::text`]; [`Error::CannotApply`] when the edited one could not be applied. The proposal is then as it was.
    pub fn replace(&self, proposal: &Proposal, text: &[u8]) -> Result<Proposal> {
        let inner = &self.playbook.0;
        let place = &inner.store.place;
        let name = &proposal.name;
        let refuse = |reason: CannotApply| Error::CannotApply { name: name.to_string(), reason: Box::new(reason) };
        let (_, replaced) = place.edit_files(inner.clock.now(), || {
            let ready = self.present(name, proposal.text)?;
            let (edits, replaced) = match name {
                ProposalName::Patch(kind) => {
                    let patch = Patch::parse(&recounted(text)).map_err(|reason| refuse(CannotApply::Patch(reason)))?;
                    let grounds = self.grounds()?;
                    let plan = fold(place, kind, &grounds, &Plan::default(), &patch).map_err(refuse)?;
                    self.canonical(kind, &plan, Some(proposal.text)).map_err(refuse)?
                }
                ProposalName::Skill(skill) => {
                    check_skill(skill, text).map_err(refuse)?;
                    let target = ready.proposal.files.first().cloned().unwrap_or_default();
                    let leaving = ready.leaving.into_iter().map(|(path, before)| (path, Some(before)));
                    let edits = leaving.map(|(path, before)| FileEdit::new(path, before, Some(text.to_vec())));
                    (edits.collect(), skill_proposal(skill, text, target))
                }
                ProposalName::Lesson(_) => return Err(Error::NoSuchProposal { name: name.to_string() }),
            };
            let transaction = Transaction { what: format!("edit {name}"), record: Record::Dropped, edits };
            Ok((Some(transaction), replaced))
        })?;
        Ok(replaced)
    }

    /// Looks at what an agent wrote straight into the inbox: patches under names of their own join the one of their kind, what
    /// cannot be applied goes to `.inbox/aside/` with its reason, and what stays is remembered together with what its targets
    /// hold now.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn check_written(&self) -> Result<CheckedInbox> {
        let inner = &self.playbook.0;
        let place = &inner.store.place;
        let mut checked = CheckedInbox::default();
        inner.store.place.edit_files(inner.clock.now(), || {
            let survey = self.look_through()?;
            for (path, reason) in survey.unfit {
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
            let (waiting, before) = self.waiting_plan(kind, &place.patch_path(kind), &grounds)?;
            let plan = fold(place, kind, &grounds, &waiting, &patch).map_err(refuse)?;
            let (mut edits, _) = self.canonical(kind, &plan, before).map_err(refuse)?;
            edits.push(FileEdit::new(from.to_owned(), Some(content_hash(bytes)), None));
            let what = format!("join {}", place.inbox_name(from));
            Ok((Some(Transaction { what, record: Record::Dropped, edits }), ()))
        };
        place.edit_files(inner.clock.now(), fold_in).map(drop)
    }

    /// What the waiting patch of a kind makes, and the hash of its file. One that cannot be applied goes aside.
    fn waiting_plan(&self, kind: &PatchKind, path: &Path, grounds: &Grounds) -> Result<(Plan, Option<TextHash>)> {
        let place = &self.playbook.0.store.place;
        if place.look(path)? == Entry::Missing {
            return Ok((Plan::default(), None));
        }
        let mut plan = Plan::default();
        let planned = place.read_written(path, MAX_BYTES).and_then(|bytes| {
            let patch = Patch::parse(&bytes).map_err(CannotApply::Patch)?;
            let bases = place.bases(path, content_hash(&bytes));
            // Without pointers: they are made when it is applied.
            apply(place, kind, grounds, &mut plan, (&patch, bases.as_ref()))?;
            Ok(content_hash(&bytes))
        });
        match planned {
            Ok(before) => Ok((plan, Some(before))),
            Err(reason) => place.set_aside(path, &reason).map(|_| (Plan::default(), None)),
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
        let place = &inner.store.place;
        let bytes = plan.to_patch()?.to_bytes();
        // What is too large to be read again, or has too many parts, is told now.
        Patch::parse(&bytes).map_err(CannotApply::Patch)?;
        let (path, text) = (place.patch_path(kind), content_hash(&bytes));
        let record = record_edit(place, &path, text, plan, inner.clock.now()).map_err(unreadable)?;
        let proposal = patch_proposal(kind, text, plan);
        Ok((vec![FileEdit::new(path, before, Some(bytes)), record], proposal))
    }

    pub(super) fn grounds(&self) -> Result<Grounds> {
        let inner = &self.playbook.0;
        inner.store.place.grounds(inner.global_notes.as_deref(), &inner.writable_skills)
    }

    /// Everything that lies in the inbox, each on its own.
    pub(super) fn look_through(&self) -> Result<Survey> {
        let place = &self.playbook.0.store.place;
        let mut survey = Survey::default();
        let written = place.written()?;
        if written.is_empty() {
            return Ok(survey);
        }
        let grounds = self.grounds()?;
        for written in written {
            match examine(place, &grounds, &written, Plan::default()) {
                Ok(Some(ready)) => survey.ready.push(ready),
                Ok(None) => {}
                Err(reason) => survey.unfit.push((written.path, reason)),
            }
        }
        Ok(survey)
    }

    /// What lies under a name.
    pub(super) fn written(&self, name: &ProposalName) -> Result<Option<Written>> {
        let is_it = |written: &Written| match (&written.what, name) {
            (Lies::Patch(kind), ProposalName::Patch(wanted)) => kind == wanted,
            (Lies::Skill(skill), ProposalName::Skill(wanted)) => skill == wanted,
            _ => false,
        };
        Ok(self.playbook.0.store.place.written()?.into_iter().find(is_it))
    }

    /// # Errors
    /// `CannotApply`.
    pub(super) fn ready(&self, written: &Written) -> Result<Ready> {
        self.ready_after(written, Plan::default())
    }

    fn ready_after(&self, written: &Written, start: Plan) -> Result<Ready> {
        let place = &self.playbook.0.store.place;
        let name = || place.inbox_name(&written.path);
        match examine(place, &self.grounds()?, written, start) {
            Ok(Some(ready)) => Ok(ready),
            Ok(None) => Err(Error::NoSuchProposal { name: name() }),
            Err(reason) => Err(Error::CannotApply { name: name(), reason: Box::new(reason) }),
        }
    }

    /// A proposal that still is what was listed.
    pub(super) fn present(&self, name: &ProposalName, text: TextHash) -> Result<Ready> {
        self.present_after(name, text, Plan::default())
    }

    /// The same, applied on top of others.
    pub(super) fn present_after(&self, name: &ProposalName, text: TextHash, start: Plan) -> Result<Ready> {
        let written = self.written(name)?.ok_or_else(|| Error::NoSuchProposal { name: name.to_string() })?;
        let ready = self.ready_after(&written, start)?;
        if ready.proposal.text != text {
            let found = ready.proposal.text;
            return Err(Error::ProposalChanged { what: name.to_string(), expected: text, found });
        }
        Ok(ready)
    }
}

/// What applying something would do, after a plan; none for what is no proposal of its own.
fn examine(place: &Place, grounds: &Grounds, written: &Written, mut plan: Plan) -> Result<Option<Ready>, CannotApply> {
    match &written.what {
        Lies::Misplaced(expected) => Err(CannotApply::Misplaced { expected }),
        // It is not listed under its name; it becomes part of the one of its kind, or goes aside.
        Lies::Extra(_) => Ok(None),
        Lies::Patch(kind) => {
            let bytes = place.read_written(&written.path, MAX_BYTES)?;
            plan_patch(place, kind, grounds, &mut plan, (&written.path, &bytes))?;
            let text = content_hash(&bytes);
            let proposal = patch_proposal(kind, text, &plan);
            let mut leaving = vec![(written.path.clone(), text)];
            let record = Place::record_path(&written.path);
            if let Ok(Some(bytes)) = place.content(&record) {
                leaving.push((record, content_hash(&bytes)));
            }
            Ok(Some(Ready { proposal, plan, leaving }))
        }
        Lies::Skill(name) => {
            let names = place.names(&written.path).map_err(|_| CannotApply::NotAFile)?;
            if names != [SKILL_FILE] {
                let names: Vec<String> = names.iter().map(|name| name.to_string_lossy().into_owned()).collect();
                let reason = format!("its folder holds {}, not only {SKILL_FILE}", for_person(&names.join(", ")).0);
                return Err(CannotApply::Skill { reason });
            }
            let path = written.path.join(SKILL_FILE);
            let bytes = place.read_written(&path, MAX_FILE_BYTES)?;
            check_skill(name, &bytes)?;
            let target = skill_target(place, grounds, name)?;
            let proposal = skill_proposal(name, &bytes, target.clone());
            let leaving = vec![(path, proposal.text)];
            plan.put(target, None, bytes);
            Ok(Some(Ready { proposal, plan, leaving }))
        }
    }
}

/// Adds a patch that lies in the inbox to a plan, pointers and all.
fn plan_patch(
    place: &Place,
    kind: &PatchKind,
    grounds: &Grounds,
    plan: &mut Plan,
    (path, bytes): (&Path, &[u8]),
) -> Result<(), CannotApply> {
    let patch = Patch::parse(bytes).map_err(CannotApply::Patch)?;
    let bases = place.bases(path, content_hash(bytes));
    apply(place, kind, grounds, plan, (&patch, bases.as_ref()))?;
    if *kind == PatchKind::Private { add_pointers(place, grounds, plan) } else { Ok(()) }
}

fn apply(
    place: &Place,
    kind: &PatchKind,
    grounds: &Grounds,
    plan: &mut Plan,
    (patch, bases): (&Patch, Option<&Bases>),
) -> Result<(), CannotApply> {
    let mut targets: Vec<Located> = Vec::new();
    for file in patch.files() {
        let refuse = |reason| CannotApply::Target { line: file.line(), reason };
        let target = locate(kind, file, grounds).map_err(refuse)?;
        // What a diff before this one made or changed was judged there.
        let is_known = plan.after(&target.path).is_some() || targets.iter().any(|known| known.path == target.path);
        if !is_known {
            judge(&target, &place.view(&target).map_err(unreadable)?).map_err(refuse)?;
        }
        if let Some(bases) = bases {
            let found = base_of(place, &target.path)?.as_deref().map(content_hash);
            bases.check(&target.path, found)?;
        }
        targets.push(target);
    }
    plan.apply(patch, &targets, |path| base_of(place, path))
}

fn base_of(place: &Place, path: &Path) -> Result<Content, CannotApply> {
    match place.look(path).map_err(unreadable)? {
        Entry::Missing => Ok(None),
        Entry::File { n_bytes, .. } if n_bytes > MAX_FILE_BYTES as u64 => {
            let reason = PatchError::TooLarge {
                what: crate::error::Limit::FileBytes,
                found: usize::try_from(n_bytes).unwrap_or(usize::MAX),
                limit: MAX_FILE_BYTES,
            };
            Err(CannotApply::Diff { path: path.to_owned(), reason })
        }
        _ => place.content(path).map_err(unreadable),
    }
}

/// The pointers to new notes in the table of contents (skills 4.5).
fn add_pointers(place: &Place, grounds: &Grounds, plan: &mut Plan) -> Result<(), CannotApply> {
    let is_new = |path: &Path, before: &Content| {
        let is_note =
            path.parent() == Some(&grounds.memory.resolved) && path.file_name().is_some_and(|name| name != INDEX);
        is_note && before.is_none()
    };
    let new: Vec<PathBuf> =
        plan.files().filter(|(path, planned)| is_new(path, &planned.before)).map(|(path, _)| path.to_owned()).collect();
    if new.is_empty() {
        return Ok(());
    }
    let index = grounds.memory.resolved.join(INDEX);
    let (before, present) = if let Some(after) = plan.after(&index) {
        (None, Some(after.to_vec()))
    } else {
        let before = base_of(place, &index)?;
        let effect = if before.is_some() { Effect::Changes } else { Effect::Makes };
        let target = in_memory(grounds, INDEX, effect);
        judge(&target, &place.view(&target).map_err(unreadable)?)
            .map_err(|reason| CannotApply::Target { line: 0, reason })?;
        (before.clone(), before)
    };
    let text = present.map(String::from_utf8).transpose();
    let text = text.map_err(|_| CannotApply::Unreadable { reason: format!("{INDEX} is no text in UTF-8") })?;
    if let Some(text) = with_pointers(text.as_deref(), new.iter().map(PathBuf::as_path)) {
        plan.put(index, before, text.into_bytes());
    }
    Ok(())
}

/// A waiting plan with a new patch, which was made for the files as they are or as the plan leaves them.
fn fold(
    place: &Place,
    kind: &PatchKind,
    grounds: &Grounds,
    waiting: &Plan,
    patch: &Patch,
) -> Result<Plan, CannotApply> {
    let mut fresh = Plan::default();
    let merged = apply(place, kind, grounds, &mut fresh, (patch, None)).and_then(|()| waiting.clone().merged(fresh));
    if merged.is_ok() || waiting.files().next().is_none() {
        return merged;
    }
    let mut after = waiting.clone();
    match apply(place, kind, grounds, &mut after, (patch, None)) {
        Ok(()) => Ok(after),
        Err(_) => merged,
    }
}

fn record_edit(
    place: &Place,
    patch: &Path,
    text: TextHash,
    plan: &Plan,
    at: chrono::DateTime<chrono::FixedOffset>,
) -> Result<FileEdit> {
    let path = Place::record_path(patch);
    let files = plan.files().map(|(path, planned)| (path.to_owned(), planned.before.as_deref().map(content_hash)));
    let before = place.content(&path)?.as_deref().map(content_hash);
    Ok(FileEdit::new(path, before, Some(Bases::new(text, at, files).to_bytes())))
}

fn patch_proposal(kind: &PatchKind, text: TextHash, plan: &Plan) -> Proposal {
    let files: Vec<PathBuf> = plan.files().map(|(path, _)| path.to_owned()).collect();
    let (n_added, n_removed) = plan.line_counts();
    let first = files.first().and_then(|path| path.file_name()).unwrap_or_default().to_string_lossy().into_owned();
    let more = if files.len() > 1 { format!(" and {} more", files.len() - 1) } else { String::new() };
    let summary = format!("{first}{more}, {n_added} lines added, {n_removed} removed");
    Proposal { name: ProposalName::Patch(kind.clone()), text, files, summary }
}

fn skill_proposal(name: &SkillName, text: &[u8], target: PathBuf) -> Proposal {
    let summary = format!("a new skill of {} bytes", text.len());
    Proposal { name: ProposalName::Skill(name.clone()), text: content_hash(text), files: vec![target], summary }
}

/// Where a new skill goes, if it can.
fn skill_target(place: &Place, grounds: &Grounds, name: &SkillName) -> Result<PathBuf, CannotApply> {
    let target = saved_skill(grounds, name.as_str());
    let refuse = |reason| CannotApply::Target { line: 0, reason };
    judge(&target, &place.view(&target).map_err(unreadable)?).map_err(refuse)?;
    Ok(target.path)
}

/// What can be said of a skill by its bytes.
fn check_skill(name: &SkillName, bytes: &[u8]) -> Result<(), CannotApply> {
    let reason = if bytes.len() > MAX_FILE_BYTES {
        format!("it has {} bytes, at most {MAX_FILE_BYTES} are read", bytes.len())
    } else if !name.is_standard() {
        format!("{name} is not made of lower-case letters, digits and single hyphens")
    } else if !std::str::from_utf8(bytes).is_ok_and(|text| !text.trim().is_empty()) {
        "it has no text".to_owned()
    } else {
        return Ok(());
    };
    Err(CannotApply::Skill { reason })
}
