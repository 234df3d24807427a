//! Synonyms in requests to agents, by their stems.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::lexical::stem;

/// Groups of synonyms. A word, and a stem, is in one group only.
const GROUPS: [&[&str]; 20] = [
    &["build", "compile", "assemble", "bundle", "transpile"],
    &["deploy", "release", "ship", "publish", "rollout", "launch"],
    &["test", "validate", "verify", "check", "assert"],
    &["debug", "fix", "troubleshoot", "repair", "diagnose", "bugfix"],
    &["optimize", "optimise", "improve", "accelerate", "tune", "speedup"],
    &["configure", "config", "setup", "customize", "parametrize"],
    &["monitor", "observe", "watch", "alert", "telemetry"],
    &["search", "find", "query", "lookup", "locate"],
    &["analyze", "analyse", "analysis", "inspect", "examine", "investigate"],
    &["delete", "remove", "drop", "erase", "purge"],
    &["migrate", "convert", "transition", "transfer"],
    &["document", "docs", "readme", "docstring", "annotate"],
    &["update", "upgrade", "bump", "refresh"],
    &["connect", "integrate", "link", "attach"],
    &["scale", "resize", "autoscale", "replicate"],
    &["secure", "security", "harden", "protect", "encrypt"],
    &["backup", "snapshot", "archive"],
    &["format", "reformat", "prettify", "beautify"],
    &["refactor", "restructure", "rewrite", "reorganize"],
    &["create", "generate", "scaffold", "bootstrap"],
];

/// The number of groups.
pub(super) const N_GROUPS: usize = GROUPS.len();

/// The group of a stem.
pub(super) fn group_of(stem: &str) -> Option<usize> {
    static BY_STEM: LazyLock<HashMap<String, usize>> = LazyLock::new(|| {
        let words = GROUPS.iter().enumerate().flat_map(|(group, words)| words.iter().map(move |word| (group, word)));
        words.map(|(group, word)| (self::stem(word), group)).collect()
    });
    BY_STEM.get(stem).copied()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn check(one: &str, other: &str, is_synonym: bool) {
        let group = |word| group_of(&stem(word));
        assert_eq!(group(one).is_some() && group(one) == group(other), is_synonym, "{one} and {other}");
    }

    #[test]
    fn words_of_one_meaning_are_synonyms() {
        check("build", "compile", true);
        check("deploying", "released", true);
        check("test", "validate", true);
        check("debugging", "fixes", true);
        check("optimization", "improvements", true);
        check("configuration", "setup", true);
        check("build", "deploy", false);
        check("optimize", "test", false);
        check("docker", "build", false);
        check("docker", "docker", false);
        check("go", "google", false);
    }

    #[test]
    fn a_word_is_in_one_group() {
        let mut groups: BTreeMap<String, usize> = BTreeMap::new();
        let mut words: BTreeMap<&str, usize> = BTreeMap::new();
        for (group, members) in GROUPS.iter().enumerate() {
            for word in *members {
                assert_eq!(words.insert(word, group), None, "{word} comes twice");
                assert_eq!(*groups.entry(stem(word)).or_insert(group), group, "the stem of {word} has two groups");
            }
        }
    }
}
