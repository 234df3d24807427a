//! A document of a vector memory.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::vector_memory::DocumentError;
use crate::lesson::TextHash;

/// A document of a vector memory: a text with an id, and metadata to filter by.
///
/// A document is stored and embedded as given, to the byte: unlike lessons, documents are **not** redacted. If a text may
/// contain secrets, pass it through [`Redactor::redact`](crate::redact::Redactor::redact) first.
///
/// ```
/// use adage::Document;
/// let note = Document::new("n1", "The staging database is read-only on Sundays.").with("type", "note");
/// assert_eq!(note.metadata["type"], "note");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// The host's id of the document, which is unique. 1 to [`MAX_ID_BYTES`](Self::MAX_ID_BYTES) bytes.
    pub id: String,
    /// The text that is embedded. Not blank, at most [`MAX_TEXT_BYTES`](Self::MAX_TEXT_BYTES) bytes; an embedder may use only
    /// its beginning.
    pub text: String,
    /// Fields to filter by, each with one value. May be empty.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

impl Document {
    /// The maximum length of an id, in bytes.
    pub const MAX_ID_BYTES: usize = 1_024;
    /// The maximum length of a text, in bytes.
    pub const MAX_TEXT_BYTES: usize = 1 << 20;
    /// The maximum number of metadata fields.
    pub const MAX_FIELDS: usize = 64;
    /// The maximum length of a field's name, in bytes; the minimum is 1.
    pub const MAX_FIELD_BYTES: usize = 256;
    /// The maximum length of a field's value, in bytes; it may be empty.
    pub const MAX_VALUE_BYTES: usize = 4_096;

    /// A document without metadata.
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { id: id.into(), text: text.into(), metadata: BTreeMap::new() }
    }

    /// Sets a field to this value; an earlier value is replaced.
    #[must_use]
    pub fn with(mut self, field: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.insert(field.into(), value.into());
        self
    }

    /// Checks whether the document can be stored.
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

    /// The key of the vector of its text.
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
