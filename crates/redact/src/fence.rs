//! Fences of code blocks in Markdown.

/// The marks that open or close a fence at the start of a line, and what follows them; `None` for a line without at least
/// three of them.
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

/// A fence of backticks for this code, longer than any run of backticks in it; at least three.
#[must_use]
pub fn fence_for(code: &str) -> String {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_three_equal_marks_or_more() {
        assert_eq!(fence_of("~~~~ rust"), Some(("~~~~".to_owned(), " rust")));
        for line in ["", "``", "``~", " ```", "text ```"] {
            assert_eq!(fence_of(line), None, "{line:?}");
        }
    }

    #[test]
    fn a_fence_for_code_is_longer_than_any_in_it() {
        assert_eq!(["", "a `b`", "```\nx\n````"].map(fence_for), ["```", "```", "`````"]);
    }
}
