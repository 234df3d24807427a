use std::collections::{BTreeMap, BTreeSet};

use adage_index::UnitVector;
use proptest::prelude::*;

use super::synonyms::group_of;
use super::*;
use crate::lexical::{stem, subject_words};
use crate::skill::Skill;

fn skill(name: &str, topics: &[&str], actions: &[&str], description: &str) -> Skill {
    Skill::new(name.parse().unwrap(), description).with_triggers(topics.iter().copied(), actions.iter().copied())
}

fn index(skills: &[Skill]) -> SkillIndex {
    SkillIndex::new(skills.iter().map(|skill| IndexedSkill { skill, is_matchable: true }))
}

/// The points for the one skill, as text; no score below 1.
fn check(query: &str, skill: &Skill, expected: &[&str]) {
    let config = MatchConfig { threshold: 1, ..MatchConfig::default() };
    let found = match_skills(query, &index(std::slice::from_ref(skill)), &config);
    let points: Vec<String> = match found.matches.first().map(|found| &found.by) {
        Some(MatchedBy::Words { points, .. }) => points.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    };
    assert_eq!(points, expected, "{query}");
}

#[test]
fn each_word_counts_once_for_its_best_reason() {
    let docker = skill("docker", &["docker", "image"], &["build"], "Build a docker image in CI, offline.");
    check("docker", &docker, &["+3 topic \"docker\""]);
    check("Docker DOCKER, docker!", &docker, &["+3 topic \"docker\""]);
    check("build", &docker, &["+3 action \"build\""]);
    check("images", &docker, &["+2 stem \"images\" as \"image\""]);
    check("building", &docker, &["+2 stem \"building\" as \"build\""]);
    check("compile", &docker, &["+2 synonym \"compile\" as \"build\""]);
    check("offline", &docker, &["+1 description \"offline\""]);
    check(
        "compiling images offline",
        &docker,
        &["+2 synonym \"compiling\" as \"build\"", "+2 stem \"images\" as \"image\"", "+1 description \"offline\""],
    );
    check("the of a in", &docker, &[]);
    check("", &docker, &[]);
}

#[test]
fn a_stem_is_not_a_prefix() {
    let google = skill("google", &["google"], &[], "");
    check("go", &google, &[]);
    check("goo", &google, &[]);
    check("google's", &google, &["+3 topic \"google\""]);
    check("google", &skill("go", &["go"], &[], ""), &[]);
    for (one, other) in [("optimizing", "optimized"), ("deployment", "deploy"), ("containers", "container")] {
        check(one, &skill("s", &[], &[other], ""), &[&format!("+2 stem {one:?} as {other:?}")]);
    }
}

#[test]
fn a_compound_word_matches_as_a_whole_or_by_its_parts() {
    let compose = skill("compose", &["docker-compose", "C++", "ci/cd"], &[], "");
    check("use docker-compose.", &compose, &["+3 topic \"docker-compose\""]);
    check(
        "docker compose",
        &compose,
        &["+2 part \"docker\" as \"docker-compose\"", "+2 part \"compose\" as \"docker-compose\""],
    );
    check("in C++, please", &compose, &["+3 topic \"c++\""]);
    check("(CI/CD)", &compose, &["+3 topic \"ci/cd\""]);
    check("docker-compose", &skill("d", &["docker"], &[], ""), &["+3 topic \"docker\""]);
    check(
        "数据库迁移",
        &skill("d", &["数据库"], &[], ""),
        &["+2 part \"数\" as \"数据库\"", "+2 part \"据\" as \"数据库\"", "+2 part \"库\" as \"数据库\""],
    );
}

#[test]
fn a_skill_without_triggers_is_matched_by_its_name() {
    let bare = skill("docker-build", &[], &[], "Images without a network.");
    check("the docker-build skill", &bare, &["+3 topic \"docker-build\""]);
    check("docker", &bare, &["+2 part \"docker\" as \"docker-build\""]);
    check("docx files", &skill("docx", &[], &[], ""), &["+3 topic \"docx\""]);
    check("docker", &skill("docker", &["image"], &[], ""), &[]);
}

fn names(matches: &Matches) -> Vec<&str> {
    matches.matches.iter().map(|found| found.name.as_str()).collect()
}

#[test]
fn one_topic_or_action_is_enough_and_ties_are_by_name() {
    let skills: Vec<Skill> =
        ["g", "c", "e", "a", "f", "b", "d"].into_iter().map(|name| skill(name, &["rust"], &["lint"], "")).collect();
    let index = index(&skills);
    for query in ["about rust", "lint it"] {
        assert_eq!(names(&match_skills(query, &index, &MatchConfig::default())), ["a", "b", "c", "d", "e"]);
    }
    let two = MatchConfig { max_slots: 2, ..MatchConfig::default() };
    assert_eq!(names(&match_skills("rust", &index, &two)), ["a", "b"]);
}

#[test]
fn the_reason_for_no_match_is_given() {
    let rust = skill("rust", &["rust"], &[], "borrow");
    let config = MatchConfig::default();
    let why = |query: &str, index: &SkillIndex, config: &MatchConfig| match_skills(query, index, config).none_because;
    assert_eq!(why("rust", &index(&[]), &config), Some(NoMatch::NoSkills));
    let waiting = SkillIndex::new([IndexedSkill { skill: &rust, is_matchable: false }]);
    assert_eq!(why("rust", &waiting, &config), Some(NoMatch::NoneMatchable { n_listed: 1 }));
    let index = index(&[rust]);
    let no_slots = MatchConfig { max_slots: 0, ..MatchConfig::default() };
    assert_eq!(why("rust", &index, &no_slots), Some(NoMatch::NoSlots));
    assert_eq!(why("what is it?", &index, &config), Some(NoMatch::NothingAsked));
    assert_eq!(why("borrow", &index, &config), Some(NoMatch::BelowThreshold { best: 1, threshold: 3 }));
    assert_eq!(why("rust", &index, &config), None);
}

#[test]
fn a_skill_in_review_does_not_count_towards_the_limit() {
    let (waiting, good) = (skill("a", &["rust"], &[], ""), skill("b", &["rust"], &[], ""));
    let index = SkillIndex::new([
        IndexedSkill { skill: &waiting, is_matchable: false },
        IndexedSkill { skill: &good, is_matchable: true },
    ]);
    let one = MatchConfig { max_slots: 1, ..MatchConfig::default() };
    assert_eq!(names(&match_skills("rust", &index, &one)), ["b"]);
    assert_eq!(index.texts().map(|(name, text)| (name.as_str(), text)).collect::<Vec<_>>(), [("b", "b: \nrust")]);
}

#[test]
fn vectors_match_what_is_near_enough() {
    let skills = [skill("far", &["x"], &[], ""), skill("near", &["x"], &[], ""), skill("none", &["x"], &[], "")];
    let unit = |components: &[f32]| UnitVector::new(components).unwrap();
    // Cosines with (1, 0): 0.6 and 0.28.
    let vectors = BTreeMap::from([
        ("near".parse().unwrap(), unit(&[0.6, 0.8])),
        ("far".parse().unwrap(), unit(&[0.28, 0.96])),
        ("none".parse().unwrap(), unit(&[1.0, 0.0, 0.0])),
    ]);
    let (index, query) = (index(&skills), unit(&[1.0, 0.0]));
    let found = match_skills_by_meaning(&query, &index, &vectors, &MatchConfig::default());
    assert_eq!((found.tier, names(&found)), (MatchTier::Meaning, vec!["near"]));
    let strict = MatchConfig { cosine_floor: 0.7, ..MatchConfig::default() };
    match match_skills_by_meaning(&query, &index, &vectors, &strict).none_because {
        Some(NoMatch::NothingNear { best: Some(best), floor }) => {
            assert!((best - 0.6).abs() < 1e-6 && (floor - 0.7).abs() < 1e-6);
        }
        other => panic!("{other:?}"),
    }
    let loose = MatchConfig { cosine_floor: 0.0, ..MatchConfig::default() };
    assert_eq!(names(&match_skills_by_meaning(&query, &index, &vectors, &loose)), ["near", "far"]);
}

/// The best reason of a word for a skill, without an index.
fn best_reason(word: &str, skill: &Skill) -> Option<PointReason> {
    let same_meaning = |one: &str, other: &str| {
        let group = group_of(&stem(one));
        group.is_some() && group == group_of(&stem(other))
    };
    let parts = |word: &str| subject_words(word).collect::<Vec<_>>();
    let is_simple = |trigger: &&String| parts(trigger) == [trigger.as_str()];
    let triggers = || skill.topics.iter().chain(&skill.actions);
    [
        (PointReason::Topic, skill.topics.iter().any(|topic| topic == word)),
        (PointReason::Action, skill.actions.iter().any(|action| action == word)),
        (
            PointReason::Part,
            triggers().any(|trigger| parts(trigger).len() > 1 && parts(trigger).contains(&word.to_owned())),
        ),
        (PointReason::Stem, triggers().filter(is_simple).any(|trigger| stem(trigger) == stem(word))),
        (PointReason::Synonym, triggers().filter(is_simple).any(|trigger| same_meaning(trigger, word))),
        (PointReason::Description, subject_words(&skill.description).any(|described| described == word)),
    ]
    .into_iter()
    .find_map(|(reason, holds)| holds.then_some(reason))
}

fn word() -> impl Strategy<Value = String> {
    let words = [
        "docker",
        "image",
        "images",
        "build",
        "building",
        "compile",
        "go",
        "google",
        "deploy",
        "release",
        "test",
        "fix",
        "docker-compose",
        "compose",
        "kubernetes",
        "the",
        "rust",
    ];
    proptest::sample::select(words.to_vec()).prop_map(str::to_owned)
}

fn skills() -> impl Strategy<Value = Vec<Skill>> {
    let words = |n| proptest::collection::vec(word(), 0..n);
    let one = (words(3), words(3), words(6)).prop_map(|(topics, actions, description)| {
        Skill::new("x".parse().unwrap(), description.join(" ")).with_triggers(topics, actions)
    });
    proptest::collection::vec(one, 1..12).prop_map(|skills| {
        let named = skills.into_iter().enumerate();
        named.map(|(number, skill)| Skill { name: format!("s{number:02}").parse().unwrap(), ..skill }).collect()
    })
}

proptest! {
    #[test]
    fn the_index_finds_the_same_as_a_scan_of_every_skill(
        skills in skills(), query in proptest::collection::vec(word(), 0..8), threshold in 1_u32..6, max_slots in 1_usize..6,
    ) {
        let config = MatchConfig { max_slots, threshold, ..MatchConfig::default() };
        let query = query.join(" ");
        let index = index(&skills);
        let found = match_skills(&query, &index, &config);
        let asked = super::index::query_words(&query);
        let score = |skill: &Skill| {
            let is_exact = |whole: &String| skill.topics.contains(whole) || skill.actions.contains(whole);
            let wholes: Vec<_> = asked.compounds.iter().filter(|(_, whole, _)| is_exact(whole)).collect();
            let left = asked.words.iter().filter(|(_, word)| !wholes.iter().any(|(_, _, parts)| parts.contains(word)));
            let points = left.filter_map(|(_, word)| best_reason(word, skill)).map(PointReason::points);
            3 * u32::try_from(wholes.len()).unwrap() + points.sum::<u32>()
        };
        let mut expected: Vec<(u32, &str)> = skills.iter().map(|skill| (score(skill), skill.name.as_str())).collect();
        expected.retain(|(score, _)| *score >= threshold);
        expected.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(other.1)));
        expected.truncate(max_slots);
        let scored: Vec<(u32, &str)> = found.matches.iter().map(|found| match &found.by {
            MatchedBy::Words { score, points } => {
                assert_eq!(points.iter().map(|point| point.points).sum::<u32>(), *score);
                let distinct: BTreeSet<&str> = points.iter().map(|point| point.query_word.as_str()).collect();
                assert_eq!(distinct.len(), points.len(), "a word counts once");
                (*score, found.name.as_str())
            }
            MatchedBy::Meaning { .. } => panic!("words were asked"),
        }).collect();
        prop_assert_eq!(scored, expected);
        prop_assert_eq!(found.none_because.is_some(), found.matches.is_empty());
        let mut turned = skills.clone();
        turned.reverse();
        prop_assert_eq!(match_skills(&query, &self::index(&turned), &config), found);
    }
}
