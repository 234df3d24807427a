//! Saving procedures that sessions suggest as drafts of skills (docs/spec/skills.md, 3).

use std::collections::BTreeMap;

use serde::Serialize;

use crate::error::{Error, Result, skills};
use crate::lesson::TextHash;
use crate::model::{CancelToken, LanguageModel};
use crate::playbook::Skills;
use crate::playbook::skills::curation::Curated;
use crate::playbook::skills::drafts::CountedSession;
use crate::playbook::skills::exchange::SavedSkill;
use crate::skill::{
    AutoSave, Declined, DeclinedSkill, NotWorded, Skill, SkillName, SuggestedSkill, auto_save, word_skill,
};
use crate::store::skills::state::Note;

/// The results of saving suggested skills.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AutoSaved {
    /// The skills that were saved or were there already.
    pub saved: Vec<SavedSkill>,
    /// The skills that were not saved.
    pub declined: Vec<DeclinedSkill>,
    /// Existing drafts of the suggested procedures, which now have one more session as evidence.
    pub recurred: Vec<SkillName>,
    /// The curation that followed, if there was one.
    pub curated: Option<Curated>,
    /// The error of a write that ended the saving. The next session that is read tries again.
    pub failed: Option<String>,
}

impl AutoSaved {
    /// Nothing was saved, because of this error.
    #[must_use]
    pub fn failed(error: &Error) -> Self {
        Self { failed: Some(error.to_string()), ..Self::default() }
    }
}

/// Drafts that may be saved.
#[derive(Default)]
struct Drafts {
    skills: Vec<Skill>,
    /// The text of the suggestion that each draft is made from, by the hash of the draft's body: its name may still change.
    sources: BTreeMap<TextHash, TextHash>,
}

impl Drafts {
    fn push(&mut self, skill: Skill, source: TextHash) {
        self.sources.insert(body_hash(&skill), source);
        self.skills.push(skill);
    }
}

impl Skills {
    /// Saves suggestions of sessions as draft skills: at most three by default, and only those that pass the
    /// [`quality_gate`](crate::skills::quality_gate). A suggestion that is too thin or already saved is declined with
    /// the reason. If a draft was saved and the settings say so, a curation follows.
    ///
    /// A draft is shown to a model when a second session suggests the same procedure, when its lesson is admitted, or when a
    /// person promotes it; that of a session that read what others wrote only when a person promotes it.
    ///
    /// # Errors
    /// The errors of a write; drafts saved before it are kept.
    pub fn save_suggested(&self, suggested: impl IntoIterator<Item = SuggestedSkill>) -> Result<AutoSaved> {
        self.save_worded(suggested, None, &CancelToken::default())
    }

    /// As [`save_suggested`](Self::save_suggested), with each draft first reworded by a model ([`word_skill`]). If the model
    /// fails, the original draft is saved, unless `auto_save.require_llm` is set.
    ///
    /// # Errors
    /// The errors of a write; drafts saved before it are kept.
    pub fn save_worded(
        &self,
        suggested: impl IntoIterator<Item = SuggestedSkill>,
        model: Option<&dyn LanguageModel>,
        cancel: &CancelToken,
    ) -> Result<AutoSaved> {
        let shared = &self.shared;
        let mut outcome = AutoSaved::default();
        let drafts = self.drafts_of(suggested, model, cancel, &mut outcome)?;
        if drafts.skills.is_empty() {
            return Ok(outcome);
        }
        self.save_drafts(drafts, &mut outcome)?;
        if !outcome.saved.is_empty() && shared.config.curation.auto_curate {
            outcome.curated = Some(self.curate()?);
        }
        Ok(outcome)
    }

    /// The drafts of suggestions, reworded by the model. The outcome gets those that are declined.
    fn drafts_of(
        &self,
        suggestions: impl IntoIterator<Item = SuggestedSkill>,
        model: Option<&dyn LanguageModel>,
        cancel: &CancelToken,
        outcome: &mut AutoSaved,
    ) -> Result<Drafts> {
        let mut drafts = Drafts::default();
        for suggested in suggestions {
            if !suggested.has_steps {
                let name = SkillName::slug(&suggested.name);
                outcome.declined.extend(name.map(|name| DeclinedSkill { name, reason: Declined::NoSteps }));
                continue;
            }
            let (skill, source) = match Skill::from_suggestion(&suggested, &self.shared.config.learn) {
                Ok((skill, text)) => (skill.standardised(), text),
                Err(refusal) => {
                    let (name, reason) = (SkillName::slug(&suggested.name), refusal.into());
                    outcome.declined.extend(name.map(|name| DeclinedSkill { name, reason }));
                    continue;
                }
            };
            if let Some(reason) = self.earlier_draft(&skill, source, outcome)? {
                outcome.declined.push(DeclinedSkill { name: skill.name, reason });
                continue;
            }
            match self.worded(skill, drafts.skills.len(), model, cancel) {
                Ok(skill) => drafts.push(skill, source),
                Err(declined) => outcome.declined.push(declined),
            }
        }
        Ok(drafts)
    }

    /// Why a procedure makes no draft: there is one. If another session suggested that one, it now counts as evidence for it.
    fn earlier_draft(&self, skill: &Skill, source: TextHash, outcome: &mut AutoSaved) -> Result<Option<Declined>> {
        let drawn = self.state().read()?.drawn;
        let made_before = drawn.get(&source).and_then(|note| note.name.parse().ok()).map(Declined::MadeBefore);
        let counted = if self.shared.config.auto_save.enabled { self.count_session(skill)? } else { None };
        if let Some(CountedSession { draft, .. }) = counted.as_ref().filter(|counted| counted.is_new) {
            outcome.recurred.push(draft.clone());
        }
        Ok(made_before.or_else(|| counted.map(|counted| Declined::SameAs(counted.draft))))
    }

    /// The draft, reworded by the model if it may still be saved in addition to `n_drafts` others.
    fn worded(
        &self,
        skill: Skill,
        n_drafts: usize,
        model: Option<&dyn LanguageModel>,
        cancel: &CancelToken,
    ) -> std::result::Result<Skill, DeclinedSkill> {
        let shared = &self.shared;
        let config = &shared.config.auto_save;
        let may_save = config.enabled && n_drafts < config.max_per_run;
        let worded = match model.filter(|_| may_save) {
            Some(model) => word_skill(model, &skill, cancel, &shared.config.extract),
            None => Err(NotWorded::NoModel),
        };
        match worded {
            // Without rewording, it must not fill the place of a draft that was declined for saying too little.
            Err(why) if config.require_llm && config.enabled => {
                let max = config.max_per_run;
                let reason = if may_save { why.into() } else { Declined::Enough { max } };
                Err(DeclinedSkill { name: skill.name, reason })
            }
            worded => Ok(worded.unwrap_or(skill)),
        }
    }

    /// Saves the drafts that pass the quality gate, and notes which texts they were made from.
    fn save_drafts(&self, drafts: Drafts, outcome: &mut AutoSaved) -> Result<()> {
        let (config, now) = (&self.shared.config.auto_save, self.shared.clock.now());
        let listing = self.list()?;
        let listed = listing.skills.iter().chain(listing.shadowed.iter().map(|shadowed| &shadowed.skill));
        let known: Vec<Skill> = listed.map(|listed| Skill::clone(&listed.skill)).collect();
        let AutoSave { saved, declined } = auto_save(drafts.skills, &known, config);
        outcome.declined.extend(declined);
        let mut made = Vec::new();
        for skill in saved {
            match self.save(&skill) {
                Ok(saved) => {
                    made.extend(drafts.sources.get(&body_hash(&skill)).map(|source| (*source, skill)));
                    outcome.saved.push(saved);
                }
                // Another process has taken the name.
                Err(Error::Skill(skills::Error::Exists { .. })) => {
                    outcome.declined.push(DeclinedSkill { name: skill.name, reason: Declined::NameTaken });
                }
                Err(error) => return Err(error),
            }
        }
        if outcome.saved.is_empty() {
            return Ok(());
        }
        self.state().change(|state| {
            for (source, skill) in made {
                state.drawn.insert(source, Note { name: skill.name.to_string(), at: now });
            }
            for SavedSkill::Written { name, .. } | SavedSkill::Unchanged { name, .. } in &outcome.saved {
                state.saved.insert(name.to_string(), now);
            }
        })?;
        Ok(())
    }
}

/// A suggested skill is identified by its content; its name may still change.
fn body_hash(skill: &Skill) -> TextHash {
    TextHash::of(&[&skill.body])
}
