//! Edits of a lesson by a person.

use serde_json::{Map, Value};

use crate::error::Result;
use crate::learn::LearnOutcome;
use crate::lesson::{Lesson, LessonDraft, LessonRef, Refusal, ShownField};
use crate::playbook::Playbook;

/// Pairs of fields that are equal if a lesson gives only one of them.
const COPIES: [(&str, &str); 3] = [("task", "trigger"), ("mistake", "anti_pattern"), ("solution", "correct_pattern")];

/// Fields other than those shown that an edit keeps unless it changes them.
const KEPT: [&str; 4] = ["recovery", "confidence", "project", "role"];

impl Playbook {
    /// Replaces a lesson with a copy of it in which the draft's fields are changed. The previous version is archived. The
    /// outcome is [`LearnOutcome::Superseded`], which [`Playbook::undo`] reverts.
    ///
    /// An edit counts as a person's unless the draft names a `source`: a program's edit of a person's lesson awaits review.
    ///
    /// ```
    /// use adage::{LearnOutcome, LessonDraft, Playbook, build_lesson};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
    /// playbook.learn_lesson(build_lesson("pinning numpy", "Pin numpy below 2.0.").domains(["python"]))?;
    /// let edited = playbook.edit("pinning numpy", LessonDraft::default().correct_pattern("Pin numpy below 3.0."))?;
    /// assert!(matches!(edited, LearnOutcome::Superseded { .. }));
    /// let lesson = playbook.find("pinning numpy")?;
    /// assert_eq!((lesson.correct_pattern.as_str(), lesson.domains.len()), ("Pin numpy below 3.0.", 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchLesson`](crate::Error::NoSuchLesson), [`Error::Ambiguous`](crate::Error::Ambiguous), and the errors of a commit.
    pub fn edit(&self, lesson: impl Into<LessonRef>, changes: LessonDraft) -> Result<LearnOutcome> {
        let old = self.find(lesson)?;
        let changes = changes.into_row();
        let is_unchanged = |(key, value): (&String, &Value)| serde_json::json!(old).get(key) == Some(value);
        if changes.iter().all(is_unchanged) {
            return Ok(LearnOutcome::Refused { reason: Refusal::AlreadyHere { id: old.id } });
        }
        self.learn_lesson(LessonDraft::from_json(edited(&old, changes)).supersedes(old.id))
    }
}

/// The row of a lesson with these fields changed. A field that is equal to its pair stays equal to it.
fn edited(old: &Lesson, changes: Map<String, Value>) -> Map<String, Value> {
    let Value::Object(mut row) = serde_json::json!(old) else { return changes };
    row.retain(|key, _| KEPT.contains(&key.as_str()) || ShownField::ALL.iter().any(|field| field.key() == key));
    for (one, other) in COPIES.into_iter().flat_map(|(one, other)| [(one, other), (other, one)]) {
        if changes.contains_key(one) && !changes.contains_key(other) && row.get(one) == row.get(other) {
            row.remove(other);
        }
    }
    row.extend(changes);
    row
}
