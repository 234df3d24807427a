//! Matching of skills to a turn's text, by vectors or words (docs/spec/skills.md, 2).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;

use adage_index::UnitVector;
use chrono::TimeDelta;
use parking_lot::{Mutex, RwLock};
use serde::Serialize;

use crate::config::MatchConfig;
use crate::embed::{Embedder, Role, embed_unit, embed_units};
use crate::error::{EmbedError, Result, with_causes};
use crate::playbook::skills::Skills;
use crate::playbook::skills::listing::ListedSkill;
use crate::skill::{
    Fallback, IndexedSkill, Matches, NoMatch, RenderedSkills, Skill, SkillIndex, SkillName, match_skills,
    match_skills_by_meaning, render_skills,
};

/// Texts per call of the embedder.
const BATCH: usize = 64;

/// The skills for a task.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TaskSkills {
    /// The skills that are part of every task, in their order.
    pub always: Vec<SkillName>,
    /// The skills that match the text, with the evidence for each.
    pub matches: Matches,
    /// The texts of the skills, those of every task first, as many as fit the budget.
    pub block: RenderedSkills,
}

/// The index kept between turns.
#[derive(Default)]
pub(in crate::playbook) struct SkillMatcher {
    prepared: Mutex<Option<Arc<Prepared>>>,
    /// True while a thread embeds: a second one would only slow it down.
    is_busy: Arc<AtomicBool>,
}

/// A prepared index of a listing.
struct Prepared {
    /// The listed skills, and whether each can be matched.
    listed: Vec<(Arc<Skill>, bool)>,
    index: SkillIndex,
    /// Their vectors, once embedded.
    vectors: RwLock<BTreeMap<SkillName, UnitVector>>,
}

impl Skills {
    /// The skills that match a text, at most five by default. Skills that are part of every task and skills that await review
    /// are not included.
    ///
    /// With an embedder, skills are compared by vectors. If that finds none, fails or takes longer than two seconds, they are
    /// compared by words, and [`Matches::fallback`] gives the reason. A slow embedder continues in its own thread, and its
    /// vectors are used the next time.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn match_skills(&self, text: &str) -> Result<Matches> {
        let listed = self.list()?.skills;
        Ok(self.matches(text, &listed, &self.always(&listed)))
    }

    /// The block of skills for a task: those that are part of every task, then those that match the text. Their use is recorded
    /// once a day for each.
    ///
    /// ```
    /// use adage::Playbook;
    /// use adage::skills::Skill;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
    /// let skill = Skill::new("docker-build".parse()?, "Builds images.").with_triggers(["docker"], ["build"]);
    /// playbook.skills().save(&Skill { body: "1. Use the cache.".into(), ..skill })?;
    /// let skills = playbook.skills().for_task("compile the docker image")?;
    /// assert_eq!(skills.block.text, "<skill name=\"docker-build\">\n1. Use the cache.\n</skill>\n");
    /// assert_eq!(playbook.skills().for_task("What is the capital of France?")?.block.text, "");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn for_task(&self, text: &str) -> Result<TaskSkills> {
        let listed = self.list()?.skills;
        let always = self.always(&listed);
        let matches = self.matches(text, &listed, &always);
        let names = always.iter().chain(matches.matches.iter().map(|found| &found.name));
        let shown = names.filter_map(|name| listed.iter().find(|listed| listed.skill.name == *name));
        let block = render_skills(shown.map(|listed| &*listed.skill), self.shared.config.matching.max_tokens);
        self.note_use(&listed, &block.shown);
        Ok(TaskSkills { always, matches, block })
    }

    /// Records that skills are used, once a day each: curation needs no more, and it saves a write in every turn.
    fn note_use(&self, listed: &[ListedSkill], shown: &[SkillName]) {
        let shared = &self.shared;
        let now = shared.clock.now();
        let is_due = |listed: &&ListedSkill| {
            let last = listed.used.last;
            shown.contains(&listed.skill.name) && last.is_none_or(|last| now - last >= TimeDelta::days(1))
        };
        let due: Vec<String> = listed.iter().filter(is_due).map(|listed| listed.skill.name.to_string()).collect();
        if due.is_empty() || !shared.store.folder.may_write() {
            return;
        }
        if let Err(error) = self.state().change(|state| {
            for name in &due {
                state.use_of(name, now);
            }
        }) {
            tracing::warn!(%error, "the use of skills could not be recorded");
        }
    }

    /// The block of the auto-loaded skills, within this many estimated tokens.
    pub(in crate::playbook) fn always_loaded(&self, max_tokens: Option<usize>) -> Result<RenderedSkills> {
        let skills = self.auto_load()?;
        let max_tokens = max_tokens.unwrap_or(self.shared.config.matching.max_tokens);
        Ok(render_skills(skills.iter().map(|listed| &*listed.skill), max_tokens))
    }

    pub(in crate::playbook) fn always(&self, listed: &[ListedSkill]) -> Vec<SkillName> {
        let always = listed.iter().filter(|listed| listed.skill.auto_load && listed.is_shown());
        always.take(self.shared.config.skills.max_auto_load).map(|listed| listed.skill.name.clone()).collect()
    }

    fn matches(&self, text: &str, listed: &[ListedSkill], always: &[SkillName]) -> Matches {
        let shared = &self.shared;
        let always: BTreeSet<&SkillName> = always.iter().collect();
        let is_matchable = |listed: &ListedSkill| listed.is_shown() && !always.contains(&listed.skill.name);
        let listed = listed.iter().map(|listed| (Arc::clone(&listed.skill), is_matchable(listed))).collect();
        let prepared = shared.skills.matcher.prepare(listed);
        let config = &shared.config.matching;
        let by_words = match_skills(text, &prepared.index, config);
        let Some(embedder) = &shared.embedder else { return by_words.after(Fallback::NoEmbedder) };
        // The text or the listing is empty: vectors cannot change that.
        let is_final = by_words.none_because.is_some_and(|reason| {
            matches!(reason, NoMatch::NoSkills | NoMatch::NoneMatchable { .. } | NoMatch::NoSlots)
        });
        if is_final || text.trim().is_empty() {
            return by_words;
        }
        match shared.skills.matcher.query(Arc::clone(embedder), &prepared, text, config) {
            Err(fallback) => by_words.after(fallback),
            Ok(query) => {
                let found = match_skills_by_meaning(&query, &prepared.index, &prepared.vectors.read(), config);
                match found.none_because {
                    Some(NoMatch::NothingNear { best, .. }) => by_words.after(Fallback::NothingNear { best }),
                    _ => found,
                }
            }
        }
    }
}

impl SkillMatcher {
    /// The index of these skills; the previous index if they are the same.
    fn prepare(&self, listed: Vec<(Arc<Skill>, bool)>) -> Arc<Prepared> {
        let mut known = self.prepared.lock();
        if let Some(prepared) = known.as_ref().filter(|prepared| prepared.listed == listed) {
            return Arc::clone(prepared);
        }
        let index = SkillIndex::new(
            listed.iter().map(|(skill, is_matchable)| IndexedSkill { skill, is_matchable: *is_matchable }),
        );
        let prepared = Arc::new(Prepared { listed, index, vectors: RwLock::default() });
        *known = Some(Arc::clone(&prepared));
        prepared
    }

    /// The vectors of a text and, in `prepared`, of the skills; or why they are not available in time.
    fn query(
        &self,
        embedder: Arc<dyn Embedder>,
        prepared: &Arc<Prepared>,
        text: &str,
        config: &MatchConfig,
    ) -> Result<UnitVector, Fallback> {
        let failed = |reason: String| Fallback::Failed { reason };
        let timed_out = Fallback::TimedOut { limit: config.time_limit };
        if self.is_busy.swap(true, Ordering::AcqRel) {
            return Err(timed_out);
        }
        let (sender, receiver) = sync_channel(1);
        let (prepared, text, busy) = (Arc::clone(prepared), text.to_owned(), Busy(Arc::clone(&self.is_busy)));
        let embedding = move || {
            let vector = embed(embedder.as_ref(), &prepared, &text);
            // The next call may embed, even if this caller no longer waits for the result.
            drop(busy);
            let _ = sender.send(vector);
        };
        thread::Builder::new()
            .name("adage-skills".into())
            .spawn(embedding)
            .map_err(|error| failed(error.to_string()))?;
        match receiver.recv_timeout(config.time_limit) {
            Ok(vector) => vector.map_err(|error| failed(with_causes(&error))),
            Err(RecvTimeoutError::Timeout) => Err(timed_out),
            Err(RecvTimeoutError::Disconnected) => Err(failed("it panicked".to_owned())),
        }
    }
}

/// Clears the flag when dropped, also after a panic.
struct Busy(Arc<AtomicBool>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

fn embed(embedder: &dyn Embedder, prepared: &Prepared, text: &str) -> Result<UnitVector, EmbedError> {
    let known: BTreeSet<SkillName> = prepared.vectors.read().keys().cloned().collect();
    let missing: Vec<(&SkillName, &str)> = prepared.index.texts().filter(|(name, _)| !known.contains(name)).collect();
    for batch in missing.chunks(BATCH) {
        let texts: Vec<&str> = batch.iter().map(|(_, text)| *text).collect();
        let units = embed_units(embedder, &texts, Role::Document)?;
        prepared.vectors.write().extend(batch.iter().map(|(name, _)| (*name).clone()).zip(units));
    }
    embed_unit(embedder, text, Role::Query)
}
