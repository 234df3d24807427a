//! By what the text of a removed lesson is recognised, also when it is written slightly differently (docs/spec/playbook.md, 7).

use super::shown::ShownField;
use super::{Lesson, TextHash};

/// The marks that may end a sentence.
const END_MARKS: [char; 11] = ['.', '!', '?', '…', ';', ':', ',', '。', '！', '？', '；'];

/// The hashes of a removed lesson's advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RemovedText {
    /// As it was written.
    pub(crate) exact: TextHash,
    /// In normal form. Removals of earlier versions do not have it.
    pub(crate) wording: Option<TextHash>,
}

impl RemovedText {
    pub(crate) fn of(lesson: &Lesson) -> Self {
        Self { exact: lesson.text_hash(), wording: Some(wording(lesson)) }
    }

    /// True if another lesson's text, whose hashes these are, is this one: but for case, white space and the marks at its end.
    pub(crate) fn is(self, other: Self) -> bool {
        self.exact == other.exact || (self.wording.is_some() && self.wording == other.wording)
    }
}

/// The hash of the advice in normal form.
fn wording(lesson: &Lesson) -> TextHash {
    TextHash::of(&ShownField::ADVICE.map(|field| normal_form(&field.of(lesson))))
}

/// The text in lower case, with single blanks and without marks at its end.
fn normal_form(text: &str) -> String {
    let words = text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ");
    words.trim_end_matches(|c: char| END_MARKS.contains(&c) || c.is_whitespace()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::lesson;

    #[test]
    fn a_removed_text_is_recognised_in_another_spelling() {
        let removed = RemovedText::of(&lesson("Parsing CSV exports", "Use the csv module."));
        for (trigger, solution, expected) in [
            ("Parsing CSV exports", "Use the csv module.", true),
            ("parsing CSV exports.", "Use the csv module", true),
            (" Parsing  CSV\nexports", "use the CSV module!  ", true),
            ("Parsing CSV exports …", "Use the csv module...", true),
            ("Parsing CSV exports", "Use the csv module, never split.", false),
            ("Parsing TSV exports", "Use the csv module.", false),
            ("Parsing CSV exports", "Use. the csv module.", false),
        ] {
            assert_eq!(removed.is(RemovedText::of(&lesson(trigger, solution))), expected, "{trigger:?} {solution:?}");
        }
    }

    #[test]
    fn a_removal_of_an_earlier_version_is_recognised_by_the_exact_text() {
        let written = lesson("Parsing CSV exports", "Use the csv module.");
        let removed = RemovedText { wording: None, ..RemovedText::of(&written) };
        assert!(removed.is(RemovedText::of(&written)));
        assert!(!removed.is(RemovedText { wording: None, ..RemovedText::of(&lesson("a", "b")) }));
    }
}
