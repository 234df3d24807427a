//! What speaks against a recovery.

use adage_transcript::{CommandLine, Relation, outcome};

use super::edits::{are_settings, names_in, names_same};
use super::ending::Ending;
use super::failures::{is_script_exception, says_missing};
use super::recovery::Recovery;
use super::{MAX_BETWEEN, MAX_FILES, covers, is_test_file};
use crate::capture::heuristics::RejectedBecause;
use crate::capture::heuristics::error_line::{blames_the_command, is_finding, unmatched};
use crate::capture::heuristics::session::{MAX_COMMAND_CHARS, TerminalCall, is_script};

/// More changes than these are another command.
const MAX_CHANGES: usize = 4;

impl Recovery<'_, '_> {
    /// True where the two commands say what was wrong: few words differ, or another program did it, or a command came between.
    pub(super) fn is_self_explanatory(&self) -> bool {
        let is_told = self.has_few_changes() || self.is_requoted() || !self.remedies.is_empty();
        let is_same = self.relation != Relation::SameProgram || self.error_blames_command();
        self.relation == Relation::Replaced || (is_told && is_same && !self.has_script())
    }

    /// True where nothing but the agent's words says what was wrong with the command: it was written anew.
    pub(super) fn is_explained_rewrite(&self) -> bool {
        let is_sound = !self.error.is_some_and(is_script_exception);
        let is_anew = self.edits.is_empty() && self.remedies.is_empty() && self.relation != Relation::Rerun;
        is_anew && is_sound && self.diagnosis.is_some()
    }

    /// What speaks against it.
    pub(super) fn rejection(&self) -> Option<RejectedBecause> {
        let Some(error) = self.error else { return self.reject_undisplayable().or(Some(RejectedBecause::NoError)) };
        self.reject_undisplayable().or_else(|| self.reject_unrelated(error)).or_else(|| self.reject_unexplained())
    }

    /// It only looked, somebody else had a part in it, or its commands and edits cannot be told.
    fn reject_undisplayable(&self) -> Option<RejectedBecause> {
        if !self.failed.acts() && !self.error_blames_command() && !self.gains_privileges() {
            // That a file was not here but there teaches nothing; that a flag is not known here does.
            return Some(RejectedBecause::OnlyLooked);
        }
        if let Some((turn, said)) = self.user.said
            && !self.is_remedy_named_in(said)
        {
            return Some(RejectedBecause::SaidBetween { turn });
        }
        // A script for one occasion cannot be shown whole.
        let remedies = self.remedies.iter().map(|call| &call.line);
        let mut shown = [&self.before, &self.after].into_iter().chain(remedies);
        if let Some(script) = shown.by_ref().map(|line| self.text(line)).find(|text| is_script(text))
            && !self.is_explained_rewrite()
        {
            return Some(RejectedBecause::Script { n_chars: script.chars().count(), max: MAX_COMMAND_CHARS });
        }
        let only_tests =
            !are_settings(&self.edits) && !self.edited.is_empty() && self.edited.iter().all(|file| is_test_file(file));
        let is_left_open = only_tests && self.remedies.is_empty() && self.diagnosis.is_none();
        is_left_open.then_some(RejectedBecause::OnlyTestsChanged { n_edited: self.edited.len() })
    }

    /// What passed is something else than what failed.
    fn reject_unrelated(&self, error: &str) -> Option<RejectedBecause> {
        if !self.is_other_command() || self.ending != Ending::Passed {
            return None;
        }
        // What was wrong is in the code: that fewer tests pass says nothing of it. After a change, nobody knows which of the two
        // it was.
        let is_about_code = is_finding(error) || self.failed.output().lines().any(outcome::is_failed_test);
        let is_named = self.remedies_name_what_is_missing();
        let is_mended_between = (!self.edits.is_empty() || !self.remedies.is_empty()) && !is_named;
        // Another way to write the check is no other run.
        let is_same_check = || self.diagnosis.is_some() && covers(self.failed, self.fixed);
        let is_else =
            self.relation == Relation::SameProgram && !self.error_blames_command() && !self.is_explained_rewrite();
        let is_unsure = is_about_code || is_mended_between || (is_else && !is_named);
        (is_unsure && !is_same_check()).then_some(RejectedBecause::OtherRun { n_edited: self.edits.len() })
    }

    /// What mended it is not known, or too much to be told.
    fn reject_unexplained(&self) -> Option<RejectedBecause> {
        let n_between = self.n_between();
        let is_explained =
            self.diagnosis.is_some() && self.remedies.len() <= MAX_BETWEEN && self.edited.len() <= MAX_FILES;
        let is_told =
            is_explained || (n_between <= self.max_between() && (self.edits.is_empty() || self.edits_generalise()));
        let is_written_otherwise = self.has_few_changes()
            || self.is_requoted()
            || self.relation == Relation::Replaced
            || self.is_explained_rewrite();
        let is_mended = n_between > 0 || (is_written_otherwise && self.ending == Ending::Passed);
        (!is_told || !is_mended).then_some(RejectedBecause::NothingTold { n_between, n_changes: self.changes.len() })
    }

    /// True where the error says that the command was written wrongly.
    fn error_blames_command(&self) -> bool {
        self.error.is_some_and(blames_the_command)
    }

    /// True where the lesson can show the edits, and they would apply again: they are of settings, or of what the error names.
    fn edits_generalise(&self) -> bool {
        let is_of_error = || self.error.is_some_and(|error| self.edits.iter().any(|call| names_same(call, error)));
        self.describe_edits().is_some() && (are_settings(&self.edits) || is_of_error())
    }

    /// True where a command between names what the error says was missing: `pip install pyyaml` after `No module named 'yaml'`.
    fn remedies_name_what_is_missing(&self) -> bool {
        let Some(error) = self.error.filter(|error| says_missing(error)) else { return false };
        let own = names_in(self.failed.line.text());
        let missing: Vec<String> = names_in(error).into_iter().filter(|name| !own.contains(name)).collect();
        let names_it = |call: &&TerminalCall<'_>| {
            let text = call.line.text().to_lowercase();
            missing.iter().any(|name| text.contains(name.as_str()))
        };
        self.edits.is_empty() && !self.remedies.is_empty() && self.remedies.iter().all(names_it)
    }

    /// What may have mended it.
    pub(super) fn n_between(&self) -> usize {
        self.edits.len() + self.remedies.len() + usize::from(self.user.has_acted())
    }

    /// True where the person named what mended it: a word that was put into the command, or one of the commands in between.
    fn is_remedy_named_in(&self, said: &str) -> bool {
        const MIN_CHARS: usize = 4;
        let said = said.to_lowercase();
        let added = self.changes.iter().flat_map(|change| change.after.split_whitespace());
        let ran = self.remedies.iter().flat_map(|call| call.line.text().split_whitespace().skip(1));
        let mut words = added.chain(ran).map(|word| word.trim_matches(['\'', '"', '/', '.', '-']).to_lowercase());
        self.edits.is_empty() && words.any(|word| word.len() >= MIN_CHARS && said.contains(&word))
    }

    /// How much of it can be told. Settings belong together, and all of them are needed.
    pub(super) fn max_between(&self) -> usize {
        const MAX_SETTINGS: usize = 4;
        if are_settings(&self.edits) { MAX_SETTINGS } else { MAX_BETWEEN }
    }

    /// True where nothing but the right to do it was missing.
    fn gains_privileges(&self) -> bool {
        let has = |line: &CommandLine| ["sudo ", "doas "].iter().any(|word| line.text().contains(word));
        let is_denied =
            self.error.is_some_and(|error| ["denied", "not permitted", "root"].iter().any(|word| error.contains(word)));
        is_denied && has(&self.fixed.line) && !has(&self.failed.line)
    }

    /// True when the command that passed is not the one that failed.
    fn is_other_command(&self) -> bool {
        !matches!(self.relation, Relation::Rerun | Relation::Prepared)
    }

    /// True when only quotes were put around words, as for a pattern that the shell would not leave alone.
    pub(super) fn is_requoted(&self) -> bool {
        let is_named = || self.error.and_then(unmatched).is_some_and(|word| self.after.text().contains(&word));
        self.error_blames_command()
            && (self.changes.is_empty() || is_named())
            && self.before.text() != self.after.text()
    }

    /// True when the words that differ are few enough to be told.
    pub(super) fn has_few_changes(&self) -> bool {
        (1..=MAX_CHANGES).contains(&self.changes.len())
    }
}
