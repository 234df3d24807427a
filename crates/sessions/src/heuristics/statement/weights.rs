//! The fitted weights of the cues.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Written by `scripts/fit_statements.py`: each cue, and its weights for the three [`Probabilities`].
const TABLE: &str = include_str!("weights.tsv");

/// The name of the row that counts for every turn.
const BIAS: &str = "bias";

#[derive(Debug)]
pub(super) struct Weights(HashMap<&'static str, [f64; 3]>);

/// The probabilities, each from 0 to 1: of a statement, of holding beyond the session, of being the sentence that makes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Probabilities {
    pub(super) tells: f64,
    pub(super) holds: f64,
    pub(super) says: f64,
}

impl Weights {
    pub(super) fn fitted() -> &'static Self {
        static WEIGHTS: LazyLock<Weights> = LazyLock::new(|| Weights(TABLE.lines().filter_map(row).collect()));
        &WEIGHTS
    }

    pub(super) fn probabilities(&self, cues: &[String]) -> Probabilities {
        let rows = cues.iter().map(String::as_str).chain([BIAS]).filter_map(|cue| self.0.get(cue));
        let [tells, holds, says] = rows.fold([0.0; 3], |[a, b, c], [x, y, z]| [a + x, b + y, c + z]).map(logistic);
        Probabilities { tells, holds, says }
    }
}

fn row(line: &'static str) -> Option<(&'static str, [f64; 3])> {
    let mut columns = line.split('\t');
    let cue = columns.next().filter(|cue| !cue.starts_with('#'))?;
    let mut weight = || columns.next()?.parse().ok();
    Some((cue, [weight()?, weight()?, weight()?]))
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}
