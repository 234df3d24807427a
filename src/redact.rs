//! Secrets out of text, by 131 rules that are data.
//!
//! ```
//! use adage::redact::Redactor;
//!
//! let token = ["gh", "p_", "q7RtZ2mWx9LkB4vNs8Yd1HcJ6pGf3TaE5uQi"].concat();
//! let text = format!("deploy with {token} please");
//! assert_eq!(Redactor::shared().redact(&text), "deploy with [REDACTED:github-token] please");
//! assert_eq!(Redactor::shared().find(&text)[0].rule, "github-token");
//! ```
//!
//! Lessons, transcripts and queries are redacted automatically; the documents of a `VectorMemory` are not.

pub use adage_redact::{
    Masked, Part, Redactor, Secret, Traced, as_shown, json_error, mask, one_line, path_line, path_text, printable,
    printable_json, printable_line, shorten, strip_invisible, strip_terminal, visible, visible_chars, written_out,
};
