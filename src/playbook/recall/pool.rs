//! The lessons of one playbook or of several that a request is answered from.

use std::collections::BTreeSet;
use std::sync::Arc;

use adage_index::UnitVector;

use crate::error::{Error, Result};
use crate::lesson::LessonId;
use crate::playbook::{OpenPlaybook, View};
use crate::state::{EmbeddedText, LessonVectors, RecallIndex};

static NONE: BTreeSet<LessonId> = BTreeSet::new();

/// The playbooks that the visible lessons come from, and one index of all these lessons.
#[derive(Clone, Copy)]
pub(in crate::playbook) struct Pool<'a> {
    pub(in crate::playbook) recall: &'a RecallIndex,
    pub(in crate::playbook) members: &'a [(&'a OpenPlaybook, &'a View)],
    /// Lessons that are ranked after others of equal score.
    pub(in crate::playbook) later: &'a BTreeSet<LessonId>,
}

impl<'a> Pool<'a> {
    pub(in crate::playbook) fn of(members: &'a [(&'a OpenPlaybook, &'a View)], recall: &'a RecallIndex) -> Self {
        Self { recall, members, later: &NONE }
    }

    /// True when at least one folder accepts usage lines.
    pub(in crate::playbook) fn may_append(self) -> bool {
        self.members.iter().any(|(member, view)| member.kept.may_append(&view.snapshot))
    }

    /// The vectors of one text of all lessons, of this dimension, made by the model of `lead`. Each folder caches those of its
    /// own lessons.
    pub(in crate::playbook) fn vectors(
        self,
        lead: &OpenPlaybook,
        text: EmbeddedText,
        dimension: usize,
    ) -> Result<Arc<LessonVectors>> {
        if let [(member, view)] = self.members
            && std::ptr::eq(self.recall, &raw const view.recall)
        {
            return member.lesson_vectors(view, text, dimension);
        }
        let embedder = lead.embedder.as_ref().ok_or(Error::NoEmbedder)?;
        let same_model = || self.members.iter().filter(|(member, _)| member.fingerprint() == lead.fingerprint());
        let vector_of = |text: &str| -> Option<UnitVector> {
            same_model().find_map(|(member, _)| member.vector(text)).or_else(|| lead.vector(text))
        };
        let make_known = |texts: &[&str]| {
            for (member, view) in same_model() {
                member.lesson_vectors_by(embedder.as_ref(), view, text, dimension)?;
            }
            let unknown: Vec<&str> = texts.iter().copied().filter(|text| vector_of(text).is_none()).collect();
            lead.vectors.write().fix_dimension(dimension);
            lead.ensure_vectors(embedder.as_ref(), &unknown)
        };
        if !self.recall.has_vectors(text) {
            same_model().try_for_each(|(member, _)| member.read_vectors(dimension))?;
        }
        self.recall.vectors(text, dimension, &lead.config.index, make_known, &vector_of)
    }
}
