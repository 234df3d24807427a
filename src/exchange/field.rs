//! The lines of a text in a Markdown section: what would begin or end a block of the file is escaped, and an open fence is closed, as in
//! a prompt. Reading takes both back.

use adage_redact::fence_of;

/// Blanks behind a fence that was added: Markdown ignores them.
const ADDED: &str = "  ";

/// Whether a text's first line is beside its label, where it can begin no block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum First {
    BesideLabel,
    OnItsOwnLine,
}

/// True for a line that opens a fence: its text begins on a line of its own.
pub(super) fn opens_fence(line: &str) -> bool {
    opening(line).is_some()
}

/// The lines as they are written.
pub(super) fn to_lines(text: &str, first: First) -> Vec<String> {
    let mut fence = Fence::default();
    let mut lines = Vec::new();
    for (n, line) in text.split('\n').enumerate() {
        let is_beside = n == 0 && first == First::BesideLabel;
        let is_plain = is_beside || fence.contains(line);
        lines.push(if is_plain || !begins_html(line) { line.to_owned() } else { with_backslash(line) });
    }
    lines.extend(fence.0.map(|marks| format!("{marks}{ADDED}")));
    lines
}

/// The text that these lines were written for.
pub(super) fn from_lines(mut lines: Vec<String>, first: First) -> String {
    let mut fence = Fence::default();
    let mut closed_by = None;
    for (n, line) in lines.iter_mut().enumerate() {
        if n == 0 && first == First::BesideLabel {
            continue;
        }
        let was_open = fence.0.is_some();
        if fence.contains(line) {
            closed_by = (was_open && fence.0.is_none()).then_some(n);
        } else if begins_html(line) && line.trim_start().starts_with('\\') {
            *line = line.replacen('\\', "", 1);
        }
    }
    let is_added = closed_by.is_some_and(|n| n + 1 == lines.len())
        && lines.last().and_then(|line| line.strip_suffix(ADDED)).is_some_and(|line| !line.ends_with(' '));
    if is_added {
        lines.pop();
    }
    lines.join("\n")
}

/// The marks of the fence that is open.
#[derive(Default)]
struct Fence(Option<String>);

impl Fence {
    /// True for a line of the fence, its first and last included.
    fn contains(&mut self, line: &str) -> bool {
        if let Some(marks) = self.0.take() {
            self.0 = (!closes(&marks, line)).then_some(marks);
            return true;
        }
        self.0 = opening(line);
        self.0.is_some()
    }
}

fn opening(line: &str) -> Option<String> {
    let (marks, info) = fence_of(line.trim_start())?;
    (!(marks.starts_with('`') && info.contains('`'))).then_some(marks)
}

fn closes(open: &str, line: &str) -> bool {
    fence_of(line.trim_start()).is_some_and(|(marks, info)| marks.starts_with(open) && info.trim().is_empty())
}

/// True for a line that begins a block of HTML, or would without the backslashes before it.
fn begins_html(line: &str) -> bool {
    let tag = line.trim_start().trim_start_matches('\\').strip_prefix('<');
    tag.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '!' | '?')))
}

fn with_backslash(line: &str) -> String {
    let bare = line.trim_start();
    format!("{}\\{bare}", line.strip_suffix(bare).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_open_fence_is_closed_and_html_escaped() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(to_lines(text, First::OnItsOwnLine), expected, "{text}");
            assert_eq!(from_lines(to_lines(text, First::OnItsOwnLine), First::OnItsOwnLine), text);
        };
        check("a\n```\nopen", &["a", "```", "open", "```  "]);
        check("a\n~~~~ sh\n```\nopen", &["a", "~~~~ sh", "```", "open", "~~~~  "]);
        check("```\nls\n```", &["```", "ls", "```"]);
        check("a\n  <details>\n\\<b>", &["a", "  \\<details>", "\\\\<b>"]);
        check("```\n<b>\n```\n<b>", &["```", "<b>", "```", "\\<b>"]);
        check("a < b\nVec<String>\n<- c", &["a < b", "Vec<String>", "<- c"]);
        assert_eq!(to_lines("<b>\n<b>", First::BesideLabel), ["<b>", "\\<b>"]);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(lines in prop::collection::vec("[ ]{0,2}(```|~~~|\\\\|<b>|</b>|<!|a|sh){0,3}", 1..7)) {
            let text = lines.join("\n");
            // The gate trims texts.
            let text = text.trim_end();
            for first in [First::BesideLabel, First::OnItsOwnLine] {
                prop_assert_eq!(from_lines(to_lines(text, first), first), text);
            }
        }
    }
}
