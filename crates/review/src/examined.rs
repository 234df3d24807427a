//! The content of the inbox, examined: what applying each proposal would do to the files in their present state.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::error::{CannotApply, Error, Result, TargetError};
use crate::files::{Bases, InboxFiles, InboxItem, Written, unreadable};
use crate::named_targets::NamedTargets;
use crate::patch_error::{Limit, PatchError};
use crate::proposal::{
    AllowedRoots, Content, Effect, FilePatch, INDEX, Located, MAX_BYTES, MAX_FILE_BYTES, Patch, PatchKind, Plan,
    ProposalName, SKILL_FILE, for_person, in_memory, judge, locate, saved_skill, with_pointers,
};
use crate::{Inbox, Proposal};
use adage::TextHash;
use adage::extend::files::{Entry, FileEdit, Folder, Name, content_hash};
use adage::skills::{Name as SkillName, Skill};

/// A proposal and what applying it would do.
pub(crate) struct Ready {
    pub(crate) proposal: Proposal,
    /// All its changes to files, in order, with the files' names.
    pub(crate) diffs: Vec<FilePatch>,
    /// The files of the inbox that are removed with it.
    pub(crate) leaving: Vec<(Name, TextHash)>,
}

impl Ready {
    /// All that it does to files, as one text.
    pub(crate) fn diff(&self) -> String {
        self.diffs.iter().map(|diff| String::from_utf8_lossy(&diff.to_bytes()).into_owned()).collect()
    }

    pub(crate) fn leaving(&self, inbox: InboxFiles<'_>) -> Vec<FileEdit> {
        self.leaving.iter().map(|(name, content)| inbox.edit(name, Some(*content), None)).collect()
    }
}

/// Everything in the inbox, each proposal examined on its own.
#[derive(Default)]
pub(crate) struct Survey {
    /// Proposals, with the state of the files after each.
    pub(crate) ready: Vec<(Ready, Plan)>,
    pub(crate) inapplicable: Vec<(Name, CannotApply)>,
}

/// The inbox, listed once, and the roots that it may change.
pub(crate) struct Pending<'a> {
    folder: &'a Folder,
    written: BTreeMap<ProposalName, Written>,
    roots: AllowedRoots,
}

impl Inbox {
    pub(crate) fn files(&self) -> InboxFiles<'_> {
        InboxFiles(self.folder())
    }

    pub(crate) fn allowed_roots(&self) -> Result<AllowedRoots> {
        let extension = self.extension();
        let targets = NamedTargets(self.folder());
        Ok(targets.allowed_roots(extension.global_notes(), extension.writable_skills())?)
    }

    /// Examines everything in the inbox, each proposal on its own.
    pub(crate) fn examine_all(&self) -> Result<Survey> {
        let folder = self.folder();
        let mut survey = Survey::default();
        let written = self.files().list()?;
        if written.is_empty() {
            return Ok(survey);
        }
        let roots = self.allowed_roots()?;
        for written in written {
            let mut plan = Plan::default();
            match examine(folder, &roots, &written, &mut plan) {
                Ok(Some(ready)) => survey.ready.push((ready, plan)),
                Ok(None) => {}
                Err(reason) => survey.inapplicable.push((written.name, reason)),
            }
        }
        Ok(survey)
    }

    /// The inbox, for lookups by name.
    pub(crate) fn pending(&self) -> Result<Pending<'_>> {
        let named = |written: Written| {
            let name = match &written.what {
                InboxItem::Patch(kind) => ProposalName::Patch(kind.clone()),
                InboxItem::Skill(skill) => ProposalName::Skill(skill.clone()),
                InboxItem::Extra(_) | InboxItem::Misplaced(_) => return None,
            };
            Some((name, written))
        };
        let written = self.files().list()?.into_iter().filter_map(named).collect();
        Ok(Pending { folder: self.folder(), written, roots: self.allowed_roots()? })
    }

    /// A proposal, if it has not changed since it was listed.
    pub(crate) fn present(&self, name: &ProposalName, text: TextHash) -> Result<Ready> {
        self.pending()?.present(name, text, &mut Plan::default())
    }
}

impl Pending<'_> {
    /// Examines a proposal on top of a plan, and adds it to the plan.
    ///
    /// # Errors
    /// `NoSuch`, `CannotApply`.
    pub(crate) fn ready(&self, name: &ProposalName, plan: &mut Plan) -> Result<Ready> {
        let missing = |name: String| Error::NoSuch { name };
        let written = self.written.get(name).ok_or_else(|| missing(name.to_string()))?;
        let shown = || InboxFiles::shown(&written.name);
        match examine(self.folder, &self.roots, written, plan) {
            Ok(Some(ready)) => Ok(ready),
            Ok(None) => Err(missing(shown())),
            Err(reason) => Err(Error::cannot_apply(&shown(), reason)),
        }
    }

    /// As [`ready`](Self::ready), for a proposal that has not changed since it was listed.
    ///
    /// # Errors
    /// Also `Changed`.
    pub(crate) fn present(&self, name: &ProposalName, text: TextHash, plan: &mut Plan) -> Result<Ready> {
        let ready = self.ready(name, plan)?;
        if ready.proposal.text != text {
            let found = ready.proposal.text;
            return Err(adage::Error::Changed { what: name.to_string(), expected: text, found }.into());
        }
        Ok(ready)
    }
}

/// Examines an item on top of a plan, and adds it to the plan; none for an item that is not a proposal of its own.
fn examine(
    folder: &Folder,
    roots: &AllowedRoots,
    written: &Written,
    plan: &mut Plan,
) -> Result<Option<Ready>, CannotApply> {
    let inbox = InboxFiles(folder);
    match &written.what {
        InboxItem::Misplaced(expected) => Err(CannotApply::Misplaced { expected }),
        // It is not listed under its own name: it is merged into the proposal of its kind, or quarantined.
        InboxItem::Extra(kind) => match (kind, &roots.global) {
            (PatchKind::Global, None) => {
                let reason = TargetError::NoAllowedRoot { patch_kind: kind.word() };
                Err(CannotApply::Target { line: 0, reason })
            }
            _ => Ok(None),
        },
        InboxItem::Patch(kind) => {
            let bytes = inbox.read(&written.name, MAX_BYTES)?;
            plan_patch(folder, kind, roots, plan, (&written.name, &bytes)).map(Some)
        }
        InboxItem::Skill(name) => {
            let name_of_file = file_of_skill(inbox, written)?;
            let bytes = inbox.read(&name_of_file, MAX_FILE_BYTES)?;
            check_skill(name, &bytes)?;
            let target = skill_target(folder, roots, name)?;
            let proposal = skill_proposal(name, &bytes, target.clone());
            let leaving = vec![(name_of_file, proposal.text)];
            let diffs = FilePatch::between(&target.to_string_lossy(), None, &bytes).into_iter().collect();
            plan.put(target, None, bytes);
            Ok(Some(Ready { proposal, diffs, leaving }))
        }
    }
}

/// The only file that the folder of a proposed skill may have.
fn file_of_skill(inbox: InboxFiles<'_>, written: &Written) -> Result<Name, CannotApply> {
    let names =
        inbox.names_in(&written.name).map_err(|_| CannotApply::NotAFile { path: written.name.as_path().to_owned() })?;
    if names != [SKILL_FILE] {
        let names: Vec<String> = names.iter().map(|name| name.to_string_lossy().into_owned()).collect();
        let reason = format!("its folder holds {}, not only {SKILL_FILE}", for_person(&names.join(", ")).0);
        return Err(CannotApply::Skill { reason });
    }
    Ok(written.name.join(SKILL_FILE))
}

/// Adds a patch of the inbox, with its pointers, to a plan. The patch applies at exactly its lines, so it is shown unchanged:
/// creating it again takes long if it is large.
fn plan_patch(
    folder: &Folder,
    kind: &PatchKind,
    roots: &AllowedRoots,
    plan: &mut Plan,
    (from, bytes): (&Name, &[u8]),
) -> Result<Ready, CannotApply> {
    let patch = Patch::parse(bytes).map_err(CannotApply::Patch)?;
    let (inbox, text) = (InboxFiles(folder), content_hash(bytes));
    let bases = inbox.bases(from, text);
    let targets = apply(folder, kind, roots, plan, (&patch, bases.as_ref()))?;
    let files = patch.files().iter().zip(&targets);
    let mut diffs: Vec<FilePatch> =
        files.map(|(file, target)| file.clone().named(&target.path.to_string_lossy())).collect();
    let mut files: BTreeSet<PathBuf> = targets.into_iter().map(|target| target.path).collect();
    if *kind == PatchKind::Private
        && let Some(diff) = add_pointers(folder, roots, plan)?
    {
        files.insert(roots.memory.resolved.join(INDEX));
        diffs.push(diff);
    }
    let proposal = patch_proposal(kind, text, files.into_iter().collect(), patch.line_counts());
    let mut leaving = vec![(from.clone(), text)];
    let record = InboxFiles::record_of(from);
    if let Ok(Some(hash)) = inbox.hash_of(&record) {
        leaving.push((record, hash));
    }
    Ok(Ready { proposal, diffs, leaving })
}

pub(crate) fn apply(
    folder: &Folder,
    kind: &PatchKind,
    roots: &AllowedRoots,
    plan: &mut Plan,
    (patch, bases): (&Patch, Option<&Bases>),
) -> Result<Vec<Located>, CannotApply> {
    let mut targets: Vec<Located> = Vec::new();
    for file in patch.files() {
        let refuse = |reason| CannotApply::Target { line: file.line(), reason };
        let target = locate(kind, file, roots).map_err(refuse)?;
        // A file that an earlier diff created or changed was checked there.
        let is_known = plan.after(&target.path).is_some() || targets.iter().any(|known| known.path == target.path);
        if !is_known {
            judge(&target, &NamedTargets(folder).view(&target).map_err(unreadable)?).map_err(refuse)?;
        }
        if let Some(bases) = bases {
            let found = base_of(folder, &target.path)?.as_deref().map(content_hash);
            bases.check(&target.path, found)?;
        }
        targets.push(target);
    }
    plan.apply(patch, &targets, |path| base_of(folder, path))?;
    Ok(targets)
}

fn base_of(folder: &Folder, path: &Path) -> Result<Content, CannotApply> {
    let targets = NamedTargets(folder);
    match targets.entry(path).map_err(unreadable)? {
        Entry::Missing => Ok(None),
        Entry::File { n_bytes, .. } if n_bytes > MAX_FILE_BYTES as u64 => {
            let reason = PatchError::TooLarge {
                what: Limit::FileBytes,
                found: usize::try_from(n_bytes).unwrap_or(usize::MAX),
                limit: MAX_FILE_BYTES,
            };
            Err(CannotApply::Diff { path: path.to_owned(), reason })
        }
        _ => targets.content(path).map_err(unreadable),
    }
}

/// Adds the pointers to new notes to the table of contents (docs/spec/skills.md, 4.5). Returns the diff.
fn add_pointers(folder: &Folder, roots: &AllowedRoots, plan: &mut Plan) -> Result<Option<FilePatch>, CannotApply> {
    let is_new = |path: &Path, before: &Content| {
        let is_note =
            path.parent() == Some(&roots.memory.resolved) && path.file_name().is_some_and(|name| name != INDEX);
        is_note && before.is_none()
    };
    let new: Vec<PathBuf> =
        plan.files().filter(|(path, planned)| is_new(path, &planned.before)).map(|(path, _)| path.to_owned()).collect();
    if new.is_empty() {
        return Ok(None);
    }
    let index = roots.memory.resolved.join(INDEX);
    let (before, present) = if let Some(after) = plan.after(&index) {
        (None, Some(after.to_vec()))
    } else {
        let before = base_of(folder, &index)?;
        let effect = if before.is_some() { Effect::Changes } else { Effect::Makes };
        let target = in_memory(roots, INDEX, effect);
        judge(&target, &NamedTargets(folder).view(&target).map_err(unreadable)?)
            .map_err(|reason| CannotApply::Target { line: 0, reason })?;
        (before.clone(), before)
    };
    let text = present.map(String::from_utf8).transpose();
    let text = text.map_err(|_| CannotApply::Unreadable { reason: format!("{INDEX} is not UTF-8") })?;
    let Some(after) = with_pointers(text.as_deref(), new.iter().map(PathBuf::as_path)) else { return Ok(None) };
    let diff = FilePatch::between(&index.to_string_lossy(), text.as_deref().map(str::as_bytes), after.as_bytes());
    plan.put(index, before, after.into_bytes());
    Ok(diff)
}

/// `counts` are the lines that the patch itself adds and removes.
pub(crate) fn patch_proposal(
    kind: &PatchKind,
    text: TextHash,
    files: Vec<PathBuf>,
    counts: (usize, usize),
) -> Proposal {
    let (n_added, n_removed) = counts;
    let first = files.first().and_then(|path| path.file_name()).unwrap_or_default().to_string_lossy().into_owned();
    let more = if files.len() > 1 { format!(" and {} more", files.len() - 1) } else { String::new() };
    let summary = format!("{first}{more}, {n_added} lines added, {n_removed} removed");
    Proposal { name: ProposalName::Patch(kind.clone()), text, files, summary, lines: Vec::new(), lessons: Vec::new() }
}

pub(crate) fn skill_proposal(name: &SkillName, text: &[u8], target: PathBuf) -> Proposal {
    let summary = format!("a new skill of {} bytes", text.len());
    Proposal {
        name: ProposalName::Skill(name.clone()),
        text: content_hash(text),
        files: vec![target],
        summary,
        lines: Vec::new(),
        lessons: Vec::new(),
    }
}

/// The path of a new skill, if it can be created.
pub(crate) fn skill_target(folder: &Folder, roots: &AllowedRoots, name: &SkillName) -> Result<PathBuf, CannotApply> {
    let target = saved_skill(roots, name.as_str());
    let refuse = |reason| CannotApply::Target { line: 0, reason };
    judge(&target, &NamedTargets(folder).view(&target).map_err(unreadable)?).map_err(refuse)?;
    Ok(target.path)
}

/// The checks of a skill that need only its bytes.
pub(crate) fn check_skill(name: &SkillName, bytes: &[u8]) -> Result<(), CannotApply> {
    let reason = if bytes.len() > MAX_FILE_BYTES {
        format!("it has {} bytes, at most {MAX_FILE_BYTES} are read", bytes.len())
    } else if !name.is_standard() {
        format!("{name} is not made of lower-case letters, digits and single hyphens")
    } else if !std::str::from_utf8(bytes).is_ok_and(|text| !text.trim().is_empty()) {
        "it has no text".to_owned()
    } else {
        match Skill::read(bytes, Some(name.as_str())) {
            Ok(reading) if reading.skill.name == *name => return Ok(()),
            Ok(reading) => format!("it calls itself {}, its folder is {name}", reading.skill.name),
            Err(refused) => refused.to_string(),
        }
    };
    Err(CannotApply::Skill { reason })
}
