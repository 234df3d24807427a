//! The graph of an index: the own one, or that of `hnsw_rs`.

use crate::graph::{Builder, Graph};
#[cfg(feature = "hnsw_rs")]
use crate::hnsw_rs::HnswRs;
use crate::kernels::Kernel;
use crate::rows::Rows;
use crate::{IndexConfig, IndexKind};

/// A graph over the first of the base's rows; it may have none.
#[derive(Clone, Debug)]
pub(super) enum Links {
    Own(Graph),
    #[cfg(feature = "hnsw_rs")]
    HnswRs(HnswRs),
}

impl Links {
    pub(super) fn new(
        config: &IndexConfig,
        #[cfg_attr(not(feature = "hnsw_rs"), expect(unused_variables))] kernel: Kernel,
    ) -> Self {
        let shape = config.shape();
        match config.kind {
            #[cfg(feature = "hnsw_rs")]
            Some(IndexKind::HnswRs) => Self::HnswRs(HnswRs::new(shape, kernel)),
            _ => Self::Own(Graph::new(shape)),
        }
    }

    /// The kind that answers for a search in this graph.
    pub(super) fn kind(&self) -> IndexKind {
        match self {
            Self::Own(_) => IndexKind::Graph,
            #[cfg(feature = "hnsw_rs")]
            Self::HnswRs(_) => IndexKind::HnswRs,
        }
    }

    /// How many rows have joined.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Own(graph) => graph.len(),
            #[cfg(feature = "hnsw_rs")]
            Self::HnswRs(graph) => graph.len(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Own(graph) => graph.bytes(),
            #[cfg(feature = "hnsw_rs")]
            Self::HnswRs(graph) => graph.bytes(),
        }
    }

    /// Joins all rows that have not joined yet.
    pub(super) fn join(&mut self, rows: &Rows, kernel: Kernel, threads: usize) {
        match self {
            Self::Own(graph) => graph.join(Builder { rows, kernel, threads }),
            #[cfg(feature = "hnsw_rs")]
            Self::HnswRs(graph) => graph.join(rows, rows.len(), kernel),
        }
    }
}
