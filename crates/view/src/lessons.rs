//! The list of lessons: searched, filtered, sorted, a hundred at a time.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use adage::Lesson;
use adage::playbook::PlaybookLesson;
use adage_review::Result;
use chrono::{DateTime, FixedOffset};
use maud::{Markup, html};

use crate::answer::{Answer, Frame, Tab};
use crate::form::{Form, link};
use crate::text::{brief, counted, day, grouped};

const PER_PAGE: usize = 100;

type IsInState = fn(&Lesson) -> bool;

/// The states that the list can be restricted to.
const STATES: [(&str, &str, IsInState); 7] = [
    ("harmed", "did harm", |lesson| lesson.harmful_retrievals > 0),
    ("helped", "helped", |lesson| lesson.helpful_retrievals > 0),
    ("unhelpful", "shown, never helped", |lesson| lesson.retrievals > 0 && lesson.helpful_retrievals == 0),
    ("unshown", "never shown", |lesson| lesson.retrievals == 0),
    ("verified", "verified", |lesson| lesson.verified),
    ("graduated", "graduated", |lesson| lesson.graduated),
    ("kept-back", "not shown to agents", |lesson| !lesson.is_admitted()),
];

const SORTS: [(&str, &str); 4] =
    [("", "newest"), ("shown", "last shown"), ("harm", "most harm"), ("utility", "least useful")];

pub(crate) fn page(frame: &Frame<'_>, query: &Form) -> Result<Answer> {
    let all = frame.memory.lessons()?;
    let found = selected(&all, query);
    let number: usize = query.get("page").parse().unwrap_or(1).max(1);
    let first = (number - 1).saturating_mul(PER_PAGE);
    let body = html! {
        h1 { "Lessons" }
        (filter(query, &all))
        p.quiet role="status" { (counted(found.len(), "lesson")) @if found.len() < all.len() { " of " (grouped(all.len())) } }
        @if found.is_empty() {
            p.empty { @if all.is_empty() { "No lesson has been learned yet." } @else { "No lesson is like that." } }
        } @else { (table(found.iter().skip(first).take(PER_PAGE).copied())) }
        (pages(query, number, found.len().div_ceil(PER_PAGE)))
    };
    Ok(Answer::Page { status: 200, title: "Lessons".to_owned(), tab: Tab::Lessons, body })
}

/// The lessons that the query asks for, in its order.
fn selected<'a>(all: &'a [PlaybookLesson], query: &Form) -> Vec<&'a PlaybookLesson> {
    let words: Vec<String> = query.get("q").split_whitespace().map(str::to_lowercase).collect();
    let state = STATES.iter().find(|(name, ..)| *name == query.get("state")).map(|(_, _, is)| is);
    let is_of = |name: &str, value: &str| !query.has(name) || query.get(name) == "*" || query.get(name) == value;
    let mut found: Vec<&PlaybookLesson> = all
        .iter()
        .filter(|found| {
            let lesson = &found.lesson;
            is_of("project", &lesson.realm.project)
                && is_of("role", &lesson.realm.role)
                && state.is_none_or(|is| is(lesson))
                && has_words(lesson, &words)
        })
        .collect();
    match query.get("sort") {
        "shown" => found.sort_by_key(|found| Reverse(found.lesson.last_retrieved_at)),
        "harm" => found.sort_by_key(|found| Reverse(found.lesson.harmful_retrievals)),
        "utility" => {
            found.sort_by(|a, b| a.playbook.utility(&a.lesson).total_cmp(&b.playbook.utility(&b.lesson)));
        }
        _ => {}
    }
    found
}

fn has_words(lesson: &Lesson, words: &[String]) -> bool {
    if words.is_empty() {
        return true;
    }
    let (ways, id) = (&lesson.ways_in, lesson.id.to_string());
    let texts = [&lesson.trigger, &lesson.task, &lesson.mistake, &lesson.anti_pattern, &lesson.solution]
        .into_iter()
        .chain([&lesson.correct_pattern, &lesson.code_example, &lesson.source, &id])
        .chain(
            [&ways.names, &ways.situations, &ways.signs, &lesson.domains, &lesson.paths, &lesson.commands]
                .into_iter()
                .flatten(),
        );
    let text = texts.map(|text| text.to_lowercase()).collect::<Vec<_>>().join("\n");
    words.iter().all(|word| text.contains(word))
}

/// A labelled choice of one value.
pub(crate) fn choice<'a>(
    name: &str,
    label: &str,
    chosen: &str,
    options: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Markup {
    html! {
        label.choice { (label) " "
            select name=(name) { @for (value, text) in options { option value=(value) selected[value == chosen] { (brief(text, 60)) } } }
        }
    }
}

fn filter(query: &Form, all: &[PlaybookLesson]) -> Markup {
    let names = |of: fn(&Lesson) -> &str| -> BTreeSet<&str> { all.iter().map(|found| of(&found.lesson)).collect() };
    let realms = [
        ("project", "Project", names(|lesson| &lesson.realm.project)),
        ("role", "Role", names(|lesson| &lesson.realm.role)),
    ];
    let states = STATES.iter().map(|(value, text, _)| (*value, *text));
    html! {
        form.filter method="get" action="lessons" role="search" {
            label.choice.wide { "Words " input type="search" name="q" value=(query.get("q")) dir="auto"; }
            @for (name, label, values) in realms {
                @if values.len() > 1 {
                    @let chosen = if query.has(name) { query.get(name) } else { "*" };
                    @let values = values.into_iter().map(|value| (value, if value.is_empty() { "none" } else { value }));
                    (choice(name, label, chosen, [("*", "all")].into_iter().chain(values)))
                }
            }
            (choice("state", "State", query.get("state"), [("", "any")].into_iter().chain(states)))
            (choice("sort", "Order", query.get("sort"), SORTS))
            button { "Show" }
        }
    }
}

fn when(time: Option<DateTime<FixedOffset>>) -> String {
    time.map_or_else(|| "–".to_owned(), day)
}

pub(crate) fn table<'a>(lessons: impl Iterator<Item = &'a PlaybookLesson>) -> Markup {
    html! {
        table.lessons {
            thead { tr {
                th scope="col" { "Lesson" } th scope="col" { "Learned" } th scope="col" { "Last shown" }
                th.number scope="col" { "Shown" } th.number scope="col" { "Helped" } th.number scope="col" { "Harmed" }
            } }
            tbody { @for PlaybookLesson { lesson, .. } in lessons { (row(lesson)) } }
        }
    }
}

fn row(lesson: &Lesson) -> Markup {
    let count = |count: u64| usize::try_from(count).map_or_else(|_| count.to_string(), grouped);
    html! {
        tr {
            td {
                a.trigger href=(link("lesson", &[("id", &lesson.id.to_string())])) dir="auto" { (title_of(lesson, 140)) }
                div.quiet dir="auto" { (brief(&lesson.correct_pattern, 170)) }
                (tags(lesson))
            }
            td data-label="learned" { (when(lesson.dated())) }
            td data-label="last shown" { (when(lesson.last_retrieved_at)) }
            td.number data-label="shown" { (count(lesson.retrievals)) }
            td.number data-label="helped" { (count(lesson.helpful_retrievals)) }
            td.number.bad[lesson.harmful_retrievals > 0] data-label="harmed" { (count(lesson.harmful_retrievals)) }
        }
    }
}

/// The lesson's trigger on one line; never empty, so that it can be a link.
pub(crate) fn title_of(lesson: &Lesson, max_chars: usize) -> String {
    let texts = [&lesson.trigger, &lesson.task, &lesson.correct_pattern];
    let text = texts.into_iter().map(|text| brief(text, max_chars)).find(|text| !text.is_empty());
    text.unwrap_or_else(|| lesson.id.to_string())
}

/// What is special about a lesson, in words.
pub(crate) fn tags(lesson: &Lesson) -> Markup {
    let realm = [&lesson.realm.project, &lesson.realm.role];
    html! {
        div.tags {
            @for name in realm { @if !name.is_empty() { span.tag dir="auto" { (brief(name, 50)) } } }
            @if lesson.verified { span.tag.good { "verified" } }
            @if lesson.graduated { span.tag { "graduated" } }
            @if !lesson.is_admitted() { span.tag.bad { "not shown to agents" } }
        }
    }
}

fn pages(query: &Form, number: usize, n_pages: usize) -> Markup {
    let to = |number: usize| {
        let mut fields: Vec<(&str, &str)> = Vec::new();
        for name in ["q", "project", "role", "state", "sort"] {
            if query.has(name) {
                fields.push((name, query.get(name)));
            }
        }
        let number = number.to_string();
        fields.push(("page", &number));
        link("lessons", &fields)
    };
    html! {
        @if n_pages > 1 {
            nav.pages aria-label="Pages of the list" {
                @if number > 1 { a href=(to(number - 1)) rel="prev" { "← previous" } }
                span { "page " (number) " of " (n_pages) }
                @if number < n_pages { a href=(to(number + 1)) rel="next" { "next →" } }
            }
        }
    }
}
