//! One lesson: its texts, where it comes from, what came of it, its neighbours, and what can be done with it.

use std::collections::BTreeSet;

use adage::lesson::{Origin, Trust};
use adage::playbook::{ChangeRecord, PlaybookLesson};
use adage::{Lesson, LessonId, LessonRef};
use adage_review::Result;
use maud::{Markup, html};
use serde_json::{Value, json};

use crate::answer::{Answer, Frame, Tab, Undo};
use crate::form::{Form, link};
use crate::layout::{form, undo_button};
use crate::lessons::{tags, title_of};
use crate::text::{brief, counted, minute, shown};

/// A field that a person edits: its key, its label, and whether it has one text a line.
pub(crate) const FIELDS: [(&str, &str, bool); 13] = [
    ("trigger", "When", false),
    ("task", "Task", false),
    ("mistake", "What went wrong", false),
    ("anti_pattern", "Do not", false),
    ("solution", "What solved it", false),
    ("correct_pattern", "Do", false),
    ("code_example", "Code", false),
    ("situations", "Situations", true),
    ("signs", "Signs", true),
    ("names", "Names", true),
    ("paths", "Files", true),
    ("commands", "Commands", true),
    ("domains", "Topics", true),
];

pub(crate) fn page(frame: &Frame<'_>, query: &Form) -> Result<Answer> {
    let found = frame.memory.books.find(reference(query.get("id")))?;
    let body = whole(frame, &found, query.has("edit"))?;
    Ok(Answer::Page { status: 200, title: title_of(&found.lesson, 60), tab: Tab::Lessons, body })
}

pub(crate) fn reference(id: &str) -> LessonRef {
    id.parse::<LessonId>().map_or_else(|_| LessonRef::Trigger(id.to_owned()), LessonRef::Id)
}

fn whole(frame: &Frame<'_>, found: &PlaybookLesson, is_edited: bool) -> Result<Markup> {
    let lesson = &found.lesson;
    let id = lesson.id.to_string();
    Ok(html! {
        article.lesson {
            h1 dir="auto" { (title_of(lesson, 300)) }
            (tags(lesson))
            @if is_edited && frame.writable().is_some() {
                (form(frame, "edit", &[("id", &id)], &html! {
                    (fields_to_edit(lesson))
                    p.actions {
                        button.primary name="as" value="edit" { "Save" }
                        button name="as" value="new" title="These texts become a new lesson without the counts of this one" { "Replace by a new lesson" }
                        a href=(link("lesson", &[("id", &id)])) { "Cancel" }
                    }
                }))
            } @else {
                (texts(lesson))
                (actions(frame, lesson))
            }
        }
        (record(found))
        (neighbours(frame, lesson))
        (history(frame, found)?)
    })
}

/// The texts of a lesson; one that repeats another is left out.
pub(crate) fn texts(lesson: &Lesson) -> Markup {
    let row = json!(lesson);
    let is_copy = |key: &str| match key {
        "task" => lesson.task == lesson.trigger,
        "anti_pattern" => lesson.anti_pattern == lesson.mistake,
        "solution" => lesson.solution == lesson.correct_pattern,
        _ => false,
    };
    html! {
        dl.texts {
            @for (key, label, _) in FIELDS {
                @let texts = texts_of(&row, key);
                @if !texts.is_empty() && !is_copy(key) {
                    div.code[matches!(key, "code_example" | "paths" | "commands")] {
                        dt { (label) }
                        @for text in texts { dd dir="auto" { (shown(&text)) } }
                    }
                }
            }
        }
    }
}

/// The texts of a field; a list has one for each item.
fn texts_of(row: &Value, key: &str) -> Vec<String> {
    let texts = match row.get(key) {
        Some(Value::Array(list)) => list.iter().filter_map(|text| text.as_str().map(str::to_owned)).collect(),
        Some(Value::String(text)) => vec![text.clone()],
        _ => Vec::new(),
    };
    texts.into_iter().filter(|text| !text.trim().is_empty()).collect()
}

/// The text of a field as it is edited: as it is stored, a list with one text a line.
pub(crate) fn edited_text(lesson: &Lesson, key: &str) -> String {
    texts_of(&json!(lesson), key).join("\n")
}

pub(crate) fn fields_to_edit(lesson: &Lesson) -> Markup {
    html! {
        @for (key, label, is_list) in FIELDS {
            @let text = edited_text(lesson, key);
            @let n_lines = text.lines().count().max(text.chars().count() / 80 + 1).clamp(1, 14);
            label.field { span { (label) @if is_list { " " small { "one a line" } } }
                textarea name=(key) rows=(n_lines) dir="auto" { "\n" (text) }
            }
        }
    }
}

fn actions(frame: &Frame<'_>, lesson: &Lesson) -> Markup {
    let id = lesson.id.to_string();
    let button = |path: &str, as_: &str, label: &str| {
        form(frame, path, &[("id", &id), ("as", as_)], &html! { button { (label) } })
    };
    html! {
        @if frame.writable().is_some() {
            div.actions {
                a.button.primary href=(link("lesson", &[("id", &id), ("edit", "1")])) { "Edit" }
                @if lesson.verified { (button("verify", "no", "Not verified")) } @else { (button("verify", "yes", "Verified")) }
                (button("credit", "helpful", "It helped"))
                (button("credit", "harmful", "It did harm"))
                (button("remove", "", "Remove"))
            }
        }
    }
}

/// Where it comes from, and what came of it.
fn record(found: &PlaybookLesson) -> Markup {
    let PlaybookLesson { lesson, playbook, .. } = found;
    let origin = &lesson.provenance;
    let from = match origin.origin {
        Origin::Hand => "a person",
        Origin::Program => "a program",
        Origin::SelfPlay => "the agent, in self-play",
        Origin::Mined => "a session",
        Origin::Imported => "a file",
        _ => "elsewhere",
    };
    let facts = [
        (
            "From",
            [from, &origin.session, &lesson.source]
                .into_iter()
                .filter(|part| !part.is_empty())
                .map(|part| brief(part, 120))
                .collect::<Vec<_>>()
                .join(", "),
        ),
        ("Learned", lesson.dated().map_or_else(|| "undated".to_owned(), minute)),
        (
            "Shown",
            format!(
                "{}{}",
                counted(usize::try_from(lesson.retrievals).unwrap_or(usize::MAX), "time"),
                lesson.last_retrieved_at.map(|time| format!(", last {}", minute(time))).unwrap_or_default()
            ),
        ),
        ("Came of it", format!("helped {}, did harm {}", lesson.helpful_retrievals, lesson.harmful_retrievals)),
        ("Confidence", format!("{:.2}; utility {:.2}", lesson.confidence, playbook.utility(lesson))),
        ("Seen", counted(usize::try_from(lesson.frequency).unwrap_or(usize::MAX), "time")),
        ("Id", lesson.id.to_string()),
    ];
    html! {
        section aria-labelledby="record" {
            h2 id="record" { "Record" }
            @for evidence in &origin.evidence { blockquote dir="auto" { (shown(&evidence.quote)) footer { "said in turn " (evidence.turn) } } }
            dl.facts {
                @for (name, value) in facts { div { dt { (name) } dd { (value) } } }
                @if origin.trust == Trust::Tainted { div { dt { "Trust" } dd { "its session had read what others wrote" } } }
            }
        }
    }
}

/// The linked lessons beside this one, with the reason why both are kept.
fn neighbours(frame: &Frame<'_>, lesson: &Lesson) -> Markup {
    let others: Vec<PlaybookLesson> = lesson.near.iter().filter_map(|id| frame.memory.books.find(*id).ok()).collect();
    html! {
        @if !others.is_empty() {
            section aria-labelledby="near" {
                h2 id="near" { "Neighbours" }
                @for PlaybookLesson { lesson: other, .. } in &others {
                    @if let Some(difference) = lesson.difference(other) { p { "Kept apart: " (shown(&difference.to_string())) "." } }
                    @else { p { "They may say the same; remove one, or keep both." } }
                    div.beside { div { h3 { "This one" } (texts(lesson)) } div { h3 { a href=(link("lesson", &[("id", &other.id.to_string())])) dir="auto" { (title_of(other, 120)) } } (texts(other)) } }
                }
            }
        }
    }
}

fn history(frame: &Frame<'_>, found: &PlaybookLesson) -> Result<Markup> {
    let mut ids = BTreeSet::from([found.lesson.id]);
    let mut changes: Vec<ChangeRecord> = Vec::new();
    for change in found.playbook.changes()?.into_iter().rev() {
        if change.lessons.iter().any(|touched| ids.contains(&touched.id)) {
            ids.extend(change.lessons.iter().map(|touched| touched.id));
            changes.push(change);
        }
    }
    Ok(html! {
        section aria-labelledby="history" {
            h2 id="history" { "History" }
            @if changes.is_empty() { p.quiet { "Its text is as it was learned." } }
            @else { (changes_table(frame, &changes)) }
        }
    })
}

pub(crate) fn changes_table(frame: &Frame<'_>, changes: &[ChangeRecord]) -> Markup {
    html! {
        table.changes {
            thead { tr { th scope="col" { "When" } th scope="col" { "By" } th scope="col" { "What" } th scope="col" { span.hidden { "Undo" } } } }
            tbody { @for change in changes { tr {
                td { (minute(change.at)) }
                td { (change.action) }
                td { @for touched in &change.lessons { div dir="auto" { (touched.what) " " (brief(&touched.trigger, 100)) } } }
                td { @if change.is_undone { span.quiet { "undone" } } @else { (undo_button(frame, &Undo::Change(change.id.to_string()), "Undo")) } }
            } } }
        }
    }
}
