//! Lessons and questions, read from folders.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use adage::{LessonDraft, build_lesson};
use serde_json::Value;

use crate::Error;

/// A lesson, with the name that questions know it by.
#[derive(Clone, Debug)]
pub struct Lesson {
    /// Its name in the data.
    pub id: String,
    /// What is learned.
    pub draft: LessonDraft,
}

/// A question, and the lessons that answer it.
#[derive(Clone, Debug)]
pub struct Question {
    /// Its name in the data.
    pub id: String,
    /// `related`, `plain`, `oblique`; of those that want no lesson, `far`, `near`, or the name of their file.
    pub kind: String,
    /// What is asked.
    pub text: String,
    /// Names of the lessons that answer it; none if no lesson does.
    pub right: BTreeSet<String>,
}

/// What retrieval is measured on.
#[derive(Clone, Debug, Default)]
pub struct Data {
    /// All lessons.
    pub lessons: Vec<Lesson>,
    /// All questions, those that want no lesson too.
    pub questions: Vec<Question>,
}

/// The rows of a file of JSON lines; empty lines are left out.
///
/// # Errors
/// [`Error::Io`]; [`Error::Json`] names the line.
pub fn rows(file: &Path) -> Result<Vec<Value>, Error> {
    let text = std::fs::read_to_string(file).map_err(Error::io(file))?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let row = |(line, text)| {
        serde_json::from_str(text).map_err(|source| Error::Json { path: file.to_path_buf(), line, source })
    };
    lines.map(row).collect()
}

pub(crate) fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row.get(key).and_then(Value::as_str).unwrap_or_default()
}

impl Data {
    /// Whether a folder has lessons and questions.
    #[must_use]
    pub fn is_in(folder: &Path) -> bool {
        ["corpus.jsonl", "lessons.jsonl"].iter().any(|name| folder.join(name).is_file())
    }

    /// Reads a folder: `corpus.jsonl` (`id`, `trigger`, `why`, `anti_pattern`, `correct_pattern`, or `id`, `title`, `text`) with
    /// `queries.jsonl` (`id`, `text`) and `qrels.jsonl` (`query`, `doc`); or `lessons.jsonl` (`id`, `trigger`, `mistake`,
    /// `solution`, `anti_pattern`, with the questions `plain`, `plain2`, `oblique`) with `none.jsonl` (`id`, `kind`, `text`).
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Json`].
    pub fn read(folder: &Path) -> Result<Self, Error> {
        if folder.join("corpus.jsonl").exists() { Self::read_corpus(folder) } else { Self::read_tasks(folder) }
    }

    fn read_corpus(folder: &Path) -> Result<Self, Error> {
        let lessons = rows(&folder.join("corpus.jsonl"))?.iter().map(lesson).collect();
        let mut right: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for row in rows(&folder.join("qrels.jsonl"))? {
            right.entry(text(&row, "query").to_owned()).or_default().insert(text(&row, "doc").to_owned());
        }
        let question = |row: &Value| {
            let right = right.get(text(row, "id")).cloned().unwrap_or_default();
            Question { right, ..question(row, "related") }
        };
        let questions = rows(&folder.join("queries.jsonl"))?;
        let questions = questions.iter().map(question).filter(|question| !question.right.is_empty());
        Ok(Self { lessons, questions: questions.collect() })
    }

    fn read_tasks(folder: &Path) -> Result<Self, Error> {
        let lessons = rows(&folder.join("lessons.jsonl"))?;
        let mut questions: Vec<Question> = Vec::new();
        for row in &lessons {
            for (key, kind) in [("plain", "plain"), ("plain2", "plain"), ("oblique", "oblique")] {
                let (id, right) = (format!("{}-{key}", text(row, "id")), BTreeSet::from([text(row, "id").to_owned()]));
                questions.push(Question { id, kind: kind.to_owned(), text: text(row, key).to_owned(), right });
            }
        }
        questions.extend(rows(&folder.join("none.jsonl"))?.iter().map(|row| question(row, text(row, "kind"))));
        questions.retain(|question| !question.text.is_empty());
        Ok(Self { lessons: lessons.iter().map(lesson).collect(), questions })
    }

    /// Adds questions (`id`, `text`) that no lesson answers; their kind is the file's name.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Json`].
    pub fn add_unrelated(&mut self, file: &Path) -> Result<(), Error> {
        let kind = file.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        self.questions.extend(rows(file)?.iter().map(|row| question(row, &kind)));
        Ok(())
    }
}

fn question(row: &Value, kind: &str) -> Question {
    let [id, text] = ["id", "text"].map(|key| text(row, key).to_owned());
    Question { id, kind: kind.to_owned(), text, right: BTreeSet::new() }
}

/// A row of rules (`why`), of tasks (`mistake`, `solution`) or of documents (`title`, `text`).
fn lesson(row: &Value) -> Lesson {
    let first = |keys: &[&str]| keys.iter().map(|key| text(row, key)).find(|text| !text.is_empty()).unwrap_or_default();
    let solution = first(&["correct_pattern", "solution", "text", "why"]);
    let draft = build_lesson(first(&["trigger", "title", "text"]), solution)
        .mistake(first(&["why", "mistake"]))
        .anti_pattern(text(row, "anti_pattern"));
    Lesson { id: text(row, "id").to_owned(), draft }
}
