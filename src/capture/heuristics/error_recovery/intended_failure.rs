//! Failures that were made on purpose: a test that was broken to see it fail, a defect that was reproduced, a test written before
//! its code. What ends them is that the experiment is over, and no remedy.

use std::sync::LazyLock;

use adage_transcript::command::Purpose;
use adage_transcript::{CommandLine, ToolCall, Turn};
use regex::Regex;

use super::edits::changed_lines;
use crate::capture::heuristics::error_line::is_finding;
use crate::capture::heuristics::session::{Session, TerminalCall};
use crate::capture::heuristics::wording::matches;

/// What an agent says of a command that it runs to see it fail.
static MEANT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:should|must|will|verify|confirm|ensure|expect\w*|prove|watch|make sure)\b(?: \w+){0,4} fails?\b|\binvert|\b(?:error|failure|unhappy) (?:path|case)s?\b|\bwithout the (?:fix|change|guard)\b|\b(?:reproduc(?:e|es|ed|ing)|repro) (?:it|this|that|the (?:\w+ )?(?:bug|issue|failure|error|problem|crash))\b").ok()
});

/// What it says where it breaks something first, or writes the test before the code.
static BREAKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let break_it = r"\bbreak (?:it|one|something|the (?:code|implementation))\b|\bsabotag\w+";
    let on_purpose = r"\bon purpose\b|\b(?:deliberate|intentional|purpose|purposeful)(?:ly)? (?:\w+ )?(?:br[eo]ak|broke|introduc|fail|wrong|corrupt|remov|chang|invert|bad|invalid|mistake|bug|error|mutat)";
    let for_now =
        r"\btemporarily (?:\w+ )?(?:break|broke|remov|revert|disabl|comment|chang|undo|stub|invert|flip|replac)";
    let mutants = r"\bmutation[- ]test|\bmutat(?:e|ed|ing) (?:it|the (?:code|test|source|implementation))\b|\bmutants?\b|\bnegative (?:test|control)\b|\binverted\b";
    let first = r"\btests?[- ]first\b|\bTDD\b|\bred[- /]green\b|\b(?:write|writing|add|adding|start\w* with|begin\w* with|create|creating) (?:a |an |the |some )?(?:\w+ )?failing tests?\b|\bRED\b[^.\n]{0,20}\b(?:phase|step)\b";
    Regex::new(&format!("(?i){break_it}|{on_purpose}|{for_now}|{mutants}|{first}")).ok()
});

/// What it says once it has seen the failure that it wanted.
static AS_EXPECTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let failing = r"\b(?:fail\w*|error\w*|red|reject\w*|refus\w*)\b[^.!?\n]{0,60}\b(?:as (?:expected|intended|designed|planned|hoped|(?:it|they) should|wanted)|for the right reason)\b";
    let expected = r"\b(?:as expected|expected|expectedly)\b[ :,—-]{1,3}(?:the )?(?:\w+ ){0,3}fail(?:s|ed|ure|ures)?\b|\bwhich is the expected (?:behaviou?r|result|failure)\b";
    let rightly = r"\b(?:correctly|rightly|properly) (?:fail|reject|catch|caught|detect|report|flag|refus)\w*";
    let good = r"^\W*(?:good|great|perfect|excellent|nice)\W+(?:(?:the|a|it|both|all|they|this|that|tests?|new|our|my|check|build|broken|mutated|mutation|mutant|suite|guard|now|of|assertions?|\d+)\W+){0,6}(?:fails?|failed|red|caught|catches|reproduc\w+)\b";
    let bites = r"\b(?:tests?|checks?|guard|lint|rule|assertions?) (?:now |really |does |do |actually )?(?:catch(?:es)?|caught|bites?|ha(?:s|ve) teeth)\b|\breproduced\b";
    Regex::new(&format!("(?i){failing}|{expected}|{rightly}|{good}|{bites}")).ok()
});

/// True for a failure that the agent wanted to see.
pub(super) fn is_intended(session: &Session<'_>, failed: &TerminalCall<'_>, fixed: &TerminalCall<'_>) -> bool {
    let edits = session.edits(failed.turn, fixed.turn);
    is_announced(session, failed)
        || matches(&AS_EXPECTED, &agent_text_after(session, failed.turn))
        || is_requested(session, failed)
        || breaks_and_restores(&failed.line)
        || undo_earlier_edits(&edits, session, failed.turn)
        || (edits.is_empty() && is_reverted(session, failed, fixed))
}

/// True where the agent said so before, in the call itself or while it changed what fails.
fn is_announced(session: &Session<'_>, failed: &TerminalCall<'_>) -> bool {
    const NEAR: usize = 2;
    /// So far back as an experiment is prepared.
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

/// What the agent says next.
fn agent_text_after(session: &Session<'_>, turn: usize) -> String {
    const MAX_CHARS: usize = 400;
    let mut next = session.transcript.turns.get(turn + 1..).unwrap_or_default().iter().take(2);
    let text = next.find_map(agent_text).unwrap_or_default();
    text.chars().take(MAX_CHARS).collect()
}

fn agent_text(turn: &Turn) -> Option<&str> {
    match turn {
        Turn::Assistant(text) => Some(text.as_str()),
        _ => None,
    }
}

/// True for a failed check where the person asked for tests before the code, or to see tests fail.
fn is_requested(session: &Session<'_>, failed: &TerminalCall<'_>) -> bool {
    /// Longer is a description of a whole task.
    const MAX_CHARS: usize = 1_500;
    let asked = session.user_turn_before(failed.turn).and_then(|turn| session.transcript.turns.get(turn)?.as_user());
    let is_check = failed.line.purpose() == Purpose::Checks || failed.output().lines().any(is_finding);
    is_check && asked.is_some_and(|text| text.chars().count() <= MAX_CHARS && matches(&BREAKS, text))
}

/// True for a line that changes a file, looks what happens and puts the file back.
fn breaks_and_restores(line: &CommandLine) -> bool {
    let text = line.text();
    let breaks = ["sed -i", "git stash", "cp ", "mv ", "perl -pi", "patch "].iter().any(|mark| text.contains(mark));
    breaks && RESTORES.iter().any(|mark| text.contains(mark))
}

/// How files are put back.
const RESTORES: [&str; 6] =
    ["git checkout -- ", "git checkout HEAD", "git restore ", "git stash pop", ".bak ", "patch -R"];

/// True where a check passes once files were put back: what was broken was the last edit.
fn is_reverted(session: &Session<'_>, failed: &TerminalCall<'_>, fixed: &TerminalCall<'_>) -> bool {
    let acts = session.acts(failed.turn + 1, fixed.turn);
    let restores = |text: &str| RESTORES.iter().any(|mark| text.contains(mark));
    failed.line.purpose() == Purpose::Checks
        && acts.iter().filter_map(|act| act.command).any(|command| restores(command.line.text()))
}

/// True where edits only take back what was changed before a turn: it was broken to see a check fail.
fn undo_earlier_edits(edits: &[&ToolCall], session: &Session<'_>, turn: usize) -> bool {
    let takes_back = |edit: &&ToolCall| {
        let Some((gone, come)) = changed_lines(edit) else { return false };
        let is_its_opposite = |other: &ToolCall| {
            other.changed_path() == edit.changed_path()
                && changed_lines(other).is_some_and(|(removed, added)| removed == come && added == gone)
        };
        session.edits_in(0, turn).any(|(_, other)| is_its_opposite(other))
    };
    !edits.is_empty() && edits.iter().all(takes_back)
}
