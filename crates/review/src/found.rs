//! What was found in sessions and imported from files, as a person reviews it: one item each, with its candidates.

use std::collections::BTreeMap;

use adage_redact::written_out;

use crate::error::Result;
use crate::proposal::{ProposalName, for_person};
use crate::results::Proposal;
use adage::TextHash;
use adage::extend::{ReviewedLesson, hidden_in_prompts, lesson_as_text};
use adage::lesson::{Origin, Trust};
use adage::playbook::WaitingLesson;

/// The lessons that one session suggests or one file contains, those of highest confidence first; never empty.
pub(crate) struct Findings {
    name: ProposalName,
    waiting: Vec<WaitingLesson>,
}

impl Findings {
    /// Groups waiting lessons by the session or file that they come from, in the order of the first of each. The other lessons are
    /// returned beside them.
    pub(crate) fn group(waiting: Vec<WaitingLesson>) -> (Vec<Self>, Vec<WaitingLesson>) {
        let mut places: BTreeMap<ProposalName, usize> = BTreeMap::new();
        let (mut found, mut others): (Vec<Self>, Vec<WaitingLesson>) = (Vec::new(), Vec::new());
        for waiting in waiting {
            let Some(name) = source_of(&waiting) else {
                others.push(waiting);
                continue;
            };
            let place = *places.entry(name.clone()).or_insert(found.len());
            match found.get_mut(place) {
                Some(findings) => findings.waiting.push(waiting),
                None => found.push(Self { name, waiting: vec![waiting] }),
            }
        }
        for findings in &mut found {
            findings.waiting.sort_by(|one, other| other.lesson.confidence.total_cmp(&one.lesson.confidence));
        }
        (found, others)
    }

    pub(crate) fn name(&self) -> &ProposalName {
        &self.name
    }

    pub(crate) fn proposal(&self) -> Proposal {
        let lines: Vec<String> = self.waiting.iter().map(line).collect();
        let n_found = lines.len();
        let label = match self.name {
            ProposalName::File(_) => "imported",
            _ if self.reads_foreign() => "found; the session read what others wrote",
            _ => "found",
        };
        let first = lines.first().cloned().unwrap_or_default();
        Proposal {
            name: self.name.clone(),
            text: self.hash(),
            files: Vec::new(),
            summary: format!("{n_found} {label}: {first}"),
            lines,
            lessons: self.waiting.iter().map(|waiting| waiting.lesson.id).collect(),
        }
    }

    fn reads_foreign(&self) -> bool {
        self.waiting.iter().any(|waiting| waiting.lesson.provenance.trust == Trust::Tainted)
    }

    fn hash(&self) -> TextHash {
        let texts: Vec<String> = self.waiting.iter().map(|waiting| waiting.lesson.shown_hash().to_string()).collect();
        TextHash::of(&texts)
    }

    /// The lessons, if they are those of the proposal as it was listed.
    pub(crate) fn reviewed(&self, proposal: &Proposal) -> Result<Vec<ReviewedLesson>> {
        let (expected, found) = (proposal.text, self.hash());
        if found != expected {
            return Err(adage::Error::Changed { what: proposal.name.to_string(), expected, found }.into());
        }
        let reviewed =
            |waiting: &WaitingLesson| ReviewedLesson { id: waiting.lesson.id, shown: waiting.lesson.shown_hash() };
        Ok(self.waiting.iter().map(reviewed).collect())
    }

    /// All candidates with their quotes, numbered.
    pub(crate) fn shown(&self, proposal: &Proposal) -> Result<String> {
        self.reviewed(proposal)?;
        let numbered = self.waiting.iter().zip(1..).map(|(waiting, number)| format!("{number}.\n{}", text_of(waiting)));
        Ok(numbered.collect::<Vec<_>>().join("\n"))
    }
}

/// The session or file that a lesson comes from.
fn source_of(waiting: &WaitingLesson) -> Option<ProposalName> {
    let provenance = &waiting.lesson.provenance;
    let source = Some(provenance.session.clone()).filter(|source| !source.is_empty())?;
    match provenance.origin {
        Origin::Mined => Some(ProposalName::Session(source)),
        Origin::Imported => Some(ProposalName::File(source)),
        _ => None,
    }
}

/// A candidate on one line: when it applies, and what to do; one text if they are the same.
fn line(WaitingLesson { lesson, .. }: &WaitingLesson) -> String {
    let solution = lesson.correct_pattern.replace('\n', " ");
    let is_one_text = lesson.trigger == lesson.correct_pattern;
    for_person(&if is_one_text { solution } else { format!("{}: {solution}", lesson.trigger) }).0
}

/// A lesson that was not found in a session, or that is asked for alone.
pub(crate) fn lesson_proposal(WaitingLesson { lesson, reason, .. }: &WaitingLesson) -> Proposal {
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
pub(crate) fn text_of(WaitingLesson { lesson, reason, .. }: &WaitingLesson) -> String {
    let (lesson, n_hidden) = lesson.masked();
    let mut shown = written_out(&lesson_as_text(&lesson, &reason.to_string()));
    if n_hidden > 0 {
        shown.extend([hidden_in_prompts(n_hidden).as_str(), "\n"]);
    }
    shown
}
