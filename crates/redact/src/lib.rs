//! Removes secrets from text, and renders untrusted text so that it cannot hide content or imitate its surroundings.
//!
//! - [`Redactor`] finds secrets and replaces each by `[REDACTED:rule-id]`; [`Redactor::trace`] also gives the origin of
//!   each part of the result.
//! - [`strip_terminal`] and [`strip_invisible`] remove terminal sequences and invisible characters. Apply them before
//!   redaction: a colour or a zero-width space within a token hides it.
//! - [`as_shown`] removes invisible characters and masks secrets, for a prompt; [`mask`] masks the same secrets for the
//!   person who reviews the text.
//! - [`fence_for`], [`block::part`] and [`block::begins_block`] confine a text to its part of a prompt.
//! - [`printable`], [`printable_line`] and [`printable_json`] make text safe to print at a terminal;
//!   [`path_line`] and [`path_text`] do so for paths, also for those that are not UTF-8;
//!   [`one_line`] and [`shorten`] cut it for display; [`json_error`] words an error of the JSON parser for people.
//!
//! ```
//! use adage_redact::{Redactor, strip_invisible, strip_terminal};
//!
//! let token = ["ghp_", "1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R"].concat();
//! let (head, tail) = token.split_at(9);
//! let hidden = format!("\u{1b}[32m{head}\u{200b}{tail}\u{1b}[0m");
//! let visible = strip_invisible(&strip_terminal(&hidden));
//! assert_eq!(Redactor::shared().redact(&visible), "[REDACTED:github-token]");
//! ```

pub mod block;
mod byte_set;
mod exceptions;
mod fence;
mod first_bytes;
mod invisible;
mod json_error;
mod line;
mod password_word;
mod path;
mod redactor;
mod rules;
mod score;
mod seed_phrase;
mod shape;
mod shown;
mod terminal;
mod text_words;
mod tokens;
mod traced;
mod word_finder;
mod word_set;

pub use fence::{fence_for, fence_of};
pub use invisible::{strip_invisible, visible, visible_chars};
pub use json_error::json_error;
pub use line::{one_line, shorten};
pub use path::{path_line, path_text};
pub use redactor::{Redactor, Secret};
pub use shown::{Masked, as_shown, mask, written_out};
pub use terminal::{printable, printable_json, printable_line, strip_terminal};
pub use traced::{Part, Traced};

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
