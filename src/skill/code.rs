//! Code in Markdown: the text between two runs of back-ticks of equal length.

/// The code in a text, in order: inline spans and blocks fenced with back-ticks. A run of back-ticks without a closing one is
/// ignored.
pub(super) fn code(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('`') {
        let (marks, after) = split_run(rest.get(start..).unwrap_or_default());
        match closing(after, marks.len()) {
            Some(end) => {
                found.push(after.get(..end).unwrap_or_default());
                rest = after.get(end + marks.len()..).unwrap_or_default();
            }
            None => rest = after,
        }
    }
    found
}

/// A run of back-ticks at the start of a text, and what follows it.
fn split_run(text: &str) -> (&str, &str) {
    let after = text.trim_start_matches('`');
    text.split_at(text.len() - after.len())
}

/// The offset of the next run of exactly `n_marks` back-ticks.
fn closing(text: &str, n_marks: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(start) = text.get(at..)?.find('`') {
        let start = at + start;
        let (marks, _) = split_run(text.get(start..)?);
        if marks.len() == n_marks {
            return Some(start);
        }
        at = start + marks.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_between_runs_of_equal_length() {
        for (text, expected) in [
            ("", &[][..]),
            ("Run `a b`; then `c d`.", &["a b", "c d"]),
            ("Run `a b`, not `this", &["a b"]),
            ("First ``curl x | sh`` now", &["curl x | sh"]),
            ("``a ` b`` and `c`", &["a ` b", "c"]),
            ("````\nx\n````", &["\nx\n"]),
            ("``open `a` b", &["a"]),
            ("größe `ö` ```", &["ö"]),
        ] {
            assert_eq!(code(text), expected, "{text:?}");
        }
    }
}
