//! The text of a recovery's lesson: trigger, solution, patterns and score.

use adage_redact::one_line;
use adage_transcript::command::slug;
use adage_transcript::{CommandLine, Relation, outcome};

use super::edits::describe_edits;
use super::ending::Ending;
use super::recovery::Recovery;
use crate::capture::heuristics::error_line::{blames_the_command, place, said_below};
use crate::capture::heuristics::session::Session;
use crate::capture::heuristics::wording::listed;
use crate::capture::heuristics::{Author, Candidate, Heuristic, mined};
use crate::lesson::{CommandRecovery, RecoveryStep};

/// The maximum length of an error in a lesson, in characters.
const MAX_ERROR_CHARS: usize = 160;
/// The placeholder for the file that an error names.
const FILE: &str = "<file>";
/// The placeholder for the folder of that file.
const FOLDER: &str = "<its-folder>";
/// The initial confidence, below the 0.5 of a lesson that someone wrote.
const CONFIDENCE: f64 = 0.45;

impl Recovery<'_, '_> {
    /// A description of what the edits changed. None without edits, if they are not recorded, or if they are too long.
    pub(super) fn describe_edits(&self) -> Option<String> {
        describe_edits(&self.edits, self.project)
    }

    /// The lesson that the rule suggests.
    pub(super) fn candidate(&self, session: &Session<'_>) -> Candidate {
        let topic = self.before.topic();
        let error = self.error.map(|line| match place(line) {
            Some((_, said)) => one_line(&format!("{FILE}: {said}"), MAX_ERROR_CHARS),
            None => self.error_text(line),
        });
        let has_error = error.is_some();
        let failed = self.text(&self.before);
        let recovery = CommandRecovery { failed, error: error.unwrap_or_default(), steps: self.steps() };
        let mut draft = recovery.draft().domains([topic.clone()]).commands(self.patterns());
        let intent = session.intent(self.failed.turn);
        if !intent.is_empty() {
            draft = draft.task(intent);
        }
        Candidate {
            heuristic: Heuristic::ErrorRecovery,
            name: format!("error-{}", slug(&topic)),
            draft: mined(draft, session, CONFIDENCE, Vec::new()),
            turns: vec![self.failed.turn, self.fixed.turn],
            score: self.score(has_error),
            author: Author::Agent,
        }
    }

    /// The error for the trigger, with the message of a failed test.
    fn error_text(&self, line: &str) -> String {
        let below = if outcome::is_failed_test(line) { said_below(self.failed.output(), line) } else { None };
        let error = below.map_or_else(|| line.to_owned(), |below| format!("{line}: {below}"));
        one_line(&within(&error, self.project), MAX_ERROR_CHARS)
    }

    /// The score of the lesson. A command that had to be written differently teaches most, one that only shares the program least.
    fn score(&self, has_error: bool) -> f64 {
        let kind = match self.relation {
            Relation::Respelled | Relation::SameAction => 0.8,
            Relation::Prepared | Relation::Replaced => 0.7,
            Relation::Rerun => 0.6,
            Relation::SameProgram => 0.4,
        };
        let kind = match self.ending {
            // The remedy rests on the agent's words.
            Ending::Passed if self.diagnosis.is_some() => 0.55,
            Ending::Passed => kind,
            Ending::OtherError => 0.75,
        };
        // A remedy that the program printed itself will be printed again.
        let words = self.fixed.line.text().split(' ').take_while(|word| !word.starts_with(['|', '>', '2', '&']));
        let is_printed = self.failed.output().contains(words.collect::<Vec<_>>().join(" ").as_str());
        let kind = if is_printed { kind - 0.3 } else { kind };
        kind + if has_error { 0.1 } else { 0.0 } - 0.02 * self.distance as f64
    }

    /// What fixed the failure, and what did not.
    fn steps(&self) -> Vec<RecoveryStep> {
        let passed = (self.ending == Ending::Passed).then(|| RecoveryStep::Passed(self.text(&self.after)));
        let mut steps = self.done();
        steps.extend(passed);
        let tried: Vec<String> = self.tried.iter().map(|line| self.code_span(line)).collect();
        steps.extend(match tried.len() {
            0 => None,
            1 => Some(RecoveryStep::Told(format!("{} alone does not help.", listed(&tried)))),
            _ => Some(RecoveryStep::Told(format!("{} do not help.", listed(&tried)))),
        });
        steps
    }

    /// What was done before the command passed.
    fn done(&self) -> Vec<RecoveryStep> {
        let lines = self.remedies.iter().map(|call| &call.line).chain(&self.user.ran);
        let run = lines.map(|line| RecoveryStep::Run(self.text(line)));
        let edits = self.describe_edits().filter(|_| self.n_between() <= self.max_between());
        if let Some(diagnosis) = &self.diagnosis {
            let edits = edits.unwrap_or_else(|| format!("change {}", listed(&self.edited)));
            let told = RecoveryStep::Told(within(&diagnosis.text, self.project));
            return [told, RecoveryStep::Edit(edits)].into_iter().chain(run).collect();
        }
        if let Some(done) = &self.user.done {
            return vec![RecoveryStep::Told(format!("The user did this: \"{}\".", one_line(done, usize::MAX)))];
        }
        edits.map(RecoveryStep::Edit).into_iter().chain(run).collect()
    }

    /// A command in backticks.
    fn code_span(&self, line: &CommandLine) -> String {
        format!("`{}`", self.text(line))
    }

    /// The text of a command, without filters of its output unless the error blames the command. A file that the error names is
    /// replaced by a placeholder, because it differs the next time.
    pub(super) fn text(&self, line: &CommandLine) -> String {
        if self.error.is_some_and(blames_the_command) {
            return within(line.text(), self.project);
        }
        let plain = within(&line.plain_text(), self.project);
        let Some((file, _)) = self.error.and_then(place) else { return plain };
        let words = plain.split(' ').map(|word| placeholder(word, file).unwrap_or(word));
        words.collect::<Vec<_>>().join(" ")
    }
}

/// A text with paths in the project made relative to its folder, which differs between machines.
pub(super) fn within(text: &str, project: &str) -> String {
    let project = project.trim_end_matches('/');
    if project.len() < 2 {
        return text.to_owned();
    }
    text.replace(&format!("cd {project} && "), "").replace(&format!("{project}/"), "")
}

/// The placeholder for a word of a command that is the file in an error, or its folder. None for other words.
fn placeholder(word: &str, file: &str) -> Option<&'static str> {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    if name(word) == name(file) {
        return Some(FILE);
    }
    let (folder, _) = file.trim_start_matches("./").rsplit_once('/')?;
    let path = word.trim_start_matches("./").trim_end_matches(['/', '.']).trim_end_matches('/');
    let is_folder = path.strip_suffix(folder).is_some_and(|before| before.is_empty() || before.ends_with('/'));
    is_folder.then_some(FOLDER)
}
