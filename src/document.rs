//! A document of a vector memory.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::vector_memory::DocumentError;
use crate::lesson::TextHash;

/// What a vector memory keeps: a text under an id, with metadata to filter by.
///
/// A document is the host's own and is kept and embedded as given, to the byte: unlike lessons, documents are **not** redacted.
/// Where a text may hold secrets, pass it through [`Redactor::redact`](crate::redact::Redactor::redact) first.
///
/// ```
/// use adage::Document;
/// let note = Document::new("n1", "The staging database is read-only on Sundays.").with("type", "note");
/// assert_eq!(note.metadata["type"], "note");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// The name that the host gives it; one document an id. 1 to [`MAX_ID_BYTES`](Self::MAX_ID_BYTES) bytes.
    pub id: String,
    /// What is embedded and found. Not blank, at most [`MAX_TEXT_BYTES`](Self::MAX_TEXT_BYTES) bytes; an embedder may look
    /// at the beginning only.
    pub text: String,
    /// Fields to filter by, each with one value. May be empty.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

impl Document {
    /// The longest id, in bytes.
    pub const MAX_ID_BYTES: usize = 1_024;
    /// The longest text, in bytes.
    pub const MAX_TEXT_BYTES: usize = 1 << 20;
    /// The most fields of metadata.
    pub const MAX_FIELDS: usize = 64;
    /// The longest name of a field, in bytes; the shortest has one.
    pub const MAX_FIELD_BYTES: usize = 256;
    /// The longest value of a field, in bytes; it may be empty.
    pub const MAX_VALUE_BYTES: usize = 4_096;

    /// A document without metadata.
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { id: id.into(), text: text.into(), metadata: BTreeMap::new() }
    }

    /// With this value in this field, instead of an earlier one.
    #[must_use]
    pub fn with(mut self, field: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.insert(field.into(), value.into());
        self
    }

    /// Whether it can be kept.
    ///
    /// # Errors
    /// Each [`DocumentError`] but [`Twice`](DocumentError::Twice).
    pub fn validate(&self) -> Result<(), DocumentError> {
        let check = |part: &'static str, found: usize, limit: usize| {
            if found > limit { Err(DocumentError::TooLong { part, found, limit }) } else { Ok(()) }
        };
        if self.id.is_empty() {
            return Err(DocumentError::Empty { part: "id" });
        }
        if self.text.trim().is_empty() {
            return Err(DocumentError::Empty { part: "text" });
        }
        check("id", self.id.len(), Self::MAX_ID_BYTES)?;
        check("text", self.text.len(), Self::MAX_TEXT_BYTES)?;
        if self.metadata.len() > Self::MAX_FIELDS {
            return Err(DocumentError::TooManyFields { found: self.metadata.len(), limit: Self::MAX_FIELDS });
        }
        for (field, value) in &self.metadata {
            if field.is_empty() {
                return Err(DocumentError::Empty { part: "name of a field" });
            }
            check("name of a field", field.len(), Self::MAX_FIELD_BYTES)?;
            check("value of a field", value.len(), Self::MAX_VALUE_BYTES)?;
        }
        Ok(())
    }

    /// The name under which the vector of its text is kept.
    pub(crate) fn text_hash(&self) -> TextHash {
        TextHash::of(&[&self.text])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_kept_is_refused_with_both_sides() {
        let check = |document: Document, expected: &str| {
            assert_eq!(document.validate().unwrap_err().to_string(), expected);
        };
        let long = |n: usize| "x".repeat(n);
        check(Document::new("", "t"), "the id is empty");
        check(Document::new("i", " \n"), "the text is empty");
        check(Document::new(long(1_025), "t"), "the id has 1025 bytes, at most 1024 are kept");
        check(Document::new("i", long((1 << 20) + 1)), "the text has 1048577 bytes, at most 1048576 are kept");
        check(Document::new("i", "t").with("", "v"), "the name of a field is empty");
        check(Document::new("i", "t").with(long(257), "v"), "the name of a field has 257 bytes, at most 256 are kept");
        check(
            Document::new("i", "t").with("f", long(4_097)),
            "the value of a field has 4097 bytes, at most 4096 are kept",
        );
        let fields = (0..65).fold(Document::new("i", "t"), |document, n| document.with(n.to_string(), ""));
        check(fields, "the document has 65 fields, at most 64 are kept");
        let largest = Document::new(long(1_024), long(1 << 20)).with(long(256), long(4_096));
        assert_eq!(largest.validate(), Ok(()));
    }
}
