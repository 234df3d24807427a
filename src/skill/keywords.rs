//! Extracts the topics and actions by which a skill is matched.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::lexical::{content_words, is_telling, stem};

/// The maximum number of topics of a skill; from the earlier system.
pub(super) const MAX_TOPICS: usize = 10;
/// The maximum number of actions of a skill; from the earlier system.
pub(super) const MAX_ACTIONS: usize = 5;
/// Longer words are hashes or generated names.
const MAX_WORD_CHARS: usize = 24;

/// Actions on software. Endings do not identify verbs: "string" and "red" end like verbs too.
const ACTIONS: [&str; 44] = [
    "add",
    "analyze",
    "back",
    "build",
    "check",
    "clean",
    "compile",
    "configure",
    "connect",
    "convert",
    "create",
    "debug",
    "delete",
    "deploy",
    "document",
    "download",
    "export",
    "fix",
    "format",
    "generate",
    "import",
    "install",
    "lint",
    "merge",
    "migrate",
    "monitor",
    "optimize",
    "package",
    "parse",
    "publish",
    "refactor",
    "release",
    "remove",
    "rename",
    "restart",
    "review",
    "run",
    "search",
    "test",
    "update",
    "upgrade",
    "upload",
    "validate",
    "write",
];

/// Words of advice that say nothing about its subject.
const EMPTY: [&str; 16] = [
    "always", "command", "file", "get", "instead", "like", "make", "need", "never", "set", "step", "take", "thing",
    "try", "use", "way",
];

/// By stem, so that "building" counts as "build".
static ACTION_STEMS: LazyLock<BTreeMap<String, &'static str>> =
    LazyLock::new(|| ACTIONS.iter().map(|action| (stem(action), *action)).collect());

static EMPTY_STEMS: LazyLock<BTreeSet<String>> = LazyLock::new(|| EMPTY.iter().map(|word| stem(word)).collect());

/// The keywords of a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Keywords {
    pub(super) topics: Vec<String>,
    pub(super) actions: Vec<String>,
}

/// The keywords of weighted texts. Those with the largest total weight come first, at equal weight the earlier one. Words with
/// the same stem count as one, in the form of the first.
pub(super) fn keywords<'a>(texts: impl IntoIterator<Item = (&'a str, usize)>) -> Keywords {
    let mut found: Vec<(String, String, usize)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for (text, weight) in texts {
        for word in content_words(text) {
            let stem = stem(&word);
            let is_word = word.chars().any(char::is_alphabetic) && word.chars().count() <= MAX_WORD_CHARS;
            if !is_word || !is_telling(&word) || !is_telling(&stem) || EMPTY_STEMS.contains(&stem) {
                continue;
            }
            let place = *places.entry(stem.clone()).or_insert(found.len());
            match found.get_mut(place) {
                Some((_, _, sum)) => *sum += weight,
                None => found.push((stem, word, weight)),
            }
        }
    }
    // The sort is stable: at equal weight the earlier word stays first.
    found.sort_by(|(.., a), (.., b)| b.cmp(a));
    let mut keywords = Keywords::default();
    for (stem, word, _) in found {
        match ACTION_STEMS.get(&stem) {
            Some(action) if keywords.actions.len() < MAX_ACTIONS => keywords.actions.push((*action).to_owned()),
            None if keywords.topics.len() < MAX_TOPICS => keywords.topics.push(word),
            _ => {}
        }
    }
    keywords
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(texts: &[(&str, usize)], topics: &str, actions: &str) {
        let found = keywords(texts.iter().copied());
        assert_eq!((found.topics.join(" ").as_str(), found.actions.join(" ").as_str()), (topics, actions), "{texts:?}");
    }

    #[test]
    fn the_words_with_the_largest_weight_come_first_in_one_form() {
        check(
            &[("building images", 1), ("docker", 3), ("the image was built with docker", 1)],
            "docker images built",
            "build",
        );
        check(&[("Parse the string in red", 1)], "string red", "parse");
        check(&[("deploying, deployed and deploy", 1)], "", "deploy");
        check(&[("never use of the a an is 404 x0 é", 1), ("", 5)], "", "");
        check(&[("b c zeta alpha zeta", 1)], "zeta alpha", "");
        let many: Vec<String> = (0..40).map(|n| format!("word{n}")).collect();
        assert_eq!(keywords([(many.join(" ").as_str(), 1)]).topics.len(), 10);
    }
}
