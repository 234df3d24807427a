//! `user-correction`: the user corrects what is being done, and the corrected action succeeds.

use adage_redact::one_line;
use adage_transcript::command::slug;
use adage_transcript::{CommandLine, Status, ToolCall, Turn};
use unicode_segmentation::UnicodeSegmentation;

use super::cues;
use super::error_line::never_ran;
use super::objection::{self, Objection};
use super::request;
use super::session::{Act, Session, TerminalCall};
use super::wording::{char_range, listed, sentences};
use super::{Candidate, FiredBecause, Heuristic, RejectedBecause, Trial, mined};
use crate::lesson::{Evidence, build_lesson};

const MAX_WORDS_CHARS: usize = 400;
const MAX_COMMAND_CHARS: usize = 120;
/// Fewer words stand for themselves only where they name what was done.
const MIN_WORDS: usize = 8;
/// A person said it, and what followed worked.
const CONFIDENCE: f64 = 0.6;

/// What the words object to.
enum Target<'s, 't> {
    /// A call that the user did not let happen.
    Refused(&'t ToolCall),
    /// Edits of these files, each with its folder.
    Edits(Vec<String>),
    Command(&'s TerminalCall<'t>),
}

/// What a correction stands on.
struct Grounds<'s, 't> {
    target: Target<'s, 't>,
    /// The words, as bytes of the turn.
    words: std::ops::Range<usize>,
    before: Vec<Act<'s, 't>>,
    after: Vec<Act<'s, 't>>,
}

pub(super) fn find(session: &Session<'_>) -> Vec<Trial> {
    session.user_turns().filter_map(|(turn, text)| judge(session, turn, text)).collect()
}

fn judge(session: &Session<'_>, turn: usize, text: &str) -> Option<Trial> {
    let objection = objection::read(text)?;
    let result = check(session, turn, text, &objection).and_then(|grounds| {
        let candidate = candidate(session, turn, text, &objection, &grounds).ok_or(RejectedBecause::NotWhatWasDone)?;
        Ok((candidate, FiredBecause::Corrected { objection: objection.weight, direction: objection.direction }))
    });
    Some(Trial { turn, result })
}

/// What was done before and after, or what speaks against a correction.
fn check<'s, 't>(
    session: &'s Session<'t>,
    turn: usize,
    text: &str,
    objection: &Objection,
) -> Result<Grounds<'s, 't>, RejectedBecause> {
    if !objection.corrects() {
        return Err(RejectedBecause::NoCorrection { objection: objection.weight, direction: objection.direction });
    }
    if sentences(text).last().is_some_and(|last| last.text.ends_with('?')) {
        return Err(RejectedBecause::Asks);
    }
    let start = session.user_turn_before(turn).unwrap_or(0);
    let before = session.acts(start, turn);
    let next_user_turn = session.user_turn_after(turn);
    let after = session.acts(turn, next_user_turn);
    let refused = refused(session, start, turn);
    if before.is_empty() && refused.is_none() {
        return Err(RejectedBecause::NothingDoneBefore);
    }
    let typed: Vec<&str> = sentences(text).iter().map(|sentence| sentence.text).collect();
    let target = target(&typed.join(" "), refused, &before, &after).ok_or(RejectedBecause::NotWhatWasDone)?;
    let words = standing(text, objection, &target, &before, &after).ok_or(RejectedBecause::NoReferent)?;
    let Some(last) = after.last() else { return Err(RejectedBecause::NothingDoneAfter) };
    if last.call.status != Status::Succeeded {
        return Err(RejectedBecause::DoneInVain);
    }
    let next = session.user_turns().find(|(number, _)| *number == next_user_turn);
    let objects_again = next.and_then(|(_, text)| objection::read(text)).is_some_and(|next| next.rejects());
    if objects_again {
        return Err(RejectedBecause::ObjectedAgain { turn: next_user_turn });
    }
    Ok(Grounds { target, words, before, after })
}

/// The last call before the user spoke, where the user kept it from running. A plan or a question is nothing that was done.
fn refused<'t>(session: &Session<'t>, from: usize, to: usize) -> Option<&'t ToolCall> {
    let turns = session.transcript.turns.get(from..to)?;
    let last = turns.iter().rev().find_map(Turn::as_call)?;
    let name = last.tool.to_lowercase();
    let is_talk = ["plan", "question", "todo", "task"].iter().any(|word| name.contains(word));
    (!is_talk && last.result.as_deref().is_some_and(never_ran)).then_some(last)
}

/// What the words are about: the call that was refused; else the files that were changed, unless they name other files; else
/// the command that was run, where they name it or the one that came instead.
fn target<'s, 't>(
    said: &str,
    refused: Option<&'t ToolCall>,
    before: &[Act<'s, 't>],
    after: &[Act<'s, 't>],
) -> Option<Target<'s, 't>> {
    if let Some(call) = refused {
        return Some(Target::Refused(call));
    }
    let mut edited: Vec<String> = Vec::new();
    for place in before.iter().filter_map(Act::place) {
        if !edited.contains(&place) {
            edited.push(place);
        }
    }
    if !edited.is_empty() {
        let named: Vec<&str> = files_named(said).collect();
        let is_about_them =
            named.is_empty() || named.iter().any(|file| edited.iter().any(|other| base(other) == *file));
        return is_about_them.then_some(Target::Edits(edited));
    }
    let is_named = |act: &&Act<'_, '_>| act.command.is_some() && names(said, act);
    let named = before.iter().rev().find(is_named);
    let last = || before.last().filter(|_| after.iter().any(|act| is_named(&act)));
    named.or_else(last)?.command.map(Target::Command)
}

/// A file without its folder.
fn base(place: &str) -> &str {
    place.rsplit_once('/').map_or(place, |(_, file)| file)
}

/// Names of files in a text: base names with a short suffix.
fn files_named(text: &str) -> impl Iterator<Item = &str> {
    let words =
        text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(' | ')' | ',' | ';' | '?' | '!'));
    let names = words.filter_map(|word| word.trim_end_matches(['.', ':']).rsplit('/').next());
    names.filter(|name| {
        name.rsplit_once('.').is_some_and(|(stem, suffix)| {
            // "e.g" is none, and neither is "1.5".
            let is_suffix =
                (2..=5).contains(&suffix.len()) || matches!(suffix, "c" | "h" | "r" | "d" | "m" | "s" | "v");
            let is_name = suffix.starts_with(char::is_alphabetic) && suffix.chars().all(char::is_alphanumeric);
            !stem.is_empty() && is_suffix && is_name
        })
    })
}

/// True when words name what was done: the program, a file, an operand.
fn names(said: &str, act: &Act<'_, '_>) -> bool {
    /// Shorter operands are flags, numbers, subcommands like `run`.
    const MIN_OPERAND_CHARS: usize = 4;
    let said = said.to_lowercase();
    let words: Vec<&str> = said.unicode_words().collect();
    let has = |name: &str| words.contains(&name.to_lowercase().as_str());
    match act.command {
        Some(call) => {
            let operands =
                call.line.text().split(|c: char| !c.is_alphanumeric()).filter(|word| {
                    word.chars().count() >= MIN_OPERAND_CHARS && request::is_content(&word.to_lowercase())
                });
            call.line.programs().any(has) || operands.into_iter().any(has)
        }
        None => act.file().is_some_and(|file| {
            said.contains(&file.to_lowercase()) || file.split_once('.').is_some_and(|(stem, _)| has(stem))
        }),
    }
}

/// The words as far as they can be understood alone: with the sentence before or after them where they are few or point at
/// something. None where that does not help.
fn standing(
    text: &str,
    objection: &Objection,
    target: &Target<'_, '_>,
    before: &[Act<'_, '_>],
    after: &[Act<'_, '_>],
) -> Option<std::ops::Range<usize>> {
    let own = objection.start..objection.end;
    let said = text.get(own.clone())?;
    if request::refers(said) {
        return None;
    }
    // A refused call is what "that" means.
    let is_shown = matches!(target, Target::Refused(_));
    let is_grounded = |said: &str| before.iter().chain(after).any(|act| names(said, act));
    let points = |said: &str| opens_midway(said) || (request::points(said) && !is_shown);
    let sentences = sentences(text);
    // "That is wrong. Use …": that something is wrong may point at what was done; what to do instead may not, unless the
    // words begin with a sentence that says what it is about.
    let is_clear = |range: &std::ops::Range<usize>| {
        let mut within = sentences.iter().filter(|sentence| range.contains(&sentence.start));
        within.any(|sentence| {
            let leads = sentence.start == range.start && !cues::agrees(sentence.text);
            !points(sentence.text) && (leads || cues::tells(sentence.text))
        })
    };
    let is_full = |said: &str| said.unicode_words().count() >= MIN_WORDS || is_grounded(said);
    let stands = |range: &std::ops::Range<usize>| {
        let said = text.get(range.clone()).unwrap_or_default();
        is_full(said)
            && is_clear(range)
            && !is_vague(said)
            && !request::refers(said)
            && said.chars().count() <= MAX_WORDS_CHARS
    };
    let earlier = sentences.iter().rev().find(|sentence| sentence.end() <= objection.start);
    let later = sentences.iter().find(|sentence| sentence.start >= objection.end);
    let wider = [
        Some(own),
        earlier.map(|sentence| sentence.start..objection.end),
        later.map(|sentence| objection.start..sentence.end()),
    ];
    wider.into_iter().flatten().find(stands)
}

/// "Instead only when …", "Rather than five, …": the sentence before says what this is about.
fn opens_midway(said: &str) -> bool {
    const OPENINGS: [&str; 9] = ["instead", "rather", "also", "otherwise", "finally", "then", "or", "second", "third"];
    let lower = said.to_lowercase();
    let mut words = lower.unicode_words();
    words.next().is_some_and(|first| OPENINGS.contains(&first)) && !(lower.starts_with("instead of"))
}

/// "… rather than restore things": nobody knows which.
fn is_vague(said: &str) -> bool {
    let lower = said.to_lowercase();
    lower.unicode_words().any(|word| matches!(word, "thing" | "things" | "stuff" | "whatever"))
}

fn candidate(
    session: &Session<'_>,
    turn: usize,
    text: &str,
    objection: &Objection,
    grounds: &Grounds<'_, '_>,
) -> Option<Candidate> {
    let Grounds { target, words, before, after } = grounds;
    let quote = text.get(words.clone())?;
    let evidence = Evidence { quote: quote.to_owned(), turn, range: char_range(text, words.start, words.end) };
    let corrected = corrected(before, after);
    // Of commands, the one that came instead.
    let instead = match (target, corrected) {
        (Target::Command(_), Some(act)) if act.command.is_some() => Some(act.topic()),
        _ => target.topic(),
    };
    let topic = instead.or_else(|| after.iter().find_map(Act::file)).unwrap_or_else(|| "files".to_owned());
    let intent = session.asked(turn);
    // A refused edit does not always name its file; the one made in its place does.
    let doing = || target.doing().or_else(|| after.iter().find_map(Act::place).map(|file| format!("changing {file}")));
    let trigger = if intent.is_empty() { doing()? } else { format!("{intent} ({topic})") };
    let told = Objection { start: words.start, end: words.end, ..objection.clone() };
    let words = one_line(&objection::directions(text, &told, MAX_WORDS_CHARS), MAX_WORDS_CHARS);
    // A command that the words do not name is what came next, not what they ask for; a long one says less than they do.
    let command = corrected.filter(|act| names(&words, act)).and_then(|act| act.command);
    let command = command.filter(|call| !call.is_script()).map(|call| call.line.plain_text());
    let command = command.filter(|text| text.chars().count() <= MAX_COMMAND_CHARS);
    let solution = command.as_ref().map_or_else(|| words.clone(), |text| format!("{words} Then: `{text}`"));
    let mut draft = build_lesson(trigger, solution).mistake(target.mistake()).domains([topic.clone()]);
    if let Some(text) = command {
        draft = draft.code_example(text);
    }
    Some(Candidate {
        heuristic: Heuristic::UserCorrection,
        name: format!("user-correction-{}", slug(&topic)),
        draft: mined(draft, session, CONFIDENCE, vec![evidence]),
        turns: [before.last().map(|act| act.turn), Some(turn), corrected.map(|act| act.turn)]
            .into_iter()
            .flatten()
            .collect(),
        score: objection.weight + objection.direction,
    })
}

impl Target<'_, '_> {
    /// The program, the file, the tool; none for an edit that does not name its file.
    fn topic(&self) -> Option<String> {
        match self {
            Self::Refused(call) => match call.command() {
                Some(command) => Some(CommandLine::parse(&command).topic()),
                None if call.changes_files() => call.changed_file(),
                None => Some(call.tool.clone()),
            },
            Self::Edits(files) => files.last().map(|place| base(place).to_owned()),
            Self::Command(call) => Some(call.line.topic()),
        }
    }

    /// What was being done, in words that hold outside the session; none where it has no name.
    fn doing(&self) -> Option<String> {
        Some(match self {
            Self::Refused(call) => match (call.command(), call.changed_place()) {
                (Some(command), _) => format!("running {}", named(&command)),
                (None, Some(file)) => format!("changing {file}"),
                (None, None) if call.changes_files() => return None,
                (None, None) => format!("using {}", tool_and_purpose(call)),
            },
            Self::Edits(files) => format!("changing {}", listed(files)),
            Self::Command(call) => format!("running {}", named(call.line.text())),
        })
    }

    /// What the user objected to, in a line.
    fn mistake(&self) -> String {
        match self {
            Self::Refused(call) => match (call.command(), call.changed_file()) {
                (Some(command), _) => format!("the user refused {}", named(&command)),
                (None, Some(file)) => format!("the user refused a change of {file}"),
                (None, None) if call.changes_files() => "the user refused a change of a file".to_owned(),
                (None, None) => format!("the user refused a call of {}", tool_and_purpose(call)),
            },
            Self::Edits(files) => format!("the user objected to a change of {}", listed(files)),
            Self::Command(call) => format!("the user objected to {}", named(call.line.text())),
        }
    }
}

/// A tool and what it was called for, where its input says so: an address, words to search.
fn tool_and_purpose(call: &ToolCall) -> String {
    const FIELDS: [&str; 6] = ["url", "uri", "query", "pattern", "path", "name"];
    let value = FIELDS.iter().find_map(|field| call.input.get(*field)?.as_str()).unwrap_or_default();
    let line = one_line(value, MAX_COMMAND_CHARS);
    if line.is_empty() { call.tool.clone() } else { format!("{} for `{line}`", call.tool) }
}

/// A command in back-ticks, whole; of one that is too long to be shown, what it does.
fn named(command: &str) -> String {
    let line = CommandLine::parse(command);
    let text = line.plain_text();
    let is_short = text.chars().count() <= MAX_COMMAND_CHARS && !text.contains('\n');
    format!("`{}`", if is_short { text } else { line.normal_form() })
}

/// Of what was done after, what answers the last thing done before: a related command, an edit of the same file; else the
/// first success of the same kind, else the first.
fn corrected<'a, 's, 't>(before: &[Act<'s, 't>], after: &'a [Act<'s, 't>]) -> Option<&'a Act<'s, 't>> {
    let succeeded = || after.iter().filter(|act| act.call.status == Status::Succeeded);
    let is_alike =
        |act: &&Act<'_, '_>| before.last().is_some_and(|last| last.command.is_some() == act.command.is_some());
    let answers = |act: &&Act<'_, '_>| {
        before.last().is_some_and(|last| match (last.command, act.command) {
            (Some(failed), Some(later)) => failed.line.relation_to(&later.line).is_some(),
            (None, None) => last.topic() == act.topic(),
            _ => false,
        })
    };
    succeeded().find(answers).or_else(|| succeeded().find(is_alike)).or_else(|| succeeded().next())
}
