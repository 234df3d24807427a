//! Mutated and arbitrary proposals.

use adage_sessions::extract::{ProposalEvidence, RefusedBecause};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{changed, judged, recovery, session};

/// The parts of a proposal that cite the record.
const CITED: [&str; 4] = ["/failure", "/remedy/0", "/remedy/1", "/success"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// A citation of another turn never passes, as long as that turn does not say the same.
    #[test]
    fn another_turn_is_never_proof(part in 0..CITED.len(), turn in 0..40_usize) {
        let pointer = format!("{}/turn", CITED[part]);
        prop_assume!(recovery().pointer(&pointer) != Some(&json!(turn)));
        let judged = judged(&session(), &changed(&pointer, json!(turn)));
        prop_assert!(matches!(judged, Err(RefusedBecause::NotProven(_))), "{:?}", judged);
    }

    /// Nor does a quote with another letter.
    #[test]
    fn another_quote_is_never_proof(part in 0..CITED.len(), at in 0..100_usize, letter in "[a-zA-Z0-9]") {
        let pointer = format!("{}/quote", CITED[part]);
        let quote = recovery().pointer(&pointer).and_then(Value::as_str).unwrap().to_owned();
        let mut letters: Vec<char> = quote.chars().collect();
        let at = at % letters.len();
        letters[at] = letter.chars().next().unwrap();
        let mutated: String = letters.into_iter().collect();
        prop_assume!(mutated != quote && !mutated.starts_with(' ') && !mutated.ends_with(' '));
        let judged = judged(&session(), &changed(&pointer, json!(mutated)));
        prop_assert!(matches!(judged, Err(RefusedBecause::NotProven(_))), "{:?}", judged);
    }

    /// No answer panics, and whatever is taken is in the record.
    #[test]
    fn whatever_is_taken_is_in_the_record(
        failure in 0..12_usize, remedy in 0..12_usize, success in 0..12_usize,
        quotes in prop::array::uniform3(prop::sample::select(vec![
            "FATAL: too many connections for role", "poolclass=NullPool,", "engine.dispose()", "1 passed", "db.py", "green", "pytest", "",
        ])),
    ) {
        let mut proposed = recovery();
        proposed["failure"] = json!({"turn": failure, "quote": quotes[0]});
        proposed["remedy"] = json!([{"turn": remedy, "quote": quotes[1]}]);
        proposed["success"] = json!({"turn": success, "quote": quotes[2]});
        if let Ok(lesson) = judged(&session(), &proposed) {
            let ProposalEvidence::Recovered(evidence) = lesson.evidence else { panic!() };
            prop_assert_eq!(evidence.failure.turn, 2);
            prop_assert!((3..=6).contains(&evidence.remedies[0].turn));
            prop_assert_eq!(evidence.success.turn, 6);
            let transcript = session();
            for passage in evidence.passages() {
                let text = serde_json::to_string(&transcript.turns[passage.turn]).unwrap();
                prop_assert!(text.contains(&passage.quote), "{:?}", passage);
            }
        }
    }
}
