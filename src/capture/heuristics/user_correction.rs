//! `user-correction`: the user corrects what was just done, and the corrected action succeeds.

use super::objection::{self, Objection};
use super::session::{Act, Session};
use super::wording::{char_range, command_text, listed, shorten, shown};
use super::{Candidate, Ground, Heuristic, Hurdle, Trial, mined};
use crate::capture::Status;
use crate::capture::command::slug;
use crate::lesson::{Evidence, build_lesson};

const MAX_WORDS_CHARS: usize = 400;
const MAX_COMMAND_CHARS: usize = 120;
/// A person said it, and what followed worked.
const CONFIDENCE: f64 = 0.6;

pub(super) fn find(session: &Session<'_>) -> Vec<Trial> {
    session.user_turns().filter_map(|(turn, text)| judge(session, turn, text)).collect()
}

fn judge(session: &Session<'_>, turn: usize, text: &str) -> Option<Trial> {
    let objection = objection::read(text)?;
    let result = check(session, turn, &objection).map(|(before, after)| {
        let ground = Ground::Corrected { objection: objection.weight, direction: objection.direction };
        (candidate(session, turn, text, &objection, &before, &after), ground)
    });
    Some(Trial { turn, result })
}

/// What was done before and after, or what speaks against a correction.
fn check<'s, 't>(
    session: &'s Session<'t>,
    turn: usize,
    objection: &Objection,
) -> Result<(Vec<Act<'s, 't>>, Vec<Act<'s, 't>>), Hurdle> {
    if !objection.corrects() {
        return Err(Hurdle::NoCorrection { objection: objection.weight, direction: objection.direction });
    }
    let before = session.acts(session.user_turn_before(turn).unwrap_or(0), turn);
    if before.is_empty() {
        return Err(Hurdle::NothingDoneBefore);
    }
    let next_user_turn = session.user_turn_after(turn);
    let after = session.acts(turn, next_user_turn);
    let Some(last) = after.last() else { return Err(Hurdle::NothingDoneAfter) };
    if last.status() != Status::Succeeded {
        return Err(Hurdle::DoneInVain);
    }
    let next = session.user_turns().find(|(number, _)| *number == next_user_turn);
    let objects_again = next.and_then(|(_, text)| objection::read(text)).is_some_and(|next| next.rejects());
    if objects_again { Err(Hurdle::ObjectedAgain { turn: next_user_turn }) } else { Ok((before, after)) }
}

fn candidate(
    session: &Session<'_>,
    turn: usize,
    text: &str,
    objection: &Objection,
    before: &[Act<'_, '_>],
    after: &[Act<'_, '_>],
) -> Candidate {
    let quote = text.get(objection.start..objection.end).unwrap_or_default();
    let evidence = Evidence { quote: quote.to_owned(), turn, range: char_range(text, objection.start, objection.end) };
    let corrected = corrected(before, after);
    let topic = corrected.map_or_else(|| "unknown".to_owned(), Act::topic);
    let intent = session.intent(turn);
    let trigger = if intent.is_empty() { format!("working with {topic}") } else { format!("{intent} ({topic})") };
    let words = shorten(&objection::directions(text, objection, MAX_WORDS_CHARS), MAX_WORDS_CHARS);
    // A long command says less than the user did.
    let command = match corrected {
        Some(Act::Command(call)) if call.line.text().chars().count() <= MAX_COMMAND_CHARS => Some(*call),
        _ => None,
    };
    let solution = command.map_or_else(|| words.clone(), |call| format!("{words} Then: {}", shown(call)));
    let mut draft = build_lesson(trigger, solution).mistake(done(before)).domains([topic.clone()]);
    if let Some(call) = command {
        draft = draft.code_example(command_text(call));
    }
    Candidate {
        heuristic: Heuristic::UserCorrection,
        name: format!("user-correction-{}", slug(&topic)),
        draft: mined(draft, session, CONFIDENCE, vec![evidence]),
        turns: before.last().map(Act::turn).into_iter().chain([turn]).chain(corrected.map(Act::turn)).collect(),
        score: objection.weight + objection.direction,
    }
}

/// Of what was done after, what answers the last thing done before: a related command, an edit of the same file; else the
/// first success of the same kind, else the first.
fn corrected<'a, 's, 't>(before: &[Act<'s, 't>], after: &'a [Act<'s, 't>]) -> Option<&'a Act<'s, 't>> {
    let succeeded = || after.iter().filter(|act| act.status() == Status::Succeeded);
    let answers = |act: &&Act<'_, '_>| {
        before.last().is_some_and(|last| match (last, act) {
            (Act::Command(failed), Act::Command(later)) => failed.line.relation_to(&later.line).is_some(),
            (Act::Edit { .. }, Act::Edit { .. }) => last.topic() == act.topic(),
            _ => false,
        })
    };
    let is_alike = |act: &&Act<'_, '_>| {
        before.last().is_some_and(|last| {
            matches!((last, act), (Act::Command(_), Act::Command(_)) | (Act::Edit { .. }, Act::Edit { .. }))
        })
    };
    succeeded().find(answers).or_else(|| succeeded().find(is_alike)).or_else(|| succeeded().next())
}

/// What had been done, in a line: the last commands, or the files edited.
fn done(before: &[Act<'_, '_>]) -> String {
    let mut edited: Vec<String> = Vec::new();
    for act in before.iter().filter(|act| matches!(act, Act::Edit { .. })) {
        let name = act.topic();
        if !edited.contains(&name) {
            edited.push(name);
        }
    }
    match before.last() {
        Some(Act::Command(call)) if edited.is_empty() => format!("the user objected to {}", shown(call)),
        _ => format!("the user objected to a change of {}", listed(&edited)),
    }
}
