//! Which pairs of lessons merge when they are learned, and what a request then shows of them.

use std::collections::BTreeMap;
use std::env;
use std::sync::Arc;

use adage::chrono::{DateTime, TimeDelta};
use adage::{
    Config, Context, Embedder, LearnOutcome, LessonDraft, LessonId, ManualClock, Playbook, Request, build_lesson,
};
use serde::Serialize;
use serde_json::Value;

use crate::Error;
use crate::dataset::text;
use crate::metrics::round;

/// Time between the first and the second lesson of each pair.
const DELAY: TimeDelta = TimeDelta::days(30);

/// Results for the pairs of one kind; all `f64` are shares of the pairs, in [0, 1].
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PairsReport {
    /// `exchanged`, `reworded`, `correction`, `adds`, `unrelated-near`, or another kind of the data set.
    pub kind: String,
    /// Pairs of this kind.
    pub pairs: usize,
    /// The second lesson was merged into the first, or superseded it.
    pub merged: f64,
    /// Merged, or the outcome names the first lesson as near, so that a host can ask.
    pub merged_or_asked: f64,
    /// A request for the second lesson's trigger shows both.
    pub both_shown: f64,
    /// That request shows the second lesson first.
    pub newer_first: f64,
    /// It also marks the first one as contradicted.
    pub older_marked: f64,
    /// It marks the first one as contradicted or does not show it.
    pub older_marked_or_not_shown: f64,
}

/// Precision and recall of merging, on pairs of texts labelled as duplicates or not.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct DuplicatesReport {
    /// Number of pairs.
    pub pairs: usize,
    /// Number of pairs that are duplicates.
    pub duplicates: usize,
    /// Share of merged pairs that are duplicates.
    pub precision: f64,
    /// Share of duplicates that merged.
    pub recall: f64,
    /// Precision if a pair whose first text is named as near counts as merged.
    pub asked_precision: f64,
    /// Recall if such a pair counts as merged.
    pub asked_recall: f64,
}

/// What happened to one pair.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PairOutcome {
    /// Its id in the data set.
    pub id: String,
    /// Its kind.
    pub kind: String,
    /// What happened, in words.
    pub outcome: String,
    /// Whether this is correct for the kind of pair: duplicates merge, others do not.
    pub is_right: bool,
}

/// Learns the lessons of all pairs, each pair in its own project, and then requests the second lesson's trigger.
///
/// Rows hold `id`, `kind` and two lessons, `a` and `b`, of which `b` is learned 30 days later. Kinds: `exchanged` (they differ in a
/// word or two), `reworded` (duplicates), `correction` (`b` revokes `a`), `adds` (another mistake in the same situation).
///
/// # Errors
/// [`Error::Playbook`].
pub fn measure_pairs(
    pairs: &[Value],
    config: &Config,
    embedder: &Arc<dyn Embedder>,
) -> Result<(Vec<PairsReport>, Vec<PairOutcome>), Error> {
    let lesson = |pair: &Value, side: &str| {
        LessonDraft::from_json(pair.get(side).and_then(Value::as_object).cloned().unwrap_or_default())
    };
    let drafts: Vec<[LessonDraft; 2]> = pairs.iter().map(|pair| [lesson(pair, "a"), lesson(pair, "b")]).collect();
    let learned = LearnedPairs::new(&drafts, config, embedder)?;
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut all = Vec::new();
    for (number, (pair, outcomes)) in pairs.iter().zip(&learned.outcomes).enumerate() {
        let (id, kind) = (text(pair, "id").to_owned(), text(pair, "kind"));
        let trigger = pair.pointer("/b/trigger").and_then(Value::as_str).unwrap_or_default();
        let request = Request::about(trigger).project(project(number)).peek();
        let context = learned.playbook.get_playbook_context(request)?;
        let (outcome, is_right) = tallies.entry(kind).or_default().count(kind, outcomes, &context);
        all.push(PairOutcome { id, kind: kind.to_owned(), outcome, is_right });
    }
    Ok((tallies.into_iter().map(|(kind, tally)| tally.report(kind)).collect(), all))
}

/// Learns both texts of all pairs, each pair in its own project. Rows hold two texts, `a` and `b`, and `dup`, 0 or 1.
///
/// # Errors
/// [`Error::Playbook`].
pub fn measure_duplicates(
    pairs: &[Value],
    config: &Config,
    embedder: &Arc<dyn Embedder>,
) -> Result<(DuplicatesReport, Vec<PairOutcome>), Error> {
    let lesson = |pair: &Value, side: &str| build_lesson(text(pair, side), text(pair, side));
    let drafts: Vec<[LessonDraft; 2]> = pairs.iter().map(|pair| [lesson(pair, "a"), lesson(pair, "b")]).collect();
    let learned = LearnedPairs::new(&drafts, config, embedder)?;
    let (mut merged, mut asked, mut duplicates, mut all) = (Positives::default(), Positives::default(), 0, Vec::new());
    for (pair, [_, second]) in pairs.iter().zip(&learned.outcomes) {
        let is_duplicate = pair.get("dup").and_then(Value::as_u64) == Some(1);
        duplicates += usize::from(is_duplicate);
        merged.add(is_merged(second), is_duplicate);
        asked.add(is_merged(second) || is_asked(second), is_duplicate);
        let kind = if is_duplicate { "duplicate" } else { "distinct" };
        let is_right = is_merged(second) == is_duplicate;
        let id = text(pair, "id").to_owned();
        all.push(PairOutcome { id, kind: kind.to_owned(), outcome: second.to_string(), is_right });
    }
    let [precision, recall] = merged.precision_and_recall(duplicates);
    let [asked_precision, asked_recall] = asked.precision_and_recall(duplicates);
    let report = DuplicatesReport { pairs: pairs.len(), duplicates, precision, recall, asked_precision, asked_recall };
    Ok((report, all))
}

/// A playbook with the lessons of all pairs, and the outcome of learning each.
struct LearnedPairs {
    playbook: Playbook,
    outcomes: Vec<[LearnOutcome; 2]>,
    _folder: tempfile::TempDir,
}

impl LearnedPairs {
    fn new(pairs: &[[LessonDraft; 2]], config: &Config, embedder: &Arc<dyn Embedder>) -> Result<Self, Error> {
        let folder = tempfile::tempdir().map_err(Error::io(env::temp_dir()))?;
        let clock = Arc::new(ManualClock::new(DateTime::UNIX_EPOCH.fixed_offset()));
        let playbook = Playbook::builder(folder.path())
            .with_config(config.clone())
            .with_embedder(Arc::clone(embedder))
            .with_clock(Arc::<ManualClock>::clone(&clock))
            .open()?;
        let of_pair = |(number, draft): (usize, &LessonDraft)| draft.clone().project(project(number));
        let first = playbook.learn_lessons(pairs.iter().map(|[first, _]| first).enumerate().map(of_pair))?;
        clock.advance(DELAY);
        let second = playbook.learn_lessons(pairs.iter().map(|[_, second]| second).enumerate().map(of_pair))?;
        let outcomes = first.into_iter().zip(second).map(|(first, second)| [first, second]).collect();
        Ok(Self { playbook, outcomes, _folder: folder })
    }
}

fn project(number: usize) -> String {
    format!("pair {number}")
}

fn is_merged(outcome: &LearnOutcome) -> bool {
    matches!(outcome, LearnOutcome::Merged { .. } | LearnOutcome::Superseded { .. })
}

fn is_asked(outcome: &LearnOutcome) -> bool {
    match outcome {
        LearnOutcome::Inserted { near, .. } => !near.is_empty(),
        LearnOutcome::Distinct { .. } => true,
        _ => false,
    }
}

/// Counts over the pairs of one kind.
#[derive(Default)]
struct Tally {
    n_pairs: usize,
    merged: usize,
    merged_or_asked: usize,
    both_shown: usize,
    newer_first: usize,
    marked: usize,
    marked_or_absent: usize,
}

impl Tally {
    /// Counts a pair, and returns what happened to it and whether that is correct.
    fn count(&mut self, kind: &str, [first, second]: &[LearnOutcome; 2], context: &Context) -> (String, bool) {
        let place = |id: Option<LessonId>| context.lessons.iter().position(|shown| Some(shown.id) == id);
        let (older, newer) = (place(first.id()), place(second.id()));
        let shown = older.and_then(|place| context.lessons.get(place));
        let is_marked = shown.is_some_and(|shown| shown.contradicted_by.is_some()) && newer == Some(0);
        let is_marked_or_absent = is_marked || (older.is_none() && newer == Some(0));
        let is_both = !is_merged(second) && older.is_some() && newer.is_some();
        self.n_pairs += 1;
        self.merged += usize::from(is_merged(second));
        self.merged_or_asked += usize::from(is_merged(second) || is_asked(second));
        self.both_shown += usize::from(is_both);
        self.newer_first += usize::from(newer == Some(0));
        self.marked += usize::from(is_marked);
        self.marked_or_absent += usize::from(is_marked_or_absent);
        let is_right = match kind {
            "reworded" => is_merged(second),
            "correction" => is_marked_or_absent,
            "adds" => is_both,
            _ => !is_merged(second),
        };
        let rank =
            |place: Option<usize>| place.map_or("not shown".to_owned(), |place| format!("shown as {}", place + 1));
        (format!("{second}; older {}, newer {}; marked: {is_marked}", rank(older), rank(newer)), is_right)
    }

    fn report(&self, kind: &str) -> PairsReport {
        let share = |count: usize| share(count, self.n_pairs);
        PairsReport {
            kind: kind.to_owned(),
            pairs: self.n_pairs,
            merged: share(self.merged),
            merged_or_asked: share(self.merged_or_asked),
            both_shown: share(self.both_shown),
            newer_first: share(self.newer_first),
            older_marked: share(self.marked),
            older_marked_or_not_shown: share(self.marked_or_absent),
        }
    }
}

/// Pairs that were treated as duplicates.
#[derive(Default)]
struct Positives {
    n: usize,
    n_true: usize,
}

impl Positives {
    fn add(&mut self, is_positive: bool, is_duplicate: bool) {
        self.n += usize::from(is_positive);
        self.n_true += usize::from(is_positive && is_duplicate);
    }

    fn precision_and_recall(&self, duplicates: usize) -> [f64; 2] {
        [share(self.n_true, self.n), share(self.n_true, duplicates)]
    }
}

fn share(count: usize, of: usize) -> f64 {
    round(count as f64 / of.max(1) as f64)
}
