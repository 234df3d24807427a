//! Skills that the crate saved automatically: gated, curated, and restored.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use adage::lesson::Trust;
use adage::model::{CancelToken, ScriptedModel};
use adage::skills::{CurationPlan, Declined, NotWorded, Quality, Skill, Skills, Suggested};
use adage::{Config, Error, Playbook, Verification, build_lesson, config, skills};
use proptest::prelude::*;

use crate::bench::Bench;

const DAY: i64 = 24 * 60 * 60;

fn body(steps: &[&str], pitfalls: &[&str]) -> String {
    let steps = steps.iter().enumerate().map(|(n, step)| format!("{}. `{step}`\n", n + 1)).collect::<Vec<_>>().concat();
    let pitfalls = pitfalls.iter().map(|pitfall| format!("- {pitfall}\n")).collect::<Vec<_>>().concat();
    format!("## Overview\n\nWhat it does.\n\n## Step-by-Step\n\n{steps}\n## Common Pitfalls\n\n{pitfalls}")
}

fn draft(name: &str, topics: &[&str], steps: &[&str]) -> Skill {
    let skill =
        Skill::new(name.parse().unwrap(), format!("About {name}.")).with_triggers(topics.iter().copied(), ["build"]);
    Skill { quality: Quality::Draft, body: body(steps, &[name]), ..skill }
}

/// Every file below a folder, by its path there.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(folder).unwrap().display().to_string(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn skill_files(bench: &Bench) -> BTreeMap<String, Vec<u8>> {
    files(&bench.path("skills"))
}

fn lines(plan: &CurationPlan) -> Vec<String> {
    plan.steps.iter().map(ToString::to_string).collect()
}

fn names(skills: &Skills) -> Vec<String> {
    skills.list().unwrap().skills.iter().map(|listed| listed.skill.name.to_string()).collect()
}

#[test]
fn a_merge_is_planned_applied_archived_and_undone_to_the_byte() {
    let bench = Bench::new();
    let skills = bench.open().skills();
    for skill in [draft("a", &["docker", "ci"], &["one"]), draft("b", &["ci", "docker"], &["one", "two"])] {
        skills.save(&skill).unwrap();
    }
    skills.used("b").unwrap();
    let before = skill_files(&bench);
    let planned = skills.curation_plan().unwrap();
    assert_eq!(lines(&planned), ["merge b into a: their steps agree, and both are on ci, docker"]);
    assert_eq!(skill_files(&bench), before, "a plan changes nothing");

    let curated = skills.curate().unwrap();
    assert_eq!(curated.plan, planned);
    assert_eq!(names(&skills), ["a"]);
    assert!(!bench.path("skills/b").exists(), "no empty folder is left");
    let merged = skills.get("a").unwrap();
    assert_eq!((merged.skill.body.as_str(), merged.used.count), (body(&["one", "two"], &["b", "a"]).trim_end(), 1));
    let archived = files(&bench.path("skills-archive"));
    assert_eq!(archived.values().collect::<Vec<_>>(), [&before["b/SKILL.md"]], "what went is kept");
    let again = skills.curate().unwrap();
    assert!(again.plan.is_empty() && again.change.is_none());

    let change = curated.change.unwrap();
    skills.undo_curation(change).unwrap();
    assert_eq!(skill_files(&bench), before);
    assert!(skills.curation_plan().unwrap().is_empty(), "what a person took back is left alone");
    assert!(matches!(skills.undo_curation(change), Err(Error::FileChanged { .. })), "once is enough");
    let edited = Skill { body: body(&["three"], &[]), ..draft("a", &["docker", "ci"], &[]) };
    skills.replace(&edited).unwrap();
    assert!(skills.curation_plan().unwrap().is_empty());
}

#[test]
fn a_curation_is_not_undone_after_an_edit() {
    let bench = Bench::new();
    let skills = bench.open().skills();
    for name in ["a", "b"] {
        skills.save(&Skill { body: body(&["one"], &[]), ..draft(name, &[], &[]) }).unwrap();
    }
    skills.save(&draft("c", &["x", "y"], &["1"])).unwrap();
    skills.save(&draft("d", &["x", "y"], &["1"])).unwrap();
    let change = skills.curate().unwrap().change.unwrap();
    skills.replace(&draft("c", &["x"], &["mine"])).unwrap();
    let before = skill_files(&bench);
    assert!(matches!(skills.undo_curation(change), Err(Error::FileChanged { .. })));
    assert_eq!(skill_files(&bench), before, "not even the other merge");
    let other = bench.open();
    let lesson = other.learn_lesson(build_lesson("a", "b")).unwrap().id().unwrap();
    let removal = other.remove(lesson).unwrap();
    assert!(matches!(skills.undo_curation(removal.change), Err(Error::NoSuchChange { .. })));
}

#[test]
fn skills_of_a_person_are_not_changed() {
    let bench = Bench::new();
    let playbook = bench.open();
    let skills = playbook.skills();
    let same = |name: &str, quality| Skill { quality, body: body(&["one"], &[]), ..draft(name, &["x", "y"], &[]) };
    for (name, quality) in [("manual", Quality::Manual), ("imported", Quality::Imported), ("checked", Quality::Draft)] {
        skills.save(&same(name, quality)).unwrap();
    }
    skills.verify("checked", Verification::Passed).unwrap();
    let mut promoted = same("promoted", Quality::Draft);
    promoted.provenance.trust = Trust::Tainted;
    skills.save(&promoted).unwrap();
    skills.promote("promoted").unwrap();
    skills.save(&same("with-files", Quality::Draft)).unwrap();
    fs::write(bench.path("skills/with-files/run.sh"), "ls").unwrap();
    playbook.skip("promoted").unwrap();
    let before = skill_files(&bench);
    bench.advance(200 * DAY);
    assert!(skills.curate().unwrap().plan.is_empty());

    skills.save(&same("draft", Quality::Draft)).unwrap();
    // It is merged into the one of best quality.
    assert_eq!(lines(&skills.curate().unwrap().plan), ["merge draft into checked: their bodies are equal"]);
    assert_eq!(skill_files(&bench), before);
}

#[test]
fn the_time_unused_is_counted_from_the_first_scan_and_from_use() {
    let bench = Bench::new();
    let skills = bench.open().skills();
    skills.save(&draft("a", &[], &["one"])).unwrap();
    skills.save(&draft("b", &[], &["two"])).unwrap();
    assert!(skills.curate().unwrap().plan.is_empty());
    bench.advance(60 * DAY);
    skills.used("b").unwrap();
    bench.advance(30 * DAY);
    let curated = skills.curate().unwrap();
    assert_eq!(lines(&curated.plan), ["mark a as stale: not used for 90 days"]);
    assert_eq!(skills.get("a").unwrap().skill.quality, Quality::Stale);
    assert!(skills.curate().unwrap().plan.is_empty());

    let mut config = Config::default();
    config.curation.auto_prune = true;
    let pruning = bench.builder().with_config(config.clone()).open().unwrap().skills();
    assert_eq!(lines(&pruning.curation_plan().unwrap()), ["archive a: not used for 90 days"]);
    skills.used("a").unwrap();
    assert_eq!(lines(&skills.curate().unwrap().plan), ["revive a: it was used again"]);
    bench.advance(60 * DAY);
    assert_eq!(lines(&pruning.curate().unwrap().plan), ["archive b: not used for 90 days"]);
    assert_eq!(names(&skills), ["a"]);
    assert_eq!(files(&bench.path("skills-archive")).len(), 1);
    config.curation.staleness = Duration::from_hours(23);
    assert!(matches!(bench.builder().with_config(config).open(), Err(Error::Config(config::Error::Invalid { .. }))));
}

#[test]
fn skipping_a_suggestion_archives_its_draft() {
    let bench = Bench::new();
    let playbook = bench.open();
    playbook.skills().save(&draft("error-pip", &[], &["one"])).unwrap();
    playbook.skip("error-pip").unwrap();
    assert_eq!(lines(&playbook.skills().curation_plan().unwrap()), ["remove error-pip: its suggestion was skipped"]);
    bench.advance(31 * DAY);
    assert!(playbook.skills().curation_plan().unwrap().is_empty(), "a skip holds for thirty days");
}

fn suggested(name: &str, topic: &str) -> Suggested {
    let draft = build_lesson(
        format!("running the {topic} tests of this repository fails with a missing lock file"),
        format!("Run the set-up first:\n\n```sh\n./setup-{topic}.sh --locked\ncargo test -p {topic}\n```"),
    );
    let draft =
        draft.mistake(format!("cargo test -p {topic} was run before ./setup-{topic}.sh had made the lock file"));
    Suggested { name: name.into(), draft, has_steps: true }
}

fn saved(playbook: &Playbook, suggestions: &[Suggested]) -> (Vec<String>, Vec<String>) {
    let outcome = playbook.skills().save_suggested(suggestions.iter().cloned()).unwrap();
    let name = |saved: &skills::Saved| match saved {
        skills::Saved::Written { name, .. } => name.to_string(),
        other => panic!("{other:?}"),
    };
    let declined = outcome.declined.iter().map(|skill| format!("{}: {}", skill.name, skill.reason)).collect();
    (outcome.saved.iter().map(name).collect(), declined)
}

#[test]
fn a_run_saves_three_drafts_and_lists_the_others() {
    let bench = Bench::new();
    let playbook = bench.open();
    let short = Suggested { draft: build_lesson("a", "b"), ..suggested("short", "beta") };
    let none = Suggested { draft: build_lesson("a", ""), ..suggested("none", "beta") };
    let good = ["gamma", "delta", "epsilon", "zeta"].map(|topic| suggested("fix-tests", topic));
    let all: Vec<Suggested> = [short, none].into_iter().chain(good).collect();
    let (names, declined) = saved(&playbook, &all);
    assert_eq!(names, ["fix-tests", "fix-tests-2", "fix-tests-3"]);
    assert_eq!(declined.len(), 3, "{declined:#?}");
    assert!(declined.contains(&"none: it has no solution".to_owned()), "{declined:#?}");
    assert!(declined.iter().any(|line| line == "short: it has neither a command nor a concrete rule"), "{declined:#?}");
    assert!(declined.contains(&"fix-tests: a run saves at most 3".to_owned()));
    let listed = playbook.skills().list().unwrap().skills;
    assert!(listed.iter().all(|listed| listed.skill.quality == Quality::Draft && listed.needs_review));
    let (names, declined) = saved(&playbook, &all[2..4]);
    assert_eq!((names.len(), declined.len()), (0, 2), "{declined:#?}");

    let mut config = Config::default();
    config.auto_save.require_llm = true;
    let strict = bench.builder().with_config(config).open().unwrap();
    let outcome = strict.skills().save_suggested([suggested("new", "eta")]).unwrap();
    let reasons: Vec<&Declined> = outcome.declined.iter().map(|skill| &skill.reason).collect();
    assert_eq!(reasons, [&Declined::NotWorded(NotWorded::NoModel)]);

    // A draft without rewording does not replace a reworded one that says too little.
    let mut config = Config::default();
    (config.auto_save.require_llm, config.auto_save.max_per_run) = (true, 1);
    let strict = bench.builder().with_config(config).open().unwrap();
    let short = Suggested { draft: build_lesson("a", "b"), ..suggested("terse", "beta") };
    let model = ScriptedModel::new([Ok(r#"{"description": "Does b."}"#.into())]);
    let drafts = [short, suggested("new", "eta")];
    let outcome = strict.skills().save_worded(drafts, Some(&model), &CancelToken::default()).unwrap();
    assert!(outcome.saved.is_empty(), "{outcome:?}");
    let reasons: Vec<String> =
        outcome.declined.iter().map(|skill| format!("{}: {}", skill.name, skill.reason)).collect();
    assert_eq!(reasons[0], "new: a run saves at most 1");
}

fn any_skills() -> impl Strategy<Value = Vec<Skill>> {
    let words = |words: &[&'static str]| proptest::sample::subsequence(words.to_vec(), 0..=words.len());
    let quality = [Quality::Draft, Quality::Draft, Quality::Stale, Quality::Manual, Quality::Imported];
    let quality = proptest::sample::select(quality.to_vec());
    let one = (words(&["docker", "ci", "cache"]), words(&["one", "two"]), words(&["p", "q"]), quality, 0..6);
    let one = one.prop_map(|(topics, steps, pitfalls, quality, taint)| {
        let mut skill = draft("x", &topics, &steps);
        (skill.body, skill.quality) = (body(&steps, &pitfalls), quality);
        skill.provenance.trust = if taint == 0 { Trust::Tainted } else { Trust::Trusted };
        skill
    });
    proptest::collection::vec(one, 1..8).prop_map(|mut skills| {
        for (number, skill) in skills.iter_mut().enumerate() {
            skill.name = format!("s{number}").parse().unwrap();
        }
        skills
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn curation_settles_keeps_people_s_files_and_is_undone_to_the_byte(drafts in any_skills(), days in 0_i64..200, prune in any::<bool>()) {
        let mut config = Config::default();
        config.curation.auto_prune = prune;
        let bench = Bench::new();
        let skills = bench.builder().with_config(config).open().unwrap().skills();
        for draft in &drafts {
            skills.save(draft).unwrap();
        }
        skills.curate().unwrap();
        let kept: BTreeMap<String, Vec<u8>> = skill_files(&bench);
        for draft in drafts.iter().filter(|draft| matches!(draft.quality, Quality::Manual | Quality::Imported)) {
            prop_assert_eq!(&kept[&format!("{}/SKILL.md", draft.name)], &draft.standardised().to_text().into_bytes());
        }
        bench.advance(days * DAY);
        let planned = skills.curation_plan().unwrap();
        let curated = skills.curate().unwrap();
        prop_assert_eq!(&curated.plan, &planned);
        prop_assert!(skills.curate().unwrap().plan.is_empty());
        prop_assert_eq!(curated.change.is_some(), !planned.is_empty());
        if let Some(change) = curated.change {
            skills.undo_curation(change).unwrap();
            prop_assert_eq!(skill_files(&bench), kept);
        }
    }
}
