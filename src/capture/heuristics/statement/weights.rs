//! The fitted weights of the cues.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Written by `scripts/fit_statements.py`: cue, weight for "tells the agent something", weight for "holds beyond the session".
const TABLE: &str = include_str!("weights.tsv");

/// The name of the row that every turn has.
const BIAS: &str = "bias";

#[derive(Debug)]
pub(super) struct Weights(HashMap<&'static str, (f64, f64)>);

impl Weights {
    pub(super) fn fitted() -> &'static Self {
        static WEIGHTS: LazyLock<Weights> = LazyLock::new(|| Weights(TABLE.lines().filter_map(row).collect()));
        &WEIGHTS
    }

    /// The two probabilities of a turn with these cues.
    pub(super) fn probabilities(&self, cues: &[&str]) -> (f64, f64) {
        let (tells, holds) = self.sums(cues);
        let (tells_always, holds_always) = self.sums(&[BIAS]);
        (logistic(tells + tells_always), logistic(holds + holds_always))
    }

    /// The sums of the weights of cues.
    pub(super) fn sums(&self, cues: &[&str]) -> (f64, f64) {
        let rows = cues.iter().filter_map(|cue| self.0.get(*cue));
        rows.fold((0.0, 0.0), |(a, b), (tells, holds)| (a + tells, b + holds))
    }
}

fn row(line: &'static str) -> Option<(&'static str, (f64, f64))> {
    let mut columns = line.split('\t');
    let cue = columns.next().filter(|cue| !cue.starts_with('#'))?;
    Some((cue, (columns.next()?.parse().ok()?, columns.next()?.parse().ok()?)))
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}
