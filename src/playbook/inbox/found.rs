//! What was found in sessions, as a person reviews it: one item per session, with its candidates.

use std::collections::BTreeMap;

use adage_redact::written_out;

use super::results::Proposal;
use crate::error::{Result, inbox};
use crate::learn::ReviewedLesson;
use crate::lesson::{Origin, TextHash, Trust};
use crate::proposal::{ProposalName, for_person, hidden_in_prompts, lesson_as_text};
use crate::state::Waiting;

/// The lessons that one session suggests, those of highest confidence first; never empty.
pub(super) struct SessionFindings(Vec<Waiting>);

impl SessionFindings {
    /// Groups waiting lessons by the session that they were found in, in the order of the first of each. The other lessons are returned
    /// beside them.
    pub(super) fn group(waiting: Vec<Waiting>) -> (Vec<Self>, Vec<Waiting>) {
        let is_found = |waiting: &Waiting| {
            let provenance = &waiting.lesson.provenance;
            provenance.origin == Origin::Mined && !provenance.session.is_empty()
        };
        let (found, others): (Vec<Waiting>, Vec<Waiting>) = waiting.into_iter().partition(is_found);
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let mut sessions: Vec<Self> = Vec::new();
        for waiting in found {
            let session = waiting.lesson.provenance.session.clone();
            let place = *places.entry(session).or_insert(sessions.len());
            match sessions.get_mut(place) {
                Some(findings) => findings.0.push(waiting),
                None => sessions.push(Self(vec![waiting])),
            }
        }
        for findings in &mut sessions {
            findings.0.sort_by(|one, other| other.lesson.confidence.total_cmp(&one.lesson.confidence));
        }
        (sessions, others)
    }

    pub(super) fn session(&self) -> &str {
        self.0.first().map(|waiting| waiting.lesson.provenance.session.as_str()).unwrap_or_default()
    }

    pub(super) fn proposal(&self) -> Proposal {
        let lines: Vec<String> = self.0.iter().map(line).collect();
        let n_found = lines.len();
        let label = if self.reads_foreign() { "; the session read what others wrote" } else { "" };
        let first = lines.first().cloned().unwrap_or_default();
        Proposal {
            name: ProposalName::Session(self.session().to_owned()),
            text: self.hash(),
            files: Vec::new(),
            summary: format!("{n_found} found{label}: {first}"),
            lines,
            lessons: self.0.iter().map(|waiting| waiting.lesson.id).collect(),
        }
    }

    fn reads_foreign(&self) -> bool {
        self.0.iter().any(|waiting| waiting.lesson.provenance.trust == Trust::Tainted)
    }

    fn hash(&self) -> TextHash {
        let texts: Vec<String> = self.0.iter().map(|waiting| waiting.lesson.shown_hash().to_string()).collect();
        TextHash::of(&texts)
    }

    /// The lessons, if they are those of the proposal as it was listed.
    pub(super) fn reviewed(&self, proposal: &Proposal) -> Result<Vec<ReviewedLesson>> {
        let (expected, found) = (proposal.text, self.hash());
        if found != expected {
            return Err(inbox::Error::Changed { what: proposal.name.to_string(), expected, found }.into());
        }
        let reviewed = |waiting: &Waiting| ReviewedLesson { id: waiting.lesson.id, shown: waiting.lesson.shown_hash() };
        Ok(self.0.iter().map(reviewed).collect())
    }

    /// All candidates with their quotes, numbered.
    pub(super) fn shown(&self, proposal: &Proposal) -> Result<String> {
        self.reviewed(proposal)?;
        let numbered = self.0.iter().zip(1..).map(|(waiting, number)| format!("{number}.\n{}", text_of(waiting)));
        Ok(numbered.collect::<Vec<_>>().join("\n"))
    }
}

/// A candidate on one line: when it applies, and what to do.
fn line(waiting: &Waiting) -> String {
    for_person(&format!("{}: {}", waiting.lesson.trigger, waiting.lesson.correct_pattern.replace('\n', " "))).0
}

/// A lesson that was not found in a session, or that is asked for alone.
pub(super) fn lesson_proposal(Waiting { lesson, reason }: &Waiting) -> Proposal {
    let times = match lesson.frequency {
        0 | 1 => String::new(),
        n => format!("; {n} sessions suggest it"),
    };
    Proposal {
        name: ProposalName::Lesson(lesson.id),
        text: lesson.shown_hash(),
        files: Vec::new(),
        summary: for_person(&format!("{} ({reason}{times})", lesson.trigger)).0,
        lines: Vec::new(),
        lessons: Vec::new(),
    }
}

/// All that a person is shown of a lesson before they decide.
pub(super) fn text_of(Waiting { lesson, reason }: &Waiting) -> String {
    let (lesson, n_hidden) = lesson.masked();
    let mut shown = written_out(&lesson_as_text(&lesson, &reason.to_string()));
    if n_hidden > 0 {
        shown.extend([hidden_in_prompts(n_hidden).as_str(), "\n"]);
    }
    shown
}
