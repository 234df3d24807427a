//! Looking: context, list, show, failures, stats.

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use adage::{Lesson, Listing, Playbook, Request};
use serde_json::{Value, json};

use crate::args::{Context, Global, List};
use crate::learn::headline;
use crate::{Done, Output, say, table};

pub(crate) fn context(global: &Global, asked: Context, out: &mut Output) -> Done {
    let playbook = if asked.peek { global.look()? } else { global.open()? };
    let mut request = Request::about(asked.query.unwrap_or_default()).project(&global.project).role(&global.role);
    request = asked.limit.into_iter().fold(request, Request::limit);
    request = asked.threshold.into_iter().fold(request, Request::distance_threshold);
    request = asked.max_tokens.into_iter().fold(request, Request::max_tokens);
    request = asked.tier.into_iter().fold(request, |request, tier| request.tier(tier.into()));
    if asked.peek {
        request = request.peek();
    }
    if asked.explain {
        request = request.explain();
    }
    let context = playbook.get_playbook_context(request)?;
    let mut object = json!({
        "tier": context.tier, "text": context.text, "receipt": context.receipt.map(|receipt| receipt.to_string()),
        "lessons": context.lessons, "none_because": context.none_because.map(|reason| reason.to_string()),
    });
    if asked.explain
        && let Value::Object(object) = &mut object
    {
        object.insert("considered".to_owned(), json!(context.considered));
    }
    out.object(&object)?;
    if !context.text.is_empty() {
        out.line(&context.text)?;
    }
    if out.json {
        return tell_uncounted(&playbook);
    }
    if asked.explain {
        let number = |value: Option<f32>| value.map(|value| format!("{value:.3}")).unwrap_or_default();
        let rows = context.considered.iter().map(|considered| {
            let passed = if considered.passed { "yes" } else { "no" };
            let trigger = crate::short(&considered.trigger, 60);
            vec![
                passed.into(),
                number(considered.distance),
                number(Some(considered.overlap)),
                number(Some(considered.score)),
                trigger,
            ]
        });
        say(&format!("considered:\n{}", table(&["passed", "distance", "overlap", "score", "trigger"], rows)));
    }
    if let Some(reason) = context.none_because {
        say(&format!("no lesson: {reason}"));
    }
    if let Some(receipt) = context.receipt {
        say(&format!("receipt {receipt}"));
    }
    tell_uncounted(&playbook)
}

/// Somebody else may be committing right now: the program waits for them a while before it ends.
fn tell_uncounted(playbook: &Playbook) -> Done {
    const PATIENCE: Duration = Duration::from_millis(5);
    const TRIES: u32 = 2_000;
    for _ in 0..TRIES {
        if playbook.flush()? {
            return Ok(ExitCode::SUCCESS);
        }
        thread::sleep(PATIENCE);
    }
    say(&format!("the folder was busy for {:?}: this showing may not count", PATIENCE * TRIES));
    Ok(ExitCode::SUCCESS)
}

/// A lesson with its utility.
fn row(playbook: &Playbook, lesson: &Lesson) -> Value {
    let mut row = json!(lesson);
    if let Value::Object(row) = &mut row {
        row.insert("utility".to_owned(), json!(playbook.utility(lesson)));
    }
    row
}

pub(crate) fn list(global: &Global, asked: &List, out: &mut Output) -> Done {
    let playbook = global.look()?;
    let is_anywhere = global.project.is_empty() && global.role.is_empty();
    let lessons = playbook.list_lessons(&Listing {
        window: asked.window.into(),
        source: asked.source.clone(),
        realm: (!is_anywhere).then(|| global.realm()),
        limit: asked.limit,
    })?;
    for lesson in &lessons {
        out.object(&row(&playbook, lesson))?;
    }
    if lessons.is_empty() {
        if !out.json {
            say("no lessons");
        }
        return Ok(ExitCode::SUCCESS);
    }
    let rows = lessons.iter().map(|lesson| {
        vec![
            lesson.id.to_string(),
            lesson.timestamp.format("%Y-%m-%d %H:%M").to_string(),
            format!("{:.3}", playbook.utility(lesson)),
            format!("{}/{}", lesson.helpful_retrievals, lesson.retrievals),
            if lesson.verified { "✓" } else { "·" }.to_owned(),
            headline(lesson, 60),
        ]
    });
    out.line(&table(&["id", "learned", "utility", "helped", "ok", "trigger"], rows))?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn show(global: &Global, lesson: &str, out: &mut Output) -> Done {
    let playbook = global.look()?;
    let lesson = playbook.find(lesson)?;
    let row = row(&playbook, &lesson);
    out.object(&row)?;
    if let (false, Value::Object(fields)) = (out.json, &row) {
        let rows = fields.iter().filter(|(_, value)| !is_blank(value)).map(|(key, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            vec![key.clone(), text]
        });
        out.line(&table(&["field", "value"], rows))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn is_blank(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(str::is_empty) || value.as_array().is_some_and(Vec::is_empty)
}

pub(crate) fn failures(global: &Global, limit: usize, out: &mut Output) -> Done {
    let playbook = global.look()?;
    let text = playbook.get_recent_failures(&global.realm(), limit)?;
    out.object(&json!({ "text": text }))?;
    out.line(&text)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn stats(global: &Global, out: &mut Output) -> Done {
    let stats = global.look()?.stats()?;
    let object = json!(stats);
    out.object(&object)?;
    if let (false, Value::Object(fields)) = (out.json, object) {
        let rows = fields.into_iter().map(|(key, value)| vec![key, value.to_string()]);
        out.line(&table(&["figure", "value"], rows))?;
    }
    Ok(ExitCode::SUCCESS)
}
