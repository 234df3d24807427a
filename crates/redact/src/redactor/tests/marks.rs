//! The marks of redaction, and what remains around them.

use std::borrow::Cow;

use super::{random, redact};
use crate::Redactor;
use crate::redactor::search::digit_from;

fn planted() -> Vec<(&'static str, String)> {
    let hex = "3f9a0c7be15d2468".repeat(4);
    let mixed = "q7RtZ2mWx9LkB4vNs8Yd1HcJ6pGf3TaE5uQi".to_owned();
    let begin = ["-----BEGIN RSA PRIV", "ATE KEY-----"].concat();
    let end = ["-----END RSA PRIV", "ATE KEY-----"].concat();
    vec![
        ("github-token", ["gh", "p_", &mixed].concat()),
        ("aws-access-key", ["AK", "IA", "Q7RTZ2MWX4LKB5VN"].concat()),
        ("stripe-key", ["sk_", "live_", &mixed].concat()),
        ("digitalocean-token", ["dop_", "v1_", &hex].concat()),
        ("jwt", ["eyJ", "hbGciOiJIUzI1NiJ9.eyJ", "zdWIiOiIxMjM0NTY3In0.", &mixed].concat()),
        ("private-key", format!("{begin}\n{mixed}{mixed}\n{end}")),
    ]
}

#[test]
fn only_the_secret_is_replaced_on_its_line() {
    for (rule, secret) in planted() {
        let text = format!("früher: {secret}, später");
        assert_eq!(redact(&text), format!("früher: [REDACTED:{rule}], später"));
        let found = Redactor::shared().find(&text);
        assert_eq!(found.first().and_then(|one| text.get(one.range.clone())), Some(secret.as_str()));
    }
}

#[test]
fn redacting_twice_changes_nothing() {
    for (_, secret) in planted() {
        let once = redact(&format!("token = {secret} password: {secret}, {secret}"));
        assert!(!once.contains(&secret));
        assert_eq!(redact(&once), once);
    }
}

#[test]
fn long_repeats_of_keywords_are_unchanged() {
    for unit in ["key=", "secret-", "eyJ-", "password=", "[REDACTED:"] {
        let text = unit.repeat(20_000);
        assert!(redact(&text) == text, "{unit}");
    }
}

#[test]
fn long_runs_of_one_unit_are_borrowed_unchanged() {
    for unit in ["a", "=", ".", "-", &random(), "3f9a0c7be15d2468", "a://b:", "user=a;"] {
        let text = unit.repeat(1_000_000 / unit.len());
        assert!(matches!(Redactor::shared().redact(&text), Cow::Borrowed(_)), "{unit}");
    }
}

#[test]
fn a_digit_is_searched_from_each_keyword_on() {
    for (text, at, expected) in
        [("a1b2", 0, 1), ("a1b2", 1, 1), ("a1b2", 2, 3), ("a1b", 2, usize::MAX), ("", 0, usize::MAX)]
    {
        assert_eq!(digit_from(text, at), expected, "{text} {at}");
    }
    // The digit of one keyword is not that of the next.
    let secret = ["m4ng0", "-Tr33!"].concat();
    let text = format!(
        "password of 1 user\n{}password: {secret}\n{}password: none\n",
        "words ".repeat(90),
        "words ".repeat(90)
    );
    assert_eq!(redact(&text), text.replace(&secret, "[REDACTED:password]"));
}
