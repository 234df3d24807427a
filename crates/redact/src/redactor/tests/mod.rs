//! Fixtures are joined at run time, so that secret scanners do not flag this file.

mod commands;
mod marks;
mod notations;
mod properties;
mod public_values;
mod secret_forms;
mod sentences;

use std::borrow::Cow;

use super::Redactor;

fn redact(text: &str) -> String {
    Redactor::shared().redact(text).into_owned()
}

/// Asserts the rule of the first secret in each text; `None` for a text without secrets, which is borrowed.
fn check(cases: &[(String, Option<&str>)]) {
    for (text, rule) in cases {
        let found = Redactor::shared().find(text);
        assert_eq!(found.first().map(|one| one.rule), *rule, "{text}");
        assert_eq!(matches!(Redactor::shared().redact(text), Cow::Borrowed(_)), rule.is_none(), "{text}");
    }
}

/// 32 random characters.
fn random() -> String {
    ["q7RtZ2mWx9LkB4v", "Ns8Yd1HcJ6pGf3TaE"].concat()
}

fn base64(text: &str) -> String {
    data_encoding::BASE64.encode(text.as_bytes())
}

/// Asserts that the rules without providers remove each value from each notation: a password at `§`, a random value at
/// `¶`.
fn check_places(notations: &[&str]) {
    let (value, base) = (random(), format!("{}/{}+{}=", &random()[..14], &random()[3..20], &random()[9..19]));
    for pass in ["Cedar-lantern74!", "qU4#vb2LmR9x", "k3zdd91hqr4l"] {
        for value in [value.as_str(), base.as_str()] {
            for notation in notations {
                let text = notation.replace('§', pass).replace('¶', value);
                let found = Redactor::shapes().redact(&text).into_owned();
                assert!(!found.contains(pass) && !found.contains(value), "{notation}: {found}");
                assert_eq!(redact(&found), found);
            }
        }
    }
}
