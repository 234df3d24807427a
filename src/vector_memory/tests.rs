//! What a vector memory does.
