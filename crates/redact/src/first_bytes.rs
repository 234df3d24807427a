//! The bytes that a match of a regex can begin with: a cheap test rules out most places before the regex runs.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

use crate::byte_set::ByteSet;

/// The bytes that a match can begin with: up to `max_lead` bytes of `lead`, then a byte of `next`.
#[derive(Debug)]
pub(crate) struct FirstBytes {
    /// The bytes of an optional repetition at the start of the pattern; empty without one.
    lead: ByteSet,
    /// The greatest number of repetitions.
    max_lead: usize,
    next: ByteSet,
}

impl FirstBytes {
    /// The first bytes of a pattern; `None` if it is invalid or a match can be empty.
    pub(crate) fn of(pattern: &str) -> Option<Self> {
        let hir = ParserBuilder::new().unicode(false).build().parse(pattern).ok()?;
        let parts = match hir.kind() {
            HirKind::Concat(parts) => parts.as_slice(),
            _ => std::slice::from_ref(&hir),
        };
        let (lead, rest) = match parts.split_first() {
            Some((first, rest)) => lead_of(first).map_or((None, parts), |lead| (Some(lead), rest)),
            None => (None, parts),
        };
        let (lead, max_lead) = lead.unwrap_or((ByteSet::of(b""), 0));
        let mut next = ByteSet::of(b"");
        (!add_first_of_all(rest, &mut next)).then_some(Self { lead, max_lead, next })
    }

    /// False if no match begins at the start of the text.
    pub(crate) fn may_match(&self, text: &[u8]) -> bool {
        for (n_lead, byte) in text.iter().enumerate() {
            if self.next.has(*byte) {
                return true;
            }
            if n_lead == self.max_lead || !self.lead.has(*byte) {
                return false;
            }
        }
        false
    }
}

/// The bytes of an optional part that repeats a single byte, and the greatest number of repetitions; `None` for any
/// other part.
fn lead_of(part: &Hir) -> Option<(ByteSet, usize)> {
    match part.kind() {
        HirKind::Capture(capture) => lead_of(&capture.sub),
        HirKind::Repetition(repetition)
            if repetition.min == 0 && repetition.sub.properties().maximum_len() == Some(1) =>
        {
            let mut lead = ByteSet::of(b"");
            let is_optional = add_first(&repetition.sub, &mut lead);
            let max = repetition.max.map_or(usize::MAX, |max| usize::try_from(max).unwrap_or(usize::MAX));
            (!is_optional).then_some((lead, max))
        }
        _ => None,
    }
}

/// Adds the bytes that a match of a part can begin with; true if the match can be empty.
fn add_first(part: &Hir, first: &mut ByteSet) -> bool {
    match part.kind() {
        HirKind::Empty | HirKind::Look(_) => true,
        HirKind::Literal(literal) => match literal.0.first() {
            Some(byte) => {
                first.add(*byte..=*byte);
                false
            }
            None => true,
        },
        HirKind::Class(Class::Bytes(class)) => {
            class.iter().for_each(|range| first.add(range.start()..=range.end()));
            false
        }
        HirKind::Class(Class::Unicode(class)) => {
            let lead = |c: char| c.encode_utf8(&mut [0; 4]).bytes().next().unwrap_or_default();
            // UTF-8 keeps the order of characters in their first bytes.
            class.iter().for_each(|range| first.add(lead(range.start())..=lead(range.end())));
            false
        }
        HirKind::Repetition(repetition) => add_first(&repetition.sub, first) || repetition.min == 0,
        HirKind::Capture(capture) => add_first(&capture.sub, first),
        HirKind::Concat(parts) => add_first_of_all(parts, first),
        HirKind::Alternation(parts) => {
            let mut is_optional = false;
            for part in parts {
                is_optional |= add_first(part, first);
            }
            is_optional
        }
    }
}

/// Adds the bytes that a match of consecutive parts can begin with; true if all of them can be empty.
fn add_first_of_all(parts: &[Hir], first: &mut ByteSet) -> bool {
    parts.iter().all(|part| add_first(part, first))
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;
    use regex::{Regex, RegexBuilder};

    use super::*;
    use crate::rules::Rule;

    #[test]
    fn a_match_begins_with_the_first_bytes_after_an_optional_lead() {
        for (pattern, text, expected) in [
            ("[a-z]{0,3}[:=]", "abc=", true),
            ("[a-z]{0,3}[:=]", "abcd=", false),
            ("[a-z]{0,3}[:=]", "ab =", false),
            ("[a-z]{0,3}[:=]", "abc", false),
            ("(?P<tail>[a-z]*)(?:c|é)", "xxé", true),
            ("(?:ab|\"?x|)y", "y", true),
            ("(?:ab|\"?x|)y", "\"z", true),
            ("(?:ab|\"?x|)y", "b", false),
            ("(?u:[^a])", "é", true),
            ("(?u:[^a])", "a", false),
            ("(?i)key", "KEY", true),
            (r"\bkey", "key", true),
        ] {
            let first = FirstBytes::of(pattern);
            assert_eq!(first.map(|first| first.may_match(text.as_bytes())), Some(expected), "{pattern} {text}");
        }
        for pattern in ["a?", "(", "[a-z]{0,3}", "^$"] {
            assert!(FirstBytes::of(pattern).is_none(), "{pattern}");
        }
    }

    /// The first bytes of the rules that are anchored at a keyword, and their regexes.
    static RULES: LazyLock<Vec<(FirstBytes, Regex)>> = LazyLock::new(|| {
        let patterns = Rule::all().into_iter().filter_map(|rule| rule.anchored());
        let regex = |pattern: &str| RegexBuilder::new(&format!("^(?:{pattern})")).unicode(false).build().ok();
        patterns.filter_map(|pattern| Some((FirstBytes::of(&pattern)?, regex(&pattern)?))).collect()
    });

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn first_bytes_match_wherever_their_rule_does(text in "[a-zA-Z_]{0,3}[ -~\n]{0,6}[a-z0-9A-Z]{8,20}[\"' ]?") {
            prop_assert!(RULES.len() > 100);
            for (first, regex) in RULES.iter() {
                prop_assert!(first.may_match(text.as_bytes()) || !regex.is_match(&text), "{} {}", regex, text);
            }
        }
    }
}
