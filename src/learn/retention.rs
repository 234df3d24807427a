//! Eviction of lessons from a full realm (docs/spec/playbook.md, 3.6).

use crate::config::RetentionConfig;
use crate::lesson::{Backing, Lesson, LessonId};
use crate::state::{Book, Rank, Ranking};

/// The result of a trim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trim {
    /// These lessons are evicted; possibly none.
    Evict(Vec<LessonId>),
    /// Lessons with a higher backing would have to be evicted.
    NoRoomForHead,
}

/// The lessons of the head's realm that are evicted so that the realm fits its capacity.
///
/// The head is always kept; then lessons by hand; of either kind, verified lessons, then the others by utility. Ties are broken by id:
/// the later one is kept. If there are too many verified lessons, those with the least utility are evicted. Only lessons
/// with at most `backing` are evicted: what a person wrote is never evicted for anything else. Of lessons by hand, at most one
/// is evicted for a new lesson and none for a merge: a realm filled under a larger capacity keeps the rest.
pub(crate) fn trim(book: &Book, ranking: &Ranking, head: &Lesson, backing: Backing, config: &RetentionConfig) -> Trim {
    let ranks = ranking.of(&head.realm);
    let is_known = ranks.is_some_and(|ranks| ranks.has(&ranking.rank(head), head));
    let n_others = ranks.map_or(0, |ranks| ranks.len() - usize::from(is_known));
    let excess = (n_others + 1).saturating_sub(config.capacity);
    let Some(ranks) = ranks.filter(|_| excess > 0) else { return Trim::Evict(Vec::new()) };
    let victims: Vec<LessonId> = if ranking.ages() {
        let recalls = book.recalls(&head.realm);
        let others = ranks.in_any_order(backing).filter(|(_, rank)| rank.id != head.id);
        let kept_last = |kind: Backing, rank: &Rank| (kind == Backing::ByHand, rank.verified);
        let mut aged: Vec<_> =
            others.map(|(kind, rank)| (kept_last(kind, rank), rank.aged(recalls), rank.id)).collect();
        let by_worth = |a: &((bool, bool), f64, LessonId), b: &((bool, bool), f64, LessonId)| {
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2))
        };
        // Only the lessons with the least utility have to be sorted.
        if excess < aged.len() {
            aged.select_nth_unstable_by(excess, by_worth);
            aged.truncate(excess);
        }
        aged.sort_by(by_worth);
        aged.into_iter().map(|(_, _, id)| id).collect()
    } else {
        ranks.up_to(backing).map(|rank| rank.id).filter(|id| *id != head.id).take(excess).collect()
    };
    if victims.len() < excess {
        return Trim::NoRoomForHead;
    }
    let is_by_hand = |id: LessonId| book.get(id).is_some_and(|lesson| lesson.backing() == Backing::ByHand);
    let mut n_by_hand_left = usize::from(!is_known);
    let is_evicted = |id: &LessonId| {
        let has_place = !is_by_hand(*id) || n_by_hand_left > 0;
        n_by_hand_left -= usize::from(has_place && is_by_hand(*id));
        has_place
    };
    Trim::Evict(victims.into_iter().filter(is_evicted).collect())
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::config::{FeedbackConfig, UtilityPolicy};
    use crate::lesson::{Origin, Realm};
    use crate::state::utility;
    use crate::testing::{at, lesson};
    use proptest::prelude::*;

    pub(in crate::learn) fn standard() -> RetentionConfig {
        RetentionConfig { utility: UtilityPolicy::Standard, ..RetentionConfig::default() }
    }

    pub(in crate::learn) fn book(lessons: impl IntoIterator<Item = Lesson>) -> Book {
        let mut book = Book::default();
        lessons.into_iter().for_each(|lesson| book.put(lesson));
        book
    }

    pub(in crate::learn) fn sure(trigger: &str, confidence: f64) -> Lesson {
        Lesson { confidence, ..lesson(trigger, "s") }
    }

    fn verified(trigger: &str, confidence: f64) -> Lesson {
        Lesson { verified: true, ..sure(trigger, confidence) }
    }

    pub(in crate::learn) fn mined(trigger: &str, confidence: f64) -> Lesson {
        let mut lesson = sure(trigger, confidence);
        lesson.provenance.origin = Origin::Mined;
        lesson
    }

    /// Checks which triggers are evicted after `head` was learned.
    fn check(capacity: usize, head: &Lesson, others: &[Lesson], expected: Option<&[&str]>) {
        let book = book(others.iter().cloned().chain([head.clone()]));
        let config = RetentionConfig { capacity, ..standard() };
        let mut ranking = Ranking::new(config.utility);
        for lesson in book.lessons.iter().filter(|lesson| lesson.id != head.id) {
            ranking.enter(lesson);
        }
        let evicted = match trim(&book, &ranking, head, head.backing(), &config) {
            Trim::Evict(ids) => Some(ids.iter().map(|id| book.get(*id).unwrap().trigger.clone()).collect::<Vec<_>>()),
            Trim::NoRoomForHead => None,
        };
        assert_eq!(
            evicted.as_deref().map(|gone| gone.iter().map(String::as_str).collect::<Vec<_>>()).as_deref(),
            expected
        );
    }

    #[test]
    fn the_head_is_kept_then_verified_lessons_then_the_most_useful() {
        let others = [sure("low", 0.1), sure("high", 0.9), verified("verified", 0.0)];
        check(4, &sure("head", 0.0), &others, Some(&[]));
        check(3, &sure("head", 0.0), &others, Some(&["low"]));
        let others = [mined("low", 0.1), mined("high", 0.9), verified("verified", 0.0)];
        check(2, &sure("head", 0.0), &others, Some(&["low", "high"]));
        check(1, &sure("head", 0.0), &others, Some(&["low", "high", "verified"]));
    }

    #[test]
    fn of_lessons_by_hand_a_new_lesson_evicts_one_at_most() {
        let others = [sure("low", 0.1), mined("mined", 0.2), sure("high", 0.9), verified("verified", 0.0)];
        check(1, &sure("head", 0.0), &others, Some(&["mined", "low"]));
    }

    #[test]
    fn a_lesson_by_hand_makes_room_at_the_expense_of_automatic_ones_first() {
        let proven = Lesson { verified: true, ..mined("proven", 0.9) };
        let others = [sure("hand", 0.0), mined("mined", 0.9), proven.clone()];
        check(3, &sure("head", 0.0), &others, Some(&["mined"]));
        check(2, &sure("head", 0.0), &others, Some(&["mined", "proven"]));
        check(2, &sure("head", 0.0), &[sure("hand", 0.0), proven], Some(&["proven"]));
        check(2, &sure("head", 0.0), &[sure("hand", 0.0), sure("better", 0.5)], Some(&["hand"]));
    }

    /// A reference implementation of a trim: examine all others, sort, take.
    fn naive_trim(book: &Book, head: &Lesson, max_by_hand: usize, config: &RetentionConfig) -> Trim {
        let others: Vec<&Arc<Lesson>> =
            book.lessons.iter().filter(|lesson| lesson.realm == head.realm && lesson.id != head.id).collect();
        let excess = (others.len() + 1).saturating_sub(config.capacity);
        if excess == 0 {
            return Trim::Evict(Vec::new());
        }
        let mut victims: Vec<((bool, bool), f64, LessonId)> = others
            .into_iter()
            .filter(|lesson| lesson.backing() <= head.backing())
            .map(|lesson| {
                let kept_last = (lesson.backing() == Backing::ByHand, lesson.verified);
                (kept_last, utility::under(config.utility, lesson, book.recalls(&lesson.realm)), lesson.id)
            })
            .collect();
        if victims.len() < excess {
            return Trim::NoRoomForHead;
        }
        victims.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        let mut n_by_hand = 0;
        let victims = victims.into_iter().take(excess).map(|(_, _, id)| id).filter(|id| {
            let is_by_hand = book.get(*id).unwrap().backing() == Backing::ByHand;
            n_by_hand += usize::from(is_by_hand);
            !is_by_hand || n_by_hand <= max_by_hand
        });
        Trim::Evict(victims.collect())
    }

    fn any_lesson() -> impl Strategy<Value = (u8, bool, u8, bool, u64, u64)> {
        (0..5_u8, any::<bool>(), 0..3_u8, prop::bool::weighted(0.1), 0..8_u64, 0..3_u64)
    }

    fn of(
        number: usize,
        (sure, is_mined, proven, is_elsewhere, shown, helped): (u8, bool, u8, bool, u64, u64),
    ) -> Lesson {
        let trigger = format!("lesson {number}");
        let mut lesson = if is_mined { mined(&trigger, f64::from(sure) / 4.0) } else { sure_of(&trigger, sure) };
        (lesson.verified, lesson.retrievals, lesson.helpful_retrievals) = (proven == 0, shown, helped.min(shown));
        lesson.shown_at_recall = shown;
        if is_elsewhere {
            lesson.realm.project = "elsewhere".into();
        }
        lesson
    }

    fn sure_of(trigger: &str, quarters: u8) -> Lesson {
        sure(trigger, f64::from(quarters) / 4.0)
    }

    proptest! {
        /// Every lesson is tried as the head, whether it is in the ranking already or not.
        #[test]
        fn a_trim_evicts_the_same_lessons_as_the_naive_one(
            lessons in prop::collection::vec(any_lesson(), 1..14),
            capacity in 1_usize..12,
            recalls in 0..9_u64,
            policy in prop::sample::select(vec![UtilityPolicy::Aging, UtilityPolicy::Standard]),
        ) {
            let lessons: Vec<Lesson> =
                lessons.into_iter().enumerate().map(|(number, lesson)| of(number, lesson)).collect();
            let config = RetentionConfig { capacity, utility: policy, ..RetentionConfig::default() };
            let mut book = book(lessons.iter().cloned());
            book.recalls.insert(Realm::default(), recalls);
            let mut ranking = Ranking::new(config.utility);
            for lesson in &lessons {
                ranking.enter(lesson);
            }
            for head in &lessons {
                let of = |max_by_hand| naive_trim(&book, head, max_by_hand, &config);
                prop_assert_eq!(&trim(&book, &ranking, head, head.backing(), &config), &of(0));
                ranking.leave(head);
                prop_assert_eq!(&trim(&book, &ranking, head, head.backing(), &config), &of(1));
                ranking.enter(head);
            }
        }
    }

    #[test]
    fn a_changing_policy_does_not_leave_stale_ranks() {
        static TURN: AtomicU64 = AtomicU64::new(0);
        let policy = UtilityPolicy::Custom(|_| TURN.fetch_add(1, Ordering::Relaxed) as f64);
        let mut ranking = Ranking::new(policy);
        let lessons = [sure("a", 0.1), sure("b", 0.2), mined("c", 0.3)];
        for lesson in &lessons {
            ranking.enter(lesson);
        }
        for lesson in &lessons {
            ranking.leave(lesson);
        }
        assert!(ranking.contents().0.is_empty());
    }

    #[test]
    fn at_equal_utility_the_older_lessons_are_evicted_first() {
        let aged = |trigger: &str, seconds: i64| {
            let mut lesson = sure(trigger, 0.5);
            lesson.id = LessonId::at(at(seconds), lesson.text_hash());
            lesson
        };
        check(2, &aged("head", 9), &[aged("old", 1), aged("new", 5)], Some(&["old"]));
    }

    #[test]
    fn when_verified_lessons_exceed_the_capacity_the_least_useful_are_evicted() {
        let proven = |trigger: &str, confidence| Lesson { verified: true, ..mined(trigger, confidence) };
        let others = [proven("a", 0.3), proven("b", 0.1), proven("c", 0.2)];
        check(2, &sure("head", 0.0), &others, Some(&["b", "c"]));
    }

    #[test]
    fn an_automatic_head_evicts_only_automatic_lessons() {
        let others = [sure("hand", 0.0), mined("mined", 0.9)];
        check(2, &mined("head", 0.5), &others, Some(&["mined"]));
        check(2, &mined("head", 0.5), &[sure("hand", 0.0), sure("hand 2", 0.0)], None);
        check(1, &mined("head", 0.5), &others, None);
        let proven = Lesson { verified: true, ..mined("proven head", 0.5) };
        check(2, &proven, &[sure("hand", 0.0), verified("v", 0.0)], None);
        check(2, &proven, &[sure("hand", 0.0), mined("mined", 0.9)], Some(&["mined"]));
        let checked = Lesson { verified: true, ..mined("checked", 0.1) };
        check(2, &proven, &[sure("hand", 0.0), checked.clone()], Some(&["checked"]));
        check(2, &mined("head", 0.5), &[sure("hand", 0.0), checked], None);
    }

    #[test]
    fn realms_do_not_evict_each_others_lessons() {
        let mut elsewhere = sure("elsewhere", 0.0);
        elsewhere.realm.project = "p".into();
        check(1, &sure("head", 0.5), &[elsewhere], Some(&[]));
    }

    #[test]
    fn by_default_the_least_used_is_evicted_and_a_retrieval_keeps_a_lesson() {
        let aged = |trigger: &str, shown_at_recall: u64, helpful_retrievals: u64| Lesson {
            retrievals: 2,
            helpful_retrievals,
            shown_at_recall,
            ..mined(trigger, 0.9)
        };
        let (head, stale, used) = (sure("head", 0.0), aged("stale", 1, 0), aged("used", 9, 0));
        let mut book = book([head.clone(), stale, used, aged("helpful", 1, 2)]);
        book.recalls.insert(Realm::default(), 9);
        let config = RetentionConfig { capacity: 2, ..RetentionConfig::default() };
        let mut ranking = Ranking::new(config.utility);
        book.lessons.iter().for_each(|lesson| ranking.enter(lesson));
        let Trim::Evict(ids) = trim(&book, &ranking, &head, head.backing(), &config) else { panic!() };
        let evicted: Vec<&str> = ids.iter().map(|id| book.get(*id).unwrap().trigger.as_str()).collect();
        assert_eq!(evicted, ["stale", "helpful"]);
    }

    proptest! {
        #[test]
        fn a_neutral_outcome_does_not_change_the_order(shown in 0..9_u64, helpful in 0..3_u64, harmful in 0..3_u64, at_recall in 0..9_u64) {
            let lesson = Lesson {
                retrievals: shown, helpful_retrievals: helpful, harmful_retrievals: harmful, shown_at_recall: at_recall,
                ..sure("t", 0.5)
            };
            let mut settled = lesson.clone();
            crate::learn::feedback::count_outcome(&mut settled, crate::learn::Feedback::Neutral, at(1), &FeedbackConfig::default());
            let value = |lesson: &Lesson| utility::under(UtilityPolicy::Aging, lesson, 9);
            prop_assert_eq!(value(&lesson).to_bits(), value(&settled).to_bits());
            prop_assert_eq!(settled.settled_retrievals, lesson.settled_retrievals + 1);
        }
    }
}
