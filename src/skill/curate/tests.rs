use std::collections::BTreeSet;
use std::time::Duration;

use chrono::TimeDelta;
use proptest::prelude::*;

use super::*;
use crate::config::AutoSaveConfig;
use crate::lesson::Trust;
use crate::testing::at;

const DAY: i64 = 24 * 60 * 60;

fn body(steps: &[&str], pitfalls: &[&str]) -> String {
    let steps = steps.iter().enumerate().map(|(n, step)| format!("{}. `{step}`\n", n + 1)).collect::<Vec<_>>().concat();
    let pitfalls = pitfalls.iter().map(|pitfall| format!("- {pitfall}\n")).collect::<Vec<_>>().concat();
    format!(
        "# Skill\n\n## Overview\n\nWhat it does.\n\n## Step-by-Step\n\n{steps}\n## Common Pitfalls\n\n{pitfalls}\n## Verification\n\n- it works\n"
    )
}

fn draft(name: &str, topics: &[&str], steps: &[&str]) -> SkillLife {
    let skill =
        Skill::new(name.parse().unwrap(), format!("About {name}.")).with_triggers(topics.iter().copied(), ["build"]);
    let skill = Skill { quality: Quality::Draft, body: body(steps, &[name]), ..skill };
    let hold = ProtectedBecause::None;
    SkillLife { skill, saved: Some(at(0)), last_used: None, is_skipped: false, hold, waits: false }
}

/// The plan's steps as lines, ten days after the epoch.
fn check(states: &[SkillLife], expected: &[&str]) -> CurationPlan {
    let plan = curate(states, at(10 * DAY), &CurationConfig::default());
    let said: Vec<String> = plan.steps.iter().map(ToString::to_string).collect();
    assert_eq!(said, expected);
    plan
}

#[test]
fn drafts_with_shared_topics_and_agreeing_steps_are_merged_under_the_older_name() {
    let (mut new, mut old) = (
        draft("a", &["docker", "ci", "x"], &["one", "two", "three"]),
        draft("z", &["ci", "docker"], &["one", "three"]),
    );
    (new.saved, old.saved) = (Some(at(9)), Some(at(5)));
    new.skill.provenance = crate::skill::SkillProvenance {
        trust: Trust::Tainted,
        sources: vec!["web".into(), "s".into()],
        lessons: Vec::new(),
    };
    old.skill.provenance.sources = vec!["s".into()];
    let plan = check(&[new.clone(), old.clone()], &["merge a into z: their steps agree, and both are on ci, docker"]);
    let outcome = plan.outcome();
    assert_eq!(outcome[&new.skill.name], None);
    let merged = outcome[&old.skill.name].unwrap();
    assert_eq!(merged.description, "About z.");
    assert_eq!((merged.topics.join(" "), merged.actions.join(" ")), ("ci docker x".into(), "build".into()));
    assert_eq!((merged.provenance.trust, merged.provenance.sources.join(" ")), (Trust::Tainted, "s web".into()));
    assert_eq!(merged.quality, Quality::Draft);
    assert_eq!(merged.body, body(&["one", "two", "three"], &["a", "z"]));
}

#[test]
fn drafts_with_other_steps_or_one_shared_topic_are_not_merged() {
    let one = draft("a", &["docker", "ci"], &["one", "two"]);
    check(&[one.clone(), draft("b", &["docker", "ci"], &["two", "one"])], &[]);
    check(&[one.clone(), draft("b", &["docker", "ci"], &["one", "two --force"])], &[]);
    check(&[one.clone(), draft("b", &["docker", "x"], &["one", "two"])], &[]);
    check(&[one.clone(), draft("b", &["docker", "ci"], &[])], &[]);
    let mut stale = draft("b", &["docker", "ci"], &["one"]);
    stale.skill.quality = Quality::Stale;
    stale.saved = None;
    check(&[one, stale], &[]);
}

#[test]
fn equal_bodies_are_merged_and_skills_of_a_person_are_kept() {
    let with = |name: &str, quality, saved| {
        let mut state = draft(name, &["x"], &["one"]);
        (state.skill.quality, state.saved) = (quality, Some(at(saved)));
        state.skill.body = body(&["one"], &[]);
        state
    };
    check(&[with("b", Quality::Draft, 0), with("a", Quality::Draft, 1)], &["merge a into b: their bodies are equal"]);
    for quality in [Quality::Manual, Quality::Imported, Quality::Verified] {
        let kept = with("z", quality, 5);
        let plan = check(&[with("a", Quality::Draft, 0), kept.clone()], &["merge a into z: their bodies are equal"]);
        assert!(!plan.outcome().contains_key(&kept.skill.name), "not a byte of it changes");
        check(&[with("a", quality, 0), kept], &[]);
    }
    let held = SkillLife { hold: ProtectedBecause::Stands, ..with("z", Quality::Draft, 5) };
    check(&[held.clone(), with("a", Quality::Draft, 0)], &["merge a into z: their bodies are equal"]);
    check(&[SkillLife { hold: ProtectedBecause::Apart, ..held.clone() }, with("a", Quality::Draft, 0)], &[]);
    check(&[held.clone(), SkillLife { hold: ProtectedBecause::Stands, ..with("a", Quality::Draft, 0) }], &[]);
    // A usable draft is not replaced by one that awaits review.
    let mut tainted = with("z", Quality::Imported, 0);
    tainted.skill.provenance.trust = Trust::Tainted;
    check(&[with("a", Quality::Draft, 0), tainted], &[]);
}

#[test]
fn a_merge_may_lead_to_the_next() {
    let (a, c) = (draft("a", &["docker", "ci"], &["one"]), draft("c", &["cache", "layer"], &["one"]));
    check(&[a.clone(), c.clone()], &[]);
    let b = draft("b", &["docker", "ci", "cache", "layer"], &["one", "two"]);
    check(
        &[a, b, c],
        &[
            "merge b into a: their steps agree, and both are on ci, docker",
            "merge c into a: their steps agree, and both are on cache, layer",
        ],
    );
}

#[test]
fn a_waiting_draft_changes_no_shown_one_and_is_shown_after_a_second_session() {
    let waiting = |name: &str, steps: &[&str], session: &str| {
        let mut state = draft(name, &["docker", "ci"], steps);
        state.skill.provenance.sources = vec![session.to_owned()];
        SkillLife { waits: true, ..state }
    };
    let shown = draft("b", &["docker", "ci"], &["one"]);
    let plan = |states: &[SkillLife]| curate(states, at(0), &CurationConfig::default());
    assert!(plan(&[shown.clone(), waiting("a", &["one", "two"], "s")]).is_empty());
    let outcome = plan(&[waiting("a", &["one"], "s"), waiting("c", &["one", "two"], "t"), shown]);
    // The remaining one has two sessions as evidence: it is shown, and is therefore merged with the one that is shown.
    assert_eq!(outcome.steps.len(), 2, "{outcome:?}");
    let same = plan(&[
        waiting("a", &["one"], "s"),
        waiting("c", &["one", "two"], "s"),
        draft("b", &["docker", "ci"], &["one"]),
    ]);
    assert_eq!(same.steps.len(), 1, "{same:?}");
}

#[test]
fn drafts_made_of_lessons_merge_with_their_pitfalls_and_evidence() {
    use crate::lesson::Evidence;
    use crate::testing::lesson;
    let state = |name: &str, mistake: &str, quote: &str| {
        let mut lesson =
            lesson("building the docker image offline", "Run `docker build --network none .` in the root.");
        lesson.anti_pattern = mistake.into();
        lesson.domains = vec!["docker".into(), "image".into()];
        lesson.provenance.evidence = vec![Evidence { quote: quote.into(), turn: 0, range: (0, 1) }];
        let skill = Skill { name: name.parse().unwrap(), ..Skill::from_lessons([&lesson]).unwrap() };
        let hold = ProtectedBecause::None;
        SkillLife { skill, saved: Some(at(0)), last_used: None, is_skipped: false, hold, waits: false }
    };
    let plan = curate(
        &[state("a", "", "use no network"), state("b", "a plain build", "it is offline")],
        at(0),
        &CurationConfig::default(),
    );
    let outcome = plan.outcome();
    let merged = outcome.values().flatten().next().unwrap_or_else(|| panic!("{plan:?}"));
    assert_eq!(merged.name.as_str(), "a");
    assert!(merged.body.contains("## Common Pitfalls\n\n- a plain build\n\n## "), "{}", merged.body);
    assert!(merged.body.contains("\n\n> use no network\n\n> it is offline"), "{}", merged.body);
    assert_eq!(quality_gate(merged), Ok(()));
}

/// The steps for one draft of this age in days.
fn check_age(saved: Option<i64>, used: Option<i64>, quality: Quality, auto_prune: bool, expected: &[&str]) {
    let mut state = draft("a", &[], &["one"]);
    state.skill.quality = quality;
    state.saved = saved.map(|days| at(days * DAY));
    state.last_used = used.map(|days| at(days * DAY));
    let config = CurationConfig { auto_prune, ..CurationConfig::default() };
    let said: Vec<String> = curate(&[state], at(100 * DAY), &config).steps.iter().map(ToString::to_string).collect();
    assert_eq!(said, expected, "{saved:?} {used:?} {quality:?}");
}

#[test]
fn unused_drafts_are_marked_and_removed_only_when_asked() {
    const MARKED: &[&str] = &["mark a as stale: not used for 90 days"];
    const PRUNED: &[&str] = &["archive a: not used for 90 days"];
    check_age(Some(10), None, Quality::Draft, false, MARKED);
    check_age(Some(11), None, Quality::Draft, false, &[]);
    check_age(Some(0), Some(10), Quality::Draft, false, MARKED);
    check_age(Some(0), Some(11), Quality::Draft, false, &[]);
    check_age(None, Some(10), Quality::Draft, false, MARKED);
    check_age(None, None, Quality::Draft, false, &[]);
    check_age(Some(200), None, Quality::Draft, false, &[]);
    check_age(Some(10), None, Quality::Stale, false, &[]);
    check_age(Some(0), Some(99), Quality::Stale, false, &["revive a: it was used again"]);
    check_age(Some(10), None, Quality::Draft, true, PRUNED);
    check_age(Some(10), None, Quality::Stale, true, PRUNED);
    for quality in [Quality::Manual, Quality::Imported, Quality::Verified] {
        check_age(Some(0), None, quality, true, &[]);
    }
}

#[test]
fn skipped_drafts_are_removed() {
    let skipped = |quality, hold| {
        let mut state = SkillLife { is_skipped: true, hold, ..draft("a", &[], &["one"]) };
        state.skill.quality = quality;
        state
    };
    check(&[skipped(Quality::Draft, ProtectedBecause::None)], &["remove a: its suggestion was skipped"]);
    check(&[skipped(Quality::Manual, ProtectedBecause::None)], &[]);
    check(&[skipped(Quality::Draft, ProtectedBecause::Stands)], &[]);
}

fn check_gate(body: &str, expected: &[Shortcoming]) {
    let skill = Skill { body: body.to_owned(), ..Skill::new("a".parse().unwrap(), "d") };
    assert_eq!(quality_gate(&skill).err().unwrap_or_default(), expected, "{body}");
}

#[test]
fn the_gate_names_everything_that_is_missing() {
    use Shortcoming::{NoOverview, NoPitfalls, NothingConcrete, Short};
    let long = "word ".repeat(40);
    check_gate(&format!("## Overview\n{long}\n## Common Pitfalls\n- none\n## Step-by-Step\n1. run it once"), &[]);
    check_gate(&format!("# overview\n{long}\n### COMMON PITFALLS\nuse `ls`"), &[]);
    check_gate(&format!("# Overview\n{long}\n## Common Pitfalls\nnone\n```\nls\n```"), &[]);
    check_gate(
        &format!("# Overview\n{long}\n# Common Pitfalls\nnone\n# Step-by-Step\nrun it\n# Evidence\n`x`"),
        &[NothingConcrete],
    );
    check_gate("", &[NoOverview, NoPitfalls, Short { n_bytes: 0, min: 200 }, NothingConcrete]);
    check_gate(&format!("```\n## Overview\n## Common Pitfalls\n{long}\n```"), &[NoOverview, NoPitfalls]);
    check_gate(&format!("## Overview\n\n## Common Pitfalls\n{long} `` ` x"), &[NoOverview, NothingConcrete]);
    let exact = format!("# Overview\na\n# Common Pitfalls\n`b`\n{}", "x".repeat(200));
    check_gate(&exact[..200], &[]);
    check_gate(&exact[..199], &[Short { n_bytes: 199, min: 200 }]);
}

#[test]
fn a_run_saves_three_drafts_and_reports_the_others() {
    let suggested = |name: &str, step: &str| {
        let body = format!("{}{}", body(&[step], &["none"]), "word ".repeat(40));
        Skill { body, quality: Quality::Verified, auto_load: true, ..Skill::new(name.parse().unwrap(), "d") }
    };
    let short = Skill::new("short".parse().unwrap(), "d");
    let all = [
        short,
        suggested("copy", "known"),
        suggested("a", "1"),
        suggested("a", "2"),
        suggested("Known", "3"),
        suggested("a", "1"),
        suggested("b", "4"),
    ];
    let known = [suggested("known", "known")];
    let outcome = auto_save(all.clone(), &known, &AutoSaveConfig::default());
    let names: Vec<&str> = outcome.saved.iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(names, ["a", "a-2", "Known-2"]);
    assert!(outcome.saved.iter().all(|skill| skill.quality == Quality::Draft && !skill.auto_load));
    let declined: Vec<String> =
        outcome.declined.iter().map(|skill| format!("{}: {}", skill.name, skill.reason)).collect();
    assert_eq!(
        declined,
        [
            "short: it has no overview, it names no common pitfalls, its body has 0 bytes, it needs 200, it has neither a command nor a concrete rule",
            "copy: skill known says the same",
            "a: skill a says the same",
            "b: a run saves at most 3",
        ]
    );
    let off = auto_save(all, &known, &AutoSaveConfig { enabled: false, ..AutoSaveConfig::default() });
    assert!(off.saved.is_empty() && off.declined.iter().all(|skill| skill.reason == Declined::Off));
}

/// The states after a plan.
fn applied(states: &[SkillLife], plan: &CurationPlan) -> Vec<SkillLife> {
    let mut states = states.to_vec();
    for step in &plan.steps {
        if let CurationStep::Merge { kept, gone, .. } = step {
            let lost = states.iter().find(|state| state.skill.name == *gone).unwrap().clone();
            let state = states.iter_mut().find(|state| state.skill.name == *kept).unwrap();
            state.last_used = state.last_used.max(lost.last_used);
            state.saved = [state.saved, lost.saved].into_iter().flatten().min();
        }
    }
    let outcome = plan.outcome();
    states.retain(|state| !matches!(outcome.get(&state.skill.name), Some(None)));
    for state in &mut states {
        if let Some(Some(becomes)) = outcome.get(&state.skill.name) {
            state.skill = (*becomes).clone();
        }
    }
    states
}

fn any_state() -> impl Strategy<Value = SkillLife> {
    use Quality::{Draft, Imported, Manual, Stale, Verified};
    let words = |words: &[&'static str], n| {
        proptest::sample::subsequence(words.to_vec(), 0..=n)
            .prop_map(|words| words.into_iter().map(str::to_owned).collect::<Vec<_>>())
    };
    let quality = proptest::sample::select(vec![Draft, Draft, Draft, Draft, Stale, Imported, Manual, Verified]);
    let day = || proptest::option::weighted(0.8, 0_i64..200);
    let hold = proptest::sample::select(vec![
        ProtectedBecause::None,
        ProtectedBecause::None,
        ProtectedBecause::None,
        ProtectedBecause::None,
        ProtectedBecause::None,
        ProtectedBecause::None,
        ProtectedBecause::Stands,
        ProtectedBecause::Apart,
    ]);
    let flags = (proptest::bool::weighted(0.1), hold, proptest::bool::weighted(0.2));
    let texts = (words(&["docker", "ci", "cache"], 3), words(&["one", "two", "three"], 3), words(&["p", "q"], 2));
    (texts, quality, day(), day(), flags).prop_map(
        |((topics, steps, pitfalls), quality, saved, used, (is_skipped, hold, tainted))| {
            let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
            let pitfalls: Vec<&str> = pitfalls.iter().map(String::as_str).collect();
            let mut skill = Skill::new("x".parse().unwrap(), "d").with_triggers(topics, ["build"]);
            (skill.quality, skill.body) = (quality, body(&steps, &pitfalls));
            skill.provenance.trust = if tainted { Trust::Tainted } else { Trust::Trusted };
            let time = |days: Option<i64>| days.map(|days| at(days * DAY));
            SkillLife { skill, saved: time(saved), last_used: time(used), is_skipped, hold, waits: false }
        },
    )
}

fn any_states() -> impl Strategy<Value = Vec<SkillLife>> {
    proptest::collection::vec(any_state(), 0..12).prop_map(|mut states| {
        for (number, state) in states.iter_mut().enumerate() {
            state.skill.name = format!("s{number:02}").parse().unwrap();
        }
        states
    })
}

proptest! {
    #[test]
    fn curation_is_settled_after_one_run_and_leaves_people_s_skills_alone(states in any_states(), auto_prune in any::<bool>()) {
        let config = CurationConfig { auto_prune, ..CurationConfig::default() };
        let now = at(200 * DAY);
        let plan = curate(&states, now, &config);
        let mut turned = states.clone();
        turned.reverse();
        prop_assert_eq!(&curate(&turned, now, &config), &plan);

        let after = applied(&states, &plan);
        prop_assert_eq!(curate(&after, now, &config), CurationPlan::default(), "a second run does nothing");
        for state in &states {
            let is_free = matches!(state.skill.quality, Quality::Draft | Quality::Stale) && state.hold == ProtectedBecause::None;
            if !is_free {
                let kept = after.iter().find(|other| other.skill.name == state.skill.name);
                prop_assert_eq!(kept.map(|kept| &kept.skill), Some(&state.skill));
            }
        }
        // A skill is removed only for a reason, and a merge loses no steps.
        let there: BTreeSet<String> = after.iter().flat_map(|state| outline::steps(&state.skill.body)).collect();
        let merged = plan.steps.iter().filter_map(|step| match step { CurationStep::Merge { gone, .. } => Some(gone), _ => None });
        let gone_later: BTreeSet<&SkillName> = plan.steps.iter().filter_map(|step| match step {
            CurationStep::Prune { name, .. } => Some(name), _ => None }).collect();
        if gone_later.is_empty() {
            for name in merged {
                let lost = states.iter().find(|state| state.skill.name == *name).unwrap();
                prop_assert!(outline::steps(&lost.skill.body).iter().all(|step| there.contains(step)), "{}", name);
            }
        }
    }
}

#[test]
fn a_time_to_stale_is_counted_in_whole_days() {
    let state = draft("a", &[], &["one"]);
    let config = CurationConfig { staleness: Duration::from_hours(48), ..CurationConfig::default() };
    let steps = |now| curate(std::slice::from_ref(&state), now, &config).steps.len();
    assert_eq!([steps(at(2 * DAY) - TimeDelta::seconds(1)), steps(at(2 * DAY))], [0, 1]);
}
