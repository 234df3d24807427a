//! How the calls of a session ended, and what the user reported, as the rules read it: for checking what a model says about them.

use std::collections::HashSet;

use adage_transcript::{Relation, Status, ToolCall, Transcript, Turn, outcome};

use super::cues;
use super::error_line::{absent_program, error_line, never_ran, tells_error, unknown_flag};
use super::failure::{self, is_failure, is_same_error_text, patterns, says_missing};
use super::intended_failure::is_intended;
use super::session::{Session, TerminalCall};
use super::user_words::{reports_a_failure, reports_a_success};
use super::wording::sentences;

/// The outcomes of a session's turns. Turns are counted from 0; a turn that does not exist has no outcome.
pub(crate) struct Outcomes<'t> {
    session: Session<'t>,
}

impl<'t> Outcomes<'t> {
    pub(crate) fn of(transcript: &'t Transcript) -> Self {
        Self { session: Session::new(transcript) }
    }

    /// How a call ended, also where the status that was told is that of something else. Unknown for a call that never ran.
    pub(crate) fn status(&self, turn: usize) -> Status {
        if let Some(call) = self.command(turn) {
            return if is_failure(&self.session, call) {
                Status::Failed
            } else if call.succeeded() {
                Status::Succeeded
            } else {
                Status::Unknown
            };
        }
        let Some(call) = self.call(turn) else { return Status::Unknown };
        let has_run = !never_ran(call.result.as_deref().unwrap_or_default());
        if has_run { call.status } else { Status::Unknown }
    }

    /// True if the quoted output of a command that acts has an error line, whatever its status: the last command of a line
    /// decides on that.
    pub(crate) fn prints_error(&self, turn: usize, quote: &str) -> bool {
        let is_told = |call: &TerminalCall<'_>| call.acts() && !never_ran(call.output());
        let tells = |line: &str| tells_error(line) || says_missing(line);
        self.command(turn).is_some_and(is_told) && quote.lines().any(tells)
    }

    /// True if the user reports a failure in a turn, pasted one, or states something in the quoted words.
    pub(crate) fn reports_failure(&self, turn: usize, quote: &str) -> bool {
        let Some(text) = self.said(turn) else { return false };
        reports_a_failure(text) || outcome::error_line(quote).is_some() || is_statement(text, quote)
    }

    /// True if the user says in a turn that it works, is content with what was done, or states something in the quoted words and
    /// reports no failure.
    pub(crate) fn reports_success(&self, turn: usize, quote: &str) -> bool {
        let Some(text) = self.said(turn) else { return false };
        reports_a_success(text) || is_statement(text, quote) && !reports_a_failure(text)
    }

    /// True if a later call shows that what failed works: the same command in another form or the same edit, another program
    /// where one is not installed, or a command that acts and whose program or operand the failure names.
    pub(crate) fn bears_on(&self, failed: usize, failure: &str, later: usize) -> bool {
        let Some(after) = self.command(later) else {
            return self.is_same_tool(failed, later);
        };
        let before = self.command(failed);
        let is_related = |before: &TerminalCall<'_>| {
            let relation = before.line.relation_to(&after.line);
            let is_same = relation.is_some_and(|relation| relation != Relation::SameProgram);
            let is_absent = failure.lines().any(|line| absent_program(line).is_some());
            is_same || (is_absent && before.line.is_replaced_by(&after.line))
        };
        before.is_some_and(is_related) || (after.acts() && is_named(failure, before, after))
    }

    /// True if a later call is the same as an earlier one, apart from blanks.
    pub(crate) fn is_rerun(&self, failed: usize, later: usize) -> bool {
        let pair = self.command(failed).zip(self.command(later));
        pair.is_some_and(|(before, after)| before.line.relation_to(&after.line) == Some(Relation::Rerun))
    }

    /// The first call in turns `from..to` that is the failed command, or another form of it, and fails with the same error. Of
    /// an output with several errors the quoted one counts.
    pub(crate) fn failed_again(&self, failed: usize, quote: &str, from: usize, to: usize) -> Option<usize> {
        let before = self.command(failed)?;
        let error = error_line(before.output())?;
        let is_again = |call: &&TerminalCall<'_>| {
            let relation = before.line.relation_to(&call.line);
            let is_same = relation.is_some_and(|relation| relation != Relation::SameProgram);
            let has_error = || error_line(call.output()).is_some_and(|own| is_same_error_text(own, error));
            is_same && call.failed() && call.output().contains(quote) && has_error()
        };
        let mut between = self.session.calls.iter().filter(|call| (from..to).contains(&call.turn));
        between.find(is_again).map(|call| call.turn)
    }

    /// True if two turns are the same failure: the same turn, or two forms of a command that fail with the same error.
    pub(crate) fn is_same_failure(&self, one: usize, other: usize) -> bool {
        let (first, second) = (one.min(other), one.max(other));
        one == other || self.failed_again(first, "", second, second + 1).is_some()
    }

    /// True if somebody wanted to see the call fail.
    pub(crate) fn is_intended(&self, failed: usize, later: usize) -> bool {
        let pair = self.command(failed).zip(self.command(later));
        pair.is_some_and(|(failed, later)| is_intended(&self.session, failed, later))
    }

    /// True if a file was changed or a command acted in turns `from..to`.
    pub(crate) fn has_acts(&self, from: usize, to: usize) -> bool {
        !self.session.acts(from, to).is_empty()
    }

    /// The patterns of command lines for which a lesson on a failed call is of use. Empty if no command failed, and for one that
    /// only looks, unless the way it was written is to blame: it would come back before each `ls`.
    pub(crate) fn patterns(&self, failed: usize, failure: &str) -> Vec<String> {
        let Some(call) = self.command(failed).filter(|call| !call.line.text().contains('\n')) else {
            return Vec::new();
        };
        let flag = failure.lines().find_map(unknown_flag).filter(|flag| call.line.text().contains(flag));
        let is_missing = failure.lines().any(|line| absent_program(line).is_some());
        if flag.is_none() && !is_missing && !call.acts() {
            return Vec::new();
        }
        patterns(&call.line, failure, flag)
    }

    /// The topic of a call: the program of a command.
    pub(crate) fn topic(&self, turn: usize) -> Option<String> {
        self.command(turn).map(|call| call.line.topic())
    }

    fn is_same_tool(&self, failed: usize, later: usize) -> bool {
        let pair = self.call(failed).zip(self.call(later));
        let is_same = |one: &ToolCall, other: &ToolCall| {
            one.tool == other.tool && one.changed_path().is_none_or(|path| other.changed_path() == Some(path))
        };
        pair.is_some_and(|(one, other)| is_same(one, other))
    }

    fn command(&self, turn: usize) -> Option<&TerminalCall<'t>> {
        let calls = &self.session.calls;
        calls.get(calls.partition_point(|call| call.turn < turn)).filter(|call| call.turn == turn)
    }

    fn call(&self, turn: usize) -> Option<&'t ToolCall> {
        self.session.transcript.turns.get(turn).and_then(Turn::as_call)
    }

    fn said(&self, turn: usize) -> Option<&'t str> {
        self.session.transcript.turns.get(turn).and_then(Turn::as_user)
    }
}

/// The distinct longer words of a text, in lower case, without those that most errors have.
pub(crate) fn names_in(text: &str) -> HashSet<String> {
    failure::names_in(text)
}

/// True if the output of a failure names the program of a later command, or output or command name a file or symbol that it is
/// run on. A subcommand does not count: `install` is one of many programs.
fn is_named(failure: &str, before: Option<&TerminalCall<'_>>, after: &TerminalCall<'_>) -> bool {
    const MIN_CHARS: usize = 4;
    let is_symbol = |word: &str| word.contains(['/', '.', '_', ':']) || word.chars().skip(1).any(char::is_uppercase);
    let told = format!("{failure}\n{}", before.map_or("", |before| before.line.text()));
    let mut names = after.line.commands();
    names.any(|(program, words)| {
        let is_other = before.is_none_or(|before| before.line.programs().all(|own| own != program));
        let is_program = program.chars().count() >= MIN_CHARS && is_other && has_word(failure, program);
        let plain = words.iter().map(|word| word.trim_start_matches("./").trim_end_matches(['/', '.']));
        let mut symbols = plain.filter(|word| word.chars().count() >= MIN_CHARS && is_symbol(word));
        is_program || symbols.any(|word| !word.starts_with('-') && has_word(&told, word))
    })
}

/// True if a text has the word, not as a part of a longer one.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    // `--no-fail` is not in `--no-fail-fast`.
    let is_flag = word.starts_with('-');
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || (is_flag && c == '-');
    text.match_indices(word).any(|(start, found)| {
        let before = text.get(..start).and_then(|before| before.chars().next_back());
        let after = text.get(start + found.len()..).and_then(|after| after.chars().next());
        // Where the word itself begins or ends with a sign, anything may be next to it.
        let is_free = |own: Option<char>, next: Option<char>| !own.is_some_and(is_part) || !next.is_some_and(is_part);
        is_free(word.chars().next(), before) && is_free(word.chars().next_back(), after)
    })
}

/// True for words in a text that are part of neither a question nor a request. Whether they tell of a failure is for the reviewer to
/// judge.
fn is_statement(text: &str, quote: &str) -> bool {
    const MIN_WORDS: usize = 4;
    let asks = |sentence: &str| sentence.contains('?') || cues::requests(sentence);
    let is_in_question = sentences(text).iter().any(|sentence| sentence.text.contains(quote) && asks(sentence.text));
    !asks(quote) && !is_in_question && quote.split_whitespace().count() >= MIN_WORDS
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run(command: &str, output: &str, status: Status) -> Turn {
        let input = json!({ "command": command });
        Turn::ToolCall(ToolCall { tool: "Bash".into(), input, result: Some(output.into()), status })
    }

    #[test]
    fn a_success_bears_on_the_failure_that_it_ends() {
        for (failed, output, later, expected) in [
            ("cargo test", "error: x", "cargo test --locked", true),
            ("cargo test", "error: x", "cargo build", false),
            ("docker build .", "error: x", "docker ps", false),
            ("npm install", "npm ERR! x", "pip install x", false),
            ("python3 a.py", "bash: python3: command not found", "python3.12 a.py", true),
            ("tree src/", "bash: tree: command not found", "ls src/", true),
            ("git push", "hook: golangci-lint failed", "golangci-lint run", true),
            ("git push", "hook: main_test.go:3: unused", "gofmt -l main_test.go", true),
            ("git push", "hook: main_test.go:3: unused", "gofmt -l other.go", false),
            ("make", "error: x", "ls", false),
        ] {
            let turns = vec![run(failed, output, Status::Failed), run(later, "", Status::Succeeded)];
            let transcript = Transcript { turns, ..Transcript::default() };
            let bears = Outcomes::of(&transcript).bears_on(0, output, 1);
            assert_eq!(bears, expected, "{failed}; {later}");
        }
    }

    #[test]
    fn patterns_name_what_was_wrong() {
        for (command, error, expected) in [
            ("cargo test -p a | tail -3", "error: x", "cargo test*"),
            ("cd web && tree src", "bash: tree: command not found", "tree*"),
            ("gh pr list --al", "unknown flag: --al", "gh pr list* --al*"),
            ("ls docs", "ls: docs: No such file or directory", ""),
        ] {
            let turns = vec![run(command, error, Status::Failed)];
            let transcript = Transcript { turns, ..Transcript::default() };
            let patterns = Outcomes::of(&transcript).patterns(0, error);
            assert_eq!(patterns.join(" | "), expected, "{command}");
        }
    }
}
