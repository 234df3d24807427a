//! Reading lessons without counting retrievals (docs/spec/playbook.md, 7).

use std::sync::Arc;

use super::Playbook;
use crate::error::Result;
use crate::lesson::{Lesson, LessonRef, Realm};
use crate::retrieve::recent_failures;
use crate::setters::setters;
use crate::state::Waiting;
use adage_redact::strip_invisible;
use chrono::{DateTime, FixedOffset, NaiveTime, TimeDelta};

/// The period that a listing covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Window {
    /// Since midnight, in the clock's own offset.
    Today,
    /// The last seven days.
    Week,
    /// All time.
    #[default]
    All,
}

/// The lessons to list: by default the newest 20 of all realms.
///
/// ```
/// use adage::playbook::Window;
/// use adage::{Listing, Playbook, Realm, build_lesson};
///
/// # let folder = tempfile::tempdir()?;
/// let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
/// playbook.learn_lesson(build_lesson("pinning numpy", "Pin numpy below 2.0.").source("ci"))?;
/// let listing = Listing::default().window(Window::Week).source("ci").in_realm(&Realm::new("shop", "")).limit(5);
/// assert_eq!(playbook.list_lessons(&listing)?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The period; all time by default.
    pub window: Window,
    /// Only lessons of this source, compared without regard to case; empty for all sources.
    pub source: String,
    /// Only lessons that this realm sees; all realms by default.
    pub realm: Option<Realm>,
    /// The maximum number of lessons; 20 by default.
    pub limit: usize,
}

impl Default for Listing {
    fn default() -> Self {
        Self { window: Window::All, source: String::new(), realm: None, limit: 20 }
    }
}

impl Listing {
    /// Every lesson of every realm, without a limit.
    #[must_use]
    pub fn everything() -> Self {
        Self { limit: usize::MAX, ..Self::default() }
    }

    setters! {
        /// Sets the period.
        window(window: Window) => window = window;
        /// Restricts the listing to lessons of this source, compared without regard to case.
        source(source: impl Into<String>) => source = source.into();
        /// Restricts the listing to lessons that this realm sees.
        in_realm(realm: &Realm) => realm = Some(realm.clone());
        /// Sets the maximum number of lessons.
        limit(limit: usize) => limit = limit;
    }
}

impl Playbook {
    /// The lessons of the listing, newest first. Nothing is counted.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn list_lessons(&self, listing: &Listing) -> Result<Vec<Arc<Lesson>>> {
        let view = self.shared.recount()?;
        let from = window_start(listing.window, self.shared.clock.now());
        let source = listing.source.trim().to_lowercase();
        let lessons = view.snapshot.book().lessons.iter().filter(|lesson| {
            from.is_none_or(|from| lesson.timestamp >= from)
                && (source.is_empty() || lesson.source.trim().to_lowercase() == source)
                && listing.realm.as_ref().is_none_or(|realm| realm.sees(&lesson.realm))
        });
        Ok(lessons.take(listing.limit).cloned().collect())
    }

    /// The lesson with this id or trigger. Nothing is counted.
    ///
    /// # Errors
    /// [`Error::NoSuchLesson`](crate::Error::NoSuchLesson), [`Error::Ambiguous`](crate::Error::Ambiguous).
    pub fn find(&self, lesson: impl Into<LessonRef>) -> Result<Arc<Lesson>> {
        let view = self.shared.recount()?;
        view.snapshot.book().resolve(&lesson.into()).cloned()
    }

    /// [`Playbook::find`] by the lesson's trigger, compared without regard to case.
    ///
    /// # Errors
    /// As [`Playbook::find`].
    pub fn find_by_trigger(&self, trigger: &str) -> Result<Arc<Lesson>> {
        self.find(LessonRef::Trigger(trigger.to_owned()))
    }

    /// The most recent mistakes that this realm sees, as a block for a prompt.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn get_recent_failures(&self, realm: &Realm, limit: usize) -> Result<String> {
        let view = self.shared.view()?;
        let failed = view.recall.visible(realm).filter(|lesson| !strip_invisible(&lesson.mistake).trim().is_empty());
        Ok(recent_failures(failed.take(limit)))
    }

    /// The utility of a lesson under the playbook's policy. It includes the retrievals that were counted when the playbook was
    /// last read.
    #[must_use]
    pub fn utility(&self, lesson: &Lesson) -> f64 {
        let view = Arc::clone(&self.shared.view.read());
        view.snapshot.book().utility(self.shared.config.retention.utility, lesson)
    }

    /// The lessons that await review, oldest first.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn waiting_lessons(&self) -> Result<Vec<Waiting>> {
        Ok(self.shared.view()?.snapshot.book().waiting.clone())
    }
}

/// The start of a window; none for all time.
fn window_start(window: Window, now: DateTime<FixedOffset>) -> Option<DateTime<FixedOffset>> {
    match window {
        Window::Today => now.with_time(NaiveTime::MIN).single(),
        Window::Week => Some(now - TimeDelta::days(7)),
        Window::All => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn today_begins_at_midnight_of_the_given_offset() {
        let now = DateTime::parse_from_rfc3339("2026-03-01T00:30:00+05:00").unwrap();
        let start = window_start(Window::Today, now).unwrap();
        assert_eq!(start.to_rfc3339(), "2026-03-01T00:00:00+05:00");
        assert_eq!(window_start(Window::Week, now).unwrap().to_rfc3339(), "2026-02-22T00:30:00+05:00");
        assert_eq!(window_start(Window::All, now), None);
    }
}
