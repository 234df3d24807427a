//! The tools of the server: their inputs, outputs and actions.

use std::error::Error;
use std::sync::Arc;

use adage::redact::{as_shown, one_line, path_text};
use adage::{ChangeId, Feedback, Lesson, LessonDraft, LessonId, LessonRef, Listing, Playbook, ReceiptId, Request};
use adage_review::ProposalName;
use rmcp::handler::server::common::{schema_for_input, schema_for_output};
use rmcp::model::{JsonObject, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::arguments::fitted;
use super::memory::Memory;
use crate::everyday::change::undo_in;
use crate::everyday::learned;

/// The default limit of a list.
const LISTED: usize = 20;

/// The answer of a tool.
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) object: Value,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Tool {
    Recall,
    Learn,
    Outcome,
    List,
    Remove,
    Undo,
    Apply,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Recall {
    /// The task, error or question
    query: String,
    /// File about to be changed
    path: Option<String>,
    /// Command about to be run
    command: Option<String>,
    limit: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
struct Recalled {
    /// Lessons to follow; empty if none is relevant
    text: String,
    /// For `outcome`
    receipt: Option<String>,
    lessons: Vec<String>,
    /// Why the text is empty
    reason: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Learn {
    /// Situation in which the lesson applies
    trigger: String,
    /// What to do
    solution: String,
    /// What went wrong
    #[serde(skip_serializing_if = "Option::is_none")]
    mistake: Option<String>,
    #[serde(default)]
    domains: Vec<String>,
    /// Globs of files
    #[serde(default)]
    paths: Vec<String>,
    /// Globs of commands
    #[serde(default)]
    commands: Vec<String>,
    /// 2 or 3 other wordings of a later task: they decide if it is found again
    #[serde(default)]
    situations: Vec<String>,
    /// 1 or 2 signs of the trouble: error text, file, effect
    #[serde(default)]
    signs: Vec<String>,
    /// Short names of the subject
    #[serde(default)]
    names: Vec<String>,
    /// Id of the lesson that this replaces
    #[serde(skip_serializing)]
    supersedes: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Kept {
    outcome: learned::Outcome,
    /// Lesson that has the text now; none if refused
    id: Option<String>,
    /// Why it is distinct, awaits review or is refused
    reason: Option<String>,
    /// Lesson that it is near to
    near: Option<Near>,
    /// For `undo`
    change: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Near {
    id: String,
    trigger: Option<String>,
    solution: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Outcome {
    receipt: Option<String>,
    result: Option<Verdict>,
    /// Lesson that a recall of `query` should have returned
    missed: Option<String>,
    query: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Helpful,
    Neutral,
    Harmful,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct List {
    limit: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
struct Listed {
    lessons: Vec<Line>,
}

#[derive(Serialize, JsonSchema)]
struct Line {
    id: String,
    trigger: String,
    solution: String,
    /// 0: `learn` it again with situations
    ways_in: usize,
}

impl Line {
    fn of(lesson: &Lesson) -> Self {
        Self {
            id: lesson.id.to_string(),
            trigger: one_line(&as_shown(&lesson.trigger), 200),
            solution: one_line(&as_shown(&lesson.correct_pattern), 400),
            ways_in: lesson.ways_in.len(),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Remove {
    /// Id or trigger
    lesson: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Undo {
    change: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Apply {
    /// As `adage review list` prints it
    name: String,
}

#[derive(Serialize, JsonSchema)]
struct Changed {
    lessons: Vec<String>,
    change: String,
}

#[derive(Serialize, JsonSchema)]
struct Applied {
    lessons: Vec<String>,
    files: Vec<String>,
    /// For `adage review undo`
    change: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Credited {
    lessons: Vec<String>,
}

impl Tool {
    const ALL: [Self; 7] =
        [Self::Recall, Self::Learn, Self::Outcome, Self::List, Self::Remove, Self::Undo, Self::Apply];

    /// The tools of a server. `apply` is offered only if the user has allowed it.
    pub(super) fn offered(may_apply: bool) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |tool| may_apply || *tool != Self::Apply)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Recall => "recall",
            Self::Learn => "learn",
            Self::Outcome => "outcome",
            Self::List => "list",
            Self::Remove => "remove",
            Self::Undo => "undo",
            Self::Apply => "apply",
        }
    }

    /// When an agent should call the tool, and what it gets back.
    fn description(self) -> &'static str {
        match self {
            Self::Recall => {
                "Call before a task, before a risky command and when something fails. Returns the lessons to follow, or why none applies."
            }
            Self::Learn => {
                "Call after a mistake whose remedy worked. Returns whether the lesson is stored, merged into another, kept beside a near one, awaits a person's review, or is refused, and why."
            }
            Self::Outcome => {
                "Call when the task of a recall is done, with its receipt; or name a lesson that the recall missed. Returns the lessons it counts for."
            }
            Self::List => "Call to see what is known, before you learn or remove. Returns the newest lessons.",
            Self::Remove => {
                "Call if the user says so or a lesson is wrong. Returns the change, to undo within 30 days."
            }
            Self::Undo => {
                "Call to take back a `learn` or `remove` of this server, by its change. Returns the lessons concerned."
            }
            Self::Apply => "Call only if the user says so: applies one text that awaits review. Returns what changed.",
        }
    }

    /// The description for clients: text, schemas, and whether it changes anything.
    pub(super) fn described(self) -> rmcp::model::Tool {
        let [reads, adds] = [ToolAnnotations::new().read_only(true), ToolAnnotations::new().destructive(false)];
        let removes = ToolAnnotations::new().destructive(true);
        let (input, output, annotations) = match self {
            Self::Recall => (input::<Recall>(), schema_for_output::<Recalled>(), reads),
            Self::Learn => (input::<Learn>(), schema_for_output::<Kept>(), adds),
            Self::Outcome => (input::<Outcome>(), schema_for_output::<Credited>(), adds),
            Self::List => (input::<List>(), schema_for_output::<Listed>(), reads),
            Self::Remove => (input::<Remove>(), schema_for_output::<Changed>(), removes),
            Self::Undo => (input::<Undo>(), schema_for_output::<Changed>(), removes),
            Self::Apply => (input::<Apply>(), schema_for_output::<Applied>(), removes),
        };
        let tool = rmcp::model::Tool::new(self.name(), self.description(), input);
        tool.with_raw_output_schema(output).with_annotations(annotations)
    }

    pub(super) fn run(self, memory: &Memory, arguments: JsonObject) -> Result<Answer, Box<dyn Error>> {
        match self {
            Self::Recall => recall(memory, read(arguments)?),
            Self::Learn => learn(memory, &read(arguments)?),
            Self::Outcome => outcome(memory, &read(arguments)?),
            Self::List => list(memory, &read(arguments)?),
            Self::Remove => remove(memory, &read(arguments)?),
            Self::Undo => undo(memory, &read(arguments)?),
            Self::Apply => apply(memory, &read(arguments)?),
        }
    }
}

fn input<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    schema_for_input::<T>().unwrap_or_default()
}

fn read<T: DeserializeOwned + JsonSchema + 'static>(arguments: JsonObject) -> Result<T, Box<dyn Error>> {
    let arguments = fitted(&input::<T>(), arguments)?;
    Ok(serde_json::from_value(Value::Object(arguments))?)
}

fn answer(text: String, object: impl Serialize) -> Answer {
    Answer { text, object: json!(object) }
}

fn texts<T: ToString>(items: &[T]) -> Vec<String> {
    items.iter().map(ToString::to_string).collect()
}

fn recall(memory: &Memory, asked: Recall) -> Result<Answer, Box<dyn Error>> {
    let (books, warnings) = memory.books()?;
    let mut request = Request::about(asked.query).in_realm(&memory.global.realm());
    request = asked.path.iter().fold(request, Request::touching);
    request = asked.command.iter().fold(request, Request::running);
    request = asked.limit.into_iter().fold(request, Request::limit);
    let context = books.get_playbook_context(request)?;
    let silence = context.none_because.map(|reason| reason.to_string());
    let reason = context.text.is_empty().then(|| warnings.into_iter().chain(silence).collect::<Vec<_>>().join("\n"));
    let text = reason.clone().unwrap_or_else(|| context.text.clone());
    let lessons = context.lessons.iter().map(|shown| shown.id.to_string()).collect();
    let receipt = context.receipt.map(|receipt| receipt.to_string());
    Ok(answer(text, Recalled { text: context.text, receipt, lessons, reason }))
}

fn learn(memory: &Memory, asked: &Learn) -> Result<Answer, Box<dyn Error>> {
    let Value::Object(mut row) = json!(asked) else { return Err("a lesson is an object".into()) };
    row.insert("source".to_owned(), "agent".into());
    let old = asked.supersedes.as_deref().map(str::parse).transpose()?;
    let draft = old.into_iter().fold(LessonDraft::from_program(row), LessonDraft::supersedes);
    let playbook = memory.global.create()?;
    memory.reopen();
    let learned = playbook.learn_lesson(draft.in_realm(&memory.global.learning_realm()))?;
    learned.change().into_iter().for_each(|change| memory.note(change));
    let Some(told) = learned::Learned::of(&learned) else { return Err(learned.to_string().into()) };
    let near = told.near.map(|id| near_lesson(&playbook, id, told.outcome));
    let mut text = learned.to_string();
    if let Some(Near { id, trigger: Some(trigger), solution: Some(solution) }) = &near {
        text.extend(["\nthe near lesson, ", id.as_str(), ": ", trigger.as_str(), ": ", solution.as_str()]);
    }
    let [id, change] = [learned.id().map(|id| id.to_string()), learned.change().map(|change| change.to_string())];
    Ok(answer(text, Kept { outcome: told.outcome, id, reason: told.why, near, change }))
}

/// A near lesson; its text only if it is in use, which one that keeps others out may not be.
fn near_lesson(playbook: &Playbook, id: LessonId, outcome: learned::Outcome) -> Near {
    let lesson = if outcome == learned::Outcome::Refused { None } else { playbook.find(id).ok() };
    let line = lesson.map(|lesson| Line::of(&lesson));
    let (trigger, solution) = line.map(|line| (line.trigger, line.solution)).unzip();
    Near { id: id.to_string(), trigger, solution }
}

fn outcome(memory: &Memory, asked: &Outcome) -> Result<Answer, Box<dyn Error>> {
    let missed = match (&asked.missed, &asked.query) {
        (Some(lesson), Some(query)) => {
            let (playbook, reference) = holder(memory, lesson)?;
            Some(format!("{} is found by this query from now on", playbook.record_missed(reference, query)?))
        }
        (None, None) => None,
        _ => return Err("`missed` and `query` go together".into()),
    };
    let (receipt, result) = match (&asked.receipt, &asked.result) {
        (Some(receipt), Some(result)) => (receipt, result),
        (None, None) => {
            let text = missed.ok_or("give `receipt` and `result`, or `missed` and `query`")?;
            return Ok(answer(text, Credited { lessons: Vec::new() }));
        }
        _ => return Err("`receipt` and `result` go together".into()),
    };
    let receipt: ReceiptId = receipt
        .parse()
        .map_err(|_| format!("{} is not the receipt of a recall", Value::from(one_line(receipt, 60))))?;
    let feedback = match result {
        Verdict::Helpful => Feedback::Helpful,
        Verdict::Neutral => Feedback::Neutral,
        Verdict::Harmful => Feedback::Harmful,
    };
    let credits = memory.trusted()?.record_outcome(receipt, feedback)?;
    let lessons: Vec<String> = credits
        .iter()
        .filter_map(|credit| match &credit.credited {
            adage::Credited::Recorded { lessons } => Some(texts(lessons)),
            adage::Credited::AlreadyRecorded { .. } => None,
        })
        .flatten()
        .collect();
    let text =
        if lessons.is_empty() { "recorded before".to_owned() } else { format!("recorded for {}", lessons.join(", ")) };
    Ok(answer(text, Credited { lessons }))
}

fn list(memory: &Memory, asked: &List) -> Result<Answer, Box<dyn Error>> {
    let listing = Listing::default().in_realm(&memory.global.realm()).limit(asked.limit.unwrap_or(LISTED));
    let lessons: Vec<Line> =
        (memory.trusted()?.list_lessons(&listing)?.iter()).map(|listed| Line::of(&listed.lesson)).collect();
    let lines: Vec<String> =
        lessons.iter().map(|line| format!("{}  {}: {}", line.id, line.trigger, line.solution)).collect();
    Ok(answer(lines.join("\n"), Listed { lessons }))
}

/// The first playbook that contains a lesson, of those that the client sees.
fn holder(memory: &Memory, lesson: &str) -> Result<(Playbook, LessonRef), Box<dyn Error>> {
    let reference = LessonRef::from(lesson).within(&memory.global.realm());
    let found = memory.trusted()?.find(reference)?;
    Ok((found.playbook, found.lesson.id.into()))
}

fn remove(memory: &Memory, asked: &Remove) -> Result<Answer, Box<dyn Error>> {
    let (playbook, lesson) = holder(memory, &asked.lesson)?;
    let removed = playbook.remove(lesson)?;
    memory.note(removed.change);
    let change = removed.change.to_string();
    let text = format!("removed {}; undo within 30 days with change {change}", removed.id);
    Ok(answer(text, Changed { lessons: vec![removed.id.to_string()], change }))
}

fn undo(memory: &Memory, asked: &Undo) -> Result<Answer, Box<dyn Error>> {
    let change: ChangeId = asked
        .change
        .parse()
        .map_err(|_| format!("{} is not the id of a change", Value::from(one_line(&asked.change, 60))))?;
    if !memory.has_made(change) {
        return Err(format!(
            "this server did not make change {change}; a person reverts it with `adage undo {change}`"
        )
        .into());
    }
    let undone = undo_in(memory.trusted()?.as_slice(), change, &LessonRef::from(asked.change.as_str()))?;
    memory.note(undone.change);
    let lessons = texts(&[undone.restored, undone.withdrawn].concat());
    Ok(answer(
        format!("undone; lessons: {}", lessons.join(", ")),
        Changed { lessons, change: undone.change.to_string() },
    ))
}

/// Applies one proposal. The answer does not contain its text: a person reads it with `adage review show`.
fn apply(memory: &Memory, asked: &Apply) -> Result<Answer, Box<dyn Error>> {
    let name: ProposalName = asked.name.parse()?;
    let inbox = memory.global.inbox(&memory.global.open()?);
    let applied = inbox.apply(&[inbox.find(&name)?])?;
    let change = applied.change.map(|change| change.to_string());
    let text = change.as_ref().map_or_else(
        || format!("applied {name}"),
        |change| format!("applied {name}; a person undoes it with adage review undo {change}"),
    );
    Ok(answer(
        text,
        Applied { lessons: texts(&applied.lessons), files: applied.files.iter().map(path_text).collect(), change },
    ))
}
