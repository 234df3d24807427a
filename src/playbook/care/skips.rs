//! Suggestions that a person skipped (docs/spec/capture.md, 5).

use adage_redact::as_shown;
use chrono::{DateTime, FixedOffset};

use crate::config::CaptureConfig;
use crate::error::Result;
use crate::playbook::Playbook;
use crate::state::Planned;
pub use crate::state::SkippedSuggestion;

/// The skipped suggestions that a call is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipSelection<'a> {
    /// Every skipped suggestion.
    All,
    /// The suggestion of this name.
    Of(&'a str),
}

impl SkippedSuggestion {
    /// True while the suggestion is left out because a person skipped it.
    #[must_use]
    pub fn is_in_force(&self, now: DateTime<FixedOffset>, config: &CaptureConfig) -> bool {
        let age = now.signed_duration_since(self.at).to_std().unwrap_or_default();
        age < config.skip_for
    }
}

impl Playbook {
    /// Records that a person does not want a suggestion; it is not made again for 30 days. Returns how often it was skipped so
    /// far.
    ///
    /// # Errors
    /// The errors of a commit.
    pub fn skip(&self, name: &str) -> Result<u64> {
        let name = &as_shown(name);
        let now = self.shared.clock.now();
        self.change_skips(|skips| {
            if let Some(skip) = skips.iter_mut().find(|skip| skip.name == *name) {
                skip.times = skip.times.saturating_add(1);
                skip.at = now;
                skip.times
            } else {
                skips.push(SkippedSuggestion { name: name.to_owned(), at: now, times: 1 });
                1
            }
        })
    }

    /// Deletes records of skipped suggestions. Returns how many were deleted.
    ///
    /// # Errors
    /// The errors of a commit.
    pub fn reset_skips(&self, which: SkipSelection<'_>) -> Result<usize> {
        let named = match which {
            SkipSelection::All => None,
            SkipSelection::Of(name) => Some(as_shown(name)),
        };
        self.change_skips(|skips| {
            let n_before = skips.len();
            match &named {
                None => skips.clear(),
                Some(name) => skips.retain(|skip| skip.name != *name),
            }
            n_before - skips.len()
        })
    }

    /// The skipped suggestions, in the order in which they were first skipped.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn skips(&self) -> Result<Vec<SkippedSuggestion>> {
        Ok(self.shared.view()?.snapshot.book().skips.clone())
    }

    fn change_skips<T>(&self, change: impl Fn(&mut Vec<SkippedSuggestion>) -> T) -> Result<T> {
        self.shared.commit(|attempt| {
            let mut plan = self.shared.plan(attempt);
            let value = change(&mut plan.book.skips);
            let is_changed = plan.book.skips != attempt.book().skips;
            Ok(if is_changed { Planned::Commit(plan, value) } else { Planned::Nothing(value) })
        })
    }
}
