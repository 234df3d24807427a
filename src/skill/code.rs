//! Code within Markdown: the text between runs of back-ticks of one length.

/// The pieces of code of a text, in order: spans within lines and what stands in fences of back-ticks. A run that nothing closes
/// opens none.
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

/// Where the next run of exactly so many back-ticks begins.
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
    fn code_stands_between_runs_of_one_length() {
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
