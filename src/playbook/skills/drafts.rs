//! Which drafts await review, and evidence from further sessions (docs/spec/skills.md, 3.1).

use std::collections::BTreeSet;

use crate::error::Result;
use crate::lesson::{Origin, TextHash, Trust};
use crate::playbook::skills::Skills;
use crate::playbook::skills::listing::{ListedSkill, SkillPlace, is_recorded};
use crate::skill::{Skill, SkillName, is_same_procedure};
use crate::store::skills::files::FoundSkill;
use crate::store::skills::state::SkillState;

impl Skills {
    /// Marks the memory's own drafts that only one session suggested as awaiting review. Excepted are drafts that a person
    /// promoted, and drafts whose source lessons are all in use.
    pub(in crate::playbook) fn withhold_drafts(&self, all: &mut [ListedSkill], state: &SkillState) -> Result<()> {
        let guard = &self.shared.store.guard;
        let is_promoted =
            |listed: &ListedSkill| listed.not_covered.is_none() && is_recorded(listed.text_hash, state, guard);
        let may_wait = |listed: &&mut ListedSkill| {
            listed.place == SkillPlace::User
                && listed.skill.is_drawn()
                && n_sessions(&listed.skill.provenance.sources) < 2
                && !is_promoted(listed)
        };
        let drafts: Vec<&mut ListedSkill> = all.iter_mut().filter(may_wait).collect();
        if drafts.is_empty() {
            return Ok(());
        }
        let sessions: BTreeSet<&str> =
            drafts.iter().flat_map(|listed| &listed.skill.provenance.sources).map(String::as_str).collect();
        let learned = self.learned_from(&sessions)?;
        for listed in drafts {
            let texts = state.drawn.iter().filter(|(_, note)| note.name == listed.skill.name.as_str());
            let mut texts = texts.map(|(text, _)| text).peekable();
            listed.needs_review |= texts.peek().is_none() || !texts.all(|text| learned.contains(text));
        }
        Ok(())
    }

    /// The texts of lessons in use that were mined from these sessions.
    fn learned_from(&self, sessions: &BTreeSet<&str>) -> Result<BTreeSet<TextHash>> {
        let view = self.shared.view()?;
        let drawn = view.snapshot.book().lessons.iter().filter(|lesson| {
            let provenance = &lesson.provenance;
            provenance.origin == Origin::Mined && lesson.is_admitted() && sessions.contains(provenance.session.as_str())
        });
        Ok(drawn.map(|lesson| lesson.text_hash()).collect())
    }

    /// Adds the session of a suggested skill to the draft of the same procedure, if there is one. Returns the draft's name and
    /// whether the session is new to it. A session that read what others wrote adds nothing, and the draft of one gives way to the
    /// suggestion of another.
    pub(in crate::playbook) fn count_session(&self, suggested: &Skill) -> Result<Option<CountedSession>> {
        let is_labelled = |skill: &Skill| skill.provenance.trust == Trust::Tainted;
        let is_same_draft = |found: &FoundSkill| found.skill.is_drawn() && is_same_procedure(&found.skill, suggested);
        let Some(found) = self.own().into_iter().find(is_same_draft) else { return Ok(None) };
        let name = found.skill.name.clone();
        let sources = &found.skill.provenance.sources;
        let more: Vec<String> =
            suggested.provenance.sources.iter().filter(|session| !sources.contains(session)).cloned().collect();
        // A draft with supporting files was edited by a person.
        let is_plain = found.files.is_empty() && found.not_covered.is_none();
        if more.is_empty() || !is_plain || is_labelled(suggested) {
            return Ok(Some(CountedSession { draft: name, is_new: false }));
        }
        let mut draft = Skill::clone(&found.skill);
        if is_labelled(&draft) {
            draft = Skill { name: name.clone(), quality: draft.quality, ..suggested.clone() };
        } else {
            draft.provenance.sources.extend(more.iter().cloned());
        }
        let is_new = is_labelled(&found.skill) || n_sessions(&draft.provenance.sources) > n_sessions(sources);
        if is_new {
            self.replace(&draft)?;
        }
        Ok(Some(CountedSession { draft: name, is_new }))
    }
}

/// The number of sessions that are named. A copy of a session is named as that one.
fn n_sessions(sources: &[String]) -> usize {
    sources.iter().map(|session| session.trim()).filter(|session| !session.is_empty()).collect::<BTreeSet<_>>().len()
}

/// A draft with a session as evidence.
pub(in crate::playbook) struct CountedSession {
    pub(in crate::playbook) draft: SkillName,
    /// False when the draft lists the session already, or one that it is a copy of.
    pub(in crate::playbook) is_new: bool,
}
