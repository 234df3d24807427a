//! The position of each part of the model in the packed bytes. The build script writes it, and the program reads it.

/// The width of a token's vector.
pub(crate) const WIDTH: usize = 384;
/// The inner width of a feed-forward step.
pub(crate) const INNER: usize = 1_536;
/// The number of layers.
pub(crate) const LAYERS: usize = 6;
/// The number of words in the vocabulary.
pub(crate) const VOCABULARY: usize = 30_522;
/// The number of token positions.
pub(crate) const POSITIONS: usize = 512;
/// The number of columns in a panel of a matrix.
pub(crate) const PANEL: usize = 32;
/// The alignment of each part in bytes.
pub(crate) const ALIGN: usize = 64;

/// A matrix of 8-bit weights. In a panel of columns, each two rows are interleaved: the two weights of a column are adjacent.
#[derive(Clone, Copy)]
pub(crate) struct Matrix {
    pub(crate) n_rows: usize,
    pub(crate) n_columns: usize,
    /// Offsets in bytes: weights (8 bits), then one scale and one bias per column (32 bits).
    pub(crate) weights: usize,
    pub(crate) scales: usize,
    pub(crate) biases: usize,
}

/// The factors and summands of a layer norm.
#[derive(Clone, Copy)]
pub(crate) struct Norm {
    pub(crate) factors: usize,
    pub(crate) summands: usize,
}

#[derive(Clone, Copy)]
pub(crate) struct Layer {
    /// The matrices of queries, keys and values, joined by columns.
    pub(crate) attention: Matrix,
    pub(crate) output: Matrix,
    pub(crate) output_norm: Norm,
    pub(crate) up: Matrix,
    pub(crate) down: Matrix,
    pub(crate) down_norm: Norm,
}

/// Offsets in bytes.
pub(crate) struct Layout {
    /// A row of 8-bit numbers and a 32-bit scale for each word, and for each position.
    pub(crate) words: usize,
    pub(crate) word_scales: usize,
    pub(crate) positions: usize,
    pub(crate) position_scales: usize,
    /// The vector of token type 0, which is added to every token.
    pub(crate) token_type: usize,
    pub(crate) norm: Norm,
    pub(crate) layers: [Layer; LAYERS],
    /// The total length.
    pub(crate) len: usize,
}

/// The parts one after another.
pub(crate) const LAYOUT: Layout = {
    let mut end = 0;
    let words = take(&mut end, VOCABULARY * WIDTH);
    let word_scales = take(&mut end, VOCABULARY * 4);
    let positions = take(&mut end, POSITIONS * WIDTH);
    let position_scales = take(&mut end, POSITIONS * 4);
    let token_type = take(&mut end, WIDTH * 4);
    let norm = norm(&mut end);
    let first = layer(&mut end);
    let mut layers = [first; LAYERS];
    let mut at = 1;
    while at < LAYERS {
        #[allow(clippy::indexing_slicing, reason = "worked out by the compiler")]
        {
            layers[at] = layer(&mut end);
        }
        at += 1;
    }
    Layout { words, word_scales, positions, position_scales, token_type, norm, layers, len: end }
};

const fn take(end: &mut usize, n_bytes: usize) -> usize {
    let start = *end;
    *end += n_bytes.div_ceil(ALIGN) * ALIGN;
    start
}

const fn norm(end: &mut usize) -> Norm {
    Norm { factors: take(end, WIDTH * 4), summands: take(end, WIDTH * 4) }
}

const fn matrix(end: &mut usize, n_rows: usize, n_columns: usize) -> Matrix {
    let weights = take(end, n_rows * n_columns);
    let scales = take(end, n_columns * 4);
    Matrix { n_rows, n_columns, weights, scales, biases: take(end, n_columns * 4) }
}

const fn layer(end: &mut usize) -> Layer {
    Layer {
        attention: matrix(end, WIDTH, 3 * WIDTH),
        output: matrix(end, WIDTH, WIDTH),
        output_norm: norm(end),
        up: matrix(end, WIDTH, INNER),
        down: matrix(end, INNER, WIDTH),
        down_norm: norm(end),
    }
}
