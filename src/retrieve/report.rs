//! The effect of a fit to labelled queries, measured by cross-validation (docs/spec/playbook.md, 5.2).

use serde::Serialize;

use super::calibration::{Calibration, Strongest};
use super::platt::{Labelled, Scaling, probability};
use crate::config::CalibrationFit;

/// The number of folds of the cross-validation.
const PARTS: usize = 10;
/// The number of bins of the calibration error.
const CLASSES: usize = 10;

/// The effect of a fit to labelled queries.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CalibrationReport {
    /// The embedder's fingerprint, or `words` for retrieval without one: the key in
    /// [`RetrievalConfig::calibration`](crate::config::RetrievalConfig::calibration).
    pub embedder: String,
    /// The number of queries that a lesson answers.
    pub n_wanting: usize,
    /// The number of queries that no lesson answers.
    pub n_wanting_none: usize,
    /// The fit to all queries.
    pub fit: CalibrationFit,
    /// The figures of the shipped numbers.
    pub before: CalibrationFigures,
    /// The figures of a fit in ten-fold cross-validation: each fold is evaluated with a fit to the others.
    pub after: CalibrationFigures,
}

impl CalibrationReport {
    /// Whether the fit predicts unseen queries better than the shipped numbers: a lower log loss.
    #[must_use]
    pub fn is_better(&self) -> bool {
        self.after.log_loss < self.before.log_loss
    }
}

/// Figures on the labelled queries. In `calibration_error` and `log_loss`, both kinds of query have the same total weight.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CalibrationFigures {
    /// Expected calibration error: the mean distance between the stated probability that a query is answered and the fraction
    /// of such queries that a lesson answers, in ten bins; in [0, 1], smaller is better. With few queries it is above zero by
    /// chance.
    pub calibration_error: f64,
    /// Mean of `-ln` of the probability given to the true label; smaller is better.
    pub log_loss: f64,
    /// Queries that get lessons: `right` and `wrong`.
    pub answered: usize,
    /// Queries for which an answering lesson is shown.
    pub right: usize,
    /// Queries for which only other lessons are shown.
    pub wrong: usize,
    /// Queries that a lesson answers, but that get none.
    pub missed: usize,
}

/// The result of a labelled query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trial {
    /// The strongest signals of an answer.
    pub(crate) strongest: Strongest,
    pub(crate) wants_lesson: bool,
    /// What is shown if the query is answered.
    pub(crate) shown: ShownLessons,
}

/// What is shown if the query is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShownLessons {
    /// A lesson that answers it.
    Right,
    /// Only other lessons.
    Wrong,
    /// No lesson that fits the budget.
    Nothing,
}

/// The gate under evaluation.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    pub(crate) embedder: String,
    /// The probability above which a query is answered.
    pub(crate) answer_from: f32,
}

impl Gate {
    /// The gate of an embedder with these numbers.
    pub(crate) fn new(embedder: String, answer_from: Option<f32>, calibration: &Calibration) -> Self {
        Self { embedder, answer_from: answer_from.unwrap_or(calibration.answer_from) }
    }

    /// Fits to all trials, and evaluates each fold with a fit to the others.
    pub(crate) fn report(self, trials: &[Trial]) -> CalibrationReport {
        let n_wanting = trials.iter().filter(|trial| trial.wants_lesson).count();
        let fitted = fit(trials.iter());
        let parts = parts(trials);
        let by_part: Vec<Scaling> = (0..PARTS)
            .map(|part| fit(trials.iter().zip(&parts).filter(|(_, of)| **of != part).map(|(trial, _)| trial)))
            .collect();
        let unseen = |part: &usize| by_part.get(*part).copied().unwrap_or(Scaling::SHIPPED);
        CalibrationReport {
            n_wanting,
            n_wanting_none: trials.len() - n_wanting,
            fit: fitted.kept(trials.len()),
            before: self.figures(trials.iter().map(|trial| (trial, Scaling::SHIPPED))),
            after: self.figures(trials.iter().zip(parts.iter().map(unseen))),
            embedder: self.embedder,
        }
    }

    /// The figures with these numbers.
    fn figures<'a>(&self, read: impl Iterator<Item = (&'a Trial, Scaling)>) -> CalibrationFigures {
        let stated = |(trial, by): (&'a Trial, Scaling)| {
            let log_odds = by.log_odds(f64::from(trial.strongest.log_odds));
            (trial, probability(log_odds.max(f64::from(trial.strongest.by_title()))))
        };
        let read: Vec<(&Trial, f64)> = read.map(stated).collect();
        let is_open = |probability: f64| probability > f64::from(self.answer_from);
        let count =
            |shown: ShownLessons| read.iter().filter(|(trial, any)| is_open(*any) && trial.shown == shown).count();
        let (right, wrong) = (count(ShownLessons::Right), count(ShownLessons::Wrong));
        let is_silent = |trial: &Trial, any: f64| !is_open(any) || trial.shown == ShownLessons::Nothing;
        CalibrationFigures {
            calibration_error: calibration_error(&read),
            log_loss: log_loss(&read),
            answered: right + wrong,
            right,
            wrong,
            missed: read.iter().filter(|(trial, any)| trial.wants_lesson && is_silent(trial, *any)).count(),
        }
    }
}

/// The fit to the log odds. Queries decided by a title are excluded: scaling does not change them.
fn fit<'a>(trials: impl Iterator<Item = &'a Trial>) -> Scaling {
    let labelled: Vec<Labelled> = trials
        .filter(|trial| !trial.strongest.is_title && trial.strongest.log_odds.is_finite())
        .map(|trial| Labelled { log_odds: f64::from(trial.strongest.log_odds), wants_lesson: trial.wants_lesson })
        .collect();
    Scaling::fit(&labelled)
}

/// The fold of each trial. Trials of either kind are assigned in turn, so that every fold has both.
fn parts(trials: &[Trial]) -> Vec<usize> {
    let mut n_of_kind = [0; 2];
    let part = |trial: &Trial| {
        let [wanting, none] = &mut n_of_kind;
        let n = if trial.wants_lesson { wanting } else { none };
        *n += 1;
        (*n - 1) % PARTS
    };
    trials.iter().map(part).collect()
}

/// The weight of a trial such that both kinds have the same total weight.
fn weights(read: &[(&Trial, f64)]) -> impl Fn(&Trial) -> f64 {
    let wanting = read.iter().filter(|(trial, _)| trial.wants_lesson).count();
    let none = read.len() - wanting;
    move |trial| 0.5 / if trial.wants_lesson { wanting } else { none } as f64
}

fn calibration_error(read: &[(&Trial, f64)]) -> f64 {
    let weight = weights(read);
    let mut gaps = [0.0; CLASSES];
    for (trial, any) in read {
        let class = (0..CLASSES - 1).find(|class| *any < (class + 1) as f64 / CLASSES as f64).unwrap_or(CLASSES - 1);
        if let Some(gap) = gaps.get_mut(class) {
            *gap += weight(trial) * (any - f64::from(u8::from(trial.wants_lesson)));
        }
    }
    gaps.iter().map(|gap| gap.abs()).sum()
}

fn log_loss(read: &[(&Trial, f64)]) -> f64 {
    let weight = weights(read);
    let of_truth = |trial: &Trial, any: f64| if trial.wants_lesson { any } else { 1.0 - any };
    read.iter().map(|(trial, any)| -weight(trial) * of_truth(trial, *any).max(f64::MIN_POSITIVE).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(log_odds: f32, shown: ShownLessons, wants_lesson: bool) -> Trial {
        Trial { strongest: Strongest { log_odds, is_title: false }, wants_lesson, shown }
    }

    fn report(trials: &[Trial]) -> CalibrationReport {
        Gate { embedder: "words".to_owned(), answer_from: 0.7 }.report(trials)
    }

    #[test]
    fn figures_equal_those_computed_by_hand() {
        use ShownLessons::{Nothing, Right, Wrong};
        // Probabilities 0.95257 (3), 0.5 (0), 0.04743 (-3).
        let trials = [
            trial(3.0, Right, true),
            trial(3.0, Wrong, true),
            trial(3.0, Nothing, true),
            trial(-3.0, Right, true),
            trial(3.0, Wrong, false),
            trial(-3.0, Wrong, false),
        ];
        let found = report(&trials).before;
        assert_eq!((found.answered, found.right, found.wrong, found.missed), (3, 1, 2, 2));
        // Weights 1/8 and 1/4. -ln .95257 = .04859, -ln .04743 = 3.04859: 4/8·… + …
        let expected = (3.0 * 0.048_59 + 3.048_59) / 8.0 + (3.048_59 + 0.048_59) / 4.0;
        assert!((found.log_loss - expected).abs() < 1e-4, "{found:?}");
        // Above: 5/8·.95257 − 3/8; below: 3/8·.04743 − 1/8.
        let expected = (0.625 * 0.952_57 - 0.375) + (0.125 - 0.375 * 0.047_43);
        assert!((found.calibration_error - expected).abs() < 1e-4, "{found:?}");
    }

    /// Queries whose log odds are half of the shipped ones, minus two.
    fn misread(n: u16) -> Vec<Trial> {
        (0..n)
            .map(|number| {
                let z = f32::from(number) / f32::from(n) * 16.0 - 6.0;
                let chance = (f64::from(number) * 0.618_033_988_75).fract();
                let wants_lesson = chance < probability(f64::from(z) / 2.0 - 2.0);
                trial(z, if wants_lesson { ShownLessons::Right } else { ShownLessons::Wrong }, wants_lesson)
            })
            .collect()
    }

    #[test]
    fn a_better_fit_is_better_on_unseen_queries() {
        let found = report(&misread(100));
        assert!(found.is_better() && found.after.calibration_error < found.before.calibration_error, "{found:?}");
        assert!(found.after.wrong < found.before.wrong && found.fit.scale < 0.9 && found.fit.offset < 0.0, "{found:?}");
        assert_eq!((found.fit.n_pairs, found.n_wanting + found.n_wanting_none), (100, 100));
    }

    #[test]
    fn random_labels_are_not_better_than_the_shipped_numbers() {
        let at_random = |number: u16| {
            let wants_lesson = number.is_multiple_of(2);
            trial(if wants_lesson { 4.0 } else { -4.0 }, ShownLessons::Right, wants_lesson)
        };
        let found = report(&(0..40).map(at_random).collect::<Vec<_>>());
        assert!(found.before.log_loss < 0.02 && !found.is_better(), "{found:?}");
    }

    #[test]
    fn a_title_is_decided_by_the_title() {
        let mut trials = misread(60);
        trials.extend((0..20).map(|_| Trial {
            strongest: Strongest { log_odds: -6.0, is_title: true },
            wants_lesson: true,
            shown: ShownLessons::Right,
        }));
        let (with, without) = (report(&trials), report(&misread(60)));
        assert_eq!((with.fit.scale, with.fit.offset), (without.fit.scale, without.fit.offset));
        assert_eq!(with.after.right, without.after.right + 20);
    }
}
