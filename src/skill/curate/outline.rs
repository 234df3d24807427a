//! A skill's body divided by its headings. A line in a fence is not a heading.

use std::ops::Range;

use adage_redact::fence_of;

/// The text under a heading, up to the next one of its level or above. Lower headings are part of it, except below a title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section<'a> {
    /// The heading's text; empty before the first one.
    pub(super) title: &'a str,
    /// The level of the heading: 1 is a title.
    level: usize,
    pub(super) lines: Vec<MarkedLine<'a>>,
}

/// A line, marked as text or code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkedLine<'a> {
    Text(&'a str),
    Code(&'a str),
    /// A line that opens or closes a fence.
    Fence(&'a str),
}

impl<'a> MarkedLine<'a> {
    pub(super) fn raw(self) -> &'a str {
        match self {
            Self::Text(line) | Self::Code(line) | Self::Fence(line) => line,
        }
    }
}

/// The headings that the crate writes and recognises.
pub(in crate::skill) const OVERVIEW: &str = "Overview";
pub(super) const STEPS: &str = "Step-by-Step";
pub(in crate::skill) const PITFALLS: &str = "Common Pitfalls";
pub(in crate::skill) const VERIFICATION: &str = "Verification";
pub(super) const EVIDENCE: &str = "Evidence";
/// The text under the pitfalls of a skill without any.
pub(super) const NO_PITFALL: &str = "- None is on record.";

impl Section<'_> {
    pub(super) fn is(&self, title: &str) -> bool {
        self.title.eq_ignore_ascii_case(title)
    }

    /// True if there is text under the heading.
    pub(super) fn says_something(&self) -> bool {
        self.lines.iter().any(|line| !line.raw().trim().is_empty())
    }
}

pub(super) fn sections(body: &str) -> Vec<Section<'_>> {
    let mut sections = vec![Section { title: "", level: 0, lines: Vec::new() }];
    let mut fence: Option<String> = None;
    for line in body.lines() {
        let was_open = fence.is_some();
        let (kind, next) = match (fence, fence_of(line.trim_start())) {
            (None, Some((marks, _))) => (MarkedLine::Fence(line), Some(marks)),
            (Some(open), Some((marks, info))) if marks.starts_with(&open) && info.trim().is_empty() => {
                (MarkedLine::Fence(line), None)
            }
            (Some(open), _) => (MarkedLine::Code(line), Some(open)),
            (None, None) => (MarkedLine::Text(line), None),
        };
        let is_plain = !was_open && next.is_none();
        fence = next;
        let within = sections.last().map_or(0, |section| section.level);
        match heading(line).filter(|(level, _)| is_plain && (within < 2 || *level <= within)) {
            Some((level, title)) => sections.push(Section { title, level, lines: Vec::new() }),
            None => {
                if let Some(section) = sections.last_mut() {
                    section.lines.push(kind);
                }
            }
        }
    }
    sections
}

/// The range of a section's lines in the body, without blank ones at its end; none if the heading is missing.
pub(super) fn lines_of(body: &str, title: &str) -> Option<Range<usize>> {
    // Sections contain all lines except headings: count the lines before this one.
    let mut end = 0;
    for (number, section) in sections(body).iter().enumerate() {
        let has_heading = usize::from(number > 0);
        let start = end + has_heading;
        end = start + section.lines.len();
        if section.is(title) && has_heading == 1 {
            let n_blank = section.lines.iter().rev().take_while(|line| line.raw().trim().is_empty()).count();
            return Some(start..end - n_blank);
        }
    }
    None
}

/// The body with the text of a section replaced; a missing section is added at the end.
pub(in crate::skill) fn with_section(body: &str, title: &str, text: &str) -> String {
    let Some(place) = lines_of(body, title) else {
        return format!("{}\n\n## {title}\n\n{text}", body.trim_end());
    };
    let lines: Vec<&str> = body.split('\n').collect();
    let before = lines.get(..place.start).unwrap_or_default().join("\n");
    let after = lines.get(place.end..).unwrap_or_default().join("\n");
    if after.is_empty() { format!("{before}\n\n{text}") } else { format!("{before}\n\n{text}\n{after}") }
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    ((1..=6).contains(&level) && title.starts_with([' ', '\t']))
        .then(|| (level, title.trim().trim_end_matches('#').trim_end()))
}

/// The text of a list item.
pub(super) fn list_item(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = (digits.len() < line.len()).then(|| digits.strip_prefix(['.', ')'])).flatten();
    let rest = numbered.or_else(|| line.strip_prefix(['-', '*', '+']))?;
    rest.strip_prefix([' ', '\t']).map(str::trim).filter(|text| !text.is_empty())
}

/// The instructions of a body, in order: every line of its steps without list markers, white space and code markers.
pub(super) fn steps(body: &str) -> Vec<String> {
    let sections = sections(body);
    let lines = sections.iter().filter(|section| section.is(STEPS)).flat_map(|section| &section.lines);
    let steps = lines.filter_map(|line| match line {
        MarkedLine::Text(line) => Some(list_item(line).unwrap_or(line)),
        MarkedLine::Code(line) => Some(*line),
        MarkedLine::Fence(_) => None,
    });
    let plain = |step: &str| step.replace('`', "").split_whitespace().collect::<Vec<_>>().join(" ");
    steps.map(plain).filter(|step| !step.is_empty()).collect()
}

/// The blocks of a section: list items, fences, paragraphs.
pub(super) fn blocks(section: &Section<'_>) -> Vec<String> {
    let mut blocks: Vec<Vec<&str>> = Vec::new();
    let mut is_open = false;
    for line in &section.lines {
        let (raw, is_text) = (line.raw(), matches!(line, MarkedLine::Text(_)));
        if is_text && raw.trim().is_empty() {
            is_open = false;
            continue;
        }
        let begins = is_text && list_item(raw).is_some() && !raw.starts_with([' ', '\t']);
        match blocks.last_mut() {
            Some(block) if is_open && !begins => block.push(raw),
            _ => blocks.push(vec![raw]),
        }
        is_open = true;
    }
    blocks.into_iter().map(|block| block.join("\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_in_fences_are_code() {
        let body = "intro\n# Overview\ntext\n```sh\n# Common Pitfalls\n~~~\n````\n## Step-by-Step ##\n#no\n1. `a  b`\n2) c\n- d\n\n```\n e f \n```\n";
        let found = sections(body);
        let titles: Vec<&str> = found.iter().map(|section| section.title).collect();
        // A longer run of the same mark closes a fence as well.
        assert_eq!(titles, ["", "Overview", "Step-by-Step"], "{found:?}");
        assert_eq!(
            steps("## step-by-step\n1. `a  b`\n2) c\n- d\n\n```\n e f \n```\n## Other\n- g"),
            ["a b", "c", "d", "e f"]
        );
        assert_eq!(steps("1. a"), Vec::<String>::new());
    }
    #[test]
    fn a_section_is_split_into_items_fences_and_paragraphs() {
        let body = "## Common Pitfalls\n\n- a\n  more of a\n- b\n\n```text\n- quoted\n\nx\n```\n\n> said\n> twice\n";
        let found = sections(body);
        let found: Vec<String> = found.iter().filter(|section| section.is(PITFALLS)).flat_map(blocks).collect();
        assert_eq!(found, ["- a\n  more of a", "- b", "```text\n- quoted\n\nx\n```", "> said\n> twice"]);
    }
}
