//! Simulates a user who names the lesson that a task should have shown (`Playbook::record_missed`) and confirms the one that helped.
//!
//! ```text
//! cargo run --example missed_tasks -- FOLDER... [--ways-in FILE] [--tasks N] [--seed S]
//! ```
//!
//! The folders have the same lessons, with other sentences. The sentences of all are asked in random order, each once, then again if N is larger.
//! Prints the share found among the first three for each hundred tasks, and the share of unrelated sentences that are answered before and
//! after.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a program, not a library")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use adage::{Config, Feedback, Playbook, Request};
use adage_eval::{Dataset, Question, Random};

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let (mut folders, mut ways_in, mut n_tasks, mut seed) = (Vec::new(), None, 0, 1);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--ways-in" => ways_in = Some(value()?),
            "--tasks" => n_tasks = value()?.parse()?,
            "--seed" => seed = value()?.parse()?,
            _ => folders.push(argument),
        }
    }
    let mut sets = folders.iter().map(|folder| Dataset::read(Path::new(folder))).collect::<Result<Vec<_>, _>>()?;
    let first = sets.first_mut().ok_or("name a folder with lessons.jsonl")?;
    if let Some(file) = ways_in {
        first.add_ways_in(Path::new(&file))?;
    }
    let memory = tempfile::tempdir()?;
    let mut config = Config::default();
    config.retention.capacity = 1_000;
    let playbook = Playbook::builder(memory.path()).with_config(config).open()?;
    let learned = playbook.learn_lessons(first.lessons.iter().map(|lesson| lesson.draft.clone()))?;
    let names = first.lessons.iter().map(|lesson| lesson.id.clone());
    let ids: BTreeMap<String, _> =
        names.zip(&learned).filter_map(|(name, outcome)| Some((name, outcome.id()?))).collect();

    let questions: Vec<&Question> = sets.iter().flat_map(|set| &set.questions).collect();
    let (related, unrelated): (Vec<&Question>, Vec<&Question>) =
        questions.into_iter().partition(|question| !question.relevant.is_empty());
    alarms("before", &playbook, &unrelated)?;
    let n_tasks = if n_tasks == 0 { related.len() } else { n_tasks };
    let mut order = Random(seed).sample(&related, related.len());
    while order.len() < n_tasks {
        order.extend(Random(seed + order.len() as u64).sample(&related, related.len()));
    }
    order.truncate(n_tasks);
    for hundred in order.chunks(100) {
        let mut n_found = 0;
        for question in hundred {
            let wanted =
                question.relevant.first().and_then(|name| ids.get(name)).ok_or("a question about no lesson")?;
            let context = playbook.get_playbook_context(Request::about(question.text.clone()).limit(3))?;
            if context.lessons.iter().any(|shown| shown.id == *wanted) {
                n_found += 1;
                playbook.record_outcome(context.receipt.ok_or("no receipt")?, Feedback::Helpful)?;
            } else {
                playbook.record_missed(*wanted, &question.text)?;
            }
        }
        println!("{n_found} of {} found", hundred.len());
    }
    alarms("after", &playbook, &unrelated)
}

fn alarms(when: &str, playbook: &Playbook, unrelated: &[&Question]) -> Result<(), Failure> {
    let mut kinds: BTreeMap<&str, [u32; 2]> = BTreeMap::new();
    for question in unrelated {
        let context = playbook.get_playbook_context(Request::about(question.text.clone()).peek())?;
        let [n_answered, n_all] = kinds.entry(&question.kind).or_default();
        *n_answered += u32::from(!context.lessons.is_empty());
        *n_all += 1;
    }
    for (kind, [n_answered, n_all]) in kinds {
        println!("{when}: {n_answered} of {n_all} {kind} sentences answered");
    }
    Ok(())
}
