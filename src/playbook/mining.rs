//! Mining sessions by rules, admission of the candidates, and skipped suggestions (docs/spec/capture.md, 2 and 5).

use adage_redact::as_shown;
use adage_transcript::{Source, Transcript};
use chrono::{DateTime, FixedOffset};
use serde::Serialize;

use super::Playbook;
use super::known_lessons::KnownLesson;
use crate::capture::{Author, Candidate, Explanation, Heuristic, split_by_failure, suggest_after, taint};
use crate::config::CaptureConfig;
use crate::error::Result;
use crate::gate;
use crate::learn::LearnOutcome;
use crate::lesson::{Origin, Trust};
use crate::state::{Book, Planned, SkippedSuggestion};

/// The suggestions found in a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Mined {
    /// The lessons, for [`Playbook::admit`]. Their texts are redacted. Those from turns after untrusted content are tainted.
    pub candidates: Vec<Candidate>,
    /// For each rule, why it fired or did not.
    pub explanations: Vec<Explanation>,
    /// Names of suggestions that were left out because a person skipped them.
    pub skipped: Vec<String>,
    /// Names of procedures and recoveries that were left out because another session taught the project the same. Their lessons
    /// are in use, in review or removed.
    pub known: Vec<String>,
    /// The left-out candidates whose lesson was not removed. They are not learned again, but count as evidence for the lesson
    /// and for its draft skill.
    pub recurring: Vec<Candidate>,
    /// Names of recoveries that were left out because a model proposed one on the same failure, and the session proves it.
    pub replaced: Vec<String>,
    /// The turns of failures on which a lesson is in use, or was skipped or removed, or that a model proposed one on.
    #[serde(skip)]
    pub(super) settled: Vec<usize>,
}

/// The skipped suggestions that a call is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipSelection<'a> {
    /// Every skipped suggestion.
    All,
    /// The suggestion of this name.
    Of(&'a str),
}

impl Playbook {
    /// The suggestions of the rules for a session, except those that a person skipped, and except how the project is checked if
    /// the playbook already has that or a person removed it. Nothing is learned. The same transcript, skips and lessons give
    /// the same candidates.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn mine(&self, transcript: &Transcript) -> Result<Mined> {
        let transcript = gate::clean_transcript(transcript);
        self.mine_clean(&transcript, self.copied_session(&transcript)?.as_deref())
    }

    /// As [`mine`](Playbook::mine), for a session that is already redacted and may be a copy of another.
    pub(super) fn mine_clean(&self, transcript: &Transcript, copy_of: Option<&str>) -> Result<Mined> {
        let (config, now) = (&self.shared.config.capture, self.shared.clock.now());
        let view = self.shared.view()?;
        let skips = &view.snapshot.book().skips;
        let is_skipped = |name: &str| skips.iter().any(|skip| skip.name == name && is_in_force(skip, now, config));
        let counted_as = copy_of.unwrap_or(&transcript.session);
        let earlier = said_before(transcript, counted_as, view.snapshot.book());
        let found = suggest_after(transcript, &earlier, config);
        let mut mined = Mined { explanations: found.explanations, ..Mined::default() };
        mined.settled = failures_of_model(&transcript.session, view.snapshot.book());
        let (candidates, replaced) = split_by_failure(transcript, found.candidates, &mined.settled);
        mined.replaced = replaced.into_iter().map(|candidate| candidate.name).collect();
        let first_untrusted = taint::first_untrusted(transcript, config);
        for candidate in candidates {
            if is_skipped(&candidate.name) {
                mined.settled.extend(candidate.failures());
                mined.skipped.push(candidate.name);
                continue;
            }
            let mut candidate = tainted(candidate, transcript.source, first_untrusted);
            if let Some(copied) = copy_of {
                candidate.draft = candidate.draft.copy_of(copied);
            }
            match KnownLesson::of(&candidate, transcript, counted_as, view.snapshot.book()) {
                None => mined.candidates.push(candidate),
                Some(known) => {
                    mined.known.push(candidate.name.clone());
                    if known != KnownLesson::Waiting {
                        mined.settled.extend(candidate.failures());
                    }
                    mined.recurring.extend((known != KnownLesson::Removed).then_some(candidate));
                }
            }
        }
        let (session, candidates, skipped) = (transcript.session.as_str(), mined.candidates.len(), mined.skipped.len());
        tracing::info!(session, candidates, skipped, "mined");
        Ok(mined)
    }

    /// Learns candidates in one commit. A candidate is learned if it is confirmed by something the user said. It awaits review
    /// if it is not, or if it may come from untrusted content. It is refused if the session taught the same before, or has
    /// reached its limit of lessons. What the user asked to remember is learned first. The outcomes have the order of the
    /// candidates.
    ///
    /// # Errors
    /// As [`Playbook::learn_lesson`].
    pub fn admit(&self, candidates: impl IntoIterator<Item = Candidate>) -> Result<Vec<LearnOutcome>> {
        // What the user asked to remember is learned before the session's limit is reached.
        let mut candidates: Vec<(usize, Candidate)> = candidates.into_iter().enumerate().collect();
        candidates.sort_by_key(|(_, candidate)| candidate.heuristic != Heuristic::ExplicitInstruction);
        let order: Vec<usize> = candidates.iter().map(|(place, _)| *place).collect();
        let outcomes = self.learn_lessons(candidates.into_iter().map(|(_, candidate)| candidate.draft))?;
        let mut placed: Vec<(usize, LearnOutcome)> = order.into_iter().zip(outcomes).collect();
        placed.sort_by_key(|(place, _)| *place);
        Ok(placed.into_iter().map(|(_, outcome)| outcome).collect())
    }

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

/// True while the suggestion is left out because a person skipped it.
pub(super) fn is_in_force(skip: &SkippedSuggestion, now: DateTime<FixedOffset>, config: &CaptureConfig) -> bool {
    let age = now.signed_duration_since(skip.at).to_std().unwrap_or_default();
    skip.times >= config.skip_threshold && age < config.skip_for
}

/// What the user said in other sessions of the project: the quotes of mined lessons that await review. What comes to the letter
/// is not said again: a session that was forked, a template or a paste brings it. A session that others can have written says
/// nothing again.
fn said_before<'b>(transcript: &Transcript, counted_as: &str, book: &'b Book) -> Vec<&'b str> {
    if transcript.source != Source::Agent {
        return Vec::new();
    }
    let lessons = book.waiting.iter().map(|waiting| &waiting.lesson).filter(|lesson| {
        let session = lesson.provenance.counted_session();
        let is_other = !session.is_empty() && !counted_as.is_empty() && session != counted_as;
        is_other && lesson.provenance.origin == Origin::Mined && lesson.realm.project == transcript.project
    });
    let quotes = lessons.flat_map(|lesson| &lesson.provenance.evidence).map(|evidence| evidence.quote.as_str());
    let is_copy = |quote: &&str| transcript.user_turns().any(|(_, text)| text.contains(quote));
    quotes.filter(|quote| !is_copy(quote)).collect()
}

/// The turns of the failures of a session on which a model proposed a lesson, also one that a person removed.
fn failures_of_model(session: &str, book: &Book) -> Vec<usize> {
    let removed = book.removed.iter().filter_map(|removed| removed.lesson.as_ref());
    let lessons = book.used_and_reviewed().chain(removed);
    let own = lessons.map(|lesson| &lesson.provenance).filter(|known| !session.is_empty() && known.session == session);
    own.filter_map(|known| Some(known.recovery.as_ref()?.failure.turn)).collect()
}

/// Taints a candidate if its evidence comes after the first untrusted turn, or if others can have written the whole session.
fn tainted(candidate: Candidate, source: Source, first_untrusted: Option<usize>) -> Candidate {
    let is_behind = first_untrusted.is_some_and(|first| candidate.turns.iter().any(|turn| *turn > first));
    let is_of_agent = candidate.author != Author::Person;
    if source == Source::Agent && !(is_behind && is_of_agent) {
        return candidate;
    }
    let draft = candidate.draft.trust(Trust::Tainted);
    Candidate { draft, ..candidate }
}
