//! Structures that show that a value is public: the field of a public key, the label and length of a digest, the output
//! of a command that prints object ids, the operation of a cache on its key.
//!
//! A word such as `public` near a value is not enough: each structure also checks the form of the value (its decoded
//! length, its encoding, its alphabet), so that a secret of another form stays a secret in the same place.

mod addresses;
mod asset_files;
mod blocks;
mod charsets;
mod ciphertexts;
mod der;
mod digests;
mod encoded_text;
mod field_ids;
mod labels;
mod lookup_keys;
mod object_ids;
mod printed;
mod proof;
mod public_keys;
mod remarks;
mod spot;

use std::ops::Range;

use self::spot::Spot;
use super::Redactor;
use super::promise::promises_value;

/// True for a part of the address of a page, whose title can begin like a token.
pub(super) fn is_of_page(text: &str, at: &Range<usize>) -> bool {
    addresses::is_of_page(&Spot::of(text, at))
}

impl Redactor {
    /// True if the structure around a value shows that the value is public.
    pub(super) fn is_public_by_structure(&self, text: &str, at: &Range<usize>) -> bool {
        let spot = Spot::of(text, at);
        self.has_public_form(&spot) || (!promises_value(spot.before()) && has_public_place(&spot))
    }

    /// True if the form of the value itself is public in its surroundings, whatever its name promises.
    fn has_public_form(&self, spot: &Spot<'_>) -> bool {
        self.is_published(spot)
            || public_keys::is_public_key(spot)
            || der::is_public_key_or_certificate(spot)
            || blocks::is_in_public_block(spot)
            || ciphertexts::is_encrypted(spot)
            || charsets::is_charset(spot)
            || labels::is_label(spot)
            || lookup_keys::is_path_of_words(spot)
            || self.is_decoded_text(spot)
    }

    /// True if the value is a part of an example that its own issuer has published.
    fn is_published(&self, spot: &Spot<'_>) -> bool {
        spot.runs().into_iter().filter_map(|run| spot.text.get(run)).any(|run| self.exceptions.is_sample(run))
    }
}

/// True if the place of the value is that of a digest or an id. A name that promises a secret outweighs the place.
fn has_public_place(spot: &Spot<'_>) -> bool {
    digests::digest_or_signature(spot)
        .or_else(|| field_ids::field_id(spot))
        .or_else(|| object_ids::object_id(spot))
        .or_else(|| lookup_keys::lookup_key(spot))
        .or_else(|| addresses::part_of_address(spot))
        .or_else(|| printed::printed(spot))
        .or_else(|| remarks::called_public(spot))
        .or_else(|| asset_files::part_of_asset(spot))
        .is_some()
}
