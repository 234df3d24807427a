//! Which calls failed, what their errors name, and before which command lines they matter again.

use std::collections::HashSet;
use std::sync::LazyLock;

use adage_transcript::{CommandLine, Turn, outcome};
use regex::Regex;
use unicode_segmentation::UnicodeSegmentation;

use super::error_line::{absent_program, error_line, never_ran};
use super::session::{Session, TerminalCall};
use super::wording::{matches, pattern};

/// The maximum number of patterns of a lesson.
const MAX_PATTERNS: usize = 3;

/// True for a call that failed by its status, by an exit code that its line printed, or because the agent's next message confirms
/// the error in its output.
pub(super) fn is_failure(session: &Session<'_>, call: &TerminalCall<'_>) -> bool {
    let output = call.output();
    if call.failed() || !call.acts() || never_ran(output) {
        return call.failed();
    }
    let Some(error) = error_line(output).filter(|_| outcome::reads_as_failed(output)) else { return false };
    if call.succeeded() { agent_confirms(session, call.turn, error) } else { outcome::tells_of_failure(output) }
}

/// True if the agent's message right after the call reports a failure and shares a name with the error.
fn agent_confirms(session: &Session<'_>, turn: usize, error: &str) -> bool {
    static FAILED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(?:fail(?:s|ed)|errors? (?:out|occurred|is|was)|errored|did(?:n['’]t| not) work|does(?:n['’]t| not) (?:work|exist|support)|could(?:n['’]t| not)|cannot|broke|got an? (?:\w+ )?error|(?:issue|problem) is)\b",
        )
    });
    /// The number of characters of the message that are read.
    const MAX_CHARS: usize = 300;
    let Some(Turn::Assistant(text)) = session.transcript.turns.get(turn + 1) else { return false };
    let text: String = text.chars().take(MAX_CHARS).collect();
    matches(&FAILED, &text) && shares_a_name(&text, &error.to_lowercase())
}

/// True for an error that reports something missing.
pub(super) fn says_missing(error: &str) -> bool {
    const MARKS: [&str; 10] = [
        "not found",
        "no module named",
        "cannot find",
        "could not find",
        "no such",
        "not installed",
        "missing",
        "unable to find",
        "could not resolve",
        "is not recognized",
    ];
    let lower = error.to_lowercase();
    MARKS.iter().any(|mark| lower.contains(mark))
}

/// True for two errors that are equal except for their digits.
pub(super) fn is_same_error_text(one: &str, other: &str) -> bool {
    let plain = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    plain(one) == plain(other)
}

/// The distinct words of four or more bytes in a text, in lower case, without words that most errors contain.
pub(super) fn names_in(text: &str) -> HashSet<String> {
    const MIN_CHARS: usize = 4;
    const COMMON_WORDS: &str = "error type types file line test tests string none null true false self this return expected found value \
        undefined main name data with from module named package cannot find such directory command install installed \
        fatal missing";
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_lowercase);
    words.filter(|word| word.len() >= MIN_CHARS && !COMMON_WORDS.split(' ').any(|known| known == word)).collect()
}

/// True for a sentence that shares code or an uncommon word with `evidence`, which is in lower case.
fn shares_a_name(text: &str, evidence: &str) -> bool {
    const MIN_CHARS: usize = 3;
    let is_name = |word: &str| {
        let is_code = word.contains(['_', '.', '/', '-', ':', '=', '@']) || word.chars().any(|c| c.is_ascii_digit());
        let is_camel = word.chars().skip(1).any(char::is_uppercase);
        is_code || is_camel
    };
    let quoted = text
        .split('`')
        .skip(1)
        .step_by(2)
        .flat_map(|code| code.split([' ', '(', ')', '"', '\'', ',', '=']))
        .map(|word| (word, true));
    let plain =
        text.split([' ', '(', ')', '"', '\'', ',', '`']).map(|word| (word.trim_matches(['.', ':', ';']), false));
    let mut names =
        quoted.chain(plain).filter(|(word, is_code)| word.chars().count() >= MIN_CHARS && (*is_code || is_name(word)));
    let holds = |word: &str| evidence.contains(word.trim_matches(['*', '.']));
    names.any(|(word, _)| holds(&word.to_lowercase()))
        || long_words(text).any(|word| holds(&word))
        || text.unicode_words().any(|word| evidence.contains(&format!("`{}`", word.to_lowercase())))
}

/// The words of six or more characters in lower case, without words that most messages contain.
fn long_words(text: &str) -> impl Iterator<Item = String> + '_ {
    const MIN_CHARS: usize = 6;
    const COMMON_WORDS: [&str; 24] = [
        "failed", "failing", "failure", "errors", "expected", "because", "problem", "should", "already", "instead",
        "really", "another", "command", "output", "message", "version", "project", "running", "testing", "missing",
        "needed", "changed", "string", "return",
    ];
    text.unicode_words()
        .map(str::to_lowercase)
        .filter(|word| word.chars().count() >= MIN_CHARS && !COMMON_WORDS.contains(&word.as_str()))
}

/// The patterns of command lines for which a lesson on a failed command is of use: the program that the shell did not find, the form with
/// the flag that was wrong, or the forms of the line.
pub(super) fn patterns(line: &CommandLine, failure: &str, flag: Option<&str>) -> Vec<String> {
    let absent = failure.lines().find_map(absent_program);
    if let Some(program) = absent.and_then(|absent| line.programs().find(|program| *program == absent)) {
        return vec![format!("{program}*")];
    }
    let forms = line.normal_form();
    let mut known = forms.split(" && ").filter(|form| form.contains(char::is_alphanumeric));
    match flag {
        Some(flag) => known.next().map(|form| format!("{form}* {flag}*")).into_iter().collect(),
        None => known.take(MAX_PATTERNS).map(|form| format!("{}*", form.replace("<url>", "*"))).collect(),
    }
}
