//! The classic rule, by vectors and by words.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use adage::config::RetrievalRule;
use adage::retrieve::TierChoice;
use adage::{Context, LessonId, Playbook, Request};
use serde_json::json;

use super::books::Book;
use super::{Failure, Scores, round};

/// Lessons that are asked for.
const DEPTH: usize = 50;

/// Sums over all questions, by tier.
#[derive(Default)]
pub(crate) struct Classic {
    tiers: BTreeMap<&'static str, Scores>,
    n_related: f64,
}

impl Classic {
    pub(crate) fn add(&mut self, book: &Book) -> Result<(), Failure> {
        let gated = book.open(|config| config.retrieval.rule = RetrievalRule::Classic)?;
        let open = book.open(|config| {
            config.retrieval.rule = RetrievalRule::Classic;
            config.retrieval.distance_threshold = 2.0;
            config.retrieval.lexical_floor = 0.0;
            config.retrieval.min_neighbours = DEPTH;
        })?;
        let mut n_of_kind: BTreeMap<&str, f64> = BTreeMap::new();
        for question in &book.questions {
            *n_of_kind.entry(&question.kind).or_default() += 1.0;
        }
        for question in &book.questions {
            let right = book.right(question);
            self.n_related += f64::from(u8::from(!right.is_empty()));
            for (name, tier) in [("vector", TierChoice::Vector), ("lexical", TierChoice::Lexical)] {
                let request =
                    Request::about(question.text.clone()).tier(tier).max_tokens(usize::MAX).limit(DEPTH).peek();
                let scores = self.tiers.entry(name).or_default();
                let (shown, micros) = ask(&gated, request.clone())?;
                scores.micros.push(micros);
                if right.is_empty() {
                    let share = f64::from(u8::from(!shown.is_empty())) / n_of_kind[question.kind.as_str()];
                    *scores.answered.entry(question.kind.clone()).or_default() += share;
                } else {
                    scores.add_ranking(&ask(&open, request)?.0, &right);
                    let shown: BTreeSet<LessonId> = shown.into_iter().collect();
                    scores.cut += f64::from(u8::from(right.is_disjoint(&shown)));
                }
            }
        }
        Ok(())
    }

    pub(crate) fn report(&self, is_json: bool) {
        let n = self.n_related.max(1.0);
        for (tier, scores) in &self.tiers {
            let answered: BTreeMap<&String, f64> =
                scores.answered.iter().map(|(kind, share)| (kind, round(*share))).collect();
            let [p50, p90, p99] = [0.5, 0.9, 0.99].map(|share| scores.percentile(share).round());
            let report = json!({
                "tier": tier, "ndcg10": round(scores.ndcg / n), "recall5": round(scores.recall / n),
                "mrr10": round(scores.mrr / n), "cut": round(scores.cut / n), "answered": answered,
                "p50_us": p50, "p90_us": p90, "p99_us": p99, "queries": self.n_related,
            });
            if is_json {
                println!("{report}");
            } else {
                println!("{report:#}");
            }
        }
    }
}

fn ask(playbook: &Playbook, request: Request) -> Result<(Vec<LessonId>, f64), Failure> {
    let start = Instant::now();
    let context: Context = playbook.get_playbook_context(request)?;
    let micros = start.elapsed().as_secs_f64() * 1e6;
    Ok((context.lessons.iter().map(|lesson| lesson.id).collect(), micros))
}
