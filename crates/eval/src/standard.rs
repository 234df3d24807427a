//! What a host gets from `get_playbook_context` with the settings as they are.

use std::collections::{BTreeMap, BTreeSet};

use adage::{Context, LessonId, Listing, Request, Scored};
use serde::Serialize;

use crate::Error;
use crate::books::Book;
use crate::classic::now;
use crate::data::Question;
use crate::ranking::{RECALL_DEPTH, Scores, percentile, round};

/// What the default rule shows: sums over all books.
#[derive(Clone, Debug, Default)]
pub struct DefaultTally {
    /// With the gate open.
    open: Scores,
    micros: Vec<f64>,
    kinds: BTreeMap<String, Kind>,
    /// Lessons shown, and answers.
    n_shown: f64,
    n_answers: f64,
    /// What was stated of questions that want a lesson.
    related: Vec<Stated>,
    /// The same of those that want none, by kind.
    unrelated: BTreeMap<String, Vec<Stated>>,
    losses: Vec<Loss>,
}

/// Of a question: the probabilities that were stated, and what was right.
#[derive(Clone, Copy, Debug)]
struct Stated {
    /// That any lesson is an answer.
    any: f64,
    /// That the best lesson is.
    best: f64,
    /// Whether the best lesson is an answer.
    is_answer: bool,
    /// Whether an answer is among the first five.
    is_found: bool,
}

#[derive(Clone, Debug, Default)]
struct Kind {
    n: f64,
    answered: f64,
    shown: f64,
    among_three: f64,
}

/// What the default rule shows.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct DefaultReport {
    /// Always `default`.
    pub tier: &'static str,
    /// Lessons per book.
    pub lessons: usize,
    /// Books.
    pub books: usize,
    /// Questions that want a lesson, over all books.
    pub queries: f64,
    /// Of the ranking with the gate open.
    pub ndcg10: f64,
    /// Of the ranking with the gate open.
    pub recall5: f64,
    /// Of the ranking with the gate open.
    pub mrr10: f64,
    /// Share of questions that want a lesson and are not shown it, with the gate as it is.
    pub cut: f64,
    /// Share of questions that are answered, by kind.
    pub answered: BTreeMap<String, f64>,
    /// Share of questions of which a right lesson is among the first three, by kind.
    pub among_three: BTreeMap<String, f64>,
    /// Lessons per answer.
    pub shown: f64,
    /// Share of questions that lose their lesson if the gate lets 2% of the unrelated ones of a kind through.
    pub lost_at_2: BTreeMap<String, f64>,
    /// The same for 5%.
    pub lost_at_5: BTreeMap<String, f64>,
    /// Mean distance of stated probability and frequency, over ten classes.
    pub calibration_error: f64,
    /// Median time of a recall, µs, excluding the embedding.
    pub p50_us: f64,
}

/// A point of a risk-coverage curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RiskPoint {
    /// Share of questions that get their lesson.
    pub coverage: f64,
    /// Share of unrelated questions that are answered.
    pub risk: f64,
}

/// Questions whose best lesson was stated to be an answer with about the same probability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReliabilityClass {
    /// Their share of all; questions that want a lesson weigh as much as those that want none.
    pub weight: f64,
    /// Mean stated probability.
    pub stated: f64,
    /// Share of them whose best lesson is an answer.
    pub found: f64,
}

/// A question that did not get what it should.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Loss {
    /// Its kind.
    pub kind: String,
    /// What was asked.
    pub question: String,
    /// What should have been shown: a lesson's trigger, or nothing.
    pub wanted: Option<String>,
    /// What was shown.
    pub shown: Vec<String>,
    /// The stated probability that any lesson is an answer.
    pub probability: f64,
}

impl DefaultTally {
    /// Asks every question of a book: once with the gate as it is, once with it open.
    ///
    /// # Errors
    /// [`Error::Playbook`]; [`Error::Embed`].
    pub fn add(&mut self, book: &Book) -> Result<(), Error> {
        let gated = book.open(|_| {})?;
        let open = book.open(|config| {
            config.retrieval.answer_from = Some(0.0);
            config.retrieval.min_share = 0.0;
        })?;
        let triggers: BTreeMap<LessonId, String> = gated
            .list_lessons(&Listing::everything())?
            .iter()
            .map(|lesson| (lesson.id, lesson.trigger.clone()))
            .collect();
        gated.get_playbook_context(Request::about("a first question, which prepares the indexes").peek())?;
        for question in &book.questions {
            book.embedder.vector(&question.text)?;
            let request = Request::about(question.text.clone()).max_tokens(usize::MAX).peek();
            let start = now();
            let shown = gated.get_playbook_context(request.clone())?;
            self.micros.push(start.elapsed().as_secs_f64() * 1e6);
            let ranked = open.get_playbook_context(request.limit(10).explain())?;
            self.count(book, question, &shown, &ranked, &triggers);
        }
        Ok(())
    }

    fn count(
        &mut self,
        book: &Book,
        question: &Question,
        shown: &Context,
        ranked: &Context,
        triggers: &BTreeMap<LessonId, String>,
    ) {
        let ids = |context: &Context| context.lessons.iter().map(|lesson| lesson.id).collect::<Vec<LessonId>>();
        let (right, shown, ranking) = (book.right(question), ids(shown), ids(ranked));
        let is_right = |id: &LessonId| right.contains(id);
        let kind = self.kinds.entry(question.kind.clone()).or_default();
        kind.n += 1.0;
        kind.answered += f64::from(u8::from(!shown.is_empty()));
        kind.shown += f64::from(u8::from(shown.iter().any(is_right)));
        kind.among_three += f64::from(u8::from(shown.iter().take(3).any(is_right)));
        if !shown.is_empty() {
            self.n_answers += 1.0;
            self.n_shown += shown.len() as f64;
        }
        let stated = Stated {
            any: probabilities(&ranked.considered).sum(),
            best: probabilities(&ranked.considered).next().unwrap_or_default(),
            is_answer: ranking.first().is_some_and(is_right),
            is_found: ranking.iter().take(RECALL_DEPTH).any(is_right),
        };
        let is_lost = if right.is_empty() { !shown.is_empty() } else { !shown.iter().any(is_right) };
        if is_lost {
            let trigger = |id: &LessonId| triggers.get(id).cloned();
            self.losses.push(Loss {
                kind: question.kind.clone(),
                question: question.text.clone(),
                wanted: right.first().and_then(trigger),
                shown: shown.iter().filter_map(trigger).collect(),
                probability: round(stated.any),
            });
        }
        if right.is_empty() {
            self.unrelated.entry(question.kind.clone()).or_default().push(stated);
        } else {
            self.related.push(stated);
            self.open.add(&ranking, &right);
        }
    }

    /// The share of related questions that lose their lesson where this share of the unrelated ones of a kind is answered.
    fn lost_at(&self, unrelated: &[Stated], share: f64) -> f64 {
        let mut unrelated: Vec<f64> = unrelated.iter().map(|stated| stated.any).collect();
        unrelated.sort_by(|a, b| b.total_cmp(a));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
        let place = (unrelated.len() as f64 * share) as usize;
        1.0 - self.coverage(unrelated.get(place).copied().unwrap_or_default())
    }

    /// The share of related questions that get their lesson from a gate at this probability.
    fn coverage(&self, cut: f64) -> f64 {
        let kept = self.related.iter().filter(|stated| stated.is_found && stated.any > cut).count();
        kept as f64 / self.related.len().max(1) as f64
    }

    /// What each gate would cost: coverage and risk, the latter among unrelated questions of each kind, from the strictest gate
    /// to the most open one.
    #[must_use]
    pub fn risk_coverage(&self) -> BTreeMap<String, Vec<RiskPoint>> {
        let point = |unrelated: &[Stated], percent: u32| {
            let cut = f64::from(percent) / 100.0;
            let n_answered = unrelated.iter().filter(|stated| stated.any > cut).count();
            let risk = round(n_answered as f64 / unrelated.len().max(1) as f64);
            RiskPoint { coverage: round(self.coverage(cut)), risk }
        };
        let curve = |unrelated: &Vec<Stated>| (0..=100).rev().map(|percent| point(unrelated, percent)).collect();
        self.unrelated.iter().map(|(kind, stated)| (kind.clone(), curve(stated))).collect()
    }

    /// Stated probabilities against what was right, in ten classes of equal width; questions that want a lesson weigh as much as
    /// those that want none.
    #[must_use]
    pub fn reliability(&self) -> [ReliabilityClass; 10] {
        let unrelated: Vec<Stated> = self.unrelated.values().flatten().copied().collect();
        let sets = [&self.related, &unrelated];
        let n_sets = sets.iter().filter(|stated| !stated.is_empty()).count().max(1) as f64;
        let mut classes = [ReliabilityClass::default(); 10];
        for stated in sets {
            for answer in stated {
                let weight = 1.0 / (n_sets * stated.len() as f64);
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

    /// Unrelated questions that were answered, the surest first, then questions that lost their lesson, the least sure first: at
    /// most `n` of each kind, each question once.
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

    /// The figures of books of this size.
    #[must_use]
    pub fn report(&self, n_lessons: usize, n_books: usize) -> DefaultReport {
        let shares = |value: fn(&Kind) -> f64| -> BTreeMap<String, f64> {
            self.kinds.iter().map(|(name, kind)| (name.clone(), round(value(kind) / kind.n))).collect()
        };
        let lost = |share: f64| -> BTreeMap<String, f64> {
            let of_kind = |(kind, stated): (&String, &Vec<Stated>)| (kind.clone(), round(self.lost_at(stated, share)));
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

    fn stated(any: f64, is_answer: bool) -> Stated {
        Stated { any, best: any, is_answer, is_found: is_answer }
    }

    fn tally() -> DefaultTally {
        let related = vec![stated(0.95, true), stated(0.85, true), stated(0.45, true), stated(0.25, false)];
        let unrelated = BTreeMap::from([("far".to_owned(), vec![stated(0.05, false), stated(0.65, false)])]);
        DefaultTally { related, unrelated, ..DefaultTally::default() }
    }

    #[test]
    fn a_stricter_gate_covers_less_and_risks_less() {
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
    fn both_kinds_of_question_weigh_the_same() {
        let classes = tally().reliability();
        assert_eq!((classes[6].weight, classes[6].found), (0.25, 0.0));
        assert_eq!((classes[9].weight, classes[9].found), (0.125, 1.0));
        assert!((classes.iter().map(|class| class.weight).sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
