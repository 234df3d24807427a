//! Estimates the outcomes under another gate from the log (docs/spec/playbook.md, 6.8).

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::interval::{Estimate, Weighted, Z_95};
use super::{LoggedReceipt, ReceiptLog};
use crate::lesson::LessonId;

/// The minimum effective number of outcomes.
const MIN_EFFECTIVE: f64 = 20.0;
/// The maximum fraction of receipts in which the other gate would show lessons that were never shown or withheld.
const MAX_OUTSIDE: f64 = 0.05;
/// The weight of the overall mean, in outcomes, in the prediction for a kind of receipt.
const PRIOR: f64 = 5.0;

/// Another gate. Fields that are none keep the logged values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Gate {
    /// The probability, in [0, 1], above which a query is answered.
    pub answer_from: Option<f32>,
    /// The minimum probability of a shown lesson, as a fraction of the best one's, in [0, 1].
    pub min_share: Option<f32>,
    /// The maximum number of shown lessons.
    pub limit: Option<usize>,
}

/// An invalid description of a gate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{found:?} is not a gate: answer_from and min_share are in [0, 1], limit is a number, as in \"answer_from=0.8,limit=3\""
)]
pub struct NotAGate {
    /// The text.
    pub found: String,
}

impl FromStr for Gate {
    type Err = NotAGate;

    fn from_str(text: &str) -> Result<Self, NotAGate> {
        let mut gate = Self::default();
        for setting in text.split(',') {
            gate.set(setting).ok_or_else(|| NotAGate { found: setting.to_owned() })?;
        }
        Ok(gate)
    }
}

impl Gate {
    /// Reads a JSON object with these fields.
    ///
    /// # Errors
    /// [`NotAGate`].
    pub fn from_json(text: &str) -> Result<Self, NotAGate> {
        // Not at once: a list of values in the order of the fields would do too.
        let object: Option<Map<String, Value>> = serde_json::from_str(text).ok();
        let gate: Option<Self> = object.and_then(|object| serde_json::from_value(Value::Object(object)).ok());
        let is_share = |share: Option<f32>| share.is_none_or(|share| (0.0..=1.0).contains(&share));
        gate.filter(|gate| is_share(gate.answer_from) && is_share(gate.min_share))
            .ok_or_else(|| NotAGate { found: text.to_owned() })
    }

    fn set(&mut self, setting: &str) -> Option<()> {
        let (name, value) = setting.split_once('=')?;
        let share = || value.trim().parse().ok().filter(|share| (0.0..=1.0).contains(share));
        match name.trim() {
            "answer_from" => self.answer_from = Some(share()?),
            "min_share" => self.min_share = Some(share()?),
            "limit" => self.limit = Some(value.trim().parse().ok()?),
            _ => return None,
        }
        Some(())
    }

    /// The lessons of a receipt that it would show. What is shown whatever the gate is comes first.
    fn shows(&self, receipt: &LoggedReceipt) -> BTreeSet<LessonId> {
        let always = receipt.lessons.iter().filter(|lesson| lesson.probability.is_none()).map(|lesson| lesson.id);
        let mut shown: BTreeSet<LessonId> = always.collect();
        if self.answer_from.is_some_and(|answer_from| receipt.answer.is_none_or(|answer| answer <= answer_from)) {
            return shown;
        }
        let mut ranked: Vec<(f32, LessonId)> =
            receipt.lessons.iter().filter_map(|lesson| Some((lesson.probability?, lesson.id))).collect();
        ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
        let from = self.min_share.unwrap_or(receipt.min_share) * ranked.first().map_or(0.0, |best| best.0);
        let room = self.limit.unwrap_or(receipt.limit).saturating_sub(shown.len());
        shown.extend(ranked.into_iter().filter(|(probability, _)| *probability >= from).take(room).map(|(_, id)| id));
        shown
    }
}

/// What another gate would have come to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "replay")]
#[non_exhaustive]
pub enum Replay {
    /// What it would show was shown too rarely, or never could be.
    NotEnoughOverlap {
        /// Receipts with an outcome and a probability.
        n_receipts: usize,
        /// Of these, receipts for which it would show what was never shown, or withhold what was never withheld.
        n_outside: usize,
        /// As many outcomes of equal weight say as much as those of the others where exactly what it would show was shown.
        effective_size: f64,
        /// The effective number that it takes.
        needed: f64,
    },
    /// Enough for an estimate. All values are rates of helpful outcomes, in [0, 1], with 95% intervals.
    Estimated {
        /// By the outcomes where exactly what it would show was shown, weighted by inverse propensity and normalised.
        weighted: Estimate,
        /// By a prediction for every receipt, corrected by the weighted outcomes. Its ends may be a little outside [0, 1].
        doubly_robust: Estimate,
        /// What was logged came to this.
        logged: Estimate,
        /// Receipts with an outcome and a probability.
        n_receipts: usize,
        /// Of these, receipts that are left out of both: it would show what was never shown, or withhold what was never withheld.
        n_outside: usize,
        /// As many outcomes of equal weight say as much.
        effective_size: f64,
    },
}

/// A receipt under the other gate.
struct Case {
    /// What it showed, and what the other gate would show, as the prediction sees it.
    kind: Kind,
    kind_then: Kind,
    /// Inverse propensity where both are the same, else 0.
    weight: f64,
    is_helpful: bool,
}

/// What the prediction knows of a receipt: how likely an answer was, in tenths, and how many lessons are shown, three for more.
type Kind = (u8, usize);

impl ReceiptLog {
    /// The rate of helpful outcomes, had another gate decided what is shown. Neither weights nor the correction assume anything but
    /// the logged propensities; the prediction only narrows the interval.
    #[must_use]
    pub fn replay(&self, gate: &Gate) -> Replay {
        let (mut all, mut n_outside) = (Weighted::default(), 0);
        let mut cases = Vec::new();
        for receipt in self.receipts() {
            let (Some(is_helpful), Some(answer)) = (receipt.is_helpful(), receipt.answer) else { continue };
            all.add(1.0, is_helpful);
            match case(receipt, answer, gate, is_helpful) {
                Some(case) => cases.push(case),
                None => n_outside += 1,
            }
        }
        let n_receipts = cases.len() + n_outside;
        let mut weighted = Weighted::default();
        for case in &cases {
            weighted.add(case.weight, case.is_helpful);
        }
        let effective_size = weighted.effective_size();
        let is_enough = effective_size >= MIN_EFFECTIVE && n_outside as f64 <= MAX_OUTSIDE * n_receipts as f64;
        match (weighted.wilson(Z_95), all.wilson(Z_95)) {
            (Some(weighted), Some(logged)) if is_enough => {
                let doubly_robust = doubly_robust(&cases, effective_size);
                Replay::Estimated { weighted, doubly_robust, logged, n_receipts, n_outside, effective_size }
            }
            _ => Replay::NotEnoughOverlap { n_receipts, n_outside, effective_size, needed: MIN_EFFECTIVE },
        }
    }
}

/// None where the log says nothing of what the gate would show.
fn case(receipt: &LoggedReceipt, answer: f32, gate: &Gate, is_helpful: bool) -> Option<Case> {
    let then = gate.shows(receipt);
    let probability_of = |lesson: &super::LoggedLesson| {
        if then.contains(&lesson.id) { lesson.propensity } else { 1.0 - lesson.propensity }
    };
    let probability: f64 = receipt.lessons.iter().map(probability_of).product();
    let shown: BTreeSet<LessonId> =
        receipt.lessons.iter().filter(|lesson| lesson.shown).map(|lesson| lesson.id).collect();
    let weight = if shown == then { 1.0 / probability } else { 0.0 };
    let kind = |shown: &BTreeSet<LessonId>| (tenths(answer), shown.len().min(3));
    (probability > 0.0).then(|| Case { kind: kind(&shown), kind_then: kind(&then), weight, is_helpful })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to [0, 10]")]
fn tenths(answer: f32) -> u8 {
    (answer * 10.0).clamp(0.0, 10.0) as u8
}

/// The mean of prediction and weighted correction (Robins, Rotnitzky and Zhao, 1994; Dudík, Langford and Li, 2011). Each half of the
/// receipts is predicted from the other one. The interval is Student's for the effective number of outcomes.
fn doubly_robust(cases: &[Case], effective_size: f64) -> Estimate {
    let half = |parity: usize| cases.iter().skip(parity).step_by(2);
    let models = [Prediction::of(half(1)), Prediction::of(half(0))];
    let values: Vec<f64> = cases
        .iter()
        .zip(models.iter().cycle())
        .map(|(case, model)| {
            let outcome = f64::from(u8::from(case.is_helpful));
            model.rate(case.kind_then) + case.weight * (outcome - model.rate(case.kind))
        })
        .collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    // The first term of Student's quantile in 1/ν (Abramowitz and Stegun, 26.7.5).
    let student = Z_95 * (1.0 + (Z_95 * Z_95 + 1.0) / (4.0 * (effective_size - 1.0).max(1.0)));
    let half_width = student * (variance / n).sqrt();
    Estimate::new(mean, mean - half_width, mean + half_width)
}

/// The rate of helpful outcomes by kind, drawn towards that of all.
#[derive(Default)]
struct Prediction {
    kinds: BTreeMap<Kind, (f64, f64)>,
    all: f64,
}

impl Prediction {
    fn of<'a>(cases: impl Iterator<Item = &'a Case> + Clone) -> Self {
        let (mut prediction, mut n_cases) = (Self::default(), 0.0);
        for case in cases {
            let outcome = f64::from(u8::from(case.is_helpful));
            let kind = prediction.kinds.entry(case.kind).or_default();
            *kind = (kind.0 + outcome, kind.1 + 1.0);
            prediction.all += outcome;
            n_cases += 1.0;
        }
        prediction.all /= f64::max(n_cases, 1.0);
        prediction
    }

    fn rate(&self, kind: Kind) -> f64 {
        let (helpful, n_cases) = self.kinds.get(&kind).copied().unwrap_or_default();
        (helpful + PRIOR * self.all) / (n_cases + PRIOR)
    }
}

#[cfg(test)]
mod tests;
