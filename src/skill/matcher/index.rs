//! An inverted index of skills by their words: a query visits only skills with which it shares a word.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::explain::PointReason;
use super::synonyms::{N_GROUPS, group_of};
use crate::lexical::{stem, subject_words};
use crate::skill::{Skill, SkillName};

/// A skill to be indexed.
#[derive(Clone, Copy, Debug)]
pub struct IndexedSkill<'a> {
    /// The skill.
    pub skill: &'a Skill,
    /// False for a listed skill that is never matched: it awaits review, or is loaded anyway.
    pub is_matchable: bool,
}

/// An index of skills for matching; build it once and use it for every turn. If a skill has no topics and actions, its name is
/// used as its topic.
#[derive(Clone, Debug, Default)]
pub struct SkillIndex {
    /// In the order of names.
    pub(super) skills: Vec<Entry>,
    pub(super) n_listed: usize,
    words: Vec<String>,
    by_word: HashMap<String, Vec<Posting>>,
    by_stem: HashMap<String, Vec<Posting>>,
    by_group: Vec<Vec<Posting>>,
}

/// An indexed skill.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) name: SkillName,
    /// The text for an embedder.
    text: String,
}

/// A posting: a skill that contains a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Posting {
    pub(super) reason: PointReason,
    pub(super) skill: usize,
    word: usize,
}

impl SkillIndex {
    /// Indexes the skills; if several have the same name, the first is used.
    #[must_use]
    pub fn new<'a>(skills: impl IntoIterator<Item = IndexedSkill<'a>>) -> Self {
        let mut named = BTreeMap::new();
        for listed in skills {
            named.entry(&listed.skill.name).or_insert(listed);
        }
        let mut index = Self { n_listed: named.len(), by_group: vec![Vec::new(); N_GROUPS], ..Self::default() };
        let mut words = BTreeMap::new();
        for listed in named.into_values().filter(|listed| listed.is_matchable) {
            index.add(listed.skill, &mut words);
        }
        for postings in index.by_word.values_mut().chain(index.by_stem.values_mut()).chain(&mut index.by_group) {
            postings.sort_unstable();
        }
        index
    }

    /// The number of skills that can be matched.
    #[must_use]
    pub fn len(&self) -> usize {
        self.skills.len()
    }

    /// True if no skill can be matched.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.skills.is_empty()
    }

    /// The text to embed for each skill that can be matched: name, description and triggers, in the order of names.
    pub fn texts(&self) -> impl Iterator<Item = (&SkillName, &str)> {
        self.skills.iter().map(|entry| (&entry.name, entry.text.as_str()))
    }

    fn add<'a>(&mut self, skill: &'a Skill, known: &mut BTreeMap<String, usize>) {
        let number = self.skills.len();
        let triggers: Vec<&str> = skill.topics.iter().chain(&skill.actions).map(String::as_str).collect();
        let text = format!("{}: {}\n{}", skill.name, skill.description, triggers.join(" "));
        self.skills.push(Entry { name: skill.name.clone(), text });
        let mut posting = |words: &mut Vec<String>, reason, word: &str| {
            let place = *known.entry(word.to_owned()).or_insert_with(|| {
                words.push(word.to_owned());
                words.len() - 1
            });
            Posting { reason, skill: number, word: place }
        };
        let split = |texts: &'a [String]| texts.iter().flat_map(|text| text.split_whitespace()).map(whole_word);
        // Most files of other authors have no triggers; the skill's name is used as its topic.
        let name = triggers.is_empty().then(|| (PointReason::Topic, whole_word(skill.name.as_str())));
        let topics = split(&skill.topics).map(|word| (PointReason::Topic, word));
        let actions = split(&skill.actions).map(|word| (PointReason::Action, word));
        for (reason, word) in topics.chain(actions).chain(name).filter(|(_, word)| !word.is_empty()) {
            let exact = posting(&mut self.words, reason, &word);
            self.by_word.entry(word.clone()).or_default().push(exact);
            let parts: Vec<String> = subject_words(&word).collect();
            if parts.iter().any(|part| *part != word) {
                for part in parts.into_iter().filter(|part| *part != word) {
                    let compound = posting(&mut self.words, PointReason::Part, &word);
                    self.by_word.entry(part).or_default().push(compound);
                }
                continue;
            }
            let stem = stem(&word);
            if let Some(group) = group_of(&stem).and_then(|group| self.by_group.get_mut(group)) {
                group.push(posting(&mut self.words, PointReason::Synonym, &word));
            }
            self.by_stem.entry(stem).or_default().push(posting(&mut self.words, PointReason::Stem, &word));
        }
        for word in subject_words(&skill.description).collect::<BTreeSet<_>>() {
            let described = posting(&mut self.words, PointReason::Description, &word);
            self.by_word.entry(word).or_default().push(described);
        }
    }

    /// The postings of a word, strongest reasons first.
    pub(super) fn meets(&self, word: &str) -> impl Iterator<Item = Posting> {
        let stem = stem(word);
        let group = group_of(&stem).and_then(|group| self.by_group.get(group));
        let words = self.by_word.get(word).map(Vec::as_slice).unwrap_or_default();
        let n_stronger = words.partition_point(|posting| posting.reason < PointReason::Stem);
        let (stronger, weaker) = words.split_at(n_stronger);
        let stems = self.by_stem.get(&stem).map(Vec::as_slice).unwrap_or_default();
        let synonyms = group.map(Vec::as_slice).unwrap_or_default();
        [stronger, stems, synonyms, weaker].into_iter().flatten().copied()
    }

    /// The topics and actions that equal this word.
    pub(super) fn is_exactly(&self, whole: &str) -> impl Iterator<Item = Posting> {
        let words = self.by_word.get(whole).map(Vec::as_slice).unwrap_or_default();
        words.iter().copied().filter(|posting| posting.reason <= PointReason::Action)
    }

    pub(super) fn word(&self, posting: Posting) -> &str {
        self.words.get(posting.word).map(String::as_str).unwrap_or_default()
    }
}

/// The words of a query.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// Compound words without duplicates, with their parts and positions.
    pub(super) compounds: Vec<(usize, String, Vec<String>)>,
    /// Simple words and parts without duplicates, with their positions.
    pub(super) words: Vec<(usize, String)>,
}

/// The words of a query. Whether a compound word counts as a whole or by its parts depends on the skill.
pub(super) fn query_words(query: &str) -> Asked {
    let (mut seen, mut asked) = (BTreeSet::new(), Asked::default());
    for (place, token) in query.split_whitespace().enumerate() {
        let whole = whole_word(token);
        let parts: Vec<String> = subject_words(token).collect();
        for part in &parts {
            if seen.insert(part.clone()) {
                asked.words.push((place, part.clone()));
            }
        }
        let is_plain = whole.chars().all(char::is_alphanumeric) && parts.len() < 2;
        if !is_plain && !parts.contains(&whole) && seen.insert(whole.clone()) {
            asked.compounds.push((place, whole, parts));
        }
    }
    asked
}

/// A token in the form that is looked up: lower case, without surrounding punctuation. `C++` and `C#` keep theirs.
fn whole_word(token: &str) -> String {
    token.trim_matches(|c: char| !c.is_alphanumeric() && c != '+' && c != '#').to_lowercase()
}
