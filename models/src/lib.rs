//! The all-MiniLM-L6-v2 sentence-embedding model and its tokenizer, as bytes.
//!
//! `README.md` beside this file tells the origin of both files and how a vector is made from them.

/// The ONNX graph: int8 weights, f32 arithmetic. Token embeddings out; pooling is the caller's.
pub const MODEL: &[u8] = include_bytes!("../model.onnx");

/// The tokenizer, in the format of the `tokenizers` library.
pub const TOKENIZER: &[u8] = include_bytes!("../tokenizer.json");

/// SHA-256 of [`MODEL`], the name under which its vectors are kept.
pub const MODEL_SHA256: &str = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6";
