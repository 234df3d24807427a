//! Recomputes the hunk headers of a patch that a person edited.

/// The patch with counts and positions recomputed from its lines. The start of each hunk in the old file is kept. A text that
/// is not a patch is unchanged.
pub(crate) fn recounted(text: &[u8]) -> Vec<u8> {
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let mut out = Vec::new();
    let mut delta: i64 = 0;
    for (n, line) in lines.iter().enumerate() {
        let rest = lines.get(n + 1..).unwrap_or_default();
        if is_name(line, rest.first()) {
            delta = 0;
        }
        match old_start(line) {
            Some((start, was_empty)) => {
                let (n_old, n_new) = counts(rest);
                // If a side has no lines, the number is that of the line before.
                let above = start.saturating_sub(i64::from(!was_empty));
                let old = above + i64::from(n_old > 0);
                let new = above + delta + i64::from(n_new > 0);
                out.extend(format!("@@ -{old},{n_old} +{new},{n_new} @@").into_bytes());
                out.extend(behind_header(line));
                delta += n_new - n_old;
            }
            None => out.extend_from_slice(line),
        }
    }
    out
}

/// True for the first of the two names above a diff.
fn is_name(line: &[u8], next: Option<&&[u8]>) -> bool {
    line.starts_with(b"--- ") && next.is_some_and(|next| next.starts_with(b"+++ "))
}

/// The old start line in a hunk's header, and whether the old side is empty.
fn old_start(line: &[u8]) -> Option<(i64, bool)> {
    let line = std::str::from_utf8(line).ok()?;
    let range = line.strip_prefix("@@ -")?.split_once(" +")?.0;
    let (start, count) = range.split_once(',').unwrap_or((range, "1"));
    Some((start.parse::<u32>().ok()?.into(), count == "0"))
}

/// The text after the ranges.
fn behind_header(line: &[u8]) -> &[u8] {
    let end = line.get(2..).and_then(|rest| rest.windows(2).position(|pair| pair == b"@@"));
    end.and_then(|end| line.get(end + 4..)).unwrap_or(b"\n")
}

/// The numbers of old and new lines up to the next header. An empty line is a context line whose space an editor has removed,
/// unless no line of the hunk follows: then it is between diffs.
fn counts(lines: &[&[u8]]) -> (i64, i64) {
    let (mut n_old, mut n_new, mut n_empty) = (0, 0, 0);
    for (n, line) in lines.iter().enumerate() {
        if is_name(line, lines.get(n + 1)) || line.starts_with(b"diff --git ") {
            break;
        }
        let is_hunk = matches!(line.first(), Some(b' ' | b'-' | b'+')) || line.starts_with(b"@@");
        if is_hunk {
            (n_old, n_new, n_empty) = (n_old + n_empty, n_new + n_empty, 0);
        }
        match line.first() {
            Some(b'\n') => n_empty += 1,
            Some(b' ') => (n_old, n_new) = (n_old + 1, n_new + 1),
            Some(b'-') => n_old += 1,
            Some(b'+') => n_new += 1,
            Some(b'\\') => {}
            _ => break,
        }
    }
    (n_old, n_new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposal::Patch;

    #[test]
    fn counts_follow_the_lines() {
        let edited = "--- a\n+++ a\n@@ -1,2 +1,2 @@ words\n one\n-two\n+2\n+2.5\n@@ -5,1 +5,2 @@\n five\n+six\n+seven\n\
                      --- /dev/null\n+++ b\n@@ -0,0 +1 @@\n+x\n+y\n\\ No newline at end of file\n";
        let counted = "--- a\n+++ a\n@@ -1,2 +1,3 @@ words\n one\n-two\n+2\n+2.5\n@@ -5,1 +6,3 @@\n five\n+six\n+seven\n\
                       --- /dev/null\n+++ b\n@@ -0,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file\n";
        assert_eq!(String::from_utf8(recounted(edited.as_bytes())).unwrap(), counted);
        let patch = Patch::parse(counted.as_bytes()).unwrap();
        let after = patch.files()[0].apply(Some(b"one\ntwo\nthree\nfour\nfive\n")).unwrap();
        assert_eq!(after, b"one\n2\n2.5\nthree\nfour\nfive\nsix\nseven\n");
        assert_eq!(recounted(counted.as_bytes()), counted.as_bytes());
        // An editor that takes spaces away at line ends, and an empty line between two diffs.
        let edited = "--- a\n+++ a\n@@ -1,3 +1,4 @@\n one\n\n+2\n\n@@ -9,2 +10,3 @@\n\n+x\n nine\n\n\n--- b\n+++ b\n@@ -1 +1 @@\n-x\n+y\n\n";
        let counted = "--- a\n+++ a\n@@ -1,3 +1,4 @@\n one\n\n+2\n\n@@ -9,2 +10,3 @@\n\n+x\n nine\n\n\n--- b\n+++ b\n@@ -1,1 +1,1 @@\n-x\n+y\n\n";
        assert_eq!(String::from_utf8(recounted(edited.as_bytes())).unwrap(), counted);
        assert_eq!(String::from_utf8(recounted(edited.replace(",4 @@", ",9 @@").as_bytes())).unwrap(), counted);
        let patch = Patch::parse(counted.as_bytes()).unwrap();
        let after = patch.files()[0].apply(Some(b"one\n\n\n4\n5\n6\n7\n8\n\nnine\n")).unwrap();
        assert_eq!(after, b"one\n\n2\n\n4\n5\n6\n7\n8\n\nx\nnine\n");
        assert_eq!(recounted(b"no patch\n@@ x\n"), b"no patch\n@@ x\n");
    }
}
