//! Intended failures: code that was broken to see a test fail, a reproduced defect, a test written before its code. They end with
//! the experiment, not with a fix.

use std::sync::LazyLock;

use adage_transcript::command::Purpose;
use adage_transcript::{CommandLine, ToolCall, Turn};
use regex::Regex;

use super::edits::changed_lines;
use super::error_line::is_finding;
use super::session::{Session, TerminalCall};
use super::wording::{matches, pattern};

/// Phrases of an agent that runs a command to see it fail.
static MEANT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:should|must|will|verify|confirm|ensure|expect\w*|prove|watch|make sure)\b(?: \w+){0,4} fails?\b|\binvert|\b(?:error|failure|unhappy) (?:path|case)s?\b|\bwithout the (?:fix|change|guard)\b|\b(?:reproduc(?:e|es|ed|ing)|repro) (?:it|this|that|the (?:\w+ )?(?:bug|issue|failure|error|problem|crash))\b",
    )
});

/// Phrases for breaking something on purpose, or for writing the test before the code.
static BREAKS: LazyLock<Regex> = LazyLock::new(|| {
    let break_it = r"\bbreak (?:it|one|something|the (?:code|implementation))\b|\bsabotag\w+";
    let on_purpose = r"\bon purpose\b|\b(?:deliberate|intentional|purpose|purposeful)(?:ly)? (?:\w+ )?(?:br[eo]ak|broke|introduc|fail|wrong|corrupt|remov|chang|invert|bad|invalid|mistake|bug|error|mutat)";
    let for_now =
        r"\btemporarily (?:\w+ )?(?:break|broke|remov|revert|disabl|comment|chang|undo|stub|invert|flip|replac)";
    let mutants = r"\bmutation[- ]test|\bmutat(?:e|ed|ing) (?:it|the (?:code|test|source|implementation))\b|\bmutants?\b|\bnegative (?:test|control)\b|\binverted\b";
    let first = r"\btests?[- ]first\b|\bTDD\b|\bred[- /]green\b|\b(?:write|writing|add|adding|start\w* with|begin\w* with|create|creating) (?:a |an |the |some )?(?:\w+ )?failing tests?\b|\bRED\b[^.\n]{0,20}\b(?:phase|step)\b";
    pattern(&format!("(?i){break_it}|{on_purpose}|{for_now}|{mutants}|{first}"))
});

/// Phrases of an agent that has seen the failure it wanted.
static AS_EXPECTED: LazyLock<Regex> = LazyLock::new(|| {
    let failing = r"\b(?:fail\w*|error\w*|red|reject\w*|refus\w*)\b[^.!?\n]{0,60}\b(?:as (?:expected|intended|designed|planned|hoped|(?:it|they) should|wanted)|for the right reason)\b";
    let expected = r"\b(?:as expected|expected|expectedly)\b[ :,—-]{1,3}(?:the )?(?:\w+ ){0,3}fail(?:s|ed|ure|ures)?\b|\bwhich is the expected (?:behaviou?r|result|failure)\b";
    let rightly = r"\b(?:correctly|rightly|properly) (?:fail|reject|catch|caught|detect|report|flag|refus)\w*";
    let good = r"^\W*(?:good|great|perfect|excellent|nice)\W+(?:(?:the|a|it|both|all|they|this|that|tests?|new|our|my|check|build|broken|mutated|mutation|mutant|suite|guard|now|of|assertions?|\d+)\W+){0,6}(?:fails?|failed|red|caught|catches|reproduc\w+)\b";
    let bites = r"\b(?:tests?|checks?|guard|lint|rule|assertions?) (?:now |really |does |do |actually )?(?:catch(?:es)?|caught|bites?|ha(?:s|ve) teeth)\b|\breproduced\b";
    pattern(&format!("(?i){failing}|{expected}|{rightly}|{good}|{bites}"))
});

/// True for a failure that the agent or the user wanted to see.
pub(super) fn is_intended(session: &Session<'_>, failed: &TerminalCall<'_>, fixed: &TerminalCall<'_>) -> bool {
    let edits = session.edits(failed.turn, fixed.turn);
    is_announced(session, failed)
        || matches(&AS_EXPECTED, &agent_text_after(session, failed.turn))
        || is_requested(session, failed)
        || breaks_and_restores(&failed.line)
        || undo_earlier_edits(&edits, session, failed.turn)
        || (edits.is_empty() && is_reverted(session, failed, fixed))
}

/// True if the agent announced the failure: in the call's description, in the command, or in its messages since the last user turn.
fn is_announced(session: &Session<'_>, failed: &TerminalCall<'_>) -> bool {
    /// The number of turns searched for the announcement of a failure.
    const NEAR: usize = 2;
    /// The number of turns searched for the preparation of an experiment.
    const FAR: usize = 8;
    let described = failed.call.input.get("description").and_then(|text| text.as_str()).unwrap_or_default();
    let since = session.user_turn_before(failed.turn).unwrap_or_default();
    let said = |back: usize| {
        let from = failed.turn.saturating_sub(back).max(since);
        let turns = session.transcript.turns.get(from..failed.turn).unwrap_or_default().iter().rev();
        turns.filter_map(agent_text)
    };
    matches(&MEANT, described)
        || matches(&BREAKS, failed.line.text())
        || said(NEAR).next().is_some_and(|text| matches(&MEANT, text))
        || said(FAR).any(|text| matches(&BREAKS, text))
}

/// The beginning of the agent's message in the two turns after a turn. Empty if there is none.
fn agent_text_after(session: &Session<'_>, turn: usize) -> String {
    const MAX_CHARS: usize = 400;
    let mut next = session.transcript.turns.get(turn + 1..).unwrap_or_default().iter().take(2);
    let text = next.find_map(agent_text).unwrap_or_default();
    text.chars().take(MAX_CHARS).collect()
}

/// The text of an agent's turn. None for other turns.
fn agent_text(turn: &Turn) -> Option<&str> {
    match turn {
        Turn::Assistant(text) => Some(text.as_str()),
        _ => None,
    }
}

/// True for a failed check if the user's last turn asks for tests before the code, or for tests that fail.
fn is_requested(session: &Session<'_>, failed: &TerminalCall<'_>) -> bool {
    /// The maximum length of the turn. A longer one describes a whole task.
    const MAX_CHARS: usize = 1_500;
    let asked = session.user_turn_before(failed.turn).and_then(|turn| session.transcript.turns.get(turn)?.as_user());
    let is_check = failed.line.purpose() == Purpose::Checks || failed.output().lines().any(is_finding);
    is_check && asked.is_some_and(|text| text.chars().count() <= MAX_CHARS && matches(&BREAKS, text))
}

/// True for a line that changes a file and restores it.
fn breaks_and_restores(line: &CommandLine) -> bool {
    let text = line.text();
    let breaks = ["sed -i", "git stash", "cp ", "mv ", "perl -pi", "patch "].iter().any(|mark| text.contains(mark));
    breaks && RESTORES.iter().any(|mark| text.contains(mark))
}

/// Marks of commands that restore files.
const RESTORES: [&str; 6] =
    ["git checkout -- ", "git checkout HEAD", "git restore ", "git stash pop", ".bak ", "patch -R"];

/// True for a failed check if a command restored files before the check passed.
fn is_reverted(session: &Session<'_>, failed: &TerminalCall<'_>, fixed: &TerminalCall<'_>) -> bool {
    let acts = session.acts(failed.turn + 1, fixed.turn);
    let restores = |text: &str| RESTORES.iter().any(|mark| text.contains(mark));
    failed.line.purpose() == Purpose::Checks
        && acts.iter().filter_map(|act| act.command).any(|command| restores(command.line.text()))
}

/// True if every edit reverses an edit from before `turn`: the code was broken to see a check fail. False for no edits.
fn undo_earlier_edits(edits: &[&ToolCall], session: &Session<'_>, turn: usize) -> bool {
    let takes_back = |edit: &&ToolCall| {
        let Some((removed, added)) = changed_lines(edit) else { return false };
        let is_its_opposite = |other: &ToolCall| {
            other.changed_path() == edit.changed_path()
                && changed_lines(other).is_some_and(|earlier| earlier.0 == added && earlier.1 == removed)
        };
        session.edits_in(0, turn).any(|(_, other)| is_its_opposite(other))
    };
    !edits.is_empty() && edits.iter().all(takes_back)
}
