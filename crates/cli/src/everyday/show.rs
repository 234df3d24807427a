//! Commands that only read: context, list, show, failures, stats.

use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;

use adage::playbook::{PlaybookLesson, Stats, Window};
use adage::redact::{one_line, path_line, path_text};
use adage::retrieve::{NoMatchReason, TierChoice};
use adage::{Lesson, Listing, Playbook, Playbooks, Request, Scored};
use clap::Args;
use serde_json::{Value, json};

use crate::choice::{choice, given, number};
use crate::global::{Access, Global};
use crate::input::standard_input;
use crate::output::{Output, counted, masked, say, say_text, table, times, with};
use crate::result::{Done, chain};
use crate::team::trust;

#[derive(Args)]
pub(crate) struct Context {
    /// What the task is about; `-` reads it from standard input; if omitted, the newest lessons are shown
    #[arg(allow_hyphen_values = true)]
    query: Option<String>,
    /// Maximum number of lessons
    #[arg(long)]
    limit: Option<usize>,
    /// Maximum cosine distance of a trigger, from 0 to 2: the classic rule
    #[arg(long, value_parser = number(0.0_f32..=2.0), allow_negative_numbers = true)]
    threshold: Option<f32>,
    /// Maximum length, in estimated tokens
    #[arg(long)]
    max_tokens: Option<usize>,
    /// Use only this tier
    #[arg(long, value_parser = choice(TIERS))]
    tier: Option<TierChoice>,
    /// Count no retrieval and give no receipt
    #[arg(long)]
    peek: bool,
    /// Show every lesson that was considered
    #[arg(long)]
    explain: bool,
}

#[derive(Args)]
pub(crate) struct List {
    /// How far back to list
    #[arg(long, default_value = "all", value_parser = choice(WINDOWS))]
    window: Window,
    /// Only lessons from this source
    #[arg(long, default_value = "", hide_default_value = true)]
    source: String,
    /// Maximum number of lessons [default: 20]; of mistakes [default: 5]
    #[arg(long)]
    limit: Option<usize>,
    /// The most recent mistakes, as text for a prompt
    #[arg(long, conflicts_with_all = ["window", "source", "stats"])]
    mistakes: bool,
    /// The memory's figures
    #[arg(long, conflicts_with_all = ["window", "source", "limit"])]
    stats: bool,
}

impl List {
    pub(crate) fn printed(&self) -> Option<&'static str> {
        given([("failures", self.mistakes), ("stats", self.stats)])
    }
}

const TIERS: [(&str, TierChoice); 2] = [("vector", TierChoice::Vector), ("lexical", TierChoice::Lexical)];
const WINDOWS: [(&str, Window); 4] =
    [("today", Window::Today), ("week", Window::Week), ("7d", Window::Week), ("all", Window::All)];

pub(crate) fn context(global: &Global, mut asked: Context, out: &mut Output) -> Done {
    if asked.query.as_deref() == Some("-") {
        asked.query = Some(standard_input()?);
    }
    if asked.query.as_ref().is_some_and(|query| query.trim().is_empty()) {
        return Err("the query is empty; without one, the newest lessons are shown".into());
    }
    let (is_explained, is_counted) = (asked.explain, !asked.peek);
    let access = if is_counted { Access::Write } else { Access::Read };
    let request = asked.request(global);
    let books = global.books(access)?;
    let context = books.all.get_playbook_context(request)?;
    let mut object = json!({
        "tier": context.tier, "text": context.text, "receipt": context.receipt.map(|receipt| receipt.to_string()),
        "lessons": context.lessons, "none_because": context.none_because.map(|reason| reason.to_string()),
    });
    if is_explained {
        object = with(object, json!({ "considered": context.considered }));
    }
    out.object(&object)?;
    if !context.text.is_empty() {
        out.text(&context.text)?;
    }
    if is_explained {
        let table = considered(&context.considered);
        if !out.json {
            say_text(&format!("considered:\n{table}"));
        }
    }
    // Also printed here, for readers of standard output only.
    books.tell_of_silent();
    if books.all.as_slice().is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    for playbook in books.all.as_slice() {
        trust::tell_of_waiting(playbook, out)?;
    }
    if let Some(reason) = context.none_because {
        out.message(&format!("no lesson: {reason}"));
        tell_of_elsewhere(&books.all, &reason, out)?;
    }
    if let Some(receipt) = context.receipt {
        out.message(&format!("receipt {receipt}"));
    }
    Ok(flush(&books.all))
}

/// Says that there are lessons, but none for this project and role.
fn tell_of_elsewhere(books: &Playbooks, reason: &NoMatchReason, out: &mut Output) -> Result<(), Box<dyn Error>> {
    if *reason != NoMatchReason::NoLessons {
        return Ok(());
    }
    let n_elsewhere = books.list_lessons(&Listing::default())?.len();
    if n_elsewhere > 0 {
        out.message(&format!(
            "{} for other projects or roles; `adage list` names them",
            counted(n_elsewhere, "lesson")
        ));
    }
    Ok(())
}

impl Context {
    fn request(self, global: &Global) -> Request {
        let mut request = Request::about(self.query.unwrap_or_default()).in_realm(&global.realm());
        request = self.limit.into_iter().fold(request, Request::limit);
        request = self.threshold.into_iter().fold(request, Request::distance_threshold);
        request = self.max_tokens.into_iter().fold(request, Request::max_tokens);
        request = self.tier.into_iter().fold(request, Request::tier);
        if self.peek {
            request = request.peek();
        }
        if self.explain { request.explain() } else { request }
    }
}

/// The candidates with their scores.
fn considered(considered: &[Scored]) -> String {
    let number = |value: Option<f32>| value.map(|value| format!("{value:.3}")).unwrap_or_default();
    let rows = considered.iter().map(|considered| {
        vec![
            if considered.passed { "yes" } else { "no" }.to_owned(),
            number(considered.distance),
            number(Some(considered.overlap)),
            number(Some(considered.score)),
            number(considered.probability),
            one_line(&considered.trigger, 60),
        ]
    });
    table(&["passed", "distance", "overlap", "score", "probability", "trigger"], rows, None)
}

/// Writes the retrieval counts. If another process is committing, they are left to it when the playbook is closed. A failure
/// does not change the answer.
fn flush(playbook: &Playbooks) -> ExitCode {
    if let Err(error) = playbook.flush() {
        say(&format!("this retrieval may not be counted: {}", chain(&error)));
    }
    ExitCode::SUCCESS
}

/// A lesson with its utility and its folder.
fn row(playbook: &Playbook, lesson: &Lesson) -> Value {
    with(masked(json!(lesson)), json!({ "utility": playbook.utility(lesson), "folder": path_text(playbook.folder()) }))
}

pub(crate) fn list(global: &Global, asked: List, out: &mut Output) -> Done {
    if asked.mistakes {
        return mistakes(global, asked.limit.unwrap_or(5), out);
    }
    if asked.stats {
        return stats(global, out);
    }
    let books = global.books(Access::Read)?.spoken()?;
    let listing = Listing::default().window(asked.window).source(asked.source).limit(asked.limit.unwrap_or(20));
    let lessons = books.list_lessons(&Listing { realm: global.named_realm(), ..listing })?;
    for PlaybookLesson { playbook, lesson, .. } in &lessons {
        out.object(&row(playbook, lesson))?;
    }
    if lessons.is_empty() {
        out.message("no lessons");
        return Ok(ExitCode::SUCCESS);
    }
    let is_users = |playbook: &Playbook| global.location.user.as_deref() == Some(playbook.folder());
    let here = global.realm().project;
    let rows = lessons.iter().map(|PlaybookLesson { playbook, lesson, .. }| {
        let project = &lesson.realm.project;
        let whose = match project.is_empty() {
            true if is_users(playbook) => "all projects: ".to_owned(),
            false if *project != here => format!("{}: ", one_line(project, 40)),
            _ => String::new(),
        };
        vec![
            lesson.id.to_string(),
            match lesson.dated() {
                Some(time) => time.format("%Y-%m-%d %H:%M").to_string(),
                None => "undated".to_owned(),
            },
            format!("{:.3}", playbook.utility(lesson)),
            format!("{}/{}", lesson.helpful_retrievals, lesson.retrievals),
            if lesson.verified { "✓" } else { "·" }.to_owned(),
            format!("{whose}{}", one_line(&lesson.trigger, 60)),
        ]
    });
    out.table(&["id", "learned", "utility", "helped", "ok", "trigger"], rows)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn show(global: &Global, lesson: &str, out: &mut Output) -> Done {
    let found = global.books(Access::Read)?.spoken()?.find(global.lesson(lesson))?;
    let row = row(&found.playbook, &found.lesson);
    out.object(&row)?;
    if let Value::Object(fields) = &row {
        let rows = fields.iter().filter(|(_, value)| !is_blank(value)).map(|(key, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            vec![key.clone(), text]
        });
        out.table(&["field", "value"], rows)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn is_blank(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(str::is_empty) || value.as_array().is_some_and(Vec::is_empty)
}

fn mistakes(global: &Global, limit: usize, out: &mut Output) -> Done {
    let text = global.books(Access::Read)?.spoken()?.get_recent_failures(&global.realm(), limit)?;
    out.object(&json!({ "text": text }))?;
    out.text(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn stats(global: &Global, out: &mut Output) -> Done {
    for playbook in global.books(Access::Read)?.spoken()?.as_slice() {
        let stats = playbook.stats()?;
        out.object(&with(json!(stats), json!({ "folder": path_text(playbook.folder()) })))?;
        out.line(&path_line(playbook.folder()))?;
        for (what, figures) in sentences(&stats) {
            out.line(&format!("  {what:<10} {figures}"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The statistics of a memory as sentences.
fn sentences(stats: &Stats) -> Vec<(&'static str, String)> {
    let Stats { n_lessons, n_verified, n_waiting, n_removed, n_changes, capacity, .. } = *stats;
    let lessons = format!("{n_lessons}, of them {n_verified} verified; each project and role has room for {capacity}");
    let mut sentences = vec![("lessons", lessons)];
    if n_waiting > 0 {
        sentences.push(("waiting", format!("{} for review: adage review", counted(n_waiting, "lesson"))));
    }
    if n_removed > 0 {
        sentences.push(("removed", format!("{} that no import brings back", counted(n_removed, "lesson"))));
    }
    let (shown, helped, harmed) = (stats.retrievals, stats.helpful_retrievals, stats.harmful_retrievals);
    let of_shown =
        |n: u64| if shown == 0 { String::new() } else { format!(" ({:.0}%)", 100.0 * n as f64 / shown as f64) };
    let harm = if harmed == 1 { "1 did harm".to_owned() } else { format!("{harmed} did harm") };
    sentences
        .push(("shown", format!("{}: {helped} helped{}, {harm}{}", times(shown), of_shown(helped), of_shown(harmed))));
    if let Some([least, median, largest]) = stats.utility {
        sentences
            .push(("utility", format!("{least:.2} the least, {median:.2} in the middle, {largest:.2} the largest")));
    }
    let named = |counts: &BTreeMap<String, usize>, name: &str, meaning: &str| {
        let mut counts: Vec<(&str, usize)> = counts.iter().map(|(key, n)| (key.as_str(), *n)).collect();
        counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        let each = counts.iter().map(|(key, n)| format!("{} {n}", if *key == name { meaning } else { key }));
        each.collect::<Vec<_>>().join(", ")
    };
    if n_lessons > 0 {
        sentences.push(("for", named(&stats.realms, "global", "any project")));
        sentences.push(("from", named(&stats.sources, "unknown", "people")));
    }
    sentences.push(("history", format!("{} on record: adage history", counted(n_changes, "change"))));
    sentences
}
