//! What an agent would get for a sentence, and why.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use adage::{Context, Lesson, NoMatchReason, Realm, Request, Scored};
use adage_review::Result;
use maud::{Markup, html};

use crate::answer::{Answer, Frame, Tab};
use crate::form::{Form, link};
use crate::layout::form;
use crate::lessons::choice;
use crate::text::{brief, shown};

/// The candidates that are listed; more are too unlikely to read about.
const MAX_CANDIDATES: usize = 12;

pub(crate) fn page(frame: &Frame<'_>, query: &Form) -> Result<Answer> {
    let sentence = query.get("q").trim();
    let lessons = frame.memory.lessons()?;
    let (mut projects, mut roles) = (BTreeSet::new(), BTreeSet::new());
    for found in &lessons {
        projects.insert(found.lesson.realm.project.as_str());
        roles.insert(found.lesson.realm.role.as_str());
    }
    let here = &frame.memory.realm;
    let given = |name, default: &str| if query.has(name) { query.get(name).to_owned() } else { default.to_owned() };
    let realm = Realm::new(given("project", &here.project), given("role", &here.role));
    projects.insert(&here.project);
    let body = html! {
        h1 { "Ask" }
        p.lead { "What an agent would get before a task. Nothing is counted." }
        form.ask method="get" action="ask" role="search" {
            label for="q" { "A task, a command or an error" }
            textarea id="q" name="q" rows="2" dir="auto" { (sentence) }
            @if projects.len() > 1 { (choice("project", "Project", &realm.project, projects.iter().map(|name| (*name, if name.is_empty() { "any project" } else { name })))) }
            @if roles.len() > 1 { (choice("role", "Role", &realm.role, roles.iter().map(|name| (*name, if name.is_empty() { "any role" } else { name })))) }
            button.primary { "Ask" }
        }
        @if sentence.is_empty() {
            @if lessons.is_empty() { p.empty { "No lesson has been learned yet. " code { "adage learn" } " writes the first one." } }
        } @else {
            (answered(frame, query, sentence, &realm, &lessons.iter().map(|found| (found.lesson.id, &found.lesson)).collect())?)
        }
    };
    Ok(Answer::Page { status: 200, title: "Ask".to_owned(), tab: Tab::Ask, body })
}

/// What decides whether candidates are shown.
struct Gate {
    /// The probability that any lesson is an answer.
    any: f32,
    /// The threshold of the memory.
    usual: f32,
    /// The threshold that the person tries.
    tried: f32,
    /// The smallest probability that is shown beside the best one.
    least: f32,
}

impl Gate {
    fn of(frame: &Frame<'_>, context: &Context, tried: &str) -> Self {
        let lead = frame.memory.books.as_slice().first();
        let sum: f32 = context.considered.iter().filter_map(|scored| scored.probability).sum();
        let any = match context.none_because {
            Some(NoMatchReason::Unlikely { probability, .. }) => probability,
            _ => sum.min(1.0),
        };
        let usual = lead.map(adage::Playbook::answer_threshold).unwrap_or_default();
        let share = lead.map(|playbook| playbook.config().retrieval.min_share).unwrap_or_default();
        let best = context.considered.first().and_then(|scored| scored.probability).unwrap_or_default();
        let tried = tried.parse().ok().filter(|tried| (0.0..=1.0).contains(tried)).unwrap_or(usual);
        Self { any, usual, tried, least: share * best }
    }

    /// Whether a candidate would be shown if the memory spoke at all.
    fn is_near_best(&self, scored: &Scored) -> bool {
        scored.passed || scored.probability.is_some_and(|probability| probability >= self.least)
    }

    fn is_open(&self) -> bool {
        self.any > self.tried
    }
}

fn answered(
    frame: &Frame<'_>,
    query: &Form,
    sentence: &str,
    realm: &Realm,
    lessons: &BTreeMap<adage::LessonId, &Arc<Lesson>>,
) -> Result<Markup> {
    let request = Request::about(sentence).in_realm(realm).peek().explain();
    let context = frame.memory.books.get_playbook_context(request)?;
    let gate = Gate::of(frame, &context, query.get("threshold"));
    let is_silent = context.lessons.is_empty();
    Ok(html! {
        section aria-labelledby="gets" {
            h2 id="gets" { "The agent gets" }
            @if is_silent {
                p.silence { "Nothing. " @if let Some(reason) = &context.none_because { (shown(&reason.to_string())) "." } }
            } @else {
                pre.context dir="auto" tabindex="0" aria-label="Text for the prompt" { (shown(&context.text)) }
            }
        }
        @if !context.considered.is_empty() {
            section aria-labelledby="why" {
                h2 id="why" { "Why" }
                (threshold(query, sentence, &gate))
                table.candidates {
                    caption.hidden { "Candidates, best first" }
                    thead { tr { th scope="col" { "Lesson" } th.number scope="col" { "Answers" } th scope="col" { "Because of" } } }
                    tbody {
                        @for scored in context.considered.iter().take(MAX_CANDIDATES) {
                            (candidate(frame, sentence, scored, lessons.get(&scored.id).copied(), &gate))
                        }
                    }
                }
                @if context.considered.len() > MAX_CANDIDATES { p.quiet { (context.considered.len() - MAX_CANDIDATES) " less likely ones are left out." } }
            }
        }
    })
}

fn threshold(query: &Form, sentence: &str, gate: &Gate) -> Markup {
    html! {
        form.threshold method="get" action="ask" data-any=(gate.any) {
            input type="hidden" name="q" value=(sentence);
            @for name in ["project", "role"] { @if query.has(name) { input type="hidden" name=(name) value=(query.get(name)); } }
            p { "Some lesson answers this with probability " b { (format!("{:.2}", gate.any)) } "; the memory speaks above " b { (format!("{:.2}", gate.usual)) } "." }
            label for="threshold" { "If it spoke above" }
            input id="threshold" type="range" name="threshold" min="0" max="1" step="0.01" value=(format!("{:.2}", gate.tried));
            output for="threshold" { (format!("{:.2}", gate.tried)) }
            span.verdict role="status" { @if gate.is_open() { "it would show what is marked ●" } @else { "it would be silent" } }
            button { "Try" }
        }
    }
}

fn candidate(frame: &Frame<'_>, sentence: &str, scored: &Scored, lesson: Option<&Arc<Lesson>>, gate: &Gate) -> Markup {
    let id = scored.id.to_string();
    let is_near = gate.is_near_best(scored);
    html! {
        tr.near[is_near].on[is_near && gate.is_open()] {
            td {
                span.dot aria-hidden="true" {} " "
                a href=(link("lesson", &[("id", &id)])) dir="auto" { (brief(&scored.trigger, 160)) }
                @if let Some(lesson) = lesson { div.quiet dir="auto" { (brief(&lesson.correct_pattern, 160)) } }
                (form(frame, "missed", &[("id", &id), ("request", sentence)], &html! {
                    button.plain title="Adds the sentence to the situations of this lesson" { "This one should answer it" }
                }))
            }
            td.number { @if let Some(probability) = scored.probability { (format!("{probability:.2}")) } @else { "–" } }
            td { (signals(sentence, scored, lesson)) }
        }
    }
}

fn signals(sentence: &str, scored: &Scored, lesson: Option<&Arc<Lesson>>) -> Markup {
    let Some(signals) = &scored.signals else {
        return html! { "distance " (format!("{:.2}", scored.distance.unwrap_or_default())) };
    };
    let way = if signals.has_ways_in { "nearest way in" } else { "trigger" };
    let meaning = [(way, signals.trigger), ("whole text", signals.whole), ("mistake", signals.mistake)];
    let shared = lesson.map(|lesson| shared_words(sentence, lesson)).unwrap_or_default();
    html! {
        dl.signals {
            @for (name, value) in meaning {
                @if let Some(value) = value { div { dt { (name) } dd { (format!("{value:.2}")) meter min="0" max="1" value=(format!("{:.2}", value.max(0.0))) aria-label=(name) {} } } }
            }
            div { dt { "words" } dd { (format!("{:.1}", signals.words)) ", " (format!("{:.0}%", 100.0 * signals.coverage)) " of the sentence" } }
            @if signals.name > 0.0 { div { dt { "name" } dd { (format!("{:.2}", signals.name)) } } }
            @if signals.is_title { div { dt { "title" } dd { "the same words" } } }
            @if !shared.is_empty() { div { dt { "in both" } dd dir="auto" { (shared.join(", ")) } } }
        }
    }
}

/// The words of the sentence that the lesson has in the same form.
fn shared_words(sentence: &str, lesson: &Lesson) -> Vec<String> {
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.chars().count() > 2)
            .map(str::to_lowercase)
            .collect()
    };
    let ways = lesson.ways_in.situations.iter().chain(&lesson.ways_in.signs).chain(&lesson.ways_in.names);
    let of_lesson: BTreeSet<String> =
        words(&lesson.whole_text()).into_iter().chain(ways.flat_map(|way| words(way))).collect();
    let mut seen = BTreeSet::new();
    words(sentence).into_iter().filter(|word| of_lesson.contains(word) && seen.insert(word.clone())).take(8).collect()
}
