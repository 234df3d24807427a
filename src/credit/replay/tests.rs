use super::*;
use crate::credit::testing::logged;
use crate::learn::Feedback;
use crate::testing::lesson;

/// A receipt whose lessons have these probabilities.
fn receipt(lessons: &[(&str, f64, bool, Option<f32>)], outcome: Feedback) -> LoggedReceipt {
    let plain: Vec<(&str, f64, bool)> =
        lessons.iter().map(|(name, propensity, shown, _)| (*name, *propensity, *shown)).collect();
    let mut receipt = logged(1, &plain, Some(outcome));
    for (logged, (_, _, _, probability)) in receipt.lessons.iter_mut().zip(lessons) {
        logged.probability = *probability;
    }
    receipt
}

fn check(gate: &str, expected: &[&str]) {
    let lessons = [
        ("matched", 1.0, true, None),
        ("best", 0.8, true, Some(0.5)),
        ("second", 0.8, false, Some(0.3)),
        ("passed over", 0.0, false, Some(0.08)),
    ];
    let shown = gate.parse::<Gate>().unwrap().shows(&receipt(&lessons, Feedback::Helpful));
    assert_eq!(shown, expected.iter().map(|name| lesson(name, "s").id).collect(), "{gate}");
}

#[test]
fn a_gate_decides_by_the_logged_probabilities() {
    check("limit=5", &["matched", "best", "second"]);
    check("limit=2", &["matched", "best"]);
    check("min_share=0.7", &["matched", "best"]);
    check("min_share=0.1", &["matched", "best", "second", "passed over"]);
    check("answer_from=0.89", &["matched", "best", "second"]);
    // 0.9 is logged, and it takes more.
    check("answer_from=0.9", &["matched"]);
    check("limit=3, min_share=0", &["matched", "best", "second"]);
}

#[test]
fn what_is_not_a_gate_is_quoted() {
    for text in ["", "limit", "limit=-1", "min_share=1.5", "answer_from=NaN", "tokens=3", "limit=3;min_share=0.1"] {
        let NotAGate { found } = text.parse::<Gate>().unwrap_err();
        assert_eq!(found, text);
    }
    for text in ["", "[]", r#"{"tokens": 3}"#, r#"{"limit": -1}"#, r#"{"min_share": "1"}"#] {
        assert!(Gate::from_json(text).is_err(), "{text}");
    }
    let gate = Gate { min_share: Some(0.5), limit: Some(2), answer_from: None };
    assert_eq!(Gate::from_json(r#"{"min_share": 0.5, "limit": 2}"#).unwrap(), gate);
    assert_eq!("min_share=0.5,limit=2".parse(), Ok(gate));
    assert!(Gate::from_json(r#"{"min_share": 1.5}"#).is_err());
}

/// Two lessons, each withheld from a fifth of the receipts: `helpful` of a hundred for each of the four sets that can be shown, `both`,
/// `best` alone, `second` alone, none.
fn log(helpful: [usize; 4]) -> ReceiptLog {
    let sets = [(true, true, 64), (true, false, 16), (false, true, 16), (false, false, 4)];
    let receipts = sets.into_iter().zip(helpful).flat_map(|((best, second, n_of_100), helpful)| {
        (0..n_of_100 * 4).map(move |place| {
            let outcome = if place * 100 < helpful * n_of_100 * 4 { Feedback::Helpful } else { Feedback::Harmful };
            receipt(&[("best", 0.8, best, Some(0.5)), ("second", 0.8, second, Some(0.3))], outcome)
        })
    });
    receipts.collect()
}

#[test]
fn the_rate_of_another_gate_is_that_of_the_receipts_that_showed_the_same() {
    let log = log([50, 75, 25, 25]);
    for (gate, expected, effective) in [("limit=5", 0.50, 256.0), ("limit=1", 0.75, 64.0)] {
        let Replay::Estimated { weighted, doubly_robust, logged, n_receipts, n_outside, effective_size } =
            log.replay(&gate.parse().unwrap())
        else {
            panic!("not enough overlap")
        };
        assert!((weighted.value - expected).abs() < 1e-9 && weighted.covers(expected), "{weighted:?}");
        assert!((doubly_robust.value - expected).abs() < 0.03 && doubly_robust.covers(expected), "{doubly_robust:?}");
        // 0.64·0.5 + 0.16·0.75 + 0.16·0.25 + 0.04·0.25 = 0.49.
        assert!((logged.value - 0.49).abs() < 1e-9);
        assert_eq!((n_receipts, n_outside), (400, 0));
        assert!((effective_size - effective).abs() < 1e-6);
    }
}

#[test]
fn the_prediction_narrows_the_interval_where_it_is_right() {
    // The outcome is decided by the number of lessons alone.
    let log = log([100, 0, 0, 100]);
    let Replay::Estimated { weighted, doubly_robust, .. } = log.replay(&"limit=1".parse().unwrap()) else {
        panic!("not enough overlap")
    };
    assert!(doubly_robust.high - doubly_robust.low < weighted.high - weighted.low, "{doubly_robust:?} {weighted:?}");
}

#[test]
fn too_little_overlap_is_said() {
    // Nothing is shown: 16 receipts.
    let rare = log([50, 75, 25, 25]).replay(&"answer_from=0.95".parse().unwrap());
    let Replay::NotEnoughOverlap { n_receipts: 400, n_outside: 0, effective_size, .. } = rare else {
        panic!("{rare:?}")
    };
    assert!((effective_size - 16.0).abs() < 1e-6);
    // A lesson that is never withheld, and one that is never shown.
    for (propensity, shown, gate) in [(1.0, true, "min_share=0.9"), (0.0, false, "min_share=0")] {
        let lessons = [("best", 0.8, true, Some(0.5)), ("other", propensity, shown, Some(0.06))];
        let log: ReceiptLog = (0..100).map(|_| receipt(&lessons, Feedback::Helpful)).collect();
        let outside = log.replay(&gate.parse().unwrap());
        assert!(matches!(outside, Replay::NotEnoughOverlap { n_outside: 100, .. }), "{outside:?}");
    }
    let nothing = ReceiptLog::default().replay(&Gate::default());
    assert!(matches!(nothing, Replay::NotEnoughOverlap { n_receipts: 0, .. }), "{nothing:?}");
}
