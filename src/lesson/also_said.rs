//! The item of a session: what a person also said, a numbered line each. It is read by a reviewer and never learned as a whole.

use serde_json::{Map, Value, json};

use super::{Lesson, LessonDraft};

/// The key that marks an item's row.
const KEY: &str = "also_said";

/// An item with these lines, in their order.
pub(crate) fn also_said_item(trigger: &str, lines: &[String]) -> LessonDraft {
    let numbered: Vec<String> = lines.iter().zip(1..).map(|(line, n)| format!("{n}. {line}")).collect();
    let mut row = Map::new();
    row.insert("trigger".to_owned(), trigger.into());
    row.insert("correct_pattern".to_owned(), numbered.join("\n").into());
    row.insert(KEY.to_owned(), json!(true));
    LessonDraft::from_json(row)
}

impl Lesson {
    /// The lines that a reviewer may pick from, without their numbers: what a person also said in a session, and what is not
    /// proposed as a lesson. Empty for every other lesson.
    #[must_use]
    pub fn also_said(&self) -> Vec<&str> {
        if self.extra.get(KEY) != Some(&Value::Bool(true)) {
            return Vec::new();
        }
        let text = |line| str::split_once(line, ". ").map_or(line, |(_, text)| text);
        self.correct_pattern.lines().map(text).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;
    use crate::testing::{at, lesson};

    #[test]
    fn an_item_gives_its_lines_back() {
        let lines = ["Use UTC. Always.".to_owned(), "2. both options".to_owned()];
        let item = also_said_item("also said", &lines).into_lesson(&ManualClock::new(at(9))).unwrap();
        assert_eq!(item.also_said(), lines);
        assert_eq!(item.correct_pattern, "1. Use UTC. Always.\n2. 2. both options");
        assert!(lesson("t", "1. a step").also_said().is_empty());
    }
}
