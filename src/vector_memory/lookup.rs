//! Queries and their results.

use std::ops::Range;
use std::sync::Arc;

use adage_index::{IndexKind, UnitVector, VectorError};
use serde::Serialize;

use super::filter::Filter;
use super::ranking::rank;
use super::view::{Searched, View};
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
    /// Whether the words of a text count.
    has_words: bool,
    pub(super) limit: usize,
    pub(super) max_distance: f32,
    pub(super) filter: Filter,
}

#[derive(Clone, Debug, PartialEq)]
enum Near {
    Text(String),
    Vector(Vec<f32>),
}

impl Lookup {
    /// The default limit of results. By default, the distance is not limited and all documents are searched.
    pub const DEFAULT_LIMIT: usize = 10;

    /// Documents that match this text, by their vectors and their words; without an embedder, by their words alone.
    pub fn text(text: impl Into<String>) -> Self {
        Self::near(Near::Text(text.into()))
    }

    /// Documents near this vector, which must come from the handle's model. It need not have unit length.
    pub fn vector(vector: impl Into<Vec<f32>>) -> Self {
        Self::near(Near::Vector(vector.into()))
    }

    fn near(near: Near) -> Self {
        Self { near, has_words: true, limit: Self::DEFAULT_LIMIT, max_distance: 2.0, filter: Filter::all() }
    }

    setters! {
        /// Compares only vectors, also for a query by text, which then needs an embedder.
        vectors_only() => has_words = false;
        /// Returns at most this many documents; 0 returns none.
        limit(limit: usize) => limit = limit;
        /// Returns only documents within this cosine distance: `1 − cos`, 0 for the same direction, 2 for the opposite one. It does
        /// not apply to a document whose distance is unknown: see [`Hit::distance`].
        within(max_distance: f32) => max_distance = max_distance;
        /// Returns only documents that match the filter.
        filtered(filter: Filter) => filter = filter;
    }

    /// The text, if words count.
    pub(super) fn words(&self) -> Option<&str> {
        match &self.near {
            Near::Text(text) => self.has_words.then_some(text),
            Near::Vector(_) => None,
        }
    }
}

/// The result of a query.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LookupResult {
    /// Best first. The order of ties does not depend on the query.
    pub hits: Vec<Hit>,
    /// How the vectors were searched; none if they were not.
    pub by: Option<IndexKind>,
}

/// A document that matches the query, by its best chunk: a text of more than 200 estimated tokens is searched in overlapping
/// parts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Hit {
    /// The document.
    pub document: Arc<Document>,
    /// The score of its best chunk; larger is better. Scores of queries by text and of others are not comparable.
    pub score: f32,
    /// The chunk's cosine distance from the query, in [0, 2]; smaller is nearer. None if no vectors were compared: there is no
    /// embedder, or it makes no usable vector of this text.
    pub distance: Option<f32>,
    /// Where the chunk is in the document's text, in bytes.
    pub chunk: Range<usize>,
}

impl Hit {
    /// The text of the chunk.
    #[must_use]
    pub fn chunk_text(&self) -> &str {
        self.document.text.get(self.chunk.clone()).unwrap_or_default()
    }
}

impl VectorMemory {
    /// The documents that match a text, or are nearest to a vector. Documents without a vector are embedded first: see
    /// [`documents_without_vector`](Self::documents_without_vector). The first query by text reads all documents.
    ///
    /// # Errors
    /// [`Error::NoEmbedder`], except for a query by [text](Lookup::text) of which words count; [`Error::Vector`] for an unusable vector or one of another dimension;
    /// [`Error::Config`] for a distance that is not a number; [`Error::Embed`]; [`FolderError::Io`](crate::FolderError::Io).
    pub fn query(&self, lookup: &Lookup) -> Result<LookupResult> {
        let found = self.0.answer(std::slice::from_ref(lookup))?.pop();
        Ok(found.unwrap_or(LookupResult { hits: Vec::new(), by: None }))
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
        for lookup in lookups {
            if lookup.max_distance.is_nan() {
                let expected = "a number in [0, 2]";
                let invalid = config::Error::Invalid { setting: "max_distance", value: "NaN".to_owned(), expected };
                return Err(invalid.into());
            }
        }
        let vectors = match self.embedder.as_deref() {
            Some(embedder) => vectors(embedder, lookups)?.into_iter().map(Some).collect(),
            None if lookups.iter().all(|lookup| lookup.words().is_some()) => vec![None; lookups.len()],
            None => return Err(Error::NoEmbedder),
        };
        let view = self.searched(lookups, &vectors)?;
        lookups.iter().zip(&vectors).map(|(lookup, vector)| rank(&view, lookup, vector.as_ref())).collect()
    }

    /// A state in which what the queries search is up to date.
    fn searched(&self, lookups: &[Lookup], vectors: &[Option<UnitVector>]) -> Result<Arc<View>> {
        let by_words = lookups.iter().any(|lookup| lookup.words().is_some());
        let searched = if by_words { Searched::VectorsAndWords } else { Searched::Vectors };
        // First, so that no thread replaces the state between the vectors and the words.
        let view = self.followed(searched)?;
        let Some(embedder) = self.embedder.as_deref() else { return Ok(view) };
        let (mut view, _) = self.embed_missing(embedder)?;
        if is_outdated(&view, lookups, vectors) {
            self.change(|next| next.chunks.forget_vectors());
            (view, _) = self.embed_missing(embedder)?;
        }
        if view.has_followed(searched) { Ok(view) } else { self.searched(lookups, vectors) }
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
fn is_outdated(view: &View, lookups: &[Lookup], vectors: &[Option<UnitVector>]) -> bool {
    let Some(dimension) = view.chunks.vectors.dimension() else { return false };
    let mut asked = lookups.iter().zip(vectors).filter(|(lookup, _)| !matches!(lookup.near, Near::Vector(_)));
    asked.any(|(_, vector)| vector.as_ref().is_some_and(|vector| vector.as_slice().len() != dimension))
}
