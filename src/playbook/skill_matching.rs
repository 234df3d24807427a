//! Which skills a turn's text asks for, with the embedder where there is one (docs/spec/skills.md, 2).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;

use adage_index::UnitVector;
use chrono::TimeDelta;
use parking_lot::{Mutex, RwLock};
use serde::Serialize;

use super::skill_listing::ListedSkill;
use super::skills::Skills;
use crate::config::MatchConfig;
use crate::embed::{Embedder, Role, embed_units};
use crate::error::{EmbedError, Result, with_causes};
use crate::skill::{
    Fallback, IndexedSkill, Matches, NoMatch, RenderedSkills, Skill, SkillIndex, SkillName, match_skills,
    match_skills_by_meaning, render_skills,
};

/// Texts a call of the embedder.
const BATCH: usize = 64;

/// The skills for a task.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TaskSkills {
    /// Those that come with every task, in their order.
    pub always: Vec<SkillName>,
    /// Those that the text asks for, and what speaks for each.
    pub matches: Matches,
    /// Their texts, those that always come first, as far as they fit the budget.
    pub block: RenderedSkills,
}

/// What a handle keeps from turn to turn.
#[derive(Default)]
pub(super) struct SkillMatcher {
    prepared: Mutex<Option<Arc<Prepared>>>,
    /// A thread is embedding: a second one would only make it slower.
    is_busy: Arc<AtomicBool>,
}

/// A listing made ready.
struct Prepared {
    /// The skills that were listed, and whether each can be matched.
    listed: Vec<(Arc<Skill>, bool)>,
    index: SkillIndex,
    /// Their vectors, once they were embedded.
    vectors: RwLock<BTreeMap<SkillName, UnitVector>>,
}

impl Skills {
    /// The skills that a text asks for, at most five by default. Those that always come, and those that wait for a person, are
    /// not among them.
    ///
    /// With an embedder, by meaning; where that finds none, fails or takes longer than two seconds, by words, and
    /// [`Matches::fallback`] says why. An embedder that is too slow goes on in a thread of its own, and is ready the next time.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn match_skills(&self, text: &str) -> Result<Matches> {
        let listed = self.list()?.skills;
        Ok(self.matches(text, &listed, &self.always(&listed)))
    }

    /// The block of skills for a task: those that always come, then those that the text asks for. That they were shown is put on
    /// record, once a day for each.
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
        let block = render_skills(shown.map(|listed| &*listed.skill), self.0.config().matching.max_tokens);
        self.note_use(&listed, &block.shown);
        Ok(TaskSkills { always, matches, block })
    }

    /// Keeps in mind that skills are used, once a day each: that is as much as curation asks, and a write less in every turn.
    fn note_use(&self, listed: &[ListedSkill], shown: &[SkillName]) {
        let inner = &self.0.0;
        let now = inner.clock.now();
        let is_due = |listed: &&ListedSkill| {
            let last = listed.used.last;
            shown.contains(&listed.skill.name) && last.is_none_or(|last| now - last >= TimeDelta::days(1))
        };
        let due: Vec<String> = listed.iter().filter(is_due).map(|listed| listed.skill.name.to_string()).collect();
        if due.is_empty() || !inner.store.folder.may_write() {
            return;
        }
        if let Err(error) = self.state().change(|state| {
            for name in &due {
                state.use_of(name, now);
            }
        }) {
            tracing::warn!(%error, "it is not on record that skills were used");
        }
    }

    /// The block of the skills that come with every context, within this many estimated tokens.
    pub(super) fn always_loaded(&self, max_tokens: Option<usize>) -> Result<RenderedSkills> {
        let skills = self.auto_load()?;
        let max_tokens = max_tokens.unwrap_or(self.0.config().matching.max_tokens);
        Ok(render_skills(skills.iter().map(|listed| &*listed.skill), max_tokens))
    }

    pub(super) fn always(&self, listed: &[ListedSkill]) -> Vec<SkillName> {
        let always = listed.iter().filter(|listed| listed.skill.auto_load && listed.is_shown());
        always.take(self.0.config().skills.max_auto_load).map(|listed| listed.skill.name.clone()).collect()
    }

    fn matches(&self, text: &str, listed: &[ListedSkill], always: &[SkillName]) -> Matches {
        let inner = &self.0.0;
        let always: BTreeSet<&SkillName> = always.iter().collect();
        let is_matchable = |listed: &ListedSkill| listed.is_shown() && !always.contains(&listed.skill.name);
        let listed = listed.iter().map(|listed| (Arc::clone(&listed.skill), is_matchable(listed))).collect();
        let prepared = inner.skill_matcher.prepare(listed);
        let config = &inner.config.matching;
        let by_words = match_skills(text, &prepared.index, config);
        let Some(embedder) = &inner.embedder else { return by_words.after(Fallback::NoEmbedder) };
        // Nothing to look for, or nothing to find: no vector changes that.
        let is_settled = by_words.none_because.is_some_and(|reason| {
            matches!(reason, NoMatch::NoSkills | NoMatch::NoneMatchable { .. } | NoMatch::NoSlots)
        });
        if is_settled || text.trim().is_empty() {
            return by_words;
        }
        match inner.skill_matcher.query(Arc::clone(embedder), &prepared, text, config) {
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
    /// The index of these skills; that of the turn before where they are the same.
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

    /// The vector of a text, and those of the skills in their place; or why there is none in time.
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
            // Whoever asks next may embed; the answer may come too late for whoever asked.
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

/// Says at its end, however that comes, that nobody is embedding any more.
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
    let mut query = embed_units(embedder, &[text], Role::Query)?;
    query.pop().ok_or(EmbedError::RowCount { texts: 1, rows: 0 })
}
