//! How an index searches.

use serde::{Deserialize, Serialize};

/// Which way of searching answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum IndexKind {
    /// Every row is scored: the answer is exact.
    Exact,
    /// A navigable graph over the rows: the answer is exact except for a small share, which `ef` controls.
    Graph,
    /// Each row's product is estimated from the signs of its components after a rotation, one bit per component. Rows that may be near
    /// by that estimate are scored as in an exact search: exact except for a very small share, whatever the vectors are. Vectors with more
    /// than 17,472 components are all scored.
    Coarse,
    /// The graph of the crate `hnsw_rs`, for comparison: as exact, slower, and several times as large. Its documentation does not
    /// say that the same rows always give the same graph, so answers may differ from run to run. Used only if it is named.
    #[cfg(feature = "hnsw_rs")]
    HnswRs,
}

/// Settings of an index: how it searches, and from how many rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IndexConfig {
    /// The kind to use whatever the size, or `None`: exact below `coarse_from` rows, the coarse scan from there on, the graph from
    /// `graph_from` rows on. Default `None`.
    pub kind: Option<IndexKind>,
    /// Rows from which the coarse scan is used. Default 6,000: at 4,000 rows it takes as long as the exact one, at 6,000 a quarter less.
    /// At least 1; from `graph_from` on there is no coarse scan.
    pub coarse_from: usize,
    /// Rows from which the graph is used. Default 300,000: there it takes a quarter of the coarse scan's time, with a recall of .98 instead
    /// of 1.00, after a build of 24 s. At least 1.
    pub graph_from: usize,
    /// Links of a row in the graph (M); twice as many on the lowest level. Default 16, in 4..=64.
    pub links: usize,
    /// Candidates for a new row's links (efConstruction). Default 200, in 8..=2,000.
    pub ef_construction: usize,
    /// Candidates of a search in the graph (ef); `k` where that is more. Default 128, in 1..=10,000.
    pub ef: usize,
    /// Threads that link rows which join together, also when an index compacts itself. The graph is the same with any number.
    /// Default 1: no thread but the caller's. In 1..=64.
    pub build_threads: usize,
}

/// The maximum threads that link rows.
pub(crate) const MOST_THREADS: usize = 64;

impl Default for IndexConfig {
    fn default() -> Self {
        Self {
            kind: None,
            coarse_from: 6_000,
            graph_from: 300_000,
            links: 16,
            ef_construction: 200,
            ef: 128,
            build_threads: 1,
        }
    }
}

/// The settings of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GraphShape {
    /// The maximum links of a row on an upper level, and of a new row (M). On the lowest level a row has room for twice as many.
    pub(crate) links: usize,
    /// The number of candidates for a new row's links (efConstruction).
    pub(crate) ef_construction: usize,
}

/// A setting that is out of range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{setting} is {value}, it must be {expected}")]
#[non_exhaustive]
pub struct InvalidSetting {
    /// The setting.
    pub setting: &'static str,
    /// Its value.
    pub value: String,
    /// What it may be.
    pub expected: &'static str,
}

impl IndexConfig {
    /// Checks every range.
    ///
    /// # Errors
    /// [`InvalidSetting`] names the first setting that is out of range, its value and what it may be.
    pub fn validate(&self) -> Result<(), InvalidSetting> {
        let Self { kind: _, coarse_from, graph_from, links, ef_construction, ef, build_threads } = *self;
        let sizes = [
            ("index.coarse_from", coarse_from, 1..=usize::MAX, "at least 1"),
            ("index.graph_from", graph_from, 1..=usize::MAX, "at least 1"),
            ("index.links", links, 4..=64, "in 4..=64"),
            ("index.ef_construction", ef_construction, 8..=2_000, "in 8..=2,000"),
            ("index.ef", ef, 1..=10_000, "in 1..=10,000"),
            ("index.build_threads", build_threads, 1..=MOST_THREADS, "in 1..=64"),
        ];
        match sizes.into_iter().find(|(_, value, range, _)| !range.contains(value)) {
            Some((setting, value, _, expected)) => Err(InvalidSetting { setting, value: value.to_string(), expected }),
            None => Ok(()),
        }
    }

    pub(crate) fn has_graph(&self, n_rows: usize) -> bool {
        match self.kind {
            Some(kind) => !matches!(kind, IndexKind::Exact | IndexKind::Coarse),
            None => n_rows >= self.graph_from,
        }
    }

    /// True if `n_rows` rows, of which `n_joined` are in a graph, have signs.
    pub(crate) fn has_signs(&self, n_rows: usize, n_joined: usize) -> bool {
        match self.kind {
            Some(kind) => kind == IndexKind::Coarse,
            None => n_rows >= self.coarse_from && n_joined == 0,
        }
    }

    /// The shape of a graph, clamped to the valid ranges.
    pub(crate) fn shape(&self) -> GraphShape {
        GraphShape { links: self.links.clamp(4, 64), ef_construction: self.ef_construction.clamp(8, 2_000) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_out_of_range_is_named_with_its_value() {
        assert_eq!(IndexConfig::default().validate(), Ok(()));
        let check = |config: IndexConfig, expected: &str| {
            assert_eq!(config.validate().unwrap_err().to_string(), expected);
        };
        let default = IndexConfig::default;
        check(IndexConfig { coarse_from: 0, ..default() }, "index.coarse_from is 0, it must be at least 1");
        check(IndexConfig { graph_from: 0, ..default() }, "index.graph_from is 0, it must be at least 1");
        check(IndexConfig { links: 65, ..default() }, "index.links is 65, it must be in 4..=64");
        check(IndexConfig { ef_construction: 7, ..default() }, "index.ef_construction is 7, it must be in 8..=2,000");
        check(IndexConfig { ef: 10_001, ..default() }, "index.ef is 10001, it must be in 1..=10,000");
        check(IndexConfig { build_threads: 65, ..default() }, "index.build_threads is 65, it must be in 1..=64");
    }
}
