//! Saving suggested skills, and keeping the saved ones in order (docs/spec/skills.md, 3).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;

use super::mining::is_in_force;
use super::skill_drafts::CountedSession;
use super::skill_exchange::{SavedSkill, checked_text};
use super::skill_listing::{ListedSkill, listed};
use super::{SkillPlace, Skills};
use crate::capture::Candidate;
use crate::error::{Error, Result, skills};
use crate::lesson::{ChangeId, TextHash};
use crate::model::{CancelToken, LanguageModel};
use crate::skill::{
    AutoSave, CurationPlan, CurationStep, Declined, NotWorded, ProtectedBecause, Skill, SkillLife, SkillName,
    auto_save, curate, word_skill,
};
use crate::store::curation::{CurationFiles, SkillEdit};
use crate::store::skill_state::{Note, SkillState};

/// What a curation did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Curated {
    /// Its steps.
    pub plan: CurationPlan,
    /// What to hand to [`Skills::undo_curation`], when a file was changed.
    pub change: Option<ChangeId>,
}

/// What became of suggested skills.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AutoSaved {
    /// Those that have a file now.
    pub saved: Vec<SavedSkill>,
    /// Those that were not saved, and why.
    pub declined: Vec<(SkillName, Declined)>,
    /// Drafts that tell what was suggested, and that a further session speaks for now.
    pub recurred: Vec<SkillName>,
    /// The curation that followed, if one did.
    pub curated: Option<Curated>,
    /// Why nothing more was saved, where a write failed. The next session that is read tries again.
    pub failed: Option<String>,
}

/// A skill of the memory itself, with its file and what that says.
struct Own {
    path: PathBuf,
    known: Arc<Skill>,
    life: SkillLife,
}

impl Skills {
    /// Saves what sessions suggest as drafts: at most three by default, and only what passes the
    /// [`quality_gate`](crate::skills::quality_gate). What is tainted, says too little, or is here already is declined, with the reason. A
    /// curation follows when something was saved, if the settings say so.
    ///
    /// A draft is shown from the second session on that suggests the same procedure; before that once its lesson was admitted, or
    /// a person promoted the draft.
    ///
    /// # Errors
    /// Those of a write; what was saved before stays saved.
    pub fn save_suggested<'a>(&self, candidates: impl IntoIterator<Item = &'a Candidate>) -> Result<AutoSaved> {
        self.save_worded(candidates, None, &CancelToken::default())
    }

    /// As [`save_suggested`](Self::save_suggested), each of them worded by a model first ([`word_skill`]). Where the model does not
    /// help, the plain draft is saved, unless `auto_save.require_llm` is set.
    ///
    /// # Errors
    /// Those of a write; what was saved before stays saved.
    pub fn save_worded<'a>(
        &self,
        candidates: impl IntoIterator<Item = &'a Candidate>,
        model: Option<&dyn LanguageModel>,
        cancel: &CancelToken,
    ) -> Result<AutoSaved> {
        let inner = &self.0.0;
        let (config, now) = (&inner.config.auto_save, inner.clock.now());
        let mut outcome = AutoSaved::default();
        let drawn = self.state().read()?.drawn;
        let mut suggested = Vec::new();
        // The text that each comes from, by the hash of its body: the name may still be changed.
        let mut texts: BTreeMap<TextHash, TextHash> = BTreeMap::new();
        for candidate in candidates {
            let (skill, text) = match Skill::from_candidate(candidate, &inner.config.learn) {
                Ok((skill, text)) => (skill.standardised(), text),
                Err(refusal) => {
                    outcome.declined.extend(SkillName::slug(&candidate.name).map(|name| (name, refusal.into())));
                    continue;
                }
            };
            let made_before = drawn.get(&text).and_then(|note| note.name.parse().ok()).map(Declined::MadeBefore);
            let counted = if config.enabled { self.count_session(&skill)? } else { None };
            if let Some(CountedSession { draft, .. }) = counted.as_ref().filter(|counted| counted.is_new) {
                outcome.recurred.push(draft.clone());
            }
            if let Some(why) = made_before.or_else(|| counted.map(|counted| Declined::SameAs(counted.draft))) {
                outcome.declined.push((skill.name, why));
                continue;
            }
            let may_save = config.enabled && suggested.len() < config.max_per_run;
            let worded = match model.filter(|_| may_save) {
                Some(model) => word_skill(model, &skill, cancel, &inner.config.extract),
                None => Err(NotWorded::NoModel),
            };
            match worded {
                // Unworded it must not come in for another one that says too little.
                Err(why) if config.require_llm && config.enabled => {
                    let max = config.max_per_run;
                    let why = if may_save { why.into() } else { Declined::Enough { max } };
                    outcome.declined.push((skill.name, why));
                }
                worded => {
                    let skill = worded.unwrap_or(skill);
                    texts.insert(body_hash(&skill), text);
                    suggested.push(skill);
                }
            }
        }
        if suggested.is_empty() {
            return Ok(outcome);
        }
        let listing = self.list()?;
        let listed = listing.skills.iter().chain(listing.shadowed.iter().map(|(listed, _)| listed));
        let known: Vec<Skill> = listed.map(|listed| Skill::clone(&listed.skill)).collect();
        let AutoSave { saved, declined } = auto_save(suggested, &known, config);
        outcome.declined.extend(declined);
        let mut made = Vec::new();
        for skill in saved {
            match self.save(&skill) {
                Ok(saved) => {
                    made.extend(texts.get(&body_hash(&skill)).map(|text| (*text, skill.name.to_string())));
                    outcome.saved.push(saved);
                }
                // Somebody took the name in the meantime.
                Err(Error::Skill(skills::Error::Exists { .. })) => {
                    outcome.declined.push((skill.name, Declined::NameTaken));
                }
                Err(error) => return Err(error),
            }
        }
        if outcome.saved.is_empty() {
            return Ok(outcome);
        }
        self.state().change(|state| {
            for SavedSkill::Written { name, .. } | SavedSkill::Unchanged { name, .. } in &outcome.saved {
                state.saved.insert(name.to_string(), now);
            }
            state.drawn.extend(made.into_iter().map(|(text, name)| (text, Note { name, at: now })));
        })?;
        if inner.config.curation.auto_curate {
            outcome.curated = Some(self.curate()?);
        }
        Ok(outcome)
    }

    /// Takes out the drafts that were made of lessons which a person has removed since. A failure is for the next curation.
    pub(super) fn put_away_removed(&self) {
        let inner = &self.0.0;
        if !inner.config.curation.auto_curate {
            return;
        }
        let is_concerned = || -> Result<bool> {
            let drawn = self.state().read()?.drawn;
            let view = inner.view()?;
            Ok(drawn.keys().any(|text| view.snapshot.book().was_removed(*text)))
        };
        let done =
            is_concerned().and_then(|is_concerned| if is_concerned { self.curate().map(|_| ()) } else { Ok(()) });
        if let Err(error) = done {
            tracing::warn!(%error, "drafts of removed lessons stay until the next curation");
        }
    }

    /// What a curation would do now. Nothing is changed.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn curation_plan(&self) -> Result<CurationPlan> {
        Ok(self.plan()?.0)
    }

    /// Puts the memory's own drafts in order, all in one change: those that say the same become one, those that nobody uses are
    /// marked, those whose suggestion was skipped go. What goes is archived. See [`curate`] for what is never touched.
    ///
    /// ```
    /// use adage::Playbook;
    /// use adage::skills::{Quality, Skill};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
    /// let skills = playbook.skills();
    /// for name in ["first", "second"] {
    ///     let skill = Skill::new(name.parse()?, "The same twice.");
    ///     skills.save(&Skill { body: "# Steps\n\n1. One.".into(), quality: Quality::Draft, ..skill })?;
    /// }
    /// assert_eq!(skills.curation_plan()?.steps[0].to_string(), "merge second into first: they say the same");
    /// let curated = skills.curate()?;
    /// assert_eq!(skills.list()?.skills.len(), 1);
    /// assert!(skills.curate()?.plan.is_empty());
    /// skills.undo_curation(curated.change.ok_or("nothing was changed")?)?;
    /// assert_eq!(skills.list()?.skills.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::FileChanged`] when somebody wrote in a skill in the meantime; those of a write. No skill was changed then.
    pub fn curate(&self) -> Result<Curated> {
        let inner = &self.0.0;
        let (files, now) = (CurationFiles::new(&inner.store.folder), inner.clock.now());
        // Who has never been seen is known from now on, so that its time unused is counted.
        let names: Vec<SkillName> = self.own().into_iter().map(|found| found.skill.name.clone()).collect();
        self.state().change(|state| {
            for name in &names {
                state.saved.entry(name.to_string()).or_insert(now);
            }
        })?;
        let edit = || {
            let (plan, own) = self.plan()?;
            let mut edits = Vec::new();
            for (name, becomes) in plan.outcome() {
                let Some(Own { path, known, .. }) = own.get(&name) else { continue };
                let text = becomes.map(checked_text).transpose()?;
                edits.extend(files.edits_of(SkillEdit { name: &name, path, known, text })?);
            }
            Ok((plan, edits))
        };
        let (plan, change) = self.noted(|| files.change(now, edit))?;
        if change.is_some() {
            self.state().change(|state| note_merges(state, &plan))?;
        }
        Ok(Curated { plan, change })
    }

    /// Takes a curation back: every skill is what it was, to the byte. The drafts that are back are left alone from then on.
    ///
    /// # Errors
    /// [`Error::NoSuchChange`]; [`Error::FileChanged`] when one of the files was changed since, and then nothing is;
    /// [`inbox::Error::CannotApply`](crate::inbox::Error::CannotApply) when the record leads out of the memory's skills;
    /// those of a write.
    pub fn undo_curation(&self, change: ChangeId) -> Result<ChangeId> {
        let inner = &self.0.0;
        let (files, at) = (CurationFiles::new(&inner.store.folder), inner.clock.now());
        let (undone, restored) = files.undo(change, at)?;
        self.state().change(|state| {
            for skill in restored {
                state.kept.insert(skill.text_hash(), Note { name: skill.name.to_string(), at });
            }
        })?;
        Ok(undone)
    }

    fn plan(&self) -> Result<(CurationPlan, BTreeMap<SkillName, Own>)> {
        let inner = &self.0.0;
        let (files, now) = (CurationFiles::new(&inner.store.folder), inner.clock.now());
        let state = self.state().read()?;
        let view = inner.view()?;
        let in_force = view.snapshot.book().skips.iter().filter(|skip| is_in_force(skip, now, &inner.config.capture));
        let mut skipped: Vec<SkillName> = in_force.filter_map(|skip| SkillName::slug(&skip.name)).collect();
        let removed = state.drawn.iter().filter(|(text, _)| view.snapshot.book().was_removed(**text));
        skipped.extend(removed.filter_map(|(_, note)| note.name.parse().ok()));
        let mut own = BTreeMap::new();
        let (known, mut all) = self.own_listed(&state);
        self.withhold_drafts(&mut all, &state)?;
        for (known, listed) in known.into_iter().zip(all) {
            let (name, hash) = (listed.skill.name.clone(), listed.text_hash);
            let hold = if state.kept.contains_key(&hash) {
                ProtectedBecause::Apart
            } else if state.promoted.contains_key(&hash) || !files.is_plain(&listed.path) {
                ProtectedBecause::Stands
            } else {
                ProtectedBecause::None
            };
            let life = SkillLife {
                saved: state.saved.get(name.as_str()).copied(),
                last_used: listed.used.last,
                is_skipped: skipped.contains(&name),
                hold,
                waits: listed.needs_review,
                skill: Skill::clone(&listed.skill),
            };
            own.entry(name).or_insert(Own { path: listed.path, known, life });
        }
        let lives: Vec<SkillLife> = own.values().map(|own| own.life.clone()).collect();
        Ok((curate(&lives, now, &inner.config.curation), own))
    }

    /// The memory's own skills: what each file says, and how it is listed.
    fn own_listed(&self, state: &SkillState) -> (Vec<Arc<Skill>>, Vec<ListedSkill>) {
        let guard = &self.0.0.store.guard;
        let own = self.own().into_iter().filter(|found| guard.admits(|| found.text_hash));
        own.map(|found| (Arc::clone(&found.skill), listed(found, SkillPlace::User, state, guard))).unzip()
    }
}

/// A suggested skill is known by what it says; its name may still be changed.
fn body_hash(skill: &Skill) -> TextHash {
    TextHash::of(&[&skill.body])
}

/// The use of what was merged away is that of what stayed.
fn note_merges(state: &mut SkillState, plan: &CurationPlan) {
    for step in &plan.steps {
        let CurationStep::Merge { kept, gone, .. } = step else { continue };
        if let Some(used) = state.used.get(gone.as_str()).copied() {
            let kept = state.used.entry(kept.to_string()).or_default();
            kept.count = kept.count.saturating_add(used.count);
            kept.last = kept.last.max(used.last);
            state.used.remove(gone.as_str());
        }
        let saved = [kept, gone].into_iter().filter_map(|name| state.saved.get(name.as_str()).copied()).min();
        state.saved.extend(saved.map(|saved| (kept.to_string(), saved)));
    }
    // What a lesson's text was drawn into goes on under the name that stayed.
    for step in &plan.steps {
        let CurationStep::Merge { kept, gone, .. } = step else { continue };
        for note in state.drawn.values_mut().filter(|note| note.name == gone.as_str()) {
            kept.as_str().clone_into(&mut note.name);
        }
    }
    for (name, becomes) in plan.outcome() {
        if becomes.is_none() {
            state.saved.remove(name.as_str());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::folder::disk::{Disk, RealDisk};
    use crate::skill::Quality;
    use crate::testing::at;
    use crate::testing::faults::{Fault, FaultyDisk};
    use crate::{ManualClock, Playbook};

    fn open(folder: &Path, disk: Box<dyn Disk>) -> Result<Playbook> {
        let clock = Arc::new(ManualClock::new(at(0)));
        Playbook::builder(folder).without_embedder().with_clock(clock).with_disk(disk).open()
    }

    fn skill(name: &str, body: &str) -> Skill {
        Skill { body: body.to_owned(), quality: Quality::Draft, ..Skill::new(name.parse().unwrap(), "d") }
    }

    /// The skills' texts by their names.
    fn texts(folder: &Path) -> BTreeMap<String, String> {
        let names = std::fs::read_dir(folder.join("skills")).unwrap().map(|entry| entry.unwrap().path());
        let text = |path: PathBuf| {
            Some((path.file_name()?.to_str()?.to_owned(), std::fs::read_to_string(path.join("SKILL.md")).ok()?))
        };
        names.filter_map(text).collect()
    }

    #[test]
    fn whatever_the_disk_does_a_curation_happens_whole_or_not_at_all() {
        for fault in [Fault::Once, Fault::Freeze] {
            for number in 1.. {
                let memory = tempfile::tempdir().unwrap();
                let skills = open(memory.path(), Box::new(RealDisk)).unwrap().skills();
                for (name, body) in [("a", "1. x"), ("b", "1. x"), ("c", "1. y"), ("d", "1. y"), ("e", "1. z")] {
                    skills.save(&skill(name, body)).unwrap();
                }
                drop(skills);
                let before = texts(memory.path());
                let done = Arc::new(AtomicUsize::new(0));
                let disk = FaultyDisk { fault, at: number, done: Arc::clone(&done) };
                let curated = open(memory.path(), Box::new(disk)).and_then(|playbook| playbook.skills().curate());
                let is_over = done.load(Ordering::SeqCst) < number;
                assert!(!is_over || curated.is_ok(), "{fault:?} {number}: {curated:?}");

                let skills = open(memory.path(), Box::new(RealDisk)).unwrap().skills();
                let after = texts(memory.path());
                let gone = before.len() - after.len();
                let is_whole = after.iter().all(|(name, text)| before[name] == *text);
                assert!(is_whole, "{fault:?} {number}: {after:?}");
                match &curated {
                    // One that could not be looked at was left out of the plan; what was planned was done.
                    Ok(curated) => assert_eq!(gone, curated.plan.steps.len(), "{fault:?} {number}: {after:?}"),
                    Err(_) => assert!([0, 2].contains(&gone), "{fault:?} {number}: {after:?}"),
                }
                skills.curate().unwrap();
                let names: Vec<String> = texts(memory.path()).into_keys().collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                // Which of two is the older is not known where one could not be looked at.
                assert!(matches!(names[..], ["a" | "b", "c" | "d", "e"]), "{fault:?} {number}: {names:?}");
                assert!(skills.curate().unwrap().plan.is_empty(), "{fault:?} {number}");
                if is_over {
                    assert!(number > 20, "only {number} operations were made to fail");
                    break;
                }
            }
        }
    }
}
