//! Synthetic lessons, each different from all others: for measurements that depend on the number of lessons and not on their meaning.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use adage::{LessonDraft, build_lesson};
use serde_json::json;

use crate::Error;

const WORDS: [&str; 16] = [
    "dates",
    "locks",
    "exports",
    "ports",
    "caches",
    "threads",
    "paths",
    "tokens",
    "migrations",
    "retries",
    "queues",
    "schemas",
    "sessions",
    "certificates",
    "indexes",
    "streams",
];

/// The digit of a number to the base 16, as a word.
fn word(number: usize, digit: u32) -> &'static str {
    WORDS.get(number / 16_usize.pow(digit) % 16).copied().unwrap_or_default()
}

/// The trigger of the lesson with this number.
#[must_use]
pub fn trigger(number: usize) -> String {
    let [first, second, third, fourth] = [0, 1, 2, 3].map(|digit| word(number, digit));
    format!("handle {first} with {second} under {third} near {fourth} case{number}x")
}

/// The solution of the lesson with this number.
#[must_use]
pub fn solution(number: usize) -> String {
    format!("Check {} first, then {}; note{number}y.", word(number, 1), word(number, 0))
}

/// The lesson with this number.
#[must_use]
pub fn draft(number: usize) -> LessonDraft {
    build_lesson(trigger(number), solution(number))
}

/// Writes the lessons `0..n_lessons` into an empty folder as a playbook file of an earlier version, which the first commit migrates.
/// This is much faster than learning them.
///
/// # Errors
/// [`Error::Io`].
pub fn write_playbook(folder: &Path, n_lessons: usize) -> Result<(), Error> {
    let path = folder.join("skills_playbook.json");
    let write = || {
        let mut file = BufWriter::new(File::create(&path)?);
        for number in 0..n_lessons {
            let row = json!({
                "trigger": trigger(number), "solution": solution(number), "id": format!("00000000-0000-7000-8000-{number:012x}"),
                "schema_version": 2, "timestamp": "2026-01-01T00:00:00Z", "confidence": (number % 97) as f64 / 97.0,
            });
            write!(file, "{}{row}", if number == 0 { '[' } else { ',' })?;
        }
        file.write_all(if n_lessons == 0 { b"[]" } else { b"]" })?;
        file.into_inner()?.sync_all()
    };
    write().map_err(Error::io(&path))
}

#[cfg(test)]
mod tests {
    use adage::Playbook;

    use super::*;

    #[test]
    fn written_playbook_has_the_lessons_that_draft_makes() {
        let folder = tempfile::tempdir().unwrap();
        write_playbook(folder.path(), 300).unwrap();
        let playbook = Playbook::builder(folder.path()).without_embedder().open().unwrap();
        assert_eq!(playbook.stats().unwrap().n_lessons, 300);
        let last = playbook.find(trigger(299).as_str()).unwrap();
        assert_eq!(last.correct_pattern, solution(299));
        assert_eq!(last.trigger, draft(299).to_json()["trigger"]);
    }
}
