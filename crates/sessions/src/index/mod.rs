//! Past sessions as an index: a line for each, from which to choose what is worth reading (docs/spec/capture.md, 4). Pure.

mod eligibility;
mod entry;
mod intent;
mod same_procedure;
mod summary;
mod workflow;

pub use eligibility::Ineligible;
pub use entry::{ReadState, SessionEntry, index};
pub(crate) use same_procedure::commands_told;
pub use summary::SessionSummary;

/// A text without secrets and URLs, which may be secrets themselves.
fn harmless(text: &str) -> String {
    let redacted = adage_redact::Redactor::shared().redact(text);
    let words = redacted.split(' ').map(|word| if word.contains("://") { without_url(word) } else { word.to_owned() });
    words.collect::<Vec<_>>().join(" ")
}

/// `(see https://example.com/x)` without its address; the surrounding characters are kept.
fn without_url(word: &str) -> String {
    let pieces = word.split_inclusive(char::is_whitespace).map(|piece| {
        let Some(at) = piece.find("://") else { return piece.to_owned() };
        let (before, _) = piece.split_at(at);
        let scheme = before.rfind(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c));
        let lead = scheme.map_or("", |end| before.get(..=end).unwrap_or_default());
        let body = piece.trim_end();
        let closing = body.trim_end_matches([')', ']', '>', '"', '\'', '`', '.', ',', ';', ':', '!', '?']);
        let after = piece.get(closing.len()..).unwrap_or_default();
        format!("{lead}<url>{after}")
    });
    pieces.collect()
}

#[cfg(test)]
mod tests;
