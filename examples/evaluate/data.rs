//! Lessons and questions, read from folders.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use adage::{LessonDraft, build_lesson};
use serde_json::Value;

use super::Failure;

/// A lesson with the name that questions know it by.
#[derive(Clone)]
pub(crate) struct Lesson {
    pub(crate) id: String,
    pub(crate) draft: LessonDraft,
}

/// A question, and the lessons that answer it.
#[derive(Clone)]
pub(crate) struct Question {
    pub(crate) id: String,
    /// `related`, `plain`, `oblique`; of those that want no lesson, `far`, `near`, or the name of their file.
    pub(crate) kind: String,
    pub(crate) text: String,
    pub(crate) right: BTreeSet<String>,
}

/// What is measured on.
#[derive(Clone, Default)]
pub(crate) struct Data {
    pub(crate) lessons: Vec<Lesson>,
    pub(crate) questions: Vec<Question>,
}

pub(crate) fn rows(file: &Path) -> Result<Vec<Value>, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(text.lines().filter(|line| !line.trim().is_empty()).map(serde_json::from_str).collect::<Result<_, _>>()?)
}

pub(crate) fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_default()
}

impl Data {
    /// `corpus.jsonl` with `queries.jsonl` and `qrels.jsonl`, or `lessons.jsonl` with `none.jsonl`.
    pub(crate) fn read(folder: &Path) -> Result<Self, Failure> {
        if folder.join("corpus.jsonl").exists() { Self::read_corpus(folder) } else { Self::read_tasks(folder) }
    }

    fn read_corpus(folder: &Path) -> Result<Self, Failure> {
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

    fn read_tasks(folder: &Path) -> Result<Self, Failure> {
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

    /// Adds questions that no lesson answers.
    pub(crate) fn add_unrelated(&mut self, file: &Path) -> Result<(), Failure> {
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
