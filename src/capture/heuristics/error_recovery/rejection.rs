//! Reasons to reject a recovery: its commands cannot be shown, its end is another command, or the fix is unknown.

use adage_transcript::command::Invocation;
use adage_transcript::{CommandLine, Relation, outcome};

use super::edits::{are_settings, names_in, names_same};
use super::ending::Ending;
use super::failures::says_missing;
use super::recovery::Recovery;
use super::{MAX_BETWEEN, MAX_FILES, covers, is_test_file};
use crate::capture::heuristics::RejectedBecause;
use crate::capture::heuristics::error_line::{blames_the_command, is_finding, unmatched};
use crate::capture::heuristics::session::{MAX_COMMAND_CHARS, TerminalCall, is_script};

/// The maximum number of changed words. With more, it is another command.
const MAX_CHANGES: usize = 4;

impl Recovery<'_, '_> {
    /// The first reason to reject the recovery. None if it makes a lesson.
    pub(super) fn rejection(&self) -> Option<RejectedBecause> {
        let Some(error) = self.error else { return self.reject_undisplayable().or(Some(RejectedBecause::NoError)) };
        let unproven = self.reject_undisplayable().or_else(|| self.reject_unrelated(error));
        unproven.or_else(|| self.reject_unexplained()).or_else(|| self.reject_one_off())
    }

    /// Rejects commands that only look, messages of the user in between, scripts, and changes of tests alone.
    fn reject_undisplayable(&self) -> Option<RejectedBecause> {
        if !self.failed.acts() && !self.error_blames_command() && !self.gains_privileges() {
            // The location of one file teaches nothing. An unknown flag does.
            return Some(RejectedBecause::OnlyLooked);
        }
        if let Some((turn, said)) = self.user.said
            && !self.is_remedy_named_in(said)
        {
            return Some(RejectedBecause::SaidBetween { turn });
        }
        let remedies = self.remedies.iter().map(|call| &call.line);
        let mut shown = [&self.before, &self.after].into_iter().chain(remedies);
        if let Some(script) = shown.by_ref().map(|line| self.text(line)).find(|text| is_script(text)) {
            return Some(RejectedBecause::Script { n_chars: script.chars().count(), max: MAX_COMMAND_CHARS });
        }
        let only_tests =
            !are_settings(&self.edits) && !self.edited.is_empty() && self.edited.iter().all(|file| is_test_file(file));
        let is_unexplained = only_tests && self.remedies.is_empty() && self.diagnosis.is_none();
        is_unexplained.then_some(RejectedBecause::OnlyTestsChanged { n_edited: self.edited.len() })
    }

    /// Rejects what is done once: to files that the session wrote itself, or to this one tree.
    fn reject_one_off(&self) -> Option<RejectedBecause> {
        if self.edits_own_files && (self.diagnosis.is_none() || self.runs_what_was_edited()) {
            return Some(RejectedBecause::OwnFiles { n_edited: self.edits.len() });
        }
        let is_other = matches!(self.relation, Relation::Respelled | Relation::Replaced);
        let after = Some(&self.after).filter(|_| !is_other);
        let mut lines = self.remedies.iter().map(|call| &call.line).chain(after);
        lines.any(|line| self.is_one_off(line)).then_some(RejectedBecause::OneOff)
    }

    /// True if the failed command runs or names each file that was edited.
    fn runs_what_was_edited(&self) -> bool {
        self.edited.iter().all(|file| self.failed.line.text().contains(file.as_str()))
    }

    /// True for a line with a loop, or with a program that changes single files, which the failed line does not have. False if the
    /// output of the failure names an operand of that program.
    fn is_one_off(&self, line: &CommandLine) -> bool {
        const LOOPS: [&str; 3] = ["for ", "while ", "until "];
        let failed = &self.failed.line;
        let is_new = |call: &Invocation<'_>| {
            let is_same = |own: Invocation<'_>| own.name == call.name && changes_files(&own);
            changes_files(call) && !failed.invocations().any(is_same)
        };
        let is_named = |word: &&str| word.len() > 2 && self.failed.output().contains(*word);
        let has_loop = |line: &CommandLine| LOOPS.iter().any(|word| line.text().starts_with(word));
        (has_loop(line) && !has_loop(failed))
            || line.invocations().any(|call| is_new(&call) && !call.words.iter().any(is_named))
    }

    /// Rejects an end that does not prove that the failure is fixed, because another command passed.
    fn reject_unrelated(&self, error: &str) -> Option<RejectedBecause> {
        if !self.is_other_command() || self.ending != Ending::Passed {
            return None;
        }
        // For an error in the code, a narrower test run proves nothing. After another change, it is unknown which of the two helped.
        let is_about_code = is_finding(error) || self.failed.output().lines().any(outcome::is_failed_test);
        let is_named = self.remedies_name_what_is_missing();
        let has_other_fix = (!self.edits.is_empty() || !self.remedies.is_empty()) && !is_named;
        // Another form of the same check is not another command.
        let is_same_check = || self.diagnosis.is_some() && covers(self.failed, self.fixed);
        let is_other = self.relation == Relation::SameProgram && !self.error_blames_command();
        let is_unsure = is_about_code || has_other_fix || (is_other && !is_named);
        (is_unsure && !is_same_check()).then_some(RejectedBecause::OtherRun { n_edited: self.edits.len() })
    }

    /// Rejects a fix that is unknown or too long for a lesson.
    fn reject_unexplained(&self) -> Option<RejectedBecause> {
        let n_between = self.n_between();
        let is_explained =
            self.diagnosis.is_some() && self.remedies.len() <= MAX_BETWEEN && self.edited.len() <= MAX_FILES;
        let is_shown =
            is_explained || (n_between <= self.max_between() && (self.edits.is_empty() || self.edits_generalise()));
        let is_rewritten = self.has_few_changes() || self.is_requoted() || self.relation == Relation::Replaced;
        let is_fixed = n_between > 0 || (is_rewritten && self.ending == Ending::Passed);
        (!is_shown || !is_fixed).then_some(RejectedBecause::NothingTold { n_between, n_changes: self.changes.len() })
    }

    /// True if the error says that the command line is wrong.
    fn error_blames_command(&self) -> bool {
        self.error.is_some_and(blames_the_command)
    }

    /// True if the edits fit into a lesson and may apply again: they change settings, or a name from the error.
    fn edits_generalise(&self) -> bool {
        let is_of_error = || self.error.is_some_and(|error| self.edits.iter().any(|call| names_same(call, error)));
        self.describe_edits().is_some() && (are_settings(&self.edits) || is_of_error())
    }

    /// True if every command in between contains what the error reports missing: `pip install pyyaml` after
    /// `No module named 'yaml'`. False with edits or without commands.
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

    /// The number of edits and commands that may have fixed the failure, the user's included.
    pub(super) fn n_between(&self) -> usize {
        self.edits.len() + self.remedies.len() + usize::from(self.user.has_acted())
    }

    /// True if the user's message contains a word of the fix: one that was added to the command, or an argument of a command in
    /// between. False with edits.
    fn is_remedy_named_in(&self, said: &str) -> bool {
        const MIN_CHARS: usize = 4;
        let said = said.to_lowercase();
        let added = self.changes.iter().flat_map(|change| change.after.split_whitespace());
        let ran = self.remedies.iter().flat_map(|call| call.line.text().split_whitespace().skip(1));
        let mut words = added.chain(ran).map(|word| word.trim_matches(['\'', '"', '/', '.', '-']).to_lowercase());
        self.edits.is_empty() && words.any(|word| word.len() >= MIN_CHARS && said.contains(&word))
    }

    /// The maximum of [`Self::n_between`]. It is higher for settings, which are often needed together.
    pub(super) fn max_between(&self) -> usize {
        const MAX_SETTINGS: usize = 4;
        if are_settings(&self.edits) { MAX_SETTINGS } else { MAX_BETWEEN }
    }

    /// True if permission was denied and the command passed with `sudo` or `doas`.
    fn gains_privileges(&self) -> bool {
        let has = |line: &CommandLine| ["sudo ", "doas "].iter().any(|word| line.text().contains(word));
        let is_denied =
            self.error.is_some_and(|error| ["denied", "not permitted", "root"].iter().any(|word| error.contains(word)));
        is_denied && has(&self.fixed.line) && !has(&self.failed.line)
    }

    /// True if the command that ended the failure is not the failed command.
    fn is_other_command(&self) -> bool {
        !matches!(self.relation, Relation::Rerun | Relation::Prepared)
    }

    /// True if the commands differ only in quotes, as for a pattern that the shell expanded.
    pub(super) fn is_requoted(&self) -> bool {
        let is_named = || self.error.and_then(unmatched).is_some_and(|word| self.after.text().contains(&word));
        self.error_blames_command()
            && (self.changes.is_empty() || is_named())
            && self.before.text() != self.after.text()
    }

    /// True if at least one and at most [`MAX_CHANGES`] words differ.
    pub(super) fn has_few_changes(&self) -> bool {
        (1..=MAX_CHANGES).contains(&self.changes.len())
    }
}

/// True for a command that changes single files of this one tree. `git` counts too: it does not prepare another program.
/// A file that only keeps what a command printed does not.
fn changes_files(call: &Invocation<'_>) -> bool {
    let is_log = |file: &String| {
        file.starts_with("/tmp/") || [".log", ".txt", ".out"].iter().any(|ending| file.ends_with(ending))
    };
    ["ln", "chmod", "git"].contains(&call.name) || !call.written_files().iter().all(is_log)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_changes_files_is_recognised_in_each_form() {
        let changes = |line: &str| CommandLine::parse(line).invocations().any(|call| changes_files(&call));
        for line in
            ["sed -Ei s/a/b/ a.go", "perl -pi -e s/a/b/ a.go", "cat > a.go <<EOF\nx\nEOF", "rm -rf pkg", "git mv a b"]
        {
            assert!(changes(line), "{line}");
        }
        for line in ["npm ci", "go build ./... > build.log 2>&1", "sed -n 1p a.go", "pip install x > /tmp/x"] {
            assert!(!changes(line), "{line}");
        }
    }
}
