//! What a host gets from `get_playbook_context` with the settings as they are.

use std::collections::BTreeMap;
use std::time::Instant;

use adage::{Context, LessonId, Request};
use serde_json::json;

use super::books::Book;
use super::data::Question;
use super::{Failure, Scores, round};

/// Sums over all books.
#[derive(Default)]
pub(crate) struct Measured {
    /// With the gate open.
    open: Scores,
    n_related: f64,
    micros: Vec<f64>,
    /// By kind: questions, those answered, and of questions that a lesson answers those where it is among the first three.
    kinds: BTreeMap<String, Kind>,
    /// Lessons shown, and answers.
    n_shown: f64,
    n_answers: f64,
    /// The stated probabilities, and what was right, of questions that want a lesson.
    related: Vec<Stated>,
    /// The same of those that want none, by kind.
    unrelated: BTreeMap<String, Vec<Stated>>,
}

#[derive(Clone, Copy)]
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

#[derive(Default)]
struct Kind {
    n: f64,
    answered: f64,
    shown: f64,
    among_three: f64,
}

impl Measured {
    /// Asks every question of a book: once with the gate as it is, once with it open.
    pub(crate) fn add(&mut self, book: &Book) -> Result<(), Failure> {
        let gated = book.open(|_| {})?;
        let open = book.open(|config| {
            config.retrieval.answer_from = Some(0.0);
            config.retrieval.min_share = 0.0;
        })?;
        gated.get_playbook_context(Request::about("a first question, which prepares the indexes").peek())?;
        for question in &book.questions {
            book.embedder.vector(&question.text)?;
            let request = Request::about(question.text.clone()).max_tokens(usize::MAX).peek();
            let start = Instant::now();
            let shown = gated.get_playbook_context(request.clone())?;
            self.micros.push(start.elapsed().as_secs_f64() * 1e6);
            let ranked = open.get_playbook_context(request.limit(10).explain())?;
            self.count(book, question, &shown, &ranked);
        }
        Ok(())
    }

    fn count(&mut self, book: &Book, question: &Question, shown: &Context, ranked: &Context) {
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
        let probabilities = || ranked.considered.iter().filter_map(|scored| scored.probability).map(f64::from);
        let stated = Stated {
            any: probabilities().sum(),
            best: probabilities().next().unwrap_or_default(),
            is_answer: ranking.first().is_some_and(is_right),
            is_found: ranking.iter().take(5).any(is_right),
        };
        if right.is_empty() {
            self.unrelated.entry(question.kind.clone()).or_default().push(stated);
        } else {
            self.related.push(stated);
            self.n_related += 1.0;
            self.open.add_ranking(&ranking, &right);
        }
    }

    /// The share of related questions that lose their lesson where this share of the unrelated ones of a kind is answered.
    fn lost_at(&self, unrelated: &[Stated], share: f64) -> f64 {
        let mut unrelated: Vec<f64> = unrelated.iter().map(|stated| stated.any).collect();
        unrelated.sort_by(|a, b| b.total_cmp(a));
        let cut = unrelated.get((unrelated.len() as f64 * share) as usize).copied().unwrap_or_default();
        let kept = self.related.iter().filter(|stated| stated.is_found && stated.any > cut).count();
        1.0 - kept as f64 / self.related.len().max(1) as f64
    }

    /// Mean distance of stated probability and frequency, in ten classes; questions that want a lesson weigh as much as those
    /// that want none.
    fn calibration_error(&self) -> f64 {
        let unrelated: Vec<Stated> = self.unrelated.values().flatten().copied().collect();
        let mut classes = [(0.0, 0.0); 10];
        for stated in [&self.related, &unrelated] {
            for answer in stated {
                let weight = 0.5 / stated.len() as f64;
                let class = &mut classes[((answer.best * 10.0) as usize).min(9)];
                class.0 += weight * answer.best;
                class.1 += weight * f64::from(u8::from(answer.is_answer));
            }
        }
        classes.iter().map(|(stated, found)| (stated - found).abs()).sum()
    }

    pub(crate) fn report(&self, n_lessons: usize, n_books: usize, is_json: bool) {
        let mut micros = self.micros.clone();
        micros.sort_by(f64::total_cmp);
        let n = self.n_related.max(1.0);
        let shares = |value: fn(&Kind) -> f64| -> BTreeMap<&String, f64> {
            self.kinds.iter().map(|(name, kind)| (name, round(value(kind) / kind.n))).collect()
        };
        let lost = |share: f64| -> BTreeMap<&String, f64> {
            let of_kind = |(kind, stated): (_, &Vec<Stated>)| (kind, round(self.lost_at(stated, share)));
            self.unrelated.iter().map(of_kind).collect()
        };
        let report = json!({
            "tier": "default", "lessons": n_lessons, "books": n_books, "queries": self.n_related,
            "ndcg10": round(self.open.ndcg / n), "recall5": round(self.open.recall / n), "mrr10": round(self.open.mrr / n),
            "cut": round(1.0 - self.kinds.values().map(|kind| kind.shown).sum::<f64>() / n),
            "answered": shares(|kind| kind.answered), "among_three": shares(|kind| kind.among_three),
            "shown": round(self.n_shown / self.n_answers.max(1.0)),
            "lost_at_2": lost(0.02), "lost_at_5": lost(0.05),
            "calibration_error": round(self.calibration_error()),
            "p50_us": micros.get(micros.len() / 2).map(|micros| micros.round()),
        });
        if is_json {
            println!("{report}");
        } else {
            println!("{report:#}");
        }
    }
}
