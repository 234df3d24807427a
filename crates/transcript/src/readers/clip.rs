//! Shortens long texts to their head and tail.

use std::ops::Range;

/// How far a cut may move to be at white space, so that no word (or secret) is split.
const SLACK: usize = 512;
/// The maximum length of a line that is kept from the part that is cut out.
const MAX_KEPT_LINE: usize = 512;

/// The text with its middle replaced by a mark, if it is longer than `max` bytes. `keep` is a line that is kept even if it is
/// in the middle: the error is more useful than the output around it.
///
/// The mark is `[… N bytes cut …]` on a line of its own.
pub(super) fn clip(text: &str, max: usize, keep: Option<Range<usize>>) -> Option<String> {
    if text.len() <= max {
        return None;
    }
    let head = text.get(..text.floor_char_boundary(max / 2)).unwrap_or_default();
    let least = head.len().saturating_sub(SLACK);
    let head_end = head.rfind(char::is_whitespace).filter(|end| *end >= least).unwrap_or(head.len());
    let tail_from = text.ceil_char_boundary(text.len() - max / 2);
    let tail = text.get(tail_from..).unwrap_or_default();
    let tail_start = tail_from + tail.find(char::is_whitespace).filter(|start| *start <= SLACK).unwrap_or(0);
    let kept = keep.filter(|line| line.start >= head_end && line.end <= tail_start);
    // Allocated at once: growing by doubling would reserve up to twice the size for as long as the text is kept.
    let mut out = String::with_capacity(max + kept.as_ref().map_or(64, |_| 128 + MAX_KEPT_LINE));
    out.push_str(text.get(..head_end).unwrap_or_default());
    let mut cut_from = head_end;
    if let Some(line) = kept {
        let end = text.floor_char_boundary(line.end.min(line.start + MAX_KEPT_LINE));
        mark(&mut out, line.start - cut_from);
        out.push_str(text.get(line.start..end).unwrap_or_default());
        cut_from = end;
    }
    mark(&mut out, tail_start - cut_from);
    out.push_str(text.get(tail_start..).unwrap_or_default().trim_start_matches(['\n', '\r']));
    Some(out)
}

fn mark(out: &mut String, n_bytes: usize) {
    if n_bytes > 0 {
        out.push_str("\n[… ");
        out.push_str(&n_bytes.to_string());
        out.push_str(" bytes cut …]\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_and_tail_stay() {
        assert_eq!(clip("short", 5, None), None);
        let text = format!("{} {}", "a".repeat(600), "é".repeat(600));
        let cut = clip(&text, 1_000, None).unwrap();
        assert!(cut.starts_with("aaa") && cut.ends_with("éé"), "{cut}");
        assert!(cut.contains("\n[… 801 bytes cut …]\n"), "{cut}");
    }

    #[test]
    fn cuts_are_at_white_space() {
        let text = "word ".repeat(1_000);
        let cut = clip(&text, 1_000, None).unwrap();
        assert!(cut.split_whitespace().all(|word| word == "word" || !word.contains("wo")), "{cut}");
    }

    #[test]
    fn the_line_worth_keeping_is_kept() {
        let text = format!("{}\nerror: here\n{}", "a b ".repeat(500), "c d ".repeat(500));
        let at = text.find("error").unwrap();
        let cut = clip(&text, 400, Some(at..at + 11)).unwrap();
        assert_eq!(cut.matches("error: here").count(), 1);
        assert_eq!(cut.matches("bytes cut").count(), 2);
        assert!(cut.len() < 600);
        let whole = clip(&text, 3_900, Some(0..3)).unwrap();
        assert_eq!(whole.matches("bytes cut").count(), 1);
    }
}
