//! all-MiniLM-L6-v2 in integers: computes `models/model.onnx` without an engine, loading or a native library.
//!
//! ```
//! let encoder = adage_encoder::Encoder::new();
//! let [one, other] = ["pin the version", "fix the version number"].map(|text| adage_encoder::tokenize(text, 256));
//! let vectors = encoder.encode(&[&one, &other]);
//! let cosine: f32 = vectors[0].iter().zip(&vectors[1]).map(|(one, other)| one * other).sum();
//! assert!(cosine > 0.5);
//! ```
//!
//! The build packs the weights of the crate `adage-minilm` into panels, which are read in place from the program. Weights are
//! the file's 8-bit integers with one scale per column. Activations are rounded to 14 bits per token before each matrix. The
//! integer sums are exact, and the 32-bit floats in between are added in a fixed order, so that every [`Kernel`] gives the same
//! bits.

#![expect(clippy::inline_always, reason = "plain Rust that is compiled for the instructions of each kernel")]

use std::num::NonZeroUsize;

mod forward;
mod kernels;
mod lanes;
mod layout;
mod weights;
mod wordpiece;

use forward::Job;
pub use kernels::Kernel;
pub use wordpiece::tokenize;

/// The dimension of a vector.
pub const DIMENSION: usize = layout::WIDTH;

/// The maximum number of tokens of a text.
pub const MAX_TOKENS: usize = layout::POSITIONS;

/// The SHA-256 of the `model.onnx` whose weights are linked in.
pub const MODEL_SHA256: &str = env!("ADAGE_ENCODER_MODEL");

/// How many tokens pass through the matrices together. More tokens per pass read the weights less often, and take more memory.
const TOGETHER: usize = 256;

/// Encodes token ids into unit vectors. It holds no data: the weights are part of the program.
#[derive(Clone, Copy, Debug)]
pub struct Encoder {
    kernel: Kernel,
    n_threads: NonZeroUsize,
}

impl Default for Encoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Encoder {
    /// An encoder with the fastest kernel that this processor supports.
    #[must_use]
    pub fn new() -> Self {
        Self { kernel: Kernel::best(), n_threads: NonZeroUsize::MIN }
    }

    /// An encoder with this kernel; none if this processor does not support it. All kernels give the same bits.
    #[must_use]
    pub fn with_kernel(kernel: Kernel) -> Option<Self> {
        Kernel::available().contains(&kernel).then_some(Self { kernel, n_threads: NonZeroUsize::MIN })
    }

    /// Encodes on up to this many threads, including the calling one; 1 by default. The texts of a batch are divided among the
    /// threads, so a single text uses one thread. The bits are the same.
    #[must_use]
    pub fn with_threads(self, n_threads: NonZeroUsize) -> Self {
        Self { n_threads, ..self }
    }

    /// The unit vector of each text, given as the token ids of [`tokenize`], including the first and last marks. A text's
    /// vector does not depend on the others. Tokens after the 512th are ignored, and an id outside the vocabulary counts as its
    /// last word. The vector of a text without tokens is zero.
    #[must_use]
    pub fn encode(&self, texts: &[&[u32]]) -> Vec<[f32; DIMENSION]> {
        let texts: Vec<&[u32]> = texts.iter().map(|text| text.get(..MAX_TOKENS).unwrap_or(text)).collect();
        let mut vectors = vec![[0.0; DIMENSION]; texts.len()];
        let n_tokens: usize = texts.iter().map(|text| text.len()).sum();
        let share = n_tokens.div_ceil(self.n_threads.get()).max(1);
        std::thread::scope(|scope| {
            let (mut texts, mut left) = (texts.as_slice(), vectors.as_mut_slice());
            for _ in 1..self.n_threads.get() {
                let mut n_before = 0;
                let shared = texts.iter().take_while(|text| {
                    let is_wanted = n_before < share;
                    n_before += text.len();
                    is_wanted
                });
                let (now, later) = texts.split_at(shared.count());
                if later.is_empty() {
                    break;
                }
                let (vectors, rest) = left.split_at_mut(now.len());
                scope.spawn(move || self.encode_here(now, vectors));
                (texts, left) = (later, rest);
            }
            self.encode_here(texts, left);
        });
        vectors
    }

    /// Encodes on the calling thread, in batches of suitable size.
    fn encode_here(&self, mut texts: &[&[u32]], mut vectors: &mut [[f32; DIMENSION]]) {
        while !texts.is_empty() {
            let mut n_tokens = 0;
            let fitting = texts.iter().take_while(|text| {
                n_tokens += text.len();
                n_tokens <= TOGETHER
            });
            let (now, later) = texts.split_at(fitting.count().max(1));
            let (filled, rest) = vectors.split_at_mut(now.len());
            self.kernel.run(&mut Job { texts: now, vectors: filled });
            (texts, vectors) = (later, rest);
        }
    }
}
