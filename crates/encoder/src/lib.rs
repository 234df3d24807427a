//! all-MiniLM-L6-v2 in integers: what `models/model.onnx` computes, without an engine, a load or a native library.
//!
//! ```
//! let encoder = adage_encoder::Encoder::new();
//! let [one, other] = ["pin the version", "fix the version number"].map(|text| adage_encoder::tokenize(text, 256));
//! let vectors = encoder.encode(&[&one, &other]);
//! let cosine: f32 = vectors[0].iter().zip(&vectors[1]).map(|(one, other)| one * other).sum();
//! assert!(cosine > 0.5);
//! ```
//!
//! The build packs the weights of the crate `adage-minilm` into panels that are read where they lie: nothing is loaded. Weights are
//! the file's 8-bit integers, one scale a column; activations are rounded to 14 bits per token before they meet them. The sums are
//! exact, and the 32-bit floats between them are added in one order, so that every [`Kernel`] gives the same bits.

#![expect(clippy::inline_always, reason = "plain Rust that is compiled anew with the instructions of each kernel")]

mod forward;
mod kernels;
mod lanes;
mod layout;
mod weights;
mod wordpiece;

use forward::Job;
pub use kernels::Kernel;
pub use wordpiece::tokenize;

/// Numbers of a vector.
pub const DIMENSION: usize = layout::WIDTH;

/// Tokens that a text can have at most: those that have a position.
pub const MAX_TOKENS: usize = layout::POSITIONS;

/// SHA-256 of the `model.onnx` whose weights are linked in.
pub const MODEL_SHA256: &str = env!("ADAGE_ENCODER_MODEL");

/// Tokens that go through the matrices together. More share the weights' way from memory, and take more memory themselves.
const TOGETHER: usize = 256;

/// Turns token numbers into unit vectors. It holds nothing: the weights are part of the program.
#[derive(Clone, Copy, Debug)]
pub struct Encoder {
    kernel: Kernel,
}

impl Default for Encoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Encoder {
    /// With the fastest kernel that this processor runs.
    #[must_use]
    pub fn new() -> Self {
        Self { kernel: Kernel::best() }
    }

    /// With a kernel of your choice; none where this processor does not run it. All give the same bits.
    #[must_use]
    pub fn with_kernel(kernel: Kernel) -> Option<Self> {
        Kernel::available().contains(&kernel).then_some(Self { kernel })
    }

    /// A unit vector for each text, given as [`tokenize`] gives it: numbers of the vocabulary, with its first and last marks. A
    /// text's vector does not depend on the others. Tokens from the 513th on are left out, and a number that is not in the vocabulary
    /// counts as its last word; a text without tokens has a vector of zeros.
    #[must_use]
    pub fn encode(&self, texts: &[&[u32]]) -> Vec<[f32; DIMENSION]> {
        let texts: Vec<&[u32]> = texts.iter().map(|text| text.get(..MAX_TOKENS).unwrap_or(text)).collect();
        let mut vectors = vec![[0.0; DIMENSION]; texts.len()];
        let (mut texts, mut left) = (texts.as_slice(), vectors.as_mut_slice());
        while !texts.is_empty() {
            let (mut n_texts, mut n_tokens) = (0, 0);
            for text in texts {
                n_tokens += text.len();
                if n_texts > 0 && n_tokens > TOGETHER {
                    break;
                }
                n_texts += 1;
            }
            let (now, later) = texts.split_at(n_texts);
            let (vectors, rest) = left.split_at_mut(n_texts);
            self.kernel.run(&mut Job { texts: now, vectors });
            (texts, left) = (later, rest);
        }
        vectors
    }
}
