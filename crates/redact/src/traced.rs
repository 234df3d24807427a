//! Redaction with the origin of each part of the result.

use std::ops::Range;

use crate::redactor::{MAX_ROUNDS, Redactor, Secret, replace};

/// A redacted text with the origin of each of its parts.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traced {
    /// The redacted text.
    pub text: String,
    /// The parts of the text, in order and without gaps; none is empty, unless the source is.
    pub parts: Vec<Part>,
}

/// A part of a redacted text. Both ranges are in bytes, on character boundaries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A part that is unchanged.
    Kept {
        /// The range in the redacted text.
        at: Range<usize>,
        /// The range in the source.
        source: Range<usize>,
    },
    /// A mark that replaces a secret.
    Mark {
        /// The range in the redacted text.
        at: Range<usize>,
        /// The range of the secret in the source.
        source: Range<usize>,
    },
}

impl Redactor {
    /// As [`redact`](Self::redact), with the origin of each part.
    #[must_use]
    pub fn trace(&self, text: &str) -> Traced {
        let whole = 0..text.len();
        let mut parts = vec![Part::Kept { at: whole.clone(), source: whole.clone() }];
        let mut current = text.to_owned();
        for _ in 0..MAX_ROUNDS {
            let found = self.find(&current);
            if found.is_empty() {
                break;
            }
            parts = split_at_secrets(&parts, &found);
            current = replace(&current, &found);
        }
        // A secret never overlaps a mark. If it did, origins would be unknown, and the whole text would be one mark.
        if parts.last().map(Part::end) != Some(current.len()) {
            parts = vec![Part::Mark { at: 0..current.len(), source: whole }];
        }
        Traced { text: current, parts }
    }
}

impl Part {
    /// The end of the part in the redacted text.
    fn end(&self) -> usize {
        let (Self::Kept { at, .. } | Self::Mark { at, .. }) = self;
        at.end
    }
}

/// The parts of the text in which the found secrets are replaced by marks.
fn split_at_secrets(parts: &[Part], found: &[Secret<'_>]) -> Vec<Part> {
    let mut found = found.iter().peekable();
    let mut out: Vec<Part> = Vec::new();
    let mut push = |length: usize, part: &dyn Fn(Range<usize>) -> Part| {
        let start = out.last().map_or(0, Part::end);
        if length > 0 {
            out.push(part(start..start + length));
        }
    };
    for part in parts {
        match part {
            Part::Mark { at, source } => push(at.len(), &|at| Part::Mark { at, source: source.clone() }),
            Part::Kept { at, source } => {
                let in_source = |place: usize| place - at.start + source.start;
                let mut place = at.start;
                while let Some(secret) = found.next_if(|secret| secret.range.end <= at.end) {
                    let Range { start, end } = secret.range.clone();
                    let before = in_source(place)..in_source(start);
                    push(before.len(), &|at| Part::Kept { at, source: before.clone() });
                    let source = in_source(start)..in_source(end);
                    push(secret.mark_len(), &|at| Part::Mark { at, source: source.clone() });
                    place = end;
                }
                let rest = in_source(place)..source.end;
                push(rest.len(), &|at| Part::Kept { at, source: rest.clone() });
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Joined at run time, so that secret scanners do not flag this file.
    fn secrets() -> [String; 3] {
        let mixed = "q7RtZ2mWx9LkB4vNs8Yd1HcJ6pGf3TaE5uQi";
        [["gh", "p_", mixed].concat(), ["AK", "IA", "Q7RTZ2MWX4LKB5VN"].concat(), ["sk_", "live_", mixed].concat()]
    }

    fn check(source: &str) -> Result<(), TestCaseError> {
        let Traced { text, parts } = Redactor::shared().trace(source);
        prop_assert_eq!(&text, &Redactor::shared().redact(source));
        let (mut end, mut source_end) = (0, 0);
        for part in &parts {
            let (Part::Kept { at, source: origin } | Part::Mark { at, source: origin }) = part;
            prop_assert_eq!((at.start, origin.start), (end, source_end), "{:?}", parts);
            (end, source_end) = (at.end, origin.end);
            match part {
                Part::Kept { .. } => prop_assert_eq!(text.get(at.clone()), source.get(origin.clone())),
                Part::Mark { .. } => prop_assert!(text[at.clone()].starts_with("[REDACTED:")),
            }
        }
        prop_assert_eq!((end, source_end), (text.len(), source.len()));
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn parts_cover_source_and_result_and_kept_parts_are_equal(
            words in prop::collection::vec((0..9_usize, "[a-zé=:\\[\\] ]{0,6}"), 0..12)
        ) {
            let secrets = secrets();
            let text: String = words
                .iter()
                .map(|(kind, word)| match kind {
                    kind @ 0..=2 => format!("{word} {} ", secrets[*kind]),
                    3 => format!("password={} ", secrets[0]),
                    4 => format!("[REDACTED:{word}"),
                    _ => format!("{word} "),
                })
                .collect();
            check(&text)?;
        }
    }
}
