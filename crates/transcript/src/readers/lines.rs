//! Reads lines of limited length from a source.

use std::io::BufRead;

/// The result of reading a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineRead {
    /// The line is in the buffer, without its end.
    Whole,
    /// The line is longer than the limit and was skipped.
    TooLong,
    /// There are no more lines.
    End,
}

/// The maximum capacity that a buffer keeps between lines.
const KEPT_CAPACITY: usize = 1 << 20;

/// Reads up to the next newline or the end.
pub(super) fn next_line(source: &mut impl BufRead, line: &mut Vec<u8>, max: usize) -> std::io::Result<LineRead> {
    line.clear();
    line.shrink_to(KEPT_CAPACITY);
    let (mut length, mut is_any) = (0_usize, false);
    loop {
        let chunk = match source.fill_buf() {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(chunk.len(), |end| end + 1);
        let is_last = end.is_some() || chunk.is_empty();
        is_any |= !chunk.is_empty();
        let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
        length += part.len();
        if length <= max {
            line.extend_from_slice(part);
        }
        source.consume(taken);
        if is_last {
            return Ok(match (is_any, length <= max) {
                (false, _) => LineRead::End,
                (true, true) => LineRead::Whole,
                (true, false) => LineRead::TooLong,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn lines_end_at_newlines_and_at_the_end() {
        for capacity in [1, 2, 3, 100] {
            let mut source = BufReader::with_capacity(capacity, "ab\n\ntoo long\nxyz".as_bytes());
            let mut line = Vec::new();
            let mut found = Vec::new();
            loop {
                let what = next_line(&mut source, &mut line, 3).unwrap();
                if what == LineRead::End {
                    break;
                }
                found.push((
                    what,
                    if what == LineRead::Whole { String::from_utf8_lossy(&line).into_owned() } else { String::new() },
                ));
            }
            let expected =
                [(LineRead::Whole, "ab"), (LineRead::Whole, ""), (LineRead::TooLong, ""), (LineRead::Whole, "xyz")];
            assert_eq!(found, expected.map(|(what, text)| (what, text.to_owned())));
        }
    }
}
