//! Errors of reading or writing skills.

use std::path::PathBuf;

use adage_redact::path_line;

use crate::lesson::TextHash;

/// An error of reading or writing a skill. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No skill has this name.
    #[error("no skill {name:?}")]
    NoSuch {
        /// The requested name or id.
        name: String,
    },
    /// A skill is written from one lesson or more, and none was named.
    #[error("no lesson was named to write as a skill")]
    NoLessons,
    /// A skill with another text has this name; take another name.
    #[error("another skill {name:?} exists at {}; choose another name", path_line(path))]
    Exists {
        /// The name.
        name: String,
        /// Where it is.
        path: PathBuf,
    },
    /// The text of a skill is not the expected one; read it again.
    #[error("the text of skill {name:?} is {found}, not {expected}: it was changed; read it again")]
    Changed {
        /// The name.
        name: String,
        /// The hash of the expected text.
        expected: TextHash,
        /// The hash of the present text.
        found: TextHash,
    },
    /// The supporting files of a skill cannot be promoted or imported with it.
    #[error("the files of skill {name:?} cannot be covered by a promotion: {reason}")]
    NotCovered {
        /// The name.
        name: String,
        /// Why not.
        reason: String,
    },
    /// What looks like a secret would be kept in clear. A person reads it first.
    #[error(
        "{n_chars} characters in {file} of skill {name:?} look like secrets: read them, then import it with --reveal"
    )]
    Masked {
        /// The name, masked.
        name: String,
        /// The file, with its name masked.
        file: String,
        /// How many characters are masked where the skill is shown.
        n_chars: usize,
    },
    /// A skill is too large to be read again.
    #[error("skill {name:?} would have {n_bytes} bytes, at most {max} are read")]
    TooLarge {
        /// The name.
        name: String,
        /// Its length.
        n_bytes: usize,
        /// The maximum length in bytes.
        max: usize,
    },
}
