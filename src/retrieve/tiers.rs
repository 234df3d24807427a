//! The three tiers: vectors, words and recency.

use std::collections::BTreeSet;
use std::sync::Arc;

use adage_index::{IndexKind, UnitVector};

use super::calibration::Strongest;
use super::render::shown_tokens;
use super::{NoMatchReason, Scored, Tier};
use crate::config::RetrievalConfig;
use crate::lesson::{Lesson, LessonId, Realm};
use crate::lexical::{self, content_words};
use crate::state::{LessonVectors, Near, RecallIndex};

/// A ranked lesson.
#[derive(Clone, Debug)]
pub(crate) struct Hit {
    pub(crate) lesson: Arc<Lesson>,
    pub(crate) distance: Option<f32>,
    pub(crate) score: Option<f32>,
    pub(crate) probability: Option<f32>,
    /// The pattern that it is shown for.
    pub(crate) matched: Option<String>,
    /// A contradicting lesson that prevails.
    pub(crate) contradicted_by: Option<Arc<Lesson>>,
}

impl Hit {
    /// A lesson that is shown for another reason than its score.
    pub(crate) fn of(lesson: Arc<Lesson>) -> Self {
        Self { lesson, distance: None, score: None, probability: None, matched: None, contradicted_by: None }
    }
}

/// The result of a tier.
#[derive(Clone, Debug)]
pub(crate) struct Ranked {
    pub(crate) tier: Tier,
    /// The index that searched the vectors, if there were vectors.
    pub(crate) index: Option<IndexKind>,
    pub(crate) hits: Vec<Hit>,
    pub(crate) none_because: Option<NoMatchReason>,
    /// The strongest signals of an answer; none under the classic rule and for recency.
    pub(crate) strongest: Option<Strongest>,
    pub(crate) considered: Vec<Scored>,
}

impl Ranked {
    /// These lessons, in this order.
    pub(crate) fn of(tier: Tier, hits: Vec<Hit>) -> Self {
        Self { tier, index: None, hits, none_because: None, strongest: None, considered: Vec::new() }
    }

    /// The lessons of several parts of one request, each once, by the probability that it answers its best part. Where none is shown, the
    /// part that came nearest says why.
    pub(crate) fn best_of(parts: Vec<Self>) -> Option<Self> {
        let nearest = |part: &Self| match part.none_because {
            Some(NoMatchReason::Unlikely { probability, .. }) => probability,
            _ => part.hits.first().and_then(|hit| hit.probability).unwrap_or_default(),
        };
        let hits = parts.iter().flat_map(|part| &part.hits).cloned();
        let mut hits: Vec<Hit> = hits.collect();
        hits.sort_by(|one, other| {
            other.probability.unwrap_or_default().total_cmp(&one.probability.unwrap_or_default())
        });
        let mut met = BTreeSet::new();
        hits.retain(|hit| met.insert(hit.lesson.id));
        let best = parts.into_iter().max_by(|one, other| {
            one.hits.is_empty().cmp(&other.hits.is_empty()).reverse().then(nearest(one).total_cmp(&nearest(other)))
        })?;
        Some(Self { hits, ..best })
    }
}

/// The parameters of a request for a tier.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a> {
    pub(crate) recall: &'a RecallIndex,
    pub(crate) realm: &'a Realm,
    pub(crate) limit: usize,
    /// Whether every candidate is listed.
    pub(crate) is_explained: bool,
    pub(crate) config: &'a RetrievalConfig,
    /// The number of parts of the request, of which this is one.
    pub(crate) n_units: usize,
    /// Lessons that are ranked after others of equal score.
    pub(crate) later: &'a BTreeSet<LessonId>,
}

/// The vector that triggers are compared with.
#[derive(Clone, Copy)]
pub(crate) struct VectorQuery<'a> {
    pub(crate) text: &'a str,
    pub(crate) vector: &'a UnitVector,
    /// A trigger must be nearer than this.
    pub(crate) threshold: f32,
}

impl Search<'_> {
    /// The key that breaks ties between equal scores.
    pub(super) fn tie(&self, id: LessonId) -> (bool, LessonId) {
        (self.later.contains(&id), id)
    }

    /// The nearest triggers (tier 1, classic rule). A lesson without a vector is not found.
    pub(crate) fn by_vector(self, triggers: &LessonVectors, query: VectorQuery<'_>) -> Ranked {
        let n_neighbours = self.limit.saturating_mul(2).max(self.config.min_neighbours);
        let (nearest, by) = triggers.nearest(self.realm, query.vector, n_neighbours);
        let words: BTreeSet<String> = content_words(query.text).collect();
        let threshold = query.threshold;
        let mut considered: Vec<Scored> =
            nearest.iter().filter_map(|near| self.score(*near, &words, threshold)).collect();
        considered.sort_by(|a, b| b.score.total_cmp(&a.score).then(self.tie(a.id).cmp(&self.tie(b.id))));
        let none_because = match nearest.first() {
            None => Some(NoMatchReason::NoLessons),
            Some(first) if !considered.iter().any(|considered| considered.passed) => {
                Some(NoMatchReason::NothingNear { nearest: first.distance, threshold })
            }
            Some(_) => None,
        };
        Ranked { index: Some(by), ..self.rank(Tier::Vector, considered, none_because) }
    }

    fn score(self, near: Near, words: &BTreeSet<String>, threshold: f32) -> Option<Scored> {
        let lesson = self.recall.book.get(near.id)?;
        let overlap = overlap(words, &lesson.trigger);
        let is_rescued = || {
            self.config.domain_distance.is_some_and(|far| near.distance < far) && names_domain(words, &lesson.domains)
        };
        Some(Scored {
            id: lesson.id,
            trigger: lesson.trigger.clone(),
            distance: Some(near.distance),
            overlap,
            signals: None,
            probability: None,
            score: (1.0 - near.distance) + self.config.overlap_weight * overlap,
            passed: near.distance < threshold || is_rescued(),
        })
    }

    /// BM25 over trigger, mistake and solution (tier 2, classic rule).
    pub(crate) fn by_words(self, query: &str) -> Ranked {
        let lexicon = self.recall.lexicon();
        let floor = self.config.lexical_floor;
        let hits = lexicon.search(query, self.realm);
        let best = hits.iter().map(|(hit, _)| cover(hit)).fold(0.0, f32::max);
        let considered: Vec<Scored> = hits
            .into_iter()
            .map(|(hit, lesson)| Scored {
                id: lesson.id,
                trigger: lesson.trigger.clone(),
                distance: None,
                overlap: cover(&hit),
                signals: None,
                probability: None,
                score: hit.score,
                passed: cover(&hit) >= floor,
            })
            .collect();
        let none_because = if considered.iter().any(|considered| considered.passed) {
            None
        } else if self.recall.visible(self.realm).next().is_none() {
            Some(NoMatchReason::NoLessons)
        } else {
            Some(NoMatchReason::NothingMatched { best, floor })
        };
        self.rank(Tier::Lexical, considered, none_because)
    }

    /// The newest lessons (tier 3); only without a query. One that cannot be shown within the budget takes no place of others.
    pub(crate) fn by_time(self, max_tokens: usize) -> Ranked {
        let newest = || self.recall.visible(self.realm);
        let fitting = newest().filter(|lesson| shown_tokens(lesson) <= max_tokens).take(self.limit);
        let mut hits: Vec<Hit> = fitting.map(|lesson| Hit::of(Arc::clone(lesson))).collect();
        if hits.is_empty() {
            // The answer says what the smallest would need.
            hits.extend(newest().take(self.limit).map(|lesson| Hit::of(Arc::clone(lesson))));
        }
        let none_because = match self.recall.visible(self.realm).next() {
            None => Some(NoMatchReason::NoLessons),
            Some(_) => (self.limit == 0).then_some(NoMatchReason::LimitZero),
        };
        Ranked { none_because, ..Ranked::of(Tier::Recency, hits) }
    }

    fn rank(self, tier: Tier, considered: Vec<Scored>, none_because: Option<NoMatchReason>) -> Ranked {
        let hits = considered
            .iter()
            .filter(|considered| considered.passed)
            .take(self.limit)
            .filter_map(|considered| {
                let lesson = Arc::clone(self.recall.book.get(considered.id)?);
                Some(Hit { distance: considered.distance, score: Some(considered.score), ..Hit::of(lesson) })
            })
            .collect();
        Ranked { none_because, considered, ..Ranked::of(tier, hits) }
    }
}

/// The fraction of the query that a lesson covers: the mean of the fractions of idf mass that its trigger and its whole text
/// match. If the whole text matches at least one half, it counts alone.
///
/// Measured on 2,645 lessons: compared with the fraction of the whole text alone, the same floor of 0.30 answers 2.7% of trivia
/// questions instead of 9.2%, and rejects the right lesson for 9.1% of the related queries instead of 7.6%.
fn cover(hit: &lexical::Hit) -> f32 {
    const ENOUGH: f32 = 0.5;
    if hit.mass >= ENOUGH { hit.mass } else { f32::midpoint(hit.mass, hit.head_mass) }
}

/// Fraction of the query's words that the trigger contains; 0 when either has none (docs/spec/playbook.md, 5.1).
fn overlap(words: &BTreeSet<String>, trigger: &str) -> f32 {
    if words.is_empty() {
        return 0.0;
    }
    let trigger: BTreeSet<String> = content_words(trigger).collect();
    words.intersection(&trigger).count() as f32 / words.len() as f32
}

/// Whether the query contains all words of one of the domains.
fn names_domain(words: &BTreeSet<String>, domains: &[String]) -> bool {
    domains.iter().any(|domain| {
        let mut named = content_words(domain).peekable();
        named.peek().is_some() && named.all(|word| words.contains(&word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::convert::Infallible;
    use std::sync::LazyLock;

    use crate::lesson::Trust;
    use crate::state::recall_index::body;
    use crate::state::{Book, EmbeddedText};
    use crate::testing::{at, lesson};
    use adage_index::IndexConfig;

    /// Lessons whose trigger vectors are at the given distances from the query (1, 0).
    fn recall(lessons: &[(&str, f32)]) -> (RecallIndex, impl Fn(&str) -> Option<UnitVector>) {
        let mut book = Book::default();
        for (place, (trigger, _)) in lessons.iter().enumerate() {
            let seconds = i64::try_from(place).unwrap();
            book.put(Lesson { timestamp: at(seconds), ..lesson(trigger, "do it") });
        }
        let distances: HashMap<String, f32> =
            lessons.iter().map(|(trigger, distance)| ((*trigger).to_owned(), *distance)).collect();
        let vector_of = move |trigger: &str| {
            let cosine = 1.0 - distances.get(trigger)?;
            UnitVector::new(&[cosine, (1.0 - cosine * cosine).max(0.0).sqrt()]).ok()
        };
        (RecallIndex::new(Arc::new(book)), vector_of)
    }

    static CONFIG: LazyLock<RetrievalConfig> = LazyLock::new(RetrievalConfig::default);
    static GLOBAL: LazyLock<Realm> = LazyLock::new(Realm::default);
    static NONE: BTreeSet<LessonId> = BTreeSet::new();

    fn search(recall: &RecallIndex, limit: usize) -> Search<'_> {
        Search { recall, realm: &GLOBAL, limit, is_explained: true, config: &CONFIG, n_units: 1, later: &NONE }
    }

    fn ask(lessons: &[(&str, f32)], query: &str, limit: usize, threshold: f32) -> (Vec<String>, Option<NoMatchReason>) {
        let (recall, vector_of) = recall(lessons);
        let vector = UnitVector::new(&[1.0, 0.0]).unwrap();
        let known = |_: &[&str]| Ok::<_, Infallible>(());
        let triggers = recall.vectors(EmbeddedText::WaysIn, 2, &IndexConfig::default(), known, &vector_of).unwrap();
        let query = VectorQuery { text: query, vector: &vector, threshold };
        let ranked = search(&recall, limit).by_vector(&triggers, query);
        assert_eq!(ranked.index, Some(IndexKind::Exact));
        (ranked.hits.iter().map(|hit| hit.lesson.trigger.clone()).collect(), ranked.none_because)
    }

    #[test]
    fn the_threshold_is_strict() {
        assert_eq!(ask(&[("near", 0.25)], "q", 5, 0.2501).0, ["near"]);
        let (hits, none) = ask(&[("near", 0.25)], "q", 5, 0.25);
        assert!(hits.is_empty());
        assert_eq!(none, Some(NoMatchReason::NothingNear { nearest: 0.25, threshold: 0.25 }));
    }

    #[test]
    fn a_named_domain_admits_a_farther_trigger_where_a_setting_says_so() {
        let (recall, vector_of) = recall(&[("plain", 0.5), ("far", 0.7)]);
        let mut book = (*recall.book).clone();
        let ids: Vec<LessonId> = book.lessons.iter().map(|lesson| lesson.id).collect();
        for id in ids {
            book.update(id, |lesson| lesson.domains = vec!["git hooks".into()]);
        }
        let recall = RecallIndex::new(Arc::new(book));
        let vector = UnitVector::new(&[1.0, 0.0]).unwrap();
        let known = |_: &[&str]| Ok::<_, Infallible>(());
        let triggers = recall.vectors(EmbeddedText::WaysIn, 2, &IndexConfig::default(), known, &vector_of).unwrap();
        let ask = |text: &str, domain_distance: Option<f32>| {
            let config = RetrievalConfig { domain_distance, ..RetrievalConfig::default() };
            let query = VectorQuery { text, vector: &vector, threshold: 0.45 };
            let ranked = Search { config: &config, ..search(&recall, 5) }.by_vector(&triggers, query);
            assert_eq!(ranked.hits.is_empty(), ranked.none_because.is_some());
            ranked.hits.iter().map(|hit| hit.lesson.trigger.clone()).collect::<Vec<_>>()
        };
        assert_eq!(ask("the git hooks do not run", Some(0.625)), ["plain"]);
        assert_eq!(ask("the git hooks do not run", Some(0.8)), ["plain", "far"]);
        assert!(ask("the git hooks do not run", None).is_empty());
        assert!(ask("the git config is wrong", Some(0.8)).is_empty());
    }

    #[test]
    fn overlap_ranks_a_farther_trigger_first() {
        // (1 − 0.20) + 0.4·0 = 0.80 loses to (1 − 0.40) + 0.4·1 = 1.00.
        let lessons = [("something else", 0.20), ("parse apache", 0.40)];
        assert_eq!(ask(&lessons, "parse apache", 5, 0.45).0, ["parse apache", "something else"]);
        assert_eq!(ask(&lessons, "is a of", 5, 0.45).0, ["something else", "parse apache"]);
        // Two of three words: 0.60 + 0.267 = 0.867 still wins; one of three: 0.60 + 0.133 = 0.733 loses.
        assert_eq!(ask(&lessons, "parse apache log", 5, 0.45).0[0], "parse apache");
        assert_eq!(ask(&lessons, "parse nginx log", 5, 0.45).0[0], "something else");
    }

    #[test]
    fn at_least_ten_neighbours_and_twice_the_limit_are_examined() {
        // Twelve nearer lessons, and a farther one with full overlap.
        let names: Vec<String> = (0..12).map(|number| format!("other {number}x")).collect();
        let behind = |n_nearer: usize| {
            let mut lessons: Vec<(&str, f32)> = names[..n_nearer].iter().map(|name| (name.as_str(), 0.30)).collect();
            lessons.push(("wanted words", 0.35));
            lessons
        };
        assert_eq!(ask(&behind(9), "wanted words", 1, 0.45).0, ["wanted words"]);
        assert_ne!(ask(&behind(10), "wanted words", 1, 0.45).0, ["wanted words"]);
        assert_eq!(ask(&behind(11), "wanted words", 6, 0.45).0[0], "wanted words");
        assert!(!ask(&behind(12), "wanted words", 6, 0.45).0.contains(&"wanted words".to_owned()));
    }

    #[test]
    fn words_must_cover_three_tenths_of_the_query() {
        let (recall, _) = recall(&[("rotate ssh keys", 0.0), ("parse csv files", 0.0)]);
        let ask = |query: &str| search(&recall, 5).by_words(query);
        assert_eq!(ask("how do I rotate keys?").hits.len(), 1);
        // idf of a term in one of two lessons: ln(1 + 1.5/1.5) = 0.693; of an unknown one: ln(1 + 2.5/0.5) = 1.792.
        // One known, one unknown: 0.693/2.485 = 0.279 < 0.30.
        let ranked = ask("rotate tyres");
        assert!(ranked.hits.is_empty());
        assert!(matches!(ranked.none_because, Some(NoMatchReason::NothingMatched { best, floor })
            if (best - 0.2789).abs() < 1e-3 && (floor - 0.30).abs() < 1e-6));
        // Two known, two unknown have the same share; three known, one... 2.079/3.871 = 0.537.
        assert_eq!(ask("rotate ssh keys tyres").hits.len(), 1);
        assert!(ask("the of it").hits.is_empty());
        assert!(ask("What is the capital of France?").hits.is_empty());
    }

    #[test]
    fn trigger_and_whole_text_are_averaged_and_a_half_is_enough() {
        let cover = |mass: f32, head_mass: f32| cover(&lexical::Hit { row: 0, score: 1.0, mass, head_mass });
        for (mass, head_mass, expected) in
            [(0.4, 0.4, 0.4), (0.4, 0.2, 0.3), (0.4, 0.0, 0.2), (0.5, 0.0, 0.5), (0.49, 0.0, 0.245)]
        {
            assert!((cover(mass, head_mass) - expected).abs() < 1e-6, "{mass} {head_mass}");
        }
    }

    #[test]
    fn words_are_searched_in_mistake_and_solution_each_text_once() {
        let lesson = Lesson {
            mistake: "guessed the format".into(),
            anti_pattern: "guessed the format".into(),
            ..lesson("parsing dates", "ask for the zone")
        };
        assert_eq!(body(&lesson), "guessed the format\nask for the zone");
        let mut book = Book::default();
        book.put(lesson);
        let recall = RecallIndex::new(Arc::new(book));
        for query in ["which zone?", "guessed the format", "dates"] {
            assert_eq!(search(&recall, 5).by_words(query).hits.len(), 1, "{query}");
        }
    }

    #[test]
    fn a_context_with_lessons_gives_no_reason_for_none() {
        assert_eq!(ask(&[("near", 0.2)], "q", 5, 0.45).1, None);
        assert_eq!(ask(&[], "q", 5, 0.45).1, Some(NoMatchReason::NoLessons));
    }

    #[test]
    fn realms_and_admission_decide_what_is_visible() {
        let mut book = Book::default();
        let mut elsewhere = lesson("elsewhere", "s");
        elsewhere.realm.project = "other".into();
        let mut here = lesson("here", "s");
        here.realm.project = "mine".into();
        let mut tainted = lesson("tainted", "s");
        tainted.provenance.trust = Trust::Tainted;
        let mut promoted = tainted.clone();
        promoted.trigger = "promoted".into();
        promoted.id = lesson("promoted", "s").id;
        promoted.provenance.promoted = Some(promoted.shown_hash());
        for lesson in [elsewhere, here, tainted, promoted, lesson("global", "s")] {
            book.put(lesson);
        }
        let recall = RecallIndex::new(Arc::new(book));
        let seen = |project: &str| {
            let realm = Realm::new(project, "");
            let mut seen: Vec<String> = Search { realm: &realm, ..search(&recall, 9) }
                .by_time(1_200)
                .hits
                .iter()
                .map(|hit| hit.lesson.trigger.clone())
                .collect();
            seen.sort();
            seen
        };
        assert_eq!(seen("mine"), ["global", "here", "promoted"]);
        assert_eq!(seen(""), ["global", "promoted"]);
        let none = search(&RecallIndex::default(), 5).by_words("anything");
        assert_eq!(none.none_because, Some(NoMatchReason::NoLessons));
    }

    #[test]
    fn recency_is_newest_first_up_to_the_limit() {
        let (recall, _) = recall(&[("first", 0.0), ("second", 0.0), ("third", 0.0)]);
        let hits = search(&recall, 2).by_time(1_200).hits;
        assert_eq!(hits.iter().map(|hit| hit.lesson.trigger.as_str()).collect::<Vec<_>>(), ["third", "second"]);
    }

    #[test]
    fn the_newest_lesson_takes_no_place_if_it_is_too_long_to_be_shown() {
        let long = "word ".repeat(1_300);
        let (recall, _) = recall(&[("first", 0.0), (&long, 0.0)]);
        let newest = |max_tokens| search(&recall, 1).by_time(max_tokens).hits[0].lesson.trigger.clone();
        assert_eq!((newest(1_200), newest(9_000), newest(1)), ("first".to_owned(), long.clone(), long.clone()));
    }
}
