//! The match signals of each candidate, and which candidates are shown (docs/spec/playbook.md, 5.1, 5.2).

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use adage_index::{IndexKind, UnitVector};
use serde::Serialize;

use super::calibration::{Calibration, Situation};
use super::tiers::{Hit, Ranked, Search};
use super::{NoMatchReason, Scored, Tier};
use crate::lesson::{Lesson, LessonId};
use crate::lexical::{bare_words, folded, stem, terms};
use crate::state::LessonVectors;

/// How well a query and a lesson match, by each measure. Larger values are better matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MatchSignals {
    /// Cosine of the query and the nearest of trigger, situations and signs, in [-1, 1]; only in the vector tier.
    pub trigger: Option<f32>,
    /// Whether the lesson has situations or signs, so that `trigger` is the nearest of several texts.
    pub has_ways_in: bool,
    /// Cosine of query and whole text, in [-1, 1]; only in the vector tier.
    pub whole: Option<f32>,
    /// Cosine of query and mistake, in [-1, 1]; only in the vector tier.
    pub mistake: Option<f32>,
    /// BM25F score over trigger, mistake and solution.
    pub words: f32,
    /// BM25F score of character n-grams over the same fields.
    pub grams: f32,
    /// Fraction of the query's idf mass that the lesson contains, in [0, 1].
    pub coverage: f32,
    /// How rare a name of the lesson is that the query contains whole, in [0, 1]; 0 if it contains none.
    pub name: f32,
    /// Whether the query equals the trigger or the task, ignoring case, white space and punctuation.
    pub is_title: bool,
}

/// The share of a sign's words that a line of output needs, and the probability that is stated for such a lesson. Chosen.
const SIGN_SHARE: f32 = 0.75;
const SIGN_SEEN: f32 = 0.9;

/// The coverage of a whole query, allowing for rounding.
const ALL: f32 = 0.999;

/// The query's vector, and those of the lessons.
#[derive(Clone, Copy)]
pub(crate) struct QueryVectors<'a> {
    pub(crate) vector: &'a UnitVector,
    pub(crate) ways_in: &'a LessonVectors,
    pub(crate) wholes: &'a LessonVectors,
    pub(crate) mistakes: &'a LessonVectors,
}

/// The candidates for a query.
struct Candidates {
    /// In no particular order.
    lessons: Vec<Candidate>,
    /// The number of visible lessons.
    n_in_sight: usize,
    /// The index that searched the vectors, if there were vectors.
    index: Option<IndexKind>,
}

struct Candidate {
    lesson: Arc<Lesson>,
    signals: MatchSignals,
    score: f32,
    /// The probability that it is an answer.
    probability: f32,
    /// Whether the probability is above the threshold.
    passed: bool,
}

impl Search<'_> {
    /// Ranks by all available signals (tiers 1 and 2).
    pub(crate) fn by_signals(self, text: &str, vectors: Option<QueryVectors<'_>>, calibration: &Calibration) -> Ranked {
        let Candidates { mut lessons, n_in_sight, index } = self.candidates(text, vectors, calibration);
        lessons.sort_unstable_by(|a, b| {
            b.score.total_cmp(&a.score).then_with(|| self.tie(a.lesson.id).cmp(&self.tie(b.lesson.id)))
        });
        let asked = Situation {
            query_words: text.split_whitespace().count(),
            lessons_in_sight: n_in_sight,
            units: self.n_units,
        };
        let strongest = calibration.strongest(lessons.iter().map(|candidate| &candidate.signals), asked);
        let any = calibration.any_is_answer(strongest);
        let answer_from = self.config.answer_from.unwrap_or(calibration.answer_from);
        let scores: Vec<f32> = lessons.iter().map(|candidate| candidate.score).collect();
        let probabilities = calibration.shared_out(any, &scores);
        let best = probabilities.first().copied().unwrap_or_default();
        let best_lesson = lessons.first().map(|best| Arc::clone(&best.lesson));
        for (candidate, probability) in lessons.iter_mut().zip(probabilities) {
            candidate.probability = probability;
            let has_best_trigger = || best_lesson.as_ref().is_some_and(|best| candidate.has_trigger_of(best));
            let is_near_best = probability >= self.config.min_share * best;
            candidate.passed = any > answer_from && (is_near_best || has_best_trigger());
        }
        let none_because = match lessons.first() {
            None if n_in_sight > 0 => {
                Some(NoMatchReason::NothingMatched { best: 0.0, floor: self.config.lexical_floor })
            }
            None => Some(NoMatchReason::NoLessons),
            Some(best) if any <= answer_from => {
                Some(NoMatchReason::Unlikely { best: best.lesson.id, probability: any, answer_from })
            }
            Some(_) => None,
        };
        let tier = if vectors.is_some() { Tier::Vector } else { Tier::Lexical };
        let passed = lessons.iter().filter(|candidate| candidate.passed);
        Ranked {
            index,
            none_because,
            strongest: Some(strongest),
            considered: lessons.iter().filter(|_| self.is_explained).map(Candidate::scored).collect(),
            ..Ranked::of(tier, passed.take(self.limit).map(Candidate::hit).collect())
        }
    }

    /// The lessons of which a program's output has a sign: most words of it, in one line.
    pub(crate) fn by_signs(self, output: &str) -> Ranked {
        let words = self.recall.words();
        let words = words.scored(output, self.realm);
        let lines: Vec<BTreeSet<String>> = output.lines().map(|line| terms(line).collect()).collect();
        let candidates = words.best(self.config.candidates.max(self.limit));
        let lessons = candidates.into_iter().filter_map(|id| self.recall.book.get(id));
        let seen = lessons.filter(|lesson| lesson.ways_in.signs.iter().any(|sign| is_seen(sign, &lines)));
        let hits =
            seen.take(self.limit).map(|lesson| Hit { probability: Some(SIGN_SEEN), ..Hit::of(Arc::clone(lesson)) });
        let hits: Vec<Hit> = hits.collect();
        let none_because = if !hits.is_empty() {
            None
        } else if self.recall.visible(self.realm).next().is_none() {
            Some(NoMatchReason::NoLessons)
        } else {
            Some(NoMatchReason::NoSign)
        };
        Ranked { none_because, ..Ranked::of(Tier::Lexical, hits) }
    }

    /// The best lessons by each signal, with all signals of each.
    fn candidates(self, text: &str, vectors: Option<QueryVectors<'_>>, calibration: &Calibration) -> Candidates {
        let words = self.recall.words();
        let words = words.scored(text, self.realm);
        let k = self.config.candidates.max(self.limit);
        let mut ids: BTreeSet<LessonId> = words.best(k).into_iter().collect();
        let index = vectors.map(|QueryVectors { vector, ways_in, wholes, .. }| {
            let (nearest, by) = ways_in.nearest(self.realm, vector, k);
            if words.n_in_sight() > k {
                ids.extend(nearest.iter().chain(&wholes.nearest(self.realm, vector, k).0).map(|near| near.id));
            }
            by
        });
        let asked: Vec<String> = bare_words(text).collect();
        let asked_stems = LazyCell::new(|| stems(text));
        let is_title = |title: &str| !asked.is_empty() && bare_words(title).eq(asked.iter().cloned());
        let numbers = numbers_of_identifier(text);
        let lessons = ids.into_iter().filter_map(|id| {
            let lesson = self.recall.book.get(id)?;
            if !has_numbers(lesson, &numbers) {
                return None;
            }
            let of_words = words.score(lesson);
            let cosine = |of: fn(QueryVectors<'_>) -> &LessonVectors| {
                vectors.and_then(|vectors| Some(1.0 - of(vectors).distance(lesson, vectors.vector)?))
            };
            let signals = MatchSignals {
                trigger: cosine(|vectors| vectors.ways_in),
                has_ways_in: lesson.ways_in.embedded().next().is_some(),
                whole: cosine(|vectors| vectors.wholes),
                mistake: cosine(|vectors| vectors.mistakes),
                words: of_words.words,
                grams: words.grams(lesson),
                coverage: of_words.mass,
                name: named(lesson, &asked_stems).map(|name| words.rarity(name)).fold(0.0, f32::max),
                is_title: of_words.mass > ALL && (is_title(&lesson.trigger) || is_title(&lesson.task)),
            };
            let (lesson, score) = (Arc::clone(lesson), calibration.score(&signals));
            Some(Candidate { lesson, signals, score, probability: 0.0, passed: false })
        });
        let mut lessons: Vec<Candidate> = lessons.collect();
        if asked.len() == 1 {
            name_the_only_one(&mut lessons, calibration);
        }
        Candidates { lessons, n_in_sight: words.n_in_sight(), index }
    }
}

/// A word that is the whole query, and that one lesson alone has, is a name of that lesson: an identifier, a unit, a product.
fn name_the_only_one(lessons: &mut [Candidate], calibration: &Calibration) {
    let mut having = lessons.iter_mut().filter(|candidate| candidate.signals.coverage > ALL);
    if let (Some(only), None) = (having.next(), having.next()) {
        only.signals.name = 1.0;
        only.score = calibration.score(&only.signals);
    }
}

/// The numbers in a query that is an identifier and nothing else, such as `CVE-2024-3094`: one with another number is another one.
fn numbers_of_identifier(text: &str) -> Vec<String> {
    let text = text.trim();
    let is_identifier = !text.contains(char::is_whitespace) && text.contains(char::is_alphabetic);
    if is_identifier { numbers(text) } else { Vec::new() }
}

fn numbers(text: &str) -> Vec<String> {
    let text = folded(text);
    text.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty()).map(str::to_owned).collect()
}

fn has_numbers(lesson: &Lesson, wanted: &[String]) -> bool {
    if wanted.is_empty() {
        return true;
    }
    let texts = [&lesson.trigger, &lesson.task, &lesson.mistake, &lesson.correct_pattern, &lesson.anti_pattern];
    let of_ways_in = lesson.ways_in.embedded().chain(&lesson.ways_in.names);
    let known: BTreeSet<String> = texts.into_iter().chain(of_ways_in).flat_map(|text| numbers(text)).collect();
    wanted.iter().all(|number| known.contains(number))
}

/// The names of a lesson that a text contains whole, given the stems of its words.
fn named<'l>(lesson: &'l Lesson, asked: &[String]) -> impl Iterator<Item = &'l str> {
    let is_in = |name: &&String| {
        let name = stems(name);
        !name.is_empty() && asked.windows(name.len()).any(|words| words == name)
    };
    lesson.ways_in.names.iter().filter(is_in).map(String::as_str)
}

/// True if a line has most words of a sign, which are at least three.
fn is_seen(sign: &str, lines: &[BTreeSet<String>]) -> bool {
    let sign: BTreeSet<String> = terms(sign).collect();
    let enough = (sign.len() as f32 * SIGN_SHARE).max(3.0);
    lines.iter().any(|line| line.intersection(&sign).count() as f32 >= enough)
}

fn stems(text: &str) -> Vec<String> {
    bare_words(text).map(|word| stem(&word)).collect()
}

impl Candidate {
    /// True if the trigger has the same words as another lesson's.
    fn has_trigger_of(&self, other: &Lesson) -> bool {
        bare_words(&other.trigger).eq(bare_words(&self.lesson.trigger))
    }

    fn hit(&self) -> Hit {
        Hit {
            distance: self.distance(),
            score: Some(self.score),
            probability: Some(self.probability),
            ..Hit::of(Arc::clone(&self.lesson))
        }
    }

    fn scored(&self) -> Scored {
        Scored {
            id: self.lesson.id,
            trigger: self.lesson.trigger.clone(),
            distance: self.distance(),
            overlap: self.signals.coverage,
            signals: Some(self.signals),
            score: self.score,
            probability: Some(self.probability),
            passed: self.passed,
        }
    }

    fn distance(&self) -> Option<f32> {
        self.signals.trigger.map(|cosine| 1.0 - cosine)
    }
}
