//! What was suggested by more than one session (docs/spec/capture.md, 4.5).

use std::collections::BTreeSet;

use adage_transcript::CommandLine;
use serde::Serialize;

use crate::capture::{Candidate, Heuristic};

/// The evidence for a workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ripeness {
    /// One session alone: it stays a draft.
    Draft,
    /// Two sessions or more: it can become a skill.
    Skill,
}

/// A workflow with the sessions that suggest it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Recurrence {
    /// The best candidate of it: the highest score, the first of equals.
    pub candidate: Candidate,
    /// The sessions, each once, in the order in which they were given.
    pub sessions: Vec<String>,
}

impl Recurrence {
    /// A skill from two sessions on.
    #[must_use]
    pub fn ripeness(&self) -> Ripeness {
        if self.sessions.len() < 2 { Ripeness::Draft } else { Ripeness::Skill }
    }

    /// Adds a session, and its candidate if it is better.
    fn add(&mut self, session: &String, candidate: &Candidate) {
        if !self.sessions.contains(session) {
            self.sessions.push(session.clone());
        }
        if candidate.score > self.candidate.score {
            self.candidate = candidate.clone();
        }
    }
}

/// Finds the workflows that sessions have in common. Candidates are one workflow when the same rule gave them the same name
/// and at least half of the commands of the one with more, in normal form, are the other's too. A session that is named
/// twice, because it was resumed, counts once.
///
/// The order is that of the first candidate of each workflow.
#[must_use]
pub fn recurring(found: &[(String, Vec<Candidate>)]) -> Vec<Recurrence> {
    let mut workflows: Vec<(Form, Recurrence)> = Vec::new();
    let each = found.iter().flat_map(|(session, candidates)| candidates.iter().map(move |found| (session, found)));
    for (session, candidate) in each {
        let form = Form::of(candidate);
        if let Some((_, workflow)) = workflows.iter_mut().find(|(known, _)| known.is_alike(&form)) {
            workflow.add(session, candidate);
        } else {
            let recurrence = Recurrence { candidate: candidate.clone(), sessions: vec![session.clone()] };
            workflows.push((form, recurrence));
        }
    }
    workflows.into_iter().map(|(_, workflow)| workflow).collect()
}

/// The identity of a workflow.
struct Form {
    heuristic: Heuristic,
    name: String,
    commands: BTreeSet<String>,
}

impl Form {
    fn of(candidate: &Candidate) -> Self {
        let row = candidate.draft.to_json();
        let solution = row.get("correct_pattern").or_else(|| row.get("solution")).and_then(serde_json::Value::as_str);
        let commands = commands_told(solution.unwrap_or_default());
        Self { heuristic: candidate.heuristic, name: candidate.name.clone(), commands }
    }

    fn is_alike(&self, other: &Self) -> bool {
        let have_none = self.commands.is_empty() && other.commands.is_empty();
        self.heuristic == other.heuristic
            && self.name == other.name
            && (have_none || are_alike(&self.commands, &other.commands))
    }
}

/// The commands of a lesson, in normal form. The rules write commands between back-ticks, every second piece.
pub(crate) fn commands_told(solution: &str) -> BTreeSet<String> {
    normal_forms(solution.split('`').skip(1).step_by(2))
}

/// Commands in normal form, each once.
pub(crate) fn normal_forms<'c>(commands: impl IntoIterator<Item = &'c str>) -> BTreeSet<String> {
    let forms = commands.into_iter().map(|command| CommandLine::parse(command).normal_form());
    forms.filter(|form| !form.is_empty()).collect()
}

/// True when at least half of the commands of the one with more are the other's too; false where one has none.
pub(crate) fn are_alike(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    let n_shared = one.intersection(other).count();
    n_shared > 0 && n_shared * 2 >= one.len().max(other.len())
}
