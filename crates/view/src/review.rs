//! What awaits review, one by one: exactly what is shown is applied or dismissed.

use adage::Lesson;
use adage::playbook::WaitingLesson;
use adage_review::{Inbox, Proposal, ProposalKind, ProposalName, Result};
use maud::{Markup, html};

use crate::answer::{Answer, Frame, Tab};
use crate::form::{Form, link};
use crate::layout::form;
use crate::lesson::fields_to_edit;
use crate::text::{brief, chain, counted, shown};

pub(crate) fn page(frame: &Frame<'_>, query: &Form) -> Result<Answer> {
    let Some(inbox) = frame.memory.inbox() else { return Ok(empty()) };
    let proposals = inbox.list()?;
    let name = query.get("name");
    let place = proposals.iter().position(|proposal| proposal.name.to_string() == name);
    let one = match place {
        // A candidate of a session is not in the list by itself.
        None if !name.is_empty() => name.parse().ok().and_then(|name: ProposalName| inbox.find(&name).ok()),
        None => None,
        Some(place) => proposals.get(place).cloned(),
    };
    let inapplicable = inbox.inapplicable()?;
    let place = place.unwrap_or_default();
    let Some(proposal) = one.or_else(|| proposals.first().cloned()) else { return Ok(empty()) };
    let next = proposals.get(place + 1).or(proposals.first()).filter(|next| next.name != proposal.name);
    let body = html! {
        h1 { "Review" }
        p.lead { (counted(proposals.len(), "proposal")) " wait" @if proposals.len() == 1 { "s" } ". Nothing of it takes effect before you apply it." }
        div.split {
            nav.queue aria-label="What waits" { ol { @for waiting in &proposals { li {
                a href=(link("review", &[("name", &waiting.name.to_string())])) aria-current=[(waiting.name == proposal.name).then_some("true")] dir="auto" {
                    small { (waiting.name.kind().name()) } " " (brief(&waiting.summary, 90))
                }
            } } } }
            (one_proposal(frame, inbox, &proposal, next, query.has("edit"))?)
        }
        @if !inapplicable.is_empty() {
            h2 { "Cannot be applied" }
            ul { @for entry in &inapplicable { li { code { (shown(&entry.name)) } ": " (shown(&entry.reason.to_string())) } } }
        }
    };
    Ok(Answer::Page { status: 200, title: "Review".to_owned(), tab: Tab::Review, body })
}

fn empty() -> Answer {
    let body = html! { h1 { "Review" } p.empty { "Nothing awaits review." } };
    Answer::Page { status: 200, title: "Review".to_owned(), tab: Tab::Review, body }
}

/// The lesson that a proposal stands for, if it stands for one.
pub(crate) fn waiting_lesson(frame_inbox: &[WaitingLesson], name: &ProposalName) -> Option<std::sync::Arc<Lesson>> {
    let found = frame_inbox.iter().find(|waiting| *name == ProposalName::Lesson(waiting.lesson.id));
    found.map(|waiting| std::sync::Arc::clone(&waiting.lesson))
}

fn one_proposal(
    frame: &Frame<'_>,
    inbox: &Inbox,
    proposal: &Proposal,
    next: Option<&Proposal>,
    is_edited: bool,
) -> Result<Markup> {
    let name = proposal.name.to_string();
    let text = inbox.show(proposal).unwrap_or_else(|error| chain(&error));
    let waiting = match frame.memory.books.as_slice().first() {
        Some(playbook) if is_edited => playbook.waiting_lessons()?,
        _ => Vec::new(),
    };
    let hash = proposal.text.to_string();
    let (next_name, is_list) = (next.map(|next| next.name.to_string()).unwrap_or_default(), has_lines(proposal));
    let hidden = [("name", name.as_str()), ("text", &hash), ("next", &next_name)];
    Ok(html! {
        section.proposal aria-labelledby="proposal" {
            h2 id="proposal" dir="auto" { (brief(&proposal.summary, 200)) }
            p.quiet { code { (shown(&name)) } }
            @if let Some(lesson) = waiting_lesson(&waiting, &proposal.name) {
                (form(frame, "rewrite", &hidden, &html! { (fields_to_edit(&lesson)) p.actions { button.primary { "Learn it as I wrote it" } a href=(link("review", &[("name", &name)])) { "Cancel" } } }))
            } @else {
                (diff(&text))
                (form(frame, "decide", &hidden, &html! {
                    @if is_list { (lines(proposal)) }
                    p.actions {
                        button.primary name="as" value="apply" data-key="y" { "Apply" @if is_list { " what is checked" } " " kbd { "y" } }
                        button name="as" value="dismiss" data-key="s" { "Dismiss " kbd { "s" } }
                        @if next.is_some() { a.button href=(link("review", &[("name", &next_name)])) data-key="n" { "Not now " kbd { "n" } } }
                        @if let ProposalName::Lesson(_) = proposal.name { a.button href=(link("review", &[("name", &name), ("edit", "1")])) data-key="e" { "Edit " kbd { "e" } } }
                    }
                }))
            }
        }
    })
}

pub(crate) fn has_lines(proposal: &Proposal) -> bool {
    matches!(proposal.name.kind(), ProposalKind::Session | ProposalKind::File) && !proposal.lines.is_empty()
}

/// The candidates of a session or a file, each with a box; all are checked at first.
fn lines(proposal: &Proposal) -> Markup {
    html! {
        fieldset.lines {
            legend { "Candidates; those that are not checked are dismissed" }
            @for (number, line) in (1..).zip(&proposal.lines) {
                div {
                    label dir="auto" { input type="checkbox" name="line" value=(number) checked data-key=[(number < 10).then_some(number)]; " " (number) ". " (brief(line, 300)) }
                    @if let Some(id) = proposal.lessons.get(number - 1) { " " a.plain href=(link("review", &[("name", &id.to_string()), ("edit", "1")])) aria-label={ "Edit candidate " (number) } { "edit" } }
                }
            }
        }
    }
}

/// A diff or another text, a line each; added and removed lines are told apart by their first character too.
pub(crate) fn diff(text: &str) -> Markup {
    let class = |line: &str| match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] | [b'@', b'@', ..] => "head",
        [b'+', ..] => "added",
        [b'-', ..] => "removed",
        _ => "same",
    };
    html! {
        pre.diff tabindex="0" aria-label="What is proposed" {
            @for line in text.lines() { span class=(class(line)) dir="auto" { (shown(line)) "\n" } }
        }
    }
}
