//! Measures redaction on cases by authors who did not write the rules: the share of secrets found, and false alarms.
//!
//! The tests print the rates. Of the files that rules are fitted on, they also print the cases that were missed or
//! flagged. The README describes the files.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics is a test that fails"
)]

use std::fmt::Write as _;
use std::io::Write as _;

use adage_redact::Redactor;
use data_encoding::BASE64;
use serde_json::Value;

const FIT: &str = include_str!("fit.jsonl");
const HELD: &str = include_str!("held.jsonl");
const UNSEEN: &str = include_str!("unseen.jsonl");
const BLIND: &str = include_str!("blind.jsonl");
const FIFTH: &str = include_str!("fifth.jsonl");
const ALMA: &str = include_str!("alma.jsonl");
const BRUNO: &str = include_str!("bruno.jsonl");
const CHIYO: &str = include_str!("chiyo.jsonl");
const DIETER: &str = include_str!("dieter.jsonl");
const EDDA: &str = include_str!("edda.jsonl");
const FARID: &str = include_str!("farid.jsonl");
const GRETA: &str = include_str!("greta.jsonl");
const HIRO: &str = include_str!("hiro.jsonl");

struct Case {
    family: String,
    text: String,
    secret: Option<String>,
}

fn cases(lines: &str) -> Vec<Case> {
    let decoded =
        |value: &Value| String::from_utf8(BASE64.decode(value.as_str().unwrap().as_bytes()).unwrap()).unwrap();
    let case = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        let secret = (row["label"] == 1).then(|| decoded(&row["secret"]));
        Case { family: row["family"].as_str().unwrap().to_owned(), text: decoded(&row["text"]), secret }
    };
    lines.lines().map(case).collect()
}

/// True for a family of texts without secrets and look-alikes. Each author named these families differently.
fn is_ordinary(family: &str) -> bool {
    ["ordinary", "o_", "plain_"].iter().any(|start| family.starts_with(start))
}

/// True if neither half of the secret remains in the text.
fn is_gone(secret: &str, redacted: &str) -> bool {
    let middle = secret.char_indices().nth(secret.chars().count() / 2).unwrap().0;
    let (head, tail) = secret.split_at(middle);
    !redacted.contains(head) && !redacted.contains(tail)
}

/// A number of hits among all cases.
#[derive(Debug, Default)]
struct Rate {
    n_hit: usize,
    n_all: usize,
}

impl Rate {
    fn add(&mut self, is_hit: bool) {
        self.n_hit += usize::from(is_hit);
        self.n_all += 1;
    }

    fn share(&self) -> f64 {
        self.n_hit as f64 / self.n_all as f64
    }
}

/// The rates of found secrets, of flagged look-alikes and of flagged ordinary texts. Prints them with the cases that
/// were missed or flagged.
fn measure(name: &str, lines: &str, redactor: &Redactor) -> [Rate; 3] {
    let (rates, wrong) = rates(name, lines, redactor);
    std::io::stderr().write_all(wrong.as_bytes()).unwrap();
    rates
}

/// The same rates, which it prints, and the cases that were missed or flagged, which it does not print.
fn rates(name: &str, lines: &str, redactor: &Redactor) -> ([Rate; 3], String) {
    let [mut found, mut alike, mut ordinary] = [const { Rate { n_hit: 0, n_all: 0 } }; 3];
    let mut wrong = String::new();
    for Case { family, text, secret } in cases(lines) {
        let redacted = redactor.redact(&text);
        let (rate, is_hit, is_right) = if let Some(secret) = &secret {
            let is_found = is_gone(secret, &redacted);
            (&mut found, is_found, is_found)
        } else {
            let rate = if is_ordinary(&family) { &mut ordinary } else { &mut alike };
            (rate, redacted != text, redacted == text)
        };
        rate.add(is_hit);
        if !is_right {
            writeln!(wrong, "    {family}: {:?}", redacted.chars().take(110).collect::<String>()).unwrap();
        }
    }
    let [f, a, o] = [&found, &alike, &ordinary]
        .map(|rate| format!("{} of {} ({:.1}%)", rate.n_hit, rate.n_all, rate.share() * 100.0));
    let text = format!("{name}: found {f}; false alarms {a} of look-alikes, {o} of ordinary texts\n");
    std::io::stderr().write_all(text.as_bytes()).unwrap();
    ([found, alike, ordinary], wrong)
}

/// Asserts that at least the share `least` of the secrets is found, and that at most 4 in 100 look-alikes and no ordinary text are
/// flagged.
fn check([found, alike, ordinary]: &[Rate; 3], least: f64) {
    assert!(found.share() >= least, "{} of {} secrets found", found.n_hit, found.n_all);
    assert!(alike.n_hit * 100 <= alike.n_all * 4, "{} of {} look-alikes flagged", alike.n_hit, alike.n_all);
    assert!(ordinary.n_hit == 0, "{} ordinary texts flagged", ordinary.n_hit);
}

#[test]
fn the_first_authors_secrets_are_found_at_99_percent() {
    check(&measure("fit", FIT, Redactor::shared()), 0.99);
    check(&measure("held", HELD, Redactor::shared()), 0.99);
}

#[test]
fn the_first_authors_secrets_are_found_at_95_percent_without_the_rules_of_providers() {
    let shapes = Redactor::shapes();
    check(&measure("fit, no provider's rules", FIT, &shapes), 0.95);
    check(&measure("held, no provider's rules", HELD, &shapes), 0.95);
}

/// Rules and weights are fitted on these cases, so the figures do not predict others.
#[test]
fn the_second_and_third_authors_secrets_are_found_at_97_percent() {
    check(&measure("unseen", UNSEEN, Redactor::shared()), 0.97);
    check(&measure("blind", BLIND, Redactor::shared()), 0.97);
}

/// The cases of one half of the families, by the FNV-1a hash of the family's name: 0 or 1.
fn half(lines: &str, which: u64) -> String {
    let hash = |name: &str| {
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        name.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
    };
    let is_in = |line: &&str| {
        let row: Value = serde_json::from_str(line).unwrap();
        (hash(row["family"].as_str().unwrap()) >> 32) % 2 == which
    };
    lines.lines().filter(is_in).collect::<Vec<_>>().join("\n")
}

/// Rules are fitted on this half, so its figures do not predict others.
#[test]
fn most_secrets_are_found_in_the_inspected_half_of_the_fourth_author() {
    let [found, alike, _] = measure("fifth, inspected", &half(FIFTH, 0), Redactor::shared());
    assert!(found.share() >= 0.5, "{} of {} secrets found", found.n_hit, found.n_all);
    assert!(alike.share() <= 0.1, "{} of {} look-alikes flagged", alike.n_hit, alike.n_all);
}

/// The figures to expect of other texts: no rule or weight is fitted on these cases, and no author of rules inspects
/// them.
#[test]
fn most_secrets_are_found_in_the_uninspected_half_of_the_fourth_author() {
    let ([found, alike, _], _) = rates("fifth, not inspected", &half(FIFTH, 1), Redactor::shared());
    assert!(found.share() >= 0.5, "{} of {} secrets found", found.n_hit, found.n_all);
    assert!(alike.share() <= 0.1, "{} of {} look-alikes flagged", alike.n_hit, alike.n_all);
}

/// These authors saw neither rules nor other cases; rules and weights have been fitted on their cases since.
#[test]
fn most_secrets_are_found_of_six_authors_that_rules_are_fitted_on() {
    let authors =
        [("alma", ALMA), ("bruno", BRUNO), ("chiyo", CHIYO), ("dieter", DIETER), ("farid", FARID), ("greta", GRETA)];
    for (name, lines) in authors {
        let ([found, alike, _], _) = rates(name, lines, Redactor::shared());
        assert!(found.share() >= 0.5, "{} of {} secrets found", found.n_hit, found.n_all);
        assert!(alike.share() <= 0.2, "{} of {} look-alikes flagged", alike.n_hit, alike.n_all);
    }
}

#[test]
fn each_file_has_the_number_of_cases_of_the_readme() {
    let files = [
        (FIT, [119, 96, 149]),
        (HELD, [181, 109, 152]),
        (UNSEEN, [240, 128, 200]),
        (BLIND, [370, 230, 200]),
        (FIFTH, [300, 200, 200]),
        (ALMA, [300, 250, 100]),
        (BRUNO, [300, 250, 100]),
        (CHIYO, [300, 250, 100]),
        (DIETER, [300, 250, 100]),
        (EDDA, [300, 250, 100]),
        (FARID, [300, 250, 100]),
        (GRETA, [300, 250, 100]),
        (HIRO, [300, 250, 100]),
    ];
    for (lines, expected) in files {
        let cases = cases(lines);
        let count = |wanted: fn(&Case) -> bool| cases.iter().filter(|case| wanted(case)).count();
        let found = [
            count(|case| case.secret.is_some()),
            count(|case| case.secret.is_none() && !is_ordinary(&case.family)),
            count(|case| is_ordinary(&case.family)),
        ];
        assert_eq!(found, expected);
        assert!(cases.iter().all(|case| case.secret.as_ref().is_none_or(|secret| case.text.contains(secret))));
    }
}

/// No rule or weight is fitted on these cases, and only the rates are printed.
#[test]
fn most_secrets_are_found_of_two_authors_whose_cases_are_not_inspected() {
    for (name, lines, least) in [("edda", EDDA, 0.88), ("hiro", HIRO, 0.5)] {
        let ([found, alike, ordinary], _) = rates(name, lines, Redactor::shared());
        assert!(found.share() >= least, "{} of {} secrets found", found.n_hit, found.n_all);
        assert!(alike.share() <= 0.2, "{} of {} look-alikes flagged", alike.n_hit, alike.n_all);
        assert!(ordinary.n_hit <= 2, "{} ordinary texts flagged", ordinary.n_hit);
    }
}
