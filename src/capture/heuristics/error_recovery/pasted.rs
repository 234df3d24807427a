//! An error that a person pasted, what the agent changed, and a sign that it helped.

use std::sync::LazyLock;

use adage_redact::one_line;
use adage_transcript::command::slug;
use adage_transcript::{CommandLine, ToolCall};
use regex::Regex;

use super::account::{Account, account};
use super::told::{MAX_ERROR_CHARS, within};
use super::{MAX_BETWEEN, MAX_FILES, edit_text, is_go_ahead, may_follow};
use crate::capture::heuristics::error_line::{has_many_causes, told_error};
use crate::capture::heuristics::session::{Session, TerminalCall, is_script};
use crate::capture::heuristics::wording::listed;
use crate::capture::heuristics::{Author, Candidate, FiredBecause, Heuristic, RejectedBecause, Trial, mined};
use crate::lesson::build_lesson;

/// Nobody saw the command fail, and the agent's word stands for what was done.
const CONFIDENCE: f64 = 0.4;
const SCORE: f64 = 0.5;

/// An error in a person's turn.
struct Pasted<'s, 't> {
    turn: usize,
    /// What the person ran, where the prompt was pasted too.
    command: Option<CommandLine>,
    error: &'t str,
    account: Account,
    edits: Vec<&'t ToolCall>,
    edited: Vec<String>,
    remedies: Vec<&'s TerminalCall<'t>>,
    /// Where it turned out that it helped.
    confirmed: usize,
}

pub(super) fn find(session: &Session<'_>) -> Vec<Trial> {
    let turns = session.user_turns().filter_map(|(turn, text)| Some((turn, text, pasted_error(text)?)));
    turns.map(|(turn, text, error)| judge(session, turn, text, error)).collect()
}

fn judge<'t>(session: &Session<'t>, turn: usize, text: &'t str, error: &'t str) -> Trial {
    let end = end_of_answer(session, turn);
    let edits = session.edits(turn, end);
    let edited = session.edited_files(turn, end);
    let remedies: Vec<_> =
        session.calls.iter().filter(|call| (turn..end).contains(&call.turn) && may_follow(call)).collect();
    let changes = session.edit_turns(turn, end).into_iter().chain(remedies.iter().map(|call| call.turn));
    let (first, last) = (changes.clone().min(), changes.max());
    let n_between = edits.len() + remedies.len();
    let Some(last) = last.filter(|_| edited.len() <= MAX_FILES && remedies.len() <= MAX_BETWEEN) else {
        return Trial::refused(turn, RejectedBecause::NothingTold { n_between, n_changes: 0 });
    };
    let evidence = text.to_owned() + &edits.iter().map(|call| edit_text(call)).collect::<String>();
    let until = |end: usize| account(session, turn, end, &evidence);
    let Some(account) = first.and_then(until).or_else(|| until(end)) else {
        return Trial::refused(turn, RejectedBecause::NothingTold { n_between, n_changes: 0 });
    };
    let command = command_before(text, error);
    let Some(confirmed) = confirmation(session, command.as_ref(), last, end) else {
        return Trial::refused(turn, RejectedBecause::NotConfirmed);
    };
    let pasted = Pasted { turn, command, error, account, edits, edited, remedies, confirmed };
    if let Some(script) = pasted.remedies.iter().map(|call| call.line.text()).find(|text| is_script(text)) {
        let n_chars = script.chars().count();
        return Trial::refused(turn, RejectedBecause::Script { n_chars, max: super::MAX_COMMAND_CHARS });
    }
    let ground = FiredBecause::Confirmed { n_edited: pasted.edited.len() };
    Trial::fired(turn, pasted.candidate(session), ground)
}

/// Where the person says something else than to go on, after something was changed: what they add before belongs to the request.
fn end_of_answer(session: &Session<'_>, turn: usize) -> usize {
    let mut later = session.user_turns().filter(|(later, text)| *later > turn && !is_go_ahead(text));
    let end = later.find(|(later, text)| !session.edits(turn, *later).is_empty() || denies(text));
    end.map_or(session.transcript.turns.len(), |(later, _)| later)
}

/// The error in what a person pasted: a turn of one line is a sentence about one.
fn pasted_error(text: &str) -> Option<&str> {
    const MIN_LINES: usize = 3;
    let n_lines = text.lines().filter(|line| !line.trim().is_empty()).count();
    let is_own = text.starts_with(['<', '#', '/']) || text.starts_with("Implement the following plan");
    if n_lines < MIN_LINES || is_own || has_many_causes(text) { None } else { told_error(text) }
}

/// What was typed at the last prompt before the error.
fn command_before(text: &str, error: &str) -> Option<CommandLine> {
    static PROMPT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"^(?:\S.*[~/\w]\]|\S*@\S+[^$%#❯»>]*[$%#❯»>]|[$%❯»➜])\s+(?P<typed>[\w./~-]+(?: .*)?)$").ok()
    });
    let before = text.get(..text.find(error)?)?;
    let typed = before.lines().rev().find_map(|line| {
        let found = PROMPT.as_ref()?.captures(line.trim())?;
        found.name("typed").map(|typed| typed.as_str())
    })?;
    Some(CommandLine::parse(typed)).filter(|_| !is_script(typed))
}

/// Where it turned out that the change helped: the command passes, or the person says so, or what checks the code passes and the
/// person goes on to something else.
fn confirmation(session: &Session<'_>, command: Option<&CommandLine>, last: usize, end: usize) -> Option<usize> {
    let calls = || session.calls.iter().filter(|call| call.turn >= last && call.turn < end);
    let passes = |call: &&TerminalCall<'_>| {
        call.succeeded() && command.is_some_and(|command| command.normal_form() == call.line.normal_form())
    };
    if let Some(call) = calls().rfind(passes) {
        return Some(call.turn);
    }
    let next = session.transcript.turns.get(end)?.as_user()?;
    if denies(next) {
        return None;
    }
    let is_checked = calls().any(|call| call.succeeded() && call.acts()) && !calls().any(TerminalCall::failed);
    (is_checked || thanks(next)).then_some(end)
}

/// True for a turn that says that it does not work yet, or has an error of its own.
fn denies(text: &str) -> bool {
    static DENIES: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)^\W*(?:no|nope|nah|hm+|uh+|wait|stop|why|what)\b|\b(?:still|again|not|n't|doesnt|didnt|nothing|wrong|same|instead|broken?|fail\w*|crash\w*|error)\b|n't\b|\[Request interrupted").ok()
    });
    DENIES.as_ref().is_none_or(|denies| denies.is_match(text)) || told_error(text).is_some()
}

/// True for a turn that says that it works.
fn thanks(text: &str) -> bool {
    static WORKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(?:works?|worked|working|fixed|solved|perfect|great|awesome|excellent|nice|thanks|thank you|good|confirmed|that did it)\b").ok()
    });
    WORKS.as_ref().is_some_and(|works| works.is_match(text))
}

impl Pasted<'_, '_> {
    fn candidate(&self, session: &Session<'_>) -> Candidate {
        let project = session.transcript.project.as_str();
        let error = one_line(&within(self.error, project), MAX_ERROR_CHARS);
        let failed = self.command.as_ref().map(|line| format!("`{}`", within(&line.plain_text(), project)));
        let trigger = failed.as_ref().map_or_else(|| error.clone(), |failed| format!("{failed} fails: {error}"));
        let topic = self.command.as_ref().map_or_else(|| "pasted".to_owned(), CommandLine::topic);
        let mut draft = build_lesson(trigger, self.solution(project)).mistake(error);
        if self.command.is_some() {
            draft = draft.domains([topic.clone()]);
        }
        let intent = session.intent(self.turn);
        if !intent.is_empty() {
            draft = draft.task(intent);
        }
        let mut turns = vec![self.turn, self.account.turn, self.confirmed];
        turns.sort_unstable();
        Candidate {
            heuristic: Heuristic::ErrorRecovery,
            name: format!("error-{}", slug(&topic)),
            draft: mined(draft, session, CONFIDENCE, Vec::new()),
            turns,
            score: SCORE,
            author: Author::Agent,
        }
    }

    fn solution(&self, project: &str) -> String {
        let text = within(&self.account.text, project);
        let change = (!self.edits.is_empty()).then(|| format!("change {}", listed(&self.edited)));
        let run: Vec<String> =
            self.remedies.iter().map(|call| format!("`{}`", within(&call.line.plain_text(), project))).collect();
        let run = (!run.is_empty()).then(|| format!("run {}", listed(&run)));
        let steps: Vec<String> = change.into_iter().chain(run).collect();
        format!("{text} To do so, {}.", steps.join(", "))
    }
}
