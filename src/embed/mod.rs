//! From text to unit vectors: the trait that a host may implement, the bundled model, and an embedder for tests.
//!
//! ```
//! use adage::embed::{Embedder, HashingEmbedder, Role};
//!
//! let embedder = HashingEmbedder; // hashed words: deterministic, and no judge of meaning
//! let rows = embedder.embed(&["pin numpy", "pin pandas"], Role::Document)?;
//! assert_eq!(rows.dim(), (2, 256)); // one row per text
//! # Ok::<(), adage::embed::EmbedError>(())
//! ```

#[cfg(any(feature = "rten", feature = "ort", feature = "bundled-model"))]
mod engine;
#[cfg(any(feature = "rten", feature = "ort"))]
mod graph;
mod hashing;
#[cfg(feature = "ort")]
mod library;
#[cfg(any(feature = "rten", feature = "ort", feature = "bundled-model"))]
mod model;
#[cfg(any(feature = "rten", feature = "ort", feature = "bundled-model"))]
mod onnx;
#[cfg(feature = "ort")]
mod onnxruntime;
#[cfg(any(feature = "rten", feature = "ort", feature = "bundled-model"))]
mod recent;
#[cfg(feature = "rten")]
mod rten;

use adage_index::{UnitVector, VectorError};
use ndarray::Array2;

pub use crate::error::{EmbedError, HostError};
#[cfg(any(feature = "rten", feature = "ort", feature = "bundled-model"))]
pub use engine::Engine;
pub use hashing::HashingEmbedder;
#[cfg(any(feature = "rten", feature = "ort", feature = "bundled-model"))]
pub use model::Model;
#[cfg(any(feature = "rten", feature = "ort", feature = "bundled-model"))]
pub use onnx::OnnxEmbedder;

use crate::lesson::TextHash;

/// The role of an embedded text. Models such as E5 use different prefixes for the two; `MiniLM` uses none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A query.
    Query,
    /// A text that queries search.
    Document,
}

/// Converts texts to vectors. A host may implement it.
///
/// ```
/// use std::sync::Arc;
///
/// use adage::embed::{EmbedError, Role};
/// use adage::ndarray::Array2;
/// use adage::{Embedder, Playbook, TextHash, Tier, build_lesson};
///
/// /// Counts letters: enough to show the shape.
/// struct Letters;
///
/// impl Embedder for Letters {
///     fn embed(&self, texts: &[&str], _: Role) -> Result<Array2<f32>, EmbedError> {
///         let n_times = |text: &str, letter: u8| text.bytes().filter(|byte| *byte == letter).count() as f32;
///         Ok(Array2::from_shape_fn((texts.len(), 26), |(row, column)| n_times(texts[row], b'a' + column as u8)))
///     }
///     fn fingerprint(&self) -> TextHash {
///         TextHash::of(&["letters, version 1"])
///     }
///     fn dimension(&self) -> Result<usize, EmbedError> {
///         Ok(26)
///     }
/// }
///
/// # let folder = tempfile::tempdir()?;
/// let playbook = Playbook::builder(folder.path()).with_embedder(Arc::new(Letters)).open()?;
/// playbook.learn_lesson(build_lesson("pinning numpy", "Pin numpy below 2.0."))?;
/// assert_eq!(playbook.get_playbook_context("pin numpy")?.tier, Tier::Vector);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// If your embedder fails, return [`EmbedError::host`]: lessons are then learned and retrieved by words, unless a request
/// requires vectors.
pub trait Embedder: Send + Sync {
    /// Returns one row per text, in order, with `dimension()` columns; the rows need not have unit length.
    ///
    /// # Errors
    /// [`EmbedError::Load`] when the model cannot be loaded, [`EmbedError::Run`] when it fails; [`EmbedError::host`] carries an
    /// error of the host's own.
    fn embed(&self, texts: &[&str], role: Role) -> Result<Array2<f32>, EmbedError>;

    /// Identifies the model. Vectors with different fingerprints are never compared; change it whenever the vectors change.
    fn fingerprint(&self) -> TextHash;

    /// The number of components of each vector.
    ///
    /// # Errors
    /// [`EmbedError::Load`] when the model has to be loaded for that and cannot be.
    fn dimension(&self) -> Result<usize, EmbedError>;
}

/// Embeds texts and checks the result: as many rows as texts, each a usable vector.
pub(crate) fn embed_units(embedder: &dyn Embedder, texts: &[&str], role: Role) -> Result<Vec<UnitVector>, EmbedError> {
    embed_each(embedder, texts, role)?.into_iter().collect()
}

/// As [`embed_units`], with an error for each unusable vector.
pub(crate) fn embed_each(
    embedder: &dyn Embedder,
    texts: &[&str],
    role: Role,
) -> Result<Vec<Result<UnitVector, EmbedError>>, EmbedError> {
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let rows = embedder.embed(texts, role)?;
    if rows.nrows() != texts.len() {
        return Err(EmbedError::RowCount { texts: texts.len(), rows: rows.nrows() });
    }
    let expected = embedder.dimension()?;
    let units = rows.outer_iter().enumerate().map(|(row, vector)| {
        let unit = match vector.len() {
            found if found != expected => Err(VectorError::Dimension { found, expected }),
            _ => UnitVector::new(&vector.to_vec()),
        };
        unit.map_err(|reason| EmbedError::BadRow { row, reason })
    });
    Ok(units.collect())
}

/// Embeds one text: see [`embed_units`].
pub(crate) fn embed_unit(embedder: &dyn Embedder, text: &str, role: Role) -> Result<UnitVector, EmbedError> {
    let units = embed_units(embedder, &[text], role)?;
    units.into_iter().next().ok_or(EmbedError::RowCount { texts: 1, rows: 0 })
}

/// The bundled embedder, if the crate includes it.
#[allow(clippy::unnecessary_wraps, reason = "each build has one of the two")]
pub(crate) fn bundled() -> Option<std::sync::Arc<dyn Embedder>> {
    #[cfg(feature = "bundled-model")]
    {
        Some(std::sync::Arc::new(OnnxEmbedder::new(Model::bundled(), Engine::BuiltIn)))
    }
    #[cfg(not(feature = "bundled-model"))]
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(Array2<f32>, usize);

    impl Embedder for Fixed {
        fn embed(&self, _: &[&str], _: Role) -> Result<Array2<f32>, EmbedError> {
            Ok(self.0.clone())
        }
        fn fingerprint(&self) -> TextHash {
            TextHash::of(&["fixed"])
        }
        fn dimension(&self) -> Result<usize, EmbedError> {
            Ok(self.1)
        }
    }

    #[test]
    fn what_an_embedder_returns_is_checked() {
        let check = |rows: Array2<f32>, expected: &str| {
            let error = embed_units(&Fixed(rows, 2), &["a"], Role::Query).unwrap_err();
            let text = error.to_string();
            let text = text.strip_prefix("the embedder returned an unusable vector for text 0: ").unwrap_or(&text);
            assert_eq!(text, expected);
        };
        check(Array2::ones((2, 2)), "1 texts were embedded as 2 rows");
        check(Array2::ones((1, 3)), "the vector has 3 dimensions, the embedder's have 2");
        check(Array2::zeros((1, 2)), "the vector has no direction: its length is zero");
        check(Array2::from_elem((1, 2), f32::NAN), "component 0 of the vector is not finite");
    }
}
