//! The packed weights, read in place from the program.

use crate::layout::{ALIGN, LAYOUT, Layer, Matrix, Norm, POSITIONS, VOCABULARY, WIDTH};

/// Bytes aligned to 64.
#[repr(C, align(64))]
struct Aligned<B: ?Sized>(B);

static PACKED: &Aligned<[u8]> = &Aligned::<[u8; LAYOUT.len]>(*include_bytes!(concat!(env!("OUT_DIR"), "/weights.bin")));

/// Every part is inside the packed bytes and aligned. So no slice below is empty because it was out of range: with zeros instead of
/// weights, vectors would be wrong without an error.
const _: () = {
    check_part(LAYOUT.words, VOCABULARY * WIDTH);
    check_part(LAYOUT.word_scales, VOCABULARY * 4);
    check_part(LAYOUT.positions, POSITIONS * WIDTH);
    check_part(LAYOUT.position_scales, POSITIONS * 4);
    check_part(LAYOUT.token_type, WIDTH * 4);
    check_norm(LAYOUT.norm);
    let mut layers: &[Layer] = &LAYOUT.layers;
    while let [layer, rest @ ..] = layers {
        check_matrix(layer.attention);
        check_matrix(layer.output);
        check_matrix(layer.up);
        check_matrix(layer.down);
        check_norm(layer.output_norm);
        check_norm(layer.down_norm);
        layers = rest;
    }
};

const fn check_part(at: usize, n_bytes: usize) {
    assert!(at.is_multiple_of(ALIGN), "a part of the packed weights is not aligned");
    assert!(at + n_bytes <= LAYOUT.len, "a part of the packed weights ends after them");
}

const fn check_norm(norm: Norm) {
    check_part(norm.factors, WIDTH * 4);
    check_part(norm.summands, WIDTH * 4);
}

const fn check_matrix(matrix: Matrix) {
    check_part(matrix.weights, matrix.n_rows * matrix.n_columns);
    check_part(matrix.scales, matrix.n_columns * 4);
    check_part(matrix.biases, matrix.n_columns * 4);
}

/// 32-bit floats.
#[inline]
fn floats(at: usize, length: usize) -> &'static [f32] {
    let bytes = PACKED.0.get(at..at + length * 4).unwrap_or_default();
    bytemuck::try_cast_slice(bytes).unwrap_or_default()
}

/// 8-bit weights.
#[inline]
fn codes(at: usize, length: usize) -> &'static [i8] {
    bytemuck::cast_slice(PACKED.0.get(at..at + length).unwrap_or_default())
}

/// The summands of a token's embedding: codes and scale of its word and of its position. An id outside the vocabulary counts as
/// its last word.
pub(crate) fn embedding(token: u32, position: usize) -> [(&'static [i8], f32); 2] {
    let word = usize::try_from(token).map_or(VOCABULARY - 1, |token| token.min(VOCABULARY - 1));
    let row = |codes_at: usize, scales_at: usize, row: usize| {
        let scale = floats(scales_at + row * 4, 1).first().copied().unwrap_or_default();
        (codes(codes_at + row * WIDTH, WIDTH), scale)
    };
    [row(LAYOUT.words, LAYOUT.word_scales, word), row(LAYOUT.positions, LAYOUT.position_scales, position)]
}

/// The vector of token type 0.
pub(crate) fn token_type() -> &'static [f32] {
    floats(LAYOUT.token_type, WIDTH)
}

impl Norm {
    pub(crate) fn factors(self) -> &'static [f32] {
        floats(self.factors, WIDTH)
    }

    pub(crate) fn summands(self) -> &'static [f32] {
        floats(self.summands, WIDTH)
    }
}

impl Matrix {
    pub(crate) fn weights(self) -> &'static [i8] {
        codes(self.weights, self.n_rows * self.n_columns)
    }

    pub(crate) fn scales(self) -> &'static [f32] {
        floats(self.scales, self.n_columns)
    }

    pub(crate) fn biases(self) -> &'static [f32] {
        floats(self.biases, self.n_columns)
    }
}
