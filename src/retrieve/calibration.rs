//! The score of a lesson from all match signals, and the probability that it answers the query (docs/spec/playbook.md, 5.1).
//!
//! The numbers were fitted by `scripts/fit_gate.py` on the signals that `--example evaluate -- --features` writes.

use super::match_signals::MatchSignals;
use crate::config::CalibrationFit;
use crate::lesson::TextHash;
use crate::lexical::{HALF_GRAMS, HALF_WORDS, saturated};

/// The weight of each signal in a sum.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Weights {
    /// The situation: see [`situation`].
    situation: f32,
    /// The cosine of query and whole text.
    whole: f32,
    /// The cosine of query and mistake.
    mistake: f32,
    /// The word score, saturated.
    words: f32,
    /// The word score times the covered fraction of the query: a few shared words of a long query are a weak signal.
    covered_words: f32,
    /// The score of character n-grams, saturated.
    grams: f32,
}

/// For an embedder without calibration: a trigger with this cosine is an answer regardless of the words (the classic
/// threshold).
const NEAR_COSINE: f32 = 0.55;
/// The slope of the log odds from there on, per unit of cosine.
const NEAR_SLOPE: f32 = 40.0;

/// The log odds that a lesson answers the query if the query is its trigger or task: probability 0.95.
const TITLE_LOG_ODDS: f32 = 2.944;

/// The maximum number of query words that count: more words say no more about the subject.
const MAX_QUERY_WORDS: usize = 12;
/// By how much the nearest of several texts is nearer by chance. Measured on three authors' sentences.
const BY_CHANCE: f32 = 0.16;

/// The log odds of a lesson that is named, per rarity of the name, and those against it. Chosen.
const NAME_SLOPE: f32 = 6.0;
const NAME_NONE: f32 = 3.0;
/// What the score of a lesson gains by its name: more than words give.
const NAME_SCORE: f32 = 2.0;

/// How much the log odds of "none" grow with the logarithm of the number of parts of a request. Chosen on tasks beside logs.
const PER_UNITS: f32 = 0.5;

/// The number of visible lessons that `none` is given for.
const USUAL_LESSONS: f32 = 50.0;

/// Numbers fitted for one embedder, or for words alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Calibration {
    /// The weights of the ranking score.
    rank: Weights,
    /// The factor of a score in the exponent, where lessons share a probability.
    sharpness: f32,
    /// The weights of the log odds that a lesson is an answer, against "none of them".
    gate: Weights,
    /// The weight of the logarithm of the number of query words in the log odds.
    query_words: f32,
    /// The log odds of "none of them" among 50 lessons.
    none: f32,
    /// How much that grows with the logarithm of the number of visible lessons.
    none_growth: f32,
    /// Whether a near trigger alone is enough.
    trusts_distance: bool,
    /// The probability above which a query is answered.
    pub(super) answer_from: f32,
    /// The scale of a user's fit, `scale·z + offset`.
    scale: f32,
    offset: f32,
}

/// The strongest signals that any lesson is an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Strongest {
    /// The log odds with the shipped numbers.
    pub(super) log_odds: f32,
    /// Whether the query is the trigger or the task of a candidate.
    pub(super) is_title: bool,
}

impl Default for Strongest {
    /// No evidence at all.
    fn default() -> Self {
        Self { log_odds: f32::NEG_INFINITY, is_title: false }
    }
}

/// The numbers of a query and a book that enter the log odds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Situation {
    pub(super) query_words: usize,
    pub(super) lessons_in_sight: usize,
    /// The number of parts of the request that are compared by themselves: the best of several is good by chance.
    pub(super) units: usize,
}

impl Calibration {
    /// Words only, without vectors.
    pub(crate) const WORDS: Self = Self {
        rank: Weights { situation: 0.0, whole: 0.0, mistake: 0.0, words: 3.0, covered_words: 0.0, grams: 1.0 },
        sharpness: 8.0,
        gate: Weights { situation: 0.0, whole: 0.0, mistake: 0.0, words: 0.0, covered_words: 16.0, grams: 8.0 },
        query_words: 0.0,
        none: 6.05,
        none_growth: 1.48,
        trusts_distance: false,
        answer_from: 0.7,
        scale: 1.0,
        offset: 0.0,
    };

    /// The embedder all-MiniLM-L6-v2.
    const MINILM: Self = Self {
        rank: Weights { situation: 1.0, whole: 1.0, mistake: 1.0, words: 0.0, covered_words: 3.0, grams: 0.75 },
        sharpness: 3.1,
        gate: Weights { situation: 2.45, whole: 0.0, mistake: 4.9, words: 0.0, covered_words: 7.35, grams: 1.8375 },
        query_words: 2.0,
        none: 10.71,
        none_growth: 0.96,
        trusts_distance: false,
        answer_from: 0.7,
        scale: 1.0,
        offset: 0.0,
    };

    /// An embedder without calibration: the meaning of its cosines is unknown. It ranks like the bundled one; words decide
    /// about the answer, or a trigger within the classic distance.
    const UNKNOWN: Self =
        Self { rank: Self::MINILM.rank, sharpness: Self::MINILM.sharpness, trusts_distance: true, ..Self::WORDS };

    /// The known calibrations, by fingerprint of the model.
    const KNOWN: [(&str, Self); 1] = [("7a1a506798ec9de44116b345cab36145", Self::MINILM)];

    /// The calibration of an embedder.
    pub(crate) fn of(fingerprint: TextHash) -> Self {
        let fingerprint = fingerprint.to_string();
        let known = Self::KNOWN.iter().find(|(known, _)| *known == fingerprint);
        known.map_or(Self::UNKNOWN, |(_, calibration)| *calibration)
    }

    /// The calibration adjusted by the fit to a user's labelled queries.
    pub(crate) fn fitted(self, fit: Option<&CalibrationFit>) -> Self {
        fit.map_or(self, |fit| Self { scale: fit.scale, offset: fit.offset, ..self })
    }

    pub(crate) fn answer_from(&self) -> f32 {
        self.answer_from
    }

    /// The ranking score of a lesson; larger is better.
    pub(super) fn score(&self, signals: &MatchSignals) -> f32 {
        self.rank.sum(signals) + NAME_SCORE * signals.name
    }

    /// The strongest signals for a single lesson: several lessons with the same advice are no more likely to be an answer than
    /// one.
    pub(super) fn strongest<'a>(
        &self,
        signals: impl IntoIterator<Item = &'a MatchSignals>,
        situation: Situation,
    ) -> Strongest {
        let in_sight = situation.lessons_in_sight.max(1) as f32 / USUAL_LESSONS;
        let none = self.none + self.none_growth * in_sight.ln() + PER_UNITS * (situation.units.max(1) as f32).ln();
        let by_words = self.query_words * (situation.query_words.clamp(1, MAX_QUERY_WORDS) as f32).ln();
        let enough = (self.answer_from / (1.0 - self.answer_from)).ln();
        let mut strongest = Strongest::default();
        for signals in signals {
            let by_all = self.gate.sum(signals) + by_words - none;
            let by_distance = NEAR_SLOPE * (signals.trigger.unwrap_or(-1.0) - NEAR_COSINE) + enough;
            let log_odds = if self.trusts_distance { by_all.max(by_distance) } else { by_all };
            strongest.log_odds = strongest.log_odds.max(log_odds).max(by_name(signals));
            strongest.is_title |= signals.is_title;
        }
        strongest
    }

    /// The probability that any lesson is an answer.
    pub(super) fn any_is_answer(&self, strongest: Strongest) -> f32 {
        let by_log_odds = self.scale * strongest.log_odds + self.offset;
        1.0 / (1.0 + (-by_log_odds.max(strongest.by_title())).exp())
    }

    /// The probability of each lesson, given their scores, best first: the probability of any, divided among them.
    pub(super) fn shared_out(&self, any: f32, scores: &[f32]) -> Vec<f32> {
        let best = scores.first().copied().unwrap_or_default();
        let shares: Vec<f32> = scores.iter().map(|score| (self.sharpness * (score - best)).exp()).collect();
        let all: f32 = shares.iter().sum();
        shares.into_iter().map(|share| any * share / all).collect()
    }
}

impl Strongest {
    /// The log odds if the query is a title, regardless of other signals.
    pub(super) fn by_title(self) -> f32 {
        if self.is_title { TITLE_LOG_ODDS } else { f32::NEG_INFINITY }
    }
}

/// How near the query is to the situation of a lesson. With situations and signs the nearest counts, otherwise the trigger and the
/// whole text, which says less about the situation: `5·(W − 0.16)`, or `T + 4·X`.
fn situation(signals: &MatchSignals) -> f32 {
    let nearest = signals.trigger.unwrap_or_default();
    if signals.has_ways_in && signals.trigger.is_some() {
        5.0 * (nearest - BY_CHANCE)
    } else {
        nearest + 4.0 * signals.whole.unwrap_or_default()
    }
}

/// The log odds if the query contains a name of the lesson: 0.95 for a name that no other lesson has, 0.7 at a rarity of 0.64.
fn by_name(signals: &MatchSignals) -> f32 {
    if signals.name > 0.0 { NAME_SLOPE * signals.name - NAME_NONE } else { f32::NEG_INFINITY }
}

impl Weights {
    fn sum(&self, signals: &MatchSignals) -> f32 {
        let words = saturated(signals.words, HALF_WORDS);
        self.situation * situation(signals)
            + self.whole * signals.whole.unwrap_or_default()
            + self.mistake * signals.mistake.unwrap_or_default()
            + words * (self.words + self.covered_words * signals.coverage)
            + self.grams * saturated(signals.grams, HALF_GRAMS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signals(trigger: f32, words: f32) -> MatchSignals {
        MatchSignals {
            trigger: Some(trigger),
            whole: Some(trigger),
            mistake: Some(trigger),
            words,
            grams: words,
            coverage: 0.5,
            name: 0.0,
            has_ways_in: false,
            is_title: false,
        }
    }

    const USUAL: Situation = Situation { query_words: 8, lessons_in_sight: 50, units: 1 };

    fn any<'a>(by: Calibration, signals: impl IntoIterator<Item = &'a MatchSignals>, situation: Situation) -> f32 {
        by.any_is_answer(by.strongest(signals, situation))
    }

    #[test]
    fn the_score_equals_one_computed_by_hand() {
        // 0.4 + 4·0.4 + 2·0.4 + 3·0.5·10/20 + 0.75·10/90 = 3.63333.
        let score = Calibration::MINILM.score(&signals(0.4, 10.0));
        assert!((score - 3.633_33).abs() < 1e-4, "{score}");
        // 2.45·3.63333 + 2·ln 8 − 10.71 = 2.35054; 1/(1 + e^−2.35054) = 0.91298.
        let any = any(Calibration::MINILM, [&signals(0.4, 10.0)], USUAL);
        assert!((any - 0.912_98).abs() < 1e-3, "{any}");
    }

    #[test]
    fn many_lessons_with_the_same_advice_are_no_more_likely_than_one() {
        for calibration in [Calibration::MINILM, Calibration::WORDS, Calibration::UNKNOWN] {
            for cosine in [0.1, 0.2, 0.3, 0.5] {
                let one = signals(cosine, 10.0);
                let alone = any(calibration, [&one], USUAL);
                let copies = [one; 40];
                let among = Situation { lessons_in_sight: USUAL.lessons_in_sight + 39, ..USUAL };
                let all = any(calibration, &copies, among);
                assert!(all <= alone, "{all} is more than {alone}");
                let shared = calibration.shared_out(all, &copies.map(|copy| calibration.score(&copy)));
                assert!((shared.iter().sum::<f32>() - all).abs() < 1e-4);
            }
        }
    }

    #[test]
    fn a_query_that_equals_a_trigger_is_answered_however_common_its_words_are() {
        let usual = MatchSignals { is_title: true, ..signals(0.0, 0.1) };
        for calibration in [Calibration::MINILM, Calibration::WORDS, Calibration::UNKNOWN] {
            assert!((any(calibration, [&usual], USUAL) - 0.95).abs() < 1e-3);
        }
    }

    #[test]
    fn a_users_fit_scales_and_shifts_all_evidence_except_titles() {
        let fit = CalibrationFit { scale: 0.5, offset: -1.0, n_pairs: 40 };
        let fitted = Calibration::MINILM.fitted(Some(&fit));
        let [shipped, probability] = [Calibration::MINILM, fitted].map(|by| any(by, [&signals(0.4, 10.0)], USUAL));
        let expected = 0.5 * (shipped / (1.0 - shipped)).ln() - 1.0;
        assert!(((probability / (1.0 - probability)).ln() - expected).abs() < 1e-3, "{probability}, {shipped}");
        let title = MatchSignals { is_title: true, ..signals(0.0, 0.1) };
        assert!((any(fitted, [&title], USUAL) - 0.95).abs() < 1e-3);
        assert_eq!(Calibration::MINILM.fitted(None), Calibration::MINILM);
    }

    #[test]
    fn an_uncalibrated_embedder_answers_by_words_or_the_classic_distance() {
        let unknown = Calibration::of(TextHash::of(&["some model"]));
        assert_eq!(unknown, Calibration::UNKNOWN);
        let any = |trigger, words| any(unknown, [&signals(trigger, words)], USUAL);
        assert!(any(0.56, 0.0) > unknown.answer_from && any(0.54, 0.0) < unknown.answer_from);
        assert!(any(0.0, 100.0) > unknown.answer_from);
    }
}
