//! Merging a lesson into one with the same advice (docs/spec/playbook.md, 3.4). Counts and marks of both are kept.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use chrono::{DateTime, FixedOffset};

use crate::config::{DedupPolicy, LearnConfig};
use crate::lesson::{Approval, Lesson, QUARANTINED, SCHEMA_VERSION, WaysIn};
use crate::lexical::terms;

/// The lesson that `existing` becomes when `incoming` is merged into it.
///
/// The text is taken whole, with all that vouches for it, from the lesson of higher rank: written by hand, then confirmed by a
/// person, then verified, then imported, then automatic. A verified mark is never transferred to another text. At equal rank the
/// newer solution is used with its pattern and code, unless it says less; the classic rule uses the longer one. A confirmed text is
/// replaced whole, and a promoted one is kept. Of what no person confirmed, a lesson that one did confirm takes only the counts.
///
/// The ways in of both are kept, and the other one's trigger becomes a situation; `is_near` says which texts mean the same.
pub(crate) fn merge(
    existing: &Lesson,
    incoming: &Lesson,
    now: DateTime<FixedOffset>,
    config: &LearnConfig,
    is_near: &dyn Fn(&str, &str) -> bool,
) -> Lesson {
    let mut merged = existing.clone();
    merged.schema_version = SCHEMA_VERSION;
    merge_text(&mut merged, existing, incoming, config);
    unite(&mut merged, existing, incoming, is_near);
    merged.keep_told_recovery();
    if merged.recovery.is_none() {
        merged.recovery.clone_from(&incoming.recovery);
        merged.keep_told_recovery();
    }
    add_counts(&mut merged, incoming);
    merged.verification_attempted |= incoming.verification_attempted;
    let near = united(&existing.near, &incoming.near);
    merged.near = near.into_iter().filter(|near| *near != existing.id).collect();
    merged.graduated |= incoming.graduated && incoming.approval() >= existing.approval();
    if incoming.approval() == Approval::Nobody && existing.approval() != Approval::Nobody {
        return merged;
    }
    merged.timestamp = now;
    for (key, value) in incoming.extra.iter().filter(|(key, _)| *key != QUARANTINED) {
        merged.extra.entry(key).or_insert_with(|| value.clone());
    }
    merged
}

/// Takes the text of the lesson that [`merge`] describes, what vouches for it, and the verified mark that belongs to it.
fn merge_text(merged: &mut Lesson, existing: &Lesson, incoming: &Lesson, config: &LearnConfig) {
    let is_same = existing.text_hash() == incoming.text_hash();
    let mut is_checked = incoming.verified && !existing.verified;
    let is_better = || is_better(incoming, existing, config.dedup);
    match rank(existing).cmp(&rank(incoming)) {
        Ordering::Greater => is_checked &= is_same,
        Ordering::Less => {
            merged.take_text(incoming);
            merged.verified &= incoming.verified || is_same;
        }
        Ordering::Equal if existing.is_promoted() => {}
        Ordering::Equal if existing.approval() == Approval::Confirmed => {
            if is_better() {
                merged.take_text(incoming);
            }
        }
        Ordering::Equal => combine(merged, incoming, is_better(), config.dedup),
    }
    merged.add_evidence_of(incoming);
    if is_checked {
        merged.verified = true;
        merged.confidence = (existing.confidence.max(incoming.confidence) + config.verified_bonus).min(1.0);
    }
}

/// Combines two texts that nobody confirmed, or that a person wrote both.
fn combine(merged: &mut Lesson, incoming: &Lesson, is_better: bool, dedup: DedupPolicy) {
    if is_better {
        merged.solution.clone_from(&incoming.solution);
        merged.correct_pattern.clone_from(&incoming.correct_pattern);
        if dedup == DedupPolicy::Classic || !incoming.code_example.trim().is_empty() {
            merged.code_example.clone_from(&incoming.code_example);
        }
    }
    if merged.anti_pattern.trim().is_empty() {
        merged.mistake.clone_from(&incoming.mistake);
        merged.anti_pattern.clone_from(&incoming.anti_pattern);
    }
}

/// Adds what decides when a lesson is shown, and its session, where a person has as much to do with both texts and confirmed none.
fn unite(merged: &mut Lesson, existing: &Lesson, incoming: &Lesson, is_near: &dyn Fn(&str, &str) -> bool) {
    let approval = existing.approval();
    if approval != incoming.approval() || approval == Approval::Confirmed {
        return;
    }
    merged.domains = united(&existing.domains, &incoming.domains);
    merged.paths = united(&existing.paths, &incoming.paths);
    merged.commands = united(&existing.commands, &incoming.commands);
    let others_trigger = WaysIn { situations: vec![incoming.trigger.clone()], ..WaysIn::default() };
    for ways in [&existing.ways_in, &incoming.ways_in, &others_trigger] {
        let trigger = merged.trigger.clone();
        merged.ways_in.add(ways, &trigger, is_near);
    }
    if merged.provenance.session.is_empty() {
        merged.provenance.session.clone_from(&incoming.provenance.session);
    }
}

fn add_counts(merged: &mut Lesson, incoming: &Lesson) {
    merged.frequency = merged.frequency.saturating_add(incoming.frequency);
    merged.retrievals = merged.retrievals.saturating_add(incoming.retrievals);
    merged.helpful_retrievals = merged.helpful_retrievals.saturating_add(incoming.helpful_retrievals);
    merged.harmful_retrievals = merged.harmful_retrievals.saturating_add(incoming.harmful_retrievals);
    merged.settled_retrievals = merged.settled_retrievals.saturating_add(incoming.settled_retrievals);
    merged.last_retrieved_at = merged.last_retrieved_at.max(incoming.last_retrieved_at);
    merged.last_credited_at = merged.last_credited_at.max(incoming.last_credited_at);
}

/// The rank of a text: what a person has to do with it, then whether it is verified, then whether it is imported.
fn rank(lesson: &Lesson) -> (Approval, bool, bool) {
    (lesson.approval(), lesson.verified, !lesson.provenance.origin.is_automatic())
}

fn is_better(incoming: &Lesson, existing: &Lesson, dedup: DedupPolicy) -> bool {
    match dedup {
        DedupPolicy::Classic => solution_length(incoming) > solution_length(existing),
        _ => incoming.timestamp >= existing.timestamp && !says_less(incoming, existing),
    }
}

/// True if the first advice has clearly fewer words than the second.
fn says_less(incoming: &Lesson, existing: &Lesson) -> bool {
    const MOST: f64 = 0.75;
    let n_words = |lesson: &Lesson| {
        let texts = [&lesson.solution, &lesson.correct_pattern, &lesson.code_example];
        texts.into_iter().flat_map(|text| terms(text)).collect::<BTreeSet<_>>().len() as f64
    };
    n_words(incoming) < MOST * n_words(existing)
}

fn solution_length(lesson: &Lesson) -> (usize, usize) {
    (lesson.solution.chars().count(), lesson.correct_pattern.chars().count())
}

fn united<T: Ord + Clone>(ours: &[T], theirs: &[T]) -> Vec<T> {
    ours.iter().chain(theirs).cloned().collect::<BTreeSet<T>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::lesson::{Evidence, Origin};
    use crate::testing::{at, lesson};

    fn merged(existing: &Lesson, incoming: &Lesson) -> Lesson {
        merge(existing, incoming, at(60), &LearnConfig::default(), &|_, _| false)
    }

    fn verified(lesson: Lesson) -> Lesson {
        Lesson { verified: true, ..lesson }
    }

    #[test]
    fn counts_add_up_and_domains_unite() {
        let existing = Lesson { domains: vec!["b".into(), "a".into()], retrievals: 4, ..lesson("t", "short") };
        let incoming = Lesson { domains: vec!["c".into(), "a".into()], frequency: 2, ..lesson("other t", "short") };
        let merged = merged(&existing, &incoming);
        assert_eq!(merged.frequency, 3);
        assert_eq!(merged.domains, ["a", "b", "c"]);
        assert_eq!((merged.retrievals, merged.timestamp, merged.id), (4, at(60), existing.id));
        assert_eq!(merged.trigger, "t");
        assert!((merged.confidence - 0.5).abs() < 1e-12);
    }

    #[test]
    fn the_other_trigger_and_its_ways_lead_to_the_merged_lesson() {
        let mut incoming = lesson("rolling out the shop", "s");
        incoming.ways_in =
            WaysIn { names: vec!["k8s".into()], situations: vec!["put it online".into()], ..WaysIn::default() };
        let result = merged(&lesson("deploying", "s"), &incoming);
        assert_eq!(result.ways_in.names, ["k8s"]);
        assert_eq!(result.ways_in.situations, ["put it online", "rolling out the shop"]);
        let near = merge(&lesson("deploying", "s"), &incoming, at(60), &LearnConfig::default(), &|_, _| true);
        assert!(near.ways_in.situations.is_empty(), "what means the same is not added");
    }

    #[test]
    fn only_a_person_changes_when_a_lesson_by_hand_is_shown() {
        let by_hand = Lesson { domains: vec!["a".into()], retrievals: 1, ..lesson("t", "s") };
        let mut other = Lesson { domains: vec!["evil".into()], frequency: 2, graduated: true, ..lesson("t", "s") };
        (other.paths, other.commands) = (vec!["src/evil".into()], vec!["evil run".into()]);
        for origin in [Origin::Program, Origin::Mined, Origin::Imported] {
            other.provenance.origin = origin;
            let merged = merged(&by_hand, &other);
            assert_eq!(merged.domains, by_hand.domains, "{origin:?}");
            assert!(merged.paths.is_empty() && merged.commands.is_empty(), "{origin:?}");
            assert_eq!((merged.graduated, merged.shown_hash()), (false, by_hand.shown_hash()), "{origin:?}");
            assert_eq!(merged.frequency, by_hand.frequency + 2, "{origin:?}");
            // What no person wrote may change.
            let mut automatic = by_hand.clone();
            automatic.provenance.origin = Origin::Program;
            assert_eq!(self::merged(&automatic, &other).domains, ["a", "evil"], "{origin:?}");
        }
        other.provenance.origin = Origin::Hand;
        let merged = self::merged(&by_hand, &other);
        assert!(merged.graduated && merged.domains.len() == 2 && merged.paths.len() == 1 && merged.commands.len() == 1);
    }

    fn quoted(mut lesson: Lesson, said: &str) -> Lesson {
        lesson.provenance.origin = Origin::Mined;
        lesson.provenance.evidence = vec![Evidence { quote: said.into(), turn: 2, range: (0, said.len()) }];
        lesson.bind_evidence();
        lesson
    }

    fn promoted(mut lesson: Lesson) -> Lesson {
        lesson.provenance.origin = Origin::Program;
        lesson.provenance.promoted = Some(lesson.shown_hash());
        lesson
    }

    #[test]
    fn what_nobody_confirmed_adds_only_counts_to_what_a_person_did() {
        let rule = || Lesson { paths: vec!["src/**".into()], ..lesson("pushing a branch", "Rebase it first.") };
        let existing = [rule(), quoted(rule(), "always rebase before you push"), promoted(rule())];
        let mut incoming =
            Lesson { verified: true, graduated: true, timestamp: at(50), ..lesson("pushing", "Force it.") };
        (incoming.domains, incoming.commands) = (vec!["git".into()], vec!["git push*".into()]);
        (incoming.mistake, incoming.anti_pattern) = ("slow".into(), "slow".into());
        incoming.code_example = "git push -f".into();
        incoming.extra.extend([("mood".to_owned(), 1.into()), ("quarantined".to_owned(), true.into())]);
        for existing in existing {
            for origin in [Origin::Program, Origin::SelfPlay, Origin::Mined, Origin::Imported] {
                incoming.provenance.origin = origin;
                incoming.provenance.session = "another".into();
                let result = merged(&existing, &incoming);
                let counted = Lesson { frequency: 2, verification_attempted: false, ..existing.clone() };
                assert_eq!(result, counted, "{origin:?} into {:?}", existing.provenance);
            }
        }
    }

    #[test]
    fn a_confirmed_text_replaces_another_whole_and_brings_its_own_evidence() {
        let program = |mut lesson: Lesson| {
            lesson.provenance.origin = Origin::Program;
            Lesson { verified: true, paths: vec!["evil/**".into()], source: "agent".into(), ..lesson }
        };
        let said = quoted(lesson("pushing", "Rebase first."), "always rebase");
        let result = merged(&program(lesson("pushing", "Force it, that is faster.")), &said);
        assert_eq!((result.shown_hash(), result.evidence().len(), result.verified), (said.shown_hash(), 1, false));
        let later = quoted(lesson("pushing a branch", "Merge main first."), "no, merge main");
        let result = merged(&said, &later);
        assert_eq!((result.shown_hash(), &result.provenance), (later.shown_hash(), &later.provenance));
        // What says less than before is only counted.
        let shorter = quoted(lesson("pushing", "Rebase."), "rebase!");
        assert_eq!((merged(&later, &shorter).evidence(), merged(&later, &shorter).frequency), (later.evidence(), 2));
        // What a person wrote replaces all of it; their earlier words were about another text.
        let by_hand = lesson("pushing", "Squash.");
        assert_eq!(merged(&said, &by_hand).provenance, by_hand.provenance);
    }

    #[test]
    fn at_equal_rank_the_newer_solution_is_used_unless_it_says_less() {
        let existing = Lesson { code_example: "x".into(), ..lesson("t", "tag the commit, then push it") };
        let reworded = lesson("t2", "tag the commit before the push");
        let result = merged(&existing, &reworded);
        assert_eq!((result.solution.as_str(), result.code_example.as_str()), ("tag the commit before the push", "x"));
        assert_eq!(merged(&existing, &lesson("t", "tag it")).solution, existing.solution);
        let older = Lesson { timestamp: at(-1), ..reworded };
        assert_eq!(merged(&existing, &older).solution, existing.solution);
        assert_eq!(merged(&verified(lesson("t", "ab")), &verified(lesson("t", "longer"))).solution, "longer");
    }

    #[test]
    fn the_classic_rule_keeps_the_longer_solution_with_pattern_and_code() {
        let merged = |existing: &Lesson, incoming: &Lesson| {
            merge(existing, incoming, at(60), &Config::classic().learn, &|_, _| false)
        };
        let long = Lesson { code_example: "x".into(), ..lesson("t2", "a longer solution") };
        let result = merged(&lesson("t", "short"), &long);
        assert_eq!((result.solution.as_str(), result.code_example.as_str()), ("a longer solution", "x"));
        assert_eq!(merged(&long, &lesson("t", "short")).solution, "a longer solution");
        // The same length: the existing solution is kept.
        assert_eq!(merged(&lesson("t", "abcde"), &lesson("t", "vwxyz")).solution, "abcde");
    }

    #[test]
    fn a_verified_text_is_used_and_its_mark_is_never_transferred() {
        let wrong = lesson("t", "a long, wrong, unverified text");
        let right = verified(lesson("t2", "right"));
        let result = merged(&wrong, &right);
        assert!(result.verified);
        assert_eq!((result.trigger.as_str(), result.solution.as_str()), ("t2", "right"));
        assert!((result.confidence - 0.7).abs() < 1e-12);

        let result = merged(&right, &wrong);
        assert!(result.verified);
        assert_eq!((result.solution.as_str(), result.frequency), ("right", 2));
        assert!((result.confidence - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_promoted_text_is_kept_unchanged_until_another_replaces_it_whole() {
        let mut promoted = Lesson { domains: vec!["a".into()], ..lesson("t", "s") };
        promoted.provenance.origin = Origin::Mined;
        promoted.provenance.promoted = Some(promoted.shown_hash());
        let mut longer = Lesson { domains: vec!["b".into()], mistake: "m".into(), ..lesson("t", "a longer text") };
        longer.provenance.origin = Origin::Mined;
        let kept = merged(&promoted, &longer);
        assert!(kept.is_promoted());
        assert_eq!((kept.solution.as_str(), kept.frequency), ("s", 2));
        longer.provenance.origin = Origin::Hand;
        let replaced = merged(&promoted, &longer);
        assert!(replaced.is_admitted() && !replaced.is_promoted());
        assert_eq!((replaced.solution.as_str(), &replaced.domains), ("a longer text", &longer.domains));
    }

    #[test]
    fn a_verified_text_of_a_program_neither_replaces_nor_marks_one_by_hand() {
        let mut program = verified(lesson("t2", "a longer text of a program"));
        program.provenance.origin = Origin::Program;
        let result = merged(&lesson("t", "by hand"), &program);
        assert_eq!((result.solution.as_str(), result.verified, result.is_by_hand()), ("by hand", false, true));
        let result = merged(&program, &lesson("t", "by hand"));
        assert_eq!((result.solution.as_str(), result.verified, result.is_by_hand()), ("by hand", false, true));
        // The same text: the check applied to it.
        let same = Lesson { verified: true, provenance: program.provenance.clone(), ..lesson("t", "by hand") };
        assert!(merged(&lesson("t", "by hand"), &same).verified);
        assert!(merged(&same, &lesson("t", "by hand")).verified);
    }

    #[test]
    fn becoming_verified_raises_confidence_to_one_at_most() {
        let sure = Lesson { confidence: 0.9, ..lesson("t", "s") };
        assert!((merged(&sure, &verified(lesson("t", "s"))).confidence - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_missing_mistake_is_filled_in_and_unknown_keys_are_kept() {
        let mut incoming = lesson("t", "s");
        incoming.anti_pattern = "guessing".into();
        incoming.extra.insert("k".into(), 1.into());
        let result = merged(&lesson("t", "s"), &incoming);
        assert_eq!(result.anti_pattern, "guessing");
        assert_eq!(result.extra.get("k"), Some(&1.into()));
    }

    #[test]
    fn marks_links_and_evidence_add_up() {
        let existing = Lesson { near: vec![lesson("x", "s").id], ..lesson("t", "s") };
        let mut incoming = Lesson { verification_attempted: true, graduated: true, ..lesson("t", "s") };
        incoming.near = vec![lesson("y", "s").id, existing.id];
        incoming.provenance.session = "of the newcomer".into();
        let result = merged(&existing, &incoming);
        assert!(result.verification_attempted && result.graduated);
        assert_eq!(result.near.len(), 2);
        assert!(!result.near.contains(&existing.id));
        assert_eq!(result.provenance.session, "of the newcomer");
        let back = merged(&incoming, &existing);
        assert!(back.verification_attempted && back.graduated);
        assert_eq!(back.provenance.session, "of the newcomer");
        let evidence = Evidence { quote: "no, ask first".into(), turn: 2, range: (0, 13) };
        incoming.provenance.evidence = vec![evidence.clone()];
        let once = merged(&existing, &incoming);
        assert_eq!(merged(&once, &incoming).provenance.evidence, [evidence]);
    }

    #[test]
    fn a_mined_lesson_that_a_person_repeats_becomes_theirs() {
        let mut mined = lesson("t", "s");
        (mined.provenance.origin, mined.source) = (Origin::Mined, "mined".into());
        assert_eq!(merged(&mined, &lesson("t", "s")).source, "");
        assert_eq!(merged(&mined, &lesson("t", "s")).provenance.origin, Origin::Hand);
        assert_eq!(merged(&lesson("t", "s"), &mined).provenance.origin, Origin::Hand);
        mined.solution = "a longer text that no person wrote".into();
        assert_eq!(merged(&lesson("t", "s"), &mined).solution, "s");
        assert_eq!(merged(&mined, &lesson("t", "s")).solution, "s");
    }
}
