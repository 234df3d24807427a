//! Takes secrets out of text, and renders untrusted text so that it can neither hide anything nor pass for something else.
//!
//! - [`Redactor`] finds secrets by rules and replaces each by `[REDACTED:rule-id]`; [`Redactor::trace`] also says where each part
//!   of the result comes from.
//! - [`strip_terminal`] and [`strip_invisible`] remove what a person does not see and a model may obey. Do so before you look
//!   for secrets: a colour or a zero-width space in the middle of a token hides it.
//! - [`as_shown`] and [`mask`] do both, for a prompt and for the person who reads the text before it goes there.
//! - [`fence_for`], [`block::part`] and [`block::begins_block`] keep a text in its place in a prompt, whatever it says.
//! - [`printable`], [`printable_line`] and [`printable_json`] make text safe to print at a terminal; [`one_line`] and [`shorten`] cut it for display.
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
mod check_cache;
mod exceptions;
mod fence;
mod first_bytes;
mod invisible;
mod line;
mod password_word;
mod redactor;
mod rules;
mod score;
mod shape;
mod shown;
mod terminal;
mod text_words;
mod tokens;
mod traced;
mod word_set;

pub use fence::{fence_for, fence_of};
pub use invisible::{strip_invisible, visible, visible_chars};
pub use line::{one_line, shorten};
pub use redactor::{Redactor, Secret};
pub use shown::{Masked, as_shown, mask, written_out};
pub use terminal::{printable, printable_json, printable_line, strip_terminal};
pub use traced::{Part, Traced};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
