//! Attacks through the library: properties that hold for every calling program.

#[cfg(feature = "bundled-model")]
mod budget;
mod eviction;
#[cfg(unix)]
mod links;
mod loss;
mod prompt;
#[cfg(unix)]
mod races;
mod shown;
mod table;

/// Fails with every attack that succeeded.
fn report(succeeded: &[String], n_attacks: usize) {
    assert!(succeeded.is_empty(), "{} of {n_attacks} attacks succeed:\n  {}", succeeded.len(), succeeded.join("\n  "));
}
