//! Retrieval by the classic rule, in the vector and the lexical tier.

use std::collections::{BTreeMap, BTreeSet};

use adage::config::RetrievalRule;
use adage::retrieve::TierChoice;
use adage::{LessonId, Playbook, Request};
use serde::Serialize;

use crate::Error;
use crate::metrics::{Scores, percentile, round};
use crate::sampling::SampledPlaybook;
use crate::timing::timed;

/// Lessons per request.
const DEPTH: usize = 50;

/// Sums over all questions, by tier.
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

/// Retrieval by the classic rule in one tier.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ClassicReport {
    /// `vector` or `lexical`.
    pub tier: &'static str,
    /// nDCG@10 with the gate open.
    pub ndcg10: f64,
    /// Recall@5 with the gate open.
    pub recall5: f64,
    /// MRR@10 with the gate open.
    pub mrr10: f64,
    /// Share of related questions whose relevant lessons the gate withholds.
    pub cut: f64,
    /// Share of unrelated questions that are answered, by kind.
    pub answered: BTreeMap<String, f64>,
    /// Median time of a request, in µs, excluding the embedding.
    pub p50_us: f64,
    /// 90th percentile of that time, in µs.
    pub p90_us: f64,
    /// 99th percentile of that time, in µs.
    pub p99_us: f64,
    /// Number of related questions.
    pub queries: f64,
}

impl ClassicTally {
    /// Asks a playbook every question in both tiers, with the gate of the rule and with the gate open.
    ///
    /// # Errors
    /// [`Error::Playbook`].
    pub fn add(&mut self, playbook: &SampledPlaybook) -> Result<(), Error> {
        let gated = playbook.open(|config| config.retrieval.rule = RetrievalRule::Classic)?;
        let open = playbook.open(|config| {
            config.retrieval.rule = RetrievalRule::Classic;
            config.retrieval.distance_threshold = 2.0;
            config.retrieval.lexical_floor = 0.0;
            config.retrieval.min_neighbours = DEPTH;
        })?;
        for question in &playbook.questions {
            let relevant = playbook.relevant(question);
            *self.n_of_kind.entry(question.kind.clone()).or_default() += 1.0;
            playbook.embedder.vector(&question.text)?;
            for (name, tier) in [("vector", TierChoice::Vector), ("lexical", TierChoice::Lexical)] {
                let request =
                    Request::about(question.text.clone()).tier(tier).max_tokens(usize::MAX).limit(DEPTH).peek();
                let tally = self.tiers.entry(name).or_default();
                let (shown, micros) = ask(&gated, request.clone())?;
                tally.micros.push(micros);
                if relevant.is_empty() {
                    *tally.answered.entry(question.kind.clone()).or_default() += f64::from(u8::from(!shown.is_empty()));
                } else {
                    tally.open.add(&ask(&open, request)?.0, &relevant);
                    let shown: BTreeSet<LessonId> = shown.into_iter().collect();
                    tally.cut += f64::from(u8::from(relevant.is_disjoint(&shown)));
                }
            }
        }
        Ok(())
    }

    /// One report per tier.
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

fn ask(playbook: &Playbook, request: Request) -> Result<(Vec<LessonId>, f64), Error> {
    let (context, time) = timed(|| playbook.get_playbook_context(request))?;
    let micros = time.as_secs_f64() * 1e6;
    Ok((context.lessons.iter().map(|lesson| lesson.id).collect(), micros))
}
