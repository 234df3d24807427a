//! Texts in the place of a value: the label of a form in a program's translations, a masked value, the name of an object.

use super::spot::Spot;
use crate::score::names_a_password;

/// Verbs with which a cluster's tool reports what it did to an object.
const REPORTED: [&str; 10] = [
    "deleted",
    "created",
    "configured",
    "unchanged",
    "patched",
    "updated",
    "labeled",
    "annotated",
    "not found",
    "already exists",
];

/// The greatest length of the end of a value that a mask shows, in bytes.
const MAX_END: usize = 4;

/// True for a label, a masked value, or the name of an object.
pub(super) fn is_label(spot: &Spot<'_>) -> bool {
    is_of_form(spot) || is_masked(spot.value()) || is_of_object(spot)
}

/// True within a quoted text of two or more words of letters, one of which names a password, as `Bekräfta lösenord`.
/// A passphrase names no password; a digit or a mark of passwords in the value itself makes it one.
fn is_of_form(spot: &Spot<'_>) -> bool {
    let is_quote = |c: char| c == '"' || c == '\'' || c == '>' || c == '<';
    let lead = spot.before().rsplit(is_quote).next().unwrap_or_default();
    let rest = spot.behind().split(is_quote).next().unwrap_or_default();
    let is_closed = lead.len() < spot.before().len() && rest.len() < spot.behind().len();
    if !is_closed {
        return false;
    }
    let whole = [lead, spot.value(), rest].concat();
    let is_text = |c: char| c.is_alphabetic() || c == ' ' || ",.!?:()'’…".contains(c);
    let is_number = |word: &str| word.len() <= 2 && word.bytes().all(|b| b.is_ascii_digit());
    let is_letters = spot.value().split(' ').all(|word| {
        let word = word.trim_end_matches([',', '.', '!', '?', ':']);
        word.chars().all(char::is_alphabetic) || is_number(word)
    });
    is_letters
        && whole.trim().contains(' ')
        && whole.chars().all(|c| is_text(c) || c.is_ascii_digit())
        && names_a_password(&whole)
}

/// True for a mask alone, or with an end of at most [`MAX_END`] letters and digits. A start before a mask may be the whole value.
fn is_masked(value: &str) -> bool {
    let end = value.trim_start_matches(['.', '…', '*', '•', 'x', 'X']);
    let mask = value.get(..value.len() - end.len()).unwrap_or_default();
    let is_one_mask = mask.chars().next().is_some_and(|first| mask.chars().all(|c| c == first));
    let is_long = mask.chars().count() >= 3 || mask.starts_with('…');
    is_one_mask && is_long && end.len() <= MAX_END && end.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// True for the name of a secret in a report of a cluster's tool: `secret "name" deleted`.
fn is_of_object(spot: &Spot<'_>) -> bool {
    let is_named = ["secret \"", "secrets \"", "secret/", "secrets/"].iter().any(|kind| spot.before().ends_with(kind));
    let rest = spot.behind().trim_start_matches('"');
    is_named && rest.strip_prefix(' ').is_some_and(|rest| REPORTED.iter().any(|verb| rest.starts_with(verb)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_masks_and_names_of_objects_are_no_values() {
        for (text, value, expected) in [
            ("confirm_password: \"Bekräfta lösenord\"", "Bekräfta", true),
            ("wrong_password: \"Fel lösenord, 4 kvar\"", "Fel lösenord", true),
            ("wrong_password: \"Fel lösenord, 4 kvar\"", "Fel lösenord, 4 kvar", true),
            ("password: \"lösenord lampa 4711\"", "lösenord lampa 4711", false),
            ("password: \"Bekräfta lampan\"", "Bekräfta", false),
            ("password: \"lösenord Zeytin55\"", "Zeytin55", false),
            ("password: Bekräfta lösenord", "Bekräfta", false),
            ("API_KEY=\"****9QxT\"", "****9QxT", true),
            ("API_KEY=\"Kd8s...9QxT\"", "Kd8s...9QxT", false),
            ("password: a7xxxxK9", "a7xxxxK9", false),
            ("password: Ab1***xyz9", "Ab1***xyz9", false),
            ("password: ***Cedar74", "***Cedar74", false),
            ("API_KEY=\"Kd8sq7RtZ2mWx...9QxT\"", "Kd8sq7RtZ2mWx...9QxT", false),
            ("secret \"sh.helm.release.v1.app.v3\" deleted", "sh.helm.release.v1.app.v3", true),
            ("secret \"Cedar74!lamp\" is set", "Cedar74!lamp", false),
        ] {
            assert_eq!(is_label(&Spot::first(text, value)), expected, "{text}");
        }
    }
}
