//! The agent's diagnosis of a failure: why it failed, and how to fix it.
//!
//! A transcript often does not record what an edit changed, or the edit is too long for a lesson. The agent's own sentences about
//! the cause are shorter. They count only if the failed command passes afterwards.

use std::sync::LazyLock;

use adage_redact::one_line;
use adage_transcript::Turn;
use regex::Regex;
use unicode_segmentation::UnicodeSegmentation;

use crate::capture::heuristics::session::Session;
use crate::capture::heuristics::wording::{capitalised, matches, sentences};

/// The maximum length of a diagnosis, in characters. A longer text rarely explains one failure.
const MAX_CHARS: usize = 420;
/// The maximum length of a summary of changes, in characters.
const MAX_REPORT_CHARS: usize = 700;
/// The maximum number of sentences from cause to remedy that are quoted as a whole.
const MAX_SENTENCES: usize = 4;

/// The cause and the remedy of a failure, in the agent's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Diagnosis {
    /// Whole sentences.
    pub(super) text: String,
    /// The turn of the last sentence, from 0.
    pub(super) turn: usize,
}

/// A sentence of the agent, classified.
#[allow(clippy::struct_excessive_bools, reason = "the properties are independent")]
struct AgentSentence {
    turn: usize,
    text: String,
    /// It says why something fails.
    is_cause: bool,
    /// It says how to fix it.
    is_remedy: bool,
    /// It shares a name with what failed or was changed.
    shares_a_name: bool,
    /// It is uncertain, or only announces something.
    is_vague: bool,
}

/// The cause and the remedy of a failure, from the agent's messages in turns `from..to`. None without either. `evidence` is the text
/// that the sentences must share a name with: the output, the command, the changes.
pub(super) fn diagnosis(session: &Session<'_>, from: usize, to: usize, evidence: &str) -> Option<Diagnosis> {
    let said = agent_sentences(session, from, to, evidence);
    // The agent knows most when it speaks last.
    let last = said.iter().rposition(|sentence| sentence.is_remedy && is_about_failure(&said, sentence))?;
    let remedy = said.get(last)?;
    let is_whole = remedy.is_cause && remedy.is_remedy;
    // What is said before something else is done may be about another failure.
    let is_related = |one: &AgentSentence| {
        if one.turn == remedy.turn {
            one.shares_a_name || remedy.shares_a_name
        } else {
            one.shares_a_name && session.acts(one.turn, remedy.turn).is_empty()
        }
    };
    let is_reason = |one: &AgentSentence| one.is_cause && is_related(one);
    let reason = said.iter().take(last + usize::from(is_whole)).rposition(is_reason)?;
    let texts = [start_with_antecedent(&said, reason)?, reason].map(|start| joined(&said, start, last));
    let text = texts.into_iter().find(|text| text.chars().count() <= MAX_CHARS)?;
    Some(Diagnosis { text, turn: remedy.turn })
}

/// The index of the first sentence of a cause: the sentence before it, if a pronoun in the cause refers to that one. None if that one
/// is vague.
fn start_with_antecedent(said: &[AgentSentence], reason: usize) -> Option<usize> {
    static POINTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(?:it|it['’]s|its|this|that|they|they['’]re|them|yours|ours|these|those)\b").ok()
    });
    let cause = said.get(reason)?;
    let before = reason.checked_sub(1).and_then(|before| said.get(before)).filter(|before| before.turn == cause.turn);
    match before.filter(|_| matches(&POINTS, &cause.text)) {
        Some(before) if before.is_vague => None,
        Some(_) => Some(reason - 1),
        None => Some(reason),
    }
}

/// The cause and the changes, from the agent's summary in turns `from..to`. None without either.
pub(super) fn summary_of_changes(session: &Session<'_>, from: usize, to: usize, evidence: &str) -> Option<Diagnosis> {
    let said = agent_sentences(session, from, to, evidence);
    let reason = said.iter().position(|one| one.is_cause && one.shares_a_name && !one.is_remedy)?;
    let turn = said.get(reason)?.turn;
    let is_done = |one: &AgentSentence| {
        (one.shares_a_name || one.turn == turn) && matches(&DONE, &one.text) && !is_hedged(&one.text)
    };
    let done = reason + said.get(reason..)?.iter().position(is_done)?;
    let whole = joined(&said, reason, done);
    let fits = |text: &String| text.chars().count() <= MAX_REPORT_CHARS;
    // Details follow a dash.
    let short = || {
        let (why, how) = (said.get(reason)?, said.get(done)?);
        Some(format!("{} {}", why.text, with_full_stop(how.text.split(" — ").next()?)))
    };
    let text = Some(whole).filter(fits).or_else(|| short().filter(fits))?;
    Some(Diagnosis { text, turn: said.get(done)?.turn })
}

/// The cause and every step that the agent tells the user to take, from its last message with steps in turns `from..to`. None without
/// a cause in that message, or with more than three steps.
pub(super) fn advice(session: &Session<'_>, from: usize, to: usize, evidence: &str) -> Option<Diagnosis> {
    const MAX_STEPS: usize = 3;
    let said = agent_sentences(session, from, to, evidence);
    let advises = |one: &&AgentSentence| matches(&ADVISES, &one.text) && !is_hedged(&one.text);
    let turn = said.iter().rfind(advises)?.turn;
    let steps: Vec<&str> =
        said.iter().filter(|one| one.turn == turn).filter(advises).map(|one| one.text.as_str()).collect();
    let reason = said.iter().position(|one| one.turn == turn && one.is_cause && one.shares_a_name)?;
    let why = said.get(start_with_antecedent(&said, reason)?..=reason)?.iter().map(|one| one.text.as_str());
    let text = why
        .chain(steps.iter().copied().filter(|step| said.get(reason).is_none_or(|why| why.text != *step)))
        .collect::<Vec<_>>()
        .join(" ");
    (steps.len() <= MAX_STEPS && text.chars().count() <= MAX_CHARS).then_some(Diagnosis { text, turn })
}

/// The agent's sentences in turns `from..to`, classified, in order.
fn agent_sentences(session: &Session<'_>, from: usize, to: usize, evidence: &str) -> Vec<AgentSentence> {
    let evidence = evidence.to_lowercase();
    let turns = session.transcript.turns.iter().enumerate().skip(from).take(to.saturating_sub(from));
    let texts = turns.filter_map(|(turn, said)| match said {
        Turn::Assistant(text) => Some((turn, text.as_str())),
        _ => None,
    });
    texts.flat_map(|(turn, text)| classify(turn, text, &evidence)).collect()
}

/// True for a remedy that is related to the failure itself, or by a cause in the same message.
fn is_about_failure(said: &[AgentSentence], remedy: &AgentSentence) -> bool {
    let is_reason =
        |sentence: &&AgentSentence| sentence.turn == remedy.turn && sentence.is_cause && sentence.shares_a_name;
    remedy.shares_a_name || said.iter().any(|sentence| is_reason(&sentence))
}

/// The sentences from cause to remedy in one text. Only these two if too many sentences or another message come between.
fn joined(said: &[AgentSentence], reason: usize, remedy: usize) -> String {
    let between = said.get(reason..=remedy).unwrap_or_default();
    let is_near = between.len() <= MAX_SENTENCES
        && between.iter().all(|one| Some(one.turn) == between.last().map(|last| last.turn));
    let ends = || between.first().into_iter().chain(between.last());
    let shown: Vec<&str> = if is_near {
        between.iter().filter(|one| !one.is_vague).map(|one| one.text.as_str()).collect()
    } else {
        ends().map(|one| one.text.as_str()).collect()
    };
    shown.join(" ")
}

/// The sentences of one message, classified, in order.
fn classify(turn: usize, text: &str, evidence: &str) -> Vec<AgentSentence> {
    let spoken = unwrapped(&without_thoughts(text));
    let texts = sentences(&spoken).into_iter().map(|sentence| one_line(&sentence.text.replace("**", ""), usize::MAX));
    let said = |text: String| {
        let text = without_opening(&text).to_owned();
        let is_sure = !is_hedged(&text) && text.unicode_words().count() >= 3;
        let done = intention(&text);
        let is_done = || matches(&PRESCRIBES, &text) || (matches(&DOING, &text) && is_concrete(&text));
        let is_remedy = is_sure && done.as_ref().map_or_else(is_done, |done| is_concrete(done));
        AgentSentence {
            turn,
            is_cause: is_sure && done.is_none() && matches(&CAUSE, &text),
            is_remedy,
            shares_a_name: shares_a_name(&text, evidence),
            is_vague: !is_sure || (done.is_some() && !is_remedy),
            text: with_full_stop(&done.filter(|_| is_remedy).unwrap_or(text)),
        }
    };
    texts.map(said).filter(|said| !said.text.is_empty()).collect()
}

/// A message without the `<think>` blocks that some harnesses record.
fn without_thoughts(text: &str) -> String {
    let mut rest = text;
    let mut spoken = String::new();
    while let Some((before, after)) = rest.split_once("<think>") {
        spoken.push_str(before);
        rest = after.split_once("</think>").map_or("", |(_, after)| after);
    }
    spoken + rest
}

/// A text with the lines joined that a terminal wrapped: the next one goes on in lower case.
fn unwrapped(text: &str) -> String {
    let mut joined = String::new();
    for line in text.lines() {
        let goes_on = line.starts_with(|c: char| c.is_lowercase())
            && joined.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ',' | ')' | '\'' | '`' | '-'));
        joined.push(if goes_on { ' ' } else { '\n' });
        joined.push_str(line.trim_end());
    }
    joined
}

/// Openings of a sentence without content: `Ah — `, `Confirmed: `.
static OPENING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:(?:a+h+|aha|ok|okay|so|now|then|first|next|actually|right|good(?: catch| call)?|great|perfect|also|and|but|hm+|yes|no|you['’]re right|confirmed|found it|progress|interesting|got it|i see|wait|oh)(?:[,!:.]\s+|\s*[—–-]+\s+))+").ok()
});

/// A sentence without list marks and without an opening.
fn without_opening(text: &str) -> &str {
    let text = text.trim_matches(['*', '#', ' ', '-', '•']);
    let opening = OPENING.as_ref().and_then(|opening| opening.find(text)).map_or(0, |found| found.end());
    text.get(opening..).unwrap_or(text)
}

/// Openings of a sentence that announces an action.
static INTENTION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:(?:now |so |then |instead,? )*(?:let me|let's|let us|i'll|i will|i'm|i am|i need to|i have to|i should|i must|i'm going to|i can|we need to|we should|we have to|we must|we can|need to|i've|i have)\s+|(?:the |a )?(?:\w+ )?(?:fix|solution|remedy)(?:\s+(?:is|was|would be)(?:\s+to)?)?\s*[:—–-]?\s+)(?:now |just |simply |also |instead )*").ok()
});

/// The action that a sentence announces: "Add the flag:" for `Let me add the flag:`. None for other sentences.
fn intention(text: &str) -> Option<String> {
    let found = INTENTION.as_ref()?.find(text)?;
    Some(capitalised(text.get(found.end()..)?)).filter(|rest| !rest.is_empty())
}

/// True for an action that only looks at something or runs it. "checking" counts as "check".
fn only_looks(done: &str) -> bool {
    const LOOKING: &str = "check look see read verify run rerun re-run test find understand investigate examine inspect confirm search \
        grep debug trace view explore dig get review take wait retry continue ask know think start do proceed";
    static LOOKS: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?i)\bdebug|\blogging\b|\bto (?:see|check|find out|understand|learn)\b").ok());
    let first = done.unicode_words().next().unwrap_or_default().to_lowercase();
    matches(&LOOKS, done)
        || LOOKING.split(' ').any(|word| first == word || (first.ends_with("ing") && first.starts_with(word)))
}

/// True for an action that is a concrete change. False for one that only looks at something, or fixes it in an unnamed way.
fn is_concrete(done: &str) -> bool {
    /// Verbs that say nothing without code or a preposition such as "to" or "by".
    const VAGUE: [&str; 11] =
        ["fix", "address", "correct", "update", "adjust", "resolve", "handle", "change", "tweak", "rewrite", "modify"];
    let words: Vec<String> = done.unicode_words().map(str::to_lowercase).collect();
    let first = words.first().map(String::as_str).unwrap_or_default();
    let has_way =
        done.contains('`') || words.iter().any(|word| ["to", "by", "so", "with", "from"].contains(&word.as_str()));
    words.len() >= 3 && !only_looks(done) && (!VAGUE.contains(&first) || has_way)
}

/// Words of a sentence that states a cause.
static CAUSE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:because|since|issue|problem|bug|culprit|root cause|reason|caused|causes|causing|due to|fail(?:s|ed|ing)?|break(?:s|ing)?|broke|broken|missing|(?:is|are|does|do|did|was|were|has|have|ca|could|wo)n't|cannot|not (?:supported|available|found|set|defined|exported|imported|installed|allowed)|no longer|already|expect(?:s|ed)?|requir(?:es|ed|ing)|needs?|must|should be|has to|have to|instead of|only (?:works|accepts|supports|allows)|rejects?|conflicts?|mismatch|wrong|incorrect|outdated|stale|treats?|thinks?|still|mak(?:es|ing)|dropped|clash(?:es)?|collides?|shadows?|empty|lacks?|without|expecting|trying to|looking for|sends?|sending|us(?:es|ing)|only|never|both|before|after|by default|pulls?|ignores?|assumes?|strips?|skips?|hides?|overrides?|overwrites?|removed|deprecated|points? (?:to|at))\b").ok()
});

/// Words of a sentence that says how something has to be.
static PRESCRIBES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:needs? to be|needs? to (?:use|have|come|go|match|include|run)|must|should (?:be|use)|has to|have to|requires?|expects?|instead of)\b|^needs? |\b(?:equivalent|correct|right|proper|supported) (?:option|flag|name|way|command|path|value|key|syntax|form|module|package|version)\b.{0,30}\bis\b").ok()
});

/// Form of a sentence that tells the user to do something, with the command or the value in backticks.
static ADVISES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:\d+[.)] *)?(?:(?:you (?:can|need to|have to|should|must)|please|now|then|just|to fix (?:this|it|that),?) )*(?:run|execute|restart|set|install|export|use|delete|remove|quit|update|upgrade|rebuild|enable|disable|add|clear|unset|switch)\b[^`]*`[^`]+`").ok()
});

/// Words of a sentence that says what was done: `The loader now reads both`, `Moved the key under [sync]`.
static DONE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\bnow\b|^(?:fix|added|moved|changed|replaced|switched|set|removed|renamed|pointed|pinned|raised|lowered|extended|registered)\b").ok()
});

/// Openings of a sentence that says what to do or what is being done: `Move the key under [sync]`, `Moving it:`.
static DOING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:add|set|move|switch|pass|replace|remove|rename|use|pin|bump|enable|disable|raise|lower|point|install|declare|export|import|register|wrap|escape|quote|regenerate|adding|setting|moving|switching|passing|replacing|removing|renaming|using|pinning|bumping|turning|enabling|disabling|raising|lowering|pointing|installing|declaring|exporting|importing|registering|wrapping|escaping|quoting|regenerating)\b").ok()
});

/// Words of a sentence that is uncertain, about something else, about a slip of the agent, or about work that is not done yet.
static HEDGED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:might|maybe|perhaps|probably|possibly|likely|could be|may be|may have|seems?|appears?|suspect|not sure|unclear|looks? like|i think|i wonder|presumably|if (?:that|this|it)|whether|(?:pre-?)?existing (?:issue|bug|problem|failure)|unrelated|out of scope|not something|typos?|i (?:forgot|mistyped|misread))\b|(?:^|\s)(?:my\s+\w|yet(?:[\s,;:!)—]|\.?$|\.\s))|\?\W*$").ok()
});

/// True for such a sentence. What is in backticks is a name.
fn is_hedged(text: &str) -> bool {
    let words: Vec<&str> = text.split('`').step_by(2).collect();
    matches(&HEDGED, &words.join("``"))
}

/// True for a sentence that shares code or an uncommon word with `evidence`, which is in lower case.
pub(super) fn shares_a_name(text: &str, evidence: &str) -> bool {
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

/// A sentence that ends with a full stop in place of the colon or dash before a list. Other ends are kept.
fn with_full_stop(text: &str) -> String {
    let text = text.trim_end_matches([':', ' ', ',', '—', '–']);
    let is_whole = text.trim_end_matches(['"', '\'', '”', '’', ')']).ends_with(['.', '!', '?', '。', '…']);
    if text.is_empty() || is_whole { text.to_owned() } else { format!("{text}.") }
}
