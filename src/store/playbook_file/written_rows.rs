//! The encoded rows of lessons from the last write, so that a playbook file can be written without encoding every lesson again.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::LESSONS;
use super::writing::Sealed;
use crate::lesson::{Lesson, LessonId};

/// A row of a playbook file, with its indentation.
#[derive(Debug)]
pub(crate) struct WrittenRow {
    pub(crate) crc: String,
    text: Box<RawValue>,
}

impl WrittenRow {
    fn of(lesson: &Lesson) -> serde_json::Result<Self> {
        let sealed = Sealed::new(LESSONS, lesson)?;
        // Line breaks within strings are escaped.
        let text = serde_json::to_string_pretty(&sealed)?.replace('\n', "\n    ");
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
pub(crate) struct WrittenRows(HashMap<LessonId, (Arc<Lesson>, Arc<WrittenRow>)>);

impl WrittenRows {
    /// The rows of these lessons; rows of other lessons are dropped. The row of an unchanged lesson is reused.
    pub(crate) fn rows<'l>(
        &mut self,
        lessons: impl Iterator<Item = &'l Arc<Lesson>>,
    ) -> serde_json::Result<Vec<Arc<WrittenRow>>> {
        let mut before = std::mem::take(&mut self.0);
        let row = |lesson: &Arc<Lesson>| {
            let known = before.remove(&lesson.id).filter(|(known, _)| Arc::ptr_eq(known, lesson));
            let row = match known {
                Some((_, row)) => row,
                None => Arc::new(WrittenRow::of(lesson)?),
            };
            self.0.insert(lesson.id, (Arc::clone(lesson), Arc::clone(&row)));
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
            known.0.len()
        };
        assert_eq!(check(&lessons), 3);
        let changed = Lesson { solution: "leave it".to_owned(), ..Lesson::clone(&lessons[1]) };
        lessons[1] = Arc::new(changed);
        assert_eq!(check(&lessons), 3);
        lessons.remove(0);
        assert_eq!(check(&lessons), 2);
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
