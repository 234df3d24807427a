//! The encoded rows of lessons from the last write, so that a playbook file can be written without encoding every lesson again.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::LESSONS;
use super::writing::Sealed;
use crate::lesson::{Lesson, LessonId};

/// How the rows of a playbook file are laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Layout {
    /// A line for each value: a person reads and edits them.
    #[default]
    Indented,
    /// A line for each row: version control merges lines, and would mix the values of two rows.
    ByLine,
}

/// A row of a playbook file, as it is laid out.
#[derive(Debug)]
pub(crate) struct WrittenRow {
    pub(crate) crc: String,
    text: Box<RawValue>,
}

impl WrittenRow {
    pub(super) fn new<T: Serialize>(sealed: Sealed<T>, layout: Layout) -> serde_json::Result<Self> {
        let text = match layout {
            // Line breaks within strings are escaped.
            Layout::Indented => serde_json::to_string_pretty(&sealed)?.replace('\n', "\n    "),
            Layout::ByLine => serde_json::to_string(&sealed)?,
        };
        Ok(Self { crc: sealed.crc, text: RawValue::from_string(text)? })
    }
}

impl Serialize for WrittenRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(serializer)
    }
}

/// The rows of a file.
#[derive(Debug, Default)]
pub(crate) struct WrittenRows {
    layout: Layout,
    rows: HashMap<LessonId, (Arc<Lesson>, Arc<WrittenRow>)>,
}

impl WrittenRows {
    pub(super) fn layout(&self) -> Layout {
        self.layout
    }

    /// From now on, rows are laid out in this way.
    pub(crate) fn lay_out(&mut self, layout: Layout) {
        if self.layout != layout {
            *self = Self { layout, rows: HashMap::new() };
        }
    }

    /// The rows of these lessons; rows of other lessons are dropped. The row of an unchanged lesson is reused.
    pub(crate) fn rows<'l>(
        &mut self,
        lessons: impl Iterator<Item = &'l Arc<Lesson>>,
    ) -> serde_json::Result<Vec<Arc<WrittenRow>>> {
        let mut before = std::mem::take(&mut self.rows);
        let row = |lesson: &Arc<Lesson>| {
            let known = before.remove(&lesson.id).filter(|(known, _)| Arc::ptr_eq(known, lesson));
            let row = match known {
                Some((_, row)) => row,
                None => Arc::new(WrittenRow::new(Sealed::new(LESSONS, &**lesson)?, self.layout)?),
            };
            self.rows.insert(lesson.id, (Arc::clone(lesson), Arc::clone(&row)));
            Ok(row)
        };
        lessons.map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{Book, LessonsByTime};
    use crate::store::PlaybookFile;
    use crate::store::playbook_file::{render, render_again};
    use crate::testing::lesson;

    #[test]
    fn a_rewritten_file_equals_one_written_from_scratch() {
        let mut known = WrittenRows::default();
        let mut lessons: Vec<Arc<Lesson>> =
            ["one", "two\nlines", "three \"quoted\""].map(|text| Arc::new(lesson(text, "rename it"))).into();
        let mut check = |lessons: &[Arc<Lesson>]| {
            let lessons: LessonsByTime = lessons.iter().cloned().collect();
            let file = PlaybookFile { book: Arc::new(Book { lessons, ..Book::default() }), ..PlaybookFile::default() };
            let [again, first] = [render_again(&file, 7, &mut known).unwrap(), render(&file, 7).unwrap()];
            assert_eq!(String::from_utf8(again).unwrap(), String::from_utf8(first).unwrap());
            known.rows.len()
        };
        assert_eq!(check(&lessons), 3);
        let changed = Lesson { solution: "leave it".to_owned(), ..Lesson::clone(&lessons[1]) };
        lessons[1] = Arc::new(changed);
        assert_eq!(check(&lessons), 3);
        lessons.remove(0);
        assert_eq!(check(&lessons), 2);
    }

    #[test]
    fn a_row_is_one_line_where_version_control_merges_lines() {
        let lessons: LessonsByTime =
            ["one", "two\nlines"].map(|text| Arc::new(lesson(text, "rename it"))).into_iter().collect();
        let file = PlaybookFile { book: Arc::new(Book { lessons, ..Book::default() }), ..PlaybookFile::default() };
        let mut known = WrittenRows::default();
        let indented = render_again(&file, 7, &mut known).unwrap();
        known.lay_out(Layout::ByLine);
        let text = String::from_utf8(render_again(&file, 7, &mut known).unwrap()).unwrap();
        let is_row = |line: &&str| line.starts_with("    {\"schema_version\":2,") && line.contains("\"crc\":\"");
        assert_eq!(text.lines().filter(is_row).count(), 2, "{text}");
        // The layout does not count.
        let [by_line, indented]: [serde_json::Value; 2] =
            [text.as_bytes(), &indented].map(|bytes| serde_json::from_slice(bytes).unwrap());
        assert_eq!(by_line, indented);
    }

    #[test]
    fn a_row_has_the_indentation_of_its_list() {
        let lessons = [Arc::new(lesson("one", "two"))].into_iter().collect();
        let file = PlaybookFile { book: Arc::new(Book { lessons, ..Book::default() }), ..PlaybookFile::default() };
        let text = String::from_utf8(render(&file, 7).unwrap()).unwrap();
        let start = text.find("\n  \"lessons\": [").unwrap();
        let rows: Vec<&str> = text[start..].lines().skip(2).take_while(|line| *line != "  ],").collect();
        assert_eq!((rows.first(), rows.last()), (Some(&"    {"), Some(&"    }")));
        assert!(rows.contains(&"      \"trigger\": \"one\","), "{text}");
        assert!(rows.iter().all(|row| row.starts_with("    ")), "{text}");
    }
}
