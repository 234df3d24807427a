//! Queries and their results.

use std::sync::Arc;

use adage_index::{IndexKind, SearchScope, UnitVector, VectorError};
use serde::Serialize;

use super::filter::Filter;
use super::view::View;
use super::{Inner, VectorMemory};
use crate::document::Document;
use crate::embed::{Embedder, Role, embed_units};
use crate::error::config;
use crate::error::vector_memory::{Error, Result};
use crate::setters::setters;

/// A query: the text or vector, the maximum number and distance of results, and a filter.
#[derive(Clone, Debug, PartialEq)]
pub struct Lookup {
    near: Near,
    limit: usize,
    max_distance: f32,
    filter: Filter,
}

#[derive(Clone, Debug, PartialEq)]
enum Near {
    Text(String),
    Vector(Vec<f32>),
}

impl Lookup {
    /// The default limit of results. By default, the distance is not limited and all documents are searched.
    pub const DEFAULT_LIMIT: usize = 10;

    /// Documents near this text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::near(Near::Text(text.into()))
    }

    /// Documents near this vector, which must come from the handle's model. It need not have unit length.
    pub fn vector(vector: impl Into<Vec<f32>>) -> Self {
        Self::near(Near::Vector(vector.into()))
    }

    fn near(near: Near) -> Self {
        Self { near, limit: Self::DEFAULT_LIMIT, max_distance: 2.0, filter: Filter::all() }
    }

    setters! {
        /// Returns at most this many documents; 0 returns none.
        limit(limit: usize) => limit = limit;
        /// Returns only documents within this cosine distance: `1 − cos`, 0 for the same direction, 2 for the opposite one.
        within(max_distance: f32) => max_distance = max_distance;
        /// Returns only documents that match the filter.
        filtered(filter: Filter) => filter = filter;
    }
}

/// The result of a query.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LookupResult {
    /// Nearest first. The order of ties does not depend on the query.
    pub hits: Vec<Hit>,
    /// How the vectors were searched.
    pub by: IndexKind,
}

/// A document near the query.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Hit {
    /// The document.
    pub document: Arc<Document>,
    /// Its cosine distance from the query, in [0, 2]; smaller is nearer.
    pub distance: f32,
}

impl VectorMemory {
    /// The documents nearest to a text or a vector. Documents without a vector are embedded first: see
    /// [`needs_embedding`](Self::needs_embedding).
    ///
    /// # Errors
    /// [`Error::NoEmbedder`]; [`Error::Vector`] for an unusable vector or one of another dimension;
    /// [`Error::Config`] for a distance that is not a number; [`Error::Embed`]; [`FolderError::Io`](crate::FolderError::Io).
    pub fn query(&self, lookup: &Lookup) -> Result<LookupResult> {
        let found = self.0.answer(std::slice::from_ref(lookup))?.pop();
        Ok(found.unwrap_or(LookupResult { hits: Vec::new(), by: IndexKind::Exact }))
    }

    /// Answers several queries on the same state; their texts are embedded together. The results are in the order of the
    /// queries.
    ///
    /// # Errors
    /// As [`query`](Self::query), for the first query that fails.
    pub fn query_all(&self, lookups: &[Lookup]) -> Result<Vec<LookupResult>> {
        self.0.answer(lookups)
    }
}

impl Inner {
    fn answer(&self, lookups: &[Lookup]) -> Result<Vec<LookupResult>> {
        let embedder = self.embedder.as_deref().ok_or(Error::NoEmbedder)?;
        for lookup in lookups {
            if lookup.max_distance.is_nan() {
                let expected = "a number in [0, 2]";
                let invalid = config::Error::Invalid { setting: "max_distance", value: "NaN".to_owned(), expected };
                return Err(invalid.into());
            }
        }
        let vectors = vectors(embedder, lookups)?;
        loop {
            let (mut view, _) = self.embed_missing(embedder)?;
            if is_outdated(&view, lookups, &vectors) {
                self.change(View::forget_vectors);
                (view, _) = self.embed_missing(embedder)?;
            }
            let found: Vec<LookupResult> = lookups
                .iter()
                .zip(&vectors)
                .map(|(lookup, vector)| answer(&view, lookup, vector))
                .collect::<Result<_>>()?;
            // A document whose line turned out damaged cannot be returned.
            if !view.documents.is_damaged() {
                return Ok(found);
            }
        }
    }
}

/// A vector for each query.
fn vectors(embedder: &dyn Embedder, lookups: &[Lookup]) -> Result<Vec<UnitVector>> {
    let texts = lookups.iter().filter_map(|lookup| match &lookup.near {
        Near::Text(text) => Some(text.as_str()),
        Near::Vector(_) => None,
    });
    let mut of_texts = embed_units(embedder, &texts.collect::<Vec<_>>(), Role::Query)?.into_iter();
    let vectors = lookups.iter().map(|lookup| match &lookup.near {
        // There is one for each text.
        Near::Text(_) => of_texts.next().ok_or(VectorError::Zero.into()),
        Near::Vector(vector) => UnitVector::new(vector).map_err(Error::from),
    });
    vectors.collect()
}

/// True if the embedder's vectors have another dimension than those of the state: it changed without changing its fingerprint.
fn is_outdated(view: &View, lookups: &[Lookup], vectors: &[UnitVector]) -> bool {
    let Some(dimension) = view.index.dimension() else { return false };
    let mut asked = lookups.iter().zip(vectors).filter(|(lookup, _)| matches!(lookup.near, Near::Text(_)));
    asked.any(|(_, vector)| vector.as_slice().len() != dimension)
}

fn answer(view: &View, lookup: &Lookup, vector: &UnitVector) -> Result<LookupResult> {
    let keys = lookup.filter.keys(&view.documents);
    let among = keys.as_deref().map_or(SearchScope::All, SearchScope::Only);
    let answer = view.index.search(vector, lookup.limit, among)?;
    let near = answer.neighbours.into_iter().filter(|neighbour| neighbour.distance <= lookup.max_distance);
    let hits = near.filter_map(|neighbour| {
        let distance = neighbour.distance;
        view.documents.document(neighbour.key).map(|found| found.map(|document| Hit { document, distance })).transpose()
    });
    Ok(LookupResult { hits: hits.collect::<Result<_, _>>()?, by: answer.by })
}
