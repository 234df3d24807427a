//! Retrieval at the default settings: ranking, gate and calibration.

use std::collections::{BTreeMap, BTreeSet};

use adage::{Context, LessonId, Listing, Request, Scored};
use serde::Serialize;

use crate::Error;
use crate::dataset::Question;
use crate::metrics::{RECALL_DEPTH, Scores, percentile, round};
use crate::sampling::SampledPlaybook;
use crate::timing::timed;

/// Sums over all playbooks.
#[derive(Clone, Debug, Default)]
pub struct DefaultTally {
    /// Rankings with the gate open.
    open: Scores,
    micros: Vec<f64>,
    kinds: BTreeMap<String, Kind>,
    /// Lessons shown, and questions answered.
    n_shown: f64,
    n_answers: f64,
    /// Of related questions.
    related: Vec<Prediction>,
    /// Of unrelated questions, by kind.
    unrelated: BTreeMap<String, Vec<Prediction>>,
    losses: Vec<Loss>,
}

/// For one question: the predicted probabilities, and whether the lessons shown are relevant.
#[derive(Clone, Copy, Debug)]
struct Prediction {
    /// Probability that any lesson is relevant.
    any: f64,
    /// Probability that the best lesson is.
    best: f64,
    /// Whether the best lesson is relevant.
    is_answer: bool,
    /// Whether a relevant lesson is among the first five.
    is_found: bool,
}

#[derive(Clone, Debug, Default)]
struct Kind {
    n: f64,
    answered: f64,
    shown: f64,
    among_three: f64,
}

/// Retrieval at the default settings from playbooks of one size.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct DefaultReport {
    /// Always `default`.
    pub tier: &'static str,
    /// Lessons per playbook.
    pub lessons: usize,
    /// Number of playbooks.
    pub books: usize,
    /// Number of related questions, over all playbooks.
    pub queries: f64,
    /// nDCG@10 with the gate open.
    pub ndcg10: f64,
    /// Recall@5 with the gate open.
    pub recall5: f64,
    /// MRR@10 with the gate open.
    pub mrr10: f64,
    /// Share of related questions for which no relevant lesson is shown.
    pub cut: f64,
    /// Share of questions that are answered, by kind.
    pub answered: BTreeMap<String, f64>,
    /// Share of questions with a relevant lesson among the first three, by kind.
    pub among_three: BTreeMap<String, f64>,
    /// Mean number of lessons per answer.
    pub shown: f64,
    /// Share of related questions without a relevant lesson if the gate answers 2% of the unrelated ones, by kind of the latter.
    pub lost_at_2: BTreeMap<String, f64>,
    /// The same for 5%.
    pub lost_at_5: BTreeMap<String, f64>,
    /// Expected calibration error: the mean distance between predicted probability and frequency, over ten bins.
    pub calibration_error: f64,
    /// Median time of a request, in µs, excluding the embedding.
    pub p50_us: f64,
}

/// A point of a risk-coverage curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RiskPoint {
    /// Share of related questions for which a relevant lesson is found.
    pub coverage: f64,
    /// Share of unrelated questions that are answered.
    pub risk: f64,
}

/// One bin of a reliability diagram: questions whose best lesson has about the same predicted probability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReliabilityClass {
    /// Their share of all questions, where related and unrelated ones weigh the same in total.
    pub weight: f64,
    /// Mean predicted probability.
    pub stated: f64,
    /// Share whose best lesson is relevant.
    pub found: f64,
}

/// A question that was answered wrongly: a related one without its lesson, or an unrelated one with any.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Loss {
    /// Its kind.
    pub kind: String,
    /// The text of the question.
    pub question: String,
    /// Trigger of a relevant lesson; `None` if the question is unrelated.
    pub wanted: Option<String>,
    /// Triggers of the lessons that were shown.
    pub shown: Vec<String>,
    /// Predicted probability that any lesson is relevant.
    pub probability: f64,
}

impl DefaultTally {
    /// Asks a playbook every question, with the default gate and with the gate open.
    ///
    /// # Errors
    /// [`Error::Playbook`]; [`Error::Embed`].
    pub fn add(&mut self, playbook: &SampledPlaybook) -> Result<(), Error> {
        let gated = playbook.open(|_| {})?;
        let open = playbook.open(|config| {
            config.retrieval.answer_from = Some(0.0);
            config.retrieval.min_share = 0.0;
        })?;
        let triggers: BTreeMap<LessonId, String> = gated
            .list_lessons(&Listing::everything())?
            .iter()
            .map(|lesson| (lesson.id, lesson.trigger.clone()))
            .collect();
        gated.get_playbook_context(Request::about("a first question, which prepares the indexes").peek())?;
        for question in &playbook.questions {
            playbook.embedder.vector(&question.text)?;
            let request = Request::about(question.text.clone()).max_tokens(usize::MAX).peek();
            let (shown, time) = timed(|| gated.get_playbook_context(request.clone()))?;
            self.micros.push(time.as_secs_f64() * 1e6);
            let ranked = open.get_playbook_context(request.limit(10).explain())?;
            self.count(playbook, question, &shown, &ranked, &triggers);
        }
        Ok(())
    }

    fn count(
        &mut self,
        playbook: &SampledPlaybook,
        question: &Question,
        shown: &Context,
        ranked: &Context,
        triggers: &BTreeMap<LessonId, String>,
    ) {
        let ids = |context: &Context| context.lessons.iter().map(|lesson| lesson.id).collect::<Vec<LessonId>>();
        let (relevant, shown, ranking) = (playbook.relevant(question), ids(shown), ids(ranked));
        let is_right = |id: &LessonId| relevant.contains(id);
        let kind = self.kinds.entry(question.kind.clone()).or_default();
        kind.n += 1.0;
        kind.answered += f64::from(u8::from(!shown.is_empty()));
        kind.shown += f64::from(u8::from(shown.iter().any(is_right)));
        kind.among_three += f64::from(u8::from(shown.iter().take(3).any(is_right)));
        if !shown.is_empty() {
            self.n_answers += 1.0;
            self.n_shown += shown.len() as f64;
        }
        let prediction = Prediction {
            any: probabilities(&ranked.considered).sum(),
            best: probabilities(&ranked.considered).next().unwrap_or_default(),
            is_answer: ranking.first().is_some_and(is_right),
            is_found: ranking.iter().take(RECALL_DEPTH).any(is_right),
        };
        let is_lost = if relevant.is_empty() { !shown.is_empty() } else { !shown.iter().any(is_right) };
        if is_lost {
            let trigger = |id: &LessonId| triggers.get(id).cloned();
            self.losses.push(Loss {
                kind: question.kind.clone(),
                question: question.text.clone(),
                wanted: relevant.first().and_then(trigger),
                shown: shown.iter().filter_map(trigger).collect(),
                probability: round(prediction.any),
            });
        }
        if relevant.is_empty() {
            self.unrelated.entry(question.kind.clone()).or_default().push(prediction);
        } else {
            self.related.push(prediction);
            self.open.add(&ranking, &relevant);
        }
    }

    /// The share of related questions without a relevant lesson, with a gate that answers this share of the unrelated ones.
    fn lost_at(&self, unrelated: &[Prediction], share: f64) -> f64 {
        let mut unrelated: Vec<f64> = unrelated.iter().map(|prediction| prediction.any).collect();
        unrelated.sort_by(|a, b| b.total_cmp(a));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
        let place = (unrelated.len() as f64 * share) as usize;
        1.0 - self.coverage(unrelated.get(place).copied().unwrap_or_default())
    }

    /// The share of related questions for which a gate at this probability shows a relevant lesson.
    fn coverage(&self, cut: f64) -> f64 {
        let kept = self.related.iter().filter(|prediction| prediction.is_found && prediction.any > cut).count();
        kept as f64 / self.related.len().max(1) as f64
    }

    /// Coverage and risk of gates at 1.00, 0.99, … 0.00, in this order. The risk is that of the unrelated questions of each kind.
    #[must_use]
    pub fn risk_coverage(&self) -> BTreeMap<String, Vec<RiskPoint>> {
        let point = |unrelated: &[Prediction], percent: u32| {
            let cut = f64::from(percent) / 100.0;
            let n_answered = unrelated.iter().filter(|prediction| prediction.any > cut).count();
            let risk = round(n_answered as f64 / unrelated.len().max(1) as f64);
            RiskPoint { coverage: round(self.coverage(cut)), risk }
        };
        let curve = |unrelated: &Vec<Prediction>| (0..=100).rev().map(|percent| point(unrelated, percent)).collect();
        self.unrelated.iter().map(|(kind, predictions)| (kind.clone(), curve(predictions))).collect()
    }

    /// A reliability diagram of ten bins of equal width; related and unrelated questions weigh the same in total.
    #[must_use]
    pub fn reliability(&self) -> [ReliabilityClass; 10] {
        let unrelated: Vec<Prediction> = self.unrelated.values().flatten().copied().collect();
        let sets = [&self.related, &unrelated];
        let n_sets = sets.iter().filter(|set| !set.is_empty()).count().max(1) as f64;
        let mut classes = [ReliabilityClass::default(); 10];
        for set in sets {
            for answer in set {
                let weight = 1.0 / (n_sets * set.len() as f64);
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a probability")]
                let place = ((answer.best * 10.0) as usize).min(9);
                let Some(class) = classes.get_mut(place) else { continue };
                class.weight += weight;
                class.stated += weight * answer.best;
                class.found += weight * f64::from(u8::from(answer.is_answer));
            }
        }
        classes.map(|class| {
            let weight = class.weight.max(f64::MIN_POSITIVE);
            ReliabilityClass { weight: class.weight, stated: class.stated / weight, found: class.found / weight }
        })
    }

    /// At most `n` wrong answers of each kind, each question once: unrelated questions by descending probability, then related
    /// ones by ascending probability.
    #[must_use]
    pub fn losses(&self, n: usize) -> Vec<Loss> {
        let mut losses = self.losses.clone();
        let order = |loss: &Loss| if loss.wanted.is_none() { -loss.probability } else { loss.probability };
        let key = |loss: &Loss| (loss.wanted.is_some(), loss.kind.clone());
        losses.sort_by(|a, b| key(a).cmp(&key(b)).then(order(a).total_cmp(&order(b))));
        let (mut asked, mut n_of_kind) = (BTreeSet::new(), BTreeMap::<_, usize>::new());
        losses.retain(|loss| {
            let n_before = n_of_kind.entry(key(loss)).or_default();
            let is_kept = *n_before < n && asked.insert(loss.question.clone());
            *n_before += usize::from(is_kept);
            is_kept
        });
        losses
    }

    /// The report for playbooks of this size.
    #[must_use]
    pub fn report(&self, n_lessons: usize, n_books: usize) -> DefaultReport {
        let shares = |value: fn(&Kind) -> f64| -> BTreeMap<String, f64> {
            self.kinds.iter().map(|(name, kind)| (name.clone(), round(value(kind) / kind.n))).collect()
        };
        let lost = |share: f64| -> BTreeMap<String, f64> {
            let of_kind = |(kind, predictions): (&String, &Vec<Prediction>)| {
                (kind.clone(), round(self.lost_at(predictions, share)))
            };
            self.unrelated.iter().map(of_kind).collect()
        };
        let [ndcg10, recall5, mrr10] = self.open.means();
        let n_shown: f64 = self.kinds.values().map(|kind| kind.shown).sum();
        let error = self.reliability().iter().map(|class| class.weight * (class.stated - class.found).abs()).sum();
        DefaultReport {
            tier: "default",
            lessons: n_lessons,
            books: n_books,
            queries: self.open.n,
            ndcg10,
            recall5,
            mrr10,
            cut: round(1.0 - n_shown / self.open.n.max(1.0)),
            answered: shares(|kind| kind.answered),
            among_three: shares(|kind| kind.among_three),
            shown: round(self.n_shown / self.n_answers.max(1.0)),
            lost_at_2: lost(0.02),
            lost_at_5: lost(0.05),
            calibration_error: round(error),
            p50_us: percentile(&self.micros, 0.5).round(),
        }
    }
}

fn probabilities(considered: &[Scored]) -> impl Iterator<Item = f64> {
    considered.iter().filter_map(|scored| scored.probability).map(f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prediction(any: f64, is_answer: bool) -> Prediction {
        Prediction { any, best: any, is_answer, is_found: is_answer }
    }

    fn tally() -> DefaultTally {
        let related =
            vec![prediction(0.95, true), prediction(0.85, true), prediction(0.45, true), prediction(0.25, false)];
        let unrelated = BTreeMap::from([("far".to_owned(), vec![prediction(0.05, false), prediction(0.65, false)])]);
        DefaultTally { related, unrelated, ..DefaultTally::default() }
    }

    #[test]
    fn risk_coverage_of_a_stricter_gate_is_lower_in_both() {
        let curves = tally().risk_coverage();
        let curve = &curves["far"];
        assert_eq!(curve.len(), 101);
        assert_eq!((curve[0].coverage, curve[0].risk), (0.0, 0.0));
        assert_eq!((curve[30].coverage, curve[30].risk), (0.5, 0.0), "a gate at .70");
        assert_eq!((curve[40].coverage, curve[40].risk), (0.5, 0.5), "a gate at .60");
        assert_eq!((curve[100].coverage, curve[100].risk), (0.75, 1.0));
        assert!(curve.is_sorted_by(|a, b| a.coverage <= b.coverage && a.risk <= b.risk));
    }

    #[test]
    fn reliability_of_unequal_sets_weighs_both_the_same() {
        let classes = tally().reliability();
        assert_eq!((classes[6].weight, classes[6].found), (0.25, 0.0));
        assert_eq!((classes[9].weight, classes[9].found), (0.125, 1.0));
        assert!((classes.iter().map(|class| class.weight).sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
