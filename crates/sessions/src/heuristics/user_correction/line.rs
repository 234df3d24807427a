//! Whether a line is worth a lesson: whether someone who was not in the session could act on it a month later.
//!
//! The probability depends on cues, which are named facts about the words, and on the probabilities of its turn. The weights (`line.tsv`) are fitted
//! by `scripts/fit_statements.py` on lines that readers judged without seeing a score.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;
use unicode_segmentation::UnicodeSegmentation;

use super::quote::Quote;
use crate::heuristics::request;
use crate::heuristics::statement::{Statement, cues_of};
use crate::heuristics::wording::folded;

const TABLE: &str = include_str!("line.tsv");

/// Each cue and its pattern, for words in lower case.
const WORDS: [(&str, &str); 24] = [
    ("opens_pointing", r"^\W*(this|that|that's|it|it's|its|they|these|those|there|he|she|here)\b"),
    ("opens_with_i", r"^\W*(i|i'm|i'd|i've|my|me)\b"),
    ("opens_with_you", r"^\W*(you|you're|you've|your)\b"),
    ("opens_with_the", r"^\W*(the|in the|on the|for the)\b"),
    // How work is done each time, not once.
    (
        "habit",
        concat!(
            r"\b(every|each|any|all)( (the|my|our|of|new|such))* (requests?|prompts?|times?|commits?|changes?|tasks?|files?|sessions?|questions?",
            r"|steps?|responses?|messages?|functions?|tests?|code|pages?|projects?|conversations?|branch(es)?|releases?|modules?|services?)\b",
            r"|\balong the way\b|\bunless\b|\bwithout (permission|asking|approval|checking)\b|\b(in (the )?future|from now on)\b",
            r"|\b(moving|going) forward\b|\b(always|never|whenever)\b|\b(only|not) (allowed|permitted|supposed) to\b",
            r"|\b(siempre|sempre|nunca|immer|niemals|toujours|jamais)\b|以后|必须|始终|每次|总是|常に|항상",
        ),
    ),
    // Facts about the project and the people who work on it.
    (
        "state_of_project",
        concat!(
            r"\b(i am|i'm|we are|we're|this is|it is|it's) (using|on|running|an?|not an?)\b|\b(lives?|located|stored|kept) in\b",
            r"|\bwe (use|only|don't|dont|do not|never|always|support|won't|wont|call|have)\b",
        ),
    ),
    ("wishes", r"\b(i would like|i'd like|i want|we want|i need|we need|would like)\b"),
    (
        "makes_once",
        concat!(
            r"(^|[,.;:] *)((please|finally|also|then|now|and|let's),? )*(put|create|write|begin|start|redo|make (an?|it|the)|build|add|adjust|close",
            r"|move|place|rename|change|remove|update|configure|go|give|tell|show|implement|fix|split|redesign|merge|replace|delete|run|check|stop)\b",
        ),
    ),
    (
        "scope",
        r"\b([mv]\d+|phase|ticket|epic|sprint|step|milestone|option|wave|scenario|mock-?up|screenshot|\d+\.\d+)\b",
    ),
    (
        "reports",
        r"\b(is|are|was|were|does|do|did)(n't| not| still| now)? (working|showing|missing|broken|blank|wrong|there)\b|\b(bug|error)s?\b|(doesn't|didn't|not) work",
    ),
    (
        "about_agent",
        r"\b(you|your|agents?|subagents?|claude|claude\.md|agents\.md|prompts?|permission|ask me|memory)\b",
    ),
    ("says_we", r"\b(we|our|us)\b"),
    ("this_noun", r"\b(this|that|these|those) \w+"),
    ("says_it", r"\b(it|them|they)\b"),
    ("not_yet", r"\b(yet|for now|at this point|this time|right ?now|at the moment)\b"),
    (
        "now",
        r"\b(now|rightnow|currently|at the moment|for now|today|yet|this time|first|next|already|last|ahora|jetzt)\b",
    ),
    (
        "past",
        r"\b(was|were|did|didn't|had|went|got|made|added|removed|changed|broke|forgot|used to|have been|has been|wasn't|weren't|tried|gave|told|asked|meant|said)\b",
    ),
    ("present", r"\b(is|are|isn't|aren't|has|have|uses|use|needs|means|belongs?|lives?|goes|runs?)\b"),
    (
        "sees",
        r"\b(see|seeing|shows?|showing|looks?|appears?|screenshot|console|error|errors|bug|bugs|works?|working)\b",
    ),
    (
        "interface",
        r"\b(button|page|colou?rs?|columns?|rows?|screen|icons?|fonts?|tabs?|menus?|tables?|sidebar|width|height|click(ed|ing)?|layout|modal|image|images|logo|header|footer|title|text|panel|card|cards|slider|dropdown|section)\b",
    ),
    (
        "practice",
        r"\b(commits?|push(ed)?|branch(es)?|tests?|lint(er)?|builds?|deploy(s|ment)?|docs?|documentation|readme|comments?|prompts?|history|review|changelog|log|logs|version|pull requests?|prs?|code|tasks?|plans?|questions?)\b",
    ),
    ("line_number", r"\blines?[ #]*\d|\bl\d+\b|:\d+\b"),
    ("number", r"\d"),
    ("quotation", r#"["“«][^"”»]{12,}["”»]|^\W*(implement|execute) the following"#),
];

static CUES: LazyLock<Vec<(&'static str, Regex)>> =
    LazyLock::new(|| WORDS.iter().filter_map(|(name, words)| Some((*name, Regex::new(words).ok()?))).collect());

/// The cues of a line, sorted.
pub(super) fn cues(quote: &Quote<'_>, said: &Statement) -> Vec<String> {
    let text = folded(&super::quote::without_opening(quote.text));
    let n_words = text.unicode_words().count();
    let has = |cue: &str| said.cues.iter().any(|of_turn| of_turn == cue);
    let of_core: Vec<&str> = cues_of(quote.core).collect();
    let prohibits = of_core.contains(&"dont_opening") && !of_core.contains(&"no_opening");
    let shapes = [
        ("points_back", request::points_back(&text)),
        ("refers", request::refers(&text)),
        ("asks", text.contains(['?', '？'])),
        ("ends_open", text.ends_with([':', ',', '…']) || text.ends_with("...")),
        ("alone", quote.stands_alone()),
        ("prohibits", prohibits && !request::points_back(&text)),
        ("other_script", is_of_other_script(&text)),
        ("rule", quote.is_rule()),
        ("may_last", quote.may_last()),
        ("item", quote.text.starts_with(['-', '*', '•']) || quote.text.starts_with(|c: char| c.is_ascii_digit())),
        ("several_lines", quote.text.contains('\n')),
        ("up_to_7_words", n_words <= 7),
        ("over_30_words", n_words > 30),
        ("names_file", super::subject::names_file(quote.text)),
        ("names_code", quote.text.contains('`')),
        ("of_first_turn", has("first_turn")),
        ("of_long_turn", has("words_over_80")),
        ("of_short_turn", has("words_up_to_4") || has("words_5_to_12")),
        ("of_pasted_turn", has("mostly_pasted")),
        ("of_agreed_turn", has("agent_agrees") || has("agent_says_right")),
        ("of_asking_turn", has("asks")),
    ];
    let named = of_core.iter().map(|cue| format!("core {cue}"));
    let words = CUES.iter().filter(|(_, words)| words.is_match(&text)).map(|(name, _)| (*name).to_owned());
    let shapes = shapes.into_iter().filter(|(_, holds)| *holds).map(|(name, _)| name.to_owned());
    let mut cues: Vec<String> = named.chain(words).chain(shapes).collect();
    cues.sort_unstable();
    cues
}

/// True for text mostly in a script that the patterns hardly cover.
fn is_of_other_script(text: &str) -> bool {
    text.chars().filter(|c| c.is_alphabetic() && !c.is_ascii()).count() * 4 > text.chars().count()
}

/// The probability that a line is worth a lesson; from 0 to 1.
pub(super) fn probability(said: &Statement, cues: &[String]) -> f64 {
    static WEIGHTS: LazyLock<HashMap<&'static str, f64>> = LazyLock::new(|| TABLE.lines().filter_map(row).collect());
    let weight = |cue: &str| WEIGHTS.get(cue).copied().unwrap_or_default();
    let odds = [("tells", said.probability), ("holds", said.durable)];
    let of_turn: f64 = odds.into_iter().map(|(name, p)| weight(name) * log_odds(p)).sum();
    let sum = weight("bias") + of_turn + cues.iter().map(|cue| weight(cue)).sum::<f64>();
    1.0 / (1.0 + (-sum).exp())
}

/// Clamped, so that one of them does not decide alone.
fn log_odds(p: f64) -> f64 {
    (p / (1.0 - p)).ln().clamp(-4.0, 4.0)
}

fn row(line: &'static str) -> Option<(&'static str, f64)> {
    let (cue, weight) = line.split_once('\t')?;
    Some((cue, weight.parse().ok()?))
}
