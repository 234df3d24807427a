//! The proof that a value is public: its own form, and that nothing between the structure's name and it promises a secret.

use super::spot::{Spot, is_hex_of};
use crate::redactor::promise::{promises_value, promises_within};
use crate::shape::is_uuid;

/// A form that a structure demands of the value itself.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// Hexadecimal digits of one of the lengths, perhaps after `0x`.
    Hex(&'static [usize]),
    Uuid,
    /// At least so many decimal digits.
    Digits(usize),
    /// Base64 of one of the numbers of bytes.
    Bytes(&'static [usize]),
    /// So many characters of base64 for URLs at least, for marks whose name is a part of the same assignment.
    Mark(usize),
}

impl Form {
    fn is_of(self, spot: &Spot<'_>) -> bool {
        let value = spot.value();
        match self {
            Self::Hex(lengths) => is_hex_of(value.strip_prefix("0x").unwrap_or(value), lengths),
            Self::Uuid => is_uuid(value),
            Self::Digits(least) => value.len() >= least && value.bytes().all(|b| b.is_ascii_digit()),
            Self::Bytes(lengths) => spot.decoded().any(|(_, bytes)| lengths.contains(&bytes.len())),
            Self::Mark(least) => {
                value.len() >= least && value.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=-_.%".contains(&b))
            }
        }
    }
}

/// A value that is public by its place. Only [`Public::proven`] makes one, so no structure can do without its two checks.
pub(super) struct Public(());

impl Public {
    /// The proof, if the value has one of the forms, `gap` (the text from the structure's name to the value) promises no secret, and
    /// neither does the nearest name of the value.
    pub(super) fn proven(spot: &Spot<'_>, forms: &[Form], gap: &str) -> Option<Self> {
        let has_form = forms.iter().any(|form| form.is_of(spot));
        (has_form && !promises_within(gap) && !promises_value(spot.before())).then_some(Self(()))
    }

    /// The proof for a form that the structure has checked to the last character and that has its label within or right before it.
    pub(super) fn of_form(spot: &Spot<'_>) -> Option<Self> {
        (!promises_value(spot.before())).then_some(Self(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_needs_its_form_and_a_gap_without_a_promise() {
        let hex = "3f9a0c7be15d24683f9a0c7be15d2468";
        for (text, value, gap, expected) in [
            ("digest ¶", hex, " ", true),
            ("digest ¶", "q7RtZ2mWx9LkB4vNs8Yd1HcJ", " ", false),
            ("digest of the hmac key file ¶", hex, " of the hmac key file ", false),
            ("signing key: ¶", hex, "", false),
        ] {
            let text = text.replace('¶', value);
            let proof = Public::proven(&Spot::last(&text, value), &[Form::Hex(&[32])], gap);
            assert_eq!(proof.is_some(), expected, "{text}");
        }
    }
}
