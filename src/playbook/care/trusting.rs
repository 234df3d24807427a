//! Admission of content written by others: a whole folder, or texts from version control.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use adage_redact::{mask, written_out};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::error::{Error, Result};
use crate::folder::Name;
use crate::lesson::{Lesson, LessonId, LessonRef, TextHash, Trust, hidden_in_prompts, lesson_as_text};
use crate::playbook::Playbook;
use crate::playbook::WaitingLesson;
use crate::playbook::own_config::own_config;
use crate::playbook::skills::Skills;
use crate::playbook::skills::listing::{ListedSkill, SkillPlace, promotion_of};
use crate::state::Planned;
use crate::store::skills::files::{OWN_SKILLS, RefusedSkill};
use crate::trust::{FolderIdentity, Standing};

/// Content of the folder that its user has not admitted yet.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AwaitingTrust {
    /// Lessons.
    pub lessons: Vec<Arc<Lesson>>,
    /// The ids of those lessons whose text was removed or replaced here before.
    pub removed_before: BTreeSet<LessonId>,
    /// Lessons of an unknown folder that await review. Trusting the folder does not admit them.
    pub in_review: Vec<WaitingLesson>,
    /// The memory's own skills.
    pub skills: Vec<ListedSkill>,
    /// Those that the user withdrew, in any folder. Trusting the folder leaves them out: only a promotion admits them.
    pub withdrawn: Vec<ListedSkill>,
    /// Skill files that could not be read, with the reason.
    pub refused: Vec<RefusedSkill>,
    /// Lessons of an unknown folder that are only in its quarantine. A repair takes them back.
    pub quarantined: Vec<Arc<Lesson>>,
    /// The folder's own settings.
    pub config: Option<String>,
    /// Records of edits that somebody else wrote. None of them is followed or undone: their files would hold texts that nobody saw.
    /// Trust sets them aside.
    #[serde(serialize_with = "crate::path_text::shown")]
    pub edits: Vec<PathBuf>,
}

impl Playbook {
    /// Which parts of the folder this handle uses.
    #[must_use]
    pub fn standing(&self) -> Standing {
        self.shared.store.guard.standing()
    }

    /// The content from version control that the user has not admitted; empty for a folder that is trusted as a whole.
    ///
    /// # Errors
    /// [`FolderError::NotTrusted`](crate::FolderError::NotTrusted), [`FolderError::Io`](crate::FolderError::Io).
    pub fn awaiting_trust(&self) -> Result<AwaitingTrust> {
        let (view, store) = (self.shared.view()?, &self.shared.store);
        let (book, guard) = (view.snapshot.book(), &store.guard);
        let (withdrawn, skills): (Vec<_>, Vec<_>) =
            self.own_skills()?.into_iter().partition(|listed| listed.is_withdrawn);
        if !guard.awaits(TextHash::of::<&str>(&[])) {
            return Ok(AwaitingTrust { withdrawn, ..AwaitingTrust::default() });
        }
        let is_listed = |lesson: &Lesson| book.removed.matches_id(lesson.id);
        let awaits = |lesson: &&Arc<Lesson>| store.awaits(lesson) || is_listed(lesson);
        let lessons: Vec<Arc<Lesson>> = book.lessons.iter().chain(&book.foreign).filter(awaits).cloned().collect();
        let was_removed = |lesson: &&Arc<Lesson>| {
            book.removed.matches_text_or_id(lesson) || guard.was_removed(lesson.admission_hash())
        };
        let skills = skills.into_iter().filter(|listed| guard.awaits(listed.text_hash));
        let is_known = guard.is_recording();
        let quarantined = || -> Result<Vec<Arc<Lesson>>> {
            let found = store.quarantined_lessons(&view.snapshot)?;
            Ok(found.into_iter().map(|(_, lesson)| Arc::new(lesson)).collect())
        };
        let config = own_config(&store.folder).filter(|own| guard.awaits(own.hash));
        Ok(AwaitingTrust {
            removed_before: lessons.iter().filter(was_removed).map(|lesson| lesson.id).collect(),
            lessons,
            in_review: if is_known { Vec::new() } else { self.waiting_lessons()? },
            quarantined: if is_known { Vec::new() } else { quarantined()? },
            skills: skills.collect(),
            withdrawn,
            refused: self.skills().list()?.refused,
            config: config.map(|own| own.text),
            edits: store.folder.edits().foreign()?,
        })
    }

    /// Trusts the folder and everything in it now: a person has looked at it. Lessons in review stay there, and skills that
    /// were withdrawn stay withdrawn. In a folder that is
    /// [tracked](crate::trust::Tracking::Tracked), later changes and additions have to be admitted again. Journals of edits that
    /// somebody else wrote are never followed: they are renamed to `edits/ID.broken`.
    ///
    /// # Errors
    /// [`FolderError::NoTrustStore`](crate::FolderError::NoTrustStore) for a handle without one;
    /// [`FolderError::NotTrusted`](crate::FolderError::NotTrusted) for one that was not opened as
    /// [`trusted`](crate::playbook::PlaybookBuilder::trusted); [`FolderError::Io`](crate::FolderError::Io).
    pub fn trust(&self) -> Result<FolderIdentity> {
        let view = self.shared.view()?;
        let book = view.snapshot.book();
        let lessons: Vec<Arc<Lesson>> = book.lessons.iter().chain(&book.foreign).cloned().collect();
        let hashes = lessons.iter().map(|lesson| lesson.admission_hash());
        let skills =
            self.own_skills()?.into_iter().filter(|listed| listed.not_covered.is_none() && !listed.is_withdrawn);
        let skills = skills.filter(|listed| listed.skill.provenance.trust == Trust::Trusted);
        let store = &self.shared.store;
        let config = own_config(&store.folder).map(|own| own.hash);
        let texts: Vec<TextHash> = hashes.chain(skills.map(|listed| listed.text_hash)).chain(config).collect();
        store.folder.edits().set_aside_foreign()?;
        let identity = store.guard.trust(&store.folder, &texts)?;
        self.lift_removals(&lessons)?;
        self.shared.reload()?;
        Ok(identity)
    }

    /// Admits single lessons from version control.
    ///
    /// # Errors
    /// [`Error::NoSuchLesson`] when none that awaits admission has such an id, [`Error::Ambiguous`] when several have it.
    /// Nothing is admitted then.
    pub fn admit_lessons(&self, ids: &[LessonId]) -> Result<Vec<Arc<Lesson>>> {
        let foreign = self.shared.view()?.snapshot.book().foreign.clone();
        let find = |id: &LessonId| -> Result<Arc<Lesson>> {
            let with_id: Vec<&Arc<Lesson>> = foreign.iter().filter(|lesson| lesson.id == *id).collect();
            match with_id.as_slice() {
                [] => Err(Error::NoSuchLesson { lesson: LessonRef::Id(*id) }),
                [lesson] => Ok(Arc::clone(lesson)),
                several => Err(Error::Ambiguous { trigger: id.to_string(), ids: vec![*id; several.len()] }),
            }
        };
        let lessons: Vec<Arc<Lesson>> = ids.iter().map(find).collect::<Result<_>>()?;
        self.shared.store.guard.note(&lessons.iter().map(|lesson| lesson.admission_hash()).collect::<Vec<_>>())?;
        self.lift_removals(&lessons)?;
        self.shared.reload()?;
        Ok(lessons)
    }

    /// Lessons that a person lets in are not listed as removed any more.
    fn lift_removals(&self, lessons: &[Arc<Lesson>]) -> Result<()> {
        let view = self.shared.view()?;
        let listed: Vec<Arc<Lesson>> =
            lessons.iter().filter(|lesson| view.snapshot.book().removed.matches_text_or_id(lesson)).cloned().collect();
        if listed.is_empty() {
            return Ok(());
        }
        self.shared.commit(|attempt| {
            let mut plan = self.shared.plan(attempt);
            let n_before = plan.book.removed.len();
            for lesson in &listed {
                plan.book.removed.lift(lesson);
            }
            Ok(if plan.book.removed.len() < n_before { Planned::Commit(plan, ()) } else { Planned::Nothing(()) })
        })
    }

    /// The memory's own skills, including those hidden by others.
    fn own_skills(&self) -> Result<Vec<ListedSkill>> {
        let listing = self.skills().list()?;
        let all = listing.skills.into_iter().chain(listing.shadowed.into_iter().map(|shadowed| shadowed.skill));
        Ok(all.filter(|listed| listed.place == SkillPlace::User).collect())
    }
}

impl AwaitingTrust {
    /// True when nothing awaits admission. A skill that was withdrawn does not.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lessons.is_empty() && self.skills.is_empty() && self.config.is_none()
    }
}

/// A lesson as a person should read it before admitting it, with the reason why it waits: all that reaches a prompt, and where it says that it comes from. What
/// cannot be seen is written out; what looks like a secret is masked here and in every prompt.
#[must_use]
pub fn lesson_for_person(lesson: &Lesson, why: &str) -> String {
    let (lesson, n_hidden) = &lesson.masked();
    let mut text = lesson_as_text(lesson, why);
    let keys = |extra: &Map<String, Value>| mask(&json!(extra).to_string()).text;
    let (rest, of_origin) = (keys(&lesson.extra), keys(&lesson.provenance.extra));
    let further =
        [("source", lesson.source.as_str()), ("further keys", &rest), ("further keys of its origin", &of_origin)];
    for (name, value) in further.into_iter().filter(|(_, value)| !matches!(*value, "" | "{}")) {
        let _ = writeln!(text, "{name}: {}", value.replace('\n', "\n  "));
    }
    if *n_hidden > 0 {
        let _ = writeln!(text, "{}", hidden_in_prompts(*n_hidden));
    }
    written_out(&text)
}

impl Skills {
    /// Records as admitted the memory's own skills that `write` creates or changes. A skill from others that was not admitted
    /// stays so when it is changed: nobody has read all of it. Texts that `write` replaces or removes, or whose creation it undoes, are
    /// no longer admitted.
    ///
    /// # Errors
    /// Those of `write`; [`FolderError::Io`](crate::FolderError::Io).
    pub fn noted<T, E: From<Error>>(&self, write: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let guard = &self.shared.store.guard;
        if !guard.is_recording() {
            return write();
        }
        let (before, folders_without_skill) = (self.own_texts(), self.folders_without_skill()?);
        let all_before: BTreeSet<TextHash> = self.own().into_iter().map(|found| found.text_hash).collect();
        let written = write()?;
        let is_own = |path: &PathBuf| match before.get(path) {
            Some(text) => guard.admits(|| *text),
            None => path.parent().is_none_or(|folder| !folders_without_skill.contains(folder)),
        };
        let after = self.own_texts().into_iter().filter(|(path, text)| before.get(path) != Some(text) && is_own(path));
        let texts: Vec<TextHash> = after.map(|(_, text)| text).collect();
        guard.note(&texts).map_err(Error::from)?;
        let all_after: BTreeSet<TextHash> = self.own().into_iter().map(|found| found.text_hash).collect();
        let gone: Vec<TextHash> =
            all_before.difference(&all_after).flat_map(|text| [*text, promotion_of(*text)]).collect();
        guard.withdraw(&gone).map_err(Error::from)?;
        Ok(written)
    }

    /// The memory's own skills that need no promotion. Tainted skills are excluded: without a promotion, a later check cannot
    /// rely on the trust that the file states.
    fn own_texts(&self) -> BTreeMap<PathBuf, TextHash> {
        let trusted = self.own().into_iter().filter(|found| found.skill.provenance.trust == Trust::Trusted);
        trusted.map(|found| (found.path, found.text_hash)).collect()
    }

    /// Folders without a skill that are not empty. A skill that is written there gets supporting files that its writer has not seen.
    fn folders_without_skill(&self) -> Result<BTreeSet<PathBuf>> {
        let root = self.shared.store.folder.below(OWN_SKILLS);
        let skills: BTreeSet<PathBuf> =
            self.own().into_iter().filter_map(|found| Some(found.path.parent()?.to_owned())).collect();
        let is_empty = |name: &OsString| root.list(name.as_os_str()).is_ok_and(|names| names.is_empty());
        let names = root.list(Name::TOP)?.into_iter().filter(|name| !is_empty(name));
        let folders = names.map(|name| root.path_of(name.as_os_str()));
        Ok(folders.filter(|folder| !skills.contains(folder)).collect())
    }
}
