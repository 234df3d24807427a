//! The review inbox of a playbook (docs/spec/skills.md, 4): proposals that a person lists, reads, applies or dismisses.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use adage_redact::written_out;

use adage::extend::files::{FileEdit, Folder, NamedBelow, Reach, Transaction, Undoable, content_hash};
use adage::extend::{Extension, ReviewedLesson};
use adage::playbook::WaitingLesson;
use adage::{ChangeId, Lesson, LessonId, LessonRef, Playbook, Realm, TextHash};
use chrono::{DateTime, FixedOffset};

use crate::error::{CannotApply, Error, Result};
use crate::examined::{Ready, Survey};
use crate::files::InboxFiles;
use crate::found::{Findings, lesson_proposal, text_of};
use crate::proposal::{Plan, ProposalKind, ProposalName, SKILL_FILE, for_person};
use crate::results::{Applied, Dismissed, Inapplicable, InboxChange, Notice, Proposal, UndoneFiles};

/// The review inbox of a playbook, from [`Inbox::of`].
///
/// Nothing in the inbox takes effect by itself. A proposal is shown, applied and dismissed exactly as it was listed: one that
/// has changed since is refused.
///
/// ```
/// use adage::Playbook;
/// use adage_review::{Inbox, PatchKind};
///
/// # let folder = tempfile::tempdir()?;
/// let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
/// let inbox = Inbox::of(&playbook);
/// let notes = folder.path().canonicalize()?.join("deploy.md");
/// let patch = format!("--- /dev/null\n+++ {}\n@@ -0,0 +1 @@\n+Deploy on Mondays.\n", notes.display());
/// inbox.propose(&PatchKind::Private, patch.as_bytes())?;
///
/// let proposals = inbox.list()?;
/// assert!(inbox.show(&proposals[0])?.contains("+Deploy on Mondays."));
/// inbox.apply(&proposals)?;
/// assert_eq!(std::fs::read_to_string(notes)?, "Deploy on Mondays.\n");
/// assert!(inbox.list()?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Inbox {
    pub(crate) playbook: Playbook,
    /// If set, lessons that this realm does not see are left out.
    realm: Option<Realm>,
    /// Nothing is masked, and what others would mask is applied.
    is_revealing: bool,
}

impl Inbox {
    /// The review inbox of a playbook.
    #[must_use]
    pub fn of(playbook: &Playbook) -> Self {
        Self { playbook: playbook.clone(), realm: None, is_revealing: false }
    }

    pub(crate) fn extension(&self) -> Extension<'_> {
        Extension::of(&self.playbook)
    }

    pub(crate) fn folder(&self) -> &Folder {
        self.extension().folder()
    }

    pub(crate) fn now(&self) -> DateTime<FixedOffset> {
        self.extension().now()
    }

    /// The same inbox with only those lessons that this realm sees. Patches and skills belong to no realm.
    #[must_use]
    pub fn within(self, realm: Realm) -> Self {
        Self { realm: Some(realm), ..self }
    }

    /// The same inbox with nothing masked in what it shows. Only this one applies patches and skills in which the other masks
    /// something: what is written is what was shown.
    #[must_use]
    pub fn revealing(self) -> Self {
        Self { is_revealing: true, ..self }
    }

    /// The proposals that can be applied: patches in the order of their kinds, then new skills, then what was found in each session
    /// and imported from each file, then other lessons. One whose lessons were suggested by most sessions comes first; of equal ones, the oldest.
    ///
    /// # Errors
    /// [`FolderError::Io`](adage::FolderError::Io).
    pub fn list(&self) -> Result<Vec<Proposal>> {
        let survey = self.survey()?;
        let mut proposals: Vec<Proposal> = survey.ready.into_iter().map(|(ready, _)| ready.proposal).collect();
        proposals.sort_by(|one, other| (one.name.kind(), &one.name).cmp(&(other.name.kind(), &other.name)));
        let (found, lessons) = Findings::group(self.visible_lessons()?);
        proposals.extend(found.iter().map(Findings::proposal));
        proposals.extend(lessons.iter().map(lesson_proposal));
        Ok(proposals)
    }

    fn visible_lessons(&self) -> Result<Vec<WaitingLesson>> {
        let is_seen = |lesson: &Lesson| self.realm.as_ref().is_none_or(|realm| realm.sees(&lesson.realm));
        let mut lessons = self.playbook.waiting_lessons()?;
        lessons.retain(|waiting| is_seen(&waiting.lesson));
        lessons.sort_by_key(|waiting| Reverse(waiting.lesson.frequency));
        Ok(lessons)
    }

    /// What the proposal of a session or a file stands for.
    fn findings(&self, name: &ProposalName) -> Result<Findings> {
        let (found, _) = Findings::group(self.visible_lessons()?);
        let found = found.into_iter().find(|findings| findings.name() == name);
        found.ok_or_else(|| Error::NoSuch { name: name.to_string() })
    }

    /// The lessons that proposals stand for, as they were listed.
    fn lessons_of(&self, proposals: &[Proposal]) -> Result<Vec<ReviewedLesson>> {
        let mut lessons = Vec::new();
        for proposal in proposals {
            match &proposal.name {
                ProposalName::Lesson(id) => lessons.push(ReviewedLesson { id: *id, shown: proposal.text }),
                name @ (ProposalName::Session(_) | ProposalName::File(_)) => {
                    lessons.extend(self.findings(name)?.reviewed(proposal)?);
                }
                ProposalName::Patch(_) | ProposalName::Skill(_) => {}
            }
        }
        Ok(lessons)
    }

    /// The entries that [`Inbox::list`] leaves out, with the reason. [`Inbox::check_written`] quarantines those that can never
    /// be applied.
    ///
    /// # Errors
    /// [`FolderError::Io`](adage::FolderError::Io).
    pub fn inapplicable(&self) -> Result<Vec<Inapplicable>> {
        let inapplicable = self.survey()?.inapplicable.into_iter();
        Ok(inapplicable.map(|(path, reason)| Inapplicable { name: InboxFiles::shown(&path), reason }).collect())
    }

    /// The number of proposals that await review; none when there are none.
    ///
    /// # Errors
    /// [`FolderError::Io`](adage::FolderError::Io).
    pub fn notice(&self) -> Result<Option<Notice>> {
        let mut notice = Notice::default();
        let proposals = self.list()?;
        for proposal in &proposals {
            match proposal.name.kind() {
                ProposalKind::Private | ProposalKind::Global | ProposalKind::SkillPatch => notice.n_patches += 1,
                ProposalKind::Skill => notice.n_skills += 1,
                ProposalKind::Session => notice.n_sessions += 1,
                ProposalKind::File => notice.n_files += 1,
                ProposalKind::Lesson => notice.n_lessons += 1,
            }
        }
        Ok((!proposals.is_empty()).then_some(notice))
    }

    /// The proposal of this name, if it can be applied.
    ///
    /// # Errors
    /// [`Error::NoSuch`]; [`Error::CannotApply`] with the reason.
    pub fn find(&self, name: &ProposalName) -> Result<Proposal> {
        if let Some(found) = self.list()?.into_iter().find(|proposal| proposal.name == *name) {
            return Ok(found);
        }
        if let ProposalName::Lesson(id) = name
            && let Some(waiting) = self.visible_lessons()?.iter().find(|waiting| waiting.lesson.id == *id)
        {
            return Ok(lesson_proposal(waiting));
        }
        self.pending()?.ready(name, &mut Plan::default()).map(|ready| ready.proposal)
    }

    /// Everything that applying would do, as a person reads it: the diffs of the patch, then the pointers in the table of
    /// contents that new files get; the text of a lesson. Characters that are not seen are written out. What looks like a secret is
    /// masked, unless the inbox is [`revealing`](Self::revealing); the end of the text says how many characters the masks hide.
    ///
    /// # Errors
    /// [`Error::NoSuch`], [`adage::Error::Changed`], [`Error::CannotApply`].
    pub fn show(&self, proposal: &Proposal) -> Result<String> {
        let name = match &proposal.name {
            ProposalName::Lesson(id) => return self.lesson_text(*id, proposal.text),
            name @ (ProposalName::Session(_) | ProposalName::File(_)) => return self.findings(name)?.shown(proposal),
            name => name,
        };
        let ready = self.present(name, proposal.text)?;
        if self.is_revealing {
            return Ok(written_out(&ready.diff()));
        }
        let (mut text, n_hidden) = for_person(&ready.diff());
        if n_hidden > 0 {
            text.extend(["\n", &CannotApply::Masked { n_chars: n_hidden }.to_string(), "\n"]);
        }
        Ok(text)
    }

    /// Refuses what this inbox does not show in full.
    fn check_shown(&self, ready: &Ready) -> Result<()> {
        let n_chars = if self.is_revealing { 0 } else { for_person(&ready.diff()).1 };
        if n_chars > 0 {
            return Err(Error::cannot_apply(&ready.proposal.name, CannotApply::Masked { n_chars }));
        }
        Ok(())
    }

    /// Applies proposals as they were listed. Patches and skills change files all together or not at all, also if the process
    /// dies; they leave the inbox in the same step. Then lessons come in, in one commit.
    ///
    /// # Errors
    /// [`adage::Error::Changed`], [`Error::NoSuch`]; [`Error::CannotApply`] when one of them cannot be,
    /// with [`Masked`](CannotApply::Masked) when masks hide a part of it; [`NoSuchLesson`](adage::Error::NoSuchLesson); [`FileChanged`](adage::Error::FileChanged) when
    /// somebody edits a file at the same time; [`FolderError::Io`](adage::FolderError::Io). Nothing was changed then, unless a lesson changed or the disk failed
    /// between the two steps: then the files remain changed, and [`Inbox::changes`] lists the change.
    pub fn apply(&self, proposals: &[Proposal]) -> Result<Applied> {
        let (lessons, files) = (self.lessons_of(proposals)?, of_files(proposals));
        let mut applied = Applied::default();
        if !files.is_empty() {
            let edit = || {
                self.check_lessons(&lessons)?;
                let pending = self.pending()?;
                let (mut plan, mut edits) = (Plan::default(), Vec::new());
                for proposal in &files {
                    let ready = pending.present(&proposal.name, proposal.text, &mut plan)?;
                    self.check_shown(&ready)?;
                    edits.extend(ready.leaving(self.files()));
                }
                for (path, planned) in plan.files() {
                    if planned.before.as_ref() != Some(&planned.after) {
                        let before = planned.before.as_deref().map(content_hash);
                        edits.push(FileEdit::new(path.to_owned(), before, Some(planned.after.clone())));
                    }
                }
                Ok((format!("apply {}", names(&files)), edits, plan))
            };
            let (change, plan) = self.playbook.skills().noted(|| self.edit(Undoable::Yes, edit))?;
            applied.change = change;
            applied.files = plan.files().map(|(path, _)| path.to_owned()).collect();
            self.drop_folders(&files);
        }
        if !lessons.is_empty() {
            applied.lessons = self.extension().promote_all(&lessons)?;
        }
        Ok(applied)
    }

    /// Learns candidates of a [session or a file](Proposal::lines), by their numbers from 1. The others are dismissed.
    ///
    /// # Errors
    /// As [`Inbox::apply`]; [`NoSuchLine`](CannotApply::NoSuchLine), also for a proposal without lines.
    pub fn apply_lines(&self, proposal: &Proposal, lines: &[usize]) -> Result<Applied> {
        let no_line = |line, n_lines| Error::cannot_apply(&proposal.name, CannotApply::NoSuchLine { line, n_lines });
        if !matches!(proposal.name.kind(), ProposalKind::Session | ProposalKind::File) {
            return Err(no_line(lines.first().copied().unwrap_or(1), 0));
        }
        let all = self.findings(&proposal.name)?.reviewed(proposal)?;
        if let Some(line) = lines.iter().find(|line| !(1..=all.len()).contains(line)) {
            return Err(no_line(*line, all.len()));
        }
        let (chosen, rest): (Vec<_>, Vec<_>) = (1..).zip(all).partition(|(number, _)| lines.contains(number));
        let lessons = self.extension().promote_all(&without_numbers(chosen))?;
        self.extension().dismiss_all(&without_numbers(rest))?;
        Ok(Applied { lessons, ..Applied::default() })
    }

    /// Removes proposals from the inbox, as they were listed, without applying them. A dismissed lesson is not suggested again.
    ///
    /// # Errors
    /// [`adage::Error::Changed`], [`Error::NoSuch`], [`NoSuchLesson`](adage::Error::NoSuchLesson), [`Error::CannotApply`];
    /// [`FolderError::Io`](adage::FolderError::Io). As with [`Inbox::apply`], an error between the two steps leaves patches and
    /// skills dismissed and lessons not.
    pub fn dismiss(&self, proposals: &[Proposal]) -> Result<Dismissed> {
        let (lessons, files) = (self.lessons_of(proposals)?, of_files(proposals));
        let mut dismissed = Dismissed::default();
        if !files.is_empty() {
            let (change, ()) = self.edit(Undoable::Yes, || {
                self.check_lessons(&lessons)?;
                let (pending, mut edits) = (self.pending()?, Vec::new());
                for proposal in &files {
                    let ready = pending.present(&proposal.name, proposal.text, &mut Plan::default())?;
                    edits.extend(ready.leaving(self.files()));
                }
                Ok((format!("dismiss {}", names(&files)), edits, ()))
            })?;
            dismissed.change = change;
            self.drop_folders(&files);
        }
        if !lessons.is_empty() {
            dismissed.lessons = self.extension().dismiss_all(&lessons)?;
        }
        Ok(dismissed)
    }

    /// The changes of files that can be undone, oldest first: the last 32 of the last 30 days.
    ///
    /// # Errors
    /// [`FolderError::Io`](adage::FolderError::Io).
    pub fn changes(&self) -> Result<Vec<InboxChange>> {
        let changes = self.folder().edits().done()?.into_iter().map(|journal| InboxChange {
            id: journal.id,
            at: journal.at,
            what: journal.what,
            files: journal.files.into_iter().map(|file| file.path).collect(),
        });
        Ok(changes.collect())
    }

    /// Undoes an apply or a dismissal: every file gets its former content, and the proposal returns to the inbox. A skill that goes is
    /// no longer admitted. The last 32 changes of the last 30 days can be undone.
    ///
    /// # Errors
    /// [`NoSuchChange`](adage::Error::NoSuchChange); [`FileChanged`](adage::Error::FileChanged) with both hashes when a file was edited since;
    /// [`Error::CannotApply`] when this playbook may no longer write to the location of a file.
    pub fn undo(&self, change: ChangeId) -> Result<UndoneFiles> {
        let roots = self.allowed_roots()?;
        let reach = Reach {
            own: vec![roots.memory.resolved],
            named: roots
                .skills
                .into_iter()
                .map(|skill| NamedBelow { root: skill.resolved, name: SKILL_FILE })
                .collect(),
            files: roots.global.into_iter().map(|global| global.resolved).collect(),
        };
        let undo = || self.extension().undo_files(change, |_| Ok(reach));
        let (change, journal) = self.playbook.skills().noted(undo)?;
        Ok(UndoneFiles { change, files: journal.files.into_iter().map(|file| file.path).collect() })
    }

    /// Refuses lessons that have changed since they were listed, before any file is written.
    fn check_lessons(&self, lessons: &[ReviewedLesson]) -> Result<()> {
        if lessons.is_empty() {
            return Ok(());
        }
        let waiting = self.playbook.waiting_lessons()?;
        let mut known: BTreeMap<LessonId, TextHash> =
            waiting.iter().map(|waiting| (waiting.lesson.id, waiting.lesson.shown_hash())).collect();
        for ReviewedLesson { id, shown: expected } in lessons.iter().copied() {
            // Each lesson once only: after its promotion it no longer awaits review.
            let found = known.remove(&id).ok_or(adage::Error::NoSuchLesson { lesson: LessonRef::Id(id) })?;
            if found != expected {
                return Err(adage::Error::Changed { what: format!("lesson {id}"), expected, found }.into());
            }
        }
        Ok(())
    }

    fn drop_folders(&self, proposals: &[&Proposal]) {
        for proposal in proposals {
            if let ProposalName::Skill(name) = &proposal.name {
                self.files().remove_empty_skill(name);
            }
        }
    }

    /// Edits files under the folder's lock. `decide` returns a description of the change and the edits; if there are no edits,
    /// nothing is recorded.
    pub(crate) fn edit<T>(
        &self,
        record: Undoable,
        decide: impl FnOnce() -> Result<(String, Vec<FileEdit>, T)>,
    ) -> Result<(Option<ChangeId>, T)> {
        self.folder().edits().change(self.now(), || {
            let (what, edits, value) = decide()?;
            Ok(((!edits.is_empty()).then_some(Transaction { what, record, edits }), value))
        })
    }

    fn survey(&self) -> Result<Survey> {
        self.folder().edits().recover()?;
        self.examine_all()
    }

    fn lesson_text(&self, id: LessonId, text: TextHash) -> Result<String> {
        let waiting = self.playbook.waiting_lessons()?.into_iter().find(|waiting| waiting.lesson.id == id);
        let waiting = waiting.ok_or_else(|| Error::NoSuch { name: id.to_string() })?;
        let found = waiting.lesson.shown_hash();
        if found != text {
            return Err(adage::Error::Changed { what: format!("lesson {id}"), expected: text, found }.into());
        }
        Ok(text_of(&waiting))
    }
}

fn without_numbers(numbered: Vec<(usize, ReviewedLesson)>) -> Vec<ReviewedLesson> {
    numbered.into_iter().map(|(_, lesson)| lesson).collect()
}

/// The proposals that change files.
fn of_files(proposals: &[Proposal]) -> Vec<&Proposal> {
    let is_file = |proposal: &&Proposal| matches!(proposal.name, ProposalName::Patch(_) | ProposalName::Skill(_));
    proposals.iter().filter(is_file).collect()
}

fn names(proposals: &[&Proposal]) -> String {
    proposals.iter().map(|proposal| proposal.name.to_string()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_proposals_are_one_change_which_one_undo_reverts() {
        let temp = tempfile::tempdir().unwrap();
        let playbook = Playbook::builder(temp.path()).without_embedder().open().unwrap();
        let inbox = Inbox::of(&playbook);
        let text = |n: usize| format!("---\nname: s{n}\ndescription: d\n---\nbody {n}\n");
        for n in 0..50 {
            inbox.propose_skill(&format!("s{n}").parse().unwrap(), &text(n)).unwrap();
        }
        let proposals = inbox.list().unwrap();
        assert_eq!(proposals.len(), 50);
        let applied = inbox.apply(&proposals).unwrap();
        assert_eq!(applied.files.len(), 50);
        for n in 0..50 {
            let path = temp.path().join("skills").join(format!("s{n}")).join(SKILL_FILE);
            assert_eq!(std::fs::read_to_string(path).unwrap(), text(n));
        }
        assert!(inbox.list().unwrap().is_empty());
        assert_eq!(std::fs::read_dir(temp.path().join(".inbox").join("skills")).unwrap().count(), 0);
        inbox.undo(applied.change.unwrap()).unwrap();
        assert_eq!(inbox.list().unwrap(), proposals);
    }
}
