//! The results of a table of attacks: all that succeeded, not only the first.

/// The attacks that were made, and their effects.
#[derive(Default)]
pub(crate) struct Table {
    n_attacks: usize,
    succeeded: Vec<String>,
}

impl Table {
    /// Notes an attack with its effects; one without an effect has failed, as it should.
    pub(crate) fn note(&mut self, attack: impl AsRef<str>, effects: &[String]) {
        self.n_attacks += 1;
        if !effects.is_empty() {
            self.succeeded.push(format!("- {}: {}", attack.as_ref(), effects.join("; ")));
        }
    }

    pub(crate) fn finish(self) {
        let Self { n_attacks, succeeded } = self;
        assert!(n_attacks > 0, "the table is empty");
        assert!(
            succeeded.is_empty(),
            "{} of {n_attacks} attacks succeeded:\n{}",
            succeeded.len(),
            succeeded.join("\n")
        );
    }
}

/// An effect, if there is one.
pub(crate) fn when(is_so: bool, effect: impl Into<String>) -> Option<String> {
    is_so.then(|| effect.into())
}
