//! Learning from sessions: what is suggested, what of it is let in, what a person does not want (docs/spec/capture.md, 2 and 5).

use adage_redact::as_shown;
use adage_transcript::Transcript;
use chrono::{DateTime, FixedOffset};
use serde::Serialize;

use super::Playbook;
use super::known_lessons::KnownLesson;
use crate::capture::{Author, Candidate, Explanation, suggest_after, taint};
use crate::config::CaptureConfig;
use crate::error::Result;
use crate::gate;
use crate::learn::LearnOutcome;
use crate::lesson::{Origin, Trust};
use crate::state::{Book, Planned, SkippedSuggestion};

/// What a session suggests.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Mined {
    /// The lessons, for [`Playbook::admit`]. Their texts are redacted, and those from turns behind untrusted content are tainted.
    pub candidates: Vec<Candidate>,
    /// Why each rule fired or did not.
    pub explanations: Vec<Explanation>,
    /// Suggestions that were left out because a person skipped them.
    pub skipped: Vec<String>,
    /// Procedures and recoveries that were left out because another session taught the project the same: the lesson is in use, in
    /// review or removed.
    pub known: Vec<String>,
    /// Those of them whose lesson was not removed. They make no second lesson, but they speak for the first, and for its draft skill.
    pub recurring: Vec<Candidate>,
}

/// Which skipped suggestions are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipSelection<'a> {
    /// All of them.
    All,
    /// The one of this name.
    Of(&'a str),
}

impl Playbook {
    /// What the rules find in a session, without what a person skipped for good, and without how the project is checked where
    /// the playbook has that, or a person removed it. Nothing is learned; the same transcript, skips and lessons give the same candidates.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn mine(&self, transcript: &Transcript) -> Result<Mined> {
        self.mine_clean(&gate::clean_transcript(transcript))
    }

    /// What the rules find in a session that was redacted.
    pub(super) fn mine_clean(&self, transcript: &Transcript) -> Result<Mined> {
        let (config, now) = (&self.0.config.capture, self.0.clock.now());
        let view = self.0.view()?;
        let skips = &view.snapshot.book().skips;
        let is_skipped = |name: &str| skips.iter().any(|skip| skip.name == name && is_in_force(skip, now, config));
        let earlier = said_before(transcript, view.snapshot.book());
        let found = suggest_after(transcript, &earlier, config);
        let mut mined = Mined { explanations: found.explanations, ..Mined::default() };
        let first_untrusted = taint::first_untrusted(transcript, config);
        for candidate in found.candidates {
            if is_skipped(&candidate.name) {
                mined.skipped.push(candidate.name);
                continue;
            }
            let candidate = tainted(candidate, first_untrusted);
            match KnownLesson::of(&candidate, transcript, view.snapshot.book()) {
                None => mined.candidates.push(candidate),
                Some(known) => {
                    mined.known.push(candidate.name.clone());
                    mined.recurring.extend((known == KnownLesson::Kept).then_some(candidate));
                }
            }
        }
        let (session, candidates, skipped) = (transcript.session.as_str(), mined.candidates.len(), mined.skipped.len());
        tracing::info!(session, candidates, skipped, "mined");
        Ok(mined)
    }

    /// Lets candidates in, all in one commit: learned where a user's words stand behind them, waiting for review where none do
    /// or untrusted content could have shaped them, refused where the session taught the same before or has taught enough.
    ///
    /// # Errors
    /// As [`Playbook::learn_lesson`].
    pub fn admit(&self, candidates: impl IntoIterator<Item = Candidate>) -> Result<Vec<LearnOutcome>> {
        self.learn_lessons(candidates.into_iter().map(|candidate| candidate.draft))
    }

    /// Remembers that a person does not want a suggestion; it is not made again for 30 days. The times it was skipped.
    ///
    /// # Errors
    /// The errors of a commit.
    pub fn skip(&self, name: &str) -> Result<u64> {
        let name = &as_shown(name);
        let now = self.0.clock.now();
        self.change_skips(|skips| {
            if let Some(skip) = skips.iter_mut().find(|skip| skip.name == *name) {
                skip.times += 1;
                skip.at = now;
                skip.times
            } else {
                skips.push(SkippedSuggestion { name: name.to_owned(), at: now, times: 1 });
                1
            }
        })
    }

    /// Forgets that suggestions were skipped. How many were forgotten.
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

    /// The suggestions that a person skipped, in the order in which they first were.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn skips(&self) -> Result<Vec<SkippedSuggestion>> {
        Ok(self.0.view()?.snapshot.book().skips.clone())
    }

    fn change_skips<T>(&self, change: impl Fn(&mut Vec<SkippedSuggestion>) -> T) -> Result<T> {
        self.0.commit(|attempt| {
            let mut plan = self.0.plan(attempt);
            let value = change(&mut plan.book.skips);
            let is_changed = plan.book.skips != attempt.book().skips;
            Ok(if is_changed { Planned::Commit(plan, value) } else { Planned::Nothing(value) })
        })
    }
}

/// True while a suggestion is not made because a person skipped it.
pub(super) fn is_in_force(skip: &SkippedSuggestion, now: DateTime<FixedOffset>, config: &CaptureConfig) -> bool {
    let age = now.signed_duration_since(skip.at).to_std().unwrap_or_default();
    skip.times >= config.skip_threshold && age < config.skip_for
}

/// What a person told the agent in other sessions of the project: the quotes of the mined lessons that await review.
fn said_before<'b>(transcript: &Transcript, book: &'b Book) -> Vec<&'b str> {
    let lessons = book.waiting.iter().map(|waiting| &waiting.lesson).filter(|lesson| {
        let session = &lesson.provenance.session;
        let is_other = !session.is_empty() && !transcript.session.is_empty() && *session != transcript.session;
        is_other && lesson.provenance.origin == Origin::Mined && lesson.realm.project == transcript.project
    });
    lessons.flat_map(|lesson| &lesson.provenance.evidence).map(|evidence| evidence.quote.as_str()).collect()
}

/// Taints what stands on turns behind the first untrusted one.
fn tainted(candidate: Candidate, first_untrusted: Option<usize>) -> Candidate {
    if candidate.author == Author::Person {
        return candidate;
    }
    let is_behind = first_untrusted.is_some_and(|first| candidate.turns.iter().any(|turn| *turn > first));
    if !is_behind {
        return candidate;
    }
    let draft = candidate.draft.trust(Trust::Tainted);
    Candidate { draft, ..candidate }
}
