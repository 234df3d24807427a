//! The memory as one file that can only be read.

use adage_review::Result;
use data_encoding::BASE64;
use maud::{DOCTYPE, html};
use sha2::{Digest, Sha256};

use crate::answer::Frame;
use crate::layout::{STYLE, footer, inline_style};
use crate::lesson::texts;
use crate::lessons::{tags, title_of};
use crate::memory::Memory;
use crate::review::diff;
use crate::text::{chain, counted, day, shown};
use crate::time;

/// The page as one HTML file: all lessons, what awaits review, and what came of it over time. It has no script and refers to
/// nothing outside; its links lead to its own lessons.
///
/// # Errors
/// [`FolderError::Io`](adage::FolderError::Io).
pub fn export(memory: &Memory) -> Result<String> {
    let frame = Frame { memory, form_token: None };
    let lessons = memory.lessons()?;
    let proposals = memory.waiting()?;
    let policy = format!("default-src 'none'; style-src 'sha256-{}'", BASE64.encode(&Sha256::digest(STYLE)));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "adage" }
                (inline_style())
            }
            body.exported {
                header { span.brand { "adage" } nav aria-label="Parts" { a href="#lessons" { "Lessons" } a href="#review" { "Review" } a href="#time" { "Over time" } } }
                main {
                    section id="lessons" {
                        h1 { "Lessons" }
                        p.quiet { (counted(lessons.len(), "lesson")) }
                        @for found in &lessons {
                            @let lesson = &found.lesson;
                            details.one id=(lesson.id) {
                                summary dir="auto" { (title_of(lesson, 160)) }
                                (tags(lesson))
                                (texts(lesson))
                                p.quiet {
                                    @if let Some(time) = lesson.dated() { "learned " (day(time)) "; " }
                                    "shown " (lesson.retrievals) ", helped " (lesson.helpful_retrievals) ", did harm " (lesson.harmful_retrievals)
                                }
                            }
                        }
                    }
                    section id="review" {
                        h1 { "Review" }
                        @if proposals.is_empty() { p.empty { "Nothing awaits review." } }
                        @for proposal in &proposals {
                            details.one {
                                summary dir="auto" { (shown(&proposal.summary)) }
                                @if let Some(inbox) = memory.inbox() { (diff(&inbox.show(proposal).unwrap_or_else(|error| chain(&error)))) }
                            }
                        }
                    }
                    section id="time" { (time::body(&frame)?) }
                }
                (footer(&frame))
            }
        }
    };
    Ok(page.into_string())
}
