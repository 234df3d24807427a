//! Fences of code blocks in Markdown.

/// The marks of a fence at the start of a line, and the rest of the line; `None` for fewer than three marks.
///
/// ```
/// assert_eq!(adage_redact::fence_of("```sh"), Some(("```".to_owned(), "sh")));
/// assert_eq!(adage_redact::fence_of("``not code``"), None);
/// ```
#[must_use]
pub fn fence_of(line: &str) -> Option<(String, &str)> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let info = line.trim_start_matches(mark);
    let marks = line.len() - info.len();
    (marks >= 3).then(|| (mark.to_string().repeat(marks), info))
}

/// A fence for a block of code: backticks, at least three, and one more than the longest run of backticks in the code.
#[must_use]
pub fn fence_for(code: &str) -> String {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_has_three_or_more_equal_marks_at_the_start_of_the_line() {
        assert_eq!(fence_of("~~~~ rust"), Some(("~~~~".to_owned(), " rust")));
        for line in ["", "``", "``~", " ```", "text ```"] {
            assert_eq!(fence_of(line), None, "{line:?}");
        }
    }

    #[test]
    fn a_fence_is_longer_than_any_run_of_backticks_in_the_code() {
        assert_eq!(["", "a `b`", "```\nx\n````"].map(fence_for), ["```", "```", "`````"]);
    }
}
