//! A vector of length 1, and why a vector cannot be one.

use std::sync::Arc;

/// A vector of length 1: every component is finite, and at least one is not zero. This is checked once, when it is made. Clones share
/// the components.
///
/// ```
/// use adage_index::{UnitVector, VectorError};
///
/// let vector = UnitVector::new(&[3.0, 4.0])?;
/// assert_eq!(vector.as_slice(), [0.6, 0.8]);
/// assert_eq!(UnitVector::new(&[0.0, 0.0]), Err(VectorError::Zero));
/// # Ok::<(), VectorError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct UnitVector(Arc<[f32]>);

impl UnitVector {
    /// Scales a vector to length 1.
    ///
    /// # Errors
    /// [`VectorError::NotFinite`] or [`VectorError::Zero`].
    pub fn new(components: &[f32]) -> Result<Self, VectorError> {
        if let Some(position) = components.iter().position(|component| !component.is_finite()) {
            return Err(VectorError::NotFinite { position });
        }
        // In f64: the square of a large f32 is not a finite f32.
        let length = components.iter().map(|component| f64::from(*component).powi(2)).sum::<f64>().sqrt();
        if length == 0.0 {
            return Err(VectorError::Zero);
        }
        #[expect(clippy::cast_possible_truncation, reason = "the quotient is in [-1, 1]")]
        let scaled = components.iter().map(|component| (f64::from(*component) / length) as f32);
        Ok(Self(scaled.collect()))
    }

    /// Takes components that were unit length when they were stored, bit for bit. `None` when their length is not 1 within
    /// 0.0005: what was stored was damaged.
    #[must_use]
    pub fn from_stored(components: Vec<f32>) -> Option<Self> {
        let square: f32 = components.iter().map(|component| component * component).sum();
        ((square - 1.0).abs() < 1e-3).then(|| Self(components.into()))
    }

    /// The components.
    #[must_use]
    pub fn as_slice(&self) -> &[f32] {
        &self.0
    }
}

/// Why a vector cannot be used. Nothing was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VectorError {
    /// Its length differs from that of the other vectors, or of the embedder's.
    #[error("the vector has {found} dimensions, the embedder's have {expected}")]
    Dimension {
        /// The vector's length.
        found: usize,
        /// The length it must have.
        expected: usize,
    },
    /// A component is NaN or infinite.
    #[error("component {position} of the vector is not finite")]
    NotFinite {
        /// Index of the first such component.
        position: usize,
    },
    /// Its length is zero, so it has no direction.
    #[error("the vector has no direction: its length is zero")]
    Zero,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_vector_has_length_one_and_refuses_what_has_no_direction() {
        let unit = UnitVector::new(&[3.0, 4.0]).unwrap();
        assert_eq!(unit.as_slice(), [0.6, 0.8]);
        assert_eq!(UnitVector::new(&[f32::MAX, 0.0]).unwrap().as_slice(), [1.0, 0.0]);
        assert_eq!(UnitVector::new(&[1.0, f32::NAN]), Err(VectorError::NotFinite { position: 1 }));
        assert_eq!(UnitVector::new(&[f32::INFINITY]), Err(VectorError::NotFinite { position: 0 }));
        assert_eq!(UnitVector::new(&[0.0, -0.0]), Err(VectorError::Zero));
        assert_eq!(UnitVector::new(&[]), Err(VectorError::Zero));
    }
}
