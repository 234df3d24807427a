//! One table of cases through the library. The Python package's tests run the same table through Python, the command line and the
//! MCP server (`bindings/python/tests/test_parity.py`).

use std::error::Error;

use adage::{Feedback, LearnOutcome, LessonDraft, Listing, Playbook, Request};
use serde_json::{Map, Value, json};

/// What later steps of a case refer to.
struct Surface {
    playbook: Playbook,
    receipt: String,
    change: String,
}

type Answer = Result<Value, Box<dyn Error>>;

impl Surface {
    fn answer(&mut self, step: &Value) -> Answer {
        match step["do"].as_str().unwrap() {
            "learn" => self.learn(step),
            "context" => self.context(step),
            "outcome" => {
                let feedback: Feedback = serde_json::from_value(step["feedback"].clone())?;
                let credited = self.playbook.record_outcome(self.receipt.parse()?, feedback)?;
                let adage::Credited::Recorded { lessons } = credited else { return Ok(json!({ "lessons": 0 })) };
                Ok(json!({ "lessons": lessons.len() }))
            }
            "list" => {
                let lessons = self.playbook.list_lessons(&Listing::default())?;
                Ok(json!({ "triggers": lessons.iter().map(|lesson| &lesson.trigger).collect::<Vec<_>>() }))
            }
            "remove" => {
                self.change = self.playbook.remove(step["lesson"].as_str().unwrap())?.change.to_string();
                Ok(json!({ "lessons": 1 }))
            }
            "undo" => {
                let undone = self.playbook.undo(self.change.parse()?)?;
                Ok(json!({ "lessons": undone.restored.len() + undone.withdrawn.len() }))
            }
            other => panic!("no step {other}"),
        }
    }

    fn learn(&self, step: &Value) -> Answer {
        let mut row: Map<String, Value> = step["lesson"].as_object().unwrap().clone();
        row.insert("source".to_owned(), "agent".into());
        let learned = self.playbook.learn_lesson(LessonDraft::from_program(row))?;
        Ok(match learned {
            LearnOutcome::Inserted { .. } => json!({ "outcome": "inserted" }),
            LearnOutcome::Merged { .. } => json!({ "outcome": "merged" }),
            LearnOutcome::Distinct { why, .. } => json!({ "outcome": "kept_apart", "why": why.to_string() }),
            LearnOutcome::Refused { reason } => json!({ "outcome": "refused", "why": reason.to_string() }),
            other => panic!("the table has no {other}"),
        })
    }

    fn context(&mut self, step: &Value) -> Answer {
        let request = Request::about(step["query"].as_str().unwrap());
        let request = step["limit"].as_u64().into_iter().fold(request, |request, limit| request.limit(limit as usize));
        let context = self.playbook.get_playbook_context(request)?;
        if let Some(receipt) = context.receipt {
            self.receipt = receipt.to_string();
        }
        let mut answer = json!({ "text": context.text, "lessons": context.lessons.len() });
        if let Some(reason) = context.none_because {
            answer["reason"] = reason.to_string().into();
        }
        Ok(answer)
    }
}

/// The answer without ids, which differ from run to run.
fn without_ids(answer: &Value) -> Value {
    let ids = regex::Regex::new("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}").unwrap();
    serde_json::from_str(&ids.replace_all(&answer.to_string(), "ID")).unwrap()
}

#[test]
fn the_library_answers_as_the_table_of_all_surfaces_says() {
    let table = include_str!("../cases/parity.jsonl");
    for case in table.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let folder = tempfile::tempdir().unwrap();
        let playbook = Playbook::builder(folder.path()).without_embedder().open().unwrap();
        let mut surface = Surface { playbook, receipt: String::new(), change: String::new() };
        for step in case["steps"].as_array().unwrap() {
            let answer = surface.answer(step).unwrap_or_else(|error| json!({ "error": error.to_string() }));
            assert_eq!(without_ids(&answer), step["answer"], "{}: {step}", case["case"]);
        }
    }
}
