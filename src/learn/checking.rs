//! Whether a lesson is refused before it is compared with others, and the lesson as it would be stored.

use std::sync::Arc;

use super::known_texts::KnownTexts;
use super::learner::{Arrival, Learner, Newcomer};
use crate::lesson::{Lesson, LessonId, Origin, Refusal, SCHEMA_VERSION, TextHash};

/// A lesson that is not refused for its text or for what it is to replace, with its final id and time.
pub(super) struct Checked {
    pub(super) lesson: Lesson,
    pub(super) arrival: Arrival,
    /// The fingerprint by which its session is known to have taught it.
    pub(super) mined_text: Option<TextHash>,
    pub(super) supersession: Option<Supersession>,
}

/// The lesson that another one replaces.
pub(super) enum Supersession {
    /// The host named it.
    Requested(Arc<Lesson>),
    /// The new lesson's provenance names it.
    Implied(Arc<Lesson>),
}

impl Supersession {
    pub(super) fn old(&self) -> &Arc<Lesson> {
        match self {
            Self::Requested(old) | Self::Implied(old) => old,
        }
    }
}

impl Learner<'_> {
    /// # Errors
    /// A person removed the lesson, it is here, or it cannot replace what it is to replace.
    pub(super) fn check(&self, newcomer: &Newcomer) -> Result<Checked, Refusal> {
        let Newcomer { lesson, arrival, supersedes } = newcomer;
        let mut mined_text = None;
        match arrival {
            Arrival::New | Arrival::Quoted if lesson.is_by_hand() => {}
            Arrival::New | Arrival::Quoted if self.plan.book.removed.matches_text(lesson) => {
                return Err(Refusal::Removed);
            }
            Arrival::New | Arrival::Quoted => mined_text = self.check_mined(lesson)?,
            Arrival::MovedIn | Arrival::Promoted => self.check_moved_in(lesson)?,
        }
        let supersession = match supersedes {
            Some(id) => Some(self.requested(*id)?),
            None if arrival.is_new() && lesson.provenance.origin == Origin::Mined => self.implied(lesson),
            None => None,
        };
        Ok(Checked { lesson: self.identified(lesson.clone(), *arrival), arrival: *arrival, mined_text, supersession })
    }

    /// Refuses a row that a person removed, or whose text the playbook has already.
    fn check_moved_in(&self, lesson: &Lesson) -> Result<(), Refusal> {
        let book = &self.plan.book;
        if book.removed.matches_text_or_id(lesson) {
            return Err(Refusal::Removed);
        }
        let known = self.texts.get_or_init(|| KnownTexts::of(book)).find(lesson);
        // A lesson that had the text may have made room for another one since.
        let is_here = |id: &LessonId| book.in_use_or_review(*id).is_some();
        known.filter(is_here).map_or(Ok(()), |id| Err(Refusal::AlreadyHere { id }))
    }

    /// Refuses a lesson that its session taught before, or that exceeds the number per session (docs/spec/capture.md, 5.1).
    /// Returns the fingerprint of its session and text, if it has a session.
    fn check_mined(&self, lesson: &Lesson) -> Result<Option<TextHash>, Refusal> {
        let (book, session) = (&self.plan.book, &lesson.provenance.session);
        if lesson.provenance.origin != Origin::Mined || session.is_empty() {
            return Ok(None);
        }
        let fingerprint = TextHash::of(&[session, &lesson.text_hash().to_string()]);
        if book.mined_texts.contains(&fingerprint) {
            return Err(Refusal::AlreadyMined { session: session.clone() });
        }
        let is_of_session =
            |other: &&Arc<Lesson>| other.provenance.origin == Origin::Mined && other.provenance.session == *session;
        let max = self.config.capture.max_candidates;
        if book.used_and_reviewed().filter(is_of_session).count() >= max {
            return Err(Refusal::TooManyOfSession { session: session.clone(), max });
        }
        Ok(Some(fingerprint))
    }

    /// The lesson that the host named as the one to replace.
    fn requested(&self, id: LessonId) -> Result<Supersession, Refusal> {
        let old = self.plan.book.get(id).ok_or(Refusal::NothingToSupersede { id })?;
        Ok(Supersession::Requested(Arc::clone(old)))
    }

    /// The lesson that this one replaces by its provenance, if it still exists.
    pub(super) fn implied(&self, lesson: &Lesson) -> Option<Supersession> {
        let old = self.plan.book.get(lesson.provenance.supersedes?)?;
        Some(Supersession::Implied(Arc::clone(old)))
    }

    /// The lesson with its final id and time. A new lesson gets its id here, where its position in the commit is known; any
    /// other gets a new one only if its own is taken.
    pub(super) fn identified(&self, mut lesson: Lesson, arrival: Arrival) -> Lesson {
        lesson.schema_version = SCHEMA_VERSION;
        let is_taken = self.plan.book.in_use_or_review(lesson.id).is_some();
        let (now, number) = (self.plan.now, self.n_accepted);
        if arrival.is_new() || is_taken {
            let seed = [lesson.text_hash().to_string(), self.plan.generation.to_string(), number.to_string()];
            lesson.id = LessonId::numbered(now, number, TextHash::of(&seed));
        }
        if arrival != Arrival::MovedIn {
            lesson.timestamp = now;
        }
        lesson
    }
}
