//! The commands learn and edit.

use std::error::Error;
use std::io::{self, BufRead, IsTerminal};

use adage::redact::json_error;
use adage::retrieve::shown_tokens;
use adage::{LearnOutcome, Lesson, LessonDraft, LessonId, LessonRef, Playbook, Verification};
use clap::Args;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::agents::hook::TOOL_TOKENS;
use crate::choice::{choice, number};
use crate::everyday::change::{VERIFIED, graduate, verify};
use crate::everyday::editor;
use crate::everyday::learned::Learned;
use crate::global::Global;
use crate::output::{Output, is_terminal, say_failure};
use crate::result::{Done, Failure, Usage, exit_code};

#[derive(Args)]
pub(crate) struct Learn {
    #[command(flatten)]
    fields: Fields,
    /// An independent check confirmed it
    #[arg(long)]
    verified: bool,
    /// Replace this lesson, by its id: it is archived
    #[arg(value_parser = crate::choice::id::<LessonId>("a lesson"), long, value_name = "ID")]
    supersedes: Option<LessonId>,
}

#[derive(Args)]
pub(crate) struct Edit {
    /// The lesson, by id or trigger
    lesson: String,
    #[command(flatten)]
    fields: Fields,
    /// A check of it passed, or failed; the text stays
    #[arg(long, value_parser = choice(VERIFIED), conflicts_with = "graduated")]
    verified: Option<Verification>,
    /// Another text covers it, such as a skill or a page of rules: it is not shown any more
    #[arg(long, value_parser = choice([("yes", true), ("no", false)]))]
    graduated: Option<bool>,
}

impl Edit {
    pub(crate) fn printed(&self) -> Option<&'static str> {
        self.verified.map(|_| "verify").or(self.graduated.map(|_| "graduate"))
    }
}

/// The fields of a lesson.
#[derive(Args, Serialize)]
struct Fields {
    /// Situation in which the lesson applies
    #[arg(long, allow_hyphen_values = true)]
    trigger: Option<String>,
    /// Task at hand
    #[arg(long, allow_hyphen_values = true)]
    task: Option<String>,
    /// What went wrong
    #[arg(long, allow_hyphen_values = true)]
    mistake: Option<String>,
    /// What not to do
    #[arg(long, allow_hyphen_values = true)]
    anti_pattern: Option<String>,
    /// What solved it
    #[arg(long, allow_hyphen_values = true)]
    solution: Option<String>,
    /// What to do instead
    #[arg(long, allow_hyphen_values = true)]
    correct_pattern: Option<String>,
    /// Code example
    #[arg(long, visible_alias = "code", allow_hyphen_values = true)]
    code_example: Option<String>,
    /// Topics, separated by commas
    #[arg(long, allow_hyphen_values = true)]
    domains: Option<String>,
    /// Pattern of files: the lesson is shown when one is touched, such as `src/**/*.sql`; may be repeated
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    paths: Vec<String>,
    /// Pattern of command lines: the lesson is shown when one is run, such as `git push*`; may be repeated
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    commands: Vec<String>,
    /// How a later task may put it, in other words than the trigger; may be repeated
    #[arg(long = "situation", visible_alias = "situations", value_name = "TEXT", allow_hyphen_values = true)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    situations: Vec<String>,
    /// By what the trouble is recognised: an error, a file, an effect; may be repeated
    #[arg(long = "sign", visible_alias = "signs", value_name = "TEXT", allow_hyphen_values = true)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    signs: Vec<String>,
    /// Short name of the subject: a question that contains it shows the lesson; may be repeated
    #[arg(long = "name", visible_alias = "names", value_name = "TEXT", allow_hyphen_values = true)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    names: Vec<String>,
    /// Confidence, from 0 to 1
    #[arg(long, value_parser = number(0.0..=1.0), allow_negative_numbers = true)]
    confidence: Option<f64>,
    /// Origin, in one word
    #[arg(long, allow_hyphen_values = true)]
    source: Option<String>,
}

impl Fields {
    /// The fields given by flags.
    fn row(&self) -> Map<String, Value> {
        let Ok(Value::Object(mut row)) = serde_json::to_value(self) else { return Map::new() };
        row.retain(|_, value| !value.is_null());
        row
    }
}

pub(crate) fn learn(global: &Global, flags: &Learn, out: &mut Output) -> Done {
    let mut row = flags.fields.row();
    if flags.verified {
        row.insert("verified".to_owned(), true.into());
    }
    if !row.is_empty() {
        let draft = LessonDraft::from_json(row);
        let draft = flags.supersedes.into_iter().fold(draft, LessonDraft::supersedes);
        return Ok(exit_code(learn_one(global, &global.create()?, draft, out)?));
    }
    if flags.supersedes.is_some() {
        return Err(Usage("--supersedes goes with a lesson that is given as flags (see learn --help)".into()).into());
    }
    let input = io::stdin();
    if input.is_terminal() {
        return Err(Usage(
            "give the lesson as flags (see learn --help), or one JSON lesson a line on standard input".into(),
        )
        .into());
    }
    let playbook = global.create()?;
    let mut is_done = true;
    for (line, number) in input.lock().split(b'\n').zip(1..) {
        let line = line?;
        // Some programs begin a stream with a byte order mark.
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&line);
        if !line.trim_ascii().is_empty() {
            is_done &= learn_line(global, &playbook, line, number, out)?;
        }
    }
    Ok(exit_code(is_done))
}

/// Learns the lesson of a line of standard input. Returns whether it was learned; if not, a message says why.
fn learn_line(
    global: &Global,
    playbook: &Playbook,
    line: &[u8],
    number: usize,
    out: &mut Output,
) -> Result<bool, Box<dyn Error>> {
    let row = match serde_json::from_slice::<Map<String, Value>>(line) {
        Ok(row) => row,
        Err(error) => {
            let example =
                r#"a lesson is a line such as {"trigger": "when it applies", "correct_pattern": "what to do"}"#;
            say_failure(&Failure::of_item(format!("line {number}: {}", json_error(&error))).with_next(example));
            return Ok(false);
        }
    };
    let names = row.keys().cloned().collect::<Vec<_>>().join(", ");
    let has = |keys: [&str; 2]| keys.iter().any(|key| row.contains_key(*key));
    let is_complete = has(["trigger", "task"]) && has(["solution", "correct_pattern"]);
    let is_learned = learn_one(global, playbook, LessonDraft::from_program(row), out)?;
    if !is_learned && !is_complete {
        out.message(&format!("line {number} has the fields {names}; a lesson has {}", EDITED.join(", ")));
    }
    Ok(is_learned)
}

/// Changes a lesson by flags, or in an editor if there are none.
pub(crate) fn edit(global: &Global, asked: &Edit, out: &mut Output) -> Done {
    let row = asked.fields.row();
    if asked.printed().is_some() && !row.is_empty() {
        return Err(
            Usage("--verified and --graduated mark a lesson as it is: change its text by another call".into()).into()
        );
    }
    if let Some(verification) = asked.verified {
        return verify(global, &asked.lesson, verification, out);
    }
    if let Some(graduated) = asked.graduated {
        return graduate(global, &asked.lesson, graduated, out);
    }
    let reference = LessonRef::from(asked.lesson.as_str());
    let playbook = global.holder(&reference)?;
    let draft = if !row.is_empty() {
        LessonDraft::from_json(row)
    } else if out.json || !is_terminal() {
        return Err(Usage("give the fields to change as flags (see edit --help)".into()).into());
    } else {
        let lesson = playbook.find(reference.clone())?;
        in_editor(&lesson)?.ok_or("nothing was edited")?
    };
    let learned = playbook.edit(reference, draft)?;
    Ok(exit_code(tell(&learned, out)?))
}

/// The fields that a person edits.
const EDITED: [&str; 13] = [
    "trigger",
    "task",
    "mistake",
    "anti_pattern",
    "solution",
    "correct_pattern",
    "code_example",
    "domains",
    "paths",
    "commands",
    "names",
    "situations",
    "signs",
];

/// The fields of a lesson that a person edits.
pub(crate) fn editable(lesson: &Lesson) -> Map<String, Value> {
    let row = json!(lesson);
    EDITED.iter().filter_map(|key| Some(((*key).to_owned(), row.get(*key)?.clone()))).collect()
}

/// The fields that were changed in the editor.
fn in_editor(lesson: &Lesson) -> Result<Option<LessonDraft>, Box<dyn Error>> {
    let fields = editable(lesson);
    let Some(changed) = editor::edit(&serde_json::to_vec_pretty(&fields)?, ".json")? else { return Ok(None) };
    let mut changed: Map<String, Value> = serde_json::from_slice(&changed)?;
    changed.retain(|key, value| fields.get(key) != Some(value));
    Ok((!changed.is_empty()).then(|| LessonDraft::from_json(changed)))
}

/// Learns a lesson and prints the outcome. False when it was refused.
fn learn_one(
    global: &Global,
    playbook: &Playbook,
    draft: LessonDraft,
    out: &mut Output,
) -> Result<bool, Box<dyn Error>> {
    let learned = playbook.learn_lesson(draft.in_realm(&global.learning_realm()))?;
    let is_learned = tell(&learned, out)?;
    if !learned.evicted().is_empty() {
        warn_of_capacity(playbook, out)?;
    }
    if let Some(lesson) = learned.id().and_then(|id| playbook.find(id).ok()) {
        let tokens = shown_tokens(&lesson);
        // If no context can show the lesson, the library logs a warning.
        if (TOOL_TOKENS + 1..=playbook.config().retrieval.max_tokens).contains(&tokens) {
            out.message(&format!(
                "it takes {tokens} tokens, and before a tool runs an agent is shown {TOOL_TOKENS}: shorten it"
            ));
        }
    }
    Ok(is_learned)
}

/// Says that more lessons are kept than the capacity, because they were learned under a larger one.
fn warn_of_capacity(playbook: &Playbook, out: &mut Output) -> Result<(), Box<dyn Error>> {
    let largest = playbook.stats()?.realms.into_values().max().unwrap_or_default();
    let capacity = playbook.config().retention.capacity;
    if largest > capacity {
        out.message(&format!(
            "{largest} lessons are kept, more than the capacity of {capacity}; each new one replaces one of them, unless you set \
             the capacity: adage config set retention.capacity {}",
            largest + 1
        ));
    }
    Ok(())
}

/// Prints the outcome of a lesson. False when it was refused.
fn tell(learned: &LearnOutcome, out: &mut Output) -> Result<bool, Box<dyn Error>> {
    out.object(&object(learned))?;
    if let LearnOutcome::Refused { .. } = learned {
        out.message(&learned.to_string());
        return Ok(false);
    }
    let undo = learned.change().map(|change| format!(" (undo {change})")).unwrap_or_default();
    out.line(&format!("{learned}{undo}"))?;
    for evicted in learned.evicted() {
        out.line(&format!("  evicted {evicted}"))?;
    }
    let near = match learned {
        LearnOutcome::Distinct { near, .. } => std::slice::from_ref(near),
        LearnOutcome::Inserted { near, .. } => near.as_slice(),
        _ => &[],
    };
    for near in near {
        out.line(&format!("  both are kept; if it replaces {near}, learn it again with: --supersedes {near}"))?;
    }
    out.flush()?;
    Ok(true)
}

fn object(learned: &LearnOutcome) -> Value {
    let (outcome, near, why) = match Learned::of(learned) {
        Some(Learned { outcome, near, why }) => (json!(outcome), near, why),
        None => (json!("other"), None, Some(format!("{learned:?}"))),
    };
    let old = if let LearnOutcome::Superseded { old, .. } = learned { Some(*old) } else { None };
    let (into, distance) = match learned {
        LearnOutcome::Merged { into, distance, .. } => (Some(*into), *distance),
        LearnOutcome::Distinct { distance, .. } => (None, *distance),
        _ => (None, None),
    };
    json!({
        "outcome": outcome, "id": learned.id(), "into": into, "near": near, "distance": distance, "why": why,
        "evicted": learned.evicted(), "change": learned.change(), "old": old,
    })
}
