//! Attacks through the library.

#[cfg(all(feature = "rten", feature = "bundled-model"))]
mod budget;
mod prompt;

/// Fails with every attack that succeeded.
fn report(succeeded: &[String], n_attacks: usize) {
    assert!(succeeded.is_empty(), "{} of {n_attacks} attacks succeed:\n  {}", succeeded.len(), succeeded.join("\n  "));
}
