//! Curation of the memory's own drafts of skills (docs/spec/skills.md, 3).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;

use crate::error::Result;
use crate::lesson::{ChangeId, TextHash};
use crate::playbook::skills::exchange::checked_text;
use crate::playbook::skills::listing::{ListedSkill, listed};
use crate::playbook::{SkillPlace, Skills};
use crate::skill::{CurationPlan, CurationStep, ProtectedBecause, Skill, SkillLife, SkillName, curate};
use crate::store::skills::curation::{CurationFiles, SkillEdit};
use crate::store::skills::state::{Note, SkillState};

/// The result of a curation.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Curated {
    /// Its steps.
    pub plan: CurationPlan,
    /// The id for [`Skills::undo_curation`]; none if no file changed.
    pub change: Option<ChangeId>,
}

/// A skill of the memory itself, with its file and the file's content.
struct Own {
    path: PathBuf,
    known: Arc<Skill>,
    life: SkillLife,
}

impl Skills {
    /// Archives drafts of lessons that a person has removed. After a failure, the next curation does it.
    pub(in crate::playbook) fn archive_drafts_of_removed(&self) {
        let shared = &self.shared;
        if !shared.config.curation.auto_curate {
            return;
        }
        let is_concerned = || -> Result<bool> {
            let drawn = self.state().read()?.drawn;
            let view = shared.view()?;
            Ok(drawn.keys().any(|text| view.snapshot.book().removed.matches_hash(*text)))
        };
        let done =
            is_concerned().and_then(|is_concerned| if is_concerned { self.curate().map(|_| ()) } else { Ok(()) });
        if let Err(error) = done {
            tracing::warn!(%error, "drafts of removed lessons are kept until the next curation");
        }
    }

    /// Removes the names of archived drafts, which are words of their lessons, from the record of skills. That a draft was made
    /// of each text stays recorded.
    pub(in crate::playbook) fn forget_names_of_drafts(&self, texts: impl Iterator<Item = TextHash>) -> Result<()> {
        const FORGOTTEN: &str = "forgotten";
        let drawn = self.state().read()?.drawn;
        let in_use: Vec<String> = self.own().into_iter().map(|found| found.skill.name.to_string()).collect();
        let is_gone = |name: &str| !in_use.iter().any(|used| used == name);
        let gone: BTreeMap<TextHash, String> = texts
            .filter_map(|text| Some((text, drawn.get(&text)?.name.clone())))
            .filter(|(_, name)| is_gone(name))
            .collect();
        if gone.is_empty() {
            return Ok(());
        }
        self.state().change(|state| {
            let is_kept = |name: &str| !gone.values().any(|gone| gone == name);
            state.saved.retain(|name, _| is_kept(name));
            state.used.retain(|name, _| is_kept(name));
            state.promoted.retain(|_, note| is_kept(&note.name));
            state.checked.retain(|_, checked| is_kept(&checked.note.name));
            state.kept.retain(|_, note| is_kept(&note.name));
            for (text, note) in &mut state.drawn {
                if gone.contains_key(text) {
                    FORGOTTEN.clone_into(&mut note.name);
                }
            }
        })?;
        Ok(())
    }

    /// The plan of a curation now. Nothing is changed.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn curation_plan(&self) -> Result<CurationPlan> {
        Ok(self.plan()?.0)
    }

    /// Curates the memory's own drafts in one change: drafts with the same content are merged, unused ones are marked as stale,
    /// and those whose suggestion was skipped are archived. See [`curate`] for what is never changed.
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
    /// assert_eq!(skills.curation_plan()?.steps[0].to_string(), "merge second into first: their bodies are equal");
    /// let curated = skills.curate()?;
    /// assert_eq!(skills.list()?.skills.len(), 1);
    /// assert!(skills.curate()?.plan.is_empty());
    /// skills.undo_curation(curated.change.ok_or("nothing was changed")?)?;
    /// assert_eq!(skills.list()?.skills.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::FileChanged`](crate::Error::FileChanged) when another program wrote to a skill meanwhile; the errors of a write. No skill was changed
    /// then.
    pub fn curate(&self) -> Result<Curated> {
        let shared = &self.shared;
        let (files, now) = (CurationFiles::new(&shared.store.folder), shared.clock.now());
        // The time unused of a skill is counted from its first curation on.
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

    /// Reverts a curation: every skill gets its former content, to the byte. Later curations do not change the restored drafts.
    ///
    /// # Errors
    /// [`Error::NoSuchChange`](crate::Error::NoSuchChange); [`Error::FileChanged`](crate::Error::FileChanged) when one of the files was changed since, and then no file is restored;
    /// [`Error::OutOfReach`](crate::Error::OutOfReach) when the journal names a file outside the memory's
    /// skills; the errors of a write.
    pub fn undo_curation(&self, change: ChangeId) -> Result<ChangeId> {
        let shared = &self.shared;
        let (files, at) = (CurationFiles::new(&shared.store.folder), shared.clock.now());
        let (undone, restored) = self.noted(|| files.undo(change, at))?;
        self.state().change(|state| {
            for skill in restored {
                state.kept.insert(skill.text_hash(), Note { name: skill.name.to_string(), at });
            }
        })?;
        Ok(undone)
    }

    fn plan(&self) -> Result<(CurationPlan, BTreeMap<SkillName, Own>)> {
        let shared = &self.shared;
        let (files, now) = (CurationFiles::new(&shared.store.folder), shared.clock.now());
        let state = self.state().read()?;
        let view = shared.view()?;
        let in_force = view.snapshot.book().skips.iter().filter(|skip| skip.is_in_force(now, &shared.config.capture));
        let mut skipped: Vec<SkillName> = in_force.filter_map(|skip| SkillName::slug(&skip.name)).collect();
        let removed = state.drawn.iter().filter(|(text, _)| view.snapshot.book().removed.matches_hash(**text));
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
        Ok((curate(&lives, now, &shared.config.curation), own))
    }

    /// The memory's own skills: their files' content, and their listing.
    fn own_listed(&self, state: &SkillState) -> (Vec<Arc<Skill>>, Vec<ListedSkill>) {
        let guard = &self.shared.store.guard;
        let own = self.own().into_iter().filter(|found| guard.admits(|| found.text_hash));
        own.map(|found| (Arc::clone(&found.skill), listed(found, SkillPlace::User, state, guard))).unzip()
    }
}

/// Adds the use of merged skills to the skill that remains.
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
    // Texts of lessons that were drawn into a merged skill refer to the remaining one.
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

    /// The texts of the skills by name.
    fn texts(folder: &Path) -> BTreeMap<String, String> {
        let names = std::fs::read_dir(folder.join("skills")).unwrap().map(|entry| entry.unwrap().path());
        let text = |path: PathBuf| {
            Some((path.file_name()?.to_str()?.to_owned(), std::fs::read_to_string(path.join("SKILL.md")).ok()?))
        };
        names.filter_map(text).collect()
    }

    #[test]
    fn after_any_disk_failure_a_curation_happened_whole_or_not_at_all() {
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
                    // A skill that could not be read was left out of the plan; the plan was carried out.
                    Ok(curated) => assert_eq!(gone, curated.plan.steps.len(), "{fault:?} {number}: {after:?}"),
                    Err(_) => assert!([0, 2].contains(&gone), "{fault:?} {number}: {after:?}"),
                }
                skills.curate().unwrap();
                let names: Vec<String> = texts(memory.path()).into_keys().collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                // If one of two could not be read, it is not known which is older.
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
