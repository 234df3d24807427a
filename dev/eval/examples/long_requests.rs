//! Measures whether a task is found beside a log, and whether a log alone is met with silence.
//!
//! ```text
//! cargo run --example long_requests -- FOLDER [--ways-in FILE] --logs FILE
//! ```
//!
//! FOLDER is as for `evaluate`, with `lessons.jsonl`; FILE of `--logs` holds what programs printed (`text`), about 50 lines each. Each plain
//! question is asked alone, above, below and within a log. Prints the share of those found alone that are found with the log too, and
//! the share of logs for which nothing is shown.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a program, not a library")]

use std::error::Error;
use std::path::Path;

use adage::{Config, LessonDraft, Playbook, Request};
use adage_eval::{Dataset, Question, read_rows};
use serde_json::Value;

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let (mut folder, mut ways_in, mut logs) = (None, None, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--ways-in" => ways_in = arguments.next(),
            "--logs" => logs = arguments.next(),
            _ => folder = Some(argument),
        }
    }
    let (folder, logs) = folder.zip(logs).ok_or("name a folder with lessons.jsonl, and --logs FILE")?;
    let mut data = Dataset::read(Path::new(&folder))?;
    if let Some(file) = ways_in {
        data.add_ways_in(Path::new(&file))?;
    }
    let logs: Vec<String> = read_rows(Path::new(&logs))?
        .iter()
        .filter_map(|row| row.get("text").and_then(Value::as_str).map(str::to_owned))
        .collect();
    let memory = tempfile::tempdir()?;
    let mut config = Config::default();
    config.retention.capacity = 1_000;
    let playbook = Playbook::builder(memory.path()).with_config(config).open()?;
    playbook.learn_lessons(data.lessons.iter().map(|lesson| lesson.draft.clone()))?;
    measure(&playbook, &data, &logs)
}

fn measure(playbook: &Playbook, data: &Dataset, logs: &[String]) -> Result<(), Failure> {
    let first_three = |text: String| -> Result<Vec<String>, Failure> {
        let context = playbook.get_playbook_context(Request::about(text).peek().limit(3).max_tokens(usize::MAX))?;
        Ok(context.lessons.into_iter().map(|shown| shown.trigger).collect())
    };
    let is_found = |question: &Question, text: String| -> Result<bool, Failure> {
        let wanted = data.lessons.iter().filter(|lesson| question.relevant.contains(&lesson.id));
        let triggers: Vec<String> = wanted.map(|lesson| trigger(&lesson.draft)).collect();
        Ok(first_three(text)?.iter().any(|shown| triggers.contains(shown)))
    };
    let (mut n_alone, mut n_with) = (0, [0; 3]);
    for (question, log) in data.questions.iter().filter(|question| question.kind == "plain").zip(logs.iter().cycle()) {
        let task = &question.text;
        if !is_found(question, task.clone())? {
            continue;
        }
        n_alone += 1;
        let half = log.lines().count() / 2;
        let [above, below] = [log.lines().take(half).collect::<Vec<_>>(), log.lines().skip(half).collect()];
        let within = format!("{}\n{task}\n{}", above.join("\n"), below.join("\n"));
        for (count, text) in n_with.iter_mut().zip([format!("{log}\n{task}"), format!("{task}\n{log}"), within]) {
            *count += i32::from(is_found(question, text)?);
        }
    }
    let mut n_silent = 0;
    for log in logs {
        n_silent += i32::from(first_three(log.clone())?.is_empty());
    }
    let [below, above, within] = n_with.map(|n| f64::from(n) / f64::from(n_alone.max(1)));
    println!("found alone: {n_alone}; of these below a log {below:.2}, above {above:.2}, within {within:.2}");
    println!("nothing is shown for {n_silent} of {} logs", logs.len());
    Ok(())
}

fn trigger(draft: &LessonDraft) -> String {
    draft.to_json().get("trigger").and_then(Value::as_str).unwrap_or_default().to_owned()
}
