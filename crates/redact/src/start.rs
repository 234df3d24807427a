//! What a regex begins with, read off its pattern: a look at a few bytes tells most places where it cannot match.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

use crate::byte_set::ByteSet;

/// What a match begins with: some bytes that it may begin with any number of, up to a limit, and the first that is none of those or
/// need not be.
#[derive(Debug)]
pub(crate) struct Start {
    lead: ByteSet,
    max_lead: usize,
    next: ByteSet,
}

impl Start {
    /// `None` if a match may be empty, or the pattern is none.
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

    /// False if no match begins where the text does.
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

/// Of an optional part that repeats single bytes those, and how often.
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

/// Adds the bytes that a part may begin with; true if it may also be empty.
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
            // The first bytes of characters are in the order of the characters.
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

/// Adds the bytes that parts one after the other may begin with; true if all of them may be empty.
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
    fn a_start_is_the_first_bytes_after_an_optional_lead() {
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
            let start = Start::of(pattern);
            assert_eq!(start.map(|start| start.may_match(text.as_bytes())), Some(expected), "{pattern} {text}");
        }
        for pattern in ["a?", "(", "[a-z]{0,3}", "^$"] {
            assert!(Start::of(pattern).is_none(), "{pattern}");
        }
    }

    /// The starts of the rules, and their regexes.
    static RULES: LazyLock<Vec<(Start, Regex)>> = LazyLock::new(|| {
        let patterns = Rule::all().into_iter().filter_map(|rule| rule.anchored());
        let regex = |pattern: &str| RegexBuilder::new(&format!("^(?:{pattern})")).unicode(false).build().ok();
        patterns.filter_map(|pattern| Some((Start::of(&pattern)?, regex(&pattern)?))).collect()
    });

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn where_a_rule_matches_its_start_does(text in "[a-zA-Z_]{0,3}[ -~\n]{0,6}[a-z0-9A-Z]{8,20}[\"' ]?") {
            prop_assert!(RULES.len() > 100);
            for (start, regex) in RULES.iter() {
                prop_assert!(start.may_match(text.as_bytes()) || !regex.is_match(&text), "{} {}", regex, text);
            }
        }
    }
}
