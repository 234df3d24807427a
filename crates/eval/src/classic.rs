//! The classic rule, by vectors and by words.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use adage::config::RetrievalRule;
use adage::retrieve::TierChoice;
use adage::{Context, LessonId, Playbook, Request};
use serde::Serialize;

use crate::Error;
use crate::books::Book;
use crate::ranking::{Scores, percentile, round};

/// Lessons that are asked for.
const DEPTH: usize = 50;

/// What the classic rule shows, by tier: sums over all questions.
#[derive(Clone, Debug, Default)]
pub struct ClassicTally {
    tiers: BTreeMap<&'static str, Tier>,
    n_of_kind: BTreeMap<String, f64>,
}

#[derive(Clone, Debug, Default)]
struct Tier {
    open: Scores,
    cut: f64,
    micros: Vec<f64>,
    answered: BTreeMap<String, f64>,
}

/// What the classic rule shows in a tier.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ClassicReport {
    /// `vector` or `lexical`.
    pub tier: &'static str,
    /// Of the ranking with the gate open.
    pub ndcg10: f64,
    /// Of the ranking with the gate open.
    pub recall5: f64,
    /// Of the ranking with the gate open.
    pub mrr10: f64,
    /// Share of questions whose right lessons the gate cuts.
    pub cut: f64,
    /// Share of the questions that want no lesson and are answered, by kind.
    pub answered: BTreeMap<String, f64>,
    /// Median time of a recall, µs, excluding the embedding of a text that is kept.
    pub p50_us: f64,
    /// The time that a tenth of recalls exceed, µs.
    pub p90_us: f64,
    /// The time that a hundredth of recalls exceed, µs.
    pub p99_us: f64,
    /// Questions that want a lesson.
    pub queries: f64,
}

impl ClassicTally {
    /// Asks every question of a book in both tiers: once with the gate as the rule has it, once with it open.
    ///
    /// # Errors
    /// [`Error::Playbook`].
    pub fn add(&mut self, book: &Book) -> Result<(), Error> {
        let gated = book.open(|config| config.retrieval.rule = RetrievalRule::Classic)?;
        let open = book.open(|config| {
            config.retrieval.rule = RetrievalRule::Classic;
            config.retrieval.distance_threshold = 2.0;
            config.retrieval.lexical_floor = 0.0;
            config.retrieval.min_neighbours = DEPTH;
        })?;
        for question in &book.questions {
            let right = book.right(question);
            *self.n_of_kind.entry(question.kind.clone()).or_default() += 1.0;
            book.embedder.vector(&question.text)?;
            for (name, tier) in [("vector", TierChoice::Vector), ("lexical", TierChoice::Lexical)] {
                let request =
                    Request::about(question.text.clone()).tier(tier).max_tokens(usize::MAX).limit(DEPTH).peek();
                let tally = self.tiers.entry(name).or_default();
                let (shown, micros) = ask(&gated, request.clone())?;
                tally.micros.push(micros);
                if right.is_empty() {
                    *tally.answered.entry(question.kind.clone()).or_default() += f64::from(u8::from(!shown.is_empty()));
                } else {
                    tally.open.add(&ask(&open, request)?.0, &right);
                    let shown: BTreeSet<LessonId> = shown.into_iter().collect();
                    tally.cut += f64::from(u8::from(right.is_disjoint(&shown)));
                }
            }
        }
        Ok(())
    }

    /// The figures, by tier.
    #[must_use]
    pub fn reports(&self) -> Vec<ClassicReport> {
        self.tiers.iter().map(|(tier, tally)| self.report(tier, tally)).collect()
    }

    fn report(&self, tier: &'static str, tally: &Tier) -> ClassicReport {
        let [ndcg10, recall5, mrr10] = tally.open.means();
        let n_of_kind = |kind: &String| self.n_of_kind.get(kind).copied().unwrap_or(1.0);
        let answered = tally.answered.iter().map(|(kind, n)| (kind.clone(), round(n / n_of_kind(kind))));
        let [p50_us, p90_us, p99_us] = [0.5, 0.9, 0.99].map(|share| percentile(&tally.micros, share).round());
        ClassicReport {
            tier,
            ndcg10,
            recall5,
            mrr10,
            cut: round(tally.cut / tally.open.n.max(1.0)),
            answered: answered.collect(),
            p50_us,
            p90_us,
            p99_us,
            queries: tally.open.n,
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a measurement")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

fn ask(playbook: &Playbook, request: Request) -> Result<(Vec<LessonId>, f64), Error> {
    let start = now();
    let context: Context = playbook.get_playbook_context(request)?;
    let micros = start.elapsed().as_secs_f64() * 1e6;
    Ok((context.lessons.iter().map(|lesson| lesson.id).collect(), micros))
}
