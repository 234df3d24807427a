//! The frame of every page.

use adage::redact::path_line;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::answer::{Frame, Notice, Tab, Undo};
use crate::memory::Access;
use crate::text::{grouped, shown};

pub(crate) const STYLE: &str = include_str!("style.css");
pub(crate) const SCRIPT: &str = include_str!("script.js");

/// A whole page.
pub(crate) fn page(frame: &Frame<'_>, title: &str, tab: Tab, notice: Option<&Notice>, body: &Markup) -> String {
    let n_waiting = frame.memory.waiting().map(|waiting| waiting.len()).unwrap_or_default();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · adage" }
                link rel="stylesheet" href="style.css";
                script src="script.js" defer {}
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                header {
                    a.brand href="ask" { "adage" }
                    nav aria-label="Pages" {
                        @for to in Tab::ALL {
                            a href=(to.path()) aria-current=[(to == tab).then_some("page")] {
                                (to.name())
                                @if to == Tab::Review && n_waiting > 0 { " " span.badge { (grouped(n_waiting)) span.hidden { " waiting" } } }
                            }
                        }
                    }
                }
                main id="main" {
                    @if let Some(notice) = notice { (notice_box(frame, notice)) }
                    (body)
                }
                (footer(frame))
            }
        }
    };
    page.into_string()
}

fn notice_box(frame: &Frame<'_>, notice: &Notice) -> Markup {
    html! {
        div.notice.failure[notice.is_failure] role="status" {
            p { (shown(&notice.text)) }
            @if let Some(undo) = &notice.undo { (undo_button(frame, undo, "Undo")) }
        }
    }
}

pub(crate) fn undo_button(frame: &Frame<'_>, undo: &Undo, label: &str) -> Markup {
    let (path, change) = match undo {
        Undo::Change(change) => ("undo", change),
        Undo::Files(change) => ("undo-files", change),
    };
    form(frame, path, &[("change", change)], &html! { button { (label) } })
}

/// A form that changes something; nothing on a page that is only read.
pub(crate) fn form(frame: &Frame<'_>, path: &str, hidden: &[(&str, &str)], fields: &Markup) -> Markup {
    html! {
        @if let Some(token) = frame.writable() {
            form method="post" action=(path) {
                input type="hidden" name="token" value=(token);
                @for (name, value) in hidden { input type="hidden" name=(name) value=(value); }
                (fields)
            }
        }
    }
}

pub(crate) fn footer(frame: &Frame<'_>) -> Markup {
    html! {
        footer {
            p {
                @for playbook in frame.memory.books.as_slice() { code { (path_line(playbook.folder())) } " " }
                @if frame.memory.access == Access::ReadOnly { span { "read-only" } }
            }
        }
    }
}

/// The page that is shown to nobody in particular: without the memory, its folder or a link into it.
pub(crate) fn bare(title: &str, text: &str) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" { head { meta charset="utf-8"; title { (title) " · adage" } } body { main { h1 { (title) } p { (text) } } } }
    };
    page.into_string()
}

/// The style sheet as part of a page.
pub(crate) fn inline_style() -> Markup {
    html! { style { (PreEscaped(STYLE)) } }
}
