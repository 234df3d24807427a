//! What words are about: their noun phrases, as far as the grammar around them shows them without a parser.

use unicode_segmentation::UnicodeSegmentation;

use crate::heuristics::{cues, request};

/// Phrases of a trigger.
const MAX_PHRASES: usize = 4;
/// Words of a phrase.
const MAX_WORDS: usize = 4;

/// Words that order, judge or place something, and are never what a sentence is about.
const RULING: [&str; 124] = [
    "able",
    "actually",
    "affect",
    "after",
    "along",
    "always",
    "am",
    "anything",
    "ask",
    "asks",
    "assume",
    "attached",
    "avoid",
    "away",
    "based",
    "because",
    "before",
    "being",
    "between",
    "both",
    "cannot",
    "care",
    "changing",
    "clarify",
    "configure",
    "connecting",
    "contains",
    "current",
    "did",
    "different",
    "done",
    "dont",
    "during",
    "each",
    "easy",
    "ensure",
    "ever",
    "every",
    "everything",
    "exactly",
    "exist",
    "exists",
    "forget",
    "found",
    "future",
    "given",
    "going",
    "hand",
    "how",
    "implement",
    "instead",
    "keeps",
    "kept",
    "know",
    "later",
    "let",
    "made",
    "making",
    "modify",
    "needed",
    "needs",
    "never",
    "new",
    "note",
    "nothing",
    "oh",
    "old",
    "one",
    "only",
    "otherwise",
    "over",
    "own",
    "perhaps",
    "please",
    "possible",
    "prefer",
    "preserve",
    "rather",
    "reads",
    "really",
    "rely",
    "remember",
    "require",
    "required",
    "requires",
    "running",
    "says",
    "see",
    "seems",
    "simply",
    "since",
    "something",
    "specified",
    "sure",
    "think",
    "through",
    "throws",
    "two",
    "under",
    "unless",
    "until",
    "us",
    "used",
    "uses",
    "using",
    "very",
    "want",
    "wanted",
    "wants",
    "what",
    "when",
    "whenever",
    "where",
    "which",
    "while",
    "who",
    "why",
    "within",
    "without",
    "work",
    "working",
    "works",
    "writes",
    "written",
];

/// Frequent words of Spanish, Portuguese, French and German that are none of English.
const FOREIGN: [&str; 34] = [
    "que", "el", "los", "las", "con", "para", "por", "una", "está", "não", "uma", "os", "em", "da", "como", "se",
    "les", "des", "une", "pour", "dans", "est", "der", "das", "und", "nicht", "ist", "ein", "eine", "mit", "auf",
    "dem", "den", "immer",
];

/// The phrases, in the order of the words, without the files and programs that are known; empty where the words have none.
pub(super) fn of(text: &str, known: &str) -> String {
    let is_of_other_script = text.chars().filter(|c| c.is_alphabetic() && !c.is_ascii()).count() * 4 > text.len();
    let n_foreign = text.to_lowercase().unicode_words().filter(|word| FOREIGN.contains(word)).count();
    if is_of_other_script || n_foreign > 1 {
        // The grammar is only known of English.
        return String::new();
    }
    let mut phrases: Vec<Vec<&str>> = vec![Vec::new()];
    for chunk in text.split_whitespace() {
        let word = chunk.trim_matches(|c: char| !c.is_alphanumeric());
        // What is done with a file or program says so itself.
        let is_known = known.split([' ', ',', ';']).any(|name| name == word || word.strip_suffix('s') == Some(name));
        let word = if is_known { "" } else { word };
        let begins = chunk.starts_with(['(', '"', '\'', '`', '-', '*']);
        if begins || !is_topic(word) {
            phrases.push(Vec::new());
        }
        if is_topic(word)
            && let Some(last) = phrases.last_mut()
        {
            last.push(word);
        }
        if chunk.ends_with([',', '.', ';', ':', '!', '?', ')', '"', '`']) {
            phrases.push(Vec::new());
        }
    }
    let mut told: Vec<String> = Vec::new();
    for phrase in phrases.iter().filter(|phrase| !phrase.is_empty()) {
        let phrase = phrase.get(..MAX_WORDS.min(phrase.len())).unwrap_or_default().join(" ");
        if !told.iter().any(|known| known.eq_ignore_ascii_case(&phrase)) {
            told.push(phrase);
        }
    }
    told.truncate(MAX_PHRASES);
    told.join(", ")
}

fn is_topic(word: &str) -> bool {
    let lower = word.to_lowercase().replace('\u{2019}', "'");
    let Some(stem) = uncontracted(&lower) else { return false };
    let is_adverb = lower.len() > 5 && lower.ends_with("ly");
    request::is_content(stem) && !RULING.contains(&stem) && !cues::is_verb(stem) && !is_adverb
        || matches!(stem, "test" | "build" | "commit" | "tests" | "push" | "merge")
}

/// A word in lower case without the verb that is contracted with it: "that" of "that's". `None` for a negation ("don't").
fn uncontracted(lower: &str) -> Option<&str> {
    match lower.split_once('\'') {
        Some((_, "t")) => None,
        Some((stem, "s" | "d" | "m" | "re" | "ve" | "ll")) => Some(stem),
        _ => Some(lower),
    }
}

/// What is done to a repository: the words for it, the first of them its name, and the pattern of its commands.
const PRACTICES: [(&[&str], &str); 5] = [
    (&["commit", "commits", "committing", "commited", "committed"], "git commit*"),
    (&["push", "pushes", "pushing", "pushed"], "git push*"),
    (&["rebase", "rebasing"], "git rebase*"),
    (&["merge", "merging", "merges"], "git merge*"),
    (&["pr", "prs"], "gh pr *"),
];

fn practices_in(text: &str) -> impl Iterator<Item = (&'static [&'static str], &'static str)> {
    let lower = text.to_lowercase();
    let words: Vec<String> = lower.unicode_words().map(str::to_owned).collect();
    PRACTICES.into_iter().filter(move |(names, _)| words.iter().any(|word| names.contains(&word.as_str())))
}

/// Patterns of the commands by which what the words name is done: a rule about commits comes back before one.
pub(super) fn commands_of_practices(text: &str) -> impl Iterator<Item = &'static str> {
    practices_in(text).map(|(_, command)| command)
}

/// The first practice that the words name.
pub(super) fn practice(text: &str) -> Option<&'static str> {
    practices_in(text).find_map(|(names, _)| names.first().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_what_is_named() {
        for (text, expected) in [
            (
                "We don't use mocks in our integration tests, always start the real server.",
                "mocks, integration tests, real server",
            ),
            ("Never commit the lock file!", "commit, lock file"),
            ("Dates in our feeds must be UTC", "Dates, feeds, UTC"),
            ("`AuthUser` keeps its shape", "AuthUser, shape"),
            ("Never edit src/a.rs, the generator writes it", "generator"),
            ("don't do that", ""),
            ("That's the only change we'd make to the release", "release"),
            ("it\u{2019}s the customer's invoice", "customer's invoice"),
            ("siempre razone antes de ejecutar, que la prueba está para eso", ""),
            ("以后默认用 pnpm 安装依赖", ""),
        ] {
            assert_eq!(of(text, "changing src/a.rs"), expected, "{text}");
        }
    }

    #[test]
    fn practices_have_commands() {
        let commands = |text| commands_of_practices(text).collect::<Vec<_>>();
        assert_eq!(commands("Never push before the commits are signed"), ["git commit*", "git push*"]);
        assert!(commands("commitment to pushbacks").is_empty());
    }
}
