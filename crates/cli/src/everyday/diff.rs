//! Coloured diffs.

use anstyle::{AnsiColor, Style};

/// The diff with the usual colours.
pub(crate) fn coloured(diff: &str) -> String {
    let style = |line: &str| {
        if line.starts_with("--- ") || line.starts_with("+++ ") {
            Style::new().bold()
        } else if line.starts_with("@@") {
            AnsiColor::Cyan.on_default()
        } else if line.starts_with('+') {
            AnsiColor::Green.on_default()
        } else if line.starts_with('-') {
            AnsiColor::Red.on_default()
        } else {
            Style::new()
        }
    };
    let lines = diff.lines().map(|line| {
        let style = style(line);
        format!("{style}{line}{style:#}\n")
    });
    lines.collect()
}
