//! Data sets: lessons and questions, read from folders.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use adage::{LessonDraft, build_lesson};
use serde_json::Value;

use crate::Error;

/// A lesson of a data set.
#[derive(Clone, Debug)]
pub struct Lesson {
    /// Its id in the data set.
    pub id: String,
    /// The lesson as it is learned.
    pub draft: LessonDraft,
}

/// A question, and the lessons that answer it.
#[derive(Clone, Debug)]
pub struct Question {
    /// Its id in the data set.
    pub id: String,
    /// `related`, `plain` or `oblique`; of an unrelated question `far`, `near`, or the name of its file.
    pub kind: String,
    /// The text of the question.
    pub text: String,
    /// Ids of the lessons that answer it; empty if the question is unrelated.
    pub relevant: BTreeSet<String>,
}

/// Lessons and questions that retrieval is measured on.
#[derive(Clone, Debug, Default)]
pub struct Dataset {
    /// All lessons.
    pub lessons: Vec<Lesson>,
    /// All questions, related and unrelated.
    pub questions: Vec<Question>,
}

/// Reads a file of JSON lines; empty lines are skipped.
///
/// # Errors
/// [`Error::Io`]; [`Error::Json`] names the line.
pub fn read_rows(file: &Path) -> Result<Vec<Value>, Error> {
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

impl Dataset {
    /// Whether a folder is a data set: it has a `corpus.jsonl` or a `lessons.jsonl`.
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
        let lessons = read_rows(&folder.join("corpus.jsonl"))?.iter().map(lesson).collect();
        let mut relevant: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for row in read_rows(&folder.join("qrels.jsonl"))? {
            relevant.entry(text(&row, "query").to_owned()).or_default().insert(text(&row, "doc").to_owned());
        }
        let question = |row: &Value| {
            let relevant = relevant.get(text(row, "id")).cloned().unwrap_or_default();
            Question { relevant, ..question(row, "related") }
        };
        let questions = read_rows(&folder.join("queries.jsonl"))?;
        let questions = questions.iter().map(question).filter(|question| !question.relevant.is_empty());
        Ok(Self { lessons, questions: questions.collect() })
    }

    fn read_tasks(folder: &Path) -> Result<Self, Error> {
        let lessons = read_rows(&folder.join("lessons.jsonl"))?;
        let mut questions: Vec<Question> = Vec::new();
        for row in &lessons {
            for (key, kind) in [("plain", "plain"), ("plain2", "plain"), ("oblique", "oblique")] {
                let (id, relevant) =
                    (format!("{}-{key}", text(row, "id")), BTreeSet::from([text(row, "id").to_owned()]));
                questions.push(Question { id, kind: kind.to_owned(), text: text(row, key).to_owned(), relevant });
            }
        }
        questions.extend(read_rows(&folder.join("none.jsonl"))?.iter().map(|row| question(row, text(row, "kind"))));
        questions.retain(|question| !question.text.is_empty());
        Ok(Self { lessons: lessons.iter().map(lesson).collect(), questions })
    }

    /// Adds the ways in of lessons (`id`, `names`, `situations`, `signs`).
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Json`].
    pub fn add_ways_in(&mut self, file: &Path) -> Result<(), Error> {
        let list = |row: &Value, key: &str| -> Vec<String> {
            let texts = row.get(key).and_then(Value::as_array).into_iter().flatten();
            texts.filter_map(|text| text.as_str().map(str::to_owned)).collect()
        };
        for row in read_rows(file)? {
            for lesson in self.lessons.iter_mut().filter(|lesson| lesson.id == text(&row, "id")) {
                let draft = lesson.draft.clone().names(list(&row, "names")).signs(list(&row, "signs"));
                lesson.draft = draft.situations(list(&row, "situations"));
            }
        }
        Ok(())
    }

    /// Adds unrelated questions (`id`, `text`); their kind is the file's name without its extension.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Json`].
    pub fn add_unrelated(&mut self, file: &Path) -> Result<(), Error> {
        let kind = file.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        self.questions.extend(read_rows(file)?.iter().map(|row| question(row, &kind)));
        Ok(())
    }
}

fn question(row: &Value, kind: &str) -> Question {
    let [id, text] = ["id", "text"].map(|key| text(row, key).to_owned());
    Question { id, kind: kind.to_owned(), text, relevant: BTreeSet::new() }
}

/// A lesson from a row of rules (`why`), of tasks (`mistake`, `solution`) or of documents (`title`, `text`).
fn lesson(row: &Value) -> Lesson {
    let first = |keys: &[&str]| keys.iter().map(|key| text(row, key)).find(|text| !text.is_empty()).unwrap_or_default();
    let solution = first(&["correct_pattern", "solution", "text", "why"]);
    let draft = build_lesson(first(&["trigger", "title", "text"]), solution)
        .mistake(first(&["why", "mistake"]))
        .anti_pattern(text(row, "anti_pattern"));
    Lesson { id: text(row, "id").to_owned(), draft }
}
